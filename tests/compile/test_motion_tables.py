"""Motions as piecewise polynomials: exact where they are polynomials, to rounding where they are sines, and consistent."""

import numpy as np
import pytest
from hypothesis import given

from bough.compile.motion_tables import breaks, motion_at, motion_rows
from bough.describe import Constant, Harmonics, Move, Pieces, Polynomial, Rate, Spline, TimeTable
from tests.support.described_systems import pieces
from tests.support.tolerance import CANCELLING, EPS, FORMULA


def at(motion, t):
    return np.array(motion_at(motion_rows(motion), t))


@pytest.mark.parametrize(
    ("motion", "t", "state"),
    [
        (Constant(0.3), -5.0, (0.3, 0, 0)),
        (Rate(0.5, 2), 4.0, (4, 0.5, 0)),
        (Rate(0.5, 2), -4.0, (0, 0.5, 0)),
        (Polynomial([1, 0, 3]), 2.0, (13, 12, 6)),
        (Polynomial([0] * 7 + [1]), -1.0, (-1, 7, -42)),
        (Move(3, 1, 2, duration=4), 1.0, (1, 0, 0)),
        (Move(3, 1, 2, duration=4), 4.0, (2, 1.875 * 2 / 4, 0)),       # the quintic's largest rate is 15/8 of the mean one
        (Move(3, 1, 2, duration=4), 9.0, (3, 0, 0)),
        (Spline([0, 1], [0, 1], (0, 0)), 0.5, (0.5, 1.5, 0)),           # 3 s^2 - 2 s^3
        (Spline([0, 1], [0, 1], (1, 2)), -2.0, (-2, 1, 0)),
        (Spline([0, 1], [0, 1], (1, 2)), 3.0, (5, 2, 0)),
        (Pieces([1, 2], [[1, 2, 3], [6, 8]]), 0.0, (-1, 2, 0)),         # before: on with the rate
        (Pieces([1, 2], [[1, 2, 3], [6, 8]]), 1.5, (2.75, 5, 6)),
        (Pieces([1, 2], [[1, 2, 3], [6, 8]]), 4.0, (22, 8, 0)),
    ],
)  # fmt: skip
def test_values(motion, t, state):
    """Numbers of a few digits: exact up to the rounding of a handful of operations."""
    assert np.allclose(at(motion, t), state, rtol=8 * EPS, atol=8 * EPS)


def test_times_may_have_any_shape():
    t = np.linspace(-1, 3, 12)
    motion = Spline([0, 1, 2], [0, 1, 0])
    assert np.array_equal(at(motion, t.reshape(3, 4)).reshape(3, -1), at(motion, t))
    assert np.array_equal(at(motion, t)[:, 5], at(motion, t[5]))


def test_a_cubic_table_is_the_spline_that_ends_at_rest():
    times, values = [0, 1, 3, 4], [1, 2, 0, 5]
    t = np.linspace(-1, 5, 50)
    assert np.array_equal(at(TimeTable(times, values, "cubic"), t), at(Spline(times, values), t))
    assert np.allclose(at(TimeTable(times, values, "cubic"), [-1.0, 9.0]), [[1, 5], [0, 0], [0, 0]], atol=8 * EPS)


def test_splines_go_through_their_points_twice_continuously_differentiable():
    times, values = np.array([0, 1, 1.5, 3, 4]), np.array([1, 2, 0, 5, 3])
    motion = Spline(times, values, (0.5, -1))
    assert np.allclose(at(motion, times)[0], values, rtol=4 * EPS, atol=0)
    assert np.allclose(at(motion, times[[0, -1]])[1], (0.5, -1), rtol=4 * EPS, atol=0)
    before, after = at(motion, np.nextafter(times[1:-1], 0)), at(motion, times[1:-1])
    size = np.abs(at(motion, np.linspace(0, 4, 100))).max(axis=1)
    assert (np.abs(after - before).max(axis=1) <= 64 * EPS * size).all()  # 64: the condition of the 5 equations is below 20


@pytest.mark.parametrize("phase", [0.0, 1.2, -40.0])
@pytest.mark.parametrize("w", [1.0, 0.037, 250.0])
def test_harmonics(w, phase):
    """Position to 1e-14 of the amplitude: rounding, and the phase's own; acceleration to 1e-10."""
    amplitude, period = 3.0, 2 * np.pi / w
    t = np.linspace(0, 2.2 * period, 5003)
    exact = amplitude * np.array([np.sin(w * t + phase), w * np.cos(w * t + phase), -w * w * np.sin(w * t + phase)])
    error = np.abs(at(Harmonics([(amplitude, w, phase)]), t) - exact).max(axis=1) / (amplitude * np.array([1, w, w * w]))
    assert error[0] < FORMULA + EPS * abs(phase)                   # and that of the phase
    assert error[1] < CANCELLING
    assert error[2] < 1e-10


