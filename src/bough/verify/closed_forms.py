"""Motions that have a closed form: every integrator and every part, compared to within the error of the steps."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.special import ellipj, ellipk

from bough.compile.layout import Floats
from bough.describe import CentralGravity, Frame, Free, Harmonics, Lock, Prismatic, Revolute, Spherical, System, TimeTable
from bough.flex import beam
from bough.integrate import Law
from bough.verify.case import Cases, Pairs
from bough.verify.systems import run

CASES = Cases("closed forms")
G = 9.81
FORMULA = "a formula; see bough/verify/closed_forms.py"
TABULATED = "Abramowitz and Stegun, Handbook of Mathematical Functions (1964), chapters 16 and 17"
# steps and digits of each integrator on a pendulum over 2 s: its order and its step leave so many
INTEGRATORS: dict[str, tuple[dict[str, float], float]] = {
    "rk4": ({"dt": 1e-3}, 11.0),
    "euler-cromer": ({"dt": 1e-4}, 3.0),
    "imex2": ({"dt": 1e-3}, 5.0),
    "imex4": ({"dt": 1e-3}, 10.0),
    "dopri5": ({"rtol": 1e-11, "atol": 1e-13}, 9.0),
    "imex43": ({"rtol": 1e-9, "atol": 1e-11}, 6.5),
    "radau": ({"rtol": 1e-9, "atol": 1e-11}, 6.5),
    "bdf": ({"rtol": 1e-9, "atol": 1e-11}, 5.0),
    "lsoda": ({"rtol": 1e-9, "atol": 1e-11}, 5.5),
}
ORDERS = {"rk4": 4, "euler-cromer": 1, "imex2": 2, "imex4": 4}


def end_of(system: System, until: float, **options: Any) -> Floats:
    """q at the end of a run; fine fixed steps unless said otherwise."""
    steps = options if {"dt", "rtol"} & options.keys() else {"dt": 1e-3} | options
    return np.asarray(run(system, until, 1.0 / until, **steps).trajectory.state.q[..., -1, :]).squeeze()


def states_of(system: System, until: float, rate: float, **options: Any) -> tuple[Floats, Floats]:
    """Times and q of a run (samples, nq)."""
    trajectory = run(system, until, rate, **options).trajectory
    return trajectory.t, trajectory.state.q[0]


# ---- integrators -----------------------------------------------------------------------------------------------------------
def pendulum(q0: float = 2.0) -> System:
    s = System("pendulum", gravity=(0, 0, -G))
    s.body("bob", joint=Revolute("y", q0=q0), mass=2.0, com=(0, 0, -1.0))
    return s


def swing(t: Floats, q0: float = 2.0, length: float = 1.0) -> Floats:
    """q = 2 arcsin(k cd(w t, k)), k = sin(q0/2): a pendulum let go at q0."""
    k = np.sin(q0 / 2)
    _, cn, dn, _ = ellipj(np.sqrt(G / length) * t, k * k)
    return 2.0 * np.arcsin(k * cn / dn)


def integrator(method: str) -> Pairs:
    t, q = states_of(pendulum(), 2.0, 20.0, method=method, **INTEGRATORS[method][0])
    yield q[:, 0], swing(t)


def order(method: str) -> Pairs:
    """Halving the step divides the error by 2 to the power of the order."""
    errors = [abs(end_of(pendulum(), 0.5, method=method, dt=dt) - swing(np.array(0.5))) for dt in (1 / 64, 1 / 128)]
    yield np.log2(errors[0] / errors[1]), ORDERS[method]


for _method, (_steps, _asked) in INTEGRATORS.items():
    CASES.add(f"{_method}, a swinging pendulum", f"the angle over 2 s, {_steps}", "Jacobi's elliptic functions", TABULATED, _asked,
              partial(integrator, _method))
for _method in ORDERS:
    CASES.add(f"{_method}, order", "how the error falls with the step", "the order of the method", FORMULA, 0.8,
              partial(order, _method))


@CASES.case("four lanes, a swinging pendulum", "angles of five runs in lanes, rk4", "Jacobi's elliptic functions", TABULATED, 11.0)
def lanes() -> Pairs:
    starts = np.linspace(0.2, 2.5, 5)
    found = end_of(pendulum(), 2.0, q0=starts[:, None])
    yield found, np.array([swing(np.array(2.0), q0) for q0 in starts])


# ---- rigid bodies and orbits -----------------------------------------------------------------------------------------------
@CASES.case("a free rigid body", "angular velocity over 10 s, dopri5", "Jacobi's elliptic functions", TABULATED, 9.0)
def free_body() -> Pairs:
    """Landau and Lifshitz, Mechanics, paragraph 37: I1 < I2 < I3, H^2 > 2 T I2, from where w2 is zero."""
    I = np.array([1.0, 2.0, 3.0])
    start = np.array([0.7, 0.0, 1.3])
    s = System("body")
    s.body("body", joint=Free(v0=(0, 0, 0, *start)), mass=1.0, inertia=tuple(I))
    result = run(s, 10.0, 10, method="dopri5", rtol=1e-11, atol=1e-13)
    energy, square = 0.5 * (I * start**2).sum(), ((I * start) ** 2).sum()
    rate = np.sqrt((I[2] - I[1]) * (square - 2 * energy * I[0]) / I.prod())
    k2 = (I[1] - I[0]) * (2 * energy * I[2] - square) / ((I[2] - I[1]) * (square - 2 * energy * I[0]))
    sn, cn, dn, _ = ellipj(rate * result.trajectory.t, k2)
    size = (
        np.sqrt((2 * energy * I[2] - square) / (I[0] * (I[2] - I[0]))),
        np.sqrt((2 * energy * I[2] - square) / (I[1] * (I[2] - I[1]))),
        np.sqrt((square - 2 * energy * I[0]) / (I[2] * (I[2] - I[0]))),
    )
    yield result.trajectory.state.v[0, :, 3:], np.column_stack([size[0] * cn, size[1] * sn, size[2] * dn])


@CASES.case("an orbit", "place after one revolution on an ellipse, dopri5", "Kepler's period: back where it began",
            "Kepler's third law", 8.0)
def kepler() -> Pairs:
    mu, r, v = 3.986004418e14, 7.0e6, 8.2e3
    axis = 1.0 / (2.0 / r - v * v / mu)
    s = System("satellite", gravity=CentralGravity(mu, (r, 0, 0), (0, v, 0)))
    s.body("bus", joint=Free(), mass=100.0, inertia=(1e-9,) * 3)
    period = 2 * np.pi * np.sqrt(axis**3 / mu)
    result = run(s, period, 1 / period, method="dopri5", rtol=1e-12, atol=1e-9)
    yield result.trajectory.state.orbit[0, -1, :3], np.array([r, 0, 0])


@CASES.case("gravity gradient", "angular acceleration of a body in orbit", "3 mu/R^3 r x J r = J w'",
            "Hughes, Spacecraft Attitude Dynamics (1986), 8.1", 10.0)
def gravity_gradient() -> Pairs:
    mu, at, J = 3.986004418e14, np.array([4.1e6, -3.2e6, 4.7e6]), np.diag([10.0, 25.0, 30.0])
    s = System("satellite", gravity=CentralGravity(mu, tuple(at), (0, 0, 0)))
    s.body("bus", joint=Free(), mass=100.0, inertia=(10, 25, 30))
    model, R = s.compile(), float(np.linalg.norm(at))
    torque = 3 * mu / R**3 * np.cross(at / R, J @ (at / R))
    yield model.forward_dynamics(model.q0, np.zeros(6))[3:], np.linalg.solve(J, torque)


@CASES.case("a wheel spins up", "rates of bus and wheel", "the motor turns both against each other: constant accelerations",
            FORMULA, 11.0)
def wheel() -> Pairs:
    s = System("bus")
    s.body("bus", joint=Free(), mass=100.0, inertia=(20, 25, 30))
    s.wheel("rw", body="bus", axis="z", inertia=0.02, torque=0.05)
    result = run(s, 10.0, 1, dt=0.01)
    states, t = result.trajectory.state, result.trajectory.t
    yield states.v[0, :, 5], -0.05 * t / (30 - 0.02)
    yield states.wheels[0, :, 0], 0.05 * t / 0.02 + 0.05 * t / (30 - 0.02)


# ---- oscillators: joints, elements, loops ----------------------------------------------------------------------------------
def damped(t: Floats, m: float, k: float, c: float, x0: float) -> Floats:
    """m x'' + c x' + k x = 0, from rest."""
    decay = c / (2 * m)
    w = np.sqrt(k / m - decay**2)
    return np.asarray(x0 * np.exp(-decay * t) * (np.cos(w * t) + decay / w * np.sin(w * t)))


