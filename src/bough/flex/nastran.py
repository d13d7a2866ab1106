"""Bodies out of Nastran: bulk data with modes or matrices of OP2, OP4 or punched DMIG files, and external superelements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from bough.errors import DescriptionError
from bough.flex.exported import Exported
from bough.flex.finite_elements import FiniteElements
from bough.flex.given_modes import GivenModes, placed_modes
from bough.flex.integrals import Array, inertia_of
from bough.flex.nastran_bulk import SOURCE, Bulk, Dmig, in_basic, links_of, number, read_bulk, read_cards, read_dmig, supported
from bough.flex.superelements import Superelement
from bough.flex.units import Units
from bough.flex.units import units as units_of
from bough.progress import working

_STIFFNESS = ("KGG", "KAAX", "KAA", "KXX", "KGGX", "KJJ")
_MASS = ("MGG", "MAAX", "MAA", "MXX", "MGGX", "MJJ")
_DAMPING = ("BAAX", "BAA", "BXX")


@working("reading Nastran files")
def read_nastran(
    bulk: str | Path,
    *,
    op2: str | Path | None = None,
    matrices: str | Path | None = None,
    masses: Mapping[int, float] | None = None,
    attach: Mapping[str, Any] | None = None,
    inboard: str | None = None,
    origin: Any = None,
    spiders: Mapping[str, Any] | None = None,
    units: str = "SI",
    declared_mass: float | None = None,
) -> FiniteElements | Superelement | GivenModes:
    """A model out of Nastran's files; reduce what is returned: `read_nastran("panel.bdf", op2="panel.op2", ...).reduce(modes=8)`.

    `bulk` is the input file (.bdf, .dat, .pch; it may include others). With matrices of the grid points (MGG and KGG in the OP2,
    or in `matrices`: an OP4 file, or a punch file of DMIG) the whole model is returned; RBE2, RBE3 and RBAR are eliminated, and
    supports (SPC) are left out: the body is free. With DMIG of boundary points and modal coordinates (EXTSEOUT: KAAX, MAAX) it is a
    `Superelement`. With an OP2 that has eigenvectors alone it is `GivenModes`: their masses are lumped from the elements and
    CONM2 of the bulk data, or given by `masses` (grid point: mass). OP2 and binary OP4 files are read by pyNastran:
    pip install bough[nastran]. See `matrices_model` for `attach`, `spiders`, `origin` and `units`.
    """
    found, unit = read_bulk(Path(bulk)), units_of(units)
    known = _matrices(found, None if matrices is None else Path(matrices), None if op2 is None else Path(op2))
    stiffness, mass, viscous = (
        next((known[each] for each in names if each in known), None) for names in (_STIFFNESS, _MASS, _DAMPING)
    )
    if stiffness is not None and mass is not None:
        if any(component <= 0 for _, component in stiffness.rows):
            element = _superelement(found, stiffness, mass, viscous).in_units(unit)
            return element.placed(attach=attach, inboard=inboard, origin=origin)
        structure = _structure(found, stiffness, mass).in_units(unit)
        return structure.model(attach=attach, inboard=inboard, origin=origin, spiders=spiders, mass=declared_mass)
    if op2 is None:
        raise DescriptionError(
            f"{SOURCE}: {Path(bulk).name} holds no stiffness ({', '.join(_STIFFNESS)}) and mass ({', '.join(_MASS)}) as DMIG; give "
            "matrices= (OP4 or punch file), or op2= with matrices or eigenvectors"
        )
    modes = _modes(found, Path(op2), Path(bulk), masses, unit)
    chosen = {name: _rows(modes, name, nodes) for name, nodes in (attach or {}).items()}
    return placed_modes(modes, chosen, inboard, origin)


def _rows(modes: GivenModes, name: str, nodes: Any) -> Any:
    shell = Exported(SOURCE, modes.labels, modes.position, None, None, 6)
    return shell.index(name, nodes)


# ---- matrices --------------------------------------------------------------------------------------------------------------
def _matrices(bulk: Bulk, path: Path | None, op2: Path | None) -> dict[str, Dmig]:
    """All matrices by name, with the grid point and component (1 ... 6) of each row."""
    known = read_dmig(bulk.cards)
    if path is not None and not path.exists():
        raise DescriptionError(
            f"{SOURCE}: the file {str(path)!r} does not exist; give an OP4 file, or a punch file with DMIG entries"
        )
    if path is not None and path.suffix.lower() == ".op4":
        known |= {name: _of_grids(bulk, name, matrix) for name, matrix in _read_op4(path).items() if _square(matrix)}
    elif path is not None:
        cards: dict[str, list[list[str]]] = {}
        for card in read_cards(path):
            cards.setdefault(card[0], []).append(card)
        known |= read_dmig(cards)
    if op2 is not None:
        held = read_op2(op2).matrices
        wanted = set(_STIFFNESS) | set(_MASS)
        known |= {name: _of_grids(bulk, name, each.data) for name, each in held.items() if name in wanted and _square(each.data)}
    return known


def _square(matrix: Any) -> bool:
    return matrix is not None and matrix.shape[0] == matrix.shape[1]


def _of_grids(bulk: Bulk, name: str, matrix: Any) -> Dmig:
    """A matrix of the g-set: six rows for each grid point and one for each scalar point, in the order of their numbers."""
    from scipy.sparse import csr_array, diags_array, tril, triu

    rows = sorted([(label, i) for label in bulk.labels.tolist() for i in range(1, 7)] + [(label, 0) for label in bulk.scalars])
    if matrix.shape[0] != len(rows):
        raise DescriptionError(
            f"{SOURCE}: {name} is {matrix.shape[0]} x {matrix.shape[1]}, but the bulk data have {len(bulk.labels)} grid points and "
            f"{len(bulk.scalars)} scalar points, {len(rows)} dofs; give matrices of the g-set (KGG, MGG) of the same model"
        )
    found = csr_array(matrix, dtype=float)
    if any(abs(each(found, k)).sum() == 0.0 for each, k in ((tril, -1), (triu, 1))) and found.nnz > found.shape[0]:
        found = csr_array(found + found.T - diags_array(found.diagonal()))  # one triangle stands for both
    return Dmig(rows, found)


def _structure(bulk: Bulk, stiffness: Dmig, mass: Dmig) -> Exported:
    """The whole model in basic axes; grid points that the matrices do not name have no dofs of their own."""
    from bough.flex.exported import placed

    at = {label: i for i, label in enumerate(bulk.labels.tolist())}
    size = 6 * len(bulk.labels)
    full = []
    for each in (mass, stiffness):
        for label, _ in each.rows:
            if label not in at:
                raise DescriptionError(
                    f"{SOURCE}: the matrices name grid point {label}, which is not in the bulk data; give all of it"
                )
        where = np.array([6 * at[label] + component - 1 for label, component in each.rows])
        full.append(in_basic(placed(each.matrix, where, size), bulk))
    notes = []
    if held := supported(bulk):
        notes.append(f"supports of {len(held)} grid points (SPC, SPC1) are left out: the body is free")
    whole = Exported(SOURCE, bulk.labels, bulk.position, full[0], full[1], 6, links=links_of(bulk), notes=tuple(notes))
    return replace(whole, lines=_lines(bulk))


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
            raise DescriptionError(
                f"{SOURCE}: the mass has a dof of point {missing[0][0]} that the stiffness lacks; give both of one run"
            )
        where = [at[each] for each in given.rows]
        matrix[np.ix_(where, where)] = given.matrix.toarray()
        return matrix

    turn = np.eye(size)
    for (label, component), i in at.items():
        if component > 0:
            start = 1 if component < 4 else 4
            for j in range(3):
                if (label, start + j) in at:
                    turn[at[(label, start + j)], i] = bulk.axes[rows[place[label]]][j, component - start]
    node = np.array([place[label] if component > 0 else -1 for label, component in order])
    components = np.array([max(each - 1, 0) for _, each in order])
    damping = None if viscous is None else turn @ full(viscous) @ turn.T
    return Superelement(
        SOURCE, tuple(map(str, names)), bulk.position[rows], node, components,
        turn @ full(mass) @ turn.T, turn @ full(stiffness) @ turn.T, damping,
    )  # fmt: skip


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


# ---- pyNastran -------------------------------------------------------------------------------------------------------------
def _pynastran() -> None:
    """Let pyNastran be imported: it asks NumPy for a function of old that newer ones call isin."""
    if not hasattr(np, "in1d"):
        setattr(np, "in1d", np.isin)  # noqa: B010
    try:
        import pyNastran  # noqa: F401
    except ImportError:
        raise DescriptionError(
            f"{SOURCE}: OP2 files, binary OP4 files and masses of elements are read by pyNastran; install it with: pip "
            "install bough[nastran]"
        ) from None


def read_op2(path: Path) -> Any:
    """The results of an OP2 file, as pyNastran holds them."""
    if not path.exists():
        raise DescriptionError(f"{SOURCE}: the file {str(path)!r} does not exist; give the path of an OP2 file")
    _pynastran()
    from pyNastran.op2.op2 import OP2

    model = OP2(debug=None, log=None, mode=None)
    try:
        model.read_op2(str(path), build_dataframe=False)
    except (Exception, SystemExit) as error:  # whatever is wrong with the file
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise DescriptionError(
            f"{SOURCE}: {path.name} is no whole OP2 file ({reason[:100]}); look whether the run and the copy were "
            "finished, and write "
            "it with PARAM,POST,-1"
        ) from None
    return model


def _read_op4(path: Path) -> dict[str, Any]:
    _pynastran()
    from pyNastran.op4.op4 import read_op4

    try:
        found = read_op4(str(path), debug=None)
    except (Exception, SystemExit) as error:
        raise DescriptionError(
            f"{SOURCE}: {path.name} is no whole OP4 file ({str(error).strip()[:100]}); export it again"
        ) from None
    return {name.upper(): getattr(each, "data", each[1] if isinstance(each, tuple) else each) for name, each in found.items()}


# ---- modes -----------------------------------------------------------------------------------------------------------------
def _modes(bulk: Bulk, op2: Path, path: Path, masses: Mapping[int, float] | None, unit: Units) -> GivenModes:
    results = read_op2(op2)
    tables = list(results.eigenvectors.values())
    if not tables:
        raise DescriptionError(
            f"{SOURCE}: {op2.name} holds neither matrices ({', '.join(_STIFFNESS[:2])}, {', '.join(_MASS[:2])}) nor "
            "eigenvectors; ask for "
            "them in the case control (VECTOR=ALL or DISPLACEMENT=ALL of a modal solution, PARAM,POST,-1)"
        )
    table = tables[0]
    grids = np.flatnonzero(table.node_gridtype[:, 1] == 1)
    labels = table.node_gridtype[grids, 0].astype(int)
    rows = bulk.rows(labels.tolist(), "the eigenvector table")
    shapes = np.moveaxis(np.asarray(table.data, dtype=float)[:, grids], 0, 2)  # (N, 6, n)
    axes = bulk.axes[rows]
    shapes = np.concatenate([axes @ shapes[:, :3], axes @ shapes[:, 3:]], axis=1)
    cycles, modal_mass = _frequencies(results, table)
    weight, offset, inertia = _nodal_masses(bulk, path, masses, labels)
    shapes = shapes * np.array([1.0] * 3 + [1 / unit.length] * 3)[:, None]
    at = np.full(len(bulk.labels), -1)
    at[rows] = np.arange(len(rows))
    lines = at[_lines(bulk)]
    return GivenModes(
        SOURCE, labels, bulk.position[rows] * unit.length, weight * unit.mass, inertia * unit.mass * unit.length**2,
        offset * unit.length, cycles / unit.time, shapes,
        None if modal_mass is None else modal_mass * unit.mass, lines=lines[(lines >= 0).all(axis=1)],
    )  # fmt: skip


def _frequencies(results: Any, table: Any) -> tuple[Array, Array | None]:
    """Cycles per unit of time, and generalized masses where the table of eigenvalues is there."""
    squares, masses = np.asarray(table.eigns, dtype=float), None
    for each in results.eigenvalues.values():
        if len(each.eigenvalues) >= len(squares):
            masses = np.asarray(each.generalized_mass, dtype=float)[: len(squares)]
            squares = np.asarray(each.eigenvalues, dtype=float)[: len(squares)]
    return np.sqrt(np.maximum(squares, 0.0)) / (2 * np.pi), masses


def _nodal_masses(bulk: Bulk, path: Path, masses: Mapping[int, float] | None, labels: Array) -> tuple[Array, Array, Array]:
    """Mass, offset and inertia of each grid point: as given, or elements lumped in equal shares, and CONM2."""
    at = {label: i for i, label in enumerate(labels.tolist())}
    weight, first = np.zeros(len(labels)), np.zeros((len(labels), 3))
    own = np.zeros((len(labels), 3, 3))
    if masses is not None:
        for label, value in masses.items():
            if label not in at:
                raise DescriptionError(f"{SOURCE}: masses name grid point {label}, which has no eigenvectors; correct its number")
            weight[at[label]] = value
        return weight, first, own
    scale = next((number(card[2]) for card in bulk.cards.get("PARAM", []) if card[1].upper() == "WTMASS"), 1.0)
    for nodes, value, spin in _element_masses(path):
        for node in nodes:
            weight[at[node]] += scale * value / len(nodes)
            own[at[node]] += scale * spin / len(nodes)
    for card in bulk.cards.get("CONM2", []):
        i, (value, lever, inertia) = at[int(card[2])], _conm2(card)
        weight[i] += scale * value
        first[i] += scale * value * lever
        own[i] += scale * (inertia + value * inertia_of(np.outer(lever, lever)))
    offset = first / np.where(weight > 0, weight, 1.0)[:, None]
    outer = weight[:, None, None] * offset[:, :, None] * offset[:, None, :]
    return weight, offset, own - inertia_of(outer)


def _conm2(card: list[str]) -> tuple[float, Array, Array]:
    """Mass, offset and inertia about its own mass center of a CONM2 in basic axes."""
    if card[3] not in ("", "0"):
        raise DescriptionError(
            f"{SOURCE}: CONM2 {card[1]} has its offset in coordinate system {card[3]}; give it in the basic system"
        )
    values = [number(each) for each in (*card[4:], *[""] * 12)]
    i11, i21, i22, i31, i32, i33 = values[5:11] if len(card) < 10 else [number(each) for each in (*card[9:15], *[""] * 6)][:6]
    return values[0], np.array(values[1:4]), np.array([[i11, -i21, -i31], [-i21, i22, -i32], [-i31, -i32, i33]])


def _element_masses(path: Path) -> list[tuple[list[int], float, Array]]:
    """Grid points, mass, and inertia of beams about their axis, of each element, by pyNastran."""
    _pynastran()
    from pyNastran.bdf.bdf import BDF

    model = BDF(debug=None, log=None, mode="nx")
    try:
        model.read_bdf(str(path), xref=True, validate=False)
    except (Exception, SystemExit) as error:
        raise DescriptionError(
            f"{SOURCE}: pyNastran cannot read the masses of the elements in {path.name} ({str(error).strip()[:150]}); "
            "give masses= by "
            "grid point"
        ) from None
    found = []
    for element in model.elements.values():
        if hasattr(element, "Mass"):
            nodes = [int(each) for each in element.node_ids if each]
            found.append((nodes, float(element.Mass()), _polar_inertia(element)))
    return found


def _polar_inertia(element: Any) -> Array:
    """rho (I1 + I2) L about the axis of a CBEAM; Nastran's lumped masses of other elements, CBAR among them, have none."""
    if element.type != "CBEAM":
        return np.zeros((3, 3))
    section = element.pid_ref
    first, second = (np.mean(getattr(element, name)()) for name in ("I11", "I22"))
    ends = [each.get_position() for each in element.nodes_ref]
    axis = (ends[1] - ends[0]) / np.linalg.norm(ends[1] - ends[0])
    return np.asarray(float(section.Rho()) * (first + second) * np.linalg.norm(ends[1] - ends[0]) * np.outer(axis, axis))
