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


def drifting(flow):
    """A spatial four-bar on a floating base, with a tank on its coupler."""
    s = bough.System("drifting")
    s.body("base", joint=bough.Free(v0=[0, 0, 0, 0.1, 0.2, 0.05]), mass=200.0, inertia=(40, 50, 60))
    s.body("left", parent="base", at=(0, 0, 0.5), joint=bough.Revolute("y", q0=0.3, v0=0.5), mass=3.0, inertia=(1, 1, 0.1))
    s.body("coupler", parent="left", at=(0, 0, 1), joint=bough.Revolute("y", q0=-0.3), mass=5.0, inertia=(0.1, 1, 1))
    s.body("right", parent="coupler", at=(1, 0, 0), joint=bough.Universal("xy"), mass=3.0, inertia=(1, 1, 0.1))
    s.loop("pin", joint=bough.Spherical(), a=bough.Frame("base", at=(1.3, 0.1, 0.4)),
           b=bough.Frame("right", at=(0, 0, -1.2)))
    s.tank("fuel", body="coupler", mass=30.0, flow=flow, exhaust_speed=50.0, nozzle=(0.2, 0.1, -0.2))
    return s


@pytest.mark.parametrize("flow", [0.0, 2.0])
def test_loops_that_drift_apart_work(flow):
    """Baumgarte's stabilization leaves rates of gaps, along which the forces of loops work: no energy is missing for it. Without a
    flow nothing else has power, and that of 1e-9 W was 1e-3 of all."""
    result = bough.simulate(drifting(flow), until=2.0, dt=0.02, stabilize=20.0)
    assert 1e-9 < result.audit.loop_gap < 1e-5
    assert result.audit.fine
    assert result.audit.balances["energy"] < 1e-7


def test_energy_of_full_tanks_with_dampers_in_loops_is_told():
    """Rates are differences around a state; a full tank cannot have been fuller before."""
    result = bough.simulate(damped(), until=1.0, dt=0.005, sample_rate=100)
    assert result.audit.fine
    assert result.audit.energy["not accounted for"] < 1e-6


def damped():
    s = drifting(2.0)
    s.bodies["right"] = s.bodies["right"].model_copy(update={"joint": bough.Revolute("y")})
    s.loops["pin"] = bough.Loop("pin", joint=bough.Revolute("y", damping=3.0, stiffness=5.0),
                                a=bough.Frame("base", at=(1, 0, 0.5)), b=bough.Frame("right", at=(0, 0, -1)))
    return s
