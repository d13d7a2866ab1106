"""Momentum of a part of a system and its rate, analytic; and the load through a joint that follows from it [MC 24-25].

In the axes of the base, all relative to it:  R, Om  attitude and angular rate of a body,  y  its mass center;  J = R I R^T.
"""
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bough.analyze.body_motion import Bodies
from bough.compile.tables import described_inputs
from bough.errors import StateError, nearest

if TYPE_CHECKING:
    from bough.model.arguments import Batch
    from bough.model.model import Model


def crosses(a: np.ndarray) -> np.ndarray:
    """a~ of vectors in the last axis."""
    x, y, z = np.moveaxis(a, -1, 0)
    o = np.zeros_like(x)
    return np.stack([np.stack([o, -z, y], -1), np.stack([z, o, -x], -1), np.stack([-y, x, o], -1)], -2)


def times(A: np.ndarray, x: np.ndarray) -> np.ndarray:
    return np.einsum("...ij,...j->...i", A, x)


def center_accelerations(seen: Bodies) -> np.ndarray:
    """Of the bodies' mass centers, world axes."""
    arm = seen.com - seen.position
    return seen.acceleration[..., 3:] + np.cross(seen.acceleration[..., :3], arm) + np.cross(seen.rate, np.cross(seen.rate, arm))


@dataclass(frozen=True)
class Relative:
    """How bodies move relative to the base, in its axes: arrays (batch, bodies, ...), dots are rates as seen from the base."""
    mass: np.ndarray            # (bodies,)
    J: np.ndarray               # about the mass center
    Om: np.ndarray
    Om_dot: np.ndarray
    y: np.ndarray
    y_dot: np.ndarray
    y_ddot: np.ndarray


def relative_motion(seen: Bodies, base: int = 0) -> Relative:
    """Of all bodies, from their motion in the world."""
    C, w = seen.attitude[:, base, None], seen.rate[:, base, None]
    alpha, arm = seen.acceleration[..., :3], seen.com - seen.position
    velocity = seen.velocity + np.cross(seen.rate, arm)
    acceleration = center_accelerations(seen)

    def in_base(x: np.ndarray) -> np.ndarray:
        return np.einsum("bkji,bkj->bki", C, x - x[:, base, None])

    own_rate, own_alpha = (np.einsum("bkji,bkj->bki", C, x) for x in (w, alpha[:, base, None]))
    Om, y = in_base(seen.rate), in_base(seen.com)
    Om_dot = in_base(alpha) - np.cross(own_rate, Om)
    y_dot = in_base(velocity) - np.cross(own_rate, y)
    y_ddot = (in_base(acceleration) - np.cross(own_alpha, y) - 2*np.cross(own_rate, y_dot)
              - np.cross(own_rate, np.cross(own_rate, y)))
    R = np.einsum("bkji,bkjl->bkil", C, seen.attitude)
    inertia = np.array([body.inertia for body in seen.model.system.bodies.values()])
    return Relative(seen.mass, R @ inertia @ R.swapaxes(-1, -2), Om, Om_dot, y, y_dot, y_ddot)


@dataclass(frozen=True)
class Terms:
    """H = P w + Q about the mass center of some bodies, in the base's axes, w the base's rate [MC 13]; and rates of P and Q."""
    P: np.ndarray
    P_dot: np.ndarray
    Q: np.ndarray
    Q_dot: np.ndarray
    y: np.ndarray               # their mass center

    def rate(self, w: np.ndarray, w_dot: np.ndarray) -> np.ndarray:
        """H' in the world, in the base's axes [MC 4], [MC 16]."""
        H = times(self.P, w) + self.Q
        return times(self.P_dot, w) + times(self.P, w_dot) + self.Q_dot + np.cross(w, H)


def momentum_terms(of: Relative, part: np.ndarray) -> Terms:
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


