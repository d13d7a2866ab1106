"""Motion-induced stiffness: spinning beams stiffen, columns buckle, and the matrices are those of the exact rod."""

import numpy as np
import pytest
from scipy.linalg import logm

from bough.flex import beam
from bough.flex.beams import beam_grid, second_order_displacements, sections
from bough.flex.solids import box, solid_model
from tests.support.rods import integrate_rod
from tests.support.tolerance import MODES, printed, truncated

FLAP = {2.0: 4.1373, 6.0: 7.3604, 12.0: 13.1702}  # Wright et al. 1982, hub radius zero


def spinning_frequencies(body, omega):
    """Angular frequencies of small motions about the undeformed shape in steady spin, without Coriolis terms."""
    n, integrals, step = body.n_modes, body.integrals, 1e-6
    still = np.zeros(n)
    softening = [
        (integrals.bias(step * e, still, omega) - integrals.bias(-step * e, still, omega))[:n] / (2 * step) for e in np.eye(n)
    ]
    stiffness = body.K + body.geometric.matrix((0, 0, 0), (0, 0, 0), omega) + np.array(softening).T
    return np.sqrt(np.sort(np.linalg.eigvals(stiffness).real))


@pytest.mark.parametrize("speed", FLAP)
@pytest.mark.parametrize("axis", ["x", "y", "-z"])
def test_rotating_cantilever_stiffens(speed, axis):
    spin = speed * np.roll([0.0, 0.0, 1.0], "xyz".index(axis[-1]))
    bodies = [beam(1.0, EI=1.0, mass_per_length=1.0, modes=modes, axis=axis) for modes in (10, 20)]
    (_, coarse), (lag, flap) = (spinning_frequencies(body, spin)[:2] for body in bodies)
    bound = truncated(coarse, flap, order=MODES) + printed(5)
    assert flap == pytest.approx(FLAP[speed], abs=bound)
    assert lag == pytest.approx(np.sqrt(FLAP[speed] ** 2 - speed**2), abs=bound * flap / lag)  # lag^2 = flap^2 - speed^2


def test_timoshenko_beam_stiffens_too():
    bar = {"E": 1e4, "Iy": 1e-4, "Iz": 1e-4, "G": 4e3, "area": 1.0, "density": 1.0, "timoshenko": True, "EA": 1e6, "modes": 12}
    found = spinning_frequencies(beam(1.0, **bar), np.array([0, 0, 6.0]))
    slender = 1e-4 + 1e-4 / (5 / 6 * 0.4)  # I/A of rotary inertia, EI/(kappa G A) of shear: times b^2, the frequency
    assert found[1] == pytest.approx(FLAP[6.0], rel=slender * FLAP[6.0])


def critical_load(body, matrix):
    """The smallest positive load P with K - P G singular."""
    values = np.linalg.eigvals(np.linalg.solve(body.K, matrix))
    real = values.real[np.abs(values.imag) < 1e-9 * np.abs(values).max()]
    return 1 / real.max()


def test_euler_column_buckles_under_a_node_force():
    bodies = [beam(2.0, EI=3.0, mass_per_length=1.0, modes=modes) for modes in (10, 20)]
    coarse, fine = (critical_load(body, -body.geometric.force[1, 0]) for body in bodies)
    assert fine == pytest.approx(np.pi**2 * 3.0 / (4 * 2.0**2), abs=truncated(coarse, fine, order=MODES))


def test_column_buckles_under_its_own_weight():
    """Greenhill: q L^3 / EI = 7.8373 for a column that carries its weight."""
    bodies = [beam(1.0, EI=1.0, mass_per_length=1.0, modes=modes, axis="z") for modes in (10, 20)]
    coarse, fine = (critical_load(body, -body.geometric.acceleration[2]) for body in bodies)
    assert fine == pytest.approx(7.8373, abs=truncated(coarse, fine, order=MODES) + printed(5))


@pytest.mark.parametrize("across", [1, 2])
def test_cantilever_strip_buckles_sideways(across):
    """Lateral buckling under a tip force along the strong direction: F L^2 / sqrt(EI GJ) = 4.0126 (Prandtl)."""
    weak, GJ = 2.0, 0.7
    EI = (weak, 1e6) if across == 1 else (1e6, weak)
    options = {"GJ": GJ, "mass_per_length": 1.0, "polar_inertia": 0.01, "elements": 40}
    bodies = [beam(1.5, EI=EI, modes=modes, **options) for modes in (15, 30)]
    coarse, fine = (critical_load(body, body.geometric.force[1, across]) for body in bodies)
    exact = 4.0126 * np.sqrt(weak * GJ) / 1.5**2
    assert fine == pytest.approx(exact, abs=truncated(coarse, fine, order=MODES) + printed(5) * np.sqrt(weak * GJ) / 1.5**2)


