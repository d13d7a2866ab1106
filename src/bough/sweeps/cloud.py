"""The Momentum Cloud Method: a floating system with given relative motions obeys six equations [MC 23].

Everything that the base carries with given relative motion is one cloud.  It moves like a rigid body, with an additional wrench
due to its motion relative to the base.  Sums over it are taken about the base's origin O, in inertial axes, in one outward pass:

    S, h, m     integrals of x x^T, x and 1 over the mass, x from O        (n, f)   wrench about O required by the remainder motion
    B           x'' - a = B (x - p) in a body:  B = alpha~ + omega~ omega~       p  position of a body's origin, from O

The remainder motion is the motion with zero acceleration of the base.  A hinge with an unknown coordinate (one degree of freedom)
starts a cloud of its own and adds one equation: the component of its wrench along the hinge is its torque (section 6
of the paper).

    U = (e, u)  motion at O due to a unit rate of the hinge      X = (n, f) of its cloud, and those outboard, for the motion U
"""
from bough.kernels.algebra import (IDENTITY, ZERO, axis_z, columns_of, combine, combine_columns, compose, cross, dot, factor,
                                   invert, parts, rate_matrix, rotate, rotate_sym, rows_of, shift_motion, shift_wrench, solve,
                                   spatial_dot, sym_outer, trace_less_sym, turn_columns, unrotate, vector, vector_cross)
from bough.kernels.linker import sweep
from bough.kernels.hinges import FREE, PRISMATIC, REVOLUTE, SPHERICAL, WELD, hinge_add, hinge_move
from bough.kernels.jit import leaf
from bough.kernels.lanes import (accumulate, across, add, get_lane, load, load3, load9, load_composite, load_spatial,
                                 one_state_only, quads_of, read, read3, read9, read_pack, scale, noinline, store, sub, zero)
from bough.sweeps.schema import cloud_method
from bough.sweeps.composite import composite_times, nothing_composite
from bough.sweeps.force_elements import apply_elements
from bough.sweeps import fields as f
from bough.sweeps.blocks import NOTHING
from bough.sweeps.dense import back_substitute_dense, factor_dense
from bough.sweeps.loads import apply_body_loads
from bough.sweeps.tree_motion import compute_sines, hinge_row, load_motion, sines_of

CLOUD_PLACE = f.GAIN                  # in a body's record: its origin from O


@leaf
def cloud_blocks(plan):
    """See `CLOUD_METHOD` in `sweeps.records`."""
    return cloud_method(read(plan, f.WS_MASS), read(plan, f.N_CLOUDS), read(plan, f.N_HINGES) - read(plan, f.CLOUD_BASE) + 1,
                        f.CLOUD_HEAD, f.CLOUD_STORE, f.CLOUD_U, f.CLOUD_BODY)


@leaf
def cloud_store(plan, c):
    """Position in ws of the record of cloud c; 0 is the base's."""
    return cloud_blocks(plan)[1] + c*f.CLOUD_STORE


@leaf
def cloud_row(plan, c):
    """Row of plan for the hinge that carries cloud c; the base's has none."""
    return read(plan, f.CLOUDS) + (c - 1)*f.CLOUD_ROW


# ---- outward: motion and sums -----------------------------------------------------------------------------------------
@leaf
def sym_axial(B, S):
    """Sum of x x (B x), from S, the sum of x x^T."""
    xx, xy, xz, yx, yy, yz, zx, zy, zz = B
    sxx, sxy, sxz, syy, syz, szz = S
    return (zx*sxy + zy*syy + zz*syz - yx*sxz - yy*syz - yz*szz,
            xx*sxz + xy*syz + xz*szz - zx*sxx - zy*sxy - zz*sxz,
            yx*sxx + yy*sxy + yz*sxz - xx*sxy - xy*syy - xz*syz)


