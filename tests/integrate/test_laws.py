"""Laws: sampled and continuous, in Python and compiled, with states, periods, delays; against closed forms and SciPy's solver."""
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import bough
from bough.errors import SimulationError, StateError
from tests.support.compare import assert_same
from tests.support.resumed import latched_pendulum
from tests.support.tolerance import CANCELLING, PRODUCTS, STEPPED, SWEEP, oscillation

METHODS = {"rk4": ({"dt": 1e-3}, 1e-8), "euler-cromer": ({"dt": 1e-4}, 1e-3), "dopri5": ({}, 1e-8), "imex4": ({"dt": 1e-3}, 1e-8),
           "radau": ({"rtol": 1e-9, "atol": 1e-11}, 1e-7)}                  # options; how far from the exact solution at t = 1
every_method = pytest.mark.parametrize("method", METHODS)


def rotor():
    """A disk of unit inertia: its angular acceleration is the torque of its motor."""
    s = bough.System("rotor")
    s.body("rotor", joint=bough.Revolute("z"), inertia=(1, 1, 1), mass=1.0)
    s.input("motor", coordinate="rotor")
    s.input("brake", coordinate="rotor")
    s.output("angle", coordinate="rotor")
    s.output("rate", rate="rotor")
    return s


def run(system, laws, *, until=1.0, method="rk4", dt=0.01, **options):
    steps = {"dt": dt} if method in ("rk4", "euler-cromer", "imex4") else {}
    return bough.simulate(system, until=until, method=method, laws=laws, progress=False, **steps | options)


def speed(result):
    """Of the rotor, at the end."""
    return result.data.v.values[-1, 0]


# ---- sampled ---------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("options", [{"dt": 0.01}, {"dt": 0.007}, {"method": "dopri5"}, {"method": "radau"}], ids=str)
@pytest.mark.parametrize("delay", [0.0, 0.03, 0.25])
def test_what_a_law_gives_acts_a_delay_later_and_is_held(options, delay):
    """u(t) = 1 + kT for kT <= t - delay < (k + 1)T, so v = integral of it, exactly; a delay may be longer than the period."""
    asked, period = [], 0.1

    @bough.law(period=period, delay=delay)
    def ramp(t, y):
        asked.append(t)
        return {"motor": 1.0 + t}

    v = speed(run(rotor(), [ramp], **options))
    starts = np.arange(10)*period
    assert np.allclose(asked, starts, atol=STEPPED)
    assert v == pytest.approx(np.sum((1.0 + starts)*np.clip(1.0 - delay - starts, 0.0, period)), rel=STEPPED)


def test_laws_have_periods_and_states_of_their_own_and_add_up():
    """One counts its calls, another alternates; what both give to one input, and to two along one coordinate, is added."""
    times = {"count": [], "flip": []}

    @bough.law(period=0.1, states=[0.0])
    def count(t, y, z):
        times["count"].append(t)
        return {"motor": z[0]}, z + 1.0

    @bough.law(period=0.04, states=[1.0])
    def flip(t, y, z):
        times["flip"].append(t)
        return {"motor": z[0], "brake": 2.0}, -z

    v = speed(run(rotor(), [count, flip], until=0.8))
    assert np.allclose(times["count"], np.arange(8)*0.1, atol=STEPPED)
    assert np.allclose(times["flip"], np.arange(20)*0.04, atol=STEPPED)
    assert v == pytest.approx(0.1*sum(range(8)) + 0.0 + 2.0*0.8, rel=CANCELLING)


