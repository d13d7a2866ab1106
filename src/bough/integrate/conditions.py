"""Events triggered by measured values: outputs, signals, several conditions at once.

Watchers of the compiled loops check entries of x.  Outputs are checked here, between steps: a few trial steps are taken, all their
ends are measured together, and if a condition changes inside one, the time is located by shortening that step.  If several
conditions may hold together only for a part of a step, or a quantity may pass its value and return, as bounds by straight lines
indicate, the maximum of the margin inside the step is searched.
"""
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from bough.compile.layout import Floats
from bough.describe import Event
from bough.integrate.compiled import loops
from bough.integrate.compiled.loops import SAME
from bough.integrate.compiled_steps import next_multiple, part_of, run_adaptive, step_rows
from bough.integrate.laws import measure
from bough.integrate.methods import FIXED
from bough.integrate.run import Run
from bough.integrate.watchers import SHARE, locate
from bough.kernels.lanes import ONE

AT_ONCE = 32                    # fixed trial steps at a time
INNER_SAMPLES = 8                       # number of samples inside an adaptive step
SHORT = 1e-6                    # of the interval: step for tangents
SHORTEST = 1e-7                 # of a step: shorter windows are missed
MARGIN = 0.05                   # of the change over an interval: safety margin of the bounds


def margins(run: Run, events: Sequence[Event], t: Floats, x: Floats, u: Floats) -> list[Floats]:
    """For each event (sides, states): the margins of its conditions, positive where they hold; for a single quantity, its excess
    over the value."""
    named = [name for event in events for name in (event.when,) if isinstance(name, str)]
    named += [each.of for event in events for each in event.conditions]
    values = measured(run, list(dict.fromkeys(named)), t, x, u)
    return [np.array(_sides(event, values)) for event in events]


def _sides(event: Event, values: dict[str, Floats]) -> list[Floats]:
    if isinstance(event.when, str):
        return [values[event.when] - (event.crosses or 0.0)]
    sides = [each.below - values[each.of] for each in event.conditions if each.below is not None]
    return sides + [values[each.of] - each.above for each in event.conditions if each.above is not None]


def excess(run: Run, events: Sequence[Event], t: Floats, x: Floats, u: Floats) -> Floats:
    """(events, states): a function with a zero at the event; for conditions, the smallest margin."""
    return np.array([sides.min(axis=0) for sides in margins(run, events, t, x, u)]).reshape(len(events), len(t))


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
    """Whether an event occurs between two states with these excesses."""
    rising, falling = (before < 0.0) & (after >= 0.0), (before > 0.0) & (after <= 0.0)
    if event.conditions or event.direction == "rising":
        return rising
    return falling if event.direction == "falling" else rising | falling


class Trials(NamedTuple):
    """Times, states and controls at trial times; the last two are shortly after the first and before the last of the others."""
    t: Floats
    x: Floats
    u: Floats


def trials_at_ends(run: Run, stop: float, show: float) -> Trials | None:
    """The present state, and those at the ends of the next fixed steps, up to `stop` or the first end beyond `show`; None if there
    are none, or if the first fails."""
    grid = step_rows(*run.pace, run.t, min(stop, next_multiple(run, show)))
    counts = (grid[:, loops.STOP] - grid[:, loops.BEGIN]).astype(int)
    n = min(int(counts.sum()), AT_ONCE)
    if n == 0:
        return None
    grid = part_of(grid, np.cumsum(counts), 0, n)
    times = np.array([row[loops.ORIGIN] + (i + 1)*row[loops.LENGTH] for row in grid
                      for i in range(int(row[loops.BEGIN]), int(row[loops.STOP]))])
    return trials_along(run, grid, np.append(run.t, times))


def trials_along(run: Run, grid: Floats, times: Floats) -> Trials | None:
    """States at times along fixed steps, the first of which is the present, as long as they are finite."""
    small = SHORT*(times[-1] - times[0])
    more = np.array([times[0] + small, times[-1] - small])
    order = np.argsort(np.append(times[1:], more), kind="stable")
    wanted = np.append(times[1:], more)[order]
    (model, stepper, _, ws), (x, u, _, _, failed, none, passed, clock, ahead) = run.arguments(ONE), run.scratch_rows(ONE)
    out, u_out = np.full((1, len(wanted)*x.shape[1]), np.nan), np.zeros((1, len(wanted)*u.shape[1]))
    run.take_fixed(model, stepper, grid, wanted, (x, u, out, u_out, failed, none, passed, clock, ahead), ws, run.carry.copy())
    back = np.argsort(order, kind="stable")
    states, controls = out.reshape(len(wanted), -1)[back], u_out.reshape(len(wanted), -1)[back]
    t, states, controls = np.append(times, more), np.vstack([run.x[:1], states]), np.vstack([run.u[:1], controls])
    sound = np.isfinite(states).all(axis=1)
    if sound.all():
        return Trials(t, states, controls)
    n = int(sound[:-2].argmin())
    return trials_along(run, grid, times[:n]) if n > 1 else None


