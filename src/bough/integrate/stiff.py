"""SciPy's stiff solvers, on the compiled derivative.

The derivative of x' by x, for SciPy's stiff methods: by dual numbers, through compiled laws and what holds loops closed.
"""
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from bough.compile.kernel_calls import linked, run as call
from bough.compile.layout import Floats
from bough.errors import BoughError
from bough.integrate.compiled.loops import SAME, STEP
from bough.integrate.compiled.stepping import HEADER
from bough.integrate.compiled.tangent_steps import rate_tangents
from bough.integrate.laws import law_table
from bough.integrate.run import STIFF, Run
from bough.integrate.watchers import crosses, find_moment
from bough.kernels.lanes import DUAL
from bough.model import Model
from bough.sweeps import fields as f


def run_stiff(run: Run, stop: float, show: float) -> None:
    """One state after another; SciPy's solvers start anew at each call."""
    samples, _ = run.samples_until(show)
    begin, end = run.t, min(stop, show)
    inside = np.flatnonzero((samples > begin + SAME*abs(begin)) & (samples <= end + SAME*abs(end)))
    rows = np.flatnonzero(np.isnan(run.failed[:, 0])).tolist()
    run.load_kernel(lambda: (run.rates(0, begin, begin, run.x[0]), rates_along(run, 0, begin, run.x[0], np.eye(run.x.shape[1]))))
    for i, row in enumerate(rows):
        stiff_span(run, row, (begin, end), samples[inside], int(inside[0]) if len(inside) else 0, (i, len(rows)))
    run.t = float(run.passed[0]) if run.passed[1] else end
    run.show_until(run.t, 0)


def stiff_span(run: Run, row: int, span: tuple[float, float], samples: Floats, sample: int, turn: tuple[int, int]) -> None:
    """One state through a span without breaks, or up to the moment at which a watcher passes; `turn`: which of how many it is."""
    reached, solver, plan = 0, None, run.plan
    before, (i, n), (first, last) = run.x[row].copy(), turn, span
    while solver is None or solver.status == "running":
        start = first if solver is None else float(solver.t)
        try:
            solver = solver or new_solver(run, row, span)
            take_step(solver)
        except (ArithmeticError, ValueError, RuntimeError) as error:
            if isinstance(error, BoughError):
                raise
            run.failed[row] = start, -1
            words = str(error).strip().rstrip(".")
            run.reasons[row] = f"SciPy's {STIFF[plan.method]}: {words}; loosen rtol and atol, or use imex43 or dopri5"
            break
        run.steps += 1
        length = float(solver.t) - start                        # for the next span; one cut short by the end only if it is longer
        run.carry[row, STEP] = length if solver.t < last - SAME*abs(last) else max(length, run.carry[row, STEP])
        state_at, end = states_of(run.model, solver), float(solver.t)
        after = state_at(end)
        if any(crosses(watch, before, after) for watch in run.watch):
            end = passing_moment(run, before, start, end, state_at)
            after = state_at(end)
        while reached < len(samples) and samples[reached] <= end*(1.0 + SAME):
            record(run, row, sample + reached, samples[reached], state_at(min(samples[reached], end)))
            reached += 1
        run.x[row] = before = after
        run.report(end, first + ((last - first)*i + end - first)/n)
        if run.passed[1]:
            break


def take_step(solver: Any) -> None:
    """One step; what goes wrong raises, also where SciPy goes on without a word."""
    start = solver.t
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        said = solver.step()
    if solver.status == "failed":
        raise RuntimeError(said)
    if not solver.t > start:                                    # LSODA would take steps of no length for ever
        raise ArithmeticError("the steps it needs are shorter than the spacing between numbers")
    if not np.isfinite(solver.y).all():
        raise ArithmeticError("the state is no longer finite")


def passing_moment(run: Run, before: Floats, start: float, end: float, state_at: Callable[[float], Floats]) -> float:
    """The moment within a step at which the first watcher passes; noted are those that have passed then."""
    moment = start + find_moment(run.watch, before, start, end - start, lambda h: state_at(start + h))
    after = state_at(moment)
    run.passing = [i for i, watch in enumerate(run.watch) if crosses(watch, before, after)]
    run.passed[:2] = moment, 1.0
    return moment


def new_solver(run: Run, row: int, span: tuple[float, float]) -> Any:
    """SciPy's solver at the start of a span; where a law was asked or loads jump, it goes on with the step and the derivatives that
    were good before."""
    from scipy import integrate  # slow to import
    plan = run.plan
    solver = getattr(integrate, STIFF[plan.method])
    (rtol, atol), (start, stop) = plan.tolerances, span
    jacobian, step = run.jacobians.get(row), run.carry[row, STEP]
    jacobian = StateJacobian(run, row) if jacobian is None else jacobian.start_again(run)
    run.jacobians[row], known = jacobian, jacobian.reuse
    found = solver(rate_of(run, row, span), start, run.x[row].copy(), stop, rtol=rtol, atol=atol, jac=jacobian,
                   first_step=min(step, plan.max_step, stop - start) if step else None, max_step=plan.max_step)
    if known and plan.method == "radau":
        found.current_jac = False               # where it does not converge, new derivatives come before shorter steps
    return found


def states_of(model: Model, solver: Any) -> Callable[[float], Floats]:
    """States within the solver's last step: what is held is where it must be, and quaternions have unit length."""
    inside, end, last = solver.dense_output(), solver.t, solver.y.copy()

    def state_at(t: float) -> Floats:
        x = np.array(last if t == end else inside(t))[None]
        model.follow_motions(x, t)
        model.normalize_quaternions(x)
        return np.asarray(x[0])
    return state_at


def record(run: Run, row: int, sample: int, t: float, x: Floats) -> None:
    """Record a state, and the controls in force, as a sample."""
    if run.laws.table[0]:
        run.u[row] = run.rates(row, t, t, x)[1]
    run.record(sample, slice(row, row + 1), x)


def rate_of(run: Run, row: int, span: tuple[float, float]) -> Callable[[float, Floats], Floats]:
    """x' of one state, compiled."""
    start, stop = span
    step = 1e-9*(stop - start)
    return lambda t, x: run.rates(row, t, min(max(t, start + step), stop - step), np.array(x))[0]


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
    call(partial(rate_tangents, *linked(tables, run.pars[member:member + 1], stepper, np.array([t, t]), (x[None].copy(), dx),
                                        (u, np.zeros((len(dx), u.shape[1]))), (out, moved),
                                        DUAL.zeros(at + 2*nx + u.shape[1] + 1))))
    return moved
