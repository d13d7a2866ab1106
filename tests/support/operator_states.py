"""States of random trees, rigid, flexible and held, to show the identities of the operators on."""
from functools import cache

import numpy as np

import bough
from tests.support import flexible_trees as trees
from tests.support.held_systems import random_motions, with_motions
from tests.support.random_systems import random_state, random_system

RELATIVE = 1e-11                        # what the identities are held to


def linearized(body):
    from dataclasses import replace
    return replace(body, variant="zeroth_order", geometric=None)


@cache
def states():
    """{name: (model, q, v)}"""
    found = {}
    for seed in range(4):
        rng = np.random.default_rng(seed)
        model = random_system(rng, root=["free", None][seed % 2], massless=0.3).compile()
        found[f"rigid {seed}"] = model, *random_state(model, rng)
    for seed in range(6):
        rng = np.random.default_rng(100 + seed)
        chosen = {name: linearized(body) for name, body in trees.bodies().items()} if seed == 5 else trees.bodies()
        model = trees.random_twin(rng, n=6, chosen=chosen).system.compile()
        found[f"flexible {seed}"] = model, *trees.random_states(model, rng)
    for seed in range(2):
        rng = np.random.default_rng(200 + seed)
        system = random_system(rng, root="free") if seed else trees.random_twin(rng, n=6, chosen=trees.bodies()).system
        model = with_motions(system, random_motions(rng, system)).compile()
        q, v = trees.random_states(model, rng)
        found[f"held {seed}"] = model, *model.follow(q, v)
    return found


NAMES = (*(f"rigid {i}" for i in range(4)), *(f"flexible {i}" for i in range(6)), *(f"held {i}" for i in range(2)))


def beam_tree():
    """A free hub with two flexible panels on two-axis joints, one of them held at a node that moves, and a dish at a tip."""
    s = bough.System("satellite", gravity=(0.1, -0.2, 0.3))
    s.body("hub", joint=bough.Free(), mass=5.0, com=(0.1, 0.0, 0.2), inertia=(2.0, 3.0, 4.0))
    s.body("panel", parent="hub", joint=bough.Universal("xy"), at=(0.5, 0.0, 0.0), flexible=trees.bodies()["clamped"])
    s.body("mast", parent="hub", joint=bough.Universal("zx"), at=(0.0, 0.5, 0.0), flexible=trees.bodies()["free"])
    s.body("dish", parent="panel", node="tip", joint=bough.Gimbal("xyz"), mass=0.5, inertia=(0.1, 0.1, 0.2))
    return s
