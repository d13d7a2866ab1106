"""A linear system by name: parts, poles and zeros, other forms, and what it refuses."""

import doctest
import importlib
import pkgutil
import sys

import numpy as np
import pytest
from scipy.linalg import expm

import bough
import bough.analyze.linear
from bough.errors import ModelError, StateError
from tests.support.tolerance import CANCELLING, FORMULA, SWEEP, roundings

ROOM = [module.name for module in pkgutil.walk_packages(bough.analyze.linear.__path__, "bough.analyze.linear.")]


@pytest.mark.parametrize("name", ROOM)
def test_docstrings(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def random_system(n, m, p, seed=0, **facts):
    rng = np.random.default_rng(seed)
    return bough.LinearSystem.from_arrays(rng.normal(size=(n, n)), rng.normal(size=(n, m)), rng.normal(size=(p, n)), **facts)


def two_port():
    names = {"inputs": ["push.x", "push.y", "rw"], "outputs": ["gyro.x", "gyro.y", "gyro.z", "angle"]}
    return random_system(5, 3, 4, input_units=["N", "N", "N m"], output_units=["rad/s"]*3 + ["rad"], name="box", **names)


def test_ports_and_single_numbers_are_selected_by_name():
    system = two_port()
    part = system.select(inputs=["rw", "push"], outputs="gyro.y")
    assert part.inputs == ("rw", "push.x", "push.y")
    assert part.input_units == ("N m", "N", "N")
    assert part.outputs == ("gyro.y",)
    np.testing.assert_array_equal(part.B, system.B[:, [2, 0, 1]])
    np.testing.assert_array_equal(part.D, system.D[[1]][:, [2, 0, 1]])


@pytest.mark.parametrize(("given", "message"), [
    ({"outputs": "gyr"}, "there is no output 'gyr', did you mean 'gyro'"),
    ({"inputs": "thruster"}, "there is no input 'thruster'; there are push.x, push.y, rw"),
])
def test_unknown_ports_are_named(given, message):
    with pytest.raises(StateError, match=message):
        two_port().select(**given)


@pytest.mark.parametrize(("n", "m"), [(6, 1), (8, 2), (5, 3)])
def test_zeros_are_those_of_python_control(n, m):
    control = pytest.importorskip("control")
    system = random_system(n, m, m)
    ours, theirs = system.zeros(), control.zeros(system.to_control())
    assert len(ours) == len(theirs) == n - m
    for zero in theirs:
        assert np.abs(ours - zero).min() < 1e-8*abs(zero)    # of random matrices: condition of zeros below 1e6


def test_zeros_at_infinity_are_left_out():
    """Two masses, force and place at the first: zeros are the other mass on its spring. From force to the second: none."""
    k, c = 100.0, 0.02
    A = np.block([[np.zeros((2, 2)), np.eye(2)], [k*np.array([[-1, 1], [1, -1]]), c*np.array([[-1, 1], [1, -1]])]])
    masses = bough.LinearSystem.from_arrays(A, [[0], [0], [1], [0]], np.eye(2, 4), outputs=["near", "far"])
    np.testing.assert_allclose(masses.select(outputs="near").zeros(), np.roots([1, c, k])[::-1], rtol=CANCELLING)
    np.testing.assert_allclose(masses.select(outputs="far").zeros(), [-k/c], rtol=roundings(45, magnified=k/c))  # of k beside c
    assert len(masses.zeros()) == 0                          # one input seen at two places: nothing blocks both


def test_sampled_states_are_those_of_the_flow():
    system, dt = random_system(4, 2, 1), 0.3
    held = system.discretize(dt)
    whole = expm(dt*np.block([[system.A, system.B], [np.zeros((2, 6))]]))
    np.testing.assert_allclose(held.A, whole[:4, :4], rtol=SWEEP, atol=FORMULA)
    np.testing.assert_allclose(held.B, whole[:4, 4:], rtol=SWEEP, atol=FORMULA)
    assert held.dt == dt
    with pytest.raises(StateError, match="is discrete already"):
        held.discretize(dt)
    with pytest.raises(StateError, match="no hold 'zho', did you mean 'zoh'"):
        system.discretize(dt, "zho")


def test_other_tools_get_the_same_matrices():
    pytest.importorskip("control")
    system = two_port()
    theirs = system.to_control()
    assert theirs.output_labels == ["gyro_x", "gyro_y", "gyro_z", "angle"]
    back = bough.LinearSystem.from_control(theirs, inputs=system.inputs, outputs=system.outputs)
    for matrix in "ABCD":
        np.testing.assert_array_equal(getattr(back, matrix), getattr(system, matrix))
        np.testing.assert_array_equal(getattr(system.to_scipy(), matrix), getattr(system, matrix))
        np.testing.assert_array_equal(system.to_xarray()[matrix], getattr(system, matrix))
    assert system.to_xarray().output_unit.sel(output="angle").item() == "rad"
    assert system.discretize(0.1).to_control().dt == 0.1


def test_without_python_control_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "control", None)
    with pytest.raises(ModelError, match=r"pip install 'bough\[control\]'"):
        two_port().to_control()


def test_what_is_no_equilibrium_is_said():
    resting = two_port()
    assert resting.balanced
    assert "equilibrium" not in str(resting)
    moving = bough.LinearSystem.from_arrays([[0, 1], [-1, 0]], [[0], [1]], [[1, 0]], residual=[0.0, -0.25], residual_scale=[1, 1],
                                            states=["x", "x rate"], state_units=["m", "m/s"])
    assert not moving.balanced
    assert "no equilibrium: left over are x rate -0.25 m/s/s" in str(moving)


@pytest.mark.parametrize(("change", "message"), [
    ({"B": np.zeros((2, 2))}, "B is 2 x 2, but there are 2 states and 1 inputs"),
    ({"A": [[0, np.nan], [0, 0]]}, "A has numbers that are not finite"),
    ({"states": ["x", "x"]}, "states name 'x' more than once"),
    ({"state_units": ["m"]}, "1 units of 2 states"),
    ({"dt": 0.0}, "dt is 0.0 s"),
])
def test_matrices_must_fit(change, message):
    given = {"A": [[0, 1], [-1, 0]], "B": [[0], [1]], "C": [[1, 0]], "D": [[0]], "states": ["x", "v"], "inputs": ["u"],
             "outputs": ["y"]} | change
    with pytest.raises(StateError, match=message):
        bough.LinearSystem(**given)
