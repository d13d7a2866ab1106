"""Friction in runs: against closed forms, conservation laws, and SciPy's integrator between events."""
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import bough
from bough.errors import DescriptionError, ModelError, SimulationError, StateError
from tests.support.compare import solved
from tests.support.tolerance import CANCELLING, EVENT, PRODUCTS, STEPPED, SWEEP, adaptive, truncated

G = 9.81


def slope(angle, **friction):
    s = bough.System("slope", gravity=(G*np.sin(angle), 0, -G*np.cos(angle)))
    s.body("block", joint=bough.Prismatic("x"), mass=2.0)
    s.friction("contact", "block", **friction)
    return s


def test_a_block_on_a_slope_sticks_for_good():
    """No creep, to the last bit, in a hundred seconds; a regularized law creeps at v0 r/sqrt(1 - r^2), r = load/coulomb."""
    load = 2.0*G*np.sin(0.3)
    model = slope(0.3, coulomb=1.1*load).compile()
    result = bough.simulate(model, until=100.0, dt=0.05, sample_rate=0.1)
    assert not result.data.q.values.any()
    assert not result.data.v.values.any()
    np.testing.assert_allclose(result.data.friction_force, -load, rtol=SWEEP)
    assert (result.data.friction_sticks.values == 1).all()
    creeping = slope(0.3, coulomb=1.1*load, law="regularized", speed=1e-3).compile()
    smooth = bough.simulate(creeping, until=1.0, dt=1e-4, sample_rate=1)
    # rounding of the load, 1/(1 - r^2) times
    np.testing.assert_allclose(smooth.data.v[-1], 1e-3/1.1/np.sqrt(1 - 1/1.21), rtol=10*CANCELLING)


@pytest.mark.parametrize("method", ["rk4", "euler-cromer", "dopri5", "imex2", "imex4", "imex43"])
def test_a_block_comes_to_rest(method):
    """From v0 on a slope with F > load: after v0/a it sticks, a = F/m - g sin; friction took the energy that is missing."""
    force, v0 = 9.0, 1.0
    a = force/2.0 - G*np.sin(0.3)
    model = slope(0.3, coulomb=force, static=1.2*force).compile()
    step = {} if method in ("dopri5", "imex43") else {"dt": 1e-2}
    result = bough.simulate(model, v0=[v0], until=2.0, method=method, sample_rate=50, **step)
    [stop] = result.trajectory.events[0]
    assert stop.time == pytest.approx(v0/a, abs=10*EVENT)              # adaptive steps grow to some seconds
    if method != "euler-cromer":
        np.testing.assert_allclose(result.data.q[-1], v0**2/2/a, rtol=2*STEPPED)
        np.testing.assert_allclose(result.data.friction_loss[-1], force*v0**2/2/a, rtol=2*STEPPED)
        balance = result.data.total_energy.values + result.data.friction_loss.values[:, 0]
        assert np.ptp(balance) < STEPPED
    np.testing.assert_allclose(result.data.v[-20:], 0.0, atol=0)


def puller(V, k, m, static, coulomb, **more):
    """A block on the ground, pulled by a spring whose other end moves at V: the spring is a coupling that gives way."""
    s = bough.System("puller")
    s.body("end", joint=bough.Prismatic("x", motion=bough.motion.Rate(V)), mass=1.0)
    s.body("block", joint=bough.Prismatic("x"), mass=m)
    s.coupling("spring", {"end": 1.0, "block": -1.0}, stiffness=k)
    s.friction("ground", "block", coulomb=coulomb, static=static, **more)
    return s


def test_breakaway_and_the_period_of_stick_slip():
    """It breaks away at Fs/(k V). Then, with w^2 = k/m and D = Fs - Fc, the slip lasts until the speed is zero again: x' =
    V (1 - cos wt) + D/(m w) sin wt, that is tan(w t/2) = -D/(m w V): t_slip = (2 pi - 2 atan(D/(m w V)))/w. It then sticks until
    the spring is up again: over a period the block moves by V T, in the slip by V t_slip + 2 D/k: the stick lasts 2 D/(k V)."""
    V, k, m, static, coulomb = 0.1, 20.0, 1.0, 2.0, 1.2
    w, D = np.sqrt(k/m), static - coulomb
    slip = (2*np.pi - 2*np.arctan(D/(m*w*V)))/w
    result = bough.simulate(puller(V, k, m, static, coulomb).compile(), until=6.0, dt=2e-3, sample_rate=100)
    events = result.trajectory.events[0]
    times = np.array([event.time for event in events])
    assert [event.what.split(":")[0] for event in events[:4]] == ["slips forward", "sticks"]*2
    assert times[0] == pytest.approx(static/(k*V), abs=EVENT + STEPPED)
    off = 2*(w*2e-3)**4/120                                             # of rk4, in phase and in amplitude
    np.testing.assert_allclose(times[1::2] - times[0::2][:len(times[1::2])], slip, rtol=off)
    np.testing.assert_allclose(np.diff(times[0::2]), slip + 2*D/(k*V), rtol=off)


