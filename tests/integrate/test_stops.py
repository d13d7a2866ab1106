"""Stops: when they touch and part, energy with and without damping, and that they never pull."""
import numpy as np
import pytest

import bough
from bough.describe import Lock
from bough.integrate.watchers import find_moment, passing, watcher
from tests.support.event_runs import OFF, WAYS, block, run
from tests.support.tolerance import EVENT, STEPPED, SWEEP

every_way = pytest.mark.parametrize("method", list(WAYS))
K, M, G = 1e4, 2.0, 9.81


def names(r):
    return [event.what.split()[0] for event in r.events[0]]


@every_way
def test_a_bouncing_block_touches_and_parts_when_the_closed_form_says(method):
    """Fall from 1 m: touch at sqrt(2/g) with v = sqrt(2 g); in contact the oscillator w^2 = k/m about -g/w^2, whose phase from
    touching to parting is pi + 2 atan(g/(w v)).  Without a damper nothing is lost."""
    s = block(-G, q0=1.0)
    s.stop("floor", coordinate="b.z", below=0.0, stiffness=K)
    r = run(s, method, until=3.0, **({"dt": 1e-3} if method == "rk4" else {}))
    w, v = np.sqrt(K/M), np.sqrt(2*G)
    contact = (np.pi + 2*np.arctan(G/(w*v)))/w
    touch = np.sqrt(2/G) + np.arange(3)*(contact + 2*np.sqrt(2/G))
    times = [event.time for event in r.events[0]]
    assert names(r) == ["touches", "parts"]*3
    assert abs(times[0] - touch[0]) < OFF[method]
    # rk4 in contact: phase error (w h)^5/120 a step, 45 steps each time
    np.testing.assert_allclose(times, np.stack([touch, touch + contact], axis=1).ravel(), rtol=0, atol=1e-6)
    z, speed = r.x[0].T
    energy = M*G*z + M*speed**2/2 + K*np.minimum(z, 0.0)**2/2
    assert np.ptp(energy) < 1e-6*energy[0]                              # (w h)^5/72 a radian, 10 rad in contact: 2.5e-7


@every_way
@pytest.mark.parametrize("damping", [20.0, 500.0])
def test_a_damped_stop_takes_energy_and_never_pulls(method, damping):
    """Each bounce is lower; the force on the block, from its acceleration, is never downward of its weight."""
    s = block(-G, q0=0.3)
    s.stop("floor", coordinate="b.z", below=0.0, stiffness=K, damping=damping)
    r = run(s, method, until=2.0, sample_rate=2000, **({"dt": 5e-4} if method == "rk4" else {}))
    z, speed = r.x[0].T
    energy = M*G*z + M*speed**2/2 + K*np.minimum(z, 0.0)**2/2
    push = M*(np.diff(speed)*2000 + G)                                              # mean over a sample
    assert push.min() > -1e-4*push.max()
    falls = z > 0.0
    assert np.diff(energy[falls]).max() < 1e-9*energy[0]                # a step's rtol
    assert energy[-1] < 0.9*energy[0]
    assert z.min() > -0.3


@every_way
def test_a_block_that_starts_on_its_stop_rests_there(method):
    """On the limit exactly, at rest: its weight presses it in; without weight it stays; pulled off, it leaves freely."""
    for gravity, low, high in ((-G, -2*M*G/K, 0.0), (0.0, 0.0, 0.0)):
        s = block(gravity, q0=0.25)
        s.stop("floor", coordinate="b.z", below=0.25, stiffness=K, damping=50.0)
        z = run(s, method).x[0, :, 0] - 0.25
        assert z.min() >= low - 1e-9
        assert z.max() <= high + 1e-9                                   # a step's rtol
        assert abs(z[-1] + M*abs(gravity)/K) < 1e-7                     # exp(-12.5) of 4 mm
    s = block(G, q0=0.25)
    s.stop("floor", coordinate="b.z", below=0.25, stiffness=K, damping=50.0)
    r = run(s, method)
    assert r.events[0] == ()
    assert abs(r.x[0, -1, 0] - 0.25 - G/2) < OFF[method]


