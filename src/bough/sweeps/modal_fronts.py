"""Fronts of closed loops through flexible bodies: multipliers are more columns X in the rows of the modes [B 15].

    D eta'' + g.A + z_f + X lambda = 0           X = -Pi^T K of the nodes that the loops come through (and + Pi^T K of an inboard
                                                 node that the modes move)

[JSC 4.2], so that eliminating the modes, row by row, brings K + X^T D^-1 g, k + X^T D^-1 z_f and L + X^T D^-1 X inward.
"""
from bough.kernels.algebra import rotate_spatial, spatial_dot, unrotate_spatial
from bough.kernels.hinges import MODAL
from bough.kernels.jit import leaf
from bough.kernels.lanes import accumulate, add, load, load_spatial, flexible_loops_only, read, scale, zero
from bough.sweeps.closures import load_wrench, store_wrench
from bough.sweeps import fields as f
from bough.sweeps.modes import body_attitude, flex_of, inboard_shapes, mode_columns, mode_rows, node_shapes


@leaf
def node_columns(lane, plan, ws, row, front):
    """A node hands its front to the modes: X - Pi^T K."""
    flex, n = flex_of(plan, row)
    X, length = mode_columns(lane, plan, flex, n)
    C, shapes, source = body_attitude(lane, plan, ws, flex), node_shapes(plan, row)[0], read(plan, front + f.FRONT_RUNS)
    at, width = read(plan, front + f.FRONT_AT), read(plan, front + f.FRONT_WIDTH)
    for p in range(read(plan, source + f.N_RUNS)):
        run = source + f.SOURCE_ROW + f.RUN*p
        begin, to = read(plan, run + f.RUN_FROM), read(plan, run + f.RUN_TO)
        for j in range(read(plan, run + f.RUN_LENGTH)):
            K = unrotate_spatial(C, load_wrench(lane, ws, at + width*(width + f.FRONT_K) + begin + j, width))
            for i in range(n):
                share = spatial_dot(load_spatial(lane, ws, shapes + 6*i), K)
                accumulate(lane, ws, X + length*i + to + j, -share)


def inboard_columns(lane, plan, ws, row):
    """Modes that move the inboard node move the body under it: X + Pi^T K, before the modes are eliminated."""
    flex, n = flex_of(plan, row)
    front = read(plan, row + f.FRONT)
    if front and read(plan, row + f.KIND) == MODAL and read(plan, flex + f.INBOARD_MOVES):
        X, length = mode_columns(lane, plan, flex, n)
        C, shapes = body_attitude(lane, plan, ws, flex), inboard_shapes(lane, plan, flex)
        at, width = read(plan, front + f.FRONT_AT), read(plan, front + f.FRONT_WIDTH)
        for j in range(read(plan, front + f.FRONT_FIRST), read(plan, front + f.FRONT_END)):
            K = unrotate_spatial(C, load_wrench(lane, ws, at + width*(width + f.FRONT_K) + j, width))
            for i in range(n):
                share = spatial_dot(load_spatial(lane, ws, shapes + 6*i), K)
                accumulate(lane, ws, X + length*i + j, share)


flexible_loops_only(inboard_columns, lambda lane, plan, ws, row: None)


@leaf
def modal_columns(lane, plan, ws, row, front):
    """The eliminated modes' share of the front: K + X^T D^-1 g, k + X^T D^-1 z_f, L + X^T D^-1 X [JSC 4.4]."""
    flex, n = flex_of(plan, row)
    (rows, length, at_g, at_z), (X, _) = mode_rows(lane, plan, flex, n), mode_columns(lane, plan, flex, n)
    C, at, width, end = (body_attitude(lane, plan, ws, flex), read(plan, front + f.FRONT_AT), read(plan, front + f.FRONT_WIDTH),
                         read(plan, front + f.FRONT_END))
    K, bias = at + width*(width + f.FRONT_K), at + width*(width + f.FRONT_BIAS)
    for j in range(read(plan, front + f.FRONT_FIRST), end):
        o = (zero(lane), zero(lane), zero(lane))
        added, more = (o, o), zero(lane)
        for i in range(n):
            mode = rows + length*i
            d_x = load(lane, ws, mode + i)*load(lane, ws, X + length*i + j)
            added = add(added, scale(d_x, load_spatial(lane, ws, mode + at_g)))
            more = more + d_x*load(lane, ws, mode + at_z)
            for l in range(j, end):
                accumulate(lane, ws, at + width*j + l, d_x*load(lane, ws, X + length*i + l))
        store_wrench(lane, ws, K + j, width, add(load_wrench(lane, ws, K + j, width), rotate_spatial(C, added)))
        accumulate(lane, ws, bias + j, more)


def update_modal_front(lane, plan, ws, row, front):
    """A front through a NODE, or through the MODAL hinge whose modes have been eliminated."""
    if read(plan, row + f.KIND) == MODAL:
        modal_columns(lane, plan, ws, row, front)
    else:
        node_columns(lane, plan, ws, row, front)


flexible_loops_only(update_modal_front, lambda lane, plan, ws, row, front: None)


def apply_multipliers_to_modes(lane, plan, ws, row, multipliers, first, end):
    """z_f + X lambda: what the multipliers add to the modes."""
    if read(plan, row + f.KIND) == MODAL:
        flex, n = flex_of(plan, row)
        (rows, length, _, at_z), (X, _) = mode_rows(lane, plan, flex, n), mode_columns(lane, plan, flex, n)
        for i in range(n):
            added = zero(lane)
            for j in range(first, end):
                added = added + load(lane, ws, X + length*i + j)*load(lane, ws, multipliers + j)
            accumulate(lane, ws, rows + length*i + at_z, added)


flexible_loops_only(apply_multipliers_to_modes, lambda lane, plan, ws, row, multipliers, first, end: None)
