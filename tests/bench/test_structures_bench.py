"""`bough bench structures` reads, checks and reduces what it wrote, and shows how long that took."""
from rich.console import Console

from bough.bench.bench_tables import REPORTS
from bough.bench.structures_bench import MODES, from_files, write_panel


def test_small_panel_goes_through(tmp_path):
    dofs = write_panel(tmp_path, (4, 2, 1))
    found = from_files(tmp_path)
    assert found["modes"] == MODES + 12
    assert not found["problems"]
    console = Console(width=120)
    with console.capture() as shown:
        console.print(*REPORTS["structures"]({"dofs": dofs, "total_s": 1.0, **found}))
    assert all(text in shown.get() for text in (f"{dofs} dofs", "reduce it", "open the body"))
