"""Central gravity: the tree moves relative to its mass center, whose orbit is integrated with it.

The tree's inertial frame moves with the mass center of the whole system, at R from the attracting center.  A body of mass m, as
deformed, has its mass center c = h/m at d = R + rho, and the second moments S about it.  Its potential

    U = -mu m/d - T:S/2         T = mu/d^3 (3 d d^T/d^2 - 1), the gravity gradient at d                              [B 4]

gives the force F = -dU/dd, the torque k (S d) x d about the mass center, k = 3 mu/d^5, and the forces on the modes, which move c
by t_r/m and change S by twice the symmetric part of E_r - t_r c^T:

    Q_r = t_r.(F/m - T c) + T:E_r,    T:E_r = -T:N_r, as T has no trace                                             [B 19]

This conserves the energy and angular momentum of orbit, attitude and deformation together.  Bodies welded together are one body
in the sweeps, but gravity acts on each of them.  The part of all external forces that accelerates the mass center goes to the
orbit; the rest acts on the tree.
"""

from bough.kernels.algebra import (ZERO, columns_of, combine, cross, dot, isotropic, parts, rotate, rotate_spatial, sum_products,
                                   sym_outer, sym_times, transpose, unrotate, vector, vector_cross, vector_dot)
from bough.kernels.hinges import FREE, MODAL, load_axis
from bough.kernels.jit import leaf
from bough.kernels.lanes import (accumulate, add, flexible_only, load, load3, load6, load9, load_four, load_spatial, noinline,
                                 one_state_only, read, read3, read6, register, scale, sqrt, store, sub, tanks_only, total,
                                 zero)
from bough.kernels.linker import sweep
from bough.sweeps import fields as f
from bough.sweeps.modal import own_inertia
from bough.sweeps.modes import counts, mode_rows
from bough.sweeps.blocks import padded
from bough.sweeps.tree_motion import hinge_attitude, hinge_row, own_mass
from bough.sweeps.tanks import center_shift, total_mass


@leaf
def field(lane, center, rho):
    """d, and gravity there [B 4]: g (1 - R^3/d^3), k, 5/(2 d^2), g R^3/d^3; in the axes of R and rho.

    The difference of gravity at d and at R is found without cancellation, in Encke's form [B 5]; `center`: R, 1/R^2, g = mu/R^3."""
    R, inverse, g = center
    d = add(R, rho)
    q = vector_dot(lane, rho, add(d, R))*inverse                                # d^2 = R^2 (1 + q)
    s = 1.0 + q
    u = q/(s + sqrt(s))                                                         # 1 - t, t = R/d
    t = 1.0 - u
    tt = t*t
    third = g*t*tt
    return d, (g*u*(3.0 + u*(u - 3.0)), 3.0*inverse*tt*third, 2.5*inverse*tt, third)            # 1 - t^3 = u (3 - 3 u + u^2)


@leaf
def pull(lane, center, strength, m, d, rho, Sd, trace):
    """Torque of gravity about the mass center, and force less m g(R), for the second moments S [B 4]."""
    less, k, five, _ = strength
    second = add(Sd, scale(0.5*trace - five*vector_dot(lane, d, Sd), d))
    return (scale(k, vector_cross(lane, Sd, d)),
            add(scale(m, sub(scale(less, d), scale(center[2], rho))), scale(k, second)))


@leaf
def turned(lane, rows, center, p, c):
    """`center` and rho in body axes."""
    R, inverse, g = center
    return (combine(rows, R), inverse, g), add(combine(rows, p), c)


@leaf
def sym_columns(lane, S):
    xx, xy, xz, yy, yz, zz = S
    return vector(lane, (xx, xy, xz)), vector(lane, (xy, yy, yz)), vector(lane, (xz, yz, zz))


