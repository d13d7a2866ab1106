"""The linear calls of a model, with their arguments checked."""
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bough.analyze.bodies import bodies_in
from bough.analyze.linear.closed_loop import linearize_closed
from bough.analyze.linear.linear_system import LinearSystem
from bough.analyze.linear.linearization import chosen_outputs, linearize, orbital_rate
from bough.analyze.linear.steady_motion import steady_motion, three_numbers
from bough.analyze.linear.system_modes import modal_speeds
from bough.analyze.linear.trim import Place, Problem, Trim, check_count, extras_of, trimmed
from bough.analyze.loop_constraints import assemble_position, moved, named_speeds
from bough.analyze.signals import chosen_controls, input_entries
from bough.compile.batch import Batch
from bough.compile.compiled_model import CompiledModel
from bough.compile.layout import Floats
from bough.describe import CentralGravity
from bough.errors import StateError

CIRCULAR = 1e-5             # relative tolerance of a circular orbit
NO_EFFECT = 1e-11           # m/s^2 or rad/s^2 per unit, or per its own size: rounding


@dataclass(frozen=True)
class Request:
    """Requested inputs, outputs, laws and states of a linear system."""
    inputs: Mapping[str, ArrayLike] | Sequence[str] | None = None       # values, or names
    outputs: Sequence[str] | None = None
    laws: Sequence[Any] = ()
    law_states: ArrayLike | None = None
    independent: Sequence[str] | None = None


def linearized(model: CompiledModel, batch: Batch, request: Request) -> tuple[LinearSystem, Floats]:
    """The linear system, and (2 nv, states): coordinates and speeds of the tree in terms of its states."""
    inputs, laws, law_states = request.inputs, request.laws, request.law_states
    if isinstance(laws, str) or not isinstance(laws, Sequence):
        raise StateError(f"laws is {laws!r}; give a list of laws, laws=[...]")
    if law_states is not None and not laws:
        raise StateError("law_states are given, but no laws; give laws=[...]")
    names = None if isinstance(inputs, Mapping) else inputs
    for what, given in (("inputs", names), ("outputs", request.outputs), ("independent", request.independent)):
        check_names(what, given)
    if laws:
        found, states = linearize_closed(model, batch, laws, law_states, chosen_outputs(model, request.outputs)[1],
                                         chosen_controls(model, names), request.independent)
    else:
        found, states = linearize(model, batch, names, request.outputs, request.independent)
    lift = np.zeros((2*model.nv, len(found.states)))
    lift[:, :len(states.names)] = states.lift[:2*model.nv]
    return found, lift


def check_names(what: str, given: Any) -> None:
    """Raise unless given a name, names, or None."""
    if given is None or isinstance(given, str) or (isinstance(given, Iterable) and all(isinstance(each, str) for each in given)):
        return
    raise StateError(f"{what} is {given!r}; give a list of names, {what}=[...]")


def trim(model: CompiledModel, batch: Batch, hold: Sequence[str], find: Sequence[str], accelerate: Sequence[str],
         spin: ArrayLike | None, about: ArrayLike | None, strict: bool, options: Mapping[str, Any]) -> Trim:
    """See `Model.trim`."""
    for what, given in (("hold", hold), ("find", find), ("accelerate", accelerate)):
        check_names(what, given)
    held = named_joints(model, hold, "hold")
    moving = np.flatnonzero(named_joints(model, accelerate, "accelerate") & model.free).tolist()
    loose, entries = model.free & ~held, input_entries(model)
    sought = [find] if isinstance(find, str) else list(find)
    extras = extras_of(model, batch, sought, np.flatnonzero(held & model.free).tolist(), moving, entries)
    circular = model.in_orbit and spin is None
    if circular:
        spin = check_circular(model, batch)
    center = bodies_in(model, batch).center_of_mass[0] if about is None and not model.in_orbit else np.zeros(3)
    motion = steady_motion(model, batch.v[0], spin, center if about is None else axis_point(about, spin, model.in_orbit))
    problem = Problem(model, batch, motion, loose, extras, circular)
    if sought:
        check_count(problem, batch.q[0])
    q = batch.q[0].copy()
    if model.constrained:
        q = assemble_position(model, q, loose, [*([hold] if isinstance(hold, str) else hold), *model.holds])
    start = Place(q, np.array([extra.start for extra in extras]))
    check_effects(problem, start)
    return trimmed(problem, start, options, strict)


def axis_point(about: ArrayLike, spin: ArrayLike | None, in_orbit: bool) -> Floats:
    """A point on the axis of a given spin."""
    if in_orbit:
        raise StateError(f"about is {about!r}, but in orbit the whole turns about its mass center; leave about out")
    if spin is None:
        raise StateError(f"about is {about!r}, but nothing spins; give spin, too, or leave about out")
    return three_numbers("about", about, "a point of the axis, three numbers in world axes [m]")


def named_joints(model: CompiledModel, names: Sequence[str], what: str) -> NDArray[np.bool_]:
    """Entries of v by name: for a joint all its coordinates, without the modes of its body."""
    found, modal = np.zeros(model.nv, dtype=bool), modal_speeds(model)
    for name in [names] if isinstance(names, str) else names:
        meant = named_speeds(model, [name], what)
        found |= meant if name in model.names.v else meant & ~modal
    return found


def check_circular(model: CompiledModel, batch: Batch) -> Floats:
    """The orbital rate; raises if the orbit is not circular, since only a circular orbit is a steady motion."""
    orbit, gravity = batch.state.orbit[0], model.system.gravity
    r, v = np.linalg.norm(orbit[:3]), np.linalg.norm(orbit[3:])
    assert isinstance(gravity, CentralGravity)
    if abs(orbit[:3] @ orbit[3:]) > CIRCULAR*r*v or abs(v*v*r/gravity.mu - 1.0) > CIRCULAR:
        raise StateError(f"trim: the orbit is not circular: at {r:.6g} m the speed is {v:.6g} m/s, that of a "
                         f"circular one {np.sqrt(gravity.mu/r):.6g} m/s, normal to the position; nothing is steady in it: give "
                         "orbit=, or spin=")
    return orbital_rate(orbit)


def check_effects(problem: Problem, start: Place) -> None:
    """Raise if an unknown has no effect, neither here nor at a nearby position."""
    beside = moved(problem.model, start.q, np.where(problem.loose, 0.05, 0.0))
    of_e = [problem.derivatives(Place(q, start.e))[1] for q in (start.q, beside)]
    for k, extra in enumerate(problem.extras):
        if max(np.abs(each[:, k]).max() for each in of_e)*max(1.0, abs(extra.start)) < NO_EFFECT:
            raise StateError(f"find: '{extra.name}' changes no acceleration here; find something else, or start elsewhere")
