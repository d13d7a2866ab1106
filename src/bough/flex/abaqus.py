"""Bodies from Abaqus: matrices of *MATRIX GENERATE and of substructures (.mtx), nodes and sets from the input file (.inp)."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from bough.errors import DescriptionError
from bough.flex.deck import Deck, Keyword, keywords, read_deck, real, with_mesh
from bough.flex.exported import Exported, Places, condensed, dof_rotation, from_rows
from bough.flex.finite_elements import FiniteElements, rigid_motion
from bough.flex.integrals import Array
from bough.flex.reading import error_of, mirrored, read_text, units as units_of
from bough.flex.superelements import Superelement
from bough.progress import working

_SOURCE = "read_abaqus"
_wrong = error_of(_SOURCE)
_REMEDY = "give the path of a .mtx file"  # where one is missing
_SUPPORT = 1e30  # on the diagonal: Abaqus writes 1e36 for a dof with a boundary condition


@working("reading Abaqus files")
def read_abaqus(
    inp: str | Path,
    stiffness: str | Path | None = None,
    mass: str | Path | None = None,
    *,
    substructure: str | Path | None = None,
    units: str = "SI",
    declared_mass: float | None = None,
    **places: Unpack[Places],
) -> FiniteElements | Superelement:
    """A model from Abaqus files: the input file and the two matrices, or the matrices of a substructure.

    Matrices are those of *MATRIX OUTPUT, FORMAT=COORDINATE (row, column, value), or MATRIX INPUT or LABELS (node, dof, node, dof,
    value), whole or one triangle. By default they are searched for next to the input file, as NAME_STIF1.mtx and NAME_MASS1.mtx.
    Instances are placed, *SYSTEM and *TRANSFORM applied, supports (*BOUNDARY) removed. `attach` and `spiders` accept node numbers
    or names of node sets; see `matrices_model` for them, `origin` and `units`. Call `reduce` on the result:
    `read_abaqus("panel.inp", attach={"root": "ROOT"}, inboard="root").reduce(modes=8)`.
    """
    path, unit = Path(inp), units_of(units)
    deck = read_deck(path, _SOURCE)
    if substructure is not None:
        found = _substructure(Path(substructure), deck)
        return found.in_units(unit).placed(declared_mass, **places)
    tables = [_table(_beside(path, given, kind), kind) for given, kind in ((stiffness, "STIF"), (mass, "MASS"))]
    return with_mesh(_structure(deck, tables), deck).in_units(unit).model(mass=declared_mass, **places)


def _beside(path: Path, given: str | Path | None, kind: str) -> Path:
    if given is not None:
        return Path(given)
    there = sorted(each for each in path.parent.glob("*.mtx") if re.fullmatch(rf"{re.escape(path.stem)}_?{kind}\d+", each.stem))
    if not there:
        raise _wrong(f"there is no {path.stem}_{kind}1.mtx beside {path.name}; give stiffness=... and mass=..., files of *MATRIX "
                     "OUTPUT")
    return there[-1]


def _table(path: Path, kind: str) -> Array:
    """The rows of a matrix file: 3 columns (row, column, value) or 5 (node, dof, node, dof, value)."""
    lines = [line for line in read_text(path, _SOURCE, _REMEDY).splitlines() if line.strip() and line.lstrip()[0] not in "*%"]
    columns = len(_numbers(lines[0])) if lines else 0
    try:
        values = np.array(_numbers(" ".join(lines)), dtype=float)
        rows = values.reshape(-1, columns) if 0 < len(values) == columns * len(lines) else np.zeros((0, 0))
    except ValueError:
        wrong = next(i for i, line in enumerate(lines, start=1) if not _all_numbers(line))
        raise _wrong(f"{path.name}, line {wrong} of its data, is not numeric; give a file of *MATRIX OUTPUT") from None
    if columns not in (3, 5) or not len(rows):
        raise _wrong(f"{path.name} is not a {kind.lower()} matrix of *MATRIX OUTPUT (3 or 5 numbers a line); export "
                     "FORMAT=COORDINATE or MATRIX INPUT, and check that the file is complete")
    places = rows[:, :-1]                                       # internal dofs of substructures are below zero
    if not np.isfinite(rows).all() or (places != np.floor(places)).any() or (np.abs(places) > 2**31).any():
        raise _wrong(f"{path.name} has a wrong number of a node or dof, or no finite entry; export it again")
    return rows


def _numbers(line: str) -> list[str]:
    return line.replace(",", " ").upper().replace("D", "E").split()


def _all_numbers(line: str) -> bool:
    try:
        return bool(np.array(_numbers(line), dtype=float).size)
    except ValueError:
        return False


def _structure(deck: Deck, tables: list[Array]) -> Exported:
    """The structure by named dofs, or by dofs in the order of nodes, without supports and with internal dofs condensed."""
    dofs, matrices = _named(tables) if all(table.shape[1] == 5 for table in tables) else _numbered(deck, tables)
    inside = (dofs[:, 0] <= 0) | ~np.isin(dofs[:, 1], range(1, 7))
    if inside.any():
        matrices = condensed(_SOURCE, matrices, inside, [f"dof {dof} of node {node}" for node, dof in dofs[inside].tolist()])
        dofs = dofs[~inside]
    notes = [f"{int(inside.sum())} internal dofs without mass are condensed"] if inside.any() else []
    held = np.flatnonzero(matrices[0].diagonal() >= _SUPPORT)
    found = from_rows(_SOURCE, deck.labels.tolist(), deck.position, (dofs[:, 0], dofs[:, 1] - 1), (matrices[1], matrices[0]))
    axes = _axes(found.labels, found.position, deck)
    if len(held):
        found = _lifted(found, found.per_node * np.searchsorted(found.labels, dofs[held, 0]) + dofs[held, 1] - 1, axes)
        notes.append(f"{len(held)} dofs have supports (*BOUNDARY), which are removed: the body is free")
    if deck.transforms:
        found = found.in_axes(axes)
    if deck.renumbered:
        notes.append(f"nodes of several instances are renumbered 1 to {len(deck.labels)}, in the order of the instances")
    return replace(found, notes=(*found.notes, *notes))


def _named(tables: list[Array]) -> tuple[Array, tuple[Any, Any]]:
    """Rows (node, dof) of all tables, and stiffness and mass by them."""
    pairs = [table[:, pair].astype(int) for table in tables for pair in ([0, 1], [2, 3])]
    dofs, place = np.unique(np.vstack(pairs), axis=0, return_inverse=True)
    parts = np.split(place.ravel(), np.cumsum([len(each) for each in pairs])[:-1])
    stiffness, mass = (_symmetric(parts[2 * i], parts[2 * i + 1], table[:, 4], len(dofs)) for i, table in enumerate(tables))
    return dofs, (stiffness, mass)


def _numbered(deck: Deck, tables: list[Array]) -> tuple[Array, tuple[Any, Any]]:
    """The same for matrices by row number: 3 or 6 dofs for each node that has elements, or as its elements require."""
    if any(table.shape[1] != 3 for table in tables):
        raise _wrong("stiffness and mass have different formats; export both with FORMAT=COORDINATE")
    size = int(max(table[:, :2].max() for table in tables))
    if min(table[:, :2].min() for table in tables) < 1:
        raise _wrong("the matrices have internal dofs (rows below 1); export with FORMAT=MATRIX INPUT, which names them")
    named = [node for _, _, elements in deck.elements for nodes in elements for node in nodes]
    used = np.unique(named) if named else deck.labels
    candidates = [dict.fromkeys(labels.tolist(), each) for labels in (used, deck.labels) for each in (3, 6)]
    for each in (*candidates, _dofs_by_elements(deck)):
        if sum(each.values()) == size:
            stiffness, mass = (_symmetric(table[:, 0] - 1, table[:, 1] - 1, table[:, 2], size) for table in tables)
            return np.array([(label, i) for label in sorted(each) for i in range(1, each[label] + 1)]), (stiffness, mass)
    raise _wrong(f"the matrices have {size} dofs for {len(used)} nodes with elements; these numbers do not tell which dof is "
                 "which: export with FORMAT=MATRIX INPUT, which names nodes and dofs, or give the input file of the same model")


def _dofs_by_elements(deck: Deck) -> dict[int, int]:
    """How many dofs each node has: 3 on solids, trusses and membranes, 6 on shells and beams."""
    found: dict[int, int] = {}
    for kind, _, elements in deck.elements:
        count = 3 if kind.startswith(("C3D", "T3D", "M3D", "SFM3D", "MASS")) else 6
        for node in (node for nodes in elements for node in nodes):
            found[node] = max(found.get(node, 0), count)
    return found


def _symmetric(rows: Any, columns: Any, values: Array, size: int) -> Any:
    """A symmetric matrix, given by both triangles, which is when an entry off the diagonal is on the other side too, or by one."""
    from scipy.sparse import csr_array

    row, column = np.asarray(rows, dtype=int), np.asarray(columns, dtype=int)
    off = row != column
    if not np.isin((row * size + column)[off], (column * size + row)[off]).any():
        row, column, values = mirrored(row, column, values)
    return csr_array((values, (row, column)), shape=(size, size))


# ---- supports and axes -----------------------------------------------------------------------------------------------------
def _lifted(found: Exported, held: Array, axes: Array) -> Exported:
    """Restore the diagonal, where Abaqus writes 1e36 for a support: rigid motion must need no force.

    K_ii = - (sum over j /= i of K_ij r_j), r the rigid motion that moves dof i by 1 along its own axis.
    """
    from scipy.sparse import coo_array

    entries = found.stiffness.tocoo()
    keep = (entries.coords[0] != entries.coords[1]) | ~np.isin(entries.coords[0], held)
    rest = coo_array((entries.data[keep], tuple(each[keep] for each in entries.coords)), shape=entries.shape).tocsr()
    rigid, turn = rigid_motion(found.position, found.per_node), dof_rotation(axes, found.per_node)
    missing = np.zeros(len(held))
    for k, dof in enumerate(held.tolist()):
        node, part = divmod(dof, found.per_node)
        motion = turn.T @ (rigid[:, 3 * (part // 3) : 3 * (part // 3) + 3] @ axes[node][:, part % 3])
        missing[k] = -(rest[[dof]] @ motion)[0]
    return replace(found, stiffness=(rest + coo_array((missing, (held, held)), shape=entries.shape)).tocsr())


def _axes(labels: Array, position: Array, deck: Deck) -> Array:
    """(N, 3, 3) the axes of the nodes' dofs as columns: global, or those of *TRANSFORM."""
    axes = np.tile(np.eye(3), (len(labels), 1, 1))
    for nodes, kind, points in deck.transforms:
        for node in np.flatnonzero(np.isin(labels, nodes)):
            axes[node] = _local_axes(kind, np.array(points).reshape(2, 3), position[node])
    return axes


