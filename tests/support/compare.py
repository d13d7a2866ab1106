"""Comparing arrays of physical quantities: the error is judged against the largest entry, not entry by entry."""
import numpy as np

EPS = np.finfo(float).eps


def assert_same(ours, theirs, relative=1e-10, scale=0.0):
    """max |ours - theirs| <= relative * max(|theirs|, scale); `scale` is the size of what cancels in `theirs`."""
    ours, theirs = np.asarray(ours, float), np.asarray(theirs, float)
    assert ours.shape == theirs.shape, f"shapes {ours.shape} and {theirs.shape}"
    size = max(np.abs(theirs).max(initial=0.0), scale)
    error = np.abs(ours - theirs).max(initial=0.0)
    share = error/size if size else np.inf
    assert error <= relative*size, f"error {error:.3g}, {share:.3g} of {size:.3g}\n{ours}\n{theirs}"


def solving(M, relative=1e-10):
    """The relative error that solving with M may have: rounding, eps a term, comes back cond(M) times larger.

    Rates of different joints differ in unit and size, so the condition is that of M scaled to a unit diagonal: neither
    Cholesky's factors nor the sweeps see the scaling. A row of M and of its right side sums a few dozen roundings."""
    d = 1.0/np.sqrt(np.diag(M))
    return max(relative, 30*EPS*np.linalg.cond(M*np.outer(d, d)))


def solved_scale(M, *terms):
    """The size of a solution of M a = sum of terms, before the terms cancel: that is what rounding is relative to."""
    return np.abs(np.linalg.inv(M)) @ sum(np.abs(term) for term in terms)
