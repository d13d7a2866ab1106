"""Tables of values over time; prescribed motions of joint coordinates: position over time, with a continuous rate."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Literal, Self, get_args

import numpy as np
from numpy.polynomial import polynomial
from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema, model_validator

from bough.describe.base import Description, Fault, among, mapping_schema, refuse_unknown
from bough.describe.numeric import NUMBERS, VECTOR, Floats, Number, above_zero, items, number, numbers, shown, vector
from bough.errors import DescriptionError

Kind = Literal["linear", "hold", "cubic"]
Rows = Floats | tuple[Floats, ...]
_TIMES = NUMBERS | {"minItems": 1}
_VALUES = {"anyOf": [NUMBERS, {"type": "array", "items": NUMBERS}]}


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


class TimeTable(Description):
    """Values over time: numbers, or rows of numbers. Between the times they are interpolated linearly ("linear"), held until the
    next time ("hold") or joined by a cubic spline ("cubic", at least 4 rows). The first and last values hold outside the table.

    >>> torque = TimeTable([0, 1, 2], [0, 5, 0])
    >>> torque
    TimeTable(3 rows of 1 value, 0.0 to 2.0 s, linear)
    >>> TimeTable([0, 1], [[1, 0, 0], [0, 0, 2]], "hold").columns
    3
    """

    noun: ClassVar[str] = "table"
    times: Annotated[Floats, BeforeValidator(increasing), WithJsonSchema(_TIMES)]
    values: Annotated[Rows, BeforeValidator(_rows), WithJsonSchema(_VALUES)]
    kind: Annotated[Kind, among(Kind)] = "linear"

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
        """Number of values per row."""
        first = self.values[0]
        return len(first) if isinstance(first, tuple) else 1

    def __repr__(self) -> str:
        size = f"{len(self.times)} rows of {self.columns} value{'s' * (self.columns > 1)}"
        return f"TimeTable({size}, {self.times[0]} to {self.times[-1]} s, {self.kind})"


def table(value: Any, columns: int) -> TimeTable:
    """A table with this number of columns, given as an object or as a mapping."""
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


TABLE = mapping_schema({"times": _TIMES, "values": _VALUES}, kind={"enum": list(get_args(Kind))})
SIGNAL = {"anyOf": [{"type": "number"}, TABLE]}

Signal = Annotated[float | TimeTable, BeforeValidator(signal), WithJsonSchema(SIGNAL)]
VectorSignal = Annotated[tuple[float, float, float] | TimeTable, BeforeValidator(vector_signal),
                         WithJsonSchema({"anyOf": [VECTOR, TABLE]})]


# ---- motions ---------------------------------------------------------------------------------------------------------------
COEFFICIENTS = 8  # of a polynomial, at most
_WRITTEN = 1e-9  # of the largest term of a motion: what coefficients rounded to ten digits may leave open
_PAIR = WithJsonSchema(NUMBERS | {"minItems": 2, "maxItems": 2})
_POLYNOMIAL = NUMBERS | {"minItems": 1, "maxItems": COEFFICIENTS}


def _polynomial(value: Any) -> Floats:
    given = numbers(value)
    if not 1 <= len(given) <= COEFFICIENTS:
        raise ValueError(f"is {shown(value)}, which has {len(given)} entries; give 1 to {COEFFICIENTS} coefficients")
    return given


def _polynomials(value: Any) -> tuple[Floats, ...]:
    given = items(value)
    if given is None or any(items(row) is None for row in given):
        raise ValueError(f"is {shown(value)}; give a list of coefficients for each piece")
    try:
        return tuple(_polynomial(row) for row in given)
    except ValueError as error:
        raise ValueError(f"has a piece that {error}") from None


def _terms(value: Any) -> tuple[tuple[float, float, float], ...]:
    given = items(value)
    if not given or any(items(term) is None for term in given):
        raise ValueError(f"is {shown(value)}; give a list of terms, each [amplitude, frequency, phase]")
    terms = []
    for term in given:
        try:
            amplitude, frequency, phase = numbers(term, 3)
        except ValueError as error:
            raise ValueError(f"has a term that {error}: amplitude, frequency [rad/s], phase [rad]") from None
        if frequency <= 0:
            raise ValueError(f"has the frequency {frequency} rad/s; give a number > 0, and put what is constant into the mean")
        terms.append((amplitude, frequency, phase))
    return tuple(terms)


class Motion(Description, init=False):
    """A position over time, for one coordinate of a joint. `keys` are the YAML keys of fields that have another name there."""

    keys: ClassVar[dict[str, str]] = {}

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and lists under the keys of the YAML file.

        >>> Move(1.5, duration=10).to_dict()
        {'move': 1.5, 'duration': 10.0}
        """
        return {self.keys.get(field, field): value for field, value in super().to_dict().items()}


