"""Articulated inertias of all links, by the compiled recursion."""
from dataclasses import dataclass

import numpy as np

from bough.model.run import call
from bough.operators.links import Links
from bough.sweeps import riccati as f


@dataclass(frozen=True)
class Articulated:
    """P, D, G of all links, and the factored system that solves with the mass matrix.  Speeds are in the order of the links."""
    P: list[np.ndarray]
    D: list[np.ndarray]
    G: list[np.ndarray]
    L: list[np.ndarray]                 # Cholesky's factors of D
    table: np.ndarray
    blocks: np.ndarray
    found: np.ndarray

    def solve(self, tau: np.ndarray) -> np.ndarray:
        """M^-1 tau of one vector, both in the order of the links."""
        vdot, vectors = np.empty(len(tau)), np.empty(int(self.table[:, f.SIZE].sum()))
        call(f.solve_links, self.table, self.blocks, self.found, np.ascontiguousarray(tau, float), vdot, vectors)
        return vdot


def packed(links: Links, maps: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray, int]:
    """The links as the recursion reads them, and how many numbers it finds; `maps` are their H."""
    table, blocks = np.zeros((len(links.links), f.TABLE_ROW), np.int64), [np.zeros(0)]
    at = found = vector = speed = 0
    for k, (link, H) in enumerate(zip(links.links, maps, strict=True)):
        N, n, Phi = link.size, len(H), link.Phi
        first = int(np.flatnonzero(Phi.any(axis=0))[0])
        same = link.inner >= 0 and N - first == len(Phi) and (Phi[:, first:] == np.eye(len(Phi))).all()
        table[k] = [link.inner, N, n, first, same, at, at + Phi.size, at + Phi.size + H.size,
                    found, found + N*N, found + N*N + n*N, found + N*N + 2*n*N, vector, speed]
        blocks += [Phi.ravel(), H.ravel(), link.M.ravel()]
        at, found = at + Phi.size + H.size + N*N, found + N*N + 2*n*N + n*n
        vector, speed = vector + N, speed + n
    return table, np.concatenate(blocks), found


def articulate(links: Links, maps: list[np.ndarray]) -> Articulated:
    """The Riccati recursion of all links [JR 51]."""
    table, blocks, size = packed(links, maps)
    found = np.empty(size)
    widest = int(table[:, f.SIZE].max(initial=0))
    call(f.riccati, table, blocks, found, np.empty(widest*(widest + 1)))
    parts: dict[int, list[np.ndarray]] = {key: [] for key in (f.ARTICULATED, f.GAINS, f.FACTOR)}
    for row in table:
        N, n = row[f.SIZE], row[f.SPEEDS]
        for key, shape in ((f.ARTICULATED, (N, N)), (f.GAINS, (n, N)), (f.FACTOR, (n, n))):
            parts[key].append(found[row[key]:row[key] + shape[0]*shape[1]].reshape(shape))
    L = [np.tril(factor) for factor in parts[f.FACTOR]]
    D, G = [factor @ factor.T for factor in L], [gains.T for gains in parts[f.GAINS]]
    return Articulated(parts[f.ARTICULATED], D, G, L, table, blocks, found)
