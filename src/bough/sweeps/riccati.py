"""The articulated-body recursion over links of any size, for the operators: D, G and P of the partitioned tree and of whole joints.

One code serves a hinge of one degree of freedom and a whole flexible body with its joint.  A link has coordinates of its own,
u of them, each also a speed of it and none that its inner link sees, and m others, which Phi carries:

    H = [I, 0; 0, h],   Phi(i, k) = [0, B; 0, E + U]

with B the rows of the inner link's own coordinates, E the identity if both links carry equally many coordinates, and otherwise
nothing, and U what a lever arm adds.  `operators.articulated` finds such coordinates, and what of this is empty.

All numbers are in one array, which begins with a row of zeros.  Rows are padded to fours with zeros and are worked on in packs
of four.  What is kept of each link:

    P          articulated inertia, rows [own, carried]; of own rows the upper triangle counts, carried rows have no own part
    [D', X']   a row a speed: X = H P and D = H X^T without the rows before, L^-1 X of D = L d L^T; inverse pivots on the diagonal
    -d^-1 X'   (n x m)
"""
from bough.kernels.jit import kernel, leaf
from bough.kernels.lanes import align_stack, lanes_of, load, quads_of, read, store, total, zero
from bough.sweeps.blocks import eliminate, padded

# a row of table: its inner link (-1: the ground), numbers of speeds n, own coordinates u and carried ones m; where its h, P,
# [D', X'], -d^-1 X' are, where P_plus goes, and where P of the inner link is before that is added; 1 if P_plus is all that the inner
# link has; where B, B^T are; rows of U, its first column, where U, U^T are; 1 if E is there; where its vector and its speeds start
(INNER_LINK, SPEEDS, OWN, CARRIED, HINGE, ARTICULATED, ROWS, GAINS, PLUS, BASE, DIRECT, SHAPES, SHAPES_T, LEVER_ROWS, LEVER_FROM,
 LEVER, LEVER_T, SHARED, VECTOR, SPEED, TABLE_ROW) = range(21)


@leaf
def sum_rows(ws, to, start, packs, n, source, factors, step, at, stride):
    """ws[to ...] = ws[start ...] + the sum of n rows from `at` on, `stride` apart, times factors of `source`, `step` apart; two
    packs of all rows at a time, so that sums stay in registers."""
    quads, to, start = quads_of(ws), to >> 2, start >> 2
    for p in range(0, packs - 1, 2):
        a, b, row = load(quads, ws, start + p), load(quads, ws, start + p + 1), (at >> 2) + p
        for s in range(0, n - 2, 3):
            f = factors + step*s
            e, f, g = source[f], source[f + step], source[f + 2*step]
            first, second, third = row + (stride >> 2)*s, row + (stride >> 2)*(s + 1), row + (stride >> 2)*(s + 2)
            a = a + (e*load(quads, ws, first) + f*load(quads, ws, second) + g*load(quads, ws, third))
            b = b + (e*load(quads, ws, first + 1) + f*load(quads, ws, second + 1) + g*load(quads, ws, third + 1))
        for s in range(n - n % 3, n):
            e, first = source[factors + step*s], row + (stride >> 2)*s
            a, b = a + e*load(quads, ws, first), b + e*load(quads, ws, first + 1)
        store(quads, ws, to + p, a)
        store(quads, ws, to + p + 1, b)
    if packs & 1:
        a, row = load(quads, ws, start + packs - 1), (at >> 2) + packs - 1
        for s in range(n):
            a = a + source[factors + step*s]*load(quads, ws, row + (stride >> 2)*s)
        store(quads, ws, to + packs - 1, a)


@leaf
def copy_row(ws, to, at, packs):
    quads = quads_of(ws)
    for p in range(packs):
        store(quads, ws, (to >> 2) + p, load(quads, ws, (at >> 2) + p))


@leaf
def dot_rows(ws, i, j, packs):
    quads = quads_of(ws)
    a = zero(quads)
    for p in range(packs):
        a = a + load(quads, ws, (i >> 2) + p)*load(quads, ws, (j >> 2) + p)
    return total(a)


# ---- inertias, inward ------------------------------------------------------------------------------------------------------
@leaf
def project(table, k, ws):
    """X = H P, D = H X^T [JR 51]."""
    n, u, m, P = read(table, k + SPEEDS), read(table, k + OWN), read(table, k + CARRIED), read(table, k + ARTICULATED)
    own, wide, at_X, row, H = padded(u), padded(m), padded(n), read(table, k + ROWS), read(table, k + HINGE)
    for j in range(n):
        first = j & -4
        if j < u:
            copy_row(ws, row + first, P + first, (own - first) >> 2)
            copy_row(ws, row + at_X, P + own, wide >> 2)
            P += own + wide
        else:
            copy_row(ws, row + first, 0, (at_X - first) >> 2)
            sum_rows(ws, row + at_X, 0, wide >> 2, m, ws, H + wide*(j - u), 1, P + own, own + wide)
        for i in range(max(j, u), n):
            ws[row + i] = dot_rows(ws, H + wide*(i - u), row + at_X, wide >> 2)
        row += at_X + wide