class Constant(Motion):
    """A constant position.

    >>> Constant(0.3)
    Constant(value=0.3)
    """

    keys: ClassVar[dict[str, str]] = {"value": "constant"}
    value: Number

    def __init__(self, value: float) -> None:
        super().__init__(value=value)


class Rate(Motion):
    """A constant rate: q = start + rate t.

    >>> Rate(0.02, start=0.1)
    Rate(rate=0.02, start=0.1)
    """

    rate: Number
    start: Number = 0.0

    def __init__(self, rate: float, start: float = 0.0) -> None:
        super().__init__(rate=rate, start=start)


class Polynomial(Motion):
    """q = c0 + c1 t + c2 t^2 + ..., with at most 8 coefficients.

    >>> Polynomial([0, 0, 0.5])
    Polynomial(coefficients=(0.0, 0.0, 0.5))
    """

    keys: ClassVar[dict[str, str]] = {"coefficients": "polynomial"}
    coefficients: Annotated[Floats, BeforeValidator(_polynomial), WithJsonSchema(_POLYNOMIAL)]

    def __init__(self, coefficients: Any) -> None:
        super().__init__(coefficients=coefficients)


class Spline(Motion):
    """The cubic spline through the `values` at the `times`, with given `rates` at its first and last point. Its rate and
    acceleration are continuous; outside the times it is extrapolated at these rates.

    >>> Spline([0, 2, 5], [0, 1, 0.5])
    Spline(times=(0.0, 2.0, 5.0), values=(0.0, 1.0, 0.5))
    >>> Spline([0, 2], [0])
    Traceback (most recent call last):
    bough.errors.DescriptionError: spline: 2 times but 1 values; give one for each time
    """

    times: Annotated[Floats, BeforeValidator(increasing), WithJsonSchema(NUMBERS | {"minItems": 2})]
    values: Annotated[Floats, BeforeValidator(numbers), WithJsonSchema(NUMBERS | {"minItems": 2})]
    rates: Annotated[tuple[float, float], BeforeValidator(lambda value: numbers(value, 2)), _PAIR] = (0.0, 0.0)

    def __init__(self, times: Any, values: Any, rates: Any = (0.0, 0.0)) -> None:
        super().__init__(times=times, values=values, rates=rates)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if len(self.values) != len(self.times):
            raise Fault("values", f"{len(self.times)} times but {len(self.values)} values; give one for each time")
        if len(self.times) < 2:
            raise Fault("times", "a spline has 1 point; give at least 2, or a Constant")
        return self


class Harmonics(Motion):
    """A sum of sines: q = mean + sum of amplitude sin(frequency t + phase). Its terms are (amplitude, frequency [rad/s], phase
    [rad]).

    >>> Harmonics([(0.1, 2.0, 0.0)], mean=0.5)
    Harmonics(terms=((0.1, 2.0, 0.0),), mean=0.5)
    """

    keys: ClassVar[dict[str, str]] = {"terms": "harmonics"}
    terms: Annotated[tuple[tuple[float, float, float], ...], BeforeValidator(_terms),
                     WithJsonSchema({"type": "array", "items": NUMBERS | {"minItems": 3, "maxItems": 3}, "minItems": 1})]
    mean: Number = 0.0

    def __init__(self, terms: Any, mean: float = 0.0) -> None:
        super().__init__(terms=terms, mean=mean)


class Move(Motion):
    """Rest-to-rest motion from `start` to `to`, starting at the time `begin` and lasting `duration` [s]: a polynomial of degree 5
    with zero rate and acceleration at both ends. It is at rest before and after.

    >>> Move(1.57, begin=2, duration=10)
    Move(to=1.57, begin=2.0, duration=10.0)
    """

    keys: ClassVar[dict[str, str]] = {"to": "move"}
    to: Number
    start: Number = 0.0
    begin: Number = 0.0
    duration: Annotated[float, above_zero("s")]

    def __init__(self, to: float, start: float = 0.0, begin: float = 0.0, *, duration: float) -> None:
        super().__init__(to=to, start=start, begin=begin, duration=duration)


