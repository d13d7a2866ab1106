"""Harwell-Boeing files: real assembled matrices, symmetric ones too, in whatever Fortran formats their heads name."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from bough.flex.integrals import Array


def read_harwell_boeing(text: str) -> Any:
    """The sparse matrix in a file's text; ValueError says what is wrong with it.

    >>> head = f"{'title':72}{'key':8}\\n" + "".join(f"{each:14d}" for each in (3, 1, 1, 1, 0))
    >>> kind = f"\\nRSA{'':11}" + "".join(f"{each:14d}" for each in (2, 2, 3, 0)) + f"\\n{'(3I4)':16}{'(3I4)':16}{'(3D10.3)':20}"
    >>> read_harwell_boeing(head + kind + "\\n   1   3   4\\n   1   2   2\\n 0.100D+01-0.500D+00 0.200D+01").toarray()
    array([[ 1. , -0.5],
           [-0.5,  2. ]])
    """
    from scipy.sparse import csc_array, diags_array

    lines = text.splitlines()
    if len(lines) < 5:
        raise ValueError("it has no head of four lines")
    counts = [int(each) for each in lines[1].split()]
    kind, sizes = lines[2][:3].upper(), [int(each) for each in lines[2][3:].split()]
    if not re.match(r"^R[SUR]A$", kind):
        raise ValueError(f"it is of type {kind}, not RSA, RUA or RRA (real, assembled)")
    rows, columns, entries = sizes[:3]
    formats = re.findall(r"\(([^)]*)\)", lines[3])
    at = 5 if len(counts) > 4 and counts[4] > 0 else 4  # a fifth line tells of right-hand sides
    parts = []
    for cards, form, wanted in zip(counts[1:4], formats[:3], (columns + 1, entries, entries), strict=True):
        parts.append(_values(lines[at : at + cards], form, wanted))
        at += cards
    pointers, places, values = parts[0].astype(int) - 1, parts[1].astype(int) - 1, parts[2]
    if pointers[0] != 0 or pointers[-1] != entries or places.min(initial=0) < 0 or places.max(initial=0) >= rows:
        raise ValueError("its pointers and rows do not fit its sizes")
    found = csc_array((values, places, pointers), shape=(rows, columns))
    return (found + found.T - diags_array(found.diagonal())).tocsr() if kind[1] == "S" else found.tocsr()


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
