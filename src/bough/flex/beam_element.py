"""The 3-D beam element: two nodes of six dofs, sampled at Gauss points.

Axial displacement and twist are linear. Bending uses the interdependent interpolation that solves the uniform
Timoshenko beam exactly; without shear it is Hermite's cubic. The local axis is x; v bends about z, w about y.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bough.flex.beam_sections import Along, Sections
from bough.flex.cross import Array

GAUSS, WEIGHTS = (np.polynomial.legendre.leggauss(4)[0] + 1) / 2, np.polynomial.legendre.leggauss(4)[1] / 2  # on [0, 1]


@dataclass(frozen=True)
class BeamGrid:
    """A beam cut into elements: E elements, 4 Gauss points each, 6 (E + 1) dofs, in the beam's own axes."""

    node: Array  # (E + 1,) places of the nodes
    x: Array  # (E, 4) places of the Gauss points
    weight: Array  # (E, 4) their lengths
    motion: Array  # (E, 4, 6, 12) [u, theta] per element dof
    strain: Array  # (E, 4, 6, 12) [gamma, kappa] per element dof

    @property
    def n_elements(self) -> int:
        return len(self.node) - 1

    def operator(self, fields: Array) -> Any:
        """The sparse (E*4*6, dofs) matrix of a field of the elements."""
        from scipy.sparse import csr_array

        count = self.n_elements
        rows = np.broadcast_to(np.arange(count * 24).reshape(count, 4, 6, 1), fields.shape)
        columns = np.broadcast_to((6 * np.arange(count)[:, None] + np.arange(12))[:, None, None, :], fields.shape)
        keep = fields.ravel() != 0.0
        place = (rows.ravel()[keep], columns.ravel()[keep])
        return csr_array((fields.ravel()[keep], place), shape=(count * 24, 6 * (count + 1)))

    def sample(self, fields: Array, shapes: Array) -> Array:
        """A field of the elements (E, 4, 6, n) under dofs (dofs, n)."""
        dofs = shapes.reshape(self.n_elements + 1, 6, -1)
        local = np.concatenate([dofs[:-1], dofs[1:]], axis=1)
        return np.asarray(np.einsum("eqij,ejn->eqin", fields, local))


def beam_grid(nodes: Array, sections: Sections) -> BeamGrid:
    """The elements between the given places along the axis."""
    size = np.diff(nodes)
    middle = (nodes[1:] + nodes[:-1]) / 2
    motion, strain = np.zeros((2, len(size), 4, 6, 12))
    linear = np.stack([1 - GAUSS, GAUSS])
    for place in (0, 3):  # ux and theta_x
        motion[:, :, place, [place, place + 6]] = linear.T
        strain[:, :, place, place] = -1.0 / size[:, None]
        strain[:, :, place, place + 6] = 1.0 / size[:, None]
    for across, turn, sign, EI, GA in ((1, 5, 1.0, sections.EIz, sections.GAy), (2, 4, -1.0, sections.EIy, sections.GAz)):
        deflection, slope, curvature, shear = bending_shapes(size, shear_parameter(size, middle, EI, GA))
        dofs, signs = [across, turn, across + 6, turn + 6], np.array([1.0, sign, 1.0, sign])
        motion[:, :, across, dofs] = deflection * signs
        motion[:, :, turn, dofs] = sign * slope * signs
        strain[:, :, across, dofs] = shear * signs
        strain[:, :, turn + 0, dofs] = sign * curvature * signs
    return BeamGrid(nodes, nodes[:-1, None] + size[:, None] * GAUSS, size[:, None] * WEIGHTS, motion, strain)


def shear_parameter(size: Array, middle: Array, EI: Along, GA: Along | None) -> Array:
    """12 EI / (k GA h^2) of each element; zero without shear."""
    return np.zeros(len(size)) if GA is None else 12.0 * EI(middle) / (GA(middle) * size**2)


def bending_shapes(size: Array, shear: Array) -> tuple[Array, Array, Array, Array]:
    """Deflection, slope, its derivative and the shear strain (E, 4, 4) at the Gauss points per [v1, slope1, v2, slope2]."""
    x, h, f = GAUSS[None, :], size[:, None], shear[:, None]
    scale = (1.0 / (1.0 + f))[..., None]
    zero = np.zeros(np.broadcast_shapes(x.shape, h.shape))
    deflection = np.stack([
        1 - 3 * x**2 + 2 * x**3 + f * (1 - x), h * (x - 2 * x**2 + x**3 + f / 2 * (x - x**2)),
        3 * x**2 - 2 * x**3 + f * x, h * (-(x**2) + x**3 - f / 2 * (x - x**2)),
    ], axis=-1)  # fmt: skip
    slope = np.stack(
        [6 / h * (x**2 - x), 1 - 4 * x + 3 * x**2 + f * (1 - x), 6 / h * (x - x**2), 3 * x**2 - 2 * x + f * x], axis=-1
    )
    curvature = np.stack([6 / h**2 * (2 * x - 1), (6 * x - 4 - f) / h, 6 / h**2 * (1 - 2 * x), (6 * x - 2 + f) / h], axis=-1)
    shear_strain = np.stack([zero - f / h, zero - f / 2, zero + f / h, zero - f / 2], axis=-1)
    return scale * deflection, scale * slope, scale * curvature, scale * shear_strain


def stiffness_per_length(x: Array, sections: Sections) -> Array:
    """[EA, GAy, GAz, GJ, EIy, EIz] (..., 6) at places along the axis, zero where the beam is rigid."""
    laws = (sections.EA, sections.GAy, sections.GAz, sections.GJ, sections.EIy, sections.EIz)
    return np.stack([np.zeros(x.shape) if law is None else law(x) for law in laws], axis=-1)