def oscillator(build: Callable[[], System], k: float, c: float, rest: float = 0.0, m: float = 2.0, x0: float = 0.3,
               **options: Any) -> Pairs:
    t, q = states_of(build(), 0.5, 40.0, **{"dt": 1e-3} | options)
    yield q[:, 0] - rest, damped(t, m, k, c, x0)


def slider(**joint: Any) -> System:
    s = System("slider")
    s.body("block", joint=Prismatic("x", q0=0.3, **joint), mass=2.0)
    return s


def with_line() -> System:
    s = System("line")
    s.body("block", joint=Prismatic("x", q0=1.3), mass=2.0)
    s.line("spring", a="world", b="block", stiffness=50.0, length=1.0, damping=0.8)
    return s


def with_bushing() -> System:
    s = slider()
    s.bushing("mount", a="world", b="block", stiffness=(1.0, [50.0, 1, 1]), damping=(0.0, [0.8, 0, 0]))
    return s


def with_restoring() -> System:
    s = slider()
    s.restoring("tether", body="block", stiffness=(50, 0, 0, 0, 0, 0))
    return s


def heaving() -> System:
    """A cylinder of 0.2 m diameter floats at half its length of 1 m: the water carries m = rho A/2."""
    s, area = System("buoy", gravity=(0, 0, -G)), np.pi * 0.01
    s.body("buoy", joint=Prismatic("z", q0=0.1), mass=1025.0 * area * 0.5)
    s.buoyancy("hull", body="buoy", sections=[(-0.5, 0.5, 0.2, 0.2)], density=1025.0)
    return s


