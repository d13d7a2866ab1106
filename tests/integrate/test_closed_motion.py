"""Closed loops in runs: benchmarks, closed forms, what is conserved, what stays closed; and how runs start."""
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

import bough
from tests.support import maximal
from tests.support.closed_loops import closed, copied, energy, gaps, loop_jacobian, loop_size, lossless, scaled, turned
from tests.support.compare import assert_same
from tests.support.mechanisms import (
    CUTS,
    MECHANISMS,
    bennett,
    cut_elsewhere,
    floating_loop,
    four_bar,
    lump,
    n_four_bar,
    rod,
    rssr,
    slider_crank,
    sprung,
)
from tests.support.tolerance import CANCELLING, CLOSED, FORMULA, STEPPED, SWEEP, adaptive, refined, truncated

WAYS = ("projection", "baumgarte")
g = 9.81


def run(model, q, v, until, dt=1e-3, *, sample_rate=10, wheels=False, **options):
    """Times, q and v, and the wheels' speeds where they are asked for."""
    record = ["state", "wheels"] if wheels else ["state"]
    given = {} if dt is None else {"dt": dt}
    result = bough.simulate(model, q0=q, v0=v, until=until, sample_rate=sample_rate, record=record, **given, **options)
    found = [result.time, result.data.q.values, result.data.v.values]
    return [*found, result.data.wheel_speed.values] if wheels else found


def spread(values):
    return np.ptp(values, axis=0).max()


def assert_energy_is_refined(model, q, v, until, dt, order=4, **options):
    """What is lost of a kept energy falls when the step is halved: to the method's order nothing is lost."""
    lost = [spread(energy(model, *run(model, q, v, until, step, **options)[1:3])) for step in (dt, dt/2)]
    assert lost[1] < refined(lost[0], order)


# ---- benchmarks and closed forms ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("stabilize", WAYS)
def test_two_four_bars(stabilize):
    """The benchmark of the IFToMM library: where B0 is after 10 s, having passed the singular position several times."""
    case = n_four_bar(2)
    model = case.system.compile()
    assert_energy_is_refined(model, case.q, case.v, 10.0, 2e-3, stabilize=stabilize)
    q = run(model, case.q, case.v, 10.0, stabilize=stabilize)[1]
    position, attitude = model.pose(q[-1], "v0")
    np.testing.assert_allclose((position + attitude @ [0, 1, 0])[:2], [0.3284581, 0.9445185], rtol=0, atol=0.5e-7)  # as printed
    assert np.ptp(np.sign(np.cos(q[:, 0]))) == 2


@pytest.mark.slow
def test_forty_four_bars_pass_their_singular_position_wherever_a_step_ends():
    """All uprights turn alike, with the energy A w^2/2 + B cos(a).  From five steps before the flat position the run ends a step
    at distances of 1e-6 to 1e-3 rad beside it, where forty loops lose their equations.  There they are left out, for a step at
    most: the energy changes by less than 1e-4 J of 620, and less with every halving of the step.  (Kept, they made up to 1e6 J of
    rounding.)"""
    n, beside, worst = 40, np.concatenate([[0.0], *(side*np.logspace(-6, -3, 12) for side in (1, -1))]), []
    case = n_four_bar(n)
    model, signs = case.system.compile(), np.array([1.0 if name[0] == "v" else -1.0 for name in case.system.bodies])
    A, B = (n + 1)/3 + n, ((n + 1)/2 + n)*g
    for dt in (4e-3, 2e-3, 1e-3):
        start = []
        for a in beside - np.pi/2:
            rate = -np.sqrt(1.0 + 2*B/A*(1.0 - np.cos(a)))
            start.append(solve_ivp(lambda t, y: [y[1], B/A*np.sin(y[0])], (0, -5*dt), [a, rate], rtol=1e-12, atol=1e-14).y[:, -1])
        q, v = (np.outer(values, signs) for values in np.transpose(start))
        _, q, v = run(model, q, v, 8*dt, dt, sample_rate=round(1/dt))
        assert (np.cos(q[:, -1, 0]) < -0.005).all()                          # passed
        found = energy(model, q.reshape(-1, q.shape[-1]), v.reshape(-1, q.shape[-1])).reshape(q.shape[:2])
        worst.append(np.abs(found[:, -1] - found[:, 0]).max())
    assert worst[0] < 1e-4
    assert worst[0] > worst[1] > worst[2]


