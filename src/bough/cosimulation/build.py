"""Write a system as a functional mock-up unit, by PythonFMU or PythonFMU3."""
import importlib
import json
import re
import shutil
import sys
import tempfile
from os import PathLike
from pathlib import Path
from typing import Any

from bough.describe import System
from bough.errors import BoughError, DescriptionError
from bough.model import Model
from bough.results.netcdf import pack_meshes
from bough.simulation import with_settings

LIBRARIES = {2: ("pythonfmu", "Fmi2Slave"), 3: ("pythonfmu3", "Fmi3Slave")}
ABILITIES = {"canHandleVariableCommunicationStepSize": True, **{f"can{what}FMU{word}": True for what in ("GetAndSet", "Serialize")
                                                                for word in ("state", "State")}}        # of FMI 2, and of 3
SCRIPT = '''"""The co-simulation unit of a bough model, which is in the files beside this one."""
import {library}
from bough.cosimulation.unit import Unit


class Model(Unit, {library}.{base}):
    """See bough.cosimulation."""

    library = {library}
'''


def build_fmu(model: Model | System, path: str | PathLike[str], *, fmi: int = 2, method: str | None = None,
              dt: float | None = None) -> Path:
    """Write a co-simulation unit, whose variables are the inputs and outputs of a system.

    The unit contains the system, not the engine: the machine that runs it needs Python and bough.

    Parameters
    ----------
    model : Model or System
    path : path
        The file to write; it ends in .fmu.
    fmi : {2, 3}
        The version of the standard, 2.0 or 3.0.
    method, dt : optional
        The integrator and its step [s]; by default those of the system's settings.

    Returns
    -------
    Path
        The file.
    """
    system, target = model if isinstance(model, System) else model.system, Path(path)
    if target.suffix != ".fmu":
        raise DescriptionError(f"{target}: is not the name of a unit; let it end in .fmu")
    if fmi not in LIBRARIES:
        raise DescriptionError(f"fmi is {fmi!r}; give 2 or 3, the version of the standard")
    if not (system.inputs or system.outputs):
        raise DescriptionError(f"system '{system.name}' has no ports: the unit would have no variables; declare some with "
                               "System.input and System.output ('inputs:' and 'outputs:' in YAML)")
    library, base = LIBRARIES[fmi]
    try:
        builder = importlib.import_module(f"{library}.builder").FmuBuilder
    except ModuleNotFoundError as error:
        raise BoughError(f"FMI {fmi} needs {library}: pip install 'bough[fmu]'") from error
    end = system.settings.until if system.settings is not None else 1.0
    options = with_settings({"method": method, "dt": dt, "until": end}, system.settings)
    for name in ("until", "record", "sample_rate"):
        options.pop(name, None)
    about = {"name": re.sub(r"\W", "_", system.name), "description": system.name, "stop": end, "options": options,
             "meshes": pack_meshes(system)}
    with tempfile.TemporaryDirectory(prefix="bough-") as folder:
        texts = {f"bough_unit{fmi}.py": SCRIPT.format(library=library, base=base), "system.yaml": system.to_yaml(exact=True),
                 "unit.json": json.dumps(about)}
        script, *parts = (Path(folder) / name for name in texts)
        for file, text in zip((script, *parts), texts.values(), strict=True):
            file.write_text(text, encoding="utf-8")
        built = _built(builder, script, parts, Path(folder) / "built")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(built, target)
    return target


def _built(builder: Any, script: Path, parts: list[Path], folder: Path) -> Path:
    """The unit's file; the builder imports the script, of which no trace shall stay."""
    before = list(sys.path)
    try:
        return Path(builder.build_FMU(script, dest=folder, project_files=parts, **ABILITIES))
    finally:
        sys.path[:] = before
        sys.modules.pop(script.stem, None)
