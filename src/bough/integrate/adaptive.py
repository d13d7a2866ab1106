"""Adaptive steps: chunks of compiled ones, from break to break of the loads."""
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from bough.compile.kernel_calls import call
from bough.integrate.compiled import loops
from bough.integrate.fixed import CHUNK_SECONDS, FIRST_CHUNK
from bough.kernels.lanes import ONE

if TYPE_CHECKING:
    from bough.integrate.run import Plan, Run


def run_adaptive(run: "Run", plan: "Plan", start: float, stop: float) -> None:
    """From start to stop, or to the step in which a watcher passes."""
    kernel = loops.ADAPTIVE[run.way(ONE)]
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
    go_adaptively(run, plan, start, stop, lambda limits: call(kernel, *model, stepper, samples, limits, run.carry, rows, ws))


def go_adaptively(run: "Run", plan: "Plan", start: float, stop: float, take: Callable[[np.ndarray], None]) -> None:
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
