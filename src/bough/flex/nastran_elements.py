"""Elements of Nastran's bulk data: rigid ones and multipoint constraints as links in basic axes [B 71]; masses at the grid points,
of elements lumped in equal shares and concentrated ones.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from bough.flex.exported import block_parts
from bough.flex.integrals import Array, inertia_of
from bough.flex.links import Link, Measured, dofs_at, equation_link, followers, mean_link, node_rows, rigid_link, rigid_rows
from bough.flex.nastran_bulk import Bulk, frame_named
from bough.flex.nastran_cards import Card, field_of, integer, listed, number, wrong
from bough.flex.nastran_op2 import quietly, require_pynastran

Dof = tuple[int, int]  # a row of the grid points, and a component 0 ... 5 along its own axes


def links_of(bulk: Bulk) -> tuple[Link, ...]:
    """All rigid elements, and the multipoint constraints that are selected; other kinds are refused by name."""
    kinds: dict[str, Callable[[Bulk, Card, str], list[Link]]] = {
        "RBE2": _rbe2, "RBAR": _by_corners, "RBAR1": _rbar1, "RJOINT": _rbar1, "RBE1": _rbe1, "RTRPLT": _by_corners, "RROD": _rrod,
        "RBE3": _rbe3,
    }
    for kind in ("RSPLINE", "RTRPLT1", "RSSCON", "MPCY", "MPCAX"):
        if bulk.cards.get(kind):
            raise wrong(f"the bulk data contain {kind} {bulk.cards[kind][0][1]}, which is not supported; export matrices of the "
                        "analysis set (EXTSEOUT, or DMAP of KAA and MAA), or model it with RBE2 or RBE3")
    found = [link for kind, made in kinds.items() for card in bulk.cards.get(kind, [])
             for link in made(bulk, card, f"{kind} {card[1]}")]
    return (*found, *_multipoint(bulk))


def _parts(text: str, name: str) -> tuple[int, ...]:
    """Components 0 ... 5 out of digits 1 ... 6."""
    if not text.isdigit() or set(text) - set("0123456"):
        raise wrong(f"{name} has the components {text!r}; give digits out of 123456")
    return tuple(sorted({int(each) - 1 for each in text if each != "0"}))


def _general(bulk: Bulk, name: str, leading: Sequence[Dof], following: Sequence[Dof]) -> list[Link]:
    """Dofs that move as one rigid body with six others."""
    about = bulk.position[leading[0][0]]
    lead = np.vstack([rigid_rows(node, [part], bulk.position, bulk.axes, about) for node, part in leading])
    size = float(np.linalg.norm(bulk.position[[node for node, _ in leading]] - about, axis=1).max()) or 1.0
    scale = np.array([size] * 3 + [1.0] * 3)
    if len(leading) != 6 or np.linalg.cond(lead * scale) > 1e8:
        raise wrong(f"{name} has {len(leading)} independent dofs, which do not determine a rigid motion; give six that do")
    follow = np.vstack([rigid_rows(node, [part], bulk.position, bulk.axes, about) for node, part in following])
    rows, dofs = [], []
    for sign, listing in ((np.eye(len(following)), following), (-follow @ np.linalg.inv(lead), leading)):
        for i, (node, part) in enumerate(listing):
            rows.append(np.outer(sign[:, i], node_rows(node, [part], bulk.axes)[0]))
            dofs.append(dofs_at([node], 6))
    among = np.concatenate([followers(node, [part], bulk.axes) for node, part in following])
    return [equation_link(name, np.concatenate(dofs), np.hstack(rows), among)]


def _rigid(bulk: Bulk, name: str, center: int, nodes: Sequence[int], parts: tuple[int, ...]) -> list[Link]:
    """Components of nodes that move as a rigid body with a center."""
    whole = all(len([part for part in parts if part // 3 == kind]) in (0, 3) for kind in (0, 1))
    if whole or np.allclose(bulk.axes[list(nodes)], np.eye(3)):
        return [rigid_link(name, center, nodes, bulk.position, parts)]
    leading = [(center, part) for part in range(6)]
    return [link for node in nodes for link in _general(bulk, name, leading, [(node, part) for part in parts])]


def _rbe2(bulk: Bulk, card: Card, name: str) -> list[Link]:
    fields = [each for each in card[4:] if each]
    if fields and "." in fields[-1]:
        fields = fields[:-1]  # the coefficient of thermal expansion
    nodes = bulk.rows(listed(fields, card), name)
    [center] = bulk.rows([integer(card[2], card)], name)
    return _rigid(bulk, name, center, [node for node in nodes if node != center], _parts(card[3], name))


_CORNERS = {"RBAR": ((2, 3), (4, 5), (6, 7)), "RTRPLT": ((2, 3, 4), (5, 6, 7), (9, 10, 11))}  # fields: points, leading, following


def _by_corners(bulk: Bulk, card: Card, name: str) -> list[Link]:
    points, leading, following = ([field_of(card, i) for i in fields] for fields in _CORNERS[card[0]])
    corners = bulk.rows([integer(each, card) for each in points], name)
    lead = [(node, part) for node, text in zip(corners, leading, strict=True) if text for part in _parts(text, name)]
    if any(following):
        follow = [(node, part) for node, text in zip(corners, following, strict=True) if text for part in _parts(text, name)]
    else:
        follow = [(node, part) for node in corners for part in range(6) if (node, part) not in lead]
    return _general(bulk, name, lead, follow)


def _rbar1(bulk: Bulk, card: Card, name: str) -> list[Link]:
    a, b = bulk.rows([integer(card[2], card), integer(card[3], card)], name)
    return _rigid(bulk, name, a, [b], _parts(field_of(card, 4) or "123456", name))


def _rbe1(bulk: Bulk, card: Card, name: str) -> list[Link]:
    fields = [each.upper() for each in card[2:] if each]
    if "UM" not in fields:
        raise wrong(f"{name} has no dependent dofs (UM); give them")
    at = fields.index("UM")
    sides: list[list[Dof]] = []
    for side in (fields[:at], [each for each in fields[at + 1 :] if "." not in each]):
        nodes = bulk.rows([integer(each, card) for each in side[::2]], name)
        sides.append([(node, part) for node, text in zip(nodes, side[1::2], strict=True) for part in _parts(text, name)])
    return _general(bulk, name, *sides)


def _rrod(bulk: Bulk, card: Card, name: str) -> list[Link]:
    """Two grid points that keep their distance."""
    a, b = bulk.rows([integer(card[2], card), integer(card[3], card)], name)
    along = bulk.position[b] - bulk.position[a]
    if not along.any():
        raise wrong(f"{name} joins two grid points at one place; give them a distance")
    follows, text = (a, field_of(card, 4)) if field_of(card, 4) else (b, field_of(card, 5))
    row = np.concatenate([along, -along])[None] / np.linalg.norm(along)
    dofs = np.concatenate([dofs_at([node], 6, (0, 1, 2)) for node in (a, b)])
    return [equation_link(name, dofs, row, followers(follows, _parts(text, name), bulk.axes))]


def _rbe3(bulk: Bulk, card: Card, name: str) -> list[Link]:
    [center] = bulk.rows([integer(card[3], card)], name)
    measured: list[Measured] = []
    weight, parts = 1.0, _parts("123", name)
    fields = [each for each in card[5:] if each]
    i = 0
    while i < len(fields) and fields[i].upper() not in ("UM", "ALPHA"):
        if "." in fields[i]:  # a weight, its components, then grid points
            weight, parts = number(fields[i]), _parts(field_of(fields, i + 1), name)
            i += 2
            continue
        until = next((j for j in range(i, len(fields)) if "." in fields[j] or fields[j].upper() in ("UM", "ALPHA")), len(fields))
        measured += [Measured(node, parts, weight) for node in bulk.rows(listed(fields[i:until], card), name)]
        i = until
    return [mean_link(name, center, measured, bulk.position, bulk.axes, _parts(card[4], name))]


# ---- multipoint constraints ------------------------------------------------------------------------------------------------
def _multipoint(bulk: Bulk) -> list[Link]:
    """The equations of the selected MPC entries, those of one dependent grid point together."""
    chosen = _selected(bulk)
    at = {label: i for i, label in enumerate(bulk.labels.tolist())}
    groups: dict[int, list[tuple[str, list[tuple[Dof, float]]]]] = {}
    for card in bulk.cards.get("MPC", []):
        if integer(card[1], card) not in chosen:
            continue
        name, terms = f"MPC {card[1]} of grid point {card[2]}", []
        if integer(card[2], card) in bulk.scalars:
            continue  # a scalar point that measures grid points
        for i in range(2, len(card) - 2):
            if (i - 2) % 8 in (0, 3) and card[i]:
                if (label := integer(card[i], card)) not in at or field_of(card, i + 1) not in "123456" or not card[i + 1]:
                    raise wrong(f"{name} takes dof {field_of(card, i + 1) or 0} of point {label}, which is not a grid point of the "
                                "bulk data; export matrices of the analysis set (EXTSEOUT)")
                terms.append(((at[label], int(card[i + 1]) - 1), number(card[i + 2])))
        groups.setdefault(terms[0][0][0], []).append((name, terms))
    return [_equations(bulk, node, group) for node, group in groups.items()]


def _equations(bulk: Bulk, node: int, group: list[tuple[str, list[tuple[Dof, float]]]]) -> Link:
    nodes = sorted({place for _, terms in group for (place, _), _ in terms})
    rows = np.zeros((len(group), 6 * len(nodes)))
    for i, (_, terms) in enumerate(group):
        for (place, part), value in terms:
            start = 6 * nodes.index(place)
            rows[i, start : start + 6] += value * node_rows(place, [part], bulk.axes)[0]
    parts = [terms[0][0][1] for _, terms in group]
    return equation_link(group[0][0], dofs_at(nodes, 6), rows, followers(node, parts, bulk.axes))


def _selected(bulk: Bulk) -> set[int]:
    """Numbers of the MPC sets that apply: those of the case control; without one, the only set."""
    cards = bulk.cards.get("MPC", [])
    sets = {integer(card[1], card) for card in cards}
    joined = {integer(card[1], card): set(listed(card[2:], card)) for card in bulk.cards.get("MPCADD", [])}
    if bulk.control.mpc is not None:
        return {each for label in bulk.control.mpc for each in joined.get(label, {label})}
    if len(sets) > 1 and len(joined) != 1:
        raise wrong(f"the bulk data contain the MPC sets {', '.join(map(str, sorted(sets)))}, and no case control says which "
                    "apply; give the whole file, with MPC = ... above BEGIN BULK")
    return next(iter(joined.values())) if joined else sets


def supported(bulk: Bulk) -> list[int]:
    """Numbers of the grid points that supports hold: the SPC and SPC1 that are selected, and field PS of GRID."""
    joined = {integer(card[1], card): set(listed(card[2:], card)) for card in bulk.cards.get("SPCADD", [])}
    chosen = None if bulk.control.spc is None else {each for label in bulk.control.spc for each in joined.get(label, {label})}
    held = {grid for number, grid, _ in bulk.supports() if chosen is None or number is None or number in chosen}
    return sorted(held & set(bulk.labels.tolist()))


# ---- masses --------------------------------------------------------------------------------------------------------------
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
