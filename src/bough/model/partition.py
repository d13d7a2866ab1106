"""From joints to hinges: every joint becomes primitive hinges with massless bodies between them [J 5].

    weld        merged into the parent (or a WELD hinge, where the load through it is asked for)
    translation a PRISMATIC hinge along each axis
    rotation    a REVOLUTE hinge about each axis, or one SPHERICAL hinge
    free joint  one FREE hinge on the ground, or three PRISMATIC ones and a SPHERICAL one elsewhere

A primitive hinge moves along or about its z axis, so a hinge's body frame is the user's frame turned by a constant matrix.
Bodies are numbered depth first: most bodies then hang on the one before, and their values stay in registers.
"""
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from bough.describe import Body, Joint, System
from bough.kernels.hinges import FREE, N_COORDINATES, N_SPEEDS, PRISMATIC, REVOLUTE, SPHERICAL, WELD
from bough.model.parameters import BodyParameters


@dataclass
class Hinge:
    """A primitive hinge and the (possibly massless) body that it carries.  Arrays lead with the batch axis."""
    joint: str                          # body whose joint it is part of
    label: str                          # what it is called in messages
    inner: int
    kind: int
    turn: np.ndarray                    # (3, 3) its attitude in the inner body
    at: np.ndarray                      # (batch, 3) its place in the inner body
    q: int                              # where its coordinates start in q
    v: int
    mass: np.ndarray = field(default_factory=lambda: np.zeros(1))
    moment: np.ndarray = field(default_factory=lambda: np.zeros((1, 3)))         # mass times mass centre
    inertia: np.ndarray = field(default_factory=lambda: np.zeros((1, 3, 3)))     # about the hinge

    locked: np.ndarray = field(default_factory=lambda: np.zeros((1, 3, 3)))      # the same with all wheels at rest in it

    def add_body(self, mass: np.ndarray, com: np.ndarray, central: np.ndarray) -> None:
        """Take up a body: central inertia and mass centre in this hinge's axes."""
        self.mass = self.mass + mass
        self.moment = self.moment + mass[:, None]*com
        square = np.einsum("bi,bi->b", com, com)[:, None, None]*np.eye(3)
        added = central + mass[:, None, None]*(square - np.einsum("bi,bj->bij", com, com))
        self.inertia, self.locked = self.inertia + added, self.locked + added

    def free_wheel(self, inertia: float, axis: np.ndarray) -> None:
        """A driven wheel turns freely about its axis e: the body is without J e e^T [B 2]."""
        self.inertia = self.inertia - inertia*np.outer(axis, axis)


@dataclass(frozen=True)
class Seat:
    """Where a body of the description sits: fixed in the body of a hinge, axes turned and origin moved."""
    hinge: int
    turn: np.ndarray                    # (3, 3) user's axes to the hinge's
    at: np.ndarray                      # (batch, 3)


@dataclass(frozen=True)
class Partition:
    hinges: list[Hinge]                 # hinges[0] is the ground
    seats: dict[str, Seat]


def rotation_matrix(quaternion: Sequence[float] | np.ndarray) -> np.ndarray:
    """Matrix of a quaternion x, y, z, w."""
    x, y, z, w = np.asarray(quaternion)/np.linalg.norm(quaternion)
    return np.array([[1 - 2*(y*y + z*z), 2*(x*y - w*z), 2*(x*z + w*y)],
                     [2*(x*y + w*z), 1 - 2*(x*x + z*z), 2*(y*z - w*x)],
                     [2*(x*z - w*y), 2*(y*z + w*x), 1 - 2*(x*x + y*y)]])


def turn_to_z(axis: tuple[float, ...]) -> np.ndarray:
    """A rotation whose third column is the axis."""
    z = np.asarray(axis, float)
    x = np.eye(3)[np.argmin(np.abs(z))]
    y = np.cross(z, x)
    y /= np.linalg.norm(y)
    return np.eye(3) if z[2] == 1.0 else np.column_stack([np.cross(y, z), y, z])


def depth_first(system: System) -> list[Body]:
    """Bodies, inner before outer, each followed by one that hangs on it where there is one."""
    children: dict[str | None, list[Body]] = {}
    for body in system.bodies.values():
        children.setdefault(body.parent, []).append(body)
    order, stack = [], list(reversed(children.get(None, [])))
    while stack:
        body = stack.pop()
        order.append(body)
        stack.extend(reversed(children.get(body.name, [])))
    return order


def primitives(joint: Joint, on_ground: bool) -> list[tuple[int, np.ndarray]]:
    """The hinges of a joint: kind, and the turn of its axes against the joint's."""
    if joint.kind == "free" and on_ground:
        return [(FREE, np.eye(3))]
    slides = [(PRISMATIC, turn_to_z(axis)) for axis in joint.translations]
    if joint.rotations == "spherical":
        return [*slides, (SPHERICAL, np.eye(3))]
    return slides + [(REVOLUTE, turn_to_z(axis)) for axis in joint.rotations]


def partition(system: System, parameters: dict[str, BodyParameters], keep_welds: bool = False) -> Partition:
    """Hinges and seats of all bodies of a (valid) system."""
    places = coordinate_places(system)
    ground = Hinge("", "ground", 0, WELD, np.eye(3), np.zeros((1, 3)), 0, 0)
    hinges = [ground]
    seats: dict[str, Seat] = {}
    for body in depth_first(system):
        given, joint = parameters[body.name], body.joint
        seat = seats[body.parent] if body.parent else Seat(0, np.eye(3), np.zeros((1, 3)))
        turn, at = seat.turn @ rotation_matrix(body.orient), seat.at + given.at @ seat.turn.T
        inner, (q, v) = seat.hinge, places[body.name]
        kinds = primitives(joint, on_ground=inner == 0)
        if not kinds and keep_welds:
            kinds = [(WELD, np.eye(3))]
        for kind, axes in kinds:
            hinges.append(Hinge(body.name, joint.name or body.name, inner, kind, turn @ axes, at, q, v))
            inner, turn, at = len(hinges) - 1, axes.T, np.zeros((1, 3))
            q, v = q + N_COORDINATES[kind], v + N_SPEEDS[kind]
        seats[body.name] = Seat(inner, turn, at)
        hinges[inner].add_body(given.mass, at + given.com @ turn.T, turn @ given.inertia @ turn.T)
    for wheel in system.wheels.values():
        seat = seats[wheel.body]
        if wheel.driven:
            hinges[seat.hinge].free_wheel(wheel.inertia, seat.turn @ np.asarray(wheel.axis))
    return Partition(hinges, seats)


def coordinate_places(system: System) -> dict[str, tuple[int, int]]:
    """Where each joint's coordinates start in q and v: in the order of the description."""
    places, q, v = {}, 0, 0
    for body in system.bodies.values():
        places[body.name] = q, v
        q, v = q + body.joint.n_q, v + body.joint.n_v
    return places
