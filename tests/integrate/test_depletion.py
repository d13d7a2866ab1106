"""Tanks in runs: they run dry at a moment inside a step, go in lanes and in batches, resume, and follow inputs."""
import numpy as np
import pytest

import bough
from tests.support.tolerance import CANCELLING, EVENT, STEPPED, SWEEP
from tests.sweeps.test_tanks import feed_system, rocket


def simpson(x):
    """Of rk4, relative to v = u ln(m0/m1): it integrates c u/m as Simpson's rule does, so leaves h^4/2880 of the fourth slope,
    24 c^5 u/m^5: x^4/120 with x = c h/m, the share that a step takes of the least mass; and rounding."""
    return x**4/120 + STEPPED


@pytest.mark.parametrize("options", [{"dt": 0.3}, {"method": "dopri5"}, {"method": "imex4", "dt": 0.1}, {"method": "imex43"}])
def test_flow_and_thrust_end_with_the_propellant(options):
    """At m/c = 50/7 s, to the rounding of the time; from then on it coasts, with v = u ln(m0/m1): nothing is singular at zero."""
    result = bough.simulate(rocket(flow=7.0).compile(), until=10.0, **options)
    [event] = result.events
    assert (event.time, event.what) == (pytest.approx(50/7, abs=EVENT), "is empty")
    assert not result.data.tank_mass.values[-1, 0]
    assert not result.data.tank_thrust.values[-1, 0]
    after = result.data.v.values[result.time > 7.2, 2]
    assert np.ptp(after) < STEPPED*np.abs(after).max()
    assert after[0] == pytest.approx(3000*np.log(1.5), rel=simpson(7.0*0.3/100.0))


def test_tanks_of_one_engine_stop_together_at_what_remains():
    s = rocket(flow=5.0, engine="main")
    s.tank("fuel", body="stage", mass=21.0, residual=1.0, flow=4.0, exhaust_speed=3000.0, engine="main")
    s.tank("gas", body="stage", mass=1.0, flow=0.1, exhaust_speed=0.0)
    result = bough.simulate(s.compile(), until=9.0, dt=0.3)
    assert [str(event) for event in result.events] == ["5 s: 'fuel' is empty, and lox stop with it"]
    np.testing.assert_allclose(result.data.tank_mass.values[-1], [25.0, 1.0, 0.1], rtol=STEPPED)
    np.testing.assert_allclose(result.data.tank_flow.values[-1], [0.0, 0.0, 0.1])


def test_lanes_batches_and_dense_equations():
    """Each state has its own masses, in lanes and by the mass matrix; runs that cannot run dry go in lanes, others one by one."""
    model, rng = feed_system().compile(), np.random.default_rng(4)
    q, v, tanks = np.tile(model.q0, (6, 1)), rng.normal(size=(6, model.nv)), rng.uniform(0.2, 1.0, (6, 3))*model.tank_masses
    a = model.forward_dynamics(q, v, tanks=tanks)
    alone = [model.forward_dynamics(*each, tanks=own) for *each, own in zip(q, v, tanks, strict=True)]
    np.testing.assert_allclose(a, alone, rtol=CANCELLING, atol=SWEEP)
    dense = model.forward_dynamics(q, v, tanks=tanks, dynamics="dense")
    np.testing.assert_allclose(dense, a, rtol=0, atol=CANCELLING*np.abs(a).max())
    still = model.inverse_dynamics(q, v, 0.0*a, tanks=tanks)
    np.testing.assert_allclose(model.inverse_dynamics(q, v, a, tanks=tanks), 0.0, atol=CANCELLING*np.abs(still).max())
    v0, burn = np.outer(np.arange(5), [0, 0, 0, 0.1, 0, 0]), bough.TimeTable([0, 1, 2, 3], [0, 3, 3, 0])
    for flow in (burn, 20.0):
        model = rocket(flow=flow).compile()
        every = bough.simulate(model, v0=v0, until=4.0, dt=0.1, tanks0=np.linspace(30, 50, 5)[:, None])
        one = bough.simulate(model, v0=v0[3], until=4.0, dt=0.1, tanks0=[45.0])
        np.testing.assert_allclose(every.data.v.values[3], one.data.v.values, rtol=0, atol=STEPPED)