# ---- the next event --------------------------------------------------------------------------------------------
def happen_now(run: Run, events: Sequence[Event], seen: dict[str, float]) -> list[Event]:
    """Events that occur now: their conditions hold at the start, or a law has just set their signal."""
    now = excess(run, events, np.array([run.t]), run.x[:1], run.u[:1])[:, 0]
    never = {event.name: -1.0 if event.conditions else value for event, value in zip(events, now.tolist(), strict=True)}
    found = [event for event, value in zip(events, now, strict=True)
             if happens(event, np.array(seen.get(event.name, never[event.name])), value)]
    seen.update(zip((event.name for event in events), now.tolist(), strict=True))
    return found


def next_moment(run: Run, events: Sequence[Event], stop: float, show: float) -> tuple[float, list[Event]]:
    """The time up to which the run can advance, at most `stop`, and the events that occur there."""
    if run.plan.method in FIXED:
        return _fixed_moment(run, events, stop, show)
    return _adaptive_moment(run, events, stop, show)


def _fixed_moment(run: Run, events: Sequence[Event], stop: float, show: float) -> tuple[float, list[Event]]:
    """The start of the next step in which an event occurs or may occur; if that is the present step, the time inside it."""
    trials = trials_at_ends(run, stop, show)
    if trials is None:
        return stop, []
    sure, maybe = between(run, events, trials)
    for first in np.flatnonzero((sure | maybe).any(axis=0)).tolist():
        if first:
            return float(trials.t[first]), []
        if (found := within(run, events, sure[:, 0], maybe[:, 0], 0.0, float(trials.t[1]) - run.t)) is not None:
            return found
    end = float(trials.t[-3])
    return (end if end*(1.0 + SAME) < stop else stop), []


def _adaptive_moment(run: Run, events: Sequence[Event], stop: float, show: float) -> tuple[float, list[Event]]:
    """The end of the next step, from a trial; or the time of an event inside it."""
    kept = {name: getattr(run, name).copy() for name in ("x", "u", "carry", "failed", "passed")}
    counts = {name: getattr(run, name) for name in ("t", "done", "steps", "rejected", "shown", "shown_x", "budget", "watch")}
    shown = counts["shown_x"].copy()
    run.budget, run.watch = run.steps + 1, run.watch[:0]
    run_adaptive(run, stop, show)
    end = run.t if run.t > counts["t"] else run.shown                       # the step may end after `show`
    for name, values in kept.items():
        getattr(run, name)[:] = values
    for name, value in counts.items():
        setattr(run, name, value)
    if run.shown_x is not run.x:
        run.shown_x[:] = shown
    steps = np.linspace(0.0, 1.0, INNER_SAMPLES + 1)*(end - run.t)          # long steps: a condition may begin and end inside
    trials = trials_along(run, np.array([[run.t, end - run.t, 0.0, 1.0]]), run.t + steps)
    if trials is not None:
        sure, maybe = between(run, events, trials)
        for first in np.flatnonzero((sure | maybe).any(axis=0)).tolist():
            if (found := within(run, events, sure[:, first], maybe[:, first], *steps[first:first + 2].tolist())) is not None:
                return found
    return (end if end*(1.0 + SAME) < stop else stop), []


def excess_after(run: Run, event: Event, step: float) -> float:
    """The excess of an event after a step of this length from the present state."""
    x = run.states_after(run.t, step) if step else run.x[:1]
    u = run.rates(0, run.t + step, run.t + step, x[0])[1][None] if run.laws.table[0] else run.u[:1]
    return float(excess(run, [event], np.array([run.t + step]), x, u)[0, 0])


# ---- between two trials ---------------------------------------------------------------------------------------------------
def between(run: Run, events: Sequence[Event], trials: Trials) -> tuple[np.ndarray, np.ndarray]:
    """Flags (events, intervals): where an event certainly occurs between two trial times, and where it may occur without showing at
    either end."""
    found, t, small = margins(run, events, *trials), trials.t[:-2], trials.t[-2] - trials.t[0]
    sure = np.array([happens(event, *(sides.min(axis=0)[part] for part in (slice(0, -3), slice(1, -2))))
                     for event, sides in zip(events, found, strict=True)])
    maybe = np.array([_may_happen(event, t, sides, small) for event, sides in zip(events, found, strict=True)])
    return sure, maybe & ~sure


