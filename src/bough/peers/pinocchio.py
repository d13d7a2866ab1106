"""The same system in Pinocchio: every joint a sequence of Pinocchio's simplest joints."""
from typing import NamedTuple

import numpy as np
import pinocchio as pin
from scipy.spatial.transform import Rotation

from bough.describe.part import depth_first

WORLD_AXES = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED


class Motion(NamedTuple):
    """Pose and motion of a body's frame, world axes."""
    position: np.ndarray
    attitude: np.ndarray
    velocity: np.ndarray            # [angular, linear]
    acceleration: np.ndarray        # [angular, linear], the linear one of the material point


class Pinocchio:
    def __init__(self, system):
        self.system, self.model = system, pin.Model()
        self.model.gravity = pin.Motion(np.array(system.gravity, float), np.zeros(3))
        self.carriers, self.frames, joints = {}, {}, {}
        for body in depth_first(system):                # Pinocchio's mass matrix is silently wrong on any other numbering
            parent, place = self.carriers[body.parent] if body.parent else (0, pin.SE3.Identity())
            place = place*pin.SE3(Rotation.from_quat(body.orient).as_matrix(), np.array(body.at))
            joints[body.name] = []
            for name, joint in self.simple_joints(body):
                parent = self.model.addJoint(parent, joint, place, f"{body.name}/{name}")
                joints[body.name].append(parent)
                place = pin.SE3.Identity()
            self.carriers[body.name] = parent, place
            self.frames[body.name] = self.model.addFrame(pin.Frame(body.name, parent, 0, place, pin.FrameType.OP_FRAME))
            if body.mass:
                inertia = pin.Inertia(body.mass, np.array(body.com), np.array(body.inertia))
                self.model.appendBodyToJoint(parent, inertia, place)
        self.data = self.model.createData()
        order = [self.model.joints[j] for body in system.bodies.values() for j in joints[body.name]]
        self.iq = [i for joint in order for i in range(joint.idx_q, joint.idx_q + joint.nq)]      # ours <- Pinocchio's
        self.iv = [i for joint in order for i in range(joint.idx_v, joint.idx_v + joint.nv)]

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


class PinocchioLoop(Pinocchio):
    """Forward and inverse dynamics of many states by Pinocchio's own C++ loop, on one thread.

    A free joint on the world is Pinocchio's free flyer here, its fastest form; its speeds are in body axes."""

    def __init__(self, system, q, v, tau):
        super().__init__(system)
        self.free = next((b for b in system.bodies.values() if b.parent is None and b.joint.kind == "free"), None)
        self.turns = Rotation.from_quat(q[:, 3:7]).as_matrix() if self.free else None
        self.q_columns = np.asfortranarray(np.array([self.q(row) for row in q]).T)
        self.v_columns, self.tau_columns = (np.asfortranarray(np.array([self.v(r) for r in rows]).T)
                                            for rows in (self.to_body(v), self.to_body(tau)))
        self.acceleration = self.to_body(tau) - self.transport(v)
        self.a_columns = np.asfortranarray(np.array([self.v(row) for row in self.acceleration]).T)
        self.result, self.speeds, self.pool = np.zeros_like(self.v_columns), v, pin.ModelPool(self.model, 1)

    @staticmethod
    def simple_joints(body):
        if body.parent is None and body.joint.kind == "free":
            return [("free", pin.JointModelFreeFlyer())]
        return Pinocchio.simple_joints(body)

    def to_body(self, rows):
        """Linear speeds (or forces) of the free joint from world to body axes."""
        rows = np.array(rows)
        if self.free:
            rows[:, :3] = np.einsum("bji,bj->bi", self.turns, rows[:, :3])
        return rows

    def transport(self, v):
        """d/dt (R^T v) = R^T v' - omega x R^T v: what the free flyer's acceleration has less."""
        result = np.zeros_like(v)
        if self.free:
            result[:, :3] = np.cross(v[:, 3:6], self.to_body(v)[:, :3])
        return result

    def forward(self):
        pin.abaInParallel(1, self.pool, self.q_columns, self.v_columns, self.tau_columns, self.result)

    def inverse(self):
        pin.rneaInParallel(1, self.pool, self.q_columns, self.v_columns, self.a_columns, self.result)

    def answer(self, what):
        """The last result in our order and axes."""
        rows = self.result.T[:, self.iv].copy()
        if what == "forward":
            rows += self.transport(self.speeds)
        if self.free:
            rows[:, :3] = np.einsum("bij,bj->bi", self.turns, rows[:, :3])
        return rows


    def single_calls(self, hand, last):
        """{call: function} of the first state, for timing: Pinocchio's own functions, with nothing around them."""
        model, data, hand, last = self.model, self.data, self.frames[hand], self.frames[last]
        q, v, tau, a = (np.ascontiguousarray(columns[:, 0])
                        for columns in (self.q_columns, self.v_columns, self.tau_columns, self.a_columns))
        return {"forward dynamics": lambda: pin.aba(model, data, q, v, tau),
                "inverse dynamics": lambda: pin.rnea(model, data, q, v, a),
                "mass matrix": lambda: pin.crba(model, data, q),
                "all poses": lambda: pin.framesForwardKinematics(model, data, q),
                "Jacobian of a hand": lambda: pin.computeFrameJacobian(model, data, q, hand, WORLD_AXES),
                "Jacobian of the last body": lambda: pin.computeFrameJacobian(model, data, q, last, WORLD_AXES)}


