"""`bough bench gym` compares the same motion."""
import numpy as np
import pytest

from bough.bench.bench_tables import REPORTS
from bough.bench.gym_bench import compare
from bough.bench.mechanisms import tree36
from bough.bench.setups import random_states

pytest.importorskip("mujoco")


@pytest.mark.oracle
def test_environments_move_as_mujoco_s_do():
    """100 steps of the same RK4: under uniform gravity joint angles do not depend on the base's attitude, which the engines
    integrate each in its own way, so that only the rounding of 400 solutions is left, each eps cond(M)."""
    model, found = tree36().compile(), compare(5, 2)
    cond = max(np.linalg.cond(M) for M in model.mass_matrix(random_states(model, 64)[0]))
    assert 0.0 < found["bough"]["difference"] < 400*np.finfo(float).eps*cond
    assert found["mujoco"]["ratio"] == 1.0
    [table] = REPORTS["gym"]({"steps": {5: found}})
    assert table.row_count == 2
