"""Systems out of files: YAML, URDF, Python scripts, and the examples that come with the package."""

import runpy
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from bough.describe import System, load
from bough.errors import DescriptionError, nearest
from bough.exchange.urdf import load_urdf

Made = TypeVar("Made")
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
    made = [value for value in variables.values() if type(value).__name__ in ("Controller", "Law")]
    named: dict[str, Any] = {name: variables[name] for name in ("laws", "control", "law_values") if name in variables}
    laws = named or {"laws": made if len(made) == 1 else []}
    return the_one(path, variables, System, "system"), laws


def the_one(path: Path, variables: Mapping[str, Any], kind: type[Made], name: str) -> Made:
    """The object of this type that a script assigns to `name`, or the only one that it makes."""
    found = {key: value for key, value in variables.items() if isinstance(value, kind)}
    if name not in found and len({id(value) for value in found.values()}) != 1:
        made = f"makes several {kind.__name__}s ({', '.join(found)})" if found else f"makes no {kind.__name__}"
        raise DescriptionError(f"{path}: {made}; assign the one to use to a variable '{name}' of the module")
    return found.get(name) or next(iter(found.values()))


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
