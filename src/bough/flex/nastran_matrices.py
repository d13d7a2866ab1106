"""Matrices of Nastran with the grid point and component of each row, out of DMIG entries, OP4 files and OP2 files."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bough.flex.nastran_bulk import Bulk
from bough.flex.nastran_cards import Card, cards_by_name, field_of, integer, listed, number, wrong
from bough.flex.nastran_op2 import op2_matrices
from bough.flex.nastran_op4 import read_op4
from bough.flex.reading import completed

STIFFNESS = ("KGG", "KAAX", "KAA", "KXX", "KGGX", "KJJ", "KJJX", "K2GG")
MASS = ("MGG", "MAAX", "MAA", "MXX", "MGGX", "MJJ", "MJJX", "M2GG")
DAMPING = ("BGG", "BAAX", "BAA", "BXX", "B2GG")
WANTED = frozenset((*STIFFNESS, *MASS, *DAMPING))
Row = tuple[int, int]  # a grid point and its component 1 ... 6; a scalar point and 0


class Dmig(NamedTuple):
    """A matrix by grid points and components (0: a scalar point): rows[i] = (grid, component)."""

    rows: list[Row]
    matrix: Any  # sparse


def read_matrices(bulk: Bulk, path: Path | None, op2: Path | None) -> dict[str, Dmig]:
    """All matrices by name: of the bulk data, of a punch, OP4 or OP2 file, of an OP2 file of results."""
    known, given = read_dmig(bulk.cards), {}
    if path is not None and not path.is_file():
        raise wrong(f"the file {str(path)!r} does not exist; give an OP4 file, or a punch file with DMIG entries")
    if path is not None and path.suffix.lower() == ".op2":
        given = op2_matrices(path, WANTED)
    elif path is not None and _is_op4(path):
        given = {name: _only(path, name, each) for name, each in read_op4(path).items() if name in WANTED}
    elif path is not None:
        known |= read_dmig(cards_by_name(path))
    if op2 is not None:
        given |= op2_matrices(op2, WANTED)
    return known | {name: _of_rows(bulk, name, each) for name, each in given.items() if name in WANTED and _square(each)}


def _only(path: Path, name: str, matrices: list[Any]) -> Any:
    if len(matrices) > 1:
        raise wrong(f"{path.name} holds {name} {len(matrices)} times; give a file of one structure")
    return matrices[0]


def chosen_set(known: Mapping[str, Dmig], name: str) -> tuple[Dmig | None, Dmig | None, Dmig | None]:
    """Stiffness, mass and damping of one set of dofs: KGG with MGG, KAAX with MAAX."""
    for stiffness, mass in zip(STIFFNESS, MASS, strict=True):
        if stiffness in known and mass in known:
            return known[stiffness], known[mass], next((known[each] for each in DAMPING if each in known), None)
    found = [next((known[each] for each in names if each in known), None) for names in (STIFFNESS, MASS, DAMPING)]
    held, lacking = [each for each in (*STIFFNESS, *MASS) if each in known], [each for each in found[:2] if each is None]
    if held and lacking:
        what, names = ("stiffness", STIFFNESS) if found[0] is None else ("mass", MASS)
        raise wrong(f"{name} has {', '.join(held)}, but no {what} matrix ({', '.join(names)}); export both, of one set of dofs")
    return found[0], found[1], found[2]


def without_idle_scalars(stiffness: Dmig, mass: Dmig) -> tuple[Dmig, Dmig]:
    """The same without scalar points that have neither stiffness nor mass."""
    sizes = [(row, size) for each in (stiffness, mass) for row, size in zip(each.rows, abs(each.matrix).sum(axis=1), strict=True)]
    busy = {row for row, size in sizes if size > 0}
    found = []
    for each in (stiffness, mass):
        keep = [i for i, row in enumerate(each.rows) if row[1] > 0 or row in busy]
        found.append(Dmig([each.rows[i] for i in keep], each.matrix[keep][:, keep]))
    return found[0], found[1]


def _square(matrix: Any) -> bool:
    """Nastran writes a 1 x 1 matrix in place of one that was not requested."""
    return matrix is not None and matrix.shape[0] == matrix.shape[1] > 1


# ---- rows of matrices that do not name theirs ------------------------------------------------------------------------------
def _of_rows(bulk: Bulk, name: str, matrix: Any) -> Dmig:
    """A matrix whose rows are the set of dofs that has its size: all, those of EXTRN, those of ASET, those without supports."""
    from scipy.sparse import csr_array

    sets = {what: rows for what, rows in _row_sets(bulk).items() if rows}
    rows = next((each for each in sets.values() if len(each) == matrix.shape[0]), None)
    if rows is None:
        sizes = ", ".join(f"{len(each)} dofs of {what}" for what, each in sets.items())
        raise wrong(f"{name} is {matrix.shape[0]} x {matrix.shape[1]}, but the bulk data have {sizes}; give matrices of the g-set "
                    "(KGG, MGG) of the same model, or those of EXTSEOUT with its punch file as bulk data")
    found = csr_array(matrix)
    if np.iscomplexobj(found.data):
        if np.abs(found.data.imag).max(initial=0.0) > 0:
            raise wrong(f"{name} is complex; give real matrices, without structural damping")
        found = found.real
    return Dmig(rows, completed(csr_array(found, dtype=float)))


def _row_sets(bulk: Bulk) -> dict[str, list[Row]]:
    """Sets of dofs by their source, each in the order of the points' numbers; EXTRN in its own order."""
    scalars = set(bulk.scalars)
    points = sorted({*bulk.labels.tolist(), *scalars})
    every = sorted([(label, i) for label in bulk.labels.tolist() for i in range(1, 7)] + [(label, 0) for label in scalars])
    fields = [each for card in bulk.cards.get("EXTRN", []) for each in card[1:] if each]
    external = [row for grid, text in zip(fields[::2], fields[1::2], strict=False) for row in _components(grid, text)]
    analyzed: set[Row] = set()
    for kind in ("ASET", "QSET", "BSET", "CSET"):
        for card in bulk.cards.get(kind, []):
            given = [each for each in card[1:] if each]
            analyzed |= {row for grid, text in zip(given[::2], given[1::2], strict=False) for row in _components(grid, text)}
        for card in bulk.cards.get(f"{kind}1", []):
            analyzed |= {row for grid in listed(card[2:], card, points) for row in _components(str(grid), card[1])}
    held = {row for _, grid, text in bulk.supports() for row in _components(str(grid), text)}
    return {f"{len(bulk.labels)} grid points and {len(scalars)} scalar points": every, "EXTRN": external,
            "ASET and QSET": sorted(analyzed), "all but supports": [row for row in every if row not in held]}


