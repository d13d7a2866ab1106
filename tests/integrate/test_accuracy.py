"""Integrators: orders by halving the step, conserved quantities, closed forms, agreement among methods."""
import numpy as np
import pytest
from scipy.special import ellipj, ellipk

import bough
from bough.integrate import integrate
from tests.support.small_systems import energy, floating_arm, pendulum, split, start_of
from tests.support.tolerance import FORMULA, STEPPED, SWEEP, adaptive, oscillation, refined, roundings


def test_pendulum_follows_the_elliptic_functions():
    """Large swings: theta = 2 asin(k sn(K - w t)), k = sin(theta0/2)."""
    model, theta0 = pendulum(), 2.0
    run = integrate(model, q0=[theta0], v0=[0.0], until=5.0, dt=1e-3, sample_rate=20)
    k, w = np.sin(theta0/2), np.sqrt(9.81)
    sn, *_ = ellipj(ellipk(k**2) - w*run.t, k**2)
    error = oscillation("rk4", w, 1e-3, 5.0) + 0.05*oscillation("rk4", 3*w, 1e-3, 5.0)     # 3rd harmonic: some % at 2 rad
    np.testing.assert_allclose(run.x[0, :, 0], 2*np.arcsin(k*sn), atol=error)


@pytest.mark.parametrize(("method", "order", "dt"), [("euler-cromer", 1, 2e-4), ("rk4", 4, 1e-2)])
def test_order_by_halving_the_step(method, order, dt):
    """The error against a much finer solution falls by 2^order; slope within 0.15 of it."""
    model = floating_arm((0, 0, -3.0))
    q, v = start_of(model)
    exact = integrate(model, q0=q, v0=v, until=0.8, dt=5e-4, sample_rate=10).x[0, -1]
    errors = [np.abs(integrate(model, q0=q, v0=v, until=0.8, dt=h, method=method, sample_rate=10).x[0, -1] - exact).max()
              for h in (dt, dt/2, dt/4)]
    slopes = np.log2(np.array(errors[:-1])/errors[1:])
    np.testing.assert_allclose(slopes, order, atol=0.15)


def test_free_system_keeps_energy_and_momenta_at_the_order_of_rk4():
    """Drift of energy, linear and angular momentum falls at least by 2^4 when the step is halved."""
    model = floating_arm()
    q, v = start_of(model)

    def drifts(dt):
        x = integrate(model, q0=q, v0=v, until=2.0, dt=dt, sample_rate=10).x[0]
        h = model.momentum(*split(model, x))
        return np.array([np.ptp(energy(model, x)), np.abs(h[:, :3] - h[0, :3]).max(), np.abs(h[:, 3:] - h[0, 3:]).max()])
    coarse, fine = drifts(1e-2), drifts(5e-3)
    assert (np.log2(coarse/fine) > 3.8).all(), (coarse, fine)
    assert (drifts(5e-4) < fine/10**3.8 + STEPPED).all()             # a tenth of the step, at that order


def test_quaternions_stay_unit():
    model = floating_arm()
    q, v = start_of(model)
    loose = {"rtol": 1e-6, "atol": 1e-9}
    for method, options in (("euler-cromer", {"dt": 1e-3}), ("rk4", {"dt": 1e-2}), ("dopri5", loose), ("radau", loose)):
        x = integrate(model, q0=q, v0=v, until=1.0, method=method, **options).x
        for at in model.quaternions:
            np.testing.assert_allclose(np.linalg.norm(x[..., at:at + 4], axis=-1), 1.0, atol=roundings(2))


@pytest.mark.parametrize("method", ["dopri5", "radau", "bdf", "lsoda"])
def test_adaptive_methods_meet_their_tolerance(method):
    """At rtol 1e-8 all agree with a fine RK4 to a few hundred times that (errors add up along the way)."""
    model = floating_arm((0, 0, -3.0))
    q, v = start_of(model)
    exact = integrate(model, q0=q, v0=v, until=1.0, dt=2.5e-4, sample_rate=10).x[0]
    run = integrate(model, q0=q, v0=v, until=1.0, method=method, sample_rate=10, rtol=1e-8, atol=1e-10)
    assert np.abs(run.x[0] - exact).max() < adaptive(1e-8, 500)
    assert run.failure is None


