"""Whether steps are short enough, said before and after; and what "auto" makes of it."""
import math
import warnings

import numpy as np
import pytest

import bough
from bough.errors import StepWarning
from bough.integrate.eigenvalues import causes, fastest_of, without_local
from bough.integrate.integration import begin, integrate, step_lines
from bough.integrate.step_safety import GROWTH, bounces, check_step
from bough.integrate.stiff import StateJacobian
from tests.support.tolerance import CANCELLING, adaptive, differences


def robot(stiffness=1e5, damping=0.0):
    """A wrist on a gearbox spring, at the end of an arm that is much heavier."""
    s = bough.System("robot", gravity=(0, 0, -9.81))
    s.body("arm", joint=bough.Revolute("y", q0=0.3, stiffness=100.0), mass=20.0, com=(0, 0, -0.5), inertia=(2.0, 2.0, 0.1))
    s.body("wrist", parent="arm", at=(0, 0, -1), joint=bough.Revolute("x", stiffness=stiffness, damping=damping), mass=0.5,
           com=(0, 0.02, -0.05), inertia=(0.01, 0.01, 0.01))
    return s


def dense_rates(model, q):
    """rad/s of M^-1 K, K from the potential energy by differences of its gradient, the inverse dynamics at rest."""
    def force(d):
        return model.inverse_dynamics(q + d, np.zeros(model.nv), np.zeros(model.nv))
    K = np.array([(force(1e-6*unit) - force(-1e-6*unit))/2e-6 for unit in np.eye(model.nv)])
    return np.sqrt(np.abs(np.linalg.eigvals(np.linalg.solve(model.mass_matrix(q), K))))


def start(system, method="rk4", dt=1e-3, **options):
    return begin(system.compile(), until=1.0, method=method, dt=dt, **options).runs[0]


def test_the_fastest_motion_is_that_of_the_assembled_system():
    """Not that of the wrist by itself: beside dense eigenvalues; and of imex2, what is left without springs."""
    run = start(robot())
    exact = dense_rates(run.model, run.model.q0).max()
    check = check_step(run)
    assert check.fastest.rate == pytest.approx(exact, rel=differences(1e-6))     # of the witness
    assert "wrist" in check.where
    assert check.longest == pytest.approx(2*2**0.5/exact, rel=5e-3)         # rk4 reaches 2 sqrt(2) on the imaginary axis
    assert check_step(start(robot(), "euler-cromer")).longest == pytest.approx(2.0/exact, rel=GROWTH)      # let pass in a step
    rest = check_step(start(robot(), "imex2"))
    assert rest.explicit.rate < 10.0
    assert rest.longest > 0.1


