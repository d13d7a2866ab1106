"""Momentum of a part of a system and its rate, analytic; and the load through a joint that follows from it [MC 24-25].

In the axes of the base, all relative to it:  R, Om  attitude and angular rate of a body,  y  its mass center;  J = R I R^T.

The momenta of a floating system as a whole are what the mass matrix says of rigid motions.  With speeds R of unit rates about the
mass center and of unit velocities,

    P = R M v + [sum s e, 0],       dP = (R M R^T + [sum J e e^T, 0]) d     for a motion d R more

s is the spin of a wheel that M does not know: J Omega; if a motor drives it, J e.omega more, for then M is without J e e^T.
"""
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bough.analyze.bodies import Bodies, bodies_in, bodies_of
from bough.analyze.equations_of_motion import mass_matrix_at
from bough.compile.batch import Batch
from bough.compile.compiled_model import CompiledModel
from bough.compile.layout import Floats
from bough.compile.tables import described_inputs
from bough.describe.orientation import cross_matrix, rotation_matrix
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
    Om: Floats
    Om_dot: Floats
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
    Om, y = in_base(bodies.rate), in_base(bodies.com)
    Om_dot = in_base(alpha) - np.cross(own_rate, Om)
    y_dot = in_base(velocity) - np.cross(own_rate, y)
    y_ddot = (in_base(acceleration) - np.cross(own_alpha, y) - 2*np.cross(own_rate, y_dot)
              - np.cross(own_rate, np.cross(own_rate, y)))
    R = np.einsum("bkji,bkjl->bkil", C, bodies.attitude)
    inertia = np.array([body.inertia for body in bodies.model.system.bodies.values()])
    return Relative(bodies.mass, R @ inertia @ R.swapaxes(-1, -2), Om, Om_dot, y, y_dot, y_ddot)


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


def momentum_terms(of: Relative, part: Floats) -> Terms:
    """P, Q [MC 14] and their rates [MC 17] of some bodies: sums over bodies with their whole rates Om."""
    m, J, Om, Om_dot = of.mass[part], of.J[:, part], of.Om[:, part], of.Om_dot[:, part]
    total = max(m.sum(), np.finfo(float).tiny)
    center, center_dot, center_ddot = (np.einsum("k,bki->bi", m, y[:, part])/total for y in (of.y, of.y_dot, of.y_ddot))
    rho, rho_dot, rho_ddot = of.y[:, part] - center[:, None], of.y_dot[:, part] - center_dot[:, None], \
        of.y_ddot[:, part] - center_ddot[:, None]
    r, r_dot, W = crosses(rho), crosses(rho_dot), crosses(Om)
    P = (J - m[:, None, None]*(r @ r)).sum(axis=1)                                                          # [MC 15]
    P_dot = (W @ J - J @ W - m[:, None, None]*(r_dot @ r + r @ r_dot)).sum(axis=1)                          # [MC 18-19]
    Q = (times(J, Om) + m[:, None]*np.cross(rho, rho_dot)).sum(axis=1)
    Q_dot = (times(J, Om_dot) + np.cross(Om, times(J, Om)) + m[:, None]*np.cross(rho, rho_ddot)).sum(axis=1)
    return Terms(P, P_dot, Q, Q_dot, center)


def momentum_loads(model: CompiledModel, batch: Batch, a: Floats, joint: str) -> Floats:
    """(batch, 6): the load on everything outboard of a joint, through it: [moment, force] at its origin on the body, body axes."""
    body = carried_by(model, joint)
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
    bodies = bodies_in(model, batch, a)
    part = np.array([model.body_index(name) for name in (body, *(each.name for each in depth_first(model.system, body)))])
    C, k = bodies.attitude[:, 0], model.body_index(body)
    w, w_dot = (np.einsum("bji,bj->bi", C, x[:, 0]) for x in (bodies.rate, bodies.acceleration[..., :3]))
    terms, mass = momentum_terms(relative_motion(bodies), part), bodies.mass[part]
    specific = center_accelerations(bodies)[:, part] - np.asarray(model.system.gravity, float)
    force = np.einsum("k,bki->bi", mass, specific)                                                              # [MC 24]
    center = bodies.com[:, 0] + times(C, terms.y)
    moment = times(C, terms.rate(w, w_dot)) + np.cross(center - bodies.position[:, k], force)                 # [MC 25]
    for at, (n, f) in applied(model, bodies):
        if at in part:
            force = force - f
            moment = moment - n - np.cross(bodies.position[:, at] - bodies.position[:, k], f)
    in_body = [np.einsum("bji,bj->bi", bodies.attitude[:, k], x) for x in (moment, force)]
    return np.concatenate(in_body, axis=1)


