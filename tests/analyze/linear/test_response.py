"""Frequency responses, spectra and forced amplitudes against closed forms, python-control, and a dense solution."""

import numpy as np
import pytest
from scipy.linalg import solve_continuous_lyapunov

import bough
from bough.errors import StateError
from tests.support.tolerance import CANCELLING, truncated

HZ, ZETA = np.array([0.3, 1.2, 1.21, 40.0]), np.array([3e-3, 1e-6, 5e-3, 4e-4])
GAIN = np.array([1.0, 0.4, 0.3, -0.2])


def modal(hertz=HZ, zeta=ZETA, gain=GAIN):
    """A free mass and modes, from a torque to an angle and its rate: sum of g^2/(s^2 + 2 zeta w s + w^2)."""
    w, n = 2*np.pi*hertz, len(hertz)
    A = np.block([[np.zeros((n, n)), np.eye(n)], [np.diag(-w**2), np.diag(-2*zeta*w)]])
    C = np.block([[gain, np.zeros(n)], [np.zeros(n), gain]])
    return bough.LinearSystem.from_arrays(A, np.append(np.zeros(n), gain)[:, None], C, inputs="rw", outputs=["angle", "rate"],
                                          input_units="N m", output_units=["rad", "rad/s"], name="panels")


def exact(frequency, hertz=HZ, zeta=ZETA, gain=GAIN):
    s, w = 2j*np.pi*frequency[:, None], 2*np.pi*hertz
    angle = (gain**2/(s*s + 2*zeta*w*s + w*w)).sum(axis=1)
    return np.stack([angle, s[:, 0]*angle], axis=1)


def mixed(system, seed=3):
    """The same system in states that are mixtures of all."""
    T = np.linalg.qr(np.random.default_rng(seed).normal(size=system.A.shape))[0]
    return bough.LinearSystem.from_arrays(T.T @ system.A @ T, T.T @ system.B, system.C @ T, inputs=system.inputs,
                                          outputs=system.outputs)


def test_lightly_damped_modes_are_exact_also_at_their_peaks():
    """At the peak of a mode with zeta = 1e-6 an error eps of the frequency is one of eps/zeta of the response."""
    peaks = (HZ[:, None]*(1 + ZETA[:, None]*np.array([-1, -0.1, 0, 0.1, 1]))).ravel()
    frequency = np.sort(np.concatenate([np.geomspace(1e-2, 1e3, 200), peaks]))
    found, truth = modal().response(frequency).gain[:, :, 0], exact(frequency)
    assert (np.abs(found - truth) <= 100*np.finfo(float).eps/ZETA.min()*np.abs(truth)).all()


def test_no_state_of_its_own_is_needed():
    """In mixed states A is of the size w_max^2: the frequency of the slowest mode is known to eps (w_max/w)^2, no better, whoever
    solves; ours is to be as good as a dense solution at each frequency."""
    frequency = np.geomspace(1e-2, 1e3, 300)
    system, truth = mixed(modal()), exact(np.geomspace(1e-2, 1e3, 300))
    dense = np.array([system.C @ np.linalg.solve(2j*np.pi*f*np.eye(8) - system.A, system.B)[:, 0] for f in frequency])
    found = system.response(frequency).gain[:, :, 0]
    theirs, ours = (np.abs(each - truth).max(axis=1)/np.abs(truth).max(axis=1) for each in (dense, found))
    assert np.median(ours) <= 10*np.median(theirs)
    assert ours.max() <= 10*theirs.max()


def test_response_is_that_of_python_control():
    pytest.importorskip("control")
    system = modal()
    for each in (system, system.discretize(0.01), system.discretize(0.01, "tustin")):
        frequency = np.geomspace(0.02, 45.0, 60)
        theirs = each.to_control().frequency_response(2*np.pi*frequency).complex
        np.testing.assert_allclose(each.response(frequency).gain, np.moveaxis(theirs, 2, 0), rtol=1e-7)    # near a pole: eps/zeta


def test_the_grid_finds_every_resonance():
    response = modal().response()
    peak = GAIN**2/(2*ZETA*(2*np.pi*HZ)**2)
    for hertz, height in zip(HZ[[0, 1, 3]], peak[[0, 1, 3]], strict=True):
        near = np.abs(response.frequency/hertz - 1) < 3e-3
        assert response.magnitude[near, 0, 0].max() == pytest.approx(height, rel=0.02)       # others add at most a hundredth


def test_data_has_names_and_units(tmp_path):
    response = modal().response([1.0, 2.0])
    data = response.data
    assert data.unit.sel(output="rate", input="rw").item() == "rad/s/(N m)"
    assert data.frequency.attrs["units"] == "Hz"
    np.testing.assert_allclose(data.phase.sel(output="rate") - data.phase.sel(output="angle"), 90.0)
    values = response.singular_values()
    np.testing.assert_allclose(values[:, 0], np.linalg.norm(response.gain[:, :, 0], axis=1))
    for kind in ("bode", "nichols", "nyquist", "singular values"):
        response.plot(kind, tmp_path / f"{kind}.png")
        assert (tmp_path / f"{kind}.png").stat().st_size > 5000
    with pytest.raises(StateError, match="no 'bodo', did you mean 'bode'"):
        response.plot("bodo")


