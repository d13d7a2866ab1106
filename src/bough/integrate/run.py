"""Integrate a model from an initial state: the one loop over chunks of compiled steps."""
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from bough.errors import StateError, nearest
from bough.integrate.closing import close_samples, close_start, closing_way, corrected, stabilised
from bough.integrate.compiled import loops
from bough.integrate.compiled.callback import Controller
from bough.integrate.compiled.tableaus import ADAPTIVE, FIXED, STAGES
from bough.integrate.control import PythonControl
from bough.integrate.grid import Grid, build_grid, positive
from bough.integrate.start import starting_rows
from bough.integrate.stiff import STIFF, run_stiff
from bough.integrate.trajectory import Trajectory
from bough.kernels.lanes import ONE, Lanes
from bough.model import Model
from bough.model.run import call, group_parameters, lanes_for
from bough.sweeps import fields as f

METHODS = (*FIXED, *ADAPTIVE, *STIFF)
RTOL, ATOL = 1e-9, 1e-12          # of the adaptive methods
CHUNK_SECONDS = 0.2                 # how long a call of a compiled loop should take: progress and interrupts come between
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
    dense: bool
    address: int
    control: PythonControl | None
    progress: Progress | None
    out: np.ndarray = field(init=False)
    u_out: np.ndarray = field(init=False)
    failed: np.ndarray = field(init=False)
    done: int = 1                   # samples recorded
    steps: int = 0
    rejected: int = 0
    failure: str | None = None
    started: float = 0.0

    def start_clock(self) -> None:
        """From here on time counts: kernels are compiled and loaded."""
        self.started = time.perf_counter()

    def __post_init__(self) -> None:
        n = len(self.grid.samples)
        self.out = np.full((len(self.x), n*self.x.shape[1]), np.nan)
        self.u_out = np.zeros((len(self.x), n*self.u.shape[1]))
        self.failed = np.full((len(self.x), 2), np.nan)
        self.out[:, :self.x.shape[1]] = self.x

    def arguments(self, lanes: Lanes, tableau: np.ndarray) -> tuple[tuple, tuple, tuple, np.ndarray]:
        """What the loops take: model, stepper, rows, ws."""
        tables, nx, nu, stages = self.model.tables, self.x.shape[1], self.u.shape[1], int(tableau[STAGES])
        at = tables.size(f.WS_SIZE) + (tables.dense_size if self.dense else 0)
        model = tables.plan, group_parameters(self.pars, lanes), tables.tables
        stepper = tableau, self.address, np.zeros(nx + nu + stages), at
        rows = self.x, self.u, self.out, self.u_out, self.failed
        return model, stepper, rows, lanes.zeros(at + (stages + 2)*nx + nu)

    def ask_control(self, t: float) -> None:
        """Ask a Python controller for its torques; what goes wrong after the first call ends the run, not what was recorded."""
        if self.control is None:
            return
        try:
            self.control.fill(t, self.x, self.u)
        except Exception as error:
            if t == 0.0:
                raise
            raise ControlFailure(f"the controller failed at t = {t:.6g} s: {type(error).__name__}: {error}") from error

    def record_controls(self, sample: int, rows: slice = slice(None)) -> None:
        nu = self.u.shape[1]
        self.u_out[rows, sample*nu:(sample + 1)*nu] = self.u[rows]

    def report(self, t: float) -> None:
        if self.progress is not None:
            self.progress(t/self.grid.samples[-1], t)

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
              dt: float | None = None, method: str = "rk4", rate: float | None = None, rtol: float | None = None,
              atol: float | None = None,
              dynamics: str = "auto", control: Any = None, control_period: float | None = None,
              parameters: Mapping[str, Any] | None = None, stabilise: Any = None, hold: Sequence[str] = (),
              progress: Progress | None = None) -> Trajectory:
    """Integrate from t = 0 to `until`; see `bough.simulate`."""
    check_options(method, dt, dynamics, rtol, atol)
    fixed = method in FIXED
    pars = model.tables.pars if parameters is None else model.parameter_tables(parameters)
    way = closing_way(model, method, stabilise, hold)
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
    grid = build_grid(until, rate, dt if fixed else None, model.tables.jumps if fixed else model.tables.knots, control_period)
    pars = stabilised(pars, way, dt if fixed else None)
    run = Run(model, pars, x, np.zeros((len(x), model.tables.n_u)), grid, dynamics == "dense",
              control.address if compiled else 0, python, progress)
    run.start_clock()
    try:
        if fixed:
            dt = run_fixed(run, corrected(FIXED[method](), way), float(dt or 0.0))
        elif method in ADAPTIVE:
            run_adaptive(run, corrected(ADAPTIVE[method](), way), dt, (rtol or RTOL, atol or ATOL))
            if way == "projection":
                close_samples(model, pars, run.out.reshape(len(x), -1, x.shape[1])[:, :run.done])
        else:
            run_stiff(run, method, dt, rtol or RTOL, atol or ATOL, control if compiled else None)
    except KeyboardInterrupt:
        run.failure = f"interrupted at t = {grid.samples[run.done - 1]:.6g} s"
    except ControlFailure as failure:
        run.failure = str(failure)
    check_held_wheels(run)
    wall = time.perf_counter() - run.started
    return replace(finish(run, batched, parameters, method, dt if fixed else None, wall), assembled=assembled)


