"""The user owns the loop: a model, its state in time, its inputs and outputs."""
from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from contextlib import nullcontext
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bough.compile.batch import lanes_for, linked
from bough.compile.layout import Floats, State
from bough.describe import System
from bough.errors import SimulationError, StateError, nearest
from bough.integrate.checkpoint import recall, remember
from bough.integrate.compiled import loops
from bough.integrate.compiled.loops import SAME
from bough.integrate.compiled.stepping import FIXED
from bough.integrate.integration import Integration, law_starts, started
from bough.integrate.laws import input_entries
from bough.integrate.run import STIFF, LawFailure
from bough.integrate.start import member_of
from bough.integrate.trajectory import Sampling, positive
from bough.model import Model
from bough.progress import quiet, working
from bough.results import Result, open_result
from bough.results.netcdf import Resume, read_resume, read_system
from bough.results.quantities import select_records
from bough.results.result import SavedResult
from bough.results.stream import Parts

OPTIONS = ("q0", "v0", "wheels0", "orbit0", "laws", "control", "control_period", "seed", "rtol", "atol", "first_step", "max_step",
           "dynamics", "parameters", "stabilize", "hold")
AHEAD, MOST_AHEAD = 256, 10**5      # steps whose samples have room before they are taken


class InputValues(MutableMapping[str, Any]):
    """Inputs by name: what is set acts from now on, until it is set anew; what laws give is added."""

    def __init__(self, sim: Simulator) -> None:
        self._sim, self._entries = sim, input_entries(sim.model)

    def _entry(self, name: str) -> list[int]:
        if name not in self._entries:
            known = ", ".join(self._entries) or "none: declare it with System.input"
            raise StateError(f"u: there is no input '{name}'{nearest(str(name), self._entries) or f'; there are {known}'}")
        return self._entries[name]

    def __getitem__(self, name: str) -> Any:
        """What acts now."""
        acting = np.concatenate([run.in_force(self._sim.t, run.shown_x) for run in self._sim._runs])
        return self._sim._shaped(acting[:, self._entry(name)])

    def __setitem__(self, name: str, value: ArrayLike) -> None:
        sim, entries = self._sim, self._entry(name)
        try:
            given = np.asarray(value, float)
            columns = given.reshape(-1, 1) if len(entries) == 1 and given.ndim == 1 else given
            rows = np.broadcast_to(columns, (sim.rows, len(entries)))
        except (TypeError, ValueError):
            wanted = f"{len(entries)} number{'s'*(len(entries) > 1)}" + ", or rows of them"*sim.batched
            raise StateError(f"u['{name}'] is {value!r}; give {wanted}") from None
        if not np.isfinite(rows).all():
            raise StateError(f"u['{name}'] is {value!r}; give finite numbers")
        sim._set_inputs(name, entries, rows)

    def __delitem__(self, name: str) -> None:
        self[name] = np.zeros(len(self._entry(name)))

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __repr__(self) -> str:
        return f"Inputs({', '.join(f'{name}={self[name]}' for name in self._sim.model.system.inputs)})"


class OutputValues(Mapping[str, Any]):
    """Outputs by name, at the present time."""

    def __init__(self, sim: Simulator) -> None:
        self._sim = sim

    def __getitem__(self, name: str) -> Any:
        known = self._sim.model.system.outputs
        if name not in known:
            there = ", ".join(known) or "none: declare it with System.output"
            raise StateError(f"y: there is no output '{name}'{nearest(str(name), known) or f'; there are {there}'}")
        return self._sim._output(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._sim.model.system.outputs)

    def __len__(self) -> int:
        return len(self._sim.model.system.outputs)

    def __repr__(self) -> str:
        return f"Outputs({', '.join(f'{name}={self[name]}' for name in self)})"


