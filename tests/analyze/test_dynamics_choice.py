"""Which dynamics "auto" means, and what `bough check` says of it."""
import numpy as np
import pytest

import bough
from bough.analyze.equations_of_motion import reason
from bough.bench.mechanisms import Mechanism, arms, flexible_arm, four_bar_chain, tree36


def limb(*kinds):
    m = Mechanism("limb")
    m.limb(None, kinds)
    return m.system.compile()


@pytest.mark.parametrize(("make", "choice"), [
    (lambda: limb("revolute"), "order-n"), (lambda: limb("universal"), "order-n"), (lambda: tree36().compile(), "order-n"),
    (lambda: four_bar_chain(1).compile(), "order-n"),
    (lambda: flexible_arm(1, 1, "zeroth_order").compile(), "dense"), (lambda: flexible_arm(1, 3).compile(), "dense"),
    (lambda: flexible_arm(1, 4).compile(), "order-n"), (lambda: flexible_arm(10, 5).compile(), "order-n"),
    (lambda: arms(2, 1, 4, "full", closed=True).compile(), "dense"),
    (lambda: arms(2, 1, 5, "full", closed=True).compile(), "order-n")])
def test_small_flexible_systems_are_dense(make, choice):
    model = make()
    assert model.resolve_dynamics() == model.resolve_dynamics("auto") == choice
    assert model.resolve_dynamics("dense") == "dense"


@pytest.mark.parametrize("n", [1, 4])
def test_auto_computes_what_it_chose(n):
    model = flexible_arm(1, 2).compile()
    q, v = np.tile([0.3, 0.01, 0.02], (n, 1)), np.array([1.0, 0.2, -0.3])
    np.testing.assert_array_equal(model.forward_dynamics(q, v), model.forward_dynamics(q, v, dynamics="dense"))


def test_method_is_another_spelling_of_dynamics():
    model, q, v = limb("revolute", "revolute"), [0.1, 0.2], [1.0, -0.3]
    np.testing.assert_array_equal(model.forward_dynamics(q, v, method="dense"), model.forward_dynamics(q, v, dynamics="dense"))
    with pytest.raises(bough.StateError, match=r"dynamics is 'densely' \(did you mean 'dense'"):
        model.forward_dynamics(q, v, method="densely")


def test_an_event_changes_no_method():
    s = bough.System("arm")
    beam = bough.beam(1.0, modes=1, E=1e8, G=4e7, area=5e-3, Iy=1e-6, Iz=4e-6, J=3e-6, density=1000.0)
    for i in range(2):
        s.body(f"b{i}", parent=f"b{i - 1}" if i else None, node="tip" if i else None, joint=bough.Revolute("y"), flexible=beam)
    s.event("lock", at=1.0, do=[bough.Lock("b1")])
    model = s.compile()
    locked = model.switched(dict.fromkeys(["b1.ry"]))
    assert locked.resolve_dynamics() == model.resolve_dynamics() == "dense"


@pytest.mark.parametrize("method", ["order-n", "dense"])
def test_both_methods_refuse_what_is_bent_too_far(method):
    model = arms(1, 2, 3, "free-free").compile()
    q = np.random.default_rng(0).normal(scale=30.0, size=model.nq)
    with pytest.raises(bough.StateError, match=r"turns by .* rad, and modes hold for"):
        model.forward_dynamics(q, model.v0, dynamics=method)


# ---- what check says -----------------------------------------------------------------------------------------------------
def test_check_says_what_is_chosen_and_why():
    assert reason(limb("revolute", "revolute")) == "order-n: no body is flexible"
    assert reason(flexible_arm(1, 2).compile()) == "dense: 3 speeds, at most 4 of a flexible system without loops"
    assert reason(flexible_arm(1, 9).compile()) == "order-n: 10 speeds, more than 4 of a flexible system without loops"
    closed = arms(2, 1, 4, "full", closed=True).compile()
    assert reason(closed) == "dense: 10 speeds, at most 10 of a flexible system with loops"


def test_check_says_why_the_cloud():
    s = bough.System("satellite")
    s.body("bus", joint=bough.Free(), mass=10.0, inertia=(1, 1, 1))
    for i in range(4):
        s.body(f"wing{i}", parent="bus", joint=bough.Revolute("y", motion=bough.motion.Rate(0.1)), mass=1.0, inertia=(1, 1, 1))
    assert reason(s.compile()) == "cloud: all but 6 speeds are given"