def check_options(method: str, dt: float | None, dynamics: str, rtol: float | None, atol: float | None) -> None:
    if method not in METHODS:
        raise StateError(f"method is '{method}'{nearest(method, METHODS)}; one of {', '.join(METHODS)}")
    if dt is None and method in FIXED:
        raise StateError(f"the method '{method}' takes fixed steps: give dt, its step in seconds")
    if dt is not None:
        positive("dt", dt, "the step in seconds")
    if dynamics not in ("auto", "order-n", "dense"):
        raise StateError(f"dynamics is '{dynamics}'; one of auto, order-n, dense")
    if dynamics == "dense" and method in STIFF:
        raise StateError(f"dynamics 'dense' is not offered with the method '{method}'; leave it out")
    for name, value in (("rtol", rtol), ("atol", atol)):
        if value is not None:
            positive(name, value, "a tolerance")
            if method in FIXED:
                raise StateError(f"{name} is given, but the method '{method}' takes fixed steps; leave it out, or use an adaptive "
                                 f"method ({', '.join((*ADAPTIVE, *STIFF))})")


def check_held_wheels(run: Run) -> None:
    """A compiled law may not drive a wheel whose speed is held."""
    model, u = run.model, run.u_out.reshape(len(run.x), -1, run.u.shape[1])
    for j, wheel in enumerate(model.system.wheels.values()):
        if not wheel.driven and np.nan_to_num(u[:, :, model.nv + j]).any():
            raise StateError(f"the controller gives a motor torque to wheel '{wheel.name}', whose speed is held; give the wheel a "
                             "torque in the description (0 will do), then its speed is a state")


def run_fixed(run: Run, tableau: np.ndarray, dt: float) -> float:
    """Chunks of segments: many where no Python comes between, up to the next update where a Python controller does.  Gives the
    longest step that was taken: samples and jumps of the loads may ask for shorter ones than dt."""
    lanes = lanes_for(len(run.x))
    kernel = loops.fixed_dense if run.dense else loops.fixed_order_n
    model, stepper, rows, ws = run.arguments(lanes, tableau)
    segments = run.grid.segments(dt)
    call(kernel, model, stepper, segments[:0], rows, ws)                # compile or load before the clock starts
    run.start_clock()
    longest = float(((segments[:, loops.END] - segments[:, loops.START])/segments[:, loops.STEPS]).max())
    first, size = 0, 1
    after_update = np.append(np.flatnonzero(np.isin(segments[:, loops.END], run.grid.updates)) + 1, len(segments))
    while first < len(segments):
        ends = segments[first:first + size]
        if run.control is not None:                                  # up to the next update of the controls
            ends = segments[first:after_update[np.searchsorted(after_update, first, side="right")]]
            run.ask_control(segments[first, 0])
            if first == 0:
                run.record_controls(0)
        begin = time.perf_counter()
        call(kernel, model, stepper, ends, rows, ws)
        run.steps += int(ends[:, loops.STEPS].sum())
        first += len(ends)
        run.done = int(max(run.done, ends[:, loops.SAMPLE].max() + 1))
        if run.note_failure():
            break
        run.report(ends[-1, loops.END])
        if run.control is None:
            took = max(time.perf_counter() - begin, 1e-6)
            size = int(np.clip(size*CHUNK_SECONDS/took, 1, 10*size))
    return dt if abs(longest - dt) < 1e-9*dt else longest


def run_adaptive(run: Run, tableau: np.ndarray, dt: float | None, tolerances: tuple[float, float]) -> None:
    """Between two breaks of the loads, chunks of samples."""
    kernel = loops.adaptive_dense if run.dense else loops.adaptive_order_n
    model, stepper, rows, ws = run.arguments(ONE, tableau)
    samples = run.grid.samples
    carry = np.zeros((len(run.x), loops.CARRY))
    carry[:, loops.STEP] = dt or 1e-4*samples[-1]/max(len(samples) - 1, 1)
    carry[:, loops.NEXT] = 1
    size = max(1, len(samples)//100)
    call(kernel, model, stepper, samples, np.array([0.0, 0.0, *tolerances]), carry, rows, ws)
    run.start_clock()
    starts, updates = [0.0, *run.grid.breaks[:-1].tolist()], set(run.grid.updates.tolist())
    for start, stop in zip(starts, run.grid.breaks.tolist(), strict=True):
        if start in updates:
            run.ask_control(start)
        if run.done == 1:
            run.record_controls(0)
        while True:
            begin = time.perf_counter()
            limits = np.array([stop, min(run.done + size, len(samples) + 1), *tolerances])
            call(kernel, model, stepper, samples, limits, carry, rows, ws)
            run.steps, run.rejected = int(carry[:, loops.TAKEN].sum()), int(carry[:, loops.REFUSED].sum())
            running = np.isnan(run.failed[:, 0])
            if run.note_failure():
                return
            run.done = int(carry[running, loops.NEXT].min())
            now = float(carry[running, loops.TIME].min())
            run.report(now)
            if now >= stop:
                break
            took = max(time.perf_counter() - begin, 1e-6)
            size = int(np.clip(size*CHUNK_SECONDS/took, 1, 10*size))


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
