"""Reduced superelements: matrices at interface nodes and modal coordinates, as a body by themselves. [B 73]

What they determine is exact: mass, mass center, inertia, couplings of first order, interface motion. What they do not determine is
listed when the body is printed: terms of second order in the deformation, motion-induced stiffness, shapes between the interfaces.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Unpack

import numpy as np

from bough.errors import DescriptionError
from bough.flex.exported import Places, check_declared, without_spiders
from bough.flex.finite_elements import COMPONENTS, rigid_motion
from bough.flex.flexible_body import FlexibleBody, damping_matrix
from bough.flex.integrals import Array, MassPoints, ModalIntegrals, Nodes, Outline, axial, no_spins, unknown_node
from bough.flex.matrices import read_matrix
from bough.flex.reading import Units, units as units_of
from bough.flex.recovery import given_recovery, in_units, is_given, with_given_points
from bough.flex.reduction import NEARLY_UNSTRAINED, check_symmetric, natural_modes, stiffness_share

SECOND_ORDER = "inertia terms of second order"
STIFFENING = "motion-induced stiffness"
BETWEEN = "shapes between interfaces"
_NOTHING = 1e-14  # of the largest entry: no stiffness, no mass
_MASSLESS = 1e-11  # eigenvalue of the mass matrix, scaled to a diagonal of ones


@dataclass(frozen=True)
class Superelement:
    """Matrices of r coordinates: components (0 ... 5) of interface nodes, and modal coordinates, in any order."""

    source: str
    labels: tuple[str, ...]  # names of the interface nodes
    position: Array  # (interfaces, 3)
    node: Array  # (r,) interface of each coordinate, -1: modal
    component: Array  # (r,)
    mass: Array  # (r, r)
    stiffness: Array
    damping: Array | None = None
    inboard: str | None = None
    points: Mapping[str, Any] = field(default_factory=dict)

    def in_axes(self, axes: Array) -> Superelement:
        """The same in body axes; those of each interface so far are the columns of `axes` (interfaces, 3, 3)."""
        turn = np.eye(len(self.node))
        for i, local in enumerate(axes):
            for kind in (0, 3) if not np.array_equal(local, np.eye(3)) else ():
                rows = np.flatnonzero((self.node == i) & (self.component // 3 == kind // 3))
                if len(rows) in (1, 2):
                    some = ", ".join(COMPONENTS[each] for each in self.component[rows])
                    raise DescriptionError(f"{self.source}: interface {self.labels[i]} has axes of its own, and of three dofs only "
                                           f"{some}; keep all three when reducing, or none")
                rows = rows[np.argsort(self.component[rows])]
                turn[np.ix_(rows, rows)] = local[: len(rows), : len(rows)]
        mass, stiffness = turn @ self.mass @ turn.T, turn @ self.stiffness @ turn.T
        return replace(self, mass=mass, stiffness=stiffness, damping=None if self.damping is None else turn @ self.damping @ turn.T)

    def in_units(self, unit: Units) -> Superelement:
        """The same, of numbers in other units; modal coordinates keep theirs, of a mass times a length squared."""
        lever = np.where((self.node >= 0) & (self.component > 2), unit.length, 1.0)
        scale = np.outer(lever, lever)
        return replace(self, position=self.position * unit.length, mass=unit.mass * scale * self.mass,
                       stiffness=unit.stiffness * scale * self.stiffness,
                       damping=None if self.damping is None else unit.mass / unit.time * scale * self.damping)

    def placed(self, mass: float | None = None, **places: Unpack[Places]) -> Superelement:
        """The same with its nodes renamed (`attach` maps a name to a node's number), and about another origin; `mass` [kg] is
        compared with that of the matrix."""
        attach, inboard, origin = without_spiders(self.source, places)
        check_declared(self.source, mass, self.total_mass())
        found = self
        if attach is not None:
            names = list(self.labels)
            for name, node in attach.items():
                if str(node) not in self.labels:
                    raise DescriptionError(f"node {name!r}: the superelement has no interface {node}; it has "
                                           f"{', '.join(self.labels)}")
                names[self.labels.index(str(node))] = name
            found = replace(self, labels=tuple(names))
        if inboard is not None and inboard not in found.labels:
            raise DescriptionError(unknown_node(inboard, found.labels))
        about = origin if origin is not None else (0, 0, 0) if inboard is None else found.position[found.labels.index(inboard)]
        return replace(found, position=found.position - np.asarray(about, dtype=float), inboard=inboard)

    def total_mass(self) -> float:
        """What the mass matrix has in unit translations, the mean of three directions."""
        rigid = self.rigid_motion()[:, :3]
        return float(np.trace(rigid.T @ self.mass @ rigid)) / 3

    def rigid_motion(self) -> Array:
        """The coordinates (r, 6) in unit translations and rotations: interfaces move rigidly, modal ones strain least. [B 73]"""
        whole = rigid_motion(self.position, 6).reshape(len(self.labels), 6, 6)
        modal = self.node < 0
        motion = np.where(modal[:, None], 0.0, whole[np.maximum(self.node, 0), np.clip(self.component, 0, 5)])
        if modal.any() and len(self.labels):
            coupling = self.stiffness[np.ix_(modal, ~modal)] @ motion[~modal]
            size = np.abs(self.stiffness[np.ix_(modal, modal)]).max()
            if np.abs(coupling).max(initial=0.0) > 1e-9 * size:
                motion[modal] = -np.linalg.lstsq(self.stiffness[np.ix_(modal, modal)], coupling, rcond=1e-12)[0]
        return np.asarray(motion)

    def check(self) -> None:
        """Refuse matrices that cannot be those of a free body."""
        from scipy.sparse import csr_array

        size = len(self.node)
        for what, matrix in (("stiffness", self.stiffness), ("mass", self.mass), ("damping", self.damping)):
            if matrix is None:
                continue
            if matrix.shape != (size, size):
                raise DescriptionError(f"{self.source}: the {what} matrix is {matrix.shape}, but there are {size} coordinates; "
                                       f"give {size} x {size}")
            check_symmetric(csr_array(matrix), what)
        lowest = np.linalg.eigvalsh(self.mass)[0]
        if lowest < -1e-9 * np.abs(self.mass).max():
            raise DescriptionError(f"{self.source}: the mass matrix is indefinite (eigenvalue {lowest:.3g}); export it again")
        rigid = self.rigid_motion()
        share = stiffness_share(csr_array(self.stiffness), rigid[:, rigid.any(axis=0)])
        if len(share) and share.max() > NEARLY_UNSTRAINED:
            raise DescriptionError(f"{self.source}: the stiffness resists rigid motion (share {share.max():.1e}), above all at "
                                   f"{self._resisting(rigid)}; reduce the free structure, without its supports, and give the "
                                   "interfaces' places and dofs in one frame")

    def _resisting(self, motion: Array) -> str:
        """The three coordinates that carry most of the energy of rigid motion."""
        energy = np.abs(motion * (self.stiffness @ motion)).max(axis=1)
        names = [
            f"{self.labels[self.node[i]]}, {COMPONENTS[self.component[i]]}" if self.node[i] >= 0 else f"modal coordinate {i}"
            for i in np.argsort(-energy)[:3]
        ]
        return "; ".join(names)

    def reduce(self, reduction: str | None = None, *, modes: int | None = None, damping: Any = 0.0, variant: str | None = None,
               recover: Any = None) -> FlexibleBody:
        """The body. With an inboard node the modes are those of the rest ("cantilever"), otherwise free ones; all, or the lowest.

        `variant` is "zeroth_order" unless `points` complete the superelement: then "full". `recover` holds matrices of stress,
        strain or displacement with a column for each of the r coordinates: {"names": [...], "stress": (6E, r), "strain": (6E, r)},
        {"points": {name: place}, "displacement": (3P, r)}.
        """
        if (empty := self._empty()).any():
            rest, left = self._without(empty), _columns(recover, ~empty)
            return rest.reduce(reduction, modes=modes, damping=damping, variant=variant, recover=left)
        self.check()
        wanted = "free-free" if self.inboard is None else "cantilever"
        if reduction not in (None, wanted):
            raise DescriptionError(f"superelement: reduction is {reduction!r}; with {'an' if self.inboard else 'no'} inboard node "
                                   f"it is {wanted!r}")
        squares, shapes = self._modes(modes)
        variant = variant or ("full" if self.points else "zeroth_order")
        if variant == "full" and not self.points:
            raise DescriptionError(f"superelement: variant 'full' needs {SECOND_ORDER}, which reduced matrices do not determine; "
                                   "give points= (position, mass, recovery), or take variant='zeroth_order'")
        if recover is not None and not is_given(recover):
            raise DescriptionError(f"superelement: recover is {recover!r}, but reduced matrices know no elements; give the "
                                   "supplier's matrices, recover={'names': [...], 'stress': matrix}, with a column for each "
                                   "coordinate")
        given = np.zeros((len(squares), len(squares))) if self.damping is None else shapes.T @ self.damping @ shapes
        frequencies = np.sqrt(np.maximum(squares, 0.0))
        points = self._points(shapes)
        return FlexibleBody(
            integrals=self._integrals(shapes, points),
            nodes=with_given_points(self._nodes(shapes), recover, shapes),
            recovery=None if recover is None else given_recovery(recover, shapes),
            inboard=self.inboard,
            K=np.diag(squares),
            D=given + damping_matrix(damping, frequencies),
            frequencies=frequencies / (2 * np.pi),
            variant=variant,
            reduction="superelement",
            outline=None if points is None else Outline(points.position, points.phi, np.zeros((0, 2), dtype=int)),
            limits=(STIFFENING,) if self.points else (SECOND_ORDER, STIFFENING, BETWEEN),
        )

    def _empty(self) -> Array:
        """(r,) which coordinates have neither stiffness nor mass: rotations of interfaces on solid elements."""
        sizes = [np.abs(each).max(axis=1) for each in (self.stiffness, self.mass)]
        return np.asarray((sizes[0] <= _NOTHING * sizes[0].max(initial=0.0)) & (sizes[1] <= _NOTHING * sizes[1].max(initial=0.0)))

    def _without(self, coordinates: Array) -> Superelement:
        keep = np.flatnonzero(~coordinates)
        square = np.ix_(keep, keep)
        points = dict(self.points)
        if "recovery" in points and np.shape(points["recovery"])[-1] == len(coordinates):
            points["recovery"] = np.asarray(points["recovery"])[:, keep]
        return replace(self, node=self.node[keep], component=self.component[keep], mass=self.mass[square],
                       stiffness=self.stiffness[square], damping=None if self.damping is None else self.damping[square],
                       points=points)

    def _modes(self, modes: int | None) -> tuple[Array, Array]:
        from scipy.linalg import eigh

        size = len(self.node)
        if self.inboard is not None:
            free = np.flatnonzero(self.node != self.labels.index(self.inboard))
            count = len(free) if modes is None else min(int(modes), len(free))
            squares, shapes = natural_modes(self.stiffness[np.ix_(free, free)], self.mass[np.ix_(free, free)], count)
            if len(squares) and squares[0] <= 1e-12 * squares[-1]:
                raise DescriptionError(f"superelement: with {self.inboard!r} fixed the stiffness still has a rigid-body mode, or "
                                       f"is indefinite (square of the first frequency {squares[0]:.3g}); give the stiffness of one "
                                       "connected structure")
            whole = np.zeros((size, shapes.shape[1]))
            whole[free] = shapes
            return squares, whole
        rigid = self.rigid_motion()
        momentum = self.mass @ rigid
        _, sizes, right = np.linalg.svd(rigid.T @ momentum)
        rank = int((sizes > 1e-10 * sizes[0]).sum())
        basis = np.linalg.svd(momentum @ right[:rank].T)[0][:, rank:]  # orthonormal, of motions without momentum
        basis = basis @ _massive(basis.T @ self.stiffness @ basis, basis.T @ self.mass @ basis)
        squares, mixed = eigh(basis.T @ self.stiffness @ basis, basis.T @ self.mass @ basis)
        count = len(squares) if modes is None else int(modes)
        return squares[:count], (basis @ mixed)[:, :count]

    def _integrals(self, shapes: Array, points: MassPoints | None) -> ModalIntegrals:
        rigid, n = self.rigid_motion(), shapes.shape[1]
        momentum = self.mass @ rigid
        square, coupling = rigid.T @ momentum, shapes.T @ momentum
        parts: dict[str, Any] = {
            "m": np.trace(square[:3, :3]) / 3,
            "s0": axial(square[:3, 3:]) / 2,
            "t": coupling[:, :3],
            "I0": square[3:, 3:],
            "I1": np.zeros((n, 3, 3)),
            "I2": np.zeros((n, n, 3, 3)),
            "h": coupling[:, 3:],
            "k": np.zeros((n, n, 3)),
            "Mff": shapes.T @ self.mass @ shapes,
            **no_spins(n),
        }
        if points is not None:
            known = ModalIntegrals.from_points(points)
            if abs(known.m - parts["m"]) > 0.01 * abs(parts["m"]):
                raise DescriptionError(f"superelement: its points weigh {known.m:.6g} kg, its mass matrix {parts['m']:.6g} kg; "
                                       "check the points' masses")
            parts |= {name: getattr(known, name) for name in ("I1", "I2", "k", "spin", "spin_pairs")}
        return ModalIntegrals(**parts)

    def _points(self, shapes: Array) -> MassPoints | None:
        """The mass points that complete the superelement, moved by the rows (3N or 6N, r) of `recovery`."""
        if not self.points:
            return None
        if missing := {"position", "mass", "recovery"} - set(self.points):
            raise DescriptionError(f"superelement: points lack {min(missing)!r}; give position (N, 3), mass (N,), recovery (3N or "
                                   "6N, r)")
        place, mass = np.asarray(self.points["position"], dtype=float), np.asarray(self.points["mass"], dtype=float)
        recovery = np.asarray(self.points["recovery"], dtype=float)
        count, size = len(place), len(self.node)
        if recovery.shape not in ((3 * count, size), (6 * count, size)):
            raise DescriptionError(f"superelement: recovery has shape {recovery.shape}; give ({3 * count}, {size}) or "
                                   f"({6 * count}, {size}): rows x, y, z (rx, ry, rz) of each point, columns the coordinates of "
                                   "the matrices")
        moved = (recovery @ shapes).reshape(count, -1, shapes.shape[1])
        inertia = np.asarray(self.points.get("inertia", np.zeros((count, 3, 3))), dtype=float)
        psi = moved[:, 3:] if moved.shape[1] == 6 else np.zeros_like(moved)
        return MassPoints(place, mass, np.zeros((count, 3)), inertia, moved[:, :3], psi)

    def _nodes(self, shapes: Array) -> Nodes:
        moved = np.zeros((len(self.labels), 6, shapes.shape[1]))
        there = self.node >= 0
        moved[self.node[there], self.component[there]] = shapes[there]
        turns = tuple(bool(((self.node == i) & (self.component > 2)).any()) for i in range(len(self.labels)))
        return Nodes(self.labels, self.position, moved[:, :3], moved[:, 3:], turns)


def _columns(recover: Any, keep: Array) -> Any:
    """Recovery matrices without the columns of coordinates that are dropped."""
    if not is_given(recover):
        return recover
    return {
        name: np.asarray(given, dtype=float)[:, keep] if name in ("stress", "strain", "displacement") else given
        for name, given in recover.items()
    }


def _massive(stiffness: Array, mass: Array) -> Array:
    """A basis (r, k) of the motions that have mass; what has none follows statically."""
    size = np.sqrt(np.where(np.diagonal(mass) > 0, np.diagonal(mass), 1.0))
    values, vectors = np.linalg.eigh(mass / np.outer(size, size))
    light = values < _MASSLESS * values[-1]
    if not light.any():
        return np.eye(len(mass))
    moved = vectors / size[:, None]
    still, heavy = moved[:, light], moved[:, ~light]
    resisted = still.T @ stiffness @ still
    if np.linalg.eigvalsh(resisted)[0] <= 0:
        raise DescriptionError("superelement: a motion has neither mass nor stiffness; give all of the mass, or matrices without "
                               "these coordinates")
    return np.asarray(heavy - still @ np.linalg.solve(resisted, still.T @ stiffness @ heavy))


def superelement(
    M: Any,
    K: Any,
    nodes: Mapping[str, Any],
    *,
    inboard: str | None = None,
    C: Any = None,
    points: Mapping[str, Any] | None = None,
    recover: Any = None,
    modes: int | None = None,
    damping: Any = 0.0,
    variant: str | None = None,
    origin: Any = None,
    units: str = "SI",
) -> FlexibleBody:
    """A body from the reduced matrices of a superelement (Craig-Bampton or any other that keeps its interfaces).

    The coordinates of M, K and C are [x, y, z, rx, ry, rz] of each of the `nodes` (names and positions), in their order, followed
    by modal coordinates; M, K and C are arrays, or files as in `from_matrices`. `points` completes the superelement: position (N,
    3) and mass (N,) of points, and `recovery` (3N or 6N, r), which maps the coordinates to their displacements. Without it, the
    body is linear in its deformation, and says so. `recover` records stresses, strains and displacements from the supplier's
    matrices (see `Superelement.reduce`).

    >>> spring = 1e4 * np.kron([[1.0, -1.0], [-1.0, 1.0]], np.eye(6))
    >>> body = superelement(np.kron(np.diag([1.0, 2.0]), np.eye(6)), spring, {"root": (0, 0, 0), "tip": (0, 0, 0)}, inboard="root")
    >>> body.frequencies.round(3)[0], body.mass, body.limits[0]
    (np.float64(11.254), 3.0, 'inertia terms of second order')
    """
    mass, stiffness = (read_matrix(each, name).toarray() for each, name in ((M, "M"), (K, "K")))
    viscous = None if C is None else read_matrix(C, "C").toarray()
    count, size = len(nodes), len(mass)
    if size < 6 * count:
        raise DescriptionError(f"superelement: the matrices have {size} coordinates for {count} interfaces; give 6 for each, then "
                               "modal ones")
    node = np.concatenate([np.repeat(np.arange(count), 6), np.full(size - 6 * count, -1)])
    component = np.concatenate([np.tile(np.arange(6), count), np.zeros(size - 6 * count, dtype=int)])
    places = np.array([np.asarray(each, dtype=float) for each in nodes.values()]).reshape(-1, 3)
    found = Superelement("superelement", tuple(nodes), places, node, component, mass, stiffness, viscous, points=points or {})
    unit = units_of(units)
    whole = found.in_units(unit).placed(inboard=inboard, origin=origin)
    lever = np.where((node >= 0) & (component > 2), 1.0, unit.length)
    return whole.reduce(modes=modes, damping=damping, variant=variant, recover=in_units(recover, unit, lever))
