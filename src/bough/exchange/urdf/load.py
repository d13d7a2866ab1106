"""From a URDF file to a System."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from bough.describe import System
from bough.describe.numeric import word
from bough.errors import DescriptionError, Problem
from bough.exchange.urdf.bodies import INERTIAS, shapes, substance
from bough.exchange.urdf.joints import MIMIC, joint_of
from bough.exchange.urdf.notes import losses
from bough.exchange.urdf.reading import read_robot
from bough.exchange.urdf.robot import Link, Robot, RobotJoint
from bough.exchange.urdf.stops import add_stops
from bough.exchange.urdf.tree import branches

EARTH = (0.0, 0.0, -9.81)
LIMITS = ("ignore", "stops")
WORLD = "world"


@dataclass(frozen=True)
class Choices:
    """Of load_urdf, for every link and joint."""

    file: Path
    base: Any
    mimic: str
    inertias: str
    package_dirs: list[Path]


def load_urdf(
    path: str | PathLike[str],
    *,
    base: Any = None,
    gravity: Any = EARTH,
    limits: str = "ignore",
    mimic: str = "free",
    inertias: str = "refuse",
    package_dirs: Iterable[str | PathLike[str]] = (),
) -> System:
    """The robot that a URDF file describes. Links and joints keep their names; what is not used is told in `System.notes`.

    base           the joint between the world and the root link: a joint, or its type, such as "free"; None is a weld. A root link
                   called "world" is the inertial frame itself
    gravity        m/s^2; that of the Earth, along -z, if not given
    limits         "ignore", or "stops": springs and dampers beyond the ends of the joints' ranges, of 25 Hz and half the critical
                   damping with the inertia that each joint feels at zero coordinates
    mimic          joints that follow others are "free" (each has its own coordinate) or "locked" at their offset
    inertias       negative moments are reasons to "refuse" the file, or to "repair" them: they become 0. Moments of which one is
                   larger than the sum of the others are taken as they are
    package_dirs   folders that hold ROS packages, for package:// addresses of mesh files, besides those above the file

    >>> load_urdf("no-such-file.urdf")
    Traceback (most recent call last):
    bough.errors.DescriptionError: no-such-file.urdf: there is no such file; give the path of a URDF file
    """
    _check(limits=(limits, LIMITS), mimic=(mimic, MIMIC), inertias=(inertias, INERTIAS))
    choices = Choices(Path(path), base, mimic, inertias, [Path(folder) for folder in package_dirs])
    robot = read_robot(choices.file)
    try:
        system = _system(robot, gravity, choices)
        if limits == "stops":
            add_stops(system, robot)
    except DescriptionError as error:
        problems = [problem._replace(place=problem.place or str(choices.file)) for problem in error.problems]
        raise DescriptionError(problems) from None
    system.notes = losses(robot, stops=limits == "stops", mimic=mimic)
    return system


def _check(**options: tuple[str, tuple[str, ...]]) -> None:
    for name, (value, known) in options.items():
        try:
            word(value, known)
        except ValueError as error:
            raise DescriptionError(f"{name} {error}") from None


def _system(robot: Robot, gravity: Any, choices: Choices) -> System:
    """Everything that is wrong with links and joints is reported together."""
    system, problems = System(robot.name, gravity=gravity), list[Problem]()
    for link, joint in branches(robot):
        try:
            if link.name == WORLD:
                _inertial_frame(robot, link, joint, choices.base)
            else:
                drawn = shapes(robot, link, choices.file, choices.package_dirs)
                system.body(link.name, **_seat(joint, choices), **substance(robot, link, choices.inertias), shapes=drawn)
        except DescriptionError as error:
            problems += error.problems
    if problems:
        raise DescriptionError(problems)
    return system


def _seat(joint: RobotJoint | None, choices: Choices) -> dict[str, Any]:
    """Where a body hangs, and by which joint."""
    if joint is None:
        return {"joint": choices.base}
    parent = None if joint.parent == WORLD else joint.parent
    return {"parent": parent, "joint": joint_of(joint, choices.mimic), **joint.origin.place}


def _inertial_frame(robot: Robot, link: Link, joint: RobotJoint | None, base: Any) -> None:
    """A root link called "world" is the inertial frame: it does not move, and weighs nothing."""
    if joint is not None:
        text = "is carried by a joint, but its name is that of the inertial frame; give it another name"
        raise DescriptionError([Problem(text, f"link {link.name!r}")])
    if base is not None:
        text = "is the root, and by its name the inertial frame, which does not move; leave out base, or give it another name"
        raise DescriptionError([Problem(text, f"link {link.name!r}")])
    if link.inertial is not None:
        robot.leave("inertial", link.name)
    for _ in link.visuals:
        robot.leave("visual", link.name)
