"""The arrays of a model as text: what is where, section by section, with values and meanings."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np

from bough.compile.sections import Place
from bough.errors import ModelError, similar
from bough.kernels.hinges import GAIN_SIZE, MODAL, NODE
from bough.sweeps import fields as f, records as r
from bough.sweeps.schema import Blocks, Field, Floats, Record

if TYPE_CHECKING:
    from bough.compile.tables import Tables

WIDTH = 120
SMALL = 9                           # up to this size, values are shown
TITLES = {"plan": "structure, int64", "pars": "parameters, float64", "tables": "functions of time, float64",
          "ws": "workspace, for one state or four at a time"}


def values_in(tables: Tables, table: str, start: int, size: int) -> Floats | None:
    """Values of a section, of pars the first set; none for ws, which changes in every call."""
    array = {"plan": tables.plan, "pars": tables.pars[0], "tables": tables.tables}.get(table)
    return None if array is None else array[start:start + size]


# ---- all sections ---------------------------------------------------------------------------------------------------
def overview(tables: Tables) -> str:
    lines: list[str] = []
    for table, sections in tables.sections.items():
        end = max(place.end for place in sections.values())
        lines += ["", f"{table}: {end} numbers: {TITLES[table]}"]
        units = max(len(place.section.unit) for place in sections.values())
        for name, place in sections.items():
            values = values_in(tables, table, place.start, place.size)
            shown = "" if values is None or not 0 < values.size <= SMALL else f" = {text_of(values)}"
            head = f"{place.start:>7}  {shape_of(place):>8}  {name:<17}"
            lines += indented(head + f"{place.section.unit:<{units}}  "*bool(units), place.section.meaning + shown)
    lines += ["", "ws behind that, by method: what is where (how many numbers)"]
    for name, (blocks, counts, offset) in tables.methods().items():
        lines += indented(f"  {name}: ", ", ".join(f"{block} at {start + offset} ({size})" for block, (start, size)
                                               in blocks.places(*counts).items()))
    return "\n".join(lines[1:])


def shape_of(place: Place) -> str:
    """Records and their size; or numbers."""
    record = place.section.record
    return str(place.size) if record is None or record.followers else f"{place.count} x {record.size}"


# ---- one section, one record, one body ------------------------------------------------------------------------------
def detail(tables: Tables, name: str, index: int | None) -> str:
    """The records of a section, one of them, or those of a body's joint and modes."""
    names: dict[str, str] = {}                          # sections, also by the names of their records
    for sections in tables.sections.values():
        for section, place in sections.items():
            names |= {section: section} | ({place.section.record.name: section} if place.section.record is not None else {})
    own = [k for k, hinge in enumerate(tables.tree.hinges) if k and hinge.joint == name]
    if own and index is None:
        return "\n".join(line for k in own for line in item_lines(tables, "hinges", k))
    if name not in names:
        bodies = dict.fromkeys(hinge.joint for hinge in tables.tree.hinges[1:])
        raise ModelError(f"the tables have no body and no section '{name}'{similar(name, [*bodies, *names])}; sections are "
                         f"{', '.join(dict.fromkeys(names.values()))}")
    section = names[name]
    places = [sections[section] for sections in tables.sections.values() if section in sections]
    count = max((place.count for place in places if place.section.record is not None), default=1)
    if index is not None and not 0 <= index < count:
        raise ModelError(f"section '{section}' has {count} records; there is no {index}")
    return "\n".join(line for i in ([index] if index is not None else range(count)) for line in item_lines(tables, section, i))


def item_lines(tables: Tables, section: str, i: int) -> Iterator[str]:
    """The i-th of a section, in all arrays."""
    special = {"hinges": hinge_lines, "flexible": flexible_lines, "elements": element_lines}.get(section)
    if special is not None:
        yield from special(tables, i)
        return
    yield f"{section} {i}"
    for table, sections in tables.sections.items():
        if (place := sections.get(section)) is None:
            continue
        record, at = place.section.record, place.start
        if record is None:
            text = text_of(values_in(tables, table, at, place.size), place.size)
            yield from field_line(f"{table}[{at}]", section, text, place.section.unit, place.section.meaning)
        elif i < place.count:
            yield from record_lines(tables, record, start_of(tables, record, at, i))


def start_of(tables: Tables, record: Record, at: int, i: int) -> int:
    """Start of the i-th record from `at` on."""
    if not record.followers:
        return at + i*record.size
    for _ in range(i):
        *_, (last, start) = record.walk(tables.plan, at)
        at = start + last.size
    return at