def test_dense_output_is_as_good_as_the_steps():
    """Samples far denser than the steps lie on the solution."""
    model = pendulum()
    run = integrate(model, q0=[1.0], v0=[0.0], until=3.0, method="dopri5", sample_rate=1000, rtol=1e-9, atol=1e-12)
    fine = integrate(model, q0=[1.0], v0=[0.0], until=3.0, dt=1e-4, sample_rate=1000)
    assert run.steps < 300
    assert np.abs(run.x - fine.x).max() < adaptive(1e-9, run.steps)  # its rtol


def test_dense_dynamics_gives_the_same_trajectory():
    model = floating_arm((0, 0, -3.0))
    q, v = start_of(model)
    for options in ({"dt": 1e-3}, {"method": "dopri5"}):
        runs = [integrate(model, q0=q, v0=v, until=0.5, dynamics=d, **options).x for d in ("order-n", "dense")]
        np.testing.assert_allclose(runs[0], runs[1], rtol=0, atol=STEPPED*np.abs(runs[1]).max())


def test_jumping_table_keeps_the_order():
    """A torque that is switched on at a time that no step would hit: RK4 lands there and stays exact for a constant torque."""
    s = bough.System("rotor")
    on = 0.1234567
    torque = bough.TimeTable([0.0, on], [0.0, 3.0], kind="hold")
    s.body("wheel", joint=bough.Revolute("z", torque=torque), mass=1.0, inertia=(1, 1, 1.5))
    for options in ({"dt": 0.01}, {"method": "dopri5"}, {"method": "radau", "rtol": 1e-10, "atol": 1e-13}):
        run = integrate(s.compile(), until=1.0, sample_rate=7, **options)
        since = np.maximum(run.t - on, 0.0)
        # rk4 and dopri5 integrate a constant torque exactly, radau to its rtol
        np.testing.assert_allclose(run.x[0], np.column_stack([since**2, 2*since]), atol=options.get("rtol", STEPPED))


def test_torque_free_gyrostat():
    """A rigid body with a spinning wheel, free of torque: the momentum in inertial axes is fixed, the energy too, and the body
    rates follow Euler's equation with the wheel, integrated independently."""
    from scipy.integrate import solve_ivp
    inertia, spin, axis = np.diag([3.0, 2.0, 1.0]), 0.4*50.0, np.array([0.0, 0.6, 0.8])
    s = bough.System("gyrostat")
    s.body("bus", joint=bough.Free(), mass=5.0, inertia=inertia)
    s.wheel("rw", body="bus", axis=axis, inertia=0.4, speed=50.0)
    model, w0 = s.compile(), np.array([0.3, -0.2, 0.5])
    run = integrate(model, v0=[0, 0, 0, *w0], until=10.0, dt=2e-4, sample_rate=10)

    def euler(t, w):
        return np.linalg.solve(inertia, -np.cross(w, inertia @ w + spin*axis))
    want = solve_ivp(euler, (0, 10), w0, method="DOP853", t_eval=run.t, rtol=1e-12, atol=1e-13).y.T
    # SciPy's tolerance at some hundred steps; rk4 of a nutation at 14 rad/s, 2e-4 s for 10 s: 7e-11, times a spin of 20
    np.testing.assert_allclose(run.x[0, :, 10:13], want, atol=1e-9)
    momentum = model.momentum(*split(model, run.x[0]))
    # the nutation's 7e-11, of the spin's momentum
    np.testing.assert_allclose(momentum, momentum[0] + np.zeros_like(momentum), atol=20*oscillation("rk4", 14.0, 2e-4, 10.0))


