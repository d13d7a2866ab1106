"""Forces and moments over the frames, each with the place where it acts: arrows of the page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bough.describe import Restoring, Wrench
from bough.describe.tables import Table
from bough.look.buffers import Buffers
from bough.look.motion import Motion
from bough.look.places import Place, frame_place, place
from bough.results.elements import wrench_elements
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
    system = motion.model.system
    for name, wrench in system.wrenches.items():
        at = place(system, wrench.body, wrench.node, wrench.at)
        yield Load(name, "wrenches", at, "place" if wrench.frame == "body" else "world", _signals(wrench, motion.time))


def _signals(wrench: Wrench, t: np.ndarray) -> np.ndarray:
    """(times, 6): moment and force of a wrench."""
    return np.concatenate([_signal(part, t) for part in (wrench.moment, wrench.force)], axis=1)


def _signal(given: Table | tuple[float, ...], t: np.ndarray) -> np.ndarray:
    """(times, 3): a constant or a table at these times."""
    if not isinstance(given, Table):
        return np.tile(np.asarray(given, float), (len(t), 1))
    times, rows = np.asarray(given.times), np.asarray(given.values, float)
    if given.kind == "hold":
        return rows[np.clip(np.searchsorted(times, t, side="right") - 1, 0, None)]
    inside = np.clip(t, times[0], times[-1])
    if given.kind == "cubic":
        from scipy.interpolate import CubicSpline

        return np.asarray(CubicSpline(times, rows)(inside))
    return np.stack([np.interp(inside, times, column) for column in rows.T], axis=1)


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
    if not wrench_elements(system) or (values := _known(report, motion, "elements", "element_force")) is None:
        return
    for k, (name, element) in enumerate(wrench_elements(system).items()):
        restoring = isinstance(element, Restoring)
        at = place(system, element.body, element.node, element.at) if restoring else place(system, element.body)
        yield Load(name, "elements", at, "world", values[:, k])


def _known(report: Report, motion: Motion, record: str, variable: str) -> np.ndarray | None:
    """A variable at the frames; a fresh result finds what was not recorded, a saved one has not got it."""
    if record not in report.facts.record and not isinstance(report, Result):
        return None
    return motion.pick(report.labelled(record).variables[variable].values, report.facts.batched)
