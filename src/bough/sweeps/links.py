"""What the links of the partitioned tree are made of, for the operators: numbers that scatter_motion and apply_loads left in ws."""
from bough.kernels.hinges import MODAL
from bough.kernels.jit import leaf
from bough.kernels.lanes import flexible_only, read
from bough.sweeps import fields as f
from bough.sweeps.modes import flex_of, inboard_shapes, mode_rows, node_shapes
from bough.sweeps.blocks import store_rows


@leaf
def store_link(lane, plan, ws, row, out, group, at):
    """One link from column `at` of out on; gives where the next one starts."""
    record, slot = read(plan, row + f.RECORD), read(plan, row + f.SLOT)
    store_rows(lane, out, group, at + f.LINK_ATTITUDE, ws, record + f.ATTITUDE, 9)
    store_rows(lane, out, group, at + f.LINK_OFFSET, ws, record + f.OFFSET, 3)
    store_rows(lane, out, group, at + f.LINK_ACCELERATION, ws, record + f.ACCELERATION, 6)
    if read(plan, row + f.MASSIVE):
        store_rows(lane, out, group, at + f.LINK_DEMAND, ws, record + f.GAIN, 6)
    if slot:
        store_rows(lane, out, group, at + f.LINK_APPLIED, ws, slot, 6)
    if read(plan, row + f.KIND) < MODAL:
        return at + f.LINK_ROW
    return store_link_shapes(lane, plan, ws, row, out, group, at)


def store_link_shapes(lane, plan, ws, row, out, group, at):
    """What a MODAL link and a NODE have more."""
    (flex, n), more = flex_of(plan, row), at + f.LINK_ROW
    if read(plan, row + f.KIND) != MODAL:
        store_rows(lane, out, group, more, ws, node_shapes(plan, row)[0], 6*n)
        return more + 6*n
    record, (rows, length, at_g, _) = read(plan, flex + f.FLEX_WS), mode_rows(lane, plan, flex, n)
    store_rows(lane, out, group, at + f.LINK_DEMAND, ws, record + f.MODAL_WRENCH, 6)
    store_rows(lane, out, group, more + f.LINK_J, ws, record + f.MODAL_J, 9)
    more = more + f.LINK_MODES
    for j in range(n):
        store_rows(lane, out, group, more, ws, rows + length*j, n)
        store_rows(lane, out, group, more + n, ws, rows + length*j + at_g, 7)
        more = more + n + 7
    if read(plan, flex + f.INBOARD_MOVES):
        store_rows(lane, out, group, more, ws, inboard_shapes(lane, plan, flex), 6*n)
    return more + 6*n


flexible_only(store_link_shapes, lambda lane, plan, ws, row, out, group, at: at)
