"""A four-bar with a flexible coupler: against the nodal oracle's tree, cut at either end, stiff as the rigid one, and in motion."""
import numpy as np
import pytest

import bough
from bough.analyze import loop_constraints as loops
from bough.flex import beam
from tests.support import flexible_trees as trees
from tests.support.compare import EPS, ROUNDINGS, assert_within, loop_rounding
from tests.support.tolerance import CANCELLING, SWEEP, refined

CRANK = {"mass": 0.5, "com": (0.2, 0.0, 0.05), "inertia": (0.002, 0.01, 0.011)}
ROCKER = {"mass": 0.8, "com": (0.4, 0.02, 0.0), "inertia": (0.003, 0.05, 0.052)}
FREE = {"EI": (40.0, 60.0), "GJ": 30.0, "polar_inertia": 1e-3, "mass_per_length": 1.0, "boundary": "free-free", "modes": 4,
        "elements": 6}


def four_bar(coupler, joint=None, gravity=(0.0, 0.0, -9.81)):
    """Crank and coupler in the tree, the coupler's tip on the rocker."""
    s = bough.System("flexible four-bar", gravity=gravity)
    s.body("crank", joint=bough.Revolute("y", q0=-1.0, v0=1.0), **CRANK)
    s.body("coupler", parent="crank", at=(0.4, 0, 0), joint=bough.Revolute("y", q0=1.0), flexible=coupler)
    s.body("rocker", at=(1.0, 0, 0), joint=bough.Revolute("y", q0=-1.5), **ROCKER)
    s.loop("pin", joint=joint or bough.Revolute("y"), a=bough.Frame("coupler", node="tip"), b=bough.Frame("rocker", at=(0.8, 0, 0)))
    return s


def hung_on_the_rocker(coupler):
    """The same, cut at the coupler's root instead."""
    s = bough.System("flexible four-bar, cut elsewhere", gravity=(0.0, 0.0, -9.81))
    s.body("crank", joint=bough.Revolute("y", q0=-1.0, v0=1.0), **CRANK)
    s.body("rocker", at=(1.0, 0, 0), joint=bough.Revolute("y", q0=-1.5), **ROCKER)
    s.body("coupler", parent="rocker", at=(0.8, 0, 0), joint=bough.Revolute("y", q0=1.5), flexible=coupler)
    s.loop("pin", joint=bough.Revolute("y"), a=bough.Frame("crank", at=(0.4, 0, 0)), b=bough.Frame("coupler", node="tip"))
    return s


def test_the_cut_tree_of_the_nodal_oracle_carries_the_loops_forces():
    """M and h summed over nodes, J by the rates of the gap: M a + h - tau is what the pin does, and nothing else."""
    rng = np.random.default_rng(0)
    twin = trees.Twin(gravity=(0.0, 0.0, -9.81))
    twin.body("crank", joint=bough.Revolute("y"), **CRANK)
    twin.body("coupler", parent="crank", at=(0.4, 0, 0), joint=bough.Revolute("y"), flexible=trees.lumped_bodies()["clamped"])
    twin.body("rocker", at=(1.0, 0, 0), joint=bough.Revolute("y"), **ROCKER)
    twin.system.loop("pin", joint=bough.PointOnLine("y"), a=bough.Frame("coupler", node="tip"),
                     b=bough.Frame("rocker", at=(0.8, 0, 0)))
    model = twin.system.compile()
    q = np.array([-1.0, 1.0, *0.02*rng.normal(size=5), -1.5])
    q, v = model.assemble(q, 0.3*rng.normal(size=model.nv))
    tau = rng.normal(size=model.nv)
    a = model.forward_dynamics(q, v, tau)
    oracle = twin.oracle(q, v)
    force = oracle.mass_matrix() @ a - oracle.forces(tau)
    J = np.stack([model.loop_gaps(q, e)["pin"] for e in np.eye(model.nv)], axis=1)
    multipliers = np.linalg.lstsq(J.T, force, rcond=None)[0]
    M = oracle.mass_matrix()
    bound = loop_rounding(M, J, a, v, oracle.forces(tau))
    rounded = ROUNDINGS*EPS*(np.abs(M) @ np.abs(a) + np.abs(oracle.forces(tau))).max()
    assert_within(J.T @ multipliers, force, np.abs(M) @ bound.accelerations + rounded)
    world = model.constraint_forces(q, v, tau)["pin"][3:]
    _, R = model.pose(q, "rocker")
    assert_within(np.linalg.norm(R @ world), np.linalg.norm(multipliers), 2*np.linalg.norm(bound.multipliers))


