"""Functions of time as piecewise polynomials, the only form that the sweeps evaluate: time tables and prescribed motions.

A time table is piecewise cubic.

A motion is a sum of terms (period, pieces).  A piece is (start, c0, ..., c7): its value is c0 + c1 s + ... + c7 s^7 at s = t -
start. The piece that applies at t is the last one with start <= t; before all of them, the first one with s < 0.  If two pieces
have the same start, the first applies only before it.  If the period is not 0, t is first reduced to t mod period.
"""

from collections.abc import Sequence
from math import factorial, pi
from typing import Any

import numpy as np
from numpy.polynomial import polynomial
from numpy.typing import ArrayLike

from bough.describe import Constant, Harmonics, Move, Pieces, Polynomial, Rate, Spline, TimeTable
from bough.describe.motions import COEFFICIENTS, Motion
from bough.sweeps import records as r
from bough.sweeps.schema import Floats

Rows = list[tuple[float, Floats]]
PIECES_A_PERIOD = 64
_TAIL = 10              # terms of the series of sine and cosine beyond degree 7: the last one is 1e-19 of the first
_ROUNDING = 1e-12       # of the largest acceleration: jumps due to rounding in a spline


def motion_rows(motion: Motion | TimeTable) -> Rows:
    """The rows of a described motion, to be summed.

    >>> motion_rows(Rate(0.5, start=2))[0][1][0, :3]
    array([0. , 2. , 0.5])
    """
    match motion:
        case Constant():
            return [(0.0, stack([(0.0, [motion.value])]))]
        case Rate():
            return [(0.0, stack([(0.0, [motion.start, motion.rate])]))]
        case Polynomial():
            return [(0.0, stack([(0.0, motion.coefficients)]))]
        case Spline():
            return [(0.0, spline_pieces(motion.times, motion.values, motion.rates))]
        case TimeTable():
            return [(0.0, spline_pieces(motion.times, motion.values, (0.0, 0.0)))]
        case Harmonics():
            mean: Rows = [(0.0, stack([(0.0, [motion.mean])]))] if motion.mean else []
            return mean + [(2*pi/w, sine_pieces(amplitude, w, phase)) for amplitude, w, phase in motion.terms]
        case Move():
            return [(0.0, move_pieces(motion))]
        case Pieces():
            first = motion.times[0], motion.coefficients[0][:2]
            return [(0.0, stack([first, *zip(motion.times, motion.coefficients, strict=True)]))]
    raise TypeError(f"{motion!r} is not a motion")


def stack(pieces: Sequence[tuple[float, Sequence[float] | Floats]]) -> Floats:
    """(n, 9): start and coefficients of each piece, padded with zeros."""
    table = np.zeros((len(pieces), 1 + COEFFICIENTS))
    for row, (start, coefficients) in zip(table, pieces, strict=True):
        row[0], row[1:1 + len(coefficients)] = start, coefficients
    return table


def spline_pieces(times: Sequence[float], values: Sequence[Any], rates: tuple[float, float]) -> Floats:
    """The cubic spline with given end rates, continued linearly before and after."""
    from scipy.interpolate import CubicSpline
    cubics = CubicSpline(times, values, bc_type=((1, rates[0]), (1, rates[1]))).c[::-1].T
    return stack([(times[0], [values[0], rates[0]]), *zip(times[:-1], cubics, strict=True), (times[-1], [values[-1], rates[1]])])


def move_pieces(move: Move) -> Floats:
    """Rest, start + (to - start)(10 u^3 - 15 u^4 + 6 u^5) with u = s/duration, rest."""
    rise, T = move.to - move.start, move.duration
    quintic = [move.start, 0.0, 0.0, 10*rise/T**3, -15*rise/T**4, 6*rise/T**5]
    return stack([(move.begin, [move.start]), (move.begin, quintic), (move.begin + T, [move.to])])


def sine_pieces(amplitude: float, w: float, phase: float) -> Floats:
    """One period of amplitude sin(w t + phase): polynomials of degree 7 that match value and three derivatives at their ends.

    sin(x + s) = sin x cos s + cos x sin s, so each piece is a combination of those of cos and sin on 0 <= s <= h."""
    h = 2*pi/PIECES_A_PERIOD
    cosine, sine = hermite_of_series([1, 0, -1, 0], h), hermite_of_series([0, 1, 0, -1], h)
    x = phase + h*np.arange(PIECES_A_PERIOD)
    shapes = amplitude*(np.outer(np.sin(x), cosine) + np.outer(np.cos(x), sine))
    starts = 2*pi/w*np.arange(PIECES_A_PERIOD)/PIECES_A_PERIOD
    return np.column_stack([starts, shapes*w**np.arange(COEFFICIENTS)])


