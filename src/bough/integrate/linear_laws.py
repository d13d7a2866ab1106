"""A linear controller as a compiled law, to simulate the design itself."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bough.analyze.linear import LinearSystem
from bough.analyze.signals import control_names, input_entries
from bough.compile.layout import Floats
from bough.errors import StateError, nearest
from bough.integrate.compiled.callback import Controller
from bough.model import Model


def law(controller: LinearSystem, model: Model, *, about: LinearSystem | None = None, sign: int = -1,
        delay: float = 0.0) -> Controller:
    """A law for `simulate(laws=[...])` from a linear controller.

    Parameters
    ----------
    controller : LinearSystem
        Its inputs are outputs of the model, by name, and its outputs are inputs, wheels or coordinates; continuous, or discrete:
        then its sample time is the period of the law.
    model : Model
    about : LinearSystem, optional
        The plant: the law acts on deviations from its operating point. Without it, on the outputs themselves.
    sign : {-1, 1}
        u = sign K y, as in `LinearSystem.feedback`.
    delay : float
        With a discrete controller: delay until its outputs take effect [s].

    Examples
    --------
    >>> import bough
    >>> s = bough.System("arm")
    >>> _ = s.body("arm", joint=bough.Revolute("z"), mass=2.0, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
    >>> _ = s.input("motor", coordinate="arm"), s.output("angle", coordinate="arm"), s.output("rate", rate="arm")
    >>> model = s.compile()
    >>> pd = bough.LinearSystem.from_arrays([], [], [], [[6.0, 3.0]], inputs=["angle", "rate"], outputs="motor")
    >>> result = bough.simulate(model, q0=[0.1], until=3.0, dt=1e-3, laws=[bough.linear.law(pd, model)])
    >>> print(f"{result.data.q[-1].item():.6f}")
    0.000017
    """
    if sign not in (-1, 1):
        raise StateError(f"law: sign is {sign!r}; give -1, or 1 if the controller itself turns signs")
    ports, columns = _read(model, controller)
    sets, rows = _set(model, controller)
    size = sum(model.system.outputs[port].size for port in ports)
    B, D = np.zeros((len(controller.states), size)), np.zeros((len(rows), size))
    np.add.at(B.T, columns, controller.B.T)
    np.add.at(D.T, columns, sign * controller.D.T)
    C = sign * controller.C
    order = np.argsort(rows)                                # outputs in the order of the ports of the law
    y0, u0 = _point(model, controller, ports, about)
    function = _function(controller.A.copy(), B, np.ascontiguousarray(C[order]), np.ascontiguousarray(D[order]), y0, u0[order],
                         controller.dt is not None)
    function.__name__ = controller.name or "linear"
    return Controller(function, ports, sets, (0.0,) * len(controller.states), controller.dt, delay)


def _read(model: Model, controller: LinearSystem) -> tuple[list[str], list[int]]:
    """Ports that it reads, and the places of its inputs among their components."""
    owner = {entry: port for port, output in model.system.outputs.items() for entry in output.entries}
    for name in controller.inputs:
        if name not in owner:
            there = nearest(name, owner) or f"; there are {', '.join(owner) or 'none'}"
            raise StateError(f"law: the controller reads {name!r}, which is no output of the model{there}")
    ports = list(dict.fromkeys(owner[name] for name in controller.inputs))
    entries = [entry for port in ports for entry in model.system.outputs[port].entries]
    return ports, [entries.index(name) for name in controller.inputs]


def _set(model: Model, controller: LinearSystem) -> tuple[list[str], list[int]]:
    """Ports, wheels or coordinates that it sets, and the places of its outputs among their components."""
    known = input_entries(model)
    owner = {entry: port for port, given in model.system.inputs.items() for entry in given.entries}
    found = list(dict.fromkeys(owner.get(name, name) for name in controller.outputs))
    for name in found:
        if name not in known:
            there = nearest(name, known) or f"; there are {', '.join(known) or 'none'}"
            raise StateError(f"law: the controller sets {name!r}, which is no input, coordinate or driven wheel{there}")
    entries = [control_names(model)[k] for name in found for k in known[name]]
    missing = [entry for entry in entries if entry not in controller.outputs and owner.get(entry, entry) not in controller.outputs]
    if missing:
        raise StateError(f"law: the controller sets a part of a port; let it set {', '.join(missing)} as well, by zero")
    return found, [entries.index(name) if name in entries else found.index(name) for name in controller.outputs]


def _point(model: Model, controller: LinearSystem, ports: list[str], about: LinearSystem | None) -> tuple[Floats, Floats]:
    """Outputs and inputs at the operating point."""
    entries = [entry for port in ports for entry in model.system.outputs[port].entries]
    point = None if about is None else about.point
    seen = {} if about is None or point is None or point.outputs is None else dict(zip(about.outputs, point.outputs, strict=True))
    given = {} if about is None or point is None or point.inputs is None else dict(zip(about.inputs, point.inputs, strict=True))
    return (np.array([float(seen.get(name, 0.0)) for name in entries]),
            np.array([float(given.get(name, 0.0)) for name in controller.outputs]))


def _function(A: Floats, B: Floats, C: Floats, D: Floats, y0: Floats, u0: Floats, discrete: bool) -> Callable[..., Any]:
    """The law as a function for `Controller`; matrices are constants in its code."""
    n, m, p = len(A), len(D), len(y0)

    def static(t: float, y: Floats, u: Floats) -> None:
        for i in range(m):
            total = u0[i]
            for j in range(p):
                total += D[i, j]*(y[j] - y0[j])
            u[i] = total

    def continuous(t: float, y: Floats, u: Floats, z: Floats, zdot: Floats) -> None:
        for i in range(m):
            total = u0[i]
            for j in range(p):
                total += D[i, j]*(y[j] - y0[j])
            for j in range(n):
                total += C[i, j]*z[j]
            u[i] = total
        for i in range(n):
            total = 0.0
            for j in range(p):
                total += B[i, j]*(y[j] - y0[j])
            for j in range(n):
                total += A[i, j]*z[j]
            zdot[i] = total

    def sampled(t: float, y: Floats, u: Floats, z: Floats) -> None:
        new = np.zeros(n)
        continuous_step(t, y, u, z, new)
        z[:] = new

    if not n:
        return static
    if not discrete:
        return continuous
    from numba import njit

    continuous_step = njit(continuous)
    return sampled
