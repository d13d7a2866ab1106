"""Central gravity: the tree moves relative to its mass center, whose orbit is integrated beside it.

The tree's inertial frame travels with the mass center of the whole, at R from the attracting center.  A body of mass m, as it is
deformed, has its mass center c = h/m at d = R + rho, and the second moments S about it.  Its potential

    U = -mu m/d - T:S/2         T = mu/d^3 (3 d d^T/d^2 - 1), the gradient of gravity at d                           [B 4]

gives the force F = -dU/dd, the torque k (S d) x d about the mass center, k = 3 mu/d^5, and the forces on the modes, which move c by
t_r/m and S by twice the symmetric part of E_r - t_r c^T:

    Q_r = t_r.(F/m - T c) + T:E_r                                                                                   [B 19]

So energy and angular momentum of orbit, attitude and deformation together are kept.  Bodies that are welded together are one body
to the sweeps, but gravity pulls at each of them.  The part of all external forces that accelerates the mass center goes to the
orbit; the tree gets the rest.
"""

from bough.kernels.algebra import (ZERO, cross, dot, isotropic, rotate, rotate_spatial, second_moments, sym_dot, sym_outer,
                                   sym_times, unrotate)
from bough.kernels.hinges import FREE, MODAL, PRISMATIC, load_axis
from bough.kernels.jit import leaf
from bough.kernels.lanes import (accumulate, add, flexible_only, load, load3, load6, load9, load_spatial, noinline, read, read3,
                                 read6, read9, scale, sqrt, store, sub, zero)
from bough.kernels.linker import sweep
from bough.sweeps import fields as f
from bough.sweeps.modal import own_inertia
from bough.sweeps.modes import counts, deformed_blocks, integral_parameters, mode_rows
from bough.sweeps.blocks import padded
from bough.sweeps.motion import hinge_attitude, hinge_row


@leaf
def pull(center, m, S, rho):
    """Torque about the mass center and force of gravity less that at R, and T [B 4]: all in the axes of R, rho and S.

    The difference of gravity at d and at R comes without cancellation, in Encke's form [B 5]; `center`: R, 1/R^2, mu/R^3."""
    R, inverse, g = center
    d, q = add(R, rho), dot(rho, add(rho, scale(2.0, R)))*inverse               # d^2 = R^2 (1 + q)
    root = (1.0 + q)*sqrt(1.0 + q)
    share = 1.0/((1.0 + q)*root*(1.0 + root))
    less = q*(3.0 + q*(3.0 + q))*(1.0 + q)*share                                # 1 - (1 + q)^-3/2
    k, inverse_d2 = 3.0*g*inverse*(1.0 + root)*share, inverse*root*(1.0 + root)*share
    Sd, (xx, _, _, yy, _, zz) = sym_times(S, d), S
    second = add(Sd, scale(0.5*(xx + yy + zz) - 2.5*dot(d, Sd)*inverse_d2, d))
    force = add(scale(m*g, sub(scale(less, d), rho)), scale(k, second))
    gradient = sub(sym_outer(d, scale(k, d)), isotropic(g*(1.0 - less)))
    return scale(k, cross(Sd, d)), force, gradient


@leaf
def turned_center(center, C):
    R, inverse, g = center
    return unrotate(C, R), inverse, g


@leaf
def pull_rigid(lane, plan, pars, ws, row, par, center, p):
    """Gravity on a rigid body whose hinge is at p, into its slot; gives the force."""
    C, c = load9(lane, ws, read(plan, row + f.RECORD) + f.ATTITUDE), read3(pars, par + f.PULL_AT)
    torque, force, _ = pull(turned_center(center, C), read(pars, par + f.PULL_MASS), read6(pars, par + f.PULL_S),
                            add(unrotate(C, p), c))
    wrench = rotate_spatial(C, (add(torque, cross(c, force)), force))
    accumulate(lane, ws, read(plan, row + f.SLOT), wrench)
    return wrench[1]


