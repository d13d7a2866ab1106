"""Implicit steps in O(N): order, damping of what a step does not resolve, momentum, loops, given motion, lanes."""
import numpy as np
import pytest

import bough
from bough.integrate import integrate
from bough.integrate.methods import IMPLICIT_FIXED, imex2, imex4
from bough.integrate.step_safety import growth
from tests.support.closed_loops import gaps
from tests.support.resumed import four_bar
from tests.support.tolerance import CANCELLING, CLOSED, STEPPED, adaptive, refined

ORDER = {"imex2": 2, "imex4": 4}


def arm(stiffness, damping=0.0, axis="x"):
    """Two links, the first on a spring."""
    s = bough.System("arm", gravity=(0, 0, -9.81))
    s.body("upper", joint=bough.Revolute("y", stiffness=stiffness, damping=damping), mass=2.0, com=(0, 0, -1), inertia=(.1, .1, .1))
    s.body("lower", parent="upper", at=(0, 0, -2), joint=bough.Revolute(axis), mass=1.0, com=(0, 0, -.5), inertia=(.1, .1, .1))
    return s.compile()


def observed(errors):
    return np.log2(np.array(errors[:-1])/np.array(errors[1:]))


def end(model, until=1.0, **options):
    run = integrate(model, until=until, **options)
    assert run.failure is None
    return run.x[0, -1]


@pytest.mark.parametrize("method", IMPLICIT_FIXED)
def test_orders_where_steps_resolve_the_springs(method):
    """As rk4 with a hundredth of the step sees it; the error falls as the order says, to within a tenth of it."""
    model, start = arm(20.0, 0.3), {"q0": [0.5, 0.3], "v0": [0.0, 1.0]}
    reference = end(model, method="rk4", dt=1e-4, **start)
    errors = [np.abs(end(model, method=method, dt=dt, **start) - reference).max() for dt in (0.01, 0.005, 0.0025)]
    assert (observed(errors) > 0.9*ORDER[method]).all()


@pytest.mark.parametrize("method", IMPLICIT_FIXED)
def test_orders_where_a_spring_is_stiff(method):
    """A spring of 1 MN m/rad, far above 20 Hz with all that it carries, bent by a link that swings below.  Its deflection, which
    load and inertia of the other give, and all the rest converge with order 2 at least, once the first jolt has died away, but for
    the rate of that deflection: no worse is what the theory page says."""
    model, start = arm(1e6, 2e3, "y"), {"q0": [0.0, 0.4]}
    late = slice(4, None)
    reference = integrate(model, until=1.0, method="rk4", dt=5e-5, sample_rate=10, **start).x[0, late]
    scale, errors = np.abs(reference).max(axis=0), []
    for dt in (0.02, 0.01, 0.005):
        run = integrate(model, until=1.0, method=method, dt=dt, sample_rate=10, **start)
        errors.append((np.abs(run.x[0, late] - reference)/scale).max(axis=0))
    order = np.log2(errors[0]/errors[-1])/2
    assert (order[[0, 1, 3]] > 0.9*min(ORDER[method], 3)).all() if method == "imex4" else (order > 1.7).all()
    assert errors[-1].max() < 1e-3                                  # (w h)^2 w of the swing, w = 3.6 rad/s, in a second


def implicit_function(method, z):
    """R(z) = 1 + z b (1 - z I)^-1 1 of the implicit triangle."""
    tableau = IMPLICIT_FIXED[method]()
    s = int(tableau[0])
    b, triangle = tableau[8 + s + s*s:8 + 2*s + s*s], tableau[8 + 7*s + s*s:].reshape(s, s)
    return 1.0 + z*(b @ np.linalg.solve(np.eye(s) - z*triangle, np.ones(s)))