def test_control_is_a_law_on_implied_inputs():
    """By arrays, by names of coordinates, by names of inputs, compiled: the same motion, to the bit."""
    @bough.controller(outputs=["angle", "rate"], inputs=["rotor"], period=0.01)
    def compiled(t, y, u):
        u[0] = 1.0 - 3.0*y[0] - 2.0*y[1]

    def law(t, y):
        return {"rotor.rz": 1.0 - 3.0*y["angle"] - 2.0*y["rate"]}

    runs = [run(rotor(), [], control=lambda t, q, v, wheels: 1.0 - 3.0*q - 2.0*v),
            run(rotor(), [], control=lambda t, q, v, wheels: {"rotor": 1.0 - 3.0*q[0] - 2.0*v[0]}),
            run(rotor(), [law]), run(rotor(), [compiled]), run(rotor(), [], control=compiled)]
    for other in runs[1:]:
        assert np.array_equal(other.data.q.values, runs[0].data.q.values)


def test_a_law_drives_wheels_by_their_names():
    """A motor of constant torque T on a wheel of inertia J: T t/J less what the bus turns back."""
    s = bough.System("bus")
    s.body("bus", joint=bough.Revolute("z"), inertia=(2, 2, 3.0), mass=1.0)
    s.wheel("rw", body="bus", axis="z", inertia=0.5, torque=0.0)
    s.output("speed", wheel="rw")
    seen = []
    sim = bough.Simulator(s, dt=0.01, laws=[lambda t, y: seen.append(y["speed"]) or {"rw": 0.2}])
    sim.advance(1.0)
    bus = -0.2/(3.0 - 0.5)                                                  # the inertia of the bus includes the wheel's
    assert sim.y["speed"] == pytest.approx(0.2/0.5 - bus, rel=CANCELLING)
    assert sim.state.v[0] == pytest.approx(bus, rel=CANCELLING)
    assert seen[50] == pytest.approx(0.5*sim.y["speed"], rel=CANCELLING)


def test_a_batch_is_asked_once_for_all():
    """Rows come in and rows may go out; each equals its single run."""
    shapes = set()

    @bough.law(period=0.1, states=[0.0])
    def integral(t, y, z):
        shapes.add((np.shape(y["rate"]), np.shape(z)))
        z = z + 0.1*np.reshape(y["angle"], (-1, 1)) if np.ndim(y["angle"]) else z + 0.1*y["angle"]
        return {"motor": -y["angle"] - z[..., 0]}, z

    q0 = np.linspace(0.1, 1.0, 6).reshape(6, 1)
    batch = run(rotor(), [integral], q0=q0)
    assert shapes == {((6,), (6, 1))}
    for i in range(6):
        one = run(rotor(), [integral], q0=q0[i])
        assert np.allclose(one.data.q.values, batch.data.q.values[i], rtol=SWEEP, atol=PRODUCTS)


# ---- noise -----------------------------------------------------------------------------------------------------------------
def noisy(**sensor):
    s = rotor()
    s.output("gyro", rate="rotor", **sensor)
    return s


def readings(system, seed=0, **options):
    """What a law saw in a thousand calls, (calls, members)."""
    seen = []
    run(system, [bough.Law(lambda t, y: seen.append(np.array(y["gyro"])), period=1e-3)], dt=1e-3, seed=seed, **options)
    return np.array(seen)


def test_noise_has_the_standard_deviation_that_is_said_and_a_seed():
    """The standard deviation of n normal numbers is off by sigma/sqrt(2n), the mean by sigma/sqrt(n): five of those at most."""
    a, b, other = readings(noisy(noise=0.3)), readings(noisy(noise=0.3)), readings(noisy(noise=0.3), seed=1)
    n = len(a)
    assert np.array_equal(a, b)
    assert not np.array_equal(a, other)
    assert a.std() == pytest.approx(0.3, abs=5*0.3/np.sqrt(2*n))
    assert abs(a.mean()) < 5*0.3/np.sqrt(n)


@pytest.mark.parametrize("events", [False, True])
def test_noise_of_members_of_a_batch_is_their_own(events):
    """The correlation of n pairs of independent numbers is off by 1/sqrt(n); the noise of the first is as if it were alone."""
    s = noisy(noise=0.3)
    if events:
        s.latch("catch", coordinate="rotor.rz", at=9.0)                     # members run one by one then
    alone = readings(s)
    batch = readings(s, q0=np.zeros((2, 1))).reshape(2, -1) if events else readings(s, q0=np.zeros((2, 1))).T
    assert np.array_equal(batch[0], alone)
    assert abs(np.corrcoef(batch)[0, 1]) < 5/np.sqrt(len(alone))


