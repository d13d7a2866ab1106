"""Geometric stiffness through the dynamics: spin, tip forces and tip bodies change the frequencies of a beam as theory says.

Frequencies come from differences of the model's own accelerations about a steady state. Beams have unit length, EI and mass per
length, unless said otherwise, so that speeds are Omega sqrt(rho A L^4/EI) and loads P L^2/EI.

Tolerances: published values have 5 digits, so that Ritz's own agree to 1e-5. Differences with steps of 1e-5 leave 1e-10. What
remains of the model are too few modes: Ritz's frequencies are above the exact ones by less than 0.001 for five modes a plane,
by 0.002 where the load doubles the stiffness, and by less than 0.005 for the three shapes a plane of a light beam with a tip
body; 1e-4 at rest, where the modes are the exact shapes of 5 digits.
"""

import numpy as np
import pytest
from numpy.polynomial import Polynomial
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import bough
from bough.integrate import integrate
from tests.support.flexible_trees import amplitudes, modal_places
from tests.support.tolerance import CANCELLING, STEPPED

FLAP = {2.0: 4.1373, 6.0: 7.3604, 12.0: 13.1702}  # Wright et al. 1982, hub radius zero
FIRST = 3.5160  # at rest
EULER = np.pi**2 / 4


def eigenvalues(model, v=None, **loads):
    """Of the modes about eta = 0: central differences of their accelerations, by coordinates and by rates.

    Each mode moves some node by 1e-5 m or rad: the square of that is what a difference leaves."""
    modal_q, modal = modal_places(model, "q"), modal_places(model)
    n, step = modal.sum(), np.concatenate([amplitudes(b.flexible, 1e-5) for b in model.system.bodies.values() if b.flexible])
    q, v = np.tile(model.q0, (4 * n, 1)), np.tile(np.zeros(model.nv) if v is None else v, (4 * n, 1))
    steps = np.concatenate([np.diag(step), -np.diag(step)])
    q[: 2 * n, modal_q] += steps
    v[2 * n :, modal] += steps
    a = model.forward_dynamics(q, v, **loads)[:, modal]
    by_q, by_v = ((a[at : at + n] - a[at + n : at + 2 * n]).T / (2 * step) for at in (0, 2 * n))
    return np.linalg.eigvals(np.block([[np.zeros((n, n)), np.eye(n)], [by_q, by_v]]))


def frequencies(model, v=None, **loads):
    """Angular frequencies in order; of what diverges, i times its rate."""
    values = eigenvalues(model, v, **loads)
    found = np.sort(np.abs(values.imag[values.imag > 1e-6]))
    return np.concatenate([1j * np.sort(-values.real[(np.abs(values.imag) <= 1e-6) & (values.real > 0)]), found])


def on_hub(beam, *, radius=0.0, tip_mass=0.0):
    """A beam on a hub so heavy that nothing changes its spin about z; at the tip, a body that is a point but for 1e-9 kg m^2."""
    s = bough.System("rotor")
    s.body("hub", joint=bough.Revolute("z"), mass=1.0, inertia=(1e8, 1e8, 1e8))
    s.body("beam", parent="hub", at=(radius, 0, 0), flexible=beam)
    if tip_mass:
        s.body("tip", parent="beam", node="tip", mass=tip_mass, inertia=(1e-9, 1e-9, 1e-9))
    return s.compile()


def spinning(model, speed):
    v = np.zeros(model.nv)
    v[0] = speed
    return v


def ritz(count=8):
    """Polynomials x^2, x^3, ... on [0, 1] and their integrals: mass, stiffness, and the tension's work by a radius, by the
    length."""
    shapes = [Polynomial.basis(k + 2) for k in range(count)]

    def integral(of):
        return np.array([[of(a, b).integ()(1.0) for b in shapes] for a in shapes])

    outward = Polynomial([1.0, -1.0]), Polynomial([0.5, 0.0, -0.5])  # of the tension: radius (1 - x), (1 - x^2)/2
    parts = integral(lambda a, b: a * b), integral(lambda a, b: a.deriv(2) * b.deriv(2))
    return (shapes, *parts, *(integral(lambda a, b, t=t: t * a.deriv() * b.deriv()) for t in outward))


def ritz_flap(speed, radius=0.0):
    """The first flapping frequency of a beam that spins, by Rayleigh and Ritz."""
    _, M, K, by_radius, by_length = ritz()
    return np.sqrt(np.linalg.eigvals(np.linalg.solve(M, K + speed**2 * (radius * by_radius + by_length))).real.min())


