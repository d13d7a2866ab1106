"""Rotation matrices over time as quaternions without jumps."""

from __future__ import annotations

import numpy as np


def quaternions(matrices: np.ndarray) -> np.ndarray:
    """(..., 3, 3) -> (..., 4), scalar-last. Of the four ways to divide, the one with the largest divisor is taken.

    >>> quaternions(np.diag([1.0, -1.0, -1.0])).tolist()
    [1.0, 0.0, 0.0, 0.0]
    """
    R = matrices
    xx, yy, zz = R[..., 0, 0], R[..., 1, 1], R[..., 2, 2]
    outer = np.empty((*R.shape[:-2], 4, 4))  # 4 q q^T
    outer[..., 0, 0], outer[..., 1, 1] = 1 + xx - yy - zz, 1 - xx + yy - zz
    outer[..., 2, 2], outer[..., 3, 3] = 1 - xx - yy + zz, 1 + xx + yy + zz
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        outer[..., i, j] = outer[..., j, i] = R[..., i, j] + R[..., j, i]
        outer[..., i, 3] = outer[..., 3, i] = R[..., k, j] - R[..., j, k]
    largest = np.argmax(np.einsum("...ii->...i", outer), axis=-1)
    rows = np.take_along_axis(outer, largest[..., None, None], axis=-2)[..., 0, :]
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


def continuous(series: np.ndarray, axis: int) -> np.ndarray:
    """q and -q are one rotation: of both, the one near the sample before. The first has a scalar part >= 0."""
    q = np.moveaxis(series, axis, 0)
    turns = np.where(np.einsum("t...i,t...i->t...", q[1:], q[:-1]) < 0, -1.0, 1.0)
    first = np.where(q[:1, ..., 3] < 0, -1.0, 1.0)
    signs = np.cumprod(np.concatenate([first, turns]), axis=0)
    return np.moveaxis(q * signs[..., None], 0, axis)
