"""Integrate a model from an initial state."""
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from bough import analyze, compile as builders, integrate as optional
from bough.compile.coordinates import holdable, member_of, sticking_frictions, touching
from bough.compile.kernel_calls import APART, choosing
from bough.compile.layout import Floats
from bough.describe.numeric import shown
from bough.describe.settings import wrong_option, wrong_options
from bough.errors import StateError, StepWarning, similar
from bough.integrate import step_safety
from bough.integrate.advance import advance
from bough.integrate.automatic import choose_adaptive, choose_fixed, local_rates
from bough.integrate.compiled import loops
from bough.integrate.laws import Laws, continuous_states
from bough.integrate.methods import ADAPTIVE, FIXED, IMPLICIT
from bough.integrate.run import ATOL, RTOL, STIFF, Plan, Progress, Run
from bough.integrate.start import close_start, corrected, initial_states, member_model, stabilization, stabilized, starting_masses
from bough.integrate.trajectory import Sampling, Trajectory, check_clock, choose_sampling, moment, positive
from bough.kernels.lanes import FOUR, ONE, Lanes
from bough.model import Model
from bough.progress import Bar

if TYPE_CHECKING:
    from bough.integrate.event_handler import EventHandler

DYNAMICS = ("auto", *loops.FIXED)
METHODS = (*FIXED, *ADAPTIVE, *STIFF, "auto")
OPEN_GAP = 1e-6                     # m or rad: a loop that is open by more is not closed


