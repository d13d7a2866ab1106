"""Symmetric positive definite equations M x = b of any size, row by row; those of loops are semi-definite, and choose pivots."""

from bough.kernels.jit import leaf
from bough.kernels.lanes import accumulate, any_negative, inverse_above, load, read, store
from bough.sweeps import fields as f
from bough.sweeps.fronts import exchange
from bough.sweeps.schema import dense_method


@leaf
def factor_dense(lane, plan, ws, M, b, n, limits):
    """M = U^T D U, row by row, from the upper triangle of M.  b becomes U^-T b; the diagonal of M becomes 1/D.  With limits, M are
    the equations of the multipliers: rows of a loop are taken in the order of their pivots, and 1/D is 0 where D does not exceed
    its limit."""
    for j in range(n):
        if limits is not None:
            put_largest_first(lane, plan, ws, M, j)
        d = load(lane, ws, M + n*j + j)
        d_inverse = 1.0/d if limits is None else inverse_above(d, load(lane, ws, limits + j))
        y = load(lane, ws, b + j)
        for i in range(j + 1, n):
            l = load(lane, ws, M + n*j + i)*d_inverse
            for c in range(i, n):
                accumulate(lane, ws, M + n*i + c, -l*load(lane, ws, M + n*j + c))
            accumulate(lane, ws, b + i, -l*y)
        store(lane, ws, M + n*j + j, d_inverse)


@leaf
def back_substitute_dense(lane, ws, M, b, n):
    """Solve with the factors of factor_dense: x replaces b."""
    for j in range(n - 1, -1, -1):
        y = load(lane, ws, b + j)
        for i in range(n - 1, j, -1):                           # latest result last, so that the other terms need not wait for it
            y = y - load(lane, ws, M + n*j + i)*load(lane, ws, b + i)
        store(lane, ws, b + j, y*load(lane, ws, M + n*j + j))


# ---- pivots of loops ------------------------------------------------------------------------------------------------------
@leaf
def loop_row(plan, loop):
    return read(plan, f.LOOPS) + loop*f.LOOP_ROW


@leaf
def multiplier_blocks(plan):
    """Positions of the row order of the multipliers' equations and, in that order, pivot limits and right sides."""
    at, (_, _, _, order, limits, balance, _) = read(plan, f.WS_MASS), dense_method(read(plan, f.NV), read(plan, f.N_MULTIPLIERS))
    return at + order, at + limits, at + balance


@leaf
def exchange_rows(lane, ws, S, m, a, b, chosen):
    """Exchange rows and columns a < b of the upper triangle of S in the lanes where `chosen` is positive."""
    exchange(lane, ws, S + (m + 1)*a, S + (m + 1)*b, chosen)
    for c in range(a):
        exchange(lane, ws, S + m*c + a, S + m*c + b, chosen)
    for c in range(a + 1, b):
        exchange(lane, ws, S + m*a + c, S + m*c + b, chosen)
    for c in range(b + 1, m):
        exchange(lane, ws, S + m*a + c, S + m*b + c, chosen)


@leaf
def end_of_loop(plan, j):
    """End of the rows of the loop that has row j; a coupling has one row."""
    end, x = j + 1, read(plan, f.WS_MULTIPLIERS)
    for loop in range(read(plan, f.N_LOOPS)):
        first = read(plan, loop_row(plan, loop) + f.LOOP_MULTIPLIERS) - x
        if first <= j:
            end = max(end, first + read(plan, loop_row(plan, loop) + f.LOOP_ROWS))
    return end


@leaf
def put_largest_first(lane, plan, ws, S, j):
    """Exchange row j with the one of its loop that has the largest pivot, each lane separately."""
    m, (order, limits, balance) = read(plan, f.N_MULTIPLIERS), multiplier_blocks(plan)
    for i in range(j + 1, end_of_loop(plan, j)):
        chosen = load(lane, ws, S + (m + 1)*i) - load(lane, ws, S + (m + 1)*j)
        if any_negative(-chosen):
            exchange_rows(lane, ws, S, m, j, i, chosen)
            for row in (order, limits, balance):
                exchange(lane, ws, row + j, row + i, chosen)
