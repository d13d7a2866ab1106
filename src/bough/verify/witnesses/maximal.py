"""An independent witness for closed loops: every body has six coordinates, every joint of the tree and every loop is a constraint.

Newton and Euler for each body with Lagrange multipliers for all joints, solved densely. Constraints are written at position level
only; their rates, Jacobians and accelerations come from jets: a value with its first two derivatives in time, multiplied by
Leibniz's rule. Nothing of bough is used but the description.

    poses       {body: (position of the body frame's origin, rotation matrix)}, world axes
    velocities  {body: [omega, velocity of the origin]}; accelerations {body: [omega', acceleration of the material origin]}

A loop's directions are orthonormal at frame b's origin: the least norm of multipliers is that of the wrenches [moment, force] on b.
"""
from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

RANK = 1e-9                         # singular values below this share of the largest count as zero
WORLD = (None, "world")


def skew(a):
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def vee(A):
    """The vector of a matrix's antisymmetric part."""
    return np.array([A[2, 1] - A[1, 2], A[0, 2] - A[2, 0], A[1, 0] - A[0, 1]])/2


# ---- jets ------------------------------------------------------------------------------------------------------------------
class Jet:
    """A vector or matrix with its first and second time derivatives."""

    __array_ufunc__ = None          # array @ jet is ours, not NumPy's

    def __init__(self, value, rate=None, second=None):
        self.value = np.asarray(value, float)
        self.rate, self.second = (np.zeros_like(self.value) if d is None else d for d in (rate, second))

    def __iter__(self):
        return iter((self.value, self.rate, self.second))

    def __add__(self, other):
        return Jet(*(a + b for a, b in zip(self, jet(other), strict=True)))

    def __sub__(self, other):
        return Jet(*(a - b for a, b in zip(self, jet(other), strict=True)))

    def __matmul__(self, other):
        (f, f1, f2), (g, g1, g2) = self, jet(other)
        return Jet(f @ g, f1 @ g + f @ g1, f2 @ g + 2*(f1 @ g1) + f @ g2)

    def __rmatmul__(self, other):
        return jet(other) @ self

    def each(self, linear):
        """A linear function of it."""
        return Jet(*(linear(d) for d in self))

    @property
    def T(self):
        return self.each(np.transpose)


def jet(given):
    return given if isinstance(given, Jet) else Jet(given)


class Place(NamedTuple):
    """A frame that moves: position and rotation matrix, world axes."""
    position: Jet
    rotation: Jet

    def on(self, at, orient):
        """A frame fixed in this one; `orient` is a quaternion."""
        return Place(self.position + self.rotation @ np.array(at), self.rotation @ quaternion_matrix(orient))

    @property
    def velocity(self):
        """[omega, v]: R' = omega~ R."""
        R, R1, _ = self.rotation
        return np.concatenate([vee(R1 @ R.T), self.position.rate])

    @property
    def acceleration(self):
        """[omega', a]: R'' = (omega'~ + omega~ omega~) R."""
        R, _, R2 = self.rotation
        return np.concatenate([vee(R2 @ R.T), self.position.second])


def quaternion_matrix(orient):
    return np.eye(3) if orient is None else Rotation.from_quat(np.array(orient)).as_matrix()


def place(pose, velocity=None, acceleration=None):
    """A body's frame as jets."""
    x, R = pose
    (w, v), (al, a) = (np.zeros((2, 3)) if given is None else np.reshape(given, (2, 3)) for given in (velocity, acceleration))
    return Place(Jet(x, v, a), Jet(R, skew(w) @ R, (skew(al) + skew(w) @ skew(w)) @ R))


def turn(axis, angle, rate, second):
    """Rot(axis, angle) as a jet."""
    K = skew(np.array(axis))
    R = np.eye(3) + np.sin(angle)*K + (1 - np.cos(angle))*(K @ K)
    return Jet(R, rate*K @ R, (second*K + rate**2*(K @ K)) @ R)


