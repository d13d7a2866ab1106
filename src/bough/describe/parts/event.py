"""Events: what happens at a time, when a quantity crosses a value, or when several conditions hold; actions on coordinates."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal, Self, TypeAlias, get_args

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema, model_serializer, model_validator
from pydantic_core.core_schema import SerializerFunctionWrapHandler

from bough.describe.base import Description, Fault, among, mapping_schema, read_each, refuse_unknown, subject_of, under, unknown_key
from bough.describe.motions import LOCKED, MOTION, Constant, MotionField
from bough.describe.numeric import TEXT, Number, Text, Truth, at_least_zero, items, shown, text
from bough.describe.part import NO_ANGLES, Finding, Part, SystemView, Target, all_speeds, listed, misnamed, targets
from bough.describe.parts.connection import Attach, Close, Connecting, Detach, Open, Stiffen, Targeted
from bough.describe.parts.loop import Loop
from bough.describe.parts.port import Input, Output
from bough.errors import DescriptionError, Problem, nearest


class Lock(Targeted, init=False):
    """An action: lock the coordinate `target`, or all coordinates of the joint of the body `target`, where they are.

    >>> Lock("boom.ry")
    Lock(target='boom.ry')
    """


class Release(Targeted, init=False):
    """An action: release the coordinate `target`, or all coordinates of the joint of the body `target`.

    >>> Release("boom")
    Release(target='boom')
    """


class Prescribe(Description):
    """An action: prescribe the `motion` of the coordinate `target`. The motion's time is measured from the event, and its
    positions from the coordinate's value at the event: q = q(event) + motion(t - t(event)) - motion(0).

    >>> from bough.describe.motions import Move
    >>> Prescribe("boom.ry", Move(1.57, duration=20))
    Prescribe(target='boom.ry', motion=Move(to=1.57, duration=20.0))
    """

    target: Text
    motion: MotionField

    def __init__(self, target: str, motion: Any) -> None:
        super().__init__(target=target, motion=motion)


Holding: TypeAlias = Lock | Release | Prescribe
Action: TypeAlias = Holding | Connecting
ACTIONS: dict[str, type[Action]] = {kind.noun: kind for kind in (Lock, Release, Prescribe, Attach, Detach, Close, Open, Stiffen)}


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
        actions = "Lock(target), Release(target), Prescribe(target, motion), Attach(a, b), ... (in YAML: {lock: target})"
        raise ValueError(f"is {shown(value)}; give {actions}")
    ((verb, given),) = value.items()
    if verb not in ACTIONS:
        raise DescriptionError([Problem(unknown_key(verb, ACTIONS), "do", (str(verb),))])
    with under(verb):
        return ACTIONS[verb].from_mapping({"target": given} if issubclass(ACTIONS[verb], Targeted) else given)


def write_action(action: Action) -> dict[str, Any]:
    """The action as a mapping.

    >>> write_action(Release("boom"))
    {'release': 'boom'}
    """
    return {action.noun: action.target if isinstance(action, Targeted) else action.to_dict()}


def _actions(value: Any) -> tuple[Action, ...]:
    given = [value] if isinstance(value, Action | Mapping) else items(value)
    if not given:
        raise ValueError(f"is {shown(value)}, so that nothing would happen; give a list of actions, such as [Lock('boom.ry')]")
    return read_each(read_action, given)


_MAPPED = {"prescribe": mapping_schema({"target": TEXT, "motion": MOTION}), "attach": Attach.model_json_schema(),
           "stiffen": Stiffen.model_json_schema()}
ACTION = {"anyOf": [mapping_schema({verb: _MAPPED.get(verb, TEXT)}) for verb in ACTIONS]}
Actions = Annotated[tuple[Annotated[Action, PlainSerializer(write_action)], ...], BeforeValidator(_actions),
                    WithJsonSchema({"anyOf": [ACTION, {"type": "array", "items": ACTION, "minItems": 1}]})]


# ---- conditions ------------------------------------------------------------------------------------------------------------
class Condition(Description):
    """A condition that a quantity is `below` a value, `above` one, or between both: `of` names an entry of q, a component of an
    output, or a signal input.

    >>> Condition("gap", below=0.05), Condition("gap", above=0.01, below=0.05).label
    (Condition(of='gap', below=0.05), 'gap above 0.01 and below 0.05')
    >>> Condition("gap")
    Traceback (most recent call last):
    bough.errors.DescriptionError: condition: neither below nor above is given; give the value that 'gap' has to be below or above
    """

    of: Text
    below: Number | None = None
    above: Number | None = None

    def __init__(self, of: str, *, below: float | None = None, above: float | None = None) -> None:
        super().__init__(of=of, below=below, above=above)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.below is None and self.above is None:
            raise Fault("below", f"neither below nor above is given; give the value that {self.of!r} has to be below or above")
        if self.below is not None and self.above is not None and self.below <= self.above:
            raise Fault("below", f"below is {self.below:g} and above is {self.above:g}, which no number can be; exchange them")
        return self

    @property
    def label(self) -> str:
        limits = [f"{side} {value:g}" for side, value in (("above", self.above), ("below", self.below)) if value is not None]
        return f"{self.of} {' and '.join(limits)}"


def _awaited(value: Any) -> str | tuple[Condition, ...] | None:
    if value is None or isinstance(value, str):
        return None if value is None else text(value)
    given = [value] if isinstance(value, Condition | Mapping) else items(value)
    if not given:
        raise ValueError(f"is {shown(value)}; give the name of a quantity, or conditions, such as [Condition('gap', below=0.05)]")
    return read_each(Condition.from_mapping, given)


_CONDITION = mapping_schema({"of": TEXT}, below={"type": "number"}, above={"type": "number"})
Awaited = Annotated[
    str | tuple[Condition, ...] | None,
    BeforeValidator(_awaited),
    PlainSerializer(lambda when: [each.to_dict() for each in when] if isinstance(when, tuple) else when),
    WithJsonSchema({"anyOf": [TEXT, _CONDITION, {"type": "array", "items": _CONDITION, "minItems": 1}]}),
]


# ---- event -----------------------------------------------------------------------------------------------------------------
Direction = Literal["rising", "falling", "both"]
Quantity = Literal["position", "rate"]


class Event(Part):
    """Actions `do`, executed together and in order, once, at a time or when a quantity crosses a value.

    Either `at` is the time [s], or `when` is the name of a coordinate ("boom.ry", an entry of q), of a component of an output, or
    of a signal input, which `crosses` a value, "rising", "falling" or in "both" directions. With quantity="rate" the speed of that
    name (an entry of v), or that of a wheel, crosses it. Or `when` is a Condition, or a list of them: the event occurs as soon as
    all of them hold. With `repeat` it occurs every time. Simultaneous events occur in the order of the description.

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
    when: Awaited = None
    crosses: Number | None = None
    direction: Annotated[Direction, among(Direction)] = "both"
    quantity: Annotated[Quantity, among(Quantity)] = "position"
    repeat: Truth = False
    do: Actions

    def __init__(self, name: str, at: float | None = None, when: Any = None, crosses: float | None = None, direction: str = "both",
                 quantity: str = "position", do: Any = (), repeat: bool = False) -> None:
        super().__init__(name=name, at=at, when=when, crosses=crosses, direction=direction, quantity=quantity, repeat=repeat, do=do)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.at is None) == (self.when is None):
            what = "neither at nor when is given" if self.at is None else "both at and when are given"
            raise Fault("at", f"{what}; give the time at, or the coordinate when with the value that it crosses")
        if isinstance(self.when, str) and self.crosses is None:
            raise Fault("crosses", f"crosses is missing; give the value that {self.when!r} has to pass")
        unused = {"crosses": None, "direction": "both", "quantity": "position"} | ({} if self.conditions else {"repeat": False})
        for key, default in unused.items() if not isinstance(self.when, str) else ():
            if (given := getattr(self, key)) != default:
                moment = f"at {self.at} s; leave it out, or give when instead of at" if self.at is not None else (
                    "when its conditions hold; leave it out")
                raise Fault(key, f"{key} is {shown(given)}, but the event happens {moment}")
        return self

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """Those that must hold together, if it waits for conditions."""
        return self.when if isinstance(self.when, tuple) else ()

    def loops(self) -> tuple[Loop, ...]:
        """Those that it brings along, for its attachments: of each name the first."""
        found = [action.loop(self.name) for action in self.do if isinstance(action, Attach)]
        return tuple({loop.name: loop for loop in reversed(found)}.values())[::-1]

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
        """It must name what exists and can be held, and must be able to occur."""
        for i, action in enumerate(self.do):
            yield from (Finding(text, ("do", i)) for text in _action_problems(system, self, action))
        yield from (Finding(text, ("when",)) for text in _watch_texts(system, self))
        yield from (Finding(text, ("do",)) for text in _clash_texts(system, self))

    def nonconservative_effects(self) -> tuple[str, ...]:
        locks = any(isinstance(action, Lock | Attach | Detach | Close) for action in self.do)
        return ("locking events",)*locks + ("stiffened bushings",)*any(isinstance(action, Stiffen) for action in self.do)

    @property
    def label(self) -> str:
        moment = f"at {self.at:g} s" if self.at is not None else f"when {self.awaits}"
        return f"event {self.name} {moment}: " + ", ".join(f"{action.noun} {action.target}" for action in self.do)

    @property
    def awaits(self) -> str:
        """In words, what it waits for."""
        return " and ".join(each.label for each in self.conditions) if self.conditions else f"{self.when} passes {self.crosses:g}"

    @property
    def latch(self) -> bool:
        """Whether it is a latch: it locks the coordinate that it watches."""
        return isinstance(self.when, str) and self == Latch(self.name, self.when, self.crosses or 0.0, self.direction)

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
    """The event that locks a coordinate when it crosses the value `at`: shorthand for an Event.

    >>> Latch("hinge stop", "boom.ry", at=1.57, direction="rising").do
    (Lock(target='boom.ry'),)
    """
    return Event(name, **_latched(coordinate, at, direction))


