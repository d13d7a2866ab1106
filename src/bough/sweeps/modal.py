"""Flexible bodies in the sweeps: loads at nodes are added to the modes, which are eliminated like hinges [JR 62-63].

    eta       modal coordinates; eta'' their accelerations, the vdot of a MODAL hinge
    D         modal mass matrix: that of the body itself, see `sweeps.modes`, and what its nodes carry; here only its upper triangle
    g         one wrench per mode: coupling of eta'' to the acceleration A of the body
    z_f       modal bias: force on each mode for A = 0 and eta'' = 0
    Pi        shape of a node: its motion (psi, phi) per unit rate of each mode
    P, z      articulated inertia and bias wrench of the body, about its origin, in body axes
    d         inverse pivots of D = U^T diag(1/d) U, which replace its diagonal as modes are eliminated

    inward    node     D + Pi^T P Pi,  g + P Pi,  z_f + Pi^T z           body   P - g D^-1 g^T,  z - g D^-1 z_f        [JR 62]
    outward   eta'' = -D^-1 (z_f + g.A),  A + Pi eta'' at a node                                                     [JR 63]

The row (D, g, z_f) of each mode is in the modal record, see `sweeps.modes`.  (In `elastic_forces` there, D is modal damping.)
"""
from bough.kernels.algebra import (ZERO, inertia_times, isotropic, outer, rotate, rotate_inertia, rotate_spatial, rotate_sym,
                                   shift_inertia, shift_wrench, skew, spatial_dot, sym_outer, transpose, unrotate,
                                   unrotate_spatial)
from bough.kernels.hinges import MODAL, NODE
from bough.kernels.jit import leaf
from bough.kernels.lanes import (accumulate, add, load, load3, load_four, load_mass, load_spatial, flexible_only, implicit_only,
                                 one_state_only, read, register, scale, sqrt, store, sub, unpack3, unpack4, zero)
from bough.sweeps.blocks import add_products, eliminate_all, store_column
from bough.sweeps import fields as f
from bough.sweeps.modes import (body_attitude, flex_of, inboard_shapes, modal_add, modal_row, mode_rows,
                                node_shapes, signed_shapes)
from bough.sweeps.tree_motion import hinge_row


@leaf
def own_inertia(lane, plan, pars, ws, flex):
    """J, h, m of the deformed body."""
    J, h = load_mass(lane, ws, read(plan, flex + f.FLEX_WS) + f.MODAL_J)
    return J, h, read(pars, read(plan, flex + f.FLEX_HINGE)*f.HINGE_PARS + f.MASS)


# ---- inward: articulated inertia ---------------------------------------------------------------------------------------
@leaf
def gather_node(lane, plan, pars, ws, row, P, z, r):
    """Add inertia and bias at a node to the modes, g += S P Pi, D += Pi^T P Pi, z_f += Pi^T z, and to the body [JR 62]."""
    flex, n = flex_of(plan, row)
    rows, length, at_g, _ = mode_rows(lane, plan, flex, n)
    C, (shapes, blocks) = body_attitude(lane, plan, ws, flex), node_shapes(plan, row)
    P, z, r = rotate_inertia(transpose(C), P), unrotate_spatial(C, z), unrotate(C, r)
    for j in range(n):
        Pi = load_spatial(lane, ws, shapes + 6*j)
        carried = inertia_times(P, Pi)
        accumulate(lane, ws, rows + length*j + at_g, (shift_wrench(r, carried), spatial_dot(Pi, z)))
        store_column(lane, ws, blocks, j, carried)
    for i in range(n):
        add_products(lane, ws, rows + length*i, load_spatial(lane, ws, shapes + 6*i), blocks, i, n)
    return shift_inertia(r, P), shift_wrench(r, z)


