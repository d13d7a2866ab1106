"""Which coordinates are locked or prescribed, and how sweeps learn of it [B 17].

A coordinate is LOOSE, LOCKED or PRESCRIBED.  Those that can ever be held, by the description or by an event, have a row in plan;
which of them are is what `switched` writes there, so that it can change in a run.
"""
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bough.compile.cloud_tables import with_clouds
from bough.compile.coordinates import Coordinate, declared_motions, holdable
from bough.compile.motion_tables import motion_at, motion_rows
from bough.compile.partition import Partition
from bough.describe import System
from bough.kernels.hinges import MODAL, N_SPEEDS, WELD
from bough.sweeps import fields as f

if TYPE_CHECKING:
    from bough.compile.layout import Layout
    from bough.compile.tables import Tables


@dataclass(frozen=True)
class Hold:
    """How a coordinate is held: locked, or by one of its motions, which counts time and position from here."""
    motion: int | None = None           # which of the motions of its coordinate; None: locked
    origin: float = 0.0                 # s
    offset: float = 0.0                 # rad or m


def declared_holds(system: System) -> dict[str, Hold]:
    """What the description holds, by coordinate."""
    return {name: Hold(None if motion == "locked" else 0) for name, motion in declared_motions(system).items()}


def hinge_of(parts: Partition, v: int) -> int:
    """The hinge that an entry of v belongs to."""
    return next(k for k, hinge in enumerate(parts.hinges)
                if k and hinge.kind < MODAL and hinge.v <= v < hinge.v + N_SPEEDS[hinge.kind])


@dataclass(frozen=True)
class HoldTable:
    """Rows of all coordinates that can be held, and where in plan and in tables they are."""
    coordinates: dict[str, Coordinate]
    rows: list[list[int]]
    hinges: list[int]                           # by row
    motions: dict[str, list[tuple[int, int]]]   # by coordinate: where in tables each of its motions is, and its terms
    data: np.ndarray                            # what comes to the end of tables
    at: int = 0                                 # where the rows are in plan


def hold_table(system: System, parts: Partition, lay: "Layout", data_at: int) -> HoldTable:
    coordinates, rows, hinges = holdable(system), list[list[int]](), list[int]()
    motions: dict[str, list[tuple[int, int]]] = {}
    pieces: list[np.ndarray] = [np.zeros(0)]
    for coordinate in coordinates.values():
        motions[coordinate.name] = []
        for motion in coordinate.motions:
            terms = motion_rows(motion)
            motions[coordinate.name].append((data_at + sum(map(len, pieces)), len(terms)))
            pieces += [np.zeros(f.MOTION_HEAD), *(np.r_[period, len(term), degree(term), term.ravel()] for period, term in terms)]
        rows.append([f.LOOSE, 0 if coordinate.q is None else lay.x + coordinate.q, lay.x + lay.nq + coordinate.v,
                     lay.xdot + lay.nq + coordinate.v, lay.given + coordinate.v, 0, 0])
        hinges.append(hinge_of(parts, coordinate.v))
    return HoldTable(coordinates, rows, hinges, motions, np.concatenate(pieces))


def degree(pieces: np.ndarray) -> int:
    """The highest power that any of these pieces has."""
    used = np.flatnonzero(np.abs(pieces[:, 1:]).max(axis=0))
    return int(used[-1]) if len(used) else 0


def switched(tables: "Tables", holds: Mapping[str, Hold], contacts: Sequence[str]) -> "Tables":
    """The same tables with other coordinates held, and these stops in contact."""
    plan, data, table = tables.plan.copy(), tables.tables.copy(), tables.holds
    flat, hinges = plan.reshape(-1), tables.size(f.HINGES)
    for hinge in table.hinges:
        flat[hinges + f.HINGE_ROW*hinge + f.SOLVED] = flat[hinges + f.HINGE_ROW*hinge + f.KIND]
    for i, (name, hinge) in enumerate(zip(table.coordinates, table.hinges, strict=True)):
        row, hold = table.at + f.HOLD_ROW*i, holds.get(name)
        flat[row + f.HOLD_MODE] = f.LOOSE
        if hold is None:
            continue
        flat[hinges + f.HINGE_ROW*hinge + f.SOLVED] = WELD
        flat[row + f.HOLD_MODE] = f.LOCKED
        if hold.motion is not None:
            at, terms = table.motions[name][hold.motion]
            flat[row + f.HOLD_MODE], flat[row + f.HOLD_MOTION], flat[row + f.HOLD_TERMS] = f.PRESCRIBED, at, terms
            data[at + f.MOTION_ORIGIN], data[at + f.MOTION_OFFSET] = hold.origin, hold.offset
    first = tables.size(f.SPRINGS) + f.SPRING_ROW*(tables.size(f.N_SPRINGS) - len(tables.stops))
    for i, name in enumerate(tables.stops):
        flat[first + f.SPRING_ROW*i + f.SPRING_ACTS] = int(name in contacts)
    switched_tables = replace(tables, plan=plan, tables=data)
    return replace(switched_tables, plan=with_clouds(plan, tables.parts, switched_tables.solved_kinds))


def prescribed_motion(coordinates: Mapping[str, Coordinate], holds: Mapping[str, Hold], t: Any) -> dict[str, np.ndarray]:
    """By prescribed coordinate, (3, ...): position, rate and acceleration at the times t."""
    found = {}
    for name, hold in holds.items():
        if hold.motion is not None:
            motion = motion_at(motion_rows(coordinates[name].motions[hold.motion]), np.asarray(t, float) - hold.origin)
            found[name] = np.stack(np.broadcast_arrays(*motion)) + np.array([hold.offset, 0.0, 0.0]).reshape(-1, *[1]*np.ndim(t))
    return found
