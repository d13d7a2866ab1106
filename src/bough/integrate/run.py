"""Integrate a model from an initial state."""
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from bough.analyze.held_coordinates import motion_breaks
from bough.compile.coordinates import holdable
from bough.compile.kernel_calls import call, group_parameters
from bough.describe.settings import ADAPTIVE_OPTIONS, FIXED_STEP_OPTIONS, wrong_option
from bough.errors import StateError, nearest
from bough.integrate.adaptive import run_adaptive
from bough.integrate.closing import close_samples, close_start, closing_way, corrected, stabilized
from bough.integrate.compiled import loops
from bough.integrate.compiled.callback import Controller
from bough.integrate.compiled.tableaus import ADAPTIVE, FIXED, STAGES
from bough.integrate.control import PythonControl
from bough.integrate.events import Switchboard, from_event_to_event
from bough.integrate.fixed import run_fixed
from bough.integrate.grid import Grid, build_grid, positive
from bough.integrate.start import starting_rows
from bough.integrate.stiff import STIFF, run_stiff
from bough.integrate.trajectory import Trajectory
from bough.kernels.lanes import ONE, Lanes
from bough.model import Model
from bough.progress import Bar
from bough.sweeps import fields as f

DYNAMICS = ("auto", *loops.FIXED)
METHODS = (*FIXED, *ADAPTIVE, *STIFF)
RTOL, ATOL = 1e-9, 1e-12          # of the adaptive methods
OPEN_GAP = 1e-6                     # m or rad: a loop that is open by more is not closed
Progress = Callable[[float, float], None]


class ControlFailure(Exception):
    """A Python controller raised in mid run."""


@dataclass
class Run:
    """Everything that a stepping loop works on."""
    model: Model
    pars: np.ndarray
    x: np.ndarray
    u: np.ndarray
    grid: Grid
    dynamics: str                   # asked for: "auto", or a method
    address: int
    control: PythonControl | None
    progress: Progress | None
    tableau: np.ndarray = field(default_factory=lambda: np.zeros(0))        # of a method with compiled steps
    watch: np.ndarray = field(default_factory=lambda: np.zeros((0, loops.WATCHER)))
    passed: np.ndarray = field(default_factory=lambda: np.zeros(2))
    passing: list[int] = field(default_factory=list)                        # watchers that have passed
    out: np.ndarray = field(init=False)
    u_out: np.ndarray = field(init=False)
    failed: np.ndarray = field(init=False)
    carry: np.ndarray = field(default_factory=lambda: np.zeros((0, loops.CARRY)))       # of adaptive steps
    done: int = 1                   # samples recorded
    steps: int = 0
    longest: float = 0.0            # step of those with fixed length
    rejected: int = 0
    failure: str | None = None
    started: float = 0.0
    asked: float = -1.0             # time at which a Python controller was asked last
    turn: tuple[int, int] = (0, 1)  # of a member that runs alone, before others
    interrupted: bool = False

    def start_clock(self) -> None:
        """From here on time counts: kernels are compiled and loaded."""
        self.started = time.perf_counter()

    def __post_init__(self) -> None:
        n = len(self.grid.samples)
        self.out = np.full((len(self.x), n*self.x.shape[1]), np.nan)
        self.u_out = np.zeros((len(self.x), n*self.u.shape[1]))
        self.failed = np.full((len(self.x), 2), np.nan)
        self.out[:, :self.x.shape[1]] = self.x

    def way(self, lanes: Lanes) -> str:
        """The method of the dynamics, for what is held now."""
        return self.model.resolve_dynamics(self.dynamics, lanes)

    def arguments(self, lanes: Lanes) -> tuple[tuple, tuple, tuple, np.ndarray]:
        """What the loops take: model, stepper, rows, ws."""
        tables, nx, nu, stages = self.model.tables, self.x.shape[1], self.u.shape[1], int(self.tableau[STAGES])
        at, tableau = tables.size(f.WS_SIZE) + tables.more(self.way(lanes)), self.tableau
        if self.way(lanes) == "cloud":                                  # whose loops only hold what is given
            tableau = corrected(tableau, None, False)
        model = tables, group_parameters(self.pars, lanes)
        stepper = tableau, self.address, np.zeros(nx + nu + stages), at
        rows = self.x, self.u, self.out, self.u_out, self.failed, self.watch, self.passed
        return model, stepper, rows, lanes.zeros(at + (stages + 2)*nx + nu)

    def scratch_rows(self, lanes: Lanes) -> tuple[np.ndarray, ...]:
        """Rows like those of `arguments`, of the first states, on which a step may be tried."""
        x, u = self.x[:lanes.width].copy(), self.u[:lanes.width]
        none = np.zeros((len(x), 0))
        return x, u, none, none, np.full((len(x), 2), np.nan), np.zeros((0, loops.WATCHER)), np.zeros(2)

    def states_after(self, t: float, step: float, lanes: Lanes = ONE) -> np.ndarray:
        """The first states a step later, without going there."""
        (model, stepper, _, ws), rows = self.arguments(lanes), self.scratch_rows(lanes)
        call(loops.FIXED[self.way(lanes)], *model, stepper, np.array([[t, t + step, 1.0, -1.0, 0.0, 1.0]]), rows, ws)
        return rows[0]

    def ask_control(self, t: float) -> None:
        """Ask a Python controller for its torques, once a time; what goes wrong after the first call ends the run, not what was
        recorded."""
        if self.control is None or t == self.asked:
            return
        self.asked = t
        try:
            self.control.fill(t, self.x, self.u)
        except Exception as error:
            if t == 0.0:
                raise
            raise ControlFailure(f"the controller failed at t = {t:.6g} s: {type(error).__name__}: {error}") from error

    def between_breaks(self, start: float, stop: float) -> Iterator[tuple[float, float]]:
        """From start to stop, begin and end of each part without a break; at begins that are updates the controller is asked."""
        breaks = self.grid.breaks[(self.grid.breaks > start) & (self.grid.breaks < stop)].tolist()
        for begin, end in zip([start, *breaks], [*breaks, stop], strict=True):
            if begin in self.grid.updates:
                self.ask_control(begin)
            if begin == 0.0:
                self.record_controls(0)
            yield begin, end

    def record_controls(self, sample: int, rows: slice = slice(None)) -> None:
        nu = self.u.shape[1]
        self.u_out[rows, sample*nu:(sample + 1)*nu] = self.u[rows]

    def report(self, t: float, done: float | None = None) -> None:
        """Tell the time reached; where states take turns, `done` is how far they are together [s]."""
        if self.progress is not None:
            (member, members), share = self.turn, (t if done is None else done)/self.grid.samples[-1]
            self.progress((member + share)/members, t)

    def note_failure(self) -> bool:
        """True when nothing is left to integrate; what was recorded until then is kept."""
        broken = ~np.isnan(self.failed[:, 0])
        if broken.any():
            self.failure = explain_failure(self, int(np.argmin(np.where(broken, self.failed[:, 0], np.inf))))
        if broken.all():
            recorded = np.isfinite(self.out.reshape(len(self.x), -1, self.x.shape[1])).all(axis=2).any(axis=0)
            self.done = int(np.flatnonzero(recorded)[-1]) + 1
        return bool(broken.all())


