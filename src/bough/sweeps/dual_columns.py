"""All derivatives of inverse dynamics of one state of a tree by dual numbers, four directions at a time, only where they matter.

A direction of a hinge moves its subtree; on the path from there to the root only the wrench changes [B 63].  `base` is the
workspace of the state itself, with the motion of all bodies; `ws` is that of the duals, in which only the hinges in the subtrees
of the four directions are visited.  For each pack of four speeds the route has

    position of the list | number of hinges;        the list: hinge, and whether its inner one is on the list
"""
from math import inf

from bough.kernels.algebra import dot, shift_wrench, spatial_dot, unrotate, unrotate_spatial
from bough.kernels.hinges import (FREE, MODAL, PRISMATIC, REVOLUTE, SPHERICAL, hinge_add, hinge_project, load_axis, n_speeds,
                                  quaternion_rate, store_axis)
from bough.kernels.jit import kernel, leaf
from bough.kernels.lanes import (accumulate, add, align_stack, flexible_only, lanes_of, load, load3, load4, load9, load_spatial,
                                 noinline, parameters_of, pointer_to, put_tangent, quads_of, read, scale, single_of, store,
                                 tangent_of, zero)
from bough.kernels.linker import sweep
from bough.sweeps import fields as f
from bough.sweeps.blocks import load_rows, n_rows, store_rows
from bough.sweeps.calls import SUSPECT, doubts, inverse_sweeps, load_state
from bough.sweeps.columns import (clear_columns, copy_arguments, empty_columns, factor_columns, ill_conditioned, inertia_columns,
                                  solve_columns, store_blocks)
from bough.sweeps.composite import gather_mass_matrix
from bough.sweeps.derivative import ORDER_N, accelerations
from bough.sweeps.loop_jacobian import entry_place
from bough.sweeps.modal import gather_modal_forces
from bough.sweeps.modes import body_attitude, flex_of, modal_accelerated, mode_rows, signed_shapes
from bough.sweeps.tree_motion import (MOTION, body_wrench, hinge_attitude, hinge_row, load_motion, move_outward, record_of,
                                      sines_of, vdot_motion)
from bough.sweeps.pairs import add_springs, speed_row


@leaf
def tangents3(u):
    return tangent_of(u[0]), tangent_of(u[1]), tangent_of(u[2])


# ---- seeds -------------------------------------------------------------------------------------------------------------
@leaf
def seed(lane, plan, route, base, ws, s, by_speed, i, size):
    """Set the tangent of lane i along speed s or along its coordinate; size 0 clears it."""
    one, k = single_of(lane), read(route, speed_row(route, s) + f.SPEED_HINGE)
    c, row = read(route, speed_row(route, s) + f.SPEED_COMPONENT), hinge_row(plan, k)
    kind, q = read(plan, row + f.KIND), read(plan, row + f.Q)
    first = 3 if kind == FREE else 0
    if by_speed:
        put_tangent(lane, ws, read(plan, row + f.V) + c, i, size)
    elif kind == REVOLUTE:
        sine, cosine = q + read(plan, f.WS_SINES) - read(plan, f.WS_X), q + read(plan, f.WS_COSINES) - read(plan, f.WS_X)
        put_tangent(lane, ws, sine, i, size*load(one, base, cosine))
        put_tangent(lane, ws, cosine, i, -size*load(one, base, sine))
    elif kind == SPHERICAL or (kind == FREE and c >= 3):
        e = (size*(c - first == 0), size*(c - first == 1), size*(c - first == 2))
        x, y, z, w = quaternion_rate(load4(one, base, q + first), e)                        # [B 1]
        put_tangent(lane, ws, q + first, i, x)
        put_tangent(lane, ws, q + first + 1, i, y)
        put_tangent(lane, ws, q + first + 2, i, z)
        put_tangent(lane, ws, q + first + 3, i, w)
    else:
        put_tangent(lane, ws, q + c, i, size)


@leaf
def seed_pack(lane, plan, route, base, ws, pack, by_speed, size):
    for i in range(min(4, read(route, f.COLUMNS_SPEEDS) - 4*pack)):
        seed(lane, plan, route, base, ws, 4*pack + i, by_speed, i, size)


# ---- the sweeps over a list of hinges ----------------------------------------------------------------------------------
@leaf
def as_numbers(lane, motion):
    """A motion of the state itself, as a constant."""
    C, omega, A = motion
    o = zero(lane)
    v = (o, o, o)
    return add((o, o, o, o, o, o, o, o, o), C), add(v, omega), add((v, v), A)


