"""`bough run` and `bough view`: simulate a system, save, plot and replay its result."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import bough
from bough import progress
from bough.drawing import Drawing
from bough.errors import SimulationError

if TYPE_CHECKING:
    from bough.results import Result
    from bough.results.result import SavedResult

File = Annotated[Path, typer.Argument(help="YAML file, URDF file or Python script", show_default=False, metavar="FILE")]


def run(
    file: Annotated[Path | None, typer.Argument(help="YAML file, URDF file or Python script; not needed with --resume",
                                                show_default=False, metavar="FILE")] = None,
    until: Annotated[float | None, typer.Option(help="end time [s]; required unless the file sets it")] = None,
    dt: Annotated[float | None, typer.Option(help="step of the fixed-step methods [s]")] = None,
    method: Annotated[str | None, typer.Option(help="rk4 (default), euler-cromer, imex2 or imex4: fixed step; dopri5, imex43: "
                                                    "adaptive; radau, bdf, lsoda: adaptive, everything implicit; imex: springs and "
                                                    "modes implicit; auto: chosen for you")] = None,
    sample_rate: Annotated[float | None, typer.Option(help="samples per second; by default, about a hundred in all")] = None,
    record: Annotated[str | None, typer.Option(help="comma-separated list of what to record: state, pose, velocity, "
                                                    "acceleration, reactions, energy, momentum, nodes, strain, stress, "
                                                    "strains, shapes, wheels, tanks, exhaust, torque, orbit, loops, "
                                                    "couplings, friction, drives, elements, inputs, outputs")] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="NetCDF file; default: out/NAME.nc")] = None,
    plots: Annotated[bool, typer.Option(help="write PNG plots next to the output")] = True,
    replay: Annotated[bool, typer.Option("--replay", help="write a 3-D animation (one HTML file) next to the output")] = False,
    resume: Annotated[Path | None, typer.Option(help="continue the run of this result, or one that was killed while "
                                                     "streaming to it (--checkpoint)", metavar="RESULT")] = None,
    checkpoint: Annotated[float | None, typer.Option(help="stream samples to the output, with a checkpoint to resume from every "
                                                          "so many seconds", metavar="SECONDS")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="print nothing but errors")] = False,
) -> None:
    """Simulate FILE: save the results, print a summary, write plots. Options override the file's settings."""
    if resume is not None:
        continue_run(resume, file, until=until, record=record, output=output, checkpoint=checkpoint, plots=plots, replay=replay,
              quiet=quiet, other={"--dt": dt, "--method": method, "--sample-rate": sample_rate})
        return
    if file is None:
        raise typer.BadParameter("give the FILE to simulate, or --resume RESULT")
    from bough.files import read

    with ExitStack() as stack:
        stack.enter_context(progress.quiet(quiet))
        system, laws = read(file)
        if system.notes and not quiet:
            typer.echo(f"{file}: {len(system.notes)} notes on what is not used; bough check {file} lists them", err=True)
        target = output or Path("out") / f"{file.stem}.nc"
        target.parent.mkdir(parents=True, exist_ok=True)            # fails early if it cannot be written
        drawing = stack.enter_context(Drawing()) if plots else None  # the second process starts while this one loads kernels
        names = words(record)
        if names is None and (system.settings is None or system.settings.record is None):
            from bough.results.quantities import select_records

            names = [*select_records(None, system, controlled=any(laws.values())), "reactions"]       # which have a figure
        streamed: dict[str, Any] = {} if checkpoint is None else {"save_to": target, "checkpoint": checkpoint}
        simulate_and_save(lambda: bough.simulate(system, until=until, dt=dt, method=method, sample_rate=sample_rate, record=names,
                                                 **laws, **streamed), target, drawing=drawing, replay=replay, quiet=quiet)


def words(record: str | None) -> list[str] | None:
    """The names in a comma-separated list."""
    return None if record is None else [name.strip() for name in record.split(",") if name.strip()]


def continue_run(path: Path, file: Path | None, *, until: float | None, record: str | None, output: Path | None,
                 checkpoint: float | None, plots: bool, replay: bool, quiet: bool, other: dict[str, object]) -> None:
    """Continue a run, with the laws of FILE, if any; a run that was streamed, or is to be, keeps streaming."""
    given = [name for name, value in other.items() if value is not None]
    if given:
        raise typer.BadParameter(f"{given[0]} cannot change when a run continues; leave it out")
    from bough.files import read
    from bough.results.stream import checkpoint_of

    with ExitStack() as stack:
        stack.enter_context(progress.quiet(quiet))
        system, laws = read(file) if file is not None else (None, {})
        drawing = stack.enter_context(Drawing()) if plots else None
        target, interval = output or path, checkpoint or checkpoint_of(path)
        streamed: dict[str, Any] = {} if interval is None else {"save_to": target, "checkpoint": interval}
        sim = bough.resume(path, model=system, record=words(record), **laws, **streamed)
        simulate_and_save(lambda: sim.finish(until, progress=not quiet), target, drawing=drawing, replay=replay, quiet=quiet)


def simulate_and_save(simulate: Callable[[], Result | SavedResult], target: Path, *, drawing: Drawing | None, replay: bool,
                      quiet: bool) -> None:
    """Simulate and write the result; if a run fails, what was recorded up to then."""
    try:
        result = simulate()
    except SimulationError as error:
        if error.result is not None:
            finish(error.result, target, drawing=drawing, replay=replay, quiet=quiet)
        raise
    finish(result, target, drawing=drawing, replay=replay, quiet=quiet)
    if result.failure:
        raise typer.Exit(130)                                       # interrupted


def finish(result: Result | SavedResult, target: Path, *, drawing: Drawing | None, replay: bool, quiet: bool) -> None:
    """Write the files of a result, and print its summary and their paths."""
    paths = [target if getattr(result, "path", None) == target else result.save(target)]     # what was streamed has been written
    if drawing:
        paths += drawing.draw(target, target.parent, f"{target.stem}-")
    if replay:
        paths.append(result.view(target.with_suffix(".html"), open=False).path)
    if quiet:
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from bough.results import summary

    table = Table(title=escape(summary.title(result)), title_justify="left", title_style="bold", show_header=False)
    table.add_column(style="cyan", no_wrap=True)
    table.add_column()
    for name, text in summary.rows(result):
        table.add_row(escape(name), escape(text))
    Console().print(table)
    for path in paths:
        typer.echo(f"wrote {path}{' (open it in a browser)' * (path.suffix == '.html')}")


def view(
    result: Annotated[Path, typer.Argument(help="NetCDF file written by bough", show_default=False, metavar="RESULT")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="HTML file; default: next to RESULT")] = None,
    show: Annotated[bool, typer.Option("--open/--no-open", help="open it in the browser")] = True,
    run: Annotated[int, typer.Option(help="which run of a batch")] = 0,
    frames: Annotated[int | None, typer.Option(help="keep at most this many samples")] = None,
) -> None:
    """Show RESULT as a 3-D animation: one self-contained HTML file, opened in the browser."""
    replay = bough.open_result(result).view(output or result.with_suffix(".html"), open=False, run=run, frames=frames)
    typer.echo(f"wrote {replay}")
    if show:
        replay.open()
