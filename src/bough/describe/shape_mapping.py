"""Shapes as mappings: how they are read from a YAML file and written to it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema

from bough.describe.base import unknown_key
from bough.describe.numeric import items, shown
from bough.describe.shapes import Box, Cylinder, Mesh, Shape, Sphere
from bough.errors import DescriptionError, Problem

FORMS: dict[str, tuple[type[Shape], tuple[str, ...]]] = {  # a mapping's key -> what it makes, and the fields the key holds
    "box": (Box, ("size",)),
    "cylinder": (Cylinder, ("radius", "length")),
    "sphere": (Sphere, ("radius",)),
    "mesh": (Mesh, ("path",)),
}
_GIVE = "give a shape, such as Box((1, 2, 3)) (in YAML: {box: [1, 2, 3]})"


def read_shape(value: Any) -> Shape:
    """A shape given as it is or as a mapping.

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
    wrong = [Problem(unknown_key(key, [form, *others]), form, (str(key),)) for key in value if key not in (form, *others)]
    if wrong:
        raise DescriptionError(wrong)
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
    """The shapes of a body: none, one, or a list of them; what is wrong with one is told with its place in the list."""
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
    """The mappings of shapes, relative names of mesh files seen from a folder.

    >>> in_folder([{"mesh": "panel.stl"}, {"sphere": 1}], Path("models"))
    [{'mesh': 'models/panel.stl'}, {'sphere': 1}]
    """
    if isinstance(value, list):
        return [in_folder(entry, folder) for entry in value]
    named = isinstance(value, Mapping) and isinstance(value.get("mesh"), str)
    return value | {"mesh": str(folder / value["mesh"])} if named else value


def beside(value: list[dict[str, Any]], folder: Path) -> list[dict[str, Any]]:
    """Written shapes, the names of mesh files within a folder told from there: the opposite of `in_folder`."""
    return [shape | {"mesh": _short(Path(shape["mesh"]), folder)} if "mesh" in shape else shape for shape in value]


def _short(path: Path, folder: Path) -> str:
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else str(path)


def _schema(form: str) -> dict[str, Any]:
    kind, held = FORMS[form]
    own = kind.model_json_schema()["properties"]
    inner = {"type": "object", "properties": {field: own[field] for field in held}, "required": list(held)}
    content = own[held[0]] if len(held) == 1 else inner | {"additionalProperties": False}
    others = {field: schema for field, schema in own.items() if field not in held}
    return {"type": "object", "properties": {form: content, **others}, "required": [form], "additionalProperties": False}


_SHAPE = {"anyOf": [_schema(form) for form in FORMS]}
ShapesField = Annotated[
    tuple[Annotated[Shape, PlainSerializer(write_shape)], ...],
    BeforeValidator(read_shapes),
    WithJsonSchema({"anyOf": [{"type": "array", "items": _SHAPE}, *_SHAPE["anyOf"], {"type": "null"}]}),
]
