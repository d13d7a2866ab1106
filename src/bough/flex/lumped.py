"""What a mass matrix says about where the mass is: lumped at nodes, or spread between nodes that only translate."""

from __future__ import annotations

from typing import Any

import numpy as np

from bough.errors import DescriptionError
from bough.flex.cross import Array, axial, inertia_of, tilde
from bough.flex.finite_elements import PointRule

_ZERO = 1e-9  # of the largest entry


def point_rule(mass: Any, position: Array, per_node: int) -> PointRule | None:
    """The nodes as mass points, if the matrix couples no two nodes; otherwise None."""
    from scipy.sparse import csr_array, eye_array

    blocks = _node_blocks(mass, len(position), per_node)
    if blocks is None:
        return None
    weight, offset, inertia = _block_parts(blocks)
    every = eye_array(mass.shape[0], format="csr")
    rows = np.arange(mass.shape[0]).reshape(-1, per_node)
    translation = every[rows[:, :3].ravel()]
    rotation = every[rows[:, 3:].ravel()] if per_node == 6 else csr_array(translation.shape)
    return PointRule(position, weight, offset, inertia, translation, rotation)


def pair_mass(mass: Any, per_node: int) -> Any:
    """The (N, N) matrix m_ij of a consistent mass matrix with the blocks m_ij I3; others are refused by name."""
    if per_node == 6:
        raise DescriptionError(
            "from_matrices: the mass matrix couples nodes with rotations (a consistent matrix of beams or shells), which does "
            "not tell where the mass is; export it lumped (diagonal or node-wise blocks), or build the body with bough.beam"
        )
    parts = [mass[i::3, :][:, i::3] for i in range(3)]
    largest = abs(mass).max()
    cross = max(abs(mass[i::3, :][:, j::3]).max() for i in range(3) for j in range(3) if i != j)
    unlike = max(abs(parts[i] - parts[0]).max() for i in (1, 2))
    if max(cross, unlike) > _ZERO * largest:
        raise DescriptionError(
            f"from_matrices: the mass matrix is not the same in x, y and z (differences up to {max(cross, unlike):.3g} kg, largest "
            f"entry {largest:.3g} kg); give blocks m_ij I3 for each pair of nodes, in body axes"
        )
    return parts[0]


def _node_blocks(mass: Any, count: int, per_node: int) -> Array | None:
    """The (N, per_node, per_node) blocks of the nodes, or None if anything lies outside of them."""
    entries = mass.tocoo()
    row, column = entries.coords
    outside = row // per_node != column // per_node
    if outside.any() and np.abs(entries.data[outside]).max() > _ZERO * np.abs(entries.data).max():
        return None
    blocks = np.zeros((count, per_node, per_node))
    inside = ~outside
    np.add.at(blocks, (row[inside] // per_node, row[inside] % per_node, column[inside] % per_node), entries.data[inside])
    return blocks


def _block_parts(blocks: Array) -> tuple[Array, Array, Array]:
    """Mass, offset and inertia about the own mass center of each node, from [[m I, -m p~], [m p~, J]]."""
    weight = np.trace(blocks[:, :3, :3], axis1=1, axis2=2) / 3
    offset, inertia = np.zeros((len(blocks), 3)), np.zeros((len(blocks), 3, 3))
    rebuilt = np.zeros_like(blocks)
    rebuilt[:, :3, :3] = weight[:, None, None] * np.eye(3)
    if blocks.shape[1] == 6:
        lower = blocks[:, 3:, :3]  # m p~
        offset = -axial(lower) / 2 / np.where(weight > 0, weight, 1.0)[:, None]
        outer = weight[:, None, None] * offset[:, :, None] * offset[:, None, :]
        inertia = blocks[:, 3:, 3:] - inertia_of(outer)
        rebuilt[:, 3:, :3] = weight[:, None, None] * tilde(offset)
        rebuilt[:, :3, 3:] = -rebuilt[:, 3:, :3]
        rebuilt[:, 3:, 3:] = blocks[:, 3:, 3:]
    wrong = np.abs(rebuilt - blocks).max(axis=(1, 2)) > _ZERO * np.abs(blocks).max()
    if wrong.any():
        raise DescriptionError(
            f"from_matrices: the mass at node {int(np.argmax(wrong))} is not that of a rigid lump (one mass in x, y, z, blocks "
            "[[m I, -m p~], [m p~, J]]); export it in body axes, with the dofs in the order x, y, z, rx, ry, rz"
        )
    return weight, offset, inertia
