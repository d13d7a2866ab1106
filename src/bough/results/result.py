"""The result of a run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bough.describe import System
from bough.errors import StateError
from bough.results import meshes, netcdf
from bough.results.dataset import label
from bough.results.facts import Facts
from bough.results.internal_loads import internal_loads
from bough.results.labeled import Labeled
from bough.results.records import RECORDS, chosen
from bough.results.report import Report
from bough.results.singular import ATTRS

if TYPE_CHECKING:
    import xarray

    from bough.integrate.trajectory import Trajectory


class Result(Report):
    """What a run gave: `data` (an xarray.Dataset), `plot()`, `save()`; printed, it is a summary.

    `record` names what goes into `data`; it is computed from the recorded states when it is first looked at. Plots may
    show what `record` does not name.
    """

    def __init__(self, trajectory: Trajectory, record: str | Iterable[str] | None = None) -> None:
        self.trajectory = _reached(trajectory)
        names = chosen(record, trajectory.model.system, controlled=bool(trajectory.u.any()))
        self.facts = Facts.of(trajectory, names)
        self._cache: dict[str, Labeled] = {}

    @property
    def system(self) -> System:
        """The description of what was simulated."""
        return self.trajectory.model.system

    def labeled(self, record: str) -> Labeled:
        """The variables of one record, derived from the states if need be."""
        if record not in self._cache:
            recorded = record in self.facts.record
            wanted = [name for name in self.facts.record if name not in self._cache] if recorded else [record]
            whole = label(self.trajectory, wanted)              # all that is recorded at once: one pass over the states
            for name in wanted:
                variables = {key: whole.variables[key] for key in RECORDS[name] if key in whole.variables}
                self._cache[name] = Labeled(whole.coords, variables, whole.attrs)
        return self._cache[record]


    def internal_loads(self, cut: Any, *, at: Any = (0.0, 0.0, 0.0), axes: str = "child") -> xarray.DataArray:
        """The loads through a joint or loop (its name), or through a cut (a list of names), over time; see Model.internal_loads.

        Components that the dynamics does not determine are NaN, and `attrs["not_determined"]` says which they are.
        """
        return internal_loads(self.trajectory, cut, at, axes)


def _reached(trajectory: Trajectory) -> Trajectory:
    """Without the samples at the end that no run reached."""
    reached = np.isfinite(trajectory.x).all(axis=2).any(axis=0)
    if reached.all():
        return trajectory
    n = 1 + int(np.flatnonzero(reached)[-1])
    return replace(trajectory, t=trajectory.t[:n], x=trajectory.x[:, :n], u=trajectory.u[:, :n])


class SavedResult(Report):
    """A result read from a file: as Result, but with what was recorded only."""

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = Path(path)
        self._file = netcdf.read(self.path)
        self.facts = Facts.from_attrs(self._file.attrs)

    @cached_property
    def system(self) -> System:
        """The description of what was simulated: `system.compile()` gives the model."""
        return meshes.read_system(self.facts.system, self.facts.meshes)

    def labeled(self, record: str) -> Labeled:
        """The variables of one record."""
        if record not in self.facts.record:
            raise StateError(f"{self.path}: {record!r} was not recorded; it holds {', '.join(self.facts.record)}; "
                             "name it in 'record' and simulate again")
        variables = {key: self._file.variables[key] for key in RECORDS[record] if key in self._file.variables}
        return Labeled(self._file.coords, variables, {key: self._file.attrs[key] for key in ATTRS if key in self._file.attrs})


def open_result(path: str | PathLike[str]) -> SavedResult:
    """Read a result that `save` wrote."""
    return SavedResult(path)
