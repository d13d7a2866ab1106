"""The names that events and stops give, checked when the system is complete."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from bough.describe.actions import Action, Lock, Prescribe
from bough.describe.coordinate_names import Target, coordinate_names, speed_names, spherical_names, targets
from bough.describe.events import Event
from bough.describe.motion_mapping import LOCKED
from bough.describe.motions import Constant
from bough.errors import Path, Problem, nearest

if TYPE_CHECKING:
    from bough.describe.system import System

_GIMBAL = "or give its body Gimbal (rotations 'xyz')"


def event_problems(system: System) -> list[Problem]:
    """Every event and stop that names what is not there or cannot be held, and every event that can never happen.

    >>> from bough.describe import Lock, System
    >>> arm = System("arm")
    >>> _ = arm.body("boom", joint="revolute"), arm.event("stow", at=5, do=Lock("bom.rz"))
    >>> [str(problem) for problem in event_problems(arm)]
    ["event 'stow': lock 'bom.rz' names no coordinate, joint or body of the system, did you mean 'boom.rz'?"]
    """
    found: list[Problem] = []
    for index, event in enumerate(system.events.values()):
        subject, path = f"event {event.name!r}", ("events", index)
        texts: list[tuple[str, Path]] = []
        for i, action in enumerate(event.do):
            texts += [(text, (*path, "do", i)) for text in _action_texts(system, event, action)]
        texts += [(text, (*path, "when")) for text in _watch_texts(system, event)]
        texts += [(text, (*path, "do")) for text in _clash_texts(system, event)]
        found += [Problem(text, subject, where) for text, where in texts]
    for index, stop in enumerate(system.stops.values()):
        where: Path = ("stops", index, "coordinate")
        found += [Problem(text, f"stop {stop.name!r}", where) for text in _stop_texts(system, stop.coordinate)]
    return found


def _action_texts(system: System, event: Event, action: Action) -> Iterator[str]:
    name, found = action.target, targets(system, action.target)
    what = f"{action.noun} {name!r}"
    if len(found) != 1:
        yield f"{what} {_misnamed(system, name, found)}"
        return
    (target,) = found
    if not target.entries:
        yield f"{what} names a weld, which has no coordinates; name a body whose joint moves"
    elif isinstance(action, Prescribe):
        if target.turns:
            yield f"{what} names a spherical rotation, which has no angles to prescribe; {_GIMBAL.removeprefix('or ')}"
        elif len(target.entries) > 1:
            yield f"{what} names {len(target.entries)} coordinates; prescribe each: {', '.join(target.names)}"
    elif target.turns and not set(spherical_names(target.body)) <= _named(system, event, type(action)):
        yield (f"{what} names one of the three speeds of a spherical rotation, which only change together; {action.noun} "
               f"{', '.join(spherical_names(target.body))}, {_GIMBAL}")  # fmt: skip


def _named(system: System, event: Event, kind: type[Action]) -> set[str]:
    """The coordinates on which the actions of one kind act."""
    return {name for action in event.do if isinstance(action, kind) for t in targets(system, action.target) for name in t.names}


def _clash_texts(system: System, event: Event) -> Iterator[str]:
    """Coordinates on which several actions of one event act."""
    seen: dict[str, Action] = {}
    for action in event.do:
        found = targets(system, action.target)
        for name in found[0].names if len(found) == 1 else ():
            if name in seen:
                yield f"{seen[name].noun} {seen[name].target!r} and {action.noun} {action.target!r} both act on {name!r}; keep one"
                break
            seen[name] = action


def _misnamed(system: System, name: str, found: list[Target]) -> str:
    """What is wrong with a name that does not stand for one thing."""
    if found:
        owners = " and of ".join(repr(target.body.name) for target in found)
        return f"may be of body {owners}; give their joints other names"
    for body in system.bodies.values():
        if name in coordinate_names(body)[body.joint.n_q :]:
            return "names a modal coordinate, which is always free; name a coordinate of a joint, or give the body fewer modes"
        if name in coordinate_names(body):
            return f"names an entry of a quaternion; name the three speeds {', '.join(spherical_names(body))}, {_GIMBAL}"
    known = [*_speeds(system), *system.bodies, *(body.joint.name for body in system.bodies.values() if body.joint.name)]
    return f"names no coordinate, joint or body of the system{nearest(name, known) or _list(_speeds(system))}"


def _watch_texts(system: System, event: Event) -> Iterator[str]:
    """What is wrong with what an event waits for."""
    name, rate = event.when, event.quantity == "rate"
    if name is None:
        return
    positions = [known for body in system.bodies.values() for known in coordinate_names(body)]
    speeds = [*_speeds(system), *system.wheels]
    known, others = (speeds, positions) if rate else (positions, speeds)
    what = "speed" if rate else "coordinate"
    if known.count(name) > 1:
        yield f"when {name!r} may be one of several; give joints and wheels different names"
    elif name in known:
        yield from _never_texts(system, event, name)
    elif name in others:
        yield f"when {name!r} is {'no speed' if rate else 'a speed'}; give quantity='{'position' if rate else 'rate'}'"
    elif own := [each for target in targets(system, name) for each in coordinate_names(target.body)]:
        yield f"when {name!r} is not one {what}; name one of {', '.join(own)}"
    else:
        yield f"when {name!r} is not a {what} of the system{nearest(name, known) or _list(known)}"


def _never_texts(system: System, event: Event, name: str) -> Iterator[str]:
    """Why what an event waits for can never come, where this is sure."""
    if event.quantity == "rate" and name in system.wheels and name not in _speeds(system):
        if not system.wheels[name].driven:
            yield f"it can never happen: wheel {name!r} has no torque, so that its speed is held; give it a torque, be it 0"
        return
    for body in system.bodies.values():
        names = speed_names(body) if event.quantity == "rate" else coordinate_names(body)
        if name in names[: body.joint.n_v + (event.quantity == "position" and body.joint.spherical)]:
            entry = min(names.index(name), body.joint.n_v - 1)
            if _still(system, Target(body, (entry,))):
                yield f"it can never happen: {name!r} does not move, and no event releases it; add one that does, or remove this"


def _still(system: System, target: Target) -> bool:
    """Whether a coordinate is locked or constant from the start, and no event lets it move."""
    motion = target.body.joint.motion
    if motion is None or not (motion[target.entries[0]] == LOCKED or isinstance(motion[target.entries[0]], Constant)):
        return False
    loosening = (action.target for event in system.events.values() for action in event.do if not isinstance(action, Lock))
    moved = {name for given in loosening for each in targets(system, given) for name in each.names}
    return not moved & set(target.names)


def _stop_texts(system: System, name: str) -> Iterator[str]:
    found = targets(system, name)
    if len(found) != 1:
        yield f"coordinate {name!r} {_misnamed(system, name, found)}"
    elif found[0].turns:
        yield f"coordinate {name!r} belongs to a spherical rotation, which has no angles; {_GIMBAL.removeprefix('or ')}"
    elif found[0].names != (name,):
        yield f"coordinate {name!r} names a whole joint; name one of its coordinates: {', '.join(found[0].names) or 'it has none'}"


def _speeds(system: System) -> list[str]:
    return [name for body in system.bodies.values() for name in speed_names(body)]


def _list(known: list[str]) -> str:
    return "; there are " + (", ".join(known[:9]) + (", ..." if len(known) > 9 else "") or "none yet")
