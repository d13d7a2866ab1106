"""Joint reactions, the forces that hold locked and prescribed coordinates, and torques of driven coordinates.

With closed loops these torques are the least squares for accelerations that the loops allow:

    M a + h = tau + J^T lambda,   J a + gamma = 0,   tau = 0 where nothing drives

Multipliers lambda that need no torque there are not unique; least squares selects one set.
"""
from collections.abc import Sequence

import numpy as np

from bough.analyze.bodies import observe
from bough.analyze.equations_of_motion import forward, inverse
from bough.analyze.loop_constraints import named_speeds, open_loops
from bough.analyze.loop_forces import RowSpace, balancing_forces, with_loop_wrenches
from bough.analyze.loop_rows import ACCELERATION, loop_terms, row_sizes
from bough.compile.batch import Batch, finite
from bough.compile.compiled_model import CompiledModel
from bough.compile.layout import Floats
from bough.errors import StateError
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
    hinges = len(batch.tables.tree.hinges) - 1
    out = np.empty((batch.n, 6*hinges))
    model.call(calls.hinge_wrenches, batch, a, out)
    finite(out, "reactions", batch)
    attitude = observe(model, batch, a).attitude
    index = [batch.tables.tree.attachments[name].hinge - 1 for name in model.names.bodies]
    world = out.reshape(batch.n, hinges, 2, 3)[:, index]
    return np.einsum("bkij,bkci->bkcj", attitude, world).reshape(batch.n, -1, 6)


def drive_forces(model: CompiledModel, batch: Batch) -> dict[str, Floats]:
    """(batch,) by locked or prescribed coordinate: the force or torque that holds it, in addition to tau, springs and dampers.
    If loops share the load with drives, the solution with the least loop forces."""
    a = np.ascontiguousarray(forward(model, batch).v)
    needed = inverse(model, model.changed(batch, torques=False), a) - batch.inputs.tau
    _, driven = balancing_forces(model, model.batch(batch.q), needed)
    return {name: driven[:, i] for i, name in enumerate(model.names.v) if name in model.holds}


# ---- torques of driven coordinates ---------------------------------------------------------------------------------------
ALLOWED = 1e-6              # relative to the largest terms: tolerated opening of loops, and tolerated missing torque


def driving_torques(model: CompiledModel, batch: Batch, a: Floats, driven: Sequence[str] | None) -> Floats:
    """(batch, nv): torques of the driven coordinates with the least sum of squares; zero for all others."""
    needed = inverse(model, batch, a)
    idle = np.zeros(model.nv, bool) if driven is None else model.free & ~named_speeds(model, driven, "driven")
    scale = np.abs(needed).max(axis=1, initial=0.0, keepdims=True)
    if model.constrained:
        J = allowed_rows(model, batch, a)
        held = RowSpace.of(J[:, :, idle])                                   # loop forces along undriven coordinates
        forces = held.least(needed[:, idle])
        needed, spare = needed - transposed(J, forces), held.void           # combinations of rows without effect on these
        rest = RowSpace.of(np.einsum("bjn,bjv->bnv", spare, J)).least(needed)
        needed = needed - transposed(J, np.einsum("bjn,bn->bj", spare, rest))
    lacking = np.where(idle, np.abs(needed), 0.0)
    for row in np.flatnonzero((lacking > ALLOWED*scale).any(axis=1))[:1]:
        i = int(lacking[row].argmax())
        raise StateError(f"driven: the accelerations{batch.where(row)} need {needed[row, i]:.6g} along '{model.names.v[i]}', "
                         "which is not driven; drive it, or others that move it, or give other accelerations")
    return np.where(idle, 0.0, needed)


def allowed_rows(model: CompiledModel, batch: Batch, a: Floats) -> Floats:
    """(batch, rows, nv): the generalized forces of a unit force or moment in each row of the loops. Raises if the accelerations
    would open the loops."""
    gamma, J = loop_terms(model, batch, ACCELERATION)
    parting = gamma + np.einsum("bjv,bv->bj", J, a)
    gravity = 0.0 if model.in_orbit else float(np.linalg.norm(np.asarray(model.system.gravity)))
    scale = np.abs(J).max(axis=(1, 2))*(np.abs(a) + batch.v**2).max(axis=1) + np.abs(gamma).max(axis=1) + gravity
    for row in np.flatnonzero(np.abs(parting).max(axis=1) > ALLOWED*scale)[:1]:
        what = "loops" if model.system.loops else "couplings"
        raise StateError(f"the accelerations{batch.where(row)} part {what}: {open_loops(model, parting[row], '/s^2')}; give such "
                         f"as the {what} allow, for instance those that forward_dynamics finds")
    return np.asarray(J/row_sizes(batch.tables.fronts.closures)[:, None])


def transposed(J: Floats, forces: Floats) -> Floats:
    """(batch, nv): J^T forces."""
    return np.einsum("bjv,bj->bv", J, forces)