class Integration:
    """The integration of a model: one run for all states of a batch or, with events, a run for each, since events occur at
    different times."""

    def __init__(self, model: Model, *, q0: ArrayLike | None = None, v0: ArrayLike | None = None, wheels0: ArrayLike | None = None,
                 orbit0: ArrayLike | None = None, tanks0: ArrayLike | None = None, t0: float = 0.0, dt: float | None = None,
                 method: str = "rk4",
                 rtol: float | None = None, atol: float | None = None, first_step: float | None = None,
                 max_step: float | None = None, dynamics: str = "auto", laws: Sequence[Any] = (), control: Any = None,
                 control_period: float | None = None, seed: int = 0, parameters: Mapping[str, ArrayLike] | None = None,
                 stabilize: str | float | None = None,
                 hold: Sequence[str] = (), audit: bool = False, sampling: Sampling | None = None, x: Floats | None = None,
                 batched: bool = True, numbers: Sequence[int] | None = None, pars: Floats | None = None,
                 reproducible: bool = False, teeth: Sequence[str] | None = None) -> None:
        """Without a sampling, only the ends of the requested intervals are recorded. `audit`: also integrate the work of the
        inputs. `x`: rows of valid states to resume from. `numbers`: numbers of the rows, as seeds of their noise, if they are part
        of a larger set. `pars`: table parameters for `parameters`, if known. `reproducible`: the bits of a run do not depend on the
        number of runs next to it. `teeth`: couplings whose elastic teeth are watched, if known."""
        steps = {"dt": dt, "rtol": rtol, "atol": atol, "first_step": first_step, "max_step": max_step}
        check_options(method, dynamics, steps)
        check_kinds(laws, reproducible)
        check_clock("t0", t0 := moment("t0", t0), dt)
        self.choice: str | None = None
        start: dict[str, Any] = {"q0": q0, "v0": v0, "wheels0": wheels0, "orbit0": orbit0, "tanks0": tanks0, "hold": hold}
        if method == "auto":
            given = {} if reproducible else (start if x is None else {"x": x}) | {"parameters": parameters}
            trial = self.trial(model, given | {"laws": laws, "control": control, "control_period": control_period, "t0": t0})
            method, self.choice = choose_adaptive(trial, rtol or RTOL) if dt is None else choose_fixed(trial, dt)
        self.model, self.parameters, step = model, parameters, dt if method in FIXED else None
        check_friction(model, method, dynamics)
        chosen, every = stabilization(model, method, stabilize, hold), [*laws, control]
        extended = model.with_law_states(len(continuous_states(every)) + audit)
        self.events = switches(model, starting_masses(model, tanks0) if x is None else extended.state(x).tanks)
        if pars is None:
            pars = extended.tables.pars if parameters is None or self.events else extended.parameter_tables(parameters)
        self.batched, self.assembled, self.audit = batched, None, audit
        if x is None:
            x, self.batched, self.assembled = started(extended, t0, start | {
                "laws": every, "audit": audit, "parameters": parameters})
        if teeth is None and step is not None and model.system.couplings and optional.backlash.watchable(model.system):
            first = initial_states(extended, t0, *[None]*6)[0][0] if reproducible else x[0]
            teeth = optional.backlash.teeth_to_watch(extended, first, step)
        self.teeth, self.events = tuple(teeth or ()), self.events or bool(teeth)
        listed = None if parameters is None else {name: np.asarray(each, float).tolist() for name, each in parameters.items()}
        self.options: dict[str, Any] = {"t0": float(t0), "method": method, **steps, "dynamics": dynamics, "seed": seed,
                                        "stabilize": stabilize, "audit": audit, "control_period": control_period,
                                        "parameters": listed}
        self.options |= {"reproducible": True} if reproducible else {}
        self.options |= {"teeth": list(self.teeth)} if self.teeth else {}
        compiled = (FIXED | ADAPTIVE).get(method)
        tableau = np.zeros(0) if compiled is None else corrected(compiled(), chosen, speeds=method != "euler-cromer")
        self.plan = Plan(method, None if step is None else float(step), (rtol or RTOL, atol or ATOL), first_step,
                         max_step or np.inf, dynamics, tableau, chosen == "projection" and method not in STIFF)
        self.start, self.sampling = float(t0), sampling
        self.lanes = None if not reproducible else APART if step is not None and not self.events else ONE    # None: as many as runs
        self.end: float | None = None                                   # planned end time
        self.checks: list[step_safety.StepCheck] = []
        self.unresolved: bool | None = None                             # whether steps are too long for springs or modes
        self.errors: list[step_safety.ErrorEstimate] = []
        self.warned: list[str] = []
        self.checkpoint: float | None = None                            # s between checkpoints, if samples are streamed
        if self.events and len(x) > 1 and control is not None and not hasattr(control, "address"):
            raise StateError("a batch with events, or stops, and a Python controller; simulate its members one by one, or use a "
                             "compiled controller (bough.controller)")
        if parameters is not None and not self.events:
            analyze.parameter_rows.check_in_tables(model, parameters)

        def stable(now: Model, own: Floats) -> Floats:
            return stabilized(now, own, chosen, method, step)

        def run(base: Model, own: Floats, rows: slice, changed: Any, handler: "EventHandler | None" = None) -> Run:
            n, members = len(x[rows]), range(len(x))[rows]
            numbered = members if numbers is None else numbers[rows]
            together = self.batched and not self.events and not reproducible and numbers is None
            given = Laws(base, laws, control, numbered, together, self.start, self.plan.dt, control_period, seed, audit)
            return Run(base, self.plan, own, x[rows], np.zeros((n, base.input_layout.nu)), given, self.start, np.zeros(0), handler,
                       turn=(members[0], len(x)) if self.events else (0, 1), changed=changed,
                       parameters=None if handler is None else lambda now: stable(now, now.tables.pars))

        def alone(i: int) -> Run:
            """A run with events, on a model with its own parameters, which may affect events and stops."""
            own = extended if parameters is None else member_model(model, parameters, i).with_law_states(extended.layout.law_states)
            known = pars if own is extended else own.tables.pars
            handler = optional.event_handler.EventHandler(own, teeth=self.teeth)
            return run(own, stable(own, known), slice(i, i + 1), None, handler)

        every_member = None if parameters is None else [member_of(parameters, i) for i in range(len(x))]
        self.runs = [alone(i) for i in range(len(x))] if self.events else [
            run(extended, stable(extended, pars), slice(None), every_member)]

    @classmethod
    def trial(cls, model: Model, options: Mapping[str, Any]) -> Callable[[str], Run]:
        """A function that returns, for a method, a run at its start."""
        return lambda method: cls(model, method=method, dt=1e-3, **options).runs[0]

    def advance(self, until: float, progress: Progress | None = None, goal: float | None = None) -> None:
        """Integrate and record up to a time; failures are noted.  `goal`: the final time, for the progress."""
        goal = until if goal is None else goal
        if isinstance(progress, Bar):
            progress.seconds = (goal - self.start)*sum(len(run.x) for run in self.runs)
        with choosing(self.lanes):
            for run in self.runs:
                run.progress, run.goal = progress, goal
                with choosing(self.lanes or self._lanes_of_events(run)):
                    advance(run, until)
                if run.failure and "diverged" in run.failure:
                    run.failure += step_safety.explain_divergence(run)
                if run.interrupted:
                    break

    def _lanes_of_events(self, run: Run) -> Lanes | None:
        """One lane also for the few states that events and their conditions evaluate, if the steps take one: its kernels are
        compiled.  SciPy's solvers evaluate many states for their Jacobians."""
        return ONE if len(run.x) < FOUR.width and self.plan.method not in STIFF else None

    def go_to(self, until: float, progress: Progress | None = None, goal: float | None = None) -> None:
        """Advance to a time, with all samples up to it."""
        for run in self.runs:
            self._make_ready(run, until)
            run.extend(np.array([until]) if self.sampling is None else self.sampling.between(run.last_sample, until))
        self.advance(until, progress, goal)

    def _make_ready(self, run: Run, until: float) -> None:
        """Check that the samples up to a time fit into memory."""
        self._drop_end(run)
        if self.sampling is not None:
            run.check_samples(run.done + self.sampling.count(run.last_sample, until))

    def _drop_end(self, run: Run) -> None:
        """Drop the last sample if it was only the end of an earlier interval."""
        if self.sampling is None or run.done < (2 if run.dropped == -np.inf else 1):
            return
        due = self.sampling.due(run.last_sample)
        if due is not None:
            run.samples[run.done - 1] = due
        else:
            if run.shown_x is not run.x:
                run.shown_x = run.shown_x.copy()
            run.done -= 1
            run.carry[:, loops.NEXT] = run.done

    def drop_samples(self) -> None:
        """Drop the recorded samples, which are stored elsewhere."""
        for run in self.runs:
            run.drop_samples()

    def finish(self, until: float, progress: Progress | None = None) -> None:
        """Advance to the end, and record a sample there."""
        self.end = until
        for run in self.runs:
            self._make_ready(run, until)
            run.extend(np.array([until]) if self.sampling is None else self.sampling.times(until, run.last_sample))
        self.look_ahead(until)
        with choosing(self.lanes):
            self.advance(until, progress)
            self.check_after()

    def look_ahead(self, until: float) -> None:
        """Warn, once, of fixed steps that are too long for the system."""
        if self.plan.dt is None or self.checks:
            return
        if self.unresolved is None:
            self.unresolved = bool((local_rates(self.model)*self.plan.dt > step_safety.UNRESOLVED).any())
        with choosing(self.lanes):
            for run in self.runs:
                if step_safety.worth_checking(run, (until - run.t)/self.plan.dt) or (self.unresolved and not run.implicit):
                    self.checks.append(step_safety.check_step(run, dt=run.plan.dt))
                    text = self.checks[-1].warning(self.plan.dt)
                    if text:
                        self.warn(text)
                        return

    def check_after(self) -> None:
        """Warn of fixed steps that were stable, but wrong."""
        for run in self.runs:
            checked = step_safety.worth_checking(run, run.steps) or self.unresolved
            if checked and not run.failure and (error := step_safety.estimate_error(run)) is not None:
                self.errors.append(error)
                if error.share > step_safety.WRONG:
                    self.warn(f"the run is stable, but its error is {error}; take a shorter dt or a method of higher order, and "
                              "compare")
        if text := next(filter(None, (step_safety.unresolved_teeth(run) for run in self.runs if not run.failure)), None):
            self.warn(text)

    def warn(self, text: str) -> None:
        """Issue a warning, and keep its text."""
        self.warned.append(text)
        warnings.warn(f"system '{self.model.system.name}': {text}", StepWarning, stacklevel=5)

    def memory(self) -> dict[str, Any]:
        """All data needed to resume, except the samples: strings and numbers."""
        sampling = None if self.sampling is None else (self.sampling.start, self.sampling.period)
        return {"options": self.options, "batched": self.batched, "assembled": self.assembled, "sampling": sampling,
                "end": self.end, "checkpoint": self.checkpoint, **optional.checkpoint.remember(self.runs)}

    @classmethod
    def resumed(cls, model: Model, memory: Mapping[str, Any], samples: Mapping[str, Floats], laws: Sequence[Any] = (),
                control: Any = None) -> Self:
        """The integration that continues from the memory of another one, with its samples t, x, u and law_states."""
        x = np.concatenate([run["x"] for run in memory["runs"]])
        sampling = None if memory["sampling"] is None else Sampling(*memory["sampling"])
        found = cls(model, **memory["options"], laws=laws, control=control, sampling=sampling, x=x, batched=memory["batched"])
        found.assembled, found.end = memory["assembled"], memory["end"]
        first = 0
        for run in found.runs:
            rows, n = slice(first, first + len(run.x)), len(samples["t"])
            run.extend(samples["t"])
            states = np.concatenate([samples["x"][rows], samples["law_states"][rows]], axis=2)
            controls = np.zeros((len(run.x), n, run.u.shape[1]))
            controls[..., :samples["u"].shape[2]] = samples["u"][rows]
            run.out[:, :n*run.x.shape[1]] = states.reshape(len(run.x), -1)
            run.u_out[:, :n*run.u.shape[1]] = controls.reshape(len(run.x), -1)
            first = rows.stop
        optional.checkpoint.recall(found.runs, memory)
        for run in found.runs:
            run.samples = run.samples[:run.done]
        return found

    @property
    def failure(self) -> str | None:
        return next((run.failure for run in self.runs if run.failure), None)

    def trajectory(self) -> Trajectory:
        """The samples recorded so far."""
        done = max(run.done for run in self.runs)
        longest = next(run for run in self.runs if run.done == done)
        x, u = (np.concatenate([_padded(run.recorded[i], done) for run in self.runs]) for i in (0, 1))
        layout, beyond = self.model.layout, self.runs[0].model.layout.beyond
        given = None if self.parameters is None else {name: np.asarray(value, float) for name, value in self.parameters.items()}
        stability, accuracy = step_safety.notes(self.checks, self.errors)
        found = Trajectory(
            self.model, longest.samples[:done], x[..., :layout.nx], u[..., self.model.input_layout.controls], self.batched, given,
            self.plan.method, self.plan.dt, sum(run.steps for run in self.runs), sum(run.rejected for run in self.runs),
            sum(run.wall for run in self.runs), self.failure, self.assembled, law_states=x[..., beyond], memory=self.memory(),
            audited=self.audit, choice=self.choice, stability=stability, accuracy=accuracy, lanes=self.lanes,
            warnings=tuple(self.warned))
        handlers = [run.handler for run in self.runs if run.handler is not None]
        found = replace(found, events=tuple(tuple(each.log) for each in handlers),
                        spans=tuple((*each.spans, (np.inf, each.model)) for each in handlers))
        held = self.runs[0].driven_but_held(found.u)                        # a compiled law drives a wheel whose speed is held
        return cut_contradictions(found if held is None else cut_at(found, *held))


