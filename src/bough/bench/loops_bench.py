"""`bough bench loops`: chains of four-bars and a platform with welded limbs, beside Pinocchio and MuJoCo, in one process."""
from typing import Any

import numpy as np

from bough.analyze.loop_rows import ACCELERATION, loop_terms
from bough.bench.mechanisms import four_bar_chain, four_bar_states, limbed_platform, limbed_platform_states
from bough.bench.setups import ENGINES, States, forward_call, interleaved, versions
from bough.describe import System
from bough.model import Model
from bough.peers import installed
from bough.progress import counted

CHAINS = (4, 16, 64, 256)
SMALL = 100                         # degrees of freedom up to which what grows with their cube is measured with all states


def loops(*, quick: bool = False) -> dict[str, Any]:
    """Measure; {"chains": {n: {engine: {"us": ..., "error": ...}, "us per loop": ..., "times faster": ...}}, "platform": {...}}."""
    rounds = 5 if quick else 30
    chains = {str(n): of_system(four_bar_chain(n), four_bar_states(n, 16), rounds, loops_closed=n)
              for n in counted("four-bar chains", CHAINS)}
    per_loop = {n: measured["us per loop"]["order-n"] for n, measured in chains.items()}
    return {"unit": "microseconds per evaluation of the accelerations, minima",
            "chains": chains, "platform": of_system(limbed_platform(), limbed_platform_states(64), rounds, loops_closed=3),
            "growth of time per loop, 16 to 256": per_loop["256"]/per_loop["16"],
            "error": "largest |J a + gamma| of the loops' equations, m/s^2, at states that satisfy them",
            "peers": "lcaba and dense (constraintDynamics) of Pinocchio, with the settings that make each fastest, and MuJoCo's "
                     "mj_forward with equality constraints: a call from Python a state, of which 'a call' would be the price",
            "versions": versions()}


def of_system(system: System, states: States, rounds: int, *, loops_closed: int) -> dict[str, Any]:
    model = system.compile()
    few: States = states if model.nv <= SMALL else (states[0][:2], states[1][:2], states[2][:2])
    functions, answers, work = {}, {}, {}
    for name, (method, lanes) in ENGINES.items():
        if name != "dense" or model.nv <= 4*SMALL:
            given = few if name == "dense" else states
            functions[name], answers[name] = forward_call(model, given, method, lanes)
            work[name] = len(given[0])
    for name, (function, answer, given) in peer_calls(system, model, states, few).items():
        functions[name], answers[name], work[name] = function, answer, len(given[0])
    timings = interleaved(functions, 1, rounds=rounds)
    found: dict[str, Any] = {name: {"us": timing["min_us"]/work[name], "error": error(model, states, answers[name])}
                             for name, timing in timings.items()}
    own = {name: found[name]["us"] for name in ("order-n", "order-n, four lanes")}
    peers = {name: values["us"] for name, values in found.items() if name not in ENGINES}
    found["us per loop"] = {name: us/loops_closed for name, us in own.items()}
    if peers:
        fastest = min(peers, key=lambda name: peers[name])
        found["times faster"] = {"than": fastest, **{name: peers[fastest]/us for name, us in own.items()}}
    return found


def peer_calls(system: System, model: Model, states: States, few: States) -> dict[str, tuple[Any, np.ndarray, States]]:
    """For each peer a function that evaluates all states, its accelerations, and its states; also of systems without loops."""
    found: dict[str, tuple[Any, np.ndarray, States]] = {}
    if model.nv > 4*SMALL:                                              # their memory grows with the cube: 2 GB for 64 four-bars
        return found
    if "pin" in installed() and system.loops:
        from bough.peers.pinocchio import ClosedPinocchioLoop
        engine, small = ClosedPinocchioLoop(system, *states), ClosedPinocchioLoop(system, *few)
        found["pinocchio lcaba"] = engine.lcaba, engine.closed_answer("lcaba").copy(), states
        found["pinocchio dense"] = small.dense, small.closed_answer("dense").copy(), few
    elif "pin" in installed():
        from bough.peers.pinocchio import PinocchioLoop
        tree = PinocchioLoop(system, *states)
        tree.forward()
        found["pinocchio"] = tree.forward, tree.answer("forward"), states
    if "mujoco" in installed():
        from bough.peers.mujoco import MujocoForward
        mujoco = MujocoForward(system, *few)
        found["mujoco"] = mujoco.run, mujoco.accelerations(), few
    return found


def error(model: Model, states: States, a: np.ndarray) -> float:
    """The largest residual of the loops' equations under these accelerations."""
    q, v, _ = states
    bias, J = loop_terms(model, model.batch(q[:len(a)], v[:len(a)]), ACCELERATION)
    return float(np.abs(np.einsum("bij,bj->bi", J, a[:, :model.nv]) + bias).max())
