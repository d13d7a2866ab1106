"""Frames: places on bodies, on nodes of flexible bodies and on the world."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Self

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema, model_validator
from pydantic_core.core_schema import ValidationInfo

from bough.describe.base import Description, Fault
from bough.describe.body import WORLD
from bough.describe.numeric import Text, Vector, VectorLike, shown
from bough.describe.orientation import IDENTITY, Orientation
from bough.errors import DescriptionError


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


    @property
    def label(self) -> str:
        """In words, as in "panel node tip at (0, 1, 0)"."""
        node = "" if self.node is None else f" node {self.node}"
        return f"{self.body}{node}" + (f" at ({', '.join(f'{x:g}' for x in self.at)})" if any(self.at) else "")


def read_frame(value: Any, info: ValidationInfo) -> Frame:
    """The frame of the field `info` of a part, given as it is or as in YAML."""
    if not isinstance(value, Frame | Mapping | str):
        raise ValueError(f"is {shown(value)}; give a Frame, or a body's name")
    try:
        return Frame.from_mapping({"body": value} if isinstance(value, str) else value)
    except DescriptionError as error:
        raise DescriptionError([problem._replace(subject=info.field_name or "") for problem in error.problems]) from None


def write_frame(frame: Frame) -> str | dict[str, Any]:
    """The frame as a person would write it: the body's name alone, or a mapping.

    >>> write_frame(Frame("bus")), write_frame(Frame("bus", node="tip"))
    ('bus', {'body': 'bus', 'node': 'tip'})
    """
    return frame.body if frame == Frame(frame.body) else frame.to_dict()


_SCHEMA = {"anyOf": [{"type": "string", "minLength": 1}, Frame.model_json_schema()]}
FrameField = Annotated[Frame, BeforeValidator(read_frame), PlainSerializer(write_frame), WithJsonSchema(_SCHEMA)]
