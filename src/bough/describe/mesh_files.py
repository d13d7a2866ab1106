"""Triangles out of mesh files, and packed into a text, so that a description can be taken where the files are not.

Collada files (.dae), the meshes of most robots, are read with the standard library: geometries are placed by the nodes of the scene
and scaled by the file's unit. The file's up axis is not used, as ROS does not.
"""

import base64
import binascii
import math
from collections.abc import Iterator
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element
from zipfile import BadZipFile

import numpy as np

from bough.errors import DescriptionError, Problem

Triangles = tuple[np.ndarray, np.ndarray]  # vertices (n, 3), faces (m, 3)


def read_mesh(path: str) -> Triangles:
    """The triangles of a Collada file, or of one that trimesh reads, with vertices at the same place merged.

    >>> read_mesh("no-such-file.stl")
    Traceback (most recent call last):
    bough.errors.DescriptionError: mesh: there is no file no-such-file.stl; give the path of an STL, OBJ or other mesh file
    """
    try:
        state = Path(path).stat()
    except OSError:
        raise mesh_error(f"there is no file {path}; give the path of an STL, OBJ or other mesh file") from None
    return _read(path, state.st_mtime_ns)


@lru_cache(maxsize=256)
def _read(path: str, _changed: int) -> Triangles:
    import trimesh  # 0.8 s: who needs no mesh does not wait

    try:
        if path.lower().endswith(".dae"):
            found = read_collada(path)
        else:
            loaded = trimesh.load_mesh(path, process=False, skip_materials=True)
            found = loaded.vertices, loaded.faces
    except ImportError as error:
        raise mesh_error(f"{path} cannot be read ({error}); install what is missing, or convert it to STL") from None
    except Exception as error:                                  # of one of trimesh's many readers
        raise mesh_error(f"{path} cannot be read ({error}); give an STL, OBJ or other mesh file") from None
    if not len(found[1]):
        raise mesh_error(f"{path} has no triangles; give a file of a surface")
    whole = trimesh.Trimesh(*found, process=True)
    return np.array(whole.vertices, dtype=float), np.array(whole.faces, dtype=np.int64)


def mesh_error(text: str) -> DescriptionError:
    """What to raise about a mesh."""
    return DescriptionError([Problem(text, "mesh", ("mesh",))])


def pack(triangles: Triangles) -> str:
    """Triangles as an NPZ file in base64; in single precision where that loses nothing, as for binary STL."""
    vertices, faces = triangles
    single = vertices.astype(np.float32)
    stream = BytesIO()
    kept = single if np.array_equal(single, vertices) else vertices
    np.savez_compressed(stream, vertices=kept, faces=faces.astype(np.uint32))
    return base64.b64encode(stream.getvalue()).decode("ascii")


def unpack(text: str) -> Triangles:
    """What `pack` packed."""
    try:
        with np.load(BytesIO(base64.b64decode("".join(text.split()), validate=True)), allow_pickle=False) as arrays:
            vertices, faces = arrays["vertices"].astype(float), arrays["faces"].astype(np.int64)
    except (binascii.Error, OSError, ValueError, TypeError, KeyError, EOFError, BadZipFile) as error:
        raise ValueError(f"is not a mesh in base64 ({error}); give what to_yaml wrote, or the mesh file alone") from None
    shaped = all(array.ndim == 2 and array.shape[1] == 3 and len(array) for array in (vertices, faces))
    if not shaped or faces.max() >= len(vertices):
        sizes = f"holds vertices {vertices.shape} and faces {faces.shape} that do not fit"
        raise ValueError(f"{sizes}; give what to_yaml wrote, or the mesh file alone")
    return vertices, faces


def solid(triangles: Triangles) -> Any:
    """The mesh as trimesh's, whose mass properties are those of what it encloses."""
    import trimesh

    return trimesh.Trimesh(*triangles, process=False)


# ---- collada ---------------------------------------------------------------------------------------------------------------
def read_collada(path: str) -> Triangles:
    """The triangles of the scene in m; ValueError if it is not a Collada file."""
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
            T = _numbers(step).reshape(4, 4)
        case "translate":
            T[:3, 3] = _numbers(step)
        case "scale":
            T[:3, :3] = np.diag(_numbers(step))
        case "rotate":
            from scipy.spatial.transform import Rotation

            *axis, degrees = _numbers(step)
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
    return _numbers(values).reshape(-1, stride)[:, :3]


def _faces(group: Element, offset: int) -> np.ndarray:
    """Indices of vertices, out of lists that also hold those of normals and textures."""
    stride = 1 + max(int(entry.get("offset", 0)) for entry in group.findall("input"))
    lists = [_numbers(p, np.int64).reshape(-1, stride)[:, offset] for p in group.findall("p")]
    if group.tag == "polygons":
        counts = [len(each) for each in lists]
    corners = np.concatenate(lists) if lists else np.zeros(0, dtype=np.int64)
    if group.tag == "triangles":
        return corners.reshape(-1, 3)
    if group.tag == "polylist":
        vertex_counts = group.find("vcount")
        counts = [] if vertex_counts is None else _numbers(vertex_counts, np.int64).tolist()
    starts = np.cumsum([0, *counts[:-1]])
    fans = [(s, s + i, s + i + 1) for s, n in zip(starts, counts, strict=True) for i in range(1, n - 1)]
    return corners[np.array(fans, dtype=np.int64).reshape(-1, 3)]


def _target(element: Element, named: dict[str, Element], key: str = "url") -> Element:
    name = element.get(key, "").removeprefix("#")
    if name not in named:
        raise ValueError(f"<{element.tag}> means {name!r}, which is not in the file")
    return named[name]


def _numbers(element: Element, dtype: type = float) -> np.ndarray:
    return np.array((element.text or "").split(), dtype=dtype)
