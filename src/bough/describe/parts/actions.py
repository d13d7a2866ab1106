"""What an event does to coordinates: lock, release, prescribe."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema

from bough.describe.base import Description, read_each, unknown_key
from bough.describe.motions import MOTION, MotionField
from bough.describe.numeric import Text, items, shown
from bough.errors import DescriptionError, Problem


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
    try:
        return kind.from_mapping(given if kind is Prescribe else {"target": given})
    except DescriptionError as error:
        raise DescriptionError([problem._replace(path=(verb, *problem.path)) for problem in error.problems]) from None


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


def keys(needed: dict[str, Any], **others: Any) -> dict[str, Any]:
    """The JSON Schema of a mapping with these keys."""
    return {"type": "object", "properties": needed | others, "required": list(needed), "additionalProperties": False}


ACTION = {
    "anyOf": [
        keys({"lock": TEXT}),
        keys({"release": TEXT}),
        keys({"prescribe": keys({"target": TEXT, "motion": MOTION})}),
    ]
}
Actions = Annotated[
    tuple[Annotated[Action, PlainSerializer(write_action)], ...],
    BeforeValidator(_actions),
    WithJsonSchema({"anyOf": [ACTION, {"type": "array", "items": ACTION, "minItems": 1}]}),
]
