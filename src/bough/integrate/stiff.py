"""SciPy's stiff solvers, on the compiled derivative."""
from typing import TYPE_CHECKING

import numpy as np

from bough.integrate.compiled.callback import Controller
from bough.kernels.lanes import ONE
from bough.model import Model
from bough.model.run import call, workspace
from bough.sweeps import calls

if TYPE_CHECKING:
    from bough.integrate.run import Run

STIFF = {"radau": "Radau", "bdf": "BDF", "lsoda": "LSODA"}


def run_stiff(run: "Run", method: str, dt: float | None, rtol: float, atol: float, law: Controller | None) -> None:
    """One state after another, from break to break of the loads; dt, where given, is the longest step."""
    from scipy.integrate import solve_ivp
    model, samples, nx = run.model, run.grid.samples, run.x.shape[1]
    ws = workspace(model.tables, ONE)
    out = np.empty((1, nx))
    reached = np.ones(len(run.x), dtype=int)
    updates = set(run.grid.updates.tolist())
    starts = np.concatenate([[0.0], run.grid.breaks[:-1]])
    for start, stop in zip(starts.tolist(), run.grid.breaks.tolist(), strict=True):
        if start in updates:
            run.ask_control(start)
        if start == 0.0:
            run.record_controls(0)
        inside = np.flatnonzero((samples > start) & (samples <= stop))
        for row in np.flatnonzero(np.isnan(run.failed[:, 0])).tolist():
            member = min(row, len(run.pars) - 1)
            pars, u = run.pars[member:member + 1], run.u[row:row + 1]

            def rate(t: float, x: np.ndarray, pars: np.ndarray = pars, u: np.ndarray = u, start: float = start,
                     stop: float = stop) -> np.ndarray:
                step = 1e-9*(stop - start)
                times = np.array([[t, min(max(t, start + step), stop - step)]])
                take_law(model, law, t, x, u)
                call(calls.state_derivative, model.tables.plan, pars, model.tables.tables, times, x[None].copy(), u, out, ws)
                run.report(t)
                return out[0].copy()

            times = np.union1d(samples[inside], [stop])
            solution = solve_ivp(rate, (start, stop), run.x[row], method=STIFF[method], t_eval=times, rtol=rtol, atol=atol,
                                 max_step=dt or np.inf, dense_output=True)
            run.steps += len(solution.sol.ts) - 1
            for k, sample in enumerate(inside[:solution.y.shape[1]]):
                run.out[row, sample*nx:(sample + 1)*nx] = solution.y[:, k]
                reached[row] = sample + 1
            for sample in inside.tolist():
                take_law(model, law, samples[sample], run.out[row, sample*nx:(sample + 1)*nx], run.u[row:row + 1])
                run.record_controls(sample, slice(row, row + 1))
            if solution.status != 0:
                run.failed[row] = solution.t[-1] if len(solution.t) else start, -1
                continue
            run.x[row] = solution.y[:, -1]
            for at in model.quaternions:
                run.x[row, at:at + 4] /= np.linalg.norm(run.x[row, at:at + 4])
        run.done = int(reached.max())
        if run.note_failure():
            break
    states = run.out.reshape(len(run.x), -1, nx)
    for at in model.quaternions:
        states[..., at:at + 4] /= np.linalg.norm(states[..., at:at + 4], axis=-1, keepdims=True)


def take_law(model: Model, law: Controller | None, t: float, x: np.ndarray, u: np.ndarray) -> None:
    """Controls of a compiled law, if there is one."""
    if law is not None:
        q, v, wheels = x[:model.nq], x[model.nq:model.nq + model.nv], x[model.nq + model.nv:model.nq + model.nv + model.nw]
        u[0] = 0.0
        law(t, q, v, wheels, u[0, :model.nv], u[0, model.nv:model.nv + model.nw])
