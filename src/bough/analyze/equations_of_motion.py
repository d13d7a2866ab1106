"""Which dynamics "auto" means: the momentum cloud where most of the motion is given, else O(N) or dense by a rule of size.

The equations of motion M a + h = tau, solved one way or the other: forward and inverse dynamics, mass matrix.
"""

from dataclasses import dataclass

import numpy as np

from bough.analyze.singular_inertia import check_finite
from bough.compile.batch import Batch, workspace
from bough.compile.cloud_tables import mostly_given
from bough.compile.compiled_model import CompiledModel
from bough.compile.layout import Floats
from bough.errors import StateError, nearest
from bough.sweeps import calls

DYNAMICS = ("auto", "order-n", "dense", "cloud")
DENSE_TREE, DENSE_LOOPS = 4, 10         # speeds of flexible systems, open and with loops, up to which the mass matrix is cheaper


def resolve_dynamics(model: CompiledModel, dynamics: str) -> str:
    """What "auto" means for what is held now, or what is asked for, if it applies."""
    if dynamics not in DYNAMICS:
        raise StateError(f"dynamics is '{dynamics}'{nearest(dynamics, DYNAMICS)}; one of {', '.join(DYNAMICS)}")
    if dynamics == "cloud" and model.no_cloud is not None:
        raise StateError(f"dynamics 'cloud' does not apply to system '{model.system.name}': {model.no_cloud}; use 'auto'")
    if dynamics != "auto":
        return dynamics
    if takes_cloud(model):
        return "cloud"
    return "dense" if takes_dense(model) else "order-n"


def takes_cloud(model: CompiledModel) -> bool:
    """Whether the cloud applies, and so much of the motion is given that it is cheaper."""
    return bool(model.holds) and mostly_given(model.tables) and model.no_cloud is None


def takes_dense(model: CompiledModel) -> bool:
    """Whether the mass matrix is cheaper than O(N): of flexible systems with few speeds only (docs/theory/cost.md).  It does not
    depend on what is held: an event changes no method."""
    if not model.tables.parts.modal:
        return False
    return model.nv <= (DENSE_LOOPS if model.system.loops else DENSE_TREE)


def reason(model: CompiledModel) -> str:
    """What "auto" means, and why."""
    if takes_cloud(model):
        return f"cloud: all but {model.free.sum()} speed{'s'*(int(model.free.sum()) != 1)} are given"
    if not model.tables.parts.modal:
        return "order-n: no body is flexible"
    limit, kind = (DENSE_LOOPS, "with loops") if model.system.loops else (DENSE_TREE, "without loops")
    more = "at most" if takes_dense(model) else "more than"
    return f"{resolve_dynamics(model, 'auto')}: {model.nv} speeds, {more} {limit} of a flexible system {kind}"


# ---- equations of motion ---------------------------------------------------------------------------------------------------
KERNELS = {"order-n": calls.forward_order_n, "dense": calls.forward_dense, "cloud": calls.forward_cloud}


@dataclass(frozen=True)
class Accelerations:
    """What the forward dynamics finds, in rows: v', accelerations of the wheels, rates of the orbit, multipliers of the loops."""
    model: CompiledModel
    rows: Floats

    @property
    def v(self) -> Floats:
        return self.rows[:, :self.model.nv]

    @property
    def wheels(self) -> Floats:
        return self.rows[:, self.model.nv:self.model.nv + self.model.nw]

    @property
    def multipliers(self) -> Floats:
        """Padded to fours, loop by loop; empty by the cloud."""
        return self.rows[:, self.model.nv + self.model.nw + 6*self.model.in_orbit:]


def room_for(model: CompiledModel, batch: Batch, dynamics: str) -> Floats:
    """Where a kernel puts accelerations and multipliers."""
    multipliers = 0 if dynamics == "cloud" else batch.tables.fronts.size
    return np.empty((batch.n, model.nv + model.nw + 6*model.in_orbit + multipliers))


def forward(model: CompiledModel, batch: Batch, dynamics: str = "auto") -> Accelerations:
    """Accelerations under the inputs of a batch."""
    chosen = resolve_dynamics(model, dynamics)
    out = room_for(model, batch, chosen)
    model.call(KERNELS[chosen], batch, out, ws=workspace(batch.tables, batch.lanes, batch.tables.more(chosen)))
    check_finite(model, batch, out)
    return Accelerations(model, out)


def inverse(model: CompiledModel, batch: Batch, a: Floats) -> Floats:
    """(n, nv): joint torques that give the accelerations a, besides those in the inputs of the batch."""
    out = np.empty((batch.n, model.nv))
    model.call(calls.inverse, batch, a, out)
    return out


def mass_matrices(model: CompiledModel, batch: Batch) -> Floats:
    """(n, nv, nv), by composite bodies."""
    out = np.empty((batch.n, model.nv**2))
    model.call(calls.mass_matrix, batch, out, ws=workspace(batch.tables, batch.lanes, model.nv**2))
    return out.reshape(batch.n, model.nv, model.nv)