@leaf
def body_sums(inertia, C, B, a, p):
    """S, h, m of a body about O, and the wrench about O required by its motion [S 52]."""
    S, h, m = inertia
    S, h = rotate_sym(C, S), rotate(C, h)
    force = add(scale(m, a), rotate(B, h))
    n = add(add(sym_axial(B, S), cross(h, a)), cross(p, force))
    g = add(h, scale(m, p))
    sxx, sxy, sxz, syy, syz, szz = S
    (px, py, pz), (hx, hy, hz), (gx, gy, gz) = p, h, g
    S_O = (sxx + px*(gx + hx), sxy + px*gy + hx*py, sxz + px*gz + hx*pz,                 # S + p g^T + h p^T
           syy + py*(gy + hy), syz + py*gz + hy*pz, szz + pz*(gz + hz))
    return (S_O, g, m), (n, force)


@leaf
def own_second_moments(plan, pars, i):
    """S, h, m of the i-th body after the base."""
    at = read(plan, f.PAR_CLOUD) + i//4*4*f.CLOUD_PARS + i % 4
    xx, xy, xz, yy, yz, zz = (read(pars, at), read(pars, at + 4), read(pars, at + 8), read(pars, at + 12), read(pars, at + 16),
                              read(pars, at + 20))
    return (xx, xy, xz, yy, yz, zz), (read(pars, at + 24), read(pars, at + 28), read(pars, at + 32)), read(pars, at + 36)


@leaf
def four_second_moments(lane, plan, pars, i):
    """own_second_moments of four bodies at a time."""
    at = read(plan, f.PAR_CLOUD)//4 + i*f.CLOUD_PARS
    S = (read_pack(lane, pars, at), read_pack(lane, pars, at + 1), read_pack(lane, pars, at + 2), read_pack(lane, pars, at + 3),
         read_pack(lane, pars, at + 4), read_pack(lane, pars, at + 5))
    h = read_pack(lane, pars, at + 6), read_pack(lane, pars, at + 7), read_pack(lane, pars, at + 8)
    return S, h, read_pack(lane, pars, at + 9)


@leaf
def bodies_at(plan):
    """Start of the body motions in ws, in packs of four."""
    return cloud_blocks(plan)[3]//4


@leaf
def body_at(plan, k):
    return bodies_at(plan) + (k - read(plan, f.CLOUD_BASE))*f.CLOUD_BODY


@leaf
def bodies_in_fours(plan):
    """Number of bodies from the base on, and number of packs they fill."""
    n = read(plan, f.N_HINGES) - read(plan, f.CLOUD_BASE) + 1
    return n, (n + 3)//4


def sum_body(lane, plan, pars, ws, k, motion):
    """Four states: add a body to the sums of its cloud."""
    row = hinge_row(plan, k)
    if read(plan, row + f.MASSIVE):
        (C, omega, alpha, a, p), inertia = motion, own_second_moments(plan, pars, k - read(plan, f.CLOUD_BASE))
        accumulate(lane, ws, cloud_store(plan, read(plan, row + f.CLOUD)) + f.CLOUD_SUMS,
                   body_sums(inertia, rows_of(lane, C), rate_matrix(alpha, omega), a, p))


@one_state_only(otherwise=sum_body)
def record_body(lane, plan, pars, ws, k, motion):
    """One state: store the motion of a body; sum_bodies does the sums."""
    store(quads_of(ws), ws, body_at(plan, k), motion)


@leaf
def four_vectors(quads, ws, at):
    """One vector of each of four bodies, as (x, y, z) packs."""
    return across(load(quads, ws, at), load(quads, ws, at + f.CLOUD_BODY), load(quads, ws, at + 2*f.CLOUD_BODY),
                  load(quads, ws, at + 3*f.CLOUD_BODY))


@leaf
def four_bodies(quads, ws, at):
    """C, B, a, p of four bodies."""
    (xx, yx, zx), (xy, yy, zy) = four_vectors(quads, ws, at + f.BODY_C), four_vectors(quads, ws, at + f.BODY_C + 1)
    xz, yz, zz = four_vectors(quads, ws, at + f.BODY_C + 2)
    B = rate_matrix(four_vectors(quads, ws, at + f.BODY_ALPHA), four_vectors(quads, ws, at + f.BODY_RATE))
    return (xx, xy, xz, yx, yy, yz, zx, zy, zz), B, four_vectors(quads, ws, at + f.BODY_A), four_vectors(quads, ws, at + f.BODY_P)


