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

The integrals E_r = sum m phi_r c^T over the mass are linear in eta; N_r = tr(E_r) I - E_r and h_r = sum m c x phi_r follow from
E_r.  Displacements of second order are additional displacement fields whose coordinates depend on the modal coordinates; they
produce all geometric stiffening, by spin and by forces between bodies [B 10].
"""

from bough.kernels.algebra import (ZERO, axial, compose, cross, dot, euler, isotropic, newton_euler, rate_bias, rotate,
                                   rotate_spatial, sym_outer, symmetric_part, trace_less, transpose, turn_and_rates,
                                   turning_rate, unrotate, unrotate_spatial)
from bough.kernels.hinges import MODAL, NODE
from bough.kernels.jit import leaf
from bough.kernels.lanes import (accumulate, add, flexible_loops_only, flexible_only, load, load3, load9, load_spatial, noinline,
                                 read, read3, read6, read9, read_spatial, scale, store, sub, width_of, zero)
from bough.kernels.linker import sweep
from bough.sweeps import fields as f
from bough.sweeps.implicit import implicit_distance, implicit_place
from bough.sweeps.schema import flexible_parameters, flexible_scratch, mode_row, node_parameters, rates_length
from bough.sweeps.blocks import NOTHING, add_row, add_two_rows, combine, combine_both, copy_block, pack_start, padded


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
    """Number of modes n, and of modes and carried fields together."""
    n = read(plan, flex + f.MODES)
    return n, n + read(plan, flex + f.CARRIED)


@leaf
def deformed_blocks(plan, flex):
    """In the scratch of a body: E, W and h', coordinates, rates, slopes of the carried coordinates and their rates."""
    E, (_, slopes, W, x, rates, bends, _, _, _, _, _) = read(plan, flex + f.FLEX_ROOM), scratch_blocks(plan, flex)
    return E, E + W, E + x, E + rates, E + slopes, E + bends


@leaf
def scratch_blocks(plan, flex):
    return flexible_scratch(read(plan, flex + f.MODES), read(plan, flex + f.CARRIED), read(plan, flex + f.SPINS))


@leaf
def spin_blocks(plan, flex):
    """In the scratch of a body, for the spins: masses, slopes and their rates, turns."""
    at, (_, _, _, _, _, _, masses, slopes, bends, turns, _) = read(plan, flex + f.FLEX_ROOM), scratch_blocks(plan, flex)
    return at + masses, at + slopes, at + bends, at + turns


@leaf
def parameter_blocks(plan, flex):
    """Offsets of a flexible body's blocks from FLEX_PAR in pars: see `FLEXIBLE_PARAMETERS` in `sweeps.records`."""
    return flexible_parameters(read(plan, flex + f.MODES), read(plan, flex + f.CARRIED), read(plan, flex + f.HAS_PAIRS),
                               read(plan, flex + f.HAS_TURNS), read(plan, flex + f.DIAGONAL), read(plan, flex + f.SPINS))


@leaf
def body_parameters(plan, flex):
    """In pars: modal mass; position and shapes of the inboard node; forces at eta = 0, stiffness and damping."""
    at, (mass, place, shapes, elastic, _, _, _, _, _, _, _, _, _, _) = read(plan, flex + f.FLEX_PAR), parameter_blocks(plan, flex)
    return at + mass, at + place, at + shapes, at + elastic


@leaf
def integral_parameters(plan, flex):
    """In pars: E and t at eta = 0, slopes of E (per coordinate), of W and h' (per rate), and of the carried slopes (per mode)."""
    at, (_, _, _, _, E, t, E_slopes, rate_slopes, G, _, _, _, _, _) = read(plan, flex + f.FLEX_PAR), parameter_blocks(plan, flex)
    return at + E, at + t, at + E_slopes, at + rate_slopes, at + G


@leaf
def spin_parameters(plan, flex):
    """In pars, of the spins: masses, moments, slopes, turns."""
    at, (_, _, _, _, _, _, _, _, _, masses, moments, slopes, turns, _) = read(plan, flex + f.FLEX_PAR), parameter_blocks(plan, flex)
    return at + masses, at + moments, at + slopes, at + turns


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
    n, size = counts(plan, flex)
    rows, length, _, _ = mode_rows(lane, plan, flex, n)
    return rows + length*size


