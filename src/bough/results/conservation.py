"""Whether a system conserves its energy and momenta, so that a drift is an error of the integration."""

from __future__ import annotations

from bough.compile.coordinates import holdable
from bough.describe import CentralGravity, Joint, Lock, System


def nonconservative_effects(system: System, *, controlled: bool) -> list[str]:
    """What does work on the system or dissipates energy; nothing if its energy is conserved."""
    joints = [body.joint for body in system.bodies.values()] + _loop_joints(system)
    held = [wheel.name for wheel in system.wheels.values() if not wheel.driven]
    held_coordinates = holdable(system)
    moved = [wheel.name for wheel in system.wheels.values() if wheel.driven and wheel.torque != 0.0]
    found = {
        "dampers": any(any(joint.damping or ()) for joint in joints),
        "modal damping": any(body.flexible is not None and body.flexible.D.any() for body in system.bodies.values()),
        "linearized flexible bodies": _linearized(system),
        "joint torques": any(_driven(joint) for joint in joints),
        "wheel motors": bool(held or moved),
        "external wrenches": bool(system.wrenches),
        "prescribed motion": any(coordinate.motions for coordinate in held_coordinates.values()),
        "locking events": any(isinstance(action, Lock) for event in system.events.values() for action in event.do),
        "stops with dampers": any(stop.damping for stop in system.stops.values()),
    }
    for element in system.elements.values():
        found[element.nonconservative] = True
    found["a controller"] = controlled
    return [cause for cause, present in found.items() if cause and present]


def external_effects(system: System, *, base_pushed: bool) -> list[str]:
    """What acts on the system from outside, or is left out of its motion; nothing if its momenta are conserved."""
    roots = [body.joint for body in system.bodies.values() if body.parent is None]
    found = {
        "a fixed base": any(joint.kind != "free" for joint in roots),
        "a loop to the world": any("world" in (loop.a.body, loop.b.body) for loop in system.loops.values()),
        "gravity": isinstance(system.gravity, CentralGravity) or any(system.gravity),
        "external wrenches": bool(system.wrenches),
        "a base that is held": any(system.bodies[coordinate.body].parent is None for coordinate in holdable(system).values()),
        "a force between base and world": any(
            _driven(joint) or any(joint.damping or ()) or any(joint.stiffness or ()) for joint in roots
        ),
    }
    for element in system.elements.values():
        found[element.external] = True
    found |= {"a controller": base_pushed, "linearized flexible bodies": _linearized(system)}
    return [cause for cause, present in found.items() if cause and present]


def _linearized(system: System) -> bool:
    """Whether a body's deformation is left out of its inertia: then neither energy nor momentum is exactly conserved."""
    return any(body.flexible is not None and body.n_modes and body.flexible.variant != "full" for body in system.bodies.values())


def _loop_joints(system: System) -> list[Joint]:
    return [loop.joint for loop in system.loops.values() if isinstance(loop.joint, Joint)]


def _driven(joint: Joint) -> bool:
    return any(value != 0.0 for value in joint.torque or ())
