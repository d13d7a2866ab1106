"""The loops over steps, compiled: fixed steps in lanes, adaptive steps one state at a time.

    method     of the dynamics
    sweep_table, plan, pars, tables   the compiled model
    stepper    tableau | table of compiled laws | scratch of doubles for them | where x0 is in ws: see `stepping`
    rows       x       (batch, nx)           state, in and out
               u       (batch, nu)           controls, constant during the call (unless set by a compiled law)
               out     (batch, samples*nx)   recorded states
               u_out   (batch, samples*nu)   controls at these times
               failed  (batch, 2)            time and entry of x where a state stopped being finite; time NaN: none
               watch   (watchers, WATCHER)   functions that end a run of one state when they cross zero
               passed  (2,)                  start and length of the step in which one did (length 0: none); x is then its start
               clock   (4,)                  fixed steps, in and out: next sample to record, time up to which samples are wanted,
                                             time reached.  A step that ends beyond gives the samples before it, but is not taken:
                                             the next call takes it again, so that the steps do not depend on how a run is split.
                                             And 1 if x and u are views of ws, so that there is nothing to copy
               ahead   (batch, 1)            offset of each state's own time from that of the steps
    samples    times to record: a step records those inside it by the method's interpolant, and its own end exactly
"""
from functools import partial

import numpy as np

from bough.integrate.compiled.stepping import (HEADER, INSIDE, LAST_IS_FIRST, POWER, TABLEAU, X0, ahead_at, begin_stage, combine,
                                               controls_at, copy, end_implicit, error_entries, evaluate_rates, first_not_finite,
                                               normalize, saved_at, set_time, stages_of, take_step, update_controls)
from bough import sweeps
from bough.kernels.jit import kernel, leaf
from bough.kernels.lanes import (align_stack, get_lane, implicit_lanes_of, lanes_of, load, parameters_of, pointer_to, put_lane,
                                 read, store, width_of)
from bough.sweeps import fields as f
from bough.sweeps.derivative import CLOUD, DENSE, ORDER_N
from bough.sweeps.blocks import store_rows, n_groups, load_rows

# a row of the grid of fixed steps: step i goes from ORIGIN + i LENGTH to ORIGIN + (i + 1) LENGTH; those from BEGIN up to STOP are
# to be taken.  However a run is split, its steps are the same
ORIGIN, LENGTH, BEGIN, STOP = range(4)
PASSED_AT, PASSED_STEP = range(2)
NEXT_SAMPLE, SHOW, REACHED, RESIDENT, CLOCK = range(5)
SAME = 1e-14                        # relative to the time: tolerance for a sample at the end of a step
# carried by an adaptive run from call to call, one row per state: time, next step (0: to be found), its growth limit, next
# sample, steps taken, steps rejected, 1 if x' at this time is known, the step proposed after the first one since loads jumped (0:
# not known yet); and that x' from CARRY on.  However a run is split into calls, its steps are the same
TIME, STEP, GROWTH, NEXT, TAKEN, REFUSED, KNOWN, AFTER_JUMP, CARRY = range(9)
# a watcher: two entries of x, their factors, an offset that is subtracted; 1: watch for rising through zero, -1: falling, 0: both
FIRST, SECOND, FIRST_FACTOR, SECOND_FACTOR, LESS, DIRECTION, WATCHER = range(7)
# where an adaptive call stops: at a time at which a step must end, when samples up to a time are recorded (see `clock`), or after
# a number of steps of each state; its tolerances and longest step
STOP_TIME, SHOW_TIME, MOST_STEPS, RTOL, ATOL, MAX_STEP = range(6)

TENFOLD = 10.0                      # by how much a step may be longer than the last one; then it says nothing of how long it may be


@leaf
def load_run(lane, plan, stepper, rows, group, ws):
    x, u, clock, ahead = rows[0], rows[1], rows[7], rows[8]
    load_rows(lane, ahead, group, ws, ahead_at(plan, stepper), 1)
    if clock[RESIDENT] == 0.0:
        load_rows(lane, x, group, ws, read(plan, f.WS_X), read(plan, f.N_X))
        load_rows(lane, u, group, ws, controls_at(plan, stepper), read(plan, f.N_U))


