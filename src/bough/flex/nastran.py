"""Bodies from Nastran: bulk data with modes or matrices from OP2, OP4 or punched DMIG files, and external superelements."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from bough.flex.exported import Exported, Places, placed, without_spiders
from bough.flex.finite_elements import FiniteElements
from bough.flex.given_modes import GivenModes, placed_modes
from bough.flex.integrals import Array
from bough.flex.nastran_bulk import Bulk, read_bulk
from bough.flex.nastran_cards import SOURCE, wrong
from bough.flex.nastran_elements import links_of, nodal_masses, supported
from bough.flex.nastran_matrices import MASS, STIFFNESS, Dmig, chosen_set, read_matrices, without_idle_scalars
from bough.flex.nastran_op2 import bulk_of_op2, read_op2
from bough.flex.reading import Units, units as units_of
from bough.flex.superelements import Superelement
from bough.progress import working

_BASIC = ("BOUGV1", "BOPHIG")  # tables of eigenvectors in basic axes


@working("reading Nastran files")
def read_nastran(
    bulk: str | Path,
    *,
    op2: str | Path | None = None,
    matrices: str | Path | None = None,
    subcase: int | None = None,
    masses: Mapping[int, float] | None = None,
    units: str = "SI",
    declared_mass: float | None = None,
    **places: Unpack[Places],
) -> FiniteElements | Superelement | GivenModes:
    """A model from Nastran files; call `reduce` on it: `read_nastran("panel.bdf", op2="panel.op2", ...).reduce(modes=8)`.

    `bulk` is the input file (.bdf, .dat, .pch; it can include others), or an OP2 file that contains it. With matrices of the grid
    points (MGG and KGG in the OP2, or in `matrices`: an OP4 file, or a punch file of DMIG) the whole model is returned; rigid
    elements and multipoint constraints are eliminated, and supports (SPC) are removed: the body is free. With matrices of boundary
    points and modal coordinates (EXTSEOUT: KAAX and MAAX as DMIG in its punch file, or KAA and MAA in an OP4 file beside it) it is
    a `Superelement`. With an OP2 that has eigenvectors alone it is `GivenModes`, those of `subcase` (the first that has some); the
    masses are lumped from the elements and CONM2 of the bulk data, or given by `masses` (grid point: mass). Modes of
    OP2 files and masses of elements are read by pyNastran: pip install bough[nastran]. See `matrices_model` for `attach`,
    `spiders`, `origin` and `units`.
    """
    unit = units_of(units)
    if Path(bulk).suffix.lower() == ".op2":
        op2 = bulk if op2 is None else op2
        found = bulk_of_op2(Path(bulk))
    else:
        found = read_bulk(Path(bulk))
    known = read_matrices(found, None if matrices is None else Path(matrices), None if op2 is None else Path(op2))
    stiffness, mass, viscous = chosen_set(known, Path(bulk).name)
    if stiffness is not None and mass is not None:
        stiffness, mass = without_idle_scalars(stiffness, mass)
        if any(component <= 0 for _, component in stiffness.rows):
            return _superelement(found, stiffness, mass, viscous).in_units(unit).placed(declared_mass, **places)
        structure = _structure(found, stiffness, mass).in_units(unit)
        return structure.model(mass=declared_mass, **places)
    if op2 is None:
        raise wrong(f"{Path(bulk).name} has no stiffness ({', '.join(STIFFNESS)}) and mass ({', '.join(MASS)}) as DMIG; give "
                    "matrices= (OP4 or punch file), or op2= with matrices or eigenvectors")
    results = read_op2(Path(op2))
    modes = _modes(found, _table(results, Path(op2), subcase), results, masses, unit)
    _check_declared(modes, declared_mass)
    attach, inboard, origin = without_spiders(SOURCE, places)
    chosen = {name: _rows(modes, name, nodes) for name, nodes in (attach or {}).items()}
    return placed_modes(modes, chosen, inboard, origin)


def _check_declared(modes: GivenModes, mass: float | None) -> None:
    found = float(modes.mass.sum())
    if mass is not None and abs(found - mass) > 1e-3 * abs(mass):
        raise wrong(f"mass is {mass:.6g} kg but the elements and concentrated masses weigh {found:.6g} kg; check the units, or "
                    "give masses= by grid point")


def _rows(modes: GivenModes, name: str, nodes: Any) -> Any:
    shell = Exported(SOURCE, modes.labels, modes.position, None, None, 6)
    return shell.index(name, nodes)


# ---- matrices -------------------------------------------------------------------------------------------------------------
def _structure(bulk: Bulk, stiffness: Dmig, mass: Dmig) -> Exported:
    """The whole model in basic axes; grid points that the matrices do not name have no dofs of their own."""
    at = {label: i for i, label in enumerate(bulk.labels.tolist())}
    size = 6 * len(bulk.labels)
    full = []
    for each in (mass, stiffness):
        for label, _ in each.rows:
            if label not in at:
                raise wrong(f"the matrices name grid point {label}, which is not in the bulk data; give all of it")
        where = np.array([6 * at[label] + component - 1 for label, component in each.rows])
        full.append(placed(each.matrix, where, size))
    notes = []
    if held := supported(bulk):
        notes.append(f"supports of {len(held)} grid points (SPC, SPC1) are left out: the body is free")
    whole = Exported(SOURCE, bulk.labels, bulk.position, full[0], full[1], 6, links=links_of(bulk), notes=tuple(notes))
    return replace(whole, lines=_lines(bulk)).in_axes(bulk.axes)


def _superelement(bulk: Bulk, stiffness: Dmig, mass: Dmig, viscous: Dmig | None) -> Superelement:
    """Interface grid points in basic axes, and scalar points as modal coordinates."""
    names = sorted({label for label, component in stiffness.rows if component > 0})
    rows, place = bulk.rows(names, "a DMIG matrix"), {name: i for i, name in enumerate(names)}
    order = stiffness.rows
    at = {each: i for i, each in enumerate(order)}
    size = len(order)

    def full(given: Dmig) -> Array:
        matrix = np.zeros((size, size))
        if missing := [each for each in given.rows if each not in at]:
            raise wrong(f"the mass has a dof of point {missing[0][0]} that the stiffness lacks; give both of one run")
        where = [at[each] for each in given.rows]
        matrix[np.ix_(where, where)] = given.matrix.toarray()
        return matrix

    node = np.array([place[label] if component > 0 else -1 for label, component in order])
    components = np.array([max(each - 1, 0) for _, each in order])
    damping = None if viscous is None else full(viscous)
    found = Superelement(SOURCE, tuple(map(str, names)), bulk.position[rows], node, components, full(mass), full(stiffness),
                         damping)
    return found.in_axes(bulk.axes[rows])


def _lines(bulk: Bulk) -> Array:
    """Bars and edges of shells, for pictures."""
    at = {label: i for i, label in enumerate(bulk.labels.tolist())}
    found = set()
    corners = {"CBAR": 2, "CBEAM": 2, "CROD": 2, "CQUAD4": 4, "CQUADR": 4, "CTRIA3": 3, "CTRIAR": 3}
    for kind, count in corners.items():
        for card in bulk.cards.get(kind, []):
            nodes = [at.get(int(each)) for each in card[3 : 3 + count] if each]
            if None in nodes or len(nodes) != count:
                continue
            ring = nodes if count == 2 else [*nodes, nodes[0]]
            found |= {tuple(sorted(pair)) for pair in pairwise(ring)}  # type: ignore[type-var]
    return np.array(sorted(found), dtype=int).reshape(-1, 2)


# ---- modes -----------------------------------------------------------------------------------------------------------------
def _table(results: Any, op2: Path, subcase: int | None) -> Any:
    """The eigenvectors of real modes of a subcase, or of the first that has some."""
    given = list(results.eigenvectors.values())
    tables = [each for each in given if each.analysis_code == 2 and hasattr(each, "eigns") and each.data is not None]
    if not tables:
        other = "complex modes or those of buckling alone" if given else "neither matrices nor eigenvectors"
        raise wrong(f"{op2.name} holds {other} ({', '.join(STIFFNESS[:2])}, {', '.join(MASS[:2])} are not there either); ask for "
                    "real modes in the case control (SOL 103, VECTOR=ALL or DISPLACEMENT=ALL, PARAM,POST,-1)")
    if subcase is None:
        return tables[0]
    found = next((each for each in tables if int(each.isubcase) == subcase), None)
    if found is None:
        known = ", ".join(str(int(each.isubcase)) for each in tables)
        raise wrong(f"{op2.name} has no modes of subcase {subcase}; it has those of {known}")
    return found


def _modes(bulk: Bulk, table: Any, results: Any, masses: Mapping[int, float] | None, unit: Units) -> GivenModes:
    grids = np.flatnonzero(table.node_gridtype[:, 1] == 1)
    labels = table.node_gridtype[grids, 0].astype(int)
    rows = bulk.rows(labels.tolist(), "the eigenvector table")
    shapes = np.moveaxis(np.asarray(table.data, dtype=float)[:, grids], 0, 2)  # (N, 6, n)
    if str(table.table_name) not in _BASIC:
        axes = bulk.axes[rows]
        shapes = np.concatenate([axes @ shapes[:, :3], axes @ shapes[:, 3:]], axis=1)
    cycles, modal_mass = _frequencies(results, table)
    weight, offset, inertia, notes = nodal_masses(bulk, masses, labels)
    shapes = shapes * np.array([1.0] * 3 + [1 / unit.length] * 3)[:, None]
    at = np.full(len(bulk.labels), -1)
    at[rows] = np.arange(len(rows))
    lines = at[_lines(bulk)]
    return GivenModes(SOURCE, labels, bulk.position[rows] * unit.length, weight * unit.mass, inertia * unit.mass * unit.length**2,
                      offset * unit.length, cycles / unit.time, shapes, None if modal_mass is None else modal_mass * unit.mass,
                      lines=lines[(lines >= 0).all(axis=1)], notes=(*notes, *_other_subcases(results, table)))


def _other_subcases(results: Any, table: Any) -> list[str]:
    others = [str(int(each.isubcase)) for each in results.eigenvectors.values() if each is not table and each.analysis_code == 2]
    return [f"modes of subcase {int(table.isubcase)}; there are those of {', '.join(others)}, too: subcase="] if others else []


def _frequencies(results: Any, table: Any) -> tuple[Array, Array | None]:
    """Cycles per unit of time, and generalized masses where the table of the same eigenvalues is there."""
    squares, masses = np.asarray(table.eigns, dtype=float), None
    numbers = np.asarray(table.modes, dtype=int)
    for each in results.eigenvalues.values():
        known = getattr(each, "mode", None)
        if known is None or not hasattr(each, "generalized_mass"):
            continue
        at = {int(mode): i for i, mode in enumerate(known)}
        if not all(mode in at for mode in numbers.tolist()):
            continue
        rows = [at[mode] for mode in numbers.tolist()]
        listed = np.asarray(each.eigenvalues, dtype=float)[rows]
        if np.abs(listed - squares).max() <= 1e-5 * np.abs(squares).max():
            squares, masses = listed, np.asarray(each.generalized_mass, dtype=float)[rows]
    return np.sqrt(np.maximum(squares, 0.0)) / (2 * np.pi), masses
