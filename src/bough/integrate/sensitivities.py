"""Derivatives of a whole run with respect to its initial state, constant torques and inputs, and parameters: the steps of a plain
run on duals, with derivatives along directions [B 65]."""
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bough.analyze.derivatives import Directions, Rows, outputs_along, rates_along, rows_along
from bough.analyze.dynamics_derivatives import by_parameter, by_part
from bough.analyze.parameters import parameter
from bough.analyze.signals import control_names, known_outputs
from bough.compile.batch import Batch
from bough.compile.kernel_calls import linked, run as call
from bough.compile.layout import Floats
from bough.errors import SimulationError, StateError
from bough.integrate.advance import advance
from bough.integrate.compiled.loops import BEGIN, LENGTH, ORIGIN, SAME, STOP
from bough.integrate.compiled.stepping import STAGES
from bough.integrate.compiled.tangent_steps import step_tangents
from bough.integrate.compiled_steps import step_rows
from bough.integrate.integration import Integration
from bough.integrate.laws import controlled, law_table
from bough.integrate.methods import euler_cromer
from bough.integrate.run import STIFF, Plan, Run
from bough.integrate.start import corrected
from bough.integrate.trajectory import choose_sampling, positive
from bough.kernels.lanes import DUAL
from bough.model import Model
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


# ---- sensitivities -------------------------------------------------------------------------------------------------------
BY = ("q0", "v0", "tau", "inputs")


@dataclass(frozen=True, repr=False)
class Trace:
    """A quantity at the samples of a run and its derivatives; the first axis is time.

    Attributes
    ----------
    value : ndarray
        (samples, size).
    dq0, dv0, dtau : ndarray
        (samples, size, nv): by the initial coordinates (along the directions of v), the initial speeds, and constant joint torques;
        empty if not requested.
    dinputs, dparameters : dict
        By name, (samples, size, ...) followed by the shape of the input or parameter.
    """
    value: Floats
    dq0: Floats
    dv0: Floats
    dtau: Floats
    dinputs: dict[str, Floats] = field(default_factory=dict)
    dparameters: dict[str, Floats] = field(default_factory=dict)

    def part(self, columns: slice) -> "Trace":
        """The trace of some of its numbers."""
        value, dq0, dv0, dtau = (each[:, columns] for each in (self.value, self.dq0, self.dv0, self.dtau))
        dinputs, dparameters = ({name: each[:, columns] for name, each in named.items()}
                                for named in (self.dinputs, self.dparameters))
        return Trace(value, dq0, dv0, dtau, dinputs, dparameters)


@dataclass(frozen=True, repr=False)
class Sensitivities:
    """A run and its derivatives.

    Attributes
    ----------
    t : ndarray
        (samples,), s.
    q, v, wheels, orbit : Trace
        The parts of the state, and their derivatives.
    outputs : dict
        By output, its Trace.
    by_differences : tuple of str
        Laws differentiated by finite differences, because they use functions that dual numbers do not support.
    """
    t: Floats
    q: Trace
    v: Trace
    wheels: Trace
    orbit: Trace
    outputs: dict[str, Trace]
    by_differences: tuple[str, ...] = ()

    def __repr__(self) -> str:
        by = [*(name for name in ("q0", "v0", "tau") if getattr(self.q, f"d{name}").size), *self.q.dinputs, *self.q.dparameters]
        return (f"Sensitivities of {len(self.t)} samples, {self.t[0]:g} to {self.t[-1]:g} s, of q ({self.q.value.shape[1]}), "
                f"v ({self.v.value.shape[1]}){''.join(f', {name}' for name in self.outputs)} by {', '.join(by)}"
                + f"; by differences of law {', '.join(self.by_differences)}"*bool(self.by_differences))


