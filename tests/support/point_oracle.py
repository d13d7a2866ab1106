"""Newton's and Euler's equations of every mass point, summed by virtual power: what the modal integrals must equal."""

import numpy as np

from bough.flex.integrals import MassPoints
from tests.support.nodal_oracle import rate_map, rate_map_rate, turn


def random_points(rng, count=7, modes=4, offset=1.0, inertia=1.0):
    """A body of unlike points with offsets and inertias of this size."""
    root = rng.normal(size=(count, 3, 3)) * inertia
    return MassPoints(
        position=rng.normal(size=(count, 3)),
        mass=rng.uniform(0.5, 2.0, count),
        offset=rng.normal(size=(count, 3)) * offset,
        inertia=root @ np.swapaxes(root, 1, 2),
        phi=rng.normal(size=(count, 3, modes)),
        psi=rng.normal(size=(count, 3, modes)),
    )


def required_forces(points, eta, etadot, etaddot, omega, omegadot, vdot):
    """The forces [modal, moment, force] on the body for a given motion; points turn by exp(psi eta), their inertia with them."""
    total = np.zeros(points.n_modes + 6)
    for l0, m, p, jc, phi, psi in zip(
        points.position, points.mass, points.offset, points.inertia, points.phi, points.psi, strict=True
    ):
        shape, turned = phi + np.cross(psi, p[:, None], axis=0), turn(psi @ eta)
        map_, inertia = rate_map(psi @ eta), turned @ jc @ turned.T
        place, relative = l0 + p + shape @ eta, map_ @ psi @ etadot
        spin = omega + relative
        bias = rate_map_rate(psi @ eta, psi @ etadot)
        spin_rate = omegadot + map_ @ psi @ etaddot + bias + np.cross(omega, relative)
        at_center = vdot + np.cross(omegadot, place) + shape @ etaddot
        at_center = at_center + np.cross(omega, np.cross(omega, place)) + 2 * np.cross(omega, shape @ etadot)
        force = m * at_center
        couple = inertia @ spin_rate + np.cross(spin, inertia @ spin)
        modal = shape.T @ force + (map_ @ psi).T @ couple
        total += np.concatenate([modal, couple + np.cross(place, force), force])
    return total
