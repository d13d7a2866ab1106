"""What the links of the partitioned tree are made of, for the operators: numbers that scatter_motion and apply_loads left in ws."""
from bough.kernels.hinges import MODAL
from bough.kernels.jit import leaf
from bough.kernels.lanes import flexible_only, read
from bough.sweeps import fields as f
from bough.sweeps.modes import flex_of, inboard_shapes, mode_rows, node_shapes
from bough.sweeps.blocks import store_rows

# a link: attitude, offset from the inner link, remainder acceleration, what that demands of its own mass (of a flexible body in its
# own axes), what is applied to it
LINK_ATTITUDE, LINK_OFFSET, LINK_ACCELERATION, LINK_DEMAND, LINK_APPLIED, LINK_ROW = f.offsets(9, 3, 6, 6, 6)
# behind it of a flexible body with n modes: J, h; then for each mode its row of D (n), g and z_f; shapes of the inboard node (6 n)
# behind it of a node: its shapes (6 n)
LINK_J, LINK_H, LINK_MODES = f.offsets(6, 3)


@leaf
def store_link(lane, plan, ws, row, out, group, at):
    """One link from column `at` of out on; gives where the next one starts."""
    record, slot = read(plan, row + f.RECORD), read(plan, row + f.SLOT)
    store_rows(lane, out, group, at + LINK_ATTITUDE, ws, record + f.ATTITUDE, 9)
    store_rows(lane, out, group, at + LINK_OFFSET, ws, record + f.OFFSET, 3)
    store_rows(lane, out, group, at + LINK_ACCELERATION, ws, record + f.ACCELERATION, 6)
    if read(plan, row + f.MASSIVE):
        store_rows(lane, out, group, at + LINK_DEMAND, ws, record + f.GAIN, 6)
    if slot:
        store_rows(lane, out, group, at + LINK_APPLIED, ws, slot, 6)
    if read(plan, row + f.KIND) < MODAL:
        return at + LINK_ROW
    return store_link_shapes(lane, plan, ws, row, out, group, at)


def store_link_shapes(lane, plan, ws, row, out, group, at):
    """What a MODAL link and a NODE have more."""
    (flex, n), more = flex_of(plan, row), at + LINK_ROW
    if read(plan, row + f.KIND) != MODAL:
        store_rows(lane, out, group, more, ws, node_shapes(plan, row)[0], 6*n)
        return more + 6*n
    record, (rows, length, at_g, _) = read(plan, flex + f.FLEX_WS), mode_rows(lane, plan, flex, n)
    store_rows(lane, out, group, at + LINK_DEMAND, ws, record + f.MODAL_WRENCH, 6)
    store_rows(lane, out, group, more + LINK_J, ws, record + f.MODAL_J, 9)
    more = more + LINK_MODES
    for j in range(n):
        store_rows(lane, out, group, more, ws, rows + length*j, n)
        store_rows(lane, out, group, more + n, ws, rows + length*j + at_g, 7)
        more = more + n + 7
    if read(plan, flex + f.INBOARD_MOVES):
        store_rows(lane, out, group, more, ws, inboard_shapes(lane, plan, flex), 6*n)
    return more + 6*n


flexible_only(store_link_shapes, lambda lane, plan, ws, row, out, group, at: at)
