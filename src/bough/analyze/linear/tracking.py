"""Modes followed over a parameter by their shapes: Campbell diagrams, root loci and stability boundaries."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg
from scipy.optimize import brentq, linear_sum_assignment

from bough.analyze.linear.linear_system import Complexes, Floats, LinearSystem
from bough.analyze.linear.response import TURN, continuous_values
from bough.analyze.parameters import parameter as described
from bough.compile.compiled_model import CompiledModel
from bough.errors import StateError, similar
from bough.figure_style import written

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

Maker = Callable[[float], LinearSystem]


def maker(source: Maker | CompiledModel, parameter: str | None, options: dict[str, Any]) -> tuple[Maker, str, str]:
    """Linear systems over a parameter: the function, the name of its argument, and its unit. Varied is the argument of a function,
    or one parameter, speed or wheel of a model."""
    if not isinstance(source, CompiledModel):
        if not callable(source):
            raise StateError(f"{source!r} is no model and no function of a number that returns a linear system")
        if options:
            raise StateError(f"{', '.join(options)} given with a function; let the function use them, or give a model")
        return source, parameter or "parameter", ""
    if parameter is None:
        raise StateError("parameter is missing; name one of the model ('boom.mass', 'strut.stiffness'), a speed ('rotor.rz') or a "
                         "wheel")
    if parameter in source.names.v:
        unit = next(each for body in source.system.bodies.values()
                    for label, each in zip(body.speed_names, body.speed_units, strict=True) if label == parameter)
        options.setdefault("q", source.q0)
        return _of_entry(source, "v", source.names.v.index(parameter), source.v0, options), parameter, f"{unit}/s"
    if parameter in source.names.wheels:
        place = source.names.wheels.index(parameter)
        return _of_entry(source, "wheels", place, source.wheel_speeds, options), parameter, "rad/s"
    try:
        number = described(source.system, parameter)
    except StateError as error:
        near = similar(parameter, [*source.names.v, *source.names.wheels])
        raise StateError(f"{error}{near}") from None
    if number.value.ndim:
        raise StateError(f"parameter {parameter!r} has {number.value.size} numbers; name one of them, as '{parameter}[0]'")

    def made(value: float) -> LinearSystem:
        model: Any = number.changed(np.array(float(value))).compile()
        return model.linearize(**options)

    return made, parameter, ""


def _of_entry(model: Any, part: str, place: int, usual: ArrayLike, options: dict[str, Any]) -> Maker:
    """A function of one entry of "v" (a spin) or "wheels"; the others are those given in the options, or the usual ones."""
    start = np.array(options.pop(part, usual), float)

    def made(value: float) -> LinearSystem:
        numbers = start.copy()
        numbers[place] = value
        return model.linearize(**options, **{part: numbers})

    return made


# ---- tracks --------------------------------------------------------------------------------------------------------------
ZERO = 1e-6                             # relative to the largest eigenvalue: smaller ones are rigid-body motion, not modes
SURE = 0.8                              # correlation above which modes are identified
DEPTH = 8                               # bisections of a step in which modes change too much


class ModeVectors(NamedTuple):
    """Eigenvalues with an imaginary part >= 0, and their right and left vectors as columns, scaled so that left* right = 1."""
    values: Complexes
    right: Complexes
    left: Complexes


def mode_vectors(system: LinearSystem) -> ModeVectors:
    """The modes of a system; for a discrete one, those of the equivalent continuous system."""
    if not len(system.A):
        raise StateError(f"linear system {system.name!r} has no states, so no modes; let something in it move")
    values, left, right = linalg.eig(system.A, left=True)
    values = continuous_values(values, system.dt)
    size = np.abs(values)
    kept = (size > ZERO * size.max(initial=0.0)) & (values.imag >= 0.0)
    order = np.flatnonzero(kept)[np.lexsort((values[kept].real, values[kept].imag))]
    values, left, right = values[order], left[:, order], right[:, order]
    scale = (left.conj() * right).sum(axis=0)
    return ModeVectors(values, right, left / np.where(scale == 0, 1.0, scale).conj())


def correlation(one: ModeVectors, other: ModeVectors) -> Floats:
    """|l_i* r'_j  l'_j* r_i|^(1/2): one for an unchanged mode, zero for two modes of the same system. It does not depend on the
    scaling of vectors or states, and also holds for shapes that damping and gyroscopic forces make non-orthogonal [B 46]."""
    there, back = one.left.conj().T @ other.right, other.left.conj().T @ one.right
    return np.sqrt(np.abs(there * back.T))


def same(one: ModeVectors, other: ModeVectors) -> tuple[NDArray[np.intp], NDArray[np.intp], float]:
    """Pairs of modes of two systems, and the correlation of the least certain pair. For modes with (almost) the same eigenvalue,
    the correlation of their subspaces counts."""
    if not len(one.values) or not len(other.values):
        return np.zeros(0, int), np.zeros(0, int), 1.0
    alike = correlation(one, other)
    apart = np.abs(one.values[:, None] - other.values) / np.maximum(np.abs(one.values)[:, None], np.abs(other.values))
    rows, columns = linear_sum_assignment((1.0 - np.minimum(alike, 1.0)) + 0.3 * np.minimum(apart, 1.0))
    sure = 1.0
    for i, j in zip(rows, columns, strict=True):
        close = np.abs(other.values - other.values[j]) <= 1e-3 * np.abs(other.values[j])
        also = np.abs(one.values - one.values[i]) <= 1e-3 * np.abs(one.values[i])
        sure = min(sure, float(np.sqrt((alike[np.ix_(also, close)] ** 2).sum(axis=1).max())))
    return rows, columns, sure


def follow(make: Maker, low: tuple[float, ModeVectors], high: tuple[float, ModeVectors], depth: int = DEPTH) -> dict[int, int]:
    """Pairs of modes at two parameter values, with intermediate values until all pairs are certain, up to a depth."""
    rows, columns, sure = same(low[1], high[1])
    if depth == 0 or (sure >= SURE and len(low[1].values) == len(high[1].values)):
        return dict(zip(rows.tolist(), columns.tolist(), strict=True))
    middle = 0.5 * (low[0] + high[0])
    between = (middle, mode_vectors(make(middle)))
    first, second = follow(make, low, between, depth - 1), follow(make, between, high, depth - 1)
    return {i: second[j] for i, j in first.items() if j in second}


@dataclass(frozen=True, eq=False, repr=False)
class ModeTracks:
    """Modes over a parameter; a mode that does not exist at some value (it lost its stiffness, or split into two real ones) is
    NaN.

    Attributes
    ----------
    values : ndarray
        Of the parameter.
    eigenvalues : ndarray
        (value, mode), complex [1/s]; of each pair the one with the positive imaginary part.
    shapes : ndarray
        (value, mode, state), complex.
    states : tuple of str
    parameter, unit, name : str
    """
    values: Floats
    eigenvalues: Complexes
    shapes: Complexes
    states: tuple[str, ...]
    parameter: str
    unit: str = ""
    name: str = ""

    @property
    def frequencies(self) -> Floats:
        """(value, mode) [Hz]: |eigenvalue| / 2 pi; NaN for real eigenvalues, which do not oscillate."""
        found = np.abs(self.eigenvalues) / TURN
        return np.where(self.eigenvalues.imag > 0, found, np.nan)

    @property
    def damping(self) -> Floats:
        """(value, mode): damping ratio, minus the real part over the magnitude."""
        return -self.eigenvalues.real / np.abs(self.eigenvalues)

    def criticals(self, harmonic: float = 1.0) -> list[tuple[int, float]]:
        """(mode, value) where the frequency of a mode equals the parameter [rad/s] times a harmonic: the critical speeds of a
        rotor. Frequencies are interpolated linearly between the given values."""
        found = []
        for mode in range(self.eigenvalues.shape[1]):
            gap = self.eigenvalues[:, mode].imag - harmonic * np.abs(self.values)
            for k in np.flatnonzero(gap[1:] * gap[:-1] < 0):
                found.append((mode, float(self.values[k] + np.diff(self.values)[k] * gap[k] / (gap[k] - gap[k + 1]))))
        return sorted(found, key=lambda each: each[1])

    @property
    def data(self) -> xarray.Dataset:
        """Frequency [Hz], damping, eigenvalues and shapes along the parameter, mode and state."""
        import xarray

        coordinates: dict[str, Any] = {"value": ("value", self.values, {"units": self.unit, "long_name": self.parameter}),
                                       "mode": np.arange(self.eigenvalues.shape[1]), "state": list(self.states)}
        variables = {"frequency": (("value", "mode"), self.frequencies, {"units": "Hz"}),
                     "damping": (("value", "mode"), self.damping, {"units": "1"}),
                     "eigenvalue": (("value", "mode"), self.eigenvalues, {"units": "1/s"}),
                     "shape": (("value", "mode", "state"), self.shapes)}
        return xarray.Dataset(variables, coordinates, {"name": self.name, "parameter": self.parameter})

    def plot(self, what: str = "campbell", path: str | PathLike[str] | None = None, *, harmonics: ArrayLike = (),
             up_to: float | None = None) -> Figure:
        """One figure, written to a file if a path is given.

        Parameters
        ----------
        what : {"campbell", "root locus"}
        path : path, optional
        harmonics : sequence of float
            Campbell: also draw lines at these multiples of the parameter, taken as a rate [rad/s].
        up_to : float, optional
            Campbell: only modes below this frequency [Hz].
        """
        from bough.analyze.linear import linear_figures as figures

        if what not in ("campbell", "root locus"):
            raise StateError(f"plot: there is no {what!r}; give 'campbell' or 'root locus'")
        if what == "root locus":
            return written(figures.root_locus(self), path)
        return written(figures.campbell(self, np.atleast_1d(np.asarray(harmonics, float)), up_to), path)

    def __repr__(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        lines = [f"{self.eigenvalues.shape[1]} modes over {self.parameter}, {self.values[0]:g} to {self.values[-1]:g}{unit}, "
                 f"{len(self.values)} values", f"{'mode':>6} {'Hz, first':>11} {'last':>11} {'damping, first':>16} {'last':>9}"]
        for mode in range(self.eigenvalues.shape[1]):
            hertz, damping = self.frequencies[[0, -1], mode], self.damping[[0, -1], mode]
            lines.append(f"{mode:>6} {hertz[0]:11.5g} {hertz[1]:11.5g} {damping[0]:16.4f} {damping[1]:9.4f}")
        return "\n".join(lines)


def campbell(source: Maker | CompiledModel, values: ArrayLike, *, parameter: str | None = None, unit: str | None = None,
             **options: Any) -> ModeTracks:
    """Eigenvalues and shapes of a family of linear systems, each mode followed by its shape through crossings and veerings.

    Parameters
    ----------
    source : function or Model
        A function of a number that returns a LinearSystem (linearized, trimmed, closed, as needed); or a model.
    values : array_like
        Values of the parameter, in order. Intermediate values are added where shapes change rapidly.
    parameter : str
        For a model: a parameter of its description ("boom.mass", "strut.stiffness"), an entry of v ("rotor.rz": a spin rate), or a
        wheel (its speed). For a function: the label of its argument in figures.
    unit : str, optional
    **options
        For a model: options of `Model.linearize`.

    Examples
    --------
    >>> import bough
    >>> s = bough.System("rotor")
    >>> _ = s.body("disk", joint=bough.Gimbal("xyz", stiffness=(100, 100, 0)), mass=1.0, inertia=(1.0, 1.0, 1.6))
    >>> tracks = bough.linear.campbell(s.compile(), [0.0, 5.0, 10.0], parameter="disk.rz")
    >>> (tracks.eigenvalues[-1].imag).round(3)              # (I_p W -+ sqrt(I_p^2 W^2 + 4 I_t k)) / 2 I_t
    array([ 4.806, 20.806])
    """
    make, name, its_unit = maker(source, parameter, dict(options))
    try:
        points = np.atleast_1d(np.array(values, float))
    except (TypeError, ValueError):
        points = np.zeros(0)
    if points.ndim != 1 or len(points) < 2 or not np.isfinite(points).all() or not (np.diff(points) != 0).all():
        raise StateError(f"values of {name}: {values!r}; give two or more finite numbers, one after the other")
    systems = [make(float(value)) for value in points]
    for system, value in zip(systems, points, strict=True):
        if system.states != systems[0].states:
            raise StateError(f"at {name} = {value:g} the states are not those at {points[0]:g}: {len(system.states)} and "
                             f"{len(systems[0].states)}; give independent=[...], so that all have the same")
    found = [mode_vectors(system) for system in systems]
    tracks = _joined(make, points, found)
    eigenvalues = np.full((len(points), len(tracks)), np.nan, complex)
    shapes = np.full((len(points), len(tracks), len(systems[0].states)), np.nan, complex)
    for t, track in enumerate(tracks):
        for k, mode in track.items():
            eigenvalues[k, t], shapes[k, t] = found[k].values[mode], found[k].right[:, mode]
    return ModeTracks(points, eigenvalues, shapes, systems[0].states, name, its_unit if unit is None else unit, systems[0].name)


def root_locus(source: Maker | CompiledModel | LinearSystem, values: ArrayLike, *, controller: LinearSystem | None = None,
               sign: int = -1, parameter: str | None = None, unit: str | None = None, **options: Any) -> ModeTracks:
    """Eigenvalues over the gain of a controller, or over any parameter.

    Parameters
    ----------
    source : LinearSystem, function or Model
        A system closed by a controller; or as in `campbell`.
    values : array_like
        Gains by which the controller is multiplied; or values of the parameter.
    controller : LinearSystem, optional
        As in `LinearSystem.feedback`, with its sign.
    sign : {-1, 1}
    parameter, unit, **options
        As in `campbell`.

    Returns
    -------
    ModeTracks
        `.plot("root locus")`

    Examples
    --------
    >>> import bough
    >>> mass = bough.LinearSystem.from_arrays([[0, 1], [0, -2]], [[0], [1]], [[1, 0]], inputs="force", outputs="place")
    >>> one = bough.LinearSystem.from_arrays([], [], [], [[1.0]], inputs="place", outputs="force")
    >>> bough.linear.root_locus(mass, [2.0, 5.0, 10.0], controller=one).eigenvalues[:, 0]
    array([-1.+1.j, -1.+2.j, -1.+3.j])
    """
    if not isinstance(source, LinearSystem):
        if controller is not None:
            raise StateError("root_locus: a controller is given, but no linear system that it closes; give Model.linearize(...)")
        return campbell(source, values, parameter=parameter, unit=unit, **options)
    if controller is None:
        raise StateError("root_locus: a linear system is given, but no controller=...; or give a function or a model")
    plant, closing = source, controller

    def closed(gain: float) -> LinearSystem:
        return plant.feedback(replace(closing, C=gain * closing.C, D=gain * closing.D), sign)

    return campbell(closed, values, parameter=parameter or "gain", unit=unit, **options)


def _joined(make: Maker, points: Floats, found: list[ModeVectors]) -> list[dict[int, int]]:
    """Tracks: {number of the value: mode there}."""
    tracks = [{0: mode} for mode in range(len(found[0].values))]
    for k in range(len(points) - 1):
        pairs = follow(make, (float(points[k]), found[k]), (float(points[k + 1]), found[k + 1]))
        for track in tracks:
            if k in track and track[k] in pairs:
                track[k + 1] = pairs[track[k]]
        old = {track[k + 1] for track in tracks if k + 1 in track}
        tracks += [{k + 1: mode} for mode in range(len(found[k + 1].values)) if mode not in old]
    return tracks


# ---- the stability boundary: the value of a parameter at which a linear system becomes unstable --------------------------
class StabilityBoundary(NamedTuple):
    """The stability boundary of a system: the parameter value, the eigenvalue that crosses [1/s], and the dominant state."""
    value: float
    eigenvalue: complex
    kind: str                           # "divergence": a real one; "flutter": an oscillation
    state: str
    parameter: str

    def __str__(self) -> str:
        frequency = f" at {abs(self.eigenvalue.imag) / TURN:.5g} Hz" if self.kind == "flutter" else ""
        return f"{self.kind}{frequency} from {self.parameter} = {self.value:.8g} on, most in {self.state}"


def growth(system: LinearSystem) -> tuple[float, complex, int]:
    """The largest real part, its eigenvalue, and the dominant state of its vector."""
    values, right = linalg.eig(system.A)
    values = continuous_values(values, system.dt)
    k = int(np.lexsort((-values.imag, -values.real.round(14)))[0])
    return float(values.real.max()), complex(values[k]), int(np.argmax(np.abs(right[:, k])))


def stability_boundary(source: Maker | CompiledModel, low: float, high: float, *, parameter: str | None = None,
                       tolerance: float | None = None, **options: Any) -> StabilityBoundary:
    """The value of a parameter at which a system becomes unstable, between one at which it is stable and one at which it is not.

    Parameters
    ----------
    source : function or Model
        As in `campbell`.
    low, high : float
        Two values; the system is unstable at one of them.
    parameter : str
        As in `campbell`.
    tolerance : float, optional
        The real part [1/s] above which an eigenvalue counts as unstable: by default 1e-6 of the largest eigenvalue, because those
        of undamped and rigid-body motion are zero only to rounding.
    **options
        For a model: options of `Model.linearize`.

    Examples
    --------
    >>> import bough, numpy as np
    >>> def van_der_pol(damping):
    ...     return bough.LinearSystem.from_arrays([[0, 1], [-4, 0.3 - damping]], [[0], [1]], [[1, 0]])
    >>> print(bough.linear.stability_boundary(van_der_pol, 1.0, 0.0, parameter="damping"))
    flutter at 0.31831 Hz from damping = 0.3 on, most in x2
    """
    make, name, _ = maker(source, parameter, dict(options))
    ends = (float(low), float(high))
    systems = [make(value) for value in ends]
    border = ZERO * max(float(np.abs(system.poles()).max(initial=0.0)) for system in systems) if tolerance is None else tolerance
    real = [growth(system)[0] for system in systems]
    unstable = [each > border for each in real]
    if unstable[0] == unstable[1]:
        what = "unstable" if unstable[0] else "stable"
        raise StateError(f"stability_boundary: it is {what} both at {name} = {low:g} (greatest real part {real[0]:.3g} 1/s) and at "
                         f"{high:g} ({real[1]:.3g} 1/s); give a stable and an unstable value")
    damped = min(real) < -border
    value = _crossed(lambda x: growth(make(x))[0] - (0.0 if damped else border), *ends)
    return _boundary_at(make, value, ends[1] if unstable[1] else ends[0], name)


def _crossed(function: Callable[[float], float], low: float, high: float) -> float:
    """The zero of a function that may have corners: bisection, and brentq inside the last thousandth."""
    a, b, sign = low, high, function(low)
    for _ in range(10):
        middle = 0.5 * (a + b)
        a, b = (middle, b) if function(middle) * sign > 0 else (a, middle)
    return float(brentq(function, a, b, xtol=1e-13 * max(abs(low), abs(high)), rtol=1e-12))


def _boundary_at(make: Maker, value: float, beyond: float, name: str) -> StabilityBoundary:
    """The eigenvalue that crosses, evaluated slightly beyond the boundary, where it is the largest."""
    system = make(value + 1e-6 * (beyond - value))
    _, eigenvalue, state = growth(system)
    still = abs(eigenvalue.imag) < ZERO * float(np.abs(system.poles()).max(initial=0.0))
    return StabilityBoundary(value, eigenvalue, "divergence" if still else "flutter", system.states[state], name)
