"""Simulators that go back, put single states of a batch elsewhere, or record nothing."""
import json

import numpy as np
import pytest

import bough
from tests.support.tolerance import CANCELLING, SWEEP


def swing(latch=False):
    s = bough.System("swing", gravity=(0, 0, -9.81))
    s.body("rod", joint=bough.Revolute("y", q0=0.3), mass=2.0, com=(0, 0, -1))
    s.body("bob", parent="rod", at=(0, 0, -2), joint=bough.Revolute("y"), mass=1.0, com=(0, 0, -0.5))
    s.input("motor", coordinate="rod.ry")
    s.output("angle", coordinate="rod.ry", noise=0.01)
    if latch:
        s.latch("catch", coordinate="bob.ry", at=0.1)
    return s


def integrating(t, y, z):
    return {"motor": -2.0*y["angle"] - z[0]}, z + 0.1*y["angle"]


@pytest.mark.parametrize("latch", [False, True])
@pytest.mark.parametrize("steps", [{"dt": 1e-2}, {"method": "dopri5"}])
def test_back_and_again_gives_the_same_bits(latch, steps):
    """With a latch, a law with states that reads noise, and a stop within a step; through JSON."""
    sim = bough.Simulator(swing(latch), **steps, laws=[bough.Law(integrating, period=0.05, states=[0.0])])
    sim.advance(until=0.333)
    kept, samples = json.loads(json.dumps(sim.snapshot())), len(sim.result().time)
    sim.u["motor"] = 1.0
    sim.advance(until=1.7)
    first = sim.x
    sim.restore(kept)
    assert sim.t == 0.333
    assert sim.u["motor"] != 1.0
    assert len(sim.result().time) <= samples
    sim.u["motor"] = 1.0
    sim.advance(until=1.7)
    assert (sim.x == first).all()
    if latch:
        assert len(sim.result().events) == 1


def test_one_cannot_go_on_to_samples_that_were_dropped():
    sim = bough.Simulator(swing(), dt=1e-2)
    sim.step()
    early = sim.snapshot()
    sim.step(10)
    late = sim.snapshot()
    sim.restore(early)
    with pytest.raises(bough.StateError, match="only go back"):
        sim.restore(late)


def test_nothing_is_recorded_with_a_sample_rate_of_zero():
    silent, loud = (bough.Simulator(swing(), dt=1e-2, sample_rate=rate) for rate in (0, None))
    for sim in (silent, loud):
        sim.step(300)
        sim.step()
        sim.advance(until=3.5)
    assert silent.result().time.tolist() == [0.0]
    assert (silent.x == loud.x).all()


@pytest.mark.parametrize("warm", [0, 3])
def test_single_states_of_a_batch_begin_elsewhere(warm):
    """The others do not notice: the same bits; with compiled steps already under way (warm) or not."""
    q = np.linspace(-1.0, 1.0, 10).reshape(5, 2)
    sims = [bough.Simulator(swing(), dt=1e-2, q0=q, sample_rate=0) for _ in range(2)]
    for sim in sims:
        sim.u["motor"] = 1.0
        for _ in range(warm):
            sim.step()
    sims[0].restart([1, 4], q0=[[0.5, 0.1], [0.2, 0.3]])
    sims[1].restart(np.array([False, True, False, False, False]), q0=[0.5, 0.1])
    for sim in sims:
        sim.step(20)
    rested = [0, 2, 3]
    assert (sims[0].x[[*rested, 1]] == sims[1].x[[*rested, 1]]).all()
    assert (sims[0].x[4] != sims[1].x[4]).all()
    alone = bough.Simulator(swing(), dt=1e-2, q0=[0.5, 0.1])
    alone.step(20)                                                  # no motor: a state that is put elsewhere has no inputs
    np.testing.assert_allclose(sims[0].x[1], alone.x[0], rtol=CANCELLING, atol=SWEEP)
    with pytest.raises(bough.StateError, match="no option 'q'"):
        sims[0].restart([1], q=[0.0, 0.0])


def test_outputs_of_a_batch_with_events_are_those_of_all_states():
    q = np.array([[-0.5, 0.0], [0.1, 0.2], [0.4, -0.3]])
    sim = bough.Simulator(swing(latch=True), dt=1e-2, q0=q)
    assert sim.y["angle"].tolist() == q[:, 0].tolist()
    sim.step(5)
    assert sim.y["angle"].tolist() == sim.state.q[:, 0].tolist()


def test_a_run_that_failed_as_a_whole_keeps_no_more_samples_than_it_has():
    sim = bough.Simulator(swing(), dt=1e-2, sample_rate=0)
    sim.step(2)
    sim.u["motor"] = 1e300
    with pytest.raises(bough.SimulationError, match="diverged") as failed:
        sim.step()
    assert failed.value.result.time.tolist() == [0.0]
    assert sim.diverged.tolist() == [True]
