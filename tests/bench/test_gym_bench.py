"""`bough bench gym` compares the same motion."""
import pytest

from bough.bench.bench_tables import REPORTS
from bough.bench.gym_bench import compare

pytest.importorskip("mujoco")


@pytest.mark.oracle
def test_environments_move_as_mujoco_s_do():
    """100 steps of RK4 of 1 ms each: both engines have the same method, so that angles differ by rounding, and by how
    quaternions are integrated, of fifth order in the step."""
    found = compare(5, 2)
    assert found["bough"]["difference"] < 1e-9
    assert found["mujoco"]["ratio"] == 1.0
    [table] = REPORTS["gym"]({"steps": {5: found}})
    assert table.row_count == 2