@leaf
def spend(table, k, ws):
    """P_plus = P - X^T D^-1 X = P - X'^T d^-1 X', of what Phi carries [JR 51]."""
    n, u, m, P = read(table, k + SPEEDS), read(table, k + OWN), read(table, k + CARRIED), read(table, k + ARTICULATED)
    own, wide, X, gains, plus = padded(u), padded(m), read(table, k + ROWS) + padded(n), read(table, k + GAINS), read(table, k + PLUS)
    length = padded(n) + wide
    for j in range(n):
        d = ws[X - padded(n) + length*j + j]
        quads = quads_of(ws)
        for p in range(wide >> 2):
            store(quads, ws, ((gains + wide*j) >> 2) + p, -d*load(quads, ws, ((X + length*j) >> 2) + p))
    for r in range(m):
        sum_rows(ws, plus + wide*r, P + (own + wide)*(u + r) + own, wide >> 2, n, ws, X + r, length, gains, wide)


@leaf
def add_carried(ws, to, base, same, packs, row, lever, lever_packs, first, m):
    """ws[to ...] = base + same + row U^T, U^T from its row `first` on."""
    quads = quads_of(ws)
    for p in range(packs):
        a = load(quads, ws, (base >> 2) + p) + load(quads, ws, (same >> 2) + p)
        if p < lever_packs:
            for c in range(first, m):
                a = a + ws[row + c]*load(quads, ws, (lever >> 2) + lever_packs*(c - first) + p)
        store(quads, ws, (to >> 2) + p, a)


@leaf
def hand_inward(table, k, i, ws, scratch):
    """P of the inner link gets Phi P_plus Phi^T, row after row of Phi P_plus [JR 51]."""
    m, plus, base, P = read(table, k + CARRIED), read(table, k + PLUS), read(table, k + BASE), read(table, i + ARTICULATED)
    u_i, m_i, shapes, shapes_t = read(table, i + OWN), read(table, i + CARRIED), read(table, k + SHAPES), read(table, k + SHAPES_T)
    wide, own_i, wide_i, lever, lever_t = padded(m), padded(u_i), padded(m_i), read(table, k + LEVER), read(table, k + LEVER_T)
    first, lever_packs, shared = read(table, k + LEVER_FROM), padded(read(table, k + LEVER_ROWS)) >> 2, read(table, k + SHARED)
    for r in range(u_i):
        start = r & -4
        sum_rows(ws, scratch, 0, wide >> 2, m, ws, shapes + wide*r, 1, plus, wide)
        sum_rows(ws, P + start, base + start, (own_i - start) >> 2, m, ws, scratch, 1, shapes_t + start, own_i)
        add_carried(ws, P + own_i, base + own_i, shared*scratch, wide_i >> 2, scratch, lever_t, lever_packs, first, m)
        P += own_i + wide_i
        base += own_i + wide_i
    for r in range(m_i):
        row = plus + wide*r
        if r < read(table, k + LEVER_ROWS):
            sum_rows(ws, scratch, shared*row, wide >> 2, m - first, ws, lever + wide*r + first, 1, plus + wide*first, wide)
            row = scratch
        add_carried(ws, P + own_i, base + own_i, shared*row, wide_i >> 2, row, lever_t, lever_packs, first, m)
        P += own_i + wide_i
        base += own_i + wide_i


@kernel
def riccati(table, scratch, ws):
    """P, D, X of all links, tips to root [JR 51]; `scratch` is where a row has room."""
    align_stack()
    lane = lanes_of(ws, table)
    for k in range(TABLE_ROW*(table.shape[0] - 1), -1, -TABLE_ROW):
        n, i = read(table, k + SPEEDS), read(table, k + INNER_LINK)
        project(table, k, ws)
        eliminate(lane, ws, read(table, k + ROWS), padded(n) + padded(read(table, k + CARRIED)), n)
        if n > 0:
            spend(table, k, ws)
        if i >= 0 and not read(table, k + DIRECT):
            hand_inward(table, k, TABLE_ROW*i, ws, scratch)


