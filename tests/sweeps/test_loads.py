"""Springs, dampers, torques, time tables and wrenches of the description, against the plain formulas.

What a model applies by itself must equal what the caller applies to the bare model: as joint torques, or as wrenches.
"""
import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import bough
from tests.support.compare import assert_same, solved
from tests.support.random_systems import random_state
from tests.support.tolerance import CANCELLING, FORMULA, PRODUCTS, SWEEP

TIMES = np.array([0.5, 1.0, 2.5, 3.0, 4.5])
VALUES = np.array([1.0, -2.0, 0.5, 4.0, 3.0])
#        before,   first, between,  knots,         last,  after
INSTANTS = [-3.0, 0.2, 0.5, 0.7, 0.9999, 1.0, 1.7, 2.5, 2.9, 3.0, 3.9, 4.5, 4.6, 100.0]


def chain(loads=lambda name: {}, wrenches=()):
    """A floating body, a slider with three turns, a hinge and a ball in a row; `loads` says the joints' options."""
    s = bough.System("chain", gravity=(1, 2, -9))
    same = {"at": (0.3, 0.1, 0.2), "orient": {"axis": "y", "degrees": 30}, "mass": 2.0, "com": (0.1, 0.2, 0)}
    joints = {"bus": bough.Free(**loads("bus")), "sled": bough.Joint("xz", "zyx", **loads("sled")),
              "arm": bough.Revolute((1, 1, 0), **loads("arm")), "tool": bough.Spherical(**loads("tool"))}
    for parent, (name, joint) in zip((None, "bus", "sled", "arm"), joints.items(), strict=True):
        s.body(name, parent=parent, joint=joint, inertia=(0.3, 0.4, 0.5), **same)
    s.body("plate", parent="arm", at=(0.2, 0, 0.4), orient={"axis": "x", "degrees": 70}, mass=1.0, inertia=(1, 1, 1))
    for wrench in wrenches:
        s.wrench(f"load{len(s.wrenches)}", **wrench)
    return s.compile()


BARE = chain()
SLED = slice(6, 11)


def assert_torques(model, expected, q, v, **keywords):
    """Forward dynamics by both methods as with these torques on the bare model; inverse dynamics asks for no more."""
    a = BARE.forward_dynamics(q, v, expected)
    for method in ("order-n", "dense"):
        assert_same(model.forward_dynamics(q, v, dynamics=method, **keywords), a, solved(BARE, q))
    more = model.inverse_dynamics(q, v, a, **keywords)
    assert_same(more, np.zeros_like(expected), solved(BARE, q), np.abs(BARE.bias(q, v)).max())


@pytest.mark.parametrize("n", [None, 5])
def test_springs_and_dampers(n):
    """Force of a joint: -stiffness (q - rest) - damping v, coordinate by coordinate."""
    k, c, rest = np.array([10.0, 0, 3, 4, 5]), np.array([0.1, 0.2, 0.3, 0, 0.5]), np.array([0.1, 0, -0.3, 0.4, 0.5])
    options = {"sled": {"stiffness": k, "damping": c, "rest": rest}, "tool": {"damping": (1, 2, 3)},
               "bus": {"stiffness": (7, 8, 9, 0, 0, 0), "damping": 0.5}, "arm": {"stiffness": 6.0}}
    model = chain(lambda name: options[name])
    q, v = random_state(model, np.random.default_rng(1), n)
    tau = np.zeros_like(v)
    tau[..., :3] = -np.array([7, 8, 9])*q[..., :3]
    tau[..., :6] -= 0.5*v[..., :6]
    tau[..., SLED] = -k*(q[..., 7:12] - rest) - c*v[..., SLED]
    tau[..., 11] = -6.0*q[..., 12]
    tau[..., 12:] = -np.array([1, 2, 3])*v[..., 12:]
    assert_torques(model, tau, q, v)
    stretch = (k*(q[..., 7:12] - rest)**2).sum(-1) + 6.0*q[..., 12]**2 + (np.array([7, 8, 9])*q[..., :3]**2).sum(-1)
    assert_same(model.potential_energy(q) - BARE.potential_energy(q), 0.5*stretch, CANCELLING)


@pytest.mark.parametrize("n", [None, 6])
def test_constant_torques(n):
    """Constants add to what the caller gives."""
    options = {"arm": {"torque": 2.0}, "sled": {"torque": (1, -2, 3, 4, 5)}}
    model = chain(lambda name: options.get(name, {}))
    q, v = random_state(model, np.random.default_rng(2), n)
    tau = np.zeros_like(v)
    tau[..., SLED], tau[..., 11] = (1, -2, 3, 4, 5), 2.0
    assert_torques(model, tau, q, v)
    more = np.random.default_rng(3).normal(size=v.shape)
    assert_same(model.forward_dynamics(q, v, more), BARE.forward_dynamics(q, v, tau + more), solved(BARE, q))


