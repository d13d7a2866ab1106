"""What mechanics says of every tree, whatever its joints: round trips, symmetry, energy, invariance.

Hypothesis draws the trees, body by body (`tests.support.strategies`); what fails is shrunk to a small one.
"""
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.spatial.transform import Rotation

import bough
from bough.analyze.equations_of_motion import forward
from tests.support.compare import EPS, assert_same, solved_scale, solving
from tests.support.effort import examples
from tests.support.random_systems import random_state
from tests.support.strategies import trees
from tests.support.tolerance import CANCELLING, SWEEP

few = examples(40)
massless_trees = trees(massless=True)


def rebuilt(system, *, gravity=None, order=None, **changes):
    """The same system with other gravity, another order of bodies, or other words for a body: name={key: value}."""
    new = bough.System(system.name, gravity=system.gravity if gravity is None else gravity)
    for name in order or system.bodies:
        body = system.bodies[name]
        words = {key: getattr(body, key) for key in ("parent", "joint", "at", "orient", "mass", "com", "inertia")}
        new.body(name, **words | changes.get(name, {}))
    return new


def places(model, attribute):
    """Where each body's coordinates are in q (n_q) or v (n_v)."""
    found, at = {}, 0
    for body in model.system.bodies.values():
        n = getattr(body.joint, attribute)
        found[body.name], at = list(range(at, at + n)), at + n
    return found


def reorder(old, new, attribute):
    """Indices that bring entries of the old model's q or v into the new one's order."""
    where = places(old, attribute)
    return [i for name in new.names.bodies for i in where[name]]


# ---- round trips -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("method", ["order-n", "dense"])
@few
@given(massless_trees)
def test_forward_of_inverse_gives_the_acceleration(method, tree):
    """The torques that inverse dynamics finds for an acceleration produce it."""
    system, model, q, v, rng = tree
    a, wrenches = rng.normal(size=model.nv), {name: rng.normal(size=6) for name in list(system.bodies)[-2:]}
    tau = model.inverse_dynamics(q, v, a, wrenches=wrenches)
    again = model.forward_dynamics(q, v, tau, wrenches=wrenches, dynamics=method)
    M, bias = model.mass_matrix(q), model.bias(q, v, wrenches=wrenches)
    assert_same(again, a, solving(M), solved_scale(M, tau, bias).max())


@few
@given(massless_trees)
def test_mass_matrix_times_accelerations_is_the_torque(tree):
    """M M^-1 tau = tau, with M from composite bodies and M^-1 tau from the sweeps: what a torque changes."""
    _, model, q, v, rng = tree
    tau, M, h = rng.normal(size=model.nv), model.mass_matrix(q), model.bias(q, v)
    change = model.forward_dynamics(q, v, tau) - model.forward_dynamics(q, v)
    scale = (np.abs(M) @ solved_scale(M, tau, h)).max()          # both accelerations are that large before they cancel
    assert_same(M @ change, tau, solving(M), scale)


@few
@given(massless_trees)
def test_mass_matrix_is_symmetric_and_positive(tree):
    """Kinetic energy is positive for every motion."""
    _, model, q, _, _ = tree
    M = model.mass_matrix(q)
    assert_same(M, M.T, 4*EPS)
    assert np.linalg.eigvalsh(M)[0] > 0


# ---- energy, power, kinematics ------------------------------------------------------------------------------------
@few
@given(massless_trees)
def test_kinetic_energy_is_half_v_M_v(tree):
    """The bodies' own kinetic energies sum to v'Mv/2."""
    _, model, q, v, _ = tree
    assert_same(model.kinetic_energy(q, v), 0.5*v @ model.mass_matrix(q) @ v, SWEEP)


def moved(model, q, v, dt):
    """q after dt at constant v: exact turns about the angular velocity for quaternions."""
    out, at_q, at_v = q.copy(), 0, 0
    for body in model.system.bodies.values():
        joint = body.joint
        plain = joint.n_v - 3*joint.spherical
        out[at_q:at_q + plain] += dt*v[at_v:at_v + plain]
        if joint.spherical:
            i, j = at_q + plain, at_v + plain
            out[i:i + 4] = (Rotation.from_quat(q[i:i + 4])*Rotation.from_rotvec(dt*v[j:j + 3])).as_quat()
        at_q, at_v = at_q + joint.n_q, at_v + joint.n_v
    return out


