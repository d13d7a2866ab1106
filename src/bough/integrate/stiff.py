"""SciPy's stiff solvers, on the compiled derivative."""
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from bough.integrate.compiled.callback import Controller
from bough.integrate.compiled.loops import DIRECTION
from bough.integrate.watchers import watched
from bough.kernels.lanes import ONE
from bough.model import Model
from bough.model.holds import impose
from bough.model.run import call, workspace
from bough.sweeps import calls

if TYPE_CHECKING:
    from bough.integrate.run import Plan, Run

STIFF = {"radau": "Radau", "bdf": "BDF", "lsoda": "LSODA"}


def run_stiff(run: "Run", plan: "Plan", start: float, stop: float) -> None:
    """One state after another, from break to break of the loads; dt, where given, is the longest step."""
    samples, reached = run.grid.samples, np.full(len(run.x), run.done)
    breaks = run.grid.breaks[(run.grid.breaks > start) & (run.grid.breaks < stop)].tolist()
    for begin, end in zip([start, *breaks], [*breaks, stop], strict=True):
        if begin in run.grid.updates:
            run.ask_control(begin)
        if begin == 0.0:
            run.record_controls(0)
        inside = np.flatnonzero((samples > begin) & (samples <= end))
        for row in np.flatnonzero(np.isnan(run.failed[:, 0])).tolist():
            reached[row] = max(reached[row], stiff_span(run, plan, row, (begin, end), inside))
        run.done = int(reached.max())
        if run.note_failure() or run.passed[1]:
            return


def stiff_span(run: "Run", plan: "Plan", row: int, span: tuple[float, float], inside: np.ndarray) -> int:
    """One state through a span without breaks, or up to the step in which a watcher passes; how many samples it reaches."""
    from scipy.integrate import solve_ivp
    model, samples, nx, reached = run.model, run.grid.samples, run.x.shape[1], 0
    times = np.union1d(samples[inside], span[1:])
    solution = solve_ivp(rate_of(run, plan, row, span), span, run.x[row], method=STIFF[plan.method], rtol=plan.tolerances[0],
                         atol=plan.tolerances[1], t_eval=times, max_step=plan.dt or np.inf, dense_output=True,
                         events=[terminal(watch) for watch in run.watch] or None)
    run.steps += len(solution.sol.ts) - 1
    states = solution.y.T.copy()
    impose(model, states, solution.t)
    for at in model.quaternions:
        states[:, at:at + 4] /= np.linalg.norm(states[:, at:at + 4], axis=1, keepdims=True)
    for k, sample in enumerate(inside[:len(states)].tolist()):
        run.out[row, sample*nx:(sample + 1)*nx] = states[k]
        reached = sample + 1
        take_law(model, plan.law, samples[sample], states[k], run.u[row:row + 1])
        run.record_controls(sample, slice(row, row + 1))
    if solution.status < 0:
        run.failed[row] = solution.t[-1] if len(solution.t) else span[0], -1
    elif solution.status == 1:
        run.passing = [i for i, times in enumerate(solution.t_events) if len(times)]
        run.passed[:] = solution.t_events[run.passing[0]][0], 1.0
        run.x[row] = solution.y_events[run.passing[0]][0]
        impose(model, run.x[row:row + 1], run.passed[0])
    else:
        run.x[row] = states[-1]
    return reached


def terminal(watch: np.ndarray) -> Any:
    """A watcher as SciPy's solvers take it: they end where it passes."""
    def value(t: float, x: np.ndarray) -> float:
        return watched(watch, x)
    value.terminal, value.direction = True, watch[DIRECTION]          # type: ignore[attr-defined]
    return value


def rate_of(run: "Run", plan: "Plan", row: int, span: tuple[float, float]) -> Callable[[float, np.ndarray], np.ndarray]:
    """x' of one state, compiled."""
    tables, member, ws = run.model.tables, min(row, len(run.pars) - 1), workspace(run.model.tables, ONE)
    pars, u, out, (start, stop) = run.pars[member:member + 1], run.u[row:row + 1], np.empty((1, run.x.shape[1])), span
    step = 1e-9*(stop - start)

    def rate(t: float, x: np.ndarray) -> np.ndarray:
        times = np.array([[t, min(max(t, start + step), stop - step)]])
        take_law(run.model, plan.law, t, x, u)
        call(calls.state_derivative, tables.plan, pars, tables.tables, times, x[None].copy(), u, out, ws)
        run.report(t)
        return out[0].copy()
    return rate


def take_law(model: Model, law: Controller | None, t: float, x: np.ndarray, u: np.ndarray) -> None:
    """Controls of a compiled law, if there is one."""
    if law is not None:
        q, v, wheels = x[:model.nq], x[model.nq:model.nq + model.nv], x[model.nq + model.nv:model.nq + model.nv + model.nw]
        u[0] = 0.0
        law(t, q, v, wheels, u[0, :model.nv], u[0, model.nv:model.nv + model.nw])
