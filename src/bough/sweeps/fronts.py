"""Closed loops in the three sweeps: multipliers travel inward as the columns of fronts, and are eliminated where the two paths of
a loop meet [B 15].

With its multipliers lambda unknown, a body and everything outboard of it obey

    wrench through its hinge = P A + z - K^T lambda     [JSC 4.1]
    0 = K A + k + L lambda                              one equation per column: L symmetric, positive semidefinite

and a hinge with U = H K^T, W = D^-1 U transmits inward  K - U^T G^T,  k + U^T nu,  L + U^T W;  outward
v' = nu - G^T A + W lambda.  Where the paths of a loop meet, its rows of L are complete: lambda = -L^-1 (K A + k + other lambda) is
eliminated like the modes of a body, P + K^T L^-1 K.  A loop thus costs work on its own paths only, and many local loops cost in
proportion to their number.  Zero pivots belong to redundant rows, whose multipliers stay zero.

A front is (L, K, k) of some loops, columns side by side in blocks of four: see `sweeps.records`.  Fronts join, and loops begin
and end, at junctions; in between a front is updated in place.

Through flexible bodies, multipliers are additional columns X in the rows of the modes [B 15].

    D eta'' + g.A + z_f + X lambda = 0           X = -Pi^T K of the nodes on the paths of the loops (and + Pi^T K of an inboard
                                                 node that the modes move)

[JSC 4.2], so that eliminating the modes, row by row, gives K + X^T D^-1 g, k + X^T D^-1 z_f and L + X^T D^-1 X inboard.
"""

from bough import sweeps
from bough.kernels.algebra import (ZERO, axis_z, cross, dot, factor, larger, rotate, rotate_spatial, solve, solve_columns,
                                   spatial_dot, sub_outer, sub_product, unrotate, unrotate_spatial)
from bough.kernels.hinges import FREE, MODAL, PRISMATIC, REVOLUTE, SPHERICAL
from bough.kernels.jit import leaf
from bough.kernels.lanes import (accumulate, add, any_negative, flexible_loops_only, friction_only, inverse_above,
                                 load, load3, load4, load9, load_spatial, loops_holds_only, loops_only, noinline, quads_of, read,
                                 scale, smaller, store, sub, where_positive, zero)
from bough.kernels.linker import sweep
from bough.sweeps import fields as f
from bough.sweeps.blocks import load_strided, pack_of, packs_until, store_strided
from bough.sweeps.couplings import add_coupling_compliance, add_factors
from bough.sweeps.modes import body_attitude, flex_of, inboard_shapes, mode_columns, mode_rows, node_shapes


@leaf
def node_columns(lane, plan, ws, row, front):
    """Add the front at a node to the modes: X - Pi^T K."""
    flex, n = flex_of(plan, row)
    X, length = mode_columns(lane, plan, flex, n)
    C, shapes, source = body_attitude(lane, plan, ws, flex), node_shapes(plan, row)[0], read(plan, front + f.FRONT_RUNS)
    at, width = read(plan, front + f.FRONT_AT), read(plan, front + f.FRONT_WIDTH)
    for p in range(read(plan, source + f.N_RUNS)):
        run = source + f.SOURCE_ROW + f.RUN*p
        begin, to = read(plan, run + f.RUN_FROM), read(plan, run + f.RUN_TO)
        for j in range(read(plan, run + f.RUN_LENGTH)):
            K = unrotate_spatial(C, load_strided(lane, ws, at + width*(width + f.FRONT_K) + begin + j, width))
            for i in range(n):
                share = spatial_dot(load_spatial(lane, ws, shapes + 6*i), K)
                accumulate(lane, ws, X + length*i + to + j, -share)


@flexible_loops_only
def inboard_columns(lane, plan, ws, row):
    """Modes that move the inboard node move the body relative to it: X + Pi^T K, before the modes are eliminated."""
    flex, n = flex_of(plan, row)
    front = read(plan, row + f.FRONT)
    if front and read(plan, row + f.KIND) == MODAL and read(plan, flex + f.INBOARD_MOVES):
        X, length = mode_columns(lane, plan, flex, n)
        C, shapes = body_attitude(lane, plan, ws, flex), inboard_shapes(lane, plan, flex)
        at, width = read(plan, front + f.FRONT_AT), read(plan, front + f.FRONT_WIDTH)
        for j in range(read(plan, front + f.FRONT_FIRST), read(plan, front + f.FRONT_END)):
            K = unrotate_spatial(C, load_strided(lane, ws, at + width*(width + f.FRONT_K) + j, width))
            for i in range(n):
                share = spatial_dot(load_spatial(lane, ws, shapes + 6*i), K)
                accumulate(lane, ws, X + length*i + j, share)


