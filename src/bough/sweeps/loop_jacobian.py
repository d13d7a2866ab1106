"""Closed loops in the dense method: rows of their Jacobian, and multipliers from the factors of the mass matrix.

    J M^-1 J^T lambda = -(J M^-1 (tau - h) + gamma)         M = U^T D U, all from the factors of M
"""
from bough.kernels.algebra import shift_wrench, spatial_dot, unrotate_spatial
from bough.kernels.hinges import MODAL, hinge_column, n_speeds
from bough.kernels.jit import leaf
from bough.kernels.lanes import (accumulate, load, load3, load9, load_spatial, flexible_only,
                                 loops_only, read, scale, store, zero)
from bough.sweeps.schema import dense_method
from bough.sweeps.blocks import NOTHING, load_strided
from bough.sweeps.closures import bias_place
from bough.sweeps.couplings import balance_couplings, coupling_jacobian, coupling_place, n_couplings
from bough.sweeps import fields as f
from bough.sweeps.dense import back_substitute_dense, factor_dense, loop_row, multiplier_blocks
from bough.sweeps.fronts import restore_order, set_limits
from bough.sweeps.held import zero_prescribed_columns
from bough.sweeps.modes import body_attitude, modal_row, signed_shapes
from bough.sweeps.tree_motion import hinge_attitude, hinge_row


@leaf
def entry_place(plan, at, j, i):
    """Position of entry i in the row at `at`; or, if j is a speed, of entry (i, j) in the upper triangle of the matrix at `at`."""
    if j is None:
        return at + i
    return at + read(plan, f.NV)*min(i, j) + max(i, j)


@leaf
def project_path(lane, plan, pars, ws, k, meet, X, at, j):
    """Carry a wrench X from body k to body `meet`, and store its component along each hinge, see `entry_place`; contributions to
    modes are added up."""
    while k != meet:
        row = hinge_row(plan, k)
        kind, record = read(plan, row + f.KIND), read(plan, row + f.RECORD)
        if kind < MODAL:
            C, first = load9(lane, ws, record + f.ATTITUDE), read(plan, row + f.TAU) - read(plan, f.WS_U)
            for i in range(n_speeds(kind)):
                share = spatial_dot(hinge_column(kind, hinge_attitude(pars, k), C, i), X)
                store(lane, ws, entry_place(plan, at, j, first + i), share)
        else:
            project_path_on_modes(lane, plan, ws, row, X, at, j)
        X, k = shift_wrench(load3(lane, ws, record + f.OFFSET), X), read(plan, row + f.INNER)


@flexible_only
def project_path_on_modes(lane, plan, ws, row, X, at, j):
    """Components along the modes: shapes of a node, less those of the inboard node."""
    flex, (shapes, sign, n) = read(plan, row + f.FLEX), signed_shapes(lane, plan, row)
    if n == 0:                                                  # the inboard node does not move
        return
    first = read(plan, modal_row(plan, flex) + f.TAU) - read(plan, f.WS_U)
    X_b = scale(sign, unrotate_spatial(body_attitude(lane, plan, ws, flex), X))
    for i in range(n):
        accumulate(lane, ws, entry_place(plan, at, j, first + i), spatial_dot(load_spatial(lane, ws, shapes + 6*i), X_b))


@leaf
def loop_jacobian(lane, plan, pars, ws, at):
    """nv numbers for each multiplier from `at` on, after assemble_loops and before any inward sweep."""
    nv = read(plan, f.NV)
    for i in range(nv*read(plan, f.N_MULTIPLIERS)):
        store(lane, ws, at + i, zero(lane))
    for loop in range(read(plan, f.N_LOOPS)):
        row = loop_row(plan, loop)
        first, meet = at + nv*(read(plan, row + f.LOOP_MULTIPLIERS) - read(plan, f.WS_MULTIPLIERS)), read(plan, row + f.LOOP_MEET)
        for j in range(read(plan, row + f.LOOP_ROWS)):
            if read(plan, row + f.COLUMN_A):
                X = load_strided(lane, ws, read(plan, row + f.COLUMN_A) - j, read(plan, row + f.STRIDE_A))
                project_path(lane, plan, pars, ws, read(plan, row + f.LOOP_A), meet, X, first + nv*j, NOTHING)
            if read(plan, row + f.COLUMN_B):
                X = load_strided(lane, ws, read(plan, row + f.COLUMN_B) - j, read(plan, row + f.STRIDE_B))
                project_path(lane, plan, pars, ws, read(plan, row + f.LOOP_B), meet, X, first + nv*j, NOTHING)
    coupling_jacobian(lane, plan, pars, ws, at)


