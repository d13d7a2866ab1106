"""The benchmark of steps measures what it says, and its tables hold the numbers."""
from rich.console import Console

from bough.bench import bench_tables
from bough.bench.calls_bench import PORTS, laws, steps, with_ports
from bough.bench.mechanisms import arm7


def test_what_is_measured_is_shown():
    found = {"steps": {"arm7": steps(arm7().compile(), 2)}, "laws": {"arm7": laws(with_ports(arm7()), 2)}}
    of_steps, of_laws = found["steps"]["arm7"], found["laws"]["arm7"]
    assert of_steps["sim.step() - kernel"] == of_steps["sim.step()"]["min_us"] - of_steps["kernel"]["min_us"]
    assert set(PORTS) <= set(of_laws)
    console = Console(width=200)
    with console.capture() as told:
        console.print(*bench_tables.steps(found))
    for number in (*(of_steps[name]["min_us"] for name in ("kernel", "sim.step()", "call")), of_laws["none"]["min_us"]):
        assert f"{number:.2f}" in told.get()
