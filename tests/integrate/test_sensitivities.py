"""Derivatives of runs: against closed forms, and against runs of other systems by the same steps.

Tolerances: differences of fourth order with steps h = 1e-3 neglect h^4 = 1e-12 of fifth derivatives, and leave EPS/h = 2e-13
for each rounding of a run, some hundreds: 1e-9; 1e-8 where the derivatives of higher order are ten times as large (numbers of
the description, accelerations).
"""
import math

import numpy as np
import pytest

import bough
from bough.analyze.parameters import STENCIL, parameter
from bough.errors import StateError
from tests.support.compare import assert_same
from tests.support.tolerance import CANCELLING, SWEEP, oscillation


def arm(torque=0.0):
    s = bough.System("arm", gravity=(0, 0, -2.0))
    s.body("hub", joint=bough.Spherical(), mass=5.0, com=(0.1, 0, 0), inertia=(1, 2, 2.5))
    s.body("link", parent="hub", at=(0.5, 0, 0), joint=bough.Revolute("y", stiffness=3.0, damping=0.2, torque=torque), mass=1.0,
           com=(0.3, 0, 0), inertia=(0.01, 0.1, 0.1))
    s.wheel("rw", "hub", "x", 0.02, 50.0, torque=0.01)
    s.input("motor", coordinate="link.ry")
    s.output("tip", position=bough.Frame("link", at=(1, 0, 0)))
    s.output("felt", felt_acceleration=bough.Frame("link", at=(1, 0, 0)), axes="body")
    return s


STATE, MOTOR = {"q0": np.array([0.1, 0.2, -0.1, 0.9695, 0.3]), "v0": np.array([0.3, -0.2, 0.5, 1.0])}, 0.2
STATE["q0"][:4] /= np.linalg.norm(STATE["q0"][:4])
NAMES = ("link.stiffness", "link.mass", "hub.inertia", "rw.inertia")


def end(system, **changes):
    """q, v and the wheel's speed at the end of a run."""
    record = {"record": ["state", "wheels"], "sample_rate": 2.5}
    data = bough.simulate(system.compile(), **{**STATE, **record, "until": 0.4, "dt": 0.02, **changes}).data.isel(time=-1)
    return np.concatenate([data.q.values, data.v.values, data.wheel_speed.values])


@pytest.fixture(scope="module")
def found():
    return bough.sensitivities(arm().compile(), **STATE, inputs={"motor": MOTOR}, until=0.4, dt=0.02, parameters=NAMES,
                               by=["q0", "v0", "tau", "inputs"], outputs=None)


def last(found, name, key=None):
    """Derivatives of q, v and wheel at the end."""
    parts = [getattr(trace, name) for trace in (found.q, found.v, found.wheels)]
    return np.concatenate([(part if key is None else part[key])[-1] for part in parts])


def test_the_run_is_that_of_simulate(found):
    np.testing.assert_allclose(last(found, "value"), end(arm(MOTOR)), rtol=SWEEP, atol=SWEEP)


def test_by_parameters_against_other_systems(found):
    """Differences of fourth order of whole runs: 1e-12 is neglected, rounding of 1e-16 over 1e-3 grows little in 20 steps."""
    for name in NAMES:
        ours = last(found, "dparameters", name).reshape(10, -1)
        for entry, step, systems in parameter(arm(MOTOR), name).steps():
            want = sum(weight*end(other) for weight, other in systems)/step
            assert_same(ours[:, entry], want, 1e-8, scale=np.abs(ours).max())


def test_by_initial_speeds_and_inputs(found):
    h = 1e-3
    for i in range(4):
        moved = [end(arm(MOTOR), v0=STATE["v0"] + times*h*np.eye(4)[i])*weight/h for times, weight in STENCIL]
        assert_same(last(found, "dv0")[:, i], sum(moved), 1e-9)
    moved = [end(arm(MOTOR + times*h))*weight/h for times, weight in STENCIL]
    assert_same(last(found, "dinputs", "motor")[:, 0], sum(moved), 1e-9)
    assert_same(found.v.dtau[-1][:, 3], found.v.dinputs["motor"][-1][:, 0], CANCELLING)


