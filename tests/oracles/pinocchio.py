"""The same system in Pinocchio: every joint a sequence of Pinocchio's simplest joints."""
import numpy as np
import pinocchio as pin
from scipy.spatial.transform import Rotation


class Pinocchio:
    def __init__(self, system):
        self.system, self.model = system, pin.Model()
        self.model.gravity = pin.Motion(np.array(system.gravity, float), np.zeros(3))
        self.seats, joints = {}, {}
        for body in self.depth_first():
            parent, place = self.seats[body.parent] if body.parent else (0, pin.SE3.Identity())
            place = place*pin.SE3(Rotation.from_quat(body.orient).as_matrix(), np.array(body.at))
            joints[body.name] = []
            for name, joint in self.simple_joints(body):
                parent = self.model.addJoint(parent, joint, place, f"{body.name}/{name}")
                joints[body.name].append(parent)
                place = pin.SE3.Identity()
            self.seats[body.name] = parent, place
            if body.mass:
                self.model.appendBodyToJoint(parent, pin.Inertia(body.mass, np.array(body.com), np.array(body.inertia)), place)
        self.data = self.model.createData()
        order = [self.model.joints[j] for body in system.bodies.values() for j in joints[body.name]]
        self.iq = [i for joint in order for i in range(joint.idx_q, joint.idx_q + joint.nq)]      # ours <- Pinocchio's
        self.iv = [i for joint in order for i in range(joint.idx_v, joint.idx_v + joint.nv)]

    def depth_first(self):
        children = {}
        for body in self.system.bodies.values():
            children.setdefault(body.parent, []).append(body)
        stack = children[None][::-1]
        while stack:
            body = stack.pop()
            yield body
            stack += children.get(body.name, [])[::-1]

    @staticmethod
    def simple_joints(body):
        for i, axis in enumerate(body.joint.translations):
            yield f"t{i}", pin.JointModelPrismaticUnaligned(np.array(axis))
        if body.joint.rotations == "spherical":
            yield "s", pin.JointModelSpherical()
        else:
            for i, axis in enumerate(body.joint.rotations):
                yield f"r{i}", pin.JointModelRevoluteUnaligned(np.array(axis))

    # ---- the same numbers in Pinocchio's order ---------------------------------------------------------------
    def q(self, q):
        out = np.empty(self.model.nq)
        out[self.iq] = q
        return out

    def v(self, v):
        out = np.empty(self.model.nv)
        out[self.iv] = v
        return out

    def external(self, wrenches, q=None):
        """{body: [moment, force] about its origin in its axes} as forces on Pinocchio's joints."""
        forces = [pin.Force.Zero() for _ in range(self.model.njoints)]
        for name, wrench in (wrenches or {}).items():
            joint, place = self.seats[name]
            if joint:
                forces[joint] += place.act(pin.Force(np.array(wrench[3:]), np.array(wrench[:3])))
        return forces

    # ---- answers ---------------------------------------------------------------------------------------------
    def forward_dynamics(self, q, v, tau, wrenches=None):
        return pin.aba(self.model, self.data, self.q(q), self.v(v), self.v(tau), self.external(wrenches))[self.iv]

    def dense_dynamics(self, q, v, tau, wrenches=None):
        """By Pinocchio's mass matrix and bias: the better conditioned of its two ways."""
        M = self.mass_matrix(q)
        return np.linalg.solve(M, tau - self.inverse_dynamics(q, v, np.zeros_like(v), wrenches))

    def inverse_dynamics(self, q, v, a, wrenches=None):
        return pin.rnea(self.model, self.data, self.q(q), self.v(v), self.v(a), self.external(wrenches))[self.iv]

    def mass_matrix(self, q):
        M = pin.crba(self.model, self.data, self.q(q)).copy()
        M = np.triu(M) + np.triu(M, 1).T
        return M[np.ix_(self.iv, self.iv)]

    def energies(self, q, v):
        return (pin.computeKineticEnergy(self.model, self.data, self.q(q), self.v(v)),
                pin.computePotentialEnergy(self.model, self.data, self.q(q)))

    def momentum(self, q, v):
        h = pin.computeCentroidalMomentum(self.model, self.data, self.q(q), self.v(v))
        return np.concatenate([h.angular, h.linear])

    def center_of_mass(self, q):
        return pin.centerOfMass(self.model, self.data, self.q(q)).copy()

    def pose(self, q, body):
        pin.forwardKinematics(self.model, self.data, self.q(q))
        joint, place = self.seats[body]
        pose = self.data.oMi[joint]*place
        return pose.translation.copy(), pose.rotation.copy()

    def jacobian(self, q, body, point):
        """[angular, linear] of a point, world axes."""
        joint, place = self.seats[body]
        frame = self.model.getFrameId("probe") if self.model.existFrame("probe") else self.model.addFrame(
            pin.Frame("probe", joint, 0, pin.SE3.Identity(), pin.FrameType.OP_FRAME))
        self.model.frames[frame].parentJoint = joint
        self.model.frames[frame].placement = place*pin.SE3(np.eye(3), np.array(point, float))
        data = self.model.createData()
        J = pin.computeFrameJacobian(self.model, data, self.q(q), frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED).reshape(6, -1)
        return np.vstack([J[3:], J[:3]])[:, self.iv]

    def reaction(self, q, v, a, body, wrenches=None):
        """What the parent exerts through the body's joint: not for welds, which Pinocchio has merged."""
        self.inverse_dynamics(q, v, a, wrenches)
        f = self.data.f[self.seats[body][0]]
        return np.concatenate([f.angular, f.linear])
