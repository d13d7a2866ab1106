"""From a URDF file to a System."""

from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from bough.describe import Mimic, System
from bough.describe.numeric import word
from bough.errors import DescriptionError, Problem
from bough.exchange.urdf.robot import Link, Robot, RobotJoint, branches, read_robot
from bough.exchange.urdf.robot_parts import INERTIAS, MIMIC, add_stops, joint_of, mass_properties, shapes

EARTH = (0.0, 0.0, -9.81)
LIMITS = ("ignore", "stops")
WORLD = "world"
_NOTES = {  # where "<...> is not used" would not be accurate
    "collision": "collision geometry is not used, of links",
    "inertia that no real body has": "inertia that no real body has, taken as it is, of links",
    "negative moment of inertia": "negative moment of inertia [kg m^2] raised to 0, of links",
    "missing mesh file": "mesh not drawn because its file is missing, of links",
    "position limit of an empty range": "position limit not used, for its range is empty, of joints",
}


class Options(NamedTuple):
    """Arguments of load_urdf that apply to every link and joint."""

    file: Path
    base: Any
    mimic: str
    inertias: str
    package_dirs: list[Path]


def load_urdf(path: str | PathLike[str], *, base: Any = None, gravity: Any = EARTH, limits: str = "ignore", mimic: str = "coupled",
              inertias: str = "refuse", package_dirs: Iterable[str | PathLike[str]] = ()) -> System:
    """The robot described by a URDF file. Links and joints keep their names; `System.notes` lists what is not used.

    base           the joint between the world and the root link: a joint, or its type, such as "free"; None is a weld. A root link
                   called "world" is the inertial frame itself
    gravity        m/s^2; by default that of the Earth, along -z
    limits         "ignore", or "stops": springs and dampers beyond the joint limits, of 25 Hz and half the critical damping for
                   the effective inertia of each joint at zero coordinates
    mimic          mimic joints are "coupled" to the joint they follow (a Coupling with the joint's name), "free" (each has its own
                   coordinate) or "locked" at their offset
    inertias       "refuse" a file with negative moments, or "repair" them: they become 0. Moments of which one is larger than the
                   sum of the others are used as given
    package_dirs   folders that hold ROS packages, for package:// addresses of mesh files, besides those above the file

    >>> load_urdf("no-such-file.urdf")
    Traceback (most recent call last):
    bough.errors.DescriptionError: no-such-file.urdf: there is no such file; give the path of a URDF file
    """
    _check(limits=(limits, LIMITS), mimic=(mimic, MIMIC), inertias=(inertias, INERTIAS))
    options = Options(Path(path), base, mimic, inertias, [Path(folder) for folder in package_dirs])
    robot = read_robot(options.file)
    try:
        system = _system(robot, gravity, options)
        if mimic == "coupled":
            _couple(system, robot)
        if limits == "stops":
            add_stops(system, robot)
    except DescriptionError as error:
        problems = [problem._replace(place=problem.place or str(options.file)) for problem in error.problems]
        raise DescriptionError(problems) from None
    system.notes = losses(robot, stops=limits == "stops", mimic=mimic)
    return system


def _check(**given: tuple[str, tuple[str, ...]]) -> None:
    for name, (value, known) in given.items():
        try:
            word(value, known)
        except ValueError as error:
            raise DescriptionError(f"{name} {error}") from None


def _system(robot: Robot, gravity: Any, options: Options) -> System:
    """Everything that is wrong with links and joints is reported together."""
    system, problems = System(robot.name, gravity=gravity), list[Problem]()
    for link, joint in branches(robot):
        try:
            if link.name == WORLD:
                _inertial_frame(robot, link, joint, options.base)
            else:
                mass = mass_properties(robot, link, options.inertias)
                drawn = shapes(robot, link, options.file, options.package_dirs)
                system.body(link.name, **_attachment(joint, options), **mass, shapes=drawn)
        except DescriptionError as error:
            problems += error.problems
    if problems:
        raise DescriptionError(problems)
    return system


def _couple(system: System, robot: Robot) -> None:
    """A coupling for each joint that follows another."""
    for joint in robot.joints.values():
        if joint.mimic is None or joint.kind == "fixed":
            continue
        other = robot.joints.get(joint.mimic.joint)
        if other is None or other.kind not in ("revolute", "continuous", "prismatic"):
            what = "no joint of the robot" if other is None else other.kind
            text = f"<mimic> names {joint.mimic.joint!r}, which is {what}"
            raise DescriptionError([Problem(f"{text}; name a joint of one degree of freedom", f"joint {joint.name!r}")])
        relation = Mimic(joint.name, joint.mimic.joint, joint.mimic.multiplier, joint.mimic.offset)
        system.coupling(joint.name, relation)


def _attachment(joint: RobotJoint | None, options: Options) -> dict[str, Any]:
    """The parent, placement and joint of a body."""
    if joint is None:
        return {"joint": options.base}
    parent = None if joint.parent == WORLD else joint.parent
    return {"parent": parent, "joint": joint_of(joint, options.mimic), **joint.origin.place}


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


def losses(robot: Robot, *, stops: bool, mimic: str) -> tuple[str, ...]:
    """Notes on joints and other elements that are not used, or not as in the file."""
    joints = [joint for joint in robot.joints.values() if joint.kind != "fixed"]
    ranges = (f"{joint.name} [{joint.limit.lower:g}, {joint.limit.upper:g}]" for joint in joints
              if joint.limit and joint.limit.lower is not None and not stops)
    followers = (f"{j.name} = {j.mimic.multiplier:g} {j.mimic.joint} + {j.mimic.offset:g}" for j in joints
                 if j.mimic and mimic != "coupled")
    what = "a coordinate of its own" if mimic == "free" else "locked at its offset"
    notes = [
        _note(f"joint that follows another (mimic) is {what}", followers),
        _note("position limits are not used (limits='stops' makes springs and dampers of them)", ranges),
        _note("effort limits are not used", _limits(joints, "effort")),
        _note("velocity limits are not used", _limits(joints, "velocity")),
        _note("dry friction is not used", (f"{joint.name} {joint.friction:g}" for joint in joints if joint.friction)),
        *(_note(_NOTES.get(kind, f"<{kind}> is not used, of"), owners) for kind, owners in robot.unused.items()),
    ]
    return tuple(each for each in notes if each)


def _note(what: str, names: Iterable[str]) -> str:
    """One note, or nothing if it is about nothing; who has no name is counted."""
    named = list(names)
    unnamed = named.count("")
    listed = [*dict.fromkeys(name for name in named if name), *([f"{unnamed} without a name"] if unnamed else [])]
    return f"{what}: {', '.join(listed)}" if listed else ""


def _limits(joints: list[RobotJoint], key: str) -> list[str]:
    found = ((joint.name, getattr(joint.limit, key, None)) for joint in joints)
    return [f"{name} {value:g}" for name, value in found if value is not None]
