"""Permanent attachments without a loop: steps are taken with the attached tree mounted on the other one [B 98].

A loop costs its rows at every stage.  If no event opens it again, and nothing refers to the coordinates of the free root that it
holds, the steps are those of one larger tree instead: see `compile.mounted_trees`.  The state keeps its layout; before and after
steps the root's entries are converted from and to its pose and velocity in the world.  All other code deals with the loop.
"""
from __future__ import annotations

import copy
from itertools import combinations, islice
from typing import TYPE_CHECKING, Any

import numpy as np

from bough.analyze.body_motion import Motion, motion_of_frames, route_to_frames
from bough.compile.connections import MOST, Joined, can_change, closed, closing, reachable
from bough.compile.hold_tables import Hold
from bough.compile.kernel_calls import choosing
from bough.compile.layout import Floats
from bough.compile.mounted_trees import MountedTree, mount, mounted_system
from bough.describe import Detach, Event, Frame, Open
from bough.describe.orientation import quaternions
from bough.kernels.lanes import ONE
from bough.model import Model

if TYPE_CHECKING:
    from bough.integrate.run import Run

SHARED = ("t", "done", "steps", "rejected", "shown", "shown_x", "budget", "watch", "failure", "samples", "compiled", "out", "u_out",
          "progress", "turn", "goal", "reasons", "passing", "clock", "start", "dropped", "x", "u", "failed", "carry", "passed",
          "ahead")


def mounted_trees(model: Model, waiting: list[Event], controlled: bool) -> list[MountedTree]:
    """The attachments that need no loop for their steps, in the order of the description."""
    return [] if controlled else _mounted(model, {name for name in model.system.loops if not _openings(waiting, name)})


def _mounted(model: Model, staying: set[str]) -> list[MountedTree]:
    """Trees that these loops can mount."""
    found = list[MountedTree]()
    for name, loop in model.system.loops.items():
        if name in staying and model.whole.loops[name].open:
            tree = _mount(model, name, found)
            found += [] if tree is None else [tree.at(model.system, loop)]
    return found


def _mount(model: Model, name: str, others: list[MountedTree]) -> MountedTree | None:
    """The tree that a loop of the description can mount, if any; cached with the model."""
    key = "mount", name, frozenset(model.holds), tuple(each.form for each in others)
    if key not in model.family:
        described = model.whole.loops[name]
        model.family[key] = mount(model.system, described, closed(described), set(model.holds), others)
    found: MountedTree | None = model.family[key]
    return found


def build_mounted_ahead(model: Model, waiting: list[Event], implicit: bool) -> None:
    """Build the tables for permanent attachments: those that nothing opens, and those that may be the last of several of their
    name."""
    for names in reachable(model.whole) if can_change(model.whole) else ():
        now = model.switched(model.holds, model.marks, {name: closed(model.whole.loops[name]) for name in names})
        sure = {name for name in names if not _openings(waiting, name)}
        perhaps = [name for name in names if name not in sure and _may_stay(model, waiting, name)]
        sets = (more for n in range(len(perhaps) + 1) for more in combinations(perhaps, n))
        for trees in (_mounted(now, sure | set(more)) for more in islice(sets, MOST)):
            if trees:
                found = mounted_model(now, trees)
                for compliant in {False, implicit}:
                    found.tables_for(compliant=compliant)
                route_to_frames(found.tables, [each.frame for each in trees])


def _openings(waiting: list[Event], name: str) -> list[Event]:
    """The events that may open a loop."""
    return [event for event in waiting for action in event.do if isinstance(action, Detach | Open) and action.target == name]


def _may_stay(model: Model, waiting: list[Event], name: str) -> bool:
    """Whether a loop may be closed once more often than pending events open it."""
    opens, closes = _openings(waiting, name), [event for event in waiting if name in closing(event)]
    if any(event.repeat for event in opens):
        return False
    return any(event.repeat for event in closes) or len(closes) + (name in model.joined) > len(opens)


def mounted_model(model: Model, trees: list[MountedTree]) -> Model:
    """The model with these trees mounted; its tables are cached with those of the model."""
    loops = {each.loop for each in trees}
    key = "mounted", tuple(each.form for each in trees), frozenset(model.joined)
    if key not in model.family:
        model.family[key] = type(model)(mounted_system(model.whole, trees))
    joined: Joined = {name: loop for name, loop in model.joined.items() if name not in loops}
    held = {name: Hold() for each in trees for name in each.held}
    found: Model = model.family[key].switched({**model.holds, **held}, model.marks, joined)
    found.layout = model.layout
    joints = {name: body for each in trees for name, body in each.moved_joints(found.system).items()}
    return found.with_moved_joints(joints) if joints else found


