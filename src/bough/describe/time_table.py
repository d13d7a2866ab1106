"""Tables of values over time, and signals: a constant or a table."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Literal, Self, get_args

from pydantic import BeforeValidator, WithJsonSchema, model_validator

from bough.describe.base import Description, Fault
from bough.describe.numeric import NUMBERS, VECTOR, Floats, items, number, numbers, shown, vector
from bough.errors import nearest

Kind = Literal["linear", "hold", "cubic"]
Rows = Floats | tuple[Floats, ...]


def increasing(value: Any) -> Floats:
    """Times that increase strictly, at least one."""
    times = numbers(value)
    if not times:
        raise ValueError("is empty; give at least one time")
    for row, (before, after) in enumerate(pairwise(times), start=1):
        if after <= before:
            raise ValueError(f"has {after} s after {before} s (row {row}); give times that increase strictly")
    return times


def _rows(value: Any) -> Rows:
    given = items(value)
    if given is None:
        raise ValueError(f"is {shown(value)}; give a list of numbers or of rows of numbers")
    if all(items(row) is None for row in given):
        return numbers(given)
    if any(items(row) is None for row in given):
        raise ValueError(f"is {shown(value)}, which mixes numbers and rows; give either")
    rows = tuple(numbers(row) for row in given)
    lengths = {len(row) for row in rows}
    if len(lengths) > 1 or 0 in lengths:
        raise ValueError(f"has rows of {sorted(lengths)} entries; give rows of one length")
    return tuple(row[0] for row in rows) if lengths == {1} else rows


def _kind(value: Any) -> str:
    if value not in get_args(Kind):
        raise ValueError(f"is {shown(value)}; give linear, hold or cubic" + nearest(value, get_args(Kind)))
    return str(value)


class TimeTable(Description):
    """Values over time: numbers, or rows of numbers. Between the times they are joined by lines ("linear"), kept until
    the next time ("hold") or joined by a cubic spline ("cubic", from 4 rows on); before the first and after the last
    time the first and the last value hold.

    >>> torque = TimeTable([0, 1, 2], [0, 5, 0])
    >>> torque
    TimeTable(3 rows of 1 value, 0.0 to 2.0 s, linear)
    >>> TimeTable([0, 1], [[1, 0, 0], [0, 0, 2]], "hold").columns
    3
    """

    noun: ClassVar[str] = "table"
    times: Annotated[Floats, BeforeValidator(increasing), WithJsonSchema(NUMBERS | {"minItems": 1})]
    values: Annotated[
        Rows, BeforeValidator(_rows), WithJsonSchema({"anyOf": [NUMBERS, {"type": "array", "items": NUMBERS}]})
    ]
    kind: Annotated[Kind, BeforeValidator(_kind)] = "linear"

    def __init__(self, times: Any, values: Any, kind: str = "linear") -> None:
        super().__init__(times=times, values=values, kind=kind)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if len(self.values) != len(self.times):
            raise Fault("values", f"{len(self.times)} times but {len(self.values)} values; give one for each time")
        if self.kind == "cubic" and len(self.times) < 4:
            raise Fault("kind", f"a cubic table has {len(self.times)} rows; give at least 4, or choose linear")
        return self

    @property
    def columns(self) -> int:
        """How many values each row holds."""
        first = self.values[0]
        return len(first) if isinstance(first, tuple) else 1

    def __repr__(self) -> str:
        size = f"{len(self.times)} rows of {self.columns} value{'s' * (self.columns > 1)}"
        return f"TimeTable({size}, {self.times[0]} to {self.times[-1]} s, {self.kind})"


def table(value: Any, columns: int) -> TimeTable:
    """A table with so many columns, given as it is or as a mapping."""
    made = TimeTable.from_mapping(value)
    if made.columns != columns:
        raise ValueError(f"is a table of {made.columns} column{'s' * (made.columns > 1)}; give one of {columns}")
    return made


def signal(value: Any) -> float | TimeTable:
    """A number, or a table of numbers over time."""
    return table(value, 1) if isinstance(value, TimeTable | Mapping) else number(value)


def vector_signal(value: Any) -> tuple[float, float, float] | TimeTable:
    """A vector, or a table of vectors over time."""
    return table(value, 3) if isinstance(value, TimeTable | Mapping) else vector(value)


TABLE = {
    "type": "object",
    "properties": {
        "times": NUMBERS | {"minItems": 1},
        "values": {"anyOf": [NUMBERS, {"type": "array", "items": NUMBERS}]},
        "kind": {"enum": list(get_args(Kind))},
    },
    "required": ["times", "values"],
    "additionalProperties": False,
}
SIGNAL = {"anyOf": [{"type": "number"}, TABLE]}

Signal = Annotated[float | TimeTable, BeforeValidator(signal), WithJsonSchema(SIGNAL)]
VectorSignal = Annotated[
    tuple[float, float, float] | TimeTable, BeforeValidator(vector_signal), WithJsonSchema({"anyOf": [VECTOR, TABLE]})
]
