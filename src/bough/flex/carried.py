"""The second-order displacements of a body's mass, as a few fields that its modes carry along. [B 10]

Of the second-order displacements u = 1/2 eta^T G eta of the mass, geometric stiffness gives only sum m G^i and sum m c_m G^i.
Fields that are affine in the place c have just these moments: so the displacement is taken as affine, u = sum_a rho_a (d_a + L_a
c) with rho_a = 1/2 eta^T G_a eta, in as few fields as there must be. They are mass-orthonormal modes whose coordinates are not
free: the mass matrix with them is a congruence and stays positive, whatever the deformation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bough.flex.cross import LEVI_CIVITA, Array
from bough.flex.flexible_body import FlexibleBody

NEGLIGIBLE = 1e-4  # of the largest field


@dataclass(frozen=True)
class Carried:
    """p fields, and the sums over the mass of all n + p shapes: modes first, then fields."""

    G: Array  # (p, n, n) rho_a = 1/2 eta^T G_a eta
    mass: Array  # (n + p, n + p)
    E: Array  # (n + p, 3, 3) of the undeformed body
    slope: Array  # (n + p, n + p, 3, 3) [s, r]: what coordinate s adds to E_r
    t: Array  # (n + p, 3)

    @property
    def count(self) -> int:
        return len(self.G)


def carried_fields(body: FlexibleBody) -> Carried:
    """The fields of a body that stiffens geometrically; none of one that does not, or is linearized."""
    i, n = body.integrals, body.n_modes
    own_E, own_slope = moments(i.I1 / 2, i.h), moments(i.I2, i.k)
    if body.geometric is None or body.variant != "full":
        return Carried(np.zeros((0, n, n)), i.Mff, own_E, own_slope, i.t)
    square, first = _mass_moments(body)
    d, L, G = _fields(body, square)
    shift = np.einsum("ai,rj->arij", d, i.t) + np.einsum("aim,rjm->arij", L, first)  # [a, r]: sum m (d + L c) phi_r^T
    pairs = _field_pairs(d, L, body, square)
    slope = np.zeros((n + len(G), n + len(G), 3, 3))
    slope[:n, :n] = own_slope
    slope[:n, n:] = np.swapaxes(shift, 0, 1)
    slope[n:, :n] = np.swapaxes(shift, 2, 3)
    slope[n:, n:] = np.swapaxes(pairs, 0, 1)
    mass = np.einsum("srii->sr", slope)
    mass[:n, :n] = i.Mff
    E = np.einsum("ai,j->aij", d, i.s0) + L @ square
    return Carried(G, mass, np.concatenate([own_E, E]), slope, np.concatenate([i.t, i.m * d + L @ i.s0]))


def moments(half_slope: Array, coupling: Array) -> Array:
    """E with tr(E) I - E = half_slope in its symmetric part, and with this axial vector: sum m phi c^T of points."""
    symmetric = np.trace(half_slope, axis1=-2, axis2=-1)[..., None, None] / 2 * np.eye(3) - half_slope
    return np.asarray(symmetric - np.einsum("ijk,...k->...ij", LEVI_CIVITA, coupling) / 2)


def _mass_moments(body: FlexibleBody) -> tuple[Array, Array]:
    """sum m c c^T (3, 3) and sum m phi_r c^T (n, 3, 3)."""
    i = body.integrals
    if body.points is None:
        return np.trace(i.I0) / 2 * np.eye(3) - i.I0, moments(i.I1 / 2, i.h)
    p = body.points
    center, phi = p.position + p.offset, p.phi + np.cross(p.psi, p.offset[:, :, None], axis=1)
    return np.einsum("N,Ni,Nj->ij", p.mass, center, center), np.einsum("N,Nir,Nj->rij", p.mass, phi, center)


def _fields(body: FlexibleBody, square: Array) -> tuple[Array, Array, Array]:
    """d (p, 3), L (p, 3, 3), G (p, n, n): the affine fields with the moments of the geometric stiffness."""
    i, geometric = body.integrals, body.geometric
    assert geometric is not None
    n = body.n_modes
    gram = np.block([[i.m, i.s0[None]], [i.s0[:, None], square]])  # sum m (1, c) (1, c)^T
    values, vectors = np.linalg.eigh(gram)
    kept = values > 1e-9 * values[-1]
    root = vectors[:, kept] / np.sqrt(values[kept])  # gram^-1/2: (4, rank)
    wanted = np.concatenate([geometric.acceleration[:, None], geometric.gradient], axis=1)  # [i, (1, c)] = sum m (1, c) G^i
    scaled = np.einsum("bk,ibrs->ikrs", root, wanted).reshape(-1, n * n)
    left, sizes, right = np.linalg.svd(scaled, full_matrices=False)
    some = sizes > NEGLIGIBLE * sizes[0] if sizes[0] > 0 else np.zeros(len(sizes), dtype=bool)
    shape = np.einsum("bk,ika->aib", root, left.reshape(3, -1, left.shape[1])[:, :, some])  # of (1, c)
    G = (sizes[some, None] * right[some]).reshape(-1, n, n)
    return shape[:, :, 0], shape[:, :, 1:], (G + np.swapaxes(G, 1, 2)) / 2


def _field_pairs(d: Array, L: Array, body: FlexibleBody, square: Array) -> Array:
    """[a, b]: sum m (d_a + L_a c) (d_b + L_b c)^T."""
    i = body.integrals
    lever = L @ i.s0  # (p, 3)
    constant = i.m * np.einsum("ai,bj->abij", d, d) + np.einsum("ai,bj->abij", d, lever) + np.einsum("ai,bj->abij", lever, d)
    return np.asarray(constant + np.einsum("aim,mk,bjk->abij", L, square, L))
