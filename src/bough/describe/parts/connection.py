"""Event actions on connections: attach, detach, close, open, stiffen.

An attachment is a loop that is open at the start: `Attach` describes and closes it, `Close` and `Open` switch any described loop,
and `Detach` opens a loop or an attachment, or releases a body from its parent.

A body that can be released has six locked coordinates between it and its parent until then. A weld becomes a locked free joint. Any
other joint stays, carried by a massless body on a locked free joint; on release the joint is locked instead, and since the carrier
has no mass nothing jumps.
"""

from collections.abc import Iterator
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import BeforeValidator, model_validator

from bough.describe.base import Description, Fault, among
from bough.describe.body import WORLD, Body, FrameField
from bough.describe.joint import Free, Weld
from bough.describe.motions import LOCKED
from bough.describe.numeric import Text, above_zero, at_least_zero, shown
from bough.describe.orientation import IDENTITY
from bough.describe.part import SystemView, listed
from bough.describe.parts.loop import Closure, Loop, read_closure
from bough.errors import nearest

Pose = Literal["present", "nominal"]
GAP, ANGLE = 0.1, 0.1               # m, rad: what an attachment is pulled over, unless it says otherwise
MaybeClosure = Annotated[Closure | None, BeforeValidator(lambda value: None if value is None else read_closure(value))]


class Targeted(Description):
    """An action on what its `target` names, and on nothing else."""

    target: Text

    def __init__(self, target: str) -> None:
        super().__init__(target=target)


class Attach(Description):
    """An action: connect the frame `b` to the frame `a` by a joint, by default a weld. Speeds jump according to the impulse
    through the joint, which conserves momentum and dissipates energy.

    With `pose` "present" the relative pose at the event is kept: `a` and `b` count as coincident, wherever they are. With
    "nominal" they are pulled together into the nominal pose of the joint, which must be near: within `gap` [m] and `angle` [rad]
    (0.1 each by default). The attachment has a `name`, by default that of the event: use it to open it with `Detach`, to measure
    its load with `Output(load=...)`, and to find it among the loops of a result.

    >>> from bough.describe.body import Frame
    >>> Attach("hand", Frame("target", at=(0, 0, 0.5)))
    Attach(a=Frame(body='hand'), b=Frame(body='target', at=(0.0, 0.0, 0.5)))
    >>> Attach("hand", "target", pose="present", gap=0.01)
    Traceback (most recent call last):
    bough.errors.DescriptionError: attach: gap is 0.01, but at the present pose nothing is pulled; leave it out, or give pose='nominal'
    """  # noqa: E501

    a: FrameField
    b: FrameField
    joint: MaybeClosure = None
    name: Text | None = None
    pose: Annotated[Pose, among(Pose)] = "present"
    gap: Annotated[float, above_zero("m")] | None = None
    angle: Annotated[float, above_zero("rad")] | None = None

    def __init__(self, a: Any, b: Any, joint: Any = None, *, name: str | None = None, pose: str = "present",
                 gap: float | None = None, angle: float | None = None) -> None:
        super().__init__(a=a, b=b, joint=joint, name=name, pose=pose, gap=gap, angle=angle)

    @model_validator(mode="after")
    def _check(self) -> Self:
        for key in ("gap", "angle"):
            if self.pose == "present" and (given := getattr(self, key)) is not None:
                text = f"{key} is {shown(given)}, but at the present pose nothing is pulled; leave it out, or give pose='nominal'"
                raise Fault(key, text)
        return self

    @property
    def target(self) -> str:
        """In words: what is attached to what."""
        return f"{self.b.label} to {self.a.label}"

    def loop(self, event: str) -> Loop:
        """The loop that it closes."""
        return Loop(self.name or event, self.joint or Weld(), self.a, self.b, open=True)

    def problems(self, system: SystemView) -> Iterator[str]:
        """Errors in its system, but for those of its frames, which its loop reports."""
        a, b = self.a.body, self.b.body
        if self.joint is None and a != b and (inner := _inner(system, a, b)):
            outer = b if inner == a else a
            yield (f"attaches {outer!r} to {inner!r}, which carries it already; give joint=Weld(), or another, to close a loop "
                   "between them")