# ---- events -------------------------------------------------------------------------------------------------------
@leaf
def event_value(lane, watch, i, x, ws):
    """The function of a watcher, for the state at x in ws."""
    return (watch[i, FIRST_FACTOR]*get_lane(lane, ws, x + int(watch[i, FIRST]), 0)
            + watch[i, SECOND_FACTOR]*get_lane(lane, ws, x + int(watch[i, SECOND]), 0) - watch[i, LESS])


@leaf
def event_crossed(lane, plan, stepper, rows, t, h, ws):
    """Whether any watcher crosses zero in the step from x0 to x; if so, go back to its start."""
    watch, passed = rows[5], rows[6]
    x, x0 = read(plan, f.WS_X), stepper[X0]
    for i in range(watch.shape[0]):
        before, after, direction = event_value(lane, watch, i, x0, ws), event_value(lane, watch, i, x, ws), watch[i, DIRECTION]
        if (direction >= 0.0 and before < 0.0 <= after) or (direction <= 0.0 and before > 0.0 >= after):
            passed[PASSED_AT], passed[PASSED_STEP] = t, h
            copy(lane, ws, x, x0, read(plan, f.N_X))
            return True
    return False


# ---- samples ------------------------------------------------------------------------------------------------------
@leaf
def record(lane, model, stepper, rows, group, sample, t, ws):
    """Record the state and the current controls as a sample."""
    plan, _, _ = model
    set_time(lane, plan, stepper, ws, t, t)
    update_controls(lane, model, stepper, ws)
    nx, nu = read(plan, f.N_X), read(plan, f.N_U)
    store_rows(lane, rows[2], group, sample*nx, ws, read(plan, f.WS_X), nx)
    store_rows(lane, rows[3], group, sample*nu, ws, controls_at(plan, stepper), nu)


@leaf
def interpolate(lane, plan, stepper, tables, ws, t, z, h):
    """x at the fraction z of the step that starts at t."""
    tableau, _, scratch, _ = stepper
    s = stages_of(tableau)
    weights = scratch[scratch.shape[0] - s:]
    for j in range(s):
        row = HEADER + 3*s + s*s + 4*j
        weights[j] = z*(tableau[row] + z*(tableau[row + 1] + z*(tableau[row + 2] + z*tableau[row + 3])))
    combine(lane, plan, stepper, ws, weights, 0, h, s)
    normalize(lane, plan, ws)
    set_time(lane, plan, stepper, ws, t + z*h, t + min(z, 1.0 - INSIDE)*h)
    sweeps.held.apply_prescribed_motion(lane, plan, tables, ws, True)


@leaf
def record_inside(lane, model, stepper, samples, sample, rows, group, t, h, end, limit, ws):
    """Record the samples from `sample` up to a limit that are in the step from t to its end, whose x is in ws; returns the
    next."""
    plan, _, tables = model
    nx, x, saved = read(plan, f.N_X), read(plan, f.WS_X), saved_at(plan, stepper)
    same = SAME*abs(end)
    if sample >= samples.shape[0] or samples[sample] > limit + same:
        return sample
    copy(lane, ws, saved, x, nx)
    while sample < samples.shape[0] and samples[sample] <= limit + same:
        if samples[sample] < end - same:
            interpolate(lane, plan, stepper, tables, ws, t, (samples[sample] - t)/h, h)
        else:
            copy(lane, ws, x, saved, nx)
        record(lane, model, stepper, rows, group, sample, samples[sample], ws)
        sample += 1
    copy(lane, ws, x, saved, nx)
    return sample


# ---- fixed steps ------------------------------------------------------------------------------------------------
@leaf
def note_failures(lane, plan, ws, t, group, failed):
    """Note which states stopped being finite; returns how many of the group still run."""
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


@leaf
def load_first(lane, plan, stepper, carry, group, ws):
    """Load the first stage of the next step, if it is known for all states of the group; returns 1 if it is."""
    if carry is None:
        return 0
    width, nx, known = width_of(lane), read(plan, f.N_X), 1
    for i in range(width):
        row = min(group*width + i, carry.shape[0] - 1)
        known = min(known, int(carry[row, KNOWN]))
        for j in range(nx):
            put_lane(lane, ws, stepper[X0] + nx + j, i, carry[row, CARRY + j])
    return known


