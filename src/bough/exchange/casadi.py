"""The dynamics of a model as a CasADi function with exact derivatives, for optimal control (`pip install "bough[casadi]"`)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bough.analyze.derivatives import Directions, Rows, rates_along, rows_along, turned
from bough.analyze.equations_of_motion import forward
from bough.compile.layout import Floats
from bough.describe.parts.port import ports_of
from bough.errors import BoughError, StateError, nearest
from bough.model import Model


class Rates:
    """x' = f(x, u) and its Jacobians, x = q | v | wheel speeds | orbit; u: joint torques, or the numbers of some inputs."""

    def __init__(self, model: Model, inputs: Sequence[str] | None) -> None:
        for name in inputs or ():
            if name not in model.system.inputs:
                known = nearest(name, model.system.inputs) or f"; the inputs are {', '.join(model.system.inputs) or 'none'}"
                raise StateError(f"there is no input '{name}'{known}")
        if model.system.tanks:
            raise StateError(f"system '{model.system.name}' has tanks, whose masses are not states of x here; describe bodies of "
                             "constant mass instead")
        if model.holds:
            raise StateError(f"{', '.join(model.holds)} is held, and a function of x and u knows no time; let it be free")
        self.model, self.nx = model, model.layout.nx
        places = ports_of(list(model.system.inputs.values()))
        self.ports = None if inputs is None else [i for name in inputs for i in range(places[name].start, places[name].stop)]
        self.nu = model.nv if self.ports is None else len(self.ports)

    def _batch(self, x: Floats, u: Floats) -> Any:
        model, state = self.model, self.model.state(x[None])
        options: dict[str, Any] = {"wheels": state.wheels} if model.nw else {}
        options |= {"orbit": state.orbit} if model.in_orbit else {}
        batch = replace(model.batch(state.q, state.v, **options), single=False)
        (batch.inputs.tau if self.ports is None else batch.inputs.ports)[:, slice(None) if self.ports is None else self.ports] = u
        return batch

    def value(self, x: Floats, u: Floats) -> Floats:
        """(nx,): x'."""
        batch = self._batch(x, u)
        q_rate = turned(self.model, batch.q, batch.v[:, None])[0, 0]
        return np.concatenate([q_rate, forward(self.model, batch, "order-n").rows[0, :self.nx - self.model.nq]])

    def jacobians(self, x: Floats, u: Floats) -> tuple[Floats, Floats]:
        """(nx, nx) and (nx, nu): by the numbers of x as they are, those of quaternions too, and by u."""
        model, batch, n = self.model, self._batch(x, u), self.nx + self.nu
        rows = rows_along(model, batch, Directions(t=np.zeros((n, 1))))
        dx, du = np.zeros((n, self.nx)), rows.du.copy()
        dx[:self.nx] = np.eye(self.nx)
        first = batch.inputs.layout.tau.start if self.ports is None else batch.inputs.layout.ports.start
        for i, place in enumerate(range(model.nv) if self.ports is None else self.ports):
            du[self.nx + i, first + place] = 1.0
        _, moved = rates_along(model, Rows(batch, rows.dt, dx, du, None))
        q_rates = np.zeros((n, model.nq))
        q_rates[model.nq:model.nq + model.nv] = turned(model, batch.q, np.eye(model.nv)[None])[0]
        for at in model.quaternions:                        # p' = p o (w, 0)/2 is linear in p, too
            for i in range(at, at + 4):
                unit = np.zeros((1, model.nq))
                unit[0, i] = 1.0
                q_rates[i, at:at + 4] = turned(model, unit, batch.v[:, None])[0, 0, at:at + 4]
        whole = np.concatenate([q_rates, moved[:, :self.nx - model.nq]], axis=1).T
        return whole[:, :self.nx], whole[:, self.nx:]


def dynamics(model: Model, *, inputs: Sequence[str] | None = None, name: str = "dynamics") -> Any:
    """x' = f(x, u) as a CasADi function with an exact Jacobian.

    Parameters
    ----------
    model : Model
        Any model without held coordinates; time tables are evaluated at time 0.
    inputs : sequence of str, optional
        Inputs of the description that form u, in this order; by default u is tau, the joint torques.
    name : str
        Name of the function.

    Returns
    -------
    casadi.Callback
        A function of x = [q, v, wheel speeds, orbit] and u. Keep a reference to it as long as expressions use it.

    Examples
    --------
    >>> import bough, casadi
    >>> from bough.exchange.casadi import dynamics
    >>> s = bough.System("pendulum", gravity=(0, 0, -10))
    >>> _ = s.body("bob", joint=bough.Revolute("y"), mass=2.0, com=(0, 0, -1))
    >>> f, x, u = dynamics(s.compile()), casadi.MX.sym("x", 2), casadi.MX.sym("u", 1)
    >>> A = casadi.Function("A", [x, u], [casadi.jacobian(f(x, u), x)])
    >>> A([0.0, 0.0], 0.0).full().round(9).tolist()
    [[0.0, 1.0], [-10.0, 0.0]]
    """
    try:
        import casadi
    except ImportError:
        raise BoughError("CasADi is not installed; pip install \"bough[casadi]\"") from None
    rates = Rates(model, inputs)

    class Dense(casadi.Callback):
        """A function of vectors that returns dense matrices of nx rows."""

        def __init__(self, own: str, options: Any, sizes: tuple[int, ...], columns: tuple[int, ...]) -> None:
            casadi.Callback.__init__(self)
            self.sizes, self.columns = sizes, columns
            self.kept: list[Any] = []                                           # CasADi does not keep them alive
            self.construct(own, options)

        def get_n_in(self) -> int:
            return len(self.sizes)

        def get_n_out(self) -> int:
            return len(self.columns)

        def get_sparsity_in(self, i: int) -> Any:
            return casadi.Sparsity.dense(self.sizes[i], 1)

        def get_sparsity_out(self, i: int) -> Any:
            return casadi.Sparsity.dense(rates.nx, self.columns[i])

    class Jacobian(Dense):
        """The Jacobians with respect to x and u, as functions of x, u and the value."""

        def eval(self, given: Any) -> Any:
            return list(map(casadi.DM, rates.jacobians(*(np.asarray(each, float).ravel() for each in given[:2]))))

    class Dynamics(Dense):
        """x' of x and u."""

        def eval(self, given: Any) -> Any:
            return [casadi.DM(rates.value(*(np.asarray(each, float).ravel() for each in given)))]

        def has_jacobian(self) -> bool:
            return True

        def get_jacobian(self, own: str, inames: Any, onames: Any, options: Any) -> Any:
            self.kept.append(Jacobian(own, options, (rates.nx, rates.nu, rates.nx), (rates.nx, rates.nu)))
            return self.kept[-1]

    return Dynamics(name, {}, (rates.nx, rates.nu), (1,))
