"""Central gravity on flexible bodies: against mass points, each pulled by what the potential of its body says.

    U = -mu m/d - T:S/2       of a body whose points x_i have the mass center d and the second moments S about it, so that
    f_i = m_i (F/m + T (x_i - d)),  F = -dU/dd

Generalized forces are the sums of these along the points' exact Jacobians (`tests.support.nodal_oracle`): no modal integrals, no
recursion. F is found with 60 digits, as in test_orbit.
"""
from dataclasses import replace
from decimal import localcontext

import numpy as np
import pytest

import bough
from bough.analyze.equations_of_motion import forward
from bough.analyze.loop_forces import holding_rows
from tests.support.compare import assert_same, solving
from tests.support.flexible_trees import bodies, lumped_bodies, modal_places, moved, random_states, random_twin, turning_nodes
from tests.support.nodal_oracle import NodalOracle
from tests.support.tolerance import CANCELLING, FORMULA, SWEEP, truncated
from tests.sweeps.test_orbit import DIGITS, EARTH, LOW_ORBIT, NEAR, PEBBLES, exact, gravity_of

METHODS = ("order-n", "dense")


def orbiting(seed, mu, R, chosen=None):
    """A random floating tree of rigid and flexible bodies in orbit, its twin for the oracle, and states about the mass center; in
    a low orbit, where elastic forces would drown gravity's gradient, undeformed and at rest."""
    rng = np.random.default_rng(seed)
    twin = random_twin(rng, 2 + seed % 4, chosen=chosen, root="free", rests=0.3*(mu != EARTH))
    twin.system.gravity = bough.CentralGravity(mu, R, (1.0, 2.0, 3.0))
    model = twin.system.compile()
    q, v = random_states(model, rng, 5, rates=0.1) if mu != EARTH else random_states(model, rng, 5, size=0.0, rates=0.0)
    at, turn = model.places[twin.names[0]][0], model.pose(q[0]*0 + model.q0, twin.names[0])[1]
    q[:, at:at + 3] -= model.center_of_mass(q) @ turn
    return twin, model, q, v, rng


def witness(twin, model, q, v, mu, R, tau):
    """Accelerations in the frame of the mass center, and that of the mass center."""
    oracle = NodalOracle(twin.bodies, q, v)
    places = [list(oracle._points_of(index)) for index in range(len(twin.bodies))]
    forces, centers = {}, {}
    with localcontext() as context:
        context.prec = DIGITS
        for index, points in enumerate(places):
            m, x = np.array([each[0] for each in points]), np.array([each[2].r for each in points])
            c = m @ x/m.sum()
            S = np.einsum("k,ki,kj->ij", m, x - c, x - c)
            J = np.trace(S)*np.eye(3) - S + sum(each[1] for each in points)
            centers[index] = m.sum(), c, gravity_of(mu, m.sum(), exact(R) + exact(c), (J + J.T)/2)
        a = sum(force for _, _, (force, _) in centers.values())/sum(exact(m) for m, _, _ in centers.values())
        for index, (m, _, (force, torque)) in centers.items():
            forces[index] = (force/exact(m) - a).astype(float), torque.astype(float)
        a = a.astype(float)
    generalized = oracle.forces(tau)
    for index, points in enumerate(places):
        _, c, _ = centers[index]
        (specific, torque), d = forces[index], R + c
        T = mu/np.linalg.norm(d)**3*(3*np.outer(d, d)/(d @ d) - np.eye(3))
        for m, _, point in points:
            generalized += point.Jv.T @ (m*(specific + T @ (point.r - c)))
        if len(points) == 1:                                    # a rigid body
            generalized += points[0][2].Jw.T @ torque
    return np.linalg.solve(oracle.mass_matrix(), generalized), a


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(("mu", "R"), [(EARTH, LOW_ORBIT), (PEBBLES, NEAR)])
def test_accelerations(seed, mu, R):
    """Points without inertia of their own: exact at any deformation."""
    twin, model, q, v, rng = orbiting(seed, mu, np.array(R))
    tau = np.zeros(model.nv) if mu == EARTH else np.concatenate([np.zeros(6), rng.normal(size=model.nv - 6)])
    expected, a = witness(twin, model, q[0], v[0], mu, np.array(R), tau)
    M = model.mass_matrix(q[0])
    for method in METHODS:
        alone = forward(model, model.batch(q[0], v[0], tau), method).rows[0]
        lanes = forward(model, model.batch(q, v, tau), method).rows
        for row in (alone, lanes[0]):
            for part in (modal_places(model), ~modal_places(model)):
                assert_same(row[:model.nv][part], expected[part], solving(M))
            assert_same(row[-3:], a, FORMULA)
    torques = model.inverse_dynamics(q, v, forward(model, model.batch(q, v, tau), "order-n").rows[:, :model.nv])
    weight = (np.abs(M) @ np.abs(expected)).max()
    assert_same(torques[0], tau, solving(M), weight)


