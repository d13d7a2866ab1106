"""What is checked when a system is complete: the names by which its parts refer to each other, what nodes of flexible bodies can
carry, and what the dynamics of flexible bodies does not support.
"""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import NamedTuple

import numpy as np

from bough.describe.base import subject_of
from bough.describe.body import WORLD, Body
from bough.describe.part import SystemView
from bough.describe.parts import PARTS
from bough.errors import SHOWN, Path, Problem, nearest


def reference_problems(system: SystemView) -> list[Problem]:
    """The first bodies or nodes that a part refers to and that are not there or cannot carry it, rings of parents, what a part
    finds wrong with itself, and flexible bodies that the dynamics does not support.

    >>> from bough.describe import System
    >>> arm = System("arm")
    >>> _ = arm.body("boom"), arm.body("hand", parent="bom")
    >>> [str(problem) for problem in reference_problems(arm)]
    ["body 'hand': parent 'bom' is not a body of the system, did you mean 'boom'?"]
    """
    found = list(islice(_found(system), SHOWN))                 # no more: each wrong name is compared with all names
    return found if len(found) < SHOWN else [*found[:-1], Problem("there are more such problems; fix these first")]


def _found(system: SystemView) -> Iterator[Problem]:
    places = [Mounting(f"body {body.name!r}", ("bodies", i), body.parent, body.node, "a joint", "parent")
              for i, body in enumerate(system.bodies.values()) if body.parent is not None]
    parts = [(subject_of(type(part), part.name), (kind.key, i), part)
             for kind in PARTS for i, part in enumerate(system.of(kind).values())]
    for subject, path, part in parts:
        for body, node, turning, side in part.attachments():
            owner, where = (f"{subject}: {side}", (*path, side)) if side else (subject, path)
            places.append(Mounting(owner, where, body, node, turning, "body", world=bool(side)))
    unknown = (place for place in places if place.body not in system.bodies and not (place.world and place.body == WORLD))
    yield from (_unknown(system, place) for place in unknown)
    yield from (Problem(text, subject, (*path, *at)) for subject, path, part in parts for text, at in part.check(system))
    yield from _rings(system.bodies)
    yield from (problem for i, body in enumerate(system.bodies.values()) for problem in unsupported(i, body))
    yield from (Problem(text, place.subject, (*place.path, place.key if place.node is None else "node")) for place in places
                if place.body in system.bodies and (text := mounting_error(system.bodies[place.body], place)))


class Mounting(NamedTuple):
    """A body or a part on a node of a body (None: its inboard one). `turning` is what of it must turn with the node, and `key` the
    field that names the body; a frame may be on the world.
    """

    subject: str
    path: Path
    body: str
    node: str | None
    turning: str
    key: str
    world: bool = False


def _unknown(system: SystemView, place: Mounting) -> Problem:
    close = nearest(place.body, [*system.bodies, *([WORLD] if place.world else [])])
    remedy = close or "; the bodies are " + (", ".join(list(system.bodies)[:9]) or "none yet")
    return Problem(f"{place.key} {place.body!r} is not a body of the system{remedy}", place.subject, (*place.path, place.key))


def _rings(bodies: Mapping[str, Body]) -> list[Problem]:
    """Bodies whose parents lead back to themselves; each ring is reported once, at its first body."""
    found, settled = [], set[str]()
    for name in bodies:
        path: list[str] = []
        current: str | None = name
        while current is not None and current in bodies and current not in settled:
            path.append(current)
            settled.add(current)
            current = bodies[current].parent
        if current in path:
            ring = path[path.index(current) :]
            round_trip = " -> ".join([*(ring if len(ring) <= SHOWN else [*ring[:SHOWN], "..."]), ring[0]])
            text = f"its parents lead back to itself ({round_trip}); mount one of them on the world"
            found.append(Problem(text, f"body {ring[0]!r}", ("bodies", list(bodies).index(ring[0]), "parent")))
    return found


# ---- flexible checks -------------------------------------------------------------------------------------------------------
_FIXED = 1e-12  # of the largest translation of any node
_NO_ROTATION = ("the elements do not define the rotation there; name another node, or make this one of several mesh points that "
                "span a triangle")


def unsupported(index: int, body: Body) -> Iterator[Problem]:
    """Properties of a flexible body that the dynamics does not support."""
    if body.flexible is None or (inboard := body.flexible.inboard) is None:
        return
    nodes = body.flexible.nodes
    sizes, k = np.abs(nodes.phi), nodes.index(inboard)
    moves = sizes[k].max(initial=0.0) > _FIXED * sizes.max(initial=0.0)         # if not, it turns as little
    if moves and not nodes.rotates[k]:
        text = f"its inboard node {inboard!r} cannot carry its joint: {_NO_ROTATION}"
        yield Problem(text, f"body {body.name!r}", ("bodies", index, "flexible"))


def mounting_error(carrier: Body, place: Mounting) -> str:
    """Why nothing can be mounted there, with the remedy; empty if it can."""
    flexible, owner = carrier.flexible, f"body {carrier.name!r}"
    if flexible is None:
        remedy = f"leave node out and say the place by at, or make {carrier.name!r} flexible"
        return f"node is {place.node!r}, but {owner} is rigid and has no nodes; {remedy}" if place.node is not None else ""
    node, listed = place.node or flexible.inboard, ", ".join(map(repr, flexible.nodes.names)) or "none"
    if node is None:
        return f"node is missing, and {owner} has no inboard node to stand for it; give one of its nodes: {listed}"
    if node not in flexible.nodes.names:
        meant = nearest(node, flexible.nodes.names)
        return f"node {node!r} is not a node of {owner}{f'{meant} Its' if meant else '; its'} nodes are {listed}"
    if place.turning and not flexible.nodes.rotates[flexible.nodes.index(node)]:
        return f"node {node!r} of {owner} cannot carry {place.turning}: {_NO_ROTATION}"
    return ""
