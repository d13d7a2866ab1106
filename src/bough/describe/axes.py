"""Axes: a letter or a vector as people write them, a unit vector as bough keeps them."""

from __future__ import annotations

import re
from typing import Annotated, Any

import numpy as np
from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema

from bough.describe.numeric import VECTOR, VectorLike, items, shown, unit_length, vector

UnitVector = tuple[float, float, float]
AxisLike = str | VectorLike
PRINCIPAL: dict[str, UnitVector] = {
    "x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0),
    "-x": (-1.0, 0.0, 0.0), "-y": (0.0, -1.0, 0.0), "-z": (0.0, 0.0, -1.0),
}  # fmt: skip
_LETTERS = {direction: letter for letter, direction in PRINCIPAL.items()}
_PARALLEL = 1e-8  # the sine of the angle below which two axes count as parallel


def axis(value: Any) -> UnitVector:
    """The unit vector of an axis given by its letter or by a vector of any length but zero.

    >>> axis("-y"), axis((0, 0, 2))
    ((0.0, -1.0, 0.0), (0.0, 0.0, 1.0))
    """
    if isinstance(value, str):
        if value not in PRINCIPAL:
            raise ValueError(f"is {shown(value)}; give x, y, z, -x, -y, -z or a vector of 3 numbers")
        return PRINCIPAL[value]
    x, y, z = unit_length(vector(value))
    return x, y, z


def axes(value: Any) -> tuple[UnitVector, ...]:
    """Several axes, given one by one or as a text of letters.

    >>> axes("x-z")
    ((1.0, 0.0, 0.0), (0.0, 0.0, -1.0))
    """
    if isinstance(value, str):
        if not re.fullmatch(r"(-?[xyz])*", value):
            raise ValueError(f"is {shown(value)}; give letters out of x, y, z (as in 'xyz') or a list of axes")
        return tuple(PRINCIPAL[letter] for letter in re.findall(r"-?[xyz]", value))
    given = items(value)
    if given is None or any(isinstance(entry, float | int) for entry in given):
        raise ValueError(f"is {shown(value)}; give a list of axes, each a letter or a vector of 3 numbers")
    try:
        return tuple(axis(entry) for entry in given)
    except ValueError as error:
        raise ValueError(f"is {shown(value)}, where an entry {error}") from None


def letter(direction: UnitVector) -> str:
    """The letter of a principal axis ("x", "-x"), or nothing.

    >>> letter((0.0, 1.0, 0.0)), letter((0.6, 0.8, 0.0))
    ('y', '')
    """
    return _LETTERS.get(direction, "")


def written(direction: UnitVector) -> str | list[float]:
    """An axis as a person would write it: its letter if it has one."""
    return letter(direction) or list(direction)


def normal(first: UnitVector, second: UnitVector) -> UnitVector:
    """The unit vector along the cross product of two axes.

    >>> normal(PRINCIPAL["x"], PRINCIPAL["y"])
    (0.0, 0.0, 1.0)
    """
    x, y, z = unit_length(tuple((np.cross(first, second) + 0.0).tolist()))
    return x, y, z


def spanning(direction: UnitVector) -> tuple[UnitVector, UnitVector]:
    """Two axes that span the plane normal to an axis; the three are right-handed.

    >>> spanning(PRINCIPAL["z"])
    ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))
    """
    largest = int(np.argmax(np.abs(direction)))
    second = normal(direction, PRINCIPAL["yzx"[largest]])
    return normal(second, direction), second


def parallel(first: UnitVector, second: UnitVector) -> bool:
    """Whether two axes have one direction, or opposite ones."""
    return bool(np.linalg.norm(np.cross(first, second)) < _PARALLEL)


def independent(directions: tuple[UnitVector, ...]) -> bool:
    """Whether no axis is a combination of the others."""
    return not directions or bool(np.linalg.svd(np.array(directions), compute_uv=False)[-1] > _PARALLEL)


AXIS = {"anyOf": [{"enum": list(PRINCIPAL)}, VECTOR]}
AXES = {"anyOf": [{"type": "string", "pattern": "^(-?[xyz])*$"}, {"type": "array", "items": AXIS, "maxItems": 3}]}

Axis = Annotated[UnitVector, BeforeValidator(axis), PlainSerializer(written), WithJsonSchema(AXIS)]
