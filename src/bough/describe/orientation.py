"""Orientations: given as rotations, matrices, quaternions or angles, kept as unit quaternions [x, y, z, w]."""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Annotated, Any

import numpy as np
from pydantic import BeforeValidator, WithJsonSchema

from bough.describe.base import mapping_schema, unknown_key
from bough.describe.numeric import AXIS, NUMBERS, PRINCIPAL, VECTOR, axis, items, number, numbers, shown, unit_length, vector

Quaternion = tuple[float, float, float, float]
IDENTITY: Quaternion = (0.0, 0.0, 0.0, 1.0)
_ORTHONORMAL = 1e-6  # how far a matrix may be from a rotation: six digits, as tools print them
_REMEDY = ("give a quaternion [x, y, z, w], a 3x3 matrix, {euler: xyz, degrees: [...]}, {axis: x, degrees: 90} or {rotvec: [...]}")


def orientation(value: Any) -> Quaternion:
    """The unit quaternion of an orientation given in any form that bough knows.

    >>> orientation({"axis": "z", "degrees": 180})[2]
    1.0
    >>> orientation([[1, 0, 0], [0, -1, 0], [0, 0, -1]])
    (1.0, 0.0, 0.0, 0.0)
    """
    if value is None:
        return IDENTITY
    if hasattr(value, "as_quat"):  # a scipy Rotation, which is not imported for this
        value = value.as_quat()
        if value.ndim > 1:
            raise ValueError(f"holds {len(value)} rotations; give one")
    if isinstance(value, Mapping):
        return _from_mapping(value)
    given = items(value)
    if given is not None and len(given) == 4:
        return quaternion(given)
    if given is not None and len(given) == 3 and all(items(row) is not None for row in given):
        return from_matrix(np.array([vector(row) for row in given]))
    raise ValueError(f"is {shown(value)}; {_REMEDY}")


def quaternion(value: Any) -> Quaternion:
    """A quaternion [x, y, z, w] scaled to unit length."""
    entries = numbers(value, 4)
    if not any(entries):
        raise ValueError("is a quaternion of zero length; give [x, y, z, w] with unit length, such as [0, 0, 0, 1]")
    x, y, z, w = unit_length(entries)
    return x, y, z, w


def product(p: Quaternion, q: Quaternion) -> Quaternion:
    """The rotation q followed by the rotation p."""
    (a, b, c, d), (x, y, z, w) = p, q
    return (
        d * x + a * w + b * z - c * y,
        d * y - a * z + b * w + c * x,
        d * z + a * y - b * x + c * w,
        d * w - a * x - b * y - c * z,
    )


def turn(about: tuple[float, float, float], angle: float) -> Quaternion:
    """The rotation by an angle about a unit vector."""
    s, c = math.sin(angle / 2), math.cos(angle / 2)
    return about[0] * s, about[1] * s, about[2] * s, c


def rotation_matrix(given: Sequence[float] | np.ndarray) -> np.ndarray:
    """Matrix of a quaternion x, y, z, w."""
    x, y, z, w = np.asarray(given)/np.linalg.norm(given)
    return np.array([[1 - 2*(y*y + z*z), 2*(x*y - w*z), 2*(x*z + w*y)],
                     [2*(x*y + w*z), 1 - 2*(x*x + z*z), 2*(y*z - w*x)],
                     [2*(x*z - w*y), 2*(y*z + w*x), 1 - 2*(x*x + y*y)]])


def from_matrix(R: Any) -> Quaternion:
    """The quaternion of a rotation matrix, with a scalar part >= 0."""
    deviation = float(np.abs(R @ R.T - np.eye(3)).max())
    if deviation > _ORTHONORMAL:
        raise ValueError(f"is a matrix whose columns are not orthonormal (by {deviation:.2g}); give a rotation matrix")
    if np.linalg.det(R) < 0:
        raise ValueError("is a matrix with determinant -1, a reflection; give a right-handed rotation matrix")
    column = _largest_column(R)
    return quaternion(column if column[3] >= 0 else -column)


