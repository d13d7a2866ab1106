"""Gain, phase, delay and modulus margins of a loop, at every crossing."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, optimize

from bough.analyze.linear.order_reduction import minimal, transmission_zeros
from bough.analyze.linear.response import TURN, Evaluator, grid
from bough.errors import StateError

if TYPE_CHECKING:
    from bough.analyze.linear.linear_system import Floats, LinearSystem

BESIDE = np.array([1 - 1e-3, 1 - 1e-6, 1.0, 1 + 1e-6, 1 + 1e-3])        # points near a candidate, to detect a crossing
DENSE = 1500
NOISE = 1e-10                           # of a phase or a logarithm


class Crossing(NamedTuple):
    """A margin and its frequency."""
    frequency: float                    # [Hz]
    margin: float


@dataclass(frozen=True, repr=False)
class Margins:
    """Stability margins of a loop with the gain L and negative feedback, 1 + L.

    Attributes
    ----------
    gains : list of Crossing
        Factors on the gain that reach the stability limit, where the phase is 180 deg: above 1 for an increase, below 1 for a
        decrease.
    phases : list of Crossing
        Phase [deg] between L and -1 where |L| = 1: positive, the tolerable phase lag; negative, the tolerable phase lead.
    delay : Crossing
        The tolerable delay [s] of the loop.
    modulus : Crossing
        The smallest distance |1 + L|; the inverse of the peak sensitivity.
    stable : bool
        Whether the closed loop is stable; motions that the loop does not affect, such as translations of a free body, do not
        count.
    """
    gains: list[Crossing]
    phases: list[Crossing]
    delay: Crossing
    modulus: Crossing
    stable: bool
    name: str = ""

    @property
    def gain(self) -> float:
        """The smallest factor above 1; infinite if there is none."""
        return min((each.margin for each in self.gains if each.margin > 1), default=np.inf)

    @property
    def gain_reduction(self) -> float:
        """The largest factor below 1; 0 if there is none."""
        return max((each.margin for each in self.gains if each.margin < 1), default=0.0)

    @property
    def phase(self) -> float:
        """The smallest phase margin [deg], of either sign; infinite if there is none."""
        return min((abs(each.margin) for each in self.phases), default=np.inf)

    def __repr__(self) -> str:
        closed = "stable" if self.stable else "UNSTABLE: at its margins another number of poles is unstable"
        lines = [f"{self.name or 'loop'}: closed, it is {closed}"]
        for crossing in self.gains:
            decibels = 20 * np.log10(crossing.margin)
            lines.append(f"gain margin     x {crossing.margin:<9.4g} {decibels:+8.2f} dB at {crossing.frequency:.5g} Hz")
        for crossing in self.phases:
            lines.append(f"phase margin    {crossing.margin:+11.2f} deg      at {crossing.frequency:.5g} Hz")
        if np.isfinite(self.delay.margin):
            lines.append(f"delay margin    {self.delay.margin:11.4g} s        at {self.delay.frequency:.5g} Hz")
        lines.append(f"modulus margin  {self.modulus.margin:11.4f}          at {self.modulus.frequency:.5g} Hz")
        return "\n".join(lines)


def margins(loop: LinearSystem) -> Margins:
    """The margins of a loop gain from one input to one output, cut as `LinearSystem.cut` cuts it."""
    if len(loop.inputs) != 1 or len(loop.outputs) != 1:
        raise StateError(f"margins: the system has {len(loop.inputs)} inputs and {len(loop.outputs)} outputs; cut the loop at one "
                         "number of a port, LinearSystem.cut(controller, at=...), or select one of each")
    loop = minimal(loop, 1e-10)                             # without motions that the loop does not affect
    L = Evaluator(loop)
    closed = replace(loop, A=_closed_matrix(loop))
    near = grid(closed, 2)                                  # its lightly damped poles, where the distance to -1 is small
    f = np.unique(np.concatenate([grid(loop, DENSE), np.outer(_candidates(loop), BESIDE).ravel(), near]))
    f = f[f > 0] if loop.dt is None else f[(f > 0) & (f < 0.5 / loop.dt)]

    def at(frequency: float) -> complex:
        return complex(L(np.array([frequency]))[0, 0, 0])

    def turned(frequency: float) -> float:
        gain = at(frequency)
        return gain.imag / (abs(gain) or 1.0)

    values = L(f)[:, 0, 0]
    with np.errstate(divide="ignore"):
        ones = _crossings(f, np.log(np.abs(values)), lambda x: float(np.log(abs(at(x)))))
    halves = _crossings(f, values.imag / np.maximum(np.abs(values), 1e-300), turned)
    gains = [Crossing(x, 1.0 / abs(at(x))) for x in halves if at(x).real < 0]
    phases = [Crossing(x, float(np.rad2deg(np.angle(-at(x))))) for x in ones]
    delays = [Crossing(each.frequency, (each.margin % 360.0) / 360.0 / each.frequency) for each in phases]
    delay = min(delays, key=lambda each: each.margin, default=Crossing(np.nan, np.inf))
    poles = closed.poles()
    stable = bool((poles.real < 0).all() if loop.dt is None else (np.abs(poles) < 1).all())
    return Margins(gains, phases, delay, _modulus(f, values, at), stable, loop.name)


def _crossings(f: Floats, values: Floats, function: Callable[[float], float]) -> list[float]:
    """Zeros of a function between the points of a grid, without jumps. At grid points that are zeros to rounding, the sign may
    differ from that in `values`, which were computed for all points at once."""
    finite = np.isfinite(values)
    f, values = f[finite], values[finite]
    found = []
    for k in np.flatnonzero(np.sign(values[1:]) * np.sign(values[:-1]) <= 0):
        ends = function(f[k]), function(f[k + 1])
        if values[k] == 0.0 or max(map(abs, ends)) < NOISE:
            continue                                        # counted in the previous interval, or zero to rounding everywhere
        if ends[0] * ends[1] > 0:                           # to rounding, the zero is at an end
            x = f[k] if abs(ends[0]) < abs(ends[1]) else f[k + 1]
        else:
            x = optimize.brentq(function, f[k], f[k + 1], xtol=1e-15 * f[k], rtol=1e-13)
        if abs(function(x)) < 1e-6:
            found.append(float(x))
    return found


def _modulus(f: Floats, values: NDArray[np.complex128], at: Callable[[float], complex]) -> Crossing:
    """The smallest |1 + L|, refined between the neighbors of the smallest point of the grid."""
    k = int(np.argmin(np.abs(1.0 + values)))
    low, high = f[max(k - 1, 0)], f[min(k + 1, len(f) - 1)]
    best = optimize.minimize_scalar(lambda x: abs(1.0 + at(x)), bounds=(low, high), method="bounded",
                                    options={"xatol": 1e-10 * high})
    x = float(best.x) if best.fun < abs(1.0 + values[k]) else float(f[k])
    return Crossing(x, abs(1.0 + at(x)))


def _closed_matrix(loop: LinearSystem) -> Floats:
    back = 1.0 + loop.D[0, 0]
    if abs(back) < 1e-12:
        raise StateError("margins: D of the loop is -1, so that the closed loop has no solution; give the controller a lag")
    return loop.A - loop.B @ loop.C / back


def _candidates(loop: LinearSystem) -> Floats:
    """Frequencies [Hz] near which |L| = 1, or L is real: imaginary zeros of L(-s) L(s) - 1 and of L(s) - L(-s). They reveal narrow
    resonances that cross twice between two points of a grid."""
    if not loop.states or loop.dt is not None:
        return np.zeros(0)
    A, B, C, D = loop.A, loop.B, loop.C, loop.D
    zero = np.zeros_like(A)
    back = float(D[0, 0]) ** 2 - 1.0
    found = []
    if abs(back) > 1e-9:
        H, top, row = np.block([[A, zero], [-C.T @ C, -A.T]]), np.vstack([B, -C.T @ D]), np.hstack([D.T @ C, B.T])
        found.append(linalg.eigvals(H - top @ row / back))
    found.append(transmission_zeros(linalg.block_diag(A, -A), np.vstack([B, B]), np.hstack([C, C]), np.zeros((1, 1))))
    s = np.concatenate(found)
    s = s[(s.imag > 0) & (np.abs(s.real) < 1e-3 * s.imag)]
    return np.sort(s.imag) / TURN