@leaf
def shift_to_inboard(lane, plan, ws, flex, n, P, z):
    """Modes that move the inboard node move the body relative to it: D - g Pi - Pi g + Pi P Pi, g - P Pi, z_f - Pi z [JR 62]."""
    (rows, length, at_g, at_z), shapes = mode_rows(lane, plan, flex, n), inboard_shapes(lane, plan, flex)
    for j in range(n):
        Pi, mode = load_spatial(lane, ws, shapes + 6*j), rows + length*j
        g = load_spatial(lane, ws, mode + at_g)
        reduced = sub(g, inertia_times(P, Pi))
        accumulate(lane, ws, mode + at_z, -spatial_dot(Pi, z))
        store(lane, ws, mode + at_g, reduced)
        accumulate(lane, ws, mode + j, -spatial_dot(Pi, add(g, reduced)))
        for i in range(j):                                      # g of i < j has been reduced: Pi_i.g_j + Pi_j.(g_i - P Pi_i)
            earlier = load_spatial(lane, ws, rows + length*i + at_g)
            lost = spatial_dot(load_spatial(lane, ws, shapes + 6*i), g) + spatial_dot(Pi, earlier)
            accumulate(lane, ws, rows + length*i + j, -lost)


@leaf
def schur_by_blocks(lane, ws, rows, length, at_g, n):
    no = zero(lane)
    A, B, C = (no, no, no, no, no, no), (no, no, no, no, no, no, no, no, no), (no, no, no, no, no, no)
    z = (no, no, no), (no, no, no)
    for j in range(n):                                          # block by block: all together do not fit in registers
        mode = rows + length*j
        d, a = load(lane, ws, mode + j), load3(lane, ws, mode + at_g)
        A = add(A, sym_outer(a, scale(d, a)))
    for j in range(n):
        mode = rows + length*j
        d, a, b = load(lane, ws, mode + j), load3(lane, ws, mode + at_g), load3(lane, ws, mode + at_g + 3)
        B = add(B, outer(a, scale(d, b)))
    for j in range(n):
        mode = rows + length*j
        d, b = load(lane, ws, mode + j), load3(lane, ws, mode + at_g + 3)
        C = add(C, sym_outer(b, scale(d, b)))
    for j in range(n):
        mode = rows + length*j
        z = add(z, scale(load(lane, ws, mode + at_g + 6)*load(lane, ws, mode + j), load_spatial(lane, ws, mode + at_g)))
    return (A, B, C), z


@one_state_only(otherwise=lambda lane, *args: schur_by_blocks(lane, *args))
def schur_complement(lane, ws, rows, length, at_g, n):
    """sum g D^-1 g^T and sum g D^-1 z_f; for one state all rows of g [g^T z_f] at once, two registers each."""
    if n < 3:                                                   # as fast, and does not wait for what was just stored
        return schur_by_blocks(lane, ws, rows, length, at_g, n)
    o = register((0.0, 0.0, 0.0, 0.0))
    sums = (o, o), (o, o), (o, o), (o, o), (o, o), (o, o)
    for j in range(n):
        mode = rows + length*j
        d, at = load(lane, ws, mode + j), mode + at_g
        row = load_four(ws, at), load_four(ws, at + 4)
        sums = add(sums, (scale(d*load(lane, ws, at), row), scale(d*load(lane, ws, at + 1), row),
                          scale(d*load(lane, ws, at + 2), row), scale(d*load(lane, ws, at + 3), row),
                          scale(d*load(lane, ws, at + 4), row), scale(d*load(lane, ws, at + 5), row)))
    (a, a_), (b, b_), (c, c_), (d, d_), (e, e_), (f_, g_) = sums
    (xx, xy, xz, xd), (_, yy, yz, yd), (_, _, zz, zd) = unpack4(a), unpack4(b), unpack4(c)
    (xe, xf, x), (ye, yf, y), (ze, zf, z) = unpack3(a_), unpack3(b_), unpack3(c_)
    (_, _, _, dd), (de, df, u), (ee, ef, v), (_, ff, w) = unpack4(d), unpack3(d_), unpack3(e_), unpack3(g_)
    return ((xx, xy, xz, yy, yz, zz), (xd, xe, xf, yd, ye, yf, zd, ze, zf), (dd, de, df, ee, ef, ff)), ((x, y, z), (u, v, w))


