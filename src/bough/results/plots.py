"""Ready figures of a result: joints, modes, energy, momentum, loops, elements, nodes, strain, poses, wheels, reactions, torques,
drives, orbit."""

from __future__ import annotations

from collections.abc import Callable, Container
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from bough.compile.coordinates import holdable
from bough.describe import CentralGravity
from bough.errors import StateError, nearest
from bough.progress import working
from bough.results.conserved import momentum_spoilers
from bough.results.dataset import joint_units
from bough.results.deflections import flexible_bodies, moving_nodes
from bough.results.elements import VARIABLES, along
from bough.results.limbs import MOST_CURVES, Group, groups
from bough.results.loops import holds
from bough.results.panels import Panel, PanelRow, draw

if TYPE_CHECKING:
    from bough.describe import System
    from bough.results.report import Report

Get = Callable[[str], np.ndarray]
XYZ = ("x", "y", "z")


def plot(report: Report, what: str = "joints", path: str | PathLike[str] | None = None) -> Figure:
    """One figure; written to a file if a path is given."""
    if what not in FIGURES:
        remedy = nearest(what, FIGURES) or f"; choose out of {', '.join(FIGURES)}"
        raise StateError(f"plot: there is no {what!r}{remedy}")
    record, rows_of, missing = FIGURES[what][0], FIGURES[what][1], lacks(report.system, what)
    if missing:
        raise StateError(f"plot: {what!r}, but system {report.system.name!r} has no {missing}")
    variables = report.labeled(record).variables
    rows = rows_of(report, lambda name: variables[name].values)
    with working(f"drawing {what}"):
        return _drawn(report, what, rows, path)


def lacks(system: System, what: str) -> str | None:
    """What a figure needs and the system does not have; None if it can be drawn."""
    noun = FIGURES[what][2]
    present: dict[str, Any] = {
        "joint that moves": any(group.kind != "modes" for group in groups(system)),
        "flexible bodies": flexible_bodies(system), "wheels": system.wheels, "loops": system.loops,
        "force elements": system.elements, "held coordinates": holdable(system),
        "central gravity": isinstance(system.gravity, CentralGravity),
    }  # fmt: skip
    return None if noun is None or present[noun] else noun


def _drawn(report: Report, what: str, rows: list[PanelRow], path: str | PathLike[str] | None) -> Figure:
    figure = draw(f"{report.system.name}: {what}", report.time, rows, batched=report.facts.batched)
    if path is not None:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        options: dict[str, Any] = {"pil_kwargs": {"compress_level": 1}} if Path(path).suffix == ".png" else {}
        figure.savefig(path, **options)
    return figure


def write_all(report: Report, folder: Path, prefix: str = "", but: Container[str] = ()) -> list[Path]:
    """A PNG for every figure whose record there is."""
    paths = []
    for what, (record, *_) in FIGURES.items():
        if record in report.facts.record and what not in but and not lacks(report.system, what):
            paths.append(folder / f"{prefix}{what}.png")
            plot(report, what, paths[-1])
    return paths


def _joints(report: Report, get: Get) -> list[PanelRow]:
    """Positions and speeds, a row for each limb or joint."""
    return [_state_row(group, get) for group in groups(report.system) if group.kind != "modes"]


def _modes(report: Report, get: Get) -> list[PanelRow]:
    """Modal coordinates and speeds, a row for each flexible body."""
    return [_state_row(group, get) for group in groups(report.system) if group.kind == "modes"]


def _state_row(group: Group, get: Get) -> PanelRow:
    left, unit, right, speed = {
        "translation": ("position", "m", "velocity", "m/s"),
        "angle": ("angle", "rad", "angular rate", "rad/s"),
        "quaternion": ("quaternion", "", "angular velocity, body axes", "rad/s"),
        "modes": ("modal coordinates", "m √kg", "modal speeds", "m √kg/s"),
    }[group.kind]
    position = Panel(f"{_limb_name(group)}: {left}", unit, get("q")[..., group.q])
    return PanelRow([position, Panel(f"{_limb_name(group)}: {right}", speed, get("v")[..., group.v])], group.labels)


def _limb_name(group: Group) -> str:
    limb = len(group.labels) > 1 and group.title == group.labels[0]
    return f"{group.labels[0]} to {group.labels[-1]}" if limb else group.title


def _energy(report: Report, get: Get) -> list[PanelRow]:
    energies = np.stack([get(f"{kind}_energy") for kind in ("kinetic", "potential", "total")], axis=-1)
    change = energies[..., 2:] - energies[..., :1, 2:]
    return [
        PanelRow([Panel("energy", "J", energies, dashed=(2,))], ["kinetic", "potential", "total"]),
        PanelRow([Panel("total energy since the start", "J", change)], []),
    ]


