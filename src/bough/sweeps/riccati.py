"""The articulated-body recursion over links of any size, for the operators: D, G and P of the partitioned tree and of whole
joints; and M^-1 tau with its factors, by one recursion inward and one outward.

One code handles a hinge of one degree of freedom and a whole flexible body with its joint.  A link has u coordinates of its own
(each is also one of its speeds, and the inner link does not depend on them) and m others, which Phi carries:

    H = [I, 0; 0, h],   Phi(i, k) = [0, B; 0, E + U]

with B the rows of the inner link's own coordinates, E the identity if both links carry the same number of coordinates (else
zero), and U the contribution of a lever arm.  `operators.packing` finds such coordinates, and which blocks are empty.

All numbers are in one array, counted in packs of four and padded with zeros, which begins with a row of zeros.  A row of carried
coordinates has an even number of packs, which are processed in pairs; sums of rows stay in registers.  Stored for each link:

    P          articulated inertia, rows [own, carried]; upper triangle of the own rows; carried rows have no own part
    [D', X']   one row per speed: X = H P and D = H X^T with earlier rows eliminated, D = L d L^T, X' = L^-1 X; 1/d on the diagonal
    -X'/d      gains
"""

from bough.kernels.jit import kernel, leaf
from bough.kernels.lanes import align_stack, lanes_like, load, quads_of, read, register, store, total, zero
from bough.sweeps.blocks import NOTHING, eliminate_all


@leaf
def packs_of(n):
    """Number of packs for n numbers."""
    return (n + 3) >> 2


@leaf
def pairs_of(m):
    """packs_of, rounded up to an even number."""
    return ((m + 7) >> 3) << 1


@leaf
def first_packs(quads, ws, start, p):
    """Packs p and p + 1 of the row at `start`; zero for NOTHING."""
    if start is None:
        return zero(quads), zero(quads)
    return load(quads, ws, start + p), load(quads, ws, start + p + 1)


@leaf
def sum_rows(ws, to, start, packs, n, source, factors, at, stride):
    """Row `to` (some packs) = row `start` (or 0 for NOTHING) + sum of n rows from `at` on, `stride` apart, times numbers of
    `source` from `factors` on."""
    quads = quads_of(ws)
    for p in range(0, packs - 1, 2):
        a, b = first_packs(quads, ws, start, p)
        for s in range(0, n - 2, 3):
            e, f, g = read(source, factors + s), read(source, factors + s + 1), read(source, factors + s + 2)
            first, second, third = at + stride*s + p, at + stride*(s + 1) + p, at + stride*(s + 2) + p
            a = a + (e*load(quads, ws, first) + f*load(quads, ws, second) + g*load(quads, ws, third))
            b = b + (e*load(quads, ws, first + 1) + f*load(quads, ws, second + 1) + g*load(quads, ws, third + 1))
        for s in range(n - n % 3, n):
            e, first = read(source, factors + s), at + stride*s + p
            a, b = a + e*load(quads, ws, first), b + e*load(quads, ws, first + 1)
        store(quads, ws, to + p, (a, b))
    if packs & 1:
        a, _ = first_packs(quads, ws, start, packs - 1)
        for s in range(n):
            a = a + read(source, factors + s)*load(quads, ws, at + stride*s + packs - 1)
        store(quads, ws, to + packs - 1, a)


@leaf
def carry_row(ws, to, base, same, packs, row, lever, lever_packs, first, m):
    """Row `to` = base + same + row U^T.  `lever`: U^T from its row `first` on, m rows, each `lever_packs` long."""
    quads = quads_of(ws)
    for p in range(packs):
        a = load(quads, ws, base + p) + load(quads, ws, same + p)
        if p < lever_packs:
            for c in range(first, m):
                a = a + read(ws, 4*row + c)*load(quads, ws, lever + lever_packs*(c - first) + p)
        store(quads, ws, to + p, a)


@leaf
def copy_row(ws, to, at, packs):
    quads = quads_of(ws)
    for p in range(packs):
        store(quads, ws, to + p, load(quads, ws, at + p))


@leaf
def dot_rows(ws, i, j, packs, start):
    """start + dot product of two rows."""
    quads, a = quads_of(ws), register((start, 0.0, 0.0))
    for p in range(packs):
        a = a + load(quads, ws, i + p)*load(quads, ws, j + p)
    return total(a)