@leaf
def modal_columns(lane, plan, ws, row, front):
    """Contribution of the eliminated modes to the front: K + X^T D^-1 g, k + X^T D^-1 z_f, L + X^T D^-1 X [JSC 4.4]."""
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
        store_strided(lane, ws, K + j, width, add(load_strided(lane, ws, K + j, width), rotate_spatial(C, added)))
        accumulate(lane, ws, bias + j, more)


@flexible_loops_only
def update_modal_front(lane, plan, ws, row, front):
    """Pass a front through a NODE, or through the MODAL hinge whose modes have been eliminated."""
    if read(plan, row + f.KIND) == MODAL:
        modal_columns(lane, plan, ws, row, front)
    else:
        node_columns(lane, plan, ws, row, front)


@flexible_loops_only
def apply_multipliers_to_modes(lane, plan, ws, row, multipliers, first, end):
    """z_f + X lambda: forces of the multipliers on the modes."""
    if read(plan, row + f.KIND) == MODAL:
        flex, n = flex_of(plan, row)
        (rows, length, _, at_z), (X, _) = mode_rows(lane, plan, flex, n), mode_columns(lane, plan, flex, n)
        for i in range(n):
            added = zero(lane)
            for j in range(first, end):
                added = added + load(lane, ws, X + length*i + j)*load(lane, ws, multipliers + j)
            accumulate(lane, ws, rows + length*i + at_z, added)


# ---- fronts ----------------------------------------------------------------------------------------------------------------
UNEQUAL = 1e-3                   # of a later row's pivot: below this, rows are sorted by size
OPEN = 100.0                     # factor of (gap/size)^2 in the pivot limit
NEAR = 1e-6                      # below this (gap/size)^2 a loop counts as closed
IMPLIED = 1e-9                   # of its own entry: what elimination leaves of a row implied by others


@leaf
def extent(plan, front):
    """Of the front that passes a hinge: position, width, first and end of its open columns."""
    return (read(plan, front + f.FRONT_AT), read(plan, front + f.FRONT_WIDTH), read(plan, front + f.FRONT_FIRST),
            read(plan, front + f.FRONT_END))


@leaf
def columns_of(plan, junction):
    """Of the front of a junction: position, width, end of the columns in use."""
    return read(plan, junction + f.JUNCTION_AT), read(plan, junction + f.JUNCTION_WIDTH), read(plan, junction + f.JUNCTION_END)


@leaf
def front_row(at, width, which):
    """Start of a row after L in a front."""
    return at + width*(width + which)


# ---- inward: through a hinge ---------------------------------------------------------------------------------------------
@leaf
def transmit_front_axis(lane, plan, ws, front, row, e, r):
    """Hinge of one degree of freedom, about or along e; then shift by r to the inner body's origin."""
    at, width, first, end = extent(plan, front)
    quads, gain = quads_of(ws), read(plan, row + f.RECORD) + f.GAIN
    G_m, G_f = load_spatial(lane, ws, gain)
    nu, d_inverse = load(lane, ws, gain + 6), load(lane, ws, gain + 7)
    K, bias = pack_of(lane, front_row(at, width, f.FRONT_K)), pack_of(lane, front_row(at, width, f.FRONT_BIAS))
    stride, U = pack_of(lane, width), read(plan, front + f.FRONT_U) - first
    turns = read(plan, row + f.KIND) == REVOLUTE
    for i in range(pack_of(lane, first), packs_until(lane, end)):
        m, force = load_strided(quads, ws, K + i, stride)
        u = add_factors(lane, quads, ws, pack_of(lane, U) + i, dot(e, m) if turns else dot(e, force))
        store(quads, ws, pack_of(lane, U) + i, u)
        accumulate(quads, ws, bias + i, nu*u)
        m, force = sub(m, scale(u, G_m)), sub(force, scale(u, G_f))                     # K - U^T G^T
        store_strided(quads, ws, K + i, stride, (add(m, cross(r, force)), force))
    store(lane, ws, U + width, d_inverse)  # U^T D^-1 U of all hinges is added to L later: assemble_block


