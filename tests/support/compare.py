"""Comparing arrays of physical quantities: the error is judged against the largest entry, not entry by entry."""
from typing import NamedTuple

import numpy as np

from tests.support.tolerance import CANCELLING, EPS


def assert_same(ours, theirs, relative, scale=0.0):
    """max |ours - theirs| <= relative * max(|theirs|, scale); `scale` is the size of what cancels in `theirs`."""
    ours, theirs = np.asarray(ours, float), np.asarray(theirs, float)
    assert ours.shape == theirs.shape, f"shapes {ours.shape} and {theirs.shape}"
    size = max(np.abs(theirs).max(initial=0.0), scale)
    error = np.abs(ours - theirs).max(initial=0.0)
    share = error/size if size else np.inf
    assert error <= relative*size, f"error {error:.3g}, {share:.3g} of {size:.3g}\n{ours}\n{theirs}"


def solving(M, relative=CANCELLING):
    """The relative error that solving with M may have: rounding, eps a term, comes back cond(M) times larger; `relative` is what
    the sweeps themselves leave of the right side, however well M is conditioned.

    Rates of different joints differ in unit and size, so the condition is that of M scaled to a unit diagonal: neither
    Cholesky's factors nor the sweeps see the scaling. A row of M and of its right side sums a few dozen roundings."""
    d = 1.0/np.sqrt(np.diag(M))
    return max(relative, 30*EPS*np.linalg.cond(M*np.outer(d, d)))


def solved(model, q):
    """The same for accelerations of a model at one state or several: the worst of them."""
    M = np.reshape(model.mass_matrix(q), (-1, model.nv, model.nv))
    return max(solving(each) for each in M)


def clamped(model):
    """The same for a finite-element model clamped at its inboard node: static shapes, and the frequencies that follow from them."""
    free = model.free_dofs(model.dofs_of(model.inboard))
    return solving(model.restricted(model.stiffness, free).toarray())


def solved_scale(M, *terms):
    """The size of a solution of M a = sum of terms, before the terms cancel: that is what rounding is relative to."""
    return np.abs(np.linalg.inv(M)) @ sum(np.abs(term) for term in terms)


def eigenvalue_rounding(A, entries=CANCELLING):
    """How far the eigenvalues of A may be off, in their own unit: cond(V) |dA|, V the eigenvectors (Bauer and Fike), where the
    entries are known to `entries` of |A|, and the QR algorithm adds n eps.

    >>> bool(eigenvalue_rounding(np.diag([1.0, 2.0])) < 3e-12)      # a normal matrix: as its entries
    True
    """
    _, vectors = np.linalg.eig(A)
    return np.linalg.cond(vectors)*np.linalg.norm(A, 2)*(entries + len(A)*EPS)


# ---- with closed loops ----------------------------------------------------------------------------------------------------------
ROUNDINGS = 30                   # that the sum of a row of M, of J or of their right sides takes: a few dozen products


class LoopRounding(NamedTuple):
    """What rounding may do to the solution of the equations of a closed system."""
    accelerations: np.ndarray        # (nv,)
    multipliers: np.ndarray          # (rows,): forces, and moments over the size of their loop, as the rows of J


def loop_rounding(M, J, a, v, *forces):
    """The error that accelerations and multipliers may have, where M a - J^T l = sum of forces and J a = d.

    Skeel's bound: if each entry of K = [[M, J^T], [J, 0]] and of the right side is off by `ROUNDINGS` eps of its size, the solution
    x is off by |K^+| (size(K) |x| + size of the right side) times that. Sizes are those before terms cancel: in rates that make M's
    diagonal one (neither factors nor sweeps see that scaling) an entry of M is of size one, one of J as large as its row's largest,
    and d, quadratic in v, as large as the row times v^2. Both methods add the motion of the cut tree and what the loops' forces do
    to it, which may cancel: their rounding, by the same bound for M alone, comes on top. K^+ is the pseudo-inverse: of redundant
    loops the least multipliers.
    """
    d, n, m = np.sqrt(np.diag(M)), len(M), len(J)
    M, J, a, v, forces = M/np.outer(d, d), J/d, a*d, v, [force/d for force in forces]
    rows, right = np.abs(J).max(axis=1), sum(np.abs(force) for force in forces)
    K = np.block([[M, J.T], [J, np.zeros((m, m))]])
    size = np.block([[np.ones((n, n)), np.tile(rows, (n, 1))], [np.tile(rows[:, None], (1, n)), np.zeros((m, m))]])
    multipliers = np.linalg.lstsq(J.T, M @ a - sum(forces), rcond=1e-10)[0]
    x = np.append(a, multipliers)
    error = np.abs(np.linalg.pinv(K, rcond=1e-10)) @ (size @ np.abs(x) + np.append(right, rows*np.abs(v*d).max()*np.abs(v).max()))
    free = np.linalg.solve(M, sum(forces))
    tree = np.abs(np.linalg.inv(M)) @ (np.abs(free).sum() + right + rows @ np.abs(multipliers))
    return LoopRounding(ROUNDINGS*EPS*(error[:n] + tree)/d, ROUNDINGS*EPS*error[n:])


def assert_within(ours, theirs, bound):
    """|ours - theirs| <= bound, entry by entry."""
    error = np.abs(np.asarray(ours) - np.asarray(theirs))
    share = np.max(error/np.maximum(bound, 1e-300), initial=0.0)
    assert (error <= bound).all(), f"error {error.max():.3g}, {share:.3g} times what rounding may do"
