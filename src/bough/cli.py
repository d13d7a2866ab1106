"""The command line. Whatever takes long to import is imported by the command that needs it."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from bough.drawing import Drawing
    from bough.look import Replay
    from bough.results import Result

app = typer.Typer(
    name="bough",
    help="Multibody dynamics in O(N): simulate trees of bodies that a YAML file, a URDF file or a Python script describes.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    epilog="First steps: [bold]bough examples[/bold] lists systems to start from, [bold]bough examples spacecraft --copy[/bold] "
    "copies one here, [bold]bough check spacecraft.yaml[/bold] says what it is, [bold]bough run spacecraft.yaml[/bold] simulates "
    "it. [bold]bough COMMAND --help[/bold] explains a command.",
)
bench_app = typer.Typer(help="Measure speed against the engines installed beside bough.", invoke_without_command=True)
app.add_typer(bench_app, name="bench")

File = Annotated[Path, typer.Argument(help="YAML file, URDF file or Python script", show_default=False, metavar="FILE")]


@app.command()
def run(
    file: File,
    until: Annotated[float | None, typer.Option(help="end of the run, in seconds; needed if the file does not say it")] = None,
    dt: Annotated[float | None, typer.Option(help="step, in seconds; adaptive methods choose their own")] = None,
    method: Annotated[str | None, typer.Option(help="rk4 (default) or euler-cromer: fixed step; dopri5: adaptive; radau, bdf or "
                                                    "lsoda: adaptive, for stiff systems")] = None,
    rate: Annotated[float | None, typer.Option(help="samples per second; if not given, about a hundred in all")] = None,
    record: Annotated[str | None, typer.Option(help="what to record, separated by commas, out of state, pose, velocity, "
                                                    "acceleration, reactions, energy, momentum, nodes, strain, shapes, wheels, "
                                                    "torque, orbit, loops, drives, elements")] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="NetCDF file; out/NAME.nc if not given")] = None,
    plots: Annotated[bool, typer.Option(help="write PNG plots beside the output")] = True,
    replay: Annotated[bool, typer.Option("--replay", help="write a moving 3-D picture, one HTML file, beside the output")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="print nothing but errors")] = False,
) -> None:
    """Simulate FILE: save the results, print a summary, write plots. Options win over what the file says."""
    from contextlib import ExitStack

    from bough.drawing import Drawing
    from bough.errors import SimulationError
    from bough.files import read
    from bough.progress import quiet as hushed
    from bough.results.records import chosen

    with ExitStack() as stack:
        stack.enter_context(hushed(quiet))
        system, control = read(file)
        if system.notes and not quiet:
            typer.echo(f"{file}: {len(system.notes)} notes on what is not used; bough check {file} lists them", err=True)
        target = output or Path("out") / f"{file.stem}.nc"
        target.parent.mkdir(parents=True, exist_ok=True)            # what cannot be written is said before the work
        wanted = None if record is None else [name.strip() for name in record.split(",") if name.strip()]
        if wanted is None and (system.settings is None or system.settings.record is None):
            wanted = [*chosen(None, system, controlled=control is not None), "reactions"]       # which are among the plots
        drawing = stack.enter_context(Drawing()) if plots else None  # a second process gets ready while this one loads its kernels
        from bough.simulation import simulate

        try:
            result = simulate(system, until=until, dt=dt, method=method, rate=rate, record=wanted, control=control)
        except SimulationError as error:
            if error.result is not None:
                finish(error.result, target, drawing=drawing, replay=replay, quiet=quiet)
            raise
        finish(result, target, drawing=drawing, replay=replay, quiet=quiet)
    if result.failure:
        raise typer.Exit(130)


def finish(result: Result, target: Path, *, drawing: Drawing | None, replay: bool, quiet: bool) -> None:
    """Write what was recorded, and say what it is and where."""
    paths = [result.save(target)]
    if drawing:
        paths += drawing.draw(target, target.parent, f"{target.stem}-")
    if replay:
        paths.append(written_replay(target, target.with_suffix(".html"), run=0, frames=None).path)
    if quiet:
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from bough.results import summary

    table = Table(title=escape(summary.title(result)), title_justify="left", title_style="bold", show_header=False)
    table.add_column(style="cyan", no_wrap=True)
    table.add_column()
    for name, said in summary.rows(result):
        table.add_row(escape(name), escape(said))
    Console().print(table)
    for path in paths:
        typer.echo(f"wrote {path}{' (open it in a browser)' * (path.suffix == '.html')}")


def written_replay(file: Path, target: Path, *, run: int, frames: int | None) -> Replay:
    """The replay of a saved result: of what it holds, nothing is computed anew but where the bodies are."""
    from bough.look import replay
    from bough.results import open_result

    return replay(open_result(file), target, open=False, run=run, frames=frames)


@app.command()
def view(
    result: Annotated[Path, typer.Argument(help="NetCDF file that bough wrote", show_default=False, metavar="RESULT")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="HTML file; beside RESULT if not given")] = None,
    show: Annotated[bool, typer.Option("--open/--no-open", help="open it in the browser")] = True,
    run: Annotated[int, typer.Option(help="which run of a batch")] = 0,
    frames: Annotated[int | None, typer.Option(help="how many samples are kept at most")] = None,
) -> None:
    """Show RESULT as a moving 3-D picture: one HTML file that needs nothing else, opened in the browser."""
    made = written_replay(result, output or result.with_suffix(".html"), run=run, frames=frames)
    typer.echo(f"wrote {made}")
    if show:
        made.open()


@app.command()
def check(file: File) -> None:
    """Compile FILE without running it: print the tree, total mass properties, wheels, loads, what loops leave free, and which
    method of dynamics is chosen."""
    from bough.files import read_system
    from bough.model import summary

    model = read_system(file).compile()
    typer.echo(summary.tree_text(model))
    settings = model.system.settings
    q, _ = model.assemble(hold=(settings and settings.hold) or ())
    total = summary.mass_properties(model, q)
    typer.echo(f"\nmass          {total.mass:g} kg")
    typer.echo(f"mass center   {_vector(total.center)} m")
    for label, row in zip(("inertia", "about it", ""), total.inertia, strict=True):
        typer.echo(f"{label:14}{_vector(row)}{' kg m^2' if label == 'inertia' else ''}")
    for label, lines in (("wheels", summary.wheels(model)), ("loads", summary.loads(model)), ("held", summary.held(model)),
                         ("meshes", summary.lost_meshes(model))):
        for i, line in enumerate(lines):
            typer.echo(f"{label if i == 0 else '':14}{line}")
    for label, line in [*summary.loops(model, q), *summary.dynamics(model)]:
        typer.echo(f"{label:14}{line}")
    typer.echo(f"{'simulation':14}{settings or 'no settings; give --until and --dt to bough run'}")
    for i, line in enumerate(model.system.notes):
        typer.echo(f"{'notes' if i == 0 else '':14}{line}")


@app.command()
def convert(
    file: File,
    target: Annotated[Path, typer.Argument(help="YAML file to write", show_default=False, metavar="TARGET")],
    base: Annotated[str | None, typer.Option(help="URDF: the joint that carries the root link, as in free")] = None,
    limits: Annotated[str | None, typer.Option(help="URDF: ignore the ranges of joints, or make stops of them")] = None,
    mimic: Annotated[str | None, typer.Option(help="URDF: joints that follow others are free or locked")] = None,
    inertias: Annotated[str | None, typer.Option(help="URDF: refuse or repair negative moments of inertia")] = None,
    package_dir: Annotated[list[Path] | None, typer.Option(help="URDF: folder that holds ROS packages; may be repeated")] = None,
) -> None:
    """Write the system of FILE as YAML, and say what is lost."""
    from bough.errors import DescriptionError
    from bough.files import read_system
    from bough.urdf import load_urdf

    given: dict[str, Any] = {"base": base, "limits": limits, "mimic": mimic, "inertias": inertias, "package_dirs": package_dir}
    options = {key: value for key, value in given.items() if value is not None}
    if options and file.suffix != ".urdf":
        raise DescriptionError(f"{file}: {', '.join(options)} given, but it is no URDF file; leave out {', '.join(options)}")
    if target.suffix not in (".yaml", ".yml"):
        raise DescriptionError(f"{target}: is not the name of a YAML file; let it end in .yaml")
    system = load_urdf(file, **options) if file.suffix == ".urdf" else read_system(file)
    system.to_yaml(target)
    for line in system.notes:
        typer.echo(f"note: {line}")
    typer.echo(f"wrote {target}")


def _vector(values: Iterable[float]) -> str:
    values = list(values)
    scale = max(map(abs, values))
    return "  ".join(f"{0.0 if abs(value) < 1e-12 * scale else value:12.6g}" for value in values)


@bench_app.callback()
def bench(context: typer.Context) -> None:
    """Without a name, all that can be measured: `bough bench forward`, `flexible`, `loops`, `momentum`, `jsc`, `operators`,
    `cost`, `auto`."""
    if context.invoked_subcommand is None:
        bench_forward()
        bench_flexible()
        bench_loops()
        bench_momentum()
        bench_jsc()
        bench_operators()
        bench_cost()
        bench_auto()


@bench_app.command("forward")
def bench_forward(
    mechanism: Annotated[list[str] | None, typer.Option(help="only this one of arm7, tree36, chain10, chain100, chain1000, "
                                                             "chain4000, mixed40; may be repeated")] = None,
    json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="fewer repetitions")] = False,
) -> None:
    """Forward and inverse dynamics and the RK4 loop, in one process with the peers."""
    from bough import bench

    measured = bench.forward(quick=quick, mechanisms=mechanism)
    if json:
        from json import dumps

        typer.echo(dumps(measured, indent=2))
    else:
        from rich.console import Console

        from bough.bench.report import forward_table

        Console().print(forward_table(measured))


@bench_app.command("flexible")
def bench_flexible(
    json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="fewer repetitions")] = False,
) -> None:
    """A chain of flexible links: O(N), dense, four lanes, and Exudyn's evaluation of the same arm."""
    from bough import bench

    measured = bench.flexible(quick=quick)
    if json:
        from json import dumps

        typer.echo(dumps(measured, indent=2))
    else:
        from rich.console import Console

        from bough.bench.report import flexible_table, growth_text

        Console().print(flexible_table(measured))
        typer.echo(growth_text(measured))


