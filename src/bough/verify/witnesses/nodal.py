"""A brute-force oracle for trees of flexible bodies: Kane's equations summed over every mass point.

It knows nothing of modal integrals or of recursions on inertias. Outward through the tree it carries, for each frame, the exact
Jacobian with respect to all speeds and the acceleration that remains when all speeds are constant; every mass point
then adds its mass, its inertia and its bias. All vectors are in world axes.

q of a body: translations, angles of a body-fixed sequence (or a quaternion [x, y, z, w]), modal coordinates.
v of a body: translation rates, angle rates (or the relative angular velocity in the child's axes), modal rates.
"""

from dataclasses import dataclass, field

import numpy as np
from scipy.spatial.transform import Rotation

from bough.flex.integrals import MassPoints
from bough.verify.witnesses.maximal import skew


def turn(vector):
    return Rotation.from_rotvec(vector).as_matrix()


QUADRATURE = tuple(np.array(each) / 2 + shift for each, shift in zip(np.polynomial.legendre.leggauss(12), (0.5, 0), strict=True))


def rate_map(theta):
    """J with omega = J theta' for exp(theta~): the integral of exp(s theta~) over s from 0 to 1."""
    s, w = QUADRATURE
    return np.einsum("k,kij->ij", w, turn(np.outer(s, theta)))


def rate_map_rate(theta, rate):
    """J' theta', by the derivative of the same integral: that of s (J(s theta) theta') x (exp(s theta~) theta')."""
    s, w = QUADRATURE
    inner = np.einsum("l,klij,j->ki", w, turn(np.outer(np.outer(s, s), theta)).reshape(len(s), len(s), 3, 3), rate)
    return (w * s) @ np.cross(inner, turn(np.outer(s, theta)) @ rate)


@dataclass
class Node:
    """A place on a flexible body: position (3,), phi and psi (3, n); bends (6, n, n) makes (psi, phi) eta second order."""

    position: np.ndarray
    phi: np.ndarray
    psi: np.ndarray
    bends: np.ndarray | None = None

    def at(self, eta):
        """Rotation vector, displacement, and their derivatives (3, n) and (3, n) by eta."""
        theta, u, psi, phi = self.psi @ eta, self.phi @ eta, self.psi, self.phi
        if self.bends is not None:
            curve = self.bends @ eta
            theta, u = theta + curve[:3] @ eta / 2, u + curve[3:] @ eta / 2
            psi, phi = psi + curve[:3], phi + curve[3:]
        return theta, u, psi, phi

    def curve(self, rate):
        """Second derivatives of rotation vector and displacement at constant rates."""
        return np.zeros((2, 3)) if self.bends is None else (self.bends @ rate @ rate).reshape(2, 3)


@dataclass
class TreeBody:
    """A body and the joint that carries it. Parents come before their children; parent -1 is the world."""

    points: MassPoints
    parent: int = -1
    at_node: Node | None = None  # the parent's node that carries the joint; None: the parent's body frame
    at: np.ndarray = field(default_factory=lambda: np.zeros(3))  # from that node to the joint, in the node's frame
    orient: np.ndarray = field(default_factory=lambda: np.eye(3))  # the joint's axes in the node's frame
    translations: tuple = ()  # axes in the joint's frame on the parent's side
    rotations: tuple | str = ()  # axes of a body-fixed sequence, or "spherical"
    inboard: Node | None = None  # the own node that the joint holds; None: the body frame itself
    hold: np.ndarray = field(default_factory=lambda: np.zeros(3))  # r_C: from that node to the joint, in the node's frame
    K: np.ndarray | None = None
    D: np.ndarray | None = None
    rest: np.ndarray | float = 0.0  # modal coordinates without stress
    point_bends: np.ndarray | None = None  # (N, 3, n, n): the points move by phi eta + eta^T bends eta/2
    linearized: bool = False  # ruthlessly: mass matrix and bias of the undeformed body, places of undeformed nodes

    @property
    def n_modes(self):
        return self.points.n_modes

    @property
    def n_rotations(self):
        return 3 if self.rotations == "spherical" else len(self.rotations)

    @property
    def nv(self):
        return len(self.translations) + self.n_rotations + self.n_modes

    @property
    def nq(self):
        return self.nv + (self.rotations == "spherical")


