"""All derivatives of the dynamics of rigid trees in closed form, for every pair of speeds.

Spatial vectors are in inertial axes, about a point O at rest that coincides with the origin of the tree's first body: V = (omega,
velocity of the body at O), A the rate of V less gravity.  Speed s of hinge k has a motion S; with V', A' of the inner body

    psi = V' x S        chi = A' x S + V' x psi        phi = psi + V_k x S                                          [B 61]

For a body with everything outboard: I its inertia, F its wrench and, over all its points x with velocities u, the sums U = sum m
u x^T and p = sum m u, from which 2 B (a, b) = (2 (tr U - U) a, 2 a x p).  For a speed i outboard of (or equal to) j

    d tau_j/d q_i = S_j.t1   t1 = 2 B psi_i + I chi_i + S_i x* F       d tau_i/d q_j = t3.psi_j + t4.chi_j   t3 = (2 B)^T S_i
    d tau_j/d v_i = S_j.t2   t2 = 2 B S_i + I phi_i                    d tau_i/d v_j = t3.S_j + t4.phi_j     t4 = I S_i
    M_ij = t4.S_j            tau_i = S_i.F                                                                          [B 62]

and t1 is without S x* F for two speeds of one hinge.  Subtrees are contiguous, so the speeds i are processed in packs: four of
one state, or one of four states.  The results go to B, see `sweeps.columns`, which solves with the mass matrix.
"""
from bough.kernels.algebra import axis_z, column, cross, dot, outer, rotate, rotate_sym, spatial_dot, trace_less, unrotate
from bough.kernels.hinges import FREE, PRISMATIC, REVOLUTE, SPHERICAL, n_speeds
from bough.kernels.jit import leaf
from bough.kernels.lanes import (accumulate, add, load, load3, load4, load9, load_composite, load_four, load_spatial, noinline,
                                 one_state_only, quads_of, read, read3, scale, store, store_four, sub, tanks_only, transposed,
                                 unpack4, width_of, zero)
from bough.kernels.linker import sweep
from bough.sweeps import fields as f
from bough.sweeps.blocks import pack_of, packs_until
from bough.sweeps.composite import composite_times, own_composite, shift_composite
from bough.sweeps.tree_motion import hinge_attitude, hinge_row, load_motion, record_of

# per hinge: sums over its subtree, padded to packs; position and velocity, later dA; V and A of its body; then the contribution
# of speeds further out to F.  A FREE hinge has two: the second is for the body after its translation, before its rotation
SUM_J, SUM_H, SUM_M, SUM_U, SUM_P, SUM_F, SUMS = 0, 6, 9, 10, 19, 22, 28
PLACE, SPATIAL_V, SPATIAL_A, FURTHER, BODY = 28, 36, 42, 48, 56
# per speed
S_, PSI, CHI, PHI, T1, T2, T3, T4, SPEED_NUMBERS = 0, 6, 9, 15, 21, 27, 33, 36, 42
SCRATCH = 4


@leaf
def speed_row(route, s):
    return read(route, f.COLUMNS_AT) + f.SPEED_ROW*s


@leaf
def path_of(route, s):
    """Number of speeds on the path of s, and where they are listed."""
    return read(route, speed_row(route, s) + f.SPEED_DEPTH), read(route, speed_row(route, s) + f.SPEED_PATH)


@leaf
def motion_cross(V, S):
    (w, v), (a, b) = V, S
    return cross(w, a), add(cross(w, b), cross(v, a))


@leaf
def wrench_cross(V, F):
    """V x* F."""
    (w, v), (n, force) = V, F
    return add(cross(w, n), cross(v, force)), cross(w, force)


@leaf
def trace_less_transposed(U, a):
    return sub(scale(U[0] + U[4] + U[8], a), unrotate(U, a))


@leaf
def spread(J):
    """sum m x x^T from an inertia."""
    xx, xy, xz, yy, yz, zz = J
    half = 0.5*(xx + yy + zz)
    return half - xx, -xy, -xz, half - yy, -yz, half - zz