class Simulator:
    """A model on its way through time, step by step.

    Parameters
    ----------
    model : Model or System
    method, dt
        As `simulate` takes them; those of the system's settings, if not given.
    t0 : float
        The initial time [s].
    sample_rate : float, optional
        Samples per second that `result()` has; every step, if not given. With 0 nothing is recorded but the start.
    record : str or iterable of str, optional
        What `result()` has of them; see `simulate`.
    **options
        As `simulate` takes them: the initial state q0, v0, wheels0, orbit0, of which a leading axis makes a batch whose states go
        in SIMD lanes; laws, control, control_period, seed; rtol, atol, first_step, max_step, dynamics, parameters, stabilize, hold.

    Attributes
    ----------
    t : float
        The time [s].
    state : State
        Its parts are q, v, wheels and orbit.
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
        for name in options:
            if name not in OPTIONS:
                raise StateError(f"Simulator: there is no option '{name}'{nearest(name, OPTIONS)}; it takes {', '.join(OPTIONS)}")
        compiled = model.compile() if isinstance(model, System) else model
        settings = compiled.system.settings
        method = method or (settings.method if settings is not None else "rk4")
        if dt is None and settings is not None and method in FIXED:
            dt = settings.dt
        self.model, self._record = compiled, record
        audit = sample_rate != 0 and "energy" in select_records(record, compiled.system)     # any input may be set later
        self._options = {"method": method, "dt": dt, "t0": t0, "audit": audit} | options
        if sample_rate is None:
            self._period = dt if method in FIXED else None
        else:
            self._period = np.inf if sample_rate == 0 else 1.0/positive("sample_rate", sample_rate, "samples a second, or 0")
        self._begin(self._anew())

    def _anew(self) -> Integration:
        start, period = self._options["t0"], self._period
        return Integration(self.model, **self._options, sampling=None if period is None else Sampling(start, period))

    @classmethod
    def _resumed(cls, model: Model, integration: Integration, record: Any) -> Simulator:
        """The simulator of an integration that goes on."""
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
        self._limit = self._at = 0                                  # steps, from the start: up to which the short way is open
        self.u, self.y = InputValues(self), OutputValues(self)
        self._measured: tuple[Any, dict[str, Any]] = (None, {})

    # ---- going on ---------------------------------------------------------------------------------------------------
    @property
    def t(self) -> float:
        """The time [s]."""
        return self._integration.start + self._at*self.dt if self._limit else min(run.shown for run in self._runs)   # type: ignore[operator]

    def step(self, n: int = 1) -> None:
        """Go on by n steps of the method.

        Raises
        ------
        SimulationError
            If the motion diverges; its `result` holds what was recorded.
        """
        if self._at + n <= self._limit and n > 0:
            self._short_step(n)
            return
        if not isinstance(n, int | np.integer) or n < 1:
            raise StateError(f"step: n is {n!r}; give a number of steps, 1 or more")
        if self.method in STIFF:
            raise StateError(f"step: SciPy's '{self.method}' keeps its steps to itself; use advance(until=...), or rk4, "
                             "euler-cromer, dopri5")
        self._leave_short_way()
        if self.dt is None:
            self._adaptive_steps(n)
            return
        self._enter_short_way(n)
        if self._at + n <= self._limit:
            self._short_step(n)
        else:
            self._leave_short_way()
            start = self._integration.start
            self._go_to(float(start + (np.floor((self.t - start)/self.dt*(1.0 + SAME)) + n)*self.dt))

    def advance(self, until: float) -> None:
        """Go on to a time [s]; what it is inside of, a step or a period of a law, goes on from there as if nothing had happened."""
        self._leave_short_way()
        if not until > self.t:
            raise StateError(f"advance: until is {until!r}, and it is t = {self.t:.6g} s already; give a later time")
        self._go_to(float(until))

    def _go_to(self, until: float) -> None:
        self._start()
        self._integration.go_to(until)
        self._check()

    def _start(self) -> None:
        """The first sample, and what laws and events say at the start."""
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
            raise SimulationError(f"system '{self.model.system.name}': {failure}", self.result())

    # ---- the short way: fixed steps without anything between them ----------------------------------------------------
    def _short_step(self, n: int) -> None:
        """One call of the compiled loop."""
        row, at = self._grid[0], self._at + n
        row[loops.BEGIN], row[loops.STOP] = self._at, at
        self._kernel(*self._arguments)
        self._at = at
        if self._clock[loops.REACHED] != row[loops.ORIGIN] + at*row[loops.LENGTH]:
            self._leave_short_way()
            self._check()

    def _enter_short_way(self, n: int) -> None:
        """Where nothing happens for some steps, a step is one call of the compiled loop."""
        run, start, dt = self._runs[0], self._integration.start, self.dt or 0.0
        at = int(np.rint((run.t - start)/dt))
        inside = run.t != start + at*dt or run.shown_x is not run.x
        if not run.begun or run.handler is not None or inside or self._project_samples():
            return
        try:
            run.prepare()
        except LawFailure as failure:
            run.failure = str(failure)
            self._check()
        stop, ahead = run.next_stop(), max(n, AHEAD, min(run.done, MOST_AHEAD))
        last = at + ahead if stop == np.inf else min(at + ahead, int(np.floor((stop - start)/dt*(1.0 - SAME))))
        if last < at + n:
            return
        if self._sampling is not None:
            run.extend(self._sampling.between(run.last_sample, start + last*dt))
        model, stepper, rows, ws = run.arguments(lanes_for(len(run.x)))
        self._grid, self._kernel = np.array([[start, dt, at, at]], float), loops.FIXED[run.resolved]
        self._arguments = linked(*model, stepper, self._grid, run.samples, rows, ws)
        self._clock, self._at, self._limit = run.clock, at, last
        self._clock[:] = run.done, np.inf, run.t

    def _project_samples(self) -> bool:
        return self._integration.plan.projects and self.method != "rk4"

    def _leave_short_way(self) -> None:
        """Tell the run how far it is."""
        if self._limit:
            run = self._runs[0]
            t = float(self._clock[loops.REACHED])
            run.steps += int(np.rint((t - run.t)/(self.dt or 1.0)))
            run.t = run.shown = t
            run.done, self._limit = int(self._clock[loops.NEXT_SAMPLE]), 0
            run.samples = run.samples[:run.done]
            run.note_failure()

    # ---- state, inputs, outputs --------------------------------------------------------------------------------------
    @property
    def x(self) -> Floats:
        """(rows, nx) states at the present time."""
        found = self._runs[0].shown_x if len(self._runs) == 1 else np.concatenate([run.shown_x for run in self._runs])
        return np.array(found[:, :self.model.layout.nx])

    @property
    def state(self) -> State:
        """q, v, wheels and orbit at the present time; of a batch, rows of them."""
        x = self.x
        return self.model.state(x if self.batched else x[0])

    def _shaped(self, values: Floats) -> Any:
        """Rows (rows, size) as a user sees them: a number where there is one."""
        found = values[:, 0] if values.shape[1] == 1 else values
        return found if self.batched else (found[0].copy() if found.ndim > 1 else float(found[0]))

    def _set_inputs(self, name: str, entries: list[int], values: Floats) -> None:
        at = 0
        for run in self._runs:
            if run.laws.late & set(entries):
                raise StateError(f"u['{name}'] is set by a compiled law at every stage; give the system another input")
            n, short = len(run.x), self._limit
            if not short:
                self._settle(run)
            run.laws.base[:, entries] = values[at:at + n]
            run.laws.put(run.u)
            at += n
        self._measured = (None, {})

    def _settle(self, run: Any) -> None:
        """What is set acts from the present time on: a step ends here."""
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
        """What was recorded so far."""
        self._leave_short_way()
        self._start()
        return Result(self._integration.trajectory(), self._record)

    def finish(self, until: float | None = None, *, progress: bool = True) -> Result:
        """On to the end, of which there is a sample too, and the result.

        Parameters
        ----------
        until : float, optional
            The end [s]; of a run that goes on (`bough.resume`), if not given, the one that was planned.
        progress : bool
            Whether to show a bar.
        """
        self._leave_short_way()
        end = self._integration.end if until is None else until
        if end is None or not end > self.t:
            planned = "there is no end planned" if end is None else f"until is {end:g} s"
            raise StateError(f"finish: {planned}, and it is t = {self.t:.6g} s; give a later time, until=...")
        self._start()
        with quiet(not progress), working(self.model.system.name) if progress else nullcontext() as bar:
            self._integration.finish(end, bar)
        if not self._runs[0].interrupted:
            self._check()
        return self.result()

    def save(self, path: str | PathLike[str]) -> Path:
        """Write what was recorded, and all that is needed to go on: `bough.resume` reads it."""
        return self.result().save(path)

    def reset(self, **options: Any) -> None:
        """Back to the start; what is given (q0, v0, wheels0, orbit0, t0, seed, parameters) replaces what the simulator was made
        with.

        Inputs are zero again, laws and events begin anew, samples are dropped."""
        known = ("q0", "v0", "wheels0", "orbit0", "t0", "seed", "parameters")
        for name in options:
            if name not in known:
                raise StateError(f"reset: there is no option '{name}'{nearest(name, known)}; it takes {', '.join(known)}")
        self._options |= options
        self._begin(self._anew())

    # ---- back to where it was, or some states elsewhere ----------------------------------------------------------------
    def snapshot(self) -> dict[str, Any]:
        """All that is needed to come back here with `restore`, but for the samples: numbers and texts, which JSON can hold."""
        self._leave_short_way()
        return remember(self._runs)

    def restore(self, snapshot: Mapping[str, Any]) -> None:
        """Back to where the simulator was at a `snapshot`, bit for bit; samples of what came after it are dropped."""
        self._leave_short_way()
        if any(kept["done"] > run.done for run, kept in zip(self._runs, snapshot["runs"], strict=True)):
            raise StateError("restore: the snapshot has more samples than there are now; with samples one can only go back "
                             "(sample_rate=0 records none)")
        recall(self._runs, snapshot)
        for run in self._runs:
            run.samples, run.failure = run.samples[:run.done], None
        self._measured = (None, {})

    @property
    def diverged(self) -> Any:
        """(rows,) whether each state has stopped being finite."""
        return np.concatenate([~np.isnan(run.failed[:, 0]) for run in self._runs])

    def restart(self, rows: ArrayLike, *, x: ArrayLike | None = None, **start: Any) -> None:
        """Put some states of a batch elsewhere, while time goes on; their inputs are zero again.

        Parameters
        ----------
        rows : array_like of int or bool
            Which.
        x : array_like, optional
            Rows of states that were found before (see `x`).
        **start
            Else q0, v0, wheels0, orbit0, for all of these rows or a row for each; those of the description, if not given.
        """
        run, rows, known = self._runs[0], np.atleast_1d(np.asarray(rows)), ("q0", "v0", "wheels0", "orbit0")
        for name in start:
            if name not in known:
                raise StateError(f"restart: there is no option '{name}'{nearest(name, known)}; it takes {', '.join(known)}")
        if run.handler is not None or run.laws.sampled:
            what = "events or stops" if run.handler is not None else "laws that are asked by the clock"
            raise StateError(f"restart: the system has {what}, which begin anew for all states only; use reset(...)")
        if not self._limit:
            self._settle(run)
        if x is None:
            same = {name: self._options.get(name, ()) for name in ("hold", "laws")}
            x = started(run.model, self.t, same | start | {"parameters": member_of(self._options.get("parameters"), rows)})[0]
        run.x[rows, :np.shape(x)[1]] = x
        run.x[rows, self.model.layout.nx:] = law_starts(self._options)
        run.failed[rows], run.laws.base[rows] = np.nan, 0.0
        run.failure = None if np.isnan(run.failed).all() else run.failure
        run.laws.put(run.u)
        self._measured = (None, {})

    def realtime(self, until: float, *, period: float, speed: float = 1.0) -> Iterator[float]:
        """Go on in step with the clock on the wall: each period of simulated time takes period/speed seconds.

        Yields the time after each period, when it is due; `lateness` holds by how much each was late [s].

        Parameters
        ----------
        until : float
            The end [s].
        period : float
            Seconds of simulated time between two yields.
        speed : float
            Simulated seconds in a second.
        """
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


# ---- runs that are kept on disk, and go on -----------------------------------------------------------------------------------
MOST_NUMBERS = 4_000_000            # of samples in memory, where they are streamed


def resume(path: str | PathLike[str], *, model: Model | System | None = None, laws: Sequence[Any] = (), control: Any = None,
           record: Any = None) -> Simulator:
    """Go on where a run ended, bit for bit as if nothing had happened: after its end, an interrupt, or a crash.

    Parameters
    ----------
    path : path
        A file of `Result.save`, `Simulator.save`, or one that `simulate(save_to=...)` did not finish.
    model : Model or System, optional
        What is simulated, to be checked against the file; by default that of the file.
    laws, control
        The laws of the run: a file cannot hold them.
    record : optional
        What the result has; see `simulate`.

    Returns
    -------
    Simulator
        At the time that was reached, with all samples.

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
    file = Path(path)
    parts = Parts(file)
    if parts.folder.is_dir():
        text, meshes, (memory, samples) = parts.system, None, parts.whole()
        kept = Resume(memory, samples)
    else:
        text, meshes, kept = read_resume(file)
    compiled = _same_model(file, model, text, meshes)
    return Simulator._resumed(compiled, Integration.resumed(compiled, kept.memory, kept.arrays, laws, control), record)


