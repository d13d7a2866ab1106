"""Closed loops in a run: a start that closes them, and what keeps them closed.

The state at t = 0: what the caller gives, or what the description says.

Integrate a model from an initial state.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bough.compile.batch import call, group_parameters, lanes_for
from bough.compile.coordinates import holdable
from bough.compile.coordinates import members as count_members
from bough.compile.layout import Floats
from bough.describe.orientation import rotation_matrix
from bough.describe.settings import ADAPTIVE_OPTIONS, FIXED_STEP_OPTIONS, wrong_option
from bough.errors import StateError, nearest
from bough.integrate.compiled import loops
from bough.integrate.compiled.callback import Controller
from bough.integrate.compiled.stepping import ADAPTIVE, FIXED, euler_cromer
from bough.integrate.compiled_steps import run_adaptive, run_fixed
from bough.integrate.event_handler import EventHandler, run_with_events
from bough.integrate.run import (
    STIFF,
    ControlFailure,
    Plan,
    Progress,
    PythonControl,
    Run,
    Trajectory,
    build_grid,
    positive,
    with_corrections,
)
from bough.model import Model
from bough.progress import Bar
from bough.sweeps import fields as f

STABILIZATIONS = ("projection", "baumgarte")
MOST_CORRECTIONS = 6                # after a step: of positions until they close, then of speeds
STEPS_TO_CLOSE = 10.0               # Baumgarte: steps in which an open loop closes by a factor e
USUAL_STEP = 1e-3                   # s: where the method chooses its own


def stabilization(model: Model, method: str, stabilize: Any, hold: Sequence[str]) -> str | float | None:
    """"projection", "baumgarte" or its frequency [rad/s]; None without loops."""
    if not model.system.loops:
        if stabilize is not None or len(hold):
            given = "stabilize" if stabilize is not None else "hold"
            raise StateError(f"{given} is given, but system '{model.system.name}' has no loops; leave it out")
        return None
    if stabilize is None:
        return "baumgarte" if method in STIFF else "projection"
    if isinstance(stabilize, str):
        if stabilize not in STABILIZATIONS:
            known = ", ".join(STABILIZATIONS)
            raise StateError(f"stabilize is '{stabilize}'{nearest(stabilize, STABILIZATIONS)}; one of {known}, or a frequency in "
                             "rad/s")
        if stabilize == "projection" and method in STIFF:
            raise StateError(f"stabilize is 'projection', but the method '{method}' keeps its own past steps; use 'baumgarte', or "
                             "rk4 or dopri5")
        return stabilize
    positive("stabilize", stabilize, "a frequency in rad/s, or 'projection'")
    return float(stabilize)


def stabilized(pars: Floats, chosen: str | float | None, method: str, step: float | None) -> Floats:
    """Parameters with the frequency of Baumgarte's stabilization, where there is any; `step` is that of the method, if it has one.

    Euler-Cromer needs no projection of speeds: with a frequency of 1/(2 step) the next step takes out what they are off."""
    if chosen is None or (chosen == "projection" and method != "euler-cromer"):
        return pars
    pars = pars.copy()
    pars[:, f.STABILIZATION] = (1.0/(2.0*(step or USUAL_STEP)) if chosen == "projection"
                                else 1.0/(STEPS_TO_CLOSE*(step or USUAL_STEP)) if chosen == "baumgarte" else chosen)
    return pars


def corrected(tableau: Floats, chosen: str | float | None, speeds: bool) -> Floats:
    """A method that closes loops after each step, where projection is asked for: positions, and speeds too if it shall."""
    return with_corrections(tableau, MOST_CORRECTIONS if chosen == "projection" else 0, speeds)


def close_start(model: Model, x: Floats, hold: Sequence[str], parameters: Mapping[str, Any] | None) -> str | None:
    """Close the loops of initial states, in place; says what changed most, if it is more than rounding."""
    if not model.system.loops:
        return None
    given = x.copy()
    for i, row in enumerate(map(model.state, x)):
        member = model if parameters is None else model.with_parameters({name: value[i] for name, value in parameters.items()})
        try:
            row.q[:], row.v[:] = member.assemble(row.q, row.v, hold=hold)
        except StateError as error:
            where = "" if len(x) == 1 else f"initial state {i} of the batch: "
            raise StateError(f"{where}{error}") from None
    change = np.abs(x - given).max(axis=0)
    worst = int(change.argmax())
    if change[worst] < 1e-9:
        return None
    return f"to close the loops {model.entry_name(worst)} was changed by {change[worst]:.3g}, most of all"


def close_samples(run: Run, first: int) -> None:
    """Close the loops in the samples recorded from `first` on: those inside a step are interpolated, and Euler-Cromer's speeds wait
    for the next step.  A step of no length does it, at the sample's time, for what is prescribed depends on it."""
    nx, model = run.x.shape[1], run.model
    states, tableau = run.out.reshape(len(run.x), -1, nx), corrected(euler_cromer(), "projection", True)
    several = model.holds and run.done - first > 0
    for part in np.split(np.arange(first, run.done), np.arange(1, run.done - first) if several else []):
        x = np.ascontiguousarray(states[:, part].reshape(-1, nx))
        rows = np.flatnonzero(np.isfinite(x).all(axis=1))
        if len(rows):
            own = run.pars if len(run.pars) == 1 else run.pars[np.minimum(rows//len(part), len(run.pars) - 1)]
            x[rows] = closed_states(run, own, x[rows], tableau, float(run.grid.samples[part[0]]))
            states[:, part] = x.reshape(len(run.x), len(part), nx)


def closed_states(run: Run, pars: Floats, x: Floats, tableau: Floats, t: float) -> Floats:
    tables, lanes = run.model.tables, lanes_for(len(run.x))             # those of a run with fixed steps: compiled already
    nu, at = run.u.shape[1], tables.size(f.WS_SIZE)
    ws, failed, none = lanes.zeros(at + 3*x.shape[1] + nu), np.full((len(x), 2), np.nan), np.zeros((len(x), 0))
    call(loops.FIXED["order-n"], tables, group_parameters(pars, lanes),
         (tableau, 0, np.zeros(x.shape[1] + nu + 1), at), np.array([[t, t, 1.0, -1.0, 0.0, 1.0]]),
         (x, np.zeros((len(x), nu)), none, none, failed, np.zeros((0, loops.WATCHER)), np.zeros(2)), ws)
    return x


# ---- integration -----------------------------------------------------------------------------------------------------------
def initial_states(model: Model, q0: ArrayLike | None, v0: ArrayLike | None, wheels0: ArrayLike | None, orbit0: ArrayLike | None,
                   parameters: Mapping[str, ArrayLike] | None) -> tuple[Floats, bool]:
    """(batch, nx) of initial states, and whether a batch was asked for."""
    q = model.q0 if q0 is None else q0
    v = model.v0 if v0 is None else v0
    members = None if parameters is None else count_members(parameters)
    if members is not None and np.ndim(q) == 1 and np.ndim(v) == 1:
        q = np.tile(np.asarray(q, float), (members, 1))
    batch = model.batch(q, v, wheels=wheels0, orbit=orbit0)
    if members is not None and batch.n != members:
        raise StateError(f"there are {members} parameter sets but {batch.n} initial states; give as many of each, or one state")
    x = batch.x.copy()
    model.normalize_quaternions(x)
    check_prescribed(model, x)
    if model.in_orbit and members is None:
        center(model, x)
    elif model.in_orbit:
        for i in range(batch.n):
            center(model.with_parameters(member_of(parameters, i) or {}), x[i:i + 1])
    return x, not batch.single


def member_of(parameters: Mapping[str, ArrayLike] | None, member: int) -> dict[str, Floats] | None:
    """The parameters of one member of a batch."""
    return None if parameters is None else {name: np.asarray(value, float)[member] for name, value in parameters.items()}


def check_prescribed(model: Model, x: Floats) -> None:
    """A state that is given must agree with what is prescribed, and locked coordinates must rest."""
    wanted = x.copy()
    model.follow_motions(wanted, 0.0)
    wrong = np.argwhere(np.abs(wanted - x) > 1e-9*np.maximum(1.0, np.abs(wanted)))
    if len(wrong):
        row, entry = wrong[0]
        what, name = ("q0", model.names.q[entry]) if entry < model.nq else ("v0", model.names.v[entry - model.nq])
        raise StateError(f"{what} of '{name}' is {x[row, entry]:.6g}, but its motion is given and starts with "
                         f"{wanted[row, entry]:.6g}; let model.follow(q, v) fill in what is prescribed, or change the motion")


def center(model: Model, x: Floats) -> None:
    """In orbit the tree moves about its mass center: shift the free roots so that it rests in the origin."""
    state = model.state(x)
    bodies = model.bodies(state.q, state.v)
    position, velocity = bodies.center_of_mass, bodies.momentum[:, 3:]/bodies.mass.sum()
    for body in model.system.bodies.values():
        if body.parent is None:
            (q, v), turn = model.places[body.name], rotation_matrix(body.orient)
            state.q[:, q:q + 3] -= position @ turn
            state.v[:, v:v + 3] -= velocity @ turn


# ---- integration -----------------------------------------------------------------------------------------------------------
DYNAMICS = ("auto", *loops.FIXED)
METHODS = (*FIXED, *ADAPTIVE, *STIFF)
RTOL, ATOL = 1e-9, 1e-12          # of the adaptive methods
OPEN_GAP = 1e-6                     # m or rad: a loop that is open by more is not closed


def integrate(model: Model, *, q0: ArrayLike | None = None, v0: ArrayLike | None = None, wheels0: ArrayLike | None = None,
              orbit0: ArrayLike | None = None, until: float,
              dt: float | None = None, method: str = "rk4", sample_rate: float | None = None, rtol: float | None = None,
              atol: float | None = None, first_step: float | None = None, max_step: float | None = None,
              dynamics: str = "auto", control: Any = None, control_period: float | None = None,
              parameters: Mapping[str, ArrayLike] | None = None, stabilize: str | float | None = None, hold: Sequence[str] = (),
              progress: Progress | None = None) -> Trajectory:
    """Integrate from t = 0 to `until`; see `bough.simulate`."""
    check_options(method, dynamics, {"dt": dt, "rtol": rtol, "atol": atol, "first_step": first_step, "max_step": max_step})
    fixed = method in FIXED
    pars = model.tables.pars if parameters is None else model.parameter_tables(parameters)
    chosen = stabilization(model, method, stabilize, hold)
    x, batched = initial_states(model, q0, v0, wheels0, orbit0, parameters)
    assembled = close_start(model, x, hold, parameters)
    compiled = isinstance(control, Controller)
    python = None if control is None or compiled else PythonControl(model, control, batched)
    if python is not None and control_period is None:
        if not fixed:
            raise StateError(f"control is a Python function and the method '{method}' chooses its own steps; "
                             "give control_period, the seconds for which its torques are held")
        control_period = dt
    if python is None and control_period is not None:
        raise StateError("control_period is given but control is not a Python function; a compiled law acts continuously")
    breaks = np.union1d(model.tables.jumps if fixed else model.tables.knots, model.motion_breaks(until))
    grid = build_grid(until, sample_rate, dt if fixed else None, breaks, control_period)
    pars = stabilized(pars, chosen, method, dt if fixed else None)
    run = Run(model, pars, x, np.zeros((len(x), model.input_layout.nu)), grid, dynamics,
              control.address if compiled else 0, python, progress)
    if isinstance(progress, Bar):
        progress.seconds = until*len(x)
    if fixed or method in ADAPTIVE:
        run.tableau = corrected((FIXED | ADAPTIVE)[method](), chosen, speeds=method != "euler-cromer")
    plan = Plan(method, dt, (rtol or RTOL, atol or ATOL), first_step, max_step or np.inf, control if compiled else None,
                chosen == "projection" and method != "rk4")
    handlers = run_members(run, plan, parameters) if model.system.events or model.system.stops else []
    if not handlers:
        run_to_end(run, plan, None)
    wall = time.perf_counter() - run.started
    check_held_wheels(run)
    check_contradictions(run)
    step = None if not fixed or dt is None else dt if abs(run.longest - dt) < 1e-9*dt else run.longest
    return replace(finish(run, batched, parameters, method, step, wall), assembled=assembled,
                   events=tuple(tuple(each.log) for each in handlers), spans=tuple(tuple(each.spans) for each in handlers))


def run_to_end(run: Run, plan: Plan, handler: EventHandler | None) -> None:
    """From t = 0 to the end, from event to event; what ends it early is noted."""
    run.start_clock()
    try:
        if handler is None:
            advance(run, plan, 0.0, float(run.grid.samples[-1]))
        else:
            run_with_events(run, plan, handler, advance)
    except KeyboardInterrupt:
        run.failure, run.interrupted = f"interrupted at t = {run.grid.samples[run.done - 1]:.6g} s", True
    except ControlFailure as failure:
        run.failure = str(failure)


def stepper(method: str) -> Callable[[Run, Plan, float, float], None]:
    """What takes the steps of a method; SciPy's solvers are loaded when they are needed."""
    if method in FIXED:
        return run_fixed
    if method in ADAPTIVE:
        return run_adaptive
    from bough.integrate.stiff import run_stiff
    return run_stiff


def advance(run: Run, plan: Plan, start: float, stop: float) -> None:
    """From start to stop, or to the step in which a watcher passes."""
    first = run.done
    try:
        stepper(plan.method)(run, plan, start, stop)
    finally:
        if plan.projects and run.resolved_dynamics != "cloud":                      # there, no loop can open
            close_samples(run, first)


def run_members(run: Run, plan: Plan, parameters: Mapping[str, ArrayLike] | None) -> list[EventHandler]:
    """Runs with events: one state after another, for each meets them at its own times."""
    if len(run.x) > 1 and run.control is not None:
        raise StateError("a batch with events, or stops, and a Python controller; simulate its members one by one, or use a "
                         "compiled controller (bough.controller)")
    handlers, dones = [], []
    for row in range(len(run.x)):
        member = replace(run, x=run.x[row:row + 1], u=run.u[row:row + 1], pars=run.pars[min(row, len(run.pars) - 1)][None],
                         watch=np.zeros((0, loops.WATCHER)), passed=np.zeros(2), turn=(row, len(run.x)))
        handler = EventHandler(run.model, member_of(parameters, row))
        handler.start(member.x[0])
        member.out[:, :member.x.shape[1]] = member.x
        if not run.interrupted:
            run_to_end(member, plan, handler)
        handler.spans.append((np.inf, handler.model))
        run.out[row], run.u_out[row], run.failed[row] = member.out[0], member.u_out[0], member.failed[0]
        run.steps, run.rejected = run.steps + member.steps, run.rejected + member.rejected
        run.longest, run.failure = max(run.longest, member.longest), run.failure or member.failure
        run.interrupted |= member.interrupted
        run.started = run.started or member.started
        handlers.append(handler)
        dones.append(member.done)
    run.done = max(dones)
    return handlers


def check_contradictions(run: Run) -> None:
    """Loops that what is prescribed pulls open: the run is cut where that begins."""
    model = run.model
    if not (model.system.loops and holdable(model.system)):
        return
    states = model.state(run.out.reshape(len(run.x), -1, run.x.shape[1])[:, :run.done])
    for row in range(len(run.x)):
        sound = np.flatnonzero(np.isfinite(states.x[row]).all(axis=1))
        gaps = model.loop_gaps(states.q[row, sound])
        worst = {name: np.abs(gap).max(axis=1) for name, gap in gaps.items()}
        name = max(worst, key=lambda loop: worst[loop].max(initial=0.0))
        wide = sound[worst[name] > OPEN_GAP]
        if len(wide):
            held = ", ".join(model.holds) or "what events hold"
            run.failure = (f"loop '{name}' is pulled open from t = {run.grid.samples[wide[0]]:.6g} s on (by "
                           f"{worst[name].max():.3g}): the motions of {held} contradict it; leave one of its joints free, or "
                           "prescribe motions that keep it closed")
            run.done = max(int(wide[0]), 1)


def check_options(method: str, dynamics: str, steps: Mapping[str, Any]) -> None:
    """`steps`: the options of steps by name, None where not given."""
    if method not in METHODS:
        raise StateError(f"method is '{method}'{nearest(method, METHODS)}; one of {', '.join(METHODS)}")
    for name, value in steps.items():
        if value is not None:
            if name in (ADAPTIVE_OPTIONS if method in FIXED else FIXED_STEP_OPTIONS):
                raise StateError(wrong_option(name, value, method))
            positive(name, value, "a tolerance" if name in ("rtol", "atol") else "seconds")
    if steps["dt"] is None and method in FIXED:
        raise StateError(f"the method '{method}' takes fixed steps: give dt, its step in seconds")
    if dynamics not in DYNAMICS:
        raise StateError(f"dynamics is '{dynamics}'{nearest(dynamics, DYNAMICS)}; one of {', '.join(DYNAMICS)}")
    if dynamics in ("dense", "cloud") and method in STIFF:
        raise StateError(f"dynamics '{dynamics}' is not offered with the method '{method}'; leave it out")


def check_held_wheels(run: Run) -> None:
    """A compiled law may not drive a wheel whose speed is held."""
    model = run.model
    inputs = model.input_layout.view(run.u_out.reshape(len(run.x), -1, run.u.shape[1]))
    for j, wheel in enumerate(model.system.wheels.values()):
        if not wheel.driven and np.nan_to_num(inputs.motors[:, :, j]).any():
            raise StateError(f"the controller gives a motor torque to wheel '{wheel.name}', whose speed is held; give the wheel a "
                             "torque in the description (0 will do), then its speed is a state")


def finish(run: Run, batched: bool, parameters: Mapping[str, ArrayLike] | None, method: str, dt: float | None,
           wall: float) -> Trajectory:
    """Cut what was not reached, and give arrays their axes."""
    batch, nx = len(run.x), run.x.shape[1]
    x = run.out.reshape(batch, -1, nx)[:, :run.done]
    u = run.model.input_layout.view(run.u_out.reshape(batch, -1, run.u.shape[1])[:, :run.done]).controls
    given = None if parameters is None else {name: np.asarray(value, float) for name, value in parameters.items()}
    return Trajectory(run.model, run.grid.samples[:run.done], x, u, batched, given, method, dt, run.steps, run.rejected, wall,
                      run.failure)
