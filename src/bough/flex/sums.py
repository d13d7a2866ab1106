"""How the modal integrals are summed: over mass points, or over pairs of nodes coupled by a consistent mass matrix."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bough.flex.cross import Array, axial, inertia_of, tilde
from bough.flex.integrals import ModalIntegrals
from bough.flex.nodes import MassPoints

Product = Callable[[Array, Array], Array]  # fields a (N, ...), b (N, ...) -> sum m a b, shape (... of a, ... of b)


def sum_points(points: MassPoints) -> ModalIntegrals:
    """The integrals of a body whose mass sits in points; a point with an offset p moves at its mass center, by phi + psi x p."""
    mass, psi = points.mass, np.swapaxes(points.psi, 1, 2)  # (N, n, 3)
    phi = np.swapaxes(points.phi, 1, 2) + np.cross(psi, points.offset[:, None, :])

    def product(a: Array, b: Array) -> Array:
        flat = (a.reshape(len(mass), -1) * mass[:, None]).T @ b.reshape(len(mass), -1)
        return np.asarray(flat.reshape(a.shape[1:] + b.shape[1:]))

    parts = _translations(product, points.position + points.offset, phi)
    if points.inertia.any():
        parts = {name: value + parts[name] for name, value in _rotations(points.inertia, psi).items()} | {
            name: parts[name] for name in ("m", "s0", "t")
        }
    return ModalIntegrals(**parts)


def sum_pairs(mass: Any, position: Array, phi: Array) -> ModalIntegrals:
    """The integrals of a body whose (N, N) matrix of masses couples points that only translate."""

    def product(a: Array, b: Array) -> Array:
        flat = a.reshape(len(a), -1).T @ (mass @ b.reshape(len(b), -1))
        return np.asarray(flat.reshape(a.shape[1:] + b.shape[1:]))

    return ModalIntegrals(**_translations(product, position, np.swapaxes(phi, 1, 2)))


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


def _symmetric(matrices: Array) -> Array:
    return np.asarray((matrices + np.swapaxes(matrices, -1, -2)) / 2.0)
