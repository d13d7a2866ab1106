"""Random trees of rigid and flexible bodies against Kane's equations summed over every mass point (`tests.support.nodal_oracle`).

Mass points without inertia of their own make the modal integrals exact, so the two agree at any deformation but for rounding.
What is right to second order only must fall off at its order.

Tolerances: condition numbers of the scaled mass matrices reach 1e5, so 30 eps cond(M) is 1e-9 of the largest acceleration, joints
and modes apart.
"""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import bough
from bough.flex import FlexibleBody, GeometricStiffness, MassPoints, ModalIntegrals, Nodes
from tests.support.compare import assert_same
from tests.support.flexible_trees import (
    Twin,
    amplitudes,
    bent_nodes,
    bodies,
    lumped_bodies,
    modal_places,
    node_of,
    random_states,
    random_twin,
    rigid_points,
    substance,
    turning_nodes,
)
from tests.support.nodal_oracle import NodalOracle, TreeBody, carried
from tests.support.tolerance import CANCELLING, SWEEP

SEEDS = range(24)
TOLERANCE = 1e-9
METHODS = ("order-n", "dense")
ROTOR = 1e-4  # kg m^2: less than what slender beams have about their axis


def assert_parts(model, ours, theirs, tolerance=TOLERANCE, scale=0.0):
    """Entries of joints and of modes, each against the largest of its kind."""
    modal = modal_places(model)
    for part in (modal, ~modal):
        assert_same(np.asarray(ours)[..., part], np.asarray(theirs)[..., part], tolerance, scale)


@cache
def case(seed, kind="lumped"):
    """A random tree, its model, four states and torques, and the oracle at the first and the last of them."""
    rng = np.random.default_rng(seed)
    chosen = {
        "lumped": lumped_bodies,
        "bent nodes": lambda: {name: bent_nodes(body) for name, body in bodies().items()},
        "linearized": lambda: {name: replace(body, variant="zeroth_order") for name, body in bodies().items()},
    }[kind]()
    twin = random_twin(rng, 1 + seed % 6, chosen=chosen)
    model = twin.system.compile()
    q, v = random_states(model, rng, 4)
    tau = rng.normal(size=v.shape)
    return twin, model, q, v, tau, {i: twin.oracle(q[i], v[i]) for i in (0, 3)}


def check_dynamics(seed, kind):
    """Forward dynamics by both methods, inverse dynamics and the mass matrix, in four lanes and alone."""
    _, model, q, v, tau, oracles = case(seed, kind)
    batch = {method: model.forward_dynamics(q, v, tau, dynamics=method) for method in METHODS}
    matrices, accelerations = model.mass_matrix(q), np.zeros_like(v)
    for i, oracle in oracles.items():
        accelerations[i] = oracle.forward_dynamics(tau[i])
        M = oracle.mass_matrix()
        assert_same(matrices[i], M, CANCELLING)
        for method in METHODS:
            assert_parts(model, batch[method][i], accelerations[i])
            assert_parts(model, model.forward_dynamics(q[i], v[i], tau[i], dynamics=method), accelerations[i])
        weight = np.abs(M) @ np.abs(accelerations[i])  # what cancels in a torque
        assert_same(model.mass_matrix(q[i]), M, CANCELLING)
        assert_parts(model, model.inverse_dynamics(q[i], v[i], accelerations[i]), tau[i], 1e-11, weight.max())
    torques = model.inverse_dynamics(q, v, accelerations)
    for i, oracle in oracles.items():
        assert_parts(model, torques[i], tau[i], 1e-11, (np.abs(oracle.mass_matrix()) @ np.abs(accelerations[i])).max())


# ---- dynamics -----------------------------------------------------------------------------------------------------------
def test_the_cases_cover_what_they_should():
    """Every kind of flexible body; inside the tree, at its tips, as its root, welded, on the world and on each other."""
    trees = [case(seed)[0].system.bodies for seed in SEEDS]
    flexible = [(tree, body) for tree in trees for body in tree.values() if body.flexible]
    parents = [{other.parent for other in tree.values()} for tree, _ in flexible]
    assert {id(body.flexible) for _, body in flexible} == {id(body) for body in lumped_bodies().values()}
    welded = [body for _, body in flexible if body.joint.kind == "weld"]
    assert {body.parent is None for body in welded} == {True, False}
    assert any(body.parent is None and body.joint.kind == "free" for _, body in flexible)
    assert {body.name in inner for (_, body), inner in zip(flexible, parents, strict=True)} == {True, False}
    on_flexible = [body for tree in trees for body in tree.values() if body.parent and tree[body.parent].flexible]
    assert {body.node is None for body in on_flexible} == {True, False}
    assert {body.flexible is None for body in on_flexible} == {True, False}
    assert any(body.rest for _, body in flexible)


