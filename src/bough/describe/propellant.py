"""The propellant in a tank, settled: its mass center and its inertia by how much of it is left.

Settled propellant is level across the z axis of the tank and below, at -z, as under thrust along +z. It turns with the tank.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.describe.shapes import Box, Cylinder, Shape, Sphere

Floats = NDArray[np.float64]
Settled = tuple[Floats, Floats]             # (n, 3) mass centers, (n, 3) principal moments of inertia about them, in tank axes
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(4)           # exact for the slices of a sphere, of degree 6 in the height


def spread(r: Floats) -> Floats:
    """(n, 3, 3): inertia of unit masses at r (n, 3)."""
    return np.asarray(np.einsum("ni,ni->n", r, r)[:, None, None] * np.eye(3) - np.einsum("ni,nj->nij", r, r))


def settled_in(shape: Shape) -> Callable[[Floats], Settled]:
    """Of a unit mass of propellant in a box, a cylinder or a sphere, by the share of the volume that it fills."""
    return {Box: _in_box, Cylinder: _in_cylinder, Sphere: _in_sphere}[type(shape)](shape)


def _in_box(box: Any) -> Callable[[Floats], Settled]:
    x, y, z = box.size
    return _upright(z, (x**2 / 12, y**2 / 12))


def _in_cylinder(cylinder: Any) -> Callable[[Floats], Settled]:
    return _upright(cylinder.length, (cylinder.radius**2 / 4,) * 2)


def _upright(length: float, square: tuple[float, float]) -> Callable[[Floats], Settled]:
    """In an upright tank: `square` are the second moments of a unit mass of a slice along x and y."""

    def settled(share: Floats) -> Settled:
        height = share * length
        com = np.zeros((len(share), 3))
        com[:, 2] = 0.5 * (height - length)
        xx, yy, zz = np.full_like(height, square[0]), np.full_like(height, square[1]), height**2 / 12
        return com, np.stack([yy + zz, xx + zz, xx + yy], axis=1)

    return settled


def _in_sphere(sphere: Any) -> Callable[[Floats], Settled]:
    """The height z of a share phi of the volume solves phi = 3 x^2 - 2 x^3, x = z/2R."""
    R = sphere.radius

    def settled(share: Floats) -> Settled:
        height = 2 * R * (0.5 - np.sin(np.arcsin(1.0 - 2.0 * np.clip(share, 1e-12, 1.0)) / 3.0))
        z = 0.5 * height[:, None] * (1.0 + _NODES)                      # heights of slices above the bottom
        a = 2 * R * z - z**2                                            # radii squared
        weight = a * _WEIGHTS
        weight /= weight.sum(axis=1, keepdims=True)
        com = np.zeros((len(share), 3))
        com[:, 2] = (weight * (z - R)).sum(axis=1)
        xx, zz = (weight * a / 4).sum(axis=1), (weight * (z - R) ** 2).sum(axis=1) - com[:, 2] ** 2
        return com, np.stack([xx + zz, xx + zz, 2 * xx], axis=1)

    return settled


def shape_knots(shape: Shape) -> Floats:
    """Shares between which cubics in the mass follow the propellant: one is exact but in a sphere, whose level is not a polynomial
    of the mass, and falls with its root near the ends.
    """
    return 0.5 - 0.5 * np.cos(np.pi * np.linspace(0.0, 1.0, 49)) if isinstance(shape, Sphere) else np.array([0.0, 1.0])
