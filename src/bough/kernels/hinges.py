"""The primitive hinges: one switch on the kind for each operation.

A hinge connects a body to its inner body.  Joints with more degrees of freedom are sequences of these, with massless bodies
between them [J 5].

    kind        coordinates q                      speeds v
    WELD        -                                  -
    REVOLUTE    angle about z                      rate about z
    PRISMATIC   distance along z                   rate along z
    SPHERICAL   quaternion x y z w                 angular rate in the outer body's axes
    FREE        position, quaternion x y z w       velocity in the hinge's axes, angular rate in the outer body's
                (on the ground only: the hinge's axes F are then constant)
    MODAL       modal coordinates                  their rates: from the frame of the inboard node to the body frame
    NODE        -                                  -  (from the body frame to the frame of a node, which the modes move)

The last two are in other files: their kinematics in `sweeps.modes`, their dynamics in `sweeps.modal`.

All branches return the same shapes; plain zeros are promoted to lanes.
"""
from bough.kernels.algebra import (ZERO, ZERO_MAT, ZERO_SYM, attitude, axis_z, column, compose, cross, dot, factor, rotate, solve,
                                   solve_columns, spatial_dot, sub_outer, sub_product, sym_times, turn_z, unrotate)
from bough.kernels.jit import leaf
from bough.kernels.lanes import add, load, load3, load4, load9, load_spatial, scale, store, sub

WELD, REVOLUTE, PRISMATIC, SPHERICAL, FREE, MODAL, NODE = range(7)
N_COORDINATES = (0, 1, 1, 4, 7)            # MODAL: the number of modes; NODE: none of its own
N_SPEEDS = (0, 1, 1, 3, 6)
GAIN_SIZE = (6, 8, 8, 12, 6, 6, 6)         # numbers that one sweep stores for the next: G, nu (and 1/D), or a wrench
SHORTEST, LONGEST = 1e-24, 1e24            # square of the length of a quaternion


@leaf
def hinge_move(lane, kind, F, r, omega, ws, q, v, sines):
    """Attitude and rate of the outer body, from the hinge's attitude F and position r and the inner body's rate omega:

        C       attitude of the outer body
        r       position of its origin
        sigma   angular rate across the hinge [S 44]
        a       omega x (omega x r + 2 s), s the linear rate across the hinge: centripetal and Coriolis acceleration [S 47]

    The sine of an angle is `sines[0]` numbers after the angle in ws, its cosine `sines[1]`."""
    if kind == REVOLUTE:
        C = turn_z(F, load(lane, ws, q + sines[0]), load(lane, ws, q + sines[1]))
        return C, r, scale(load(lane, ws, v), axis_z(C)), cross(omega, cross(omega, r))
    if kind == PRISMATIC:
        r = add(r, scale(load(lane, ws, q), axis_z(F)))
        return F, r, ZERO, cross(omega, add(cross(omega, r), scale(2.0*load(lane, ws, v), axis_z(F))))
    if kind == SPHERICAL:
        C = compose(F, attitude(load4(lane, ws, q)))
        return C, r, rotate(C, load3(lane, ws, v)), cross(omega, cross(omega, r))
    if kind == FREE:
        C = compose(F, attitude(load4(lane, ws, q + 3)))
        return C, add(r, rotate(F, load3(lane, ws, q))), rotate(C, load3(lane, ws, v + 3)), ZERO      # on the ground omega = 0
    return F, r, ZERO, cross(omega, cross(omega, r))


@leaf
def hinge_add(lane, kind, F, C, A, ws, v):
    """A + H^T v: motion of the outer body from that of the inner body, carried to the hinge [S 45] [JR 63]."""
    alpha, a = A
    if kind == REVOLUTE:
        return add(alpha, scale(load(lane, ws, v), axis_z(C))), a
    if kind == PRISMATIC:
        return alpha, add(a, scale(load(lane, ws, v), axis_z(C)))
    if kind == SPHERICAL:
        return add(alpha, rotate(C, load3(lane, ws, v))), a
    if kind == FREE:
        return add(alpha, rotate(C, load3(lane, ws, v + 3))), add(a, rotate(F, load3(lane, ws, v)))
    return A


@leaf
def load_axis(lane, ws, attitude):
    """The z axis of an attitude in ws; the rest of the attitude need not be stored."""
    return load(lane, ws, attitude + 2), load(lane, ws, attitude + 5), load(lane, ws, attitude + 8)


@leaf
def store_axis(lane, ws, attitude, C):
    """Store only the z axis of an attitude, for load_axis."""
    x, y, z = axis_z(C)
    store(lane, ws, attitude + 2, x)
    store(lane, ws, attitude + 5, y)
    store(lane, ws, attitude + 8, z)


@leaf
def hinge_project(lane, kind, F, f, ws, attitude, tau):
    """tau = H f: component of a wrench along the hinge; the body's attitude is in ws [B 3]."""
    n, force = f
    if kind == REVOLUTE:
        store(lane, ws, tau, dot(load_axis(lane, ws, attitude), n))
    elif kind == PRISMATIC:
        store(lane, ws, tau, dot(load_axis(lane, ws, attitude), force))
    elif kind == SPHERICAL:
        store(lane, ws, tau, unrotate(load9(lane, ws, attitude), n))
    elif kind == FREE:
        store(lane, ws, tau, unrotate(F, force))
        store(lane, ws, tau + 3, unrotate(load9(lane, ws, attitude), n))


