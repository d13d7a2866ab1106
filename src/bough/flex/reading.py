"""What all readers of finite-element models share: units, text files in any encoding and with any line ends, errors, and real
matrices in Matrix Market and Harwell-Boeing files, whole or one triangle of symmetric ones.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bough.errors import DescriptionError, similar
from bough.flex.integrals import Array

_LENGTHS = {"m": 1.0, "cm": 1e-2, "mm": 1e-3, "in": 0.0254, "ft": 0.3048}
_POUND, _G = 0.45359237, 9.80665
_MASSES = {
    "kg": 1.0,
    "g": 1e-3,
    "t": 1e3,
    "lb": _POUND,
    "slug": _POUND * _G / 0.3048,
    "slinch": _POUND * _G / 0.0254,  # lbf s^2 / in
    "lbf": 0.0,  # by force: see below
}
_TIMES = {"s": 1.0, "ms": 1e-3}


class Units(NamedTuple):
    """One unit of length, mass and time in m, kg and s."""

    length: float = 1.0
    mass: float = 1.0
    time: float = 1.0

    @property
    def stiffness(self) -> float:
        """Of a force per length."""
        return self.mass / self.time**2

    @property
    def pressure(self) -> float:
        """Of a stress."""
        return self.mass / (self.length * self.time**2)


def units(name: str) -> Units:
    """Units by their names, LENGTH-MASS-TIME; the mass may be given by a force, lbf.

    >>> units("mm-t-s").pressure            # MPa
    1000000.0
    >>> round(units("in-lbf-s").mass, 3)    # lbf s^2/in
    175.127
    """
    if name == "SI":
        return Units()
    parts = str(name).split("-")
    tables = (_LENGTHS, _MASSES, _TIMES)
    if len(parts) != 3 or any(part not in table for part, table in zip(parts, tables, strict=True)):
        known = ("SI", "mm-t-s", "mm-kg-ms", "m-kg-s", "in-lbf-s", "ft-slug-s")
        raise DescriptionError(f"units: {name!r} is not LENGTH-MASS-TIME out of {', '.join(_LENGTHS)}; {', '.join(_MASSES)}; "
                               f"{', '.join(_TIMES)}{similar(str(name), known)}; give for example units='mm-t-s' (N, MPa), or 'SI'")
    length, mass, time = (table[part] for part, table in zip(parts, tables, strict=True))
    if parts[1] == "lbf":
        mass = _POUND * _G * time**2 / length
    return Units(length, mass, time)


def read_text(path: Path, source: str, remedy: str) -> str:
    """The text of a file: UTF-8 or UTF-16, with or without a byte order mark, or else Windows-1252."""
    if not path.is_file():
        raise DescriptionError(f"{source}: the file {str(path)!r} does not exist; {remedy}")
    data = path.read_bytes()
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", errors="replace")
    if data[1:2] == b"\0" or data[:1] == b"\0":  # these files are ASCII but for comments
        return data.decode("utf-16-le" if data[1:2] == b"\0" else "utf-16-be", errors="replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", errors="replace")


def error_of(source: str) -> Callable[[str], DescriptionError]:
    """Constructor of the errors of a reader; messages begin with the name of the function that the user called."""
    return lambda text: DescriptionError(f"{source}: {text}")


# ---- matrices ------------------------------------------------------------------------------------------------------------
HEAD = "%%MatrixMarket"
MOST = 10**7                        # rows or columns that a matrix of a structure may have


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
        row, column, data = mirrored(row, column, data, -1.0 if words[4] == "skew-symmetric" else 1.0)
    return csr_array((data, (row, column)), shape=(sizes[0], sizes[1]))


def mirrored(row: Array, column: Array, data: Array, sign: float = 1.0) -> tuple[Array, Array, Array]:
    """Rows, columns and values of one triangle, followed by those on the other side of the diagonal."""
    off = row != column
    rows, columns = np.concatenate([row, column[off]]), np.concatenate([column, row[off]])
    return rows, columns, np.concatenate([data, sign * data[off]])


def both_triangles(matrix: Any) -> Any:
    """The symmetric matrix of which one triangle is given."""
    from scipy.sparse import csr_array, diags_array

    return csr_array(matrix + matrix.T - diags_array(matrix.diagonal()))


def completed(matrix: Any) -> Any:
    """A matrix of a structure, which may be given by one triangle: then both."""
    from scipy.sparse import tril, triu

    one_sided = any(abs(part).sum() == 0.0 for part in (tril(matrix, -1), triu(matrix, 1)))
    return both_triangles(matrix) if one_sided else matrix


def _coordinates(values: Any, sizes: list[int]) -> tuple[Any, Any, Any]:
    if len(values) != 3 * sizes[2]:
        raise ValueError(f"it holds {len(values) / 3:g} entries where its head says {sizes[2]}")
    table = values.reshape(-1, 3)
    if max(sizes[:2]) > MOST or not (table[:, :2] == np.floor(table[:, :2])).all():
        raise ValueError(f"its rows and columns, {sizes[0]} and {sizes[1]}, are too many, or one is not an integer")
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


def read_harwell_boeing(text: str) -> Any:
    """The sparse matrix in a file's text; ValueError says what is wrong with it.

    >>> head = f"{'title':72}{'key':8}\\n" + "".join(f"{each:14d}" for each in (3, 1, 1, 1, 0))
    >>> kind = f"\\nRSA{'':11}" + "".join(f"{each:14d}" for each in (2, 2, 3, 0)) + f"\\n{'(3I4)':16}{'(3I4)':16}{'(3D10.3)':20}"
    >>> read_harwell_boeing(head + kind + "\\n   1   3   4\\n   1   2   2\\n 0.100D+01-0.500D+00 0.200D+01").toarray()
    array([[ 1. , -0.5],
           [-0.5,  2. ]])
    """
    from scipy.sparse import csc_array

    lines = text.splitlines()
    if len(lines) < 5:
        raise ValueError("it has no head of four lines")
    counts = [int(each) for each in lines[1].split()]
    kind, sizes = lines[2][:3].upper(), [int(each) for each in lines[2][3:].split()]
    if not re.match(r"^R[SUR]A$", kind):
        raise ValueError(f"it is of type {kind}, not RSA, RUA or RRA (real, assembled)")
    rows, columns, entries = sizes[:3]
    formats = re.findall(r"\(([^)]*)\)", lines[3])
    at = 5 if len(counts) > 4 and counts[4] > 0 else 4  # a fifth line describes right-hand sides
    parts = []
    for cards, form, wanted in zip(counts[1:4], formats[:3], (columns + 1, entries, entries), strict=True):
        parts.append(_values(lines[at : at + cards], form, wanted))
        at += cards
    pointers, places, values = parts[0].astype(int) - 1, parts[1].astype(int) - 1, parts[2]
    if pointers[0] != 0 or pointers[-1] != entries or places.min(initial=0) < 0 or places.max(initial=0) >= rows:
        raise ValueError("its pointers and rows do not fit its sizes")
    found = csc_array((values, places, pointers), shape=(rows, columns))
    return both_triangles(found) if kind[1] == "S" else found.tocsr()


def _values(lines: list[str], form: str, wanted: int) -> Array:
    """Numbers of a Fortran format, 3D25.16 or 1P,4E20.12: by their widths, or by blanks where a line is not that long."""
    plain = re.sub(r"\d*P,?", "", form.upper().replace(" ", ""))
    found = re.match(r"(\d*)[IEDFG](\d+)", plain)
    width = int(found[2]) if found else 0
    parts: list[str] = []
    for line in lines:
        line = line.rstrip()
        cut = [line[i : i + width].strip() for i in range(0, len(line), width)] if width else []
        parts += cut if cut and all(" " not in each for each in cut) else line.split()
    if len(parts) != wanted:
        raise ValueError(f"it holds {len(parts)} numbers where its head says {wanted}")
    return np.array([each.upper().replace("D", "E") for each in parts], dtype=float)
