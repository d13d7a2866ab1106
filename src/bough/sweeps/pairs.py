"""All derivatives of the dynamics of rigid trees in closed form, for every pair of speeds.

Spatial vectors are in inertial axes and about the ground's origin O here: V = (omega, velocity of the body at O), A the rate of V
less gravity.  A speed s of the hinge k has a motion S, and with V', A' of the inner body

    psi = V' x S        chi = A' x S + V' x psi        phi = psi + V_k x S                                          [B 61]

Of a body with all that hangs on it: I its inertia, F its wrench, and of all its points x with velocities u the sums
U = sum m u x^T and p = sum m u, of which 2 B (a, b) = (2 (tr U - U) a, 2 a x p).  For a speed i outboard of (or equal to) j

    d tau_j/d q_i = S_j.t1   t1 = 2 B psi_i + I chi_i + S_i x* F       d tau_i/d q_j = t3.psi_j + t4.chi_j   t3 = (2 B)^T S_i
    d tau_j/d v_i = S_j.t2   t2 = 2 B S_i + I phi_i                    d tau_i/d v_j = t3.S_j + t4.phi_j     t4 = I S_i
    M_ij = t4.S_j                                                                                                   [B 62]

and for two speeds of one hinge t1 is without S x* F.  Subtrees are contiguous, so that the speeds i come in packs: four of one
state, or one of four states.  The results go to B, see `sweeps.columns`, which solves with the mass matrix.
"""
from bough.kernels.algebra import cross, dot, outer, rotate, shift_wrench, unrotate
from bough.kernels.hinges import FREE, PRISMATIC, REVOLUTE, SPHERICAL, hinge_column
from bough.kernels.jit import leaf
from bough.kernels.lanes import (accumulate, add, load, load3, load9, load_mass, load_spatial, noinline, one_state_only, quads_of,
                                 read, read3, scale, store, sub, zero)
from bough.kernels.linker import sweep
from bough.sweeps import fields as f
from bough.sweeps.blocks import pack_of, packs_until
from bough.sweeps.composite import composite_times, own_composite, shift_composite
from bough.sweeps.tree_motion import hinge_attitude, hinge_row, load_motion

# of each hinge: sums of its subtree, padded to packs; its place and velocity; V and A of its body about O
SUM_J, SUM_H, SUM_M, SUM_U, SUM_P, SUM_F, SUMS = 0, 6, 9, 10, 19, 22, 28
PLACE, SPEED, SPATIAL_V, SPATIAL_A, BODY = 28, 31, 34, 40, 48
# of each speed, for packs: t1, t2, t3, t4; and one by one: S, psi (angular), chi, phi
T1, T2, T3, T4, T_ROWS = 0, 6, 12, 15, 21
C_S, C_PSI, C_CHI, C_PHI, C_ROW = 0, 6, 9, 15, 24
SCRATCH = 20


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


