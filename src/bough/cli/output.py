"""What commands print: errors, and measurements as JSON or as tables."""

import json
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn

import typer


def fail(message: str) -> NoReturn:
    """Print an error in red, one line per problem, and exit."""
    for line in message.splitlines():
        typer.secho(f"error: {line}", fg="red", err=True)
    sys.exit(2)


def print_measured(measured: Mapping[str, Any], as_json: bool, report: Callable[[Any], Iterable[Any]]) -> None:
    """Print measurements as JSON, or as the tables and lines of text that `report` makes of them."""
    if as_json:
        typer.echo(json.dumps(measured, indent=2))
        return
    from rich.console import Console

    console = Console()
    for part in report(measured):
        typer.echo(part) if isinstance(part, str) else console.print(part)
