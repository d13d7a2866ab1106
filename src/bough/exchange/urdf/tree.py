"""The tree that links and joints make: one root, and one joint to every other link."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from bough.errors import DescriptionError, Problem, nearest
from bough.exchange.urdf.robot import Link, Robot, RobotJoint


class Branch(NamedTuple):
    """A link and the joint that carries it; the root has none."""

    link: Link
    joint: RobotJoint | None


def branches(robot: Robot) -> Iterator[Branch]:
    """Inner links before outer ones, each followed by what it carries, in the order of the joints in the file."""
    carried, children = _carried(robot), dict[str, list[RobotJoint]]()
    for joint in robot.joints.values():
        children.setdefault(joint.parent, []).append(joint)
    roots = [name for name in robot.links if name not in carried]
    if len(roots) != 1:
        found = f"the roots {', '.join(map(repr, roots))}" if roots else "no root: its joints go round in a circle"
        raise DescriptionError(f"robot {robot.name!r} has {found}; let joints connect all links to one of them")
    waiting, reached = [Branch(robot.links[roots[0]], None)], 0
    while waiting:
        branch = waiting.pop()
        reached += 1
        yield branch
        waiting += [Branch(robot.links[joint.child], joint) for joint in reversed(children.get(branch.link.name, []))]
    if reached < len(robot.links):
        raise DescriptionError(f"robot {robot.name!r} has links whose joints go round in a circle; connect them to {roots[0]!r}")


def _carried(robot: Robot) -> dict[str, str]:
    """The joint that carries each link."""
    carried, problems = dict[str, str](), list[Problem]()
    for joint in robot.joints.values():
        subject = f"joint {joint.name!r}"
        for end, name in (("parent", joint.parent), ("child", joint.child)):
            if name not in robot.links:
                problems.append(Problem(f"{end} {name!r} is not a link of the robot{nearest(name, robot.links)}", subject))
        if joint.child in carried:
            text = f"child {joint.child!r} is that of joint {carried[joint.child]!r} too; URDF has no loops: let one carry it"
            problems.append(Problem(text, subject))
        carried[joint.child] = joint.name
    if problems:
        raise DescriptionError(problems)
    return carried