class SliderCrank:
    """The slider-crank of `mechanisms`, by the crank's angle t alone: A(t) t'' + A'(t) t'^2/2 = tau - V'(t) - c x'(t)^2 t'.

    Derivatives of the closed form by complex steps, second ones by differences of them."""
    r, l, m, M, S, tau = 0.3, 0.8, 1.0, 2.0, 1.5, 2.0

    def __init__(self, damping):
        self.damping, self.crank, self.bar = damping, rod(self.r, self.m)["inertia"][1, 1], rod(self.l, self.M)["inertia"][1, 1]

    def slider(self, t):
        return self.r*np.cos(t) + self.l*np.cos(self.lean(t))

    def lean(self, t):
        """Of the rod, against the horizontal."""
        return -np.arcsin(self.r*np.sin(t)/self.l)

    def rates(self, t):
        """By t: of the slider, of the rod's lean, of the place of its middle."""
        p = self.lean(t)
        dp = -self.r*np.cos(t)/(self.l*np.cos(p))
        return (-self.r*np.sin(t) - self.l*np.sin(p)*dp, dp, -self.r*np.sin(t) - self.l/2*np.sin(p)*dp,
                -self.r*np.cos(t) - self.l/2*np.cos(p)*dp)

    def inertia(self, t):
        dx, dp, dX, dZ = self.rates(t)
        return self.m*self.r**2/4 + self.crank + self.bar*dp**2 + self.M*(dX**2 + dZ**2) + self.S*dx**2

    def height(self, t):
        return -self.m*g*self.r/2*np.sin(t) - self.M*g*(self.r*np.sin(t) + self.l/2*np.sin(self.lean(t)))

    def acceleration(self, t, rate):
        slope, weight = (np.imag(f(t + 1e-30j))/1e-30 for f in (self.inertia, self.height))
        return (self.tau - slope*rate**2/2 - weight - self.damping*self.rates(t)[0]**2*rate)/self.inertia(t)

    def slider_acceleration(self, t, rate):
        bend = np.imag(self.rates(t + 1e-30j)[0])/1e-30
        return self.rates(t)[0]*self.acceleration(t, rate) + bend*rate**2


@pytest.mark.parametrize("closing", ["prismatic", "revolute"])
def test_slider_crank(closing):
    """Along a run: the slider's place, speed and acceleration for the crank's angle and rate; and the run itself."""
    case, form = slider_crank(closing), SliderCrank(0.5 if closing == "revolute" else 0.0)
    model = case.system.compile()
    q, v = model.assemble(case.q, case.v, hold=["crank"])
    time, q, v = run(model, q, v, 2.0, 2e-4, sample_rate=50)
    a = model.forward_dynamics(q, v)
    seen, k = model.bodies(q, v, a), model.body_index("slider")
    t, rate = q[:, 0], v[:, 0]
    assert np.ptp(t) > 2*np.pi                                      # it turns
    assert_same(seen.position[:, k, 0], form.slider(t), SWEEP)
    assert_same(seen.velocity[:, k, 0], form.rates(t)[0]*rate, SWEEP)
    assert_same(a[:, 0], form.acceleration(t, rate), CANCELLING)
    assert_same(seen.acceleration[:, k, 3], form.slider_acceleration(t, rate), CANCELLING)
    exact = solve_ivp(lambda _, y: [y[1], form.acceleration(*y)], (0, 2.0), [t[0], rate[0]], "DOP853", time, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(t, exact.y[0], rtol=0, atol=1e-8)     # the step's own error: of fourth order, 5e-7 at 1e-3


class Bennett:
    """Bennett's linkage by the angle t of its first joint: tan(t/2) tan(other/2) = ratio, and the third turns back as the first."""

    def __init__(self):
        twists = 0.5, np.arcsin(np.sin(0.5)/0.6)
        self.ratio = np.sin((twists[1] + twists[0])/2)/np.sin((twists[1] - twists[0])/2)

    def off(self, q):
        """sin(t/2) sin(other/2) - ratio cos(t/2) cos(other/2), and t + third."""
        (t, other, third), ratio = q.T, self.ratio
        return np.abs([np.sin(t/2)*np.sin(other/2) - ratio*np.cos(t/2)*np.cos(other/2), t + third]).max()


@pytest.mark.parametrize("stabilize", WAYS)
@pytest.mark.parametrize("dt", [1e-2, 1e-3])
def test_bennett(stabilize, dt):
    """Three of five directions are redundant on the loop and only there: off it, as stages of a step are, the five contradict each
    other. The swing of 2 s passes the flat position. Energy is kept to fourth order with projection, to second with Baumgarte,
    whose gaps are h^2 k/240 (see below)."""
    case = bennett()
    model = case.system.compile()
    q, v = model.assemble(case.q, case.v)
    projected = stabilize == "projection"
    assert_energy_is_refined(model, q, v, 2.0, dt, order=4 if projected else 2, stabilize=stabilize)
    _, q, v = run(model, q, v, 2.0, dt, stabilize=stabilize)
    form = Bennett()
    gap = dt**2*form.ratio*np.abs(v).max()**2/240                           # h^2 k/240
    assert form.off(q) < (CANCELLING if projected else gap)


def test_sarrus():
    """Two legs that fold in planes across each other lift a plate straight up, level; one of five directions is redundant."""
    s = bough.System("Sarrus", gravity=(0, 0, -g))
    s.body("a1", at=(-0.5, 0, 0), joint=bough.Revolute("y"), **rod(0.6, 1.0, axis="z"))
    s.body("a2", parent="a1", at=(0, 0, 0.6), joint=bough.Revolute("y"), **rod(0.45, 1.0, axis="z"))
    s.body("plate", parent="a2", at=(0, 0, 0.45), joint=bough.Revolute("y"), mass=2.0, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.2))
    s.body("b1", at=(0, -0.5, 0), joint=bough.Revolute("x"), **rod(0.6, 1.0, axis="z"))
    s.body("b2", parent="b1", at=(0, 0, 0.6), joint=bough.Revolute("x"), **rod(0.6, 1.0, axis="z"))
    s.loop("hinge", joint=bough.Revolute("x"), a=bough.Frame("b2", at=(0, 0, 0.6)), b=bough.Frame("plate", at=(0.5, -0.5, 0)))
    model = s.compile()
    q, v = model.assemble([-0.5, 1.0, -0.5, 0.5, -1.0], [-1.0, 2.0, -1.0, 1.0, -2.0], hold=["a1"])
    assert (model.freedom(q).degrees, model.freedom(q).redundant) == (1, ("hinge.rz",))
    assert_energy_is_refined(model, q, v, 0.3, 2e-3)
    _, q, v = run(model, q, v, 0.3, sample_rate=50)
    seen, k = model.bodies(q), model.body_index("plate")
    np.testing.assert_allclose(seen.attitude[:, k], np.tile(np.eye(3), (len(q), 1, 1)), rtol=0, atol=FORMULA)
    np.testing.assert_allclose(seen.position[:, k, :2], [[-0.5, 0.0]]*len(q), rtol=0, atol=FORMULA)
    assert np.ptp(seen.position[:, k, 2]) > 0.3


