"""The loops over steps, compiled: fixed steps in lanes, adaptive steps one state at a time.

    method     of the dynamics
    sweep_table, plan, pars, tables   the compiled model
    stepper    tableau | address of a compiled law (0: none) | scratch of doubles for it | where `work` starts in ws
    rows       x       (batch, nx)           state, in and out
               u       (batch, nu)           controls held through the call (where no compiled law sets them)
               out     (batch, samples*nx)   recorded states
               u_out   (batch, samples*nu)   controls in force there
               failed  (batch, 2)            time and entry of x where a state stopped being finite; time NaN: all is well
               watch   (watchers, WATCHER)   what ends a run of one state when it passes zero
               passed  (3,)                  start and length of the step in which one did (length 0: none); x is its start then;
                                             and, of fixed steps, the sample to record next
    samples    times to record: a step records those inside it by the method's interpolant, and its own end as it is
"""
from functools import partial

import numpy as np

from bough.integrate.compiled.stepping import (INSIDE, combine, controls_at, copy, first_not_finite, normalize, saved_at, set_time,
                                               stages_of, evaluate_law, take_step)
from bough.integrate.compiled.stepping import HEADER
from bough.kernels.jit import kernel, leaf
from bough.kernels.lanes import align_stack, get_lane, lanes_of, load, put_lane, read, pointer_to_row, pointer_to, width_of
from bough.sweeps import fields as f
from bough.sweeps.derivative import CLOUD, DENSE, ORDER_N
from bough.sweeps.held import apply_prescribed_motion
from bough.sweeps.blocks import store_rows, n_groups, load_rows

# a row of the grid of fixed steps: step i leads from ORIGIN + i LENGTH to ORIGIN + (i + 1) LENGTH, and those from BEGIN up to STOP
# are to be taken: however they are parted, steps are the same
ORIGIN, LENGTH, BEGIN, STOP = range(4)
PASSED_AT, PASSED_STEP, NEXT_SAMPLE = range(3)
SAME = 1e-14                        # of the time: as near as that a sample is the end of a step
# what an adaptive run carries from call to call, a row a state: time, next step, next sample, steps taken, steps refused, 1 if x'
# at this time is known already; and from CARRY on that x': however a run is parted into calls, its steps are the same
TIME, STEP, NEXT, TAKEN, REFUSED, KNOWN, CARRY = range(7)
# a watcher: two entries of x, their factors, what is subtracted; 1 to watch it rise through zero, -1 fall, 0 both
FIRST, SECOND, FIRST_FACTOR, SECOND_FACTOR, LESS, DIRECTION, WATCHER = range(7)
# where an adaptive call stops: at a time, or after so many steps of each state; how precise it is, and its longest step
STOP_TIME, MOST_STEPS, RTOL, ATOL, MAX_STEP = range(5)


@leaf
def load_run(lane, plan, stepper, rows, group, ws):
    x, u = rows[0], rows[1]
    load_rows(lane, x, group, ws, read(plan, f.WS_X), read(plan, f.N_X))
    load_rows(lane, u, group, ws, controls_at(plan, stepper), read(plan, f.N_U))


# ---- events -------------------------------------------------------------------------------------------------------
@leaf
def event_value(lane, watch, i, x, ws):
    """The value that a watcher watches, of the state at x in ws."""
    return (watch[i, FIRST_FACTOR]*get_lane(lane, ws, x + int(watch[i, FIRST]), 0)
            + watch[i, SECOND_FACTOR]*get_lane(lane, ws, x + int(watch[i, SECOND]), 0) - watch[i, LESS])


@leaf
def event_crossed(lane, plan, stepper, rows, t, h, ws):
    """Whether any watcher passes zero in the step that leads from work to x; if so, back to its start."""
    watch, passed = rows[5], rows[6]
    x, work = read(plan, f.WS_X), stepper[3]
    for i in range(watch.shape[0]):
        before, after, direction = event_value(lane, watch, i, work, ws), event_value(lane, watch, i, x, ws), watch[i, DIRECTION]
        if (direction >= 0.0 and before < 0.0 <= after) or (direction <= 0.0 and before > 0.0 >= after):
            passed[PASSED_AT], passed[PASSED_STEP] = t, h
            copy(lane, ws, x, work, read(plan, f.N_X))
            return True
    return False


