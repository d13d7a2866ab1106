"""Root to tips: attitudes, rates and accelerations of all bodies.

All vectors are in inertial axes and every body's origin is its hinge, so the equations read basis-free.
Accelerations are those of material points and start from minus gravity, so linear velocities are never needed.

    C       attitude of a body (its axes to inertial)     r       inner body's origin to outer body's origin
    F       attitude of a hinge before it moves           sigma   angular rate across the hinge
    omega   angular rate of a body                        A       (alpha, a), angular and linear acceleration
"""

from bough import sweeps
from bough.kernels.algebra import IDENTITY, ZERO, compose, cross, euler, newton_euler, rotate, shift_motion, unrotate
from bough.kernels.hinges import MODAL, PRISMATIC, hinge_add, hinge_move, hinge_rates, store_axis
from bough.kernels.jit import leaf
from bough.kernels.lanes import (add, holds_only, load, load3, load6, load9, load_spatial, noinline, quads_of, read,
                                 read3, read6, read9, scale, sincos, store, tanks_only, zero)
from bough.kernels.linker import sweep
from bough.sweeps import fields as f
from bough.sweeps.blocks import pack_of, packs_until


MOTION, LEAN = range(2)                            # purpose of scatter_motion


@leaf
def hinge_row(plan, k):
    return read(plan, f.HINGES) + k*f.HINGE_ROW


@leaf
def record_of(plan, k):
    return read(plan, hinge_row(plan, k) + f.RECORD)


@leaf
def hinge_attitude(pars, k):
    """F of a hinge on the ground, which is constant (only FREE hinges need F after the first sweep)."""
    return read9(pars, k*f.HINGE_PARS + f.PLACE_C)


@leaf
def load_motion(lane, ws, record):
    return load9(lane, ws, record + f.ATTITUDE), load3(lane, ws, record + f.RATE), load_spatial(lane, ws, record + f.ACCELERATION)


def constant_mass(lane, plan, pars, ws, k):
    b = k*f.HINGE_PARS
    return read(pars, b + f.MASS), read3(pars, b + f.MOMENT), read6(pars, b + f.INERTIA)


@tanks_only(otherwise=constant_mass)
def own_mass(lane, plan, pars, ws, k):
    """Mass, first moment and inertia of body k about its origin, in body axes; current values for propellant [B 87]."""
    at, b, o = read(plan, hinge_row(plan, k) + f.MASSIVE), k*f.HINGE_PARS, zero(lane)
    m, h = o + read(pars, b + f.MASS), add((o, o, o), read3(pars, b + f.MOMENT))
    J = add((o, o, o, o, o, o), read6(pars, b + f.INERTIA))
    if at > 1:
        m, h, J = load(lane, ws, at), load3(lane, ws, at + 1), load6(lane, ws, at + 4)
    return m, h, J


@leaf
def body_wrench(lane, plan, pars, ws, k, C, omega, A):
    """Wrench required by a body's acceleration A and rate omega [S 52]; its moment is computed in body axes."""
    m, h, J = own_mass(lane, plan, pars, ws, k)
    turning = rotate(C, euler(J, unrotate(C, A[0]), unrotate(C, omega)))
    return newton_euler(m, rotate(C, h), turning, omega, A)


@leaf
def store_wrenches(lane, plan, pars, ws):
    """Store the wrench required by the motion of each body in its record."""
    for k in range(1, read(plan, f.N_HINGES) + 1):
        row = hinge_row(plan, k)
        if read(plan, row + f.MASSIVE):
            C, omega, A = load_motion(lane, ws, read(plan, row + f.RECORD))
            store(lane, ws, read(plan, row + f.RECORD) + f.GAIN, body_wrench(lane, plan, pars, ws, k, C, omega, A))


@leaf
def compute_sines(lane, plan, ws):
    """Sines and cosines of all angles, four at a time: of four states, or four consecutive ones of one state."""
    quads, x = quads_of(ws), pack_of(lane, read(plan, f.WS_X))
    sines, cosines = pack_of(lane, read(plan, f.WS_SINES)), pack_of(lane, read(plan, f.WS_COSINES))
    for run in range(read(plan, f.N_ANGLES)):
        row = read(plan, f.ANGLES) + run*f.ANGLE_ROW
        for i in range(pack_of(lane, read(plan, row + f.ANGLE_FIRST)), packs_until(lane, read(plan, row + f.ANGLE_END))):
            s, c = sincos(load(quads, ws, x + i))
            store(quads, ws, sines + i, s)
            store(quads, ws, cosines + i, c)


@leaf
def base_acceleration(lane, plan, pars, ws):
    """Acceleration of the ground: minus gravity; zero where loops are corrected: see CLOSURE_ACCELERATION in `sweeps.records`."""
    return scale(-load(lane, ws, read(plan, f.WS_CLOSURE) + f.CLOSURE_ACCELERATION), read3(pars, f.GRAVITY))


