"""The user owns the loop: stepping, inputs, outputs, resuming. Runs are the same to the bit however they are parted."""
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import bough
from bough.errors import SimulationError, StateError
from bough.results.stream import Parts
from tests.support.resumed import LAWS, METHODS, OTHERS, SYSTEMS, latched_pendulum, nudge
from tests.support.tolerance import CANCELLING, PRODUCTS, SWEEP, oscillation, roundings

UNTIL, RATE = 1.3, 40.0


def same(a, b):
    """All that was recorded, to the bit."""
    assert np.array_equal(a.time, b.time)
    for name in a.data:
        assert np.array_equal(a.data[name].values, b.data[name].values, equal_nan=True), name
    assert a.events == b.events


# each system and each method is among the quick tests, not each pair
QUICK = {("events", "rk4"), ("flexible", "dopri5"), ("loops", "imex2"), ("loops", "euler-cromer"), ("flexible", "imex43")}
PAIRS = [pytest.param((system, method), marks=() if (system, method) in QUICK else pytest.mark.slow)
         for system in SYSTEMS for method in METHODS]


@pytest.fixture(scope="module", params=PAIRS, ids="-".join)
def whole(request):
    """A model, options, and the run that was made at once."""
    system, method = request.param
    model = SYSTEMS[system]().compile()
    options = {"method": method, "laws": LAWS, "seed": 7, "sample_rate": RATE} | METHODS[method]
    return model, options, bough.simulate(model, until=UNTIL, progress=False, **options)


def test_a_run_in_pieces_of_any_length_is_the_same(whole):
    model, options, expected = whole
    sim = bough.Simulator(model, **options)
    for until in (0.0003, 0.1, 0.1004, 0.55, 0.5501, 1.0, 1.2999):
        sim.advance(until)
        assert sim.t == until
    same(sim.finish(UNTIL, progress=False), expected)


def test_a_run_that_is_saved_and_resumed_is_the_same(whole, tmp_path):
    model, options, _ = whole
    early = bough.simulate(model, until=0.6003, progress=False, **options)
    early.save(tmp_path / "early.nc")
    sim = bough.resume(tmp_path / "early.nc", laws=LAWS)
    assert sim.t == 0.6003
    sim.advance(0.9)
    sim.save(tmp_path / "later.nc")
    same(bough.resume(tmp_path / "later.nc", laws=LAWS, model=model).finish(UNTIL, progress=False), whole[2])


@pytest.mark.parametrize("method", ["rk4", pytest.param("euler-cromer", marks=pytest.mark.slow),
                                    pytest.param("dopri5", marks=pytest.mark.slow)])
@pytest.mark.parametrize("system", OTHERS)
def test_other_parts_go_on_as_if_nothing_had_happened(system, method, tmp_path):
    """Propellant that ends, joints that stick, gears with play, flexible bodies in orbit: in pieces, and saved and resumed."""
    model = OTHERS[system]().compile()
    options = {"method": method, "laws": [nudge], "seed": 7, "sample_rate": RATE} | METHODS[method]
    expected = bough.simulate(model, until=UNTIL, progress=False, **options)
    assert (system == "orbit") == (not expected.events)
    sim = bough.Simulator(model, **options)
    for until in (0.0003, 0.1004, 0.55, 0.8, 0.8051):
        sim.advance(until)
    sim.save(tmp_path / "run.nc")
    same(sim.finish(UNTIL, progress=False), expected)
    same(bough.resume(tmp_path / "run.nc", laws=[nudge]).finish(UNTIL, progress=False), expected)


def test_a_streamed_run_is_the_same(whole, tmp_path):
    model, options, expected = whole
    same(bough.simulate(model, until=UNTIL, save_to=tmp_path / "run.nc", checkpoint=1e-4, progress=False, **options), expected)
    assert os.listdir(tmp_path) == ["run.nc"]