@one_state_only
def sum_bodies(lane, plan, pars, ws):
    """Sums of all clouds for one state, four bodies at a time."""
    quads, base, clouds = quads_of(ws), read(plan, f.CLOUD_BASE), read(plan, f.N_CLOUDS)
    n, fours = bodies_in_fours(plan)
    scratch = cloud_blocks(plan)[4]//4
    for i in range(bodies_at(plan) + n*f.CLOUD_BODY, scratch):  # unused lanes must be finite: mass zero
        store(quads, ws, i, zero(quads))
    total = nothing_summed(quads)
    for i in range(fours):
        C, B, a, p = four_bodies(quads, ws, bodies_at(plan) + 4*i*f.CLOUD_BODY)
        four = body_sums(four_second_moments(lane, plan, pars, i), C, B, a, p)
        if clouds == 0:
            total = add(total, four)
        else:
            store(quads, ws, scratch, four)
            for j in range(min(4, n - 4*i)):
                add_lane(lane, ws, cloud_store(plan, read(plan, hinge_row(plan, base + 4*i + j) + f.CLOUD)), scratch, j)
    if clouds == 0:
        store(quads, ws, scratch, total)
        for j in range(4):
            add_lane(lane, ws, cloud_store(plan, 0), scratch, j)


@leaf
def add_lane(lane, ws, to, scratch, j):
    """Add one lane of sums to those of a cloud."""
    for i in range(f.CLOUD_U):
        accumulate(lane, ws, to + f.CLOUD_SUMS + i, get_lane(quads_of(ws), ws, scratch + i, j))


@leaf
def move_base(lane, plan, pars, ws):
    """Attitude, rate and remainder acceleration of the base.  Stores E, the inverse transposes of the maps of its joint: three
    translations and three rotations, the latter [MC 22] or the body's axes."""
    store(lane, ws, read(plan, hinge_row(plan, 0) + f.RECORD) + f.ATTITUDE,
          (IDENTITY, ZERO, (ZERO, scale(-1.0, read3(pars, f.GRAVITY)))))
    C, omega, A = load_motion(lane, ws, read(plan, hinge_row(plan, 0) + f.RECORD))
    sines, axes = sines_of(plan), read(plan, f.WS_MASS) + f.CLOUD_AXES
    for k in range(1, read(plan, f.CLOUD_BASE) + 1):
        row = hinge_row(plan, k)
        kind = read(plan, row + f.KIND)
        F, r = compose(C, read9(pars, k*f.HINGE_PARS + f.PLACE_C)), rotate(C, read3(pars, k*f.HINGE_PARS + f.PLACE_R))
        C, r, sigma, _ = hinge_move(lane, kind, F, r, omega, ws, read(plan, row + f.Q), read(plan, row + f.V), sines)
        A = add(A, (cross(omega, sigma), ZERO))                                             # [MC 21] RE
        omega = add(omega, sigma)                                                           # [MC 5]
        store_motion(lane, plan, ws, row, (C, omega, A, r, ZERO))
        if kind == FREE:
            store(lane, ws, axes, (F, C))
        elif kind == SPHERICAL:
            store(lane, ws, axes + 9, C)
        else:
            store(lane, ws, axes + 3*(k - 1), axis_z(C))
    if kind != FREE:
        store(lane, ws, axes, invert(load9(lane, ws, axes)))
    if kind == REVOLUTE:
        store(lane, ws, axes + 9, invert(load9(lane, ws, axes + 9)))
    return C, omega, A


