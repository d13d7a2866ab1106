"""Stops at the ends of joints' ranges."""

import math

import numpy as np

from bough.describe import System
from bough.describe.part import all_speeds
from bough.errors import DescriptionError
from bough.exchange.urdf.robot import Robot

FREQUENCY = 25.0  # Hz: of the joint on its stop, with its effective inertia at zero coordinates
RATIO = 0.5  # of the critical damping


def add_stops(system: System, robot: Robot) -> None:
    """A spring and a damper beyond each end of each range. The effective inertia of a joint, all others free, is 1/(M^-1)_ii."""
    ranged = {joint.name: joint.limit for joint in robot.joints.values() if joint.limit and joint.limit.lower is not None}
    effective = _effective_inertias(system) if ranged else {}
    rate = 2 * math.pi * FREQUENCY
    for body in system.bodies.values():
        limit = ranged.get(body.joint.name or "")
        if limit is None or limit.lower is None or limit.upper is None or any(body.joint.locked):
            continue
        if limit.lower >= limit.upper:
            robot.leave("position limit of an empty range", f"{body.joint.name} [{limit.lower:g}, {limit.upper:g}]")
            continue
        [coordinate] = body.speed_names
        spring = {"stiffness": effective[coordinate] * rate**2, "damping": 2 * RATIO * effective[coordinate] * rate}
        system.stop(f"{body.joint.name} lower", coordinate=coordinate, below=limit.lower, **spring)
        system.stop(f"{body.joint.name} upper", coordinate=coordinate, above=limit.upper, **spring)


def _effective_inertias(system: System) -> dict[str, float]:
    model = system.compile()
    q = np.concatenate([body.joint.neutral for body in system.bodies.values()])
    M = model.mass_matrix(q)
    try:
        inertias = 1.0 / np.diag(np.linalg.inv(M))
    except np.linalg.LinAlgError:
        inertias = np.zeros(len(M))
    found = dict(zip(all_speeds(system), inertias.tolist(), strict=True))
    for name, value in found.items():
        if not value > 0.0:
            text = f"coordinate {name!r} feels the inertia {value:g}, which no stop can be fitted to"
            raise DescriptionError(f"{text}; give limits='ignore', or the links beyond it mass and inertia")
    return found