def test_a_streamed_run_that_ended_goes_on(whole, tmp_path):
    model, options, expected = whole
    bough.simulate(model, until=0.7, save_to=tmp_path / "run.nc", checkpoint=1e-4, progress=False, **options)
    same(bough.resume(tmp_path / "run.nc", laws=LAWS).finish(UNTIL, progress=False), expected)
    on = bough.resume(tmp_path / "run.nc", laws=LAWS, save_to=tmp_path / "on.nc", checkpoint=1e-4)
    same(on.finish(UNTIL, progress=False), expected)
    same(bough.open_result(tmp_path / "on.nc"), expected)
    assert sorted(os.listdir(tmp_path)) == ["on.nc", "run.nc"]
    with pytest.raises(StateError, match=r"came to its end in .*on.nc; go on with bough.resume"):
        on.finish(2.0*UNTIL, progress=False)


@pytest.mark.parametrize("method", ["rk4", "euler-cromer"])
def test_steps_are_those_of_a_run(method):
    s = latched_pendulum()
    s.events.clear()
    model = s.compile()
    run = bough.simulate(model, until=0.7, dt=1e-3, sample_rate=1e3, method=method, progress=False)
    sim = bough.Simulator(model, method=method, dt=1e-3)
    for n in (1, 1, 1, 297, 1, 399):
        sim.step(n)
    assert sim.t == pytest.approx(0.7)
    assert np.array_equal(sim.result().data.q.values, run.data.q.values)
    assert sim.result().time == pytest.approx(run.time, rel=PRODUCTS)


def test_adaptive_steps_are_those_of_a_run():
    model = latched_pendulum().compile()
    sim = bough.Simulator(model, method="dopri5", rtol=1e-6, atol=1e-8)
    while sim.t < 1.2:
        sim.step()
    stepped = sim.result()
    run = bough.Simulator(model, method="dopri5", rtol=1e-6, atol=1e-8)
    for t in stepped.time[1:]:
        run.advance(t)
    assert np.array_equal(stepped.data.q.values, run.result().data.q.values)


def test_what_is_set_acts_from_then_on():
    """A constant torque on a rotor of unit inertia: v = t."""
    s = bough.System("rotor")
    s.body("rotor", joint=bough.Revolute("z"), inertia=(1, 1, 1), mass=1.0)
    s.input("motor", coordinate="rotor")
    s.output("speed", rate="rotor")
    sim = bough.Simulator(s, dt=1e-3)
    sim.step(10)
    assert sim.y["speed"] == 0.0
    sim.u["motor"] = 1.0
    sim.step(5)
    assert sim.y["speed"] == pytest.approx(0.005, rel=CANCELLING)
    sim.advance(0.0305)                                         # inside a step
    sim.u["motor"] = 0.0
    sim.advance(1.0)
    assert sim.y["speed"] == pytest.approx(0.0205, rel=CANCELLING)
    assert sim.u["motor"] == 0.0


def test_batches_step_in_lanes():
    model = latched_pendulum()
    model.events.clear()
    q0 = np.linspace(-0.5, 0.5, 10).reshape(5, 2)
    sim = bough.Simulator(model, q0=q0, dt=1e-3)
    sim.u["motor"] = np.arange(5.0)
    sim.step(50)
    assert sim.state.q.shape == (5, 2)
    for i in range(5):
        one = bough.Simulator(model, q0=q0[i], dt=1e-3)
        one.u["motor"] = float(i)
        one.step(50)
        assert one.state.q == pytest.approx(sim.state.q[i], rel=SWEEP)


def test_reset_starts_anew():
    sim = bough.Simulator(latched_pendulum(), dt=1e-3, laws=LAWS, seed=1)
    sim.advance(0.8)
    first = sim.state.q
    sim.reset()
    assert sim.t == 0.0
    sim.advance(0.8)
    assert np.array_equal(sim.state.q, first)
    sim.reset(q0=[0.0, 0.0], seed=2)
    assert np.array_equal(sim.state.q, [0.0, 0.0])
    with pytest.raises(StateError, match="q has shape"):
        sim.reset(q0=[1.0])
    sim.reset()                                                         # what made no start is forgotten
    assert np.array_equal(sim.state.q, [0.0, 0.0])


