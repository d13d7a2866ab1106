"""Hundreds of random trees against Pinocchio: dynamics, loads in joints, energies, momenta, kinematics.

Every tree is another mix of joints, masses, places and loads; the seed makes it. Single states run in one lane, the
states of a batch in four (the last group half empty: no batch here is a multiple of four).
"""
from types import SimpleNamespace

import numpy as np
import pytest

from tests.support.compare import assert_same, solved_scale, solving
from tests.support.effort import seeds
from tests.support.peers import peer
from tests.support.random_systems import JOINTS, random_state, random_system
from tests.support.tolerance import CANCELLING, HALF, SWEEP

TREES = seeds(60, 300)
ROOTS = [*(kind for kind in JOINTS if kind != "weld"), "free", "free", "free"]     # floating as often as all of space


def tree(seed):
    """A tree, the same in Pinocchio, and a few states with torques, accelerations and wrenches."""
    n = (1, 3, 5, 6, 7)[seed % 5]
    for attempt in range(9):
        rng = np.random.default_rng((seed, attempt))
        system = random_system(rng, 1 + seed % 12, root=ROOTS[seed % len(ROOTS)], branched=seed % 3 > 0, massless=0.3)
        model, oracle = system.compile(), peer("Pinocchio", system)
        q, v = random_state(model, rng, n)
        if max(solving(oracle.mass_matrix(row)) for row in q) < HALF:     # massless bodies can come close to singular: where more
            break                                                         # than half of the digits may be lost there is no test
    loaded = rng.choice(model.names.bodies, min(3, len(model.names.bodies)), replace=False)
    wrenches = {str(name): rng.normal(size=(n, 6))*3 for name in loaded}
    return SimpleNamespace(system=system, model=model, oracle=oracle, n=n, q=q, v=v, a=rng.normal(size=v.shape),
                           tau=rng.normal(size=v.shape)*3, wrenches=wrenches, frame=("body", "world")[seed % 2])


@pytest.fixture(scope="module", params=TREES)
def case(request):
    """One tree after the other: all tests of it, then the next one."""
    return tree(request.param)


def rows(case):
    """Each state of a case, with its wrenches in body axes, as Pinocchio wants them."""
    for i in range(case.n):
        wrenches = {name: w[i] for name, w in case.wrenches.items()}
        if case.frame == "world":
            wrenches = case.oracle.in_body_axes(case.q[i], wrenches)
        yield i, case.q[i], case.v[i], wrenches


def one_and_all(case, ask):
    """The answers for each state alone, and for all states of the case at once."""
    alone = [ask(i, case.q[i], case.v[i]) for i in range(case.n)]
    return np.array(alone), np.array(ask(slice(None), case.q, case.v))


def loads(case, where):
    return {"wrenches": {name: w[where] for name, w in case.wrenches.items()}, "frame": case.frame}


@pytest.mark.parametrize("method", ["order-n", "dense"])
def test_forward_dynamics(case, method):
    """Accelerations under gravity, torques and wrenches, by the three sweeps and by the mass matrix."""

    def ask(where, q, v):
        return case.model.forward_dynamics(q, v, case.tau[where], dynamics=method, **loads(case, where))

    answers = one_and_all(case, ask)
    for i, q, v, wrenches in rows(case):
        M, bias = case.oracle.mass_matrix(q), case.oracle.inverse_dynamics(q, v, 0*v, wrenches)
        theirs = case.oracle.dense_dynamics(q, v, case.tau[i], wrenches)
        for ours in answers:
            assert_same(ours[i], theirs, solving(M), solved_scale(M, case.tau[i], bias).max())


def test_inverse_dynamics_and_bias(case):
    """Torques for given accelerations, and for none."""
    inverse = one_and_all(case, lambda where, q, v: case.model.inverse_dynamics(
        q, v, case.a[where], **loads(case, where)))
    bias = one_and_all(case, lambda where, q, v: case.model.bias(q, v))
    for i, q, v, wrenches in rows(case):
        for k in range(2):
            assert_same(inverse[k][i], case.oracle.inverse_dynamics(q, v, case.a[i], wrenches), CANCELLING)
            assert_same(bias[k][i], case.oracle.inverse_dynamics(q, v, 0*v), CANCELLING)


