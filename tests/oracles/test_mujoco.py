"""Random trees against MuJoCo, where it can express them: every body that moves has mass.

MuJoCo shares no code and few conventions with Pinocchio: it works at the mass center of each tree, in world axes, and
its joints of several motions are one body's. What both agree on with us is unlikely to be a common misunderstanding.
"""
from types import SimpleNamespace

import numpy as np
import pytest

from tests.support.compare import assert_same, solved_scale, solving
from tests.support.effort import seeds
from tests.support.mujoco_oracle import Mujoco, expressible
from tests.support.random_systems import JOINTS, random_state, random_system
from tests.support.tolerance import CANCELLING, SWEEP

pytestmark = pytest.mark.filterwarnings("ignore:Inertia matrix is too close to singular")     # at its zero position
TREES = seeds(40, 100)
ROOTS = [*(kind for kind in JOINTS if kind != "weld"), "free", "free"]


def tree(seed):
    """A tree, the same in MuJoCo, and a state with torques and world-axes wrenches."""
    rng = np.random.default_rng((7, seed))
    system = random_system(rng, 1 + seed % 10, root=ROOTS[seed % len(ROOTS)], branched=seed % 3 > 0, massless=0.0)
    assert expressible(system)
    model = system.compile()
    q, v = random_state(model, rng, 5)
    wrenches = {str(rng.choice(model.names.bodies)): rng.normal(size=6)*3}
    return SimpleNamespace(system=system, model=model, oracle=Mujoco(system), q=q, v=v, tau=rng.normal(size=v.shape)*3,
                           wrenches=wrenches)


@pytest.fixture(scope="module", params=TREES)
def case(request):
    """One tree after the other: all tests of it, then the next one."""
    return tree(request.param)


@pytest.mark.parametrize("method", ["order-n", "dense"])
def test_forward_dynamics(case, method):
    """Accelerations under gravity, torques and wrenches."""
    ours = case.model.forward_dynamics(case.q, case.v, case.tau, wrenches=case.wrenches, frame="world", dynamics=method)
    for i, (q, v, tau) in enumerate(zip(case.q, case.v, case.tau, strict=True)):
        M, bias = case.oracle.mass_matrix(q), case.oracle.bias(q, v)
        theirs = case.oracle.forward_dynamics(q, v, tau, case.wrenches)
        assert_same(ours[i], theirs, solving(M), solved_scale(M, tau, bias).max())


def test_mass_matrix_and_bias(case):
    """M and h of M a + h = tau."""
    M, h = case.model.mass_matrix(case.q), case.model.bias(case.q, case.v)
    for i, (q, v) in enumerate(zip(case.q, case.v, strict=True)):
        assert_same(M[i], case.oracle.mass_matrix(q), SWEEP)
        assert_same(h[i], case.oracle.bias(q, v), CANCELLING)


def test_energy_and_motion(case):
    """Energies, places, attitudes and velocities."""
    weight = sum(body.mass for body in case.system.bodies.values())*np.linalg.norm(case.system.gravity)
    for q, v in zip(case.q, case.v, strict=True):
        kinetic, potential = case.oracle.energies(q, v)
        assert_same(case.model.kinetic_energy(q, v), kinetic, SWEEP)
        assert_same(case.model.potential_energy(q), potential, SWEEP, weight)
        for name in case.model.names.bodies:
            (p, C), (place, turn) = case.model.pose(q, name), case.oracle.pose(q, name)
            assert_same(p, place, SWEEP, 1.0)
            assert_same(C, turn, SWEEP)
            assert_same(case.model.velocity(q, v, name), case.oracle.velocity(q, v, name), SWEEP)
