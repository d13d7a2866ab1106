"""Bodies out of Abaqus: matrices of *MATRIX GENERATE and of substructures (.mtx), nodes and sets from the input file (.inp)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from bough.errors import DescriptionError
from bough.flex.deck import Deck, keywords, outline, read_deck, solid_elements
from bough.flex.exported import Exported, labelled
from bough.flex.finite_elements import FiniteElements
from bough.flex.integrals import Array
from bough.flex.superelements import Superelement
from bough.flex.units import units as units_of
from bough.progress import working

_SOURCE = "read_abaqus"


@working("reading Abaqus files")
def read_abaqus(
    inp: str | Path,
    stiffness: str | Path | None = None,
    mass: str | Path | None = None,
    *,
    substructure: str | Path | None = None,
    attach: Mapping[str, Any] | None = None,
    inboard: str | None = None,
    origin: Any = None,
    spiders: Mapping[str, Any] | None = None,
    units: str = "SI",
    declared_mass: float | None = None,
) -> FiniteElements | Superelement:
    """A model out of Abaqus's files: the input file and the two matrices, or the matrices of a substructure.

    Matrices are those of *MATRIX OUTPUT, FORMAT=COORDINATE (row, column, value), or MATRIX INPUT or LABELS (node, dof, node, dof,
    value), whole or one triangle. Without their names they are looked for beside the input file, as NAME_STIF1.mtx and
    NAME_MASS1.mtx. `attach` and `spiders` take numbers of nodes or names of node sets; see `matrices_model` for them, `origin`
    and `units`. Reduce what is returned: `read_abaqus("panel.inp", attach={"root": "ROOT"}, inboard="root").reduce(modes=8)`.
    """
    path, unit = Path(inp), units_of(units)
    deck = read_deck(path, _SOURCE)
    if substructure is not None:
        found = _substructure(Path(substructure), deck)
        return found.in_units(unit).placed(attach=attach, inboard=inboard, origin=origin)
    tables = [_table(_beside(path, given, kind), kind) for given, kind in ((stiffness, "STIF"), (mass, "MASS"))]
    structure = _structure(deck, tables)
    lines, faces = outline(deck, structure.labels)
    solids = solid_elements(deck, structure.labels)
    structure = replace(structure, lines=lines, faces=faces, sets=deck.node_sets, solids=solids).in_units(unit)
    return structure.model(attach=attach, inboard=inboard, origin=origin, spiders=spiders, mass=declared_mass)


def _beside(path: Path, given: str | Path | None, kind: str) -> Path:
    if given is not None:
        found = Path(given)
        if not found.exists():
            raise DescriptionError(f"{_SOURCE}: the file {str(found)!r} does not exist; give the path of a .mtx file")
        return found
    there = sorted(path.parent.glob(f"{path.stem}_{kind}*.mtx"))
    if not there:
        raise DescriptionError(
            f"{_SOURCE}: there is no {path.stem}_{kind}1.mtx beside {path.name}; give stiffness=... and mass=..., files "
            "of *MATRIX OUTPUT"
        )
    return there[-1]


def _table(path: Path, kind: str) -> Array:
    """The rows of a matrix file: 3 columns (row, column, value) or 5 (node, dof, node, dof, value)."""
    rows = []
    for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("*"):
            continue
        try:
            rows.append([float(each) for each in line.replace(",", " ").replace("D", "E").split()])
        except ValueError:
            raise DescriptionError(
                f"{_SOURCE}: {path.name} line {number} is not made of numbers; give a file of *MATRIX OUTPUT"
            ) from None
    if not rows or len(rows[0]) not in (3, 5) or any(len(row) != len(rows[0]) for row in rows):
        raise DescriptionError(
            f"{_SOURCE}: {path.name} is no {kind.lower()} matrix of *MATRIX OUTPUT (3 or 5 numbers a line); export "
            "FORMAT=COORDINATE or "
            "MATRIX INPUT, and look whether the file is whole"
        )
    table = np.array(rows)
    places = table[:, :-1]
    if not np.isfinite(table).all() or (places != np.floor(places)).any() or (places < 0).any() or (places > 2**31).any():
        raise DescriptionError(f"{_SOURCE}: {path.name} has a wrong number of a node or dof, or no finite entry; export it again")
    return table


def _structure(deck: Deck, tables: list[Array]) -> Exported:
    if all(table.shape[1] == 5 for table in tables):
        dofs = np.unique(np.vstack([table[:, pair] for table in tables for pair in ([0, 1], [2, 3])]).astype(int), axis=0)
        number = {tuple(each): i for i, each in enumerate(dofs.tolist())}
        matrices = []
        for table in tables:
            rows, columns = ([number[each] for each in _pairs(table, first)] for first in (0, 2))
            matrices.append(_symmetric(rows, columns, table[:, 4], len(dofs)))
        return labelled(_SOURCE, deck.labels.tolist(), deck.position, (dofs[:, 0], dofs[:, 1] - 1), (matrices[1], matrices[0]))
    if any(table.shape[1] != 3 for table in tables):
        raise DescriptionError(f"{_SOURCE}: stiffness and mass have different formats; export both with FORMAT=COORDINATE")
    size, most = int(max(table[:, :2].max() for table in tables)), 6 * len(deck.labels)
    if size > most or min(table[:, :2].min() for table in tables) < 1:
        raise DescriptionError(
            f"{_SOURCE}: the matrices number dofs up to {size}, and {len(deck.labels)} nodes have {most} at most, from 1 on; "
            "give the input file of the same model"
        )
    matrices = [_symmetric(table[:, 0].astype(int) - 1, table[:, 1].astype(int) - 1, table[:, 2], size) for table in tables]
    named = [node for _, _, elements in deck.elements for nodes in elements for node in nodes]
    used = np.unique(named) if named else deck.labels
    for labels in (used, deck.labels):
        for per_node in (3, 6):
            if size == per_node * len(labels):
                each_dof = (np.repeat(labels, per_node), np.tile(np.arange(per_node), len(labels)))
                return labelled(_SOURCE, deck.labels.tolist(), deck.position, each_dof, (matrices[1], matrices[0]))
    raise DescriptionError(
        f"{_SOURCE}: the matrices have {size} dofs for {len(used)} nodes with elements; these numbers do not tell which "
        "dof is which: "
        "export with FORMAT=MATRIX INPUT, which names nodes and dofs, or give the input file of the same model"
    )


def _pairs(table: Array, first: int) -> list[tuple[int, ...]]:
    return [tuple(each) for each in table[:, first : first + 2].astype(int).tolist()]


def _symmetric(rows: Any, columns: Any, values: Array, size: int) -> Any:
    """A matrix of which one triangle, or both, are given."""
    from scipy.sparse import csr_array

    row, column = np.asarray(rows, dtype=int), np.asarray(columns, dtype=int)
    if (row >= column).all() or (row <= column).all():
        off = row != column
        row, column = np.concatenate([row, column[off]]), np.concatenate([column, row[off]])
        values = np.concatenate([values, values[off]])
    return csr_array((values, (row, column)), shape=(size, size))


def _substructure(path: Path, deck: Deck) -> Superelement:
    """The file of *SUBSTRUCTURE MATRIX OUTPUT: a *USER ELEMENT with its nodes and dofs, and its matrices."""
    import re

    text = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
    listed = re.search(r"ELEMENT NODES\s*\n((?:\*\*[ \d,]+\n)+)", text)
    if not listed:
        raise DescriptionError(f"{_SOURCE}: {path.name} lists no ELEMENT NODES; give the .mtx file of *SUBSTRUCTURE MATRIX OUTPUT")
    nodes = [int(each) for each in re.findall(r"\d+", listed[1])]
    per_node: dict[int, list[int]] = {}
    matrices: dict[str, Array] = {}
    for entry in keywords(path, _SOURCE):
        if entry.name == "USER ELEMENT":
            current = [int(each) for line in entry.lines[:1] for each in line if each]
            starts = {1: current} | {int(line[0]): [int(each) for each in line[1:] if each] for line in entry.lines[1:]}
            for i in range(1, len(nodes) + 1):
                current = starts.get(i, current)
                per_node[i - 1] = current
        elif entry.name == "MATRIX":
            values = np.array([float(each.replace("D", "E")) for line in entry.lines for each in line if each])
            matrices[entry.options.get("TYPE", "").upper()] = values
    rows = [(nodes[i], dof) for i, dofs in per_node.items() for dof in dofs]
    return Superelement.from_triangles(_SOURCE, rows, matrices, dict(zip(deck.labels.tolist(), deck.position, strict=True)))
