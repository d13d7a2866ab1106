"""Burns in orbit: the mass center as a witness of SciPy has it, what stays of system and exhaust, and calls that agree."""
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import bough
from tests.support.compare import assert_same
from tests.support.tolerance import CANCELLING, STEPPED, differences
from tests.sweeps.test_outputs import swept
from tests.sweeps.test_tanks import feed_system, off

EARTH = bough.CentralGravity(3.986004418e14, (7e6, 1e6, -5e5), (-500, 7.3e3, 1200))
PEBBLE = bough.CentralGravity(3e3, (25, -18, 30), (2, 5, 1))              # so near that gravity pulls at each tank in its own way


def orbiting(gravity):
    s = feed_system()
    s.gravity = gravity
    return s


def run(gravity, **options):
    model = orbiting(gravity).compile()
    v0 = np.array([3, 2, 1, 0.3, -0.2, 0.5, 0.3, *model.v0[7:]])
    return bough.simulate(model, v0=v0, until=1.0, sample_rate=20.0, record=["exhaust", "tanks", "momentum", "energy"], **options)


def test_a_burn_in_orbit_is_that_of_a_point():
    """A stage whose propellant is in its mass center: R'' = -mu R/R^3 + F/m, with m' = -c, by DOP853; 300 s of burn that ends
    inside the run, then a coast. Both methods leave less than rounding."""
    s = bough.System("stage", gravity=EARTH)
    s.body("stage", joint=bough.Free(), mass=100.0, inertia=(12, 12, 12))           # a ball: gravity does not turn it
    s.tank("lox", body="stage", mass=30.0, flow=0.1, exhaust_speed=3000.0, nozzle=(0, 0, -1))
    result = bough.simulate(s.compile(), until=500.0, dt=0.1, sample_rate=0.1, record=["state", "orbit", "tanks"])
    mu, start = EARTH.mu, [*EARTH.position, *EARTH.velocity, 130.0]

    def rate(burns):
        def f(_, y):
            pull = -mu*y[:3]/np.linalg.norm(y[:3])**3
            return [*y[3:6], *(pull + burns*np.array([0, 0, 300.0])/y[6]), -0.1*burns]
        return f

    burn = solve_ivp(rate(1), (0, 300), start, method="DOP853", rtol=1e-13, atol=1e-7)
    coast = solve_ivp(rate(0), (300, 500), burn.y[:, -1], method="DOP853", rtol=1e-13, atol=1e-7)
    assert result.events[0].time == pytest.approx(300.0, rel=STEPPED)
    np.testing.assert_allclose(result.data.orbit_position.values[-1], coast.y[:3, -1], rtol=0, atol=STEPPED*7e6)
    np.testing.assert_allclose(result.data.orbit_velocity.values[-1], coast.y[3:6, -1], rtol=0, atol=STEPPED*7e3)
    np.testing.assert_allclose(result.data.q.values[:, :3], 0.0, atol=1e-10)        # accelerations round, and are summed twice


def test_angular_momentum_and_energy_with_the_exhaust_stay_about_the_center():
    """All kinds of tanks, gimbal and slosh; the tree stays about its mass center, though this moves as propellant does.  What is
    off falls with the fourth power of the step."""
    coarse, fine = run(PEBBLE, dt=0.01), run(PEBBLE, dt=0.005)
    for name in ("whole_angular_momentum", "whole_energy"):
        assert 12.0 < off(coarse, name)/off(fine, name) < 24.0
    for name in ("center_of_mass", "linear_momentum"):
        left = [np.abs(each.data[name].values).max() for each in (coarse, fine)]
        assert 12.0 < left[0]/left[1] < 20.0
    low = run(EARTH, dt=0.005)
    for name in ("whole_angular_momentum", "whole_energy"):
        assert off(low, name) < STEPPED*np.abs(low.data[name].values).max()         # rk4's error is lost in the orbit's
    assert "with exhaust" in str(low)
    for method, bound in (("dopri5", 1e-8), ("euler-cromer", 1e-2)):
        other = run(PEBBLE, method=method, **({"dt": 0.0025} if method != "dopri5" else {}))
        assert np.abs(other.data.center_of_mass.values).max() < bound


