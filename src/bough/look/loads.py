"""Forces and moments over the frames, each with the place where it acts: arrows of the page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bough.compile.tables import described_inputs
from bough.look.buffers import Buffers
from bough.look.motion import Motion
from bough.look.places import Place, frame_place, place
from bough.results.elements import VARIABLES, along
from bough.results.result import Result

if TYPE_CHECKING:
    from bough.results.report import Report


class Load(NamedTuple):
    """[moment, force] (frames, 6) at a place, along the axes of the place or of the world."""

    name: str
    group: str
    place: Place
    axes: str
    values: np.ndarray


def loads(report: Report, motion: Motion, buffers: Buffers) -> list[dict[str, Any]]:
    """All that was recorded, or can be found: wrenches, what joints and loops bear, what force elements exert."""
    told = []
    for load in [*_wrenches(motion), *_reactions(report, motion), *_loops(report, motion), *_elements(report, motion)]:
        moment, force = (np.nan_to_num(part) for part in np.split(load.values, 2, axis=1))
        known = {"name": load.name, "group": load.group, "place": load.place, "axes": load.axes}
        for kind, part in (("force", force), ("moment", moment)):
            if part.any():
                told.append(known | {"kind": kind, "values": buffers.add_fine(part),
                                     "largest": float(np.linalg.norm(part, axis=1).max())})  # fmt: skip
    return told


def _wrenches(motion: Motion) -> Iterator[Load]:
    model = motion.model
    first, system = model.nv + model.nw, model.system
    values = described_inputs(model.tables, motion.time)[:, first : first + 6 * len(system.wrenches)]
    for k, (name, wrench) in enumerate(system.wrenches.items()):
        at = frame_place(system, wrench.place)
        yield Load(name, "wrenches", at, "place" if wrench.frame == "body" else "world", values[:, 6 * k : 6 * k + 6])


def _reactions(report: Report, motion: Motion) -> Iterator[Load]:
    """What parents exert through joints, at the joint's origin on the body, in its axes; free joints bear nothing."""
    if (values := _known(report, motion, "reactions", "reaction")) is None:
        return
    for k, (name, body) in enumerate(motion.model.system.bodies.items()):
        if body.joint.kind != "free":
            yield Load(body.joint.name or name, "joint loads", place(motion.model.system, name), "place", values[:, k])


def _loops(report: Report, motion: Motion) -> Iterator[Load]:
    system = motion.model.system
    if not system.loops or (values := _known(report, motion, "loops", "constraint_force")) is None:
        return
    for k, (name, loop) in enumerate(system.loops.items()):
        yield Load(name, "loop forces", frame_place(system, loop.b), "place", values[:, k])


def _elements(report: Report, motion: Motion) -> Iterator[Load]:
    system = motion.model.system
    for variable, meaning in VARIABLES.items():
        elements = along(system, meaning.dims[0])
        if not meaning.axes or not elements or (values := _known(report, motion, "elements", variable)) is None:
            continue
        for k, (name, element) in enumerate(elements.items()):
            axes = "world" if meaning.axes == "world axes" else "place"
            yield Load(name, "elements", frame_place(system, element.ends[-1]), axes, values[:, k])


def _known(report: Report, motion: Motion, record: str, variable: str) -> np.ndarray | None:
    """A variable at the frames; a fresh result finds what was not recorded, a saved one has not got it."""
    if record not in report.facts.record and not isinstance(report, Result):
        return None
    return motion.pick(report.labeled(record).variables[variable].values, report.facts.batched)
