"""The result of a run, and the result read from a file."""

from __future__ import annotations

import html
import webbrowser
from collections.abc import Container, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

import bough
from bough import results
from bough.describe import System
from bough.errors import StateError
from bough.integrate.trajectory import Trajectory
from bough.model import Model
from bough.progress import working
from bough.results.quantities import RECORDS, select_records
from bough.results.result_contents import Facts, Report

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

    from bough.analyze.linear import LinearSystem
    from bough.results.audit import Audit
    from bough.results.dataset import Labeled


@dataclass(frozen=True)
class Replay:
    """A 3-D animation of a result in an HTML file; notebooks display it inline."""

    path: Path
    frames: int
    samples: int

    def open(self) -> None:
        """Show it in the default browser."""
        if not webbrowser.open(self.path.resolve().as_uri()):
            raise StateError(f"{self.path}: no browser could be started; open the file in one yourself")

    def _repr_html_(self) -> str:
        whole = html.escape(self.path.read_text(encoding="utf-8"))
        return f'<iframe srcdoc="{whole}" style="width: 100%; height: 640px; border: 0" allowfullscreen></iframe>'

    def __str__(self) -> str:
        every = f"{self.frames} frames" if self.frames == self.samples else f"{self.frames} frames of {self.samples} samples"
        return f"{self.path}, {every}, {self.path.stat().st_size / 1e6:.1f} MB"


class ShownResult(Report):
    """Common to all results: print, plot, save and replay."""

    @property
    def summary(self) -> str:
        """The text that `print` shows."""
        return results.summary.text(self)

    def __repr__(self) -> str:
        return self.summary

    def save(self, path: str | PathLike[str]) -> Path:
        """Write a NetCDF file with the data, the facts of the run and the system, meshes included; `bough.open_result` reads it.

        Missing folders are created. Returns the path of the file."""
        target = results.netcdf.file_path("path", path)
        with working(f"writing {target}"):
            attrs = self.arrays.attrs | self.system_attrs | self._audit_attrs
            if "meshes" not in attrs and (packed := results.netcdf.pack_meshes(self.system)):
                attrs["meshes"] = packed
            results.netcdf.write(target, replace(self.arrays, attrs=attrs), self._resume)
        return target

    @property
    def _resume(self) -> Any:
        """The data that a file needs to resume the run."""
        return None

    @property
    def _audit_attrs(self) -> dict[str, str]:
        """The audit as an attribute of a file."""
        return {} if self.audit is None else {"audit": self.audit.to_json()}

    def plot(self, what: str = "state", path: str | PathLike[str] | None = None) -> Figure:
        """Draw a figure, and write it to a file if a path is given.

        `what` is a name accepted by `record`, such as "state", "energy" or "loops", or one variable of `data`, such as
        "loop_gap"."""
        return results.plots.plot(self, what, path)

    def plots(self, folder: str | PathLike[str], *, prefix: str = "", skip: Container[str] = ()) -> list[Path]:
        """Draw a figure of every available record except those in `skip`, as PNG files in a folder; return their paths."""
        return results.plots.write_all(self, Path(folder), prefix, skip)

    def view(self, path: str | PathLike[str] | None = None, *, open: bool | None = None, run: int = 0,
             frames: int | None = None) -> Replay:
        """Write a 3-D animation of the run as one self-contained HTML file: bodies, joints, deformations, loads, plots.

        Parameters
        ----------
        path
            The file; by default a temporary one, which is opened in the browser (notebooks display it inline).
        open
            Whether to open it in the browser.
        run
            Which member of a batch.
        frames
            Keep at most this many samples; by default as many as fit in a page of about 30 MB.
        """
        replay: Replay = bough.view(self, path, open=open, run=run, frames=frames)
        return replay


