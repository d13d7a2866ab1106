"""The articulated-body recursion over links of any size, for the operators: D, G and P of the partitioned tree and of whole joints.

One code serves a hinge of one degree of freedom and a whole flexible body with its joint.  A link has u coordinates of its own, each
also a speed of it and none that its inner link sees, and m others, which Phi carries:

    H = [I, 0; 0, h],   Phi(i, k) = [0, B; 0, E + U]

with B the rows of the inner link's own coordinates, E the identity if both links carry equally many coordinates, and otherwise
nothing, and U what a lever arm adds.  `operators.packing` finds such coordinates, and what of this is empty.

All numbers are in one array, which begins with a row of zeros.  It is counted in packs of four: rows are padded with zeros to packs, those
of carried coordinates to pairs of packs.  What is kept of each link:

    P          articulated inertia, rows [own, carried]; of own rows the upper triangle counts, carried rows have no own part
    [D', X']   a row a speed: X = H P and D = H X^T without the rows before, D = L d L^T, X' = L^-1 X; 1/d on the diagonal
    -X'/d      gains
"""
from bough.kernels.jit import kernel, leaf
from bough.kernels.lanes import align_stack, lanes_of, load, quads_of, read, register3, store, total, zero
from bough.sweeps.blocks import NOTHING, eliminate

# a row of table: its inner link (-1: the ground), numbers of speeds n, own coordinates u and carried ones m; its form; where h, P,
# [D', X'], gains are, where P_plus goes, and where P of the inner link is before that is added; 1 if P_plus is all that the inner
# link has; where B, B^T are; rows of U, its first column, where U, U^T are; 1 if E is there; where its vector and its speeds start
(INNER_LINK, SPEEDS, OWN, CARRIED, FORM, HINGE, ARTICULATED, ROWS, GAINS, PLUS, BASE, DIRECT, SHAPES, SHAPES_T, LEVER_ROWS, LEVER_FROM,
 LEVER, LEVER_T, SHARED, VECTOR, SPEED, TABLE_ROW) = range(22)
ANY, RIGID, HINGED = range(3)           # forms: sizes that the compiler knows: none; m = 6, as its inner link; also n = 1, u = 0


@leaf
def first_packs(quads, ws, start, p):
    """Packs p and p + 1 from `start` on; zero from NOTHING."""
    if start is None:
        return zero(quads), zero(quads)
    return load(quads, ws, start + p), load(quads, ws, start + p + 1)


@leaf
def sum_rows(ws, to, start, packs, n, source, factors, step, at, stride):
    """Row `to` of some packs = row `start` (or NOTHING) + the sum of n rows from `at` on, `stride` apart, times factors of `source`, `step` apart;
    two packs of all rows at a time, so that sums stay in registers."""
    quads = quads_of(ws)
    for p in range(0, packs - 1, 2):
        a, b = first_packs(quads, ws, start, p)
        for s in range(0, n - 2, 3):
            e, f, g = read(source, factors + step*s), read(source, factors + step*(s + 1)), read(source, factors + step*(s + 2))
            first, second, third = at + stride*s + p, at + stride*(s + 1) + p, at + stride*(s + 2) + p
            a = a + (e*load(quads, ws, first) + f*load(quads, ws, second) + g*load(quads, ws, third))
            b = b + (e*load(quads, ws, first + 1) + f*load(quads, ws, second + 1) + g*load(quads, ws, third + 1))
        for s in range(n - n % 3, n):
            e, first = read(source, factors + step*s), at + stride*s + p
            a, b = a + e*load(quads, ws, first), b + e*load(quads, ws, first + 1)
        store(quads, ws, to + p, a)
        store(quads, ws, to + p + 1, b)
    if packs & 1:
        a, _ = first_packs(quads, ws, start, packs - 1)
        for s in range(n):
            a = a + read(source, factors + step*s)*load(quads, ws, at + stride*s + packs - 1)
        store(quads, ws, to + packs - 1, a)


@leaf
def copy_row(ws, to, at, packs):
    quads = quads_of(ws)
    for p in range(packs):
        store(quads, ws, to + p, load(quads, ws, at + p))


@leaf
def dot_rows(ws, i, j, packs, start=0.0):
    """start + the product of two rows."""
    quads, a = quads_of(ws), register3((start, 0.0, 0.0))
    for p in range(packs):
        a = a + load(quads, ws, i + p)*load(quads, ws, j + p)
    return total(a)


@leaf
def packs_of(n):
    return (n + 3) >> 2


@leaf
def pairs_of(m):
    """Packs of a row of carried numbers: an even number."""
    return ((m + 7) >> 3) << 1