@leaf
def transmit_front_spherical(lane, plan, ws, front, row, P, r):
    """SPHERICAL hinge, which transmits no moment: with G = J^-1 H, nu = J^-1 (tau - n), W = J^-1 K_m."""
    at, width, first, end = extent(plan, front)
    gain, K, bias = read(plan, row + f.RECORD) + f.GAIN, front_row(at, width, f.FRONT_K), front_row(at, width, f.FRONT_BIAS)
    W, open_width = read(plan, front + f.FRONT_U) - first, width - first
    LDL, G, nu = factor(P[0]), load9(lane, ws, gain), load3(lane, ws, gain + 9)
    for j in range(first, end):
        m, _ = load_strided(lane, ws, K + j, width)
        store_strided(lane, ws, W + j, open_width, (solve(LDL, m), ZERO))
        accumulate(lane, ws, bias + j, dot(m, nu))
    add_hinge_inverse_inertia(lane, plan, ws, front)
    for j in range(first, end):
        m, force = load_strided(lane, ws, K + j, width)
        force = sub(force, unrotate(G, m))
        store_strided(lane, ws, K + j, width, (cross(r, force), force))


@leaf
def transmit_front_free(lane, plan, ws, front, row, P):
    """FREE hinge, which transmits nothing: W = P^-1 K."""
    at, width, first, end = extent(plan, front)
    (J, H, M), K, bias = P, front_row(at, width, f.FRONT_K), front_row(at, width, f.FRONT_BIAS)
    W, open_width = read(plan, front + f.FRONT_U) - first, width - first
    LDL = factor(J)
    LDL_M, (nu, a_0) = factor(sub_product(M, H, solve_columns(LDL, H))), load_spatial(lane, ws, read(plan, row + f.RECORD) + f.GAIN)
    for j in range(first, end):
        m, force = load_strided(lane, ws, K + j, width)
        a = solve(LDL_M, sub(force, unrotate(H, solve(LDL, m))))
        store_strided(lane, ws, W + j, open_width, (solve(LDL, sub(m, rotate(H, a))), a))
        accumulate(lane, ws, bias + j, dot(m, nu) + dot(force, a_0))
    add_hinge_inverse_inertia(lane, plan, ws, front)
    for j in range(first, end):
        store_strided(lane, ws, K + j, width, (ZERO, ZERO))


@leaf
def add_hinge_inverse_inertia(lane, plan, ws, front):
    """L + K W of a hinge with several degrees of freedom: its part of J M^-1 J^T, the matrix of [JSC 4.20]."""
    at, width, first, end = extent(plan, front)
    K, W, open_width = front_row(at, width, f.FRONT_K), read(plan, front + f.FRONT_U) - first, width - first
    for j in range(first, end):
        K_j = load_strided(lane, ws, K + j, width)
        for i in range(j, end):
            accumulate(lane, ws, at + width*j + i, spatial_dot(K_j, load_strided(lane, ws, W + i, open_width)))


@loops_only
def transmit_front(lane, plan, ws, row, C, P, r):
    """Pass the front at a hinge through it, and shift it by r to the origin of the inner body; P is the inertia outboard
    [JSC 4.8]."""
    front = read(plan, row + f.FRONT)
    if front:
        kind = read(plan, row + f.SOLVED)
        if kind == REVOLUTE or kind == PRISMATIC:
            transmit_front_axis(lane, plan, ws, front, row, axis_z(C), r)
        elif kind == SPHERICAL:
            transmit_front_spherical(lane, plan, ws, front, row, P, r)
        elif kind == FREE:
            transmit_front_free(lane, plan, ws, front, row, P)
        else:
            hold_hinge_response(lane, plan, ws, front, row, C)
            shift_front(lane, plan, ws, front, r)


@flexible_loops_only
def transmit_front_modal(lane, plan, ws, row, r):
    """transmit_front for the kinds MODAL and NODE."""
    front = read(plan, row + f.FRONT)
    if front:
        update_modal_front(lane, plan, ws, row, front)
        shift_front(lane, plan, ws, front, r)


