"""The names of coordinates and speeds, and what a name that an event or a stop gives stands for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from bough.describe.body import Body
from bough.describe.part import SystemView
from bough.errors import nearest

NO_ANGLES = "give its body Gimbal (rotations 'xyz')"


def coordinate_names(body: Body) -> tuple[str, ...]:
    """The names of a body's entries of q: those of its joint, then of its modes.

    >>> coordinate_names(Body("boom", joint={"type": "universal", "name": "root"}))
    ('root.rx', 'root.ry')
    """
    return (*_labeled(body, body.joint.q_labels), *_modes(body))


def speed_names(body: Body) -> tuple[str, ...]:
    """The names of a body's entries of v.

    >>> speed_names(Body("ball", joint="spherical"))
    ('ball.wx', 'ball.wy', 'ball.wz')
    """
    return (*_labeled(body, body.joint.dofs), *_modes(body))


class Target(NamedTuple):
    """Entries of the v of a body's joint."""

    body: Body
    entries: tuple[int, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """What the entries are called."""
        return tuple(speed_names(self.body)[i] for i in self.entries)

    @property
    def turns(self) -> tuple[str, ...]:
        """Those of its names that belong to a spherical rotation."""
        return tuple(set(self.names) & set(spherical_names(self.body)))


def targets(system: SystemView, name: str) -> list[Target]:
    """What a name stands for: one coordinate, or all those of a body's joint. None if it is unknown, several if it is ambiguous.

    >>> from bough.describe.system import System
    >>> arm = System("arm")
    >>> _ = arm.body("bus", joint="free"), arm.body("boom", parent="bus", joint={"type": "universal", "axes": "yz"})
    >>> [target.names for target in targets(arm, "boom")], [target.entries for target in targets(arm, "boom.rz")]
    ([('boom.ry', 'boom.rz')], [(1,)])
    """
    found = []
    for body in system.bodies.values():
        own = _labeled(body, body.joint.dofs)
        if name in (body.name, body.joint.name):
            found.append(Target(body, tuple(range(len(own)))))
        elif name in own:
            found.append(Target(body, (own.index(name),)))
    return found


def spherical_names(body: Body) -> tuple[str, ...]:
    """The names of the three speeds of a body's spherical rotation, if it has one."""
    return _labeled(body, body.joint.dofs[-3:]) if body.joint.spherical else ()


def _labeled(body: Body, labels: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{body.joint.name or body.name}.{label}" for label in labels)


def _modes(body: Body) -> tuple[str, ...]:
    return tuple(f"{body.name}.mode{r + 1}" for r in range(body.n_modes))


def all_speeds(system: SystemView) -> list[str]:
    """The names of all entries of v."""
    return [name for body in system.bodies.values() for name in speed_names(body)]


def misnamed(system: SystemView, name: str, found: Sequence[Target]) -> str:
    """What is wrong with a name that does not stand for one thing."""
    if found:
        owners = " and of ".join(repr(target.body.name) for target in found)
        return f"may be of body {owners}; give their joints other names"
    for body in system.bodies.values():
        if name in coordinate_names(body)[body.joint.n_q :]:
            return "names a modal coordinate, which is always free; name a coordinate of a joint, or give the body fewer modes"
        if name in coordinate_names(body):
            return f"names an entry of a quaternion; name the three speeds {', '.join(spherical_names(body))}, or {NO_ANGLES}"
    known = [*all_speeds(system), *system.bodies, *(body.joint.name for body in system.bodies.values() if body.joint.name)]
    return f"names no coordinate, joint or body of the system{nearest(name, known) or listed(all_speeds(system))}"


def listed(known: Sequence[str]) -> str:
    """The end of a message that lists what there is."""
    return "; there are " + (", ".join(known[:9]) + (", ..." if len(known) > 9 else "") or "none yet")
