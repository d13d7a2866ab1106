"""A benchmark's numbers as tables."""
from typing import Any

from rich.box import SIMPLE
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


def flexible_table(result: dict[str, Any]) -> Table:
    """Modes by kind of body: microseconds by O(N), in lanes, dense, in Exudyn; and the ratios."""
    title = f"microseconds per evaluation, {result['chain'].partition(';')[0]}"
    table = Table(title=title, title_style="bold", box=SIMPLE, pad_edge=False, padding=(0, 1, 0, 0))
    for name in ("modes", "kind"):
        table.add_column(name, no_wrap=True)
    for name in ("O(N)", "lanes", "dense", "Exudyn", "x dense", "x lanes", "x Exudyn"):
        table.add_column(name, justify="right", no_wrap=True)
    for modes, measured in result["modes"].items():
        peer = measured.get("exudyn", {})
        for i, (kind, values) in enumerate((kind, values) for kind, values in measured.items() if kind != "exudyn"):
            times = [f"{values[engine]:.3g}" for engine in ("order-n", "order-n, four lanes", "dense")]
            ratios = [f"{values[ratio]:.1f}" for ratio in ("dense/order-n", "lanes")]
            against = f"{peer[f'evaluation/{kind}']:.1f}" if peer else ""
            table.add_row("" if i else modes, kind, *times, f"{peer['evaluation']:.0f}" if peer else "", *ratios, against)
        table.add_section()
    return table


def growth_text(result: dict[str, Any]) -> str:
    """How the time per link grows with the number of links."""
    return "microseconds per link: " + ", ".join(f"{links} links {time:.3f}" for links, time in result["growth"].items())


def loops_table(result: dict[str, Any]) -> Table:
    """Mechanism by mechanism: each engine's microseconds, its ratio to the fastest peer, what it leaves of the loops' equations."""
    table = Table(title="microseconds per evaluation with closed loops", title_style="bold", box=SIMPLE, pad_edge=False)
    for name in ("mechanism", "engine"):
        table.add_column(name, no_wrap=True)
    for name in ("us", "per loop", "x peer", "error"):
        table.add_column(name, justify="right", no_wrap=True)
    mechanisms = {f"{n} four-bars": measured for n, measured in result["chains"].items()} | {"platform": result["platform"]}
    for mechanism, measured in mechanisms.items():
        engines = {engine: told for engine, told in measured.items() if "us" in told}
        for i, (engine, told) in enumerate(engines.items()):
            per_loop, ratio = measured["us per loop"].get(engine), measured.get("times faster", {}).get(engine)
            short = {"order-n": "O(N)", "order-n, four lanes": "four lanes"}.get(engine, engine)
            table.add_row("" if i else mechanism, short, f"{told['us']:.4g}", f"{per_loop:.3f}" if per_loop else "",
                          f"{ratio:.1f}" if ratio else "", f"{told['error']:.1e}")
        table.add_section()
    return table


def momentum_table(result: dict[str, Any]) -> Table:
    """Tree by tree: microseconds by the cloud and by O(N), one state and four lanes, and how many times faster the cloud is."""
    table = Table(title="microseconds per evaluation, relative motions prescribed", title_style="bold", box=SIMPLE, pad_edge=False,
                  padding=(0, 1, 0, 0), caption="4: four states at a time")
    for name in ("tree", "bodies"):
        table.add_column(name, no_wrap=True)
    for name in ("cloud", "O(N)", "x", "4 cloud", "4 O(N)", "x", "error"):
        table.add_column(name, justify="right", no_wrap=True)
    trees = [(name, n, told) for name, of in result["trees"].items() for n, told in of.items()]
    for name, n, told in [*trees, ("turbine", "6", result["turbine"])]:
        times = [f"{told[engine]['us']:.3g}" for engine in ("cloud", "order-n", "cloud, four lanes", "order-n, four lanes")]
        faster = [f"{told['times faster'][engine]:.2f}" for engine in ("one state", "four lanes")]
        table.add_row(name, n, *times[:2], faster[0], *times[2:], faster[1], f"{told['error']:.1e}")
    return table


