"""Bodies that an event lets go: until then six coordinates that are locked stand between them and their parents.

A weld becomes a free joint that is locked. Any other joint stays, and a body without mass, on a locked free joint, carries it: when
the body goes, the joint is locked instead, and since the carrier has no mass nothing jumps.
"""

from bough.describe.body import Body
from bough.describe.joint import Free
from bough.describe.orientation import IDENTITY
from bough.describe.part import SystemView
from bough.describe.parts.connection import Detach

LOCKED = "locked"


def carrier_name(body: str) -> str:
    """Of what carries the joint of a body that can be detached."""
    return f"{body}_separation"


def detachable(system: SystemView) -> list[Body]:
    """The bodies that events detach from their parents."""
    actions = [action for event in system.events.values() for action in event.do if isinstance(action, Detach)]
    names = {action.target for action in actions if action.target not in system.loops}
    return [body for body in system.bodies.values() if body.name in names or body.joint.name in names]


def separable(system: SystemView) -> dict[str, Body]:
    """The bodies of a system, in which those that can be detached have what it takes."""
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