# ---- forward kinematics of the tree ------------------------------------------------------------------------------------------
def n_speeds(joint):
    return len(joint.translations) + (3 if joint.rotations == "spherical" else len(joint.rotations))


def entries(system):
    """Each body, and where its entries of q and of v are."""
    at_q, at_v = 0, 0
    for body in system.bodies.values():
        end_v = at_v + n_speeds(body.joint)
        end_q = at_q + end_v - at_v + (body.joint.rotations == "spherical")
        yield body, slice(at_q, end_q), slice(at_v, end_v)
        at_q, at_v = end_q, end_v


def places(system, q, v=None, a=None):
    """{body: Place} of the tree's bodies at joint coordinates q, speeds v and accelerations a; and of "world"."""
    n = sum(n_speeds(body.joint) for body in system.bodies.values())
    v, a = (np.zeros(n) if given is None else np.asarray(given, float) for given in (v, a))
    parts = {}
    for body, at_q, at_v in entries(system):
        if getattr(body, "flexible", None) is not None:
            raise NotImplementedError(f"body '{body.name}' is flexible; this witness knows rigid bodies only")
        parts[body.name] = np.asarray(q[at_q], float), v[at_v], a[at_v]
    found = {"world": Place(Jet(np.zeros(3)), Jet(np.eye(3)))}

    def find(name):
        if name not in found:
            body = system.bodies[name]
            found[name] = moved(find(body.parent or "world").on(body.at, body.orient), body.joint, *parts[name])
        return found[name]

    return {name: find(name) for name in ("world", *system.bodies)}


def moved(frame, joint, q, v, a):
    """The frame at the outboard side of a joint: translations along axes of the inboard frame, then rotations."""
    x, R = frame
    k = len(joint.translations)
    for axis, *coordinate in zip(joint.translations, q, v, a, strict=False):
        x = x + R @ Jet(*(np.array(axis)*c for c in coordinate))
    if joint.rotations == "spherical":                          # R' = R w~, w in the child's axes
        C, W, A = quaternion_matrix(q[k:]), skew(v[k:]), skew(a[k:])
        return Place(x, R @ Jet(C, C @ W, C @ (W @ W + A)))
    for axis, *coordinate in zip(joint.rotations, q[k:], v[k:], a[k:], strict=True):
        R = R @ turn(axis, *coordinate)
    return Place(x, R)


def motion(system, q, v, a=None):
    """Poses, velocities and accelerations of the bodies."""
    found = places(system, q, v, a)
    names = system.bodies
    return ({name: (found[name].position.value, found[name].rotation.value) for name in names},
            {name: found[name].velocity for name in names}, {name: found[name].acceleration for name in names})


def joint_state(joint, inboard, outboard):
    """q and v of a joint whose two sides are these places: the inverse of `moved`. Not for three rotations in sequence."""
    d, R = inboard.rotation.T @ (outboard.position - inboard.position), inboard.rotation.T @ outboard.rotation
    w = vee(R.rate @ R.value.T)                                 # relative angular velocity, in the inboard axes
    G = np.array(joint.translations).reshape(-1, 3).T
    q, v = (np.linalg.pinv(G) @ part for part in (d.value, d.rate))
    if joint.rotations == "spherical":
        return np.concatenate([q, Rotation.from_matrix(R.value).as_quat()]), np.concatenate([v, R.value.T @ w])
    if len(joint.rotations) > 2:
        raise NotImplementedError("three rotations in sequence")
    if joint.rotations:
        angles, columns = angles_of(R.value, *np.array(joint.rotations))
        q, v = np.concatenate([q, angles]), np.concatenate([v, np.linalg.pinv(columns) @ w])
    return q, v


