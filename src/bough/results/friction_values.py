"""Friction in results: its force, and where it sticks, out of recorded states."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.describe import Friction
from bough.results.samples import Samples, friction_place

Array = NDArray[Any]


def friction_forces(samples: Samples) -> Array:
    """(rows, frictions): along the coordinate, or about the axis of the wheel."""
    return np.stack([_force(samples, friction, j) for j, friction in enumerate(samples.model.system.frictions.values())], axis=1)


def friction_sticks(samples: Samples) -> Array:
    """(rows, frictions): 1 where it holds its coordinate."""
    marks = [float(name + "=" in samples.model.contacts) for name in samples.model.system.frictions]
    return np.tile(marks, (len(samples.rows.t), 1))


def _force(samples: Samples, friction: Friction, j: int) -> Array:
    in_wheel, at = friction_place(samples, friction)
    v, model = (samples.wheels if in_wheel else samples.v)[:, at], samples.model
    if friction.name + "=" in model.contacts:
        return np.asarray(samples.drives[model.names.v[at]])
    if friction.law == "dahl":
        return np.asarray(-samples.rows.friction[:, j, 0] - friction.viscous * v)
    if friction.law == "basilisk":
        x = v / (friction.stribeck or 1.0)
        peak = np.exp(0.5) * (friction.breakaway - friction.coulomb) * x * np.exp(-x * x / 2)
        return np.asarray(-peak - friction.coulomb * np.tanh(10 * x) - friction.viscous * v)
    slips = sum(sign for mark, sign in ((">", 1.0), ("<", -1.0)) if friction.name + mark in model.contacts)
    s = v / np.hypot(v, friction.speed) if friction.speed else slips or np.sign(v)
    decay = 0.0 if friction.stribeck is None else np.exp(-((v / friction.stribeck) ** 2))
    dry = friction.coulomb + (friction.breakaway - friction.coulomb) * decay + _load_share(samples, friction)
    return np.asarray(-dry * s - friction.viscous * v)


def _load_share(samples: Samples, friction: Friction) -> Array | float:
    """What the load of the joint adds."""
    if not friction.mu:
        return 0.0
    system = samples.model.system
    coordinate = samples.model.names.v[friction_place(samples, friction)[1]]
    body = next(body for body in system.bodies.values() if coordinate in body.speed_names)
    force = samples.joint_loads[:, list(system.bodies).index(body.name), 3:]
    if body.joint.translations:
        axis = np.asarray(body.joint.translations[0])
        force = force - (force @ axis)[:, None] * axis
    return np.asarray(friction.mu * (friction.radius or 1.0) * np.linalg.norm(force, axis=1))
