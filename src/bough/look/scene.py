"""A result as the data of a page: shapes of bodies and joints, motion, loads, curves, events."""

from collections import Counter
from typing import Any

import numpy as np

from bough.describe import Body, Distance, Joint, System
from bough.describe.part import depth_first
from bough.look.body_shapes import drawings, drawn, parts_of, reach_of
from bough.look.buffers import Buffers
from bough.look.frames import Frames, curves, frame_place, loads, place
from bough.results.recorded_parts import modal_coordinates
from bough.results.result_contents import Report

_FASTEST = 2 * np.pi  # rad/s that an eye can follow: wheels are drawn slower by a common factor


def scene(report: Report, frames: Frames, buffers: Buffers) -> dict[str, Any]:
    """Plain data; arrays are in the buffers."""
    system, facts = frames.model.system, report.facts

    def ends(drawing: dict[str, Any]) -> dict[str, Any]:
        return {"name": drawing["name"], "a": frame_place(system, drawing["a"]), "b": frame_place(system, drawing["b"])}

    return {
        "name": system.name,
        "version": facts.bough_version,
        "method": facts.method,
        "failure": facts.failure,
        "run": frames.run if facts.batched else None,
        "samples": frames.of_samples,
        "gravity": list(system.gravity) if isinstance(system.gravity, tuple) else None,
        "time": buffers.add(frames.time, "double"),
        "origin": buffers.add(frames.origin, "double"),
        "poses": buffers.add(frames.poses),
        "bodies": _bodies(system, frames, buffers),
        "loops": [ends(each) | _axes(each["joint"]) for each in drawings(system, "loop")],
        "wheels": _wheels(report, frames, buffers),
        "lines": [ends(each) for each in drawings(system, "line")],
        "springs": [{"name": each["name"], "place": frame_place(system, each["at"])} for each in drawings(system, "spring")],
        "water": sorted({each["level"] for each in drawings(system, "water")}),
        "loads": loads(report, frames, buffers),
        "curves": curves(report, frames, buffers),
        "events": [{"time": event.time, "text": str(event)} for event in report.events_by_run[frames.run]],
    }


def _bodies(system: System, frames: Frames, buffers: Buffers) -> list[dict[str, Any]]:
    limbs, numbers = limb_numbers(system), {name: k for k, name in enumerate(system.bodies)}
    reaches, extent = _reaches(system, frames), float(np.linalg.norm(np.ptp(frames.position, axis=1), axis=1).max())
    modes, found = modal_coordinates(system, frames.q), []
    for name, body in system.bodies.items():
        entry: dict[str, Any] = {
            "name": name,
            "parent": -1 if body.parent is None else numbers[body.parent],
            "limb": limbs[name],
            "joint": {"name": body.joint.name or body.name, "dofs": list(body.joint.dofs),
                      "place": place(system, body.parent, body.node, body.at, body.orient), **_axes(body.joint)},
            "mass": body.mass,
            "com": list(body.com),
            "reach": reaches[name],
            "parts": parts_of(system, body, reaches[name], extent, buffers),
            "flexible": None,
        }
        if body.flexible is not None:
            entry["flexible"] = drawn(body.flexible, buffers) | {"eta": buffers.add(modes[name])}
        found.append(entry)
    return found


def _axes(joint: Joint | Distance) -> dict[str, Any]:
    """The kind of a joint, and its axes on the side of the parent."""
    if isinstance(joint, Distance):
        return {"kind": joint.kind, "translations": [], "rotations": []}
    turns = joint.rotations if isinstance(joint.rotations, tuple) else ()
    return {"kind": joint.kind, "translations": [list(axis) for axis in joint.translations],
            "rotations": [list(axis) for axis in turns], "ball": joint.spherical or len(turns) == 3}


def _reaches(system: System, frames: Frames) -> dict[str, float]:
    """The extent of each body [m]; for a point mass, a typical extent of the others, or of the distances between bodies."""
    own = {name: reach_of(system, body) if body.flexible is None else _flexible_reach(body) for name, body in system.bodies.items()}
    known = [reach for reach in own.values() if reach > 0]
    spread = float(np.linalg.norm(np.ptp(frames.position[0], axis=0)))
    other = 0.5 * float(np.median(known)) if known else 0.1 * spread or 1.0
    return {name: reach or other for name, reach in own.items()}


def _flexible_reach(body: Body) -> float:
    flexible = body.elastic
    places = flexible.nodes.position if flexible.outline is None else flexible.outline.position
    return float(np.linalg.norm(np.ptp(places, axis=0))) if len(places) else 0.0


def limb_numbers(system: System) -> dict[str, int]:
    """Bodies of one limb, a chain without a branch, have the same number; free bases have 0.

    >>> s = System("tree")
    >>> for name, parent in (("bus", None), ("a", "bus"), ("b", "a"), ("c", "bus")):
    ...     _ = s.body(name, parent=parent, joint="weld" if parent else "free")
    >>> limb_numbers(s)
    {'bus': 0, 'a': 1, 'b': 1, 'c': 2}
    """
    children = Counter(body.parent for body in system.bodies.values())
    found: dict[str, int] = {}
    count = 1
    for body in depth_first(system):
        parent = body.parent
        if _base(body):
            found[body.name] = 0
        elif parent is not None and children[parent] == 1 and not _base(system.bodies[parent]):
            found[body.name] = found[parent]
        else:
            found[body.name], count = count, count + 1
    return {name: found[name] for name in system.bodies}


def _base(body: Body) -> bool:
    return body.parent is None and body.joint.n_v == 6


def _wheels(report: Report, frames: Frames, buffers: Buffers) -> list[dict[str, Any]]:
    """Wheels with their angle over the frames, slowed by `slowed` where they are too fast for an eye."""
    system = frames.model.system
    if not system.wheels:
        return []
    speeds = np.tile([wheel.speed for wheel in system.wheels.values()], (len(frames.time), 1))
    if "wheels" in report.facts.record:
        speeds = frames.pick(report.labeled("wheels").variables["wheel_speed"].values, report.facts.batched)
    steps = np.diff(frames.time)[:, None] * (speeds[1:] + speeds[:-1]) / 2
    angles = np.concatenate([np.zeros((1, speeds.shape[1])), np.cumsum(steps, axis=0)])
    slowed = max(1, int(np.ceil(np.abs(speeds).max() / _FASTEST)))
    return [{"name": wheel["name"], "place": frame_place(system, wheel["at"]), "axis": list(wheel["axis"]), "slowed": slowed,
             "angle": buffers.add(angles[:, k] / slowed)}
            for k, wheel in enumerate(drawings(system, "wheel"))]