class MountedRun:
    """A run that takes its steps with mounted trees; to all other code their roots are as described."""

    def __init__(self, run: Run, trees: list[MountedTree]) -> None:
        self.trees, self.fired = trees, _fired(run)
        self.of = run.model
        self.inner: Any = copy.copy(run)
        self.inner.laws = copy.copy(run.laws)
        self.inner.parameters, self.inner.mounted = run.parameters, None
        self.inner._source = np.zeros(0)                                    # its parameters are not valid
        self.inner.use(mounted_model(run.model, trees))
        first = run.model.layout.v.start
        places = [run.model.places[each.root.name] for each in trees]
        self.places = [np.r_[q:q + 7, first + v:first + v + 6] for q, v in places]
        self.entries = self._entries(run)

    def serves(self, run: Run, model: Model) -> bool:
        """Whether it still fits this run."""
        return self.of is model and self.fired == _fired(run)

    def _entries(self, run: Run) -> list[Floats]:
        """(13,) for each root: the joint coordinates and rates that replace its pose and velocity while it is mounted."""
        model, x, frames = self.inner.model, run.x[:1].copy(), [each.frame for each in self.trees]
        rates = np.concatenate([place[7:13 - tree.fixed] for tree, place in zip(self.trees, self.places, strict=True)])
        if not len(rates):
            for tree, place in zip(self.trees, self.places, strict=True):
                x[:, place[:7]], x[:, place[7:]] = tree.coordinates(np.zeros(3), np.eye(3)), 0.0
            return [x[0, place] for place in self.places]
        now = _motion(run.model, x, [*(each.on for each in self.trees), *(each.by for each in self.trees), *frames])
        n = len(frames)
        for i, (tree, place) in enumerate(zip(self.trees, self.places, strict=True)):
            inverse = now.attitude[0, i].T
            at, turn = inverse @ (now.position[0, n + i] - now.position[0, i]), inverse @ now.attitude[0, n + i]
            x[:, place[:7]], x[:, place[7:]] = tree.coordinates(at, turn), 0.0
        x = np.repeat(x, len(rates) + 1, axis=0)                            # velocities are linear in the rates
        x[1:, rates] = np.eye(len(rates))
        velocities = _motion(model, x, frames).velocity.reshape(len(x), -1)
        wanted = now.velocity[0, 2*n:].ravel() - velocities[0]
        x[0, rates] = np.linalg.lstsq((velocities[1:] - velocities[0]).T, wanted, rcond=None)[0]
        return [x[0, place] for place in self.places]

    def enter(self, run: Run) -> Run:
        """The run that takes the steps, at the state of the given one."""
        _share(run, self.inner)
        for place, entries in zip(self.places, self.entries, strict=True):
            run.x[:, place] = entries
        return self.inner

    def leave(self, run: Run, first: int) -> None:
        """Copy the final state and the samples from `first` on back, with the root entries as described."""
        _share(self.inner, run)
        self.entries = [run.x[0, place] for place in self.places]
        nx, last = run.x.shape[1], run.done + (run.shown_x is not run.x)
        samples = run.out.reshape(len(run.x), -1, nx)[:, first:last].reshape(-1, nx)
        states = np.concatenate([run.x, samples])
        self.describe(states)
        run.x[:] = states[:len(run.x)]
        run.out.reshape(len(run.x), -1, nx)[:, first:last] = states[len(run.x):].reshape(len(run.x), -1, nx)

    def describe(self, states: Floats) -> None:
        """Convert states (rows, nx) in place: root entries become poses and velocities in the world."""
        sound = np.flatnonzero(np.isfinite(states).all(axis=1))
        if not len(sound):
            return
        motion = _motion(self.inner.model, np.ascontiguousarray(states[sound]), [each.frame for each in self.trees])
        for i, place in enumerate(self.places):
            attitude, velocity = motion.attitude[:, i], motion.velocity[:, i]
            states[sound[:, None], place] = np.concatenate([
                motion.position[:, i], quaternions(attitude), velocity[:, 3:],
                np.einsum("bji,bj->bi", attitude, velocity[:, :3])], axis=1)


def _share(run: Run, other: Run) -> None:
    """Copy the progress of a run to another one."""
    vars(other).update({name: vars(run)[name] for name in SHARED})


def _motion(model: Model, x: Floats, frames: list[Frame]) -> Motion:
    """Motion of frames in states (rows, nx), one state at a time: results do not depend on the number of rows to the last bit."""
    with choosing(ONE):
        return motion_of_frames(model, model.batch_of(x), np.zeros((len(x), model.nv)), frames)


def _fired(run: Run) -> frozenset[str]:
    return frozenset(run.handler.fired) if run.handler is not None else frozenset()
