"""What tanks did: flow and thrust; momenta and energy of system and exhaust together, which nothing inside changes [B 91]."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bough.compile.tables import described_inputs
from bough.results.samples import Samples
from bough.sweeps import fields as f

Array = NDArray[np.float64]


def tank_flows(samples: Samples) -> Array:
    """(rows, tanks): of the description and of inputs, where tanks feed."""
    model, inputs = samples.model, samples.inputs
    flows = np.array(described_inputs(model.tables, samples.rows.t)[:, model.input_layout.flows])
    names = list(model.system.tanks)
    for port in model.system.inputs.values():
        if port.flow is not None:
            flows[:, names.index(port.flow)] += inputs[:, model.names.inputs.index(port.name)]
    return np.asarray(flows * model.tables.rows("tanks")[:, f.TANK_FEEDS])


def tank_thrusts(samples: Samples) -> Array:
    """(rows, tanks)"""
    return tank_flows(samples) * [tank.speed for tank in samples.model.system.tanks.values()]


def whole_angular_momentum(samples: Samples) -> Array:
    """(rows, 3): of system and exhaust, about the world's origin; in orbit, about the attracting center."""
    center = samples.bodies.center_of_mass + (samples.orbit[:, :3] if samples.model.in_orbit else 0.0)
    own = samples.bodies.momentum[:, :3] + np.cross(center, _linear_momentum(samples))
    return np.asarray(own + samples.rows.exhaust[:, :3])


def whole_linear_momentum(samples: Samples) -> Array:
    """(rows, 3): of system and exhaust."""
    return np.asarray(_linear_momentum(samples) + samples.rows.exhaust[:, 3:6])


def whole_momenta(samples: Samples) -> Array:
    """(rows, 6): both."""
    return np.concatenate([whole_angular_momentum(samples), whole_linear_momentum(samples)], axis=1)


def _linear_momentum(samples: Samples) -> Array:
    """(rows, 3): of the bodies; in orbit, with that of the mass center."""
    own, bodies = samples.bodies.momentum[:, 3:], samples.bodies
    return own + bodies.mass.sum(axis=-1)[:, None]*samples.orbit[:, 3:] if samples.model.in_orbit else own


def whole_energy(samples: Samples) -> Array:
    """(rows,): of system and exhaust, less what the propellant brought."""
    return np.asarray(samples.bodies.kinetic_energy + samples.bodies.potential_energy + samples.rows.exhaust[:, 6])
