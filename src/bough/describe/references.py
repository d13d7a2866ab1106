"""The names by which the parts of a system refer to each other, checked when the system is complete."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from bough.describe.base import subject_of
from bough.describe.body import WORLD, Body
from bough.describe.elements import Line
from bough.describe.event_problems import event_problems
from bough.describe.flexible_problems import flexible_problems
from bough.describe.loop import Loop
from bough.errors import Path, Problem, nearest

if TYPE_CHECKING:
    from bough.describe.system import System


def reference_problems(system: System) -> list[Problem]:
    """Every unknown body or node that a body, a loop, a wheel, a load or a force element refers to, every ring of parents, every
    loop that closes nothing, every line that never stretches, every event and stop that cannot work, and the flexible bodies that
    the sweeps do not know.

    >>> from bough.describe import System
    >>> arm = System("arm")
    >>> _ = arm.body("boom"), arm.body("hand", parent="bom")
    >>> [str(problem) for problem in reference_problems(arm)]
    ["body 'hand': parent 'bom' is not a body of the system, did you mean 'boom'?"]
    """
    found = []
    for index, body in enumerate(system.bodies.values()):
        if body.parent is not None and body.parent not in system.bodies:
            found.append(_unknown(f"body {body.name!r}", "parent", body.parent, system, ("bodies", index, "parent")))
    for index, loop in enumerate(system.loops.values()):
        found += _loop_problems(system, index, loop)
    for key in ("wheels", "wrenches", "restorings", "buoyancies"):
        for index, part in enumerate(getattr(system, key).values()):
            if part.body not in system.bodies:
                found.append(_unknown(subject_of(type(part), part.name), "body", part.body, system, (key, index, "body")))
    for index, line in enumerate(system.lines.values()):
        found += _line_problems(system, index, line)
    return found + _rings(system.bodies) + event_problems(system) + flexible_problems(system)


def _unknown(subject: str, key: str, value: str, system: System, path: Path, others: tuple[str, ...] = ()) -> Problem:
    remedy = nearest(value, [*system.bodies, *others]) or "; the bodies are " + (", ".join(list(system.bodies)[:9]) or "none yet")
    return Problem(f"{key} {value!r} is not a body of the system{remedy}", subject, path)


def _unknown_ends(system: System, key: str, index: int, part: Loop | Line) -> Iterator[Problem]:
    """The frames of a loop or a line that are on no body."""
    for side, frame in (("a", part.a), ("b", part.b)):
        if frame.body != WORLD and frame.body not in system.bodies:
            subject = f"{subject_of(type(part), part.name)}: {side}"
            yield _unknown(subject, "body", frame.body, system, (key, index, side, "body"), others=(WORLD,))


def _line_problems(system: System, index: int, line: Line) -> Iterator[Problem]:
    yield from _unknown_ends(system, "lines", index, line)
    body = line.a.body
    bends = body in system.bodies and system.bodies[body].flexible is not None
    if line.b.body == body and (not bends or line.a.node == line.b.node):
        text = "a line between the world and itself" if body == WORLD else f"a line between two points of body {body!r}"
        path = ("lines", index, "b", "body")
        yield Problem(f"{text} never changes its length: give a or b another body", f"line {line.name!r}", path)


def _loop_problems(system: System, index: int, loop: Loop) -> Iterator[Problem]:
    subject, body = f"loop {loop.name!r}", loop.a.body
    yield from _unknown_ends(system, "loops", index, loop)
    if loop.b.body != body:
        return
    if body == WORLD:
        text = "a loop between the world and itself closes nothing: give a or b a body of the system"
    elif loop.a.node != loop.b.node and body in system.bodies and system.bodies[body].flexible is not None:
        text = f"a and b are nodes of one body, {body!r}, and a loop does not hold these; hold them in its finite elements"
    else:
        text = f"a loop between body {body!r} and itself closes nothing: give b another body, or world"
    yield Problem(text, subject, ("loops", index, "b", "body"))


def _rings(bodies: Mapping[str, Body]) -> list[Problem]:
    """Bodies whose parents lead back to themselves; each ring is told once, at its first body."""
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
