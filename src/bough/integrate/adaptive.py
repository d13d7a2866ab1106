"""Adaptive steps: chunks of samples of compiled ones, from break to break of the loads."""
import time
from typing import TYPE_CHECKING

import numpy as np

from bough.integrate.closing import close_samples
from bough.integrate.compiled import loops
from bough.integrate.fixed import CHUNK_SECONDS
from bough.kernels.lanes import ONE
from bough.model.run import call

if TYPE_CHECKING:
    from bough.integrate.run import Plan, Run


def run_adaptive(run: "Run", plan: "Plan", start: float, stop: float) -> None:
    """From start to stop, or to the step in which a watcher passes."""
    kernel = loops.ADAPTIVE[run.way(ONE)]
    model, stepper, rows, ws = run.arguments(ONE)
    samples, first = run.grid.samples, run.done
    if start == 0.0:
        run.carry = np.zeros((len(run.x), loops.CARRY))
        run.carry[:, loops.STEP] = plan.dt or 1e-4*samples[-1]/max(len(samples) - 1, 1)
        run.carry[:, loops.NEXT] = 1
        call(kernel, model, stepper, samples, np.array([0.0, 0.0, *plan.tolerances]), run.carry, rows, ws)
        run.start_clock()
    run.carry[:, loops.TIME] = start
    size = max(1, len(samples)//100)
    for _, end in run.between_breaks(start, stop):
        while True:
            clock = time.perf_counter()
            limits = np.array([end, min(run.done + size, len(samples) + 1), *plan.tolerances])
            call(kernel, model, stepper, samples, limits, run.carry, rows, ws)
            run.steps, run.rejected = int(run.carry[:, loops.TAKEN].sum()), int(run.carry[:, loops.REFUSED].sum())
            running = np.isnan(run.failed[:, 0])
            ended = run.note_failure()
            if not ended:
                run.done = int(run.carry[running, loops.NEXT].min())
                run.report(float(run.carry[running, loops.TIME].min()))
            if ended or run.passed[1] or run.carry[running, loops.TIME].min() >= end:
                break
            took = max(time.perf_counter() - clock, 1e-6)
            size = int(np.clip(size*CHUNK_SECONDS/took, 1, 10*size))
        if ended or run.passed[1]:
            break
    if plan.projects and run.way(ONE) != "cloud":                 # there, no loop can open
        close_samples(run, first)
