"""The inertia of a body about its mass center: read, and checked to be that of a possible body."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema

from bough.describe.numeric import VECTOR, items, shown, vector

Tensor = tuple[tuple[float, float, float], tuple[float, float, float], tuple[float, float, float]]
ZERO: Tensor = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
_REMEDY = "give a 3x3 matrix, or the 3 moments about the body's axes"
_SYMMETRY = 1e-12
_TRIANGLE = 1e-9


def inertia(value: Any) -> Tensor:
    """The inertia tensor [kg m^2] out of a 3x3 matrix or its diagonal; symmetric and positive semidefinite.

    >>> inertia([1, 2, 3])
    ((1.0, 0.0, 0.0), (0.0, 2.0, 0.0), (0.0, 0.0, 3.0))
    """
    given = items(value)
    if given is None:
        if isinstance(value, int | float) and value == 0:
            return ZERO
        raise ValueError(f"is {shown(value)}; {_REMEDY}")
    if len(given) != 3:
        raise ValueError(f"is {shown(value)}, which has {len(given)} entries; {_REMEDY}")
    if all(items(row) is None for row in given):
        x, y, z = vector(given)
        return (x, 0.0, 0.0), (0.0, y, 0.0), (0.0, 0.0, z)
    tensor = vector(given[0]), vector(given[1]), vector(given[2])
    _check_symmetry(np.array(tensor))
    return tensor


def _check_symmetry(tensor: Any) -> None:
    skew = np.abs(tensor - tensor.T)
    if skew.max() > _SYMMETRY * np.abs(tensor).max():
        row, column = np.unravel_index(skew.argmax(), (3, 3))
        pair = f"{tensor[row, column]} kg m^2 at [{row}][{column}] but {tensor[column, row]} at [{column}][{row}]"
        raise ValueError(f"is not symmetric, with {pair}; give a symmetric matrix")


def moments(tensor: Tensor) -> tuple[float, ...]:
    """The principal moments, smallest first."""
    return tuple(np.linalg.eigvalsh(np.array(tensor)).tolist())


def defect(mass: float, tensor: Tensor, idealized: bool) -> str:
    """What keeps this from being the inertia of a body of that mass, and the remedy; or nothing."""
    smallest, middle, largest = moments(tensor)
    texts = f"inertia has the principal moments {smallest:.6g}, {middle:.6g}, {largest:.6g} kg m^2"
    if smallest < -_SYMMETRY * max(largest, -smallest):
        return f"{texts}; no moment may be negative: give the inertia about the mass center, in body axes"
    if idealized:
        return ""
    if mass == 0.0 and largest > 0.0:
        return f"{texts} but mass is 0.0 kg; give a mass, or idealized=True if this is meant"
    if smallest + middle < largest * (1.0 - _TRIANGLE):
        return (
            f"{texts}, and no body has one larger than the sum of the others; give the inertia about the mass center, "
            "or idealized=True if this is meant"
        )
    return ""


def written(tensor: Tensor) -> list[Any]:
    """The tensor as a person would write it: its diagonal if there is nothing else."""
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = tensor
    return [list(row) for row in tensor] if any((xy, xz, yx, yz, zx, zy)) else [xx, yy, zz]


_SCHEMA = {"anyOf": [VECTOR, {"type": "array", "items": VECTOR, "minItems": 3, "maxItems": 3}, {"const": 0}]}

Inertia = Annotated[Tensor, BeforeValidator(inertia), PlainSerializer(written), WithJsonSchema(_SCHEMA)]