@pytest.mark.parametrize("options", [{"method": "imex2", "dt": 5e-3}, {"method": "imex4", "dt": 5e-3},
                                     {"method": "imex43", "rtol": 1e-9, "atol": 1e-12}], ids=lambda options: options["method"])
def test_implicit_methods_find_sticking_inside_steps_that_do_not_resolve_a_spring(options):
    """Stick-slip, pulled through a spring of 1e7 N/m, a coupling that rings at 870 Hz, which steps of 5 ms do not resolve: to them
    it is rigid, and the closed forms are those of both masses together. Nothing creeps while it sticks."""
    V, k, masses, static, coulomb = 0.1, 20.0, (0.5, 1.0), 2.0, 1.2
    s = puller(V, k, masses[0], 0.0, 0.0)
    s.frictions.clear()
    s.body("load", joint=bough.Prismatic("x"), mass=masses[1])
    s.coupling("stiff", {"block": 1.0, "load": -1.0}, stiffness=1e7, damping=300.0)
    s.friction("ground", "load", coulomb=coulomb, static=static)
    result = bough.simulate(s.compile(), until=5.0, sample_rate=100, progress=False, **options)
    events = result.trajectory.events[0]
    times, w, D = np.array([event.time for event in events]), np.sqrt(k/sum(masses)), static - coulomb
    off = 2*(w*5e-3)**2/12                                              # of imex2, in phase and in amplitude
    slip = (2*np.pi - 2*np.arctan(D/(sum(masses)*w*V)))/w
    assert [event.what.split(":")[0] for event in events[:4]] == ["slips forward", "sticks"]*2
    late = static/V/1e7 - 300.0*k/1e7**2                                # the stiff spring's stretch, to which its damper adds
    assert times[0] == pytest.approx(static/(k*V) + late, abs=options.get("rtol", EVENT + STEPPED))
    np.testing.assert_allclose(times[1::2] - times[0::2][:len(times[1::2])], slip, rtol=off)
    np.testing.assert_allclose(np.diff(times[0::2]), slip + 2*D/(k*V), rtol=off)
    sticks = result.data.friction_sticks.values[:, 0] == 1
    assert sticks.sum() > 100
    assert not result.data.v.sel(v_name="load.x").values[sticks].any()


def test_implicit_methods_take_the_drag_of_smooth_friction_at_the_end_of_a_stage():
    """Twenty times the longest stable step of rk4: the block creeps at its terminal speed, v0 r/sqrt(1 - r^2), r = load/coulomb;
    and the viscous part alone follows its closed form at steps of a hundred time constants."""
    load, speed = 2.0*G*np.sin(0.3), 1e-2
    model = slope(0.3, coulomb=1.1*load, law="regularized", speed=speed).compile()
    dt, exact = 20*2.78*2.0*speed/(1.1*load), speed/1.1/np.sqrt(1 - 1/1.21)
    for method in ("imex2", "imex4"):
        creep = bough.simulate(model, until=200*dt, dt=dt, method=method, sample_rate=1/dt, progress=False).data.v.values[-10:, 0]
        np.testing.assert_allclose(creep, exact, rtol=10*CANCELLING)    # rounding of the load, 1/(1 - r^2) times
        thick = slope(0.3, viscous=200.0/dt).compile()
        slowed = bough.simulate(thick, v0=[1.0], until=40*dt, dt=dt, method=method, sample_rate=1/dt, progress=False)
        v = slowed.data.v.values[-5:, 0]
        np.testing.assert_allclose(v, load*dt/200.0, rtol=SWEEP)
    wild = bough.simulate(model, until=60*dt, dt=dt, sample_rate=1/dt, progress=False).data.v.values[-10:, 0]
    assert np.abs(wild - exact).max() > 0.5*exact


def test_an_arm_under_a_controller_hunts_as_scipy_says():
    """A joint with Stribeck friction under PID, whose integral winds up while it sticks and breaks it away again: the limit cycle
    of integral control. SciPy integrates mode by mode, with the same rules written anew."""
    J, gains, goal = 0.5, (40.0, 12.0, 60.0), 0.3
    law = {"coulomb": 1.0, "static": 1.6, "stribeck": 0.05, "viscous": 0.2}
    s = bough.System("arm")
    s.body("link", joint=bough.Revolute("z"), mass=1.0, inertia=(J, J, J))
    s.friction("seal", "link", **law)
    s.input("motor", coordinate="link")
    s.output("angle", coordinate="link.rz")
    s.output("rate", rate="link.rz")
    coarse, run = (bough.simulate(s.compile(), until=6.0, dt=dt, sample_rate=100, laws=[pid(gains, goal)]) for dt in (2e-3, 1e-3))
    q, modes = reference(J, gains, goal, law, run.data.time.values)
    theirs = adaptive(1e-11, 6*100)                                    # of SciPy's steps, not more than a hundred a second
    ours = truncated(coarse.data.q[:, 0], run.data.q[:, 0])             # rk4, dt halved
    np.testing.assert_allclose(run.data.q[:, 0], q, rtol=0, atol=ours + theirs)
    before, times = ([event.time for event in each.trajectory.events[0]] for each in (coarse, run))
    np.testing.assert_allclose(times, modes, rtol=0, atol=truncated(before, times) + theirs)
    assert len(times) >= 3                                              # it sticks, breaks away, and sticks again