@leaf
def pull_rigid(lane, plan, pars, ws, row, par, center, p):
    """Add gravity on a rigid body whose hinge is at p to its slot; returns the force."""
    C, S = load9(lane, ws, read(plan, row + f.RECORD) + f.ATTITUDE), read6(pars, par + f.PULL_S)
    c = vector(lane, read3(pars, par + f.PULL_AT))
    center, rho = turned(lane, columns_of(lane, transpose(C)), center, p, c)
    d, strength = field(lane, center, rho)
    Sd = combine(sym_columns(lane, S), parts(lane, d))
    torque, force = pull(lane, center, strength, read(pars, par + f.PULL_MASS), d, rho, Sd, S[0] + S[3] + S[5])
    wrench = rotate_spatial(C, (parts(lane, add(torque, vector_cross(lane, c, force))), parts(lane, force)))
    accumulate(lane, ws, read(plan, row + f.SLOT), wrench)
    return wrench[1]


@flexible_only(otherwise=lambda lane, plan, pars, ws, row, center, p: p)
def pull_flexible(lane, plan, pars, ws, row, center, p):
    """Gravity on a flexible body whose frame is at p, and on its modes [B 19], subtracted from their biases; returns the force.
    S = (tr J/2) 1 - J - h c^T."""
    flex, C = read(plan, row + f.FLEX), load9(lane, ws, read(plan, row + f.RECORD) + f.ATTITUDE)
    J, h_, m = own_inertia(lane, plan, pars, ws, flex)
    J = pulled_inertia(lane, plan, ws, row, J)
    inverse_m, half, h = 1.0/m, 0.5*(J[0] + J[3] + J[5]), vector(lane, h_)
    c = scale(inverse_m, h)
    center, rho = turned(lane, columns_of(lane, transpose(C)), center, p, c)
    d, strength = field(lane, center, rho)
    d_, cd = parts(lane, d), vector_dot(lane, c, d)
    Sd = sub(scale(half, d), add(combine(sym_columns(lane, J), d_), scale(cd, h)))
    torque, force = pull(lane, center, strength, m, d, rho, Sd, half - vector_dot(lane, h, c))
    _, k, _, round_ = strength
    specific = add(scale(inverse_m, force), sub(scale(round_, c), scale(k*cd, d)))        # F/m - T c
    force_ = parts(lane, force)
    accumulate(lane, ws, read(plan, flex + f.FLEX_WS) + f.MODAL_WRENCH,
               scale(-1.0, (parts(lane, add(torque, vector_cross(lane, c, force))), force_)))
    pull_modes(lane, plan, pars, ws, row, specific, sub(sym_outer(d_, scale(k, d_)), isotropic(round_)))
    return rotate(C, force_)


@leaf
def pulled_inertia(lane, plan, ws, row, J):
    """J as gravity acts on it: of each spin only what is of second order, g g^T in place of u u^T."""
    flex, (n, fields, spins) = read(plan, row + f.FLEX), counts(plan, read(plan, row + f.FLEX))
    rows, length, at_g, _ = mode_rows(lane, plan, flex, n)
    for a in range(spins):
        u, g = load_spatial(lane, ws, rows + length*(n + fields + a) + at_g)
        J = add(sub(J, sym_outer(u, u)), sym_outer(g, g))
    return J