# ---- spin ---------------------------------------------------------------------------------------------------------------------
def uniform(modes=10, **words):
    return bough.beam(1.0, EI=1.0, mass_per_length=1.0, modes=modes, **words)


@pytest.mark.parametrize("speed", FLAP)
def test_spin_stiffens(speed):
    """Flap as published; lag^2 = flap^2 - Omega^2. Five modes a plane: Ritz's frequencies are above the exact ones by less than
    0.1 %."""
    lag, flap = frequencies(on_hub(uniform()), spinning(on_hub(uniform()), speed))[:2]
    assert flap == pytest.approx(FLAP[speed], rel=0.001)
    assert lag**2 == pytest.approx(FLAP[speed] ** 2 - speed**2, abs=0.002 * FLAP[speed] ** 2)  # twice, for the square


@pytest.mark.parametrize("speed", FLAP)
def test_spin_does_not_stiffen_what_has_no_geometric_stiffness(speed):
    """Flap stays as at rest, lag softens, and diverges where Omega is above it: what the tests here are to tell apart."""
    model = on_hub(uniform(geometric_stiffness=False))
    lag, flap = frequencies(model, spinning(model, speed))[:2]
    assert flap == pytest.approx(FIRST, rel=1e-4)
    assert lag**2 == pytest.approx(FIRST**2 - speed**2, rel=1e-4 * FIRST**2 / abs(FIRST**2 - speed**2))


@pytest.mark.parametrize("radius", [0.0, 1.0, 5.0])
def test_spin_far_from_the_axis_stiffens_more(radius):
    """The frame's own acceleration, Omega^2 R, pulls as well."""
    model = on_hub(uniform(), radius=radius)
    lag, flap = frequencies(model, spinning(model, 4.0))[:2]
    assert flap == pytest.approx(ritz_flap(4.0, radius), rel=0.002)
    assert lag == pytest.approx(np.sqrt(ritz_flap(4.0, radius) ** 2 - 16.0), rel=0.002)


def test_ritz_agrees_with_the_published_frequencies():
    for speed, flap in FLAP.items():
        assert ritz_flap(speed) == pytest.approx(flap, rel=1e-5)


@pytest.mark.parametrize("axis", ["y", "-z"])
def test_spin_stiffens_along_any_axis(axis):
    """The hub spins about z in its own frame, where the beam lies along x: turned there from its own axis."""
    turn = {"y": (0, 0, -np.sqrt(0.5), np.sqrt(0.5)), "-z": (0, -np.sqrt(0.5), 0, np.sqrt(0.5))}[axis]
    s = bough.System("rotor")
    s.body("hub", joint=bough.Revolute("z"), mass=1.0, inertia=(1e8, 1e8, 1e8))
    s.body("beam", parent="hub", orient=turn, flexible=uniform(axis=axis))
    model = s.compile()
    assert model.bodies(model.q0).node("beam", "tip").position[0] == pytest.approx([1, 0, 0], abs=CANCELLING)
    assert frequencies(model, spinning(model, 6.0))[1] == pytest.approx(FLAP[6.0], rel=0.001)


def test_other_modes_find_the_same_stiffening():
    """Craig-Bampton's modes as good as clamped ones; free-free ones, whose frame moves against the hub and whose root carries no
    moment, come down to them slowly."""
    bampton = on_hub(uniform(8, boundary="craig-bampton", interfaces=["tip"]))
    assert frequencies(bampton, spinning(bampton, 6.0))[1] == pytest.approx(FLAP[6.0], rel=0.001)
    errors = []
    for modes in (8, 16):
        free = on_hub(uniform(modes, boundary="free-free"))
        errors.append(frequencies(free, spinning(free, 6.0))[1].real / FLAP[6.0] - 1)
    assert 0 < errors[1] < 0.6 * errors[0]
    assert errors[1] < 0.05                                 # slowly: free-free modes do not know the clamp


# ---- bodies and forces at the tip ----------------------------------------------------------------------------------------------
def light(**words):
    """A beam of 1e-4 kg that carries a tip mass of 1 kg: statics of the tip are among its shapes."""
    return bough.beam(1.0, EI=1.0, mass_per_length=1e-4, boundary="craig-bampton", interfaces=["tip"], modes=4, **words)


def tip_stiffness(tension):
    """Force per deflection at the tip of a clamped beam under an axial pull N that keeps its direction (a push, if negative).

    EI w'' = F (L - x) - N (d - w) with w = w' = 0 at the root: d = F (L - tanh(k L)/k)/N with k^2 = N/EI."""
    k = np.sqrt(complex(tension))
    return (tension / (1 - np.tanh(k) / k)).real