def pid(gains, goal):
    kp, kd, ki = gains

    def control(t, y, u, z, zdot):
        zdot[0] = goal - y[0]
        u[0] = kp*(goal - y[0]) - kd*y[1] + ki*z[0]

    return bough.controller(control, outputs=["angle", "rate"], inputs=["motor"], states=[0.0])


def reference(J, gains, goal, law, samples):
    """(q, v, integral) with slipping one way, the other, or sticking, each to its own event."""
    kp, kd, ki = gains

    def applied(y):
        return kp*(goal - y[0]) - kd*y[1] + ki*y[2]

    def dry(v):
        return law["coulomb"] + (law["static"] - law["coulomb"])*np.exp(-(v/law["stribeck"])**2)

    def slipping(sign):
        def f(t, y):
            return [y[1], (applied(y) - sign*dry(y[1]) - law["viscous"]*y[1])/J, goal - y[0]]
        return f

    t, y, sign, switches, found = 0.0, np.array([0.0, 0.0, 0.0]), 1.0, [], np.full(len(samples), np.nan)
    while t < samples[-1]:
        if sign:
            rest = lambda s, y, start=t, sign=sign: y[1] if s > start + 1e-7 else sign          # noqa: E731
            rest.terminal, rest.direction = True, 0
            right = slipping(sign)
        else:
            rest = lambda t, y: abs(applied(y)) - law["static"]                        # noqa: E731
            rest.terminal, rest.direction = True, 1
            right = lambda t, y: [0.0, 0.0, goal - y[0]]                               # noqa: E731
        piece = solve_ivp(right, (t, samples[-1]), y, events=rest, rtol=1e-11, atol=1e-13, dense_output=True, method="DOP853")
        inside = (samples >= t) & (samples <= piece.t[-1])
        found[inside] = piece.sol(samples[inside])[0]
        t, y = piece.t[-1], piece.y[:, -1].copy()
        if not piece.t_events[0].size:
            break
        switches.append(t)
        if sign:
            y[1] = 0.0
            sign = 0.0 if abs(applied(y)) <= law["static"] else np.sign(applied(y))
        else:
            sign = np.sign(applied(y))
    return found, switches


def test_load_dependent_friction_of_a_pendulum_and_of_a_sled():
    """A sled on the ground: mu m g. A pendulum whose pin has mu and a radius: its torque is mu r |F|, F from m a - m g; at each
    recorded state."""
    s = bough.System("sled", gravity=(0, 0, -G))
    s.body("sled", joint=bough.Prismatic("x", v0=2.0), mass=3.0)
    s.friction("runner", "sled", mu=0.1)
    result = bough.simulate(s.compile(), until=1.0, dt=1e-2, sample_rate=10)
    t = result.data.time.values
    np.testing.assert_allclose(result.data.v[:, 0], 2.0 - 0.1*G*t, rtol=0, atol=STEPPED)
    np.testing.assert_allclose(result.data.friction_force[:, 0], -0.1*3.0*G, rtol=STEPPED)

    m, r, mu = 2.0, 0.03, 0.2
    s = bough.System("pendulum", gravity=(0, 0, -G))
    s.body("bob", joint=bough.Revolute("y", q0=1.0, v0=0.5), mass=m, com=(0, 0, -1.0), inertia=(0.01, 0.02, 0.01))
    s.friction("pin", "bob", mu=mu, radius=r)
    result = bough.simulate(s.compile(), until=0.4, dt=1e-3, sample_rate=50, record=["state", "acceleration", "friction"])
    q, v, a = (result.data[name].values[:, 0] for name in ("q", "v", "a"))
    radial, across = m*(v**2 + G*np.cos(q)), m*(a + G*np.sin(q))        # along the rod, and across it: com 1 m from the pin
    torque = -mu*r*np.hypot(radial, across)*np.sign(v)
    np.testing.assert_allclose((m + 0.02)*a, torque - m*G*np.sin(q), rtol=CANCELLING)
    np.testing.assert_allclose(result.data.friction_force[:, 0], torque, rtol=CANCELLING)