def with_coupling() -> System:
    """A spring through gears: the block moves three times as far as what the spring is on."""
    s = slider()
    s.body("other", joint=Prismatic("x", stiffness=450.0, q0=0.1), mass=1e-9)
    s.coupling("gears", {"block": 1.0, "other": -3.0})
    return s


SPRUNG = partial(slider, stiffness=50.0, damping=0.8)
OSCILLATORS: dict[str, tuple[Callable[[], System], float, float, dict[str, Any]]] = {     # system, k, c, other numbers
    "a spring and a damper in a joint": (SPRUNG, 50.0, 0.8, {}),
    "the same, implicit steps": (SPRUNG, 50.0, 0.8, {"method": "imex4"}),
    "a line": (with_line, 50.0, 0.8, {"rest": 1.0}),
    "a bushing": (with_bushing, 50.0, 0.8, {}),
    "a restoring force": (with_restoring, 50.0, 0.0, {}),
    "buoyancy": (heaving, 1025.0 * G * np.pi * 0.01, 0.0, {"m": 1025.0 * np.pi * 0.005, "x0": 0.1}),
    "gears": (with_coupling, 50.0, 0.0, {"m": 2.0 + 1e-9 / 9}),
}
for _name, (_build, _k, _c, _options) in OSCILLATORS.items():
    CASES.add(_name, f"{'heave' if _build is heaving else 'place'} over 0.5 s, {_options.get('method', 'rk4')}",
              "m x'' + c x' + k x = 0", FORMULA, 9.0, partial(oscillator, _build, _k, _c, **_options))


