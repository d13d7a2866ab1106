"""The motion of the bodies frame by frame, and places on them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.describe import Frame, System
from bough.describe.orientation import quaternions
from bough.errors import StateError
from bough.model import Model
from bough.results.dataset import continuous, with_gone
from bough.results.recorded_parts import modal_coordinates
from bough.results.result_contents import Report

Array = NDArray[Any]
Place = dict[str, Any]  # a body by number (-1: the world), a node of a flexible one (-1: the body frame), a point and axes there
UPRIGHT = [0.0, 0.0, 0.0, 1.0]
BUDGET = 40_000_000  # bytes of all frames: a page of some 30 MB
MOST, FEWEST = 3000, 200  # frames
_DIVERGED = 1e12  # m or rad
_CHUNK = 60_000  # bodies times states that are evaluated at once
_FEWEST = 4  # states: with fewer, the model would need its one-lane kernels too

Progress = Callable[[float], None]


@dataclass(frozen=True)
class Frames:
    """One run at the frames of its replay, world axes. The page draws relative to `origin`, for precision far from the world's
    origin."""

    model: Model
    run: int
    samples: Array     # (frames,) which samples of the result are frames
    of_samples: int         # how many samples there are
    time: Array        # (frames,)
    q: Array           # (frames, nq)
    origin: Array      # (frames, 3) the system's mass center
    position: Array    # (frames, bodies, 3)
    attitude: Array    # (frames, bodies, 4)

    @property
    def poses(self) -> Array:
        """(frames, bodies, 7): position relative to `origin` and quaternion, as stored in the page."""
        relative = self.position - self.origin[:, None]
        return np.concatenate([relative, self.attitude], axis=2).astype(np.float32)

    @property
    def eta(self) -> dict[str, Array]:
        """(frames, modes) by flexible body."""
        return modal_coordinates(self.model.system, self.q)

    def pick(self, values: Array, batched: bool) -> Array:
        """The frames of a variable ([run,] time, ...) of the result."""
        return (values[self.run] if batched else values)[self.samples]


def frames_of(report: Report, run: int, most: int | None, columns: int, progress: Progress) -> Frames:
    """The motion of one run of a result, with at most `most` frames; `columns`: number of curves on the page."""
    if not 0 <= run < report.runs:
        raise StateError(f"run is {run}; the result has {report.runs} run{'s' * (report.runs > 1)}: give 0 to {report.runs - 1}")
    if not report.has("state"):
        recorded = ", ".join(report.facts.record)
        raise StateError(f"a replay is made from states, but the result holds only {recorded}; run it again with 'state' in record")
    states = report.labeled("state").variables["q"].values
    model = _model(report, run)
    q = with_gone(model.names.q, report.events_by_run[run], report.time, states[run] if report.facts.batched else states)
    reached = np.flatnonzero((np.abs(q) < _DIVERGED).all(axis=1))       # without the end of a run that diverged
    bodies = len(model.names.bodies)
    size = 4 * (7 * bodies + model.nq) + 2 * (columns + 6 * bodies)     # poses and modes in floats, curves and loads in 16 bits
    samples = reached[frame_samples(len(reached), most, size)]
    origin, position, attitude = _poses(model, q[samples], progress)
    return Frames(model, run, samples, len(reached), report.time[samples], q[samples], origin, position,
                  continuous(attitude, axis=0))


def frame_samples(samples: int, frames: int | None, size: int) -> Array:
    """The samples used as frames: all, or as many of this size [bytes] as fit, evenly spread from first to last.

    >>> frame_samples(7, 3, 10).tolist()
    [0, 3, 6]
    """
    if frames is not None and frames < 2:
        raise StateError(f"frames is {frames}; give at least 2")
    most = frames or int(np.clip(BUDGET // size, FEWEST, MOST))
    if samples <= most:
        return np.arange(samples)
    return np.round(np.linspace(0, samples - 1, most)).astype(int)


def _model(report: Report, run: int) -> Model:
    """The model of a run: in a batch of parameters, with its own."""
    own: dict[str, Any] = {}
    if report.facts.batched:
        coords = report.labeled("state").coords
        own = {each.long_name: each.values[run] for name, each in coords.items() if each.dims[:1] == ("run",) and name != "run"}
    return report.model.with_parameters(own) if own else report.model


def _poses(model: Model, q: Array, progress: Progress) -> tuple[Array, Array, Array]:
    """Mass center (frames, 3), positions (frames, bodies, 3) and attitudes (frames, bodies, 4)."""
    parts: list[tuple[Array, Array, Array]] = []
    filled = np.concatenate([q, *[q[-1:]] * max(0, _FEWEST - len(q))])
    chunks = np.array_split(filled, -(-len(filled) // max(2 * _FEWEST, _CHUNK // len(model.names.bodies))))
    for done, states in enumerate(chunks, start=1):
        bodies = model.bodies(states)
        center = bodies.center_of_mass if bodies.mass.any() else bodies.position.mean(axis=1)
        parts.append((center, bodies.position.copy(), quaternions(bodies.attitude)))
        progress(done / len(chunks))
    origin, position, attitude = (np.concatenate(arrays)[: len(q)] for arrays in zip(*parts, strict=True))
    return origin, position, attitude


def place(system: System, body: str | None, node: str | None = None, at: Any = (0.0, 0.0, 0.0), turn: Any = UPRIGHT) -> Place:
    """A place on a body, or at a node of a flexible body; its inboard node coincides with the body frame."""
    if body is None or body == "world":
        return {"body": -1, "node": -1, "at": list(at), "turn": list(turn)}
    flexible = system.bodies[body].flexible
    number = -1 if flexible is None or node is None or node == flexible.inboard else flexible.nodes.index(node)
    return {"body": list(system.bodies).index(body), "node": number, "at": list(at), "turn": list(turn)}


def frame_place(system: System, frame: Frame) -> Place:
    """The place of a frame of a loop or a line."""
    return place(system, frame.body, frame.node, frame.at, frame.orient)
