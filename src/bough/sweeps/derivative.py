"""The derivative of the whole state: x' = f(t, x, controls), by one of three methods.  x = q | v | wheel speeds | orbit."""
from bough import sweeps
from bough.kernels.algebra import dot, rotate
from bough.kernels.linker import sweep
from bough.kernels.jit import leaf
from bough.kernels.lanes import (add, any_negative, friction_only, implicit_only, load, load3, load9, loops_only, noinline, read,
                                 read3, store, zero)
from bough.sweeps.articulated import solve_order_n
from bough.sweeps import fields as f
from bough.sweeps.tree_motion import LEAN, MOTION, hinge_row, remainder_motion, scatter_rates, vdot_motion

ORDER_N, DENSE, CLOUD = range(3)


@sweep
def accelerations(lane, plan, pars, tables, ws, method, offset):
    """vdot and wheel accelerations.  When loops are corrected, `offset` (else 0) is the distance in ws from the state, then
    at rest without controls, to the actual one; the result is the change of speeds or coordinates that closes the loops."""
    noinline()
    correcting = offset != 0
    sweeps.tanks.set_masses(lane, plan, tables, ws)
    if method == CLOUD:
        sweeps.loads.gather_inputs(lane, plan, pars, tables, ws)
        sweeps.cloud.solve_cloud(lane, plan, pars, ws)
        sweeps.held.store_prescribed_accelerations(lane, plan, ws)
        accelerate_wheels(lane, plan, pars, ws)
        return
    if not correcting:
        sweeps.loads.gather_inputs(lane, plan, pars, tables, ws)
        set_baumgarte_weights(lane, plan, pars, ws)
    left, moving = sweeps.friction_forces.loaded_passes(lane, plan), zero(lane) + 1.0
    while left > 0:
        remainder_motion(lane, plan, pars, ws)
        if correcting:
            sweeps.loads.clear_slots(lane, plan, ws)
        else:
            sweeps.loads.apply_loads(lane, plan, pars, ws)
        sweeps.closures.assemble_loops(lane, plan, pars, ws, offset)                            # [B 14]
        if method == ORDER_N:
            solve_order_n(lane, plan, pars, ws)
        else:
            sweeps.composite.solve_dense(lane, plan, pars, ws)
        left, moving = passes_left(lane, plan, pars, ws, correcting, left, moving)
    if read(plan, f.IN_ORBIT) and not correcting:
        sweeps.orbit.subtract_mean_from_roots(lane, plan, pars, ws)
    sweeps.held.store_prescribed_accelerations(lane, plan, ws)
    if method == DENSE and read(plan, f.N_WHEELS):
        vdot_motion(lane, plan, pars, ws, MOTION)
    accelerate_wheels(lane, plan, pars, ws)
    if not correcting:
        sweeps.friction_forces.store_holding_forces(lane, plan, ws)
        sweeps.couplings.store_contacts(lane, plan, ws)


@friction_only(otherwise=lambda lane, plan, pars, ws, correcting, left, moving: (0, moving))
def passes_left(lane, plan, pars, ws, correcting, left, moving):
    """How many more times the accelerations must be found because friction depends on joint loads [B 36] (once more after the
    last change), and the lanes in which friction still changes; the other lanes keep their values."""
    if left == 1 or correcting:
        return 0, moving
    sweeps.held.store_prescribed_accelerations(lane, plan, ws)
    vdot_motion(lane, plan, pars, ws, LEAN)
    sweeps.loads.apply_loads_to_moving(lane, plan, pars, ws)
    sweeps.composite.gather_wrench(lane, plan, pars, ws, True)
    moving = sweeps.friction_forces.update_loads(lane, plan, pars, ws, moving)
    return (max(left - 1, 1) if any_negative(-moving) else 1), moving


@leaf
def accelerate_wheels(lane, plan, pars, ws):
    """Omega' = motor torque/J - e.alpha if driven, 0 at constant speed [B 2]."""
    for j in range(read(plan, f.N_WHEELS)):
        row, p = read(plan, f.WHEELS) + j*f.WHEEL_ROW, read(plan, f.PAR_WHEELS) + j*f.WHEEL_PARS
        hinge = hinge_row(plan, read(plan, row + f.WHEEL_HINGE))
        record = read(plan, hinge + f.RECORD)
        rate = zero(lane)
        if read(plan, row + f.WHEEL_DRIVEN):
            e = rotate(load9(lane, ws, record + f.ATTITUDE), read3(pars, p + f.WHEEL_AXIS))
            alpha = add(load3(lane, ws, record + f.ACCELERATION), load3(lane, ws, read(plan, hinge + f.BRANCH) + f.SHARED_ACCEL))
            rate = load(lane, ws, read(plan, row + f.WHEEL_MOTOR))/read(pars, p + f.WHEEL_INERTIA) - dot(e, alpha)
        store(lane, ws, read(plan, row + f.WHEEL_RATE), rate)


@leaf
def reset_closure_weights(lane, plan, ws):
    """Weights of the dynamics: accelerations of loops count, gravity and elastic forces act."""
    store(lane, ws, read(plan, f.WS_CLOSURE) + f.CLOSURE_ACCELERATION, (zero(lane) + 1.0, zero(lane), zero(lane)))


@loops_only(otherwise=lambda lane, plan, pars, ws: reset_closure_weights(lane, plan, ws))
def set_baumgarte_weights(lane, plan, pars, ws):
    """Baumgarte: phi'' + 2 w phi' + w^2 phi = 0 [B 14] [JSC 4.16]."""
    w = zero(lane) + read(pars, f.STABILIZATION)
    store(lane, ws, read(plan, f.WS_CLOSURE) + f.CLOSURE_ACCELERATION, (zero(lane) + 1.0, 2.0*w, w*w))


@implicit_only(otherwise=lambda lane, plan, ws: scatter_rates(lane, plan, ws))
def rates_of_stage(lane, plan, ws):
    """q' from the speeds of an implicit stage, known once its accelerations are: see integrate.compiled.stepping."""


@leaf
def derivative(lane, plan, pars, tables, ws, method, offset):
    """x' for the time, state and controls in ws.  When loops are corrected (`offset`, see accelerations) the system is at rest and
    q' is not needed.  Prescribed coordinates are written to the state."""
    if offset == 0:                                                         # not a correction
        sweeps.held.apply_prescribed_motion(lane, plan, tables, ws, True)
        rates_of_stage(lane, plan, ws)
    else:
        sweeps.held.zero_prescribed_accelerations(lane, plan, ws)
    accelerations(lane, plan, pars, tables, ws, method, offset)
