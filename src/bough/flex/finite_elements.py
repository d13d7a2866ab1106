"""A finite-element model before reduction: matrices, mass points, named places, and how a load prestresses it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bough.errors import DescriptionError
from bough.flex.integrals import Array, MassPoints, ModalIntegrals, Nodes, Outline, tilde, unknown_node

if TYPE_CHECKING:
    from bough.flex.flexible_body import FlexibleBody
    from bough.flex.geometric import GeometricStiffness
    from bough.flex.modal_convergence import ConvergenceReport
    from bough.flex.recovery import Recovery
    from bough.flex.structure_check import StructureCheck


COMPONENTS = ("x", "y", "z", "rx", "ry", "rz")


class Attachment(NamedTuple):
    """A place made of one node, or of several that move together on average.

    `gather` (6, dofs) turns the dofs of the model into [translation, rotation] of the place; its transpose spreads
    a force and a moment over the nodes. Nodes that only translate define their rotation when three of them span a triangle.
    """

    name: str
    position: Array  # (3,)
    nodes: tuple[int, ...]
    gather: Any  # sparse (6, dofs)
    rotates: bool


def attachment(name: str, nodes: Any, position: Array, dofs_per_node: int) -> Attachment:
    """The attachment of the given nodes of a model with all its node positions (N, 3)."""
    chosen = tuple(int(node) for node in np.atleast_1d(np.asarray(nodes, dtype=int)))
    _check_nodes(name, chosen, len(position))
    if len(chosen) == 1:
        return _single(name, chosen[0], position, dofs_per_node)
    return _averaged(name, chosen, position, dofs_per_node)


def attachments(chosen: Mapping[str, Any], position: Array, dofs_per_node: int) -> tuple[Attachment, ...]:
    """All attachments out of a mapping from names to a node or to several."""
    return tuple(attachment(name, nodes, position, dofs_per_node) for name, nodes in chosen.items())


def nodes_at(places: Sequence[Attachment], shapes: Array) -> Nodes:
    """Attachments under modes given by the dofs of their model (dofs, n)."""
    moved = np.array([each.gather @ shapes for each in places]).reshape(len(places), 6, shapes.shape[1])
    position = np.array([each.position for each in places]).reshape(-1, 3)
    names, turns = tuple(each.name for each in places), tuple(each.rotates for each in places)
    return Nodes(names, position, moved[:, :3], moved[:, 3:], turns)


def body_origin(origin: Any, inboard: str | None, chosen: Mapping[str, Any], position: Array, dofs_per_node: int) -> Array:
    """The origin of the body frame (3,): the one given, or else the inboard place, or that of the coordinates."""
    if inboard is not None and inboard not in chosen:
        raise DescriptionError(unknown_node(inboard, tuple(chosen)))
    if origin is not None:
        return np.asarray(origin, dtype=float)
    return np.zeros(3) if inboard is None else attachment(inboard, chosen[inboard], position, dofs_per_node).position


def _single(name: str, node: int, position: Array, dofs_per_node: int) -> Attachment:
    from scipy.sparse import csr_array

    rows = np.arange(dofs_per_node)
    shape = (6, dofs_per_node * len(position))
    gather = csr_array((np.ones(dofs_per_node), (rows, dofs_per_node * node + rows)), shape=shape)
    return Attachment(name, position[node], (node,), gather, dofs_per_node == 6)


def _averaged(name: str, nodes: tuple[int, ...], position: Array, dofs_per_node: int) -> Attachment:
    """The rigid motion nearest to that of the nodes, in the sense of least squares."""
    from scipy.sparse import csr_array

    center = position[list(nodes)].mean(axis=0)
    rigid = np.vstack([np.hstack([np.eye(3), -tilde(position[node] - center)]) for node in nodes])  # (3k, 6)
    size = max(float(np.abs(position[list(nodes)] - center).max()), 1e-300)
    rank = np.linalg.matrix_rank(rigid / np.array([1.0, 1, 1, size, size, size]), tol=1e-9)
    fit = (
        np.linalg.pinv(rigid)
        if rank == 6
        else np.vstack([np.tile(np.eye(3) / len(nodes), len(nodes)), np.zeros((3, 3 * len(nodes)))])
    )
    columns = np.array([dofs_per_node * node + i for node in nodes for i in range(3)])
    rows = np.repeat(np.arange(6), len(columns))
    shape = (6, dofs_per_node * len(position))
    gather = csr_array((fit.ravel(), (rows, np.tile(columns, 6))), shape=shape)
    return Attachment(name, center, nodes, gather, bool(rank == 6))


def rigid_motion(position: Array, dofs_per_node: int, about: Sequence[float] | Array = (0.0, 0.0, 0.0)) -> Array:
    """The dofs of a model in its six rigid motions [translation, rotation] about a point: (dofs, 6)."""
    arm = position - np.asarray(about, dtype=float)
    motion = np.zeros((len(position), dofs_per_node, 6))
    motion[:, :3, :3] = np.eye(3)
    motion[:, :3, 3:] = -tilde(arm)
    if dofs_per_node == 6:
        motion[:, 3:, 3:] = np.eye(3)
    return motion.reshape(-1, 6)


def _check_nodes(name: str, nodes: tuple[int, ...], count: int) -> None:
    if not nodes:
        raise DescriptionError(f"node {name!r}: no node of the mesh lies there; choose another place, or refine the mesh")
    wrong = [node for node in nodes if not 0 <= node < count]
    if wrong:
        raise DescriptionError(f"node {name!r}: the model has no node {wrong[0]}; give a number from 0 to {count - 1}")


# ---- finite elements -------------------------------------------------------------------------------------------------------
class PointRule(NamedTuple):
    """Mass points of a model, and their translations and rotations as combinations of its dofs."""

    position: Array  # (N, 3)
    mass: Array  # (N,)
    offset: Array  # (N, 3)
    inertia: Array  # (N, 3, 3) about the own mass center
    translation: Any  # sparse (3N, dofs)
    rotation: Any  # sparse (3N, dofs)

    def mass_matrix(self) -> Any:
        """The mass matrix (sparse) that these points make: sum of m gam^T gam + psi^T Jc psi."""
        from scipy.sparse import block_diag, diags_array

        center = self.center_motion()
        matrix = center.T @ diags_array(np.repeat(self.mass, 3)) @ center
        turning = np.flatnonzero(self.inertia.any(axis=(1, 2)))
        if len(turning):
            rows = (3 * turning[:, None] + np.arange(3)).ravel()
            rotation = self.rotation.tocsr()[rows]
            matrix = matrix + rotation.T @ block_diag(list(self.inertia[turning])) @ rotation
        return matrix.tocsr()

    def center_motion(self) -> Any:
        """The motion of the points' mass centers: translation + rotation x p, sparse (3N, dofs)."""
        from scipy.sparse import block_diag

        if not self.offset.any():
            return self.translation.tocsr()
        return (self.translation - block_diag(list(tilde(self.offset))) @ self.rotation).tocsr()

    def points(self, shapes: Array) -> MassPoints:
        """The mass points under modes given by their dofs (dofs, n)."""
        phi = (self.translation @ shapes).reshape(len(self.mass), 3, -1)
        psi = (self.rotation @ shapes).reshape(len(self.mass), 3, -1)
        return MassPoints(self.position, self.mass, self.offset, self.inertia, phi, psi)


