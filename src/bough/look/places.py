"""Places for the page: a body by number (-1: the world), a node of a flexible one (-1: the body frame), a point and axes there."""

from __future__ import annotations

from typing import Any

from bough.describe import Body, Frame, System
from bough.look.parts import UPRIGHT

Place = dict[str, Any]


def place(system: System, body: str | None, node: str | None = None, at: Any = (0.0, 0.0, 0.0), turn: Any = UPRIGHT) -> Place:
    """A place on a body; of a flexible one at a node. Its inboard node is where the body frame is."""
    if body is None or body == "world":
        return {"body": -1, "node": -1, "at": list(at), "turn": list(turn)}
    flexible = system.bodies[body].flexible
    number = -1 if flexible is None or node is None or node == flexible.inboard else flexible.nodes.index(node)
    return {"body": list(system.bodies).index(body), "node": number, "at": list(at), "turn": list(turn)}


def frame_place(system: System, frame: Frame) -> Place:
    """Where a frame of a loop or a line is."""
    return place(system, frame.body, frame.node, frame.at, frame.orient)


def joint_place(system: System, body: Body) -> Place:
    """Where a body's joint sits on its parent."""
    return place(system, body.parent, body.node, body.at, body.orient)
