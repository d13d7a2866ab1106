"""Inputs of the description: each acts as the same torque, motor torque, wrench or rest that is given directly.

Both ways the same sweeps see the same numbers, but for the order of a few sums: what differs is rounding, solved.
"""
import numpy as np
import pytest
from hypothesis import given

import bough
from bough.analyze.equations_of_motion import forward
from bough.describe.orientation import rotation_matrix
from bough.sweeps import fields as f
from tests.support.compare import assert_same, solved, solving
from tests.support.flexible_trees import moved, turning_nodes
from tests.support.random_systems import random_rotation, random_state, random_system
from tests.support.strategies import flexible_trees, looped, trees
from tests.support.tolerance import CANCELLING, PRODUCTS, SWEEP, truncated

DYNAMICS = ("order-n", "dense")


def with_inputs(system, rng):
    """The system with an input of every kind that it can have, values for them, and what says the same without."""
    system, values = system.copy(), {}
    nv = sum(body.n_v for body in system.bodies.values())
    direct = {"tau": np.zeros(nv), "wrenches": {}, "motors": np.zeros(len(system.wheels))}
    for i, name in enumerate(entry for body in system.bodies.values() for entry in body.speed_names):
        if rng.random() < 0.4 and not (i < 3 and isinstance(system.gravity, bough.CentralGravity)):       # these move the orbit
            system.input(f"along {name}", coordinate=name)
            values[f"along {name}"] = direct["tau"][i] = rng.normal()
    for j, wheel in enumerate(system.wheels.values()):
        if wheel.driven:
            system.input(f"motor {wheel.name}", wheel=wheel.name)
            values[f"motor {wheel.name}"] = direct["motors"][j] = rng.normal()
    for body in system.bodies.values():
        nodes = [None] if body.flexible is None else turning_nodes(body.flexible)
        if not nodes:
            continue
        node, at, orient = nodes[rng.integers(len(nodes))], rng.normal(size=3), random_rotation(rng)
        place, axis = bough.Frame(body.name, at=at, orient=orient, node=node), rng.normal(size=3)
        f, m, along = rng.normal(size=3), rng.normal(size=3), rng.normal()
        system.input(f"force {body.name}", force=place)
        system.input(f"moment {body.name}", moment=place)
        system.input(f"thrust {body.name}", force=place, axis=axis)
        values |= {f"force {body.name}": f, f"moment {body.name}": m, f"thrust {body.name}": along}
        R = rotation_matrix(place.orient)
        force = R @ (f + along*axis/np.linalg.norm(axis))
        direct["wrenches"][body.name, node] = [*(R @ m + np.cross(at, force)), *force]
    return system, values, direct


def assert_direct(system, q, v, rng):
    """All that knows of forces gives the same answers."""
    described, values, direct = with_inputs(system, rng)
    model, bare = described.compile(), system.compile()
    if not model.nw:
        del direct["motors"]
    relative = solving(bare.mass_matrix(q))
    for dynamics in DYNAMICS:
        a = bare.forward_dynamics(q, v, dynamics=dynamics, **direct)
        scale = np.abs(a).max()
        assert_same(model.forward_dynamics(q, v, dynamics=dynamics, inputs=values), a, relative, scale)
    tau = direct.pop("tau")
    size = np.abs(bare.bias(q, v)).max() + np.abs(tau).max() + 10.0
    assert_same(model.inverse_dynamics(q, v, a, inputs=values), bare.inverse_dynamics(q, v, a, **direct) - tau, CANCELLING, size)
    ours, theirs = model.reactions(q, v, a, inputs=values), bare.reactions(q, v, a, tau, **direct)
    assert_same(ours, theirs, relative, np.abs(theirs).max() + size)
    return model, values, a


@given(trees(wheels=True))
def test_trees(drawn):
    system, _, q, v, rng = drawn
    model, values, a = assert_direct(system, q, v, rng)
    rows = model.forward_dynamics(np.tile(q, (5, 1)), np.tile(v, (5, 1)), inputs={name: np.tile(value, (5, 1)) for name, value
                                                                                  in values.items()})
    assert_same(rows, np.tile(a, (5, 1)), solving(model.mass_matrix(q)))


@given(flexible_trees())
def test_flexible_bodies(drawn):
    system, _, q, v, rng = drawn
    assert_direct(system, q, v, rng)


@given(looped(trees()))
def test_loops(drawn):
    """Multipliers are as well conditioned as the loops; those drawn here are sound to 1e-7."""
    system, model, q, v, rng = drawn
    described, values, direct = with_inputs(system, rng)
    with_ports = described.compile()
    if not model.nw:
        del direct["motors"]
    a, ours = (m.forward_dynamics(q, v, **given) for m, given in ((model, direct), (with_ports, {"inputs": values})))
    assert_same(ours, a, 1e-7, np.abs(a).max())


