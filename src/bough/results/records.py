"""What can be recorded, and the variables that each name stands for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from bough.compile.coordinates import holdable
from bough.describe import CentralGravity, System
from bough.describe.parts import Loop, Part, Wheel
from bough.errors import StateError, nearest
from bough.results.elements import VARIABLES


class Meaning(NamedTuple):
    """The axes of a variable behind run and time, its unit, and what it is."""

    dims: tuple[str, ...]
    units: str
    long_name: str


def _of_part(kind: type[Part]) -> dict[str, Meaning]:
    return {name: Meaning(each.dims, each.units, each.meaning) for name, each in kind.recorded.items()}


SPEED, AXIS, BODY, NODE = ("v_name",), ("axis",), ("body", "axis"), ("node", "axis")
RECORDS: dict[str, dict[str, Meaning]] = {
    "state": {
        "q": Meaning(("q_name",), "", "joint and modal coordinates"),
        "v": Meaning(SPEED, "", "joint and modal speeds"),
    },
    "pose": {
        "position": Meaning(BODY, "m", "position of body origins, world axes"),
        "attitude": Meaning(("body", "quaternion"), "", "attitude of bodies, body axes to world axes"),
    },
    "velocity": {
        "velocity": Meaning(BODY, "m/s", "velocity of body origins, world axes"),
        "angular_velocity": Meaning(BODY, "rad/s", "angular velocity of bodies, world axes"),
    },
    "acceleration": {
        "a": Meaning(SPEED, "", "joint and modal accelerations"),
        "acceleration": Meaning(BODY, "m/s^2", "acceleration of body origins, world axes"),
        "angular_acceleration": Meaning(BODY, "rad/s^2", "angular acceleration of bodies, world axes"),
    },
    "reactions": {
        "reaction": Meaning(("body", "component"), "N m, N", "moment and force of the parent on the body, body axes"),
    },
    "energy": {
        "kinetic_energy": Meaning((), "J", "kinetic energy"),
        "potential_energy": Meaning((), "J", "potential energy of gravity, springs and strain"),
        "total_energy": Meaning((), "J", "total energy"),
    },
    "momentum": {
        "angular_momentum": Meaning(AXIS, "N m s", "angular momentum about the mass center, world axes"),
        "linear_momentum": Meaning(AXIS, "N s", "linear momentum, world axes"),
        "center_of_mass": Meaning(AXIS, "m", "mass center, world axes"),
    },
    "nodes": {
        "node_position": Meaning(NODE, "m", "position of nodes of flexible bodies, world axes"),
        "node_velocity": Meaning(NODE, "m/s", "velocity of nodes of flexible bodies, world axes"),
        "node_attitude": Meaning(("node", "quaternion"), "", "attitude of nodes of flexible bodies, node axes to world axes"),
        "node_deflection": Meaning(NODE, "m", "displacement of nodes from their undeformed places, body axes"),
        "node_rotation": Meaning(NODE, "rad", "rotation vector of nodes from their undeformed attitudes, body axes"),
    },
    "strain": {
        "strain_energy": Meaning(("body",), "J", "strain energy of bodies"),
    },
    "shapes": {
        "outline": Meaning(("point", "axis"), "m", "points of deformed flexible bodies, world axes; 'lines' joins them"),
    },
    "wheels": _of_part(Wheel),
    "torque": {
        "joint_torque": Meaning(SPEED, "", "joint torques and forces, modal forces, described and controlled, without springs"),
        "motor_torque": Meaning(("wheel",), "N m", "motor torques of the description and the controller"),
    },
    "orbit": {
        "orbit_position": Meaning(AXIS, "m", "mass center relative to the attracting center, inertial axes"),
        "orbit_velocity": Meaning(AXIS, "m/s", "velocity of the mass center, inertial axes"),
    },
    "loops": _of_part(Loop),
    "drives": {
        "drive_force": Meaning(("drive",), "", "force or torque that holds a coordinate, locked or prescribed; NaN: it is free"),
    },
    "elements": {name: Meaning(each.dims, each.units, each.meaning) for name, each in VARIABLES.items()},
}
OF_FLEXIBLE_BODIES = ("nodes", "strain", "shapes")


def chosen(record: str | Iterable[str] | None, system: System, *, controlled: bool = False) -> tuple[str, ...]:
    """The names to record: those given, or a sensible choice; in orbit, the orbit always.

    >>> chosen(["state", "enrgy"], System("arm"))
    Traceback (most recent call last):
    bough.errors.StateError: record: there is no 'enrgy', did you mean 'energy'?
    """
    flexible = any(body.flexible is not None for body in system.bodies.values())
    if record is None:
        named = ["state", "energy", "momentum", "pose"]
        named += ["nodes", "strain"] if flexible else []
        named += ["loops"] if system.loops else []
        named += ["drives"] if holdable(system) else []
        named += ["elements"] if system.elements else []
        named += ["wheels"] if system.wheels else []
        named += ["torque"] if controlled else []
    else:
        named = [record] if isinstance(record, str) else list(record)
    if not named:
        raise StateError(f"record: it is empty; choose out of {', '.join(RECORDS)}")
    for name in named:
        if name not in RECORDS:
            remedy = nearest(name, RECORDS) or f"; choose out of {', '.join(RECORDS)}"
            raise StateError(f"record: there is no {name!r}{remedy}")
    in_orbit = isinstance(system.gravity, CentralGravity)
    if "orbit" in named and not in_orbit:
        raise StateError("record: 'orbit' needs central gravity; the mass center of this system is in 'momentum'")
    for name, parts, noun in (
        ("wheels", system.wheels, "wheels"), ("loops", system.loops, "loops"), ("elements", system.elements, "force elements"),
        ("drives", holdable(system), "held coordinates"),
    ):  # fmt: skip
        if name in named and not parts:
            raise StateError(f"record: {name!r}, but system {system.name!r} has no {noun}; leave it out")
    for name in OF_FLEXIBLE_BODIES:
        if name in named and not flexible:
            raise StateError(f"record: {name!r}, but system {system.name!r} has no flexible bodies; leave it out")
    return tuple(dict.fromkeys([*named, *(["orbit"] if in_orbit else [])]))
