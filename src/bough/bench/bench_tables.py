"""A benchmark's numbers as tables and lines of text."""
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from rich.box import SIMPLE
from rich.table import Table


def empty_table(title: str, texts: Sequence[str], numbers: Sequence[str], *, wrap: bool = False, **style: Any) -> Table:
    """A table with columns of text, then columns of numbers."""
    options: dict[str, Any] = {"title_style": "bold", "box": SIMPLE, "pad_edge": False, "padding": (0, 1, 0, 0)} | style
    table = Table(title=title, **options)
    for name in texts:
        table.add_column(name, no_wrap=True)
    for name in numbers:
        table.add_column(name, justify="right", no_wrap=not wrap)
    return table


def forward_table(result: dict[str, Any]) -> Table:
    """Mechanism by mechanism: each engine's minimum and median in microseconds, and how many times faster than the peer."""
    table = empty_table("microseconds per state (rk4: per step), minimum / median",
                        ("mechanism", "bodies", "dofs", "task", "engine"), ("min", "median", "x peer"))
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


def calls_table(result: dict[str, Any]) -> Table:
    """Mechanism by mechanism, call by call: each engine's microseconds, and how many times Pinocchio's bough takes."""
    calls = [of_call for measured in result["mechanisms"].values() for of_call in measured["calls"].values()]
    engines = list(dict.fromkeys(engine for of_call in calls for engine in of_call))
    table = empty_table("microseconds per call from Python", ("mechanism", "dofs", "call"), (*engines, "x Pinocchio"))
    for mechanism, measured in result["mechanisms"].items():
        for i, (call, of_call) in enumerate(measured["calls"].items()):
            times = [f"{of_call[engine]['min_us']:.2f}" if engine in of_call else "" for engine in engines]
            ratio = of_call.get("bough", {}).get("pinocchio/bough")
            table.add_row(*(("", "") if i else (mechanism, str(measured["dofs"]))), call, *times, f"{1/ratio:.2f}" if ratio else "")
        table.add_section()
    return table


def steps_table(result: dict[str, Any]) -> Table:
    """Mechanism by mechanism: a step from Python, by the compiled loop, by MuJoCo; in microseconds."""
    table = empty_table("microseconds per step of RK4", ("mechanism", "dofs"),
                        ("sim.step()", "kernel", "mj_step", "more than kernel", "x MuJoCo"))
    for mechanism, measured in result["steps"].items():
        engines = ("sim.step()", "kernel", "mj_step")
        times = [f"{measured[engine]['min_us']:.2f}" if engine in measured else "" for engine in engines]
        ratio = measured.get("mj_step/sim.step()")
        more = f"{measured['sim.step() - kernel']:.2f}"
        table.add_row(mechanism, str(measured["dofs"]), *times, more, f"{ratio:.1f}" if ratio else "")
    return table


def laws_text(result: dict[str, Any]) -> Iterator[str]:
    for mechanism, measured in result["laws"].items():
        added = ", ".join(f"{us:.3f} us {name}" for name, us in measured["added"].items())
        took = f"{measured['none']['min_us']:.2f} us"
        yield f"{mechanism}: a stage takes {took}; a compiled law of two outputs and an input adds {added}"


def flexible_table(result: dict[str, Any]) -> Table:
    """Modes by kind of body: microseconds by O(N), in lanes, dense, in Exudyn; and the ratios."""
    title = f"microseconds per evaluation, {result['chain'].partition(';')[0]}"
    table = empty_table(title, ("modes", "kind"), ("O(N)", "lanes", "dense", "Exudyn", "x dense", "x lanes", "x Exudyn"))
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
    table = empty_table("microseconds per evaluation with closed loops", ("mechanism", "engine"),
                        ("us", "per loop", "x peer", "error"))
    mechanisms = {f"{n} four-bars": measured for n, measured in result["chains"].items()} | {"platform": result["platform"]}
    for mechanism, measured in mechanisms.items():
        engines = {engine: found for engine, found in measured.items() if "us" in found}
        for i, (engine, found) in enumerate(engines.items()):
            per_loop, ratio = measured["us per loop"].get(engine), measured.get("times faster", {}).get(engine)
            short = {"order-n": "O(N)", "order-n, four lanes": "four lanes"}.get(engine, engine)
            table.add_row("" if i else mechanism, short, f"{found['us']:.4g}", f"{per_loop:.3f}" if per_loop else "",
                          f"{ratio:.1f}" if ratio else "", f"{found['error']:.1e}")
        table.add_section()
    return table


def momentum_table(result: dict[str, Any]) -> Table:
    """Tree by tree: microseconds by the cloud and by O(N), one state and four lanes, and how many times faster the cloud is."""
    table = empty_table("microseconds per evaluation, relative motions prescribed", ("tree", "bodies"),
                        ("cloud", "O(N)", "x", "4 cloud", "4 O(N)", "x", "error"), caption="4: four states at a time")
    trees = [(name, n, found) for name, of in result["trees"].items() for n, found in of.items()]
    for name, n, found in [*trees, ("turbine", "6", result["turbine"])]:
        times = [f"{found[engine]['us']:.3g}" for engine in ("cloud", "order-n", "cloud, four lanes", "order-n, four lanes")]
        faster = [f"{found['times faster'][engine]:.2f}" for engine in ("one state", "four lanes")]
        table.add_row(name, n, *times[:2], faster[0], *times[2:], faster[1], f"{found['error']:.1e}")
    return table