@pytest.mark.parametrize("speed", [1.0, 3.0, 8.0])
def test_a_tip_body_pulls_a_spinning_beam_tight(speed):
    """Stiffening by the force between bodies, m Omega^2 L: flap^2 = k(N)/m, lag^2 = flap^2 - Omega^2. The beam's own 1e-4 kg
    changes that by less than 1e-4, and too few modes (the tip's statics, and two more a plane) by less than 0.5 %."""
    model, square = on_hub(light(), tip_mass=1.0), tip_stiffness(speed**2)
    lag, flap = frequencies(model, spinning(model, speed))[:2]
    assert flap**2 == pytest.approx(square, rel=0.005)
    assert lag**2 == pytest.approx(square - speed**2, abs=0.005 * square)
    plain = on_hub(light(geometric_stiffness=False), tip_mass=1.0)
    assert frequencies(plain, spinning(plain, speed))[1] ** 2 == pytest.approx(3.0, rel=0.001)  # k = 3 EI/L^3, at any speed


@pytest.mark.parametrize("g", [-9.0, -3.0, 1.0, 2.0])
def test_a_tip_body_hangs_or_stands(g):
    """The same under gravity along the beam: a hanging mass stiffens it, a standing one softens it."""
    s = bough.System("flagpole", gravity=(-g, 0, 0))
    s.body("pole", flexible=light())
    s.body("tip", parent="pole", node="tip", mass=1.0, inertia=(1e-9, 1e-9, 1e-9))
    assert frequencies(s.compile())[:2] == pytest.approx(np.full(2, np.sqrt(tip_stiffness(-g))), rel=0.005)


def column(**words):
    s = bough.System("column")
    s.body("column", flexible=uniform(**words))
    return s.compile()


def pushed(model, load, frame="world"):
    return {"wrenches": {("column", "tip"): [0, 0, 0, -load, 0, 0]}, "frame": frame}


def test_a_push_that_keeps_its_direction_buckles_the_column():
    """Euler: the square of the first frequency falls to zero at pi^2 EI/(4 L^2), nearly along a straight line; a pull lets it
    grow. Where the load is off by 0.001, the square is by 1e-3 of the first one."""
    model = column()
    shapes, M, K, *_ = ritz()
    slopes = np.array([[(a.deriv() * b.deriv()).integ()(1.0) for b in shapes] for a in shapes])

    def square(load):
        return (frequencies(model, **pushed(model, load))[0] ** 2).real

    assert brentq(square, 2.0, 3.0) == pytest.approx(EULER, rel=0.001)
    for share in (-1.0, 0.25, 0.5, 0.75, 1.2):
        exact = np.linalg.eigvals(np.linalg.solve(M, K - share * EULER * slopes)).real.min()
        assert square(share * EULER) == pytest.approx(exact, rel=0.001, abs=1e-3 * FIRST**2)
        assert not 0 < share < 1 or square(share * EULER) / FIRST**2 == pytest.approx(1 - share, abs=0.02)  # its curvature
    without = column(geometric_stiffness=False)
    assert frequencies(without, **pushed(without, EULER))[0] == pytest.approx(FIRST, rel=1e-4)


def test_a_push_that_follows_the_tip_makes_the_column_flutter():
    """Beck: no buckling, but the first two frequencies meet at 20.05 EI/L^2. In axes of the node, the force turns with it."""
    model = column()

    def growth(load):
        return eigenvalues(model, **pushed(model, load, "body")).real.max()

    assert frequencies(model, **pushed(model, EULER, "body"))[0] > FIRST
    low, high = 18.0, 22.0
    while high - low > 0.01:
        middle = (low + high) / 2
        low, high = (low, middle) if growth(middle) > 1e-2 else (middle, high)
    assert low == pytest.approx(20.05, rel=0.005)  # bisected to 0.01, for a growth of 1e-2: 0.05 above the border


# ---- spin-up ------------------------------------------------------------------------------------------------------------------
SPIN_UP = {
    # L, E I, rho A, final speed; the profile takes 15 s. Last, about the largest deflection in the publications, from memory
    "Wu and Haug 1988": (8.0, 6.895e10 * 8.2189e-9, 2766.67 * 7.3e-5, 4.0, 0.55),
    "Kane, Ryan and Banerjee 1987; Simo and Vu-Quoc 1987": (10.0, 1.4e4, 1.2, 6.0, 0.58),
}
RAMP = 15.0


