"""URDF's links and joints as bough's: mass, shapes with their mesh files, joints.

Stops at the ends of joints' ranges.
"""

import math
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.describe import Box, Cylinder, Free, Joint, Mesh, Planar, Prismatic, Revolute, Shape, Sphere, System, Weld
from bough.describe.mass_properties import defect, inertia, moments
from bough.describe.numeric import axis, spanning
from bough.describe.orientation import orientation, rotation_matrix
from bough.describe.part import all_speeds
from bough.errors import DescriptionError, Problem
from bough.exchange.urdf.robot import Inertial, Link, Robot, RobotJoint, Visual

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
