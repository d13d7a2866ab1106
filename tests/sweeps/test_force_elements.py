"""Force elements in the dynamics: as wrenches of the caller on the bare model, by either method, in lanes, with loops and modes."""
import numpy as np
import pytest

import bough
from bough.analyze.loop_constraints import moved
from tests.support import element_laws as laws
from tests.support.compare import EPS, assert_same, solved
from tests.support.element_systems import ACROSS, GRAVITY, MOORED, WATER, add_all, add_buoyancy, add_lines, add_restoring, chain
from tests.support.peers import peer
from tests.support.random_systems import random_state
from tests.support.tolerance import STEPPED, quotient

BARE = chain().compile()
ADDERS = {"lines": add_lines, "restoring": add_restoring, "buoyancy": add_buoyancy, "all": add_all}


def neutral_point(model, restoring):
    """Where the point of a restoring is at neutral coordinates."""
    return laws.motion(model, model.q0, model.v0, restoring.body, restoring.at, restoring.node)[2]


def wrenches(model, bare, q, v):
    """What all elements of a model do in one state: {place: [moment, force] about its origin, world axes}."""
    found, s = {}, model.system
    for line in s.lines.values():
        for place, wrench in laws.line(bare, q, v, line)[1]:
            found[place] = found.get(place, 0.0) + wrench
    for restoring in s.restorings.values():
        rest = neutral_point(bare, restoring) if restoring.rest is None else restoring.rest
        place = restoring.body if restoring.node is None else (restoring.body, restoring.node)
        found[place] = found.get(place, 0.0) + laws.restoring(bare, q, v, restoring, rest)[1]
    for hull in s.buoyancies.values():
        origin, R, _, _ = laws.motion(bare, q, v, hull.body, (0, 0, 0))
        for low, high, diameter, _ in hull.sections:
            found[hull.body] = found.get(hull.body, 0.0) + laws.cylinder(diameter/2, low, high, origin, R[:, 2], hull.level, WATER,
                                                                         GRAVITY)
    return found


def acceleration_bound(bare, q, by):
    """How far off accelerations may be: forces to 1e-11 of themselves (quadrature), through M^-1."""
    sizes = sum(np.abs(wrench).max() for wrench in by.values()) + np.abs(bare.bias(q, np.zeros(bare.nv))).max()
    return 1e-11*sizes*np.abs(np.linalg.inv(bare.mass_matrix(q))).sum(axis=1).max()


@pytest.mark.parametrize("kind", ADDERS)
def test_as_wrenches_on_the_bare_model(kind):
    """Forward dynamics by both methods, for one state and in lanes; inverse dynamics and reactions."""
    model = chain(ADDERS[kind]).compile()
    q, v = random_state(model, np.random.default_rng(1), 6)
    for method in ("order-n", "dense"):
        lanes = model.forward_dynamics(q, v, dynamics=method)
        for i in range(6):
            by = wrenches(model, BARE, q[i], v[i])
            a, bound = BARE.forward_dynamics(q[i], v[i], wrenches=by, frame="world"), acceleration_bound(BARE, q[i], by)
            for ours in (lanes[i], model.forward_dynamics(q[i], v[i], dynamics=method)):
                np.testing.assert_allclose(ours, a, rtol=0, atol=bound)
            scale = max(np.abs(term).max() for term in (BARE.bias(q[i], v[i]), BARE.inverse_dynamics(q[i], v[i], a)))
            assert_same(model.inverse_dynamics(q[i], v[i], a), 0*v[i], solved(BARE, q[i]), scale)
            f = BARE.reactions(q[i], v[i], a, wrenches=by, frame="world")
            assert_same(model.reactions(q[i], v[i], a), f, 1e-11)                           # as its forces: quadrature


def test_one_state_and_four_lanes_are_the_same():
    """The same source: differences are rounding of sums in another order."""
    model = chain(add_all).compile()
    q, v = random_state(model, np.random.default_rng(2), 8)
    together = model.element_forces(q, v)
    for i in range(8):
        for name, alone in model.element_forces(q[i], v[i]).items():
            assert_same(together[name][i], alone, 100*EPS, np.abs(alone).max() or 1.0)


@pytest.mark.oracle
def test_pinocchio_under_the_same_wrenches():
    """Accelerations of another engine, which places the bodies and wrenches by itself."""
    model = chain(add_all).compile()
    oracle = peer("Pinocchio", chain())
    for i in range(4):
        q, v = random_state(model, np.random.default_rng(i + 20))
        by = wrenches(model, BARE, q, v)
        theirs = oracle.forward_dynamics(q, v, np.zeros(model.nv), oracle.in_body_axes(q, by))
        np.testing.assert_allclose(model.forward_dynamics(q, v), theirs, rtol=0, atol=10*acceleration_bound(BARE, q, by))


def generalized(model, bare, q, v):
    """What elements do along each speed."""
    return bare.bias(q, v) - model.bias(q, v)