def door(hinges):
    """Two bodies that tumble freely, one hinged to the other, by as many hinges in a line."""
    s, rng = bough.System("door"), np.random.default_rng(4)
    for name in ("frame", "door"):
        s.body(name, joint=bough.Free(), **lump(rng, mass=2.0, size=0.6))
    for i in range(hinges):
        s.loop(f"hinge{i}", joint=bough.Revolute("z"), a=bough.Frame("frame", at=(0.4, 0.1, 0.3*i)),
               b=bough.Frame("door", at=(-0.3, 0, 0.3*i)))
    q = np.array([0, 0, 0, 0, 0, 0, 1.0, 0.7, 0.1, 0, 0, 0, 0, 1.0])
    return s.compile(), q, np.array([0.1, 0.2, 0.3, 1.0, -2.0, 1.5, 0, 0, 0, 1.0, -2.0, 3.5])


@pytest.mark.parametrize("stabilize", WAYS)
@pytest.mark.parametrize("dt", [1e-2, 1e-3])
def test_a_door_on_two_hinges(stabilize, dt):
    """It swings as on one. The second hinge is redundant where the hinges are in line, which stages of a step are not quite."""
    found = []
    for hinges in (1, 2):
        model, q, v = door(hinges)
        q, v = model.assemble(q, v)
        assert model.freedom(q).degrees == 7
        assert_energy_is_refined(model, q, v, 3.0, dt, order=4 if stabilize == "projection" else 2, stabilize=stabilize)
        found.append(run(model, q, v, 3.0, dt, stabilize=stabilize)[1])
    np.testing.assert_allclose(found[1], found[0], rtol=0, atol=STEPPED)


# ---- what is conserved --------------------------------------------------------------------------------------------------------
def conservative(system):
    """The system without dampers and motors."""
    return copied(system, joint=lossless, closing=lambda joint: joint if hasattr(joint, "length") else lossless(joint))


