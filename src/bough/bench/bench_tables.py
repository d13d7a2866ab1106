"""A benchmark's numbers as tables and lines of text: by benchmark, a function from what it measured to what is printed."""
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from rich.box import SIMPLE
from rich.table import Table

Row = Sequence[str] | None                  # None: the end of a section
Report = Iterator[Table | str]


def table(title: str, texts: Sequence[str], numbers: Sequence[str], rows: Iterable[Row], wrap: bool = False, **style: Any) -> Table:
    """Columns of text, then columns of numbers."""
    options: dict[str, Any] = {"title_style": "bold", "box": SIMPLE, "pad_edge": False, "padding": (0, 1, 0, 0)} | style
    made = Table(title=title, **options)
    for name in texts:
        made.add_column(name, no_wrap=True)
    for name in numbers:
        made.add_column(name, justify="right", no_wrap=not wrap)
    for row in rows:
        made.add_section() if row is None else made.add_row(*row)
    return made


def section(rows: Iterable[Sequence[str]], *head: Any) -> Iterator[Row]:
    """A section whose rows share a head, which stands in the first."""
    for i, row in enumerate(rows):
        yield *("" if i else str(cell) for cell in head), *row
    yield None


def sections(found: Mapping[str, Any], rows: Callable[[Any], Iterable[Sequence[str]]], *sizes: str) -> Iterator[Row]:
    """A section for each entry of a mapping, headed by its name and some of its numbers."""
    for name, measured in found.items():
        yield from section(rows(measured), name, *(measured[size] for size in sizes))


def cells(found: Mapping[str, Any], styles: Mapping[str, str]) -> Iterator[str]:
    """Entries of a mapping by their names, each in its format; empty where there is none."""
    return ("" if found.get(name) is None else f"{found[name]:{style}}" for name, style in styles.items())


def least(measured: Mapping[str, Any]) -> dict[str, Any]:
    """The minima of timings, and all else as it is."""
    return {name: of["min_us"] if isinstance(of, Mapping) and "min_us" in of else of for name, of in measured.items()}


def forward(result: dict[str, Any]) -> Report:
    """Mechanism by mechanism: each engine's minimum and median in microseconds, and how many times faster than the peer."""
    styles = {"min_us": ".3f", "median_us": ".3f", "ratio": ".1f"}
    yield table("microseconds per state (rk4: per step), minimum / median", ("mechanism", "bodies", "dofs", "task", "engine"),
                ("min", "median", "x peer"),
                sections(result["mechanisms"], lambda measured: (
                    (task, engine, *cells(values, styles)) for task in ("forward", "inverse", "rk4")
                    for engine, values in measured.get(task, {}).items()), "bodies", "dofs"))


def calls(result: dict[str, Any]) -> Report:
    """Mechanism by mechanism, call by call: each engine's microseconds, and how many times Pinocchio's bough takes."""
    found = [of_call for measured in result["mechanisms"].values() for of_call in measured["calls"].values()]
    engines = list(dict.fromkeys(engine for of_call in found for engine in of_call))

    def times(of_call: dict[str, Any]) -> Iterator[str]:
        yield from (f"{of_call[engine]['min_us']:.2f}" if engine in of_call else "" for engine in engines)
        ratio = of_call.get("bough", {}).get("pinocchio/bough")
        yield f"{1/ratio:.2f}" if ratio else ""

    yield table("microseconds per call from Python", ("dofs", "call"), (*engines, "x pin"),
                (row for measured in result["mechanisms"].values()
                 for row in section(((call, *times(of_call)) for call, of_call in measured["calls"].items()), measured["dofs"])))
    if "steps" in result:
        yield from steps(result)


def steps(result: dict[str, Any]) -> Report:
    """Mechanism by mechanism: a step from Python, by the compiled loop, by MuJoCo; what a compiled law adds to a stage."""
    columns = {"sim.step()": ("sim.step()", ".2f"), "kernel": ("kernel", ".2f"), "mj_step": ("mj_step", ".2f"),
               "more than kernel": ("sim.step() - kernel", ".2f"), "a call without a step": ("call", ".2f"),
               "x MuJoCo": ("mj_step/sim.step()", ".1f")}
    yield table("microseconds per step of RK4", ("mechanism", "dofs"), tuple(columns),
                ((name, str(measured["dofs"]), *cells(least(measured), dict(columns.values())))
                 for name, measured in result["steps"].items()))
    for mechanism, measured in result["laws"].items():
        added = ", ".join(f"{us:.3f} us {name}" for name, us in measured["added"].items())
        yield (f"{mechanism}: a stage takes {measured['none']['min_us']:.2f} us; a compiled law of two outputs and an input adds "
               f"{added}")