@few
@given(massless_trees)
def test_power_in_is_the_rate_of_energy(tree):
    """d(T + V)/dt = tau.v + power of wrenches, T and V by central differences along the motion.

    Along q(dt), v + a dt the energy agrees with that of the true motion to first order in dt, which is what the
    difference at +dt and -dt sees. Richardson's extrapolation of steps h and 2h leaves c h^4 + eps E/h; rates of 1 to
    10 rad/s make c of the order of 1e5 E, so h = 1e-4 leaves 1e-11 and 1e-12 of E, and 1e-8 is a safe bound."""
    system, model, q, v, rng = tree
    tau, name = rng.normal(size=model.nv), list(system.bodies)[-1]
    wrench = rng.normal(size=6)
    a = model.forward_dynamics(q, v, tau, wrenches={name: wrench})
    a *= min(1.0, 10/np.abs(a).max())                # any acceleration will do: inverse dynamics gives its torques
    tau = model.inverse_dynamics(q, v, a, wrenches={name: wrench})

    def energy(dt):
        return model.kinetic_energy(moved(model, q, v, dt), v + dt*a) + model.potential_energy(moved(model, q, v, dt))

    def slope(h):
        return (energy(h) - energy(-h))/(2*h)

    velocity, turn = model.velocity(q, v, name), model.pose(q, name)[1]
    power = tau @ v + velocity[:3] @ turn @ wrench[:3] + velocity[3:] @ turn @ wrench[3:]
    sizes = np.abs(tau) @ np.abs(v) + model.kinetic_energy(q, v) + abs(model.potential_energy(q))
    assert_same((4*slope(1e-4) - slope(2e-4))/3, power, 1e-8, sizes)


@few
@given(massless_trees)
def test_jacobian_times_v_is_velocity(tree):
    """A body's velocity is linear in v."""
    system, model, q, v, rng = tree
    for name in system.bodies:
        velocity, turn, point = model.velocity(q, v, name), model.pose(q, name)[1], rng.normal(size=3)
        assert_same(model.jacobian(q, name) @ v, velocity, SWEEP)
        at_point = np.concatenate([velocity[:3], velocity[3:] + np.cross(velocity[:3], turn @ point)])
        assert_same(model.jacobian(q, name, point) @ v, at_point, SWEEP)
        assert_same(model.jacobian_rate(q, v, name, point) @ v, model.acceleration(q, v, None, name, point), CANCELLING, 1.0)


@few
@given(massless_trees)
def test_reactions_do_the_torques_work(tree):
    """Along a joint's free directions the reaction is the joint torque; the free directions are those that the
    Jacobians of child and parent differ by."""
    system, model, q, v, rng = tree
    a = rng.normal(size=model.nv)
    tau, f = model.inverse_dynamics(q, v, a), model.reactions(q, v, a)
    where = places(model, "n_v")
    for k, (name, body) in enumerate(system.bodies.items()):
        p, turn = model.pose(q, name)
        relative = model.jacobian(q, name)
        if body.parent:
            place, attitude = model.pose(q, body.parent)
            relative = relative - model.jacobian(q, body.parent, attitude.T @ (p - place))
        free = np.vstack([turn.T @ relative[:3], turn.T @ relative[3:]])[:, where[name]]
        assert_same(free.T @ f[k], tau[where[name]], CANCELLING, np.abs(f[k]).max())


# ---- invariance ---------------------------------------------------------------------------------------------------
@few
@given(massless_trees)
def test_order_of_description_does_not_matter(tree):
    """Bodies may be described in any order, children before parents too."""
    system, model, q, v, rng = tree
    tau = rng.normal(size=model.nv)
    other = rebuilt(system, order=[str(name) for name in rng.permutation(list(system.bodies))]).compile()
    iq, iv = reorder(model, other, "n_q"), reorder(model, other, "n_v")
    M, bias = model.mass_matrix(q), model.bias(q, v)
    theirs = model.forward_dynamics(q, v, tau)[iv]
    assert_same(other.forward_dynamics(q[iq], v[iv], tau[iv]), theirs, solving(M), solved_scale(M, tau, bias).max())
    assert_same(other.mass_matrix(q[iq]), M[np.ix_(iv, iv)], SWEEP)
    order = [model.names.bodies.index(name) for name in other.names.bodies]
    assert_same(other.reactions(q[iq], v[iv], 0*v), model.reactions(q, v, 0*v)[order], CANCELLING)


@few
@given(massless_trees)
def test_a_turned_world_turns_everything(tree):
    """Gravity and the roots' places turned alike: joint accelerations stay, world vectors turn along."""
    system, model, q, v, _ = tree
    turn = Rotation.random(random_state=len(system.bodies))
    roots = {name: {"at": turn.apply(body.at), "orient": (turn*Rotation.from_quat(body.orient)).as_quat()}
             for name, body in system.bodies.items() if not body.parent}
    other = rebuilt(system, gravity=turn.apply(system.gravity), **roots).compile()
    M, bias = model.mass_matrix(q), model.bias(q, v)
    weight = sum(body.mass for body in system.bodies.values())*np.linalg.norm(system.gravity)      # which a hinge may cancel
    scale = solved_scale(M, bias, np.full(model.nv, weight)).max()
    assert_same(other.forward_dynamics(q, v), model.forward_dynamics(q, v), solving(M), scale)
    for ours, theirs in ((other.momentum(q, v), model.momentum(q, v)),
                         (other.velocity(q, v, "b0"), model.velocity(q, v, "b0"))):
        assert_same(ours, np.concatenate([turn.apply(theirs[:3]), turn.apply(theirs[3:])]), CANCELLING)
    assert_same(other.center_of_mass(q), turn.apply(model.center_of_mass(q)), CANCELLING, 1.0)


