"""Random loops on random trees, rigid and flexible: both methods, four lanes, and the equations they must satisfy.

The witness is the tree itself, which other engines vouch for: M a + h - tau of the cut tree must be what the loops' forces do, and
these forces do no work in motions that keep the loops closed. Gaps and their rates are differenced along the motion.
"""
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import bough
from tests.support import flexible_trees as trees
from tests.support.random_systems import independent_axes, random_axis, random_rotation, random_state, random_system

KINDS = ("weld", "revolute", "spherical", "universal", "prismatic", "cylindrical", "planar", "line", "plane", "distance", "general")


def random_closure(rng, kind):
    if kind == "line":
        return bough.PointOnLine(random_axis(rng))
    if kind == "plane":
        return bough.PointOnPlane(random_axis(rng))
    if kind == "distance":
        return bough.Distance(rng.uniform(0.3, 1.0))
    if kind == "universal":
        return bough.Universal(independent_axes(rng, 2))
    if kind == "general":
        return bough.Joint(translations=independent_axes(rng, 1), rotations=independent_axes(rng, rng.integers(0, 3)))
    named = {"weld": bough.Weld, "spherical": bough.Spherical, "planar": lambda: bough.Planar("zx")}
    axes = {"revolute": bough.Revolute, "prismatic": bough.Prismatic, "cylindrical": bough.Cylindrical}
    return axes[kind](random_axis(rng)) if kind in axes else named[kind]()


def random_place(rng, system, name):
    """A body, or one of the nodes of a flexible one."""
    flexible = None if name == "world" else system.bodies[name].flexible
    if flexible is not None and (flexible.inboard is None or rng.random() < 0.8):
        return bough.Frame(name, node=str(rng.choice(trees.turning_nodes(flexible))))
    return bough.Frame(name)


def joint_pose(rng, joint):
    """Where a joint's outer frame may be in its inner one."""
    if isinstance(joint, bough.Distance):
        return rng.normal(size=3), Rotation.random(random_state=rng)
    slide = sum((rng.uniform(-0.3, 0.3)*np.asarray(axis) for axis in joint.translations), np.zeros(3))
    if joint.spherical:
        return slide, Rotation.random(random_state=rng)
    turn = Rotation.identity()
    for axis in joint.rotations:
        turn = turn*Rotation.from_rotvec(rng.uniform(-1, 1)*np.asarray(axis))
    return slide, turn


def closing_frames(rng, model, seen, ends, joint):
    """Frames on two bodies that a joint can hold where the bodies are."""
    a, b = (random_place(rng, model.system, end) for end in ends)
    a = bough.Frame(a.body, at=rng.uniform(-0.3, 0.3, 3), orient=random_rotation(rng), node=a.node)
    frame_a, frame_b, (slide, turn) = seen.frame(a), seen.frame(b), joint_pose(rng, joint)
    (x_a, R_a), (x_b, R_b) = (frame_a.position, frame_a.attitude), (frame_b.position, frame_b.attitude)
    at = R_b[0].T @ (x_a[0] + R_a[0] @ slide - x_b[0])
    return a, bough.Frame(b.body, at=at, orient=R_b[0].T @ R_a[0] @ turn.as_matrix(), node=b.node), float(np.linalg.norm(slide))


def close_some(rng, system, q):
    """Loops between random bodies, or to the world, that are closed at q and leave some freedom; one of each body pair at most."""
    model = system.compile()
    seen, names, rows, tried = model.bodies(q), [*system.bodies, "world"], 0, set()
    for _ in range(rng.integers(1, 5)):
        pair, kind = rng.choice(names, 2, replace=False), str(rng.choice(KINDS))
        joint = random_closure(rng, kind)
        held = 1 if kind == "distance" else 6 - joint.n_v
        if rows + held < model.nv - 2 and frozenset(pair) not in tried:
            tried.add(frozenset(pair))
            rows += held
            a, b, length = closing_frames(rng, model, seen, pair, joint)
            system.loop(f"l{len(system.loops)}", joint=bough.Distance(length) if kind == "distance" else joint, a=a, b=b)
    return system


def compiles(system):
    """Some random loops hold nothing, and are refused by name."""
    try:
        system.compile()
    except bough.ModelError as error:
        if "removes no freedom" not in str(error):
            raise
        return False
    return True