def slopes(model, q, h=1e-5):
    """Less the potential's, along every speed, by central differences; and how far they may be off: what they change by when the
    step is halved, and the potential's rounding over the step."""
    found = []
    for step in (2*h, h):
        energies = np.array([[model.potential_energy(moved(model, q, e, sign*step)) for sign in (-1, 1)] for e in np.eye(model.nv)])
        found.append((energies[:, 0] - energies[:, 1])/(2*step))
    return found[1], truncated(*found, order=2) + SWEEP*np.abs(energies).max()/h


@pytest.mark.parametrize("seed", range(12))
def test_forces_are_the_slopes_of_the_potential(seed):
    """Of strain and gravity, along every speed."""
    _, model, q, _, _ = orbiting(seed, PEBBLES, np.array(NEAR), chosen=bodies())
    q, still = q[0], np.zeros(model.nv)
    force, bound = slopes(model, q)
    M, total = model.mass_matrix(q), sum(body.mass for body in model.system.bodies.values())
    a = np.linalg.solve(M, force)
    mean = force[:3]/total
    a[:3] -= mean                                               # in the joint's axes
    for method in METHODS:
        row = forward(model, model.batch(q, still), method).rows[0]
        np.testing.assert_allclose(M @ (row[:model.nv] - a), still, rtol=0, atol=bound)


@pytest.mark.parametrize("seed", range(4))
def test_potential_energy(seed):
    """The sum of U over the bodies, from their points, and the strain."""
    twin, model, q, v, _ = orbiting(seed, PEBBLES, np.array(NEAR))
    oracle, energy = NodalOracle(twin.bodies, q[0], v[0]), 0.0
    for index, body in enumerate(twin.bodies):
        found = list(oracle._points_of(index))
        m, x = np.array([each[0] for each in found]), np.array([each[2].r for each in found])
        c = m @ x/m.sum()
        S = np.einsum("k,ki,kj->ij", m, x - c, x - c) + sum(np.trace(J)/2*np.eye(3) - J for _, J, _ in found)
        d = np.array(NEAR) + c
        length = np.linalg.norm(d)
        energy += -PEBBLES*m.sum()/length - PEBBLES*(3*d @ S @ d/length**2 - np.trace(S))/(2*length**3)
        eta = oracle._modal(index)[0] - body.rest
        energy += 0.0 if body.K is None else eta @ body.K @ eta/2
    assert_same(model.potential_energy(q[0]), energy, SWEEP)
    assert_same(model.potential_energy(q)[0], energy, SWEEP)


def test_linearized_bodies_are_pulled_as_undeformed():
    """Ruthlessly linearized: the integrals of the undeformed body, and modal forces from these."""
    flexible = replace(lumped_bodies()["clamped"], variant="zeroth_order")
    s = bough.System("linearized", gravity=bough.CentralGravity(PEBBLES, NEAR, (0, 1, 0)))
    s.body("beam", joint=bough.Free(), flexible=flexible)
    model, points, d = s.compile(), flexible.points, np.array(NEAR)
    q = model.q0.copy()
    q[:3] = -model.center_of_mass(q)
    q[7:] = 0.1
    shapes = points.phi + np.cross(points.psi, points.offset[:, :, None], axis=1)
    T = PEBBLES/np.linalg.norm(d)**3*(3*np.outer(d, d)/(d @ d) - np.eye(3))
    arm = points.position + points.offset
    felt = points.mass[:, None]*((arm + q[:3]) @ T)             # the mass center has the mean acceleration: no more of it is left
    modal = np.einsum("ki,kir->r", felt, shapes) - flexible.K @ q[7:]
    needed = np.concatenate([felt.sum(axis=0), np.cross(arm, felt).sum(axis=0), modal])
    M = model.mass_matrix(q)
    assert_same(M @ model.forward_dynamics(q, np.zeros(model.nv)), needed, solving(M))


# ---- dumbbells ---------------------------------------------------------------------------------------------------------
ENDS, ARM = (40.0, 70.0), 20e3


