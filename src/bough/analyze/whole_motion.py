"""Mass center and momenta of a floating system as a whole, and what a rigid motion adds to them.

They are what the mass matrix says of rigid motions.  With speeds R of unit rates about the mass center and of unit velocities,

    P = R M v + [sum s e, 0],       dP = (R M R^T + [sum J e e^T, 0]) d     for a motion d R more

s is the spin of a wheel that M does not know: J Omega; if a motor drives it, J e.omega more, for then M is without J e e^T.
"""
from dataclasses import dataclass

import numpy as np

from bough.analyze.bodies import bodies_of
from bough.analyze.equations_of_motion import mass_matrix_at
from bough.compile.batch import Batch
from bough.compile.compiled_model import CompiledModel
from bough.compile.layout import Floats
from bough.describe.orientation import cross_matrix, rotation_matrix


@dataclass(frozen=True)
class WholeMotion:
    """Of a floating system in one state."""
    center: Floats              # (3,)      mass center
    momenta: Floats             # (6,)      [angular about it, linear]
    motions: Floats             # (6, nv)   speeds of unit rigid motions: rates about the mass center, and velocities
    inertia: Floats             # (6, 6)    the momenta of these motions


def roots_of(model: CompiledModel) -> list[tuple[int, int]]:
    """First entries of the coordinates and speeds of the roots."""
    return [model.places[body.name] for body in model.system.bodies.values() if body.parent is None]


def whole_motion(model: CompiledModel, x: Floats) -> WholeMotion:
    """Of one state; all roots of the system are free, and tanks have the default masses of the model."""
    state, roots, motions = model.state(x), roots_of(model), np.zeros((6, model.nv))
    M, first = mass_matrix_at(model, state.q), x[roots[0][0]:][:3]
    rates, velocities = motions[:3], motions[3:]
    for q, v in roots:
        rates[:, v:v + 3], velocities[:, v:v + 3] = cross_matrix(x[q:q + 3] - first), np.eye(3)
        rates[:, v + 3:v + 6] = rotation_matrix(x[q + 3:q + 7])
    moment = velocities @ M @ motions.T                                     # of rates about the first root: m [c]^T; m 1
    center = np.array([moment[1, 2], moment[2, 0], moment[0, 1]])/moment[0, 3]
    rates -= cross_matrix(center) @ velocities
    of_unit = motions @ M                                                   # momenta of these motions, by speed
    momenta, inertia = of_unit @ state.v, of_unit @ motions.T
    if model.nw:
        add_wheels(model, model.batch_of(x[None].copy()), momenta, inertia)
    return WholeMotion(first + center, momenta, motions, inertia)


def add_wheels(model: CompiledModel, batch: Batch, momenta: Floats, inertia: Floats) -> None:
    """Add the terms of wheels that are not in the mass matrix."""
    bodies = bodies_of(model, batch)
    (axes, spins), rates = bodies.wheel_spins, bodies.wheel_carriers.rate
    for wheel, e, spin, rate in zip(model.system.wheels.values(), axes[0], spins[0], rates[0], strict=True):
        momenta[:3] += (spin + wheel.inertia*wheel.driven*(e @ rate))*e
        inertia[:3, :3] += wheel.inertia*wheel.driven*np.outer(e, e)
