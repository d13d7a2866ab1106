"""Embedded wheels against an independent witness: each wheel as a real body on a revolute joint.

A wheel is balanced and axisymmetric, so its angle does not matter. A body's mass, mass center and inertia include the
wheel, locked: the carrying body of the witness is what is left when the rotor is taken out. A driven wheel is a rotor
under its motor's torque; a wheel whose speed is held is a rotor whose joint acceleration is zero.
"""
from types import SimpleNamespace

import numpy as np
import pytest

import bough
from tests.support.compare import assert_same, solved_scale, solving
from tests.support.random_systems import random_state, random_system
from tests.support.tolerance import CANCELLING, FORMULA, PRODUCTS

SEEDS = range(24)
ROTOR_MASS, THICKNESS = 0.06, 0.7                    # kg; transverse over axial inertia of a rotor


def point_inertia(mass, r):
    return mass*(r @ r*np.eye(3) - np.outer(r, r))


def without_rotors(body, rotors):
    """Mass, mass center and central inertia of a body less its rotors [(place, inertia)]."""
    com, about_origin = np.array(body.com), np.array(body.inertia) + point_inertia(body.mass, np.array(body.com))
    mass, moment = body.mass, body.mass*com
    for place, inertia in rotors:
        mass, moment = mass - ROTOR_MASS, moment - ROTOR_MASS*place
        about_origin = about_origin - inertia - point_inertia(ROTOR_MASS, place)
    inertia = about_origin - point_inertia(mass, moment/mass)
    return {"mass": mass, "com": moment/mass, "inertia": (inertia + inertia.T)/2, "idealized": True}


def with_real_rotors(system, rng):
    """The witness: wheels taken out of their bodies and put on revolute joints at places of their own."""
    witness, rotors = bough.System("witness", gravity=system.gravity), {name: [] for name in system.bodies}
    for wheel in system.wheels.values():
        across = np.eye(3) - np.outer(wheel.axis, wheel.axis)
        inertia = wheel.inertia*(np.outer(wheel.axis, wheel.axis) + THICKNESS*across)
        rotors[wheel.body].append((rng.uniform(-0.2, 0.2, 3), (inertia + inertia.T)/2))
    for name, body in system.bodies.items():
        place = {"parent": body.parent, "joint": body.joint, "at": body.at, "orient": body.orient}
        witness.body(name, **place, **without_rotors(body, rotors[name]))
    for wheel in system.wheels.values():
        place, inertia = rotors[wheel.body].pop(0)
        turn = bough.Revolute(wheel.axis)
        witness.body(wheel.name, parent=wheel.body, joint=turn, at=place, mass=ROTOR_MASS, inertia=inertia)
    return witness.compile()


def spinning(seed):
    """A random tree with oblique wheels on random bodies (inner, outer, welded; several on one), half of them driven"""
    rng = np.random.default_rng(seed)
    system = random_system(rng, 1 + seed % 7, root=("free", "revolute", "gimbal")[seed % 3], massless=0.0)
    for j in range(1 + seed % 4):
        torque, body = None if (seed + j) % 2 else rng.normal()*0.05, str(rng.choice(list(system.bodies)))
        system.wheel(f"w{j}", body=body, axis=rng.normal(size=3), inertia=rng.uniform(1e-3, 3e-3), torque=torque)
    model, witness = system.compile(), with_real_rotors(system, rng)
    q, v = random_state(model, rng, 5)
    speeds, angles = rng.normal(size=(5, model.nw))*200, rng.uniform(-3, 3, (5, model.nw))
    motors = rng.normal(size=(5, model.nw))*0.1
    driven = np.array([wheel.driven for wheel in system.wheels.values()])
    total = motors*driven + np.array([wheel.torque or 0.0 for wheel in system.wheels.values()])
    return SimpleNamespace(model=model, witness=witness, driven=driven, q=q, v=v, speeds=speeds, motors=motors*driven,
                           torques=total, tau=rng.normal(size=v.shape), a=rng.normal(size=v.shape), n=model.nv,
                           Q=np.hstack([q, angles]), V=np.hstack([v, speeds]))


@pytest.mark.parametrize("method", ["order-n", "dense"])
@pytest.mark.parametrize("seed", SEEDS)
def test_accelerations(seed, method):
    """Joint and wheel accelerations: held rotors are left out of the witness's equations, with zero acceleration."""
    s = spinning(seed)
    arguments = {"wheels": s.speeds, "motors": s.motors, "dynamics": method}
    a = s.model.forward_dynamics(s.q, s.v, s.tau, **arguments)
    wheels = s.model.wheel_accelerations(s.q, s.v, s.tau, **arguments)
    free = np.flatnonzero(np.concatenate([np.ones(s.n, bool), s.driven]))
    for i in range(len(s.q)):
        M, h = s.witness.mass_matrix(s.Q[i])[np.ix_(free, free)], s.witness.bias(s.Q[i], s.V[i])[free]
        torques = np.concatenate([s.tau[i], s.torques[i]])[free]
        theirs = np.zeros(s.n + len(s.driven))
        theirs[free] = np.linalg.solve(M, torques - h)
        scale = solved_scale(M, torques, h)
        assert_same(a[i], theirs[:s.n], solving(M), scale[:s.n].max())
        assert_same(wheels[i], theirs[s.n:], solving(M), scale.max())
        alone = {"wheels": s.speeds[i], "motors": s.motors[i], "dynamics": method}
        single = s.model.forward_dynamics(s.q[i], s.v[i], s.tau[i], **alone)
        assert_same(single, theirs[:s.n], solving(M), scale[:s.n].max())
        single = s.model.wheel_accelerations(s.q[i], s.v[i], s.tau[i], **alone)
        assert_same(single, theirs[s.n:], solving(M), scale.max())


