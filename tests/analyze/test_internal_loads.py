"""Loads through joints and cuts of trees: closed forms, and momentum balances of what is cut off as an independent witness."""
import doctest

import numpy as np
import pytest

import bough
import bough.model.model
from tests.support.compare import assert_same
from tests.support.random_systems import random_state, random_system
from tests.support.result_runs import antenna

G = 9.81
ROUNDING = 1e-12            # of the sum of some dozen forces and moments, each of a hundred roundings


def test_docstring():
    found = doctest.DocTestFinder().find(bough.model.model.Model.internal_loads, "internal_loads", globs={})
    runner = doctest.DocTestRunner()
    assert all(runner.run(test).failed == 0 for test in found)
    assert runner.tries > 0


# ---- closed forms ---------------------------------------------------------------------------------------------------------
def chain():
    """Two links that hang, one from the other."""
    s = bough.System("chain", gravity=(0, 0, -G))
    s.body("upper", joint=bough.Revolute("y", name="top"), mass=2.0, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.1))
    s.body("lower", parent="upper", at=(0, 0, -1), joint=bough.Revolute("y"), mass=3.0, com=(0, 0, -0.25), inertia=(0.1, 0.1, 0.1))
    return s.compile()


def test_hanging_chain():
    """Each joint carries what hangs on it; out of the way by d, with the moment d times that."""
    model = chain()
    for cut, names in (("top", ("top",)), ("upper", ("top",)), (["lower"], ("lower",))):
        loads = model.internal_loads([0, 0], [0, 0], [0, 0], cut=cut)
        weight = G*(5.0 if names == ("top",) else 3.0)
        assert loads.names == names
        assert loads.on == ("upper" if names == ("top",) else "lower",)
        assert_same(loads[names[0]], [0, 0, 0, 0, 0, weight], ROUNDING)
        assert loads.component(names[0], "force", "z") == pytest.approx(weight, rel=ROUNDING)
    aside = model.internal_loads([0, 0], [0, 0], [0, 0], cut="top", at=(0.3, 0, 0))
    assert_same(aside["top"], [0, 5*G*0.3, 0, 0, 0, 5*G], ROUNDING)
    assert_same(aside.points, [[0.3, 0, 0]], ROUNDING)


def test_the_middle_of_a_chain():
    """Cut off at both ends, the upper link carries the lower one: its load acts downwards on it."""
    loads = chain().internal_loads([0, 0], [0, 0], [0, 0], cut=["upper", "lower"])
    assert loads.on == ("upper", "upper")
    assert_same(loads["top"][3:], [0, 0, 5*G], ROUNDING)
    assert_same(loads["lower"][3:], [0, 0, -3*G], ROUNDING)
    assert_same(loads.total, [0, 0, 0, 0, 0, 2*G], ROUNDING)


def test_axes():
    """A chain bent by 90 degrees in its lower joint: the same load along the child's, the parent's and the world's axes."""
    model, q = chain(), [np.pi/2, np.pi/2]
    up = {"child": (0, 0, -3*G), "parent": (-3*G, 0, 0), "world": (0, 0, 3*G)}
    for axes, force in up.items():
        load = model.internal_loads(q, [0, 0], [0, 0], cut="lower", axes=axes)["lower"]
        assert_same(load[3:], force, ROUNDING)
        assert_same(load[:3], [0, 0, 0], ROUNDING, scale=3*G)           # the lower link stands on its joint


def test_spinning_rod():
    """The root of a rod that spins pulls it inwards, m w^2 L/2; and, speeded up by w', turns it, m L^2/3 w'."""
    mass, length, w, up = 2.0, 1.5, 7.0, 3.0
    s = bough.System("rod")
    s.body("rod", joint=bough.Revolute("z"), mass=mass, com=(length/2, 0, 0), inertia=(0, mass*length**2/12, mass*length**2/12))
    loads = s.compile().internal_loads([0.4], [w], [up], cut="rod")
    pull, push = mass*w**2*length/2, mass*up*length/2
    assert_same(loads["rod"], [0, 0, mass*length**2/3*up, -pull, push, 0], ROUNDING)


# ---- momentum balance -------------------------------------------------------------------------------------------------------
def demands(model, seen, wrenches):
    """{body: [moment about the world's origin, force] that joints must give}: m a - F, its moment, J w' + w x J w; and a size."""
    found, size = {}, 0.0
    for k, body in enumerate(model.system.bodies.values()):
        R, w, (wdot, a) = seen.attitude[0, k], seen.rate[0, k], np.split(seen.acceleration[0, k], 2)
        arm, J = R @ body.com, R @ np.array(body.inertia) @ R.T
        given = [R @ part for part in np.split(np.asarray(wrenches.get(body.name, np.zeros(6))), 2)]
        force = body.mass*(a + np.cross(wdot, arm) + np.cross(w, np.cross(w, arm)) - model.system.gravity)
        moment = J @ wdot + np.cross(w, J @ w) + np.cross(seen.position[0, k] + arm, force)
        outside = np.concatenate([given[0] + np.cross(seen.position[0, k], given[1]), given[1]])
        found[body.name] = np.concatenate([moment, force]) - outside
        size += np.abs(moment).sum() + np.abs(force).sum() + np.abs(outside).sum()
    return found, size