def _components(grid: str, text: str) -> list[Row]:
    label = int(grid) if grid.isdigit() else 0
    return [(label, int(each)) for each in sorted(set(text))] if text.strip("0").isdigit() else [(label, 0)]


# ---- DMIG ------------------------------------------------------------------------------------------------------------------
def read_dmig(cards: Mapping[str, list[Card]]) -> dict[str, Dmig]:
    """The square matrices of all DMIG entries by name."""
    heads = {card[1].upper(): card for card in cards.get("DMIG", []) if card[2] == "0"}
    entries: dict[str, list[tuple[Row, Row, float, float]]] = {name: [] for name in heads}
    for card in cards.get("DMIG", []):
        name = card[1].upper()
        if card[2] == "0":
            continue
        if name not in heads:
            raise wrong(f"DMIG {name} has columns, but no head (DMIG, {name}, 0, ...); give the whole punch file")
        column = (integer(card[2], card), integer(card[3], card))
        for i in range(5, len(card), 4):
            if field_of(card, i):
                row = (integer(card[i], card), integer(field_of(card, i + 1), card))
                entries[name].append((row, column, number(field_of(card, i + 2)), number(field_of(card, i + 3))))
    form = {name: field_of(head, 3) for name, head in heads.items()}
    for name in sorted(WANTED & set(heads)):
        if entries[name] and form[name] not in ("1", "6"):
            raise wrong(f"DMIG {name} is rectangular (form {form[name]}); give a square or symmetric one")
    return {name: _assembled(name, form[name], given) for name, given in entries.items() if given and form[name] in ("1", "6")}


def _assembled(name: str, form: str, entries: list[tuple[Row, Row, float, float]]) -> Dmig:
    """Form 1 is a square matrix, form 6 one triangle of a symmetric one."""
    from scipy.sparse import csr_array

    if any(imaginary for *_, imaginary in entries):
        raise wrong(f"DMIG {name} is complex; give real matrices, without structural damping")
    rows = sorted({each for row, column, *_ in entries for each in (row, column)})
    if outside := [each for each in rows if not 0 <= each[1] <= 6]:
        raise wrong(f"DMIG {name} has component {outside[0][1]} of point {outside[0][0]}; give 0 to 6")
    at = {each: i for i, each in enumerate(rows)}
    data = [(at[row], at[column], value) for row, column, value, _ in entries]
    if form == "6":
        if twice := {(i, j) for i, j, _ in data if i < j} & {(j, i) for i, j, _ in data if i > j}:
            one, other = (f"component {rows[i][1]} of point {rows[i][0]}" for i in min(twice))
            raise wrong(f"DMIG {name} is symmetric (form 6), but has both triangles ({one} with {other}, and back); give one of "
                        "them, or form 1")
        data += [(j, i, value) for i, j, value in data if i != j]
    table = np.array(data)
    matrix = csr_array((table[:, 2], tuple(table[:, :2].T.astype(int))), shape=(len(rows), len(rows)))
    return Dmig(rows, matrix)


def _is_op4(path: Path) -> bool:
    """By its suffix, or because it is not text."""
    return path.suffix.lower() in (".op4", ".mat", ".bin") or b"\0" in path.read_bytes()[:200]
