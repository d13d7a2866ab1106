"""The frequency response of a linear system: data with names and units, singular values, peaks, figures.

The transfer matrix at many frequencies takes one Schur form, then triangular solves for all frequencies at once.
"""
from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg

from bough.analyze.linear.order_reduction import scaled
from bough.errors import StateError, nearest
from bough.figure_style import written

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

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


# ---- responses -----------------------------------------------------------------------------------------------------------
SHOWN = 12                              # peaks that are printed


def frequencies_of(system: LinearSystem, given: ArrayLike | None, **fineness: Any) -> Floats:
    """The frequencies given [Hz], checked; or a grid of the system's own."""
    if given is None:
        return grid(system, **fineness)
    found = np.atleast_1d(np.asarray(given, float))
    if found.ndim != 1 or not len(found) or not np.isfinite(found).all() or (found < 0).any():
        raise StateError(f"frequencies: {given!r}; give numbers >= 0 [Hz]")
    if system.dt is not None and found.max() > 0.5 / system.dt * (1 + 1e-9):
        raise StateError(f"frequencies: {found.max():g} Hz is above half the sample rate, {0.5 / system.dt:g} Hz; give lower ones")
    return found


def respond(system: LinearSystem, frequencies: ArrayLike | None = None) -> FrequencyResponse:
    """The response of a system at some frequencies [Hz]."""
    if not system.inputs or not system.outputs:
        lacks = "input" if not system.inputs else "output"
        raise StateError(f"linear system {system.name!r} has no {lacks}; declare one with System.{lacks}(...)")
    found = frequencies_of(system, frequencies)
    return FrequencyResponse(found, Evaluator(system)(found), system.inputs, system.outputs, system.input_units,
                             system.output_units, system.name)


def ratio(upper: str, lower: str) -> str:
    """The unit of a gain.

    >>> ratio("rad", "N m"), ratio("m", "N"), ratio("m", "")
    ('rad/(N m)', 'm/N', 'm')
    """
    if not lower or lower == "1":
        return upper or "1"
    return f"{upper or '1'}/({lower})" if " " in lower or "/" in lower else f"{upper or '1'}/{lower}"


@dataclass(frozen=True, eq=False, repr=False)
class FrequencyResponse:
    """The frequency response of a linear system.

    Attributes
    ----------
    frequency : ndarray
        [Hz]
    gain : ndarray
        (frequency, output, input), complex: amplitude and phase of an output for an input of amplitude one.
    inputs, outputs, input_units, output_units : tuple of str
    name : str

    Examples
    --------
    >>> import bough
    >>> spring = bough.LinearSystem.from_arrays([[0, 1], [-4, -0.2]], [[0], [1]], [[1, 0]], inputs="force", outputs="place",
    ...                                         input_units="N", output_units="m")
    >>> print(spring.response([0.1, 0.3183]))
    response of 1 output to 1 input at 2 frequencies, 0.1 to 0.3183 Hz
    place of force        peak 2.5001 m/N at 0.3183 Hz
    """
    frequency: Floats
    gain: Complexes
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    input_units: tuple[str, ...]
    output_units: tuple[str, ...]
    name: str = ""

    @property
    def magnitude(self) -> Floats:
        """(frequency, output, input), in output units per input unit."""
        return np.abs(self.gain)

    @property
    def decibels(self) -> Floats:
        """20 log10 of the magnitude."""
        with np.errstate(divide="ignore"):
            return 20.0 * np.log10(np.abs(self.gain))

    @property
    def phase(self) -> Floats:
        """(frequency, output, input) [deg], without jumps of 360; that of the lowest frequency is in (-360, 0]."""
        angle = np.unwrap(np.angle(np.where(np.isfinite(self.gain), self.gain, 0.0)), axis=0)
        turns = np.ceil(angle[:1] / (2 * np.pi) - 1e-9)
        return np.rad2deg(angle - 2 * np.pi * turns)

    def singular_values(self) -> xarray.DataArray:
        """The singular values of the gain matrix, largest first: (frequency, number)."""
        import xarray

        units = {ratio(o, i) for o in self.output_units for i in self.input_units}
        values = np.linalg.svd(self.gain, compute_uv=False)
        return xarray.DataArray(values, {"frequency": ("frequency", self.frequency, {"units": "Hz"}),
                                         "number": np.arange(values.shape[1])}, ("frequency", "number"), "singular_value",
                                {"units": units.pop() if len(units) == 1 else "mixed"})

    @property
    def data(self) -> xarray.Dataset:
        """Magnitude, decibels, phase [deg] and the complex gain, along frequency [Hz], output and input."""
        import xarray

        dims = ("frequency", "output", "input")
        units = [[ratio(o, i) for i in self.input_units] for o in self.output_units]
        coordinates: dict[str, Any] = {
            "frequency": ("frequency", self.frequency, {"units": "Hz"}),
            "omega": ("frequency", 2 * np.pi * self.frequency, {"units": "rad/s"}),
            "output": list(self.outputs), "input": list(self.inputs), "unit": (("output", "input"), units)}
        variables = {"magnitude": (dims, self.magnitude), "decibels": (dims, self.decibels, {"units": "dB"}),
                     "phase": (dims, self.phase, {"units": "deg"}), "gain": (dims, self.gain)}
        return xarray.Dataset(variables, coordinates, {"name": self.name})

    def plot(self, what: str = "bode", path: str | PathLike[str] | None = None) -> Figure:
        """One figure, written to a file if a path is given.

        Parameters
        ----------
        what : {"bode", "nichols", "nyquist", "singular values"}
        path : path, optional
        """
        from bough.analyze.linear import linear_figures as figures

        known = {"bode": figures.bode, "nichols": figures.nichols, "nyquist": figures.nyquist,
                 "singular values": figures.singular_values}
        if what not in known:
            raise StateError(f"plot: there is no {what!r}{nearest(what, known) or '; give ' + ', '.join(known)}")
        return written(known[what](self), path)

    def unit(self, output: int, each: int) -> str:
        """Of the gain from an input to an output, by number."""
        return ratio(self.output_units[output], self.input_units[each])

    def __repr__(self) -> str:
        ports = ((self.outputs, "output"), (self.inputs, "input"))
        sizes = [f"{len(names)} {kind}{'s' * (len(names) != 1)}" for names, kind in ports]
        ends = f"{self.frequency.min():.4g} to {self.frequency.max():.4g} Hz"
        lines = [f"response of {sizes[0]} to {sizes[1]} at {len(self.frequency)} frequencies, {ends}"]
        magnitude = self.magnitude
        for o, output in enumerate(self.outputs):
            for i, each in enumerate(self.inputs):
                k = int(np.argmax(magnitude[:, o, i]))
                unit = self.unit(o, i)
                lines.append(f"{f'{output} of {each}':21} peak {magnitude[k, o, i]:.5g} {unit} at {self.frequency[k]:.5g} Hz")
        rest = len(lines) - 1 - SHOWN
        return "\n".join([*lines[: SHOWN + 1], f"... and {rest} more"] if rest > 0 else lines)
