"""Closed loops as the numbers that `sweeps.closures` reads: constrained directions and rotations, and hinges.

Also the free motions of loops with a spring, a damper or a motor in the loop's joint [B 14].
"""

import math
from functools import lru_cache
from itertools import takewhile
from typing import Any, NamedTuple

import numpy as np

from bough.compile.partition import Partition
from bough.describe import Distance, Frame, Joint, Loop, System, TimeTable
from bough.describe.orientation import rotation_matrix
from bough.describe.parts.element import Anchor
from bough.errors import ModelError
from bough.kernels.hinges import NODE
from bough.sweeps import fields as f, records as r
from bough.sweeps.schema import Floats

REDUNDANT = 1e-11                # of the loop's largest diagonal entry: a smaller one is rounding, and the row redundant
SINGULAR = 1e-8                  # the same for similar masses: a smaller entry means a singular position, see `singular_share`
SIMILAR = 1e-4                   # ratio of masses and of inertias (kg and kg m^2) above which they count as similar

AXES = np.eye(3)


class Term(NamedTuple):
    """A coordinate of a coupling."""
    name: str
    hinge: int
    factor: float               # divided by the largest of the coupling
    q: int                      # index in q
    v: int


class Closure(NamedTuple):
    """A loop between the bodies of two hinges; or, if it has terms, a coupling of coordinates."""
    name: str
    a: int                      # hinge of end a; 0: the ground
    b: int
    meet: int                   # where their paths to the root meet
    translations: Floats       # (n, 3) constrained directions in the axes of a's frame
    rotation_kind: int          # constrained rotations, see ROTATIONS in sweeps.records
    labels: tuple[str, ...]     # name of each row
    parameters: Floats         # (batch, LOOP_PARS), or (batch, COUPLING_PARS)
    terms: tuple[Term, ...] = ()
    loose: bool = False         # an elastic coupling, or one with play: no constraint

    @property
    def noun(self) -> str:
        return "coupling" if self.terms else "loop"

    @property
    def rows(self) -> int:
        return len(self.labels)

    @property
    def rotations(self) -> int:
        """Number of rows, the last ones, that constrain a rotation."""
        return 0 if self.rotation_kind == f.DISTANCE else self.rotation_kind

    @property
    def size(self) -> float:
        """Length by which rows of rotations are multiplied."""
        return 1.0 if self.terms else float(self.parameters[0, f.LOOP_SIZE])


def build_closure(loop: Loop, tree: Partition) -> Closure:
    a, b = frame_attachment(tree, loop.a), frame_attachment(tree, loop.b)
    meet = common_hinge(tree, a.hinge, b.hinge)
    directions, rotations, frame_a, frame_b, value, labels = constrained_motion(loop.joint)
    turned = np.zeros((3, 3))
    turned[:len(directions)] = directions @ a.turn.T
    numbers = r.LOOP_PARAMETERS.pack(end_a=a.at, end_b=b.at, directions=turned, frame_a=frame_a @ a.turn.T,
                                     frame_b=frame_b @ b.turn.T, constrained_value=value, size=loop_size(tree, a, b, meet))
    return Closure(loop.name, a.hinge, b.hinge, meet, directions, rotations, labels, numbers)


def frame_attachment(tree: Partition, frame: Frame) -> Anchor:
    """Where a frame is fixed."""
    body = None if frame.body == "world" else frame.body
    own = tree.attachment(body, frame.node)
    return Anchor(own.hinge, own.turn @ rotation_matrix(frame.orient), own.at + own.turn @ np.asarray(frame.at))


def constrained_motion(joint: Joint | Distance) -> tuple[Floats, int, Floats, Floats, float, tuple[str, ...]]:
    """What a joint constrains: directions, kind of rotations, axes in the frames a and b (one per row), a value, and a label per
    row [B 14]."""
    if isinstance(joint, Distance):
        return np.zeros((0, 3)), f.DISTANCE, AXES, AXES, joint.length, ("distance",)
    return _constrained_motion(joint.translations, joint.rotations)