def gradient(model, bare, q, step=1e-5):
    """Of the elements' potential energy, by central differences along each speed."""
    steps = step*np.eye(model.nv)
    at = [[m.potential_energy(moved(m, q, side*e)) for m in (model, bare)] for e in steps for side in (1, -1)]
    energy = np.array(at)[:, 0] - np.array(at)[:, 1]
    return (energy[::2] - energy[1::2])/(2*step)


def gradient_bound(model, bare, q, force, rate=2.0):
    """Of `gradient`: slopes as large as the force; elements that turn or are stretched change theirs at a rate of two a radian or
    meter at most; rounding is that of both energies."""
    energies = abs(model.potential_energy(q)) + abs(bare.potential_energy(q))
    return quotient(1e-5, energies, np.abs(force).max(), rate)


def conservative(s):
    """Lines without damping, a restoring without moments, floats: all that has a potential."""
    K = np.zeros((6, 6))
    K[:3, :3] = [[50, 5, 3], [5, 60, 4], [3, 4, 70]]
    s.line("moored", **MOORED, stiffness=20.0, length=1.0)
    s.line("across", **ACROSS, stiffness=30.0, length=0.1, slack=True)
    s.restoring("tether", body="tool", at=(0.1, -0.2, 0.5), stiffness=K, force=(1, 2, 3))
    add_buoyancy(s)


@pytest.mark.parametrize("seed", range(6))
def test_forces_are_the_gradient_of_the_potential(seed):
    """Along every speed: also of floats that are cut through an end, or capsized."""
    model = chain(conservative).compile()
    q, _ = random_state(model, np.random.default_rng(seed))
    Q = generalized(model, BARE, q, np.zeros(model.nv))
    np.testing.assert_allclose(Q, -gradient(model, BARE, q), rtol=0, atol=gradient_bound(model, BARE, q, Q))


def test_dampers_take_what_the_energy_loses():
    """Power of the elements = -dU/dt - c rate^2."""
    def damped(s):
        s.line("across", **ACROSS, stiffness=30.0, length=0.5, damping=7.0)
    model, h = chain(damped).compile(), 1e-5
    line = model.system.lines["across"].model_copy(update={"damping": 0.0})
    for seed in range(4):
        q, v = random_state(model, np.random.default_rng(seed))
        before, after = (laws.line(BARE, moved(BARE, q, side*h*v), v, line)[0] for side in (-1, 1))
        rate = (after - before)/(2*h*line.stiffness)
        Q, lost = generalized(model, BARE, q, v), -gradient(model, BARE, q) @ v
        bound = gradient_bound(model, BARE, q, Q)*np.abs(v).sum()
        np.testing.assert_allclose(Q @ v, lost - 7.0*rate**2, rtol=0, atol=bound)


def test_a_loaded_node_of_a_beam():
    """Lines and a restoring at nodes act through the modes; their forces are the gradient of the potential."""
    def beamed(elements):
        s = bough.System("boom", gravity=(0, 0, -9.81))
        boom = bough.beam(4.0, EI=800, GJ=300, polar_inertia=0.02, mass_per_length=1.5, modes=4, nodes={"middle": 2.0})
        free = bough.beam(1.5, EI=60, mass_per_length=0.8, modes=3, boundary="free-free")
        s.body("hub", joint=bough.Revolute("z"), mass=5.0, inertia=(1, 1, 1))
        s.body("boom", parent="hub", joint=bough.Revolute("y"), flexible=boom)
        s.body("mast", parent="boom", node="tip", joint=bough.Revolute("z"), flexible=free)
        if elements:
            s.line("stay", a=bough.Frame("world", at=(1, 2, 3)), b=bough.Frame("boom", node="middle", at=(0, 0.1, 0)),
                   stiffness=90.0, length=1.0)
            s.line("brace", a=bough.Frame("boom", node="middle"), b=bough.Frame("boom", node="tip"), stiffness=70.0, length=1.5)
            s.line("halyard", a="hub", b=bough.Frame("mast", node="tip"), stiffness=20.0, length=1.0)
            s.restoring("spring", body="mast", node="tip", at=(0.1, 0, 0), stiffness=(30, 40, 50, 0, 0, 0))
            s.restoring("root", body="mast", stiffness=(30, 40, 50, 0, 0, 0))
        return s.compile()
    model, bare = beamed(True), beamed(False)
    for seed in range(3):
        rng = np.random.default_rng(seed)
        q, v = rng.uniform(-0.5, 0.5, model.nq), rng.normal(size=model.nv)
        q[2:6], q[7:] = 0.05*q[2:6], 0.02*q[7:]
        by = wrenches(model, bare, q, v)
        theirs, bound = bare.forward_dynamics(q, v, wrenches=by, frame="world"), acceleration_bound(bare, q, by)
        for method in ("order-n", "dense"):
            np.testing.assert_allclose(model.forward_dynamics(q, v, dynamics=method), theirs, rtol=0, atol=bound)
        Q = generalized(model, bare, q, np.zeros(model.nv))
        turns = 2*11.0/1.5/np.sqrt(1.2)               # of the mast's tip by its third mode: 2 beta/sqrt(m), beta L = 11
        np.testing.assert_allclose(Q, -gradient(model, bare, q), rtol=0, atol=gradient_bound(model, bare, q, Q, turns))


