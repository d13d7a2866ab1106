"""`bough bench momentum`: floating trees whose relative motions are prescribed, by the momentum cloud and by the O(N) sweeps."""
from itertools import product
from typing import Any

import numpy as np

from bough.bench.mechanisms import Mechanism
from bough.bench.setups import forward_calls, minima, random_states, versions
from bough.describe import Free, Harmonics, Polynomial, Rate, Revolute, System
from bough.kernels.lanes import FOUR, ONE
from bough.model import Model
from bough.progress import counted

BODIES = (10, 36, 100, 400, 1000)
LANES = {"": ONE, ", four lanes": FOUR}


def momentum(*, quick: bool = False) -> dict[str, Any]:
    """Measure; {"trees": {name: {bodies: {"cloud": {"us", "us per body"}, "order-n": ..., "times faster": ..., "error": ...}}}}."""
    rounds = 6 if quick else 40
    trees = {name: {str(n): compare(prescribed_tree(n, branched).compile(), rounds)
                    for n in counted(f"{name} of prescribed joints", BODIES)}
             for name, branched in (("chain", False), ("branched", True))}
    growth = {name: {engine: of[str(BODIES[-1])][engine]["us per body"]/of["36"][engine]["us per body"]
                     for engine in ("cloud", "cloud, four lanes")} for name, of in trees.items()}
    return {"unit": "microseconds per evaluation of the accelerations, minima",
            "trees": trees, "turbine": compare(turbine().compile(), rounds),
            f"growth of time per body, 36 to {BODIES[-1]}": growth,
            "error": "largest difference of the accelerations by both methods, over the largest acceleration",
            "versions": versions()}


def prescribed_tree(n: int, branched: bool) -> System:
    """A floating base and n - 1 bodies on prescribed revolute joints; branched: each hangs on one of the three before it."""
    m = Mechanism(f"prescribed{n}")
    names = [m.body(None, "free")]
    for k in range(n - 1):
        parent = names[int(m.rng.integers(max(0, k - 2), k + 1))] if branched else names[-1]
        names.append(m.body(parent, "revolute"))
    for name in names[1:]:
        body = m.system.bodies[name]
        joint = Revolute(body.joint.rotations[0], motion=Polynomial(m.rng.normal(size=4)))
        m.system.bodies[name] = body.model_copy(update={"joint": joint})
    return m.system


def turbine() -> System:
    """Six bodies, after the paper's example: a floating tower, a nacelle that yaws, a hub that spins, three blades that pitch."""
    s = System("turbine", gravity=(0.0, 0.0, -9.80665))
    s.body("tower", joint=Free(), mass=5.1e6, inertia=(5.85e9, 5.85e9, 1.12e8))
    s.body("nacelle", parent="tower", joint=Revolute("z", motion=Rate(np.radians(1.2))), at=(0, 0, 146), mass=2.4e5,
           com=(1.9, 0, 1.75), inertia=(2e6, 2e6, 2.6e6))
    s.body("hub", parent="nacelle", joint=Revolute("x", motion=Rate(12.1*2*np.pi/60)), at=(-5, 0, 2), mass=56780.0,
           inertia=(115926.0, 1e5, 1e5))
    for i in range(3):
        turn = i*np.pi/3
        s.body(f"blade{i + 1}", parent="hub", joint=Revolute("z", motion=Harmonics([(np.radians(2.0), 1.27, turn)])),
               orient=(np.sin(turn), 0, 0, np.cos(turn)), mass=17740.0, com=(0, 0, 22.0), inertia=(3.2e6, 3.2e6, 3e4))
    return s


def compare(model: Model, rounds: int) -> dict[str, Any]:
    """Both methods on the same states, one and four at a time."""
    states = random_states(model, 64 if model.nv <= 110 else 16)
    n, engines = len(model.names.bodies), product(("cloud", "order-n"), LANES.items())
    functions, answers = forward_calls(model, states, {method + name: (method, lanes) for method, (name, lanes) in engines})
    found: dict[str, Any] = {name: {"us": us, "us per body": us/n}
                             for name, us in minima(functions, len(states[0]), rounds=rounds).items()}
    found["times faster"] = {engine: found["order-n" + name]["us"]/found["cloud" + name]["us"]
                             for name, engine in (("", "one state"), (", four lanes", "four lanes"))}
    scale = np.abs(answers["order-n"]).max()
    found["error"] = float(max(np.abs(answers["cloud" + name] - answers["order-n"]).max() for name in LANES)/scale)
    return found