@leaf
def pull_modes(lane, plan, pars, ws, row, specific, gradient):
    """z_r -= t_r.specific + T:E_r, T the gradient.  The force on a carried field goes to the modes along V; t already includes
    the carried fields."""
    flex, (n, fields, spins) = read(plan, row + f.FLEX), counts(plan, read(plan, row + f.FLEX))
    (rows, length, at_g, at_z), size = mode_rows(lane, plan, flex, n), n + fields
    E = read(plan, flex + f.HAS_PAIRS), read(plan, flex + f.FLEX_INERTIA), read(plan, flex + f.BENT_INERTIA)
    along_modes = read(plan, flex + f.BENT_ALONG)
    weights = pull_weights(lane, gradient)
    first = pull_carried(lane, pars, ws, E, weights, n, size, n)
    for r in range(n):
        mode = rows + length*r
        force = pull_mode(lane, pars, ws, E, r, weights, along(lane, ws, mode + at_g + 3, specific))
        if size > n:
            force = force + by_slopes(lane, ws, along_modes + r, first)
        accumulate(lane, ws, mode + at_z, -force)
    for a in range(n + 2, size, 2):                             # two fields at a time, to load the sums less often
        pair = pull_carried(lane, pars, ws, E, weights, n, size, a)
        for r in range(n):
            accumulate(lane, ws, rows + length*r + at_z, -by_slopes(lane, ws, along_modes + padded(n)*(a - n) + r, pair))
    about = read(plan, flex + f.FLEX_ABOUT)
    for a in range(spins):                                      # N_r of the table lacks what g g^T has
        pull = sym_times(gradient, load3(lane, ws, rows + length*(size + a) + at_g + 3))
        for r in range(n):
            accumulate(lane, ws, rows + length*r + at_z, dot(pull, read3(pars, about + padded(3*n)*a + 3*r)))


@leaf
def pull_carried(lane, pars, ws, E, weights, n, size, a):
    """T:E of the fields a and a + 1, and the distance between their slopes; the second is 0 after the last field."""
    b = min(a + 1, size - 1)
    a = min(a, b)
    first, second = (pull_mode(lane, pars, ws, E, a, weights, no_force(lane)),
                     pull_mode(lane, pars, ws, E, b, weights, no_force(lane)))
    return first, float(b - a)*second, padded(n)*(b - a)


@leaf
def by_slopes(lane, ws, at, pair):
    """Contribution of two fields to the force on a mode; the slope of the first is at `at`."""
    first, second, apart = pair
    return load(lane, ws, at)*first + load(lane, ws, at + apart)*second


@leaf
def weights_of_inertia(gradient):
    """Weights w with T:E = w.N, for a gradient T without trace: -T, twice off the diagonal."""
    xx, xy, xz, yy, yz, zz = gradient
    return -xx, -2.0*xy, -2.0*xz, -yy, -2.0*yz, -zz


@one_state_only(otherwise=lambda lane, gradient: weights_of_inertia(gradient))
def pull_weights(lane, gradient):
    """Weights of N for pull_mode; kept in registers for one state."""
    xx, xy, xz, yy, yz, zz = weights_of_inertia(gradient)
    return register((xx, xy, xz, yy)), register((yz, zz))


@one_state_only(otherwise=lambda lane, ws, at, u: dot(u, load3(lane, ws, at)))
def along(lane, ws, at, u):
    """u.t of the vector t at `at`, for `pull_mode`; for one state not summed yet."""
    return u*load_four(ws, at)


@one_state_only(otherwise=lambda lane: zero(lane))
def no_force(lane):
    return register((0.0, 0.0))


def pull_mode_in_lanes(lane, pars, ws, E, r, weights, force):
    has_pairs, straight, bent = E
    if has_pairs:
        return force + sum_products(weights, load6(lane, ws, bent + 9*r))
    return force + sum_products(weights, read6(pars, straight + 9*r))


@one_state_only(otherwise=pull_mode_in_lanes)
def pull_mode(lane, pars, ws, E, r, weights, force):
    """T:E_r = -T:N_r, and the force of `along`."""
    (has_pairs, straight, bent), (first, second) = E, weights
    if has_pairs:
        return total(force + first*load_four(ws, bent + 9*r) + second*load_four(ws, bent + 9*r + 4))
    return total(force + first*load_four(pars, straight + 9*r) + second*load_four(pars, straight + 9*r + 4))


