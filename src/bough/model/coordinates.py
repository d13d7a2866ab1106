"""Coordinates by name: where they are in q and v, and which of them can be held."""
from dataclasses import dataclass
from typing import Any

from bough.describe import Lock, Prescribe, System


def coordinate_places(system: System) -> dict[str, tuple[int, int]]:
    """Where each joint's coordinates start in q and v: in the order of the description."""
    places, q, v = {}, 0, 0
    for body in system.bodies.values():
        places[body.name] = q, v
        q, v = q + body.n_q, v + body.n_v
    return places


def coordinate_place(system: System, name: str) -> tuple[int, int]:
    """Where a joint's coordinate of its own name is in q and v."""
    for body, names in coordinate_names(system).items():
        if name in names:
            q, v = coordinate_places(system)[body]
            return q + names.index(name), v + names.index(name)
    raise KeyError(name)


@dataclass(frozen=True)
class Coordinate:
    """An entry of v that can be held."""
    name: str
    body: str                           # whose joint it is part of
    q: int | None                       # its place in q; None: a share of a spherical rotation
    v: int
    motions: tuple[Any, ...]            # that it may follow


def coordinate_names(system: System) -> dict[str, list[str]]:
    """By body, the names of its joint's entries of v."""
    return {body.name: [f"{body.joint.name or body.name}.{dof}" for dof in body.joint.dofs] for body in system.bodies.values()}


def targets_of(system: System, target: str) -> list[str]:
    """The coordinates that a name means: one, or all of a body's or a joint's."""
    found = []
    for body, names in coordinate_names(system).items():
        found += names if target in (body, system.bodies[body].joint.name) else [name for name in names if name == target]
    return found


def holdable(system: System) -> dict[str, Coordinate]:
    """Coordinates that the description or an event may hold, by name."""
    motions: dict[str, list[Any]] = {}
    for body, names in coordinate_names(system).items():
        for name, motion in zip(names, system.bodies[body].joint.motion or (None,)*len(names), strict=True):
            if motion is not None:
                motions[name] = [] if motion == "locked" else [motion]
    for event in system.events.values():
        for action in event.do:
            if isinstance(action, Lock | Prescribe):
                for name in targets_of(system, action.target):
                    own = motions.setdefault(name, [])
                    if isinstance(action, Prescribe):
                        own.append(action.motion)
    found, places = {}, coordinate_places(system)
    for body, names in coordinate_names(system).items():
        joint, (q, v) = system.bodies[body].joint, places[body]
        slides = len(joint.translations)
        for i, name in enumerate(names):
            if name in motions:
                own = None if joint.spherical and i >= slides else q + i
                found[name] = Coordinate(name, body, own, v + i, tuple(motions[name]))
    return found