def test_wheels_coast_down():
    """Viscous and Coulomb friction of a wheel in a heavy, free body: with the reduced inertia J' = J (1 - J/I), J' W' = -(c + b W);
    and Dahl's bristles spring back at small angles: W' = -s angle/J' is an oscillation of the frequency sqrt(s/J')."""
    J, I, c, b = 0.02, 5.0, 0.01, 0.002
    s = bough.System("bus")
    s.body("bus", joint=bough.Free(), mass=100.0, inertia=(I, I, I))
    s.wheel("rw", body="bus", axis="z", inertia=J, speed=50.0, torque=0.0)
    s.friction("bearing", "rw", coulomb=c, viscous=b, law="regularized", speed=1e-6)
    result = bough.simulate(s.compile(), until=2.0, dt=1e-2, sample_rate=5)
    reduced, t = J*(1 - J/I), result.data.time.values
    np.testing.assert_allclose(result.data.wheel_speed[:, 0], (50.0 + c/b)*np.exp(-b/reduced*t) - c/b, rtol=STEPPED)
    balance = result.data.total_energy.values + result.data.friction_loss.values[:, 0]
    assert np.ptp(balance) < STEPPED*balance[0]
    assert np.ptp(result.data.angular_momentum.values, axis=0).max() < STEPPED

    s.frictions.clear()
    s.friction("bearing", "rw", coulomb=1e6, stiffness=3.0, law="dahl")          # far from its limit it is a spring
    result = bough.simulate(s.compile(), wheels0=[0.1], until=1.0, dt=1e-3, sample_rate=20)
    w, t = np.sqrt(3.0/reduced), result.data.time.values
    np.testing.assert_allclose(result.data.wheel_speed[:, 0], 0.1*np.cos(w*t), rtol=0, atol=2e-8)  # 2e-8: load to limit
    s.frictions.clear()
    s.friction("bearing", "rw", coulomb=c, stiffness=0.3, law="dahl")            # and at its limit it is Coulomb's
    result = bough.simulate(s.compile(), wheels0=[2.0], until=1.0, dt=1e-3, sample_rate=20,
                            record=["state", "wheels", "friction", "acceleration"])
    np.testing.assert_allclose(result.data.friction_force[-5:, 0], -c, rtol=STEPPED)
    np.testing.assert_allclose(np.diff(result.data.wheel_speed[-5:, 0])*20, -c/reduced, rtol=0, atol=20*2.0*STEPPED)


def basilisk(w, static, coulomb, stribeck, viscous):
    """The friction torque of Basilisk's reaction wheels, Stribeck's branch, as its documentation has it."""
    return (np.sqrt(2*np.e)*(static - coulomb)*np.exp(-(w/stribeck)**2/2)*w/(stribeck*np.sqrt(2)) + coulomb*np.tanh(10*w/stribeck)
            + viscous*w)


@pytest.mark.parametrize("torque", [0.0, 0.09])
def test_wheels_with_the_friction_of_basilisk(torque):
    """A wheel in a free body coasts down, or is driven up through the peak: against SciPy on J' W' = torque - friction(W)."""
    J, I, law = 0.02, 5.0, {"static": 0.08, "coulomb": 0.05, "stribeck": 3.0, "viscous": 1e-3}
    s = bough.System("bus")
    s.body("bus", joint=bough.Free(), mass=100.0, inertia=(I, I, I))
    s.wheel("rw", body="bus", axis="z", inertia=J, speed=0.0 if torque else 8.0, torque=torque)
    s.friction("bearing", "rw", law="basilisk", **law)
    result = bough.simulate(s.compile(), until=4.0, dt=1e-3, sample_rate=20, record=["state", "wheels", "friction"])
    w, t, reduced = result.data.wheel_speed.values[:, 0], result.data.time.values, J*(1 - J/I)
    exact = solve_ivp(lambda t, y: (torque - basilisk(y, **law))/reduced, (0, 4), w[:1], rtol=1e-11, atol=1e-13, t_eval=t).y[0]
    np.testing.assert_allclose(w, exact, rtol=0, atol=1e-8)         # SciPy's tolerance, of 8 rad/s, at some hundred steps
    np.testing.assert_allclose(result.data.friction_force[:, 0], -basilisk(w, **law), rtol=STEPPED, atol=PRODUCTS)
    spent = np.trapezoid(basilisk(exact, **law)*exact, t)
    assert result.data.friction_loss.values[-1, 0] == pytest.approx(spent, rel=1e-2)    # trapezoids over 80 samples
    with pytest.raises(DescriptionError, match="the law 'basilisk' needs coulomb, static and stribeck"):
        bough.Friction("f", "rw", coulomb=1.0, law="basilisk")


def test_friction_holds_against_loops_and_couplings():
    """The force that holds, found by the sweeps, is the drive force of the same coordinate locked: with a loop and a gear."""
    s = bough.System("press", gravity=(0, 0, -G))
    s.body("motor", joint=bough.Revolute("y"), mass=0.2, inertia=(1e-3, 1e-3, 1e-3))
    s.body("crank", joint=bough.Revolute("y", q0=0.4), mass=1.0, com=(0.15, 0, 0), inertia=(0.01, 0.02, 0.02))
    s.body("rod", parent="crank", joint=bough.Revolute("y", q0=-0.9), at=(0.3, 0, 0), mass=0.5, com=(0.3, 0, 0),
           inertia=(0.01, 0.02, 0.02))
    s.body("ram", joint=bough.Prismatic("x", q0=0.8), mass=2.0)
    s.loop("pin", joint=bough.Revolute("y"), a=bough.Frame("rod", at=(0.6, 0, 0)), b="ram")
    s.coupling("gear", bough.Gear("motor", "crank", ratio=12), reference="initial")
    held = s.copy()
    s.friction("brake", "motor", coulomb=50.0)
    result = bough.simulate(s.compile(), until=0.1, dt=1e-2, sample_rate=20)
    assert np.abs(result.data.v.values).max() < STEPPED
    held.bodies["motor"] = held.bodies["motor"].model_copy(update={"joint": bough.Revolute("y", motion="locked")})
    model = held.compile()
    drive = model.drive_forces(result.data.q.values[-1], np.zeros(model.nv))["motor.ry"]
    assert abs(drive) > 0.1
    np.testing.assert_allclose(result.trajectory.friction[0, -1, 0, 0], drive, rtol=CANCELLING)
    np.testing.assert_allclose(result.data.friction_force[-1], drive, rtol=CANCELLING)
    weak = s.copy()
    weak.frictions.clear()
    weak.friction("brake", "motor", coulomb=0.9*abs(drive))
    assert bough.simulate(weak.compile(), until=0.1, dt=1e-3, sample_rate=20).data.friction_sticks.values.sum() == 0


