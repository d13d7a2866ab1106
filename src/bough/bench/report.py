"""A benchmark's numbers as a table."""
from typing import Any

from rich.table import Table


def forward_table(result: dict[str, Any]) -> Table:
    """Mechanism by mechanism: each engine's minimum and median in microseconds, and how many times faster than the peer."""
    table = Table(title="microseconds per state (rk4: per step), minimum / median", title_style="bold")
    for name in ("mechanism", "bodies", "dofs", "task", "engine"):
        table.add_column(name)
    for name in ("min", "median", "x peer"):
        table.add_column(name, justify="right")
    for mechanism, measured in result["mechanisms"].items():
        first = True
        for task in ("forward", "inverse", "rk4"):
            for engine, values in measured.get(task, {}).items():
                ratio = f"{values['ratio']:.1f}" if "ratio" in values else ""
                head = (mechanism, str(measured["bodies"]), str(measured["dofs"])) if first else ("", "", "")
                table.add_row(*head, task, engine, f"{values['min_us']:.3f}", f"{values['median_us']:.3f}", ratio)
                first = False
        table.add_section()
    return table