def hinge_lines(tables: Tables, k: int) -> Iterator[str]:
    """A hinge with its body, and its flexible body if there is one."""
    hinge, row = tables.tree.hinges[k], tables.sections["plan"]["hinges"].start + f.HINGE_ROW*k
    part = "" if not hinge.joint else f", joint of body '{hinge.joint}'" if hinge.kind < MODAL else f", body '{hinge.joint}'"
    yield f"hinge {k}: {r.KINDS.name(hinge.kind) if k else 'the ground'}{part}" + f", node '{hinge.node}'"*bool(hinge.node)
    yield from record_lines(tables, r.HINGE, row)
    yield from record_lines(tables, r.HINGE_PARAMETERS if k else r.GROUND_PARAMETERS, f.HINGE_PARS*k)
    if hinge.kind == NODE:
        n = int(tables.plan[tables.plan[row + f.FLEX] + f.MODES])
        yield from block_lines(tables, r.NODE_PARAMETERS, int(tables.plan[row + f.NODE_PAR]), n)
    record = int(tables.plan[row + f.RECORD])
    yield from record_lines(tables, r.HINGE_RECORD, record)
    yield f"  its gain has {GAIN_SIZE[hinge.kind]} numbers"
    if hinge.kind == NODE:
        yield from record_lines(tables, r.NODE_RECORD, int(tables.plan[row + f.NODE_WS]))
        yield from block_lines(tables, r.NODE_BLOCKS, int(tables.plan[row + f.NODE_WS]) + f.NODE_SHAPES, n)
    if hinge.kind == MODAL:
        first = tables.sections["plan"]["flexible"].start
        yield from flexible_lines(tables, (int(tables.plan[row + f.FLEX]) - first)//r.FLEXIBLE.size)


def flexible_lines(tables: Tables, j: int) -> Iterator[str]:
    at = tables.sections["plan"]["flexible"].start + r.FLEXIBLE.size*j
    row = {name: int(value) for name, value in r.FLEXIBLE.view(tables.plan, at).items()}
    n, p, spins = row["modes"], row["carried"], row["spins"]
    yield f"flexible {j}: body '{tables.tree.hinges[row['hinge']].joint}', {n} modes, {p} carried fields"
    yield from record_lines(tables, r.FLEXIBLE, at)
    form = row["has_pairs"], row["has_turns"], row["diagonal"], spins
    yield from block_lines(tables, r.FLEXIBLE_PARAMETERS, row["mass"], n, p, *form)
    yield from record_lines(tables, r.MODAL_RECORD, row["ws"])
    yield from block_lines(tables, r.MODAL_BLOCKS, row["ws"] + f.MODAL_ROWS, n, p, spins, row["columns"])
    yield from block_lines(tables, r.FLEXIBLE_SCRATCH, row["bent_inertia"], n, p, spins)


def element_lines(tables: Tables, j: int) -> Iterator[str]:
    at = tables.sections["plan"]["elements"].start + f.ELEMENT_ROW*j
    kind = r.ELEMENT_KINDS.name(int(tables.plan[at + f.ELEMENT_KIND]))
    yield f"element {j}: {kind}"
    yield from record_lines(tables, r.ELEMENT, at)
    yield from record_lines(tables, getattr(r, f"{kind}_PARAMETERS"), int(tables.plan[at + f.ELEMENT_PAR]))
    yield from record_lines(tables, r.ELEMENT_RESULT, int(tables.plan[at + f.ELEMENT_WS]))


# ---- lines ----------------------------------------------------------------------------------------------------------
def record_lines(tables: Tables, record: Record, at: int) -> Iterator[str]:
    """The fields of a record, and of those that follow it."""
    for each, start in record.walk(tables.plan, at) if record.table == "plan" else [(record, at)]:
        values = values_in(tables, each.table, start, each.size)
        yield from title(each)
        for offset, field in each.fields_of(values if each.table == "plan" else None):
            own = None if values is None else values[offset:offset + field.size].reshape(field.shape)
            yield from field_line(f"{each.table}[{start + offset}]", field.name, value_of(tables, field, own), field.unit,
                                  field.meaning)


def title(record: Record | Blocks) -> list[str]:
    return indented(f"  {record.table}, ", f"{record.name}: {record.meaning}; written by {record.written}, read by {record.read}")


def block_lines(tables: Tables, blocks: Blocks, at: int, *counts: int) -> Iterator[str]:
    yield from title(blocks)
    for block, (start, size) in zip(blocks.blocks, blocks.places(*counts).values(), strict=True):
        text = text_of(values_in(tables, blocks.table, at + start, size), size)
        yield from field_line(f"{blocks.table}[{at + start}]", block.name, text, block.unit, block.meaning)


def field_line(place: str, name: str, value: str, unit: str, meaning: str) -> list[str]:
    """One line, or two if the value is long."""
    head = f"    {place:<10} {name:<20} "
    if len(value) <= 20:
        return indented(f"{head}{value:<20} {unit:<14} ", meaning)
    return [*indented(head, value), *indented(" "*(len(head) + 21) + f"{unit:<14} ", meaning)]


def indented(head: str, text: str) -> list[str]:
    """The text with a hanging indent, wrapped."""
    lines = wrap(text, WIDTH - len(head)) or [""]
    return [(head + lines[0]).rstrip(), *(" "*len(head) + line for line in lines[1:])]


def value_of(tables: Tables, field: Field, values: Floats | None) -> str:
    """A number of plan with its meaning."""
    if values is None or field.shape:
        return text_of(values, field.size)
    text = text_of(values)
    if field.codes is not None:
        return f"{text} {field.codes.name(int(values))}"
    if field.to == "hinge":
        return f"{text} '{tables.tree.hinges[int(values)].label}'"
    if field.to and "." in field.to:
        return "0 none" if field.optional and not values else f"{text} -> {field.to}"
    return text


def text_of(values: Floats | None, size: int = 0) -> str:
    """The numbers if they are few; else how many."""
    size = size if values is None else values.size
    if values is None or size > SMALL:
        return f"{size} numbers" if size > 1 else ""
    if values.ndim == 2:
        return "; ".join(text_of(row) for row in values)
    return " ".join(f"{value:.6g}" for value in np.atleast_1d(values).tolist())