def test_a_step_that_is_too_long_is_told_before_and_explained_after():
    system = robot()
    longest = check_step(start(system)).longest
    told = pytest.warns(StepWarning, match="will diverge.*rk4 is stable up to")
    with told, pytest.raises(bough.SimulationError, match="stable up to"):
        bough.simulate(system, until=5e4*2*longest, dt=2*longest, progress=False)
    told = pytest.warns(StepWarning, match="will diverge.*rk4 is stable up to")       # short runs, too: the spring alone says so
    with told, pytest.raises(bough.SimulationError, match="stable up to"):
        bough.simulate(system, until=200*2*longest, dt=2*longest, v0=[0.0, 1.0], progress=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = bough.simulate(system, until=5e4*0.3*longest, dt=0.1*longest, progress=False)
    assert "fastest motion" in result.summary


def test_simulators_and_batches_are_looked_at_when_they_begin():
    dt = 2*check_step(start(robot())).longest
    with pytest.warns(StepWarning, match="will diverge"):
        bough.Simulator(robot(), dt=dt).step()
    with pytest.warns(StepWarning, match="will diverge"):
        bough.Simulator(robot(), dt=dt).advance(until=3*dt)
    with pytest.warns(StepWarning, match="will diverge"):
        bough.simulate(robot(), v0=np.zeros((5, 2)), until=3*dt, dt=dt, progress=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sim = bough.Simulator(robot(), dt=0.1*dt)
        sim.step(3)
        sim.advance(until=dt)


def parked(**law):
    """An arm that brakes hold against gravity."""
    s = bough.System("parked", gravity=(0, 0, -9.81))
    s.body("upper", joint=bough.Revolute("y", q0=0.5), mass=10.0, com=(0.4, 0, 0), inertia=(0.1, 0.5, 0.5))
    s.body("lower", parent="upper", at=(0.8, 0, 0), joint=bough.Revolute("y", q0=0.4), mass=5.0, com=(0.3, 0, 0),
           inertia=(0.1, 0.2, 0.2))
    s.friction("brake", "upper", coulomb=150.0, **law)
    s.friction("elbow", "lower", coulomb=60.0, **law)
    return s.compile()


def test_a_parked_arm_that_drifts_is_told_and_implicit_steps_hold_it():
    """Smooth friction that is stiff: at 1 ms rk4 is a hundred times beyond its longest stable step, and drifts by a radian, without
    diverging; it is told before and after. imex2 creeps as the law says it should, v = v0 r/sqrt(1 - r^2), r = load/coulomb. What
    sticks does neither, and nothing is said of it."""
    model = parked(law="regularized", speed=1e-3)
    with pytest.warns(StepWarning) as told:
        run = bough.simulate(model, until=20.0, dt=1e-3, sample_rate=5, progress=False)
    assert ["will diverge" in str(each.message) for each in told] == [True, False]
    assert "stable, but its error" in str(told[1].message)
    loads = np.abs(model.inverse_dynamics(model.q0, np.zeros(2), np.zeros(2)))/[150.0, 60.0]
    creep = 20.0*1e-3*loads/np.sqrt(1 - loads**2)
    assert np.abs(run.data.q.values[-1] - model.q0).max() > 10*creep.max()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StepWarning)
        smooth = bough.simulate(model, until=20.0, dt=1e-3, method="imex2", sample_rate=5, progress=False)
    np.testing.assert_allclose(np.abs(smooth.data.q.values[-1] - model.q0), creep, rtol=0.05)     # the load changes a little
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for method in ("rk4", "imex4"):
            stuck = bough.simulate(parked(), until=60.0, dt=1e-3, method=method, sample_rate=5, progress=False)
            assert (stuck.data.q.values == model.q0).all()


def test_a_stable_run_that_is_wrong_is_told():
    """rk4 just below its limit: stable, and the wrist's ringing is all lost."""
    system = robot()
    longest = check_step(start(system)).longest
    with pytest.warns(StepWarning, match="stable, but its error"):
        result = bough.simulate(system, until=6e4*0.9*longest, dt=0.9*longest, v0=[0.5, 5.0], progress=False)
    assert "of the range of" in result.summary


@bough.controller(outputs=["angle"], inputs=["motor"])
def stiff_servo(t, y, u):
    u[0] = -1e6*y[0]


def test_what_is_not_local_is_named():
    s = robot()
    s.input("motor", coordinate="arm.ry")
    s.output("angle", coordinate="arm.ry")
    run = start(s, "imex2", laws=[stiff_servo])
    calm = without_local(run.model.tables, run.pars)
    fast = fastest_of(run, pars=calm)
    assert fast.rate > 100.0
    assert causes(run, calm, fast.rate) == ["the gains of compiled laws"]
    assert "gains of compiled laws" in check_step(run, dt=0.1).warning(0.1)


@pytest.mark.parametrize(("options", "method"), [({"dt": 1e-5}, "rk4"), ({"dt": 5e-3}, "imex4"), ({"rtol": 1e-6}, "imex43"),
                                                 ({"rtol": 1e-10}, "dopri5")])
def test_auto_says_what_it_took_and_why(options, method):
    result = bough.simulate(robot(1e6), until=0.02, method="auto", progress=False, **options)
    assert result.trajectory.method == method
    assert f"{method}: " in result.summary


def test_auto_without_anything_stiff_is_explicit():
    s = bough.System("pendulum", gravity=(0, 0, -9.81))
    s.body("bob", joint=bough.Revolute("y"), mass=2.0, com=(0, 0, -1))
    assert bough.simulate(s, until=0.1, dt=0.01, method="auto", progress=False).trajectory.method == "rk4"
    assert bough.simulate(s, until=0.1, method="auto", progress=False).trajectory.method == "dopri5"
    assert bough.Simulator(s, method="auto", dt=0.01).method == "rk4"
    with pytest.raises(bough.StateError, match="not both"):
        bough.simulate(s, until=0.1, method="auto", dt=0.01, rtol=1e-3)


def spinner():
    """A free body with wheels and a link, in orbit: all kinds of entries of x."""
    s = bough.System("spinner", gravity=bough.CentralGravity(3.986e14, (7e6, 0, 0), (0, 7546, 0)))
    s.body("bus", joint=bough.Free(v0=[0, 0, 0, 0.1, 0.2, 0.3]), mass=100.0, com=(0.1, 0, 0), inertia=(20.0, 30.0, 40.0))
    s.body("boom", parent="bus", joint=bough.Revolute("y", stiffness=50.0, damping=1.0, q0=0.2), at=(1, 0, 0), mass=5.0,
           com=(1, 0, 0), inertia=(0.1, 2.0, 2.0))
    s.wheel("rw", body="bus", axis=(0, 0, 1), inertia=0.02, speed=300.0, torque=0.01)
    return s


def held_loop():
    """A loop that Baumgarte's stabilization holds, under a law with a state."""
    s = bough.System("triangle", gravity=(0, -9.81, 0))
    s.body("a", joint=bough.Revolute("z", q0=1.0), mass=1.0, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
    s.body("b", parent="a", at=(1, 0, 0), joint=bough.Revolute("z", q0=-2.0), mass=1.0, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
    s.loop("rail", joint=bough.Joint(translations="x", rotations="z"), a=bough.Frame("world"), b=bough.Frame("b", at=(1, 0, 0)))
    s.input("motor", coordinate="a")
    s.output("angle", coordinate="a")
    return s


@bough.controller(outputs=["angle"], inputs=["motor"], states=[0.5])
def curved(t, y, u, z, zdot):
    u[0], zdot[0] = -3.0*math.sin(y[0]) - z[0]*z[0], y[0]*z[0]


@pytest.mark.parametrize(("system", "laws"), [(spinner, []), (held_loop, [curved])])
def test_the_derivatives_for_scipy_are_exact(system, laws):
    """Beside central differences of the rates; by numbers of quaternions as they are, too."""
    run = begin(system().compile(), until=1.0, method="radau", laws=laws).runs[0]
    x, step = run.x[0], 1e-5
    exact, rough = StateJacobian(run, 0)(0.0, x), np.zeros((len(x), len(x)))
    for j, size in enumerate(np.maximum(1.0, np.abs(x))):
        forth, back = (run.rates(0, 0.0, 0.0, x + sign*step*size*np.eye(len(x))[j])[0] for sign in (1.0, -1.0))
        rough[:, j] = (forth - back)/(2.0*step*size)
    assert np.abs((exact - rough)/(np.abs(rough).max(axis=1, keepdims=True) + 1.0)).max() < differences(1e-5)  # the step


def test_a_sampled_law_does_not_start_a_stiff_method_anew():
    """radau with a law of 50 Hz goes on with the derivatives that it has: it needs fewer than the law is asked."""
    s = robot(1e4, 1.0)
    s.input("motor", coordinate="arm.ry")
    s.output("angle", coordinate="arm.ry")
    law = bough.Law(lambda t, y: {"motor": -5.0*y["angle"]}, outputs=["angle"], inputs=["motor"], period=0.02)
    run = begin(s.compile(), until=1.0, method="radau", laws=[law], rtol=1e-5, atol=1e-8)
    run.finish(1.0)
    assert run.failure is None
    assert run.runs[0].jacobians[0].evaluations < 50
    fine = bough.simulate(s, until=1.0, dt=1e-4, laws=[law], progress=False)
    assert np.abs(run.trajectory().x[0, -1] - fine.trajectory.x[0, -1]).max() < adaptive(1e-5, run.trajectory().steps)  # its rtol


def toothed(k, d=0.0, **options):
    """Two wheels on elastic teeth with play, the first one turning."""
    s = bough.System("teeth", gravity=(0, 0, 0))
    s.body("a", joint=bough.Revolute("z", v0=1.0), mass=1.0, inertia=(1, 1, 0.1))
    s.body("b", joint=bough.Revolute("z"), mass=1.0, inertia=(1, 1, 0.3))
    s.coupling("teeth", {"a": 2.0, "b": -2.0}, stiffness=k/4, damping=d/4, backlash=0.04, **options)
    return s


def test_teeth_that_bounce_in_steps_too_long_for_it_are_told_by_name():
    """They touch for pi/w, w^2 = k (1/J1 + 1/J2), and lose nothing. Steps of 5 ms that do not look for contacts are stable but
    leave the energy off by a half or more, and say so; those that find them say nothing (see `test_teeth`), nor do steps that
    follow a bounce, nor an adaptive method, nor teeth that a preload keeps on one flank."""
    w = math.sqrt(1e4*(1/0.1 + 1/0.3))
    for method in ("rk4", "imex2"):
        run = start(toothed(1e4), method)
        assert [each.rate for each in bounces(run, run.x[0])] == pytest.approx([w], rel=CANCELLING)
    assert "coupling 'teeth': its teeth touch for 0.0086 s" in dict(reversed(step_lines(toothed(1e4).compile())))[""]

    def energy(**options):
        return bough.simulate(toothed(1e4), until=1.0, sample_rate=20, progress=False, **options).data.total_energy.values[-1]
    model = toothed(1e4).compile()
    for method in ("imex2", "imex4"):
        with pytest.warns(StepWarning, match="coupling 'teeth': its teeth touch for 0.0086 s.*dt is 0.005 s"):
            blind = integrate(model, until=1.0, sample_rate=20, method=method, dt=5e-3, teeth=())
        q, v = blind.x[0, -1, :2], blind.x[0, -1, 2:4]
        assert abs((model.kinetic_energy(q, v) + model.potential_energy(q))/0.05 - 1.0) > 0.5
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert energy(method="imex2", dt=5e-4) == pytest.approx(0.05, rel=5e-3)                # one contact loses (w dt)^3 = 6e-3
        assert energy(method="imex43", rtol=1e-6, atol=1e-9) == pytest.approx(0.05, rel=adaptive(1e-6, 500))       # its steps
        pressed = toothed(1e4, 20.0, preload=5.0)
        bough.simulate(pressed, q0=[0.0113, 0.0], v0=[0.0, 0.0], until=0.2, dt=5e-3, method="imex2", progress=False)
        bough.simulate(toothed(1e4), v0=[1e-3, 0.0], until=0.5, dt=5e-3, method="imex2", progress=False)        # never touches
