"""The store of a campaign: a folder with its description and Zarr arrays, one row per sample, written in blocks.

The status of a block is written last, and each file by a rename, so that a block is either complete or absent, even if the process
is killed. xarray opens the arrays.
"""

from __future__ import annotations

import json
import os
import shutil
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bough.errors import BoughError, StateError
from bough.whole import write_text

if TYPE_CHECKING:
    import xarray

    from bough.campaign.block import BlockResult
    from bough.compile.layout import Floats

FORMAT = 1
STUDY, FAILURES, ARRAYS = "campaign.json", "failures", "samples.zarr"


def zarr_library() -> Any:
    try:
        import zarr
    except ImportError:
        raise StateError("a campaign keeps its samples with Zarr, which is not installed; pip install 'bough[campaign]'") from None
    return zarr


class Store:
    """The samples of a campaign on disk."""

    def __init__(self, path: Path, facts: Mapping[str, Any]) -> None:
        self.path, self.facts = path, dict(facts)
        self.block, self.samples = int(facts["block"]), int(facts["samples"])
        self._arrays: dict[str, Any] = {}

    # ---- make and open -------------------------------------------------------------------------------------------------
    @classmethod
    def create(cls, path: Path, study: Mapping[str, Any], block: int, parameters: Mapping[str, str], metrics: Mapping[str, str],
               histories: Mapping[str, str], times: Floats) -> Store:
        """A new store; `parameters`, `metrics` and `histories`: names and units."""
        zarr = zarr_library()
        made = path.with_name(f"{path.name}.{uuid.uuid4().hex}.part")
        made.parent.mkdir(parents=True, exist_ok=True)
        try:
            n = int(study["samples"])
            group = zarr.create_group(made / ARRAYS, attributes={"title": f"campaign on {study['system']}"})

            def array(name: str, kind: str, shape: tuple[int, ...], dims: tuple[str, ...], fill: Any, unit: str = "") -> Any:
                chunks = tuple(min(block, n) if dim == "sample" else max(1, size) for dim, size in zip(dims, shape, strict=True))
                return group.create_array(name, dtype=kind, shape=shape, chunks=chunks, dimension_names=dims, fill_value=fill,
                                          attributes={"units": unit} if unit else {})

            array("parameters", "f8", (n, len(parameters)), ("sample", "parameter"), np.nan)
            array("metrics", "f8", (n, len(metrics)), ("sample", "metric"), np.nan)
            for name, unit in histories.items():
                array(f"history:{name}", "f8", (n, len(times)), ("sample", "time"), np.nan, unit)
            if histories:
                array("time", "f8", (len(times),), ("time",), np.nan, "s")[:] = times
            array("status", "u1", (n,), ("sample",), 0)
            (made / FAILURES).mkdir()
            facts = {
                "format": FORMAT,
                "block": block,
                "samples": n,
                "study": dict(study),
                "parameters": dict(parameters),
                "metrics": dict(metrics),
                "histories": dict(histories),
            }
            write_text(made / STUDY, json.dumps(facts, indent=1))
            os.replace(made, path)
        except BaseException:
            shutil.rmtree(made, ignore_errors=True)
            raise
        return cls(path, facts)

    @classmethod
    def open(cls, path: Path) -> Store:
        try:
            facts = json.loads((path / STUDY).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            raise StateError(f"{path}: is no store of a campaign; give the folder that `bough campaign` made") from None
        if facts.get("format") != FORMAT:
            raise StateError(f"{path}: has format {facts.get('format')!r}, and this version reads {FORMAT}; update bough")
        return cls(path, facts)

    # ---- blocks ----------------------------------------------------------------------------------------------------------
    def _array(self, name: str) -> Any:
        if name not in self._arrays:
            self._arrays[name] = zarr_library().open_group(self.path / ARRAYS, mode="r+")[name]
        return self._arrays[name]

    @property
    def blocks(self) -> list[tuple[int, int]]:
        """First and last sample of each block."""
        return [(first, min(first + self.block, self.samples)) for first in range(0, self.samples, self.block)]

    def status(self) -> Any:
        """(samples,): 0 not run, 1 done, 2 failed."""
        return zarr_library().open_group(self.path / ARRAYS, mode="r")["status"][:]

    def failed(self) -> int:
        """How many samples failed."""
        return int((self.status() == 2).sum())

    def missing(self) -> list[tuple[int, int]]:
        """Blocks that have not been run."""
        status = self.status()
        return [(first, last) for first, last in self.blocks if not status[first]]

    def write(self, found: BlockResult) -> None:
        """Store a block; its status is written last."""
        place = slice(found.first, found.last)
        try:
            self._array("parameters")[place] = found.values
            if found.metrics.size:
                self._array("metrics")[place] = found.metrics
            for name, values in found.histories.items():
                self._array(f"history:{name}")[place] = values
            if found.reasons:
                write_text(self.path / FAILURES / f"{found.first:09}.json", json.dumps(found.reasons))
            self._array("status")[place] = found.status
        except OSError as error:
            raise BoughError(f"{self.path}: sample {found.first} and on could not be kept ({error.strerror or error}); make room, "
                             "and start the same command again: what is there stays") from error

    def failures(self) -> dict[int, str]:
        """The reason of each failure, by sample."""
        found: dict[int, str] = {}
        for file in sorted((self.path / FAILURES).glob("*.json")):
            found |= {int(number): text for number, text in json.loads(file.read_text(encoding="utf-8")).items()}
        status = self.status()
        return {number: text for number, text in found.items() if status[number] == 2}

    def sample(self, number: int) -> tuple[float, ...] | None:
        """Values and metrics of one sample; None if it has not run."""
        if not self.status()[number]:
            return None
        metrics = self._array("metrics")[number].tolist() if self.facts["metrics"] else []
        return (*self._array("parameters")[number].tolist(), *metrics)

    def dataset(self) -> xarray.Dataset:
        """All samples: parameters, metrics, histories and status, each by its name."""
        import xarray

        data = xarray.open_zarr(self.path / ARRAYS, consolidated=False, chunks=None)
        names = [name for kind in ("parameters", "metrics", "histories") for name in self.facts[kind]]
        found = xarray.Dataset(coords={"sample": np.arange(self.samples)} | ({"time": data["time"]} if "time" in data else {}))
        for kind, role in (("parameters", "parameter"), ("metrics", "metric"), ("histories", "history")):
            for j, (name, unit) in enumerate(self.facts[kind].items()):
                values = data[f"history:{name}"] if role == "history" else data[kind].isel({role: j})
                shown = f"{name} {role}" if names.count(name) > 1 else name  # kept and measured by one name
                found[shown] = values.assign_attrs({"role": role} | ({"units": unit} if unit else {}))
        return found.assign(status=data["status"])
