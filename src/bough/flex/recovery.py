"""Recovery of strains and stresses of elements from modal coordinates, for recording and drawing. [B 74]"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bough.errors import DescriptionError, similar
from bough.flex.integrals import Array, Nodes
from bough.flex.reading import Units

PASCAL = 1e-6  # MPa


@dataclass(frozen=True)
class Recovery:
    """Stresses and strains of E named elements per modal coordinate, in body axes; engineering shear strains."""

    names: Array  # (E,) texts
    stress: Array  # (E, 6, n) [Pa]: xx, yy, zz, xy, yz, zx; (0, 6, n): not known
    strain: Array  # (E, 6, n); (0, 6, n): not known
    point_stress: Array  # (P, 6, n) at the points of the outline, for pictures; (0, 6, n): none
    point_strain: Array

    @cached_property
    def _index(self) -> dict[str, int]:
        return {str(name): i for i, name in enumerate(self.names)}

    def has(self, name: str) -> bool:
        """Whether it is the name of an element."""
        return name in self._index

    def index(self, name: str) -> int:
        """The row of an element."""
        if not self.has(str(name)):
            known = list(self._index)
            listed = ", ".join(known[:10])
            raise DescriptionError(f"recovery: there is no element {name!r}{similar(str(name), known)}; recovered are {listed}")
        return self._index[str(name)]

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


def components_along(axis: Any) -> Array:
    """(6,): the strain along a unit vector n, n.eps n, out of xx, yy, zz and the engineering shear xy, yz, zx. [B 74]

    >>> components_along((0.6, 0.8, 0)).round(2)
    array([0.36, 0.64, 0.  , 0.48, 0.  , 0.  ])
    """
    x, y, z = axis
    return np.array([x * x, y * y, z * z, x * y, y * z, z * x])


# ---- matrices of another tool ----------------------------------------------------------------------------------------------
_GIVEN = ("names", "stress", "strain", "points", "displacement")


def is_given(recover: Any) -> bool:
    """Whether recovery is given by matrices: {"names": [...], "stress": matrix}, {"points": {...}, "displacement": matrix}."""
    return isinstance(recover, Mapping) and bool(set(recover) & {"stress", "strain", "displacement"})


def given_recovery(recover: Mapping[str, Any], shapes: Array) -> Recovery | None:
    """Rows xx, yy, zz, xy, yz, zx of stress [Pa] or strain of each element, columns the coordinates that `shapes` moves."""
    if unknown := set(recover) - set(_GIVEN):
        raise DescriptionError(f"recovery: {min(unknown)!r} is not known{similar(min(unknown), _GIVEN)}; give {', '.join(_GIVEN)}")
    n = shapes.shape[1]
    none = np.zeros((0, 6, n))
    if "stress" not in recover and "strain" not in recover:
        return None
    names = np.array([str(each) for each in recover.get("names", ())])
    stress, strain = (
        none if recover.get(what) is None else _moved(recover[what], what, names.tolist(), "xx, yy, zz, xy, yz, zx", shapes)
        for what in ("stress", "strain")
    )
    return Recovery(names, stress, strain, none, none)


def with_given_points(nodes: Nodes, recover: Any, shapes: Array) -> Nodes:
    """The nodes, and the points whose displacements are given: rows x, y, z of each, columns the coordinates."""
    if not is_given(recover) or "displacement" not in recover:
        return nodes
    places = recover.get("points", {})
    if taken := set(places) & set(nodes.names):
        raise DescriptionError(f"recovery: the point {min(taken)!r} has the name of a node; give it another")
    moved = _moved(recover["displacement"], "displacement", list(places), "x, y, z", shapes)
    position = np.array([np.asarray(each, dtype=float) for each in places.values()]).reshape(-1, 3)
    return Nodes((*nodes.names, *places), np.vstack([nodes.position, position]), np.concatenate([nodes.phi, moved]),
                 np.concatenate([nodes.psi, np.zeros_like(moved)]), (*nodes.rotates, *(False for _ in places)))


def _moved(given: Any, what: str, names: Sequence[str], parts: str, shapes: Array) -> Array:
    """(names, parts, n): a matrix of another tool under the modes."""
    matrix = given if hasattr(given, "tocsr") else np.asarray(given, dtype=float)
    rows = len(parts.split(", "))
    if matrix.shape != (rows * len(names), shapes.shape[0]):
        raise DescriptionError(f"recovery: the {what} matrix is {matrix.shape}, but there are {len(names)} "
                               f"{'points' if what == 'displacement' else 'elements'} and {shapes.shape[0]} dofs; give "
                               f"({rows * len(names)}, {shapes.shape[0]}), rows {parts} of each")
    return np.asarray(matrix @ shapes).reshape(len(names), rows, shapes.shape[1])


def in_units(recover: Any, unit: Units, lever: Array) -> Any:
    """Matrices of a tool's units, whose coordinates are `lever` times smaller than those in SI, in Pa and m."""
    if not is_given(recover):
        return recover
    scales = {"stress": unit.pressure, "strain": 1.0, "displacement": unit.length}
    found = dict(recover)
    for what in set(scales) & set(found):
        found[what] = scales[what] * np.asarray(found[what], dtype=float) / lever
    if "points" in found:
        found["points"] = {name: unit.length * np.asarray(place, dtype=float) for name, place in found["points"].items()}
    return found


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


