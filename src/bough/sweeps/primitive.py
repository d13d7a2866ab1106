"""The columns of a hinge's map, one by one: for what goes speed by speed."""
from bough.kernels.algebra import ZERO, axis_z, column
from bough.kernels.hinges import FREE, PRISMATIC, REVOLUTE, SPHERICAL
from bough.kernels.jit import leaf


@leaf
def n_speeds(kind):
    """How many speeds a hinge of this kind has."""
    if kind == REVOLUTE or kind == PRISMATIC:
        return 1
    if kind == SPHERICAL:
        return 3
    return 6 if kind == FREE else 0


@leaf
def hinge_column(kind, F, C, j):
    """H_j: the motion across the hinge that speed j makes."""
    if kind == REVOLUTE:
        return axis_z(C), ZERO
    if kind == PRISMATIC:
        return ZERO, axis_z(C)
    if kind == SPHERICAL:
        return column(C, j), ZERO
    if j < 3:
        return ZERO, column(F, j)
    return column(C, j - 3), ZERO