@pytest.mark.parametrize("method", ["order-n", "dense"])
def test_cutting_at_the_other_end_changes_nothing(method):
    """Free-free modes are the same whichever end the beam starts from, but for their signs."""
    one, other = four_bar(beam(1.0, **FREE)).compile(), hung_on_the_rocker(beam(1.0, axis="-x", **FREE)).compile()
    modes = [f"coupler.mode{i}" for i in range(1, 5)]
    q, v = one.assemble(hold=["crank", *modes])
    x, y = other.assemble([q[0], q[6], q[0] + q[1] - q[6], 0, 0, 0, 0], [v[0], v[6], v[0] + v[1] - v[6], 0, 0, 0, 0],
                          hold=["crank", *modes])
    np.testing.assert_allclose(x[:3], [q[0], q[6], q[0] + q[1] - q[6]], atol=CANCELLING)
    np.testing.assert_allclose(other.kinetic_energy(x, y), one.kinetic_energy(q, v), rtol=SWEEP)
    a, b = one.forward_dynamics(q, v, dynamics=method), other.forward_dynamics(x, y, dynamics=method)
    found, expected = [b[0], b[1], *np.abs(b[3:])], [a[0], a[6], *np.abs(a[2:6])]
    J = np.stack([one.loop_gaps(q, e)["pin"] for e in np.eye(one.nv)], axis=1)
    bound = loop_rounding(one.mass_matrix(q), J, a, v, one.bias(q, v)).accelerations
    np.testing.assert_allclose(found, expected, rtol=0, atol=bound.max())


def test_a_stiff_coupler_is_a_rigid_one():
    rod = beam(1.0, EI=1e9, GJ=1e9, polar_inertia=1e-3, mass_per_length=1.0, modes=3, elements=6)
    model = four_bar(rod).compile()
    rigid = bough.System("rigid", gravity=(0.0, 0.0, -9.81))
    rigid.body("crank", joint=bough.Revolute("y", q0=-1.0, v0=1.0), **CRANK)
    rigid.body("coupler", parent="crank", at=(0.4, 0, 0), joint=bough.Revolute("y", q0=1.0), mass=rod.mass, com=rod.com,
               inertia=rod.inertia)
    rigid.body("rocker", at=(1.0, 0, 0), joint=bough.Revolute("y", q0=-1.5), **ROCKER)
    rigid.loop("pin", joint=bough.Revolute("y"), a=bough.Frame("coupler", at=(1, 0, 0)), b=bough.Frame("rocker", at=(0.8, 0, 0)))
    stiff = rigid.compile()
    q, v = stiff.assemble()
    a = stiff.forward_dynamics(q, v)

    def found(bent):
        return model.forward_dynamics([q[0], q[1], *bent, q[2]], [v[0], v[1], 0.0, 0.0, 0.0, v[2]])

    straight, step = found(np.zeros(3)), 1e-9                       # bent so that the modes are at rest: eta'' is linear in eta
    slope = np.stack([(found(e) - straight)[2:5]/step for e in step*np.eye(3)], axis=1)
    bent = -np.linalg.lstsq(slope, straight[2:5], rcond=1e-9)[0]
    np.testing.assert_allclose(found(bent)[[0, 1, 5]], a, rtol=1e-7)        # eps EI is what modes may still accelerate by


@pytest.mark.parametrize("way", ["projection", "baumgarte"])
def test_a_flexible_four_bar_keeps_its_energy_and_stays_closed(way):
    model = four_bar(beam(1.0, EI=50.0, mass_per_length=1.0, modes=4)).compile()
    drifts = []
    for dt in (4e-4, 2e-4):
        result = bough.simulate(model, until=2.0, dt=dt, sample_rate=50, stabilize=way)
        drifts.append(np.ptp(result.data.total_energy.values))
    assert drifts[1] < refined(drifts[0], order=4 if way == "projection" else 2)
    gaps = model.loop_gaps(result.data.q.values)["pin"]
    rates = model.loop_gaps(result.data.q.values, result.data.v.values)["pin"]
    limit = 1e-12 if way == "projection" else 1e-6
    assert np.abs(gaps).max() < limit
    assert np.abs(rates).max() < 10*limit
    assert loops.freedom_at(model, result.data.q.values[-1]).degrees == 3       # of 7: two bendings and a turn in the plane
