"""Masses at the grid points of Nastran's bulk data: elements lumped in equal shares, concentrated masses."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from bough.flex.exported import block_parts
from bough.flex.integrals import Array, inertia_of
from bough.flex.nastran_bulk import Bulk, frame_named
from bough.flex.nastran_cards import Card, field_of, integer, number, wrong
from bough.flex.nastran_op2 import quietly, require_pynastran

_ELEMENTS = (
    "CBAR", "CBEAM", "CBEND", "CROD", "CONROD", "CTUBE", "CQUAD4", "CQUAD8", "CQUADR", "CQUAD", "CTRIA3", "CTRIA6", "CTRIAR",
    "CSHEAR", "CHEXA", "CPENTA", "CTETRA", "CPYRAM",
)
_PYNASTRAN_CARDS = (
    "GRID", "GRDSET", "BAROR", "BEAMOR", "CORD1R", "CORD1C", "CORD1S", "CORD2R", "CORD2C", "CORD2S", "MAT1", "MAT2", "MAT3",
    "MAT8", "MAT9", "MAT10", "MAT11", "PBAR", "PBARL", "PBEAM", "PBEAML", "PBCOMP", "PBEND", "PROD", "PTUBE", "PSHELL", "PCOMP",
    "PCOMPG", "PSHEAR", "PSOLID", "PLSOLID", "PCOMPS",
)
Lump = tuple[int, float, Array, Array]  # grid point, mass, offset of its center, inertia about that


def nodal_masses(bulk: Bulk, masses: Mapping[int, float] | None, labels: Array) -> tuple[Array, Array, Array, list[str]]:
    """Mass, offset and inertia of each grid point: as given, or of elements and concentrated masses; what was left out."""
    at = {label: i for i, label in enumerate(labels.tolist())}
    weight, first, own = np.zeros(len(labels)), np.zeros((len(labels), 3)), np.zeros((len(labels), 3, 3))
    if masses is not None:
        for label, value in masses.items():
            if label not in at:
                raise wrong(f"masses name grid point {label}, which has no eigenvectors; correct its number")
            weight[at[label]] = value
        return weight, first, own, []
    scale = next((number(card[2]) for card in bulk.cards.get("PARAM", []) if card[1].upper() == "WTMASS"), 1.0)
    for label, value, lever, inertia in (*_element_lumps(bulk), *_concentrated(bulk)):
        if value == 0.0 and not inertia.any():
            continue
        if label not in at:
            raise wrong(f"grid point {label} has mass, but no eigenvectors in the OP2 file; write them at all grid points "
                        "(VECTOR=ALL), or give masses= by grid point")
        weight[at[label]] += scale * value
        first[at[label]] += scale * value * lever
        own[at[label]] += scale * (inertia + value * inertia_of(np.outer(lever, lever)))
    if (weight < 0).any():
        raise wrong(f"the mass at grid point {labels[int(weight.argmin())]} is {weight.min():.6g}, below zero; check its CONM2 and "
                    "the densities")
    offset = first / np.where(weight > 0, weight, 1.0)[:, None]
    outer = weight[:, None, None] * offset[:, :, None] * offset[:, None, :]
    return weight, offset, own - inertia_of(outer), _left_out(bulk)


def _left_out(bulk: Bulk) -> list[str]:
    kinds = [kind for kind in ("CMASS1", "CMASS2", "CMASS3", "CMASS4", "NSM", "NSM1", "NSML", "NSML1") if bulk.cards.get(kind)]
    return [f"masses of {', '.join(kinds)} are left out of the nodal masses: give masses= by grid point"] if kinds else []


# ---- concentrated masses ---------------------------------------------------------------------------------------------------
def _concentrated(bulk: Bulk) -> Iterator[Lump]:
    for kind, lump in (("CONM2", _conm2), ("CONM1", _conm1)):
        for card in bulk.cards.get(kind, []):
            [row] = bulk.rows([integer(card[2], card)], f"{kind} {card[1]}")
            yield (int(card[2]), *lump(bulk, card, bulk.position[row]))


def _conm2(bulk: Bulk, card: Card, place: Array) -> tuple[float, Array, Array]:
    """Mass, offset and inertia about its own mass center of a CONM2 in basic axes; in system -1 the offset is a basic place."""
    values = [number(field_of(card, i)) for i in range(4, 15)]
    i11, i21, i22, i31, i32, i33 = values[5:]
    inertia = np.array([[i11, -i21, -i31], [-i21, i22, -i32], [-i31, -i32, i33]])
    if card[3] == "-1":
        return values[0], np.array(values[1:4]) - place, inertia
    axes = _axes(bulk, card, place)
    return values[0], axes @ np.array(values[1:4]), axes @ inertia @ axes.T


def _conm1(bulk: Bulk, card: Card, place: Array) -> tuple[float, Array, Array]:
    """The same of a CONM1: the lower triangle of six rows, if it is that of a rigid lump."""
    block, axes = np.zeros((6, 6)), _axes(bulk, card, place)
    block[np.tril_indices(6)] = [number(field_of(card, i)) for i in range(4, 25)]
    turn = np.kron(np.eye(2), axes)
    parts = block_parts((turn @ (block + np.tril(block, -1).T) @ turn.T)[None])
    if parts is None:
        raise wrong(f"CONM1 {card[1]} has a mass that is not one in all directions; give masses= by grid point, or matrices")
    return float(parts[0][0]), parts[1][0], parts[2][0]


def _axes(bulk: Bulk, card: Card, place: Array) -> Array:
    return frame_named(bulk.frames, card[3], card).directions(place)


# ---- elements --------------------------------------------------------------------------------------------------------------
def _element_lumps(bulk: Bulk) -> Iterator[Lump]:
    """Equal shares of the elements' masses, and the inertia of beams about their axes, by pyNastran."""
    if not any(kind in bulk.cards for kind in _ELEMENTS):
        return
    require_pynastran()
    try:
        found = [
            ([int(each) for each in element.node_ids if each], float(element.Mass()), _polar_inertia(element))
            for element in _elements(bulk).values()
            if hasattr(element, "Mass")
        ]
    except (Exception, SystemExit) as error:
        raise wrong(f"pyNastran cannot find the masses of the elements ({' '.join(str(error).split())[:150]}); give masses= by "
                    "grid point") from None
    for nodes, value, spin in found:
        for node in nodes:
            yield node, value / len(nodes), np.zeros(3), spin / len(nodes)