@pytest.mark.parametrize("method", IMPLICIT_FIXED)
def test_a_step_on_an_oscillator_is_the_stability_function(method):
    """x1 = R(h A) x0, so |R| tells what is damped.  Resolved: the amplitude that a step loses is of a higher order than the method.
    Not resolved: almost all of it is gone at once."""
    R = implicit_function(method, 1j)
    found = end(oscillator(), until=0.01, method=method, dt=0.01, q0=[1e-3])
    assert found == pytest.approx([1e-3*R.real, -0.1*R.imag], rel=CANCELLING)
    for w in (0.05, 0.1, 0.2):
        # |R(iw)| = |exp(iw)| to the order of the method, with a constant below 0.1
        assert 0.0 <= 1.0 - abs(implicit_function(method, 1j*w)) < 0.1*w**(ORDER[method] + 1)
    for w in np.geomspace(0.1, 1e6, 50):
        assert abs(implicit_function(method, 1j*w)) <= 1.0 + CANCELLING
    assert abs(implicit_function(method, 1e4j)) < 1e-3                # L-stable: it falls as 1/w


def oscillator():
    """1 kg on a spring of 1e4 N/m: a radian in 0.01 s."""
    s = bough.System("oscillator", gravity=(0, 0, 0))
    s.body("block", joint=bough.Prismatic("x", stiffness=1e4), mass=1.0)
    return s.compile()


def test_samples_inside_a_step_follow_a_stiff_deflection():
    """A force K t^3 on a stiff spring K bends it by t^3, in all stages and on the cubic through them, although its rate is wrong at
    the start; what is left is of the size of m a/K, with accelerations a of rate/step."""
    s, K = bough.System("press", gravity=(0, 0, 0)), 1e12
    s.body("block", joint=bough.Prismatic("x", stiffness=K, v0=1.0), mass=1.0)
    s.input("force", coordinate="block.x")
    s.output("place", coordinate="block.x")

    @bough.controller(outputs=["place"], inputs=["force"])
    def press(t, y, u):
        u[0] = 1e12*t**3
    for options in ({"method": "imex4", "dt": 0.1}, {"method": "imex43", "rtol": 1.0, "atol": 1e3}):
        run = integrate(s.compile(), until=0.1, sample_rate=200, laws=[press], **options)
        assert np.abs(run.x[0, :, 0] - run.t**3).max() < 1e3/K


def test_explicit_limits_are_those_that_the_docs_tell():
    """Of forces that act explicitly: how many radians a step may take, found by bisection on the matrix of the step."""
    for tableau, limit in ((imex2(), 2.1), (imex4(), 0.7)):
        assert growth(tableau, 1j*limit) <= 1.001 < growth(tableau, 1j*4.0)


def chain(stiffness):
    """Free links on springs."""
    s = bough.System("chain", gravity=(0, 0, 0))
    s.body("bus", joint=bough.Free(), mass=10.0, com=(0.1, 0, 0), inertia=(2.0, 3.0, 4.0))
    for k, axis in enumerate("yzx"):
        s.body(f"link{k}", parent=f"link{k - 1}" if k else "bus", at=(1.0, 0, 0),
               joint=bough.Revolute(axis, stiffness=stiffness, damping=1e-3*stiffness), mass=1.0, com=(0.5, 0, 0.1),
               inertia=(0.01, 0.1, 0.1))
    return s.compile()


def momentum_drift(model, method, dt):
    """Of all six momenta, as a share of the largest."""
    v0 = np.concatenate([np.random.default_rng(3).normal(size=6), np.zeros(3)])
    run = integrate(model, v0=v0, until=1.0, dt=dt, method=method, sample_rate=20)
    P = np.array([model.momentum(*np.split(x, [model.nq])) for x in run.x[0]])
    return np.abs(P - P[0]).max()/np.abs(P[0]).max()


def test_momentum_is_kept_as_by_rk4():
    """No Runge-Kutta method keeps momenta that are not linear in x, but to its order.  Where both resolve the springs, imex4 does
    so about as well as rk4; where springs are stiff, that they act at other stages changes nothing: they act inside."""
    soft, stiff = chain(100.0), chain(1e6)
    assert momentum_drift(soft, "imex4", 2e-3) < 10*momentum_drift(soft, "rk4", 2e-3) + STEPPED      # about as well
    for method, size in (("imex2", 1e-3), ("imex4", 1e-6)):
        coarse, fine = (momentum_drift(stiff, method, dt) for dt in (1e-2, 5e-3))
        assert coarse < size
        assert fine < coarse/2**(0.8*ORDER[method])


