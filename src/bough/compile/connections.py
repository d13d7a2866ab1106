"""Loops that events close and open.

A *connection* is a closed loop with its present frame b: an attachment keeps the relative pose at which it was made. The layout of
states and inputs does not depend on connections; the tables contain the closed loops only.
"""
import copy
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from bough.compile.loop_tables import build_closure, free_motion_rows
from bough.compile.partition import primitives
from bough.compile.tables import Tables
from bough.describe import Body, Distance, Event, Loop, System
from bough.describe.orientation import from_matrix, rotation_matrix
from bough.describe.parts.connection import Attach, Close, Detach, Open
from bough.sweeps.records import HINGE_PARAMETERS

MOST = 16                               # sets of closed loops whose tables are built before a run
Joined = Mapping[str, Loop]             # closed loops by name, with their present frames


def closed_at_start(system: System) -> dict[str, Loop]:
    """The loops that are closed in the description."""
    return {name: loop for name, loop in system.loops.items() if not loop.open}


def can_change(system: System) -> bool:
    """Whether events close or open loops."""
    return any(isinstance(action, Attach | Detach | Close | Open) for event in system.events.values() for action in event.do)


def can_pull(system: System) -> bool:
    """Whether events move bodies to close a loop."""
    return any(isinstance(action, Close) or (isinstance(action, Attach) and action.pose == "nominal")
               for event in system.events.values() for action in event.do)


def reachable(system: System) -> list[tuple[str, ...]]:
    """Sets of loops that events can leave closed, the initial one first; at most MOST sets."""
    found, start = dict[frozenset[str], None](), frozenset(closed_at_start(system))
    waiting = [start]
    while waiting and len(found) < MOST:
        now = waiting.pop(0)
        if now in found:
            continue
        found[now] = None
        for event in system.events.values():
            opens = {action.target for action in event.do if isinstance(action, Open | Detach)}
            waiting.append((now | closing(event)) - opens)
    if can_pull(system):                                                    # see `integrate.connecting`
        found[frozenset()] = None
    return [tuple(name for name in system.loops if name in names) for names in found]


def closing(event: Event) -> set[str]:
    """The loops that an event closes."""
    return {loop.name for loop in event.loops()} | {action.target for action in event.do if isinstance(action, Close)}


def connected(system: System, joined: Joined) -> System:
    """The system with these loops closed, and no others; itself, if nothing changes."""
    if dict(joined) == system.loops:
        return system
    twin = copy.copy(system)                                                # the rest is immutable and shared
    twin.loops = {name: joined[name] for name in system.loops if name in joined}
    return twin


def moved(tables: Tables, whole: System, system: System) -> Tables:
    """Tables built for the loops of `whole`, with the parameters of those that have other frames in `system`."""
    loops = system.loops
    changed = {name for name, loop in loops.items() if loop is not whole.loops[name] and loop != closed(whole.loops[name])}
    if not changed:
        return tables
    closures = [build_closure(loops[each.name], tables.tree) if each.name in changed else each for each in tables.fronts.closures]
    numbers = {"loops": [each.parameters for each in closures if not each.terms]}
    if tables.sections["pars"]["free motions"].size:
        numbers["free motions"] = free_motion_rows(system, tables.tree, 0)[1]
    pars = tables.pars.copy()
    for section, rows in numbers.items():
        place = tables.sections["pars"][section]
        pars[:, place.start:place.end] = np.concatenate([np.zeros((1, 0)), *rows], axis=1)
    return replace(tables, pars=pars, fronts=replace(tables.fronts, closures=closures))


def with_moved_joints(tables: Tables, bodies: Mapping[str, Body]) -> Tables:
    """Tables with the joints of these bodies, each of which has hinges of its own, moved to new places on their parents."""
    if not bodies:
        return tables
    tree = replace(tables.tree, hinges=tables.tree.hinges.copy(), nodes=tables.tree.nodes.copy())
    pars = tables.pars.copy()
    first = tables.sections["pars"]["hinges"].start - HINGE_PARAMETERS.size         # hinge 0 is the ground
    places = {hinge.joint: k for k, hinge in reversed(list(enumerate(tree.hinges))) if hinge.joint in bodies}
    for name, body in bodies.items():
        k, inner = places[name], tree.attachment(body.parent, body.node)
        axes = next((axes for _, axes in primitives(body.joint, whole=False)), np.eye(3))
        turn, at = inner.turn @ rotation_matrix(body.orient) @ axes, inner.at + np.asarray(body.at) @ inner.turn.T
        tree.hinges[k] = replace(tree.hinges[k], turn=turn, at=at)
        HINGE_PARAMETERS.write(pars, first + HINGE_PARAMETERS.size*k, place_c=turn, place_r=at)
    return replace(tables, pars=pars, tree=tree)


def closed(loop: Loop) -> Loop:
    """The loop of the description, closed."""
    return loop.model_copy(update={"open": False}) if loop.open else loop


def held_at(loop: Loop, at: np.ndarray, turn: np.ndarray) -> Loop:
    """The loop that keeps the present pose of frame b in frame a, `at` and `turn`.

    A distance becomes the present one; with a joint, frame b moves on its body to coincide with frame a."""
    if isinstance(loop.joint, Distance):
        return loop.model_copy(update={"joint": Distance(float(np.linalg.norm(at))), "open": False})
    R = rotation_matrix(loop.b.orient)
    place = np.asarray(loop.b.at) - R @ turn.T @ at                         # frame a in the axes of b's body
    b = loop.b.model_copy(update={"at": tuple(place.tolist()), "orient": from_matrix(R @ turn.T)})
    return loop.model_copy(update={"b": b, "open": False})
