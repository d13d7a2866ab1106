"""Cholesky factors of large symmetric matrices, front by front on a tree of nested dissection. [B 75]

A body is cut in two by a set of vertices that separates them, each half again, and so on. Vertices are places: the dofs at one
place go together. Leaves come first, separators after what they separate. The piece p of the tree has the front

    [F_pp  .  ]   its entries of A, plus what its children left;     F_pp = L L^T,   B = F_bp L^-T,   U = F_bb - B B^T
    [F_bp F_bb]

where b are the dofs of later pieces that it touches. L and B are kept, U goes to the parent. All are dense: the work is BLAS's.
"""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from bough.flex.integrals import Array

_LEAF = 30  # places that are not dissected any further
_HUB = 20  # times the mean number of neighbors: what leads so many others is cut out first


class Indefinite(Exception):
    """A matrix that should be positive has a pivot that is not, at this dof."""

    def __init__(self, dof: int) -> None:
        super().__init__(dof)
        self.dof = dof


class Front(NamedTuple):
    """The factors of one piece: its dofs from `start` on, in the order of elimination, and those of later pieces it touches."""

    start: int
    boundary: Array
    diagonal: Array  # L (k, k), lower
    below: Array  # B (boundary, k)


class SymmetricFactor:
    """The Cholesky factors of a positive symmetric matrix; raises Indefinite if it is not positive.

    `places` (dofs, 3), where each dof is, guide the dissection; without them, the Cuthill-McKee order does.

    >>> from scipy.sparse import diags_array
    >>> chain = diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(500, 500))
    >>> bool(abs(chain @ SymmetricFactor(chain).solve(np.ones(500)) - 1).max() < 1e-9)
    True
    """

    def __init__(self, matrix: Any, places: Array | None = None) -> None:
        from scipy.sparse import csr_array

        whole = csr_array(matrix, dtype=float)
        pieces, parents = dissection(whole, ordered_places(whole) if places is None else places)
        self.order = np.concatenate(pieces)
        starts = np.concatenate([[0], np.cumsum([len(piece) for piece in pieces])])
        columns = whole[self.order][:, self.order].tocsc()
        left: list[list[tuple[Array, Array]]] = [[] for _ in pieces]  # what the children of each piece leave
        self.fronts = []
        rows = np.zeros(len(self.order), dtype=int)
        for piece, parent in enumerate(parents):
            start, end = int(starts[piece]), int(starts[piece + 1])
            front, update = self._eliminated(columns, start, end, left[piece], rows)
            left[piece] = []
            if len(front.boundary):
                left[parent].append((front.boundary, update))
            if end > start:
                self.fronts.append(front)

    def _eliminated(self, columns: Any, start: int, end: int, left: Any, row_of: Array) -> tuple[Front, Array]:
        """One front: assembled, factored, and what it leaves to the next. `row_of` (dofs) is working space."""
        from scipy.linalg.blas import dsyrk, dtrsm
        from scipy.linalg.lapack import dpotrf

        count, entries = end - start, slice(columns.indptr[start], columns.indptr[end])
        row, value = columns.indices[entries], columns.data[entries]
        column = np.repeat(np.arange(count), np.diff(columns.indptr[start : end + 1]))
        later = row >= start
        row, column, value = row[later], column[later], value[later]
        boundary = np.unique(np.concatenate([row[row >= end], *(dofs[dofs >= end] for dofs, _ in left)]))
        row_of[start:end] = np.arange(count)
        row_of[boundary] = count + np.arange(len(boundary))
        panel = np.zeros((count + len(boundary), count), order="F")
        rest = np.zeros((len(boundary), len(boundary)), order="F")
        panel[row_of[row], column] = value
        for dofs, update in left:
            _add(panel, rest, row_of[dofs], update)
        if not panel.size:  # two halves that nothing joins
            return Front(start, boundary, panel[:0], panel), rest
        diagonal, wrong = dpotrf(panel[:count], lower=1, clean=1)
        if wrong:
            raise Indefinite(int(self.order[start + wrong - 1]))
        if not len(boundary):
            return Front(start, boundary, diagonal, panel[count:]), rest
        below = dtrsm(1.0, diagonal, panel[count:], side=1, lower=1, trans_a=1)
        return Front(start, boundary, diagonal, below), dsyrk(-1.0, below, beta=1.0, c=rest, lower=1, overwrite_c=1)

    def solve(self, load: Array) -> Array:
        """The solution for one right side (dofs,), or for several (dofs, k)."""
        x = np.asarray(load, dtype=float)[self.order]
        for start, boundary, diagonal, below in self.fronts:  # L y = b
            own = slice(start, start + len(diagonal))
            x[own] = _triangular(diagonal, x[own], 0)
            x[boundary] -= below @ x[own]
        for start, boundary, diagonal, below in reversed(self.fronts):  # L^T x = y
            own = slice(start, start + len(diagonal))
            x[own] = _triangular(diagonal, x[own] - below.T @ x[boundary], 1)
        found = np.empty_like(x)
        found[self.order] = x
        return np.asarray(found)


