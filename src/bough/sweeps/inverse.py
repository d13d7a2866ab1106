"""Inverse dynamics: motion outward, wrenches inward [spec 3.3].

The wrench that the inner body exerts on body k through its hinge, about the hinge, replaces the body's acceleration in
its record: reactions are read from there.
"""
from bough.kernels.algebra import cross, rotate_spatial, shift_wrench, sym_times, unrotate
from bough.kernels.hinges import hinge_project
from bough.kernels.jit import leaf
from bough.kernels.lanes import accumulate, add, load3, load_spatial, read, read3, read6, scale, store, sub, zero
from bough.sweeps.fields import (
    ACCELERATION,
    BRANCH,
    HINGE_PARS,
    INERTIA,
    INNER,
    KIND,
    MASS,
    MASSIVE,
    MOMENT,
    N_HINGES,
    OFFSET,
    RECORD,
    SHARED_ACCEL,
    SLOT,
    VDOT,
)
from bough.sweeps.motion import hinge_attitude, hinge_row, load_motion


@leaf
def body_wrench(pars, b, C, omega, A):
    """The wrench that a body's acceleration A and rate omega demand [S0 52]; worked out in body axes."""
    alpha, a, w = unrotate(C, A[0]), unrotate(C, A[1]), unrotate(C, omega)
    m, h, J = read(pars, b + MASS), read3(pars, b + MOMENT), read6(pars, b + INERTIA)
    n = add(add(sym_times(J, alpha), cross(w, sym_times(J, w))), cross(h, a))
    f = add(add(scale(m, a), cross(alpha, h)), cross(w, cross(w, h)))
    return rotate_spatial(C, (n, f))


@leaf
def gather_wrench(lane, plan, pars, ws):
    """Tips to root: the wrench through each hinge, and its share along the hinge, put where vdot was."""
    f = ((zero(lane), zero(lane), zero(lane)), (zero(lane), zero(lane), zero(lane)))
    nothing = f
    for k in range(read(plan, N_HINGES), 0, -1):
        row = hinge_row(plan, k)
        i, record = read(plan, row + INNER), read(plan, row + RECORD)
        branch, slot = read(plan, row + BRANCH), read(plan, row + SLOT)
        C, omega, A = load_motion(lane, ws, record)
        if read(plan, row + MASSIVE):
            f = add(f, body_wrench(pars, k*HINGE_PARS, C, omega, A))
        if branch:
            f = add(f, load_spatial(lane, ws, branch + SHARED_ACCEL))
        if slot:
            f = sub(f, load_spatial(lane, ws, slot))

        store(lane, ws, record + ACCELERATION, f)
        hinge_project(lane, read(plan, row + KIND), hinge_attitude(pars, k), C, f, ws, read(plan, row + VDOT))
        f = shift_wrench(load3(lane, ws, record + OFFSET), f)
        if i != k - 1:
            if i > 0:
                accumulate(lane, ws, read(plan, hinge_row(plan, i) + BRANCH) + SHARED_ACCEL, f)
            f = nothing