def switches(model: Model, masses: Floats) -> bool:
    """Whether events, stops, sticking, backlash or a tank that empties change the model in a run."""
    system = model.system
    return bool(system.events or system.stops or sticking_frictions(system) or touching(system)
                or (system.tanks and builders.tank_tables.can_run_dry(system, masses)))


def law_starts(options: Mapping[str, Any]) -> list[float]:
    """Initial values of additional states: states of laws, then the work of the inputs."""
    return continuous_states([*options.get("laws", ()), options.get("control")]) + [0.0]*bool(options.get("audit"))


def started(model: Model, t0: float, options: Mapping[str, Any]) -> tuple[Floats, bool, Any]:
    """From the options of an integration: initial states (rows, nx) with closed loops; whether it is a batch; the change made by
    closing the loops, in words."""
    given = [options.get(name) for name in ("q0", "v0", "wheels0", "orbit0", "tanks0", "parameters")]
    x, batched = initial_states(model, t0, *given)
    parameters = given[-1]
    x[:, model.layout.laws] = law_starts(options)
    return x, batched, close_start(model, x, options.get("hold", ()), parameters)


def _padded(samples: Floats, n: int) -> Floats:
    """(rows, n, ...): padded with NaN after the end of runs that ended early."""
    missing = np.full((len(samples), n - samples.shape[1], samples.shape[2]), np.nan)
    return np.concatenate([samples, missing], axis=1)


