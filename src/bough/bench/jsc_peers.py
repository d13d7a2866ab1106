"""The rigid cases of the JSC paper in Pinocchio and MuJoCo: evaluations of the accelerations."""
from typing import Any

import numpy as np

from bough.bench.jsc_system import CASES, jsc_system, whole_booms
from bough.bench.loops_bench import peer_calls
from bough.bench.setups import ENGINES, States, forward_call, interleaved
from bough.describe import System
from bough.integrate.trajectory import Trajectory
from bough.model import Model
from bough.peers import installed

COUNT = 16                      # states out of a run
SLICES, SLICE = 8, 5e-4         # slices a round, and their s: so short that a busy machine leaves some undisturbed


def against_peers(number: int, model: Model, run: Trajectory, rounds: int) -> dict[str, Any]:
    """{engine: {"us", "difference"}, "times faster": {"than", ...}}: all engines on the same states of the run, under torques that
    stand for the loads and the friction; differences are relative to the largest acceleration."""
    system = unloaded(jsc_system(whole_booms(number), flexible=False, closed=CASES[number].closed))
    bare = system.compile()
    at = np.linspace(1, len(run.t) - 1, COUNT).astype(int)
    q, v = np.split(np.ascontiguousarray(run.x[0, at]), [model.nq], axis=1)
    states = q, v, bare.bias(q, v) - model.bias(q, v, t=run.t[at])
    own, answer = forward_call(bare, states, *ENGINES["order-n"])
    want = answer[:, :bare.nv]
    peers = closed_peers(system, bare, states, np.abs(want).max()) if CASES[number].closed else open_peers(system, states)
    functions = {"order-n": own, **{name: call for name, (call, *_) in peers.items()}}
    timings = interleaved(functions, COUNT, rounds=SLICES*rounds, slice_seconds=SLICE)
    answers = {"order-n": want, **{name: found for name, (_, found, _) in peers.items()}}
    scale = np.abs(want).max()
    measured: dict[str, Any] = {name: {"us": timings[name]["min_us"], "difference": float(np.abs(a - want).max()/scale)}
                                for name, a in answers.items()}
    if peers:
        measured["times faster"] = {"than " + name: measured[name]["us"]/measured["order-n"]["us"] for name in peers}
    return measured


def unloaded(system: System) -> System:
    """The same mechanism without loads, motors and friction, which peers get as torques."""
    twin = system.copy()
    twin.wrenches.clear()
    for name, body in twin.bodies.items():
        twin.bodies[name] = body.model_copy(update={"joint": body.joint.model_copy(update={"damping": None, "torque": None})})
    return twin


def closed_peers(system: System, model: Model, states: States, size: float) -> dict[str, tuple[Any, np.ndarray, States]]:
    """Those of `bough bench loops`, and lcaba once more: its settings stop at 1e-6 rad/s^2, which is three digits of
    accelerations of 1e-3; here it also has to find six."""
    found = peer_calls(system, model, states, states)
    if "pin" in installed():
        from bough.peers.pinocchio import Closed, ClosedPinocchioLoop
        accuracy, *rest = Closed.FAST
        engine = ClosedPinocchioLoop(system, *states, lcaba=(accuracy*size, *rest))
        found["pinocchio lcaba, six digits"] = engine.lcaba, engine.closed_answer("lcaba").copy(), states
    return found


def open_peers(system: System, states: States) -> dict[str, tuple[Any, np.ndarray, States]]:
    """For each peer a function that evaluates all states, its accelerations, and its states; as `peer_calls` for loops."""
    found: dict[str, tuple[Any, np.ndarray, States]] = {}
    if "pin" in installed():
        from bough.peers.pinocchio import PinocchioLoop
        pinocchio = PinocchioLoop(system, *states)
        pinocchio.forward()
        found["pinocchio"] = pinocchio.forward, pinocchio.answer("forward"), states
    if "mujoco" in installed():
        from bough.peers.mujoco import MujocoForward
        mujoco = MujocoForward(system, *states)
        found["mujoco"] = mujoco.run, mujoco.accelerations(), states
    return found