def test_driven_wheel_exchanges_momentum_with_its_body():
    """About a fixed axis: the wheel gains what the body loses, and the total stays zero."""
    s = bough.System("slew")
    s.body("bus", joint=bough.Free(), mass=5.0, inertia=(3.0, 2.0, 1.0))
    s.wheel("rw", body="bus", axis="z", inertia=0.1, torque=0.02)
    run = integrate(s.compile(), until=5.0, dt=0.01, sample_rate=2)
    w, wheel = run.x[0, :, 12], run.x[0, :, 13]
    np.testing.assert_allclose(w, -0.02*run.t/0.9, atol=SWEEP)                   # the wheel is not carried: I - J
    np.testing.assert_allclose(1.0*w + 0.1*wheel, 0.0, atol=FORMULA)


def test_orbit_and_attitude_together_keep_energy_and_angular_momentum():
    """A two-body satellite in an eccentric orbit: -mu m/d and the gravity gradient are conservative, the sum is kept."""
    mu, R, V = 3.986e14, np.array([7.0e6, 0, 0]), np.array([0, 5.5e3, 5.5e3])
    s = bough.System("satellite", gravity=bough.CentralGravity(mu=mu, position=R, velocity=V))
    s.body("bus", joint=bough.Free(v0=[0, 0, 0, 0.001, 0.002, -0.001]), mass=100.0, inertia=(20.0, 30.0, 40.0))
    s.body("boom", parent="bus", joint=bough.Revolute("y", v0=[0.01], stiffness=0.5), at=(1, 0, 0), mass=10.0, com=(5.0, 0, 0),
           inertia=(0.1, 80.0, 80.0))
    model = s.compile()
    run = integrate(model, until=600.0, dt=0.5, sample_rate=0.1)
    q, v, orbit = run.x[0, :, :model.nq], run.x[0, :, model.nq:model.nq + model.nv], run.x[0, :, -6:]
    seen = model.bodies(q, v, orbit=orbit)
    total = seen.kinetic_energy + seen.potential_energy
    angular = seen.momentum[:, :3] + 110.0*np.cross(orbit[:, :3], orbit[:, 3:])
    assert np.ptp(total)/abs(total[0]) < STEPPED
    assert np.abs(angular - angular[0]).max()/np.linalg.norm(angular[0]) < STEPPED
    coarse = integrate(model, until=600.0, dt=1.0, sample_rate=0.1).x[0]
    left = [np.abs(model.center_of_mass(x[:, :model.nq])).max() for x in (coarse, run.x[0])]
    assert left[1] < refined(left[0])


def test_gravity_gradient_libration_has_its_period():
    """Small pitch of a slender satellite in a circular orbit: w = n sqrt(3 (Ix - Iz)/Iy) about the orbit normal y; a swing by a is
    slower by a^2/4, as sin(2 a)/2 is less than a."""
    mu, a = 3.986e14, 7.0e6
    n = np.sqrt(mu/a**3)
    inertia = np.array([100.0, 110.0, 20.0])
    s = bough.System("rod", gravity=bough.CentralGravity(mu=mu, position=(0, 0, a), velocity=(a*n, 0, 0)))
    s.body("rod", joint=bough.Free(v0=[0, 0, 0, 0, n*1.001, 0]), mass=50.0, inertia=inertia)
    model = s.compile()
    w = n*np.sqrt(3*(inertia[0] - inertia[2])/inertia[1])
    run = integrate(model, until=3*2*np.pi/w, dt=1.0, sample_rate=0.05)
    quaternion, orbit = run.x[0, :, 3:7], run.x[0, :, -6:]
    pitch = np.unwrap(2*np.arctan2(quaternion[:, 1], quaternion[:, 3])) - np.unwrap(np.arctan2(orbit[:, 0], orbit[:, 2]))
    size = 0.001*n/w
    np.testing.assert_allclose(pitch, size*np.sin(w*(1 - size**2/4)*run.t), rtol=0, atol=size**3)       # its third harmonic
