"""Figures of a result: one for each name that `record` takes, and one for any single variable."""

from collections.abc import Callable, Container, Sequence
from os import PathLike
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from bough.compile.coordinates import holdable
from bough.errors import StateError, nearest
from bough.figure_style import written
from bough.flex.choices import COMPONENTS
from bough.progress import working
from bough.results.audit import external_effects
from bough.results.dataset import Labeled, entry_units
from bough.results.panels import MOST_CURVES, Group, Panel, PanelRow, draw, groups
from bough.results.quantities import QUANTITIES, RECORD_OF, RECORDS, constrained_by_loops, missing
from bough.results.recorded_parts import VARIABLES, Array, along, flexible_bodies, moving_nodes, recoveries
from bough.results.result_contents import Report

Get = Callable[[str], Array]
Sections = list[list[PanelRow]]  # of very many rows, the first ones of each section are drawn
XYZ = ("x", "y", "z")


def plot(report: Report, what: str = "state", path: str | PathLike[str] | None = None) -> Figure:
    """One figure of a record or a variable; written to a file if a path is given."""
    record = what if what in RECORDS else RECORD_OF.get(what, "")
    if not record:
        remedy = nearest(what, [*RECORDS, *QUANTITIES]) or f"; choose out of {', '.join(RECORDS)}"
        raise StateError(f"plot: there is no {what!r}{remedy}")
    if needs := missing(report.system, record):
        raise StateError(f"plot: {what!r}, but system {report.system.name!r} has no {needs}")
    if not RECORDS[record].plotted:
        raise StateError(f"plot: there is no figure of {what!r}; the replay shows it: result.view()")
    labeled = report.labeled(record)
    if what not in RECORDS and what not in labeled.variables:
        raise StateError(f"plot: {what!r} was not recorded: nothing of the kind is in this run")
    if what in FIGURES:
        sections = FIGURES[what](report, lambda name: labeled.variables[name].values)
    else:
        names = RECORDS[what].quantities if what in RECORDS else [what]
        sections = [_variable_rows(labeled, name, report.facts.batched) for name in names if name in labeled.variables]
    with working(f"drawing {what}"):
        figure = draw(f"{report.system.name}: {what.replace('_', ' ')}", report.time, sections, batched=report.facts.batched)
        return written(figure, path)


def write_all(report: Report, folder: Path, prefix: str = "", skip: Container[str] = ()) -> list[Path]:
    """PNG files of all records, except those in `skip`."""
    paths = []
    for record in report.facts.record:
        if RECORDS[record].plotted and record not in skip:
            paths.append(folder / f"{prefix}{record}.png")
            plot(report, record, paths[-1])
    return paths


def _variable_rows(labeled: Labeled, name: str, batched: bool) -> list[PanelRow]:
    """Any variable: a row for each entry of its first axis if it has two, otherwise for groups of entries of one unit."""
    values, title, rows = labeled.variables[name].values, name.replace("_", " "), list[PanelRow]()
    flat, two_axes = values.reshape(*values.shape[: 1 + batched], -1), values.ndim == 3 + batched
    for unit, columns, labels in labeled.columns(name):
        heads = [label.rpartition(" ")[0] if two_axes else "" for label in labels]
        for head in dict.fromkeys(heads):
            of_head = [k for k, each in enumerate(heads) if each == head]
            for some in _some(len(of_head)):
                curves = [labels[of_head[k]].removeprefix(f"{head} ") for k in some]
                owner = head or (curves[0] if len(curves) == 1 else title)
                series = flat[..., [columns[of_head[k]] for k in some]]
                rows.append(PanelRow([Panel(title if owner == title else f"{owner}: {title}", unit, series)], curves))
    return rows


