"""Consecutive sections of an array, as `sweeps.records` declares them, and the arrays made of them.

Also a check that tables are laid out as `sweeps.records` declares (sweeps do not check what plan refers to).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bough.sweeps import fields as f
from bough.sweeps.records import RECORDS, SECTIONS
from bough.sweeps.schema import Field, Record, Section, columns, padded


@dataclass(frozen=True)
class Place:
    """Where a section is, and its number of records."""
    section: Section
    start: int
    size: int
    count: int

    @property
    def end(self) -> int:
        return self.start + self.size


class Sections:
    """Positions of the sections of plan, pars, tables or ws, in sequence."""

    def __init__(self, table: str):
        self.declared = [section for section in SECTIONS if section.table == table]
        self.places: dict[str, Place] = {}
        self.end = 0

    def next_start(self, name: str) -> int:
        """Where the section would start if it came next."""
        section = self.declared[len(self.places)]
        if section.name != name:
            raise ValueError(f"{section.table}: section '{section.name}' comes next, not '{name}'")
        return padded(self.end) if section.aligned else self.end

    def add(self, name: str, size: int, count: int = 1) -> int:
        """Reserve a number of entries for a section; returns its start."""
        start = self.next_start(name)
        self.places[name] = Place(self.declared[len(self.places)], start, size, count)
        self.end = start + size
        return start

    def header_entries(self) -> dict[str, int]:
        """Entries of plan's header for these sections, by keyword."""
        starts = {place.section.start.lower(): place.start for place in self.places.values() if place.section.start}
        counts = {place.section.count.lower(): place.count for place in self.places.values() if place.section.count}
        return starts | counts


class Contents(Sections):
    """Sections with their contents: records of plan, of pars (batch, n), or numbers of tables."""

    def __init__(self, table: str):
        super().__init__(table)
        self.rows: dict[str, Sequence[ArrayLike]] = {}

    def put(self, name: str, rows: Sequence[ArrayLike]) -> int:
        """Add a section of these records; returns its start."""
        self.rows[name] = rows
        return self.add(name, sum(np.shape(row)[-1] for row in rows), len(rows))

    def reserve(self, name: str, count: int) -> int:
        """Add a section of a number of records, to be filled later."""
        record = self.declared[len(self.places)].record
        assert record is not None
        return self.add(name, record.size*count, count)

    def fill(self, name: str, rows: Sequence[ArrayLike]) -> None:
        """Fill a reserved section."""
        assert sum(np.shape(row)[-1] for row in rows) == self.places[name].size
        self.rows[name] = rows

    def pieces(self) -> list[ArrayLike]:
        """All records in order, with zeros for alignment."""
        found, at = list[ArrayLike](), 0
        for name, place in self.places.items():
            found += [np.zeros(place.start - at), *self.rows[name]]
            at = place.end
        return found

    def integers(self) -> NDArray[np.int64]:
        return np.concatenate([np.asarray(piece, np.int64) for piece in self.pieces()])

    def numbers(self) -> NDArray[np.float64]:
        """(batch, n)"""
        return columns(*self.pieces())


# ---- layout checks ---------------------------------------------------------------------------------------------------------
Places = dict[str, dict[str, Place]]
COUNTS = {"hinge": (f.N_HINGES, 1), "loop": (f.N_LOOPS, 0), "cloud": (f.N_CLOUDS, 1), "q": (f.NQ, 0)}  # header entry, offset
SIZES = {(record.table, record.name): record.size for record in RECORDS}


class LayoutError(Exception):
    """Tables in which records overlap, or refer to something that is not there."""


class Rows(NamedTuple):
    """All records of one kind in plan."""
    record: Record
    starts: NDArray[np.int64]       # (n,)
    values: NDArray[np.int64]       # (n, size)


def check_layout(plan: NDArray[np.int64], pars: NDArray[np.float64], tables: NDArray[np.float64], places: Places) -> None:
    """Raise LayoutError unless all sections are disjoint, and everything plan refers to is inside its section and used once."""
    plan = plan.reshape(-1)
    lengths = {"plan": plan.size, "pars": pars.shape[-1], "tables": tables.size, "ws": int(plan[f.WS_SIZE])}
    problems = [*section_problems(places, lengths), *header_problems(plan, places)]
    if not problems:
        rows = plan_rows(plan, places["plan"])
        problems = [*reference_problems(plan, rows, places), *overlap_problems(rows)]
    if problems:
        raise LayoutError("\n".join(problems))