KILLED = """
import os, sys
import bough
from tests.support.resumed import LAWS, METHODS, SYSTEMS
for system in SYSTEMS:
    for method in METHODS:
        if os.fork() == 0:
            bough.simulate(SYSTEMS[system](), until=1e4, method=method, **METHODS[method], sample_rate=50, laws=LAWS, seed=3,
                           save_to=f"{sys.argv[1]}/{system}-{method}.nc", checkpoint=0.02, progress=False)
            os._exit(0)
while True:
    os.wait()
"""


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """Streamed runs of all systems by all methods, each in a process of its own, that were killed at some moment."""
    folder = tmp_path_factory.mktemp("killed")
    group = subprocess.Popen([sys.executable, "-c", KILLED, str(folder)], cwd=os.getcwd(), start_new_session=True)
    wanted = [folder / f"{system}-{method}.nc.parts" for system in SYSTEMS for method in METHODS]
    try:
        while group.poll() is None and not all(len(list(parts.glob("part-*.npz"))) > 2 for parts in wanted):
            time.sleep(0.02)
        assert group.poll() is None, "the runs were over before they could be killed"
    finally:
        os.killpg(group.pid, signal.SIGKILL)
        group.wait()
    return folder


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="runs are forked")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("system", SYSTEMS)
def test_a_killed_run_goes_on(killed, system, method):
    """SIGKILL at some moment of a streamed run, with events, loops, flexible bodies, laws with states and noise: what is resumed,
    in memory or streamed on, equals one that was never disturbed."""
    file = killed / f"{system}-{method}.nc"
    sim = bough.resume(file, laws=LAWS)
    reached = sim.t
    assert 0.0 < reached < 1e4
    until = reached + 0.213
    options = {"method": method, "sample_rate": 50, "laws": LAWS, "seed": 3, "progress": False} | METHODS[method]
    expected = bough.simulate(SYSTEMS[system](), until=until, **options)
    same(sim.finish(until, progress=False), expected)
    same(bough.resume(file, laws=LAWS, save_to=file, checkpoint=1e-4).finish(until, progress=False), expected)
    assert not Parts(file).folder.exists()


def test_memory_stays_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr("bough.results.stream.MOST_NUMBERS", 2000)
    s = latched_pendulum()
    s.events.clear()
    run = bough.simulate(s, until=3.0, dt=1e-3, sample_rate=1000, save_to=tmp_path / "run.nc", record="state", progress=False)
    assert len(run.time) == 3001
    same(run, bough.simulate(s, until=3.0, dt=1e-3, sample_rate=1000, record="state", progress=False))
    sim = bough.resume(tmp_path / "run.nc", save_to=tmp_path / "run.nc", record="state")
    assert sim._runs[0].out.size < 4000                                     # of the 3001 samples the last part
    with pytest.raises(StateError, match="on disk only"):
        sim.result()
    longer = sim.finish(4.0005, progress=False)
    same(longer, bough.simulate(s, until=4.0005, dt=1e-3, sample_rate=1000, record="state", progress=False))
    again = bough.resume(tmp_path / "run.nc", save_to=tmp_path / "run.nc", record="state").finish(4.2, progress=False)
    same(again, bough.simulate(s, until=4.2, dt=1e-3, sample_rate=1000, record="state", progress=False))     # no sample at 4.0005


