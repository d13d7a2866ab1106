"""Attachments for good, without a loop: steps are taken with the attached tree hung where it is attached [B 98].

A loop costs its rows at every stage.  Where no event opens it again, and nothing looks at the coordinates of a free root that it
holds, the steps are those of a larger tree instead: see `compile.hanging`.  States have the same entries; before and after steps
those of the root are turned into what they are described as, its pose and velocity in the world.  Everything but the steps sees
the loop.
"""
from __future__ import annotations

import copy
from itertools import combinations, islice
from typing import TYPE_CHECKING, Any

import numpy as np

from bough.analyze.body_motion import Motion, motion_of_frames, route_to_frames
from bough.compile.batch import choosing
from bough.compile.connections import MOST, Joined, can_change, closed, closing, reachable
from bough.compile.hanging import Hung, hang, hung_system
from bough.compile.hold_tables import Hold
from bough.compile.layout import Floats
from bough.describe import Detach, Event, Frame, Open
from bough.describe.orientation import quaternions
from bough.kernels.lanes import ONE
from bough.model import Model

if TYPE_CHECKING:
    from bough.integrate.run import Run

SHARED = ("t", "done", "steps", "rejected", "shown", "shown_x", "budget", "watch", "failure", "samples", "compiled", "out", "u_out",
          "progress", "turn", "goal", "reasons", "passing", "clock", "start", "dropped", "x", "u", "failed", "carry", "passed",
          "ahead")


def hung_roots(model: Model, waiting: list[Event], controlled: bool) -> list[Hung]:
    """The attachments that need no loop for their steps, in the order in which they are described."""
    return [] if controlled else _hung(model, {name for name in model.system.loops if not _openings(waiting, name)})


def _hung(model: Model, staying: set[str]) -> list[Hung]:
    """Of these loops, those by which trees can hang."""
    found = list[Hung]()
    for name, loop in model.system.loops.items():
        if name in staying and model.whole.loops[name].open:
            hung = _way(model, name, found)
            found += [] if hung is None else [hung.at(model.system, loop)]
    return found


def _way(model: Model, name: str, others: list[Hung]) -> Hung | None:
    """How a tree hangs by a loop as it is described, if it can: kept with the model."""
    key = "way", name, frozenset(model.holds), tuple(each.form for each in others)
    if key not in model.family:
        described = model.whole.loops[name]
        model.family[key] = hang(model.system, described, closed(described), set(model.holds), others)
    found: Hung | None = model.family[key]
    return found


def hang_ahead(model: Model, waiting: list[Event], implicit: bool) -> None:
    """Build the tables of what attachments for good will hang: those that nothing opens, and those that may be the last of several
    by their name."""
    for names in reachable(model.whole) if can_change(model.whole) else ():
        now = model.switched(model.holds, model.contacts, {name: closed(model.whole.loops[name]) for name in names})
        sure = {name for name in names if not _openings(waiting, name)}
        perhaps = [name for name in names if name not in sure and _may_stay(model, waiting, name)]
        sets = (more for n in range(len(perhaps) + 1) for more in combinations(perhaps, n))
        for hung in (_hung(now, sure | set(more)) for more in islice(sets, MOST)):
            if hung:
                found = hung_model(now, hung)
                for compliant in {False, implicit}:
                    found.tables_for(compliant=compliant)
                route_to_frames(found.tables, [each.frame for each in hung])


def _openings(waiting: list[Event], name: str) -> list[Event]:
    """The events that may open a loop."""
    return [event for event in waiting for action in event.do if isinstance(action, Detach | Open) and action.target == name]


def _may_stay(model: Model, waiting: list[Event], name: str) -> bool:
    """Whether a loop may be closed once more than what is waiting opens it."""
    opens, closes = _openings(waiting, name), [event for event in waiting if name in closing(event)]
    if any(event.repeat for event in opens):
        return False
    return any(event.repeat for event in closes) or len(closes) + (name in model.joined) > len(opens)


def hung_model(model: Model, hung: list[Hung]) -> Model:
    """The model in which these roots hang where they are attached; tables are kept with the model's."""
    loops = {each.loop for each in hung}
    key = "hung", tuple(each.form for each in hung), frozenset(model.joined)
    if key not in model.family:
        model.family[key] = type(model)(hung_system(model.whole, hung))
    joined: Joined = {name: loop for name, loop in model.joined.items() if name not in loops}
    held = {name: Hold() for each in hung for name in each.held}
    found: Model = model.family[key].switched({**model.holds, **held}, model.contacts, joined)
    found.layout = model.layout
    seats = {name: body for each in hung for name, body in each.seats(found.system).items()}
    return found.seated(seats) if seats else found


