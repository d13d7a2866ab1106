"""A run: the data of a stepping loop, and its progress."""
import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from bough import integrate as optional
from bough.compile.coordinates import sticking_frictions
from bough.compile.kernel_calls import call, direct, group_parameters, linked
from bough.compile.layout import Floats
from bough.compile.tables import Tables, described_inputs
from bough.errors import StateError
from bough.integrate.compiled import loops
from bough.integrate.compiled.loops import SAME
from bough.integrate.compiled.stepping import CORRECTIONS, SPEEDS, STAGES, TABLEAU, X0
from bough.integrate.laws import Laws, measure
from bough.integrate.methods import ADAPTIVE, FIXED, IMPLICIT
from bough.integrate.trajectory import WHOLE, Pace, check_room
from bough.kernels.lanes import ONE, Lanes
from bough.kernels.linker import raise_failure
from bough.model import Model
from bough.sweeps import fields as f

if TYPE_CHECKING:
    from bough.integrate.event_handler import EventHandler
    from bough.integrate.mounted_run import MountedRun

STIFF = {"radau": "Radau", "bdf": "BDF", "lsoda": "LSODA"}      # SciPy's solvers
RTOL, ATOL = 1e-9, 1e-12                                        # of the adaptive methods
Progress = Callable[[float, float], None]


def with_corrections(tableau: Floats, most: int, speeds: bool) -> Floats:
    """A method that closes loops after each step, with at most so many corrections of positions and, optionally, speeds."""
    tableau = tableau.copy()
    tableau[CORRECTIONS], tableau[SPEEDS] = most, speeds
    return tableau


def trial_rows(x: Floats, u: Floats, ahead: Floats) -> tuple[Floats, ...]:
    """Rows of the compiled loops for steps that are only tried: nothing is recorded, and no event ends them."""
    none, failed, clock = np.zeros((len(x), 0)), np.full((len(x), 2), np.nan), np.array([0.0, np.inf, 0.0, 0.0])
    return x, u, none, none, failed, np.zeros((0, loops.WATCHER)), np.zeros(2), clock, ahead


@dataclass(frozen=True)
class Plan:
    """The options of a run."""
    method: str
    dt: float | None                    # of methods with fixed steps
    tolerances: tuple[float, float]
    first_step: float | None            # of adaptive methods
    max_step: float
    dynamics: str                       # asked for: "auto", or a method
    tableau: Floats                     # of methods with compiled steps
    projects: bool                      # loops are closed by projection


class LawFailure(Exception):
    """A Python law raised an error during a run."""