# ---- riccati ---------------------------------------------------------------------------------------------------------------
# a row of table: its inner link (-1: the ground), number of speeds n, own coordinates u and carried ones m; its form; positions of
# h, P, [D', X'], gains, P_plus, and of P of the inner link before P_plus is added; 1 if the inner link has nothing but P_plus;
# positions of B, B^T; rows of U, its first column, positions of U, U^T; 1 if there is E; positions of its vector and its speeds
(INNER_LINK, SPEEDS, OWN, CARRIED, FORM, HINGE, ARTICULATED, ROWS, GAINS, PLUS, BASE, DIRECT, SHAPES, SHAPES_T, LEVER_ROWS,
 LEVER_FROM, LEVER, LEVER_T, SHARED, VECTOR, SPEED, TABLE_ROW) = range(22)
ANY, RIGID, HINGED = range(3)  # forms with sizes known at compile time: none; m = 6, as the inner link; also n = 1, u = 0


@leaf
def project(lane, n, u, m, H, P, row, ws):
    """X = H P, D = H X^T [JR 51]."""
    own, wide, at_X = packs_of(u), pairs_of(m), packs_of(n)
    for j in range(n):
        first = j >> 2
        if j < u:                                               # row j of P
            copy_row(ws, row + first, P + first, own - first)
            copy_row(ws, row + at_X, P + own, wide)
            P += own + wide
        else:
            copy_row(ws, row + first, 0, at_X - first)
            sum_rows(ws, row + at_X, NOTHING, wide, m, ws, 4*(H + wide*(j - u)), P + own, own + wide)
        for i in range(max(j, u), n):
            store(lane, ws, 4*row + i, dot_rows(ws, H + wide*(i - u), row + at_X, wide, 0.0))
        row += at_X + wide


@leaf
def schur_update_one(lane, ws, to, wide, at, stride, m, x, p, d):
    """Packs p and p + 1 of m rows, less X'^T d X', X' at x."""
    quads = quads_of(ws)
    a, b = load(quads, ws, x + p), load(quads, ws, x + p + 1)
    for r in range(m):
        e, row = load(lane, ws, 4*x + r), at + stride*r + p
        store(quads, ws, to + wide*r + p, (load(quads, ws, row) - d*(e*a), load(quads, ws, row + 1) - d*(e*b)))


@leaf
def schur_update_two(lane, ws, to, wide, at, stride, m, x, y, p, d_x, d_y):
    """The same for two speeds, at x and y."""
    quads = quads_of(ws)
    a, b = d_x*load(quads, ws, x + p), d_x*load(quads, ws, x + p + 1)
    c, d = d_y*load(quads, ws, y + p), d_y*load(quads, ws, y + p + 1)
    for r in range(m):
        e, f, row = load(lane, ws, 4*x + r), load(lane, ws, 4*y + r), at + stride*r + p
        store(quads, ws, to + wide*r + p, (load(quads, ws, row) - (e*a + f*c), load(quads, ws, row + 1) - (e*b + f*d)))


@leaf
def schur_update(lane, n, u, m, P, rows, to, ws):
    """P_plus = P - X^T D^-1 X = P - X'^T d^-1 X', for the carried coordinates [JR 51]."""
    own, wide, at_X = packs_of(u), pairs_of(m), packs_of(n)
    length = at_X + wide
    for p in range(0, wide, 2):
        at, stride = P + (own + wide)*u + own, own + wide
        for s in range(0, n - 1, 2):
            x, y = rows + length*s, rows + length*(s + 1)
            d_x, d_y = load(lane, ws, 4*x + s), load(lane, ws, 4*y + s + 1)
            schur_update_two(lane, ws, to, wide, at, stride, m, x + at_X, y + at_X, p, d_x, d_y)
            at, stride = to, wide
        if n & 1:
            x = rows + length*(n - 1)
            schur_update_one(lane, ws, to, wide, at, stride, m, x + at_X, p, load(lane, ws, 4*x + n - 1))


