"""The report on how many modes are enough."""

import numpy as np
import pytest

from bough.errors import DescriptionError
from bough.flex import beam_model, convergence
from bough.flex.geometric import static_solver
from tests.support.compare import clamped
from tests.support.tolerance import CANCELLING


def test_effective_masses_of_a_cantilever():
    """61.3, 18.8, 6.5 % of the mass in the first three bending modes."""
    report = beam_model(1.0, EI=(1.0, 1e8), mass_per_length=1.0).convergence(modes=3)
    assert report.effective_mass[:, 2] == pytest.approx([0.6131, 0.1883, 0.0647], abs=5e-5)  # as printed
    assert report.enough is None


def test_all_modes_carry_all_that_can_move():
    model = beam_model(1.0, EI=1.0, mass_per_length=1.0, elements=5)
    report = model.convergence(modes=20, share=0.999)
    assert report.enough is not None
    assert report.static_error[-1] < clamped(model)
    assert (np.diff(report.static_error) < CANCELLING).all()


def test_report_prints_as_a_table():
    text = repr(beam_model(1.0, EI=1.0, mass_per_length=1.0).convergence(modes=8, share=0.8))
    assert "cumulative effective mass" in text
    assert len(text.splitlines()) == 8 + 3
    assert text.endswith("modes carry 80 % of the mass that can move, in every direction")


def test_craig_bampton_errors_are_against_the_full_model():
    model = beam_model(1.0, EI=1.0, mass_per_length=1.0)
    report = model.convergence("craig-bampton", modes=4, interfaces=["tip"])
    assert report.static_error[-1] < clamped(model)
    assert 0 <= report.frequency_error[0] < (3.516 / 120.9) ** 2  # squares of the first frequency, and of one that is left out


def test_free_free_report_uses_static_errors():
    report = beam_model(1.0, EI=1.0, mass_per_length=1.0, inboard=None).convergence("free-free", modes=12, share=0.8)
    assert np.abs(report.effective_mass).max() < CANCELLING
    assert (np.diff(report.static_error) < CANCELLING).all()


def test_static_shapes_make_the_loads_at_their_interfaces_exact():
    model = beam_model(
        1.0, E=7e10, G=2.7e10, area=1e-4, Iy=8e-10, Iz=8e-10, J=1.4e-9, density=2700.0, elements=8, nodes={"middle": 0.5}
    )
    report = convergence(model, modes=4, static=["tip", "acceleration"])
    assert report.places == ("tip", "middle")
    assert report.load_error[-1, 0] > 1e-3
    [(first, with_tip), (second, with_both)] = report.added
    assert (first, second) == ("tip", "acceleration")
    assert with_tip[0] < 1e-9  # the tip's load is exact, the middle's is better
    assert with_tip[1] <= report.load_error[-1, 1]
    assert (with_both <= with_tip + CANCELLING).all()
    text = repr(report)
    assert "load err" in text
    assert "+ static shapes of acceleration" in text


def test_static_shapes_of_accelerations_give_the_quasi_static_deflection():
    """A slow acceleration of the root: with inertia relief the deflection is exact, with two modes it is not."""
    model = beam_model(1.0, EI=10.0, mass_per_length=2.0, elements=16)
    load = -model.mass @ model.rigid_motion()[:, 1]
    exact = static_solver(model)(load)
    tip = model.find("tip").gather
    errors = []
    for static in ((), ("acceleration",)):
        body = model.reduce(modes=2, static=static)
        eta = np.linalg.solve(body.K, -body.integrals.t[:, 1])
        errors.append(abs(body.displacement(eta)["tip"][1] / (tip @ exact)[1] - 1))
    assert 1e-3 < errors[0] < 0.02  # the second mode has (w1/w2)^2 = 0.025 of the first one's compliance
    assert errors[1] < clamped(model)


def test_static_shapes_of_a_distributed_load():
    """A pressure that grows along a beam, given as forces at the dofs: its deflection is exact by one shape beside two modes."""
    model = beam_model(1.0, EI=10.0, mass_per_length=2.0, elements=16)
    forces = np.zeros((len(model.position), 3))
    forces[:, 2] = 3.0 * model.position[:, 0] ** 2
    load = np.zeros((len(model.position), model.dofs_per_node))
    load[:, :3] = forces
    exact = model.find("tip").gather @ static_solver(model)(load.ravel())
    errors = []
    for static in ((), (load.ravel(),)):
        body = model.reduce(modes=2, static=static)
        assert body.n_modes == 2 + len(static)
        eta = np.linalg.solve(body.K, np.einsum("Nir,Ni->r", body.outline.phi, forces))
        errors.append(abs(body.displacement(eta)["tip"][2] / exact[2] - 1))
    assert 1e-4 < errors[0] < 0.02  # the same
    assert errors[1] < clamped(model)
    assert convergence(model, modes=2, static=[load.ravel()]).added[0][0] == "load 0"
    with pytest.raises(DescriptionError, match="a static load has shape"):
        model.reduce(modes=2, static=[np.ones(7)])