def test_what_comes_in_steps_is_rounded_to_them():
    seen = readings(noisy(quantum=0.25), v0=[0.6])
    assert np.all(seen == 0.5)


# ---- continuous ------------------------------------------------------------------------------------------------------------
@bough.controller(outputs=["rate"], inputs=["motor"], states=[0.0])
def lagging(t, y, u, z, zdot):
    """A motor whose torque follows 1 with a lag of 0.2 s."""
    zdot[0] = (1.0 - z[0])/0.2
    u[0] = z[0]


@bough.controller(outputs=["angle", "rate"], inputs=["motor", "brake"], states=[0.1, -0.2])
def servo(t, y, u, z, zdot):
    """Proportional and integral, with the rate through a filter; and a brake."""
    zdot[0] = y[0] - np.sin(3.0*t)
    if y[1] != 0.0:                                                         # rates that are not filled are zero
        zdot[1] = (y[1] - z[1])/0.05
    u[0] = -20.0*(y[0] - np.sin(3.0*t)) - 15.0*z[0] - 4.0*z[1]
    u[1] = -0.5*y[1]*abs(y[1])


@every_method
def test_states_of_a_law_are_integrated_with_the_mechanics(method):
    """A first-order lag T on a rotor: v = t - T (1 - exp(-t/T))."""
    options, tolerance = METHODS[method]
    result = run(rotor(), [lagging], method=method, **options)
    assert speed(result) == pytest.approx(1.0 - 0.2*(1.0 - np.exp(-5.0)), rel=tolerance)
    assert result.data.inputs.sel(input="motor").values[-1] == pytest.approx(1.0 - np.exp(-5.0), rel=10*tolerance)


@every_method
def test_a_servo_with_states_is_as_scipy_solves_it(method):
    def rate(t, x):
        u, zdot = np.zeros(2), np.zeros(2)
        servo.function(t, x[:2], u, x[2:], zdot)
        return [x[1], u.sum(), *zdot]

    exact = solve_ivp(rate, (0.0, 1.0), [0.5, 1.0, 0.1, -0.2], rtol=1e-12, atol=1e-13, method="DOP853").y[:2, -1]
    options, tolerance = METHODS[method]
    for given in ({"laws": [servo]}, {"laws": [], "control": servo}):       # the one path
        result = run(rotor(), method=method, q0=[0.5], v0=[1.0], **given, **options)
        assert np.allclose([result.data.q.values[-1, 0], speed(result)], exact, rtol=10*tolerance, atol=10*tolerance)


def crane():
    """A flexible jib on a hinge, held by an elastic line: outputs of every kind that a law may read at every stage."""
    s = bough.System("crane", gravity=(0, 0, -9.81))
    beam = bough.beam(2.0, EI=4000.0, mass_per_length=2.0, modes=2, damping=0.01)
    s.body("jib", joint=bough.Revolute("y", q0=0.2), flexible=beam)
    s.body("load", parent="jib", node="tip", joint=bough.Revolute("y", stiffness=20.0), mass=3.0, com=(0, 0, -0.5))
    s.line("stay", a=bough.Frame("world", at=(0, 0, 2)), b=bough.Frame("jib", node="tip"), length=2.5, stiffness=500.0)
    s.output("angle", coordinate="jib.ry")
    s.output("velocity", velocity=bough.Frame("load", at=(0, 0, -0.5)))
    s.output("attitude", attitude="load")
    s.output("deflection", deflection=bough.Frame("jib", node="tip"))
    s.output("tension", tension="stay")
    s.input("drive", coordinate="jib.ry")
    s.input("push", force=bough.Frame("load", at=(0, 0, -0.5)), axes="world")
    s.input("servo", rest="load.ry")
    return s.compile()


