"""All derivatives of forward and inverse dynamics of random rigid trees, fixed and floating, against Pinocchio's analytic ones."""
import numpy as np
import pytest

from bough.analyze.derivatives import Directions, directional
from tests.support.compare import assert_same, solving
from tests.support.effort import seeds
from tests.support.peers import peer
from tests.support.random_systems import JOINTS, random_state, random_system
from tests.support.tolerance import CANCELLING

pin = pytest.importorskip("pinocchio")
pytestmark = pytest.mark.oracle
ROOTS = [*(kind for kind in JOINTS if kind != "weld"), "free", "free", "free"]


def tree(seed):
    """A tree whose mass matrix is not close to singular, the same in Pinocchio, and five states."""
    for attempt in range(9):
        rng = np.random.default_rng((seed, attempt))
        system = random_system(rng, 1 + seed % 12, root=ROOTS[seed % len(ROOTS)], branched=seed % 3 > 0, massless=0.3)
        model, oracle = system.compile(), peer("Pinocchio", system)
        q, v = random_state(model, rng, 5)
        if max(solving(oracle.mass_matrix(row)) for row in q) < 1e-9:
            break
    return model, oracle, q, v, 3*rng.normal(size=v.shape)


def theirs(oracle, q, v, tau):
    """By q, v and tau of forward dynamics, by q and v of inverse dynamics at its accelerations; all in our order."""
    model, data, order = oracle.model, oracle.data, np.ix_(oracle.iv, oracle.iv)
    args = oracle.q(q), oracle.v(v)
    pin.computeABADerivatives(model, data, *args, oracle.v(tau))
    forward = [data.ddq_dq.copy(), data.ddq_dv.copy(), np.triu(data.Minv) + np.triu(data.Minv, 1).T]
    a = data.ddq.copy()
    pin.computeRNEADerivatives(model, data, *args, a)
    inverse = [data.dtau_dq.copy(), data.dtau_dv.copy()]
    return [each[order] for each in (*forward, *inverse)]


@pytest.mark.parametrize("seed", seeds(100, 500))
def test_derivatives_of_trees(seed):
    """One state in packs of four speeds, five states in lanes.  Both engines round as solving with M does, relative to what M^-1
    multiplies: derivatives of inverse dynamics, which may cancel."""
    model, oracle, q, v, tau = tree(seed)
    if not model.nv:
        return
    ours, single = model.forward_dynamics_derivatives(q, v, tau), model.forward_dynamics_derivatives(q[0], v[0], tau[0])
    torques = model.inverse_dynamics_derivatives(q, v, ours.value)
    assert single.__dict__ == {}                                    # in closed form: nothing has been looked up yet
    for i in range(len(q)):
        by_q, by_v, M_inverse, torque_by_q, torque_by_v = theirs(oracle, q[i], v[i], tau[i])
        M = model.mass_matrix(q[i])
        relative, momenta = solving(M), np.abs(M).max()*np.abs(v[i]).max()      # of which gyroscopic terms are made
        assert_same(torques.dq[i], torque_by_q, relative, momenta)              # at accelerations of either engine
        assert_same(torques.dv[i], torque_by_v, CANCELLING, momenta)
        sizes = max(np.abs(torque_by_q).max(), momenta), max(np.abs(torque_by_v).max(), momenta), 1.0
        scales = [np.abs(M_inverse).max()*size for size in sizes]
        for found in (ours, single)[:1 + (i == 0)]:
            rows = (found.dq, found.dv, found.dtau) if found is single else (found.dq[i], found.dv[i], found.dtau[i])
            for got, wanted, scale in zip(rows, (by_q, by_v, M_inverse), scales, strict=True):
                assert_same(got, wanted, relative, scale)


def test_duals_of_trees():
    """The same through forward dynamics on duals."""
    for seed in range(3, 12, 4):
        model, oracle, q, v, tau = tree(seed)
        sizes = dict.fromkeys(("q", "v", "tau"), model.nv)
        found = directional(model, model.batch(q, v, tau), Directions.along(sizes)).along.v
        for i in range(len(q)):
            want = np.concatenate(theirs(oracle, q[i], v[i], tau[i])[:3], axis=1)
            assert_same(found[i].T, want, solving(model.mass_matrix(q[i])))
