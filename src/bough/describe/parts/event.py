"""What an event does to coordinates: lock, release, prescribe.

Events: what happens at a time, or when a quantity crosses a value.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal, Self, get_args

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema, model_serializer, model_validator
from pydantic_core.core_schema import SerializerFunctionWrapHandler

from bough.describe.base import Description, Fault, among, mapping_schema, read_each, refuse_unknown, subject_of, under, unknown_key
from bough.describe.motions import LOCKED, MOTION, Constant, MotionField
from bough.describe.numeric import Number, Text, Truth, at_least_zero, items, shown
from bough.describe.part import NO_ANGLES, Finding, Part, SystemView, Target, all_speeds, listed, misnamed, targets
from bough.errors import DescriptionError, Problem, nearest


class Lock(Description):
    """An action: the coordinate `target`, or all of the joint of the body `target`, stays where it is from then on.

    >>> Lock("boom.ry")
    Lock(target='boom.ry')
    """

    target: Text

    def __init__(self, target: str) -> None:
        super().__init__(target=target)


class Release(Description):
    """An action: the coordinate `target`, or all of the joint of the body `target`, is free from then on.

    >>> Release("boom")
    Release(target='boom')
    """

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

    target: Text
    motion: MotionField

    def __init__(self, target: str, motion: Any) -> None:
        super().__init__(target=target, motion=motion)


Action = Lock | Release | Prescribe
ACTIONS: dict[str, type[Action]] = {kind.noun: kind for kind in (Lock, Release, Prescribe)}


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
    with under(verb):
        return ACTIONS[verb].from_mapping(given if verb == "prescribe" else {"target": given})


def write_action(action: Action) -> dict[str, Any]:
    """The action as a mapping.

    >>> write_action(Release("boom"))
    {'release': 'boom'}
    """
    return {action.noun: action.to_dict() if isinstance(action, Prescribe) else action.target}


def _actions(value: Any) -> tuple[Action, ...]:
    given = [value] if isinstance(value, Action | Mapping) else items(value)
    if not given:
        raise ValueError(f"is {shown(value)}, so that nothing would happen; give a list of actions, such as [Lock('boom.ry')]")
    return read_each(read_action, given)


TEXT = {"type": "string", "minLength": 1}
_MOVED = mapping_schema({"target": TEXT, "motion": MOTION})
ACTION = {"anyOf": [mapping_schema({verb: _MOVED if verb == "prescribe" else TEXT}) for verb in ACTIONS]}
Actions = Annotated[
    tuple[Annotated[Action, PlainSerializer(write_action)], ...],
    BeforeValidator(_actions),
    WithJsonSchema({"anyOf": [ACTION, {"type": "array", "items": ACTION, "minItems": 1}]}),
]


# ---- event -----------------------------------------------------------------------------------------------------------------
Direction = Literal["rising", "falling", "both"]
Quantity = Literal["position", "rate"]


class Event(Part):
    """What happens, once, at a time or when a quantity passes a value: the actions `do`, all at once.

    Either `at` is the time [s], or `when` is the name of a coordinate ("boom.ry", an entry of q), whose position `crosses` a value,
    "rising", "falling" or in "both" directions. With quantity="rate" it is the speed of that name (an entry of v), or that of a
    wheel, that crosses it. With `repeat` it happens each time.

    >>> from bough.describe.parts.event import Lock, Release
    >>> Event("deploy", at=12, do=[Release("boom.ry")])
    Event('deploy', at=12.0, do=(Release(target='boom.ry'),))
    >>> Event("caught", when="boom.ry", crosses=1.57, direction="rising", do=[Lock("boom.ry")]).crosses
    1.57
    >>> Event("lost", when="boom.ry", do=[Lock("boom.ry")])
    Traceback (most recent call last):
    bough.errors.DescriptionError: event 'lost': crosses is missing; give the value that 'boom.ry' has to pass
    """

    key: ClassVar[str] = "events"
    at: Annotated[float, at_least_zero("s")] | None = None
    when: Text | None = None
    crosses: Number | None = None
    direction: Annotated[Direction, among(Direction)] = "both"
    quantity: Annotated[Quantity, among(Quantity)] = "position"
    repeat: Truth = False
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
        refuse_unknown(mapping, ("name", "latch"), subject)
        given = mapping["latch"]
        if not isinstance(given, Mapping) or not {"coordinate", "at"} <= given.keys() <= {"coordinate", "at", "direction"}:
            text = f"latch is {shown(given)}; give a mapping with coordinate, at and perhaps direction"
            raise DescriptionError([Problem(text, subject, ("latch",))])
        return super().from_mapping({key: mapping[key] for key in mapping if key != "latch"} | _latched(**given))

    @classmethod
    def yaml_schema(cls) -> dict[str, Any] | None:
        return {"anyOf": [cls.model_json_schema(), mapping_schema({"name": TEXT, "latch": _LATCH})]}

    def check(self, system: SystemView) -> Iterator[Finding]:
        """It must name what is there and can be held, and be able to happen."""
        for i, action in enumerate(self.do):
            yield from (Finding(text, ("do", i)) for text in _action_texts(system, self, action))
        yield from (Finding(text, ("when",)) for text in _watch_texts(system, self))
        yield from (Finding(text, ("do",)) for text in _clash_texts(system, self))

    def nonconservative_effects(self) -> tuple[str, ...]:
        return ("locking events",) if any(isinstance(action, Lock) for action in self.do) else ()

    @property
    def label(self) -> str:
        moment = f"at {self.at:g} s" if self.at is not None else f"when {self.when} passes {self.crosses:g}"
        return f"event {self.name} {moment}: " + ", ".join(f"{action.noun} {action.target}" for action in self.do)

    @property
    def latch(self) -> bool:
        """Whether it is a latch: it locks the coordinate that it watches."""
        return self.when is not None and self == Latch(self.name, self.when, self.crosses or 0.0, self.direction)

    @model_serializer(mode="wrap")
    def _write(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        if not self.latch:
            plain: dict[str, Any] = write(self)
            return plain
        side = {} if self.direction == "both" else {"direction": self.direction}
        return {"name": self.name, "latch": {"coordinate": self.when, "at": self.crosses, **side}}


def _latched(coordinate: Any, at: Any, direction: Any = "both") -> dict[str, Any]:
    return {"when": coordinate, "crosses": at, "direction": direction, "do": [{"lock": coordinate}]}


def Latch(name: str, coordinate: str, at: float, direction: str = "both") -> Event:
    """The event that locks a coordinate when it passes the value `at`: short for an Event.

    >>> Latch("hinge stop", "boom.ry", at=1.57, direction="rising").do
    (Lock(target='boom.ry'),)
    """
    return Event(name, **_latched(coordinate, at, direction))


_LATCH = mapping_schema({"coordinate": TEXT, "at": {"type": "number"}}, direction={"enum": list(get_args(Direction))})


def _action_texts(system: SystemView, event: Event, action: Action) -> Iterator[str]:
    name, found = action.target, targets(system, action.target)
    what = f"{action.noun} {name!r}"
    if len(found) != 1:
        yield f"{what} {misnamed(system, name, found)}"
        return
    (target,) = found
    if not target.entries:
        yield f"{what} names a weld, which has no coordinates; name a body whose joint moves"
    elif isinstance(action, Prescribe):
        if target.turns:
            yield f"{what} names a spherical rotation, which has no angles to prescribe; {NO_ANGLES}"
        elif len(target.entries) > 1:
            yield f"{what} names {len(target.entries)} coordinates; prescribe each: {', '.join(target.names)}"
    elif target.turns and not set(target.body.spherical_names) <= _named(system, event, type(action)):
        yield (f"{what} names one of the three speeds of a spherical rotation, which only change together; {action.noun} "
               f"{', '.join(target.body.spherical_names)}, or {NO_ANGLES}")  # fmt: skip


def _named(system: SystemView, event: Event, kind: type[Action]) -> set[str]:
    """The coordinates on which the actions of one kind act."""
    return {name for action in event.do if isinstance(action, kind) for t in targets(system, action.target) for name in t.names}


def _clash_texts(system: SystemView, event: Event) -> Iterator[str]:
    """Coordinates on which several actions of one event act."""
    acted: dict[str, Action] = {}
    for action in event.do:
        found = targets(system, action.target)
        for name in found[0].names if len(found) == 1 else ():
            if name in acted:
                first = f"{acted[name].noun} {acted[name].target!r}"
                yield f"{first} and {action.noun} {action.target!r} both act on {name!r}; keep one"
                break
            acted[name] = action


def _watch_texts(system: SystemView, event: Event) -> Iterator[str]:
    """What is wrong with what an event waits for."""
    name, rate = event.when, event.quantity == "rate"
    if name is None:
        return
    positions = [known for body in system.bodies.values() for known in body.coordinate_names]
    speeds = [*all_speeds(system), *system.wheels]
    known, others = (speeds, positions) if rate else (positions, speeds)
    what = "speed" if rate else "coordinate"
    if known.count(name) > 1:
        yield f"when {name!r} may be one of several; give joints and wheels different names"
    elif name in known:
        yield from _never_texts(system, event, name)
    elif name in others:
        yield f"when {name!r} is {'no speed' if rate else 'a speed'}; give quantity='{'position' if rate else 'rate'}'"
    elif own := [each for target in targets(system, name) for each in target.body.coordinate_names]:
        yield f"when {name!r} is not one {what}; name one of {', '.join(own)}"
    else:
        yield f"when {name!r} is not a {what} of the system{nearest(name, known) or listed(known)}"


def _never_texts(system: SystemView, event: Event, name: str) -> Iterator[str]:
    """Why what an event waits for can never come, where this is sure."""
    if event.quantity == "rate" and name in system.wheels and name not in all_speeds(system):
        if not system.wheels[name].driven:
            yield f"it can never happen: wheel {name!r} has no torque, so that its speed is held; give it a torque, be it 0"
        return
    for body in system.bodies.values():
        names = body.speed_names if event.quantity == "rate" else body.coordinate_names
        if name in names[: body.joint.n_v + (event.quantity == "position" and body.joint.spherical)]:
            entry = min(names.index(name), body.joint.n_v - 1)
            if _still(system, Target(body, (entry,))):
                yield f"it can never happen: {name!r} does not move, and no event releases it; add one that does, or remove this"


def _still(system: SystemView, target: Target) -> bool:
    """Whether a coordinate is locked or constant from the start, and no event lets it move."""
    motion = target.body.joint.motion
    if motion is None or not (motion[target.entries[0]] == LOCKED or isinstance(motion[target.entries[0]], Constant)):
        return False
    loosening = (action.target for event in system.events.values() for action in event.do if not isinstance(action, Lock))
    moved = {name for given in loosening for each in targets(system, given) for name in each.names}
    return not moved & set(target.names)
