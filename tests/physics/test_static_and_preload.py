"""Beams at rest and let go: textbook deflections, vibration from a preloaded shape, stress-free rest shapes, forces over time.

A beam that is welded to the world and does not shorten where it bends has linear equations, eta'' + D eta' + K (eta - rest) =
phi^T F, with unit modal mass: its motion is known in closed form, and differs by what RK4 loses of the phase, (w dt)^4 w t/120
of the amplitude; modes of up to 100 rad/s are compared.

Tolerances: cubic elements have the statics of tip loads exactly, but for rounding, EPS times the condition of the elements'
stiffness, 16 (elements)^4 = 1e5 to 1e6: 1e-9.
"""

import numpy as np
import pytest

import bough
from tests.support.compare import assert_same, solving
from tests.support.tolerance import CANCELLING, PRODUCTS, STEPPED, oscillation

EI, LENGTH, FORCE = 3.0, 1.5, 0.2
DEFLECTION, SLOPE = FORCE * LENGTH**3 / (3 * EI), FORCE * LENGTH**2 / (2 * EI)
SLOW = 100.0                # rad/s: modes below are compared, for which the bound of a run by fixed steps is small


def rod(damping=0.0, **words):
    """A beam whose modes contain the statics of its tip."""
    words = {"boundary": "craig-bampton", "interfaces": ["tip"], "modes": 2, "damping": damping} | words
    return bough.beam(LENGTH, EI=EI, mass_per_length=0.7, nodes={"middle": 0.6}, **words)


def welded(body, **words):
    s = bough.System("cantilever")
    s.body("rod", flexible=body, **words)
    return s


def tip(model, q):
    """Displacements (n, 3) of the tip and rotation matrices (n, 3, 3)."""
    seen = model.bodies(q).node("rod", "tip")
    return seen.position - [LENGTH, 0, 0], seen.attitude


# ---- statics --------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("frame", ["body", "world"])
def test_a_small_tip_force_bends_the_beam_as_the_textbook_says(frame):
    """P L^3/(3 EI) and P L^2/(2 EI): at the modal coordinates of `static_deflection` nothing accelerates. With a force of 1e-6
    P it does not matter whether it turns with the tip; what is left, and the way of the tip inward, are of second order, 1e-6
    of the first."""
    small = 1e-6
    body = rod()
    model, eta = welded(body).compile(), body.static_deflection("tip", force=(0, small * FORCE, 0))
    loads = {"wrenches": {("rod", "tip"): [0, 0, 0, 0, small * FORCE, 0]}, "frame": frame}
    a, pushed = (model.forward_dynamics(place, np.zeros(model.nv), **loads) for place in (eta, 0 * eta))
    assert_same(a, 0 * a, 10 * small, np.abs(pushed).max())
    place, turn = tip(model, eta[None])
    assert place[0] == pytest.approx([0, small * DEFLECTION, 0], abs=1e-6 * small * DEFLECTION)  # the way inward
    assert turn[0, 1, 0] == pytest.approx(small * SLOPE, rel=1e-9)


@pytest.mark.parametrize(("load", "deflection", "slope"), [("moment", 1 / 2, 1.0), ("weight", 1 / 8, 1 / 6)])
def test_other_loads(load, deflection, slope):
    """A tip moment, M L^2/(2 EI) and M L/EI; its own weight, q L^4/(8 EI) and q L^3/(6 EI). Solved for zero acceleration from the
    model's own accelerations at rest, K eta = M a. Six more modes a plane are enough for the weight, to 1e-4."""
    body, small = rod(modes=12), 1e-5
    system, wrenches = welded(body), {}
    if load == "weight":
        system.gravity = (0, small, 0)
        unit = small * 0.7 * LENGTH**4 / EI
    else:
        wrenches = {("rod", "tip"): [0, 0, small, 0, 0, 0]}
        unit = small * LENGTH**2 / EI
    model = system.compile()
    still = np.zeros(model.nv)
    eta = np.linalg.solve(body.K, model.mass_matrix(still) @ model.forward_dynamics(still, still, wrenches=wrenches))
    a = model.forward_dynamics(eta, still, wrenches=wrenches)
    assert np.abs(a).max() < 1e-4 * np.abs(model.forward_dynamics(still, still, wrenches=wrenches)).max()
    place, turn = tip(model, eta[None])
    assert place[0, 1] == pytest.approx(deflection * unit, rel=1e-4)
    assert turn[0, 1, 0] == pytest.approx(slope * unit / LENGTH, rel=1e-4)


def test_a_damped_beam_relaxes_to_its_static_deflection():
    """Under a force from t = 0 on, with 0.7 of critical damping: after 12 s the slowest mode, 3.2 rad/s, is down by exp(-27)."""
    body = rod(damping=0.7)
    system = welded(body)
    system.wrench("push", body="rod", node="tip", force=(0, FORCE, 0), frame="world")
    model = system.compile()
    result = bough.simulate(model, until=12.0, dt=2e-3, sample_rate=1)
    place, turn = tip(model, result.data.q.values[-1:])
    eta = body.static_deflection("tip", force=(0, FORCE, 0))
    assert_same(result.data.q.values[-1], eta, 5 * np.exp(-27.0))
    assert place[0, 1] == pytest.approx(DEFLECTION, rel=1e-9)
    assert np.arcsin(turn[0, 1, 0]) == pytest.approx(SLOPE, rel=1e-9)
    inward = -(FORCE**2) * LENGTH**5 / (15 * EI**2)  # -int w'^2/2 with w' = F (L x - x^2/2)/EI
    assert place[0, 0] == pytest.approx(inward, rel=1e-9)