def _momentum(report: Report, get: Get) -> list[PanelRow]:
    """The momenta; where nothing acts from outside, also how far they drift."""
    kept = not momentum_spoilers(report.system, base_pushed=report.facts.base_pushed)
    rows = []
    for kind, title, unit in (
        ("angular", "angular momentum about the mass center", "N m s"),
        ("linear", "linear momentum", "N s"),
    ):
        series = get(f"{kind}_momentum")
        drift = [Panel(f"{kind} momentum since the start", unit, series - series[..., :1, :])] if kept else []
        rows.append(PanelRow([Panel(title, unit, series), *drift], XYZ))
    return rows


def _poses(report: Report, get: Get) -> list[PanelRow]:
    """A row for each component, with a curve for each body: how a whole limb moves can be seen at once."""
    position, attitude, names = get("position"), get("attitude"), list(report.system.bodies)
    rows = []
    for some in np.array_split(np.arange(len(names)), -(-len(names) // MOST_CURVES)):
        for i, component in enumerate("xyzw"):
            place = Panel(f"position: {component}", "m", position[..., some, i]) if i < 3 else None
            quaternion = Panel(f"attitude: quaternion {component}", "", attitude[..., some, i])
            rows.append(PanelRow([place, quaternion], [names[k] for k in some]))
    return rows


def _nodes(report: Report, get: Get) -> list[PanelRow]:
    """A row for each node that moves in its body: by how much it is displaced and turned."""
    deflection, rotation, rows, first = get("node_deflection"), get("node_rotation"), list[PanelRow](), 0
    for body, flexible in flexible_bodies(report.system).items():
        for i in moving_nodes(flexible):
            name = f"{body}.{flexible.nodes.names[i]}"
            place = _in_thousandths(f"{name}: deflection, body axes", "m", deflection[..., first + i, :])
            turn = _in_thousandths(f"{name}: rotation, body axes", "rad", rotation[..., first + i, :])
            rows.append(PanelRow([place, turn if flexible.nodes.rotates[i] else None], XYZ))
        first += len(flexible.nodes)
    return rows or [PanelRow([Panel("deflection of nodes: none moves", "m", deflection[..., 0])], [])]


def _in_thousandths(title: str, unit: str, values: np.ndarray) -> Panel:
    """Millimeters or milliradians, where a meter or a radian is much."""
    small = np.nanmax(np.abs(values), initial=0.0) < 0.5
    return Panel(title, f"m{unit}", 1e3 * values) if small else Panel(title, unit, values)


def _strain(report: Report, get: Get) -> list[PanelRow]:
    strain, names = get("strain_energy"), list(flexible_bodies(report.system))
    columns = [list(report.system.bodies).index(name) for name in names]
    rows = []
    for some in np.array_split(np.arange(len(names)), -(-len(names) // MOST_CURVES)):
        title = "strain energy" if len(some) > 1 else f"{names[some[0]]}: strain energy"
        rows.append(PanelRow([Panel(title, "J", strain[..., [columns[k] for k in some]])], [names[k] for k in some]))
    return rows


def _wheels(report: Report, get: Get) -> list[PanelRow]:
    speed = Panel("wheel speed relative to its body", "rad/s", get("wheel_speed"))
    momentum = Panel("wheel momentum relative to its body", "N m s", get("wheel_momentum"))
    return [PanelRow([speed, momentum], list(report.system.wheels))]


def _reactions(report: Report, get: Get) -> list[PanelRow]:
    """A row for each joint that carries something: all but the free ones."""
    reaction, bodies = get("reaction"), list(report.system.bodies.values())
    carrying = [i for i, body in enumerate(bodies) if body.joint.kind != "free"] or [*range(len(bodies))]
    rows = []
    for i in carrying:
        name = bodies[i].joint.name or bodies[i].name
        moment = Panel(f"{name}: moment of the joint", "N m", reaction[..., i, :3])
        force = Panel(f"{name}: force of the joint", "N", reaction[..., i, 3:])
        rows.append(PanelRow([moment, force], XYZ))
    return rows


def _loops(report: Report, get: Get) -> list[PanelRow]:
    """A row for each loop: what its frame a exerts on b, in the axes of b, where it holds translations and rotations."""
    force, rows = get("constraint_force"), list[PanelRow]()
    for i, (name, (translations, rotations)) in enumerate(holds(report.system).items()):
        push = Panel(f"{name}: force on b, b's axes", "N", force[..., i, 3:]) if translations else None
        turn = Panel(f"{name}: moment on b, b's axes", "N m", force[..., i, :3]) if rotations else None
        rows.append(PanelRow([push, turn], XYZ))
    return _without_empty_columns(rows)


def _without_empty_columns(rows: list[PanelRow]) -> list[PanelRow]:
    used = [any(column) for column in zip(*(row.panels for row in rows), strict=True)]
    return [PanelRow([panel for panel, keep in zip(row.panels, used, strict=True) if keep], row.labels) for row in rows]


def _gaps(report: Report, get: Get) -> list[PanelRow]:
    """How far the loops are open: of translations and of rotations, where there are such, with a curve for each loop."""
    names, rows, held = list(report.system.loops), list[PanelRow](), list(holds(report.system).values())
    kinds = (("loop_gap", "gap of translations", "m"), ("loop_gap_angle", "gap of rotations", "rad"))
    for some in np.array_split(np.arange(len(names)), -(-len(names) // MOST_CURVES)):
        panels: list[Panel | None] = [
            Panel(title, unit, get(variable)[..., some], log=True) if any(held[k][kind] for k in some) else None
            for kind, (variable, title, unit) in enumerate(kinds)
        ]
        rows.append(PanelRow(panels, [names[k] for k in some]))
    return _without_empty_columns(rows)


def _elements(report: Report, get: Get) -> list[PanelRow]:
    """Variables of one number for an element share panels; loads have a row for each element."""
    rows = list[PanelRow]()
    for variable, meaning in VARIABLES.items():
        names = list(along(report.system, meaning.dims[0]))
        if not names or meaning.limit:
            continue
        for i, name in enumerate(names) if meaning.axes else ():
            load = get(variable)[..., i, :]
            push = Panel(f"{name}: force, {meaning.axes}", "N", load[..., 3:])
            rows.append(PanelRow([push, Panel(f"{name}: moment, {meaning.axes}", "N m", load[..., :3])], XYZ))
        for some in np.array_split(np.arange(len(names)), -(-len(names) // MOST_CURVES)) if not meaning.axes else ():
            panel = Panel(meaning.meaning, meaning.units, get(variable)[..., some])
            rows.append(PanelRow([panel, None], [names[k] for k in some]))
    return _without_empty_columns(rows)


def _torques(report: Report, get: Get) -> list[PanelRow]:
    torque = get("joint_torque")
    units = {"translation": ("force", "N"), "angle": ("torque", "N m"), "quaternion": ("torque", "N m")}
    units["modes"] = ("modal force", "N/√kg")
    rows = []
    for group in groups(report.system):
        what, unit = units[group.kind]
        panel = Panel(f"{_limb_name(group)}: {what} of the controller", unit, torque[..., group.v])
        rows.append(PanelRow([panel], group.labels[: len(group.v)]))
    if report.system.wheels:
        rows.append(PanelRow([Panel("motors: torque", "N m", get("motor_torque"))], list(report.system.wheels)))
    moving = [row for row in rows if any(panel is not None and panel.values.any() for panel in row.panels)]
    return moving or rows[:1]


def _drives(report: Report, get: Get) -> list[PanelRow]:
    """What holds the coordinates that are locked or prescribed: a row for each."""
    force, units = get("drive_force"), joint_units(report.system)["torque_unit"]
    rows = []
    for i, (name, coordinate) in enumerate(holdable(report.system).items()):
        what, unit = "force" if units[coordinate.v] == "N" else "torque", units[coordinate.v]
        rows.append(PanelRow([Panel(f"{name}: {what} of its drive", unit, force[..., i : i + 1])], []))
    return rows


def _orbit(report: Report, get: Get) -> list[PanelRow]:
    position, velocity = get("orbit_position"), get("orbit_velocity")
    return [PanelRow([Panel("orbit: position", "m", position), Panel("orbit: velocity", "m/s", velocity)], XYZ)]


# by name: the record that it shows, its rows, and what a system must have
FIGURES: dict[str, tuple[str, Callable[[Report, Get], list[PanelRow]], str | None]] = {
    "joints": ("state", _joints, "joint that moves"),
    "modes": ("state", _modes, "flexible bodies"),
    "energy": ("energy", _energy, None),
    "momentum": ("momentum", _momentum, None),
    "loops": ("loops", _loops, "loops"),
    "gaps": ("loops", _gaps, "loops"),
    "elements": ("elements", _elements, "force elements"),
    "nodes": ("nodes", _nodes, "flexible bodies"),
    "strain": ("strain", _strain, "flexible bodies"),
    "wheels": ("wheels", _wheels, "wheels"),
    "torque": ("torque", _torques, None),
    "drives": ("drives", _drives, "held coordinates"),
    "reactions": ("reactions", _reactions, None),
    "poses": ("pose", _poses, None),
    "orbit": ("orbit", _orbit, "central gravity"),
}