@leaf
def skew_times_sym(w, S):
    """w~ S."""
    x, y, z = w
    xx, xy, xz, yy, yz, zz = S
    return (y*xz - z*xy, y*yz - z*yy, y*zz - z*yz, z*xx - x*xz, z*xy - x*yz, z*xz - x*zz,
            x*xy - y*xx, x*yy - y*xy, x*yz - y*xz)


# ---- numbers of speeds: interleaved within a pack, so that for one state the numbers of a speed are four apart ----------
@leaf
def speed_place(lane, T, s):
    """Start of the numbers of a speed."""
    w = 4//width_of(lane)
    return T + s//w*w*SPEED_NUMBERS + s % w


@leaf
def pack_place(lane, T, i):
    """First pack of pack i of speeds."""
    return pack_of(lane, T) + SPEED_NUMBERS*i


@leaf
def load3_apart(lane, ws, at, which):
    w = 4//width_of(lane)
    at = at + w*which
    return load(lane, ws, at), load(lane, ws, at + w), load(lane, ws, at + 2*w)


@leaf
def load_apart(lane, ws, at, which):
    """A spatial vector."""
    return load3_apart(lane, ws, at, which), load3_apart(lane, ws, at, which + 3)


@leaf
def store3_apart(lane, ws, at, which, u):
    w = 4//width_of(lane)
    at = at + w*which
    store(lane, ws, at, u[0])
    store(lane, ws, at + w, u[1])
    store(lane, ws, at + 2*w, u[2])


@leaf
def store_apart(lane, ws, at, which, F):
    store3_apart(lane, ws, at, which, F[0])
    store3_apart(lane, ws, at, which + 3, F[1])


# ---- bodies ------------------------------------------------------------------------------------------------------------
@leaf
def store_axes(lane, ws, T, s, p, C):
    """S of rotations about the axes of a body at p."""
    for c in range(3):
        e = column(C, c)
        store_apart(lane, ws, speed_place(lane, T, s + c), S_, (e, cross(p, e)))


@leaf
def scatter_places(lane, plan, pars, ws, route, H, T):
    """Positions and velocities of all bodies, S of all speeds."""
    zeros, firsts = (zero(lane), zero(lane), zero(lane)), read(route, f.COLUMNS_FIRSTS)
    store(lane, ws, H + PLACE, (zeros, zeros))
    store(lane, ws, H + SPATIAL_V, (zeros, zeros))
    store(lane, ws, H + SPATIAL_A, (zeros, scale(-1.0, read3(pars, f.GRAVITY))))
    for k in range(1, read(plan, f.N_HINGES) + 1):
        row, at, s = hinge_row(plan, k), H + BODY*k, read(route, firsts + k)
        i, kind, record = read(plan, row + f.INNER), read(plan, row + f.KIND), read(plan, row + f.RECORD)
        C, r = load9(lane, ws, record + f.ATTITUDE), load3(lane, ws, record + f.OFFSET)
        p, v = load_spatial(lane, ws, H + BODY*i + PLACE)
        v = add(v, cross(load3(lane, ws, record_of(plan, i) + f.RATE), r))
        if i > 0:                                                   # else this is O
            p = add(p, r)
        e = axis_z(C)
        if kind == REVOLUTE:
            store_apart(lane, ws, speed_place(lane, T, s), S_, (e, cross(p, e)))
        elif kind == PRISMATIC:
            v = add(v, scale(load(lane, ws, read(plan, row + f.V)), e))
            store_apart(lane, ws, speed_place(lane, T, s), S_, (zeros, e))
        elif kind == SPHERICAL:
            store_axes(lane, ws, T, s, p, C)
        elif kind == FREE:
            F, moved = hinge_attitude(pars, k), read(route, speed_row(route, s) + f.SPEED_OUTER)
            v = add(v, rotate(F, load3(lane, ws, read(plan, row + f.V))))
            store(lane, ws, moved, ((zeros, v), (zeros, load3(lane, ws, record + f.ACCELERATION + 3))))
            for c in range(3):
                store_apart(lane, ws, speed_place(lane, T, s + c), S_, (zeros, add(zeros, column(F, c))))
            store_axes(lane, ws, T, s + 3, p, C)
        store(lane, ws, at + PLACE, (p, v))
        store(lane, ws, at + FURTHER, (zeros, zeros))