@loops_holds_only
def clear_hinge_response(lane, plan, ws, front, row):
    """U = 0 for a locked hinge of one degree of freedom."""
    kind = read(plan, row + f.KIND)
    if kind == REVOLUTE or kind == PRISMATIC:
        _, width, first, _ = extent(plan, front)
        for j in range(width - first + 1):
            store(lane, ws, read(plan, front + f.FRONT_U) + j, zero(lane))


@friction_only(otherwise=lambda lane, plan, ws, front, row, C: clear_hinge_response(lane, plan, ws, front, row))
def hold_hinge_response(lane, plan, ws, front, row, C):
    """Stuck hinge: U of its axis, for the holding force [B 37], and 0 for 1/D, so that it does not move."""
    kind = read(plan, row + f.KIND)
    if kind == REVOLUTE or kind == PRISMATIC:
        at, width, first, end = extent(plan, front)
        U, e = read(plan, front + f.FRONT_U) - first, axis_z(C)
        for j in range(first, end):
            m, force = load_strided(lane, ws, front_row(at, width, f.FRONT_K) + j, width)
            u = dot(e, m) if kind == REVOLUTE else dot(e, force)
            store(lane, ws, U + j, add_factors(lane, lane, ws, U + j, u))
        store(lane, ws, U + width, zero(lane))


@friction_only
def hold_against_loops(lane, plan, ws, row):
    """Subtract the contribution U lambda of the loops from the holding force of a hinge [B 37]."""
    front = read(plan, row + f.FRONT)
    if front and sweeps.friction_forces.is_stuck(plan, row):
        at, width, first, end = extent(plan, front)
        gain = read(plan, row + f.RECORD) + f.GAIN
        U, multipliers = read(plan, front + f.FRONT_U) - first, front_row(at, width, f.FRONT_LAMBDA)
        for j in range(first, end):
            accumulate(lane, ws, gain + 7, -(load(lane, ws, U + j)*load(lane, ws, multipliers + j)))


@leaf
def shift_front(lane, plan, ws, front, r):
    """Shift K by r to the origin of the inner body."""
    at, width, first, end = extent(plan, front)
    K = front_row(at, width, f.FRONT_K)
    for j in range(first, end):
        m, force = load_strided(lane, ws, K + j, width)
        store_strided(lane, ws, K + j, width, (add(m, cross(r, force)), force))


# ---- inward: at a junction -----------------------------------------------------------------------------------------------
@leaf
def add_front_rows(lane, ws, to, width, source, s_width, n):
    """Add some columns of K and k, which are seven rows."""
    quads, to, stride, source, s_stride = (quads_of(ws), pack_of(lane, to), pack_of(lane, width), pack_of(lane, source),
                                           pack_of(lane, s_width))
    for i in range(packs_until(lane, n)):
        for which in range(7):
            accumulate(quads, ws, to + which*stride + i, load(quads, ws, source + which*s_stride + i))


@leaf
def add_entries(lane, ws, to, width, source, s_width, n, columns):
    """Add a block of L, n rows of some columns."""
    quads = quads_of(ws)
    for j in range(n):
        for i in range(packs_until(lane, columns)):
            accumulate(quads, ws, pack_of(lane, to + width*j) + i, load(quads, ws, pack_of(lane, source + s_width*j) + i))


@leaf
def add_transposed(lane, ws, to, width, source, s_width, n, columns):
    """Add a block of L that is on the other side of the diagonal."""
    for j in range(n):
        for i in range(columns):
            accumulate(lane, ws, to + width*i + j, load(lane, ws, source + s_width*j + i))


