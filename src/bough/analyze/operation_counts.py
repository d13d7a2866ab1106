"""Operations of one evaluation of the accelerations of a model, counted while the sweeps run as plain Python."""
import numpy as np

from bough.analyze.counting import OperationCounts, count_operations
from bough.analyze.equations_of_motion import room_for
from bough.compile.batch import Batch
from bough.compile.compiled_model import CompiledModel
from bough.sweeps import fields as f


def operation_counts(model: CompiledModel, batch: Batch, dynamics: str) -> OperationCounts:
    """Of one evaluation of the accelerations of one state, by "order-n", "dense" or "cloud"."""
    tables = batch.tables
    arrays = {"features": np.array(tables.features), "plan": tables.plan, "pars": tables.pars, "tables": tables.tables,
              "t": batch.t, "x": batch.x, "u": batch.u,
              "out": room_for(model, batch, dynamics), "ws": np.zeros(tables.size(f.WS_SIZE) + tables.more(dynamics))}
    return OperationCounts(dynamics, count_operations(f"forward_{dynamics.replace('-', '_')}", arrays)[0])
