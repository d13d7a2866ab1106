"""Balances of energy and momentum at single states [B 96]: kept by all kinds of systems, and not by wrong accelerations."""
import numpy as np
import pytest

import bough
from bough.analyze.balance import SHARE, balance
from bough.compile.batch import choosing
from bough.kernels.lanes import ONE
from tests.support.plain_run import loaded_systems, looped_system
from tests.support.random_systems import random_state, random_system
from tests.sweeps.test_tanks import feed_system


def balanced(model, q, v, rng, a=None):
    with choosing(ONE):
        return balance(model, model.batch(q, v, rng.normal(size=v.shape), t=0.4), a)


@pytest.mark.parametrize("seed", range(4))
def test_random_trees(seed):
    rng = np.random.default_rng(seed)
    model = random_system(rng, 6, root="free" if seed % 2 else None).compile()
    found = balanced(model, *random_state(model, rng, 3), rng)
    assert not found.left_out
    assert max(found.worst.values()) < 1e-9


def test_wheels_tables_and_wrenches_and_loops():
    rng = np.random.default_rng(1)
    model = loaded_systems()[0]
    assert not balanced(model, *random_state(model, rng, 3), rng).broken
    model = looped_system().compile()
    q, v = random_state(model, rng, 2)
    for body in model.system.bodies.values():
        at = model.places[body.name][0] + body.joint.n_q
        q[:, at:at + body.n_modes] *= 1e-3
    found = balanced(model, *model.assemble(q, v), rng)
    assert not found.broken
    assert found.left_out["equations of motion"] == "closed loops"


@pytest.mark.parametrize("gravity", [(0.5, 0.2, -9.81), bough.CentralGravity(3e3, (25, -18, 30), (2, 5, 1))])
def test_propellant_that_flows(gravity):
    """Full, in between, at a knot of its tables, and empty: what leaves is in the balance, as the sweeps integrate it."""
    system = feed_system()
    system.gravity = gravity
    model, rng = system.compile(), np.random.default_rng(1)
    q, v = np.tile(model.q0, (4, 1)), rng.normal(size=(4, model.nv))
    masses = np.array([[50, 30, 4.0], [30, 20, 2.0], [1e-9, 30, 3.0], [0, 0, 0.0]])
    found = balance(model, model.batch(q, v, tanks=masses))
    assert max(found.worst.values()) < 1e-9
    told = {"places", "energy"} if model.in_orbit else {"places", "energy", "momentum", "angular momentum", "equations of motion"}
    assert set(found.found) == told
    assert found.left_out["motion"] == "propellant that flows"


def test_wrong_accelerations_are_told():
    """One part in ten thousand of one of them."""
    rng = np.random.default_rng(2)
    model = random_system(rng, 5, root="free", massless=0.0).compile()
    q, v = random_state(model, rng, 2)
    a = model.forward_dynamics(q, v)
    batch = model.batch(q, v)
    with choosing(ONE):
        assert not balance(model, batch, a).broken
        a[:, 7] *= 1.0001
        found = balance(model, batch, a)
    assert {"energy", "equations of motion"} <= set(found.broken)
    assert all(share > SHARE for share in found.broken.values())
