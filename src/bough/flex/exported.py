"""A structure exported by a finite-element tool: labels, positions, matrices and links, and the model made from them.

All readers end here, so that units, missing dofs, rigid elements, spiders and bad input are handled once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypedDict, Unpack

import numpy as np

from bough.errors import DescriptionError
from bough.flex.finite_elements import COMPONENTS, FiniteElements, GeometricOf, PointRule, attachments, body_origin, rigid_motion
from bough.flex.integrals import Array, axial, inertia_of, tilde, unknown_node
from bough.flex.links import Link, dofs_at, eliminate, rigid_link
from bough.flex.reading import Units
from bough.flex.recovery import SolidElements, recover_solids
from bough.flex.reduction import check_symmetric

_SAME_MASS = 1e-4  # relative
_NOTHING = 1e-13  # of the largest diagonal entry of its kind: no stiffness, no mass
_ZERO = 1e-9  # of the largest entry


class Places(TypedDict, total=False):
    """Where a structure is attached: keywords of every reader, see `matrices_model`."""

    attach: Mapping[str, Any] | None
    inboard: str | None
    origin: Any
    spiders: Mapping[str, Any] | None


@dataclass(frozen=True)
class Exported:
    """A structure as a tool wrote it, in SI units and one Cartesian frame; dofs node by node, 3 or 6 of each."""

    source: str  # how messages begin: "read_abaqus"
    labels: Array  # (N,) the tool's numbers of the nodes
    position: Array  # (N, 3)
    mass: Any  # sparse (dofs, dofs)
    stiffness: Any
    per_node: int
    grounded: Array = field(default_factory=lambda: np.zeros(0, dtype=int))  # dofs held by supports
    links: tuple[Link, ...] = ()
    lines: Array = field(default_factory=lambda: np.zeros((0, 2), dtype=int))
    faces: Array = field(default_factory=lambda: np.zeros((0, 3), dtype=int))
    notes: tuple[str, ...] = ()  # what was left out or assumed
    solids: tuple[SolidElements, ...] = ()  # in rows of nodes, for stresses
    sets: Mapping[str, Array] = field(default_factory=dict)  # numbers of nodes by name

    def index(self, name: str, labels: Any) -> Any:
        """The rows of nodes given by the tool's numbers, or by the name of a set."""
        if isinstance(labels, str):
            if labels.upper() not in self.sets:
                listed = ", ".join(map(repr, self.sets)) or "none"
                raise DescriptionError(f"node {name!r}: the model has no set of nodes {labels!r}; its sets are {listed}")
            labels = np.intersect1d(self.sets[labels.upper()], self.labels)
        given = np.atleast_1d(np.asarray(labels, dtype=int))
        order = np.argsort(self.labels, kind="stable")
        place = np.minimum(np.searchsorted(self.labels, given, sorter=order), len(order) - 1)
        found = order[place]
        if (wrong := self.labels[found] != given).any():
            raise DescriptionError(f"node {name!r}: the model has no node {given[wrong][0]}; give a number from "
                                   f"{self.labels.min()} to {self.labels.max()}, of its {len(self.labels)} nodes")
        return found if np.ndim(labels) else found[0]

    def model(self, *, mass: float | None = None, geometric: GeometricOf | None = None, **places: Unpack[Places]) -> FiniteElements:
        """The model with its named places; `attach` and `spiders` name nodes by the tool's numbers."""
        self._check()
        chosen = {name: self.index(name, nodes) for name, nodes in (places.get("attach") or {}).items()}
        structure = self
        for name, given in (places.get("spiders") or {}).items():
            structure, chosen[name] = structure.with_spider(name, given)
        model = structure._assembled(chosen, places.get("inboard"), places.get("origin"), mass, geometric)
        from bough.flex.structure_check import grounding_of

        return replace(model, notes=(*model.notes, *grounding_of(model)[1]))

    def with_spider(self, name: str, given: Any) -> tuple[Exported, int]:
        """The structure with one more node, rigidly connected to others: their numbers, or {nodes: [...], at: (x, y, z)}. [B 71]"""
        nodes, at = (given.get("nodes"), given.get("at")) if isinstance(given, Mapping) else (given, None)
        found = np.atleast_1d(self.index(name, [] if nodes is None else nodes))
        if len(found) < 2:
            raise DescriptionError(f"node {name!r}: a spider holds two nodes or more; give spiders={{{name!r}: [their numbers]}}")
        wide = self.with_rotations()
        center = self.position[found].mean(axis=0) if at is None else np.asarray(at, dtype=float)
        position = np.vstack([wide.position, center])
        label = int(self.labels.max()) + 1
        moved = (0, 1, 2) if self.per_node == 3 else tuple(range(6))
        size = 6 * len(position)
        return replace(
            wide,
            labels=np.append(wide.labels, label),
            position=position,
            mass=_grown(wide.mass, size),
            stiffness=_grown(wide.stiffness, size),
            links=(*wide.links, rigid_link(f"spider {name!r}", len(position) - 1, found.tolist(), position, moved)),
        ), len(position) - 1

    def with_rotations(self) -> Exported:
        """The same with six dofs at each node."""
        if self.per_node == 6:
            return self
        where = dofs_at(range(len(self.labels)), 6, (0, 1, 2))
        size = 6 * len(self.labels)
        return replace(
            self,
            per_node=6,
            mass=placed(self.mass, where, size),
            stiffness=placed(self.stiffness, where, size),
            grounded=where[self.grounded],
            links=tuple(each._replace(dependent=where[each.dependent], independent=where[each.independent]) for each in self.links),
        )

    def in_axes(self, axes: Array) -> Exported:
        """The same in body axes; the columns of `axes` (N, 3, 3) are the present axes of each node's dofs."""
        turn = dof_rotation(axes, self.per_node)
        mass, stiffness = ((turn @ each @ turn.T).tocsr() for each in (self.mass, self.stiffness))
        turned = np.flatnonzero(~np.isclose(axes, np.eye(3)).all(axis=(1, 2)))
        if len(held := self.labels[np.intersect1d(self.grounded // self.per_node, turned)]):
            raise DescriptionError(f"{self.source}: node {held[0]} has axes of its own, and of its dofs some are not in the "
                                   "matrices; export the free structure, without supports there")
        return replace(self, mass=mass, stiffness=stiffness)

    def in_units(self, unit: Units) -> Exported:
        """The same structure, converted from other units to SI."""
        if unit == Units():
            return self
        from scipy.sparse import diags_array

        lever = np.tile([1.0] * 3 + [unit.length] * (self.per_node - 3), len(self.labels))
        scale = diags_array(lever)
        return replace(
            self,
            position=self.position * unit.length,
            solids=tuple(replace(each, E=each.E * unit.pressure) for each in self.solids),
            mass=(unit.mass * (scale @ self.mass @ scale)).tocsr(),
            stiffness=(unit.stiffness * (scale @ self.stiffness @ scale)).tocsr(),
            links=tuple(
                each._replace(weights=each.weights * lever[each.independent] / lever[each.dependent][:, None])
                for each in self.links
            ),
        )

    def _assembled(self, chosen: Mapping[str, Any], inboard: str | None, origin: Any, mass: float | None,
                   geometric: GeometricOf | None) -> FiniteElements:
        if inboard is not None and inboard not in chosen:
            raise DescriptionError(unknown_node(inboard, tuple(chosen)))
        position = self.position - body_origin(origin, inboard, chosen, self.position, self.per_node)
        self._check_mass(mass)
        nodes = sorted({int(node) for each in chosen.values() for node in np.atleast_1d(each)})
        dependent, links = eliminate(self.links, self.mass.shape[0], dofs_at(nodes, self.per_node))
        held = np.union1d(self.grounded, np.setdiff1d(self._empty(links), dependent))
        rule = point_rule(self.mass, position, self.per_node, self.source, self.labels)
        return FiniteElements(
            mass=self.mass,
            stiffness=self.stiffness,
            position=position,
            dofs_per_node=self.per_node,
            attachments=attachments(chosen, position, self.per_node),
            inboard=inboard,
            rule=rule,
            held=held.astype(int),
            dependent=dependent,
            links=links,
            geometric_of=geometric,
            lines=self.lines,
            faces=self.faces,
            recover=(lambda shapes, wanted: recover_solids(self.solids, position, shapes, self.per_node, wanted)) if self.solids
            else None,
            labels=self.labels,
            notes=self.notes,
        )

    def _empty(self, links: Any) -> Array:
        """Dofs that have neither stiffness nor mass, their own or of those that follow them: solids' rotations, drilling."""
        found = []
        for matrix in (self.stiffness, self.mass):
            diagonal = np.abs((matrix if links is None else links.T @ matrix @ links).diagonal()).reshape(-1, self.per_node)
            for kind in (diagonal[:, :3], diagonal[:, 3:]):
                kind[kind <= _NOTHING * kind.max(initial=0.0)] = 0.0
            found.append(diagonal.ravel() == 0.0)
        return np.flatnonzero(found[0] & found[1])

    def _check(self) -> None:
        """Refuse matrices that cannot be those of a structure: check sizes, symmetry, signs, unconnected masses."""
        if not np.isfinite(self.position).all():
            where = self.labels[int(np.argmin(np.isfinite(self.position).all(axis=1)))]
            raise DescriptionError(f"{self.source}: the place of node {where} is not finite; give three numbers for each node")
        for what, matrix in (("stiffness", self.stiffness), ("mass", self.mass)):
            if not np.isfinite(matrix.data).all():
                raise DescriptionError(f"{self.source}: the {what} matrix holds numbers that are not finite; export it again")
            check_symmetric(matrix, what)
            diagonal = matrix.diagonal()
            if (diagonal < -_ZERO * np.abs(diagonal).max(initial=0.0)).any():
                worst = int(np.argmin(diagonal))
                raise DescriptionError(f"{self.source}: the {what} of node {self.labels[worst // self.per_node]} along "
                                       f"{COMPONENTS[worst % self.per_node]} is {diagonal[worst]:.6g}, below zero; check the "
                                       f"{'masses' if what == 'mass' else 'springs'} and elements there, and export again")
        self._check_connected()

    def _check_connected(self) -> None:
        def by_node(matrix: Any) -> Array:
            return np.asarray(abs(matrix).sum(axis=1)).reshape(-1, self.per_node)

        linked = np.zeros(self.mass.shape[0], dtype=bool)
        for link in self.links:
            linked[link.dependent] = linked[link.independent] = True
        linked[self.grounded] = True
        loose = (by_node(self.stiffness).max(axis=1) == 0.0) & ~linked.reshape(-1, self.per_node).any(axis=1)
        heavy = by_node(self.mass)[:, :3].max(axis=1) > 0.0
        if (both := loose & heavy).any():
            raise DescriptionError(f"{self.source}: node {self.labels[int(np.argmax(both))]} has mass but no stiffness "
                                   f"({int(both.sum())} such); connect it, or export without it")

    def _check_mass(self, mass: float | None) -> None:
        along = rigid_motion(self.position, self.per_node)[:, :3]
        square = along.T @ (self.mass @ along)
        found = np.diagonal(square)
        across = np.abs(square - np.diag(found)).max()
        if not len(self.grounded) and (found.min() <= 0 or max(np.ptp(found), across) > _SAME_MASS * found.max()):
            values = ", ".join(f"{each:.6g}" for each in found)
            raise DescriptionError(f"{self.source}: the mass matrix moves {values} kg along x, y, z, and {across:.3g} kg across; "
                                   "give the matrix of the free body, with all its dofs, one mass in all directions, in body axes, "
                                   "dofs in the order x, y, z, rx, ry, rz")
        check_declared(self.source, mass, found[0])


def check_declared(source: str, declared: float | None, found: float) -> None:
    """Compare a declared mass, if any, with that of the mass matrix."""
    if declared is not None and abs(found - declared) > _SAME_MASS * abs(declared):
        raise DescriptionError(f"{source}: mass is {declared:.6g} kg but the mass matrix holds {found:.6g} kg; check the units of "
                               "the matrices, or correct mass")


def without_spiders(source: str, places: Places) -> tuple[Mapping[str, Any] | None, str | None, Any]:
    """`attach`, `inboard` and `origin` of what is not a whole structure, to which no spider can be added."""
    if places.get("spiders"):
        raise DescriptionError(f"{source}: spiders need the matrices of the whole structure, which these files do not contain; "
                               "leave them out")
    return places.get("attach"), places.get("inboard"), places.get("origin")


def dof_rotation(axes: Array, per_node: int) -> Any:
    """Sparse: out of the dofs along the nodes' own axes (columns), translations and rotations, those along body axes."""
    from scipy.sparse import block_diag

    return block_diag([each for local in axes for each in [local] * (per_node // 3)], format="csr")


def placed(matrix: Any, where: Array, size: int) -> Any:
    """A sparse matrix whose row i becomes row where[i] of a larger one."""
    from scipy.sparse import csr_array

    entries = matrix.tocoo()
    row, column = entries.coords
    return csr_array((entries.data, (where[row], where[column])), shape=(size, size))


def _grown(matrix: Any, size: int) -> Any:
    return placed(matrix, np.arange(matrix.shape[0]), size)


def from_rows(source: str, labels: Sequence[int], position: Any, rows: tuple[Array, Array], matrices: tuple[Any, Any]) -> Exported:
    """A structure out of matrices whose rows are given by the labels and the components (0 ... 5) of their dofs."""
    numbers, places = np.asarray(labels, dtype=int), np.asarray(position, dtype=float).reshape(-1, 3)
    nodes, components = (np.asarray(each, dtype=int) for each in rows)
    for matrix in matrices:
        if matrix.shape != (len(nodes), len(nodes)):
            raise DescriptionError(f"{source}: a matrix is {matrix.shape[0]} x {matrix.shape[1]}, but {len(nodes)} dofs are listed "
                                   "for it; give files of one model and one run")
    if len(nodes) and not 0 <= components.min() <= components.max() <= 5:
        where = int(np.argmax((components < 0) | (components > 5)))
        raise DescriptionError(f"{source}: the matrices have dof {components[where] + 1} of node {nodes[where]}; give 1 to 6")
    known, order = np.unique(numbers), np.argsort(numbers, kind="stable")
    place = np.searchsorted(known, nodes)
    if (wrong := (place == len(known)) | (known[np.minimum(place, len(known) - 1)] != nodes)).any():
        raise DescriptionError(f"{source}: the matrices have dofs of node {nodes[wrong][0]}, which has no coordinates; give the "
                               "nodes of the same model")
    if len(np.unique(np.column_stack([place, components]), axis=0)) < len(nodes):
        pairs, counts = np.unique(np.column_stack([nodes, components]), axis=0, return_counts=True)
        node, component = pairs[counts.argmax()]
        raise DescriptionError(f"{source}: two rows of the matrices are for {COMPONENTS[component]} of node {node}; give the "
                               "mapping of the same model")
    used = np.unique(place)
    per_node = 6 if (components > 2).any() else 3
    where = per_node * np.searchsorted(used, place) + components
    size = per_node * len(used)
    mass, stiffness = (placed(matrix, where, size) for matrix in matrices)
    return Exported(source, known[used], places[order][used], mass, stiffness, per_node)


def with_missing(found: Exported, rows: Array) -> Exported:
    """The same, with dofs held that have no row (node, component): translations, and rotations of nodes that have some."""
    at = found.per_node * np.searchsorted(found.labels, rows[:, 0]) + rows[:, 1]
    there = np.zeros(found.mass.shape[0], dtype=bool)
    there[at] = True
    by_node = there.reshape(-1, found.per_node)
    expected = np.repeat(by_node[:, 3:].any(axis=1, keepdims=True), found.per_node, axis=1)
    expected[:, :3] = by_node.any(axis=1, keepdims=True)
    missing = np.flatnonzero(~by_node & expected)
    if not len(missing):
        return found
    nodes = len(np.unique(missing // found.per_node))
    note = f"{len(missing)} dofs of {nodes} nodes are not in the matrices (supports, or equations) and are held"
    return replace(found, grounded=missing, notes=(*found.notes, note))


def condensed(source: str, matrices: tuple[Any, Any], inside: Array, names: Sequence[str]) -> tuple[Any, Any]:
    """Stiffness and mass without dofs that have no mass and follow the others statically: exact."""
    from scipy.sparse import csr_array
    from scipy.sparse.linalg import splu

    stiffness, mass = (csr_array(each) for each in matrices)
    kept, dropped = np.flatnonzero(~inside), np.flatnonzero(inside)
    heavy = np.asarray(abs(mass[dropped]).sum(axis=1)).ravel() > _ZERO * np.abs(mass.diagonal()).max()
    if heavy.any():
        raise DescriptionError(f"{source}: {names[int(heavy.argmax())]} is an internal one and has mass, so that it cannot be left "
                               "out; export a model of elements whose dofs are displacements and rotations of nodes")
    try:
        follow = splu(stiffness[dropped][:, dropped].tocsc()).solve(stiffness[dropped][:, kept].toarray())
    except RuntimeError:
        raise DescriptionError(f"{source}: {names[0]} is an internal one that the stiffness does not determine; export a model "
                               "without constraints by multipliers (hybrid elements, distributing couplings)") from None
    return csr_array(stiffness[kept][:, kept] - stiffness[kept][:, dropped] @ csr_array(follow)), mass[kept][:, kept]


# ---- lumps -----------------------------------------------------------------------------------------------------------------
def point_rule(mass: Any, position: Array, per_node: int, source: str, labels: Array) -> PointRule | None:
    """The nodes as mass points, if the matrix couples no two nodes and each has a rigid lump; otherwise None."""
    from scipy.sparse import csr_array, eye_array

    blocks = _node_blocks(mass, len(position), per_node)
    parts = None if blocks is None else block_parts(blocks)
    if parts is None:
        return None
    weight, offset, inertia = parts
    lowest = np.linalg.eigvalsh(inertia)[:, 0]
    if lowest.min(initial=0.0) < -_ZERO * max(float(np.abs(inertia).max(initial=0.0)), 1e-300):
        worst = int(np.argmin(lowest))
        raise DescriptionError(f"{source}: the mass at node {labels[worst]} has the moment of inertia {lowest[worst]:.3g} kg m^2 "
                               "about its own mass center; check its offset and inertia")
    every = eye_array(mass.shape[0], format="csr")
    rows = np.arange(mass.shape[0]).reshape(-1, per_node)
    translation = every[rows[:, :3].ravel()]
    rotation = every[rows[:, 3:].ravel()] if per_node == 6 else csr_array(translation.shape)
    return PointRule(position, weight, offset, inertia, translation, rotation)


def _node_blocks(mass: Any, count: int, per_node: int) -> Array | None:
    """The (N, per_node, per_node) blocks of the nodes, or None if anything lies outside of them."""
    entries = mass.tocoo()
    row, column = entries.coords
    outside = row // per_node != column // per_node
    if outside.any() and np.abs(entries.data[outside]).max() > _ZERO * np.abs(entries.data).max():
        return None
    blocks = np.zeros((count, per_node, per_node))
    inside = ~outside
    np.add.at(blocks, (row[inside] // per_node, row[inside] % per_node, column[inside] % per_node), entries.data[inside])
    return blocks


def block_parts(blocks: Array) -> tuple[Array, Array, Array] | None:
    """Mass, offset and inertia about the own mass center of each node, from [[m I, -m p~], [m p~, J]]; None: not of this form."""
    weight = np.trace(blocks[:, :3, :3], axis1=1, axis2=2) / 3
    offset, inertia = np.zeros((len(blocks), 3)), np.zeros((len(blocks), 3, 3))
    rebuilt = np.zeros_like(blocks)
    rebuilt[:, :3, :3] = weight[:, None, None] * np.eye(3)
    if blocks.shape[1] == 6:
        lower = blocks[:, 3:, :3]  # m p~
        offset = -axial(lower) / 2 / np.where(weight > 0, weight, 1.0)[:, None]
        outer = weight[:, None, None] * offset[:, :, None] * offset[:, None, :]
        inertia = blocks[:, 3:, 3:] - inertia_of(outer)
        rebuilt[:, 3:, :3] = weight[:, None, None] * tilde(offset)
        rebuilt[:, :3, 3:] = -rebuilt[:, 3:, :3]
        rebuilt[:, 3:, 3:] = blocks[:, 3:, 3:]
    same = np.abs(rebuilt - blocks).max(axis=(1, 2)) <= _ZERO * np.abs(blocks).max()
    return (weight, offset, inertia) if same.all() else None
