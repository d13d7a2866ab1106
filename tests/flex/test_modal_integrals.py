"""The modal integrals equal the sum over points, term by term and to rounding."""

import numpy as np
import pytest

from bough.errors import DescriptionError
from bough.flex.integrals import MassPoints, ModalIntegrals
from tests.support.point_oracle import random_points, required_forces

ROUNDING = 1e-12


def difference(points, seed, scale):
    """What the integrals miss of the sum over points, at a deformation and rates of this size; and the size of the forces."""
    rng, integrals = np.random.default_rng(seed), ModalIntegrals.from_points(points)
    eta, rate, second = scale * rng.normal(size=(3, 4))
    omega, alpha, linear = rng.normal(size=(3, 3))
    expected = required_forces(points, eta, rate, second, omega, alpha, linear)
    found = integrals.mass_matrix(eta) @ np.concatenate([second, alpha, linear]) + integrals.bias(eta, rate, omega)
    return np.abs(found - expected).max(), np.abs(expected).max()


@pytest.mark.parametrize("offset", [0.0, 0.7])
@pytest.mark.parametrize("seed", range(5))
def test_full_variant_is_newton_euler_summed_over_points(seed, offset):
    points = random_points(np.random.default_rng(seed), inertia=0.0, offset=offset)
    missed, size = difference(points, seed, 1.0)
    assert missed < ROUNDING * size


@pytest.mark.parametrize("seed", range(5))
def test_points_that_turn_are_right_to_second_order(seed):
    """Halving the deformation quarters what is missed of finite rotations."""
    points = random_points(np.random.default_rng(seed))
    assert difference(points, seed, 1e-3)[0] / difference(points, seed, 0.5e-3)[0] == pytest.approx(4.0, rel=0.02)


def test_forces_follow_from_the_kinetic_energy():
    """Power of the inertia forces along a motion = rate of T = v.M v/2, whatever the deformation: energy is kept exactly."""
    rng = np.random.default_rng(2)
    integrals = ModalIntegrals.from_points(random_points(rng))
    eta, rate, v, vdot, step = rng.normal(size=4), rng.normal(size=4), rng.normal(size=6), rng.normal(size=10), 1e-6
    speeds = np.concatenate([rate, v])

    def energy(time):
        moved = speeds + time * vdot
        return moved @ integrals.mass_matrix(eta + time * rate) @ moved / 2

    spatial = vdot + np.concatenate([np.zeros(7), np.cross(v[:3], v[3:])])  # v' of a point, out of the rate of its components
    power = speeds @ (integrals.mass_matrix(eta) @ spatial + integrals.bias(eta, rate, v[:3]))
    assert power == pytest.approx((energy(step) - energy(-step)) / (2 * step), rel=1e-8)


def test_mass_matrix_is_symmetric_and_positive():
    rng = np.random.default_rng(3)
    integrals = ModalIntegrals.from_points(random_points(rng, count=12))
    matrix = integrals.mass_matrix(0.1 * rng.normal(size=4))
    assert np.allclose(matrix, matrix.T, atol=1e-12 * np.abs(matrix).max())
    assert np.linalg.eigvalsh(matrix)[0] > 0


def test_ruthless_linearization_differs_by_first_order():
    """Halving (eta, eta') halves what the variant leaves out."""
    rng = np.random.default_rng(5)
    integrals = ModalIntegrals.from_points(random_points(rng))
    eta, rate = rng.normal(size=(2, 4))
    omega, acceleration = rng.normal(size=3), rng.normal(size=10)

    def left_out(scale):
        full = integrals.mass_matrix(scale * eta) @ acceleration + integrals.bias(scale * eta, scale * rate, omega)
        less = integrals.mass_matrix(scale * eta, variant="zeroth_order") @ acceleration
        return np.abs(full - less - integrals.bias(scale * eta, scale * rate, omega, variant="zeroth_order")).max()

    assert left_out(1e-3) / left_out(0.5e-3) == pytest.approx(2.0, rel=0.02)


def test_pairs_of_coupled_masses_give_what_points_give():
    """A pair mass that is a sum of interpolated points: the same body told twice."""
    rng = np.random.default_rng(7)
    position, phi = rng.normal(size=(5, 3)), rng.normal(size=(5, 3, 3))
    weights = rng.dirichlet(np.ones(5), size=11)  # each point a mean of nodes
    mass = rng.uniform(1, 2, 11)
    interpolated = MassPoints(
        weights @ position,
        mass,
        np.zeros((11, 3)),
        np.zeros((11, 3, 3)),
        np.einsum("pn,nij->pij", weights, phi),
        np.zeros((11, 3, 3)),
    )
    by_points = ModalIntegrals.from_points(interpolated).to_arrays()
    by_pairs = ModalIntegrals.from_pairs(weights.T @ (mass[:, None] * weights), position, phi).to_arrays()
    for name, expected in by_points.items():
        assert np.allclose(by_pairs[name], expected, atol=1e-12), name


def test_zero_modes_are_a_rigid_body():
    points = random_points(np.random.default_rng(1), modes=0)
    matrix = ModalIntegrals.from_points(points).mass_matrix(np.zeros(0))
    assert matrix.shape == (6, 6)
    assert matrix[5, 5] == pytest.approx(points.mass.sum())


def test_unknown_variant_is_named():
    integrals = ModalIntegrals.from_points(random_points(np.random.default_rng(1)))
    with pytest.raises(DescriptionError, match="variant is 'linear'; give one of 'full', 'zeroth_order'"):
        integrals.mass_matrix(np.zeros(4), variant="linear")
