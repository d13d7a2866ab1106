"""From joints to hinges: every joint becomes primitive hinges with massless bodies between them [J 5].

    weld        merged into the parent (or a WELD hinge, if the load through it is needed, or the body is propellant)
    translation a PRISMATIC hinge along each axis
    rotation    a REVOLUTE hinge about each axis, or one SPHERICAL hinge
    free joint  one FREE hinge on the ground; three PRISMATIC and a SPHERICAL one elsewhere, or if it can be held or is coupled
    modes       a MODAL hinge after the joint, and a NODE for each loaded node except the inboard one

A primitive hinge moves along or about its z axis, so a hinge's body frame is the user's frame times a constant rotation. Bodies
are numbered depth first: most bodies are then attached to the previous one, and their values stay in registers.
"""
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from bough import compile as builders
from bough.compile.coordinates import BodyParameters, coordinate_places, coupled_bodies, holdable
from bough.describe import Body, Joint, System
from bough.describe.orientation import point_inertia, rotation_matrix
from bough.describe.part import depth_first
from bough.describe.parts.element import Anchor
from bough.kernels.hinges import FREE, MODAL, N_COORDINATES, N_SPEEDS, NODE, PRISMATIC, REVOLUTE, SPHERICAL, WELD
from bough.sweeps.schema import Floats


@dataclass
class Hinge:
    """A primitive hinge and the (possibly massless) body that it carries.  Arrays lead with the batch axis."""
    joint: str                          # body of its joint
    label: str                          # name in messages
    inner: int
    kind: int
    turn: Floats                        # (3, 3) attitude in the inner body
    at: Floats                          # (batch, 3) position in the inner body
    q: int                              # start of its coordinates in q
    v: int
    mass: Floats = field(default_factory=lambda: np.zeros(1))
    moment: Floats = field(default_factory=lambda: np.zeros((1, 3)))         # mass times mass center
    inertia: Floats = field(default_factory=lambda: np.zeros((1, 3, 3)))     # about the hinge
    flexible: Any = None                # MODAL hinge: the flexible body; NODE: that of its body
    node: str = ""                      # NODE: its name
    rest: Floats = field(default_factory=lambda: np.zeros(0))       # MODAL hinge: coordinates free of stress

    def add_body(self, mass: Floats, com: Floats, central: Floats) -> None:
        """Add a body: central inertia and mass center in this hinge's axes."""
        self.mass = self.mass + mass
        self.moment = self.moment + mass[:, None]*com
        self.inertia = self.inertia + central + mass[:, None, None]*point_inertia(com)

    @property
    def n_speeds(self) -> int:
        """How many entries of v are its own."""
        return int(self.flexible.n_modes) if self.kind == MODAL else 0 if self.kind == NODE else N_SPEEDS[self.kind]


class Pull(NamedTuple):
    """A body of the description for gravity, with its wheels at rest: in the axes of its hinge."""
    hinge: int
    mass: Floats                       # (batch,)
    com: Floats                        # (batch, 3)
    inertia: Floats                    # (batch, 3, 3) about the mass center


@dataclass
class Partition:
    """The hinges of a system, and the attachments of its bodies to them."""
    hinges: list[Hinge]                                                     # hinges[0] is the ground
    pulls: list[Pull] = field(default_factory=list)                         # bodies with mass, including welded ones
    attachments: dict[str, Anchor] = field(default_factory=dict)            # flexible bodies: the frame of the joint
    modal: dict[str, int] = field(default_factory=dict)                     # the MODAL hinge of each flexible body
    nodes: dict[tuple[str, str], int] = field(default_factory=dict)         # NODE hinges: body, node
    singular_share: Floats | None = None                                    # see loop_tables.singular_share

    @property
    def quaternions(self) -> dict[int, str]:
        """Starts of quaternions in q, and their joints."""
        return {hinge.q + (3 if hinge.kind == FREE else 0): hinge.label for hinge in self.hinges if hinge.kind in (SPHERICAL, FREE)}

    def has(self, body: str, node: str) -> bool:
        """Whether a node of a flexible body has its hinge: the inboard one has that of the joint."""
        return (body, node) in self.nodes or node == self.hinges[self.modal[body]].flexible.inboard

    def attachment(self, body: str | None, node: str | None = None) -> Anchor:
        """Where something on a body is attached; a NODE is created on first use."""
        if body is None:
            return Anchor(0, np.eye(3), np.zeros((1, 3)))
        if body not in self.modal:
            return self.attachments[body]
        flexible = self.hinges[self.modal[body]].flexible
        if node is None or node == flexible.inboard:
            held = self.attachments[body]
            return Anchor(held.hinge, held.turn, held.at + held.turn @ builders.flexible_tables.inboard_place(flexible))
        if (body, node) not in self.nodes:
            inner = self.modal[body]
            self.nodes[body, node] = len(self.hinges)
            self.hinges.append(Hinge(body, self.hinges[inner].label, inner, NODE, np.eye(3), np.zeros((1, 3)), 0, 0,
                                     flexible=flexible, node=node))
        return Anchor(self.nodes[body, node], np.eye(3), np.zeros((1, 3)))


