"""The same system in MuJoCo: a body with as many slides, hinges and balls as its joint has motions.

MuJoCo's conventions against ours: quaternions are scalar first; a ball's speed is the angular velocity in the child's axes, as
ours; the joints of one body act one after the other, each about its axis as the joints before it have turned it, and the axes are
given in the body frame at rest, which is our joint frame. Slides come first in our joints, so nothing has turned them.
A free joint on the world is three slides and a ball: MuJoCo's own would give the same, in world axes instead of the joint's.

Loops are equalities, which MuJoCo keeps soft: a constraint has a compliance R of 1e-4 of its Delassus diagonal or more, and the
accelerations are wrong by that, times the condition of the loops.
"""
import mujoco
import numpy as np
from scipy.spatial.transform import Rotation

from bough.describe.part import depth_first

FREE, BALL, SLIDE, HINGE = (int(getattr(mujoco.mjtJoint, f"mjJNT_{kind}")) for kind in ("FREE", "BALL", "SLIDE", "HINGE"))
EQUALITIES = {"spherical": mujoco.mjtEq.mjEQ_CONNECT, "weld": mujoco.mjtEq.mjEQ_WELD}
HARDEST = 0.9999                                                         # mjMAXIMP: R = (1 - HARDEST)/HARDEST

SIZES = {FREE: (7, 6), BALL: (4, 3), SLIDE: (1, 1), HINGE: (1, 1)}      # numbers in q and in v


def wxyz(quaternion):
    return np.roll(quaternion, 1)


class Mujoco:
    def __init__(self, system):
        self.system = system
        spec = mujoco.MjSpec()
        spec.compiler.degree = False
        spec.compiler.autolimits = False
        spec.option.gravity = system.gravity
        spec.option.disableflags = (mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_LIMIT
                                    | (0 if system.loops else mujoco.mjtDisableBit.mjDSBL_CONSTRAINT))
        spec.option.enableflags = mujoco.mjtEnableBit.mjENBL_ENERGY
        made = {None: spec.worldbody}
        for body in depth_first(system):
            made[body.name] = self.add_body(made[body.parent], body)
        for name, loop in system.loops.items():
            self.add_loop(spec, name, loop)
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)
        names = [f"{body.name}/{i}" for body in system.bodies.values() for i in range(len(self.joints_of(body)))]
        self.joints = [self.model.joint(name) for name in names]

    @staticmethod
    def joints_of(body):
        """MuJoCo's kind and axis of each motion of a joint."""
        turns = [] if body.joint.rotations == "spherical" else body.joint.rotations
        kinds = [(SLIDE, axis) for axis in body.joint.translations] + [(HINGE, axis) for axis in turns]
        return kinds + [(BALL, (0, 0, 1))]*(body.joint.rotations == "spherical")

    def add_body(self, parent, body):
        new = parent.add_body(name=body.name, pos=body.at, quat=wxyz(body.orient))
        if body.mass:
            moments, axes = np.linalg.eigh(np.array(body.inertia))
            axes[:, 2] *= np.linalg.det(axes)
            new.explicitinertial = True
            new.mass, new.ipos, new.inertia = body.mass, body.com, moments
            new.iquat = wxyz(Rotation.from_matrix(axes).as_quat())
        for i, (kind, axis) in enumerate(self.joints_of(body)):
            new.add_joint(name=f"{body.name}/{i}", type=mujoco.mjtJoint(kind), axis=axis, pos=(0, 0, 0), armature=0, damping=0,
                          stiffness=0)
        return new

    @staticmethod
    def add_loop(spec, name, loop):
        """An equality of two sites, as hard as MuJoCo allows and without stabilization: it holds accelerations only."""
        if loop.joint.kind not in EQUALITIES:
            raise NotImplementedError(f"loop '{name}': MuJoCo closes loops by {' and '.join(EQUALITIES)} joints, not by a "
                                      f"{loop.joint.kind} one")
        for side in ("a", "b"):
            frame = getattr(loop, side)
            carrier = spec.worldbody if frame.body == "world" else spec.body(frame.body)
            carrier.add_site(name=f"{name}/{side}", pos=frame.at, quat=wxyz(frame.orient))
        equality = spec.add_equality(name=name, type=EQUALITIES[loop.joint.kind], objtype=mujoco.mjtObj.mjOBJ_SITE,
                                     name1=f"{name}/a", name2=f"{name}/b")
        equality.solref, equality.solimp = (0, 0), (HARDEST, HARDEST, 1, 0.5, 1)
        equality.data[10] = 1.0                                          # a weld's torque scale

    # ---- the same numbers in MuJoCo's order --------------------------------------------------------------------
    @property
    def iv(self):
        return [i for j in self.joints for i in range(j.dofadr[0], j.dofadr[0] + SIZES[int(j.type[0])][1])]

    def put(self, q, v=None, tau=None):
        """State and joint torques."""
        mujoco.mj_resetData(self.model, self.data)
        at = 0
        for joint in self.joints:
            n = SIZES[int(joint.type[0])][0]
            given = np.array(q[at:at + n])
            if n >= 4:
                given[-4:] = wxyz(given[-4:])
            self.data.qpos[joint.qposadr[0]:joint.qposadr[0] + n] = given
            at += n
        if v is not None:
            self.data.qvel[self.iv] = v
        if tau is not None:
            self.data.qfrc_applied[self.iv] = tau
        mujoco.mj_forward(self.model, self.data)

    # ---- answers -----------------------------------------------------------------------------------------------
    def forward_dynamics(self, q, v, tau):
        self.put(q, v, tau)
        return self.data.qacc[self.iv].copy()