def _local_axes(kind: str, points: Array, place: Array) -> Array:
    """Directions (columns) of the dofs of a node: R by a point on x and one in the x-y plane, C about an axis, S about a center."""
    a, b = points
    if kind == "R":
        z = np.cross(a, b)
        x, z = a / np.linalg.norm(a), z / np.linalg.norm(z)
        return np.stack([x, np.cross(z, x), z], axis=1)
    axis = (b - a) / np.linalg.norm(b - a)
    arm = place - a
    out = arm - axis * (arm @ axis) if kind == "C" else arm
    if not np.linalg.norm(out) > 0 or not np.linalg.norm(np.cross(axis, arm)) > 0:
        return np.eye(3)
    out = out / np.linalg.norm(out)
    around = np.cross(axis, arm) / np.linalg.norm(np.cross(axis, arm))
    return np.stack([out, around, axis if kind == "C" else np.cross(out, around)], axis=1)


# ---- substructures ---------------------------------------------------------------------------------------------------------
def _substructure(path: Path, deck: Deck) -> Superelement:
    """The file of *SUBSTRUCTURE MATRIX OUTPUT: interface nodes, in axes of *TRANSFORM if they have some, and modal coordinates."""
    rows, matrices = _user_element(path)
    places = dict(zip(deck.labels.tolist(), deck.position, strict=True))
    for node, dof in rows:
        if node > 0 and (node not in places or dof not in range(1, 7)):
            wrong = f"keeps dof {dof}, not one of a motion" if node in places else "has no coordinates in the input file"
            raise _wrong(f"node {node} of {path.name} {wrong}; give files of one model, with dofs 1 to 6")
    names = list(dict.fromkeys(node for node, _ in rows if node > 0))
    at = np.array([names.index(node) if node > 0 else -1 for node, _ in rows])
    component = np.array([dof - 1 if node > 0 else 0 for node, dof in rows])
    position = np.array([places[name] for name in names]).reshape(-1, 3)
    mass, stiffness, viscous = matrices["MASS"], matrices["STIFFNESS"], matrices.get("VISCOUS DAMPING")
    whole = Superelement(_SOURCE, tuple(map(str, names)), position, at, component, mass, stiffness, viscous)
    return whole.in_axes(_axes(np.array(names), position, deck))


