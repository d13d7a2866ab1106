"""Time histories of the page: curves of recorded quantities, and loads as arrows."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bough.compile.tables import described_inputs
from bough.look.buffers import Buffers
from bough.look.frames import Frames, Place, frame_place, place
from bough.results.recorded_parts import VARIABLES, along
from bough.results.result_contents import Report

Array = NDArray[Any]
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