@leaf
def pass_on_first(lane, plan, stepper, carry, ws):
    """After a step: its last stage is the first of the next one, if the method allows; returns 1 if so."""
    if carry is None or not stepper[TABLEAU][LAST_IS_FIRST]:
        return 0
    nx, x0 = read(plan, f.N_X), stepper[X0]
    copy(lane, ws, x0 + nx, x0 + stages_of(stepper[TABLEAU])*nx, nx)
    return 1


@leaf
def store_first(lane, plan, stepper, carry, group, known, ws):
    """Store the first stage for the next call."""
    if carry is not None:
        width, nx = width_of(lane), read(plan, f.N_X)
        for i in range(min(width, carry.shape[0] - group*width)):
            row = group*width + i
            carry[row, KNOWN] = known
            for j in range(nx):
                carry[row, CARRY + j] = get_lane(lane, ws, stepper[X0] + nx + j, i)


@kernel
def fixed_steps(method, sweep_table, plan, pars, tables, stepper, grid, samples, rows, ws):
    """Fixed steps over the rows of the grid; returns how many groups of states stopped before its end."""
    align_stack()
    lane, plan, tables, ws = lanes_of(ws, sweep_table), pointer_to(plan), pointer_to(tables), pointer_to(ws)
    return take_fixed_steps(lane, (plan, pars, tables), stepper, grid, samples, None, rows, ws, method)


@kernel
def fixed_implicit_steps(sweep_table, plan, pars, tables, stepper, grid, samples, carry, rows, ws):
    """The same by an implicit method; `carry` is as in adaptive steps."""
    align_stack()
    lane, plan, tables, ws = implicit_lanes_of(ws, sweep_table), pointer_to(plan), pointer_to(tables), pointer_to(ws)
    return take_fixed_steps(lane, (plan, pars, tables), stepper, grid, samples, carry, rows, ws, ORDER_N)


@leaf
def take_fixed_steps(lane, model, stepper, grid, samples, carry, rows, ws, method):
    plan, pars, tables = model
    x, failed, clock, nx = rows[0], rows[4], rows[7], read(plan, f.N_X)
    first = furthest = int(clock[NEXT_SAMPLE])
    stopped = 0
    for group in range(n_groups(lane, x)):
        one = plan, parameters_of(pars, group), tables
        load_run(lane, plan, stepper, rows, group, ws)
        running, sample, known = 1, first, load_first(lane, plan, stepper, carry, group, ws)
        for row in range(grid.shape[0]):
            origin, h = grid[row, ORIGIN], grid[row, LENGTH]
            for i in range(int(grid[row, BEGIN]), int(grid[row, STOP])):
                t, end = origin + i*h, origin + (i + 1)*h
                copy(lane, ws, stepper[X0], read(plan, f.WS_X), nx)
                take_step(lane, one, stepper, ws, t, h, known, method)
                if event_crossed(lane, plan, stepper, rows, t, h, ws):
                    running = 0
                    break
                running = note_failures(lane, plan, ws, end, group, failed)
                if running == 0:
                    break
                sample = record_inside(lane, one, stepper, samples, sample, rows, group, t, h, end, min(end, clock[SHOW]), ws)
                if end > clock[SHOW] + SAME*abs(end):
                    copy(lane, ws, read(plan, f.WS_X), stepper[X0], nx)
                    running = 0
                    break
                clock[REACHED], known = max(clock[REACHED], end), pass_on_first(lane, plan, stepper, carry, ws)
            if running == 0:
                break
        furthest, stopped = max(furthest, sample), stopped + (running == 0)
        store_first(lane, plan, stepper, carry, group, known, ws)
        if clock[RESIDENT] == 0.0:
            store_rows(lane, x, group, 0, ws, read(plan, f.WS_X), nx)
    clock[NEXT_SAMPLE] = furthest
    return stopped


