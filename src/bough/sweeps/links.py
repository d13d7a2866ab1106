"""What the links of the partitioned tree are made of, for the operators: numbers that scatter_motion and apply_loads left in ws."""
from bough.kernels.hinges import MODAL
from bough.kernels.jit import leaf
from bough.kernels.lanes import only_if_bending, read
from bough.sweeps import fields as f
from bough.sweeps.modes import flex_of, inboard_shapes, mode_rows, node_shapes
from bough.sweeps.rows import give


@leaf
def tell_link(lane, plan, ws, row, out, group, at):
    """One link from column `at` of out on; gives where the next one starts."""
    record, slot = read(plan, row + f.RECORD), read(plan, row + f.SLOT)
    give(lane, out, group, at + f.LINK_ATTITUDE, ws, record + f.ATTITUDE, 9)
    give(lane, out, group, at + f.LINK_OFFSET, ws, record + f.OFFSET, 3)
    give(lane, out, group, at + f.LINK_ACCELERATION, ws, record + f.ACCELERATION, 6)
    if read(plan, row + f.MASSIVE):
        give(lane, out, group, at + f.LINK_DEMAND, ws, record + f.GAIN, 6)
    if slot:
        give(lane, out, group, at + f.LINK_APPLIED, ws, slot, 6)
    if read(plan, row + f.KIND) < MODAL:
        return at + f.LINK_ROW
    return tell_shapes(lane, plan, ws, row, out, group, at)


def tell_shapes(lane, plan, ws, row, out, group, at):
    """What a MODAL link and a NODE have more."""
    (flex, n), more = flex_of(plan, row), at + f.LINK_ROW
    if read(plan, row + f.KIND) != MODAL:
        give(lane, out, group, more, ws, node_shapes(plan, row)[0], 6*n)
        return more + 6*n
    record, (rows, length, at_g, _) = read(plan, flex + f.FLEX_WS), mode_rows(lane, plan, flex, n)
    give(lane, out, group, at + f.LINK_DEMAND, ws, record + f.MODAL_WRENCH, 6)
    give(lane, out, group, more + f.LINK_J, ws, record + f.MODAL_J, 9)
    more = more + f.LINK_MODES
    for j in range(n):
        give(lane, out, group, more, ws, rows + length*j, n)
        give(lane, out, group, more + n, ws, rows + length*j + at_g, 7)
        more = more + n + 7
    if read(plan, flex + f.INBOARD_MOVES):
        give(lane, out, group, more, ws, inboard_shapes(lane, plan, flex), 6*n)
    return more + 6*n


only_if_bending(tell_shapes, lambda lane, plan, ws, row, out, group, at: at)
