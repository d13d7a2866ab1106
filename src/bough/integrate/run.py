"""A Python function as controller: called between steps, its torques held.

What an integration leaves behind: sampled states, what happened, and how it went.

When things happen: samples, jumps of the loads, updates of a Python controller.

A run: everything that a stepping loop works on, and how it is to go.
"""

import inspect
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.analyze.impulse import Jump
from bough.compile.batch import call, group_parameters
from bough.compile.layout import Floats, Inputs, State
from bough.errors import StateError, nearest
from bough.integrate.compiled import loops
from bough.integrate.compiled.callback import Controller
from bough.integrate.compiled.stepping import CORRECTIONS, SPEEDS, STAGES
from bough.kernels.lanes import ONE, Lanes
from bough.model import Model
from bough.sweeps import fields as f


class PythonControl:
    """`function(t, q, v, wheels)` returns nv joint torques, nv + nw joint and motor torques, or {name: torque}.

    Names are of joints with one degree of freedom, of single degrees of freedom ('arm.ry'), of modes ('boom.mode1', which take a
    modal force) or of driven wheels.  In a batch the arrays lead with the batch axis, and so may the torques."""

    def __init__(self, model: Model, function: Callable[..., Any], batched: bool) -> None:
        if not callable(function):
            raise StateError(f"control is {function!r}; give a function control(t, q, v, wheels), or one made by bough.controller")
        self.model, self.function, self.batched = model, function, batched
        try:
            inspect.signature(function).bind(0.0, *"qvw")
        except TypeError as error:
            raise StateError(f"control cannot be called as control(t, q, v, wheels): {error}; let it take these four") from None
        except ValueError:                                                  # some builtins tell nothing
            pass
        self.places = control_places(model)
        modal = any(body.n_modes for body in model.system.bodies.values())
        self.wanted = f"{model.nv} joint torques{' and modal forces'*modal}"

    def fill(self, t: float, x: Floats, u: Floats) -> None:
        """Ask for the torques at time t and put them in the rows of u."""
        model, state, inputs = self.model, self.model.state(x), self.model.input_layout.view(u)
        parts = state.q, state.v, state.wheels
        given = self.function(t, *(part.copy() if self.batched else part[0].copy() for part in parts))
        controls, nc = inputs.controls, model.nv + model.nw
        controls[:] = 0.0
        if given is None:
            return
        rows = ((), (1,), (len(x),))                                        # that can lead: none, one for all, one for each
        if isinstance(given, Mapping):
            for name, value in given.items():
                controls[:, self.place(name)] = self.numbers(value, rows, f"for '{name}'", "a number, or one for each run")
        else:
            shapes = [(*lead, n) for lead in rows for n in (model.nv, nc)]
            array = self.numbers(given, shapes, "", self.wanted + f", {nc} with motor torques"*bool(model.nw)
                                 + ", or a dict of names")
            controls[:, :array.shape[-1]] = array
        self.check(t, inputs)

    def numbers(self, given: Any, shapes: Sequence[tuple[int, ...]], where: str, wanted: str) -> Floats:
        """Real numbers in one of these shapes."""
        try:
            array = np.asarray(given)
            if array.dtype.kind not in "biuf":
                raise ValueError
        except ValueError:
            raise StateError(f"control returned {given!r} {where}".rstrip() + f"; return {wanted}, real numbers") from None
        if array.shape not in shapes:
            raise StateError(f"control returned an array of shape {array.shape} {where}".rstrip() + f"; return {wanted}")
        return array.astype(float)

    def check(self, t: float, inputs: Inputs) -> None:
        """No torque for a wheel whose speed is held, and finite numbers only."""
        model = self.model
        for j, wheel in enumerate(model.system.wheels.values()):
            if not wheel.driven and inputs.motors[:, j].any():
                raise StateError(f"control returned a torque for wheel '{wheel.name}', whose speed is held; give the wheel a "
                                 "torque in the description (0 will do)")
        if not np.isfinite(inputs.controls).all():
            entry = int(np.argwhere(~np.isfinite(inputs.controls))[0, 1])
            name = [*model.names.v, *model.names.wheels][entry]
            torques = inputs.controls[:, entry].tolist()
            raise StateError(f"control returned {torques} for '{name}' at t = {t:.6g} s; return finite numbers")

    def place(self, name: str) -> int:
        if name not in self.places:
            raise StateError(f"control returned a torque for '{name}', which is no joint of one degree of freedom, no single "
                             f"one and no driven wheel{nearest(name, self.places)}; known are {', '.join(self.places)}")
        return self.places[name]