def stiff_four_bar():
    """The rocker on a stiff spring."""
    stiff = bough.System("stiff four-bar", gravity=(0, 0, -9.81))
    for body in four_bar().bodies.values():
        joint = bough.Revolute("y", q0=body.joint.q0[0], stiffness=3e4 if body.name == "rocker" else 0.0, rest=-1.4, damping=5.0)
        stiff.body(body.name, parent=body.parent, at=body.at, joint=joint, mass=body.mass, com=body.com, inertia=body.inertia)
    stiff.loop("pin", joint=bough.Revolute("y"), a=bough.Frame("coupler", at=(1, 0, 0)), b=bough.Frame("rocker", at=(0.8, 0, 0)))
    return stiff.compile()


@pytest.mark.parametrize("options", [{"method": "imex2", "dt": 5e-3}, {"method": "imex4", "dt": 5e-3},
                                     {"method": "imex43", "rtol": 1e-5, "atol": 1e-8}], ids=lambda options: options["method"])
def test_loops_stay_closed_to_rounding(options):
    """Position and speed, at every sample; and the motion is that of rk4 with short steps, to the method's order or to rtol."""
    model = stiff_four_bar()
    run = integrate(model, until=1.0, sample_rate=40, **options)
    reference = integrate(model, until=1.0, method="rk4", dt=1e-4, sample_rate=40)
    q, v = run.x[0, :, :model.nq], run.x[0, :, model.nq:]
    assert np.abs(gaps(model, q, v)).max() < CLOSED
    off = np.abs(run.x - reference.x).max()
    if "dt" in options:
        fine = integrate(model, until=1.0, sample_rate=40, **options | {"dt": options["dt"]/2})
        assert np.abs(fine.x - reference.x).max() < refined(off, ORDER[options["method"]])     # dt was halved
    else:
        assert off < adaptive(options["rtol"], run.steps)*np.abs(reference.x).max()          # each step its rtol


def test_a_batch_is_as_its_members():
    """Lanes beside one state at a time: to rounding, with parameters of their own too."""
    model, starts = arm(1e5, 1.0), np.array([[0.1*i, 0.3] for i in range(5)])
    masses = {"lower.mass": [1.0, 1.1, 1.2, 1.3, 1.4]}
    for method in ("imex2", "imex4"):
        whole = integrate(model, q0=starts, until=0.5, dt=5e-3, method=method, parameters=masses)
        for i in (0, 3, 4):
            one = integrate(model.with_parameters({"lower.mass": masses["lower.mass"][i]}), q0=starts[i], until=0.5, dt=5e-3,
                            method=method)
            assert np.abs(whole.x[i] - one.x[0]).max() < STEPPED*np.abs(one.x[0]).max()  # lanes round otherwise


def test_held_joints_and_events_inside_a_step():
    """A latch that catches a swinging link is found inside a step of 5 ms, and a prescribed joint goes where it must."""
    s = bough.System("held", gravity=(0, 0, -9.81))
    s.body("upper", joint=bough.Revolute("y", motion=bough.motion.Harmonics([(0.3, 1.0, 0.0)])), mass=2.0, com=(0, 0, -1))
    s.body("lower", parent="upper", at=(0, 0, -1), joint=bough.Revolute("y", q0=0.2, damping=0.5), mass=1.0, com=(0, 0, -1))
    s.latch("catch", coordinate="lower.ry", at=-0.1)
    model = s.compile()
    fine = bough.simulate(model, until=1.0, method="rk4", dt=1e-4, progress=False)
    for options in ({"method": "imex4", "dt": 5e-3}, {"method": "imex43", "rtol": 1e-8, "atol": 1e-10}):
        found = bough.simulate(model, until=1.0, sample_rate=100, progress=False, **options)
        assert found.events[0].time == pytest.approx(fine.events[0].time, abs=1e-7)      # 1e-8 of the motion, at 0.1 rad/s
        moved = np.array([model.motion(t)["upper.ry"][0] for t in found.time])
        assert np.abs(found.data.q.sel(q_name="upper.ry").values - moved).max() < STEPPED


def test_dynamics_that_implicit_methods_do_not_have():
    with pytest.raises(bough.StateError, match="dense"):
        integrate(arm(10.0), until=1.0, dt=0.1, method="imex2", dynamics="dense")
