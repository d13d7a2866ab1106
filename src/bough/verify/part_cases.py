"""Parts that store, couple and measure: tanks, gears, ports; outputs, linear systems and sensitivities; integrators in lanes."""

from functools import partial
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

import bough
from bough.flex import beam
from bough.integrate.sensitivities import sensitivities
from bough.sweeps import calls
from bough.verify import dynamics_cases, systems
from bough.verify.case import Cases, Pairs
from bough.verify.closed_forms import FORMULA, INTEGRATORS, TABULATED, G, pendulum, swing
from bough.verify.witnesses import maximal

CASES = Cases("parts")
FALLING_MASS = "Thomson, Introduction to Space Dynamics (1961), 8: bodies of variable mass"


# ---- tanks -----------------------------------------------------------------------------------------------------------------
def rocket(**options: Any) -> bough.System:
    s = bough.System("rocket")
    s.body("stage", joint=bough.Free(), mass=100.0, inertia=(12, 12, 5))
    s.tank("lox", body="stage", **{"mass": 50.0, "flow": 1.0, "exhaust_speed": 3000.0, "nozzle": (0, 0, -1), **options})
    return s


@CASES.case("a tank that empties", "speed of a stage, one run and five in lanes", "v = u ln(m0/m)", "Tsiolkovsky (1903)", 9.0)
def rocket_equation() -> Pairs:
    model = rocket().compile()
    start = np.tile(model.v0, (5, 1))
    start[:, 2] = np.arange(5.0)
    for v0, before in ((model.v0, 0.0), (start, start[:, 2, None])):
        result = systems.run(model, 20.0, None, ["state", "tanks"], v0=v0, dt=0.25)
        mass = result.array("tank_mass")[..., 0]
        yield result.array("v")[..., 2], before + 3000.0 * np.log(150.0 / (100.0 + mass))


@CASES.case("a stage that spins and burns", "rates over 20 s, rk4", "across (I/I0)^(l^2/k - 1), along I w = const", FALLING_MASS,
            8.0)
def jet_damping() -> Pairs:
    k, l, I0, Iz = 0.2, 1.0, 12.0, 5.0
    levels = {"mass": [0, 50], "com": [[0, 0, 0]] * 2, "inertia": [[0, 0, 0], [50 * k, 50 * k, 25 * k]]}
    v0 = np.array([0, 0, 0, 0.1, 0.05, 2.0])
    result = systems.run(rocket(levels=levels), 20.0, 1.0, ["state", "tanks"], v0=v0, dt=0.01)
    mass, w = result.array("tank_mass")[:, 0], result.array("v")[:, 3:]
    yield np.hypot(w[:, 0], w[:, 1]), np.hypot(*v0[3:5]) * ((I0 + k * mass) / (I0 + 50 * k)) ** (l**2 / k - 1)
    yield w[:, 2] * (Iz + 0.5 * k * mass), np.full(len(w), v0[5] * (Iz + 25 * k))


def feeding() -> bough.System:
    """Tanks of three kinds with nozzles beside the axis, and slosh of both kinds."""
    s = bough.System("stage")
    s.body("stage", joint=bough.Free(), mass=100.0, com=(0.01, 0.02, 0.1), inertia=(10, 12, 5))
    s.body("bell", parent="stage", joint=bough.Revolute("x", stiffness=50), at=(0, 0, -1), mass=3, com=(0, 0, -0.2),
           inertia=(0.1,) * 3)
    pendulum = bough.Slosh("pendulum", mass=[0, 10, 6], length=[0.3, 0.25, 0.2], level=[0, 30, 60], q0=(0.2, 0.1), decay=0.1)
    spring = bough.Slosh("spring", mass=[0, 10], length=[0.2, 0.1], frequency=[1.0, 0.8], level=[0, 30], q0=(0.05, 0.02))
    s.tank("lox", body="stage", mass=50.0, flow=1.0, exhaust_speed=300.0, nozzle=bough.Frame("bell", at=(0, 0, -0.5)),
           at=(0.1, 0, 0.3), orient={"axis": "y", "degrees": 20}, shape={"sphere": 0.4}, capacity=60, slosh=pendulum)
    s.tank("fuel", body="stage", mass=30.0, flow=0.5, isp=30.0, nozzle=(0.1, 0, -1), direction=(0.1, 0, 1), at=(0.1, 0.2, -0.3),
           shape={"cylinder": {"radius": 0.3, "length": 0.5}}, slosh=spring)
    return s


@CASES.case("tanks and what they lose", "momenta and energy of stage and exhaust, rk4", "they stay as they are, all together",
            "mechanics; see the theory page on propellant", 6.5)
def exhaust() -> Pairs:
    model = feeding().compile()
    v0 = np.array([3, 2, 1, 0.3, -0.2, 0.5, 0.3, *model.v0[7:]])
    result = systems.run(model, 1.0, 20.0, ["exhaust", "tanks", "momentum", "energy"], v0=v0, dt=0.005)
    for name in ("linear_momentum", "angular_momentum", "energy"):
        whole, gone = result.array(f"whole_{name}"), result.array(f"exhaust_{name}")
        yield whole, np.broadcast_to(whole[0], whole.shape), float(np.abs(gone).max())


