"""The names by which the parts of a system refer to each other, checked when the system is complete."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from bough.describe.base import subject_of
from bough.describe.body import WORLD, Body
from bough.describe.flexible_checks import Mounting, mounting_defect, unsupported
from bough.describe.part import Attachment, Part, SystemView
from bough.describe.parts import PARTS
from bough.errors import Path, Problem, nearest


def reference_problems(system: SystemView) -> list[Problem]:
    """Every body or node that a part refers to and that is not there or cannot carry it, every ring of parents, everything that a
    part finds wrong with itself, and the flexible bodies that the sweeps do not know.

    >>> from bough.describe import System
    >>> arm = System("arm")
    >>> _ = arm.body("boom"), arm.body("hand", parent="bom")
    >>> [str(problem) for problem in reference_problems(arm)]
    ["body 'hand': parent 'bom' is not a body of the system, did you mean 'boom'?"]
    """
    bodies = list(enumerate(system.bodies.values()))
    parts = [(kind.key, index, part) for kind in PARTS for index, part in enumerate(system.of(kind).values())]
    found = [problem for index, body in bodies for problem in _of_parent(system, index, body)]
    for key, index, part in parts:
        found += [problem for each in part.attachments() for problem in _unknown_body(system, (key, index), part, each)]
        found += [Problem(text, _subject(part), (key, index, *path)) for text, path in part.check(system)]
    found += _rings(system.bodies)
    found += [problem for index, body in bodies for problem in unsupported(system, index, body)]
    mountings = [_body_mounting(system, index, body) for index, body in bodies if body.parent in system.bodies]
    mountings += [_mounting(system, (key, index), part, each) for key, index, part in parts for each in part.attachments()
              if each.body in system.bodies]  # fmt: skip
    return found + [Problem(text, each.subject, each.path) for each in mountings if (text := mounting_defect(each))]


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
            round_trip = " -> ".join([*ring, ring[0]])
            text = f"its parents lead back to itself ({round_trip}); let one of them hang on the world"
            found.append(Problem(text, f"body {ring[0]!r}", ("bodies", list(bodies).index(ring[0]), "parent")))
    return found
