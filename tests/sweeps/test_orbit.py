"""Central gravity against its potential, differentiated numerically with 60 digits.

    U = -mu m/d - mu (tr J - 3 d.J d/d^2)/(2 d^3)        a body of mass m with its mass center at d, J about it

Forces on the bodies differ by parts in 1e7 and less in a low orbit, which is what moves the tree: doubles would lose
it. The witness is the same tree without gravity, under these forces less what accelerates the mass center, as wrenches.
"""
from decimal import Decimal, localcontext

import numpy as np
import pytest

import bough
from bough.analyze.equations_of_motion import forward
from tests.support.compare import assert_same, solved, solved_scale, solving
from tests.support.random_systems import random_state, random_system
from tests.support.tolerance import FORMULA, PRODUCTS, SWEEP

EARTH, LOW_ORBIT = 3.986004418e14, (4.1e6, -3.2e6, 4.7e6)
PEBBLES, NEAR = 30.0, (25.0, -18.0, 30.0)            # the size of a tree is no longer small against the distance
DIGITS, STEP = 60, Decimal("1e-15")


def exact(array):
    """Doubles as exact decimals."""
    return np.vectorize(Decimal, otypes=[object])(np.asarray(array, float))


def potential(mu, m, d, J):
    """U of one body."""
    d2 = d @ d
    length = d2.sqrt()
    return -mu*m/length - mu*(np.trace(J) - 3*(d @ J @ d)/d2)/(2*d2*length)


def slope(function):
    return (function(STEP) - function(-STEP))/(2*STEP)


def turned(J, axis, angle):
    """J turned by a small angle about an axis, to second order."""
    S = exact(np.cross(np.eye(3), np.eye(3)[axis]))
    E = exact(np.eye(3)) + angle*S + angle*angle/2*(S @ S)
    return E @ J @ E.T


def gravity_of(mu, m, d, J):
    """Force and torque about the mass center: minus the slopes of U along and about the axes; d is decimal already."""
    mu, m, J = Decimal(mu), Decimal(m), exact(J)
    unit = exact(np.eye(3))
    force = [-slope(lambda h, i=i: potential(mu, m, d + h*unit[i], J)) for i in range(3)]
    torque = [-slope(lambda h, i=i: potential(mu, m, d, turned(J, i, h))) for i in range(3)]
    return np.array(force), np.array(torque)


def witness_loads(system, model, q, R, thrust=0):
    """World-axes wrenches on the bodies' origins in the frame of the mass center, and that frame's acceleration."""
    with localcontext() as context:
        context.prec = DIGITS
        forces, torques, arms = {}, {}, {}
        for name, body in system.bodies.items():
            p, C = model.pose(q, name)
            arms[name] = exact(C @ body.com)
            if body.mass:
                J = C @ np.array(body.inertia) @ C.T
                d = exact(R) + exact(p) + arms[name]
                forces[name], torques[name] = gravity_of(system.gravity.mu, body.mass, d, J)
        total = sum(Decimal(system.bodies[name].mass) for name in forces)
        a = (sum(forces.values()) + exact(np.zeros(3) + thrust))/total
        wrenches = {}
        for name, force in forces.items():
            rest = force - Decimal(system.bodies[name].mass)*a
            wrenches[name] = np.array([*(torques[name] + np.cross(arms[name], rest)), *rest]).astype(float)
        return wrenches, a.astype(float)


def floating_tree(seed, mu, R, *, kinds, wheels=0, n=None):
    """A floating tree in orbit and in nothing, and a state with the mass center in the frame's origin."""
    rng = np.random.default_rng(seed)
    drawn = random_system(rng, n or 2 + seed % 5, root="free", kinds=kinds, massless=0.2)
    both = bough.System("orbiter", gravity=bough.CentralGravity(mu, R, (1.0, 2.0, 3.0))), bough.System("nowhere")
    for system in both:
        for body in drawn.bodies.values():
            words = {key: getattr(body, key) for key in ("joint", "at", "orient", "mass", "com", "inertia")}
            place = {} if body.parent else {"at": (0, 0, 0), "orient": None}
            system.body(body.name, parent=body.parent, **words | place)
        heavy = [body.name for body in drawn.bodies.values() if body.mass]
        for j in range(wheels):
            system.wheel(f"w{j}", body=heavy[j % len(heavy)], axis=(1, j, 2), inertia=4e-3, speed=50.0, torque=0.01)
    model = both[0].compile()
    q, v = random_state(model, rng)
    q[:3] -= model.center_of_mass(q)
    return both[0], model, both[1].compile(), q, v*0.01, rng


