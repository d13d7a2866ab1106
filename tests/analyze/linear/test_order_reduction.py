"""Minimal and balanced systems, and laws as systems of their own."""

import doctest

import numpy as np
import pytest
from scipy.linalg import block_diag

import bough
from bough.errors import StateError
from bough.integrate import linear_laws
from bough.model import linear_calls
from tests.analyze.linear.test_closed_loop import pointing
from tests.analyze.linear.test_response import modal
from tests.support.compare import eigenvalue_rounding
from tests.support.tolerance import CANCELLING, FORMULA

linear = bough.LinearSystem.from_arrays


@pytest.mark.parametrize("module", [linear_calls, linear_laws])
def test_examples_of_the_calls(module):
    assert doctest.testmod(module).failed == 0


def hidden():
    """A lag of the first order, a state that no input reaches, one that no output sees, mixed."""
    rng = np.random.default_rng(2)
    T = rng.normal(size=(3, 3)) + 3*np.eye(3)
    A = np.array([[-1.0, 0, 0.3], [0, -2, 0.5], [0, 0, -3]])
    return linear(np.linalg.solve(T, A @ T), np.linalg.solve(T, [[1.0], [2.0], [0.0]]), np.array([[4.0, 0, 1]]) @ T)


def test_minimal_keeps_the_response_and_nothing_else():
    system = hidden()
    small = system.minimal()
    np.testing.assert_allclose(small.poles(), [-1.0], rtol=0, atol=eigenvalue_rounding(system.A, FORMULA))
    frequency = np.geomspace(0.01, 10, 20)
    np.testing.assert_allclose(small.response(frequency).gain, system.response(frequency).gain, rtol=CANCELLING)
    whole = modal()
    assert len(whole.minimal().states) == len(whole.states)


def test_balanced_truncation_keeps_its_bound_and_rigid_motion():
    """|G - Gr| is at most twice the sum of the singular values left out; poles at zero stay."""
    flexible = modal(np.array([0.3, 1.2, 5.0, 40.0]), np.array([5e-3]*4), np.array([1.0, 0.4, 0.3, 0.2])).select(outputs="rate")
    rigid = linear([[0.0]], [[1.0]], [[1.0]])
    system = linear(block_diag(rigid.A, flexible.A), np.vstack([rigid.B, flexible.B]), np.hstack([rigid.C, flexible.C]))
    for order in (5, 7):
        small, values = system.reduced(order), system.hankel()
        assert len(small.states) == order
        assert np.abs(small.poles()).min() < CANCELLING
        frequency = system.response().frequency
        error = np.abs(small.response(frequency).gain - system.response(frequency).gain).max()
        assert 1e-3 < error <= 2*values[order - 1:].sum()
    sampled = system.discretize(0.005)
    small = sampled.reduced(7)
    frequency = np.geomspace(0.01, 90, 400)
    error = np.abs(small.response(frequency).gain - sampled.response(frequency).gain).max()
    assert error <= 2*sampled.hankel()[6:].sum()
    with pytest.raises(StateError, match="order is 0, but 1 states are not asymptotically stable"):
        system.reduced(0)


def test_reducing_by_tolerance_leaves_what_matters():
    """What is left out is off by twice the sum of its Hankel singular values at most, none above the tolerance of the largest."""
    plant, controller = pointing()
    closed = plant.feedback(controller)
    small, hankel = closed.reduced(tolerance=1e-3), closed.hankel()
    assert len(small.states) == (hankel > 1e-3*hankel[0]).sum() < len(closed.states)
    frequency = np.geomspace(0.01, 10, 50)
    error = np.linalg.norm(small.response(frequency).gain - closed.response(frequency).gain, 2, axis=(1, 2))
    assert error.max() <= 2*hankel[len(small.states):].sum()


