"""The modal integrals: sums over the mass of a flexible body, which replace its points in the dynamics [B 9]. They are found over
mass points, or by products with any mass matrix [B 70].

Indices r, s number modes; an array with the indices r, s first has shape (n, n, ...). In the comments c is a point's mass
center, phi_r the shape of its motion, and N(a, b) = m [(a.b) I - b a^T]. A point that has an inertia Jc of its own turns by
exp(theta), theta = psi eta.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, replace
from itertools import chain, combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.errors import DescriptionError, similar
from bough.flex.choices import VARIANTS

Array = NDArray[Any]
ROUNDING = 1e-12  # of the largest: what is below is taken for zero
BENT = 1.0  # [rad] largest rotation of a point at which M must be positive without spins, if a body is to have none
LEVI_CIVITA: Array = np.zeros((3, 3, 3))
LEVI_CIVITA[[0, 1, 2], [1, 2, 0], [2, 0, 1]] = 1.0
LEVI_CIVITA[[0, 2, 1], [2, 1, 0], [1, 0, 2]] = -1.0


def tilde(vectors: Any) -> Array:
    """The matrices a~ with a~ b = a x b, one for each vector on the last axis.

    >>> tilde((1.0, 2.0, 3.0)) @ (0.0, 0.0, 1.0)
    array([ 2., -1.,  0.])
    """
    return np.asarray(np.einsum("ikj,...k->...ij", LEVI_CIVITA, np.asarray(vectors, dtype=float)))


def axial(products: Array) -> Array:
    """sum a x b out of the 3x3 products sum a b^T on the last two axes."""
    return np.asarray(np.einsum("ijk,...jk->...i", LEVI_CIVITA, products))


def inertia_of(products: Array) -> Array:
    """N(a, b) = sum m [(a.b) I - b a^T] out of the products sum m a b^T on the last two axes. [B 9]

    >>> inertia_of(np.diag([1.0, 0.0, 0.0]))
    array([[0., 0., 0.],
           [0., 1., 0.],
           [0., 0., 1.]])
    """
    trace = np.einsum("...ii->...", products)
    result: Array = trace[..., None, None] * np.eye(3) - np.swapaxes(products, -1, -2)
    return result + 0.0


# ---- nodes -----------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class MassPoints:
    """Where the mass of a flexible body is, and how each mode moves it: N points, n modes, in body axes.

    A point may be a lumped node, or a quadrature point inside an element: the sums over the points are then the consistent
    mass matrix.
    """

    position: Array  # (N, 3) undeformed [m]
    mass: Array  # (N,) [kg]
    offset: Array  # (N, 3) from the point to its mass center [m]
    inertia: Array  # (N, 3, 3) about its own mass center [kg m^2]
    phi: Array  # (N, 3, n) translation per modal coordinate
    psi: Array  # (N, 3, n) rotation per modal coordinate [rad]

    @property
    def n_modes(self) -> int:
        return int(self.phi.shape[2])


@dataclass(frozen=True)
class Nodes:
    """Named places without mass of their own, in body axes."""

    names: tuple[str, ...]
    position: Array  # (nodes, 3) undeformed [m]
    phi: Array  # (nodes, 3, n) translation per modal coordinate
    psi: Array  # (nodes, 3, n) rotation per modal coordinate [rad]
    rotates: tuple[bool, ...]  # False: the elements do not define the rotation here, and psi is zero

    def index(self, name: str) -> int:
        """The row of a node.

        >>> nodes = Nodes(("root", "tip"), np.zeros((2, 3)), np.zeros((2, 3, 1)), np.zeros((2, 3, 1)), (True, True))
        >>> nodes.index("tip")
        1
        """
        if name not in self.names:
            raise DescriptionError(unknown_node(name, self.names))
        return self.names.index(name)

    def __len__(self) -> int:
        return len(self.names)


@dataclass(frozen=True)
class Outline:
    """What a picture of the body needs: points, how the modes move them, which of them are joined by lines, and the surface."""

    position: Array  # (P, 3)
    phi: Array  # (P, 3, n)
    lines: Array  # (E, 2) pairs of points, of integers
    faces: Array = field(default_factory=lambda: np.zeros((0, 3), dtype=int))  # (F, 3) triangles, counter-clockwise from outside


def unknown_node(name: str, known: tuple[str, ...]) -> str:
    """The message about a node that does not exist."""
    listed = ", ".join(repr(each) for each in known) or "none"
    return f"flexible body: it has no node {name!r}{similar(name, known)}; its nodes are {listed}"


# ---- integrals -------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class ModalIntegrals:
    """The mass matrix of one flexible body with n modes as a polynomial in eta, about the origin of its body frame, in body axes.

    Inertia I = I0 + I1_r eta_r + I2_rs eta_r eta_s, moment s = s0 + t_r eta_r, coupling h_r + k_sr eta_s, modal mass Mff: kinetic
    energy to second order in the deformation. Forces follow from this energy, so that it and the momenta are kept exactly.

    Points that turn have the rate R^T (w + J theta') in their own axes. Its part of second order, (theta~ theta~ w - theta x
    theta')/2, is taken by its mean: p spins, sum_a n_a (Q_a.w + S_ar eta_r') with sum n_a.Jc n_b = delta_ab. The energy of this
    rate, with its products of third and fourth order, is a sum of squares: M stays positive, however far the body is bent. Bodies
    whose M stays positive without them, such as beams that only bend, have none.
    """

    m: Array  # () mass
    s0: Array  # (3,) sum m c
    t: Array  # (n, 3) sum m phi_r
    I0: Array  # (3, 3) sum N(c, c) + Jc
    I1: Array  # (n, 3, 3) sum N(c, phi_r) + N(phi_r, c) + psi_r~ Jc - Jc psi_r~
    I2: Array  # (n, n, 3, 3) symmetric part of sum N(phi_r, phi_s) + psi_r~ psi_s~ Jc - psi_r~ Jc psi_s~
    h: Array  # (n, 3) sum m c x phi_r + Jc psi_r
    k: Array  # (n, n, 3) [s, r]: sum m phi_s x phi_r + psi_s x Jc psi_r - Jc (psi_s x psi_r)/2
    Mff: Array  # (n, n) sum m phi_r.phi_s + psi_r.Jc psi_s
    spin: Array  # (p, n, 4) momenta: n_a.sum Jc psi_r for eta_r', and sum psi_r x Jc n_a for w eta_r
    spin_pairs: Array  # (p, n, n, 4) [s, r]: -n_a.sum Jc (psi_s x psi_r)/2 in S_ar eta_r', sym sum psi_s~ psi_r~ Jc n_a in 2 Q_a

    @staticmethod
    def from_points(points: MassPoints) -> ModalIntegrals:
        """The integrals of a body made of mass points; a point with an offset p moves at its mass center, by phi + psi x p.

        >>> rod = MassPoints(np.array([[1.0, 0, 0], [2, 0, 0]]), np.ones(2), np.zeros((2, 3)), np.zeros((2, 3, 3)),
        ...                  np.array([[[0.0], [0.3], [0]], [[0], [1.0], [0]]]), np.zeros((2, 3, 1)))
        >>> ModalIntegrals.from_points(rod).h
        array([[0. , 0. , 2.3]])
        """
        mass, psi = points.mass, np.swapaxes(points.psi, 1, 2)  # (N, n, 3)
        phi = np.swapaxes(points.phi, 1, 2) + np.cross(psi, points.offset[:, None, :])

        def product(a: Array, b: Array) -> Array:
            flat = (a.reshape(len(mass), -1) * mass[:, None]).T @ b.reshape(len(mass), -1)
            return np.asarray(flat.reshape(a.shape[1:] + b.shape[1:]))

        parts = _translations(product, points.position + points.offset, phi)
        if points.inertia.any():
            parts |= {name: parts[name] + value for name, value in _rotations(points.inertia, psi).items()}
            parts |= _spins(points.inertia, psi)
        return _needed_spins(ModalIntegrals(**parts), psi)

    @staticmethod
    def from_matrix(mass: Any, position: Array, shapes: Array) -> ModalIntegrals:
        """The integrals out of any mass matrix (dofs, dofs) of N nodes with 3 or 6 dofs each, under modes (dofs, n). [B 70]

        They are products of rigid motions, modes and turned modes with the matrix: what it determines is exact. A body that turns
        by w moves node i by w x (c + phi) and turns it by w + w x psi, where c is the mass center of the node's share of the
        matrix: the matrix interpolates these velocities of nodes as it does those of modes. M stays positive.

        >>> mass = np.kron(np.array([[2.0, 1.0], [1.0, 2.0]]), np.eye(3))       # a bar of 6 kg with linear elements
        >>> ends = np.array([[0.0, 0, 0], [1, 0, 0]])
        >>> ModalIntegrals.from_matrix(mass, ends, np.zeros((6, 0))).I0.diagonal()
        array([0., 2., 2.])
        """
        count, n = len(position), shapes.shape[1]
        per_node = mass.shape[0] // max(count, 1)
        nodal = shapes.reshape(count, per_node, n)
        along, about = np.zeros((2, count, per_node, 3))
        along[:, :3] = np.eye(3)
        about[:, :3] = -tilde(position)
        if per_node == 6:
            about[:, 3:] = np.eye(3)
        momentum = (mass @ along.reshape(-1, 3)).reshape(along.shape)
        turned = _turned_shapes(nodal, _node_offsets(momentum)).reshape(mass.shape[0], 3 * n)
        moved, spun = mass @ shapes, mass @ about.reshape(-1, 3)
        about = about.reshape(-1, 3)
        crossed = np.asarray(about.T @ (mass @ turned)).reshape(3, 3, n)  # [i, j, r]: rotation i, mode r turned about j
        pairs = (turned.T @ (mass @ turned)).reshape(3, n, 3, n)
        parts = {
            "m": np.trace(momentum[:, :3].sum(axis=0)) / 3,
            "s0": axial(momentum.reshape(-1, 3).T @ about) / 2,
            "t": (along.reshape(-1, 3).T @ moved).T,
            "I0": _symmetric(about.T @ spun),
            "I1": 2.0 * _symmetric(np.moveaxis(crossed, 2, 0)),
            "I2": _symmetric((np.transpose(pairs, (1, 3, 0, 2)) + np.transpose(pairs, (3, 1, 0, 2))) / 2.0),
            "h": (about.T @ moved).T,
            "k": np.moveaxis((turned.T @ moved).reshape(3, n, n), 0, 2),
            "Mff": _symmetric(shapes.T @ moved),
            **no_spins(n),
        }
        if per_node == 6:
            parts |= _second_turns(mass, _node_offsets(momentum), np.swapaxes(nodal[:, 3:], 1, 2), parts)
        return _needed_spins(ModalIntegrals(**parts), np.swapaxes(nodal[:, 3:], 1, 2))

    @property
    def n_modes(self) -> int:
        return int(self.Mff.shape[0])

    def to_arrays(self) -> dict[str, Array]:
        """Every array by its name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def mass_matrix(self, eta: Any, *, variant: str = "full") -> Array:
        """The (n+6, n+6) mass matrix that multiplies [eta'', w', v'] of the body frame."""
        n, x = self.n_modes, kept(variant) * np.asarray(eta, dtype=float)
        first = tilde(self.s0 + x @ self.t)
        matrix = np.empty((n + 6, n + 6))
        matrix[:n, :n] = self.Mff
        matrix[n : n + 3, :n] = self.coupling(x).T
        matrix[n + 3 :, :n] = self.t.T
        matrix[:n, n:] = matrix[n:, :n].T
        matrix[n : n + 3, n : n + 3] = self.inertia(x)
        matrix[n : n + 3, n + 3 :] = first
        matrix[n + 3 :, n : n + 3] = -first
        matrix[n + 3 :, n + 3 :] = self.m * np.eye(3)
        rate, momentum = self.spin_rows(x)
        return np.asarray(matrix + momentum.T @ rate + rate.T @ (momentum + rate))

    def bias(self, eta: Any, etadot: Any, omega: Any, *, variant: str = "full") -> Array:
        """The (n+6) forces [modal, moment, force] that velocities alone ask for; no stiffness and no damping."""
        w, x, rate = np.asarray(omega, dtype=float), kept(variant) * np.asarray(eta, dtype=float), np.asarray(etadot, dtype=float)
        slope = self.I1 + 2.0 * np.tensordot(x, self.I2, 1)  # dI/deta_r
        modal = -np.einsum("i,rij,j->r", w, slope, w) / 2.0
        moment = np.cross(w, self.inertia(x) @ w)
        force = np.cross(w, np.cross(w, self.s0 + x @ self.t))
        if kept(variant):
            modal = modal + np.einsum("i,sri,s->r", w, self.k - np.swapaxes(self.k, 0, 1), rate)
            moment = moment + np.einsum("r,rij,j->i", rate, slope, w) + np.cross(w, rate @ self.coupling(x))
            moment = moment + np.einsum("r,s,sri->i", rate, rate, self.k)
            force = force + 2.0 * np.cross(w, rate @ self.t)
            added = self._spin_bias(x, rate, w)
            modal, moment = modal + added[0], moment + added[1]
        return np.concatenate([modal, moment, force])

    def inertia(self, eta: Array) -> Array:
        """I(eta) (3, 3)."""
        return np.asarray(self.I0 + np.tensordot(eta, self.I1, 1) + np.einsum("r,s,rsij->ij", eta, eta, self.I2))

    def coupling(self, eta: Array) -> Array:
        """The angular momentum that each modal rate makes (n, 3)."""
        return np.asarray(self.h + np.tensordot(eta, self.k, 1))

    def spin_rows(self, eta: Array) -> tuple[Array, Array]:
        """The rates of the spins, and their momenta but for these, per [eta', w, v] (..., p, n+6) at eta (..., n)."""
        slope = np.einsum("...s,asrk->...ark", eta, self.spin_pairs)
        own = np.broadcast_to(self.spin, slope.shape)
        turned = (np.einsum("...r,...ark->...ak", factor * eta, each[..., 1:]) for factor, each in ((0.5, slope), (1.0, own)))
        rate, momentum = (
            np.concatenate([each[..., 0], turn, 0.0 * turn], axis=-1) for each, turn in zip((slope, own), turned, strict=True)
        )
        return rate, momentum

    def _spin_bias(self, eta: Array, etadot: Array, w: Array) -> tuple[Array, Array]:
        """The share of the spins in the bias: modal forces, moment."""
        n, (rate, momentum) = self.n_modes, self.spin_rows(eta)
        S, Q, m, g = rate[:, :n], rate[:, n : n + 3], momentum[:, :n], momentum[:, n : n + 3]
        q, bend = np.einsum("s,asri->ari", eta, self.spin_pairs[..., 1:]), np.einsum("s,asr->ar", etadot, self.spin_pairs[..., 0])
        Q_rate, g_rate = np.einsum("r,ari->ai", etadot, q), np.einsum("r,ari->ai", etadot, self.spin[..., 1:])
        sigma, change = S @ etadot + Q @ w, Q_rate @ w  # S' eta' = 0
        total, force = sigma + m @ etadot + g @ w, change + g_rate @ w
        modal = force @ S + change @ m + total @ (2.0 * bend - q @ w) - sigma @ (self.spin[..., 1:] @ w)
        moment = sigma @ g_rate + change @ g + total @ Q_rate + force @ Q + np.cross(w, sigma @ g + total @ Q)
        return modal, moment


