"""Mass properties of all bodies as their deformation has them: a rigid body is one with zero modes."""
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bough.compile.flexible_tables import axial
from bough.describe import Body
from bough.model.arguments import Batch

if TYPE_CHECKING:
    from bough.model.model import Model


@dataclass(frozen=True)
class Deformed:
    """About the origin of each body's mass frame, in its axes."""
    moment: np.ndarray          # (batch, bodies, 3)     mass times mass center
    inertia: np.ndarray         # (batch, bodies, 3, 3)
    slide: np.ndarray           # (batch, bodies, 3)     linear momentum of the deformation alone
    spin: np.ndarray            # (batch, bodies, 3)     its angular momentum
    modal: np.ndarray           # (batch, bodies)        eta'.Mff eta'/2
    strain: np.ndarray          # (batch, bodies)        (eta - rest).K (eta - rest)/2


def deformed(model: "Model", batch: Batch) -> Deformed:
    n, bodies = batch.n, len(model.names.bodies)
    found = Deformed(*(np.zeros((n, bodies, *shape)) for shape in ((3,), (3, 3), (3,), (3,), (), ())))
    for k, body in enumerate(model.system.bodies.values()):
        com, (q, v) = np.asarray(body.com), model.places[body.name]
        found.moment[:, k] = body.mass*com
        found.inertia[:, k] = np.asarray(body.inertia) + body.mass*(com @ com*np.eye(3) - np.outer(com, com))
        if body.n_modes:
            eta = batch.x[:, q + body.joint.n_q:q + body.n_q]
            rate = batch.x[:, model.nq + v + body.joint.n_v:model.nq + v + body.n_v]
            deform(found, k, body, eta, rate)
    return found


def deform(found: Deformed, k: int, body: Body, eta: np.ndarray, rate: np.ndarray) -> None:
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