class Result(ShownResult):
    """The result of a run: `data`, `plot()`, `save()`, `view()`; `print` shows a summary.

    Quantities are computed from the recorded states when first needed. Plots and the replay can show quantities that `record` does
    not name.

    Parameters
    ----------
    trajectory
        The sampled states.
    record
        The quantities in `data`: names as in `simulate`.

    Attributes
    ----------
    data : xarray.Dataset
        All recorded quantities, with names, units and coordinates.
    time : ndarray
        The times of the samples [s].
    system : System
        The description of the simulated system.
    model : Model
        The compiled system.
    facts : Facts
        The settings of the run and how it ended.
    failure : str or None
        Why the run stopped early; None if it reached its end.
    events : tuple of Occurrence
        The events that occurred, in order; for a batch, one tuple per run.
    """

    def __init__(self, trajectory: Trajectory, record: str | Iterable[str] | None = None) -> None:
        self.trajectory = _trimmed(trajectory)
        names = select_records(record, trajectory.model.whole, controlled=bool(trajectory.u.any()))
        self.facts = Facts.of(trajectory, names)
        self._cache: dict[str, Labeled] = {}

    @property
    def system(self) -> System:
        """The description of the simulated system."""
        return self.trajectory.model.whole

    @property
    def model(self) -> Model:
        """The compiled system."""
        return self.trajectory.model

    @cached_property
    def system_attrs(self) -> dict[str, str]:
        """The system as attributes of a file."""
        return {"system": self.system.to_yaml(exact=True)}

    @property
    def _audit_attrs(self) -> dict[str, str]:
        return {"audit": replace(self.audit, origin=results.audit.origin(self.trajectory, self.system_attrs["system"])).to_json()}

    @property
    def _resume(self) -> Any:
        run = self.trajectory
        arrays = {"t": run.t, "x": run.x, "u": run.u, "law_states": run.law_states}
        return None if run.memory is None else results.netcdf.Resume(run.memory, arrays)

    @cached_property
    def audit(self) -> Audit:
        """Consistency checks of the recorded run: energy and momentum balances, loop gaps, errors; see `bough audit`."""
        return results.audit.audited(self.trajectory)

    def has(self, record: str) -> bool:
        """Anything that the system has can be computed."""
        return True

    def labeled(self, record: str) -> Labeled:
        """The variables of one record, computed from the states if necessary."""
        if record not in self._cache:
            recorded = record in self.facts.record
            wanted = [name for name in self.facts.record if name not in self._cache] if recorded else [record]
            whole = results.dataset.label(self.trajectory, wanted)        # all recorded quantities in one pass over the states
            for name in wanted:
                variables = {key: whole.variables[key] for key in RECORDS[name].quantities if key in whole.variables}
                self._cache[name] = results.dataset.Labeled(whole.coords, variables, self._singular)
        return self._cache[record]

    @cached_property
    def _singular(self) -> dict[str, Any]:
        """Singular configurations of the loops, as attributes of the dataset."""
        if not self.trajectory.model.constrained:
            return {}
        return results.singular.to_attrs(results.singular.find_singular(self.trajectory))

    def linearize(self, t: float, *, run: int = 0, **options: Any) -> LinearSystem:
        """The linear system of small deviations from the run, at the recorded sample nearest to a time; see `Model.linearize`.

        Held coordinates, inputs and states of compiled laws are those of the run at that time; `run` is the member of a batch.
        Further options are inputs (a list of names), outputs, laws, independent, dt and hold, as in `Model.linearize`."""
        model, state = results.evaluation.state_at(self.trajectory, t, run)
        state["at"] = state.pop("inputs")
        if options.get("laws"):
            state = {**state, "tau": None, "motors": None, "at": None}      # laws set them again
        else:
            state.pop("law_states")
        return model.linearize(**{name: value for name, value in state.items() if value is not None}, **options)

    def internal_loads(self, cut: str | Iterable[str], *, at: ArrayLike = (0.0, 0.0, 0.0), axes: str = "child") -> xarray.DataArray:
        """The loads through a joint or loop, or through a cut, over time; see `Model.internal_loads`.

        Components that the dynamics does not determine are NaN and listed in `attrs["not_determined"]`."""
        return results.dataset.label_internal_loads(self.trajectory, cut, at, axes)


