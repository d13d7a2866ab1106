"""The derivative of x' by x, for SciPy's stiff methods: by dual numbers, through compiled laws and what holds loops closed."""
from functools import partial

import numpy as np

from bough.compile.batch import linked
from bough.compile.batch import run as call
from bough.compile.layout import Floats
from bough.integrate.compiled.stepping import HEADER
from bough.integrate.compiled.tangent_steps import rate_tangents
from bough.integrate.laws import law_table
from bough.integrate.run import Run
from bough.kernels.lanes import DUAL
from bough.sweeps import fields as f


class StateJacobian:
    """A function of time and state, as SciPy's solvers call it.  A new solver may begin with the last one: `start_again`."""

    def __init__(self, run: Run, row: int) -> None:
        self.run, self.row, self.last = run, row, np.zeros((0, 0))
        self.reuse, self.evaluations = False, 0

    def start_again(self, run: Run) -> "StateJacobian":
        """The next call, by a solver that goes on where another one was, may take what is known."""
        self.run, self.reuse = run, len(self.last) == run.x.shape[1]
        return self

    def __call__(self, t: float, x: Floats) -> Floats:
        if not self.reuse:
            self.evaluations += 1
            self.last = np.ascontiguousarray(rates_along(self.run, self.row, t, np.array(x), np.eye(len(x))).T)
            if not np.isfinite(self.last).all():
                raise ArithmeticError("the derivatives of the rates are not finite")
        self.reuse = False
        return self.last


def rates_along(run: Run, row: int, t: float, x: Floats, dx: Floats) -> Floats:
    """(m, nx): derivatives of x' of one state of a run, with compiled laws and what holds loops closed, along rows of dx."""
    tables, at, nx = run.model.tables, run.model.tables.size(f.WS_SIZE), len(x)
    (table, scratch), member = law_table(run.model, run.laws.continuous, False, duals=True), min(row, len(run.pars) - 1)
    stepper = np.zeros(HEADER), table, np.zeros(max(scratch, 1)), at                # no stages: the controls are right behind x
    u, out, moved = run.u[row:row + 1].copy(), np.empty((1, nx)), np.empty((len(dx), nx))
    call(partial(rate_tangents, *linked(tables, run.pars[member:member + 1], stepper, np.array([t, t]), x[None].copy(), u, dx,
                                        np.zeros((len(dx), u.shape[1])), out, moved, DUAL.zeros(at + 2*nx + u.shape[1] + 1))))
    return moved
