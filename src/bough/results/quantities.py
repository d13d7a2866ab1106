"""The table of all quantities of results: each name that `record` accepts, with its variables of the dataset.

`result.plot` takes the same names, or those of single variables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from bough import flex, results
from bough.compile.coordinates import holdable
from bough.describe import CentralGravity, Distance, System
from bough.describe.orientation import quaternions
from bough.describe.parts import Coupling, Friction, Loop, Part, Tank, Wheel
from bough.errors import StateError, name_list, nearest
from bough.flex.choices import COMPONENTS
from bough.model import Model
from bough.results.recorded_parts import NOUNS, VARIABLES, along, flexible_bodies, recoveries

if TYPE_CHECKING:
    from bough.results.samples import Derive


class Axis(NamedTuple):
    """A dimension of the dataset after run and time: the names along it."""

    names: Callable[[Model], Iterable[str]]
    long_name: str = ""
    optional: bool = False  # variables along it are left out if it has no names


AXES = {
    "q_name": Axis(lambda model: model.names.q, "joint or modal coordinate"),
    "v_name": Axis(lambda model: model.names.v, "joint or modal speed"),
    "body": Axis(lambda model: model.names.bodies, "body"),
    "wheel": Axis(lambda model: model.names.wheels, "wheel", optional=True),
    "tank": Axis(lambda model: model.system.tanks, "tank"),
    "loop": Axis(lambda model: model.whole.loops, "loop"),
    "coupling": Axis(lambda model: model.system.couplings, "coupling"),
    "coupled": Axis(lambda model: coupled_names(model.system), "coordinate of a coupling"),
    "friction": Axis(lambda model: model.system.frictions, "friction"),
    "drive": Axis(lambda model: holdable(model.system), "coordinate that is held"),
    **{axis: Axis(lambda model, axis=axis: along(model.system, axis), nouns, optional=True)  # type: ignore[misc]
       for axis, nouns in NOUNS.items()},
    "node": Axis(lambda model: [f"{body}.{node}" for body, flexible in flexible_bodies(model.system).items()
                                for node in flexible.nodes.names], "node of a flexible body"),
    "stressed": Axis(lambda model: [f"{body}.{name}" for body, known in recoveries(model.system).items() for name in known.names],
                     "element of a flexible body"),
    "strained": Axis(lambda model: [f"{body}.{name}" for body, known in recoveries(model.system, "strain").items()
                                    for name in known.names], "element of a flexible body"),
    "tensor": Axis(lambda model: COMPONENTS, "components in body axes"),
    "input": Axis(lambda model: model.names.inputs, "input"),
    "output": Axis(lambda model: model.names.outputs, "output"),
    "axis": Axis(lambda model: "xyz"),
    "quaternion": Axis(lambda model: "xyzw", "scalar-last"),
    "component": Axis(lambda model: ("mx", "my", "mz", "fx", "fy", "fz"), "moment, force"),
}


def coupled_names(system: System) -> list[str]:
    """Coupling and coordinate, of all couplings in turn."""
    return [f"{name}: {each}" for name, coupling in system.couplings.items() for each in coupling.coordinates(system)]


class Quantity(NamedTuple):
    """A variable of the dataset."""

    dims: tuple[str, ...]  # after run and time
    units: str
    long_name: str
    derive: Derive  # from samples of the state
    units_of: str = ""  # coordinate of the dataset with the unit of each entry, if they differ


class Record(NamedTuple):
    """The variables that go by one name."""

    quantities: dict[str, Quantity]
    needs: str = ""  # required of the system; see PRESENT
    default: bool | Literal["controlled"] = False  # whether it is recorded unless `record` says otherwise
    evaluated: Literal["no", "motion", "acceleration"] = "motion"  # required evaluation of the model
    plotted: bool = True  # whether it has a figure; all of it is in the replay


def _of_part(kind: type[Part], derive: dict[str, Derive], **units_of: str) -> dict[str, Quantity]:
    """The recorded variables of a kind of part, with the functions that derive them and coordinates that hold their units."""
    return {name: Quantity(each.dims, each.units, each.meaning, derive[name], units_of.get(name, ""))
            for name, each in kind.recorded.items()}


AXIS, BODY, NODE = ("axis",), ("body", "axis"), ("node", "axis")
RECORDS: dict[str, Record] = {
    "state": Record({
        "q": Quantity(("q_name",), "", "joint and modal coordinates", lambda s: s.q, "q_unit"),
        "v": Quantity(("v_name",), "", "joint and modal speeds", lambda s: s.v, "v_unit"),
    }, default=True, evaluated="no"),
    "pose": Record({
        "position": Quantity(BODY, "m", "position of body origins, world axes", lambda s: s.bodies.position),
        "attitude": Quantity(("body", "quaternion"), "", "attitude of bodies, body axes to world axes",
                             lambda s: quaternions(s.bodies.attitude)),
    }, default=True),
    "velocity": Record({
        "velocity": Quantity(BODY, "m/s", "velocity of body origins, world axes", lambda s: s.bodies.velocity),
        "angular_velocity": Quantity(BODY, "rad/s", "angular velocity of bodies, world axes", lambda s: s.bodies.rate),
    }),
    "acceleration": Record({
        "a": Quantity(("v_name",), "", "joint and modal accelerations", lambda s: s.a, "a_unit"),
        "acceleration": Quantity(BODY, "m/s^2", "acceleration of body origins, world axes",
                                 lambda s: s.bodies.acceleration[..., 3:]),
        "angular_acceleration": Quantity(BODY, "rad/s^2", "angular acceleration of bodies, world axes",
                                         lambda s: s.bodies.acceleration[..., :3]),
    }, evaluated="acceleration"),
    "reactions": Record({
        "reaction": Quantity(("body", "component"), "N m, N", "moment and force of the parent on the body, body axes",
                             lambda s: s.joint_loads),
    }, evaluated="acceleration"),
    "energy": Record({
        "kinetic_energy": Quantity((), "J", "kinetic energy", lambda s: s.bodies.kinetic_energy),
        "potential_energy": Quantity((), "J", "potential energy of gravity, springs and strain",
                                     lambda s: s.bodies.potential_energy),
        "total_energy": Quantity((), "J", "total energy", lambda s: s.bodies.kinetic_energy + s.bodies.potential_energy),
        "input_work": Quantity((), "J", "work of inputs and controllers since the start", lambda s: s.rows.work),
    }, default=True),
    "momentum": Record({
        "angular_momentum": Quantity(AXIS, "N m s", "angular momentum about the mass center, world axes",
                                     lambda s: s.bodies.momentum[:, :3]),
        "linear_momentum": Quantity(AXIS, "N s", "linear momentum, world axes", lambda s: s.bodies.momentum[:, 3:]),
        "center_of_mass": Quantity(AXIS, "m", "mass center, world axes", lambda s: s.bodies.center_of_mass),
    }, default=True),
    "nodes": Record({
        "node_position": Quantity(NODE, "m", "position of nodes of flexible bodies, world axes", lambda s: s.nodes("position")),
        "node_velocity": Quantity(NODE, "m/s", "velocity of nodes of flexible bodies, world axes", lambda s: s.nodes("velocity")),
        "node_attitude": Quantity(("node", "quaternion"), "", "attitude of nodes of flexible bodies, node axes to world axes",
                                  lambda s: quaternions(s.nodes("attitude"))),
        "node_deflection": Quantity(NODE, "m", "displacement of nodes from their undeformed places, body axes",
                                    lambda s: s.deflections(flex.flexible_body.displacements)),
        "node_rotation": Quantity(NODE, "rad", "rotation vector of nodes from their undeformed attitudes, body axes",
                                  lambda s: s.deflections(flex.flexible_body.rotations)),
    }, needs="flexible bodies", default=True),
    "strain": Record({
        "strain_energy": Quantity(("body",), "J", "strain energy of bodies", lambda s: s.bodies.strain_energy),
    }, needs="flexible bodies", default=True),
    "stress": Record({
        "stress": Quantity(("stressed", "tensor"), "MPa", "stress of elements of flexible bodies, body axes",
                           lambda s: flex.recovery.PASCAL * s.recovered("stress", flex.Recovery.stresses)),
        "von_mises": Quantity(("stressed",), "MPa", "equivalent stress of elements of flexible bodies",
                              lambda s: flex.recovery.PASCAL * flex.von_mises(s.recovered("stress", flex.Recovery.stresses))),
    }, needs="bodies that recover stresses", default=True, evaluated="no"),
    "strains": Record({
        "element_strain": Quantity(("strained", "tensor"), "", "strain of elements of flexible bodies, body axes, engineering",
                                   lambda s: s.recovered("strain", flex.Recovery.strains)),
    }, needs="bodies that recover strains", evaluated="no"),
    "shapes": Record({
        "outline": Quantity(("point", "axis"), "m", "points of deformed flexible bodies, world axes; 'lines' joins them",
                            lambda s: s.outline()),
    }, needs="flexible bodies", plotted=False),
    "wheels": Record(_of_part(Wheel, {
        "wheel_speed": lambda s: s.wheels,
        "wheel_momentum": lambda s: s.wheels * [wheel.inertia for wheel in s.model.system.wheels.values()],
    }), needs="wheels", default=True, evaluated="no"),
    "tanks": Record(_of_part(Tank, {
        "tank_mass": lambda s: s.tanks,
        "tank_flow": lambda s: results.part_values.tank_flows(s),
        "tank_thrust": lambda s: results.part_values.tank_flows(s) * [tank.speed for tank in s.model.system.tanks.values()],
    }), needs="tanks", default=True),
    "exhaust": Record({
        "exhaust_angular_momentum": Quantity(AXIS, "N m s", "of all that has left tanks, about the world's origin",
                                             lambda s: s.rows.exhaust[:, :3]),
        "exhaust_linear_momentum": Quantity(AXIS, "N s", "of all that has left tanks", lambda s: s.rows.exhaust[:, 3:6]),
        "exhaust_energy": Quantity((), "J", "energy that the system has lost to what left its tanks, thrust included",
                                   lambda s: s.rows.exhaust[:, 6]),
        "whole_angular_momentum": Quantity(AXIS, "N m s", "of system and exhaust, about the world's origin",
                                           lambda s: results.part_values.whole_angular_momentum(s)),
        "whole_linear_momentum": Quantity(AXIS, "N s", "of system and exhaust",
                                          lambda s: results.part_values.whole_linear_momentum(s)),
        "whole_energy": Quantity((), "J", "of system and exhaust, less what the propellant brought",
                                 lambda s: results.part_values.whole_energy(s)),
    }, needs="tanks", default=True, plotted=False),
    "torque": Record({
        "joint_torque": Quantity(("v_name",), "",
                                 "joint torques and forces, modal forces, described and controlled, without springs",
                                 lambda s: s.torques[:, : s.model.nv], "torque_unit"),
        "motor_torque": Quantity(("wheel",), "N m", "motor torques of the description and the controller",
                                 lambda s: s.torques[:, s.model.nv :]),
    }, default="controlled", evaluated="no"),
    "orbit": Record({
        "orbit_position": Quantity(AXIS, "m", "mass center relative to the attracting center, inertial axes",
                                   lambda s: s.orbit[:, :3]),
        "orbit_velocity": Quantity(AXIS, "m/s", "velocity of the mass center, inertial axes", lambda s: s.orbit[:, 3:]),
    }, needs="central gravity", default=True, evaluated="no"),
    "loops": Record(_of_part(Loop, {
        "constraint_force": lambda s: s.loop_forces(),
        "loop_gap": lambda s: s.loop_gaps[0],
        "loop_gap_angle": lambda s: s.loop_gaps[1],
    }), needs="loops", default=True),
    "couplings": Record(_of_part(Coupling, {
        "coupling_force": lambda s: s.coupling_forces(),
        "coupling_gap": lambda s: s.coupling_gaps(),
    }, coupling_force="coupled_unit"), needs="couplings", default=True),
    "friction": Record(_of_part(Friction, {
        "friction_force": lambda s: results.part_values.friction_forces(s),
        "friction_loss": lambda s: s.rows.friction[..., 2],
        "friction_sticks": lambda s: results.part_values.friction_sticks(s),
    }, friction_force="friction_unit"), needs="friction", default=True, evaluated="acceleration"),
    "drives": Record({
        "drive_force": Quantity(("drive",), "", "force or torque that holds a coordinate, locked or prescribed; NaN: it is free",
                                lambda s: s.drive_forces(), "drive_unit"),
    }, needs="held coordinates", default=True),
    "elements": Record({name: Quantity(each.dims, each.units, each.meaning, lambda s, name=name: s.elements[name])  # type: ignore[misc]
                        for name, each in VARIABLES.items()}, needs="force elements", default=True),
    "inputs": Record({
        "inputs": Quantity(("input",), "", "inputs in force", lambda s: s.inputs, "input_unit"),
    }, needs="inputs", default=True, evaluated="no"),
    "outputs": Record({
        "outputs": Quantity(("output",), "", "outputs, without noise", lambda s: s.outputs(), "output_unit"),
    }, needs="outputs", default=True),
}
QUANTITIES = {name: quantity for record in RECORDS.values() for name, quantity in record.quantities.items()}
RECORD_OF = {name: record for record, entry in RECORDS.items() for name in entry.quantities}

PRESENT: dict[str, Callable[[System], Any]] = {
    "flexible bodies": flexible_bodies,
    "bodies that recover stresses": recoveries,
    "bodies that recover strains": lambda system: recoveries(system, "strain"),
    **{parts: attrgetter(parts) for parts in ("wheels", "tanks", "loops", "couplings", "inputs", "outputs")},
    "friction": attrgetter("frictions"),
    "held coordinates": holdable,
    "force elements": attrgetter("elements"),
    "central gravity": lambda system: isinstance(system.gravity, CentralGravity),
}


def missing(system: System, record: str) -> str:
    """The missing requirement of a record; empty if the system has all."""
    needs = RECORDS[record].needs
    return needs if needs and not PRESENT[needs](system) else ""


def select_records(record: str | Iterable[str] | None, system: System, *, controlled: bool = False) -> tuple[str, ...]:
    """The names to record: the given ones, or the defaults for this system; in orbit, the orbit always.

    >>> select_records(["state", "enrgy"], System("arm"))
    Traceback (most recent call last):
    bough.errors.StateError: record: there is no 'enrgy', did you mean 'energy'?
    """
    if record is None:
        return tuple(name for name, entry in RECORDS.items() if not missing(system, name)
                     and (entry.default is True or (entry.default == "controlled" and controlled)))
    names = name_list("record", record)
    if not names:
        raise StateError(f"record: it is empty; choose out of {', '.join(RECORDS)}")
    for name in names:
        if not isinstance(name, str) or name not in RECORDS:
            remedy = nearest(name, RECORDS) or f"; choose out of {', '.join(RECORDS)}"
            raise StateError(f"record: there is no {name!r}{remedy}")
        if name == "orbit" and missing(system, name):
            raise StateError("record: 'orbit' needs central gravity; the mass center of this system is in 'momentum'")
        if needs := missing(system, name):
            raise StateError(f"record: {name!r}, but system {system.name!r} has no {needs}; leave it out")
    return tuple(dict.fromkeys([*names, *([] if missing(system, "orbit") else ["orbit"])]))


def all_records(system: System) -> tuple[str, ...]:
    """Everything that can be recorded of a system."""
    return tuple(name for name in RECORDS if not missing(system, name))


def constrained_by_loops(system: System) -> dict[str, tuple[bool, bool]]:
    """By loop, whether it constrains translations and whether it constrains rotations.

    >>> s = System("hatch")
    >>> _ = s.body("hatch", joint="free", mass=1.0, inertia=(1, 1, 1))
    >>> _ = s.loop("ball", joint="spherical", a="world", b="hatch")
    >>> constrained_by_loops(s)
    {'ball': (True, False)}
    """
    return {
        name: (True, False) if isinstance(loop.joint, Distance) else
        (len(loop.joint.translations) < 3, not loop.joint.spherical and len(loop.joint.rotations) < 3)
        for name, loop in system.loops.items()
    }
