"""All derivatives of the dynamics of rigid trees in closed form, for every pair of speeds.

Spatial vectors are in inertial axes and about a point O at rest, where the origin of the tree's first body is now: V = (omega,
velocity of the body at O), A the rate of V less gravity.  A speed s of the hinge k has a motion S, and with V', A' of the inner
body

    psi = V' x S        chi = A' x S + V' x psi        phi = psi + V_k x S                                          [B 61]

Of a body with all that hangs on it: I its inertia, F its wrench, and of all its points x with velocities u the sums
U = sum m u x^T and p = sum m u, of which 2 B (a, b) = (2 (tr U - U) a, 2 a x p).  For a speed i outboard of (or equal to) j

    d tau_j/d q_i = S_j.t1   t1 = 2 B psi_i + I chi_i + S_i x* F       d tau_i/d q_j = t3.psi_j + t4.chi_j   t3 = (2 B)^T S_i
    d tau_j/d v_i = S_j.t2   t2 = 2 B S_i + I phi_i                    d tau_i/d v_j = t3.S_j + t4.phi_j     t4 = I S_i
    M_ij = t4.S_j            tau_i = S_i.F                                                                          [B 62]

and for two speeds of one hinge t1 is without S x* F.  Subtrees are contiguous, so that the speeds i come in packs: four of one
state, or one of four states.  The results go to B, see `sweeps.columns`, which solves with the mass matrix.
"""
from bough.kernels.algebra import axis_z, column, cross, outer, rotate, rotate_sym, spatial_dot, unrotate
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

# of each hinge: sums of its subtree, padded to packs; its place and velocity, later dA; V and A of its body; then what speeds
# further out add to F.  A FREE hinge has two: the second is for the body that has moved, but not turned
SUM_J, SUM_H, SUM_M, SUM_U, SUM_P, SUM_F, SUMS = 0, 6, 9, 10, 19, 22, 28
PLACE, SPATIAL_V, SPATIAL_A, FURTHER, BODY = 28, 36, 42, 48, 56
# of each speed, the first numbers of all speeds, then their second ones, and so on
S_, PSI, CHI, PHI, T1, T2, T3, T4, TORQUE, INERTIA, SPEED_NUMBERS = 0, 6, 9, 15, 21, 27, 33, 36, 42, 43, 44
SCRATCH = 8


@leaf
def speed_row(route, s):
    return read(route, f.COLUMNS_AT) + f.SPEED_ROW*s


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
def trace_less_times(U, a):
    return sub(scale(U[0] + U[4] + U[8], a), rotate(U, a))


@leaf
def trace_less_transposed(U, a):
    return sub(scale(U[0] + U[4] + U[8], a), unrotate(U, a))


@leaf
def spread(J):
    """sum m x x^T of an inertia."""
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


# ---- numbers of speeds, n apart (or packs of them) ----------------------------------------------------------------------------
@leaf
def load_apart(lane, ws, at, n):
    """A spatial vector."""
    return ((load(lane, ws, at), load(lane, ws, at + n), load(lane, ws, at + 2*n)),
            (load(lane, ws, at + 3*n), load(lane, ws, at + 4*n), load(lane, ws, at + 5*n)))


@leaf
def load3_apart(lane, ws, at, n):
    return load(lane, ws, at), load(lane, ws, at + n), load(lane, ws, at + 2*n)


@leaf
def store3_apart(lane, ws, at, n, u):
    store(lane, ws, at, u[0])
    store(lane, ws, at + n, u[1])
    store(lane, ws, at + 2*n, u[2])


@leaf
def store_apart(lane, ws, at, n, F):
    store3_apart(lane, ws, at, n, F[0])
    store3_apart(lane, ws, at + 3*n, n, F[1])


# ---- bodies ------------------------------------------------------------------------------------------------------------
@leaf
def store_axes(lane, ws, at, n, p, C):
    """S of the turns about the axes of a body at p."""
    for c in range(3):
        e = column(C, c)
        store_apart(lane, ws, at + c, n, (e, cross(p, e)))


