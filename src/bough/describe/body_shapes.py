"""Triangles out of mesh files, and packed into a text, so that a description can be taken where the files are not.

Triangles of Collada files (.dae), the meshes of most robots, read with the standard library.

Geometries are placed by the nodes of the scene and scaled by the file's unit. The file's up axis is not used, as ROS does not.

Boxes, cylinders and spheres as triangles, counter-clockwise from outside.

Vertices are not shared over edges, so that normals averaged at vertices leave edges sharp and round sides smooth.

Shapes of bodies: their appearance and, with a density, their mass.
"""

from __future__ import annotations

import base64
import binascii
import math
import os
from collections.abc import Iterator, Mapping
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import Annotated, Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element
from zipfile import BadZipFile

import numpy as np
from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema

from bough.describe.base import Description, mapping_schema, refuse_unknown
from bough.describe.numeric import NUMBERS, VECTOR, Vector, VectorLike, above_zero, items, number, shown, text, vector
from bough.describe.orientation import IDENTITY, Orientation, rotation_matrix
from bough.errors import DescriptionError, Problem


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


# ---- tessellation ----------------------------------------------------------------------------------------------------------
Triangles = tuple[np.ndarray, np.ndarray]  # vertices (n, 3), faces (m, 3)
SIDES = 48  # of a circle: its radius is true to 0.2 %
_RINGS = 24  # of a sphere, from pole to pole
_I = np.arange(SIDES)
_J = (_I + 1) % SIDES
_BELT = np.concatenate([np.column_stack([_I, _J, _J + SIDES]), np.column_stack([_I, _J + SIDES, _I + SIDES])])  # ring to next ring
_FAN = np.column_stack([_I, _J, np.full(SIDES, SIDES)])  # a ring to the vertex after it


def box(size: tuple[float, float, float]) -> Triangles:
    """A box centered at the origin."""
    square = np.array([[1, -1, -1], [1, 1, -1], [1, 1, 1], [1, -1, 1]]) / 2.0                 # the face +x
    sides = [np.roll(square, axis, axis=1) * sign for axis in range(3) for sign in (1, -1)]
    corners = [0, 1, 2], [0, 2, 3]
    mirrored = [0, 2, 1], [0, 3, 2]                                                           # -square has the opposite winding
    faces = [4 * side + np.array(mirrored if side % 2 else corners) for side in range(6)]
    return np.concatenate(sides) * size, np.concatenate(faces)


def cylinder(radius: float, length: float) -> Triangles:
    """A cylinder about z, centered at the origin: its side, then its two lids."""
    low, high = _rim(radius, -length / 2), _rim(radius, length / 2)
    middle = np.array([[0, 0, length / 2]])
    top, bottom = _FAN + 2 * SIDES, _FAN[:, ::-1] + 3 * SIDES + 1
    return np.concatenate([low, high, high, middle, low, -middle]), np.concatenate([_BELT, top, bottom])


def sphere(radius: float) -> Triangles:
    """A sphere at the origin: rings of latitude between two poles."""
    latitudes = np.linspace(-np.pi / 2, np.pi / 2, _RINGS + 1)[1:-1]
    rings = [_rim(radius * np.cos(a), radius * np.sin(a)) for a in latitudes]
    last = SIDES * (len(rings) - 1)
    belts = [_BELT + SIDES * ring for ring in range(len(rings) - 1)]
    faces = np.concatenate([*belts, _FAN + last, np.where(_FAN == SIDES, last + SIDES + 1, _FAN)[:, ::-1]])
    return np.concatenate([*rings, [[0, 0, radius], [0, 0, -radius]]]), faces


def _rim(radius: float, height: float) -> np.ndarray:
    angles = 2 * np.pi / SIDES * _I
    return np.column_stack([radius * np.cos(angles), radius * np.sin(angles), np.full(SIDES, height)])


