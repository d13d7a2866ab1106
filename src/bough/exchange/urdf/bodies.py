"""What URDF's links weigh and look like."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from bough.describe import Box, Cylinder, Mesh, Shape, Sphere
from bough.describe.inertia import defect, inertia, moments
from bough.describe.orientation import orientation, rotation_matrix
from bough.errors import DescriptionError, Problem
from bough.exchange.urdf.packages import find_mesh
from bough.exchange.urdf.robot import Inertial, Link, Robot, Visual

INERTIAS = ("refuse", "repair")
_SOLIDS: dict[str, Callable[..., Shape]] = {"box": Box, "cylinder": Cylinder, "sphere": Sphere}


def substance(robot: Robot, link: Link, inertias: str) -> dict[str, Any]:
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


def _in_link_axes(inertial: Inertial) -> np.ndarray:
    """R I R'; untouched where nothing turns."""
    tensor = np.array(inertial.inertia)
    if not any(inertial.origin.rpy):
        return tensor
    R = rotation_matrix(orientation(inertial.origin.place["orient"]))
    return _symmetric(R @ tensor @ R.T)


def _raised(tensor: np.ndarray) -> np.ndarray:
    """The nearest inertia without negative moments."""
    found, axes = np.linalg.eigh(tensor)
    return _symmetric(axes * np.maximum(found, 0.0) @ axes.T)


def _symmetric(tensor: np.ndarray) -> np.ndarray:
    return (tensor + tensor.T) / 2


def shapes(robot: Robot, link: Link, file: Path, package_dirs: Iterable[Path]) -> list[Shape]:
    """What is drawn of a link; a mesh whose file is not there is not."""
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
        robot.leave("mesh file that is not there", f"{link.name} ({visual.file})")
        return None
    return Mesh(path, **visual.sizes, **look)