# ---- samples ------------------------------------------------------------------------------------------------------
@leaf
def record(lane, plan, stepper, rows, group, sample, t, ws):
    """Record the state, and the controls in force, as a sample."""
    out, u_out = rows[2], rows[3]
    nx, nu = read(plan, f.N_X), read(plan, f.N_U)
    set_time(lane, plan, ws, t, t)
    evaluate_law(lane, plan, stepper, ws)
    store_rows(lane, out, group, sample*nx, ws, read(plan, f.WS_X), nx)
    store_rows(lane, u_out, group, sample*nu, ws, controls_at(plan, stepper), nu)


@leaf
def interpolate(lane, plan, stepper, tables, ws, t, z, h):
    """x at the share z of the step that starts at t."""
    tableau, _, scratch, _ = stepper
    s = stages_of(tableau)
    weights = scratch[scratch.shape[0] - s:]
    for j in range(s):
        row = HEADER + 3*s + s*s + 4*j
        weights[j] = z*(tableau[row] + z*(tableau[row + 1] + z*(tableau[row + 2] + z*tableau[row + 3])))
    combine(lane, plan, stepper, ws, weights, 0, h, s)
    normalize(lane, plan, ws)
    set_time(lane, plan, ws, t + z*h, t + min(z, 1.0 - INSIDE)*h)
    apply_prescribed_motion(lane, plan, tables, ws, True)


@leaf
def record_inside(lane, plan, stepper, tables, samples, sample, rows, group, t, h, end, ws):
    """Record the samples from `sample` on that are in the step from t to its end, whose x is in ws; the first sample after it."""
    nx, x, saved = read(plan, f.N_X), read(plan, f.WS_X), saved_at(plan, stepper)
    same = SAME*abs(end)
    if sample >= samples.shape[0] or samples[sample] > end + same:
        return sample
    copy(lane, ws, saved, x, nx)
    while sample < samples.shape[0] and samples[sample] <= end + same:
        if samples[sample] < end - same:
            interpolate(lane, plan, stepper, tables, ws, t, (samples[sample] - t)/h, h)
        else:
            copy(lane, ws, x, saved, nx)
        record(lane, plan, stepper, rows, group, sample, samples[sample], ws)
        sample += 1
    copy(lane, ws, x, saved, nx)
    return sample


# ---- fixed steps ------------------------------------------------------------------------------------------------
@leaf
def note_failures(lane, plan, ws, t, group, failed):
    """Note which states stopped being finite; how many of the group still run."""
    running, width = 0, width_of(lane)
    for i in range(min(width, failed.shape[0] - group*width)):
        row = group*width + i
        if np.isnan(failed[row, 0]):
            entry = first_not_finite(lane, plan, ws, i)
            if entry >= 0:
                failed[row, 0], failed[row, 1] = t, entry
            else:
                running += 1
    return running


@kernel
def fixed_steps(method, sweep_table, plan, pars, tables, stepper, grid, samples, rows, ws):
    """Fixed steps over the rows of the grid."""
    align_stack()
    lane, plan, tables, ws = lanes_of(ws, sweep_table), pointer_to(plan), pointer_to(tables), pointer_to(ws)
    x, failed, passed = rows[0], rows[4], rows[6]
    first = furthest = int(passed[NEXT_SAMPLE])
    for group in range(n_groups(lane, x)):
        one = plan, pointer_to_row(pars, min(group, pars.shape[0] - 1)), tables
        load_run(lane, plan, stepper, rows, group, ws)
        running, sample = 1, first
        for row in range(grid.shape[0]):
            origin, h = grid[row, ORIGIN], grid[row, LENGTH]
            for i in range(int(grid[row, BEGIN]), int(grid[row, STOP])):
                t, end = origin + i*h, origin + (i + 1)*h
                copy(lane, ws, stepper[3], read(plan, f.WS_X), read(plan, f.N_X))
                take_step(lane, one, stepper, ws, t, h, 0, method)
                if event_crossed(lane, plan, stepper, rows, t, h, ws):
                    running = 0
                    break
                running = note_failures(lane, plan, ws, end, group, failed)
                if running == 0:
                    break
                sample = record_inside(lane, plan, stepper, tables, samples, sample, rows, group, t, h, end, ws)
            if running == 0:
                break
        furthest = max(furthest, sample)
        store_rows(lane, x, group, 0, ws, read(plan, f.WS_X), read(plan, f.N_X))
    passed[NEXT_SAMPLE] = furthest


