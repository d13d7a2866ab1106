"""What tests ask of Pinocchio beyond forward dynamics: wrenches, loads, kinematics, energy, and loops as a witness."""
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from bough.describe.part import depth_first
from bough.peers import pinocchio
from bough.peers.pinocchio import WORLD_AXES, Closed


class Motion(NamedTuple):
    """Pose and motion of a body's frame, world axes."""
    position: np.ndarray
    attitude: np.ndarray
    velocity: np.ndarray            # [angular, linear]
    acceleration: np.ndarray        # [angular, linear], the linear one of the material point


class Pinocchio(pinocchio.Pinocchio):
    def external(self, wrenches):
        """{body: [moment, force] about its origin in its axes} as forces on Pinocchio's joints."""
        forces = [pin.Force.Zero() for _ in range(self.model.njoints)]
        for name, wrench in (wrenches or {}).items():
            joint, place = self.carriers[name]
            if joint:
                forces[joint] += place.act(pin.Force(np.array(wrench[3:]), np.array(wrench[:3])))
        return forces

    def in_body_axes(self, q, wrenches):
        """Wrenches about the bodies' origins, given in world axes, in the bodies' axes."""
        turn = {name: self.pose(q, name)[1] for name in wrenches}
        return {name: np.concatenate([w[:3] @ turn[name], w[3:] @ turn[name]]) for name, w in wrenches.items()}

    # ---- dynamics --------------------------------------------------------------------------------------------
    def forward_dynamics(self, q, v, tau, wrenches=None):
        return pin.aba(self.model, self.data, self.q(q), self.v(v), self.v(tau), self.external(wrenches))[self.iv]

    def dense_dynamics(self, q, v, tau, wrenches=None):
        """By Pinocchio's mass matrix and bias: the better conditioned of its two methods."""
        M = self.mass_matrix(q)
        return np.linalg.solve(M, tau - self.inverse_dynamics(q, v, np.zeros_like(v), wrenches))

    def inverse_dynamics(self, q, v, a, wrenches=None):
        return pin.rnea(self.model, self.data, self.q(q), self.v(v), self.v(a), self.external(wrenches))[self.iv]

    def mass_matrix(self, q):
        M = pin.crba(self.model, self.data, self.q(q)).copy()
        M = np.triu(M) + np.triu(M, 1).T
        return M[np.ix_(self.iv, self.iv)]

    def joint_load(self, q, v, a, body, wrenches=None):
        """What the parent exerts through the body's joint, as Pinocchio has it: not for welds, which it has merged."""
        self.inverse_dynamics(q, v, a, wrenches)
        f = self.data.f[self.carriers[body][0]]
        return np.concatenate([f.angular, f.linear])

    def reactions(self, q, v, a, wrenches=None):
        """(bodies, 6), welds too: Newton and Euler for all that hangs on each joint, with Pinocchio's accelerations.

        The load through a joint is what the bodies outboard of it, taken together, need beyond gravity and wrenches."""
        bodies = self.system.bodies
        motion = {name: self.motion(q, v, a, name) for name in bodies}
        needs = {name: self._need(body, motion[name], (wrenches or {}).get(name)) for name, body in bodies.items()}
        loads = []
        for name in bodies:
            p, C = motion[name].position, motion[name].attitude
            moment, force = np.zeros(3), np.zeros(3)
            for outer in (name, *(body.name for body in depth_first(self.system, name))):
                n, f = needs[outer]
                moment, force = moment + n + np.cross(motion[outer].position - p, f), force + f
            loads.append(np.concatenate([moment @ C, force @ C]))
        return np.array(loads)

    def _need(self, body, motion, wrench):
        """[moment about the body's origin, force] that its motion asks for, less gravity and its wrench; world axes."""
        C, (w, al, a) = motion.attitude, (motion.velocity[:3], motion.acceleration[:3], motion.acceleration[3:])
        c, J = C @ body.com, C @ np.array(body.inertia) @ C.T
        given = np.zeros(6) if wrench is None else np.asarray(wrench)
        inertial = body.mass*(a + np.cross(al, c) + np.cross(w, np.cross(w, c)) - np.array(self.system.gravity))
        return J @ al + np.cross(w, J @ w) + np.cross(c, inertial) - C @ given[:3], inertial - C @ given[3:]

    # ---- kinematics, energy, momentum ------------------------------------------------------------------------
    def energies(self, q, v):
        return (pin.computeKineticEnergy(self.model, self.data, self.q(q), self.v(v)),
                pin.computePotentialEnergy(self.model, self.data, self.q(q)))

    def momentum(self, q, v):
        h = pin.computeCentroidalMomentum(self.model, self.data, self.q(q), self.v(v))
        return np.concatenate([h.angular, h.linear])

    def center_of_mass(self, q):
        return pin.centerOfMass(self.model, self.data, self.q(q)).copy()

    def motion(self, q, v, a, body):
        pin.forwardKinematics(self.model, self.data, self.q(q), self.v(v), self.v(a))
        frame = self.frames[body]
        pose = pin.updateFramePlacement(self.model, self.data, frame)
        rate = pin.getFrameVelocity(self.model, self.data, frame, WORLD_AXES)
        accel = pin.getFrameClassicalAcceleration(self.model, self.data, frame, WORLD_AXES)
        return Motion(pose.translation.copy(), pose.rotation.copy(), np.concatenate([rate.angular, rate.linear]),
                      np.concatenate([accel.angular, accel.linear]))

    def pose(self, q, body):
        zero = np.zeros(self.model.nv)
        return self.motion(q, zero, zero, body)[:2]

    def jacobian(self, q, body, point):
        """[angular, linear] of a point, world axes."""
        J = pin.computeFrameJacobian(self.model, self.data, self.q(q), self.frames[body], WORLD_AXES).reshape(6, -1)
        arm = self.pose(q, body)[1] @ np.asarray(point, float)
        return np.vstack([J[3:], J[:3] + np.cross(J[3:].T, arm).T])[:, self.iv]

    def jacobian_rate(self, q, v, body, point):
        """The rate of that."""
        model, data, frame, there, speeds = self.model, self.data, self.frames[body], self.q(q), self.v(v)
        pin.computeJointJacobiansTimeVariation(model, data, there, speeds)
        pin.updateFramePlacements(model, data)
        J = pin.getFrameJacobian(model, data, frame, WORLD_AXES).reshape(6, -1)
        dJ = pin.getFrameJacobianTimeVariation(model, data, frame, WORLD_AXES).reshape(6, -1)
        arm = data.oMf[frame].rotation @ np.asarray(point, float)
        turning = np.cross(J[3:] @ speeds, arm)
        linear = dJ[:3] + np.cross(dJ[3:].T, arm).T + np.cross(J[3:].T, turning).T
        return np.vstack([dJ[3:], linear])[:, self.iv]


