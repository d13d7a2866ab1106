"""Root to tips along a route: positions, velocities and accelerations of bodies and of points on them, and their Jacobians.

A route lists the hinges on the paths from the ground to some frames, inner before outer; other hinges are not visited.  The
frames are fixed in bodies of the route's hinges.  Accelerations do not include gravity.
"""
from bough.kernels.algebra import IDENTITY, ZERO, compose, cross, rotate, rotate_spatial, shift_motion
from bough.kernels.hinges import FREE, MODAL, hinge_add, hinge_column, n_speeds
from bough.kernels.jit import leaf
from bough.kernels.lanes import (add, flexible_only, load3, load9, load_spatial, noinline, read, read3, read9, scale,
                                 store, sub, zero)
from bough.kernels.linker import sweep
from bough.sweeps import fields as f
from bough.sweeps.blocks import load_strided, store_strided
from bough.sweeps.closures import point_acceleration
from bough.sweeps.modes import (body_attitude, modal_add, modal_row, modal_speeds, shape_motion, shape_rate, signed_shapes,
                                with_modal_bias)
from bough.sweeps.tree_motion import compute_sines, hinge_attitude, hinge_row, load_motion, move_outward, record_of, sines_of
from bough.sweeps.schema import frame_blocks


@leaf
def traced(plan, k):
    """Where position and velocity of the origin of body k are stored."""
    return read(plan, f.WS_MASS) + k*f.TRACED_ROW


@leaf
def place_hinge(route, j):
    return read(route, f.ROUTE_HEAD + read(route, f.ROUTE_HINGES) + j)


@leaf
def scatter_along(lane, plan, pars, ws, route, moving):
    """Attitudes of the bodies on a route into their records, and positions after all else in ws; if `moving`, also rates,
    accelerations and velocities.  `moving` is a compile-time constant."""
    store(lane, ws, record_of(plan, 0) + f.ATTITUDE, (IDENTITY, ZERO, (ZERO, ZERO)))
    store(lane, ws, traced(plan, 0), (ZERO, ZERO))
    compute_sines(lane, plan, ws)
    sines = sines_of(plan)
    for n in range(read(route, f.ROUTE_HINGES)):
        k = read(route, f.ROUTE_HEAD + n)
        row = hinge_row(plan, k)
        i, kind, record = read(plan, row + f.INNER), read(plan, row + f.KIND), read(plan, row + f.RECORD)
        C_i, omega_i, A = load_motion(lane, ws, record_of(plan, i))
        p, v_i = load_spatial(lane, ws, traced(plan, i))
        F, C, r, omega, A = move_outward(lane, plan, pars, ws, k, C_i, omega_i, A, sines)                  # [S 44], [S 46-47]
        store(lane, ws, record + f.ATTITUDE, C)
        store(lane, ws, traced(plan, k) + f.TRACED_POSITION, add(p, r))
        if moving:
            V = shift_motion(r, (omega_i, v_i))
            if kind < MODAL:
                A = hinge_add(lane, kind, F, C, A, ws, read(plan, row + f.VDOT))
                V = hinge_add(lane, kind, F, C, V, ws, read(plan, row + f.V))              # [S 45]
            else:
                A, V = modal_motion(lane, plan, ws, row, A, V)
            store(lane, ws, record + f.RATE, (omega, A))
            store(lane, ws, record + f.OFFSET, r)
            store(lane, ws, traced(plan, k) + f.TRACED_VELOCITY, V[1])


@sweep(features=("flexible",))
def trace_positions(lane, plan, pars, ws, route):
    """scatter_along for positions only."""
    noinline()
    scatter_along(lane, plan, pars, ws, route, False)


@sweep(features=("flexible",))
def trace_motion(lane, plan, pars, ws, route):
    """scatter_along with velocities and accelerations."""
    noinline()
    scatter_along(lane, plan, pars, ws, route, True)


@flexible_only(otherwise=lambda lane, plan, ws, row, A, V: (A, V))
def modal_motion(lane, plan, ws, row, A, V):
    """hinge_add of the kinds MODAL and NODE, for acceleration and velocity."""
    vdot = read(plan, modal_row(plan, read(plan, row + f.FLEX)) + f.VDOT)
    A = modal_add(lane, plan, ws, row, with_modal_bias(lane, plan, ws, row, A), vdot)
    return A, modal_add(lane, plan, ws, row, V, modal_speeds(lane, plan, row))


@sweep(features=())
def fill_frames(lane, plan, ws, route, spots, to, moving):
    """Positions and attitudes of all frames of a route and, if moving, velocities and accelerations: FRAMES at `to`."""
    noinline()
    n = read(route, f.ROUTE_PLACES)
    positions, attitudes, velocities, accelerations, _ = frame_blocks(n)
    for j in range(n):
        k, spot = place_hinge(route, j), j*f.SPOT_ROW
        C = load9(lane, ws, record_of(plan, k) + f.ATTITUDE)
        arm = rotate(C, read3(spots, spot + f.SPOT_AT))
        store(lane, ws, to + positions + 3*j, add(load3(lane, ws, traced(plan, k)), arm))
        store(lane, ws, to + attitudes + 9*j, compose(C, read9(spots, spot + f.SPOT_TURN)))
        if moving:
            _, omega, A = load_motion(lane, ws, record_of(plan, k))
            v = load3(lane, ws, traced(plan, k) + f.TRACED_VELOCITY)
            store(lane, ws, to + velocities + 6*j, (omega, add(v, cross(omega, arm))))
            store(lane, ws, to + accelerations + 6*j, (A[0], point_acceleration(A, omega, arm)))


