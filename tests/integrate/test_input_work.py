"""The work of inputs: what the energy gained, E(t) - E(0), to the order of the method, for every kind of input."""
import numpy as np
import pytest

import bough
from bough.sweeps import records
from tests.support.resumed import LAWS, SYSTEMS
from tests.support.tolerance import CANCELLING, SWEEP, refined


def arm(**ports):
    """Two links with a spring between them, on a free base that carries a wheel; two lines hold it, one of which can be slack."""
    s = bough.System("arm", gravity=(0, 0, -9.81))
    s.body("base", joint=bough.Free(q0=(0, 0, 0, 0, 0, 0, 1), v0=(0.1, 0, 0, 0.3, 0.2, -0.4)), mass=4.0, inertia=(0.4, 0.5, 0.6))
    s.body("upper", parent="base", at=(0.2, 0, 0), joint=bough.Revolute("y", q0=0.3), mass=1.0, com=(0.3, 0, 0),
           inertia=(0.02, 0.05, 0.05))
    s.body("lower", parent="upper", at=(0.6, 0, 0), joint=bough.Revolute((0, 1, 1), q0=0.2, stiffness=8.0, rest=0.1), mass=0.7,
           com=(0.2, 0, 0), inertia=(0.01, 0.03, 0.03))
    s.wheel("rw", body="base", axis=(1, 2, 3), inertia=0.02, torque=0.0, speed=30.0)
    s.line("stay", a=bough.Frame("world", at=(0, 0, 4)), b="base", stiffness=40.0, length=3.5)
    s.line("rope", a="base", b=bough.Frame("lower", at=(0.4, 0, 0)), stiffness=20.0, length=0.7, slack=True)
    return with_input(s, **ports)


def with_input(s, **ports):
    if ports:
        s.input("push", **ports)
    return s


def boom(**ports):
    """A flexible boom on a free base."""
    s = bough.System("boom", gravity=(0, 0, 0))
    s.body("bus", joint=bough.Free(v0=(0, 0, 0, 0.1, 0.2, 0.3)), mass=20.0, inertia=(3, 3, 3))
    s.body("boom", parent="bus", at=(0.5, 0, 0), joint=bough.Revolute("y"),
           flexible=bough.beam(2.0, EI=400.0, mass_per_length=1.0, modes=3))
    return with_input(s, **ports)


def bars(**ports):
    """A four-bar linkage."""
    s = SYSTEMS["loops"]()
    s.inputs.clear()
    s.outputs.clear()
    return with_input(s, **ports)


def orbiter(**ports):
    """A bus with an arm, high above a small center."""
    s = bough.System("orbiter", gravity=bough.CentralGravity(mu=30.0, position=(20, 0, 0), velocity=(0, 1.2, 0.1)))
    s.body("bus", joint=bough.Free(v0=(0, 0, 0, 0.3, 0.2, -0.1)), orient=(0.1, 0.7, 0.2, 0.6), mass=10.0, inertia=(2, 3, 4))
    s.body("arm", parent="bus", at=(0.5, 0, 0), joint=bough.Revolute("y"), mass=2.0, com=(0.6, 0, 0), inertia=(0.1, 0.3, 0.3))
    return with_input(s, **ports)


LOWER = bough.Frame("lower", at=(0.4, 0.1, 0), orient=(0, 0, 0.6, 0.8))
INPUTS = {
    "torque": lambda: arm(coordinate="upper"),
    "base force": lambda: arm(coordinate="base.x"),
    "motor": lambda: arm(wheel="rw"),
    "force": lambda: arm(force=LOWER),
    "force in the world": lambda: arm(force=LOWER, axes="world"),
    "force along an axis": lambda: arm(force=LOWER, axis=(1, 2, 2)),
    "moment": lambda: arm(moment=LOWER),
    "moment in the world": lambda: arm(moment="upper", axes="world", axis="x"),
    "rest of a line": lambda: arm(rest="stay"),
    "rest of a rope": lambda: arm(rest="rope"),
    "rest of a spring": lambda: arm(rest="lower"),
    "force at a node": lambda: boom(force=bough.Frame("boom", node="tip"), axes="world"),
    "moment at a node": lambda: boom(moment=bough.Frame("boom", node="tip")),
    "modal force": lambda: boom(coordinate="boom.mode1"),
    "torque in a loop": lambda: bars(coordinate="crank"),
    "force in a loop": lambda: bars(force=bough.Frame("rocker", at=(0.8, 0, 0)), axes="world"),
    "force in orbit": lambda: orbiter(force=bough.Frame("arm", at=(1, 0, 0))),
    "torque in orbit": lambda: orbiter(coordinate="arm"),
    "base force in orbit": lambda: orbiter(coordinate="bus.y"),
}