@pytest.mark.parametrize(("method", "low", "high"), [("imex2", 3.0, 5.0), ("imex4", 12.0, 20.0)])
@pytest.mark.parametrize("gravity", [(0, 0, 0), PEBBLE])
def test_implicit_steps_keep_their_order(method, low, high, gravity):
    """What is off of the angular momentum of system and exhaust falls with the square, or the fourth power, of the step."""
    coarse, fine = (off(run(gravity, method=method, dt=dt), "whole_angular_momentum") for dt in (0.01, 0.005))
    assert low < coarse/fine < high


def test_without_pull_it_is_the_burn_of_free_space():
    """mu = 1e-12: the mass center goes where it goes without an orbit, with all that flows inside."""
    free = bough.CentralGravity(1e-12, PEBBLE.position, PEBBLE.velocity)
    model, straight = orbiting(free).compile(), feed_system().compile()
    v0 = np.array([3, 2, 1, 0.3, -0.2, 0.5, 0.3, *model.v0[7:]])
    options = {"v0": v0, "until": 1.0, "dt": 0.005, "record": ["state", "momentum"]}
    orbit, plain = bough.simulate(model, **options), bough.simulate(straight, **options)
    start = plain.data.linear_momentum.values[0]/plain.model.mass_matrix(plain.model.q0)[0, 0]
    moved = plain.data.center_of_mass.values - plain.data.center_of_mass.values[0] - np.outer(plain.time, start)
    found = orbit.data.orbit_position.values - orbit.data.orbit_position.values[0] - np.outer(orbit.time, PEBBLE.velocity)
    np.testing.assert_allclose(found, moved, rtol=0, atol=1e-9)                     # of rk4: 4e-10 at dt = 0.005
    np.testing.assert_allclose(orbit.data.q.values[:, 3:], plain.data.q.values[:, 3:], rtol=0, atol=STEPPED)


def test_calls_agree():
    """Lanes, dense equations, the inverse, and derivatives by differences; outputs inside steps with the mass of now."""
    s = orbiting(PEBBLE)
    s.output("h", momentum="angular")
    s.output("T", energy="kinetic")
    model, rng = s.compile(), np.random.default_rng(4)
    q, v, tanks = np.tile(model.q0, (6, 1)), rng.normal(size=(6, model.nv)), rng.uniform(0.2, 1.0, (6, 3))*model.tank_masses
    a = model.forward_dynamics(q, v, tanks=tanks)
    alone = [model.forward_dynamics(*each, tanks=own) for *each, own in zip(q, v, tanks, strict=True)]
    size = np.abs(a).max()
    assert_same(a, alone, CANCELLING)                                   # M is well conditioned: 3
    np.testing.assert_allclose(model.forward_dynamics(q, v, tanks=tanks, dynamics="dense"), a, rtol=0, atol=CANCELLING*size)
    still = model.inverse_dynamics(q, v, 0.0*a, tanks=tanks)
    np.testing.assert_allclose(model.inverse_dynamics(q, v, a, tanks=tanks), 0.0, atol=CANCELLING*np.abs(still).max())
    expected = model.outputs(q, v, tanks=tanks)
    found = swept(model, model.batch(q, v, tanks=tanks), ["h", "T"])
    np.testing.assert_allclose(found, np.column_stack([expected["h"], expected["T"]]), rtol=CANCELLING)
    slopes = model.forward_dynamics_derivatives(q[0], v[0], tanks=tanks[0])
    step = 1e-5*np.eye(model.nv)
    by_v = [(model.forward_dynamics(q[0], v[0] + d, tanks=tanks[0]) - model.forward_dynamics(q[0], v[0] - d, tanks=tanks[0]))/2e-5
            for d in step]
    bound = differences(1e-5)*np.abs(by_v).max()                        # accelerations are quadratic in v
    np.testing.assert_allclose(slopes.dv, np.transpose(by_v), rtol=0, atol=bound)