def recover_solids(groups: Sequence[SolidElements], position: Array, shapes: Array, per_node: int, wanted: Any = "all") -> Recovery:
    """Strains and stresses at the centers of the wanted elements (numbers, or "all"), and their means at nodes for pictures."""
    n = shapes.shape[1]
    moved = shapes.reshape(len(position), per_node, n)[:, :3]
    labels = np.concatenate([group.labels for group in groups]) if groups else np.zeros(0, dtype=int)
    strain, stress = np.zeros((2, len(labels), 6, n))
    at = 0
    for group in groups:
        rows = slice(at, at + len(group.labels))
        at += len(group.labels)
        operator = strain_rows(group.kind, position[group.nodes])
        strain[rows] = np.einsum("ecki,ekin->ecn", operator, moved[group.nodes], optimize=True)
        stress[rows] = elasticity(group.E, group.nu) @ strain[rows]
    nodes = [each for group in groups for each in group.nodes]
    chosen = chosen_elements(labels, wanted)
    at_points = (node_means(len(position), nodes, each) for each in (stress, strain))
    return Recovery(labels[chosen].astype(str), stress[chosen], strain[chosen], *at_points)


def node_means(count: int, nodes: Sequence[Array], values: Array) -> Array:
    """(count, ...) at the nodes: the means of the elements (E, ...) that have them.

    >>> node_means(3, [np.array([0, 1]), np.array([1, 2])], np.array([4.0, 6.0]))
    array([4., 5., 6.])
    """
    from scipy.sparse import csr_array

    element = np.repeat(np.arange(len(nodes)), [len(each) for each in nodes])
    node = np.concatenate([np.zeros(0, dtype=int), *nodes])
    share = 1.0 / np.maximum(np.bincount(node, minlength=count), 1)[node]
    means = csr_array((share, (node, element)), shape=(count, len(nodes)))
    return np.asarray(means @ values.reshape(len(nodes), -1)).reshape(count, *values.shape[1:])


def chosen_elements(labels: Array, wanted: Any) -> Array:
    """The rows of the wanted elements, by their numbers, or of "all"."""
    if isinstance(wanted, str) and wanted == "all":
        return np.arange(len(labels))
    at = {int(label): i for i, label in enumerate(labels.tolist())}
    numbers = [int(each) for each in np.atleast_1d(wanted)]
    for each in numbers:
        if each not in at:
            first, last = (labels.min(), labels.max()) if len(labels) else (0, 0)
            raise DescriptionError(f"recovery: there is no solid element {each} with an elastic material; give numbers from "
                                   f"{first} to {last}, or 'all'")
    return np.array([at[each] for each in numbers], dtype=int)
