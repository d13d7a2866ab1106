"""Events in runs: their times against closed forms, what they do to momenta and energies, and what they leave alone."""
import numpy as np
import pytest

import bough
from bough.describe import Lock, Move, Polynomial, Prescribe, Rate, Release
from bough.flex import beam
from bough.integrate import integrate
from tests.support.compare import assert_same
from tests.support.event_runs import OFF, WAYS, block, parts, run, satellite
from tests.support.mechanisms import four_bar
from tests.support.tolerance import CANCELLING, CLOSED, FORMULA, STEPPED, roundings

every_way = pytest.mark.parametrize("method", list(WAYS))


# ---- when ---------------------------------------------------------------------------------------------------------------------
@every_way
def test_a_latch_catches_where_and_when_the_coordinate_passes(method):
    """A constant rate, from -0.123 to 0.4567 at 0.7 a second; then it rests there."""
    s = block(q0=-0.123, v0=0.7)
    s.latch("catch", coordinate="b.z", at=0.4567)
    r = run(s, method)
    (event,) = r.events[0]
    assert abs(event.time - (0.4567 + 0.123)/0.7) < OFF[method]
    assert abs(r.x[0, -1, 0] - 0.4567) < OFF[method]
    assert r.x[0, -1, 1] == 0.0
    assert abs(event.jump.speeds["b.z"] + 0.7) < OFF[method]
    assert abs(event.jump.impulses["b.z"] + 2*0.7) < OFF[method]
    assert abs(event.jump.energy_lost - 0.7**2) < OFF[method]


@every_way
def test_free_fall_to_a_height_and_to_a_speed(method):
    """z = 1 - 9.81 t^2/2; at 0.3 in sqrt(1.4/9.81), at -2 m/s in 2/9.81."""
    s = block(-9.81, q0=1.0)
    s.event("low", when="b.z", crosses=0.3, direction="falling", do=[Lock("b")])
    s.event("fast", when="b.z", quantity="rate", crosses=-2.0, direction="falling", do=[Release("b")])
    s.event("never", when="b.z", crosses=0.5, direction="rising", do=[Lock("b")])
    fast, low = run(s, method).events[0]
    assert (fast.name, low.name) == ("fast", "low")
    assert abs(fast.time - 2/9.81) < OFF[method]
    assert abs(low.time - np.sqrt(1.4/9.81)) < OFF[method]


@every_way
def test_repeated_events_come_each_time_and_others_once(method):
    """An oscillator of 10 rad/s passes its middle every pi/10 s; the two directions in turn."""
    s = block(q0=0.1, stiffness=200.0)
    s.body("lamp", joint=bough.Revolute("x"), mass=1.0, inertia=(1, 1, 1))
    for name, direction, repeat in (("each", "both", True), ("up", "rising", True), ("once", "both", False)):
        s.event(name, when="b.z", crosses=0.0, direction=direction, repeat=repeat, do=[Lock("lamp")])
    r = run(s, method, until=2.0, **({"dt": 1e-3} if method == "rk4" else {}))
    passes = (np.arange(6) + 0.5)*np.pi/10
    for name, expected in (("each", passes), ("up", passes[1::2]), ("once", passes[:1])):
        times = [event.time for event in r.events[0] if event.name == name]
        np.testing.assert_allclose(times, expected, rtol=0, atol=1e-8)      # rk4: a phase error of (0.01)^5/120 a step


@every_way
def test_two_latches_at_one_moment_both_catch(method):
    """Panels that open in step: neither is missed."""
    s = bough.System("twins")
    s.body("bus", joint=bough.Free(), mass=10, inertia=(1, 1, 1))
    for name, side in (("left", 1), ("right", -1)):
        panel = {"mass": 1.0, "com": (0, side, 0), "inertia": (0.1, 0.1, 0.1)}
        s.body(name, parent="bus", at=(0, side, 0), joint=bough.Revolute("x", v0=side), **panel)
        s.latch(f"{name} latch", coordinate=f"{name}.rx", at=0.5*side)
    r = run(s, method)
    assert sorted(event.name for event in r.events[0]) == ["left latch", "right latch"]
    np.testing.assert_allclose(r.x[0, -1, 7:9], [0.5, -0.5], atol=OFF[method])
    np.testing.assert_allclose(r.x[0, -1, 9:], [0, 0, 2/12, 0, 0, 0, 0, 0], atol=OFF[method])     # 2 kg m/s upward, shared by 12 kg


