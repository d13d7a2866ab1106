"""Natural frequencies of beams against closed forms, to four digits."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import iv, jv

from bough.flex import beam, beam_model
from tests.support.tolerance import CANCELLING, SWEEP

FOUR_DIGITS = 1e-4          # roots are printed with 5 to 7 digits; cubic elements leave (k h)^4/1440 of a frequency
SQUARE_BAR = {"E": 70e9, "G": 26e9, "area": 1e-4, "Iy": 1e-4**2 / 12, "Iz": 4e-4**2 / 12, "J": 2e-9, "density": 2700.0}


def angular(body):
    return 2 * np.pi * body.frequencies


def roots(function, start, stop, count):
    """The first roots of a function, found from the changes of its sign."""
    grid = np.linspace(start, stop, 4000)
    values = np.array([function(each) for each in grid])
    turns = np.flatnonzero(values[:-1] * values[1:] < 0)[:count]
    return np.array([brentq(function, grid[i], grid[i + 1], xtol=1e-13) for i in turns])


@pytest.mark.parametrize(
    ("boundary", "equation"),
    [
        ("cantilever", lambda b: np.cos(b) + 1 / np.cosh(b)),
        ("free-free", lambda b: np.cos(b) - 1 / np.cosh(b)),
        ("pinned", np.sin),
    ],
)
def test_uniform_bending_in_both_planes(boundary, equation):
    stiff_y, stiff_z = 3.0, 7.0
    body = beam(2.0, EI=(stiff_y, stiff_z), mass_per_length=0.4, boundary=boundary, modes=6)
    theory = roots(equation, 1.0, 14.0, 4) ** 2 / 2.0**2
    both = np.sort(np.concatenate([theory * np.sqrt(stiff_y / 0.4), theory * np.sqrt(stiff_z / 0.4)]))[:6]
    assert np.allclose(angular(body), both, rtol=FOUR_DIGITS)


@pytest.mark.parametrize("axis", ["x", "y", "z", "-x", "-y", "-z"])
def test_each_plane_has_its_stiffness_on_every_axis(axis):
    """EIz resists bending about the beam's z: deflection along its y."""
    body = beam(1.0, EI=(1.0, 4.0), mass_per_length=1.0, axis=axis, modes=2)
    soft, stiff = body.nodes.phi[1].T
    across_y, across_z = {"x": (1, 2), "y": (2, 0), "z": (0, 1)}[axis[-1]]
    assert np.abs(soft).argmax() == across_z
    assert np.abs(stiff).argmax() == across_y
    assert angular(body) == pytest.approx([3.516015, 7.03203], rel=FOUR_DIGITS)


def test_axial_and_torsional_frequencies():
    length, polar = 0.3, SQUARE_BAR["density"] * (SQUARE_BAR["Iy"] + SQUARE_BAR["Iz"])
    model = beam_model(length, elements=80, **SQUARE_BAR)
    body = model.reduce(modes=24)
    axial = np.pi / 2 / length * np.sqrt(SQUARE_BAR["E"] / SQUARE_BAR["density"])
    torsion = np.pi / 2 / length * np.sqrt(SQUARE_BAR["G"] * SQUARE_BAR["J"] / polar)
    is_axial = np.abs(body.nodes.phi[1, 0]) > 1e-6
    is_torsion = np.abs(body.nodes.psi[1, 0]) > 1e-6
    assert angular(body)[is_axial][0] == pytest.approx(axial, rel=FOUR_DIGITS)
    assert angular(body)[is_torsion][0] == pytest.approx(torsion, rel=FOUR_DIGITS)


def test_wedge_against_bessel_functions():
    """Kirchhoff's wedge: (x^3 y'')'' = k^2 x y from the tip, y = J1(2 sqrt(k x)) / sqrt(x) and I1."""
    x = roots(lambda b: jv(1, b) * iv(2, b) + iv(1, b) * jv(2, b), 1.0, 12.0, 3)
    body = beam(
        1.0, EI=(lambda s: (1 - s) ** 3, lambda s: 100 * (1 - s) ** 3), mass_per_length=lambda s: 1 - s, modes=2, elements=40
    )
    assert angular(body) == pytest.approx(x[:2] ** 2 / 4, rel=FOUR_DIGITS)
    assert angular(body)[0] == pytest.approx(5.315, abs=5e-4)  # as printed


