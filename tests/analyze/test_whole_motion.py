"""Mass center, momenta and rigid motions of a floating system from its mass matrix: what the sums over its bodies say."""
import numpy as np
import pytest

import bough
from bough.analyze.bodies import bodies_of
from bough.analyze.whole_motion import whole_motion
from bough.model import Model
from tests.support.tolerance import SWEEP


def two_roots() -> Model:
    s = bough.System("two craft", gravity=(0, 0, 0))
    s.body("bus", joint=bough.Free(), mass=30.0, inertia=(4, 5, 6), com=(0.1, 0.2, -0.1))
    s.body("arm", parent="bus", at=(0.5, 0, 0), joint=bough.Revolute("y"), mass=3.0, inertia=(0.1, 0.4, 0.4), com=(0.6, 0, 0))
    s.body("other", joint=bough.Free(), mass=7.0, inertia=(1, 2, 2))
    s.wheel("driven", body="arm", axis=(0, 0.6, 0.8), inertia=0.3, speed=40.0, torque=0.0)
    s.wheel("steady", body="other", axis=(1, 0, 0), inertia=0.2, speed=-30.0)
    s.tank("fuel", body="bus", mass=2.0, exhaust_speed=100.0, nozzle=(0.1, 0, -1))
    return s.compile()


def state_of(model: Model, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    x = model.layout.pack(model.q0 + rng.uniform(-1, 1, model.nq), rng.uniform(-2, 2, model.nv), rng.uniform(-50, 50, model.nw),
                          model.initial_orbit, 0.7*model.tank_masses)
    model.normalize_quaternions(x[None])
    return x


@pytest.mark.parametrize("seed", range(3))
def test_mass_matrix_and_sums_over_bodies_agree(seed):
    model = two_roots()
    x = state_of(model, seed)
    model = model.with_tanks(x)
    bodies, whole = bodies_of(model, model.batch_of(x[None].copy())), whole_motion(model, x)
    largest = np.abs(bodies.momentum).max()
    np.testing.assert_allclose(whole.center, bodies.center_of_mass[0], rtol=0, atol=SWEEP)
    np.testing.assert_allclose(whole.momenta, bodies.momentum[0], rtol=0, atol=SWEEP*largest)
    moving, more = x.copy(), np.random.default_rng(seed).uniform(-1, 1, 6)
    model.state(moving).v[:] += more @ whole.motions
    after = bodies_of(model, model.batch_of(moving[None].copy()))
    np.testing.assert_allclose(after.momentum[0], whole.momenta + whole.inertia @ more, rtol=0,
                               atol=SWEEP*(largest + np.abs(after.momentum).max()))