_LATCH = mapping_schema({"coordinate": TEXT, "at": {"type": "number"}}, direction={"enum": list(get_args(Direction))})


def _action_problems(system: SystemView, event: Event, action: Action) -> Iterator[str]:
    if isinstance(action, Connecting):
        yield from action.problems(system)
        return
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
               f"{', '.join(target.body.spherical_names)}, or {NO_ANGLES}")


def _named(system: SystemView, event: Event, kind: type[Action]) -> set[str]:
    """The coordinates on which the actions of one kind act."""
    acting = (action for action in holding(event) if isinstance(action, kind))
    return {name for action in acting for target in targets(system, action.target) for name in target.names}


def holding(event: Event) -> list[Holding]:
    """Its actions on coordinates."""
    return [action for action in event.do if isinstance(action, Holding)]


def _clash_texts(system: SystemView, event: Event) -> Iterator[str]:
    """Coordinates on which several actions of one event act."""
    acted: dict[str, Holding] = {}
    for action in holding(event):
        found = targets(system, action.target)
        for name in found[0].names if len(found) == 1 else ():
            if name in acted:
                first = f"{acted[name].noun} {acted[name].target!r}"
                yield f"{first} and {action.noun} {action.target!r} both act on {name!r}; keep one"
                break
            acted[name] = action