# ---- bodies in packs: four of one state, or one of four states -----------------------------------------------------------------
@leaf
def across_four(table, a, b, c, d, at):
    """Four numbers at offset `at` from each of four places, transposed."""
    return transposed(load_four(table, a + at), load_four(table, b + at), load_four(table, c + at), load_four(table, d + at))


@leaf
def put_four(ws, a, b, c, d, at, x):
    """The inverse of across_four."""
    x = transposed(x[0], x[1], x[2], x[3])
    store_four(ws, a + at, x[0])
    store_four(ws, b + at, x[1])
    store_four(ws, c + at, x[2])
    store_four(ws, d + at, x[3])


@leaf
def bodies_of(plan, i):
    """One state: the bodies of pack i; the last one is repeated."""
    first, last = 4*i + 1, read(plan, f.N_HINGES)
    return first, min(first + 1, last), min(first + 2, last), min(first + 3, last)


@one_state_only(otherwise=lambda lane, plan, ws, i: load_motion(lane, ws, record_of(plan, i + 1)))
def motion_of_bodies(lane, plan, ws, i):
    """Attitude, rate and acceleration."""
    k, l, m, n = bodies_of(plan, i)
    k, l, m, n = record_of(plan, k), record_of(plan, l), record_of(plan, m), record_of(plan, n)
    (a, b, c, d), (e, g, h, j) = across_four(ws, k, l, m, n, 0), across_four(ws, k, l, m, n, 4)
    (o, p, q, r), (s, t, u, v) = across_four(ws, k, l, m, n, 8), across_four(ws, k, l, m, n, 12)
    w, x, _, _ = across_four(ws, k, l, m, n, 16)
    return (a, b, c, d, e, g, h, j, o), (p, q, r), ((s, t, u), (v, w, x))


@one_state_only(otherwise=lambda lane, plan, ws, H, i: load_spatial(lane, ws, H + BODY*(i + 1) + PLACE))
def places_of_bodies(lane, plan, ws, H, i):
    k, l, m, n = bodies_of(plan, i)
    a, b, c, d = across_four(ws, H + BODY*k, H + BODY*l, H + BODY*m, H + BODY*n, PLACE)
    e, g, _, _ = across_four(ws, H + BODY*k, H + BODY*l, H + BODY*m, H + BODY*n, PLACE + 4)
    return (a, b, c), (d, e, g)


@tanks_only(otherwise=lambda lane, plan, pars, ws, k, at: load_four(pars, k*f.HINGE_PARS + f.MASS + at))
def own_four(lane, plan, pars, ws, k, at):
    """Four numbers of body k: mass, first moment and inertia; current values for propellant [B 87]."""
    place = read(plan, hinge_row(plan, k) + f.MASSIVE)
    return load_four(ws, place + at) if place > 1 else load_four(pars, k*f.HINGE_PARS + f.MASS + at)


@leaf
def own_across(lane, plan, pars, ws, i, at):
    k, l, m, n = bodies_of(plan, i)
    return transposed(own_four(lane, plan, pars, ws, k, at), own_four(lane, plan, pars, ws, l, at),
                      own_four(lane, plan, pars, ws, m, at), own_four(lane, plan, pars, ws, n, at))


@one_state_only(otherwise=lambda lane, plan, pars, ws, i, C: own_composite(lane, plan, pars, ws, i + 1, C))
def composites_of_bodies(lane, plan, pars, ws, i, C):
    """Inertias of single bodies, about their origins."""
    m, x, y, z = own_across(lane, plan, pars, ws, i, 0)
    xx, xy, xz, yy = own_across(lane, plan, pars, ws, i, 4)
    _, _, yz, zz = own_across(lane, plan, pars, ws, i, 6)
    return rotate_sym(C, (xx, xy, xz, yy, yz, zz)), rotate(C, (x, y, z)), m