@every_way
def test_set_times_are_kept_and_samples_at_them_are_from_before(method):
    """Lock at once, release, lock at the very end; a sample at an event is of the moment before it, but at 0 s."""
    s = block(-2.0, v0=1.0)
    for name, at, action in (("now", 0.0, Lock), ("go", 0.5, Release), ("end", 1.0, Lock)):
        s.event(name, at=at, do=[action("b")])
    r = run(s, method, sample_rate=4)
    assert [event.time for event in r.events[0]] == [0.0, 0.5, 1.0]
    np.testing.assert_allclose(r.x[0, :, 0], [0, 0, 0, -0.0625, -0.25], atol=OFF[method])
    np.testing.assert_allclose(r.x[0, :, 1], [0, 0, 0, -0.5, -1.0], atol=OFF[method])
    assert r.events[0][2].jump.energy_lost == pytest.approx(1.0, abs=2*OFF[method])


def test_a_time_that_rounding_puts_beside_a_sample_is_no_trouble():
    """3*0.1 is not 0.3."""
    s = block(v0=1.0)
    s.event("lock", at=0.3, do=[Lock("b")])
    for method in WAYS:
        np.testing.assert_allclose(run(s, method, sample_rate=10).x[0, 3:, 0], 0.3, atol=OFF[method])


def test_late_events_are_found_to_the_rounding_of_time():
    s = block(q0=-999.0, v0=1.0)
    s.latch("late", coordinate="b.z", at=0.0005)
    r = run(s, dt=0.5, until=1001.0, sample_rate=1)
    assert abs(r.events[0][0].time - 999.0005) < roundings(2002, 1000.0)                # 2002 steps, each rounds 1000 s or m
    assert abs(r.x[0, -1, 0] - 0.0005) < roundings(2002, 1000.0)


def test_events_that_set_each_other_off_end_the_run():
    """Driven up below a value and down above another one that is the same but for rounding: time does not go on."""
    s = block(v0=1.0)
    s.event("up", when="b.z", crosses=0.3, direction="rising", repeat=True, do=[Prescribe("b.z", Rate(-1.0))])
    s.event("down", when="b.z", crosses=0.3 - 2e-15, direction="falling", repeat=True, do=[Prescribe("b.z", Rate(1.0))])
    r = run(s)
    assert "events set each other off for ever" in r.failure
    assert abs(r.events[0][-1].time - 0.3) < OFF["rk4"]


# ---- what it does to speeds -----------------------------------------------------------------------------------------------------
@every_way
@pytest.mark.parametrize("target", ["boom", "wrist.ry", "mast", "wrist"])
def test_locking_keeps_momenta_and_loses_energy(method, target):
    """A floating tree with a driven wheel: momenta and energy from the start to the end, through the jump."""
    s = satellite()
    s.event("lock", at=0.5, do=[Lock(target)])
    model = s.compile()
    r = integrate(model, until=1.0, method=method, **(WAYS[method] | {"sample_rate": 20}))
    (event,) = r.events[0]
    q, v, wheels = parts(model, r.x[0])
    momentum = np.array([model.momentum(a, b, wheels=c) for a, b, c in zip(q, v, wheels, strict=True)])
    assert_same(momentum, np.tile(momentum[0], (len(momentum), 1)), 1e-8)               # what the methods lose over 100 steps
    energy = np.array([model.kinetic_energy(a, b, wheels=c) for a, b, c in zip(q, v, wheels, strict=True)])
    assert event.jump.energy_lost > 0.0
    assert abs(energy[0] - energy[-1] - event.jump.energy_lost) < 1e-8*energy[0]                                # likewise
    for name in event.jump.impulses:
        assert (v[r.t > 0.5, model.names.v.index(name)] == 0.0).all()


def jumped(system, x, event):
    """The state after an event at 0 s, and what it reports: nothing else happens in between."""
    model = system.compile()
    r = integrate(model, q0=x[:model.nq], v0=x[model.nq:model.nq + model.nv], until=1e-3, dt=1e-3)
    return model, r.x[0, 0], next(each for each in r.events[0] if each.name == event)


