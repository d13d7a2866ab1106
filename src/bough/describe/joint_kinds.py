"""The named joints, each short for a Joint; their options (name, stiffness, damping, ...) are the Joint's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from bough.describe import axes as axis_algebra
from bough.describe.axes import AxisLike
from bough.describe.joints import Joint
from bough.describe.numeric import shown
from bough.errors import DescriptionError, Problem

Parsed = TypeVar("Parsed")


def Weld(**options: Any) -> Joint:
    """No motion at all.

    >>> Weld().n_v
    0
    """
    return Joint(**options)


def Revolute(axis: AxisLike = "z", **options: Any) -> Joint:
    """One rotation: a hinge.

    >>> Revolute("y", damping=0.1).dofs
    ('ry',)
    """
    return Joint(rotations=[_given("revolute", "axis", axis_algebra.axis, axis)], **options)


def Prismatic(axis: AxisLike = "z", **options: Any) -> Joint:
    """One translation: a slider.

    >>> Prismatic((1, 1, 0)).dofs
    ('t1',)
    """
    return Joint(translations=[_given("prismatic", "axis", axis_algebra.axis, axis)], **options)


def Cylindrical(axis: AxisLike = "z", **options: Any) -> Joint:
    """A translation and a rotation, along and about one axis.

    >>> Cylindrical("x").dofs
    ('x', 'rx')
    """
    direction = _given("cylindrical", "axis", axis_algebra.axis, axis)
    return Joint(translations=[direction], rotations=[direction], **options)


def Universal(axes: Any = "xy", **options: Any) -> Joint:
    """Two rotations, the second about an axis that the first one turns.

    >>> Universal("zy").dofs
    ('rz', 'ry')
    """
    return Joint(rotations=_several("universal", axes, 2), **options)


def Planar(axes: Any = "xy", **options: Any) -> Joint:
    """Two translations, and the rotation about the normal of their plane.

    >>> Planar("zx").dofs
    ('z', 'x', 'ry')
    """
    first, second = _several("planar", axes, 2)
    if axis_algebra.parallel(first, second):
        raise _error("planar", "axes", f"is {shown(axes)}, two parallel axes; give two that span a plane")
    return Joint(translations=[first, second], rotations=[axis_algebra.normal(first, second)], **options)


def Gimbal(axes: Any = "xyz", **options: Any) -> Joint:
    """Three rotations: the angles of a body-fixed sequence.

    >>> Gimbal("zxz").dofs
    ('rz1', 'rx2', 'rz3')
    """
    return Joint(rotations=_several("gimbal", axes, 3), **options)


def Spherical(**options: Any) -> Joint:
    """Any rotation, kept as a quaternion [x, y, z, w]; its v is the relative angular velocity in the child's axes.

    >>> Spherical().q_labels
    ('qx', 'qy', 'qz', 'qw')
    """
    return Joint(rotations="spherical", **options)


def PointOnLine(axis: AxisLike = "z", **options: Any) -> Joint:
    """A translation and any rotation: a point of the child stays on a line of the parent.

    >>> PointOnLine("x").dofs
    ('x', 'wx', 'wy', 'wz')
    """
    return Joint(translations=[_given("point_on_line", "axis", axis_algebra.axis, axis)], rotations="spherical", **options)


def PointOnPlane(normal: AxisLike = "z", **options: Any) -> Joint:
    """Two translations and any rotation: a point of the child stays on a plane of the parent, which has this normal.

    >>> PointOnPlane("z").dofs
    ('x', 'y', 'wx', 'wy', 'wz')
    """
    across = _given("point_on_plane", "normal", axis_algebra.axis, normal)
    return Joint(translations=axis_algebra.spanning(across), rotations="spherical", **options)


def Free(**options: Any) -> Joint:
    """Any motion: three translations along the parent's axes and a spherical rotation.

    >>> Free().n_q, Free().n_v
    (7, 6)
    """
    return Joint(translations="xyz", rotations="spherical", **options)


def _several(kind: str, value: Any, count: int) -> tuple[axis_algebra.UnitVector, ...]:
    given = _given(kind, "axes", axis_algebra.axes, value)
    if len(given) != count:
        raise _error(kind, "axes", f"is {shown(value)}, which has {len(given)} entries; give {count} axes")
    return given


def _given(kind: str, field: str, parse: Callable[[Any], Parsed], value: Any) -> Parsed:
    try:
        return parse(value)
    except ValueError as error:
        raise _error(kind, field, str(error)) from None


def _error(kind: str, field: str, predicate: str) -> DescriptionError:
    return DescriptionError([Problem(f"{field} {predicate}", f"{kind} joint", (field,))])
