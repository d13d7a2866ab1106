"""`bough bench gym`: environments in lanes against a loop over MuJoCo's, in one process and one thread."""
from typing import Any

import numpy as np

from bough.bench.mechanisms import tree36
from bough.bench.setups import interleaved, random_states, versions, with_ratios
from bough.describe import System
from bough.peers import installed

ENVIRONMENTS, DT = 64, 1e-3


def gym(*, quick: bool = False) -> dict[str, Any]:
    """Measure; {"versions": ..., "steps": {steps for each action: {engine: ...}}}."""
    return {"unit": f"microseconds per environment and action, {ENVIRONMENTS} environments of tree36, RK4 with dt = {DT:g} s; "
                    "ratio = MuJoCo's minimum over this one's; difference: of joint angles after 100 steps",
            "versions": versions(), "steps": {steps: compare(steps, 10 if quick else 40) for steps in (1, 5)}}


def with_ports(system: System) -> System:
    """All coordinates and rates are outputs, all joint torques inputs."""
    model = system.compile()
    for name in model.names.q:
        system.output(name, coordinate=name)
    for name in model.names.v:
        system.output(f"{name} rate", rate=name)
    for name in model.names.v[6:]:
        system.input(name, coordinate=name)
    return system


def compare(steps: int, rounds: int) -> dict[str, dict[str, float]]:
    """One action of all environments: set torques, take so many steps, return all coordinates and rates; bough's environments also
    have a reward and a time limit, and reset themselves."""
    from bough.gym import VectorEnvironment
    model = with_ports(tree36()).compile()
    q, v, tau = random_states(model, ENVIRONMENTS)
    starts, actions = iter(zip(q, v, strict=True)), np.ascontiguousarray(tau[:, 6:])
    envs = VectorEnvironment(model, ENVIRONMENTS, method="rk4", dt=DT, period=steps*DT, reward=lambda t, y, u: 1.0, time_limit=1e6,
                             start=lambda random: dict(zip(("q0", "v0"), next(starts), strict=True)))
    envs.reset(seed=0)
    functions: dict[str, Any] = {"bough": lambda: envs.step(actions)}
    if "mujoco" in installed():
        from bough.peers.mujoco import MujocoEnvironments
        peer = MujocoEnvironments(model.system, q, v, DT, steps)
        functions["mujoco"] = lambda: peer.step(actions)
        for _ in range(100//steps):
            observed, wanted = envs.step(actions)[0], peer.step(actions)
        difference = float(np.abs(observed[:, 7:model.nq] - wanted[:, peer.angles]).max())
    timings = with_ratios(interleaved(functions, ENVIRONMENTS, rounds=rounds), "mujoco")
    if "mujoco" in timings:
        timings["bough"]["difference"] = difference
    for values in timings.values():
        values["steps_per_second"] = 1e6*steps/values["min_us"]
    return timings
