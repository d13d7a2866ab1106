"""`bough bench forward`: forward and inverse dynamics against Pinocchio, the RK4 loop against MuJoCo, in one process."""
from typing import Any

import numpy as np

from bough.bench.mechanisms import MECHANISMS
from bough.bench.setups import States, forward_call, interleaved, kernel_call, random_states, versions, with_ratios
from bough.errors import BoughError, similar
from bough.integrate import integrate
from bough.kernels.lanes import FOUR, ONE
from bough.model import Model
from bough.peers import installed
from bough.progress import counted
from bough.sweeps import calls, fields as f

LANES = {"bough, one state": ONE, "bough, four lanes": FOUR}
PINOCCHIO_LIMIT = 300           # its Data holds nv^3 numbers: 8 GB at nv = 1000


def forward(*, mechanisms: list[str] | None = None, quick: bool = False) -> dict[str, Any]:
    """Measure; {"versions": ..., "mechanisms": {name: {"forward": {engine: ...}, "inverse": ..., "rk4": ...}}}."""
    for name in mechanisms or ():
        if name not in MECHANISMS:
            raise BoughError(f"there is no mechanism '{name}'{similar(name, MECHANISMS)}; there are {', '.join(MECHANISMS)}")
    rounds = 8 if quick else 40
    return {"unit": "microseconds per state (forward, inverse) or per step (rk4); ratio = peer's minimum over this one's",
            "versions": versions(),
            "mechanisms": {name: measure(MECHANISMS[name]().compile(), rounds)
                           for name in counted("mechanisms", mechanisms or MECHANISMS)}}


def measure(model: Model, rounds: int) -> dict[str, Any]:
    states = random_states(model, 256 if model.nv <= 60 else 16)
    result: dict[str, Any] = {
        "bodies": len(model.names.bodies), "dofs": model.nv,
        "workspace_bytes": {name: 8*lanes.width*model.tables.size(f.WS_SIZE) for name, lanes in LANES.items()},
        "model_bytes": int(model.tables.plan.nbytes + model.tables.pars.nbytes),
        "forward": with_ratios(compare(model, states, "forward", rounds), "pinocchio"),
        "inverse": with_ratios(compare(model, states, "inverse", rounds), "pinocchio")}
    for engine in LANES:
        result["forward"][engine]["ns_per_body"] = 1e3*result["forward"][engine]["min_us"]/len(model.names.bodies)
    if model.nv <= PINOCCHIO_LIMIT:
        result["rk4"] = with_ratios(compare_steps(model, states, max(4, rounds//4)), "mujoco")
    return result


def compare(model: Model, states: States, what: str, rounds: int) -> dict[str, dict[str, float]]:
    """Forward or inverse dynamics of many states by one call of each engine."""
    q, v, tau = states
    functions, answers = {}, {}
    for name, lanes in LANES.items():
        if what == "forward":
            functions[name], answers[name] = forward_call(model, states, "order-n", lanes)
        else:
            x = np.concatenate([q, v], axis=1)
            functions[name], answers[name] = kernel_call(model, calls.inverse, x, np.zeros_like(tau), tau, lanes=lanes)
    if "pin" in installed() and model.nv <= PINOCCHIO_LIMIT:
        from bough.peers.pinocchio import PinocchioLoop
        loop = PinocchioLoop(model.system, q, v, tau)
        functions["pinocchio"], peer_answer = loop.forward if what == "forward" else loop.inverse, loop.answer
    timings = interleaved(functions, len(q), rounds=rounds)
    if "pinocchio" in functions:
        functions["pinocchio"]()
        want = peer_answer(what)
        for name, got in answers.items():
            timings[name]["difference"] = float(np.abs(got - want).max()/np.abs(want).max())
    return timings


def compare_steps(model: Model, states: States, rounds: int) -> dict[str, dict[str, float]]:
    """Steps of RK4 without leaving compiled code: bough's loop in one lane and four, MuJoCo's mj_step."""
    q, v, _ = states
    steps, dt = max(200, 60000//model.nv), 1e-5
    functions: dict[str, Any] = {}
    for name, lanes in LANES.items():
        n = lanes.width
        functions[name] = lambda n=n: integrate(model, q0=q[:n] if n > 1 else q[0], v0=v[:n] if n > 1 else v[0],
                                                until=steps*dt, dt=dt, sample_rate=1/(steps*dt))
    if "mujoco" in installed():
        from bough.peers.mujoco import MujocoLoop
        functions["mujoco"] = MujocoLoop(model.system, q[0], v[0], dt, steps).run
    timings = interleaved(functions, steps, rounds=rounds)
    for key in ("min_us", "median_us"):
        timings["bough, four lanes"][key] /= FOUR.width
    return timings
