"""What joints transmit and what drives them: reactions, and the forces that hold locked and prescribed coordinates."""
import numpy as np

from bough.analyze.body_motion import observe
from bough.analyze.equations_of_motion import forward, inverse
from bough.analyze.loop_forces import balancing_forces, with_loop_wrenches
from bough.compile.batch import Batch
from bough.compile.compiled_model import CompiledModel
from bough.compile.state_layout import Floats
from bough.sweeps import calls


def reactions(model: CompiledModel, batch: Batch, a: Floats) -> Floats:
    """(batch, bodies, 6): what the parent exerts on the body, at the joint's origin on the body, in the body's axes.

    Joint torques of the batch matter where loops are closed: what they do not give, the loops must."""
    if model.system.loops:
        needed = inverse(model, model.changed(batch, torques=False), a) - batch.inputs.tau
        forces, _ = balancing_forces(model, model.batch(batch.q), needed)
        return hinge_loads(model, with_loop_wrenches(model, batch, forces), a)
    return hinge_loads(model, model.changed(batch, torques=False, keep_welds=True), a)


def hinge_loads(model: CompiledModel, batch: Batch, a: Floats) -> Floats:
    """Reactions, where the tables keep the welds and the forces of the loops are among the wrenches."""
    hinges = len(batch.tables.parts.hinges) - 1
    out = np.empty((batch.n, 6*hinges))
    model.call(calls.hinge_wrenches, batch, a, out)
    attitude = observe(model, batch, a).attitude
    index = [batch.tables.parts.attachments[name].hinge - 1 for name in model.names.bodies]
    world = out.reshape(batch.n, hinges, 2, 3)[:, index]
    return np.einsum("bkij,bkci->bkcj", attitude, world).reshape(batch.n, -1, 6)


def drive_forces(model: CompiledModel, batch: Batch) -> dict[str, Floats]:
    """(batch,) by locked or prescribed coordinate: the force or torque that holds it so, besides tau, springs and dampers.
    Where loops share it with drives, the one with the least loop forces."""
    a = np.ascontiguousarray(forward(model, batch).v)
    needed = inverse(model, model.changed(batch, torques=False), a) - batch.inputs.tau
    if model.system.loops:
        forces, J = balancing_forces(model, model.batch(batch.q), needed)
        needed = needed - np.einsum("bji,bj->bi", J, forces)
    return {name: needed[:, i] for i, name in enumerate(model.names.v) if name in model.holds}