def control_places(model: Model) -> dict[str, int]:
    """Where torques go in u, by name; a name that could mean two things means none."""
    named = [(name, i) for i, name in enumerate(model.names.v)]
    v = 0
    for body in model.system.bodies.values():
        if body.joint.n_v == 1:
            named.append((body.joint.name or body.name, v))
        v += body.n_v
    named += [(wheel.name, model.nv + j) for j, wheel in enumerate(model.system.wheels.values()) if wheel.driven]
    meanings: dict[str, set[int]] = {}
    for name, place in named:
        meanings.setdefault(name, set()).add(place)
    return {name: places.pop() for name, places in meanings.items() if len(places) == 1}


# ---- run -------------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Occurrence:
    """An event of a run: when [s], which, what it did, and the jump of the speeds, if they jumped.

    >>> print(Occurrence(1.5, "deploy", "releases boom.ry"))
    1.5 s: 'deploy' releases boom.ry
    """
    time: float
    name: str
    what: str
    jump: Jump | None = None

    def __str__(self) -> str:
        return f"{self.time:.6g} s: '{self.name}' {self.what}" + (f"; {self.jump}" if self.jump else "")

    def to_mapping(self) -> dict[str, Any]:
        """Texts and numbers only."""
        return asdict(self)

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, Any]) -> "Occurrence":
        given = dict(mapping)
        return cls(**given | {"jump": None if given["jump"] is None else Jump(**given["jump"])})


@dataclass(frozen=True)
class Trajectory:
    """Sampled states and inputs of one run or of a batch."""
    model: Model
    t: Floats                                       # (samples,)
    x: Floats                                       # (batch, samples, nx)  states: see `state`
    u: Floats                                       # (batch, samples, nv + nw)  controls in force: joint torques | motor torques
    batched: bool                                   # False: one run was asked for
    parameters: Mapping[str, Floats] | None         # changes of parameters, one for each member
    method: str
    dt: float | None
    steps: int
    rejected: int
    wall_time: float                                # s
    failure: str | None                             # why it ended early
    assembled: str | None = None                    # what closing the loops changed in the state that was given
    events: tuple[tuple[Occurrence, ...], ...] = () # by run: what happened
    spans: tuple[tuple[tuple[float, Model], ...], ...] = ()     # by run: what held until when, where events changed it

    @property
    def state(self) -> State:
        """The states with views of q, v, wheel speeds and orbit."""
        return self.model.state(self.x)


# ---- grid ------------------------------------------------------------------------------------------------------------------
DEFAULT_SAMPLES = 100


