"""`bough bench campaign`: its ratios, its plan and its tables, of numbers that are known; a short stream of samples."""
import pytest
from rich.console import Console

from bough.bench.bench_tables import REPORTS
from bough.bench.campaign_bench import ratios, stream
from bough.bench.campaign_plan import limits, message_sizes, planned

pytest.importorskip("zarr")


def shown(result):
    console = Console(record=True, width=140)
    for part in REPORTS["campaign"](result):
        console.print(part)
    return console.export_text()


def test_ratios():
    found = ratios({"bare kernels": {"cpu": 2.0, "wall": 2.0}, "one thread": {"cpu": 2.1, "wall": 2.2},
                    "two threads": {"cpu": 2.2, "wall": 1.1}, "two Dask workers": {"wall": 1.32},
                    "MuJoCo's rollout": {"cpu": 21.0}})
    assert found == pytest.approx({"wall, one thread / two": 2.0, "overhead over bare kernels": 0.05,
                                   "overhead of Dask over threads": 0.2, "CPU, MuJoCo / bough": 10.0})


def test_a_plan_keeps_the_client_idle_nine_tenths_of_the_time():
    """A million samples of 15 s; 15 ms of one client for each block: blocks of 10 samples keep it a tenth busy on 1000 cores."""
    message, write, task = message_sizes(), {"block": 0.010, "sample": 0.0, "bytes per second": 1e8}, {"seconds": 0.005}
    plan = {str(cores): planned(cores, 15.0, message, write, task) for cores in (1, 100, 1000)}
    assert plan["1"]["days"] == pytest.approx(1e6*15.0/86400)
    assert [plan[cores]["block"] for cores in plan] == [4, 4, 12]            # whole lanes
    assert plan["1000"]["scheduler busy"] + plan["1000"]["store busy"] == pytest.approx(1000*0.015/(12*15.0))
    assert 8*15 + 1 <= message["sample"] < 8*15 + 8                         # ten parameters, five metrics, a status
    text = shown({"unit": "plan", "plan": plan, "limits": limits(message, write, task), "message": message, "write": write,
                  "task": task, "sample": {"setup": 0.1, "step": 1e-5, "seconds": 15.0}})
    assert "blocks per second, at most: 66.7" in text


def test_a_stream_of_samples():
    found = stream(2000)
    assert (found["samples"], found["failed"]) == (2000, 0)
    assert found["peak memory, MB"] > 50.0
    assert "2,000 samples of a pendulum" in shown(found)
