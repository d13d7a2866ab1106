"""The spatial operators of a state, and the identities of the papers as calls.

M^-1 is applied by the compiled sweeps: the forward dynamics of the state at rest under torques only.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from bough.analyze.impulse import at_rest
from bough.analyze.operators import state_links
from bough.analyze.operators.articulated_links import Articulated, articulate
from bough.analyze.operators.operator import Chains, Operator, Space, block_diagonal, identity
from bough.analyze.operators.state_links import Links, Point, Split, links_of
from bough.analyze.singular_joints import first_singular, message
from bough.compile.batch import Batch, array
from bough.compile.compiled_model import CompiledModel
from bough.compile.kernel_calls import call, lanes_for, workspace
from bough.compile.layout import Floats
from bough.errors import StateError
from bough.sweeps import calls, fields as f


def compiled_inverse(model: CompiledModel, q: Floats, space: Space) -> Operator:
    """M^-1 of the free speeds at q, four right-hand sides at a time."""
    batch, pars = at_rest(model, q)
    tables, free = batch.tables, np.flatnonzero(model.free)
    rows: dict[int, tuple[Floats, ...]] = {}

    def apply(X: Floats) -> Floats:
        n = X.shape[1]
        if n not in rows:
            rows.clear()                                # keep arrays only for the last number of right-hand sides
            rows[n] = (np.zeros((n, 2)), np.repeat(batch.x, n, axis=0), np.zeros((n, batch.inputs.layout.nu)),
                       np.zeros((n, model.nv)), np.empty((n, model.nv + model.nw)))
        t, x, u, unchanged, out = rows[n]
        u[:, free] = X.T
        call(calls.impulse, tables, pars, t, x, u, unchanged, out, workspace(tables, lanes_for(n)))
        return out[:, free].T

    return Operator("M^-1", space, space, apply, apply, "by the compiled sweeps, inward and outward")


# ---- spatial operators -----------------------------------------------------------------------------------------------------
PARTITIONED = "partitioned"             # the links are the hinges that the compiler made
SINGULAR = 1e-13                        # relative mobility of directions in which points cannot move


class Operators:
    """Spatial operators at one state of a model; each applies in O(N).

    E_Phi, Phi, H, M        one step inward; (I - E_Phi)^-1; hinge maps; inertias
    R                       composite inertias
    P, D, G, K, tau_bar     articulated inertias, those along the hinges, gains, E_Phi G, I - G H
    E_Psi, Psi              one step inward of articulated bodies; (I - E_Psi)^-1
    mass_matrix             H Phi M Phi* H*
    factor, inverse_factor  I + H Phi K and I - H Psi K, inverses of each other
    inverse                 M^-1, by the compiled sweeps

    They are those of the tree, with loops open. If coordinates are held, H and the mass matrix are those of all speeds; H_free,
    and everything derived from D and G, those of the free speeds.

    >>> import bough
    >>> s = bough.System("arm")
    >>> _ = s.body("upper", joint=bough.Universal("xy"), mass=2.0, com=(0, 0, 0.5), inertia=(0.2, 0.2, 0.1))
    >>> _ = s.body("lower", parent="upper", joint=bough.Revolute("y"), at=(0, 0, 1), mass=1.0, inertia=(0.1, 0.1, 0.1))
    >>> model = s.compile()
    >>> ops = model.operators([0.1, 0.2, 0.3])
    >>> ops.Phi
    Phi: 18 x 18, 3 links; (I - E_Phi)^-1, by recursion inward
    >>> ops.H @ ops.Phi @ ops.M @ ops.Phi.T @ ops.H.T
    H Phi M Phi* H*: 3 x 3, 3 speeds; one after the other
    >>> bool(abs(ops.mass_matrix.dense() - model.mass_matrix([0.1, 0.2, 0.3])).max() < 1e-14)
    True
    """

    def __init__(self, model: CompiledModel, batch: Batch, links: Links, form: str = PARTITIONED):
        self.model, self.links, self.form, self._batch, self._each = model, links, form, batch, links.links
        self.q, self.v = batch.q[0], batch.v[0]
        self.free = model.free
        sizes, names, nv = [link.size for link in links.links], model.names.v, model.nv
        self.link_space = Space("link", tuple(link.name for link in links.links), tuple(np.cumsum([0, *sizes]).tolist()))
        self.speed_space = Space("speed", names, tuple(range(nv + 1)))
        free = tuple(name for name, is_free in zip(names, self.free, strict=True) if is_free)
        self.free_space = Space("free speed", free, tuple(range(len(free) + 1))) if len(free) < nv else self.speed_space
        self._places, self._chains = links.slices, Chains(self.link_space, [link.inner for link in links.links], links.slices)
        number = np.cumsum(self.free) - 1                       # of each speed among the free ones
        self._free_rows = [self.free[link.speeds] for link in links.links]
        self._free_speeds = [number[link.speeds[rows]] for link, rows in zip(links.links, self._free_rows, strict=True)]

    # ---- Newton-Euler ------------------------------------------------------------------------------------------------
    @cached_property
    def E_Phi(self) -> Operator:
        """Transfers forces from each link to its inner link [JR 20]."""
        return self._chains.one_step("E_Phi", [link.Phi for link in self._each], "each link to its inner link")

    @cached_property
    def Phi(self) -> Operator:
        """Gathers forces of everything outboard; its transpose scatters velocities [JR 21]."""
        return self._chains.all_steps("Phi", [link.Phi for link in self._each], "(I - E_Phi)^-1, by recursion inward")

    @cached_property
    def H(self) -> Operator:
        """Hinge maps: the velocities of all links are Phi* H* v [JR 22]."""
        return block_diagonal("H", self.speed_space, self.link_space, [link.H for link in self._each],
                              [link.speeds for link in self._each], self._places, "hinge maps, a block a link")

    @cached_property
    def H_free(self) -> Operator:
        """Hinge maps of the speeds that are not held; H, where none is."""
        if self.free.all():
            return self.H
        return block_diagonal("H_free", self.free_space, self.link_space, self._free_maps, self._free_speeds, self._places,
                              "hinge maps of the free speeds, a block a link")

    @property
    def _free_maps(self) -> list[Floats]:
        return [link.H[rows] for link, rows in zip(self._each, self._free_rows, strict=True)]

    @cached_property
    def M(self) -> Operator:
        """Inertias of the links."""
        return self._on_links("M", [link.M for link in self._each], "inertias, a block a link")

    @cached_property
    def R(self) -> Operator:
        """Composite inertias: each link with everything outboard, as one rigid body [JR 47]."""
        R = [link.M.copy() for link in self._each]
        for k in range(len(R) - 1, -1, -1):
            link = self._each[k]
            if link.inner >= 0:
                R[link.inner] += link.Phi @ R[k] @ link.Phi.T
        return self._on_links("R", R, "composite inertias, a block a link")

    @cached_property
    def mass_matrix(self) -> Operator:
        """Newton-Euler factorization, H Phi M Phi* H*: of all speeds, free and held [JR 45]."""
        return self.H @ self.Phi @ self.M @ self.Phi.T @ self.H.T

    def _on_links(self, name: str, blocks: Sequence[Floats], how: str) -> Operator:
        return block_diagonal(name, self.link_space, self.link_space, blocks, self._places, self._places, how)

    def _on_speeds(self, name: str, blocks: Sequence[Floats], how: str) -> Operator:
        return block_diagonal(name, self.free_space, self.free_space, blocks, self._free_speeds, self._free_speeds, how)

    # ---- articulated bodies: the Riccati recursion --------------------------------------------------------------------
    @cached_property
    def articulated(self) -> Articulated:
        """P, D, G of all links, by the compiled recursion [JR 51]."""
        found = articulate(self.links, self._free_maps)
        pivots = np.concatenate([np.zeros(0), *(np.diag(L) for L in found.L)])
        if not (pivots**2*calls.SUSPECT > 1.0).all():
            singular = first_singular(self.model.tables, self.q)
            if singular:
                raise StateError(message(*singular) + " (singular: move away from this position)")
            link = next(link for link, L in zip(self._each, found.L, strict=True) if not (np.diag(L)**2 > 0.0).all())
            raise StateError(f"link '{link.name}': its articulated inertia is not positive; give a state that is less deformed")
        return found

    @cached_property
    def P(self) -> Operator:
        """Articulated inertias [JR 51]."""
        return self._on_links("P", self.articulated.P, "articulated inertias, a block a link")

    @cached_property
    def D(self) -> Operator:
        """H P H*: articulated inertias along the hinges [JR 52]."""
        return self._on_speeds("D", self.articulated.D, "articulated inertias along the hinges, a block a link")

    @cached_property
    def D_inverse(self) -> Operator:
        return self._on_speeds("D^-1", self.articulated.D_inverse, "a block a link")

    @cached_property
    def G(self) -> Operator:
        """Gains P H* D^-1 [JR 52]."""
        return block_diagonal("G", self.link_space, self.free_space, self.articulated.G, self._places, self._free_speeds,
                              "gains P H* D^-1, a block a link")

    @cached_property
    def K(self) -> Operator:
        """E_Phi G [JR 52]."""
        return (self.E_Phi @ self.G).named("K", "E_Phi G")

    @cached_property
    def tau_bar(self) -> Operator:
        """I - G H: the part of a force that the hinges transmit [JR 52]."""
        return self._on_links("tau_bar", self._passing, "I - G H, a block a link")

    @property
    def _passing(self) -> list[Floats]:
        return [np.eye(len(H.T)) - G @ H for G, H in zip(self.articulated.G, self._free_maps, strict=True)]

    @cached_property
    def E_Psi(self) -> Operator:
        """E_Phi tau_bar [JR 52]."""
        return self._chains.one_step("E_Psi", self._articulated_steps, "E_Phi tau_bar")

    @cached_property
    def Psi(self) -> Operator:
        """(I - E_Psi)^-1 [JR 53]."""
        return self._chains.all_steps("Psi", self._articulated_steps, "(I - E_Psi)^-1, by recursion inward")

    @property
    def _articulated_steps(self) -> list[Floats]:
        return [link.Phi @ passing for link, passing in zip(self._each, self._passing, strict=True)]

    # ---- innovations factorization -------------------------------------------------------------------------------------
    @cached_property
    def factor(self) -> Operator:
        """I + H Phi K: with D, the mass matrix of the free speeds is factor D factor* [JR 54]."""
        return identity(self.free_space) + self.H_free @ self.Phi @ self.K

    @cached_property
    def inverse_factor(self) -> Operator:
        """I - H Psi K, the inverse of `factor` [JR 55]."""
        return identity(self.free_space) - self.H_free @ self.Psi @ self.K

    @cached_property
    def inverse(self) -> Operator:
        """M^-1 of the free speeds, applied without forming it: by the compiled sweeps of the forward dynamics at rest, four
        columns at a time; of whole joints and splits, by the compiled recursion over their links.  It equals
        inverse_factor* D^-1 inverse_factor [JR 56]."""
        if self.form == PARTITIONED:
            return compiled_inverse(self.model, self.q, self.free_space)
        order = np.concatenate([np.zeros(0, int), *self._free_speeds])

        def apply(X: Floats) -> Floats:
            Y = np.empty(X.shape)
            for j in range(X.shape[1]):
                Y[order, j] = self.articulated.solve(X[order, j])
            return Y

        return Operator("M^-1", self.free_space, self.free_space, apply, apply, "by recursion over the links, inward and outward")

    def log_det(self) -> float:
        """log det of the mass matrix of the free speeds: that of D, for the factors have determinant 1."""
        return float(sum(2.0*np.log(np.diag(L)).sum() for L in self.articulated.L))

    # ---- dynamics --------------------------------------------------------------------------------------------------------
    @property
    def a(self) -> Floats:
        """Accelerations of all links at v' = 0, including gravity and prescribed ones: V' = Phi* (H* v' + a)."""
        return np.concatenate([link.a for link in self._each])

    @property
    def b(self) -> Floats:
        """Forces on all links due to motion, elasticity and loads: f = Phi (M V' + b)."""
        return np.concatenate([link.b for link in self._each])

    def accelerations(self, tau: Any = None) -> Floats:
        """v' of the free speeds under torques tau along all speeds, in addition to the model's own loads [JR 57]."""
        given = np.zeros(self.model.nv) if tau is None else array("tau", tau, self.model.nv)
        if given.shape != (self.model.nv,):
            raise StateError(f"tau has shape {given.shape}; give {self.model.nv} numbers")
        T, H, Psi, K = (given + self.links.applied)[self.free], self.H_free, self.Psi, self.K
        nu = self.D_inverse @ (T - H @ (Psi @ (K @ T + self.P @ self.a + self.b)))
        found = self.inverse_factor.T @ nu - K.T @ (Psi.T @ self.a)
        return found - self._with_the_orbit(given) if self.model.in_orbit else found

    def _with_the_orbit(self, tau: Floats) -> Floats:
        """The acceleration of the mass center by forces along free joints: it belongs to the orbit, to which q is relative."""
        shared, tables = np.zeros(self.model.nv), self.model.tables
        for body in self.model.system.bodies.values():
            if body.parent is None:
                v = self.model.places[body.name][1]
                shared[v:v + 3] = tau[v:v + 3]/tables.pars[0, f.TOTAL_MASS]
        return shared[self.free]

    # ---- points ----------------------------------------------------------------------------------------------------------
    def jacobian(self, points: Sequence[Point]) -> Operator:
        """(6 a point, nv): [angular, linear] velocities of points, world axes, for all speeds; by recursion outward.

        A point is a body's name (its origin), (body, (x, y, z)) in the body's axes, or (body, node) of a flexible body."""
        ops, S = self._with_points(points)
        return (S.T @ ops.Phi.T @ ops.H.T).named("J", "S* Phi* H*, by recursion outward")

    def mobility(self, points: Sequence[Point]) -> Floats:
        """J M^-1 J* of the free speeds: accelerations of points for unit wrenches at them, (6 points, 6 points).

        By one recursion inward for each column: with Y = H Psi S it is Y* D^-1 Y, S the points as forces on links."""
        ops, S = self._with_points(points)
        Y = (ops.H_free @ ops.Psi @ S).dense()
        return Y.T @ (ops.D_inverse @ Y)

    def operational_space_inertia(self, points: Sequence[Point]) -> Floats:
        """The operational-space inertia of points, the inverse of J M^-1 J*: O(N) plus the cube of the number of points."""
        mobility = self.mobility(points)
        size = np.sqrt(np.diag(mobility))
        size[size == 0.0] = 1.0                                 # fixed to the ground
        rank = int(np.linalg.matrix_rank(mobility/np.outer(size, size), hermitian=True, tol=SINGULAR))
        if rank < len(mobility):
            raise StateError(f"the points {', '.join(map(str, points))} move in {rank} of {len(mobility)} directions only, so that "
                             "their inertia is infinite; ask for their mobility(), or for fewer points")
        return np.asarray(np.linalg.inv(mobility), np.float64)

    def _with_points(self, points: Sequence[Point]) -> tuple["Operators", Operator]:
        """Operators of the partitioned tree with links for the requested nodes, and the points as forces on links."""
        wrenches, ops = state_links.node_wrenches(self.model, points), self
        if wrenches or self.form != PARTITIONED:
            batch = self.model.changed(self._batch, wrenches={**wrenches, **self._batch.wrenches})
            ops = Operators(self.model, batch, links_of(self.model, batch))
        return ops, state_links.point_forces(self.model, ops.links, ops.link_space, points)

    # ---- other partitions --------------------------------------------------------------------------------------------------
    def whole(self) -> "Operators":
        """The same state with joints kept whole: a link for each body, with all speeds of its joint and its modes [JR 58]."""
        return Operators(self.model, self._batch, state_links.whole_joints(self.links), "whole joints")

    def split(self, body: str, split: Split) -> "Operators":
        """The same state with the whole link of a body split as `split` says; rejected by name if the two would differ."""
        links = state_links.split_link(self.whole().links, self.model.names.v, body, split)
        return Operators(self.model, self._batch, links, f"'{body}' split")

    def __repr__(self) -> str:
        held = f", {self.model.nv - self.free.sum()} held" if not self.free.all() else ""
        return (f"Operators of '{self.model.system.name}', {self.form}: "
                f"{self.link_space}, {self.link_space.size} body coordinates, {self.speed_space}{held}\n"
                "  E_Phi, Phi, H, M, R; P, D, G, K, tau_bar, E_Psi, Psi; mass_matrix, factor, inverse_factor, inverse\n"
                "  log_det(), accelerations(tau), jacobian(points), mobility(points), operational_space_inertia(points)")


def operators_of(tree: CompiledModel, batch: Batch, whole: bool) -> Operators:
    """Operators of one state of a tree."""
    if not batch.single:
        raise StateError(f"q has {batch.n} rows; operators are those of one state, give {tree.nq} numbers")
    if tree.system.tanks:
        raise StateError(f"system '{tree.system.name}' has tanks, and operators are those of bodies of constant mass; ask for "
                         "mass_matrix, forward_dynamics or reactions, or leave the tanks out")
    ops = Operators(tree, batch, links_of(tree, batch))
    return ops.whole() if whole else ops
