"""How runs behave: batches, parameter sets, controllers, grids, failures, interrupts."""
import numpy as np
import pytest

import bough
from bough.integrate import integrate
from tests.support.compare import assert_same
from tests.support.small_systems import floating_arm, pendulum, split, start_of
from tests.support.tolerance import CANCELLING, FORMULA, STEPPED, SWEEP, adaptive


def test_batch_equals_single_runs():
    """Seven states in lanes (a full group and a part of one) against seven runs, for fixed and adaptive steps."""
    model = floating_arm((0, 0, -3.0))
    starts = [start_of(model, seed) for seed in range(7)]
    q, v = np.array([s[0] for s in starts]), np.array([s[1] for s in starts])
    for options in ({"dt": 2e-3}, {"method": "dopri5"}):
        together = integrate(model, q0=q, v0=v, until=0.4, **options)
        assert together.batched
        assert together.x.shape[0] == 7
        for i in range(7):
            alone = integrate(model, q0=q[i], v0=v[i], until=0.4, **options)
            assert_same(together.x[i], alone.x[0], STEPPED)


def test_parameter_sets_equal_models_built_with_them():
    model = floating_arm()
    q, v = start_of(model)
    changes = {"lower.mass": np.linspace(1, 3, 5), "base.com": np.linspace([0, 0, 0], [0.2, 0.1, 0], 5),
               "upper.at": np.linspace([0.4, 0, 0], [0.6, 0.1, 0], 5),
               "tip.inertia": np.array([np.eye(3)*k for k in range(1, 6)])}
    for options in ({"dt": 2e-3}, {"method": "dopri5"}):
        together = integrate(model, q0=q, v0=v, until=0.4, parameters=changes, **options)
        for i in range(5):
            member = model.with_parameters({name: value[i] for name, value in changes.items()})
            alone = integrate(member, q0=q, v0=v, until=0.4, **options)
            assert_same(together.x[i], alone.x[0], STEPPED)


@pytest.mark.parametrize(("changes", "said"), [
    ({"lower.mass": [-1.0, 1.0]}, "mass"), ({"lower.mas": [1.0]}, "did you mean 'mass'"),
    ({"lowr.mass": [1.0]}, "did you mean 'lower.mass'"),
    ({"lower.com": [1.0, 2.0]}, "shape"), ({"lower.mass": [1.0, 2.0], "tip.mass": [1.0, 2.0, 3.0]}, "as many"),
    ({"lower.mass": [1.0], "tip.mass": [1.0, 2.0, 3.0]}, "as many"), ({}, "give a dict"), ([1.0], "give a dict"),
    ({"lower.mass": 3.0}, "one for each member"), ({"lower.mass": "heavy"}, "numbers"),
])
def test_bad_parameter_sets_are_named(changes, said):
    with pytest.raises(bough.ModelError, match=said):
        integrate(floating_arm(), until=1.0, dt=0.1, parameters=changes)


def test_compiled_controller_acts_at_every_stage():
    """A torque -k q - c v given by a compiled law is the joint's own spring and damper."""
    free = bough.System("a")
    free.body("x", joint=bough.Revolute("z"), mass=1.0, inertia=(1, 1, 2.0))
    sprung = bough.System("b")
    sprung.body("x", joint=bough.Revolute("z", stiffness=5.0, damping=0.3), mass=1.0, inertia=(1, 1, 2.0))

    @bough.controller
    def law(t, q, v, wheels, tau, motors):
        tau[0] = -5.0*q[0] - 0.3*v[0]
    for options in ({"dt": 0.01}, {"method": "dopri5"}):
        a = integrate(free.compile(), q0=[1.0], until=2.0, control=law, **options)
        b = integrate(sprung.compile(), q0=[1.0], until=2.0, **options)
        np.testing.assert_allclose(a.x, b.x, atol=SWEEP)
        np.testing.assert_allclose(a.u[0, 1:, 0], -5.0*a.x[0, 1:, 0] - 0.3*a.x[0, 1:, 1], atol=SWEEP)
    batch = integrate(free.compile(), q0=np.ones((6, 1)), until=2.0, dt=0.01, control=law)
    # the rtol of b, by default
    np.testing.assert_allclose(batch.x, np.broadcast_to(b.x[0] + 0*batch.x[0], batch.x.shape), atol=adaptive(1e-9, b.steps))