@bench_app.command("loops")
def bench_loops(
    json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="fewer repetitions")] = False,
) -> None:
    """Closed loops: chains of four-bars and a platform with welded limbs, by O(N), dense and in lanes, and by the peers."""
    from bough import bench

    measured = bench.closed_loops(quick=quick)
    if json:
        from json import dumps

        typer.echo(dumps(measured, indent=2))
    else:
        from rich.console import Console

        from bough.bench.report import loops_table

        Console().print(loops_table(measured))
        typer.echo(f"time per loop from 16 to 256 loops: x {measured['growth of time per loop, 16 to 256']:.2f}")


@bench_app.command("momentum")
def bench_momentum(
    json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="fewer repetitions")] = False,
) -> None:
    """Floating trees whose relative motions are all prescribed: by the momentum cloud and by the O(N) sweeps."""
    from bough import bench

    measured = bench.momentum(quick=quick)
    if json:
        from json import dumps

        typer.echo(dumps(measured, indent=2))
    else:
        from rich.console import Console

        from bough.bench.report import momentum_table

        Console().print(momentum_table(measured))


@bench_app.command("jsc")
def bench_jsc(
    cases: Annotated[str | None, typer.Option(help="which of the sixteen, as in 1,4,9-12")] = None,
    seconds: Annotated[float | None, typer.Option(help="length of the runs; 100 in the paper, 2 if not given")] = None,
    json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="short runs, fewer repetitions")] = False,
    plot: Annotated[Path | None, typer.Option(help="folder for the paper's figures 2 and 3")] = None,
) -> None:
    """The sixteen cases of the JSC paper, rigid and flexible, open and closed: O(N), dense, the paper's seconds, the peers."""
    from bough import bench
    from bough.bench.jsc import case_numbers

    chosen = None if cases is None else case_numbers(cases)
    measured = bench.jsc(cases=chosen, seconds=seconds, quick=quick, plot=plot)
    if json:
        from json import dumps

        typer.echo(dumps(measured, indent=2))
        return
    from rich.console import Console

    from bough.bench.report import jsc_peers_table, jsc_table

    console = Console()
    console.print(jsc_table(measured))
    if any("evaluation" in told for told in measured["cases"].values()):
        console.print(jsc_peers_table(measured))
    for line in measured["choices"]:
        typer.echo(f"- {line}")
    for path in measured["figures"]:
        typer.echo(f"wrote {path}")


