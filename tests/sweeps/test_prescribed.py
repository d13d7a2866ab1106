"""Locked and prescribed coordinates in the dynamics of trees: against the partitioned equations of motion, and Pinocchio."""
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import bough
from bough.describe import Polynomial
from tests.support.compare import EPS, assert_same, solved_scale, solving
from tests.support.effort import seeds
from tests.support.held_systems import given_accelerations, random_motions, solved, with_joints, with_motion, with_motions
from tests.support.peers import peer
from tests.support.random_systems import JOINTS, random_joint, random_state, random_system
from tests.support.tolerance import CANCELLING

ROOTS = [*(kind for kind in JOINTS if kind != "weld"), "free", "free", "free"]
TREES = seeds(24, 60)


def spun(system, rng, seed):
    """The system with wheels on some bodies, the speed of every other one held."""
    heavy = [body.name for body in system.bodies.values() if body.mass]
    for j in range(seed % 3):
        system.wheel(f"w{j}", body=str(rng.choice(heavy)), axis=rng.normal(size=3), inertia=1e-3, speed=rng.normal()*20,
                     torque=None if j else 0.02)
    return system


def tree(seed):
    """A tree, free and held, with five states at five times (a group of four lanes and one more)."""
    for attempt in range(9):
        rng = np.random.default_rng((seed, attempt))
        system = random_system(rng, 1 + seed % 9, root=ROOTS[seed % len(ROOTS)], massless=0.2)
        loose = system.compile()
        q, v = random_state(loose, rng, 5)
        if max(solving(M) for M in loose.mass_matrix(q)) < 1e-11:
            break
    system = spun(system, rng, seed)
    motions = random_motions(rng, system, share=(0.3, 0.6, 1.0)[seed % 3])
    return SimpleNamespace(system=system, loose=system.compile(), model=with_motions(system, motions).compile(), q=q, v=v,
                           tau=rng.normal(size=v.shape)*3, t=rng.uniform(0, 2, 5),
                           wheels=rng.normal(size=(5, len(system.wheels)))*20)


@pytest.fixture(scope="module", params=TREES)
def case(request):
    """One tree after the other: all tests of it, then the next one."""
    return tree(request.param)


def expected(case, i):
    """Accelerations and drive forces of state i by the equations of the free tree, and the size of what cancels in them.

    The free tree's own forward dynamics gives M's inverse with driven wheels in it: M_w = M less what they give way."""
    q, v, tau, given = case.q[i], case.v[i], case.tau[i], {"wheels": case.wheels[i], "t": case.t[i]}
    a0 = case.loose.forward_dynamics(q, v, **given)
    inverse = np.stack([case.loose.forward_dynamics(q, v, e, **given) - a0 for e in np.eye(case.loose.nv)], axis=1)
    M = np.linalg.inv(inverse)
    h = -M @ a0
    a, drives = solved((M + M.T)/2, h, tau, given_accelerations(case.model, case.t[i]), case.model.free)
    return a, drives, solving(M), solved_scale(M, tau, h, M @ a).max()


@pytest.mark.parametrize("method", ["order-n", "dense"])
def test_forward_dynamics_of_a_held_tree(case, method):
    """M_ff a_f = tau_f - h_f - M_fh a_h: for one state, and for five in lanes."""
    together = case.model.forward_dynamics(case.q, case.v, case.tau, t=case.t, wheels=case.wheels, dynamics=method)
    for i in range(5):
        a, _, share, scale = expected(case, i)
        alone = case.model.forward_dynamics(case.q[i], case.v[i], case.tau[i], t=case.t[i], wheels=case.wheels[i], dynamics=method)
        assert_same(alone, a, share, scale)
        assert_same(together[i], a, share, scale)
        held = ~case.model.free
        assert_same(alone[held], given_accelerations(case.model, case.t[i])[held], 10*EPS, 62.0)    # 2 + 6*2 + 12*2^2: terms at 2 s


def test_drive_forces_hold_it_so(case):
    """The forces by the equations; and the free tree, given them as torques, has the same accelerations, wheels too."""
    names = case.model.names.v
    together = case.model.drive_forces(case.q, case.v, case.tau, t=case.t, wheels=case.wheels)
    assert list(together) == [name for name, free in zip(names, case.model.free, strict=True) if not free]
    for i in range(5):
        given = {"t": case.t[i], "wheels": case.wheels[i]}
        alone = case.model.drive_forces(case.q[i], case.v[i], case.tau[i], **given)
        tau = case.tau[i] + [alone.get(name, 0.0) for name in names]
        a, drives, share, scale = expected(case, i)
        size = np.abs(case.loose.mass_matrix(case.q[i])).max()*scale + np.abs(drives).max()
        for name, force in alone.items():
            assert_same(force, drives[names.index(name)], share, size)
            assert_same(together[name][i], force, CANCELLING, size)
        assert_same(case.loose.forward_dynamics(case.q[i], case.v[i], tau, **given), a, share, scale)
        assert_same(case.model.wheel_accelerations(case.q[i], case.v[i], case.tau[i], **given),
                    case.loose.wheel_accelerations(case.q[i], case.v[i], tau, **given), share, scale)


