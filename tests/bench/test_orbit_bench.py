"""`bough bench orbit` measures the same satellite with and without central gravity, and shows what it found."""
from rich.console import Console

from bough.bench.bench_tables import REPORTS
from bough.bench.orbit_bench import WHERE, satellite


def test_the_satellite_is_the_same_but_for_gravity():
    uniform, orbit = (satellite(gravity).compile() for gravity in WHERE.values())
    assert uniform.names.q == orbit.names.q
    assert (uniform.in_orbit, orbit.in_orbit) == (False, True)


def test_what_is_measured_is_shown():
    found = {"uniform": {"min_us": 7.1, "median_us": 7.3}, "orbit": {"min_us": 7.81, "median_us": 8.0}, "more": 0.1}
    console = Console(width=120)
    with console.capture() as shown:
        console.print(*REPORTS["orbit"]({"steps": {"one state": found}}))
    assert all(text in shown.get() for text in ("one state", "7.10", "7.81", "10.0 %"))
