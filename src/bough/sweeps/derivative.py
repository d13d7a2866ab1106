"""The derivative of the whole state: x' = f(t, x, controls), by either method.  x = q | v | wheel speeds | orbit."""
from bough.kernels.algebra import dot, rotate
from bough.kernels.jit import leaf
from bough.kernels.lanes import add, load, load3, load9, read, read3, store, zero
from bough.sweeps.articulated import solve_order_n
from bough.sweeps.composite import solve_dense
from bough.sweeps.fields import (
    ACCELERATION,
    ATTITUDE,
    BRANCH,
    N_WHEELS,
    PAR_WHEELS,
    RECORD,
    SHARED_ACCEL,
    WHEEL_AXIS,
    WHEEL_DRIVEN,
    WHEEL_HINGE,
    WHEEL_INERTIA,
    WHEEL_MOTOR,
    WHEEL_PARS,
    WHEEL_RATE,
    WHEEL_ROW,
    WHEELS,
)
from bough.sweeps.loads import apply_loads, gather_inputs
from bough.sweeps.motion import MOTION, WRENCHES, hinge_row, scatter_motion, scatter_rates

ORDER_N, DENSE = 0, 1


@leaf
def accelerations(lane, plan, pars, tables, ws, method):
    """vdot and wheel accelerations."""
    gather_inputs(lane, plan, pars, tables, ws)
    scatter_motion(lane, plan, pars, ws, False, WRENCHES if method == DENSE else MOTION)
    apply_loads(lane, plan, pars, ws)
    if method == ORDER_N:
        solve_order_n(lane, plan, pars, ws)
    else:
        solve_dense(lane, plan, pars, ws)
        if read(plan, N_WHEELS):
            scatter_motion(lane, plan, pars, ws, True, MOTION)
    accelerate_wheels(lane, plan, pars, ws)


@leaf
def accelerate_wheels(lane, plan, pars, ws):
    """Omega' = motor torque/J - e.alpha where driven, 0 where the speed is held [B 2]."""
    for j in range(read(plan, N_WHEELS)):
        row, p = read(plan, WHEELS) + j*WHEEL_ROW, read(plan, PAR_WHEELS) + j*WHEEL_PARS
        hinge = hinge_row(plan, read(plan, row + WHEEL_HINGE))
        record = read(plan, hinge + RECORD)
        rate = zero(lane)
        if read(plan, row + WHEEL_DRIVEN):
            e = rotate(load9(lane, ws, record + ATTITUDE), read3(pars, p + WHEEL_AXIS))
            alpha = add(load3(lane, ws, record + ACCELERATION), load3(lane, ws, read(plan, hinge + BRANCH) + SHARED_ACCEL))
            rate = load(lane, ws, read(plan, row + WHEEL_MOTOR))/read(pars, p + WHEEL_INERTIA) - dot(e, alpha)
        store(lane, ws, read(plan, row + WHEEL_RATE), rate)


@leaf
def derivative(lane, plan, pars, tables, ws, method):
    """x' of the time, state and controls in ws."""
    scatter_rates(lane, plan, ws)
    accelerations(lane, plan, pars, tables, ws, method)
