"""Events: what happens at a time, or when a quantity crosses a value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self, get_args

from pydantic import BeforeValidator, model_serializer, model_validator
from pydantic_core.core_schema import SerializerFunctionWrapHandler

from bough.describe.actions import TEXT, Actions, keys
from bough.describe.base import Description, Fault, subject_of, unknown_key
from bough.describe.numeric import AT_LEAST_ZERO, Number, Text, at_least_zero, shown, truth, word
from bough.errors import DescriptionError, Problem

Direction = Literal["rising", "falling", "both"]
Quantity = Literal["position", "rate"]


def _direction(value: Any) -> str:
    return word(value, get_args(Direction))


def _quantity(value: Any) -> str:
    return word(value, get_args(Quantity))


class Event(Description):
    """What happens, once, at a time or when a quantity passes a value: the actions `do`, all at once.

    Either `at` is the time [s], or `when` is the name of a coordinate ("boom.ry", an entry of q), whose position `crosses` a value,
    "rising", "falling" or in "both" directions. With quantity="rate" it is the speed of that name (an entry of v), or that of a
    wheel, that crosses it. With `repeat` it happens each time.

    >>> from bough.describe.actions import Lock, Release
    >>> Event("deploy", at=12, do=[Release("boom.ry")])
    Event('deploy', at=12.0, do=(Release(target='boom.ry'),))
    >>> Event("caught", when="boom.ry", crosses=1.57, direction="rising", do=[Lock("boom.ry")]).crosses
    1.57
    >>> Event("lost", when="boom.ry", do=[Lock("boom.ry")])
    Traceback (most recent call last):
    bough.errors.DescriptionError: event 'lost': crosses is missing; give the value that 'boom.ry' has to pass
    """

    noun: ClassVar[str] = "event"
    name: Text
    at: Annotated[float, at_least_zero("s"), AT_LEAST_ZERO] | None = None
    when: Text | None = None
    crosses: Number | None = None
    direction: Annotated[Direction, BeforeValidator(_direction)] = "both"
    quantity: Annotated[Quantity, BeforeValidator(_quantity)] = "position"
    repeat: Annotated[bool, BeforeValidator(truth)] = False
    do: Actions

    def __init__(
        self,
        name: str,
        at: float | None = None,
        when: str | None = None,
        crosses: float | None = None,
        direction: str = "both",
        quantity: str = "position",
        do: Any = (),
        repeat: bool = False,
    ) -> None:
        super().__init__(
            name=name, at=at, when=when, crosses=crosses, direction=direction, quantity=quantity, repeat=repeat, do=do
        )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.at is None) == (self.when is None):
            what = "neither at nor when is given" if self.at is None else "both at and when are given"
            raise Fault("at", f"{what}; give the time at, or the coordinate when with the value that it crosses")
        if self.when is not None and self.crosses is None:
            raise Fault("crosses", f"crosses is missing; give the value that {self.when!r} has to pass")
        unused = {"crosses": None, "direction": "both", "quantity": "position", "repeat": False}
        for key, default in unused.items() if self.at is not None else ():
            if (given := getattr(self, key)) != default:
                text = f"{key} is {shown(given)}, but the event happens at {self.at} s; leave it out, or give when instead of at"
                raise Fault(key, text)
        return self

    @classmethod
    def from_mapping(cls, mapping: Any) -> Self:
        """An event as a YAML file holds it, or the short form of a latch."""
        if not isinstance(mapping, Mapping) or "latch" not in mapping:
            return super().from_mapping(mapping)
        subject = subject_of(cls, mapping.get("name"))
        if unknown := [Problem(unknown_key(key, _LATCHED), subject, (str(key),)) for key in mapping if key not in _LATCHED]:
            raise DescriptionError(unknown)
        given = mapping["latch"]
        if not isinstance(given, Mapping) or not {"coordinate", "at"} <= given.keys() <= {"coordinate", "at", "direction"}:
            text = f"latch is {shown(given)}; give a mapping with coordinate, at and perhaps direction"
            raise DescriptionError([Problem(text, subject, ("latch",))])
        return super().from_mapping({key: mapping[key] for key in mapping if key != "latch"} | _latched(**given))

    @property
    def latch(self) -> bool:
        """Whether it is a latch: it locks the coordinate that it watches."""
        return self.when is not None and self == Latch(self.name, self.when, self.crosses or 0.0, self.direction)

    @model_serializer(mode="wrap")
    def _write(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        if not self.latch:
            return write(self)
        side = {} if self.direction == "both" else {"direction": self.direction}
        return {"name": self.name, "latch": {"coordinate": self.when, "at": self.crosses, **side}}


_LATCHED = ("name", "latch")


def _latched(coordinate: Any, at: Any, direction: Any = "both") -> dict[str, Any]:
    return {"when": coordinate, "crosses": at, "direction": direction, "do": [{"lock": coordinate}]}


def Latch(name: str, coordinate: str, at: float, direction: str = "both") -> Event:
    """The event that locks a coordinate when it passes the value `at`: short for an Event.

    >>> Latch("hinge stop", "boom.ry", at=1.57, direction="rising").do
    (Lock(target='boom.ry'),)
    """
    return Event(name, **_latched(coordinate, at, direction))


_LATCH = keys({"coordinate": TEXT, "at": {"type": "number"}}, direction={"enum": list(get_args(Direction))})
EVENT = {"anyOf": [Event.model_json_schema(), keys({"name": TEXT, "latch": _LATCH})]}