def test_runs_go_on_bit_for_bit(tmp_path):
    """A run that stops while the block sticks, and goes on."""
    model = puller(0.1, 20.0, 1.0, 2.0, 1.2).compile()
    whole = bough.Simulator(model, dt=2e-3)
    whole.advance(until=3.0)
    part = bough.Simulator(model, dt=2e-3)
    part.advance(until=1.6)
    part.save(tmp_path / "part.nc")
    again = bough.resume(tmp_path / "part.nc")
    again.advance(until=3.0)
    assert again.state.q.tolist() == whole.state.q.tolist()
    assert again.state.v.tolist() == whole.state.v.tolist()


def test_events_and_friction():
    """A coordinate that an event releases slips or sticks as its load says; one that it locks is held by the lock."""
    s = slope(0.3, coulomb=1.0)
    s.bodies["block"] = s.bodies["block"].model_copy(update={"joint": bough.Prismatic("x", motion="locked")})
    s.event("go", at=0.5, do=[bough.Release("block")])
    s.event("halt", at=1.0, do=[bough.Lock("block")])
    result = bough.simulate(s.compile(), until=1.5, dt=1e-2, sample_rate=20)
    a = G*np.sin(0.3) - 0.5
    at = result.data.v.sel(time=0.9).values[0]
    assert at == pytest.approx(0.4*a, rel=STEPPED)
    assert not result.data.v.values[-5:].any()


# ---- backlash and gearboxes -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("options", [{"method": "rk4", "dt": 1e-2}, {"method": "imex4", "dt": 0.1},
                                     {"method": "dopri5", "rtol": 1e-8}])
def test_bounces_that_follow_each_other_ever_faster_end_in_touch(options):
    """Pushed together by a preload, with a restitution of a half: each flight is half as long as the one before, so that they end
    after three times the first fall, however many fall into one step."""
    s = bough.System("play")
    for name, mass in (("a", 2.0), ("b", 3.0)):
        s.body(name, joint=bough.Prismatic("x"), mass=mass)
    s.coupling("slot", {"a": 1.0, "b": -1.0}, backlash=0.2, restitution=0.5, preload=5.0)
    found = bough.simulate(s, until=2.0, sample_rate=10, progress=False, **options)
    fall, last = np.sqrt(2*0.1/(5.0*(1/2 + 1/3))), found.trajectory.events[0][-1]
    assert last.what == "touches"
    assert last.time == pytest.approx(3*fall, abs=1e-6)                 # the flights left out are of 1e-6 m/s and slower
    assert found.data.q.values[-1] @ [1.0, -1.0] == pytest.approx(0.1, abs=STEPPED)
    np.testing.assert_allclose(found.data.v.values @ [2.0, 3.0], 0.0, atol=STEPPED)


def test_backlash_impacts_keep_momentum():
    """Two masses with play: at each end v_rel -> -e v_rel, and m1 v1 + m2 v2 stays; without restitution they go on together, and
    part when one is pulled away."""
    m, e = np.array([2.0, 3.0]), 0.5
    s = bough.System("play")
    s.body("a", joint=bough.Prismatic("x", v0=1.0), mass=m[0])
    s.body("b", joint=bough.Prismatic("x"), mass=m[1])
    s.coupling("slot", {"a": 1.0, "b": -1.0}, backlash=0.2, restitution=e)
    result = bough.simulate(s.compile(), until=1.2, dt=1e-2, sample_rate=10)
    v = result.data.v.values
    np.testing.assert_allclose(v @ m, 2.0, rtol=SWEEP)
    np.testing.assert_allclose([event.time for event in result.trajectory.events[0]], [0.1, 0.1 + 0.2/e], atol=EVENT + STEPPED)
    np.testing.assert_allclose(v[-1] @ [1, -1], e*e, rtol=STEPPED)

    s.couplings.clear()
    s.coupling("slot", {"a": 1.0, "b": -1.0}, backlash=0.2)
    s.wrench("rope", body="b", force=bough.TimeTable([0.0, 0.5], [[0, 0, 0], [3.0, 0, 0]], "hold"))
    result = bough.simulate(s.compile(), until=1.0, dt=1e-2, sample_rate=10)
    v, t = result.data.v.values, result.data.time.values
    np.testing.assert_allclose(v[2:5], 0.4, rtol=CANCELLING)                                      # together
    np.testing.assert_allclose(v[t > 0.5, 0], 0.4, rtol=STEPPED)                                # a is left behind
    np.testing.assert_allclose(v[t > 0.5, 1], 0.4 + (t[t > 0.5] - 0.5), rtol=STEPPED)
    assert [event.what for event in result.trajectory.events[0]][:2] == ["touches", "parts"]


