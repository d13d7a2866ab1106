"""Newton's and Euler's equations of every mass point, summed by virtual power: what the modal integrals must equal."""

import numpy as np

from bough.flex.shapes import MassPoints


def random_points(rng, count=7, modes=4, rotary=True):
    """A body of unlike points; with rotary, each has an offset and an inertia."""
    root = rng.normal(size=(count, 3, 3)) * rotary
    return MassPoints(
        position=rng.normal(size=(count, 3)),
        mass=rng.uniform(0.5, 2.0, count),
        offset=rng.normal(size=(count, 3)) * rotary,
        inertia=root @ np.swapaxes(root, 1, 2),
        phi=rng.normal(size=(count, 3, modes)),
        psi=rng.normal(size=(count, 3, modes)),
    )


def required_forces(points, eta, etadot, etaddot, omega, omegadot, vdot):
    """The forces [modal, moment, force] on the body for a given motion."""
    total = np.zeros(points.n_modes + 6)
    for l0, m, p, jc, phi, psi in zip(
        points.position, points.mass, points.offset, points.inertia, points.phi, points.psi, strict=True
    ):
        place = l0 + phi @ eta
        spin = omega + psi @ etadot
        spin_rate = omegadot + psi @ etaddot + np.cross(omega, psi @ etadot)
        at_point = vdot + np.cross(omegadot, place) + phi @ etaddot
        at_point = at_point + np.cross(omega, np.cross(omega, place)) + 2 * np.cross(omega, phi @ etadot)
        at_centre = at_point + np.cross(spin_rate, p) + np.cross(spin, np.cross(spin, p))
        force = m * at_centre
        couple = jc @ spin_rate + np.cross(spin, jc @ spin)
        modal = phi.T @ force + psi.T @ (couple + np.cross(p, force))
        total += np.concatenate([modal, couple + np.cross(place + p, force), force])
    return total