def test_python_controller_is_held_between_calls():
    """A unit inertia under u = -x_k held for T: x_{k+1} = x_k + T v_k - T^2 x_k/2, v_{k+1} = v_k - T x_k exactly."""
    s = bough.System("a")
    s.body("x", joint=bough.Prismatic("x"), mass=1.0)
    called = []

    def law(t, q, v, wheels):
        called.append(t)
        return {"x": -q[0]}
    for options in ({"dt": 0.01}, {"method": "dopri5"}, {"method": "radau", "rtol": 1e-10, "atol": 1e-13}):
        called.clear()
        run = integrate(s.compile(), q0=[1.0], until=1.0, sample_rate=10, control=law, control_period=0.1, **options)
        x, v = 1.0, 0.0
        for k in range(10):
            np.testing.assert_allclose(run.x[0, k], [x, v], atol=1e-9)          # polynomials; radau: ten of its rtol
            x, v = x + 0.1*v - 0.005*x, v - 0.1*x
        np.testing.assert_allclose(called, np.arange(10)*0.1, atol=STEPPED)


@pytest.mark.parametrize(("law", "said"), [
    (lambda t, q, v, w: {"bab": 1.0}, "did you mean 'bob'"), (lambda t, q, v, w: [1.0, 2.0], "shape"),
    (lambda t, q, v, w: [np.nan], "finite"), (3.0, "give a function"),
])
def test_bad_controllers_are_named(law, said):
    with pytest.raises(bough.StateError, match=said):
        integrate(pendulum(), until=1.0, dt=0.1, control=law)


def test_samples_are_where_they_were_asked_for():
    model = pendulum()
    np.testing.assert_allclose(integrate(model, until=1.0, dt=0.03).t, [*np.arange(34)*0.03, 1.0], atol=FORMULA)
    np.testing.assert_allclose(integrate(model, until=1.0, dt=1e-3).t, np.arange(101)/100, atol=FORMULA)
    run = integrate(model, until=1.05, dt=0.03, sample_rate=10)
    np.testing.assert_allclose(run.t, [*np.arange(11)/10, 1.05], atol=FORMULA)
    assert integrate(model, until=1.0, dt=0.25, sample_rate=2).steps == 4


@pytest.mark.parametrize(("options", "said"), [
    ({"until": -1.0, "dt": 0.1}, "until"), ({"until": 1.0}, "give dt"), ({"until": 1.0, "dt": 0.0}, "dt is 0"),
    ({"until": 1.0, "dt": 0.1, "method": "rk5"}, "did you mean 'rk4'"),
    ({"until": 1.0, "dt": 0.1, "sample_rate": 0}, "sample_rate is 0"),
    ({"until": "a", "dt": 0.1}, "until is 'a'"), ({"until": 1.0, "dt": "x"}, "dt is 'x'"),
    ({"until": 1.0, "dt": 0.1, "rtol": 1e-6}, "rtol is 1e-06, but rk4 takes fixed steps"),
    ({"until": 1.0, "dt": 0.1, "dynamics": "fast"}, "dynamics"),
    ({"until": 1.0, "method": "dopri5", "rtol": -1}, "rtol"), ({"until": 1.0, "method": "dopri5", "atol": 0.0}, "atol is 0"),
    ({"until": 1.0, "method": "dopri5", "dt": 0.1}, "dt is 0.1, but dopri5 chooses its own steps; give first_step or max_step"),
    ({"until": 1.0, "dt": 0.1, "first_step": 0.1}, "first_step is 0.1, but rk4 takes fixed steps; leave it out, or use an adapt"),
    ({"until": 1.0, "dt": 0.1, "max_step": 0.1}, "max_step is 0.1, but rk4 takes fixed steps"),
    ({"until": 1.0, "method": "radau", "max_step": 0.0}, "max_step is 0"),
    ({"until": 1.0, "dt": 0.1, "q0": [0.0, 1.0]}, "give 1 numbers"),
    ({"until": 1.0, "dt": 0.1, "control_period": 0.1}, "control_period"),
    ({"until": 1.0, "method": "dopri5", "control": lambda t, q, v, w: [0.0]}, "control_period"),
])
def test_bad_options_are_named(options, said):
    with pytest.raises(bough.StateError, match=said):
        integrate(pendulum(), **options)


def test_divergence_names_time_and_coordinate_and_keeps_what_was_recorded():
    s = bough.System("stiff")
    s.body("a", joint=bough.Revolute("x", name="hinge", stiffness=1e8), mass=1.0, inertia=(1e-3, 1e-3, 1e-3))
    run = integrate(s.compile(), q0=[0.1], until=10.0, dt=0.01, sample_rate=50)
    assert "diverged at t = " in run.failure
    assert "hinge.rx" in run.failure
    assert 1 <= len(run.t) < 501
    assert np.isfinite(run.x).all()
    assert run.t[-1] < float(run.failure.split("t = ")[1].split(" ")[0])