def flexible(result: dict[str, Any]) -> Report:
    """Modes by kind of body: microseconds by O(N), in lanes, dense, in Exudyn, and ratios; how the time grows with the links."""
    styles = {"order-n": ".3g", "order-n, four lanes": ".3g", "dense": ".3g", "evaluation": ".0f", "dense/order-n": ".1f",
              "lanes": ".1f"}

    def rows(measured: dict[str, Any]) -> Iterator[Sequence[str]]:
        peer = measured.get("exudyn", {})
        for kind, values in measured.items():
            if kind != "exudyn":
                yield kind, *cells(values | peer, styles | {f"evaluation/{kind}": ".1f"})

    yield table(f"microseconds per evaluation, {result['chain'].partition(';')[0]}", ("modes", "kind"),
                ("O(N)", "lanes", "dense", "Exudyn", "x dense", "x lanes", "x Exudyn"), sections(result["modes"], rows))
    yield "microseconds per link: " + ", ".join(f"{links} links {time:.3f}" for links, time in result["growth"].items())


def loops(result: dict[str, Any]) -> Report:
    """Mechanism by mechanism: each engine's microseconds, its ratio to the fastest peer, what it leaves of the loops' equations."""
    short = {"order-n": "O(N)", "order-n, four lanes": "four lanes"}
    styles = {"us": ".4g", "us per loop": ".3f", "times faster": ".1f", "error": ".1e"}

    def rows(measured: dict[str, Any]) -> Iterator[Sequence[str]]:
        for engine, found in measured.items():
            if "us" in found:
                more = {key: measured.get(key, {}).get(engine) for key in ("us per loop", "times faster")}
                yield short.get(engine, engine), *cells(found | more, styles)

    mechanisms = {f"{n} four-bars": measured for n, measured in result["chains"].items()} | {"platform": result["platform"]}
    yield table("microseconds per evaluation with closed loops", ("mechanism", "engine"), ("us", "per loop", "x peer", "error"),
                sections(mechanisms, rows))
    yield f"time per loop from 16 to 256 loops: x {result['growth of time per loop, 16 to 256']:.2f}"


def momentum(result: dict[str, Any]) -> Report:
    """Tree by tree: microseconds by the cloud and by O(N), one state and four lanes, and how many times faster the cloud is."""
    trees = [(name, n, found) for name, of in result["trees"].items() for n, found in of.items()]

    def times(found: dict[str, Any], lanes: str, faster: str) -> Sequence[str]:
        return *(f"{found[engine + lanes]['us']:.3g}" for engine in ("cloud", "order-n")), f"{found['times faster'][faster]:.2f}"

    yield table("microseconds per evaluation, relative motions prescribed", ("tree", "bodies"),
                ("cloud", "O(N)", "x", "4 cloud", "4 O(N)", "x", "error"),
                ((name, n, *times(found, "", "one state"), *times(found, ", four lanes", "four lanes"), f"{found['error']:.1e}")
                 for name, n, found in [*trees, ("turbine", "6", result["turbine"])]), caption="4: four states at a time")