@dataclass(frozen=True)
class Grid:
    samples: Floats         # times to record, from 0 to the end
    breaks: Floats          # times at which steps must end besides: of the loads, of control updates; last, the end
    updates: Floats         # those at which a Python controller is asked again, 0 among them

    def steps(self, dt: float, start: float, stop: float) -> Floats:
        """Rows of fixed steps (see `loops`) from start to stop: from multiple to multiple of dt, but for the shorter ones that a
        break, start or stop parts.

        >>> Grid(np.zeros(1), np.array([0.25]), np.zeros(1)).steps(0.1, 0.0, 0.5).round(3).tolist()
        [[0.0, 0.1, 0.0, 2.0], [0.2, 0.05, 0.0, 1.0], [0.25, 0.05, 0.0, 1.0], [0.0, 0.1, 3.0, 5.0]]
        """
        inner = self.breaks[(self.breaks > start) & (self.breaks < stop)]
        starts, ends = np.insert(inner, 0, start), np.append(inner, stop)
        first, last = np.ceil(starts/dt*(1.0 - loops.SAME)), np.floor(ends/dt*(1.0 + loops.SAME))
        whole = np.maximum(first, last)
        inside = first > last                                               # start and end are in one step
        left, right = np.where(inside, ends, first*dt), np.where(inside, ends, last*dt)
        rows = np.array([[starts, left - starts, 0*ends, 1 + 0*ends], [0*ends, dt + 0*ends, first, whole],
                         [right, ends - right, 0*ends, 1 + 0*ends]]).transpose(2, 0, 1).reshape(-1, 4)
        lengths = np.array([left - starts, (whole - first)*dt, ends - right]).T.ravel()
        long = lengths > loops.SAME*np.repeat(ends, 3)
        return rows[long] if long.any() else np.array([[start, stop - start, 0.0, 1.0]])

    def is_update(self, t: Floats) -> NDArray[np.bool_]:
        """Which of these times are updates."""
        near = self.updates[np.minimum(np.searchsorted(self.updates, t*(1.0 - loops.SAME)), len(self.updates) - 1)]
        return np.abs(near - t) <= 2.0*loops.SAME*t

    def off_steps(self, dt: float) -> bool:
        """Whether samples are inside steps of this length."""
        return bool((np.abs(self.samples - np.rint(self.samples/dt)*dt) > loops.SAME*self.samples).any())


def build_grid(until: float, sample_rate: float | None, step: float | None, breaks: Floats,
               control_period: float | None) -> Grid:
    """`step`: of a method with fixed steps; without a sample rate every so many steps are recorded, at most a hundred."""
    samples = sample_times(positive("until", until, "the end time in seconds"), sample_rate, step)
    ends = np.append(breaks[(breaks > 0.0) & (breaks < until)], until)
    updates = np.zeros(1)
    if control_period is not None:
        period = positive("control_period", control_period, "the seconds between two calls")
        check_room(until/period, f"control_period is {period:g} s: the law would be called {until/period:.3g} times; lengthen it")
        updates = period*np.arange(int(np.ceil(until/period*(1 - 1e-12))), dtype=float)
    return Grid(samples, merge_close(np.union1d(ends, updates[1:]), samples), merge_close(updates, samples))


def sample_times(until: float, sample_rate: float | None, step: float | None) -> Floats:
    if sample_rate is not None:
        period = 1.0/positive("sample_rate", sample_rate, "samples a second")
        check_room(until/period, f"until is {until:g} s and sample_rate {sample_rate:g}/s: {until/period:.3g} samples; take fewer")
        samples = np.arange(int(np.floor(until/period*(1.0 + 1e-12))) + 1)*period
    elif step is not None:
        steps = max(1, int(np.ceil(until/step*(1.0 - 1e-9))))
        every = int(np.ceil(steps/DEFAULT_SAMPLES))
        samples, period = np.arange(0, steps + 1, every)*step, every*step
        samples = samples[samples < until*(1.0 + 1e-9)]
    else:
        samples, period = until*np.arange(DEFAULT_SAMPLES + 1)/DEFAULT_SAMPLES, until/DEFAULT_SAMPLES
    if until - samples[-1] > 1e-9*period:
        samples = np.append(samples, until)
    samples[-1] = until
    return np.asarray(samples, np.float64)


def positive(name: str, value: object, what: str) -> float:
    """A finite number greater than 0, or an error that says what was meant."""
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise StateError(f"{name} is {value!r}; give {what}, a number greater than 0") from None
    if not (np.isfinite(number) and number > 0.0):
        raise StateError(f"{name} is {value}; give {what}, greater than 0")
    return number