def test_one_diverging_member_does_not_stop_the_others():
    model = floating_arm()
    q, v = start_of(model)
    speeds = np.tile(v, (5, 1))
    speeds[2, 3:6] = 1e200
    run = integrate(model, q0=q, v0=speeds, until=0.2, dt=1e-2)
    assert "run 2 of the batch" in run.failure
    alone = integrate(model, q0=q, v0=v, until=0.2, dt=1e-2)
    np.testing.assert_allclose(run.x[4], alone.x[0], atol=STEPPED)


def test_adaptive_run_that_cannot_go_on_says_so():
    """Free fall into a repelling singularity is no state: a law that returns infinity at t = 0.5 stops the run there."""
    @bough.controller
    def law(t, q, v, wheels, tau, motors):
        tau[0] = 1.0/(0.5 - t)**2
    run = integrate(pendulum(), until=1.0, method="dopri5", control=law, sample_rate=100)
    assert "too small" in run.failure
    assert abs(run.t[-1] - 0.5) < 0.02                                          # two samples


def test_progress_rises_to_one():
    seen = []
    integrate(floating_arm(), until=1.0, dt=1e-3, progress=lambda fraction, t: seen.append(fraction))
    assert seen == sorted(seen)
    assert seen[-1] == pytest.approx(1.0)


def test_angular_momentum_of_a_batch_in_lanes():
    """Every lane keeps its own momentum: lanes do not mix."""
    model = floating_arm()
    starts = [start_of(model, seed) for seed in range(5)]
    run = integrate(model, q0=np.array([s[0] for s in starts]), v0=np.array([s[1] for s in starts]), until=1.0, dt=1e-3,
                    sample_rate=5)
    for x in run.x:
        h = model.momentum(*split(model, x))
        assert_same(h, np.broadcast_to(h[0], h.shape), STEPPED)


def test_step_is_the_one_that_was_asked_for():
    """Halving dt halves them, whatever the rate is, and the trajectory says which step was taken; the end is inside a step, which
    is for whoever goes on."""
    model = pendulum()
    runs = [integrate(model, q0=[1.0], until=1.0, dt=dt) for dt in (0.1, 0.05)]
    assert [run.steps for run in runs] == [10, 20]
    assert runs[0].dt == pytest.approx(0.1)
    early, late = (integrate(model, q0=[1.0], until=until, dt=0.4, sample_rate=4) for until in (1.0, 3.0))
    assert (early.steps, late.steps, early.dt) == (2, 7, 0.4)
    assert np.array_equal(early.x[0], late.x[0, :5])


@pytest.mark.parametrize("method", ["dopri5", "radau", "bdf", "lsoda"])
def test_first_and_longest_step_of_adaptive_methods(method):
    """At rest nothing but max_step bounds the steps; a first step that is tiny takes more of them."""
    options = {"until": 1.0, "method": method, "rtol": 1e-6, "atol": 1e-6}
    free = integrate(pendulum(), **options)
    assert free.steps < 50
    assert integrate(pendulum(), max_step=0.01, **options).steps >= 100
    assert integrate(pendulum(), first_step=1e-9, **options).steps > integrate(pendulum(), first_step=0.1, **options).steps


def push(table):
    s = bough.System("push")
    s.body("mass", joint=bough.Prismatic("x", torque=table), mass=1.0)
    return s.compile()


@pytest.mark.parametrize("method", ["dopri5", "radau", "bdf", "lsoda"])
def test_adaptive_methods_do_not_step_over_a_pulse(method):
    """A triangle of 1000 N from 500 to 501 s gives 500 m/s to 1 kg, however long the steps before it are."""
    model = push(bough.TimeTable([0.0, 500.0, 500.5, 501.0], [0.0, 0.0, 1000.0, 0.0]))
    run = integrate(model, until=1000.0, method=method, sample_rate=0.1)
    assert run.x[0, -1, 1] == pytest.approx(500.0, rel=adaptive(1e-9, 100))     # some dozens of steps in the pulse


def test_controller_is_asked_at_its_own_times_only():
    """A jump of a load in between does not count as an update."""
    model, called = push(bough.TimeTable([0.0, 0.27], [0.0, 1.0], kind="hold")), []
    for options in ({"dt": 0.01}, {"method": "dopri5"}, {"method": "radau"}):
        called.clear()
        integrate(model, until=0.5, control=lambda t, q, v, w: called.append(t), control_period=0.1, **options)
        np.testing.assert_allclose(called, [0.0, 0.1, 0.2, 0.3, 0.4], atol=STEPPED)


