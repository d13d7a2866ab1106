"""Values of independent origin: published ones, and what other engines answered when `references.json` was written."""

import json
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from bough.describe import Joint, Revolute, System
from bough.flex import beam
from bough.verify import systems
from bough.verify.case import Cases, Pairs

CASES = Cases("references")
FILE = Path(__file__).parent / "references.json"
# beta, Theta, gamma, Phi, delta, Omega, epsilon at t = 0.03 s
SQUEEZED = {
    "k1": 15.81077119629904,
    "k2": -15.75637105984298,
    "k3": 0.04082224013073101,
    "k4": -0.5347301163226948,
    "k5": 0.5244099658805304,
    "k6": 0.5347301163226948,
    "k7": 1.048080741042263,
}
FLAP = {0.0: 3.5160, 1.0: 3.6816, 2.0: 4.1373, 3.0: 4.7973, 6.0: 7.3604, 12.0: 13.1702}


@CASES.case(
    "Andrews' squeezing mechanism",
    "seven angles after 0.03 s: three loops, a spring, a motor; dopri5",
    "the reference solution, to 16 digits",
    "Mazzia, Magherini: Test Set for Initial Value Problem Solvers, release 2.4 (2008); "
    "Hairer, Wanner: Solving Ordinary Differential Equations II (1996), VII.7",
    8.5,
)
def squeezing_mechanism() -> Pairs:
    system, q = systems.squeezer()
    result = systems.run(system, 0.03, 100, q0=q, method="dopri5", rtol=1e-9, atol=1e-11)
    yield result.trajectory.state.q[0, -1], np.array([SQUEEZED[name] for name in system.bodies])


@CASES.case("a rotating beam", "the first flapping frequency at six speeds, by linearization", "published values, four digits",
            "Wright, Smith, Thresher, Wang: Vibration Modes of Centrifugally Stiffened Beams, J. Appl. Mech. 49 (1982)", 3.5)
def rotating_beam() -> Pairs:
    s = System("rotor")
    s.body("hub", joint=Revolute("z"), mass=1.0, inertia=(1e8, 1e8, 1e8))
    s.body("blade", parent="hub", flexible=beam(1.0, EI=1.0, mass_per_length=1.0, modes=16, elements=20))
    model = s.compile()
    flap = [i for i, name in enumerate(model.names.v) if ".mode" in name]
    for speed, published in FLAP.items():
        v = np.zeros(model.nv)
        v[0] = speed
        A = model.forward_dynamics_derivatives(model.q0, v, np.zeros(model.nv)).dq[np.ix_(flap, flap)]
        up = [i for i, j in enumerate(flap) if abs(s.bodies["blade"].elastic.nodes.phi[-1, 2, j - flap[0]]) > 1e-6]
        yield np.sqrt(-np.linalg.eigvals(A[np.ix_(up, up)]).real.max()), published


# ---- other engines, as they answered ---------------------------------------------------------------------------------------
def plain_tree() -> System:
    """Every joint, without the springs and motors that others describe otherwise."""
    s = systems.tree()
    body = s.bodies["b12"]
    s.bodies["b12"] = body.model_copy(update={"joint": Joint(body.joint.translations, body.joint.rotations)})
    return s


def elastic_arm() -> System:
    """Two links that bend in the plane of their joints."""
    clamped = systems.lumped(beam(1.0, EI=(4.0, 6.0), mass_per_length=0.8, elements=3, modes=3))
    s = System("elastic arm", gravity=(0, 0, -9.81))
    s.body("upper", joint=Revolute("y"), flexible=clamped)
    s.body("lower", parent="upper", node="tip", joint=Revolute("y"), flexible=clamped)
    return s


SYSTEMS = {"tree": plain_tree, "arm": elastic_arm}


@cache
def stored() -> dict[str, Any]:
    """Version, system, states and accelerations of each engine."""
    found: dict[str, Any] = json.loads(FILE.read_text())
    return found


def answered(engine: str) -> Pairs:
    kept = stored()[engine]
    model = SYSTEMS[kept["system"]]().compile()
    q, v, tau, a = (np.array(kept[name]) for name in ("q", "v", "tau", "a"))
    yield model.forward_dynamics(q, v, tau), a
    yield model.forward_dynamics(q[0], v[0], tau[0]), a[0]


for _engine, _asked in (("Pinocchio", 11.0), ("MuJoCo", 10.0), ("Exudyn", 8.0)):
    CASES.add(
        f"accelerations of {_engine}",
        f"accelerations of {'two flexible links' if _engine == 'Exudyn' else 'a tree with every joint'}",
        f"what {_engine} {stored()[_engine]['version']} answered",
        "bough/verify/references.json, written by bough.verify.peer_cases",
        _asked,
        partial(answered, _engine),
    )