def _user_element(path: Path) -> tuple[list[tuple[int, int]], dict[str, Array]]:
    """(node, dof) of each row, and the matrices by their types."""
    entries = list(keywords(path, _SOURCE, _REMEDY))
    heads = [entry for entry in entries if entry.name == "USER ELEMENT"]
    if len(heads) != 1:
        raise _wrong(f"{path.name} holds {len(heads)} *USER ELEMENT, not one; give the .mtx file of *SUBSTRUCTURE MATRIX OUTPUT "
                     "(FILE NAME=..., OUTPUT FILE=USER DEFINED), of one substructure")
    try:
        rows = _retained(path, heads[0])
        found = {
            entry.options.get("TYPE", "").upper(): [real(each) for line in entry.lines for each in line if each]
            for entry in entries
            if entry.name == "MATRIX"
        }
    except DescriptionError:
        raise
    except (ValueError, IndexError):
        raise _wrong(f"{path.name} has a line that is not numeric; check that it is complete") from None
    kinds = ("STIFFNESS", "MASS", *(["VISCOUS DAMPING"] if "VISCOUS DAMPING" in found else []))
    if other := [kind for kind, values in found.items() if kind not in kinds and any(values)]:
        raise _wrong(f"{path.name} has a matrix of type {other[0] or 'none'}, which is not supported; write it without (STRUCTURAL "
                     "DAMPING=NO), and give ratios of damping, reduce(damping=...)")
    return rows, {kind: _triangle(path, kind, found.get(kind, []), len(rows)) for kind in kinds}