def test_controller_that_fails_in_mid_run_keeps_what_was_recorded():
    def law(t, q, v, wheels):
        if t > 0.5:
            raise ValueError("no sensor")
    run = integrate(pendulum(), q0=[0.1], until=1.0, dt=0.01, control=law)
    assert "control failed at t = 0.51 s: ValueError: no sensor" in run.failure
    assert run.t[-1] == pytest.approx(0.51)


def test_compiled_controller_that_fails_stops_the_run():
    """An index out of range, or NaN: the run ends there, and the controller is named."""
    @bough.controller
    def out_of_range(t, q, v, wheels, tau, motors):
        if t > 0.5:
            tau[10] = 1.0

    @bough.controller
    def not_a_number(t, q, v, wheels, tau, motors):
        if t > 0.5:
            tau[0] = np.nan
    for law in (out_of_range, not_a_number):
        run = integrate(pendulum(), q0=[0.1], until=1.0, dt=0.01, control=law)
        assert "controller" in run.failure
        assert 0.45 < run.t[-1] < 0.53


def test_controller_that_cannot_be_compiled_is_named():
    with pytest.raises(bough.StateError, match=r"controller 'law' cannot be compiled.*law\(t, q, v, wheels, tau, motors\)"):
        @bough.controller
        def law(t, q, v, wheels, tau, motors):
            tau[0] = object()


def test_stiff_solvers_take_a_compiled_controller():
    @bough.controller
    def law(t, q, v, wheels, tau, motors):
        tau[0] = -5.0*q[0] - 0.3*v[0]
    runs = [integrate(pendulum(), q0=[1.0], until=1.0, sample_rate=10, control=law, **options)
            for options in ({"dt": 1e-3}, {"method": "radau", "rtol": 1e-9, "atol": 1e-11})]
    error = adaptive(1e-9, runs[1].steps)
    np.testing.assert_allclose(runs[0].x, runs[1].x, atol=5*error)                              # rates are some times angles
    np.testing.assert_allclose(runs[0].u[0, 1:], runs[1].u[0, 1:], atol=5*5*error)                  # five of an angle
    batch = integrate(pendulum(), q0=[[1.0], [0.5], [0.2]], until=1.0, sample_rate=10, control=law, method="radau")
    np.testing.assert_allclose(batch.u[:, 1:, 0], -5.0*batch.x[:, 1:, 0] - 0.3*batch.x[:, 1:, 1], atol=CANCELLING)


def test_wheel_whose_speed_is_held_takes_no_torque():
    s = bough.System("bus")
    s.body("bus", joint=bough.Free(), mass=1.0, inertia=(1, 1, 1))
    s.wheel("rw", body="bus", axis="x", inertia=0.1, speed=10.0)

    @bough.controller
    def law(t, q, v, wheels, tau, motors):
        motors[0] = 1.0
    for control in (law, lambda t, q, v, w: [0, 0, 0, 0, 0, 0, 1.0]):
        with pytest.raises(bough.StateError, match="'rw', whose speed is held"):
            integrate(s.compile(), until=0.1, dt=0.01, control=control)


def test_a_name_with_two_meanings_is_refused():
    s = bough.System("bus")
    s.body("rw", joint=bough.Revolute("x"), mass=1.0, inertia=(1, 1, 1))
    s.wheel("rw", body="rw", axis="x", inertia=0.1, torque=0.0)
    with pytest.raises(bough.StateError, match="'rw'"):
        integrate(s.compile(), until=0.1, dt=0.01, control=lambda t, q, v, w: {"rw": 1.0})


def test_members_that_make_no_model_are_named_before_anything_runs():
    """A tip that loses its mass, and an inertia smaller than that of its wheel."""
    s = bough.System("arm")
    s.body("bus", joint=bough.Free(), mass=10.0, inertia=(1, 1, 1))
    s.body("tip", parent="bus", joint=bough.Revolute("z"), mass=1.0, com=(0.5, 0, 0))
    s.wheel("rw", body="bus", axis="x", inertia=0.1, torque=0.0)
    with pytest.raises(bough.ModelError, match="member 2 of the batch: joint 'tip'"):
        integrate(s.compile(), until=1.0, dt=0.1, parameters={"tip.mass": [1.0, 2.0, 0.0]})
    with pytest.raises(bough.ModelError, match=r"member 1 of the batch: body 'bus'.*wheels"):
        integrate(s.compile(), until=1.0, dt=0.1, parameters={"bus.inertia": [(1, 1, 1), (0.05, 0.05, 0.05)]})