@tanks_only(otherwise=lambda lane, plan, pars, ws, row, k, center, p: p)
def pull_propellant(lane, plan, pars, ws, row, k, center, p):
    """Gravity on propellant, which has no mass center once it is gone: about its hinge at p, with S about p [B 95]."""
    C, (m, h_, J) = load9(lane, ws, read(plan, row + f.RECORD) + f.ATTITUDE), own_mass(lane, plan, pars, ws, k)
    h = vector(lane, h_)
    center, rho = turned(lane, columns_of(lane, transpose(C)), center, p, scale(0.0, h))
    d, strength = field(lane, center, rho)
    less, k3, _, round_ = strength
    half = 0.5*(J[0] + J[3] + J[5])
    Sd = sub(scale(half, d), combine(sym_columns(lane, J), parts(lane, d)))
    torque, force = pull(lane, center, strength, m, d, rho, Sd, half)
    here = sub(scale(less, d), scale(center[2], rho))                                       # gravity at p, less that at R
    force = add(force, sub(scale(k3*vector_dot(lane, d, h), d), scale(round_, h)))          # T h
    wrench = rotate_spatial(C, (parts(lane, add(torque, vector_cross(lane, h, here))), parts(lane, force)))
    accumulate(lane, ws, read(plan, row + f.SLOT), wrench)
    return wrench[1]


@leaf
def root_row(plan, j):
    """Row and number of the j-th hinge that translates a whole tree."""
    k = read(plan, read(plan, f.ROOTS) + j*f.ROOT_ROW + f.ROOT_HINGE)
    return hinge_row(plan, k), k


@leaf
def applied_forces(lane, plan, pars, ws):
    """Sum of the forces on bodies, and of those along the translations of roots."""
    force = zero(lane), zero(lane), zero(lane)
    for i in range(read(plan, f.N_SLOTS)):
        force = add(force, load3(lane, ws, read(plan, f.WS_SLOTS) + 6*i + 3))
    for j in range(read(plan, f.N_ROOTS)):
        row, k = root_row(plan, j)
        if read(plan, row + f.KIND) == FREE:
            force = add(force, rotate(hinge_attitude(pars, k), load3(lane, ws, read(plan, row + f.TAU))))
        else:
            axis = load_axis(lane, ws, read(plan, row + f.RECORD) + f.ATTITUDE)
            force = add(force, scale(load(lane, ws, read(plan, row + f.TAU)), axis))
    return force


@leaf
def subtract_from_roots(lane, plan, pars, ws, entry, offset, u):
    """Subtract a vector, along the axes of the roots' translations, from their numbers at `entry` of plan plus an offset."""
    for j in range(read(plan, f.N_ROOTS)):
        row, k = root_row(plan, j)
        at = read(plan, row + entry) + offset
        if read(plan, row + f.KIND) == FREE:
            store(lane, ws, at, sub(load3(lane, ws, at), unrotate(hinge_attitude(pars, k), u)))
        else:
            accumulate(lane, ws, at, -dot(load_axis(lane, ws, read(plan, row + f.RECORD) + f.ATTITUDE), u))


@leaf
def place_bodies(lane, plan, ws, positions):
    """Positions of all hinges from the mass center."""
    store(lane, ws, positions, ZERO)
    for k in range(1, read(plan, f.N_HINGES) + 1):
        row = hinge_row(plan, k)
        p = load3(lane, ws, positions + 3*read(plan, row + f.INNER))
        store(lane, ws, positions + 3*k, add(p, load3(lane, ws, read(plan, row + f.RECORD) + f.OFFSET)))