def test_white_noise_has_the_variance_of_lyapunov():
    """A X + X A' + B B' S/2 = 0, with S one-sided. Between points of the grid the density is taken as a power of frequency: with
    twice as many points a quarter of the error is left. Beyond 1000 times the poles a rate has zeta/1000 of its variance."""
    system = modal(HZ[[0, 2, 3]], ZETA[[0, 2, 3]], GAIN[[0, 2, 3]])
    found = system.spectrum({"rw": 2.0})
    X = solve_continuous_lyapunov(system.A, -system.B @ system.B.T)
    fine = system.spectrum({"rw": 2.0}, np.union1d(found.frequency, np.sqrt(found.frequency[1:]*found.frequency[:-1])))
    coarse, fine = (list(each.rms.values())/np.sqrt(np.diag(system.C @ X @ system.C.T)) for each in (found, fine))
    np.testing.assert_allclose(fine, 1.0, rtol=0, atol=truncated(coarse, fine, order=2) + ZETA.max()/1000)   # see above
    assert found.data.growing_rms.sel(output="angle")[-1] == found.rms["angle"]


def test_a_table_is_a_spectrum_between_its_ends(tmp_path):
    system = modal()
    table = ([0.5, 5.0], [1e-2, 1e-4])                      # 1e-2 (f/0.5)^-2
    found = system.spectrum({"rw": table})
    assert (found.frequency[0], found.frequency[-1]) == (0.5, 5.0)
    also = system.spectrum({"rw": lambda f: 1e-2*(f/0.5)**-2}, found.frequency)
    np.testing.assert_allclose(found.density, also.density, rtol=CANCELLING)
    found.plot(tmp_path / "spectrum.png")
    assert "100 % of its square from rw" in str(found)


def test_the_spectrum_is_that_of_long_runs():
    """A spring of 0.5 Hz and 5 % damping under torques that are drawn anew every T = 0.1 s: one-sided 2 s^2 T sinc^2(f T). Sixteen
    runs of 220 s: means of Welch's estimate over n independent numbers are off by 1/sqrt(n); the mean square of what lies within
    the bandwidth pi f zeta of the swing, by 1/sqrt(pi f zeta 3500 s) = 6 %."""
    from scipy.signal import welch

    s = bough.System("shaken")
    joint = bough.Revolute("z", stiffness=0.6*np.pi**2, damping=0.06*np.pi)
    s.body("arm", joint=joint, mass=2.0, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
    s.input("torque", coordinate="arm")
    s.output("angle", coordinate="arm")
    model, random, period, size, runs = s.compile(), np.random.default_rng(5), 0.1, 0.3, 16
    noise = bough.Law(lambda t, y: {"torque": size*random.standard_normal(runs)}, outputs=[], inputs=["torque"], period=period)
    run = bough.simulate(model, q0=np.zeros((runs, 1)), until=250.0, dt=0.05, sample_rate=10, laws=[noise], record=["state"])
    said = model.linearize().spectrum({"torque": lambda f: 2*size**2*period*np.sinc(f*period)**2})
    angle = run.data.q.values[:, 300:, 0]                                           # four times the time of decay have passed
    assert said.rms["angle"] == pytest.approx(angle.std(), rel=0.09)                # half of three times 6 %
    f, density = welch(angle, 10.0, nperseg=1024, axis=1)
    for low, high in ((0.05, 0.3), (0.3, 0.45), (0.55, 0.8), (0.8, 2.0)):
        band = (f > low) & (f < high)
        n = 2*runs*band.sum()/1.5                           # two segments of each run; neighbors share some of a Hann window
        exact = np.interp(f[band], said.frequency, said.density[:, 0])
        assert (density[:, band]/exact).mean() == pytest.approx(1.0, abs=4/np.sqrt(n))


def test_forces_of_an_imbalance_turn_together():
    """x'' = Fx, y'' = Fy of a turning force U w^2 (cos, sin): the mass runs on a circle of radius U, against the force."""
    A = np.block([[np.zeros((2, 2)), np.eye(2)], [np.zeros((2, 4))]])
    mass = bough.LinearSystem.from_arrays(A, np.eye(4)[:, 2:], np.eye(4)[:2], inputs=["push.x", "push.y"], outputs=["x", "y"])
    size = lambda f: 0.02*(2*np.pi*f)**2  # noqa: E731
    found = mass.forced({"push.x": size, "push.y": lambda f: -1j*size(f)}, [0.5, 2.0])
    np.testing.assert_allclose(found, 0.02*np.array([[-1, 1j], [-1, 1j]]), rtol=CANCELLING)


@pytest.mark.parametrize(("call", "message"), [
    (lambda s: s.response([-1.0]), "give numbers >= 0"),
    (lambda s: s.discretize(0.1).response([20.0]), "20 Hz is above half the sample rate, 5 Hz"),
    (lambda s: s.select(inputs=[]).response(), "has no input; declare one with System.input"),
    (lambda s: s.spectrum({}), "no disturbance is given"),
    (lambda s: s.spectrum({"rx": 1.0}), "there is no input 'rx'; there are rw"),
    (lambda s: s.spectrum({"rw": -1.0}), r"density of 'rw' is negative.*\[\(N m\)\^2/Hz\]"),
    (lambda s: s.spectrum({"rw": ([1, 1], [1, 1])}), "table of 'rw' must have rising frequencies"),
])
def test_bad_requests_are_named(call, message):
    with pytest.raises(StateError, match=message):
        call(modal())