@leaf
def clear_columns(lane, plan, ws, to):
    for i in range(6*read(plan, f.NV)):
        store(lane, ws, to + i, zero(lane))


@leaf
def column_start(plan, row, to):
    """Position of the first column of a hinge."""
    return to + read(plan, row + f.TAU) - read(plan, f.WS_U)


@sweep(features=("flexible",))
def fill_columns(lane, plan, pars, ws, route, spots, to):
    """Jacobian of the route's frame, row by row at `to`: [angular, linear] velocity per unit of each speed."""
    noinline()
    clear_columns(lane, plan, ws, to)
    k = place_hinge(route, 0)
    C = load9(lane, ws, record_of(plan, k) + f.ATTITUDE)
    P = add(load3(lane, ws, traced(plan, k)), rotate(C, read3(spots, f.SPOT_AT)))
    for n in range(read(route, f.ROUTE_HINGES)):
        k = read(route, f.ROUTE_HEAD + n)
        row, arm = hinge_row(plan, k), sub(P, load3(lane, ws, traced(plan, k)))
        kind = read(plan, row + f.KIND)
        if kind < MODAL:
            C, first = load9(lane, ws, read(plan, row + f.RECORD) + f.ATTITUDE), column_start(plan, row, to)
            for j in range(n_speeds(kind)):
                column = shift_motion(arm, hinge_column(kind, hinge_attitude(pars, k), C, j))
                store_strided(lane, ws, first + j, read(plan, f.NV), column)
        else:
            fill_modal_columns(lane, plan, ws, row, arm, to)


@sweep(features=("flexible",))
def fill_column_rates(lane, plan, pars, ws, route, spots, to):
    """The rate of that Jacobian, after trace_motion [B 25].

    A column H_j rotates with the body in whose axes it is fixed: H_j' = (w x a, w x l).  At the frame, `arm` from the hinge, its
    rate is (a', l' + a' x arm + a x arm')."""
    noinline()
    clear_columns(lane, plan, ws, to)
    k = place_hinge(route, 0)
    C, omega, _ = load_motion(lane, ws, record_of(plan, k))
    arm = rotate(C, read3(spots, f.SPOT_AT))
    p, v = load_spatial(lane, ws, traced(plan, k))
    place = add(p, arm), add(v, cross(omega, arm))
    for n in range(read(route, f.ROUTE_HINGES)):
        k = read(route, f.ROUTE_HEAD + n)
        row, (arm, rate) = hinge_row(plan, k), sub(place, load_spatial(lane, ws, traced(plan, k)))
        kind = read(plan, row + f.KIND)
        if kind < MODAL:
            (C, omega, _), first = load_motion(lane, ws, read(plan, row + f.RECORD)), column_start(plan, row, to)
            for j in range(n_speeds(kind)):
                a, x = hinge_column(kind, hinge_attitude(pars, k), C, j)
                turning = cross(omega, a), scale(0.0 if kind == FREE else 1.0, cross(omega, x))  # F of FREE is fixed in the ground
                store_strided(lane, ws, first + j, read(plan, f.NV), moved_column((a, x), turning, arm, rate))
        else:
            fill_modal_column_rates(lane, plan, pars, ws, row, arm, rate, to)


@leaf
def moved_column(H, H_rate, arm, rate):
    """Rate of a column (with rate `turning`) carried along `arm`, which changes at `rate`."""
    turning, sliding = shift_motion(arm, H_rate)
    return turning, add(sliding, cross(H[0], rate))


@flexible_only
def fill_modal_columns(lane, plan, ws, row, arm, to):
    """Columns of a body's modes: shapes of a node on the route, less those of the inboard node."""
    flex, (shapes, sign, n) = read(plan, row + f.FLEX), signed_shapes(lane, plan, row)
    C, first = body_attitude(lane, plan, ws, flex), column_start(plan, modal_row(plan, flex), to)
    for j in range(n):
        shape = rotate_spatial(C, load_spatial(lane, ws, shapes + 6*j))
        before = load_strided(lane, ws, first + j, read(plan, f.NV))         # of the other node of the body
        store_strided(lane, ws, first + j, read(plan, f.NV), add(before, scale(sign, shift_motion(arm, shape))))


@flexible_only
def fill_modal_column_rates(lane, plan, pars, ws, row, arm, rate, to):
    """Rates of these columns: shapes rotate with the body, and change with its deformation."""
    flex, (_, sign, n) = read(plan, row + f.FLEX), signed_shapes(lane, plan, row)
    C, first = body_attitude(lane, plan, ws, flex), column_start(plan, modal_row(plan, flex), to)
    omega = load3(lane, ws, read(plan, modal_row(plan, flex) + f.RECORD) + f.RATE)
    motion = shape_motion(lane, plan, pars, ws, row)
    for j in range(n):
        shape, change = shape_rate(lane, plan, pars, ws, row, j, motion)
        H, within = rotate_spatial(C, shape), rotate_spatial(C, change)
        turning = add(within, (cross(omega, H[0]), cross(omega, H[1])))
        before = load_strided(lane, ws, first + j, read(plan, f.NV))         # of the other node of the body
        store_strided(lane, ws, first + j, read(plan, f.NV), add(before, scale(sign, moved_column(H, turning, arm, rate))))
