"""The modal integrals equal the sum over points, term by term and to rounding."""

import numpy as np
import pytest

from bough.errors import DescriptionError
from bough.flex.integrals import ModalIntegrals
from bough.flex.shapes import MassPoints
from tests.flex.point_oracle import random_points, required_forces

ROUNDING = 1e-12


@pytest.mark.parametrize("rotary", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_full_variant_is_newton_euler_summed_over_points(seed, rotary):
    rng = np.random.default_rng(seed)
    points = random_points(rng, rotary=rotary)
    integrals = ModalIntegrals.from_points(points)
    eta, rate, second = rng.normal(size=(3, 4))
    omega, alpha, linear = rng.normal(size=(3, 3))
    expected = required_forces(points, eta, rate, second, omega, alpha, linear)
    found = integrals.mass_matrix(eta) @ np.concatenate([second, alpha, linear]) + integrals.bias(eta, rate, omega)
    assert np.abs(found - expected).max() < ROUNDING * np.abs(expected).max()


def test_mass_matrix_is_symmetric_and_positive():
    rng = np.random.default_rng(3)
    integrals = ModalIntegrals.from_points(random_points(rng, count=12))
    matrix = integrals.mass_matrix(rng.normal(size=4))
    assert np.allclose(matrix, matrix.T, atol=1e-12 * np.abs(matrix).max())
    assert np.linalg.eigvalsh(matrix)[0] > 0


@pytest.mark.parametrize(("variant", "order"), [("first_order", 2), ("zeroth_order", 1)])
def test_reduced_variants_differ_by_their_order(variant, order):
    """Halving (eta, eta') divides what a variant leaves out by 2^order."""
    rng = np.random.default_rng(5)
    integrals = ModalIntegrals.from_points(random_points(rng))
    eta, rate = rng.normal(size=(2, 4))
    omega, acceleration = rng.normal(size=3), rng.normal(size=10)

    def left_out(scale):
        full = integrals.mass_matrix(scale * eta) @ acceleration + integrals.bias(scale * eta, scale * rate, omega)
        less = integrals.mass_matrix(scale * eta, variant=variant) @ acceleration
        return np.abs(full - less - integrals.bias(scale * eta, scale * rate, omega, variant=variant)).max()

    assert left_out(1e-3) / left_out(0.5e-3) == pytest.approx(2.0**order, rel=0.02)


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
    with pytest.raises(DescriptionError, match="variant is 'linear'; give one of 'full', 'first_order', 'zeroth_order'"):
        integrals.mass_matrix(np.zeros(4), variant="linear")
