"""Shapes of bodies: their appearance and, with a density, their mass.

Boxes, cylinders and spheres as triangles, counter-clockwise from outside. Vertices are not shared over edges, so that normals
averaged at vertices leave edges sharp and round sides smooth.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema

from bough import describe
from bough.describe.base import Description, mapping_schema, refuse_unknown
from bough.describe.numeric import NUMBERS, TEXT, VECTOR, Vector, VectorLike, above_zero, items, number, shown, text, vector
from bough.describe.orientation import IDENTITY, Orientation, rotation_matrix
from bough.errors import DescriptionError, Problem

if TYPE_CHECKING:
    from bough.describe.mesh_files import Triangles


# ---- tessellation ----------------------------------------------------------------------------------------------------------
SIDES = 48  # of a circle: its radius is true to 0.2 %
_RINGS = 24  # of a sphere, from pole to pole
_I = np.arange(SIDES)
_J = (_I + 1) % SIDES
_BELT = np.concatenate([np.column_stack([_I, _J, _J + SIDES]), np.column_stack([_I, _J + SIDES, _I + SIDES])])  # ring to next ring
_FAN = np.column_stack([_I, _J, np.full(SIDES, SIDES)])  # a ring to the vertex after it


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
    describe.mesh_files.unpack(packed := text(value))
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
        square = np.array([[1, -1, -1], [1, 1, -1], [1, 1, 1], [1, -1, 1]]) / 2.0             # the face +x
        sides = [np.roll(square, axis, axis=1) * sign for axis in range(3) for sign in (1, -1)]
        corners = [0, 1, 2], [0, 2, 3]
        mirrored = [0, 2, 1], [0, 3, 2]                                                       # -square has the opposite winding
        faces = [4 * side + np.array(mirrored if side % 2 else corners) for side in range(6)]
        return np.concatenate(sides) * self.size, np.concatenate(faces)


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
        low, high = (_rim(self.radius, height) for height in (-self.length / 2, self.length / 2))
        middle = np.array([[0, 0, self.length / 2]])
        top, bottom = _FAN + 2 * SIDES, _FAN[:, ::-1] + 3 * SIDES + 1                         # its lids, after its side
        return np.concatenate([low, high, high, middle, low, -middle]), np.concatenate([_BELT, top, bottom])


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
        radius, latitudes = self.radius, np.linspace(-np.pi / 2, np.pi / 2, _RINGS + 1)[1:-1]
        rings = [_rim(radius * np.cos(a), radius * np.sin(a)) for a in latitudes]             # between two poles
        last = SIDES * (len(rings) - 1)
        belts = [_BELT + SIDES * ring for ring in range(len(rings) - 1)]
        faces = np.concatenate([*belts, _FAN + last, np.where(_FAN == SIDES, last + SIDES + 1, _FAN)[:, ::-1]])
        return np.concatenate([*rings, [[0, 0, radius], [0, 0, -radius]]]), faces


class Mesh(Shape):
    """The surface in a mesh file (STL, OBJ, PLY, GLB, DAE, ...); `scale`, a number or one per axis, converts its units to m. The
    file is read when needed: immediately for the mass, or when it is drawn. `packed()` embeds the triangles.

    >>> Mesh("/models/panel.stl", scale=0.001)
    Mesh(path='/models/panel.stl', scale=(0.001, 0.001, 0.001))
    """

    path: Annotated[str, BeforeValidator(_file), WithJsonSchema(TEXT)]
    scale: Annotated[tuple[float, float, float], BeforeValidator(_scale), WithJsonSchema(_SCALE)] = (1.0, 1.0, 1.0)
    npz: Annotated[str, BeforeValidator(_packed)] | None = None

    def __init__(self, path: str | os.PathLike[str], scale: float | VectorLike = 1.0, at: VectorLike = ORIGIN, orient: Any = None,
                 color: Any = None, density: float | None = None, npz: str | None = None) -> None:
        super().__init__(path=path, scale=scale, at=at, orient=orient, color=color, density=density, npz=npz)

    def own_triangles(self) -> Triangles:
        """Those of the file, scaled; a mirrored mesh keeps its outside."""
        vertices, faces = describe.mesh_files.read_mesh(self.path) if self.npz is None else describe.mesh_files.unpack(self.npz)
        return vertices * self.scale, faces[:, ::-1] if np.prod(self.scale) < 0 else faces

    def packed(self) -> Mesh:
        """The same mesh with its triangles embedded, so that the file is no longer needed."""
        files = describe.mesh_files
        return self if self.npz is not None else self.model_copy(update={"npz": files.pack(files.read_mesh(self.path))})


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
