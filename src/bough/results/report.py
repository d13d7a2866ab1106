"""What can be done with any result, fresh from a run or read from a file: look at it, plot it, save it."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Container
from dataclasses import replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bough.integrate.trajectory import Occurrence
from bough.progress import working
from bough.results import meshes, netcdf, summary
from bough.results.facts import Facts
from bough.results.labeled import Labeled

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

    from bough.describe import System
    from bough.look.replay import Replay


class Report(ABC):
    """The common ground of Result and SavedResult: `facts`, `system`, and labeled arrays by record."""

    facts: Facts

    @abstractmethod
    def labeled(self, record: str) -> Labeled:
        """The variables of one record."""

    @property
    @abstractmethod
    def system(self) -> System:
        """The description of what was simulated."""

    @cached_property
    def arrays(self) -> Labeled:
        """All that was recorded, with names, units and coordinates."""
        whole = Labeled(attrs=self.facts.to_attrs())
        for record in self.facts.record:
            part = self.labeled(record)
            whole.coords |= part.coords
            whole.variables |= part.variables
            whole.attrs |= part.attrs
        return whole

    @cached_property
    def data(self) -> xarray.Dataset:
        """All that was recorded as an xarray.Dataset with names, units and coordinates."""
        return self.arrays.to_xarray()

    def array(self, name: str) -> np.ndarray:
        """The values of one recorded variable, ([run,] time, ...)."""
        return self.arrays.variables[name].values

    @property
    def time(self) -> np.ndarray:
        """The times of the samples [s]."""
        return self.arrays.coords["time"].values

    @property
    def runs(self) -> int:
        """How many members the batch has; 1 for a single run."""
        return len(self.arrays.coords["run"].values) if self.facts.batched else 1

    @property
    def failure(self) -> str | None:
        """Why the run stopped early; None if it reached its end."""
        return self.facts.failure

    @cached_property
    def events(self) -> tuple[Occurrence, ...] | tuple[tuple[Occurrence, ...], ...]:
        """What happened, in order: locks, releases, stops, with the jumps of the speeds; of a batch, for each run."""
        return self.events_by_run if self.facts.batched else self.events_by_run[0]

    @cached_property
    def events_by_run(self) -> tuple[tuple[Occurrence, ...], ...]:
        told = json.loads(self.facts.events) if self.facts.events else [[]]*self.runs
        return tuple(tuple(Occurrence.from_mapping(event) for event in run) for run in told)

    @property
    def summary(self) -> str:
        """What `print` shows."""
        return summary.text(self)

    def save(self, path: str | PathLike[str]) -> Path:
        """Write a NetCDF file that holds the data, its facts and the system, meshes included; `bough.open_result` reads it."""
        target, whole = Path(path), self.arrays
        with working(f"writing {target}"):
            if self.facts.meshes is None and (packed := meshes.pack_all(self.system)):
                whole = replace(whole, attrs=whole.attrs | {"meshes": packed})
            netcdf.write(target, whole)
        return target

    def plot(self, what: str = "joints", path: str | PathLike[str] | None = None) -> Figure:
        """A figure of "joints", "modes", "energy", "momentum", "reactions", "loops" (their forces), "gaps", "elements", "nodes",
        "strain", "poses", "wheels", "torque", "drives" or "orbit"; also written to a file if a path is given."""
        from bough.results.plots import plot

        return plot(self, what, path)

    def plots(self, folder: str | PathLike[str], *, prefix: str = "", but: Container[str] = ()) -> list[Path]:
        """Every figure of what was recorded, `but` those named, as PNG files in a folder."""
        from bough.results.plots import write_all

        return write_all(self, Path(folder), prefix, but)

    def view(
        self, path: str | PathLike[str] | None = None, *, open: bool | None = None, run: int = 0, frames: int | None = None
    ) -> Replay:
        """A moving 3-D picture of the run as one HTML file that needs nothing else: bodies, joints, deformations, loads, plots.

        path      where it is written; without one, to a temporary file that is opened in the browser (a notebook shows it itself)
        open      whether it is opened in the browser
        run       which member of a batch
        frames    how many samples are kept at most; without it, as many as make a page of some 30 MB
        """
        from bough.look.replay import replay

        return replay(self, path, open=open, run=run, frames=frames)

    def __repr__(self) -> str:
        return self.summary