# ---- adaptive steps ---------------------------------------------------------------------------------------------
@leaf
def error_norm(lane, plan, stepper, ws, h, limits):
    """Root mean square of the error estimate over atol + rtol |x| [B 8]; x is the end of the step, x0 its start."""
    tableau, _, _, x0 = stepper
    s, nx, x, n = stages_of(tableau), read(plan, f.N_X), read(plan, f.WS_X), error_entries(plan, stepper)
    weights, total = HEADER + 2*s + s*s, 0.0
    for i in range(n):
        error = 0.0
        for j in range(s):
            error += tableau[weights + j]*load(lane, ws, x0 + (j + 1)*nx + i)
        size = max(abs(load(lane, ws, x0 + i)), abs(load(lane, ws, x + i)))
        ratio = h*error/(limits[ATOL] + limits[RTOL]*size)
        total += ratio*ratio
    return np.sqrt(total/n)


@leaf
def resize(h, step, error, last, growth, power):
    """The next step after one of length h, and the growth limit after it; `last`: it was cut short, `step` was wanted [B 8]."""
    if error < 1.0:
        factor = min(0.9*max(error, 1e-10)**-power, growth)
        return (max(h*factor, step) if last and factor > 1.0 else h*factor), TENFOLD
    return h*(max(0.2, 0.9*error**-power) if error < np.inf else 0.2), 1.0


@leaf
def find_first_step(lane, model, stepper, ws, t, limits, method):
    """A first step that changes x by a hundredth of its magnitude, judged by its rate [B 8], which is the first stage."""
    plan, _, _ = model
    n, x, first = error_entries(plan, stepper), read(plan, f.WS_X), stepper[X0] + read(plan, f.N_X)
    begin_stage(lane, model, stepper, ws, t, 1e-6, 0)
    evaluate_rates(lane, model, stepper, ws, method, 0)
    end_implicit(lane, model, stepper, ws, 1e-6, 0)
    copy(lane, ws, first, read(plan, f.WS_XDOT), read(plan, f.N_X))
    size, rate = 0.0, 0.0
    for i in range(n):
        scale_i = limits[ATOL] + limits[RTOL]*abs(load(lane, ws, x + i))
        value, change = load(lane, ws, x + i)/scale_i, load(lane, ws, first + i)/scale_i
        size, rate = size + value*value, rate + change*change
    size, rate = np.sqrt(size/n), np.sqrt(rate/n)
    return 1e-6 if size < 1e-5 or not 1e-5 < rate < np.inf else 0.01*size/rate*(limits[RTOL]/1e-2)**0.2


@leaf
def load_carry(lane, plan, stepper, carry, row, ws):
    """Load the start of the next step, and its first stage if it is known."""
    nx, x0 = read(plan, f.N_X), stepper[X0]
    for i in range(nx):
        store(lane, ws, x0 + i, load(lane, ws, read(plan, f.WS_X) + i))
        put_lane(lane, ws, x0 + nx + i, 0, carry[row, CARRY + i])


@kernel
def adaptive_steps(method, sweep_table, plan, pars, tables, stepper, samples, limits, carry, rows, ws):
    """Each state separately; ws must be that of one state."""
    align_stack()
    lane, plan, tables, ws = lanes_of(ws, sweep_table), pointer_to(plan), pointer_to(tables), pointer_to(ws)
    take_adaptive_steps(lane, (plan, pars, tables), stepper, samples, limits, carry, rows, ws, method)


@kernel
def adaptive_implicit_steps(sweep_table, plan, pars, tables, stepper, samples, limits, carry, rows, ws):
    """The same by an implicit method."""
    align_stack()
    lane, plan, tables, ws = implicit_lanes_of(ws, sweep_table), pointer_to(plan), pointer_to(tables), pointer_to(ws)
    take_adaptive_steps(lane, (plan, pars, tables), stepper, samples, limits, carry, rows, ws, ORDER_N)