@bough.controller(outputs=["angle", "velocity", "attitude", "deflection", "tension"], inputs=["drive", "push", "servo"])
def crane_law(t, y, u):
    angle, velocity, attitude, deflection, tension = y[0], y[1:4], y[4:8], y[8:11], y[11]
    u[0] = -10.0*angle - 50.0*(deflection[1] + deflection[2]) + 3.0*attitude[1]
    for i in range(3):
        u[1 + i] = -2.0*velocity[i]
    u[4] = 1e-3*tension*np.sin(t)


@pytest.fixture(scope="module")
def crane_motion():
    """By SciPy, with outputs and accelerations as `Model` gives them: other code than the sweeps inside a step."""
    model = crane()

    def rate(t, x):
        q, v, u = x[:model.nq], x[model.nq:], np.zeros(5)
        seen = model.outputs(q, v, names=crane_law.outputs)
        crane_law.function(t, np.concatenate([np.ravel(seen[name]) for name in crane_law.outputs]), u)
        inputs = {"drive": u[0], "push": u[1:4], "servo": u[4]}
        return np.concatenate([v, model.forward_dynamics(q, v, inputs=inputs, t=t)])

    found = solve_ivp(rate, (0.0, 1.0), [*model.q0, *model.v0], rtol=1e-10, atol=1e-12, method="DOP853")
    return model, found.y[:, -1]


@every_method
def test_a_law_on_outputs_that_are_swept_is_as_scipy_solves_it(crane_motion, method):
    model, exact = crane_motion
    options, tolerance = METHODS[method]
    result = run(model, [crane_law], method=method, **options)
    found = [*result.data.q.values[-1], *result.data.v.values[-1]]
    assert np.allclose(found, exact, rtol=20*tolerance, atol=20*tolerance*np.abs(exact).max())


def test_lanes_are_as_single_runs(crane_motion):
    """With a law on swept outputs, for more states than lanes."""
    model, _ = crane_motion
    q0 = np.tile(model.q0, (5, 1))
    q0[:, 0] = np.linspace(-0.2, 0.2, 5)
    batch = run(model, [crane_law], q0=q0, until=0.2, dt=1e-3)
    for i in range(5):
        one = run(model, [crane_law], q0=q0[i], until=0.2, dt=1e-3)
        assert np.allclose(one.data.q.values, batch.data.q.values[i], rtol=STEPPED, atol=STEPPED)
        assert_same(one.data.inputs.values, batch.data.inputs.values[i], STEPPED)


@pytest.fixture(scope="module")
def drag():
    @bough.controller(outputs=["velocity"], inputs=["drag"])
    def drag(t, y, u):
        speed = np.sqrt(y[0]**2 + y[1]**2 + y[2]**2)
        for i in range(3):
            u[i] = -3.0*speed*y[i]
    return drag


@every_method
def test_a_body_that_falls_with_quadratic_drag(method, drag):
    """v = -vt tanh(g t/vt), vt = sqrt(m g/c)."""
    s = bough.System("sky", gravity=(0, 0, -9.81))
    s.body("ball", joint=bough.Free(), mass=2.0, inertia=(1, 1, 1))
    s.input("drag", force="ball", axes="world")
    s.output("velocity", velocity="ball")
    options, tolerance = METHODS[method]
    terminal = np.sqrt(2.0*9.81/3.0)
    fell = run(s, [drag], method=method, record=["state", "outputs"], **options).data.outputs.sel(output="velocity.z").values[-1]
    assert fell == pytest.approx(-terminal*np.tanh(9.81/terminal), rel=tolerance)