@cache
def turn_to_z(axis: tuple[float, ...]) -> Floats:
    """A rotation whose third column is the axis."""
    z = np.asarray(axis, float)
    x = np.eye(3)[np.argmin(np.abs(z))]
    y = np.cross(z, x)
    y /= np.linalg.norm(y)
    return np.eye(3) if z[2] == 1.0 else np.column_stack([np.cross(y, z), y, z])


def primitives(joint: Joint, whole: bool) -> list[tuple[int, Floats]]:
    """The hinges of a joint: kind, and rotation of its axes relative to the joint's; a free one may be `whole`."""
    if joint.kind == "free" and whole:
        return [(FREE, np.eye(3))]
    slides = [(PRISMATIC, turn_to_z(axis)) for axis in joint.translations]
    if joint.rotations == "spherical":
        return [*slides, (SPHERICAL, np.eye(3))]
    return slides + [(REVOLUTE, turn_to_z(axis)) for axis in joint.rotations]


def partition(system: System, parameters: dict[str, BodyParameters], keep_welds: bool = False,
              loaded: Sequence[tuple[str, str]] = (), kept: Collection[str] = ()) -> Partition:
    """Hinges and attachments of all bodies of a (valid) system; and of the nodes of flexible bodies that are loaded; `kept`: bodies
    whose welds are hinges anyway."""
    places, held = coordinate_places(system), {coordinate.body for coordinate in holdable(system).values()} | coupled_bodies(system)
    changing = {name for tank in system.tanks.values() for name in tank.body_names}
    tree = Partition([Hinge("", "ground", 0, WELD, np.eye(3), np.zeros((1, 3)), 0, 0)])
    for body in depth_first(system):
        given, (q, v) = parameters[body.name], places[body.name]
        inner = tree.attachment(body.parent, body.node)
        kinds = primitives(body.joint, whole=inner.hinge == 0 and body.name not in held)
        apart = body.name in system.tanks or body.parent in changing                    # mass that changes, from all other
        keeps = keep_welds or apart or body.name in kept
        attachment = add_joint(tree, body, inner, given, (q, v), kinds or [(WELD, np.eye(3))]*keeps)
        tree.attachments[body.name] = attachment
        if body.flexible is None:
            turn = attachment.turn
            pull = Pull(attachment.hinge, given.mass, attachment.at + given.com @ turn.T, turn @ given.inertia @ turn.T)
        else:
            add_modes(tree, body, (q + body.joint.n_q, v + body.joint.n_v))
            pull = Pull(tree.modal[body.name], given.mass, given.com, given.inertia)
        tree.hinges[pull.hinge].add_body(pull.mass, pull.com, pull.inertia)
        if given.mass.any() or body.name in changing:
            tree.pulls.append(pull)
    for body_name, node in loaded:
        tree.attachment(body_name, node)
    for wheel in system.wheels.values():
        attachment = tree.attachment(wheel.body, wheel.node)
        if wheel.driven:                                                                # it turns freely: less J e e^T [B 2]
            axis, hinge = attachment.turn @ np.asarray(wheel.axis), tree.hinges[attachment.hinge]
            hinge.inertia = hinge.inertia - wheel.inertia*np.outer(axis, axis)
    return tree


def add_joint(tree: Partition, body: Body, attachment: Anchor, given: BodyParameters, place: tuple[int, int],
              kinds: list[tuple[int, Floats]]) -> Anchor:
    """The hinges of a body's joint, in sequence; returns the attachment of the body."""
    turn, at = attachment.turn @ rotation_matrix(body.orient), attachment.at + given.at @ attachment.turn.T
    inner, (q, v) = attachment.hinge, place
    for kind, axes in kinds:
        tree.hinges.append(Hinge(body.name, body.joint.name or body.name, inner, kind, turn @ axes, at, q, v))
        inner, turn, at = len(tree.hinges) - 1, axes.T, np.zeros((1, 3))
        q, v = q + N_COORDINATES[kind], v + N_SPEEDS[kind]
    return Anchor(inner, turn, at)


def add_modes(tree: Partition, body: Body, place: tuple[int, int]) -> None:
    """The MODAL hinge of a flexible body, which has its mass; it starts at the inboard node if that moves relative to the body
    frame."""
    attachment, rest = tree.attachments[body.name], np.zeros(body.n_modes) if body.rest is None else np.asarray(body.rest)
    flexible = builders.flexible_tables
    at = attachment.at + attachment.turn @ flexible.inboard_place(body.elastic)*flexible.inboard_shapes(body.elastic)[1]
    tree.modal[body.name] = len(tree.hinges)
    tree.hinges.append(Hinge(body.name, body.joint.name or body.name, attachment.hinge, MODAL, attachment.turn, at, *place,
                             flexible=body.flexible, rest=rest))
