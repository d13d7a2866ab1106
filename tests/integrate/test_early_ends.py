"""No run returns less than was asked for without saying so, and what was recorded is kept."""
import numpy as np
import pytest

import bough
from bough.integrate import integrate
from tests.support.small_systems import pendulum

METHODS = ("euler-cromer", "rk4", "imex2", "dopri5", "imex43", "radau", "bdf", "lsoda")


def steps_of(method):
    return {"dt": 1e-3} if method in ("euler-cromer", "rk4", "imex2") else {"rtol": 1e-6, "atol": 1e-9}


@bough.controller
def not_a_number(t, q, v, wheels, tau, motors):
    if t > 0.05:
        tau[0] = np.nan


@bough.controller
def blow_up(t, q, v, wheels, tau, motors):
    tau[0] = 1e3*q[0]**3*(1.0 + v[0]**2) + 1e6


@bough.controller
def blow_up_at_once(t, q, v, wheels, tau, motors):
    """Infinite 0.5 ms after the start: LSODA took steps of no length for ever."""
    tau[0] = 1e3*v[0]**3 + 1e3


@bough.controller
def out_of_range(t, q, v, wheels, tau, motors):
    if t > 0.05:
        tau[3] = 1.0


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("law", [not_a_number, blow_up, blow_up_at_once, out_of_range], ids=lambda law: law.function.__name__)
def test_every_method_says_that_it_ended_early(method, law, recwarn):
    """One state and a batch: the end is missing, the reason is there, and what there is is finite."""
    for q0 in ([0.1], [[0.1], [0.2]]):
        with pytest.raises(bough.SimulationError, match="controller") as raised:
            bough.simulate(pendulum(), q0=q0, until=0.1, method=method, control=law, record=["state", "acceleration"],
                           progress=False, **steps_of(method))
        result = raised.value.result
        assert result.failure
        assert result.time[-1] < 0.06                               # the law fails after 0.05
        reached = np.isfinite(result.trajectory.x).all(axis=2)
        assert reached[:, 0].all()
        assert reached.any(axis=0).all()
        assert result.data.q.shape[-2] == len(result.time)
    assert not recwarn.list


@pytest.fixture(scope="module")
def fails_far_out():
    @bough.controller
    def law(t, q, v, wheels, tau, motors):
        if t > 0.05 and q[0] > 0.5:
            tau[0] = np.nan
    return law


@pytest.mark.parametrize("method", METHODS)
def test_one_failing_member_is_named(method, fails_far_out):
    """Its last samples are missing, the others' are there."""
    run = integrate(pendulum(), q0=[[0.1], [0.6], [0.2]], until=0.1, method=method, control=fails_far_out, **steps_of(method))
    assert "run 1 of the batch" in run.failure
    assert np.isfinite(run.x[[0, 2]]).all()
    assert np.isnan(run.x[1, -1]).all()


@pytest.mark.parametrize("method", ["radau", "bdf", "lsoda"])
def test_stiff_solvers_keep_the_result_when_they_break(method, monkeypatch):
    """What SciPy raises in mid run, whatever it is called, is bough's failure, with its words."""
    from scipy import integrate as scipy_integrate
    solver = getattr(scipy_integrate, {"radau": "Radau", "bdf": "BDF", "lsoda": "LSODA"}[method])
    step = solver.step

    def breaking(self):
        if self.t > 0.5:
            raise OverflowError("too large a difference")
        return step(self)
    monkeypatch.setattr(solver, "step", breaking)
    run = integrate(pendulum(), q0=[0.3], until=1.0, method=method, sample_rate=100)
    assert "too large a difference" in run.failure
    assert 0.4 < run.t[-1] < 1.0
    assert np.isfinite(run.x).all()


@pytest.mark.parametrize("method", ["radau", "bdf"])
def test_coordinate_on_which_nothing_depends(method):
    """SciPy's differences grow until they overflow on a coordinate that nothing depends on: the run ends, or says why not."""
    s = bough.System("slider")
    s.body("cart", joint=bough.Prismatic("x"), mass=1.0)
    s.body("bob", parent="cart", joint=bough.Revolute("y", stiffness=1e4, damping=1.0), mass=1.0, com=(0, 0, -1))
    run = integrate(s.compile(), q0=[0.0, 0.1], until=4.0, method=method, rtol=1e-5, atol=1e-8)
    assert run.failure is None or "SciPy" in run.failure
    assert np.isfinite(run.x).all()


def fails(t, q, v, wheels):
    raise KeyError("sensor")


@pytest.mark.parametrize(("law", "said"), [
    (fails, "control failed at t = 0 s: KeyError: 'sensor'"),
    (lambda t, q: [0.0], r"called as control\(t, q, v, wheels\)"),
    (lambda t, q, v, w, x: [0.0], r"called as control\(t, q, v, wheels\)"),
    (lambda t, q, v, w: "1.0", "real numbers"), (lambda t, q, v, w: ["1.0"], "real numbers"),
    (lambda t, q, v, w: [1j], "real numbers"), (lambda t, q, v, w: np.array([1 + 0j]), "real numbers"),
    (lambda t, q, v, w: {"bob": "a"}, "'a' for 'bob'"), (lambda t, q, v, w: {"bob": 1j}, "for 'bob'"),
    (lambda t, q, v, w: {"bob": [1.0, 2.0]}, r"shape \(2,\) for 'bob'"),
    (lambda t, q, v, w: {"bob": [[1.0], [2.0, 3.0]]}, "for 'bob'"),
    (lambda t, q, v, w: np.zeros((3, 1)), r"shape \(3, 1\)"), (lambda t, q, v, w: np.zeros((1, 1, 1)), r"shape \(1, 1, 1\)"),
    (lambda t, q, v, w: 1.0, r"shape \(\)"), (lambda t, q, v, w: [[1.0], [2.0, 3.0]], "real numbers"),
])
@pytest.mark.parametrize("options", [{"dt": 0.1}, {"method": "dopri5", "control_period": 0.1}], ids=["rk4", "dopri5"])
def test_controllers_that_make_no_sense_are_named(law, said, options, recwarn):
    with pytest.raises(bough.StateError, match=said):
        integrate(pendulum(), until=1.0, control=law, **options)
    assert not recwarn.list


