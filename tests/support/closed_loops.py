"""What the tests of closed loops share: states that close them, gaps, and mechanisms made of others."""
from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

import bough
from tests.support import maximal
from tests.support.compare import assert_within, loop_rounding
from tests.support.mechanisms import MECHANISMS, reversed_joint

EPS = np.finfo(float).eps


class Closed(NamedTuple):
    """A mechanism, compiled, and states of it that close its loops, a row a state."""
    case: object
    model: bough.Model
    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray


@cache
def closed(name):
    """The mechanism where its description puts it, and around there; five states are a group of four lanes and one more."""
    case, rng = MECHANISMS[name](), np.random.default_rng(0)
    model = case.system.compile()
    q, v = [case.q], [case.v]
    for _ in range(4):
        q.append(maximal.retracted(case.system, case.q, rng.normal(size=model.nv)*0.05))
        v.append(case.v + rng.normal(size=model.nv)*0.5)
    return Closed(case, model, *model.assemble(np.array(q), np.array(v)), rng.normal(size=(5, model.nv)))


@cache
def witness(name, i):
    """What maximal coordinates say of state i: accelerations of the tree, forces of the loops, and the size of accelerations: where
    nothing can move, of those that the loops prevent."""
    case, _, q, v, tau = closed(name)
    s, q, v, tau = case.system, q[i], v[i], tau[i]
    poses, velocities, _ = maximal.motion(s, q, v)
    a = maximal.joint_accelerations(s, q, v, maximal.solve(s, poses, velocities, tau).accelerations)
    size = np.abs(a).max()
    if not case.motions:
        M, f, _, _ = maximal.tree_equations(s, q, v, tau)
        size = np.abs(np.linalg.solve(M, f)).max()
    return a, maximal.loop_forces(s, q, v, a, tau)[0], size


def rounding(model, q, v, tau, a):
    """What rounding may do to accelerations (nv,), and to any entry of the wrenches of loops, at this state."""
    error = loop_rounding(model.mass_matrix(q), loop_jacobian(model, q), a, v, tau, -model.bias(q, v))
    return error.accelerations, error.multipliers.max()*max(1.0, loop_size(model))


def assert_wrenches_within(ours, theirs, bound):
    """Wrenches of the same loops, no entry further apart than the bound."""
    assert ours.keys() == theirs.keys()
    for name, wrench in theirs.items():
        assert_within(ours[name], wrench, bound)


def largest(dictionary):
    return max(np.abs(value).max() for value in dictionary.values())


def apart(one, other):
    """The largest difference of what two dictionaries hold, relative to what the second holds."""
    return max(np.abs(one[name] - other[name]).max() for name in other)/max(largest(other), 1e-300)


def gaps(model, q, v=None):
    """(states, rows): all gaps or, with v, the speeds at which they open; rotations times the size of their loop."""
    closures = model.tables.fronts.closures
    found = model.loop_gaps(np.atleast_2d(q), None if v is None else np.atleast_2d(v))
    sizes = [np.append(np.ones(c.rows - c.rotations), np.full(c.rotations, c.size)) for c in closures]
    return np.concatenate([found[c.name]*size for c, size in zip(closures, sizes, strict=True)], axis=1)


def loop_jacobian(model, q):
    """(rows, nv): how fast gaps open for each speed."""
    return gaps(model, np.tile(q, (model.nv, 1)), np.eye(model.nv)).T


def loop_size(model):
    return max(closure.size for closure in model.tables.fronts.closures)


def energy(model, q, v, **wheels):
    return model.kinetic_energy(q, v, **wheels) + model.potential_energy(q)


# ---- mechanisms made of others ------------------------------------------------------------------------------------------------
def copied(system, name="copy", gravity=None, joint=lambda joint: joint, body=lambda body: {}, frame=lambda frame: frame,
           closing=lambda joint: joint):
    """The same system, but for what the functions change: joints and other options of bodies, frames and joints of loops."""
    new = bough.System(name, gravity=system.gravity if gravity is None else gravity)
    for each in system.bodies.values():
        given = {"parent": each.parent, "joint": joint(each.joint), "at": each.at, "orient": each.orient, "mass": each.mass,
                 "com": each.com, "inertia": each.inertia, "idealized": each.idealized}
        new.body(each.name, **{**given, **body(each)})
    for wheel in system.wheels.values():
        new.wheel(wheel.name, body=wheel.body, axis=wheel.axis, inertia=wheel.inertia, speed=wheel.speed, torque=wheel.torque)
    for loop in system.loops.values():
        new.loop(loop.name, joint=closing(loop.joint), a=frame(loop.a), b=frame(loop.b))
    return new


def in_order(system, names):
    """The same system, its loops in another order."""
    new = copied(system)
    new.loops = {name: new.loops[name] for name in names}
    return new


def from_behind(system):
    """The same system, its loops seen from their other ends."""
    new = copied(system)
    new.loops.clear()
    for loop in system.loops.values():
        joint = loop.joint if hasattr(loop.joint, "length") else reversed_joint(loop.joint)
        new.loop(loop.name, joint=joint, a=loop.b, b=loop.a)
    return new


def lossless(joint):
    """A joint without damper and motor."""
    return bough.Joint(translations=joint.translations, rotations=joint.rotations, stiffness=joint.stiffness, rest=joint.rest)


def turned(system, turn, frames):
    """The system turned about the world's origin, its loops seen from frames that are turned too."""
    def seat(body):
        orient = Rotation.from_quat(body.orient)
        return {} if body.parent else {"at": turn.apply(body.at), "orient": (turn*orient).as_quat()}

    def end(frame):
        orient = Rotation.from_quat(frame.orient)*frames
        if frame.body == "world":
            return bough.Frame("world", at=turn.apply(frame.at), orient=(turn*orient).as_quat())
        return bough.Frame(frame.body, at=frame.at, orient=orient.as_quat())

    def closing(joint):
        back = frames.inv()
        rotations = joint.rotations if joint.spherical else [back.apply(axis) for axis in joint.rotations]
        return bough.Joint(translations=[back.apply(axis) for axis in joint.translations], rotations=rotations)

    return copied(system, "turned", turn.apply(np.array(system.gravity)), body=seat, frame=end, closing=closing)


def scaled(system, k):
    """The same shapes of the same material, k times as large; joints without springs, dampers and motors."""
    def plain(joint):
        return bough.Joint(translations=joint.translations, rotations=joint.rotations)

    def body(each):
        return {"at": k*np.array(each.at), "com": k*np.array(each.com), "mass": k**3*each.mass,
                "inertia": k**5*np.array(each.inertia)}

    def end(frame):
        return bough.Frame(frame.body, at=k*np.array(frame.at), orient=frame.orient)

    return copied(system, "scaled", joint=plain, body=body, frame=end)