def arm():
    s = bough.System("arm")
    s.body("arm", joint=bough.Revolute("z", damping=0.2), mass=2.0, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
    s.input("motor", coordinate="arm")
    s.output("angle", coordinate="arm")
    s.output("rate", rate="arm")
    return s.compile()


def test_a_compiled_law_cut_and_closed_is_the_closed_loop():
    @bough.controller(outputs=["angle", "rate"], inputs=["motor"], states=[0.0])
    def servo(t, y, u, z, zdot):
        zdot[0] = y[0] - 0.2*z[0]
        u[0] = -6.0*y[0] - 2.0*y[1] - 1.5*z[0]

    model = arm()
    plant, controller, closed = model.linearize(), model.linearize_laws([servo]), model.linearize(laws=[servo])
    bound = eigenvalue_rounding(closed.A)
    np.testing.assert_allclose(plant.feedback(controller, sign=1).poles(), closed.poles(), rtol=0, atol=bound)
    loop = plant.cut(controller, at="motor", sign=1)
    returned = np.linalg.eigvals(loop.A - loop.B @ loop.C)
    np.testing.assert_allclose(np.sort_complex(returned), np.sort_complex(closed.poles()), rtol=0, atol=bound)
    assert controller.states == ("servo.z1",)


def test_a_sampled_law_with_a_delay_closes_to_the_samples_of_a_run():
    """Samples of a run obey the poles of the discrete closed loop: x[k+1] = A x[k]."""
    @bough.law(outputs=["angle", "rate"], inputs=["motor"], period=0.1, delay=0.1, states=[0.0])
    def hold(t, y, z):
        return {"motor": -4.0*y["angle"] - 2.0*y["rate"] - 0.5*z[0]}, z + 0.1*y["angle"]

    model = arm()
    closed = model.linearize(dt=0.1).feedback(model.linearize_laws([hold]), sign=1)
    run = bough.simulate(model, q0=[0.01], until=2.0, dt=1e-3, sample_rate=10, laws=[hold], record=["state"])
    x, found = np.zeros(len(closed.states)), []
    x[0] = 0.01
    for _ in run.time:
        found.append(x[0])
        x = closed.A @ x
    np.testing.assert_allclose(run.data.q.values[:, 0], found, atol=1e-9)       # rk4 of 1 ms; the system is linear


def test_laws_that_make_no_linear_system_are_named():
    model = arm()
    odd = bough.Law(lambda t, y: {"motor": -y["angle"]}, outputs=["angle"], inputs=["motor"], period=0.1, delay=0.03)
    with pytest.raises(StateError, match=r"a delay of 0.03 s is no multiple of the period of 0.1 s"):
        model.linearize_laws([odd])
    with pytest.raises(StateError, match="no laws are given"):
        model.linearize_laws([])
    other = bough.Law(lambda t, y: {"motor": 0.0}, outputs=["angle"], inputs=["motor"], period=0.2)
    with pytest.raises(StateError, match="linearize those of one period"):
        model.linearize_laws([odd, other])


@pytest.mark.slow
@pytest.mark.parametrize("dt", [None, 0.05])
def test_a_linear_controller_is_the_law_that_it_was(dt):
    """Made a law and linearized again, it is the same; its states too, and numbers of ports in any order."""
    rng = np.random.default_rng(4)
    A = -np.eye(2) if dt is None else 0.5*np.eye(2)
    given = linear(A, rng.normal(size=(2, 2)), rng.normal(size=(1, 2)), rng.normal(size=(1, 2)), inputs=["rate", "angle"],
                   outputs="motor", dt=dt)
    model = arm()
    again = model.linearize_laws([bough.linear.law(given, model, sign=1)])
    assert again.inputs == given.inputs
    for matrix in "ABCD":
        np.testing.assert_allclose(getattr(again, matrix), getattr(given, matrix), atol=FORMULA)
    with pytest.raises(StateError, match="reads 'angel', which is no output of the model, did you mean 'angle'"):
        bough.linear.law(linear([], [], [], [[1.0]], inputs="angel", outputs="motor"), model)
    with pytest.raises(StateError, match="sets 'moto', which is no input, coordinate or driven wheel, did you mean 'motor'"):
        bough.linear.law(linear([], [], [], [[1.0]], inputs="angle", outputs="moto"), model)