@dataclass
class Run:
    """The integration of one state, or of a batch without events.

    `x` is the state at `t`, the end of the last step.  `shown` may be later: samples up to then are interpolated in the next step,
    which is repeated when the run continues.  So the steps do not depend on where the run is interrupted."""
    model: Model
    plan: Plan
    pars: Floats
    x: Floats
    u: Floats
    laws: Laws
    start: float
    samples: Floats                                     # times to record
    handler: "EventHandler | None" = None
    progress: Progress | None = None
    turn: tuple[int, int] = (0, 1)                      # index and number of members that run one after the other
    changed: list[dict[str, Floats]] | None = None      # parameters of each row, where they differ
    parameters: Callable[[Model], Floats] | None = None     # for a run with events: pars of the active model
    watch: Floats = field(default_factory=lambda: np.zeros((0, loops.WATCHER)))
    passed: Floats = field(default_factory=lambda: np.zeros(2))
    clock: Floats = field(default_factory=lambda: np.zeros(loops.CLOCK))
    passing: list[int] = field(default_factory=list)    # watchers that have passed
    reasons: dict[int, str] = field(default_factory=dict)       # by state, the error message of the solver
    jacobians: dict[int, Any] = field(default_factory=dict)     # by state, of SciPy's solvers
    done: int = 0                                       # samples recorded
    steps: int = 0
    rejected: int = 0
    failure: str | None = None
    interrupted: bool = False
    begun: bool = False
    budget: int | None = None                           # of adaptive steps, if limited
    compiled: float | None = None                       # when its kernels were loaded or compiled
    wall: float = 0.0                                   # s
    goal: float = np.inf                                # final time, for the progress
    dropped: float = -np.inf                            # time of the last sample that was recorded and dropped
    moved: tuple[Floats, Floats] | None = None          # x and u, while they are replaced by views of the workspace
    mounted: "MountedRun | None" = None                      # takes the steps if attachments need no loop
    parts: Pace = WHOLE                                 # of fixed steps, while elastic teeth bounce

    def __post_init__(self) -> None:
        rows, nx = self.x.shape
        self._source = self.model.tables.pars
        self.t = self.shown = self.start
        self.shown_x = self.x
        self.failed, self.ahead = np.full((rows, 2), np.nan), np.zeros((rows, 1))
        self.carry = np.zeros((rows, loops.CARRY + nx))
        self.carry[:, [loops.TIME, loops.GROWTH, loops.STEP]] = self.t, 10.0, self.plan.first_step or 0.0
        self.out, self.u_out = np.zeros((rows, 0)), np.zeros((rows, 0))
        self.make_room(len(self.samples) + 1)
        self.use(self.model)

    # ---- samples ----------------------------------------------------------------------------------------------------
    def make_room(self, n: int) -> None:
        """Reserve memory for n samples; the one after the last holds the state shown between samples."""
        (rows, nx), nu = self.x.shape, self.u.shape[1]
        old = self.out.shape[1]//nx
        if n > old:
            self.check_samples(n)
            self.out = np.concatenate([self.out, np.full((rows, (n - old)*nx), np.nan)], axis=1)
            self.u_out = np.concatenate([self.u_out, np.zeros((rows, (n - old)*nu))], axis=1)

    def check_samples(self, n: int) -> None:
        """Raise if the samples do not fit into memory, before their times are created."""
        rows, numbers = len(self.x), self.x.shape[1] + self.u.shape[1]
        check_room(float(n)*rows*numbers,
                   f"{n} samples of {rows} state{'s'*(rows > 1)} are too many; lower sample_rate, or run fewer at a time")

    @property
    def last_sample(self) -> float:
        """The time of the last sample that was recorded."""
        return float(self.samples[self.done - 1]) if self.done else self.dropped

    def drop_samples(self) -> None:
        """Drop the recorded samples and their memory."""
        if self.shown_x is not self.x:
            self.shown_x = self.shown_x.copy()
        self.dropped, self.samples, self.done = self.last_sample, np.zeros(0), 0
        self.out, self.u_out, self.carry[:, loops.NEXT] = self.out[:, :0], self.u_out[:, :0], 0.0
        self.make_room(1)

    def extend(self, times: Floats) -> None:
        """Add times of samples to record; recorded ones stay."""
        self.samples = np.append(self.samples[:self.done], times)
        if len(self.samples) + 1 > self.out.shape[1]//self.x.shape[1]:
            self.make_room(max(len(self.samples) + 1, 2*self.done))

    def samples_until(self, show: float) -> tuple[Floats, int]:
        """The samples up to a time, followed by that time if it is not a sample; and the number of samples."""
        n = int(np.searchsorted(self.samples, show + SAME*abs(show), side="right"))
        if n and self.samples[n - 1] >= show - SAME*abs(show):
            return self.samples[:n], n
        return np.append(self.samples[:n], show), n

    def show_until(self, show: float, sample: int) -> None:
        """Set the shown state: the end of the last step, or a later sample inside the next step."""
        nx = self.x.shape[1]
        later = self.t < show - SAME*abs(show)
        self.shown, self.shown_x = (show, self.out[:, sample*nx:(sample + 1)*nx]) if later else (self.t, self.x)

    @property
    def recorded(self) -> tuple[Floats, Floats]:
        """(rows, done, nx) states and (rows, done, nu) controls in force."""
        states, controls = (out.reshape(len(now), -1, now.shape[1]) for out, now in ((self.out, self.x), (self.u_out, self.u)))
        return states[:, :self.done], controls[:, :self.done]

    # ---- the active model -------------------------------------------------------------------------------------------------
    def use(self, model: Model) -> None:
        """Set the active model, and the times of discontinuities of its loads and motions."""
        self.model, fixed = model, self.plan.method in FIXED
        self.breaks, more = model.tables.jumps if fixed else model.tables.knots, model.motion_breaks(np.inf)
        if more.size:
            self.breaks = np.union1d(self.breaks, more)
        self.implicit = self.plan.method in IMPLICIT
        self.resolved = "order-n" if self.implicit or self.plan.method in STIFF else model.resolve_dynamics(self.plan.dynamics)
        self._arguments: dict[int, Any] = {}
        self._evaluation: tuple[Any, ...] | None = None
        self._members: list[Model] = []
        if self.parameters is not None and model.tables.pars is not self._source:
            self._source, self.pars = model.tables.pars, self.parameters(model)
            self.laws.use(model)
        if self.mounted is None or not self.mounted.serves(self, model):
            self.mounted = self._mounted_run(model)

    def _mounted_run(self, model: Model) -> "MountedRun | None":
        """The run that takes the steps if attachments need no loop; None otherwise, and for models that are only tried."""
        if self.handler is None or model is not self.handler.model or self.plan.method in STIFF or not model.system.loops:
            return None
        trees = optional.mounted_run.mounted_trees(model, self.handler.waiting, self._controlled)
        return optional.mounted_run.MountedRun(self, trees) if trees else None

    @property
    def _controlled(self) -> bool:
        """Whether laws read more of the model than named outputs, or act inside steps."""
        return any(law.ask.name == "control" for law in self.laws.sampled) or bool(self.laws.late)

    def share_no_stops(self, t0: float) -> None:
        """Drop the common stops of states with separate clocks: steps from t0 must end at all discontinuities anyway."""
        steps = (self.breaks - t0)/(self.plan.dt or 1.0)
        inside = np.flatnonzero((self.breaks > t0) & (np.abs(steps - np.rint(steps)) > 1e-9*np.maximum(1.0, np.abs(steps))))
        if len(inside):
            raise StateError(f"restart: a load or a motion changes at t = {self.breaks[inside[0]]:.6g} s, inside a step of "
                             f"{self.plan.dt:g} s from {t0:g} s on, but states with times of their own take steps together; take a "
                             "dt that divides it")
        self.breaks = self.breaks[:0]

    def in_force(self, t: float, x: Floats) -> Floats:
        """Rows of controls at t, including those of compiled laws."""
        if self.laws.table[0]:
            for row in range(len(x)):
                own = t + self.ahead[row, 0]
                self.u[row] = self.rates(row, own, own, x[row])[1]
        return self.u

    def measure(self, names: Iterable[str], t: float, x: Floats) -> dict[str, Floats]:
        """By output, (rows, size), at states x and time t, under the controls in force."""
        names, u = list(names), self.in_force(t, x)
        own = t + self.ahead[:, 0]
        if self.changed is None:
            return measure(self.model, names, own, x, u)
        model = self.model
        self._members = self._members or [model.with_parameters(one).switched_as(model) for one in self.changed]
        rows = [measure(member, names, own[i:i + 1], x[i:i + 1, :member.layout.nx], u[i:i + 1])
                for i, member in enumerate(self._members)]
        return {name: np.concatenate([row[name] for row in rows]) for name in names}

    def next_stop(self) -> float:
        """The time at which a step must end: a discontinuity, a call of a law, or an event."""
        later = self.t + SAME*abs(self.t)
        at = int(np.searchsorted(self.breaks, later, side="right"))
        return min(float(self.breaks[at]) if at < len(self.breaks) else np.inf, self.laws.next_time(self.t),
                   self.handler.next_time(later) if self.handler else np.inf, self.parts[1] if self.divided else np.inf)

    @property
    def divided(self) -> bool:
        """Whether fixed steps are taken in parts now."""
        return self.t < self.parts[1] - SAME*abs(self.t)

    @property
    def pace(self) -> tuple[float, float]:
        """From when fixed steps are counted, and how long they are."""
        return (self.parts[0], self.parts[2]) if self.divided else (self.start, self.plan.dt or 0.0)

    def after_events(self, names: Collection[str]) -> None:
        """After events of elastic teeth: set the length of the following steps."""
        handler = self.handler
        if handler is not None and self.plan.dt is not None and not set(handler.teeth).isdisjoint(names):
            model, x = handler.model.with_tanks(self.x[0]), self.x[0]
            self.parts = optional.backlash.pace_of(model, handler.teeth, x, self.t, self.plan.dt, self.plan.method)

    def prepare(self) -> None:
        """Before steps: activate the current model, and call the laws that are due."""
        if self.handler is not None and self.model is not self.handler.model:
            self.use(self.handler.model)
        try:
            if self.laws.update(self.t, self.x, self.u, lambda names: self.measure(names, self.t, self.x)):
                self.forget()
        except StateError as error:
            if not self.done:                                                   # no samples that could be lost
                raise
            raise LawFailure(str(error)) from error

    def forget(self) -> None:
        """Forget the rate at the end of the last step, which the next step would reuse: loads jump. Jumps are much alike, so a
        compiled step after one is no longer than the step that sufficed after the last one."""
        carry = self.carry
        carry[:, loops.KNOWN] = 0.0
        known = carry[:, loops.AFTER_JUMP] > 0.0
        carry[known, loops.STEP] = np.minimum(carry[known, loops.STEP], carry[known, loops.AFTER_JUMP])
        carry[:, loops.AFTER_JUMP] = 0.0

    def begin(self) -> None:
        """At the start: evaluate events and laws, and record the first sample."""
        if self.handler is not None:
            self.handler.measured = self.measured
            if sticking_frictions(self.model.system):
                self.prepare()                                                  # laws act on held coordinates
            self.build_ahead()
            self.handler.start(self.start, self.x[0])
        self.begun = True
        self.prepare()
        held = self.driven_but_held(self.in_force(self.t, self.x)[:, None])
        if held is not None:
            raise StateError(held[1])
        if len(self.samples) and self.samples[0] == self.start:
            self.record(0, slice(None), self.x)
            self.carry[:, loops.NEXT] = 1.0

    def build_ahead(self) -> None:
        """Build the tables of what events may connect, so that a change takes no time for it."""
        if self.handler is not None:
            self.handler.ahead = list(self.handler.model.build_ahead(self.implicit))
            for model in self.handler.ahead:
                optional.connecting.compute_ahead(model, self.x[0])
            if self.plan.method not in STIFF and not self._controlled:
                optional.mounted_run.build_mounted_ahead(self.handler.model, self.handler.waiting, self.implicit)

    def record(self, sample: int, rows: slice, x: Floats) -> None:
        """A state, and the controls in force, as a sample."""
        nx, nu = self.x.shape[1], self.u.shape[1]
        self.out[rows, sample*nx:(sample + 1)*nx], self.u_out[rows, sample*nu:(sample + 1)*nu] = x, self.u[rows]
        self.done = max(self.done, sample + 1)

    def driven_but_held(self, controls: Floats) -> tuple[int, str] | None:
        """The first of samples (rows, samples, nu) at which a law drives a wheel whose speed is held, and the error message."""
        motors = self.model.input_layout.view(controls).motors
        held = np.array([not wheel.driven for wheel in self.model.system.wheels.values()], bool)
        wrong = held & (np.nan_to_num(motors) != 0.0).any(axis=0)
        if not wrong.any():
            return None
        sample, wheel = np.argwhere(wrong)[0].tolist()
        when = self.samples[sample] if len(self.samples) else self.t
        return sample, (f"at t = {when:.6g} s the controller gives a motor torque to wheel '{self.model.names.wheels[wheel]}', "
                        "whose speed is held; give the wheel a torque in the description (0 will do), then its speed is a state")

    # ---- kernels ----------------------------------------------------------------------------------------------------
    def arguments(self, lanes: Lanes) -> tuple[Any, Any, Any, Floats]:
        """Arguments of the loops: model, stepper, rows, ws."""
        if lanes.width not in self._arguments:
            tables, nx, nu, tableau = self.stepped_tables, self.x.shape[1], self.u.shape[1], self.plan.tableau
            if len(tableau) and (self.resolved == "cloud" or not self.model.constrained):   # loops only between prescribed bodies
                tableau = with_corrections(tableau, 0, False)
            stages = int(tableau[STAGES]) if len(tableau) else 0
            at = tables.size(f.WS_SIZE) + tables.more(self.resolved)
            stepper = tableau, self.laws.table, np.zeros(self.laws.scratch + stages), at
            ws = lanes.zeros(at + (stages + 2)*nx + nu + 1)
            self._arguments[lanes.width] = (tables, group_parameters(self.pars, lanes)), stepper, ws
        model, stepper, ws = self._arguments[lanes.width]
        rows = self.x, self.u, self.out, self.u_out, self.failed, self.watch, self.passed, self.clock, self.ahead
        return model, stepper, rows, ws

    @property
    def stepped_tables(self) -> Tables:
        """The tables of the model, with the features that the method needs."""
        if not self.implicit:
            return self.model.tables
        tables = self.model.tables_for(compliant=True)
        return replace(tables, features=tables.features._replace(implicit=True))

    @property
    def fixed_kernel(self) -> tuple[Any, tuple[Floats, ...]]:
        """The kernel of fixed steps, and its data carried from call to call."""
        return (loops.fixed_implicit_steps, (self.carry,)) if self.implicit else (loops.FIXED[self.resolved], ())

    def take_fixed(self, model: Any, stepper: Any, grid: Floats, samples: Floats, rows: Any, ws: Floats,
                   carry: Floats | None = None) -> None:
        """Fixed steps over the rows of the grid; `carry`: replaces that of the run."""
        kernel, carried = self.fixed_kernel
        given = carried if carry is None else (carry,)*len(carried)
        call(kernel, *model, stepper, grid, samples, *given, rows, ws)

    def take_trial(self, model: Any, stepper: Any, grid: Floats, rows: Any, ws: Floats, carry: Floats | None = None) -> Floats:
        """The states of `trial_rows` after fixed steps over the rows of the grid; nothing is carried unless given."""
        x = rows[0]
        carry = np.zeros((len(x), loops.CARRY + x.shape[1])) if carry is None else carry
        self.take_fixed(model, stepper, grid, np.zeros(0), rows, ws, carry)
        return np.asarray(x)

    @property
    def adaptive_kernel(self) -> Any:
        return loops.adaptive_implicit_steps if self.implicit else loops.ADAPTIVE[self.resolved]

    def move_in(self, lanes: Lanes) -> None:
        """For a single state, make x and u views of the workspace, so that steps copy nothing, until `move_out`."""
        if len(self.x) == 1:
            (tables, _), stepper, _, ws = self.arguments(lanes)
            nx, x_at = self.x.shape[1], tables.size(f.WS_X)
            u_at = stepper[X0] + (int(stepper[TABLEAU][STAGES]) + 1)*nx
            self.moved, views = (self.x, self.u), (ws[None, x_at:x_at + nx], ws[None, u_at:u_at + self.u.shape[1]])
            views[0][:], views[1][:] = self.moved
            (self.x, self.u), self.clock[loops.RESIDENT] = views, 1.0
            self.shown_x = self.x

    def move_out(self) -> None:
        """Make x and u separate arrays again."""
        if self.moved is not None:
            (x, u), self.moved = self.moved, None
            x[:], u[:] = self.x, self.u
            self.x = self.shown_x = x
            self.u, self.clock[loops.RESIDENT] = u, 0.0

    def load_kernel(self, trial: Callable[[], Any]) -> None:
        """Compile or load the kernels by a trial call, before the clock starts."""
        if self.compiled is None:
            trial()
            self.compiled = time.perf_counter()

    def scratch_rows(self, lanes: Lanes) -> tuple[Floats, ...]:
        """Rows like those of `arguments`, for trial steps of the first states."""
        return trial_rows(self.x[:lanes.width].copy(), self.u[:lanes.width], self.ahead[:lanes.width])

    def states_after(self, t: float, step: float, lanes: Lanes = ONE) -> Floats:
        """The first states at t + step (with rounded times), without advancing the run."""
        (model, stepper, _, ws), rows = self.arguments(lanes), self.scratch_rows(lanes)
        grid = np.array([[t, (t + step) - t, 0.0, 1.0]])
        return self.take_trial(model, stepper, grid, rows, ws, self.carry[:len(rows[0])].copy())

    def rates(self, row: int, t: float, inside: float, x: Floats) -> tuple[Floats, Floats]:
        """x' of one state, and the controls in force, at t; time tables are read at `inside`."""
        return self.evaluated(row, t, inside, x)[1:]

    def measured(self, model: Model, t: float, x: Floats) -> Floats:
        """The state of one run, with the forces of sticking friction in this model."""
        before, mounted = self.model, self.mounted
        self.use(model)
        found = self.evaluated(0, t, t, x)[0]
        self.mounted = mounted
        self.use(before)
        return found

    def evaluated(self, row: int, t: float, inside: float, x: Floats) -> tuple[Floats, Floats, Floats]:
        """One state at t, with the forces of sticking friction; its x'; and the controls in force."""
        if self._evaluation is None:
            self._evaluation = self._new_evaluation()
        kernel, own, times, found, u, out, u_out = self._evaluation
        own[0], times[:], found[0], u[0] = self.pars[min(row, len(self.pars) - 1)], (t, inside), x, self.u[row]
        kernel()
        raise_failure()
        return found[0].copy(), out[0].copy(), u_out[0].copy()

    def _new_evaluation(self) -> tuple[Any, ...]:
        """The kernel of x' with bound arguments, and the arrays that change between calls: parameters, times, state, controls, x',
        controls in force."""
        _, (tableau, table, scratch, _), _, _ = self.arguments(ONE)
        tables, nx, nu = self.model.tables, self.x.shape[1], self.u.shape[1]
        at, header = tables.size(f.WS_SIZE), np.zeros(max(len(tableau), 8))          # no stages: the controls follow x directly
        arrays = self.pars[:1].copy(), np.zeros(2), np.zeros((1, nx)), np.zeros((1, nu)), np.zeros((1, nx)), np.zeros((1, nu))
        given = linked(tables, arrays[0], (header, table, scratch, at), *arrays[1:], ONE.zeros(at + 2*nx + nu + 1))
        return direct(partial(loops.rates, *given)), *arrays

    # ---- progress and failures ------------------------------------------------------------------------------------------------
    def catch_up(self) -> None:
        """After an interrupt: read the progress of the compiled loops."""
        if self.plan.method in FIXED:
            self.t, self.done = max(self.t, float(self.clock[loops.REACHED])), max(self.done, int(self.clock[loops.NEXT_SAMPLE]))
        elif self.plan.method in ADAPTIVE:
            self.t, self.done = float(self.carry[:, loops.TIME].min()), max(self.done, int(self.carry[:, loops.NEXT].min()))

    def report(self, t: float, done: float | None = None) -> None:
        """Report the time reached; for states that run in turn, `done` is their common progress [s]."""
        if self.progress is not None:
            (member, members), share = self.turn, ((t if done is None else done) - self.start)/(self.goal - self.start)
            self.progress((member + share)/members, t)

    def note_failure(self) -> bool:
        """Note failed states; True if no state is left to integrate.  Recorded samples are kept."""
        broken = ~np.isnan(self.failed[:, 0])
        if broken.any():
            self.failure = explain_failure(self, int(np.argmin(np.where(broken, self.failed[:, 0], np.inf))))
        if broken.all():
            sound = np.isfinite(self.out.reshape(len(self.x), -1, self.x.shape[1])[:, :len(self.samples)]).all(axis=2)
            self.done = int(np.flatnonzero(sound.any(axis=0)).max(initial=-1)) + 1
        return bool(broken.all())


