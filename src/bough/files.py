"""Systems out of files: YAML, URDF, Python scripts, and the examples that come with the package."""

import runpy
import sys
from pathlib import Path
from typing import Any

from bough.describe import System, load
from bough.errors import DescriptionError, nearest
from bough.exchange.urdf import load_urdf

EXAMPLES = Path(__file__).parent / "examples"


def read_system(path: Path) -> System:
    """The system of a YAML or URDF file, or the one that a Python script builds."""
    return read(path)[0]


def read(path: Path) -> tuple[System, dict[str, Any]]:
    """The system of a YAML file, a URDF file or a Python script, and the laws of the script as options of `simulate`: its variables
    `laws` and `control`; or, without these, the only law that it makes.

    >>> read(Path("no-such-file.py"))
    Traceback (most recent call last):
    bough.errors.DescriptionError: no-such-file.py: there is no such file; give a YAML file, a URDF file or a Python script
    """
    if not path.is_file():
        hint = nearest(path.name, (file.name for file in path.parent.glob("*"))) if path.parent.is_dir() else ""
        remedy = hint or "; give a YAML file, a URDF file or a Python script"
        what = "is a folder" if path.is_dir() else "there is no such file"
        raise DescriptionError(f"{path}: {what}{remedy}")
    if path.suffix == ".py":
        return _from_script(path)
    return load_urdf(path) if path.suffix == ".urdf" else load(path), {}


def run_script(path: Path) -> dict[str, Any]:
    """The variables of a Python script, run as a module that is imported."""
    if not path.is_file():
        raise DescriptionError(f"{path}: there is no such file")
    sys.path.insert(0, str(path.resolve().parent))
    try:
        return runpy.run_path(str(path))
    finally:
        sys.path.pop(0)


def _from_script(path: Path) -> tuple[System, dict[str, Any]]:
    """The System named `system`, or the only one, and its laws; what stands under `if __name__ == "__main__"` is not run."""
    variables = run_script(path)
    systems = {name: value for name, value in variables.items() if isinstance(value, System)}
    made = [value for value in variables.values() if type(value).__name__ in ("Controller", "Law")]
    named: dict[str, Any] = {name: variables[name] for name in ("laws", "control", "law_values") if name in variables}
    laws = named or {"laws": made if len(made) == 1 else []}
    if "system" in systems:
        return systems["system"], laws
    if len({id(value) for value in systems.values()}) == 1:
        return next(iter(systems.values())), laws
    found = f"builds several Systems ({', '.join(systems)})" if systems else "builds no System"
    raise DescriptionError(f"{path}: {found}; assign the one to use to a variable 'system' of the module")


def examples() -> dict[str, Path]:
    """The examples that come with bough, by name; those of the gallery, which make pictures, come last."""
    files = [file for folder in (EXAMPLES, EXAMPLES / "gallery") for file in sorted(folder.glob("*.*"))]
    files = [file for file in files if file.suffix in (".yaml", ".py")]
    return {file.relative_to(EXAMPLES).with_suffix("").as_posix(): file for file in files}


def example(name: str) -> Path:
    """The file of one example."""
    known = {file.stem: file for file in examples().values()}
    stem = Path(name).stem
    if stem not in known:
        remedy = nearest(stem, known) or f"; there are {', '.join(known)}"
        raise DescriptionError(f"there is no example '{name}'{remedy}")
    return known[stem]


def first_line(path: Path) -> str:
    """What an example says about itself in its first line."""
    return path.read_text(encoding="utf-8").partition("\n")[0].strip("# \"'")
