"""Closed loops: their gaps, degrees of freedom and redundant equations.

Assembly finds the state nearest to a given one that closes all loops, in position and velocity [B 16].
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bough.analyze import loop_rows
from bough.analyze.equations_of_motion import mass_matrix_at
from bough.analyze.loop_rows import POSITION, SPEED, loop_terms, row_slices
from bough.blas import one_thread
from bough.compile.batch import Batch
from bough.compile.compiled_model import CompiledModel
from bough.compile.layout import Floats
from bough.compile.loop_tables import REDUNDANT, Closure
from bough.describe.orientation import product, turn
from bough.errors import StateError, name_list, nearest
from bough.kernels.hinges import FREE, SPHERICAL
from bough.progress import counted


# ---- the equations --------------------------------------------------------------------------------------------------
def gaps_at(model: CompiledModel, q: Floats) -> tuple[Floats, Floats]:
    """(rows,) and (rows, nv) of one position; NaN where the ends of a distance coincide."""
    ready, rows = model.ready(loop_rows.prepare_gaps), loop_rows.row_places(model.tables)
    ready.solves(q)
    gaps, J = ready.answer
    return gaps[rows], J[rows]


def loop_gaps(model: CompiledModel, batch: Batch, weights: Floats) -> dict[str, Floats]:
    """(batch, rows) by loop: its gaps or their rates, m or rad; (batch, 1) by coupling, in units of its first coordinate."""
    closures = batch.tables.fronts.closures
    if not closures:
        return {}
    gaps, _ = loop_terms(model, batch, weights)
    return {closure.name: gaps[:, rows]/(closure.terms[0].factor if closure.terms else loop_rows.row_sizes([closure]))
            for closure, rows in zip(closures, row_slices(closures), strict=True)}


def gap_and_angle(model: CompiledModel, q: Floats, loop: str) -> tuple[float, float]:
    """How far apart the ends of a loop are at one position, in the direction and about the axis for which it is most: m and rad."""
    (gaps, J), closures = gaps_at(model, q), model.tables.fronts.closures
    loop_rows.refuse_coincident(model.batch_at(q), J[None])
    closure, rows = next(each for each in zip(closures, row_slices(closures), strict=True) if each[0].name == loop)
    turned = rows.stop - closure.rotations
    sizes = np.abs(gaps).tolist()
    return max(sizes[rows.start:turned], default=0.0), max(sizes[turned:rows.stop], default=0.0)/closure.size


def moved(model: CompiledModel, q: Floats, change: Floats) -> Floats:
    """Coordinates after a change given as speeds: quaternions turn."""
    ((places, speeds), turned), q = changing_places(model), q.copy()
    q[places] += change[speeds]
    for at, v in turned:
        x, y, z = change[v:v + 3].tolist()
        angle = math.hypot(x, y, z)
        step = turn((x/(angle or 1.0), y/(angle or 1.0), z/(angle or 1.0)), angle)
        turned_by = product(tuple(q[at:at + 4].tolist()), step)
        length = math.hypot(*turned_by)
        q[at:at + 4] = [entry/length for entry in turned_by]
    return q


def changing_places(model: CompiledModel) -> tuple[NDArray[np.int64], list[tuple[int, int]]]:
    """(2, n): entries of the coordinates that are integrals of speeds, and of these speeds; and first entries of each quaternion
    and of its angular velocity."""
    if changing_places not in model.family:
        plain, turned = list[tuple[int, int]](), list[tuple[int, int]]()
        for hinge in model.tables.tree.hinges[1:]:
            slides = 3 if hinge.kind == FREE else 0 if hinge.kind == SPHERICAL else hinge.n_speeds
            plain += [(hinge.q + i, hinge.v + i) for i in range(slides)]
            turned += [(hinge.q + slides, hinge.v + slides)]*(hinge.kind in (SPHERICAL, FREE))
        model.family[changing_places] = np.array(plain, np.int64).reshape(-1, 2).T, turned
    found: tuple[NDArray[np.int64], list[tuple[int, int]]] = model.family[changing_places]
    return found


# ---- freedom --------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Freedom:
    """The degrees of freedom of a system with loops at one position."""
    tree: int                           # degrees of freedom before loops
    rows: int                           # equations of all loops
    rank: int                           # of them independent
    redundant: tuple[str, ...]          # rows that the others imply
    idle: tuple[str, ...]               # loops that remove no freedom: the others imply all of their rows

    @property
    def degrees(self) -> int:
        return self.tree - self.rank


def freedom_at(model: CompiledModel, q: ArrayLike) -> Freedom:
    """Degrees of freedom and redundant equations at a position."""
    batch, closures = model.batch(q), model.tables.fronts.closures
    if not batch.single:
        raise StateError(f"q has shape {np.shape(q)}; the freedom is that of one position: give {model.nq} numbers")
    if not closures:
        return Freedom(int(model.free.sum()), 0, 0, (), ())
    _, J = loop_terms(model, batch, POSITION)
    return freedom_of(closures, J[0][:, model.free])


@one_thread()
def freedom_of(closures: Sequence[Closure], J: Floats) -> Freedom:
    from scipy.linalg import qr  # slow to import
    left, sizes, _ = np.linalg.svd(J)
    rank = rank_from(sizes)
    order = qr(J.T, mode="r", pivoting=True)[1]
    names = loop_rows.row_names(closures)
    null = left[:, rank:]                                               # redundant combinations of rows
    parts = [(closure, null[rows]) for closure, rows in zip(closures, row_slices(closures), strict=True)]
    idle = [closure.name for closure, own in parts if own.size and np.linalg.matrix_rank(own, tol=1e-5) == closure.rows]
    return Freedom(J.shape[1], len(J), rank, tuple(names[i] for i in sorted(order[rank:])), tuple(idle))


def rank_from(sizes: NDArray[Any]) -> int:
    """The number of independent rows, from the singular values of all."""
    largest = sizes.max(initial=0.0)
    return int((sizes > np.sqrt(REDUNDANT)*largest).sum()) if largest > 1e-9 else 0


def idle_loops(model: CompiledModel) -> list[str]:
    """Loops without effect: their bodies cannot move relative to each other in the directions that they constrain."""
    closures = model.tables.fronts.closures[:len(model.system.loops)]       # couplings come last
    ends = zip(model.system.loops, closures, strict=True)
    if on_one_body := [name for name, closure in ends if closure.a == closure.b]:
        return on_one_body # the sweeps do not support loops between the ground and itself
    rng, moves = np.random.default_rng(0), np.zeros(len(model.system.loops), dtype=bool)
    for _ in range(2):                                                      # at any position: loops need not be closed for this
        q = moved(model, model.q0, rng.uniform(-0.5, 0.5, model.nv))
        _, J = gaps_at(model, q)
        moves |= [np.abs(J[rows]).max(initial=0.0) > 1e-9 for rows in row_slices(closures)]
    return [name for name, moved_ in zip(model.system.loops, moves, strict=True) if not moved_]


# ---- loop assembly ---------------------------------------------------------------------------------------------------------
CLOSED = 1e-12              # of the size of a loop (at least of a meter): a gap that counts as closed
ROUNDING = 16*np.finfo(float).eps   # of the size (at most of a meter): no change lessens it; no mass matrix is needed, nor compiled
STEPS = 60                  # that assembly may take
INDEPENDENT = 1e-3          # of the largest pivot of rows, the least one of rows that are no combinations of each other; far above
                            # sqrt(REDUNDANT), below which they are
NUMBERS = 64                # of workspace, by which LAPACK takes columns together
STIFF_TIME = 1.0            # s: weight of strain in the quadratic form that assembly minimizes, M + K STIFF_TIME^2
BESIDE = (0.03, 0.1, 0.3)           # rad or m: how far from the given position assembly starts if it fails there
SHARES = [0.5**i for i in range(12)]        # of a step of it, tried one after the other


def assemble(model: CompiledModel, batch: Batch, hold: Sequence[str]) -> tuple[Floats, Floats]:
    """(batch, nq) and (batch, nv): the nearest states that close the loops; unchanged for a tree."""
    if not model.constrained:
        return batch.q, batch.v
    rows = counted(f"{model.system.name}: closing loops", batch.x)
    states = [assemble_state(model, row.q, row.v, hold) for row in map(model.state, rows)]
    return np.array([q for q, _ in states]), np.array([v for _, v in states])


def named_speeds(model: CompiledModel, names: Sequence[str], what: str) -> NDArray[np.bool_]:
    """The entries of v selected by names of coordinates or joints; `what`: the argument, for messages."""
    meant = np.zeros(model.nv, dtype=bool)
    for name in name_list(what, names):
        entries = [i for i, entry in enumerate(model.names.v) if name in (entry, entry.rpartition(".")[0])]
        if not entries:
            known = [*model.names.v, *model.names.joints]
            raise StateError(f"{what}: there is no coordinate or joint '{name}'{nearest(name, known)}")
        meant[entries] = True
    return meant


@one_thread()
def assemble_state(model: CompiledModel, q: Floats, v: Floats, hold: Sequence[str]) -> tuple[Floats, Floats]:
    """The nearest state, in terms of kinetic energy, that closes all loops, with some coordinates held [B 16]."""
    free = model.free & ~named_speeds(model, hold, "hold")
    hold = [*name_list("hold", hold), *model.holds]
    q = assemble_position(model, np.array(q, float), free, hold)
    rate, J = loop_terms(model, model.batch(q, v), SPEED)
    size = max(closure.size for closure in model.tables.fronts.closures)
    if np.abs(rate).max(initial=0.0) > ROUNDING*min(1.0, size)*np.abs(v).max(initial=0.0):
        v = v + least_change(model, q, J[0], -rate[0], free)
    left, _ = loop_terms(model, model.batch(q, v), SPEED)
    limit = 1e-9*max(1.0, float(np.abs(v).max(initial=0.0)))
    if np.abs(left).max() > limit:
        raise StateError(f"{open_loops(model, left[0], '/s')}: no speeds near those given close it{release(hold)}")
    return q, v


def assemble_position(model: CompiledModel, q: Floats, free: NDArray[np.bool_], hold: Sequence[str]) -> Floats:
    """The closed position by Newton's method; if it stalls, as at a singular position, it restarts from nearby points."""
    size, least = max(closure.size for closure in model.tables.fronts.closures), np.array([np.inf])
    for start in starts(model, q, free):
        found, gap = approach(model, start, free)
        if np.abs(gap).max() <= CLOSED*max(1.0, size):
            return found
        if np.linalg.norm(gap) < np.linalg.norm(least):
            least = gap
    if np.isinf(least).any():
        loop_rows.refuse_coincident(model.batch(q), gaps_at(model, q)[1][None])
    closures = model.tables.fronts.closures
    what = "it" if len(closures) == 1 else "all loops" if model.system.loops else "all couplings"
    raise StateError(f"{open_loops(model, least)}: no position near the one given closes {what}{release(hold)}; give another "
                     f"starting position, or mend the {'lengths' if model.system.loops else 'factors and offsets'}")


