"""Steps and rates on duals: a run and its derivatives along directions of initial state, controls and parameters."""
from bough.integrate.compiled.loops import record, record_inside
from bough.integrate.compiled.stepping import (X0, ahead_at, controls_at, copy, evaluate_rates, set_time, take_step,
                                               update_controls)
from bough.kernels.jit import kernel
from bough.kernels.lanes import align_stack, lanes_of, parameters_of, pointer_to, read, store, zero
from bough.sweeps import fields as f
from bough.sweeps.blocks import load_rows, n_groups, store_rows
from bough.sweeps.derivative import ORDER_N

START, LENGTH = range(2)                    # of a row of steps


@kernel
def step_tangents(sweep_table, plan, pars, tables, stepper, steps, samples, x, u, out, u_out, ws):
    """out, u_out = x and controls at the samples, the first of which is the start, with their derivatives along those of x, u and
    pars: each of these is two arrays, values and derivatives.  They are those of the discrete method, up to rounding [B 65]."""
    align_stack()
    lane, plan, tables, ws = lanes_of(ws, sweep_table), pointer_to(plan), pointer_to(tables), pointer_to(ws)
    nx, at, rows = read(plan, f.N_X), read(plan, f.WS_X), (x, u, out, u_out)
    for group in range(n_groups(lane, x)):
        one, sample = (plan, parameters_of(pars, group), tables), 1
        load_rows(lane, x, group, ws, at, nx)
        load_rows(lane, u, group, ws, controls_at(plan, stepper), read(plan, f.N_U))
        store(lane, ws, ahead_at(plan, stepper), zero(lane))
        record(lane, one, stepper, rows, group, 0, samples[0], ws)
        for i in range(steps.shape[0]):
            t, h = steps[i, START], steps[i, LENGTH]
            copy(lane, ws, stepper[X0], at, nx)
            take_step(lane, one, stepper, ws, t, h, 0, ORDER_N)
            sample = record_inside(lane, one, stepper, samples, sample, rows, group, t, h, t + h, t + h, ws)


@kernel
def rate_tangents(sweep_table, plan, pars, tables, stepper, t, x, u, out, ws):
    """out = x' at the times t (see `gather_inputs`), with compiled laws, and its derivatives, as above."""
    align_stack()
    lane, plan, tables, ws = lanes_of(ws, sweep_table), pointer_to(plan), pointer_to(tables), pointer_to(ws)
    controls, n_u = controls_at(plan, stepper), read(plan, f.N_U)
    for group in range(n_groups(lane, x)):
        one = plan, parameters_of(pars, group), tables
        load_rows(lane, x, group, ws, read(plan, f.WS_X), read(plan, f.N_X))
        load_rows(lane, u, group, ws, controls, n_u)
        store(lane, ws, ahead_at(plan, stepper), zero(lane))
        set_time(lane, plan, stepper, ws, t[0], t[1])
        update_controls(lane, one, stepper, ws)
        copy(lane, ws, read(plan, f.WS_U), controls, n_u)
        evaluate_rates(lane, one, stepper, ws, ORDER_N, 0)
        store_rows(lane, out, group, 0, ws, read(plan, f.WS_XDOT), read(plan, f.N_X))