def test_play_in_one_joint():
    """A block between two walls: at each the speed is reversed, times e, so that flights take 1/e times as long; without
    restitution it stays at the wall while pushed, whose force is the push, and leaves it when pulled."""
    e, wide, v0 = 0.5, 0.2, 1.0
    s = bough.System("walls")
    s.body("block", joint=bough.Prismatic("x", v0=v0), mass=2.0)
    s.coupling("walls", {"block": 1.0}, backlash=wide, restitution=e)
    result = bough.simulate(s.compile(), until=1.2, dt=1e-2, sample_rate=10)
    hits = [event.time for event in result.trajectory.events[0]]
    np.testing.assert_allclose(hits, [0.5*wide/v0, 0.5*wide/v0 + wide/(e*v0)], atol=EVENT + STEPPED)
    np.testing.assert_allclose(result.data.v.values[-1], e*e*v0, rtol=STEPPED)

    s.couplings.clear()
    s.coupling("walls", {"block": 1.0}, backlash=wide)
    s.wrench("rope", body="block", force=bough.TimeTable([0.0, 0.5], [[3.0, 0, 0], [-4.0, 0, 0]], "hold"))
    result = bough.simulate(s.compile(), until=0.6, dt=1e-2, sample_rate=100, record=["state", "couplings"])
    t, q = result.data.time.values, result.data.q.values[:, 0]
    touch = (-v0 + np.sqrt(v0**2 + 1.5*wide))/1.5                                             # v0 t + 3/(2 m) t^2 = wide/2
    assert [event.what for event in result.trajectory.events[0]] == ["touches", "parts"]
    assert result.trajectory.events[0][0].time == pytest.approx(touch, abs=EVENT + STEPPED)
    held, free = (t > touch) & (t < 0.5), t > 0.5
    np.testing.assert_allclose(q[held], 0.5*wide, atol=STEPPED)
    np.testing.assert_allclose(result.data.coupling_force.values[held, 0], -3.0, rtol=STEPPED)
    np.testing.assert_allclose(q[free], 0.5*wide - (t[free] - 0.5)**2, atol=STEPPED)


@pytest.mark.parametrize("method", ["rk4", "imex4"])
def test_elastic_play_in_one_joint(method):
    """Between springs with a gap: a flight of wide/v0, half a period of the contact, pi/w, and so on: the energy stays."""
    k, m, wide, v0 = 1e4, 1.0, 0.02, 1.0
    s = bough.System("springs")
    s.body("block", joint=bough.Prismatic("x", v0=v0), mass=m)
    s.coupling("springs", {"block": 1.0}, backlash=wide, stiffness=k)
    found = bough.simulate(s.compile(), until=0.5, dt=2e-2, method=method, sample_rate=100)
    touches = [event.time for event in found.trajectory.events[0] if event.what == "touches"]
    period, theta = 2*(wide/v0 + np.pi*np.sqrt(m/k)), 0.125                # theta: rad in a part of a step, order four
    np.testing.assert_allclose(touches, 0.5*wide/v0 + 0.5*period*np.arange(len(touches)), atol=len(touches)*theta**5*period)
    assert len(touches) == int((0.5 - 0.5*wide/v0)/(0.5*period)) + 1
    assert found.data.total_energy.values[-1] == pytest.approx(0.5*m*v0**2, rel=2*len(touches)*theta**5)


def test_unstable_bristles_in_a_batch_keep_the_other_runs():
    """Steps too long for stiff bristles: the run that diverges is NaN from there on and named, the one at rest is whole."""
    s = bough.System("bristles", gravity=(0, 0, 0))
    s.body("block", joint=bough.Prismatic("x"), mass=1.0)
    s.friction("slide", "block", coulomb=1.0, law="dahl", stiffness=1e7)
    model = s.compile()
    with pytest.raises(SimulationError, match=r"run 1 of the batch diverged .* take a smaller dt") as error:
        bough.simulate(model, q0=np.zeros((2, 1)), v0=[[0.0], [1.0]], until=0.1, dt=1e-2, progress=False)
    data = error.value.result.data
    np.testing.assert_array_equal(data.v.values[0], 0.0)
    assert np.isfinite(data.total_energy.values[0]).all()
    assert np.isnan(data.total_energy.values[1, -1])


