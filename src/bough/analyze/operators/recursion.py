"""How operators over links apply themselves: block by block, or by a recursion inward (children are summed) or outward."""
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bough.analyze.operators.operator import Operator, Space
from bough.compile.state_layout import Floats

Place = slice | NDArray[np.intp]                              # where a block's rows or columns are in a vector


def like(X: Floats, rows: int) -> Floats:
    return np.zeros((rows, X.shape[1]), np.result_type(X, float))


def block_diagonal(name: str, rows: Space, columns: Space, blocks: Sequence[Floats], to: Sequence[Place],
                   of: Sequence[Place], how: str) -> Operator:
    """One block a link: rows `to` of the result from rows `of` of the argument."""
    def apply(X: Floats) -> Floats:
        Y = like(X, rows.size)
        for block, t, o in zip(blocks, to, of, strict=True):
            Y[t] = block @ X[o]
        return Y

    def transposed(X: Floats) -> Floats:
        Y = like(X, columns.size)
        for block, t, o in zip(blocks, to, of, strict=True):
            Y[o] = block.T @ X[t]
        return Y

    return Operator(name, rows, columns, apply, transposed, how)


class Chains:
    """Which link sits on which, for the operators that carry from one to the other."""

    def __init__(self, space: Space, inner: Sequence[int], places: Sequence[slice]):
        self.space, self.inner, self.places = space, inner, places

    def one_step(self, name: str, blocks: Sequence[Floats], how: str) -> Operator:
        """E: block (i, k) of each link k and its inner link i [JR 20]."""
        at = self.places
        steps = [(at[i], at[k], blocks[k]) for k, i in enumerate(self.inner) if i >= 0]

        def apply(X: Floats) -> Floats:
            Y = like(X, self.space.size)
            for inner, outer, block in steps:
                Y[inner] += block @ X[outer]
            return Y

        def transposed(X: Floats) -> Floats:
            Y = like(X, self.space.size)
            for inner, outer, block in steps:
                Y[outer] = block.T @ X[inner]
            return Y

        return Operator(name, self.space, self.space, apply, transposed, how)

    def all_steps(self, name: str, blocks: Sequence[Floats], how: str) -> Operator:
        """(I - E)^-1: its product by a recursion tips to root, that of its transpose root to tips [JR 21]."""
        at = self.places
        steps = [(at[i], at[k], blocks[k]) for k, i in enumerate(self.inner) if i >= 0]

        def apply(X: Floats) -> Floats:
            Y = like(X, self.space.size) + X
            for inner, outer, block in reversed(steps):
                Y[inner] += block @ Y[outer]
            return Y

        def transposed(X: Floats) -> Floats:
            Y = like(X, self.space.size) + X
            for inner, outer, block in steps:
                Y[outer] += block.T @ Y[inner]
            return Y

        return Operator(name, self.space, self.space, apply, transposed, how)
