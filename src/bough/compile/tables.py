"""A partitioned system as the three tables of `sweeps.fields`."""
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bough.compile.cloud_tables import cloud_sums
from bough.compile.coordinates import coordinate_place
from bough.compile.element_tables import element_rows
from bough.compile.flexible_tables import modal_parameters, node_parameters
from bough.compile.front_tables import Fronts, front_rows
from bough.compile.hold_tables import HoldTable, hold_table
from bough.compile.layout import InputWrench, Layout
from bough.compile.loop_freedoms import free_rows
from bough.compile.parameters import body_parameters, columns
from bough.compile.partition import Partition, partition
from bough.compile.signal_tables import jumps, piecewise_cubic
from bough.describe import CentralGravity, System, TimeTable
from bough.describe.parts import PARTS
from bough.kernels.hinges import MODAL, REVOLUTE
from bough.sweeps import fields as f


@dataclass(frozen=True)
class Tables:
    plan: np.ndarray            # int64
    pars: np.ndarray            # (batch, n)
    tables: np.ndarray          # float64
    parts: Partition
    fronts: Fronts
    n_u: int                    # length of the controls, tau | motors | wrenches
    first_input_wrench: int     # where the caller's wrenches start in them
    jumps: np.ndarray           # times at which a time table jumps
    knots: np.ndarray           # times of all rows of time tables
    holds: HoldTable            # coordinates that can be locked or prescribed
    stops: tuple[str, ...]      # whose springs come last

    def size(self, name: int) -> int:
        return int(self.plan.reshape(-1)[name])

    @property
    def solved_kinds(self) -> list[int]:
        """By hinge, its kind to the sweeps that solve: a weld where it is held."""
        first = self.size(f.HINGES)
        rows = self.plan.reshape(-1)[first:first + f.HINGE_ROW*len(self.parts.hinges)].reshape(-1, f.HINGE_ROW)
        return [int(kind) for kind in rows[:, f.SOLVED]]

    @property
    def dense_size(self) -> int:
        """Numbers that the dense method needs more: mass matrix, Jacobian of the loops, their matrix, pivots and order."""
        nv, m = self.size(f.NV), self.fronts.size
        return nv*nv + m*(nv + m + 2)


    @property
    def cloud_size(self) -> int:
        """Numbers that the momentum cloud needs more: those of the base's joint and of each cloud, equations of unknown hinges."""
        n = self.size(f.N_CLOUDS)
        bodies = -(-len(self.parts.hinges)//4)*4
        return f.CLOUD_HEAD + f.CLOUD_STORE*(n + 1) + n*(n + 1) + 4*(f.CLOUD_BODY*bodies + f.CLOUD_COLUMN + 1)

    def more(self, dynamics: str) -> int:
        """Numbers that a method needs behind those of all."""
        return {"order-n": 0, "dense": self.dense_size, "cloud": self.cloud_size}[dynamics]


@dataclass(frozen=True)
class Section:
    """Rows of one kind, in plan and in pars."""
    plan: list[list[int]]
    pars: list[np.ndarray]


class Assembly:
    """Sections one behind the other; the header learns where each starts, and how many rows it has."""

    def __init__(self, header: np.ndarray):
        self.header, self.plan, self.pars = header, list[list[int]](), list[np.ndarray]()
        self.at, self.par_at = len(header), 0

    def add(self, section: Section, key: int | None = None, count_key: int | None = None, par_key: int | None = None) -> None:
        for where, value in ((key, self.at), (count_key, len(section.plan)), (par_key, self.par_at)):
            if where is not None:
                self.header[where] = value
        self.plan += section.plan
        self.pars += section.pars
        self.at += sum(map(len, section.plan))
        self.par_at += sum(part.shape[1] for part in section.pars)

    def fill_to_fours(self) -> None:
        """So that what follows in pars can be taken four numbers at a time."""
        self.add(Section([], [np.zeros((1, f.fours(self.par_at) - self.par_at))]))

    def arrays(self) -> tuple[np.ndarray, np.ndarray]:
        return np.concatenate([self.header, *(np.asarray(row, np.int64) for row in self.plan)]), columns(*self.pars)


def build_tables(system: System, *, changes: Mapping[str, Any] | None = None, inputs: Sequence[InputWrench] = (),
                 keep_welds: bool = False) -> Tables:
    """The tables of a valid system; with a hinge for every weld and every node, if welds are kept."""
    nodes = used_nodes(system, inputs, every=keep_welds)
    parts = partition(system, body_parameters(system, changes), keep_welds, nodes)
    lay = Layout(system, parts, inputs)
    constants, time_tables = gather_inputs(system, lay)
    starts = np.cumsum([0, *(pieces.size for _, pieces in time_tables)])
    table_rows = [[int(start), len(pieces), target] for start, (target, pieces) in zip(starts, time_tables, strict=False)]
    hinges, holds = hinge_section(system, parts, lay), hold_table(system, parts, lay, int(starts[-1]))

    whole = Assembly(size_header(lay, parts))
    whole.header[f.N_CONSTANTS] = lay.nu if constants.any() else 0
    whole.add(hinges, f.HINGES)
    whole.add(Section([], [columns(constants)]), par_key=f.PAR_INPUTS)
    whole.add(spring_section(system, lay), f.SPRINGS, f.N_SPRINGS, f.PAR_SPRINGS)
    whole.add(wheel_section(system, parts, lay), f.WHEELS, f.N_WHEELS, f.PAR_WHEELS)
    whole.add(wrench_section(system, parts, lay, inputs), f.WRENCHES, f.N_WRENCHES, f.PAR_WRENCHES)
    whole.add(Section(angle_runs(parts), []), f.ANGLES, f.N_ANGLES)
    whole.add(Section(table_rows, []), f.TABLES, f.N_TABLES)
    whole.add(Section(holds.rows, []), f.HOLDS, f.N_HOLDS)
    whole.add(Section([], locked_inertias(parts, lay)), par_key=f.PAR_LOCKED)
    whole.add(Section([], [closure.parameters for closure in lay.fronts.closures]), par_key=f.PAR_LOOPS)
    whole.add(Section(*free_rows(system, parts, lay.u + lay.first_free)), f.FREES, f.N_FREES, f.PAR_FREES)
    whole.fill_to_fours()
    whole.add(Section([], [cloud_sums(parts)]), par_key=f.PAR_CLOUD)
    whole.fill_to_fours()
    whole.add(flex_section(parts, lay, whole.at, whole.par_at, hinges))
    whole.add(Section(front_rows(lay.fronts, parts, hinges.plan, whole.at), []), f.LOOPS)
    elements = list(element_rows(lay.placed, whole.par_at, lay.elements))
    whole.add(Section(elements, [element.parameters for element in lay.placed]), f.ELEMENTS)
    plan, pars = whole.arrays()
    rank = 1*bool(parts.modal) + 2*bool(lay.fronts.closures) + 4*bool(holds.rows)       # less one: see kernels.lanes.lanes_of
    plan = plan.reshape((1,)*rank + plan.shape)
    data = np.concatenate([*(pieces.ravel() for _, pieces in time_tables), holds.data])
    return Tables(plan, pars, data, parts, lay.fronts, lay.nu, lay.first_input,
                  np.unique(np.concatenate([np.zeros(0), *(jumps(pieces) for _, pieces in time_tables)])),
                  np.unique(np.concatenate([np.zeros(0), *(pieces[:, 0] for _, pieces in time_tables)])),
                  replace(holds, at=int(whole.header[f.HOLDS])), tuple(system.stops))


def used_nodes(system: System, inputs: Sequence[InputWrench], *, every: bool) -> list[tuple[str, str]]:
    """Nodes that carry something; or, to tell where they are, every one."""
    places: list[Any] = [place for kind in PARTS for part in system.of(kind).values() for place in part.attachments()]
    nodes = [(place.body, place.node) for place in [*places, *inputs] if place.node is not None]
    if every:
        nodes += [(body.name, name) for body in system.bodies.values() if body.flexible for name in body.flexible.nodes.names]
    return nodes


def size_header(lay: Layout, parts: Partition) -> np.ndarray:
    """The plan's header with sizes and places in the workspace; sections are still to be placed."""
    header = np.zeros(f.HINGES + 1, dtype=np.int64)
    values = {
        f.N_HINGES: len(parts.hinges) - 1, f.NQ: lay.nq, f.NV: lay.nv, f.N_WHEELS: lay.nw, f.N_X: lay.nx, f.N_U: lay.nu,
        f.IN_ORBIT: lay.in_orbit, f.HAS_LOADS: bool(lay.slot), f.WS_TIME: lay.time, f.WS_X: lay.x, f.WS_SINES: lay.sines,
        f.WS_COSINES: lay.cosines, f.WS_U: lay.u, f.WS_XDOT: lay.xdot, f.WS_POSITIONS: lay.positions, f.WS_SLOTS: lay.slots,
        f.N_SLOTS: len(lay.slot), f.WS_MASS: lay.end, f.WS_SIZE: lay.end, f.N_LOOPS: len(lay.fronts.closures),
        f.WS_CLOSURE: lay.fronts.closure_at, f.WS_MULTIPLIERS: lay.fronts.multipliers_at, f.N_MULTIPLIERS: lay.fronts.size,
        f.WS_FRONTS: lay.fronts.fronts_at, f.N_FRONTS: lay.fronts.fronts_end - lay.fronts.fronts_at,
        f.N_ELEMENTS: len(lay.placed), f.WS_ELEMENTS: lay.elements}
    for key, value in values.items():
        header[key] = value
    return header


# ---- sections ---------------------------------------------------------------------------------------------------
def hinge_section(system: System, parts: Partition, lay: Layout) -> Section:
    section = Section([], [ground_parameters(system, parts)])
    rows, cols = np.triu_indices(3)
    for k, hinge in enumerate(parts.hinges):
        massive = (hinge.mass.any() or hinge.inertia.any()) and hinge.kind != MODAL      # its mass is in the modal integrals
        section.plan.append([hinge.inner, hinge.kind, lay.x + hinge.q, lay.x + lay.nq + hinge.v, lay.u + hinge.v,
                             lay.xdot + lay.nq + hinge.v, int(massive), lay.record[k], lay.branch.get(k, 0), lay.slot.get(k, 0),
                             0, 0, lay.given + hinge.v,         # FLEX, NODE_PAR, NODE_WS: flex_section; CLOUD: model.cloud
                             0, 0, hinge.kind])                 # FRONT, JUNCTION: front_rows
        if k:
            section.pars.append(columns(hinge.turn.ravel(), hinge.at, hinge.mass[:, None], hinge.moment,
                                        hinge.inertia[:, rows, cols]))
    return section


def angle_runs(parts: Partition) -> list[list[int]]:
    """Coordinates that are angles, in runs that bridge small gaps: sines are taken four at a time."""
    runs: list[list[int]] = []
    for q in sorted(hinge.q for hinge in parts.hinges if hinge.kind == REVOLUTE):
        if runs and q - runs[-1][1] < f.fours(1):
            runs[-1][1] = q + 1
        else:
            runs.append([q, q + 1])
    return runs


def ground_parameters(system: System, parts: Partition) -> np.ndarray:
    central = system.gravity if isinstance(system.gravity, CentralGravity) else None
    gravity = np.zeros(3) if central else np.asarray(system.gravity, float)
    total = np.asarray(sum(hinge.mass for hinge in parts.hinges))
    given = columns(gravity, [central.mu if central else 0.0], total[:, None])
    return columns(given, np.zeros(f.HINGE_PARS - given.shape[1]))


def locked_inertias(parts: Partition, lay: Layout) -> list[np.ndarray]:
    """In orbit: the inertias on which gravity acts."""
    rows, cols = np.triu_indices(3)
    return [columns(hinge.locked[:, rows, cols]) for hinge in parts.hinges] if lay.in_orbit else []


def flex_section(parts: Partition, lay: Layout, at: int, par_at: int, hinges: Section) -> Section:
    """A row a flexible body, and its integrals; the rows of its MODAL hinge and of its nodes learn where they are.

    Bodies that are alike share their integrals: a chain of equal links then stays in the processor's first cache."""
    section, places = Section([], []), {}
    for k, hinge in enumerate(parts.hinges):
        if hinge.flexible is None:
            continue
        key = id(hinge.flexible), hinge.node, hinge.rest.tobytes()
        if key not in places:
            numbers, row = modal_parameters(hinge.flexible, hinge.rest) if hinge.kind == MODAL else (
                node_parameters(hinge.flexible, hinge.node), [])
            places[key] = par_at, row
            section.pars.append(np.pad(numbers, (0, f.fours(len(numbers)) - len(numbers)))[None])
            par_at += f.fours(len(numbers))
        place, row = places[key]
        if hinge.kind == MODAL:
            hinges.plan[k][f.FLEX] = at
            section.plan.append([k, hinge.flexible.n_modes, place, lay.modes_at[k], lay.room, *row, lay.fronts.columns(k)])
            at += len(section.plan[-1])
        else:
            hinges.plan[k][f.FLEX:f.NODE_WS + 1] = [hinges.plan[hinge.inner][f.FLEX], place, lay.modes_at[k]]
    return section


def spring_section(system: System, lay: Layout) -> Section:
    section = Section([], [])
    for body in system.bodies.values():
        joint, (q, v) = body.joint, lay.places[body.name]
        stiffness, damping, rest = (values or (0.0,)*joint.n_v for values in (joint.stiffness, joint.damping, joint.rest))
        for i in range(joint.n_v):
            if stiffness[i] or damping[i]:
                section.plan.append([lay.x + q + i, lay.x + lay.nq + v + i, lay.u + v + i, 1])
                section.pars.append(columns([stiffness[i]], [rest[i]], [damping[i]]))
    for stop in system.stops.values():
        q, v = coordinate_place(system, stop.coordinate)
        section.plan.append([lay.x + q, lay.x + lay.nq + v, lay.u + v, 0])
        section.pars.append(columns([stop.stiffness], [stop.limit], [stop.damping]))
    return section


def wheel_section(system: System, parts: Partition, lay: Layout) -> Section:
    section = Section([], [])
    for j, wheel in enumerate(system.wheels.values()):
        seat, speed = parts.seat(wheel.body, wheel.node), lay.nq + lay.nv + j
        section.plan.append([seat.hinge, lay.x + speed, lay.u + lay.nv + j, lay.xdot + speed, int(wheel.driven)])
        section.pars.append(columns(seat.turn @ np.asarray(wheel.axis), [wheel.inertia]))
    return section


def wrench_section(system: System, parts: Partition, lay: Layout, inputs: Sequence[InputWrench]) -> Section:
    """Described wrenches, then the caller's; those on bodies that are fixed to the ground move nothing."""
    section = Section([], [])
    placed = [(parts.seat(w.body, w.node), w.frame == "world", w.at, lay.nv + lay.nw + 6*j)
              for j, w in enumerate(system.wrenches.values())]
    placed += [(parts.seat(w.body, w.node), w.world, (0.0, 0.0, 0.0), lay.first_input + 6*j) for j, w in enumerate(inputs)]
    for seat, world, at, place in placed:
        if seat.hinge:
            section.plan.append([seat.hinge, lay.u + place, int(world)])
            section.pars.append(columns(seat.turn.ravel(), seat.at + seat.turn @ np.asarray(at)))
    return section


def gather_inputs(system: System, lay: Layout) -> tuple[np.ndarray, list[tuple[int, np.ndarray]]]:
    """Constants of u, and for each column of a time table its place in ws and its pieces."""
    constants, time_tables = np.zeros(lay.nu), []

    def put(target: int, value: float | TimeTable, column: int = 0) -> None:
        if isinstance(value, TimeTable):
            time_tables.append((lay.u + target, piecewise_cubic(value, column)))
        else:
            constants[target] += value

    for body in system.bodies.values():
        for i, torque in enumerate(body.joint.torque or ()):
            put(lay.places[body.name][1] + i, torque)
    for j, wheel in enumerate(system.wheels.values()):
        if wheel.torque is not None:
            put(lay.nv + j, wheel.torque)
    for j, wrench in enumerate(system.wrenches.values()):
        for part, vector in enumerate((wrench.moment, wrench.force)):
            for i in range(3):
                put(lay.nv + lay.nw + 6*j + 3*part + i, vector if isinstance(vector, TimeTable) else vector[i], i)
    for j, motion in enumerate(lay.frees):
        put(lay.first_free + j, motion.torque)
    return constants, time_tables


def described_inputs(tables: Tables, t: np.ndarray) -> np.ndarray:
    """(times, nu): the constants and time tables of u."""
    start = tables.size(f.PAR_INPUTS)
    u = np.tile(tables.pars[0, start:start + tables.n_u], (len(t), 1))
    rows = tables.plan.reshape(-1)[tables.size(f.TABLES):][:f.TABLE_ROW*tables.size(f.N_TABLES)].reshape(-1, f.TABLE_ROW)
    for at, pieces, target in rows.tolist():
        table = tables.tables[at:at + f.PIECE*pieces].reshape(-1, f.PIECE)
        piece = table[np.clip(np.searchsorted(table[:, 0], t, side="right") - 1, 0, None)]
        s = np.maximum(t - piece[:, 0], 0.0)
        u[:, target - tables.size(f.WS_U)] += piece[:, 1] + s*(piece[:, 2] + s*(piece[:, 3] + s*piece[:, 4]))
    return u