@pytest.mark.parametrize("stiffness", [None, 2e3])
def test_a_gearbox(stiffness):
    """Rigid, the joint feels J + n^2 J_m; flexible, motor and link swing at sqrt(k (1/J + 1/(n^2 J_m)))."""
    J, Jm, n = 0.8, 2e-5, 100.0
    s = bough.System("joint")
    s.body("link", joint=bough.Revolute("y"), mass=1.0, inertia=(1.0, J, 1.0))
    drive = s.gearbox("motor", "link", ratio=n, inertia=Jm, stiffness=stiffness)
    model = s.compile()
    assert drive.rotor.mass == 0.0
    if stiffness is None:
        a = model.forward_dynamics(np.zeros(2), np.zeros(2), [0.3, 0.01])
        np.testing.assert_allclose(a, np.array([1.0, n])*(0.3 + n*0.01)/(J + n*n*Jm), rtol=CANCELLING)
    else:
        w = np.sqrt(stiffness*(1/J + 1/(n*n*Jm)))
        result = bough.simulate(model, q0=[0.01, 0.0], until=1.0, dt=2e-4, sample_rate=100)
        wound = result.data.q.values @ [1.0, -1.0/n]
        np.testing.assert_allclose(wound, 0.01*np.cos(w*result.data.time.values), rtol=0, atol=5e-9)    # w T (w h)^4/120
        np.testing.assert_allclose(result.data.coupling_force.sel(coupled="motor: link.ry"), -stiffness*wound, atol=20*SWEEP)
        assert np.ptp(result.data.total_energy.values) < 1.01*(w*2e-4)**5*w/72*0.5*stiffness*1e-4  # rk4 loses (w h)^6/72 a step


def test_preload_keeps_a_gear_on_one_flank():
    """Elastic teeth with play: the preload presses them to one side by play/2 + preload/stiffness."""
    s = bough.System("preloaded")
    s.body("base", joint=bough.Revolute("z", motion="locked"), mass=1.0, inertia=(1, 1, 1))
    s.body("gear", joint=bough.Revolute("z", damping=2.0), mass=1.0, inertia=(1, 1, 0.01))
    s.coupling("teeth", {"gear": 1.0, "base": -1.0}, stiffness=100.0, damping=1.0, backlash=0.02, preload=0.5)
    result = bough.simulate(s.compile(), until=2.0, dt=1e-3, sample_rate=10)
    assert float(result.data.q.sel(q_name="gear.rz")[-1]) == pytest.approx(0.01 + 0.5/100.0, rel=CANCELLING)   # settled: exp(-66)


def geared_arm(stiffness, n=7, **gearbox):
    """Links on motors behind gearboxes that give way."""
    s, parent = bough.System("geared", gravity=(0, 0, -G)), None
    for i in range(n):
        m = 6.0 - 0.6*i
        s.body(f"link{i}", parent=parent, at=(0, 0, 0.35) if i else (0, 0, 0), joint=bough.Revolute("zyzyzyz"[i], q0=0.1), mass=m,
               com=(0, 0.01, 0.17), inertia=(0.06*m, 0.06*m, 0.01*m))
        s.gearbox(f"motor{i}", f"link{i}", ratio=100, inertia=5e-5, stiffness=stiffness, damping=20.0, **gearbox)
        parent = f"link{i}"
    return s


def test_implicit_methods_take_gearbox_springs_at_the_end_of_a_stage():
    """Seven joints behind springs of 1e6 N m/rad, in steps of 5 ms, where rk4 needs a tenth of a millisecond; beside rk4 that
    resolves them. With short steps both are the same to rounding, so the rows that give way are the springs, and nothing else."""
    model = geared_arm(1e6, friction={"viscous": 5e-4}).compile()
    fine = bough.simulate(model, until=0.5, dt=2e-5, sample_rate=20, progress=False).data.q.values
    for method, dt, close in (("imex2", 5e-3, 3e-4), ("imex4", 5e-3, 1e-4), ("imex4", 5e-5, 1e-9)):
        found = bough.simulate(model, until=0.5, dt=dt, method=method, sample_rate=20, progress=False).data.q.values
        assert (np.abs(found - fine).max(axis=0)/np.abs(fine).max(axis=0)).max() < close
    assert bough.simulate(model, until=0.02, dt=5e-3, method="auto", progress=False).trajectory.method == "imex4"


def test_implicit_gearboxes_with_given_motion_and_play():
    """One motor is prescribed, so that its gearbox pulls by its given acceleration; the teeth of the others have play. Beside rk4
    with short steps: teeth that touch inside a step leave an error of its square, 1e-4 here; and in lanes as alone."""
    s = geared_arm(2e4, n=3, backlash=2e-3)
    motion = bough.motion.Harmonics([(5.0, 1.0, 0.0)])
    s.bodies["motor0"] = s.bodies["motor0"].model_copy(update={"joint": bough.Revolute("z", motion=motion)})
    s.couplings["motor0"] = bough.Coupling("motor0", bough.Gear("motor0", "link0", 100), stiffness=2.0, damping=2e-3)
    model = s.compile()
    fine = bough.simulate(model, until=0.5, dt=2e-5, sample_rate=20, progress=False).data.q.values
    found = [bough.simulate(model, until=0.5, dt=dt, method="imex4", sample_rate=20, progress=False).data.q.values
             for dt in (2e-4, 1e-4)]
    errors = [np.abs(each - fine).max()/np.abs(fine).max() for each in found]
    assert errors[1] < 1e-4
    assert errors[1] < errors[0]/2
    batch = bough.simulate(model, q0=np.tile(model.q0, (4, 1)), until=0.5, dt=2e-4, method="imex4", sample_rate=20, progress=False)
    np.testing.assert_allclose(batch.data.q.values[2], found[0], rtol=0, atol=STEPPED*np.abs(fine).max())     # lanes round


