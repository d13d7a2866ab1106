"""The equations of motion M a + h = tau, solved one way or the other: forward and inverse dynamics, mass matrix."""
from dataclasses import dataclass

import numpy as np

from bough.analyze.dynamics_choice import resolve_dynamics
from bough.analyze.singular_inertia import check_finite
from bough.compile.batch import Batch
from bough.compile.compiled_model import CompiledModel
from bough.compile.kernel_calls import workspace
from bough.compile.state_layout import Floats
from bough.sweeps import calls

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