@leaf
def hinge_reduce(lane, kind, F, C, P, z, ws, tau, gain, added):
    """P_plus, z_plus: inertia and bias transmitted to the inner body.  Stores G = P H^T D^-1 and nu for the last sweep [JR 62].
    `added`: addition of implicit methods to D, for one degree of freedom [B 30]."""
    J, H, M = P
    n, f = z
    if kind == REVOLUTE or kind == PRISMATIC:
        e = axis_z(C)
        if kind == REVOLUTE:
            PH = sym_times(J, e), unrotate(H, e)
            D, Hz = dot(e, PH[0]), dot(e, n)
        else:
            PH = rotate(H, e), sym_times(M, e)
            D, Hz = dot(e, PH[1]), dot(e, f)
        D_inverse = 1.0/(D + added)
        G = scale(D_inverse, PH)
        nu = (load(lane, ws, tau) - Hz)*D_inverse
        store(lane, ws, gain, G)
        store(lane, ws, gain + 6, (nu, D_inverse))
        return sub_outer(P, PH, G), add(z, scale(nu, PH))
    if kind == WELD:
        return P, z

    # spherical and free: eliminate the angular part
    LDL = factor(J)
    G = solve_columns(LDL, H)
    torque = rotate(C, load3(lane, ws, tau + (3 if kind == FREE else 0)))
    nu = solve(LDL, sub(torque, n))
    M_plus, f_plus = sub_product(M, H, G), add(f, unrotate(H, nu))
    if kind == SPHERICAL:
        store(lane, ws, gain, G)
        store(lane, ws, gain + 9, nu)
        return (ZERO_SYM, ZERO_MAT, M_plus), (torque, f_plus)

    # free: eliminate the linear part too; only tau is transmitted
    force = rotate(F, load3(lane, ws, tau))
    a = solve(factor(M_plus), sub(force, f_plus))
    store(lane, ws, gain, (sub(nu, rotate(G, a)), a))
    return (ZERO_SYM, ZERO_MAT, ZERO_SYM), (torque, force)


@leaf
def hinge_accelerate(lane, kind, F, C, A, ws, vdot, gain):
    """Solve for vdot; A is the inner body's acceleration at the hinge, returned with the hinge's contribution [JR 63]."""
    alpha, a = A
    if kind == REVOLUTE or kind == PRISMATIC:
        nu = load(lane, ws, gain + 6) - spatial_dot(load_spatial(lane, ws, gain), A)
        store(lane, ws, vdot, nu)
        if kind == REVOLUTE:
            return add(alpha, scale(nu, axis_z(C))), a
        return alpha, add(a, scale(nu, axis_z(C)))
    if kind == SPHERICAL:
        nu3 = sub(load3(lane, ws, gain + 9), rotate(load9(lane, ws, gain), a))
        store(lane, ws, vdot, unrotate(C, sub(nu3, alpha)))
        return nu3, a
    if kind == FREE:
        nu6 = load_spatial(lane, ws, gain)
        store(lane, ws, vdot, unrotate(F, sub(nu6[1], a)))
        store(lane, ws, vdot + 3, unrotate(C, sub(nu6[0], alpha)))
        return nu6
    return A


@leaf
def quaternion_rate(p, w):
    """p' = p o (w, 0)/2 for an angular rate w in the rotated axes [B 1]."""
    px, py, pz, pw = p
    x, y, z = scale(0.5, w)
    return pw*x + py*z - pz*y, pw*y + pz*x - px*z, pw*z + px*y - py*x, -(px*x + py*y + pz*z)


@leaf
def hinge_rates(lane, kind, ws, q, v, qdot):
    """q' from v."""
    if kind == REVOLUTE or kind == PRISMATIC:
        store(lane, ws, qdot, load(lane, ws, v))
    elif kind == SPHERICAL:
        store(lane, ws, qdot, quaternion_rate(load4(lane, ws, q), load3(lane, ws, v)))
    elif kind == FREE:
        store(lane, ws, qdot, load3(lane, ws, v))
        store(lane, ws, qdot + 3, quaternion_rate(load4(lane, ws, q + 3), load3(lane, ws, v + 3)))


# ---- columns of the hinge map, one by one
@leaf
def n_speeds(kind):
    """Number of speeds of a hinge of this kind."""
    if kind == REVOLUTE or kind == PRISMATIC:
        return 1
    if kind == SPHERICAL:
        return 3
    return 6 if kind == FREE else 0


@leaf
def hinge_column(kind, F, C, j):
    """H_j: motion across the hinge per unit of speed j [JR 50]."""
    if kind == REVOLUTE:
        return axis_z(C), ZERO
    if kind == PRISMATIC:
        return ZERO, axis_z(C)
    if kind == SPHERICAL:
        return column(C, j), ZERO
    if j < 3:
        return ZERO, column(F, j)
    return column(C, j - 3), ZERO
