"""SciPy's stiff solvers, on the compiled derivative."""
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.compile.batch import call, workspace
from bough.compile.layout import Floats
from bough.errors import BoughError
from bough.integrate.compiled.loops import SAME
from bough.integrate.event_handler import crosses, find_moment
from bough.integrate.run import STIFF, Plan, Run
from bough.kernels.lanes import ONE
from bough.model import Model
from bough.sweeps import calls


def run_stiff(run: Run, plan: Plan, start: float, stop: float) -> None:
    """One state after another, from break to break of the loads."""
    samples = run.grid.samples
    for begin, end in run.between_breaks(start, stop):
        inside = np.flatnonzero((samples > begin*(1.0 + SAME)) & (samples <= end*(1.0 + SAME)))
        rows = np.flatnonzero(np.isnan(run.failed[:, 0])).tolist()
        for i, row in enumerate(rows):
            stiff_span(run, plan, row, (begin, end), inside, (i, len(rows)))
        if run.note_failure() or run.passed[1]:
            return


def stiff_span(run: Run, plan: Plan, row: int, span: tuple[float, float], inside: NDArray[np.intp], turn: tuple[int, int]) -> None:
    """One state through a span without breaks, or up to the moment at which a watcher passes; `turn`: which of how many it is."""
    samples, reached, solver = run.grid.samples[inside], 0, None
    before, (i, n), (first, last) = run.x[row].copy(), turn, span
    while solver is None or solver.status == "running":
        start = first if solver is None else float(solver.t)
        try:
            solver = solver or new_solver(run, plan, row, span)
            take_step(solver)
        except (ArithmeticError, ValueError, RuntimeError) as error:
            if isinstance(error, BoughError):
                raise
            run.failed[row] = start, -1
            words = str(error).strip().rstrip(".")
            run.reasons[row] = f"SciPy's {STIFF[plan.method]}: {words}; loosen rtol and atol, or use rk4 or dopri5"
            break
        run.steps += 1
        state_at, end = states_of(run.model, solver), float(solver.t)
        after = state_at(end)
        if any(crosses(watch, before, after) for watch in run.watch):
            end = passing_moment(run, before, start, end, state_at)
            after = state_at(end)
        while reached < len(samples) and samples[reached] <= end*(1.0 + SAME):
            record(run, plan, row, int(inside[reached]), state_at(min(samples[reached], end)))
            reached += 1
        run.x[row] = before = after
        run.report(end, first + ((last - first)*i + end - first)/n)
        if run.passed[1]:
            break


def take_step(solver: Any) -> None:
    """One step; what goes wrong raises, also where SciPy goes on without a word."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        said = solver.step()
    if solver.status == "failed":
        raise RuntimeError(said)
    if not np.isfinite(solver.y).all():
        raise ArithmeticError("the state is no longer finite")


def passing_moment(run: Run, before: Floats, start: float, end: float, state_at: Callable[[float], Floats]) -> float:
    """The moment within a step at which the first watcher passes; noted are those that have passed then."""
    moment = start + find_moment(run.watch, before, start, end - start, lambda h: state_at(start + h))
    after = state_at(moment)
    run.passing = [i for i, watch in enumerate(run.watch) if crosses(watch, before, after)]
    run.passed[:2] = moment, 1.0
    return moment


def new_solver(run: Run, plan: Plan, row: int, span: tuple[float, float]) -> Any:
    """SciPy's solver at the start of a span."""
    from scipy import integrate  # slow to import
    solver = getattr(integrate, STIFF[plan.method])
    (rtol, atol), (start, stop) = plan.tolerances, span
    first = min(plan.first_step, stop - start) if plan.first_step and start == 0.0 else None
    return solver(rate_of(run, plan, row, span), start, run.x[row].copy(), stop, rtol=rtol, atol=atol,
                  first_step=first, max_step=plan.max_step)


def states_of(model: Model, solver: Any) -> Callable[[float], Floats]:
    """States within the solver's last step: what is held is where it must be, and quaternions have unit length."""
    inside, end, last = solver.dense_output(), solver.t, solver.y.copy()

    def state_at(t: float) -> Floats:
        x = np.array(last if t == end else inside(t))[None]
        model.follow_motions(x, t)
        model.normalize_quaternions(x)
        return np.asarray(x[0])
    return state_at


def record(run: Run, plan: Plan, row: int, sample: int, x: Floats) -> None:
    """Put down a state, and the controls in force, as a sample."""
    run.out[row, sample*len(x):(sample + 1)*len(x)] = x
    if plan.law is not None:
        plan.law.fill(run.grid.samples[sample], run.model, x, run.u[row])
    run.record_controls(sample, slice(row, row + 1))
    run.done = max(run.done, sample + 1)


def rate_of(run: Run, plan: Plan, row: int, span: tuple[float, float]) -> Callable[[float, Floats], Floats]:
    """x' of one state, compiled."""
    tables, member, ws = run.model.tables, min(row, len(run.pars) - 1), workspace(run.model.tables, ONE)
    pars, u, out, (start, stop) = run.pars[member:member + 1], run.u[row:row + 1], np.empty((1, run.x.shape[1])), span
    step = 1e-9*(stop - start)

    def rate(t: float, x: Floats) -> Floats:
        times = np.array([[t, min(max(t, start + step), stop - step)]])
        x = np.array(x)
        if plan.law is not None:
            plan.law.fill(t, run.model, x, u[0])
        call(calls.state_derivative, tables, pars, times, x[None], u, out, ws)
        return out[0].copy()
    return rate
