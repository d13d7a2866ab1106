"""What was recorded, as curves over the frames: columns with one unit share a plot."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from bough.look.buffers import Buffers
from bough.look.motion import Motion
from bough.results.dataset import UNITS_OF
from bough.results.labeled import Labeled, Variable

if TYPE_CHECKING:
    from bough.results.report import Report

POSES = ("position", "attitude")
_OWN_UNITS = UNITS_OF | {"drive_force": ("drive_unit", "drive")}


def curves(report: Report, motion: Motion, buffers: Buffers) -> list[dict[str, Any]]:
    """Groups of curves: {"name", "unit", "labels", "values"}; those of poses, which the page has already, without values."""
    whole, found = report.arrays, []
    for name, variable in whole.variables.items():
        values = motion.pick(variable.values, report.facts.batched).reshape(len(motion.time), -1)
        for unit, columns, labels in _by_unit(whole, name, variable):
            told = {"name": name, "unit": unit, "labels": labels}
            found.append(told if name in POSES else told | {"values": buffers.add_fine(values[:, columns])})
    return found


def columns_of(report: Report) -> int:
    """How many columns the page must hold for the curves."""
    leading = 2 if report.facts.batched else 1
    shapes = [variable.values.shape[leading:] for name, variable in report.arrays.variables.items() if name not in POSES]
    return sum(int(np.prod(shape)) for shape in shapes)


def _by_unit(whole: Labeled, name: str, variable: Variable) -> Iterator[tuple[str, list[int], list[str]]]:
    """Units with the columns that have them, and their labels."""
    dims = [dim for dim in variable.dims if dim not in ("run", "time")]
    sizes = variable.values.shape[len(variable.dims) - len(dims) :]
    entries = [_names(whole, dim, size) for dim, size in zip(dims, sizes, strict=True)]
    labels = [" ".join(entry) for entry in product(*entries)] if dims else [name.replace("_", " ")]
    units = _units(whole, name, variable, dims, entries)
    for unit in dict.fromkeys(units):
        columns = [k for k, each in enumerate(units) if each == unit]
        yield unit, columns, [labels[k] for k in columns]


def _names(whole: Labeled, dim: str, size: int) -> list[str]:
    return [str(each) for each in whole.coords[dim].values] if dim in whole.coords else [str(k) for k in range(size)]


def _units(whole: Labeled, name: str, variable: Variable, dims: list[str], entries: list[list[str]]) -> list[str]:
    """One for each column."""
    if name in _OWN_UNITS:
        return [str(unit) for unit in whole.coords[_OWN_UNITS[name][0]].values]
    if dims and dims[-1] == "component":
        return ["N m" if entry[-1].startswith("m") else "N" for entry in product(*entries)]
    return [variable.units] * int(np.prod([len(entry) for entry in entries], dtype=int))
