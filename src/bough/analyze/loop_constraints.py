"""The equations of closed loops: gaps, rates and accelerations with their Jacobian, and which of them are redundant."""
import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bough.compile.batch import Batch
from bough.compile.compiled_model import CompiledModel
from bough.compile.kernel_calls import workspace
from bough.compile.loop_tables import Closure
from bough.compile.state_layout import Floats
from bough.errors import StateError
from bough.kernels.hinges import FREE, MODAL, N_SPEEDS, SPHERICAL
from bough.sweeps import calls
from bough.sweeps.fronts import REDUNDANT
from bough.sweeps.schema import padded

POSITION, SPEED, ACCELERATION = np.eye(3)[[2, 1, 0]]        # weights of loop_terms


# ---- the equations --------------------------------------------------------------------------------------------------
def true_rows(closures: Sequence[Closure]) -> NDArray[np.intp]:
    """Where the rows of all loops are among the multipliers, which are padded to fours."""
    places, at = [np.zeros(0, int)], 0
    for closure in closures:
        places.append(at + np.arange(closure.rows))
        at += padded(closure.rows)
    return np.concatenate(places)


def row_sizes(closures: Sequence[Closure]) -> Floats:
    """What each row is multiplied by: 1 m/m of translations, the size of the loop of rotations."""
    return np.concatenate([np.r_[np.ones(c.rows - c.rotations), np.full(c.rotations, c.size)] for c in closures])


def row_slices(closures: Sequence[Closure]) -> list[slice]:
    """Where the rows of each loop are."""
    ends = np.cumsum([0, *(closure.rows for closure in closures)]).tolist()
    return [slice(*pair) for pair in itertools.pairwise(ends)]


def row_names(closures: Sequence[Closure]) -> list[str]:
    return [f"{closure.name}.{label}" for closure in closures for label in closure.labels]


def loop_terms(model: CompiledModel, batch: Batch, weights: Floats) -> tuple[Floats, Floats]:
    """(batch, rows) of gaps, rates of them, or accelerations at v' = 0, as the weights say; and (batch, rows, nv), their Jacobian.
    All rows count in meters."""
    closures, n = batch.tables.fronts.closures, batch.tables.fronts.size
    out = np.empty((batch.n, n*(1 + model.nv)))
    model.call(calls.loop_terms, batch, weights, out, ws=workspace(batch.tables, batch.lanes, n*model.nv))
    rows = true_rows(closures)
    return out[:, rows], out[:, n:].reshape(batch.n, n, model.nv)[:, rows]


def gaps_at(model: CompiledModel, q: Floats) -> tuple[Floats, Floats]:
    """(rows,) and (rows, nv) of one position."""
    gaps, J = loop_terms(model, model.batch(q), POSITION)
    return gaps[0], J[0]


def loop_gaps(model: CompiledModel, batch: Batch, weights: Floats) -> dict[str, Floats]:
    """(batch, rows) by loop: its gaps, or rates of them, m or rad."""
    closures = batch.tables.fronts.closures
    if not closures:
        return {}
    gaps, _ = loop_terms(model, batch, weights)
    return {closure.name: gaps[:, rows]/row_sizes([closure]) for closure, rows in zip(closures, row_slices(closures), strict=True)}


def moved(model: CompiledModel, q: Floats, change: Floats) -> Floats:
    """Coordinates after a change given as speeds: quaternions turn."""
    from scipy.spatial.transform import Rotation  # slow to import
    q = q.copy()
    for hinge in model.tables.parts.hinges[1:]:
        n = hinge.flexible.n_modes if hinge.kind == MODAL else N_SPEEDS[hinge.kind] if hinge.kind < MODAL else 0
        step, at = change[hinge.v:hinge.v + n], hinge.q
        if hinge.kind == FREE:
            q[at:at + 3] += step[:3]
            step, at = step[3:], at + 3
        if hinge.kind in (SPHERICAL, FREE):
            q[at:at + 4] = (Rotation.from_quat(q[at:at + 4])*Rotation.from_rotvec(step)).as_quat()
        else:
            q[at:at + n] += step
    return q


# ---- freedom --------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Freedom:
    """How freely a system with loops moves, at one position."""
    tree: int                           # degrees of freedom before loops
    rows: int                           # equations of all loops
    rank: int                           # of them independent
    redundant: tuple[str, ...]          # rows that the others imply
    idle: tuple[str, ...]               # loops that remove no freedom: the others imply all of their rows

    @property
    def degrees(self) -> int:
        return self.tree - self.rank


def freedom_at(model: CompiledModel, q: ArrayLike) -> Freedom:
    """Degrees of freedom at a position, and what is redundant there."""
    batch, closures = model.batch(q), model.tables.fronts.closures
    if not batch.single:
        raise StateError(f"q has shape {np.shape(q)}; the freedom is that of one position: give {model.nq} numbers")
    if not closures:
        return Freedom(int(model.free.sum()), 0, 0, (), ())
    _, J = loop_terms(model, batch, POSITION)
    return freedom_of(closures, J[0][:, model.free])


def freedom_of(closures: Sequence[Closure], J: Floats) -> Freedom:
    from scipy.linalg import qr  # slow to import
    left, sizes, _ = np.linalg.svd(J)
    rank = int((sizes > np.sqrt(REDUNDANT)*sizes.max(initial=0.0)).sum()) if sizes.max(initial=0.0) > 1e-9 else 0
    order = qr(J.T, mode="r", pivoting=True)[1]
    names = row_names(closures)
    null = left[:, rank:]                                               # combinations of rows that say nothing
    parts = [(closure, null[rows]) for closure, rows in zip(closures, row_slices(closures), strict=True)]
    idle = [closure.name for closure, own in parts if own.size and np.linalg.matrix_rank(own, tol=1e-5) == closure.rows]
    return Freedom(J.shape[1], len(J), rank, tuple(names[i] for i in sorted(order[rank:])), tuple(idle))


def idle_loops(model: CompiledModel) -> list[str]:
    """Loops that hold nothing by themselves: their bodies cannot move against each other in any way that they forbid."""
    ends = zip(model.system.loops, model.tables.fronts.closures, strict=True)
    if on_one_body := [name for name, closure in ends if closure.a == closure.b]:
        return on_one_body                                                  # the sweeps have no place for loops on the ground alone
    rng, moves = np.random.default_rng(0), np.zeros(len(model.system.loops), dtype=bool)
    for _ in range(2):                                                      # anywhere: loops need not be closed for this
        q = moved(model, model.q0, rng.uniform(-0.5, 0.5, model.nv))
        _, J = gaps_at(model, q)
        moves |= [np.abs(J[rows]).max(initial=0.0) > 1e-9 for rows in row_slices(model.tables.fronts.closures)]
    return [name for name, moved_ in zip(model.system.loops, moves, strict=True) if not moved_]