@leaf
def node_shapes(plan, row):
    """In ws: Pi of a node, and its scratch."""
    return read(plan, row + f.NODE_WS) + f.NODE_SHAPES, read(plan, read(plan, row + f.FLEX) + f.NODE_ROOM)


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
    (_, at_place, given, _), to = body_parameters(plan, flex), inboard_shapes(lane, plan, flex)
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
    (_, at_place, given, _), place, rate = body_parameters(plan, flex), (o, o), (o, o)
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
    psi, phi = add((o, o), read_spatial(pars, body_parameters(plan, flex)[2] + 6*j))
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
    """Append the coordinates and rates of the carried fields, rho_a = eta^T G_a eta/2: slopes S = G eta, and S' [B 10]."""
    flex, (n, size) = read(plan, row + f.FLEX), counts(plan, read(plan, row + f.FLEX))
    q, v, (_, _, x, rates, slopes, bends) = read(plan, row + f.Q), read(plan, row + f.V), deformed_blocks(plan, flex)
    G = integral_parameters(plan, flex)[4]
    for r in range(n):
        store(lane, ws, x + r, load(lane, ws, q + r))
        store(lane, ws, rates + r, load(lane, ws, v + r))
    combine_both(lane, ws, slopes, bends, q, v, n, pars, NOTHING, G, padded(n)*(size - n))
    for a in range(size - n):
        rho, rate = zero(lane), zero(lane)
        for r in range(n):
            slope = load(lane, ws, slopes + padded(n)*a + r)
            rho, rate = rho + 0.5*slope*load(lane, ws, q + r), rate + slope*load(lane, ws, v + r)
        store(lane, ws, x + n + a, rho)
        store(lane, ws, rates + n + a, rate)


@leaf
def bend_integrals(lane, plan, pars, ws, row, x, rates):
    """Integrals of the body deformed by the coordinates x, and their rates [B 9]."""
    flex, (_, size) = read(plan, row + f.FLEX), counts(plan, read(plan, row + f.FLEX))
    E, W, _, _, _, _ = deformed_blocks(plan, flex)
    straight, _, E_slopes, rate_slopes, _ = integral_parameters(plan, flex)
    length = rates_length(size, read(plan, flex + f.HAS_PAIRS), read(plan, flex + f.HAS_TURNS))
    combine(lane, ws, E, x, size, pars, straight, E_slopes, 9*size)
    combine(lane, ws, W, rates, size, pars, NOTHING, rate_slopes, length)


@flexible_loops_only(otherwise=lambda lane, plan, ws: 1.0)
def acting(lane, plan, ws):
    """1 if elastic forces act; 0 during loop corrections, which involve no dynamics."""
    return load(lane, ws, read(plan, f.WS_CLOSURE) + f.CLOSURE_ACCELERATION)


@leaf
def elastic_forces(lane, plan, pars, ws, row, to, stride):
    """Add K (eta - rest) + D eta' of all modes, `stride` apart."""
    (flex, n), act = flex_of(plan, row), acting(lane, plan, ws)
    far = implicit_distance(lane, plan)
    q, v, at = read(plan, row + f.Q) + far, read(plan, row + f.V) + far, body_parameters(plan, flex)[3]
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
    at, energy = body_parameters(plan, flex)[3], zero(lane)
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


