"""A trajectory's variables with their names, units and coordinates."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from bough.compile.coordinates import holdable
from bough.results.deflections import flexible_bodies
from bough.results.derive import DERIVED, derive
from bough.results.elements import wrench_elements
from bough.results.labeled import Labeled, Variable
from bough.results.records import RECORDS
from bough.results.singular import passages, to_attrs

if TYPE_CHECKING:
    from bough.describe import System
    from bough.integrate.trajectory import Trajectory
    from bough.model import Model

COMPONENTS = ("mx", "my", "mz", "fx", "fy", "fz")


def label(trajectory: Trajectory, records: Iterable[str]) -> Labeled:
    """The variables of these records with their coordinates; with loops, also where they are singular."""
    names, leading = list(records), ("run", "time") if trajectory.batched else ("time",)
    values = _recorded(trajectory, names) | derive(trajectory, names)
    variables, system = {}, trajectory.model.system
    counts = {"wheel": len(system.wheels), "line": len(system.lines), "element": len(wrench_elements(system))}
    absent = {dim for dim, count in counts.items() if not count}
    for record in names:
        for name, meaning in RECORDS[record].items():
            if not absent.isdisjoint(meaning.dims):
                continue
            array = values[name] if trajectory.batched else values[name][0]
            variables[name] = Variable((*leading, *meaning.dims), array, meaning.units, meaning.long_name)
    attrs = to_attrs(passages(trajectory)) if "loops" in names else {}
    return Labeled(coordinates(trajectory, variables), variables, attrs)


def _recorded(trajectory: Trajectory, records: list[str]) -> dict[str, np.ndarray]:
    """What the trajectory holds itself."""
    model, state = trajectory.model, trajectory.state
    inertias = np.array([wheel.inertia for wheel in model.system.wheels.values()])
    torques = model.input_layout.view(trajectory.u + model.actuation(trajectory.t))
    held = {
        "state": {"q": state.q, "v": state.v},
        "wheels": {"wheel_speed": state.wheels, "wheel_momentum": state.wheels * inertias},
        "torque": {"joint_torque": torques.tau, "motor_torque": torques.motors},
        "orbit": {"orbit_position": state.orbit[..., :3], "orbit_velocity": state.orbit[..., 3:]},
    }
    return {name: array for record in records if record not in DERIVED for name, array in held[record].items()}


def coordinates(trajectory: Trajectory, variables: dict[str, Variable]) -> dict[str, Variable]:
    """Those of the axes in use, the units of joint coordinates beside their names, whose nodes and points there are, and the
    parameters of each run."""
    names, used = trajectory.model.names, {dim for variable in variables.values() for dim in variable.dims}
    known: dict[str, Variable] = {
        "time": Variable(("time",), trajectory.t, "s", "time"),
        "run": Variable(("run",), np.arange(len(trajectory.x)), "", "member of the batch"),
        "q_name": texts("q_name", names.q, "joint or modal coordinate"),
        "v_name": texts("v_name", names.v, "joint or modal speed"),
        "body": texts("body", names.bodies, "body"),
        "wheel": texts("wheel", names.wheels, "wheel"),
        "loop": texts("loop", trajectory.model.system.loops, "loop"),
        "drive": texts("drive", holdable(trajectory.model.system), "coordinate that is held"),
        "line": texts("line", trajectory.model.system.lines, "line"),
        "element": texts("element", wrench_elements(trajectory.model.system), "restoring or buoyancy"),
        "axis": texts("axis", "xyz"),
        "quaternion": texts("quaternion", "xyzw", "scalar-last"),
        "component": texts("component", COMPONENTS, "moment, force"),
    }
    coords = {dim: variable for dim, variable in known.items() if dim in used | {"time"}}
    units = joint_units(trajectory.model.system)
    coords |= {unit: texts(dim, units[unit]) for name, (unit, dim) in UNITS_OF.items() if name in variables}
    coords |= _drive_units(trajectory.model) if "drive" in used else {}
    coords |= _nodes(trajectory.model.system) if "node" in used else {}
    coords |= _points(trajectory.model.system) if "point" in used else {}
    return coords | (_parameters(trajectory) if "run" in used else {})


def _drive_units(model: Model) -> dict[str, Variable]:
    """N or N m, of each drive."""
    units = joint_units(model.system)["torque_unit"]
    return {"drive_unit": texts("drive", (units[coordinate.v] for coordinate in holdable(model.system).values()))}


def _nodes(system: System) -> dict[str, Variable]:
    """The nodes of flexible bodies, as in boom.tip, and whose they are."""
    nodes = [(body, name) for body, flexible in flexible_bodies(system).items() for name in flexible.nodes.names]
    return {
        "node": texts("node", (f"{body}.{name}" for body, name in nodes), "node of a flexible body"),
        "node_body": texts("node", (body for body, _ in nodes), "body of the node"),
    }


def _points(system: System) -> dict[str, Variable]:
    """Whose points there are, and pairs of them (numbers along `point`) to draw lines between."""
    owners, lines, first = list[str](), [np.zeros((0, 2), dtype=int)], 0
    for name, flexible in flexible_bodies(system).items():
        points = len(flexible.deformed_outline(np.zeros(flexible.n_modes)))
        owners += [name] * points
        lines += [] if flexible.outline is None else [first + np.asarray(flexible.outline.lines, dtype=int)]
        first += points
    return {
        "point_body": texts("point", owners, "body of the point"),
        "lines": Variable(("line", "end"), np.concatenate(lines), "", "points that a line joins"),
    }


UNITS_OF = {
    "q": ("q_unit", "q_name"), "v": ("v_unit", "v_name"),
    "a": ("a_unit", "v_name"), "joint_torque": ("torque_unit", "v_name"),
}  # fmt: skip
MODAL = "m kg^0.5"
_FORCES = {"m": "N", "rad": "N m", MODAL: "N kg^-0.5"}


def joint_units(system: System) -> dict[str, list[str]]:
    """The unit of each entry of q, v, their accelerations and torques; modes are mass-normalized."""
    q, v = list[str](), list[str]()
    for body in system.bodies.values():
        moves, joint = len(body.joint.translations), body.joint
        v += ["m"] * moves + ["rad"] * (joint.n_v - moves) + [MODAL] * body.n_modes
        q += ["m"] * moves + ([""] * 4 if joint.spherical else ["rad"] * (joint.n_q - moves)) + [MODAL] * body.n_modes
    forces = [_FORCES[unit] for unit in v]
    return {"q_unit": q, "v_unit": [f"{u}/s" for u in v], "a_unit": [f"{u}/s^2" for u in v], "torque_unit": forces}


def _parameters(trajectory: Trajectory) -> dict[str, Variable]:
    """What differs from run to run, as coordinates of the runs."""
    found = {}
    for key, values in (trajectory.parameters or {}).items():
        array = np.asarray(values, float)
        dims = ("run", "axis", "column")[: array.ndim]
        found[_spelled(key)] = Variable(dims, array, _PARAMETER_UNITS.get(key.rpartition(".")[2], ""), key)
    return found


_PARAMETER_UNITS = {"mass": "kg", "com": "m", "at": "m", "inertia": "kg m^2"}


def _spelled(key: str) -> str:
    """A name that a NetCDF file can hold."""
    return "".join("_" if letter in "/ " else letter for letter in key)


def texts(dim: str, texts: Any, long_name: str = "") -> Variable:
    return Variable((dim,), np.array(list(texts), dtype=str), "", long_name)
