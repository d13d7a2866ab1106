"""A run on duals: the steps of a plain run, with derivatives along directions [B 65]."""

from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from bough.analyze.derivatives import Rows
from bough.compile.kernel_calls import linked
from bough.compile.kernel_calls import run as call
from bough.compile.layout import Floats
from bough.errors import SimulationError, StateError
from bough.integrate.advance import advance
from bough.integrate.closing import corrected
from bough.integrate.compiled.loops import BEGIN, LENGTH, ORIGIN, SAME, STOP
from bough.integrate.compiled.stepping import STAGES, euler_cromer
from bough.integrate.compiled.tangent_steps import step_tangents
from bough.integrate.compiled_steps import step_rows
from bough.integrate.integration import Integration
from bough.integrate.laws import law_table
from bough.integrate.run import STIFF, Run
from bough.kernels.lanes import DUAL
from bough.sweeps import fields as f


def check_run(integration: Integration) -> Run:
    """The run of an integration; raises if it does not support derivatives."""
    run, system = integration.runs[0], integration.model.system
    if system.tanks:
        raise StateError(f"system '{system.name}' has tanks, through whose mass sensitivities do not go; use differences of runs")
    if integration.events:
        raise StateError(f"system '{system.name}' has events, stops, sticking friction or backlash, across which sensitivities do "
                         "not go; take them out, or use differences of runs")
    if run.plan.method in STIFF or run.implicit:
        raise StateError(f"method is '{run.plan.method}'; sensitivities go along explicit steps: rk4, euler-cromer or dopri5")
    if run.laws.sampled:
        raise StateError(f"{run.laws.sampled[0].ask.name} is asked at times of its own, in Python; sensitivities take compiled "
                         "laws without a period, bough.controller")
    if run.model.constrained and run.plan.method == "euler-cromer":
        raise StateError("method is 'euler-cromer', whose speeds do not close loops at the ends of steps; take rk4 or dopri5")
    return run


def fixed_steps(run: Run, until: float) -> Floats:
    """(steps, 2): start and length of the steps of a run: between multiples of dt and discontinuities."""
    stops = [run.start, *run.breaks[(run.breaks > run.start) & (run.breaks < until)], until]
    rows = [step_rows(run.start, run.plan.dt or 0.0, *ends) for ends in pairwise(stops)]
    return np.concatenate([np.stack([row[ORIGIN] + np.arange(row[BEGIN], row[STOP])*row[LENGTH],
                                     np.full(int(row[STOP] - row[BEGIN]), row[LENGTH])], axis=1)
                           for part in rows for row in part])


def accepted_steps(run: Run, until: float) -> Floats:
    """Start and length of the steps of an adaptive method; the last one reaches or passes the end."""
    times = [run.start]
    while times[-1] < until:
        run.budget = run.steps + 1
        while run.steps < run.budget and not run.failure:
            advance(run, np.inf)
        if run.failure:
            raise SimulationError(f"system '{run.model.system.name}': {run.failure}")
        times.append(run.t)
    return np.stack([times[:-1], np.diff(times)], axis=1)


class TangentRun:
    """A run, and directions at its start."""

    def __init__(self, run: Run, rows: Rows) -> None:
        """`rows`: for the model of the run."""
        self.run, self.rows = run, rows
        self.tables = rows.batch.tables
        self.pars = rows.pars(self.tables, run.pars)                        # with the stabilization of loops
        self.laws = law_table(run.model, run.laws.continuous, False, duals=True)

    def samples(self, steps: Floats, times: Floats) -> "Samples":
        """Samples along steps, at times of which the first is the start."""
        x, dx, projects = self.rows.batch.x, self.rows.dx, self.run.plan.projects
        if projects:
            x, dx = self.closed(float(times[0]), x, dx)
        found = self.along(self.run.plan.tableau, steps, times, x, dx)
        between = np.abs(times[:, None] - np.append(steps[:, 0], steps[-1].sum())).min(axis=1) > SAME*times[-1]
        for i in np.flatnonzero(between & projects):                        # interpolated: loops are open there
            found.x[i:i + 1], found.dx[i] = self.closed(float(times[i]), found.x[i:i + 1], found.dx[i])
        return found

    def closed(self, t: float, x: Floats, dx: Floats) -> tuple[Floats, Floats]:
        """A state and its directions with closed loops, by a step of zero length."""
        found = self.along(corrected(euler_cromer(), "projection", True), np.array([[t, 0.0]]), np.array([t, t]), x, dx)
        return found.x[1:], found.dx[1]

    def along(self, tableau: Floats, steps: Floats, times: Floats, x: Floats, dx: Floats) -> "Samples":
        """Samples along the steps of a method, from a given state."""
        rows, n, (table, scratch), at = self.rows, len(times), self.laws, self.tables.size(f.WS_SIZE)
        (nx, nu), m, stages = (x.shape[1], rows.du.shape[1]), rows.m, int(tableau[STAGES])
        stepper, ws = (tableau, table, np.zeros(scratch + stages), at), DUAL.zeros(at + (stages + 2)*nx + nu + 1)
        out = [np.full((lines, n*size), np.nan) for lines in (1, m) for size in (nx, nu)]
        states, controls = (np.ascontiguousarray(x), np.ascontiguousarray(dx)), (rows.batch.u, rows.du)
        call(partial(step_tangents, *linked(self.tables, self.pars, stepper, steps, times, states, controls, (out[0], out[2]),
                                            (out[1], out[3]), ws)))
        return Samples(*(each.reshape(n, -1) for each in out[:2]),
                       *(np.ascontiguousarray(each.reshape(m, n, -1).transpose(1, 0, 2)) for each in out[2:]))


class Samples(NamedTuple):
    """States and controls in force of a run, and their derivatives."""
    x: Floats               # (samples, nx)
    u: Floats               # (samples, nu)
    dx: Floats              # (samples, m, nx)
    du: Floats              # (samples, m, nu)
