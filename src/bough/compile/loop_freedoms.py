"""The motions that loops leave free, where something acts along them: a spring, a damper, a motor in the loop's joint [B 14]."""
from dataclasses import dataclass
from typing import Any

import numpy as np

from bough.compile.loop_tables import complement, frame_attachment
from bough.compile.partition import Partition
from bough.describe import Joint, Loop, System, TimeTable
from bough.errors import ModelError
from bough.sweeps import fields as f
from bough.sweeps import records as r
from bough.sweeps.schema import Floats


@dataclass(frozen=True)
class FreeMotion:
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
    """Of all loops whose joints have springs, dampers or motors."""
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


def free_rows(system: System, parts: Partition, torque_at: int) -> tuple[list[list[int]], list[Floats]]:
    """Records of plan and of pars; the torques are in ws from `torque_at` on."""
    rows, pars, loops = list[list[int]](), list[Floats](), list(system.loops.values())
    for j, motion in enumerate(free_motions(system)):
        a, b = frame_attachment(parts, loops[motion.loop].a).turn, frame_attachment(parts, loops[motion.loop].b).turn
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