def _may_happen(event: Event, t: Floats, sides: Floats, small: float) -> np.ndarray:
    """(intervals,): whether all sides may hold together inside an interval although they do not at its ends.

    In an interval, a convex quantity is below its chord, and a concave one is below both lines that extend into the interval from
    the samples before and after it; at the first and the last one, these are its tangents."""
    if not event.conditions:                                                # from its present side
        turned = np.where(sides[:, :-3] < 0.0, 1.0, -1.0)
        one_way = {"rising": turned > 0.0, "falling": turned < 0.0, "both": turned != 0.0}[event.direction][0]
        upward, downward = (_bound(t, sign*sides, small) >= 0.0 for sign in (1.0, -1.0))
        return one_way & np.where(turned[0] > 0.0, upward, downward) & (sides[0, :-3] != 0.0)
    outside = (sides[:, :-3].min(axis=0) < 0.0) & (sides[:, 1:-2].min(axis=0) < 0.0)
    return outside & (_bound(t, sides, small) >= 0.0)


def _bound(t: Floats, sides: Floats, small: float) -> Floats:
    """(intervals,): an upper bound of the smallest side in each interval."""
    m, h = sides[:, :-2], np.diff(t)
    slopes = np.diff(m)/h
    before = np.column_stack([(sides[:, -2] - m[:, 0])/small, slopes[:, :-1]])
    behind = np.column_stack([slopes[:, 1:], (m[:, -1] - sides[:, -1])/small])
    w = np.linspace(0.0, 1.0, 33)[:, None, None]                            # (places, sides, intervals)
    chord = (1.0 - w)*m[:, :-1] + w*m[:, 1:]
    lines = np.minimum(m[:, :-1] + w*h*before, m[:, 1:] - (1.0 - w)*h*behind)
    margin = MARGIN*h*np.maximum(np.abs(before), np.abs(behind))
    return np.asarray((np.maximum(chord, lines) + margin).min(axis=1).max(axis=0))


def within(run: Run, events: Sequence[Event], sure: np.ndarray, maybe: np.ndarray, low: float, high: float
           ) -> tuple[float, list[Event]] | None:
    """The first time between steps of two lengths at which a certain or possible event occurs; None if none does."""
    known = [(event, high) for event, own in zip(events, sure, strict=True) if own]
    for event in (event for event, own in zip(events, maybe, strict=True) if own):
        known += [(event, peak)] if (peak := _peak(run, event, low, high)) is not None else []
    known = [(event, high) for event, high in known                         # trial states are interpolated
             if happens(event, np.array(excess_after(run, event, low)), np.array(excess_after(run, event, high)))]
    return inside(run, known, low) if known else None


def _peak(run: Run, event: Event, low: float, high: float) -> float | None:
    """A step length between two at which an event has occurred, although it has at neither: by golden-section search for the single
    maximum of the excess."""
    sign = 1.0 if event.conditions or excess_after(run, event, low) < 0.0 else -1.0
    share, known, least = (np.sqrt(5.0) - 1.0)/2.0, dict[float, float](), SHORTEST*(high - low)

    def value(h: float) -> float:
        if h not in known:
            known[h] = sign*excess_after(run, event, h)
        return known[h]

    while high - low > least:
        a, b = high - share*(high - low), low + share*(high - low)
        for h in (a, b):
            if value(h) >= 0.0:
                return h
        low, high = (a, high) if value(a) < value(b) else (low, b)
    return None


def inside(run: Run, events: Sequence[tuple[Event, float]], low: float) -> tuple[float, list[Event]]:
    """The first time after a step of length `low` at which one of the events occurs, each before its own upper length; and the
    events at that time."""
    tolerance = max(SHARE*max(high for _, high in events), float(np.spacing(run.t + low)))

    def moment(event: Event, high: float) -> float:
        before, value = np.array(excess_after(run, event, low)), partial(excess_after, run, event)
        return locate(value, lambda h: bool(happens(event, before, np.array(value(h)))), low, high, tolerance)
    moments = [moment(*each) for each in events]
    first = min(moments)
    return run.t + first, [event for (event, _), moment in zip(events, moments, strict=True) if moment <= first + 2.0*tolerance]