def dumbbell(joint, R):
    """Two points, 20 km apart along x; a sphere's inertia adds nothing to the pull on a point."""
    s = bough.System("dumbbell", gravity=bough.CentralGravity(EARTH, R, (0, 7500, 0)))
    s.body("one", joint=bough.Free(), mass=ENDS[0], inertia=(1, 1, 1))
    s.body("two", parent="one", at=(ARM, 0, 0), joint=joint, mass=ENDS[1], inertia=(1, 1, 1))
    return s.compile()


@pytest.mark.parametrize("joint", [None, bough.Revolute("z", motion="locked"), bough.Free(motion="locked")])
def test_a_dumbbell_of_20_km_is_pulled_as_two_points(joint):
    """Welded or locked, against Newton's law for each end: merged about the common center, it would be 0.3 % off."""
    R, turn = np.array(LOW_ORBIT), np.array([0.1, 0.2, 0.3, np.sqrt(0.86)])
    model = dumbbell(joint, R)
    q = model.q0.copy()
    q[3:7] = turn
    q[:3] -= model.center_of_mass(q)
    with localcontext() as context:
        context.prec = DIGITS
        places = [exact(model.pose(q, name)[0]) for name in ("one", "two")]
        pulls = [-exact(EARTH)*exact(m)*(exact(R) + x)/((exact(R) + x) @ (exact(R) + x)).sqrt()**3
                 for m, x in zip(ENDS, places, strict=True)]
        torque = sum(np.cross(x, pull) for x, pull in zip(places, pulls, strict=True)).astype(float)
        a = (sum(pulls)/exact(sum(ENDS))).astype(float)
    C = model.pose(q, "one")[1]
    J = np.diag([2.0, 2.0, 2.0]) + ENDS[0]*ENDS[1]/sum(ENDS)*ARM**2*np.diag([0.0, 1.0, 1.0])
    for method in METHODS:
        row = forward(model, model.batch(q), method).rows[0]
        assert_same(J @ row[3:6], C.T @ torque, CANCELLING)
        assert_same(row[-3:], a, FORMULA)


# ---- together with everything else -------------------------------------------------------------------------------------
def station(*, hold=None, gravity=None):
    """A bus with a flexible panel whose tip has a wheel, a free-free boom that carries a body, a visitor berthed at it by a free
    joint, a strut that closes a loop, a spring and a bushing."""
    panel = bough.beam(1.2, GJ=3.0, polar_inertia=2e-2, EI=(40.0, 60.0), mass_per_length=0.8, modes=3, tip_mass=0.3)
    boom = bough.beam(1.0, boundary="free-free", EI=(40.0, 60.0), mass_per_length=0.8, modes=2, axis="y")
    s = bough.System("station", gravity=gravity or bough.CentralGravity(PEBBLES, NEAR, (0.3, 0.4, -0.5)))
    s.body("bus", joint=bough.Free(motion=hold), mass=5.0, com=(0.1, 0, 0), inertia=(0.5, 0.6, 0.7))
    s.body("panel", parent="bus", at=(0.3, 0, 0), joint=bough.Revolute("z"), flexible=panel)
    s.body("boom", parent="bus", at=(0, 0.3, 0), joint=bough.Spherical(), flexible=boom)
    s.body("dish", parent="boom", node="tip", joint=bough.Universal("xz"), mass=0.7, com=(0, 0.1, 0), inertia=(0.02, 0.02, 0.03))
    s.body("visitor", parent="bus", at=(0, 0, -0.4), joint=bough.Free(motion="locked"), mass=2.0, com=(0.1, 0, -0.2),
           inertia=(0.2, 0.3, 0.25))
    s.wheel("rw", body="panel", node="tip", axis=(1, 2, 2), inertia=2e-3, speed=200.0, torque=0.01)
    s.wheel("bias", body="bus", axis="z", inertia=4e-3, speed=60.0)
    s.loop("strut", joint=bough.Distance(1.3), a=bough.Frame("panel", node="tip"), b=bough.Frame("dish", at=(0, 0.2, 0)))
    s.line("spring", a=bough.Frame("panel", node="tip"), b="visitor", stiffness=3.0, length=0.8)
    s.bushing("mount", a="bus", b="dish", stiffness=([2, 2, 2], 5.0))
    return s


def station_state(model, rng, n=5):
    q, v = random_states(model, rng, n, size=0.05, joints=0.5, rates=0.2)
    for row in range(n):
        q[row], v[row] = model.assemble(q[row], np.where(model.free, v[row], 0.0))
    q[:, :3] -= model.center_of_mass(q)
    v[:, :3] -= model.momentum(q, v)[:, 3:]/sum(body.mass for body in model.system.bodies.values())
    return q, v


