"""Compiled steps, fixed and adaptive, in chunks, with progress and interrupts between them."""
import time

import numpy as np

from bough.compile.kernel_calls import call, lanes_for
from bough.compile.layout import Floats
from bough.integrate.compiled import loops
from bough.integrate.compiled.loops import SAME
from bough.integrate.run import Run
from bough.kernels.lanes import ONE

CHUNK_SECONDS = 0.2                 # target time of a call of a compiled loop
FIRST_CHUNK = 16                    # steps of the first call, before their time is known


# ---- fixed steps ---------------------------------------------------------------------------------------------------
def run_fixed(run: Run, stop: float, show: float) -> None:
    """Steps between multiples of dt, in chunks of limited run time."""
    lanes, (samples, real) = lanes_for(len(run.x)), run.samples_until(show)
    model, stepper, rows, ws = run.arguments(lanes)
    reached = stop <= show + SAME*abs(show)
    grid = step_rows(*run.pace, run.t, stop if reached else min(stop, next_multiple(run, show)))
    run.load_kernel(lambda: run.states_after(run.t, run.plan.dt or 0.0, lanes))
    ends = np.cumsum(grid[:, loops.STOP] - grid[:, loops.BEGIN]).astype(int)        # in steps from here
    first, size, total = 0, FIRST_CHUNK, int(ends[-1]) if len(ends) else 0
    while first < total:
        last = min(first + size, total)
        chunk = part_of(grid, ends, first, last)
        begin, run.clock[:] = time.perf_counter(), (run.done, show, run.t, 0.0)
        run.take_fixed(model, stepper, chunk, samples, rows, ws)
        run.t, run.done = float(run.clock[loops.REACHED]), min(int(run.clock[loops.NEXT_SAMPLE]), real)
        run.steps += steps_taken(chunk, run.t)
        if run.passed[loops.PASSED_STEP] or np.isfinite(run.failed[:, 0]).all():
            return
        run.report(run.t)
        first = last
        took = max(time.perf_counter() - begin, 1e-6)
        size = int(min(max(size*CHUNK_SECONDS/took, 1), 10*size, total))
    if reached:
        run.t = stop
    run.show_until(show, len(samples) - 1)


def next_multiple(run: Run, t: float) -> float:
    """The end of the fixed step that contains t."""
    start, dt = run.pace
    return float(start + np.ceil((t - start)/dt*(1.0 - SAME))*dt)


def step_rows(origin: float, dt: float, start: float, stop: float) -> Floats:
    """Rows of fixed steps (see `loops`) from start to stop: between multiples of dt, with shorter ones at the ends; none if start
    and stop are equal to rounding.

    >>> step_rows(0.0, 0.1, 0.25, 0.57).round(3).tolist()
    [[0.25, 0.05, 0.0, 1.0], [0.0, 0.1, 3.0, 5.0], [0.5, 0.07, 0.0, 1.0]]
    """
    first, last = np.ceil((start - origin)/dt*(1.0 - SAME)), np.floor((stop - origin)/dt*(1.0 + SAME))
    left, right, same = origin + first*dt, origin + last*dt, SAME*abs(stop)
    if first > last:
        return np.array([[start, stop - start, 0.0, 1.0]])
    rows = [[start, left - start, 0.0, 1.0]]*bool(left - start > same) + [[origin, dt, first, last]]*bool(last > first)
    return np.array(rows + [[right, stop - right, 0.0, 1.0]]*bool(stop - right > same)).reshape(-1, 4)


def part_of(grid: Floats, ends: Floats, first: int, last: int) -> Floats:
    """The rows of the grid from one step to another, counted from the start of all.

    >>> part_of(np.array([[0.0, 0.1, 2, 6], [0.6, 0.2, 0, 4]]), np.array([4, 8]), 3, 6)[:, loops.BEGIN:]
    array([[5., 6.],
           [0., 2.]])
    """
    if first == 0 and last == ends[-1]:
        return grid
    i, j = np.searchsorted(ends, first, side="right"), np.searchsorted(ends, last)
    chunk = grid[i:j + 1].copy()
    chunk[0, loops.BEGIN] = grid[i, loops.STOP] - (ends[i] - first)
    chunk[-1, loops.STOP] -= ends[j] - last
    return chunk


def steps_taken(chunk: Floats, reached: float) -> int:
    """The number of steps of these rows up to the time reached."""
    rows = ((round((reached - origin)/length), begin, stop) for origin, length, begin, stop in chunk.tolist())
    return int(sum(min(max(n, begin), stop) - begin for n, begin, stop in rows))


# ---- adaptive steps -------------------------------------------------------------------------------------------------
def run_adaptive(run: Run, stop: float, show: float) -> None:
    """Separate steps for each state, in chunks."""
    kernel, (model, stepper, rows, ws) = run.adaptive_kernel, run.arguments(ONE)
    (samples, real), carry, size = run.samples_until(show), run.carry, FIRST_CHUNK
    limits = np.array([stop, show, 1.0, *run.plan.tolerances, run.plan.max_step])
    run.load_kernel(lambda: call(kernel, *model, stepper, samples[:0], limits, carry[:1].copy(), run.scratch_rows(ONE), ws))
    while True:
        clock, limits[loops.MOST_STEPS] = time.perf_counter(), size if run.budget is None else min(size, run.budget - run.steps)
        call(kernel, *model, stepper, samples, limits, carry, rows, ws)
        run.steps, run.rejected = int(carry[:, loops.TAKEN].sum()), int(carry[:, loops.REFUSED].sum())
        running = np.isnan(run.failed[:, 0])
        if not running.any():
            return
        run.t, known = float(carry[running, loops.TIME].min()), int(carry[running, loops.NEXT].min())
        carry[:, loops.NEXT] = np.minimum(carry[:, loops.NEXT], real)
        run.done = min(known, real)
        run.report(run.t)
        if run.passed[loops.PASSED_STEP]:
            return
        if run.t >= stop or known == len(samples):
            break
        if run.steps == run.budget:
            show = run.t
            break
        took = max(time.perf_counter() - clock, 1e-6)
        size = int(np.clip(size*CHUNK_SECONDS/took, 1, 10*size))
    run.show_until(show, len(samples) - 1)
