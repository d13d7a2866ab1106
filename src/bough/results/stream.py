"""Long runs on disk: samples are written to a folder part by part, with the data needed to resume, and merged into one NetCDF file
at the end.

Each part appears when it is complete, so that an interrupted run can be resumed from the last one.  Memory holds one part.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from bough.describe.numeric import shown
from bough.errors import SimulationError, StateError
from bough.integrate.checkpoint import with_samples_before
from bough.integrate.integration import Integration
from bough.integrate.trajectory import Trajectory, positive
from bough.results.audit import MOST, Audit, audited, origin, thinned
from bough.results.netcdf import Appender, appended_to, file_path, folder_of, pack_meshes, read_head, read_samples, sound
from bough.results.result import Result, SavedResult, open_result
from bough.results.result_contents import Facts
from bough.whole import discard

ARRAYS = ("t", "x", "u", "law_states")
MOST_NUMBERS = 4_000_000            # of samples in memory


class Parts:
    """The parts of a run in a folder."""

    def __init__(self, path: Path) -> None:
        self.path, self.folder = path, folder_of(path)
        self.next = len(self.files)                             # number of the next part

    def begin(self, system: str) -> None:
        """Create a folder with the system and no parts."""
        self.adopt(system, ())
        self.next = 0

    def adopt(self, system: str, parts: Iterable[dict[str, Any]]) -> None:
        """Create a folder with the parts of another run, which this one continues; it appears when complete."""
        new = self.folder.with_name(self.folder.name + ".new")
        try:
            shutil.rmtree(new, ignore_errors=True)
            new.mkdir(parents=True)
            (new / "system.yaml").write_bytes(system.encode())
            for i, part in enumerate(parts):
                self._put(new / _name(i), part)
            discard(self.folder)
            new.rename(self.folder)
        except OSError as error:
            raise StateError(f"{self.folder}: cannot be written ({error.strerror}); give another path") from None

    @property
    def files(self) -> list[Path]:
        return sorted(self.folder.glob("part-*.npz"))

    def append(self, trajectory: Trajectory) -> None:
        """Write one more part, with the data needed to resume after it."""
        arrays = {name: getattr(trajectory, name) for name in ARRAYS}
        self._put(self.folder / _name(self.next), arrays | {"memory": trajectory.memory})
        self.next += 1

    def _put(self, target: Path, part: dict[str, Any]) -> None:
        try:
            with target.with_suffix(".new").open("wb") as file:
                np.savez(file, memory=np.array(json.dumps(part["memory"])), **{name: part[name] for name in ARRAYS})
                file.flush()
                os.fsync(file.fileno())
            target.with_suffix(".new").replace(target)
        except OSError as error:
            raise StateError(f"{target}: cannot be written ({error.strerror}); make room and resume {self.path}") from None

    def last(self) -> dict[str, Any]:
        """The last complete part; the next one replaces it, so that a sample that was only the end of the earlier run is
        dropped."""
        self.next = len(self.files) - 1
        if self.next < 0:
            raise StateError(f"{self.folder}: holds no complete part; start the run anew")
        return self._get(self.files[-1])

    def _get(self, file: Path) -> dict[str, Any]:
        with sound(file), np.load(file, allow_pickle=False) as part:
            return {name: part[name] for name in ARRAYS} | {"memory": json.loads(str(part["memory"]))}

    def read(self) -> Iterator[dict[str, Any]]:
        """Each part: its arrays, and its memory."""
        yield from map(self._get, self.files)

    def whole(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The data needed to resume after the last complete part, and all samples."""
        found = list(self.read())
        if not found:
            raise StateError(f"{self.folder}: holds no complete part; start the run anew")
        memory = with_samples_before(found[-1]["memory"], sum(len(part["t"]) for part in found[:-1]))
        return memory, {name: np.concatenate([part[name] for part in found], axis=0 if name == "t" else 1) for name in ARRAYS}

    @property
    def system(self) -> str:
        with sound(self.folder):
            return (self.folder / "system.yaml").read_text()

    def merge(self, whole: Trajectory, record: tuple[str, ...]) -> Path:
        """Merge all parts into one file, which appears when complete, and remove the folder. `whole`: the last part, with the facts
        of the run."""
        try:
            with appended_to(self.path) as file:
                self._gather(file, whole, record)
        except OSError as error:
            raise StateError(f"{self.path}: cannot be written ({error.strerror or error}); make room and resume it") from None
        discard(self.folder)
        return self.path

    def _gather(self, file: Appender, whole: Trajectory, record: tuple[str, ...]) -> None:
        before = 0
        for part in self.read():
            file.keep({name: part[name] for name in ARRAYS})
            memory = with_samples_before(part["memory"], before)
            before += len(part["t"])
            if len(part["t"]):
                file.append(Result(replace(whole, **{name: part[name] for name in ARRAYS}, memory=None), record).arrays)
        attrs = Facts.of(whole, record).to_attrs() | {"system": self.system, "audit": self.audit(whole).to_json()}
        if packed := pack_meshes(whole.model.system):
            attrs["meshes"] = packed
        file.finish(attrs, memory)

    def audit(self, whole: Trajectory) -> Audit:
        """The audit of some samples of all parts."""
        each, chosen = max(2, MOST//max(len(self.files), 1)), []
        for part in self.read():
            if len(part["t"]):
                chosen.append(thinned(replace(whole, **{name: part[name] for name in ARRAYS}), each))
        joined: Any = {name: np.concatenate([getattr(part, name) for part in chosen], axis=0 if name == "t" else 1)
                       for name in ARRAYS}
        return replace(audited(replace(whole, **joined)), origin=origin(whole, self.system))


def parts_of(path: Path) -> Iterator[dict[str, Any]]:
    """The samples of a complete file as parts; the last has the data needed to resume."""
    memory, before, last = read_head(path)[2], 0, -np.inf
    for samples in read_samples(path, MOST_NUMBERS):
        kept = with_samples_before(json.loads(json.dumps(memory)), -before)             # as if those before had been dropped
        for run in kept["runs"]:
            run["dropped"] = last if before else run["dropped"]
        yield samples | {"memory": kept}
        before, last = before + len(samples["t"]), float(samples["t"][-1]) if len(samples["t"]) else last


def streaming(save_to: Any, checkpoint: float | None) -> tuple[Path, float] | None:
    """The file for streamed samples and the seconds between checkpoints; None without streaming."""
    if save_to is None and checkpoint is not None:
        raise StateError(f"checkpoint is {shown(checkpoint)}, but nothing is streamed; give save_to, too")
    if save_to is None:
        return None
    interval = 60.0 if checkpoint is None else positive("checkpoint", checkpoint, "seconds between two checkpoints")
    return file_path("save_to", save_to), interval


def checkpoint_of(path: Path) -> float | None:
    """Seconds between checkpoints of a streamed run, from its file or parts; None if it was not streamed."""
    parts = Parts(path)
    found = (parts.last()["memory"] if parts.folder.is_dir() else read_head(path)[2]).get("checkpoint")
    return None if found is None else float(found)


def _name(i: int) -> str:
    return f"part-{i:06d}.npz"


# ---- streamed runs --------------------------------------------------------------------------------------------------
class Store:
    """The target and the source of a resumed run with streaming."""

    def __init__(self, path: Path, source: Path, system: str) -> None:
        self.path, self.source, self.system, self.used = path, source, system, False

    def parts(self) -> Parts:
        """The earlier samples as parts at the target; files are changed only by this call."""
        if self.used:
            raise StateError(f"finish: the run came to its end in {self.path}; go on with bough.resume('{self.path}', save_to=...)")
        self.used, there, before = True, Parts(self.path), Parts(self.source)
        unfinished = before.folder.is_dir()
        if not unfinished or self.path != self.source:
            there.adopt(self.system, before.read() if unfinished else parts_of(self.source))
        there.last()
        return there


def stream(integration: Integration, parts: Parts, until: float, record: tuple[str, ...], interval: float,
           progress: Any) -> SavedResult:
    """Advance to the end in parts written to disk, each limited by its run time or its memory."""
    path, numbers = parts.path, sum(run.x.size + run.u.size for run in integration.runs)
    period = integration.sampling.period if integration.sampling is not None else until - integration.start
    integration.end, integration.checkpoint, t = until, interval, min(run.shown for run in integration.runs)
    length, longest = 16*period, max(1, MOST_NUMBERS//numbers)*period
    whole = integration.trajectory()
    while t < until and not integration.failure:
        ahead, began = t + min(length, longest), time.perf_counter()
        t = until if ahead > until - 1e-6*period else ahead
        if t < until:
            integration.go_to(t, progress, until)
        else:
            integration.finish(until, progress)
        whole = integration.trajectory()
        parts.append(whole)
        integration.drop_samples()
        took = max(time.perf_counter() - began, 1e-6)
        length = float(np.clip(length*interval/took, period, 10.0*length))
    parts.merge(whole, record)
    result = open_result(path)
    if integration.failure and not integration.failure.startswith("interrupted"):
        name = integration.model.system.name
        raise SimulationError(f"system '{name}': {integration.failure} (what was recorded is in {path})", result)
    return result
