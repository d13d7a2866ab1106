"""Step-by-step simulation in the user's own loop: a model, its current state, inputs and outputs."""
from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import nullcontext
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bough.analyze.signals import input_entries
from bough.compile.coordinates import member_of
from bough.compile.kernel_calls import direct, lanes_for, linked
from bough.compile.layout import Floats, State
from bough.describe import System
from bough.describe.numeric import shown
from bough.errors import BoughError, SimulationError, StateError, nearest, similar
from bough.integrate.checkpoint import recall, remember
from bough.integrate.compiled import loops
from bough.integrate.compiled.loops import BEGIN, SAME, STOP
from bough.integrate.integration import Integration, law_starts, started
from bough.integrate.methods import FIXED
from bough.integrate.run import STIFF, LawFailure
from bough.integrate.trajectory import Sampling, moment, positive
from bough.kernels.linker import FAILED, raise_failure
from bough.model import Model
from bough.model.compiler import as_model
from bough.progress import quiet, working
from bough.results import Result
from bough.results.netcdf import file_path, read_head, read_samples, read_system, sound
from bough.results.quantities import select_records
from bough.results.result import SavedResult
from bough.results.stream import Parts, Store, parts_of, stream, streaming

START = ("q0", "v0", "wheels0", "orbit0", "tanks0")
OPTIONS = (*START, "laws", "control", "control_period", "seed", "rtol", "atol", "first_step",
           "max_step", "dynamics", "parameters", "stabilize", "hold")
MOST_STEPS = 2**53                  # in one call: floats count no further
AHEAD, MOST_AHEAD = 256, 10**5      # samples for which memory is reserved in advance


def check_known(call: str, given: Iterable[str], known: Sequence[str]) -> None:
    """Raise if one of the given options is unknown."""
    for name in given:
        if name not in known:
            raise StateError(f"{call}: there is no option '{name}'{similar(name, known)}; it takes {', '.join(known)}")


class PortValues(Mapping[str, Any]):
    """Values of ports by name, at the current time."""
    symbol, noun = "", ""

    def __init__(self, sim: Simulator, known: Mapping[str, Any]) -> None:
        self._sim, self._known = sim, known

    def _find(self, name: str) -> Any:
        if not isinstance(name, str) or name not in self._known:
            known = ", ".join(self._known) or f"none: declare it with System.{self.noun}"
            near = nearest(str(name), self._known) or f"; there are {known}"
            raise StateError(f"{self.symbol}: there is no {self.noun} '{name}'{near}")
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)

    def __repr__(self) -> str:
        ports = getattr(self._sim.model.system, f"{self.noun}s")
        return f"{self.noun.capitalize()}s({', '.join(f'{name}={self[name]}' for name in ports)})"


class InputValues(PortValues, MutableMapping[str, Any]):
    """Inputs by name: a value acts until it is set again; values set by laws are added."""
    symbol, noun = "u", "input"

    def __getitem__(self, name: str) -> Any:
        acting = np.concatenate([run.in_force(self._sim.t, run.shown_x) for run in self._sim._runs])
        return self._sim._shaped(acting[:, self._find(name)])

    def __setitem__(self, name: str, value: ArrayLike) -> None:
        sim, entries = self._sim, self._find(name)
        try:
            given = np.asarray(value, float)
            columns = given.reshape(-1, 1) if len(entries) == 1 and given.ndim == 1 else given
            rows = np.broadcast_to(columns, (sim.rows, len(entries)))
        except (TypeError, ValueError, OverflowError):
            wanted = f"{len(entries)} number{'s'*(len(entries) > 1)}" + ", or rows of them"*sim.batched
            raise StateError(f"u['{name}'] is {value!r}; give {wanted}") from None
        if not np.isfinite(rows).all():
            raise StateError(f"u['{name}'] is {value!r}; give finite numbers")
        sim._set_inputs(name, entries, rows)

    def __delitem__(self, name: str) -> None:
        self[name] = np.zeros(len(self._find(name)))


class OutputValues(PortValues):
    """Outputs by name, at the current time."""
    symbol, noun = "y", "output"

    def __getitem__(self, name: str) -> Any:
        return self._sim._output(self._find(name).name)


