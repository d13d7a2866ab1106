"""Modes with masses from a supplier's modal report: frequencies, shapes at nodes, nodal masses and inertias."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from bough.errors import DescriptionError
from bough.flex.finite_elements import attachments, body_origin, nodes_at, rigid_motion
from bough.flex.flexible_body import FlexibleBody, damping_matrix
from bough.flex.integrals import Array, MassPoints, ModalIntegrals, Outline, tilde
from bough.flex.reading import units as units_of
from bough.flex.recovery import given_recovery, in_units, is_given, with_given_points

_RIGID = 1e-3  # of a shape: what a rigid motion leaves of it
_STILL = 1e-6  # of a shape: what the inboard node may move
_MOMENTUM = 0.05  # of the largest that a shape could carry
_ORTHOGONAL = 0.1  # correlation of two modes by the nodal masses


@dataclass(frozen=True)
class GivenModes:
    """n modes at N nodes, in SI units and one frame."""

    source: str
    labels: Array  # (N,)
    position: Array  # (N, 3)
    mass: Array  # (N,)
    inertia: Array  # (N, 3, 3) about the nodes' mass centers
    offset: Array  # (N, 3)
    frequencies: Array  # (n,) [Hz]
    shapes: Array  # (N, 6, n)
    modal_mass: Array | None = None  # (n,) as the tool printed it, in the scaling of the shapes
    attach: Mapping[str, Any] = field(default_factory=dict)  # rows by name
    inboard: str | None = None
    lines: Array = field(default_factory=lambda: np.zeros((0, 2), dtype=int))
    faces: Array = field(default_factory=lambda: np.zeros((0, 3), dtype=int))
    notes: tuple[str, ...] = ()
    mixed: Array | None = None  # (modes as they were given, n) what these modes are made of; None: of themselves

    def points(self) -> MassPoints:
        """The nodes as mass points under these modes."""
        return MassPoints(self.position, self.mass, self.offset, self.inertia, self.shapes[:, :3], self.shapes[:, 3:])

    def elastic(self) -> GivenModes:
        """The same without rigid-body modes."""
        scale = max(float(np.ptp(self.position, axis=0).max()), 1e-300)
        lever = np.array([1.0, 1, 1, scale, scale, scale])
        flat = (self.shapes * lever[:, None]).reshape(-1, self.shapes.shape[2])
        rigid = (rigid_motion(self.position, 6).reshape(-1, 6, 6) * lever[:, None]).reshape(-1, 6)
        rest = flat - rigid @ np.linalg.lstsq(rigid, flat, rcond=None)[0]
        size = np.linalg.norm(flat, axis=0)
        keep = np.linalg.norm(rest, axis=0) > _RIGID * np.where(size > 0, size, 1.0)
        if keep.all():
            return self
        dropped = f"{int((~keep).sum())} rigid-body modes of the {len(keep)} given are left out"
        masses = None if self.modal_mass is None else self.modal_mass[keep]
        return replace(self, frequencies=self.frequencies[keep], shapes=self.shapes[:, :, keep], modal_mass=masses,
                       notes=(*self.notes, dropped), mixed=np.eye(len(keep))[:, keep])

    def reduce(self, reduction: str | None = None, *, modes: int | None = None, damping: Any = 0.0, variant: str | None = None,
               recover: Any = None) -> FlexibleBody:
        """The body with the first `modes` of the elastic modes (all).

        `recover` holds what the given modes do to elements or points, a column for each of them: {"names": [...], "stress":
        (6E, n), "strain": (6E, n)}, {"points": {name: place}, "displacement": (3P, n)}.
        """
        if recover is not None and not is_given(recover):
            raise DescriptionError(f"{self.source}: recover is {recover!r}, but modes alone know no elements; give their stresses, "
                                   "recover={'names': [...], 'stress': matrix}, with a column for each mode")
        found = self.elastic()
        if not len(found.frequencies):
            raise DescriptionError(f"{self.source}: all {len(self.frequencies)} modes move the body as if it were rigid; give "
                                   "elastic modes, too")
        count = len(found.frequencies) if modes is None else int(modes)
        if count > len(found.frequencies):
            raise DescriptionError(f"{self.source}: {count} modes were asked for, but {len(found.frequencies)} elastic ones are "
                                   "given")
        masses = None if found.modal_mass is None else found.modal_mass[:count]
        mixed = (np.eye(len(self.frequencies)) if found.mixed is None else found.mixed)[:, :count]
        found = replace(found, frequencies=found.frequencies[:count], shapes=found.shapes[:, :, :count], modal_mass=masses,
                        mixed=mixed)
        clamped = found._clamped()
        if reduction not in (None, "cantilever" if clamped else "free-free"):
            raise DescriptionError(f"{self.source}: reduction is {reduction!r}, but the inboard node "
                                   f"{'rests' if clamped else 'moves'} in the given modes; leave it out, or give modes of that "
                                   "kind")
        kind = "cantilever" if clamped else "free-free"
        return (found if clamped else found._mean_axes())._body(damping, variant or "full", kind, recover)

    def _clamped(self) -> bool:
        if self.inboard is None:
            return False
        nodes = np.atleast_1d(self.attach[self.inboard])
        moved = np.abs(self.shapes[nodes][:, :3]).max(initial=0.0)
        return bool(moved <= _STILL * max(float(np.abs(self.shapes[:, :3]).max(initial=0.0)), 1e-300))

    def _mean_axes(self) -> GivenModes:
        """Free modes carry no momentum: what the nodal masses give them is removed, if it is small."""
        known = ModalIntegrals.from_points(self.points())
        rigid = np.block([[known.m * np.eye(3), -tilde(known.s0)], [tilde(known.s0), known.I0]])
        momentum = np.hstack([known.t, known.h]).T
        motion = np.linalg.lstsq(rigid, momentum, rcond=1e-12)[0]
        share = np.sqrt(np.maximum(np.einsum("ir,ir->r", momentum, motion), 0.0) / np.maximum(np.diagonal(known.Mff), 1e-300))
        if len(share) and share.max() > _MOMENTUM:
            raise DescriptionError(f"{self.source}: mode {int(share.argmax())} moves {'the' if self.inboard else 'a body without'} "
                                   f"inboard node and carries momentum (share {share.max():.2g} by the nodal masses); "
                                   f"{self._remedy()}")
        rigid_shapes = rigid_motion(self.position, 6).reshape(-1, 6, 6) @ motion
        return replace(self, shapes=self.shapes - rigid_shapes)

    def _remedy(self) -> str:
        """What to do about modes that carry momentum: name the nodes that rest in them as inboard, if there are any."""
        moved = np.abs(self.shapes[:, :3]).max(axis=(1, 2), initial=0.0)
        resting = self.labels[moved <= _STILL * max(float(moved.max(initial=0.0)), 1e-300)].tolist()
        if not resting:
            return "give modes of the free body, or of the body fixed at its inboard node, with all of its mass"
        some = ", ".join(map(str, resting[:8])) + ", ..." * (len(resting) > 8)
        return f"nodes {some} rest: give attach={{'root': [{some}]}} and inboard='root', or modes of the free body"

    def _body(self, damping: Any, variant: str, reduction: str, recover: Any) -> FlexibleBody:
        points = self.points()
        known = ModalIntegrals.from_points(points)
        self._check_orthogonal(known.Mff)
        values, vectors = np.linalg.eigh(known.Mff)
        scale = vectors @ np.diag(1 / np.sqrt(values)) @ vectors.T  # nearest modes that are orthonormal by the nodal masses
        points = replace(points, phi=points.phi @ scale, psi=points.psi @ scale)
        angular = 2 * np.pi * self.frequencies
        flat = np.concatenate([points.phi, points.psi], axis=1).reshape(-1, len(angular))
        nodes = nodes_at(attachments(self.attach, self.position, 6), flat)
        mixed = np.zeros((0, len(angular))) if self.mixed is None else self.mixed @ scale
        return FlexibleBody(
            integrals=ModalIntegrals.from_points(points),
            nodes=with_given_points(nodes, recover, mixed),
            recovery=None if recover is None else given_recovery(recover, mixed),
            inboard=self.inboard,
            K=np.diag(angular**2),
            D=damping_matrix(damping, angular),
            frequencies=self.frequencies,
            points=points,
            variant=variant,
            reduction=reduction,
            outline=Outline(self.position, points.phi, self.lines, self.faces),
            limits=("motion-induced stiffness",),
        )

    def _check_orthogonal(self, mass: Array) -> None:
        size = np.sqrt(np.maximum(np.diagonal(mass), 1e-300))
        off = np.abs(mass / np.outer(size, size) - np.eye(len(mass)))
        if len(off) and off.max() > _ORTHOGONAL:
            r, s = np.unravel_index(int(off.argmax()), off.shape)
            raise DescriptionError(f"{self.source}: by the nodal masses modes {r} and {s} are not orthogonal (correlation "
                                   f"{off.max():.2f}); the masses are not those of the modes: give all of them, in the same units "
                                   "and frame")
        if self.modal_mass is not None and len(mass):
            error = np.abs(np.diagonal(mass) / self.modal_mass - 1)
            if error.max() > _ORTHOGONAL:
                worst = int(error.argmax())
                raise DescriptionError(f"{self.source}: mode {worst} has the modal mass {mass[worst, worst]:.6g} by the nodal "
                                       f"masses, but {self.modal_mass[worst]:.6g} is given; give all masses of the model, in the "
                                       "same units")


def from_modes(
    frequencies: Any,
    shapes: Any,
    nodes: Any,
    masses: Any,
    *,
    inertias: Any = None,
    modal_masses: Any = None,
    attach: Mapping[str, Any],
    inboard: str | None = None,
    modes: int | None = None,
    damping: Any = 0.0,
    variant: str = "full",
    recover: Any = None,
    origin: Any = None,
    units: str = "SI",
) -> FlexibleBody:
    """A body from a modal report: frequencies (n,) [Hz], shapes (N, 3, n) or (N, 6, n) at the nodes (N, 3), masses (N,).

    `inertias` (N, 3, 3) are those of the nodes; `modal_masses` (n,), if given, are compared with those computed from masses and
    shapes. Shapes are of the free body, or of the body fixed at its inboard node; their scale does not matter. Rigid-body modes are
    left out.
    `attach`, `origin` and `units` are those of `matrices_model`; `recover` holds stresses of the modes (see `GivenModes.reduce`).

    >>> body = from_modes([2.0], np.array([[[0.0]] * 3, [[0.0], [1.0], [0.0]]]), [(0, 0, 0), (1, 0, 0)], [1.0, 3.0],
    ...                   attach={"root": 0, "tip": 1}, inboard="root")
    >>> body.mass, body.nodes.phi[1, 1].round(4)
    (4.0, array([0.5774]))
    """
    unit = units_of(units)
    place = np.asarray(nodes, dtype=float).reshape(-1, 3)
    moved, weight, hertz = (np.asarray(each, dtype=float) for each in (shapes, masses, frequencies))
    count = len(place)
    if moved.shape not in ((count, 3, len(hertz)), (count, 6, len(hertz))) or weight.shape != (count,):
        raise DescriptionError(f"from_modes: {count} nodes, {len(hertz)} frequencies, shapes {moved.shape}, masses {weight.shape}; "
                               f"give shapes ({count}, 3 or 6, {len(hertz)}) and masses ({count},)")
    if (weight < 0).any():
        raise DescriptionError(f"from_modes: the mass of node {int(weight.argmin())} is {weight.min():.6g}; give masses >= 0")
    if moved.shape[1] == 3:
        moved = np.concatenate([moved, np.zeros_like(moved)], axis=1)
    own = np.zeros((count, 3, 3)) if inertias is None else np.asarray(inertias, dtype=float)
    found = GivenModes("from_modes", np.arange(count), place * unit.length, weight * unit.mass, own * unit.mass * unit.length**2,
                       np.zeros((count, 3)), hertz / unit.time, moved,
                       None if modal_masses is None else np.asarray(modal_masses, dtype=float) * unit.mass)
    if unit.length != 1.0:
        found = replace(found, shapes=found.shapes * np.array([1.0] * 3 + [1 / unit.length] * 3)[:, None])
    known = in_units(recover, unit, np.full(len(hertz), unit.length))
    return placed_modes(found, attach, inboard, origin).reduce(modes=modes, damping=damping, variant=variant, recover=known)


def placed_modes(found: GivenModes, attach: Mapping[str, Any], inboard: str | None, origin: Any) -> GivenModes:
    """The same with named places, about the inboard node or another origin."""
    shift = body_origin(origin, inboard, attach, found.position, 6)
    attachments(attach, found.position, 6)  # checks the numbers
    return replace(found, position=found.position - shift, attach=dict(attach), inboard=inboard)