def angles_of(R, first, second=None):
    """Angles of R = Rot(first) Rot(second), and the axes as they stand, in columns."""
    if second is None:
        across = np.linalg.svd(first[None])[2][1]
        turned = R @ across
        return [np.arctan2(first @ np.cross(across, turned), across @ turned)], first[:, None]
    one = angle_about(first, second, R @ second)                # Rot(first) second = R second
    rest = turn(first, one, 0, 0).value.T @ R
    return [one, angles_of(rest, second)[0][0]], np.column_stack([first, R @ second])


def angle_about(axis, start, end):
    """The angle about an axis that takes one vector to another."""
    start, end = (u - axis*(axis @ u) for u in (start, end))
    return np.arctan2(axis @ np.cross(start, end), start @ end)


def stand(poses, velocities=None, accelerations=None):
    """{body: Place}, the world too."""
    found = {name: place(poses[name], *(given[name] if given else None for given in (velocities, accelerations))) for name in poses}
    return {**found, "world": Place(Jet(np.zeros(3)), Jet(np.eye(3)))}


# ---- constraints, at position level -------------------------------------------------------------------------------------------
class Constraint(NamedTuple):
    """A joint of the tree or a loop: frame b sits on frame a as the joint allows; a frame is (body, at, orient)."""
    name: str
    joint: object
    a: tuple
    b: tuple

    def sides(self, stands):
        """The two frames."""
        return (stands[body].on(at, orient) for body, at, orient in (self.a, self.b))

    def residual(self, stands):
        return residual(self.joint, *self.sides(stands))


def tree_constraints(system):
    return [Constraint(name, body.joint, (body.parent or "world", body.at, body.orient), (name, np.zeros(3), None))
            for name, body in system.bodies.items()]


def loop_constraints(system):
    return [Constraint(name, loop.joint, *((f.body or "world", f.at, f.orient) for f in (loop.a, loop.b)))
            for name, loop in system.loops.items()]


def residual(joint, a, b):
    """The constraint residual at position level, translations and rotations, seen from frame a; a Jet (directions,).

    The gradients are orthonormal in [omega, v] of frame b's origin once the residual is zero."""
    d, R = a.rotation.T @ (b.position - a.position), a.rotation.T @ b.rotation
    if hasattr(joint, "length"):                                # two points at a distance: (d.d - l l) / 2 l
        return (d @ d - joint.length**2).each(lambda part: part[None]/(2*joint.length))
    rows = [complement(joint.translations) @ d]
    axes = np.eye(3) if joint.rotations == "spherical" else np.array(joint.rotations)
    if len(axes) == 0:                                          # weld: the vector part of R
        rows.append(R.each(vee))
    elif len(axes) == 1:                                        # revolute: the axis of b has nothing across the axis of a
        rows.append(complement(axes) @ (R @ axes[0]))
    elif len(axes) == 2:                                        # universal: the axes keep the angle between them
        cosine = axes[0] @ axes[1]
        rows.append((axes[0] @ (R @ axes[1]) - cosine).each(lambda part: part[None]/np.sqrt(1 - cosine**2)))
    return Jet(*(np.concatenate(parts) for parts in zip(*rows, strict=True)))


def complement(axes):
    """Orthonormal rows across the given axes."""
    axes = np.asarray(axes, float).reshape(-1, 3)
    return np.linalg.svd(axes)[2][len(axes):] if len(axes) else np.eye(3)


def gradients(constraint, poses):
    """J_a, J_b (directions, 6): the residual's rate by [omega, v] of the bodies' origins; the world counts as a body."""
    still = stand(poses)
    found = []
    for body in (constraint.a[0], constraint.b[0]):
        pose = poses.get(body, (np.zeros(3), np.eye(3)))
        found.append(np.array([constraint.residual({**still, body: place(pose, unit)}).rate for unit in np.eye(6)]).T)
    return found


def wrench_on_b(constraint, stands, Jb, multipliers):
    """[moment, force] of multipliers on frame b's body at frame b's origin, in frame b's axes."""
    body, b = stands[constraint.b[0]], tuple(constraint.sides(stands))[1]
    moment, force = np.reshape(Jb.T @ multipliers, (2, 3))
    moment = moment - np.cross(b.position.value - body.position.value, force)
    return np.concatenate([moment @ b.rotation.value, force @ b.rotation.value])


