"""Closed loops in a run: closing them at the start, and keeping them closed."""
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bough.compile.assemble import singular_share
from bough.compile.kernel_calls import group_parameters, lanes_for, workspace
from bough.compile.layout import Floats
from bough.errors import StateError, name_list, similar
from bough.integrate.compiled.callback import LAWS
from bough.integrate.compiled.stepping import euler_cromer
from bough.integrate.run import STIFF, Run, trial_rows, with_corrections
from bough.integrate.start import member_model
from bough.integrate.trajectory import positive
from bough.model import Model
from bough.sweeps import fields as f

STABILIZATIONS = ("projection", "baumgarte")
MOST_CORRECTIONS = 6                # after a step: of positions until they close, then of speeds
STEPS_TO_CLOSE = 10.0               # Baumgarte: steps in which a gap decreases by a factor e
USUAL_STEP = 1e-3                   # s: for methods that choose their own steps


def stabilization(model: Model, method: str, stabilize: Any, hold: Sequence[str]) -> str | float | None:
    """"projection", "baumgarte" or its frequency [rad/s]; None without loops."""
    if not model.constrainable:
        if stabilize is not None or name_list("hold", hold):
            given = "stabilize" if stabilize is not None else "hold"
            raise StateError(f"{given} is given, but system '{model.system.name}' has no loops or couplings; leave it out")
        return None
    if stabilize is None:
        return "baumgarte" if method in STIFF else "projection"
    if isinstance(stabilize, str):
        if stabilize not in STABILIZATIONS:
            known = ", ".join(STABILIZATIONS)
            raise StateError(f"stabilize is '{stabilize}'{similar(stabilize, STABILIZATIONS)}; give one of {known}, or a "
                             "frequency in rad/s")
        if stabilize == "projection" and method in STIFF:
            raise StateError(f"stabilize is 'projection', but the method '{method}' keeps its own past steps; use 'baumgarte', or "
                             "rk4 or dopri5")
        return stabilize
    positive("stabilize", stabilize, "a frequency in rad/s, or 'projection'")
    return float(stabilize)


def stabilized(model: Model, pars: Floats, chosen: str | float | None, method: str, step: float | None) -> Floats:
    """Parameters with the singularity limit of loop rows and the frequency of Baumgarte stabilization, if used; `step`: the fixed
    step of the method, if any.

    Euler-Cromer needs no projection of speeds: with a frequency of 1/(2 step), the next step removes their error."""
    if chosen is None:
        return pars
    pars = pars.copy()
    pars[:, f.LEAST_SHARE] = singular_share(model.tables.parts)
    if chosen == "projection" and method != "euler-cromer":
        return pars
    pars[:, f.STABILIZATION] = (1.0/(2.0*(step or USUAL_STEP)) if chosen == "projection"
                                else 1.0/(STEPS_TO_CLOSE*(step or USUAL_STEP)) if chosen == "baumgarte" else chosen)
    return pars


def corrected(tableau: Floats, chosen: str | float | None, speeds: bool) -> Floats:
    """A method that closes loops after each step if projection is chosen: positions and, optionally, speeds."""
    return with_corrections(tableau, MOST_CORRECTIONS if chosen == "projection" else 0, speeds)


def close_start(model: Model, x: Floats, hold: Sequence[str], parameters: Mapping[str, Any] | None) -> str | None:
    """Close the loops of initial states, in place; returns the largest change in words, if it is more than rounding."""
    if not model.constrained:
        return None
    given = x.copy()
    for i, row in enumerate(map(model.state, x)):
        try:
            row.q[:], row.v[:] = member_model(model, parameters, i).assemble(row.q, row.v, hold=hold)
        except StateError as error:
            where = "" if len(x) == 1 else f"initial state {i} of the batch: "
            raise StateError(f"{where}{error}") from None
    change = np.abs(x - given).max(axis=0)
    worst = int(change.argmax())
    if change[worst] < 1e-9:
        return None
    return f"to close the loops {model.entry_name(worst)} was changed by {change[worst]:.3g}, most of all"


_CLOSING = corrected(euler_cromer(), "projection", True)


def close_samples(run: Run, first: int) -> None:
    """Close the loops in the samples recorded from `first` on, and in the shown state: samples inside a step are interpolated, and
    Euler-Cromer corrects speeds only in the next step.  A step of zero length at the time of the sample closes them."""
    nx, model, last = run.x.shape[1], run.model, run.done + (run.shown_x is not run.x)
    if last == first:
        return
    states = run.out.reshape(len(run.x), -1, nx)
    times = np.append(run.samples[first:run.done], run.shown)
    for part in np.split(np.arange(first, last), np.arange(1, last - first) if model.holds else []):
        x = np.ascontiguousarray(states[:, part].reshape(-1, nx))
        rows = np.flatnonzero(np.isfinite(x).all(axis=1))
        if len(rows):
            own = run.pars if len(run.pars) == 1 else run.pars[np.minimum(rows//len(part), len(run.pars) - 1)]
            x[rows] = closed_states(run, own, x[rows], float(times[part[0] - first]), run.ahead[rows//len(part)])
            states[:, part] = x.reshape(len(run.x), len(part), nx)


def closed_states(run: Run, pars: Floats, x: Floats, t: float, ahead: Floats) -> Floats:
    tables, lanes = run.stepped_tables, lanes_for(len(run.x))           # as in fixed steps: already compiled
    nu, at = run.u.shape[1], tables.size(f.WS_SIZE) + tables.more(run.resolved)
    ws = workspace(tables, lanes, tables.more(run.resolved) + 3*x.shape[1] + nu + 1)
    stepper, grid = (_CLOSING, np.zeros(LAWS, np.int64), np.zeros(1), at), np.array([[t, 0.0, 0.0, 1.0]])
    return run.take_trial((tables, group_parameters(pars, lanes)), stepper, grid, trial_rows(x, np.zeros((len(x), nu)), ahead), ws)