def integrate(model: Model, *, q0: Any = None, v0: Any = None, wheels0: Any = None, orbit0: Any = None, until: float,
              dt: float | None = None, method: str = "rk4", sample_rate: float | None = None, rtol: float | None = None,
              atol: float | None = None, first_step: float | None = None, max_step: float | None = None,
              dynamics: str = "auto", control: Any = None, control_period: float | None = None,
              parameters: Mapping[str, Any] | None = None, stabilize: Any = None, hold: Sequence[str] = (),
              progress: Progress | None = None) -> Trajectory:
    """Integrate from t = 0 to `until`; see `bough.simulate`."""
    check_options(method, dynamics, {"dt": dt, "rtol": rtol, "atol": atol, "first_step": first_step, "max_step": max_step})
    fixed = method in FIXED
    pars = model.tables.pars if parameters is None else model.parameter_tables(parameters)
    way = closing_way(model, method, stabilize, hold)
    x, batched = starting_rows(model, q0, v0, wheels0, orbit0, parameters)
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
    breaks = np.union1d(model.tables.jumps if fixed else model.tables.knots, motion_breaks(model, until))
    grid = build_grid(until, sample_rate, dt if fixed else None, breaks, control_period)
    pars = stabilized(pars, way, method, dt if fixed else None)
    run = Run(model, pars, x, np.zeros((len(x), model.tables.n_u)), grid, dynamics,
              control.address if compiled else 0, python, progress)
    if isinstance(progress, Bar):
        progress.seconds = until*len(x)
    if fixed or method in ADAPTIVE:
        run.tableau = corrected((FIXED | ADAPTIVE)[method](), way, speeds=method != "euler-cromer")
    plan = Plan(method, dt, (rtol or RTOL, atol or ATOL), first_step, max_step or np.inf, control if compiled else None,
                way == "projection" and method != "rk4")
    boards = carry_out(run, plan, parameters) if model.system.events or model.system.stops else []
    if not boards:
        go(run, plan, None)
    wall = time.perf_counter() - run.started
    check_held_wheels(run)
    check_contradictions(run)
    step = None if not fixed or dt is None else dt if abs(run.longest - dt) < 1e-9*dt else run.longest
    return replace(finish(run, batched, parameters, method, step, wall), assembled=assembled,
                   events=tuple(tuple(board.log) for board in boards), spans=tuple(tuple(board.spans) for board in boards))


@dataclass(frozen=True)
class Plan:
    """How a run goes on."""
    method: str
    dt: float | None
    tolerances: tuple[float, float]
    first_step: float | None            # of adaptive methods
    max_step: float
    law: Controller | None              # a compiled one
    projects: bool                      # loops of samples are closed by themselves


