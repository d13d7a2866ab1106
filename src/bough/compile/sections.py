"""Sections of an array, one behind the other, as `sweeps.records` declares them, and the arrays made of them."""
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bough.sweeps.records import SECTIONS
from bough.sweeps.schema import Section, columns, padded


@dataclass(frozen=True)
class Place:
    """Where a section is, and how many records it has."""
    section: Section
    start: int
    size: int
    count: int

    @property
    def end(self) -> int:
        return self.start + self.size


class Sections:
    """Places of the sections of plan, pars, tables or ws; each is added behind the one before."""

    def __init__(self, table: str):
        self.declared = [section for section in SECTIONS if section.table == table]
        self.places: dict[str, Place] = {}
        self.end = 0

    def next_start(self, name: str) -> int:
        """Where a section would start if it came next."""
        section = self.declared[len(self.places)]
        if section.name != name:
            raise ValueError(f"{section.table}: section '{section.name}' comes next, not '{name}'")
        return padded(self.end) if section.aligned else self.end

    def add(self, name: str, size: int, count: int = 1) -> int:
        """Take so many numbers for a section; where it starts."""
        start = self.next_start(name)
        self.places[name] = Place(self.declared[len(self.places)], start, size, count)
        self.end = start + size
        return start

    def header_entries(self) -> dict[str, int]:
        """What the header of plan says of these sections, by keyword."""
        starts = {place.section.start.lower(): place.start for place in self.places.values() if place.section.start}
        counts = {place.section.count.lower(): place.count for place in self.places.values() if place.section.count}
        return starts | counts


class Contents(Sections):
    """Sections with what is in them: records of plan, of pars (batch, n), or numbers of tables."""

    def __init__(self, table: str):
        super().__init__(table)
        self.rows: dict[str, Sequence[ArrayLike]] = {}

    def put(self, name: str, rows: Sequence[ArrayLike]) -> int:
        """Add a section of these records; where it starts."""
        self.rows[name] = rows
        return self.add(name, sum(np.shape(row)[-1] for row in rows), len(rows))

    def reserve(self, name: str, count: int) -> int:
        """Add a section of so many records, to be filled later."""
        record = self.declared[len(self.places)].record
        assert record is not None
        return self.add(name, record.size*count, count)

    def fill(self, name: str, rows: Sequence[ArrayLike]) -> None:
        """The records of a reserved section."""
        assert sum(np.shape(row)[-1] for row in rows) == self.places[name].size
        self.rows[name] = rows

    def pieces(self) -> list[ArrayLike]:
        """All records in order, and zeros where sections are aligned."""
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