def spring_on_b(constraint, stands):
    """The wrench of the joint's motor, spring and damper, likewise."""
    if hasattr(constraint.joint, "length"):
        return np.zeros(6)
    a, b = constraint.sides(stands)
    wrench = joint_wrench(constraint.joint, a, b, np.zeros(n_speeds(constraint.joint)))
    return np.concatenate([wrench[:3] @ b.rotation.value, wrench[3:] @ b.rotation.value])


# ---- what bodies and joints need and exert --------------------------------------------------------------------------------------
def newton_euler(system, body, stands, wheels=None, wrench=None):
    """M, f of M [omega', a] = f + (wrenches of joints and loops), about the body's origin, world axes."""
    if not isinstance(system.gravity, tuple) or system.wrenches:
        raise NotImplementedError("this witness knows uniform gravity and no wrenches of the description")
    C, w = stands[body.name].rotation.value, stands[body.name].velocity[:3]
    c, J, h, motors = C @ body.com, C @ np.array(body.inertia) @ C.T, np.zeros(3), np.zeros(3)
    spin = J.copy()
    for wheel in system.wheels.values():
        if wheel.body == body.name:
            axis = C @ wheel.axis
            h = h + wheel.inertia*(wheels or {}).get(wheel.name, wheel.speed)*axis
            if wheel.torque is not None:                        # I_w (Omega' + axis.omega') = torque
                spin, motors = spin - wheel.inertia*np.outer(axis, axis), motors + wheel.torque*axis
    G, M = np.eye(6), np.zeros((6, 6))
    G[3:, :3] = -skew(c)                                        # [omega', a] of the origin -> of the mass center at c from it
    M[:3, :3], M[3:, 3:] = spin, body.mass*np.eye(3)
    euler = -np.cross(w, J @ w + h) - motors                    # I omega' + omega x (I omega + h) = n - motors
    newton = body.mass*(np.array(system.gravity) - np.cross(w, np.cross(w, c)))
    given = np.zeros(6) if wrench is None else np.concatenate([C @ wrench[:3], C @ wrench[3:]])
    return G.T @ M @ G, G.T @ np.concatenate([euler, newton]) + given


def joint_force(joint, q, v, tau):
    """tau + torque - stiffness (q - rest) - damping v."""
    n = n_speeds(joint)
    given = {key: np.zeros(n) if getattr(joint, key) is None else np.array(getattr(joint, key), float)
             for key in ("torque", "stiffness", "damping", "rest")}
    angles = np.append(q[:n - 3], np.zeros(3)) if joint.rotations == "spherical" else q      # a ball has no spring
    return tau + given["torque"] - given["stiffness"]*(angles - given["rest"]) - given["damping"]*v


def joint_wrench(joint, inboard, outboard, tau):
    """[moment, force] that motor, spring and damper put on the outboard body at the joint's outboard origin, world axes.

    Any wrench with the right power along the joint's motions will do: the constraints supply the rest."""
    if joint.rotations not in ("spherical", ()) and len(joint.rotations) > 2:
        if tau.any() or any(getattr(joint, key) is not None for key in ("torque", "stiffness", "damping")):
            raise NotImplementedError("forces along three rotations in sequence")
        return np.zeros(6)
    force = joint_force(joint, *joint_state(joint, inboard, outboard), tau)
    A, B, k = inboard.rotation.value, outboard.rotation.value, len(joint.translations)
    S = np.zeros((6, len(force)))
    S[3:, :k] = A @ np.array(joint.translations).reshape(-1, 3).T
    if joint.rotations == "spherical":
        S[:3, k:] = B
    elif joint.rotations:                                       # the first axis is fixed inboard, the last outboard
        axes = np.array(joint.rotations)
        S[:3, k], S[:3, -1] = A @ axes[0], B @ axes[-1]
    return np.linalg.pinv(S.T) @ force