@implicit_only
def stiffen_modes(lane, plan, pars, ws, row):
    """Add g D + g^2 K to the modal mass (upper triangle) [B 30]."""
    (flex, n), at = flex_of(plan, row), read(plan, f.WS_IMPLICIT)
    (rows, length, _, _), elastic = mode_rows(lane, plan, flex, n), read(plan, flex + f.FLEX_ELASTIC)
    rate, place = load(lane, ws, at + f.IMPLICIT_RATE), load(lane, ws, at + f.IMPLICIT_PLACE)
    if read(plan, flex + f.DIAGONAL):
        for r in range(n):
            K, D = read(pars, elastic + n + r), read(pars, elastic + 2*n + r)
            accumulate(lane, ws, rows + length*r + r, place*K + rate*D)
    else:
        for r in range(n):
            for s in range(r, n):
                K, D = read(pars, elastic + n + n*r + s), read(pars, elastic + n + n*n + n*r + s)
                accumulate(lane, ws, rows + length*r + s, place*K + rate*D)


@leaf
def reduce_modes(lane, plan, pars, ws, row, P, z):
    """Eliminate the modes, each like a hinge of one degree of freedom: P - g D^-1 g^T, z - g D^-1 z_f [JR 62]."""
    flex, n = flex_of(plan, row)
    (rows, length, at_g, at_z), tau = mode_rows(lane, plan, flex, n), read(plan, row + f.TAU)
    J, h, m = own_inertia(lane, plan, pars, ws, flex)
    P = add(P, (J, skew(h), isotropic(m)))
    z = add(z, load_spatial(lane, ws, read(plan, flex + f.FLEX_WS) + f.MODAL_WRENCH))
    for j in range(n):
        accumulate(lane, ws, rows + length*j + at_z, -load(lane, ws, tau + j))
    if read(plan, flex + f.INBOARD_MOVES):
        shift_to_inboard(lane, plan, ws, flex, n, P, z)
    stiffen_modes(lane, plan, pars, ws, row)
    least = eliminate_all(lane, ws, rows, length, n)                # eliminates each mode from D, g and z_f of those after it
    P, (moment, force) = sub((P, z), schur_complement(lane, ws, rows, length, at_g, n))
    z = add(moment, scale(0.0*sqrt(least), (1.0, 1.0, 1.0))), force  # NaN, which is reported, if a pivot is negative: bent too far
    C = body_attitude(lane, plan, ws, flex)
    return rotate_inertia(C, P), rotate_spatial(C, z)


@flexible_only(otherwise=lambda lane, plan, pars, ws, row, P, z, r: (P, z))
def modal_reduce(lane, plan, pars, ws, row, P, z, r):
    """hinge_reduce and the shift to the inner body, for the kinds MODAL and NODE."""
    if read(plan, row + f.KIND) == NODE:
        return gather_node(lane, plan, pars, ws, row, P, z, r)
    P, z = reduce_modes(lane, plan, pars, ws, row, P, z)
    return shift_inertia(r, P), shift_wrench(r, z)


@flexible_only
def set_modal_forces_at_rest(lane, plan, ws):
    """State at rest: z_f = g.A, the modal forces due to the bodies' accelerations, without elastic forces [B 18]."""
    for k in range(1, read(plan, f.N_HINGES) + 1):
        row = hinge_row(plan, k)
        if read(plan, row + f.KIND) == MODAL:
            flex, n = flex_of(plan, row)
            rows, length, at_g, at_z = mode_rows(lane, plan, flex, n)
            A = load_spatial(lane, ws, read(plan, row + f.RECORD) + f.ACCELERATION)
            A_b = unrotate_spatial(body_attitude(lane, plan, ws, flex), A)
            for j in range(n):
                mode = rows + length*j
                store(lane, ws, mode + at_z, spatial_dot(load_spatial(lane, ws, mode + at_g), A_b))