def explain_failure(run: Run, row: int) -> str:
    """Why and when a state failed, in words."""
    t, entry = run.failed[row, 0], int(run.failed[row, 1])
    alone, of = run.turn
    member = f"run {row + alone} of the batch " if len(run.x)*of > 1 else ""
    law = "; or the controller raised, or returned what is not finite" if run.laws.table[0] else ""
    if backward := backward_flow(run, row, float(t)):
        return f"{member}{backward}"
    if row in run.reasons:
        return f"{member}failed at t = {t:.6g} s: {run.reasons[row]}{law}"
    if entry < 0:
        return (f"{member}needs steps too small to go on at t = {t:.6g} s; loosen rtol and atol, or use a stiff method "
                f"({', '.join(STIFF)}){law}")
    return (f"{member}diverged at t = {t:.6g} s: {run.model.entry_name(entry)} is not finite; take a smaller dt, or look for loads "
            f"or springs too stiff for it{law}")


def backward_flow(run: Run, row: int, t: float) -> str:
    """The tank with a negative flow, in words; empty if there is none."""
    model, system = run.model, run.model.system
    described = described_inputs(model.tables, np.array([t]))[0, model.input_layout.flows] if system.tanks else ()
    for tank, flow in zip(system.tanks, described, strict=True):
        ports = model.input_layout.view(run.u[row]).ports
        feeding = [port.name for port in system.inputs.values() if port.flow == tank]
        whole = float(flow) + sum(float(ports[model.names.inputs.index(name)]) for name in feeding)
        if whole < 0.0:
            return (f"stopped at t = {t:.6g} s: the flow of tank '{tank}' is {whole:.6g} kg/s, and nothing flows back into it; "
                    "give its input numbers >= 0, and limit what a law commands")
    return ""
