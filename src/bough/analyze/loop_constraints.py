"""Closed loops, asked from Python: their equations, which of them are redundant, assembly, and constraint forces."""
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bough.analyze.body_motion import Bodies, Frames
from bough.compile.kernel_calls import workspace
from bough.compile.loop_tables import Closure, held_motion
from bough.describe import Frame
from bough.describe.orientation import rotation_matrix
from bough.errors import StateError, nearest
from bough.kernels.hinges import FREE, MODAL, N_SPEEDS, SPHERICAL
from bough.sweeps import calls
from bough.sweeps import fields as f
from bough.sweeps.fronts import REDUNDANT
from bough.sweeps.schema import padded

if TYPE_CHECKING:
    from bough.model.arguments import Batch
    from bough.model.model import Model

POSITION, SPEED, ACCELERATION = np.eye(3)[[2, 1, 0]]        # weights of loop_terms
CLOSED = 1e-12              # of the size of a loop (at least of a meter): a gap that counts as closed
STEPS = 60                  # that assembly may take
STIFF_TIME = 1.0            # s: in which strain counts as kinetic energy in what assembly changes least
BESIDE = (0.0, 0.03, 0.1, 0.3)      # rad or m: how far from the given position assembly starts, one after the other
SHARES = 0.5**np.arange(12)         # of a step of it, tried one after the other


# ---- the equations --------------------------------------------------------------------------------------------------
def true_rows(closures: Sequence[Closure]) -> np.ndarray:
    """Where the rows of all loops are among the multipliers, which are padded to fours."""
    places, at = [np.zeros(0, int)], 0
    for closure in closures:
        places.append(at + np.arange(closure.rows))
        at += padded(closure.rows)
    return np.concatenate(places)


def row_sizes(closures: Sequence[Closure]) -> np.ndarray:
    """What each row is multiplied by: 1 m/m of translations, the size of the loop of rotations."""
    return np.concatenate([np.r_[np.ones(c.rows - c.rotations), np.full(c.rotations, c.size)] for c in closures])


def row_names(closures: Sequence[Closure]) -> list[str]:
    return [f"{closure.name}.{label}" for closure in closures for label in closure.labels]


