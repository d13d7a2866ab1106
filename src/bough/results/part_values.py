"""Friction and tanks in results, from recorded states.

Forces of friction, and whether it sticks; flow and thrust of tanks; momenta and energy of system and exhaust together, which
internal forces do not change [B 91].
"""

from __future__ import annotations

import numpy as np

from bough.compile.tables import described_inputs
from bough.describe import Friction
from bough.results.recorded_parts import Array
from bough.results.samples import Samples, friction_place
from bough.sweeps import fields as f


def friction_forces(samples: Samples) -> Array:
    """(rows, frictions): along the coordinate, or about the axis of the wheel."""
    return np.stack([_force(samples, friction, j) for j, friction in enumerate(samples.model.system.frictions.values())], axis=1)


def friction_sticks(samples: Samples) -> Array:
    """(rows, frictions): 1 where it holds its coordinate."""
    marks = [float(name + "=" in samples.model.marks) for name in samples.model.system.frictions]
    return np.tile(marks, (len(samples.rows.t), 1))


def _force(samples: Samples, friction: Friction, j: int) -> Array:
    in_wheel, at = friction_place(samples, friction)
    v, model = (samples.wheels if in_wheel else samples.v)[:, at], samples.model
    if friction.name + "=" in model.marks:
        return np.asarray(samples.drives[model.names.v[at]])
    if friction.law == "dahl":
        return np.asarray(-samples.rows.friction[:, j, 0] - friction.viscous * v)
    if friction.law == "basilisk":
        x = v / (friction.stribeck or 1.0)
        peak = np.exp(0.5) * (friction.breakaway - friction.coulomb) * x * np.exp(-x * x / 2)
        return np.asarray(-peak - friction.coulomb * np.tanh(10 * x) - friction.viscous * v)
    slips = sum(sign for mark, sign in ((">", 1.0), ("<", -1.0)) if friction.name + mark in model.marks)
    s = v / np.hypot(v, friction.speed) if friction.speed else slips or np.sign(v)
    decay = 0.0 if friction.stribeck is None else np.exp(-((v / friction.stribeck) ** 2))
    dry = friction.coulomb + (friction.breakaway - friction.coulomb) * decay + _load_share(samples, friction)
    return np.asarray(-dry * s - friction.viscous * v)


def _load_share(samples: Samples, friction: Friction) -> Array | float:
    """The part due to the load of the joint."""
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


def tank_flows(samples: Samples) -> Array:
    """(rows, tanks): flow of the description and of inputs, zero if a tank of the engine is empty."""
    model, inputs = samples.model, samples.inputs
    flows = np.array(described_inputs(model.tables, samples.rows.t)[:, model.input_layout.flows])
    names = list(model.system.tanks)
    for port in model.system.inputs.values():
        if port.flow is not None:
            flows[:, names.index(port.flow)] += inputs[:, model.names.inputs.index(port.name)]
    return np.asarray(flows * model.tables.rows("tanks")[:, f.TANK_FEEDS])


def whole_angular_momentum(samples: Samples) -> Array:
    """(rows, 3): of system and exhaust, about the world's origin; in orbit, about the attracting center."""
    center = samples.bodies.center_of_mass + (samples.orbit[:, :3] if samples.model.in_orbit else 0.0)
    own = samples.bodies.momentum[:, :3] + np.cross(center, _linear_momentum(samples))
    return np.asarray(own + samples.rows.exhaust[:, :3])


def whole_linear_momentum(samples: Samples) -> Array:
    """(rows, 3): of system and exhaust."""
    return np.asarray(_linear_momentum(samples) + samples.rows.exhaust[:, 3:6])


def _linear_momentum(samples: Samples) -> Array:
    """(rows, 3): of the bodies; in orbit, with that of the mass center."""
    own, bodies = samples.bodies.momentum[:, 3:], samples.bodies
    return own + bodies.mass.sum(axis=-1)[:, None]*samples.orbit[:, 3:] if samples.model.in_orbit else own


def whole_energy(samples: Samples) -> Array:
    """(rows,): energy of system and exhaust, minus that of the propellant at the start."""
    return np.asarray(samples.bodies.kinetic_energy + samples.bodies.potential_energy + samples.rows.exhaust[:, 6])
