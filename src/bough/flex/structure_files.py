"""Structures from one file name: which reader to use, and which files belong to it."""

from pathlib import Path
from typing import Any

from bough.errors import DescriptionError
from bough.flex.finite_elements import FiniteElements
from bough.flex.flexible_body import FlexibleBody
from bough.flex.given_modes import GivenModes
from bough.flex.superelements import Superelement

Structure = FiniteElements | Superelement | GivenModes | FlexibleBody
_NASTRAN = (".bdf", ".dat", ".nas", ".pch", ".blk", ".op2")


def read_structure(path: str | Path, **options: Any) -> Structure:
    """A structure out of a file of CalculiX (.inp, .sti), Abaqus (.inp), Nastran (.bdf, .dat), or bough (.npz).

    Matrices and results are looked for beside it under the same name; `options` are those of the reader.
    """
    from bough.flex.abaqus import read_abaqus
    from bough.flex.calculix import read_calculix
    from bough.flex.nastran import read_nastran

    file = Path(path)
    if not file.is_file():
        raise DescriptionError(f"{file}: there is no such file; give a file of Nastran, Abaqus, CalculiX, or an .npz of bough")
    suffix = file.suffix.lower()
    if suffix == ".npz":
        return FlexibleBody.load(file)
    if suffix in (".sti", ".mas", ".dof") or (suffix == ".inp" and file.with_suffix(".sti").exists()):
        return read_calculix(file, **options)
    if suffix == ".inp":
        return read_abaqus(file, **options)
    if suffix in _NASTRAN:
        return read_nastran(file, **_beside(file), **options)
    raise DescriptionError(f"{file}: files ending in {file.suffix!r} are not known; give .bdf or .dat (Nastran), .inp (Abaqus, "
                           "CalculiX), .npz (bough), or a YAML file that says how the body is made ({ansys: {...}})")


def _beside(file: Path) -> dict[str, Any]:
    """Results and matrices of Nastran whose names begin with that of the file."""
    found: dict[str, Any] = {}
    if file.suffix.lower() == ".op2":
        return found
    for option, suffixes in (("op2", (".op2",)), ("matrices", (".op4", ".pch"))):
        there = [each for suffix in suffixes for each in sorted(file.parent.glob(f"{file.stem}*{suffix}")) if each != file]
        if there:
            found[option] = there[0]
    return found
