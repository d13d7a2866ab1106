"""Joints: translations along axes fixed in the parent's side, then rotations, with spring, damper and motor; named joints; YAML."""

from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache
from itertools import pairwise
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema, field_validator, model_validator
from pydantic_core.core_schema import ValidationInfo

from bough.describe import numeric
from bough.describe.base import Description, Fault, mapping_schema, read_each, refuse_unknown
from bough.describe.motions import ENTRY, LOCKED, SIGNAL, MotionEntry, TimeTable, read_entry, signal
from bough.describe.numeric import AxisLike, Floats, Text, UnitVector, items, letter, normal, numbers, shown, spanning, written
from bough.describe.orientation import IDENTITY, quaternion
from bough.errors import DescriptionError, Problem, nearest

Axes = tuple[UnitVector, ...]
Rotations = Axes | Literal["spherical"]
_XYZ = (numeric.PRINCIPAL["x"], numeric.PRINCIPAL["y"], numeric.PRINCIPAL["z"])


def _translations(value: Any) -> Axes:
    given = numeric.axes(value)
    if len(given) > 3 or not numeric.independent(given):
        raise ValueError(f"is {shown(value)}; give at most 3 axes, none a combination of the others")
    return given


def _rotations(value: Any) -> Rotations:
    if isinstance(value, str) and value == "spherical":
        return "spherical"
    given = numeric.axes(value)
    if len(given) > 3:
        raise ValueError(f"is {shown(value)}; give at most 3 axes, or 'spherical'")
    if any(numeric.parallel(a, b) for a, b in pairwise(given)):
        given_axes = shown([written(direction) for direction in given])
        raise ValueError(f"is {given_axes}, where neighbors are parallel; give neighbors different directions")
    return given