@leaf
def scatter_places(lane, plan, pars, ws, route, H, T, n):
    """Places and velocities of all bodies, S of all speeds."""
    zeros = (zero(lane), zero(lane), zero(lane))
    store(lane, ws, H + PLACE, (zeros, zeros))
    store(lane, ws, H + SPATIAL_V, (zeros, zeros))
    store(lane, ws, H + SPATIAL_A, (zeros, scale(-1.0, read3(pars, f.GRAVITY))))
    for k in range(1, read(plan, f.N_HINGES) + 1):
        row, at, s = hinge_row(plan, k), H + BODY*k, T + read(route, read(route, f.COLUMNS_FIRSTS) + k)
        i, kind, record = read(plan, row + f.INNER), read(plan, row + f.KIND), read(plan, row + f.RECORD)
        C, r = load9(lane, ws, record + f.ATTITUDE), load3(lane, ws, record + f.OFFSET)
        p, v = load_spatial(lane, ws, H + BODY*i + PLACE)
        v = add(v, cross(load3(lane, ws, record_of(plan, i) + f.RATE), r))
        if i > 0:                                                   # else this is O
            p = add(p, r)
        e = axis_z(C)
        if kind == REVOLUTE:
            store_apart(lane, ws, s, n, (e, cross(p, e)))
        elif kind == PRISMATIC:
            v = add(v, scale(load(lane, ws, read(plan, row + f.V)), e))
            store_apart(lane, ws, s, n, (zeros, e))
        elif kind == SPHERICAL:
            store_axes(lane, ws, s, n, p, C)
        elif kind == FREE:
            F, moved = hinge_attitude(pars, k), read(route, speed_row(route, s - T) + f.SPEED_OUTER)
            v = add(v, rotate(F, load3(lane, ws, read(plan, row + f.V))))
            store(lane, ws, moved, ((zeros, v), (zeros, load3(lane, ws, record + f.ACCELERATION + 3))))
            for c in range(3):
                store_apart(lane, ws, s + c, n, (zeros, add(zeros, column(F, c))))
            store_axes(lane, ws, s + 3, n, p, C)
        store(lane, ws, at + PLACE, (p, v))
        store(lane, ws, at + FURTHER, (zeros, zeros))


# ---- bodies in packs: four of one state, or one of four states -----------------------------------------------------------------
@leaf
def across_four(table, a, b, c, d, at):
    """Four numbers, `at` behind each of four places."""
    return transposed(load_four(table, a + at), load_four(table, b + at), load_four(table, c + at), load_four(table, d + at))


@leaf
def put_four(ws, a, b, c, d, at, x):
    """The same back."""
    x = transposed(x[0], x[1], x[2], x[3])
    store_four(ws, a + at, x[0])
    store_four(ws, b + at, x[1])
    store_four(ws, c + at, x[2])
    store_four(ws, d + at, x[3])


@leaf
def bodies_of(plan, i):
    """Of one state, the bodies of pack i; the last one is repeated."""
    first, last = 4*i + 1, read(plan, f.N_HINGES)
    return first, min(first + 1, last), min(first + 2, last), min(first + 3, last)


def motion_of_bodies(lane, plan, ws, i):
    """Attitude, rate and acceleration."""
    k, l, m, n = bodies_of(plan, i)
    k, l, m, n = record_of(plan, k), record_of(plan, l), record_of(plan, m), record_of(plan, n)
    (a, b, c, d), (e, g, h, j) = across_four(ws, k, l, m, n, 0), across_four(ws, k, l, m, n, 4)
    (o, p, q, r), (s, t, u, v) = across_four(ws, k, l, m, n, 8), across_four(ws, k, l, m, n, 12)
    w, x, _, _ = across_four(ws, k, l, m, n, 16)
    return (a, b, c, d, e, g, h, j, o), (p, q, r), ((s, t, u), (v, w, x))


motion_of_bodies = one_state_only(motion_of_bodies, lambda lane, plan, ws, i: load_motion(lane, ws, record_of(plan, i + 1)))


def places_of_bodies(lane, plan, ws, H, i):
    k, l, m, n = bodies_of(plan, i)
    a, b, c, d = across_four(ws, H + BODY*k, H + BODY*l, H + BODY*m, H + BODY*n, PLACE)
    e, g, _, _ = across_four(ws, H + BODY*k, H + BODY*l, H + BODY*m, H + BODY*n, PLACE + 4)
    return (a, b, c), (d, e, g)