def loop_terms(model: "Model", batch: "Batch", weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(batch, rows) of gaps, rates of them, or accelerations at v' = 0, as the weights say; and (batch, rows, nv), their Jacobian.
    All rows count in meters."""
    closures, n = batch.tables.fronts.closures, batch.tables.fronts.size
    out = np.empty((batch.n, n*(1 + model.nv)))
    model._call(calls.loop_terms, batch, weights, out, ws=workspace(batch.tables, batch.lanes, n*model.nv))
    rows = true_rows(closures)
    return out[:, rows], out[:, n:].reshape(batch.n, n, model.nv)[:, rows]


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


def freedom_at(model: "Model", q: Any) -> Freedom:
    """Degrees of freedom at a position, and what is redundant there."""
    closures = model.tables.fronts.closures
    if not closures:
        return Freedom(int(model.free.sum()), 0, 0, (), ())
    _, J = loop_terms(model, model.batch(q, np.zeros(model.nv)), POSITION)
    return freedom_of(closures, J[0][:, model.free])


def freedom_of(closures: Sequence[Closure], J: np.ndarray) -> Freedom:
    from scipy.linalg import qr
    left, sizes, _ = np.linalg.svd(J)
    rank = int((sizes > np.sqrt(REDUNDANT)*sizes.max(initial=0.0)).sum()) if sizes.max(initial=0.0) > 1e-9 else 0
    order = qr(J.T, mode="r", pivoting=True)[1]
    names = row_names(closures)
    null = left[:, rank:]                                               # combinations of rows that say nothing
    idle, at = [], 0
    for closure in closures:
        own = null[at:at + closure.rows]
        if own.size and np.linalg.matrix_rank(own, tol=1e-5) == closure.rows:
            idle.append(closure.name)
        at += closure.rows
    return Freedom(J.shape[1], len(J), rank, tuple(names[i] for i in sorted(order[rank:])), tuple(idle))


# ---- assembly -------------------------------------------------------------------------------------------------------
def named_speeds(model: "Model", names: Sequence[str], what: str) -> np.ndarray:
    """Which entries of v the names of coordinates or joints mean; `what` the names are for."""
    if isinstance(names, str):
        names = (names,)
    meant = np.zeros(model.nv, dtype=bool)
    for name in names:
        entries = [i for i, entry in enumerate(model.names.v) if name in (entry, entry.rpartition(".")[0])]
        if not entries:
            known = [*model.names.v, *model.names.joints]
            raise StateError(f"{what}: there is no coordinate or joint '{name}'{nearest(name, known)}")
        meant[entries] = True
    return meant


def assemble(model: "Model", q: np.ndarray, v: np.ndarray, hold: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """The nearest state, by kinetic energy, that closes all loops, in position and speed; some coordinates held [B 16]."""
    free = model.free & ~named_speeds(model, hold, "hold")
    hold = [*([hold] if isinstance(hold, str) else hold), *model.holds]
    q = assemble_position(model, np.array(q, float), free, hold)
    rate, J = loop_terms(model, model.batch(q, v), SPEED)
    v = v + least_change(model, q, J[0], -rate[0], free)
    left, _ = loop_terms(model, model.batch(q, v), SPEED)
    limit = 1e-9*max(1.0, float(np.abs(v).max(initial=0.0)))
    if np.abs(left).max() > limit:
        raise StateError(f"{open_loops(model, left[0], '/s')}: no speeds near those given close it{release(hold)}")
    return q, v


def assemble_position(model: "Model", q: np.ndarray, free: np.ndarray, hold: Sequence[str]) -> np.ndarray:
    """The closed position that Newton's steps find; where they get stuck, as in a singular position, from somewhere beside it."""
    size, rng = max(closure.size for closure in model.tables.fronts.closures), np.random.default_rng(0)
    least = np.array([np.inf])
    for beside in BESIDE:
        found, gap = approach(model, moved(model, q, beside*rng.uniform(-1.0, 1.0, model.nv)*free), free)
        if np.abs(gap).max() <= CLOSED*max(1.0, size):
            return found
        if np.linalg.norm(gap) < np.linalg.norm(least):
            least = gap
    what = "it" if len(model.system.loops) == 1 else "all loops"
    raise StateError(f"{open_loops(model, least)}: no position near the one given closes {what}{release(hold)}; give another "
                     "starting position, or mend the lengths")


def approach(model: "Model", q: np.ndarray, free: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Newton's steps, each shortened until it brings the ends nearer; and the gaps that they leave."""
    gap, J = gaps_at(model, q)
    for _ in range(STEPS):
        if not gap.any():
            break
        change = least_change(model, q, J, -gap, free)
        for share in SHARES:
            trial = moved(model, q, share*change)
            trial_gap, trial_J = gaps_at(model, trial)
            with np.errstate(over="ignore"):
                nearer = np.linalg.norm(trial_gap) < (1.0 - 0.1*share)*np.linalg.norm(gap)
            if nearer:
                break
        else:
            break                                                           # no nearer: closed to rounding, or never
        q, gap, J = trial, trial_gap, trial_J
    return q, gap


def gaps_at(model: "Model", q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    gaps, J = loop_terms(model, model.batch(q, np.zeros(model.nv)), POSITION)
    return gaps[0], J[0]


def least_change(model: "Model", q: np.ndarray, J: np.ndarray, wanted: np.ndarray, free: np.ndarray) -> np.ndarray:
    """The change d of speeds with J d = wanted (as nearly as can be) and the least d.M d; bodies rather move than bend."""
    from scipy.linalg import solve_triangular
    change, M = np.zeros(model.nv), model.mass_matrix(q)
    for body in model.system.bodies.values():
        if body.n_modes:
            modes = slice(model.places[body.name][1] + body.joint.n_v, model.places[body.name][1] + body.n_v)
            M[modes, modes] += body.elastic.K*STIFF_TIME**2
    try:
        L = np.linalg.cholesky(M[np.ix_(free, free)])
    except np.linalg.LinAlgError:
        return change                                                       # bent beyond what modes can tell
    scaled = solve_triangular(L, J[:, free].T, lower=True)                  # (J L^-T)^T
    y = np.linalg.lstsq(scaled.T, wanted, rcond=np.sqrt(REDUNDANT))[0]
    change[free] = solve_triangular(L.T, y, lower=False)
    return change


def moved(model: "Model", q: np.ndarray, change: np.ndarray) -> np.ndarray:
    """Coordinates after a change given as speeds: quaternions turn."""
    from scipy.spatial.transform import Rotation
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


def open_loops(model: "Model", gap: np.ndarray, unit: str = "") -> str:
    """Which loops are open most, and by how much: two or more that share the gap contradict each other."""
    told, at, worst = [], 0, float(np.abs(gap).max())
    for closure in model.tables.fronts.closures:
        own = np.abs(gap[at:at + closure.rows])
        row = int(own.argmax())
        if own[row] > 0.1*worst:
            turned = row >= closure.rows - closure.rotations
            amount = f"{own[row]/closure.size:.3g} rad" if turned else f"{own[row]:.3g} m"
            told.append(f"'{closure.name}' is open by {amount}{unit} ({closure.labels[row]})")
        at += closure.rows
    return ("loop " if len(told) == 1 else "loops ") + ", ".join(told[:5]) + (", ..." if len(told) > 5 else "")


def idle_loops(model: "Model") -> list[str]:
    """Loops that hold nothing by themselves: their bodies cannot move against each other in any way that they forbid."""
    ends = zip(model.system.loops, model.tables.fronts.closures, strict=True)
    if on_one_body := [name for name, closure in ends if closure.a == closure.b]:
        return on_one_body                                                  # the sweeps have no place for loops on the ground alone
    rng, moves = np.random.default_rng(0), np.zeros(len(model.system.loops), dtype=bool)
    for _ in range(2):                                                      # anywhere: loops need not be closed for this
        q = moved(model, model.q0, rng.uniform(-0.5, 0.5, model.nv))
        _, J = gaps_at(model, q)
        parts = np.split(np.abs(J).max(axis=1, initial=0.0), np.cumsum([c.rows for c in model.tables.fronts.closures])[:-1])
        moves |= [part.max() > 1e-9 for part in parts]
    return [name for name, moved_ in zip(model.system.loops, moves, strict=True) if not moved_]


def release(hold: Sequence[str]) -> str:
    held = (hold,) if isinstance(hold, str) else tuple(hold)
    return f" while {', '.join(held)} {'is' if len(held) == 1 else 'are'} held; hold less" if held else ""


# ---- forces ---------------------------------------------------------------------------------------------------------
def frame_pose(model: "Model", seen: Bodies, frame: Frame) -> tuple[np.ndarray, np.ndarray]:
    """(batch, 3) and (batch, 3, 3): where a frame is."""
    motion = frame_motion(model, seen, frame)
    return motion.position, motion.attitude


def frame_motion(model: "Model", seen: Bodies, frame: Frame) -> Frames:
    """Where a frame is and how it moves; arrays of one state if it is the world's."""
    if frame.body == "world":
        place = Frames(np.zeros((1, 3)), np.zeros((1, 3)), np.eye(3)[None], np.zeros((1, 3)))
    elif model.system.bodies[frame.body].flexible is None:
        k = model.body_index(frame.body)
        place = Frames(seen.position[:, k], seen.velocity[:, k], seen.attitude[:, k], seen.rate[:, k])
    else:
        elastic = model.system.bodies[frame.body].elastic
        place = seen.node(frame.body, frame.node or elastic.inboard or "")
    arm = place.attitude @ np.asarray(frame.at)
    return Frames(place.position + arm, place.velocity + np.cross(place.rate, arm), place.attitude @ rotation_matrix(frame.orient),
                  place.rate)


@dataclass(frozen=True)
class Split:
    """Matrices (batch, rows, nv) as left (values) right, and which combinations of rows, columns of left, say nothing."""
    left: np.ndarray            # (batch, rows, rows)
    values: np.ndarray          # (batch, rank at most)
    right: np.ndarray           # (batch, rank at most, nv)
    null: np.ndarray            # (batch, rows) of columns of left

    @staticmethod
    def of(rows: np.ndarray) -> "Split":
        left, values, right = np.linalg.svd(rows)
        null = np.ones(rows.shape[:2], dtype=bool)
        null[:, :values.shape[1]] = values <= np.sqrt(REDUNDANT)*values.max(axis=1, initial=0.0, keepdims=True)
        return Split(left, values, right[:, :values.shape[1]], null)

    @property
    def void(self) -> np.ndarray:
        """(batch, rows, n): unit combinations of rows that say nothing, a column each; zero in states where one says something."""
        return (self.left*self.null[:, None, :])[:, :, self.null.any(axis=0)]

    def least(self, wanted: np.ndarray) -> np.ndarray:
        """(batch, rows): the least x with rows^T x = wanted, as nearly as can be."""
        n = self.values.shape[1]
        along = np.einsum("bnv,bv->bn", self.right, wanted)
        along = np.where(self.null[:, :n], 0.0, along/np.where(self.null[:, :n], 1.0, self.values))
        return np.einsum("bin,bn->bi", self.left[:, :, :n], along)


def least_norm(closures: Sequence[Closure], multipliers: np.ndarray, J: np.ndarray) -> np.ndarray:
    """Forces and moments (batch, rows) in SI units; of redundant ones those with the least sum of squares."""
    sizes = row_sizes(closures)
    void, forces = Split.of(J/sizes[:, None]).void, multipliers*sizes
    return forces - np.einsum("bij,bj->bi", void, np.einsum("bji,bj->bi", void, forces))


def loop_wrenches(model: "Model", seen: Bodies, closures: Sequence[Closure], forces: np.ndarray) -> dict[str, np.ndarray]:
    """(batch, 6) by loop: [moment, force] of a's body on b's, at b's frame, in world axes."""
    wrenches, at = {}, 0
    for closure, loop in zip(closures, model.system.loops.values(), strict=True):
        own = forces[:, at:at + closure.rows]
        at += closure.rows
        (x_a, R_a), (x_b, R_b) = frame_pose(model, seen, loop.a), frame_pose(model, seen, loop.b)
        directions, held, frame_a, frame_b, _, _ = held_motion(loop.joint)
        held_forces, held_moments = own[:, :closure.rows - closure.rotations], own[:, closure.rows - closure.rotations:]
        axes, moment = directions @ R_a.transpose(0, 2, 1), np.zeros((len(own), 3))
        force = np.einsum("bj,bjk->bk", held_forces[:, :len(directions)], axes + np.zeros((len(own), 1, 1)))
        if held == f.DISTANCE:
            d = x_b - x_a
            force = held_forces*d/np.linalg.norm(d, axis=1, keepdims=True)
        elif held == f.SQUARE:
            axis = np.cross(R_a @ frame_a[0], R_b @ frame_b[0])
            moment = held_moments*axis/np.linalg.norm(axis, axis=1, keepdims=True)
        elif held:
            axes = frame_a[:held] @ R_a.transpose(0, 2, 1)
            moment = np.einsum("bj,bjk->bk", held_moments, axes + np.zeros((len(own), 1, 1)))
        wrenches[closure.name] = np.concatenate([moment, force], axis=1)
    return wrenches


def holding_rows(model: "Model", q: np.ndarray) -> np.ndarray:
    """(batch, rows, nv): the generalized forces of a unit force or moment in each row of the loops, SI units."""
    batch = model.batch(q, np.zeros(model.nv))
    return loop_terms(model, batch, POSITION)[1]/row_sizes(batch.tables.fronts.closures)[:, None]


def balancing_forces(model: "Model", q: Any, needed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(batch, rows): the least forces of the loops that give the generalized forces needed where no coordinate is held, for drives
    give the rest; and (batch, rows, nv), the generalized forces of units of them."""
    J = holding_rows(model, q)
    return Split.of(J[:, :, model.free]).least(np.atleast_2d(needed)[:, model.free]), J


def with_loop_wrenches(model: "Model", q: np.ndarray, forces: np.ndarray, wrenches: Mapping[Any, Any] | None,
                       frame: str) -> dict[Any, np.ndarray]:
    """Wrenches of the caller with those of the loops, whose forces are (batch, rows)."""
    closures, seen = model.tables.fronts.closures, model.bodies(q)
    total = {place: np.atleast_2d(np.asarray(wrench, float)) for place, wrench in (wrenches or {}).items()}
    for name, wrench in loop_wrenches(model, seen, closures, forces).items():
        loop = model.system.loops[name]
        point = frame_pose(model, seen, loop.b)[0]
        for end, sign in ((loop.a, -1.0), (loop.b, 1.0)):
            if end.body != "world":
                flexible = model.system.bodies[end.body].flexible
                origin, attitude = frame_pose(model, seen, Frame(end.body, node=end.node))
                moment = wrench[:, :3] + np.cross(point - origin, wrench[:, 3:])
                vectors = sign*np.stack([moment, wrench[:, 3:]], axis=1)
                if frame == "body":
                    vectors = np.einsum("bij,bci->bcj", attitude, vectors)
                place = end.body if flexible is None else (end.body, end.node or flexible.inboard)
                total[place] = total.get(place, 0.0) + vectors.reshape(-1, 6)
    return total
