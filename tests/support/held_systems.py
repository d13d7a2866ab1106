"""Systems with some coordinates held, and the equations that held coordinates must satisfy, in plain NumPy."""
import numpy as np

import bough
from bough.describe import Polynomial

FIELDS = ("translations", "rotations", "name", "stiffness", "damping", "rest", "torque", "q0", "v0")


def with_motion(joint, motion):
    """The same joint, its coordinates held so."""
    return bough.Joint(**{field: getattr(joint, field) for field in FIELDS}, motion=motion)


def with_joints(system, joints):
    """The same system with other joints: {body: joint}."""
    new = system.copy()
    for name, joint in joints.items():
        new.bodies[name] = new.bodies[name].model_copy(update={"joint": joint})
    return new


def with_motions(system, motions):
    """The same system with coordinates held: {body: motion of its joint}."""
    return with_joints(system, {name: with_motion(system.bodies[name].joint, motion) for name, motion in motions.items()})


def random_motions(rng, system, share=0.5):
    """Motions for about this share of the coordinates: locked, or a polynomial; a spherical rotation is locked as a whole."""
    motions = {}
    for body in system.bodies.values():
        joint = body.joint
        held = rng.random(joint.n_v - 3*joint.spherical) < share
        entries = [None if not each else "locked" if rng.random() < 0.4 else Polynomial(rng.uniform(-1, 1, 5)) for each in held]
        entries += ["locked" if rng.random() < share else None]*3*joint.spherical
        if joint.spherical:
            entries[-3:] = [entries[-1]]*3
        if any(entry is not None for entry in entries):
            motions[body.name] = entries
    return motions


def given_accelerations(model, t):
    """(nv,): what is prescribed at the time t, and zeros."""
    a = np.zeros(model.nv)
    for name, (_, _, acceleration) in model.motion(t).items():
        a[model.names.v.index(name)] = acceleration
    return a


def solved(M, h, tau, a, free, J=None, d=None):
    """Accelerations, and the forces that hold what is held: M a + h = tau + drives (+ J^T multipliers, with J a = d).

    M_ff a_f - J_f^T l = tau_f - h_f - M_fh a_h, J_f a_f = d - J_h a_h; where loops are redundant, the least multipliers."""
    a, n = a.copy(), int(free.sum())
    right = (tau - h - M @ a)[free]
    if J is None:
        a[free] = np.linalg.solve(M[np.ix_(free, free)], right)
        return a, M @ a + h - tau
    rows = len(J)
    K = np.block([[M[np.ix_(free, free)], -J[:, free].T], [J[:, free], np.zeros((rows, rows))]])
    found = np.linalg.lstsq(K, np.concatenate([right, d - J @ a]), rcond=1e-11)[0]
    a[free] = found[:n]
    return a, M @ a + h - tau - J.T @ found[n:]
