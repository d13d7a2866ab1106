"""Fixed steps: chunks of compiled ones, between which come progress, interrupts and a Python controller."""
import time
from typing import TYPE_CHECKING

import numpy as np

from bough.integrate.compiled import loops
from bough.model.run import call, lanes_for

if TYPE_CHECKING:
    from bough.integrate.run import Plan, Run

CHUNK_SECONDS = 0.2                 # how long a call of a compiled loop should take


def run_fixed(run: "Run", plan: "Plan", start: float, stop: float) -> None:
    """From start to stop, or to the step in which a watcher passes: many segments at a time where no Python comes between, up to
    the next update where a Python controller does."""
    lanes = lanes_for(len(run.x))
    kernel, (model, stepper, rows, ws) = loops.FIXED[run.way(lanes)], run.arguments(lanes)
    segments = run.grid.segments(plan.dt or 0.0, start, stop)
    if start == 0.0:
        call(kernel, model, stepper, segments[:0], rows, ws)            # compile or load before the clock starts
        run.start_clock()
    lengths = (segments[:, loops.END] - segments[:, loops.START])/segments[:, loops.STEPS]
    run.longest = max(run.longest, float(lengths.max(initial=0.0)))
    first, size = 0, 1
    after_update = np.append(np.flatnonzero(np.isin(segments[:, loops.END], run.grid.updates)) + 1, len(segments))
    while first < len(segments):
        ends = segments[first:first + size]
        if run.control is not None:                                     # up to the next update of the controls
            ends = segments[first:after_update[np.searchsorted(after_update, first, side="right")]]
            if segments[first, loops.START] in run.grid.updates:
                run.ask_control(segments[first, loops.START])
            if first == 0 and start == 0.0:
                run.record_controls(0)
        begin = time.perf_counter()
        call(kernel, model, stepper, ends, rows, ws)
        if run.passed[1]:
            before = ends[ends[:, loops.END] <= run.passed[0]]
            run.steps += int(before[:, loops.STEPS].sum())
            run.done = int(max(run.done, before[:, loops.SAMPLE].max(initial=0.0) + 1))
            return
        run.steps += int(ends[:, loops.STEPS].sum())
        first += len(ends)
        run.done = int(max(run.done, ends[:, loops.SAMPLE].max() + 1))
        if run.note_failure():
            return
        run.report(ends[-1, loops.END])
        if run.control is None:
            took = max(time.perf_counter() - begin, 1e-6)
            size = int(np.clip(size*CHUNK_SECONDS/took, 1, 10*size))
