"""Numbers, vectors and axes as people give them, checked and turned into plain floats and tuples."""

import math
import re
from collections.abc import Sequence
from reprlib import Repr
from typing import Annotated, Any, SupportsFloat

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator, GetPydanticSchema, PlainSerializer, WithJsonSchema
from pydantic_core import core_schema

from bough.errors import nearest

Floats = tuple[float, ...]
Matrix6 = tuple[Floats, ...]
VectorLike = Sequence[SupportsFloat] | NDArray[Any]
_short = Repr()
_short.maxlevel, _short.maxtuple, _short.maxlist, _short.maxdict, _short.maxstring, _short.maxother = 3, 9, 9, 4, 60, 60
_LONGEST = 150
_ROUNDING = 1e-15  # a few units in the last place: what scaling to unit length leaves


def shown(value: Any) -> str:
    """A value as a message shows it: short, and without the names of numpy's types.

    >>> shown(np.float64(3.0)), shown(np.zeros(20))
    ('3.0', '[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, ...]')
    """
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist() if value.size < 1000 else value.ravel()[:10].tolist()
    written = _short.repr(value)
    return written if len(written) <= _LONGEST else f"{written[:_LONGEST]}..."


LARGEST = 1e100                     # of a description: products of three, as mass times a square of a length, are finite


def number(value: Any) -> float:
    """A finite float; texts, truth values and the like are refused."""
    if type(value) is float and abs(value) <= LARGEST:
        return value
    refused = isinstance(value, bool | np.bool_ | str | bytes) or not hasattr(value, "__float__")
    if refused or items(value) is not None:
        hint = "" if not isinstance(value, str) else " (not a text)"
        raise ValueError(f"is {shown(value)}; give a number{hint}")
    try:
        result = float(value)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"is {shown(value)}; give a finite number") from None
    if not math.isfinite(result):
        raise ValueError(f"is {result}; give a finite number")
    if abs(result) > LARGEST:
        raise ValueError(f"is {result}, too large to compute with; give a number of at most {LARGEST:g}")
    return result


def truth(value: Any) -> bool:
    """True or false, and nothing that merely looks like it."""
    if not isinstance(value, bool):
        raise ValueError(f"is {shown(value)}; give true or false")
    return value


def above_zero(unit: str, *, or_zero: bool = False) -> GetPydanticSchema:
    """The check, and the JSON Schema, of a field that holds a number > 0, or >= 0; its message names the unit."""

    def check(value: Any) -> float:
        if (result := number(value)) < 0 or not (result or or_zero):
            raise ValueError(f"is {result} {unit}; give a number {'>=' if or_zero else '>'} 0")
        return result

    schema: dict[str, Any] = {"type": "number", "minimum" if or_zero else "exclusiveMinimum": 0}
    return GetPydanticSchema(
        lambda kind, handler: core_schema.no_info_before_validator_function(check, handler(kind)), lambda kind, handler: schema
    )


def at_least_zero(unit: str) -> GetPydanticSchema:
    """The same of a field that holds a number >= 0."""
    return above_zero(unit, or_zero=True)


def items(value: Any) -> list[Any] | None:
    """The entries of something list-like, or None; a text is not a list."""
    listlike = isinstance(value, Sequence) or hasattr(value, "__array__")
    if not listlike or isinstance(value, str | bytes) or getattr(value, "ndim", 1) == 0:
        return None
    return list(value)


def numbers(value: Any, length: int | None = None) -> Floats:
    """A tuple of finite floats, of the given length."""
    given = items(value)
    wanted = "a list of finite numbers" if length is None else f"{length} finite numbers"
    if given is None:
        raise ValueError(f"is {shown(value)}; give {wanted}")
    if length is not None and len(given) != length:
        raise ValueError(f"is {shown(value)}, which has {len(given)} entries; give {wanted}")
    try:
        return tuple(number(entry) for entry in given)
    except ValueError as error:
        raise ValueError(f"is {shown(value)}, where an entry {str(error).split(';')[0]}; give {wanted}") from None


def vector(value: Any) -> tuple[float, float, float]:
    """Three finite floats.

    >>> vector(np.array([1, 2, 3]))
    (1.0, 2.0, 3.0)
    """
    x, y, z = numbers(value, 3)
    return x, y, z


def unit_length(entries: Floats) -> Floats:
    """The vector scaled to unit length; one that has it already, to rounding, stays as it is, bit for bit."""
    if abs(math.hypot(*entries) - 1.0) <= _ROUNDING:
        return entries
    largest = max(map(abs, entries))
    if largest == 0.0:
        raise ValueError(f"is {shown(entries)}, of zero length; give a direction")
    scaled = [entry / largest for entry in entries]
    length = math.hypot(*scaled)
    return tuple(entry / length for entry in scaled)


def text(value: Any) -> str:
    """A name: printable, not empty, without space at its ends."""
    if not isinstance(value, str):
        raise ValueError(f"is {shown(value)}; give a text (in YAML, put it in quotes)")
    if not value or value != value.strip() or not value.isprintable():
        raise ValueError(f"is {shown(value)}; give a printable text, not empty, without space at its ends")
    return value


def word(value: Any, known: tuple[str, ...]) -> str:
    """One of some words; for another one, the message names the nearest."""
    if not isinstance(value, str) or value not in known:
        remedy = nearest(value, known).removeprefix(", ") or "give one of " + ", ".join(known)
        raise ValueError(f"is {shown(value)}; {remedy}")
    return value


def matrix6(value: Any, remedy: str) -> Matrix6:
    """A 6x6 matrix out of its rows or its diagonal."""
    given = items(value)
    if given is None or len(given) != 6:
        raise ValueError(f"is {shown(value)}; {remedy}")
    if all(items(row) is None for row in given):
        return tuple(tuple(row) for row in np.diag(numbers(given, 6)).tolist())
    return tuple(numbers(row, 6) for row in given)


def write_matrix(matrix: tuple[Floats, ...]) -> list[Any]:
    """The matrix as a person would write it: its diagonal if there is nothing else."""
    diagonal = [row[i] for i, row in enumerate(matrix)]
    return diagonal if np.array_equal(np.diag(diagonal), matrix) else [list(row) for row in matrix]


TEXT = {"type": "string", "minLength": 1}
NUMBERS = {"type": "array", "items": {"type": "number"}}
VECTOR = NUMBERS | {"minItems": 3, "maxItems": 3}
_ROW6 = NUMBERS | {"minItems": 6, "maxItems": 6}
MATRIX6 = {"anyOf": [_ROW6, {"type": "array", "items": _ROW6, "minItems": 6, "maxItems": 6}]}

Truth = Annotated[bool, BeforeValidator(truth)]
Number = Annotated[float, BeforeValidator(number), WithJsonSchema({"type": "number"})]
Vector = Annotated[tuple[float, float, float], BeforeValidator(vector), WithJsonSchema(VECTOR)]
Text = Annotated[str, BeforeValidator(text), WithJsonSchema(TEXT)]


# ---- axes ------------------------------------------------------------------------------------------------------------------
UnitVector = tuple[float, float, float]
AxisLike = str | VectorLike
PRINCIPAL: dict[str, UnitVector] = {
    "x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0),
    "-x": (-1.0, 0.0, 0.0), "-y": (0.0, -1.0, 0.0), "-z": (0.0, 0.0, -1.0),
}
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
