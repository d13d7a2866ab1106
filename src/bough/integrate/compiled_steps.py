"""Compiled steps, fixed and adaptive: in chunks, between which come progress, interrupts and a Python controller."""
import time
from collections.abc import Callable

import numpy as np

from bough.compile.batch import call, lanes_for
from bough.compile.layout import Floats
from bough.integrate.compiled import loops
from bough.integrate.run import CHUNK_SECONDS, FIRST_CHUNK, Plan, Run
from bough.kernels.lanes import ONE


# ---- fixed steps ---------------------------------------------------------------------------------------------------
def run_fixed(run: Run, plan: Plan, start: float, stop: float) -> None:
    """From start to stop, or to the step in which a watcher passes: as many steps at a time as take a moment, and no further than
    to the next update of a Python controller."""
    lanes, samples = lanes_for(len(run.x)), run.grid.samples
    kernel, (model, stepper, rows, ws) = loops.FIXED[run.resolved_dynamics], run.arguments(lanes)
    grid = run.grid.steps(plan.dt or 0.0, start, stop)
    if start == 0.0:
        run.states_after(start, grid[0, loops.LENGTH], lanes)               # compile or load before the clock starts
        run.start_clock()
    ends = np.cumsum(grid[:, loops.STOP] - grid[:, loops.BEGIN]).astype(int)        # in steps from the start
    begins, updates = grid[:, loops.ORIGIN] + grid[:, loops.BEGIN]*grid[:, loops.LENGTH], ends[-1:]
    if run.control is not None:
        updates = np.append(ends[:-1][run.grid.is_update(begins[1:])], updates)
        if run.grid.is_update(begins[:1])[0]:
            run.ask_control(start)
    first, size = 0, FIRST_CHUNK
    while first < ends[-1]:
        last = min(first + size, updates[np.searchsorted(updates, first, side="right")])
        chunk = part_of(grid, ends, first, last)
        if first in updates:
            run.ask_control(float(begins[np.searchsorted(ends, first, side="right")]))
        begin, run.passed[loops.NEXT_SAMPLE] = time.perf_counter(), run.done
        call(kernel, *model, stepper, chunk, samples, rows, ws)
        run.done, end = int(run.passed[loops.NEXT_SAMPLE]), chunk[:, loops.STOP]
        if run.passed[1]:
            end = np.clip(np.rint((run.passed[0] - chunk[:, loops.ORIGIN])/chunk[:, loops.LENGTH]), chunk[:, loops.BEGIN], end)
        run.steps += int((end - chunk[:, loops.BEGIN]).sum())
        if run.passed[1] or run.note_failure():
            return
        run.report(float(chunk[-1, loops.ORIGIN] + chunk[-1, loops.STOP]*chunk[-1, loops.LENGTH]))
        first = last
        took = max(time.perf_counter() - begin, 1e-6)
        size = int(np.clip(size*CHUNK_SECONDS/took, 1, min(10*size, ends[-1])))


def part_of(grid: Floats, ends: Floats, first: int, last: int) -> Floats:
    """The rows of the grid from one step to another, counted from the start of all.

    >>> part_of(np.array([[0.0, 0.1, 2, 6], [0.6, 0.2, 0, 4]]), np.array([4, 8]), 3, 6)[:, loops.BEGIN:]
    array([[5., 6.],
           [0., 2.]])
    """
    i, j = np.searchsorted(ends, first, side="right"), np.searchsorted(ends, last)
    chunk = grid[i:j + 1].copy()
    chunk[0, loops.BEGIN] = grid[i, loops.STOP] - (ends[i] - first)
    chunk[-1, loops.STOP] -= ends[j] - last
    return chunk


# ---- adaptive steps -------------------------------------------------------------------------------------------------
def run_adaptive(run: Run, plan: Plan, start: float, stop: float) -> None:
    """From start to stop, or to the step in which a watcher passes."""
    kernel = loops.ADAPTIVE[run.resolved_dynamics]
    model, stepper, rows, ws = run.arguments(ONE)
    samples = run.grid.samples
    if start == 0.0:
        run.carry = np.zeros((len(run.x), loops.CARRY + run.x.shape[1]))
        run.carry[:, loops.STEP] = plan.first_step or 1e-4*samples[-1]/max(len(samples) - 1, 1)
        run.carry[:, loops.NEXT] = 1
        one_step = np.array([run.carry[0, loops.STEP], 1.0, *plan.tolerances, plan.max_step])
        call(kernel, *model, stepper, samples[:1], one_step, run.carry[:1].copy(), run.scratch_rows(ONE), ws)
        run.start_clock()
    run.carry[:, loops.TIME] = start
    adaptive_chunks(run, plan, start, stop, lambda limits: call(kernel, *model, stepper, samples, limits, run.carry, rows, ws))


def adaptive_chunks(run: Run, plan: Plan, start: float, stop: float, take: Callable[[Floats], None]) -> None:
    """From break to break of the loads, in calls that take so many steps of each state."""
    size = FIRST_CHUNK
    for _, end in run.between_breaks(start, stop):
        run.carry[:, loops.KNOWN] = 0.0                                     # loads may jump here
        while True:
            clock = time.perf_counter()
            take(np.array([end, size, *plan.tolerances, plan.max_step]))
            run.steps, run.rejected = int(run.carry[:, loops.TAKEN].sum()), int(run.carry[:, loops.REFUSED].sum())
            running = np.isnan(run.failed[:, 0])
            if run.note_failure():
                return
            reached = float(run.carry[running, loops.TIME].min())
            run.done = int(run.carry[running, loops.NEXT].min())
            run.report(reached)
            if run.passed[1]:
                return
            if reached >= end:
                break
            took = max(time.perf_counter() - clock, 1e-6)
            size = int(np.clip(size*CHUNK_SECONDS/took, 1, 10*size))
