"""Steady motions: a system at rest, or rotating as a whole at a constant rate, with joints at constant rates.

    free root:         v = Omega x (p - c),    omega = R^T Omega,    v' = Omega x v,    omega' = 0                      [B 44]
    derivatives:       Omega x d,              omega x d,            Omega x (Omega x d)

All other speeds are constant, as given by the user.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bough.analyze.equations_of_motion import cross_matrix
from bough.compile.compiled_model import CompiledModel
from bough.compile.layout import Floats
from bough.describe import Body
from bough.describe.orientation import rotation_matrix
from bough.errors import StateError


@dataclass(frozen=True)
class SteadyMotion:
    """Speeds and accelerations at every position, in joint coordinates."""
    model: CompiledModel
    speeds: Floats              # (nv,) of joints, without the spin of the whole
    spin: Floats                # (3,) rad/s, world axes
    about: Floats               # (3,) a point of its axis, world axes

    def turned_roots(self) -> list[tuple[Body, Floats]]:
        """Roots that rotate with the whole, and their spin in the axes of their joints."""
        return [(body, rotation_matrix(body.orient).T @ self.spin) for body in self.model.system.bodies.values()
                if body.parent is None and body.joint.spherical and self.spin.any()]

    def at(self, q: Floats) -> tuple[Floats, Floats]:
        """v and v' at q."""
        v, a = self.speeds.copy(), np.zeros(self.model.nv)
        for body, spin in self.turned_roots():
            (at, first), n = self.model.places[body.name], len(body.joint.translations)
            v[first + n:first + n + 3] = rotation_matrix(q[at + n:at + n + 4]).T @ spin
            if n == 3:
                center = rotation_matrix(body.orient).T @ (self.about - np.asarray(body.at, float))
                v[first:first + 3] = np.cross(spin, q[at:at + 3] - center)
                a[first:first + 3] = np.cross(spin, v[first:first + 3])
        return v, a

    def along(self, q: Floats, d: Floats) -> tuple[Floats, Floats]:
        """(m, nv) each: how v and v' change along directions d (m, nv) of q."""
        dv, da = np.zeros_like(d), np.zeros_like(d)
        for body, spin in self.turned_roots():
            (at, first), n = self.model.places[body.name], len(body.joint.translations)
            turn, own = slice(first + n, first + n + 3), rotation_matrix(q[at + n:at + n + 4]).T @ spin
            dv[:, turn] = np.cross(own, d[:, turn])
            if n == 3:
                slides, across = slice(first, first + 3), cross_matrix(spin)
                dv[:, slides], da[:, slides] = d[:, slides] @ across.T, d[:, slides] @ (across @ across).T
        return dv, da


def steady_motion(model: CompiledModel, v: Floats, spin: ArrayLike | None, about: Floats) -> SteadyMotion:
    """The motion of a system with this spin, about z if it is a number; raises if a root cannot rotate so."""
    turn = three_numbers("spin", 0.0 if spin is None else spin, "a rate about z or three rates in world axes [rad/s]", scalar=True)
    speeds = v.copy()
    for body in model.system.bodies.values() if turn.any() else ():
        if body.parent is not None:
            continue
        first, joint = model.places[body.name][1], body.joint
        if joint.spherical and len(joint.translations) in (0, 3):
            continue
        if joint.kind != "revolute":
            raise StateError(f"spin is {turn.tolist()} rad/s, but root '{body.name}' has a {joint.kind} joint, which cannot turn "
                             "so; give the rates of its joint by v, or make it free, spherical or revolute")
        axis = rotation_matrix(body.orient) @ np.asarray(joint.rotations[0], float)
        rate = float(axis @ turn)
        if np.linalg.norm(turn - rate*axis) > 1e-12*np.linalg.norm(turn):
            raise StateError(f"spin is {turn.tolist()} rad/s, but the joint of root '{body.name}' turns about {axis.tolist()}; "
                             "spin about that axis")
        speeds[first] = rate
    return SteadyMotion(model, speeds, turn, about)


def three_numbers(what: str, given: Any, meaning: str, scalar: bool = False) -> Floats:
    """A vector given by the user; a single number is its z component if `scalar`."""
    try:
        found = np.array(given, float)
    except (TypeError, ValueError):
        found = np.zeros(0)
    found = np.array([0.0, 0.0, float(found)]) if scalar and found.ndim == 0 else found
    if found.shape != (3,) or not np.isfinite(found).all():
        raise StateError(f"{what} is {given!r}; give {meaning}")
    return found
