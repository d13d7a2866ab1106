"""Momentum of a part of a system and its rate, analytic; and the load through a joint that follows from it [MC 24-25].

In the axes of the base, all relative to it:  R, Omega  attitude and angular rate of a body,  y  its mass center;  J = R I R^T.
"""
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from bough.analyze.applied_wrenches import Applied, external, of_elements, signal, turn
from bough.analyze.bodies import Bodies, bodies_in
from bough.compile.batch import Batch
from bough.compile.compiled_model import CompiledModel
from bough.compile.layout import Floats
from bough.describe.part import depth_first
from bough.errors import StateError, similar


def crosses(a: Floats) -> Floats:
    """a~ of vectors in the last axis: row i of it is -a x e_i."""
    return -np.cross(a[..., None, :], np.eye(3))


def times(A: Floats, x: Floats) -> Floats:
    return np.einsum("...ij,...j->...i", A, x)


def center_accelerations(bodies: Bodies) -> Floats:
    """Of the bodies' mass centers, world axes."""
    arm = bodies.com - bodies.position
    turning = np.cross(bodies.acceleration[..., :3], arm)
    return bodies.acceleration[..., 3:] + turning + np.cross(bodies.rate, np.cross(bodies.rate, arm))


class Relative(NamedTuple):
    """How bodies move relative to the base, in its axes: arrays (batch, bodies, ...), dots are rates relative to the base."""
    mass: Floats            # (bodies,)
    J: Floats               # about the mass center
    Omega: Floats
    Omega_dot: Floats
    y: Floats
    y_dot: Floats
    y_ddot: Floats


def relative_motion(bodies: Bodies, base: int = 0) -> Relative:
    """Of all bodies, from their motion in the world."""
    C, w = bodies.attitude[:, base, None], bodies.rate[:, base, None]
    alpha, arm = bodies.acceleration[..., :3], bodies.com - bodies.position
    velocity = bodies.velocity + np.cross(bodies.rate, arm)
    acceleration = center_accelerations(bodies)

    def in_base(x: Floats) -> Floats:
        return np.einsum("bkji,bkj->bki", C, x - x[:, base, None])

    own_rate, own_alpha = (np.einsum("bkji,bkj->bki", C, x) for x in (w, alpha[:, base, None]))
    Omega, y = in_base(bodies.rate), in_base(bodies.com)
    Omega_dot = in_base(alpha) - np.cross(own_rate, Omega)
    y_dot = in_base(velocity) - np.cross(own_rate, y)
    y_ddot = (in_base(acceleration) - np.cross(own_alpha, y) - 2*np.cross(own_rate, y_dot)
              - np.cross(own_rate, np.cross(own_rate, y)))
    R = np.einsum("bkji,bkjl->bkil", C, bodies.attitude)
    inertia = np.array([body.inertia for body in bodies.model.system.bodies.values()])
    return Relative(bodies.mass, R @ inertia @ R.swapaxes(-1, -2), Omega, Omega_dot, y, y_dot, y_ddot)


class Terms(NamedTuple):
    """H = P w + Q about the mass center of some bodies, in the base's axes, w the base's rate [MC 13]; and rates of P and Q."""
    P: Floats
    P_dot: Floats
    Q: Floats
    Q_dot: Floats
    y: Floats               # their mass center

    def rate(self, w: Floats, w_dot: Floats) -> Floats:
        """H' in the world, in the base's axes [MC 4], [MC 16]."""
        H = times(self.P, w) + self.Q
        return times(self.P_dot, w) + times(self.P, w_dot) + self.Q_dot + np.cross(w, H)


def momentum_terms(motion: Relative, part: Floats) -> Terms:
    """P, Q [MC 14] and their rates [MC 17] of some bodies: sums over bodies with their whole rates Omega."""
    m, J, Omega, Omega_dot = motion.mass[part], motion.J[:, part], motion.Omega[:, part], motion.Omega_dot[:, part]
    total = max(m.sum(), np.finfo(float).tiny)
    center, center_dot, center_ddot = (np.einsum("k,bki->bi", m, y[:, part])/total for y in (motion.y, motion.y_dot, motion.y_ddot))
    rho, rho_dot, rho_ddot = motion.y[:, part] - center[:, None], motion.y_dot[:, part] - center_dot[:, None], \
        motion.y_ddot[:, part] - center_ddot[:, None]
    r, r_dot, W = crosses(rho), crosses(rho_dot), crosses(Omega)
    P = (J - m[:, None, None]*(r @ r)).sum(axis=1)                                                          # [MC 15]
    P_dot = (W @ J - J @ W - m[:, None, None]*(r_dot @ r + r @ r_dot)).sum(axis=1)                          # [MC 18-19]
    Q = (times(J, Omega) + m[:, None]*np.cross(rho, rho_dot)).sum(axis=1)
    Q_dot = (times(J, Omega_dot) + np.cross(Omega, times(J, Omega)) + m[:, None]*np.cross(rho, rho_ddot)).sum(axis=1)
    return Terms(P, P_dot, Q, Q_dot, center)