class Simulator:
    """Step-by-step simulation of a model in the caller's own loop.

    Parameters
    ----------
    model : Model or System
    method, dt
        As in `simulate`; the defaults are those of the system's settings.
    t0 : float
        The initial time [s].
    sample_rate : float, optional
        Samples per second in `result()`; by default, every step. With 0, only the initial state is recorded.
    record : str or iterable of str, optional
        The quantities in `result()`; see `simulate`.
    **options
        As in `simulate`: the initial state q0, v0, wheels0, orbit0, tanks0, where a leading axis makes a batch whose states go
        through SIMD lanes; laws, control, control_period, seed; rtol, atol, first_step, max_step, dynamics, parameters,
        stabilize, hold.

    Attributes
    ----------
    t : float
        The time [s].
    state : State
        The current q, v, wheels and orbit.
    u, y : mapping
        Inputs, which can be set, and outputs, by name.

    Examples
    --------
    >>> import bough
    >>> s = bough.System("pendulum", gravity=(0, 0, -9.81))
    >>> bob = s.body("bob", joint=bough.Revolute("y"), mass=2.0, com=(0, 0, -1))
    >>> motor = s.input("motor", coordinate="bob.ry")
    >>> sim = bough.Simulator(s, method="rk4", dt=1e-3)
    >>> sim.u["motor"] = 5.0
    >>> sim.step(100)
    >>> sim.advance(until=0.5)
    >>> print(f"{sim.t:.3f} s: {sim.state.q[0]:.6f} rad")
    0.500 s: 0.253779 rad
    """

    def __init__(self, model: Model | System, *, method: str | None = None, dt: float | None = None, t0: float = 0.0,
                 sample_rate: float | None = None, record: Any = None, **options: Any) -> None:
        check_known("Simulator", options, OPTIONS)
        compiled = as_model(model)
        settings = compiled.system.settings
        method = method if method is not None else settings.method if settings is not None else "rk4"
        if dt is None and settings is not None and method in (*FIXED, "auto"):
            dt = settings.dt
        self.model, self._record = compiled, record
        audit = sample_rate != 0 and "energy" in select_records(record, compiled.system)     # any input may be set later
        self._options = {"method": method, "dt": dt, "t0": t0, "audit": audit} | options
        if sample_rate is None:
            self._period = dt                               # of methods with fixed steps
        else:
            self._period = np.inf if sample_rate == 0 else 1.0/positive("sample_rate", sample_rate, "samples a second, or 0")
        self._begin(self._anew())

    def _anew(self) -> Integration:
        start, period = self._options["t0"], self._period
        return Integration(self.model, **self._options, sampling=None if period is None else Sampling(start, period))

    @classmethod
    def _resumed(cls, model: Model, integration: Integration, record: Any) -> Simulator:
        """The simulator of a resumed integration."""
        sim = cls.__new__(cls)
        sim.model, sim._record = model, record
        sim._options = {key: value for key, value in integration.options.items() if value is not None}
        sim._period = None if integration.sampling is None else integration.sampling.period
        sim._begin(integration)
        return sim

    def _begin(self, integration: Integration) -> None:
        self._integration, self._runs = integration, integration.runs
        self.batched, self.rows = integration.batched, sum(len(run.x) for run in self._runs)
        self.method, self.dt = integration.plan.method, integration.plan.dt
        self._sampling = integration.sampling
        self._limit = self._at = 0                                  # steps from the start: the end of the fast path
        self.u, self.y = InputValues(self, input_entries(self.model)), OutputValues(self, self.model.system.outputs)
        self._measured: tuple[Any, dict[str, Any]] = (None, {})
        self._store: Store | None = None                            # on disk: where samples go

    # ---- stepping ---------------------------------------------------------------------------------------------------
    @property
    def t(self) -> float:
        """The time [s]."""
        return self._integration.start + self._at*self.dt if self._limit else min(run.shown for run in self._runs)   # type: ignore[operator]

    def step(self, n: int = 1) -> None:
        """Advance by n steps of the method. If the motion diverges, a SimulationError is raised; its `result` has the samples."""
        if n.__class__ is int and 0 < n <= self._limit - self._at:
            self._fast_step(n)
            return
        if not isinstance(n, int | np.integer) or isinstance(n, bool) or not 1 <= n <= MOST_STEPS:
            raise StateError(f"step: n is {shown(n)}; give a number of steps, 1 or more")
        if self.method in STIFF:
            raise StateError(f"step: SciPy's '{self.method}' keeps its steps to itself; use advance(until=...), or rk4, "
                             "euler-cromer, dopri5, or an implicit method: imex2, imex4, imex43")
        self._leave_fast_path()
        if self.dt is None:
            self._adaptive_steps(n)
            return
        self._enter_fast_path(n)
        if self._at + n <= self._limit:
            self._fast_step(n)
        else:
            self._leave_fast_path()
            start = self._integration.start
            self._go_to(float(start + (np.floor((self.t - start)/self.dt*(1.0 + SAME)) + n)*self.dt))

    def advance(self, until: float) -> None:
        """Advance to a time [s]; a step or law period that is interrupted there continues later as if nothing had happened."""
        self._leave_fast_path()
        if not moment("until", until) > self.t:
            raise StateError(f"advance: until is {until!r}, and it is t = {self.t:.6g} s already; give a later time")
        self._go_to(float(until))

    def _go_to(self, until: float) -> None:
        self._start()
        self._integration.look_ahead(until)
        self._integration.go_to(until)
        self._check()

    def _start(self) -> None:
        """Record the first sample, and evaluate laws and events at the start."""
        for run in self._runs:
            if not run.begun:
                run.extend(np.array([run.start]))
                run.begin()

    def _adaptive_steps(self, n: int) -> None:
        if len(self._runs[0].x) > 1 or self._sampling is not None:
            why = "samples are taken by rate, not by step," if self._sampling else "the states of a batch have steps of their own"
            raise StateError(f"step: {why} with '{self.method}'; use advance(until=...), or rk4")
        self._start()
        for run in self._runs:
            for _ in range(n):
                run.budget = run.steps + 1
                while run.steps < run.budget and not run.failure:
                    self._integration.advance(np.inf)
                run.budget = None
                run.extend(np.array([run.t]))
                run.in_force(run.t, run.x)
                run.record(run.done, slice(None), run.x)
        self._check()

    def _check(self) -> None:
        failure = self._integration.failure
        if failure:
            raise SimulationError(f"system '{self.model.system.name}': {failure}", self._recorded())

    # ---- the fast path: fixed steps without laws, events or samples of the caller between them ----------------------------
    def _fast_step(self, n: int) -> None:
        """One call of the compiled loop."""
        grid, at = self._grid, self._at + n
        grid[0, BEGIN], grid[0, STOP] = self._at, at
        stopped = self._kernel()
        if FAILED:
            raise_failure()
        self._at = at
        if stopped:
            self._leave_fast_path()
            self._check()

    def _enter_fast_path(self, n: int) -> None:
        """Prepare steps that are one call of the compiled loop each, if nothing happens between them."""
        run, start, dt = self._runs[0], self._integration.start, self.dt or 0.0
        at = int(np.rint((run.t - start)/dt))
        inside = run.t != start + at*dt or run.shown_x is not run.x
        projected = self._integration.plan.projects and self.method == "euler-cromer"
        if not run.begun or run.handler is not None or inside or projected or self._integration.lanes is not None:
            return
        try:
            run.prepare()
        except LawFailure as failure:
            run.failure = str(failure)
            self._check()
        stop, period = run.next_stop(), dt if self._sampling is None else self._sampling.period
        ahead = max(n, int(min(MOST_STEPS, max(AHEAD, min(run.done, MOST_AHEAD))*max(period/dt, 1.0))))
        last = at + ahead if stop == np.inf else min(at + ahead, int(np.floor((stop - start)/dt*(1.0 - SAME))))
        if last < at + n:
            return
        if self._sampling is not None:
            run.extend(self._sampling.between(run.last_sample, start + last*dt))
        lanes = lanes_for(len(run.x))
        run.move_in(lanes)
        model, stepper, rows, ws = run.arguments(lanes)
        self._grid, (kernel, carry) = np.array([[start, dt, at, at]], float), run.fixed_kernel
        self._kernel = direct(partial(kernel, *linked(*model, stepper, self._grid, run.samples, *carry, rows, ws)))
        self._at, self._limit = at, last
        run.clock[:loops.RESIDENT] = run.done, np.inf, run.t

    def _leave_fast_path(self) -> None:
        """Update the run with the steps taken on the fast path."""
        if self._limit:
            run = self._runs[0]
            t = float(run.clock[loops.REACHED])
            run.steps += int(np.rint((t - run.t)/(self.dt or 1.0)))
            run.t = run.shown = t
            run.done, self._limit = int(run.clock[loops.NEXT_SAMPLE]), 0
            run.move_out()
            run.samples = run.samples[:run.done]
            run.note_failure()

    # ---- state, inputs, outputs --------------------------------------------------------------------------------------
    @property
    def x(self) -> Floats:
        """(rows, nx) states at the current time."""
        found = self._runs[0].shown_x if len(self._runs) == 1 else np.concatenate([run.shown_x for run in self._runs])
        return np.array(found[:, :self.model.layout.nx])

    @property
    def state(self) -> State:
        """q, v, wheels and orbit at the current time; for a batch, rows of them."""
        x = self.x
        return self.model.state(x if self.batched else x[0])

    def _shaped(self, values: Floats) -> Any:
        """Rows (rows, size) as the user sees them: scalars if the size is 1."""
        found = values[:, 0] if values.shape[1] == 1 else values
        return found if self.batched else (found[0].copy() if found.ndim > 1 else float(found[0]))

    def _set_inputs(self, name: str, entries: list[int], values: Floats) -> None:
        at = 0
        for run in self._runs:
            if run.laws.late & set(entries):
                raise StateError(f"u['{name}'] is set by a compiled law at every stage; give the system another input")
            n = len(run.x)
            if not self._limit:
                self._settle(run)
            run.laws.base[:, entries] = values[at:at + n]
            run.laws.put(run.u)
            run.forget()
            at += n
        self._measured = (None, {})

    def _settle(self, run: Any) -> None:
        """End a step at the present time, so that new inputs act from here on."""
        if run.shown_x is not run.x:
            run.x[:], run.t, run.shown_x = run.shown_x, run.shown, run.x
            run.carry[:, loops.TIME] = run.t
        run.forget()

    def _output(self, name: str) -> Any:
        if self._measured[0] != self.t:
            self._measured = (self.t, {})
        if name not in self._measured[1]:
            self._measured[1].update(self._measure([name]))
        return self._measured[1][name]

    def _measure(self, names: Sequence[str]) -> dict[str, Any]:
        found = [run.measure(names, self.t, run.shown_x) for run in self._runs]
        return {name: self._shaped(np.concatenate([each[name] for each in found])) for name in names}

    # ---- results -----------------------------------------------------------------------------------------------------
    def result(self) -> Result:
        """The result recorded so far."""
        if self._store is not None:
            raise StateError(f"result: samples before t = {self.t:.6g} s are on disk only; finish(...) gives all of them, in "
                             f"{self._store.path}")
        return self._recorded()

    def _recorded(self) -> Result:
        """The part of the result that is in memory."""
        self._leave_fast_path()
        self._start()
        return Result(self._integration.trajectory(), self._record)

    def finish(self, until: float | None = None, *, progress: bool = True) -> Result | SavedResult:
        """Advance to the end, record a sample there, and return the result; with save_to of `bough.resume`, the result on disk.

        Parameters
        ----------
        until : float, optional
            The end time [s]; for a resumed run (`bough.resume`), the default is the planned end.
        progress : bool
            Whether to show a progress bar.
        """
        self._leave_fast_path()
        end = self._integration.end if until is None else until
        gathers = self._store is not None and end == self.t                     # parts are not yet merged into one file
        if end is None or not (end > self.t or gathers):
            planned = "there is no end planned" if end is None else f"until is {end:g} s"
            raise StateError(f"finish: {planned}, and it is t = {self.t:.6g} s; give a later time, until=...")
        self._start()
        with quiet(not progress), working(self.model.system.name) if progress else nullcontext() as bar:
            if self._store is not None:
                return self._stream(end, bar)
            self._integration.finish(end, bar)
        if not self._runs[0].interrupted:
            self._check()
        return self.result()

    def _stream(self, until: float, bar: Any) -> SavedResult:
        """Advance to the end, with samples on disk."""
        assert self._store is not None
        parts, controlled = self._store.parts(), bool(self._runs[0].laws.names)
        names = select_records(self._record, self.model.whole, controlled=controlled)
        return stream(self._integration, parts, until, names, self._integration.checkpoint or 60.0, bar)

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the recorded samples and everything needed to resume; `bough.resume` reads the file."""
        return self.result().save(path)

    def reset(self, **options: Any) -> None:
        """Return to the start; arguments (q0, v0, wheels0, orbit0, tanks0, t0, seed, parameters) replace those given to the
        simulator.

        Inputs are reset to zero, laws and events restart, and samples are dropped."""
        check_known("reset", options, (*START, "t0", "seed", "parameters"))
        before, self._options = self._options, self._options | options
        try:
            self._begin(self._anew())
        except BoughError:                                          # a failed reset changes nothing
            self._options = before
            raise

    # ---- snapshots and restarts ----------------------------------------------------------------
    def snapshot(self) -> dict[str, Any]:
        """Everything needed to return here with `restore`, except the samples: numbers and strings, which JSON can hold."""
        self._leave_fast_path()
        return remember(self._runs)

    def restore(self, snapshot: Mapping[str, Any]) -> None:
        """Return to the state of a `snapshot`, bit for bit; later samples are dropped."""
        self._leave_fast_path()
        if any(kept["done"] > run.done for run, kept in zip(self._runs, snapshot["runs"], strict=True)):
            raise StateError("restore: the snapshot has more samples than there are now; with samples one can only go back "
                             "(sample_rate=0 records none)")
        recall(self._runs, snapshot)
        for run in self._runs:
            run.samples, run.failure = run.samples[:run.done], None
        self._measured = (None, {})

    @property
    def diverged(self) -> Any:
        """(rows,) whether each state has become non-finite."""
        return np.concatenate([~np.isnan(run.failed[:, 0]) for run in self._runs])

    @property
    def times(self) -> Floats:
        """(rows,) the time of each state [s]: `t`, except for those restarted at another time."""
        return np.concatenate([self.t + run.ahead[:, 0] for run in self._runs])

    def restart(self, rows: ArrayLike, *, x: ArrayLike | None = None, t0: float | None = None, **start: Any) -> None:
        """Reset some states of a batch while the others continue; their inputs are reset to zero.

        Parameters
        ----------
        rows : array_like of int or bool
            The states to reset.
        x : array_like, optional
            Rows of states obtained earlier (see `x`).
        t0 : float, optional
            The time at which they restart [s]. They then have their own clock (see `times`), which laws, time tables and motions
            use; only with fixed steps and without recording (sample_rate=0). By default they keep their time.
        **start
            Otherwise q0, v0, wheels0, orbit0, tanks0, for all of these rows or one row each; the defaults are those of the
            description.
        """
        run, rows = self._runs[0], np.atleast_1d(np.asarray(rows))
        check_known("restart", start, START)
        if run.handler is not None or run.laws.sampled:
            what = "events or stops" if run.handler is not None else "laws with sampling periods"
            raise StateError(f"restart: the system has {what}, which begin anew for all states only; use reset(...)")
        if t0 is not None:
            self._set_clock(run, rows, t0)
        if not self._limit:
            self._settle(run)
        if x is None:
            same = {name: self._options.get(name, ()) for name in ("hold", "laws")}
            begin = self.t if t0 is None else t0
            own = member_of(self._options.get("parameters"), rows) or None
            x = started(run.model, begin, same | start | {"parameters": own})[0]
        run.x[rows, :np.shape(x)[1]] = x
        run.x[rows, self.model.layout.nx:] = 0.0
        run.x[rows, run.model.layout.laws] = law_starts(self._options)
        run.failed[rows], run.laws.base[rows] = np.nan, 0.0
        run.failure = None if np.isnan(run.failed).all() else run.failure
        run.laws.put(run.u)
        run.forget()
        self._measured = (None, {})

    def _set_clock(self, run: Any, rows: Any, t0: float) -> None:
        """Let some states restart at their own time, if steps from there end at all discontinuities of loads and motions."""
        if self.dt is None or self._period != np.inf:
            what = f"the method is '{self.method}'" if self.dt is None else "samples, which have one time, are recorded"
            raise StateError(f"restart: t0 is {t0!r}, but {what}; use fixed steps and sample_rate=0, or leave it out")
        if not (isinstance(t0, int | float | np.number) and np.isfinite(t0)):
            raise StateError(f"restart: t0 is {t0!r}; give a finite number of seconds")
        run.share_no_stops(t0)
        run.ahead[rows] = t0 - self.t

    def realtime(self, until: float, *, period: float, speed: float = 1.0) -> Iterator[float]:
        """Advance in real time: each period of simulated time takes period/speed seconds of wall-clock time.

        Yields the time at the end of each period, when it is due; `lateness` lists how late each was [s].

        Parameters
        ----------
        until : float
            The end [s].
        period : float
            Seconds of simulated time between two yields.
        speed : float
            Simulated seconds per second.
        """
        until = moment("until", until)
        positive("period", period, "seconds")
        positive("speed", speed, "simulated seconds in a second")
        self.lateness: list[float] = []
        begin, first, n = time.perf_counter(), self.t, 0
        while self.t < until*(1.0 - SAME):
            n += 1
            self.advance(min(first + n*period, until))
            due = begin + (self.t - first)/speed
            while (left := due - time.perf_counter()) > 0.0:
                time.sleep(left if left < 2e-3 else left - 1e-3)
            self.lateness.append(time.perf_counter() - due)
            yield self.t


# ---- resuming runs from files -----------------------------------------------------------------------------------
def resume(path: str | PathLike[str], *, model: Model | System | None = None, laws: Sequence[Any] = (), control: Any = None,
           record: Any = None, save_to: str | PathLike[str] | None = None, checkpoint: float | None = None) -> Simulator:
    """Resume a run after its end, an interrupt, or a crash, bit for bit as if it had never stopped.

    Parameters
    ----------
    path : path
        A file from `Result.save` or `Simulator.save`, or an unfinished file of `simulate(save_to=...)`.
    model : Model or System, optional
        The system, which is checked against the file; by default, the one stored in the file.
    laws, control
        The control laws of the run, which a file cannot hold.
    record : optional
        The quantities in the result; see `simulate`.
    save_to : path, optional
        Continue streaming: `finish` writes samples to this NetCDF file (which may be the same one) part by part, so memory stays
        bounded regardless of their number; it returns the complete result as `bough.open_result` reads it.
    checkpoint : float, optional
        Seconds between checkpoints, with save_to; 60 by default.

    Returns
    -------
    Simulator
        At the time reached, with all samples; with save_to, earlier samples are on disk only.

    Examples
    --------
    >>> import bough, tempfile, pathlib
    >>> s = bough.System("pendulum", gravity=(0, 0, -9.81))
    >>> bob = s.body("bob", joint=bough.Revolute("y"), mass=2.0, com=(0, 0, -1))
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "run.nc"
    >>> _ = bough.simulate(s, q0=[0.1], until=1.0, dt=1e-3).save(file)
    >>> sim = bough.resume(file)
    >>> sim.advance(until=2.0)
    >>> float(sim.result().time[-1])
    2.0
    """
    file, streamed = file_path("path", path), streaming(save_to, checkpoint)
    parts = Parts(file)
    unfinished = parts.folder.is_dir()
    text, meshes = (parts.system, None) if unfinished else read_head(file)[:2]
    compiled = _same_model(file, model, text, meshes)
    if streamed is not None:
        samples = parts.last() if unfinished else deque(parts_of(file), maxlen=1).pop()
        memory = samples.pop("memory")
    elif unfinished:
        memory, samples = parts.whole()
    else:
        memory, samples = read_head(file)[2], next(read_samples(file))
    with sound(file):
        integration = Integration.resumed(compiled, memory, samples, laws, control)
    sim = Simulator._resumed(compiled, integration, record)
    if streamed is not None:
        sim._store, sim._integration.checkpoint = Store(streamed[0], file, text), streamed[1]
    return sim


def _same_model(file: Path, model: Model | System | None, text: str, meshes: str | None) -> Model:
    """The given model, if it agrees with the file; or the model of the file."""
    if model is None:
        return read_system(text, meshes).compile()
    given = as_model(model)
    if given.whole.to_yaml(exact=True) != text:
        held = read_system(text, meshes).name
        raise StateError(f"{file}: holds a run of system '{held}', and the one that is given ('{given.whole.name}') differs from "
                         "it; resume without naming a model, or start anew")
    return given
