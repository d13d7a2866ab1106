"""Real robots, on fixed and floating bases, against Pinocchio's own reader of URDF files."""

import numpy as np
import pytest

import bough
from tests.support.compare import assert_same, solving
from tests.support.robots import robot_file
from tests.support.tolerance import CANCELLING, summed

ROBOTS = [
    "talos_data/robots/talos_full_v2",                          # humanoids
    "g1_description/urdf/g1_29dof_with_hand_rev_1_0",
    "romeo_description/urdf/romeo_small",
    "simple_humanoid_description/urdf/simple_humanoid",
    "human_description/robots/human",
    "alex_description/urdf/alex_psyonic_hands",                 # with followers
    "anymal_c_simple_description/urdf/anymal",                  # legs
    "solo_description/robots/solo12",
    "pr2_description/urdf/pr2",                                 # wheels and arms, continuous joints
    "tiago_pro_description/robots/tiago_pro",
    "panda_description/urdf/panda",                             # an arm, prismatic fingers
    "double_pendulum_description/urdf/double_pendulum_continuous",
    "ur_description/urdf/ur5_robot",                            # its root is the world
]


class Peer:
    """Pinocchio's model of a file, its coordinates found by the names of joints: v_peer = T v, a_peer = T a + c."""

    def __init__(self, file, system, rng):
        self.pin = pytest.importorskip("pinocchio")
        floating = next(iter(system.bodies.values())).joint.kind == "free"
        build = self.pin.buildModelFromUrdf
        self.model = build(str(file), self.pin.JointModelFreeFlyer()) if floating else build(str(file))
        self.data = self.model.createData()
        joints = [body.joint for body in system.bodies.values() if body.joint.n_v]
        n = sum(joint.n_v for joint in joints)
        assert self.model.nv == n
        self.q, self.v, self.T, self.c = self.pin.neutral(self.model), rng.standard_normal(n), np.zeros((n, n)), np.zeros(n)
        self.ours = np.concatenate([self._place(joint, at, rng) for joint, at in zip(joints, self._starts(joints), strict=True)])
        self.damping = np.concatenate([joint.damping or np.zeros(joint.n_v) for joint in joints])

    @staticmethod
    def _starts(joints):
        return np.cumsum([0, *(joint.n_v for joint in joints[:-1])])

    def _place(self, joint, at, rng):
        """Coordinates of one joint, ours; the peer's are set. Its free joint has velocities in the child's axes."""
        peer = self.model.joints[self.model.getJointId(joint.name or "root_joint")]
        rows = slice(peer.idx_v, peer.idx_v + peer.nv)
        if joint.kind == "free":
            turn = rng.standard_normal(4)
            q = np.concatenate([rng.uniform(-1, 1, 3), turn / np.linalg.norm(turn)])
            R = self.pin.Quaternion(q[3:]).matrix()
            self.q[peer.idx_q : peer.idx_q + 7] = q
            self.T[rows, at : at + 6] = np.block([[R.T, np.zeros((3, 3))], [np.zeros((3, 3)), np.eye(3)]])
            self.c[rows][:3] = -np.cross(self.v[at + 3 : at + 6], R.T @ self.v[at : at + 3])
            return q
        [angle] = q = rng.uniform(-1, 1, 1)
        self.q[peer.idx_q : peer.idx_q + peer.nq] = (np.cos(angle), np.sin(angle)) if peer.nq == 2 else angle
        self.T[peer.idx_v, at] = 1.0
        return q

    def mass_matrix(self):
        upper = np.triu(self.pin.crba(self.model, self.data, self.q))
        return self.T.T @ (upper + np.triu(upper, 1).T) @ self.T

    def inverse_dynamics(self, a):
        return self.T.T @ self.pin.rnea(self.model, self.data, self.q, self.T @ self.v, self.T @ a + self.c) + self.damping * self.v

    def forward_dynamics(self, tau):
        pushed = np.linalg.solve(self.T.T, tau - self.damping * self.v)             # its joints have no dampers
        return np.linalg.solve(self.T, self.pin.aba(self.model, self.data, self.q, self.T @ self.v, pushed) - self.c)


@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("name", ROBOTS)
def test_dynamics_are_pinocchios(name, base):
    file, rng = robot_file(name), np.random.default_rng(1)
    if base == "floating" and name.startswith("ur_"):
        pytest.skip("the world does not float")
    s = bough.load_urdf(file, base="free" if base == "floating" else None, mimic="free")
    model, peer = s.compile(), Peer(file, s, rng)
    M, (a, tau) = peer.mass_matrix(), rng.standard_normal((2, model.nv))
    assert_same(model.mass_matrix(peer.ours), M, CANCELLING)
    assert_same(model.inverse_dynamics(peer.ours, peer.v, a), peer.inverse_dynamics(a), CANCELLING)
    assert_same(model.forward_dynamics(peer.ours, peer.v, tau), peer.forward_dynamics(tau), 2*solving(M))
    moving = sum(body.mass for body in s.bodies.values() if not stands(s, body))
    assert moving == pytest.approx(sum(inertia.mass for inertia in list(peer.model.inertias)[1:]), rel=summed(len(s.bodies)))


