"""Attachments: named places of a finite-element model, and the motion of one of them as a combination of its dofs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bough.errors import DescriptionError
from bough.flex.cross import Array, tilde


@dataclass(frozen=True)
class Attachment:
    """A place made of one node, or of several that move together on average.

    `gather` (6, dofs) turns the dofs of the model into [translation, rotation] of the place; its transpose spreads
    a force and a moment over the nodes. Nodes that only translate define their rotation when three of them span a triangle.
    """

    name: str
    position: Array  # (3,)
    nodes: tuple[int, ...]
    gather: Any  # sparse (6, dofs)
    rotates: bool


def attachment(name: str, nodes: Any, position: Array, dofs_per_node: int) -> Attachment:
    """The attachment of the given nodes of a model with all its node positions (N, 3)."""
    chosen = tuple(int(node) for node in np.atleast_1d(np.asarray(nodes, dtype=int)))
    _check_nodes(name, chosen, len(position))
    if len(chosen) == 1:
        return _single(name, chosen[0], position, dofs_per_node)
    return _averaged(name, chosen, position, dofs_per_node)


def attachments(chosen: Mapping[str, Any], position: Array, dofs_per_node: int) -> tuple[Attachment, ...]:
    """All attachments out of a mapping from names to a node or to several."""
    return tuple(attachment(name, nodes, position, dofs_per_node) for name, nodes in chosen.items())


def _single(name: str, node: int, position: Array, dofs_per_node: int) -> Attachment:
    from scipy.sparse import csr_array

    rows = np.arange(dofs_per_node)
    shape = (6, dofs_per_node * len(position))
    gather = csr_array((np.ones(dofs_per_node), (rows, dofs_per_node * node + rows)), shape=shape)
    return Attachment(name, position[node], (node,), gather, dofs_per_node == 6)


def _averaged(name: str, nodes: tuple[int, ...], position: Array, dofs_per_node: int) -> Attachment:
    """The rigid motion nearest to that of the nodes, in the sense of least squares."""
    from scipy.sparse import csr_array

    center = position[list(nodes)].mean(axis=0)
    rigid = np.vstack([np.hstack([np.eye(3), -tilde(position[node] - center)]) for node in nodes])  # (3k, 6)
    size = max(float(np.abs(position[list(nodes)] - center).max()), 1e-300)
    rank = np.linalg.matrix_rank(rigid / np.array([1.0, 1, 1, size, size, size]), tol=1e-9)
    fit = (
        np.linalg.pinv(rigid)
        if rank == 6
        else np.vstack([np.tile(np.eye(3) / len(nodes), len(nodes)), np.zeros((3, 3 * len(nodes)))])
    )
    columns = np.array([dofs_per_node * node + i for node in nodes for i in range(3)])
    rows = np.repeat(np.arange(6), len(columns))
    shape = (6, dofs_per_node * len(position))
    gather = csr_array((fit.ravel(), (rows, np.tile(columns, 6))), shape=shape)
    return Attachment(name, center, nodes, gather, bool(rank == 6))


def rigid_motion(position: Array, dofs_per_node: int, about: Sequence[float] | Array = (0.0, 0.0, 0.0)) -> Array:
    """The dofs of a model in its six rigid motions [translation, rotation] about a point: (dofs, 6)."""
    arm = position - np.asarray(about, dtype=float)
    motion = np.zeros((len(position), dofs_per_node, 6))
    motion[:, :3, :3] = np.eye(3)
    motion[:, :3, 3:] = -tilde(arm)
    if dofs_per_node == 6:
        motion[:, 3:, 3:] = np.eye(3)
    return motion.reshape(-1, 6)


def _check_nodes(name: str, nodes: tuple[int, ...], count: int) -> None:
    if not nodes:
        raise DescriptionError(f"node {name!r}: no node of the mesh lies there; choose another place, or refine the mesh")
    wrong = [node for node in nodes if not 0 <= node < count]
    if wrong:
        raise DescriptionError(f"node {name!r}: the model has no node {wrong[0]}; give a number from 0 to {count - 1}")