@pytest.mark.parametrize("seed", SEEDS)
def test_dynamics(seed):
    check_dynamics(seed, "lumped")


@pytest.mark.parametrize("seed", range(12))
def test_dynamics_with_nodes_that_move_to_second_order(seed):
    """The nodes' own curves, which stiffen a body under what they carry; its mass points move linearly here."""
    check_dynamics(seed, "bent nodes")


@pytest.mark.parametrize("seed", range(12))
def test_dynamics_ruthlessly_linearized(seed):
    """Variant zeroth_order: mass matrix and bias of the undeformed body, undeformed places; exact with inertia of points too."""
    check_dynamics(seed, "linearized")


# ---- kinematics ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", ["lumped", "bent nodes", "linearized"])
@pytest.mark.parametrize("seed", range(4, 12))
def test_kinematics(seed, kind):
    """Frames of joints, of mass and of nodes: places, attitudes, velocities; accelerations of joints' frames."""
    twin, model, q, v, a, oracles = case(seed, kind)  # the torques serve as accelerations
    seen = model.bodies(q, v, a)
    for i, oracle in oracles.items():
        for k, (name, body) in enumerate(twin.system.bodies.items()):
            node = oracle.place(k, twin.node(name))
            joint = carried(node, node.R @ twin.bodies[k].hold)
            frames = {(name, None): (seen, k, joint), (name, "mass"): (seen.frames, k, oracle.frames[k])}
            for j, each in enumerate(body.flexible.nodes.names if body.flexible else ()):
                frames[name, each] = seen.nodes[name], j, oracle.place(k, node_of(body.flexible, each))
            for (_, node_name), (ours, at, theirs) in frames.items():
                check_place(model, q[i], v[i], a[i], (name, node_name) if node_name else name, theirs)
                assert_same(ours.position[i, at], theirs.r, SWEEP, 1.0)
                assert_same(ours.attitude[i, at], theirs.R, SWEEP)
                assert_same(ours.velocity[i, at], theirs.v, CANCELLING, 1.0)
                assert_same(ours.rate[i, at], theirs.w, CANCELLING, 1.0)
            assert_same(seen.acceleration[i, k, :3], joint.Jw @ a[i] + joint.aw, CANCELLING, 1.0)
            assert_same(seen.acceleration[i, k, 3:], joint.Jv @ a[i] + joint.av, CANCELLING, 1.0)


def check_place(model, q, v, a, place, theirs):
    """What is asked of one place, and its Jacobian, modal columns included."""
    if place[1] == "mass":                                              # no place that a user can name
        return
    J = np.vstack([theirs.Jw, theirs.Jv])
    assert_same(model.pose(q, place)[0], theirs.r, SWEEP, 1.0)
    assert_same(model.velocity(q, v, place), np.concatenate([theirs.w, theirs.v]), CANCELLING, 1.0)
    assert_same(model.jacobian(q, place), J, CANCELLING, 1.0)
    assert_same(model.acceleration(q, v, a, place), J @ a + np.concatenate([theirs.aw, theirs.av]), CANCELLING, 1.0)
    assert_same(model.acceleration(q, v, None, place), np.concatenate([theirs.aw, theirs.av]), CANCELLING, 1.0)


