"""`bough bench calls`: every call by every engine that has it, and a table."""
from rich.console import Console

from bough.bench.bench_tables import REPORTS
from bough.bench.calls_bench import ends, measure
from bough.bench.mechanisms import MECHANISMS


def test_calls_are_measured_and_printed():
    model = MECHANISMS["tree36"]().compile()
    assert ends(model) == ("b23", "b31")
    result = {"mechanisms": {"tree36": measure(model, 1)}}
    calls = result["mechanisms"]["tree36"]["calls"]
    assert {"forward dynamics", "forward dynamics, out=", "forward dynamics, kernel", "inverse dynamics", "mass matrix",
            "all poses", "Jacobian of a hand"} <= calls.keys()
    assert all(values["min_us"] > 0.0 for of_call in calls.values() for values in of_call.values())
    console = Console(record=True, width=100)
    for part in REPORTS["calls"](result):
        console.print(part)
    assert "Jacobian of a hand" in console.export_text()
