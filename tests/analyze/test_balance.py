"""Balances of energy and momentum at single states [B 96]: kept by all kinds of systems, and not by wrong accelerations."""
import numpy as np
import pytest

import bough
from bough.analyze.balance import REACH, SHARE, balance
from bough.compile.kernel_calls import choosing
from bough.kernels.lanes import ONE
from bough.results.audit import GAP
from tests.support.plain_run import loaded_systems, looped_system
from tests.support.random_systems import random_state, random_system
from tests.sweeps.test_tanks import feed_system

DIFFERENCES = (12*REACH)**4/30
"""7e-10: what differences of fourth order neglect, h^4/30 of the fifth derivative. Each coordinate moves by REACH at most; angles
of six joints add up along a path, and energies are products of two such motions."""


def balanced(model, q, v, rng, a=None):
    with choosing(ONE):
        return balance(model, model.batch(q, v, rng.normal(size=v.shape), t=0.4), a)


@pytest.mark.parametrize("seed", range(4))
def test_random_trees(seed):
    rng = np.random.default_rng(seed)
    model = random_system(rng, 6, root="free" if seed % 2 else None).compile()
    found = balanced(model, *random_state(model, rng, 3), rng)
    assert not found.left_out
    assert max(found.worst.values()) < DIFFERENCES


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
    assert max(found.worst.values()) < DIFFERENCES
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
    assert 1e-9 < result.audit.loop_gap < GAP           # it does drift, and within what the audit lets pass
    assert result.audit.fine
    assert result.audit.balances["energy"] < 0.1*SHARE                    # without it, 1e-3 of all were missing


def test_energy_of_full_tanks_with_dampers_in_loops_is_told():
    """Rates are differences around a state; a full tank cannot have been fuller before."""
    result = bough.simulate(damped(), until=1.0, dt=0.005, sample_rate=100)
    assert result.audit.fine
    assert result.audit.energy["not accounted for"] < result.audit.energy["uncertainty of the work"] < 1e-6    # of 15 J exchanged


def damped():
    s = drifting(2.0)
    s.bodies["right"] = s.bodies["right"].model_copy(update={"joint": bough.Revolute("y")})
    s.loops["pin"] = bough.Loop("pin", joint=bough.Revolute("y", damping=3.0, stiffness=5.0),
                                a=bough.Frame("base", at=(1, 0, 0.5)), b=bough.Frame("right", at=(0, 0, -1)))
    return s


def resisted():
    """Two free bodies and a third: force elements that take and give work, between bodies, and bodies and the world."""
    s = bough.System("resisted", gravity=(0.3, 0, -9.81))
    s.body("hull", joint=bough.Free(v0=[0.2, 0.1, 0, 0.1, -0.2, 0.05]), mass=200.0, inertia=(40, 50, 60))
    s.body("mast", parent="hull", at=(0, 0, 1), joint=bough.Universal("xy"), mass=20.0, com=(0, 0, 1), inertia=(5, 5, 1))
    s.body("drogue", joint=bough.Free(q0=[2, 0.5, 1, 0, 0, 0, 1]), mass=30.0, inertia=(2, 3, 4))
    s.line("tow", a=bough.Frame("mast", at=(0, 0, 2)), b=bough.Frame("drogue", at=(0.1, 0, 0)), stiffness=500.0, length=0.5,
           damping=40.0)
    s.line("anchor", a=bough.Frame("hull", at=(1, 0, 0)), b=bough.Frame("world", at=(3, 0, -2)), stiffness=200.0, length=1.0,
           damping=30.0)
    s.bushing("mount", a=bough.Frame("mast", at=(0, 0, 1)), b=bough.Frame("drogue", at=(-0.5, 0.2, 0)),
              stiffness=(20, 30, 40, 300, 400, 500), damping=(2, 1, 3, 20, 10, 30))
    s.restoring("mooring", "hull", (400, 400, 2000, 30, 40, 50), at=(0, 0, -1))
    return s


def test_force_elements_that_take_work():
    """Their power and their forces from outside are in the balances; a damper that is described as another is not."""
    model, rng = resisted().compile(), np.random.default_rng(3)
    q, v = random_state(model, rng, 3)
    q[:, 3:7], q[:, -4:] = (0.1, -0.05, 0.2, 1.0)/np.linalg.norm((0.1, -0.05, 0.2, 1.0)), (0.0, 0.1, 0.0, np.sqrt(0.99))
    found = balanced(model, q, v, rng)
    assert not found.left_out
    assert max(found.worst.values()) < 1e-9                     # differences of fourth order: 1e-11, of terms that cancel tenfold
    a = model.forward_dynamics(q, v)
    other = resisted()
    other.lines["tow"] = other.lines["tow"].model_copy(update={"damping": 44.0})
    assert {"energy", "momentum"} <= set(balanced(other.compile(), q, v, np.random.default_rng(3), a).broken)


def test_the_audit_of_a_run_has_the_work_of_force_elements():
    """Dampers of lines and bushings, restoring moments: the energy that they take is accounted for to the error of the samples."""
    audit = bough.simulate(resisted().compile(), until=2.0, dt=1e-3, sample_rate=200).audit
    assert not audit.not_audited
    assert audit.fine
    assert audit.energy["work of the rest"] < -10.0
    off, doubt = (audit.energy[each] for each in ("not accounted for", "uncertainty of the work"))
    assert off < doubt < 1e-3*audit.energy["exchanged"]         # lines that slacken have kinks, which a spline rounds off