@few
@given(trees())
def test_a_split_body_is_the_body(tree):
    """Two halves welded together, the second in a frame of its own, are the one body: mass and inertia add up."""
    system, model, q, v, rng = tree
    name = str(rng.choice(list(system.bodies)))
    body, share, offset = system.bodies[name], rng.uniform(0.2, 0.8), rng.normal(size=3)*0.02
    masses = share*body.mass, (1 - share)*body.mass
    coms = np.array(body.com) + offset*(1 - share), np.array(body.com) - offset*share       # they balance about com
    apart = sum(m*((c - body.com) @ (c - body.com)*np.eye(3) - np.outer(c - body.com, c - body.com))
                for m, c in zip(masses, coms, strict=True))
    central = np.array(body.inertia) - apart
    turn, at = Rotation.random(random_state=3), rng.normal(size=3)
    split = rebuilt(system, **{name: {"mass": masses[0], "com": coms[0], "inertia": central/2}})
    inertia = turn.inv().as_matrix() @ (central/2) @ turn.as_matrix()
    split.body("half", parent=name, at=at, orient=turn.as_quat(), mass=masses[1], com=turn.inv().apply(coms[1] - at),
               inertia=(inertia + inertia.T)/2)
    other, tau = split.compile(), rng.normal(size=model.nv)
    M, bias = model.mass_matrix(q), model.bias(q, v)
    assert_same(other.mass_matrix(q), M, CANCELLING)
    ours, theirs = other.forward_dynamics(q, v, tau), model.forward_dynamics(q, v, tau)
    assert_same(ours, theirs, solving(M), solved_scale(M, tau, bias).max())
    assert_same(other.momentum(q, v), model.momentum(q, v), CANCELLING)
    assert_same(other.reactions(q, v, 0*v)[:-1], model.reactions(q, v, 0*v), CANCELLING)


@few
@given(massless_trees, st.integers(4, 9))
def test_a_lane_is_the_single_evaluation(tree, n):
    """A state of a batch gives what it gives alone. One state and four lanes are compiled apart (sums may be contracted
    differently), so a few roundings may differ, which solving magnifies."""
    _, model, _, _, rng = tree
    q, v = random_state(model, rng, n)
    tau = rng.normal(size=v.shape)
    forward, dense = (model.forward_dynamics(q, v, tau, dynamics=method) for method in ("order-n", "dense"))
    inverse, M, f = model.inverse_dynamics(q, v, tau), model.mass_matrix(q), model.reactions(q, v, tau)
    i = int(rng.integers(n))
    tolerance = max(SWEEP, solving(M[i], 0.0)/10)    # the same sums in another order: a few of the 30 roundings differ
    scale = solved_scale(M[i], tau[i], model.bias(q[i], v[i])).max()
    assert_same(forward[i], model.forward_dynamics(q[i], v[i], tau[i]), tolerance, scale)
    assert_same(dense[i], model.forward_dynamics(q[i], v[i], tau[i], dynamics="dense"), tolerance, scale)
    assert_same(inverse[i], model.inverse_dynamics(q[i], v[i], tau[i]), SWEEP)
    assert_same(M[i], model.mass_matrix(q[i]), SWEEP)
    assert_same(f[i], model.reactions(q[i], v[i], tau[i]), SWEEP)
    assert_same(model.momentum(q, v)[i], model.momentum(q[i], v[i]), SWEEP)
    assert_same(model.kinetic_energy(q, v)[i], model.kinetic_energy(q[i], v[i]), SWEEP)


@few
@given(trees(), st.integers(2, 9))
def test_each_lane_may_have_its_own_parameters(tree, n):
    """Masses, mass centers, inertias and places that differ from state to state: each as in a model of its own."""
    system, model, _, _, rng = tree
    q, v = random_state(model, rng, n)
    name = str(rng.choice(list(system.bodies)))
    factor, inertia = rng.uniform(0.5, 2.0, n), np.array(system.bodies[name].inertia)
    changes = {f"{name}.mass": factor*system.bodies[name].mass, f"{name}.com": rng.uniform(-0.1, 0.1, (n, 3)),
               f"{name}.inertia": factor[:, None, None]*inertia, f"{name}.at": rng.uniform(-0.1, 0.1, (n, 3))}
    batch = model.batch(q, v)
    batch = replace(batch, tables=replace(batch.tables, pars=model.parameter_tables(changes)))
    for method in ("order-n", "dense"):
        together = forward(model, batch, method).rows
        for i in range(n):
            own = model.with_parameters({key: values[i] for key, values in changes.items()})
            M, bias = own.mass_matrix(q[i]), own.bias(q[i], v[i])
            assert_same(together[i], own.forward_dynamics(q[i], v[i]), solving(M), solved_scale(M, bias).max())
