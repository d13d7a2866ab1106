"""The contents of a result, from a run or a file: labeled arrays by record, and facts about the run."""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from bough import __version__
from bough.describe import System
from bough.errors import StateError, similar
from bough.integrate.trajectory import Occurrence, Trajectory
from bough.model import Model
from bough.results.dataset import Labeled

if TYPE_CHECKING:
    import xarray

    from bough.results.audit import Audit

_FLAGS = ("batched", "controlled", "base_pushed")


@dataclass(frozen=True)
class Facts:
    """The settings of a run and how it ended; also the attributes of a file, which cannot be None or booleans."""

    bough_version: str
    system_name: str
    method: str
    dt: float | None
    steps: int
    rejected: int
    wall_time: float
    failure: str | None
    batched: bool
    controlled: bool
    base_pushed: bool  # by a controller or inputs, against the world
    record: tuple[str, ...]
    assembled: str | None = None  # change of the initial state by closing the loops
    events: str | None = None  # by run, as JSON
    choice: str | None = None  # why "auto" took this method
    stability: str | None = None  # how fast the system is, and the longest stable step
    accuracy: str | None = None  # an estimate of the error

    @classmethod
    def of(cls, trajectory: Trajectory, record: tuple[str, ...]) -> Self:
        """The facts of a trajectory."""
        system = trajectory.model.whole
        return cls(__version__, system.name, trajectory.method, trajectory.dt, int(trajectory.steps), int(trajectory.rejected),
                   float(trajectory.wall_time), trajectory.failure, bool(trajectory.batched), bool(trajectory.u.any()),
                   trajectory.base_pushed, record, trajectory.assembled,
                   json.dumps([[event.to_mapping() for event in run] for run in trajectory.events]) if trajectory.events else None,
                   trajectory.choice, trajectory.stability, trajectory.accuracy)

    def to_attrs(self) -> dict[str, str | int | float]:
        """Strings and numbers only; None is left out."""
        attrs = {field.name: getattr(self, field.name) for field in fields(self)}
        attrs |= {name: int(attrs[name]) for name in _FLAGS} | {"record": " ".join(self.record)}
        return {key: value for key, value in attrs.items() if value is not None}

    @classmethod
    def from_attrs(cls, attrs: Mapping[str, Any]) -> Self:
        """From the attributes of a file."""
        known: dict[str, Any] = {field.name: attrs.get(field.name) for field in fields(cls)}
        known |= {name: bool(attrs[name]) for name in _FLAGS}
        found = cls(**known | {"record": tuple(str(attrs["record"]).split())})
        counts = {"steps": found.steps, "rejected": found.rejected, "wall_time": found.wall_time, "dt": found.dt or 0.0}
        for name, value in counts.items():
            if not isinstance(value, int | float) or not math.isfinite(value):
                raise ValueError(f"its '{name}' is {value!r}")
        for name in ("failure", "events", "assembled", "choice", "stability", "accuracy"):
            if not isinstance(getattr(found, name), str | None):
                raise ValueError(f"its '{name}' is {getattr(found, name)!r}")
        return found


class Report(ABC):
    """The interface for plots, summary and replay: facts, the system, its model, and labeled arrays by record."""

    facts: Facts

    @property
    @abstractmethod
    def system(self) -> System:
        """The description of the simulated system."""

    @property
    @abstractmethod
    def model(self) -> Model:
        """The compiled system."""

    @property
    @abstractmethod
    def system_attrs(self) -> dict[str, str]:
        """The system as attributes of a file: `system` in YAML, flexible bodies as their arrays; and maybe `meshes`, the triangles
        of mesh files, by path, in JSON. Written when they are asked for: it takes longer than a short run.
        """

    @abstractmethod
    def has(self, record: str) -> bool:
        """Whether `labeled` can give this record."""

    @abstractmethod
    def labeled(self, record: str) -> Labeled:
        """The variables of one record."""

    @cached_property
    def arrays(self) -> Labeled:
        """All recorded variables, with names, units and coordinates."""
        whole = Labeled(attrs=self.facts.to_attrs())
        for record in self.facts.record:
            part = self.labeled(record)
            whole.coords |= part.coords
            whole.variables |= part.variables
            whole.attrs |= part.attrs
        return whole

    @cached_property
    def data(self) -> xarray.Dataset:
        """All recorded variables as an xarray.Dataset with names, units and coordinates."""
        return replace(self.arrays, attrs=self.arrays.attrs | self.system_attrs).to_xarray()

    def array(self, name: str) -> NDArray[Any]:
        """The values of one recorded variable, ([run,] time, ...)."""
        if name not in self.arrays.variables:
            known = self.arrays.variables
            raise StateError(f"there is no variable {name!r} in this result{similar(name, known)}; it has {', '.join(known)}")
        return self.arrays.variables[name].values

    @property
    def time(self) -> NDArray[np.float64]:
        """The times of the samples [s]."""
        return self.arrays.coords["time"].values

    @property
    def runs(self) -> int:
        """The number of runs of a batch; 1 for a single run."""
        return len(self.arrays.coords["run"].values) if self.facts.batched else 1

    @property
    @abstractmethod
    def audit(self) -> Audit | None:
        """Consistency checks of the recorded run; None for files of older versions."""

    @property
    def failure(self) -> str | None:
        """Why the run stopped early; None if it reached its end."""
        return self.facts.failure

    @cached_property
    def events(self) -> tuple[Occurrence, ...] | tuple[tuple[Occurrence, ...], ...]:
        """Events in order: locks, releases, stops, with the jumps of the speeds; for a batch, one tuple per run."""
        return self.events_by_run if self.facts.batched else self.events_by_run[0]

    @cached_property
    def events_by_run(self) -> tuple[tuple[Occurrence, ...], ...]:
        """The events of each run."""
        runs = json.loads(self.facts.events) if self.facts.events else [[]] * self.runs
        return tuple(tuple(Occurrence.from_mapping(event) for event in run) for run in runs)
