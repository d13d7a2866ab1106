"""Flexible bodies in the sweeps: where their numbers are, and how the modes move frames.

A flexible body is more primitive hinges [J 5]: a MODAL hinge, from the frame of its inboard node to its body frame, whose body
has all the mass, and for each node that carries something a NODE, a massless body that the modes move.  Modal quantities are in
body axes.

    eta     modal coordinates             Pi_j = (psi_j, phi_j)   what mode j does at a node: rotation, translation
    theta   rotation vector of a node     u                       its displacement

Both are taken to second order where the body stiffens geometrically [B 10]: (theta, u) = Pi eta + eta^T G eta/2, so Pi depends on
eta, and the node turns by exp(theta), with omega = J theta' [B 13].
"""
from bough.kernels.algebra import ZERO, compose, cross, rotate, rotate_spatial, transpose
from bough.kernels.hinges import MODAL, NODE
from bough.kernels.jit import leaf
from bough.kernels.lanes import (add, load, load3, load9, load_spatial, flexible_only, read, read3, read_spatial, scale, store,
                                 sub, width_of, zero)
from bough.kernels.turns import rate_bias, turn_and_rates
from bough.sweeps.blocks import combine_both
from bough.sweeps import fields as f
from bough.sweeps.block_layout import flexible_parameters, flexible_scratch, mode_row, node_parameters


# ---- where things are ---------------------------------------------------------------------------------------------
@leaf
def flex_of(plan, row):
    """The flexible body's row, and its number of modes."""
    flex = read(plan, row + f.FLEX)
    return flex, read(plan, flex + f.MODES)


@leaf
def modal_row(plan, flex):
    """The row of the body's MODAL hinge, which has the modal coordinates."""
    return read(plan, f.HINGES) + read(plan, flex + f.FLEX_HINGE)*f.HINGE_ROW