class Rehung:
    """A run whose steps are taken with roots that hang; everybody else sees them as they are described."""

    def __init__(self, run: Run, hung: list[Hung]) -> None:
        self.hung, self.fired = hung, _fired(run)
        self.of = run.model
        self.inner: Any = copy.copy(run)
        self.inner.laws = copy.copy(run.laws)
        self.inner.parameters, self.inner.rehung = run.parameters, None
        self.inner._source = np.zeros(0)                                    # so that its parameters are made
        self.inner.use(hung_model(run.model, hung))
        first = run.model.layout.v.start
        places = [run.model.places[each.root.name] for each in hung]
        self.places = [np.r_[q:q + 7, first + v:first + v + 6] for q, v in places]
        self.entries = self._entries(run)

    def serves(self, run: Run, model: Model) -> bool:
        """Whether it is what this run needs, still."""
        return self.of is model and self.fired == _fired(run)

    def _entries(self, run: Run) -> list[Floats]:
        """(13,) of each root: what stands for its pose and velocity while it hangs: coordinates of its joint, and their rates."""
        model, x, frames = self.inner.model, run.x[:1].copy(), [each.frame for each in self.hung]
        rates = np.concatenate([place[7:13 - hung.fixed] for hung, place in zip(self.hung, self.places, strict=True)])
        if not len(rates):
            for hung, place in zip(self.hung, self.places, strict=True):
                x[:, place[:7]], x[:, place[7:]] = hung.coordinates(np.zeros(3), np.eye(3)), 0.0
            return [x[0, place] for place in self.places]
        now = _motion(run.model, x, [*(each.on for each in self.hung), *(each.by for each in self.hung), *frames])
        n = len(frames)
        for i, (hung, place) in enumerate(zip(self.hung, self.places, strict=True)):
            inverse = now.attitude[0, i].T
            at, turn = inverse @ (now.position[0, n + i] - now.position[0, i]), inverse @ now.attitude[0, n + i]
            x[:, place[:7]], x[:, place[7:]] = hung.coordinates(at, turn), 0.0
        x = np.repeat(x, len(rates) + 1, axis=0)                            # velocities are linear in the rates
        x[1:, rates] = np.eye(len(rates))
        velocities = _motion(model, x, frames).velocity.reshape(len(x), -1)
        wanted = now.velocity[0, 2*n:].ravel() - velocities[0]
        x[0, rates] = np.linalg.lstsq((velocities[1:] - velocities[0]).T, wanted, rcond=None)[0]
        return [x[0, place] for place in self.places]

    def enter(self, run: Run) -> Run:
        """The run that takes the steps, at the state of the other one."""
        _share(run, self.inner)
        for place, entries in zip(self.places, self.entries, strict=True):
            run.x[:, place] = entries
        return self.inner

    def leave(self, run: Run, first: int) -> None:
        """Give back what was reached, and the samples from `first` on, as they are described."""
        _share(self.inner, run)
        self.entries = [run.x[0, place] for place in self.places]
        nx, last = run.x.shape[1], run.done + (run.shown_x is not run.x)
        samples = run.out.reshape(len(run.x), -1, nx)[:, first:last].reshape(-1, nx)
        states = np.concatenate([run.x, samples])
        self.describe(states)
        run.x[:] = states[:len(run.x)]
        run.out.reshape(len(run.x), -1, nx)[:, first:last] = states[len(run.x):].reshape(len(run.x), -1, nx)

    def describe(self, states: Floats) -> None:
        """In states (rows, nx), in place: poses and velocities of the roots in the world."""
        sound = np.flatnonzero(np.isfinite(states).all(axis=1))
        if not len(sound):
            return
        motion = _motion(self.inner.model, np.ascontiguousarray(states[sound]), [each.frame for each in self.hung])
        for i, place in enumerate(self.places):
            attitude, velocity = motion.attitude[:, i], motion.velocity[:, i]
            states[sound[:, None], place] = np.concatenate([
                motion.position[:, i], quaternions(attitude), velocity[:, 3:],
                np.einsum("bji,bj->bi", attitude, velocity[:, :3])], axis=1)


def _share(run: Run, other: Run) -> None:
    """Let the other run be where this one is."""
    vars(other).update({name: vars(run)[name] for name in SHARED})


def _motion(model: Model, x: Floats, frames: list[Frame]) -> Motion:
    """How frames move in states (rows, nx); one state at a time, so that the last bit does not depend on how many there are."""
    with choosing(ONE):
        return motion_of_frames(model, model.batch_of(x), np.zeros((len(x), model.nv)), frames)


def _fired(run: Run) -> frozenset[str]:
    return frozenset(run.handler.fired) if run.handler is not None else frozenset()