places_of_bodies = one_state_only(places_of_bodies, lambda lane, plan, ws, H, i: load_spatial(lane, ws, H + BODY*(i + 1) + PLACE))


def own_four(lane, plan, pars, ws, k, at):
    """Four of the numbers of body k, mass, first moment and inertia; of propellant those of now [B 87]."""
    place = read(plan, hinge_row(plan, k) + f.MASSIVE)
    return load_four(ws, place + at) if place > 1 else load_four(pars, k*f.HINGE_PARS + f.MASS + at)


tanks_only(own_four, lambda lane, plan, pars, ws, k, at: load_four(pars, k*f.HINGE_PARS + f.MASS + at))


@leaf
def own_across(lane, plan, pars, ws, i, at):
    k, l, m, n = bodies_of(plan, i)
    return transposed(own_four(lane, plan, pars, ws, k, at), own_four(lane, plan, pars, ws, l, at),
                      own_four(lane, plan, pars, ws, m, at), own_four(lane, plan, pars, ws, n, at))


def composites_of_bodies(lane, plan, pars, ws, i, C):
    """Own inertias, about the origins of the bodies."""
    m, x, y, z = own_across(lane, plan, pars, ws, i, 0)
    xx, xy, xz, yy = own_across(lane, plan, pars, ws, i, 4)
    _, _, yz, zz = own_across(lane, plan, pars, ws, i, 6)
    return rotate_sym(C, (xx, xy, xz, yy, yz, zz)), rotate(C, (x, y, z)), m


composites_of_bodies = one_state_only(composites_of_bodies, lambda lane, plan, pars, ws, i, C: own_composite(
    lane, plan, pars, ws, i + 1, C))


def store_bodies(lane, plan, ws, H, i, sums, motion):
    """The sums of each body alone; V and A."""
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


def store_body(lane, plan, ws, H, i, sums, motion):
    store(lane, ws, H + BODY*(i + 1), sums)
    store(lane, ws, H + BODY*(i + 1) + SPATIAL_V, motion)


store_bodies = one_state_only(store_bodies, store_body)


@leaf
def weigh_bodies(lane, plan, pars, ws, H):
    """V and A of all bodies; the sums of each body alone."""
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
    """Tips to root: the sums of all subtrees."""
    quads = quads_of(ws)
    for k in range(read(plan, f.N_HINGES), 0, -1):
        i = read(plan, hinge_row(plan, k) + f.INNER)
        if i > 0:
            to, source = pack_of(lane, H + BODY*i), pack_of(lane, H + BODY*k)
            for j in range(pack_of(lane, SUMS)):
                accumulate(quads, ws, to + j, load(quads, ws, source + j))


def four_of(lane, ws, route, i, which, at):
    """Of one state: four numbers of pack i from what each of its speeds has at `which`, `at` numbers behind."""
    row = speed_row(route, 4*i) + which
    return across_four(ws, read(route, row), read(route, row + f.SPEED_ROW), read(route, row + 2*f.SPEED_ROW),
                       read(route, row + 3*f.SPEED_ROW), at)


four_of = one_state_only(four_of, lambda lane, ws, route, i, which, at: load4(
    lane, ws, read(route, speed_row(route, i) + which) + at))


@leaf
def sums_of(lane, ws, route, i):
    """(J, h, m), U, p, F of what the speeds of pack i move."""
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
    """V' and A' of what the speeds of pack i move against, V of what they move."""
    a, b, c, d = four_of(lane, ws, route, i, f.SPEED_INNER, 0)
    e, g, h, j = four_of(lane, ws, route, i, f.SPEED_INNER, 4)
    k, l, m, n = four_of(lane, ws, route, i, f.SPEED_INNER, 8)
    o, p, q, r = four_of(lane, ws, route, i, f.SPEED_OUTER, 0)
    s, t, _, _ = four_of(lane, ws, route, i, f.SPEED_OUTER, 4)
    return ((a, b, c), (d, e, g)), ((h, j, k), (l, m, n)), ((o, p, q), (r, s, t))


