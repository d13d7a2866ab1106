"""Long runs on disk: samples go to a folder part by part, with what is needed to go on, and become one NetCDF file at the end.

Each part appears when it is complete, so whatever ends the process leaves a run that can go on from the last one.  Memory holds one
part.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from bough.errors import StateError
from bough.integrate.checkpoint import with_samples_before
from bough.integrate.trajectory import Trajectory
from bough.results.netcdf import Appender, folder_of, pack_meshes
from bough.results.report import Facts
from bough.results.result import Result

ARRAYS = ("t", "x", "u", "law_states")


class Parts:
    """The parts of a run in a folder."""

    def __init__(self, path: Path) -> None:
        self.path, self.folder = path, folder_of(path)

    def begin(self, system: str) -> None:
        """An empty folder, with the system in it."""
        try:
            shutil.rmtree(self.folder, ignore_errors=True)
            self.folder.mkdir(parents=True)
            _write(self.folder / "system.yaml", system.encode())
        except OSError as error:
            raise StateError(f"{self.folder}: cannot be written ({error.strerror}); give another path") from None

    @property
    def files(self) -> list[Path]:
        return sorted(self.folder.glob("part-*.npz"))

    def append(self, trajectory: Trajectory) -> None:
        """One more part; then what is needed to go on after it."""
        target = self.folder / f"part-{len(self.files):06d}.npz"
        try:
            with target.with_suffix(".new").open("wb") as file:
                arrays = {name: getattr(trajectory, name) for name in ARRAYS}
                np.savez(file, memory=np.array(json.dumps(trajectory.memory)), **arrays)
                file.flush()
                os.fsync(file.fileno())
            target.with_suffix(".new").replace(target)
        except OSError as error:
            raise StateError(f"{target}: cannot be written ({error.strerror}); make room and resume {self.path}") from None

    def read(self) -> Iterator[dict[str, Any]]:
        """Each part: its arrays, and its memory."""
        for file in self.files:
            with np.load(file, allow_pickle=False) as part:
                yield {name: part[name] for name in ARRAYS} | {"memory": json.loads(str(part["memory"]))}

    def whole(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """What is needed to go on after the last part that is complete, and all samples."""
        found = list(self.read())
        if not found:
            raise StateError(f"{self.folder}: holds no complete part; start the run anew")
        memory = with_samples_before(found[-1]["memory"], sum(len(part["t"]) for part in found[:-1]))
        return memory, {name: np.concatenate([part[name] for part in found], axis=0 if name == "t" else 1) for name in ARRAYS}

    @property
    def system(self) -> str:
        return (self.folder / "system.yaml").read_text()

    def merge(self, whole: Trajectory, record: tuple[str, ...]) -> Path:
        """All parts as one file, which appears when it is complete; the folder goes.  `whole`: the last part, and facts of all."""
        first, before = True, 0
        with Appender(self.path) as file:
            for part in self.read():
                file.keep({name: part[name] for name in ARRAYS})
                memory = with_samples_before(part["memory"], before)
                before += len(part["t"])
                if len(part["t"]):
                    chunk = replace(whole, **{name: part[name] for name in ARRAYS}, memory=None)
                    result = Result(chunk, record)
                    file.append(result.arrays, first=first)
                    first = False
            attrs = Facts.of(whole, record).to_attrs() | {"system": self.system}
            packed = pack_meshes(whole.model.system)
            file.finish(attrs | ({"meshes": packed} if packed else {}), memory)
        shutil.rmtree(self.folder, ignore_errors=True)
        return self.path


def _write(path: Path, data: bytes) -> None:
    part = path.with_suffix(".new")
    part.write_bytes(data)
    part.replace(path)
