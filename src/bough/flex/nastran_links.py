"""Rigid elements and multipoint constraints of Nastran as links in basic axes. [B 71]"""

from collections.abc import Callable, Sequence

import numpy as np

from bough.flex.links import Link, Measured, dofs_at, equation_link, followers, mean_link, node_rows, rigid_link, rigid_rows
from bough.flex.nastran_bulk import Bulk
from bough.flex.nastran_cards import Card, field_of, integer, listed, number, wrong

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