def test_mass_matrix(case):
    """The mass matrix by composite bodies."""
    for answers in one_and_all(case, lambda where, q, v: case.model.mass_matrix(q)):
        for i, q, _, _ in rows(case):
            assert_same(answers[i], case.oracle.mass_matrix(q), SWEEP)


def test_reactions(case):
    """Loads through all joints, welds too: Newton and Euler for what hangs on a joint, and Pinocchio's own loads."""
    answers = one_and_all(case, lambda where, q, v: case.model.reactions(
        q, v, case.a[where], **loads(case, where)))
    for i, q, v, wrenches in rows(case):
        theirs = case.oracle.reactions(q, v, case.a[i], wrenches)
        for ours in answers:
            assert_same(ours[i], theirs, CANCELLING)
        for k, body in enumerate(case.system.bodies.values()):
            if body.joint.n_v:                                       # welded bodies are merged into it: the same load
                direct = case.oracle.joint_load(q, v, case.a[i], body.name, wrenches)
                assert_same(answers[1][i, k], direct, CANCELLING, np.abs(theirs).max())


def test_energy_momentum_and_mass_center(case):
    """What all bodies together have."""
    model = case.model
    kinetic = one_and_all(case, lambda where, q, v: model.kinetic_energy(q, v))
    potential = one_and_all(case, lambda where, q, v: model.potential_energy(q))
    momentum = one_and_all(case, lambda where, q, v: model.momentum(q, v))
    center = one_and_all(case, lambda where, q, v: model.center_of_mass(q))
    weight = sum(body.mass for body in case.system.bodies.values())*np.linalg.norm(case.system.gravity)
    for i, q, v, _ in rows(case):
        for k in range(2):
            assert_same(kinetic[k][i], case.oracle.energies(q, v)[0], SWEEP)
            assert_same(potential[k][i], case.oracle.energies(q, v)[1], SWEEP, weight)
            assert_same(momentum[k][i], case.oracle.momentum(q, v), CANCELLING)
            assert_same(center[k][i], case.oracle.center_of_mass(q), SWEEP)


def test_motion_of_bodies(case):
    """Places, attitudes, velocities, accelerations and Jacobians of all bodies."""
    model = case.model
    seen = model.bodies(case.q, case.v, case.a)
    point = np.random.default_rng(case.n).normal(size=3)
    for k, name in enumerate(model.names.bodies):
        poses, jacobians = model.pose(case.q, name), model.jacobian(case.q, name, point)
        changes = model.jacobian_rate(case.q, case.v, name, point)
        for i, q, v, _ in rows(case):
            motion = case.oracle.motion(q, v, case.a[i], name)
            for position, attitude in ([p[i] for p in poses], model.pose(q, name)):
                assert_same(position, motion.position, SWEEP, 1.0)
                assert_same(attitude, motion.attitude, SWEEP)
            assert_same(model.velocity(q, v, name), motion.velocity, SWEEP)
            assert_same(model.velocity(case.q, case.v, name)[i], motion.velocity, SWEEP)
            for acceleration in (seen.acceleration[i, k], model.acceleration(q, v, case.a[i], name)):
                assert_same(acceleration, motion.acceleration, CANCELLING)
            assert_same(model.jacobian(q, name, point), case.oracle.jacobian(q, name, point), SWEEP, 1.0)
            assert_same(jacobians[i], case.oracle.jacobian(q, name, point), SWEEP, 1.0)
            for rate in (model.jacobian_rate(q, v, name, point), changes[i]):
                assert_same(rate, case.oracle.jacobian_rate(q, v, name, point), CANCELLING, max(1.0, np.abs(v).max()))
