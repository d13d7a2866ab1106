"""Events in a run: they lock, release and prescribe coordinates; stops come into contact and part [B 18].

A run goes from event to event.  Between events nothing switches, so that all steps are smooth; the time at which a watched quantity
crosses its value is located by repeating the step with shorter lengths.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from bough.analyze.impulse import Jump, jump
from bough.compile.coordinates import coordinate_place, sticking_frictions, targets_of, touching
from bough.compile.hold_tables import Hold
from bough.compile.layout import Floats
from bough.describe import Coupling, Detach, Event, Friction, Lock, Loop, Prescribe, Stop, Tank
from bough.describe.parts.connection import Connecting
from bough.integrate import sticking
from bough.integrate.backlash import directions, impact, on_side, play_of, side_of, start_play, start_teeth, watch_play, watch_teeth
from bough.integrate.compiled.loops import LESS, SAME
from bough.integrate.connecting import ConnectionChange
from bough.integrate.emptying import emptied, feeding, start_tanks, watch_tank
from bough.integrate.trajectory import Occurrence
from bough.integrate.watchers import facing, watched, watcher
from bough.model import Model


def is_measured(event: Event, model: Model) -> bool:
    """Whether it waits for a quantity that the watchers of the compiled loops cannot evaluate."""
    return bool(event.conditions) or (event.quantity == "position" and event.when in (*model.names.outputs, *model.names.inputs))


def quantity_place(model: Model, event: Event) -> int:
    """Index in x of the quantity that an event waits for."""
    if event.when in model.names.wheels:
        return int(model.layout.wheels.start) + model.names.wheels.index(event.when)
    if event.quantity == "position":
        return model.names.q.index(str(event.when))
    return int(model.layout.v.start) + model.names.v.index(str(event.when))


def stop_watchers(model: Model, stop: Stop, x: Floats) -> tuple[Floats, Floats | None]:
    """Watchers of a stop: one for contact or separation, and one that only changes what it waits for.

    In contact: until spring and damper would pull.  Apart and within the limit: until the coordinate passes it.  Apart and beyond
    the limit, since the damper would pull: until they push again, or the coordinate is back within the limit."""
    q, v = coordinate_place(model.system, stop.coordinate)
    beyond = watcher(q, stop.side, stop.limit, 1.0)
    push = watcher(q, stop.side*stop.stiffness, stop.limit, 1.0, model.layout.v.start + v, stop.side*stop.damping)
    if stop.name in model.marks:
        return facing(push, -1.0), None
    if watched(beyond, x) > 0.0:
        return push, facing(beyond, -1.0)
    if watched(beyond, x) == 0.0:                                           # on the limit: leaving it inward is no contact
        beyond[LESS] += np.spacing(max(abs(stop.limit), np.finfo(float).tiny))
    return beyond, None


def pushes(model: Model, stop: Stop, x: Floats) -> bool:
    """Whether a stop is in contact: the coordinate is beyond its limit, and spring and damper do not pull."""
    (q, v), state = coordinate_place(model.system, stop.coordinate), model.state(x)
    depth, rate = stop.side*(float(state.q[q]) - stop.limit), stop.side*float(state.v[v])
    return depth >= 0.0 and stop.stiffness*depth + stop.damping*rate > 0.0


# ---- event handler ---------------------------------------------------------------------------------------------------------
Watching: TypeAlias = Event | Stop | Friction | Coupling | Tank | None
DIRECTIONS = {"rising": 1.0, "falling": -1.0, "both": 0.0}
AT_REST = 1e-12                 # rad/s or m/s: speed below which friction sticks after a jump
MOST_AT_ONCE = 100              # events at one time; more trigger each other endlessly


@dataclass
class EventHandler:
    """What is held and in contact now, the events still waiting, and those that have occurred."""
    model: Model
    log: list[Occurrence] = field(default_factory=list)
    spans: list[tuple[float, Model]] = field(default_factory=list)     # earlier models, each with its end time
    fired: set[str] = field(default_factory=set)
    measured: sticking.Measured | None = None                               # evaluates holding forces
    teeth: Sequence[str] = ()                               # couplings whose elastic teeth are watched
    play: dict[str, list[Floats]] = field(default_factory=dict)     # by coupling with play: its watchers
    ahead: list[Model] = field(default_factory=list)        # models of what events may connect, with tables and prepared calls
    seen: dict[str, float] = field(default_factory=dict)    # last excess of events that wait for outputs, see `conditions`

    @property
    def waiting(self) -> list[Event]:
        return [event for event in self.model.system.events.values() if event.name not in self.fired]

    @property
    def measuring(self) -> list[Event]:
        """Events that wait for outputs, signals or conditions."""
        return [event for event in self.waiting if is_measured(event, self.model)]

    def next_time(self, after: float) -> float:
        """The next time for which an event is set."""
        times = (event.at for event in self.waiting if event.at is not None)
        return min((t for t in times if t > after + SAME*abs(after)), default=np.inf)

    def watchers(self, x: Floats) -> list[tuple[Watching, Floats]]:
        """Everything that waits for a quantity to cross a value, from a state on; None: only the watchers are rebuilt then."""
        rows: list[tuple[Watching, Floats]] = []
        for friction in sticking_frictions(self.model.system):
            rows += [(friction, row) for row in sticking.watch_friction(self.model, friction)]
        for coupling in touching(self.model.system):
            rows += [(coupling, row) for row in self.play_rows(coupling, watch_play, x)]
        for coupling in (self.model.system.couplings[name] for name in self.teeth):
            rows += [(coupling, row) for row in self.play_rows(coupling, watch_teeth, x)]
        rows += [(tank, watch_tank(self.model, tank)) for tank in feeding(self.model)]
        for event in self.waiting:
            if isinstance(event.when, str) and not is_measured(event, self.model):
                place, direction = quantity_place(self.model, event), DIRECTIONS[event.direction]
                rows.append((event, watcher(place, 1.0, event.crosses or 0.0, direction)))
        for stop in self.model.system.stops.values():
            acts, rearms = stop_watchers(self.model, stop, x)
            rows.append((stop, acts))
            if rearms is not None:
                rows.append((None, rearms))
        return rows

    def play_rows(self, coupling: Coupling, watch: Callable[[Model, Coupling, Floats], list[Floats]], x: Floats) -> list[Floats]:
        """Watchers of a coupling with play, built once after each contact, so that steps do not depend on the number of calls."""
        if coupling.name not in self.play:
            self.play[coupling.name] = watch(self.model, coupling, x)
        return self.play[coupling.name]

    def start(self, t: float, x: Floats) -> None:
        """At the start: find stops in contact, and apply events that are due; earlier ones are dropped."""
        touched = [stop.name for stop in self.model.system.stops.values() if pushes(self.model, stop, x)]
        self.model = self.model.switched(self.model.holds, touched)
        self.model = start_teeth(start_play(self.model, x), self.teeth, x)
        start_tanks(self.model, x)
        self.settle(sticking.by_speed(self.model, sticking_frictions(self.model.system), x), t, x)
        self.log.clear()                                    # the initial contacts are no events
        self.fired |= {event.name for event in self.waiting if event.at is not None and event.at < t - SAME*abs(t)}
        self.time_events(t, x)
        self.spans.clear()                                  # the first sample is after these events

    def time_events(self, t: float, x: Floats) -> None:
        """Apply the events that are due at t, in the order of the description."""
        for event in self.waiting:
            if event.at is not None and abs(event.at - t) <= SAME*abs(t):
                self.fire(event, t, x)

    def endless(self) -> str | None:
        """The error message if events trigger each other endlessly."""
        late = self.log[-MOST_AT_ONCE:]
        if len(self.log) > MOST_AT_ONCE and late[-1].time - late[0].time <= 1e-9*max(abs(late[-1].time), 1e-3):
            return (f"at t = {late[-1].time:.6g} s events set each other off for ever, '{late[-1].name}' among them; part their "
                    "values")
        return None

    def settle(self, model: Model, t: float, x: Floats) -> None:
        """Continue with a model whose frictions have been marked, after releasing those that cannot hold."""
        if model is self.model or self.measured is None:
            return
        model = sticking.settled(model, t, x, self.measured)
        self.spans.append((t, self.model))
        self.log += [Occurrence(t, friction.name, text) for friction, text in sticking.changes(self.model, model)]
        self.model = model

    def mesh(self, coupling: Coupling, t: float, x: Floats) -> None:
        """Switch elastic teeth between contact and separation."""
        parts = bool(side_of(self.model, coupling))
        self.spans.append((t, self.model))
        self.model = on_side(self.model, coupling, 0.0 if parts else float(np.sign(play_of(self.model, coupling, x))))
        self.log.append(Occurrence(t, coupling.name, "parts" if parts else "touches"))

    def meet(self, coupling: Coupling, t: float, x: Floats) -> None:
        """A coupling reaches an end of its play and bounces or stays in touch; or it parts."""
        side, before = side_of(self.model, coupling), self.model
        if side:
            self.spans.append((t, before))
            self.model = on_side(before, coupling, 0.0)
            self.log.append(Occurrence(t, coupling.name, "parts"))
            return
        frictions = sticking_frictions(self.model.system)
        if frictions:                                                       # they do not act during an impact
            self.model = sticking.marked(self.model, {each.name: ">" for each in frictions if sticking.mark_of(self.model, each)})
        found = impact(self.model.with_tanks(x), coupling, x)
        stays = abs(float(directions(self.model, coupling) @ self.model.state(x).v)) <= coupling.slow
        side = 1.0 if play_of(self.model, coupling, x) > 0.0 else -1.0
        self.spans.append((t, before))
        self.model = on_side(self.model, coupling, side if stays else 0.0)
        self.log.append(Occurrence(t, coupling.name, "touches" if stays else "bounces", found))
        if frictions:
            self.settle(sticking.by_speed(self.model, frictions, x, AT_REST), t, x)
            self.spans.pop()

    def change(self, frictions: list[Friction], t: float, x: Floats) -> None:
        """Frictions whose speed has passed zero hold, if they can; those that could hold no longer slip."""
        model = self.model
        for friction in frictions:
            if sticking.mark_of(model, friction) == "=":
                model = sticking.released(model, friction, float(x[sticking.state_place(model, friction)]))
            else:
                x[sticking.speed_place(model, friction)] = 0.0
                model = sticking.marked(model, {friction.name: "="})
        self.settle(model, t, x)

    def passed(self, whose: Sequence[Watching], t: float, x: Floats) -> None:
        """Apply everything whose quantity has crossed its value."""
        for who in whose:
            if isinstance(who, Coupling):
                self.play.pop(who.name, None)
                (self.meet if who.touches else self.mesh)(who, t, x)
        for who in whose:
            if isinstance(who, Tank):
                self.spans.append((t, self.model))
                self.model, text = emptied(self.model, who, x)
                self.log.append(Occurrence(t, who.name, text))
        if frictions := list({who.name: who for who in whose if isinstance(who, Friction)}.values()):
            self.change(frictions, t, x)
        for who in whose:
            if isinstance(who, Stop):
                self.touch(who, t)
        for who in whose:
            if isinstance(who, Event):
                self.fire(who, t, x)

    def touch(self, stop: Stop, t: float) -> None:
        """A stop comes into contact, or parts."""
        parts = stop.name in self.model.marks
        marks = [mark for mark in self.model.marks if mark != stop.name] + [stop.name]*(not parts)
        self.spans.append((t, self.model))
        self.model = self.model.switched(self.model.holds, marks)
        self.log.append(Occurrence(t, stop.name, f"{'parts from' if parts else 'touches'} {stop.coordinate}"))

    def fire(self, event: Event, t: float, x: Floats) -> None:
        """Apply the actions of an event; its locks make speeds jump, during which friction does not act."""
        frictions = sticking_frictions(self.model.system)
        before = self.model
        if frictions:
            self.model = sticking.marked(before, {each.name: ">" for each in frictions if sticking.mark_of(before, each)})
        change, done = ConnectionChange(self.model, event, x), []
        for action in event.do:
            if isinstance(action, Connecting):
                done.append(change.add(action))
                continue
            for name in targets_of(self.model.system, action.target):
                change.holds.pop(name, None)
                if isinstance(action, Lock):
                    change.holds[name] = Hold()
                elif isinstance(action, Prescribe):
                    motions = self.model.tables.holds.coordinates[name].motions
                    start = float(self.model.state(x).q[coordinate_place(self.model.system, name)[0]])
                    change.holds[name] = started(self.model, name, Hold(motions.index(action.motion), t), start)
            done.append(f"{action.noun}s {action.target}")
        holds = change.holds
        marks = change.marks_after([each for each in self.model.marks if not self.holds_otherwise(each, holds)])
        self.spans.append((t, before))
        if change.only_closes(holds, marks):
            loose, jumps = self.model, list[Jump | None]()
        else:
            loose = self.switched(holds, marks, change.kept)
            parts = all(isinstance(action, Detach) for action in event.do)                  # then no speed of a body jumps
            jumps = [jump(loose.with_tanks(x), x, t, report=not parts)]
        self.model = self.switched(holds, marks, change.joined) if change.closing else loose
        jumps += change.close_loops(t, loose, self.model, self.switched)
        for i, each in enumerate([each for each in jumps if each is not None] or [None]):
            self.log.append(Occurrence(t, event.name, ", ".join(done), each, {} if i else change.separated))
        if frictions:
            self.settle(sticking.by_speed(self.model, frictions, x, AT_REST), t, x)
            self.spans.pop()
        if not event.repeat:
            self.fired.add(event.name)
        self.seen.pop(event.name, None)
        if self.log[-1].jump is not None:
            self.update_contacts(t, x)

    def switched(self, holds: Mapping[str, Hold], marks: Sequence[str], joined: Mapping[str, Loop]) -> Model:
        """The model with these holds, marks and loops: one of those made ahead, if it is among them."""
        for model in self.ahead:
            if model.joined == joined and model.holds == holds and model.marks == tuple(marks):
                return model
        return self.model.switched(holds, marks, joined)

    def holds_otherwise(self, mark: str, holds: Mapping[str, Hold]) -> bool:
        """Whether a mark is that of a friction whose coordinate an event holds now."""
        friction = self.model.system.frictions.get(sticking.friction_of(mark))
        return friction is not None and sticking.name_of(self.model, friction) in holds

    def update_contacts(self, t: float, x: Floats) -> None:
        """Stops that a jump of speeds brings into contact, or parts."""
        for stop in self.model.system.stops.values():
            if pushes(self.model, stop, x) != (stop.name in self.model.marks):
                self.touch(stop, t)


def started(model: Model, name: str, hold: Hold, position: float) -> Hold:
    """A motion that starts where the coordinate is."""
    trial = model.switched({name: hold})
    return Hold(hold.motion, hold.origin, position - float(trial.motion(hold.origin)[name][0]))