# ---- adaptive steps ---------------------------------------------------------------------------------------------
@leaf
def error_norm(lane, plan, stepper, ws, h, limits):
    """Root mean square of the error estimate over atol + rtol |x| [B 8]; x holds the end of the step, work its start."""
    tableau, _, _, work = stepper
    s, nx, x = stages_of(tableau), read(plan, f.N_X), read(plan, f.WS_X)
    weights, total = HEADER + 2*s + s*s, 0.0
    for i in range(nx):
        error = 0.0
        for j in range(s):
            error += tableau[weights + j]*load(lane, ws, work + (j + 1)*nx + i)
        size = max(abs(load(lane, ws, work + i)), abs(load(lane, ws, x + i)))
        total += (h*error/(limits[ATOL] + limits[RTOL]*size))**2
    return np.sqrt(total/nx)


@leaf
def accept(lane, plan, stepper, tables, samples, carry, rows, row, t, h, t_new, ws):
    """Record the samples inside the step, then make its end the start of the next one."""
    nx, work = read(plan, f.N_X), stepper[3]
    carry[row, NEXT] = record_inside(lane, plan, stepper, tables, samples, int(carry[row, NEXT]), rows, row, t, h, t_new, ws)
    copy(lane, ws, work, read(plan, f.WS_X), nx)
    copy(lane, ws, work + nx, work + stages_of(stepper[0])*nx, nx)            # the last stage is the next step's first
    carry[row, TAKEN] += 1


@kernel
def adaptive_steps(method, sweep_table, plan, pars, tables, stepper, samples, limits, carry, rows, ws):
    """Each state on its own, until a time is reached at which the loads jump, or so many steps are taken; ws must hold one."""
    align_stack()
    lane, plan, tables, ws = lanes_of(ws, sweep_table), pointer_to(plan), pointer_to(tables), pointer_to(ws)
    stop, nx = limits[STOP_TIME], read(plan, f.N_X)
    x, failed = rows[0], rows[4]
    for row in range(x.shape[0]):
        if not np.isnan(failed[row, 0]):
            continue
        one = plan, pointer_to_row(pars, min(row, pars.shape[0] - 1)), tables
        load_run(lane, plan, stepper, rows, row, ws)
        copy(lane, ws, stepper[3], read(plan, f.WS_X), nx)
        t, step, most, first = carry[row, TIME], carry[row, STEP], 10.0, int(carry[row, KNOWN])
        for i in range(nx):
            put_lane(lane, ws, stepper[3] + nx + i, 0, carry[row, CARRY + i])
        enough = carry[row, TAKEN] + limits[MOST_STEPS]
        while t < stop and carry[row, TAKEN] < enough:
            step = min(step, limits[MAX_STEP])
            last = t + step*(1.0 + 1e-10) >= stop
            h = stop - t if last else step
            take_step(lane, one, stepper, ws, t, h, first, method)
            error = error_norm(lane, plan, stepper, ws, h, limits)
            first = 1
            if error < 1.0:
                t_new = stop if last else t + h
                if event_crossed(lane, plan, stepper, rows, t, h, ws):
                    break
                accept(lane, plan, stepper, tables, samples, carry, rows, row, t, h, t_new, ws)
                t = t_new
                growth = min(0.9*max(error, 1e-10)**-0.2, most)
                step = max(h*growth, step) if last and growth > 1.0 else h*growth
                most = 10.0
            else:
                carry[row, REFUSED] += 1
                step = h*(max(0.2, 0.9*error**-0.2) if error < np.inf else 0.2)
                most = 1.0
                if not step > 1e-14*max(abs(t), 1e-3):
                    failed[row, 0], failed[row, 1] = t, -1.0
                    copy(lane, ws, read(plan, f.WS_X), stepper[3], nx)
                    break
        carry[row, TIME], carry[row, STEP], carry[row, KNOWN] = t, step, first
        for i in range(nx):
            carry[row, CARRY + i] = get_lane(lane, ws, stepper[3] + nx + i, 0)
        store_rows(lane, x, row, 0, ws, read(plan, f.WS_X), nx)


METHODS = {"order-n": ORDER_N, "dense": DENSE, "cloud": CLOUD}
FIXED = {name: partial(fixed_steps, method) for name, method in METHODS.items()}
ADAPTIVE = {name: partial(adaptive_steps, method) for name, method in METHODS.items()}
