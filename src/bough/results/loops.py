"""What loops hold, and how far they are open."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bough.describe import Distance, System

if TYPE_CHECKING:
    from bough.model import Model


def holds(system: System) -> dict[str, tuple[bool, bool]]:
    """By loop, whether it holds translations and whether it holds rotations.

    >>> s = System("hatch")
    >>> _ = s.body("hatch", joint="free", mass=1.0, inertia=(1, 1, 1))
    >>> _ = s.loop("ball", joint="spherical", a="world", b="hatch")
    >>> holds(s)
    {'ball': (True, False)}
    """
    return {
        name: (True, False) if isinstance(loop.joint, Distance) else
        (len(loop.joint.translations) < 3, not loop.joint.spherical and len(loop.joint.rotations) < 3)
        for name, loop in system.loops.items()
    }  # fmt: skip


def largest_gaps(model: Model, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(states, loops) each: the largest gap of the translations that a loop holds [m], and of the rotations [rad]."""
    gaps, closures = model.loop_gaps(q), model.tables.fronts.closures
    moved = [np.abs(gaps[c.name][:, : c.rows - c.rotations]).max(axis=1, initial=0.0) for c in closures]
    turned = [np.abs(gaps[c.name][:, c.rows - c.rotations :]).max(axis=1, initial=0.0) for c in closures]
    return np.stack(moved, axis=1), np.stack(turned, axis=1)
