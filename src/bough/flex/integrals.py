"""The modal integrals: sums over the mass of a flexible body, after which no point of it is touched again. [B 9]

Indices r, s, u number modes; an array with the indices r, s first has shape (n, n, ...). In the comments
c0 = l0 + p is a point's mass centre, gam_r = phi_r + psi_r x p the shape of its velocity, and
N(a, b) = m [(a.b) I - b a^T].
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from bough.errors import DescriptionError
from bough.flex.cross import Array, tilde
from bough.flex.shapes import MassPoints

VARIANTS = ("full", "first_order", "zeroth_order")


@dataclass(frozen=True)
class ModalIntegrals:
    """Constant arrays of one flexible body with n modes, about the origin of its body frame, in body axes."""

    m: Array  # () mass
    s0: Array  # (3,) sum m c0
    s: Array  # (n, 3) sum m phi_r
    t: Array  # (n, 3) sum m gam_r
    I0: Array  # (3, 3) sum Jc + N(c0, c0)
    I1: Array  # (n, 3, 3) sum N(c0, phi_r) + N(phi_r, c0)
    I2: Array  # (n, n, 3, 3) [r, s]: sum N(phi_r, phi_s)
    h: Array  # (n, 3) sum Jc psi_r + m c0 x gam_r
    k: Array  # (n, n, 3) [s, r]: sum m phi_s x gam_r
    Mff: Array  # (n, n) sum psi_r.Jc psi_s + m gam_r.gam_s
    N0: Array  # (n, 3, 3) sum N(c0, gam_r)
    N2: Array  # (n, n, 3, 3) [s, r]: sum N(phi_s, gam_r)
    PJ: Array  # (n, 3, 3) sum psi_r~ Jc
    L: Array  # (n, 3, 3) sum 2 psi_r~ Jc - tr(Jc) psi_r~
    l: Array  # (n, n, 3) [r, s]: sum (2 psi_s~ Jc - tr(Jc) psi_s~)^T psi_r
    q: Array  # (n, n, 3) [r, s]: sum m gam_r x gam_s
    e: Array  # (n, n, 3) [r, s]: sum m psi_r x (psi_s x p)
    d: Array  # (n, n, 3) [r, s]: sum psi_r x Jc psi_s + m c0 x (psi_r x (psi_s x p))
    d2: Array  # (n, n, n, 3) [u, r, s]: sum m phi_u x (psi_r x (psi_s x p))
    c: Array  # (n, n, n) [r, s, u]: sum psi_r.(psi_s x Jc psi_u) + m gam_r.(psi_s x (psi_u x p))

    @staticmethod
    def from_points(points: MassPoints) -> ModalIntegrals:
        """The integrals of a body whose mass sits in points.

        >>> rod = MassPoints(np.array([[1.0, 0, 0], [2, 0, 0]]), np.ones(2), np.zeros((2, 3)), np.zeros((2, 3, 3)),
        ...                  np.array([[[0.0], [0.3], [0]], [[0], [1.0], [0]]]), np.zeros((2, 3, 1)))
        >>> ModalIntegrals.from_points(rod).h
        array([[0. , 0. , 2.3]])
        """
        from bough.flex.sums import sum_points

        return sum_points(points)

    @staticmethod
    def from_pairs(mass: Any, position: Array, phi: Array) -> ModalIntegrals:
        """The integrals of a body whose (N, N) mass couples points that only translate: sum_ij m_ij a_i b_j^T."""
        from bough.flex.sums import sum_pairs

        return sum_pairs(mass, position, phi)

    @property
    def n_modes(self) -> int:
        return int(self.Mff.shape[0])

    @property
    def rotary(self) -> bool:
        """Whether any point has an offset or inertia of its own: only then e, d, d2, c, PJ, L, l are not zero."""
        return bool(self.e.any() or self.d.any() or self.d2.any() or self.c.any() or self.PJ.any() or self.L.any())

    def to_arrays(self) -> dict[str, Array]:
        """Every array by its name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def mass_matrix(self, eta: Any, *, variant: str = "full") -> Array:
        """The (n+6, n+6) mass matrix that multiplies [eta'', w', v'] of the body frame."""
        n, order = self.n_modes, order_of(variant)
        x = np.asarray(eta, dtype=float) * (order > 0)
        first = self.s0 + x @ self.s
        inertia = self.I0 + np.tensordot(x, self.I1, 1)
        if order == 2:
            inertia = inertia + np.einsum("r,s,rsij->ij", x, x, self.I2)
        matrix = np.empty((n + 6, n + 6))
        matrix[:n, :n] = self.Mff
        matrix[n : n + 3, :n] = (self.h + np.tensordot(x, self.k, 1)).T
        matrix[n + 3 :, :n] = self.t.T
        matrix[:n, n:] = matrix[n:, :n].T
        matrix[n : n + 3, n : n + 3] = inertia
        matrix[n : n + 3, n + 3 :] = tilde(first)
        matrix[n + 3 :, n : n + 3] = -tilde(first)
        matrix[n + 3 :, n + 3 :] = self.m * np.eye(3)
        return matrix

    def bias(self, eta: Any, etadot: Any, omega: Any, *, variant: str = "full") -> Array:
        """The (n+6) forces [modal, moment, force] that velocities alone ask for; no stiffness and no damping."""
        order, w = order_of(variant), np.asarray(omega, dtype=float)
        x, rate = np.asarray(eta, dtype=float) * (order > 0), np.asarray(etadot, dtype=float) * (order > 0)
        first = self.s0 + x @ self.s
        inertia = self.I0 + np.tensordot(x, self.I1, 1)
        coriolis = self.N0 + np.tensordot(x, self.N2, 1)
        moment_shape = coriolis if order == 2 else self.N0
        if order == 2:
            inertia = inertia + np.einsum("r,s,rsij->ij", x, x, self.I2)
        modal = -np.einsum("i,rij,j->r", w, coriolis + self.PJ, w) + (self.l - 2.0 * self.q) @ w @ rate
        moment = np.cross(w, inertia @ w) + np.einsum("r,rij,j->i", rate, 2.0 * moment_shape + self.L, w)
        force = np.cross(w, np.cross(w, first)) + 2.0 * np.cross(w, rate @ self.t)
        if order == 2:
            modal = modal + self.c @ rate @ rate
            moment = moment + np.einsum("r,s,rsi->i", rate, rate, self.d + np.tensordot(x, self.d2, 1))
            force = force + np.einsum("r,s,rsi->i", rate, rate, self.e)
        return np.concatenate([modal, moment, force])


def order_of(variant: str) -> int:
    """The order in the deformation that a variant keeps: full 2, first_order 1, zeroth_order 0. [B 12]"""
    if variant not in VARIANTS:
        raise DescriptionError(f"flexible body: variant is {variant!r}; give one of {', '.join(map(repr, VARIANTS))}")
    return 2 - VARIANTS.index(variant)
