"""Steps are those that were asked for, samples are where they were asked for, and how a run is parted into calls changes no bit."""
import numpy as np
import pytest

import bough
from bough.integrate import compiled_steps, integrate
from tests.support.closed_loops import closed
from tests.support.small_systems import floating_arm, pendulum, start_of
from tests.support.tolerance import CLOSED, PRODUCTS, STEPPED


@pytest.mark.parametrize("method", ["rk4", "euler-cromer"])
def test_samples_do_not_change_the_steps(method):
    """A rate that does not fit leaves the steps alone: those at common times are the same, bit for bit."""
    model = floating_arm((0, 0, -3.0))
    q, v = start_of(model)
    plain = integrate(model, q0=q, v0=v, until=0.5, dt=0.01, method=method)
    for rate in (30, 70, 1000/3):
        run = integrate(model, q0=q, v0=v, until=0.5, dt=0.01, method=method, sample_rate=rate)
        assert (run.steps, run.dt) == (50, 0.01)
        np.testing.assert_allclose(run.t[:-1], np.arange(len(run.t) - 1)/rate, rtol=PRODUCTS)
        np.testing.assert_array_equal(run.x[0, -1], plain.x[0, -1])
        assert np.isfinite(run.x).all()
    common = integrate(model, q0=q, v0=v, until=0.5, dt=0.01, method=method, sample_rate=50)
    np.testing.assert_array_equal(common.x[0], plain.x[0, ::2])


@pytest.mark.parametrize(("method", "order"), [("rk4", 4), ("euler-cromer", 1), ("imex2", 2), ("imex4", 4)])
def test_samples_inside_steps_keep_the_order_of_the_method(method, order):
    """At three quarters of a step, where no coefficient of the cubic vanishes; an arm in lanes against a run with tiny steps."""
    model = floating_arm((0, 0, -3.0))
    starts = [start_of(model, seed) for seed in range(5)]
    options = {"q0": np.array([q for q, _ in starts]), "v0": np.array([v for _, v in starts]), "until": 0.3, "sample_rate": 1/0.15}
    exact = integrate(model, method="dopri5", rtol=1e-13, atol=1e-14, **options).x[:, 1]
    errors = [np.abs(integrate(model, dt=0.15/(n + 0.75), method=method, **options).x[:, 1] - exact).max() for n in (20, 40, 80)]
    steps = 0.15/(np.array([20, 40, 80]) + 0.75)
    found = np.diff(np.log(errors))/np.diff(np.log(steps))
    assert (np.abs(found - order) < 0.35).all(), found          # the next term of the error is a step (1/20) smaller


def test_loops_are_closed_at_samples_inside_steps():
    model, q, v = closed("four-bar, revolute")[1:4]
    for method in ("rk4", "euler-cromer", "dopri5"):
        options = {"method": method} if method == "dopri5" else {"method": method, "dt": 0.01}
        run = integrate(model, q0=q[0], v0=v[0], until=0.5, sample_rate=73, **options)
        gaps = model.loop_gaps(run.state.q[0])
        assert max(np.abs(gap).max() for gap in gaps.values()) < CLOSED


def test_breaks_shorten_one_step_only():
    """A force that jumps at 0.125 s: steps end there, and go on from 0.13 s as if nothing had been."""
    s = bough.System("push")
    s.body("mass", joint=bough.Prismatic("x", torque=bough.TimeTable([0.0, 0.125], [0.0, 1.0], kind="hold")), mass=1.0)
    run = integrate(s.compile(), until=0.5, dt=0.01, sample_rate=8)
    assert run.steps == 51
    assert run.x[0, -1] == pytest.approx([0.375**2/2, 0.375], rel=STEPPED)


def test_no_sample_is_lost_to_rounding():
    """Rates, steps and ends that are multiples of each other but for rounding, far from zero too."""
    model = pendulum()
    for dt, rate, until in ((0.1, 10, 0.3), (0.1, 1/0.3, 0.9), (1/3, 3, 7.0), (0.007, 1/0.021, 2.1), (0.33333333333, 1.0, 1.0)):
        for method in ("rk4", "euler-cromer"):
            run = integrate(model, q0=[0.1], until=until, dt=dt, sample_rate=rate, method=method)
            assert run.failure is None
            assert np.isfinite(run.x).all()
            assert run.t[-1] == until


@pytest.mark.parametrize("options", [{"method": "dopri5"}, {"dt": 2e-3}, {"dt": 2e-3, "method": "euler-cromer", "sample_rate": 37}],
                         ids=["dopri5", "rk4", "euler-cromer"])
@pytest.mark.parametrize("system", ["tree", "loop"])
def test_chunks_change_no_bit(monkeypatch, options, system):
    """Calls of one step, of seven, and of as many as there are: the same numbers, however long they take."""
    model = floating_arm((0, 0, -3.0)) if system == "tree" else closed("four-bar, revolute").model
    q, v = start_of(model) if system == "tree" else closed("four-bar, revolute")[2:4]
    runs = []
    for size in (1, 7, 10**9):
        monkeypatch.setattr(compiled_steps, "FIRST_CHUNK", size)
        monkeypatch.setattr(compiled_steps, "CHUNK_SECONDS", 1e9 if size > 7 else 1e-9)       # then all chunks are of one step
        runs.append(integrate(model, q0=np.atleast_2d(q)[0], v0=np.atleast_2d(v)[0], until=0.4, **options))
    for run in runs[1:]:
        assert (run.steps, run.rejected) == (runs[0].steps, runs[0].rejected)
        np.testing.assert_array_equal(run.x, runs[0].x)


@pytest.fixture(scope="module")
def law():
    @bough.controller
    def law(t, q, v, wheels, tau, motors):
        tau[0] = 3.0 - 5.0*q[0]
    return law


@pytest.mark.parametrize("options", [{"dt": 0.01}, {"dt": 0.01, "method": "euler-cromer"}, {"method": "dopri5"},
                                     {"method": "radau"}, {"method": "bdf"}, {"method": "lsoda"}],
                         ids=lambda o: o.get("method", "rk4"))
def test_first_sample_knows_the_compiled_law(options, law):
    """u and accelerations at t = 0: a unit inertia under tau = 3 - 5 q."""
    s = bough.System("a")
    s.body("x", joint=bough.Revolute("z"), mass=1.0, inertia=(1, 1, 1.0))
    for q0 in ([0.2], [[0.2]]*5):
        result = bough.simulate(s, q0=q0, until=0.1, control=law, record=["state", "torque", "acceleration"], **options)
        x = result.data.q.isel(q_name=0).values
        np.testing.assert_allclose(result.data.joint_torque.values[..., 0], 3.0 - 5.0*x, atol=STEPPED)
        np.testing.assert_allclose(result.data.a.values[..., 0], 3.0 - 5.0*x, atol=STEPPED)