@pytest.mark.oracle
@pytest.mark.parametrize("seed", seeds(16, 40))
def test_a_floating_tree_that_moves_as_told_against_pinocchio(seed):
    """All joints prescribed: inverse dynamics with the given accelerations, and the six equations of the base solved."""
    rng = np.random.default_rng(seed)
    kinds = [kind for kind in JOINTS if kind != "spherical"]
    system = random_system(rng, 2 + seed % 8, root="free", kinds=kinds, massless=0.2)
    joints = {body.name: body.joint for body in list(system.bodies.values())[1:] if body.joint.n_v and not body.joint.spherical}
    motions = {name: [Polynomial(rng.uniform(-1, 1, 4)) for _ in range(joint.n_v)] for name, joint in joints.items()}
    model, oracle, t = with_motions(system, motions).compile(), peer("Pinocchio", system), rng.uniform(0, 2)
    q, v = model.follow(*random_state(model, rng), t)
    body = str(rng.choice(model.names.bodies))
    wrenches, tau, free = {body: rng.normal(size=6)}, rng.normal(size=model.nv), model.free
    a, M = given_accelerations(model, t), oracle.mass_matrix(q)
    needed = oracle.inverse_dynamics(q, v, a, wrenches) - tau
    a[free] = np.linalg.solve(M[np.ix_(free, free)], -needed[free])
    drives = oracle.inverse_dynamics(q, v, a, wrenches) - tau
    share = solving(M[np.ix_(free, free)])
    for method in ("order-n", "dense"):
        assert_same(model.forward_dynamics(q, v, tau, wrenches=wrenches, t=t, dynamics=method), a, share, np.abs(tau).max())
    ours = model.drive_forces(q, v, tau, wrenches=wrenches, t=t)
    assert_same([ours[name] for name in ours], drives[~free], share, np.abs(needed).max())


# ---- a locked coordinate is a weld ------------------------------------------------------------------------------------------
def welded(system, body, q, model):
    """The system whose body is welded where its joint stands at q."""
    alone, own = bough.System("joint"), system.bodies[body]
    alone.body(body, joint=with_motion(own.joint, None), at=own.at, orient=own.orient, mass=1.0, inertia=(1, 1, 1))
    at, n = model.places[body][0], system.bodies[body].joint.n_q
    position, turn = alone.compile().pose(q[at:at + n], body)
    new = system.copy()
    new.bodies[body] = new.bodies[body].model_copy(update={"joint": bough.Weld(), "at": tuple(position.tolist()),
                                                           "orient": tuple(Rotation.from_matrix(turn).as_quat().tolist())})
    return new


@pytest.mark.parametrize("kind", [kind for kind in JOINTS if kind != "weld"])
@pytest.mark.parametrize("place", [1, 2, 4])
def test_a_locked_joint_is_a_weld(kind, place):
    """A tree with a joint locked, of every kind, against the tree with a weld there: accelerations, loads, and energy."""
    for seed in range(4):
        rng = np.random.default_rng((seed, place))
        system = random_system(rng, 6, root=("free", "revolute")[seed % 2], massless=0.0, kinds=JOINTS[:-1])
        name = f"b{place}"
        system = with_joints(system, {name: random_joint(rng, kind)})
        model = with_motions(system, {name: "locked"}).compile()
        q, v = model.follow(*random_state(model, rng))
        stiff = welded(system, name, q, model)
        rigid = stiff.compile()
        tau, free = rng.normal(size=model.nv), model.free
        (i, _), n = model.places[name], system.bodies[name].joint.n_q
        state = np.delete(q, slice(i, i + n)), v[free]
        M = rigid.mass_matrix(state[0])
        theirs = rigid.forward_dynamics(*state, tau[free])
        scale = solved_scale(M, tau[free], rigid.bias(*state)).max()
        for method in ("order-n", "dense"):
            a = model.forward_dynamics(q, v, tau, dynamics=method)
            assert (a[~free] == 0.0).all()
            assert_same(a[free], theirs, solving(M), scale)
        assert_same(model.reactions(q, v, a), rigid.reactions(*state, theirs), solving(M))
        assert_same(model.kinetic_energy(q, v), rigid.kinetic_energy(*state), CANCELLING)


@pytest.mark.parametrize("motion", [["locked", None, None, None, None, None], [None, "locked", "locked", None, None, None],
                                    ["locked"]*3 + [None]*3, [None]*3 + ["locked"]*3])
def test_a_free_joint_partly_locked_is_the_joint_of_what_is_left(motion):
    """Three translations and a ball, some of them locked, against the joint made of the rest at the same place."""
    rng = np.random.default_rng(5)
    body = {"mass": 2.0, "com": (0.1, 0.2, -0.1), "inertia": (0.3, 0.4, 0.5)}
    arm = {"parent": "bus", "at": (0.3, 0, 0.1), "joint": bough.Revolute((1, 2, 3)), "mass": 1.0, "com": (0, 0.3, 0.1),
           "inertia": (0.02, 0.01, 0.02)}
    s = bough.System("locked", gravity=(1, 2, 3))
    s.body("bus", joint=bough.Joint("xyz", "spherical", motion=motion), **body)
    s.body("arm", **arm)
    model = s.compile()
    q, v = model.follow(*random_state(model, rng))
    slides = [i for i in range(3) if motion[i] is None]
    left = bough.System("left", gravity=(1, 2, 3))
    turns = motion[3] is None
    left.body("bus", joint=bough.Joint(["xyz"[i] for i in slides], "spherical" if turns else ()), **body,
              at=[0.0 if i in slides else q[i] for i in range(3)], orient=(0, 0, 0, 1) if turns else q[3:7])
    left.body("arm", **arm)
    if not turns:                    # translations are along axes of the joint frame, which the weld has turned
        back = Rotation.from_quat(q[3:7]).inv()
        left = with_joints(left, {"bus": bough.Joint([back.apply(np.eye(3)[i]) for i in slides])})
    rest, qs = left.compile(), [*slides, *([3, 4, 5, 6] if turns else []), 7]
    tau = rng.normal(size=7)
    free = model.free
    for method in ("order-n", "dense"):
        a = model.forward_dynamics(q, v, tau, dynamics=method)
        assert_same(a[free], rest.forward_dynamics(q[qs], v[free], tau[free]), CANCELLING)
