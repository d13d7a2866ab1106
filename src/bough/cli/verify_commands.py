"""`bough verify` and `bough audit`."""

import json as json_format
import sys
from pathlib import Path
from typing import Annotated

import typer

from bough.cli.output import fail


def verify(
    model: Annotated[
        Path | None,
        typer.Argument(help="your own system (YAML, URDF or script); default: the installation", show_default=False,
                       metavar="MODEL"),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            help="only cases whose names start with this: dynamics, closed forms, conservation, references, "
            "plain Python, peers, 'dynamics: every joint'; repeatable"
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
    html: Annotated[Path | None, typer.Option(help="write an HTML report to this file")] = None,
) -> None:
    """Check this installation against closed forms, conservation laws, other methods, plain Python, stored values and other
    engines; or do the same for the system MODEL. Exits with 1 if anything fails."""
    from bough.files import read
    from bough.verify.model_check import verify_system
    from bough.verify.suite import Outcome, outcome_line, report_page, verify as verify_all
    from bough.whole import write_text

    def report(outcome: Outcome) -> None:
        if not json:
            typer.secho(outcome_line(outcome), fg=None if outcome.fine else "red")

    found = verify_all(only or (), report) if model is None else verify_system(*read(model), only or (), report)
    title = "bough verify" + (f" {model}" if model else "")
    if html is not None:
        html.parent.mkdir(parents=True, exist_ok=True)
        write_text(html, report_page(title, found.outcomes, found.machine, found.summary))
    if json:
        typer.echo(json_format.dumps(found.to_mapping(), indent=2))
    else:
        typer.echo(f"\n{found.summary}" + (f"; wrote {html}" if html else ""))
    sys.exit(1 if found.short else 0)


def audit(
    result: Annotated[Path, typer.Argument(help="NetCDF file written by bough", show_default=False, metavar="FILE")],
    json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
) -> None:
    """Print the audit of the result FILE in full: balances of energy and momentum, loop gaps, errors, events, warnings, versions,
    machine, options, hash of the model. Exits with 1 if the audit found a problem."""
    import bough

    found = bough.open_result(result).audit
    if found is None:
        fail(f"{result}: has no audit, since an older version of bough wrote it; run it again, or resume and save it")
    typer.echo(found.to_json() if json else str(found))
    sys.exit(0 if found.fine else 1)
