"""Links as the compiled recursion reads them: a table, and one array of packs; see `sweeps.riccati`."""
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bough.analyze.operators.link_coordinates import ReducedLink, carried_by, chosen_coordinates
from bough.analyze.operators.state_links import Link
from bough.compile.state_layout import Floats
from bough.kernels.lanes import aligned
from bough.sweeps import riccati as f


def packs(n: int) -> int:
    """Packs of four that hold n numbers."""
    return -(-n//4)


def pairs(n: int) -> int:
    """The same, an even number of them."""
    return -(-n//8)*2


class Memory:
    """One array for all blocks, counted in packs of four numbers; it begins with zeros.  A row of a block has an own part and a
    carried one, each padded with zeros: the own part to a pack, the carried one to pairs of packs."""

    def __init__(self, zeros: int):
        self.size, self.given = zeros, list[tuple[int, int, Floats]]()

    def room(self, rows: int, own: int, carried: int) -> int:
        at = self.size
        self.size += rows*(packs(own) + pairs(carried))
        return at

    def put(self, block: Floats, own: int) -> int:
        at = self.room(len(block), own, block.shape[1] - own)
        self.given.append((at, own, block))
        return at

    def array(self) -> Floats:
        ws = aligned(4*self.size)
        for at, own, block in self.given:
            n, into = block.shape[1] - own, rows_of(ws, at, len(block), own, block.shape[1] - own)
            if own:
                into[:, :own] = block[:, :own]
            if n:
                into[:, 4*packs(own):4*packs(own) + n] = block[:, own:]
        return ws


def rows_of(ws: Floats, at: int, rows: int, own: int, carried: int) -> Floats:
    """A block with its padding."""
    wide = 4*(packs(own) + pairs(carried))
    return ws[4*at:4*at + rows*wide].reshape(rows, wide)


@dataclass(frozen=True)
class Packed:
    """The table and the array that the recursion works on; where its vectors are, and room for a row."""
    table: NDArray[np.int64]
    ws: Floats
    reduced: list[ReducedLink]
    vectors: int
    end: int
    scratch: int


def packed(links: Sequence[Link], maps: Sequence[Floats], *, as_written: bool = False) -> Packed:
    """Links with their H as tables; as written, without use of what is zero or one in them."""
    reduced = chosen_coordinates(links, maps, as_written)
    widest = max((max(packs(s.speeds), pairs(s.size)) for s in reduced), default=0)
    memory, rows = Memory(widest), list[list[int]]()
    scratch, plus = memory.room(1, 0, 4*widest), memory.room(4*widest, 0, 4*widest)
    for link, s in zip(links, reduced, strict=True):
        row = [0]*f.TABLE_ROW
        row[f.INNER_LINK], row[f.SPEEDS], row[f.OWN], row[f.CARRIED] = link.inner, s.speeds, s.own, s.carried
        row[f.HINGE], row[f.ROWS] = memory.put(s.H, 0), memory.room(s.speeds, s.speeds, s.carried)
        row[f.GAINS] = memory.room(s.speeds, 0, s.carried)
        rows.append(row)
    place_inertias(rows, memory, reduced, plus)
    for row, s, link in zip(rows, reduced, links, strict=True):
        if row[f.DIRECT]:
            row[f.SHARED] = 1
        elif link.inner >= 0:
            place_step(row, memory, reduced[link.inner], s, carried_by(link.Phi, s), as_written)
    vectors = memory.size
    place_vectors(rows, memory)
    return Packed(np.array(rows, np.int64).reshape(-1, f.TABLE_ROW), memory.array(), reduced, vectors, memory.size, scratch)


def form(rows: list[list[int]], row: list[int]) -> int:
    """What the compiler knows of the sizes of a link."""
    inner = row[f.INNER_LINK]
    if row[f.CARRIED] != 6 or (inner >= 0 and rows[inner][f.CARRIED] != 6):
        return f.ANY
    return f.HINGED if row[f.SPEEDS] == 1 and row[f.OWN] == 0 else f.RIGID


def place_inertias(rows: list[list[int]], memory: Memory, reduced: list[ReducedLink], plus: int) -> None:
    """Where P and P_plus are.  A tip's P is its M; the first that hands inward adds to M, the others to P."""
    base, carrying = [memory.put(s.M, s.own) if s.M is not None else 0 for s in reduced], {row[f.INNER_LINK] for row in rows}
    for k, (row, s) in enumerate(zip(rows, reduced, strict=True)):
        row[f.ARTICULATED] = memory.room(s.size, s.own, s.carried) if k in carrying else base[k]
    for row in reversed(rows):
        i, row[f.FORM] = row[f.INNER_LINK], form(rows, row)
        row[f.DIRECT] = int(i >= 0 and reduced[i].M is None)
        row[f.PLUS] = rows[i][f.ARTICULATED] if row[f.DIRECT] else plus
        if row[f.SPEEDS] == 0:                                  # P_plus = P
            row[f.PLUS] = row[f.ARTICULATED]
            if row[f.DIRECT]:
                rows[i][f.ARTICULATED] = row[f.ARTICULATED]
        if i >= 0:
            row[f.BASE], base[i] = base[i], rows[i][f.ARTICULATED]


def place_step(row: list[int], memory: Memory, inner: ReducedLink, s: ReducedLink, Phi: Floats, as_written: bool) -> None:
    """B and E + U of Phi~(i, k), given Phi T."""
    step = Phi if inner.S is None else inner.S @ Phi
    U = step[inner.own:]
    row[f.SHARED] = int(inner.carried == s.carried and not as_written)
    if row[f.SHARED]:
        U = U - np.eye(s.carried)
    at, columns = np.nonzero(U) if not as_written else np.indices(U.shape)
    n_rows, first = (int(at.max()) + 1, int(columns.min())) if at.size else (0, s.carried)
    row[f.LEVER_ROWS], row[f.LEVER_FROM] = n_rows, first
    row[f.LEVER], row[f.LEVER_T] = memory.put(U[:n_rows], 0), memory.put(U[:n_rows, first:].T, n_rows)
    if inner.own:
        row[f.SHAPES], row[f.SHAPES_T] = memory.put(step[:inner.own], 0), memory.put(step[:inner.own].T, inner.own)


def place_vectors(rows: list[list[int]], memory: Memory) -> None:
    """Where z and alpha of carried coordinates are, own ones before; links that share coordinates share the place."""
    speed = sum(row[f.SPEEDS] for row in rows)
    for row in reversed(rows):
        if not row[f.VECTOR]:
            row[f.VECTOR] = memory.room(1, row[f.OWN], row[f.CARRIED]) + packs(row[f.OWN])
        if row[f.DIRECT]:
            rows[row[f.INNER_LINK]][f.VECTOR] = row[f.VECTOR]
        speed -= row[f.SPEEDS]
        row[f.SPEED] = speed
