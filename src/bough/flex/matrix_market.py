"""Matrix Market files: real matrices and vectors, by coordinates or column by column, whole or one triangle of symmetric ones."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

HEAD = "%%MatrixMarket"

MOST = 10**8                        # rows or columns that a matrix of a structure may have


def read_matrix_market(text: str) -> Any:
    """The sparse matrix in a file's text; ValueError says what is wrong with it. Commas between digits are decimal.

    >>> read_matrix_market("%%MatrixMarket matrix coordinate real symmetric\\n% a note\\n2 2 2\\n1 1 3.0\\n2 1 -1,5\\n").toarray()
    array([[ 3. , -1.5],
           [-1.5,  0. ]])
    """
    from scipy.sparse import csr_array

    first, _, rest = text.lstrip().partition("\n")
    words = first.lower().split()
    if len(words) < 5 or words[1] != "matrix" or words[2] not in ("coordinate", "array"):
        raise ValueError(f"its first line is {first[:60]!r}, not '{HEAD} matrix coordinate real general'")
    if words[3] not in ("real", "integer", "double"):
        raise ValueError(f"its numbers are {words[3]}, not real or integer")
    lines = [line for line in rest.splitlines() if line.strip() and not line.lstrip().startswith("%")]
    sizes = [int(each) for each in lines[0].split()] if lines else []
    if len(sizes) != (3 if words[2] == "coordinate" else 2) or min(sizes) < 0:
        raise ValueError("the line with its sizes is missing")
    values = np.array(re.sub(r"(?<=\d),(?=\d)", ".", " ".join(lines[1:])).upper().replace("D", "E").split(), dtype=float)
    if words[2] == "array":
        row, column, data = _columns(values, sizes, words[4])
    else:
        row, column, data = _coordinates(values, sizes)
    if words[4] in ("symmetric", "skew-symmetric"):
        off, sign = row != column, -1.0 if words[4] == "skew-symmetric" else 1.0
        row, column = np.concatenate([row, column[off]]), np.concatenate([column, row[off]])
        data = np.concatenate([data, sign * data[off]])
    return csr_array((data, (row, column)), shape=(sizes[0], sizes[1]))


def _coordinates(values: Any, sizes: list[int]) -> tuple[Any, Any, Any]:
    if len(values) != 3 * sizes[2]:
        raise ValueError(f"it holds {len(values) / 3:g} entries where its head says {sizes[2]}")
    table = values.reshape(-1, 3)
    if max(sizes[:2]) > MOST or not (table[:, :2] == np.floor(table[:, :2])).all():
        raise ValueError(f"its rows and columns, {sizes[0]} and {sizes[1]}, are too many, or one is no whole number")
    row, column = table[:, 0].astype(int) - 1, table[:, 1].astype(int) - 1
    if len(row) and (min(row.min(), column.min()) < 0 or row.max() >= sizes[0] or column.max() >= sizes[1]):
        raise ValueError(f"it has an entry outside of its {sizes[0]} rows and {sizes[1]} columns")
    return row, column, table[:, 2]


def _columns(values: Any, sizes: list[int], symmetry: str) -> tuple[Any, Any, Any]:
    whole = symmetry == "general"
    if sizes[0] * sizes[1] > 2 * len(values) + sizes[0]:
        raise ValueError(f"it holds {len(values)} numbers where its head says {sizes[0]} rows and {sizes[1]} columns")
    column, row = np.divmod(np.arange(sizes[0] * sizes[1]), max(sizes[0], 1))
    keep = np.ones(len(row), dtype=bool) if whole else row >= column
    if len(values) != keep.sum():
        raise ValueError(f"it holds {len(values)} numbers where its head says {int(keep.sum())}")
    return row[keep], column[keep], values
