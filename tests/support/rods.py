"""The exact rod with given strains, integrated numerically: what second-order displacements must approach."""

import numpy as np
from scipy.spatial.transform import Rotation

AXIS = np.array([1.0, 0, 0])


def turned_by(rotation):
    return Rotation.from_rotvec(rotation).as_matrix()


def integrate_rod(grid, shapes, eta, start_rotation, steps=40):
    """Place and rotation of the end of a rod with the strains of modal coordinates, clamped at its first node: midpoints, order 2
    in the steps of an element."""
    strain = grid.sample(grid.strain, shapes) @ eta
    gauss, _ = np.polynomial.legendre.leggauss(4)
    gauss = (gauss + 1) / 2
    turn, place = turned_by(start_rotation), np.zeros(3)
    for size, values in zip(np.diff(grid.node), strain, strict=True):
        fit = np.linalg.solve(gauss[:, None] ** np.arange(4), values)  # cubic through the Gauss values
        step = size / steps
        for k in range(steps):
            middle = ((k + 0.5) / steps) ** np.arange(4) @ fit
            half = turn @ turned_by(middle[3:] * step / 2)
            place = place + step * half @ (middle[:3] + AXIS)
            turn = turn @ turned_by(middle[3:] * step)
    return place, turn