@leaf
def gather_clouds(lane, plan, pars, ws):
    """Root to tips: sums of all clouds, each without those outboard of it.  Stores what later bodies and loads need of each body;
    its position from O goes where other sweeps store their gains."""
    for c in range(read(plan, f.N_CLOUDS) + 1):
        store(lane, ws, cloud_store(plan, c) + f.CLOUD_SUMS, nothing_summed(lane))
    compute_sines(lane, plan, ws)
    C_0, omega_0, (alpha_0, a_0) = move_base(lane, plan, pars, ws)
    C, omega, alpha = columns_of(lane, C_0), vector(lane, omega_0), vector(lane, alpha_0)
    a, o, sines, base = vector(lane, a_0), zero(lane), sines_of(plan), read(plan, f.CLOUD_BASE)
    p = vector(lane, (o, o, o))
    record_body(lane, plan, pars, ws, base, (C, omega, alpha, a, p))
    for k in range(base + 1, read(plan, f.N_HINGES) + 1):
        row, place = hinge_row(plan, k), k*f.HINGE_PARS
        i, kind, given = read(plan, row + f.INNER), read(plan, row + f.KIND), read(plan, row + f.SOLVED) != read(plan, row + f.KIND)
        if i != k - 1:
            C, omega, alpha, a, p = motion_of(lane, plan, ws, i)

        F, r = combine_columns(C, read9(pars, place + f.PLACE_C)), combine(C, read3(pars, place + f.PLACE_R))
        q, v = read(plan, row + f.Q), read(plan, row + f.V)
        if kind == REVOLUTE:
            C = turn_columns(F, load(lane, ws, q + sines[0]), load(lane, ws, q + sines[1]))             # [MC 10]
            p, a = add(p, r), add(a, carried(lane, alpha, omega, r))                        # [MC 11], [MC 20]
            rate, e = load(lane, ws, v), C[2]
            alpha = add(alpha, scale(rate, vector_cross(lane, omega, e)))
            omega = add(omega, scale(rate, e))                                              # [MC 9]
            if given:
                alpha = add(alpha, scale(load(lane, ws, read(plan, row + f.GIVEN)), e))
        else:
            C_k, r_k, sigma_k, _ = hinge_move(lane, kind, rows_of(lane, F), parts(lane, r), parts(lane, omega), ws, q, v, sines)
            C, r, sigma = columns_of(lane, C_k), vector(lane, r_k), vector(lane, sigma_k)
            p, a = add(p, r), add(a, carried(lane, alpha, omega, r))
            if kind == PRISMATIC:
                a = add(a, scale(2.0*load(lane, ws, v), vector_cross(lane, omega, C[2])))
            alpha, omega = add(alpha, vector_cross(lane, omega, sigma)), add(omega, sigma)
            if given:
                A = parts(lane, alpha), parts(lane, a)
                alpha_k, a_k = hinge_add(lane, kind, C_k, C_k, A, ws, read(plan, row + f.GIVEN))
                alpha, a = vector(lane, alpha_k), vector(lane, a_k)
        record_body(lane, plan, pars, ws, k, (C, omega, alpha, a, p))
        if motion_is_read(lane, plan, row):
            store_motion(lane, plan, ws, row, (rows_of(lane, C), parts(lane, omega), (parts(lane, alpha), parts(lane, a)),
                                              parts(lane, r), parts(lane, p)))
        if not given and kind != WELD:
            store_unknown_column(lane, ws, cloud_store(plan, read(plan, row + f.CLOUD)) + f.CLOUD_U, kind, parts(lane, C[2]),
                                 parts(lane, p))
    sum_bodies(lane, plan, pars, ws)


@leaf
def carried(lane, alpha, omega, r):
    """alpha x r + omega x (omega x r)."""
    return add(vector_cross(lane, alpha, r), vector_cross(lane, omega, vector_cross(lane, omega, r)))


def recorded_motion(lane, plan, ws, k):
    record = read(plan, hinge_row(plan, k) + f.RECORD)
    C, omega, (alpha, a) = load_motion(lane, ws, record)
    return columns_of(lane, C), omega, alpha, a, load3(lane, ws, record + CLOUD_PLACE)


@one_state_only(otherwise=recorded_motion)
def motion_of(lane, plan, ws, k):
    """C, omega, alpha, a, p of a body visited before."""
    quads, at = quads_of(ws), body_at(plan, k)
    return (load3(quads, ws, at + f.BODY_C), load(quads, ws, at + f.BODY_RATE), load(quads, ws, at + f.BODY_ALPHA),
            load(quads, ws, at + f.BODY_A), load(quads, ws, at + f.BODY_P))


@leaf
def nothing_summed(lane):
    o = zero(lane)
    return nothing_composite(lane), ((o, o, o), (o, o, o))


@leaf
def has_loads(plan, row):
    return read(plan, row + f.SLOT) != 0 or read(plan, f.N_ELEMENTS) + read(plan, f.N_PORTS) != 0


