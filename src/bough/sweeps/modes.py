"""Flexible bodies in the sweeps: where their numbers are, and how the modes move frames.

A flexible body is partitioned into more primitive hinges [J 5]: a MODAL hinge, from the frame of its inboard node to its body
frame, whose body has all the mass, and for each loaded node a NODE, a massless body moved by the modes.  Modal quantities are in
body axes.

    eta     modal coordinates             Pi_j = (psi_j, phi_j)   rotation and translation of a node per unit of mode j
    theta   rotation vector of a node     u                       its displacement

Both are of second order in eta if the body has geometric stiffening [B 10]: (theta, u) = Pi eta + eta^T G eta/2, so Pi depends on
eta, and the node rotates by exp(theta), with omega = J theta' [B 13].

Outward sweep: forces due to the mass and stiffness of a moving flexible body, to second order in the deformation [B 9].

    D, g, z_f     modal mass, coupling to the body's motion (one wrench per mode), modal bias: with the acceleration A of the body

        [P    g] [A    ]   [z  ]   [wrench through the hinge]
        [g^T  D] [eta''] + [z_f] = [0                       ]

The integrals over the mass, half the slope N_r of the inertia and h_r = sum m c x phi_r, are linear in eta.  Displacements of
second order are additional displacement fields whose coordinates x_a depend on the modal coordinates; they produce all geometric
stiffening, by spin and by forces between bodies [B 10].  Points that turn add spins, whose energy is a square [B 9].  Both add
V_a V_a^T to D:

    fields    x_a' = V_a.eta'               V_a = V_a(0) + G_a eta
    spins     p_a  = V_a.eta' + u_a.w       energy p_a^2/2              U_ar = du_a/deta_r
"""

from bough.kernels.algebra import (ZERO, compose, cross, dot, euler, newton_euler, rate_bias, rotate, rotate_spatial,
                                   sum_products, sym_outer, sym_times, transpose, turn_and_rates, turning_rate, unrotate,
                                   unrotate_spatial)
from bough.kernels.hinges import MODAL, NODE
from bough.kernels.jit import leaf
from bough.kernels.lanes import (accumulate, add, flexible_loops_only, flexible_only, load, load3, load9, load_spatial, noinline,
                                 read, read3, read6, read9, read_spatial, scale, store, sub, width_of, zero)
from bough.kernels.linker import sweep
from bough.sweeps import fields as f
from bough.sweeps.implicit import implicit_distance, implicit_place
from bough.sweeps.schema import mode_row, node_parameters, rates_length
from bough.sweeps.blocks import NOTHING, add_row, combine, combine_both, copy_and_add, copy_block, pack_start, padded


# ---- where things are ---------------------------------------------------------------------------------------------
@leaf
def flex_of(plan, row):
    """Row of the flexible body, and its number of modes."""
    flex = read(plan, row + f.FLEX)
    return flex, read(plan, flex + f.MODES)


@leaf
def modal_row(plan, flex):
    """Row of the body's MODAL hinge, which has the modal coordinates."""
    return read(plan, f.HINGES) + read(plan, flex + f.FLEX_HINGE)*f.HINGE_ROW


