"""Articulated inertias of all links by the compiled recursion, in coordinates of the links that simplify it.

With P = T P~ T^T, and H~ = H T, Phi(i, k) T(k) = T(i) Phi~(i, k), the recursion is the same in other coordinates.  Choices of T:

    a massless link with one link on it takes that link's coordinates: T = Phi(k, c) T(c), so that P~ is P_plus of that link
    of a link with H = [I, B; 0, C], whose first coordinates do not act on its inner link, T = [I, -B; 0, I]: H~ = [I, 0; 0, C]

The recursion reads the links as a table and one array of packs; see `sweeps.riccati`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bough.analyze.operators.state_links import Link, Links
from bough.compile.kernel_calls import start
from bough.compile.layout import Floats
from bough.kernels.lanes import aligned
from bough.sweeps import riccati as f
from bough.sweeps.riccati import solve_links


@dataclass(slots=True)
class ReducedLink:
    """A link in its new coordinates."""
    size: int                           # u + m
    own: int                            # u
    speeds: int                         # n
    H: Floats                       # (n - u, m): of the speeds that are not coordinates
    M: Floats | None                # S M S^T; None: the coordinates are those of the only link on it
    T: Floats | None = None         # (N, u + m); None: the identity
    S: Floats | None = None         # T^-1, likewise

    @property
    def carried(self) -> int:           # m
        return self.size - self.own


def own_count(link: Link, H: Floats) -> int:
    """The number of leading coordinates that are also speeds and do not act on the inner link."""
    if link.Phi[:, 0].any():
        return 0
    transmitted = np.flatnonzero(link.Phi.any(axis=0))
    u = int(transmitted[0]) if len(transmitted) else link.size
    return u if len(H) >= u and (H[:, :u] == np.eye(len(H), u)).all() else 0


def in_own_coordinates(link: Link, H: Floats, u: int) -> ReducedLink:
    if not H[:u, u:].any():
        return ReducedLink(link.size, u, len(H), H[u:, u:], link.M)
    T, S = np.eye(link.size), np.eye(link.size)
    S[:u, u:], T[:u, u:] = H[:u, u:], -H[:u, u:]
    return ReducedLink(link.size, u, len(H), H[u:, u:], S @ link.M @ S.T, T, S)


def carried_by(Phi: Floats, outer: ReducedLink) -> Floats:
    """Phi T of a link, for its carried coordinates."""
    return (Phi if outer.T is None else Phi @ outer.T)[:, outer.own:]


def chosen_coordinates(links: Sequence[Link], maps: Sequence[Floats], as_written: bool) -> list[ReducedLink]:
    """Coordinates of all links; `as_written`: the original ones."""
    if as_written:
        return [in_own_coordinates(link, H, 0) for link, H in zip(links, maps, strict=True)]
    children: list[list[int]] = [[] for _ in links]
    for k, link in enumerate(links):
        if link.inner >= 0:
            children[link.inner].append(k)
    found: list[ReducedLink] = [None]*len(links)                       # type: ignore[list-item]
    for k in range(len(links) - 1, -1, -1):
        link, H, u = links[k], maps[k], own_count(links[k], maps[k])
        if u == 0 and len(children[k]) == 1 and not link.M.any():
            T = carried_by(links[children[k][0]].Phi, found[children[k][0]])
            found[k] = ReducedLink(T.shape[1], 0, len(H), H @ T, None, T)
        else:
            found[k] = in_own_coordinates(link, H, u)
    return found


# ---- packing ---------------------------------------------------------------------------------------------------------------
def packs(n: int) -> int:
    """Packs of four that hold n numbers."""
    return -(-n//4)


def pairs(n: int) -> int:
    """The same, an even number of them."""
    return -(-n//8)*2


class Memory:
    """One array for all blocks, counted in packs of four numbers and starting with zeros. A row of a block has an own and a carried
    part, padded with zeros to a pack and to pairs of packs, respectively."""

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


class Packed(NamedTuple):
    """The table and the array for the recursion; the places of its vectors, and of a scratch row."""
    table: NDArray[np.int64]
    ws: Floats
    reduced: list[ReducedLink]
    vectors: int
    end: int
    scratch: int


def packed(links: Sequence[Link], maps: Sequence[Floats], *, as_written: bool = False) -> Packed:
    """Links with their H as tables; `as_written`: without exploiting zeros and ones."""
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
    """The size class of a link, for which the recursion is specialized."""
    inner = row[f.INNER_LINK]
    if row[f.CARRIED] != 6 or (inner >= 0 and rows[inner][f.CARRIED] != 6):
        return f.ANY
    return f.HINGED if row[f.SPEEDS] == 1 and row[f.OWN] == 0 else f.RIGID


def place_inertias(rows: list[list[int]], memory: Memory, reduced: list[ReducedLink], plus: int) -> None:
    """Places of P and P_plus.  P of a tip is its M; the first outer link adds to M, the others to P."""
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
    """Places of z and alpha of carried coordinates, after the own ones; links that share coordinates share them."""
    speed = sum(row[f.SPEEDS] for row in rows)
    for row in reversed(rows):
        if not row[f.VECTOR]:
            row[f.VECTOR] = memory.room(1, row[f.OWN], row[f.CARRIED]) + packs(row[f.OWN])
        if row[f.DIRECT]:
            rows[row[f.INNER_LINK]][f.VECTOR] = row[f.VECTOR]
        speed -= row[f.SPEEDS]
        row[f.SPEED] = speed


# ---- articulated links -----------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Articulated:
    """P, D, G of all links, and the factored system that solves with the mass matrix.  Speeds are in the order of the links."""
    P: list[Floats]
    L: list[Floats]                 # Cholesky's factors of D
    maps: Sequence[Floats]          # H
    packed: Packed

    @cached_property
    def D(self) -> list[Floats]:
        return [L @ L.T for L in self.L]

    @cached_property
    def D_inverse(self) -> list[Floats]:
        return [1.0/D if len(D) == 1 else np.asarray(np.linalg.inv(D), np.float64) for D in self.D]

    @cached_property
    def G(self) -> list[Floats]:
        """P H^T D^-1."""
        return [(P @ H.T)/D if len(D) == 1 else np.asarray(np.linalg.solve(D, H @ P).T, np.float64)
                for D, H, P in zip(self.D, self.maps, self.P, strict=True)]

    def solve(self, tau: Floats) -> Floats:
        """M^-1 tau of one vector, both in the order of the links."""
        vdot, p = np.empty(len(tau)), self.packed
        start(solve_links, p.table, np.ascontiguousarray(tau, float), vdot, p.vectors, p.end, p.ws)
        return vdot


def articulate(links: Links, maps: Sequence[Floats], *, as_written: bool = False) -> Articulated:
    """The Riccati recursion of all links [JR 51]; `as_written`: without exploiting zeros and ones in Phi and H."""
    done = packed(links.links, maps, as_written=as_written)
    start(f.riccati, done.table, done.scratch, done.ws)
    P, L = list[Floats](), list[Floats]()
    with np.errstate(invalid="ignore"):                         # roots of inertias that are not positive
        for row, reduced in zip(done.table.tolist(), done.reduced, strict=True):
            n, u, m = row[f.SPEEDS], row[f.OWN], row[f.CARRIED]
            inertia = symmetric(rows_of(done.ws, row[f.ARTICULATED], u + m, u, m), u, m)
            P.append(inertia if reduced.T is None else reduced.T @ inertia @ reduced.T.T)
            L.append(lower_factor(rows_of(done.ws, row[f.ROWS], n, n, m)[:, :n]))
    return Articulated(P, L, maps, done)


def symmetric(rows: Floats, own: int, carried: int) -> Floats:
    """P from rows [own, carried], of which the upper triangle is valid."""
    if not own:
        return rows[:, :carried]
    P = np.hstack([rows[:, :own], rows[:, 4*packs(own):][:, :carried]])
    P[:own, :own] = np.triu(P[:own, :own]) + np.triu(P[:own, :own], 1).T
    P[own:, :own] = P[:own, own:].T
    return P


def lower_factor(rows: Floats) -> Floats:
    """Cholesky factor from rows of d L^T with 1/d on the diagonal; NaN if d < 0."""
    if len(rows) == 1:
        return 1.0/np.sqrt(rows)
    root = np.sqrt(rows.diagonal())
    L = np.tril((rows*root[:, None]).T)
    np.fill_diagonal(L, 1.0/root)
    return L