@pytest.mark.parametrize("seed", range(12, 18))
def test_energy_and_momenta(seed):
    """Of the whole tree, as sums over its points."""
    twin, model, q, v, _, oracles = case(seed)
    gravity = np.array(twin.system.gravity)
    for i, oracle in oracles.items():
        parts = [(mass, place.r, mass * place.v, inertia @ place.w) for mass, inertia, place in oracle._points()]
        mass, r, linear, spin = (np.array(each) for each in zip(*parts, strict=True))
        center = mass @ r / mass.sum()
        angular = (spin + np.cross(r - center, linear)).sum(axis=0)
        strain = sum(
            (x - body.rest) @ body.K @ (x - body.rest) / 2
            for body, x in ((body, oracle._modal(k)[0]) for k, body in enumerate(oracle.bodies) if body.n_modes)
        )
        assert_same(model.center_of_mass(q)[i], center, SWEEP, 1.0)
        assert_same(model.momentum(q, v)[i], np.concatenate([angular, linear.sum(axis=0)]), CANCELLING, np.abs(linear).sum())
        assert_same(model.kinetic_energy(q, v)[i], oracle.kinetic_energy(), CANCELLING)
        assert_same(model.potential_energy(q)[i], strain - mass @ r @ gravity, CANCELLING, strain)


@pytest.mark.parametrize("seed", [4, 5, 10, 11, 17])
def test_reactions(seed):
    """What a joint carries, welds too: the inertia forces of all points beyond it less gravity, about the joint's origin."""
    twin, model, q, v, a, oracles = case(seed)
    f, gravity = model.reactions(q, v, a), np.array(twin.system.gravity)
    for i, oracle in oracles.items():
        total = np.zeros((len(twin.bodies), 2, 3))  # moment about the world's origin, force
        for k in reversed(range(len(twin.bodies))):
            for mass, inertia, place in oracle._points_of(k):
                force = mass * (place.Jv @ a[i] + place.av - gravity)
                couple = inertia @ (place.Jw @ a[i] + place.aw) + np.cross(place.w, inertia @ place.w)
                total[k] += couple + np.cross(place.r, force), force
            if twin.bodies[k].parent >= 0:
                total[twin.bodies[k].parent] += total[k]
            node = oracle.place(k, twin.node(twin.names[k]))
            joint = carried(node, node.R @ twin.bodies[k].hold)
            moment, force = total[k]
            theirs = np.array([moment - np.cross(joint.r, force), force]) @ joint.R
            assert_same(f[i, k], theirs.ravel(), CANCELLING)


# ---- loads --------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("frame", ["body", "world"])
@pytest.mark.parametrize("seed", range(12, 18))
def test_wrenches(seed, frame):
    """On bodies and at nodes, with each evaluation and described, in axes of the body (of the node, where there is one) and of the
    world; described ones beside the node too. The inboard node stands for a flexible body."""
    twin, _, q, v, tau, _ = case(seed)
    rng, given, described = np.random.default_rng(seed), {}, {}
    for name, body in twin.system.bodies.items():
        if body.flexible is None or body.flexible.inboard is not None:
            given[name], described[name, None] = rng.normal(size=(2, 6))
        if body.flexible is not None:
            node = str(rng.choice(body.flexible.nodes.names))
            given[name, node], described[name, node] = rng.normal(size=(2, 6))
    system, arm = twin.system.copy(), rng.normal(size=3)
    for k, ((name, node), wrench) in enumerate(described.items()):
        system.wrench(f"w{k}", body=name, node=node, moment=wrench[:3], force=wrench[3:], at=arm, frame=frame)
    model = system.compile()
    batch = {method: model.forward_dynamics(q, v, tau, wrenches=given, frame=frame, dynamics=method) for method in METHODS}
    for i in (0, 3):
        oracle, loads = twin.oracle(q[i], v[i]), []
        places = [(key if isinstance(key, tuple) else (key, None), wrench, np.zeros(3)) for key, wrench in given.items()]
        for (name, node), wrench, offset in [*places, *((key, wrench, arm) for key, wrench in described.items())]:
            index, at = twin.names.index(name), twin.node(name, node)
            R = oracle.place(index, at).R
            moment, force = wrench.reshape(2, 3) @ (R.T if frame == "body" else np.eye(3))
            loads.append((index, at, [moment + np.cross(R @ offset, force), force]))
        theirs = oracle.forward_dynamics(tau[i], world_loads=loads)
        for method in METHODS:
            assert_parts(model, batch[method][i], theirs)
        torques = model.inverse_dynamics(q[i], v[i], theirs, wrenches=given, frame=frame)
        assert_parts(model, torques, tau[i], 1e-11, (np.abs(oracle.mass_matrix()) @ np.abs(theirs)).max())