@pytest.mark.parametrize(("make", "dt"), [(four_bar, 1e-3), (rssr, 2e-4)], ids=["four-bar", "RSSR"])
def test_energy_for_a_minute(make, dt):
    """rk4 errs by a multiple of dt^4 a second; the RSSR's thin coupler spins fast."""
    case = make()
    model = conservative(case.system).compile()
    lost = []
    for step in (2*dt, dt):
        _, q, v = run(model, *model.assemble(case.q, case.v), 60.0, step, sample_rate=2)
        lost.append(spread(energy(model, q, v)))
    assert lost[1] < refined(lost[0])
    assert np.abs(gaps(model, q)).max() < CLOSED*loop_size(model)
    assert np.abs(gaps(model, q, v)).max() < CLOSED*np.abs(v).max()


@pytest.mark.parametrize("i", range(3))
def test_energy_of_springs_in_loops(i):
    """Springs of joints that close loops store what they take; with their dampers and constant forces the energy changes."""
    case = sprung()[i]
    s = conservative(case.system)
    s.wheels.clear()
    model = s.compile()
    q, v = model.assemble(case.q, case.v)
    assert_energy_is_refined(model, q, v, 10.0, 2e-3)
    _, q, v = run(model, q, v, 10.0)
    springs = energy(model, q, v) - energy(copied(s, closing=unsprung).compile(), q, v)
    assert np.ptp(springs) > 0.1                                    # J


def unsprung(joint):
    return bough.Joint(translations=joint.translations, rotations=joint.rotations)


@pytest.mark.parametrize("stabilize", WAYS)
def test_floating_loop_conserves(stabilize):
    """Momentum about the mass center, its straight path, and energy, with a wheel that spins freely: to fourth order with
    projection; Baumgarte's forces, which close gaps of second order (see below), leave errors of second order."""
    case = floating_loop(bough.Cylindrical((0, 1, 1)))
    s = copied(case.system)
    wheel = s.wheels.pop("wheel")
    s.wheel("wheel", body="bus", axis=wheel.axis, inertia=wheel.inertia, speed=wheel.speed, torque=0.0)
    model, errors = s.compile(), []
    q0, v0 = model.assemble(case.q, case.v)
    for dt in (4e-3, 2e-3):
        time, q, v, wheels = run(model, q0, v0, 5.0, dt, wheels=True, stabilize=stabilize)
        momentum, kinetic = model.momentum(q, v, wheels=wheels), model.kinetic_energy(q, v, wheels=wheels)
        mass = sum(body.mass for body in s.bodies.values())
        path = model.center_of_mass(q) - np.outer(time, momentum[0, 3:]/mass)
        errors.append([spread(momentum)/np.abs(momentum).max(), spread(kinetic)/kinetic.max(), spread(path)])
    orders = np.log2(np.array(errors[0])/errors[1])
    assert (orders > (3.5 if stabilize == "projection" else 1.5)).all()


@pytest.mark.parametrize("stabilize", WAYS)
def test_floating_loop_in_orbit(stabilize):
    """The tree moves about its mass center, which stays where it is, and the loop stays closed."""
    case = floating_loop()
    s = copied(case.system, gravity=bough.CentralGravity(mu=3.986e14, position=(7e6, 0, 0), velocity=(0, 7546.0, 0)))
    s.wheels.clear()
    model = s.compile()
    left = []
    for dt in (2e-2, 1e-2):
        _, q, v = run(model, *model.assemble(case.q, 0.1*case.v), 100.0, dt, sample_rate=0.2, stabilize=stabilize)
        left.append([np.abs(model.center_of_mass(q)).max(), np.abs(model.momentum(q, v)[:, 3:]).max()])
    assert (left[1] < refined(np.array(left[0]), order=4 if stabilize == "projection" else 2)).all()
    small = 1e-12 if stabilize == "projection" else 1e-8
    assert np.abs(gaps(model, q)).max() < small
    assert np.abs(gaps(model, q, v)).max() < small


def test_closing_keeps_momentum():
    """Impulses within a floating system that close its loops change none of its momenta."""
    case = floating_loop()
    model = case.system.compile()
    q, _ = model.assemble(case.q, case.v)
    _, v = model.assemble(q, case.v)
    assert np.abs(v - case.v).max() > 0.1
    assert_same(model.momentum(q, v), model.momentum(q, case.v), SWEEP)


@pytest.mark.parametrize("name", ["structure", "body on ground by weld"])
def test_what_cannot_move_rests(name):
    _, model, q, v, _ = closed(name)
    np.testing.assert_allclose(v, 0.0, atol=SWEEP)
    _, late, speeds = run(model, q[0], v[0], 10.0, 1e-2)
    np.testing.assert_allclose(late[-1], q[0], rtol=0, atol=CANCELLING)
    np.testing.assert_allclose(speeds, 0.0, atol=CANCELLING)