def test_harmonics_repeat():
    motion = Harmonics([(1.0, 2.0, 0.3)])
    t = np.linspace(-4, 4, 77)
    far = 1000 * np.pi  # whole periods; t + far rounds by EPS far, which the rate turns into position
    assert np.allclose(at(motion, t), at(motion, t + far), rtol=0, atol=2 * 4 * EPS * far)


def test_harmonics_are_summed_with_their_mean():
    t = np.linspace(0, 7, 50)
    both = at(Harmonics([(1, 2, 3), (0.5, 7, 0)], mean=4), t)
    parts = at(Harmonics([(1, 2, 3)]), t) + at(Harmonics([(0.5, 7, 0)]), t) + np.array([[4.0], [0], [0]])
    assert np.allclose(both, parts, rtol=8 * EPS, atol=8 * EPS * 25)


CONSISTENT = [
    Polynomial([1, 2, 3, 4, 5, 6, 7, 8]), Spline([0, 0.3, 1], [0, 1, 0], (1, 2)), Move(3, 1, 0.1, duration=0.7),
    Harmonics([(1, 2, 3), (0.1, 30, 0)], 1), Pieces([0, 0.5], [[0, 0, 4], [1, 4, 1, 1]]),
    TimeTable([0, 0.2, 0.5, 1], [1, 2, 1, 0], "cubic"),
]  # fmt: skip


@pytest.mark.parametrize("motion", CONSISTENT, ids=repr)
def test_rates_and_accelerations_are_derivatives(motion):
    """Gauss's rule of four points, exact to degree 7, over the steps of a grid that holds every break."""
    x, weights = np.polynomial.legendre.leggauss(4)
    grid = np.union1d(np.linspace(-0.2, 1.2, 600), [0.0, *breaks(motion_rows(motion), 2.0)])
    middle, half = (grid[1:] + grid[:-1]) / 2, np.diff(grid) / 2
    q, v, _ = at(motion, grid)
    _, rate, acceleration = at(motion, middle[:, None] + half[:, None] * x)
    size = np.abs([q, v]).max(axis=1)
    assert np.abs(half * (rate @ weights) - np.diff(q)).max() < CANCELLING * size[0]
    assert np.abs(half * (acceleration @ weights) - np.diff(v)).max() < CANCELLING * size[1]


@given(pieces())
def test_any_pieces_are_continuous_and_break_only_at_their_times(motion):
    found = breaks(motion_rows(motion), 100.0)
    assert set(found) <= set(motion.times)
    times = np.array(motion.times)
    before, after = at(motion, np.nextafter(times, -np.inf)), at(motion, times)
    scale = 1 + np.abs(motion.coefficients[0]).sum() + max(np.abs(c).sum() * 2**7 * 8 for c in map(np.asarray, motion.coefficients))
    assert np.abs(after - before)[:2].max() <= 1e-9 * scale  # of the terms of a piece: so much is taken for rounding


@pytest.mark.parametrize(
    ("motion", "times"),
    [
        (Constant(1), []),
        (Polynomial([1, 2, 3, 4]), []),
        (Harmonics([(1, 2, 3)], 1), []),
        (Move(1, begin=2, duration=3), [2, 5]),                                     # the jerk jumps
        (Move(1, begin=0, duration=3), [3]),                                        # 0 is the start of the run
        (Spline([0, 1, 2], [0, 1, 0]), [1, 2]),
        (Spline([1, 2], [1, 3], (2, 2)), []),                                       # a line
        (Pieces([0, 1, 2], [[0, 0, 1], [1, 2, 1], [4, 4, 1]]), []),                 # one parabola, in pieces
        (Pieces([0, 1, 2], [[0, 0, 1], [1, 2, 1], [4, 4]]), [2]),
        (Pieces([0, 1], [[0] * 7 + [1], [1, 7, 21, 35, 35, 21, 7]]), [1]),          # only the seventh derivative jumps
        (Pieces([0, 1 / 3], [[0, 0, 0, 1], [1 / 27, 1 / 3, 1, 1]]), []),            # one cubic, with rounded coefficients
        (Move(1, begin=7, duration=5), [7]),                                        # its end is beyond the run's
    ],
)  # fmt: skip
def test_breaks(motion, times):
    assert breaks(motion_rows(motion), 10.0).tolist() == times


def test_rows_have_their_form():
    (mean_period, mean), (period, table) = motion_rows(Harmonics([(1, 4, 0)], mean=2))
    assert (mean_period, mean.shape, period, table.shape) == (0.0, (1, 9), np.pi / 2, (64, 9))
    assert table[0, 0] == 0
    assert (np.diff(table[:, 0]) > 0).all()
    assert table[-1, 0] < period
    ((alone, pieces_of_move),) = motion_rows(Move(1, duration=2))
    assert (alone, pieces_of_move.shape) == (0.0, (3, 9))