@dataclass
class Moving:
    """A frame in motion: pose, velocities, their Jacobians (3, nv), and accelerations at constant speeds."""

    R: np.ndarray
    r: np.ndarray
    w: np.ndarray
    v: np.ndarray
    Jw: np.ndarray
    Jv: np.ndarray
    aw: np.ndarray
    av: np.ndarray


class NodalOracle:
    """The equations of motion of a tree at one state: M v' = Q."""

    def __init__(self, bodies, q, v, *, gravity=(0, 0, 0)):
        self.bodies, self.q, self.v = bodies, np.asarray(q, float), np.asarray(v, float)
        self.first_q = np.cumsum([0, *(b.nq for b in bodies)])
        self.first_v = np.cumsum([0, *(b.nv for b in bodies)])
        self.nv = int(self.first_v[-1])
        self.gravity = np.asarray(gravity, float)
        self.frames = []
        for index in range(len(bodies)):
            self.frames.append(self._frame(index))

    def forward_dynamics(self, tau=None, **loads):
        """The rates of all speeds."""
        return np.linalg.solve(self.mass_matrix(), self.forces(tau, **loads))

    def mass_matrix(self):
        total = np.zeros((self.nv, self.nv))
        for mass, inertia, point in self._points():
            total += mass * point.Jv.T @ point.Jv + point.Jw.T @ inertia @ point.Jw
        return total

    def forces(self, tau=None):
        """Applied generalized forces less what velocities ask for."""
        total = np.zeros(self.nv) if tau is None else np.array(tau, float)
        for mass, inertia, point in self._points():
            couple = inertia @ point.aw + np.cross(point.w, inertia @ point.w)
            total -= point.Jv.T @ (mass * (point.av - self.gravity)) + point.Jw.T @ couple
        for index, body in enumerate(self.bodies):
            eta, rate, columns = self._modal(index)
            total[columns] -= (0 if body.K is None else body.K @ (eta - body.rest)) + (0 if body.D is None else body.D @ rate)
        return total

    def kinetic_energy(self):
        return self.v @ self.mass_matrix() @ self.v / 2

    def _modal(self, index):
        body = self.bodies[index]
        n, end_q, end_v = body.n_modes, self.first_q[index + 1], self.first_v[index + 1]
        return self.q[end_q - n : end_q], self.v[end_v - n : end_v], slice(end_v - n, end_v)

    def _frame(self, index):
        body = self.bodies[index]
        if body.parent < 0:
            zero, none = np.zeros(3), np.zeros((3, self.nv))
            base = Moving(np.eye(3), zero, zero, zero, none, none, zero, zero)
        elif body.at_node is None:
            base = self.frames[body.parent]
        else:
            base = self._at_node(body.parent, body.at_node)
        return self._behind_inboard_node(index, self._across_joint(index, base))

    def _at_node(self, index, node):
        """The frame of a node of a deformed body."""
        frame, (eta, rate, columns) = self.frames[index], self._modal(index)
        theta, u, psi, phi = node.at(eta)
        bent_turn, bent = node.curve(rate)
        bias = frame.R @ (rate_map_rate(theta, psi @ rate) + rate_map(theta) @ bent_turn)
        if self.bodies[index].linearized:
            u = np.zeros(3)
        arm, phi, psi = frame.R @ (node.position + u), frame.R @ phi, frame.R @ rate_map(theta) @ psi
        moved = carried(frame, arm)
        moved.R = frame.R @ turn(theta)
        moved.w = frame.w + psi @ rate
        moved.v = moved.v + phi @ rate
        moved.Jw[:, columns] += psi
        moved.Jv[:, columns] += phi
        moved.aw = frame.aw + np.cross(frame.w, psi @ rate) + bias
        moved.av = moved.av + 2 * np.cross(frame.w, phi @ rate) + frame.R @ bent
        return moved

    def _across_joint(self, index, base):
        """The joint's frame on the child's side."""
        body, q, v = self.bodies[index], self.first_q[index], self.first_v[index]
        slides = len(body.translations)
        axes = base.R @ body.orient @ np.reshape(body.translations, (-1, 3)).T  # (3, slides)
        slide, speed = self.q[q : q + slides], self.v[v : v + slides]
        child = carried(base, base.R @ body.at + axes @ slide)
        child.v = child.v + axes @ speed
        child.Jv[:, v : v + slides] += axes
        child.av = child.av + 2 * np.cross(base.w, axes @ speed)
        child.R = base.R @ body.orient
        if body.rotations == "spherical":
            self._turn_freely(child, q + slides, v + slides)
        else:
            for k, axis in enumerate(body.rotations):
                self._turn_about(child, np.asarray(axis, float), q + slides + k, v + slides + k)
        return child

    def _turn_about(self, child, axis, q, v):
        direction, rate = child.R @ axis, self.v[v]
        child.aw = child.aw + np.cross(child.w, direction) * rate
        child.w = child.w + direction * rate
        child.Jw[:, v] += direction
        child.R = child.R @ turn(axis * self.q[q])

    def _turn_freely(self, child, q, v):
        child.R = child.R @ Rotation.from_quat(self.q[q : q + 4]).as_matrix()
        relative = child.R @ self.v[v : v + 3]
        child.aw = child.aw + np.cross(child.w, relative)
        child.w = child.w + relative
        child.Jw[:, v : v + 3] += child.R

    def _behind_inboard_node(self, index, joint):
        """The body frame, seen from the joint that holds the inboard node."""
        body, (eta, rate, columns) = self.bodies[index], self._modal(index)
        node = carried(joint, -joint.R @ body.hold)
        if body.inboard is None:
            return node
        inboard = body.inboard
        theta = inboard.psi @ eta
        R = joint.R @ turn(theta).T
        u = np.zeros(3) if body.linearized else inboard.phi @ eta
        phi, psi, arm = R @ inboard.phi, R @ rate_map(theta) @ inboard.psi, R @ (inboard.position + u)
        w, aw, Jw = node.w - psi @ rate, node.aw.copy(), node.Jw.copy()
        aw = aw - np.cross(w, psi @ rate) - R @ rate_map_rate(theta, inboard.psi @ rate)
        Jw[:, columns] -= psi
        Jv = node.Jv + skew(arm) @ Jw
        Jv[:, columns] -= phi
        v = node.v - np.cross(w, arm) - phi @ rate
        av = node.av - np.cross(aw, arm) - np.cross(w, np.cross(w, arm)) - 2 * np.cross(w, phi @ rate)
        return Moving(R, node.r - arm, w, v, Jw, Jv, aw, av)

    def _points(self):
        for index in range(len(self.bodies)):
            yield from self._points_of(index)

    def _points_of(self, index):
        body = self.bodies[index]
        points, n = body.points, body.n_modes
        for k, mass in enumerate(points.mass):
            shape = points.phi[k] + np.cross(points.psi[k], points.offset[k][:, None], axis=0)  # of its mass center
            bends = None if body.point_bends is None else np.concatenate([np.zeros((3, n, n)), body.point_bends[k]])
            node = Node(points.position[k] + points.offset[k], shape, points.psi[k], bends)
            place = self._at_rest(index, node) if body.linearized else self._at_node(index, node)
            yield mass, place.R @ points.inertia[k] @ place.R.T, place

    def _at_rest(self, index, node):
        """A place of the undeformed body that the modes' rates move, but whose bias they do not change."""
        frame, (_, _, columns) = self.frames[index], self._modal(index)
        moved = carried(frame, frame.R @ node.position)
        moved.Jw[:, columns] += frame.R @ node.psi
        moved.Jv[:, columns] += frame.R @ node.phi
        return moved


def carried(frame, arm):
    """A point that moves rigidly with a frame, at an arm in world axes."""
    w = frame.w
    return Moving(R=frame.R, r=frame.r + arm, w=w, v=frame.v + np.cross(w, arm), Jw=frame.Jw.copy(),
                  Jv=frame.Jv - skew(arm) @ frame.Jw, aw=frame.aw,
                  av=frame.av + np.cross(frame.aw, arm) + np.cross(w, np.cross(w, arm)))
