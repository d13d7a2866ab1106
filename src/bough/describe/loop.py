"""Loops: a joint, or a distance, between two frames that the tree already carries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Self

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema, field_validator, model_validator
from pydantic_core.core_schema import ValidationInfo

from bough.describe.base import Description, Fault
from bough.describe.body import WORLD
from bough.describe.joint_mapping import joint_schema, read_joint, write_joint
from bough.describe.joints import Joint
from bough.describe.numeric import ABOVE_ZERO, Text, Vector, VectorLike, above_zero, shown
from bough.describe.orientation import IDENTITY, Orientation
from bough.errors import DescriptionError, Problem

_FOLLOWS = "but the coordinates of a loop's joint follow from those of the tree; leave it out, and give {} to the joints of bodies"
_REFUSED = {                                                    # options that only the joint of a body has
    "name": "but a loop has its own name; leave it out",
    "motion": _FOLLOWS.format("motion"),
    "q0": _FOLLOWS.format("q0"),
    "v0": _FOLLOWS.format("v0"),
}  # fmt: skip


class Frame(Description):
    """A place on a body, or on the "world": the point `at` and the axes `orient`, in the body frame. On a flexible body they are
    relative to the frame of a node: `node`, or the inboard one. In YAML a body's name alone is the frame at its origin.

    >>> Frame("panel", at=(1, 0, 0))
    Frame(body='panel', at=(1.0, 0.0, 0.0))
    >>> Frame("world", node="tip")
    Traceback (most recent call last):
    bough.errors.DescriptionError: frame: node is 'tip', but the world has no nodes; leave it out
    """

    noun: ClassVar[str] = "frame"
    body: Text
    at: Vector = (0.0, 0.0, 0.0)
    orient: Orientation = IDENTITY
    node: Text | None = None

    def __init__(self, body: str, at: VectorLike = (0.0, 0.0, 0.0), orient: Any = None, node: str | None = None) -> None:
        super().__init__(body=body, at=at, orient=orient, node=node)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.body == WORLD and self.node is not None:
            raise Fault("node", f"node is {self.node!r}, but the world has no nodes; leave it out")
        return self


def read_frame(value: Any, side: str) -> Frame:
    """The frame `side` of a loop or a line, given as it is or as in YAML."""
    if not isinstance(value, Frame | Mapping | str):
        raise ValueError(f"is {shown(value)}; give a Frame, or a body's name")
    try:
        return Frame.from_mapping({"body": value} if isinstance(value, str) else value)
    except DescriptionError as error:
        raise DescriptionError([problem._replace(subject=side) for problem in error.problems]) from None


def write_frame(frame: Frame) -> str | dict[str, Any]:
    """The frame as a person would write it: the body's name alone, or a mapping.

    >>> write_frame(Frame("bus")), write_frame(Frame("bus", node="tip"))
    ('bus', {'body': 'bus', 'node': 'tip'})
    """
    return frame.body if frame == Frame(frame.body) else frame.to_dict()


class Distance(Description):
    """Closes a loop by holding the distance between the origins of its two frames: a rod without mass between two ball joints,
    of the `length` [m].

    >>> Distance(2)
    Distance(length=2.0)
    >>> Distance(2).kind
    'distance'
    """

    noun: ClassVar[str] = "distance"
    length: Annotated[float, above_zero("m"), ABOVE_ZERO]

    def __init__(self, length: float) -> None:
        super().__init__(length=length)

    @property
    def kind(self) -> str:
        """The name of its kind, as a joint has one."""
        return "distance"


def read_closure(value: Any) -> Joint | Distance:
    """What closes a loop, given as it is or as in YAML: any joint that holds something, or a distance.

    >>> read_closure({"type": "distance", "length": 2})
    Distance(length=2.0)
    >>> read_closure("spherical")
    Spherical()
    """
    if value is None:
        raise ValueError("is None; give a joint, such as Spherical(), or a Distance")
    if isinstance(value, Distance):
        return value
    given = {"type": value} if isinstance(value, str) else value
    if isinstance(given, Mapping) and given.get("type") == "distance":
        return Distance.from_mapping({key: entry for key, entry in given.items() if key != "type"})
    joint = read_joint(given, others=("distance",))
    if problems := _refusals(joint):
        raise DescriptionError(problems)
    return joint


def _refusals(joint: Joint) -> list[Problem]:
    """What a joint is or has that makes no sense in a loop."""
    subject = "joint" if joint.kind == "general" else f"{joint.kind} joint"
    given = [(key, value) for key, value in joint if key in _REFUSED and value is not None]
    found = [Problem(f"{key} is {shown(value)}, {_REFUSED[key]}", subject, (key,)) for key, value in given]
    if joint.n_v == 6:
        text = "it leaves all 6 motions free and closes nothing; give a joint that holds some, such as Spherical(), or no loop"
        found.append(Problem(text, subject))
    return found


def write_closure(joint: Joint | Distance) -> str | dict[str, Any]:
    """What closes a loop as a person would write it.

    >>> write_closure(Distance(2))
    {'type': 'distance', 'length': 2.0}
    """
    return {"type": "distance", "length": joint.length} if isinstance(joint, Distance) else write_joint(joint)


_DISTANCE = {
    "type": "object",
    "properties": {"type": {"const": "distance"}, "length": {"type": "number", "exclusiveMinimum": 0}},
    "required": ["type", "length"],
    "additionalProperties": False,
}
CLOSURE = {"anyOf": [*joint_schema(without=("free", *_REFUSED)), _DISTANCE]}
FRAME = {"anyOf": [{"type": "string", "minLength": 1}, Frame.model_json_schema()]}
Closure = Annotated[Joint | Distance, BeforeValidator(read_closure), PlainSerializer(write_closure), WithJsonSchema(CLOSURE)]
Place = Annotated[Frame, PlainSerializer(write_frame), WithJsonSchema(FRAME)]


class Loop(Description):
    """A loop of the system, closed by a joint or a Distance between two frames. The joint is seen from the frame `a`, as from
    the parent's side, to the frame `b`, as to the child's: at zero coordinates the two coincide. What it does not leave free is
    held; its stiffness, damping, rest and torque act along what it does; it has no motion of its own.

    >>> Loop("strut", "spherical", Frame("panel", at=(1, 0, 0)), "bus")
    Loop('strut', joint=Spherical(), a=Frame(body='panel', at=(1.0, 0.0, 0.0)), b=Frame(body='bus'))
    >>> Loop("strut", "free", "panel", "bus")
    Traceback (most recent call last):
    bough.errors.DescriptionError: loop 'strut': free joint: it leaves all 6 motions free and closes nothing; give a joint that holds some, such as Spherical(), or no loop
    """  # noqa: E501

    noun: ClassVar[str] = "loop"
    name: Text
    joint: Closure
    a: Place
    b: Place

    def __init__(self, name: str, joint: Any, a: Any, b: Any) -> None:
        super().__init__(name=name, joint=joint, a=a, b=b)

    @field_validator("a", "b", mode="before")
    @classmethod
    def _frame(cls, value: Any, info: ValidationInfo) -> Frame:
        return read_frame(value, info.field_name or "")