@pytest.mark.parametrize("method", ["order-n", "dense"])
def test_in_a_closed_loop(method):
    """A four-bar with a diagonal line, a restoring and a float: accelerations, constraint forces and reactions."""
    def four_bar(elements):
        s, rod = bough.System("four-bar", gravity=(0, 0, -GRAVITY)), {"mass": 1.0, "com": (0, 0, 0.5), "inertia": (0.1, 0.1, 0.01)}
        s.body("crank", joint=bough.Revolute("y", q0=0.3), **rod)
        s.body("coupler", parent="crank", joint=bough.Revolute("y", q0=0.2), at=(0, 0, 1), mass=2.0, com=(1, 0, 0),
               inertia=(0.1, 0.7, 0.7))
        s.body("rocker", joint=bough.Revolute("y", q0=0.3), at=(2, 0, 0), **rod)
        s.loop("pin", joint=bough.Revolute("y"), a=bough.Frame("coupler", at=(2, 0, 0)), b=bough.Frame("rocker", at=(0, 0, 1)))
        if elements:
            s.line("diagonal", a="world", b=bough.Frame("coupler", at=(2, 0, 0)), stiffness=40.0, length=1.0, damping=3.0)
            s.restoring("tether", body="rocker", at=(0, 0, 1), stiffness=np.diag([9.0, 8, 7, 6, 5, 4]), rest=(2, 0, 1))
            s.buoyancy("float", body="crank", sections=[(0, 1, 0.05, 0.05)], level=0.5)
        return s.compile()
    model, bare = four_bar(True), four_bar(False)
    q, v = model.assemble(v=[1.0, 0.0, 0.0])
    by = wrenches(model, bare, q, v)
    a = bare.forward_dynamics(q, v, wrenches=by, frame="world", dynamics=method)
    assert_same(model.forward_dynamics(q, v, dynamics=method), a, solved(bare, q))
    assert_same(np.tile(a, (4, 1)), model.forward_dynamics(np.tile(q, (4, 1)), v, dynamics=method), solved(bare, q))
    theirs = bare.constraint_forces(q, v, wrenches=by, frame="world", dynamics=method)["pin"]
    # forces in joints balance those of the cut tree, which are some times larger: 10 times what accelerations may be off
    assert_same(model.constraint_forces(q, v, dynamics=method)["pin"], theirs, 10*solved(bare, q))
    f = bare.reactions(q, v, a, 0*v, wrenches=by, frame="world")
    assert_same(model.reactions(q, v, a, 0*v), f, 10*solved(bare, q))


def test_batches_of_parameters():
    """Places of joints that differ from run to run move the ends of lines, and where restorings rest."""
    model, ats = chain(add_all).compile(), np.random.default_rng(3).uniform(-0.4, 0.4, (5, 3))
    q, v = random_state(model, np.random.default_rng(4))
    run = {"q0": q, "v0": v, "until": 0.02, "dt": 0.01, "record": "elements"}
    together = bough.simulate(model, parameters={"sled.at": ats, "arm.at": ats[::-1]}, **run)
    for i in range(5):
        member = model.with_parameters({"sled.at": ats[i], "arm.at": ats[::-1][i]})
        alone = bough.simulate(member, **run)
        for name in ("line_tension", "element_force"):
            assert_same(together.data[name].values[i], alone.data[name].values, STEPPED)


def test_in_orbit_a_line_between_bodies_keeps_momentum():
    """Central gravity: as wrenches on the bare model; what the line does inside moves no mass center."""
    def pair(elements):
        s = bough.System("pair", gravity=bough.CentralGravity(3.986e14, (7e6, 0, 0), (0, 7.5e3, 0)))
        for i, name in enumerate(("one", "two")):
            s.body(name, joint=bough.Free(q0=(i, 0, 0, 0, 0, 0, 1)), mass=100.0 + i, inertia=(20, 30, 40))
        if elements:
            s.line("tether", a=bough.Frame("one", at=(0, 1, 0)), b=bough.Frame("two", at=(0, 0, 1)), stiffness=500.0, length=0.2)
        return s.compile()
    model, bare = pair(True), pair(False)
    q, v = random_state(model, np.random.default_rng(5))
    by = wrenches(model, bare, q, v)
    assert_same(model.forward_dynamics(q, v), bare.forward_dynamics(q, v, wrenches=by, frame="world"), solved(bare, q))
    moored = bare.system.copy()
    moored.line("mooring", a="world", b="one", stiffness=1.0, length=1.0)
    with pytest.raises(bough.ModelError, match="line 'mooring' acts between a body and the world; with central gravity"):
        moored.compile()
