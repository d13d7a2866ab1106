"""Effects that change the energy or the momenta of a system; without them, a drift is an error of the integration."""
from __future__ import annotations

from bough.analyze.deformed_masses import linearized
from bough.compile.coordinates import holdable
from bough.describe import CentralGravity, System
from bough.describe.parts import parts_of


def nonconservative_effects(system: System, *, controlled: bool) -> list[str]:
    """Effects that do work on the system or dissipate energy; empty if its energy is conserved."""
    found = [effect for body in system.bodies.values() for effect in body.joint.nonconservative_effects()]
    found += [effect for part in parts_of(system) for effect in part.nonconservative_effects()]
    others = {
        "modal damping": any(body.flexible is not None and body.flexible.D.any() for body in system.bodies.values()),
        "linearized flexible bodies": linearized(system),
        "prescribed motion": any(coordinate.motions for coordinate in holdable(system).values()),
        "a controller": controlled,
    }
    return list(dict.fromkeys(found + [effect for effect, present in others.items() if present]))


def external_effects(system: System, *, base_pushed: bool) -> list[str]:
    """External effects, and approximations of the motion; empty if the momenta are conserved."""
    roots = [body.joint for body in system.bodies.values() if body.parent is None]
    found = {
        "a fixed base": any(joint.kind != "free" for joint in roots),
        "gravity": isinstance(system.gravity, CentralGravity) or any(system.gravity),
        "a base that is held": any(system.bodies[coordinate.body].parent is None for coordinate in holdable(system).values()),
        "a force between base and world": any(joint.nonconservative_effects() or any(joint.stiffness or ()) for joint in roots),
        **{effect: True for part in parts_of(system) for effect in part.external_effects()},
        "a controller": base_pushed,
        "linearized flexible bodies": linearized(system),
    }
    return [cause for cause, present in found.items() if present]
