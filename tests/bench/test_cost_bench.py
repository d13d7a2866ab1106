"""The benchmarks of cost count and compare what they say, and their tables hold the numbers."""
import pytest
from rich.console import Console

from bough.bench.auto_bench import evaluate_choice, timed
from bough.bench.bench_tables import REPORTS
from bough.bench.cost_bench import draw, of_chain
from bough.bench.mechanisms import ZOO, arm7, flexible_arm


def shown(table):
    console = Console(width=120)
    with console.capture() as told:
        console.print(table)
    return told.get()


def test_the_zoo_is_as_large_and_as_varied_as_it_should_be():
    sizes = {name: make() for name, make in ZOO.items()}
    dofs = [sum(body.joint.n_v + body.n_modes for body in system.bodies.values()) for system in sizes.values()]
    assert len(ZOO) >= 20
    assert (min(dofs), max(dofs)) == (2, 500)
    kinds = {(any(body.n_modes for body in system.bodies.values()), bool(system.loops)) for system in sizes.values()}
    assert kinds == {(False, False), (False, True), (True, False), (True, True)}


@pytest.fixture(scope="module")
def told():
    model = arm7().compile()
    return evaluate_choice(model, timed({"arm7": model}, 1)["arm7"])


def test_a_loss_is_what_the_choice_costs(told):
    for lanes in ("one state", "four lanes"):
        taken = told[lanes]
        assert taken["loss"] == taken[told["choice"]]/min(taken["order-n"], taken["dense"]) - 1.0
    assert told["choice"] == "order-n"


def test_what_is_measured_is_shown(told):
    worst = {"loss": 0.051, "system": "arm7", "lanes": "one state"}
    table, line = REPORTS["auto"]({"systems": {"arm7": told}, "worst": worst, "figure": None})
    assert f"{told['four lanes']['dense']:.3g}" in shown(table)
    assert line == "largest loss: 5.1 % (arm7, one state)"


def test_counts_are_shown_and_drawn(tmp_path):
    found = {"chain": "links", "modes": {"0": of_chain(flexible_arm(10, 0), 0)}}
    counted = found["modes"]["0"]["order-n"]
    assert counted["counted"]["flops"] == sum(part["flops"] for part in counted["parts"].values())
    assert counted["ratio"] == counted["counted"]["flops"]/5340
    table, wrote = REPORTS["cost"](found | {"figure": "operations.png"})
    assert str(counted["counted"]["multiplications"]) in shown(table)
    assert wrote == "wrote operations.png"
    assert draw(found["modes"], tmp_path / "figures").stat().st_size > 1000