def check_room(numbers: float, what: str) -> None:
    """Refuse what the memory of this machine cannot hold."""
    try:
        room = os.sysconf("SC_PAGE_SIZE")*os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):                           # not told everywhere
        room = 2**36
    if 8.0*numbers > room:
        raise StateError(f"{what} ({8e-9*numbers:.3g} GB of numbers, and this machine has {1e-9*room:.3g} GB)")


def merge_close(breaks: Floats, samples: Floats) -> Floats:
    """Breaks that differ from a sample only by rounding become that sample."""
    near = np.clip(np.searchsorted(samples, breaks), 1, len(samples) - 1)
    left, right = samples[near - 1], samples[near]
    best = np.where(np.abs(breaks - left) < np.abs(breaks - right), left, right)
    return np.unique(np.where(np.abs(breaks - best) <= 1e-12*max(samples[-1], 1e-300), best, breaks))


# ---- run -------------------------------------------------------------------------------------------------------------------
STIFF = {"radau": "Radau", "bdf": "BDF", "lsoda": "LSODA"}      # SciPy's solvers
CHUNK_SECONDS = 0.2                 # how long a call of a compiled loop should take
FIRST_CHUNK = 16                    # steps, of which nobody knows yet how long they take
Progress = Callable[[float, float], None]


def with_corrections(tableau: Floats, most: int, speeds: bool) -> Floats:
    """A method that closes loops after each step, by so many corrections at most: of positions, and of speeds too if it shall."""
    tableau = tableau.copy()
    tableau[CORRECTIONS], tableau[SPEEDS] = most, speeds
    return tableau


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


class ControlFailure(Exception):
    """A Python controller raised in mid run."""


