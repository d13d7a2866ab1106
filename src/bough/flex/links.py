"""Dofs that follow others: rigid links (RBE2, spiders over a face) and mean motions (RBE3), and how they are eliminated. [B 71]"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from bough.errors import DescriptionError
from bough.flex.finite_elements import rigid_motion
from bough.flex.integrals import Array

ALL = (0, 1, 2, 3, 4, 5)


class Link(NamedTuple):
    """u[dependent] = weights u[independent]."""

    name: str
    dependent: Array  # (k,) dofs
    independent: Array  # (l,) dofs
    weights: Array  # (k, l)


def dofs_at(nodes: Iterable[int], per_node: int, components: Sequence[int] | None = None) -> Array:
    """The numbers of some components (0 ... per_node - 1; all) of some nodes, node by node."""
    chosen = np.arange(per_node) if components is None else np.asarray(components)
    return np.asarray((per_node * np.asarray(list(nodes), dtype=int)[:, None] + chosen).ravel())


def rigid_link(name: str, center: int, nodes: Sequence[int], position: Array, components: Sequence[int] = ALL) -> Link:
    """Nodes of six dofs that move as a rigid body with node `center` of the same model. [B 71]

    >>> link = rigid_link("pair", 0, [1], np.array([[0.0, 0, 0], [2, 0, 0]]))
    >>> link.weights[1] + 0.0                       # y of the node: y of the center, and twice its rotation about z
    array([0., 1., 0., 0., 0., 2.])
    """
    motion = rigid_motion(position[list(nodes)], 6, position[center]).reshape(len(nodes), 6, 6)
    return Link(name, dofs_at(nodes, 6, components), dofs_at([center], 6), motion[:, list(components)].reshape(-1, 6))


def equation_link(name: str, dofs: Array, rows: Array, follow: Array) -> Link:
    """The equations rows (k, l) u[dofs] = 0, solved for k of the dofs in `follow`: those that they determine best.

    >>> equation_link("slope", np.array([4, 7, 9]), np.array([[2.0, -1.0, -3.0]]), np.array([4]))
    Link(name='slope', dependent=array([4]), independent=array([7, 9]), weights=array([[0.5, 1.5]]))
    """
    from scipy.linalg import qr

    known, place = np.unique(dofs, return_inverse=True)
    merged = np.zeros((len(rows), len(known)))
    np.add.at(merged.T, place, np.asarray(rows, dtype=float).T)
    among = np.flatnonzero(np.isin(known, follow))
    size = np.abs(merged).max(axis=1, initial=0.0, keepdims=True)
    _, factor, pivots = qr(merged[:, among] / np.where(size > 0, size, 1.0), mode="economic", pivoting=True)
    if len(among) < len(rows) or abs(factor[len(rows) - 1, len(rows) - 1]) < 1e-10:
        raise DescriptionError(f"{name}: its equations do not determine the {len(rows)} dofs that are to follow; give coefficients "
                               "that do")
    chosen = np.sort(among[pivots[: len(rows)]])
    rest = np.setdiff1d(np.flatnonzero(merged.any(axis=0)), chosen)
    return Link(name, known[chosen], known[rest], -np.linalg.solve(merged[:, chosen], merged[:, rest]))


class Measured(NamedTuple):
    """Components (0 ... 5) of a node, along its own axes, that a mean motion takes with a weight."""

    node: int
    components: tuple[int, ...]
    weight: float


def mean_link(name: str, center: int, measured: Sequence[Measured], position: Array, axes: Array,
              components: Sequence[int] = ALL) -> Link:
    """A node of six dofs that follows others: the nearest rigid motion, by weighted least squares. [B 71]

    `axes` (N, 3, 3) are the directions (columns) of each node's components. Rotations weigh by the square of the mean distance.
    """
    arms = np.linalg.norm([position[each.node] - position[center] for each in measured], axis=1)
    lever = float(arms.mean()) or 1.0
    motion = np.vstack([rigid_rows(each.node, each.components, position, axes, position[center]) for each in measured])
    weight = np.array([each.weight * (1.0 if part < 3 else lever**2) for each in measured for part in each.components])
    scale = np.array([1.0] * 3 + [1 / lever] * 3)  # rotations as displacements at the mean distance
    square = scale[:, None] * (motion.T @ (weight[:, None] * motion)) * scale
    values, vectors = np.linalg.eigh(square)
    lost = vectors[:, values < 1e-10 * values[-1]]
    own = rigid_rows(center, tuple(components), position, axes, position[center])
    if np.abs(own @ lost).max(initial=0.0) > 1e-6:
        raise DescriptionError(f"{name}: its {len(measured)} nodes do not determine the motion of their center (they lie on a "
                               "line, or all weights but some are zero); give three nodes or more that span a triangle")
    fit = scale[:, None] * (np.linalg.pinv(square, rcond=1e-10, hermitian=True) @ (scale[:, None] * (motion.T * weight)))
    moved = np.vstack([node_rows(each.node, each.components, axes) for each in measured])
    nodes = np.concatenate([np.tile(dofs_at([each.node], 6), (len(each.components), 1)) for each in measured])
    columns, place = np.unique(nodes, return_inverse=True)
    leading = np.zeros((len(moved), len(columns)))
    leading[np.arange(len(moved))[:, None], place.reshape(nodes.shape)] = moved
    rows = np.hstack([node_rows(center, tuple(components), axes), -own @ fit @ leading])
    dofs = np.concatenate([dofs_at([center], 6), columns])
    return equation_link(name, dofs, rows, followers(center, tuple(components), axes))


def node_rows(node: int, components: Sequence[int], axes: Array) -> Array:
    """Rows (k, 6): the components of a node along its own axes, out of its six dofs."""
    wide = np.zeros((6, 6))
    wide[:3, :3] = wide[3:, 3:] = axes[node].T
    return wide[list(components)]


def rigid_rows(node: int, components: Sequence[int], position: Array, axes: Array, about: Array) -> Array:
    """Rows (k, 6): the components of a node along its own axes in rigid motion about a place."""
    return node_rows(node, components, axes) @ rigid_motion(position[[node]], 6, about)


def followers(node: int, components: Sequence[int], axes: Array) -> Array:
    """The dofs that can follow where components along the node's own axes do: these, or all three of their kind."""
    if np.allclose(axes[node], np.eye(3)):
        return dofs_at([node], 6, list(components))
    kinds = [part for part in range(6) if any(part // 3 == each // 3 for each in components)]
    return dofs_at([node], 6, kinds)


def eliminate(links: Sequence[Link], size: int, keep: Array) -> tuple[Array, Any]:
    """The dependent dofs, and the sparse (size, size) matrix that gives all dofs out of the independent ones.

    Dofs in `keep` stay independent if they can: a mean motion that would make them follow is solved for others of its dofs.
    """
    from scipy.sparse import coo_array, csr_array, eye_array
    from scipy.sparse.linalg import splu

    rows, columns, values = [], [], []
    owner: dict[int, str] = {}
    for link in (_without(each, set(keep.tolist())) for each in links):
        for dof in link.dependent.tolist():
            if dof in owner:
                raise DescriptionError(f"{link.name}: it moves a dof that {owner[dof]} moves already; let each dof follow one "
                                       "rigid element")
            owner[dof] = link.name
        rows.append(np.repeat(link.dependent, len(link.independent)))
        columns.append(np.tile(link.independent, len(link.dependent)))
        values.append(link.weights.ravel())
    dependent = np.array(sorted(owner), dtype=int)
    if not len(dependent):
        return dependent, None
    follow = coo_array((np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), shape=(size, size)).tocsr()
    free = np.setdiff1d(np.arange(size), dependent)
    chain = (eye_array(len(dependent)) - follow[dependent][:, dependent]).tocsc()  # links of links
    try:
        direct = follow[dependent][:, free]
        solved = csr_array(splu(chain).solve(direct.toarray())) if chain.nnz > chain.shape[0] else direct
    except RuntimeError:
        raise DescriptionError(f"{owner[int(dependent[0])]}: rigid elements follow each other in a circle; break it") from None
    whole = csr_array((np.ones(len(free)), (free, free)), shape=(size, size))
    solved = solved.tocoo()
    return dependent, (whole + csr_array((solved.data, (dependent[solved.coords[0]], free[solved.coords[1]])), shape=(size, size)))


def _without(link: Link, keep: set[int]) -> Link:
    """The same equations, solved for others; as they are if none can be (two interfaces on one rigid part)."""
    from scipy.linalg import qr

    blocked = np.array([dof in keep for dof in link.dependent.tolist()])
    if not blocked.any():
        return link
    open_ = np.array([dof not in keep for dof in link.independent.tolist()])
    count = int(blocked.sum())
    candidates = link.weights[blocked][:, open_]
    if candidates.shape[1] < count:
        return link
    _, factor, pivots = qr(candidates / np.abs(candidates).max(axis=1, initial=1e-300, keepdims=True), mode="economic",
                           pivoting=True)
    if abs(factor[count - 1, count - 1]) < 1e-10 * abs(factor[0, 0]):
        return link
    chosen = np.flatnonzero(open_)[pivots[:count]]
    rest = np.setdiff1d(np.arange(len(link.independent)), chosen)
    inverse = np.linalg.inv(link.weights[blocked][:, chosen])
    solved = np.hstack([inverse, -inverse @ link.weights[blocked][:, rest]])  # out of the kept dofs and the rest
    others = link.weights[~blocked]
    leaders = np.concatenate([link.dependent[blocked], link.independent[rest]])
    passed = others[:, chosen] @ solved + np.hstack([np.zeros((len(others), count)), others[:, rest]])
    dependent = np.concatenate([link.independent[chosen], link.dependent[~blocked]])
    return Link(link.name, dependent, leaders, np.vstack([solved, passed]))
