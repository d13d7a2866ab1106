"""Boxes, cylinders and spheres as triangles, counter-clockwise from outside.

Vertices are not shared over edges, so that normals averaged at vertices leave edges sharp and round sides smooth.
"""

from __future__ import annotations

import numpy as np

Triangles = tuple[np.ndarray, np.ndarray]  # vertices (n, 3), faces (m, 3)
SIDES = 48  # of a circle: its radius is true to 0.2 %
_RINGS = 24  # of a sphere, from pole to pole
_I = np.arange(SIDES)
_J = (_I + 1) % SIDES
_BELT = np.concatenate([np.column_stack([_I, _J, _J + SIDES]), np.column_stack([_I, _J + SIDES, _I + SIDES])])  # ring to next ring
_FAN = np.column_stack([_I, _J, np.full(SIDES, SIDES)])  # a ring to the vertex after it


def box(size: tuple[float, float, float]) -> Triangles:
    """A box centered at the origin."""
    square = np.array([[1, -1, -1], [1, 1, -1], [1, 1, 1], [1, -1, 1]]) / 2.0                 # the face +x
    sides = [np.roll(square, axis, axis=1) * sign for axis in range(3) for sign in (1, -1)]
    corners = [0, 1, 2], [0, 2, 3]
    mirrored = [0, 2, 1], [0, 3, 2]                                                           # -square has the opposite winding
    faces = [4 * side + np.array(mirrored if side % 2 else corners) for side in range(6)]
    return np.concatenate(sides) * size, np.concatenate(faces)


def cylinder(radius: float, length: float) -> Triangles:
    """A cylinder about z, centered at the origin: its side, then its two lids."""
    low, high = _rim(radius, -length / 2), _rim(radius, length / 2)
    middle = np.array([[0, 0, length / 2]])
    top, bottom = _FAN + 2 * SIDES, _FAN[:, ::-1] + 3 * SIDES + 1
    return np.concatenate([low, high, high, middle, low, -middle]), np.concatenate([_BELT, top, bottom])


def sphere(radius: float) -> Triangles:
    """A sphere at the origin: rings of latitude between two poles."""
    latitudes = np.linspace(-np.pi / 2, np.pi / 2, _RINGS + 1)[1:-1]
    rings = [_rim(radius * np.cos(a), radius * np.sin(a)) for a in latitudes]
    last = SIDES * (len(rings) - 1)
    belts = [_BELT + SIDES * ring for ring in range(len(rings) - 1)]
    faces = np.concatenate([*belts, _FAN + last, np.where(_FAN == SIDES, last + SIDES + 1, _FAN)[:, ::-1]])
    return np.concatenate([*rings, [[0, 0, radius], [0, 0, -radius]]]), faces


def _rim(radius: float, height: float) -> np.ndarray:
    angles = 2 * np.pi / SIDES * _I
    return np.column_stack([radius * np.cos(angles), radius * np.sin(angles), np.full(SIDES, height)])