# ---- outward: accelerations ----------------------------------------------------------------------------------------------
@flexible_only(otherwise=lambda lane, plan, ws, row, A: A)
def modal_accelerate(lane, plan, ws, row, A):
    """hinge_accelerate for the kinds MODAL, eta'' = -D^-1 (z_f + g.A), and NODE [JR 63]."""
    flex, n = flex_of(plan, row)
    rows, length, at_g, at_z = mode_rows(lane, plan, flex, n)
    vdot = read(plan, modal_row(plan, flex) + f.VDOT)
    if read(plan, row + f.KIND) == MODAL:
        A_b = unrotate_spatial(body_attitude(lane, plan, ws, flex), A)
        for j in range(n - 1, -1, -1):
            mode = rows + length*j
            force = load(lane, ws, mode + at_z) + spatial_dot(load_spatial(lane, ws, mode + at_g), A_b)
            for i in range(n - 1, j, -1):                       # latest result last, so that the other terms need not wait for it
                force = force + load(lane, ws, mode + i)*load(lane, ws, vdot + i)
            store(lane, ws, vdot + j, -force*load(lane, ws, mode + j))
    return modal_add(lane, plan, ws, row, A, vdot)


# ---- inward: wrenches ------------------------------------------------------------------------------------------------------
@leaf
def gather_modal_forces(lane, plan, ws, row, wrench):
    """Add the components of a wrench along the modes to the modal forces; returns the wrench, which at a MODAL hinge includes the
    body's own."""
    flex, (shapes, sign, n) = read(plan, row + f.FLEX), signed_shapes(lane, plan, row)
    rows, length, _, at_z = mode_rows(lane, plan, flex, read(plan, flex + f.MODES))
    C = body_attitude(lane, plan, ws, flex)
    if read(plan, row + f.KIND) == MODAL:
        wrench = add(wrench, rotate_spatial(C, load_spatial(lane, ws, read(plan, flex + f.FLEX_WS) + f.MODAL_WRENCH)))
    f_b = scale(sign, unrotate_spatial(C, wrench))
    for j in range(n):
        accumulate(lane, ws, rows + length*j + at_z, spatial_dot(load_spatial(lane, ws, shapes + 6*j), f_b))
    return wrench


@flexible_only(otherwise=lambda lane, plan, ws, row, wrench: wrench)
def modal_project(lane, plan, ws, row, wrench):
    """hinge_project for the kinds MODAL and NODE: modal forces in place of vdot; returns the wrench including the body's own
    [B 3]."""
    wrench = gather_modal_forces(lane, plan, ws, row, wrench)
    if read(plan, row + f.KIND) == MODAL:
        flex, n = flex_of(plan, row)
        rows, length, _, at_z = mode_rows(lane, plan, flex, n)
        for j in range(n):
            store(lane, ws, read(plan, row + f.VDOT) + j, load(lane, ws, rows + length*j + at_z))
    return wrench


# ---- inward: composite inertia ---------------------------------------------------------------------------------------------
@flexible_only(otherwise=lambda lane, plan, pars, ws, row, R, r: R)
def modal_composite(lane, plan, pars, ws, row, R, r):
    """Composite inertia for the kinds MODAL and NODE, about their origin in inertial axes; a node adds its contribution to the
    modes."""
    flex, _ = flex_of(plan, row)
    if read(plan, row + f.KIND) == NODE:
        J, h, m = R
        gather_node(lane, plan, pars, ws, row, (J, skew(h), isotropic(m)), (ZERO, ZERO), r)
        return R
    C = body_attitude(lane, plan, ws, flex)
    J, h, m = own_inertia(lane, plan, pars, ws, flex)
    return add(R, (rotate_sym(C, J), rotate(C, h), m))