# ---- what stays closed --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", MECHANISMS)
def test_projection_keeps_loops_closed(name):
    """To rounding, whatever the step: positions and speeds."""
    _, model, q, v, _ = closed(name)
    for dt in (1e-3, 1e-2):
        _, late, speeds = run(model, q[0], v[0], 0.5, dt, sample_rate=20)
        reach = loop_size(model) + np.abs(late).max()
        assert np.abs(gaps(model, late)).max() < CLOSED*reach
        assert np.abs(gaps(model, late, speeds)).max() < CLOSED*reach*max(1.0, np.abs(speeds).max())


@pytest.mark.parametrize("name", ["four-bar, revolute", "RSSR", "cardan", "floating loop by weld", "stewart"])
def test_projection_keeps_loops_closed_between_steps(name):
    """dopri5 interpolates: samples that lie within a step are closed like the others."""
    _, model, q, v, _ = closed(name)
    _, late, speeds = run(model, q[0], v[0], 0.5, None, sample_rate=50, method="dopri5", stabilize="projection")
    assert np.abs(gaps(model, late)).max() < CLOSED*loop_size(model)
    assert np.abs(gaps(model, late, speeds)).max() < CLOSED*loop_size(model)*max(1.0, np.abs(speeds).max())


@pytest.mark.parametrize("name", ["four-bar, revolute", "RSSR", "stewart", "floating loop by weld"])
def test_baumgarte_keeps_loops_nearly_closed(name):
    """By default an open loop closes by e in ten steps: w = 1/(10 h). The middle stages of rk4 are open by h^2 k/8, one each way,
    where k is the acceleration at which the loop would open: w^2 of it is k/800. The two cancel, but for the rate that the second
    gives the third: what is left in a step is h k/800 times 2 w h/6, which ten steps pile up to rates of h k/2400; and gaps, rates
    over w, of h^2 k/240. That they are of first and second order is seen from two steps."""
    case, model, q, v, _ = closed(name)
    found = []
    for h in (1e-3, 5e-4):
        _, late, speeds = run(model, q[0], v[0], 1.0, h, sample_rate=50, stabilize="baumgarte")
        opening = max(np.abs(loop.residual(maximal.places(case.system, *state)).second).max()
                      for state in zip(late[::5], speeds[::5], strict=True) for loop in maximal.loop_constraints(case.system))
        found.append([np.abs(gaps(model, late)).max(), np.abs(gaps(model, late, speeds)).max()])
        assert found[-1][0] < h**2*opening/240
        assert found[-1][1] < h*opening/2400
    orders = np.log2(np.array(found[0])/found[1])
    np.testing.assert_allclose(orders, [2.0, 1.0], atol=0.4)


def test_baumgarte_frequency():
    """Given, it does not depend on the step, and rk4 keeps its fourth order."""
    _, model, q, v, _ = closed("four-bar, revolute")
    opened = [np.abs(gaps(model, run(model, q[0], v[0], 1.0, h, stabilize=20.0)[1])).max() for h in (4e-3, 2e-3)]
    assert 3.5 < np.log2(opened[0]/opened[1]) < 5.5


# ---- the same motion, otherwise described -------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["four-bar at the crank's foot", "slider-crank's guide", "RSSR at the rocker", "closed chain",
                                  "double loop at the link", "floating loop", "two bodies"])
def test_the_cut_does_not_matter(name):
    """Bodies are in the same places after half a second. Both runs err on their own."""
    make, loop, cut = CUTS[name]
    case = make()
    other, model = cut_elsewhere(case.system, loop, cut), case.system.compile()
    q, v = model.assemble(case.q, case.v)
    wants, gots = [], []
    for dt in (4e-4, 2e-4):
        (_, here, speeds), (_, there, _) = (run(system.compile(), *state, 0.5, dt) for system, state in
                                            ((case.system, (q, v)), (other.system, other.state(case.system, q, v))))
        want = other.carry(*maximal.motion(case.system, here[-1], speeds[-1])[:2])[0]
        got = maximal.motion(other.system, there[-1], np.zeros(other.system.compile().nv))[0]
        wants.append(np.concatenate([np.ravel(part) for body in want for part in want[body][:2]]))
        gots.append(np.concatenate([np.ravel(part) for body in want for part in got[body][:2]]))
    np.testing.assert_allclose(gots[1], wants[1], rtol=0, atol=truncated(*wants) + truncated(*gots) + STEPPED)


