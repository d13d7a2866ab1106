"""Links as the compiled recursion reads them, see `sweeps.riccati`: each in coordinates in which little is left to do.

With P = T P~ T^T, and H~ = H T, Phi(i, k) T(k) = T(i) Phi~(i, k), the recursion is the same in other coordinates.  Choices of T:

    a massless link with one link on it takes that link's coordinates: T = Phi(k, c) T(c), so that P~ is P_plus of that link
    of a link with H = [I, B; 0, C], its first coordinates not seen by its inner link, T = [I, -B; 0, I]: H~ = [I, 0; 0, C]
"""
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bough.kernels.lanes import aligned
from bough.operators.links import Link
from bough.sweeps import riccati as f


@dataclass
class Seen:
    """A link in its new coordinates."""
    T: np.ndarray                       # (N, u + m)
    S: np.ndarray                       # T^-1, where T is square
    H: np.ndarray                       # (n - u, m): of the speeds that are not coordinates
    speeds: int                         # n
    own: int                            # u
    from_child: bool = False            # they are those of the only link on it

    @property
    def carried(self) -> int:           # m
        return self.T.shape[1] - self.own

    @property
    def carrying(self) -> np.ndarray:   # columns of T
        return self.T[:, self.own:]


def packs(n: int) -> int:
    """Packs of four that hold n numbers."""
    return -(-n//4)


def pairs(n: int) -> int:
    """The same, an even number of them."""
    return -(-n//8)*2


def unseen(link: Link, H: np.ndarray) -> int:
    """How many coordinates come first that are speeds too, and that the inner link does not see."""
    seen = np.flatnonzero(link.Phi.any(axis=0))
    u = int(seen[0]) if len(seen) else link.size
    return u if len(H) >= u and (H[:, :u] == np.eye(len(H), u)).all() else 0


def in_own_coordinates(link: Link, H: np.ndarray, u: int) -> Seen:
    T, S = np.eye(link.size), np.eye(link.size)
    S[:u, u:], T[:u, u:] = H[:u, u:], -H[:u, u:]
    return Seen(T, S, H[u:, u:], len(H), u)


def chosen_coordinates(links: Sequence[Link], maps: Sequence[np.ndarray], as_written: bool) -> list[Seen]:
    """Coordinates of all links; as written, the ones they have."""
    if as_written:
        return [in_own_coordinates(link, H, 0) for link, H in zip(links, maps, strict=True)]
    children: list[list[int]] = [[] for _ in links]
    for k, link in enumerate(links):
        if link.inner >= 0:
            children[link.inner].append(k)
    found: list[Seen] = [None]*len(links)                       # type: ignore[list-item]
    for k in range(len(links) - 1, -1, -1):
        link, H, u = links[k], maps[k], unseen(links[k], maps[k])
        if u == 0 and len(children[k]) == 1 and not link.M.any():
            c = children[k][0]
            T = links[c].Phi @ found[c].carrying
            found[k] = Seen(T, np.zeros(0), H @ T, len(H), 0, True)
        else:
            found[k] = in_own_coordinates(link, H, u)
    return found


class Memory:
    """One array for all blocks, counted in packs of four numbers; it begins with zeros.  A row of a block has an own part and a
    carried one, each padded with zeros: the own part to a pack, the carried one to pairs of packs."""

    def __init__(self, zeros: int):
        self.size, self.given = zeros, list[tuple[int, int, np.ndarray]]()

    def room(self, rows: int, own: int, carried: int) -> int:
        at = self.size
        self.size += rows*(packs(own) + pairs(carried))
        return at

    def put(self, block: np.ndarray, own: int) -> int:
        at = self.room(len(block), own, block.shape[1] - own)
        self.given.append((at, own, block))
        return at

    def array(self) -> np.ndarray:
        ws = aligned(4*self.size)
        for at, own, block in self.given:
            into = rows_of(ws, at, len(block), own, block.shape[1] - own)
            into[:, :own], into[:, 4*packs(own):][:, :block.shape[1] - own] = block[:, :own], block[:, own:]
        return ws


def rows_of(ws: np.ndarray, at: int, rows: int, own: int, carried: int) -> np.ndarray:
    """A block with its padding."""
    wide = 4*(packs(own) + pairs(carried))
    return ws[4*at:4*at + rows*wide].reshape(rows, wide)


@dataclass(frozen=True)
class Packed:
    """The table and the array that the recursion works on; where its vectors are, and room for a row."""
    table: np.ndarray
    ws: np.ndarray
    seen: list[Seen]
    vectors: int
    end: int
    scratch: int


def packed(links: Sequence[Link], maps: Sequence[np.ndarray], *, as_written: bool = False) -> Packed:
    """Links with their H as tables; as written, without use of what is zero or one in them."""
    seen = chosen_coordinates(links, maps, as_written)
    widest = max((max(packs(s.speeds), pairs(s.T.shape[1])) for s in seen), default=0)
    table, memory = np.zeros((len(links), f.TABLE_ROW), np.int64), Memory(widest)
    scratch, plus = memory.room(1, 0, 4*widest), memory.room(4*widest, 0, 4*widest)
    for k, (link, s) in enumerate(zip(links, seen, strict=True)):
        n, u, m = s.speeds, s.own, s.carried
        own_M = 0 if s.from_child else memory.put(s.S @ link.M @ s.S.T, u)
        table[k, [f.INNER_LINK, f.SPEEDS, f.OWN, f.CARRIED, f.BASE]] = link.inner, n, u, m, own_M
        table[k, [f.HINGE, f.ROWS, f.GAINS]] = memory.put(s.H, 0), memory.room(n, n, m), memory.room(n, 0, m)
    place_inertias(table, memory, seen, plus)
    for k, link in enumerate(links):
        if link.inner >= 0:
            place_steps(table[k], memory, seen[link.inner], seen[k], link.Phi, as_written)
    inner = table[:, f.INNER_LINK]
    six = (table[:, f.CARRIED] == 6) & ((inner < 0) | (table[inner, f.CARRIED] == 6))
    table[:, f.FORM] = np.where(six, np.where((table[:, f.SPEEDS] == 1) & (table[:, f.OWN] == 0), f.HINGED, f.RIGID), f.ANY)
    vectors = memory.size
    place_vectors(table, memory)
    return Packed(table, memory.array(), seen, vectors, memory.size, scratch)


def place_inertias(table: np.ndarray, memory: Memory, seen: list[Seen], plus: int) -> None:
    """Where P and P_plus are.  A tip's P is its M; the first that hands inward adds to M, the others to P."""
    own_M, is_tip = table[:, f.BASE].copy(), ~np.isin(np.arange(len(table)), table[:, f.INNER_LINK])
    for row, s, tip, M in zip(table, seen, is_tip, own_M, strict=True):
        row[f.ARTICULATED] = M if tip else memory.room(s.T.shape[1], s.own, s.carried)
    for row in table[::-1]:
        i = row[f.INNER_LINK]
        row[f.DIRECT] = i >= 0 and seen[i].from_child
        row[f.PLUS] = table[i, f.ARTICULATED] if row[f.DIRECT] else plus
        if row[f.SPEEDS] == 0:                                  # P_plus = P
            row[f.PLUS] = row[f.ARTICULATED]
            if row[f.DIRECT]:
                table[i, f.ARTICULATED] = row[f.ARTICULATED]
        row[f.BASE] = own_M[i]
        own_M[i] = table[i, f.ARTICULATED]


def place_steps(row: np.ndarray, memory: Memory, inner: Seen, s: Seen, Phi: np.ndarray, as_written: bool) -> None:
    """B and E + U of Phi~(i, k)."""
    if row[f.DIRECT]:
        row[f.SHARED] = 1
        return
    step = inner.S @ Phi @ s.carrying
    B, U = step[:inner.own], step[inner.own:].copy()
    shared = inner.carried == s.carried and not as_written
    U -= np.eye(*U.shape)*shared
    rows, columns = np.flatnonzero(U.any(axis=1)), np.flatnonzero(U.any(axis=0))
    n_rows, first = (rows[-1] + 1, columns[0]) if len(rows) else (0, s.carried)
    if as_written:
        n_rows, first = len(U), 0
    row[[f.SHAPES, f.SHAPES_T]] = memory.put(B, 0), memory.put(B.T, inner.own)
    row[[f.LEVER_ROWS, f.LEVER_FROM, f.SHARED]] = n_rows, first, shared
    row[[f.LEVER, f.LEVER_T]] = memory.put(U[:n_rows], 0), memory.put(U[:n_rows, first:].T, n_rows)


def place_vectors(table: np.ndarray, memory: Memory) -> None:
    """Where z and alpha of carried coordinates are, own ones before; links that share coordinates share the place."""
    for k in range(len(table) - 1, -1, -1):
        row = table[k]
        if not row[f.VECTOR]:
            row[f.VECTOR] = memory.room(1, row[f.OWN], row[f.CARRIED]) + packs(row[f.OWN])
        if row[f.DIRECT]:
            table[row[f.INNER_LINK], f.VECTOR] = row[f.VECTOR]
    table[:, f.SPEED] = np.cumsum(table[:, f.SPEEDS]) - table[:, f.SPEEDS]