def store_body(lane, plan, ws, H, i, sums, motion):
    store(lane, ws, H + BODY*(i + 1), sums)
    store(lane, ws, H + BODY*(i + 1) + SPATIAL_V, motion)


@one_state_only(otherwise=store_body)
def store_bodies(lane, plan, ws, H, i, sums, motion):
    """Store the sums of each single body, and V and A."""
    ((xx, xy, xz, yy, yz, zz), (hx, hy, hz), m), U, (px, py, pz), ((nx, ny, nz), (fx, fy, fz)) = sums
    ((a, b, c), (d, e, g)), ((h, j, o), (p, q, r)) = motion
    k, l, s, t = bodies_of(plan, i)
    k, l, s, t = H + BODY*k, H + BODY*l, H + BODY*s, H + BODY*t
    put_four(ws, k, l, s, t, 0, (xx, xy, xz, yy))
    put_four(ws, k, l, s, t, 4, (yz, zz, hx, hy))
    put_four(ws, k, l, s, t, 8, (hz, m, U[0], U[1]))
    put_four(ws, k, l, s, t, 12, (U[2], U[3], U[4], U[5]))
    put_four(ws, k, l, s, t, 16, (U[6], U[7], U[8], px))
    put_four(ws, k, l, s, t, 20, (py, pz, nx, ny))
    put_four(ws, k, l, s, t, 24, (nz, fx, fy, fz))
    put_four(ws, k, l, s, t, SPATIAL_V, (a, b, c, d))
    put_four(ws, k, l, s, t, SPATIAL_V + 4, (e, g, h, j))
    put_four(ws, k, l, s, t, SPATIAL_V + 8, (o, p, q, r))


@leaf
def weigh_bodies(lane, plan, pars, ws, H):
    """V and A of all bodies; the sums of each single body."""
    for i in range(packs_until(lane, read(plan, f.N_HINGES))):
        (C, omega, (alpha, a)), (p, v) = motion_of_bodies(lane, plan, ws, i), places_of_bodies(lane, plan, ws, H, i)
        v_O = sub(v, cross(omega, p))
        V, A = (omega, v_O), (alpha, sub(sub(a, cross(alpha, p)), cross(omega, v)))
        J, h, m = shift_composite(p, composites_of_bodies(lane, plan, pars, ws, i, C))
        momentum = composite_times((J, h, m), V)
        U = add(outer(v_O, h), skew_times_sym(omega, spread(J)))
        F = add(composite_times((J, h, m), A), wrench_cross(V, momentum))
        store_bodies(lane, plan, ws, H, i, ((J, h, m), U, momentum[1], F), (V, A))


@leaf
def gather_sums(lane, plan, ws, H):
    """Tips to root: sums over all subtrees."""
    quads = quads_of(ws)
    for k in range(read(plan, f.N_HINGES), 0, -1):
        i = read(plan, hinge_row(plan, k) + f.INNER)
        if i > 0:
            to, source = pack_of(lane, H + BODY*i), pack_of(lane, H + BODY*k)
            for j in range(pack_of(lane, SUMS)):
                accumulate(quads, ws, to + j, load(quads, ws, source + j))


@one_state_only(otherwise=lambda lane, ws, route, i, which, at: load4(lane, ws, read(route, speed_row(route, i) + which) + at))
def four_of(lane, ws, route, i, which, at):
    """One state: four numbers for each speed of pack i, at offset `at` from its field `which`."""
    row = speed_row(route, 4*i) + which
    return across_four(ws, read(route, row), read(route, row + f.SPEED_ROW), read(route, row + 2*f.SPEED_ROW),
                       read(route, row + 3*f.SPEED_ROW), at)