GeometricOf = Callable[["FiniteElements", Array], "GeometricStiffness"]
RecoverOf = Callable[[Array, Any], "Recovery"]


@dataclass(frozen=True, repr=False)
class FiniteElements:
    """A linear model of a flexible body: node-major dofs [x, y, z] or [x, y, z, rx, ry, rz] in body axes.

    Its mass is given by `rule` (points), or else by the mass matrix itself. Dofs that follow others (rigid links, mean motions) are
    `dependent`; `links` gives all dofs out of the others.
    """

    mass: Any  # sparse (dofs, dofs)
    stiffness: Any  # sparse (dofs, dofs)
    position: Array  # (N, 3)
    dofs_per_node: int
    attachments: tuple[Attachment, ...]
    inboard: str | None
    rule: PointRule | None = None
    held: Array = field(default_factory=lambda: np.zeros(0, dtype=int))  # dofs that the model has no stiffness for, or are grounded
    dependent: Array = field(default_factory=lambda: np.zeros(0, dtype=int))
    links: Any = None  # sparse (dofs, dofs); None: no dof depends on others
    geometric_of: GeometricOf | None = None
    lines: Array = field(default_factory=lambda: np.zeros((0, 2), dtype=int))
    faces: Array = field(default_factory=lambda: np.zeros((0, 3), dtype=int))
    recover: RecoverOf | None = None  # stresses of elements out of dofs (dofs, n), of all or of some
    labels: Array | None = None  # (N,) numbers of the nodes in the tool that made them
    notes: tuple[str, ...] = ()  # what a reader left out or assumed

    @property
    def n_dofs(self) -> int:
        return int(self.mass.shape[0])

    def dof_name(self, dof: int) -> str:
        """What messages call a dof: "node 12, rx"."""
        node = dof // self.dofs_per_node
        label = node if self.labels is None else self.labels[node]
        return f"node {label}, {COMPONENTS[dof % self.dofs_per_node]}"

    def find(self, name: str) -> Attachment:
        """The attachment of that name."""
        for each in self.attachments:
            if each.name == name:
                return each
        raise DescriptionError(unknown_node(name, tuple(each.name for each in self.attachments)))

    def dofs_of(self, name: str) -> Array:
        """All dofs of an attachment's nodes."""
        nodes = np.array(self.find(name).nodes)
        return np.asarray((self.dofs_per_node * nodes[:, None] + np.arange(self.dofs_per_node)).ravel())

    def free_dofs(self, *fixed: Array) -> Array:
        """The dofs that are neither held nor fixed, nor follow others."""
        return np.setdiff1d(np.arange(self.n_dofs), np.concatenate([self.held, self.dependent, *fixed]))

    def restricted(self, matrix: Any, free: Array) -> Any:
        """A matrix of the model for some of its free dofs alone; dependent ones follow them."""
        if self.links is None:
            return matrix[free][:, free]
        motion = self.links[:, free]
        return (motion.T @ matrix @ motion).tocsr()

    def places(self, dofs: Array) -> Array:
        """Where some dofs are (dofs, 3)."""
        return np.asarray(self.position[dofs // self.dofs_per_node])

    def gathered(self, load: Array, free: Array) -> Array:
        """Dof forces (dofs, ...) as forces at some free dofs: those on dependent dofs go to the ones they follow."""
        return np.asarray(load[free] if self.links is None else self.links[:, free].T @ load)

    def spread(self, motion: Array, free: Array) -> Array:
        """All dofs (dofs, ...) out of the free ones; the rest is zero, dependent dofs follow."""
        whole = np.zeros((self.n_dofs, *motion.shape[1:]))
        whole[free] = motion
        return whole if self.links is None else np.asarray(self.links @ whole)

    def rigid_motion(self) -> Array:
        """The dofs in the six rigid motions [translation, rotation] about the origin, (dofs, 6); held dofs stay zero."""
        motion = rigid_motion(self.position, self.dofs_per_node)
        motion[self.held] = 0.0
        return motion

    def nodes(self, shapes: Array) -> Nodes:
        """The attachments under modes given by their dofs (dofs, n)."""
        return nodes_at(self.attachments, shapes)

    def integrals(self, shapes: Array) -> ModalIntegrals:
        """The modal integrals under modes given by their dofs (dofs, n)."""
        if self.rule is not None:
            return ModalIntegrals.from_points(self.rule.points(shapes))
        return ModalIntegrals.from_matrix(self.mass, self.position, shapes)

    def outline(self, shapes: Array) -> Outline:
        """The nodes under modes given by their dofs, for pictures."""
        return Outline(self.position, shapes.reshape(len(self.position), self.dofs_per_node, -1)[:, :3], self.lines, self.faces)

    def inertia_load(self, direction: int, factor: Array | None = None) -> Array:
        """The dof forces -m a of the acceleration e_i, or e_i times a coordinate: `factor` (3,) picks it. [B 10]"""
        if self.rule is not None:
            place = self.rule.position + self.rule.offset
            field_ = np.zeros((len(place), 3))
            field_[:, direction] = 1.0 if factor is None else place @ factor
            return np.asarray(-self.rule.center_motion().T @ (self.rule.mass[:, None] * field_).ravel())
        motion = np.zeros((len(self.position), self.dofs_per_node))
        motion[:, direction] = 1.0 if factor is None else self.position @ factor
        return np.asarray(-self.mass @ motion.ravel())

    def reduce(self, reduction: str = "cantilever", *, modes: Any = 6, **options: Any) -> FlexibleBody:
        """The flexible body with the modes asked for; see `bough.flex.reduction.reduce`.

        >>> from bough.flex import beam_model
        >>> beam_model(2.0, EI=50.0, mass_per_length=1.0).reduce("cantilever", modes=2).frequencies.round(3)
        array([0.989, 0.989])
        """
        from bough.flex.reduction import reduce

        return reduce(self, reduction, modes=modes, **options)

    def check(self, **declared: Any) -> StructureCheck:
        """Mass properties, rigid-body modes, frequencies, mass left out; see `bough.flex.structure_check`."""
        from bough.flex.structure_check import check_structure

        return check_structure(self, **declared)

    def __repr__(self) -> str:
        names = ", ".join(f"{each.name!r} (inboard)" if each.name == self.inboard else repr(each.name) for each in self.attachments)
        notes = "".join(f"; {note}" for note in self.notes)
        return f"FiniteElements({len(self.position)} nodes, {self.n_dofs} dofs, places {names or 'none'}{notes})"

    def convergence(self, reduction: str = "cantilever", **options: Any) -> ConvergenceReport:
        """How many modes are enough; see `bough.flex.convergence`."""
        from bough.flex.modal_convergence import convergence

        return convergence(self, reduction, **options)