def _same_model(file: Path, model: Model | System | None, text: str, meshes: str | None) -> Model:
    """The model that is given, if it is that of the file; or the file's."""
    if model is None:
        return read_system(text, meshes).compile()
    given = model if isinstance(model, System) else model.system
    if given.to_yaml(exact=True) != text:
        held = read_system(text, meshes).name
        raise StateError(f"{file}: holds a run of system '{held}', and the one that is given ('{given.name}') differs from it; "
                         "resume without naming a model, or start anew")
    return model.compile() if isinstance(model, System) else model


def stream(integration: Integration, path: Path, until: float, record: tuple[str, ...], interval: float,
           progress: Any) -> SavedResult:
    """Run to the end in parts that go to disk, each of which takes so many seconds, or as much memory as is good."""
    positive("checkpoint", interval, "seconds between two checkpoints")
    parts, numbers = Parts(path), sum(run.x.size + run.u.size for run in integration.runs)
    parts.begin(integration.model.system.to_yaml(exact=True))
    period = integration.sampling.period if integration.sampling is not None else until - integration.start
    integration.end, t = until, integration.start
    length, longest = 16*period, max(1, MOST_NUMBERS//numbers)*period
    while t < until and not integration.failure:
        ahead, began = t + min(length, longest), time.perf_counter()
        t = until if ahead > until - 1e-6*period else ahead
        if t < until:
            integration.go_to(t, progress, until)
        else:
            integration.finish(until, progress)
        whole = integration.trajectory()
        parts.append(whole)
        integration.drop_samples()
        took = max(time.perf_counter() - began, 1e-6)
        length = float(np.clip(length*interval/took, period, 10.0*length))
    parts.merge(whole, record)
    result = open_result(path)
    if integration.failure and not integration.failure.startswith("interrupted"):
        name = integration.model.system.name
        raise SimulationError(f"system '{name}': {integration.failure} (what was recorded is in {path})", result)
    return result