@bench_app.command("operators")
def bench_operators(
    json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="fewer repetitions")] = False,
) -> None:
    """Spatial operators: M^-1 beside forward dynamics, points of long chains, partitioned beside whole joints."""
    from bough import bench

    measured = bench.operators(quick=quick)
    if json:
        from json import dumps

        typer.echo(dumps(measured, indent=2))
    else:
        from rich.console import Console

        from bough.bench.report import inverse_table, partition_table, points_text

        Console().print(inverse_table(measured))
        typer.echo(points_text(measured))
        Console().print(partition_table(measured))


@bench_app.command("cost")
def bench_cost(
    json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="fewer numbers of modes")] = False,
    plot: Annotated[Path | None, typer.Option(help="folder for the paper's figure 2")] = None,
) -> None:
    """Multiplications and additions of O(N) and dense dynamics, counted as they run, beside the formulas of Jain and Rodriguez."""
    from bough import bench

    measured = bench.cost(quick=quick, plot=plot)
    if json:
        from json import dumps

        typer.echo(dumps(measured, indent=2))
        return
    from rich.console import Console

    from bough.bench.report import cost_table

    Console().print(cost_table(measured))
    if measured["figure"]:
        typer.echo(f"wrote {measured['figure']}")


@bench_app.command("auto")
def bench_auto(
    json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="fewer repetitions")] = False,
    plot: Annotated[Path | None, typer.Option(help="folder for the plot of where the methods cross")] = None,
) -> None:
    """O(N) and dense dynamics of thirty systems, what the cost model predicts, what "auto" chooses, and what that costs."""
    from bough import bench

    measured = bench.auto(quick=quick, plot=plot, tell=lambda text: typer.echo(text, err=True))
    if json:
        from json import dumps

        typer.echo(dumps(measured, indent=2))
        return
    from rich.console import Console

    from bough.bench.report import auto_table, worst_text

    Console().print(auto_table(measured))
    typer.echo(worst_text(measured))
    if measured["figure"]:
        typer.echo(f"wrote {measured['figure']}")