@holds_only(otherwise=lambda lane, plan, ws, row, F, C, A: A)
def add_prescribed_acceleration(lane, plan, ws, row, F, C, A):
    """Add the given acceleration of a held hinge to A [B 17]."""
    kind = read(plan, row + f.KIND)
    if read(plan, row + f.SOLVED) != kind:
        A = hinge_add(lane, kind, F, C, A, ws, read(plan, row + f.GIVEN))
    return A


@leaf
def sines_of(plan):
    """Distances in ws from an angle to its sine and to its cosine."""
    return read(plan, f.WS_SINES) - read(plan, f.WS_X), read(plan, f.WS_COSINES) - read(plan, f.WS_X)


@leaf
def move_outward(lane, plan, pars, ws, k, C_i, omega_i, A_i, sines):
    """From the motion of the inner body to that of body k: F, C, r, omega, and A for vdot = 0."""
    row, place = hinge_row(plan, k), k*f.HINGE_PARS
    kind = read(plan, row + f.KIND)
    F, r = compose(C_i, read9(pars, place + f.PLACE_C)), rotate(C_i, read3(pars, place + f.PLACE_R))
    if kind < MODAL:
        C, r, sigma, a = hinge_move(lane, kind, F, r, omega_i, ws, read(plan, row + f.Q), read(plan, row + f.V), sines)
    else:
        C, r, sigma, a = sweeps.modes.modal_move(lane, plan, pars, ws, row, F, r, omega_i)
    omega = add(omega_i, sigma)                                                            # [S 44]
    A = add(shift_motion(r, A_i), (cross(omega_i, sigma), a))                              # [S 46-47]
    return F, C, r, omega, A


@leaf
def scatter_motion(lane, plan, pars, ws, with_vdot, purpose):
    """Attitudes, rates, accelerations; without vdot, remainder accelerations: vdot = 0 except where given [S 44-47].

    The purpose is that of the next sweep: LEAN stores the wrench required by each body's motion in its record, and attitude, rate
    and acceleration only if another body or a load needs them, otherwise only the hinge's axis.
    Without vdot both are compile-time constants."""
    store(lane, ws, record_of(plan, 0) + f.ATTITUDE, (IDENTITY, ZERO, (ZERO, base_acceleration(lane, plan, pars, ws))))
    C, omega, A = load_motion(lane, ws, record_of(plan, 0))
    compute_sines(lane, plan, ws)
    sines = sines_of(plan)
    for k in range(1, read(plan, f.N_HINGES) + 1):
        row = hinge_row(plan, k)
        i, kind = read(plan, row + f.INNER), read(plan, row + f.KIND)
        record, branch = read(plan, row + f.RECORD), read(plan, row + f.BRANCH)
        if i != k - 1:
            C, omega, A = load_motion(lane, ws, record_of(plan, i))
        F, C, r, omega, A = move_outward(lane, plan, pars, ws, k, C, omega, A, sines)
        store(lane, ws, record + f.OFFSET, r)
        if kind >= MODAL:
            store(lane, ws, record + f.ATTITUDE, C)
            A = sweeps.modes.modal_accelerated(lane, plan, pars, ws, row, k, C, omega, A, with_vdot)
        elif with_vdot:
            A = hinge_add(lane, kind, F, C, A, ws, read(plan, row + f.VDOT))
        else:
            A = add_prescribed_acceleration(lane, plan, ws, row, F, C, A)
        if purpose == LEAN and read(plan, row + f.MASSIVE):
            store(lane, ws, record + f.GAIN, body_wrench(lane, plan, pars, ws, k, C, omega, A))
        if purpose != LEAN or branch or read(plan, row + f.SLOT):
            store(lane, ws, record + f.ATTITUDE, (C, omega, A))
        elif kind > PRISMATIC:
            store(lane, ws, record + f.ATTITUDE, C)
        else:
            store_axis(lane, ws, record + f.ATTITUDE, C)
        if branch:
            clear_store(lane, ws, branch)


@sweep(features=("flexible", "holds", "tanks"))
def remainder_motion(lane, plan, pars, ws):
    """scatter_motion without vdot."""
    noinline()
    scatter_motion(lane, plan, pars, ws, False, MOTION)


@sweep(features=("flexible", "holds", "tanks"))
def vdot_motion(lane, plan, pars, ws, purpose):
    """scatter_motion with vdot, for outputs (MOTION) or inverse dynamics (LEAN); compiled once for both."""
    noinline()
    scatter_motion(lane, plan, pars, ws, True, purpose)


@leaf
def clear_store(lane, ws, branch):
    for i in range(f.GATHERED, f.BRANCH_STORE):
        store(lane, ws, branch + i, zero(lane))


@sweep(features=("flexible",))
def scatter_rates(lane, plan, ws):
    """q' of every hinge from its speeds."""
    noinline()
    to_rate = read(plan, f.WS_XDOT) - read(plan, f.WS_X)
    for k in range(1, read(plan, f.N_HINGES) + 1):
        row = hinge_row(plan, k)
        q = read(plan, row + f.Q)
        kind, v = read(plan, row + f.KIND), read(plan, row + f.V)
        if kind < MODAL:
            hinge_rates(lane, kind, ws, q, v, q + to_rate)
        else:
            sweeps.modes.modal_rates(lane, plan, ws, row, q + to_rate)
