"""What a lane gives does not depend on its neighbors: not where pivots are chosen, loops closed, loads of friction iterated, discs
cut by the water.  Each case has lanes that need what others do not."""
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import bough
from tests.support.mechanisms import bennett, four_bar

METHODS = ("order-n", "dense")


def assert_apart(found, n):
    """`found` gives rows for a list of cases: each as it is among copies of itself, whoever is beside it."""
    alone = np.array([found([i]*4)[0] for i in range(n)])
    assert np.isfinite(alone).all()
    rng = np.random.default_rng(0)
    for order in (list(range(n)), *(rng.permutation(n).tolist() for _ in range(4))):
        assert np.array_equal(found(order), alone[order])


@pytest.mark.parametrize("method", METHODS)
def test_pivots(method):
    """Bennett's links from flat, where other rows are redundant, to wide open: rows are sorted in some lanes only."""
    angles = [np.pi + 1e-3, 2.0, np.pi + 1e-6, 1.0, 0.01, np.pi + 1e-300, 3.0]
    model, q = bennett().system.compile(), np.array([bennett(angle).q for angle in angles])
    v = 5.0*np.ones(q.shape)
    assert_apart(lambda rows: model.forward_dynamics(q[rows], v[rows], dynamics=method), len(q))


@pytest.mark.parametrize("method", METHODS)
def test_corrections(method):
    """A four-bar at rest needs one correction a step, a fast one several; the last step of a run is shown."""
    case = four_bar()
    model = case.system.compile()
    q, v = model.assemble(np.tile(case.q, (5, 1)), np.outer([0.0, 0.2, 1.0, 4.0, 8.0], case.v))

    def run(rows):
        data = bough.simulate(model, q0=q[rows], v0=v[rows], until=0.2, dt=0.02, dynamics=method, progress=False).data
        return np.hstack([data.q[:, -1], data.v[:, -1]])

    assert_apart(run, 5)


def test_loads_of_friction():
    """Friction that depends on what the joint bears is iterated until it settles, sooner in slow lanes."""
    s = bough.System("loaded", gravity=(0, 0, -9.81))
    s.body("arm", joint=bough.Revolute("y"), mass=2.0, com=(0.5, 0, 0), inertia=(0.1, 0.2, 0.2))
    s.body("hand", parent="arm", at=(1, 0, 0), joint=bough.Revolute("y"), mass=1.0, com=(0.3, 0, 0), inertia=(0.02, 0.05, 0.05))
    s.friction("bearing", "arm.ry", mu=0.3, radius=0.2, law="regularized", speed=0.01)
    model = s.compile()
    v = np.outer([1e-6, 1e-3, 0.1, 1.0, 30.0, 0.0], [1.0, -2.0])
    assert_apart(lambda rows: model.forward_dynamics(np.zeros((len(rows), 2)), v[rows]), len(v))


def test_buoyancy():
    """Cylinders under the water, cut by it, and above it."""
    s = bough.System("buoy", gravity=(0, 0, -9.81))
    s.body("buoy", joint=bough.Free(), mass=100.0, inertia=(10, 10, 10))
    s.buoyancy("hull", body="buoy", sections=[(-1, 1, 0.7, 0.7)])
    model = s.compile()
    heights, tilts = [-5.0, 0.9, 0.0, -1.01, 3.0, 1.05], [0.3, 0.3, 0.1, 0.5, 0.2, 0.2]
    q = np.column_stack([np.zeros((6, 2)), heights, Rotation.from_euler("x", np.array(tilts)[:, None]).as_quat()])
    assert_apart(lambda rows: model.forward_dynamics(q[rows], np.zeros((len(rows), 6))), len(q))
