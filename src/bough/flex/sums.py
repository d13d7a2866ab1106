"""How the modal integrals are summed: over mass points, or over pairs of nodes coupled by a consistent mass matrix."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bough.flex.cross import Array, axial, inertia_of, tilde
from bough.flex.integrals import ModalIntegrals
from bough.flex.shapes import MassPoints

Product = Callable[[Array, Array], Array]  # fields a (N, ...), b (N, ...) -> sum m a b, shape (... of a, ... of b)


def sum_points(points: MassPoints) -> ModalIntegrals:
    """The integrals of a body whose mass sits in points."""
    mass, psi = points.mass, np.swapaxes(points.psi, 1, 2)  # (N, n, 3)
    phi = np.swapaxes(points.phi, 1, 2)
    gam = phi + np.cross(psi, points.offset[:, None, :])

    def product(a: Array, b: Array) -> Array:
        flat = (a.reshape(len(mass), -1) * mass[:, None]).T @ b.reshape(len(mass), -1)
        return np.asarray(flat.reshape(a.shape[1:] + b.shape[1:]))

    parts = _translations(product, points.position + points.offset, phi, gam)
    _add_rotations(parts, points, product, gam)
    return ModalIntegrals(**parts)


def sum_pairs(mass: Any, position: Array, phi: Array) -> ModalIntegrals:
    """The integrals of a body whose (N, N) matrix of masses couples points that only translate."""

    def product(a: Array, b: Array) -> Array:
        flat = a.reshape(len(a), -1).T @ (mass @ b.reshape(len(b), -1))
        return np.asarray(flat.reshape(a.shape[1:] + b.shape[1:]))

    shape = np.swapaxes(phi, 1, 2)
    return ModalIntegrals(**_translations(product, position, shape, shape))


def _translations(product: Product, c0: Array, phi: Array, gam: Array) -> dict[str, Array]:
    """Every integral of [B 9] with p and Jc left out of it, except where they enter through c0 and gam."""
    n, one = phi.shape[1], np.ones((len(c0), 1))
    centre_centre, centre_phi = product(c0, c0), np.swapaxes(product(c0, phi), 0, 1)  # (3, 3), (n, 3, 3)
    centre_gam = np.swapaxes(product(c0, gam), 0, 1)
    phi_phi, phi_gam, gam_gam = (np.swapaxes(product(a, b), 1, 2) for a, b in ((phi, phi), (phi, gam), (gam, gam)))  # (n, n, 3, 3)
    one_way = inertia_of(centre_phi)
    return {
        "m": product(one, one)[0, 0],
        "s0": product(one, c0)[0],
        "s": product(one, phi)[0],
        "t": product(one, gam)[0],
        "I0": inertia_of(centre_centre),
        "I1": one_way + np.swapaxes(one_way, 1, 2),
        "I2": inertia_of(phi_phi),
        "h": axial(centre_gam),
        "k": axial(phi_gam),
        "Mff": np.einsum("rsii->rs", gam_gam),
        "N0": inertia_of(centre_gam),
        "N2": inertia_of(phi_gam),
        "q": axial(gam_gam),
        **{name: np.zeros((n, 3, 3)) for name in ("PJ", "L")},
        **{name: np.zeros((n, n, 3)) for name in ("l", "e", "d")},
        "d2": np.zeros((n, n, n, 3)),
        "c": np.zeros((n, n, n)),
    }


def _add_rotations(parts: dict[str, Array], points: MassPoints, product: Product, gam: Array) -> None:
    """Add what the points' own inertia Jc and offset p contribute."""
    inertia, psi, phi = points.inertia, np.swapaxes(points.psi, 1, 2), np.swapaxes(points.phi, 1, 2)
    parts["I0"] = parts["I0"] + inertia.sum(axis=0)
    if points.massless_rotation:
        return
    momentum = np.einsum("Nij,Nrj->Nri", inertia, psi)  # Jc psi_r
    spin = tilde(psi)  # psi_r~
    doubled = 2.0 * spin @ inertia[:, None] - np.trace(inertia, axis1=1, axis2=2)[:, None, None, None] * spin
    parts["h"] = parts["h"] + momentum.sum(axis=0)
    parts["Mff"] = parts["Mff"] + np.einsum("Nri,Nsi->rs", psi, momentum)
    parts["PJ"] = np.einsum("Nrik,Nkj->rij", spin, inertia)
    parts["L"] = doubled.sum(axis=0)
    parts["l"] = np.einsum("Nsji,Nrj->rsi", doubled, psi)
    parts["d"] = axial(np.einsum("Nri,Nsj->rsij", psi, momentum))
    parts["c"] = np.einsum("Nri,Nsij,Nuj->rsu", psi, spin, momentum)
    if points.offset.any():
        twice = np.einsum("Nrij,Nsj->Nrsi", spin, np.cross(psi, points.offset[:, None, :]))  # psi_r x (psi_s x p)
        one = np.ones((len(phi), 1))
        parts["e"] = product(one, twice)[0]
        parts["d"] = parts["d"] + axial(np.moveaxis(product(points.position + points.offset, twice), 0, 2))
        parts["d2"] = axial(np.moveaxis(product(phi, twice), 1, 3))
        parts["c"] = parts["c"] + np.einsum("N,Nri,Nsui->rsu", points.mass, gam, twice)
