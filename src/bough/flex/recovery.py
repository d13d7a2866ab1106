"""Recovery: what the modes do to elements, strains and stresses, as rows that are recorded, drawn and colored. [B 74]"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bough.errors import DescriptionError, nearest
from bough.flex.integrals import Array

COMPONENTS = ("xx", "yy", "zz", "xy", "yz", "zx")
PASCAL = 1e-6  # MPa


@dataclass(frozen=True)
class Recovery:
    """Stresses and strains of E named elements per modal coordinate, in body axes; engineering shear strains."""

    names: Array  # (E,) texts
    stress: Array  # (E, 6, n) [Pa]: xx, yy, zz, xy, yz, zx
    strain: Array  # (E, 6, n); (0, 6, n): not known
    points: Array  # (P, 6, n) stress at the points of the outline, for pictures; (0, 6, n): none

    def index(self, name: str) -> int:
        """The row of an element."""
        known = [str(each) for each in self.names]
        if str(name) not in known:
            listed = ", ".join(known[:10])
            raise DescriptionError(f"recovery: there is no element {name!r}{nearest(str(name), known)}; recovered are {listed}")
        return known.index(str(name))

    def stresses(self, eta: Array) -> Array:
        """(..., E, 6) [Pa] under modal coordinates (..., n)."""
        return np.asarray(np.einsum("eir,...r->...ei", self.stress, eta))

    def strains(self, eta: Array) -> Array:
        """(..., E, 6) under modal coordinates (..., n)."""
        return np.asarray(np.einsum("eir,...r->...ei", self.strain, eta))


def von_mises(stress: Array) -> Array:
    """The equivalent stress (...) of components (..., 6).

    >>> von_mises(np.array([100.0, 0, 0, 0, 0, 0])), von_mises(np.array([0, 0, 0, 10.0, 0, 0])).round(3)
    (np.float64(100.0), np.float64(17.321))
    """
    x, y, z, xy, yz, zx = np.moveaxis(stress, -1, 0)
    return np.asarray(np.sqrt(((x - y) ** 2 + (y - z) ** 2 + (z - x) ** 2) / 2 + 3 * (xy**2 + yz**2 + zx**2)))[()]


def given_recovery(names: Sequence[str], stress: Any, shapes: Array, strain: Any = None) -> Recovery:
    """Recovery out of matrices of another tool: rows xx, yy, zz, xy, yz, zx [Pa] of each element, columns the dofs of the model."""
    count, n = len(names), shapes.shape[1]

    def projected(matrix: Any, what: str) -> Array:
        if matrix.shape != (6 * count, shapes.shape[0]):
            raise DescriptionError(
                f"recovery: the {what} matrix is {matrix.shape}, but there are {count} elements and {shapes.shape[0]} dofs; give "
                f"({6 * count}, {shapes.shape[0]}), rows xx, yy, zz, xy, yz, zx of each element"
            )
        return np.asarray(matrix @ shapes).reshape(count, 6, n)

    strains = np.zeros((0, 6, n)) if strain is None else projected(strain, "strain")
    return Recovery(np.array([str(each) for each in names]), projected(stress, "stress"), strains, np.zeros((0, 6, n)))


# ---- solid elements --------------------------------------------------------------------------------------------------------
_HEX = np.array([[-1, -1, -1], [1, -1, -1], [1, 1, -1], [-1, 1, -1], [-1, -1, 1], [1, -1, 1], [1, 1, 1], [-1, 1, 1]], dtype=float)
_EDGES = ((0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 7), (7, 4), (0, 4), (1, 5), (2, 6), (3, 7))
_TET = np.array([[-1.0, -1, -1], [1, 0, 0], [0, 1, 0], [0, 0, 1]])  # gradients of the barycentric coordinates
_TET_EDGES = ((0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3))


def center_slopes(kind: str) -> Array:
    """dN/dxi (nodes, 3) at the center of a solid element, by its number of nodes: "4", "10", "8", "20"."""
    if kind == "4":
        return _TET
    if kind == "10":  # N = L (2L - 1) and 4 L L at L = 1/4: corners vanish
        return np.vstack([0.0 * _TET, [_TET[a] + _TET[b] for a, b in _TET_EDGES]])
    if kind == "8":
        return _HEX / 8
    corners = -_HEX / 8  # N = (1 + xi xi_i)(...)(...)(xi xi_i + ... - 2)/8 at xi = 0: slope xi_i (1 - 2)/8
    middles = np.array([_HEX[a] + _HEX[b] for a, b in _EDGES]) / 2 / 4  # N = (1 - xi^2)(1 + eta eta_i)(1 + zeta zeta_i)/4
    return np.vstack([corners, middles])


def strain_rows(kind: str, places: Array) -> Array:
    """B (elements, 6, nodes, 3) at the centers of elements with nodes at `places` (elements, nodes, 3). [B 74]"""
    slopes = center_slopes(kind)
    jacobian = np.einsum("ki,ekj->eij", slopes, places)
    gradient = np.einsum("eij,kj->eki", np.linalg.inv(jacobian), slopes)  # dN/dx
    rows = np.zeros((len(places), 6, len(slopes), 3))
    for i in range(3):
        rows[:, i, :, i] = gradient[:, :, i]
    for row, (i, j) in enumerate(((0, 1), (1, 2), (2, 0)), start=3):
        rows[:, row, :, i], rows[:, row, :, j] = gradient[:, :, j], gradient[:, :, i]
    return rows


def elasticity(E: float, nu: float) -> Array:
    """(6, 6) of an isotropic material.

    >>> elasticity(200.0, 0.0).diagonal()
    array([200., 200., 200., 100., 100., 100.])
    """
    lame, shear = E * nu / ((1 + nu) * (1 - 2 * nu)), E / (2 * (1 + nu))
    matrix = np.diag([2 * shear] * 3 + [shear] * 3)
    matrix[:3, :3] += lame
    return matrix


@dataclass(frozen=True)
class SolidElements:
    """Solid elements of one kind and one material: what stress recovery needs of a mesh."""

    kind: str  # "4", "8", "10" or "20" nodes
    labels: Array  # (E,)
    nodes: Array  # (E, k) rows of the model's nodes
    E: float
    nu: float


def recover_solids(
    groups: Sequence[SolidElements], position: Array, shapes: Array, per_node: int, wanted: Any = "all"
) -> Recovery:
    """Strains and stresses at the centers of the wanted elements (numbers, or "all"), and mean stresses at nodes for pictures."""
    n = shapes.shape[1]
    moved = shapes.reshape(len(position), per_node, n)[:, :3]
    labels = np.concatenate([group.labels for group in groups]) if groups else np.zeros(0, dtype=int)
    strain, stress = np.zeros((2, len(labels), 6, n))
    total, count, at = np.zeros((len(position), 6, n)), np.zeros(len(position)), 0
    for group in groups:
        rows = slice(at, at + len(group.labels))
        at += len(group.labels)
        operator = strain_rows(group.kind, position[group.nodes])
        strain[rows] = np.einsum("ecki,ekin->ecn", operator, moved[group.nodes], optimize=True)
        stress[rows] = elasticity(group.E, group.nu) @ strain[rows]
        for column in group.nodes.T:
            np.add.at(total, column, stress[rows])
            np.add.at(count, column, 1.0)
    chosen = chosen_elements(labels, wanted)
    points = total / np.maximum(count, 1.0)[:, None, None]
    return Recovery(labels[chosen].astype(str), stress[chosen], strain[chosen], points)


def chosen_elements(labels: Array, wanted: Any) -> Array:
    """The rows of the wanted elements, by their numbers, or of "all"."""
    if isinstance(wanted, str) and wanted == "all":
        return np.arange(len(labels))
    at = {int(label): i for i, label in enumerate(labels.tolist())}
    numbers = [int(each) for each in np.atleast_1d(wanted)]
    for each in numbers:
        if each not in at:
            first, last = (labels.min(), labels.max()) if len(labels) else (0, 0)
            raise DescriptionError(
                f"recovery: there is no solid element {each} with an elastic material; give numbers from {first} to "
                f"{last}, or 'all'"
            )
    return np.array([at[each] for each in numbers], dtype=int)