@leaf
def add_path_inverse_inertia(lane, plan, ws, to, width, source, begin, n, other, columns):
    """L + U^T D^-1 U of the hinges that a front has passed, their part of J M^-1 J^T [JSC 4.20]: the block of n columns from
    `begin` and those from `other`, only above the diagonal if these are the same.  Four rows at a time share the loads."""
    quads, hinges, stride = quads_of(ws), read(plan, source + f.SOURCE_HINGES), read(plan, source + f.SOURCE_STRIDE)
    U, behind = read(plan, source + f.SOURCE_U), read(plan, source + f.SOURCE_WIDTH)
    for j in range(0, n*(hinges > 0), 4):
        for i in range(pack_of(lane, j)*(begin == other), packs_until(lane, columns)):
            a, b, c, d = zero(quads), zero(quads), zero(quads), zero(quads)
            for s in range(hinges):
                row = U + stride*s
                w = load(lane, ws, row + behind)*load(quads, ws, pack_of(lane, row + other) + i)
                u = load4(lane, ws, row + begin + j)
                a, b, c, d = a + u[0]*w, b + u[1]*w, c + u[2]*w, d + u[3]*w
            k = pack_of(lane, to + width*j) + i
            accumulate(quads, ws, k, a)
            accumulate(quads, ws, k + pack_of(lane, width), b)
            accumulate(quads, ws, k + 2*pack_of(lane, width), c)
            accumulate(quads, ws, k + 3*pack_of(lane, width), d)


@leaf
def assemble_block(lane, plan, ws, L, width, source, run, other):
    """L of the columns of two runs of a front, with the part of the hinges on its path."""
    begin, to, n = read(plan, run + f.RUN_FROM), read(plan, run + f.RUN_TO), read(plan, run + f.RUN_LENGTH)
    o_begin, o_to, o_n = read(plan, other + f.RUN_FROM), read(plan, other + f.RUN_TO), read(plan, other + f.RUN_LENGTH)
    s_width = read(plan, source + f.SOURCE_WIDTH)
    before = read(plan, source + f.SOURCE_AT) + s_width*begin + o_begin
    if o_to >= to:
        add_path_inverse_inertia(lane, plan, ws, L + width*to + o_to, width, source, begin, n, o_begin, o_n)
        if read(plan, source + f.SOURCE_ADDS) == f.ALL_OF_IT:
            add_entries(lane, ws, L + width*to + o_to, width, before, s_width, n, o_n)
    else:                                                                   # here the other run comes first
        add_path_inverse_inertia(lane, plan, ws, L + width*o_to + to, width, source, o_begin, o_n, begin, n)
        if read(plan, source + f.SOURCE_ADDS) == f.ALL_OF_IT:
            add_transposed(lane, ws, L + width*o_to + to, width, before, s_width, n, o_n)


@leaf
def extend_add(lane, plan, ws, at, width, source):
    """Add a front to that of a junction, run by run of columns."""
    s_at, s_width, runs = read(plan, source + f.SOURCE_AT), read(plan, source + f.SOURCE_WIDTH), read(plan, source + f.N_RUNS)
    for p in range(runs):
        run = source + f.SOURCE_ROW + f.RUN*p
        if read(plan, source + f.SOURCE_ADDS) != f.IN_PLACE:
            add_front_rows(lane, ws, front_row(at, width, f.FRONT_K) + read(plan, run + f.RUN_TO), width,
                           front_row(s_at, s_width, f.FRONT_K) + read(plan, run + f.RUN_FROM), s_width,
                           read(plan, run + f.RUN_LENGTH))
        for q in range(p, runs):
            assemble_block(lane, plan, ws, at, width, source, run, source + f.SOURCE_ROW + f.RUN*q)


@leaf
def copy_run(lane, ws, to, source, n):
    quads, first, at = quads_of(ws), pack_of(lane, to), pack_of(lane, source)
    for i in range(packs_until(lane, n)):
        store(quads, ws, first + i, load(quads, ws, at + i))


@leaf
def subtract_row(lane, ws, to, factor_, source, first, end):
    """ws[to ...] -= factor ws[source ...], entries from `first` to `end`."""
    quads, to, source = quads_of(ws), pack_of(lane, to), pack_of(lane, source)
    for i in range(pack_of(lane, first), packs_until(lane, end)):
        store(quads, ws, to + i, load(quads, ws, to + i) - factor_*load(quads, ws, source + i))