def table_value(kind, t, values=VALUES):
    """The value of a table over TIMES, the first one before it and the last one after."""
    inside = np.clip(t, TIMES[0], TIMES[-1])
    if kind == "cubic":
        return CubicSpline(TIMES, values, bc_type="natural")(inside)
    if kind == "hold":
        return values[np.searchsorted(TIMES, inside, side="right") - 1]         # a step belongs to what follows it
    columns = [np.interp(inside, TIMES, column) for column in np.atleast_2d(values.T)]
    return np.array(columns).T if values.ndim > 1 else columns[0]


@pytest.mark.parametrize("kind", ["linear", "hold", "cubic"])
def test_torque_tables(kind):
    """A table of torques over time, with a time of its own for each state of a batch."""
    model = chain(lambda name: {"torque": (0, bough.TimeTable(TIMES, VALUES, kind), 1, 0, 0)} if name == "sled" else {})
    q, v = random_state(model, np.random.default_rng(4), len(INSTANTS))
    tau = np.zeros_like(v)
    tau[:, 7], tau[:, 8] = table_value(kind, np.array(INSTANTS)), 1.0
    assert_torques(model, tau, q, v, t=INSTANTS)
    for i, t in enumerate(INSTANTS):
        assert_torques(model, tau[i], q[i], v[i], t=t)
    tau[:, 7] = table_value(kind, 1.7)
    assert_torques(model, tau, q, v, t=1.7)


def test_cubic_table_is_smooth_and_meets_its_values():
    """Not scipy's word for it: its values at its times, continuous curvature, none at its ends (a natural spline)."""
    s = bough.System("mass")
    s.body("m", joint=bough.Prismatic("x", torque=bough.TimeTable(TIMES, VALUES, "cubic")), mass=1.0)
    model = s.compile()

    def force(t):
        return model.forward_dynamics(np.zeros((len(t), 1)), [0.0], t=t)[:, 0]
    assert_same(force(TIMES), VALUES, FORMULA)
    h = 1e-3

    def curvature(t):
        before, at, after = force([t - h, t, t + h])
        return (after - 2*at + before)/h**2
    # the third derivative stays below 100 here, so curvature changes by less than 100 h across h
    assert abs(curvature(TIMES[2] + h) - curvature(TIMES[2] - h)) < 200*h
    assert abs(curvature(TIMES[0] + h)) < 200*h
    assert abs(curvature(TIMES[-1] - h)) < 200*h
    assert abs(curvature(TIMES[2])) > 1.0


def shifted(wrench, at):
    """[moment, force] about the origin of a moment and a force at a point."""
    return np.concatenate([wrench[..., :3] + np.cross(at, wrench[..., 3:]), wrench[..., 3:]], axis=-1)


@pytest.mark.parametrize("body", ["bus", "tool", "plate"])
@pytest.mark.parametrize("frame", ["body", "world"])
def test_described_wrenches(body, frame):
    """A force at a point of a body and a moment, in body or world axes, on a welded body too."""
    moment, force, at = np.array([1.0, -2, 3]), np.array([4.0, 5, -6]), np.array([0.3, -0.2, 0.7])
    model = chain(wrenches=[{"body": body, "force": force, "moment": moment, "at": at, "frame": frame}])
    q, v = random_state(model, np.random.default_rng(5), 5)
    turn = BARE.pose(q, body)[1]
    if frame == "world":
        force, moment = np.einsum("bji,j->bi", turn, force), np.einsum("bji,j->bi", turn, moment)
    given = np.broadcast_to(np.concatenate(np.broadcast_arrays(moment, force), axis=-1), (5, 6))
    a = BARE.forward_dynamics(q, v, wrenches={body: shifted(given, at)})
    for method in ("order-n", "dense"):
        assert_same(model.forward_dynamics(q, v, dynamics=method), a, solved(BARE, q))
        assert_same(model.forward_dynamics(q[0], v[0], dynamics=method), a[0], solved(BARE, q[0]))
    assert_same(model.inverse_dynamics(q, v, a), 0*v, solved(BARE, q), np.abs(BARE.bias(q, v)).max())


