"""The advance of a run: from stop to stop and from event to event, up to the requested samples."""
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from bough import integrate as optional
from bough.describe import Event
from bough.integrate.compiled import loops
from bough.integrate.compiled.loops import SAME
from bough.integrate.compiled_steps import run_adaptive, run_fixed
from bough.integrate.methods import ADAPTIVE, FIXED
from bough.integrate.run import STIFF, LawFailure, Run
from bough.integrate.start import close_samples

if TYPE_CHECKING:
    from bough.integrate.event_handler import EventHandler

HOLDS = 1e300                   # margin of a repeatable event that has occurred: its conditions must end first


def stepper(method: str) -> Callable[[Run, float, float], None]:
    """The function that takes the steps of a method; SciPy's solvers are imported when needed."""
    if method in FIXED:
        return run_fixed
    if method in ADAPTIVE:
        return run_adaptive
    return optional.stiff.run_stiff


def advance(run: Run, show: float) -> None:
    """Integrate and record up to a time; failures are noted."""
    began = time.perf_counter()
    try:
        if not run.begun:
            run.begin()
        go_on(run, show)
    except KeyboardInterrupt:
        run.catch_up()
        run.failure, run.interrupted = f"interrupted at t = {run.t:.6g} s", True
    except (LawFailure, optional.connecting.EventFailure) as failure:
        run.failure = str(failure)
    finally:
        run.wall += time.perf_counter() - max(began, run.compiled or 0.0)


def go_on(run: Run, show: float) -> None:
    """Integrate until all samples up to `show` are known, or no state is left."""
    handler = run.handler
    while True:
        run.prepare()
        if handler is not None and measured_now(run, handler):
            continue
        upto = stop = run.next_stop()
        watchers, events, due = list[Any](), list[Event](), list[Event]()
        if handler is not None:
            watchers, events = handler.watchers(run.x[0]), handler.measuring
            run.watch = np.array([row for _, row in watchers]).reshape(-1, loops.WATCHER)
        if events:
            upto, due = optional.conditions.next_moment(run, events, stop, show)
        take_steps(run, upto, show)
        if run.note_failure():
            return
        if run.passed[loops.PASSED_STEP]:
            if not pass_event(run, watchers, show):
                return
        elif run.t < upto - SAME*abs(run.t):
            return
        elif due and handler is not None:
            handler.passed(due, run.t, run.x[0])
            handler.seen |= {event.name: HOLDS for event in due if event.repeat}
        if upto < stop and not due and not run.passed[loops.PASSED_STEP] and run.t < show - SAME*abs(show):
            continue
        run.forget()
        if handler is not None:
            handler.time_events(run.t, run.x[0])
            run.failure = handler.endless()
            if run.failure:
                return
        if run.t >= show - SAME*abs(show):
            if handler is not None and run.model is not handler.model:
                run.use(handler.model)
            return


def measured_now(run: Run, handler: "EventHandler") -> bool:
    """Apply the events on outputs or signals that occur now; whether there were any."""
    events = handler.measuring
    found = optional.conditions.happen_now(run, events, handler.seen) if events else []
    handler.passed(list(found), run.t, run.x[0])
    if found:
        handler.seen |= {event.name: HOLDS for event in found if event.repeat}
        run.forget()
    return bool(found)


def pass_event(run: Run, watchers: list[Any], show: float) -> bool:
    """Advance to the time of the first watcher inside the next step, and apply its event; only to `show` if that is earlier."""
    assert run.handler is not None
    if run.plan.method not in STIFF:
        (start, step), watch, before = run.passed.tolist(), run.watch, run.x[0].copy()
        find = optional.watchers
        reached = find.reaching(watch, before, run.states_after(start, step)[0])
        h = step if reached else find.find_moment(watch, before, start, step, lambda h: run.states_after(start, h)[0])
        expected = reached or find.passing(watch, before, run.states_after(start, h)[0])   # where h is below the resolution of time
        moment = start + h
        run.watch, run.passed[:] = watch[:0], 0.0
        take_steps(run, moment, show)
        if moment > show + SAME*abs(show) or run.note_failure():
            return False
        run.passing = find.passing(watch, before, run.x[0]) or expected
    who = [watchers[i][0] for i in run.passing]
    run.handler.passed(who, run.t, run.x[0])
    run.after_events([each.name for each in who if each is not None])
    run.passed[:] = 0.0
    return True


def take_steps(run: Run, stop: float, show: float) -> None:
    """Take steps up to `stop`, as far as needed for samples up to `show`; or to the step in which a watcher passes zero."""
    first, mounted = run.done, run.mounted
    taking = run if mounted is None else mounted.enter(run)
    try:
        stepper(run.plan.method)(taking, stop, show)
    finally:
        if run.plan.projects and taking.model.constrained and run.resolved != "cloud":      # where no loop can open
            close_samples(taking, first)
        if mounted is not None:
            mounted.leave(run, first)