def _triangular(lower: Array, load: Array, transposed: int) -> Array:
    """L^-1 or L^-T of one right side, or of several: of one, BLAS's product and solution for vectors take a fifth of the time."""
    from scipy.linalg.blas import dtrsm, dtrsv

    if load.ndim == 1:
        return np.asarray(dtrsv(lower, load, lower=1, trans=transposed))
    return np.asarray(dtrsm(1.0, lower, load, lower=1, trans_a=transposed))


def _add(panel: Array, rest: Array, rows: Array, update: Array) -> None:
    """Add the lower triangle of `update` at these rows (rising) of a front: in blocks where rows follow each other."""
    count = panel.shape[1]
    inside = int(np.searchsorted(rows, count))
    breaks = np.flatnonzero(np.diff(rows) != 1) + 1
    ends = np.unique(np.concatenate([[0, inside, len(rows)], breaks])).tolist()
    if len(ends) ** 2 > 0.004 * len(rows) ** 2:  # a block costs what some 250 single entries do
        panel.T[np.ix_(rows[:inside], rows)] += update.T[:inside]
        beyond = rows[inside:] - count
        rest.T[np.ix_(beyond, beyond)] += update.T[inside:, inside:]
        return
    runs = [(a, b, int(rows[a])) for a, b in pairwise(ends)]
    for i, (a, b, at) in enumerate(runs):
        for c, d, to in runs[i:]:
            target, shift = (panel, 0) if at < count else (rest, count)
            target[to - shift : to - shift + d - c, at - shift : at - shift + b - a] += update[c:d, a:b]


# ---- order -----------------------------------------------------------------------------------------------------------------
def dissection(matrix: Any, places: Array) -> tuple[list[Array], list[int]]:
    """Nested dissection: the dofs of each piece in the order of elimination, and the number of its parent (-1: none).

    >>> from scipy.sparse import diags_array
    >>> chain = diags_array([1.0, 2.0, 1.0], offsets=[-1, 0, 1], shape=(50, 50))
    >>> pieces, parents = dissection(chain, np.arange(150.0).reshape(50, 3))
    >>> [piece.tolist() for piece in pieces][-1], parents
    ([24], [2, 2, -1])
    """
    vertex, spots = _vertices(places)
    graph, hubs = _graph(matrix, vertex, len(spots))
    found: list[tuple[Array, int]] = [(hubs, -1)] if len(hubs) else []
    waiting = [(graph, np.setdiff1d(np.arange(len(spots)), hubs), len(found) - 1)]
    while waiting:  # separators come out first: the list is reversed at the end
        graph, numbers, parent = waiting.pop()
        joined, halves = _cut(graph, spots[numbers])
        found.append((numbers[joined], parent))
        waiting += [(graph[half][:, half], numbers[half], len(found) - 1) for half in halves if len(half)]
    dofs = np.argsort(vertex, kind="stable")
    first = np.searchsorted(vertex[dofs], np.arange(len(spots) + 1))
    pieces = [np.concatenate([dofs[first[v] : first[v + 1]] for v in piece]) if len(piece) else dofs[:0] for piece, _ in found]
    return pieces[::-1], [-1 if parent < 0 else len(found) - 1 - parent for _, parent in reversed(found)]


def _vertices(places: Array) -> tuple[Array, Array]:
    """The place of each dof (dofs,), and where the places are."""
    order = np.lexsort(places.T)
    ordered = places[order]
    new = np.concatenate([[True], (ordered[1:] != ordered[:-1]).any(axis=1)])
    vertex = np.empty(len(places), dtype=int)
    vertex[order] = np.cumsum(new) - 1
    return vertex, ordered[new]


def _graph(matrix: Any, vertex: Array, count: int) -> tuple[Any, Array]:
    """Which places are coupled, without those that lead far more others than usual (centers of rigid elements), and these."""
    from scipy.sparse import csr_array

    row, column = matrix.tocoo().coords
    graph = csr_array((np.ones(len(row), dtype=np.int32), (vertex[row], vertex[column])), shape=(count, count))
    graph.sum_duplicates()
    neighbors = np.diff(graph.indptr)
    hubs = np.flatnonzero(neighbors > _HUB * max(float(neighbors.mean()), 1.0))
    others = np.setdiff1d(np.arange(count), hubs)
    return (graph[others][:, others] if len(hubs) else graph), hubs


def _cut(graph: Any, spots: Array) -> tuple[Array, tuple[Array, ...]]:
    """The vertices that separate two halves, cut across the longest side, and the halves; all, and none, if there are few."""
    every = np.arange(len(spots))
    if len(spots) <= _LEAF:
        return every, ()
    axis = int(np.ptp(spots, axis=0).argmax())
    left = spots[:, axis] <= np.median(spots[:, axis])
    if left.all():
        return every, ()
    row = np.repeat(every, np.diff(graph.indptr))
    across = np.zeros(len(spots), dtype=bool)
    across[row[left[row] != left[graph.indices]]] = True
    joined = min(across & left, across & ~left, key=np.count_nonzero)
    return np.flatnonzero(joined), (np.flatnonzero(left & ~joined), np.flatnonzero(~left & ~joined))


def ordered_places(matrix: Any) -> Array:
    """Places along a line for dofs of which nothing is known: their order by Cuthill and McKee."""
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    places = np.zeros((matrix.shape[0], 3))
    places[reverse_cuthill_mckee(matrix, symmetric_mode=True), 0] = np.arange(matrix.shape[0])
    return places