@pytest.mark.parametrize("seed", range(0, 24, 2))
def test_driven_wheels_against_the_witness_forward(seed):
    """Motors on every wheel: forward dynamics of the witness, with the motor torques as joint torques."""
    rng = np.random.default_rng(seed)
    system = random_system(rng, 4, root="free", massless=0.0)
    for j in range(3):
        system.wheel(f"w{j}", body=f"b{j}", axis=rng.normal(size=3), inertia=2e-3, torque=0.0)
    model, witness = system.compile(), with_real_rotors(system, rng)
    q, v = random_state(model, rng)
    speeds, motors, tau = rng.normal(size=3)*100, rng.normal(size=3)*0.1, rng.normal(size=model.nv)
    Q, V = np.concatenate([q, rng.normal(size=3)]), np.concatenate([v, speeds])
    theirs = witness.forward_dynamics(Q, V, np.concatenate([tau, motors]))
    M = witness.mass_matrix(Q)
    scale = solved_scale(M, np.concatenate([tau, motors]), witness.bias(Q, V)).max()
    joints = model.forward_dynamics(q, v, tau, wheels=speeds, motors=motors)
    wheels = model.wheel_accelerations(q, v, tau, wheels=speeds, motors=motors)
    assert_same(np.concatenate([joints, wheels]), theirs, solving(M), scale)


@pytest.mark.parametrize("seed", SEEDS)
def test_torques_and_reactions(seed):
    """Inverse dynamics: driven wheels turn as their motors make them, held ones keep their speed."""
    s = spinning(seed)
    tau = s.model.inverse_dynamics(s.q, s.v, s.a, wheels=s.speeds, motors=s.motors)
    f = s.model.reactions(s.q, s.v, s.a, wheels=s.speeds, motors=s.motors)
    w = s.n + np.flatnonzero(s.driven)
    for i in range(len(s.q)):
        M, h = s.witness.mass_matrix(s.Q[i]), s.witness.bias(s.Q[i], s.V[i])
        a = np.concatenate([s.a[i], np.zeros(len(s.driven))])
        a[w] = np.linalg.solve(M[np.ix_(w, w)], s.torques[i][s.driven] - h[w] - M[w] @ a)       # M_ww a_w = motor - ...
        theirs = s.witness.reactions(s.Q[i], s.V[i], a)[:len(f[i])]
        assert_same(f[i], theirs, CANCELLING)
        assert_same(tau[i], s.witness.inverse_dynamics(s.Q[i], s.V[i], a)[:s.n], CANCELLING, np.abs(theirs).max())


@pytest.mark.parametrize("seed", SEEDS)
def test_energy_and_momentum(seed):
    """Kinetic energy and momenta include the wheels' spin."""
    s = spinning(seed)
    assert_same(s.model.kinetic_energy(s.q, s.v, wheels=s.speeds), s.witness.kinetic_energy(s.Q, s.V), CANCELLING)
    assert_same(s.model.momentum(s.q, s.v, wheels=s.speeds), s.witness.momentum(s.Q, s.V), CANCELLING)
    assert_same(s.model.center_of_mass(s.q), s.witness.center_of_mass(s.Q), CANCELLING)
    assert_same(s.model.potential_energy(s.q), s.witness.potential_energy(s.Q), CANCELLING, 1.0)


def test_torque_free_gyrostat():
    """Euler's equations of a gyrostat: I w' = -w x (I w + h) at constant wheel speed."""
    s, inertia, w = bough.System("gyrostat"), np.diag([3.0, 4.0, 5.0]), np.array([0.3, -0.2, 0.5])
    s.body("bus", joint=bough.Free(), mass=10.0, inertia=inertia)
    s.wheel("rw", body="bus", axis=(1, 2, 2), inertia=0.1, speed=300.0)
    model = s.compile()
    h = 0.1*300.0*np.array([1, 2, 2])/3
    expected = np.linalg.solve(inertia, -np.cross(w, inertia @ w + h))
    a = model.forward_dynamics([1, 2, 3, 0, 0, 0, 1], [0.1, 0.2, 0.3, *w])
    assert_same(a, [0, 0, 0, *expected], FORMULA)
    assert_same(model.momentum([1, 2, 3, 0, 0, 0, 1], [0, 0, 0, *w])[:3], inertia @ w + h, FORMULA)


@pytest.mark.parametrize("method", ["order-n", "dense"])
def test_a_wheel_on_the_ground_turns_alone(method):
    """A driven wheel in a body that is welded to the world: motor torque over inertia, and nothing else moves."""
    s = bough.System("bench", gravity=(0, 0, -9.81))
    s.body("bench", mass=5.0, inertia=(1, 1, 1))
    s.body("arm", parent="bench", joint=bough.Revolute("y"), mass=1.0, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
    still = s.compile().forward_dynamics([0.2], [0.3], dynamics=method)
    s.wheel("rw", body="bench", axis="z", inertia=0.02, torque=0.5, speed=10.0)
    s.wheel("held", body="bench", axis="x", inertia=0.02, speed=100.0)
    model = s.compile()
    for n in (1, 5):
        q, v = np.full((n, 1), 0.2), np.full((n, 1), 0.3)
        assert_same(model.wheel_accelerations(q, v, dynamics=method), np.tile([25.0, 0.0], (n, 1)), PRODUCTS)
        assert_same(model.forward_dynamics(q, v, dynamics=method), np.tile(still, (n, 1)), FORMULA)
