"""The articulated-body recursion over links of any size, for the operators: D, G and P of the partitioned tree and of whole joints.

One code serves a hinge of one degree of freedom and a whole flexible body with its joint.  A link has u coordinates of its own,
each also a speed of it and none that its inner link sees, and m others, which Phi carries:

    H = [I, 0; 0, h],   Phi(i, k) = [0, B; 0, E + U]

with B the rows of the inner link's own coordinates, E the identity if both links carry equally many coordinates, and otherwise
nothing, and U what a lever arm adds.  `operators.packing` finds such coordinates, and what of this is empty.

All numbers are in one array of packs, see `sweeps.link_rows`, which begins with a row of zeros.  What is kept of each link:

    P          articulated inertia, rows [own, carried]; of own rows the upper triangle counts, carried rows have no own part
    [D', X']   a row a speed: X = H P and D = H X^T without the rows before, D = L d L^T, X' = L^-1 X; 1/d on the diagonal
    -X'/d      gains
"""
from bough.kernels.jit import kernel, leaf
from bough.kernels.lanes import align_stack, lanes_like, load, quads_of, read, store
from bough.sweeps.blocks import NOTHING, eliminate_all
from bough.sweeps.link_rows import carry_row, copy_row, dot_rows, packs_of, pairs_of, sum_rows

# a row of table: its inner link (-1: the ground), numbers of speeds n, own coordinates u and carried ones m; its form; where h, P,
# [D', X'], gains are, where P_plus goes, and where P of the inner link is before that is added; 1 if P_plus is all that the inner
# link has; where B, B^T are; rows of U, its first column, where U, U^T are; 1 if E is there; where its vector and its speeds start
(INNER_LINK, SPEEDS, OWN, CARRIED, FORM, HINGE, ARTICULATED, ROWS, GAINS, PLUS, BASE, DIRECT, SHAPES, SHAPES_T, LEVER_ROWS,
 LEVER_FROM, LEVER, LEVER_T, SHARED, VECTOR, SPEED, TABLE_ROW) = range(22)
ANY, RIGID, HINGED = range(3)           # forms, by sizes that the compiler knows: none; m = 6, as its inner link; n = 1, u = 0 too


@leaf
def project(lane, n, u, m, H, P, row, ws):
    """X = H P, D = H X^T [JR 51]."""
    own, wide, at_X = packs_of(u), pairs_of(m), packs_of(n)
    for j in range(n):
        first = j >> 2
        if j < u:                                               # X = P, row j of it
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
    """Packs p and p + 1 of m rows less X'^T d X', X' at x."""
    quads = quads_of(ws)
    a, b = load(quads, ws, x + p), load(quads, ws, x + p + 1)
    for r in range(m):
        e, row = load(lane, ws, 4*x + r), at + stride*r + p
        store(quads, ws, to + wide*r + p, (load(quads, ws, row) - d*(e*a), load(quads, ws, row + 1) - d*(e*b)))


@leaf
def schur_update_two(lane, ws, to, wide, at, stride, m, x, y, p, d_x, d_y):
    """The same of two speeds, at x and y."""
    quads = quads_of(ws)
    a, b = d_x*load(quads, ws, x + p), d_x*load(quads, ws, x + p + 1)
    c, d = d_y*load(quads, ws, y + p), d_y*load(quads, ws, y + p + 1)
    for r in range(m):
        e, f, row = load(lane, ws, 4*x + r), load(lane, ws, 4*y + r), at + stride*r + p
        store(quads, ws, to + wide*r + p, (load(quads, ws, row) - (e*a + f*c), load(quads, ws, row + 1) - (e*b + f*d)))


@leaf
def schur_update(lane, n, u, m, P, rows, to, ws):
    """P_plus = P - X^T D^-1 X = P - X'^T d^-1 X', of what Phi carries [JR 51]."""
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
    """P of the inner link gets Phi P_plus Phi^T, row after row of Phi P_plus [JR 51]."""
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
    """P, D, X of all links, tips to root [JR 51]; `scratch` is where a row has room."""
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
