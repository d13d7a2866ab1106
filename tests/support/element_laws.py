"""The laws of force elements in plain NumPy, as wrenches on bodies in world axes; of buoyancy, slice by slice."""
import numpy as np
from scipy.integrate import quad
from scipy.spatial.transform import Rotation


def shifted(moment, force, arm):
    """[moment, force] about the origin of a moment and a force at `arm`."""
    return np.concatenate([moment + np.cross(arm, force), force])


def motion(model, q, v, body, at, node=None):
    """Origin, attitude, point and its velocity: of a place on a body, a node or the world."""
    if body == "world":
        return np.zeros(3), np.eye(3), np.asarray(at, float), np.zeros(3)
    seen = model.bodies(np.atleast_2d(q), np.atleast_2d(v))
    frames = seen.place(body, node)
    arm = frames.attitude[0] @ np.asarray(at, float)
    return frames.position[0], frames.attitude[0], frames.position[0] + arm, frames.velocity[0] + np.cross(frames.rate[0], arm)


def line(model, q, v, described):
    """Tension, and wrenches by body (or body and node) about their origins."""
    a, b = described.a, described.b
    (o_a, _, x_a, v_a), (o_b, _, x_b, v_b) = (motion(model, q, v, end.body, end.at, end.node) for end in (a, b))
    d = x_b - x_a
    distance = np.linalg.norm(d)
    n = d/distance
    tension = described.stiffness*(distance - described.length) + described.damping*(v_b - v_a) @ n
    if described.slack:
        tension = max(tension, 0.0) if distance > described.length else 0.0
    ends = ((a, o_a, x_a, tension*n), (b, o_b, x_b, -tension*n))
    return tension, [(end.body if end.node is None else (end.body, end.node), shifted(np.zeros(3), force, x - o))
                     for end, o, x, force in ends if end.body != "world"]


def angles(R):
    """Roll, pitch, yaw of Rz(yaw) Ry(pitch) Rx(roll)."""
    return np.array([np.arctan2(R[2, 1], R[2, 2]), -np.arcsin(R[2, 0]), np.arctan2(R[1, 0], R[0, 0])])


def restoring(model, q, v, described, rest):
    """[moment, force] at the point, and about the origin of the body."""
    origin, R, x, _ = motion(model, q, v, described.body, described.at, described.node)
    d = np.concatenate([x - rest, angles(R)])
    force, moment = np.split(np.concatenate([described.force, described.moment]) - np.asarray(described.stiffness) @ d, 2)
    return np.concatenate([moment, force]), shifted(moment, force, x - origin)


def cut_disc(r, x, s):
    """Area and first moment (toward its lowest point) of the wet part of a disc, its center x deep, tilted by the sine s."""
    if x >= r*s:
        return np.pi*r*r, 0.0
    if x <= -r*s:
        return 0.0, 0.0
    half = np.arccos(-x/(r*s))                                      # half the angle of the wet arc
    return r*r*(half - np.sin(2*half)/2), 2*r**3*np.sin(half)**3/3


def cylinder(r, low, high, origin, axis, level, density, gravity):
    """[moment, force] about the origin, of a cylinder of any attitude: its slices, added up by quadrature."""
    e, s = axis, np.hypot(axis[0], axis[1])
    down = -(np.array([0, 0, 1.0]) - e[2]*e)/s if s else np.zeros(3)
    ends = [(level - origin[2] + side*r*s)/e[2] for side in (-1, 1)] if e[2] else []
    knots = [z for z in ends if low < z < high]

    def part(i):
        def slice_(z):
            area, first = cut_disc(r, level - origin[2] - z*e[2], s)
            return (area, z*area, first)[i]
        return quad(slice_, low, high, points=knots or None, epsabs=1e-12, epsrel=1e-12, limit=200)[0]

    volume, along, across = part(0), part(1), part(2)
    up = np.array([0, 0, density*gravity])
    return np.concatenate([np.cross(along*e + across*down, up), volume*up])


def rotation_rates(theta):
    """The map from angular velocity, in the axes before the rotation, to the rate of a rotation vector: its inverse is a series."""
    x, y, z = theta
    S, term, total = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]]), np.eye(3), np.eye(3)
    for k in range(2, 60):
        term = term @ S/k
        total = total + term
    return np.linalg.inv(total)


def bushing(model, q, v, described):
    """[moment, force] on b at its point, world axes; potential energy; and wrenches by body (or body and node) about origins."""
    ends = [(end, *motion(model, q, v, end.body, end.at, end.node)) for end in (described.a, described.b)]
    (end_a, o_a, R_a, x_a, v_a), (end_b, o_b, R_b, x_b, v_b) = ends
    bodies = model.bodies(np.atleast_2d(q), np.atleast_2d(v))
    rates = [np.zeros(3) if end.body == "world" else bodies.place(end.body, end.node).rate[0] for end in (end_a, end_b)]
    frame_a, frame_b = R_a @ Rotation.from_quat(end_a.orient).as_matrix(), R_b @ Rotation.from_quat(end_b.orient).as_matrix()
    x_a, v_a = x_a + frame_a @ described.rest.at, v_a + np.cross(rates[0], frame_a @ described.rest.at)
    frame_a = frame_a @ Rotation.from_quat(described.rest.orient).as_matrix()
    theta = Rotation.from_matrix(frame_a.T @ frame_b).as_rotvec()
    strain = np.concatenate([theta, frame_a.T @ (x_b - x_a)])
    speed = np.concatenate([frame_a.T @ (rates[1] - rates[0]), frame_a.T @ (v_b - v_a - np.cross(rates[0], x_b - x_a))])
    moment, force = np.split(np.asarray(described.stiffness) @ strain, 2)
    load = -np.concatenate([rotation_rates(theta).T @ moment, force]) - np.asarray(described.damping) @ speed
    moment, force = frame_a @ load[:3], frame_a @ load[3:]
    by = [(end.body if end.node is None else (end.body, end.node), shifted(sign*moment, sign*force, x_b - origin))
          for end, origin, sign in ((end_a, o_a, -1), (end_b, o_b, 1)) if end.body != "world"]
    return np.concatenate([moment, force]), 0.5*strain @ np.asarray(described.stiffness) @ strain, by