def _retained(path: Path, head: Keyword) -> list[tuple[int, int]]:
    """(node, dof) of each row: nodes are listed in comments, internal ones (modal coordinates) below 1; dofs by places there."""
    listed = re.search(r"ELEMENT NODES[ \t]*\r?\n((?:\*\*[ \t\d,-]+\r?\n)+)", read_text(path, _SOURCE, _REMEDY), re.IGNORECASE)
    nodes = [int(each) for each in re.findall(r"-?\d+", listed[1])] if listed else []
    count = int(head.options.get("NODES", len(nodes)) or 0)
    if not nodes or len(nodes) != count:
        raise _wrong(f"{path.name} lists {len(nodes)} ELEMENT NODES in its comments, not {count or 'its nodes'}; give the whole "
                     ".mtx file of *SUBSTRUCTURE MATRIX OUTPUT, with its comments")
    lines = [[int(each) for each in line if each] for line in head.lines]
    starts = {1: lines[0]} | {line[0]: line[1:] for line in lines[1:]}
    rows, current = [], starts[1]
    for i, node in enumerate(nodes, start=1):
        current = starts.get(i, current)
        rows += [(node, dof) for dof in current]
    return rows


def _triangle(path: Path, kind: str, values: list[float], size: int) -> Array:
    """A matrix whose lower triangle is given row by row, or, UNSYMM, all of its columns."""
    if len(values) == size**2:
        return np.array(values).reshape(size, size).T
    if len(values) != size * (size + 1) // 2:
        missing = f"write it with {kind}=YES" if not values else "give the whole file"
        raise _wrong(f"the {kind.lower()} matrix of {path.name} holds {len(values)} numbers, not {size * (size + 1) // 2} for "
                     f"{size} dofs; {missing}")
    matrix = np.zeros((size, size))
    matrix[np.tril_indices(size)] = values
    return np.asarray(matrix + np.tril(matrix, -1).T)
