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
    entries = np.asarray(given, float)
    x, y, z, w = (entries/math.sqrt(entries.dot(entries))).tolist()         # floats of Python: faster for one by one
    return np.array([[1 - 2*(y*y + z*z), 2*(x*y - w*z), 2*(x*z + w*y)],
                     [2*(x*y + w*z), 1 - 2*(x*x + z*z), 2*(y*z - w*x)],
                     [2*(x*z - w*y), 2*(y*z + w*x), 1 - 2*(x*x + y*y)]])


def cross_matrix(r: np.ndarray) -> np.ndarray:
    """The matrix of r x."""
    return np.array([[0.0, -r[2], r[1]], [r[2], 0.0, -r[0]], [-r[1], r[0], 0.0]])


def point_inertia(r: np.ndarray) -> np.ndarray:
    """(..., 3, 3): inertia of unit masses at r (..., 3), |r|^2 - r r'."""
    return np.asarray(np.einsum("...i,...i", r, r)[..., None, None] * np.eye(3) - r[..., :, None] * r[..., None, :])


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """(..., 3): a x b, as np.cross has it, several times faster for a few vectors."""
    found = np.empty(np.broadcast(a, b).shape)
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        found[..., i] = a[..., j]*b[..., k] - a[..., k]*b[..., j]
    return found


def from_matrix(R: Any) -> Quaternion:
    """The quaternion of a rotation matrix, with a scalar part >= 0."""
    x, y, z = R.tolist()
    deviation = float(np.abs(R @ R.T - np.eye(3)).max())
    if not deviation <= _ORTHONORMAL:
        raise ValueError(f"is a matrix whose columns are not orthonormal (by {deviation:.2g}); give a rotation matrix")
    if x[0]*(y[1]*z[2] - y[2]*z[1]) + x[1]*(y[2]*z[0] - y[0]*z[2]) + x[2]*(y[0]*z[1] - y[1]*z[0]) < 0:
        raise ValueError("is a matrix with determinant -1, a reflection; give a right-handed rotation matrix")
    _, column = max(enumerate(_multiples(*x, *y, *z)), key=lambda each: float(each[1][each[0]]))
    return quaternion(column if column[3] >= 0 else tuple(-entry for entry in column))


def quaternions(matrices: np.ndarray) -> np.ndarray:
    """(..., 3, 3) -> (..., 4): unit quaternions of rotation matrices, of either sign.

    >>> quaternions(np.diag([1.0, -1.0, -1.0])).tolist()
    [1.0, 0.0, 0.0, 0.0]
    """
    multiples = np.array(_multiples(*np.moveaxis(matrices.reshape(*matrices.shape[:-2], 9), -1, 0)))
    largest = multiples[[0, 1, 2, 3], [0, 1, 2, 3]].argmax(axis=0)
    columns = np.take_along_axis(multiples, largest[None, None], axis=0)[0]
    return np.asarray(np.moveaxis(columns/np.sqrt((columns*columns).sum(axis=0)), 0, -1))


def _multiples(xx: Any, xy: Any, xz: Any, yx: Any, yy: Any, yz: Any, zx: Any, zy: Any, zz: Any) -> tuple[tuple[Any, ...], ...]:
    """Of the entries of a rotation matrix, floats or arrays: 4 q q', whose columns are multiples of the quaternion; that with the
    largest diagonal entry keeps all its digits."""
    x_y, x_z, y_z, wx, wy, wz = xy + yx, xz + zx, yz + zy, zy - yz, xz - zx, yx - xy
    return ((1 + xx - yy - zz, x_y, x_z, wx), (x_y, 1 - xx + yy - zz, y_z, wy),
            (x_z, y_z, 1 - xx - yy + zz, wz), (wx, wy, wz, 1 + xx + yy + zz))


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