@leaf
def eliminate(lane, ws, at, width, end, i, least):
    """Eliminate row i of L from the rows after it and from K and k; its inverse pivot is 0 if the pivot does not exceed
    `least`."""
    L = at + width*i
    d = inverse_above(load(lane, ws, L + i), least)
    store(lane, ws, front_row(at, width, f.FRONT_PIVOTS) + i, d)
    for j in range(i & -4, i + 1):
        store(lane, ws, L + j, zero(lane))                                  # so that whole packs can be processed
    for j in range(i + 1, end):
        subtract_row(lane, ws, at + width*j, load(lane, ws, L + j)*d, L, j, end)
    quads, row, K, stride = quads_of(ws), pack_of(lane, L), front_row(at, width, f.FRONT_K), pack_of(lane, width)
    K_i, k_i = scale(d, load_strided(lane, ws, K + i, width)), d*load(lane, ws, front_row(at, width, f.FRONT_BIAS) + i)
    for p in range(pack_of(lane, i + 1), packs_until(lane, end)):
        x, to = load(quads, ws, row + p), pack_of(lane, K) + p
        store_strided(quads, ws, to, stride, sub(load_strided(quads, ws, to, stride), scale(x, K_i)))
        store(quads, ws, to + 6*stride, load(quads, ws, to + 6*stride) - k_i*x)         # k follows K
    return d


@leaf
def largest_of(lane, ws, at, stride, rows):
    largest = zero(lane)
    for i in range(rows):
        largest = larger(largest, load(lane, ws, at + stride*i))
    return largest


@leaf
def set_limits(lane, pars, ws, diagonal, stride, to, rows, openness):
    """Pivot limits for the rows of one loop, from their diagonal entries before any elimination.  Below the limit are: rounding;
    rows that are redundant only when the loop is closed, as long as it is open (order gap^2); and a row near a singular position,
    of order s^2 at a distance s: there, rounding of positions would be amplified by 1/s in speeds and 1/s^2 in accelerations,
    while the force of the row itself is of order s."""
    almost_closed = NEAR*inverse_above(NEAR, openness)                      # 1, or 0 for a loop that is wide open
    least = (read(pars, f.LEAST_SHARE) + OPEN*almost_closed*openness)*largest_of(lane, ws, diagonal, stride, rows)
    for i in range(rows):
        store(lane, ws, to + i, larger(least, IMPLIED*load(lane, ws, diagonal + stride*i)))


@leaf
def unequal(lane, ws, diagonal, stride, limit, rows):
    """Positive in lanes where the next pivot, at `diagonal`, is active and much smaller than that of a later row."""
    pivot, later = load(lane, ws, diagonal), zero(lane)
    for i in range(1, rows):
        later = larger(later, load(lane, ws, diagonal + stride*i))
    return smaller(pivot - load(lane, ws, limit), UNEQUAL*later - pivot)


@leaf
def exchange(lane, ws, a, b, chosen):
    """Swap two numbers in the lanes where `chosen` is positive."""
    x, y = load(lane, ws, a), load(lane, ws, b)
    store(lane, ws, a, where_positive(chosen, y, x))
    store(lane, ws, b, where_positive(chosen, x, y))


@sweep(features=(), needs="loops")
def order_rows(lane, ws, at, width, column, done, rows, end):
    """Sort the rows and columns of a loop that are not eliminated yet by diagonal entry, largest first: what is left of a row that
    is almost redundant, by itself or after those before it, must not be the pivot for the others.  Each lane separately,
    according to its own pivots."""
    noinline()
    quads, diagonal = quads_of(ws), at + width*column + column
    order, limits = front_row(at, width, f.FRONT_ORDER) + column, front_row(at, width, f.FRONT_LAMBDA) + column
    sorted_ = unequal(lane, ws, diagonal + (width + 1)*done, width + 1, limits + done, rows - done)
    for i in range(rows):
        before = load(lane, ws, order + i)                                      # 0: unsorted
        store(lane, ws, order + i, where_positive(before, before, where_positive(sorted_, zero(lane) + (i + 1.0), zero(lane))))
        for j in range(done, i):
            store(lane, ws, diagonal + width*i + j, load(lane, ws, diagonal + width*j + i))
    for first in range(done, rows - 1):
        for other in range(first + 1, rows):
            more = load(lane, ws, diagonal + (width + 1)*other) - load(lane, ws, diagonal + (width + 1)*first)
            chosen = smaller(sorted_, more)
            if any_negative(-chosen):
                exchange(lane, ws, order + first, order + other, chosen)
                exchange(lane, ws, limits + first, limits + other, chosen)
                for i in range(pack_of(lane, column), packs_until(lane, end)):
                    exchange(quads, ws, pack_of(lane, at + width*(column + first)) + i,
                             pack_of(lane, at + width*(column + other)) + i, chosen)
                for j in range(rows):
                    exchange(lane, ws, diagonal + width*j + first, diagonal + width*j + other, chosen)
                for which in range(f.FRONT_LAMBDA):
                    entries = front_row(at, width, which) + column
                    exchange(lane, ws, entries + first, entries + other, chosen)


