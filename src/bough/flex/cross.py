"""Cross products and inertia tensors of whole stacks of vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
LEVI_CIVITA: Array = np.zeros((3, 3, 3))
LEVI_CIVITA[[0, 1, 2], [1, 2, 0], [2, 0, 1]] = 1.0
LEVI_CIVITA[[0, 2, 1], [2, 1, 0], [1, 0, 2]] = -1.0


def tilde(vectors: Any) -> Array:
    """The matrices a~ with a~ b = a x b, one for each vector on the last axis.

    >>> tilde((1.0, 2.0, 3.0)) @ (0.0, 0.0, 1.0)
    array([ 2., -1.,  0.])
    """
    return np.asarray(np.einsum("ikj,...k->...ij", LEVI_CIVITA, np.asarray(vectors, dtype=float)))


def axial(products: Array) -> Array:
    """sum a x b out of the 3x3 products sum a b^T on the last two axes."""
    return np.asarray(np.einsum("ijk,...jk->...i", LEVI_CIVITA, products))


def inertia_of(products: Array) -> Array:
    """N(a, b) = sum m [(a.b) I - b a^T] out of the products sum m a b^T on the last two axes. [B 9]

    >>> inertia_of(np.diag([1.0, 0.0, 0.0]))
    array([[0., 0., 0.],
           [0., 1., 0.],
           [0., 0., 1.]])
    """
    trace = np.einsum("...ii->...", products)
    result: Array = trace[..., None, None] * np.eye(3) - np.swapaxes(products, -1, -2)
    return result + 0.0