# ---- what is refused ------------------------------------------------------------------------------------------------------
def test_errors_by_name():
    wrong = [({"coulomb": 1.0, "static": 0.5}, "static is 0.5, less than coulomb"), ({"law": "regularized"}, "speed is missing"),
             ({"law": "dahl"}, "stiffness is missing"), ({"coulomb": 1.0, "speed": 0.1}, "speed is of the law 'regularized'"),
             ({"coulomb": 1.0, "stribeck": 0.1}, "stribeck is given without static"), ({"law": "stick"}, "did you mean 'sticking'")]
    for options, text in wrong:
        with pytest.raises(DescriptionError, match=text):
            bough.Friction("f", "block", **options)
    for coordinate, options, text in [("blok", {}, "did you mean 'block'"), ("rw", {"coulomb": 1.0}, "a wheel is none"),
                                      ("block", {"mu": 0.1, "radius": 0.1}, "is a translation; leave radius out")]:
        s = slope(0.1, coulomb=1.0)
        s.wheel("rw", body="block", axis="x", inertia=1e-9, torque=0.0)
        s.bodies["block"] = s.bodies["block"].model_copy(update={"inertia": ((1.0, 0, 0), (0, 1.0, 0), (0, 0, 1.0))})
        s.friction("f", coordinate, **options)
        with pytest.raises(ModelError, match=text):
            s.compile()
    model = slope(0.1, coulomb=1.0).compile()
    with pytest.raises(StateError, match=r"friction 'contact' sticks, which the method 'radau' cannot find.*use rk4, imex4"):
        bough.simulate(model, until=1.0, method="radau")
    with pytest.raises(DescriptionError, match="restitution is that of impacts"):
        bough.Coupling("c", {"a": 1, "b": 1}, restitution=0.5)
    for options, text in [({"ratio": "x"}, "ratio is 'x'; give a number"), ({"inertia": -1.0}, "inertia is -1.0"),
                          ({"ratio": 0.0}, "ratio is 0.0"), ({"backlash": "wide"}, "backlash is 'wide'"),
                          ({"friction": 3}, "friction is 3; give a mapping")]:
        with pytest.raises(DescriptionError, match=text):
            slope(0.1, coulomb=1.0).gearbox("g", "block", **({"ratio": 10.0, "inertia": 1e-3} | options))
    with pytest.raises(DescriptionError, match=r"relation is \[1, 2\]; give a Gear"):
        bough.Coupling("c", [1, 2])
    with pytest.raises(DescriptionError, match="gearbox 'g': body 'x' is not a body"):
        slope(0.1).gearbox("g", "x", ratio=10, inertia=1e-4)


def test_calls_with_friction_or_springs_between_joints_know_gravity_and_elastic_forces():
    """Inverse dynamics, bias and reactions of a bent arm at rest: as of the same arm without friction, on which nothing slips then;
    friction alone adds what it takes. (Without loops, their weights were never set, and gravity was left out.)"""
    def arm(*frictions):
        s = bough.System("arm", gravity=(0, 0, -G))
        s.body("upper", joint=bough.Revolute("y"), mass=10.0, com=(0.4, 0, 0), inertia=(0.1, 0.5, 0.5))
        s.body("boom", parent="upper", at=(0.8, 0, 0), joint=bough.Revolute("y"),
               flexible=bough.beam(1.0, E=7e10, G=2.6e10, area=1e-4, Iy=1e-9, Iz=1e-9, J=2e-9, density=2700.0, modes=2))
        for name, options in frictions:
            s.friction(name, name, **options)
        return s.compile()
    plain, stuck = arm(), arm(("upper", {"coulomb": 5.0}))
    smooth = arm(("upper", {"coulomb": 5.0, "law": "regularized", "speed": 0.1}))
    q, v, a = np.array([0.3, -0.2, 0.01, 0.02]), np.array([0.0, 0.4, 0.1, 0.2]), np.array([0.5, -1.0, 2.0, 3.0])
    needed = plain.inverse_dynamics(q, v, a)
    assert np.abs(needed).min() > 1e-3
    for model in (smooth, stuck):
        np.testing.assert_allclose(model.inverse_dynamics(q, v, a), needed, rtol=CANCELLING)
        np.testing.assert_allclose(model.inverse_dynamics([q]*3, [v]*3, [a]*3)[2], needed, rtol=CANCELLING)
        np.testing.assert_allclose(model.bias(q, v), plain.bias(q, v), rtol=CANCELLING)
        np.testing.assert_allclose(model.reactions(q, v, a), plain.reactions(q, v, a), rtol=CANCELLING, atol=CANCELLING)
        moving = v + np.array([0.1, 0, 0, 0])
        back = model.forward_dynamics(q, moving, model.inverse_dynamics(q, moving, a))
        np.testing.assert_allclose(back, a, rtol=solved(plain, q))       # by M of the bent arm
