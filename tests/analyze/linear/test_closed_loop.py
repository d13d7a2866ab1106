"""Closed loops, cuts and margins against python-control and closed forms."""

import numpy as np
import pytest

import bough
from bough.analyze.linear.margins import _crossings
from bough.errors import ModelError, StateError
from tests.analyze.linear.test_response import modal
from tests.support.compare import eigenvalue_rounding
from tests.support.tolerance import FORMULA, HALF, roundings

linear = bough.LinearSystem.from_arrays


def pointing(gain=1.0):
    """A satellite of a unit inertia with two panels' modes, and its controller: position and rate through a lag."""
    w, zeta, g = 2*np.pi*np.array([0.0, 0.3, 1.2]), np.array([0, 0.003, 0.005]), np.array([1.0, 0.4, 0.3])
    A = np.block([[np.zeros((3, 3)), np.eye(3)], [np.diag(-w**2), np.diag(-2*zeta*w)]])
    C = np.block([[g, np.zeros(3)], [np.zeros(3), g]])
    plant = linear(A, np.append(np.zeros(3), g)[:, None], C, inputs="rw", outputs=["angle", "rate"], input_units="N m")
    controller = linear([[-20.0]], [[0.36*gain, 0.84*gain]], [[20.0]], inputs=["angle", "rate"], outputs="rw")
    return plant, controller


def test_margins_are_those_of_python_control():
    """Its crossings are roots of polynomials, nearly double ones beside lightly damped poles: known to HALF of the digits."""
    control = pytest.importorskip("control")
    for at in ("rw", "angle", "rate"):
        plant, controller = pointing()
        loop = plant.cut(controller, at)
        found = loop.margins()
        gains, phases, distance, _, at_one, _ = control.stability_margins(loop.to_control(), returnall=True)
        gains = gains[gains < 1e9]                          # beyond are crossings of its polynomials at infinity
        np.testing.assert_allclose(sorted(each.margin for each in found.gains), sorted(gains), rtol=HALF)
        np.testing.assert_allclose([each.frequency*2*np.pi for each in found.phases], at_one, rtol=HALF)
        np.testing.assert_allclose([each.margin for each in found.phases], phases, rtol=HALF)
        assert found.modulus.margin == pytest.approx(min(distance), rel=HALF)
        assert found.stable


def test_a_loop_cut_at_its_input_closes_to_the_same_poles():
    """Poles of 1/(1 + L) are those of the closed loop, wherever it is cut."""
    plant, controller = pointing()
    closed = plant.feedback(controller)
    for at in ("rw", "angle", "rate"):
        loop = plant.cut(controller, at)
        np.testing.assert_allclose(np.sort_complex(np.linalg.eigvals(loop.A - loop.B @ loop.C)), np.sort_complex(closed.poles()),
                                   rtol=0, atol=eigenvalue_rounding(closed.A, FORMULA))


def test_the_gain_margin_is_where_stability_ends():
    """Turned up, or down, by a margin, a loop has poles on the imaginary axis."""
    plant, _ = pointing()
    slow = linear([[-0.2]], [[0.36, 0.84]], [[0.2]], inputs=["angle", "rate"], outputs="rw")
    found = plant.cut(slow, "rw").margins()
    assert found.gains
    for crossing in found.gains:
        at_border = linear(slow.A, crossing.margin*slow.B, slow.C, inputs=slow.inputs, outputs=slow.outputs)
        closed = plant.feedback(at_border)
        off = np.abs(closed.poles() - 2j*np.pi*crossing.frequency).min()
        assert off < eigenvalue_rounding(closed.A)


def test_narrow_resonances_between_points_of_a_grid_are_seen():
    """A mode with zeta = 1e-6 that sticks out above one, to 10: two crossings, 1e-6 sqrt(10^2 - 1) = 1e-5 beside its frequency, but
    for what the other mode adds, 0.25/(2 pi 7) = 0.006 of what crosses. There |L| changes by one in 1e-5 of the frequency."""
    quiet = modal(np.array([0.3, 7.0]), np.array([0.7, 1e-6]), np.array([0.5, 0.03])).select(outputs="rate")
    crossings = quiet.margins().phases
    assert len(crossings) == 2
    peak = 0.03**2/(2e-6*2*np.pi*7.0)
    assert [each.frequency/7.0 - 1 for each in crossings] == pytest.approx(1e-6*np.sqrt(peak**2 - 1)*np.array([-1, 1]), rel=0.006)
    assert abs(quiet.response([each.frequency for each in crossings]).magnitude - 1).max() < roundings(45, magnified=1e5)


def test_a_crossing_on_a_point_of_the_grid_is_seen():
    """Found for all points at once, the value there is zero; found alone, rounding has moved it to one side."""
    for off in (1e-17, 0.0, -1e-17):
        assert _crossings(np.array([1.0, 2.0, 3.0]), np.array([-1.0, 0.0, 1.0]), lambda x, off=off: (x - 2.0) + off) == [2.0]
        assert _crossings(np.array([1.0, 2.0, 3.0]), np.array([-1.0, 1e-17, 1.0]), lambda x, off=off: (x - 2.0) + off) == [2.0]


def test_a_delay_margin_is_the_delay_that_a_loop_bears():
    """L = 1/s: |L| = 1 at 1 rad/s, 90 deg: a delay of pi/2 s."""
    found = linear([[0.0]], [[1.0]], [[1.0]]).margins()
    assert found.phase == pytest.approx(90.0)
    assert found.delay.margin == pytest.approx(np.pi/2)
    assert found.gain == np.inf


def test_discrete_margins():
    control = pytest.importorskip("control")
    plant, controller = pointing()
    loop = plant.discretize(0.05).cut(controller.discretize(0.05, "tustin"), "rw")
    found = loop.margins()
    gain, phase, *_ = control.margin(loop.to_control())
    assert found.gain == pytest.approx(gain, rel=HALF)      # of splines through a grid of frequencies: control gives up polynomials
    assert found.phase == pytest.approx(phase, rel=HALF)    # here; they are as good as these


def test_an_algebraic_loop_is_named():
    """y = x + u and u = y: any u will do."""
    plant = linear([[-1.0]], [[1.0]], [[1.0]], [[1.0]], inputs="thruster", outputs="imu")
    with pytest.raises(ModelError, match=r"algebraic loop through D: thruster acts at once on imu.*give the controller a lag"):
        plant.feedback(linear([], [], [], [[1.0]], inputs="imu", outputs="thruster"), sign=1)
    fine = plant.feedback(linear([], [], [], [[1.0]], inputs="imu", outputs="thruster"))
    np.testing.assert_allclose(fine.D, 0.5)                 # y = u - y


@pytest.mark.parametrize(("call", "message"), [
    (lambda p, k: p.cut(k, "torque"), "the loop does not pass through 'torque'; it passes through rw, angle, rate"),
    (lambda p, k: p.feedback(k.discretize(0.1)), "the system is continuous, its controller discrete with dt = 0.1 s"),
    (lambda p, k: p.feedback(linear([], [], [], [[1.0]], inputs="angel", outputs="rw")), "no output 'angel', did you mean 'angle'"),
    (lambda p, k: p.feedback(k, sign=0), "sign is 0; give -1"),
    (lambda p, k: p.margins(), "1 inputs and 2 outputs; cut the loop"),
    (lambda p, k: linear([], [], [], [[-1.0]]).margins(), "D of the loop is -1"),
])
def test_bad_loops_are_named(call, message):
    with pytest.raises(StateError, match=message):
        call(*pointing())