@pytest.mark.parametrize("hold", [None, [None]*3 + ["locked"]*3], ids=["free", "held"])
def test_a_station_with_everything(hold):
    """Loops, wheels on nodes, elements, held free joints: both methods, alone and in lanes, agree; the mass center stays; inverse
    dynamics gives back the torques, the loop's force put in as a wrench."""
    model, rng = station(hold=hold).compile(), np.random.default_rng(4)
    q, v = station_state(model, rng)
    tau = np.concatenate([np.zeros(6), rng.normal(size=model.nv - 6)])*model.free
    tolerance = solving(model.mass_matrix(q[0]))
    rows = {method: forward(model, model.batch(q, v, tau), method).rows for method in METHODS}
    assert_same(rows["dense"], rows["order-n"], tolerance)
    for method in METHODS:
        assert_same(forward(model, model.batch(q[0], v[0], tau), method).rows[0], rows[method][0], tolerance)
    a = rows["order-n"][:, :model.nv]
    rates, size = [], (model.mass_matrix(q[0])[:3]*np.abs(v[0])).max()
    for h in (2e-7, 1e-7):                                      # s: modes turn by 1e-3 of a radian
        momenta = [model.momentum(moved(model, q[0], v[0] + sign*h/2*a[0], sign*h), v[0] + sign*h*a[0])[3:] for sign in (1, -1)]
        rates.append((momenta[0] - momenta[1])/(2*h))
    assert np.abs(rates[1]).max() < truncated(*rates, order=2) + SWEEP*size/h
    needed = model.without_loops().inverse_dynamics(q, v, a) - tau
    J = holding_rows(model, model.batch(q[0]))[0]
    left = needed[0][model.free]
    force = np.linalg.lstsq(J.T[model.free], left, rcond=None)[0]
    assert_same(J.T[model.free] @ force, left, tolerance, np.abs(tau).max())


def test_holding_an_attitude_is_a_torque():
    """A locked rotation of a root: what holds it, given as a torque to the same station without it, moves all the rest the same."""
    held, loose = station(hold=[None]*3 + ["locked"]*3).compile(), station().compile()
    q, v = station_state(held, np.random.default_rng(5))
    q, v = q[0], v[0]
    a = held.forward_dynamics(q, v)
    drives = held.drive_forces(q, v)
    tau = np.zeros(held.nv)
    for name in ("bus.wx", "bus.wy", "bus.wz"):
        tau[held.names.v.index(name)] = drives[name]
    assert_same(loose.forward_dynamics(q, v, tau), a, solving(held.mass_matrix(q)))


def test_the_place_of_a_root_cannot_be_held():
    with pytest.raises(bough.ModelError, match=r"'bus\.x' is held, and its joint leads to the world"):
        station(hold="locked").compile()


def test_every_flexible_body_of_the_trees_has_been_in_orbit():
    trees = [orbiting(seed, PEBBLES, np.array(NEAR))[0].system.bodies for seed in range(12)]
    flexible = [body for tree in trees for body in tree.values() if body.flexible]
    assert len({id(body.flexible) for body in flexible}) >= 8
    assert any(body.parent is None for body in flexible)
    assert any(tree[body.parent].flexible and turning_nodes(tree[body.parent].flexible)
               for tree in trees for body in tree.values() if body.parent)


def test_points_that_turn_are_pulled_by_their_second_moments_only():
    """A panel with polar inertia, twisted and bent: what its points add to the inertia beyond second moments [B 9], so that M stays
    positive, is none of gravity's. Forces are slopes of strain and potential."""
    panel = bough.beam(6.0, EI=(1.2e3, 4.0e4), GJ=400.0, mass_per_length=3.0, polar_inertia=1.0, axis="y", modes=6)
    s = bough.System("panel", gravity=bough.CentralGravity(PEBBLES, NEAR, (0, 1, 0)))
    s.body("panel", joint=bough.Free(), flexible=panel)
    model = s.compile()
    q, still = model.q0.copy(), np.zeros(model.nv)
    q[7:] = 2.0*np.random.default_rng(3).normal(size=6)
    q[:3] = -model.center_of_mass(q)
    force, bound = slopes(model, q)
    M, found = model.mass_matrix(q), forward(model, model.batch(q, still), "order-n").rows[0]
    a = np.linalg.solve(M, force)
    a[:3] -= force[:3]/panel.mass
    np.testing.assert_allclose(M @ (found[:model.nv] - a), still, rtol=0, atol=bound)