@sweep(features=("flexible", "loops", "implicit"), needs="flexible")
def deform_body(lane, plan, pars, ws, row, k):
    """Rows D, g, z_f of all modes and carried fields, and J, h, z of the body, for its acceleration A and rate omega (body axes),
    which are in the place of J, h:

        J = J0 + sum_r eta_r sym(N_r(0) + N_r)       n = J alpha + h x a + w x J w + sum_r eta_r' (2 N_r w + h_r')
        h = h0 + sum_r eta_r t_r                     f = m a + alpha x h + w x (w x h + 2 sum_r eta_r' t_r)
        g_r = (h_r, t_r)                             z_r = g_r.A - w.N_r w + w.W_r + K eta + D eta'
    """
    noinline()
    flex, (n, size) = read(plan, row + f.FLEX), counts(plan, read(plan, row + f.FLEX))
    own = read(plan, flex + f.FLEX_WS) + f.MODAL_J
    A, omega = load_spatial(lane, ws, own), load3(lane, ws, own + 6)
    bent, turning, x, rates, _, _ = deformed_blocks(plan, flex)
    straight, at_t, _, _, _ = integral_parameters(plan, flex)
    has_pairs, has_turns = read(plan, flex + f.HAS_PAIRS), read(plan, flex + f.HAS_TURNS)
    (rows, length, at_g, at_z), mass = mode_rows(lane, plan, flex, n), body_parameters(plan, flex)[0]
    alpha, a = A
    no = zero(lane)
    o = (no, no, no)
    added, moment, spin, slide = (no, no, no, no, no, no), o, o, o      # sums of eta (E(0) + E), eta t, eta' (2 N w + h'), eta' t
    if size > n:
        carry_fields(lane, plan, pars, ws, row)
    else:
        x, rates = read(plan, row + f.Q), read(plan, row + f.V)
    if has_pairs:
        bend_integrals(lane, plan, pars, ws, row, x, rates)
    for r in range(n, size):
        store(lane, ws, rows + length*r + at_z, no)
    elastic_forces(lane, plan, pars, ws, row, rows + at_z, length)
    for r in range(size):
        E, t = add((no, no, no, no, no, no, no, no, no), read9(pars, straight + 9*r)), read3(pars, at_t + 3*r)
        if has_pairs:
            E = load9(lane, ws, bent + 9*r)
        h, N_omega = axial(E), trace_less(E, omega)
        z = load(lane, ws, rows + length*r + at_z) + dot(h, alpha) + dot(t, a) - dot(omega, N_omega)
        if has_pairs:
            z = z + dot(omega, load3(lane, ws, turning + 3*r))
            spin = add(spin, scale(2.0*load(lane, ws, rates + r), N_omega))
        copy_block(lane, ws, rows + length*r, pars, mass + padded(n)*r, n)
        store(lane, ws, rows + length*r + at_g, ((h, t), z))
    for r in range(size*has_pairs):                             # a separate loop: the sums of both do not fit in registers
        E, t, eta = load9(lane, ws, bent + 9*r), read3(pars, at_t + 3*r), load(lane, ws, x + r)
        E_0 = read9(pars, straight + 9*r)
        added, moment = add(added, scale(eta, symmetric_part(add(E, E_0)))), add(moment, scale(eta, t))
        slide = add(slide, scale(load(lane, ws, rates + r), t))
    for r in range(size*has_turns):
        spin = add(spin, scale(load(lane, ws, rates + r), load3(lane, ws, turning + padded(3*size) + 3*r)))
    b = k*f.HINGE_PARS
    J = add(add(read6(pars, b + f.INERTIA), isotropic(added[0] + added[3] + added[5])), scale(-1.0, added))
    h = add(read3(pars, b + f.MOMENT), moment)
    demand = newton_euler(read(pars, b + f.MASS), h, add(euler(J, alpha, omega), spin), omega, A)
    store(lane, ws, own, (J, h, add(demand, (ZERO, cross(omega, scale(2.0, slide))))))
    distribute_carried(lane, plan, ws, row)
    if read(plan, flex + f.SPINS):
        turn_points(lane, plan, pars, ws, row, alpha, omega)


@leaf
def distribute_carried(lane, plan, ws, row):
    """Carried fields move with the modes, rho'' = S eta'' + S' eta': add their rows (mass, g, z) to those of the modes [B 10]."""
    flex, (n, size) = read(plan, row + f.FLEX), counts(plan, read(plan, row + f.FLEX))
    (rows, length, at_g, at_z), v = mode_rows(lane, plan, flex, n), read(plan, row + f.V)
    _, _, _, _, slopes, bends = deformed_blocks(plan, flex)
    wrench = read(plan, flex + f.FLEX_WS) + f.MODAL_WRENCH
    for a in range(size - n):
        field, S, bias = rows + length*(n + a), slopes + padded(n)*a, zero(lane)
        for r in range(n):
            bias = bias + load(lane, ws, bends + padded(n)*a + r)*load(lane, ws, v + r)
        accumulate(lane, ws, wrench, scale(bias, load_spatial(lane, ws, field + at_g)))
        accumulate(lane, ws, field + at_z, bias)                # fields are mass-orthonormal
        for r in range(n):  # D + m S + S m^T + S S, m the mass coupling of the field with the modes
            mixed, slope, mode, first = load(lane, ws, field + r), load(lane, ws, S + r), rows + length*r, pack_start(lane, r)
            add_two_rows(lane, ws, mode + first, mixed + slope, S + first, slope, field + first, n - first)
            add_row(lane, ws, mode + at_g, slope, field + at_g, at_z + 1 - at_g)
            accumulate(lane, ws, mode + at_z, mixed*bias)