class ClosedPinocchio(Closed, Pinocchio):
    """Forward dynamics with loops, as a witness. Springs and dampers of joints are the caller's: in tau."""

    def __init__(self, system, *, lcaba=Closed.ACCURATE, dense=Closed.DENSE):
        super().__init__(system)
        self.close(lcaba, dense)

    def closed_dynamics(self, q, v, tau, wrenches=None, method="dense"):
        """Accelerations that satisfy the loops; `self.settings[method].iter` is the number of iterations."""
        if wrenches:
            still = np.zeros_like(v)
            tau = tau + self.inverse_dynamics(q, v, still) - self.inverse_dynamics(q, v, still, wrenches)
        self.fresh()
        return self.solve(method, self.q(q), self.v(v), self.v(tau))[self.iv]

    def constraint_forces(self, q, v, tau, wrenches=None, method="dense"):
        """{loop: [moment, force]}; where loops are redundant the proximal iteration converges to forces of its own."""
        self.closed_dynamics(q, v, tau, wrenches, method)
        return self.forces(method)

    def forces(self, method):
        """{loop: [moment, force]} of the last solution, on frame b's body at its origin, in its axes."""
        sign, found = 1.0 if method == "dense" else -1.0, {}
        for name, data, on_b in zip(self.system.loops, self.found[method], self.on_b, strict=True):
            force = data.contact_force if on_b else -data.c1Mc2.actInv(data.contact_force)
            found[name] = sign*np.concatenate([force.angular, force.linear])
        return found