@leaf
def scatter_places(lane, plan, pars, ws, H):
    """Places, velocities, V and A of all bodies about O; the sums of each body alone."""
    o = (zero(lane), zero(lane), zero(lane))
    store(lane, ws, H + PLACE, (o, o))
    store(lane, ws, H + SPATIAL_V, (o, o))
    store(lane, ws, H + SPATIAL_A, (o, scale(-1.0, read3(pars, f.GRAVITY))))
    for k in range(1, read(plan, f.N_HINGES) + 1):
        row, at = hinge_row(plan, k), H + BODY*k
        i, kind, record = read(plan, row + f.INNER), read(plan, row + f.KIND), read(plan, row + f.RECORD)
        C, omega, (alpha, a) = load_motion(lane, ws, record)
        r, (p, v) = load3(lane, ws, record + f.OFFSET), load_spatial(lane, ws, H + BODY*i + PLACE)
        v = add(v, cross(load3(lane, ws, H + BODY*i + SPATIAL_V), r))
        if kind == PRISMATIC:
            v = add(v, scale(load(lane, ws, read(plan, row + f.V)), (C[2], C[5], C[8])))
        elif kind == FREE:
            v = add(v, rotate(hinge_attitude(pars, k), load3(lane, ws, read(plan, row + f.V))))
        p = add(p, r)
        v_O = sub(v, cross(omega, p))
        store(lane, ws, at + PLACE, (p, v))
        store(lane, ws, at + SPATIAL_V, (omega, v_O))
        store(lane, ws, at + SPATIAL_A, (alpha, sub(sub(a, cross(alpha, p)), cross(omega, v))))
        if read(plan, row + f.MASSIVE):
            J, h, m = shift_composite(p, own_composite(lane, plan, pars, ws, k, C))
            momentum = add(scale(m, v_O), cross(omega, h))
            store(lane, ws, at + SUM_J, ((J, h), m))
            store(lane, ws, at + SUM_U, (add(outer(v_O, h), skew_times_sym(omega, spread(J))), momentum))
            store(lane, ws, at + SUM_F, shift_wrench(p, load_spatial(lane, ws, record + f.GAIN)))
        else:
            for j in range(SUMS):
                store(lane, ws, at + j, zero(lane))


@leaf
def describe_speed(lane, ws, T, K, s, n, S, V_i, A_i, V_k, sums):
    """What the pairs need of a speed [B 61-62]."""
    J, h, m, U, momentum, F = sums
    psi = motion_cross(V_i, S)
    chi = add(motion_cross(A_i, S), motion_cross(V_i, psi))
    phi = add(psi, motion_cross(V_k, S))
    R = J, h, m
    t1 = add(composite_times(R, chi), wrench_cross(S, F))
    t1 = add(t1, scale(2.0, (trace_less_times(U, psi[0]), cross(psi[0], momentum))))
    t2 = add(composite_times(R, phi), scale(2.0, (trace_less_times(U, S[0]), cross(S[0], momentum))))
    t3 = scale(2.0, add(trace_less_transposed(U, S[0]), cross(momentum, S[1])))
    store_across(lane, ws, T + s, n, T1, t1)
    store_across(lane, ws, T + s, n, T2, t2)
    store(lane, ws, T + T3*n + s, t3[0])
    store(lane, ws, T + (T3 + 1)*n + s, t3[1])
    store(lane, ws, T + (T3 + 2)*n + s, t3[2])
    store_across(lane, ws, T + s, n, T4, composite_times(R, S))
    store(lane, ws, K + C_ROW*s + C_S, (S, psi[0]))
    store(lane, ws, K + C_ROW*s + C_CHI, (chi, phi))


@leaf
def store_across(lane, ws, to, n, row, F):
    """Six numbers, n apart."""
    (a, b, c), (d, e, g) = F
    store(lane, ws, to + row*n, a)
    store(lane, ws, to + (row + 1)*n, b)
    store(lane, ws, to + (row + 2)*n, c)
    store(lane, ws, to + (row + 3)*n, d)
    store(lane, ws, to + (row + 4)*n, e)
    store(lane, ws, to + (row + 5)*n, g)