def _trimmed(trajectory: Trajectory) -> Trajectory:
    """Without final samples that no run reached."""
    reached = np.isfinite(trajectory.x).all(axis=2).any(axis=0)
    if reached.all():
        return trajectory
    return trajectory.part(slice(1 + int(np.flatnonzero(reached)[-1])))


class SavedResult(ShownResult):
    """A result read from a file: like `Result`, but limited to the recorded quantities."""

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = results.netcdf.file_path("path", path)
        self._file = results.netcdf.read(self.path)
        with results.netcdf.sound(self.path):
            self.facts = Facts.from_attrs(self._file.attrs)
            self._check()

    def _check(self) -> None:
        """Check that the file contains everything that its facts list, with matching axes."""
        if unknown := [name for name in self.facts.record if name not in RECORDS]:
            raise StateError(f"{self.path}: says that {unknown[0]!r} was recorded, which this version does not know; update bough")
        for name in ("system", *(() if not self.facts.batched else ("run",)), "time"):
            if name not in (self._file.attrs if name == "system" else self._file.coords):
                raise StateError(f"{self.path}: is damaged (it has no '{name}'); give a file as bough wrote it")
        if not self.facts.record:
            raise StateError(f"{self.path}: is damaged (nothing was recorded); give a file as bough wrote it")
        lead = ("run",)*self.facts.batched + ("time",)
        wanted = {key: (*lead, *each.dims) for name in self.facts.record for key, each in RECORDS[name].quantities.items()}
        for name, variable in self._file.variables.items():
            if variable.dims != wanted.get(name, variable.dims):
                raise StateError(f"{self.path}: is damaged ('{name}' is along {variable.dims}, not along {wanted[name]}); "
                                 "give a file as bough wrote it")
        n = len(self._file.coords["time"].values)
        for name, variable in self._file.variables.items():
            if "time" in variable.dims and variable.values.shape[variable.dims.index("time")] != n:
                raise StateError(f"{self.path}: is damaged ('{name}' has other times); give a file as bough wrote it")

    @cached_property
    def system(self) -> System:
        """The description of the simulated system."""
        with results.netcdf.sound(self.path):
            return results.netcdf.read_system(self.system_attrs["system"], self.system_attrs.get("meshes"))

    @property
    def system_attrs(self) -> dict[str, str]:
        """The system as attributes of the file."""
        return {key: self._file.attrs[key] for key in ("system", "meshes") if key in self._file.attrs}

    @cached_property
    def model(self) -> Model:
        """The system, compiled."""
        model: Model = self.system.compile()
        return model

    @cached_property
    def audit(self) -> Audit | None:
        """The audit made when the file was written."""
        with results.netcdf.sound(self.path):
            return results.audit.Audit.from_json(self._file.attrs["audit"]) if "audit" in self._file.attrs else None

    def has(self, record: str) -> bool:
        """Whether it was recorded."""
        return record in self.facts.record

    def labeled(self, record: str) -> Labeled:
        """The variables of one record."""
        if not self.has(record):
            raise StateError(f"{self.path}: {record!r} was not recorded; it holds {', '.join(self.facts.record)}; "
                             "name it in 'record' and simulate again")
        variables = {key: self._file.variables[key] for key in RECORDS[record].quantities if key in self._file.variables}
        attrs = {key: self._file.attrs[key] for key in results.singular.ATTRS if key in self._file.attrs}
        return results.dataset.Labeled(self._file.coords, variables, attrs)


def open_result(path: str | PathLike[str]) -> SavedResult:
    """Read a result that `Result.save` or `simulate(save_to=...)` wrote to a NetCDF file; it holds only the recorded quantities."""
    return SavedResult(path)