def test_outputs_follow_the_state(found):
    """What the tip and the accelerometer show, by initial speeds: against outputs of moved runs."""
    h, model, want = 1e-3, arm(MOTOR).compile(), {"tip": 0.0, "felt": 0.0}
    for times, weight in STENCIL:
        x = end(arm(MOTOR), v0=STATE["v0"] + times*h*np.eye(4)[3])
        for name, value in model.outputs(x[:5], x[5:9], wheels=x[9:]).items():
            want[name] = want[name] + weight/h*value
    for name, value in want.items():
        assert_same(found.outputs[name].dv0[-1][:, 3], value, 1e-8)


def test_closed_form():
    """cos(sqrt(k) t): by k and by the start; RK4's own error is of fourth order."""
    s = bough.System("oscillator")
    s.body("cart", joint=bough.Prismatic("x", stiffness=4.0), mass=1.0)
    found = bough.sensitivities(s.compile(), [1.0], [0.0], until=1.0, dt=0.005, parameters=["cart.stiffness"], by=["q0"], every=40)
    t = found.t
    error = oscillation("rk4", 2.0, 0.005, 1.0)                             # w = 2 rad/s, dt = 0.005 s
    np.testing.assert_allclose(found.q.dq0[:, 0, 0], np.cos(2*t), atol=error)
    np.testing.assert_allclose(found.q.dparameters["cart.stiffness"][:, 0], -t*np.sin(2*t)/4, atol=error)
    assert repr(found) == "Sensitivities of 6 samples, 0 to 1 s, of q (1), v (1) by q0, cart.stiffness"


@pytest.mark.parametrize(("options", "words"), [
    ({}, "nothing to derive by"), ({"by": ["q"]}, "any of q0, v0, tau, inputs"), ({"by": ["q0"], "until": 0.05}, "multiple"),
    ({"by": ["q0"], "method": "radau", "dt": None}, "explicit steps: rk4"), ({"parameters": ["link.mas"]}, "did you mean 'mass'"),
    ({"by": ["q0"], "method": "dopri5", "dt": None, "every": 2}, "give sample_rate"),
    ({"by": ["q0"], "until": -1.0}, "until is -1"),
    ({"by": ["q0"], "laws": [bough.Law(lambda t, y: {})]}, "compiled laws without a period")])
def test_errors_say_what_to_do(options, words):
    with pytest.raises(StateError, match=words):
        bough.sensitivities(arm().compile(), **{**STATE, "until": 0.4, "dt": 0.02, **options})


# ---- loops, laws, adaptive steps -----------------------------------------------------------------------------------------
@bough.controller(outputs=["angle", "rate"], inputs=["motor"], states=[0.0])
def servo(t, y, u, z, zdot):
    zdot[0] = y[0] - 1.0
    u[0] = -5.0*math.sin(y[0] - 1.0) - 0.8*y[1] - 2.0*z[0]


@bough.controller(outputs=["angle", "rate"], inputs=["motor"], states=[0.0])
def limited_servo(t, y, u, z, zdot):
    zdot[0] = y[0] - 1.0
    u[0] = -5.0*math.sin(y[0] - 1.0) - 0.8*y[1] - 2.0*z[0] + min(0.3, max(-0.3, y[0]))


