"""A model in words: its tree, its mass properties, what acts on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bough.describe import CentralGravity, outline

if TYPE_CHECKING:
    from bough.model.model import Model


def tree_text(model: Model) -> str:
    """The tree of bodies with joints, degrees of freedom and masses, under a line of totals."""
    return "Model" + outline.of(model.system).removeprefix("System")


@dataclass(frozen=True)
class MassProperties:
    """Mass [kg], mass centre [m] and inertia about it [kg m^2] of the whole system, world axes."""

    mass: float
    center: np.ndarray
    inertia: np.ndarray


def mass_properties(model: Model, q: Any = None) -> MassProperties:
    """Those of the system in the position q, or in its initial one."""
    states = np.repeat(np.atleast_2d(model.q0 if q is None else q), 4, axis=0)      # in lanes, as results ask for poses
    seen = model.bodies(states)
    arm, turn = (seen.com - seen.center_of_mass[:, None])[0], seen.attitude[0]
    own = np.array([body.inertia for body in model.system.bodies.values()])
    inertia = np.einsum("kij,kjl,kml->im", turn, own, turn)
    inertia += np.einsum("k,kj,kj->", seen.mass, arm, arm) * np.eye(3) - np.einsum("k,ki,kj->ij", seen.mass, arm, arm)
    return MassProperties(float(seen.mass.sum()), seen.center_of_mass[0], inertia)


def loads(model: Model) -> list[str]:
    """What acts on the system, one line each."""
    system = model.system
    joints = [(body.joint.name or name, body.joint) for name, body in system.bodies.items()]
    springs = [name for name, joint in joints if any(joint.stiffness or ())]
    dampers = [name for name, joint in joints if any(joint.damping or ())]
    motors = [name for name, joint in joints if any(value != 0.0 for value in joint.torque or ())]
    found = [_gravity(system.gravity)]
    found += [f"{what}: {_listed(names)}" for what, names in
              (("springs", springs), ("dampers", dampers), ("joint torques", motors)) if names]
    found += [f"wrench {w.name} on {w.body}" for w in system.wrenches.values()]
    return found


def wheels(model: Model) -> list[str]:
    """The wheels, one line each."""
    return [
        f"{w.name} in {w.body}: {w.inertia:g} kg m^2, {w.speed:g} rad/s, {'driven' if w.driven else 'speed held'}"
        for w in model.system.wheels.values()
    ]


def _gravity(gravity: Any) -> str:
    if isinstance(gravity, CentralGravity):
        return f"central gravity: mu {gravity.mu:g} m^3/s^2, at {np.linalg.norm(gravity.position) / 1e3:g} km"
    return f"gravity: {', '.join(f'{g:g}' for g in gravity)} m/s^2" if any(gravity) else "no gravity"


def _listed(names: list[str]) -> str:
    return ", ".join(names[:12]) + (f" and {len(names) - 12} more" if len(names) > 12 else "")
