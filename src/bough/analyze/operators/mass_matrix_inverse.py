"""M^-1 as an operator, by the compiled sweeps: the forward dynamics of the state at rest under torques alone."""
import numpy as np

from bough.analyze.impulse import at_rest
from bough.analyze.operators.operator import Operator, Space
from bough.compile.compiled_model import CompiledModel
from bough.compile.kernel_calls import call, lanes_for, workspace
from bough.compile.state_layout import Floats
from bough.sweeps import calls


def compiled_inverse(model: CompiledModel, q: Floats, space: Space) -> Operator:
    """M^-1 of the free speeds at q, four right sides at a time."""
    batch, pars = at_rest(model, q)
    tables, free = batch.tables, np.flatnonzero(model.free)
    rows: dict[int, tuple[Floats, ...]] = {}

    def apply(X: Floats) -> Floats:
        n = X.shape[1]
        if n not in rows:
            rows.clear()                                # room for the last number of right sides
            rows[n] = (np.zeros((n, 2)), np.repeat(batch.x, n, axis=0), np.zeros((n, batch.inputs.layout.nu)),
                       np.zeros((n, model.nv)), np.empty((n, model.nv + model.nw)))
        t, x, u, unchanged, out = rows[n]
        u[:, free] = X.T
        call(calls.impulse, tables, pars, t, x, u, unchanged, out, workspace(tables, lanes_for(n)))
        return out[:, free].T

    return Operator("M^-1", space, space, apply, apply, "by the compiled sweeps, inward and outward")