@leaf
def sums_of(lane, ws, route, i):
    """(J, h, m), U, p, F of the subtrees moved by the speeds of pack i."""
    xx, xy, xz, yy = four_of(lane, ws, route, i, f.SPEED_SUMS, 0)
    yz, zz, hx, hy = four_of(lane, ws, route, i, f.SPEED_SUMS, 4)
    hz, m, a, b = four_of(lane, ws, route, i, f.SPEED_SUMS, 8)
    c, d, e, g = four_of(lane, ws, route, i, f.SPEED_SUMS, 12)
    h, j, k, px = four_of(lane, ws, route, i, f.SPEED_SUMS, 16)
    py, pz, nx, ny = four_of(lane, ws, route, i, f.SPEED_SUMS, 20)
    nz, fx, fy, fz = four_of(lane, ws, route, i, f.SPEED_SUMS, 24)
    return (((xx, xy, xz, yy, yz, zz), (hx, hy, hz), m), (a, b, c, d, e, g, h, j, k), (px, py, pz),
            ((nx, ny, nz), (fx, fy, fz)))


@leaf
def motion_of(lane, ws, route, i):
    """V' and A' of the inner bodies, and V of the outer bodies, of the speeds of pack i."""
    a, b, c, d = four_of(lane, ws, route, i, f.SPEED_INNER, 0)
    e, g, h, j = four_of(lane, ws, route, i, f.SPEED_INNER, 4)
    k, l, m, n = four_of(lane, ws, route, i, f.SPEED_INNER, 8)
    o, p, q, r = four_of(lane, ws, route, i, f.SPEED_OUTER, 0)
    s, t, _, _ = four_of(lane, ws, route, i, f.SPEED_OUTER, 4)
    return ((a, b, c), (d, e, g)), ((h, j, k), (l, m, n)), ((o, p, q), (r, s, t))


# ---- speeds: torques and mass matrix -------------------------------------------------------------------------------------
@leaf
def weigh_speeds(lane, ws, route, T):
    """t4 = I S and tau = S.F of all speeds, F of the motion in ws."""
    quads, torques = quads_of(ws), pack_of(lane, read(route, f.COLUMNS_TORQUES))
    for i in range(packs_until(lane, read(route, f.COLUMNS_SPEEDS))):
        at, (R, _, _, F) = pack_place(lane, T, i), sums_of(lane, ws, route, i)
        S = load_apart(quads, ws, at, S_)
        store_apart(quads, ws, at, T4, composite_times(R, S))
        store(quads, ws, torques + i, spatial_dot(S, F))


@leaf
def six(quads, ws, at, which, S):
    return spatial_dot(S, load_apart(quads, ws, at, which))


# Entries of a speed with the speeds it moves are written in whole packs where this overwrites nothing, see `whole_packs`, outer
# speeds first; then the remaining ones one by one (one state only).
@one_state_only(otherwise=lambda lane, route, j: (j, read(route, speed_row(route, j) + f.SPEED_END)))
def packs_of(lane, route, j):
    """One state: the packs that are written as a whole."""
    row = speed_row(route, j)
    return (read(route, row + f.SPEED_WRITES) + 3)//4, read(route, row + f.SPEED_UNTIL)//4