def sensitivities(model: Model, q0: ArrayLike | None = None, v0: ArrayLike | None = None, tau: ArrayLike | None = None, *,
                  until: float, dt: float | None = None, parameters: Sequence[str] = (), by: Sequence[str] = (),
                  every: int | None = None, sample_rate: float | None = None, outputs: Iterable[str] | None = (),
                  method: str = "rk4", rtol: float | None = None, atol: float | None = None, laws: Sequence[Any] = (),
                  inputs: Mapping[str, ArrayLike] | None = None, wheels: ArrayLike | None = None,
                  orbit: ArrayLike | None = None) -> Sensitivities:
    """A run and its derivatives: those of the numerical solution itself, exact except for rounding.

    Every direction goes through the compiled steps as the tangent of dual numbers, four at a time: derivatives by n parameters
    cost about n/2 runs. An adaptive method takes the same steps as without derivatives.

    Parameters
    ----------
    model : Model
        Time tables, prescribed motions, wheels, orbits, force elements and closed loops are supported. Loops are closed again
        after every step, and initial directions that would open them are projected with the least kinetic energy. Events, stops,
        sticking and backlash are rejected.
    q0, v0, tau : array_like, optional
        The initial state, by default that of the description; constant joint torques.
    until : float
        The end of the run [s].
    dt : float, optional
        The step [s], of methods with fixed steps.
    parameters : sequence of str
        Parameters of the description, as in `Model.forward_dynamics_derivatives`. The initial state does not depend on them,
        except through loop closure.
    by : sequence of str
        Further variables to differentiate by: any of "q0", "v0", "tau", "inputs".
    every : int, optional
        Number of fixed steps between samples; default 1.
    sample_rate : float, optional
        Samples per second instead; for adaptive methods, the default is about a hundred samples.
    outputs : iterable of str, optional
        Outputs of the description, with their derivatives; None: all of them.
    method : {"rk4", "euler-cromer", "dopri5"}
        "euler-cromer" for trees only.
    rtol, atol : float, optional
        Tolerances of "dopri5".
    laws : sequence of bough.controller
        Compiled continuous laws, without a period.
    inputs : mapping, optional
        Constant values of inputs, by name.
    wheels, orbit : array_like, optional
        Initial wheel speeds and orbit.

    Examples
    --------
    >>> import bough
    >>> s = bough.System("oscillator")
    >>> _ = s.body("cart", joint=bough.Prismatic("x", stiffness=4.0), mass=1.0)
    >>> found = bough.sensitivities(s.compile(), [1.0], [0.0], until=1.0, dt=0.01, parameters=["cart.stiffness"], by=["q0"])
    >>> found.q.value[-1].round(6), found.q.dq0[-1, 0].round(6), found.q.dparameters["cart.stiffness"][-1].round(6)
    (array([-0.416147]), array([-0.416147]), array([-0.227324]))
    """
    positive("until", until, "seconds")
    run = check_run(Integration(model, q0=q0, v0=v0, wheels0=wheels, orbit0=orbit, dt=dt, method=method, rtol=rtol, atol=atol,
                                laws=laws))
    if len(run.x) > 1:
        raise StateError(f"q0 has {len(run.x)} rows; give one state: the directions are what runs side by side")
    model, state = run.model, run.model.state(run.x)                    # with the states of its laws
    options: dict[str, Any] = model.state_options(state)
    batch = replace(model.batch(state.q, state.v, tau, inputs=inputs, **options), single=False)
    batch.x[:], run.u[:] = run.x, batch.u
    check_by(model, by, run.laws.continuous, batch)
    wanted, named = known_outputs(model, outputs), tuple([parameters] if isinstance(parameters, str) else parameters)
    sizes = {"q": model.nv*("q0" in by), "v": model.nv*("v0" in by), "tau": model.nv*("tau" in by),
             "inputs": model.input_layout.n_ports*("inputs" in by),
             "parameters": sum(parameter(model.system, name).value.size for name in named)}
    along = Directions.along({name: size for name, size in sizes.items() if size}, named)
    if not along.m:
        raise StateError("nothing to derive by is given; name parameters=[...], or by=['q0', 'v0', 'tau', 'inputs']")
    times = sampled_at(run.plan, until, every, sample_rate)
    steps = accepted_steps(run, until) if run.plan.dt is None else fixed_steps(run, until)
    rows = rows_along(model, batch, along)
    found = TangentRun(run, rows).samples(steps, times)
    if not all(np.isfinite(part).all() for part in found):
        raise SimulationError(f"the run or its derivatives are not finite within {until:g} s; take shorter steps")
    whole, layout = traced(model, found.x, found.dx, sizes, named), model.layout
    seen = outputs_of_run(model, batch, rows, along, wanted, times, found, sizes)
    return Sensitivities(times, whole.part(layout.q), whole.part(layout.v), whole.part(layout.wheels), whole.part(layout.orbit),
                         seen, tuple(law.name for law in run.laws.continuous if not law.on_duals.exact))


