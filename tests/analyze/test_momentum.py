"""The paper's sums P, Q and their rates: against finite differences, the model's momentum, the kernel and the reactions."""
import numpy as np
import pytest

import bough
from bough.analyze.momentum import center_accelerations, momentum_terms, relative_motion, times
from tests.support.compare import assert_same, solved_scale, solving
from tests.support.given_motion import given_system, states
from tests.support.random_systems import JOINTS
from tests.support.tolerance import CANCELLING, SWEEP, differences

SINGLE = tuple(kind for kind in JOINTS if kind not in ("spherical", "general"))


def terms_at(model, q, v, a, t):
    seen = model.bodies(q, v, a, t=t)
    return seen, momentum_terms(relative_motion(seen), np.arange(len(model.names.bodies)))


def base_at_rest(model, q, v, t):
    """Accelerations of what is prescribed, none of the base."""
    a = np.zeros(model.nv)
    for name, (_, _, acceleration) in model.motion(t).items():
        a[model.names.v.index(name)] = acceleration
    return a


@pytest.mark.parametrize("seed", range(3))
def test_six_equations_of_the_paper(seed):
    """[MC 23] written out in matrices, beside the kernel that sums the same about the base's origin in one pass."""
    rng = np.random.default_rng(seed)
    model = given_system(rng, 7, kinds=SINGLE).compile()
    q, v, _, t = states(model, rng)
    seen, terms = terms_at(model, q, v, base_at_rest(model, q, v, t), t)
    C, w, mass = seen.attitude[0, 0], seen.attitude[0, 0].T @ seen.rate[0, 0], seen.mass.sum()
    wrench = rng.normal(size=6)                                                 # on the base, at its origin, world axes
    G = seen.com[0, 0] + C @ terms.y[0]
    moment = C.T @ (wrench[:3] + np.cross(seen.position[0, 0] - G, wrench[3:]))
    P, rate = terms.P[0], terms.rate(w[None], np.zeros((1, 3)))[0]
    w_dot = np.linalg.solve(P, moment - rate)
    a = model.forward_dynamics(q, v, wrenches={"b0": wrench}, frame="world", t=t, dynamics="cloud")
    assert_same(a[3:6], w_dot, solving(P), solved_scale(P, moment, rate).max())
    found = model.bodies(q, v, a, t=t)
    of_bodies = center_accelerations(found)
    a_G = np.einsum("k,bki->i", found.mass, of_bodies)/mass
    assert_same(a_G, wrench[3:]/mass + np.asarray(model.system.gravity), solving(P), np.abs(of_bodies).max())


def test_momentum_is_that_of_the_model():
    rng = np.random.default_rng(5)
    model = given_system(rng, 6, kinds=SINGLE).compile()
    q, v, _, t = states(model, rng)
    seen, terms = terms_at(model, q, v, np.zeros(model.nv), t)
    C = seen.attitude[:, 0]
    w = np.einsum("bji,bj->bi", C, seen.rate[:, 0])
    assert_same(times(C, times(terms.P, w) + terms.Q)[0], model.momentum(q, v)[:3], SWEEP)


def test_rates_are_those_of_the_sums():
    """Central differences along a prescribed motion; their error is h^2/6 of the third derivative, some 10^2 of the first here."""
    rng, h = np.random.default_rng(6), 1e-4
    model = given_system(rng, 6, kinds=SINGLE).compile()
    q, v, _, t = states(model, rng)
    rows = [model.follow(q, v, time) for time in (t - h, t, t + h)]
    before, now, after = (terms_at(model, *row, base_at_rest(model, *row, time), time)[1]
                          for row, time in zip(rows, (t - h, t, t + h), strict=True))
    for value, rate in (("P", "P_dot"), ("Q", "Q_dot")):
        difference = (getattr(after, value) - getattr(before, value))/(2*h)
        assert_same(getattr(now, rate), difference, differences(h, rate=10.0))           # 10^2 at order two


@pytest.mark.parametrize("seed", range(3))
def test_loads_are_the_reactions(seed):
    rng = np.random.default_rng(seed)
    s = given_system(rng, 7, unknown=(3,), massless=0.0, kinds=SINGLE[:-1])
    s.wheel("held", body="b3", axis=(1, 1, 0), inertia=1e-3, speed=300.0)
    s.wheel("driven", body="b5", axis=(0, 1, 1), inertia=1e-3, speed=-100.0, torque=0.3)
    s.wrench("wind", body="b4", force=(0, -4, 1), moment=(1, 0, 0), at=(0.2, 0.1, 0))
    s.line("tether", a=bough.Frame("b2", at=(0.1, 0, 0)), b=bough.Frame("b6", at=(0, 0.1, 0)), stiffness=20.0, length=0.01)
    s.restoring("anchor", body="b5", stiffness=np.diag([3.0, 2.0, 1.0, 0, 0, 0]))
    s.input("jet", force=bough.Frame("b6", at=(0, 0, 0.1)), axis="z")
    s.input("drive", wheel="driven")
    model = s.compile()
    for n in (None, 5):
        q, v, tau, t = states(model, rng, n)
        given = {"t": t, "inputs": {"jet": 3.0, "drive": 0.2}, "wrenches": {"b6": rng.normal(size=6), "b2": rng.normal(size=6)}}
        a = model.forward_dynamics(q, v, tau, dynamics="cloud", **given)
        reactions = model.reactions(q, v, a, **given)
        for k, joint in enumerate(model.names.joints):
            assert_same(model.momentum_loads(q, v, a, joint, **given), reactions[..., k, :], CANCELLING,
                        np.abs(reactions).max())


def test_loads_by_a_wrong_name():
    model = given_system(np.random.default_rng(1), 3, kinds=("revolute",)).compile()
    with pytest.raises(bough.StateError, match="there is no joint 'b9'"):
        model.momentum_loads(model.q0, model.v0, np.zeros(model.nv), "b9")