def go(run: Run, plan: Plan, board: Switchboard | None) -> None:
    """From t = 0 to the end, from event to event; what ends it early is noted."""
    run.start_clock()
    try:
        if board is None:
            advance(run, plan, 0.0, float(run.grid.samples[-1]))
        else:
            from_event_to_event(run, plan, board, advance)
    except KeyboardInterrupt:
        run.failure, run.interrupted = f"interrupted at t = {run.grid.samples[run.done - 1]:.6g} s", True
    except ControlFailure as failure:
        run.failure = str(failure)


def advance(run: Run, plan: Plan, start: float, stop: float) -> None:
    """From start to stop, or to the step in which a watcher passes."""
    first = run.done
    try:
        (run_fixed if plan.method in FIXED else run_adaptive if plan.method in ADAPTIVE else run_stiff)(run, plan, start, stop)
    finally:
        if plan.projects and run.way(ONE) != "cloud":                        # there, no loop can open
            close_samples(run, first)


def carry_out(run: Run, plan: Plan, parameters: Mapping[str, Any] | None) -> list[Switchboard]:
    """Runs with events: one state after another, for each meets them at its own times."""
    if len(run.x) > 1 and run.control is not None:
        raise StateError("a batch with events, or stops, and a Python controller; simulate its members one by one, or use a "
                         "compiled controller (bough.controller)")
    boards, dones = [], []
    for row in range(len(run.x)):
        member = replace(run, x=run.x[row:row + 1], u=run.u[row:row + 1], pars=run.pars[min(row, len(run.pars) - 1)][None],
                         watch=np.zeros((0, loops.WATCHER)), passed=np.zeros(2), turn=(row, len(run.x)))
        board = Switchboard(run.model, None if parameters is None else {name: value[row] for name, value in parameters.items()})
        board.start(member.x[0])
        member.out[:, :member.x.shape[1]] = member.x
        if not run.interrupted:
            go(member, plan, board)
        board.spans.append((np.inf, board.model))
        run.out[row], run.u_out[row], run.failed[row] = member.out[0], member.u_out[0], member.failed[0]
        run.steps, run.rejected = run.steps + member.steps, run.rejected + member.rejected
        run.longest, run.failure = max(run.longest, member.longest), run.failure or member.failure
        run.interrupted |= member.interrupted
        run.started = run.started or member.started
        boards.append(board)
        dones.append(member.done)
    run.done = max(dones)
    return boards


def check_contradictions(run: Run) -> None:
    """Loops that what is prescribed pulls open: the run is cut where that begins."""
    model = run.model
    if not (model.system.loops and holdable(model.system)):
        return
    states = run.out.reshape(len(run.x), -1, run.x.shape[1])[:, :run.done]
    for row in range(len(run.x)):
        sound = np.flatnonzero(np.isfinite(states[row]).all(axis=1))
        gaps = model.loop_gaps(states[row, sound, :model.nq])
        worst = {name: np.abs(np.atleast_2d(gap)).max(axis=1) for name, gap in gaps.items()}
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
    model, u = run.model, run.u_out.reshape(len(run.x), -1, run.u.shape[1])
    for j, wheel in enumerate(model.system.wheels.values()):
        if not wheel.driven and np.nan_to_num(u[:, :, model.nv + j]).any():
            raise StateError(f"the controller gives a motor torque to wheel '{wheel.name}', whose speed is held; give the wheel a "
                             "torque in the description (0 will do), then its speed is a state")


def explain_failure(run: Run, row: int) -> str:
    """What stopped being finite, and when."""
    t, entry = run.failed[row, 0], int(run.failed[row, 1])
    model = run.model
    member = "" if len(run.x) == 1 else f"run {row} of the batch "
    blame = "; or the controller raised, or returned what is not finite" if run.address else ""
    if entry < 0:
        return (f"{member}needs steps too small to go on at t = {t:.6g} s; loosen rtol and atol, or use a stiff method "
                f"({', '.join(STIFF)}){blame}")
    names = [*(f"q of '{n}'" for n in model.names.q), *(f"v of '{n}'" for n in model.names.v),
             *(f"speed of wheel '{n}'" for n in model.names.wheels), *["the orbit"]*6]
    return (f"{member}diverged at t = {t:.6g} s: {names[entry]} is not finite; take a smaller dt, or look for loads or springs "
            f"too stiff for it{blame}")


def finish(run: Run, batched: bool, parameters: Mapping[str, Any] | None, method: str, dt: float | None, wall: float) -> Trajectory:
    """Cut what was not reached, and give arrays their axes."""
    batch, nx, nc = len(run.x), run.x.shape[1], run.model.nv + run.model.nw
    x = run.out.reshape(batch, -1, nx)[:, :run.done]
    u = run.u_out.reshape(batch, -1, run.u.shape[1])[:, :run.done, :nc]
    given = None if parameters is None else {name: np.asarray(value, float) for name, value in parameters.items()}
    return Trajectory(run.model, run.grid.samples[:run.done], x, u, batched, given, method, dt, run.steps, run.rejected, wall,
                      run.failure)
