"""Derivatives of accelerations, wheel and orbit rates, multipliers of loops and outputs along directions, in a batch of states.

A direction of q is one of v: q moves from q0 to q0 o exp(d), so that a quaternion p moves along p o (d, 0)/2 [B 1] and keeps its
length.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.analyze.equations_of_motion import Accelerations, check_finite, room_for
from bough.analyze.loop_constraints import changing_places
from bough.analyze.output_derivatives import DESCRIBED, OutputsAlong, described_share, is_swept
from bough.analyze.parameters import parameter, table_directions, unshared
from bough.analyze.signals import known_outputs, outputs
from bough.compile.batch import Batch
from bough.compile.compiled_model import CompiledModel
from bough.compile.kernel_calls import dual_parameters, linked, run, workspace
from bough.compile.layout import Floats
from bough.compile.tables import Tables
from bough.describe import System
from bough.errors import StateError
from bough.kernels.lanes import DUAL
from bough.sweeps import calls


def consecutive(sizes: Mapping[str, int]) -> dict[str, slice]:
    """The entries of parts that are one after the other, by name."""
    ends = accumulate(sizes.values(), initial=0)
    return {name: slice(*pair) for name, pair in zip(sizes, pairwise(ends), strict=True)}


@dataclass(frozen=True)
class Directions:
    """m directions in the variables of the accelerations; variables that are not given do not change.

    Each array is (m, numbers), the same directions at every state, or (n, m, numbers), separate directions for each of n states.
    """
    q: Floats | None = None             # nv numbers: a rotation along the angular velocity in the outer body's axes
    v: Floats | None = None             # nv
    wheels: Floats | None = None        # nw
    orbit: Floats | None = None         # 6
    tau: Floats | None = None           # nv
    motors: Floats | None = None        # nw
    inputs: Floats | None = None        # all numbers of the inputs, in the order of `Names.inputs`
    t: Floats | None = None             # 1
    parameters: Floats | None = None    # all entries of the named parameters, in a row
    names: tuple[str, ...] = ()         # of the parameters

    @property
    def m(self) -> int:
        """The number of directions."""
        sizes = {np.shape(value)[-2] for value in self._given()} or {0}
        if len(sizes) != 1:
            raise StateError(f"directions: there are {sorted(sizes)} of them in different parts; give as many in each")
        return sizes.pop()

    def _given(self) -> list[Floats]:
        return [getattr(self, each.name) for each in fields(self) if each.name != "names" and getattr(self, each.name) is not None]

    @staticmethod
    def along(sizes: "dict[str, int]", names: Sequence[str] = ()) -> "Directions":
        """Unit directions along every entry of these parts, one part after the other.

        >>> Directions.along({"q": 1, "tau": 2}).tau.tolist()
        [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]
        """
        unit = np.eye(sum(sizes.values()))
        return Directions(**{name: unit[:, part] for name, part in consecutive(sizes).items()}, names=tuple(names))


@dataclass(frozen=True)
class Tangents:
    """Values (n, ...) and their derivatives (n, m, ...) along m directions at n states."""
    rates: Accelerations
    along: Accelerations
    outputs: dict[str, Floats] = field(default_factory=dict)            # (n, size)
    outputs_along: dict[str, Floats] = field(default_factory=dict)      # (n, m, size)


def turned(model: CompiledModel, q: Floats, d: Floats) -> Floats:
    """(n, m, nq): q' for q (n, nq) and directions d (n, m, nv) as speeds."""
    ((places, speeds), quaternions), found = changing_places(model), np.zeros((*d.shape[:2], model.nq))
    found[..., places] = d[..., speeds]
    for at, v in quaternions:
        p, w = q[:, None, at:at + 4], 0.5*d[..., v:v + 3]
        found[..., at:at + 3] = p[..., 3:]*w + np.cross(p[..., :3], w)
        found[..., at + 3] = -np.einsum("...i,...i->...", p[..., :3], w)
    return found


def spread(value: Floats | None, n: int, m: int, size: int, what: str) -> Floats:
    """(n, m, size): the directions at each state; zero if not given."""
    if value is None:
        return np.zeros((n, m, size))
    given = np.asarray(value, float)
    if given.shape[-2:] != (m, size) or given.shape[:-2] not in ((), (1,), (n,)):
        raise StateError(f"directions of {what} have the shape {given.shape}; give ({m}, {size}), or ({n}, {m}, {size})")
    return np.broadcast_to(given, (n, m, size))


@dataclass(frozen=True)
class Rows:
    """States of a batch and m directions at each, as the kernels take them."""
    batch: Batch
    dt: Floats                                  # (n*m, 2)
    dx: Floats                                  # (n*m, nx)
    du: Floats                                  # (n*m, nu)
    dpars: Callable[[Tables], Floats] | None    # (n*m, numbers of pars) of tables; None: no parameter changes

    @property
    def m(self) -> int:
        return len(self.dx)//self.batch.n

    @property
    def state(self) -> tuple[tuple[Floats, Floats], ...]:
        """Times, states and inputs, each with its directions."""
        return (self.batch.t, self.dt), (self.batch.x, self.dx), (self.batch.u, self.du)

    def pars(self, tables: Tables, values: Floats | None = None) -> NDArray[Any]:
        """Parameters of tables (or other values of them), with tangents if they have any."""
        values = tables.pars if values is None else values
        if self.dpars is None and len(values) == 1:
            return values
        along = np.zeros((len(self.dx), values.shape[1])) if self.dpars is None else self.dpars(tables)
        return dual_parameters(values, along, self.m)

    def call(self, kernel: Any, tables: Tables, *more: Any, extra: int = 0) -> None:
        """Call a kernel of `sweeps.calls` on duals."""
        run(partial(kernel, *linked(tables, self.pars(tables), *more, workspace(tables, DUAL, extra))))