def pull_flexible(lane, plan, pars, ws, row, center, p):
    """Gravity on a flexible body whose frame is at p, and on its modes [B 19]: less of what they demand; gives the force."""
    flex, C = read(plan, row + f.FLEX), load9(lane, ws, read(plan, row + f.RECORD) + f.ATTITUDE)
    J, h, m = own_inertia(lane, plan, pars, ws, flex)
    if read(plan, flex + f.SPINS):
        J = sub(J, load6(lane, ws, read(plan, flex + f.FLEX_WS) + f.MODAL_TURNED))
    c = scale(1.0/m, h)
    S = sub(second_moments(J), sym_outer(h, c))
    torque, force, gradient = pull(turned_center(center, C), m, S, add(unrotate(C, p), c))
    wrench = add(torque, cross(c, force)), force
    accumulate(lane, ws, read(plan, flex + f.FLEX_WS) + f.MODAL_WRENCH, scale(-1.0, wrench))
    pull_modes(lane, plan, pars, ws, row, sub(scale(1.0/m, force), sym_times(gradient, c)), gradient)
    return rotate(C, force)


flexible_only(pull_flexible, lambda lane, plan, pars, ws, row, center, p: p)


@leaf
def pull_modes(lane, plan, pars, ws, row, specific, gradient):
    """z_r -= t_r.specific + gradient:E_r; what pulls at a carried field goes to the modes by its slopes, as t has it already."""
    flex, (n, size) = read(plan, row + f.FLEX), counts(plan, read(plan, row + f.FLEX))
    rows, length, at_g, at_z = mode_rows(lane, plan, flex, n)
    has_pairs, straight, (bent, _, _, _, slopes, _) = (read(plan, flex + f.HAS_PAIRS), integral_parameters(plan, flex)[0],
                                                       deformed_blocks(plan, flex))
    for r in range(n, size):
        store(lane, ws, rows + length*r + at_z, stretched(lane, pars, ws, has_pairs, straight, bent, r, gradient))
    for r in range(n):
        mode, force = rows + length*r, stretched(lane, pars, ws, has_pairs, straight, bent, r, gradient)
        for a in range(n, size):
            force = force + load(lane, ws, slopes + padded(n)*(a - n) + r)*load(lane, ws, rows + length*a + at_z)
        accumulate(lane, ws, mode + at_z, -force - dot(load3(lane, ws, mode + at_g + 3), specific))


@leaf
def stretched(lane, pars, ws, has_pairs, straight, bent, r, gradient):
    """gradient:E_r"""
    if has_pairs:
        return sym_dot(gradient, load9(lane, ws, bent + 9*r))
    return sym_dot(gradient, read9(pars, straight + 9*r))


@leaf
def applied_force(lane, plan, pars, ws, row, k, rooted):
    """On the body of a hinge, or, from the world, along the translations of a root."""
    force, slot = (zero(lane), zero(lane), zero(lane)), read(plan, row + f.SLOT)
    if slot:
        force = load_spatial(lane, ws, slot)[1]
    if read(plan, row + f.KIND) == FREE:
        force = add(force, rotate(hinge_attitude(pars, k), load3(lane, ws, read(plan, row + f.TAU))))
    elif rooted:
        axis = load_axis(lane, ws, read(plan, row + f.RECORD) + f.ATTITUDE)
        force = add(force, scale(load(lane, ws, read(plan, row + f.TAU)), axis))
    return force


@leaf
def is_root_slide(plan, row, k, inner_is):
    """Whether a hinge slides a tree as a whole: those of a free joint whose rotation can be held; told of the hinge before."""
    i = read(plan, row + f.INNER)
    return read(plan, row + f.KIND) == PRISMATIC and (i == 0 or (inner_is and i == k - 1))


