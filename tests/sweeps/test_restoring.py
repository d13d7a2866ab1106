"""Restoring forces: the law, where they rest, and what they keep."""
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import bough
from tests.support import element_laws as laws
from tests.support.compare import assert_same
from tests.support.element_systems import COUPLED
from tests.support.tolerance import CANCELLING, FORMULA, SWEEP

POINT, FORCE = (0.3, -0.2, -5.0), (10.0, 20.0, 30.0)


def platform(**keywords):
    s = bough.System("platform")
    s.body("hull", joint=bough.Free(), at=(1, 2, 3), orient={"axis": "z", "degrees": 40}, mass=50.0, com=(0, 0, -2),
           inertia=(450, 500, 90))
    s.restoring("springs", body="hull", at=POINT, **{"stiffness": COUPLED, "force": FORCE, "moment": (1, 2, 3)} | keywords)
    return s.compile()


@pytest.mark.parametrize("seed", range(4))
def test_the_law(seed):
    """[force; moment] - K [displacement; roll, pitch, yaw], from where the point is at neutral coordinates."""
    model, rng = platform(), np.random.default_rng(seed)
    q = np.array([*rng.normal(size=3), *Rotation.from_euler("ZYX", rng.uniform((-3, -1.4, -3), (3, 1.4, 3))).as_quat()])
    rest = np.array([1, 2, 3]) + Rotation.from_euler("z", 40, degrees=True).apply(POINT)
    at_point, _ = laws.restoring(model, q, np.zeros(6), model.system.restorings["springs"], rest)
    assert_same(model.element_forces(q)["springs"], at_point, SWEEP)
    assert_same(model.element_forces(np.tile(q, (4, 1)))["springs"][2], at_point, SWEEP)
    yaw, pitch, roll = Rotation.from_matrix(model.pose(q, "hull")[1]).as_euler("ZYX")       # SciPy's word for the angles
    assert_same(laws.angles(model.pose(q, "hull")[1]), [roll, pitch, yaw], CANCELLING)


def test_it_rests_where_it_is_told():
    """Without rest, at neutral coordinates, also where q0 is another place; a rest is a place in the world."""
    K = (7.0, 8.0, 9.0, 0.0, 0.0, 0.0)
    free = platform(stiffness=K, force=(0, 0, 0), moment=(0, 0, 0))
    neutral = [0, 0, 0, 0, 0, 0, 1]
    assert_same(free.element_forces(neutral)["springs"], np.zeros(6), 0.0, FORMULA)
    told = platform(stiffness=K, force=(0, 0, 0), moment=(0, 0, 0), rest=(0, 0, 0))
    x = np.array([1, 2, 3]) + Rotation.from_euler("z", 40, degrees=True).apply(POINT)
    assert_same(told.element_forces(neutral)["springs"][3:], -np.array([7, 8, 9])*x, FORMULA)


def test_yaw_moment_of_a_moored_spar():
    """The law that a moored spar needs: F0 - K x at a point, -K66 yaw about the world's z."""
    s = bough.System("spar")
    s.body("spar", joint=bough.Gimbal("zyx"), mass=8e6, com=(0, 0, -78), inertia=(8e9, 8e9, 1.6e8))
    s.restoring("mooring", body="spar", at=(0, 0, -62), stiffness=(41180, 41180, 344881, 0, 0, 1.1e8), force=(0, 0, 7.9e7))
    model = s.compile()
    q = np.array([0.3, 0.1, -0.2])
    moment, force = np.split(model.element_forces(q)["mooring"], 2)
    moved = Rotation.from_euler("ZYX", q).apply([0, 0, -62]) - np.array([0, 0, -62])
    assert_same(moment, [0, 0, -1.1e8*0.3], FORMULA)
    assert_same(force, np.array([0, 0, 7.9e7]) - np.array([41180, 41180, 344881])*moved, FORMULA)


def test_forces_keep_energy_and_moments_are_named():
    """A spring at a point far from the mass center: the error of rk4's energy falls with the step's fourth power or faster."""
    K = np.zeros((6, 6))
    K[:3, :3] = [[50, 5, 3], [5, 60, 4], [3, 4, 70]]
    model = platform(stiffness=K, moment=(0, 0, 0))
    q, v = [0.5, -0.2, 0.4, 0.1, 0.2, -0.1, 0.95], [0.3, 0.2, -0.1, 0.4, -0.3, 0.5]
    drift = [np.ptp(bough.simulate(model, q0=q, v0=v, until=2.0, dt=dt, sample_rate=10).data.total_energy.values)
             for dt in (0.02, 0.01)]
    assert drift[1] < drift[0]/2**3.5
    kept = bough.simulate(model, q0=q, v0=v, until=0.2, dt=0.02)
    assert "restoring" not in kept.summary
    lost = bough.simulate(platform(), q0=q, v0=v, until=0.2, dt=0.02)
    assert "(restoring moments)" in lost.summary


def test_angles_near_their_jumps_are_named():
    """Pitch through a quarter turn, yaw through half a turn; nothing where no angle matters."""
    def turning(axis, stiffness):
        s = bough.System("turning")
        s.body("hull", joint=bough.Revolute(axis, v0=2.0), mass=1.0, inertia=(1, 1, 1))
        s.restoring("springs", body="hull", stiffness=stiffness)
        return bough.simulate(s, until=2.0, dt=0.01, sample_rate=100)
    small = (1, 1, 1, 1e-3, 1e-3, 1e-3)
    assert "restoring springs" in turning("y", small).summary
    assert "within 5 deg of a quarter turn" in turning("y", small).summary
    assert "from t = 1.53 s: its yaw is within 5 deg of half a turn" in turning("z", small).summary     # 175 deg at 2 rad/s
    assert "quarter turn" not in turning("y", (1, 1, 1, 0, 0, 0)).summary
