"""One solution with the factors of `sweeps.riccati`: M^-1 tau, by a recursion inward and one outward over links of any size."""
from bough.kernels.jit import kernel, leaf
from bough.kernels.lanes import align_stack, lanes_like, quads_of, read, store
from bough.sweeps.link_rows import carry_row, copy_row, dot_rows, packs_of, pairs_of, sum_rows
from bough.sweeps.riccati import (CARRIED, DIRECT, FORM, GAINS, HINGE, HINGED, INNER_LINK, LEVER, LEVER_FROM, LEVER_ROWS, LEVER_T,
                                  OWN, RIGID, ROWS, SHAPES, SHAPES_T, SHARED, SPEED, SPEEDS, TABLE_ROW, VECTOR)


@leaf
def gather_bias(lane, table, k, n, u, m, ws, tau, vdot):
    """e = L^-1 (tau - H z), d^-1 e is kept, z_plus = z + X'^T d^-1 e [JR 58]."""
    v, z, rows, H = read(table, k + SPEED), read(table, k + VECTOR), read(table, k + ROWS), read(table, k + HINGE)
    wide, at_X = pairs_of(m), packs_of(n)
    own, length = 4*(z - packs_of(u)), at_X + wide
    for j in range(n):
        e = -read(tau, v + j)
        e = e + read(ws, own + j) if j < u else dot_rows(ws, H + wide*(j - u), z, wide, e)
        for s in range(j):
            e += read(ws, 4*(rows + length*s) + j)*read(vdot, v + s)
        store(lane, vdot, v + j, -e*read(ws, 4*(rows + length*j) + j))
    sum_rows(ws, z, z, wide, n, vdot, v, rows + at_X, length)


@leaf
def propagate_bias_inward(table, k, m, i, m_i, ws):
    """z of the inner link gets Phi z_plus [JR 58]."""
    z, z_i, own_i = read(table, k + VECTOR), read(table, i + VECTOR), packs_of(read(table, i + OWN))
    own, lever_packs, lever_t = z_i - own_i, packs_of(read(table, k + LEVER_ROWS)), read(table, k + LEVER_T)
    sum_rows(ws, own, own, own_i, m, ws, 4*z, read(table, k + SHAPES_T), own_i)
    carry_row(ws, z_i, z_i, read(table, k + SHARED)*z, pairs_of(m_i), z, lever_t, lever_packs, read(table, k + LEVER_FROM), m)


@leaf
def propagate_outward(table, k, m, i, ws):
    """alpha_plus = Phi^T alpha of the inner link [JR 58]."""
    wide, alpha, alpha_i, u_i = pairs_of(m), read(table, k + VECTOR), read(table, i + VECTOR), read(table, i + OWN)
    start, own = read(table, k + SHARED)*alpha_i, 4*(alpha_i - packs_of(u_i))
    sum_rows(ws, alpha, start, wide, read(table, k + LEVER_ROWS), ws, 4*alpha_i, read(table, k + LEVER), wide)
    if u_i > 0:
        sum_rows(ws, alpha, alpha, wide, u_i, ws, own, read(table, k + SHAPES), wide)


@leaf
def scatter_solution(lane, table, k, n, u, m, ws, vdot):
    """v' = L^-T d^-1 (e - X' alpha_plus), alpha = alpha_plus + H^T v' [JR 58]."""
    v, alpha, rows = read(table, k + SPEED), read(table, k + VECTOR), read(table, k + ROWS)
    gains, H, wide = read(table, k + GAINS), read(table, k + HINGE), pairs_of(m)
    own, length = 4*(alpha - packs_of(u)), packs_of(n) + wide
    for j in range(n):
        store(lane, vdot, v + j, dot_rows(ws, gains + wide*j, alpha, wide, read(vdot, v + j)))
    for j in range(n - 2, -1, -1):
        e = 0.0
        for s in range(n - 1, j, -1):                           # the newest last: the others do not wait for it
            e += read(ws, 4*(rows + length*j) + s)*read(vdot, v + s)
        store(lane, vdot, v + j, read(vdot, v + j) - read(ws, 4*(rows + length*j) + j)*e)
    for j in range(u):
        store(lane, ws, own + j, read(vdot, v + j))
    if n > u:
        sum_rows(ws, alpha, alpha, wide, n - u, vdot, v + u, H, wide)


@leaf
def inward(lane, table, k, n, u, m, i, m_i, ws, tau, vdot):
    if n > 0:
        gather_bias(lane, table, k, n, u, m, ws, tau, vdot)
    if i >= 0 and not read(table, k + DIRECT):
        propagate_bias_inward(table, k, m, i, m_i, ws)


@leaf
def outward(lane, table, k, n, u, m, i, ws, vdot):
    if i < 0:
        copy_row(ws, read(table, k + VECTOR), 0, pairs_of(m))
    elif not read(table, k + DIRECT):
        propagate_outward(table, k, m, i, ws)
    if n > 0:
        scatter_solution(lane, table, k, n, u, m, ws, vdot)


@kernel
def solve_links(table, tau, vdot, vectors, end, ws):
    """vdot = M^-1 tau, in the order of the links, whose vectors are from `vectors` to `end` of ws."""
    align_stack()
    lane, quads, last = lanes_like(ws), quads_of(ws), TABLE_ROW*(table.shape[0] - 1)
    for p in range(vectors, end):
        store(quads, ws, p, 0.0)
    for k in range(last, -1, -TABLE_ROW):
        n, u, m, form = read(table, k + SPEEDS), read(table, k + OWN), read(table, k + CARRIED), read(table, k + FORM)
        i = TABLE_ROW*read(table, k + INNER_LINK)
        if form == HINGED:
            inward(lane, table, k, 1, 0, 6, i, 6, ws, tau, vdot)
        elif form == RIGID:
            inward(lane, table, k, n, u, 6, i, 6, ws, tau, vdot)
        else:
            inward(lane, table, k, n, u, m, i, read(table, max(i, 0) + CARRIED), ws, tau, vdot)
    for k in range(0, last + 1, TABLE_ROW):
        n, u, m, form = read(table, k + SPEEDS), read(table, k + OWN), read(table, k + CARRIED), read(table, k + FORM)
        i = TABLE_ROW*read(table, k + INNER_LINK)
        if form == HINGED:
            outward(lane, table, k, 1, 0, 6, i, ws, vdot)
        elif form == RIGID:
            outward(lane, table, k, n, u, 6, i, ws, vdot)
        else:
            outward(lane, table, k, n, u, m, i, ws, vdot)
