"""Reductions: what each kind of modes must keep of the full model."""

import numpy as np
import pytest

from bough.flex import FlexibleBody, beam, beam_model
from tests.support.compare import clamped
from tests.support.tolerance import CANCELLING, FORMULA, MODES, SWEEP, truncated

BAR = {"E": 70e9, "G": 26e9, "area": 1e-4, "Iy": 8e-10, "Iz": 12e-10, "J": 1.4e-9, "density": 2700.0}


def static_motion(model, name):
    """[translation, rotation] of a node per unit load on it, of the full model clamped inboard: (6, 6)."""
    from bough.flex.geometric import static_solver

    gather = model.find(name).gather.toarray()
    return gather @ static_solver(model)(gather.T)


def test_craig_bampton_keeps_the_static_response_at_interfaces():
    model = beam_model(2.0, nodes={"middle": 0.9}, **BAR)
    body = model.reduce("craig-bampton", modes=3, interfaces=["middle", "tip"])
    assert body.n_modes == 12 + 3
    for name in ("middle", "tip"):
        at = body.nodes.index(name)
        shape = np.vstack([body.nodes.phi[at], body.nodes.psi[at]])
        exact = static_motion(model, name)
        assert np.allclose(shape @ np.linalg.solve(body.K, shape.T), exact, rtol=0, atol=clamped(model) * np.abs(exact).max())


def test_craig_bampton_approaches_the_full_frequencies_from_above():
    model = beam_model(2.0, **BAR)
    exact = model.reduce("cantilever", modes=13).frequencies
    errors = [model.reduce("craig-bampton", modes=n, interfaces=["tip"]).frequencies[:6] / exact[:6] - 1 for n in (2, 6, 12)]
    assert all((error > -1e-9).all() for error in errors)
    assert errors[0].max() > errors[1].max() > errors[2].max()
    assert errors[2].max() < (exact[5] / exact[12]) ** 4 / 2  # those left out lack only inertia, and squares err twice as much


def test_free_free_modes_carry_no_momentum():
    body = beam(1.5, boundary="free-free", modes=8, tip_mass=0.1, tip_com=(0.02, 0.03, 0.01), tip_inertia=1e-4, **BAR)
    coupling = body.integrals.mass_matrix(np.zeros(8))[8:, :8]
    assert np.abs(coupling).max() < CANCELLING
    assert np.abs(body.nodes.phi[0]).max() > 0.1  # the inboard node moves


def test_craig_bampton_without_inboard_node_is_free():
    model = beam_model(1.5, inboard=None, **BAR)
    coarse, body = (model.reduce("craig-bampton", modes=n, interfaces=["root", "tip"]) for n in (10, 20))
    free = model.reduce("free-free", modes=4)
    bound = truncated(coarse.frequencies[:4], body.frequencies[:4], order=MODES)
    assert body.frequencies[:4] == pytest.approx(free.frequencies, abs=bound)
    assert np.abs(body.integrals.mass_matrix(np.zeros(body.n_modes))[body.n_modes :, : body.n_modes]).max() < CANCELLING


def test_cantilever_modes_are_still_at_the_inboard_node_anywhere():
    body = beam_model(2.0, nodes={"hub": 0.8}, inboard="hub", **BAR).reduce(modes=6)
    at = body.nodes.index("hub")
    assert not body.nodes.phi[at].any()
    assert not body.nodes.psi[at].any()


def test_given_shapes_are_made_orthonormal():
    model = beam_model(1.0, EI=1.0, mass_per_length=1.0)
    x = np.linspace(0, 1, 33)
    shapes = np.zeros((33, 6, 2))
    shapes[:, 1], shapes[:, 5] = np.stack([x**2, x**3], 1), np.stack([2 * x, 3 * x**2], 1)
    body = model.reduce(modes=shapes.reshape(-1, 2))
    assert np.allclose(body.integrals.Mff, np.eye(2), rtol=0, atol=SWEEP)
    assert 2 * np.pi * body.frequencies[0] == pytest.approx(3.5327, rel=1e-4)  # Ritz with x^2, x^3


def test_equal_frequencies_do_not_mix_planes():
    phi = beam(1.0, EI=1.0, mass_per_length=1.0, modes=6).nodes.phi[1]
    assert (np.count_nonzero(np.abs(phi) > 1e-9, axis=0) == 1).all()


def test_damping_ratio_and_matrix():
    body = beam(1.0, EI=1.0, mass_per_length=1.0, modes=2, damping=[0.01, 0.02])
    assert np.diagonal(body.D) == pytest.approx(2 * np.array([0.01, 0.02]) * 2 * np.pi * body.frequencies)
    given = np.array([[2.0, 0.5], [0.5, 1.0]])
    assert np.array_equal(beam(1.0, EI=1.0, mass_per_length=1.0, modes=2, damping=given).D, given)


def test_body_survives_its_file(tmp_path):
    body = beam(1.0, modes=4, boundary="free-free", variant="zeroth_order", damping=0.01, **BAR)
    body.save(tmp_path / "boom.npz")
    again = FlexibleBody.load(tmp_path / "boom.npz")
    assert repr(again) == repr(body)
    assert again.variant == "zeroth_order"
    for name, array in body.to_arrays().items():
        assert np.array_equal(array, again.to_arrays()[name]), name


def test_strain_energy_and_static_deflection():
    body = beam(2.0, EI=5.0, mass_per_length=1.0, modes=20)
    eta = body.static_deflection("tip", force=(0, 0, 3.0))
    # 12/b^4, b = (r - 1/2) pi, summed over r > 10
    assert body.displacement(eta)["tip"][2] == pytest.approx(3.0 * 2**3 / (3 * 5.0), rel=4.2e-5)
    assert body.rotation(eta)["tip"][1] == pytest.approx(-3.0 * 2**2 / (2 * 5.0), rel=1.4e-3)  # 8/b^3, the same
    assert body.strain_energy(eta) == pytest.approx(0.5 * 3.0 * body.displacement(eta)["tip"][2])
    assert body.deformed_outline(eta).shape == (33, 3)


def test_rigid_part_of_a_beam():
    body = beam(2.0, EI=5.0, mass_per_length=1.5, modes=0)
    assert body.mass == pytest.approx(3.0)
    assert body.com == pytest.approx([1.0, 0, 0])
    assert np.diagonal(body.inertia) == pytest.approx([0, 1.0, 1.0], abs=FORMULA)