@bough.controller(outputs=[], inputs=["push"])
def wave(t, y, u):
    for i in range(len(u)):
        u[i] = 0.4*np.cos(3.0*t + i) + 0.1


STEPS = {"arm": 0.02, "boom": 0.005, "four-bar": 0.01, "orbiter": 0.08}          # s, of rk4: the boom has 18 Hz


def off(result):
    """The largest E(t) - E(0) - work, and the largest work."""
    total, work = result.data.total_energy.values, result.data.input_work.values
    return np.abs(total - total[..., :1] - work).max(), np.abs(work).max()


def run(model, **options):
    return bough.simulate(model, **{"until": 0.64, "laws": [wave], "record": ["state", "energy"], "progress": False,
                                    "method": "rk4", "sample_rate": 12.5, **options})


def check_order(model, factor, dt, **options):
    """Half the step, `factor` times as near: 2^order, less what higher orders may add to the longer step."""
    (coarse, work), (fine, _) = (off(run(model, dt=step, **options)) for step in (dt, 0.5*dt))
    assert work > 1e-3
    assert coarse < 0.1*work                                            # near enough for an order to show
    assert fine < coarse/factor or fine < CANCELLING         # some joules, rounded at each of some dozens of steps
    return fine


@pytest.mark.parametrize("kind", INPUTS)
def test_work_is_the_energy_gained_to_the_order_of_the_method(kind):
    system = INPUTS[kind]()
    check_order(system.compile(), 12.0, STEPS[system.name])


def test_what_a_valve_lets_out_is_in_the_energy_of_system_and_exhaust():
    """A flow does its work on what leaves: system and exhaust together gain what the other inputs give."""
    s = bough.System("stage", gravity=(0, 0, -1))
    s.body("stage", joint=bough.Free(v0=(0, 0, 0, 0.1, 0.2, 0.3)), mass=10.0, inertia=(1, 2, 2))
    s.tank("fuel", body="stage", mass=2.0, exhaust_speed=100.0, nozzle=(0.1, 0, -1))
    s.input("valve", flow="fuel")
    s.input("push", force=bough.Frame("stage", at=(1, 0, 0)))

    @bough.controller(outputs=[], inputs=["valve", "push"])
    def burn(t, y, u):
        u[0] = 0.3 + 0.1*np.sin(5.0*t)
        for i in range(1, 4):
            u[i] = 0.4*np.cos(3.0*t + i) + 0.1

    errors, model = [], s.compile()
    for dt in (0.04, 0.02):
        data = run(model, dt=dt, laws=[burn], record=["energy", "exhaust"]).data
        gained = data.whole_energy.values - data.whole_energy.values[0]
        errors.append(np.abs(gained - data.input_work.values).max())
        assert np.abs(data.input_work).max() > 0.01
        assert np.abs(data.exhaust_energy).max() > 10.0
    assert errors[1] < errors[0]/12


def test_work_of_the_first_order():
    check_order(INPUTS["force"]().compile(), 1.7, 1e-3, method="euler-cromer")


@pytest.mark.parametrize("method", ["dopri5", "radau", "bdf", "lsoda"])
@pytest.mark.parametrize("kind", ["force", "force in a loop"])
def test_work_with_steps_of_the_method(method, kind):
    """The tolerances hold at each step of some hundreds; Baumgarte's stabilization of stiff methods lets loops open a little."""
    model = INPUTS[kind]().compile()
    found, work = off(run(model, method=method, rtol=1e-8, atol=1e-10))
    # rtol at each of a hundred steps; bdf, of low order, takes a thousand, and open loops add as much
    assert found < (1e-5 if method == "bdf" or "loop" in kind else 1e-6)*max(work, 1.0)


@pytest.mark.parametrize("dynamics", ["dense", "order-n"])
def test_work_whatever_solves_the_dynamics(dynamics):
    check_order(INPUTS["force"]().compile(), 12.0, STEPS["arm"], dynamics=dynamics)


def test_work_with_given_motions():
    """What prescribes them works, too, so E(t) - E(0) says nothing; but both methods find the same work of the input."""
    s = bough.System("given", gravity=(0, 0, 0))
    s.body("base", joint=bough.Free(v0=(0.1, 0, 0, 0.3, 0.2, -0.4)), mass=4.0, inertia=(0.4, 0.5, 0.6))
    swing, nod = bough.motion.Harmonics([(0.3, 1.0, 0.1)]), bough.motion.Harmonics([(0.5, 2.0, 0.0)])
    s.body("one", parent="base", at=(0.2, 0, 0), joint=bough.Revolute("y", motion=swing), mass=1.0, com=(0.3, 0, 0))
    s.body("two", parent="one", at=(0.6, 0, 0), joint=bough.Revolute("z", motion=nod), mass=0.7, com=(0.2, 0, 0))
    s.input("push", force=bough.Frame("two", at=(0.4, 0, 0)))
    model = s.compile()
    by_cloud, by_tree = (run(model, dt=5e-3, dynamics=dynamics).data.input_work.values for dynamics in ("cloud", "order-n"))
    assert np.abs(by_tree).max() > 1e-3
    np.testing.assert_allclose(by_cloud, by_tree, rtol=0, atol=CANCELLING)


