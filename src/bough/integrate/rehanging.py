"""Attachments for good, without a loop: steps are taken with the attached body hung where it is attached [B 98].

A weld of a rigid root onto another tree costs six rows of a loop at every stage.  Where no event opens it again, and nothing looks
at the coordinates of the root, the steps are those of a tree instead: the root's free joint hangs at the frame a and is locked
where frame b then coincides with it.  States have the same entries; before and after steps those of the root are turned into what
they are described as, its pose and velocity in the world.  Everything but the steps sees the loop.
"""
from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bough.analyze.body_motion import frame_motion
from bough.compile.connections import Joined
from bough.compile.hold_tables import Hold
from bough.compile.layout import Floats
from bough.describe import Body, Close, Detach, Distance, Event, Frame, Free, Loop, Open, System
from bough.describe.orientation import from_matrix, quaternions, rotation_matrix
from bough.model import Model

if TYPE_CHECKING:
    from bough.integrate.run import Run

LOCKED = ["locked"]*6
SHARED = ("t", "done", "steps", "rejected", "shown", "shown_x", "budget", "watch", "failure", "samples", "compiled", "out", "u_out",
          "progress", "turn", "goal", "reasons", "passing", "clock", "start", "dropped", "x", "u", "failed", "carry", "passed",
          "ahead")


@dataclass(frozen=True)
class Hung:
    """A root, and the loop by which it hangs; `on`: the frame where it hangs, `by`: the root's own that coincides with it."""
    body: Body
    loop: str
    on: Frame
    by: Frame


def hung_roots(model: Model, waiting: list[Event], controlled: bool) -> list[Hung]:
    """The attachments that need no loop for their steps, in the order in which they are described."""
    found, system = list[Hung](), model.system
    for name in system.loops:
        if model.whole.loops[name].open and not controlled and not _opens(waiting, name):
            hung = _hung(model, system.loops[name], {each.body.name for each in found})
            found += [] if hung is None else [hung]
    return found


def _opens(waiting: list[Event], name: str) -> bool:
    return any(isinstance(action, Detach | Open) and action.target == name for event in waiting for action in event.do)


def _hung(model: Model, loop: Loop, others: set[str]) -> Hung | None:
    """The end of a weld that is a rigid free root which nobody looks at, and does not carry the other end."""
    if isinstance(loop.joint, Distance) or loop.joint.n_v:
        return None
    for by, on in ((loop.b, loop.a), (loop.a, loop.b)):
        body = model.system.bodies.get(by.body)
        free = body is not None and body.name not in others and _can_hang(model, body)
        if body is not None and free and not _carries(model.system, body.name, on.body, others):
            return Hung(body, loop.name, on, by)
    return None


def _can_hang(model: Model, body: Body) -> bool:
    joint, names = body.joint, {*body.speed_names[:6], *body.coordinate_names[:7], body.name, body.joint.name}
    plain = joint.kind == "free" and not any((joint.damping, joint.torque, joint.stiffness)) and joint.motion is None
    return (plain and body.parent is None and body.flexible is None and not names & set(model.holds)
            and not names & set(_looked_at(model.system)))


def _looked_at(system: System) -> list[str]:
    """The coordinates that parts of a system name."""
    found = [name for output in system.outputs.values() for name in (output.coordinate, output.rate)]
    found += [port.coordinate for port in system.inputs.values()] + [stop.coordinate for stop in system.stops.values()]
    found += [friction.coordinate for friction in system.frictions.values()]
    found += [name for coupling in system.couplings.values() for name in coupling.terms]
    for event in system.events.values():
        found += [event.when] if isinstance(event.when, str) else [each.of for each in event.conditions]
        found += [action.target for action in event.do if not isinstance(action, Close | Open)]
    return [name for name in found if name]


def _carries(system: System, root: str, body: str, others: set[str]) -> bool:
    """Whether a root carries a body, or one that hangs elsewhere does: then nothing would hold them."""
    while body in system.bodies and (parent := system.bodies[body].parent) is not None:
        body = parent
    return body in (root, "world") or body in others


