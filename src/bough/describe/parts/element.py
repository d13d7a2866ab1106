"""Base classes of force elements: what other packages need from each.

A force element is one file of this folder, which holds all but its kernel: the description, its checks, its numbers for the
compiled tables, what is recorded of it, its lines in summaries, its drawing. To add one, write that file, list its class in
`__init__.py`, give System a method that adds it, declare its parameters in `sweeps.records` and write its kernel in
`sweeps.force_elements`.
"""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from bough.describe.body import WORLD, Frame, FrameField
from bough.describe.numeric import Text
from bough.describe.part import BESIDE, Attachment, Drawing, Finding, Part, Recorded, SystemView
from bough.describe.settings import CentralGravity

Floats = NDArray[np.float64]


class Anchor(NamedTuple):
    """A frame as the compiler has it, fixed in the body of a hinge."""

    hinge: int
    turn: Floats            # (3, 3) its axes to those of the hinge's body
    at: Floats              # (batch, 3) m, its origin there


class Places(Protocol):
    """What the compiler answers about places."""

    @property
    def gravity(self) -> Floats: ...

    def anchor(self, frame: Frame) -> Anchor:
        """Which body of a hinge a frame is fixed in, and where."""

    def neutral(self, anchor: Anchor) -> Floats:
        """(batch, 3): where its origin is in the world where all coordinates are neutral."""


class TableEntry(NamedTuple):
    """What the kernel of an element reads: the places `b` and, if it has two ends, `a`; an integer of its choice; and its
    parameters, as records that `sweeps.records` declares, each by its name with the values of its fields.
    """

    b: Anchor
    a: Anchor | None
    option: int
    records: Sequence[tuple[str, Mapping[str, Any]]]


class Exerted(NamedTuple):
    """What the kernel of an element leaves, for many states."""

    wrench: Floats          # (states, 6): moment and force on b at its place, world axes
    energy: Floats          # (states,)
    tension: Floats         # (states,)


class FramesOf(Protocol):
    """A place in many states: position (states, 3) and attitude (states, 3, 3)."""

    @property
    def position(self) -> Floats: ...

    @property
    def attitude(self) -> Floats: ...


class Motion(Protocol):
    """What results know of bodies in many states."""

    def place(self, body: str, node: str | None) -> FramesOf:
        """The frame of a body, or of a node of a flexible one."""


BODY_LOAD = {                                               # of an element that acts on one body
    "element_force": Recorded(("element", "component"), "N m, N",
                              "moment and force on the body, at the point of the element (buoyancy: the body's origin), world axes",
                              "world axes"),
    "element_limit": Recorded(("element",), "", "0 where the law of the element holds, else what is beyond it", limit=True),
}


class Element(Part, init=False):
    """A force element: it exerts forces that depend on the positions and velocities of bodies."""

    # the first of the variables that are `recorded` of it is its load
    limits: ClassVar[Mapping[int, str]] = {}                # what a code of its limit variable means

    @property
    def load(self) -> str:
        """The variable that is its load."""
        return next(iter(self.recorded))

    @property
    def ends(self) -> tuple[Frame, ...]:
        """The places that it acts on, and measures: the last is b."""
        raise NotImplementedError

    def attachments(self) -> tuple[Attachment, ...]:
        """Its ends, as frames `a` and `b`."""
        sides = zip("ab", self.ends, strict=True)
        return tuple(Attachment(end.body, end.node, self.turned(end), side) for side, end in sides)

    def turned(self, end: Frame) -> str:
        """What of it turns with an end, if anything."""
        return BESIDE if any(end.at) else ""

    @property
    def needs_world(self) -> bool:
        """Whether it acts between a body and the world."""
        return any(end.body == WORLD for end in self.ends)

    def refused(self, system: SystemView) -> str:
        """The world must be an inertial frame if it acts on it."""
        if isinstance(system.gravity, CentralGravity) and self.needs_world:
            return (f"{self.noun} '{self.name}' acts between a body and the world; with central gravity the tree moves about its "
                    "mass center: give the system uniform gravity")
        return ""

    @abstractmethod
    def table_entry(self, places: Places) -> TableEntry:
        """Its numbers for the compiled tables."""

    @abstractmethod
    def values(self, exerted: Exerted, motion: Motion) -> dict[str, Floats]:
        """Of each variable that is recorded, (states, ...); this may not depend on which other states there are."""

    def result_line(self, values: Mapping[str, Floats]) -> str:
        """The line of a summary about its recorded values, if any."""
        return ""

    def external_effects(self) -> tuple[str, ...]:
        """The world, if it acts on it."""
        return (f"a {self.noun} to the world",) if self.needs_world else ()

    @abstractmethod
    def drawing(self) -> list[Drawing]:
        """What the replay draws of it: mappings with a `kind` ("line" from frame a to frame b, "spring" at a frame, "water" up to
        a level, "frustum" on a body).
        """


class Between(Element, init=False):
    """A force element between two frames, the second of which is that of its load."""

    unchanging: ClassVar[tuple[str, str]]       # what its frames are, and what never happens if they cannot move
    a: FrameField
    b: FrameField

    @property
    def ends(self) -> tuple[Frame, ...]:
        return self.a, self.b

    def check(self, system: SystemView) -> Iterator[Finding]:
        """Its frames must be able to move: they are not on one rigid body, nor on one node, nor both on the world."""
        body, (places, never) = self.a.body, self.unchanging
        bends = body in system.bodies and system.bodies[body].flexible is not None
        if body == self.b.body and (not bends or self.a.node == self.b.node):
            where = "the world and itself" if body == WORLD else f"two {places} of body {body!r}"
            yield Finding(f"a {self.noun} between {where} never {never}: give a or b another body", ("b", "body"))


class OnBody(Element, init=False):
    """A force element between a body and the world; its load is that on the body."""

    recorded: ClassVar[Mapping[str, Recorded]] = BODY_LOAD
    body: Text

    @property
    def ends(self) -> tuple[Frame, ...]:
        return (Frame(self.body),)

    def attachments(self) -> tuple[Attachment, ...]:
        return (Attachment(self.body, None),)

    @property
    def needs_world(self) -> bool:
        return True

    def load_line(self) -> str:
        return f"{self.noun} {self.name} on {self.body}"
