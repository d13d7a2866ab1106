"""The least steps that a method with error control takes: each one as long as its own error estimate accepts.

Any choice of steps takes more: it keeps a reserve, and tries steps in vain.  So the least steps tell what the motion needs at these
tolerances from what the choice adds.
"""
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from bough.compile.kernel_calls import call
from bough.compile.layout import Floats
from bough.integrate.compiled.loops import KNOWN, REFUSED, STEP, TAKEN, TIME
from bough.integrate.integration import begin
from bough.integrate.run import STIFF, Run
from bough.integrate.stiff import new_solver, states_of, take_step
from bough.kernels.lanes import ONE
from bough.model import Model

HALVINGS = 5                        # of the bracket of a longest step, which is 1.5 wide: found to a fiftieth
Trial = Callable[[float], Floats | None]


def least_steps(model: Model, *, until: float, laws: Any, **options: Any) -> int:
    """Number of steps to a time, at which sampled laws run; options are those of `simulate`."""
    run, steps = begin(model, until=until, laws=laws, sample_rate=1.0/until, **options).runs[0], 0
    run.begin()
    h = 1e-6
    while run.t < until:
        run.prepare()
        stop = min(run.next_stop(), until)
        while run.t < stop:
            h, run.x[0] = longest_step(partial(state_after, run, stop), min(h, stop - run.t), stop - run.t)
            run.t = run.t + h if h < stop - run.t else stop
            steps += 1
        run.forget()
    return steps


def longest_step(trial: Trial, h: float, left: float) -> tuple[float, Floats]:
    """The longest step up to what is left that a trial accepts, found from h on, and the state after it."""
    whole = trial(left)
    if whole is not None:
        return left, whole
    found = trial(h)
    while found is None:
        h /= 1.5
        found = trial(h)
    long = h
    while (longer := trial(min(1.5*long, left))) is not None:
        h, found = min(1.5*long, left), longer
        long = h
    low, high = h, min(1.5*long, left)
    for _ in range(HALVINGS):
        middle = 0.5*(low + high)
        if (longer := trial(middle)) is None:
            high = middle
        else:
            low, found = middle, longer
    return low, found


def state_after(run: Run, stop: float, h: float) -> Floats | None:
    """After a step of this length from where a run stands; None: its error is too large."""
    if run.plan.method in STIFF:
        run.carry[0, STEP] = h
        solver = new_solver(run, 0, (run.t, stop))
        take_step(solver)
        return states_of(run.model, solver)(solver.t) if solver.t - run.t >= h*(1.0 - 1e-9) else None
    (model, stepper, _, ws), rows, carry = run.arguments(ONE), run.scratch_rows(ONE), run.carry.copy()
    carry[:, [TIME, STEP, KNOWN, TAKEN, REFUSED]] = run.t, h, 0.0, 0.0, 0.0
    limits = np.array([stop, np.inf, 1.0, *run.plan.tolerances, np.inf])
    call(run.adaptive_kernel, *model, stepper, np.zeros(0), limits, carry, rows, ws)
    return rows[0][0] if carry[0, REFUSED] == 0.0 else None
