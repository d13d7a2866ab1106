"""Bodies from CalculiX: matrices of *FREQUENCY, SOLVER=MATRIXSTORAGE (.sti, .mas, .dof), nodes from .inp or .frd."""

from pathlib import Path
from typing import Any, Unpack

import numpy as np

from bough.flex.deck import Deck, read_deck, real, with_mesh
from bough.flex.exported import Places, from_rows, with_missing
from bough.flex.finite_elements import FiniteElements
from bough.flex.integrals import Array
from bough.flex.reading import error_of, mirrored, read_text, units as units_of
from bough.progress import working

_SOURCE = "read_calculix"
_wrong = error_of(_SOURCE)


@working("reading CalculiX files")
def read_calculix(job: str | Path, *, nodes: str | Path | None = None, units: str = "SI", declared_mass: float | None = None,
                  **places: Unpack[Places]) -> FiniteElements:
    """A model from CalculiX files: `job` is their common name, with .sti, .mas and .dof next to it.

    Nodes, elements and sets come from `nodes` (.inp or .frd; by default job.inp). Write the matrices with
    *FREQUENCY, SOLVER=MATRIXSTORAGE in a step without supports: dofs removed by supports or equations are held. `attach` and
    `spiders` accept node numbers or names of node sets; see `matrices_model` for them, `origin` and `units`.
    """
    stem = Path(job)
    stem = stem.with_suffix("") if stem.suffix.lower() in (".inp", ".sti", ".mas", ".dof", ".frd") else stem
    deck = _mesh(stem, nodes)
    rows = _dofs(stem.with_suffix(".dof"))
    _refuse_expanded(deck, rows)
    matrices = tuple(_matrix(stem.with_suffix(suffix), len(rows)) for suffix in (".mas", ".sti"))
    found = from_rows(_SOURCE, deck.labels.tolist(), deck.position, (rows[:, 0], rows[:, 1] - 1), (matrices[0], matrices[1]))
    structure = with_mesh(with_missing(found, rows - [0, 1]), deck).in_units(units_of(units))
    return structure.model(mass=declared_mass, **places)


def _refuse_expanded(deck: Deck, rows: Array) -> None:
    """CalculiX expands shells and beams into solids: its matrices then refer to nodes that no file lists."""
    kinds = sorted({kind for kind, _, _ in deck.elements if kind.startswith(("S", "B", "CP", "CA", "M3D", "T3D"))})
    unknown = rows[~np.isin(rows[:, 0], deck.labels), 0]
    if kinds and len(unknown):
        raise _wrong(f"the model has elements {', '.join(kinds)}, which CalculiX expands into solids, and the matrices have dofs "
                     f"of their inner nodes ({unknown[0]}, ...), which have no place in the files; mesh it with solid elements "
                     "(C3D20, C3D10), or give its modes: bough.flex.from_modes")


def _mesh(stem: Path, nodes: str | Path | None) -> Deck:
    path = stem.with_suffix(".inp") if nodes is None else Path(nodes)
    if nodes is None and not path.exists() and stem.with_suffix(".frd").exists():
        path = stem.with_suffix(".frd")
    return _frd_nodes(path) if path.suffix.lower() == ".frd" else read_deck(path, _SOURCE)


def _frd_nodes(path: Path) -> Deck:
    """The nodes of a result file: lines ' -1', number (5 or 10 characters), three coordinates of 12, in the block '2C'."""
    labels, places, inside, start = [], [], False, 13
    for line in read_text(path, _SOURCE, "give nodes=..., an .inp or .frd file").splitlines():
        if line.startswith("    2C"):
            inside, start = True, 8 if line.split()[-1] == "0" else 13
        elif inside and line.startswith(" -1"):
            try:
                labels.append(int(line[3:start]))
                places.append([real(line[start + 12 * i : start + 12 + 12 * i].strip()) for i in range(3)])
            except ValueError:
                raise _wrong(f"{path.name} has the node {line.strip()[:60]!r}; export it again") from None
        elif inside and line.startswith(" -3"):
            break
    if not labels:
        raise _wrong(f"{path.name} has no nodes; give an .inp file, or an .frd file written as text")
    return Deck(np.array(labels, dtype=int), np.array(places))


def _dofs(path: Path) -> Array:
    """(n, 2): node and dof (1 ... 3) of each row, out of lines "node.dof"."""
    text = _text(path)
    try:
        rows = np.array([[int(each) for each in line.split(".")] for line in text.split()], dtype=int)
    except ValueError:
        rows = np.zeros((0, 0), dtype=int)
    if rows.ndim != 2 or rows.shape[1] != 2:
        raise _wrong(f"{path.name} does not consist of lines NODE.DOF; give what *FREQUENCY, SOLVER=MATRIXSTORAGE wrote")
    return rows


def _matrix(path: Path, size: int) -> Any:
    from scipy.sparse import csr_array

    try:
        table = np.array(_text(path).split(), dtype=float).reshape(-1, 3)
    except ValueError:
        raise _wrong(f"{path.name} does not consist of lines ROW COLUMN VALUE; check that the file is complete") from None
    row, column = table[:, :2].T.astype(int) - 1
    if len(table) == 0 or max(row.max(), column.max()) + 1 != size or min(row.min(), column.min()) < 0:
        raise _wrong(f"{path.name} has {0 if not len(table) else max(row.max(), column.max()) + 1} dofs, but the .dof file lists "
                     f"{size}; give files of one run, and check that they are complete")
    row, column, values = mirrored(row, column, table[:, 2])
    return csr_array((values, (row, column)), shape=(size, size))


def _text(path: Path) -> str:
    return read_text(path, _SOURCE, "write it with *FREQUENCY, SOLVER=MATRIXSTORAGE, and give the job's name")
