"""Linear equations of the deviations from a motion: x' = A x + B u, y = C x + D u, with closed loops reduced exactly.

The deviations of a tree, in axes that rotate with the motion (`tangent_space`), from the derivatives of the accelerations f:

    d' = e + G d,     e' = f_q d + f_v e + H e + f_u u,     wheels and orbit likewise                                   [B 40]

With loops, d = S y and e = K y + S w of independent coordinates and speeds [B 41]: A is their rows of this system, times that.
Held coordinates and wheels with a held speed do not deviate.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bough.analyze.derivatives import Directions, Tangents, directional
from bough.analyze.linear.linear_system import LinearSystem, OperatingPoint
from bough.analyze.linear.tangent_space import DirectionNames, Reduction, center_velocity, direction_names, reduce, turning, turns
from bough.analyze.signals import chosen_controls, control_names, control_units
from bough.compile.batch import Batch
from bough.compile.compiled_model import CompiledModel
from bough.compile.layout import Floats
from bough.describe import CentralGravity
from bough.describe.orientation import cross_matrix
from bough.errors import StateError, similar

ORBIT = ("orbit.x", "orbit.y", "orbit.z", "orbit.vx", "orbit.vy", "orbit.vz")
NEGLIGIBLE = 1e-30                # relative to the largest in their row and column: entries of A that are zero except for rounding
STEADY = 1e-9               # relative to the terms that cancel in them: rates of change that count as zero


@dataclass(frozen=True)
class Deviations:
    """All deviations of a tree from the motion through one state: d, e, wheels, orbit, one after the other.

    F (n, n): rates of them by themselves; G (n, controls): by joint torques, motors and inputs; and rows of outputs."""
    model: CompiledModel
    batch: Batch
    tangents: Tangents
    F: Floats
    G: Floats
    rates: Floats               # (n,) x' itself, along the same directions
    residual: Floats            # (n,) x' in the rotating axes

    @cached_property
    def names(self) -> DirectionNames:
        return direction_names(self.model)

    @property
    def controls(self) -> int:
        return self.model.input_layout.controls.stop


def deviations(model: CompiledModel, batch: Batch, outputs: Sequence[str]) -> Deviations:
    """The deviations of one state; `outputs`: names of ports."""
    nv, nw, orbit = model.nv, model.nw, 6*model.in_orbit
    n, controls = 2*nv + nw + orbit, model.input_layout.controls.stop
    sizes = {"q": nv, "v": nv, "wheels": nw, "orbit": orbit, "tau": nv, "motors": nw, "inputs": controls - nv - nw}
    found = directional(model, batch, Directions.along({name: size for name, size in sizes.items() if size}), list(outputs))
    along = np.concatenate([getattr(found.along, part)[0] for part in ("v", "wheels", "orbit")], axis=1).T
    F, G = np.zeros((n, n)), np.zeros((n, controls))
    F[:nv, nv:2*nv] = np.eye(nv)
    F[nv:], G[nv:] = along[:, :n], along[:, n:]
    F[:nv, :nv], H = turning(model, batch)
    F[nv:2*nv, nv:2*nv] += H
    rates = np.concatenate([batch.v[0], found.rates.v[0], found.rates.wheels[0], found.rates.orbit[0]])
    residual = unsteady_rates(model, batch, rates)
    if orbit:
        turn = cross_matrix(orbital_rate(batch.state.orbit[0]))
        for part in (slice(n - 6, n - 3), slice(n - 3, n)):
            F[part, part] -= turn
    return Deviations(model, batch, found, F, G, rates, residual)


def orbital_rate(orbit: Floats) -> Floats:
    """(3,): rate of rotation of the position vector, rad/s."""
    r = orbit[:3]
    return np.cross(r, orbit[3:])/(r @ r)


def unsteady_rates(model: CompiledModel, batch: Batch, rates: Floats) -> Floats:
    """x' in the rotating axes, without the coordinates, which follow the speeds.

    The velocity of a free root rotates with it; that of the mass center is common to all."""
    found, nv, center = rates.copy(), model.nv, mean_velocity(model, batch)
    found[:nv] = 0.0
    for turn in turns(model, batch):
        if turn.slides is not None:
            own = slice(turn.slides, turn.slides + 3)
            found[nv:][own] -= np.cross(turn.spin, batch.v[0, own] - turn.axes.T @ center)
    if model.in_orbit:
        orbit = batch.state.orbit[0]
        turn_rate = orbital_rate(orbit)
        found[-6:] -= np.concatenate([np.cross(turn_rate, orbit[:3]), np.cross(turn_rate, orbit[3:])])
    return found


def mean_velocity(model: CompiledModel, batch: Batch) -> Floats:
    """(3,): velocity of the mass center if a free root rotates, otherwise zero."""
    if not any(turn.slides is not None and turn.rate.any() for turn in turns(model, batch)):
        return np.zeros(3)
    return center_velocity(model, batch.q, batch.v)[0]


def unsteady(whole: Deviations) -> bool:
    """Whether the linear equations change along the motion, because the accelerations do."""
    model, (nv, scale) = whole.model, (whole.model.nv, np.abs(whole.F).sum(axis=1))
    rates, center = whole.rates.copy(), mean_velocity(model, whole.batch)
    drift = np.zeros(len(rates))
    for turn in turns(model, whole.batch):
        if turn.slides is not None:
            drift[turn.slides:turn.slides + 3] = turn.axes.T @ center
    if model.in_orbit:
        rates[-6:] = whole.batch.state.orbit[0] @ np.kron(np.eye(2), cross_matrix(orbital_rate(whole.batch.state.orbit[0])).T)
    size = (scale + STEADY*scale.max())*max(1.0, float(np.abs(rates[:2*nv]).max(initial=0.0)))
    jerk, drifted = whole.F @ (rates - drift), whole.F[nv:] @ drift
    free = np.concatenate([model.free, model.free])
    return bool((np.abs(jerk[:2*nv][free]) > 1e3*STEADY*size[:2*nv][free]).any()
                or (np.abs(drifted[:nv][model.free]) > 1e3*STEADY*size[nv:2*nv][model.free]).any())


# ---- states ------------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class States:
    """Independent deviations, by name, and the dependence of all others on them."""
    names: tuple[str, ...]
    units: tuple[str, ...]
    rows: Floats                # (states, n): their selection from all deviations
    lift: Floats                # (n, states): all deviations
    reduction: Reduction


def states_of(whole: Deviations, independent: Sequence[str] | None = None) -> States:
    """Independent coordinates and speeds, driven wheels, the orbit."""
    model, nv, n = whole.model, whole.model.nv, len(whole.F)
    found = reduce(model, whole.batch, independent)
    m, names = len(found.independent), whole.names
    driven = [j for j, wheel in enumerate(model.system.wheels.values()) if wheel.driven]
    entries = [*found.independent, *(nv + found.independent), *(2*nv + j for j in driven), *range(2*nv + model.nw, n)]
    rows = np.zeros((len(entries), n))
    rows[np.arange(len(entries)), entries] = 1.0
    lift = rows.T.copy()
    lift[:nv, :m], lift[nv:2*nv, :m], lift[nv:2*nv, m:2*m] = found.S, found.K, found.S
    wheels = [model.names.wheels[j] for j in driven]
    labels = [*(names.coordinates[i] for i in found.independent), *(names.speeds[i] for i in found.independent), *wheels,
              *(ORBIT if model.in_orbit else ())]
    units = [*(names.coordinate_units[i] for i in found.independent), *(names.speed_units[i] for i in found.independent),
             *["rad/s"]*len(wheels), *(["m"]*3 + ["m/s"]*3 if model.in_orbit else ())]
    return States(tuple(labels), tuple(units), rows, lift, found)


# ---- outputs -----------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Shown:
    """Rows of outputs: by deviations and by controls, and their values."""
    names: tuple[str, ...]
    units: tuple[str, ...]
    of_deviations: Floats
    of_controls: Floats
    values: Floats


def chosen_outputs(model: CompiledModel, names: Sequence[str] | None) -> tuple[list[str], list[str]]:
    """Names of ports, and all names in their order.  None: all ports or, if there are none, free coordinates and their speeds."""
    known, directions = model.system.outputs, direction_names(model)
    if names is None:
        free = np.flatnonzero(model.free)
        return list(known), list(known) or [*(directions.coordinates[i] for i in free), *(directions.speeds[i] for i in free)]
    wanted = list(dict.fromkeys([names] if isinstance(names, str) else names))
    entries = {entry: name for name, port in known.items() for entry in port.entries}
    others = [*entries, *directions.coordinates, *directions.speeds]
    for name in wanted:
        if name not in known and name not in others:
            there = f"; there are {', '.join([*known, *directions.coordinates])}" if known or others else ""
            raise StateError(f"there is no output '{name}'{similar(str(name), [*known, *others]) or there}; declare it with "
                             "System.output, or name a coordinate")
    ports = [name if name in known else entries[name] for name in wanted if name in known or name in entries]
    return list(dict.fromkeys(ports)), wanted


def shown(whole: Deviations, names: Sequence[str]) -> Shown:
    """Rows of ports, single components, coordinates ("arm.ry") and speeds ("arm.ry rate"), in the given order."""
    model, n, parts = whole.model, len(whole.F), list[tuple[str, str, Floats, float]]()
    directions, system = whole.names, whole.model.system
    moves = {name: (k, unit) for k, (name, unit) in enumerate(zip(
        [*directions.coordinates, *directions.speeds], [*directions.coordinate_units, *directions.speed_units], strict=True))}
    for name in names:
        port = system.outputs.get(name) or next((each for each in system.outputs.values() if name in each.entries), None)
        if port is None:
            k, unit = moves[name]
            row = np.zeros(n + whole.controls)
            row[k] = 1.0
            value = whole.batch.v[0, k - model.nv] if k >= model.nv else 0.0
            parts.append((name, unit, row, float(value)))
            continue
        values, along = whole.tangents.outputs[port.name][0], whole.tangents.outputs_along[port.name][0]
        for i, (entry, unit) in enumerate(zip(port.entries, port.units(system), strict=True)):
            if name in (entry, port.name):
                parts.append((entry, unit, along[:, i], float(values[i])))
    table = np.array([row for *_, row, _ in parts]).reshape(len(parts), n + whole.controls)
    return Shown(tuple(part[0] for part in parts), tuple(part[1] for part in parts), table[:, :n], table[:, n:],
                 np.array([part[3] for part in parts]))


# ---- the linear system ---------------------------------------------------------------------------------------------------------
def linearize(model: CompiledModel, batch: Batch, inputs: Sequence[str] | None = None, outputs: Sequence[str] | None = None,
              independent: Sequence[str] | None = None) -> tuple[LinearSystem, States]:
    """The linear system at one state, without laws, see `Model.linearize`; and its states."""
    ports, names = chosen_outputs(model, outputs)
    whole = deviations(model, batch, ports)
    states, measured, entries = states_of(whole, independent), shown(whole, names), chosen_controls(model, inputs)
    return assembled(whole, states, measured, entries), states


def assembled(whole: Deviations, states: States, measured: Shown, entries: Sequence[int]) -> LinearSystem:
    """The linear system of independent states, chosen controls and outputs."""
    model, batch, P, E = whole.model, whole.batch, states.rows, states.lift
    names, units, controls = control_names(model), control_units(model), batch.inputs.controls[0]
    residual = P @ whole.residual
    A = without_negligible(P @ whole.F @ E)
    if unsteady(whole):
        moving = (P @ whole.rates)[:len(states.reduction.independent)]
        residual[:len(moving)] = moving
    point = OperatingPoint(batch.q[0].copy(), batch.v[0].copy(), batch.state.wheels[0].copy() if model.nw else None,
                           batch.state.orbit[0].copy() if model.in_orbit else None, controls[list(entries)], measured.values,
                           float(batch.t[0, 0]))
    return LinearSystem(A, P @ whole.G[:, entries], measured.of_deviations @ E, measured.of_controls[:, entries], states.names,
                        tuple(names[i] for i in entries), measured.names, states.units, tuple(units[i] for i in entries),
                        measured.units, name=model.system.name, residual=residual,
                        residual_scale=np.abs(A).sum(axis=1) + np.abs(P @ whole.rates) + gravity_size(model), point=point)


def without_negligible(A: Floats) -> Floats:
    """A with negligible entries set to zero, relative to both row and column: balancing in eigensolvers would enlarge them."""
    sizes = np.abs(A)
    return np.where(sizes < NEGLIGIBLE*np.minimum(sizes.max(axis=0, initial=0.0), sizes.max(axis=1, initial=0.0)[:, None]), 0.0, A)


def gravity_size(model: CompiledModel) -> float:
    """Magnitude of uniform gravity, m/s^2: one of the terms that cancel."""
    gravity: Any = model.system.gravity
    return 0.0 if isinstance(gravity, CentralGravity) else float(np.linalg.norm(gravity))