def test_in_orbit():
    """Forces from outside move the mass center, and the tree only by what is left of them."""
    rng = np.random.default_rng(5)
    system = random_system(rng, 6, root="free", massless=0.0)
    system.gravity = bough.CentralGravity(3.986004418e14, (7e6, 0, 0), (0, 7546, 0))
    q, v = random_state(system.compile(), rng)
    assert_direct(system, q, v, rng)
    push = np.array([1.0, 2.0, 3.0])
    system.input("push", force=next(iter(system.bodies)), axes="world")
    pushed = system.compile()
    rates = [forward(pushed, pushed.batch(q, v, inputs={"push": p})).rows[0, pushed.nv + 3:pushed.nv + 6] for p in (0*push, push)]
    mass = sum(body.mass for body in system.bodies.values())
    assert_same(rates[1] - rates[0], push/mass, CANCELLING, 8.2)                # gravity cancels


@pytest.mark.parametrize("n", [None, 6])
def test_world_axes(n):
    """In world axes a force at a point is the wrench with the arm as the body has turned it."""
    s = bough.System("free")
    s.body("bus", joint=bough.Free(), mass=3.0, com=(0.1, 0, 0), inertia=(1, 2, 2.5))
    s.input("push", force=bough.Frame("bus", at=(0.2, -0.3, 0.4)), axes="world")
    s.input("along", force=bough.Frame("bus", at=(0.2, -0.3, 0.4)), axis=(1, 2, 2), axes="world")
    model, rng = s.compile(), np.random.default_rng(2)
    q, v = random_state(model, rng, n)
    f, along = rng.normal(size=(n, 3) if n else 3), rng.normal(size=n)
    force = f + np.multiply.outer(along, np.array([1, 2, 2])/3)
    arm = np.einsum("...ij,j->...i", model.pose(q, "bus")[1], (0.2, -0.3, 0.4))
    wrench = np.concatenate([np.cross(arm, force), force], axis=-1)
    expected = model.forward_dynamics(q, v, wrenches={"bus": wrench}, frame="world")
    assert_same(model.forward_dynamics(q, v, inputs={"push": f, "along": along}), expected, CANCELLING)


def line_system(length=1.5, rest=0.2, slack=False):
    s = bough.System("crane", gravity=(0, 0, -9.81))
    joint = bough.Universal("yz", stiffness=(40.0, 0.0), rest=(rest, 0.0))
    s.body("boom", joint=joint, mass=4.0, com=(1, 0, 0), inertia=(0.1, 1, 1))
    s.body("load", parent="boom", joint=bough.Free(), at=(2, 0, 0), mass=1.0, inertia=(0.1, 0.1, 0.1))
    s.line("rope", a=bough.Frame("boom", at=(2, 0.1, 0)), b="load", stiffness=300.0, length=length, damping=2.0, slack=slack)
    return s


@pytest.mark.parametrize("n", [None, 5])
@pytest.mark.parametrize("slack", [False, True])
def test_rests(n, slack):
    """The length of a line, and the rest of a spring, as if the description had others; the energy is that of the description."""
    s = line_system(slack=slack)
    s.input("winch", rest="rope")
    s.input("preload", rest="boom.ry")
    s.output("pull", tension="rope")
    model, other = s.compile(), line_system(1.5 + 0.7, 0.2 - 0.3, slack).compile()
    q, v = random_state(model, np.random.default_rng(1), n)
    values = {"winch": 0.7, "preload": -0.3}
    for dynamics in DYNAMICS:
        a = other.forward_dynamics(q, v, dynamics=dynamics)
        assert_same(model.forward_dynamics(q, v, inputs=values, dynamics=dynamics), a, solved(other, q))
    assert_same(model.reactions(q, v, a, inputs=values), other.reactions(q, v, a), CANCELLING)
    bodies = model.bodies(q, v, inputs=values)
    tension = f.ELEMENT_TENSION
    assert_same(bodies.elements[..., tension], other.bodies(q, v).elements[..., tension], CANCELLING)
    assert_same(bodies.potential_energy, model.bodies(q, v).potential_energy, PRODUCTS)


def test_the_cloud_knows_inputs():
    """A floating base that carries what is given: forces and moments anywhere, and motors."""
    s = bough.System("cloud")
    s.body("bus", joint=bough.Free(), mass=50.0, inertia=(9, 8, 7))
    for i in range(6):
        s.body(f"arm{i}", parent="bus" if i == 0 else f"arm{i - 1}", joint=bough.Revolute("xyz"[i % 3], motion="locked"),
               at=(0.3, 0, 0.1), mass=2.0, com=(0.1, 0.1, 0), inertia=(0.1, 0.1, 0.1))
    s.wheel("rw", body="bus", axis="x", inertia=0.02, torque=0.0)
    s.input("tip", force=bough.Frame("arm5", at=(0.1, 0.2, 0)))
    s.input("rw", wheel="rw")
    model = s.compile()
    assert model.resolve_dynamics() == "cloud"
    q, v = model.q0, model.v0.copy()
    v[:6] = 0.3
    values = {"tip": (1, 2, 3), "rw": 0.5}
    cloud, dense = (model.forward_dynamics(q, v, inputs=values, dynamics=dynamics) for dynamics in ("cloud", "dense"))
    assert_same(cloud, dense, CANCELLING)