def jsc_table(result: dict[str, Any]) -> Table:
    """Case by case: sizes, microseconds per step, times real time, how far the two runs are apart, gap, the paper's seconds."""
    title = f"JSC cases, {result['seconds']:g} s each: microseconds per step"
    table = Table(title=title, title_style="bold", box=SIMPLE, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("case", no_wrap=True)
    for name in ("bodies", "joint", "modes", "loops", "O(N)", "dense", "x dense", "x real", "apart", "gap", "paper, s"):
        table.add_column(name, justify="right", no_wrap=True)
    for number, told in result["cases"].items():
        kind = f"{number:>2} {'RF'[told['flexible']]}{told['configuration']} {'open' if not told['closed'] else 'closed'}"
        times, paper = told["us per step"], told["seconds of the paper"]
        table.add_row(
            kind, *(str(told[size]) for size in ("bodies", "joint dofs", "modes", "loops")), f"{times['order-n']:.3g}",
            f"{times['dense']:.3g}", f"{told['dense/order-n']:.2f}", f"{told['times real time']['order-n']:.3g}",
            f"{max(told['difference'].values()):.0e}", "" if told["gap"] is None else f"{told['gap']:.0e}",
            f"{paper['order-n']:.0f} / {paper['dense']:.0f}" if paper else "lost",
            end_section=int(number) % 4 == 0)
    return table


def jsc_peers_table(result: dict[str, Any]) -> Table:
    """The rigid cases: microseconds per evaluation here and in each peer, and how many times faster."""
    table = Table(title="rigid cases: microseconds per evaluation", title_style="bold", box=SIMPLE, pad_edge=False)
    for name in ("case", "engine"):
        table.add_column(name, no_wrap=True)
    for name in ("us", "O(N) is x faster", "difference"):
        table.add_column(name, justify="right", no_wrap=True)
    for number, told in result["cases"].items():
        engines = {name: values for name, values in told.get("evaluation", {}).items() if name != "times faster"}
        for i, (engine, values) in enumerate(engines.items()):
            ratio = told["evaluation"].get("times faster", {}).get(f"than {engine}")
            table.add_row("" if i else number, "O(N)" if engine == "order-n" else engine, f"{values['us']:.3g}",
                          f"{ratio:.1f}" if ratio else "", f"{values['difference']:.0e}")
        table.add_section()
    return table


def plain_table(title: str, first: str, columns: tuple[str, ...], rows: dict[str, tuple[str, ...]]) -> Table:
    """Rows of numbers under their names."""
    table = Table(title=title, title_style="bold", box=SIMPLE, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column(first, no_wrap=True)
    for name in columns:
        table.add_column(name, justify="right")
    for name, row in rows.items():
        table.add_row(name, *row)
    return table


def inverse_table(result: dict[str, Any]) -> Table:
    """M^-1 applied to a vector beside forward dynamics: called from Python, and the kernels alone."""
    rows = {name: tuple(f"{values[key]:.3g}" for kernel in ("", ", kernel")
                        for key in (f"forward{kernel}", f"inverse{kernel}", f"inverse/forward{kernel}"))
            for name, values in result["inverse"].items()}
    columns = ("forward", "M^-1", "ratio", "kernels: forward", "M^-1", "ratio")
    return plain_table("M^-1 of a vector and forward dynamics, microseconds", "system", columns, rows)


def points_text(result: dict[str, Any]) -> str:
    """How the time for the ends of a chain grows with its length."""
    times = (f"{n} links {values['from the state, per link']:.3g}" for n, values in result["points"].items())
    return "operational-space inertia of both ends of a chain, microseconds per link: " + ", ".join(times)


def partition_table(result: dict[str, Any]) -> Table:
    """One recursion over the links of the partition and over whole joints, and the sweeps."""
    columns = {"parts": "partitioned", "whole": "whole", "sweeps": "sweeps", "x": "whole/partitioned",
               "factors": "whole/partitioned, factors", "solution": "whole/partitioned, solution", "written": "written/partitioned",
               "apart": "difference"}
    rows = {name: tuple(f"{values[key]:.0e}" if key == "difference" else f"{values[key]:.3g}" for key in columns.values())
            for name, values in result["partition"].items()}
    title = "ten bodies: factors and one solution by the partition, by whole joints; how many times faster the parts are"
    return plain_table(title, "us", tuple(columns), rows)


def cost_table(result: dict[str, Any]) -> Table:
    """Modes by method: multiplications and additions as counted and as the paper has them, and the ratio of their sums."""
    table = Table(title=f"operations of {result['chain']}", title_style="bold", box=SIMPLE, pad_edge=False)
    for name in ("modes", "method"):
        table.add_column(name, no_wrap=True)
    for name in ("mult.", "add.", "paper's mult.", "paper's add.", "ratio"):
        table.add_column(name, justify="right", no_wrap=True)
    for modes, methods in result["modes"].items():
        for i, (method, told) in enumerate(methods.items()):
            numbers = [f"{told[whose][kind]}" for whose in ("counted", "paper") for kind in ("multiplications", "additions")]
            table.add_row("" if i else modes, method, *numbers, f"{told['ratio']:.2f}")
    return table


def auto_table(result: dict[str, Any]) -> Table:
    """System by system, one state and four lanes: times of both methods, the choice and what it costs."""
    title = "microseconds per evaluation and state: one state, in lanes; what auto chooses, and what that loses"
    table = Table(title=title, title_style="bold", box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for name in ("system", "dofs"):
        table.add_column(name, no_wrap=True)
    for name in ("O(N)", "dense", "auto", "lanes O(N)", "dense", "auto"):
        table.add_column(name, justify="right", no_wrap=True)
    for name, told in result["systems"].items():
        cells, choice = [], told["choice"].replace("order-n", "O(N)")
        for lanes in ("one state", "four lanes"):
            times = [told[lanes]["order-n"], told[lanes]["dense"]]
            cells += [f"{time:.0f}" if time >= 100.0 else f"{time:.3g}" for time in times]
            cells.append(f"{choice} {100*told[lanes]['loss']:.0f}%")
        table.add_row(name, str(told["dofs"]), *cells)
    return table


def worst_text(result: dict[str, Any]) -> str:
    """The largest loss of auto."""
    worst = result["worst"]
    return f"largest loss: {100*worst['loss']:.1f} % ({worst['system']}, {worst['lanes']})"
