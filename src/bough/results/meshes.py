"""The mesh files of a system, kept in the file of a result beside its YAML, so that it can be drawn where they are not."""

from __future__ import annotations

import json
from typing import Any

from bough.describe import Mesh, System
from bough.describe.yaml_io import read
from bough.errors import DescriptionError


def pack_all(system: System) -> str:
    """The triangles of each mesh file, by its path, as JSON; nothing if there are none. One that cannot be read is left out."""
    shapes = (shape for body in system.bodies.values() for shape in body.shapes)
    packed: dict[str, str] = {}
    for mesh in shapes:
        if isinstance(mesh, Mesh) and mesh.npz is None and mesh.path not in packed:
            try:
                packed[mesh.path] = mesh.packed().npz or ""
            except DescriptionError:                            # who draws it will be told
                continue
    return json.dumps(packed) if packed else ""


def read_system(text: str, packed: str | None) -> System:
    """The system of a YAML text, its meshes from what `pack_all` wrote."""
    data, triangles = read(text).data, json.loads(packed or "{}")
    for body in data.get("bodies", []):
        if "shapes" in body:
            body["shapes"] = [_with(shape, triangles) for shape in body["shapes"]]
    return System.from_dict(data)


def _with(shape: dict[str, Any], triangles: dict[str, str]) -> dict[str, Any]:
    return shape | {"npz": triangles[shape["mesh"]]} if shape.get("mesh") in triangles else shape