@every_way
def test_a_stop_that_let_go_beyond_its_limit_takes_hold_again(method):
    """Beyond the limit and on its way out faster than the spring follows the damper: no contact. A strong weight brings it back
    before it is out, and the stop must catch it: it creeps to rest at -m g/k."""
    s = block(-200.0, q0=-0.5, v0=1.0)
    s.stop("floor", coordinate="b.z", below=0.0, stiffness=1000.0, damping=1000.0)
    r = run(s, method, until=8.0, **({"dt": 1e-3} if method == "rk4" else {}))
    # free at first, 1000 (0.5 - t + 100 t^2) = 1000 (1 - 200 t): 100 t^2 + 199 t - 0.5 = 0
    assert abs(r.events[0][0].time - (np.sqrt(199**2 + 200) - 199)/200) < OFF[method]
    assert names(r) == ["touches"]
    assert abs(r.x[0, -1, 0] + M*200/1000) < 1e-3                       # exp(-8) of half a meter


@every_way
def test_a_jump_parts_what_it_pulls_off(method):
    """A cart against a wall; what rides on it is caught while it runs the other way: the wall must not hold the two back."""
    s = bough.System("cart")
    s.body("a", joint=bough.Prismatic("x", v0=1.0), mass=1.0)
    s.body("b", parent="a", joint=bough.Prismatic("x", v0=-30.0), mass=10.0)
    s.stop("wall", coordinate="a.x", above=0.05, stiffness=100.0, damping=5.0)
    s.event("catch", at=0.1, do=[Lock("b")])
    r = run(s, method, sample_rate=100)
    assert [event.name for event in r.events[0]] == ["wall", "catch", "wall"]
    after = r.x[0, r.t > 0.1, 2]
    assert np.ptp(after) < STEPPED*np.abs(after).max()                  # nothing acts on them any more


def test_a_stop_above_is_a_stop_below_mirrored():
    up, down = block(G, q0=-0.5, v0=1.0), block(-G, q0=0.5, v0=-1.0)
    up.stop("roof", coordinate="b.z", above=0.1, stiffness=K, damping=30.0)
    down.stop("floor", coordinate="b.z", below=-0.1, stiffness=K, damping=30.0)
    one, other = run(up, dt=1e-3), run(down, dt=1e-3)
    np.testing.assert_allclose(one.x, -other.x, atol=SWEEP)
    assert len(one.events[0]) == len(other.events[0]) > 2


def test_a_watcher_that_starts_at_zero_passes_at_once():
    """The compiled loops contract products into sums: they may see -1e-17, and then a passage, where Python sees 0 and none."""
    row = watcher(0, 3.0, 0.5, 1.0)
    before = np.array([0.5])
    moment = find_moment(row[None], before, 1.0, 1e-3, lambda h: before + h)
    assert 0.0 < moment <= max(1e-3*EVENT, np.spacing(1.001))              # of a step of 1e-3 s
    assert passing(row[None], before, before + moment) == [0]
    assert passing(row[None], before + 0.1, before + 0.2) == []


@pytest.mark.parametrize("name", ["floor", "brakes"])
def test_a_contact_outlasts_a_friction_whose_name_begins_that_of_the_stop(name):
    """A block rests on its stop while another one is braked until it sticks: the first one sinks in by m g/k, and no more."""
    s = block(-G, q0=0.0)
    s.body("slider", joint=bough.Prismatic("x", v0=0.5), mass=M)
    s.stop(name, coordinate="b.z", below=0.0, stiffness=K, damping=2*np.sqrt(K*M))
    s.friction("brake", "slider.x", coulomb=4.0)
    r = run(s, until=0.5, dt=1e-3)
    assert [event.what.split()[0] for event in r.events[0]] == ["touches", "sticks:"]
    # critically damped: what is left after 0.5 s is (1 + w t) exp(-w t) of it, 3e-14
    assert r.x[0, -1, 0] == pytest.approx(-M*G/K, rel=STEPPED)