def starts(model: CompiledModel, q: Floats, free: NDArray[np.bool_]) -> Iterator[Floats]:
    """The given position, then some nearby ones."""
    yield moved(model, q, np.zeros(model.nv))
    offsets = np.random.default_rng(0).uniform(-1.0, 1.0, (len(BESIDE), model.nv))
    for beside, offset in zip(BESIDE, offsets, strict=True):
        yield moved(model, q, beside*offset*free)


@one_thread()
def approach(model: CompiledModel, q: Floats, free: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Newton steps, each shortened until the gaps decrease; and the remaining gaps."""
    (gap, J), size = gaps_at(model, q), max(closure.size for closure in model.tables.fronts.closures)
    if not np.isfinite(J).all():
        return q, np.full_like(gap, np.inf)                                 # ends that coincide: another start may work
    for _ in range(STEPS):
        largest, length = np.abs(gap).max(initial=0.0), math.sqrt(gap.dot(gap))
        if largest <= ROUNDING*min(1.0, size):
            break
        change = least_change(model, q, J, -gap, free)
        closed = largest <= CLOSED*max(1.0, size)                           # the remaining gap is rounding
        for share in SHARES[:1] if closed else SHARES:
            trial = moved(model, q, share*change)
            trial_gap, trial_J = gaps_at(model, trial)
            if math.sqrt(trial_gap.dot(trial_gap)) < (1.0 - 0.1*share)*length:
                break
        else:
            break                                                           # no nearer: closed to rounding, or never
        q, gap, J = trial, trial_gap, trial_J
    return q, gap


def least_change(model: CompiledModel, q: Floats, J: Floats, wanted: Floats, free: NDArray[np.bool_]) -> Floats:
    """The change d with J d = wanted (in the least-squares sense) and the least d.M d, where strain counts too."""
    from scipy.linalg.lapack import dpotrf, dtrtrs  # slow to import
    change, M = np.zeros(model.nv), mass_matrix_at(model, q)
    for name in model.tables.tree.modal:
        modes = model.mode_places(name)[1]
        M[modes, modes] += model.system.bodies[name].elastic.K*STIFF_TIME**2
    if not free.all():
        M, J = M[np.ix_(free, free)], J[:, free]
    L, failed = dpotrf(M.T, lower=True)
    if failed or not J.size:
        return change                                       # M is not positive definite: deformed beyond the range of the modes
    scaled = dtrtrs(L, J.T, lower=True)[0]                                  # (J L^-T)^T
    change[free] = dtrtrs(L, shortest(scaled.T, wanted), lower=True, trans=1)[0]
    return change


def shortest(A: Floats, b: Floats) -> Floats:
    """The shortest y of those with the least |A y - b|: with A' P = Q R, y = Q R'^-1 P' b if the rows are clearly independent, else
    by a complete orthogonal factorization of A."""
    from scipy.linalg.lapack import dgelsy, dgeqp3, dormqr, dtrtrs  # slow to import
    rows, columns = A.shape
    padded = np.zeros((max(rows, columns), 1))
    if rows <= columns:
        QR, order, tau, _, _ = dgeqp3(A.T, lwork=NUMBERS*(rows + 1))
        sizes = np.abs(QR.diagonal())
        if sizes.min() > INDEPENDENT*sizes.max():
            padded[:rows, 0] = dtrtrs(QR[:rows], b[order - 1], trans=1)[0]
            return np.asarray(dormqr("L", "N", QR, tau, padded, NUMBERS)[0][:, 0])
    padded[:rows, 0] = b
    y = dgelsy(A, padded, np.zeros(columns, np.int32), np.sqrt(REDUNDANT), numbers_for(rows, columns))[1]
    return np.asarray(y[:columns, 0])


@cache
def numbers_for(rows: int, columns: int) -> int:
    """That the factorization takes as workspace."""
    from scipy.linalg.lapack import dgelsy_lwork
    return int(dgelsy_lwork(rows, columns, 1, np.sqrt(REDUNDANT))[0])


def open_loops(model: CompiledModel, gap: Floats, unit: str = "") -> str:
    """The loops with the largest gaps, for messages: several with similar gaps contradict each other."""
    closures, found, worst = model.tables.fronts.closures, [], float(np.abs(gap).max())
    for closure, rows in zip(closures, row_slices(closures), strict=True):
        own = np.abs(gap[rows])
        row = int(own.argmax())
        if own[row] > 0.1*worst:
            turned = row >= closure.rows - closure.rotations
            amount = f"{own[row]/(closure.size if turned else 1.0):.3g} {row_unit(closure, row)}"
            found.append((closure.noun, f"'{closure.name}' is open by {amount}{unit} ({closure.labels[row]})"))
    kinds = list(dict.fromkeys(noun for noun, _ in found))
    head = " and ".join(kinds) if len(found) == 1 else " and ".join(f"{noun}s" for noun in kinds)
    return f"{head} " + ", ".join(text for _, text in found[:5]) + (", ..." if len(found) > 5 else "")


def row_unit(closure: Closure, row: int) -> str:
    """The unit of a gap; for a coupling it depends on its coordinates."""
    return "rad or m" if closure.terms else "rad" if row >= closure.rows - closure.rotations else "m"


def release(hold: Sequence[str]) -> str:
    held = (hold,) if isinstance(hold, str) else tuple(hold)
    return f" while {', '.join(held)} {'is' if len(held) == 1 else 'are'} held; hold less" if held else ""
