"""Modes followed over a parameter, and borders of stability, against closed forms."""

import numpy as np
import pytest

import bough
from bough.errors import StateError
from bough.linear import campbell, root_locus, stability_boundary
from tests.support.compare import eigenvalue_rounding
from tests.support.tolerance import CANCELLING

KT, KR, MASS, IT, IP, ARM = 4e4, 900.0, 10.0, 0.2, 0.3, 0.05


def rotor(arm=0.0):
    """A disk on springs that do not turn, against translation and tilt; its mass center `arm` beyond them."""
    s = bough.System("rotor")
    joint = bough.Joint(translations=["x", "y"], rotations=["x", "y", "z"], stiffness=(KT, KT, KR, KR, 0))
    s.body("disk", joint=joint, mass=MASS, com=(0, 0, arm), inertia=(IT, IT, IP))
    return s.compile()


def whirls(rate, arm):
    """Frequencies [rad/s] of both whirls, in complex coordinates u = x + i y, t = ry - i rx of a turning disk:
    M u'' + M a t'' + KT u = 0,  M a u'' + (It + M a^2) t'' - i Ip W t' + KR t = 0; solutions exp(i w t), w of both signs. And the
    matrix whose eigenvalues they are."""
    M = np.array([[MASS, MASS*arm], [MASS*arm, IT + MASS*arm**2]])
    G, K = np.diag([0.0, -1j*IP*rate]), np.diag([KT, KR])
    A = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.linalg.solve(M, K), -np.linalg.solve(M, G)]])
    return np.sort(np.abs(np.linalg.eigvals(A).imag)), A


@pytest.mark.parametrize("arm", [0.0, ARM])
def test_campbell_lines_of_a_rotor_on_flexible_bearings(arm):
    rates = np.linspace(0.0, 250.0, 26)
    tracks = campbell(rotor(arm), rates, parameter="disk.rz")
    assert (tracks.parameter, tracks.unit) == ("disk.rz", "rad/s")
    for k, rate in enumerate(rates):
        expected, A = whirls(rate, arm)
        np.testing.assert_allclose(np.sort(tracks.eigenvalues[k].imag), expected, rtol=0, atol=eigenvalue_rounding(A))
    # each line is smooth: second differences of the closed form are 0.8, and 1.5 where lines veer; that of lines that swap is 3
    assert np.abs(np.diff(tracks.eigenvalues.imag, 2, axis=0)).max() < 2.0


def test_lines_that_cross_keep_their_shapes():
    """Tilt forward and backward, and translation: the lines cross at arm = 0 and each shape stays what it was."""
    tracks = campbell(rotor(), np.linspace(10.0, 250.0, 9), parameter="disk.rz")
    moved = np.abs(tracks.shapes)
    tilting = np.array([name.startswith(("disk.rx", "disk.ry")) for name in tracks.states])
    share = (moved[:, :, tilting]**2).sum(axis=2)/(moved**2).sum(axis=2)
    assert np.minimum(share, 1 - share).max() < CANCELLING
    assert (np.ptp(share, axis=0) < 0.5).all()                      # none turns into the other


def test_critical_speeds():
    """Ip > It: the tilting whirl forward never meets the speed, the backward one at W = sqrt(KR/(It + Ip)); sqrt(KT/M) twice."""
    tracks = campbell(rotor(), np.linspace(0.0, 250.0, 126), parameter="disk.rz")
    found = [value for _, value in tracks.criticals()]
    np.testing.assert_allclose(found, [np.sqrt(KR/(IT + IP)), *2*[np.sqrt(KT/MASS)]], rtol=1e-3)      # straight between values


def test_parameters_of_the_description_and_wheels():
    s = bough.System("swing")
    s.body("arm", joint=bough.Revolute("z", stiffness=20.0), mass=3.0, com=(1, 0, 0), inertia=(0.5, 0.5, 1.0))
    model = s.compile()
    tracks = campbell(model, [1.0, 3.0, 9.0], parameter="arm.mass")
    np.testing.assert_allclose(tracks.frequencies[:, 0], np.sqrt(20/(np.array([1.0, 3.0, 9.0]) + 1.0))/(2*np.pi), rtol=CANCELLING)
    with pytest.raises(StateError, match=r"name one of them, as 'arm.com\[0\]'"):
        campbell(model, [1, 2], parameter="arm.com")
    with pytest.raises(StateError, match="arm"):
        campbell(model, [1, 2], parameter="arn.mass")
    with pytest.raises(StateError, match="parameter is missing"):
        campbell(model, [1, 2])
    for values in ([1], [1, np.nan], ["a", "b"]):
        with pytest.raises(StateError, match="give two or more finite numbers"):
            campbell(model, values, parameter="arm.mass")


