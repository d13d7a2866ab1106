"""Natural modes of pairs of stiffness and mass matrices: the lowest ones, mass-normalized, with a fixed sign."""

from __future__ import annotations

from typing import Any

import numpy as np

from bough.flex.cross import Array

_DENSE = 600  # dofs up to which a dense solver is the quicker one
_SHIFT = 1e-6  # of the mean eigenvalue: keeps a stiffness with rigid modes invertible
_COUPLED = 1e-14  # of the largest entry of its row and column: what counts as a coupling of two dofs


def natural_modes(stiffness: Any, mass: Any, count: int) -> tuple[Array, Array]:
    """The `count` lowest eigenvalues omega^2 and modes (dofs, count) of K x = omega^2 M x, x^T M x = 1.

    Parts of the model that no entry couples are solved apart, so that equal frequencies of two planes do not mix.

    >>> from scipy.sparse import diags_array
    >>> squares, modes = natural_modes(diags_array([9.0, 4.0]), diags_array([1.0, 4.0]), 2)
    >>> squares.round(12), modes.round(12)
    (array([1., 9.]), array([[0. , 1. ],
           [0.5, 0. ]]))
    """
    from scipy.sparse import csr_array

    stiffness, mass = csr_array(stiffness), csr_array(mass)
    if count == 0:
        return np.zeros(0), np.zeros((stiffness.shape[0], 0))
    squares: list[Array] = []
    modes: list[Array] = []
    for part in _uncoupled(stiffness, mass):
        values, vectors = _lowest(stiffness[part][:, part], mass[part][:, part], min(count, len(part)))
        whole = np.zeros((stiffness.shape[0], len(values)))
        whole[part] = vectors
        squares.append(values)
        modes.append(whole)
    values, vectors = np.concatenate(squares), np.hstack(modes)
    order = np.argsort(np.round(values / max(float(np.abs(values).max()), 1e-300), 14), kind="stable")[:count]
    return values[order], with_fixed_sign(vectors[:, order])


def with_fixed_sign(vectors: Array) -> Array:
    """The same modes with the largest entry of each positive (the first of those that are nearly the largest)."""
    sizes = np.abs(vectors)
    first = np.argmax(sizes > 0.999 * sizes.max(axis=0, initial=0.0), axis=0)
    signs = np.sign(vectors[first, np.arange(vectors.shape[1])])
    return np.asarray(vectors * np.where(signs == 0.0, 1.0, signs))


def stiffness_share(stiffness: Any, vectors: Array) -> Array:
    """x^T K x over |x|^T |K| |x| for each column: near the rounding error for a motion that strains nothing."""
    energy = np.einsum("ir,ir->r", vectors, stiffness @ vectors)
    bound = np.einsum("ir,ir->r", np.abs(vectors), abs(stiffness) @ np.abs(vectors))
    return np.asarray(np.abs(energy) / np.maximum(bound, 1e-300))


def _uncoupled(stiffness: Any, mass: Any) -> list[Array]:
    """The dofs of each part of the model that nothing couples to the rest."""
    from scipy.sparse.csgraph import connected_components

    pattern = _significant(stiffness) + _significant(mass)
    count, label = connected_components(pattern, directed=False)
    return [np.flatnonzero(label == part) for part in range(count)]


def _significant(matrix: Any) -> Any:
    size = np.sqrt(np.abs(matrix.diagonal()))
    entries = abs(matrix).tocoo()
    row, column = entries.coords
    keep = entries.data > _COUPLED * size[row] * size[column]
    from scipy.sparse import csr_array

    return csr_array((np.ones(int(keep.sum())), (row[keep], column[keep])), shape=matrix.shape)


def _lowest(stiffness: Any, mass: Any, count: int) -> tuple[Array, Array]:
    size = stiffness.shape[0]
    shift = _SHIFT * stiffness.diagonal().sum() / mass.diagonal().sum()
    if size <= _DENSE or count >= size - 1:
        values, vectors = _dense(stiffness.toarray(), mass.toarray(), count, shift)
    else:
        values, vectors = _sparse(stiffness, mass, count, shift)
    norms = np.sqrt(np.einsum("ir,ir->r", vectors, mass @ vectors))
    return values, np.asarray(vectors / norms)


def _dense(stiffness: Array, mass: Array, count: int, shift: float) -> tuple[Array, Array]:
    """M x = mu (K + shift M) x: the largest mu come out exact, and a singular M does no harm."""
    from scipy.linalg import eigh

    size = len(stiffness)
    inverse, vectors = eigh(mass, stiffness + shift * mass, subset_by_index=(size - count, size - 1))
    massive = inverse > 1e-12 * inverse[-1]
    kept = vectors[:, massive][:, ::-1]
    values = np.einsum("ir,ij,jr->r", kept, stiffness, kept) / np.einsum("ir,ij,jr->r", kept, mass, kept)
    return values, kept


def _sparse(stiffness: Any, mass: Any, count: int, shift: float) -> tuple[Array, Array]:
    from scipy.sparse.linalg import eigsh

    start = np.random.default_rng(0).normal(size=stiffness.shape[0])  # the same modes in every run
    values, vectors = eigsh(stiffness.tocsc(), count, mass.tocsc(), sigma=-shift, v0=start)
    order = np.argsort(values)
    return values[order], vectors[:, order]