def momentum_loads(model: CompiledModel, batch: Batch, a: Floats, joint: str) -> Floats:
    """(batch, 6): the load on everything outboard of a joint, through it: [moment, force] at its origin on the body, body axes."""
    if joint not in model.names.joints:
        raise StateError(f"there is no joint '{joint}'{similar(joint, model.names.joints)}; the joints are "
                         f"{', '.join(model.names.joints)}")
    if model.system.loops:
        raise StateError(f"joint '{joint}': system '{model.system.name}' has loops, and what passes through them is not known "
                         "from the momentum of one part; ask for reactions")
    flexible = [name for name in model.names.bodies if model.system.bodies[name].flexible is not None]
    if model.system.tanks:
        raise StateError(f"joint '{joint}': system '{model.system.name}' has tanks, and loads from momenta are those of bodies of "
                         "constant mass; ask for reactions")
    if flexible or model.in_orbit:
        raise StateError(f"joint '{joint}': " + (f"body '{flexible[0]}' is flexible" if flexible else "gravity is central")
                         + "; loads from momenta are those of rigid bodies in uniform gravity: ask for reactions")
    bodies, body = bodies_in(model, batch, a), model.names.bodies[model.names.joints.index(joint)]
    part = np.array([model.body_index(name) for name in (body, *(each.name for each in depth_first(model.system, body)))])
    C, k = bodies.attitude[:, 0], model.body_index(body)
    w, w_dot = (np.einsum("bji,bj->bi", C, x[:, 0]) for x in (bodies.rate, bodies.acceleration[..., :3]))
    terms, mass = momentum_terms(relative_motion(bodies), part), bodies.mass[part]
    specific = center_accelerations(bodies)[:, part] - np.asarray(model.system.gravity, float)
    force = np.einsum("k,bki->bi", mass, specific)                                                              # [MC 24]
    center = bodies.com[:, 0] + times(C, terms.y)
    moment = times(C, terms.rate(w, w_dot)) + np.cross(center - bodies.position[:, k], force)                 # [MC 25]
    applied = [*external(bodies, bodies.batch), *of_elements(bodies), *caller_wrenches(bodies), *wheel_torques(bodies)]
    for name, frame, n, f in applied:
        if model.body_index(name) in part:
            force = force - f
            moment = moment - n - np.cross(frame.position - bodies.position[:, k], f)
    in_body = [np.einsum("bji,bj->bi", bodies.attitude[:, k], x) for x in (moment, force)]
    return np.concatenate(in_body, axis=1)


def caller_wrenches(bodies: Bodies) -> Iterator[Applied]:
    batch = bodies.batch
    for j, (body, _) in enumerate(batch.wrenches):
        frame, own = bodies.place(body, None), np.split(batch.u[:, batch.inputs.layout.caller_wrench(j)], 2, axis=1)
        yield Applied(body, frame, *(own if batch.frame == "world" else (turn(frame.attitude, each) for each in own)))


def wheel_torques(bodies: Bodies) -> Iterator[Applied]:
    """-(J Omega e)': -J Omega' e - omega x J Omega e, with J Omega' = motor torque - J e.alpha where driven [B 2]."""
    model, batch, given = bodies.model, bodies.batch, bodies.batch.inputs
    motors = given.motors + (given.ports @ model.port_torques)[:, model.nv:]
    for j, wheel in enumerate(model.system.wheels.values()):
        frame, k = bodies.place(wheel.body, None), model.body_index(wheel.body)
        e, rate = turn(frame.attitude, np.asarray(wheel.axis)), np.zeros(batch.n)
        if wheel.torque is not None:
            motor = motors[:, j] + signal(wheel.torque, batch.t[:, 0])
            rate = motor - wheel.inertia*np.einsum("bi,bi->b", e, bodies.acceleration[:, k, :3])
        spin = wheel.inertia*batch.state.wheels[:, j, None]*e
        yield Applied(wheel.body, frame, -rate[:, None]*e - np.cross(frame.rate, spin), np.zeros_like(e))