# ---- speeds: torques and mass matrix -------------------------------------------------------------------------------------
@leaf
def weigh_speeds(lane, ws, route, T, n):
    """t4 = I S and tau = S.F of all speeds, F that of the motion in ws."""
    quads, packs, at = quads_of(ws), pack_of(lane, n), pack_of(lane, T)
    for i in range(packs_until(lane, read(route, f.COLUMNS_SPEEDS))):
        R, _, _, F = sums_of(lane, ws, route, i)
        S = load_apart(quads, ws, at + i, packs)
        store_apart(quads, ws, at + T4*packs + i, packs, composite_times(R, S))
        store(quads, ws, at + TORQUE*packs + i, spatial_dot(S, F))


@leaf
def six(quads, ws, at, packs, S):
    (a, b, c), (d, e, g) = S
    return (a*load(quads, ws, at) + b*load(quads, ws, at + packs) + c*load(quads, ws, at + 2*packs)
            + d*load(quads, ws, at + 3*packs) + e*load(quads, ws, at + 4*packs) + g*load(quads, ws, at + 5*packs))


@leaf
def three(quads, ws, at, packs, a):
    return a[0]*load(quads, ws, at) + a[1]*load(quads, ws, at + packs) + a[2]*load(quads, ws, at + 2*packs)