@CASES.case("a parallelogram of four bars", "angle over 2 s, rk4", "a pendulum: Jacobi's elliptic functions", TABULATED, 8.0)
def parallelogram() -> Pairs:
    """Cranks of length l and mass m, coupler of mass M: (2 m/3 + M) l q'' = -(m + M) g sin q."""
    m, M, l = 1.5, 2.0, 0.5
    bar: Any = {"mass": m, "com": (0, 0, -l / 2), "inertia": (m * l * l / 12, m * l * l / 12, 1e-6)}
    s = System("four-bar", gravity=(0, 0, -G))
    s.body("crank", joint=Revolute("y", q0=1.0), **bar)
    s.body("coupler", parent="crank", at=(0, 0, -l), joint=Revolute("y", q0=-1.0), mass=M, com=(0.4, 0, 0), inertia=(0.1, 0.1, 0.1))
    s.body("rocker", at=(0.8, 0, 0), joint=Revolute("y", q0=1.0), **bar)
    s.loop("pin", joint=Spherical(), a=Frame("coupler", at=(0.8, 0, 0)), b=Frame("rocker", at=(0, 0, -l)))
    t, q = states_of(s, 2.0, 10.0, dt=1e-3)
    angle = swing(t, 1.0, (2 * m / 3 + M) * l / (m + M))
    yield q[:, 0], angle
    yield q[:, 1], -angle


# ---- motions, tables, events -----------------------------------------------------------------------------------------------
@CASES.case("a prescribed motion", "the torque that drives it", "I q'' of q = a sin(w t)", FORMULA, 11.0)
def prescribed() -> Pairs:
    s = System("shaker")
    s.body("table", joint=Revolute("z", motion=Harmonics([(0.3, 4.0, 0.0)])), mass=1.0, inertia=(2, 2, 2.5))
    result = run(s, 1.0, 10, ["state", "drives"], dt=1e-2)
    t = result.trajectory.t
    yield result.array("drive_force")[:, 0], -2.5 * 0.3 * 16.0 * np.sin(4.0 * t)
    yield result.array("q")[:, 0], 0.3 * np.sin(4.0 * t)


@CASES.case("a table over time", "place under a force that rises and holds", "two integrals of it", FORMULA, 11.0)
def table() -> Pairs:
    s = System("pushed")
    s.body("block", joint=Prismatic("x", torque=TimeTable([0, 1, 2], [0, 6, 6])), mass=2.0)
    yield end_of(s, 2.0), 0.5 + 1.5 * 1 + 1.5 * 1**2


@CASES.case("a wrench beside the mass center", "turn and place of a free body", "constant accelerations", FORMULA, 11.0)
def wrench() -> Pairs:
    s = System("thruster")
    s.body("bus", joint=Free(), mass=10.0, inertia=(3, 3, 4.0))
    s.wrench("couple", body="bus", moment=(0, 0, 2.0))
    s.wrench("push", body="bus", force=(0, 0, 5.0))
    q = end_of(s, 2.0)
    yield q[:3], np.array([0, 0, 0.5 * 0.5 * 4.0])
    yield 2 * np.arctan2(q[5], q[6]), 0.5 * 0.5 * 4.0


@CASES.case("friction", "when and where a sliding block stops", "2 v' = -3 - v/2, solved", FORMULA, 10.0)
def friction() -> Pairs:
    s = System("block", gravity=(0, 0, -G))
    s.body("block", joint=Prismatic("x", v0=1.0), mass=2.0)
    s.friction("floor", "block", coulomb=3.0, viscous=0.5)
    result = run(s, 1.0, 2, dt=1e-2)
    end = 4.0 * np.log(1.0 + 1.0 / 6.0)
    yield result.trajectory.events[0][0].time, end
    yield result.trajectory.state.q[0, -1, 0], 4.0 * (1.0 + 6.0) * (1.0 - np.exp(-end / 4.0)) - 6.0 * end


