"""What URDF's links weigh and look like."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from bough.describe import Box, Cylinder, Mesh, Shape, Sphere
from bough.describe.inertia import defect, inertia
from bough.describe.orientation import orientation, rotation_matrix
from bough.urdf.packages import find_mesh
from bough.urdf.robot import Inertial, Link, Robot, Visual

_SOLIDS: dict[str, Callable[..., Shape]] = {"box": Box, "cylinder": Cylinder, "sphere": Sphere}


def substance(robot: Robot, link: Link) -> dict[str, Any]:
    """Mass, mass centre and inertia in the link's axes; nothing for a link that is but a frame. An inertia that no real body has is
    taken as it is.
    """
    if link.inertial is None:
        return {}
    tensor = _in_link_axes(link.inertial)
    odd = bool(defect(link.inertial.mass, inertia(tensor), False))
    if odd:
        robot.leave("inertia that no real body has", link.name)
    return {"mass": link.inertial.mass, "com": link.inertial.origin.xyz, "inertia": tensor, "idealised": odd}


def _in_link_axes(inertial: Inertial) -> Any:
    """R I R', symmetric to the last digit; untouched where nothing turns."""
    if not any(inertial.origin.rpy):
        return inertial.inertia
    R = rotation_matrix(orientation(inertial.origin.place["orient"]))
    turned = R @ np.array(inertial.inertia) @ R.T
    return (turned + turned.T) / 2


def shapes(robot: Robot, link: Link, file: Path, package_dirs: Iterable[Path]) -> list[Shape]:
    """What is drawn of a link; a mesh whose file is not there is not."""
    made = (_shape(robot, link, visual, file, package_dirs) for visual in link.visuals)
    return [shape for shape in made if shape is not None]


def _shape(robot: Robot, link: Link, visual: Visual, file: Path, package_dirs: Iterable[Path]) -> Shape | None:
    colour = visual.colour or robot.colours.get(visual.material)
    look: dict[str, Any] = {**visual.origin.place, "colour": colour}
    if visual.kind in _SOLIDS:
        return _SOLIDS[visual.kind](**visual.sizes, **look)
    path = find_mesh(visual.file, file, package_dirs)
    if path is None:
        robot.leave("mesh file that is not there", f"{link.name} ({visual.file})")
        return None
    return Mesh(path, **visual.sizes, **look)
