"""The equations of motion M a + h = tau: forward and inverse dynamics and the mass matrix.

"auto" selects the momentum cloud if most of the motion is prescribed, otherwise O(N) or the dense mass matrix by size.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from bough import analyze, sweeps
from bough.compile.batch import Batch, finite
from bough.compile.cloud_tables import cloud_is_cheaper
from bough.compile.compiled_model import CompiledModel
from bough.compile.coordinates import sticking_frictions
from bough.compile.kernel_calls import Prepared, run
from bough.compile.layout import Floats
from bough.errors import StateError, similar

# ---- which dynamics --------------------------------------------------------------------------------------------------------
DYNAMICS = ("auto", "order-n", "dense", "cloud")
DENSE_TREE, DENSE_LOOPS = 4, 10         # speeds of flexible systems, open and with loops, up to which the mass matrix is cheaper


def resolve_dynamics(model: CompiledModel, dynamics: str) -> str:
    """The method that "auto" selects with the current holds, or the requested one, if it applies."""
    if not isinstance(dynamics, str) or dynamics not in DYNAMICS:
        raise StateError(f"dynamics is '{dynamics}'{similar(dynamics, DYNAMICS)}; give one of {', '.join(DYNAMICS)}")
    if dynamics == "cloud" and model.no_cloud is not None:
        raise StateError(f"dynamics 'cloud' does not apply to system '{model.system.name}': {model.no_cloud}; use 'auto'")
    if dynamics != "auto":
        return dynamics
    if takes_cloud(model):
        return "cloud"
    return "dense" if takes_dense(model) else "order-n"


def takes_cloud(model: CompiledModel) -> bool:
    """Whether the cloud applies and is cheaper because most of the motion is prescribed."""
    return bool(model.holds) and not model.system.frictions and cloud_is_cheaper(model.tables) and model.no_cloud is None


def takes_dense(model: CompiledModel) -> bool:
    """Whether the mass matrix is cheaper than O(N): only for flexible systems with few speeds (docs/theory/cost.md).  It does not
    depend on held coordinates, so that events do not change the method."""
    if not model.tables.tree.modal or sticking_frictions(model.system):
        return False
    return model.nv <= (DENSE_LOOPS if model.constrained else DENSE_TREE)


def reason(model: CompiledModel) -> str:
    """The method that "auto" selects, and why."""
    if takes_cloud(model):
        return f"cloud: all but {model.free.sum()} speed{'s'*(int(model.free.sum()) != 1)} are given"
    if not model.tables.tree.modal:
        return "order-n: no body is flexible"
    limit, kind = (DENSE_LOOPS, "with loops") if model.constrained else (DENSE_TREE, "without loops")
    more = "at most" if takes_dense(model) else "more than"
    return f"{resolve_dynamics(model, 'auto')}: {model.nv} speeds, {more} {limit} of a flexible system {kind}"


# ---- equations of motion ---------------------------------------------------------------------------------------------------
def forward_kernel(method: str) -> Any:
    """What solves them by a method."""
    calls = sweeps.calls
    return {"order-n": calls.forward_order_n, "dense": calls.forward_dense, "cloud": calls.forward_cloud}[method]


class Accelerations(NamedTuple):
    """Rows of the forward dynamics, or of their derivatives, and their parts."""
    rows: Floats
    v: Floats               # v'
    wheels: Floats
    orbit: Floats           # velocity and acceleration of the mass center; empty without central gravity
    multipliers: Floats     # of loops, padded to fours, loop by loop; empty for the cloud

    @staticmethod
    def of(model: CompiledModel, rows: Floats) -> "Accelerations":
        wheels, orbit = model.nv, model.nv + model.nw
        loops = orbit + 6*model.in_orbit
        return Accelerations(rows, rows[..., :wheels], rows[..., wheels:orbit], rows[..., orbit:loops], rows[..., loops:])


def room_for(model: CompiledModel, batch: Batch, dynamics: str) -> Floats:
    """The array for accelerations and multipliers."""
    multipliers = 0 if dynamics == "cloud" else batch.tables.fronts.size
    return np.empty((batch.n, model.nv + model.nw + 6*model.in_orbit + multipliers))


def forward_call(model: CompiledModel, batch: Batch, dynamics: str) -> tuple[partial[Any], Floats]:
    """The kernel for the accelerations of a batch, and its output array."""
    chosen = resolve_dynamics(model, dynamics)
    out = room_for(model, batch, chosen)
    return model.bound(forward_kernel(chosen), batch, batch.t, batch.x, batch.u, out, extra=batch.tables.more(chosen)), out


def forward(model: CompiledModel, batch: Batch, dynamics: str = "auto") -> Accelerations:
    """Accelerations under the inputs of a batch."""
    call, out = forward_call(model, batch, dynamics)
    run(call)
    check_finite(model, batch, out)
    return Accelerations.of(model, out)


def check_finite(model: CompiledModel, batch: Batch, out: Floats) -> None:
    """Raise if infinite or suspiciously large accelerations come from a joint without inertia along its motion."""
    if not (np.abs(out) < sweeps.calls.SUSPECT).all():
        analyze.singular_joints.explain_accelerations(model, batch, out)


def inverse_call(model: CompiledModel, batch: Batch, a: Floats) -> tuple[partial[Any], Floats]:
    out = np.empty((batch.n, model.nv))
    return model.bound(sweeps.calls.inverse, batch, batch.t, batch.x, batch.u, a, out), out


def inverse(model: CompiledModel, batch: Batch, a: Floats) -> Floats:
    """(n, nv): joint torques that produce the accelerations a, in addition to those in the inputs of the batch."""
    call, out = inverse_call(model, batch, a)
    run(call)
    return finite(out, "joint torques", batch)


def mass_matrix_call(model: CompiledModel, batch: Batch) -> tuple[partial[Any], Floats]:
    out = np.empty((batch.n, model.nv**2))
    call = model.bound(sweeps.calls.mass_matrix, batch, batch.t, batch.x, batch.u, out, extra=model.nv**2)
    return call, out.reshape(batch.n, model.nv, model.nv)


def mass_matrices(model: CompiledModel, batch: Batch) -> Floats:
    """(n, nv, nv), by composite bodies."""
    call, out = mass_matrix_call(model, batch)
    run(call)
    return finite(out, "entries of the mass matrix", batch)


# ---- prepared, for one thread ----------------------------------------------------------------------------------------------
def prepare_forward(model: CompiledModel, dynamics: str) -> Prepared:
    """From q, v and tau: v'."""
    batch = model.batch(model.q0)
    call, out = forward_call(model, batch, dynamics)
    return Prepared(call, out[0, :model.nv], batch.q[0], batch.v[0], batch.inputs.tau[0], t=batch.t)


def prepare_inverse(model: CompiledModel) -> Prepared:
    """From q, v and v': tau."""
    batch, a = model.batch(model.q0), np.zeros((1, model.nv))
    call, out = inverse_call(model, batch, a)
    return Prepared(call, out[0], batch.q[0], batch.v[0], a[0], t=batch.t)


def prepare_mass_matrix(model: CompiledModel) -> Prepared:
    """From q: M."""
    batch = model.batch_at(model.q0)
    call, out = mass_matrix_call(model, batch)
    return Prepared(call, out[0], batch.q[0])


def mass_matrix_at(model: CompiledModel, q: Floats) -> Floats:
    """(nv, nv) of one position, without checks; valid until the next call."""
    ready = model.ready(prepare_mass_matrix)
    M: Floats = ready.answer if ready.solves(q) else mass_matrices(model, model.batch_at(q))[0]
    return M
