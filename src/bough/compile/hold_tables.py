"""Which coordinates can be locked or prescribed, and how they appear in plan [B 17].

A coordinate is LOOSE, LOCKED or PRESCRIBED.  Those that can ever be held, by the description or by an event, have a row in plan;
`compile.switching` writes there which of them are, so that it can change in a run.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bough import compile as builders
from bough.compile.coordinates import Coordinate, holdable
from bough.compile.partition import Partition
from bough.compile.workspace_layout import WorkspaceLayout
from bough.describe import System
from bough.kernels.hinges import MODAL, N_SPEEDS
from bough.sweeps import fields as f, records as r
from bough.sweeps.schema import Floats


@dataclass(frozen=True)
class Hold:
    """How a coordinate is held: locked, or by one of its motions, whose time and position start here."""
    motion: int | None = None           # which motion of its coordinate; None: locked
    origin: float = 0.0                 # s
    offset: float = 0.0                 # rad or m


class HoldTable(NamedTuple):
    """Rows of all coordinates that can be held, and the motions that they may follow."""
    coordinates: dict[str, Coordinate]
    rows: list[list[int]]
    hinges: list[int]                           # by row
    motions: dict[str, list[tuple[int, int]]]   # by coordinate: position in tables and terms of each of its motions
    data: Floats                   # section "motions" of tables


def hold_table(system: System, tree: Partition, layout: WorkspaceLayout, data_at: int) -> HoldTable:
    """Motions are in tables from `data_at` on."""
    coordinates, rows, pieces = holdable(system), list[list[int]](), [np.zeros(0)]
    motions: dict[str, list[tuple[int, int]]] = {}
    for coordinate in coordinates.values():
        motions[coordinate.name] = []
        for motion in coordinate.motions:
            terms = builders.motion_tables.motion_rows(motion)
            motions[coordinate.name].append((data_at + sum(map(len, pieces)), len(terms)))
            pieces += [r.MOTION.pack(origin=0.0, offset=0.0)[0], *(term_numbers(period, term) for period, term in terms)]
        rows.append(r.HOLD.row(
            mode=f.LOOSE, q=0 if coordinate.q is None else layout.x + coordinate.q, v=layout.x + layout.nq + coordinate.v,
            vdot=layout.xdot + layout.nq + coordinate.v, given=layout.given + coordinate.v, motion=0, terms=0))
    joints = [(k, hinge) for k, hinge in enumerate(tree.hinges) if k and hinge.kind < MODAL]
    hinge_of = {hinge.v + i: k for k, hinge in joints for i in range(N_SPEEDS[hinge.kind])}
    hinges = [hinge_of[coordinate.v] for coordinate in coordinates.values()]
    return HoldTable(coordinates, rows, hinges, motions, np.concatenate(pieces))


def term_numbers(period: float, pieces: Floats) -> Floats:
    """A term of a motion and its pieces."""
    used = np.flatnonzero(np.abs(pieces[:, 1:]).max(axis=0))
    degree = int(used[-1]) if len(used) else 0
    return np.concatenate([r.TERM.pack(period=period, pieces=len(pieces), degree=degree)[0], pieces.ravel()])


def prescribed_motion(coordinates: Mapping[str, Coordinate], holds: Mapping[str, Hold], t: ArrayLike) -> dict[str, Floats]:
    """By prescribed coordinate, (3, ...): position, rate and acceleration at the times t."""
    found = {}
    for name, hold in holds.items():
        if hold.motion is not None:
            rows = builders.motion_tables.motion_rows(coordinates[name].motions[hold.motion])
            motion = builders.motion_tables.motion_at(rows, np.asarray(t, float) - hold.origin)
            found[name] = np.stack(np.broadcast_arrays(*motion)) + np.array([hold.offset, 0.0, 0.0]).reshape(-1, *[1]*np.ndim(t))
    return found