def hung_model(model: Model, hung: list[Hung]) -> Model:
    """The model in which these roots hang where they are attached; tables are kept with the model's."""
    key = "hung", tuple((each.loop, each.body.name) for each in hung), tuple(model.joined)
    if key not in model.family:
        system = model.whole.copy()
        system.loops = {name: loop for name, loop in model.whole.loops.items() if name not in {each.loop for each in hung}}
        for each in hung:
            place: dict[str, Any] = {"parent": each.on.body, "node": each.on.node, "at": each.on.at, "orient": each.on.orient}
            place["joint"] = Free(motion=LOCKED)
            system.bodies[each.body.name] = each.body.model_copy(update=place)
        model.family[key] = type(model)(system)
    joined: Joined = {name: loop for name, loop in model.joined.items() if name not in {each.loop for each in hung}}
    held = {name: Hold() for each in hung for name in each.body.speed_names[:6]}
    found: Model = model.family[key].switched({**model.holds, **held}, model.contacts, joined)
    found.layout = model.layout
    return found


class Rehung:
    """A run whose steps are taken with roots that hang; everybody else sees them as they are described."""

    def __init__(self, run: Run, hung: list[Hung]) -> None:
        self.hung = hung
        self.inner: Any = copy.copy(run)
        self.inner.laws = copy.copy(run.laws)
        self.inner.parameters, self.inner.rehung = run.parameters, None
        self.inner._source = np.zeros(0)                                    # so that its parameters are made
        self.inner.use(hung_model(run.model, hung))
        self.places = [run.model.places[each.body.name] for each in hung]
        self.rest = [np.concatenate([at, quaternion]) for at, quaternion in (_rest(each.by) for each in hung)]

    def enter(self, run: Run) -> Run:
        """The run that takes the steps, at the state of the other one."""
        for name in SHARED:
            setattr(self.inner, name, getattr(run, name))
        for (q, v), rest in zip(self.places, self.rest, strict=True):
            at = run.model.layout.v.start + v
            run.x[:, q:q + 7], run.x[:, at:at + 6] = rest, 0.0
        return self.inner

    def leave(self, run: Run, first: int) -> None:
        """Give back what was reached, and the samples from `first` on, as they are described."""
        for name in SHARED:
            setattr(run, name, getattr(self.inner, name))
        nx, last = run.x.shape[1], run.done + (run.shown_x is not run.x)
        samples = run.out.reshape(len(run.x), -1, nx)[:, first:last].reshape(-1, nx)
        for states in (run.x, samples):
            self.describe(states)
        run.out.reshape(len(run.x), -1, nx)[:, first:last] = samples.reshape(len(run.x), -1, nx)

    def describe(self, states: Floats) -> None:
        """In states (rows, nx), in place: poses and velocities of the roots in the world."""
        sound = np.flatnonzero(np.isfinite(states).all(axis=1))
        if not len(sound):
            return
        model = self.inner.model
        state = model.state(np.ascontiguousarray(states[sound]))
        batch = model.batch(state.q, state.v, **({"orbit": state.orbit} if model.in_orbit else {}))
        motion = frame_motion(model, batch, np.zeros_like(state.v), [Frame(each.body.name) for each in self.hung])
        for i, (q, v) in enumerate(self.places):
            at = model.layout.v.start + v
            attitude = motion.attitude[:, i]
            states[sound, q:q + 3], states[sound, q + 3:q + 7] = motion.position[:, i], quaternions(attitude)
            states[sound, at:at + 3] = motion.velocity[:, i, 3:]
            states[sound, at + 3:at + 6] = np.einsum("bji,bj->bi", attitude, motion.velocity[:, i, :3])


def _rest(by: Frame) -> tuple[Floats, tuple[float, ...]]:
    """Where the body of a frame is in that frame: position and quaternion."""
    R = rotation_matrix(by.orient)
    return -R.T @ np.asarray(by.at), from_matrix(R.T)