def jsc(result: dict[str, Any]) -> Report:
    """Case by case: sizes, microseconds per step, times real time, how far the two runs are apart, gap, the paper's seconds; then
    the rigid cases, microseconds per evaluation here and in each peer, and how many times faster."""
    def cases() -> Iterator[Row]:
        for number, found in result["cases"].items():
            times, paper = found["us per step"], found["seconds of the paper"]
            yield (f"{number:>2} {'RF'[found['flexible']]}{found['configuration']} {'open' if not found['closed'] else 'closed'}",
                   *(str(found[size]) for size in ("bodies", "joint dofs", "modes", "loops")), f"{times['order-n']:.3g}",
                   f"{times['dense']:.3g}", f"{found['dense/order-n']:.2f}", f"{found['times real time']['order-n']:.3g}",
                   f"{max(found['difference'].values()):.0e}", "" if found["gap"] is None else f"{found['gap']:.0e}",
                   f"{paper['order-n']:.0f} / {paper['dense']:.0f}" if paper else "lost")
            if int(number) % 4 == 0:
                yield None

    def peers(found: dict[str, Any]) -> Iterator[Sequence[str]]:
        engines = dict(found.get("evaluation", {}))
        ratios = engines.pop("times faster", {})
        for name, values in engines.items():
            yield ("O(N)" if name == "order-n" else name,
                   *cells(values | {"faster": ratios.get(f"than {name}")}, {"us": ".3g", "faster": ".1f", "difference": ".0e"}))

    yield table(f"JSC cases, {result['seconds']:g} s each: microseconds per step", ("case",),
                ("bodies", "joint", "modes", "loops", "O(N)", "dense", "x dense", "x real", "apart", "gap", "paper, s"), cases())
    if any("evaluation" in case for case in result["cases"].values()):
        columns = "us", "O(N) is x faster", "difference"
        yield table("rigid cases: microseconds per evaluation", ("case", "engine"), columns, sections(result["cases"], peers))
    yield from (f"- {line}" for line in result["choices"])
    yield from (f"wrote {path}" for path in result["figures"])


def operators(result: dict[str, Any]) -> Report:
    """M^-1 of a vector beside forward dynamics, called from Python and the kernels alone; how the time for the ends of a chain
    grows with its length; one recursion over the links of the partition and over whole joints, and the sweeps."""
    yield table("M^-1 of a vector and forward dynamics, microseconds", ("system",),
                ("forward", "M^-1", "ratio", "kernels: forward", "M^-1", "ratio"),
                ((name, *(f"{values[key + kernel]:.3g}" for kernel in ("", ", kernel")
                          for key in ("forward", "inverse", "inverse/forward")))
                 for name, values in result["inverse"].items()), wrap=True)
    times = (f"{n} links {values['from the state, per link']:.3g}" for n, values in result["points"].items())
    yield "operational-space inertia of both ends of a chain, microseconds per link: " + ", ".join(times)
    columns = {"parts": "partitioned", "whole": "whole", "sweeps": "sweeps", "x": "whole/partitioned",
               "factors": "whole/partitioned, factors", "solution": "whole/partitioned, solution", "written": "written/partitioned",
               "apart": "difference"}
    styles = {key: ".0e" if key == "difference" else ".3g" for key in columns.values()}
    title = "ten bodies: factors and one solution by the partition, by whole joints; how many times faster the parts are"
    yield table(title, ("us",), tuple(columns),
                ((name, *cells(values, styles)) for name, values in result["partition"].items()), wrap=True)


def cost(result: dict[str, Any]) -> Report:
    """Modes by method: multiplications and additions as counted and as the paper has them, and the ratio of their sums."""
    columns = "mult.", "add.", "paper's mult.", "paper's add.", "ratio"
    yield table(f"operations of {result['chain']}", ("modes", "method"), columns,
                (("" if i else modes, method, *(str(found[whose][kind]) for whose in ("counted", "paper")
                                                for kind in ("multiplications", "additions")), f"{found['ratio']:.2f}")
                 for modes, methods in result["modes"].items() for i, (method, found) in enumerate(methods.items())))
    yield from [f"wrote {result['figure']}"] if result["figure"] else []


def auto(result: dict[str, Any]) -> Report:
    """System by system, one state and four lanes: times of both methods, the choice and what it costs; the largest loss."""
    def times(found: dict[str, Any], choice: str) -> Iterator[str]:
        for lanes in (found["one state"], found["four lanes"]):
            yield from (f"{time:.0f}" if time >= 100.0 else f"{time:.3g}" for time in (lanes["order-n"], lanes["dense"]))
            yield f"{choice} {100*lanes['loss']:.0f}%"

    yield table("microseconds per evaluation and state: one state, in lanes; what auto chooses, and what that loses",
                ("system", "dofs"), ("O(N)", "dense", "auto", "lanes O(N)", "dense", "auto"),
                ((name, str(found["dofs"]), *times(found, found["choice"].replace("order-n", "O(N)")))
                 for name, found in result["systems"].items()), box=None)
    worst = result["worst"]
    yield f"largest loss: {100*worst['loss']:.1f} % ({worst['system']}, {worst['lanes']})"
    yield from [f"wrote {result['figure']}"] if result["figure"] else []