@pytest.mark.parametrize("target", ["boom", "wrist.rx", "wrist", "mast", "bus.x"])
def test_the_jump_is_the_impulse_solution(target):
    """M dv is the impulses on what is locked and zero elsewhere; momenta to 1e-12 where the base is free; energy by dv too."""
    s = satellite(wheel=False)
    s.event("lock", at=0.0, do=[Lock(target)])
    loose = satellite(wheel=False).compile()
    before = np.concatenate([loose.q0, loose.v0])
    model, after, event = jumped(s, before, "lock")
    q, dv = loose.q0, (after - before)[loose.nq:]
    impulses = loose.mass_matrix(q) @ dv
    for i, name in enumerate(model.names.v):
        assert abs(event.jump.speeds[name] - dv[i]) < FORMULA
        assert abs(impulses[i] - event.jump.impulses.get(name, 0.0)) < CANCELLING*np.abs(impulses).max()
    if target != "bus.x":
        momenta = [loose.momentum(q, v) for v in (loose.v0, after[loose.nq:])]
        assert_same(momenta[1], momenta[0], CANCELLING)
    energies = [loose.kinetic_energy(q, v) for v in (loose.v0, after[loose.nq:])]
    assert abs(event.jump.energy_lost - (energies[0] - energies[1])) < CANCELLING*energies[0]
    assert event.jump.energy_lost > 0.0


def test_a_driven_wheel_shares_the_jump():
    """The wheel's spin momentum about its axis is its motor's affair alone: it stays when the body jumps."""
    s = satellite()
    s.event("lock", at=0.0, do=[Lock("boom")])
    model = s.compile()
    r = integrate(model, until=1e-3, dt=1e-3)
    spins = []
    for x in (np.concatenate([model.q0, model.v0, model.wheel_speeds]), r.x[0, 0]):
        q, v, wheels = parts(model, x)
        axis = model.pose(q, "bus")[1] @ np.array([1, 1, 0])/np.sqrt(2)
        spins.append(0.02*(wheels[0] + axis @ model.velocity(q, v, "bus")[:3]))
    assert r.x[0, 0, -1] != 50.0
    assert abs(spins[1] - spins[0]) < CANCELLING*spins[0]


def test_locking_a_moving_four_bar_keeps_its_loop_closed():
    """The crank's lock stops all of it; the impulse is the crank's share of M dv with the loop's forces in between."""
    case = four_bar("revolute")
    s = case.system
    s.event("lock", at=0.2, do=[Lock("crank")])
    model = s.compile()
    q, v = model.assemble(case.q, case.v)
    r = integrate(model, q0=q, v0=v, until=0.4, dt=1e-3, sample_rate=100)
    after = r.t > 0.2
    assert np.abs(r.x[0, after, 3:]).max() < STEPPED
    assert np.ptp(r.x[0, after, :3], axis=0).max() < STEPPED
    for states in r.x[0]:
        assert max(np.abs(gap).max() for gap in model.loop_gaps(states[:3], states[3:]).values()) < CLOSED*max(1.0, np.abs(v).max())
    (event,) = r.events[0]
    assert abs(event.jump.energy_after) < CANCELLING < event.jump.energy_lost
    before = r.x[0, np.argmin(np.abs(r.t - 0.2))]
    work = event.jump.impulses["crank.ry"]*before[3]                 # all ends at rest: energy lost is half of impulse times rate
    assert abs(-work/2 - event.jump.energy_lost) < CANCELLING*event.jump.energy_lost


def test_locking_a_joint_with_a_flexible_body_rings_it():
    """Modes take part in the jump; the momenta of the floating whole stay."""
    s = bough.System("flexible")
    s.body("bus", joint=bough.Free(), mass=10.0, inertia=(1, 1, 1))
    panel = beam(2.0, EI=(40.0, 60.0), mass_per_length=0.5, modes=3, elements=4)
    s.body("panel", parent="bus", at=(0.5, 0, 0), joint=bough.Revolute("z", v0=0.5), flexible=panel)
    loose = s.compile()
    s.event("lock", at=0.0, do=[Lock("panel")])
    model, x, event = jumped(s, np.concatenate([loose.q0, loose.v0]), "lock")
    v = x[model.nq:]
    assert np.abs(v[7:]).max() > 1e-3
    assert_same(model.momentum(loose.q0, v), model.momentum(loose.q0, loose.v0), CANCELLING)
    impulses = loose.mass_matrix(loose.q0) @ (v - loose.v0)
    assert_same(impulses, np.eye(len(v))[6]*event.jump.impulses["panel.rz"], CANCELLING)
    r = integrate(model, until=0.5, dt=1e-3)
    assert (r.x[0, :, model.nq + 6] == 0.0).all()