def _watch_texts(system: SystemView, event: Event) -> Iterator[str]:
    """Errors in what an event waits for."""
    rate = event.quantity == "rate"
    measured = [entry for kind in (Output, Input) for port in system.of(kind).values() for entry in port.entries
                if kind is Output or port.kind == "signal"]
    positions = [known for body in system.bodies.values() for known in body.coordinate_names]
    for condition in event.conditions:
        if condition.of not in (known := [*measured, *positions]):
            hint = nearest(condition.of, known) or listed(known)
            yield f"condition of {condition.of!r} is not a coordinate, output or signal{hint}"
    if not isinstance(event.when, str) or (event.when in measured and not rate):
        return
    name, speeds = event.when, [*all_speeds(system), *system.wheels]
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
        known, more = (known, "") if rate else ([*known, *measured], ", output or signal")
        yield f"when {name!r} is not a {what}{more} of the system{nearest(name, known) or listed(known)}"


def _never_texts(system: SystemView, event: Event, name: str) -> Iterator[str]:
    """Why an event can never occur, where this is certain."""
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
    loosening = (action.target for event in system.events.values() for action in event.do
                 if isinstance(action, Release | Prescribe | Detach))
    moved = {name for given in loosening for each in targets(system, given) for name in each.names}
    return not moved & set(target.names)
