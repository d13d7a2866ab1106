"""Mass properties of all bodies as their deformation has them: a rigid body is one with zero modes."""
from dataclasses import dataclass

import numpy as np

from bough.compile.batch import Batch
from bough.compile.compiled_model import CompiledModel
from bough.compile.flexible_tables import axial
from bough.compile.state_layout import Floats
from bough.describe import Body


@dataclass(frozen=True)
class Deformed:
    """About the origin of each body's mass frame, in its axes."""
    moment: Floats          # (batch, bodies, 3)     mass times mass center
    inertia: Floats         # (batch, bodies, 3, 3)
    slide: Floats           # (batch, bodies, 3)     linear momentum of the deformation alone
    spin: Floats            # (batch, bodies, 3)     its angular momentum
    modal: Floats           # (batch, bodies)        eta'.Mff eta'/2
    strain: Floats          # (batch, bodies)        (eta - rest).K (eta - rest)/2


def deformed(model: CompiledModel, batch: Batch) -> Deformed:
    n, bodies = batch.n, len(model.names.bodies)
    found = Deformed(*(np.zeros((n, bodies, *shape)) for shape in ((3,), (3, 3), (3,), (3,), (), ())))
    for k, body in enumerate(model.system.bodies.values()):
        com, (modes, rates) = np.asarray(body.com), model.modes(body.name)
        found.moment[:, k] = body.mass*com
        found.inertia[:, k] = np.asarray(body.inertia) + body.mass*(com @ com*np.eye(3) - np.outer(com, com))
        if body.n_modes:
            deform(found, k, body, batch.q[:, modes], batch.v[:, rates])
    return found


def deform(found: Deformed, k: int, body: Body, eta: Floats, rate: Floats) -> None:
    """J, h, and the momenta and energies of the deformation, as `sweeps.deform` has them [B 9]."""
    flexible, strained = body.elastic, eta if body.rest is None else eta - np.asarray(body.rest)
    sums = flexible.carried
    slaves = np.einsum("ars,bs->bar", sums.G, eta)
    x = np.concatenate([eta, np.einsum("bar,br->ba", slaves, eta)/2], axis=1)          # with the coordinates that modes carry
    speed = np.concatenate([rate, np.einsum("bar,br->ba", slaves, rate)], axis=1)
    E = np.broadcast_to(sums.E, (len(x), *sums.E.shape))
    if flexible.variant == "full":
        E = E + np.einsum("bs,srij->brij", x, sums.slope)
        added = np.einsum("br,brij->bij", x, E + sums.E)
        trace = np.trace(added, axis1=1, axis2=2)[:, None, None]*np.eye(3)
        found.inertia[:, k] += trace - (added + added.transpose(0, 2, 1))/2
        found.moment[:, k] += x @ sums.t
    found.slide[:, k] = speed @ sums.t
    found.spin[:, k] = np.einsum("br,bri->bi", speed, axial(E))
    found.modal[:, k] = np.einsum("br,rs,bs->b", speed, sums.mass, speed)/2
    found.strain[:, k] = np.einsum("br,rs,bs->b", strained, flexible.K, strained)/2
