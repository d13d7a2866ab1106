"""Random loops on random trees, rigid and flexible: both methods, four lanes, and the equations they must satisfy.

The witness is the tree itself, which other engines vouch for: M a + h - tau of the cut tree must be what the loops' forces do, and
these forces do no work in motions that keep the loops closed. Gaps and their rates are differenced along the motion.
"""
import numpy as np
import pytest

import bough
from tests.flexible import trees
from tests.random_systems import independent_axes, random_axis, random_rotation, random_state, random_system

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


def random_frame(rng, system, name):
    place = {"at": rng.uniform(-0.3, 0.3, 3), "orient": random_rotation(rng)}
    flexible = None if name == "world" else system.bodies[name].flexible
    if flexible is not None and (flexible.inboard is None or rng.random() < 0.8):
        place["node"] = str(rng.choice(trees.turning_nodes(flexible)))
    return bough.Frame(name, **place)


def close_some(rng, system, freedom):
    """Loops between random bodies, or to the world, that leave some of this freedom; one of each body pair at most."""
    names, rows, tried = [*system.bodies, "world"], 0, set()
    for _ in range(rng.integers(1, 5)):
        a, b = rng.choice(names, 2, replace=False)
        kind = str(rng.choice(KINDS))
        joint = random_closure(rng, kind)
        held = 1 if kind == "distance" else 6 - joint.n_v
        if rows + held < freedom - 2 and frozenset((a, b)) not in tried:
            tried.add(frozenset((a, b)))
            rows += held
            system.loop(f"l{len(system.loops)}", joint=joint, a=random_frame(rng, system, a), b=random_frame(rng, system, b))
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


def rigid_system(rng):
    while True:
        system = random_system(rng, n=9, massless=0.0)
        close_some(rng, system, sum(body.n_v for body in system.bodies.values()))
        if system.loops and compiles(system):
            return system


def flexible_system(rng):
    while True:
        system = trees.random_twin(rng, chosen=trees.bodies()).system
        close_some(rng, system, sum(body.n_v for body in system.bodies.values()))
        if system.loops and compiles(system):
            return system


def gap_row(model, q, v=None):
    return np.concatenate([np.atleast_1d(gap) for gap in model.loop_gaps(q, v).values()])


def shifted(model, q, v, h):
    """q after h seconds at the constant speeds v."""
    from bough.model.loops import moved
    return moved(model, q, h*v)


def closed_or_skip(model, q, v):
    """The nearest closed state; where a loop is open the equations of redundant loops contradict each other."""
    try:
        q, v = model.assemble(q, v)
    except bough.StateError:
        pytest.skip("no position near this one closes the loops")
    if bent(model, q) > 1.5:
        pytest.skip("bent beyond what modes can tell")
    return q, v


def bent(model, q):
    """The largest rotation of a node."""
    angles = [0.0]
    for body in model.system.bodies.values():
        at = model.places[body.name][0] + body.joint.n_q
        if body.n_modes:
            angles.append(np.linalg.norm(body.elastic.nodes.psi @ q[at:at + body.n_modes], axis=1).max())
    return max(angles)


def check_equations(model, q, v, tau):
    a, dense = (model.forward_dynamics(q, v, tau, method=method) for method in ("order-n", "dense"))
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
    model = rigid_system(rng).compile()
    q, v = random_state(model, rng)
    tau = rng.normal(size=model.nv)
    q, v = closed_or_skip(model, q, v)
    check_equations(model, q, v, tau)


@pytest.mark.parametrize("seed", range(40))
def test_random_loops_on_flexible_trees(seed):
    rng = np.random.default_rng(100 + seed)
    model = flexible_system(rng).compile()
    q, v = trees.random_states(model, rng, size=0.1)
    q, v = closed_or_skip(model, q, v)
    check_equations(model, q, v, rng.normal(size=model.nv))


@pytest.mark.parametrize("seed", range(60))
def test_assembled_loops_stay_closed(seed):
    """At closed states the accelerations keep the gaps' rates at zero; four lanes say the same as one."""
    rng = np.random.default_rng(200 + seed)
    model = (rigid_system if seed % 2 else flexible_system)(rng).compile()
    states = trees.random_states(model, rng, 5, size=0.05)
    closed = []
    for q, v in zip(*states, strict=True):
        try:
            q, v = model.assemble(q, v)
        except bough.StateError:                                    # this one cannot be closed from here
            continue
        if bent(model, q) < 1.5:                                    # rad; beyond, no modes hold
            closed.append((q, v))
    if not closed:
        pytest.skip("no random position of this system closes its loops")
    q, v = (np.array(part) for part in zip(*closed, strict=True))
    assert max(np.abs(gap).max() for gap in model.loop_gaps(q).values()) < 1e-11
    tau = rng.normal(size=v.shape)
    a = np.array([model.forward_dynamics(*state) for state in zip(q, v, tau, strict=True)])
    for state in zip(q, v, a, strict=True):
        check_accelerations(model, *state)
    many = model.forward_dynamics(np.tile(q, (4, 1)), np.tile(v, (4, 1)), np.tile(tau, (4, 1)))
    np.testing.assert_allclose(many, np.tile(a, (4, 1)), rtol=0, atol=1e-9*np.abs(a).max())
