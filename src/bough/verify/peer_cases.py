"""Other engines, where they are installed: the same systems, the same states, now."""

import importlib
import json
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import numpy as np

from bough.compile.layout import Floats
from bough.verify import reference_cases, systems
from bough.verify.case import Cases, Missing, Pairs

CASES = Cases("peers")
ENGINES = {"Pinocchio": ("pinocchio", "pin", "tree"), "MuJoCo": ("mujoco", "mujoco", "tree"), "Exudyn": ("exudyn", "exudyn", "arm")}
CLASSES = {"MuJoCo": "Mujoco"}


def states_of(name: str) -> tuple[Any, Floats, Floats, Floats]:
    """A system and three states: of the elastic arm, such whose links do not bend out of its plane."""
    system = reference_cases.SYSTEMS[name]()
    model = system.compile()
    q, v = systems.random_state(model, 3, seed=21, modal=0.02)
    tau = np.random.default_rng(22).normal(size=v.shape)
    if name == "arm":
        tau[:] = 0.0
        for part, names in ((q, model.names.q), (v, model.names.v)):
            for body in system.bodies.values():
                across = np.abs(body.elastic.nodes.phi[-1, 1]) > 1e-9
                for i in np.flatnonzero(across):
                    part[:, list(names).index(f"{body.name}.mode{i + 1}")] = 0.0
    return system, q, v, tau


def accelerations(engine: str) -> tuple[Any, Floats, Floats, Floats, Floats]:
    """System, states, torques, and the accelerations of a peer."""
    module, package, name = ENGINES[engine]
    if not find_spec(module):
        raise Missing(f"{engine} is not installed; pip install {package}")
    system, q, v, tau = states_of(name)
    other = getattr(importlib.import_module(f"bough.peers.{module}"), CLASSES.get(engine, engine))(system)
    given = () if engine == "Exudyn" else (tau,)
    return system, q, v, tau, np.array([other.forward_dynamics(*row) for row in zip(q, v, *given, strict=True)])


def peer(engine: str) -> Pairs:
    system, q, v, tau, theirs = accelerations(engine)
    model = system.compile()
    yield model.forward_dynamics(q, v, tau), theirs
    yield model.forward_dynamics(q[0], v[0], tau[0]), theirs[0]


for _engine, _asked in (("Pinocchio", 11.0), ("MuJoCo", 10.0), ("Exudyn", 8.0)):
    CASES.add(_engine, "accelerations, one state and lanes", f"{_engine} in this process", f"the package '{ENGINES[_engine][1]}'",
              _asked, partial(peer, _engine))


def write_references() -> None:
    """Ask all engines that `references.json` shall keep the answers of: python -m bough.verify.peer_cases."""
    found = {}
    for engine, (_, package, name) in ENGINES.items():
        _, q, v, tau, a = accelerations(engine)
        found[engine] = {
            "version": version(package),
            "system": name,
            **{key: array.tolist() for key, array in (("q", q), ("v", v), ("tau", tau), ("a", a))},
        }
    reference_cases.FILE.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    write_references()