@lru_cache(maxsize=1000)
def _constrained_motion(translations: tuple[Any, ...],
                        rotations: Any) -> tuple[Floats, int, Floats, Floats, float, tuple[str, ...]]:
    """Of a joint with these axes; arrays that nobody changes."""
    directions = complement(np.array(translations, float).reshape(-1, 3))
    turns = np.zeros((3, 3)) if isinstance(rotations, str) else np.array(rotations, float).reshape(-1, 3)
    labels = direction_labels(directions, "")
    if len(turns) == 3:
        return directions, f.NO_ROTATION, AXES, AXES, 0.0, labels
    if len(turns) == 2:
        frame_a, frame_b = np.stack([turns[0], *complement(turns[:1])]), np.stack([turns[1], *complement(turns[1:])])
        return directions, f.UNIVERSAL, frame_a, frame_b, float(turns[0] @ turns[1]), (*labels, "twist")
    if len(turns) == 1:
        frame = np.stack([*complement(turns), turns[0]])
        return directions, f.AXIS, frame, frame, 0.0, (*labels, *direction_labels(frame[:2], "r"))
    return directions, f.ALL_ROTATIONS, AXES, AXES, 0.0, (*labels, "rx", "ry", "rz")


def complement(vectors: Floats) -> Floats:
    """Orthonormal directions normal to all vectors; coordinate axes where possible."""
    basis = list(np.linalg.qr(vectors.T)[0].T) if len(vectors) else []
    found: list[Floats] = []
    free = [axis - sum((axis @ b)*b for b in basis) for axis in AXES]
    for candidate in sorted(free, key=lambda c: -round(float(np.linalg.norm(c)), 9)):       # most nearly along an axis first
        rest = candidate - sum((candidate @ b)*b for b in found)
        if len(found) < 3 - len(basis) and np.linalg.norm(rest) > 1e-6:
            found.append(rest/np.linalg.norm(rest))
    return np.array(found).reshape(-1, 3)


def direction_labels(directions: Floats, prefix: str) -> tuple[str, ...]:
    """x, y, z if a direction is an axis, else n1, n2."""
    labels = []
    for i, direction in enumerate(directions):
        along = np.flatnonzero(np.abs(direction) > 1 - 1e-12)
        labels.append(prefix + ("xyz"[along[0]] if len(along) else f"n{i + 1}"))
    return tuple(labels)


def path_to_root(tree: Partition, k: int) -> list[int]:
    """Hinges from k to the ground."""
    path = [k]
    while path[-1]:
        path.append(tree.hinges[path[-1]].inner)
    return path


def common_hinge(tree: Partition, a: int, b: int) -> int:
    """Where the paths of two hinges to the root meet."""
    path = set(path_to_root(tree, a))
    return next(k for k in path_to_root(tree, b) if k in path)


def loop_size(tree: Partition, a: Anchor, b: Anchor, meet: int) -> float:
    """A length of the loop: the longest step along it."""
    steps = [a.at[0], b.at[0]]
    for end in (a, b):
        for k in takewhile(lambda k: k != meet, path_to_root(tree, end.hinge)):
            hinge = tree.hinges[k]
            nodes = hinge.flexible.nodes if hinge.kind == NODE else None
            steps.append(hinge.at[0] if nodes is None else nodes.position[nodes.index(hinge.node)])
    return math.sqrt(max(step.dot(step) for step in steps)) or 1.0


def singular_share(tree: Partition) -> Floats:
    """Threshold, in a run, of a loop row's entry of J M^-1 J^T relative to the loop's largest, below which the row is singular:
    states of a run are accurate to rounding only.  With masses that differ by orders of magnitude, so may the entries of regular
    rows, and the threshold is lower.  Cached in the partition."""
    if tree.singular_share is not None:
        return tree.singular_share
    given = [[hinge.mass for hinge in tree.hinges[1:]], [hinge.inertia for hinge in tree.hinges[1:]]]
    mass, inertia = (np.stack(each if max(map(len, each)) == 1 else np.broadcast_arrays(*each), axis=1) for each in given)
    every = np.concatenate([mass, np.linalg.eigvalsh(inertia).reshape(len(inertia), -1)], axis=1)
    largest = every.max(axis=1)
    least = np.where(every > 1e-12*largest[:, None], every, np.inf).min(axis=1)
    tree.singular_share = np.clip(SINGULAR*(least/largest)/SIMILAR, REDUNDANT, SINGULAR)
    return tree.singular_share


# ---- free motions of loops -----------------------------------------------------------------------------------------------------
class FreeMotion(NamedTuple):
    """One free motion of a loop's joint: vectors in the axes of the frames a and b."""
    loop: int
    kind: int
    vector_a: Floats
    vector_b: Floats
    reference_a: Floats
    reference_b: Floats
    stiffness: float
    rest: float
    damping: float
    torque: float | TimeTable


def free_motions(system: System) -> list[FreeMotion]:
    """Free motions of all loops whose joints have springs, dampers or motors."""
    return [motion for i, loop in enumerate(system.loops.values()) for motion in of_loop(i, loop)]