def jsc_table(result: dict[str, Any]) -> Table:
    """Case by case: sizes, microseconds per step, times real time, how far the two runs are apart, gap, the paper's seconds."""
    title = f"JSC cases, {result['seconds']:g} s each: microseconds per step"
    table = empty_table(title, ("case",),
                        ("bodies", "joint", "modes", "loops", "O(N)", "dense", "x dense", "x real", "apart", "gap", "paper, s"))
    for number, found in result["cases"].items():
        kind = f"{number:>2} {'RF'[found['flexible']]}{found['configuration']} {'open' if not found['closed'] else 'closed'}"
        times, paper = found["us per step"], found["seconds of the paper"]
        table.add_row(
            kind, *(str(found[size]) for size in ("bodies", "joint dofs", "modes", "loops")), f"{times['order-n']:.3g}",
            f"{times['dense']:.3g}", f"{found['dense/order-n']:.2f}", f"{found['times real time']['order-n']:.3g}",
            f"{max(found['difference'].values()):.0e}", "" if found["gap"] is None else f"{found['gap']:.0e}",
            f"{paper['order-n']:.0f} / {paper['dense']:.0f}" if paper else "lost",
            end_section=int(number) % 4 == 0)
    return table


def jsc_peers_table(result: dict[str, Any]) -> Table:
    """The rigid cases: microseconds per evaluation here and in each peer, and how many times faster."""
    table = empty_table("rigid cases: microseconds per evaluation", ("case", "engine"), ("us", "O(N) is x faster", "difference"))
    for number, found in result["cases"].items():
        engines = {name: values for name, values in found.get("evaluation", {}).items() if name != "times faster"}
        for i, (engine, values) in enumerate(engines.items()):
            ratio = found["evaluation"].get("times faster", {}).get(f"than {engine}")
            table.add_row("" if i else number, "O(N)" if engine == "order-n" else engine, f"{values['us']:.3g}",
                          f"{ratio:.1f}" if ratio else "", f"{values['difference']:.0e}")
        table.add_section()
    return table


def plain_table(title: str, first: str, columns: tuple[str, ...], rows: dict[str, tuple[str, ...]]) -> Table:
    """Rows of numbers under their names."""
    table = empty_table(title, (first,), columns, wrap=True)
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
    table = empty_table(f"operations of {result['chain']}", ("modes", "method"),
                        ("mult.", "add.", "paper's mult.", "paper's add.", "ratio"))
    for modes, methods in result["modes"].items():
        for i, (method, found) in enumerate(methods.items()):
            numbers = [f"{found[whose][kind]}" for whose in ("counted", "paper") for kind in ("multiplications", "additions")]
            table.add_row("" if i else modes, method, *numbers, f"{found['ratio']:.2f}")
    return table


def auto_table(result: dict[str, Any]) -> Table:
    """System by system, one state and four lanes: times of both methods, the choice and what it costs."""
    title = "microseconds per evaluation and state: one state, in lanes; what auto chooses, and what that loses"
    table = empty_table(title, ("system", "dofs"), ("O(N)", "dense", "auto", "lanes O(N)", "dense", "auto"), box=None)
    for name, found in result["systems"].items():
        cells, choice = [], found["choice"].replace("order-n", "O(N)")
        for lanes in ("one state", "four lanes"):
            times = [found[lanes]["order-n"], found[lanes]["dense"]]
            cells += [f"{time:.0f}" if time >= 100.0 else f"{time:.3g}" for time in times]
            cells.append(f"{choice} {100*found[lanes]['loss']:.0f}%")
        table.add_row(name, str(found["dofs"]), *cells)
    return table


def worst_text(result: dict[str, Any]) -> str:
    """The largest loss of auto."""
    worst = result["worst"]
    return f"largest loss: {100*worst['loss']:.1f} % ({worst['system']}, {worst['lanes']})"


def _forward(result: dict[str, Any]) -> Iterator[Table | str]:
    yield forward_table(result)


def _flexible(result: dict[str, Any]) -> Iterator[Table | str]:
    yield flexible_table(result)
    yield growth_text(result)


def _loops(result: dict[str, Any]) -> Iterator[Table | str]:
    yield loops_table(result)
    yield f"time per loop from 16 to 256 loops: x {result['growth of time per loop, 16 to 256']:.2f}"


def _calls(result: dict[str, Any]) -> Iterator[Table | str]:
    yield calls_table(result)
    yield steps_table(result)
    yield from laws_text(result)


def _momentum(result: dict[str, Any]) -> Iterator[Table | str]:
    yield momentum_table(result)


def _jsc(result: dict[str, Any]) -> Iterator[Table | str]:
    yield jsc_table(result)
    if any("evaluation" in case for case in result["cases"].values()):
        yield jsc_peers_table(result)
    yield from (f"- {line}" for line in result["choices"])
    yield from (f"wrote {path}" for path in result["figures"])


def _operators(result: dict[str, Any]) -> Iterator[Table | str]:
    yield inverse_table(result)
    yield points_text(result)
    yield partition_table(result)


def _cost(result: dict[str, Any]) -> Iterator[Table | str]:
    yield cost_table(result)
    yield from [f"wrote {result['figure']}"] if result["figure"] else []


def _auto(result: dict[str, Any]) -> Iterator[Table | str]:
    yield auto_table(result)
    yield worst_text(result)
    yield from [f"wrote {result['figure']}"] if result["figure"] else []


REPORTS: dict[str, Callable[[dict[str, Any]], Iterator[Table | str]]] = {       # by benchmark
    "forward": _forward, "calls": _calls, "flexible": _flexible, "closed_loops": _loops, "momentum": _momentum, "jsc": _jsc,
    "operators": _operators, "cost": _cost, "auto": _auto,
}
