"""Closed loops as the numbers that `sweeps.closures` reads: which directions and rotations each holds, between which hinges."""
from dataclasses import dataclass
from itertools import takewhile

import numpy as np

from bough.compile.partition import Attachment, Partition
from bough.describe import Distance, Frame, Joint, Loop, System
from bough.describe.orientation import rotation_matrix
from bough.kernels.hinges import NODE
from bough.sweeps import fields as f
from bough.sweeps import records as r
from bough.sweeps.schema import Floats

AXES = np.eye(3)


@dataclass(frozen=True)
class Closure:
    """A loop between the bodies of two hinges."""
    name: str
    a: int                      # hinge of the end a; 0: the ground
    b: int
    meet: int                   # where their paths to the root meet
    translations: Floats       # (n, 3) held directions in the axes of a's frame
    held: int                   # which rotations, see sweeps.fields
    labels: tuple[str, ...]     # what each row holds
    parameters: Floats         # (batch, LOOP_PARS)

    @property
    def rows(self) -> int:
        return len(self.labels)

    @property
    def rotations(self) -> int:
        """How many of the rows, the last ones, hold a rotation."""
        return 0 if self.held == f.DISTANCE else self.held

    @property
    def size(self) -> float:
        """The length by which rows of rotations are multiplied."""
        return float(self.parameters[0, f.LOOP_SIZE])


def build_closures(system: System, parts: Partition) -> list[Closure]:
    return [build_closure(loop, parts) for loop in system.loops.values()]


def build_closure(loop: Loop, parts: Partition) -> Closure:
    a, b = frame_attachment(parts, loop.a), frame_attachment(parts, loop.b)
    meet = common_hinge(parts, a.hinge, b.hinge)
    directions, held, frame_a, frame_b, value, labels = held_motion(loop.joint)
    turned = np.zeros((3, 3))
    turned[:len(directions)] = directions @ a.turn.T
    numbers = r.LOOP_PARAMETERS.pack(end_a=a.at, end_b=b.at, directions=turned, frame_a=frame_a @ a.turn.T,
                                     frame_b=frame_b @ b.turn.T, held_value=value, size=loop_size(parts, a, b, meet))
    return Closure(loop.name, a.hinge, b.hinge, meet, directions, held, labels, numbers)


def frame_attachment(parts: Partition, frame: Frame) -> Attachment:
    """Where a frame is fixed."""
    body = None if frame.body == "world" else frame.body
    own = parts.attachment(body, frame.node)
    return Attachment(own.hinge, own.turn @ rotation_matrix(frame.orient), own.at + own.turn @ np.asarray(frame.at))


def held_motion(joint: Joint | Distance) -> tuple[Floats, int, Floats, Floats, float, tuple[str, ...]]:
    """What a joint does not let move: directions held, kind of rotations, axes in the frames a and b (an axis a row), a value to
    hold, and a label a row [B 14]."""
    if isinstance(joint, Distance):
        return np.zeros((0, 3)), f.DISTANCE, AXES, AXES, joint.length, ("distance",)
    directions = complement(np.array(joint.translations, float).reshape(-1, 3))
    turns = np.zeros((3, 3)) if isinstance(joint.rotations, str) else np.array(joint.rotations, float).reshape(-1, 3)
    labels = direction_labels(directions, "")
    if len(turns) == 3:
        return directions, f.NO_ROTATION, AXES, AXES, 0.0, labels
    if len(turns) == 2:
        frame_a, frame_b = np.stack([turns[0], *complement(turns[:1])]), np.stack([turns[1], *complement(turns[1:])])
        return directions, f.SQUARE, frame_a, frame_b, float(turns[0] @ turns[1]), (*labels, "twist")
    if len(turns) == 1:
        frame = np.stack([*complement(turns), turns[0]])
        return directions, f.AXIS, frame, frame, 0.0, (*labels, *direction_labels(frame[:2], "r"))
    return directions, f.ALL_ROTATIONS, AXES, AXES, 0.0, (*labels, "rx", "ry", "rz")


def complement(vectors: Floats) -> Floats:
    """Orthonormal directions normal to all vectors; along the axes where these are."""
    basis = list(np.linalg.qr(vectors.T)[0].T) if len(vectors) else []
    found: list[Floats] = []
    free = [axis - sum((axis @ b)*b for b in basis) for axis in AXES]
    for candidate in sorted(free, key=lambda c: -round(float(np.linalg.norm(c)), 9)):       # the least bent first
        rest = candidate - sum((candidate @ b)*b for b in found)
        if len(found) < 3 - len(basis) and np.linalg.norm(rest) > 1e-6:
            found.append(rest/np.linalg.norm(rest))
    return np.array(found).reshape(-1, 3)


def direction_labels(directions: Floats, prefix: str) -> tuple[str, ...]:
    """x, y, z where a direction is an axis, else n1, n2."""
    labels = []
    for i, direction in enumerate(directions):
        along = np.flatnonzero(np.abs(direction) > 1 - 1e-12)
        labels.append(prefix + ("xyz"[along[0]] if len(along) else f"n{i + 1}"))
    return tuple(labels)


def path_to_root(parts: Partition, k: int) -> list[int]:
    """Hinges from k to the ground."""
    path = [k]
    while path[-1]:
        path.append(parts.hinges[path[-1]].inner)
    return path


def common_hinge(parts: Partition, a: int, b: int) -> int:
    """Where the paths of two hinges to the root meet."""
    path = set(path_to_root(parts, a))
    return next(k for k in path_to_root(parts, b) if k in path)


def loop_size(parts: Partition, a: Attachment, b: Attachment, meet: int) -> float:
    """A length of the loop: the longest step along it."""
    steps = [float(np.linalg.norm(a.at[0])), float(np.linalg.norm(b.at[0]))]
    for end in (a, b):
        for k in takewhile(lambda k: k != meet, path_to_root(parts, end.hinge)):
            hinge = parts.hinges[k]
            place = hinge.flexible.nodes.position[hinge.flexible.nodes.index(hinge.node)] if hinge.kind == NODE else hinge.at[0]
            steps.append(float(np.linalg.norm(place)))
    return max(steps) or 1.0
