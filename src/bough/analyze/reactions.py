"""Joint reactions, and the forces that hold locked and prescribed coordinates."""


import numpy as np

from bough.analyze.bodies import observe
from bough.analyze.equations_of_motion import forward, inverse
from bough.analyze.loop_forces import balancing_forces, with_loop_wrenches
from bough.compile.batch import Batch, finite
from bough.compile.compiled_model import CompiledModel
from bough.compile.layout import Floats
from bough.sweeps import calls


def reactions(model: CompiledModel, batch: Batch, a: Floats) -> Floats:
    """(batch, bodies, 6): the load of the parent on the body, at the joint's origin on the body, in the body's axes.

    Joint torques of the batch matter only with closed loops, which must provide whatever the torques do not."""
    if model.constrained:
        needed = inverse(model, model.changed(batch, torques=False), a) - batch.inputs.tau
        forces, _ = balancing_forces(model, model.batch(batch.q), needed)
        return hinge_loads(model, with_loop_wrenches(model, batch, forces), a)
    return hinge_loads(model, model.changed(batch, torques=False, keep_welds=True), a)


def hinge_loads(model: CompiledModel, batch: Batch, a: Floats) -> Floats:
    """Reactions on tables that keep the welds, with the loop forces among the wrenches."""
    hinges = len(batch.tables.parts.hinges) - 1
    out = np.empty((batch.n, 6*hinges))
    model.call(calls.hinge_wrenches, batch, a, out)
    finite(out, "reactions", batch)
    attitude = observe(model, batch, a).attitude
    index = [batch.tables.parts.attachments[name].hinge - 1 for name in model.names.bodies]
    world = out.reshape(batch.n, hinges, 2, 3)[:, index]
    return np.einsum("bkij,bkci->bkcj", attitude, world).reshape(batch.n, -1, 6)


def drive_forces(model: CompiledModel, batch: Batch) -> dict[str, Floats]:
    """(batch,) by locked or prescribed coordinate: the force or torque that holds it, in addition to tau, springs and dampers.
    If loops share the load with drives, the solution with the least loop forces."""
    a = np.ascontiguousarray(forward(model, batch).v)
    needed = inverse(model, model.changed(batch, torques=False), a) - batch.inputs.tau
    _, driven = balancing_forces(model, model.batch(batch.q), needed)
    return {name: driven[:, i] for i, name in enumerate(model.names.v) if name in model.holds}
