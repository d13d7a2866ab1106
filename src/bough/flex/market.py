"""Matrix Market files, read with NumPy: SciPy's reader ends the process on some files that are not whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from bough.flex.integrals import Array

BANNER = "%%MatrixMarket"
_SPARSE = 100_000  # rows that any file may declare; more only if it has as many bytes


def read_market(path: Path) -> Any:
    """A sparse matrix, or an array where the file holds one; ValueError says what is wrong with the file."""
    with path.open(encoding="utf-8", errors="replace") as file:
        form, symmetry = _header(file.readline())
        line = file.readline()
        while line.startswith("%") or (line and not line.strip()):
            line = file.readline()
        sizes = _sizes(line, form, path.stat().st_size)
        values = _numbers(file.read())
    return _entries(values, sizes, symmetry) if form == "coordinate" else _dense(values, sizes, symmetry)


def _header(line: str) -> tuple[str, str]:
    words = line.lower().split()
    if len(words) != 5 or words[0] != BANNER.lower() or words[1] != "matrix":
        raise ValueError(
            f"its first line is {line.strip()[:80]!r}; it should be '{BANNER} matrix coordinate real general' or the like"
        )
    _, _, form, kind, symmetry = words
    for word, known in (
        (form, ("coordinate", "array")),
        (kind, ("real", "integer", "double")),
        (symmetry, ("general", "symmetric")),
    ):
        if word not in known:
            raise ValueError(f"its first line says {word!r}; export it {' or '.join(known)}")
    return form, symmetry


def _sizes(line: str, form: str, room: int) -> tuple[int, ...]:
    """Rows, columns, and entries of a sparse one: no more of each than a file of so many bytes can mean."""
    words, wanted = line.split(), 3 if form == "coordinate" else 2
    if len(words) != wanted or not all(word.isascii() and word.isdigit() and len(word) < 16 for word in words):
        raise ValueError(f"its sizes are {line.strip()[:80]!r}; give {wanted} whole numbers")
    sizes = tuple(map(int, words))
    most = (sizes[0] * sizes[1],) if form == "array" else sizes[2:]
    if max(sizes[:2]) > max(room, _SPARSE) or max(most) > room:
        raise ValueError(f"its sizes are {line.strip()!r}, and it has {room} bytes; look whether it is whole")
    return sizes


def _numbers(text: str) -> Array:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("error")  # NumPy says so where it meets what is no number
        try:
            return np.fromstring(text, dtype=float, sep=" ") if text.strip() else np.zeros(0)
        except (DeprecationWarning, ValueError):
            raise ValueError("its entries are not all numbers") from None


def _entries(values: Array, sizes: tuple[int, ...], symmetry: str) -> Any:
    from scipy.sparse import csr_array

    rows, columns, count = sizes
    if len(values) != 3 * count:
        raise ValueError(f"it holds {len(values)} numbers, and {count} entries of three are declared; look whether it is whole")
    table = values.reshape(-1, 3)
    places = np.where(np.isfinite(table[:, :2]), table[:, :2], 0.0).astype(np.int64)
    if (places != table[:, :2]).any() or (places < 1).any() or (places > (rows, columns)).any():
        raise ValueError(f"it has an entry outside its {rows} rows and {columns} columns")
    row, column, entry = places[:, 0] - 1, places[:, 1] - 1, table[:, 2]
    if symmetry == "symmetric":
        off = row != column
        row, column, entry = (
            *(np.concatenate(pair) for pair in ((row, column[off]), (column, row[off]))),
            np.append(entry, entry[off]),
        )
    return csr_array((entry, (row, column)), shape=(max(rows, columns),) * 2 if symmetry == "symmetric" else (rows, columns))


def _dense(values: Array, sizes: tuple[int, ...], symmetry: str) -> Array:
    """Column by column; of a symmetric one, the lower triangle."""
    rows, columns = sizes
    wanted = rows * columns if symmetry == "general" else rows * (rows + 1) // 2
    if len(values) != wanted or (symmetry == "symmetric" and rows != columns):
        raise ValueError(f"it holds {len(values)} numbers for {rows} rows and {columns} columns; look whether it is whole")
    if symmetry == "general":
        return values.reshape(columns, rows).T
    found = np.zeros((rows, rows))
    found[np.triu_indices(rows)] = values
    return np.asarray(found + np.triu(found, 1).T)
