"""A system drawn as a tree of text."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import compress, islice

from bough.describe.body import Body
from bough.describe.part import SystemView
from bough.describe.parts import PARTS
from bough.flex import FlexibleBody

Children = dict[str | None, list[Body]]
_LONGEST = 40  # lines of the tree; a chain of thousands is not printed whole


def of(system: SystemView) -> str:
    """The summary line, the tree of a system's bodies, those that the world does not carry (yet), and the loops."""
    children: Children = {}
    for body in system.bodies.values():
        children.setdefault(body.parent, []).append(body)
    carried = _carried(children)
    lines = [_summary(system), *(["world"] if system.bodies else [])]
    lines += [f"{branch} {_line(system, body)}" for branch, body in islice(_branches(children), _LONGEST)]
    lines += [f"... and {len(carried) - _LONGEST} more"] if len(carried) > _LONGEST else []
    loose = (body for body in system.bodies.values() if body.name not in carried)
    lines += [f"? {_line(system, body)}, on {body.parent!r}" for body in islice(loose, _LONGEST)]
    lines += [loop.label for loop in islice(system.loops.values(), _LONGEST)]
    lines += [f"... and {len(system.loops) - _LONGEST} more loops"] if len(system.loops) > _LONGEST else []
    return "\n".join(lines)


def _summary(system: SystemView) -> str:
    bodies = system.bodies.values()
    freedoms, modes = sum(body.joint.n_v for body in bodies), sum(body.n_modes for body in bodies)
    parts = [
        _count(len(bodies), "body", "bodies"),
        _count(freedoms, "degree of freedom", "degrees of freedom") + (" before loops" if system.loops else ""),
        *([_count(modes, "mode", "modes")] if modes else []),
        f"{sum(body.mass for body in bodies):g} kg",
    ]
    parts += [_count(len(system.of(kind)), kind.noun, kind.key) for kind in PARTS if system.of(kind)]
    if not isinstance(system.gravity, tuple):
        parts.append(f"central gravity of mu {system.gravity.mu:g} m^3/s^2")
    elif any(system.gravity):
        parts.append(f"gravity {system.gravity} m/s^2")
    return f"System {system.name!r}: {', '.join(parts)}"


def _carried(children: Children) -> set[str]:
    """The names of the bodies that hang on the world."""
    waiting, found = list(children.get(None, [])), set[str]()
    while waiting:
        body = waiting.pop()
        found.add(body.name)
        waiting += children.get(body.name, [])
    return found


def _branches(children: Children) -> Iterator[tuple[str, Body]]:
    """The bodies on the world, depth first, each with the lines of the drawing before its name."""
    last = {siblings[-1].name for siblings in children.values()}
    waiting = [(body, "") for body in reversed(children.get(None, []))]
    while waiting:
        body, indent = waiting.pop()
        yield indent + ("└─" if body.name in last else "├─"), body
        deeper = indent + ("   " if body.name in last else "│  ")
        waiting += [(child, deeper) for child in reversed(children.get(body.name, []))]


def _line(system: SystemView, body: Body) -> str:
    dofs = " ".join(body.joint.dofs)
    parts = [f"{body.joint.kind}: {dofs}" if dofs else body.joint.kind]
    for word, marks in (("locked", body.joint.locked), ("prescribed", body.joint.prescribed)):
        parts += [f"{word} {' '.join(compress(body.joint.dofs, marks))}"] if any(marks) else []
    parts += [f"{body.mass:g} kg" if body.mass else "massless"]
    parts += [_modes(body.flexible)] if body.flexible is not None else []
    parts += [f"at node {body.node}"] if body.node is not None else []
    wheels = [wheel.name for wheel in system.wheels.values() if wheel.body == body.name]
    parts += [f"wheel{'s' * (len(wheels) > 1)} {' '.join(wheels)}"] if wheels else []
    return f"{body.name}   {', '.join(parts)}"


def _modes(flexible: FlexibleBody) -> str:
    count = _count(flexible.n_modes, "mode", "modes")
    span = dict.fromkeys(f"{frequency:.3g}" for frequency in flexible.frequencies[[0, -1]]) if flexible.n_modes else {}
    return f"{count} {' ... '.join(span)} Hz" if span else count


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