def assert_orbit(model, q, v, tau, expected, orbit_acceleration, tolerance, **loads):
    """Both methods, alone and in lanes, agree with what is expected; so does the orbit."""
    M = model.mass_matrix(q)
    scale = solved_scale(M, tau, model.bias(q, v)).max()
    for method in ("order-n", "dense"):
        for states in (q, v), (np.tile(q, (5, 1)), np.tile(v, (5, 1))):
            out = forward(model, model.batch(*states, tau, **loads), method).rows
            for row in out:
                assert_same(row[:model.nv], expected, max(tolerance, solving(M, 0.0)), scale)
                assert_same(row[-6:-3], (1.0, 2.0, 3.0), PRODUCTS)
                assert_same(row[-3:], orbit_acceleration, FORMULA)


WITHOUT_WELDS = ("revolute", "prismatic", "universal", "planar", "gimbal", "spherical", "general")


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize(("mu", "R"), [(EARTH, LOW_ORBIT), (PEBBLES, NEAR)])
def test_accelerations(seed, mu, R):
    """Tree and orbit accelerate as the potential says, under joint torques inside the tree.

    The pull on a tree in low orbit is found to 1e-16 of mu m/R^2 times size/R: no digits are lost to cancellation."""
    system, model, nowhere, q, v, rng = floating_tree(seed, mu, R, kinds=WITHOUT_WELDS)
    tau = np.concatenate([np.zeros(6), rng.normal(size=model.nv - 6)*1e-6])
    wrenches, a = witness_loads(system, model, q, R)
    expected = nowhere.forward_dynamics(q, v*0, tau, wrenches=wrenches, frame="world")
    assert_orbit(model, q, v*0, tau, expected, a, 1e-12)
    moving = nowhere.forward_dynamics(q, v, tau, wrenches=wrenches, frame="world")
    assert_orbit(model, q, v, tau, moving, a, 1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_welded_bodies(seed):
    """Welded bodies are one body, but gravity pulls at each of them."""
    kinds = ("weld", "revolute", "spherical")
    system, model, nowhere, q, v, _ = floating_tree(seed, EARTH, LOW_ORBIT, kinds=kinds, n=6)
    wrenches, _ = witness_loads(system, model, q, LOW_ORBIT)
    expected = nowhere.forward_dynamics(q, 0*v, wrenches=wrenches, frame="world")
    assert_same(model.forward_dynamics(q, 0*v), expected, solving(model.mass_matrix(q)))


@pytest.mark.parametrize("seed", range(5))
def test_external_forces_move_the_orbit(seed):
    """A thruster's force and a force on the root's joint accelerate the mass center; the tree turns about it."""
    system, model, nowhere, q, v, rng = floating_tree(seed, PEBBLES, NEAR, kinds=WITHOUT_WELDS)
    name, thrust, tau = list(system.bodies)[-1], rng.normal(size=6), rng.normal(size=model.nv)
    wrenches, a = witness_loads(system, model, q, NEAR, thrust[3:] + tau[:3])
    wrenches[name] = wrenches.get(name, 0.0) + thrust
    expected = nowhere.forward_dynamics(q, v, tau, wrenches=wrenches, frame="world")
    assert_orbit(model, q, v, tau, expected, a, 1e-12, wrenches={name: thrust}, frame="world")


@pytest.mark.parametrize("seed", range(5))
def test_driven_wheels_in_orbit(seed):
    """Gravity pulls a body with all its wheels in it, whether they turn freely or not."""
    system, model, nowhere, q, v, _ = floating_tree(seed, PEBBLES, NEAR, kinds=WITHOUT_WELDS, wheels=2)
    wrenches, a = witness_loads(system, model, q, NEAR)
    expected = nowhere.forward_dynamics(q, v, wrenches=wrenches, frame="world")
    assert_orbit(model, q, v, np.zeros(model.nv), expected, a, 1e-12)


def test_a_body_of_inertia_alone_is_refused():
    """It has no mass center for gravity to pull at."""
    s = bough.System("rotor", gravity=bough.CentralGravity(EARTH, LOW_ORBIT, (0, 7500, 0)))
    s.body("bus", joint=bough.Free(), mass=100.0, inertia=(20, 30, 40))
    s.body("disc", parent="bus", joint=bough.Revolute("z"), inertia=(0.1, 0.1, 0.2), idealized=True)
    with pytest.raises(bough.ModelError, match="'disc' has inertia but no mass"):
        s.compile()


@pytest.mark.parametrize("seed", range(5))
def test_mass_center_stays(seed):
    """In the tree's frame the mass center has no acceleration, whatever pulls: m a of all bodies sum to zero."""
    system, model, _, q, v, rng = floating_tree(seed, EARTH, LOW_ORBIT, kinds=WITHOUT_WELDS)
    tau = rng.normal(size=model.nv)
    wrenches = {name: rng.normal(size=6) for name in list(system.bodies)[:2]}
    a = model.forward_dynamics(q, v, tau, wrenches=wrenches)
    seen = model.bodies(q, v, a)
    arm, rate = (seen.com - seen.position)[0], seen.rate[0]
    alpha, acceleration = np.split(seen.acceleration[0], 2, axis=1)
    acceleration = acceleration + np.cross(alpha, arm) + np.cross(rate, np.cross(rate, arm))
    M = model.mass_matrix(q)
    largest = np.abs(seen.mass[:, None]*acceleration).max() + np.abs(tau).max()
    assert_same(seen.mass @ acceleration, np.zeros(3), 100*solving(M, 0.0), largest)


def test_gravity_gradient_of_one_body():
    """The torque on a body in its orbit is 3 mu/R^3 times R^ x J R^, with R^ the direction of the radius."""
    J, R = np.array([[20.0, 2.0, -1.0], [2.0, 30.0, 3.0], [-1.0, 3.0, 40.0]]), np.array(LOW_ORBIT)
    s = bough.System("bus", gravity=bough.CentralGravity(EARTH, R, (0, 7500, 0)))
    s.body("bus", joint=bough.Free(), mass=100.0, com=(0.1, 0.2, 0.3), inertia=J)
    model, r = s.compile(), R/np.linalg.norm(R)
    q = np.array([-0.1, -0.2, -0.3, 0, 0, 0, 1])
    torque = 3*EARTH/np.linalg.norm(R)**3*np.cross(r, J @ r)
    assert_same(model.forward_dynamics(q, np.zeros(6))[3:], np.linalg.solve(J, torque), SWEEP)
    w = np.array([0.01, 0.02, 0.03])
    spun = model.forward_dynamics(q, np.concatenate([np.zeros(3), w]))[3:]
    assert_same(spun, np.linalg.solve(J, torque - np.cross(w, J @ w)), SWEEP)


def test_a_cloud_of_point_masses():
    """A body made of point masses, each pulled by Newton's law: the potential leaves out size/R of the torque."""
    rng = np.random.default_rng(5)
    points, m, R = rng.uniform(-2, 2, (8, 3)), rng.uniform(1, 5, 8), np.array(LOW_ORBIT)
    points -= m @ points/m.sum()
    J = sum(k*(r @ r*np.eye(3) - np.outer(r, r)) for k, r in zip(m, points, strict=True))
    s = bough.System("cloud", gravity=bough.CentralGravity(EARTH, R, (0, 7500, 0)))
    s.body("cloud", joint=bough.Free(), mass=m.sum(), inertia=(J + J.T)/2)
    with localcontext() as context:
        context.prec = DIGITS
        places = exact(R) + exact(points)
        pulls = [-Decimal(EARTH)*Decimal(k)*d/((d @ d)*(d @ d).sqrt()) for k, d in zip(m, places, strict=True)]
        torque = sum(np.cross(r, f) for r, f in zip(exact(points), pulls, strict=True)).astype(float)
    a = s.compile().forward_dynamics([0, 0, 0, 0, 0, 0, 1], np.zeros(6))
    assert_same(a[3:], np.linalg.solve(J, torque), 10*2/np.linalg.norm(R))


@pytest.mark.parametrize("seed", range(4))
def test_potential_energy(seed):
    """The sum of U over the bodies."""
    system, model, _, q, _, _ = floating_tree(seed, PEBBLES, NEAR, kinds=WITHOUT_WELDS)
    energy = 0.0
    for name, body in system.bodies.items():
        p, C = model.pose(q, name)
        d = exact(np.array(NEAR) + p + C @ body.com)
        energy += float(potential(Decimal(PEBBLES), Decimal(body.mass), d, exact(C @ np.array(body.inertia) @ C.T)))
    assert_same(model.potential_energy(q), energy, SWEEP)
    assert_same(model.potential_energy(np.tile(q, (5, 1)))[4], energy, SWEEP)


def test_inverse_dynamics_in_orbit():
    """Torques inside the tree come back from the accelerations that they gave."""
    _, model, _, q, v, rng = floating_tree(3, EARTH, LOW_ORBIT, kinds=WITHOUT_WELDS)
    tau = np.concatenate([np.zeros(6), rng.normal(size=model.nv - 6)])
    again = model.inverse_dynamics(q, v, model.forward_dynamics(q, v, tau))
    assert_same(again, tau, solving(model.mass_matrix(q)))


def test_each_state_has_its_own_orbit():
    """`orbit` may differ from row to row; without it the description's counts."""
    _, model, _, q, v, rng = floating_tree(1, EARTH, LOW_ORBIT, kinds=WITHOUT_WELDS)
    orbits = np.hstack([rng.normal(size=(5, 3))*7e6, rng.normal(size=(5, 3))])
    together = model.forward_dynamics(np.tile(q, (5, 1)), 0*v, orbit=orbits)
    for row, orbit in zip(together, orbits, strict=True):
        assert_same(row, model.forward_dynamics(q, 0*v, orbit=orbit), solved(model, q))
    assert np.ptp(together, axis=0).max() > 0.1*np.abs(together).max()
    assert_same(model.forward_dynamics(q, 0*v, orbit=[*LOW_ORBIT, 0, 0, 0]), model.forward_dynamics(q, 0*v), PRODUCTS)
