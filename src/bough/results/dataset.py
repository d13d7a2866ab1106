"""Labeled arrays: the variables of a result with their names, units and coordinates.

Plots, files and the xarray dataset are all made from them. xarray itself takes half a second to import; a run that only
writes its file and its plots never needs it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bough.compile.coordinates import coordinate_place, holdable
from bough.describe import System
from bough.describe.body import FORCE_UNITS
from bough.describe.parts.port import ports_of
from bough.integrate.compiled.loops import SAME
from bough.integrate.trajectory import Occurrence, Trajectory
from bough.results.evaluation import evaluate, read
from bough.results.quantities import AXES, QUANTITIES, RECORD_OF, RECORDS
from bough.results.recorded_parts import Array, flexible_bodies
from bough.results.samples import Derive, Samples

if TYPE_CHECKING:
    import xarray

_PARAMETER_UNITS = {"mass": "kg", "com": "m", "at": "m", "inertia": "kg m^2"}


@dataclass(frozen=True)
class Variable:
    """An array, the names of its axes, its unit and its meaning."""

    dims: tuple[str, ...]
    values: Array
    units: str = ""
    long_name: str = ""

    @property
    def attrs(self) -> dict[str, str]:
        """Unit and meaning, if present."""
        named = {"units": self.units, "long_name": self.long_name}
        return {key: text for key, text in named.items() if text}


class Columns(NamedTuple):
    """Entries of a variable with the same unit, flattened after run and time."""

    unit: str
    indices: list[int]
    labels: list[str]


@dataclass
class Labeled:
    """Variables, the coordinates of their axes, and attributes of the whole."""

    coords: dict[str, Variable] = field(default_factory=dict)
    variables: dict[str, Variable] = field(default_factory=dict)
    attrs: dict[str, Any] = field(default_factory=dict)

    def to_xarray(self) -> xarray.Dataset:
        """The same as an xarray.Dataset."""
        import xarray

        def convert(variables: dict[str, Variable]) -> dict[str, Any]:
            return {name: xarray.Variable(v.dims, v.values, v.attrs) for name, v in variables.items()}

        return xarray.Dataset(convert(self.variables), convert(self.coords), self.attrs)

    def columns(self, name: str) -> Iterator[Columns]:
        """The entries of a variable, unit by unit, with a label for each."""
        variable = self.variables[name]
        dims = [dim for dim in variable.dims if dim not in ("run", "time")]
        sizes = variable.values.shape[len(variable.dims) - len(dims) :]
        entries = list(product(*(self._names(dim, size) for dim, size in zip(dims, sizes, strict=True))))
        units_of = QUANTITIES[name].units_of
        if units_of:
            units = [str(unit) for unit in self.coords[units_of].values]
        elif dims and dims[-1] == "component":
            units = ["N m" if entry[-1].startswith("m") else "N" for entry in entries]
        else:
            units = [variable.units] * len(entries)
        for unit in dict.fromkeys(units):
            indices = [k for k, each in enumerate(units) if each == unit]
            yield Columns(unit, indices, [" ".join(entries[k]) or name.replace("_", " ") for k in indices])

    def _names(self, dim: str, size: int) -> list[str]:
        named = f"{dim}_label" if f"{dim}_label" in self.coords else dim
        return [str(each) for each in self.coords[named].values] if named in self.coords else [str(k) for k in range(size)]


def text_variable(dim: str, texts: Iterable[str], long_name: str = "") -> Variable:
    """Names along an axis."""
    return Variable((dim,), np.array(list(texts), dtype=str), "", long_name)


def label(trajectory: Trajectory, records: Iterable[str]) -> Labeled:
    """The variables of these records with their coordinates."""
    names, model = list(records), trajectory.model
    empty = {dim for dim, axis in AXES.items() if axis.optional and not list(axis.names(model))}
    wanted = {name: quantity for record in names for name, quantity in RECORDS[record].quantities.items()
              if empty.isdisjoint(quantity.dims) and (name != "input_work" or trajectory.audited)}
    values = _values(trajectory, {name: quantity.derive for name, quantity in wanted.items()})
    variables, leading = {}, _leading(trajectory)
    for name, quantity in wanted.items():
        array = continuous(values[name], axis=1) if quantity.dims[-1:] == ("quaternion",) else values[name]
        for where in ports_of(list(model.system.outputs.values())).values() if name == "outputs" else ():
            if where.stop - where.start == 4:                                   # a quaternion
                array[..., where] = continuous(array[..., where], axis=1)
        array, gone = _without_gone(trajectory, quantity.dims, array)
        meaning = quantity[2] + (f"; NaN, for its joint has let go: {gone}" if gone else "")
        variables[name] = Variable((*leading, *quantity.dims), array if trajectory.batched else array[0], quantity[1], meaning)
    return Labeled(coordinates(trajectory, variables), variables)


def continuous(series: Array, axis: int) -> Array:
    """Signs of quaternions for continuous series: each as close as possible to the previous sample; the first with scalar part >=
    0."""
    q = np.moveaxis(series, axis, 0)
    flips = np.where(np.einsum("t...i,t...i->t...", q[1:], q[:-1]) < 0, -1.0, 1.0)
    first = np.where(q[:1, ..., 3] < 0, -1.0, 1.0)
    signs = np.cumprod(np.concatenate([first, flips]), axis=0)
    return np.moveaxis(q * signs[..., None], 0, axis)


def _without_gone(trajectory: Trajectory, dims: tuple[str, ...], array: Array) -> tuple[Array, str]:
    """NaN for coordinates of detached joints; and their names, in words."""
    lost = [(run, event) for run, events in enumerate(trajectory.events) for event in events if event.gone]
    if dims[-1:] not in (("q_name",), ("v_name",), ("drive",)) or not lost:
        return array, ""
    names, found, array = list(AXES[dims[-1]].names(trajectory.model)), dict[str, None](), array.copy()
    for run, event in lost:
        gone = [name for name in event.gone if name in names]
        array[run] = with_gone(names, [replace(event, gone=dict.fromkeys(gone, np.nan))], trajectory.t, array[run])
        found |= dict.fromkeys(f"{name} after {event.time:.6g} s" for name in gone)
    return array, ", ".join(found)


def with_gone(names: Sequence[str], events: Iterable[Occurrence], time: Array, values: Array) -> Array:
    """Values (time, names) of one run, with the placeholder values of detached joints."""
    values = values.copy()
    for event in events:
        for name, value in event.gone.items():
            if name in names:
                values[time > event.time * (1.0 + SAME), names.index(name)] = value
    return values


def _values(trajectory: Trajectory, derive: dict[str, Derive]) -> dict[str, Array]:
    """By variable, (run, time, ...)."""
    needs = {name: RECORDS[RECORD_OF[name]].evaluated for name in derive}
    values = read(trajectory, {name: derive[name] for name, need in needs.items() if need == "no"})
    if evaluated := {name: derive[name] for name, need in needs.items() if need != "no"}:
        values |= evaluate(trajectory, evaluated, accelerated="acceleration" in needs.values())
    return values


def label_internal_loads(trajectory: Trajectory, cut: Any, at: Any, axes: str) -> xarray.DataArray:
    """([run,] time, [connection,] component), N m and N; without the axis of connections if the cut is one name."""
    from bough.analyze.cuts import read_cut

    connections, not_determined = read_cut(trajectory.model.system, cut), dict[str, None]()

    def derive(samples: Samples) -> Array:
        loads = samples.internal_loads(cut=cut, at=at, axes=axes)
        for state in np.flatnonzero(loads.void.any(axis=(1, 2, 3))):
            not_determined.update(dict.fromkeys(loads.open_words(int(state))))
        return loads.values

    values = evaluate(trajectory, {"loads": derive}, accelerated=True)["loads"]
    variable = Variable((*_leading(trajectory), "connection", "component"), values if trajectory.batched else values[0],
                        "N m, N", f"moment and force through joints, {axes} axes")
    coords = coordinates(trajectory, {"internal_load": variable})
    coords["connection"] = text_variable("connection", connections.names, "joint or loop")
    coords["on"] = text_variable("connection", connections.on, "body that the load acts on")
    array = Labeled(coords, {"internal_load": variable}).to_xarray()["internal_load"]
    array.attrs["not_determined"] = "; ".join(not_determined)
    return array.isel(connection=0) if isinstance(cut, str) else array


def _leading(trajectory: Trajectory) -> tuple[str, ...]:
    return ("run", "time") if trajectory.batched else ("time",)


def coordinates(trajectory: Trajectory, variables: dict[str, Variable]) -> dict[str, Variable]:
    """Coordinates of the axes in use, units if they differ, owners of nodes and points, and the parameters of each run."""
    model, used = trajectory.model, {dim for variable in variables.values() for dim in variable.dims}
    coords = {"time": Variable(("time",), trajectory.t, "s", "time")}
    if "run" in used:
        coords["run"] = Variable(("run",), np.arange(len(trajectory.x)), "", "member of the batch")
    coords |= {dim: text_variable(dim, axis.names(model), axis.long_name) for dim, axis in AXES.items() if dim in used}
    units = entry_units(model.system)
    for quantity in (QUANTITIES[name] for name in variables if name in QUANTITIES):
        if quantity.units_of:
            coords[quantity.units_of] = text_variable(quantity.dims[0], units[quantity.units_of])
    for dim, ports in (("input", model.system.inputs), ("output", model.system.outputs)):
        if dim in used:
            named, labels = zip(*((port.name, label) for port in ports.values() for label in port.labels), strict=True)
            coords |= {f"{dim}_port": text_variable(dim, named, f"{dim} it is a number of"),
                       f"{dim}_label": text_variable(dim, labels, "as plots show it")}
    if "node" in used:
        owners = [body for body, flexible in flexible_bodies(model.system).items() for _ in flexible.nodes.names]
        coords["node_body"] = text_variable("node", owners, "body of the node")
    if "point" in used:
        coords |= _points(model.system)
    return coords | (_parameters(trajectory) if "run" in used else {})


def _points(system: System) -> dict[str, Variable]:
    """The body of each point, and pairs of points (numbers along `point`) to draw lines between."""
    owners, lines, first = list[str](), [np.zeros((0, 2), dtype=int)], 0
    for name, flexible in flexible_bodies(system).items():
        points = len(flexible.deformed_outline(np.zeros(flexible.n_modes)))
        owners += [name] * points
        lines += [] if flexible.outline is None else [first + np.asarray(flexible.outline.lines, dtype=int)]
        first += points
    return {"point_body": text_variable("point", owners, "body of the point"),
            "lines": Variable(("line", "end"), np.concatenate(lines), "", "points that a line joins")}


def entry_units(system: System) -> dict[str, list[str]]:
    """The units of the entries of q, v, accelerations, torques and drives."""
    q = [unit for body in system.bodies.values() for unit in body.coordinate_units]
    v = [unit for body in system.bodies.values() for unit in body.speed_units]
    forces = [FORCE_UNITS[unit] for unit in v]
    return {"q_unit": q, "v_unit": [f"{u}/s" for u in v], "a_unit": [f"{u}/s^2" for u in v], "torque_unit": forces,
            "coupled_unit": [forces[coordinate_place(system, name)[1]] for coupling in system.couplings.values()
                             for name in coupling.terms],
            "friction_unit": ["N m" if each.coordinate in system.wheels else forces[coordinate_place(system, each.coordinate)[1]]
                              for each in system.frictions.values()],
            "drive_unit": [forces[coordinate.v] for coordinate in holdable(system).values()],
            "input_unit": [unit for port in system.inputs.values() for unit in port.units(system)],
            "output_unit": [unit for port in system.outputs.values() for unit in port.units(system)]}


def _parameters(trajectory: Trajectory) -> dict[str, Variable]:
    """Parameters that differ between runs, as coordinates; NetCDF allows neither slashes nor blanks in their names."""
    found = {}
    for key, values in (trajectory.parameters or {}).items():
        array = np.asarray(values, float)
        dims = ("run", "axis", "column")[: array.ndim]
        name = key.replace("/", "_").replace(" ", "_")
        found[name] = Variable(dims, array, _PARAMETER_UNITS.get(key.rpartition(".")[2], ""), key)
    return found
