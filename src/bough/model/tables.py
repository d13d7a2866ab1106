"""A partitioned system as the three tables of `sweeps.fields`."""
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bough.describe import CentralGravity, System, Table
from bough.kernels.hinges import GAIN_SIZE
from bough.model.parameters import body_parameters
from bough.model.partition import Partition, coordinate_places, partition
from bough.sweeps import fields as f


@dataclass(frozen=True)
class InputWrench:
    """A wrench that the caller gives with each evaluation: on a body, at its origin, in its axes or the world's."""
    body: str
    world: bool


@dataclass(frozen=True)
class Tables:
    plan: np.ndarray            # int64
    pars: np.ndarray            # (batch, n)
    tables: np.ndarray          # float64
    parts: Partition
    n_u: int                    # length of the controls, tau | motors | wrenches
    first_input_wrench: int     # where the caller's wrenches start in them

    def size(self, name: int) -> int:
        return int(self.plan[name])

    @cached_property
    def jumps(self) -> np.ndarray:
        """Times at which a time table jumps."""
        return _jumps(self)


class Builder:
    """Rows of the plan and of pars, gathered section by section."""

    def __init__(self, system: System, changes: Mapping[str, Any] | None, inputs: Sequence[InputWrench], keep_welds: bool):
        self.system, self.inputs = system, inputs
        self.parts = partition(system, body_parameters(system, changes), keep_welds)
        self.in_orbit = isinstance(system.gravity, CentralGravity)
        self.nq = sum(body.joint.n_q for body in system.bodies.values())
        self.nv = sum(body.joint.n_v for body in system.bodies.values())
        self.wheels, self.wrenches = list(system.wheels.values()), list(system.wrenches.values())
        self.nw = len(self.wheels)
        self.nx = self.nq + self.nv + self.nw + 6*self.in_orbit
        self.first_input = self.nv + self.nw + 6*len(self.wrenches)
        self.nu = self.first_input + 6*len(inputs)
        self.places = coordinate_places(system)
        self.lay_out_workspace()

    # ---- workspace ------------------------------------------------------------------------------------------
    def lay_out_workspace(self) -> None:
        hinges, seats = self.parts.hinges, self.parts.seats
        self.time, self.x = 0, 4
        self.sines = fours(self.x + self.nx)
        self.cosines = fours(self.sines + self.nq)
        at = fours(self.cosines + self.nq)
        self.u, at = at, at + self.nu
        self.xdot, at = at, at + self.nx
        self.positions, at = at, at + 3*len(hinges)*self.in_orbit
        wheel_hinges = {seats[wheel.body].hinge for wheel in self.wheels}
        loaded = wheel_hinges | {seats[w.body].hinge for w in (*self.wrenches, *self.inputs)}
        loaded |= {k for k, hinge in enumerate(hinges) if self.in_orbit and hinge.mass.any()}
        loaded -= {0}                                                 # nothing on the ground moves it
        self.slots, at = at, at + 6*len(loaded)
        self.slot = {k: self.slots + 6*i for i, k in enumerate(sorted(loaded))}
        branches = {hinge.inner for k, hinge in enumerate(hinges) if k and hinge.inner != k - 1} | wheel_hinges | {0}
        self.branch = {k: at + f.BRANCH_STORE*i for i, k in enumerate(sorted(branches))}
        at += f.BRANCH_STORE*len(branches)
        self.record = []
        for hinge in hinges:
            self.record.append(at)
            at += f.GAIN + GAIN_SIZE[hinge.kind]
        self.end = at

    # ---- rows -----------------------------------------------------------------------------------------------
    def hinge_rows(self) -> tuple[list[list[int]], list[np.ndarray]]:
        plan, pars = [], []
        for k, hinge in enumerate(self.parts.hinges):
            tau = self.u + hinge.v
            plan.append([hinge.inner, hinge.kind, self.x + hinge.q, self.x + self.nq + hinge.v, tau,
                         self.xdot + self.nq + hinge.v, int(hinge.mass.any() or hinge.inertia.any()), self.record[k],
                         self.branch.get(k, 0), self.slot.get(k, 0)])
            inertia = hinge.inertia - self.free_wheel_inertia(k)
            rows, cols = np.triu_indices(3)
            pars.append(columns(hinge.turn.ravel(), hinge.at, hinge.mass[:, None], hinge.moment, inertia[:, rows, cols]))
        gravity = np.zeros(3) if self.in_orbit else np.asarray(self.system.gravity, float)
        mu = self.system.gravity.mu if isinstance(self.system.gravity, CentralGravity) else 0.0
        total = sum(hinge.mass for hinge in self.parts.hinges)
        ground = columns(gravity, [mu], np.asarray(total)[:, None])
        pars[0] = columns(ground, np.zeros(f.HINGE_PARS - ground.shape[1]))
        return plan, pars

    def free_wheel_inertia(self, k: int) -> np.ndarray:
        """A driven wheel turns freely about its axis e: the hinge's body is without J e e^T."""
        seats = self.parts.seats
        axes = [(wheel.inertia, seats[wheel.body].turn @ np.asarray(wheel.axis)) for wheel in self.wheels
                if wheel.driven and seats[wheel.body].hinge == k]
        return sum((J*np.outer(e, e) for J, e in axes), np.zeros((3, 3)))

    def spring_rows(self) -> tuple[list[list[int]], list[np.ndarray]]:
        plan, pars = [], []
        for body in self.system.bodies.values():
            joint = body.joint
            if joint.stiffness is None and joint.damping is None:
                continue
            q, v = self.places[body.name]
            stiffness, damping, rest = (values or (0.0,)*joint.n_v for values in (joint.stiffness, joint.damping, joint.rest))
            for i in range(joint.n_v):
                if stiffness[i] or damping[i]:
                    plan.append([self.x + q + i, self.x + self.nq + v + i, self.u + v + i])
                    pars.append(columns([stiffness[i]], [rest[i]], [damping[i]]))
        return plan, pars

    def wheel_rows(self) -> tuple[list[list[int]], list[np.ndarray]]:
        plan, pars = [], []
        for j, wheel in enumerate(self.wheels):
            seat = self.parts.seats[wheel.body]
            speed = self.nq + self.nv + j
            plan.append([seat.hinge, self.x + speed, self.u + self.nv + j, self.xdot + speed, int(wheel.driven)])
            pars.append(columns(seat.turn @ np.asarray(wheel.axis), [wheel.inertia]))
        return plan, pars

    def wrench_rows(self) -> tuple[list[list[int]], list[np.ndarray]]:
        plan, pars = [], []
        placed = [(w.body, w.frame == "world", np.asarray(w.at, float)) for w in self.wrenches]
        placed += [(w.body, w.world, np.zeros(3)) for w in self.inputs]
        for j, (body, world, at) in enumerate(placed):
            seat = self.parts.seats[body]
            if seat.hinge:
                plan.append([seat.hinge, self.u + self.nv + self.nw + 6*j, int(world)])
                pars.append(columns(seat.turn.ravel(), seat.at + seat.turn @ at))
        return plan, pars

    def inputs_and_tables(self) -> tuple[np.ndarray, list[list[int]], np.ndarray]:
        """Constants of u, and a row for each time table."""
        constants, rows, data = np.zeros(self.nu), [], []

        def put(target: int, value: float | Table, column: int = 0) -> None:
            if isinstance(value, Table):
                pieces = piecewise_cubic(value, column)
                rows.append([sum(map(len, data)), len(pieces)//f.PIECE, self.u + target])
                data.append(pieces)
            else:
                constants[target] += value

        for body in self.system.bodies.values():
            for i, value in enumerate(body.joint.torque or ()):
                put(self.places[body.name][1] + i, value)
        for j, wheel in enumerate(self.wheels):
            if wheel.driven:
                put(self.nv + j, wheel.torque)
        for j, wrench in enumerate(self.wrenches):
            for part, value in enumerate((wrench.moment, wrench.force)):
                for i in range(3):
                    put(self.nv + self.nw + 6*j + 3*part + i, value if isinstance(value, Table) else value[i], i)
        return constants, rows, np.concatenate(data) if data else np.zeros(f.PIECE)

    # ---- all together ---------------------------------------------------------------------------------------
    def build(self) -> Tables:
        constants, table_rows, data = self.inputs_and_tables()
        hinge_plan, hinge_pars = self.hinge_rows()
        sections = {"springs": self.spring_rows(), "wheels": self.wheel_rows(), "wrenches": self.wrench_rows()}
        header = np.zeros(f.HINGES + 1, dtype=np.int64)
        plan: list[list[int]] = [*hinge_plan]
        at = f.HINGES + 1
        header[f.HINGES], at = at, at + f.HINGE_ROW*len(hinge_plan)
        starts = {}
        for name, (rows, _) in [*sections.items(), ("tables", (table_rows, []))]:
            starts[name], at = at, at + sum(map(len, rows))
            plan += rows
        pars = [*hinge_pars, columns(constants), *(row for _, rows in sections.values() for row in rows)]
        par_at = f.HINGE_PARS*len(hinge_plan)
        par_starts = {"inputs": par_at}
        par_at += self.nu
        for name, (_, rows) in sections.items():
            par_starts[name], par_at = par_at, par_at + sum(row.shape[1] for row in rows)
        values = {
            f.N_HINGES: len(hinge_plan) - 1, f.NQ: self.nq, f.NV: self.nv, f.N_WHEELS: self.nw, f.N_X: self.nx, f.N_U: self.nu,
            f.IN_ORBIT: self.in_orbit, f.HAS_LOADS: bool(self.slot), f.SPRINGS: starts["springs"],
            f.N_SPRINGS: len(sections["springs"][0]), f.WHEELS: starts["wheels"], f.WRENCHES: starts["wrenches"],
            f.N_WRENCHES: len(sections["wrenches"][0]), f.TABLES: starts["tables"], f.N_TABLES: len(table_rows),
            f.PAR_INPUTS: par_starts["inputs"], f.N_CONSTANTS: self.nu if constants.any() else 0, f.PAR_SPRINGS: par_starts["springs"], f.PAR_WHEELS: par_starts["wheels"],
            f.PAR_WRENCHES: par_starts["wrenches"], f.WS_TIME: self.time, f.WS_X: self.x, f.WS_SINES: self.sines, f.WS_COSINES: self.cosines,
            f.WS_U: self.u, f.WS_XDOT: self.xdot, f.WS_POSITIONS: self.positions, f.WS_SLOTS: self.slots,
            f.N_SLOTS: len(self.slot), f.WS_MASS: self.end, f.WS_SIZE: self.end}
        for key, value in values.items():
            header[key] = value
        flat = np.concatenate([header, *(np.asarray(row, np.int64) for row in plan)])
        return Tables(flat, columns(*pars), data, self.parts, self.nu, self.first_input)


def build_tables(system: System, *, changes: Mapping[str, Any] | None = None, inputs: Sequence[InputWrench] = (),
                 keep_welds: bool = False) -> Tables:
    """The tables of a valid system."""
    return Builder(system, changes, inputs, keep_welds).build()


def fours(at: int) -> int:
    """The next multiple of four: sines are taken four at a time."""
    return -(-at//4)*4


def columns(*parts: Any) -> np.ndarray:
    """Side by side: 1-D parts are the same for the whole batch, 2-D ones lead with the batch axis."""
    arrays = [np.atleast_2d(np.asarray(part, float)) for part in parts]
    batch = max(len(a) for a in arrays)
    return np.concatenate([np.broadcast_to(a, (batch, a.shape[1])) for a in arrays], axis=1)


def piecewise_cubic(table: Table, column: int) -> np.ndarray:
    """One column of a table as pieces (start, c0, c1, c2, c3); the last value holds after the end."""
    times = np.asarray(table.times, float)
    values = np.asarray(table.values, float).reshape(len(times), -1)[:, column]
    pieces = np.zeros((len(times), f.PIECE))
    pieces[:, 0], pieces[:, 1] = times, values
    if table.kind == "linear":
        pieces[:-1, 2] = np.diff(values)/np.diff(times)
    elif table.kind == "cubic":
        from scipy.interpolate import CubicSpline
        pieces[:-1, 1:] = CubicSpline(times, values, bc_type="natural").c[::-1].T
    return pieces.ravel()


def _jumps(tables: Tables) -> np.ndarray:
    """Times where a table's value is not continuous."""
    found: set[float] = set()
    rows = tables.plan[tables.size(f.TABLES):][:f.TABLE_ROW*tables.size(f.N_TABLES)].reshape(-1, f.TABLE_ROW)
    for at, pieces, _ in rows:
        p = tables.tables[at:at + f.PIECE*pieces].reshape(-1, f.PIECE)
        h = np.diff(p[:, 0])
        ends = p[:-1, 1] + h*(p[:-1, 2] + h*(p[:-1, 3] + h*p[:-1, 4]))
        scale = np.abs(p[:, 1]).max() + 1e-300
        found.update(p[1:, 0][np.abs(ends - p[1:, 1]) > 1e-9*scale].tolist())
    return np.array(sorted(found))
