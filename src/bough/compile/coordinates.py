"""Coordinates by name: where they are in q and v, and which of them can be held."""
from dataclasses import dataclass
from typing import Any

from bough.describe import Lock, Prescribe, System
from bough.describe.coordinate_names import speed_names, targets


def coordinate_places(system: System) -> dict[str, tuple[int, int]]:
    """Where each joint's coordinates start in q and v: in the order of the description."""
    places, q, v = {}, 0, 0
    for body in system.bodies.values():
        places[body.name] = q, v
        q, v = q + body.n_q, v + body.n_v
    return places


def coordinate_place(system: System, name: str) -> tuple[int, int]:
    """Where a coordinate that is an entry of q and of v is in both."""
    target = targets(system, name)[0]
    q, v = coordinate_places(system)[target.body.name]
    return q + target.entries[0], v + target.entries[0]


def targets_of(system: System, name: str) -> list[str]:
    """The entries of v that a name means: one, or all of a body's or a joint's."""
    return [each for target in targets(system, name) for each in target.names]


@dataclass(frozen=True)
class Coordinate:
    """An entry of v that can be held."""
    name: str
    body: str                           # whose joint it is part of
    q: int | None                       # its place in q; None: a share of a spherical rotation
    v: int
    motions: tuple[Any, ...]            # that it may follow


def holdable(system: System) -> dict[str, Coordinate]:
    """Coordinates that the description or an event may hold, by name."""
    motions: dict[str, list[Any]] = {}
    for name, motion in declared_motions(system).items():
        motions[name] = [] if motion == "locked" else [motion]
    for action in (action for event in system.events.values() for action in event.do if isinstance(action, Lock | Prescribe)):
        for name in targets_of(system, action.target):
            motions.setdefault(name, []).extend([action.motion] if isinstance(action, Prescribe) else [])
    found, places = {}, coordinate_places(system)
    for body in system.bodies.values():
        (q, v), slides = places[body.name], len(body.joint.translations)
        for i, name in enumerate(speed_names(body)[:body.joint.n_v]):
            if name in motions:
                own = None if body.joint.spherical and i >= slides else q + i
                found[name] = Coordinate(name, body.name, own, v + i, tuple(motions[name]))
    return found


def declared_motions(system: System) -> dict[str, Any]:
    """What joints say of their coordinates that are not free: "locked", or a motion."""
    return {name: motion for body in system.bodies.values() if body.joint.motion is not None
            for name, motion in zip(speed_names(body), body.joint.motion, strict=False) if motion is not None}