def rigid_state(rng):
    """A model with loops, and a state that closes them."""
    while True:
        system = random_system(rng, n=9, massless=0.0)
        q, v = random_state(system.compile(), rng)
        close_some(rng, system, q)
        if system.loops and compiles(system):
            model = system.compile()
            return model, *model.assemble(q, v)


def flexible_state(rng, size):
    while True:
        system = trees.random_twin(rng, chosen=trees.bodies()).system
        q, v = trees.random_states(system.compile(), rng, size=size)
        close_some(rng, system, q)
        if system.loops and compiles(system):
            model = system.compile()
            return model, *model.assemble(q, v)


def gap_row(model, q, v=None):
    return np.concatenate([np.atleast_1d(gap) for gap in model.loop_gaps(q, v).values()])


def shifted(model, q, v, h):
    """q after h seconds at the constant speeds v."""
    from bough.analyze.loop_constraints import moved
    return moved(model, q, h*v)


def check_equations(model, q, v, tau):
    a, dense = (model.forward_dynamics(q, v, tau, dynamics=method) for method in ("order-n", "dense"))
    M, h = model.mass_matrix(q), model.bias(q, v)
    assert np.isfinite(a).all()
    tolerance = 1e-10*np.linalg.cond(M)**0.5
    np.testing.assert_allclose(a, dense, rtol=0, atol=tolerance*np.abs(a).max())
    J = np.stack([gap_row(model, q, e) for e in np.eye(model.nv)], axis=1)
    force = M @ a + h - tau
    multipliers = np.linalg.lstsq(J.T, force, rcond=1e-6)[0]
    size = np.linalg.cond(M)**0.5*(np.abs(force).max() + np.abs(h).max())
    np.testing.assert_allclose(J.T @ multipliers, force, rtol=0, atol=1e-9*size)


def check_accelerations(model, q, v, a):
    """Rates are those of the gaps, and, zero now, they stay zero: by differences along the motion."""
    h = 1e-6
    _, anyhow = trees.random_states(model, np.random.default_rng(0), size=0.05)
    rates = [gap_row(model, shifted(model, q, anyhow, s*h)) for s in (-1.0, 1.0)]
    differenced, limit = (rates[1] - rates[0])/(2*h), 1e-8*(1 + np.abs(anyhow).max())**2
    np.testing.assert_allclose(differenced, gap_row(model, q, anyhow), rtol=0, atol=limit)
    ends = [gap_row(model, shifted(model, q, v + s*h*a/2, s*h), v + s*h*a) for s in (-1.0, 1.0)]
    scale = np.abs(v).max()**2 + np.abs(a).max()
    np.testing.assert_allclose((ends[1] - ends[0])/(2*h), 0.0, atol=1e-5*scale)


@pytest.mark.parametrize("seed", range(60))
def test_random_loops_on_rigid_trees(seed):
    rng = np.random.default_rng(seed)
    model, q, v = rigid_state(rng)
    check_equations(model, q, v, rng.normal(size=model.nv))


@pytest.mark.parametrize("seed", range(40))
def test_random_loops_on_flexible_trees(seed):
    rng = np.random.default_rng(100 + seed)
    model, q, v = flexible_state(rng, size=0.1)
    check_equations(model, q, v, rng.normal(size=model.nv))


@pytest.mark.parametrize("seed", range(40))
def test_loops_stay_closed(seed):
    """At closed states the accelerations keep the gaps' rates at zero; four lanes say the same as one."""
    rng = np.random.default_rng(200 + seed)
    model, q, v = rigid_state(rng) if seed % 2 else flexible_state(rng, size=0.05)
    assert max(np.abs(gap).max() for gap in model.loop_gaps(q).values()) < 1e-11
    tau = rng.normal(size=model.nv)
    a = model.forward_dynamics(q, v, tau)
    check_accelerations(model, q, v, a)
    many = model.forward_dynamics(np.tile(q, (4, 1)), np.tile(v, (4, 1)), np.tile(tau, (4, 1)))
    of_tree = np.linalg.solve(model.mass_matrix(q), tau - model.bias(q, v))     # which the loops' forces cancel, more or less
    np.testing.assert_allclose(many, np.tile(a, (4, 1)), rtol=0, atol=1e-10*max(np.abs(of_tree).max(), np.abs(a).max()))
