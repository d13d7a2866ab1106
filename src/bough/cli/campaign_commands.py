"""The command `bough campaign`: thousands of dispersed runs, from a file."""

import json
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bough.errors import StateError

if TYPE_CHECKING:
    from bough.campaign.store import Store
    from bough.campaign.study import Campaign


def campaign(
    file: Annotated[Path, typer.Argument(help="YAML file of a campaign, or Python script that defines one", show_default=False,
                                         metavar="FILE")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="folder of the samples; default: out/NAME.campaign")] = None,
    samples: Annotated[int | None, typer.Option(help="number of runs, overrides the file")] = None,
    seed: Annotated[int | None, typer.Option(help="random seed, overrides the file")] = None,
    threads: Annotated[int | None, typer.Option(help="number of threads; default: one per processor")] = None,
    workers: Annotated[int | None, typer.Option(help="start a local Dask cluster with this many processes")] = None,
    scheduler: Annotated[str | None, typer.Option(help="address of a Dask scheduler, e.g. tcp://10.0.0.1:8786")] = None,
    block: Annotated[int | None, typer.Option(help="samples per block; default: chosen from their run time")] = None,
    rerun: Annotated[int | None, typer.Option(help="repeat one sample, with plots and a replay")] = None,
    status: Annotated[bool, typer.Option("--status", help="only show the progress")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="the report as JSON")] = False,
) -> None:
    """Run the samples of the campaign FILE that are not in its folder yet. If it stops, run the same command again to continue."""
    from bough.campaign.study import Campaign

    store = output or Path("out") / f"{file.stem}.campaign"
    if status:
        _print_status(store, as_json)
        return
    study = Campaign.from_file(file, samples=samples, seed=seed)
    check_together({"--threads": threads, "--workers": workers, "--scheduler": scheduler})
    if rerun is not None:
        _rerun(study, rerun, store)
        return
    try:
        kept = _run(study, store, threads, workers, scheduler, block)
    except KeyboardInterrupt:
        typer.echo(f"stopped; {store} keeps what is done, and the same command continues", err=True)
        raise
    _print_report(kept, as_json)


def _run(study: "Campaign", store: Path, threads: int | None, workers: int | None, scheduler: str | None,
         block: int | None) -> "Store":
    from bough.campaign.runner import run_campaign

    if workers is None and scheduler is None:
        return run_campaign(study, store, threads=threads, block=block)
    try:
        from dask import distributed
    except ImportError:
        raise StateError("a cluster needs Dask, which is not installed; pip install 'bough[campaign]'") from None
    dask: Any = distributed
    if workers is not None and workers < 1:
        raise StateError(f"--workers is {workers}; give how many processes to start, 1 or more")
    with ExitStack() as stack:
        cluster = scheduler or stack.enter_context(
            dask.LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None)
        )
        try:
            client = stack.enter_context(dask.Client(cluster))
        except (OSError, ValueError) as error:
            raise StateError(f"--scheduler {scheduler}: {error}; start 'dask scheduler' there, and 'dask worker's") from None
        return run_campaign(study, store, client=client, block=block)


def check_together(options: dict[str, Any]) -> None:
    """Raise for options that contradict each other."""
    given = [f"{name} {value}" for name, value in options.items() if value is not None]
    if len(given) > 1:
        raise StateError(f"{' and '.join(given)}: give one of {', '.join(options)}")


def _print_status(path: Path, as_json: bool) -> None:
    from bough.campaign.statistics import causes
    from bough.campaign.store import Store

    store = Store.open(path)
    state = store.status()
    found = {"samples": store.samples, "done": int((state > 0).sum()), "failed": int((state == 2).sum())}
    if as_json:
        typer.echo(json.dumps(found))
        return
    typer.echo(f"{path}: {found['done']:,} of {found['samples']:,} samples, {found['failed']:,} failed")
    for text, count, first in causes(store.failures()):
        typer.echo(f"  {count:,}: {text} (first: sample {first})")


def _rerun(study: "Campaign", number: int, store: Path) -> None:
    result = study.rerun(number)
    folder = store.with_suffix("")
    target = folder.with_name(f"{folder.name}-{number}.nc")
    typer.echo(result)
    typer.echo(_recorded(study, number, store))
    typer.echo(f"\nwrote {result.save(target)}")
    for plot in result.plots(target.parent, prefix=f"{target.stem}-"):
        typer.echo(f"wrote {plot}")
    typer.echo(f"wrote {result.view(target.with_suffix('.html'), open=False)}")


def _recorded(study: "Campaign", number: int, store: Path) -> str:
    """Varied values and metrics of a sample, and whether they equal those in the store."""
    import numpy as np

    from bough.campaign.block import run_block
    from bough.campaign.store import STUDY

    found = run_block(study, number, number + 1)
    lines = [f"  {each.path:<28}  {value:.8g}" for each, value in zip(study.variations, found.values[0], strict=True)]
    lines += [f"  {each.name:<28}  {value:.8g} {each.unit}" for each, value in zip(study.metrics, found.metrics[0], strict=True)]
    if (store / STUDY).exists():
        kept = study.open_store(store).sample(number)
        same = kept is not None and np.array_equal(kept, [*found.values[0], *found.metrics[0]], equal_nan=True)
        lines.append("the store does not have it yet" if kept is None else "the same bits as in the store" if same else
                     f"not the bits that {store} has: bough or a library under it is another version")
    return "\n".join([f"sample {number}", *lines])


def _print_report(store: "Store", as_json: bool) -> None:
    from rich.console import Console
    from rich.table import Table

    from bough.campaign.campaign_report import Report

    report = Report(store)
    page = report.write(store.path.with_suffix(".html"))
    if as_json:
        tables = {title: [dict(zip(heads, row, strict=False)) for row in rows] for title, heads, rows in report.tables()}
        typer.echo(json.dumps({"campaign": report.heading, **tables, "store": str(store.path), "page": str(page)}, indent=2))
        return
    console = Console()
    console.print(report.heading)
    for title, heads, rows in report.tables():
        table = Table(title=title, title_justify="left")
        for i, head in enumerate(heads):
            table.add_column(head, justify="left" if i == 0 else "right", overflow="fold")
        for row in rows:
            table.add_row(*row)
        console.print(table)
    typer.echo(f"wrote {store.path}, {page}")