@leaf
def take_adaptive_steps(lane, model, stepper, samples, limits, carry, rows, ws, method):
    plan, pars, tables = model
    stop, show, nx, x0 = limits[STOP_TIME], limits[SHOW_TIME], read(plan, f.N_X), stepper[X0]
    x, failed, first = rows[0], rows[4], x0 + nx
    for row in range(x.shape[0]):
        if not np.isnan(failed[row, 0]):
            continue
        one = plan, parameters_of(pars, row), tables
        load_run(lane, plan, stepper, rows, row, ws)
        load_carry(lane, plan, stepper, carry, row, ws)
        t, enough = carry[row, TIME], carry[row, TAKEN] + limits[MOST_STEPS]
        if carry[row, STEP] == 0.0:
            carry[row, STEP], carry[row, KNOWN] = find_first_step(lane, one, stepper, ws, t, limits, method), 1.0
        while t < stop and t < show and carry[row, TAKEN] < enough:
            wanted = min(carry[row, STEP], limits[MAX_STEP])
            last = t + wanted*(1.0 + 1e-10) >= stop
            h = stop - t if last else wanted
            end = stop if last else t + h
            take_step(lane, one, stepper, ws, t, h, int(carry[row, KNOWN]), method)
            error = error_norm(lane, plan, stepper, ws, h, limits)
            carry[row, KNOWN] = 1.0
            if error < 1.0:
                if event_crossed(lane, plan, stepper, rows, t, h, ws):
                    break
                carry[row, NEXT] = record_inside(lane, one, stepper, samples, int(carry[row, NEXT]), rows, row, t, h, end,
                                                 min(end, show), ws)
                if end > show:
                    copy(lane, ws, read(plan, f.WS_X), x0, nx)
                    break
                copy(lane, ws, x0, read(plan, f.WS_X), nx)
                carry[row, KNOWN] = pass_on_first(lane, plan, stepper, carry, ws)
                carry[row, TAKEN] += 1
                t = end
            else:
                carry[row, REFUSED] += 1
            carry[row, STEP], carry[row, GROWTH] = resize(h, wanted, error, last, carry[row, GROWTH],
                                                          stepper[TABLEAU][POWER])
            if error < 1.0 and carry[row, AFTER_JUMP] == 0.0 and carry[row, STEP] < 0.99*TENFOLD*h:
                carry[row, AFTER_JUMP] = carry[row, STEP]
            if not carry[row, STEP] > 1e-14*max(abs(t), 1e-3):
                failed[row, 0], failed[row, 1] = t, -1.0
                copy(lane, ws, read(plan, f.WS_X), x0, nx)
                break
        carry[row, TIME] = t
        for i in range(nx):
            carry[row, CARRY + i] = get_lane(lane, ws, first + i, 0)
        store_rows(lane, x, row, 0, ws, read(plan, f.WS_X), nx)


@kernel
def rates(sweep_table, plan, pars, tables, stepper, t, x, u, out, u_out, ws):
    """out = x' and u_out = controls, of one state at the times t (see `gather_inputs`), with compiled laws.  The holding forces
    of friction are written to x."""
    align_stack()
    lane, plan, tables, ws = lanes_of(ws, sweep_table), pointer_to(plan), pointer_to(tables), pointer_to(ws)
    load_rows(lane, x, 0, ws, read(plan, f.WS_X), read(plan, f.N_X))
    load_rows(lane, u, 0, ws, controls_at(plan, stepper), read(plan, f.N_U))
    store(lane, ws, ahead_at(plan, stepper), 0.0)
    set_time(lane, plan, stepper, ws, t[0], t[1])
    one = plan, parameters_of(pars, 0), tables
    update_controls(lane, one, stepper, ws)
    copy(lane, ws, read(plan, f.WS_U), controls_at(plan, stepper), read(plan, f.N_U))
    evaluate_rates(lane, one, stepper, ws, ORDER_N, 0)
    store_rows(lane, out, 0, 0, ws, read(plan, f.WS_XDOT), read(plan, f.N_X))
    store_rows(lane, x, 0, 0, ws, read(plan, f.WS_X), read(plan, f.N_X))
    store_rows(lane, u_out, 0, 0, ws, controls_at(plan, stepper), read(plan, f.N_U))


METHODS = {"order-n": ORDER_N, "dense": DENSE, "cloud": CLOUD}
FIXED = {name: partial(fixed_steps, method) for name, method in METHODS.items()}
ADAPTIVE = {name: partial(adaptive_steps, method) for name, method in METHODS.items()}
