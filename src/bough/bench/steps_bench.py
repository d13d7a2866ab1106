"""Part of `bough bench calls`: a step from Python, the compiled loop and MuJoCo's mj_step; the cost of a compiled law."""
from collections.abc import Callable
from typing import Any

from bough.bench.mechanisms import MECHANISMS
from bough.bench.setups import interleaved, random_states
from bough.describe import Frame, System
from bough.integrate.compiled.callback import controller
from bough.model import Model
from bough.peers import installed
from bough.progress import counted
from bough.simulator import Simulator

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


def measure(rounds: int) -> dict[str, Any]:
    """Steps on all mechanisms of `bench forward`; laws on those of a robot's size."""
    return {"steps": {name: steps(MECHANISMS[name]().compile(), rounds) for name in counted("steps", MECHANISMS)},
            "laws": {name: laws(with_ports(MECHANISMS[name]()), rounds) for name in ("arm7", "tree36")}}