@leaf
def restore_order(lane, ws, order, values, scratch, rows):
    """Undo the sorting of a loop's numbers, in the lanes that were sorted: entries of `order` are 1 + the original index, or
    0."""
    if any_negative(-load(lane, ws, order)):
        for i in range(rows):
            found = load(lane, ws, values + i)
            for j in range(rows):
                away = load(lane, ws, order + j) - (i + 1.0)
                found = where_positive(0.5 - larger(away, -away), load(lane, ws, values + j), found)
            store(lane, ws, scratch + i, found)
        for i in range(rows):
            store(lane, ws, values + i, load(lane, ws, scratch + i))


@leaf
def assemble_sources(lane, plan, ws, junction):
    at, width, _ = columns_of(plan, junction)
    source = junction + f.JUNCTION_ROW + f.CLOSED_ROW*read(plan, junction + f.N_CLOSED)
    for _ in range(read(plan, junction + f.N_SOURCES)):
        extend_add(lane, plan, ws, at, width, source)
        source = source + f.SOURCE_ROW + f.RUN*read(plan, source + f.N_RUNS)


@loops_only(otherwise=lambda lane, plan, pars, ws, row, P, z: (P, z))
def assemble_fronts(lane, plan, pars, ws, row, P, z):
    """At a body: join the incoming fronts and eliminate the loops whose paths meet here, whose rows of L are complete [JSC 4.20];
    returns P and z with these loops."""
    junction = read(plan, row + f.JUNCTION)
    while junction:
        assemble_sources(lane, plan, ws, junction)
        (at, width, end), closed = columns_of(plan, junction), junction + f.JUNCTION_ROW
        K, bias = front_row(at, width, f.FRONT_K), front_row(at, width, f.FRONT_BIAS)
        for c in range(read(plan, junction + f.N_CLOSED)):
            row = closed + f.CLOSED_ROW*c
            column, rows = read(plan, row + f.CLOSED_COLUMN), read(plan, row + f.CLOSED_ROWS)
            openness = load(lane, ws, read(plan, row + f.CLOSED_MULTIPLIERS))                # until they are found, (gap/size)^2
            add_coupling_compliance(lane, ws, read(plan, row + f.CLOSED_MULTIPLIERS), rows, at + width*column + column)
            set_limits(lane, pars, ws, at + width*column + column, width + 1, front_row(at, width, f.FRONT_LAMBDA) + column, rows,
                       openness)
        for c in range(read(plan, junction + f.N_CLOSED)):
            row = closed + f.CLOSED_ROW*c
            column, rows = read(plan, row + f.CLOSED_COLUMN), read(plan, row + f.CLOSED_ROWS)
            for i in range(column, column + rows):
                if any_negative(-unequal(lane, ws, at + (width + 1)*i, width + 1, front_row(at, width, f.FRONT_LAMBDA) + i,
                                         column + rows - i)):
                    order_rows(lane, ws, at, width, column, i - column, rows, end)
                d = eliminate(lane, ws, at, width, end, i, load(lane, ws, front_row(at, width, f.FRONT_LAMBDA) + i))
                K_i = load_strided(lane, ws, K + i, width)
                P = sub_outer(P, K_i, scale(-d, K_i))
                z = add(z, scale(d*load(lane, ws, bias + i), K_i))
        junction = read(plan, junction + f.NEXT_JUNCTION)
    return P, z