def integrate(model: Model, *, until: float, t0: float = 0.0, sample_rate: float | None = None, progress: Progress | None = None,
              **options: Any) -> Trajectory:
    """Integrate from t0 to `until`; see `bough.simulate`."""
    integration = begin(model, until=until, t0=t0, sample_rate=sample_rate, **options)
    integration.finish(until, progress)
    return check_whole(integration.trajectory(), until)


def begin(model: Model, *, until: float, t0: float = 0.0, sample_rate: float | None = None, **options: Any) -> Integration:
    """An integration at its start, with samples at a rate or, by default, about a hundred in all."""
    t0 = moment("t0", t0)
    if not (isinstance(until, int | float | np.number) and t0 < until <= sys.float_info.max):
        raise StateError(f"until is {shown(until)}; give the end time in seconds, a number greater than {t0:g}")
    steps, step = {name: options.get(name) for name in ("dt", "rtol", "atol", "first_step", "max_step")}, options.get("dt")
    check_options(options.get("method", "rk4"), options.get("dynamics", "auto"), steps)
    check_clock("until", until, step)
    sampling = choose_sampling(t0, until, sample_rate, step)
    return Integration(model, t0=t0, sampling=sampling, **options)


def check_kinds(laws: object = (), reproducible: object = False) -> None:
    """Raise if laws is not a list, or reproducible not a bool."""
    if not isinstance(laws, Sequence) or isinstance(laws, str | bytes):
        raise StateError(f"laws is {laws!r}; give a list of laws, laws=[...]")
    if not isinstance(reproducible, bool | np.bool_):
        raise StateError(f"reproducible is {reproducible!r}; give True or False")