class Detach(Targeted, init=False):
    """An action: release `target`. An attachment or a loop opens. A body separates from its parent together with everything it
    carries; its joint keeps the position it has at that time. A welded body gets six coordinates that are locked until then
    (`stage.x`, ...); for any other joint, a massless body `stage_separation` has them: the displacement from where the joint would
    be.

    >>> Detach("stage")
    Detach(target='stage')
    """

    def problems(self, system: SystemView) -> Iterator[str]:
        bodies = [body for body in system.bodies.values() if self.target in (body.name, body.joint.name)]
        if self.target in system.loops:
            if bodies:
                yield f"detach {self.target!r} may be a loop or a body; give them different names"
        elif not bodies:
            known = [*system.loops, *system.bodies]
            yield f"detach {self.target!r} names no loop, attachment or body{nearest(self.target, known) or listed(known)}"
        elif bodies[0].joint.kind == "free" and not all(bodies[0].joint.locked):
            yield f"detach {self.target!r} names a body that nothing holds: its joint is free; name one that a joint holds"
        elif (tank := system.tanks.get(bodies[0].name)) is not None and tank.shape is None and tank.levels is None:
            yield (f"detach {self.target!r} names a tank whose propellant is a point, which has no attitude; give it a shape or "
                   "levels, or detach a body that carries it")


class OnLoop(Targeted, init=False):
    """An action on the loop `target`."""

    def problems(self, system: SystemView) -> Iterator[str]:
        if self.target not in system.loops:
            known = list(system.loops)
            yield f"{self.noun} {self.target!r} names no loop of the system{nearest(self.target, known) or listed(known)}"


class Close(OnLoop, init=False):
    """An action: close the loop `target`, which is open. Its gap must be closed to 1e-6 m and rad at that time.

    >>> Close("strut")
    Close(target='strut')
    """


class Open(OnLoop, init=False):
    """An action: open the loop `target`.

    >>> Open("strut")
    Open(target='strut')
    """


class Stiffen(Description):
    """An action: multiply the stiffness and damping of the bushing `target` by `scale`. This models a compliant capture: a bushing
    with initial scale 0 engages, is stiffened, and is replaced by an Attach. The change in the bushing's stored energy is counted
    as work of drives.

    >>> Stiffen("grip", 0.1)
    Stiffen(target='grip', scale=0.1)
    """

    target: Text
    scale: Annotated[float, at_least_zero("")]

    def __init__(self, target: str, scale: float) -> None:
        super().__init__(target=target, scale=scale)

    def problems(self, system: SystemView) -> Iterator[str]:
        if self.target not in system.bushings:
            known = list(system.bushings)
            yield f"stiffen {self.target!r} names no bushing of the system{nearest(self.target, known) or listed(known)}"


Connecting: TypeAlias = Attach | Detach | Close | Open | Stiffen


def _inner(system: SystemView, a: str, b: str) -> str:
    """The one of two bodies that carries the other, if one does; not the world, which carries all."""
    for one, other in ((a, b), (b, a)):
        path, at = set[str](), one
        while at in system.bodies and at not in path:
            path.add(at)
            at = system.bodies[at].parent or WORLD
        if other in path:
            return other
    return ""


def carrier_name(body: str) -> str:
    """The name of the body that carries the joint of a body that can be detached."""
    return f"{body}_separation"


def detachable(system: SystemView) -> list[Body]:
    """The bodies that events detach from their parents."""
    actions = [action for event in system.events.values() for action in event.do if isinstance(action, Detach)]
    names = {action.target for action in actions if action.target not in system.loops}
    return [body for body in system.bodies.values() if body.name in names or body.joint.name in names]


def separable(system: SystemView) -> dict[str, Body]:
    """The bodies of a system, in which those that can be detached have the coordinates for it."""
    bodies, carriers = dict(system.bodies), dict[str, Body]()
    for body in detachable(system):
        carrier = carrier_name(body.name)
        if body.joint.kind == "free" or body.parent == carrier:                 # it has it already
            continue
        held = Free(motion=[LOCKED] * 6)
        if body.joint.kind == "weld":
            bodies[body.name] = body.model_copy(update={"joint": held})
        else:
            place = {"parent": carrier, "node": None, "at": (0.0, 0.0, 0.0), "orient": IDENTITY}
            bodies[body.name] = body.model_copy(update=place)
            carriers[carrier] = Body(carrier, parent=body.parent, node=body.node, at=body.at, orient=body.orient, joint=held)
    return bodies | carriers


def separation_of(system: SystemView, name: str) -> tuple[Body, Body | None]:
    """Of a body that a Detach names: the one whose six coordinates it releases, and the one whose joint it locks, if another."""
    body = next(body for body in system.bodies.values() if name in (body.name, body.joint.name))
    carrier = system.bodies.get(carrier_name(body.name))
    return (body, None) if carrier is None or body.parent != carrier.name else (carrier, body)
