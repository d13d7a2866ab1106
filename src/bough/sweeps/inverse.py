"""Inverse dynamics: motion outward, wrenches inward [B 3]."""
from bough.kernels.algebra import shift_wrench
from bough.kernels.linker import sweep
from bough.kernels.hinges import MODAL, hinge_project
from bough.kernels.lanes import accumulate, add, load3, load_spatial, read, noinline, store, sub, zero
from bough.sweeps import fields as f
from bough.sweeps.modal import modal_project
from bough.sweeps.motion import hinge_attitude, hinge_row


@sweep
def gather_wrench(lane, plan, pars, ws, keep):
    """Tips to root: the wrench through each hinge, and its share along the hinge, put where vdot was.

    If asked to keep it, the wrench of the inner body on body k through its hinge, about the hinge, takes the place of the
    body's acceleration in its record."""
    noinline()
    wrench = ((zero(lane), zero(lane), zero(lane)), (zero(lane), zero(lane), zero(lane)))
    nothing = wrench
    for k in range(read(plan, f.N_HINGES), 0, -1):
        row = hinge_row(plan, k)
        i, record = read(plan, row + f.INNER), read(plan, row + f.RECORD)
        branch, slot = read(plan, row + f.BRANCH), read(plan, row + f.SLOT)
        if read(plan, row + f.MASSIVE):
            wrench = add(wrench, load_spatial(lane, ws, record + f.GAIN))
        if branch:
            wrench = add(wrench, load_spatial(lane, ws, branch + f.SHARED_ACCEL))
        if slot:
            wrench = sub(wrench, load_spatial(lane, ws, slot))

        kind = read(plan, row + f.KIND)
        if kind >= MODAL:
            wrench = modal_project(lane, plan, ws, row, wrench)
        if keep:
            store(lane, ws, record + f.ACCELERATION, wrench)
        hinge_project(lane, kind, hinge_attitude(pars, k), wrench, ws, record + f.ATTITUDE,
                      read(plan, row + f.VDOT))
        wrench = shift_wrench(load3(lane, ws, record + f.OFFSET), wrench)
        if i != k - 1:
            if i > 0:
                accumulate(lane, ws, read(plan, hinge_row(plan, i) + f.BRANCH) + f.SHARED_ACCEL, wrench)
            wrench = nothing