class Joint(Description):
    """The general joint: 0 to 3 translations, inboard of 0 to 3 rotations about body-fixed axes or a "spherical" one.

    `stiffness`, `damping`, `rest` and `torque` hold one value per entry of v (a single number applies to all of them): the joint
    force is torque - stiffness (q - rest) - damping v; a torque can be a TimeTable. `q0` and `v0` are the initial values.

    `motion` makes each entry of v free (None), "locked" (it keeps its initial position), or prescribed by a Constant, Rate,
    Polynomial, Spline, Harmonics, Move, Pieces or a cubic TimeTable. The joint's spring, damper and torque still act, and the
    drive works against them. A fully prescribed joint has no q0 and v0; otherwise prescribed entries are 0 there. The three
    entries of a spherical rotation are free, or locked together.

    >>> slider = Joint(translations="x", rotations="yz", damping=0.1)
    >>> slider.kind, slider.n_q, slider.n_v, slider.dofs
    ('general', 3, 3, ('x', 'ry', 'rz'))
    >>> Joint(rotations="z", stiffness=20, name="hinge")
    Revolute('z', name='hinge', stiffness=(20.0,))
    >>> from bough.describe.motions import Rate
    >>> Joint("x", "z", motion=["locked", Rate(0.02)]).prescribed
    (False, True)
    """

    translations: Annotated[Axes, BeforeValidator(_translations)] = ()
    rotations: Annotated[Rotations, BeforeValidator(_rotations)] = ()
    name: Text | None = None
    stiffness: Floats | None = None
    damping: Floats | None = None
    rest: Floats | None = None
    torque: tuple[float | TimeTable, ...] | None = None
    motion: tuple[MotionEntry, ...] | None = None
    q0: Floats | None = None
    v0: Floats | None = None

    def __init__(
        self,
        translations: Any = (),
        rotations: Any = (),
        *,
        name: str | None = None,
        stiffness: Any = None,
        damping: Any = None,
        rest: Any = None,
        torque: Any = None,
        motion: Any = None,
        q0: Any = None,
        v0: Any = None,
    ) -> None:
        super().__init__(translations=translations, rotations=rotations, name=name, stiffness=stiffness, damping=damping, rest=rest,
                         torque=torque, motion=motion, q0=q0, v0=v0)

    @field_validator("stiffness", "damping", "rest", "torque", mode="before")
    @classmethod
    def _per_speed(cls, value: Any, info: ValidationInfo) -> Any:
        if value is None or not {"translations", "rotations"} <= info.data.keys():
            return None
        values = _spread(signal, value, _size(info.data))
        if info.field_name in ("stiffness", "damping") and min(values) < 0:
            raise ValueError(f"is {shown(value)}; give numbers >= 0")
        if info.field_name == "rest" and info.data.get("stiffness") is None:
            raise ValueError(f"is {shown(value)} but there is no spring; give stiffness too")
        if info.field_name in ("stiffness", "rest") and info.data["rotations"] == "spherical" and any(values[-3:]):
            raise ValueError(f"is {shown(value)}, but a spherical rotation has no angles for a spring to act on; use Gimbal "
                             "(rotations 'xyz'), or give 0 for its three entries")
        return values if info.field_name == "torque" else numbers(values)

    @field_validator("motion", mode="before")
    @classmethod
    def _per_coordinate(cls, value: Any, info: ValidationInfo) -> Any:
        if value is None or not {"translations", "rotations"} <= info.data.keys():
            return None
        size = _size(info.data)
        if items(value) is None and size > 1 and value != LOCKED:
            raise ValueError(f"is {shown(value)}, but the joint has {size} dofs; give a list of {size}, None for a free one")
        entries = _spread(read_entry, value, size)
        return entries if any(entry is not None for entry in entries) else None

    @field_validator("q0", "v0", mode="before")
    @classmethod
    def _initial(cls, value: Any, info: ValidationInfo) -> Any:
        if value is None or not {"translations", "rotations"} <= info.data.keys():
            return None
        spherical = info.data["rotations"] == "spherical"
        size = _size(info.data) + (spherical and info.field_name == "q0")
        if size == 1 and items(value) is None:
            return (numeric.number(value),)
        entries = numbers(value, size)
        return entries[:-4] + quaternion(entries[-4:]) if spherical and info.field_name == "q0" else entries

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.motion is None:
            return self
        turns = self.motion[-3:] if self.spherical else (None,)
        if turns not in ((None,) * len(turns), (LOCKED,) * 3):
            raise Fault("motion", f"motion is {shown(turns)} for wx, wy, wz, which are not angles; let them be free, or all three "
                                  "'locked', or use Gimbal (rotations 'xyz')")
        for field, entries in (("q0", self.q0), ("v0", self.v0)):
            if entries is not None:
                self._agree(field, entries)
        return self

    def _agree(self, field: str, entries: Floats) -> None:
        """Initial values must not set prescribed coordinates, nor rates of locked ones."""
        if all(self.prescribed):
            raise Fault(field, f"{field} is {shown(entries)}, but motion prescribes where the joint is; remove one of the two")
        for dof, entry, moved, held in zip(self.dofs, entries, self.prescribed, self.locked, strict=False):
            if moved and entry:
                raise Fault(field, f"{field} has {entry} for {dof}, but motion prescribes where it is; give 0 there, or no motion")
            if held and entry and field == "v0":
                raise Fault(field, f"v0 has {entry} for {dof}, which is locked; give 0 there, or let it be free")

    def nonconservative_effects(self) -> tuple[str, ...]:
        found = {"dampers": any(self.damping or ()), "joint torques": any(value != 0.0 for value in self.torque or ())}
        return tuple(effect for effect, present in found.items() if present)

    @property
    def prescribed(self) -> tuple[bool, ...]:
        """For each entry of v, whether it is prescribed as a function of time."""
        return tuple(entry not in (None, LOCKED) for entry in self.motion or (None,) * self.n_v)

    @property
    def locked(self) -> tuple[bool, ...]:
        """For each entry of v, whether it is initially locked."""
        return tuple(entry == LOCKED for entry in self.motion or (None,) * self.n_v)

    @property
    def spherical(self) -> bool:
        """Whether its rotation is a quaternion."""
        return self.rotations == "spherical"

    @property
    def n_v(self) -> int:
        """Number of entries of v: its degrees of freedom."""
        return len(self.translations) + (3 if self.spherical else len(self.rotations))

    @property
    def n_q(self) -> int:
        """Number of entries of q."""
        return self.n_v + self.spherical

    @property
    def neutral(self) -> Floats:
        """Its q at zero displacement: zeros, and the identity quaternion."""
        return (0.0,) * (self.n_q - 4) + IDENTITY if self.spherical else (0.0,) * self.n_q

    @property
    def dofs(self) -> tuple[str, ...]:
        """A label for each of its entries of v, such as ("x", "y", "rz")."""
        turns = ("wx", "wy", "wz") if isinstance(self.rotations, str) else _labels(self.rotations, "r", "r")
        return (*_labels(self.translations, "", "t"), *turns)

    @property
    def q_labels(self) -> tuple[str, ...]:
        """A label for each of its entries of q."""
        if self.spherical:
            return (*self.dofs[:-3], "qx", "qy", "qz", "qw")
        return self.dofs

    @property
    def kind(self) -> str:
        """The name of its kind: weld, revolute, prismatic, ..., or general."""
        t, r = self.translations, self.rotations
        if isinstance(r, str):
            return "free" if t == _XYZ else ("spherical", "point_on_line", "point_on_plane", "general")[len(t)]
        if len(t) == 1 and t == r:
            return "cylindrical"
        if len(t) == 2 and len(r) == 1 and r[0] == normal(*t):
            return "planar"
        plain = {(0, 0): "weld", (0, 1): "revolute", (1, 0): "prismatic", (0, 2): "universal", (0, 3): "gimbal"}
        return plain.get((len(t), len(r)), "general")

    def shorthand(self) -> tuple[str, dict[str, Any]]:
        """The type and the axes as a user would write them: ("revolute", {"axis": (0, 1, 0)})."""
        match self.kind:
            case "weld" | "spherical" | "free":
                return self.kind, {}
            case "revolute":
                return self.kind, {"axis": self.rotations[0]}
            case "prismatic" | "cylindrical" | "point_on_line":
                return self.kind, {"axis": self.translations[0]}
            case "universal" | "gimbal":
                return self.kind, {"axes": self.rotations}
            case "planar":
                return self.kind, {"axes": self.translations}
            case "point_on_plane" if self.translations == spanning(across := normal(*self.translations)):
                return self.kind, {"normal": across}
        return "joint", {"translations": self.translations, "rotations": self.rotations}

    def __repr__(self) -> str:
        type_name, given = self.shorthand()
        axis_texts = [_axes_repr(value) for value in given.values()]
        options = [f"{key}={value!r}" for key, value in list(self)[2:] if value is not None]
        return f"{type_name.title().replace('_', '')}({', '.join(axis_texts + options)})"