@pytest.mark.parametrize("seed", range(3))
def test_turned_in_space(seed):
    """A planar linkage in any plane moves as it does in that of the axes."""
    case, _, q, v, _ = closed("double loop, revolute")
    other = turned(case.system, *(Rotation.random(random_state=s) for s in (seed, 100 + seed))).compile()
    undamped = copied(case.system, closing=unsprung).compile()
    here, there = (run(each, q[0], v[0], 2.0)[1] for each in (undamped, other))
    np.testing.assert_allclose(there, here, rtol=0, atol=STEPPED*np.abs(here).max())


@pytest.mark.parametrize("size", [1e-6, 1e-3, 1e3, 1e5])
@pytest.mark.parametrize("dt", [1e-2, 1e-3])
def test_sizes(size, dt):
    """k times as large, everything takes sqrt(k) times as long: a micrometer and a hundred kilometers close alike."""
    case = four_bar()
    (_, here, _), (_, there, speeds) = (run(model, *model.assemble(case.q, case.v/k**0.5), 2.0*k**0.5, dt*k**0.5,
                                                sample_rate=10/k**0.5)
                                        for k, model in ((k, scaled(case.system, k).compile()) for k in (1.0, size)))
    np.testing.assert_allclose(there, here, rtol=0, atol=STEPPED*np.abs(here).max())
    model = scaled(case.system, size).compile()
    assert np.abs(gaps(model, there)).max() < CLOSED*loop_size(model)
    assert np.abs(gaps(model, there, speeds)).max() < CLOSED*loop_size(model)*np.abs(speeds).max()


# ---- methods ------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["four-bar, revolute", "RSSR", "floating loop by weld", "stewart"])
@pytest.mark.parametrize(("method", "stabilize"), [("dopri5", "projection"), ("dopri5", "baumgarte"), ("radau", "baumgarte"),
                                                   ("bdf", None), ("lsoda", None)])
def test_adaptive_methods(name, method, stabilize):
    """Against rk4 with small steps, which leave less than a relative 1e-9 at each of the adaptive ones."""
    _, model, q, v, _ = closed(name)
    want = run(model, q[0], v[0], 1.0, 1e-4)[1]
    got = bough.simulate(model, q0=q[0], v0=v[0], until=1.0, sample_rate=10, record=["state"], method=method, stabilize=stabilize,
                         rtol=1e-9)
    bound = adaptive(1e-9, got.trajectory.steps)*np.abs(want).max()                 # the run's own rtol
    np.testing.assert_allclose(got.data.q.values, want, rtol=0, atol=bound)


def test_euler_cromer():
    """Of first order, and closed."""
    _, model, q, v, _ = closed("four-bar, revolute")
    want, errors = run(model, q[0], v[0], 0.5, 1e-4)[1][-1], []
    for dt in (2e-3, 1e-3):
        _, late, speeds = run(model, q[0], v[0], 0.5, dt, method="euler-cromer")
        errors.append(np.abs(late[-1] - want).max())
        assert np.abs(gaps(model, late)).max() < CLOSED
        assert np.abs(gaps(model, late, speeds)).max() < CLOSED*np.abs(speeds).max()
    assert 0.8 < np.log2(errors[0]/errors[1]) < 1.3


@pytest.mark.parametrize("name", ["double loop, revolute", "floating loop by universal", "sprung 0"])
def test_dense_runs_agree(name):
    _, model, q, v, _ = closed(name)
    one, other = (run(model, q[0], v[0], 1.0, dynamics=dynamics) for dynamics in ("order-n", "dense"))
    for ours, theirs in zip(one[1:], other[1:], strict=True):
        assert_same(ours, theirs, STEPPED)


def test_controller():
    """A torque that a controller gives is a torque of the description."""
    case = slider_crank()
    driven, idle = case.system.compile(), copied(case.system, joint=unsprung).compile()
    q, v = driven.assemble(case.q, case.v)
    want = run(driven, q, v, 0.5)[1]
    got = run(idle, q, v, 0.5, control=lambda t, q, v, wheels: {"crank": 2.0})[1]
    np.testing.assert_allclose(got, want, rtol=0, atol=CANCELLING)


# ---- batches ------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("method", "stabilize"), [("rk4", "projection"), ("rk4", "baumgarte"), ("dopri5", "projection")])
@pytest.mark.parametrize("name", ["four-bar, revolute", "RSSR", "floating loop by cylindrical"])
def test_batches_of_states(name, method, stabilize):
    """Five runs side by side, each as it is alone. Lanes round otherwise; each takes the corrections that it needs."""
    _, model, q, v, _ = closed(name)
    options = {"dt": 1e-3 if method == "rk4" else None, "method": method, "stabilize": stabilize}
    _, many, speeds = run(model, q, v, 1.0, **options)
    assert many.shape[0] == 5
    for i in range(5):
        _, one, rates = run(model, q[i], v[i], 1.0, **options)
        assert_same(many[i], one, STEPPED)
        assert_same(speeds[i], rates, STEPPED)