# ---- outward ---------------------------------------------------------------------------------------------------------------
@loops_only
def apply_multipliers(lane, plan, ws, row):
    """nu + W lambda: add the response of a hinge to the multipliers, in place of nu, which hinge_accelerate reads [JSC 4.5]."""
    front = read(plan, row + f.FRONT)
    if front:
        at, width, first, end = extent(plan, front)
        kind, gain = read(plan, row + f.SOLVED), read(plan, row + f.RECORD) + f.GAIN
        multipliers, W, open_width = front_row(at, width, f.FRONT_LAMBDA), read(plan, front + f.FRONT_U) - first, width - first
        if kind == REVOLUTE or kind == PRISMATIC:
            added = zero(lane)
            for j in range(first, end):
                added = added + load(lane, ws, W + j)*load(lane, ws, multipliers + j)       # U lambda
            accumulate(lane, ws, gain + 6, load(lane, ws, gain + 7)*added)
        elif kind == SPHERICAL or kind == FREE:
            o = (zero(lane), zero(lane), zero(lane))
            added6 = (o, o)
            for j in range(first, end):
                added6 = add(added6, scale(load(lane, ws, multipliers + j), load_strided(lane, ws, W + j, open_width)))
            if kind == FREE:
                accumulate(lane, ws, gain, added6)
            else:
                accumulate(lane, ws, gain + 9, added6[0])
        elif kind >= MODAL:
            apply_multipliers_to_modes(lane, plan, ws, row, multipliers, first, end)


@leaf
def back_substitute_junction(lane, plan, ws, junction, A):
    """lambda = -L^-1 (K A + k + other lambda) of the loops eliminated at a junction [JSC 4.20]."""
    (at, width, end), closed = columns_of(plan, junction), junction + f.JUNCTION_ROW
    K, bias = front_row(at, width, f.FRONT_K), front_row(at, width, f.FRONT_BIAS)
    pivots, multipliers = front_row(at, width, f.FRONT_PIVOTS), front_row(at, width, f.FRONT_LAMBDA)
    for c in range(read(plan, junction + f.N_CLOSED) - 1, -1, -1):
        column, rows = read(plan, closed + f.CLOSED_ROW*c + f.CLOSED_COLUMN), read(plan, closed + f.CLOSED_ROW*c + f.CLOSED_ROWS)
        for i in range(column + rows - 1, column - 1, -1):
            gap = load(lane, ws, bias + i) + spatial_dot(load_strided(lane, ws, K + i, width), A)
            for j in range(end - 1, i, -1):  # latest result last, so that the other terms need not wait for it
                gap = gap + load(lane, ws, at + width*i + j)*load(lane, ws, multipliers + j)
            store(lane, ws, multipliers + i, -gap*load(lane, ws, pivots + i))
        restore_order(lane, ws, front_row(at, width, f.FRONT_ORDER) + column, multipliers + column, pivots + column, rows)
        for i in range(rows):
            value = load(lane, ws, multipliers + column + rows - 1 - i)
            store(lane, ws, read(plan, closed + f.CLOSED_ROW*c + f.CLOSED_MULTIPLIERS) + i, value)


@leaf
def scatter_multipliers(lane, plan, ws, junction):
    """Copy the multipliers to the fronts that joined."""
    at, width, _ = columns_of(plan, junction)
    multipliers = front_row(at, width, f.FRONT_LAMBDA)
    source = junction + f.JUNCTION_ROW + f.CLOSED_ROW*read(plan, junction + f.N_CLOSED)
    for _ in range(read(plan, junction + f.N_SOURCES)):
        s_at, s_width, runs = read(plan, source + f.SOURCE_AT), read(plan, source + f.SOURCE_WIDTH), read(plan, source + f.N_RUNS)
        for p in range(runs*(read(plan, source + f.SOURCE_ADDS) != f.IN_PLACE)):
            run = source + f.SOURCE_ROW + f.RUN*p
            to = front_row(s_at, s_width, f.FRONT_LAMBDA) + read(plan, run + f.RUN_FROM)
            copy_run(lane, ws, to, multipliers + read(plan, run + f.RUN_TO), read(plan, run + f.RUN_LENGTH))
        source = source + f.SOURCE_ROW + f.RUN*runs


@loops_only
def back_substitute_fronts(lane, plan, ws, row, A):
    """At a body with acceleration A: multipliers of the loops eliminated here, copied back to the incoming fronts."""
    junction = read(plan, row + f.JUNCTION)
    if junction:
        junction = read(plan, junction + f.LAST_JUNCTION)
    while junction:
        back_substitute_junction(lane, plan, ws, junction, A)
        scatter_multipliers(lane, plan, ws, junction)
        junction = read(plan, junction + f.PREVIOUS_JUNCTION)
