"""A model in words: mass properties, loads, held coordinates, and the degrees of freedom with its loops."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bough.analyze.bodies import bodies_in
from bough.analyze.loop_constraints import assemble_state, freedom_at, loop_gaps, moved, row_unit
from bough.analyze.loop_rows import POSITION, SPEED, row_sizes
from bough.compile.compiled_model import CompiledModel
from bough.compile.layout import Floats
from bough.describe import CentralGravity, Joint, Mesh
from bough.describe.parts import parts_of
from bough.errors import StateError


class MassProperties(NamedTuple):
    """Mass [kg], mass center [m] and inertia about it [kg m^2] of the whole system, world axes."""

    mass: float
    center: Floats
    inertia: Floats


def mass_properties(model: CompiledModel, q: Any = None) -> MassProperties:
    """Mass properties at the position q, by default the initial one."""
    states = np.repeat(np.atleast_2d(model.q0 if q is None else q), 4, axis=0)      # four lanes, the kernels that results use
    bodies = bodies_in(model, model.batch(states))
    arm, turn = (bodies.com - bodies.center_of_mass[:, None])[0], bodies.attitude[0]
    own, mass = np.array([body.inertia for body in model.system.bodies.values()]), np.atleast_2d(bodies.mass)[0]
    inertia = np.einsum("kij,kjl,kml->im", turn, own, turn)
    inertia += np.einsum("k,kj,kj->", mass, arm, arm) * np.eye(3) - np.einsum("k,ki,kj->ij", mass, arm, arm)
    return MassProperties(float(mass.sum()), bodies.center_of_mass[0], inertia)


def loads(model: CompiledModel) -> list[str]:
    """Loads on the system, one line each."""
    system = model.system
    joints = [(body.joint.name or name, body.joint) for name, body in system.bodies.items()]
    joints += [(f"loop {name}", loop.joint) for name, loop in system.loops.items() if isinstance(loop.joint, Joint)]
    springs = [name for name, joint in joints if any(joint.stiffness or ())]
    dampers = [name for name, joint in joints if any(joint.damping or ())]
    motors = [name for name, joint in joints if any(value != 0.0 for value in joint.torque or ())]
    found = [_gravity(system.gravity)]
    found += [f"{what}: {_listed(names)}" for what, names in
              (("springs", springs), ("dampers", dampers), ("joint torques", motors)) if names]
    return found + [line for part in parts_of(system) if (line := part.load_line())]


def held(model: CompiledModel) -> list[str]:
    """Coordinates that are locked or prescribed at the start, and the actions of events."""
    locked = [name for name, hold in model.holds.items() if hold.motion is None]
    moved = [name for name, hold in model.holds.items() if hold.motion is not None]
    found = [f"{what}: {_listed(names)}" for what, names in (("locked", locked), ("prescribed", moved)) if names]
    return found + [event.label for event in model.system.events.values()]


def lost_meshes(model: CompiledModel) -> list[str]:
    """Missing mesh files of shapes."""
    shapes = [(body.name, shape) for body in model.system.bodies.values() for shape in body.shapes]
    return [f"{name}: there is no file {shape.path}; it will not be drawn" for name, shape in shapes
            if isinstance(shape, Mesh) and shape.npz is None and not Path(shape.path).is_file()]


def loops(model: CompiledModel, q: Floats) -> list[tuple[str, str]]:
    """Label and text: degrees of freedom at the closed position q, redundant equations, and initial gaps of the description."""
    if not model.constrained:
        return []
    freedom, beside = freedom_at(model, q), _rank_beside(model, q)
    before = "loops" if model.system.loops else "couplings"
    found = [("freedom", f"{freedom.tree} before {before}, {_count(freedom.rank, 'independent equation')} of {freedom.rows}, "
                         f"{_count(freedom.degrees, 'degree')} of freedom")]
    if freedom.redundant:
        found.append(("redundant", f"{_listed(list(freedom.redundant))}: the other equations imply them"))
    if freedom.idle:
        which = "it" if len(freedom.idle) == 1 else "each of them"
        found.append(("idle", f"{_listed(list(freedom.idle))}: the other loops imply {which}"))
    if beside > freedom.rank:
        found.append(("singular", f"the initial position is singular: {beside} equations are independent beside it, which leave "
                                  f"{_count(freedom.tree - beside, 'degree')} of freedom; start a little beside it"))
    return found + [("at the start", text) for text in _openings(model, q)]


def _rank_beside(model: CompiledModel, q: Floats) -> int:
    """Independent equations at a position near q that closes the loops."""
    change = _BESIDE * np.random.default_rng(0).standard_normal(model.nv)
    try:
        return freedom_at(model, assemble_state(model, moved(model, q, change), np.zeros(model.nv), ())[0]).rank
    except StateError:                                          # no closed position nearby
        return 0


def _openings(model: CompiledModel, q: Floats) -> list[str]:
    """The gaps of the initial state of the description."""
    found = []
    if worst := _worst(model, loop_gaps(model, model.batch(model.q0), POSITION)):
        found.append(f"{worst[0]} is open by {worst[1]}; a run will close it")
    if worst := _worst(model, loop_gaps(model, model.batch(q, model.v0), SPEED)):
        found.append(f"the speeds open {worst[0]} by {worst[1]}/s; a run will change them")
    return found


def _worst(model: CompiledModel, gaps: Mapping[str, Floats]) -> tuple[str, str] | None:
    """The loop with the largest gap, and the gap; None if all are closed."""
    closures = model.tables.fronts.closures
    units = [row_unit(c, row) for c in closures for row in range(c.rows)]
    names = [f"{c.noun} '{c.name}'" for c in closures for _ in c.labels]
    given = np.abs(np.concatenate(list(gaps.values()), axis=1)[0])
    i = int((given * row_sizes(closures)).argmax())
    amount = f"{given[i] * 1e3:.3g} m{units[i]}" if given[i] < 0.1 and " " not in units[i] else f"{given[i]:.3g} {units[i]}"
    return (names[i], amount) if given[i] > _OPEN else None


_BESIDE, _OPEN = 1e-3, 1e-9                 # rad or m


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"


def _gravity(gravity: Any) -> str:
    if isinstance(gravity, CentralGravity):
        return f"central gravity: mu {gravity.mu:g} m^3/s^2, at {np.linalg.norm(gravity.position) / 1e3:g} km"
    return f"gravity: {', '.join(f'{g:g}' for g in gravity)} m/s^2" if any(gravity) else "no gravity"


def _listed(names: list[str]) -> str:
    return ", ".join(names[:12]) + (f" and {len(names) - 12} more" if len(names) > 12 else "")