def gym(result: dict[str, Any]) -> Report:
    """Steps for each action by engine: times, steps per second of all environments together, and the ratio."""
    yield table("microseconds per environment and action, 64 environments of tree36", ("steps", "engine"),
                ("min", "median", "steps/s", "x MuJoCo"),
                sections(result["steps"], lambda engines: (
                    (engine, *cells(values, {"min_us": ".2f", "median_us": ".2f", "steps_per_second": ".3g", "ratio": ".1f"}))
                    for engine, values in engines.items())))


def campaign(result: dict[str, Any]) -> Report:
    """Seconds by how the runs are made, and ratios of them; or a plan."""
    if "plan" in result:
        yield from campaign_plan(result)
        return
    if "samples" in result:
        ran, page = result["seconds"], result["seconds of the page"]
        yield (f"{result['unit']}: {ran['wall']:.0f} s ({result['samples per second']:.3g} samples/s), {page['wall']:.0f} s for "
               f"the page, {result['failed']} failed, at most {result['peak memory, MB']:.0f} MB of memory")
        return
    yield table(result["unit"], ("how",), ("CPU", "wall"), (
        (how, *cells(values, {"cpu": ".2f", "wall": ".2f"})) for how, values in result["seconds"].items()))
    for name, value in result.items():
        if isinstance(value, float):
            yield f"{name}: {value:.3g}"


def campaign_plan(result: dict[str, Any]) -> Report:
    """Measured costs; for each number of cores the duration, the block size, and the load of scheduler and store."""
    sample, write, message = result["sample"], result["write"], result["message"]
    yield (f"a sample: {sample['setup']:.3g} s to start, {1e6*sample['step']:.3g} us a step, {sample['seconds']:.3g} s in all; a "
           f"message: {message['block']:.0f} bytes and {message['sample']:.0f} a sample, {message['history']:.0f} more with a "
           "history")
    yield (f"a write: {1e3*write['block']:.3g} ms and {1e6*write['sample']:.3g} us a sample, {1e-6*write['bytes per second']:.0f} "
           f"MB/s of histories; a task: {1e3*result['task']['seconds']:.3g} ms")
    heads = {"days": "days", "block": "block", "s/block": "seconds of a block", "blocks/s": "blocks per second",
             "scheduler": "scheduler busy", "store": "store busy", "kB/s": "kB per second"}
    yield table(result["unit"], ("cores",), tuple(heads), ((cores, *(f"{found[name]:.3g}" for name in heads.values()))
                                                           for cores, found in result["plan"].items()))
    for name, value in result["limits"].items():
        shown = ", ".join(f"{key}: {each:.3g}" for key, each in value.items()) if isinstance(value, dict) else f"{value:.3g}"
        yield f"{name}: {shown}"


def derivatives(result: dict[str, Any]) -> Report:
    """Rigid trees beside the peer; flexible chains in evaluations of forward dynamics."""
    engines = dict.fromkeys(("forward dynamics", "one state", "public call", "four lanes", "pinocchio"), ".2f")
    yield table("all of d(v')/d(q, v, tau), microseconds per state, minima", ("mechanism", "dofs"),
                (*engines, "x peer", "lanes x peer"),
                ((name, str(of["dofs"]), *cells(least(of), engines),
                  *(next(cells(of.get(engine, {}), {"ratio": ".1f"})) for engine in ("one state", "four lanes")))
                 for name, of in result["mechanisms"].items()))
    columns = dict.fromkeys(("forward dynamics", "one state", "evaluations"), ".1f")
    yield table("flexible chains, five modes a link", ("links", "dofs"), tuple(columns),
                ((links, str(of["dofs"]), *cells(least(of), columns)) for links, of in result["flexible"].items()))
    yield table("compiling, once on a machine: seconds of one core", ("kind",), ("forward dynamics", "derivatives", "x forward"),
                ((kind, *cells(of, dict.fromkeys(("forward", "derivatives", "ratio"), ".1f")))
                 for kind, of in result["compiling"].items()))