def profile(t, final):
    """omega and alpha of the classic smooth spin-up."""
    t = np.minimum(t, RAMP)
    return final / RAMP * (t - RAMP / (2 * np.pi) * np.sin(2 * np.pi * t / RAMP)), final / RAMP * (1 - np.cos(2 * np.pi * t / RAMP))


def spin_up(case, stiffening=True, until=20.0):
    """Times, and place of the tip in the hub's frame (samples, 3), of a beam that a hub of 1e9 kg m^2 takes along."""
    length, EI, mass, final, _ = SPIN_UP[case]
    knots, hub = np.linspace(0, RAMP, 301), 1e9
    torque = bough.TimeTable(knots, hub * profile(knots, final)[1], "cubic")
    s = bough.System("spin-up")
    s.body("hub", joint=bough.Revolute("z", torque=torque), mass=1.0, inertia=(hub, hub, hub))
    blade = bough.beam(length, EI=(1e3 * EI, EI), mass_per_length=mass, modes=3, geometric_stiffness=stiffening)
    s.body("beam", parent="hub", flexible=blade)
    model = s.compile()
    run = integrate(model, until=until, dt=0.01, sample_rate=20)
    q, v = run.x[0, :, : model.nq], run.x[0, :, model.nq :]
    assert not stiffening or v[:, 0] == pytest.approx(profile(run.t, final)[0], abs=1e-6 * final)  # 4e-7: beam to hub
    tip = model.bodies(q).node("beam", "tip").position
    cos, sin = np.cos(q[:, 0]), np.sin(q[:, 0])
    return run.t, np.stack([cos * tip[:, 0] + sin * tip[:, 1], cos * tip[:, 1] - sin * tip[:, 0], tip[:, 2]], axis=1)


def spin_up_by_ritz(case, t):
    """Deflection of the tip and its way inward, -int w'^2/2: M y'' + (K + omega^2 (S - M)) y = -alpha int x w, w = sum y_k
    x^(k+2)."""
    length, EI, mass, final, _ = SPIN_UP[case]
    shapes, M, K, _, S = ritz(6)
    factor, push = np.linalg.inv(M), np.array([(Polynomial([0, 1]) * each).integ()(1.0) for each in shapes])
    slopes = np.array([[(a.deriv() * b.deriv()).integ()(1.0) for b in shapes] for a in shapes])

    def rates(time, x):
        omega, alpha = profile(time, final)
        y, rate = np.split(x, 2)
        return np.concatenate([rate, factor @ (-alpha * push - (EI / (mass * length**4) * K + omega**2 * (S - M)) @ y)])

    y = solve_ivp(rates, (0, t[-1]), np.zeros(12), t_eval=t, rtol=1e-8, atol=1e-10, method="LSODA").y[:6].T
    return length * y.sum(axis=1), -length * np.einsum("tk,kl,tl->t", y, slopes, y) / 2


@pytest.mark.slow
@pytest.mark.parametrize("case", SPIN_UP)
def test_spin_up(case):
    """The tip lags while the hub gains speed, and comes back: the deflection of an independent Ritz solution at every time, to
    2e-3 of the largest (three clamped modes against six polynomials) and to the square of the deflection (Ritz is linear), and
    the foreshortening that goes with it, to 1e-2. What was published is known but for 0.07 of it."""
    t, tip = spin_up(case)
    length, *_, final, published = SPIN_UP[case]
    lag, inward = spin_up_by_ritz(case, t)
    largest = np.abs(lag).max()
    assert tip[:, 1] == pytest.approx(lag, abs=(2e-3 + (largest / length) ** 2) * largest)
    assert tip[:, 0] - length == pytest.approx(inward, abs=1e-2 * np.abs(inward).max())
    assert -tip[:, 1].min() == pytest.approx(published, rel=0.07)
    assert np.abs(tip[t > RAMP, 1]).max() < 0.03 * published  # back to the radius, but for a small oscillation
    assert np.abs(tip[:, 2]).max() < STEPPED
    assert final > 0


@pytest.mark.parametrize("case", SPIN_UP)
def test_spin_up_diverges_without_geometric_stiffness(case):
    """The final speed is above the beam's first frequency (2.91 and 3.80 rad/s): without stiffening the lag grows without end."""
    _, tip = spin_up(case, stiffening=False, until=RAMP)
    length, EI, mass, final, published = SPIN_UP[case]
    assert FIRST * np.sqrt(EI / (mass * length**4)) < final
    assert np.abs(tip[-1, 1]) > 5 * published