# ---- inertias, inward ------------------------------------------------------------------------------------------------------
@leaf
def project(lane, n, u, m, H, P, row, ws):
    """X = H P, D = H X^T [JR 51]."""
    own, wide, at_X = packs_of(u), pairs_of(m), packs_of(n)
    for j in range(n):
        first = j >> 2
        if j < u:
            copy_row(ws, row + first, P + first, own - first)
            copy_row(ws, row + at_X, P + own, wide)
            P += own + wide
        else:
            copy_row(ws, row + first, 0, at_X - first)
            sum_rows(ws, row + at_X, NOTHING, wide, m, ws, 4*(H + wide*(j - u)), 1, P + own, own + wide)
        for i in range(max(j, u), n):
            store(lane, ws, 4*row + i, dot_rows(ws, H + wide*(i - u), row + at_X, wide))
        row += at_X + wide


@leaf
def spend(lane, n, u, m, P, rows, gains, to, ws):
    """P_plus = P - X^T D^-1 X = P - X'^T d^-1 X', of what Phi carries, two speeds at a time [JR 51]."""
    quads, own, wide, at_X = quads_of(ws), packs_of(u), pairs_of(m), packs_of(n)
    length = at_X + wide
    for p in range(0, wide, 2):
        at, stride = P + (own + wide)*u + own, own + wide
        for s in range(0, n, 2):
            x, pair = rows + length*s + at_X, s + 1 < n
            d, X, Y = load(lane, ws, 4*(x - at_X) + s), load(quads, ws, x + p), load(quads, ws, x + p + 1)
            a, b = -d*X, -d*Y
            store(quads, ws, gains + wide*s + p, (a, b))
            if not pair:
                for r in range(m):
                    e = load(lane, ws, 4*x + r)
                    store(quads, ws, to + wide*r + p, load(quads, ws, at + stride*r + p) - d*(e*X))
                    store(quads, ws, to + wide*r + p + 1, load(quads, ws, at + stride*r + p + 1) - d*(e*Y))
            else:
                y = x + length
                d = -load(lane, ws, 4*(y - at_X) + s + 1)
                c, g = d*load(quads, ws, y + p), d*load(quads, ws, y + p + 1)
                store(quads, ws, gains + wide*(s + 1) + p, (c, g))
                for r in range(m):
                    e, f = load(lane, ws, 4*x + r), load(lane, ws, 4*y + r)
                    store(quads, ws, to + wide*r + p, load(quads, ws, at + stride*r + p) + (e*a + f*c))
                    store(quads, ws, to + wide*r + p + 1, load(quads, ws, at + stride*r + p + 1) + (e*b + f*g))
            at, stride = to, wide


@leaf
def add_carried(ws, to, base, same, packs, row, lever, lever_packs, first, m):
    """Row `to` = base + same + row U^T, U^T from its row `first` on."""
    quads = quads_of(ws)
    for p in range(packs):
        a = load(quads, ws, base + p) + load(quads, ws, same + p)
        if p < lever_packs:
            for c in range(first, m):
                a = a + read(ws, 4*row + c)*load(quads, ws, lever + lever_packs*(c - first) + p)
        store(quads, ws, to + p, a)


@leaf
def hand_inward(table, k, m, i, m_i, ws, scratch):
    """P of the inner link gets Phi P_plus Phi^T, row after row of Phi P_plus [JR 51]."""
    plus, base, P, u_i = read(table, k + PLUS), read(table, k + BASE), read(table, i + ARTICULATED), read(table, i + OWN)
    shapes, shapes_t, lever, lever_t = read(table, k + SHAPES), read(table, k + SHAPES_T), read(table, k + LEVER), read(table, k + LEVER_T)
    wide, own_i, wide_i, shared = pairs_of(m), packs_of(u_i), pairs_of(m_i), read(table, k + SHARED)
    first, lever_rows = read(table, k + LEVER_FROM), read(table, k + LEVER_ROWS)
    for r in range(u_i):
        start = r >> 2
        sum_rows(ws, scratch, NOTHING, wide, m, ws, 4*(shapes + wide*r), 1, plus, wide)
        sum_rows(ws, P + start, base + start, own_i - start, m, ws, 4*scratch, 1, shapes_t + start, own_i)
        add_carried(ws, P + own_i, base + own_i, shared*scratch, wide_i, scratch, lever_t, packs_of(lever_rows), first, m)
        P += own_i + wide_i
        base += own_i + wide_i
    for r in range(m_i):
        row = plus + wide*r
        if r < lever_rows:
            sum_rows(ws, scratch, shared*row, wide, m - first, ws, 4*(lever + wide*r) + first, 1, plus + wide*first, wide)
            row = scratch
        add_carried(ws, P + own_i, base + own_i, shared*row, wide_i, row, lever_t, packs_of(lever_rows), first, m)
        P += own_i + wide_i
        base += own_i + wide_i


