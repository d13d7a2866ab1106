"""Fixed steps: chunks of compiled ones, between which come progress, interrupts and a Python controller."""
import time
from typing import TYPE_CHECKING

import numpy as np

from bough.compile.kernel_calls import call, lanes_for
from bough.integrate.compiled import loops

if TYPE_CHECKING:
    from bough.integrate.run import Plan, Run

CHUNK_SECONDS = 0.2                 # how long a call of a compiled loop should take
FIRST_CHUNK = 16                    # steps, of which nobody knows yet how long they take


def run_fixed(run: "Run", plan: "Plan", start: float, stop: float) -> None:
    """From start to stop, or to the step in which a watcher passes: as many steps at a time as take a moment, and no further than
    to the next update of a Python controller."""
    lanes = lanes_for(len(run.x))
    kernel, (model, stepper, rows, ws) = loops.FIXED[run.way(lanes)], run.arguments(lanes)
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
        chunk = part(segments, ends, first, last)
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


def part(segments: np.ndarray, ends: np.ndarray, first: int, last: int) -> np.ndarray:
    """The segments from one step to another, counted from the start of all; what is recorded at an end waits for its last step.

    >>> part(np.array([[0.0, 1.0, 4, 1, 0, 4], [1.0, 2.0, 4, 2, 0, 4]]), np.array([4, 8]), 3, 6)[:, loops.SAMPLE:]
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


def time_reached(row: np.ndarray) -> float:
    """The time after the steps of a row of the grid."""
    return float(row[loops.START] + (row[loops.END] - row[loops.START])*row[loops.STOP]/row[loops.STEPS])