# ---- let go -----------------------------------------------------------------------------------------------------------------
def test_a_preloaded_beam_vibrates_at_its_frequencies():
    """Bent by a tip force and let go: every mode follows eta0 cos(w t), the first at the frequency that the body tells; 97 % of
    the tip's motion is the first mode's, so that its zero crossings are a period apart to 3 %."""
    body = rod(geometric_stiffness=False)
    eta0 = body.static_deflection("tip", force=(0, FORCE, 0))
    w = 2 * np.pi * body.frequencies
    period = 1 / body.frequencies[np.abs(eta0).argmax()]
    model = welded(body, eta0=eta0).compile()
    result = bough.simulate(model, until=4 * period, dt=2e-4, sample_rate=200)
    t, q = result.time, result.data.q.values
    slow = w < SLOW
    assert slow.sum() >= 4
    assert_same(q[:, slow], (eta0 * np.cos(np.outer(t, w)))[:, slow], oscillation("rk4", SLOW, 2e-4, 4 * period))  # of this run
    place, _ = tip(model, q)
    assert place[0, 1] == pytest.approx(DEFLECTION, rel=1e-9)
    sign = np.sign(place[:, 1])
    crossings = t[1:][(sign[1:] > 0) & (sign[:-1] <= 0)]
    assert np.diff(crossings) == pytest.approx(np.full(len(crossings) - 1, period), rel=0.03)  # the other modes' share


def test_damping_takes_a_preloaded_beam_to_rest():
    """A mode of damping ratio z: exp(-z w t) (cos wd t + z w/wd sin wd t)."""
    body = rod(damping=0.05, geometric_stiffness=False)
    eta0 = body.static_deflection("tip", force=(0, FORCE, 0.5 * FORCE))
    result = bough.simulate(welded(body, eta0=eta0), until=3.0, dt=1e-4, sample_rate=50)
    w, t = 2 * np.pi * body.frequencies, result.time[:, None]
    wd, slow = w * np.sqrt(1 - 0.05**2), w < SLOW
    exact = eta0 * np.exp(-0.05 * w * t) * (np.cos(wd * t) + 0.05 * w / wd * np.sin(wd * t))
    assert_same(result.data.q.values[:, slow], exact[:, slow], oscillation("rk4", SLOW, 1e-4, 3.0))  # of this run


def test_initial_rates_are_used():
    body = rod(geometric_stiffness=False)
    result = bough.simulate(welded(body, etadot0=[0.1, *np.zeros(body.n_modes - 1)]), until=1.0, dt=1e-4, sample_rate=50)
    w = 2 * np.pi * body.frequencies[0]
    left = oscillation("rk4", w, h=1e-4, time=1.0) + STEPPED        # the run's
    assert_same(result.data.q.values[:, 0], 0.1 / w * np.sin(w * result.time), left)


# ---- rest shapes ------------------------------------------------------------------------------------------------------------
def test_a_beam_in_its_rest_shape_stays():
    """A beam that is bent when free of stress: nothing moves from there, and no energy is stored."""
    body = rod()
    rest = body.static_deflection("tip", force=(0, FORCE, -FORCE))
    system = welded(body, rest=rest, eta0=rest)
    model = system.compile()
    assert_same(model.forward_dynamics(rest, 0 * rest), 0 * rest, CANCELLING, np.abs(body.K @ rest).max())
    assert model.potential_energy(rest) == pytest.approx(0.0, abs=PRODUCTS)
    assert model.potential_energy(0 * rest) == pytest.approx(body.strain_energy(rest))
    result = bough.simulate(system, until=1.0, dt=5e-4, sample_rate=20)
    assert_same(result.data.q.values, np.tile(rest, (len(result.time), 1)), STEPPED)


def test_loads_bend_from_the_rest_shape():
    """rest + K^-1 phi^T F is at rest under the force; it swings about the rest shape when let go."""
    body = rod(geometric_stiffness=False)
    rest, bent = (body.static_deflection("tip", force=force) for force in ((0, 0, FORCE), (0, FORCE, 0)))
    model = welded(body, rest=rest).compile()
    a = model.forward_dynamics(rest + bent, 0 * rest, wrenches={("rod", "tip"): [0, 0, 0, 0, FORCE, 0]}, frame="world")
    assert_same(a, 0 * rest, solving(model.mass_matrix(rest)), np.abs(body.K @ bent).max())
    a = model.forward_dynamics(rest + bent, 0 * rest)
    assert_same(a, -body.K @ bent, solving(model.mass_matrix(rest)))


# ---- forces over time ----------------------------------------------------------------------------------------------------------
def test_a_table_of_forces_at_a_node():
    """A force at the middle node that is switched on and off: each mode answers with f (1 - cos w (t - t0))/w^2 to each switch."""
    body, on, off = rod(geometric_stiffness=False), 0.31, 0.77
    system = welded(body)
    table = bough.TimeTable([0.0, on, off], [[0, 0, 0], [0, FORCE, -2 * FORCE], [0, 0, 0]], "hold")
    system.wrench("blow", body="rod", node="middle", force=table, frame="world")
    result = bough.simulate(system, until=1.5, dt=1e-4, sample_rate=100)
    f, w = body.nodes.phi[body.nodes.index("middle")].T @ [0, FORCE, -2 * FORCE], 2 * np.pi * body.frequencies
    t, slow = result.time[:, None], w < SLOW
    steps = [np.where(t > at, 1 - np.cos(w * (t - at)), 0.0) for at in (on, off)]
    exact = f / w**2 * (steps[0] - steps[1])
    assert_same(result.data.q.values[:, slow], exact[:, slow], 2 * oscillation("rk4", SLOW, 1e-4, 1.5))  # of both switches
