"""Closing loops after a step: positions, then speeds, moved back by the least kinetic energy [B 16].

    M dq = J^T lambda,  J dq = -phi         repeated until phi is small enough that the last change closes it
    M dv = J^T lambda,  J dv = -J v

Each is the dynamics of the system at rest without loads, so the sweeps that find accelerations find these changes too.
"""
from bough.integrate.compiled.tableaus import CORRECTIONS
from bough.kernels.lanes import accumulate, get_lane, load, loops_only, read, store, width_of, zero
from bough.sweeps import fields as f
from bough.sweeps.motion import scatter_rates

CLOSE_ENOUGH = 1e-8              # m: Newton's next gap is of the order of its square, over the size of the loop


def corrections_of(lane, tableau):
    """How many changes follow a step at most."""
    return int(tableau[CORRECTIONS])


loops_only(corrections_of, lambda lane, tableau: 0)


def begin_correction(lane, plan, ws, saved, speeds):
    """Save the state, and set it to rest without controls; the distance in ws from the speeds to the saved ones."""
    x, weights = read(plan, f.WS_X), read(plan, f.WS_CLOSURE) + f.CLOSURE_ACCELERATION
    for i in range(read(plan, f.N_X)):
        store(lane, ws, saved + i, load(lane, ws, x + i))
    for i in range(read(plan, f.NV)):
        store(lane, ws, x + read(plan, f.NQ) + i, zero(lane))
    for i in range(read(plan, f.N_U)):
        store(lane, ws, read(plan, f.WS_U) + i, zero(lane))
    if speeds:
        store(lane, ws, weights, (0.0, 1.0, 0.0))
    else:
        store(lane, ws, weights, (0.0, 0.0, 1.0))
    return saved - x


loops_only(begin_correction, lambda lane, plan, ws, saved, speeds: 0)


def end_correction(lane, plan, ws, saved, speeds):
    """Add the change to the state; whether it leaves the loops closed."""
    nq, x, change = read(plan, f.NQ), read(plan, f.WS_X), read(plan, f.WS_XDOT) + read(plan, f.NQ)
    for i in range(read(plan, f.NV)):
        store(lane, ws, x + nq + i, load(lane, ws, change + i))
    if speeds:
        for i in range(read(plan, f.NV)):
            accumulate(lane, ws, x + nq + i, load(lane, ws, saved + nq + i))
    else:
        scatter_rates(lane, plan, ws)
        for i in range(nq):
            accumulate(lane, ws, x + i, load(lane, ws, read(plan, f.WS_XDOT) + i))
        for i in range(nq, read(plan, f.N_X)):
            store(lane, ws, x + i, load(lane, ws, saved + i))
    closed = True
    for i in range(width_of(lane)):
        closed = closed and -get_lane(lane, ws, read(plan, f.WS_CLOSURE) + f.CLOSURE_GAP, i) < CLOSE_ENOUGH
    return closed


loops_only(end_correction, lambda lane, plan, ws, saved, speeds: True)