@pytest.mark.parametrize(("options", "said"), [
    ({"until": 1e15, "dt": 1e3, "sample_rate": 100}, "until is 1e[+]15 s and sample_rate 100/s: 1e[+]17 samples"),
    ({"until": 1.0, "dt": 0.1, "control": lambda t, q, v, w: [0.0], "control_period": 1e-15}, "control_period is 1e-15 s"),
    ({"until": 1e4, "method": "dopri5", "sample_rate": 1e5, "q0": np.zeros((10000, 1))}, "samples of 10000 states are too many"),
])
def test_more_than_memory_holds_is_refused(options, said):
    with pytest.raises(bough.StateError, match=said):
        integrate(pendulum(), **options)


def test_law_that_drives_a_held_wheel_later_keeps_what_was_before():
    s = bough.System("bus")
    s.body("bus", joint=bough.Free(), mass=1.0, inertia=(1, 1, 1))
    s.wheel("rw", body="bus", axis="x", inertia=0.1, speed=10.0)

    @bough.controller
    def law(t, q, v, wheels, tau, motors):
        if t > 0.05:
            motors[0] = 1.0
    run = integrate(s.compile(), until=0.1, dt=0.01, control=law)
    assert "at t = 0.06 s the controller gives a motor torque to wheel 'rw', whose speed is held" in run.failure
    np.testing.assert_allclose(run.t, np.arange(6)*0.01)


@pytest.mark.parametrize(("options", "said"), [
    ({"until": 0.0, "dt": 0.1}, "until is 0"), ({"until": 1.0, "dt": 0.0}, "dt is 0"),
    ({"until": 1.0, "dt": 0.1, "sample_rate": 0}, "sample_rate is 0"),
    ({"until": 1.0, "method": "dopri5", "rtol": 0.0}, "rtol is 0"),
])
def test_zero_is_not_taken_for_not_given(options, said):
    with pytest.raises(bough.StateError, match=said):
        bough.simulate(pendulum(), **options)


NONSENSE = [None, "x", "", np.nan, np.inf, -1, [], [1, 2], {}, object(), 1j, np.array([1.0, 2.0]), lambda: 0, b"x", [[1], [1, 2]],
            np.array(["a"]), np.zeros((2, 2, 2)), 10**400, bough.System]


@pytest.mark.parametrize("option", ["until", "dt", "t0", "state", "method", "dynamics", "record", "hold", "sample_rate", "tanks0"])
def test_nonsense_is_refused_by_name(option, recwarn):
    """No raw error of Python or NumPy, whatever comes."""
    allowed = {"state": (None,), "method": (None,), "record": (None,), "hold": (None, "", [], {}), "sample_rate": (None,),
               "tanks0": (None, []), "until": (), "dt": (), "t0": (-1,), "dynamics": ()}[option]
    for value in NONSENSE:
        if any(value is each or (type(value) is type(each) and str(value) == str(each)) for each in allowed):
            continue
        with pytest.raises(bough.StateError, match="until is missing|" + option.removesuffix("0")):
            bough.simulate(pendulum(), **{"until": 0.01, "dt": 1e-3, "progress": False, option: value})
    assert not recwarn.list


@pytest.mark.parametrize("value", [None, "pendulum.yaml", 3])
def test_what_is_no_model_is_refused(value):
    with pytest.raises(bough.StateError, match=r"the model is .*; give what System.compile\(\) gives, or a System"):
        bough.simulate(value, until=1.0, dt=0.1)


@pytest.mark.parametrize(("options", "said"), [
    ({"until": 1e15}, "until is 1e[+]15 s: numbers there are 0.125 s apart, too coarse for dt = 0.001 s"),
    ({"until": 1e15 + 1.0, "t0": 1e15}, "until is 1e[+]15 s: numbers there are"), ({"until": 1e308}, "until is 1e[+]308 s"),
    ({"until": 1.0, "dt": 1e-308}, "too coarse for dt = 1e-308 s"),
])
def test_steps_that_clocks_cannot_tell_apart_are_refused(options, said):
    with pytest.raises(bough.StateError, match=said):
        bough.simulate(pendulum(), **{"dt": 1e-3} | options)


@pytest.mark.parametrize("start", [{"q0": [1e308]}, {"v0": [1e308]}])
def test_states_at_the_end_of_numbers_diverge_with_a_word(start, recwarn):
    with pytest.raises(bough.SimulationError, match="diverged at t"):
        bough.simulate(pendulum(), until=0.01, dt=1e-3, progress=False, **start)
    assert not recwarn.list