@pytest.mark.parametrize("seed", range(18, 24))
def test_wheels(seed):
    """Wheels on bodies and at nodes, driven and held, as rotors that spin on hinges of their own: the carrier has their
    inertia, so a negative one is welded beside. A held wheel's acceleration is zero."""
    twin, _, q, v, tau, _ = case(seed)
    rng, tree, places = np.random.default_rng(seed), list(twin.bodies), []
    for name, body in twin.system.bodies.items():
        nodes = [None] if body.flexible is None or body.flexible.inboard is not None else []
        if body.flexible is not None:
            nodes.append(str(rng.choice(turning_nodes(body.flexible))))
        places += [(name, node, rng.normal(size=3), j % 2 == 0) for j, node in enumerate(nodes, start=rng.integers(2))]
    system = twin.system.copy()
    for k, (name, node, axis, driven) in enumerate(places):
        e = axis / np.linalg.norm(axis)
        system.wheel(f"w{k}", body=name, node=node, axis=axis, inertia=ROTOR, torque=0.0 if driven else None)
        where = {"parent": twin.names.index(name), "at_node": twin.node(name, node)}
        tree.append(TreeBody(rigid_points(0.0, np.zeros(3), -ROTOR * np.outer(e, e)), **where))
        tree.append(TreeBody(rigid_points(0.0, np.zeros(3), ROTOR * np.outer(e, e)), **where, rotations=(e,)))
    model, count = system.compile(), len(places)
    driven = np.array([each[3] for each in places])
    speeds, motors = 3000 * rng.normal(size=(4, count)), 0.1 * rng.normal(size=(4, count)) * driven
    words = {"wheels": speeds, "motors": motors}
    batch = {method: model.forward_dynamics(q, v, tau, dynamics=method, **words) for method in METHODS}
    spun = {method: model.wheel_accelerations(q, v, tau, dynamics=method, **words) for method in METHODS}
    kept = np.concatenate([np.ones(model.nv, bool), driven])
    for i in (0, 3):
        oracle = NodalOracle(tree, [*q[i], *rng.normal(size=count)], [*v[i], *speeds[i]], gravity=system.gravity)
        M, force = oracle.mass_matrix(), oracle.forces([*tau[i], *motors[i]])
        theirs = np.zeros(model.nv + count)
        theirs[kept] = np.linalg.solve(M[np.ix_(kept, kept)], force[kept])
        for method in METHODS:
            assert_parts(model, batch[method][i], theirs[: model.nv])
            assert_same(spun[method][i], theirs[model.nv :], TOLERANCE, np.abs(theirs).max())
        alone = {key: value[i] for key, value in words.items()}
        assert_parts(model, model.forward_dynamics(q[i], v[i], tau[i], **alone), theirs[: model.nv])
        torques = model.inverse_dynamics(q[i], v[i], theirs[: model.nv], **alone)
        assert_parts(model, torques, tau[i], 1e-11, (np.abs(M) @ np.abs(theirs)).max())
        energy = oracle.kinetic_energy()
        assert_same(model.kinetic_energy(q[i], v[i], wheels=speeds[i]), energy, CANCELLING)


# ---- what is right to second order only -----------------------------------------------------------------------------------
def with_mass_that_bends(rng, modes=3, count=7):
    """A flexible body of arbitrary points and nodes that move to second order, and what the oracle needs beside."""

    def symmetric(*shape):
        found = 0.3 * rng.normal(size=(*shape, modes, modes))
        return found + np.swapaxes(found, -1, -2)

    place, phi = rng.normal(size=(count, 3)), 0.5 * rng.normal(size=(count, 3, modes))
    points = MassPoints(place, rng.uniform(0.1, 0.3, count), np.zeros((count, 3)), np.zeros((count, 3, 3)), phi, np.zeros_like(phi))
    shapes = [np.concatenate([np.zeros((1, 3, modes)), rng.normal(size=(1, 3, modes))]) for _ in range(2)]
    nodes = Nodes(("root", "tip"), np.array([[0.0, 0, 0], [1, 0.2, 0]]), *shapes, (True, True))
    at_points, at_nodes = symmetric(count, 3), [np.concatenate([np.zeros((1, 3, modes, modes)), symmetric(1, 3)]) for _ in range(2)]
    geometric = GeometricStiffness(
        acceleration=np.einsum("N,Nirs->irs", points.mass, at_points),
        gradient=np.einsum("N,Nirs,Nm->imrs", points.mass, at_points, place),
        force=at_nodes[0], moment=at_nodes[1],
    )  # fmt: skip
    K = np.diag(rng.uniform(1, 4, modes))
    body = FlexibleBody(ModalIntegrals.from_points(points), nodes, K, 0.1 * K, np.zeros(modes), "root", points, geometric)
    return body, at_points