def test_a_flexible_beam_bounces_on_a_penalty_contact():
    """An elastic ground takes the tip's energy and gives it back.  In the step in which contact begins or ends at the speed v the
    force is off by k v h at most, so the energy by k (v h)^2."""
    s = bough.System("bounce", gravity=(0, 0, -9.81))
    s.body("beam", joint=bough.Revolute("y"), flexible=bough.beam(1.0, EI=50.0, mass_per_length=1.0, modes=2))
    tip = bough.Frame("beam", node="tip")
    s.input("ground", force=tip, axis="z", axes="world")
    s.output("height", position=tip, component="z")
    s.output("energy", energy="total")

    @bough.controller(outputs=["height"], inputs=["ground"])
    def contact(t, y, u):
        u[0] = 2000.0*max(0.0, -0.3 - y[0])

    for dt in (1e-3, 2.5e-4):
        data = run(s, [contact], dt=dt, sample_rate=1000, record=["outputs", "inputs"]).data
        height, energy = data.outputs.sel(output="height").values, data.outputs.sel(output="energy").values
        depth, v = np.maximum(0.0, -0.3 - height), np.abs(np.diff(height)).max()*1000.0
        passes = np.count_nonzero(np.diff(depth > 0.0))
        assert passes > 1
        assert 0.01 < depth.max() < 0.1                                 # a real contact, which stays shallow
        assert np.allclose(data.inputs.sel(input="ground").values, 2000.0*depth, rtol=0, atol=2000.0*PRODUCTS)
        assert np.abs(energy + 1000.0*depth**2 - energy[0]).max() < passes*2000.0*(v*dt)**2


# ---- what laws and users see ---------------------------------------------------------------------------------------------------
@bough.controller(outputs=["rate"], inputs=["motor"])
def damp(t, y, u):
    u[0] = 1.0 - y[0]


def pendulums():
    s = latched_pendulum()
    s.outputs.clear()
    s.output("rate", rate="upper.ry")
    s.output("felt", felt_acceleration=bough.Frame("lower", at=(0, 0, -1)))
    s.output("root", load="upper")
    return s


@pytest.mark.parametrize("options", [
    {"laws": [damp]}, {"laws": [damp], "method": "dopri5"}, {"events": True},
    {"parameters": {"lower.mass": np.array([0.5, 2.0])}, "laws": [damp]},
    {"parameters": {"lower.mass": np.array([0.5, 2.0])}, "events": True},
], ids=["continuous law", "dopri5", "latched", "parameters", "latched parameters"])
def test_a_sampled_law_sees_what_the_result_shows(options):
    """Accelerations and loads, which depend on what acts, on what is locked and on the parameters of a member."""
    s, seen, options = pendulums(), [], dict(options)
    if not options.pop("events", False):
        s.events.clear()

    def look(t, y):
        seen.append(np.concatenate([np.atleast_2d(y[name]) for name in ("felt", "root")], axis=1))

    laws = [*options.pop("laws", []), bough.Law(look, period=0.1)]
    result = run(s, laws, dt=1e-3, sample_rate=10, record=["outputs"], **options)
    shown = result.data.outputs.values[..., 1:]
    shown = shown if shown.ndim == 3 else shown[None]
    rows = np.stack(seen) if len(seen[0]) == len(shown) else np.reshape(seen, (len(shown), -1, 9)).swapaxes(0, 1)
    assert np.allclose(rows[:10], shown[:, :10].swapaxes(0, 1), rtol=CANCELLING, atol=CANCELLING)
    sim = bough.Simulator(s, dt=1e-3, laws=laws[:-1], **{key: value for key, value in options.items() if key == "parameters"})
    sim.advance(0.9)
    near = 1e-6 if "method" in options else CANCELLING              # the simulator takes rk4, which dopri5 meets to its rtol
    assert np.allclose(sim.y["felt"], shown[:, 9, :3].reshape(np.shape(sim.y["felt"])), rtol=near, atol=near)


@pytest.mark.parametrize("step", [lambda sim: sim.step(100), lambda sim: sim.advance(0.905),
                                  lambda sim: [sim.step() for _ in range(90)]], ids=["steps", "advance", "step by step"])