@pytest.mark.parametrize("name", ["pr2_description/urdf/pr2", "tiago_pro_description/robots/tiago_pro",
                                  "panda_description/urdf/panda"])
def test_followers_move_as_pinocchios(name):
    """Pinocchio's mimic joints have no coordinates of their own: accelerations of the others under gravity, torques and dampers."""
    file, rng = robot_file(name), np.random.default_rng(1)
    pin = pytest.importorskip("pinocchio")
    theirs, s = pin.buildModelFromUrdf(str(file), mimic=True), bough.load_urdf(file)
    model, names = s.compile(), [body.joint.name for body in s.bodies.values() if body.joint.n_v]
    followers = {coupling.relation.joint for coupling in s.couplings.values()}
    leaders = [i for i, each in enumerate(names) if each not in followers]
    assert followers
    assert theirs.nv == len(leaders) == model.freedom().degrees
    q, v, N = rng.uniform(-0.5, 0.5, model.nq), rng.standard_normal(model.nv), np.eye(model.nv)
    for coupling in s.couplings.values():
        of, factor = names.index(coupling.relation.of), coupling.relation.multiplier
        i = names.index(coupling.relation.joint)
        q[i], v[i], N[i] = factor * q[of] + coupling.relation.offset, factor * v[of], factor * N[of]
    N = N[:, leaders]
    q_pin, rows = pin.neutral(theirs), []
    for i in leaders:
        peer = theirs.joints[theirs.getJointId(names[i])]
        q_pin[peer.idx_q : peer.idx_q + peer.nq] = (np.cos(q[i]), np.sin(q[i])) if peer.nq == 2 else q[i]
        rows.append(peer.idx_v)
    v_pin = np.zeros(theirs.nv)
    v_pin[rows] = v[leaders]
    tau = rng.standard_normal(model.nv)
    damping = np.concatenate([body.joint.damping or np.zeros(body.joint.n_v) for body in s.bodies.values()])
    data = theirs.createData()                                  # crba adds to what it finds there
    upper, h = np.triu(pin.crba(theirs, data, q_pin)), pin.rnea(theirs, data, q_pin, v_pin, 0 * v_pin)
    M = (upper + np.triu(upper, 1).T)[np.ix_(rows, rows)]
    a = np.linalg.solve(M, N.T @ (tau - damping * v) - h[rows])
    assert_same(model.forward_dynamics(q, v, tau)[leaders], a, 2*solving(M))


def stands(system, body):
    """Whether nothing moves it: Pinocchio's universe."""
    while body.joint.n_v == 0:
        if body.parent is None:
            return True
        body = system.bodies[body.parent]
    return False


def test_repaired_inertias_of_rounding_size_change_nothing():
    """Moments of -1e-20 kg m^2 in iCub's file."""
    file, rng = robot_file("icub_description/robots/icub_reduced"), np.random.default_rng(1)
    s = bough.load_urdf(file, inertias="repair", base="free")
    model, peer = s.compile(), Peer(file, s, rng)
    assert_same(model.mass_matrix(peer.ours), peer.mass_matrix(), CANCELLING)


def test_a_joint_that_moves_nothing_is_told():
    with pytest.raises(bough.ModelError, match="joint 'RThumb3': the articulated inertia along its motion is 0"):
        bough.load_urdf(robot_file("romeo_description/urdf/romeo")).compile()


def test_meshes_are_drawn_from_a_saved_result(tmp_path):
    """Collada files found by package:// addresses: the hand is some 20 cm wide, and its triangles go with the result."""
    s = bough.load_urdf(robot_file("panda_description/urdf/panda"))
    saved = bough.simulate(s, until=0.01, dt=1e-3).save(tmp_path / "panda.nc")
    [hand] = bough.open_result(saved).system.bodies["panda_hand"].shapes
    assert hand.npz is not None
    assert 0.15 < np.ptp(hand.triangles()[0], axis=0).max() < 0.25


def test_stops_keep_an_arm_in_its_ranges():
    """It drops from the middle of its ranges: without stops it leaves them by whole turns, with them by some degrees."""
    left = {}
    for limits in ("ignore", "stops"):
        s = bough.load_urdf(robot_file("panda_description/urdf/panda"), limits=limits)
        stops = bough.load_urdf(robot_file("panda_description/urdf/panda"), limits="stops").stops.values()
        middle = [np.mean([stop.limit for stop in stops if stop.coordinate == name]) for name in s.compile().names.q]
        q = bough.simulate(s, q0=middle, until=1.0, dt=1e-3, record=["state"]).data.q
        left[limits] = max(float((stop.side * (q.sel(q_name=stop.coordinate) - stop.limit)).max()) for stop in stops)
    assert left["ignore"] > 1.0
    assert left["stops"] < np.radians(5)
