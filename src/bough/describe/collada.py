"""Triangles of Collada files (.dae), the meshes of most robots, read with the standard library.

Geometries are placed by the nodes of the scene and scaled by the file's unit. The file's up axis is not used, as ROS does not.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np

from bough.describe.tessellation import Triangles


def read_collada(path: str) -> Triangles:
    """The triangles of the scene in m; ValueError for what is no Collada file."""
    root = ElementTree.parse(path).getroot()
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]            # without the namespace
    unit = root.find("asset/unit")
    scale = 1.0 if unit is None else float(unit.get("meter", 1.0))
    named = {element.get("id", ""): element for element in root.iter() if element.get("id")}
    scene = root.find("scene/instance_visual_scene")
    nodes = root.findall("library_visual_scenes/visual_scene/node") if scene is None else _target(scene, named).findall("node")
    parts = [part for node in nodes for part in _placed(node, np.diag([scale, scale, scale, 1.0]), named)]
    sizes = np.cumsum([0, *(len(vertices) for vertices, _ in parts)])
    if not parts:
        return np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int64)
    faces = [faces + start for (_, faces), start in zip(parts, sizes[:-1], strict=True)]
    return np.concatenate([vertices for vertices, _ in parts]), np.concatenate(faces)


def _placed(node: Element, outer: np.ndarray, named: dict[str, Element]) -> Iterator[Triangles]:
    """The geometries of a node and of the nodes in it, in the axes of the scene."""
    T = outer
    for step in node:
        T = T @ _transform(step)
    for instance in node.findall("instance_geometry"):
        for vertices, faces in _triangles(_target(instance, named), named):
            mirrored = np.linalg.det(T[:3, :3]) < 0
            yield vertices @ T[:3, :3].T + T[:3, 3], faces[:, ::-1] if mirrored else faces
    inner = [*node.findall("node"), *(_target(instance, named) for instance in node.findall("instance_node"))]
    for child in inner:
        yield from _placed(child, T, named)


def _transform(step: Element) -> np.ndarray:
    """A step of a node's placing as a 4x4 matrix; other elements place nothing."""
    T = np.eye(4)
    match step.tag:
        case "matrix":
            T = _floats(step).reshape(4, 4)
        case "translate":
            T[:3, 3] = _floats(step)
        case "scale":
            T[:3, :3] = np.diag(_floats(step))
        case "rotate":
            from scipy.spatial.transform import Rotation

            *axis, degrees = _floats(step)
            T[:3, :3] = Rotation.from_rotvec(math.radians(degrees) * np.array(axis) / np.linalg.norm(axis)).as_matrix()
        case "lookat" | "skew":
            raise ValueError(f"a node is placed by <{step.tag}>")
    return T


def _triangles(geometry: Element, named: dict[str, Element]) -> Iterator[Triangles]:
    """The vertices of each group of polygons, and the polygons as fans of triangles."""
    for group in geometry.iterfind("mesh/*"):
        if group.tag in ("triangles", "polylist", "polygons"):
            vertex = next(entry for entry in group.findall("input") if entry.get("semantic") == "VERTEX")
            positions = next(e for e in _target(vertex, named, "source").findall("input") if e.get("semantic") == "POSITION")
            yield _points(_target(positions, named, "source")), _faces(group, int(vertex.get("offset", 0)))
        elif group.tag in ("tristrips", "trifans"):
            raise ValueError(f"a geometry has <{group.tag}>")


def _points(source: Element) -> np.ndarray:
    accessor, values = source.find("technique_common/accessor"), source.find("float_array")
    if accessor is None or values is None:
        raise ValueError("a source has no numbers")
    stride = int(accessor.get("stride", 3))
    return _floats(values).reshape(-1, stride)[:, :3]


def _faces(group: Element, offset: int) -> np.ndarray:
    """Indices of vertices, out of lists that also hold those of normals and textures."""
    stride = 1 + max(int(entry.get("offset", 0)) for entry in group.findall("input"))
    lists = [_whole(p).reshape(-1, stride)[:, offset] for p in group.findall("p")]
    if group.tag == "polygons":
        counts = [len(each) for each in lists]
    corners = np.concatenate(lists) if lists else np.zeros(0, dtype=np.int64)
    if group.tag == "triangles":
        return corners.reshape(-1, 3)
    if group.tag == "polylist":
        vertex_counts = group.find("vcount")
        counts = [] if vertex_counts is None else _whole(vertex_counts).tolist()
    starts = np.cumsum([0, *counts[:-1]])
    fans = [(s, s + i, s + i + 1) for s, n in zip(starts, counts, strict=True) for i in range(1, n - 1)]
    return corners[np.array(fans, dtype=np.int64).reshape(-1, 3)]


def _target(element: Element, named: dict[str, Element], key: str = "url") -> Element:
    name = element.get(key, "").removeprefix("#")
    if name not in named:
        raise ValueError(f"<{element.tag}> means {name!r}, which is not in the file")
    return named[name]


def _floats(element: Element) -> np.ndarray:
    return np.array((element.text or "").split(), dtype=float)


def _whole(element: Element) -> np.ndarray:
    return np.array((element.text or "").split(), dtype=np.int64)