def of_loop(index: int, loop: Loop) -> list[FreeMotion]:
    joint = loop.joint
    if not isinstance(joint, Joint) or not any((joint.stiffness, joint.damping, joint.torque)):
        return []
    kinds = directions(loop.name, joint)
    nothing = (0.0,)*joint.n_v
    laws = zip(joint.stiffness or nothing, joint.rest or nothing, joint.damping or nothing, joint.torque or nothing, strict=True)
    acting = [(kind, law) for kind, law in zip(kinds, laws, strict=True) if any(part != 0.0 for part in law)]
    return [FreeMotion(index, *kind, *law) for kind, law in acting]


def directions(name: str, joint: Joint) -> list[tuple[int, Any, Any, Any, Any]]:
    """Kind and vectors of each free motion of a joint, in the order of its v."""
    o, axes = np.zeros(3), np.eye(3)
    along = np.array(joint.translations, float).reshape(-1, 3)
    duals = np.linalg.pinv(along) if len(along) else np.zeros((3, 0))         # columns: their product with an axis is 1 or 0
    found: list[tuple[int, Any, Any, Any, Any]] = [(f.ALONG, dual, o, o, o) for dual in duals.T]
    if isinstance(joint.rotations, str):
        return found + [(f.ABOUT_OWN, o, axis, o, o) for axis in axes]
    turns = np.array(joint.rotations, float).reshape(-1, 3)
    if len(turns) == 1:
        start = complement(turns)[0]
        found.append((f.ABOUT_AXIS, turns[0], turns[0], start, start))
    elif len(turns) == 2:
        found.append((f.ABOUT_FIRST, turns[0], turns[1], turns[1], o))
        found.append((f.ABOUT_SECOND, turns[0], turns[1], o, turns[0]))
    elif len(turns) == 3:
        raise ModelError(f"loop '{name}': springs, dampers and torques about three axes in sequence are not offered; give a "
                         "spherical joint damping or torque, or put a body between two simpler joints")
    return found


def free_motion_rows(system: System, tree: Partition, torque_at: int) -> tuple[list[list[int]], list[Floats]]:
    """Records of plan and pars; the torques are in ws from `torque_at` on."""
    rows, pars, loops = list[list[int]](), list[Floats](), list(system.loops.values())
    for j, motion in enumerate(free_motions(system)):
        a, b = frame_attachment(tree, loops[motion.loop].a).turn, frame_attachment(tree, loops[motion.loop].b).turn
        rows.append(r.FREE_MOTION.row(loop=motion.loop, kind=motion.kind, torque=torque_at + j))
        pars.append(r.FREE_PARAMETERS.pack(
            vector_a=a @ motion.vector_a, vector_b=b @ motion.vector_b, reference_a=a @ motion.reference_a,
            reference_b=b @ motion.reference_b, stiffness=motion.stiffness, rest=motion.rest, damping=motion.damping))
    return rows, pars


def coordinate(motion: FreeMotion, d: Floats, R_a: Floats, R_b: Floats) -> Floats:
    """(batch,): the joint's coordinate along a free motion."""
    u, e = R_a @ motion.vector_a, R_b @ motion.vector_b
    if motion.kind == f.ALONG:
        return np.asarray((u*d).sum(axis=1))
    start, end = R_a @ motion.reference_a, R_b @ motion.reference_b
    axis = e if motion.kind == f.ABOUT_SECOND else u
    start, end = {f.ABOUT_AXIS: (start, end), f.ABOUT_FIRST: (start, e), f.ABOUT_SECOND: (u, end)}[motion.kind]
    along = (axis*start).sum(axis=1)*(axis*end).sum(axis=1)
    return np.arctan2((axis*np.cross(start, end)).sum(axis=1), (start*end).sum(axis=1) - along)


def dual(motion: FreeMotion, R_a: Floats, R_b: Floats) -> Floats:
    """(batch, 3): the direction whose product with the relative velocity, or rate, is the rate of a free motion's coordinate."""
    u, e = R_a @ motion.vector_a, R_b @ motion.vector_b
    if motion.kind in (f.ALONG, f.ABOUT_AXIS):
        return u
    if motion.kind == f.ABOUT_OWN:
        return e
    normal = np.cross(u, e)
    pair = np.cross(e, normal) if motion.kind == f.ABOUT_FIRST else np.cross(normal, u)
    return pair/(normal**2).sum(axis=1, keepdims=True)
