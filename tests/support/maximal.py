"""The witness in maximal coordinates, which `bough verify` uses too; and states of it that only tests ask for."""
import numpy as np
from scipy.spatial.transform import Rotation

from bough.verify.witnesses.maximal import *  # noqa: F403
from bough.verify.witnesses.maximal import entries, jacobians, joint_state, least_norm, loop_constraints, n_speeds, places, stand


def tree_state(system, poses, velocities):
    """The tree's q and v of bodies that stand and move like this."""
    stands = stand(poses, velocities)
    q, v = zip(*(joint_state(body.joint, stands[body.parent or "world"].on(body.at, body.orient), stands[name])
                 for name, body in system.bodies.items()), strict=True)
    return np.concatenate(q), np.concatenate(v)


# ---- states that satisfy the loops ----------------------------------------------------------------------------------------------
def assemble(system, q, v, hold=(), tolerance=1e-14):
    """The nearest q and v that satisfy the loops, by Newton's method; `hold` are entries of v that stay."""
    q = np.array(q, float)
    free = np.setdiff1d(np.arange(len(v)), hold)
    for _ in range(50):
        stands = places(system, q)
        phi = np.array([each for c in loop_constraints(system) for each in c.residual(stands).value])
        J = jacobians(system, q)[1]
        if np.abs(phi).max(initial=0.0) < tolerance:
            break
        step = np.zeros(len(v))
        step[free] = -least_norm(J[:, free], phi)
        q = retracted(system, q, step)
    v = np.array(v, float)
    v[free] -= least_norm(J[:, free], J @ v)
    return q, v


def retracted(system, q, step):
    """q after a small motion along the speeds."""
    found = []
    for body, at_q, at_v in entries(system):
        spherical = body.joint.rotations == "spherical"
        plain = n_speeds(body.joint) - 3*spherical
        found.append(q[at_q][:plain] + step[at_v][:plain])
        if spherical:
            found.append((Rotation.from_quat(q[at_q][plain:])*Rotation.from_rotvec(step[at_v][plain:])).as_quat())
    return np.concatenate(found)