def four_bar():
    s = bough.System("four-bar", gravity=(0, -9.81, 0))
    s.body("crank", joint=bough.Revolute("z", damping=0.05), mass=1.0, com=(0.25, 0, 0), inertia=(0.02, 0.02, 0.02))
    s.body("coupler", parent="crank", at=(0.5, 0, 0), joint=bough.Revolute("z"), mass=1.5, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
    s.body("rocker", at=(1.1, 0, 0), joint=bough.Revolute("z", stiffness=3.0), mass=0.8, com=(0.4, 0, 0), inertia=(0.1, 0.1, 0.1))
    s.loop("pin", joint=bough.Revolute("z"), a=bough.Frame("coupler", at=(1, 0, 0)), b=bough.Frame("rocker", at=(0.8, 0, 0)))
    s.input("motor", coordinate="crank")
    s.output("angle", coordinate="crank")
    s.output("rate", rate="crank")
    s.output("felt", felt_acceleration=bough.Frame("coupler", at=(1, 0, 0)))
    s.output("energy", energy="total")
    return s


@pytest.mark.parametrize(("law", "options"), [(limited_servo, {"dt": 0.01}), (servo, {"method": "dopri5", "rtol": 1e-12})])
def test_a_loop_under_a_law_by_fixed_and_adaptive_steps(law, options):
    """Loops are closed after every step, the law has a state of its own and a limit: against runs that start beside, or whose
    rocker stands elsewhere, which all are closed first.  Fixed steps are the same in all of them; the adaptive ones are not, so
    that what their tolerance leaves, 1e-12, is divided by the differences' step."""
    model, names = four_bar().compile(), ("rocker.stiffness", "coupler.mass", "rocker.at")
    q0, v0 = model.assemble([1.2, -0.5, 1.0], [1.0, 0.0, 0.0], hold=["crank"])
    run = {"until": 0.6, "laws": [law], "sample_rate": 1/0.15, **options}       # 0.15 s is no multiple of a step of either

    def end(system, q0=q0, v0=v0):
        other = system.compile()
        x = bough.simulate(other, q0=q0, v0=v0, **run).data.isel(time=3)
        return np.concatenate([x.q.values, x.v.values])

    found = bough.sensitivities(model, q0, v0, parameters=names, by=["q0", "v0"], outputs=["felt", "energy"], **run)
    assert not found.by_differences
    ours = lambda name, key=None: np.concatenate([(part if key is None else part[key])[3] for part in (  # noqa: E731
        getattr(trace, name) for trace in (found.q, found.v))])
    np.testing.assert_allclose(ours("value"), end(four_bar()), rtol=1e-11, atol=1e-11)                # rtol 1e-12 at some steps
    h = 1e-4
    tolerance = 1e-12/h
    for i, unit in enumerate(np.eye(3)):
        assert_same(ours("dv0")[:, i], sum(weight*end(four_bar(), v0=v0 + times*h*unit) for times, weight in STENCIL)/h, tolerance)
        assert_same(ours("dq0")[:, i], sum(weight*end(four_bar(), q0=q0 + times*h*unit) for times, weight in STENCIL)/h, tolerance)
    for name in names:
        for entry, step, systems in list(parameter(four_bar(), name).steps())[:2]:                     # in the plane
            want = sum(weight*end(other) for weight, other in systems)/step
            assert_same(ours("dparameters", name).reshape(6, -1)[:, entry], want, tolerance)
    work = found.outputs["energy"].value[:, 0]                                  # the law acts on what the accelerometer shows
    assert np.ptp(work) > 0.01
    assert np.abs(found.outputs["felt"].dv0[-1]).max() > 0.1


@pytest.mark.slow
def test_a_law_that_duals_do_not_know_is_derived_by_differences():
    @bough.controller(outputs=["angle", "rate"], inputs=["motor"])
    def unknown(t, y, u):
        u[0] = -0.5*np.linalg.norm(y)

    @bough.controller(outputs=["angle", "rate"], inputs=["motor"])
    def known(t, y, u):
        u[0] = -0.5*math.sqrt(y[0]**2 + y[1]**2)

    model = four_bar().compile()
    q0, v0 = model.assemble([1.2, -0.5, 1.0], [1.0, 0.0, 0.0], hold=["crank"])
    found = [bough.sensitivities(model, q0, v0, until=0.1, dt=0.01, by=["v0"], laws=[law]) for law in (unknown, known)]
    assert found[0].by_differences == ("unknown",)
    assert "by differences of law unknown" in repr(found[0])
    assert_same(found[0].v.dv0, found[1].v.dv0, 1e-10)      # differences of a law leave 1e-12, in 10 steps of 4 stages


@pytest.mark.parametrize(("change", "options", "words"), [
    (lambda s: s.stop("end", "crank.rz", above=1.5, stiffness=100.0), {}, "has events, stops, sticking friction or backlash"),
    (lambda s: None, {"method": "euler-cromer"}, "take rk4 or dopri5"),
    (lambda s: None, {"laws": [servo], "inputs": {"motor": 1.0}}, "'motor' is given a number, but law 'servo' sets it")])
def test_what_runs_cannot_have_is_named(change, options, words):
    s = four_bar()
    change(s)
    with pytest.raises(StateError, match=words):
        bough.sensitivities(s.compile(), until=0.1, dt=0.01, by=["v0"], **options)