@leaf
def turn_points(lane, plan, pars, ws, row, alpha, omega):
    """Rotating points to second order: the spins, their mean rates S eta' + Q.w, complete the energy to squares [B 9]."""
    (flex, n), q, v = flex_of(plan, row), read(plan, row + f.Q), read(plan, row + f.V)
    (at_m, at_g, at_S, at_Q), spins = spin_parameters(plan, flex), read(plan, flex + f.SPINS)
    masses, slopes, bends, turns = spin_blocks(plan, flex)
    copy_block(lane, ws, masses, pars, at_m, padded(n)*spins)
    combine_both(lane, ws, slopes, bends, q, v, n, pars, NOTHING, at_S, padded(n)*spins)
    combine(lane, ws, turns, q, n, pars, NOTHING, at_Q, padded(3*n)*spins)
    for i in range(6):
        store(lane, ws, read(plan, flex + f.FLEX_WS) + f.MODAL_TURNED + i, zero(lane))
    for a in range(spins):
        at, wide = padded(n)*a, padded(3*n)*a
        add_spin(lane, plan, pars, ws, row, (masses + at, slopes + at, bends + at, turns + wide, at_g + wide), alpha, omega)


@leaf
def add_spin(lane, plan, pars, ws, row, places, alpha, omega):
    """A spin sigma = S eta' + Q.w with the momentum p = sigma + m eta' + g.w goes to rows and body by S and Q (S' eta' = 0):

        D + m S + S m^T + S S     z_r + S_r p' + m_r sigma' + p (2 S_r' - dQ_r.w) - sigma dg_r.w
        h_r + S_r (g + Q) + m_r Q       J + g Q^T + Q g^T + Q Q^T       (g sigma + Q p)' + w x (g sigma + Q p)
    """
    (flex, n), q, v = flex_of(plan, row), read(plan, row + f.Q), read(plan, row + f.V)
    (rows, length, at_g, at_z), body = mode_rows(lane, plan, flex, n), read(plan, flex + f.FLEX_WS)
    masses, slopes, bends, turns, moments = places
    no = zero(lane)
    o = (no, no, no)
    Q, Q_rate, g, g_rate, sigma, p = o, o, o, o, no, no
    for r in range(n):
        eta, rate, dQ, dg = load(lane, ws, q + r), load(lane, ws, v + r), load3(lane, ws, turns + 3*r), read3(pars, moments + 3*r)
        Q, Q_rate = add(Q, scale(0.5*eta, dQ)), add(Q_rate, scale(rate, dQ))
        g, g_rate = add(g, scale(eta, dg)), add(g_rate, scale(rate, dg))
        sigma, p = sigma + rate*load(lane, ws, slopes + r), p + rate*load(lane, ws, masses + r)
    sigma, change = sigma + dot(Q, omega), dot(Q, alpha) + dot(Q_rate, omega)
    p, force, both = p + sigma + dot(g, omega), change + dot(g, alpha) + dot(g_rate, omega), add(g, Q)
    for r in range(n):
        m, S, mode, first = load(lane, ws, masses + r), load(lane, ws, slopes + r), rows + length*r, pack_start(lane, r)
        dQ, dg = load3(lane, ws, turns + 3*r), read3(pars, moments + 3*r)
        add_two_rows(lane, ws, mode + first, m + S, slopes + first, S, masses + first, n - first)
        accumulate(lane, ws, mode + at_g, add(scale(S, both), scale(m, Q)))
        accumulate(lane, ws, mode + at_z, S*force + m*change + p*(2.0*load(lane, ws, bends + r) - dot(dQ, omega))
                   - sigma*dot(dg, omega))
    moment = add(add(scale(sigma, g_rate), scale(change, g)), add(scale(p, Q_rate), scale(force, Q)))
    accumulate(lane, ws, body + f.MODAL_WRENCH, add(moment, cross(omega, add(scale(sigma, g), scale(p, Q)))))
    turned = add(sym_outer(g, Q), sym_outer(Q, both))
    accumulate(lane, ws, body + f.MODAL_J, turned)
    accumulate(lane, ws, body + f.MODAL_TURNED, turned)


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
