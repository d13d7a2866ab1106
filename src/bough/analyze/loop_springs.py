"""Forces and energies of springs, dampers and motors in the joints of loops [B 14]."""
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bough.compile.loop_freedoms import FreeMotion, free_motions
from bough.compile.tables import described_inputs
from bough.sweeps import fields as f

if TYPE_CHECKING:
    from bough.analyze.body_motion import Bodies
    from bough.model.model import Model


def spring_energy(model: "Model", seen: "Bodies") -> NDArray:
    """(batch,): of the springs in loops' joints."""
    from bough.analyze.loop_constraints import frame_pose
    energy, loops = np.zeros(seen.batch.n), list(model.system.loops.values())
    for motion in free_motions(model.system):
        if motion.stiffness:
            loop = loops[motion.loop]
            (x_a, R_a), (x_b, R_b) = frame_pose(model, seen, loop.a), frame_pose(model, seen, loop.b)
            stretch = coordinate(motion, x_b - x_a, R_a, R_b) - motion.rest
            energy += 0.5*motion.stiffness*stretch**2
    return energy


def coordinate(motion: FreeMotion, d: NDArray, R_a: NDArray, R_b: NDArray) -> NDArray:
    """(batch,): the joint's coordinate along a free motion."""
    u, e = R_a @ motion.vector_a, R_b @ motion.vector_b
    if motion.kind == f.ALONG:
        return np.asarray((u*d).sum(axis=1))
    start, end = R_a @ motion.reference_a, R_b @ motion.reference_b
    axis = e if motion.kind == f.ABOUT_SECOND else u
    start, end = {f.ABOUT_AXIS: (start, end), f.ABOUT_FIRST: (start, e), f.ABOUT_SECOND: (u, end)}[motion.kind]
    along = (axis*start).sum(axis=1)*(axis*end).sum(axis=1)
    return np.arctan2((axis*np.cross(start, end)).sum(axis=1), (start*end).sum(axis=1) - along)


def free_wrenches(model: "Model", seen: "Bodies") -> dict[str, NDArray]:
    """(batch, 6) by loop: [moment, force] of springs, dampers and motors on b, at b's frame, in world axes [B 14]."""
    from bough.analyze.loop_constraints import frame_motion
    loops, motions = list(model.system.loops.values()), free_motions(model.system)
    found = {loop.name: np.zeros((seen.batch.n, 6)) for loop in loops}
    first = model.nv + model.nw + 6*len(model.system.wrenches)                # where their torques start in u: see Layout
    torques = described_inputs(model.tables, seen.batch.t[:, 0])[:, first:first + len(motions)]
    for motion, torque in zip(motions, torques.T, strict=True):
        loop = loops[motion.loop]
        a, b = frame_motion(model, seen, loop.a), frame_motion(model, seen, loop.b)
        d, along = b.position - a.position, motion.kind == f.ALONG
        e = dual(motion, a.attitude, b.attitude)
        rate = b.velocity - a.velocity - np.cross(a.rate, d) if along else b.rate - a.rate
        force = torque - motion.damping*(e*rate).sum(axis=1)
        if motion.stiffness:
            force = force - motion.stiffness*(coordinate(motion, d, a.attitude, b.attitude) - motion.rest)
        found[loop.name][:, 3*along:3*along + 3] += force[:, None]*e
    return found


def dual(motion: FreeMotion, R_a: NDArray, R_b: NDArray) -> NDArray:
    """(batch, 3): the direction whose product with the relative velocity, or rate, is the rate of a free motion's coordinate."""
    u, e = R_a @ motion.vector_a, R_b @ motion.vector_b
    if motion.kind in (f.ALONG, f.ABOUT_AXIS):
        return u
    if motion.kind == f.ABOUT_OWN:
        return e
    normal = np.cross(u, e)
    pair = np.cross(e, normal) if motion.kind == f.ABOUT_FIRST else np.cross(normal, u)
    return pair/(normal**2).sum(axis=1, keepdims=True)