def test_internal_loads_and_loop_forces_know_inputs():
    s = bough.System("bridge", gravity=(0, 0, -10))
    s.body("beam", joint=bough.Revolute("y"), mass=6.0, com=(1, 0, 0), inertia=(0.1, 2, 2))
    s.body("tool", parent="beam", joint=bough.Revolute("y"), at=(2, 0, 0), mass=1.0, com=(0, 0, -0.2), inertia=(0.1, 0.1, 0.1))
    s.loop("east", joint=bough.PointOnLine("x"), a=bough.Frame("world", at=(2, 0, 0)), b=bough.Frame("beam", at=(2, 0, 0)))
    s.input("push", force=bough.Frame("tool", at=(0, 0, -0.4)), axes="world")
    s.input("drive", coordinate="tool")
    model = s.compile()
    f = np.array([1.0, 2.0, 3.0])
    values, direct = {"push": f, "drive": 0.7}, {"wrenches": {"tool": [*np.cross((0, 0, -0.4), f), *f]}, "frame": "world"}
    tau, q, v = np.array([0, 0.7]), model.q0, model.v0
    a = model.forward_dynamics(q, v, tau, **direct)
    assert_same(model.forward_dynamics(q, v, inputs=values), a, CANCELLING)
    theirs = model.constraint_forces(q, v, tau, **direct)["east"]
    assert_same(model.constraint_forces(q, v, inputs=values)["east"], theirs, CANCELLING)
    for cut in ("tool", "beam", "east"):
        ours, theirs = model.internal_loads(q, v, a, cut=cut, inputs=values), model.internal_loads(q, v, a, tau, cut=cut, **direct)
        assert_same(ours.least, theirs.least, CANCELLING)


POWERS = {                                               # input, and the output that its power is the product with
    "along": ({"coordinate": "boom.ry"}, {"rate": "boom.ry"}, 1.0),
    "push": ({"force": bough.Frame("load", at=(0, 1, 0)), "axes": "world"}, {"velocity": bough.Frame("load", at=(0, 1, 0))}, 1.0),
    "thrust": ({"force": bough.Frame("load", at=(0.1, 0, 0)), "axis": "y"},
               {"velocity": bough.Frame("load", at=(0.1, 0, 0)), "axes": "body", "component": "y"}, 1.0),
    "twist": ({"moment": "load"}, {"angular_velocity": "load", "axes": "body"}, 1.0),
    "motor": ({"wheel": "rw"}, {"wheel": "rw"}, 1.0),
    "preload": ({"rest": "boom.ry"}, {"rate": "boom.ry"}, 40.0),
    "winch": ({"rest": "rope"}, {"tension": "rope"}, None),
}


@pytest.mark.parametrize("name", POWERS)
def test_the_power_of_an_input_is_the_rate_of_the_energy(name):
    """dE/dt by central differences along the motion, whose own errors their halving shows. The power of a line's rest is the force
    that it adds, stiffness times input, times the rate of the line's length, which is that of the tension over the stiffness."""
    s, (into, out, factor) = line_system(), POWERS[name]
    rope = s.lines.pop("rope")
    s.line("rope", a=rope.a, b=rope.b, stiffness=rope.stiffness, length=rope.length)
    s.wheel("rw", body="load", axis="x", inertia=0.02, torque=0.0)
    s.input("in", **into)
    s.output("out", **out)
    model, rng = s.compile(), np.random.default_rng(4)
    q, v = random_state(model, rng)
    value, wheels = rng.normal(size=s.inputs["in"].size), np.array([30.0])
    given = {"inputs": {"in": value}, "wheels": wheels}
    a, spin = model.forward_dynamics(q, v, **given), model.wheel_accelerations(q, v, **given)
    left = []
    for h in (2e-5, 1e-5):
        energies, tensions = [], []
        for t in (-h, h):
            there, speeds = moved(model, q, v + 0.5*t*a, t), v + t*a
            energies.append(model.kinetic_energy(there, speeds, wheels=wheels + t*spin) + model.potential_energy(there))
            tensions.append(model.outputs(there, speeds)["out"] if factor is None else 0.0)
        conjugate = np.diff(tensions)/(2*h) if factor is None else factor*np.atleast_1d(model.outputs(q, v, **given)["out"])
        left.append(np.diff(energies)[0]/(2*h) - value @ conjugate)
    rounded = SWEEP*(np.abs(energies).max() + np.abs(tensions).max()*np.abs(value).max())/h
    assert abs(left[1]) < truncated(*left, order=2) + rounded


def test_bad_values():
    model = line_system()
    model.input("winch", rest="rope")
    model.input("push", force="load")
    model = model.compile()
    q, v = model.q0, model.v0
    for inputs, words in (({"wnch": 1.0}, "there is no input 'wnch', did you mean 'winch'"),
                          ({"push": 1.0}, r"input 'push' has shape \(1,\)"), ({"winch": np.nan}, r"\('winch'\) is nan"),
                          ([1.0], "give a dict"), ({"winch": "x"}, "input 'winch' is 'x'")):
        with pytest.raises(bough.StateError, match=words):
            model.forward_dynamics(q, v, inputs=inputs)
