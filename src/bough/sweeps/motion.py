"""Root to tips: attitudes, rates and accelerations of all bodies.

All vectors are in inertial axes and every body's origin is its hinge, so the equations read basis-free.
Accelerations are those of material points and start from minus gravity, so linear velocities are never needed.

    C       attitude of a body (its axes to inertial)     r       inner body's origin to outer body's origin
    F       attitude of a hinge before it moves           sigma   angular rate across the hinge
    omega   angular rate of a body                        A       (alpha, a), angular and linear acceleration
"""
from bough.kernels.algebra import IDENTITY, ZERO, compose, cross, rotate, shift_motion, sym_times, unrotate
from bough.kernels.hinges import MODAL, PRISMATIC, hinge_add, hinge_move, hinge_rates, store_axis
from bough.kernels.jit import leaf
from bough.kernels.lanes import (
    add,
    load,
    load3,
    load9,
    load_spatial,
    only_if_held,
    only_if_looped,
    quads_of,
    read,
    read3,
    read6,
    read9,
    scale,
    sincos,
    store,
    zero,
)
from bough.sweeps.blocks import pack_of, packs_until
from bough.sweeps.deform import modal_accelerated
from bough.sweeps.fields import (
    ACCELERATION,
    ANGLE_END,
    ANGLE_FIRST,
    ANGLE_ROW,
    ANGLES,
    ATTITUDE,
    BRANCH,
    BRANCH_STORE,
    CLOSURE_ACCELERATION,
    GAIN,
    GATHERED,
    GIVEN,
    GRAVITY,
    HINGE_PARS,
    HINGE_ROW,
    HINGES,
    INERTIA,
    INNER,
    KIND,
    MASS,
    MASSIVE,
    MOMENT,
    N_ANGLES,
    N_HINGES,
    OFFSET,
    PLACE_C,
    PLACE_R,
    RATE,
    RECORD,
    SLOT,
    SOLVED,
    VDOT,
    WS_CLOSURE,
    WS_COSINES,
    WS_SINES,
    WS_X,
    WS_XDOT,
    Q,
    V,
)
from bough.sweeps.modes import modal_move, modal_rates

MOTION, WRENCHES, LEAN = range(3)                  # what scatter_motion is for


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
def body_wrench(pars, b, C, omega, A):
    """The wrench that a body's acceleration A and rate omega demand [S 52]; its angular part worked out in body axes."""
    alpha, a = A
    alpha_b, omega_b, J = unrotate(C, alpha), unrotate(C, omega), read6(pars, b + INERTIA)
    m, h = read(pars, b + MASS), rotate(C, read3(pars, b + MOMENT))
    n = rotate(C, add(sym_times(J, alpha_b), cross(omega_b, sym_times(J, omega_b))))
    f = add(add(scale(m, a), cross(alpha, h)), cross(omega, cross(omega, h)))
    return add(n, cross(h, a)), f


@leaf
def take_sines(lane, plan, ws):
    """Sines and cosines of all angles, four at a time: four states', or four neighbours' of one state."""
    quads, x = quads_of(ws), pack_of(lane, read(plan, WS_X))
    sines, cosines = pack_of(lane, read(plan, WS_SINES)), pack_of(lane, read(plan, WS_COSINES))
    for run in range(read(plan, N_ANGLES)):
        row = read(plan, ANGLES) + run*ANGLE_ROW
        for i in range(pack_of(lane, read(plan, row + ANGLE_FIRST)), packs_until(lane, read(plan, row + ANGLE_END))):
            s, c = sincos(load(quads, ws, x + i))
            store(quads, ws, sines + i, s)
            store(quads, ws, cosines + i, c)


def base_acceleration(lane, plan, pars, ws):
    """Of the ground: minus gravity; nothing where loops are corrected and no dynamics is asked for."""
    return scale(-load(lane, ws, read(plan, WS_CLOSURE) + CLOSURE_ACCELERATION), read3(pars, GRAVITY))


only_if_looped(base_acceleration, lambda lane, plan, pars, ws: scale(-1.0, read3(pars, GRAVITY)))


def add_given(lane, plan, ws, row, F, C, A):
    """A with the given acceleration of a hinge that is held [B 17]."""
    kind = read(plan, row + KIND)
    if read(plan, row + SOLVED) != kind:
        A = hinge_add(lane, kind, F, C, A, ws, read(plan, row + GIVEN))
    return A


only_if_held(add_given, lambda lane, plan, ws, row, F, C, A: A)


@leaf
def scatter_motion(lane, plan, pars, ws, with_vdot, purpose):
    """Attitudes, rates, accelerations; without vdot the remainder accelerations: vdot = 0 but where it is given [S 44-47].

    The purpose says what the next sweep will want: WRENCHES puts what each body's motion demands in its record; LEAN does so
    too, and keeps attitudes, rates and accelerations only where another body or a load asks for them, else the hinge's axis.
    Both are constants where this is called: what they exclude is not compiled."""
    store(lane, ws, record_of(plan, 0) + ATTITUDE, (IDENTITY, ZERO, (ZERO, base_acceleration(lane, plan, pars, ws))))
    C, omega, A = load_motion(lane, ws, record_of(plan, 0))
    take_sines(lane, plan, ws)
    sines = read(plan, WS_SINES) - read(plan, WS_X), read(plan, WS_COSINES) - read(plan, WS_X)
    for k in range(1, read(plan, N_HINGES) + 1):
        row, place = hinge_row(plan, k), k*HINGE_PARS
        i, kind = read(plan, row + INNER), read(plan, row + KIND)
        record, branch = read(plan, row + RECORD), read(plan, row + BRANCH)
        if i != k - 1:
            C, omega, A = load_motion(lane, ws, record_of(plan, i))
        C_i, omega_i = C, omega

        F, r = compose(C_i, read9(pars, place + PLACE_C)), rotate(C_i, read3(pars, place + PLACE_R))
        if kind < MODAL:
            C, r, sigma, a = hinge_move(lane, kind, F, r, omega_i, ws, read(plan, row + Q), read(plan, row + V), sines)
        else:
            C, r, sigma, a = modal_move(lane, plan, pars, ws, row, F, r, omega_i)
        omega = add(omega_i, sigma)                                                        # [S 44]
        A = add(shift_motion(r, A), (cross(omega_i, sigma), a))                            # [S 46-47]

        store(lane, ws, record + OFFSET, r)
        if kind >= MODAL:
            store(lane, ws, record + ATTITUDE, C)
            A = modal_accelerated(lane, plan, pars, ws, row, k, C, omega, A, with_vdot)
        elif with_vdot:
            A = hinge_add(lane, kind, F, C, A, ws, read(plan, row + VDOT))
        else:
            A = add_given(lane, plan, ws, row, F, C, A)
        if purpose != MOTION and read(plan, row + MASSIVE):
            store(lane, ws, record + GAIN, body_wrench(pars, place, C, omega, A))
        if purpose != LEAN or branch or read(plan, row + SLOT):
            store(lane, ws, record + ATTITUDE, (C, omega, A))
        elif kind > PRISMATIC:
            store(lane, ws, record + ATTITUDE, C)
        else:
            store_axis(lane, ws, record + ATTITUDE, C)
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
        kind, v = read(plan, row + KIND), read(plan, row + V)
        if kind < MODAL:
            hinge_rates(lane, kind, ws, q, v, q + to_rate)
        else:
            modal_rates(lane, plan, ws, row, q + to_rate)
