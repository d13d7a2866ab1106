"""Response of the outputs to disturbances given by their power spectra or amplitudes."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bough.analyze.linear.response import Evaluator, frequencies_of
from bough.errors import StateError
from bough.figure_style import written

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

    from bough.analyze.linear.linear_system import LinearSystem

Floats = NDArray[np.float64]
# beyond its poles a lag has 0.06 % of its variance; between the points of a resonance the integral is off by 0.1 %
FINENESS = {"beyond": 1000.0, "near": 121}
Disturbance = float | Callable[[Floats], ArrayLike] | tuple[ArrayLike, ArrayLike]


@dataclass(frozen=True, eq=False, repr=False)
class Spectrum:
    """One-sided power spectra of outputs.

    Attributes
    ----------
    frequency : ndarray
        [Hz]
    density : ndarray
        (frequency, output), in squared output units per Hz.
    parts : ndarray
        (frequency, output, input): the contribution of each input; independent inputs add up.
    inputs, outputs, input_units, output_units : tuple of str
    """
    frequency: Floats
    parts: Floats
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    input_units: tuple[str, ...]
    output_units: tuple[str, ...]
    name: str = ""

    @property
    def density(self) -> Floats:
        """(frequency, output): the sum over the inputs."""
        return np.asarray(self.parts.sum(axis=2))

    @property
    def growing(self) -> Floats:
        """(frequency, output): the cumulative root mean square below each frequency."""
        return _growing(self.frequency, self.density)

    @property
    def rms(self) -> dict[str, float]:
        """The root mean square of each output, between the ends of the frequencies."""
        return dict(zip(self.outputs, map(float, self.growing[-1]), strict=True))

    @property
    def data(self) -> xarray.Dataset:
        """Density, contributions of the inputs, and cumulative root mean square, along frequency [Hz], output and input."""
        import xarray

        coordinates: dict[str, Any] = {"frequency": ("frequency", self.frequency, {"units": "Hz"}), "output": list(self.outputs),
                                       "input": list(self.inputs), "output_unit": ("output", list(self.output_units))}
        variables = {"density": (("frequency", "output"), self.density, {"units": "(output_unit)^2/Hz"}),
                     "parts": (("frequency", "output", "input"), self.parts, {"units": "(output_unit)^2/Hz"}),
                     "growing_rms": (("frequency", "output"), self.growing, {"units": "output_unit"})}
        return xarray.Dataset(variables, coordinates, {"name": self.name})

    def plot(self, path: str | PathLike[str] | None = None) -> Figure:
        """Plot densities and cumulative root mean squares; written to a file if a path is given."""
        from bough.analyze.linear import linear_figures as figures

        return written(figures.spectrum(self), path)

    def __repr__(self) -> str:
        lines = [f"power spectra of {len(self.outputs)} outputs, {self.frequency[0]:.4g} to {self.frequency[-1]:.4g} Hz"]
        shares = _growing(self.frequency, self.parts)[-1] ** 2
        for o, name in enumerate(self.outputs):
            most = int(np.argmax(shares[o]))
            share = 100.0 * shares[o, most] / (shares[o].sum() or 1.0)
            lines.append(f"{name:20} rms {self.growing[-1, o]:10.4g} {self.output_units[o]}, {share:.0f} % of its square from "
                         f"{self.inputs[most]}")
        return "\n".join(lines)


def _growing(frequency: Floats, density: Floats) -> Floats:
    """The root of the integral from the first frequency on; in between, the density is a power of the frequency."""
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = np.diff(np.log(density), axis=0) / np.diff(np.log(frequency)).reshape(-1, *(1,) * (density.ndim - 1))
        f = frequency.reshape(-1, *(1,) * (density.ndim - 1))
        power = (density[1:] * f[1:] - density[:-1] * f[:-1]) / (slope + 1.0)
        straight = 0.5 * (density[1:] + density[:-1]) * np.diff(f, axis=0)
        steps = np.where(np.isfinite(power) & (np.abs(slope + 1.0) > 1e-6), power, straight)
    return np.sqrt(np.concatenate([np.zeros((1, *density.shape[1:])), np.cumsum(steps, axis=0)]))


def density_of(given: Any, frequency: Floats, name: str, unit: str) -> Floats:
    """A one-sided density at frequencies: a number (white), a function of the frequency [Hz], or a table of both."""
    if callable(given):
        found = np.broadcast_to(np.asarray(given(frequency), float), frequency.shape)
    elif isinstance(given, tuple | list) and len(given) == 2 and np.ndim(given[0]) == 1:
        at, values = (np.asarray(each, float) for each in given)
        if at.shape != values.shape or (np.diff(at) <= 0).any() or (at <= 0).any() or (values < 0).any():
            raise StateError(f"spectrum: the table of {name!r} must have rising frequencies > 0 and as many densities >= 0")
        with np.errstate(divide="ignore"):                  # straight on logarithmic scales; nothing beyond its ends
            found = np.exp(np.interp(np.log(frequency), np.log(at), np.log(values), left=-np.inf, right=-np.inf))
    else:
        found = np.full(frequency.shape, float(given))
    if not (found >= 0).all():
        raise StateError(f"spectrum: the density of {name!r} is negative or not finite; give numbers >= 0 [({unit})^2/Hz]")
    return found


def spectrum(system: LinearSystem, disturbances: Mapping[str, Disturbance], frequencies: ArrayLike | None = None) -> Spectrum:
    """Power spectra of all outputs under independent disturbances; see `LinearSystem.spectrum`."""
    if not disturbances:
        raise StateError("spectrum: no disturbance is given; give {input: density}")
    chosen = [(system.inputs[k], given) for name, given in disturbances.items() for k in system.find("input", name)]
    part = system.select(inputs=[name for name, _ in chosen])
    frequency = frequencies_of(part, frequencies, **FINENESS)
    if frequencies is None:                                 # where tables have corners, and no farther than all of them reach
        corners = [np.asarray(given[0], float) for _, given in chosen if isinstance(given, tuple | list)]
        frequency = np.unique(np.concatenate([frequency, *corners]))
        if len(corners) == len(chosen):
            low, high = min(each.min() for each in corners), max(each.max() for each in corners)
            frequency = frequency[(frequency >= low) & (frequency <= high)]
    if (np.diff(frequency) <= 0).any() or frequency[0] <= 0:
        raise StateError("spectrum: frequencies must rise from above 0, for they are integrated over")
    power = np.stack([density_of(given, frequency, name, unit)
                      for (name, given), unit in zip(chosen, part.input_units, strict=True)], axis=1)
    parts = np.abs(Evaluator(part)(frequency)) ** 2 * power[:, None, :]
    return Spectrum(frequency, parts, part.inputs, part.outputs, part.input_units, part.output_units, part.name)


def forced(system: LinearSystem, amplitudes: Mapping[str, Any], frequencies: ArrayLike | None = None) -> xarray.DataArray:
    """Complex amplitudes of the outputs under sines on several inputs at once; see `LinearSystem.forced`."""
    import xarray

    names = [system.inputs[k] for name in amplitudes for k in system.find("input", name)]
    part = system.select(inputs=names)
    frequency, total = frequencies_of(part, frequencies), 0.0
    gain = Evaluator(part)(frequency)
    for name, given in amplitudes.items():
        for k in part.find("input", name):
            size = np.broadcast_to(np.asarray(given(frequency) if callable(given) else given, complex), frequency.shape)
            total = total + gain[:, :, k] * size[:, None]
    coordinates: dict[str, Any] = {"frequency": ("frequency", frequency, {"units": "Hz"}), "output": list(part.outputs),
                                   "output_unit": ("output", list(part.output_units))}
    return xarray.DataArray(total, coordinates, ("frequency", "output"), "amplitude", {"units": "output_unit"})