def quaternions(matrices: np.ndarray) -> np.ndarray:
    """(..., 3, 3) -> (..., 4): unit quaternions of rotation matrices, of either sign.

    >>> quaternions(np.diag([1.0, -1.0, -1.0])).tolist()
    [1.0, 0.0, 0.0, 0.0]
    """
    columns = _largest_column(matrices)
    return np.asarray(columns / np.linalg.norm(columns, axis=-1, keepdims=True))


def _largest_column(R: np.ndarray) -> np.ndarray:
    """(..., 4): a multiple of the quaternion, the column of 4 q q' with the largest diagonal entry, which keeps all its digits."""
    xx, yy, zz = R[..., 0, 0], R[..., 1, 1], R[..., 2, 2]
    four_qq = np.empty((*R.shape[:-2], 4, 4))
    four_qq[..., 0, 0], four_qq[..., 1, 1] = 1 + xx - yy - zz, 1 - xx + yy - zz
    four_qq[..., 2, 2], four_qq[..., 3, 3] = 1 - xx - yy + zz, 1 + xx + yy + zz
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        four_qq[..., i, j] = four_qq[..., j, i] = R[..., i, j] + R[..., j, i]
        four_qq[..., i, 3] = four_qq[..., 3, i] = R[..., k, j] - R[..., j, k]
    largest = np.argmax(np.einsum("...ii->...i", four_qq), axis=-1)
    return np.take_along_axis(four_qq, largest[..., None, None], axis=-2)[..., 0, :]


def from_euler(sequence: Any, angles: tuple[float, ...]) -> Quaternion:
    """Turns about coordinate axes, as scipy has them: lower case about fixed axes, upper case about the body's own."""
    letters = sequence.lower() if isinstance(sequence, str) else ""
    plain = 1 <= len(letters) <= 3 and set(letters) <= set("xyz") and sequence in (letters, letters.upper())
    if not plain or any(a == b for a, b in pairwise(letters)):
        raise ValueError(f"has the sequence {shown(sequence)}; give 1 to 3 letters such as xyz (fixed axes) or ZYX (body axes), "
                         "neighbors different")
    if len(angles) != len(letters):
        raise ValueError(f"has {len(angles)} angles for the sequence {sequence!r}; give {len(letters)}")
    result = IDENTITY
    for name, angle in zip(letters, angles, strict=True):
        step = turn(PRINCIPAL[name], angle)
        result = product(step, result) if sequence.islower() else product(result, step)
    return quaternion(result)


def _from_mapping(given: Mapping[Any, Any]) -> Quaternion:
    forms, units = given.keys() & {"euler", "rotvec", "axis"}, given.keys() & {"degrees", "radians"}
    for key in given:
        if key not in forms | units:
            raise ValueError(f"has the {unknown_key(key, ('euler', 'rotvec', 'axis', 'degrees', 'radians'))}")
    if len(forms) != 1 or len(units) != ("rotvec" not in forms):
        raise ValueError(f"is {shown(dict(given))}; {_REMEDY}")
    if "rotvec" in given:
        direction = vector(given["rotvec"])
        length = math.hypot(*direction)
        return turn(axis(direction), length) if length else IDENTITY
    [unit] = units
    angles = (number(given[unit]),) if items(given[unit]) is None else numbers(given[unit])
    angles = tuple(map(math.radians, angles)) if unit == "degrees" else angles
    if "euler" in given:
        return from_euler(given["euler"], angles)
    if len(angles) != 1:
        raise ValueError(f"has {len(angles)} angles about one axis; give one")
    return quaternion(turn(axis(given["axis"]), angles[0]))


_ANGLES = {"anyOf": [{"type": "number"}, NUMBERS]}
ORIENTATION = {
    "anyOf": [
        {"type": "null"},
        NUMBERS | {"minItems": 4, "maxItems": 4},
        {"type": "array", "items": VECTOR, "minItems": 3, "maxItems": 3},
        mapping_schema({"rotvec": VECTOR}),
        *(mapping_schema({"euler": {"type": "string", "pattern": "^([xyz]{1,3}|[XYZ]{1,3})$"}, unit: _ANGLES})
          for unit in ("degrees", "radians")),
        *(mapping_schema({"axis": AXIS, unit: _ANGLES}) for unit in ("degrees", "radians")),
    ]
}

Orientation = Annotated[Quaternion, BeforeValidator(orientation), WithJsonSchema(ORIENTATION)]