# ---- shapes ----------------------------------------------------------------------------------------------------------------
ORIGIN = (0.0, 0.0, 0.0)
Color = str | tuple[float, ...]
_COLOR = {"anyOf": [{"type": "string"}, NUMBERS | {"minItems": 3, "maxItems": 4}]}
_SCALE = {"anyOf": [{"type": "number"}, VECTOR]}


def _color(value: Any) -> Color:
    """A name that matplotlib knows, or 3 or 4 numbers from 0 to 1: red, green, blue, opacity."""
    remedy = "give the name of a color, such as 'steelblue' or '#4682b4', or 3 numbers from 0 to 1: red, green, blue"
    if isinstance(value, str):
        from matplotlib.colors import is_color_like

        if not is_color_like(value):
            raise ValueError(f"is {value!r}; {remedy}")
        return value
    given = items(value)
    if given is None or len(given) not in (3, 4) or not all(0 <= number(entry) <= 1 for entry in given):
        raise ValueError(f"is {shown(value)}; {remedy}")
    return tuple(map(number, given))


def _size(value: Any) -> tuple[float, float, float]:
    size = vector(value)
    if min(size) <= 0:
        raise ValueError(f"is {shown(value)}; give 3 numbers > 0, in m")
    return size


def _scale(value: Any) -> tuple[float, float, float]:
    scale = (number(value),) * 3 if items(value) is None else vector(value)
    if not all(scale):
        raise ValueError(f"is {shown(value)}; give a number that is not 0, or 3 of them")
    return scale


def _file(value: Any) -> str:
    """The whole path: a description does not depend on where it is read."""
    return os.path.abspath(text(os.fspath(value) if isinstance(value, os.PathLike) else value))


def _packed(value: Any) -> str:
    unpack(packed := text(value))
    return packed


class Shape(Description, init=False):
    """A shape fixed in the body frame, at `at` with the orientation `orient`. Its `color` is a matplotlib color name, or red,
    green, blue (and opacity) from 0 to 1. With a `density` [kg/m^3], it contributes to the mass of the body.

    >>> isinstance(Box((1, 1, 1)), Shape)
    True
    """

    at: Vector = ORIGIN
    orient: Orientation = IDENTITY
    color: Annotated[Color, BeforeValidator(_color), WithJsonSchema(_COLOR)] | None = None
    density: Annotated[float, above_zero("kg/m^3")] | None = None

    def triangles(self) -> Triangles:
        """Its surface in the body frame: vertices (n, 3) and faces (m, 3), which are counter-clockwise from outside.

        >>> vertices, faces = Box((2, 1, 1), at=(1, 0, 0)).triangles()
        >>> vertices.min(axis=0), vertices.max(axis=0), len(faces)
        (array([ 0. , -0.5, -0.5]), array([2. , 0.5, 0.5]), 12)
        """
        vertices, faces = self.own_triangles()
        return vertices @ rotation_matrix(self.orient).T + self.at, faces

    def own_triangles(self) -> Triangles:
        """Its surface in its own frame."""
        raise NotImplementedError


class Box(Shape):
    """A box of the `size` (x, y, z), centered in its frame.

    >>> Box((1, 2, 0.5), density=2700)
    Box(density=2700.0, size=(1.0, 2.0, 0.5))
    >>> Box((1, 0, 2))
    Traceback (most recent call last):
    bough.errors.DescriptionError: box: size is (1, 0, 2); give 3 numbers > 0, in m
    """

    size: Annotated[tuple[float, float, float], BeforeValidator(_size), WithJsonSchema(VECTOR)]

    def __init__(self, size: VectorLike, at: VectorLike = ORIGIN, orient: Any = None, color: Any = None,
                 density: float | None = None) -> None:
        super().__init__(size=size, at=at, orient=orient, color=color, density=density)

    def own_triangles(self) -> Triangles:
        return box(self.size)