class Pieces(Motion):
    """A piecewise polynomial: from each of the `times` on, q = c0 + c1 s + c2 s^2 + ... with s the time since then and the
    `coefficients` (at most 8) of this piece. Before the first time it is extrapolated at the rate there; the last piece continues
    indefinitely. Position and rate must be continuous; the acceleration can jump.

    >>> Pieces([0, 1], [[0, 0, 0.5], [0.5, 1]])
    Pieces(times=(0.0, 1.0), coefficients=((0.0, 0.0, 0.5), (0.5, 1.0)))
    >>> Pieces([0, 1], [[0, 0, 0.5], [0.8, 1]])
    Traceback (most recent call last):
    bough.errors.DescriptionError: pieces: the position jumps by 0.3 at 1.0 s; start piece 2 where the one before ends, c0 = 0.5
    """

    times: Annotated[Floats, BeforeValidator(increasing), WithJsonSchema(_TIMES)]
    coefficients: Annotated[tuple[Floats, ...], BeforeValidator(_polynomials),
                            WithJsonSchema({"type": "array", "items": _POLYNOMIAL, "minItems": 1})]

    def __init__(self, times: Any, coefficients: Any) -> None:
        super().__init__(times=times, coefficients=coefficients)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if len(self.coefficients) != len(self.times):
            text = f"{len(self.times)} times but {len(self.coefficients)} lists of coefficients; give one for each time"
            raise Fault("coefficients", text)
        for order in (0, 1):
            if found := self._jump(order):
                raise Fault("coefficients", found)
        return self

    def _jump(self, order: int) -> str:
        """The first jump of the position (order 0) or of the rate (1) that rounded coefficients do not explain, or nothing."""
        pieces = [polynomial.polyder(c, order) for c in self.coefficients]
        spans = [after - before for before, after in pairwise(self.times)]
        ends = [float(polynomial.polyval(h, c)) for h, c in zip(spans, pieces, strict=False)]
        starts = [float(c[0]) for c in pieces[1:]]
        terms = [polynomial.polyval(h, np.abs(c)) for h, c in zip([*spans, 0.0], pieces, strict=True)]
        for row, (end, start) in enumerate(zip(ends, starts, strict=True), start=1):
            if abs(jump := start - end) > _WRITTEN * max(terms):
                return _JUMPS[order].format(jump=jump, time=self.times[row], piece=row + 1, end=end)
        return ""


_JUMPS = (
    "the position jumps by {jump:.6g} at {time} s; start piece {piece} where the one before ends, c0 = {end:.12g}",
    "the rate jumps by {jump:.6g} at {time} s, which would take an impulse; start piece {piece} with the rate of the one before at "
    "its end, c1 = {end:.12g}, or put a piece between them",
)


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
    """A motion given as an object or as a mapping. A table must be cubic: it becomes the spline with zero end rates.

    >>> read_motion({"rate": 0.02, "start": 0.1})
    Rate(rate=0.02, start=0.1)
    >>> read_motion({"times": [0, 2], "values": [0, 1]})
    Spline(times=(0.0, 2.0), values=(0.0, 1.0))
    """
    if isinstance(value, Motion):
        return value
    if isinstance(value, TimeTable) or (isinstance(value, Mapping) and "kind" in value):
        if (given := table(value, 1)).kind != "cubic":
            what = f"is a table of kind {given.kind}, whose {'rate' if given.kind == 'linear' else 'position'} jumps"
            raise ValueError(f"{what}; give it the kind cubic, or give a Spline or Pieces")
        return given
    if not isinstance(value, Mapping):
        raise ValueError(f"is {shown(value)}; {_GIVE}")
    found = [form for form in FORMS if form in value]
    if len(found) != 1:
        raise ValueError(f"is {shown(dict(value))}; give a mapping with one of the keys {', '.join(FORMS)}")
    kind = FORMS[found[0]]
    fields = {kind.keys.get(field, field): field for field in kind.model_fields}
    refuse_unknown(value, fields, kind.noun)
    return kind.from_mapping({fields[key]: given for key, given in value.items()})


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


def _schema(kind: type[Motion]) -> dict[str, Any]:
    own, keys = kind.model_json_schema(), {field: kind.keys.get(field, field) for field in kind.model_fields}
    forms = {needed: {keys[field]: form for field, form in own["properties"].items() if (field in own["required"]) == needed}
             for needed in (True, False)}
    return mapping_schema(forms[True], **forms[False])


_TABLE = TABLE | {"required": ["times", "values", "kind"]}
MOTION = {"anyOf": [*(_schema(kind) for kind in FORMS.values()), _TABLE]}
ENTRY = {"anyOf": [{"type": "null"}, {"const": LOCKED}, *MOTION["anyOf"]]}

_WRITTEN_OUT = PlainSerializer(lambda entry: entry.to_dict() if isinstance(entry, Description) else entry)
MotionField = Annotated[Motion | TimeTable, BeforeValidator(read_motion), _WRITTEN_OUT, WithJsonSchema(MOTION)]
MotionEntry = Annotated[Motion | TimeTable | str | None, _WRITTEN_OUT, WithJsonSchema(ENTRY)]