@leaf
def transform_jacobian(lane, plan, ws, J):
    """Replace J by J U^-1."""
    n, M = read(plan, f.NV), read(plan, f.WS_MASS)
    for c in range(read(plan, f.N_MULTIPLIERS)):
        y = J + n*c
        for j in range(n):
            share = load(lane, ws, y + j)*load(lane, ws, M + n*j + j)
            for i in range(j + 1, n):
                accumulate(lane, ws, y + i, -share*load(lane, ws, M + n*j + i))


@leaf
def product(lane, plan, ws, a, b):
    """a D^-1 b of two rows of nv numbers."""
    n, M, total = read(plan, f.NV), read(plan, f.WS_MASS), zero(lane)
    for j in range(n):
        total = total + load(lane, ws, a + j)*load(lane, ws, M + n*j + j)*load(lane, ws, b + j)
    return total


@leaf
def limits_of_rows(lane, plan, pars, ws, S):
    """Pivot limits from the diagonal of S and from the (gap/size)^2 of each loop, which is in place of its first multiplier."""
    m, x, (_, limits, _) = read(plan, f.N_MULTIPLIERS), read(plan, f.WS_MULTIPLIERS), multiplier_blocks(plan)
    for c in range(m):
        store(lane, ws, limits + c, zero(lane))
    for loop in range(read(plan, f.N_LOOPS)):
        first, rows = read(plan, loop_row(plan, loop) + f.LOOP_MULTIPLIERS) - x, read(plan, loop_row(plan, loop) + f.LOOP_ROWS)
        set_limits(lane, pars, ws, S + m*first + first, m + 1, limits + first, rows, load(lane, ws, x + first))
    for i in range(n_couplings(lane, plan)):
        c = coupling_place(lane, plan, i)
        if c >= 0:
            set_limits(lane, pars, ws, S + m*c + c, m + 1, limits + c, 1, zero(lane))


@leaf
def system_of_multipliers(lane, plan, pars, ws, J, S, b):
    """S = J M^-1 J^T and its right side [JSC 4.20]."""
    n, m, x = read(plan, f.NV), read(plan, f.N_MULTIPLIERS), read(plan, f.WS_MULTIPLIERS)
    balance = multiplier_blocks(plan)[2]
    for c in range(m):
        for e in range(c, m):
            store(lane, ws, S + m*c + e, product(lane, plan, ws, J + n*c, J + n*e))
    limits_of_rows(lane, plan, pars, ws, S)
    for c in range(m):
        store(lane, ws, x + c, -product(lane, plan, ws, J + n*c, b))
    for loop in range(read(plan, f.N_LOOPS)):
        row = loop_row(plan, loop)
        for j in range(read(plan, row + f.LOOP_ROWS)):
            accumulate(lane, ws, read(plan, row + f.LOOP_MULTIPLIERS) + j, -load(lane, ws, bias_place(plan, row) - j))
    balance_couplings(lane, plan, ws, -1.0)
    for c in range(m):
        store(lane, ws, balance + c, load(lane, ws, x + c))


@leaf
def solve_multipliers(lane, plan, ws, S):
    """Solve S lambda = right side; redundant rows get no multiplier [JSC 4.20]."""
    m, x, (order, limits, balance) = read(plan, f.N_MULTIPLIERS), read(plan, f.WS_MULTIPLIERS), multiplier_blocks(plan)
    for j in range(m):
        store(lane, ws, order + j, zero(lane) + (j + 1.0))
    factor_dense(lane, plan, ws, S, balance, m, limits)
    back_substitute_dense(lane, ws, S, balance, m)
    restore_order(lane, ws, order, balance, limits, m)
    for c in range(m):
        store(lane, ws, x + c, load(lane, ws, balance + c))


@loops_only
def solve_loops_dense(lane, plan, pars, ws, b):
    """Multipliers, and their forces added to b = (tau - h) U^-1; the factors of M are at WS_MASS."""
    n, m = read(plan, f.NV), read(plan, f.N_MULTIPLIERS)
    at, (_, J, S, _, _, _, _) = read(plan, f.WS_MASS), dense_method(n, m)
    J, S = at + J, at + S
    loop_jacobian(lane, plan, pars, ws, J)
    zero_prescribed_columns(lane, plan, ws, J, m)
    transform_jacobian(lane, plan, ws, J)
    system_of_multipliers(lane, plan, pars, ws, J, S, b)
    solve_multipliers(lane, plan, ws, S)
    for c in range(m):
        multiplier = load(lane, ws, read(plan, f.WS_MULTIPLIERS) + c)
        for j in range(n):
            accumulate(lane, ws, b + j, multiplier*load(lane, ws, J + n*c + j))
