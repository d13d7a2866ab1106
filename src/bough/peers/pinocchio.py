"""The same system in Pinocchio: every joint a sequence of Pinocchio's simplest joints."""
import numpy as np
import pinocchio as pin
from scipy.spatial.transform import Rotation

from bough.describe.part import depth_first

WORLD_AXES = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED


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

    # ---- dynamics --------------------------------------------------------------------------------------------
    def forward_dynamics(self, q, v, tau):
        return pin.aba(self.model, self.data, self.q(q), self.v(v), self.v(tau))[self.iv]


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
