"""Rows of states in, rows of results out, one or four states at a time."""
from bough.kernels.jit import leaf
from bough.kernels.lanes import get_lane, put_lane, width_of


@leaf
def take(lane, rows, group, ws, at, n):
    """Rows of the states of a group -> numbers; missing states of the last group repeat its last one."""
    width, last = width_of(lane), rows.shape[0] - 1
    for j in range(n):                                          # lanes inside: they are neighbors
        for i in range(width):
            put_lane(lane, ws, at + j, i, rows[min(group*width + i, last), j])


@leaf
def give(lane, rows, group, first, ws, at, n):
    """Numbers -> rows of the states of a group, from column `first` on."""
    width = width_of(lane)
    for i in range(min(width, rows.shape[0] - group*width)):
        for j in range(n):
            rows[group*width + i, first + j] = get_lane(lane, ws, at + j, i)


@leaf
def groups_of(lane, rows):
    return (rows.shape[0] + width_of(lane) - 1)//width_of(lane)
