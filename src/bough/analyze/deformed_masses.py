"""Mass properties of all bodies as their deformation and their propellant have them: a rigid body is one with zero modes."""
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bough import compile as builders
from bough.compile.batch import Batch
from bough.compile.compiled_model import CompiledModel
from bough.compile.layout import Floats
from bough.describe import Body, System


def propellant(system: System, masses: Floats) -> Iterator[tuple[int, Floats]]:
    """Of each body of propellant, at the masses in tanks (batch, tanks): its number; mass, first moment and inertia about its
    origin, in its axes, (batch, 10) [B 87]."""
    order = list(system.bodies)
    for tank, mass in zip(system.tanks.values(), masses.T, strict=True):
        found = tank.properties(mass)
        for i, name in enumerate(tank.body_names):
            yield order.index(name), found[:, 10*i:10*i + 10]


@dataclass(frozen=True)
class Deformed:
    """About the origin of each body's mass frame, in its axes."""
    moment: Floats          # (batch, bodies, 3)     mass times mass center
    inertia: Floats         # (batch, bodies, 3, 3)
    turned: Floats          # (batch, bodies, 3, 3)  of that, the share of points that turn beyond second moments
    slide: Floats           # (batch, bodies, 3)     linear momentum of the deformation alone
    spin: Floats            # (batch, bodies, 3)     its angular momentum
    modal: Floats           # (batch, bodies)        eta'.Mff eta'/2
    strain: Floats          # (batch, bodies)        (eta - rest).K (eta - rest)/2


def deformed(model: CompiledModel, batch: Batch) -> Deformed:
    n, bodies = batch.n, len(model.names.bodies)
    found = Deformed(*(np.zeros((n, bodies, *shape)) for shape in ((3,), (3, 3), (3, 3), (3,), (3,), (), ())))
    if undeformed not in model.family:
        model.family[undeformed] = undeformed(model)
    found.moment[:], found.inertia[:] = model.family[undeformed]
    for k, body in enumerate(model.system.bodies.values()):
        if body.flexible is not None and body.n_modes:
            modes, rates = model.mode_places(body.name)
            deform(found, k, body, batch.q[:, modes], batch.v[:, rates])
    for k, own in propellant(model.system, batch.state.tanks):
        found.moment[:, k], found.inertia[:, k] = own[:, 1:4], own[:, 4:][:, [[0, 1, 2], [1, 3, 4], [2, 4, 5]]]
    return found


def linearized(system: System) -> bool:
    """Whether the inertia of some flexible body ignores its deformation; energy and momenta are then not exactly conserved."""
    return any(body.n_modes and body.elastic.variant != "full" for body in system.bodies.values())


def undeformed(model: CompiledModel) -> tuple[Floats, Floats]:
    """(bodies, 3), (bodies, 3, 3): first moments, and inertias about the origins of the body frames."""
    bodies = model.system.bodies.values()
    mass, com = np.array([body.mass for body in bodies]), np.array([body.com for body in bodies])
    squares = np.einsum("ki,ki->k", com, com)[:, None, None]*np.eye(3) - np.einsum("ki,kj->kij", com, com)
    return mass[:, None]*com, np.array([body.inertia for body in bodies]) + mass[:, None, None]*squares


def deform(found: Deformed, k: int, body: Body, eta: Floats, rate: Floats) -> None:
    """J, h, and the momenta and energies of the deformation, from the description's integrals and not the tables [B 9]."""
    flexible, strained = body.elastic, eta if body.rest is None else eta - np.asarray(body.rest)
    sums = flexible.carried
    slopes = np.einsum("ars,bs->bar", sums.G, eta)
    x = np.concatenate([eta, np.einsum("bar,br->ba", slopes, eta)/2], axis=1)          # with the coordinates that modes carry
    speed = np.concatenate([rate, np.einsum("bar,br->ba", slopes, rate)], axis=1)
    E = np.broadcast_to(sums.E, (len(x), *sums.E.shape))
    if flexible.variant == "full":
        E = E + np.einsum("bs,srij->brij", x, sums.slope)
        added = np.einsum("br,brij->bij", x, E + sums.E)
        trace = np.trace(added, axis1=1, axis2=2)[:, None, None]*np.eye(3)
        found.inertia[:, k] += trace - (added + added.transpose(0, 2, 1))/2
        found.moment[:, k] += x @ sums.t
    found.slide[:, k] = speed @ sums.t
    found.spin[:, k] = np.einsum("br,bri->bi", speed, builders.flexible_tables.axial(E))
    found.modal[:, k] = np.einsum("br,rs,bs->b", speed, sums.mass, speed)/2
    if flexible.variant == "full":
        spins, momenta = flexible.integrals.spin_rows(eta)                              # of points that turn
        n = body.n_modes
        (own, mixed), (Q, g) = ((each[..., :n] @ rate[..., None] for each in (spins, momenta)),
                                (each[..., n:n + 3] for each in (spins, momenta)))
        found.turned[:, k] = np.einsum("bai,baj->bij", g, Q) + np.einsum("bai,baj->bij", Q, g + Q)
        found.inertia[:, k] += found.turned[:, k]
        found.spin[:, k] += (own*(g + Q) + mixed*Q).sum(axis=1)
        found.modal[:, k] += (own*(mixed + own/2)).sum(axis=(1, 2))
    found.strain[:, k] = np.einsum("br,rs,bs->b", strained, flexible.K, strained)/2
