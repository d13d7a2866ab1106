"""A transfer matrix at many frequencies: one Schur form, then triangular solves for all frequencies at once."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from bough.analyze.linear.order_reduction import scaled

if TYPE_CHECKING:
    from bough.analyze.linear.linear_system import Complexes, Floats, LinearSystem

BLOCK = 24                              # rows that are solved one by one; the rest is one matrix product
CHUNK = 2_000_000                       # state values per chunk of frequencies: 32 MB
POINTS = 400                            # of a grid, between its ends
NEAR = 41                               # points about a lightly damped pole or zero
LIGHT = 0.3                             # damping below which a pole gets additional points
UNDAMPED = 1e-8                         # damping below which a peak is infinite
TURN = 2.0 * np.pi


class Evaluator:
    """G(s) = C (s - A)^-1 B + D.

    A = Z T Z* is computed once, for the balanced A: T is triangular, so that each s costs the square of the number of states, not
    its cube. One step of refinement with A makes the result as accurate as a separate solution at each frequency, also for lightly
    damped modes and frequencies that are decades apart.
    """

    def __init__(self, system: LinearSystem) -> None:
        self.A, self.B, self.C, _ = scaled(system.A, system.B, system.C)
        self.D, self.dt = system.D, system.dt
        if len(self.A):
            self.T, self.Z = linalg.schur(self.A, output="complex")

    def __call__(self, frequency: NDArray[np.floating]) -> Complexes:
        """(frequency, output, input) at frequencies in Hz; infinite at an undamped pole."""
        s = 1j * TURN * np.asarray(frequency, float)
        return self.at(s if self.dt is None else np.exp(s * self.dt))

    def at(self, s: Complexes) -> Complexes:
        """(point, output, input) at complex points s (or z)."""
        n, m = self.B.shape
        if not n or not m or not len(s):
            return np.broadcast_to(self.D, (len(s), *self.D.shape)).astype(complex)
        each = max(CHUNK // (n * m), 1)
        return np.concatenate([self._some(s[k: k + each]) for k in range(0, len(s), each)])

    def _some(self, s: Complexes) -> Complexes:
        given = np.repeat(self.B[:, None, :].astype(complex), len(s), axis=1)          # (state, point, input)
        with np.errstate(all="ignore"):
            x = self._solve(s, given)
            off = given - s[None, :, None] * x + _times(self.A, x)
            step = self._solve(s, off)
            better = x + np.where(np.isfinite(step), step, 0.0)
            found = np.moveaxis(_times(self.C, better), 1, 0) + self.D
        return np.where(np.isfinite(found), found, np.inf)

    def _solve(self, s: Complexes, given: Complexes) -> Complexes:
        """(s - A)^-1 given, from the last block of rows of T to the first."""
        y, T, n = _times(self.Z.conj().T, given), self.T, len(self.T)
        for last in range(n, 0, -BLOCK):
            first = max(last - BLOCK, 0)
            if last < n:
                y[first:last] += _times(T[first:last, last:], y[last:])
            for k in range(last - 1, first - 1, -1):
                if k < last - 1:
                    y[k] += _times(T[k: k + 1, k + 1: last], y[k + 1: last])[0]
                y[k] /= (s - T[k, k])[:, None]
        return _times(self.Z, y)


def _times(matrix: NDArray[np.inexact], x: Complexes) -> Complexes:
    """A product along the first axis, as one matrix product."""
    return np.asarray((matrix @ x.reshape(len(x), -1)).reshape(len(matrix), *x.shape[1:]), complex)


def continuous_values(values: NDArray[Any], dt: float | None) -> Complexes:
    """Eigenvalues of the equivalent continuous system, 1/s, from those of A: log(z)/dt with a sample time."""
    return np.asarray(values if dt is None else np.log(values.astype(complex)) / dt, complex)


def grid(system: LinearSystem, points: int = POINTS, beyond: float = 10.0, near: int = NEAR) -> Floats:
    """Frequencies [Hz] that resolve a system: uniform on a logarithmic scale, a decade beyond its poles on either side, and dense
    near lightly damped poles and zeros: at w + sigma tan(theta), uniform in theta, for resonances of any width."""
    roots = [system.poles()]
    roots += [system.select(inputs=i, outputs=o).zeros() for i in system.inputs for o in system.outputs
              if len(system.inputs) * len(system.outputs) * len(system.states) <= 600]
    s = np.concatenate(roots)
    s = continuous_values(s if system.dt is None else s[np.abs(s) > 1e-12], system.dt)
    size = np.abs(s) / TURN
    moving = size[size > 1e-6 * size.max(initial=0.0)]
    nyquist = np.inf if system.dt is None else 0.5 / system.dt
    ends = (moving.min(), moving.max()) if len(moving) else (1.0, 1.0)
    last = min(beyond * ends[1], nyquist)
    first = min(ends[0] / beyond, 0.01 * last)
    found = [np.geomspace(first, last, points)]
    theta = np.linspace(-0.5, 0.5, near + 2)[1:-1] * np.pi
    light = (s.imag > 0) & (np.abs(s.real) < LIGHT * np.abs(s)) & (np.abs(s.real) > UNDAMPED * np.abs(s))
    for root in s[light]:
        found.append((root.imag + abs(root.real) * np.tan(theta)) / TURN)
    whole = np.unique(np.concatenate(found))
    return whole[(whole >= first) & (whole <= last)]
