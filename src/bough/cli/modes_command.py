"""`bough modes`: the modes of a system in a file."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from bough.cli.run_commands import File
from bough.errors import DescriptionError


def modes(
    file: File,
    trim: Annotated[bool, typer.Option("--trim", help="find an equilibrium first; default: about the initial state")] = False,
    hold: Annotated[list[str] | None, typer.Option(help="joint or coordinate that --trim holds; repeatable")] = None,
    spin: Annotated[str | None, typer.Option(help="with --trim: spin rate of the system [rad/s], about z, or 0,0,0.5")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print numbers as JSON")] = False,
    plot: Annotated[Path | None, typer.Option(help="write a figure here, e.g. modes.png")] = None,
    view: Annotated[int | None, typer.Option(help="number of a mode to animate")] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="file of the animation; default: NAME_mode.html")] = None,
) -> None:
    """Frequencies, damping and participation of joints and bodies in all modes of FILE, about its initial state or a trim."""
    from bough.files import read_system

    if not trim and (hold or spin):
        raise DescriptionError(f"{file}: --hold and --spin go with --trim; give it, too")
    model: Any = read_system(file).compile()
    found = model.trim(hold=hold or (), spin=_spin(file, spin)).modes() if trim else model.modes()
    typer.echo(json.dumps(found.to_dict(), indent=2) if as_json else found)
    if plot is not None:
        found.plot(plot)
        typer.echo(f"wrote {plot}", err=as_json)
    if view is not None:
        shown = found.view(view, output or Path(f"{file.stem}_mode{view}.html"), open=False)
        typer.echo(f"wrote {shown.path}", err=as_json)


def _spin(file: Path, text: str | None) -> Any:
    if text is None:
        return None
    try:
        numbers = [float(each) for each in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) not in (1, 3):
        raise DescriptionError(f"{file}: --spin is {text!r}; give a number, or three with commas between")
    return numbers[0] if len(numbers) == 1 else numbers
