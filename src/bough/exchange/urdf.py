"""From a URDF file to a System: its links and joints, masses, shapes with their mesh files, stops at the ends of joints' ranges."""

import math
import os
from collections.abc import Callable, Iterable
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bough.describe import Box, Cylinder, Free, Joint, Mesh, Mimic, Planar, Prismatic, Revolute, Shape, Sphere, System, Weld
from bough.describe.mass_properties import defect, inertia, moments
from bough.describe.numeric import axis, spanning, word
from bough.describe.orientation import orientation, rotation_matrix
from bough.describe.part import all_speeds
from bough.errors import DescriptionError, Problem
from bough.exchange.urdf_robot import Inertial, Link, Robot, RobotJoint, Visual, branches, read_robot

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


# ---- links and joints as bough's -----------------------------------------------------------------------------------------
INERTIAS = ("refuse", "repair")
MIMIC = ("coupled", "free", "locked")
_SOLIDS: dict[str, Callable[..., Shape]] = {"box": Box, "cylinder": Cylinder, "sphere": Sphere}


def mass_properties(robot: Robot, link: Link, inertias: str) -> dict[str, Any]:
    """Mass, mass center and inertia in the link's axes; nothing for a link that is but a frame. Moments that no real body has are
    taken as they are, but negative ones: these are refused, or raised to 0 if they are to be repaired.
    """
    if link.inertial is None:
        return {}
    mass, tensor = link.inertial.mass, _in_link_axes(link.inertial)
    if found := defect(mass, inertia(tensor), idealized=True):
        if inertias == "refuse":
            text = f"<{found.partition(';')[0]}; correct what is negative, or give inertias='repair', which raises it to 0"
            raise DescriptionError([Problem(text.replace("<inertia", "<inertia>"), f"link {link.name!r}")])
        robot.leave("negative moment of inertia", f"{link.name} {moments(inertia(tensor))[0]:.3g}")
        tensor = _raised(tensor)
    odd = bool(defect(mass, inertia(tensor), idealized=False))
    if odd:
        robot.leave("inertia that no real body has", link.name)
    return {"mass": mass, "com": link.inertial.origin.xyz, "inertia": tensor, "idealized": odd}


def _in_link_axes(inertial: Inertial) -> NDArray[np.float64]:
    """R I R'; untouched where nothing turns."""
    tensor = np.array(inertial.inertia)
    if not any(inertial.origin.rpy):
        return tensor
    R = rotation_matrix(orientation(inertial.origin.place["orient"]))
    return _symmetric(R @ tensor @ R.T)


def _raised(tensor: NDArray[np.float64]) -> NDArray[np.float64]:
    """The nearest inertia without negative moments."""
    found, axes = np.linalg.eigh(tensor)
    return _symmetric(axes * np.maximum(found, 0.0) @ axes.T)


def _symmetric(tensor: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray((tensor + tensor.T) / 2)


def shapes(robot: Robot, link: Link, file: Path, package_dirs: Iterable[Path]) -> list[Shape]:
    """The shapes of a link, without meshes whose file is missing."""
    try:
        made = [_shape(robot, link, visual, file, package_dirs) for visual in link.visuals]
    except DescriptionError as error:
        found = [problem._replace(subject=f"link {link.name!r}: {problem.subject}") for problem in error.problems]
        raise DescriptionError(found) from None
    return [shape for shape in made if shape is not None]


def _shape(robot: Robot, link: Link, visual: Visual, file: Path, package_dirs: Iterable[Path]) -> Shape | None:
    color = visual.color or robot.colors.get(visual.material)
    look: dict[str, Any] = {**visual.origin.place, "color": color}
    if visual.kind in _SOLIDS:
        return _SOLIDS[visual.kind](**visual.sizes, **look)
    path = find_mesh(visual.file, file, package_dirs)
    if path is None:
        robot.leave("missing mesh file", f"{link.name} ({visual.file})")
        return None
    return Mesh(path, **visual.sizes, **look)


def find_mesh(address: str, file: Path, package_dirs: Iterable[Path]) -> Path | None:
    """The file that an address means, or None. A package is looked for in the folders given, in those of ROS_PACKAGE_PATH, and in
    every folder above the URDF file; a folder that has the package's name may be the package itself.
    """
    scheme, mark, rest = address.partition("://")
    if not mark:
        return _there(file.absolute().parent / address)
    if scheme == "file":
        return _there(Path(rest))
    package, _, inner = rest.lstrip("/").partition("/")
    ros = [Path(folder) for folder in os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep) if folder]
    folders = [*(folder.absolute() for folder in package_dirs), *ros, *file.absolute().parents]
    candidates = (path for folder in folders
                  for path in (folder / package / inner, *([folder / inner] if folder.name == package else [])))
    return next((path for path in candidates if path.is_file()), None)


