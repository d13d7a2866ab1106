"""The contents of a URDF file, element by element, and the tree of its links and joints."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from bough.errors import SHOWN, DescriptionError, Problem, nearest

Vector = tuple[float, ...]


class Origin(NamedTuple):
    """A frame in another one: position, and turns about its fixed x, y and z axes."""

    xyz: Vector = (0.0, 0.0, 0.0)
    rpy: Vector = (0.0, 0.0, 0.0)

    @property
    def place(self) -> dict[str, Any]:
        """As keywords of bough's descriptions."""
        return {"at": self.xyz, "orient": {"euler": "xyz", "radians": self.rpy} if any(self.rpy) else None}


class Inertial(NamedTuple):
    """Mass, and the inertia about the mass center in the axes of its origin."""

    origin: Origin
    mass: float
    inertia: tuple[Vector, ...]


class Visual(NamedTuple):
    """A geometry to draw: box, cylinder, sphere or mesh, its sizes (the keywords of bough's shapes), and its material."""

    origin: Origin
    kind: str
    sizes: dict[str, Any]
    file: str = ""
    color: Vector | None = None
    material: str = ""


class Link(NamedTuple):
    """A body."""

    name: str
    inertial: Inertial | None
    visuals: tuple[Visual, ...]


class Limit(NamedTuple):
    """The range of a joint's coordinate, and what its drive can do; None is what the file does not say."""

    lower: float | None
    upper: float | None
    effort: float | None
    velocity: float | None


class Mimic(NamedTuple):
    """A coordinate that follows another one: q = multiplier q_other + offset."""

    joint: str
    multiplier: float
    offset: float


class RobotJoint(NamedTuple):
    """A joint between two links."""

    name: str
    kind: str
    parent: str
    child: str
    origin: Origin
    axis: Vector
    limit: Limit | None
    damping: float
    friction: float
    mimic: Mimic | None


@dataclass
class Robot:
    """The links and joints of a file, and the names of what bough has no use for, by kind."""

    name: str
    links: dict[str, Link] = field(default_factory=dict)
    joints: dict[str, RobotJoint] = field(default_factory=dict)
    colors: dict[str, Vector] = field(default_factory=dict)
    unused: dict[str, list[str]] = field(default_factory=dict)

    def leave(self, kind: str, owner: str) -> None:
        """Remember that something is not used."""
        self.unused.setdefault(kind, []).append(owner)


def branches(robot: Robot) -> Iterator[tuple[Link, RobotJoint | None]]:
    """Links with the joints that carry them, of which the root has none: inner before outer ones, each followed by what it carries,
    in the order of the joints in the file."""
    carried, children = _carried(robot), dict[str, list[RobotJoint]]()
    for joint in robot.joints.values():
        children.setdefault(joint.parent, []).append(joint)
    roots = [name for name in robot.links if name not in carried]
    if len(roots) != 1:
        found = f"the roots {', '.join(map(repr, roots))}" if roots else "no root: its joints go round in a circle"
        raise DescriptionError(f"robot {robot.name!r} has {found}; let joints connect all links to one of them")
    waiting: list[tuple[Link, RobotJoint | None]] = [(robot.links[roots[0]], None)]
    reached = 0
    while waiting:
        link, carrier = waiting.pop()
        reached += 1
        yield link, carrier
        waiting += [(robot.links[joint.child], joint) for joint in reversed(children.get(link.name, []))]
    if reached < len(robot.links):
        raise DescriptionError(f"robot {robot.name!r} has links whose joints go round in a circle; connect them to {roots[0]!r}")


def _carried(robot: Robot) -> dict[str, str]:
    """The joint that carries each link."""
    carried, problems = dict[str, str](), list[Problem]()
    for joint in robot.joints.values():
        subject = f"joint {joint.name!r}"
        for end, name in (("parent", joint.parent), ("child", joint.child)):
            if name not in robot.links:
                meant = nearest(name, robot.links) if len(problems) < SHOWN else ""
                problems.append(Problem(f"{end} {name!r} is not a link of the robot{meant}", subject))
        if joint.child in carried:
            text = f"child {joint.child!r} is that of joint {carried[joint.child]!r} too; URDF has no loops: let one carry it"
            problems.append(Problem(text, subject))
        carried[joint.child] = joint.name
    if problems:
        raise DescriptionError(problems)
    return carried