def put_apart(lane, ws, to, step, begin, until, x, scratch):
    """Of one state: the numbers begin ... until of a pack, to places `step` apart."""
    if begin == 0 and until == 4:
        a, b, c, d = unpack4(x)
        store(lane, ws, to, a)
        store(lane, ws, to + step, b)
        store(lane, ws, to + 2*step, c)
        store(lane, ws, to + 3*step, d)
    else:
        store(quads_of(ws), ws, scratch//4, x)
        for l in range(begin, until):
            store(lane, ws, to + step*l, load(lane, ws, scratch + l))


put_apart = one_state_only(put_apart, lambda lane, ws, to, step, begin, until, x, scratch: store(lane, ws, to, x))


def share_of(lane, route, row, i):
    """Of one state: which numbers of pack i can be written of the entries of a speed (at `row`) with those that it moves."""
    return max(read(route, row + f.SPEED_WRITES) - 4*i, 0), min(read(route, row + f.SPEED_UNTIL) - 4*i, 4)


share_of = one_state_only(share_of, lambda lane, route, row, i: (0, 1))


@leaf
def first_of(lane, i):
    """The first speed of pack i."""
    return 4*i//width_of(lane)


@leaf
def entry_place(route, block, s, column):
    """Where the derivative of speed s by q (block 0), v or tau of the speed `column` is."""
    return read(route, f.COLUMNS_B) + 12*(column//4*read(route, f.COLUMNS_PADDED) + s) + 4*block + column % 4


@leaf
def fill_inertias(lane, ws, route, T, n):
    """The mass matrix on paths: for each speed, its entries with those that move it, and with itself [B 62]."""
    quads, packs, at = quads_of(ws), pack_of(lane, n), pack_of(lane, T)
    P, width, scratch = read(route, f.COLUMNS_P), read(route, f.COLUMNS_WIDTH), read(route, f.COLUMNS_SCRATCH)
    for j in range(read(route, f.COLUMNS_SPEEDS) - 1, -1, -1):
        S, row = load_apart(lane, ws, T + j, n), speed_row(route, j)
        depth = read(route, row + f.SPEED_DEPTH)
        for i in range(pack_of(lane, j), packs_until(lane, read(route, row + f.SPEED_END))):
            begin, until = share_of(lane, route, row, i)
            put_apart(lane, ws, P + width*first_of(lane, i) + depth, width, begin, until,
                      six(quads, ws, at + T4*packs + i, packs, S), scratch)


@sweep(excludes="flexible", method="derivatives", rounds=2)
def weigh_tree(lane, plan, pars, ws, route):
    """After a motion sweep: torques of that motion by speed, the mass matrix on paths."""
    noinline()
    H, T, n = read(route, f.COLUMNS_H), read(route, f.COLUMNS_T), read(route, f.COLUMNS_PADDED)
    scatter_places(lane, plan, pars, ws, route, H, T, n)
    weigh_bodies(lane, plan, pars, ws, H)
    gather_sums(lane, plan, ws, H)
    weigh_speeds(lane, ws, route, T, n)
    fill_inertias(lane, ws, route, T, n)


@leaf
def accelerate_tree(lane, plan, ws, route, H, T, n):
    """A and F without v' -> those with it: A has dA = sum S v' over the path more, F has I dA and t4 v' of all speeds further
    out."""
    zeros, firsts = (zero(lane), zero(lane), zero(lane)), read(route, f.COLUMNS_FIRSTS)
    store(lane, ws, H + PLACE, (zeros, zeros))
    for k in range(1, read(plan, f.N_HINGES) + 1):
        row, at, s = hinge_row(plan, k), H + BODY*k, T + read(route, firsts + k)
        dA, kind = load_spatial(lane, ws, H + BODY*read(plan, row + f.INNER) + PLACE), read(plan, row + f.KIND)
        for c in range(n_speeds(kind)):
            dA = add(dA, scale(load(lane, ws, s + c + TORQUE*n), load_apart(lane, ws, s + c, n)))
            if kind == FREE and c == 2:
                accumulate(lane, ws, read(route, speed_row(route, s - T) + f.SPEED_OUTER) + SPATIAL_A - SPATIAL_V, dA)
        store(lane, ws, at + PLACE, dA)
        accumulate(lane, ws, at + SPATIAL_A, dA)
    for k in range(read(plan, f.N_HINGES), 0, -1):
        row, at, s = hinge_row(plan, k), H + BODY*k, T + read(route, firsts + k)
        more, i = load_spatial(lane, ws, at + FURTHER), read(plan, row + f.INNER)
        dA = load_spatial(lane, ws, at + PLACE)
        accumulate(lane, ws, at + SUM_F, add(more, composite_times(load_composite(lane, ws, at + SUM_J), dA)))
        for c in range(n_speeds(read(plan, row + f.KIND))):
            more = add(more, scale(load(lane, ws, s + c + TORQUE*n), load_apart(lane, ws, s + c + T4*n, n)))
        if i > 0:
            accumulate(lane, ws, H + BODY*i + FURTHER, more)


# ---- pairs -------------------------------------------------------------------------------------------------------------
@leaf
def describe_speeds(lane, ws, route, T, n):
    """What the pairs need of all speeds [B 61-62]."""
    quads, packs = quads_of(ws), pack_of(lane, n)
    for i in range(packs_until(lane, read(route, f.COLUMNS_SPEEDS))):
        at, (V_i, A_i, V_k), (R, U, momentum, F) = pack_of(lane, T) + i, motion_of(lane, ws, route, i), sums_of(lane, ws, route, i)
        S = load_apart(quads, ws, at, packs)
        psi = motion_cross(V_i, S)
        chi = add(motion_cross(A_i, S), motion_cross(V_i, psi))
        phi = add(psi, motion_cross(V_k, S))
        t1 = add(composite_times(R, chi), wrench_cross(S, F))
        t1 = add(t1, scale(2.0, (trace_less_times(U, psi[0]), cross(psi[0], momentum))))
        t2 = add(composite_times(R, phi), scale(2.0, (trace_less_times(U, S[0]), cross(S[0], momentum))))
        t3 = scale(2.0, add(trace_less_transposed(U, S[0]), cross(momentum, S[1])))
        store3_apart(quads, ws, at + PSI*packs, packs, psi[0])
        store_apart(quads, ws, at + CHI*packs, packs, chi)
        store_apart(quads, ws, at + PHI*packs, packs, phi)
        store_apart(quads, ws, at + T1*packs, packs, t1)
        store_apart(quads, ws, at + T2*packs, packs, t2)
        store3_apart(quads, ws, at + T3*packs, packs, t3)


def put_side_by_side(lane, ws, to, begin, until, x, scratch):
    """Of one state: the numbers begin ... until of a pack, to a pack."""
    if begin == 0 and until == 4:
        store(quads_of(ws), ws, to//4, x)
    else:
        put_apart(lane, ws, to, 1, begin, until, x, scratch)


put_side_by_side = one_state_only(put_side_by_side, lambda lane, ws, to, begin, until, x, scratch: store(lane, ws, to, x))


@leaf
def fill_pairs(lane, ws, route, T, n):
    """Derivatives of inverse dynamics by q and v into the first two blocks of B [B 62]."""
    quads, packs, at, scratch = quads_of(ws), pack_of(lane, n), pack_of(lane, T), read(route, f.COLUMNS_SCRATCH)
    for j in range(read(route, f.COLUMNS_SPEEDS) - 1, -1, -1):
        S, psi, row = load_apart(lane, ws, T + j, n), load3_apart(lane, ws, T + PSI*n + j, n), speed_row(route, j)
        chi, phi = load_apart(lane, ws, T + CHI*n + j, n), load_apart(lane, ws, T + PHI*n + j, n)
        for i in range(pack_of(lane, j), packs_until(lane, read(route, row + f.SPEED_END))):
            (begin, until), first = share_of(lane, route, row, i), first_of(lane, i)
            up, down = entry_place(route, 0, j, first), entry_place(route, 0, first, j)
            put_side_by_side(lane, ws, up, begin, until, six(quads, ws, at + T1*packs + i, packs, S), scratch)
            put_side_by_side(lane, ws, up + 4, begin, until, six(quads, ws, at + T2*packs + i, packs, S), scratch + 4)
            by_q = three(quads, ws, at + T3*packs + i, packs, psi) + six(quads, ws, at + T4*packs + i, packs, chi)
            by_v = three(quads, ws, at + T3*packs + i, packs, S[0]) + six(quads, ws, at + T4*packs + i, packs, phi)
            put_apart(lane, ws, down, 12, begin, until, by_q, scratch)
            put_apart(lane, ws, down + 4, 12, begin, until, by_v, scratch + 4)


@leaf
def take_wrench_from_own(lane, plan, ws, route, H, T, n):
    """Two speeds of one hinge: without S_j.(S_i x* F) [B 62]."""
    for k in range(1, read(plan, f.N_HINGES) + 1):
        kind, first = read(plan, hinge_row(plan, k) + f.KIND), read(route, read(route, f.COLUMNS_FIRSTS) + k)
        if kind == SPHERICAL or kind == FREE:
            first += 3 if kind == FREE else 0
            F = load_spatial(lane, ws, H + BODY*k + SUM_F)
            for s in range(first + 1, first + 3):
                X = wrench_cross(load_apart(lane, ws, T + s, n), F)
                for j in range(first, s):
                    accumulate(lane, ws, entry_place(route, 0, j, s), -spatial_dot(load_apart(lane, ws, T + j, n), X))


@leaf
def add_springs(lane, plan, pars, ws, route):
    """What springs and dampers of joints add to the torques that inverse dynamics asks for."""
    for j in range(read(plan, f.N_SPRINGS)):
        row, p = read(plan, f.SPRINGS) + j*f.SPRING_ROW, read(plan, f.PAR_SPRINGS) + j*f.SPRING_PARS
        s = read(route, read(route, f.COLUMNS_OF_V) + read(plan, row + f.SPRING_TAU) - read(plan, f.WS_U))
        if read(plan, row + f.SPRING_ACTS):
            accumulate(lane, ws, entry_place(route, 0, s, s), zero(lane) + read(pars, p + f.STIFFNESS))
            accumulate(lane, ws, entry_place(route, 1, s, s), zero(lane) + read(pars, p + f.DAMPING))


@sweep(excludes="flexible", method="derivatives", rounds=2)
def fill_closed_form(lane, plan, pars, ws, route):
    """After weigh_tree, B empty: derivatives of inverse dynamics in B."""
    noinline()
    H, T, n = read(route, f.COLUMNS_H), read(route, f.COLUMNS_T), read(route, f.COLUMNS_PADDED)
    describe_speeds(lane, ws, route, T, n)
    fill_pairs(lane, ws, route, T, n)
    take_wrench_from_own(lane, plan, ws, route, H, T, n)
    add_springs(lane, plan, pars, ws, route)