# ---- the solution in maximal coordinates ----------------------------------------------------------------------------------------
class Solution(NamedTuple):
    accelerations: dict             # {body: [omega', acceleration of the origin]}, world axes
    wrenches: dict                  # {loop: [moment, force] on b at frame b, in its axes} of the held directions, of least norm
                                    #   together with the multipliers of the tree's joints
    springs: dict                   # {loop: wrench} of the motor, spring and damper in its free directions
    rows: int                       # constraint directions, of the tree and of the loops
    rank: int                       # how many of them are independent
    violation: float                # largest residual of position, and of velocity
    drift: float
    mismatch: float                 # of the linear equations, relative: large if the loops contradict each other


def solve(system, poses, velocities, tau=None, *, wheels=None, wrenches=None):
    """Accelerations and loop wrenches of bodies that stand and move like this; tau along the tree's speeds, in their order.

    `wheels` are speeds by name, `wrenches` {body: [moment, force] about its origin, in its axes}."""
    stands, order = stand(poses, velocities), {name: slice(6*i, 6*i + 6) for i, name in enumerate(system.bodies)}
    n = 6*len(order)
    M, f = np.zeros((n, n)), np.zeros(n)
    for name, at in order.items():
        M[at, at], f[at] = newton_euler(system, system.bodies[name], stands, wheels, (wrenches or {}).get(name))
    f += motors(system, stands, order, np.zeros(n) if tau is None else np.asarray(tau, float))
    J, bias, Jb, rows, size, drift = np.zeros((0, n)), [], {}, {}, 0.0, 0.0
    loops = loop_constraints(system)
    for i, constraint in enumerate(tree_constraints(system) + loops):
        now = constraint.residual(stands)
        block = np.zeros((len(now.value), n))
        for (body, *_), part in zip((constraint.a, constraint.b), gradients(constraint, poses), strict=True):
            if body in order:
                block[:, order[body]] += part
            Jb[i] = part
        rows[i] = slice(len(J), len(J) + len(block))
        J, bias = np.vstack([J, block]), np.append(bias, now.second)
        size, drift = max([size, *abs(now.value)]), max([drift, *abs(now.rate)])
    m = len(J)
    K, right = np.block([[M, -J.T], [J, np.zeros((m, m))]]), np.append(f, -bias)
    unknown = least_norm(K, right)
    found = {c.name: wrench_on_b(c, stands, Jb[i], unknown[n:][rows[i]]) for i, c in enumerate(loops, len(system.bodies))}
    springs = {c.name: spring_on_b(c, stands) for c in loops}
    return Solution({name: unknown[at] for name, at in order.items()}, found, springs, m, rank(J), size, drift,
                    np.abs(K @ unknown - right).max()/max(1e-300, np.abs(K).max()*np.abs(unknown).max()))


def exerted(constraint, stands, tau=None):
    """[(body, wrench about its origin, world axes)]: what a joint's motor, spring and damper do to the two bodies."""
    if hasattr(constraint.joint, "length"):
        return []
    inboard, outboard = constraint.sides(stands)
    wrench = joint_wrench(constraint.joint, inboard, outboard, np.zeros(n_speeds(constraint.joint)) if tau is None else tau)
    arms = {body: outboard.position.value - stands[body].position.value for body in (constraint.a[0], constraint.b[0])}
    return [(body, sign*(wrench + np.append(np.cross(arms[body], wrench[3:]), np.zeros(3))))
            for body, sign in ((constraint.b[0], 1.0), (constraint.a[0], -1.0)) if body != "world"]