class MujocoLoop(Mujoco):
    """Steps of MuJoCo's RK4 from one state, by its own C loop; a free joint on the world is MuJoCo's own."""

    def __init__(self, system, q, v, dt, steps):
        super().__init__(system)
        self.model.opt.integrator, self.model.opt.timestep = mujoco.mjtIntegrator.mjINT_RK4, dt
        self.model.opt.enableflags, self.steps = 0, steps
        self.put(q, v)
        self.start = self.data.qpos.copy(), self.data.qvel.copy()

    @staticmethod
    def joints_of(body):
        free = body.parent is None and body.joint.kind == "free"
        return [(FREE, (0, 0, 1))] if free else Mujoco.joints_of(body)

    def run(self):
        self.data.qpos[:], self.data.qvel[:] = self.start
        mujoco.mj_step(self.model, self.data, self.steps)

    def single_step(self):
        """A step from Python, as a user takes it."""
        model, data, step = self.model, self.data, mujoco.mj_step
        return lambda: step(model, data)


class MujocoForward(MujocoLoop):
    """mj_forward of many states, for timing, each a call from Python; accelerations that satisfy the loops as hard as MuJoCo can.

    Of its solvers Newton's is the fastest here (one iteration), and a dense Jacobian is faster than a sparse one."""

    def __init__(self, system, q, v, tau):
        Mujoco.__init__(self, system)
        self.model.opt.enableflags, self.model.opt.solver = 0, mujoco.mjtSolver.mjSOL_NEWTON
        self.model.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
        self.states = []
        for row in zip(q, v, tau, strict=True):
            self.put(*row)
            self.states.append([part.copy() for part in (self.data.qpos, self.data.qvel, self.data.qfrc_applied)])

    def run(self):
        for qpos, qvel, force in self.states:
            self.data.qpos[:], self.data.qvel[:], self.data.qfrc_applied[:] = qpos, qvel, force
            mujoco.mj_forward(self.model, self.data)

    def accelerations(self):
        """(states, nv) in our order."""
        found, states = [], self.states
        for state in states:
            self.states = [state]
            self.run()
            found.append(self.data.qacc[self.iv].copy())
        self.states = states
        return np.array(found)

    def single_calls(self, hand, last):
        """{call: function} of the first state, for timing: MuJoCo's own functions, with nothing around them.  What needs positions
        computes them; mj_forward takes collisions and constraints into account, of which there are none."""
        model, data, hand, last = self.model, self.data, self.model.body(hand).id, self.model.body(last).id
        data.qpos[:], data.qvel[:], data.qfrc_applied[:] = self.states[0]
        J, turns = np.zeros((3, model.nv)), np.zeros((3, model.nv))

        def jacobian(body):
            mujoco.mj_kinematics(model, data)
            mujoco.mj_comPos(model, data)
            mujoco.mj_jacBody(model, data, J, turns, body)

        return {"forward dynamics": lambda: mujoco.mj_forward(model, data),
                "inverse dynamics": lambda: mujoco.mj_inverse(model, data),
                "all poses": lambda: mujoco.mj_kinematics(model, data), "Jacobian of a hand": lambda: jacobian(hand),
                "Jacobian of the last body": lambda: jacobian(last)}


class MujocoEnvironments(MujocoLoop):
    """Many states of one model as a loop over environments has them: each its own MjData, stepped and read from Python."""

    def __init__(self, system, q, v, dt, steps):
        super().__init__(system, q[0], v[0], dt, steps)
        self.all, self.observed = [], np.zeros((len(q), self.model.nq + self.model.nv))
        for row in zip(q, v, strict=True):
            self.put(*row)
            self.all.append(mujoco.MjData(self.model))
            self.all[-1].qpos[:], self.all[-1].qvel[:] = self.data.qpos, self.data.qvel
        self.order = np.argsort(self.iv[6:])                             # MuJoCo's joints in our order
        self.angles = [joint.qposadr[0] for joint in self.joints[1:]]

    def step(self, actions):
        """Torques of all joints but the free one, in our order; coordinates and speeds after the steps, in MuJoCo's."""
        nq = self.model.nq
        for data, torque, observed in zip(self.all, actions[:, self.order], self.observed, strict=True):
            data.qfrc_applied[6:] = torque
            mujoco.mj_step(self.model, data, self.steps)
            observed[:nq], observed[nq:] = data.qpos, data.qvel
        return self.observed
