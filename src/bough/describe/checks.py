"""The names by which the parts of a system refer to each other, checked when the system is complete.

What nodes of flexible bodies can carry, and what the dynamics of flexible bodies does not support.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import NamedTuple

import numpy as np

from bough.describe.base import subject_of
from bough.describe.body import WORLD, Body
from bough.describe.part import Attachment, Part, SystemView
from bough.describe.parts import PARTS
from bough.errors import SHOWN, Path, Problem, nearest
from bough.flex import FlexibleBody


def reference_problems(system: SystemView) -> list[Problem]:
    """The first bodies or nodes that a part refers to and that are not there or cannot carry it, rings of parents, what a part
    finds wrong with itself, and flexible bodies that the sweeps do not know.

    >>> from bough.describe import System
    >>> arm = System("arm")
    >>> _ = arm.body("boom"), arm.body("hand", parent="bom")
    >>> [str(problem) for problem in reference_problems(arm)]
    ["body 'hand': parent 'bom' is not a body of the system, did you mean 'boom'?"]
    """
    found = list(islice(_found(system), SHOWN))                 # no more: each wrong name is compared with all names
    return found if len(found) < SHOWN else [*found[:-1], Problem("there are more such problems; mend these first")]


def _found(system: SystemView) -> Iterator[Problem]:
    bodies = list(enumerate(system.bodies.values()))
    parts = [(kind.key, index, part) for kind in PARTS for index, part in enumerate(system.of(kind).values())]
    for index, body in bodies:
        yield from _of_parent(system, index, body)
    for key, index, part in parts:
        for each in part.attachments():
            yield from _unknown_body(system, (key, index), part, each)
        yield from (Problem(text, _subject(part), (key, index, *path)) for text, path in part.check(system))
    yield from _rings(system.bodies)
    for index, body in bodies:
        yield from unsupported(system, index, body)
    mountings = [_body_mounting(system, index, body) for index, body in bodies if body.parent in system.bodies]
    mountings += [_mounting(system, (key, index), part, each) for key, index, part in parts for each in part.attachments()
              if each.body in system.bodies]  # fmt: skip
    yield from (Problem(text, each.subject, each.path) for each in mountings if (text := mounting_defect(each)))


def _subject(part: Part, attachment: Attachment | None = None) -> str:
    own = subject_of(type(part), part.name)
    return f"{own}: {attachment.side}" if attachment is not None and attachment.side else own


def _of_parent(system: SystemView, index: int, body: Body) -> Iterator[Problem]:
    if body.parent is not None and body.parent not in system.bodies:
        yield _unknown(f"body {body.name!r}", "parent", body.parent, system, ("bodies", index, "parent"))


def _unknown_body(system: SystemView, path: Path, part: Part, place: Attachment) -> Iterator[Problem]:
    """The place of a part if it is on no body; a frame may be on the world."""
    if place.body not in system.bodies and not (place.side and place.body == WORLD):
        where = (*path, place.side, "body") if place.side else (*path, "body")
        yield _unknown(_subject(part, place), "body", place.body, system, where, (WORLD,) if place.side else ())


def _unknown(subject: str, key: str, value: str, system: SystemView, path: Path, others: tuple[str, ...] = ()) -> Problem:
    remedy = nearest(value, [*system.bodies, *others]) or "; the bodies are " + (", ".join(list(system.bodies)[:9]) or "none yet")
    return Problem(f"{key} {value!r} is not a body of the system{remedy}", subject, path)


def _body_mounting(system: SystemView, index: int, body: Body) -> Mounting:
    path = ("bodies", index, "parent" if body.node is None else "node")
    return Mounting(f"body {body.name!r}", path, system.bodies[str(body.parent)], body.node, "a joint")


def _mounting(system: SystemView, path: Path, part: Part, place: Attachment) -> Mounting:
    where = (*path, *((place.side,) if place.side else ()), "body" if place.node is None else "node")
    return Mounting(_subject(part, place), where, system.bodies[place.body], place.node, place.turning)


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
            text = f"its parents lead back to itself ({round_trip}); let one of them hang on the world"
            found.append(Problem(text, f"body {ring[0]!r}", ("bodies", list(bodies).index(ring[0]), "parent")))
    return found


# ---- flexible checks -------------------------------------------------------------------------------------------------------
_FIXED = 1e-12  # of the largest translation of any node
_NO_ROTATION = (
    "the elements do not tell the rotation there; name another node, or make this one of several mesh points that span a triangle"
)


class Mounting(NamedTuple):
    """A part on a node of a body (None: its inboard one). `turning` is what of it must turn with the node."""

    subject: str
    path: Path
    carrier: Body
    node: str | None
    turning: str


def unsupported(system: SystemView, index: int, body: Body) -> Iterator[Problem]:
    """What a flexible body is or does that the sweeps do not know."""
    if body.flexible is None:
        return
    subject, path = f"body {body.name!r}", ("bodies", index, "flexible")
    inboard = body.flexible.inboard
    if inboard is not None and _moves(body.flexible, inboard) and not _rotates(body.flexible, inboard):
        yield Problem(f"its inboard node {inboard!r} cannot carry its joint: {_NO_ROTATION}", subject, path)


def mounting_defect(mounting: Mounting) -> str:
    """Why nothing can sit there, and the remedy; or nothing."""
    flexible, owner = mounting.carrier.flexible, f"body {mounting.carrier.name!r}"
    if flexible is None:
        remedy = f"leave node out and say the place by at, or make {mounting.carrier.name!r} flexible"
        return f"node is {mounting.node!r}, but {owner} is rigid and has no nodes; {remedy}" if mounting.node is not None else ""
    node, listed = mounting.node or flexible.inboard, ", ".join(map(repr, flexible.nodes.names)) or "none"
    if node is None:
        return f"node is missing, and {owner} has no inboard node to stand for it; give one of its nodes: {listed}"
    if node not in flexible.nodes.names:
        meant = nearest(node, flexible.nodes.names)
        return f"node {node!r} is not a node of {owner}{f'{meant} Its' if meant else '; its'} nodes are {listed}"
    if mounting.turning and not _rotates(flexible, node):
        return f"node {node!r} of {owner} cannot carry {mounting.turning}: {_NO_ROTATION}"
    return ""


def _moves(flexible: FlexibleBody, node: str) -> bool:
    """Whether a node moves in the body frame: one that the modes hold fixed turns as little as it moves."""
    sizes = np.abs(flexible.nodes.phi)
    return bool(sizes[flexible.nodes.index(node)].max(initial=0.0) > _FIXED * sizes.max(initial=0.0))


def _rotates(flexible: FlexibleBody, node: str) -> bool:
    return flexible.nodes.rotates[flexible.nodes.index(node)]
