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
    lanes = lanes_for(len(run.x))
    kernel, (model, stepper, rows, ws) = loops.FIXED[run.resolved_dynamics], run.arguments(lanes)
    segments = run.grid.segments(plan.dt or 0.0, start, stop)
    lengths = (segments[:, loops.END] - segments[:, loops.START])/segments[:, loops.STEPS]
    if start == 0.0:
        run.states_after(start, lengths[0] if len(lengths) else 0.0, lanes)     # compile or load before the clock starts
        run.start_clock()
    run.longest = max(run.longest, float(lengths.max(initial=0.0)))
    ends = np.cumsum(segments[:, loops.STEPS]).astype(int)              # in steps from the start
    updates = np.append(ends[np.isin(segments[:, loops.END], run.grid.updates)], ends[-1])
    first, size = 0, FIRST_CHUNK
    while first < ends[-1]:
        last = min(first + size, updates[np.searchsorted(updates, first, side="right")] if run.control else ends[-1])
        chunk = part_of(segments, ends, first, last)
        if run.control is not None:
            if chunk[0, loops.BEGIN] == 0 and chunk[0, loops.START] in run.grid.updates:
                run.ask_control(chunk[0, loops.START])
            if first == 0 and start == 0.0:
                run.record_controls(0)
        begin = time.perf_counter()
        call(kernel, *model, stepper, chunk, rows, ws)
        if run.passed[1]:
            chunk = chunk[chunk[:, loops.END] <= run.passed[0]]
        run.steps += int((chunk[:, loops.STOP] - chunk[:, loops.BEGIN]).sum())
        run.done = int(max(run.done, chunk[:, loops.SAMPLE].max(initial=0.0) + 1))
        if run.passed[1] or run.note_failure():
            return
        run.report(time_reached(chunk[-1]))
        first = last
        took = max(time.perf_counter() - begin, 1e-6)
        size = int(np.clip(size*CHUNK_SECONDS/took, 1, min(10*size, ends[-1])))


def part_of(segments: Floats, ends: Floats, first: int, last: int) -> Floats:
    """The segments from one step to another, counted from the start of all; what is recorded at an end waits for its last step.

    >>> part_of(np.array([[0.0, 1.0, 4, 1, 0, 4], [1.0, 2.0, 4, 2, 0, 4]]), np.array([4, 8]), 3, 6)[:, loops.SAMPLE:]
    array([[ 1.,  3.,  4.],
           [-1.,  0.,  2.]])
    """
    i, j = np.searchsorted(ends, first, side="right"), np.searchsorted(ends, last)
    chunk = segments[i:j + 1].copy()
    chunk[-1, loops.STOP] -= ends[j] - last
    chunk[0, loops.BEGIN] = first - (ends[i] - segments[i, loops.STEPS])
    if last < ends[j]:
        chunk[-1, loops.SAMPLE] = -1
    return chunk


def time_reached(row: Floats) -> float:
    """The time after the steps of a row of the grid."""
    return float(row[loops.START] + (row[loops.END] - row[loops.START])*row[loops.STOP]/row[loops.STEPS])


# ---- adaptive steps -------------------------------------------------------------------------------------------------
def run_adaptive(run: Run, plan: Plan, start: float, stop: float) -> None:
    """From start to stop, or to the step in which a watcher passes."""
    kernel = loops.ADAPTIVE[run.resolved_dynamics]
    model, stepper, rows, ws = run.arguments(ONE)
    samples = run.grid.samples
    if start == 0.0:
        run.carry = np.zeros((len(run.x), loops.CARRY))
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
