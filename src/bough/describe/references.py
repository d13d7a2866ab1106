"""The names by which the parts of a system refer to each other, checked when the system is complete."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from bough.describe.body import Body
from bough.describe.flexible_problems import flexible_problems
from bough.errors import Path, Problem, nearest

if TYPE_CHECKING:
    from bough.describe.system import System


def reference_problems(system: System) -> list[Problem]:
    """Every unknown body or node that a body, a wheel or a wrench refers to, every ring of parents, and the flexible bodies
    that the sweeps do not know.

    >>> from bough.describe import System
    >>> arm = System("arm")
    >>> _ = arm.body("boom"), arm.body("hand", parent="bom")
    >>> [str(problem) for problem in reference_problems(arm)]
    ["body 'hand': parent 'bom' is not a body of the system, did you mean 'boom'?"]
    """
    found = []
    for index, body in enumerate(system.bodies.values()):
        if body.parent is not None and body.parent not in system.bodies:
            found.append(_unknown("body", body.name, "parent", body.parent, system, ("bodies", index, "parent")))
    for index, wheel in enumerate(system.wheels.values()):
        if wheel.body not in system.bodies:
            found.append(_unknown("wheel", wheel.name, "body", wheel.body, system, ("wheels", index, "body")))
    for index, wrench in enumerate(system.wrenches.values()):
        if wrench.body not in system.bodies:
            found.append(_unknown("wrench", wrench.name, "body", wrench.body, system, ("wrenches", index, "body")))
    return found + _rings(system.bodies) + flexible_problems(system)


def _unknown(noun: str, name: str, key: str, value: str, system: System, path: Path) -> Problem:
    remedy = nearest(value, system.bodies) or "; the bodies are " + (", ".join(list(system.bodies)[:9]) or "none yet")
    return Problem(f"{key} {value!r} is not a body of the system{remedy}", f"{noun} {name!r}", path)


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