def momentum_loads(model: "Model", q: Any, v: Any, a: Any, joint: str, keywords: Mapping[str, Any]) -> np.ndarray:
    """What is exerted on all that a joint carries, through it: [moment, force] at its origin on the body, in the body's axes."""
    body = carried_by(model, joint)
    if model.system.loops:
        raise StateError(f"joint '{joint}': system '{model.system.name}' has loops, and what passes through them is not known "
                         "from the momentum of one part; ask for reactions")
    flexible = [name for name in model.names.bodies if model.system.bodies[name].flexible is not None]
    if flexible or model.in_orbit:
        raise StateError(f"joint '{joint}': " + (f"body '{flexible[0]}' is flexible" if flexible else "gravity is central")
                         + "; loads from momenta are those of rigid bodies in uniform gravity: ask for reactions")
    seen = model.bodies(q, v, a, **keywords)
    part = outboard(model, body)
    C, k = seen.attitude[:, 0], model.body_index(body)
    w, w_dot = (np.einsum("bji,bj->bi", C, x[:, 0]) for x in (seen.rate, seen.acceleration[..., :3]))
    terms, mass = momentum_terms(relative_motion(seen), part), seen.mass[part]
    felt = center_accelerations(seen)[:, part] - np.asarray(model.system.gravity, float)
    force = np.einsum("k,bki->bi", mass, felt)                                                              # [MC 24]
    center = seen.com[:, 0] + times(C, terms.y)
    moment = times(C, terms.rate(w, w_dot)) + np.cross(center - seen.position[:, k], force)                 # [MC 25]
    for at, (n, f) in applied(model, seen, keywords):
        if at in part:
            force = force - f
            moment = moment - n - np.cross(seen.position[:, at] - seen.position[:, k], f)
    in_body = [np.einsum("bji,bj->bi", seen.attitude[:, k], x) for x in (moment, force)]
    return np.asarray(seen.back(np.concatenate(in_body, axis=1)))


def carried_by(model: "Model", joint: str) -> str:
    """The body on a joint."""
    if joint not in model.names.joints:
        raise StateError(f"there is no joint '{joint}'{nearest(joint, model.names.joints)}; the joints are "
                         f"{', '.join(model.names.joints)}")
    return model.names.bodies[model.names.joints.index(joint)]


def outboard(model: "Model", body: str) -> np.ndarray:
    """Which bodies a body carries, itself first."""
    bodies, found = model.system.bodies, [body]
    for name in found:
        found += [other.name for other in bodies.values() if other.parent == name]
    return np.array([model.body_index(name) for name in found])


def applied(model: "Model", seen: Bodies, keywords: Mapping[str, Any]) -> list[tuple[int, tuple[np.ndarray, np.ndarray]]]:
    """Body by body, wrenches in world axes about its origin: external ones, and what its wheels do to it."""
    batch, found = seen.batch, []
    u = batch.u + np.array([described_inputs(batch.tables, batch.t[i, :1])[0] for i in range(batch.n)])
    given = [(w.body, w.at, w.frame == "world", model.nv + model.nw + 6*j) for j, w in enumerate(model.system.wrenches.values())]
    loaded = [place[0] if isinstance(place, tuple) else place for place in keywords["wrenches"] or ()]
    given += [(body, (0.0, 0.0, 0.0), keywords["frame"] == "world", batch.tables.first_input_wrench + 6*j)
              for j, body in enumerate(loaded)]
    for body, place, world, at in given:
        k = model.body_index(body)
        n, f = (x if world else times(seen.attitude[:, k], x) for x in (u[:, at:at + 3], u[:, at + 3:at + 6]))
        found.append((k, (n + np.cross(times(seen.attitude[:, k], np.asarray(place)), f), f)))
    return found + [(k, (torque, np.zeros_like(torque))) for k, torque in wheel_torques(model, seen, batch, u)]


def wheel_torques(model: "Model", seen: Bodies, batch: "Batch", u: np.ndarray) -> list[tuple[int, np.ndarray]]:
    """-(J Omega e)': -J Omega' e - omega x J Omega e, with J Omega' = motor torque - J e.alpha where driven [B 2]."""
    found = []
    for j, wheel in enumerate(model.system.wheels.values()):
        k = model.body_index(wheel.body)
        e = times(seen.attitude[:, k], np.asarray(wheel.axis))
        spin = wheel.inertia*batch.x[:, model.nq + model.nv + j, None]
        rate = np.zeros_like(spin)
        if wheel.driven:
            rate = (u[:, model.nv + j] - wheel.inertia*np.einsum("bi,bi->b", e, seen.acceleration[:, k, :3]))[:, None]
        found.append((k, -rate*e - np.cross(seen.rate[:, k], spin*e)))
    return found
