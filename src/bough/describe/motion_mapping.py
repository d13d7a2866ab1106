"""Motions as mappings: how they are read from a YAML file and written to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema

from bough.describe.base import unknown_key
from bough.describe.motions import Constant, Harmonics, Motion, Move, Pieces, Polynomial, Rate, Spline
from bough.describe.numeric import shown
from bough.describe.time_table import TABLE, TimeTable, table
from bough.errors import DescriptionError, Problem

LOCKED = "locked"
FORMS: dict[str, type[Motion]] = {  # the key by which a mapping is known, and what it makes
    "constant": Constant,
    "rate": Rate,
    "polynomial": Polynomial,
    "values": Spline,
    "harmonics": Harmonics,
    "move": Move,
    "coefficients": Pieces,
}
_GIVE = "give a motion, such as Rate(0.02) (in YAML: {rate: 0.02})"


def read_motion(value: Any) -> Motion | TimeTable:
    """A motion given as it is or as a mapping. A table must be cubic: it becomes the spline with zero rates at its ends.

    >>> read_motion({"rate": 0.02, "start": 0.1})
    Rate(rate=0.02, start=0.1)
    >>> read_motion({"times": [0, 2], "values": [0, 1]})
    Spline(times=(0.0, 2.0), values=(0.0, 1.0))
    """
    if isinstance(value, Motion):
        return value
    if isinstance(value, TimeTable) or (isinstance(value, Mapping) and "kind" in value):
        return _smooth(table(value, 1))
    if not isinstance(value, Mapping):
        raise ValueError(f"is {shown(value)}; {_GIVE}")
    found = [form for form in FORMS if form in value]
    if len(found) != 1:
        raise ValueError(f"is {shown(dict(value))}; give a mapping with one of the keys {', '.join(FORMS)}")
    kind = FORMS[found[0]]
    fields = {kind.keys.get(field, field): field for field in kind.model_fields}
    unknown = [Problem(unknown_key(key, fields), kind.noun, (str(key),)) for key in value if key not in fields]
    if unknown:
        raise DescriptionError(unknown)
    return kind.from_mapping({fields[key]: given for key, given in value.items()})


def write_motion(motion: Motion | TimeTable) -> dict[str, Any]:
    """The motion as a mapping.

    >>> write_motion(Move(1.5, duration=10))
    {'move': 1.5, 'duration': 10.0}
    """
    return motion.to_dict()


def _smooth(given: TimeTable) -> TimeTable:
    if given.kind != "cubic":
        what = "rate" if given.kind == "linear" else "position"
        raise ValueError(f"is a table of kind {given.kind}, whose {what} jumps; give it the kind cubic, or give a Spline or Pieces")
    return given


def read_entry(value: Any) -> Motion | TimeTable | str | None:
    """The motion of one coordinate of a joint: None is free.

    >>> read_entry("locked"), read_entry({"constant": 0.3})
    ('locked', Constant(value=0.3))
    """
    if value is None or (isinstance(value, str) and value == LOCKED):
        return value
    try:
        return read_motion(value)
    except DescriptionError:  # a motion's own words
        raise
    except ValueError as error:
        hint = ", 'locked' or None" if _GIVE in str(error) else ""
        raise ValueError(f"{error}{hint}") from None


def _write_entry(entry: Motion | TimeTable | str | None) -> Any:
    return entry if entry is None or isinstance(entry, str) else write_motion(entry)


def _schema(kind: type[Motion]) -> dict[str, Any]:
    own = kind.model_json_schema()
    return {
        "type": "object",
        "properties": {kind.keys.get(field, field): form for field, form in own["properties"].items()},
        "required": [kind.keys.get(field, field) for field in own["required"]],
        "additionalProperties": False,
    }


_TABLE = TABLE | {"required": ["times", "values", "kind"]}
MOTION = {"anyOf": [*(_schema(kind) for kind in FORMS.values()), _TABLE]}
ENTRY = {"anyOf": [{"type": "null"}, {"const": LOCKED}, *MOTION["anyOf"]]}

MotionField = Annotated[Motion | TimeTable, BeforeValidator(read_motion), PlainSerializer(write_motion), WithJsonSchema(MOTION)]
MotionEntry = Annotated[Motion | TimeTable | str | None, PlainSerializer(_write_entry), WithJsonSchema(ENTRY)]