@leaf
def reduce_link(lane, table, k, n, u, m, ws):
    """Rows [D', X'] and P_plus of a link."""
    P, rows, H, gains, plus = (read(table, k + ARTICULATED), read(table, k + ROWS), read(table, k + HINGE), read(table, k + GAINS),
                               read(table, k + PLUS))
    project(lane, n, u, m, H, P, rows, ws)
    eliminate(lane, ws, 4*rows, 4*(packs_of(n) + pairs_of(m)), n)
    spend(lane, n, u, m, P, rows, gains, plus, ws)


@kernel
def riccati(table, scratch, ws):
    """P, D, X of all links, tips to root [JR 51]; `scratch` is where a row has room."""
    align_stack()
    lane = lanes_of(ws, table)
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
                hand_inward(table, k, m, i, read(table, i + CARRIED), ws, scratch)
            else:
                hand_inward(table, k, 6, i, 6, ws, scratch)


# ---- one solution: inward and outward -------------------------------------------------------------------------------------------
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
    sum_rows(ws, z, z, wide, n, vdot, v, 1, rows + at_X, length)


@leaf
def hand_bias_inward(table, k, m, i, m_i, ws):
    """z of the inner link gets Phi z_plus [JR 58]."""
    z, z_i, own_i = read(table, k + VECTOR), read(table, i + VECTOR), packs_of(read(table, i + OWN))
    own, lever_packs, lever_t = z_i - own_i, packs_of(read(table, k + LEVER_ROWS)), read(table, k + LEVER_T)
    sum_rows(ws, own, own, own_i, m, ws, 4*z, 1, read(table, k + SHAPES_T), own_i)
    add_carried(ws, z_i, z_i, read(table, k + SHARED)*z, pairs_of(m_i), z, lever_t, lever_packs, read(table, k + LEVER_FROM), m)


@leaf
def take_from_inner(table, k, m, i, ws):
    """alpha_plus = Phi^T alpha of the inner link [JR 58]."""
    wide, alpha, alpha_i, u_i = pairs_of(m), read(table, k + VECTOR), read(table, i + VECTOR), read(table, i + OWN)
    start, own = read(table, k + SHARED)*alpha_i, 4*(alpha_i - packs_of(u_i))
    sum_rows(ws, alpha, start, wide, read(table, k + LEVER_ROWS), ws, 4*alpha_i, 1, read(table, k + LEVER), wide)
    if u_i > 0:
        sum_rows(ws, alpha, alpha, wide, u_i, ws, own, 1, read(table, k + SHAPES), wide)


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
        sum_rows(ws, alpha, alpha, wide, n - u, vdot, v + u, 1, H, wide)


@leaf
def inward(lane, table, k, n, u, m, i, m_i, ws, tau, vdot):
    if n > 0:
        gather_bias(lane, table, k, n, u, m, ws, tau, vdot)
    if i >= 0 and not read(table, k + DIRECT):
        hand_bias_inward(table, k, m, i, m_i, ws)


@leaf
def outward(lane, table, k, n, u, m, i, ws, vdot):
    if i < 0:
        copy_row(ws, read(table, k + VECTOR), 0, pairs_of(m))
    elif not read(table, k + DIRECT):
        take_from_inner(table, k, m, i, ws)
    if n > 0:
        scatter_solution(lane, table, k, n, u, m, ws, vdot)


@kernel
def solve_links(table, tau, vdot, vectors, end, ws):
    """vdot = M^-1 tau, in the order of the links, whose vectors are from `vectors` to `end` of ws."""
    align_stack()
    lane, quads, last = lanes_of(ws, table), quads_of(ws), TABLE_ROW*(table.shape[0] - 1)
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
            inward(lane, table, k, n, u, m, i, read(table, i + CARRIED), ws, tau, vdot)
    for k in range(0, last + 1, TABLE_ROW):
        n, u, m, form = read(table, k + SPEEDS), read(table, k + OWN), read(table, k + CARRIED), read(table, k + FORM)
        i = TABLE_ROW*read(table, k + INNER_LINK)
        if form == HINGED:
            outward(lane, table, k, 1, 0, 6, i, ws, vdot)
        elif form == RIGID:
            outward(lane, table, k, n, u, 6, i, ws, vdot)
        else:
            outward(lane, table, k, n, u, m, i, ws, vdot)
