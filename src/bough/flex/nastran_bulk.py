"""Nastran bulk data as far as a flexible body needs it: grid points, coordinate systems, rigid elements, DMIG matrices."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bough.errors import DescriptionError
from bough.flex.integrals import Array
from bough.flex.links import Link, dofs_at, mean_link, rigid_link

SOURCE = "read_nastran"
Card = list[str]  # the fields of an entry, its name first


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
    scalars: list[int] = field(default_factory=list)  # SPOINT

    def rows(self, numbers: Sequence[int], what: str) -> list[int]:
        """The rows of grid points by their numbers."""
        known = {label: i for i, label in enumerate(self.labels.tolist())}
        for number in numbers:
            if number not in known:
                raise DescriptionError(f"{SOURCE}: {what} names grid point {number}, which is not in the bulk data; give all of it")
        return [known[number] for number in numbers]


def read_bulk(path: Path) -> Bulk:
    """The bulk data of a file and of those it includes."""
    cards: dict[str, list[Card]] = {}
    for card in read_cards(path):
        cards.setdefault(card[0], []).append(card)
    frames = _frames(cards)
    default = next((card for card in cards.get("GRDSET", [])), ["GRDSET"])
    grids = {}
    for card in cards.get("GRID", []):
        given = [_field(card, i) or (_field(default, i) if i in (2, 6) else "") for i in range(8)]
        system, place = _frame(frames, given[2], card), np.array([number(each) for each in given[3:6]])
        spot = system.place(place)
        grids[int(given[1])] = (spot, _frame(frames, given[6], card).directions(spot) if given[6] != "-1" else np.eye(3))
    if not grids:
        raise DescriptionError(f"{SOURCE}: {path.name} holds no GRID; give the file with the bulk data")
    labels = np.array(sorted(grids), dtype=int)
    position, axes = (np.array([grids[label][i] for label in labels.tolist()]) for i in (0, 1))
    scalars = [each for card in cards.get("SPOINT", []) for each in _listed(card[1:])]
    return Bulk(labels, position, axes, cards, scalars)


# ---- text ------------------------------------------------------------------------------------------------------------------
def read_cards(path: Path) -> Iterator[Card]:
    """The entries of the bulk data, small, large or free field, continuations joined."""
    current: Card | None = None
    for line in _bulk_lines(path):
        first, fields = _split(line)
        if first and first[0].isalpha():
            if current is not None:
                yield current
            current = [first.rstrip("*").upper(), *fields]
        elif current is not None:
            current += fields
    if current is not None:
        yield current


def _bulk_lines(path: Path, *, inside: bool = False) -> Iterator[str]:
    if not path.exists():
        raise DescriptionError(f"{SOURCE}: the file {str(path)!r} does not exist; give the path of the bulk data")
    text = path.read_text(encoding="latin-1").splitlines()
    begin = next((i for i, line in enumerate(text) if line.strip().upper().startswith("BEGIN")), None)
    for line in text if begin is None or inside else text[begin + 1 :]:
        line = line.split("$", 1)[0].rstrip()
        if not line:
            continue
        if line.strip().upper().startswith("INCLUDE"):
            name = line.strip()[7:].strip().strip("'\"")
            yield from _bulk_lines(path.parent / name.replace("\\", "/"), inside=True)
        elif line.strip().upper().startswith("ENDDATA"):
            return
        else:
            yield line


def _split(line: str) -> tuple[str, Card]:
    """The first field, and eight (four, of 16 characters) more."""
    if "," in line:
        parts = [part.strip() for part in line.split(",")]
        count = 4 if "*" in parts[0] else 8
        return parts[0], (parts[1 : count + 1] + [""] * count)[:count]
    line = line.expandtabs(8)
    first = line[:8].strip()
    width, count = (16, 4) if "*" in first else (8, 8)
    return first, [line[8 + width * i : 8 + width * (i + 1)].strip() for i in range(count)]


def number(text: str) -> float:
    """A number of bulk data: 1.5-3 is 1.5e-3.

    >>> number("2.5900-3"), number("1.D+2"), number("")
    (0.00259, 100.0, 0.0)
    """
    if not text:
        return 0.0
    try:
        return float(re.sub(r"(?<=[\d.])([+-]\d+)$", r"E\1", text.upper().replace("D", "E")))
    except ValueError:
        raise DescriptionError(
            f"{SOURCE}: {text!r} is no number of bulk data; look whether its fields are in their columns"
        ) from None


def _field(card: Card, i: int) -> str:
    return card[i] if i < len(card) else ""


def _listed(fields: Sequence[str]) -> list[int]:
    """Numbers, with 1 THRU 9."""
    given = [each for each in fields if each]
    if len(given) >= 3 and given[1].upper() == "THRU":
        return list(range(int(given[0]), int(given[2]) + 1))
    return [int(each) for each in given]


# ---- coordinate systems ----------------------------------------------------------------------------------------------------
def _frames(cards: Mapping[str, list[Card]]) -> dict[int, Frame]:
    """CORD2R, CORD2C, CORD2S, and CORD1R, CORD1C, CORD1S by grid points."""
    waiting = {int(card[1]): card for kind in "RCS" for card in cards.get(f"CORD2{kind}", [])}
    frames = {0: BASIC}
    while waiting:
        ready = [label for label, card in waiting.items() if int(_field(card, 2) or 0) in frames]
        if not ready:
            label, card = next(iter(waiting.items()))
            raise DescriptionError(
                f"{SOURCE}: coordinate system {label} is given in system {card[2]}, which is not in the bulk data"
            )
        for label in ready:
            card = waiting.pop(label)
            inner = frames[int(_field(card, 2) or 0)]
            a, b, c = (inner.place(np.array([number(_field(card, 3 + 3 * i + j)) for j in range(3)])) for i in range(3))
            frames[label] = _frame_of(card[0][-1], a, b, c)
    grids = {int(card[1]): card for card in cards.get("GRID", [])}
    for kind in "RCS":
        for card in cards.get(f"CORD1{kind}", []):
            for start in (1, 5):
                if not _field(card, start):
                    continue
                points = []
                for i in range(1, 4):
                    grid = grids[int(card[start + i])]
                    place = np.array([number(_field(grid, j)) for j in (3, 4, 5)])
                    points.append(_frame(frames, _field(grid, 2), grid).place(place))
                frames[int(card[start])] = _frame_of(kind, *points)
    return frames


def _frame_of(kind: str, a: Array, b: Array, c: Array) -> Frame:
    """Origin a, b on its z axis, c in its x-z plane."""
    z = (b - a) / np.linalg.norm(b - a)
    y = np.cross(z, c - a)
    y = y / np.linalg.norm(y)
    return Frame(kind, a, np.stack([np.cross(y, z), y, z], axis=1))


def _frame(frames: Mapping[int, Frame], text: str, card: Card) -> Frame:
    label = int(text or 0)
    if label not in frames:
        raise DescriptionError(
            f"{SOURCE}: {card[0]} {card[1]} is in coordinate system {label}, which is not in the bulk data; give it"
        )
    return frames[label]


# ---- rigid elements --------------------------------------------------------------------------------------------------------
def links_of(bulk: Bulk) -> tuple[Link, ...]:
    """RBE2, RBE3 and RBAR as links in basic axes; MPC entries are refused by name."""
    found = [_rbe2(bulk, card) for card in bulk.cards.get("RBE2", [])]
    found += [_rbar(bulk, card) for card in bulk.cards.get("RBAR", [])]
    found += [_rbe3(bulk, card) for card in bulk.cards.get("RBE3", [])]
    for kind in ("MPC", "RBE1", "RROD", "RSPLINE", "RTRPLT"):
        if bulk.cards.get(kind):
            raise DescriptionError(
                f"{SOURCE}: the bulk data hold {kind} {bulk.cards[kind][0][1]}, which is not eliminated here; export "
                "matrices of the "
                "analysis set (EXTSEOUT, or DMAP of KAA and MAA), or model it with RBE2 or RBE3"
            )
    return tuple(found)


def _components(text: str, name: str, bulk: Bulk, rows: Sequence[int]) -> tuple[int, ...]:
    parts = tuple(sorted(int(each) - 1 for each in text.strip()))
    whole = set(parts) in ({0, 1, 2, 3, 4, 5}, {0, 1, 2})
    if not whole and not np.allclose(bulk.axes[list(rows)], np.eye(3)):
        raise DescriptionError(
            f"{SOURCE}: {name} ties components {text} of grid points with coordinate systems of their own; tie all"
        )
    return parts


def _rbe2(bulk: Bulk, card: Card) -> Link:
    name = f"RBE2 {card[1]}"
    fields = [each for each in card[4:] if each]
    if fields and not fields[-1].lstrip("-").isdigit():
        fields = fields[:-1]  # the coefficient of thermal expansion
    nodes = bulk.rows(_listed(fields), name)
    [center] = bulk.rows([int(card[2])], name)
    return rigid_link(name, center, nodes, bulk.position, _components(card[3], name, bulk, nodes))


def _rbar(bulk: Bulk, card: Card) -> Link:
    name = f"RBAR {card[1]}"
    a, b = bulk.rows([int(card[2]), int(card[3])], name)
    if _field(card, 4) == "123456":
        return rigid_link(name, a, [b], bulk.position, _components(_field(card, 6) or "123456", name, bulk, [b]))
    if _field(card, 5) == "123456":
        return rigid_link(name, b, [a], bulk.position, _components(_field(card, 6) or "123456", name, bulk, [a]))
    raise DescriptionError(f"{SOURCE}: {name} has independent dofs at both ends; let one end have all six, or use RBE2")


def _rbe3(bulk: Bulk, card: Card) -> Link:
    name = f"RBE3 {card[1]}"
    [center] = bulk.rows([int(card[3])], name)
    weights, nodes, weight = [], [], 1.0
    fields = card[5:]
    i = 0
    while i < len(fields):
        text = fields[i]
        if text.upper() in ("UM", "ALPHA"):
            break
        if "." in text:  # a weight, its components, then grid points
            weight, parts = number(text), _field(fields, i + 1)
            if set(parts) - set("123") and set(parts) - set("123456"):
                raise DescriptionError(f"{SOURCE}: {name} averages components {parts}; give 123")
            if not set("123") <= set(parts):
                raise DescriptionError(f"{SOURCE}: {name} averages components {parts} alone; give 123")
            i += 2
            continue
        if text:
            weights.append(weight)
            nodes.append(int(text))
        i += 1
    rows = bulk.rows(nodes, name)
    return mean_link(name, center, rows, bulk.position, np.array(weights), _components(card[4], name, bulk, [center]))


def supported(bulk: Bulk) -> list[int]:
    """Numbers of the grid points that SPC and SPC1 entries hold."""
    found = {int(card[i]) for card in bulk.cards.get("SPC", []) for i in (2, 5) if _field(card, i)}
    for card in bulk.cards.get("SPC1", []):
        found |= set(_listed(card[3:]))
    return sorted(found)


# ---- matrices --------------------------------------------------------------------------------------------------------------
class Dmig(NamedTuple):
    """A matrix by grid points and components (0: a scalar point): rows[i] = (grid, component)."""

    rows: list[tuple[int, int]]
    matrix: Any  # sparse


def read_dmig(cards: Mapping[str, list[Card]]) -> dict[str, Dmig]:
    """The square matrices of all DMIG entries by name."""
    from scipy.sparse import csr_array

    heads = {card[1]: card for card in cards.get("DMIG", []) if card[2] == "0"}
    entries: dict[str, list[tuple[tuple[int, int], tuple[int, int], float]]] = {name: [] for name in heads}
    for card in cards.get("DMIG", []):
        if card[2] == "0" or card[1] not in heads:
            continue
        column = (int(card[2]), int(card[3] or 0))
        for i in range(5, len(card), 4):
            if _field(card, i):
                entries[card[1]].append(((int(card[i]), int(_field(card, i + 1) or 0)), column, number(_field(card, i + 2))))
    found = {}
    for name, head in heads.items():
        if _field(head, 3) not in ("1", "6") or not entries[name]:
            continue
        rows = sorted({each for row, column, _ in entries[name] for each in (row, column)})
        at = {each: i for i, each in enumerate(rows)}
        data = [(at[row], at[column], value) for row, column, value in entries[name]]
        if _field(head, 3) == "6":
            data += [(j, i, value) for i, j, value in data if i != j]
        table = np.array(data)
        matrix = csr_array((table[:, 2], tuple(table[:, :2].T.astype(int))), shape=(len(rows), len(rows)))
        found[name] = Dmig(rows, matrix)
    return found


def grid_dofs(bulk: Bulk) -> Array:
    """The g-set: (grid point or scalar point, component 0 ... 5), in the order of numbers."""
    rows = [(label, i) for label in bulk.labels.tolist() for i in range(6)] + [(label, -1) for label in bulk.scalars]
    return np.array(sorted(rows), dtype=int)


def in_basic(matrix: Any, bulk: Bulk) -> Any:
    """A matrix with six dofs for each grid point, turned from their own directions into basic axes."""
    from scipy.sparse import block_diag

    turn = block_diag([each for axes in bulk.axes for each in (axes, axes)], format="csr")
    return (turn @ matrix @ turn.T).tocsr()


__all__ = [
    "SOURCE",
    "Bulk",
    "Dmig",
    "dofs_at",
    "grid_dofs",
    "in_basic",
    "links_of",
    "number",
    "read_bulk",
    "read_dmig",
    "supported",
]
