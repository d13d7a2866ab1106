"""`bough bench calls`: what one call or step from Python costs, in one process with Pinocchio and MuJoCo."""
from collections.abc import Callable
from typing import Any

import numpy as np

from bough.bench import steps_bench
from bough.bench.mechanisms import MECHANISMS
from bough.bench.setups import States, forward_call, interleaved, random_states, versions
from bough.kernels.lanes import ONE
from bough.model import Model
from bough.peers import installed
from bough.progress import counted

Calls = dict[str, Callable[[], Any]]
CALLED = ("arm7", "tree36")


def calls(*, quick: bool = False) -> dict[str, Any]:
    """Measure; {"mechanisms": {name: {"calls": {call: {engine: {"min_us", "median_us"}}}, ...}}, "steps": ..., "laws": ...}."""
    return {"unit": "microseconds per call from Python; bough's kernel alone is that of forward dynamics, many states in a call",
            "versions": versions(),
            "mechanisms": {name: measure(MECHANISMS[name]().compile(), 40 if quick else 400)
                           for name in counted("mechanisms", CALLED)},
            **steps_bench.measure(10 if quick else 40)}


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