def _some(n: int) -> list[Array]:
    """The numbers from 0 to n - 1 in parts of about equal length, of those that one panel shows."""
    return np.array_split(np.arange(n), -(-n // MOST_CURVES)) if n else []


def _state(report: Report, get: Get) -> Sections:
    """Positions and speeds, a row for each limb or joint; then modal coordinates and speeds, a row for each flexible body."""
    return [[_state_row(group, get) for group in groups(report.system) if (group.kind == "modes") == modal]
            for modal in (False, True)]


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


def _energy(report: Report, get: Get) -> Sections:
    energies = np.stack([get(f"{kind}_energy") for kind in ("kinetic", "potential", "total")], axis=-1)
    change, labels = energies[..., 2:] - energies[..., :1, 2:], list[str]()
    if "input_work" in report.labeled("energy").variables:
        change = np.concatenate([change, change - get("input_work")[..., None]], axis=-1)
        labels = ["total energy", "less input work"]
    return [[PanelRow([Panel("energy", "J", energies, dashed=(2,))], ["kinetic", "potential", "total"]),
             PanelRow([Panel("change of total energy", "J", change)], labels)]]


def _momentum(report: Report, get: Get) -> Sections:
    """The momenta; without external effects also their drift."""
    conserved = not external_effects(report.system, base_pushed=report.facts.base_pushed)
    rows = []
    for kind, title, unit in (("angular", "angular momentum about the mass center", "N m s"), ("linear", "linear momentum", "N s")):
        series = get(f"{kind}_momentum")
        drift = [Panel(f"change of {kind} momentum", unit, series - series[..., :1, :])] if conserved else []
        rows.append(PanelRow([Panel(title, unit, series), *drift], XYZ))
    return [rows]


def _pose(report: Report, get: Get) -> Sections:
    """A row for each component, with a curve for each body, to compare the bodies of a limb."""
    position, attitude, names = get("position"), get("attitude"), list(report.system.bodies)
    rows = []
    for some in _some(len(names)):
        for i, component in enumerate("xyzw"):
            place = Panel(f"position: {component}", "m", position[..., some, i]) if i < 3 else None
            quaternion = Panel(f"attitude: quaternion {component}", "", attitude[..., some, i])
            rows.append(PanelRow([place, quaternion], [names[k] for k in some]))
    return [rows]


def _nodes(report: Report, get: Get) -> Sections:
    """A row for each node that the modes move: its displacement and rotation."""
    deflection, rotation, rows, first = get("node_deflection"), get("node_rotation"), list[PanelRow](), 0
    for body, flexible in flexible_bodies(report.system).items():
        for i in moving_nodes(flexible):
            name = f"{body}.{flexible.nodes.names[i]}"
            place = _in_thousandths(f"{name}: deflection, body axes", "m", deflection[..., first + i, :])
            turn = _in_thousandths(f"{name}: rotation, body axes", "rad", rotation[..., first + i, :])
            rows.append(PanelRow([place, turn if flexible.nodes.rotates[i] else None], XYZ))
        first += len(flexible.nodes)
    return [rows or [PanelRow([Panel("deflection of nodes: none moves", "m", deflection[..., 0])], [])]]


def _in_thousandths(title: str, unit: str, values: Array) -> Panel:
    """Millimeters or milliradians for small values."""
    small = np.nanmax(np.abs(values), initial=0.0) < 0.5
    return Panel(title, f"m{unit}", 1e3 * values) if small else Panel(title, unit, values)


def _strain(report: Report, get: Get) -> Sections:
    strain, names = get("strain_energy"), list(flexible_bodies(report.system))
    columns = [list(report.system.bodies).index(name) for name in names]
    rows = []
    for some in _some(len(names)):
        title = "strain energy" if len(some) > 1 else f"{names[some[0]]}: strain energy"
        rows.append(PanelRow([Panel(title, "J", strain[..., [columns[k] for k in some]])], [names[k] for k in some]))
    return [rows]


def _stress(report: Report, get: Get) -> Sections:
    """Equivalent stress of elements, those with the highest peaks first; labels show the peaks."""
    values = get("von_mises")
    names = [f"{body}.{name}" for body, known in recoveries(report.system).items() for name in known.names]
    peaks = np.nanmax(values.reshape(-1, values.shape[-1]), axis=0, initial=0.0)
    labels = [f"{name} {peak:.3g}" for name, peak in zip(names, peaks, strict=True)]
    return _highest("equivalent stress, and its peak", "MPa", values, labels, peaks)


def _highest(title: str, unit: str, values: Array, labels: Sequence[str], peaks: Array) -> Sections:
    """Curves of elements, those with the highest peaks first."""
    order = np.argsort(-peaks, kind="stable")[: 2 * MOST_CURVES]
    title += f": highest of {len(labels)} elements" if len(labels) > len(order) else ""
    return [[PanelRow([Panel(title, unit, values[..., order[some]])], [labels[k] for k in order[some]])
             for some in _some(len(order))]]


def _strains(report: Report, get: Get) -> Sections:
    """For each element the strain component with the highest peak; elements with the highest peaks first."""
    values = get("element_strain")
    names = [f"{body}.{name}" for body, known in recoveries(report.system, "strain").items() for name in known.names]
    peaks = np.nanmax(np.abs(values).reshape(-1, *values.shape[-2:]), axis=0, initial=0.0)
    part = peaks.argmax(axis=1)
    labels = [f"{name} {COMPONENTS[k]}" for name, k in zip(names, part, strict=True)]
    return _highest("largest component of strain", "1e-6", 1e6 * values[..., np.arange(len(part)), part], labels, peaks.max(axis=1))


def _wheels(report: Report, get: Get) -> Sections:
    speed = Panel("wheel speed relative to its body", "rad/s", get("wheel_speed"))
    momentum = Panel("wheel momentum relative to its body", "N m s", get("wheel_momentum"))
    return [[PanelRow([speed, momentum], list(report.system.wheels))]]


def _reactions(report: Report, get: Get) -> Sections:
    """A row for each joint except free ones."""
    reaction, bodies = get("reaction"), list(report.system.bodies.values())
    carrying = [i for i, body in enumerate(bodies) if body.joint.kind != "free"] or [*range(len(bodies))]
    rows = []
    for i in carrying:
        name = bodies[i].joint.name or bodies[i].name
        moment = Panel(f"{name}: moment of the joint", "N m", reaction[..., i, :3])
        force = Panel(f"{name}: force of the joint", "N", reaction[..., i, 3:])
        rows.append(PanelRow([moment, force], XYZ))
    return [rows]


def _loops(report: Report, get: Get) -> Sections:
    """A row for each loop: constraint force and moment of frame a on b; then the gaps."""
    force, rows = get("constraint_force"), list[PanelRow]()
    for i, (name, (translations, rotations)) in enumerate(constrained_by_loops(report.system).items()):
        push = Panel(f"{name}: force on b, b's axes", "N", force[..., i, 3:]) if translations else None
        turn = Panel(f"{name}: moment on b, b's axes", "N m", force[..., i, :3]) if rotations else None
        rows.append(PanelRow([push, turn], XYZ))
    gaps = _gap_rows(report, get)
    whole = _without_empty_columns(rows + gaps)
    return [whole[: len(rows)], whole[len(rows) :]]


def _gap_rows(report: Report, get: Get) -> list[PanelRow]:
    """Gaps of constrained translations and rotations, with a curve for each loop."""
    names, rows, constrained = list(report.system.loops), list[PanelRow](), list(constrained_by_loops(report.system).values())
    kinds = (("loop_gap", "gap of translations", "m"), ("loop_gap_angle", "gap of rotations", "rad"))
    for some in _some(len(names)):
        panels = [Panel(title, unit, get(variable)[..., some], log=True) if any(constrained[k][kind] for k in some) else None
                  for kind, (variable, title, unit) in enumerate(kinds)]
        rows.append(PanelRow(panels, [names[k] for k in some]))
    return rows


def _couplings(report: Report, get: Get) -> Sections:
    """A row for each coupling: its forces and torques along its coordinates; then the gaps."""
    force, rows, first = get("coupling_force"), list[PanelRow](), 0
    for name, coupling in report.system.couplings.items():
        last = first + len(coupling.terms)
        labels = coupling.coordinates(report.system)
        rows.append(PanelRow([Panel(f"{name}: force on its coordinates", "N or N m", force[..., first:last])], labels))
        first = last
    names = list(report.system.couplings)
    gaps = [PanelRow([Panel("gap of couplings", "rad or m", np.abs(get("coupling_gap")[..., some]), log=True)],
                     [names[k] for k in some]) for some in _some(len(names))]
    return [rows, gaps]


def _without_empty_columns(rows: list[PanelRow]) -> list[PanelRow]:
    used = [any(panel is not None for panel in column) for column in zip(*(row.panels for row in rows), strict=True)]
    return [PanelRow([panel for panel, keep in zip(row.panels, used, strict=True) if keep], row.labels) for row in rows]


def _elements(report: Report, get: Get) -> Sections:
    """Scalar variables of elements share panels; loads have a row for each element."""
    rows = list[PanelRow]()
    for variable, meaning in VARIABLES.items():
        names = list(along(report.system, meaning.dims[0]))
        if meaning.limit:
            continue
        for i, name in enumerate(names) if meaning.axes else ():
            load = get(variable)[..., i, :]
            push = Panel(f"{name}: force, {meaning.axes}", "N", load[..., 3:])
            rows.append(PanelRow([push, Panel(f"{name}: moment, {meaning.axes}", "N m", load[..., :3])], XYZ))
        for some in _some(len(names)) if not meaning.axes else ():
            panel = Panel(meaning.meaning, meaning.units, get(variable)[..., some])
            rows.append(PanelRow([panel, None], [names[k] for k in some]))
    return [_without_empty_columns(rows)]


def _torque(report: Report, get: Get) -> Sections:
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
    return [moving or rows[:1]]


def _drives(report: Report, get: Get) -> Sections:
    """Drive forces of locked or prescribed coordinates: a row for each."""
    force, units = get("drive_force"), entry_units(report.system)["torque_unit"]
    rows = []
    for i, (name, coordinate) in enumerate(holdable(report.system).items()):
        what, unit = "force" if units[coordinate.v] == "N" else "torque", units[coordinate.v]
        rows.append(PanelRow([Panel(f"{name}: {what} of its drive", unit, force[..., i : i + 1])], []))
    return [rows]


def _orbit(report: Report, get: Get) -> Sections:
    position, velocity = get("orbit_position"), get("orbit_velocity")
    return [[PanelRow([Panel("orbit: position", "m", position), Panel("orbit: velocity", "m/s", velocity)], XYZ)]]


FIGURES: dict[str, Callable[[Report, Get], Sections]] = {     # by record; others are drawn variable by variable
    "state": _state, "pose": _pose, "reactions": _reactions, "energy": _energy, "momentum": _momentum, "nodes": _nodes,
    "strain": _strain, "stress": _stress, "strains": _strains, "wheels": _wheels, "torque": _torque, "orbit": _orbit,
    "loops": _loops, "couplings": _couplings, "drives": _drives, "elements": _elements,
}