def kept(variant: str) -> bool:
    """Whether a variant keeps the deformation in inertias and velocity terms: full does, zeroth_order does not. [B 12]"""
    if variant not in VARIANTS:
        raise DescriptionError(f"flexible body: variant is {variant!r}; give one of {', '.join(map(repr, VARIANTS))}")
    return variant == "full"


# ---- sums ------------------------------------------------------------------------------------------------------------------
Product = Callable[[Array, Array], Array]  # fields a (N, ...), b (N, ...) -> sum m a b, shape (... of a, ... of b)


def _node_offsets(momentum: Array) -> Array:
    """p (N, 3): from each node to the mass center of its share, out of its momenta (N, per_node, 3) under unit translations."""
    if momentum.shape[1] == 3:
        return np.zeros((len(momentum), 3))
    share = np.trace(momentum[:, :3], axis1=1, axis2=2) / 3
    heavy = share > ROUNDING * np.abs(share).max(initial=0.0)
    return np.asarray(np.where(heavy[:, None], -axial(momentum[:, 3:]) / 2 / np.where(heavy, share, 1.0)[:, None], 0.0))


def _turned_shapes(nodal: Array, offset: Array) -> Array:
    """The dofs (N, per_node, 3, n) of modes turned about x, y and z: e_j x phi + psi x (e_j x p), e_j x psi."""
    axes = np.eye(3)
    turned = np.zeros((*nodal.shape[:2], 3, nodal.shape[2]))
    turned[:, :3] = np.einsum("ijk,Nkr->Nijr", LEVI_CIVITA, nodal[:, :3])
    if nodal.shape[1] == 6:
        psi = nodal[:, 3:]
        lever = np.cross(axes[None], offset[:, None])  # e_j x p (N, j, 3)
        turned[:, :3] += np.einsum("ikl,Nkr,Njl->Nijr", LEVI_CIVITA, psi, lever, optimize=True)
        turned[:, 3:] = np.einsum("ijk,Nkr->Nijr", LEVI_CIVITA, psi)
    return turned


