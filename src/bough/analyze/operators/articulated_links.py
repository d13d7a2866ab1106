"""Articulated inertias of all links, by the compiled recursion."""
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bough.analyze.operators.packing import Packed, packed, packs, rows_of
from bough.analyze.operators.state_links import Links
from bough.compile.kernel_calls import start
from bough.compile.state_layout import Floats
from bough.sweeps import riccati as f
from bough.sweeps.link_solution import solve_links


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
    """The Riccati recursion of all links [JR 51]; as written, without use of what is zero or one in Phi and H."""
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
    """All of P, from rows [own, carried] of which the upper triangle counts."""
    if not own:
        return rows[:, :carried]
    P = np.hstack([rows[:, :own], rows[:, 4*packs(own):][:, :carried]])
    P[:own, :own] = np.triu(P[:own, :own]) + np.triu(P[:own, :own], 1).T
    P[own:, :own] = P[:own, own:].T
    return P


def lower_factor(rows: Floats) -> Floats:
    """Cholesky's factor, from rows of d L^T with 1/d on the diagonal; not a number where d < 0."""
    if len(rows) == 1:
        return 1.0/np.sqrt(rows)
    root = np.sqrt(rows.diagonal())
    L = np.tril((rows*root[:, None]).T)
    np.fill_diagonal(L, 1.0/root)
    return L
