"""Flexible bodies as mappings: how they are read from a YAML file and written to it."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, GetPydanticSchema, PlainSerializer, WithJsonSchema
from pydantic_core import core_schema

from bough.describe.base import unknown_key
from bough.describe.flexible_recipes import RECIPES, FlexibleRecipe
from bough.describe.numeric import shown
from bough.errors import DescriptionError, Problem
from bough.flex import FlexibleBody
from bough.flex.recipe import Recipe, recipe_of
from bough.flex.storage import read_npz, to_npz

KINDS = (*RECIPES, "file", "npz")
_REMEDY = "give a FlexibleBody, or a mapping with one of the keys " + ", ".join(KINDS)


def read_flexible(value: Any) -> FlexibleBody | None:
    """A flexible body given as it is, or as a mapping from how it is made to what it is made of.

    >>> read_flexible({"beam": {"length": 4, "EI": 800, "mass_per_length": 1.5, "modes": 2}}).nodes.names
    ('root', 'tip')
    """
    if value is None or isinstance(value, FlexibleBody):
        return value
    if not isinstance(value, Mapping) or len(value) != 1:
        raise ValueError(f"is {shown(value)}; {_REMEDY}")
    [(kind, given)] = value.items()
    if kind not in KINDS:
        raise DescriptionError([Problem(unknown_key(kind, KINDS), "flexible", (kind,))])
    try:
        return _made(kind, given) if kind in RECIPES else _stored(kind, given)
    except DescriptionError as error:
        raise DescriptionError([problem._replace(path=(kind, *problem.path)) for problem in error.problems]) from None


def write_flexible(body: FlexibleBody | None) -> dict[str, Any] | None:
    """The body as a person would write it: its recipe if it has one, or all its arrays as an NPZ file in base64.

    >>> from bough.flex import beam
    >>> write_flexible(beam(4.0, EI=(800, 900), mass_per_length=1.5, modes=2))
    {'beam': {'length': 4.0, 'EI': {'y': 800.0, 'z': 900.0}, 'mass_per_length': 1.5, 'modes': 2}}
    """
    if body is None:
        return None
    recipe = recipe_of(body)
    words = None if recipe is None else _written(recipe)
    return words or {"npz": base64.b64encode(to_npz(body)).decode("ascii")}


def in_folder(value: Any, folder: Path) -> Any:
    """The mapping of a flexible body, its relative names of files resolved against a folder.

    >>> in_folder({"solid": {"mesh": "panel.msh", "E": 7e10}}, Path("models"))
    {'solid': {'mesh': 'models/panel.msh', 'E': 70000000000.0}}
    """
    if not isinstance(value, Mapping):
        return value
    found = dict(value)
    for kind, given in value.items():
        if kind == "file":
            found[kind] = _resolved(folder, given)
        elif kind in RECIPES and isinstance(given, Mapping):
            names = set(RECIPES[kind].files)
            found[kind] = {key: _resolved(folder, entry) if key in names else entry for key, entry in given.items()}
    return found


def _resolved(folder: Path, value: Any) -> Any:
    """The texts in a value as names of files; a name that starts at the root stays as it is."""
    if isinstance(value, str):
        return str(folder / value)
    if isinstance(value, list):
        return [_resolved(folder, entry) for entry in value]
    return {key: _resolved(folder, entry) for key, entry in value.items()} if isinstance(value, Mapping) else value


def _made(kind: str, given: Any) -> FlexibleBody:
    """What a maker makes; whatever it complains about is a problem of this body."""
    recipe = _recipe(kind, given)
    try:
        return recipe.make()
    except DescriptionError as error:
        raise DescriptionError([_blamed(problem, given) for problem in error.problems]) from None
    except Exception as error:  # of SciPy, scikit-fem or meshio, about numbers that do not fit or files
        raise DescriptionError(f"{kind}: it cannot be made ({error}); check its numbers and its files") from error


def _recipe(kind: str, given: Any) -> FlexibleRecipe:
    try:
        return RECIPES[kind].from_mapping(given)
    except DescriptionError:
        raise
    except ValueError as error:
        raise DescriptionError(f"{kind} {error}") from None


def _blamed(problem: Problem, given: Mapping[str, Any]) -> Problem:
    """A maker says "beam: length is -4 m; ...": the key that its message starts with is the one to look at."""
    named = re.match(r"[\w ]+: (\w+) ", problem.text)
    return problem._replace(path=(named[1],)) if named and named[1] in given else problem


def _stored(kind: str, given: Any) -> FlexibleBody:
    if not isinstance(given, str):
        wanted = "the name of an NPZ file that FlexibleBody.save wrote" if kind == "file" else "an NPZ file in base64"
        raise DescriptionError(f"{kind} is {shown(given)}; give {wanted}")
    if kind == "file":
        return FlexibleBody.load(given)
    try:
        return read_npz(base64.b64decode("".join(given.split()), validate=True), "npz")
    except binascii.Error as error:
        raise DescriptionError(f"npz is not base64 ({error}); give what to_yaml wrote, or {{file: NAME.npz}}") from None


def _written(recipe: Recipe) -> dict[str, Any] | None:
    """The recipe in the words of the file format, or nothing if these have no room for it."""
    try:
        return {recipe.kind: RECIPES[recipe.kind].from_mapping(recipe.keywords).given()}
    except DescriptionError:
        return None


def _schema(kind: str) -> dict[str, Any]:
    content = RECIPES[kind].model_json_schema() if kind in RECIPES else {"type": "string"}
    return {"type": "object", "properties": {kind: content}, "required": [kind], "additionalProperties": False}


FlexibleField = Annotated[
    FlexibleBody | None,
    GetPydanticSchema(lambda kind, handler: core_schema.any_schema()),
    BeforeValidator(read_flexible),
    PlainSerializer(write_flexible),
    WithJsonSchema({"anyOf": [*map(_schema, KINDS), {"type": "null"}]}),
]