@sweep(features=("flexible", "tanks"))
def apply_orbit(lane, plan, pars, ws):
    """Add gravity, less that at R, to the loads on bodies and modes; find the mean acceleration of the tree under all loads and,
    with it, the derivative of the orbit."""
    noinline()
    orbit, positions = read(plan, f.N_X) - read(plan, f.N_LAW_STATES) - 6, read(plan, f.WS_POSITIONS)
    at_R, at_rate = read(plan, f.WS_X) + orbit, read(plan, f.WS_XDOT) + orbit
    R = load3(lane, ws, at_R)
    inverse = 1.0/dot(R, R)
    center = R, inverse, read(pars, f.MU)*inverse*sqrt(inverse)
    place_bodies(lane, plan, ws, positions)
    force = applied_forces(lane, plan, pars, ws)
    for j in range(read(plan, f.N_PULLS)):
        k = read(plan, read(plan, f.PULLS) + j*f.PULL_ROW + f.PULL_HINGE)
        row, p = hinge_row(plan, k), load3(lane, ws, positions + 3*k)
        if read(plan, row + f.KIND) == MODAL:
            force = add(force, pull_flexible(lane, plan, pars, ws, row, center, p))
        elif read(plan, row + f.MASSIVE) > 1:
            force = add(force, pull_propellant(lane, plan, pars, ws, row, k, center, p))
        else:
            force = add(force, pull_rigid(lane, plan, pars, ws, row, read(plan, f.PAR_PULLS) + j*f.PULL_PARS, center, p))
    m = total_mass(lane, plan, pars, ws)
    faster, moved = center_shift(lane, plan, pars, ws, m)
    a = add(scale(1.0/m, force), faster)
    store(lane, ws, read(plan, f.WS_MEAN), (a, moved))
    store(lane, ws, at_rate, add(load3(lane, ws, at_R + 3), moved))
    store(lane, ws, at_rate + 3, sub(a, scale(center[2], R)))


# ---- the mean acceleration ---------------------------------------------------------------------------------------------
@sweep(features=("tanks",))
def subtract_mean_from_roots(lane, plan, pars, ws):
    """Forward dynamics: subtract the mean acceleration of the tree, which belongs to the orbit, from the roots."""
    noinline()
    subtract_from_roots(lane, plan, pars, ws, f.VDOT, 0, load3(lane, ws, read(plan, f.WS_MEAN)))
    shift_roots(lane, plan, pars, ws)


@tanks_only
def shift_roots(lane, plan, pars, ws):
    """Correct q' for the motion of the mass center (the origin of positions) due to propellant flow [B 94]."""
    to_rate = read(plan, f.WS_XDOT) - read(plan, f.WS_X)
    subtract_from_roots(lane, plan, pars, ws, f.Q, to_rate, load3(lane, ws, read(plan, f.WS_MEAN) + 3))


@sweep(features=("flexible", "tanks"))
def subtract_mean_from_loads(lane, plan, pars, ws):
    """Given accelerations: subtract the uniform acceleration of the whole tree from the loads on bodies and modes."""
    noinline()
    a = load3(lane, ws, read(plan, f.WS_MEAN))
    for k in range(1, read(plan, f.N_HINGES) + 1):
        row = hinge_row(plan, k)
        if read(plan, row + f.MASSIVE):
            C = load9(lane, ws, read(plan, row + f.RECORD) + f.ATTITUDE)
            m, h, _ = own_mass(lane, plan, pars, ws, k)
            inertial = cross(a, rotate(C, h)), scale(-m, a)
            accumulate(lane, ws, read(plan, row + f.SLOT), inertial)
        elif read(plan, row + f.KIND) == MODAL:
            accelerate_flexible(lane, plan, pars, ws, row, a)


@flexible_only
def accelerate_flexible(lane, plan, pars, ws, row, a):
    """Forces on a flexible body and its modes due to a uniform acceleration a."""
    flex, C = read(plan, row + f.FLEX), load9(lane, ws, read(plan, row + f.RECORD) + f.ATTITUDE)
    (_, h, m), n, a_b = own_inertia(lane, plan, pars, ws, flex), read(plan, flex + f.MODES), unrotate(C, a)
    rows, length, at_g, at_z = mode_rows(lane, plan, flex, n)
    accumulate(lane, ws, read(plan, flex + f.FLEX_WS) + f.MODAL_WRENCH, (cross(h, a_b), scale(m, a_b)))
    for r in range(n):
        mode = rows + length*r
        accumulate(lane, ws, mode + at_z, dot(load3(lane, ws, mode + at_g + 3), a_b))