def check_options(method: str, dynamics: str, steps: Mapping[str, Any]) -> None:
    """`steps`: the options of steps by name, None where not given."""
    if not isinstance(method, str) or method not in METHODS:
        raise StateError(f"method is '{method}'{similar(method, METHODS)}; give one of {', '.join(METHODS)}")
    for name, value in steps.items():
        if value is not None:
            if name in wrong_options(method, fixed=steps["dt"] is not None):
                raise StateError(wrong_option(name, value, method))
            positive(name, value, "a tolerance" if name in ("rtol", "atol") else "seconds")
    if steps["dt"] is None and method in FIXED:
        raise StateError(f"the method '{method}' takes fixed steps: give dt, its step in seconds")
    if not isinstance(dynamics, str) or dynamics not in DYNAMICS:
        raise StateError(f"dynamics is '{dynamics}'{similar(dynamics, DYNAMICS)}; give one of {', '.join(DYNAMICS)}")
    if dynamics in ("dense", "cloud") and method in (*STIFF, *IMPLICIT):
        raise StateError(f"dynamics '{dynamics}' is not offered with the method '{method}'; leave it out")


def check_friction(model: Model, method: str, dynamics: str) -> None:
    """Raise if the method cannot locate sticking, contacts or empty tanks: they are found inside compiled steps, sticking by
    O(N)."""
    unable = method in STIFF
    if unable and (played := touching(model.system)):
        raise StateError(f"coupling '{played[0].name}' has backlash, whose contacts the method '{method}' cannot find inside its "
                         "steps; use rk4, imex4, dopri5 or imex43, or give the coupling stiffness")
    if unable and model.system.tanks:
        raise StateError(f"tank '{next(iter(model.system.tanks))}' changes its mass, which is not offered with the method "
                         f"'{method}'; use rk4, dopri5, imex4 or imex43")
    if not (found := sticking_frictions(model.system)):
        return
    if unable:
        raise StateError(f"friction '{found[0].name}' sticks, which the method '{method}' cannot find inside its steps; use rk4, "
                         "imex4, dopri5 or imex43, or give the friction the law 'regularized'")
    if dynamics in ("dense", "cloud"):
        raise StateError(f"friction '{found[0].name}' sticks, and what holds it is found by O(N) only; leave dynamics "
                         f"'{dynamics}' out")