def carried_by(model: CompiledModel, joint: str) -> str:
    """The body on a joint."""
    if joint not in model.names.joints:
        raise StateError(f"there is no joint '{joint}'{similar(joint, model.names.joints)}; the joints are "
                         f"{', '.join(model.names.joints)}")
    return model.names.bodies[model.names.joints.index(joint)]


def applied(model: CompiledModel, bodies: Bodies) -> list[tuple[int, tuple[Floats, Floats]]]:
    """By body, wrenches in world axes about its origin: external ones, and those of its wheels."""
    batch, found = bodies.batch, []
    described = np.array([described_inputs(batch.tables, batch.t[i, :1])[0] for i in range(batch.n)])
    layout, u = batch.inputs.layout, batch.u + described
    given = [(w.body, w.at, w.frame == "world", layout.wrench(j)) for j, w in enumerate(model.system.wrenches.values())]
    given += [(body, (0.0, 0.0, 0.0), batch.frame == "world", layout.caller_wrench(j))
              for j, (body, _) in enumerate(batch.wrenches)]
    for body, place, world, at in given:
        k, (moment, force) = model.body_index(body), np.split(u[:, at], 2, axis=1)
        n, f = (x if world else times(bodies.attitude[:, k], x) for x in (moment, force))
        found.append((k, (n + np.cross(times(bodies.attitude[:, k], np.asarray(place)), f), f)))
    return found + [(k, (torque, np.zeros_like(torque))) for k, torque in wheel_torques(model, bodies, layout.view(u).motors)]


def wheel_torques(model: CompiledModel, bodies: Bodies, motors: Floats) -> list[tuple[int, Floats]]:
    """-(J Omega e)': -J Omega' e - omega x J Omega e, with J Omega' = motor torque - J e.alpha where driven [B 2]."""
    found = []
    for j, wheel in enumerate(model.system.wheels.values()):
        k = model.body_index(wheel.body)
        e = times(bodies.attitude[:, k], np.asarray(wheel.axis))
        spin = wheel.inertia*bodies.batch.state.wheels[:, j, None]
        rate = np.zeros_like(spin)
        if wheel.driven:
            rate = (motors[:, j] - wheel.inertia*np.einsum("bi,bi->b", e, bodies.acceleration[:, k, :3]))[:, None]
        found.append((k, -rate*e - np.cross(bodies.rate[:, k], spin*e)))
    return found


# ---- the whole system ----------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class WholeMotion:
    """Of a floating system in one state."""
    center: Floats              # (3,)      mass center
    momenta: Floats             # (6,)      [angular about it, linear]
    motions: Floats             # (6, nv)   speeds of unit rigid motions: rates about the mass center, and velocities
    inertia: Floats             # (6, 6)    the momenta of these motions


def roots_of(model: CompiledModel) -> list[tuple[int, int]]:
    """First entries of the coordinates and speeds of the roots."""
    return [model.places[body.name] for body in model.system.bodies.values() if body.parent is None]


def whole_motion(model: CompiledModel, x: Floats) -> WholeMotion:
    """Of one state; all roots of the system are free, and tanks have the default masses of the model."""
    state, roots, motions = model.state(x), roots_of(model), np.zeros((6, model.nv))
    M, first = mass_matrix_at(model, state.q), x[roots[0][0]:][:3]
    rates, velocities = motions[:3], motions[3:]
    for q, v in roots:
        rates[:, v:v + 3], velocities[:, v:v + 3] = cross_matrix(x[q:q + 3] - first), np.eye(3)
        rates[:, v + 3:v + 6] = rotation_matrix(x[q + 3:q + 7])
    moment = velocities @ M @ motions.T                                     # of rates about the first root: m [c]^T; m 1
    center = np.array([moment[1, 2], moment[2, 0], moment[0, 1]])/moment[0, 3]
    rates -= cross_matrix(center) @ velocities
    masses = motions @ M
    momenta, inertia = masses @ state.v, masses @ motions.T
    if model.nw:
        add_wheels(model, model.batch_of(x[None].copy()), momenta, inertia)
    return WholeMotion(first + center, momenta, motions, inertia)


def add_wheels(model: CompiledModel, batch: Batch, momenta: Floats, inertia: Floats) -> None:
    """Add the terms of wheels that are not in the mass matrix."""
    bodies = bodies_of(model, batch)
    (axes, spins), rates = bodies.wheel_spins, bodies.wheel_carriers.rate
    for wheel, e, spin, rate in zip(model.system.wheels.values(), axes[0], spins[0], rates[0], strict=True):
        momenta[:3] += (spin + wheel.inertia*wheel.driven*(e @ rate))*e
        inertia[:3, :3] += wheel.inertia*wheel.driven*np.outer(e, e)