@leaf
def listed(route, pack):
    """Start of the list of a pack, and its number of hinges."""
    at = read(route, f.COLUMNS_GROUPS) + 2*pack
    return read(route, at), read(route, at + 1)


@leaf
def scatter_listed(lane, plan, pars, ws, base, route, pack):
    """scatter_motion with vdot for the hinges on a list; inner bodies not on the list are constant."""
    one, (at, count), before = single_of(lane), listed(route, pack), -1
    sines = sines_of(plan)
    C, omega, A = as_numbers(lane, load_motion(one, base, record_of(plan, 0)))
    for n in range(count):
        k = read(route, at + 2*n)
        row = hinge_row(plan, k)
        i, kind = read(plan, row + f.INNER), read(plan, row + f.KIND)
        record, branch = read(plan, row + f.RECORD), read(plan, row + f.BRANCH)
        if i != before or read(route, at + 2*n + 1) == 0:
            if read(route, at + 2*n + 1):
                C, omega, A = load_motion(lane, ws, record_of(plan, i))
            else:
                C, omega, A = as_numbers(lane, load_motion(one, base, record_of(plan, i)))
        before = k
        F, C, r, omega, A = move_outward(lane, plan, pars, ws, k, C, omega, A, sines)
        store(lane, ws, record + f.OFFSET, r)
        if kind >= MODAL:
            store(lane, ws, record + f.ATTITUDE, C)
            A = modal_accelerated(lane, plan, pars, ws, row, k, C, omega, A, True)
        else:
            A = hinge_add(lane, kind, F, C, A, ws, read(plan, row + f.VDOT))
        if read(plan, row + f.MASSIVE):
            store(lane, ws, record + f.GAIN, body_wrench(lane, plan, pars, ws, k, C, omega, A))
        if branch:
            store(lane, ws, record + f.ATTITUDE, (C, omega, A))
            o = (zero(lane), zero(lane), zero(lane))
            store(lane, ws, branch + f.SHARED_ACCEL, (o, o))
        elif kind > PRISMATIC:
            store(lane, ws, record + f.ATTITUDE, C)
        else:
            store_axis(lane, ws, record + f.ATTITUDE, C)


@leaf
def add_three(quads, base, at, u):
    """Add to the packs of three speeds."""
    accumulate(quads, base, at, u[0])
    accumulate(quads, base, at + 3, u[1])
    accumulate(quads, base, at + 6, u[2])


@leaf
def project_tangents(lane, plan, pars, ws, base, row, k, wrench, at):
    """Tangents of tau = H f for a hinge on the list, into B: the packs of its speeds are three apart."""
    kind, tau = read(plan, row + f.KIND), read(plan, row + f.TAU)                       # the torques of the duals are not used
    hinge_project(lane, kind, hinge_attitude(pars, k), wrench, ws, read(plan, row + f.RECORD) + f.ATTITUDE, tau)
    for i in range(n_speeds(kind)):
        store(quads_of(base), base, at + 3*i, tangent_of(load(lane, ws, tau + i)))


@flexible_only(otherwise=lambda lane, plan, ws, base, row, wrench, at: wrench)
def modal_tangents(lane, plan, ws, base, row, wrench, at):
    """modal_project for a hinge on the list; the tangents of the modal forces go to B."""
    wrench = gather_modal_forces(lane, plan, ws, row, wrench)
    if read(plan, row + f.KIND) == MODAL:
        flex, n = flex_of(plan, row)
        rows, length, _, at_z = mode_rows(lane, plan, flex, n)
        for j in range(n):
            store(quads_of(base), base, at + 3*j, tangent_of(load(lane, ws, rows + length*j + at_z)))
    return wrench


@flexible_only
def add_modal_share(lane, plan, base, route, row, change, B):
    """Contribution of a wrench to the modal forces of a body on the path."""
    one, quads, flex = single_of(lane), quads_of(base), read(plan, row + f.FLEX)
    shapes, sign, n = signed_shapes(one, plan, row)
    in_body = scale(sign, unrotate_spatial(body_attitude(one, plan, base, flex), change))
    at = B + 3*read(route, read(route, f.COLUMNS_FIRSTS) + read(plan, flex + f.FLEX_HINGE))
    for j in range(n):
        accumulate(quads, base, at + 3*j, spatial_dot(load_spatial(one, base, shapes + 6*j), in_body))


