"""Events, which lock, release or prescribe coordinates during a run, and the stops at the ends of their ranges."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self, get_args

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema, model_serializer, model_validator
from pydantic_core.core_schema import SerializerFunctionWrapHandler

from bough.describe.base import Description, Fault, unknown_key
from bough.describe.motion_mapping import MOTION, MotionField
from bough.describe.numeric import ABOVE_ZERO, AT_LEAST_ZERO, Number, Text, above_zero, at_least_zero, items, shown, truth, word
from bough.errors import DescriptionError, Problem

Direction = Literal["rising", "falling", "both"]
Quantity = Literal["position", "rate"]


def _direction(value: Any) -> str:
    return word(value, get_args(Direction))


def _quantity(value: Any) -> str:
    return word(value, get_args(Quantity))


class Lock(Description):
    """An action: the coordinate `target`, or all of the joint of the body `target`, stays where it is from then on.

    >>> Lock("boom.ry")
    Lock(target='boom.ry')
    """

    noun: ClassVar[str] = "lock"
    target: Text

    def __init__(self, target: str) -> None:
        super().__init__(target=target)


class Release(Description):
    """An action: the coordinate `target`, or all of the joint of the body `target`, is free from then on.

    >>> Release("boom")
    Release(target='boom')
    """

    noun: ClassVar[str] = "release"
    target: Text

    def __init__(self, target: str) -> None:
        super().__init__(target=target)


class Prescribe(Description):
    """An action: the coordinate `target` moves as the `motion` says from then on. The motion's time counts from the event, and its
    positions from where the coordinate then is: q = q(event) + motion(t - t(event)) - motion(0).

    >>> from bough.describe.motions import Move
    >>> Prescribe("boom.ry", Move(1.57, duration=20))
    Prescribe(target='boom.ry', motion=Move(to=1.57, duration=20.0))
    """

    noun: ClassVar[str] = "prescribe"
    target: Text
    motion: MotionField

    def __init__(self, target: str, motion: Any) -> None:
        super().__init__(target=target, motion=motion)


Action = Lock | Release | Prescribe
ACTIONS: dict[str, type[Action]] = {"lock": Lock, "release": Release, "prescribe": Prescribe}


def read_action(value: Any) -> Action:
    """An action given as it is, or as in YAML.

    >>> read_action({"lock": "boom.ry"})
    Lock(target='boom.ry')
    >>> read_action({"prescribe": {"target": "boom.ry", "motion": {"rate": 0.1}}})
    Prescribe(target='boom.ry', motion=Rate(rate=0.1))
    """
    if isinstance(value, Action):
        return value
    if not isinstance(value, Mapping) or len(value) != 1:
        actions = "Lock(target), Release(target) or Prescribe(target, motion) (in YAML: {lock: target})"
        raise ValueError(f"is {shown(value)}; give {actions}")
    ((verb, given),) = value.items()
    if verb not in ACTIONS:
        raise DescriptionError([Problem(unknown_key(verb, ACTIONS), "do", (str(verb),))])
    kind = ACTIONS[verb]
    fields = {"target": given} if kind is not Prescribe and not isinstance(given, Mapping) else given
    try:
        return kind.from_mapping(fields)
    except DescriptionError as error:
        raise DescriptionError([problem._replace(path=(verb, *problem.path)) for problem in error.problems]) from None


def write_action(action: Action) -> dict[str, Any]:
    """The action as a mapping.

    >>> write_action(Release("boom"))
    {'release': 'boom'}
    """
    return {action.noun: action.to_dict() if isinstance(action, Prescribe) else action.target}


def _actions(value: Any) -> Any:
    given = [value] if isinstance(value, Action | Mapping) else items(value)
    if not given:
        raise ValueError(f"is {shown(value)}, so that nothing would happen; give a list of actions, such as [Lock('boom.ry')]")
    return given


_TEXT = {"type": "string", "minLength": 1}


def _keys(needed: dict[str, Any], **others: Any) -> dict[str, Any]:
    return {"type": "object", "properties": needed | others, "required": list(needed), "additionalProperties": False}


ACTION = {
    "anyOf": [
        _keys({"lock": _TEXT}),
        _keys({"release": _TEXT}),
        _keys({"prescribe": _keys({"target": _TEXT, "motion": MOTION})}),
    ]
}
ActionField = Annotated[Action, BeforeValidator(read_action), PlainSerializer(write_action), WithJsonSchema(ACTION)]


class Event(Description):
    """What happens, once, at a time or when a quantity passes a value: the actions `do`, all at once.

    Either `at` is the time [s], or `when` is the name of a coordinate ("boom.ry", an entry of q), whose position `crosses` a value,
    "rising", "falling" or in "both" directions. With quantity="rate" it is the speed of that name (an entry of v), or that of a
    wheel, that crosses it. With `repeat` it happens each time.

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
    do: Annotated[tuple[ActionField, ...], BeforeValidator(_actions)]

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
        subject = f"event {mapping.get('name')!r}"
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


_LATCH = _keys({"coordinate": _TEXT, "at": {"type": "number"}}, direction={"enum": list(get_args(Direction))})
EVENT = {"anyOf": [Event.model_json_schema(), _keys({"name": _TEXT, "latch": _LATCH})]}


class Stop(Description):
    """A spring and a damper that act on a coordinate only beyond a value: `above` it, or `below` it. The force there is
    -stiffness (q - value) - damping v.

    >>> Stop("bumper", "boom.ry", above=1.6, stiffness=500, damping=2)
    Stop('bumper', coordinate='boom.ry', above=1.6, stiffness=500.0, damping=2.0)
    >>> Stop("bumper", "boom.ry", stiffness=500)
    Traceback (most recent call last):
    bough.errors.DescriptionError: stop 'bumper': neither above nor below is given; give one of them, the value beyond which it acts
    """

    noun: ClassVar[str] = "stop"
    name: Text
    coordinate: Text
    above: Number | None = None
    below: Number | None = None
    stiffness: Annotated[float, above_zero("N/m or N m/rad"), ABOVE_ZERO]
    damping: Annotated[float, at_least_zero("N s/m or N m s/rad"), AT_LEAST_ZERO] = 0.0

    def __init__(
        self,
        name: str,
        coordinate: str,
        above: float | None = None,
        below: float | None = None,
        *,
        stiffness: float,
        damping: float = 0.0,
    ) -> None:
        super().__init__(name=name, coordinate=coordinate, above=above, below=below, stiffness=stiffness, damping=damping)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.above is None and self.below is None:
            raise Fault("above", "neither above nor below is given; give one of them, the value beyond which it acts")
        if self.above is not None and self.below is not None:
            text = f"above is {self.above} and below is {self.below}; give one of them, and the other side a stop of its own"
            raise Fault("below", text)
        return self
