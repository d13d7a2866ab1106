"""Runs with prescribed motions: samples hold them exactly, the drives' forces do it too, and their power is what energy gains."""
import numpy as np
import pytest

import bough
from bough.describe import Harmonics, Move, Pieces, Polynomial, Rate, Spline, TimeTable
from bough.integrate import integrate
from tests.support.event_runs import parts, satellite
from tests.support.held_systems import with_joints, with_motions
from tests.support.mechanisms import four_bar
from tests.support.tolerance import CANCELLING, FORMULA, STEPPED, SWEEP, refined

MOTIONS = {"rate": Rate(0.3, start=0.1), "polynomial": Polynomial([0.1, 0.2, -0.3, 0.4]),
           "harmonics": Harmonics([(0.2, 3.0, 0.4), (0.05, 11.0, 1.0)], mean=0.3), "move": Move(0.8, begin=0.13, duration=0.5),
           "spline": Spline([0.0, 0.21, 0.66, 0.9], [0.0, 0.3, -0.1, 0.4], (0.2, -0.3)),
           "table": TimeTable([0.0, 0.37, 0.5, 0.8], [0.0, 0.2, 0.3, 0.1], "cubic"),
           "pieces": Pieces([0.0, 0.313], [[0.0, 0.0, 1.0], [0.313**2, 2*0.313, -2.0]])}
METHODS = {"rk4": {"dt": 1e-3}, "euler-cromer": {"dt": 1e-3}, "imex4": {"dt": 1e-3}, "dopri5": {}, "radau": {}}


def driven(motion):
    """The satellite with its boom and one axis of its wrist told how to move, the other one locked."""
    system = satellite()
    still = with_joints(system, {name: bough.Joint(rotations=system.bodies[name].joint.rotations) for name in ("boom", "wrist")})
    return with_motions(still, {"boom": [motion], "wrist": ["locked", Harmonics([(0.3, 4.0, 0.0)])]})


@pytest.mark.parametrize("method", list(METHODS))
@pytest.mark.parametrize("name", list(MOTIONS))
def test_samples_hold_what_is_prescribed(name, method):
    model = driven(MOTIONS[name]).compile()
    r = integrate(model, until=1.0, method=method, sample_rate=50, **METHODS[method])
    q, v, _ = parts(model, r.x[0])
    for entry, (position, rate, _) in model.motion(r.t).items():
        np.testing.assert_allclose(q[:, model.names.q.index(entry)], position, rtol=0, atol=FORMULA)
        np.testing.assert_allclose(v[:, model.names.v.index(entry)], rate, rtol=0, atol=SWEEP)
    assert (v[:, model.names.v.index("wrist.rx")] == 0.0).all()
    assert (q[:, model.names.q.index("wrist.rx")] == 0.0).all()


@pytest.mark.parametrize("name", list(MOTIONS))
def test_drives_do_the_work_that_energy_gains(name):
    """Momenta of the floating whole stay, and the drives' power, summed over the samples, is the energy gained."""
    model = driven(MOTIONS[name]).compile()
    r = integrate(model, until=1.0, dt=1e-3, sample_rate=1000)
    q, v, wheels = parts(model, r.x[0])
    momentum, energy = model.momentum(q, v, wheels=wheels), model.kinetic_energy(q, v, wheels=wheels)
    coarse = parts(model, integrate(model, until=1.0, dt=2e-3, sample_rate=500).x[0])
    lost = [np.ptp(each, axis=0).max() for each in (model.momentum(*coarse[:2], wheels=coarse[2]), momentum)]
    assert lost[1] < refined(lost[0]) + STEPPED*np.abs(momentum).max()
    forces = model.drive_forces(q, v, t=r.t, wheels=wheels)
    power = sum(force*v[:, model.names.v.index(entry)] for entry, force in forces.items())
    gained = np.concatenate([[0.0], np.cumsum((power[1:] + power[:-1])/2)*1e-3])
    slack = 1e-3*np.abs(np.diff(power, 2)).sum()                # trapezia: h/12 of each second difference, h/2 of a jump
    assert np.abs(gained - (energy - energy[0])).max() < slack
    assert np.ptp(energy) > 10*slack


def test_the_free_tree_under_the_drives_forces_moves_as_told():
    """The forces at the stages of each step, as a control that follows them: the same motion to the accuracy of the table."""
    model = driven(MOTIONS["polynomial"]).compile()
    told = integrate(model, until=1.0, dt=1e-3, sample_rate=1000)
    q, v, wheels = parts(model, told.x[0])
    forces = model.drive_forces(q, v, t=told.t, wheels=wheels)
    free = satellite()
    tables = {"boom": [TimeTable(told.t, forces["boom.rz"], "cubic")],
              "wrist": [TimeTable(told.t, forces[f"wrist.{axis}"], "cubic") for axis in ("rx", "ry")]}
    free = with_joints(free, {name: bough.Joint(rotations=free.bodies[name].joint.rotations, torque=torque)
                              for name, torque in tables.items()})
    loose = integrate(free.compile(), q0=q[0], v0=v[0], until=1.0, dt=1e-3, sample_rate=1000)
    assert np.abs(loose.x - told.x).max() < 1e-8                                    # splines of 1 ms: h^4 of a fourth derivative


@pytest.mark.parametrize("method", ["rk4", "dopri5", "radau"])
def test_a_four_bar_driven_at_its_crank(method):
    """What follows stays on the loop; the crank is where it is told to be."""
    case = four_bar("revolute")
    model = with_motions(case.system, {"crank": [Polynomial([-1.1, 2.0, 1.0])]}).compile()
    q, v = model.follow(case.q, case.v)
    r = integrate(model, q0=q, v0=v, until=0.5, method=method, sample_rate=50,
                  **({"dt": 1e-3} if method == "rk4" else {}))
    assert r.failure is None
    np.testing.assert_allclose(r.x[0, :, 0], -1.1 + 2*r.t + r.t**2, rtol=0, atol=FORMULA)
    gaps = model.loop_gaps(r.x[0, :, :3])["pin"]
    assert np.abs(gaps).max() < (1e-6 if method == "radau" else 1e-9)               # radau: Baumgarte's


def test_a_batch_follows_one_motion():
    model = driven(MOTIONS["spline"]).compile()
    rng = np.random.default_rng(0)
    v0 = np.tile(model.v0, (5, 1))
    v0[:, :6] = rng.normal(size=(5, 6))
    together = integrate(model, q0=np.tile(model.q0, (5, 1)), v0=v0, until=0.3, dt=1e-2)
    for row in range(5):
        alone = integrate(model, q0=model.q0, v0=v0[row], until=0.3, dt=1e-2)
        np.testing.assert_allclose(together.x[row], alone.x[0], rtol=0, atol=CANCELLING)
