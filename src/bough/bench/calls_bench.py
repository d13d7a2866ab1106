"""`bough bench calls`: what one call or step from Python costs, in one process with Pinocchio and MuJoCo."""
from collections.abc import Callable
from typing import Any

import numpy as np

from bough.bench.mechanisms import MECHANISMS
from bough.bench.setups import States, forward_call, interleaved, random_states, versions
from bough.describe import Frame, System
from bough.integrate.compiled.callback import controller
from bough.kernels.lanes import ONE
from bough.model import Model
from bough.peers import installed
from bough.progress import counted
from bough.simulator import Simulator

Calls = dict[str, Callable[[], Any]]
CALLED = ("arm7", "tree36")


def calls(*, quick: bool = False) -> dict[str, Any]:
    """Measure; {"mechanisms": {name: {"calls": {call: {engine: {"min_us", "median_us"}}}, ...}}, "steps": ..., "laws": ...}."""
    rounds = 10 if quick else 40                        # of steps; laws are for what has a robot's size
    return {"unit": "microseconds per call from Python; bough's kernel alone is that of forward dynamics, many states in a call",
            "versions": versions(),
            "mechanisms": {name: measure(MECHANISMS[name]().compile(), 40 if quick else 400)
                           for name in counted("mechanisms", CALLED)},
            "steps": {name: steps(MECHANISMS[name]().compile(), rounds) for name in counted("steps", MECHANISMS)},
            "laws": {name: laws(with_ports(MECHANISMS[name]()), rounds) for name in CALLED}}


def measure(model: Model, rounds: int) -> dict[str, Any]:
    """Time every call in every engine, interleaved."""
    states = random_states(model, 16)
    engines = {"bough": bough_calls(model, states), **peer_calls(model, states)}
    timings: dict[str, dict[str, Any]] = {}
    for call in dict.fromkeys(call for of_engine in engines.values() for call in of_engine):
        functions = {engine: of_engine[call] for engine, of_engine in engines.items() if call in of_engine}
        timings[call] = interleaved(functions, 1, rounds=rounds, slice_seconds=1e-3)
    kernel, _ = forward_call(model, states, "order-n", ONE)
    timings["forward dynamics, kernel"] = interleaved({"bough": kernel}, len(states[0]), rounds=rounds, slice_seconds=1e-3)
    for of_call in timings.values():
        if "pinocchio" in of_call and "bough" in of_call:
            of_call["bough"]["pinocchio/bough"] = of_call["pinocchio"]["min_us"]/of_call["bough"]["min_us"]
    return {"bodies": len(model.names.bodies), "dofs": model.nv, "calls": timings}


def bough_calls(model: Model, states: States) -> Calls:
    """The calls of bough's public interface."""
    (q, v, tau), (hand, last) = (rows[0].copy() for rows in states), ends(model)
    out, M, J = np.empty(model.nv), np.empty((model.nv, model.nv)), np.empty((6, model.nv))
    return {"forward dynamics": lambda: model.forward_dynamics(q, v, tau),
            "forward dynamics, out=": lambda: model.forward_dynamics(q, v, tau, out=out),
            "inverse dynamics": lambda: model.inverse_dynamics(q, v, tau),
            "mass matrix": lambda: model.mass_matrix(q),
            "mass matrix, out=": lambda: model.mass_matrix(q, out=M),
            "all poses": lambda: model.frames(q),
            "pose of a hand": lambda: model.pose(q, hand),
            "Jacobian of a hand": lambda: model.jacobian(q, hand),
            "Jacobian of a hand, out=": lambda: model.jacobian(q, hand, out=J),
            "Jacobian of the last body": lambda: model.jacobian(q, last)}


def ends(model: Model) -> tuple[str, str]:
    """A hand, the body with most bodies between it and the ground; and the last body, of the tree a head on a short neck."""
    depth: dict[str, int] = {}
    for body in model.system.bodies.values():
        depth[body.name] = depth[body.parent] + 1 if body.parent else 1
    return max(depth, key=lambda name: depth[name]), model.names.bodies[-1]