def _there(path: Path) -> Path | None:
    try:
        return path if path.is_file() else None
    except (OSError, ValueError):  # a name that no file can have
        return None


def joint_of(joint: RobotJoint, mimic: str) -> Joint:
    """The joint, with its name and its damper; one that follows another is free, coupled or locked at its offset."""
    options: dict[str, Any] = {"name": joint.name, "damping": joint.damping or None}
    if joint.mimic is not None and mimic == "locked":
        options |= {"motion": "locked", "q0": joint.mimic.offset}
    if joint.kind == "fixed":
        return Weld(name=joint.name)
    if joint.kind == "floating":
        return Free(**options)
    try:
        direction = axis(joint.axis)
    except ValueError as error:
        raise DescriptionError([Problem(f"<axis> {error}", f"joint {joint.name!r}")]) from None
    if joint.kind == "planar":
        return Planar(spanning(direction), **options)
    return Prismatic(direction, **options) if joint.kind == "prismatic" else Revolute(direction, **options)


FREQUENCY = 25.0  # Hz: of the joint on its stop, with its effective inertia at zero coordinates
RATIO = 0.5  # of the critical damping


def add_stops(system: System, robot: Robot) -> None:
    """A spring and a damper beyond each end of each range. The effective inertia of a joint, all others free, is 1/(M^-1)_ii."""
    ranged = {joint.name: joint.limit for joint in robot.joints.values() if joint.limit and joint.limit.lower is not None}
    effective = _effective_inertias(system) if ranged else {}
    rate = 2 * math.pi * FREQUENCY
    for body in system.bodies.values():
        limit = ranged.get(body.joint.name or "")
        if limit is None or limit.lower is None or limit.upper is None or any(body.joint.locked):
            continue
        if limit.lower >= limit.upper:
            robot.leave("position limit of an empty range", f"{body.joint.name} [{limit.lower:g}, {limit.upper:g}]")
            continue
        [coordinate] = body.speed_names
        spring = {"stiffness": effective[coordinate] * rate**2, "damping": 2 * RATIO * effective[coordinate] * rate}
        system.stop(f"{body.joint.name} lower", coordinate=coordinate, below=limit.lower, **spring)
        system.stop(f"{body.joint.name} upper", coordinate=coordinate, above=limit.upper, **spring)


def _effective_inertias(system: System) -> dict[str, float]:
    model = system.compile()
    q = np.concatenate([body.joint.neutral for body in system.bodies.values()])
    M = model.mass_matrix(q)
    try:
        inertias = 1.0 / np.diag(np.linalg.inv(M))
    except np.linalg.LinAlgError:
        inertias = np.zeros(len(M))
    found = dict(zip(all_speeds(system), inertias.tolist(), strict=True))
    for name, value in found.items():
        if not value > 0.0:
            text = f"coordinate {name!r} has the effective inertia {value:g}, for which no stop can be designed"
            raise DescriptionError(f"{text}; give limits='ignore', or the links beyond it mass and inertia")
    return found
