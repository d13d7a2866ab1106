"""Quantities that a run watches: rows for the compiled loops, and the moment at which one passes zero.

What happens in a run: events lock, release and prescribe coordinates, stops come into contact and part [B 18].

A run goes from one event to the next.  Between them nothing switches, so that every step is as smooth as its method needs it; the
moment at which a watched quantity passes its value is found by taking the step in which it does again, shorter and shorter.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bough.analyze.impulse import Jump, jump
from bough.compile.coordinates import coordinate_place, targets_of
from bough.compile.hold_tables import Hold
from bough.compile.layout import Floats
from bough.describe import Event, Lock, Prescribe, Stop
from bough.integrate.compiled.loops import DIRECTION, FIRST, FIRST_FACTOR, LESS, SAME, SECOND, SECOND_FACTOR, WATCHER
from bough.integrate.trajectory import Occurrence
from bough.model import Model

SHARE = 1e-12                   # of a step: how precisely the moment of an event is found


def watcher(place: int, factor: float, value: float, direction: float, second: int = 0, second_factor: float = 0.0) -> Floats:
    row = np.zeros(WATCHER)
    row[FIRST], row[FIRST_FACTOR], row[SECOND], row[SECOND_FACTOR] = place, factor, second, second_factor
    row[LESS], row[DIRECTION] = factor*value, direction
    return row


def quantity_place(model: Model, event: Event) -> int:
    """Where in x the quantity is that an event waits for."""
    if event.when in model.names.wheels:
        return int(model.layout.wheels.start) + model.names.wheels.index(event.when)
    if event.quantity == "position":
        return model.names.q.index(str(event.when))
    return int(model.layout.v.start) + model.names.v.index(str(event.when))


def stop_watchers(model: Model, stop: Stop, x: Floats) -> tuple[Floats, Floats | None]:
    """What makes a stop come into contact or part, and what only changes what it waits for.

    In contact: until spring and damper would pull.  Apart and within its limit: until the coordinate passes it.  Apart and beyond,
    for the damper would pull: until they push again, or the coordinate is back within the limit."""
    q, v = coordinate_place(model.system, stop.coordinate)
    beyond = watcher(q, stop.side, stop.limit, 1.0)
    push = watcher(q, stop.side*stop.stiffness, stop.limit, 1.0, model.layout.v.start + v, stop.side*stop.damping)
    if stop.name in model.contacts:
        return facing(push, -1.0), None
    if watched(beyond, x) > 0.0:
        return push, facing(beyond, -1.0)
    if watched(beyond, x) == 0.0:                                           # on the limit: to leave it inward is to pass it
        beyond[LESS] += np.spacing(max(abs(stop.limit), np.finfo(float).tiny))
    return beyond, None


def facing(row: Floats, direction: float) -> Floats:
    row[DIRECTION] = direction
    return row


def pushes(model: Model, stop: Stop, x: Floats) -> bool:
    """Whether a stop is in contact: the coordinate is beyond its limit, and spring and damper do not pull."""
    (q, v), state = coordinate_place(model.system, stop.coordinate), model.state(x)
    depth, rate = stop.side*(float(state.q[q]) - stop.limit), stop.side*float(state.v[v])
    return depth >= 0.0 and stop.stiffness*depth + stop.damping*rate > 0.0


def watcher_rows(watchers: Sequence[tuple[Any, Floats]]) -> Floats:
    """Those of all watchers, for the compiled loops."""
    return np.array([row for _, row in watchers]).reshape(-1, WATCHER)


def watched(row: Floats, x: Floats) -> float:
    """As the compiled loops say it."""
    return float(row[FIRST_FACTOR]*x[int(row[FIRST])] + row[SECOND_FACTOR]*x[int(row[SECOND])] - row[LESS])


def crosses(row: Floats, before: Floats, after: Floats) -> bool:
    a, b, direction = watched(row, before), watched(row, after), row[DIRECTION]
    return bool((direction >= 0.0 and a < 0.0 <= b) or (direction <= 0.0 and a > 0.0 >= b))


def passing(rows: Floats, before: Floats, after: Floats) -> list[int]:
    """Which watchers pass. Where none does but the compiled loops, which round otherwise, saw one: those that start at zero to
    rounding and leave it."""
    found = [i for i, row in enumerate(rows) if crosses(row, before, after)]
    return found or [i for i, row in enumerate(rows) if _leaves(row, before, after)]


def _leaves(row: Floats, before: Floats, after: Floats) -> bool:
    terms = abs(row[FIRST_FACTOR]*before[int(row[FIRST])]) + abs(row[SECOND_FACTOR]*before[int(row[SECOND])]) + abs(row[LESS])
    b, direction = watched(row, after), row[DIRECTION]
    at_zero = abs(watched(row, before)) <= 4*np.finfo(float).eps*terms
    return bool(at_zero and ((direction >= 0.0 and b >= 0.0) or (direction <= 0.0 and b <= 0.0)))


def find_moment(rows: Floats, x: Floats, start: float, step: float, state_after: Callable[[float], Floats]) -> float:
    """The length of the shortest step after which a watcher has passed: the end of a bracket of SHARE of the step, or of the
    rounding of the time. If none passes but by the rounding of the compiled loops, it does so at once."""
    from scipy.optimize import brentq  # slow to import
    tolerance = max(SHARE*step, float(np.spacing(start + step)))
    moments = []
    for row in rows:
        if crosses(row, x, state_after(step)):
            moment = brentq(lambda h, row=row: watched(row, state_after(h)), 0.0, step, xtol=tolerance, rtol=8.9e-16)
            while moment < step and not crosses(row, x, state_after(moment)):
                moment = min(moment + tolerance, step)
            moments.append(moment)
    return min(moments, default=tolerance)


# ---- event handler ---------------------------------------------------------------------------------------------------------
DIRECTIONS = {"rising": 1.0, "falling": -1.0, "both": 0.0}
MOST_AT_ONCE = 100              # events at one moment: more, and they set each other off for ever


@dataclass
class EventHandler:
    """What is held and in contact now, what is still to come, and what has happened."""
    model: Model
    parameters: Mapping[str, Floats] | None = None                         # of this member of a batch: they shape its jumps
    log: list[Occurrence] = field(default_factory=list)
    spans: list[tuple[float, Model]] = field(default_factory=list)     # models that held, each until its time
    fired: set[str] = field(default_factory=set)

    @property
    def waiting(self) -> list[Event]:
        return [event for event in self.model.system.events.values() if event.name not in self.fired]

    def next_time(self, after: float) -> float:
        """The next moment for which an event is set."""
        times = (event.at for event in self.waiting if event.at is not None)
        return min((t for t in times if t > after + SAME*abs(after)), default=np.inf)

    def watchers(self, x: Floats) -> list[tuple[Event | Stop | None, Floats]]:
        """Everything that waits for a quantity to pass a value, from a state on; None: only to be watched anew."""
        rows: list[tuple[Event | Stop | None, Floats]] = []
        for event in self.waiting:
            if event.when is not None:
                place, direction = quantity_place(self.model, event), DIRECTIONS[event.direction]
                rows.append((event, watcher(place, 1.0, event.crosses or 0.0, direction)))
        for stop in self.model.system.stops.values():
            acts, rearms = stop_watchers(self.model, stop, x)
            rows.append((stop, acts))
            if rearms is not None:
                rows.append((None, rearms))
        return rows

    def start(self, t: float, x: Floats) -> None:
        """At the start: stops that are touched already, and events that are due; those set for earlier are past."""
        touched = [stop.name for stop in self.model.system.stops.values() if pushes(self.model, stop, x)]
        self.model = self.model.switched(self.model.holds, touched)
        self.fired |= {event.name for event in self.waiting if event.at is not None and event.at < t - SAME*abs(t)}
        self.time_events(t, x)
        self.spans.clear()                                  # the first sample is of the moment after

    def time_events(self, t: float, x: Floats) -> None:
        """Those that are due at t, in the order of the description."""
        for event in self.waiting:
            if event.at is not None and abs(event.at - t) <= SAME*abs(t):
                self.fire(event, t, x)

    def endless(self) -> str | None:
        """What to say where events set each other off for ever."""
        late = self.log[-MOST_AT_ONCE:]
        if len(self.log) > MOST_AT_ONCE and late[-1].time - late[0].time <= 1e-9*max(abs(late[-1].time), 1e-3):
            return (f"at t = {late[-1].time:.6g} s events set each other off for ever, '{late[-1].name}' among them; part their "
                    "values")
        return None

    def passed(self, whose: list[Event | Stop | None], t: float, x: Floats) -> None:
        """Let happen what waited for a quantity that has passed its value."""
        for who in whose:
            if isinstance(who, Stop):
                self.touch(who, t)
        for who in whose:
            if isinstance(who, Event):
                self.fire(who, t, x)

    def touch(self, stop: Stop, t: float) -> None:
        """A stop comes into contact, or parts."""
        parts = stop.name in self.model.contacts
        contacts = [name for name in self.model.contacts if name != stop.name] + [stop.name]*(not parts)
        self.spans.append((t, self.model))
        self.model = self.model.switched(self.model.holds, contacts)
        self.log.append(Occurrence(t, stop.name, f"{'parts from' if parts else 'touches'} {stop.coordinate}"))

    def fire(self, event: Event, t: float, x: Floats) -> None:
        """Do what an event says; speeds jump as its locks demand."""
        holds, done = dict(self.model.holds), []
        for action in event.do:
            for name in targets_of(self.model.system, action.target):
                holds.pop(name, None)
                if isinstance(action, Lock):
                    holds[name] = Hold()
                elif isinstance(action, Prescribe):
                    motions = self.model.tables.holds.coordinates[name].motions
                    start = float(self.model.state(x).q[coordinate_place(self.model.system, name)[0]])
                    holds[name] = started(self.model, name, Hold(motions.index(action.motion), t), start)
            done.append(f"{type(action).__name__.lower()}s {action.target}")
        self.spans.append((t, self.model))
        self.model = self.model.switched(holds, self.model.contacts)
        self.log.append(Occurrence(t, event.name, ", ".join(done), self.jump(t, x)))
        if not event.repeat:
            self.fired.add(event.name)
        if self.log[-1].jump is not None:
            self.update_contacts(t, x)

    def jump(self, t: float, x: Floats) -> Jump | None:
        """Let speeds jump to what is held now, with the masses of this member of the batch."""
        own = self.model if self.parameters is None else self.model.with_parameters(self.parameters)
        return jump(own.switched(self.model.holds, self.model.contacts), x, t)

    def update_contacts(self, t: float, x: Floats) -> None:
        """Stops that a jump of speeds brings into contact, or parts."""
        for stop in self.model.system.stops.values():
            if pushes(self.model, stop, x) != (stop.name in self.model.contacts):
                self.touch(stop, t)


def started(model: Model, name: str, hold: Hold, position: float) -> Hold:
    """A motion that starts where the coordinate is."""
    trial = model.switched({name: hold})
    return Hold(hold.motion, hold.origin, position - float(trial.motion(hold.origin)[name][0]))