@leaf
def gather_sums(lane, plan, pars, ws, route, H, T, K, n):
    """Tips to root: sums of all subtrees; what the pairs need of each speed."""
    quads, o, firsts = quads_of(ws), (zero(lane), zero(lane), zero(lane)), read(route, f.COLUMNS_FIRSTS)
    for k in range(read(plan, f.N_HINGES), 0, -1):
        row, at = hinge_row(plan, k), H + BODY*k
        i, kind, record = read(plan, row + f.INNER), read(plan, row + f.KIND), read(plan, row + f.RECORD)
        J, h = load_mass(lane, ws, at + SUM_J)
        sums = (J, h, load(lane, ws, at + SUM_M), load9(lane, ws, at + SUM_U), load3(lane, ws, at + SUM_P),
                load_spatial(lane, ws, at + SUM_F))
        V_i, A_i = load_spatial(lane, ws, H + BODY*i + SPATIAL_V), load_spatial(lane, ws, H + BODY*i + SPATIAL_A)
        V_k = load_spatial(lane, ws, at + SPATIAL_V)
        p, C, s = load3(lane, ws, at + PLACE), load9(lane, ws, record + f.ATTITUDE), read(route, firsts + k)
        if kind == REVOLUTE:
            e = (C[2], C[5], C[8])
            describe_speed(lane, ws, T, K, s, n, (e, cross(p, e)), V_i, A_i, V_k, sums)
        elif kind == PRISMATIC:
            describe_speed(lane, ws, T, K, s, n, (o, (C[2], C[5], C[8])), V_i, A_i, V_k, sums)
        elif kind == SPHERICAL or kind == FREE:
            if kind == FREE:
                F, slide = hinge_attitude(pars, k), (o, load3(lane, ws, at + SPEED))
                for c in range(3):
                    e = add(o, hinge_column(FREE, F, C, c)[1])
                    describe_speed(lane, ws, T, K, s + c, n, (o, e), V_i, A_i, slide, sums)
                s, V_i, A_i = s + 3, slide, (o, load3(lane, ws, record + f.ACCELERATION + 3))
            for c in range(3):
                e, _ = hinge_column(SPHERICAL, C, C, c)
                describe_speed(lane, ws, T, K, s + c, n, (e, cross(p, e)), V_i, A_i, V_k, sums)
        if i > 0:
            to, source = pack_of(lane, H + BODY*i), pack_of(lane, at)
            for j in range(pack_of(lane, SUMS)):
                accumulate(quads, ws, to + j, load(quads, ws, source + j))


# ---- pairs -------------------------------------------------------------------------------------------------------------
@leaf
def six(quads, ws, at, packs, S):
    (a, b, c), (d, e, g) = S
    return (a*load(quads, ws, at) + b*load(quads, ws, at + packs) + c*load(quads, ws, at + 2*packs)
            + d*load(quads, ws, at + 3*packs) + e*load(quads, ws, at + 4*packs) + g*load(quads, ws, at + 5*packs))


@leaf
def three(quads, ws, at, packs, a):
    return a[0]*load(quads, ws, at) + a[1]*load(quads, ws, at + packs) + a[2]*load(quads, ws, at + 2*packs)