def test_an_input_opens_the_valve_and_runs_go_on_elsewhere(tmp_path):
    s = rocket(flow=0.0)
    s.input("valve", flow="lox")
    simulator = bough.Simulator(s.compile(), dt=0.1)
    simulator.u["valve"] = 2.0
    simulator.advance(until=5.0)
    simulator.save(tmp_path/"burn.nc")
    simulator = bough.resume(tmp_path/"burn.nc")
    assert simulator.state.tanks == pytest.approx([40.0])
    simulator.advance(until=30.0)
    assert [event.name for event in simulator.result().events] == ["lox"]
    assert simulator.result().data.v.values[-1, 2] == pytest.approx(3000*np.log(1.5), rel=simpson(2.0*0.1/100.0))  # 2 kg/s
    simulator.reset()
    simulator.u["valve"] = -1.0
    with pytest.raises(bough.SimulationError, match="the flow of tank 'lox' is -1 kg/s, and nothing flows back"):
        simulator.advance(until=1.0)


def test_refusals():
    model = rocket().compile()
    with pytest.raises(bough.StateError, match=r"'lox' has 0 kg .* it is empty already; give it propellant"):
        bough.simulate(model, until=1.0, dt=0.1, tanks0=[0.0])
    with pytest.raises(bough.StateError, match="more than its capacity, 50 kg"):
        bough.simulate(model, until=1.0, dt=0.1, tanks0=[51.0])
    with pytest.raises(bough.StateError, match="tanks: 'lox' has -1 kg; give it 0 kg or more"):
        model.forward_dynamics(model.q0, model.v0, tanks=[-1.0])
    with pytest.raises(bough.StateError, match="not offered with the method 'radau'; use rk4"):
        bough.simulate(model, until=1.0, method="radau")
    with pytest.raises(bough.ModelError, match="'lox' is the propellant of a tank"):
        model.with_parameters({"lox.mass": 10.0})
    with pytest.raises(bough.StateError, match="has tanks, and operators"):
        model.operators(model.q0)
    with pytest.raises(bough.StateError, match="has tanks, through whose mass"):
        bough.sensitivities(model, until=1.0, dt=0.1)
    with pytest.raises(bough.StateError, match="has tanks, and loads from momenta"):
        model.momentum_loads(model.q0, model.v0, model.v0, "lox")


@pytest.mark.parametrize("mass", [30.0, 10.0, 22.5, 35.0, 40.0])
def test_the_end_at_the_end_of_a_step(mass):
    """m/c is a multiple of dt: whichever way compiled steps and single ones round there, the run goes on."""
    s = bough.System("stage")
    s.body("stage", joint=bough.Prismatic("z"), mass=100.0)
    s.tank("lox", body="stage", mass=40.0, flow=5.0, exhaust_speed=3000.0)
    result = bough.simulate(s.compile(), until=9.0, dt=0.05, sample_rate=10, tanks0=[mass])
    assert [(event.time, event.what) for event in result.events] == [(pytest.approx(mass/5.0, abs=EVENT), "is empty")]
    assert result.data.tank_mass.values[-1] == 0.0
    assert result.data.v.values[-1, 0] == pytest.approx(3000.0*np.log1p(mass/100.0), rel=simpson(5.0*0.05/100.0))  # 5 kg/s


def drop_tank(**tank):
    s = bough.System("drop tank")
    s.body("stage", joint=bough.Free(v0=[0, 0, 0, 0.1, 0.2, 0.3]), mass=100.0, inertia=(10, 12, 5))
    options = {"mass": 5.0, "flow": 1.0, "exhaust_speed": 300.0, "shape": {"sphere": 0.3}} | tank
    s.tank("lox", body="stage", at=(0.3, 0, 0), **options)
    return s


def test_a_tank_that_is_let_go_feeds_no_more():
    """Its propellant cannot reach the nozzle any more: it flies on with the mass that it has."""
    s = drop_tank()
    s.event("drop", at=0.5, do=[bough.Detach("lox")])
    result = bough.simulate(s, until=1.0, dt=0.01, record=["state", "tanks", "exhaust", "momentum", "energy"])
    assert "detaches lox, and lox cannot feed" in str(result)
    assert result.data.tank_mass.values[-1, 0] == pytest.approx(4.5, abs=5.0*STEPPED)
    assert not result.data.tank_thrust.values[-1].any()
    assert result.audit.line == "fine"
    linear = result.data.linear_momentum.values[51:]
    np.testing.assert_allclose(linear, np.broadcast_to(linear[0], linear.shape), atol=STEPPED*np.linalg.norm(linear[0]))


def test_tanks_that_cannot_be_let_go():
    s = drop_tank(shape=None)
    s.event("drop", at=0.5, do=[bough.Detach("lox")])
    with pytest.raises(bough.ModelError, match="detach 'lox' names a tank whose propellant is a point, which has no attitude"):
        s.compile()
    s = drop_tank(mass=0.2)
    s.event("drop", at=0.5, do=[bough.Detach("lox")])
    with pytest.raises(bough.SimulationError, match=r"'drop' detaches tank 'lox', which is empty: .* residual") as error:
        bough.simulate(s, until=1.0, dt=0.01)
    assert error.value.result is not None
