"""The benchmark of the operators measures what it says, and its tables hold the numbers."""
import pytest
from rich.console import Console

from bough.bench.bench_tables import REPORTS
from bough.bench.mechanisms import chain
from bough.bench.operators_bench import of_inverse, of_partition, of_points
from tests.support.tolerance import CANCELLING


@pytest.fixture(scope="module")
def measured():
    model = chain(3, ("gimbal",)).compile()
    return {"inverse": {"chain": of_inverse(model, 1)}, "points": {"8": of_points(8, 1)},
            "partition": {"chain": of_partition(model, 1)}}


def test_both_forms_solve_alike(measured):
    found = measured["partition"]["chain"]
    assert found["links"] == [10, 4]
    assert found["speeds"] == 15
    assert found["difference"] < CANCELLING
    assert found["difference in energy"] < CANCELLING
    assert found["whole/partitioned"] == found["whole"]/found["partitioned"]
    assert found["whole"] == found["whole, factors"] + found["whole, solution"]


def test_what_is_measured_is_shown(measured):
    console = Console(width=200)
    inverse, points, partition = REPORTS["operators"](measured)
    with console.capture() as told:
        console.print(inverse, partition)
    assert f"{measured['inverse']['chain']['inverse/forward']:.3g}" in told.get()
    assert f"{measured['partition']['chain']['whole']:.3g}" in told.get()
    assert f"8 links {measured['points']['8']['from the state, per link']:.3g}" in points