def sampled_at(plan: Plan, until: float, every: int | None, sample_rate: float | None) -> Floats:
    """Times of the samples, from 0 to the end."""
    if every is not None and (plan.dt is None or sample_rate is not None):
        why = f"the method '{plan.method}' chooses its steps" if plan.dt is None else "sample_rate is given, too"
        raise StateError(f"every is {every}, but {why}; give sample_rate alone")
    if plan.dt is None or sample_rate is not None:
        return choose_sampling(0.0, until, sample_rate, plan.dt).times(until, -np.inf)
    steps, every = round(until/plan.dt), 1 if every is None else every
    if steps < 1 or abs(steps*plan.dt - until) > 1e-9*until or every < 1 or steps % every:
        raise StateError(f"until is {until}, dt {plan.dt} and every {every}; give an end that is a multiple of every*dt, or a "
                         "sample_rate")
    return np.arange(0, steps + 1, every)*np.float64(plan.dt)


def check_by(model: Model, by: Sequence[str], laws: Sequence[Any], batch: Batch) -> None:
    """Raise for unknown variables, and for inputs that a law sets too."""
    if isinstance(by, str) or any(name not in BY for name in by):
        raise StateError(f"by is {by!r}; give a list of any of {', '.join(BY)}, and parameters by their names")
    for law in laws:
        twice = [control_names(model)[k] for k in controlled(model, law) if batch.u[0, k]]
        if twice:
            raise StateError(f"'{twice[0]}' is given a number, but law '{law.name}' sets it; leave it out")


def traced(model: Model, value: Floats, moved: Floats, sizes: Mapping[str, int], named: Sequence[str]) -> Trace:
    """Columns (samples, m, size) by name."""
    found, shapes = by_part(sizes, moved), {name: parameter(model.system, name).value.shape for name in named}
    return Trace(value, found["q"], found["v"], found["tau"], model.named_inputs(found["inputs"]) if sizes["inputs"] else {},
                 by_parameter(shapes, found["parameters"]))


def outputs_of_run(model: Model, start: Batch, rows: Rows, along: Directions, wanted: list[str], times: Floats, found: Samples,
                   sizes: Mapping[str, int]) -> dict[str, Trace]:
    """Outputs at the samples."""
    if not wanted:
        return {}
    n, m, dpars = len(times), rows.m, rows.dpars
    batch = replace(start, t=np.repeat(times[:, None], 2, axis=1), state=model.state(found.x),
                    inputs=start.inputs.layout.view(np.ascontiguousarray(found.u)))
    at_samples = Rows(batch, np.zeros((n*m, 2)), found.dx.reshape(n*m, -1), found.du.reshape(n*m, -1),
                      None if dpars is None else lambda tables: np.tile(dpars(tables), (n, 1)))
    shown, derived = outputs_along(model, at_samples, *rates_along(model, at_samples), wanted, along)
    return {name: traced(model, shown[name], derived[name].reshape(n, m, -1), sizes, along.names) for name in wanted}