class Cylinder(Shape):
    """A cylinder about the z axis of its frame, centered in it.

    >>> Cylinder(radius=0.1, length=2, orient={"axis": "y", "degrees": 90}).triangles()[0].max(axis=0).round(3)
    array([1. , 0.1, 0.1])
    """

    radius: Annotated[float, above_zero("m")]
    length: Annotated[float, above_zero("m")]

    def __init__(self, radius: float, length: float, at: VectorLike = ORIGIN, orient: Any = None, color: Any = None,
                 density: float | None = None) -> None:
        super().__init__(radius=radius, length=length, at=at, orient=orient, color=color, density=density)

    def own_triangles(self) -> Triangles:
        return cylinder(self.radius, self.length)


class Sphere(Shape):
    """A sphere at the origin of its frame.

    >>> Sphere(0.1, at=(0, 0, 1), color="tomato")
    Sphere(at=(0.0, 0.0, 1.0), color='tomato', radius=0.1)
    """

    radius: Annotated[float, above_zero("m")]

    def __init__(self, radius: float, at: VectorLike = ORIGIN, orient: Any = None, color: Any = None,
                 density: float | None = None) -> None:
        super().__init__(radius=radius, at=at, orient=orient, color=color, density=density)

    def own_triangles(self) -> Triangles:
        return sphere(self.radius)


class Mesh(Shape):
    """The surface in a mesh file (STL, OBJ, PLY, GLB, DAE, ...); `scale`, a number or one per axis, converts its units to m. The
    file is read when needed: immediately for the mass, or when it is drawn. `packed()` embeds the triangles.

    >>> Mesh("/models/panel.stl", scale=0.001)
    Mesh(path='/models/panel.stl', scale=(0.001, 0.001, 0.001))
    """

    path: Annotated[str, BeforeValidator(_file), WithJsonSchema({"type": "string", "minLength": 1})]
    scale: Annotated[tuple[float, float, float], BeforeValidator(_scale), WithJsonSchema(_SCALE)] = (1.0, 1.0, 1.0)
    npz: Annotated[str, BeforeValidator(_packed)] | None = None

    def __init__(self, path: str | os.PathLike[str], scale: float | VectorLike = 1.0, at: VectorLike = ORIGIN, orient: Any = None,
                 color: Any = None, density: float | None = None, npz: str | None = None) -> None:
        super().__init__(path=path, scale=scale, at=at, orient=orient, color=color, density=density, npz=npz)

    def own_triangles(self) -> Triangles:
        """Those of the file, scaled; a mirrored mesh keeps its outside."""
        vertices, faces = read_mesh(self.path) if self.npz is None else unpack(self.npz)
        return vertices * self.scale, faces[:, ::-1] if np.prod(self.scale) < 0 else faces

    def packed(self) -> Mesh:
        """The same mesh with its triangles embedded, so that the file is no longer needed."""
        return self if self.npz is not None else self.model_copy(update={"npz": pack(read_mesh(self.path))})


FORMS: dict[str, tuple[type[Shape], tuple[str, ...]]] = {  # a mapping's key -> what it makes, and the fields the key holds
    "box": (Box, ("size",)),
    "cylinder": (Cylinder, ("radius", "length")),
    "sphere": (Sphere, ("radius",)),
    "mesh": (Mesh, ("path",)),
}
_GIVE = "give a shape, such as Box((1, 2, 3)) (in YAML: {box: [1, 2, 3]})"


def read_shape(value: Any) -> Shape:
    """A shape given as an object or as a mapping.

    >>> read_shape({"cylinder": {"radius": 0.1, "length": 2}, "density": 2700})
    Cylinder(density=2700.0, radius=0.1, length=2.0)
    """
    if isinstance(value, Shape):
        return value
    if not isinstance(value, Mapping):
        raise DescriptionError(f"is {shown(value)}; {_GIVE}")
    found = [form for form in FORMS if form in value]
    if len(found) != 1:
        raise DescriptionError(f"is {shown(dict(value))}; give a mapping with one of the keys {', '.join(FORMS)}")
    [form], (kind, held) = found, FORMS[found[0]]
    others = [field for field in kind.model_fields if field not in held]
    refuse_unknown(value, (form, *others), form)
    fields = {key: given for key, given in value.items() if key != form}
    return kind.from_mapping(fields | _held(form, held, value[form]))


