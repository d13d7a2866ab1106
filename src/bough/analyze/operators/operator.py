"""Operators: linear maps with a transpose, composition, a dense matrix and a name.

Operators over links are applied block by block, or by a recursion inward (summing children) or outward.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from bough.compile.layout import Floats

Apply = Callable[[Floats], Floats]              # of many columns at once


@dataclass(frozen=True)
class Space:
    """The layout of a vector: named blocks (links, speeds, points), one after the other."""
    kind: str
    names: tuple[str, ...]
    starts: tuple[int, ...]                             # of each block, and the end

    @property
    def size(self) -> int:
        return self.starts[-1]

    def block(self, name: str) -> slice:
        """The block with this name in a vector."""
        k = self.names.index(name)
        return slice(self.starts[k], self.starts[k + 1])

    def __str__(self) -> str:
        return f"{len(self.names)} {self.kind}{'s' * (len(self.names) != 1)}"


class Operator(LinearOperator):
    """A linear map between two spaces, by functions that apply it and its transpose to columns.

    `A @ x` applies it, `A.T` is its transpose, `A @ B` and `A + B` compose, `A.dense()` is its matrix.  The name of a composed
    operator shows its parts; a star denotes the transpose.
    """

    def __init__(self, name: str, rows: Space, columns: Space, apply: Apply, transposed: Apply, how: str = "", star: str = ""):
        self.name, self.rows, self.columns, self.how = name, rows, columns, how
        self.star = star or f"{name}*"                  # the name of the transpose
        self._apply, self._transposed = apply, transposed
        super().__init__(np.dtype(float), (rows.size, columns.size))

    def named(self, name: str, how: str) -> "Operator":
        """The same operator with another name."""
        return Operator(name, self.rows, self.columns, self._apply, self._transposed, how)

    def dense(self) -> Floats:
        """The matrix, formed by applying the operator to all columns of the identity."""
        return self._apply(np.eye(self.shape[1]))

    # ---- SciPy's interface --------------------------------------------------------------------------------------------
    def _matmat(self, X: Floats) -> Floats:
        return self._apply(np.asarray(X))

    def _matvec(self, x: Floats) -> Floats:
        return self._apply(np.asarray(x).reshape(-1, 1))

    def _rmatmat(self, X: Floats) -> Floats:
        return self._transposed(np.asarray(X))

    def _rmatvec(self, x: Floats) -> Floats:
        return self._transposed(np.asarray(x).reshape(-1, 1))

    def _adjoint(self) -> "Operator":
        how = self.how.removeprefix(TRANSPOSE) if self.how.startswith(TRANSPOSE) else f"{TRANSPOSE}{self.how}"
        return Operator(self.star, self.columns, self.rows, self._transposed, self._apply, self.how and how, self.name)

    _transpose = _adjoint                               # all operators are real

    # ---- composition ------------------------------------------------------------------------------------------------------
    def dot(self, x: Any) -> Any:
        if not isinstance(x, Operator) or x.shape[0] != self.shape[1]:
            return super().dot(x) # a vector, a matrix or another SciPy operator; SciPy raises if shapes do not match
        name, star = f"{factor(self.name)} {factor(x.name)}", f"{factor(x.star)} {factor(self.star)}"
        return Operator(name, self.rows, x.columns, lambda X: self._apply(x._apply(X)),
                        lambda X: x._transposed(self._transposed(X)), "one after the other", star)

    def __add__(self, other: Any) -> Any:
        return self._plus(other, 1.0) if isinstance(other, Operator) else super().__add__(other)

    def __sub__(self, other: Any) -> Any:
        return self._plus(other, -1.0) if isinstance(other, Operator) else super().__sub__(other)

    def _plus(self, other: "Operator", sign: float) -> Any:
        if other.shape != self.shape:
            return super().__add__(other)               # SciPy raises
        word = "+" if sign > 0 else "-"
        return Operator(f"{self.name} {word} {factor(other.name)}", self.rows, self.columns,
                        lambda X: self._apply(X) + sign*other._apply(X), lambda X: self._transposed(X) + sign*other._transposed(X),
                        "term by term", f"{self.star} {word} {factor(other.star)}")

    def __repr__(self) -> str:
        between = str(self.rows) if self.rows == self.columns else f"{self.rows} from {self.columns}"
        return f"{self.name}: {self.shape[0]} x {self.shape[1]}, {between}" + (f"; {self.how}" if self.how else "")


TRANSPOSE = "transpose of: "


def factor(name: str) -> str:
    """The name of an operator as a factor: a sum in parentheses.

    >>> factor("I + H Phi K"), factor("(I + H Phi K) D"), factor("(A + B) C - D")
    ('(I + H Phi K)', '(I + H Phi K) D', '((A + B) C - D)')
    """
    depth = 0
    for before, letter, after in zip(f" {name}", name, f"{name} "[1:], strict=False):
        depth += (letter == "(") - (letter == ")")
        if depth == 0 and letter in "+-" and before == after == " ":
            return f"({name})"
    return name


def identity(space: Space) -> Operator:
    return Operator("I", space, space, np.array, np.array, "", "I")


# ---- recursion -------------------------------------------------------------------------------------------------------------
Place = slice | NDArray[np.intp]                              # where a block's rows or columns are in a vector


def like(X: Floats, rows: int) -> Floats:
    return np.zeros((rows, X.shape[1]), np.result_type(X, float))


def of_blocks(name: str, rows: Space, columns: Space, steps: Sequence[tuple[Place, Place, Floats]], how: str) -> Operator:
    """Sums of blocks: each takes some rows of the argument to some rows of the result."""
    def summed(steps: Sequence[tuple[Place, Place, Floats]], size: int, X: Floats) -> Floats:
        Y = like(X, size)
        for to, of, block in steps:
            Y[to] += block @ X[of]
        return Y

    return Operator(name, rows, columns, partial(summed, steps, rows.size), partial(summed, transposed(steps), columns.size), how)


def transposed(steps: Sequence[tuple[Place, Place, Floats]]) -> list[tuple[Place, Place, Floats]]:
    """The steps of the transpose."""
    return [(of, to, block.T) for to, of, block in steps]


def block_diagonal(name: str, rows: Space, columns: Space, blocks: Sequence[Floats], to: Sequence[Place],
                   of: Sequence[Place], how: str) -> Operator:
    """One block a link: rows `to` of the result from rows `of` of the argument."""
    return of_blocks(name, rows, columns, list(zip(to, of, blocks, strict=True)), how)


class Chains:
    """The tree of links, for operators that transfer from one link to the next."""

    def __init__(self, space: Space, inner: Sequence[int], places: Sequence[slice]):
        self.space, self.inner, self.places = space, inner, places

    def steps(self, blocks: Sequence[Floats]) -> list[tuple[Place, Place, Floats]]:
        """Places of each inner link and of its outer link, and the block between them."""
        return [(self.places[i], self.places[k], blocks[k]) for k, i in enumerate(self.inner) if i >= 0]

    def one_step(self, name: str, blocks: Sequence[Floats], how: str) -> Operator:
        """E: block (i, k) of each link k and its inner link i [JR 20]."""
        return of_blocks(name, self.space, self.space, self.steps(blocks), how)

    def all_steps(self, name: str, blocks: Sequence[Floats], how: str) -> Operator:
        """(I - E)^-1, applied by a recursion from tips to root; its transpose from root to tips [JR 21]."""
        steps = self.steps(blocks)

        def passed_on(steps: Sequence[tuple[Place, Place, Floats]], X: Floats) -> Floats:
            Y = like(X, self.space.size) + X
            for to, of, block in steps:
                Y[to] += block @ Y[of]
            return Y

        return Operator(name, self.space, self.space, partial(passed_on, steps[::-1]), partial(passed_on, transposed(steps)), how)
