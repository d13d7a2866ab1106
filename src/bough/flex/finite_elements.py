"""A finite-element model before reduction: matrices, mass points, attachments and how a load prestresses it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from bough.errors import DescriptionError
from bough.flex.attachments import Attachment, rigid_motion
from bough.flex.cross import Array, tilde
from bough.flex.integrals import ModalIntegrals
from bough.flex.nodes import MassPoints, Nodes, Outline, unknown_node

if TYPE_CHECKING:
    from bough.flex.convergence import ConvergenceReport
    from bough.flex.flexible_body import FlexibleBody
    from bough.flex.geometric import GeometricStiffness


@dataclass(frozen=True)
class PointRule:
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


@dataclass(frozen=True)
class FiniteElements:
    """A linear model of a flexible body: node-major dofs [x, y, z] or [x, y, z, rx, ry, rz] in body axes.

    Its mass is given by `rule` (points) or by `pair_mass` (nodes that only translate, coupled by an (N, N) matrix).
    """

    mass: Any  # sparse (dofs, dofs)
    stiffness: Any  # sparse (dofs, dofs)
    position: Array  # (N, 3)
    dofs_per_node: int
    attachments: tuple[Attachment, ...]
    inboard: str | None
    rule: PointRule | None = None
    pair_mass: Any = None  # sparse (N, N)
    held: Array = field(default_factory=lambda: np.zeros(0, dtype=int))  # dofs that the model has no stiffness for
    geometric_of: GeometricOf | None = None
    lines: Array = field(default_factory=lambda: np.zeros((0, 2), dtype=int))
    faces: Array = field(default_factory=lambda: np.zeros((0, 3), dtype=int))

    @property
    def n_dofs(self) -> int:
        return int(self.mass.shape[0])

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
        """The dofs that are neither held nor fixed."""
        return np.setdiff1d(np.arange(self.n_dofs), np.concatenate([self.held, *fixed]))

    def rigid_motion(self) -> Array:
        """The dofs in the six rigid motions [translation, rotation] about the origin, (dofs, 6); held dofs stay zero."""
        motion = rigid_motion(self.position, self.dofs_per_node)
        motion[self.held] = 0.0
        return motion

    def nodes(self, shapes: Array) -> Nodes:
        """The attachments under modes given by their dofs (dofs, n)."""
        moved = np.array([each.gather @ shapes for each in self.attachments]).reshape(len(self.attachments), 6, shapes.shape[1])
        place = np.array([each.position for each in self.attachments]).reshape(-1, 3)
        names = tuple(each.name for each in self.attachments)
        return Nodes(names, place, moved[:, :3], moved[:, 3:], tuple(each.rotates for each in self.attachments))

    def integrals(self, shapes: Array) -> ModalIntegrals:
        """The modal integrals under modes given by their dofs (dofs, n)."""
        if self.rule is not None:
            return ModalIntegrals.from_points(self.rule.points(shapes))
        return ModalIntegrals.from_pairs(self.pair_mass, self.position, self._translations(shapes))

    def outline(self, shapes: Array) -> Outline:
        """The nodes under modes given by their dofs, for pictures."""
        return Outline(self.position, self._translations(shapes), self.lines, self.faces)

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

    def convergence(self, reduction: str = "cantilever", **options: Any) -> ConvergenceReport:
        """How many modes are enough; see `bough.flex.convergence.convergence`."""
        from bough.flex.convergence import convergence

        return convergence(self, reduction, **options)

    def _translations(self, shapes: Array) -> Array:
        return np.asarray(shapes.reshape(len(self.position), self.dofs_per_node, -1)[:, :3])
