"""Consecutive sections of an array, as `sweeps.records` declares them, and the arrays made of them.

Also a check that tables are laid out as `sweeps.records` declares (sweeps do not check what plan refers to), and a listing of the
arrays of a model as text.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from textwrap import wrap
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bough.compile.partition import Hinge
from bough.errors import ModelError, similar
from bough.kernels.hinges import GAIN_SIZE, MODAL, NODE
from bough.sweeps import fields as f
from bough.sweeps import records as r
from bough.sweeps.records import RECORDS, SECTIONS
from bough.sweeps.schema import Blocks, Field, Record, Section, columns, padded


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


# ---- listing -------------------------------------------------------------------------------------------------------------------
WIDTH = 120
SMALL = 9                           # up to this size, values are shown
TITLES = {"plan": "structure, int64", "pars": "parameters, float64", "tables": "functions of time, float64",
          "ws": "workspace, for one state or four at a time"}


class Arrays(NamedTuple):
    """The arrays of a model, their sections, and its hinges, which name the records."""
    plan: NDArray[np.int64]
    pars: NDArray[np.float64]       # (batch, n); the first set is shown
    tables: NDArray[np.float64]
    places: dict[str, dict[str, Place]]
    hinges: Sequence[Hinge]

    def values(self, table: str, start: int, size: int) -> NDArray[np.float64] | None:
        """Values of a section; none for ws, which changes in every call."""
        array = {"plan": self.plan, "pars": self.pars[0], "tables": self.tables}.get(table)
        return None if array is None else array[start:start + size]


# ---- all sections ---------------------------------------------------------------------------------------------------
def overview(arrays: Arrays) -> str:
    lines: list[str] = []
    for table, sections in arrays.places.items():
        end = max(place.end for place in sections.values())
        lines += ["", f"{table}: {end} numbers: {TITLES[table]}"]
        units = max(len(place.section.unit) for place in sections.values())
        for name, place in sections.items():
            values = arrays.values(table, place.start, place.size)
            shown = "" if values is None or not 0 < values.size <= SMALL else f" = {text_of(values)}"
            head = f"{place.start:>7}  {shape_of(place):>8}  {name:<17}"
            lines += hung(head + f"{place.section.unit:<{units}}  "*bool(units), place.section.meaning + shown)
    lines += ["", "ws behind that, by method: what is where (how many numbers)"]
    for name, (blocks, counts, offset) in methods(arrays).items():
        lines += hung(f"  {name}: ", ", ".join(f"{block} at {start + offset} ({size})" for block, (start, size)
                                               in blocks.places(*counts).items()))
    return "\n".join(lines[1:])


def methods(arrays: Arrays) -> dict[str, tuple[Blocks, tuple[int, ...], int]]:
    """Blocks of methods after the common ones, the counts they depend on, and the offset of their starts."""
    start, bodies = int(arrays.plan[f.WS_MASS]), int(arrays.plan[f.N_HINGES] - arrays.plan[f.CLOUD_BASE] + 1)
    return {"dense": (r.DENSE_METHOD, (int(arrays.plan[f.NV]), int(arrays.plan[f.N_MULTIPLIERS])), start),
            "cloud": (r.CLOUD_METHOD, (start, int(arrays.plan[f.N_CLOUDS]), bodies), 0)}


def shape_of(place: Place) -> str:
    """Records and their size; or numbers."""
    record = place.section.record
    return str(place.size) if record is None or record.followers else f"{place.count} x {record.size}"


# ---- one section, one record, one body ------------------------------------------------------------------------------
def detail(arrays: Arrays, name: str, index: int | None) -> str:
    """The records of a section, one of them, or those of a body's joint and modes."""
    names: dict[str, str] = {}                          # sections, also by the names of their records
    for sections in arrays.places.values():
        for section, place in sections.items():
            names |= {section: section} | ({place.section.record.name: section} if place.section.record is not None else {})
    own = [k for k, hinge in enumerate(arrays.hinges) if k and hinge.joint == name]
    if own and index is None:
        return "\n".join(line for k in own for line in item_lines(arrays, "hinges", k))
    if name not in names:
        bodies = dict.fromkeys(hinge.joint for hinge in arrays.hinges[1:])
        raise ModelError(f"the tables have no body and no section '{name}'{similar(name, [*bodies, *names])}; sections are "
                         f"{', '.join(dict.fromkeys(names.values()))}")
    section = names[name]
    places = [sections[section] for sections in arrays.places.values() if section in sections]
    count = max((place.count for place in places if place.section.record is not None), default=1)
    if index is not None and not 0 <= index < count:
        raise ModelError(f"section '{section}' has {count} records; there is no {index}")
    return "\n".join(line for i in ([index] if index is not None else range(count)) for line in item_lines(arrays, section, i))