def connections(result: dict[str, Any]) -> Report:
    """Costs of each change, of a start with such events pending, and of a step afterwards."""
    steps, starts = result["steps"], result["starts"]
    yield table("milliseconds of a change on the platform of 42 dofs", ("change",), ("first", "later"),
                ((name, *cells(found, {"first": ".2f", "later": ".2f"})) for name, found in result["changes"].items()))
    yield "milliseconds to the first step: " + ", ".join(f"{name} {found:.1f}" for name, found in starts.items())
    yield f"a step of RK4 with the attached body mounted in the tree {steps['mounted']:.1f} us, by a loop {steps['loop']:.1f} us"


def orbit(result: dict[str, Any]) -> Report:
    """One state and four lanes: a step in uniform gravity, in orbit, and by how much that is more."""
    yield table("microseconds per step of a satellite with wheels and flexible panels", ("states",), ("uniform", "orbit", "more"),
                ((states, f"{found['uniform']['min_us']:.2f}", f"{found['orbit']['min_us']:.2f}", f"{100*found['more']:.1f} %")
                 for states, found in result["steps"].items()))


def stiff(result: dict[str, Any]) -> Report:
    """System by system each method's time and error; how many times faster; what a step costs; beside Exudyn."""
    styles = {"wall": ".3g", "steps": "", "times real time": ".3g", "error": ".1e", "gap": ".0e"}
    yield table("error against wall time", ("system", "method", "step"), ("wall, s", "steps", "x real", "error", "gap"),
                sections({name: result[name] for name in ("spacecraft", "arm", "jsc 16")}, lambda found: (
                    (row["method"], f"dt {row['dt']:.2g}" if "dt" in row else f"rtol {row['rtol']:g}",
                     *(cells(row, styles) if "wall" in row else ("failed",)*5)) for row in found["methods"])))
    for method, ratios in result["spacecraft"]["times faster"].items():
        than = ", ".join(f"{ratio:.1f} times faster {key}" for key, ratio in ratios.items() if ratio)
        yield f"spacecraft, {method} within 1e-4: {than}"
    ratio = result["jsc 16"]["times faster than euler-cromer"]
    yield "JSC case 16 at the paper's accuracy: " + ("missed" if ratio is None else f"{ratio:.1f} times faster than Euler-Cromer")
    columns = {"step, us": ".3g", "evaluation, us": ".3g", "evaluations": ".2f"}
    yield table("a step of imex2", ("system", "states"), tuple(columns),
                sections(result["steps"], lambda found: ((lanes, *cells(each, columns)) for lanes, each in found.items())))
    closed, law = result["closed step"], result["sampled law"]
    yield f"a closed Euler-Cromer step of JSC case 9: {closed['step, us']:.1f} us, {closed['evaluations']:.2f} evaluations"
    for method, found in law.items():
        each = (f"{name} {of['wall']:.3g} s in {of['steps']} steps" for name, of in found.items())
        yield f"{method} under a law: {', '.join(each)}"
    for dt, found in result["singular position"].items():
        yield (f"40 four-bars, dt {dt} s, through their singular position {found['passages']} times: energy within "
               f"{found['energy changes by, J']:.1e} J of {found['kinetic energy, J']:.0f}")
    peer = result["exudyn"]
    if "exudyn, us" in peer:
        yield (f"a step of {peer['step']:g} s of the flexible chain: {peer['imex2, us']:.1f} us, Exudyn's {peer['exudyn, us']:.0f} "
               f"us: {peer['times faster']:.0f} times faster")
    yield from (f"wrote {path}" for path in result["figures"])


def structures(result: dict[str, Any]) -> Report:
    """Wall time and CPU time of each part, and the peak memory."""
    parts = {"read": "read the files", "check": "check the structure", "reduce": "reduce it", "open": "open the body that was kept"}
    yield table(f"a structure of {result['dofs']} dofs to {result['modes']} shapes: {result['total_s']:.1f} s, "
                f"{result['peak_GB']:.1f} GB", ("part",), ("s", "of the processor, s"),
                ((text, *cells(result[name], {"s": ".2f", "cpu_s": ".2f"})) for name, text in parts.items()))


REPORTS: dict[str, Callable[[dict[str, Any]], Report]] = {report.__name__: report for report in (      # by benchmark
    forward, calls, flexible, loops, momentum, jsc, operators, cost, derivatives, auto, gym, campaign, connections, orbit, stiff,
    structures)}