def test_batches_of_parameters():
    """Each run starts where its own lengths close the loop, and moves like a system that was described so."""
    case = four_bar()
    model = case.system.compile()
    sets = {"rocker.at": [(0.9, 0, 0), (0.95, 0, 0), (0.85, 0, 0.05)], "coupler.mass": [2.0, 3.0, 1.0]}
    _, q, v = run(model, case.q, case.v, 1.0, parameters=sets)
    assert np.ptp(q[:, 0], axis=0).min() > 1e-3
    for i in range(3):
        member = model.with_parameters({name: value[i] for name, value in sets.items()})
        _, one, rates = run(member, case.q, case.v, 1.0)
        assert_same(q[i], one, STEPPED)
        assert np.abs(gaps(member, q[i])).max() < CLOSED
        assert np.abs(gaps(member, q[i], v[i])).max() < CLOSED*np.abs(rates).max()
        assert_same(v[i], rates, STEPPED)


# ---- assembly -----------------------------------------------------------------------------------------------------------------
def test_assembly_changes_least():
    """Speeds: the least (v - v0).M (v - v0) that satisfies the loops. Positions: Newton's steps are each the least; together they
    differ from the least of all, (q - q0).M (q - q0), by the order of the gap's square."""
    case = rssr()
    model = case.system.compile()
    q, v = model.assemble(case.q, case.v)
    M, J = model.mass_matrix(q), loop_jacobian(model, q)
    K = np.block([[M, J.T], [J, np.zeros((len(J), len(J)))]])
    np.testing.assert_allclose(v, np.linalg.solve(K, np.append(M @ case.v, np.zeros(len(J))))[:model.nv], rtol=0, atol=CANCELLING)
    case = four_bar("line")
    model = case.system.compile()
    closed_q, _ = model.assemble(case.q, case.v)
    differences = []
    for size in (0.04, 0.02):
        start = closed_q + size*np.array([1.0, -0.5, 0.8])
        M = model.mass_matrix(start)
        best = minimize(lambda q, M=M, start=start: (q - start) @ M @ (q - start), start, method="SLSQP", tol=1e-14,
                        constraints={"type": "eq", "fun": lambda q: gaps(model, q)[0]}, options={"maxiter": 200})
        assert best.success
        got, _ = model.assemble(start, np.zeros(model.nv))
        differences.append(np.abs(got - best.x).max())
        assert differences[-1] < size**2
    assert np.log2(differences[0]/differences[1]) > 1.5


def test_assembly_of_speeds_by_least_squares():
    """The same by an optimizer: it knows speeds and loops only."""
    case = four_bar("line")
    model = case.system.compile()
    q, v = model.assemble(case.q, case.v)
    M, J = model.mass_matrix(q), loop_jacobian(model, q)
    best = minimize(lambda x: (x - case.v) @ M @ (x - case.v), case.v, jac=lambda x: 2*M @ (x - case.v), method="SLSQP", tol=1e-15,
                    constraints={"type": "eq", "fun": lambda x: J @ x, "jac": lambda x: J})
    slack = np.sqrt(1e-15/np.linalg.eigvalsh(M)[0])             # the optimizer ends where (v - v0).M (v - v0) changes by its tol
    np.testing.assert_allclose(v, best.x, rtol=0, atol=slack)


@pytest.mark.parametrize("hold", [["crank"], ["crank.ry"], "crank"])
def test_held_joints_stay(hold):
    """To the bit; the rest goes to where the crank wants it."""
    case = four_bar()
    model = case.system.compile()
    q, v = model.assemble(case.q, case.v, hold=hold)
    assert (q[0], v[0]) == (case.q[0], case.v[0])
    assert np.abs(gaps(model, q)).max() < FORMULA
    assert np.abs(gaps(model, q, v)).max() < SWEEP
    free = model.assemble(case.q, case.v)
    assert free[0][0] != case.q[0]
    _, late, speeds = run(model, case.q, case.v, 0.1, hold=hold)
    np.testing.assert_array_equal([late[0], speeds[0]], [q, v])