@app.command()
def warmup(
    names: Annotated[list[str] | None, typer.Argument(help="rigid, flexible, loops, holds, or several: flexible+loops; or FILE; "
                                                           "all if none is given", show_default=False, metavar="NAMES")] = None,
    lanes: Annotated[str, typer.Option(help="one: a state at a time; four: batches; parameters: batches whose runs have parameters "
                                            "of their own")] = "one,four,parameters",
    methods: Annotated[str, typer.Option(help="methods of dynamics")] = "order-n,dense,cloud",
    jobs: Annotated[int | None, typer.Option("--jobs", "-j", help="processes; one for each processor if not given")] = None,
) -> None:
    """Compile the kernels that models need, in parallel, before they are needed."""
    from bough.warmup import warm_up

    done = warm_up(names or (), lanes=lanes.split(","), methods=methods.split(","), processes=jobs)
    typer.echo(f"ready: {'; '.join(map(str, done))}")


@app.command()
def calibrate() -> None:
    """Measure on this machine what "auto" goes by when it chooses between O(N) and dense dynamics: some seconds, and what has to be
    compiled for it."""
    from bough import bench

    typer.echo(f"wrote {bench.calibrated(tell=typer.echo)}")


@app.command()
def examples(
    name: Annotated[str | None, typer.Argument(help="example to show", show_default=False, metavar="NAME")] = None,
    copy: Annotated[bool, typer.Option("--copy", help="copy it into this folder")] = False,
) -> None:
    """List the examples, or print one, or copy one here."""
    from bough import files

    if name is None:
        known = files.examples()
        for stem, path in known.items():
            typer.echo(f"{stem:{max(map(len, known)) + 2}}{files.first_line(path)}")
        typer.echo("\nbough examples NAME --copy   copies one into this folder")
        return
    path = files.example(name)
    if not copy:
        typer.echo(path.read_text(encoding="utf-8"), nl=False)
        return
    target = Path(path.name)
    if target.exists():
        fail(f"{target}: is there already; remove it, or copy in another folder")
    target.write_bytes(path.read_bytes())
    typer.echo(f"wrote {target}; try: {'python' if target.suffix == '.py' else 'bough run'} {target}")


@app.command()
def schema() -> None:
    """Print the JSON Schema of the YAML format, for editors."""
    import json

    from bough.describe import json_schema

    typer.echo(json.dumps(json_schema(), indent=2))


@app.command()
def version() -> None:
    """Print the version."""
    import bough

    typer.echo(bough.__version__)


def fail(message: str) -> None:
    """An error in red, a line for each problem, and the end."""
    for line in message.splitlines():
        typer.secho(f"error: {line}", fg="red", err=True)
    sys.exit(2)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; what bough raises on purpose is told without a traceback."""
    from bough.errors import BoughError

    gc.set_threshold(100_000)                   # imports make many objects that stay: looking for garbage takes 0.3 s
    try:
        app(args=arguments)
    except BoughError as error:
        fail(str(error))
    except OSError as error:
        if error.filename is None:
            raise
        fail(f"{error.filename}: {error.strerror}; give another path")
