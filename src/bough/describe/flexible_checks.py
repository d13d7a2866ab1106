"""What nodes of flexible bodies can carry, and what the dynamics of flexible bodies does not support."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from bough.describe.body import Body
from bough.describe.gravity import CentralGravity
from bough.describe.part import SystemView
from bough.errors import Path, Problem, nearest
from bough.flex import FlexibleBody

_FIXED = 1e-12  # of the largest translation of any node
_NO_ROTATION = (
    "the elements do not tell the rotation there; name another node, or make this one of several mesh points that span a triangle"
)


class Mounting(NamedTuple):
    """A part on a node of a body (None: its inboard one). `turning` is what of it must turn with the node."""

    subject: str
    path: Path
    carrier: Body
    node: str | None
    turning: str


def unsupported(system: SystemView, index: int, body: Body) -> Iterator[Problem]:
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


def mounting_defect(mounting: Mounting) -> str:
    """Why nothing can sit there, and the remedy; or nothing."""
    flexible, owner = mounting.carrier.flexible, f"body {mounting.carrier.name!r}"
    if flexible is None:
        remedy = f"leave node out and say the place by at, or make {mounting.carrier.name!r} flexible"
        return f"node is {mounting.node!r}, but {owner} is rigid and has no nodes; {remedy}" if mounting.node is not None else ""
    node, listed = mounting.node or flexible.inboard, ", ".join(map(repr, flexible.nodes.names)) or "none"
    if node is None:
        return f"node is missing, and {owner} has no inboard node to stand for it; give one of its nodes: {listed}"
    if node not in flexible.nodes.names:
        meant = nearest(node, flexible.nodes.names)
        return f"node {node!r} is not a node of {owner}{f'{meant} Its' if meant else '; its'} nodes are {listed}"
    if mounting.turning and not _rotates(flexible, node):
        return f"node {node!r} of {owner} cannot carry {mounting.turning}: {_NO_ROTATION}"
    return ""


def _moves(flexible: FlexibleBody, node: str) -> bool:
    """Whether a node moves in the body frame: one that the modes hold fixed turns as little as it moves."""
    sizes = np.abs(flexible.nodes.phi)
    return bool(sizes[flexible.nodes.index(node)].max(initial=0.0) > _FIXED * sizes.max(initial=0.0))


def _rotates(flexible: FlexibleBody, node: str) -> bool:
    return flexible.nodes.rotates[flexible.nodes.index(node)]