def _second_turns(mass: Any, offset: Array, psi: Array, parts: dict[str, Array]) -> dict[str, Array]:
    """What the nodes' own inertias J add by turning to second order, (theta~ theta~ w - theta x theta')/2, as of points."""
    spin = np.zeros((len(offset), 6, 3))
    spin[:, :3], spin[:, 3:] = tilde(offset), np.eye(3)  # all nodes turn about their mass centers
    momentum = (mass @ spin.reshape(-1, 3)).reshape(spin.shape)
    values, vectors = np.linalg.eigh(_symmetric(momentum[:, 3:] - tilde(offset) @ momentum[:, :3]))
    inertia = (vectors * np.maximum(values, 0.0)[:, None, :]) @ np.swapaxes(vectors, 1, 2)
    size = np.abs(inertia).max(axis=(1, 2))
    some = size > ROUNDING * size.max(initial=0.0)
    if not some.any():
        return {}
    inertia, psi = inertia[some], psi[some]
    spins = tilde(psi)
    second = np.einsum("Nrik,Nskl,Nlj->rsij", spins, spins, inertia, optimize=True)
    turned = np.einsum("Nil,ljk,Nsj,Nrk->sri", inertia, LEVI_CIVITA, psi, psi, optimize=True)
    return {
        "I2": parts["I2"] + _symmetric((second + np.swapaxes(second, 0, 1)) / 2.0),
        "k": parts["k"] - turned / 2.0,
        **_spins(inertia, psi),
    }