def item_lines(arrays: Arrays, section: str, i: int) -> Iterator[str]:
    """The i-th of a section, in all arrays."""
    special = {"hinges": hinge_lines, "flexible": flexible_lines, "elements": element_lines}.get(section)
    if special is not None:
        yield from special(arrays, i)
        return
    yield f"{section} {i}"
    for table, sections in arrays.places.items():
        if (place := sections.get(section)) is None:
            continue
        record, at = place.section.record, place.start
        if record is None:
            text = text_of(arrays.values(table, at, place.size), place.size)
            yield from field_line(f"{table}[{at}]", section, text, place.section.unit, place.section.meaning)
        elif i < place.count:
            yield from record_lines(arrays, record, start_of(arrays, record, at, i))


def start_of(arrays: Arrays, record: Record, at: int, i: int) -> int:
    """Start of the i-th record from `at` on."""
    if not record.followers:
        return at + i*record.size
    for _ in range(i):
        *_, (last, start) = record.walk(arrays.plan, at)
        at = start + last.size
    return at


def hinge_lines(arrays: Arrays, k: int) -> Iterator[str]:
    """A hinge with its body, and its flexible body if there is one."""
    hinge, row = arrays.hinges[k], arrays.places["plan"]["hinges"].start + f.HINGE_ROW*k
    part = "" if not hinge.joint else f", joint of body '{hinge.joint}'" if hinge.kind < MODAL else f", body '{hinge.joint}'"
    yield f"hinge {k}: {r.KINDS.name(hinge.kind) if k else 'the ground'}{part}" + f", node '{hinge.node}'"*bool(hinge.node)
    yield from record_lines(arrays, r.HINGE, row)
    yield from record_lines(arrays, r.HINGE_PARAMETERS if k else r.GROUND_PARAMETERS, f.HINGE_PARS*k)
    if hinge.kind == NODE:
        n = int(arrays.plan[arrays.plan[row + f.FLEX] + f.MODES])
        yield from block_lines(arrays, r.NODE_PARAMETERS, int(arrays.plan[row + f.NODE_PAR]), n)
    record = int(arrays.plan[row + f.RECORD])
    yield from record_lines(arrays, r.HINGE_RECORD, record)
    yield f"  its gain has {GAIN_SIZE[hinge.kind]} numbers"
    if hinge.kind == NODE:
        yield from record_lines(arrays, r.NODE_RECORD, int(arrays.plan[row + f.NODE_WS]))
        yield from block_lines(arrays, r.NODE_BLOCKS, int(arrays.plan[row + f.NODE_WS]) + f.NODE_SHAPES, n)
    if hinge.kind == MODAL:
        first = arrays.places["plan"]["flexible"].start
        yield from flexible_lines(arrays, (int(arrays.plan[row + f.FLEX]) - first)//r.FLEXIBLE.size)


def flexible_lines(arrays: Arrays, j: int) -> Iterator[str]:
    at = arrays.places["plan"]["flexible"].start + r.FLEXIBLE.size*j
    row = {name: int(value) for name, value in r.FLEXIBLE.view(arrays.plan, at).items()}
    n, p, spins = row["modes"], row["carried"], row["spins"]
    yield f"flexible {j}: body '{arrays.hinges[row['hinge']].joint}', {n} modes, {p} carried fields"
    yield from record_lines(arrays, r.FLEXIBLE, at)
    form = row["has_pairs"], row["has_turns"], row["diagonal"], spins
    yield from block_lines(arrays, r.FLEXIBLE_PARAMETERS, row["par"], n, p, *form)
    yield from record_lines(arrays, r.MODAL_RECORD, row["ws"])
    yield from block_lines(arrays, r.MODAL_BLOCKS, row["ws"] + f.MODAL_ROWS, n, p, row["columns"])
    yield from block_lines(arrays, r.FLEXIBLE_SCRATCH, row["room"], n, p, spins)


def element_lines(arrays: Arrays, j: int) -> Iterator[str]:
    at = arrays.places["plan"]["elements"].start + f.ELEMENT_ROW*j
    kind = r.ELEMENT_KINDS.name(int(arrays.plan[at + f.ELEMENT_KIND]))
    yield f"element {j}: {kind}"
    yield from record_lines(arrays, r.ELEMENT, at)
    yield from record_lines(arrays, getattr(r, f"{kind}_PARAMETERS"), int(arrays.plan[at + f.ELEMENT_PAR]))
    yield from record_lines(arrays, r.ELEMENT_RESULT, int(arrays.plan[at + f.ELEMENT_WS]))


# ---- lines ----------------------------------------------------------------------------------------------------------
def record_lines(arrays: Arrays, record: Record, at: int) -> Iterator[str]:
    """The fields of a record, and of those that follow it."""
    for each, start in record.walk(arrays.plan, at) if record.table == "plan" else [(record, at)]:
        values = arrays.values(each.table, start, each.size)
        yield from title(each)
        for offset, field in each.fields_of(values if each.table == "plan" else None):
            own = None if values is None else values[offset:offset + field.size].reshape(field.shape)
            yield from field_line(f"{each.table}[{start + offset}]", field.name, value_of(arrays, field, own), field.unit,
                                  field.meaning)


def title(record: Record | Blocks) -> list[str]:
    return hung(f"  {record.table}, ", f"{record.name}: {record.meaning}; written by {record.written}, read by {record.read}")


def block_lines(arrays: Arrays, blocks: Blocks, at: int, *counts: int) -> Iterator[str]:
    yield from title(blocks)
    for block, (start, size) in zip(blocks.blocks, blocks.places(*counts).values(), strict=True):
        text = text_of(arrays.values(blocks.table, at + start, size), size)
        yield from field_line(f"{blocks.table}[{at + start}]", block.name, text, block.unit, block.meaning)


def field_line(place: str, name: str, value: str, unit: str, meaning: str) -> list[str]:
    """One line, or two if the value is long."""
    head = f"    {place:<10} {name:<20} "
    if len(value) <= 20:
        return hung(f"{head}{value:<20} {unit:<14} ", meaning)
    return [*hung(head, value), *hung(" "*(len(head) + 21) + f"{unit:<14} ", meaning)]


def hung(head: str, text: str) -> list[str]:
    """The text with a hanging indent, wrapped."""
    lines = wrap(text, WIDTH - len(head)) or [""]
    return [(head + lines[0]).rstrip(), *(" "*len(head) + line for line in lines[1:])]


def value_of(arrays: Arrays, field: Field, values: NDArray[np.float64] | None) -> str:
    """A number of plan with its meaning."""
    if values is None or field.shape:
        return text_of(values, field.size)
    text = text_of(values)
    if field.codes is not None:
        return f"{text} {field.codes.name(int(values))}"
    if field.to == "hinge":
        return f"{text} '{arrays.hinges[int(values)].label}'"
    if field.to and "." in field.to:
        return "0 none" if field.optional and not values else f"{text} -> {field.to}"
    return text


def text_of(values: NDArray[np.float64] | None, size: int = 0) -> str:
    """The numbers if they are few; else how many."""
    size = size if values is None else values.size
    if values is None or size > SMALL:
        return f"{size} numbers" if size > 1 else ""
    if values.ndim == 2:
        return "; ".join(text_of(row) for row in values)
    return " ".join(f"{value:.6g}" for value in np.atleast_1d(values).tolist())