@CASES.case("slosh", "angle of the liquid's pendulum over 2 s, rk4", "a pendulum: Jacobi's elliptic functions", TABULATED, 9.0)
def slosh() -> Pairs:
    """A tank that stands: the pendulum of its liquid, of length 1, swings as one does."""
    s = bough.System("tank", gravity=(0, 0, -G))
    s.body("stand", joint=bough.Weld(), mass=100.0, inertia=(1, 1, 1))
    s.tank("lox", body="stand", mass=50.0, flow=0.0, exhaust_speed=1.0, nozzle=(0, 0, -1), residual=20.0,
           slosh=bough.Slosh("pendulum", mass=20.0, length=1.0, q0=(0.5, 0)))
    result = systems.run(s, 2.0, 20.0, dt=1e-3)
    yield result.array("q")[:, 0], swing(result.time, 0.5)


# ---- couplings of every kind -----------------------------------------------------------------------------------------------
LEAD, RADIUS = 0.01, 0.05
RELATIONS: dict[str, tuple[Any, list[float]]] = {  # on turns a, b, c and a slide d: factors that sum to zero
    "gear": (bough.Gear("a", "b", ratio=3.0), [1.0, -3.0, 0.0, 0.0]),
    "rack and pinion": (bough.RackAndPinion("a", "d", radius=RADIUS), [RADIUS, 0.0, 0.0, -1.0]),
    "screw": (bough.Screw("a", "d", lead=LEAD), [LEAD / (2 * np.pi), 0.0, 0.0, -1.0]),
    "differential": (bough.Differential("a", "b", "c"), [1.0, 1.0, -2.0, 0.0]),
    "planetary gears": (bough.Planetary("a", "b", "c", ratio=3.0), [1.0, 3.0, -4.0, 0.0]),
    "mimic": (bough.Mimic("a", "b", multiplier=0.5), [1.0, -0.5, 0.0, 0.0]),
}


def related(name: str) -> Pairs:
    """J a = T + c l, c.a = 0."""
    relation, factors = RELATIONS[name]
    c, J = np.array(factors), np.array([0.01, 0.4, 0.2, 4.0])
    s = bough.System(name)
    for each, inertia in zip("abc", J, strict=False):
        s.body(each, joint=bough.Revolute("z"), mass=1.0, inertia=(1.0, 1.0, inertia))
    s.body("d", joint=bough.Prismatic("z"), mass=J[3])
    s.coupling("relation", relation)
    model, T = s.compile(), np.random.default_rng(1).normal(size=(5, 4))
    a = T / J - np.outer((T / J) @ c / (c * c / J).sum(), c / J)
    zero = np.zeros((5, 4))
    yield from dynamics_cases.by_methods(model, zero, zero, T, a, float(np.abs(a).max()))


for _name in RELATIONS:
    CASES.add(f"a coupling, {_name}", "accelerations, O(N) and dense, one state and four lanes", "J a = T + c l, c.a = 0", FORMULA,
              11.0, partial(related, _name))


@CASES.case("a gearbox", "angle of the link over 0.5 s, rigid and elastic", "(I + n^2 J) q'' = n T; damped swings", FORMULA, 9.0)
def gearbox() -> Pairs:
    n, I, J, k, c = 20.0, 0.3, 1e-3, 80.0, 1.2
    for stiffness in (None, k):
        s = bough.System("drive")
        s.body("link", joint=bough.Revolute("z", **({} if stiffness is None else {"v0": 0.4})), mass=1.0, inertia=(1.0, 1.0, I))
        s.gearbox("motor", "link", ratio=n, inertia=J, stiffness=stiffness, damping=0.0 if stiffness is None else c)
        s.input("torque", coordinate="motor")
        model = s.compile()
        if stiffness is None:
            a = model.forward_dynamics(model.q0, model.v0, inputs={"torque": 0.7})
            yield a[[model.names.v.index("link.rz")]], np.array([n * 0.7 / (I + n * n * J)])
            continue
        result = systems.run(model, 0.5, 40, dt=5e-4)
        t, light, whole = result.time, 1 / I + 1 / (n * n * J), I + n * n * J
        decay = c * light / 2
        w = np.sqrt(k * light - decay**2)
        wound = np.exp(-decay * t) * np.sin(w * t) / w  # the link moves, the rotor stands at first
        yield result.array("q")[:, model.names.q.index("link.rz")], 0.4 * (I / whole * t + n * n * J / whole * wound)


# ---- ports and linear systems ----------------------------------------------------------------------------------------------
@CASES.case("outputs",
            "places, attitudes, velocities and accelerations as outputs and as inputs of laws; one state and nine in lanes",
            "jets of the tree's kinematics", dynamics_cases.OWN, 11.0)