@dataclass
class Run:
    """Everything that a stepping loop works on."""
    model: Model
    pars: Floats
    x: Floats
    u: Floats
    grid: Grid
    dynamics: str                   # asked for: "auto", or a method
    address: int
    control: PythonControl | None
    progress: Progress | None
    tableau: Floats = field(default_factory=lambda: np.zeros(0))        # of a method with compiled steps
    watch: Floats = field(default_factory=lambda: np.zeros((0, loops.WATCHER)))
    passed: Floats = field(default_factory=lambda: np.zeros(3))
    passing: list[int] = field(default_factory=list)                        # watchers that have passed
    out: Floats = field(init=False)
    u_out: Floats = field(init=False)
    failed: Floats = field(init=False)
    carry: Floats = field(default_factory=lambda: np.zeros((0, 0)))         # of adaptive steps
    reasons: dict[int, str] = field(default_factory=dict)                   # by state, in a solver's own words, why it failed
    done: int = 1                   # samples recorded
    steps: int = 0
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
        check_room(float(n)*len(self.x)*(self.x.shape[1] + self.u.shape[1]),
                   f"{n} samples of {len(self.x)} state{'s'*(len(self.x) > 1)} are too many; lower sample_rate, or run fewer")
        self.out = np.full((len(self.x), n*self.x.shape[1]), np.nan)
        self.u_out = np.zeros((len(self.x), n*self.u.shape[1]))
        self.failed = np.full((len(self.x), 2), np.nan)
        self.out[:, :self.x.shape[1]] = self.x

    @property
    def resolved_dynamics(self) -> str:
        """How accelerations are solved, for what is held now."""
        return self.model.resolve_dynamics(self.dynamics)

    def arguments(self, lanes: Lanes) -> tuple[Any, Any, Any, Floats]:
        """What the loops take: model, stepper, rows, ws."""
        tables, nx, nu, stages = self.model.tables, self.x.shape[1], self.u.shape[1], int(self.tableau[STAGES])
        at, tableau = tables.size(f.WS_SIZE) + tables.more(self.resolved_dynamics), self.tableau
        if self.resolved_dynamics == "cloud":                                  # whose loops only hold what is given
            tableau = with_corrections(tableau, 0, False)
        model = tables, group_parameters(self.pars, lanes)
        stepper = tableau, self.address, np.zeros(nx + nu + stages), at
        rows = self.x, self.u, self.out, self.u_out, self.failed, self.watch, self.passed
        return model, stepper, rows, lanes.zeros(at + (stages + 2)*nx + nu)

    def scratch_rows(self, lanes: Lanes) -> tuple[Floats, ...]:
        """Rows like those of `arguments`, of the first states, on which a step may be tried."""
        x, u = self.x[:lanes.width].copy(), self.u[:lanes.width]
        none = np.zeros((len(x), 0))
        return x, u, none, none, np.full((len(x), 2), np.nan), np.zeros((0, loops.WATCHER)), np.zeros(3)

    def states_after(self, t: float, step: float, lanes: Lanes = ONE) -> Floats:
        """The first states at t + step, as times are rounded, without going there."""
        (model, stepper, _, ws), rows = self.arguments(lanes), self.scratch_rows(lanes)
        call(loops.FIXED[self.resolved_dynamics], *model, stepper, np.array([[t, (t + step) - t, 0.0, 1.0]]), np.zeros(0), rows, ws)
        return rows[0]

    def begin(self, law: Controller | None) -> None:
        """The controls at t = 0, which the first sample records."""
        self.ask_control(0.0)
        if law is not None:
            for x, u in zip(self.x, self.u, strict=True):
                law.fill(0.0, self.model, x, u)
        self.record_controls(0)
        held = self.driven_but_held()
        if held is not None:
            raise StateError(held[1])

    def driven_but_held(self) -> tuple[int, str] | None:
        """The first sample at which a controller drives a wheel whose speed is held, and what to say of it."""
        motors = self.model.input_layout.view(self.u_out.reshape(len(self.x), -1, self.u.shape[1])).motors
        held = np.array([not wheel.driven for wheel in self.model.system.wheels.values()], bool)
        wrong = held & (np.nan_to_num(motors) != 0.0).any(axis=0)
        if not wrong.any():
            return None
        sample, wheel = np.argwhere(wrong)[0].tolist()
        return sample, (f"at t = {self.grid.samples[sample]:.6g} s the controller gives a motor torque to wheel "
                        f"'{self.model.names.wheels[wheel]}', whose speed is held; give the wheel a torque in the description "
                        "(0 will do), then its speed is a state")

    def ask_control(self, t: float) -> None:
        """Ask a Python controller for its torques, once a time; what goes wrong after the first call ends the run, not what was
        recorded."""
        if self.control is None or t == self.asked:
            return
        self.asked = t
        try:
            self.control.fill(t, self.x, self.u)
        except Exception as error:
            failed = f"the controller failed at t = {t:.6g} s: {type(error).__name__}: {error}"
            if t == 0.0:                                                    # nothing is recorded that could be lost
                raise error if isinstance(error, StateError) else StateError(failed) from error
            raise ControlFailure(failed) from error

    def between_breaks(self, start: float, stop: float) -> Iterator[tuple[float, float]]:
        """From start to stop, begin and end of each part without a break; at begins that are updates the controller is asked."""
        breaks = self.grid.breaks[(self.grid.breaks > start) & (self.grid.breaks < stop)].tolist()
        for begin, end in zip([start, *breaks], [*breaks, stop], strict=True):
            if begin in self.grid.updates:
                self.ask_control(begin)
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


def explain_failure(run: Run, row: int) -> str:
    """What stopped being finite, and when."""
    t, entry = run.failed[row, 0], int(run.failed[row, 1])
    model = run.model
    alone, of = run.turn
    member = f"run {row + alone} of the batch " if len(run.x)*of > 1 else ""
    law = "; or the controller raised, or returned what is not finite" if run.address else ""
    if row in run.reasons:
        return f"{member}failed at t = {t:.6g} s: {run.reasons[row]}{law}"
    if entry < 0:
        return (f"{member}needs steps too small to go on at t = {t:.6g} s; loosen rtol and atol, or use a stiff method "
                f"({', '.join(STIFF)}){law}")
    return (f"{member}diverged at t = {t:.6g} s: {model.entry_name(entry)} is not finite; take a smaller dt, or look for loads or "
            f"springs too stiff for it{law}")