@sweep
def apply_orbit(lane, plan, pars, ws):
    """Add gravity, less that at R, to what acts on bodies and modes; the mean acceleration of the tree under all that acts, and
    with it the derivative of the orbit."""
    noinline()
    orbit = read(plan, f.N_X) - read(plan, f.N_LAW_STATES) - 6
    at_R, at_rate = read(plan, f.WS_X) + orbit, read(plan, f.WS_XDOT) + orbit
    R, positions, j, rooted = load3(lane, ws, at_R), read(plan, f.WS_POSITIONS), read(plan, f.PULLS), False
    par, end, total = read(plan, f.PAR_PULLS), j + f.PULL_ROW*read(plan, f.N_PULLS), (zero(lane), zero(lane), zero(lane))
    inverse = 1.0/dot(R, R)
    center = R, inverse, read(pars, f.MU)*inverse*sqrt(inverse)
    store(lane, ws, positions, ZERO)
    for k in range(1, read(plan, f.N_HINGES) + 1):
        row = hinge_row(plan, k)
        rooted = is_root_slide(plan, row, k, rooted)
        p = add(load3(lane, ws, positions + 3*read(plan, row + f.INNER)), load3(lane, ws, read(plan, row + f.RECORD) + f.OFFSET))
        store(lane, ws, positions + 3*k, p)
        total = add(total, applied_force(lane, plan, pars, ws, row, k, rooted))
        while j < end and read(plan, j + f.PULL_HINGE) == k:
            if read(plan, row + f.KIND) == MODAL:
                total = add(total, pull_flexible(lane, plan, pars, ws, row, center, p))
            else:
                total = add(total, pull_rigid(lane, plan, pars, ws, row, par, center, p))
            j, par = j + f.PULL_ROW, par + f.PULL_PARS
    a = scale(1.0/read(pars, f.TOTAL_MASS), total)
    store(lane, ws, read(plan, f.WS_MEAN), a)
    store(lane, ws, at_rate, load3(lane, ws, at_R + 3))
    store(lane, ws, at_rate + 3, sub(a, scale(center[2], R)))


# ---- the mean acceleration ---------------------------------------------------------------------------------------------
@sweep
def take_mean_from_roots(lane, plan, pars, ws):
    """Of accelerations that the forward dynamics found: what all the tree has in common is the orbit's."""
    noinline()
    a, rooted = load3(lane, ws, read(plan, f.WS_MEAN)), False
    for k in range(1, read(plan, f.N_HINGES) + 1):
        row = hinge_row(plan, k)
        rooted = is_root_slide(plan, row, k, rooted)
        vdot = read(plan, row + f.VDOT)
        if read(plan, row + f.KIND) == FREE:
            store(lane, ws, vdot, sub(load3(lane, ws, vdot), unrotate(hinge_attitude(pars, k), a)))
        elif rooted:
            accumulate(lane, ws, vdot, -dot(load_axis(lane, ws, read(plan, row + f.RECORD) + f.ATTITUDE), a))


@sweep
def take_mean_from_loads(lane, plan, pars, ws):
    """The same where accelerations are given: what acts on bodies and modes, less what accelerates all of them alike."""
    noinline()
    a = load3(lane, ws, read(plan, f.WS_MEAN))
    for k in range(1, read(plan, f.N_HINGES) + 1):
        row = hinge_row(plan, k)
        if read(plan, row + f.MASSIVE):
            C = load9(lane, ws, read(plan, row + f.RECORD) + f.ATTITUDE)
            inertial = cross(a, rotate(C, read3(pars, k*f.HINGE_PARS + f.MOMENT))), scale(-read(pars, k*f.HINGE_PARS + f.MASS), a)
            accumulate(lane, ws, read(plan, row + f.SLOT), inertial)
        elif read(plan, row + f.KIND) == MODAL:
            accelerate_flexible(lane, plan, pars, ws, row, a)


def accelerate_flexible(lane, plan, pars, ws, row, a):
    """What an acceleration a of all space demands of a flexible body and its modes."""
    flex, C = read(plan, row + f.FLEX), load9(lane, ws, read(plan, row + f.RECORD) + f.ATTITUDE)
    (_, h, m), n, a_b = own_inertia(lane, plan, pars, ws, flex), read(plan, flex + f.MODES), unrotate(C, a)
    rows, length, at_g, at_z = mode_rows(lane, plan, flex, n)
    accumulate(lane, ws, read(plan, flex + f.FLEX_WS) + f.MODAL_WRENCH, (cross(h, a_b), scale(m, a_b)))
    for r in range(n):
        mode = rows + length*r
        accumulate(lane, ws, mode + at_z, dot(load3(lane, ws, mode + at_g + 3), a_b))


flexible_only(accelerate_flexible, lambda lane, plan, pars, ws, row, a: None)
