"""What tests ask of MuJoCo beyond forward dynamics: wrenches, loops, mass matrix, kinematics, energy."""
import mujoco
import numpy as np

from bough.peers import mujoco as peer
from bough.peers.mujoco import HARDEST


def expressible(system):
    """MuJoCo wants mass on every body that moves (welds below it count), and at most one ball in a body, last."""
    def massive(name):
        body = system.bodies[name]
        return body.mass > 0 or any(massive(b.name) for b in system.bodies.values() if b.parent == name and not b.joint.n_v)
    return all(massive(body.name) for body in system.bodies.values() if body.joint.n_v)


class Mujoco(peer.Mujoco):
    def put(self, q, v=None, tau=None, wrenches=None):
        """State, joint torques and world-axes wrenches {body: [moment, force] about its origin}."""
        super().put(q, v, tau)
        for name, wrench in (wrenches or {}).items():
            k, target = self.model.body(name).id, np.zeros(self.model.nv)
            mujoco.mj_applyFT(self.model, self.data, np.array(wrench[3:]), np.array(wrench[:3]), self.data.xpos[k], k, target)
            self.data.qfrc_applied += target
        mujoco.mj_forward(self.model, self.data)

    def forward_dynamics(self, q, v, tau, wrenches=None):
        self.put(q, v, tau, wrenches)
        return self.data.qacc[self.iv].copy()

    def closed_dynamics(self, q, v, tau, wrenches=None):
        """Accelerations that satisfy the loops: those under 1 to 4 times the least compliance, extrapolated to none."""
        found, least = 0.0, (1 - HARDEST)/HARDEST
        for times, weight in ((1, 4.0), (2, -6.0), (3, 4.0), (4, -1.0)):
            self.model.eq_solimp[:, :2] = 1/(1 + times*least)
            found = found + weight*self.forward_dynamics(q, v, tau, wrenches)
        self.model.eq_solimp[:, :2] = HARDEST
        return found

    def mass_matrix(self, q):
        """Column by column: mj_fullM's arguments differ between releases, mj_mulM's do not."""
        self.put(q)
        M = np.zeros((self.model.nv, self.model.nv))
        for row, unit in zip(M, np.eye(self.model.nv), strict=True):
            mujoco.mj_mulM(self.model, self.data, row, unit)
        return M[np.ix_(self.iv, self.iv)]

    def bias(self, q, v):
        self.put(q, v)
        return self.data.qfrc_bias[self.iv].copy()

    def energies(self, q, v):
        """Kinetic and potential energy."""
        self.put(q, v)
        return self.data.energy[1], self.data.energy[0]

    def pose(self, q, body):
        self.put(q)
        found = self.data.body(body)
        return found.xpos.copy(), found.xmat.reshape(3, 3).copy()

    def velocity(self, q, v, body):
        """[angular, linear] of a body's origin, world axes."""
        self.put(q, v)
        out = np.zeros(6)
        mujoco.mj_objectVelocity(self.model, self.data, mujoco.mjtObj.mjOBJ_XBODY, self.model.body(body).id, out, 0)
        return out