def outputs() -> Pairs:
    s, at = systems.tree(), (0.1, 0.2, 0.3)
    for name in ("position", "attitude", "velocity", "angular_velocity", "acceleration"):
        target: dict[str, Any] = {name: bough.Frame("b7", at=at)}
        s.output(name, **target)
    model, rng = s.compile(), np.random.default_rng(3)
    q, v = systems.random_state(model, 9)  # each entry of a quaternion is once the largest
    tau = rng.normal(size=v.shape)
    M, f = zip(*(maximal.tree_equations(s, q[i], v[i], tau[i])[:2] for i in range(9)), strict=True)
    together, kinds = model.outputs(q, v, tau), ("position", "attitude", "velocity", "angular_velocity")
    places = np.array([place for name in kinds for place in model.tables.outputs[name].places], np.int64)
    swept = np.empty((9, len(places)))
    model.call(calls.measure, model.batch(q, v), places, swept)
    for i in range(9):
        a = np.linalg.solve(M[i], f[i])
        there, (w, w1) = maximal.places(s, q[i], v[i], a)["b7"], (None, None)
        w, w1, arm = there.velocity[:3], there.acceleration[:3], there.rotation.value @ np.array(at)
        theirs = {
            "position": there.position.value + arm,
            "attitude": Rotation.from_matrix(there.rotation.value).as_quat(canonical=True),
            "velocity": there.velocity[3:] + np.cross(w, arm),
            "angular_velocity": w,
            "acceleration": there.acceleration[3:] + np.cross(w1, arm) + np.cross(w, np.cross(w, arm)),
        }
        alone = model.outputs(q[i], v[i], tau[i])
        size = dynamics_cases.scale_of(M[i], f[i])
        for name, values in theirs.items():
            scale = size if name == "acceleration" else 0.0
            yield alone[name], values, scale
            yield together[name][i], values, scale
        yield swept[i], np.concatenate([theirs[name] for name in kinds])


@CASES.case("a linear system", "response of place to force at five frequencies", "1/(k - m w^2 + i c w)", FORMULA, 11.0)
def linear() -> Pairs:
    s = bough.System("oscillator")
    s.body("block", joint=bough.Prismatic("x", stiffness=50.0, damping=0.8), mass=2.0)
    s.input("force", coordinate="block")
    s.output("place", coordinate="block")
    found, w = s.compile().linearize(), np.array([0.5, 2.0, 5.0, 8.0, 30.0])
    response = [(found.C @ np.linalg.solve(1j * each * np.eye(2) - found.A, found.B) + found.D)[0, 0] for each in w]
    theirs = 1.0 / (50.0 - 2.0 * w**2 + 0.8j * w)
    yield np.real(response), theirs.real
    yield np.imag(response), theirs.imag


for _name, _build, _modal in (
    ("wheels", systems.wheeled, 1.0),
    ("force elements", systems.elements, 1.0),
    ("flexible bodies", systems.flexible, 0.05),
):
    CASES.add(f"derivatives, {_name}", "derivatives of the accelerations by q and v",
              "differences of fourth order along single speeds", "the accelerations of other cases", 7.0,
              partial(dynamics_cases.differenced, _build, _modal))


@CASES.case("sensitivities of a run", "derivatives of the place by mass and start, rk4", "those of cos(w t)", FORMULA, 8.0)
def run_sensitivities() -> Pairs:
    s = bough.System("oscillator")
    s.body("block", joint=bough.Prismatic("x", stiffness=50.0, q0=0.3), mass=2.0)
    found = sensitivities(s.compile(), until=1.0, dt=1e-3, every=100, parameters=["block.mass"], by=["q0"])
    t, w = found.t, 5.0
    yield found.q.value[:, 0], 0.3 * np.cos(w * t)
    yield found.q.dparameters["block.mass"].reshape(len(t)), 0.3 * np.sin(w * t) * t * w / (2 * 2.0)
    yield found.q.dq0[:, 0, 0], np.cos(w * t)


# ---- structures ------------------------------------------------------------------------------------------------------------
@CASES.case("a superelement", "deflection and slope of a tip under a load", "F l^3/(3 E I), F l^2/(2 E I)", FORMULA, 8.0)
def superelement() -> Pairs:
    body = beam(2.0, EI=(7.0, 9.0), mass_per_length=1.5, modes=2, elements=6, boundary="craig-bampton", interfaces=["tip"])
    eta = body.static_deflection("tip", force=(0, 0, 0.3))
    yield np.abs(body.displacement(eta)["tip"]).max(), 0.3 * 8 / (3 * 7.0)
    yield np.abs(body.rotation(eta)["tip"]).max(), 0.3 * 4 / (2 * 7.0)


# ---- integrators in lanes --------------------------------------------------------------------------------------------------
def in_lanes(method: str) -> Pairs:
    starts = np.linspace(0.2, 2.5, 5)
    result = systems.run(pendulum(), 1.0, 10.0, q0=starts[:, None], method=method, **INTEGRATORS[method][0])
    yield result.array("q")[..., 0], np.array([swing(result.time, q0) for q0 in starts])


for _method in ("euler-cromer", "imex2", "imex4", "dopri5", "imex43"):
    _digits = INTEGRATORS[_method][1] - 0.5
    CASES.add(f"{_method} in lanes", f"angles of five runs of a pendulum, {INTEGRATORS[_method][0]}", "Jacobi's elliptic functions",
              TABULATED, _digits, partial(in_lanes, _method))
