"""The modal integrals equal the sum over points, term by term and to rounding."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import block_diag

from bough.errors import DescriptionError
from bough.flex import FlexibleBody, beam, beam_model, integrals as integrals_module
from bough.flex.integrals import BENT, MassPoints, ModalIntegrals, no_spins, tilde
from bough.flex.reduction import mode_shapes
from tests.support.compare import assert_same
from tests.support.point_oracle import random_points, required_forces
from tests.support.tolerance import CANCELLING, SWEEP, differences


@pytest.fixture(params=["with spins", "without"])
def either_way(request, monkeypatch):
    """All bodies have spins, or none: a theory of second order is the same."""
    monkeypatch.setattr(integrals_module, "_needed_spins", lambda integrals, psi:
                        integrals if request.param == "with spins" else replace(integrals, **no_spins(integrals.n_modes)))


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
    assert missed < CANCELLING * size


@pytest.mark.usefixtures("either_way")
@pytest.mark.parametrize("seed", range(5))
def test_points_that_turn_are_right_to_second_order(seed):
    """Halving the deformation quarters what is missed of finite rotations."""
    points = random_points(np.random.default_rng(seed))
    # 1e-3 eta: the next power
    assert difference(points, seed, 1e-3)[0] / difference(points, seed, 0.5e-3)[0] == pytest.approx(4.0, rel=0.02)


@pytest.mark.usefixtures("either_way")
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
    assert power == pytest.approx((energy(step) - energy(-step)) / (2 * step), rel=differences(step))  # of a cubic in time


def slim(points):
    """The same points with inertia about one axis each, as sections of a slender beam have it: no masses have such a one."""
    root = points.inertia[:, 0]
    return replace(points, inertia=np.einsum("Ni,Nj->Nij", root, root))


def squares(points, eta):
    """M as a sum of squares over the points: of velocities, and of rates R^T (w + J theta') in the points' own axes, R and J cut at
    first order but for the mean of what is of second."""
    eye, shape = np.eye(3), points.phi + np.cross(points.psi, points.offset[:, :, None], axis=1)
    place, theta = points.position + points.offset + shape @ eta, tilde(points.psi @ eta)
    velocity = np.concatenate([shape, -tilde(place), np.broadcast_to(eye, theta.shape)], axis=2)
    first = np.concatenate([points.psi, eye - theta], axis=2)
    second = np.concatenate([-theta @ points.psi / 2, theta @ theta / 2], axis=2)
    mean = np.linalg.pinv(points.inertia.sum(axis=0), rcond=1e-10) @ np.einsum("Nij,Njr->ir", points.inertia, second)
    rate = np.concatenate([first + mean, np.zeros((len(first), 3, 3))], axis=2)
    matrix = np.einsum("N,Nir,Nis->rs", points.mass, velocity, velocity)
    return matrix + np.einsum("Nir,Nij,Njs->rs", rate, points.inertia, rate)


@pytest.mark.parametrize("size", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("kind", [replace, slim])
@pytest.mark.parametrize("seed", range(5))
def test_mass_matrix_is_a_sum_of_squares(seed, kind, size, monkeypatch):
    """So it is positive, however far the body is bent: with spins, which each body has here."""
    monkeypatch.setattr(integrals_module, "_needed_spins", lambda integrals, psi: integrals)
    rng = np.random.default_rng(seed)
    points, eta = kind(random_points(rng, count=12)), size * rng.normal(size=4)
    matrix, expected = ModalIntegrals.from_points(points).mass_matrix(eta), squares(points, eta)
    assert np.allclose(matrix, expected, rtol=0, atol=CANCELLING * np.abs(expected).max())
    assert np.linalg.eigvalsh(matrix)[0] > 0


BENDING = {"E": 7e10, "G": 2.7e10, "area": 8e-4, "Iy": 5e-8, "Iz": 8e-8, "density": 2700.0}


@pytest.mark.parametrize("modes", [2, 4, 6])
def test_beams_that_only_bend_need_no_spins(modes):
    """M stays positive in any mixture of modes, until a point has turned by `BENT`."""
    body, rng = beam(2.0, J=1e-3, modes=modes, **BENDING), np.random.default_rng(modes)
    psi = np.swapaxes(body.points.psi, 1, 2)
    assert not np.abs(psi[:, :, 0]).max()
    assert not len(body.integrals.spin)
    for eta in rng.normal(size=(200, modes)):
        bent = rng.uniform() * BENT / np.linalg.norm(eta @ psi, axis=1).max() * eta
        assert np.linalg.eigvalsh(body.integrals.mass_matrix(bent))[0] > 0


def test_what_spins_add_is_beyond_the_second_order(monkeypatch):
    """Energies with and without them differ by the third power of the deformation and its rate."""
    parts = [beam(2.0, J=1e-3, modes=4, **BENDING).integrals]
    monkeypatch.setattr(integrals_module, "_needed_spins", lambda integrals, psi: integrals)
    parts.append(beam(2.0, J=1e-3, modes=4, **BENDING).integrals)
    assert [len(each.spin) for each in parts] == [0, 1]
    rng = np.random.default_rng(4)
    eta, speeds = rng.normal(size=4), rng.normal(size=10)

    def apart(size):
        moving = np.concatenate([size * speeds[:4], speeds[4:]])
        plain, whole = (moving @ each.mass_matrix(size * eta) @ moving / 2 for each in parts)
        return abs(whole - plain)

    assert apart(2e-3) / apart(1e-3) == pytest.approx(8.0, rel=0.02)  # 2e-3 eta: the next power


def test_modes_that_twist_need_spins():
    """Their modal mass is of the points' own inertia alone: without spins M is not positive where a point turns by a radian."""
    body = beam(2.0, J=5e-9, modes=10, **BENDING)
    assert len(body.integrals.spin) == 1
    plain = replace(body.integrals, **no_spins(10))
    bent = integrals_module._bent_to(BENT, np.swapaxes(body.points.psi, 1, 2))
    assert min(np.linalg.eigvalsh(plain.mass_matrix(eta))[0] for eta in bent) < 0


@pytest.mark.usefixtures("either_way")
def test_order_of_each_block_where_points_turn():
    """Against whole rotations the modal block errs at first order in eta, the coupling at second, the inertia at third."""
    rng = np.random.default_rng(4)
    points, eta = random_points(rng), rng.normal(size=4)
    integrals = ModalIntegrals.from_points(points)

    def missed(size):
        columns = [required_forces(points, size * eta, np.zeros(4), a[:4], np.zeros(3), a[4:7], a[7:]) for a in np.eye(10)]
        error = np.abs(integrals.mass_matrix(size * eta) - np.stack(columns, axis=1))
        return np.array([error[:4, :4].max(), error[4:7, :4].max(), error[4:7, 4:7].max()])

    assert np.log2(missed(2e-3) / missed(1e-3)) == pytest.approx([1.0, 2.0, 3.0], abs=0.02)  # 2e-3 eta: the next power


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

    assert left_out(1e-3) / left_out(0.5e-3) == pytest.approx(2.0, rel=0.02)  # 1e-3 eta: the next power


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
    matrix = np.kron(weights.T @ (mass[:, None] * weights), np.eye(3))
    by_pairs = ModalIntegrals.from_matrix(matrix, position, phi.reshape(15, 3)).to_arrays()
    for name, expected in by_points.items():
        assert_same(by_pairs[name], expected, SWEEP, scale=1.0)


def test_matrix_of_rigid_lumps_gives_what_points_give():
    """Lumps with offsets and inertias as one block-diagonal matrix: every integral, of second order too."""
    points = random_points(np.random.default_rng(3))
    m, p = points.mass, tilde(points.offset)
    blocks = [
        np.block([[m[i] * np.eye(3), -m[i] * p[i]], [m[i] * p[i], points.inertia[i] - m[i] * p[i] @ p[i]]]) for i in range(len(m))
    ]
    shapes = np.concatenate([points.phi, points.psi], axis=1).reshape(6 * len(m), -1)
    by_matrix = ModalIntegrals.from_matrix(block_diag(*blocks), points.position, shapes).to_arrays()
    for name, expected in ModalIntegrals.from_points(points).to_arrays().items():
        found = by_matrix[name]
        if name in ("spin", "spin_pairs"):          # of the eigenvectors of one inertia: signs may differ
            expected, found = np.abs(expected), np.abs(found)
        assert_same(found, expected, SWEEP)


def test_consistent_beam_has_exact_first_order_integrals_and_second_order_ones_that_converge():
    """Against the beam's own points inside of its elements, which integrate its shape functions exactly."""
    errors = []
    for elements in (4, 8, 16):
        model = beam_model(2.0, E=7e10, G=2.7e10, area=1e-3, Iy=8e-8, Iz=8e-8, J=1e-7, density=2700.0, elements=elements, axis="y",
                           timoshenko=True)  # fmt: skip
        body = model.reduce(modes=4)
        shapes = mode_shapes(model, "cantilever", modes=4)[1]
        exact, found = body.integrals.to_arrays(), ModalIntegrals.from_matrix(model.mass, model.position, shapes).to_arrays()
        for name in ("m", "s0", "t", "I0", "h", "Mff"):
            assert_same(found[name], exact[name], SWEEP)
        errors.append(max(np.abs(found[name] - exact[name]).max() / np.abs(exact[name]).max() for name in ("I1", "I2", "k")))
        rng = np.random.default_rng(elements)
        for _ in range(5):
            assert np.linalg.eigvalsh(ModalIntegrals(**found).mass_matrix(rng.normal(size=4)))[0] > 0
    assert errors[0] < (4.694 * 0.25) ** 2 / 6      # linear interpolation of the second bending mode, (k h)^2/6
    assert errors[1] < errors[0] / 3                # and of that order
    assert errors[2] < errors[1] / 3.5


def test_zero_modes_are_a_rigid_body():
    points = random_points(np.random.default_rng(1), modes=0)
    matrix = ModalIntegrals.from_points(points).mass_matrix(np.zeros(0))
    assert matrix.shape == (6, 6)
    assert matrix[5, 5] == pytest.approx(points.mass.sum())


def test_unknown_variant_is_named():
    integrals = ModalIntegrals.from_points(random_points(np.random.default_rng(1)))
    with pytest.raises(DescriptionError, match="variant is 'linear'; give one of 'full', 'zeroth_order'"):
        integrals.mass_matrix(np.zeros(4), variant="linear")


def test_a_file_of_before_there_were_spins_gets_them_from_its_points():
    body = beam(2.0, EI=3.0, GJ=2.0, mass_per_length=1.0, polar_inertia=0.1, modes=4)
    assert len(body.integrals.spin) == 1
    first = {name: values for name, values in body.to_arrays().items() if not name.startswith("integrals.spin")}
    assert FlexibleBody.from_arrays(first) == body