# ---- closed loops --------------------------------------------------------------------------------------------------------
CONTACTS = {"spherical": pin.ContactType.CONTACT_3D, "weld": pin.ContactType.CONTACT_6D}


class Closed:
    """A system's loops as Pinocchio's rigid constraints, and its two methods to satisfy them: "dense" is constraintDynamics, which
    factors the whole of mass matrix and constraints; "lcaba" is the articulated-body algorithm for loops, linear in the bodies.

    Both are proximal: smaller mu takes fewer iterations. lcaba works with 1/mu in the articulated inertias, which costs it digits:
    mu = 1e-6, which Pinocchio advises, leaves 1e-7 to 1e-10 after two iterations; ACCURATE takes more of them.

    Of Pinocchio 4.1: lcaba crashes if a constraint's first joint is the world, so the world always comes second here; and it
    takes the joints' accelerations of the call before for a bias, which makes every other answer for a weld to the world wrong:
    `fresh` clears them. constraintDynamics is wrong if it is given constraint data that lcaba has used: each has its own here. The
    two methods give forces of opposite sign."""

    FAST, ACCURATE = (1e-6, 1e-6, 10), (1e-14, 1e-3, 100)           # lcaba's accuracy, mu, iterations
    FAST_DENSE, DENSE = (1e-6, 1e-10, 2), (1e-14, 1e-10, 20)        # constraintDynamics'

    def close(self, lcaba, dense):
        self.settings = {"dense": pin.ProximalSettings(*dense), "lcaba": pin.ProximalSettings(*lcaba)}
        self.constraints = pin.StdVec_RigidConstraintModel()
        self.found = {method: pin.StdVec_RigidConstraintData() for method in self.settings}
        self.on_b = []                                              # whether a constraint's first frame is its loop's b
        for name, loop in self.system.loops.items():
            if loop.joint.kind not in CONTACTS:
                raise NotImplementedError(f"loop '{name}': Pinocchio closes loops by {' and '.join(CONTACTS)} joints, not by a "
                                          f"{loop.joint.kind} one")
            ends = [self.carrier(loop.b), self.carrier(loop.a)]
            self.on_b.append(ends[0][0] != 0)
            first, second = ends if self.on_b[-1] else ends[::-1]
            self.constraints.append(pin.RigidConstraintModel(CONTACTS[loop.joint.kind], self.model, *first, *second,
                                                             pin.ReferenceFrame.LOCAL))
            for found in self.found.values():
                found.append(self.constraints[len(self.on_b) - 1].createData())
        self.ordered = self.model.createData()
        pin.initConstraintDynamics(self.model, self.data, self.constraints, self.found["dense"])
        pin.computeJointMinimalOrdering(self.model, self.ordered, self.constraints)

    def carrier(self, frame):
        """Pinocchio's joint that carries a frame, and the frame's place on it."""
        joint, place = (0, pin.SE3.Identity()) if frame.body == "world" else self.carriers[frame.body]
        return joint, place*pin.SE3(Rotation.from_quat(frame.orient).as_matrix(), np.array(frame.at))

    def solve(self, method, q, v, tau):
        """Accelerations in Pinocchio's order, of a state in its order."""
        run, data = (pin.lcaba, self.ordered) if method == "lcaba" else (pin.constraintDynamics, self.data)
        return run(self.model, data, q, v, tau, self.constraints, self.found[method], self.settings[method])

    def fresh(self):
        for j in range(self.model.njoints):
            self.ordered.oa[j] = pin.Motion.Zero()

    def forces(self, method):
        """{loop: [moment, force]} of the last solution, on frame b's body at its origin, in its axes."""
        sign, found = 1.0 if method == "dense" else -1.0, {}
        for name, data, on_b in zip(self.system.loops, self.found[method], self.on_b, strict=True):
            force = data.contact_force if on_b else -data.c1Mc2.actInv(data.contact_force)
            found[name] = sign*np.concatenate([force.angular, force.linear])
        return found


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


class ClosedPinocchioLoop(Closed, PinocchioLoop):
    """Forward dynamics with loops of many states, for timing: Pinocchio has no loop of its own over states for these, so every
    state is a call from Python. (Pinocchio's own joints about x, y and z in place of those about any axis would gain one to three
    percent.)"""

    def __init__(self, system, q, v, tau, *, lcaba=Closed.FAST, dense=Closed.FAST_DENSE):
        super().__init__(system, q, v, tau)
        self.close(lcaba, dense)
        self.states = [[np.ascontiguousarray(columns[:, i]) for columns in (self.q_columns, self.v_columns, self.tau_columns)]
                       for i in range(len(q))]

    def dense(self):
        found, settings = self.found["dense"], self.settings["dense"]
        for q, v, tau in self.states:
            pin.constraintDynamics(self.model, self.data, q, v, tau, self.constraints, found, settings)

    def lcaba(self):
        found, settings = self.found["lcaba"], self.settings["lcaba"]
        for q, v, tau in self.states:
            pin.lcaba(self.model, self.ordered, q, v, tau, self.constraints, found, settings)

    def closed_answer(self, method):
        """(states, nv) in our order and axes."""
        for i, state in enumerate(self.states):
            self.fresh()
            self.result[:, i] = self.solve(method, *state)
        return self.answer("forward")
