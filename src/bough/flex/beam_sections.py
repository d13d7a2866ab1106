"""Sections of a beam along its axis: constants, tables or functions in, stiffness and mass per length out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bough.errors import DescriptionError
from bough.flex.cross import Array

Along = Callable[[Array], Array]


@dataclass(frozen=True)
class Sections:
    """Stiffness and inertia per length as functions of the place along the axis; None where the beam is rigid."""

    EA: Along | None
    GJ: Along | None
    EIy: Along
    EIz: Along
    GAy: Along | None  # shear stiffness with its factor; None: Euler-Bernoulli
    GAz: Along | None
    mass: Along
    polar: Along  # inertia per length about the axis [kg m]
    rotary_y: Along
    rotary_z: Along


def along(value: Any, length: float, name: str) -> Along:
    """A function of the place x out of a number, a table at equal distances from end to end, or a function.

    >>> along([1.0, 3.0], 10.0, "EI")(np.array([0.0, 5.0]))
    array([1., 2.])
    """
    if callable(value):
        return lambda x: _checked(np.array([float(value(each)) for each in np.ravel(x)]).reshape(np.shape(x)), name)
    table = np.asarray(value, dtype=float)
    if table.ndim > 1 or table.size == 0 or not np.isfinite(table).all():
        raise DescriptionError(f"beam: {name} is {value!r}; give a number, a table of numbers along the axis, or a function of x")
    _checked(table, name)
    if table.ndim == 0:
        return lambda x: np.full(np.shape(x), float(table))
    return lambda x: np.interp(x, np.linspace(0.0, length, len(table)), table)


def sections(length: float, given: dict[str, Any], *, timoshenko: bool, shear_factors: Any, rotary_inertia: bool) -> Sections:
    """The sections that a beam's keywords describe, either by E, G, area, ... or by EI, EA, GJ, mass_per_length."""
    known = {name: along(value, length, name) for name, value in given.items() if value is not None and name != "EI"}
    EIy, EIz = _bending(length, given, known)
    mass = known.get("mass_per_length") or _product(known, "density", "area")
    if mass is None:
        raise DescriptionError("beam: it has no mass; give density and area, or mass_per_length")
    GAy, GAz = _shear(known, shear_factors) if timoshenko else (None, None)
    zero: Along = lambda x: np.zeros(np.shape(x))  # noqa: E731
    rotary_y, rotary_z = _product(known, "density", "Iy"), _product(known, "density", "Iz") or _product(known, "density", "Iy")
    GJ = known.get("GJ") or _product(known, "G", "J")
    polar = known.get("polar_inertia") or _sum(rotary_y, rotary_z)
    if GJ is not None and polar is None:
        raise DescriptionError(
            "beam: it can twist but has no inertia about its axis; give polar_inertia [kg m], or density with Iy and Iz"
        )
    if rotary_inertia and rotary_y is None:
        raise DescriptionError("beam: rotary inertia needs the sections; give density, Iy and Iz, or rotary_inertia=False")
    return Sections(
        EA=known.get("EA") or _product(known, "E", "area"),
        GJ=GJ,
        EIy=EIy,
        EIz=EIz,
        GAy=GAy,
        GAz=GAz,
        mass=mass,
        polar=polar if polar is not None else zero,
        rotary_y=rotary_y if rotary_inertia and rotary_y is not None else zero,
        rotary_z=rotary_z if rotary_inertia and rotary_z is not None else zero,
    )


def _bending(length: float, given: dict[str, Any], known: dict[str, Along]) -> tuple[Along, Along]:
    EI = given.get("EI")
    if isinstance(EI, tuple):
        if len(EI) != 2:
            raise DescriptionError(f"beam: EI is {EI!r}; give one stiffness, or the pair (EIy, EIz)")
        return along(EI[0], length, "EIy"), along(EI[1], length, "EIz")
    if EI is not None:
        both = along(EI, length, "EI")
        return both, both
    first = _product(known, "E", "Iy")
    if first is None:
        raise DescriptionError("beam: it has no bending stiffness; give EI (or the pair (EIy, EIz)), or E with Iy and Iz")
    return first, _product(known, "E", "Iz") or first


def _shear(known: dict[str, Along], factors: Any) -> tuple[Along, Along]:
    pair = np.broadcast_to(np.asarray(factors, dtype=float), (2,))
    stiffness = known.get("GA") or _product(known, "G", "area")
    if stiffness is None:
        raise DescriptionError("beam: timoshenko=True needs the shear stiffness; give G and area, or GA")
    return (lambda x: pair[0] * stiffness(x)), (lambda x: pair[1] * stiffness(x))


def _product(known: dict[str, Along], first: str, second: str) -> Along | None:
    if first not in known or second not in known:
        return None
    a, b = known[first], known[second]
    return lambda x: a(x) * b(x)


def _sum(first: Along | None, second: Along | None) -> Along | None:
    if first is None or second is None:
        return None
    return lambda x: first(x) + second(x)


def _checked(values: Array, name: str) -> Array:
    if not np.isfinite(values).all() or (values < 0).any():
        raise DescriptionError(f"beam: {name} is {float(np.min(values)):.6g} somewhere along the axis; give finite numbers >= 0")
    return values
