"""Inverse dynamics with closed loops: the least-squares torques of the driven coordinates for accelerations that the loops allow.

    M a + h = tau + J^T lambda,   J a + gamma = 0,   tau = 0 where nothing drives

Multipliers lambda that need no torque there are not unique; least squares selects one set.
"""
from collections.abc import Sequence

import numpy as np

from bough.analyze.equations_of_motion import inverse
from bough.analyze.loop_constraints import named_speeds, open_loops
from bough.analyze.loop_forces import RowSpace
from bough.analyze.loop_rows import ACCELERATION, loop_terms, row_sizes
from bough.compile.batch import Batch
from bough.compile.compiled_model import CompiledModel
from bough.compile.layout import Floats
from bough.errors import StateError

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