def _size(fields: dict[str, Any]) -> int:
    return len(fields["translations"]) + (3 if fields["rotations"] == "spherical" else len(fields["rotations"]))


def _spread(read: Callable[[Any], Any], value: Any, size: int) -> tuple[Any, ...]:
    """One value for each degree of freedom, out of one for all of them or a list, each as `read` makes it."""
    if size == 0:
        raise ValueError(f"is {shown(value)}, but a weld has no degree of freedom; leave it out")
    given = items(value)
    if given is None:
        return (read(value),) * size
    if len(given) != size:
        raise ValueError(f"is {shown(value)}, which has {len(given)} entries; give {size}, one for each dof")
    return read_each(read, given)


@cache
def _labels(directions: Axes, prefix: str, other: str) -> tuple[str, ...]:
    """Labels by letter, or by number for an oblique axis; with numbers all over when letters repeat (rz1, rx2, rz3)."""
    letters = [letter(direction).lstrip("-") for direction in directions]
    repeated = max(Counter(letters).values(), default=0) > 1
    numbered = enumerate(letters, start=1)
    return tuple(f"{prefix}{name}{i if repeated else ''}" if name else f"{other}{i}" for i, name in numbered)


def _axes_repr(value: Any) -> str:
    if isinstance(value, str):
        return repr(value)
    if value and isinstance(value[0], float):
        return repr(letter(value) or value)
    letters = [letter(direction) for direction in value]
    return repr("".join(letters)) if all(letters) else repr([name or d for name, d in zip(letters, value, strict=True)])


# ---- joint kinds -----------------------------------------------------------------------------------------------------------
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
    return Joint(rotations=[_given("revolute", "axis", numeric.axis, axis)], **options)


def Prismatic(axis: AxisLike = "z", **options: Any) -> Joint:
    """One translation: a slider.

    >>> Prismatic((1, 1, 0)).dofs
    ('t1',)
    """
    return Joint(translations=[_given("prismatic", "axis", numeric.axis, axis)], **options)


def Cylindrical(axis: AxisLike = "z", **options: Any) -> Joint:
    """A translation and a rotation, along and about one axis.

    >>> Cylindrical("x").dofs
    ('x', 'rx')
    """
    direction = _given("cylindrical", "axis", numeric.axis, axis)
    return Joint(translations=[direction], rotations=[direction], **options)