def _translations(product: Product, center: Array, phi: Array) -> dict[str, Array]:
    """What the points' masses contribute to [B 9]."""
    one = np.ones((len(center), 1))
    center_phi, phi_phi = np.swapaxes(product(center, phi), 0, 1), np.swapaxes(product(phi, phi), 1, 2)  # (n, 3, 3), (n, n, 3, 3)
    return {
        "m": product(one, one)[0, 0],
        "s0": product(one, center)[0],
        "t": product(one, phi)[0],
        "I0": inertia_of(product(center, center)),
        "I1": 2.0 * _symmetric(inertia_of(center_phi)),
        "I2": _symmetric(inertia_of(phi_phi)),
        "h": axial(center_phi),
        "k": axial(phi_phi),
        "Mff": np.einsum("rsii->rs", phi_phi),
        **no_spins(phi.shape[1]),
    }


def _rotations(inertia: Array, psi: Array) -> dict[str, Array]:
    """What the points' own inertias Jc contribute: R Jc R^T and its coupling to the rates, R = exp(theta~), to second order."""
    momentum, spin = np.einsum("Nij,Nrj->Nri", inertia, psi), tilde(psi)  # Jc psi_r, psi_r~
    carried = np.einsum("Nrik,Nkj->Nrij", spin, inertia)  # psi_r~ Jc
    second = np.einsum("Nrik,Nskj->rsij", spin, carried) - np.einsum("Nrik,Nskj->rsij", carried, spin)
    turned = np.einsum("Nij,Nrsj->rsi", inertia, np.cross(psi[:, :, None], psi[:, None]))
    return {
        "I0": inertia.sum(axis=0),
        "I1": 2.0 * _symmetric(carried.sum(axis=0)),
        "I2": _symmetric((second + np.swapaxes(second, 0, 1)) / 2.0),
        "h": momentum.sum(axis=0),
        "k": axial(np.einsum("Nsi,Nrj->srij", psi, momentum)) - turned / 2.0,
        "Mff": np.einsum("Nri,Nsi->rs", psi, momentum),
    }