def random_rod(rng, timoshenko):
    given = {"EI": 1.0, "EA": 1.0, "GJ": 1.0, "GA": 30.0, "mass_per_length": 1.0, "polar_inertia": 1.0}
    cut = sections(1.0, given, timoshenko=timoshenko, shear_factors=1.0, rotary_inertia=False)
    grid = beam_grid(np.array([0.0, 0.3, 0.7, 1.0]), cut)
    shapes = rng.normal(size=(24, 4))
    shapes[:3] = 0.0
    return grid, shapes


@pytest.mark.parametrize("timoshenko", [False, True])
def test_second_order_displacement_is_that_of_the_exact_rod(timoshenko):
    """r(eta) + r(-eta) - 2 r(0) = eta^T G eta + O(4) at the end, with rotation at the start as well. The rod's steps are
    what differs: O(4) is 1e-5 here."""
    rng = np.random.default_rng(2)
    grid, shapes = random_rod(rng, timoshenko)
    _, at_nodes, _ = second_order_displacements(grid, shapes, 0)
    for eta in 1e-3 * rng.normal(size=(3, 4)):
        coarse, fine = (
            sum(
                times * integrate_rod(grid, shapes, sign * eta, sign * shapes[3:6] @ eta, n)[0]
                for sign, times in ((1, 1), (-1, 1), (0, -2))
            )
            for n in (40, 80)
        )
        expected = np.einsum("irs,r,s->i", at_nodes[-1], eta, eta)
        assert np.abs(fine - expected).max() < truncated(coarse, fine, order=2)


def test_moment_matrix_is_the_virtual_rotation_of_the_exact_rod():
    """d(rotation) for a change of eta is psi + H eta, H[r, s] the rotation per change r and coordinate s."""
    rng = np.random.default_rng(4)
    grid, shapes = random_rod(rng, False)
    shapes[3:6] = 0.0
    _, _, turning = second_order_displacements(grid, shapes, 0)
    eta, step = 1e-3 * rng.normal(size=4), 1e-5
    for r, change in enumerate(step * np.eye(4)):
        after, before = (integrate_rod(grid, shapes, eta + sign * change, np.zeros(3))[1] for sign in (1, -1))
        spin = logm(after @ before.T).real / (2 * step)
        rotation = np.array([spin[2, 1], spin[0, 2], spin[1, 0]])
        expected = turning[-1][:, r] @ eta
        # 1e-3 shapes of size 1 to 2, four: the next power
        assert np.abs(rotation - shapes[-3:, r] - expected).max() < 0.02 * np.abs(expected).max()


def test_free_free_beam_stiffens_as_the_clamped_one():
    """A free rod with equal pulls at its ends: frequencies rise; with equal pushes it buckles at pi^2 EI / L^2."""
    bodies = [beam(1.0, EI=1.0, mass_per_length=1.0, boundary="free-free", modes=modes) for modes in (10, 20)]
    coarse, fine = (critical_load(body, -body.geometric.force[1, 0]) for body in bodies)
    assert fine == pytest.approx(np.pi**2, abs=truncated(coarse, fine, order=MODES))


def test_stiffening_can_be_left_out():
    assert beam(1.0, EI=1.0, mass_per_length=1.0, modes=2, geometric_stiffness=False).geometric is None


def test_every_field_of_the_mass_is_kept():
    """The fields that modes carry along have all moments of the mass, K^i and K^im, each to rounding of its own size: of a plate,
    K^yz is 1e-4 of the largest, and was 51 % off while fields of this size were left out."""
    words = {"E": 1e9, "nu": 0.3, "density": 1000.0, "inboard": "root", "attach": {"root": ("x", 0.0), "tip": ("x", 1.0)}}
    plate = solid_model(box((1.0, 0.2, 0.01), (8, 2, 1)), **words).reduce("cantilever", modes=10)
    sums, n = plate.carried, plate.n_modes
    for shapes, expected in ((sums.t[n:], plate.geometric.acceleration), (sums.E[n:], plate.geometric.gradient)):
        found = np.tensordot(shapes, sums.G, (0, 0))
        # of the largest, less than 1e-12 is left out
        assert (np.abs(found - expected).max(axis=(-2, -1)) < 1e-9 * np.abs(expected).max(axis=(-2, -1))).all()