@leaf
def scale_rows(lane, n, m, rows, gains, ws):
    """-X'/d."""
    quads, wide, at_X = quads_of(ws), pairs_of(m), packs_of(n)
    for j in range(n):
        row = rows + (at_X + wide)*j
        d = -load(lane, ws, 4*row + j)
        for p in range(wide):
            store(quads, ws, gains + wide*j + p, d*load(quads, ws, row + at_X + p))


@leaf
def reduce_link(lane, table, k, n, u, m, ws):
    """Rows [D', X'], gains and P_plus of a link."""
    P, rows, H, gains, plus = (read(table, k + ARTICULATED), read(table, k + ROWS), read(table, k + HINGE), read(table, k + GAINS),
                               read(table, k + PLUS))
    project(lane, n, u, m, H, P, rows, ws)
    eliminate_all(lane, ws, 4*rows, 4*(packs_of(n) + pairs_of(m)), n)
    schur_update(lane, n, u, m, P, rows, plus, ws)
    scale_rows(lane, n, m, rows, gains, ws)


@leaf
def propagate_inertia_inward(table, k, m, i, m_i, ws, scratch):
    """Add Phi P_plus Phi^T to P of the inner link, row by row of Phi P_plus [JR 51]."""
    plus, base, P, u_i = read(table, k + PLUS), read(table, k + BASE), read(table, i + ARTICULATED), read(table, i + OWN)
    wide, own_i, wide_i, shared = pairs_of(m), packs_of(u_i), pairs_of(m_i), read(table, k + SHARED)
    B, B_t, U, U_t = read(table, k + SHAPES), read(table, k + SHAPES_T), read(table, k + LEVER), read(table, k + LEVER_T)
    first, lever_rows = read(table, k + LEVER_FROM), read(table, k + LEVER_ROWS)
    for r in range(u_i):
        start = r >> 2
        sum_rows(ws, scratch, NOTHING, wide, m, ws, 4*(B + wide*r), plus, wide)
        sum_rows(ws, P + start, base + start, own_i - start, m, ws, 4*scratch, B_t + start, own_i)
        carry_row(ws, P + own_i, base + own_i, shared*scratch, wide_i, scratch, U_t, packs_of(lever_rows), first, m)
        P += own_i + wide_i
        base += own_i + wide_i
    for r in range(m_i):
        row = plus + wide*r
        if r < lever_rows:
            sum_rows(ws, scratch, shared*row, wide, m - first, ws, 4*(U + wide*r) + first, plus + wide*first, wide)
            row = scratch
        carry_row(ws, P + own_i, base + own_i, shared*row, wide_i, row, U_t, packs_of(lever_rows), first, m)
        P += own_i + wide_i
        base += own_i + wide_i


@kernel
def riccati(table, scratch, ws):
    """P, D, X of all links, tips to root [JR 51]; `scratch`: position of one row."""
    align_stack()
    lane = lanes_like(ws)
    for k in range(TABLE_ROW*(table.shape[0] - 1), -1, -TABLE_ROW):
        n, u, m, form = read(table, k + SPEEDS), read(table, k + OWN), read(table, k + CARRIED), read(table, k + FORM)
        if form == HINGED:
            reduce_link(lane, table, k, 1, 0, 6, ws)
        elif form == RIGID:
            reduce_link(lane, table, k, n, u, 6, ws)
        else:
            reduce_link(lane, table, k, n, u, m, ws)
        i = TABLE_ROW*read(table, k + INNER_LINK)
        if i >= 0 and not read(table, k + DIRECT):
            if form == ANY:
                propagate_inertia_inward(table, k, m, i, read(table, i + CARRIED), ws, scratch)
            else:
                propagate_inertia_inward(table, k, 6, i, 6, ws, scratch)


# ---- link solution ---------------------------------------------------------------------------------------------------------
@leaf
def gather_bias(lane, table, k, n, u, m, ws, tau, vdot):
    """e = L^-1 (tau - H z); stores d^-1 e; z_plus = z + X'^T d^-1 e [JR 58]."""
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
    """Add Phi z_plus to z of the inner link [JR 58]."""
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
        for s in range(n - 1, j, -1):                           # latest result last, so that the other terms need not wait for it
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
    """vdot = M^-1 tau, in the order of the links, whose vectors are in ws from `vectors` to `end`."""
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