@leaf
def walk_path(lane, plan, pars, base, route, p, change, B):
    """Carry the change of the wrench on body p to the root: nothing else changes on the path [B 63]."""
    one, quads, firsts = single_of(lane), quads_of(base), read(route, f.COLUMNS_FIRSTS)
    while p > 0:
        row = hinge_row(plan, p)
        kind, record, at = read(plan, row + f.KIND), read(plan, row + f.RECORD), B + 3*read(route, firsts + p)
        m, force = change
        if kind == REVOLUTE:
            accumulate(quads, base, at, dot(load_axis(one, base, record + f.ATTITUDE), m))
        elif kind == PRISMATIC:
            accumulate(quads, base, at, dot(load_axis(one, base, record + f.ATTITUDE), force))
        elif kind == SPHERICAL:
            add_three(quads, base, at, unrotate(load9(one, base, record + f.ATTITUDE), m))
        elif kind == FREE:
            add_three(quads, base, at, unrotate(hinge_attitude(pars, p), force))
            add_three(quads, base, at + 9, unrotate(load9(one, base, record + f.ATTITUDE), m))
        elif kind >= MODAL:
            add_modal_share(lane, plan, base, route, row, change, B)
        change = shift_wrench(load3(one, base, record + f.OFFSET), change)
        p = read(plan, row + f.INNER)


@leaf
def gather_listed(lane, plan, pars, ws, base, route, pack, B):
    """gather_wrench for the hinges on a list; wrenches that leave it are carried to the root.  B: start of its rows in base, in
    packs."""
    (at, count), firsts = listed(route, pack), read(route, f.COLUMNS_FIRSTS)
    o = (zero(lane), zero(lane), zero(lane))
    wrench, nothing = (o, o), (o, o)
    for n in range(count - 1, -1, -1):
        k = read(route, at + 2*n)
        row = hinge_row(plan, k)
        i, record, branch = read(plan, row + f.INNER), read(plan, row + f.RECORD), read(plan, row + f.BRANCH)
        if read(plan, row + f.MASSIVE):
            wrench = add(wrench, load_spatial(lane, ws, record + f.GAIN))
        if branch:
            wrench = add(wrench, load_spatial(lane, ws, branch + f.SHARED_ACCEL))
        if read(plan, row + f.KIND) >= MODAL:
            wrench = modal_tangents(lane, plan, ws, base, row, wrench, B + 3*read(route, firsts + k))
        else:
            project_tangents(lane, plan, pars, ws, base, row, k, wrench, B + 3*read(route, firsts + k))
        wrench = shift_wrench(load3(lane, ws, record + f.OFFSET), wrench)
        if read(route, at + 2*n + 1) == 0:
            walk_path(lane, plan, pars, base, route, i, (tangents3(wrench[0]), tangents3(wrench[1])), B)
            wrench = nothing
        elif i != k - 1:
            accumulate(lane, ws, read(plan, hinge_row(plan, i) + f.BRANCH) + f.SHARED_ACCEL, wrench)
            wrench = nothing


@leaf
def copy_state(lane, plan, ws, base):
    """Copy state, sines and accelerations from base to the duals, with zero tangents."""
    one, x, xdot = single_of(lane), read(plan, f.WS_X), read(plan, f.WS_XDOT) + read(plan, f.NQ)
    sines, cosines = read(plan, f.WS_SINES), read(plan, f.WS_COSINES)
    for i in range(read(plan, f.N_X)):
        store(lane, ws, x + i, load(one, base, x + i))
    for i in range(read(plan, f.NQ)):
        store(lane, ws, sines + i, load(one, base, sines + i))
        store(lane, ws, cosines + i, load(one, base, cosines + i))
    for i in range(read(plan, f.NV)):
        store(lane, ws, xdot + i, load(one, base, xdot + i))