def _held(form: str, held: tuple[str, ...], given: Any) -> dict[str, Any]:
    """The fields under the key of the form: one as it is, several as a mapping."""
    if len(held) == 1:
        return {held[0]: given}
    if not isinstance(given, Mapping) or set(given) != set(held):
        wanted = ", ".join(f"{field}: ..." for field in held)
        raise DescriptionError([Problem(f"{form} is {shown(given)}; give {{{wanted}}}", form, (form,))])
    return dict(given)


def read_shapes(value: Any) -> tuple[Shape, ...]:
    """The shapes of a body: none, one, or a list of them; what is wrong with one is reported with its place in the list."""
    if value is None:
        return ()
    given = [value] if isinstance(value, Shape | Mapping) else items(value)
    if given is None:
        raise ValueError(f"is {shown(value)}; {_GIVE}, or a list of them")
    made, problems = [], []
    for index, entry in enumerate(given):
        try:
            made.append(read_shape(entry))
        except DescriptionError as error:
            problems += [named(problem, index) for problem in error.problems]
    if problems:
        raise DescriptionError(problems)
    return tuple(made)


def named(problem: Problem, index: int) -> Problem:
    """What is wrong with one of a body's shapes, as a problem of the body."""
    kind = f" ({problem.subject})" if problem.subject else ""
    return problem._replace(subject=f"shape {index + 1}{kind}", path=(index, *problem.path))


def write_shape(shape: Shape) -> dict[str, Any]:
    """The shape as a mapping.

    >>> write_shape(Cylinder(0.1, 2, at=(0, 0, 1)))
    {'cylinder': {'radius': 0.1, 'length': 2.0}, 'at': [0.0, 0.0, 1.0]}
    """
    form, held = next((form, held) for form, (kind, held) in FORMS.items() if isinstance(shape, kind))
    written = shape.to_dict()
    own = {field: written.pop(field) for field in held}
    return {form: own[held[0]] if len(held) == 1 else own} | written


def in_folder(value: Any, folder: Path) -> Any:
    """The mappings of shapes, relative names of mesh files resolved against a folder.

    >>> in_folder([{"mesh": "panel.stl"}, {"sphere": 1}], Path("models"))
    [{'mesh': 'models/panel.stl'}, {'sphere': 1}]
    """
    if isinstance(value, list):
        return [in_folder(entry, folder) for entry in value]
    named = isinstance(value, Mapping) and isinstance(value.get("mesh"), str)
    return value | {"mesh": str(folder / value["mesh"])} if named else value


def beside(value: list[dict[str, Any]], folder: Path) -> list[dict[str, Any]]:
    """Written shapes, the names of mesh files within a folder relative to it: the opposite of `in_folder`."""
    def short(path: Path) -> str:
        return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else str(path)

    return [shape | {"mesh": short(Path(shape["mesh"]))} if "mesh" in shape else shape for shape in value]


def _schema(form: str) -> dict[str, Any]:
    kind, held = FORMS[form]
    own = kind.model_json_schema()["properties"]
    content = own[held[0]] if len(held) == 1 else mapping_schema({field: own[field] for field in held})
    return mapping_schema({form: content}, **{field: schema for field, schema in own.items() if field not in held})


_SHAPE = {"anyOf": [_schema(form) for form in FORMS]}
ShapesField = Annotated[tuple[Annotated[Shape, PlainSerializer(write_shape)], ...], BeforeValidator(read_shapes),
                        WithJsonSchema({"anyOf": [{"type": "array", "items": _SHAPE}, *_SHAPE["anyOf"], {"type": "null"}]})]
