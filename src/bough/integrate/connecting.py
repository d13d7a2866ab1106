"""Events that change the connections in a run: loops that close and open, attachments, bodies that separate [B 98].

States have the same entries whatever is connected.  A loop that closes lets the speeds jump by the impulse through it; what opens,
or goes, goes on with the speeds that it has.
"""
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module

import numpy as np

from bough.analyze.body_motion import motion_of_frames, route_to_frames
from bough.analyze.equations_of_motion import mass_matrix_at
from bough.analyze.impulse import Jump, close, kinetic_energy
from bough.analyze.loop_constraints import assemble_position, gap_and_angle, gaps_at
from bough.analyze.whole_motion import WholeMotion, roots_of, whole_motion
from bough.compile.connections import can_pull, closed, held_at
from bough.compile.element_tables import SCALED, bushing_of
from bough.compile.hold_tables import Hold
from bough.compile.layout import Floats
from bough.compile.tank_tables import EMPTY
from bough.describe import Attach, Close, Detach, Distance, Event, Loop, Open, Stiffen
from bough.describe.parts.connection import ANGLE, GAP, Connecting, separation_of
from bough.errors import StateError
from bough.integrate.emptying import cut_off, mass_place
from bough.model import Model

CLOSABLE = 1e-6                 # m and rad: a described loop that is open by more cannot be closed by an event


class EventFailure(Exception):
    """An event cannot do what it says; the text tells why, and what to do."""


class ConnectionChange:
    """What an event changes: held coordinates and closed loops."""

    def __init__(self, model: Model, event: Event, x: Floats) -> None:
        self.model, self.event, self.x = model, event, x
        self.holds, self.joined = dict(model.holds), dict(model.joined)
        self.closing: dict[str, Attach | Close] = {}
        self.scales: dict[str, float] = {}
        self.cut_off: list[str] = []                            # tanks that can no longer feed their nozzles
        self.separated: dict[str, float] = {}                   # coordinates and speeds of the joints of detached bodies

    def fail(self, text: str) -> EventFailure:
        return EventFailure(f"event '{self.event.name}' {text}")

    def add(self, action: Connecting) -> str:
        """Add an action; returns a description of it."""
        if isinstance(action, Stiffen):
            self.scales[action.target] = action.scale
            return f"stiffens {action.target} to {action.scale:g}"
        if isinstance(action, Attach | Close):
            name = action.target if isinstance(action, Close) else action.name or self.event.name
            if name in self.joined:
                raise self.fail(f"closes '{name}', which is closed already; open or detach it before")
            self.joined[name], self.closing[name] = self._closed(name, action), action
            return f"closes {name}" if isinstance(action, Close) else f"attaches {action.target}"
        if isinstance(action, Open) or action.target in self.model.whole.loops:
            if action.target not in self.joined:
                verb = "opens" if isinstance(action, Open) else "detaches"
                raise self.fail(f"{verb} '{action.target}', which is not closed at that time; let it happen after what closes it")
            del self.joined[action.target]
            self.closing.pop(action.target, None)
            return f"{'opens' if isinstance(action, Open) else 'detaches'} {action.target}"
        return self._detach(action)

    def _detach(self, action: Detach) -> str:
        """Detach a body: its six coordinates are released, and its joint is locked."""
        free, joint = separation_of(self.model.system, action.target)
        names, tank = free.speed_names[:6], self.model.system.tanks.get(free.name)
        if not set(names) <= self.holds.keys():
            raise self.fail(f"detaches '{action.target}', which has gone already; detach it once")
        if tank is not None and self.x[mass_place(self.model, tank)] <= 0.0:
            raise self.fail(f"detaches tank '{tank.name}', which is empty: a body without mass cannot move by itself; give it a "
                            "residual, or detach a body that carries it")
        self.holds = {name: hold for name, hold in self.holds.items() if name not in names}
        cut = [each.name for each in cut_off(self.model, (joint or free).name)]
        self.cut_off += cut
        if joint is not None:
            speeds, (at, _) = joint.speed_names[:joint.joint.n_v], self.model.places[joint.name]
            self.holds |= {name: Hold() for name in speeds}
            self.separated |= dict.fromkeys(speeds, 0.0)
            self.separated |= zip(joint.coordinate_names[:joint.joint.n_q], self.x[at:at + joint.joint.n_q].tolist(), strict=True)
        return f"detaches {action.target}" + (f", and {' and '.join(cut)} cannot feed" if cut else "")

    def _closed(self, name: str, action: Attach | Close) -> Loop:
        """The loop as it will hold; an attachment at the present pose where its frames are now."""
        loop = self.model.whole.loops[name]
        if isinstance(action, Close) or action.pose == "nominal":
            return closed(loop)
        trial = self.model.switched(self.model.holds, self.model.marks, {**self.joined, name: closed(loop)})
        at, turn = between(trial, loop, self.x)
        if isinstance(loop.joint, Distance) and not at.any():
            raise self.fail(f"attaches '{loop.b.body}' by a distance of no length; let it happen where they are apart, or use "
                            "Spherical()")
        return held_at(loop, at, turn)

    def only_closes(self, holds: Mapping[str, Hold], marks: Sequence[str]) -> bool:
        """Whether loops that close are all that changes."""
        return holds == self.model.holds and tuple(marks) == self.model.marks and self.kept == self.model.joined

    def marks_after(self, marks: Sequence[str]) -> list[str]:
        """Marks, with those of tanks that are cut off from their nozzles and of bushings that the event scales."""
        others = [each for each in marks if bushing_of(each) not in self.scales]
        return [*others, *(name + EMPTY for name in self.cut_off),
                *(f"{name}{SCALED}{scale!r}" for name, scale in self.scales.items())]

    @property
    def kept(self) -> dict[str, Loop]:
        """The loops that were closed and stay so."""
        return {name: loop for name, loop in self.joined.items() if name not in self.closing}

    def close_loops(self, t: float, before: Model, after: Model, switched: Callable[..., Model]) -> Iterator[Jump]:
        """Pull what closes together, and let the speeds jump, in place; `before` is the model with all changes but these, and
        `switched` gives that with other holds, marks and loops."""
        if not self.closing:
            return
        try:
            jumping = list(self.closing)
            if self._pull_together(after):                          # at another position other loops move otherwise, too
                before, jumping = switched(after.holds, after.marks, {}), list(after.joined)
            yield close(before.with_tanks(self.x), after.with_tanks(self.x), jumping, self.x, reported=list(self.closing))
        except StateError as error:
            raise self.fail(f"at t = {t:.6g} s: {error}") from None

    def _pull_together(self, after: Model) -> bool:
        """Pull together what is not attached at its present pose: the nearest position by kinetic energy. Whether there is any."""
        pulled = {name: action for name, action in self.closing.items() if isinstance(action, Close) or action.pose == "nominal"}
        if not pulled:
            return False
        after = after.with_tanks(self.x)
        state = after.state(self.x)
        for name, action in pulled.items():
            gap, angle = gap_and_angle(after, state.q, name)
            limits = (CLOSABLE, CLOSABLE) if isinstance(action, Close) else (action.gap or GAP, action.angle or ANGLE)
            for what, value, limit, unit in (("gap", gap, limits[0], "m"), ("angle", angle, limits[1], "rad")):
                if value > limit:
                    remedy = ("close it where its ends meet" if isinstance(action, Close) else
                              f"let it happen nearer, or allow {what}={1.05*value:.2g}, or attach at pose='present'")
                    raise self.fail(f"closes '{name}', whose ends are {value:.4g} {unit} apart, more than {limit:g}; {remedy}")
        before = whole_motion(after, self.x) if floats(after) else None     # it keeps mass center and momenta
        try:
            state.q[:] = assemble_position(after, state.q.copy(), after.free, list(after.holds))
        except StateError as error:
            text, more, _ = str(error).partition("; give another")
            remedy = "; open what contradicts it first, or attach at pose='present'"
            raise StateError(text + remedy*bool(more)) from None
        if before is not None:
            keep_momenta(after, self.x, before)
        return True


