"""Nastran bulk data as far as a flexible body needs it: grid points and coordinate systems."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bough.flex.integrals import Array
from bough.flex.nastran_cards import Card, CaseControl, cards_by_name, case_control, field_of, integer, listed, number, wrong


class Frame(NamedTuple):
    """A coordinate system in basic coordinates: kind R, C or S, origin and axes (columns)."""

    kind: str
    origin: Array
    axes: Array

    def place(self, x: Array) -> Array:
        """The basic coordinates of a place in this system; angles are in degrees."""
        local = np.array(x)
        if self.kind in "CS":
            angle = np.radians(x[1])
            local = np.array([x[0] * np.cos(angle), x[0] * np.sin(angle), x[2]])
        if self.kind == "S":
            polar, turn = np.radians(x[1]), np.radians(x[2])
            local = x[0] * np.array([np.sin(polar) * np.cos(turn), np.sin(polar) * np.sin(turn), np.cos(polar)])
        return np.asarray(self.origin + self.axes @ local)

    def directions(self, place: Array) -> Array:
        """The local directions at a place as columns in basic axes: displacements there are along them."""
        if self.kind == "R":
            return self.axes
        x, y, z = self.axes.T @ (place - self.origin)
        turn = np.arctan2(y, x)
        radial, along = np.array([np.cos(turn), np.sin(turn), 0.0]), np.array([-np.sin(turn), np.cos(turn), 0.0])
        if self.kind == "C":
            return np.asarray(self.axes @ np.stack([radial, along, [0.0, 0, 1]], axis=1))
        polar = np.arctan2(np.hypot(x, y), z)
        out = np.sin(polar) * radial + np.array([0, 0, np.cos(polar)])
        down = np.cos(polar) * radial - np.array([0, 0, np.sin(polar)])
        return np.asarray(self.axes @ np.stack([out, down, along], axis=1))


BASIC = Frame("R", np.zeros(3), np.eye(3))


@dataclass
class Bulk:
    """What was found in a file of bulk data."""

    labels: Array  # (N,) grid points, in the order of their numbers
    position: Array  # (N, 3) basic coordinates
    axes: Array  # (N, 3, 3) directions of their displacements, as columns
    cards: dict[str, list[Card]]
    scalars: list[int]  # SPOINT
    frames: dict[int, Frame]
    control: CaseControl
    held: dict[int, str]  # components by grid point that field PS supports

    def rows(self, numbers: Sequence[int], what: str) -> list[int]:
        """The rows of grid points by their numbers."""
        known = {label: i for i, label in enumerate(self.labels.tolist())}
        for each in numbers:
            if each not in known:
                raise wrong(f"{what} names grid point {each}, which is not in the bulk data; give all of it")
        return [known[each] for each in numbers]

    def supports(self) -> Iterator[tuple[int | None, int, str]]:
        """Set (None: field PS of GRID, which always applies), grid point and components of all supports."""
        for card in self.cards.get("SPC", []):
            for i in (2, 5):
                if grid := integer(field_of(card, i), card):
                    yield integer(card[1], card), grid, field_of(card, i + 1)
        for card in self.cards.get("SPC1", []):
            yield from ((integer(card[1], card), grid, card[2]) for grid in listed(card[3:], card, self.labels.tolist()))
        yield from ((None, grid, text) for grid, text in self.held.items())


def read_bulk(path: Path) -> Bulk:
    """The bulk data of a file and of those it includes."""
    cards = cards_by_name(path)
    frames = _frames(cards)
    default = next(iter(cards.get("GRDSET", [])), ["GRDSET"])
    grids: dict[int, tuple[Array, Array, str]] = {}
    for card in cards.get("GRID", []):
        given = [field_of(card, i) or (field_of(default, i) if i in (2, 6, 7) else "") for i in range(8)]
        system, place = frame_named(frames, given[2], card), np.array([number(each) for each in given[3:6]])
        spot, label = system.place(place), integer(given[1], card)
        if label < 1:
            raise wrong(f"a GRID has the number {given[1] or 'blank'}; give whole numbers from 1 on")
        if label in grids and not np.allclose(grids[label][0], spot):
            raise wrong(f"GRID {label} is given twice, at different places; give one of them")
        grids[label] = (spot, frame_named(frames, given[6], card).directions(spot) if given[6] != "-1" else np.eye(3), given[7])
    if not grids:
        raise wrong(f"{path.name} has no GRID; give the file with the bulk data, its fields in columns or between commas")
    labels = np.array(sorted(grids), dtype=int)
    position, axes = (np.array([grids[label][i] for label in labels.tolist()]) for i in (0, 1))
    scalars = sorted({each for card in cards.get("SPOINT", []) for each in listed(card[1:], card)})
    held = {label: fixed for label, (_, _, fixed) in grids.items() if fixed.strip("0")}
    return Bulk(labels, position, axes, cards, scalars, frames, case_control(path), held)


# ---- coordinate systems ----------------------------------------------------------------------------------------------------
class _Triple(NamedTuple):
    """A coordinate system that is still to be placed: three points, each by its coordinates in a system known by then."""

    card: Card
    points: list[tuple[int, Card]]  # system, coordinates


def _frames(cards: Mapping[str, list[Card]]) -> dict[int, Frame]:
    """CORD2R, CORD2C, CORD2S by places, and CORD1R, CORD1C, CORD1S by grid points, in any order of reference."""
    waiting = _by_places(cards) | _by_grids(cards)
    frames = {0: BASIC}
    while waiting:
        ready = [label for label, given in waiting.items() if all(system in frames for system, _ in given.points)]
        if not ready:
            label, given = next(iter(waiting.items()))
            missing = next(system for system, _ in given.points if system not in frames)
            raise wrong(f"coordinate system {label} is given in system {missing}, which is not in the bulk data, or is given in "
                        "turn by this one; give it")
        for label in ready:
            given = waiting.pop(label)
            a, b, c = (frames[system].place(np.array([number(each) for each in place])) for system, place in given.points)
            frames[label] = _frame_of(f"{given.card[0]} {label}", given.card[0][-1], a, b, c)
    return frames


def _by_places(cards: Mapping[str, list[Card]]) -> dict[int, _Triple]:
    found: dict[int, _Triple] = {}
    for card in (each for kind in "RCS" for each in cards.get(f"CORD2{kind}", [])):
        system = integer(field_of(card, 2), card)
        points = [(system, [field_of(card, 3 + 3 * i + j) for j in range(3)]) for i in range(3)]
        label = integer(card[1], card)
        if label in found and found[label].points != points:
            raise wrong(f"coordinate system {label} is given twice, and not alike; give one of them")
        found[label] = _Triple(card, points)
    return found


def _by_grids(cards: Mapping[str, list[Card]]) -> dict[int, _Triple]:
    found = {}
    grids = {card[1]: card for card in cards.get("GRID", [])} if any(f"CORD1{kind}" in cards for kind in "RCS") else {}
    default = field_of(next(iter(cards.get("GRDSET", [])), ["GRDSET"]), 2)
    for card in (each for kind in "RCS" for each in cards.get(f"CORD1{kind}", [])):
        for start in (1, 5):
            if not field_of(card, start):
                continue
            points = []
            for name in (field_of(card, start + i) for i in (1, 2, 3)):
                if name not in grids:
                    raise wrong(f"{card[0]} {card[start]} names grid point {name}, which does not exist")
                grid = grids[name]
                points.append((integer(field_of(grid, 2) or default, grid), [field_of(grid, j) for j in (3, 4, 5)]))
            found[integer(card[start], card)] = _Triple(card, points)
    return found


def _frame_of(name: str, kind: str, a: Array, b: Array, c: Array) -> Frame:
    """Origin a, b on its z axis, c in its x-z plane."""
    along, across = b - a, np.cross(b - a, c - a)
    if not np.linalg.norm(across) > 1e-10 * np.linalg.norm(along) * np.linalg.norm(c - a):
        raise wrong(f"the three points of {name} lie on one line; give points that span its x-z plane")
    z, y = along / np.linalg.norm(along), across / np.linalg.norm(across)
    return Frame(kind, a, np.stack([np.cross(y, z), y, z], axis=1))


def frame_named(frames: Mapping[int, Frame], text: str, card: Card) -> Frame:
    """The coordinate system that a field of an entry names."""
    label = integer(text, card)
    if label not in frames:
        raise wrong(f"{card[0]} {card[1]} is in coordinate system {label}, which is not in the bulk data; give it")
    return frames[label]