@one_state_only(otherwise=lambda lane, plan, row: has_loads(plan, row) or read(plan, row + f.BRANCH) != 0)
def motion_is_read(lane, plan, row):
    """Whether the motion of the body must be stored in its record: for loads, for the power of inputs, and in four lanes for
    later bodies."""
    return has_loads(plan, row)


@leaf
def store_motion(lane, plan, ws, row, motion):
    store(lane, ws, read(plan, row + f.RECORD) + f.ATTITUDE, motion)


@leaf
def store_unknown_column(lane, ws, at, kind, e, p):
    """U of an unknown hinge along e at p: a rotation about it moves the point O by p x e."""
    if kind == REVOLUTE:
        store(lane, ws, at, (e, cross(p, e)))
    else:
        store(lane, ws, at, (ZERO, e))


# ---- loads ------------------------------------------------------------------------------------------------------------
@leaf
def apply_cloud_loads(lane, plan, pars, ws):
    """Subtract the loads of wheels, wrenches and force elements from the wrenches of the clouds."""
    if read(plan, f.HAS_LOADS):
        apply_body_loads(lane, plan, pars, ws)
        apply_elements(lane, plan, pars, ws)
        for j in range(read(plan, f.N_WHEELS)):
            gather_slot(lane, plan, ws, read(plan, read(plan, f.WHEELS) + j*f.WHEEL_ROW + f.WHEEL_HINGE))
        for j in range(read(plan, f.N_WRENCHES)):
            gather_slot(lane, plan, ws, read(plan, read(plan, f.WRENCHES) + j*f.WRENCH_ROW + f.WRENCH_HINGE))
        for j in range(read(plan, f.N_ELEMENTS)):
            row = read(plan, f.ELEMENTS) + j*f.ELEMENT_ROW
            gather_slot(lane, plan, ws, read(plan, row + f.ELEMENT_HINGE))
            gather_slot(lane, plan, ws, read(plan, row + f.ELEMENT_OTHER))


@leaf
def gather_slot(lane, plan, ws, k):
    """Move the wrench in a body's slot to its cloud."""
    row = hinge_row(plan, k)
    slot = read(plan, row + f.SLOT)
    if slot:
        applied = shift_wrench(load3(lane, ws, read(plan, row + f.RECORD) + CLOUD_PLACE), load_spatial(lane, ws, slot))
        accumulate(lane, ws, cloud_store(plan, read(plan, row + f.CLOUD)) + f.CLOUD_WRENCH, scale(-1.0, applied))
        for i in range(6):
            store(lane, ws, slot + i, zero(lane))


# ---- the equations ------------------------------------------------------------------------------------------------------
@leaf
def whole_sums(lane, plan, ws, c):
    """J, h, m of a cloud with those outboard of it, about O, and its wrench."""
    at = cloud_store(plan, c) + f.CLOUD_SUMS
    S, h, m = load_composite(lane, ws, at)
    return (trace_less_sym(S), h, m), load_spatial(lane, ws, at + f.CLOUD_WRENCH)


@sweep(features=(), excludes="flexible", method="cloud")
def solve_cloud(lane, plan, pars, ws):
    """vdot of the unknowns: six equations about the mass center G [MC 23], and one for each unknown hinge."""
    noinline()
    gather_clouds(lane, plan, pars, ws)
    apply_cloud_loads(lane, plan, pars, ws)
    unknown = read(plan, f.N_CLOUDS)
    for c in range(unknown, 0, -1):                                         # all about O: plain sums
        at, to = cloud_store(plan, c), cloud_store(plan, read(plan, cloud_row(plan, c) + f.CLOUD_INNER))
        sums = load_composite(lane, ws, at + f.CLOUD_SUMS), load_spatial(lane, ws, at + f.CLOUD_WRENCH)
        accumulate(lane, ws, to + f.CLOUD_SUMS, sums)

    root, axes = hinge_row(plan, 1), read(plan, f.WS_MASS) + f.CLOUD_AXES
    E, E_turn, tau = load9(lane, ws, axes), load9(lane, ws, axes + 9), read(plan, root + f.TAU)
    (J, h, m), (n, bias_force) = whole_sums(lane, plan, ws, 0)
    G = scale(1.0/m, h)
    force = sub(rotate(E, load3(lane, ws, tau)), bias_force)                                         # [MC 1]
    torque = sub(sub(rotate(E_turn, load3(lane, ws, tau + 3)), n), cross(G, force))         # [MC 4]
    LDL = factor(sub(J, trace_less_sym(sym_outer(h, G))))                                   # [MC 14] P1 + P2
    if unknown:
        solve_unknowns(lane, plan, ws, LDL, G, m, torque, force)
        for c in range(1, unknown + 1):
            rate = load(lane, ws, read(plan, hinge_row(plan, read(plan, cloud_row(plan, c) + f.CLOUD_HINGE)) + f.VDOT))
            X = load_spatial(lane, ws, cloud_store(plan, c) + f.CLOUD_X)
            torque, force = sub((torque, force), scale(rate, X))                            # [MC 17] Q'
    alpha = solve(LDL, torque)
    a = add(scale(1.0/m, force), cross(G, alpha))
    store(lane, ws, read(plan, root + f.VDOT), (unrotate(E, a), unrotate(E_turn, alpha)))     # [MC 21]
    scatter_alpha(lane, plan, ws, alpha)