def test_inputs_of_a_simulator_are_those_of_compiled_laws_now(step):
    sim = bough.Simulator(rotor(), dt=0.01, laws=[damp])
    step(sim)
    assert sim.u["motor"] == pytest.approx(1.0 - sim.y["rate"], rel=CANCELLING)
    error = oscillation("rk4", 1.0, 0.01, sim.t)*np.exp(0.01)            # of a step, beside what has decayed in it
    assert sim.u["motor"] == pytest.approx(np.exp(-sim.t), rel=error)


def test_adaptive_steps_record_what_compiled_laws_give():
    sim = bough.Simulator(rotor(), method="dopri5", laws=[damp], record=["state", "inputs"])
    sim.step(20)
    data = sim.result().data
    assert np.allclose(data.inputs.sel(input="motor").values, 1.0 - data.v.values[:, 0], rtol=CANCELLING)


# ---- what is wrong -----------------------------------------------------------------------------------------------------------
def give(value):
    return lambda t, y: {"motor": value}


def made(*options, function=lambda t, y, u: None, **named):
    """A law that is made when it is needed: compiled, with these options."""
    return lambda: bough.controller(*options, **named)(function)


NONSENSE = {
    "unknown output": (lambda: bough.Law(give(0), outputs=["angel"]), "no output 'angel', did you mean 'angle'"),
    "unknown input": (lambda: bough.Law(give(0), inputs=["moter"]), "no input 'moter', did you mean 'motor'"),
    "unknown, compiled": (made(outputs=["angel"], inputs=["motor"]), "no output 'angel', did you mean 'angle'"),
    "unknown input, compiled": (made(outputs=["angle"], inputs=["moter"]), "no input 'moter', did you mean 'motor'"),
    "unknown read": (lambda: lambda t, y: {"motor": y["angel"]}, "no output 'angel' .*did you mean 'angle'"),
    "unknown set": (lambda: lambda t, y: {"moter": 1.0}, "returned 'moter', .*did you mean 'motor'"),
    "not its own": (lambda: bough.Law(give(0), inputs=["brake"]), "returned 'motor', .*these are brake"),
    "shape": (lambda: give([1.0, 2.0]), r"shape \(2,\) for 'motor'; return a number"),
    "NaN": (lambda: give(np.nan), r"returned \[nan\] for 'motor'; return finite"),
    "text": (lambda: give("full"), "returned 'full' for 'motor'; return a number"),
    "no dict": (lambda: lambda t, y: [1.0], "return {input: value}"),
    "no states": (lambda: bough.Law(lambda t, y, z: 3.0, states=[0.0]), "its new states"),
    "states of other size": (lambda: bough.Law(lambda t, y, z: ({}, [1, 2]), states=[0.0]), "return 1 numbers"),
    "NaN in states": (lambda: bough.Law(lambda t, y, z: ({}, [np.nan]), states=[0.0]), "stay finite"),
    "states as text": (lambda: bough.Law(lambda t, y, z: None, states=["a"]), "states is .*'a'"),
    "short period": (lambda: bough.Law(give(0), period=1e-3), "shorter than the step of 0.01 s; take a smaller dt"),
    "names that are none": (lambda: bough.Law(give(0), inputs=3), "inputs is 3; give a name, or a list of names"),
    "names in lists": (lambda: bough.Law(give(0), outputs=[["angle"]]), "outputs is .*; give a name, or a list of names"),
    "period without end": (lambda: bough.Law(give(0), period=10**400), "period is 1000.*; give seconds"),
    "period as text": (lambda: bough.Law(give(0), period="a"), "period is 'a'"),
    "delay": (lambda: bough.Law(give(0), delay=-1.0), "delay is -1.0; give seconds, 0 or more"),
    "delay at every stage": (made(outputs=["angle"], inputs=["motor"], delay=0.1), "give it a period"),
    "arity": (lambda: bough.Law(lambda t: {}), r"is called as <lambda>\(t, y\)"),
    "arity with states": (lambda: bough.Law(give(0), states=[0.0]), r"is called as <lambda>\(t, y, z\)"),
    "arity, compiled": (made(outputs=["angle"], inputs=["motor"], states=[0.0]), r"\(t, y, u, z, zdot\)"),
    "half of the names": (made(outputs=["angle"]), "both outputs.*and inputs"),
    "late": (made(outputs=["felt"], inputs=["motor"]), "'felt' at every stage, but .*give the law a period"),
    "noisy": (made(outputs=["gyro"], inputs=["motor"]), "'gyro' at every stage, but it has noise.*give the law a period"),
    "set twice": (lambda: [damp, bough.Law(give(1.0), inputs=["motor"])], "'motor', which a compiled law sets at every stage"),
    "set twice, unsaid": (lambda: [damp, give(1.0)], "'motor', which a compiled law sets at every stage"),
    "no function": (lambda: 3.0, "not a callable"),
}