def pendulums(coupling):
    """Two pendulums that a weak spring joins, one of them tuned by the parameter: lines veer, or cross if there is no spring."""
    def made(tuning):
        K = np.array([[1.0 + coupling, -coupling], [-coupling, tuning + coupling]])
        A = np.block([[np.zeros((2, 2)), np.eye(2)], [-K, np.zeros((2, 2))]])
        return bough.LinearSystem.from_arrays(A, np.zeros((4, 1)), np.eye(1, 4))
    return made


def test_lines_veer_or_cross():
    values = np.linspace(0.8, 1.2, 10)
    crossing = campbell(pendulums(0.0), values).eigenvalues.imag
    assert np.ptp(crossing, axis=0).min() < CANCELLING                         # one line is straight through the crossing
    veering = campbell(pendulums(0.02), values).eigenvalues.imag
    assert (np.diff(veering, axis=0) > 0).all()                           # both rise: neither takes over the other's
    assert (veering[:, 0] < veering[:, 1]).all() or (veering[:, 0] > veering[:, 1]).all()


def test_modes_that_end_are_missing_and_not_made_up():
    """x'' + 2 d x' + x = 0 from a swing, d < 1, to two real eigenvalues."""
    def made(d):
        return bough.LinearSystem.from_arrays([[0, 1], [-1, -2*d]], [[0], [1]], [[1, 0]])
    tracks = campbell(made, [0.5, 0.9, 1.1, 2.0], parameter="damping")
    assert tracks.eigenvalues.shape[1] == 2
    assert np.isnan(tracks.eigenvalues[:2]).sum() == 2                    # one of the two begins at 1.1
    assert np.isfinite(tracks.eigenvalues[2:]).all()


def test_root_locus_over_a_gain_and_figures(tmp_path):
    """Two masses, non-collocated: k = the loop gain at which the swing becomes unstable is that of the gain margin."""
    A = np.block([[np.zeros((2, 2)), np.eye(2)], [100*np.array([[-1, 1], [1, -1]]), 0.2*np.array([[-1, 1], [1, -1]])]])
    plant = bough.LinearSystem.from_arrays(A, [[0], [0], [1], [0]], np.eye(4)[[1, 3]], inputs="force", outputs=["far", "rate"])
    pd = bough.LinearSystem.from_arrays([], [], [], [[1.0, 1.0]], inputs=["far", "rate"], outputs="force")
    tracks = root_locus(plant, np.linspace(0.01, 1.0, 12), controller=pd)
    margin = plant.cut(pd, "force").margins().gain_reduction          # at k = 1 it is unstable
    limit = stability_boundary(lambda k: plant.feedback(bough.LinearSystem.from_arrays(
        [], [], [], k*pd.D, inputs=pd.inputs, outputs=pd.outputs)), 1e-3, 3.0, parameter="gain")
    assert limit.value == pytest.approx(margin, rel=CANCELLING)
    assert limit.kind == "flutter"
    tracks.plot("root locus", tmp_path / "locus.png")
    tracks.plot("campbell", tmp_path / "campbell.png", harmonics=[1, 3])
    assert tracks.data.frequency.attrs["units"] == "Hz"
    with pytest.raises(StateError, match="no controller"):
        root_locus(plant, [1, 2])


def test_an_inverted_pendulum_diverges_below_its_spring():
    """k = m g l; without damping the pair is at zero to rounding on the stable side. It grows at s where the spring lacks J s^2."""
    s = bough.System("inverted", gravity=(0, 0, -9.81))
    s.body("arm", joint=bough.Revolute("y", stiffness=40.0), mass=2.0, com=(0, 0, 1.5), inertia=(0.1, 0.1, 0.1))
    found = stability_boundary(s.compile(), 60.0, 10.0, parameter="arm.stiffness", tolerance=1e-6)
    assert found.value == pytest.approx(2.0*9.81*1.5, abs=(0.1 + 2.0*1.5**2)*1e-6**2 + CANCELLING*60.0)    # J, s = 1e-6; the range
    assert found.kind == "divergence"
    assert found.state.startswith("arm.ry")


def test_without_a_border_the_ends_are_told():
    with pytest.raises(StateError, match=r"it is stable both at tuning = 1 .* and at 2"):
        stability_boundary(pendulums(0.1), 1.0, 2.0, parameter="tuning")
