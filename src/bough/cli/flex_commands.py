"""Commands about flexible bodies: `bough flex check` and `bough flex modes`."""

from pathlib import Path
from typing import Annotated, Any

import typer

flex_app = typer.Typer(name="flex", help="Check flexible bodies before use.", no_args_is_help=True)
File = Annotated[
    Path,
    typer.Argument(
        help="Nastran (.bdf, .dat), Abaqus or CalculiX (.inp, with the matrices next to it), a body (.npz), or YAML: "
        "a system with flexible bodies, or one body such as {ansys: {...}}",
        show_default=False,
        metavar="FILE",
    ),
]
Units = Annotated[str | None, typer.Option(help="units of the files, LENGTH-MASS-TIME, e.g. mm-t-s")]
Inboard = Annotated[str | None, typer.Option(help="node numbers (1,12), or name of the node set, to hold")]


@flex_app.command()
def check(
    file: File,
    modes: Annotated[int, typer.Option(help="number of modes")] = 10,
    units: Units = None,
    inboard: Inboard = None,
    mass: Annotated[float | None, typer.Option(help="declared mass [kg]")] = None,
) -> None:
    """Mass properties, rigid-body modes, frequencies and residual mass of the structure in FILE; exits with 1 if any is wrong."""
    problems = 0
    for name, structure in _structures(file, units, inboard).items():
        text, found = _checked(structure, modes, mass)
        typer.echo(f"{name}\n{text}\n")
        problems += found
    if problems:
        raise typer.Exit(1)


@flex_app.command("modes")
def show_modes(
    file: File,
    modes: Annotated[int, typer.Option(help="number of modes")] = 10,
    units: Units = None,
    inboard: Inboard = None,
    replay: Annotated[Path | None, typer.Option(help="HTML file that animates the shapes")] = None,
) -> None:
    """Print the frequencies and effective masses of the body in FILE; --replay animates the shapes."""
    bodies = {name: _reduced(each, modes) for name, each in _structures(file, units, inboard).items()}
    for name, body in bodies.items():
        typer.echo(f"{name}: {body}")
        typer.echo(f"{'mode':>5} {'Hz':>12} {'x':>9} {'y':>9} {'z':>9}   share of the mass that it moves")
        share = body.integrals.t**2 / (body.mass * body.integrals.Mff.diagonal()[:, None])
        for r, hertz in enumerate(body.frequencies):
            typer.echo(f"{r + 1:>5} {hertz:>12.6g} " + " ".join(f"{100 * each:8.3f}%" for each in share[r]))
    if replay is not None:
        typer.echo(f"wrote {_replay(file.stem, bodies, replay)}; choose a shape under 'Mode shapes'")


def _structures(file: Path, units: str | None, inboard: str | None) -> dict[str, Any]:
    """Structures by name: those of a system, or the one of a file."""
    if file.suffix in (".yaml", ".yml"):
        return _of_yaml(file)
    from bough.flex.structure_files import read_structure

    options: dict[str, Any] = {} if units is None else {"units": units}
    if inboard is not None:
        numbers = inboard.replace(",", " ").split()
        nodes: Any = inboard if not all(each.isdigit() for each in numbers) else [int(each) for each in numbers]
        options |= {"attach": {"inboard": nodes[0] if len(numbers) == 1 and numbers[0].isdigit() else nodes}, "inboard": "inboard"}
    return {file.name: read_structure(file, **options)}


def _of_yaml(file: Path) -> dict[str, Any]:
    import yaml

    from bough.describe.flexible_recipes import KINDS, in_folder, read_flexible
    from bough.errors import DescriptionError
    from bough.files import read_system

    if not file.is_file():
        raise DescriptionError(f"{file}: there is no such file")
    given = yaml.safe_load(file.read_text(encoding="utf-8"))
    if isinstance(given, dict) and len(given) == 1 and next(iter(given)) in KINDS:
        return {file.name: read_flexible(in_folder(given, file.parent))}
    system = read_system(file)
    found = {name: body.flexible for name, body in system.bodies.items() if body.flexible is not None}
    if not found:
        raise DescriptionError(f"{file}: none of its bodies is flexible; give a file with a flexible body")
    return found


def _checked(structure: Any, modes: int, mass: float | None) -> tuple[str, int]:
    from bough.flex import FiniteElements, FlexibleBody, GivenModes
    from bough.flex.structure_check import check_modes, check_structure, check_superelement

    if not isinstance(structure, FlexibleBody):
        if isinstance(structure, FiniteElements):
            report = check_structure(structure, modes=modes, mass=mass)
        elif isinstance(structure, GivenModes):
            report = check_modes(structure, mass=mass)
        else:
            report = check_superelement(structure, modes=modes, mass=mass)
        return repr(report), len(report.problems)
    body = structure
    lines = [repr(body), f"mass center   {body.com.round(9).tolist()} m", f"inertia       {body.inertia.round(9).tolist()} kg m^2"]
    lines += [f"frequencies   {', '.join(f'{each:.6g}' for each in body.frequencies)} Hz"]
    wrong = mass is not None and abs(body.mass - mass) > 1e-3 * abs(mass)
    if wrong:
        lines.append(f"PROBLEMS      the mass is {body.mass:.6g} kg, but {mass:.6g} kg is declared; check the units")
    return "\n".join(lines), int(wrong)


def _reduced(structure: Any, modes: int) -> Any:
    from bough.flex import FiniteElements, FlexibleBody

    if isinstance(structure, FlexibleBody):
        return structure
    if isinstance(structure, FiniteElements):
        return structure.reduce("free-free" if structure.inboard is None else "cantilever", modes=modes)
    return structure.reduce()


def _replay(name: str, bodies: dict[str, Any], path: Path) -> Path:
    """A page of the bodies at rest, side by side, whose shapes can be shown."""
    import numpy as np

    import bough

    system, at = bough.System(name), 0.0
    for label, body in bodies.items():
        places = body.nodes.position if body.outline is None else body.outline.position
        size = float(np.ptp(places, axis=0).max(initial=0.0)) or 1.0
        joint = bough.Free() if body.inboard is None else bough.Weld()
        system.body("".join(each if each.isalnum() else "_" for each in label), joint=joint, at=(0, at, 0), flexible=body)
        at += 1.5 * size
    dt = min([0.01, *(0.1 / max(body.frequencies) for body in bodies.values() if max(body.frequencies, default=0.0) > 0)])
    result = bough.simulate(system.compile(), until=3 * dt, dt=dt, record=["state", "pose"])
    return Path(result.view(path, open=False).path)