def floats(model: Model) -> bool:
    """Whether nothing holds the system to the world."""
    roots = [body for body in model.system.bodies.values() if body.parent is None]
    held = any(set(body.speed_names[:6]) & set(model.holds) for body in roots)
    to_world = any("world" in (loop.a.body, loop.b.body) for loop in model.system.loops.values())
    return all(body.joint.kind == "free" for body in roots) and not held and not to_world


def keep_momenta(model: Model, x: Floats, before: WholeMotion) -> None:
    """After a pull, in place: shift the system as a whole so that its mass center is where it was, and add the rigid motion with
    which its momenta are what they were."""
    now = whole_motion(model, x)
    model.state(x).v[:] += np.linalg.solve(now.inertia, before.momenta - now.momenta) @ now.motions
    for q, _ in roots_of(model):
        x[q:q + 3] += before.center - now.center


def between(model: Model, loop: Loop, x: Floats) -> tuple[Floats, Floats]:
    """Place and attitude of a loop's frame b in its frame a; the loop is closed in the model, so that its nodes have hinges."""
    motion = motion_of_frames(model, model.batch_of(x[None].copy()), np.zeros((1, model.nv)), [loop.a, loop.b])
    (a, b), (turn, turned) = motion.position[0], motion.attitude[0]
    return turn.T @ (b - a), turn.T @ turned


def compute_ahead(model: Model, x: Floats) -> None:
    """Compute ahead what a first change would otherwise compute: mass properties, routes to all bodies and to the ends of
    attachments; import the libraries of an assembly, and prepare its calls."""
    kinetic_energy(model, x)
    if can_pull(model.whole):
        import_module("scipy.linalg.lapack")                                # which takes a quarter of a second
        if model.constrained:
            gaps_at(model, model.q0)
            mass_matrix_at(model, model.q0)
    for name in model.joined:
        route_to_frames(model.tables, [model.whole.loops[name].a, model.whole.loops[name].b])