def test_releasing_keeps_the_state():
    s = satellite()
    s.event("lock", at=0.2, do=[Lock("wrist")])
    s.event("release", at=0.6, do=[Release("wrist")])
    r = run(s, dt=1e-3, sample_rate=1000)
    lock, release = r.events[0]
    assert lock.jump is not None
    assert release.jump is None
    steps = np.abs(np.diff(parts(s.compile(), r.x[0])[1], axis=0)).max(axis=1)         # of speeds, within 1 ms
    assert steps[np.searchsorted(r.t, 0.6)] < 0.01 < 0.1 < steps.max()      # no jump, and one


@every_way
def test_a_motion_that_starts_at_an_event_starts_where_the_coordinate_is(method):
    """A rest-to-rest move by 0.4 from wherever it is; from then on q is the polynomial, exactly."""
    s = block(-1.0, q0=0.3, v0=0.1)
    s.event("lock", at=0.25, do=[Lock("b.z")])
    s.event("move", at=0.5, do=[Prescribe("b.z", Move(0.9, start=0.5, duration=0.4))])
    r = run(s, method, sample_rate=20)
    rest = 0.3 + 0.1*0.25 - 0.25**2/2
    u = np.clip((r.t - 0.5)/0.4, 0.0, 1.0)
    late = r.t >= 0.25
    expected = rest + 0.4*(10*u**3 - 15*u**4 + 6*u**5)
    np.testing.assert_allclose(r.x[0, late, 0], expected[late], rtol=0, atol=OFF[method])
    assert r.events[0][1].jump is None


@every_way
def test_a_motion_that_starts_moving_takes_an_impulse(method):
    """From rest to 0.5 m/s at once: 1 N s on 2 kg."""
    s = block()
    s.event("go", at=0.3, do=[Prescribe("b.z", Polynomial([7.0, 0.5, 1.0]))])
    r = run(s, method, sample_rate=10)
    jump = r.events[0][0].jump
    assert (jump.speeds["b.z"], jump.impulses["b.z"]) == pytest.approx((0.5, 1.0), abs=CANCELLING)
    assert jump.energy_lost == pytest.approx(-0.25, abs=CANCELLING)              # what the drive gives
    tau = np.maximum(r.t - 0.3, 0.0)
    np.testing.assert_allclose(r.x[0, :, 0], 0.5*tau + tau**2, rtol=0, atol=CANCELLING)


# ---- batches and controllers ----------------------------------------------------------------------------------------------------
@every_way
def test_each_run_of_a_batch_meets_its_events_at_its_own_time(method):
    s = block()
    s.latch("catch", coordinate="b.z", at=0.5)
    speeds = np.array([0.6, 1.0, 2.0, 0.1, 5.0])
    r = run(s, method, v0=speeds[:, None], q0=np.zeros((5, 1)))
    for row, speed in enumerate(speeds):
        alone = run(s, method, v0=[speed])
        assert (alone.x[0] == r.x[row]).all()
        assert [event.time for event in alone.events[0]] == [event.time for event in r.events[row]]
        np.testing.assert_allclose([event.time for event in r.events[row]], [0.5/speed] if speed > 0.5 else [], atol=OFF[method])


def test_the_jumps_of_a_batch_have_each_members_masses():
    """Two carts in a row: m1 v1 + m2 v2 stays when they couple."""
    s = bough.System("carts")
    s.body("a", joint=bough.Prismatic("x", v0=1.0), mass=1.0)
    s.body("b", parent="a", joint=bough.Prismatic("x", v0=3.0), mass=1.0)
    s.event("couple", at=0.5, do=[Lock("b")])
    r = integrate(s.compile(), until=1.0, dt=0.1, parameters={"b.mass": [1.0, 9.0]})
    np.testing.assert_allclose(r.x[:, -1, 2], [1 + 3/2, 1 + 3*9/10], rtol=CANCELLING)
    assert [events[0].jump.energy_lost for events in r.events] == pytest.approx([9/4, 9*9/10/2], rel=STEPPED)


def test_a_controller_is_asked_once_a_period_though_a_step_is_taken_again():
    s, times = block(v0=1.0), []
    s.latch("catch", coordinate="b.z", at=0.555)
    run(s, dt=0.05, control=lambda t, q, v, wheels: times.append(t) or [0.0], control_period=0.1)
    np.testing.assert_allclose(times, np.arange(10)*0.1, atol=STEPPED)
