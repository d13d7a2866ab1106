"""Mass, mass center and inertia of a flexible body: those of its finite elements, and the check of what was given beside."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bough.errors import Problem
from bough.flex import FlexibleBody

MASS_KEYS = ("mass", "com", "inertia")
_UNITS = {"mass": "kg", "com": "m", "inertia": "kg m^2"}
_SAME = 1e-6


def mass_properties(flexible: FlexibleBody) -> dict[str, Any]:
    """Mass, mass center and the inertia about it as a description holds them: plain floats in tuples."""
    inertia = (flexible.inertia + flexible.inertia.T) / 2
    return {"mass": flexible.mass, "com": tuple(flexible.com.tolist()), "inertia": tuple(map(tuple, inertia.tolist()))}


def mass_problems(given: Mapping[str, Any], flexible: FlexibleBody) -> list[Problem]:
    """What was given and differs from the finite elements, relative to their mass, size and inertia, by more than 1e-6."""
    known = mass_properties(flexible)
    moment = float(np.abs(known["inertia"]).max())
    size = float(np.linalg.norm(known["com"])) + np.sqrt(moment / flexible.mass)
    scales = {"mass": flexible.mass, "com": size, "inertia": moment}
    wrong = [key for key in given if np.abs(np.subtract(given[key], known[key])).max() > _SAME * scales[key]]
    return [Problem(_told(key, given[key], known[key]), path=(key,)) for key in wrong]


def _told(key: str, given: Any, known: Any) -> str:
    values = f"{key} is {_rounded(given)} {_UNITS[key]}, but the finite elements have {_rounded(known)} {_UNITS[key]}"
    return f"{values}; leave {key} out, or correct the flexible body"


def _rounded(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else f"[{', '.join(map(_rounded, value))}]"
