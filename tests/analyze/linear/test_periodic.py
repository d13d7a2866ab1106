"""Floquet multipliers and multi-blade coordinates against Mathieu's functions and Coleman's equations of ground resonance."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation
from scipy.special import mathieu_a, mathieu_b

import bough
from bough.errors import StateError
from bough.linear import floquet, multiblade
from tests.support.compare import eigenvalue_rounding
from tests.support.tolerance import CANCELLING, adaptive, truncated

HUB, SPRING, SHAFT, ARM, BLADE, REACH, ABOUT, LAG = 1000.0, 2e5, 10.0, 0.5, 60.0, 2.5, 120.0, 3000.0


def of_monodromy(found):
    """How far the monodromy matrix may be off: steps of sixth order were doubled until they changed it by `error`; and rounding."""
    return (truncated(found.error, 0.0, order=6) + CANCELLING)*np.linalg.norm(found.monodromy)


def mathieu(a, q):
    return lambda t: np.array([[0.0, 1.0], [-(a - 2*q*np.cos(2*t)), 0.0]])


@pytest.mark.parametrize("q", [0.5, 8.0])
@pytest.mark.parametrize(("n", "characteristic"), [(0, mathieu_a), (1, mathieu_b), (1, mathieu_a), (2, mathieu_b)])
def test_on_the_borders_of_stability_of_mathieu_the_trace_is_two(n, characteristic, q):
    """y'' + (a - 2 q cos 2t) y = 0 has a solution of period pi (n even) or 2 pi at its characteristic values: a multiplier 1 or -1,
    twice, for their product is one. Between them it is stable or not."""
    a = float(characteristic(n, q))
    found = floquet(mathieu(a, q), np.pi)
    assert np.trace(found.monodromy) == pytest.approx(2.0*(-1)**n, abs=2*of_monodromy(found))
    below, above = (floquet(mathieu(a + side*1e-3, q), np.pi).stable for side in (-1, 1))
    assert (below, above) == ((False, True) if characteristic is mathieu_a else (True, False))


def test_the_exponent_has_the_frequency_that_is_seen():
    """A weakly modulated swing of 3.2 rad/s, period pi: its multiplier alone would do for 1.2 rad/s as well. Its exponent n obeys
    a = n^2 + q^2/(2 (n^2 - 1)) + O(q^4)."""
    q, n = 0.1, 3.2
    found = floquet(mathieu(n**2 + q**2/(2*(n**2 - 1)), q), np.pi)
    assert found.frequencies == pytest.approx(n/(2*np.pi), rel=q**4)        # what the series leaves out
    assert "stable" in str(found)


def test_a_model_with_a_shaken_pivot_is_mathieus():
    """A pendulum whose pivot moves as Z cos(w t): l th'' + (g - Z w^2 cos(w t)) th = 0."""
    length, shake, w, g = 2.0, 0.05, 9.0, 9.81
    s = bough.System("shaken", gravity=(0, 0, -g))
    motion = bough.motion.Harmonics([(shake, w, np.pi/2)])
    s.body("pivot", joint=bough.Prismatic("z", motion=motion), mass=1.0)
    s.body("bob", parent="pivot", joint=bough.Revolute("y"), mass=3.0, com=(0, 0, -length))
    found = floquet(s.compile(), 2*np.pi/w)

    def exact(t, x):
        return [x[1], -(g - shake*w**2*np.cos(w*t))/length*x[0]]
    columns = [solve_ivp(exact, (0, 2*np.pi/w), start, rtol=1e-12, atol=1e-13).y[:, -1] for start in np.eye(2)]
    theirs = adaptive(1e-12, 100)                                # SciPy's, in a hundred steps at most
    np.testing.assert_allclose(found.monodromy, np.array(columns).T, rtol=0, atol=of_monodromy(found) + theirs)
    assert found.states == ("bob.ry", "bob.ry rate")


def rotor(rate, blades=3):
    """A hub on springs, a shaft that turns at a rate, blades on lag hinges."""
    s = bough.System("rotor")
    s.body("hub", joint=bough.Joint(translations=["x", "y"], stiffness=(SPRING, SPRING)), mass=HUB, inertia=(10, 10, 10))
    s.body("shaft", parent="hub", joint=bough.Revolute("z", motion=bough.motion.Rate(rate)), mass=SHAFT, inertia=(1, 1, 1))
    for i in range(blades):
        turn = Rotation.from_euler("z", 2*np.pi*i/blades)
        s.body(f"blade{i + 1}", parent="shaft", joint=bough.Revolute("z", stiffness=LAG), at=tuple(turn.apply([ARM, 0, 0])),
               orient=turn, mass=BLADE, com=(REACH, 0, 0), inertia=(1, ABOUT, ABOUT))
    return s.compile()


def at_azimuth(model, rate):
    def made(azimuth):
        q, v = model.follow(model.q0, model.v0, azimuth/rate)
        return model.linearize(q, v, t=azimuth/rate)
    return made


def coleman(rate, blades=3):
    """Ground resonance (Coleman and Feingold) in z = x + i y of the hub and e = sum of i lag exp(i psi):
    (M + n m) z'' + K z + S e'' = 0,  I (e'' - 2 i W e' - W^2 e) + (k + W^2 a S) e + n/2 S z'' = 0; with conjugates."""
    S, about = BLADE*REACH, ABOUT + BLADE*REACH**2
    M = np.array([[HUB + SHAFT + blades*BLADE, S], [blades/2*S, about]], complex)
    G = np.diag([0, -2j*rate*about])
    K = np.diag([SPRING, LAG + rate**2*(ARM*S - about)])
    values = np.linalg.eigvals(np.block([[np.zeros((2, 2)), np.eye(2)], [-np.linalg.solve(M, K), -np.linalg.solve(M, G)]]))
    return np.concatenate([values, values.conj()])


@pytest.mark.parametrize(("rate", "blades", "unstable"), [(8.0, 3, False), (20.0, 3, True), (40.0, 4, False)])
def test_ground_resonance(rate, blades, unstable):
    model = rotor(rate, blades)
    found = multiblade(at_azimuth(model, rate), rate=rate, blades=[f"blade{i + 1}" for i in range(blades)])
    assert found.periodic < CANCELLING                           # equal blades, an isotropic ground
    poles = found.system.poles()
    for value in coleman(rate, blades):
        assert np.abs(poles - value).min() < eigenvalue_rounding(found.system.A)
    assert bool(poles.real.max() > 1e-6) is unstable
    assert "blades.rz rate cosine" in found.system.states


def test_floquet_says_the_same_as_multiblade_coordinates():
    rate = 20.0
    model = rotor(rate)
    whole = multiblade(at_azimuth(model, rate), rate=rate).system
    period = floquet(model, 2*np.pi/rate)
    bound = np.linalg.cond(np.linalg.eig(period.monodromy)[1])*of_monodromy(period)          # Bauer and Fike
    for value in np.exp(whole.poles()*2*np.pi/rate):
        assert np.abs(period.multipliers - value).min() < bound
    assert not period.stable


@pytest.mark.parametrize(("call", "message"), [
    (lambda m: multiblade(at_azimuth(m, 8.0), rate=8.0, blades=["blade1", "blade2"]), "2 blades; there must be three or more"),
    (lambda m: multiblade(at_azimuth(m, 8.0), rate=8.0, blades=["a", "b", "c"]), "no state belongs to a, b, c"),
    (lambda m: multiblade(at_azimuth(m, 8.0), rate=8.0, blades=["blade1", "blade2", "hub"]), "blade1.x is missing; all blades"),
    (lambda m: floquet(m, 0.0), "period is 0.0 s"),
    (lambda m: floquet(lambda t: np.array([[float(t < 0.7)]]), 1.0), "is A\\(t\\) smooth"),
])
def test_bad_requests_are_named(call, message):
    with pytest.raises(StateError, match=message):
        call(rotor(8.0))
