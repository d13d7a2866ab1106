"""Periodic systems x' = A(t) x, A(t + T) = A(t): monodromy matrix, Floquet multipliers and stability; rotors as a whole.

Each step of the period is a matrix exponential (Magnus, order six, from A at three Gauss points), so stiff and undamped modes need
no short steps; the number of steps is doubled until the result converges. [B 47]
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg

from bough.analyze.linear.linear_system import Complexes, Floats, LinearSystem
from bough.compile.compiled_model import CompiledModel
from bough.errors import StateError

GAUSS = 0.5 + np.array([-np.sqrt(0.15), 0.0, np.sqrt(0.15)])
FIRST, MOST = 8, 2048                   # steps of a period


@dataclass(frozen=True, eq=False, repr=False)
class Floquet:
    """Floquet analysis of one period of a linear system.

    Attributes
    ----------
    multipliers : ndarray
        Eigenvalues of the monodromy matrix: growth factors of deviations per period. Stable if all are within the unit circle.
    monodromy : ndarray
        (state, state): maps deviations before a period to those after it.
    period : float
        [s]
    steps : int
    error : float
        Relative change of the monodromy matrix at the last doubling of the number of steps.
    exponents : ndarray
        log(multiplier) / period [1/s], with the multiple of 2 pi i / period that is strongest in the periodic shape of the mode.
    states : tuple of str
    """
    multipliers: Complexes
    exponents: Complexes
    monodromy: Floats
    period: float
    steps: int
    error: float
    states: tuple[str, ...]
    name: str = ""

    @property
    def stable(self) -> bool:
        """Whether no deviation grows: no multiplier is outside the unit circle, allowing for rounding (its square root for double
        multipliers)."""
        return bool((np.abs(self.multipliers) <= 1.0 + max(np.sqrt(self.error), 1e-7)).all())

    @property
    def frequencies(self) -> Floats:
        """[Hz] of the exponents."""
        return np.asarray(np.abs(self.exponents) / (2 * np.pi))

    def __repr__(self) -> str:
        lines = [f"period of {self.period:g} s, {len(self.states)} states: {'stable' if self.stable else 'UNSTABLE'}; "
                 f"{self.steps} steps, good to {self.error:.0e}",
                 f"{'multiplier':>24} {'its size':>12} {'Hz':>12} {'growth [1/s]':>14}"]
        for multiplier, exponent in zip(self.multipliers, self.exponents, strict=True):
            if exponent.imag >= 0:
                lines.append(f"{multiplier.real:11.6f} {multiplier.imag:+11.6f}i {abs(multiplier):12.8f} "
                             f"{abs(exponent.imag) / (2 * np.pi):12.5g} {exponent.real:14.5g}")
        return "\n".join(lines)


def floquet(source: Callable[[float], Any] | CompiledModel, period: float, *, start: float = 0.0, tolerance: float = 1e-9,
            **options: Any) -> Floquet:
    """Floquet multipliers of a system linearized along a periodic motion.

    Parameters
    ----------
    source : function or Model
        A function of time that returns a LinearSystem, or A itself: `lambda t: result.linearize(t)` along a run that has settled.
        Or a model, linearized at its initial state, with prescribed coordinates at their values at each time.
    period : float
        [s]
    start : float
        Start of the period [s]; the multipliers do not depend on it.
    tolerance : float
        Steps are doubled until the relative change of the monodromy matrix is below this.
    **options
        For a model: options of `Model.linearize`.

    Examples
    --------
    >>> import bough, numpy as np
    >>> def mathieu(t):                          # y'' + (a - 2 q cos 2t) y = 0
    ...     return np.array([[0, 1], [-(0.4 - 2*0.5*np.cos(2*t)), 0]])
    >>> print(bough.linear.floquet(mathieu, np.pi).multipliers.round(6))
    [-0.874732-0.484607j -0.874732+0.484607j]
    """
    if not period > 0:
        raise StateError(f"floquet: period is {period!r} s; give a time > 0")
    at, states, name = _matrix(source, options)
    steps, before, error = FIRST, np.zeros((0, 0)), np.inf
    while True:
        parts = propagators(at, start, period, steps)
        monodromy = reduce(lambda whole, part: part @ whole, parts)
        scale = _sizes(monodromy)
        if len(before):
            error = float((np.abs(monodromy - before) / scale).max())
        if error <= tolerance:
            break
        if 2 * steps > MOST:
            raise StateError(f"floquet: the monodromy still changes by {error:.2g} with {steps} steps of a period of {period:g} s; "
                             f"is A(t) smooth? give a larger tolerance, or multiply parts of the period between which it jumps")
        steps, before = 2 * steps, monodromy
    multipliers, exponents = _exponents(parts, monodromy, period)
    order = np.lexsort((exponents.imag, np.abs(exponents).round(12)))
    names = states or tuple(f"x{k + 1}" for k in range(len(monodromy)))
    return Floquet(multipliers[order], exponents[order], monodromy, float(period), steps, float(error), names, name)


def _matrix(source: Any, options: dict[str, Any]) -> tuple[Callable[[float], Floats], tuple[str, ...], str]:
    """A as a function of time, the names of its states, and the name of the system."""
    if isinstance(source, CompiledModel):
        model: Any = source
        q0, v0 = (np.array(options.pop(key, getattr(model, f"{key}0")), float) for key in ("q", "v"))

        def linearized(t: float) -> LinearSystem:
            q, v = model.follow(q0, v0, t)
            return model.linearize(q, v, t=t, **options)

        return lambda t: linearized(t).A, linearized(0.0).states, model.system.name
    if options:
        raise StateError(f"{', '.join(options)} given with a function; let the function use them, or give a model")
    first = source(0.0)
    if isinstance(first, LinearSystem):
        if first.dt is not None:
            raise StateError("floquet: the systems are discrete; give continuous ones")
        return lambda t: source(t).A, first.states, first.name
    return lambda t: np.asarray(source(t), float), (), ""


def propagators(at: Callable[[float], Floats], start: float, period: float, steps: int) -> list[Floats]:
    """exp(Omega) of each step: the sixth-order Magnus expansion in A at the three points of Gauss [B 47]."""
    h, found = period / steps, []
    for k in range(steps):
        A1, A2, A3 = (at(start + h * (k + c)) for c in GAUSS)
        a1, a2, a3 = h * A2, np.sqrt(15) / 3 * h * (A3 - A1), 10 / 3 * h * (A3 - 2 * A2 + A1)
        c1 = _bracket(a1, a2)
        c2 = -_bracket(a1, 2 * a3 + c1) / 60
        found.append(np.asarray(linalg.expm(a1 + a3 / 12 + _bracket(-20 * a1 - a3 + c1, a2 + c2) / 240)))
    return found


def _bracket(X: Floats, Y: Floats) -> Floats:
    return X @ Y - Y @ X


def _sizes(matrix: Floats) -> Floats:
    """The scale of each entry: the norm of the balanced matrix, in the original states."""
    plain, (scale, _) = linalg.matrix_balance(matrix, permute=False, separate=True)
    return np.asarray(np.linalg.norm(plain) * scale[:, None] / scale)


def _exponents(parts: list[Floats], monodromy: Floats, period: float) -> tuple[Complexes, Complexes]:
    """Multipliers and their exponents. An exponent is defined up to multiples of 2 pi i / T: the one is taken for which the
    constant part of the periodic shape exp(-s t) x(t) is strongest."""
    multipliers, shapes = np.linalg.eig(monodromy)
    plain = np.log(np.where(multipliers == 0, 1e-300, multipliers).astype(complex)) / period
    n, x = len(parts), shapes.astype(complex)
    history = [x]
    for part in parts[:-1]:
        x = part @ x
        history.append(x)
    time = period * np.arange(n) / n
    periodic = np.array(history) * np.exp(-plain[None, None, :] * time[:, None, None])     # (time, state, mode)
    strength = (np.abs(np.fft.fft(periodic, axis=0)) ** 2).sum(axis=1)                     # (harmonic, mode)
    harmonic = np.fft.fftfreq(n, 1.0 / n).round()[np.argmax(strength, axis=0)]
    shifted = plain + 2j * np.pi * harmonic / period
    real = np.abs(multipliers.imag) < 1e-12 * np.abs(multipliers)
    return multipliers.astype(complex), np.where(real & (multipliers.real > 0) & (harmonic == 0), plain, shifted)


# ---- multi-blade (Coleman) coordinates: the blades of a turning rotor as a whole, in the fixed frame ---------------------
@dataclass(frozen=True, eq=False)
class Multiblade:
    """A rotor in multi-blade coordinates.

    Attributes
    ----------
    system : LinearSystem
        The mean over the azimuths: states of blades are "blades.NAME collective", "cosine", "sine".
    periodic : float
        The remaining dependence on the azimuth: the largest deviation of an entry of A from its mean, relative to the magnitude of
        its row. Zero for a rotor of equal blades on an isotropic support; small values justify the mean, otherwise use `floquet`.
    """
    system: LinearSystem
    periodic: float


def turn(azimuth: float, blades: int, order: int = 0) -> Floats:
    """(blades, coordinates): motion of each blade by collective, cosine, sine (and with four or more blades further) coordinates,
    or its derivative by the azimuth [B 48]."""
    psi = azimuth + 2 * np.pi * np.arange(blades) / blades
    columns: list[Floats] = [np.ones(blades) if order == 0 else np.zeros(blades)]
    for k in range(1, (blades - 1) // 2 + 1):
        phase = k * psi + order * np.pi / 2                     # a derivative is a quarter of a turn ahead
        columns += [float(k) ** order * np.cos(phase), float(k) ** order * np.sin(phase)]
    if blades % 2 == 0:
        columns.append(np.cos(np.pi * np.arange(blades)).round() if order == 0 else np.zeros(blades))
    return np.stack(columns, axis=1)


def _parts(blades: int) -> list[str]:
    middle = [f"{part}{'' if k == 1 else k}" for k in range(1, (blades - 1) // 2 + 1) for part in ("cosine", "sine")]
    return ["collective", *middle, *(["differential"] if blades % 2 == 0 else [])]


class Places:
    """Names that belong to blades, in groups that differ only in the blade, in the order of the blades."""

    def __init__(self, names: Sequence[str], blades: Sequence[str]) -> None:
        self.groups: dict[str, list[int]] = {}
        for k, name in enumerate(names):
            blade = next((each for each in blades if name == each or name.startswith((f"{each}.", f"{each} "))), None)
            if blade is not None:
                self.groups.setdefault(name[len(blade):], [-1] * len(blades))[list(blades).index(blade)] = k
        for rest, places in self.groups.items():
            if -1 in places:
                missing = f"{blades[places.index(-1)]}{rest}"
                raise StateError(f"multiblade: {missing} is missing; all blades must have the same coordinates and ports")

    def named(self, names: Sequence[str], blades: int) -> tuple[str, ...]:
        found = list(names)
        for rest, places in self.groups.items():
            for place, part in zip(places, _parts(blades), strict=True):
                found[place] = f"blades{rest} {part}"
        return tuple(found)

    def filled(self, block: Floats, n: int) -> Floats:
        """The identity with a block for each group."""
        whole = np.eye(n)
        for places in self.groups.values():
            whole[np.ix_(places, places)] = block
        return whole


def _moving(system: LinearSystem, places: Places, azimuth: float, rate: float, blades: int) -> tuple[Floats, Floats]:
    """P and P' of x = P z: coordinates by T(psi), their speeds by T and rate T', so that z has coordinates and their own rates."""
    T, T1, T2 = (turn(azimuth, blades, order) for order in (0, 1, 2))
    P = places.filled(T, len(system.states))
    rates = np.zeros_like(P)
    for rest, group in places.groups.items():
        rates[np.ix_(group, group)] = rate * T1
        coordinate = places.groups.get(rest.removesuffix(" rate")) if rest.endswith(" rate") else None
        if coordinate is not None:
            P[np.ix_(group, coordinate)] = rate * T1
            rates[np.ix_(group, coordinate)] = rate**2 * T2
    return P, rates


def multiblade(source: Callable[[float], LinearSystem], *, rate: float, blades: Sequence[str] = ("blade1", "blade2", "blade3"),
               azimuths: ArrayLike | None = None) -> Multiblade:
    """A turning rotor in multi-blade coordinates, in which equal blades give constant matrices.

    Parameters
    ----------
    source : function
        A function of the rotor azimuth [rad] that returns the LinearSystem there, at this rate.
    rate : float
        Rotor speed [rad/s].
    blades : sequence of str
        Bodies in order around the rotor, each 2 pi / n ahead of the previous one in the direction of positive azimuth.
    azimuths : array_like, optional
        Azimuths over which the mean is taken; by default eight in the angle between two blades.
    """
    n = len(blades)
    if n < 3:
        raise StateError(f"multiblade: {n} blades; there must be three or more, for two make no rotor that looks the same all "
                         "around: ask floquet")
    angles = np.arange(8) * 2 * np.pi / (8 * n) if azimuths is None else np.atleast_1d(np.asarray(azimuths, float))
    found = [transformed(source(float(angle)), float(angle), rate, blades) for angle in angles]
    mean = {each: np.mean([getattr(system, each) for system in found], axis=0) for each in ("A", "B", "C", "D", "residual")}
    size = np.maximum(np.abs(mean["A"]).sum(axis=1, keepdims=True), 1e-300)
    periodic = max(float((np.abs(system.A - mean["A"]) / size).max()) for system in found)
    return Multiblade(replace(found[0], **mean, point=None), periodic)


def transformed(system: LinearSystem, azimuth: float, rate: float, blades: Sequence[str]) -> LinearSystem:
    """One system in multi-blade coordinates: z' = P^-1 (A P - P') z, x = P z [B 49]; ports of all blades by T alone."""
    if system.dt is not None:
        raise StateError("multiblade: the system is discrete; give continuous ones")
    n, places = len(blades), {kind: Places(getattr(system, kind), blades) for kind in ("states", "inputs", "outputs")}
    if not places["states"].groups:
        raise StateError(f"multiblade: no state belongs to {', '.join(blades)}; name the bodies of the blades, blades=[...]")
    P, rates = _moving(system, places["states"], azimuth, rate, n)
    T = turn(azimuth, n)
    U, Y = places["inputs"].filled(T, len(system.inputs)), places["outputs"].filled(T, len(system.outputs))
    changed: dict[str, Any] = {kind: where.named(getattr(system, kind), n) for kind, where in places.items()}
    changed |= {"A": np.linalg.solve(P, system.A @ P - rates), "B": np.linalg.solve(P, system.B @ U),
                "C": np.linalg.solve(Y, system.C @ P), "D": np.linalg.solve(Y, system.D @ U),
                "residual": np.linalg.solve(P, system.residual)}
    return replace(system, point=None, **changed)