def motors(system, stands, order, tau):
    """Generalized forces of all motors, springs and dampers, of the tree's joints and of the loops', on the bodies' origins."""
    f = np.zeros(6*len(order))
    parts = [pair for c in loop_constraints(system) for pair in exerted(c, stands)]
    for constraint, (_, _, at_v) in zip(tree_constraints(system), entries(system), strict=True):
        parts += exerted(constraint, stands, tau[at_v])
    for body, wrench in parts:
        f[order[body]] += wrench
    return f


def least_norm(A, b):
    """The least-norm solution, polished once: rows are scaled by nothing, ranks by RANK."""
    U, s, Vt = np.linalg.svd(A)
    r = int((s > RANK*s[0]).sum())
    x = np.zeros(A.shape[1])
    for _ in range(2):
        x = x + Vt[:r].T @ ((U[:, :r].T @ (b - A @ x))/s[:r])
    return x


def rank(A):
    return int(np.linalg.matrix_rank(A, tol=RANK*max(1.0, np.linalg.norm(A, 2)))) if A.size else 0


# ---- the same questions in the tree's coordinates --------------------------------------------------------------------------------
def jacobians(system, q):
    """{body: (6, nv)}: [omega, v] of the origins, world axes; and J (directions, nv), the loops' residual rates."""
    n = sum(n_speeds(body.joint) for body in system.bodies.values())
    found = [places(system, q, unit) for unit in np.eye(n)]
    rates = [[each for c in loop_constraints(system) for each in c.residual(stands).rate] for stands in found]
    return {name: np.array([stands[name].velocity for stands in found]).T for name in system.bodies}, np.array(rates).T


def tree_equations(system, q, v, tau=None, *, wheels=None, wrenches=None):
    """M, f, J, c: M v' = f + J^T lambda and J v' = c, of the tree with its loops open and of the loops."""
    stands = places(system, q, v)                               # with v' = 0: the accelerations are the biases
    columns, J = jacobians(system, q)
    n = len(v)
    M, f = np.zeros((n, n)), np.zeros(n) if tau is None else np.array(tau, float)
    for name, body in system.bodies.items():
        inertia, force = newton_euler(system, body, stands, wheels, (wrenches or {}).get(name))
        M += columns[name].T @ inertia @ columns[name]
        f += columns[name].T @ (force - inertia @ stands[name].acceleration)
    f += spring_forces(system, q, v)
    for constraint in loop_constraints(system):
        for name, wrench in exerted(constraint, stands):
            f += columns[name].T @ wrench
    return M, f, J, -np.array([each for c in loop_constraints(system) for each in c.residual(stands).second])


def spring_forces(system, q, v):
    """Generalized forces of the motors, springs and dampers of the tree's joints."""
    return np.concatenate([joint_force(body.joint, q[at_q], v[at_v], np.zeros(n_speeds(body.joint)))
                           for body, at_q, at_v in entries(system)])


def joint_accelerations(system, q, v, accelerations):
    """v' of the tree whose bodies accelerate like this."""
    stands, columns = places(system, q, v), jacobians(system, q)[0]
    given = np.concatenate([accelerations[name] - stands[name].acceleration for name in system.bodies])
    return np.linalg.lstsq(np.vstack(list(columns.values())), given, rcond=None)[0]


def loop_forces(system, q, v, a, tau=None, **loads):
    """{loop: [moment, force] on b at frame b, in its axes} of least norm that explain the tree's accelerations a; and how much of
    the generalized forces they leave unexplained, relative."""
    M, f, J, _ = tree_equations(system, q, v, tau, **loads)
    missing = M @ a - f
    multipliers = least_norm(J.T, missing)
    poses, _, _ = motion(system, q, v)
    stands, found, at = stand(poses), {}, 0
    for constraint in loop_constraints(system):
        Jb = gradients(constraint, poses)[1]
        found[constraint.name] = wrench_on_b(constraint, stands, Jb, multipliers[at:at + len(Jb)])
        at += len(Jb)
    return found, np.abs(J.T @ multipliers - missing).max()/max(1e-300, np.abs(M @ a).max(), np.abs(f).max())