def rows_along(model: CompiledModel, batch: Batch, along: Directions) -> Rows:
    """Directions in terms of x, u and pars."""
    n, m = batch.n, along.m
    state = [turned(model, batch.q, spread(along.q, n, m, model.nv, "q")), spread(along.v, n, m, model.nv, "v"),
             spread(along.wheels, n, m, model.nw, "wheels"), spread(along.orbit, n, m, 6*model.in_orbit, "orbit"),
             np.zeros((n, m, batch.x.shape[1] - batch.state.layout.orbit.stop))]             # masses in tanks, states of laws
    du, layout = np.zeros((n, m, batch.u.shape[1])), batch.inputs.layout
    du[..., layout.tau] = spread(along.tau, n, m, model.nv, "tau")
    du[..., layout.motors] = spread(along.motors, n, m, model.nw, "motors")
    du[..., layout.ports] = spread(along.inputs, n, m, layout.n_ports, "inputs")
    dt = np.repeat(spread(along.t, n, m, 1, "t"), 2, axis=2)
    parts = [part.reshape(n*m, -1) for part in (dt, np.concatenate(state, axis=2), du)]
    return Rows(batch, parts[0], parts[1], parts[2], pars_along(model, batch, along))


def pars_along(model: CompiledModel, batch: Batch, along: Directions) -> Callable[[Tables], Floats] | None:
    """Directions of parameters in terms of the numbers of the tables."""
    found = [parameter(model.system, name) for name in along.names]
    if not found:
        return None
    n, m, size = batch.n, along.m, sum(each.value.size for each in found)
    share = spread(along.parameters, n, m, size, "parameters").reshape(n*m, size)
    return lambda tables: share @ table_directions(model, tables, found)


def rates_along(model: CompiledModel, rows: Rows) -> tuple[Floats, Floats]:
    """(n, rates) and (n*m, rates): v', accelerations of wheels, rates of the orbit, multipliers; and their derivatives."""
    batch = rows.batch
    out = room_for(model, batch, "order-n")
    along = np.empty((len(rows.dx), out.shape[1]))
    rows.call(calls.forward_order_n, batch.tables, *rows.state, (out, along))
    check_finite(model, batch, out)
    return out, along


def outputs_along(model: CompiledModel, rows: Rows, rates: Floats, moved: Floats, wanted: list[str],
                  along: Directions) -> tuple[dict[str, Floats], dict[str, Floats]]:
    """By name, outputs (n, size) and their derivatives (n*m, size)."""
    if not wanted:
        return {}, {}
    shown = outputs(model, rows.batch, wanted)
    found = OutputsAlong(model, rows, rates, moved, [model.system.outputs[name] for name in wanted])
    named = [parameter(model.system, name) for name in along.names]
    derived = {}
    for name in wanted:
        output = model.system.outputs[name]
        if not named or output.kind not in DESCRIBED or is_swept(model, output):
            derived[name] = found.tangent(output)
            continue
        still = replace(rows, dpars=None)
        of_state = OutputsAlong(model, still, *rates_along(model, still), [output]).tangent(output)
        n, m, size = rows.batch.n, rows.m, sum(each.value.size for each in named)
        share = described_share(model, rows.batch, named, name)
        derived[name] = of_state + np.einsum("nmp,pns->nms", spread(along.parameters, n, m, size, ""), share).reshape(n*m, -1)
    return shown, derived


def shares(system: System) -> bool:
    """Whether identical flexible bodies share their numbers in the tables."""
    bodies = [id(body.flexible) for body in system.bodies.values() if body.flexible is not None]
    return len(set(bodies)) < len(bodies)


def directional(model: CompiledModel, batch: Batch, along: Directions, outputs: Iterable[str] | None = ()) -> Tangents:
    """Derivatives of all rates, and of outputs (those named; all of them: None), along directions at the states of a batch."""
    wanted, batch = known_outputs(model, outputs), replace(batch, single=False)
    if along.names and shares(model.system):                                # then with separate numbers for every body
        model = type(model)(unshared(model.whole)).switched_as(model)
        batch = model.changed(batch)
    rows = rows_along(model, batch, along)
    rates, moved = rates_along(model, rows)
    shown, shown_along = outputs_along(model, rows, rates, moved, wanted, along)
    n, m = batch.n, along.m
    return Tangents(Accelerations.of(model, rates), Accelerations.of(model, moved.reshape(n, m, -1)), shown,
                    {name: each.reshape(n, m, -1) for name, each in shown_along.items()})