def test_a_force_by_its_power():
    """A wrench's generalized force is J^T f at the point where it acts."""
    force, moment, at = np.array([4.0, 5, -6]), np.array([1.0, -2, 3]), np.array([0.3, -0.2, 0.7])
    model = chain(wrenches=[{"body": "plate", "force": force, "moment": moment, "at": at, "frame": "world"}])
    q, v = random_state(model, np.random.default_rng(6))
    J = BARE.jacobian(q, "plate", at)
    assert_same(BARE.bias(q, v) - model.bias(q, v), J.T @ np.concatenate([moment, force]), CANCELLING)


@pytest.mark.parametrize("kind", ["linear", "hold", "cubic"])
def test_wrench_tables(kind):
    """Forces and moments over time, three columns each, besides constant ones and those of the caller."""
    columns = np.column_stack([VALUES, 2*VALUES + 1, -VALUES**2])
    table = bough.TimeTable(TIMES, columns, kind)
    model = chain(wrenches=[{"body": "tool", "force": table, "moment": (1, 0, 0)},
                            {"body": "bus", "moment": table, "at": (1, 2, 3)}])
    q, v = random_state(model, np.random.default_rng(7), len(INSTANTS))
    values = table_value(kind, np.array(INSTANTS), columns)
    tool = np.hstack([np.tile([1.0, 0, 0], (len(q), 1)), values])
    bus = np.hstack([values, 0*values])
    extra = np.random.default_rng(8).normal(size=6)
    a = BARE.forward_dynamics(q, v, wrenches={"tool": tool + extra, "bus": bus})
    assert_same(model.forward_dynamics(q, v, t=INSTANTS, wrenches={"tool": extra}), a, solved(BARE, q))
    for i in range(0, len(q), 3):
        assert_same(model.forward_dynamics(q[i], v[i], t=INSTANTS[i], wrenches={"tool": extra}), a[i], solved(BARE, q[i]))


def test_motor_tables():
    """A wheel's motor torque over time."""
    s = bough.System("bus")
    s.body("bus", joint=bough.Free(), mass=10.0, inertia=(2, 3, 4))
    s.wheel("rw", body="bus", axis="x", inertia=0.1, torque=bough.TimeTable(TIMES, VALUES))
    q, t = np.tile([0, 0, 0, 0, 0, 0, 1.0], (len(INSTANTS), 1)), np.array(INSTANTS)
    motor = table_value("linear", t)
    model = s.compile()
    assert_same(model.forward_dynamics(q, np.zeros(6), t=t)[:, 3], -motor/(2.0 - 0.1), SWEEP)
    assert_same(model.wheel_accelerations(q, np.zeros(6), t=t)[:, 0], motor/0.1 + motor/(2.0 - 0.1), SWEEP)


def test_a_load_on_the_ground_moves_nothing():
    """A wrench on a body that is welded to the world goes into the ground."""
    s = bough.System("bench", gravity=(0, 0, -9.81))
    s.body("bench", mass=5.0, inertia=(1, 1, 1))
    s.body("arm", parent="bench", joint=bough.Revolute("y"), mass=1.0, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
    free = s.compile().forward_dynamics([0.2], [0.3])
    s.wrench("push", body="bench", force=(100, 200, 300), moment=(1, 2, 3))
    model = s.compile()
    assert_same(model.forward_dynamics([0.2], [0.3], wrenches={"bench": [1, 2, 3, 4, 5, 6]}), free, PRODUCTS)
    f = model.reactions([0.2], [0.3], free)
    seen = model.bodies([0.2], [0.3], free)
    (alpha, a), w, arm = np.split(seen.acceleration[0, 1], 2), seen.rate[0, 1], (seen.com - seen.position)[0, 1]
    inertial = 1.0*(a + np.cross(alpha, arm) + np.cross(w, np.cross(w, arm)))
    weight, push = np.array([0, 0, 6*9.81]), np.array([100, 200, 300])
    assert_same(f[0, 3:], inertial + weight - push, CANCELLING)


def test_any_argument_can_lead_with_the_batch():
    """One state under several wrenches, or at several times, is a batch too."""
    s = bough.System("mass")
    s.body("m", joint=bough.Prismatic("x", torque=bough.TimeTable([0.0, 1.0], [0.0, 4.0])), mass=2.0)
    model = s.compile()
    np.testing.assert_allclose(model.forward_dynamics([0.0], [0.0], t=[0.0, 0.5, 1.0]), [[0.0], [1.0], [2.0]])
    pushes = [[0, 0, 0, f, 0, 0] for f in (1.0, 2.0)]
    np.testing.assert_allclose(model.forward_dynamics([0.0], [0.0], wrenches={"m": pushes}), [[0.5], [1.0]])
    np.testing.assert_allclose(model.actuation([0.25, 2.0]), [[1.0], [4.0]])
