"""The nodes of flexible bodies by which the parts of a system refer to each other, and what the dynamics does not support."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bough.describe.base import subject_of
from bough.describe.body import Body
from bough.describe.elements import Restoring
from bough.describe.gravity import CentralGravity
from bough.describe.loads import Wrench
from bough.describe.loop import Distance, Frame, Loop
from bough.describe.time_table import TimeTable
from bough.errors import Path, Problem, nearest
from bough.flex import FlexibleBody

if TYPE_CHECKING:
    from bough.describe.system import System

_FIXED = 1e-12  # of the largest translation of any node
_BESIDE = "a frame beside it (at is not zero)"
_NO_ROTATION = (
    "the elements do not tell the rotation there; name another node, or make this one of several mesh points that span a triangle"
)


class Seat(NamedTuple):
    """Where a part of the system sits: on a node of a body (None: its inboard one). `turning` is what must turn with it."""

    subject: str
    path: Path
    carrier: Body
    node: str | None
    turning: str


def flexible_problems(system: System) -> list[Problem]:
    """Every node that does not exist or cannot carry what it should, and every flexible body that cannot be simulated.

    >>> from bough.describe import System
    >>> from bough.flex import beam
    >>> arm = System("arm")
    >>> _ = arm.body("boom", flexible=beam(4.0, EI=800, mass_per_length=1.5, modes=2)), arm.body("hand", parent="boom", node="tp")
    >>> [str(problem) for problem in flexible_problems(arm)]
    ["body 'hand': node 'tp' is not a node of body 'boom', did you mean 'tip'? Its nodes are 'root', 'tip'"]
    """
    found = [problem for index, body in enumerate(system.bodies.values()) for problem in _unsupported(system, index, body)]
    seats = [(seat, _misfit(seat)) for seat in _seats(system)]
    return found + [Problem(text, seat.subject, seat.path) for seat, text in seats if text]


def _unsupported(system: System, index: int, body: Body) -> Iterator[Problem]:
    """What a flexible body is or does that the sweeps do not know."""
    if body.flexible is None:
        return
    subject, path = f"body {body.name!r}", ("bodies", index, "flexible")
    if isinstance(system.gravity, CentralGravity):
        text = "it is flexible, and central gravity acts on rigid bodies only; give a rigid body, or uniform gravity"
        yield Problem(text, subject, path)
    inboard = body.flexible.inboard
    if inboard is not None and _moves(body.flexible, inboard) and not _rotates(body.flexible, inboard):
        yield Problem(f"its inboard node {inboard!r} cannot carry its joint: {_NO_ROTATION}", subject, path)


def _seats(system: System) -> Iterator[Seat]:
    """The seat of every part of the system that sits on a body."""
    bodies = system.bodies
    for index, body in enumerate(bodies.values()):
        if body.parent in bodies:
            yield _seat("bodies", index, body, "parent", bodies[body.parent], "a joint")
    for index, loop in enumerate(system.loops.values()):
        for side, frame in (("a", loop.a), ("b", loop.b)):
            if frame.body in bodies:
                path = ("loops", index, side, "body" if frame.node is None else "node")
                yield Seat(f"loop {loop.name!r}: {side}", path, bodies[frame.body], frame.node, _turned_by(loop, frame))
    for index, wheel in enumerate(system.wheels.values()):
        if wheel.body in bodies:
            yield _seat("wheels", index, wheel, "body", bodies[wheel.body], "a wheel")
    for index, wrench in enumerate(system.wrenches.values()):
        if wrench.body in bodies:
            yield _seat("wrenches", index, wrench, "body", bodies[wrench.body], _moment_of(wrench))
    for index, line in enumerate(system.lines.values()):
        for side, frame in (("a", line.a), ("b", line.b)):
            if frame.body in bodies:
                path = ("lines", index, side, "body" if frame.node is None else "node")
                yield Seat(f"line {line.name!r}: {side}", path, bodies[frame.body], frame.node, _BESIDE if any(frame.at) else "")
    for index, restoring in enumerate(system.restorings.values()):
        if restoring.body in bodies:
            yield _seat("restorings", index, restoring, "body", bodies[restoring.body], _turn_of(restoring))


def _seat(key: str, index: int, part: Any, carrier_key: str, carrier: Body, turning: str) -> Seat:
    path = (key, index, carrier_key if part.node is None else "node")
    return Seat(subject_of(type(part), part.name), path, carrier, part.node, turning)


def _turned_by(loop: Loop, frame: Frame) -> str:
    """What of a loop turns with a frame, if anything: a point that is held at the node itself does not."""
    if any(frame.at):
        return _BESIDE
    if isinstance(loop.joint, Distance):
        return ""
    joint, slides = loop.joint, bool(loop.joint.translations) and frame is loop.a
    turns_freely = joint.spherical or len(joint.rotations) == 3
    moments = (entry for values in (joint.stiffness, joint.damping, joint.torque) for entry in (values or ())[-3:])
    return "" if turns_freely and not slides and not any(moments) else "a joint"


def _moment_of(wrench: Wrench) -> str:
    """What of a wrench turns a node, if anything."""
    if _acts(wrench.moment):
        return "a moment"
    return "a force beside it (at is not zero)" if _acts(wrench.force) and any(wrench.at) else ""


def _turn_of(restoring: Restoring) -> str:
    """What of a restoring turns a node or asks how it is turned, if anything."""
    if restoring.turns or restoring.feels_angles:
        return "a restoring moment"
    return "a force beside it (at is not zero)" if any(restoring.at) else ""


def _acts(signal: tuple[float, float, float] | TimeTable) -> bool:
    rows = signal.values if isinstance(signal, TimeTable) else [signal]
    return any(any(row) for row in rows if isinstance(row, tuple))


def _misfit(seat: Seat) -> str:
    """Why nothing can sit there, and the remedy; or nothing."""
    flexible, owner = seat.carrier.flexible, f"body {seat.carrier.name!r}"
    if flexible is None:
        remedy = f"leave node out and say the place by at, or make {seat.carrier.name!r} flexible"
        return f"node is {seat.node!r}, but {owner} is rigid and has no nodes; {remedy}" if seat.node is not None else ""
    node, listed = seat.node or flexible.inboard, ", ".join(map(repr, flexible.nodes.names)) or "none"
    if node is None:
        return f"node is missing, and {owner} has no inboard node to stand for it; give one of its nodes: {listed}"
    if node not in flexible.nodes.names:
        meant = nearest(node, flexible.nodes.names)
        return f"node {node!r} is not a node of {owner}{f'{meant} Its' if meant else '; its'} nodes are {listed}"
    if seat.turning and not _rotates(flexible, node):
        return f"node {node!r} of {owner} cannot carry {seat.turning}: {_NO_ROTATION}"
    return ""


def _moves(flexible: FlexibleBody, node: str) -> bool:
    """Whether a node moves in the body frame: one that the modes hold fixed turns as little as it moves."""
    sizes = np.abs(flexible.nodes.phi)
    return bool(sizes[flexible.nodes.index(node)].max(initial=0.0) > _FIXED * sizes.max(initial=0.0))


def _rotates(flexible: FlexibleBody, node: str) -> bool:
    return flexible.nodes.rotates[flexible.nodes.index(node)]
