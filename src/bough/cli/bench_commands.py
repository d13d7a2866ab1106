"""`bough bench`: measure speed."""

from importlib import import_module
from inspect import Parameter, Signature
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from bough.cli.output import print_measured

bench_app = typer.Typer(help="Measure speed, side by side with other installed engines.", invoke_without_command=True)


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


def _add(name: str, help: str, *, quick: str = "fewer repetitions", plot: str = "", **options: Any) -> None:
    """Add the command of a benchmark: options of its own, --json, --quick and, if it can draw a figure, --plot."""
    options |= {"json": Annotated[bool, typer.Option("--json", help="print JSON")],
                "quick": Annotated[bool, typer.Option("--quick", help=quick)]}
    if plot:
        options["plot"] = Annotated[Path | None, typer.Option(help=plot)]

    def command(**given: Any) -> None:
        measure(name, **given)

    parameters = [Parameter(key, Parameter.KEYWORD_ONLY, default=False if get_args(kind)[0] is bool else None, annotation=kind)
                  for key, kind in options.items()]
    vars(command)["__signature__"] = Signature(parameters)
    bench_app.command(name, help=help)(command)


_add("forward", "Forward dynamics, inverse dynamics and RK4 steps, in one process with other engines.",
     mechanisms=Annotated[list[str] | None, typer.Option("--mechanism", help="only this one of arm7, tree36, chain10, chain100, "
                                                                             "chain1000, chain4000, mixed40; repeatable")])
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
    _add(_name, _help)
_add("campaign", "1000 dispersed runs of a tree on one core, on two, on a Dask cluster, next to bare kernels and MuJoCo's rollout.",
     plan=Annotated[bool, typer.Option("--plan", help="estimate a million runs of JSC case 16 on 1, 100, 1000 cores")],
     million=Annotated[bool, typer.Option("--million", help="a million samples of a small model: time and memory")])
_add("jsc", "The sixteen cases of the JSC paper, rigid and flexible, open and closed: O(N), dense, the paper's times, other "
            "engines.", quick="short runs, fewer repetitions", plot="folder for the paper's figures 2 and 3",
     cases=Annotated[str | None, typer.Option(help="which of the sixteen cases, e.g. 1,4,9-12")],
     seconds=Annotated[float | None, typer.Option(help="length of the runs; 100 in the paper, 2 by default")])
_add("cost", "Multiplications and additions of O(N) and dense dynamics, counted as they run, against the formulas of Jain and "
             "Rodriguez.", quick="fewer mode counts", plot="folder for the paper's figure 2")
_add("auto", 'O(N) and dense dynamics of thirty systems, the choice of "auto", and its cost.',
     plot="folder for the plot of the crossover")
_add("stiff", "Error against wall time of all methods on stiff systems, the cost of an implicit step, and Exudyn's "
              "generalized-alpha.", quick="short runs, fewer repetitions", plot="folder for the plot of error against wall time")