# ---- one solution: inward and outward -------------------------------------------------------------------------------------------
@leaf
def gather_bias(table, k, ws, tau, vdot):
    """e = L^-1 (tau - H z), d^-1 e is kept, z_plus = z + X'^T d^-1 e [JR 58]."""
    n, u, m, v = read(table, k + SPEEDS), read(table, k + OWN), read(table, k + CARRIED), read(table, k + SPEED)
    wide, rows, H = padded(m), read(table, k + ROWS), read(table, k + HINGE)
    own = read(table, k + VECTOR) - padded(u)
    z, length = own + padded(u), padded(n) + wide
    for j in range(n):
        e = tau[v + j] - (ws[own + j] if j < u else dot_rows(ws, H + wide*(j - u), z, wide >> 2))
        for s in range(j):
            e -= ws[rows + length*s + j]*vdot[v + s]
        vdot[v + j] = e*ws[rows + length*j + j]
    sum_rows(ws, z, z, wide >> 2, n, vdot, v, 1, rows + padded(n), length)


@leaf
def hand_bias_inward(table, k, i, ws):
    """z of the inner link gets Phi z_plus [JR 58]."""
    m, z, z_i, own_i = read(table, k + CARRIED), read(table, k + VECTOR), read(table, i + VECTOR), padded(read(table, i + OWN))
    first, lever_packs, lever_t = read(table, k + LEVER_FROM), padded(read(table, k + LEVER_ROWS)) >> 2, read(table, k + LEVER_T)
    own, packs = z_i - own_i, padded(read(table, i + CARRIED)) >> 2
    sum_rows(ws, own, own, own_i >> 2, m, ws, z, 1, read(table, k + SHAPES_T), own_i)
    add_carried(ws, z_i, z_i, read(table, k + SHARED)*z, packs, z, lever_t, lever_packs, first, m)


@leaf
def take_from_inner(table, k, i, ws):
    """alpha_plus = Phi^T alpha of the inner link [JR 58]."""
    wide, alpha, alpha_i, u_i = padded(read(table, k + CARRIED)), read(table, k + VECTOR), read(table, i + VECTOR), read(table, i + OWN)
    start, own = read(table, k + SHARED)*alpha_i, alpha_i - padded(u_i)
    sum_rows(ws, alpha, start, wide >> 2, read(table, k + LEVER_ROWS), ws, alpha_i, 1, read(table, k + LEVER), wide)
    sum_rows(ws, alpha, alpha, wide >> 2, u_i, ws, own, 1, read(table, k + SHAPES), wide)


@leaf
def scatter_solution(table, k, ws, vdot):
    """v' = L^-T d^-1 (e - X' alpha_plus), alpha = alpha_plus + H^T v' [JR 58]."""
    n, u, v, wide = read(table, k + SPEEDS), read(table, k + OWN), read(table, k + SPEED), padded(read(table, k + CARRIED))
    alpha, gains, rows, length = read(table, k + VECTOR), read(table, k + GAINS), read(table, k + ROWS), padded(n) + wide
    for j in range(n):
        vdot[v + j] += dot_rows(ws, gains + wide*j, alpha, wide >> 2)
    for j in range(n - 1, -1, -1):
        e = 0.0
        for s in range(n - 1, j, -1):                           # the newest last: the others do not wait for it
            e += ws[rows + length*j + s]*vdot[v + s]
        vdot[v + j] -= ws[rows + length*j + j]*e
    for j in range(u):
        ws[alpha - padded(u) + j] = vdot[v + j]
    sum_rows(ws, alpha, alpha, wide >> 2, n - u, vdot, v + u, 1, read(table, k + HINGE), wide)


@kernel
def solve_links(table, tau, vdot, vectors, end, ws):
    """vdot = M^-1 tau, in the order of the links, whose vectors are from `vectors` to `end` of ws."""
    align_stack()
    copy_row(ws, vectors, 0, 0)
    for p in range(vectors, end):
        ws[p] = 0.0
    last = TABLE_ROW*(table.shape[0] - 1)
    for k in range(last, -1, -TABLE_ROW):
        gather_bias(table, k, ws, tau, vdot)
        if read(table, k + INNER_LINK) >= 0 and not read(table, k + DIRECT):
            hand_bias_inward(table, k, TABLE_ROW*read(table, k + INNER_LINK), ws)
    for k in range(0, last + 1, TABLE_ROW):
        i = read(table, k + INNER_LINK)
        if i < 0:
            copy_row(ws, read(table, k + VECTOR), 0, padded(read(table, k + CARRIED)) >> 2)
        elif not read(table, k + DIRECT):
            take_from_inner(table, k, TABLE_ROW*i, ws)
        scatter_solution(table, k, ws, vdot)
