"""The outcome of an integration: sampled states, events and statistics; and the times of samples."""
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bough import analyze
from bough.compile.layout import EXHAUST, Floats, State, run_states
from bough.describe.numeric import shown
from bough.errors import StateError
from bough.kernels.lanes import Lanes
from bough.model import Model

if TYPE_CHECKING:
    from bough.analyze.impulse import Jump

DEFAULT_SAMPLES = 100
Pace = tuple[float, float, float]   # parts of fixed steps: from when, until when, and their length
WHOLE: Pace = -np.inf, -np.inf, 0.0


@dataclass(frozen=True)
class Occurrence:
    """An event of a run: time [s], name, effect, the jump of the speeds, if any; and, for detached joints, their coordinates, which
    no longer exist, with their placeholder values in the state.

    >>> print(Occurrence(1.5, "deploy", "releases boom.ry"))
    1.5 s: 'deploy' releases boom.ry
    """
    time: float
    name: str
    what: str
    jump: "Jump | None" = None
    gone: Mapping[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        gone = f"; {', '.join(self.gone)}: NaN from then on" if self.gone else ""
        return f"{self.time:.6g} s: '{self.name}' {self.what}" + (f"; {self.jump}" if self.jump else "") + gone

    def to_mapping(self) -> dict[str, Any]:
        """Strings and numbers only."""
        return asdict(self)

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, Any]) -> "Occurrence":
        given = dict(mapping)
        return cls(**given | {"jump": None if given["jump"] is None else analyze.impulse.Jump(**given["jump"])})


@dataclass(frozen=True)
class Trajectory:
    """Sampled states and inputs of one run or of a batch."""
    model: Model
    t: Floats                                       # (samples,)
    x: Floats                                       # (batch, samples, nx)  states: see `state`
    u: Floats                                       # (batch, samples, controls)  in force: joint torques | motor torques | inputs
    batched: bool                                   # False: one run was asked for
    parameters: Mapping[str, Floats] | None         # changes of parameters, one for each member
    method: str
    dt: float | None
    steps: int
    rejected: int
    wall_time: float                                # s
    failure: str | None                             # why it ended early; None if it did not
    assembled: str | None = None                    # change of the given state by closing the loops
    events: tuple[tuple[Occurrence, ...], ...] = () # by run
    spans: tuple[tuple[tuple[float, Model], ...], ...] = ()     # by run: end time and active model of each span between events
    law_states: Floats = field(default_factory=lambda: np.zeros((0, 0, 0)))     # (batch, samples, n) of laws, integrated
    memory: dict[str, Any] | None = None            # data needed to resume: see `checkpoint`
    audited: bool = False                           # the last of law_states is the work of the inputs
    choice: str | None = None                       # why "auto" took this method
    stability: str | None = None                    # of fixed steps: how fast the system is, and the longest stable step
    accuracy: str | None = None                     # of fixed steps: an estimate of the error
    warnings: tuple[str, ...] = ()                  # issued
    lanes: Lanes | None = None                      # used by the run; None: by the number of runs

    @property
    def state(self) -> State:
        """The states with views of q, v, wheel speeds and orbit."""
        return self.model.state(self.x)

    @property
    def work(self) -> Floats:
        """(batch, samples): work of the inputs [J]; NaN if not integrated."""
        return self.law_states[..., -1] if self.audited else np.full(self.x.shape[:2], np.nan)

    @property
    def friction(self) -> Floats:
        """(batch, samples, frictions, 3): holding force or internal state, load of the joint, dissipated energy."""
        n = len(self.model.system.frictions)
        states = self.law_states if self.law_states.shape[2] else np.full((*self.x.shape[:2], 3*n), np.nan)
        return states[..., :3*n].reshape(*self.x.shape[:2], n, 3)

    @property
    def exhaust(self) -> Floats:
        """(batch, samples, 7), or empty: angular and linear momentum (world) and energy of all expelled propellant."""
        if not self.model.system.tanks:
            return np.zeros((*self.x.shape[:2], 0))
        first = run_states(self.model.system)
        found = self.law_states[..., first:first + EXHAUST]
        return found if found.shape[2] else np.full((*self.x.shape[:2], EXHAUST), np.nan)

    @property
    def base_pushed(self) -> bool:
        """Whether a controller or an input acted in a joint to the world or as an external wrench; modal forces are internal."""
        model, given = self.model, self.model.input_layout.view(self.u)
        tau, inputs = given.tau + given.ports @ model.port_torques[:, :model.nv], model.named_inputs(given.ports)
        roots = [(model.places[body.name][1], body.joint.n_v) for body in model.system.bodies.values() if body.parent is None]
        return (any(inputs[name].any() for name, port in model.system.inputs.items() if port.place is not None)
                or any(tau[..., at:at + n].any() for at, n in roots))

    def part(self, samples: Any, **changes: Any) -> "Trajectory":
        """Some of the samples: a slice or indices."""
        return replace(self, t=self.t[samples], x=self.x[:, samples], u=self.u[:, samples], law_states=self.law_states[:, samples],
                       **changes)


