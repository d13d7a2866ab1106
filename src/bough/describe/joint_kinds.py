"""The named joints, each short for a Joint, and how joints are read from a YAML file and written to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, TypeVar

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema

from bough.describe import axes as axis_algebra
from bough.describe.axes import AXES, AXIS, AxisLike, written
from bough.describe.base import unknown_key
from bough.describe.joint import Joint
from bough.describe.motions import ENTRY
from bough.describe.numeric import NUMBERS, shown
from bough.describe.time_table import SIGNAL
from bough.errors import DescriptionError, Problem, nearest

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


TYPES: dict[str, tuple[Callable[..., Joint], tuple[str, ...]]] = {  # type -> how it is made, and the keys of its axes
    "weld": (Weld, ()),
    "revolute": (Revolute, ("axis",)),
    "prismatic": (Prismatic, ("axis",)),
    "cylindrical": (Cylindrical, ("axis",)),
    "universal": (Universal, ("axes",)),
    "planar": (Planar, ("axes",)),
    "gimbal": (Gimbal, ("axes",)),
    "spherical": (Spherical, ()),
    "point_on_line": (PointOnLine, ("axis",)),
    "point_on_plane": (PointOnPlane, ("normal",)),
    "free": (Free, ()),
    "joint": (Joint, ("translations", "rotations")),
}
OPTIONS = ("name", "stiffness", "damping", "rest", "torque", "motion", "q0", "v0")


def read_joint(value: Any, others: tuple[str, ...] = ()) -> Joint:
    """A joint given as it is, by its type alone, or as a mapping with its type; `others` are types that a message may suggest.

    >>> read_joint("free") == Free()
    True
    >>> read_joint({"type": "revolute", "axis": "y", "damping": 0.1})
    Revolute('y', damping=(0.1,))
    """
    if value is None:
        return Weld()
    if isinstance(value, Joint):
        return value
    if isinstance(value, str):
        value = {"type": value}
    if not isinstance(value, Mapping):
        raise ValueError(f"is {shown(value)}; give a joint, such as {{type: revolute, axis: y}}")
    type_name = value.get("type", "joint")
    if not isinstance(type_name, str) or type_name not in TYPES:
        known_types = (*TYPES, *others)
        remedy = nearest(type_name, known_types).removeprefix(", ") or "give one of " + ", ".join(known_types)
        raise DescriptionError([Problem(f"type is {shown(type_name)}; {remedy}", "joint", ("type",))])
    make, axis_keys = TYPES[type_name]
    known = (*axis_keys, *OPTIONS, "type")
    subject = "joint" if type_name == "joint" else f"{type_name} joint"
    unknown = [Problem(unknown_key(key, known), subject, (str(key),)) for key in value if key not in known]
    if unknown:
        raise DescriptionError(unknown)
    return make(**{key: given for key, given in value.items() if key != "type"})


def write_joint(joint: Joint) -> str | dict[str, Any]:
    """The joint as a person would write it: its type alone, or a mapping.

    >>> write_joint(Free()), write_joint(Universal("xz", damping=(1, 2)))
    ('free', {'type': 'universal', 'axes': ['x', 'z'], 'damping': [1.0, 2.0]})
    """
    type_name, given = joint.shorthand()
    axes = {key: _write_axes(value) for key, value in given.items() if value}
    dumped = joint.model_dump(mode="json", include=set(OPTIONS), exclude_defaults=True)
    options = {key: value[0] if isinstance(value, list) and len(value) == 1 else value for key, value in dumped.items()}
    return {"type": type_name, **axes, **options} if axes or options else type_name


def _write_axes(value: Any) -> Any:
    if isinstance(value, str):
        return value
    return written(value) if isinstance(value[0], float) else [written(direction) for direction in value]


def _tree_joint(value: Any) -> Joint:
    kind = value.get("type") if isinstance(value, Mapping) else getattr(value, "kind", value)
    if isinstance(kind, str) and kind == "distance":
        raise ValueError(f"is {shown(value)}, but a distance closes a loop; give it to System.loop (in YAML: loops), "
                         "and the body a joint, such as Free()")  # fmt: skip
    return read_joint(value)


def joint_schema(without: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """The forms of a joint in the JSON Schema, without some types and options."""
    types = {name: axis_keys for name, (_, axis_keys) in TYPES.items() if name not in without}
    options = tuple(key for key in OPTIONS if key not in without)
    return [{"enum": list(types)}, *(_schema(name, axis_keys, options) for name, axis_keys in types.items())]


def _schema(type_name: str, axis_keys: tuple[str, ...], option_keys: tuple[str, ...]) -> dict[str, Any]:
    forms = {
        "axis": AXIS, "normal": AXIS, "axes": AXES, "translations": AXES, "rotations": {"anyOf": [{"const": "spherical"}, AXES]},
    }  # fmt: skip
    per_speed = {"anyOf": [{"type": "number"}, NUMBERS]}
    signals = {"anyOf": [SIGNAL, {"type": "array", "items": SIGNAL}]}
    motions = {"anyOf": [ENTRY, {"type": "array", "items": ENTRY}]}
    special = {"name": {"type": "string"}, "torque": signals, "motion": motions}
    options = {key: special.get(key, per_speed) for key in option_keys}
    return {
        "type": "object",
        "properties": {"type": {"const": type_name}, **{key: forms[key] for key in axis_keys}, **options},
        "required": [] if type_name == "joint" else ["type"],
        "additionalProperties": False,
    }


JointField = Annotated[
    Joint, BeforeValidator(_tree_joint), PlainSerializer(write_joint), WithJsonSchema({"anyOf": joint_schema()})
]