@pytest.mark.parametrize("nonsense", NONSENSE)
def test_nonsense_is_named(nonsense):
    law, words = NONSENSE[nonsense]
    s = noisy(noise=0.1)
    s.output("felt", felt_acceleration="rotor")

    def go():
        given = law()
        run(s, given if isinstance(given, list) else [given])

    with pytest.raises(StateError, match=words):
        go()


@pytest.mark.parametrize(("options", "words"), [
    ({"laws": bough.Law(give(0))}, "give a list of laws"), ({"laws": give(0)}, "give a list of laws"),
    ({"laws": [give(0)], "seed": -1}, "seed is -1"), ({"laws": [give(0)], "method": "dopri5"}, "give period"),
])
def test_nonsense_around_laws_is_named(options, words):
    with pytest.raises(StateError, match=words):
        run(rotor(), **options)


def test_names_may_be_given_as_one_text():
    law = bough.Law(give(0), outputs="angle", inputs="motor")
    assert (law.outputs, law.inputs) == (("angle",), ("motor",))


FAILING = {
    "raises": (lambda t, y: {"motor": 1.0/0.0 if t > 0.495 else 1.0}, "law 'raises' failed at t = 0.5 s: ZeroDivisionError"),
    "nan": (lambda t, y: {"motor": np.nan if t > 0.495 else 1.0}, "law 'nan' failed at t = 0.5 s: it returned .nan. for 'motor'"),
    "name": (lambda t, y: {"moter" if t > 0.495 else "motor": 1.0}, "law 'name' failed at t = 0.5 s: it returned 'moter'"),
}


@pytest.mark.parametrize("how", ["simulate", "step", "streamed"])
@pytest.mark.parametrize("failing", FAILING)
def test_a_law_that_fails_in_mid_run_keeps_what_was_recorded(failing, how, tmp_path):
    function, words = FAILING[failing]
    function.__name__ = failing
    sim = bough.Simulator(rotor(), dt=0.01, laws=[function])
    ways = {"simulate": lambda: run(rotor(), [function]), "step": lambda: [sim.step() for _ in range(100)],
            "streamed": lambda: run(rotor(), [function], save_to=tmp_path / "run.nc")}
    with pytest.raises(SimulationError, match=words) as caught:
        ways[how]()
    kept = caught.value.result.data
    assert kept.time.values[-1] == pytest.approx(0.5)
    assert np.allclose(kept.v.values[:, 0], kept.time.values, rtol=STEPPED)


def test_a_compiled_law_that_fails_in_mid_run_keeps_what_was_recorded():
    @bough.controller(outputs=["rate"], inputs=["motor"])
    def beyond(t, y, u):
        u[0 if t < 0.5 else 7] = 1.0                                        # out of range

    with pytest.raises(SimulationError, match="controller raised, or returned what is not finite") as caught:
        run(rotor(), [beyond])
    assert caught.value.result.time[-1] == pytest.approx(0.5, abs=0.011)      # in the step of 0.01 s in which it raises
