"""Root to tips: attitudes, rates and accelerations of all bodies.

All vectors are in inertial axes and every body's origin is its hinge, so the equations read basis-free.
Accelerations are those of material points and start from minus gravity, so linear velocities are never needed.

    C       attitude of a body (its axes to inertial)     r       inner body's origin to outer body's origin
    F       attitude of a hinge before it moves           sigma,s angular and linear rate across the hinge
    omega   angular rate of a body                        A       (alpha, a), angular and linear acceleration
"""
from bough.kernels.algebra import IDENTITY, ZERO, compose, cross, rotate, shift_motion
from bough.kernels.hinges import hinge_map, hinge_pose, hinge_rates
from bough.kernels.jit import leaf
from bough.kernels.lanes import add, load3, load9, load_spatial, read, read3, read9, scale, store, zero
from bough.sweeps.fields import (
    ACCELERATION,
    ATTITUDE,
    BRANCH,
    BRANCH_STORE,
    GATHERED,
    GRAVITY,
    HINGE_PARS,
    HINGE_ROW,
    HINGES,
    INNER,
    KIND,
    N_HINGES,
    OFFSET,
    PLACE_C,
    PLACE_R,
    RATE,
    RECORD,
    VDOT,
    WS_X,
    WS_XDOT,
    Q,
    V,
)


@leaf
def hinge_row(plan, k):
    return read(plan, HINGES) + k*HINGE_ROW


@leaf
def record_of(plan, k):
    return read(plan, hinge_row(plan, k) + RECORD)


@leaf
def hinge_attitude(pars, k):
    """F of a hinge on the ground, where it is constant (only FREE hinges need F after the first sweep)."""
    return read9(pars, k*HINGE_PARS + PLACE_C)


@leaf
def load_motion(lane, ws, record):
    return load9(lane, ws, record + ATTITUDE), load3(lane, ws, record + RATE), load_spatial(lane, ws, record + ACCELERATION)


@leaf
def store_motion(lane, ws, record, C, omega, A):
    store(lane, ws, record + ATTITUDE, C)
    store(lane, ws, record + RATE, omega)
    store(lane, ws, record + ACCELERATION, A)


@leaf
def scatter_motion(lane, plan, pars, ws, with_vdot):
    """Attitudes, rates, accelerations; without vdot the remainder accelerations, those of vdot = 0 [S0 44-47]."""
    store_motion(lane, ws, record_of(plan, 0), IDENTITY, ZERO, (ZERO, scale(-1.0, read3(pars, GRAVITY))))
    C, omega, A = load_motion(lane, ws, record_of(plan, 0))
    for k in range(1, read(plan, N_HINGES) + 1):
        row, place = hinge_row(plan, k), k*HINGE_PARS
        i, kind, record, branch = read(plan, row + INNER), read(plan, row + KIND), read(plan, row + RECORD), read(plan, row + BRANCH)
        if i != k - 1:
            C, omega, A = load_motion(lane, ws, record_of(plan, i))
        C_i, omega_i = C, omega

        F = compose(C_i, read9(pars, place + PLACE_C))
        C, d = hinge_pose(lane, kind, F, ws, read(plan, row + Q))
        r = add(rotate(C_i, read3(pars, place + PLACE_R)), d)
        sigma, s = hinge_map(lane, kind, F, C, ws, read(plan, row + V))
        omega = add(omega_i, sigma)                                                        # [S0 44]
        alpha_r = cross(omega_i, sigma)                                                    # [S0 46]
        a_r = cross(omega_i, add(cross(omega_i, r), scale(2.0, s)))                        # [S0 47]
        A = add(shift_motion(r, A), (alpha_r, a_r))
        if with_vdot:
            A = add(A, hinge_map(lane, kind, F, C, ws, read(plan, row + VDOT)))

        store_motion(lane, ws, record, C, omega, A)
        store(lane, ws, record + OFFSET, r)
        if branch:
            clear_store(lane, ws, branch)


@leaf
def clear_store(lane, ws, branch):
    for i in range(GATHERED, BRANCH_STORE):
        store(lane, ws, branch + i, zero(lane))


@leaf
def scatter_rates(lane, plan, ws):
    """q' of every hinge from its speeds."""
    to_rate = read(plan, WS_XDOT) - read(plan, WS_X)
    for k in range(1, read(plan, N_HINGES) + 1):
        row = hinge_row(plan, k)
        q = read(plan, row + Q)
        hinge_rates(lane, read(plan, row + KIND), ws, q, read(plan, row + V), q + to_rate)