def _elements(bulk: Bulk) -> Any:
    """The elements of the bulk data with their properties, as pyNastran holds them; other entries do not concern it."""
    from pyNastran.bdf.bdf import BDF

    with TemporaryDirectory() as folder, quietly():
        path = Path(folder) / "elements.bdf"
        cards = [card for kind in (*_PYNASTRAN_CARDS, *_ELEMENTS) for card in bulk.cards.get(kind, [])]
        path.write_text("\n".join(map(_free_field, cards)), encoding="latin-1")
        model = BDF(debug=None, log=None, mode="nx")
        model.read_bdf(str(path), xref=True, validate=False, punch=True)
    return model.elements


def _free_field(card: Card) -> str:
    name, fields = card[0], card[1:]
    while fields and not fields[-1]:
        fields = fields[:-1]
    rows = [fields[i : i + 8] for i in range(0, len(fields), 8)]
    return "\n".join(",".join([name if i == 0 else "", *row]) for i, row in enumerate(rows))


def _polar_inertia(element: Any) -> Array:
    """rho (I1 + I2) L about the axis of a CBEAM; Nastran's lumped masses of other elements, CBAR among them, have none."""
    if element.type != "CBEAM":
        return np.zeros((3, 3))
    section = element.pid_ref
    first, second = (np.mean(getattr(element, name)()) for name in ("I11", "I22"))
    ends = [each.get_position() for each in element.nodes_ref]
    axis = (ends[1] - ends[0]) / np.linalg.norm(ends[1] - ends[0])
    return np.asarray(float(section.Rho()) * (first + second) * np.linalg.norm(ends[1] - ends[0]) * np.outer(axis, axis))