def hermite_of_series(derivatives: Sequence[int], h: float) -> Floats:
    """c0..c7 of the polynomial that matches the value and three derivatives of a function at 0 and h; its derivatives at 0 are
    periodic.

    It is the function's own series to s^7, with c4..c7 corrected for the rest of the series at h: no cancellation."""
    taylor = np.array([derivatives[k % 4]/factorial(k) for k in range(COEFFICIENTS + _TAIL)])
    rest = np.where(np.arange(len(taylor)) < COEFFICIENTS, 0.0, taylor)*h**np.arange(len(taylor))           # in u = s/h
    ends = [polynomial.polyval(1.0, polynomial.polyder(rest, j)) for j in range(4)]
    powers = [[polynomial.polyval(1.0, polynomial.polyder([0.0]*k + [1.0], j)) for k in range(4, COEFFICIENTS)] for j in range(4)]
    found = taylor[:COEFFICIENTS].copy()
    found[4:] += np.linalg.solve(powers, ends)/h**np.arange(4, COEFFICIENTS)
    return found


def motion_at(rows: Rows, t: ArrayLike) -> tuple[Floats, Floats, Floats]:
    """Position, rate and acceleration at the times t: sums over the rows, the polynomials differentiated exactly.

    >>> [float(x) for x in motion_at(motion_rows(Polynomial([1, 0, 3])), 2.0)]
    [13.0, 12.0, 6.0]
    """
    t = np.asarray(t, float)
    found = np.zeros((3, *t.shape))
    for period, pieces in rows:
        local = np.mod(t, period) if period else t
        piece = pieces[np.maximum(np.searchsorted(pieces[:, 0], local, side="right") - 1, 0)]
        s, c = local - piece[..., 0], np.moveaxis(piece[..., 1:], -1, 0)
        found += [polynomial.polyval(s, polynomial.polyder(c, order), tensor=False) for order in range(3)]
    return found[0], found[1], found[2]


def breaks(rows: Rows, until: float) -> Floats:
    """Times between 0 and until at which the acceleration or a higher derivative jumps beyond rounding: integrators stop there.

    A periodic row is a smooth function and has none."""
    found = [np.zeros(0), *(row_breaks(pieces) for period, pieces in rows if not period)]
    times = np.unique(np.concatenate(found))
    return times[(times > 0.0) & (times < until)]


def row_breaks(pieces: Floats) -> Floats:
    """Starts of pieces at which a derivative from the second on jumps.

    A jump of the j-th derivative is measured by the acceleration it causes over the longer of the two pieces:
    jump h^(j-2)/(j-2)!"""
    spans, c = np.diff(pieces[:, 0]), pieces[:, 1:].T
    widths = np.append(spans, spans[-1:] if len(spans) else 1.0)
    h = np.maximum(widths[:-1], widths[1:])
    h[h == 0.0] = 1.0
    largest = polynomial.polyval(widths, polynomial.polyder(np.abs(c), 2), tensor=False).max()
    breaking = np.zeros(len(spans), dtype=bool)
    for order in range(2, COEFFICIENTS):
        derivative = polynomial.polyder(c, order)
        ends = polynomial.polyval(spans, derivative[:, :-1], tensor=False)
        breaking |= np.abs(derivative[0, 1:] - ends)*h**(order - 2)/factorial(order - 2) > _ROUNDING*largest
    return pieces[1:, 0][breaking]


def piecewise_cubic(table: TimeTable, column: int) -> Floats:
    """One column of a table as rows (start, c0, c1, c2, c3); the last value continues after the end."""
    times = np.asarray(table.times, float)
    values = np.asarray(table.values, float).reshape(len(times), -1)[:, column]
    pieces = np.zeros((len(times), r.PIECE.size))
    pieces[:, 0], pieces[:, 1] = times, values
    if table.kind == "linear":
        pieces[:-1, 2] = np.diff(values)/np.diff(times)
    elif table.kind == "cubic":
        from scipy.interpolate import CubicSpline
        pieces[:-1, 1:] = CubicSpline(times, values, bc_type="natural").c[::-1].T
    return pieces


def jumps(pieces: Floats) -> Floats:
    """Times at which the value is discontinuous, beyond rounding."""
    h = np.diff(pieces[:, 0])
    ends = pieces[:-1, 1] + h*(pieces[:-1, 2] + h*(pieces[:-1, 3] + h*pieces[:-1, 4]))
    return pieces[1:, 0][np.abs(ends - pieces[1:, 1]) > 1e-9*np.abs(pieces[:, 1]).max()]