def peer_calls(model: Model, states: States) -> dict[str, Calls]:
    """The same by other engines, as far as they are installed: {engine: {call: function}}."""
    found: dict[str, Calls] = {}
    if "pin" in installed():
        from bough.peers.pinocchio import PinocchioLoop
        found["pinocchio"] = PinocchioLoop(model.system, *states).single_calls(*ends(model))
    if "mujoco" in installed():
        from bough.peers.mujoco import MujocoForward
        found["mujoco"] = MujocoForward(model.system, *(rows[:1] for rows in states)).single_calls(*ends(model))
    return found


# ---- steps and laws ------------------------------------------------------------------------------------------------------
DT, MANY = 1e-5, 200                # s; steps in one call, where the call itself is to cost nothing
MUJOCO_LIMIT = 1500                 # degrees of freedom: beyond, a step of MuJoCo takes a second
PORTS = {"none": [], "on coordinates": ["angle", "rate"], "on a point": ["place", "velocity"]}


def steps(model: Model, rounds: int) -> dict[str, Any]:
    """{engine: {"min_us", "median_us"}} of a step of RK4: one a call from Python, and by the compiled loop alone; and of a call
    that takes no step: the difference of the first two is lost in noise if a step is long."""
    q, v = (rows[0] for rows in random_states(model, 1)[:2])
    one, many = (Simulator(model, method="rk4", dt=DT, sample_rate=1.0, q0=q, v0=v) for _ in range(2))
    n = max(4, MANY*100//max(100, model.nv))                            # short enough that another process seldom disturbs it
    functions: dict[str, Callable[[], Any]] = {"sim.step()": one.step, "call": lambda: one._fast_step(0),
                                               "kernel": lambda: many.step(n)}
    if "mujoco" in installed() and model.nv <= MUJOCO_LIMIT:
        from bough.peers.mujoco import MujocoLoop
        functions["mj_step"] = MujocoLoop(model.system, q, v, DT, 1).single_step()
    timings: dict[str, Any] = interleaved(functions, 1, rounds=rounds)
    timings["kernel"] = {key: value/n for key, value in timings["kernel"].items()}
    timings["sim.step() - kernel"] = timings["sim.step()"]["min_us"] - timings["kernel"]["min_us"]
    if "mj_step" in timings:
        timings["mj_step/sim.step()"] = timings["mj_step"]["min_us"]/timings["sim.step()"]["min_us"]
    return {"bodies": len(model.names.bodies), "dofs": model.nv, **timings}


def with_ports(system: System) -> Model:
    """The last joint's coordinate, rate and motor, and the motion of a point of the last body."""
    body, point = list(system.bodies.values())[-1], Frame(list(system.bodies)[-1], at=(0.1, 0.0, 0.0))
    system.input("motor", coordinate=body.name)
    system.output("angle", coordinate=body.name)
    system.output("rate", rate=body.name)
    system.output("place", position=point, component="x")
    system.output("velocity", velocity=point, component="x")
    return system.compile()


def laws(model: Model, rounds: int) -> dict[str, Any]:
    """{law: {"min_us", "median_us"}} of a stage of RK4 without a law, and with one that reads two outputs and sets an input."""
    q, v = (rows[0] for rows in random_states(model, 1)[:2])

    def hold(t: float, y: Any, u: Any) -> None:
        u[0] = -0.1*y[0] - 0.01*y[1]

    def stepping(outputs: list[str]) -> Callable[[], Any]:
        given = [controller(hold, outputs=outputs, inputs=["motor"])] if outputs else []
        sim = Simulator(model, method="rk4", dt=DT, sample_rate=1.0, q0=q, v0=v, laws=given)
        return lambda: sim.step(MANY)

    timings: dict[str, Any] = interleaved({name: stepping(outputs) for name, outputs in PORTS.items()}, 4*MANY, rounds=rounds)
    added = {name: timings[name]["min_us"] - timings["none"]["min_us"] for name in PORTS if name != "none"}
    return {"dofs": model.nv, **timings, "added": added}