@leaf
def mode_rows(lane, plan, flex, n):
    """Start and length of the rows of the modes, and positions of g and z_f in a row; the columns of fronts come last."""
    g, z, _, length = mode_row(n, read(plan, flex + f.FLEX_COLUMNS), 4//width_of(lane))
    return read(plan, flex + f.FLEX_WS) + f.MODAL_ROWS, length, g, z


@leaf
def mode_columns(lane, plan, flex, n):
    """Start of the columns of a front in the row of the first mode, and distance to those of the next."""
    rows, length, _, _ = mode_rows(lane, plan, flex, n)
    return rows + length - read(plan, flex + f.FLEX_COLUMNS), length


@leaf
def counts(plan, flex):
    """Numbers of modes, of carried fields and of spins."""
    return read(plan, flex + f.MODES), read(plan, flex + f.CARRIED), read(plan, flex + f.SPINS)


@leaf
def point_parameters(plan, row, n):
    """In pars, for a node: position, shapes, and their slopes per coordinate."""
    at, (place, shapes, curves, _) = read(plan, row + f.NODE_PAR), node_parameters(n)
    return at + place, at + shapes, at + curves


@leaf
def body_attitude(lane, plan, ws, flex):
    return load9(lane, ws, read(plan, modal_row(plan, flex) + f.RECORD) + f.ATTITUDE)


@leaf
def inboard_shapes(lane, plan, flex):
    """In ws: Pi_F of the inboard node: shapes about the body's origin, (psi, phi + l_d x psi) [JR 15]."""
    n, fields, spins = counts(plan, flex)
    rows, length, _, _ = mode_rows(lane, plan, flex, n)
    return rows + length*(n + fields + spins)


@leaf
def node_shapes(plan, row):
    """In ws: Pi of a node, and its scratch."""
    return read(plan, row + f.NODE_WS) + f.NODE_SHAPES, read(plan, read(plan, row + f.FLEX) + f.NODE_SCRATCH)


@leaf
def signed_shapes(lane, plan, row):
    """Shapes in ws that move the end of a hinge relative to its start, their sign and number: those of a NODE; of a MODAL hinge,
    minus those of the inboard node, if the modes move it."""
    flex, n = flex_of(plan, row)
    if read(plan, row + f.KIND) == NODE:
        return node_shapes(plan, row)[0], 1.0, n
    return inboard_shapes(lane, plan, flex), -1.0, n*read(plan, flex + f.INBOARD_MOVES)


# ---- outward: motion ----------------------------------------------------------------------------------------------
@leaf
def inboard_move(lane, plan, pars, ws, row, F, r, omega):
    """From the inboard node's frame F at r to the body frame: C = F exp(-theta), shifted by -l_d [JR 11], [B 13]."""
    flex, n = flex_of(plan, row)
    at_place, given, to = read(plan, flex + f.FLEX_PLACE), read(plan, flex + f.FLEX_SHAPES), inboard_shapes(lane, plan, flex)
    q, v = read(plan, row + f.Q), read(plan, row + f.V)
    o = (zero(lane), zero(lane), zero(lane))
    place, rate = (o, o), (o, o)
    for j in range(n):
        shape = read_spatial(pars, given + 6*j)
        place = add(place, scale(load(lane, ws, q + j), shape))
        rate = add(rate, scale(load(lane, ws, v + j), shape))
    theta, u = place
    if read(plan, flex + f.HAS_PAIRS) == 0:
        u = o                                                   # linearized: undeformed position
    l_d = add(u, read3(pars, at_place))
    turn, J = turn_and_rates(theta)
    for j in range(n):
        psi, phi = read_spatial(pars, given + 6*j)
        psi = rotate(J, psi)
        store(lane, ws, to + 6*j, (psi, add(phi, cross(l_d, psi))))
    C = compose(F, transpose(turn))
    back, s = rotate(C, scale(-1.0, l_d)), rotate(C, scale(-1.0, rate[1]))
    sigma, bias = rotate(C, scale(-1.0, rotate(J, rate[0]))), rotate(C, scale(-1.0, rate_bias(theta, rate[0])))
    store(lane, ws, read(plan, flex + f.FLEX_WS) + f.MODAL_BIAS, bias)
    outer = add(omega, sigma)                                   # the translation is outboard of the rotation
    a = add(cross(add(cross(omega, sigma), bias), back), cross(outer, add(cross(outer, back), scale(2.0, s))))
    return C, add(r, back), sigma, add(a, cross(omega, cross(omega, r)))


@leaf
def bend_shapes(lane, plan, pars, ws, row):
    """Pi(eta) = Pi + G eta of a node with second-order displacements, and its rate [B 10]."""
    flex, n = flex_of(plan, row)
    body, (_, given, curves) = modal_row(plan, flex), point_parameters(plan, row, n)
    shapes, bends = node_shapes(plan, row)
    combine_both(lane, ws, shapes, bends, read(plan, body + f.Q), read(plan, body + f.V), n, pars, given, curves, 6*n)


@leaf
def node_move(lane, plan, pars, ws, row, C, omega):
    """From the body frame C to a node's: translated by u, rotated by exp(theta).  Stores its shapes, psi as J psi [B 13]."""
    flex, n = flex_of(plan, row)
    body, (at_place, given, _), curved = modal_row(plan, flex), point_parameters(plan, row, n), read(plan, flex + f.HAS_CURVES)
    (shapes, bends), q, v = node_shapes(plan, row), read(plan, body + f.Q), read(plan, body + f.V)
    o = (zero(lane), zero(lane), zero(lane))
    place, rate, curve = (o, o), (o, o), (o, o)
    if curved:
        bend_shapes(lane, plan, pars, ws, row)
    for j in range(n):
        shape_0, eta, speed = read_spatial(pars, given + 6*j), load(lane, ws, q + j), load(lane, ws, v + j)
        shape = add((o, o), shape_0)
        if curved:
            shape = load_spatial(lane, ws, shapes + 6*j)
            curve = add(curve, scale(speed, load_spatial(lane, ws, bends + 6*j)))
        place, rate = add(place, scale(0.5*eta, add(shape, shape_0))), add(rate, scale(speed, shape))
    theta, u = place
    if read(plan, flex + f.HAS_PAIRS) == 0:
        u = o                                                   # linearized: undeformed position
    turn, J = turn_and_rates(theta)
    for j in range(n):
        if curved:
            store(lane, ws, shapes + 6*j, rotate(J, load3(lane, ws, shapes + 6*j)))
        else:
            psi, phi = read_spatial(pars, given + 6*j)
            store(lane, ws, shapes + 6*j, (rotate(J, psi), phi))
    bias = add(rate_bias(theta, rate[0]), rotate(J, curve[0]))
    store(lane, ws, read(plan, row + f.NODE_WS) + f.NODE_BIAS, rotate(C, bias))
    r, s = rotate(C, add(u, read3(pars, at_place))), rotate(C, rate[1])
    a = add(cross(omega, add(cross(omega, r), scale(2.0, s))), rotate(C, curve[1]))
    return compose(C, turn), r, rotate(C, rotate(J, rate[0])), a


@flexible_only(otherwise=lambda lane, plan, pars, ws, row, F, r, omega: (F, r, ZERO, ZERO))
def modal_move(lane, plan, pars, ws, row, F, r, omega):
    """hinge_move for the kinds MODAL and NODE; the angular acceleration due to J' is stored in their record."""
    if read(plan, row + f.KIND) == NODE:
        return node_move(lane, plan, pars, ws, row, F, omega)
    if read(plan, read(plan, row + f.FLEX) + f.INBOARD_MOVES):
        return inboard_move(lane, plan, pars, ws, row, F, r, omega)
    store(lane, ws, read(plan, read(plan, row + f.FLEX) + f.FLEX_WS) + f.MODAL_BIAS, ZERO)
    return F, r, ZERO, cross(omega, cross(omega, r))


@flexible_only(otherwise=lambda lane, plan, ws, row, A, eta: A)
def modal_add(lane, plan, ws, row, A, eta):
    """hinge_add for the kinds MODAL and NODE: add the motion due to modal speeds or accelerations `eta` (their position in
    ws)."""
    flex, n = flex_of(plan, row)
    C = body_attitude(lane, plan, ws, flex)
    o = (zero(lane), zero(lane), zero(lane))
    share = (o, o)
    if read(plan, row + f.KIND) == NODE:
        shapes = node_shapes(plan, row)[0]
        for j in range(n):
            share = add(share, scale(load(lane, ws, eta + j), load_spatial(lane, ws, shapes + 6*j)))
    elif read(plan, flex + f.INBOARD_MOVES):
        shapes = inboard_shapes(lane, plan, flex)
        for j in range(n):
            share = sub(share, scale(load(lane, ws, eta + j), load_spatial(lane, ws, shapes + 6*j)))
    return add(A, rotate_spatial(C, share))


@flexible_only(otherwise=lambda lane, plan, row: 0)
def modal_speeds(lane, plan, row):
    """Position of the modal speeds of a MODAL hinge, or of the body of a node."""
    return read(plan, modal_row(plan, read(plan, row + f.FLEX)) + f.V)


@leaf
def shape_motion(lane, plan, pars, ws, row):
    """For the inboard node of a MODAL hinge, or for a NODE: its rotation vector and position in the body, with their rates.
    Shapes with second-order terms, and their rates, are stored in ws."""
    flex, n = flex_of(plan, row)
    body, node, o = modal_row(plan, flex), read(plan, row + f.KIND) == NODE, (zero(lane), zero(lane), zero(lane))
    at_place, given, place, rate = read(plan, flex + f.FLEX_PLACE), read(plan, flex + f.FLEX_SHAPES), (o, o), (o, o)
    curved = node and read(plan, flex + f.HAS_CURVES) != 0
    if node:
        at_place, given, _ = point_parameters(plan, row, n)
    if curved:
        bend_shapes(lane, plan, pars, ws, row)
    for j in range(n):
        shape_0 = read_spatial(pars, given + 6*j)
        shape = add((o, o), shape_0)
        if curved:
            shape = load_spatial(lane, ws, node_shapes(plan, row)[0] + 6*j)
        place = add(place, scale(0.5*load(lane, ws, read(plan, body + f.Q) + j), add(shape, shape_0)))
        rate = add(rate, scale(load(lane, ws, read(plan, body + f.V) + j), shape))
    u, u_rate = place[1], rate[1]
    if read(plan, flex + f.HAS_PAIRS) == 0:
        u, u_rate = o, o                                        # linearized: undeformed position
    return place[0], rate[0], add(u, read3(pars, at_place)), u_rate


@leaf
def shape_rate(lane, plan, pars, ws, row, j, motion):
    """Shape of mode j at such a node, as used by modal_add, and its rate in body axes, after shape_motion."""
    (flex, n), (theta, rate, l_d, l_rate) = flex_of(plan, row), motion
    o = (zero(lane), zero(lane), zero(lane))
    J, change = turn_and_rates(theta)[1], (o, o)
    if read(plan, row + f.KIND) == NODE:
        shape = add((o, o), read_spatial(pars, point_parameters(plan, row, n)[1] + 6*j))
        if read(plan, flex + f.HAS_CURVES):
            shapes, bends = node_shapes(plan, row)
            shape, change = load_spatial(lane, ws, shapes + 6*j), load_spatial(lane, ws, bends + 6*j)
        (psi, phi), (psi_rate, phi_rate) = shape, change
        return (rotate(J, psi), phi), (add(turning_rate(theta, rate, psi), rotate(J, psi_rate)), phi_rate)
    psi, phi = add((o, o), read_spatial(pars, read(plan, flex + f.FLEX_SHAPES) + 6*j))
    turned, turning = rotate(J, psi), turning_rate(theta, rate, psi)
    return (turned, add(phi, cross(l_d, turned))), (turning, add(cross(l_rate, turned), cross(l_d, turning)))


@flexible_only
def modal_rates(lane, plan, ws, row, qdot):
    """hinge_rates for the kind MODAL."""
    if read(plan, row + f.KIND) == MODAL:
        v = read(plan, row + f.V)
        for j in range(flex_of(plan, row)[1]):
            store(lane, ws, qdot + j, load(lane, ws, v + j))


# ---- deform ----------------------------------------------------------------------------------------------------------------
@leaf
def carry_fields(lane, plan, pars, ws, row):
    """V and V' of fields and spins; after the modes, coordinates x_a = (V_a(0) + V_a).eta/2 and rates of the fields [B 10]."""
    flex, (n, fields, spins) = read(plan, row + f.FLEX), counts(plan, read(plan, row + f.FLEX))
    q, v, x, rates = read(plan, row + f.Q), read(plan, row + f.V), read(plan, flex + f.BENT_X), read(plan, flex + f.BENT_RATES)
    straight, along = read(plan, flex + f.FLEX_ALONG), read(plan, flex + f.BENT_ALONG)
    combine_both(lane, ws, along, read(plan, flex + f.BENT_ALONG_RATES), q, v, n, pars, straight,
                 read(plan, flex + f.FLEX_ALONG_SLOPES), padded(n)*(fields + spins))
    if fields:
        for r in range(n):
            store(lane, ws, x + r, load(lane, ws, q + r))
            store(lane, ws, rates + r, load(lane, ws, v + r))
    for a in range(fields):
        place, rate = zero(lane), zero(lane)
        for r in range(n):
            V = load(lane, ws, along + padded(n)*a + r)
            place = place + 0.5*(V + read(pars, straight + padded(n)*a + r))*load(lane, ws, q + r)
            rate = rate + V*load(lane, ws, v + r)
        store(lane, ws, x + n + a, place)
        store(lane, ws, rates + n + a, rate)


@leaf
def bend_integrals(lane, plan, pars, ws, row, x, rates, size):
    """Integrals of the body deformed by the coordinates x, and their rates [B 9]."""
    flex = read(plan, row + f.FLEX)
    length = rates_length(size, read(plan, flex + f.HAS_PAIRS), read(plan, flex + f.HAS_TURNS))
    combine(lane, ws, read(plan, flex + f.BENT_INERTIA), x, size, pars, read(plan, flex + f.FLEX_INERTIA),
            read(plan, flex + f.FLEX_INERTIA_SLOPES), 9*size)
    combine(lane, ws, read(plan, flex + f.BENT_W), rates, size, pars, NOTHING, read(plan, flex + f.FLEX_RATE_SLOPES), length)


@flexible_loops_only(otherwise=lambda lane, plan, ws: 1.0)
def acting(lane, plan, ws):
    """1 if elastic forces act; 0 during loop corrections, which involve no dynamics."""
    return load(lane, ws, read(plan, f.WS_CLOSURE) + f.CLOSURE_ACCELERATION)


@leaf
def elastic_forces(lane, plan, pars, ws, row, to, stride):
    """Add K (eta - rest) + D eta' of all modes, `stride` apart."""
    (flex, n), act = flex_of(plan, row), acting(lane, plan, ws)
    far = implicit_distance(lane, plan)
    q, v, at = read(plan, row + f.Q) + far, read(plan, row + f.V) + far, read(plan, flex + f.FLEX_ELASTIC)
    if read(plan, flex + f.DIAGONAL):
        for r in range(n):
            K, D = read(pars, at + n + r), read(pars, at + 2*n + r)
            store(lane, ws, to + stride*r, act*(read(pars, at + r) + K*implicit_place(lane, plan, ws, q + r, v + r)
                                                   + D*load(lane, ws, v + r)))
    else:
        for r in range(n):
            force, K, D = zero(lane) + read(pars, at + r), at + n + n*r, at + n + n*n + n*r
            for s in range(n):
                place, rate = implicit_place(lane, plan, ws, q + s, v + s), load(lane, ws, v + s)
                force = force + read(pars, K + s)*place + read(pars, D + s)*rate
            store(lane, ws, to + stride*r, act*force)


@flexible_only(otherwise=lambda lane, plan, pars, ws, row: 0.0)
def strain_energy(lane, plan, pars, ws, row):
    """(eta - rest).K (eta - rest)/2 of a MODAL hinge, up to a constant."""
    (flex, n), q = flex_of(plan, row), read(plan, row + f.Q)
    at, energy = read(plan, flex + f.FLEX_ELASTIC), zero(lane)
    diagonal = read(plan, flex + f.DIAGONAL)
    for r in range(n):
        force = zero(lane) + read(pars, at + r)                 # -K rest
        if diagonal:
            force = force + 0.5*read(pars, at + n + r)*load(lane, ws, q + r)
        else:
            for s in range(n):
                force = force + 0.5*read(pars, at + n + n*r + s)*load(lane, ws, q + s)
        energy = energy + force*load(lane, ws, q + r)
    return energy


@leaf
def integrals_of(lane, plan, pars, ws, flex, r):
    """(N_r, h_r) of the deformed body, and at eta = 0."""
    at_rest, no = read9(pars, read(plan, flex + f.FLEX_INERTIA) + 9*r), zero(lane)
    if read(plan, flex + f.HAS_PAIRS):
        return load9(lane, ws, read(plan, flex + f.BENT_INERTIA) + 9*r), at_rest
    return add((no, no, no, no, no, no, no, no, no), at_rest), at_rest


@leaf
def fill_rows(lane, plan, pars, ws, flex, rates, A, omega):
    """g and z_f of modes and fields; returns the sums of eta' N and eta' h."""
    (n, fields, _), (alpha, a), (wx, wy, wz), no = counts(plan, flex), A, omega, zero(lane)
    rows, length, at_g, at_z = mode_rows(lane, plan, flex, n)
    at_t, turning = read(plan, flex + f.FLEX_T), read(plan, flex + f.BENT_W)
    ww, has_pairs = (-wx*wx, -2.0*wx*wy, -2.0*wx*wz, -wy*wy, -2.0*wy*wz, -wz*wz), read(plan, flex + f.HAS_PAIRS)
    N_rate, spin = (no, no, no, no, no, no), (no, no, no)
    for r in range(n + fields):
        (xx, xy, xz, yy, yz, zz, hx, hy, hz), _ = integrals_of(lane, plan, pars, ws, flex, r)
        N, h, t = (xx, xy, xz, yy, yz, zz), (hx, hy, hz), read3(pars, at_t + 3*r)
        z = load(lane, ws, rows + length*r + at_z) + dot(h, alpha) + dot(t, a) + sum_products(ww, N)
        if has_pairs:
            z, rate = z + dot(omega, load3(lane, ws, turning + 3*r)), load(lane, ws, rates + r)
            N_rate, spin = add(N_rate, scale(rate, N)), add(spin, scale(rate, h))
        store(lane, ws, rows + length*r + at_g, ((h, t), z))
    return N_rate, spin


@leaf
def deformed_mass(lane, plan, pars, ws, flex, k, x, rates):
    """J, h of the deformed body; and the sum of eta' t.  A loop of its own: its sums and those of the rows do not fit in
    registers."""
    at_t, size, b, no = read(plan, flex + f.FLEX_T), counts(plan, flex)[0] + counts(plan, flex)[1], k*f.HINGE_PARS, zero(lane)
    added, moment, slide = (no, no, no, no, no, no), (no, no, no), (no, no, no)
    for r in range(size*read(plan, flex + f.HAS_PAIRS)):
        (xx, xy, xz, yy, yz, zz, _, _, _), at_rest = integrals_of(lane, plan, pars, ws, flex, r)
        XX, XY, XZ, YY, YZ, ZZ, _, _, _ = at_rest
        t, eta = read3(pars, at_t + 3*r), load(lane, ws, x + r)
        added = add(added, scale(eta, (xx + XX, xy + XY, xz + XZ, yy + YY, yz + YZ, zz + ZZ)))
        moment, slide = add(moment, scale(eta, t)), add(slide, scale(load(lane, ws, rates + r), t))
    return add(read6(pars, b + f.INERTIA), added), add(read3(pars, b + f.MOMENT), moment), slide


@sweep(features=("flexible", "loops", "implicit"), needs="flexible")
def deform_body(lane, plan, pars, ws, row, k):
    """Rows D, g, z_f of all modes, and J, h, z of the body, for its acceleration A and rate w (body axes), which are in the place
    of J, h:

        J = J0 + sum_r eta_r (N_r(0) + N_r)          n = J alpha + h x a + w x (J w + sum_r eta_r' h_r)
        h = h0 + sum_r eta_r t_r                         + sum_r eta_r' (2 N_r w + h_r')
        g_r = (h_r, t_r)                             f = m a + alpha x h + w x (w x h + 2 sum_r eta_r' t_r)
                                                     z_r = g_r.A - w.N_r w + w.W_r + K eta + D eta'
    """
    noinline()
    flex, (n, fields, spins), no = read(plan, row + f.FLEX), counts(plan, read(plan, row + f.FLEX)), zero(lane)
    own, size, turned = read(plan, flex + f.FLEX_WS) + f.MODAL_J, n + fields, (no, no, no)
    A, omega, (rows, length, _, at_z) = load_spatial(lane, ws, own), load3(lane, ws, own + 6), mode_rows(lane, plan, flex, n)
    x, rates, turning = read(plan, flex + f.BENT_X), read(plan, flex + f.BENT_RATES), read(plan, flex + f.BENT_W)
    if fields == 0:
        x, rates = read(plan, row + f.Q), read(plan, row + f.V)
    if fields + spins:
        carry_fields(lane, plan, pars, ws, row)
    if read(plan, flex + f.HAS_PAIRS):
        bend_integrals(lane, plan, pars, ws, row, x, rates, size)
    for r in range(n, size):
        store(lane, ws, rows + length*r + at_z, no)
    elastic_forces(lane, plan, pars, ws, row, rows + at_z, length)
    N_rate, spin = fill_rows(lane, plan, pars, ws, flex, rates, A, omega)
    J, h, slide = deformed_mass(lane, plan, pars, ws, flex, k, x, rates)
    for r in range(size*read(plan, flex + f.HAS_TURNS)):
        turned = add(turned, scale(load(lane, ws, rates + r), load3(lane, ws, turning + padded(3*size) + 3*r)))
    rotating = add(add(euler(J, A[0], omega), cross(omega, spin)), add(scale(2.0, sym_times(N_rate, omega)), turned))
    demand = newton_euler(read(pars, k*f.HINGE_PARS + f.MASS), h, rotating, omega, A)
    store(lane, ws, own, (J, h, add(demand, (ZERO, cross(omega, scale(2.0, slide))))))
    if fields + spins == 0:
        for r in range(n):
            copy_block(lane, ws, rows + length*r, pars, read(plan, flex + f.FLEX_MASS) + padded(n)*r, n)
    else:
        move_fields(lane, plan, ws, row)
        turn_points(lane, plan, pars, ws, row, A[0], omega)
        add_squares(lane, plan, pars, ws, row)


@leaf
def move_fields(lane, plan, ws, row):
    """Carried fields move with the modes, x_a'' = V_a.eta'' + V_a'.eta': the second part, in their bias and the body's [B 10]."""
    flex, (n, fields, _) = read(plan, row + f.FLEX), counts(plan, read(plan, row + f.FLEX))
    (rows, length, at_g, at_z), v = mode_rows(lane, plan, flex, n), read(plan, row + f.V)
    along_rates, wrench = read(plan, flex + f.BENT_ALONG_RATES), read(plan, flex + f.FLEX_WS) + f.MODAL_WRENCH
    for a in range(fields):
        field, bias = rows + length*(n + a), zero(lane)
        for r in range(n):
            bias = bias + load(lane, ws, along_rates + padded(n)*a + r)*load(lane, ws, v + r)
        accumulate(lane, ws, wrench, scale(bias, load_spatial(lane, ws, field + at_g)))
        accumulate(lane, ws, field + at_z, bias)                # fields are mass-orthonormal


@leaf
def turn_points(lane, plan, pars, ws, row, alpha, omega):
    """Points that turn, to second order: spins p = V.eta' + u.w of the energy p^2/2, u = sum_r eta_r (U_r(0) + U_r)/2 [B 9].
    Their rows have u and, for gravity, its part of first order g:

        z   u.alpha + u'.w, for V           z_r   p (2 V_r' - U_r.w)        (V'.eta' = 0)
        J   u u^T                           n     (u p)' + w x u p
    """
    flex, (n, fields, spins) = read(plan, row + f.FLEX), counts(plan, read(plan, row + f.FLEX))
    (rows, length, at_g, at_z), body = mode_rows(lane, plan, flex, n), read(plan, flex + f.FLEX_WS)
    along, along_rates, about, straight = (read(plan, flex + f.BENT_ALONG), read(plan, flex + f.BENT_ALONG_RATES),
                                           read(plan, flex + f.BENT_ABOUT), read(plan, flex + f.FLEX_ABOUT))
    q, v, no = read(plan, row + f.Q), read(plan, row + f.V), zero(lane)
    o = (no, no, no)
    if spins:
        combine(lane, ws, about, q, n, pars, straight, read(plan, flex + f.FLEX_ABOUT_SLOPES), padded(3*n)*spins)
    for a in range(spins):
        g, u, u_rate, p = o, o, o, no
        at, wide, spin = padded(n)*(fields + a), padded(3*n)*a, rows + length*(n + fields + a)
        for r in range(n):
            U, eta, rate = load3(lane, ws, about + wide + 3*r), load(lane, ws, q + r), load(lane, ws, v + r)
            g, u = add(g, scale(eta, read3(pars, straight + wide + 3*r))), add(u, scale(eta, U))
            u_rate, p = add(u_rate, scale(rate, U)), p + rate*load(lane, ws, along + at + r)
        u = scale(0.5, add(u, g))
        p, bias = p + dot(u, omega), dot(u, alpha) + dot(u_rate, omega)
        p_omega = scale(p, omega)
        for r in range(n):
            accumulate(lane, ws, rows + length*r + at_z, 2.0*p*load(lane, ws, along_rates + at + r)
                       - dot(load3(lane, ws, about + wide + 3*r), p_omega))
        store(lane, ws, spin + at_g, ((u, g), bias))
        accumulate(lane, ws, body + f.MODAL_J, sym_outer(u, u))
        accumulate(lane, ws, body + f.MODAL_WRENCH, add(add(scale(bias, u), scale(p, u_rate)), cross(p_omega, u)))


@leaf
def add_squares(lane, plan, pars, ws, row):
    """D + V V^T from the table's D, and (g, z_f)_r + V_r (g, z_f), for every field and spin."""
    flex, (n, fields, spins) = read(plan, row + f.FLEX), counts(plan, read(plan, row + f.FLEX))
    (rows, length, at_g, at_z), mass = mode_rows(lane, plan, flex, n), read(plan, flex + f.FLEX_MASS)
    for a in range(fields + spins):
        V, square = read(plan, flex + f.BENT_ALONG) + padded(n)*a, rows + length*(n + a) + at_g
        g, z = load_spatial(lane, ws, square), load(lane, ws, square + 6)
        for r in range(n):
            mode, first, factor = rows + length*r, pack_start(lane, r), load(lane, ws, V + r)
            if a == 0:
                copy_and_add(lane, ws, mode + first, pars, mass + padded(n)*r + first, factor, V + first, n - first)
            else:
                add_row(lane, ws, mode + first, factor, V + first, n - first)
            if a < fields:
                add_row(lane, ws, mode + at_g, factor, square, 7)
            else:
                accumulate(lane, ws, mode + at_g, scale(factor, g[0]))
                accumulate(lane, ws, mode + at_z, factor*z)


@leaf
def accelerate_modes(lane, plan, ws, row):
    """Contribution of modal accelerations to the body's wrench and to the modal forces: g eta'', D eta''."""
    flex, n = flex_of(plan, row)
    rows, length, at_g, at_z = mode_rows(lane, plan, flex, n)
    vdot, wrench = read(plan, row + f.VDOT), read(plan, flex + f.FLEX_WS) + f.MODAL_WRENCH
    for r in range(n):
        mode, acceleration = rows + length*r, load(lane, ws, vdot + r)
        accumulate(lane, ws, wrench, scale(acceleration, load_spatial(lane, ws, mode + at_g)))
        force = acceleration*load(lane, ws, mode + r)
        for s in range(r + 1, n):                               # D is stored as its upper triangle
            D = load(lane, ws, mode + s)
            force = force + load(lane, ws, vdot + s)*D
            accumulate(lane, ws, rows + length*s + at_z, acceleration*D)
        accumulate(lane, ws, mode + at_z, force)


@leaf
def with_modal_bias(lane, plan, ws, row, A):
    """Add the angular acceleration stored by modal_move to A."""
    bias = read(plan, read(plan, row + f.FLEX) + f.FLEX_WS) + f.MODAL_BIAS
    if read(plan, row + f.KIND) == NODE:
        bias = read(plan, row + f.NODE_WS) + f.NODE_BIAS
    return add(A, (load3(lane, ws, bias), ZERO))


@flexible_only(otherwise=lambda lane, plan, pars, ws, row, k, C, omega, A, with_vdot: A)
def modal_accelerated(lane, plan, pars, ws, row, k, C, omega, A, with_vdot):
    """Acceleration for the kinds MODAL and NODE, with modal accelerations if asked, and the resulting forces of a MODAL body."""
    flex, _ = flex_of(plan, row)
    A = with_modal_bias(lane, plan, ws, row, A)
    if with_vdot:
        A = modal_add(lane, plan, ws, row, A, read(plan, modal_row(plan, flex) + f.VDOT))
    if read(plan, row + f.KIND) == MODAL:
        store(lane, ws, read(plan, flex + f.FLEX_WS) + f.MODAL_J, (unrotate_spatial(C, A), unrotate(C, omega)))
        deform_body(lane, plan, pars, ws, row, k)
        if with_vdot:
            accelerate_modes(lane, plan, ws, row)
    return A