def test_table_of_sections_is_the_function_it_samples():
    by_table = beam(2.0, EI=np.array([3.0, 1.0]), mass_per_length=[2.0, 1.0], modes=2)
    by_function = beam(2.0, EI=lambda s: 3 - s, mass_per_length=lambda s: 2 - s / 2, modes=2)
    assert by_table.frequencies == pytest.approx(by_function.frequencies, rel=CANCELLING)


def test_timoshenko_cantilever_against_its_frequency_equation():
    """Huang's equation, for a stubby beam whose frequencies are far below Euler-Bernoulli's."""
    r, shear = 0.06, 0.09  # sqrt(I / A) / L and sqrt(EI / kGA) / L

    def equation(b):
        root = np.sqrt((r**2 - shear**2) ** 2 + 4 / b**2)
        alpha, beta = np.sqrt((root - r**2 - shear**2) / 2), np.sqrt((root + r**2 + shear**2) / 2)
        hyperbolic = b * (r**2 + shear**2) / np.sqrt(1 - (b * r * shear) ** 2) * np.sinh(b * alpha) * np.sin(b * beta)
        return 2 + (b**2 * (r**2 - shear**2) ** 2 + 2) * np.cosh(b * alpha) * np.cos(b * beta) - hyperbolic

    theory = roots(equation, 1.0, 60.0, 3)
    body = beam(
        1.0, E=1 / r**2, Iy=r**2, Iz=r**2, G=1 / shear**2, area=1.0, density=1.0, timoshenko=True, shear_factors=1.0, J=None,
        modes=6, elements=100, EA=None,
    )  # fmt: skip
    bending = angular(body)[np.abs(body.nodes.phi[1, 1]) > 1e-6][:3]
    assert bending == pytest.approx(theory, rel=FOUR_DIGITS)
    assert bending[0] < 3.516 * 0.98


def test_slender_timoshenko_beam_does_not_lock():
    thin = {"E": 1e8, "Iy": 1e-8, "Iz": 1e-8, "G": 4e7, "area": 1.0, "density": 1.0, "modes": 2, "elements": 4}
    # 3 EI/(k GA L^2) = 9e-8 of the deflection is shear
    assert beam(1.0, timoshenko=True, **thin).frequencies == pytest.approx(beam(1.0, **thin).frequencies, rel=2e-7)


@pytest.mark.parametrize("ratio", [0.2, 1.0, 5.0])
def test_tip_mass(ratio):
    def equation(b):
        return 1 / np.cosh(b) + np.cos(b) + ratio * b * (np.cos(b) * np.tanh(b) - np.sin(b))

    theory = roots(equation, 0.2, 8.0, 2) ** 2
    body = beam(1.0, EI=(1.0, 1e4), mass_per_length=1.0, tip_mass=ratio, modes=2)
    assert angular(body) == pytest.approx(theory, rel=FOUR_DIGITS)
    assert body.mass == pytest.approx(1 + ratio)


def test_tip_inertia_and_offset_count():
    """A heavy tip on a light beam: one bending mode of a rigid lump on a massless beam."""
    length, mass, inertia, offset, EI = 1.0, 50.0, 4.0, 0.3, 10.0
    body = beam(
        length, EI=(1e5, EI), mass_per_length=1e-6, tip_mass=mass, tip_com=(offset, 0, 0), tip_inertia=(1.0, 1.0, inertia), modes=2
    )
    flexibility = np.array([[length**3 / 3, length**2 / 2], [length**2 / 2, length]]) / EI
    lump = np.array([[mass, mass * offset], [mass * offset, inertia + mass * offset**2]])
    theory = np.sort(1 / np.sqrt(np.linalg.eigvals(flexibility @ lump)))
    assert angular(body) == pytest.approx(theory, rel=2e-8)  # the beam weighs 1e-6 kg beside 50 kg


def test_consistent_mass_is_what_the_points_sum_to():
    model = beam_model(1.0, elements=6, timoshenko=True, tip_mass=0.3, tip_com=(0.1, 0.2, 0), tip_inertia=0.01, **SQUARE_BAR)
    body = model.reduce(modes=5)
    assert np.allclose(body.integrals.Mff, np.eye(5), rtol=0, atol=SWEEP)
    assert body.mass == pytest.approx(0.27 + 0.3)
    assert body.com == pytest.approx((0.27 * np.array([0.5, 0, 0]) + 0.3 * np.array([1.1, 0.2, 0])) / 0.57)
