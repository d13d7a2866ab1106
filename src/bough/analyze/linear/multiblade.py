"""Multi-blade (Coleman) coordinates: the blades of a turning rotor as a whole, in the fixed frame."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bough.analyze.linear.linear_system import Floats, LinearSystem
from bough.errors import StateError


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