def section_problems(places: Places, lengths: dict[str, int]) -> Iterator[str]:
    for table, sections in places.items():
        end = 0
        for name, place in sections.items():
            if place.start < end:
                yield f"{table}: section '{name}' starts at {place.start}, and the one before it ends at {end}"
            end = place.end
        if end != lengths[table]:
            yield f"{table} has {lengths[table]} numbers, and its sections end at {end}"


def header_problems(plan: NDArray[np.int64], places: Places) -> Iterator[str]:
    for table, sections in places.items():
        for name, place in sections.items():
            for key, value in ((place.section.start, place.start), (place.section.count, place.count)):
                if key and plan[f.CONSTANTS[key]] != value:
                    yield f"header: {key} is {plan[f.CONSTANTS[key]]}; of section '{name}' of {table} it must be {value}"


def plan_rows(plan: NDArray[np.int64], sections: dict[str, Place]) -> list[Rows]:
    """The records of plan, by kind, including those that follow others."""
    found: dict[Record, list[int]] = {}
    for name, place in sections.items():
        record, at = place.section.record, place.start
        assert record is not None
        if not record.followers:
            found[record] = list(range(place.start, place.end, record.size))
            continue
        while at < place.end:
            for each, start in record.walk(plan, at):
                if start + each.size > place.end:
                    raise LayoutError(f"plan: a {each.name} at {start} is longer than its section '{name}', up to {place.end}")
                found.setdefault(each, []).append(start)
                at = start + each.size
    return [Rows(record, np.array(starts), plan[np.add.outer(starts, np.arange(record.size))])
            for record, starts in found.items() if starts]


def columns_of(rows: Rows) -> Iterator[tuple[Field, NDArray[np.int64], NDArray[np.int64]]]:
    """Each field present, with the starts of its records and its values, without those that mean none."""
    for field in rows.record.fields:
        values, here = rows.values[:, rows.record.starts[rows.record.keyword(field)]], np.ones(len(rows.values), bool)
        if field.variant is not None and rows.record.variant is not None:
            name, code = rows.record.variant
            here = rows.values[:, rows.record.starts[name]] != code
            yield field.variant, rows.starts[~here], values[~here]
        if field.optional:
            here &= values != 0
        yield field, rows.starts[here], values[here]


def length_of(field: Field) -> int:
    """Least number of entries used of what a field refers to."""
    return field.length if isinstance(field.length, int) else SIZES[field.to.partition(".")[0], field.length]


def reference_problems(plan: NDArray[np.int64], all_rows: list[Rows], places: Places) -> Iterator[str]:
    known = {rows.record.name: rows.starts for rows in all_rows}
    for rows in all_rows:
        for field, starts, values in columns_of(rows):
            table, _, section = field.to.partition(".")
            if field.codes is not None:
                good, wanted = (values >= 0) & (values < len(field.codes.meanings)), f"below {len(field.codes.meanings)}"
            elif not field.to:
                good, wanted = values >= 0, "0 or more"
            elif not section:
                entry, more = COUNTS[table]
                good, wanted = (values >= 0) & (values < plan[entry] + more), f"below {plan[entry] + more}"
            elif table == "plan":
                good, wanted = np.isin(values, known.get(str(field.length), [])), f"the start of a {field.length}"
            else:
                place = places[table][section]
                if place.size == 0 and field.length == 0:               # nothing is used
                    continue
                good, wanted = (values >= place.start) & (values + length_of(field) <= place.end), (
                    f"in section '{section}' of {table}, from {place.start} to {place.end}")
            for i in np.flatnonzero(~good)[:3]:
                yield f"{rows.record.name} at {starts[i]} of plan: {field.name} is {values[i]}; it must be {wanted}"


def overlap_problems(all_rows: list[Rows]) -> Iterator[str]:
    """Entries of ws, pars or tables owned by two records."""
    owned: dict[str, list[tuple[int, int, str]]] = {}
    for rows in all_rows:
        for field, starts, values in columns_of(rows):
            if field.owned:
                owned.setdefault(field.to, []).extend(
                    (int(value), int(value) + length_of(field), f"{field.name} of the {rows.record.name} at {start}")
                    for start, value in zip(starts, values, strict=True))
    for to, intervals in owned.items():
        intervals.sort()
        for (_, end, one), (start, _, other) in pairwise(intervals):
            if start < end:
                yield f"{to}: {one} and {other} overlap at {start}"