@sweep(features=("flexible", "tanks"), method="derivatives", rounds=2)
def fill_dual_columns(lane, plan, pars, ws, base, route):
    """Derivatives of inverse dynamics with respect to q and v, into B in base."""
    noinline()
    copy_state(lane, plan, ws, base)
    first, length = read(route, f.COLUMNS_B)//4, read(route, f.COLUMNS_PADDED)
    for pack in range(length//4):
        for by_speed in range(2):
            seed_pack(lane, plan, route, base, ws, pack, by_speed, 1.0)
            scatter_listed(lane, plan, pars, ws, base, route, pack)
            gather_listed(lane, plan, pars, ws, base, route, pack, first + 3*pack*length + by_speed)
            seed_pack(lane, plan, route, base, ws, pack, by_speed, 0.0)


@sweep(features=(), method="derivatives")
def prepare_columns(lane, ws, route):
    """Zero the rows of B that have nonzeros."""
    noinline()
    clear_columns(lane, ws, route)


@sweep(features=(), method="derivatives")
def add_springs_to_columns(lane, plan, pars, ws, route):
    noinline()
    add_springs(lane, plan, pars, ws, route)


@sweep(features=(), method="derivatives")
def place_paths(lane, plan, ws, route):
    """Copy the mass matrix at WS_MASS to the paths."""
    noinline()
    M, P, width = read(plan, f.WS_MASS), read(route, f.COLUMNS_P), read(route, f.COLUMNS_WIDTH)
    for s in range(read(route, f.COLUMNS_SPEEDS)):
        row = speed_row(route, s)
        path, own, depth = read(route, row + f.SPEED_PATH), read(route, row + f.SPEED_V), read(route, row + f.SPEED_DEPTH)
        for d in range(depth):
            inner = read(route, speed_row(route, read(route, path + d)) + f.SPEED_V)
            store(lane, ws, P + s*width + d, load(lane, ws, entry_place(plan, M, own, inner)))
        store(lane, ws, P + s*width + depth, load(lane, ws, entry_place(plan, M, own, own)))


# ---- kernels -----------------------------------------------------------------------------------------------------------
@kernel
def forward_dual_columns(sweep_table, dual_table, plan, pars, tables, t, x, u, route, ws, base, plain, q, v, tau, out):
    """out = v' and its derivatives with respect to q, v and tau, laid out as in `sweeps.columns`; for trees loaded only by joint
    torques, springs and dampers.  `ws` is that of the duals."""
    align_stack()
    one, lane, doubtful = lanes_of(base, sweep_table), lanes_of(ws, dual_table), 0
    plan, tables, ws, route, base = pointer_to(plan), pointer_to(tables), pointer_to(ws), pointer_to(route), pointer_to(base)
    if not copy_arguments(plan, x, u, plain, q, v, tau):
        return 1
    for state in range(n_rows(x)):
        of_state = parameters_of(pars, state)
        load_state(one, plan, tables, t, x, u, state, base)
        accelerations(one, plan, of_state, tables, base, ORDER_N, 0)
        store_rows(one, out, state, 0, base, read(plan, f.WS_XDOT) + read(plan, f.NQ), read(plan, f.NV))
        vdot_motion(one, plan, of_state, base, MOTION)
        prepare_columns(one, base, route)
        fill_dual_columns(lane, plan, of_state, ws, base, route)
        gather_mass_matrix(one, plan, of_state, base)
        place_paths(one, plan, base, route)
        add_springs_to_columns(one, plan, of_state, base, route)
        factor_columns(one, base, route)
        solve_columns(one, base, route)
        store_blocks(one, base, route, out, state, -1.0)
        doubtful += ill_conditioned(one, base, route, 1)
    return doubtful + doubts(plan, x, u, out, read(plan, f.NV), SUSPECT)


@kernel
def inverse_dual_columns(sweep_table, dual_table, plan, pars, tables, t, x, u, vdot, route, ws, base, plain, q, v, a, out):
    """out = torques that give vdot, and their derivatives with respect to q, v and vdot; for the same trees."""
    align_stack()
    one, lane = lanes_of(base, sweep_table), lanes_of(ws, dual_table)
    plan, tables, ws, route, base = pointer_to(plan), pointer_to(tables), pointer_to(ws), pointer_to(route), pointer_to(base)
    if not copy_arguments(plan, x, vdot, plain, q, v, a):
        return 1
    for state in range(n_rows(x)):
        of_state, at = parameters_of(pars, state), read(plan, f.WS_XDOT) + read(plan, f.NQ)
        inverse_sweeps(one, plan, of_state, tables, t, x, u, vdot, state, base, False)
        for i in range(read(plan, f.NV)):
            out[state, i] = load(one, base, at + i) - load(one, base, read(plan, f.WS_U) + i)
        load_rows(one, vdot, state, base, at, read(plan, f.NV))
        vdot_motion(one, plan, of_state, base, MOTION)
        empty_columns(one, base, route)
        fill_dual_columns(lane, plan, of_state, ws, base, route)
        gather_mass_matrix(one, plan, of_state, base)
        place_paths(one, plan, base, route)
        inertia_columns(one, base, route)
        add_springs_to_columns(one, plan, of_state, base, route)
        store_blocks(one, base, route, out, state, 1.0)
    return doubts(plan, x, vdot, out, read(plan, f.NV), inf)