@leaf
def mode_rows(lane, plan, flex, n):
    """Where the rows of the modes start, how long one is, and where g and z_f are in it; columns of fronts are its end."""
    g, z, _, length = mode_row(n, read(plan, flex + f.FLEX_COLUMNS), 4//width_of(lane))
    return read(plan, flex + f.FLEX_WS) + f.MODAL_ROWS, length, g, z


@leaf
def mode_columns(lane, plan, flex, n):
    """Where the columns of a front start in the row of the first mode, and how far those of the next are."""
    rows, length, _, _ = mode_rows(lane, plan, flex, n)
    return rows + length - read(plan, flex + f.FLEX_COLUMNS), length


@leaf
def counts(plan, flex):
    """Modes, and with them the fields that they carry along."""
    n = read(plan, flex + f.MODES)
    return n, n + read(plan, flex + f.CARRIED)


@leaf
def deformed_blocks(plan, flex):
    """In the room of a visit: E, W and h', coordinates, rates, slopes of the carried coordinates, rates of these."""
    E = read(plan, flex + f.FLEX_ROOM)
    _, W, x, rates, slopes, bends, _ = flexible_scratch(read(plan, flex + f.MODES), read(plan, flex + f.CARRIED))
    return E, E + W, E + x, E + rates, E + slopes, E + bends


@leaf
def parameter_blocks(plan, flex):
    """Where blocks of a flexible body start from FLEX_PAR on in pars: see `FLEXIBLE_PARAMETERS` in `sweeps.records`."""
    return flexible_parameters(read(plan, flex + f.MODES), read(plan, flex + f.CARRIED), read(plan, flex + f.HAS_PAIRS),
                               read(plan, flex + f.HAS_TURNS), read(plan, flex + f.DIAGONAL))


@leaf
def body_parameters(plan, flex):
    """In pars: modal mass; place and shapes of the inboard node; forces at eta = 0 with stiffness and damping."""
    at, (mass, place, shapes, elastic, _, _, _, _, _, _) = read(plan, flex + f.FLEX_PAR), parameter_blocks(plan, flex)
    return at + mass, at + place, at + shapes, at + elastic


@leaf
def integral_parameters(plan, flex):
    """In pars: E and t at eta = 0, what coordinates add to E, what rates add to W and h', what modes add to carried slopes."""
    at, (_, _, _, _, E, t, E_slopes, rate_slopes, G, _) = read(plan, flex + f.FLEX_PAR), parameter_blocks(plan, flex)
    return at + E, at + t, at + E_slopes, at + rate_slopes, at + G


@leaf
def point_parameters(plan, row, n):
    """In pars, of a node: place, shapes, what each coordinate adds to these."""
    at, (place, shapes, curves, _) = read(plan, row + f.NODE_PAR), node_parameters(n)
    return at + place, at + shapes, at + curves


@leaf
def body_attitude(lane, plan, ws, flex):
    return load9(lane, ws, read(plan, modal_row(plan, flex) + f.RECORD) + f.ATTITUDE)


@leaf
def inboard_shapes(lane, plan, flex):
    """In ws: Pi_F of the inboard node, what each mode does there, about the body's origin, (psi, phi + l_d x psi) [JR 15]."""
    n, size = counts(plan, flex)
    rows, length, _, _ = mode_rows(lane, plan, flex, n)
    return rows + length*size


@leaf
def node_shapes(plan, row):
    """In ws: Pi of a node, and the room of a visit."""
    return read(plan, row + f.NODE_WS) + f.NODE_SHAPES, read(plan, read(plan, row + f.FLEX) + f.FLEX_ROOM)


# ---- outward: motion ----------------------------------------------------------------------------------------------
@leaf
def inboard_move(lane, plan, pars, ws, row, F, r, omega):
    """From the inboard node's frame F at r to the body frame: C = F exp(-theta), and back by l_d [JR 11], [B 13]."""
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
        u = o                                                   # ruthlessly linearized: undeformed places
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
    outer = add(omega, sigma)                                   # the slide is outboard of the turn
    a = add(cross(add(cross(omega, sigma), bias), back), cross(outer, add(cross(outer, back), scale(2.0, s))))
    return C, add(r, back), sigma, add(a, cross(omega, cross(omega, r)))


@leaf
def bend_shapes(lane, plan, pars, ws, row):
    """Pi(eta) = Pi + G eta of a node that moves along a curve, and the rate of it [B 10]."""
    flex, n = flex_of(plan, row)
    body, (_, given, curves) = modal_row(plan, flex), point_parameters(plan, row, n)
    shapes, bends = node_shapes(plan, row)
    combine_both(lane, ws, shapes, bends, read(plan, body + f.Q), read(plan, body + f.V), n, pars, given, curves, 6*n)


@leaf
def node_move(lane, plan, pars, ws, row, C, omega):
    """From the body frame C to a node's: moved by u, turned by exp(theta); keeps its shapes, psi as J psi [B 13]."""
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
        u = o                                                   # ruthlessly linearized: undeformed places
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


def modal_move(lane, plan, pars, ws, row, F, r, omega):
    """hinge_move of the kinds MODAL and NODE; the angular acceleration that J' makes waits in their record."""
    if read(plan, row + f.KIND) == NODE:
        return node_move(lane, plan, pars, ws, row, F, omega)
    if read(plan, read(plan, row + f.FLEX) + f.INBOARD_MOVES):
        return inboard_move(lane, plan, pars, ws, row, F, r, omega)
    store(lane, ws, read(plan, read(plan, row + f.FLEX) + f.FLEX_WS) + f.MODAL_BIAS, ZERO)
    return F, r, ZERO, cross(omega, cross(omega, r))


flexible_only(modal_move, lambda lane, plan, pars, ws, row, F, r, omega: (F, r, ZERO, ZERO))


def modal_add(lane, plan, ws, row, A, eta):
    """hinge_add of the kinds MODAL and NODE: the share of modal speeds or accelerations `eta` (their place in ws)."""
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


flexible_only(modal_add, lambda lane, plan, ws, row, A, eta: A)


def modal_speeds(lane, plan, row):
    """Where the modal speeds of a MODAL hinge's or a node's body are."""
    return read(plan, modal_row(plan, read(plan, row + f.FLEX)) + f.V)


flexible_only(modal_speeds, lambda lane, plan, row: 0)


def modal_rates(lane, plan, ws, row, qdot):
    """hinge_rates of the kind MODAL."""
    if read(plan, row + f.KIND) == MODAL:
        v = read(plan, row + f.V)
        for j in range(flex_of(plan, row)[1]):
            store(lane, ws, qdot + j, load(lane, ws, v + j))


flexible_only(modal_rates, lambda lane, plan, ws, row, qdot: None)
