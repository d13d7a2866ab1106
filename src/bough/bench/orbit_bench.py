"""`bough bench orbit`: a step of the satellite of the spacecraft guide in orbit, beside one in uniform gravity."""
from collections.abc import Callable
from typing import Any

import numpy as np

from bough.bench.setups import interleaved, versions
from bough.describe import CentralGravity, Free, Revolute, System
from bough.flex import beam
from bough.simulator import Simulator

DT, STEPS, STATES = 1e-4, 50, {"one state": 1, "four lanes": 4}
WHERE = {"uniform": (0.0, 0.0, -9.81), "orbit": CentralGravity(mu=3.986e14, position=(7e6, 0, 0), velocity=(0, 7546, 0))}


def satellite(gravity: Any) -> System:
    """A bus with four wheels in a pyramid, and two panels with six modes on locked drives."""
    panel = beam(6.0, EI=(1.2e3, 4.0e4), GJ=400.0, mass_per_length=3.0, polar_inertia=1.0, axis="y", modes=6, damping=0.005)
    system = System("observer", gravity=gravity)
    system.body("bus", joint=Free(), mass=600.0, com=(0, 0, 0.05), inertia=(180, 160, 140))
    for name, at, degrees in (("left", (0, 0.8, 0), 0.0), ("right", (0, -0.8, 0), 180.0)):
        system.body(name, parent="bus", at=at, orient={"axis": "z", "degrees": degrees}, joint=Revolute("y", motion="locked"),
                    flexible=panel)
    level, up = np.cos(np.deg2rad(35.0)), np.sin(np.deg2rad(35.0))
    for k, (x, y) in enumerate(((1, 0), (0, 1), (-1, 0), (0, -1))):
        system.wheel(f"rw{k + 1}", body="bus", axis=(level*x, level*y, up), inertia=0.06, torque=0.0, speed=50.0*(-1)**k)
    return system


def stepping(gravity: Any, states: int) -> Callable[[], Any]:
    """Fifty steps of so many states, which turn and swing a little."""
    model = satellite(gravity).compile()
    v = 1e-3*np.random.default_rng(1).standard_normal(model.nv)
    v[[i for i, name in enumerate(model.names.v) if name in ("left.ry", "right.ry")]] = 0.0
    q = model.q0
    if states > 1:
        q, v = np.tile(q, (states, 1)), np.tile(v, (states, 1))
    sim = Simulator(model, method="rk4", dt=DT, sample_rate=1.0, q0=q, v0=v)
    return lambda: sim.step(STEPS)


def orbit(*, quick: bool = False) -> dict[str, Any]:
    """Measure; {"steps": {states: {"uniform": {"min_us", "median_us"}, "orbit": ..., "more": of the minima}}}."""
    functions = {(states, where): stepping(gravity, n) for states, n in STATES.items() for where, gravity in WHERE.items()}
    timings = interleaved({str(key): function for key, function in functions.items()}, STEPS, rounds=300 if quick else 3000,
                          slice_seconds=1e-4)
    found: dict[str, Any] = {}
    for states in STATES:
        found[states] = {where: timings[str((states, where))] for where in WHERE}
        found[states]["more"] = found[states]["orbit"]["min_us"]/found[states]["uniform"]["min_us"] - 1.0
    return {"unit": "microseconds per step of RK4, all states of a lane together; minima and medians", "versions": versions(),
            "steps": found}