def Universal(axes: Any = "xy", **options: Any) -> Joint:
    """Two rotations; the first turns the axis of the second.

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
    if numeric.parallel(first, second):
        raise _error("planar", "axes", f"is {shown(axes)}, two parallel axes; give two that span a plane")
    return Joint(translations=[first, second], rotations=[normal(first, second)], **options)


def Gimbal(axes: Any = "xyz", **options: Any) -> Joint:
    """Three rotations: the angles of a body-fixed sequence.

    >>> Gimbal("zxz").dofs
    ('rz1', 'rx2', 'rz3')
    """
    return Joint(rotations=_several("gimbal", axes, 3), **options)


def Spherical(**options: Any) -> Joint:
    """Any rotation, stored as a quaternion [x, y, z, w]; its v is the relative angular velocity in the child's axes.

    >>> Spherical().q_labels
    ('qx', 'qy', 'qz', 'qw')
    """
    return Joint(rotations="spherical", **options)


def PointOnLine(axis: AxisLike = "z", **options: Any) -> Joint:
    """A translation and any rotation: a point of the child stays on a line of the parent.

    >>> PointOnLine("x").dofs
    ('x', 'wx', 'wy', 'wz')
    """
    return Joint(translations=[_given("point_on_line", "axis", numeric.axis, axis)], rotations="spherical", **options)


def PointOnPlane(normal: AxisLike = "z", **options: Any) -> Joint:
    """Two translations and any rotation: a point of the child stays on a plane of the parent with this normal.

    >>> PointOnPlane("z").dofs
    ('x', 'y', 'wx', 'wy', 'wz')
    """
    across = _given("point_on_plane", "normal", numeric.axis, normal)
    return Joint(translations=spanning(across), rotations="spherical", **options)


def Free(**options: Any) -> Joint:
    """Any motion: three translations along the parent's axes and a spherical rotation.

    >>> Free().n_q, Free().n_v
    (7, 6)
    """
    return Joint(translations="xyz", rotations="spherical", **options)


def _several(kind: str, value: Any, count: int) -> tuple[UnitVector, ...]:
    given = _given(kind, "axes", numeric.axes, value)
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
    """A joint given as an object, by its type alone, or as a mapping with its type; `others` are types that a message may suggest.

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
    refuse_unknown(value, (*axis_keys, *OPTIONS, "type"), "joint" if type_name == "joint" else f"{type_name} joint")
    return make(**{key: given for key, given in value.items() if key != "type"})


def write_joint(joint: Joint) -> str | dict[str, Any]:
    """The joint as a user would write it: its type alone, or a mapping.

    >>> write_joint(Free()), write_joint(Universal("xz", damping=(1, 2)))
    ('free', {'type': 'universal', 'axes': ['x', 'z'], 'damping': [1.0, 2.0]})
    """
    type_name, given = joint.shorthand()
    axes = {key: value if isinstance(value, str) else written(value) if isinstance(value[0], float) else list(map(written, value))
            for key, value in given.items() if value}
    dumped = joint.model_dump(mode="json", include=set(OPTIONS), exclude_defaults=True)
    options = {key: value[0] if isinstance(value, list) and len(value) == 1 else value for key, value in dumped.items()}
    return {"type": type_name, **axes, **options} if axes or options else type_name


def _tree_joint(value: Any) -> Joint:
    kind = value.get("type") if isinstance(value, Mapping) else getattr(value, "kind", value)
    if isinstance(kind, str) and kind == "distance":
        raise ValueError(f"is {shown(value)}, but a distance closes a loop; give it to System.loop (in YAML: loops), and the body "
                         "a joint, such as Free()")
    return read_joint(value)


def joint_schema(without: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """The forms of a joint in the JSON Schema, without some types and options."""
    types = {name: axis_keys for name, (_, axis_keys) in TYPES.items() if name not in without}
    options = tuple(key for key in OPTIONS if key not in without)
    return [{"enum": list(types)}, *(_schema(name, axis_keys, options) for name, axis_keys in types.items())]


def _schema(type_name: str, axis_keys: tuple[str, ...], option_keys: tuple[str, ...]) -> dict[str, Any]:
    forms = {
        "axis": numeric.AXIS, "normal": numeric.AXIS, "axes": numeric.AXES, "translations": numeric.AXES,
        "rotations": {"anyOf": [{"const": "spherical"}, numeric.AXES]},
    }
    per_speed = {"anyOf": [{"type": "number"}, numeric.NUMBERS]}
    signals = {"anyOf": [SIGNAL, {"type": "array", "items": SIGNAL}]}
    motions = {"anyOf": [ENTRY, {"type": "array", "items": ENTRY}]}
    special = {"name": {"type": "string"}, "torque": signals, "motion": motions}
    options = {key: special.get(key, per_speed) for key in option_keys}
    kind = {"type": {"const": type_name}}
    others = {key: forms[key] for key in axis_keys} | options
    return mapping_schema({}, **kind, **others) if type_name == "joint" else mapping_schema(kind, **others)


JointField = Annotated[Joint, BeforeValidator(_tree_joint), PlainSerializer(write_joint), WithJsonSchema({"anyOf": joint_schema()})]
