"""Deviations from a motion: their names, rotating axes, and the reduction by closed loops [B 41].

A deviation is (d, e): coordinates move along d, q = q0 o exp(d), and speeds by e, each with nv numbers. With loops, only the
deviations y and w of the independent coordinates are free; all others follow from them,

    d = S y,    e = K y + S w,        J S = 0,    J K y = -D(J v)[S y]                                                  [B 41]

K is the second-order term of the loops: for moving loops, the speeds that satisfy them change with the coordinates.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from bough.analyze.bodies import bodies_in
from bough.analyze.equations_of_motion import mass_matrices
from bough.analyze.loop_constraints import approach, changing_places, moved, named_speeds, open_loops, rank_from
from bough.analyze.loop_rows import ACCELERATION, POSITION, SPEED, loop_terms, row_slices
from bough.compile.batch import Batch
from bough.compile.compiled_model import CompiledModel
from bough.compile.layout import Floats
from bough.compile.loop_tables import REDUNDANT
from bough.describe.orientation import cross_matrix, rotation_matrix
from bough.errors import StateError

OPEN = 1e-7                 # relative to the size of a loop: a gap, or gap rate, for which a state is rejected
BESIDE = 0.02               # rad or m: distance of nearby positions at which the rank of loops is compared
STENCIL = ((1, 0.75), (-1, -0.75), (2, -0.15), (-2, 0.15), (3, 1.0/60.0), (-3, -1.0/60.0))      # f' h, sixth order
STEP = 1e-2


# ---- names -------------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class DirectionNames:
    """Names of deviations along the entries of v, as coordinates and as speeds, with their units."""
    coordinates: tuple[str, ...]
    speeds: tuple[str, ...]
    coordinate_units: tuple[str, ...]
    speed_units: tuple[str, ...]


def direction_names(model: CompiledModel) -> DirectionNames:
    """A joint's "arm.ry" and "arm.ry rate"; small rotations of a quaternion "bus.rx" and angular velocities "bus.wx".

    >>> from bough.describe import Free, System
    >>> s = System("one")
    >>> _ = s.body("bus", mass=1.0, inertia=(1, 1, 1), joint=Free())
    >>> names = direction_names(s.compile())
    >>> names.coordinates[2:4], names.speeds[2:4], names.speed_units[2:4]
    (('bus.z', 'bus.rx'), ('bus.z rate', 'bus.wx'), ('m/s', 'rad/s'))
    """
    coordinates, speeds, units = list[str](), list[str](), list[str]()
    for body in model.system.bodies.values():
        for name, unit in zip(body.speed_names, body.speed_units, strict=True):
            turned = name in body.spherical_names
            coordinates.append(f"{name[:-2]}r{name[-1]}" if turned else name)
            speeds.append(name if turned else f"{name} rate")
            units.append(unit)
    return DirectionNames(tuple(coordinates), tuple(speeds), tuple(units), tuple(f"{unit}/s" for unit in units))


# ---- rotating axes ----------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Turn:
    """A joint with a quaternion: the place of its rotation in v, and its rate."""
    body: str
    at: int                     # of three entries of v
    rate: Floats                # (3,) in the child's axes
    slides: int | None          # place of its three translations in v: only for a free root
    spin: Floats                # (3,) the same in the axes of the translations
    axes: Floats                # (3, 3) of the translations to the world


def turns(model: CompiledModel, batch: Batch) -> Iterator[Turn]:
    """The turns of all joints with quaternions, at one state."""
    for body in model.system.bodies.values():
        if body.joint.spherical:
            (q, v), n = model.places[body.name], len(body.joint.translations)
            rate, attitude = batch.v[0, v + n:v + n + 3], rotation_matrix(batch.q[0, q + n:q + n + 4])
            free_root = body.parent is None and body.joint.kind == "free"
            yield Turn(body.name, v + n, rate, v if free_root else None, attitude @ rate, rotation_matrix(body.orient))


def turning(model: CompiledModel, batch: Batch) -> tuple[Floats, Floats]:
    """(nv, nv) each: terms of the rotating axes in d' and e'.  A rotation is measured along the motion, R = R0(t) exp(d), so that
    d' = e - omega x d; translations of a free root in axes that coincide with its parent's now and rotate with it [B 40]."""
    of_d, of_e = np.zeros((2, model.nv, model.nv))
    for turn in turns(model, batch):
        own = slice(turn.at, turn.at + 3)
        of_d[own, own] = -cross_matrix(turn.rate)
        if turn.slides is not None:
            slides = slice(turn.slides, turn.slides + 3)
            of_d[slides, slides] = of_e[slides, slides] = -cross_matrix(turn.spin)
    return of_d, of_e


def bracket(model: CompiledModel, d: Floats, v: Floats) -> Floats:
    """(..., nv): the commutator of rotations, d x v where a joint has a quaternion, else zero."""
    found = np.zeros(np.broadcast_shapes(d.shape, v.shape))
    for _, at in changing_places(model)[1]:
        found[..., at:at + 3] = np.cross(d[..., at:at + 3], v[..., at:at + 3])
    return found


# ---- loops -------------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Reduction:
    """Independent coordinates at a state, and the dependence of all directions on them."""
    independent: NDArray[np.intp]       # entries of v
    S: Floats                           # (nv, independent)
    K: Floats                           # (nv, independent)


def reduce(model: CompiledModel, batch: Batch, wanted: Sequence[str] | None = None) -> Reduction:
    """The reduction at one state; `wanted`: names of coordinates to use as independent ones, if possible."""
    check_shares(model, batch)
    for i in np.flatnonzero(named_speeds(model, wanted or (), "independent") & ~model.free):
        raise StateError(f"independent: '{model.names.v[i]}' is held and does not deviate; leave it out")
    free = np.flatnonzero(model.free)
    rows, second = constraint_rows(model, batch)
    if not len(rows):
        S = np.zeros((model.nv, len(free)))
        S[free, np.arange(len(free))] = 1.0
        return Reduction(free, S, np.zeros_like(S))
    rank = rank_of(rows[:, free])
    check_singular(model, batch)
    dependent = choose_dependent(model, batch, rows[:, free], rank, wanted)
    chosen = np.isin(np.arange(len(free)), dependent)
    independent = free[~chosen]
    follow = -np.linalg.lstsq(rows[:, free[chosen]], rows[:, independent], rcond=np.sqrt(REDUNDANT))[0]
    S = np.zeros((model.nv, len(independent)))
    S[independent, np.arange(len(independent))] = 1.0
    S[free[chosen]] = follow
    K = np.zeros_like(S)
    K[free[chosen]] = -np.linalg.lstsq(rows[:, free[chosen]], second(S), rcond=np.sqrt(REDUNDANT))[0]
    return Reduction(independent, S, K)


def constraint_rows(model: CompiledModel, batch: Batch) -> tuple[Floats, Callable[[Floats], Floats]]:
    """(rows, nv): J of all constraints on speeds: closed loops and, in orbit, the fixed mass center; and the function that gives
    D(J v)[d], (rows, m), for directions d (nv, m)."""
    parts, derivatives = [np.zeros((0, model.nv))], list[Callable[[Floats], Floats]]()
    if model.constrained:
        check_closed(model, batch)
        parts.append(loop_terms(model, batch, POSITION)[1][0])
        derivatives.append(partial(loop_rates_along, model, batch, parts[-1]))
    if model.in_orbit:
        parts.append(center_velocity(model, np.tile(batch.q[0], (model.nv, 1)), np.eye(model.nv)).T)
        derivatives.append(partial(center_rates_along, model, batch))
    return np.concatenate(parts), lambda d: np.concatenate([derivative(d) for derivative in derivatives])


def loop_rates_along(model: CompiledModel, batch: Batch, J: Floats, d: Floats) -> Floats:
    """D(J v)[d] of loops.  Their acceleration at v' = 0 is a quadratic form in v, D(J v)[v]; its values for v + d and v - d give
    the symmetric part of D(J v)[d] exactly, and the rest is J times the commutator of the rotations."""
    v = batch.v[0]
    size = np.abs(v).max(initial=0.0)
    if not size or not d.shape[1]:
        return np.zeros((len(J), d.shape[1]))
    scale = size/np.abs(d).max(axis=0)
    states = model.batch(batch.q[0], np.concatenate([v + (scale*d).T, v - (scale*d).T]))
    plus, minus = np.split(loop_terms(model, states, ACCELERATION)[0], 2)
    return np.asarray(((plus - minus)/(4.0*scale[:, None]) + 0.5*bracket(model, d.T, v) @ J.T).T)


def center_rates_along(model: CompiledModel, batch: Batch, d: Floats) -> Floats:
    """D(J v)[d] of the mass center of a system in orbit, by differences."""
    v, found = batch.v[0], np.zeros((3, d.shape[1]))
    if v.any() and d.shape[1]:
        scale = STEP/np.abs(d).max(axis=0)
        for times, weight in STENCIL:
            q = np.array([moved(model, batch.q[0], times*each) for each in (scale*d).T])
            found += weight*center_velocity(model, q, np.tile(v, (len(q), 1))).T/scale
    return found


def center_velocity(model: CompiledModel, q: Floats, v: Floats) -> Floats:
    """(states, 3) of the mass center relative to the world's origin."""
    bodies = bodies_in(model, model.batch(q, v))
    return bodies.momentum[:, 3:]/bodies.mass.sum(axis=-1, keepdims=True)