@dataclass(frozen=True)
class Sampling:
    """Samples at a fixed period from the start."""
    start: float
    period: float

    def between(self, after: float, until: float) -> Floats:
        """Samples after a time, up to another.

        >>> Sampling(1.0, 0.5).between(1.0, 2.2).tolist()
        [1.5, 2.0]
        """
        first, last = self._numbers(after, until)
        return np.asarray(self.start + np.arange(first, last + 1)*self.period, float)

    def _numbers(self, after: float, until: float) -> tuple[int, int]:
        """Numbers of the first and the last of them, from the start."""
        first = 0 if after < self.start else int(np.floor((after - self.start)/self.period*(1.0 + 1e-12) + 1e-9)) + 1
        return first, int(np.floor((until - self.start)/self.period*(1.0 + 1e-12)))

    def count(self, after: float, until: float) -> int:
        """The number of samples, without creating them."""
        first, last = self._numbers(after, until)
        return max(0, last + 1 - first)

    def due(self, t: float) -> float | None:
        """The sample time equal to t except for rounding; None if t is not a sample."""
        n = (t - self.start)/self.period
        return self.start + float(np.rint(n))*self.period if abs(n - np.rint(n)) <= 1e-9 else None

    def times(self, until: float, after: float = -np.inf) -> Floats:
        """Samples after a time up to the end, and the end itself.

        >>> Sampling(1.0, 0.5).times(2.2).tolist()
        [1.0, 1.5, 2.0, 2.2]
        """
        found = self.between(after, until)
        if after > until - 1e-9*self.period:
            return found[:0]
        return np.append(found, until) if not len(found) or until - found[-1] > 1e-9*self.period else np.append(found[:-1], until)


def choose_sampling(start: float, until: float, sample_rate: float | None, step: float | None) -> Sampling:
    """Samples at a rate; by default about a hundred, at multiples of a fixed step if there is one."""
    span = until - start
    if sample_rate is not None:
        period = 1.0/positive("sample_rate", sample_rate, "samples a second")
        check_room(span/period, f"until is {until:g} s and sample_rate {sample_rate:g}/s: {span/period:.3g} samples; take fewer")
        return Sampling(start, period)
    steps = DEFAULT_SAMPLES if step is None else max(1, int(np.ceil(span/step*(1.0 - 1e-9))))
    return Sampling(start, span/DEFAULT_SAMPLES if step is None else min(step*int(np.ceil(steps/DEFAULT_SAMPLES)), span))


def number_of(value: Any) -> float | None:
    """float(value); None if that fails, and for strings such as "1e3"."""
    try:
        return None if isinstance(value, str | bytes) else float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def moment(name: str, value: object) -> float:
    """A time: a finite number; raises otherwise."""
    number = number_of(value)
    if number is None or not np.isfinite(number):
        raise StateError(f"{name} is {shown(value)}; give a time in seconds, a finite number")
    return number


def check_clock(name: str, t: float, dt: float | None) -> None:
    """Raise for times so large that steps are not resolved by floating-point numbers.

    >>> check_clock("until", 1e15, 1e-3)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    bough.errors.StateError: until is 1e+15 s: numbers there are 0.125 s apart, too coarse for dt = 0.001 s; take a longer dt, ...
    """
    apart = float(np.spacing(abs(t)))
    if dt is not None and dt < 100.0*apart:
        raise StateError(f"{name} is {t:g} s: numbers there are {apart:.3g} s apart, too coarse for dt = {dt:g} s; take a longer "
                         "dt, or times nearer to 0")


def positive(name: str, value: object, what: str) -> float:
    """A finite number greater than 0; raises otherwise."""
    number = number_of(value)
    if number is None:
        raise StateError(f"{name} is {shown(value)}; give {what}, a number greater than 0")
    if not (np.isfinite(number) and number > 0.0):
        raise StateError(f"{name} is {value}; give {what}, greater than 0")
    return number


def check_room(numbers: float, what: str) -> None:
    """Raise if so many numbers do not fit into the memory of this machine."""
    try:
        memory = os.sysconf("SC_PAGE_SIZE")*os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):                           # not available on all systems
        memory = 2**36
    if 8.0*numbers > memory:
        raise StateError(f"{what} ({8e-9*numbers:.3g} GB of numbers, and this machine has {1e-9*memory:.3g} GB)")
