"""Where everything is, frame by frame: the states of a result put through its model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bough.errors import StateError
from bough.results.deflections import modal_coordinates
from bough.results.quaternions import continuous, quaternions
from bough.results.result import Result

if TYPE_CHECKING:
    from bough.model import Model
    from bough.results.report import Report

BUDGET = 40_000_000  # bytes of all frames: a page of some 30 MB
MOST, LEAST = 3000, 200  # frames
_FARTHEST = 1e12  # m or rad
_CHUNK = 60_000  # bodies times states that are asked for at once
_LEAST = 4  # states: with fewer, the model would need its one-lane kernels too

Progress = Callable[[float], None]


@dataclass(frozen=True)
class Motion:
    """One run at the frames of its replay, world axes. `origin` is the point that the page draws relative to: places far from the
    world's origin keep their digits."""

    model: Model
    run: int
    samples: np.ndarray     # (frames,) which samples of the result are frames
    of_samples: int         # how many samples there are
    time: np.ndarray        # (frames,)
    q: np.ndarray           # (frames, nq)
    origin: np.ndarray      # (frames, 3) the system's mass center
    position: np.ndarray    # (frames, bodies, 3)
    attitude: np.ndarray    # (frames, bodies, 4)

    @property
    def poses(self) -> np.ndarray:
        """(frames, bodies, 7) position relative to `origin`, quaternion: what the page holds."""
        relative = self.position - self.origin[:, None]
        return np.concatenate([relative, self.attitude], axis=2).astype(np.float32)

    @property
    def eta(self) -> dict[str, np.ndarray]:
        """(frames, modes) by flexible body."""
        return modal_coordinates(self.model.system, self.q)

    def pick(self, values: np.ndarray, batched: bool) -> np.ndarray:
        """Of a variable ([run,] time, ...) of the result, what belongs to the frames."""
        return (values[self.run] if batched else values)[self.samples]


def motion(report: Report, run: int, frames: int | None, columns: int, progress: Progress) -> Motion:
    """The motion of one run of a result, with so many frames at most; `columns` of curves go with it."""
    if not 0 <= run < report.runs:
        raise StateError(f"run is {run}; the result has {report.runs} run{'s' * (report.runs > 1)}: give 0 to {report.runs - 1}")
    if not isinstance(report, Result) and "state" not in report.facts.record:
        recorded = ", ".join(report.facts.record)
        raise StateError(f"a replay is made from states, but the result holds only {recorded}; run it again with 'state' in record")
    states = report.labeled("state").variables["q"].values
    q = states[run] if report.facts.batched else states
    model = _model(report, run)
    reached = np.flatnonzero((np.abs(q) < _FARTHEST).all(axis=1))       # without the end of a run that diverged
    samples = reached[chosen(len(reached), frames, _bytes(model, columns))]
    origin, position, attitude = _observed(model, q[samples], progress)
    return Motion(model, run, samples, len(reached), report.time[samples], q[samples], origin, position,
                  continuous(attitude, axis=0))  # fmt: skip


def _bytes(model: Model, columns: int) -> int:
    """What a frame takes: poses and modes in floats, curves and joint loads in 16 bits."""
    bodies = len(model.names.bodies)
    return 4 * (7 * bodies + model.nq) + 2 * (columns + 6 * bodies)


def chosen(samples: int, frames: int | None, size: int) -> np.ndarray:
    """Which samples are frames: all, or as many of this size [bytes] as there is room for, evenly spread from first to last.

    >>> chosen(7, 3, 10).tolist()
    [0, 3, 6]
    """
    if frames is not None and frames < 2:
        raise StateError(f"frames is {frames}; give at least 2")
    most = frames or int(np.clip(BUDGET // size, LEAST, MOST))
    if samples <= most:
        return np.arange(samples)
    return np.round(np.linspace(0, samples - 1, most)).astype(int)


def _model(report: Report, run: int) -> Model:
    """The model of a run: in a batch of parameters, with its own."""
    model = report.trajectory.model if isinstance(report, Result) else report.system.compile()
    own: dict[str, Any] = {}
    if report.facts.batched:
        coords = report.labeled("state").coords
        own = {each.long_name: each.values[run] for name, each in coords.items() if each.dims[:1] == ("run",) and name != "run"}
    return model.with_parameters(own) if own else model


def _observed(model: Model, q: np.ndarray, progress: Progress) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mass center (frames, 3), positions (frames, bodies, 3) and attitudes (frames, bodies, 4)."""
    parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    filled = np.concatenate([q, *[q[-1:]] * max(0, _LEAST - len(q))])
    chunks = np.array_split(filled, -(-len(filled) // max(2 * _LEAST, _CHUNK // len(model.names.bodies))))
    for done, states in enumerate(chunks, start=1):
        seen = model.bodies(states)
        center = seen.center_of_mass if seen.mass.any() else seen.position.mean(axis=1)
        parts.append((center, seen.position.copy(), quaternions(seen.attitude)))
        progress(done / len(chunks))
    origin, position, attitude = (np.concatenate(arrays)[: len(q)] for arrays in zip(*parts, strict=True))
    return origin, position, attitude