def rank_of(rows: Floats) -> int:
    """The number of independent rows."""
    return rank_from(np.linalg.svd(rows, compute_uv=False))


def choose_dependent(model: CompiledModel, batch: Batch, rows: Floats, rank: int, wanted: Sequence[str] | None) -> NDArray[np.intp]:
    """The free entries of v to use as dependent: those on which the constraints act most, relative to inertia; `wanted` ones
    last."""
    from scipy.linalg import qr  # slow to import
    free = np.flatnonzero(model.free)
    inertia = np.sqrt(np.maximum(np.diag(mass_matrices(model, batch)[0])[free], 0.0))
    scaled = rows/np.where(inertia > 0.0, inertia, 1.0)
    if wanted is not None:
        kept = named_speeds(model, wanted, "independent")[free]
        if kept.sum() > len(free) - rank or rank_of(rows[:, ~kept]) < rank:
            raise StateError(f"independent is {list(wanted)}, but loops leave {len(free) - rank} independent, and the others must "
                             "follow from these; name other coordinates, or none")
        scaled = scaled*np.where(kept, 1e-6, 1.0)
    order: NDArray[np.intp] = qr(scaled, mode="r", pivoting=True)[1]
    return np.sort(order[:rank])


def check_closed(model: CompiledModel, batch: Batch) -> None:
    """Raise if loops are not closed in position or velocity."""
    size = max(1.0, *(closure.size for closure in batch.tables.fronts.closures))
    fast = max(1.0, float(np.abs(batch.v).max(initial=0.0)))
    for weights, limit, unit in ((POSITION, OPEN*size, ""), (SPEED, OPEN*size*fast, "/s")):
        gap = loop_terms(model, batch, weights)[0][0]
        if np.abs(gap).max() > limit:
            raise StateError(f"{open_loops(model, gap, unit)}: deviations are those of closed loops; close them first, "
                             "q, v = model.assemble(q, v)")


