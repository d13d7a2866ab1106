"""The motion of the bodies frame by frame, places on them, and histories over time."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bough.compile.tables import described_inputs
from bough.describe import Frame, System
from bough.describe.orientation import quaternions
from bough.errors import StateError
from bough.look.buffers import Buffers
from bough.model import Model
from bough.results.dataset import continuous, with_gone
from bough.results.recorded_parts import VARIABLES, Array, along
from bough.results.result_contents import Report

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


# ---- histories: curves of recorded quantities, and loads as arrows --------------------------------------------------------
POSES = ("position", "attitude")


def curves(report: Report, frames: Frames, buffers: Buffers) -> list[dict[str, Any]]:
    """Groups of curves: {"name", "unit", "labels", "values"}; those of poses, which the page has already, without values."""
    whole, found = report.arrays, []
    for name, variable in whole.variables.items():
        values = frames.pick(variable.values, report.facts.batched).reshape(len(frames.time), -1)
        for unit, columns, labels in whole.columns(name):
            group = {"name": name, "unit": unit, "labels": labels}
            found.append(group if name in POSES else group | {"values": buffers.add_fine(values[:, columns])})
    return found


def columns_of(report: Report) -> int:
    """The number of columns of curves on the page."""
    leading = 2 if report.facts.batched else 1
    shapes = [variable.values.shape[leading:] for name, variable in report.arrays.variables.items() if name not in POSES]
    return sum(int(np.prod(shape)) for shape in shapes)


class Load(NamedTuple):
    """[moment, force] (frames, 6) at a place, along the axes of the place or of the world."""

    name: str
    group: str
    place: Place
    axes: str
    values: Array


def loads(report: Report, frames: Frames, buffers: Buffers) -> list[dict[str, Any]]:
    """All recorded or computable loads: wrenches, joint and loop loads, force elements."""
    found = []
    for load in [*_wrenches(frames), *_reactions(report, frames), *_loops(report, frames), *_elements(report, frames)]:
        moment, force = (np.nan_to_num(part) for part in np.split(load.values, 2, axis=1))
        known = {"name": load.name, "group": load.group, "place": load.place, "axes": load.axes}
        for kind, part in (("force", force), ("moment", moment)):
            if part.any():
                found.append(known | {"kind": kind, "values": buffers.add_fine(part),
                                      "largest": float(np.linalg.norm(part, axis=1).max())})
    return found


def _wrenches(frames: Frames) -> Iterator[Load]:
    model = frames.model
    system, values = model.system, described_inputs(model.tables, frames.time)
    for k, (name, wrench) in enumerate(system.wrenches.items()):
        at = frame_place(system, wrench.place)
        yield Load(name, "wrenches", at, "place" if wrench.frame == "body" else "world", values[:, model.input_layout.wrench(k)])


def _reactions(report: Report, frames: Frames) -> Iterator[Load]:
    """Loads of parents through joints, at the joint's origin on the body, in its axes; free joints carry none."""
    if (values := _known(report, frames, "reactions", "reaction")) is None:
        return
    for k, (name, body) in enumerate(frames.model.system.bodies.items()):
        if body.joint.kind != "free":
            yield Load(body.joint.name or name, "joint loads", place(frames.model.system, name), "place", values[:, k])


def _loops(report: Report, frames: Frames) -> Iterator[Load]:
    system = frames.model.whole
    if not system.loops or (values := _known(report, frames, "loops", "constraint_force")) is None:
        return
    for k, (name, loop) in enumerate(system.loops.items()):
        yield Load(name, "loop forces", frame_place(system, loop.b), "place", values[:, k])


def _elements(report: Report, frames: Frames) -> Iterator[Load]:
    system = frames.model.system
    for variable, meaning in VARIABLES.items():
        elements = along(system, meaning.dims[0])
        if not meaning.axes or not elements or (values := _known(report, frames, "elements", variable)) is None:
            continue
        for k, (name, element) in enumerate(elements.items()):
            axes = "world" if meaning.axes == "world axes" else "place"
            yield Load(name, "elements", frame_place(system, element.ends[-1]), axes, values[:, k])


def _known(report: Report, frames: Frames, record: str, variable: str) -> Array | None:
    """A variable at the frames; computed if not recorded, except for saved results, which return None."""
    if not report.has(record):
        return None
    return frames.pick(report.labeled(record).variables[variable].values, report.facts.batched)
