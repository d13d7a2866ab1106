"""`bough bench`: measure speed."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from bough.cli.output import print_measured

bench_app = typer.Typer(help="Measure speed, side by side with other installed engines.", invoke_without_command=True)

Json = Annotated[bool, typer.Option("--json", help="print JSON")]
Quick = Annotated[bool, typer.Option("--quick", help="fewer repetitions")]


def measure(name: str, *, json: bool = False, **options: Any) -> None:
    """Run the benchmark of this name and print what it measured."""
    from bough.bench.bench_tables import REPORTS

    benchmark = getattr(import_module(f"bough.bench.{name}_bench"), name)
    print_measured(benchmark(**options), json, REPORTS[name])


@bench_app.callback()
def bench(context: typer.Context) -> None:
    """Without a subcommand, run every benchmark."""
    if context.invoked_subcommand is None:
        from bough.bench.bench_tables import REPORTS

        for name in REPORTS:
            measure(name)


@bench_app.command("forward")
def bench_forward(
    mechanism: Annotated[list[str] | None, typer.Option(help="only this one of arm7, tree36, chain10, chain100, chain1000, "
                                                             "chain4000, mixed40; repeatable")] = None,
    json: Json = False,
    quick: Quick = False,
) -> None:
    """Forward dynamics, inverse dynamics and RK4 steps, in one process with other engines."""
    measure("forward", json=json, quick=quick, mechanisms=mechanism)


def _plain(name: str) -> Callable[[bool, bool], None]:
    """The command of a benchmark that has no options of its own."""

    def command(json: Json = False, quick: Quick = False) -> None:
        measure(name, json=json, quick=quick)

    return command


for _name, _help in {
    "calls": "Cost of single calls from Python: dynamics, kinematics, Jacobians, in one process with other engines.",
    "flexible": "A chain of flexible links: O(N), dense, four lanes, and Exudyn's evaluation of the same arm.",
    "loops": "Closed loops: chains of four-bars and a platform with welded limbs, O(N), dense, in lanes, and other engines.",
    "gym": "64 Gymnasium environments of a tree with 36 degrees of freedom, in lanes, next to a Python loop over MuJoCo.",
    "momentum": "Floating trees with all relative motions prescribed: momentum cloud and O(N) sweeps.",
    "derivatives": "All derivatives of forward dynamics: rigid trees next to Pinocchio, one state and in lanes; flexible chains.",
    "connections": "Docking to a platform within a run: cost of each kind of change, and of steps afterwards, mounted or looped.",
    "orbit": "A satellite with wheels and flexible panels: a step in orbit compared with one in uniform gravity.",
    "structures": "A structure of 100,000 dofs from files: read, check, reduce to 20 modes and 3 interfaces, reopen.",
    "operators": "Spatial operators: M^-1 against forward dynamics, points of long chains, partitioned against whole joints.",
}.items():
    bench_app.command(_name, help=_help)(_plain(_name))


@bench_app.command("campaign")
def bench_campaign(
    plan: Annotated[bool, typer.Option("--plan", help="estimate a million runs of JSC case 16 on 1, 100, 1000 cores")] = False,
    million: Annotated[bool, typer.Option("--million", help="a million samples of a small model: time and memory")] = False,
    json: Json = False,
    quick: Quick = False,
) -> None:
    """1000 dispersed runs of a tree on one core, on two, on a Dask cluster, next to bare kernels and MuJoCo's rollout."""
    measure("campaign", json=json, quick=quick, plan=plan, million=million)


@bench_app.command("jsc")
def bench_jsc(
    cases: Annotated[str | None, typer.Option(help="which of the sixteen cases, e.g. 1,4,9-12")] = None,
    seconds: Annotated[float | None, typer.Option(help="length of the runs; 100 in the paper, 2 by default")] = None,
    json: Json = False,
    quick: Annotated[bool, typer.Option("--quick", help="short runs, fewer repetitions")] = False,
    plot: Annotated[Path | None, typer.Option(help="folder for the paper's figures 2 and 3")] = None,
) -> None:
    """The sixteen cases of the JSC paper, rigid and flexible, open and closed: O(N), dense, the paper's times, other engines."""
    measure("jsc", json=json, cases=cases, seconds=seconds, quick=quick, plot=plot)


def _plotted(name: str, quick_help: str, plot_help: str) -> Callable[[bool, bool, Path | None], None]:
    """The command of a benchmark that can draw its figure."""

    def command(
        json: Json = False,
        quick: Annotated[bool, typer.Option("--quick", help=quick_help)] = False,
        plot: Annotated[Path | None, typer.Option(help=plot_help)] = None,
    ) -> None:
        measure(name, json=json, quick=quick, plot=plot)

    return command


for _name, _quick, _plot, _help in (
    ("cost", "fewer mode counts", "folder for the paper's figure 2",
     "Multiplications and additions of O(N) and dense dynamics, counted as they run, against the formulas of Jain and Rodriguez."),
    ("auto", "fewer repetitions", "folder for the plot of the crossover",
     'O(N) and dense dynamics of thirty systems, the choice of "auto", and its cost.'),
    ("stiff", "short runs, fewer repetitions", "folder for the plot of error against wall time",
     "Error against wall time of all methods on stiff systems, the cost of an implicit step, and Exudyn's generalized-alpha."),
):
    bench_app.command(_name, help=_help)(_plotted(_name, _quick, _plot))
