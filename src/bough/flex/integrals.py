"""The modal integrals: sums over the mass of a flexible body, after which no point of it is touched again. [B 9]

Indices r, s number modes; an array with the indices r, s first has shape (n, n, ...). In the comments c is a point's mass
center, phi_r the shape of its motion, and N(a, b) = m [(a.b) I - b a^T]. A point that has an inertia Jc of its own turns by
exp(theta), theta = psi eta.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from bough.errors import DescriptionError
from bough.flex.cross import Array, tilde
from bough.flex.nodes import MassPoints

VARIANTS = ("full", "zeroth_order")


@dataclass(frozen=True)
class ModalIntegrals:
    """The mass matrix of one flexible body with n modes as a polynomial in eta, about the origin of its body frame, in body axes.

    Inertia I = I0 + I1_r eta_r + I2_rs eta_r eta_s, moment s = s0 + t_r eta_r, coupling h_r + k_sr eta_s, modal mass Mff: kinetic
    energy to second order in the deformation. Forces follow from this energy, so that it and the momenta are kept exactly.
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
        return matrix

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
        return np.concatenate([modal, moment, force])

    def inertia(self, eta: Array) -> Array:
        """I(eta) (3, 3)."""
        return np.asarray(self.I0 + np.tensordot(eta, self.I1, 1) + np.einsum("r,s,rsij->ij", eta, eta, self.I2))

    def coupling(self, eta: Array) -> Array:
        """The angular momentum that each modal rate makes (n, 3)."""
        return np.asarray(self.h + np.tensordot(eta, self.k, 1))


def kept(variant: str) -> bool:
    """Whether a variant keeps the deformation in inertias and velocity terms: full does, zeroth_order does not. [B 12]"""
    if variant not in VARIANTS:
        raise DescriptionError(f"flexible body: variant is {variant!r}; give one of {', '.join(map(repr, VARIANTS))}")
    return variant == "full"
