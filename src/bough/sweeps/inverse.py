"""Inverse dynamics: motion outward, wrenches inward [B 3]."""
from bough.kernels.algebra import shift_wrench
from bough.kernels.hinges import MODAL, hinge_project
from bough.kernels.jit import leaf
from bough.kernels.lanes import accumulate, add, load3, load_spatial, read, store, sub, zero
from bough.sweeps.fields import (
    ACCELERATION,
    ATTITUDE,
    BRANCH,
    GAIN,
    INNER,
    KIND,
    MASSIVE,
    N_HINGES,
    OFFSET,
    RECORD,
    SHARED_ACCEL,
    SLOT,
    VDOT,
)
from bough.sweeps.modal import modal_project
from bough.sweeps.motion import hinge_attitude, hinge_row


@leaf
def gather_wrench(lane, plan, pars, ws, keep):
    """Tips to root: the wrench through each hinge, and its share along the hinge, put where vdot was.

    If asked to keep it, the wrench of the inner body on body k through its hinge, about the hinge, takes the place of the
    body's acceleration in its record."""
    f = ((zero(lane), zero(lane), zero(lane)), (zero(lane), zero(lane), zero(lane)))
    nothing = f
    for k in range(read(plan, N_HINGES), 0, -1):
        row = hinge_row(plan, k)
        i, record = read(plan, row + INNER), read(plan, row + RECORD)
        branch, slot = read(plan, row + BRANCH), read(plan, row + SLOT)
        if read(plan, row + MASSIVE):
            f = add(f, load_spatial(lane, ws, record + GAIN))
        if branch:
            f = add(f, load_spatial(lane, ws, branch + SHARED_ACCEL))
        if slot:
            f = sub(f, load_spatial(lane, ws, slot))

        kind = read(plan, row + KIND)
        if kind >= MODAL:
            f = modal_project(lane, plan, ws, row, f)
        if keep:
            store(lane, ws, record + ACCELERATION, f)
        hinge_project(lane, kind, hinge_attitude(pars, k), f, ws, record + ATTITUDE,
                      read(plan, row + VDOT))
        f = shift_wrench(load3(lane, ws, record + OFFSET), f)
        if i != k - 1:
            if i > 0:
                accumulate(lane, ws, read(plan, hinge_row(plan, i) + BRANCH) + SHARED_ACCEL, f)
            f = nothing