@pytest.mark.parametrize(("options", "words"), [
    ({"checkpoint": 1.0}, "checkpoint is 1.0, but nothing is streamed; give save_to, too"),
    ({"save_to": "."}, "save_to is '.'; give the name of a file"), ({"save_to": 3}, "save_to is 3; give the name of a file"),
    ({"save_to": "run.nc", "checkpoint": 0.0}, "checkpoint is 0.0; give seconds between two checkpoints"),
])
def test_nonsense_about_streams_is_named(options, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    bough.simulate(latched_pendulum(), until=0.01, dt=1e-3, progress=False).save("saved.nc")
    with pytest.raises(StateError, match=words):
        bough.simulate(latched_pendulum(), until=0.01, dt=1e-3, progress=False, **options)
    with pytest.raises(StateError, match=words):
        bough.resume("saved.nc", **options)
    for read in (bough.resume, bough.open_result):
        with pytest.raises(StateError, match="path is None; give the name of a file"):
            read(None)


@pytest.mark.parametrize(("do", "words"), [
    (lambda sim: sim.u.__setitem__("moter", 1.0), "no input 'moter', did you mean 'motor'"),
    (lambda sim: sim.u.__setitem__("motor", "full"), "give 1 number"),
    (lambda sim: sim.u.__setitem__("push", [1.0, 2.0]), "give 3 numbers"),
    (lambda sim: sim.u.__setitem__("motor", np.nan), "finite"),
    (lambda sim: sim.y["angel"], "no output 'angel', did you mean 'angle'"),
    (lambda sim: sim.step(0), "1 or more"),
    (lambda sim: sim.step(1.5), "number of steps"),
    (lambda sim: sim.advance(-1.0), "later time"),
    (lambda sim: sim.reset(dt=1.0), "no option 'dt'"),
    (lambda sim: sim.step("2"), "n is '2'"), (lambda sim: sim.step(True), "n is True"),
    (lambda sim: sim.step(10**400), "n is 1000"),
    (lambda sim: sim.advance(None), "until is None"), (lambda sim: sim.advance(np.inf), "until is inf"),
    (lambda sim: sim.advance("1.0"), "until is '1.0'"), (lambda sim: sim.advance([1.0, 2.0]), "until is .1.0, 2.0"),
    (lambda sim: next(sim.realtime(np.nan, period=0.1)), "until is nan"),
    (lambda sim: sim.y[["angle"]], "no output"), (lambda sim: sim.u.update([(("a", "b"), 1.0)]), "no input"),
    (lambda sim: sim.finish(), "no end planned"), (lambda sim: sim.save(None), "path is None; give the name of a file"),
])
def test_nonsense_is_named(do, words):
    sim = bough.Simulator(latched_pendulum(), dt=1e-3)
    with pytest.raises(StateError, match=words):
        do(sim)


def test_unknown_options_are_named():
    with pytest.raises(StateError, match=r"no option 'rtool' \(did you mean 'rtol'"):
        bough.Simulator(latched_pendulum(), method="dopri5", rtool=1e-6)


def test_a_run_that_diverges_keeps_what_it_has():
    s = bough.System("spring")
    s.body("mass", joint=bough.Prismatic("x", stiffness=1e9, q0=1.0), mass=1.0)
    sim = bough.Simulator(s, dt=0.01)
    with pytest.raises(SimulationError, match="diverged") as caught:
        sim.step(2000)
    assert len(caught.value.result.time) > 1


def test_calls_without_samples_between_them_prepare_once(monkeypatch):
    """Where nothing is recorded, nothing has to be made ready again before the next event or law: steps cost what they cost in a
    longer call."""
    entered = []
    enter = bough.Simulator._enter_fast_path
    monkeypatch.setattr(bough.Simulator, "_enter_fast_path", lambda self, n: (entered.append(n), enter(self, n))[1])
    s = bough.System("spring")
    s.body("mass", joint=bough.Prismatic("x", stiffness=1.0, q0=1.0), mass=1.0)
    sim = bough.Simulator(s, dt=1e-3, sample_rate=0)
    for _ in range(10):
        sim.step(1000)
    assert len(entered) <= 2
    error = oscillation("rk4", w=1.0, h=1e-3, time=10.0) + roundings(10_000)     # of each step
    assert sim.state.q[0] == pytest.approx(np.cos(10.0), rel=0, abs=error)


def test_another_model_is_refused(tmp_path):
    s = latched_pendulum()
    bough.simulate(s, until=0.01, dt=1e-3, progress=False).save(tmp_path / "run.nc")
    s.body("more", mass=1.0)
    with pytest.raises(StateError, match="differs"):
        bough.resume(tmp_path / "run.nc", model=s)


def test_realtime_keeps_pace_with_the_clock():
    sim = bough.Simulator(latched_pendulum(), dt=1e-3)
    sim.step()
    began = time.perf_counter()
    times = list(sim.realtime(until=sim.t + 0.2, period=0.02))
    assert time.perf_counter() - began > 0.19
    assert len(times) == len(sim.lateness) == 10
    assert min(sim.lateness) >= 0.0
