"""Events that wait for what is measured: outputs, signals, several conditions at once.

A watcher of the compiled loops sees entries of x.  What an output shows is found here, between steps: a few steps are tried, all
their ends are measured together, and where a condition changes inside one, the moment is found by taking that step shorter and
shorter.
"""
from collections.abc import Sequence

import numpy as np

from bough.compile.layout import Floats
from bough.describe import Event
from bough.integrate.compiled import loops
from bough.integrate.compiled.loops import SAME
from bough.integrate.compiled_steps import next_multiple, part_of, run_adaptive, step_rows
from bough.integrate.laws import measure
from bough.integrate.methods import FIXED
from bough.integrate.run import Run
from bough.kernels.lanes import ONE

AT_ONCE = 32                    # fixed steps that are tried at a time
LOOKS = 16                      # at so many places inside an adaptive step
SHARE = 1e-12                   # of a step: how precisely a moment is found


def excess(run: Run, events: Sequence[Event], t: Floats, x: Floats, u: Floats) -> Floats:
    """(events, states): what passes zero where an event happens; of conditions, by how much the least of them holds."""
    named = [name for event in events for name in (event.when,) if isinstance(name, str)]
    named += [each.of for event in events for each in event.conditions]
    values = measured(run, list(dict.fromkeys(named)), t, x, u)
    return np.array([_margin(event, values) for event in events]).reshape(len(events), len(t))


def _margin(event: Event, values: dict[str, Floats]) -> Floats:
    if isinstance(event.when, str):
        return values[event.when] - (event.crosses or 0.0)
    sides = [each.below - values[each.of] for each in event.conditions if each.below is not None]
    sides += [values[each.of] - each.above for each in event.conditions if each.above is not None]
    return np.asarray(np.min(sides, axis=0))


def measured(run: Run, names: Sequence[str], t: Floats, x: Floats, u: Floats) -> dict[str, Floats]:
    """By name of a coordinate, a number of an output, or of an input: (states,) of one run under controls u."""
    model = run.model
    wanted = [port.name for port in model.system.outputs.values() if set(port.entries) & set(names)]
    found = measure(model, wanted, t, x, u) if wanted else {}
    numbers = {entry: found[port.name][:, i] for port in model.system.outputs.values() if port.name in found
               for i, entry in enumerate(port.entries)}
    ports = model.input_layout.view(u).ports
    numbers |= {name: ports[:, i] for i, name in enumerate(model.names.inputs) if name in names}
    return numbers | {name: x[:, i] for i, name in enumerate(model.names.q) if name in names and name not in numbers}


def happens(event: Event, before: Floats, after: Floats) -> np.ndarray:
    """Whether it does between two states of given excess."""
    rising, falling = (before < 0.0) & (after >= 0.0), (before > 0.0) & (after <= 0.0)
    if event.conditions or event.direction == "rising":
        return rising
    return falling if event.direction == "falling" else rising | falling


def ends_of_steps(run: Run, stop: float, show: float) -> tuple[Floats, Floats, Floats]:
    """Times, states and controls at the ends of the next fixed steps, to `stop` or the one beyond `show`, without going there."""
    grid = step_rows(run.start, run.plan.dt or 0.0, run.t, min(stop, next_multiple(run, show)))
    counts = (grid[:, loops.STOP] - grid[:, loops.BEGIN]).astype(int)
    n = min(int(counts.sum()), AT_ONCE)
    if n == 0:
        return np.zeros(0), np.zeros((0, run.x.shape[1])), np.zeros((0, run.u.shape[1]))
    grid = part_of(grid, np.cumsum(counts), 0, n)
    times = np.array([row[loops.ORIGIN] + (i + 1)*row[loops.LENGTH] for row in grid
                      for i in range(int(row[loops.BEGIN]), int(row[loops.STOP]))])
    (model, stepper, _, ws), (x, u, _, _, failed, none, passed, clock, ahead) = run.arguments(ONE), run.scratch_rows(ONE)
    out, u_out, carry = np.full((1, n*x.shape[1]), np.nan), np.zeros((1, n*u.shape[1])), run.carry.copy()
    run.take_fixed(model, stepper, grid, times, (x, u, out, u_out, failed, none, passed, clock, ahead), ws, carry)
    return times, out.reshape(n, -1), u_out.reshape(n, -1)