def _spins(inertia: Array, psi: Array) -> dict[str, Array]:
    """The mean turning of second order of the points' own inertias, along as many axes as these have together."""
    values, vectors = np.linalg.eigh(inertia.sum(axis=0))
    some = values > ROUNDING * values[-1]
    held = np.einsum("Nij,ja->Nai", inertia, vectors[:, some] / np.sqrt(values[some]))  # Jc n_a
    carried = np.cross(psi[:, None], held[:, :, None])  # psi_r x Jc n_a (N, p, n, 3)
    pairs = np.einsum("Nsij,Narj->asri", tilde(psi), carried)
    crossed = -np.einsum("Nsi,Nari->asr", psi, carried) / 2.0  # n_a.Jc (psi_s x psi_r) = psi_s.(psi_r x Jc n_a)
    both = np.concatenate([crossed[..., None], (pairs + np.swapaxes(pairs, 1, 2)) / 2.0], axis=-1)
    own = np.concatenate([np.einsum("Nai,Nri->ar", held, psi)[..., None], carried.sum(axis=0)], axis=-1)
    acting = np.array([each.any() for each in both], dtype=bool)
    return {"spin": own[acting], "spin_pairs": both[acting]}


def _needed_spins(integrals: ModalIntegrals, psi: Array) -> ModalIntegrals:
    """The integrals without spins if M stays positive without them: if every motion keeps more than half of its energy, however
    `_bent_to` bends the body. What spins add to the energy is of third and fourth order, beyond that of the theory."""
    plain = replace(integrals, **no_spins(integrals.n_modes))
    for eta in _bent_to(BENT, psi) if len(integrals.spin) else ():
        whole = integrals.mass_matrix(eta)
        size = np.sqrt(whole.diagonal())
        scale = np.divide(1.0, size, out=np.zeros_like(size), where=size > 0.0)
        if not np.linalg.eigvalsh((2.0 * plain.mass_matrix(eta) - whole) * np.outer(scale, scale))[0] > ROUNDING:
            return integrals
    return plain


def _bent_to(angle: float, psi: Array) -> Iterator[Array]:
    """Modal coordinates of each mode, of the sum and of the difference of each two, at which the points' largest rotation is
    `angle`."""
    reach = np.linalg.norm(psi, axis=2).max(axis=0, initial=0.0)
    modes = (np.eye(len(reach)) / np.where(reach > 0.0, reach, 1.0))[reach > 0.0]
    pairs = (a + b for a, c in combinations(modes, 2) for b in (c, -c))
    for eta in chain(modes, pairs):
        turned = np.linalg.norm(eta @ psi, axis=1).max()
        if turned > ROUNDING:
            yield angle / turned * eta


def no_spins(n: int) -> dict[str, Array]:
    """Of n modes whose points do not turn."""
    return {"spin": np.zeros((0, n, 4)), "spin_pairs": np.zeros((0, n, n, 4))}


def _symmetric(matrices: Array) -> Array:
    return np.asarray((matrices + np.swapaxes(matrices, -1, -2)) / 2.0)