@leaf
def entry_place(route, block, s, column):
    """Where the derivative of speed s by q (block 0), v or tau of the speed `column` is."""
    return read(route, f.COLUMNS_B) + 12*(column//4*read(route, f.COLUMNS_SPEEDS) + s) + 4*block + column % 4


def store_pairs(lane, ws, route, j, i, end, depth, found):
    """Of one state: entries of the speeds j < end of pack i with the speed j, both ways, and of the mass matrix."""
    quads, width, scratch = quads_of(ws), read(route, f.COLUMNS_WIDTH), read(route, f.COLUMNS_SCRATCH)
    begin, until, (q_down, v_down, M, q_up, v_up) = max(j - 4*i, 0), min(end - 4*i, 4), found
    to, P = entry_place(route, 0, j, 4*i), read(route, f.COLUMNS_P)
    store(quads, ws, scratch//4, (q_down, v_down, M, q_up, v_up))
    if begin == 0 and until == 4:
        store(quads, ws, to//4, q_up)
        store(quads, ws, to//4 + 1, v_up)
    else:
        for l in range(begin, until):
            store(lane, ws, to + l, load(lane, ws, scratch + 12 + l))
            store(lane, ws, to + 4 + l, load(lane, ws, scratch + 16 + l))
    column = entry_place(route, 0, 4*i, j)
    for l in range(begin, until):
        store(lane, ws, column + 12*l, load(lane, ws, scratch + l))
        store(lane, ws, column + 12*l + 4, load(lane, ws, scratch + 4 + l))
        store(lane, ws, P + width*(4*i + l) + depth, load(lane, ws, scratch + 8 + l))


def store_pairs_of_states(lane, ws, route, j, i, end, depth, found):
    """The same of four states, of which a pack has one number each."""
    q_down, v_down, M, q_up, v_up = found
    store(lane, ws, entry_place(route, 0, j, i), q_up)
    store(lane, ws, entry_place(route, 1, j, i), v_up)
    store(lane, ws, entry_place(route, 0, i, j), q_down)
    store(lane, ws, entry_place(route, 1, i, j), v_down)
    store(lane, ws, read(route, f.COLUMNS_P) + read(route, f.COLUMNS_WIDTH)*i + depth, M)


store_pairs = one_state_only(store_pairs, store_pairs_of_states)


@leaf
def fill_pairs(lane, ws, route, T, K, n):
    """Derivatives of inverse dynamics by q and v into the first two blocks of B, and M on the paths [B 62]."""
    quads, packs, at = quads_of(ws), pack_of(lane, n), pack_of(lane, T)
    for j in range(read(route, f.COLUMNS_SPEEDS)):
        row, speed = K + C_ROW*j, read(route, f.COLUMNS_AT) + f.SPEED_ROW*j
        S, psi = load_spatial(lane, ws, row + C_S), load3(lane, ws, row + C_PSI)
        chi, phi = load_spatial(lane, ws, row + C_CHI), load_spatial(lane, ws, row + C_PHI)
        end, depth = read(route, speed + f.SPEED_END), read(route, speed + f.SPEED_DEPTH)
        for i in range(pack_of(lane, j), packs_until(lane, end)):
            q_up, v_up = six(quads, ws, at + T1*packs + i, packs, S), six(quads, ws, at + T2*packs + i, packs, S)
            q_down = three(quads, ws, at + T3*packs + i, packs, psi) + six(quads, ws, at + T4*packs + i, packs, chi)
            v_down = three(quads, ws, at + T3*packs + i, packs, S[0]) + six(quads, ws, at + T4*packs + i, packs, phi)
            M = six(quads, ws, at + T4*packs + i, packs, S)
            store_pairs(lane, ws, route, j, i, end, depth, (q_down, v_down, M, q_up, v_up))


@leaf
def take_wrench_from_own(lane, plan, ws, route, H, K):
    """Two speeds of one hinge: without S_j.(S_i x* F) [B 62]."""
    for s in range(read(route, f.COLUMNS_SPEEDS)):
        speed = read(route, f.COLUMNS_AT) + f.SPEED_ROW*s
        k, c = read(route, speed + f.SPEED_HINGE), read(route, speed + f.SPEED_COMPONENT)
        kind = read(plan, hinge_row(plan, k) + f.KIND)
        first = 3 if kind == FREE else 0
        if (kind == SPHERICAL or kind == FREE) and c > first:
            X = wrench_cross(load_spatial(lane, ws, K + C_ROW*s + C_S), load_spatial(lane, ws, H + BODY*k + SUM_F))
            for j in range(s - c + first, s):
                S = load_spatial(lane, ws, K + C_ROW*j + C_S)
                accumulate(lane, ws, entry_place(route, 0, j, s), -(dot(S[0], X[0]) + dot(S[1], X[1])))


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
    """After scatter_motion and store_wrenches, B empty: derivatives of inverse dynamics in B, the mass matrix on paths in P."""
    noinline()
    H, T, K, n = read(route, f.COLUMNS_H), read(route, f.COLUMNS_T), read(route, f.COLUMNS_K), read(route, f.COLUMNS_PADDED)
    scatter_places(lane, plan, pars, ws, H)
    gather_sums(lane, plan, pars, ws, route, H, T, K, n)
    fill_pairs(lane, ws, route, T, K, n)
    take_wrench_from_own(lane, plan, ws, route, H, K)
    add_springs(lane, plan, pars, ws, route)