# ---- where the next one happens --------------------------------------------------------------------------------------------
def happen_now(run: Run, events: Sequence[Event], seen: dict[str, float]) -> list[Event]:
    """Those that happen at once: their conditions hold at the start, or a law has just set the signal that they wait for."""
    now = excess(run, events, np.array([run.t]), run.x[:1], run.u[:1])[:, 0]
    never = {event.name: -1.0 if event.conditions else value for event, value in zip(events, now.tolist(), strict=True)}
    found = [event for event, value in zip(events, now, strict=True)
             if happens(event, np.array(seen.get(event.name, never[event.name])), value)]
    seen.update(zip((event.name for event in events), now.tolist(), strict=True))
    return found


def next_moment(run: Run, events: Sequence[Event], stop: float, show: float) -> tuple[float, list[Event]]:
    """Up to where one can go, at most to `stop`, and the events that happen there, if any do."""
    if run.plan.method in FIXED:
        return _fixed_moment(run, events, stop, show)
    return _adaptive_moment(run, events, stop, show)


def _fixed_moment(run: Run, events: Sequence[Event], stop: float, show: float) -> tuple[float, list[Event]]:
    """Over the ends of steps to the start of the one in which something happens, or, from there, into it."""
    times, states, controls = ends_of_steps(run, stop, show)
    sound = int(np.isfinite(states).all(axis=1).argmin()) if not np.isfinite(states).all() else len(states)
    if not sound:
        return stop, []
    times, states, controls = times[:sound], states[:sound], controls[:sound]
    values = excess(run, events, np.append(run.t, times), np.vstack([run.x[:1], states]), np.vstack([run.u[:1], controls]))
    passing = np.array([happens(event, row[:-1], row[1:]) for event, row in zip(events, values, strict=True)])
    if not passing.any():
        return (float(times[-1]) if times[-1]*(1.0 + SAME) < stop else stop), []
    first = int(passing.any(axis=0).argmax())
    if first:
        return float(times[first - 1]), []
    return inside(run, [event for event, own in zip(events, passing, strict=True) if own[0]], 0.0, float(times[0]) - run.t)


def _adaptive_moment(run: Run, events: Sequence[Event], stop: float, show: float) -> tuple[float, list[Event]]:
    """The end of the next step, which is tried; or the moment inside it at which something happens."""
    kept = {name: getattr(run, name).copy() for name in ("x", "u", "carry", "failed", "passed")}
    counts = {name: getattr(run, name) for name in ("t", "done", "steps", "rejected", "shown", "shown_x", "budget", "watch")}
    shown = counts["shown_x"].copy()
    run.budget, run.watch = run.steps + 1, run.watch[:0]
    run_adaptive(run, stop, show)
    end = run.t if run.t > counts["t"] else run.shown                       # the step may lead beyond what is to be shown
    for name, values in kept.items():
        getattr(run, name)[:] = values
    for name, value in counts.items():
        setattr(run, name, value)
    if run.shown_x is not run.x:
        run.shown_x[:] = shown
    steps = np.linspace(0.0, 1.0, LOOKS + 1)*(end - run.t)                  # long steps: what begins inside may end there, too
    values = excess_after(run, events, steps)
    passing = np.array([happens(event, row[:-1], row[1:]) for event, row in zip(events, values, strict=True)])
    if not passing.any():
        return (end if end*(1.0 + SAME) < stop else stop), []
    first = int(passing.any(axis=0).argmax())
    return inside(run, [event for event, own in zip(events, passing, strict=True) if own[first]], *steps[first:first + 2].tolist())


def excess_after(run: Run, events: Sequence[Event], steps: Floats) -> Floats:
    """(events, steps): after steps of these lengths from the present state."""
    states = np.vstack([run.states_after(run.t, h) if h else run.x[:1] for h in steps])
    u = np.repeat(run.u[:1], len(steps), axis=0)
    if run.laws.table[0]:
        u = np.array([run.rates(0, run.t + h, run.t + h, x)[1] for h, x in zip(steps.tolist(), states, strict=True)])
    return excess(run, events, run.t + steps, states, u)


def inside(run: Run, events: Sequence[Event], low: float, high: float) -> tuple[float, list[Event]]:
    """The first moment between steps of two lengths at which an event happens, and those that do."""
    from scipy.optimize import brentq  # slow to import
    tolerance = max(SHARE*high, float(np.spacing(run.t + high)))

    def value(h: float, event: Event) -> float:
        return float(excess_after(run, [event], np.array([h]))[0, 0])

    moments = []
    for event in events:
        before = value(low, event)
        moment = float(brentq(value, low, high, args=(event,), xtol=tolerance, rtol=8.9e-16))
        while moment < high and not happens(event, np.array(before), np.array(value(moment, event))):
            moment = min(moment + tolerance, high)
        moments.append(moment)
    first = min(moments)
    return run.t + first, [event for event, moment in zip(events, moments, strict=True) if moment <= first + 2.0*tolerance]