@CASES.case("an event at a height", "when a fall passes it", "sqrt(2 h/g)", FORMULA, 10.0)
def event() -> Pairs:
    s = System("fall", gravity=(0, 0, -G))
    s.body("stone", joint=Prismatic("z", q0=10.0), mass=1.0)
    s.event("passes", when="stone.z", crosses=2.0, do=[Lock("stone")])
    result = run(s, 2.0, 2, dt=1e-2)
    yield result.trajectory.events[0][0].time, np.sqrt(2 * 8.0 / G)
    yield result.trajectory.state.q[0, -1, 0], 2.0


@CASES.case("a stop", "where a block is after it has met a spring", "half a period of contact turns the speed around", FORMULA, 9.0)
def stop() -> Pairs:
    s = System("bumper")
    s.body("block", joint=Prismatic("x", v0=1.0), mass=2.0)
    s.stop("bumper", coordinate="block.x", above=0.5, stiffness=800.0)
    yield end_of(s, 1.5), 0.5 - (1.5 - 0.5 - np.pi * np.sqrt(2.0 / 800.0))


@CASES.case("a sampled law", "place after force steps of a Python law", "sums of constant accelerations", FORMULA, 11.0)
def law() -> Pairs:
    s = System("block")
    s.body("block", joint=Prismatic("x"), mass=1.0)
    s.input("push", coordinate="block")
    steps = Law(lambda t, y: {"push": float(round(t * 10) % 3)}, inputs=["push"], period=0.1)
    x = v = 0.0
    for k in range(10):
        x, v = x + 0.1 * v + 0.005 * (k % 3), v + 0.1 * (k % 3)
    yield end_of(s, 1.0, dt=0.01, laws=[steps]), x


# ---- structures and small motions ------------------------------------------------------------------------------------------
@CASES.case("a cantilever", "the first three frequencies of a beam of 40 elements", "1 + cos x cosh x = 0",
            "Blevins, Formulas for Natural Frequency and Mode Shape (1979), table 8-1", 5.0)
def cantilever() -> Pairs:
    roots = np.array([1.87510407, 4.69409113, 7.85475744])
    body = beam(1.0, EI=(1.0, 9.0), mass_per_length=1.0, modes=6, elements=40)
    found = 2 * np.pi * np.sort(body.frequencies)
    theirs = np.sort(np.concatenate([roots**2, 3.0 * roots**2]))[:4]
    yield found[:4], theirs


@CASES.case("modes of a double pendulum", "frequencies by linearization", "w^2 = (2 -+ sqrt 2) g/l", FORMULA, 9.0)
def double_pendulum() -> Pairs:
    s = System("double pendulum", gravity=(0, 0, -G))
    s.body("upper", joint=Revolute("y"), mass=1.0, com=(0, 0, -1.0))
    s.body("lower", parent="upper", at=(0, 0, -1.0), joint=Revolute("y"), mass=1.0, com=(0, 0, -1.0))
    yield np.sort(s.compile().modes().frequencies), np.sqrt(np.array([2 - 2**0.5, 2 + 2**0.5]) * G) / (2 * np.pi)


@CASES.case("a pendulum's period", "the quarter of it, found by an event", "K(sin(q0/2))/w", TABULATED, 9.0)
def period() -> Pairs:
    s = pendulum()
    s.event("lowest", when="bob.ry", crosses=0.0, do=[Lock("bob")])
    result = run(s, 2.0, 2, dt=1e-3)
    yield result.trajectory.events[0][0].time, ellipk(np.sin(1.0) ** 2) / np.sqrt(G)
