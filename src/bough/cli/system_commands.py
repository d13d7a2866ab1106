"""Commands about a system and its files: `bough check`, `convert`, `examples`, `fmu`, `schema`."""

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

import bough
from bough.cli.output import fail
from bough.cli.run_commands import File
from bough.errors import DescriptionError


def check(file: File) -> None:
    """Compile FILE without running it: print the tree, total mass properties, wheels, loads, degrees of freedom left by loops,
    the chosen dynamics method, the fastest motion, and the largest stable step."""
    from bough.analyze import model_summary as summary
    from bough.analyze.equations_of_motion import reason
    from bough.files import read_system
    from bough.integrate.integration import step_lines

    model = read_system(file).compile()
    typer.echo(f"{model}\n")
    settings = model.system.settings
    q, _ = model.assemble(hold=(settings and settings.hold) or ())
    total = summary.mass_properties(model, q)
    about = [_vector(row) for row in total.inertia]
    wheels = [wheel.label for wheel in model.system.wheels.values()]
    lines = [("mass", f"{total.mass:g} kg"), ("mass center", f"{_vector(total.center)} m"), ("inertia", f"{about[0]} kg m^2"),
             ("about it", about[1]), ("", about[2]), *_listed("wheels", wheels), *_listed("loads", summary.loads(model)),
             *_listed("held", summary.held(model)), *_listed("meshes", summary.lost_meshes(model)), *summary.loops(model, q),
             ("dynamics", reason(model)), *step_lines(model),
             ("simulation", settings or "no settings; give --until and --dt to bough run"), *_listed("notes", model.system.notes)]
    for label, line in lines:
        typer.echo(f"{label:14}{line}")


def _listed(label: str, lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Lines, of which the first has a label."""
    return zip([label, *[""]*len(lines)], lines, strict=False)


def convert(
    file: File,
    target: Annotated[Path, typer.Argument(help="YAML file to write", show_default=False, metavar="TARGET")],
    base: Annotated[str | None, typer.Option(help="URDF: joint of the root link, e.g. free")] = None,
    limits: Annotated[str | None, typer.Option(help="URDF: ignore joint limits, or turn them into stops")] = None,
    mimic: Annotated[str | None, typer.Option(help="URDF: make mimic joints coupled, free or locked")] = None,
    inertias: Annotated[str | None, typer.Option(help="URDF: refuse or repair negative moments of inertia")] = None,
    package_dir: Annotated[list[Path] | None, typer.Option(help="URDF: folder that contains ROS packages; repeatable")] = None,
) -> None:
    """Convert FILE to YAML, and list what is lost."""
    from bough.files import read_system

    given: dict[str, Any] = {"base": base, "limits": limits, "mimic": mimic, "inertias": inertias, "package_dirs": package_dir}
    options = {key: value for key, value in given.items() if value is not None}
    if options and file.suffix != ".urdf":
        raise DescriptionError(f"{file}: {', '.join(options)} given, but it is not a URDF file; leave out {', '.join(options)}")
    if target.suffix not in (".yaml", ".yml"):
        raise DescriptionError(f"{target}: is not the name of a YAML file; let it end in .yaml")
    system = bough.load_urdf(file, **options) if file.suffix == ".urdf" else read_system(file)
    system.to_yaml(target)
    for line in system.notes:
        typer.echo(f"note: {line}")
    typer.echo(f"wrote {target}")


def fmu(
    file: File,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="file to write; default: NAME.fmu")] = None,
    fmi: Annotated[int, typer.Option(help="version of the standard: 2 or 3")] = 2,
    dt: Annotated[float | None, typer.Option(help="step of the fixed-step methods [s]")] = None,
    method: Annotated[str | None, typer.Option(help="the integrator, as in bough run")] = None,
) -> None:
    """Export FILE as a co-simulation unit (FMI), whose variables are its inputs and outputs; running it needs Python and bough."""
    from bough.cosimulation import build_fmu
    from bough.files import read

    system, laws = read(file)
    if any(laws.values()):
        typer.echo(f"note: the laws of {file} are not part of the unit; its inputs come from outside", err=True)
    typer.echo(f"wrote {build_fmu(system, output or Path(f'{file.stem}.fmu'), fmi=fmi, method=method, dt=dt)}")


def _vector(values: Iterable[float]) -> str:
    values = list(values)
    scale = max(map(abs, values))
    return "  ".join(f"{0.0 if abs(value) < 1e-12 * scale else value:12.6g}" for value in values)


def examples(
    name: Annotated[str | None, typer.Argument(help="example to show", show_default=False, metavar="NAME")] = None,
    copy: Annotated[bool, typer.Option("--copy", help="copy it into the current folder")] = False,
) -> None:
    """List the examples, print one, or copy one into the current folder."""
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
        fail(f"{target}: already exists; remove it, or copy into another folder")
    target.write_bytes(path.read_bytes())
    typer.echo(f"wrote {target}; try: {'python' if target.suffix == '.py' else 'bough run'} {target}")


def schema() -> None:
    """Print the JSON Schema of the YAML format, for editors."""
    typer.echo(json.dumps(bough.json_schema(), indent=2))


def warmup(
    names: Annotated[list[str] | None, typer.Argument(help="rigid, flexible, loops, holds, drives, or several: loops+holds; with "
                                                           "+implicit for imex methods; or FILE; default: all but +implicit",
                                                      show_default=False, metavar="NAMES")] = None,
    lanes: Annotated[str, typer.Option(help="one: one state at a time; four: batches; parameters: batches in which each run has "
                                            "its own parameters")] = "one,four,parameters",
    methods: Annotated[str, typer.Option(help="dynamics methods")] = "order-n,dense,cloud",
    jobs: Annotated[int | None, typer.Option("--jobs", "-j", help="processes; by default, one per processor")] = None,
) -> None:
    """Compile the kernels that models need ahead of time, in parallel processes."""
    from bough.warmup import warm_up

    done = warm_up(names or (), lanes=lanes.split(","), methods=methods.split(","), processes=jobs)
    typer.echo(f"ready: {'; '.join(map(str, done))}")
