"""What results derive from samples: with what was held, and in contact, at their time."""
import numpy as np

import bough
from bough.describe import Lock, Polynomial, Prescribe, Release
from tests.support.compare import assert_same
from tests.support.event_runs import block
from tests.support.tolerance import CANCELLING, SWEEP, oscillation

G = 9.81


def test_accelerations_and_drives_know_what_was_held():
    """Locked at once, released at 0.25 s, driven with 4 m/s^2 from 0.5 s on: a sample at an event is of the moment before it."""
    s = block(-G)
    s.event("hold", at=0.0, do=[Lock("b")])
    s.event("drop", at=0.25, do=[Release("b")])
    s.event("lift", at=0.5, do=[Prescribe("b.z", Polynomial([0.0, 0.0, 2.0]))])
    data = bough.simulate(s, until=1.0, dt=0.01, sample_rate=16, record=["acceleration", "reactions", "drives"]).data
    t = data.time.values
    held, driven = t <= 0.25, t > 0.5
    np.testing.assert_allclose(data.a.values[:, 0], np.where(held, 0.0, np.where(driven, 4.0, -G)), atol=CANCELLING)
    force = np.where(held, 2*G, np.where(driven, 2*(G + 4.0), np.nan))
    np.testing.assert_allclose(data.drive_force.values[:, 0], force, rtol=0, atol=SWEEP*np.nanmax(force))
    np.testing.assert_allclose(data.reaction.values[:, 0, 5], np.nan_to_num(force), rtol=0, atol=SWEEP*np.nanmax(force))


def test_accelerations_and_energy_know_what_was_in_contact():
    """A block on its floor: the stop's force is in its acceleration while it touches, its spring in the energy, which stays."""
    s = block(-G, q0=0.1)
    s.stop("floor", coordinate="b.z", below=0.0, stiffness=1e4)
    data = bough.simulate(s, until=0.5, dt=1e-4, sample_rate=1000, record=["state", "acceleration", "energy"]).data
    z = data.q.values[:, 0]
    assert_same(data.a.values[:, 0], -G + 1e4/2*np.maximum(-z, 0.0), SWEEP)
    energy = (data.kinetic_energy + data.potential_energy).values
    assert (z < 0.0).any()
    assert np.ptp(energy) < 2*oscillation("rk4", w=np.sqrt(1e4/2), h=1e-4, time=0.5)*energy[0]      # a square of amplitudes