def outboard(system, cut):
    """Bodies between the world and which there is an odd number of the cut joints."""
    found = []
    for name, body in system.bodies.items():
        crossed = name in cut
        while body.parent:
            body = system.bodies[body.parent]
            crossed ^= body.name in cut
        found += [name] if crossed else []
    return found


@pytest.mark.parametrize("seed", range(12))
def test_momentum_of_what_is_cut_off(seed):
    """Through every joint of a random tree, and every pair: the load is the rate of the momentum of what is cut off, less what
    acts on it."""
    rng = np.random.default_rng(seed)
    model = random_system(rng, 7, branched=seed % 2).compile()
    q, v = random_state(model, rng)
    a, wrenches = rng.normal(size=model.nv), {name: rng.normal(size=6) for name in model.names.bodies[::3]}
    needed, size = demands(model, model.bodies(q, v, a), wrenches)
    pairs = [(one, other) for i, one in enumerate(model.names.bodies) for other in model.names.bodies[:i]]
    reactions = model.reactions(q, v, a, wrenches=wrenches)
    for cut in [*((name,) for name in model.names.bodies), *pairs]:
        loads = model.internal_loads(q, v, a, cut=cut, wrenches=wrenches)
        assert loads.determined.all()
        assert loads.rank == 6*len(cut)
        assert_same(loads.total, sum(needed[name] for name in outboard(model.system, cut)), ROUNDING, scale=size)
        for name, on in zip(cut, loads.on, strict=True):
            sign = 1 if on == name else -1
            assert_same(loads[name], sign*reactions[model.body_index(name)], ROUNDING, scale=size)


def test_many_states():
    """A batch is its states, one by one."""
    rng = np.random.default_rng(5)
    model = random_system(rng, 6).compile()
    (q, v), a, t = random_state(model, rng, 5), rng.normal(size=(5, model.nv)), np.arange(5.0)
    cut = list(model.names.bodies[-2:])
    many = model.internal_loads(q, v, a, cut=cut, axes="parent", at=(0.1, 0.2, 0), t=t)
    each = [model.internal_loads(q[i], v[i], a[i], cut=cut, axes="parent", at=(0.1, 0.2, 0), t=t[i]) for i in range(5)]
    size = np.abs(many.values).max()                                        # of what cancels, where a load is zero
    for what in ("least", "values", "points", "attitudes", "total"):
        assert_same(getattr(many, what), [getattr(one, what) for one in each], ROUNDING, scale=size)
    assert_same(many[cut[0]], [one[cut[0]] for one in each], ROUNDING)
    assert many.rank.tolist() == [12]*5
    assert "5 states" in repr(many)


def test_flexible_bodies():
    """Through joints at nodes too; in the parent's axes those of the node."""
    model = antenna()
    rng = np.random.default_rng(0)
    q, v = random_state(model, rng)
    q[["mode" in name for name in model.names.q]] *= 0.01
    a = rng.normal(size=model.nv)
    reactions, seen = model.reactions(q, v, a), model.bodies(q)
    for name in model.names.bodies:
        assert_same(model.internal_loads(q, v, a, cut=name).least[0], reactions[model.body_index(name)], ROUNDING)
    k, tip = model.body_index("mast"), seen.node("boom", "tip").attitude[0]
    turned = [tip.T @ seen.attitude[0, k] @ part for part in np.split(reactions[k], 2)]
    assert_same(model.internal_loads(q, v, a, cut="mast", axes="parent")["mast"], np.concatenate(turned), ROUNDING)


# ---- what makes no sense ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("options", "words"), [
    ({"cut": "uper"}, ["no joint, body or loop 'uper'", "did you mean 'upper'"]),
    ({"cut": 3}, ["cut is 3", "name of a joint"]),
    ({"cut": []}, [r"cut is \[\]", "list of such names"]),
    ({"cut": ["top", "upper"]}, ["'top' is there twice"]),
    ({"cut": "top", "axes": "body"}, ["axes is 'body'", "'child', 'parent' or 'world'"]),
    ({"cut": "top", "at": (1, 2)}, ["at has shape", "give 3 numbers"]),
    ({"cut": "top", "driven": "tip"}, ["driven: there is no coordinate or joint 'tip'", "did you mean 'top'"]),
])
def test_bad_questions(options, words):
    for word in words:
        with pytest.raises(bough.StateError, match=word):
            chain().internal_loads([0, 0], [0, 0], [0, 0], **options)


def test_a_name_of_two_joints():
    s = bough.System("names", gravity=(0, 0, -G))
    s.body("arm", joint=bough.Revolute("y"), mass=1.0, com=(1, 0, 0))
    s.body("hand", parent="arm", at=(1, 0, 0), joint=bough.Revolute("y", name="arm"), mass=1.0, com=(1, 0, 0))
    with pytest.raises(bough.StateError, match="'arm' may be the joint between 'world' and 'arm' and the joint between 'arm' and"):
        s.compile().internal_loads([0, 0], [0, 0], [0, 0], cut="arm")


def test_bad_components():
    loads = chain().internal_loads([0, 0], [0, 0], [0, 0], cut="top")
    for arguments, word in ((("lower", "force", "x"), "the cut has no 'lower'; it goes through top"),
                            (("top", "forse", "x"), "did you mean 'force'"), (("top", "force", "w"), "direction is 'w'"),
                            (("top", "force", (0, 0, 0)), "direction")):
        with pytest.raises(bough.StateError, match=word):
            loads.component(*arguments)