# ---- checks of the recorded samples ------------------------------------------------------------------------------
def cut_at(trajectory: Trajectory, samples: int, failure: str) -> Trajectory:
    """The first samples, with a failure."""
    return trajectory.part(slice(max(samples, 1)), failure=failure)


def check_whole(trajectory: Trajectory, until: float) -> Trajectory:
    """Mark runs that ended early without a reason as failed."""
    reached = np.asarray(np.isfinite(trajectory.x).all(axis=2))
    if trajectory.failure is None and not (reached.all() and trajectory.t[-1] == until):
        row, sample = (np.argwhere(~reached)[0].tolist() if not reached.all() else (0, -1))
        member = f"run {row} of the batch " if len(trajectory.x) > 1 else ""
        failure = f"{member}ended near t = {trajectory.t[sample]:.6g} s without a reason; take another method"
        return replace(trajectory, failure=failure)
    return trajectory


def cut_contradictions(trajectory: Trajectory) -> Trajectory:
    """Cut the run where prescribed motions open a loop."""
    model, states = trajectory.model, trajectory.state
    if not (model.constrained and holdable(model.system)):
        return trajectory
    for row in range(len(states.x)):
        sound = np.flatnonzero(np.isfinite(states.x[row]).all(axis=1))
        gaps = model.loop_gaps(states.q[row, sound])
        worst = {name: np.abs(gap).max(axis=1) for name, gap in gaps.items()}
        name = max(worst, key=lambda loop: worst[loop].max(initial=0.0))
        wide = sound[worst[name] > OPEN_GAP]
        if len(wide):
            held = ", ".join(model.holds) or "what events hold"
            noun = "coupling" if name in model.system.couplings else "loop"
            return cut_at(trajectory, int(wide[0]),
                          f"{noun} '{name}' is pulled open from t = {trajectory.t[wide[0]]:.6g} s on (by {worst[name].max():.3g}): "
                          f"the motions of {held} contradict it; leave one of its joints free, or prescribe motions that keep it "
                          "closed")
    return trajectory


def step_lines(model: Model) -> list[tuple[str, str]]:
    """Label and text, for `bough check`: the fastest motion at the start, the longest stable step, and the step of the settings."""
    settings = model.system.settings
    given = settings.method if settings is not None and settings.method in FIXED else "rk4"
    hold = (settings and settings.hold) or ()
    run = Integration(model, method=given, dt=settings.dt if settings is not None and settings.dt else 1e-3, hold=hold).runs[0]
    check = step_safety.check_step(run)
    found = [("steps", str(check))]
    if not run.implicit and check.fastest.rate:
        rest = optional.eigenvalues.fastest_of(run, pars=optional.eigenvalues.without_local(model.tables, run.pars))
        limit = step_safety.longest_step(FIXED["imex2"](), rest.values[:step_safety.LEADING])
        rate = f"as fast as {rest}" if rest.rate else "at rest"
        found.append(("", f"without springs, dampers and modes of its own {rate}; imex2 is stable up to "
                          + (f"{limit:.3g} s" if limit < 1e6 else "any step")))
    found += [("", str(each)) for each in step_safety.bounces(run, run.x[0])]
    if settings is not None and settings.dt and settings.method in FIXED and (text := check.warning(settings.dt)):
        found.append(("warning", text))
    return found
