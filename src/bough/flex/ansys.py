"""Bodies out of Ansys: matrices as Matrix Market or Harwell-Boeing, the mapping of their dofs, and the nodes as text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from bough.errors import DescriptionError
from bough.flex.deck import Deck, outline
from bough.flex.exported import Exported, labelled
from bough.flex.finite_elements import COMPONENTS, FiniteElements, rigid_motion
from bough.flex.integrals import Array
from bough.flex.market import BANNER, read_market
from bough.flex.reduction import stiffness_share
from bough.flex.units import units as units_of
from bough.progress import working

_SOURCE = "read_ansys"
_LABELS = {"UX": 0, "UY": 1, "UZ": 2, "ROTX": 3, "ROTY": 4, "ROTZ": 5}


@working("reading Ansys files")
def read_ansys(
    stiffness: str | Path,
    mass: str | Path,
    nodes: str | Path,
    *,
    mapping: str | Path | None = None,
    elements: str | Path | None = None,
    attach: Mapping[str, Any] | None = None,
    inboard: str | None = None,
    origin: Any = None,
    spiders: Mapping[str, Any] | None = None,
    units: str = "SI",
    declared_mass: float | None = None,
) -> FiniteElements:
    """A model out of Ansys's files.

    Matrices are Matrix Market files (*SMAT, EXPORT) or Harwell-Boeing files (HBMAT). `mapping` says which dof is which: the
    .mapping file of HBMAT (equation, node, UX ...), or a vector of nodes (*VEC), in either direction. Without it dofs are node by
    node in the order of numbers. `nodes` is a table of number, x, y, z, with decimal points or commas; `elements`, for pictures,
    one of number, type, nodes. See `matrices_model` for `attach`, `spiders`, `origin` and `units`.
    """
    labels, position = _nodes(Path(nodes))
    matrices = (_matrix(Path(mass), "mass"), _matrix(Path(stiffness), "stiffness"))
    structure = _structure(labels, position, matrices, None if mapping is None else Path(mapping)).in_units(units_of(units))
    if elements is not None:
        deck = Deck(labels, position, elements=_elements(Path(elements)))
        lines, faces = outline(deck, structure.labels)
        structure = replace(structure, lines=lines, faces=faces)
    return structure.model(attach=attach, inboard=inboard, origin=origin, spiders=spiders, mass=declared_mass)


def _text(path: Path) -> str:
    if not path.exists():
        raise DescriptionError(f"{_SOURCE}: the file {str(path)!r} does not exist; give the path of an exported file")
    return path.read_text(encoding="utf-8", errors="replace")


def _matrix(path: Path, what: str) -> Any:
    """A Matrix Market or Harwell-Boeing file; one triangle stands for both."""
    from scipy.io import hb_read
    from scipy.sparse import csr_array, tril

    text = _text(path)
    try:
        found = csr_array(read_market(path) if text.startswith(BANNER) else hb_read(str(path)), dtype=float)
    except Exception as error:  # of SciPy, whatever is wrong with the file
        why = " ".join(str(error).split())[:200]
        raise DescriptionError(
            f"{_SOURCE}: {path.name} is no whole Matrix Market or Harwell-Boeing file of the {what} matrix ({why}); export it again"
        ) from None
    if found.ndim != 2 or found.shape[0] != found.shape[1]:
        raise DescriptionError(f"{_SOURCE}: the {what} matrix in {path.name} has the shape {found.shape}; export a square one")
    lower = tril(found, -1)
    one_sided = abs(found - tril(found)).sum() == 0.0 or lower.nnz == 0
    return csr_array(found + found.T - _diagonal(found)) if one_sided and found.nnz > found.shape[0] else found


def _diagonal(matrix: Any) -> Any:
    from scipy.sparse import diags_array

    return diags_array(matrix.diagonal())


def _nodes(path: Path) -> tuple[Array, Array]:
    """Numbers and coordinates out of a table; commas are decimal where points are not."""
    rows = []
    for line in _text(path).splitlines():
        parts = [part for part in re.split(r"[\t; ]+", line.strip()) if part]
        if len(parts) < 4 and "," in line:
            parts = [part.strip() for part in line.split(",") if part.strip()]
        try:
            rows.append([float(int(parts[0])), *(float(each.replace(",", ".")) for each in parts[1:4])])
        except (ValueError, IndexError, OverflowError):
            continue  # headings
    if not rows or any(len(row) != 4 or not 0 <= row[0] < 2**53 for row in rows):
        raise DescriptionError(f"{_SOURCE}: {path.name} is no table of nodes; give lines with number, x, y, z")
    table = np.array(rows)
    return table[:, 0].astype(int), table[:, 1:]


def _elements(path: Path) -> list[tuple[str, Array, list[list[int]]]]:
    kinds = {"HEX": "C3D", "TET": "C3D", "WED": "C3D", "QUA": "S", "TRI": "S"}
    found = []
    for line in _text(path).splitlines():
        parts = line.split()
        if len(parts) < 4 or not parts[0].isdigit():
            continue
        number = re.sub(r"\D", "", parts[1])
        kind = kinds.get(parts[1][:3].upper(), "")
        found.append((f"{kind}{number}", np.array([int(parts[0])]), [[int(each) for each in parts[2:]]]))
    return found


def _structure(labels: Array, position: Array, matrices: tuple[Any, Any], mapping: Path | None) -> Exported:
    size = matrices[1].shape[0]
    if mapping is not None and (named := _named_rows(_text(mapping))):
        return labelled(_SOURCE, labels.tolist(), position, tuple(np.array(named).T), matrices)
    order = np.sort(labels) if mapping is None else _vector(mapping)
    if size % len(order) or size // len(order) not in (3, 6):
        raise DescriptionError(
            f"{_SOURCE}: the matrices have {size} dofs for {len(order)} nodes; give 3 or 6 dofs for each, or a mapping= "
            "file that names "
            "the node and the label of each equation"
        )
    per_node = size // len(order)

    def built(nodes: Array) -> Exported:
        rows = (np.repeat(nodes, per_node), np.tile(np.arange(per_node), len(nodes)))
        return labelled(_SOURCE, labels.tolist(), position, rows, matrices)

    if mapping is None:
        return built(order)
    inverse = np.empty_like(order)
    if sorted(order.tolist()) == list(range(1, len(order) + 1)):
        inverse[order - 1] = np.arange(1, len(order) + 1)
    found = min((built(order), built(inverse)) if inverse.any() else (built(order),), key=_grounding)
    return found


def _grounding(structure: Exported) -> float:
    """How much rigid motion strains a structure: 0 if the dofs are where the mapping says."""
    return float(stiffness_share(structure.stiffness, rigid_motion(structure.position, structure.per_node)).max())


def _named_rows(text: str) -> list[tuple[int, int]]:
    """(node, component) of each equation out of lines "equation node UX"."""
    rows = {int(a): (int(b), _LABELS[c]) for a, b, c in re.findall(r"^\s*(\d+)\s+(\d+)\s+(U[XYZ]|ROT[XYZ])\b", text, re.MULTILINE)}
    return [rows[i] for i in sorted(rows)]


def _vector(path: Path) -> Array:
    try:
        text = _text(path)
        found = read_market(path) if text.startswith(BANNER) else np.array(text.split(), dtype=float)
        return np.asarray(found.toarray() if hasattr(found, "toarray") else found, dtype=float).ravel().astype(int)
    except Exception:  # of SciPy, whatever is wrong with the file
        wanted = f"lines EQUATION NODE LABEL ({', '.join(_LABELS)} for {', '.join(COMPONENTS)}), or a vector of nodes"
        raise DescriptionError(f"{_SOURCE}: {path.name} is no mapping of dofs; give {wanted}") from None