def check_singular(model: CompiledModel, batch: Batch) -> None:
    """Raise at a singular position, where the loops have lower rank than nearby: branches of motion meet there."""
    if not model.constrained:
        return
    rng, q, closures = np.random.default_rng(0), batch.q[0], model.tables.fronts.closures
    J = loop_terms(model, batch, POSITION)[1][0]
    loops_rank = rank_of(J[:, model.free])
    for _ in range(2):
        beside, gap = approach(model, moved(model, q, BESIDE*rng.uniform(-1.0, 1.0, model.nv)*model.free), model.free)
        if np.abs(gap).max() > 1e-9:
            continue
        there = loop_terms(model, model.batch(beside), POSITION)[1][0]
        if rank_of(there[:, model.free]) > loops_rank:
            null = np.linalg.svd(J[:, model.free])[0][:, loops_rank:]
            weights = [np.abs(null[rows]).max(initial=0.0) for rows in row_slices(closures)]
            names = [f"'{closure.name}'" for closure, weight in zip(closures, weights, strict=True) if weight > 1e-6]
            raise StateError(f"loop{'s'*(len(names) > 1)} {', '.join(names)}: the position is singular: {loops_rank} of "
                             f"{len(J)} equations of the loops are independent here, {rank_of(there[:, model.free])} beside it, so "
                             "that several motions meet and none is linear; move away from it, or lock a coordinate")


def check_shares(model: CompiledModel, batch: Batch) -> None:
    """Raise if only some components of a spherical rotation are held while the joint rotates."""
    for turn in turns(model, batch):
        free = model.free[turn.at:turn.at + 3]
        if turn.rate.any() and free.any() and not free.all():
            raise StateError(f"joint of '{turn.body}' turns while a share of its rotation is held: no deviation of that share "
                             "stays zero; hold all of its rotation or none, or describe it by angles, bough.Gimbal")