def turning_mass(rng):
    """A beam with all the rotary inertia of its sections, and a tip with a large inertia, each about as heavy as it is long."""
    tip = {"tip_mass": 0.2, "tip_com": (0.07, 0.06, 0.04), "tip_inertia": (0.02, 0.03, 0.04)}
    words = {"E": 1.0, "G": 0.4, "Iy": 4.0, "Iz": 6.0, "J": 7.0, "density": 0.01, "area": 80.0, "rotary_inertia": True, **tip}
    body = bough.beam(1.0, modes=5, boundary=str(rng.choice(["cantilever", "free-free"])), elements=3, **words)
    return replace(body, geometric=None), None


@pytest.mark.parametrize("make", [with_mass_that_bends, turning_mass])
@pytest.mark.parametrize("seed", range(3))
def test_forces_are_right_to_first_order_in_the_deformation(seed, make):
    """Kinetic energy is kept to second order in (eta, eta'): with eta, eta' and eta'' of size e, modal forces differ from those
    of the exact motion of the mass by e^2, torques of joints by e^3. Both factors, 4 and 8 from e to e/2, come with corrections
    of e."""
    rng = np.random.default_rng(seed)
    (first, first_bends), (second, second_bends) = make(rng), make(rng)
    twin = Twin(gravity=(1.0, -2.0, 3.0))
    twin.body("base", joint=bough.Free(), **substance(rng))
    twin.body("a", parent="base", joint=bough.Universal("yz"), at=(0.3, 0.1, 0), flexible=first)
    twin.body("b", parent="a", node="tip", joint=bough.Revolute("z"), flexible=second)
    twin.body("c", parent="b", node="tip", joint=bough.Spherical(), at=(0.1, 0.2, 0), **substance(rng))
    for k, bends in ((1, first_bends), (2, second_bends)):
        twin.bodies[k] = replace(twin.bodies[k], point_bends=bends)
    model = twin.system.compile()
    (q, v), a, modal = random_states(model, rng), rng.normal(size=model.nv), modal_places(model)
    a[modal] = v[modal]

    def errors(size):
        scaled = [np.where(places, size * x, x) for x, places in ((q, modal_places(model, "q")), (v, modal), (a, modal))]
        oracle = twin.oracle(*scaled[:2])
        theirs = oracle.mass_matrix() @ scaled[2] - oracle.forces()
        error = np.abs(model.inverse_dynamics(*scaled) - theirs)
        return np.array([error[modal].max(), error[~modal].max()])

    fine = errors(5e-3)
    assert (fine > 1e-12).all()  # far above rounding: there is something to see
    ratio = errors(1e-2) / fine
    assert ratio == pytest.approx([4.0, 8.0], rel=0.15)


def test_what_a_moment_at_a_node_needs_of_the_rotation_vector():
    """A moment that follows a node does the work of its spin: of the node's second-order rotation H only the symmetric part is
    in the rotation vector, the rest comes out of exp(theta): J psi = psi + theta x psi/2 + ... = psi + H eta to first order for
    a beam."""
    body = bough.beam(1.0, EI=(4.0, 6.0), GJ=3.0, polar_inertia=0.01, mass_per_length=1.0, modes=6)
    twin = Twin()
    twin.body("beam", flexible=body)
    eta = 1e-4 * amplitudes(body, 1.0) * np.random.default_rng(2).normal(size=body.n_modes)
    place = twin.oracle(eta, np.zeros(body.n_modes)).place(0, node_of(body, "tip"))
    psi, second = body.nodes.psi[1], np.einsum("irs,s->ir", body.geometric.moment[1], eta)
    assert np.abs(second).max() > 1e-5
    assert_same(place.Jw - psi, second, 1e-3)  # what is left is of second order, some 1e-4 of this