@leaf
def solve_unknowns(lane, plan, ws, LDL, G, m, torque, force):
    """vdot of the unknown hinges, after eliminating the accelerations of the base; X is about G."""
    n = read(plan, f.N_CLOUDS)
    M = cloud_blocks(plan)[2]
    b = M + n*n
    for c in range(1, n + 1):
        at, row = cloud_store(plan, c), hinge_row(plan, read(plan, cloud_row(plan, c) + f.CLOUD_HINGE))
        R, W = whole_sums(lane, plan, ws, c)
        U = load_spatial(lane, ws, at + f.CLOUD_U)
        X = composite_times(R, U)
        X = sub(X[0], cross(G, X[1])), X[1]
        turn = solve(LDL, X[0])
        store(lane, ws, at + f.CLOUD_U_G, shift_motion(G, U))
        store(lane, ws, at + f.CLOUD_X, X)
        drive = load(lane, ws, read(plan, row + f.TAU)) - spatial_dot(U, W)
        store(lane, ws, b + c - 1, drive - dot(turn, torque) - dot(X[1], force)/m)
        for d in range(1, c + 1):
            n_d, f_d = load_spatial(lane, ws, cloud_store(plan, d) + f.CLOUD_X)
            store(lane, ws, M + n*(d - 1) + c - 1, zero(lane) - dot(n_d, turn) - dot(f_d, X[1])/m)
        d = c
        while d > 0:
            share = spatial_dot(load_spatial(lane, ws, cloud_store(plan, d) + f.CLOUD_U_G), X)
            accumulate(lane, ws, M + n*(d - 1) + c - 1, share)
            d = read(plan, cloud_row(plan, d) + f.CLOUD_INNER)
    factor_dense(lane, plan, ws, M, b, n, NOTHING)
    back_substitute_dense(lane, ws, M, b, n)
    for c in range(1, n + 1):
        row = hinge_row(plan, read(plan, cloud_row(plan, c) + f.CLOUD_HINGE))
        store(lane, ws, read(plan, row + f.VDOT), load(lane, ws, b + c - 1))


@leaf
def scatter_alpha(lane, plan, ws, alpha):
    """For the wheels: angular accelerations of their bodies, less the remainder."""
    for j in range(read(plan, f.N_WHEELS)):
        k = read(plan, read(plan, f.WHEELS) + j*f.WHEEL_ROW + f.WHEEL_HINGE)
        at, c = read(plan, hinge_row(plan, k) + f.BRANCH) + f.SHARED_ACCEL, read(plan, hinge_row(plan, k) + f.CLOUD)
        store(lane, ws, at, ZERO)
        if k:
            store(lane, ws, at, alpha)
        while c > 0:
            row = cloud_row(plan, c)
            e, _ = load_spatial(lane, ws, cloud_store(plan, c) + f.CLOUD_U)
            rate = load(lane, ws, read(plan, hinge_row(plan, read(plan, row + f.CLOUD_HINGE)) + f.VDOT))
            accumulate(lane, ws, at, scale(rate, e))
            c = read(plan, row + f.CLOUD_INNER)