@pytest.mark.parametrize("options", [{"method": "rk4", "dt": 0.01}, {"method": "dopri5"}], ids=["rk4", "dopri5"])
def test_an_audit_changes_no_bit(options):
    model = INPUTS["force"]().compile()
    audited, plain = run(model, **options), run(model, **options, record=["state"])
    assert "input_work" in audited.data
    assert "input_work" not in plain.data
    np.testing.assert_array_equal(audited.trajectory.x, plain.trajectory.x)


def test_nothing_is_audited_where_nothing_is_given():
    result = run(arm().compile(), laws=[], dt=0.01)
    assert "input_work" not in result.data
    with pytest.raises(bough.StateError, match="'input_work' was not recorded"):
        result.plot("input_work")


def test_lanes_of_a_batch_have_the_work_of_their_runs():
    model = INPUTS["force"]().compile()
    v0 = np.array([model.v0*(1.0 + 0.1*i) for i in range(5)])
    batch = run(model, dt=0.01, v0=v0)
    for i in range(5):
        alone = run(model, dt=0.01, v0=v0[i]).data.input_work.values
        np.testing.assert_allclose(batch.data.input_work.values[i], alone, rtol=0, atol=SWEEP)      # 64 steps, rounded


def test_a_controller_works_through_implied_inputs():
    """What it gives is held for a period, at whose ends steps end."""
    def control(t, q, v, wheels):
        return {"upper": np.cos(3.0*t), "rw": 0.2, "base.x": 1.0}
    check_order(arm().compile(), 12.0, 0.02, laws=[], control=control, control_period=0.05)


def test_what_a_user_sets_works():
    left = []
    for dt in (1e-2, 5e-3):
        sim = bough.Simulator(arm(), dt=dt, record="energy")
        sim.u["upper"] = 1.0
        sim.advance(until=0.1)
        sim.u["rw"] = -0.5
        sim.advance(until=0.233)
        found, work = off(sim.result())
        assert work > 1e-2
        left.append(found)
    assert left[1] < refined(left[0])
    assert sim.state.x.shape == (sim.model.layout.nx,)


@pytest.mark.parametrize("name", ["flexible", "loops"])
def test_work_goes_on_with_a_run(name, tmp_path):
    model, options = SYSTEMS[name]().compile(), {"dt": 1e-3, "laws": LAWS, "seed": 7, "sample_rate": 100.0, "record": ["energy"]}
    whole = bough.simulate(model, until=0.3, progress=False, **options).data.input_work.values
    bough.simulate(model, until=0.17, progress=False, **options).save(tmp_path / "half.nc")
    resumed = bough.resume(tmp_path / "half.nc", laws=LAWS, record=["energy"]).finish(0.3, progress=False)
    streamed = bough.simulate(model, until=0.3, progress=False, save_to=tmp_path / "all.nc", checkpoint=0.01, **options)
    np.testing.assert_array_equal(resumed.data.input_work.values, whole)
    np.testing.assert_array_equal(streamed.data.input_work.values, whole)


def test_work_that_is_left_out_shows(monkeypatch):
    row = records.WRENCH.row
    monkeypatch.setattr(records.WRENCH, "row", lambda **fields: row(**fields | {"input": False}))
    lost = run(INPUTS["force"]().compile(), dt=5e-3)
    monkeypatch.undo()
    kept = run(INPUTS["force"]().compile(), dt=5e-3)
    error, work = off(kept)                                             # of rk4 at 5e-3 s
    assert off(lost)[0] == pytest.approx(work, abs=2*error)             # the error of either run
    assert error < 1e-4*work                                            # so that the missing work shows


def test_the_summary_and_the_figure_show_it():
    result = run(INPUTS["force"]().compile(), dt=5e-3)
    line = next(line for line in result.summary.splitlines() if "energy" in line)
    assert "work of inputs" in line
    assert "off by" in line
    damped = SYSTEMS["flexible"]()
    line = next(line for line in run(damped.compile(), laws=LAWS, dt=5e-3).summary.splitlines() if "energy" in line)
    assert "modal damping" in line
    assert "off by" not in line
    labels = [text.get_text() for axes in result.plot("energy").axes if axes.get_legend() for text in axes.get_legend().get_texts()]
    assert "less input work" in labels