def test_start_of_the_description():
    """Without a state, that of the description is made to close the loops."""
    s = copied(four_bar().system, joint=lambda joint: bough.Revolute("y"))
    s.bodies["crank"] = copied(s, joint=lambda joint: bough.Revolute("y", q0=-1.1, v0=2.0)).bodies["crank"]
    model = s.compile()
    q, v = model.assemble(hold=["crank"])
    assert (q[0], v[0]) == (-1.1, 2.0)
    _, late, speeds = run(model, None, None, 0.1, hold=["crank"])
    np.testing.assert_array_equal([late[0], speeds[0]], [q, v])


def test_spherical_joints_stay_unit():
    case = MECHANISMS["stewart"]()
    model = case.system.compile()
    q, _ = model.assemble(case.q, case.v)
    assert np.linalg.norm(q[-4:]) == pytest.approx(1.0, abs=FORMULA)


# ---- what cannot be -----------------------------------------------------------------------------------------------------------
def too_short(ground=3.0):
    """A four-bar whose links, 2.2 m in all, do not span its ground."""
    return copied(four_bar().system, body=lambda body: {"at": (ground, 0, 0)} if body.name == "rocker" else {})


def test_links_too_short():
    """The gap that is named is what is left when the links stretch as far as they can: 3 m - 2.2 m."""
    case, model = four_bar(), too_short().compile()
    with pytest.raises(bough.StateError, match=r"loop 'pin' is open by \S+ m \([xyz]\): no position near the one given") as info:
        model.assemble(case.q, case.v)
    assert float(str(info.value).split(" open by ")[1].split()[0]) == pytest.approx(0.8, rel=0.3)
    with pytest.raises(bough.StateError, match="loop 'pin' is open by"):
        bough.simulate(model, q0=case.q, v0=case.v, until=1.0, dt=1e-3)


def test_batch_member_too_short():
    case, model = four_bar(), four_bar().system.compile()
    with pytest.raises(bough.StateError, match="initial state 1 of the batch: loop 'pin' is open by"):
        run(model, case.q, case.v, 0.1, parameters={"rocker.at": [(0.9, 0, 0), (3.0, 0, 0)]})


def test_held_positions_contradict():
    case = four_bar()
    model = case.system.compile()
    with pytest.raises(bough.StateError, match=r"loop 'pin' is open by \S+ m .*while crank, coupler, rocker are held; hold less"):
        model.assemble(case.q, case.v, hold=["crank", "coupler", "rocker"])


def test_held_speeds_contradict():
    """One motion, two speeds that are given; even if they are wrong by little."""
    case = four_bar()
    model = case.system.compile()
    q, v = model.assemble(case.q, case.v)
    assert np.abs(model.assemble(q, v, hold=["crank", "rocker"])[1] - v).max() < CANCELLING
    for wrong in (1.0, 1e-6):
        with pytest.raises(bough.StateError, match=r"loop 'pin' is open by \S+ m/s \([xyz]\): .*crank, rocker are held; hold less"):
            model.assemble(q, v + np.array([wrong, 0, 0]), hold=["crank", "rocker"])


def test_names_that_do_not_exist():
    case, model = four_bar(), four_bar().system.compile()
    with pytest.raises(bough.StateError, match="hold: there is no coordinate or joint 'krank', did you mean 'crank'"):
        model.assemble(case.q, case.v, hold=["krank"])
    with pytest.raises(bough.StateError, match=r"stabilize is 'projektion' \(did you mean 'projection'"):
        run(model, case.q, case.v, 0.1, stabilize="projektion")
    for wrong in (-1.0, np.nan, np.inf):
        with pytest.raises(bough.StateError, match=r"stabilize is .*a frequency in rad/s"):
            run(model, case.q, case.v, 0.1, stabilize=wrong)


@pytest.mark.parametrize("method", ["radau", "bdf", "lsoda"])
def test_stiff_methods_refuse_projection(method):
    case, model = four_bar(), four_bar().system.compile()
    with pytest.raises(bough.StateError, match=f"stabilize is 'projection', but the method '{method}' keeps its own past steps"):
        run(model, case.q, case.v, 0.1, None, method=method, stabilize="projection")


@pytest.mark.parametrize("given", [{"stabilize": "projection"}, {"stabilize": 10.0}, {"hold": ["bob"]}])
def test_systems_without_loops_refuse(given):
    s = bough.System("pendulum", gravity=(0, 0, -g))
    s.body("bob", joint=bough.Revolute("y"), mass=1.0, com=(0, 0, -1))
    with pytest.raises(bough.StateError, match=f"{next(iter(given))} is given, but system 'pendulum' has no loops or couplings"):
        run(s.compile(), [0.1], [0.0], 0.1, **given)