@one_state_only(otherwise=lambda lane, route, j, last: (0, 0, 0))
def rest_of(lane, route, j, last):
    """One state: a pack that is written in part, the first or the last one, and the first and end of its speeds; nothing if these
    are equal."""
    row = speed_row(route, j)
    begin, until = read(route, row + f.SPEED_WRITES), read(route, row + f.SPEED_UNTIL)
    i, starts_inside = until//4 if last else begin//4, begin % 4 > 0
    if until % 4 == 0 or (i == begin//4 and starts_inside) if last else not starts_inside:
        return i, 0, 0
    return i, max(j, 4*i), min(until, 4*i + 4)


@one_state_only(otherwise=lambda lane, ws, to, step, x: store(lane, ws, to, x))
def put_apart(lane, ws, to, step, x):
    """One state: store the numbers of a pack `step` apart."""
    a, b, c, d = unpack4(x)
    store(lane, ws, to, a)
    store(lane, ws, to + step, b)
    store(lane, ws, to + 2*step, c)
    store(lane, ws, to + 3*step, d)


@one_state_only(otherwise=lambda lane, ws, to, x: store(lane, ws, to, x))
def put_side_by_side(lane, ws, to, x):
    """One state: store a pack as a pack."""
    store(quads_of(ws), ws, to//4, x)


@leaf
def put_some(lane, ws, to, step, first, begin, end, x, scratch):
    """Store the numbers begin ... end of a pack that starts with number `first`."""
    store(quads_of(ws), ws, scratch//4, x)
    for l in range(begin - first, end - first):
        store(lane, ws, to + step*l, load(lane, ws, scratch + l))


@leaf
def first_of(lane, i):
    """The first speed of pack i."""
    return 4*i//width_of(lane)


@leaf
def column_place(B, length, s, column):
    """Position of the derivative of speed s with respect to q of the speed `column`, in blocks of `length` rows starting at B;
    that with respect to v is four numbers later, tau eight."""
    return B + 12*(column//4*length + s) + column % 4


@leaf
def entry_place(route, block, s, column):
    """column_place with respect to q (block 0), v (1) or tau (2)."""
    return column_place(read(route, f.COLUMNS_B), read(route, f.COLUMNS_PADDED), s, column) + 4*block


@leaf
def fill_inertias(lane, ws, route, T):
    """Mass matrix on paths: for each speed, its entries with those on its path and with itself [B 62]."""
    quads, P, width, scratch = quads_of(ws), read(route, f.COLUMNS_P), read(route, f.COLUMNS_WIDTH), read(route, f.COLUMNS_SCRATCH)
    for j in range(read(route, f.COLUMNS_SPEEDS) - 1, -1, -1):
        S, to, (begin, end) = load_apart(lane, ws, speed_place(lane, T, j), S_), P + path_of(route, j)[0], packs_of(lane, route, j)
        for i in range(begin, end):
            put_apart(lane, ws, to + width*first_of(lane, i), width, six(quads, ws, pack_place(lane, T, i), T4, S))
    for j in range(read(route, f.COLUMNS_SPEEDS) if width_of(lane) == 1 else 0):
        for last in range(2):
            i, begin, end = rest_of(lane, route, j, last)
            if begin < end:
                M = six(quads, ws, pack_place(lane, T, i), T4, load_apart(lane, ws, speed_place(lane, T, j), S_))
                put_some(lane, ws, P + path_of(route, j)[0] + width*4*i, width, 4*i, begin, end, M, scratch)


@sweep(features=("tanks",), excludes="flexible", method="derivatives", rounds=2)
def weigh_tree(lane, plan, pars, ws, route):
    """After a motion sweep: torques of that motion by speed, mass matrix on paths."""
    noinline()
    H, T = read(route, f.COLUMNS_H), read(route, f.COLUMNS_T)
    scatter_places(lane, plan, pars, ws, route, H, T)
    weigh_bodies(lane, plan, pars, ws, H)
    gather_sums(lane, plan, ws, H)
    weigh_speeds(lane, ws, route, T)
    fill_inertias(lane, ws, route, T)


@leaf
def accelerate_tree(lane, plan, ws, route):
    """Update A and F for the solution v': A += dA = sum S v' over the path, F += I dA + t4 v' of all speeds further out."""
    H, T, vdot = read(route, f.COLUMNS_H), read(route, f.COLUMNS_T), read(route, f.COLUMNS_TORQUES)
    zeros, firsts = (zero(lane), zero(lane), zero(lane)), read(route, f.COLUMNS_FIRSTS)
    store(lane, ws, H + PLACE, (zeros, zeros))
    for k in range(1, read(plan, f.N_HINGES) + 1):
        row, at, first = hinge_row(plan, k), H + BODY*k, read(route, firsts + k)
        dA, kind = load_spatial(lane, ws, H + BODY*read(plan, row + f.INNER) + PLACE), read(plan, row + f.KIND)
        for s in range(first, first + n_speeds(kind)):
            dA = add(dA, scale(load(lane, ws, vdot + s), load_apart(lane, ws, speed_place(lane, T, s), S_)))
            if kind == FREE and s == first + 2:
                accumulate(lane, ws, read(route, speed_row(route, first) + f.SPEED_OUTER) + SPATIAL_A - SPATIAL_V, dA)
        store(lane, ws, at + PLACE, dA)
        accumulate(lane, ws, at + SPATIAL_A, dA)
    for k in range(read(plan, f.N_HINGES), 0, -1):
        row, at, first = hinge_row(plan, k), H + BODY*k, read(route, firsts + k)
        more, i = load_spatial(lane, ws, at + FURTHER), read(plan, row + f.INNER)
        dA = load_spatial(lane, ws, at + PLACE)
        accumulate(lane, ws, at + SUM_F, add(more, composite_times(load_composite(lane, ws, at + SUM_J), dA)))
        for s in range(first, first + n_speeds(read(plan, row + f.KIND))):
            more = add(more, scale(load(lane, ws, vdot + s), load_apart(lane, ws, speed_place(lane, T, s), T4)))
        if i > 0:
            accumulate(lane, ws, H + BODY*i + FURTHER, more)


# ---- pairs -------------------------------------------------------------------------------------------------------------
@leaf
def describe_speeds(lane, ws, route, T):
    """Quantities of all speeds that the pairs need [B 61-62]."""
    quads = quads_of(ws)
    for i in range(packs_until(lane, read(route, f.COLUMNS_SPEEDS))):
        (V_i, A_i, V_k), (R, U, momentum, F) = motion_of(lane, ws, route, i), sums_of(lane, ws, route, i)
        at = pack_place(lane, T, i)
        S = load_apart(quads, ws, at, S_)
        psi = motion_cross(V_i, S)
        chi = add(motion_cross(A_i, S), motion_cross(V_i, psi))
        phi = add(psi, motion_cross(V_k, S))
        t1 = add(composite_times(R, chi), wrench_cross(S, F))
        t1 = add(t1, scale(2.0, (trace_less(U, psi[0]), cross(psi[0], momentum))))
        t2 = add(composite_times(R, phi), scale(2.0, (trace_less(U, S[0]), cross(S[0], momentum))))
        t3 = scale(2.0, add(trace_less_transposed(U, S[0]), cross(momentum, S[1])))
        store3_apart(quads, ws, at, PSI, psi[0])
        store_apart(quads, ws, at, CHI, chi)
        store_apart(quads, ws, at, PHI, phi)
        store_apart(quads, ws, at, T1, t1)
        store_apart(quads, ws, at, T2, t2)
        store3_apart(quads, ws, at, T3, t3)


@leaf
def pair(lane, ws, T, i, of_j):
    """Entries for speed j and pack i: derivatives of tau_j with respect to their q and v, and of their tau with respect to q_j
    and v_j [B 62]."""
    quads, at, (S, psi, chi, phi) = quads_of(ws), pack_place(lane, T, i), of_j
    t3, t4 = load3_apart(quads, ws, at, T3), load_apart(quads, ws, at, T4)
    return (six(quads, ws, at, T1, S), six(quads, ws, at, T2, S),
            dot(psi, t3) + spatial_dot(chi, t4), dot(S[0], t3) + spatial_dot(phi, t4))


@leaf
def inner_speed(lane, ws, T, j):
    """Quantities of the inner speed of a pair."""
    at = speed_place(lane, T, j)
    return (load_apart(lane, ws, at, S_), load3_apart(lane, ws, at, PSI), load_apart(lane, ws, at, CHI),
            load_apart(lane, ws, at, PHI))


@leaf
def fill_pairs(lane, ws, route, T):
    """Derivatives of inverse dynamics with respect to q and v, into the first two blocks of B."""
    B, length, scratch = read(route, f.COLUMNS_B), read(route, f.COLUMNS_PADDED), read(route, f.COLUMNS_SCRATCH)
    for j in range(read(route, f.COLUMNS_SPEEDS) - 1, -1, -1):
        of_j, (begin, end) = inner_speed(lane, ws, T, j), packs_of(lane, route, j)
        for i in range(begin, end):
            up, down = column_place(B, length, j, first_of(lane, i)), column_place(B, length, first_of(lane, i), j)
            q_up, v_up, q_down, v_down = pair(lane, ws, T, i, of_j)
            put_side_by_side(lane, ws, up, q_up)
            put_side_by_side(lane, ws, up + 4, v_up)
            put_apart(lane, ws, down, 12, q_down)
            put_apart(lane, ws, down + 4, 12, v_down)
    for j in range(read(route, f.COLUMNS_SPEEDS) if width_of(lane) == 1 else 0):
        for last in range(2):
            i, begin, end = rest_of(lane, route, j, last)
            if begin < end:
                up, down = column_place(B, length, j, 4*i), column_place(B, length, 4*i, j)
                q_up, v_up, q_down, v_down = pair(lane, ws, T, i, inner_speed(lane, ws, T, j))
                put_some(lane, ws, up, 1, 4*i, begin, end, q_up, scratch)
                put_some(lane, ws, up + 4, 1, 4*i, begin, end, v_up, scratch)
                put_some(lane, ws, down, 12, 4*i, begin, end, q_down, scratch)
                put_some(lane, ws, down + 4, 12, 4*i, begin, end, v_down, scratch)


@leaf
def subtract_own_wrench(lane, plan, ws, route, H, T):
    """Two speeds of one hinge: subtract S_j.(S_i x* F) [B 62]."""
    for k in range(1, read(plan, f.N_HINGES) + 1):
        kind, first = read(plan, hinge_row(plan, k) + f.KIND), read(route, read(route, f.COLUMNS_FIRSTS) + k)
        if kind == SPHERICAL or kind == FREE:
            first += 3 if kind == FREE else 0
            F = load_spatial(lane, ws, H + BODY*k + SUM_F)
            for s in range(first + 1, first + 3):
                X = wrench_cross(load_apart(lane, ws, speed_place(lane, T, s), S_), F)
                for j in range(first, s):
                    S = load_apart(lane, ws, speed_place(lane, T, j), S_)
                    accumulate(lane, ws, entry_place(route, 0, j, s), -spatial_dot(S, X))


@leaf
def add_springs(lane, plan, pars, ws, route):
    """Add joint springs and dampers to the derivatives of inverse dynamics."""
    for j in range(read(plan, f.N_SPRINGS)):
        row, p = read(plan, f.SPRINGS) + j*f.SPRING_ROW, read(plan, f.PAR_SPRINGS) + j*f.SPRING_PARS
        s = read(route, read(route, f.COLUMNS_OF_V) + read(plan, row + f.SPRING_TAU) - read(plan, f.WS_U))
        if read(plan, row + f.SPRING_ACTS):
            accumulate(lane, ws, entry_place(route, 0, s, s), zero(lane) + read(pars, p + f.STIFFNESS))
            accumulate(lane, ws, entry_place(route, 1, s, s), zero(lane) + read(pars, p + f.DAMPING))


@sweep(features=(), excludes="flexible", method="derivatives", rounds=2)
def fill_closed_form(lane, plan, pars, ws, route):
    """After weigh_tree, with B empty: derivatives of inverse dynamics into B."""
    noinline()
    T = read(route, f.COLUMNS_T)
    describe_speeds(lane, ws, route, T)
    fill_pairs(lane, ws, route, T)
    subtract_own_wrench(lane, plan, ws, route, read(route, f.COLUMNS_H), T)
    add_springs(lane, plan, pars, ws, route)
