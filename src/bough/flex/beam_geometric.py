"""Geometric stiffness of a straight beam from its second-order displacements.

Modes prescribe the strains gamma and curvatures kappa of the beam. The exact rod with these strains, R' = R kappa~ and
r' = R (e_x + gamma), is expanded to second order in the modal coordinates, starting from the inboard node d:

    R2 = 1/2 theta_d~ theta_d~ + int theta~ kappa~ ds        r2 = int R2 e_x + theta x gamma ds = 1/2 eta^T G^i eta e_i

Its x-component is the foreshortening of [B 10]; the others couple bending and twist (lateral buckling). The virtual
rotation is int R d(kappa) ds, which gives H^i for moments. Forces and moments at nodes act through all of them; the beam's own mass
through the foreshortening alone.
"""

from __future__ import annotations

import numpy as np

from bough.flex.beam_element import GAUSS, WEIGHTS, BeamGrid
from bough.flex.cross import LEVI_CIVITA, Array
from bough.flex.geometric import GeometricStiffness


def beam_geometric(
    grid: BeamGrid, shapes: Array, *, start: int, mass: Array, extra: list[tuple[int, float, Array]], places: list[int], axes: Array
) -> GeometricStiffness:
    """The matrices of a beam, with dofs `shapes` in the beam's own axes, relative to node `start` of the grid.

    `mass` (E, 4) is at the Gauss points; `extra` lists (node, mass, mass center) of masses at nodes; `places` are the nodes of the
    grid whose forces count; `axes` turns the beam's axes into the body's.
    """
    at_points, at_nodes, turning = second_order_displacements(grid, shapes, start)
    along = np.einsum("eq,eqirs->irs", mass, at_points)
    first = np.zeros((3, 3, *along.shape[1:]))
    first[:, 0] = np.einsum("eq,eq,eqirs->irs", mass, grid.x, at_points)
    for node, weight, center in extra:
        along = along + weight * at_nodes[node]
        first = first + weight * np.einsum("irs,m->imrs", at_nodes[node], center)
    along[1:] = first[1:] = 0.0
    return GeometricStiffness(
        acceleration=np.einsum("ia,ars->irs", axes, along),
        gradient=np.einsum("ia,mb,abrs->imrs", axes, axes, first),
        force=np.einsum("ia,nars->nirs", axes, at_nodes[places]),
        moment=np.einsum("ia,nars->nirs", axes, turning[places]),
    )


def second_order_displacements(grid: BeamGrid, shapes: Array, start: int) -> tuple[Array, Array, Array]:
    """G^i at the Gauss points (E, 4, 3, n, n) and at the nodes (E+1, 3, n, n), and H^i at the nodes, from node `start`."""
    theta = grid.sample(grid.motion, shapes)[:, :, 3:]
    strain = grid.sample(grid.strain, shapes)
    gamma, kappa = strain[:, :, :3], strain[:, :, 3:]
    initial = shapes.reshape(grid.n_elements + 1, 6, -1)[start, 3:]
    slope = np.empty((*theta.shape[:2], 3, theta.shape[3], theta.shape[3]))  # R2 e_x, as eta^T [.] eta
    slope[:, :, 0] = -(_outer(theta, 1, theta, 1) + _outer(theta, 2, theta, 2)) / 2
    for across in (1, 2):
        twisted, _ = running_integral(grid, _outer(theta, 0, kappa, across), start)
        slope[:, :, across] = twisted + np.outer(initial[0], initial[across]) / 2
    slope += np.einsum("ijk,eqjr,eqks->eqirs", LEVI_CIVITA, theta, gamma)
    at_points, at_nodes = running_integral(grid, slope + np.swapaxes(slope, -1, -2), start)
    _, turning = running_integral(grid, np.einsum("ijk,eqjs,eqkr->eqirs", LEVI_CIVITA, theta, kappa), start)
    return at_points, at_nodes, turning


def running_integral(grid: BeamGrid, field: Array, start: int) -> tuple[Array, Array]:
    """int from node `start` to each Gauss point (E, 4, ...) and to each node (E + 1, ...) of a field (E, 4, ...)."""
    size = np.diff(grid.node).reshape(-1, *(1,) * (field.ndim - 1))
    inside = size * np.einsum("qp,ep...->eq...", _PARTIAL, field)
    whole = size[:, 0] * np.einsum("q,eq...->e...", WEIGHTS, field)
    at_nodes = np.concatenate([np.zeros((1, *whole.shape[1:])), np.cumsum(whole, axis=0)])
    at_nodes = at_nodes - at_nodes[start]
    return at_nodes[:-1, None] + inside, at_nodes


def _outer(first: Array, i: int, second: Array, j: int) -> Array:
    return np.asarray(first[:, :, i, :, None] * second[:, :, j, None, :])


def _partial_weights() -> Array:
    """int_0^x_q of the polynomial through the values at the Gauss points: (4, 4)."""
    powers = np.arange(4)
    return np.asarray((GAUSS[:, None] ** (powers + 1) / (powers + 1)) @ np.linalg.inv(GAUSS[:, None] ** powers))


_PARTIAL = _partial_weights()
