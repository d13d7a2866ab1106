"""Loops: a joint, or a distance, between two frames of the tree."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema

from bough.describe.base import Description, mapping_schema
from bough.describe.body import WORLD, Frame, FrameField
from bough.describe.joint import Joint, joint_schema, read_joint, write_joint
from bough.describe.numeric import Truth, above_zero, shown
from bough.describe.part import BESIDE, Attachment, Drawing, Finding, Part, Recorded, SystemView
from bough.describe.settings import CentralGravity
from bough.errors import DescriptionError, Problem

_FOLLOWS = "but the coordinates of a loop's joint follow from those of the tree; leave it out, and give {} to the joints of bodies"
_REFUSED = {                                                    # options that only the joint of a body has
    "name": "but a loop has its own name; leave it out",
    "motion": _FOLLOWS.format("motion"),
    "q0": _FOLLOWS.format("q0"),
    "v0": _FOLLOWS.format("v0"),
}


class Distance(Description):
    """Closes a loop by fixing the distance between the origins of its two frames: a massless rod of the `length` [m] between two
    ball joints.

    >>> Distance(2)
    Distance(length=2.0)
    >>> Distance(2).kind
    'distance'
    """

    length: Annotated[float, above_zero("m")]

    def __init__(self, length: float) -> None:
        super().__init__(length=length)

    kind: ClassVar[str] = "distance"        # as a joint has one


def read_closure(value: Any) -> Joint | Distance:
    """What closes a loop, given as it is or as in YAML: any joint that holds something, or a distance.

    >>> read_closure({"type": "distance", "length": 2})
    Distance(length=2.0)
    >>> read_closure("spherical")
    Spherical()
    """
    if value is None:
        raise ValueError("is None; give a joint, such as Spherical(), or a Distance")
    if isinstance(value, Distance):
        return value
    given = {"type": value} if isinstance(value, str) else value
    if isinstance(given, Mapping) and given.get("type") == "distance":
        return Distance.from_mapping({key: entry for key, entry in given.items() if key != "type"})
    joint = read_joint(given, others=("distance",))
    if problems := _refusals(joint):
        raise DescriptionError(problems)
    return joint


def _refusals(joint: Joint) -> list[Problem]:
    """What a joint is or has that makes no sense in a loop."""
    subject = "joint" if joint.kind == "general" else f"{joint.kind} joint"
    given = [(key, value) for key, value in joint if key in _REFUSED and value is not None]
    found = [Problem(f"{key} is {shown(value)}, {_REFUSED[key]}", subject, (key,)) for key, value in given]
    if joint.n_v == 6:
        text = "it leaves all 6 motions free and closes nothing; give a joint that holds some, such as Spherical(), or no loop"
        found.append(Problem(text, subject))
    return found


def write_closure(joint: Joint | Distance) -> str | dict[str, Any]:
    """What closes a loop as a person would write it.

    >>> write_closure(Distance(2))
    {'type': 'distance', 'length': 2.0}
    """
    return {"type": "distance", "length": joint.length} if isinstance(joint, Distance) else write_joint(joint)


_DISTANCE = mapping_schema({"type": {"const": "distance"}, "length": {"type": "number", "exclusiveMinimum": 0}})
CLOSURE = {"anyOf": [*joint_schema(without=("free", *_REFUSED)), _DISTANCE]}
Closure = Annotated[Joint | Distance, BeforeValidator(read_closure), PlainSerializer(write_closure), WithJsonSchema(CLOSURE)]


class Loop(Part):
    """A loop, closed by a joint or a Distance between two frames. The frame `a` is the parent side of the joint, the frame `b` the
    child side: at zero coordinates the two coincide. All motions that the joint does not leave free are constrained; its
    stiffness, damping, rest and torque act along the free ones; it has no prescribed motion. A loop that is `open` at the start is
    closed by an event (see Close).

    >>> Loop("strut", "spherical", Frame("panel", at=(1, 0, 0)), "bus")
    Loop('strut', joint=Spherical(), a=Frame(body='panel', at=(1.0, 0.0, 0.0)), b=Frame(body='bus'))
    >>> Loop("strut", "free", "panel", "bus")
    Traceback (most recent call last):
    bough.errors.DescriptionError: loop 'strut': free joint: it leaves all 6 motions free and closes nothing; give a joint that holds some, such as Spherical(), or no loop
    """  # noqa: E501

    key: ClassVar[str] = "loops"
    recorded: ClassVar[dict[str, Recorded]] = {
        "constraint_force": Recorded(("loop", "component"), "N m, N",
                                     "moment and force of the body of frame a on that of b, at frame b's origin, its axes; NaN "
                                     "while the loop is open",
                                     "axes of b"),
        "loop_gap": Recorded(("loop",), "m", "largest gap of the translations that a loop holds"),
        "loop_gap_angle": Recorded(("loop",), "rad", "largest gap of the rotations that a loop holds"),
    }
    joint: Closure
    a: FrameField
    b: FrameField
    open: Truth = False

    def __init__(self, name: str, joint: Any, a: Any, b: Any, open: bool = False) -> None:
        super().__init__(name=name, joint=joint, a=a, b=b, open=open)

    def attachments(self) -> tuple[Attachment, ...]:
        sides = (("a", self.a), ("b", self.b))
        return tuple(Attachment(frame.body, frame.node, self._turned(frame), side) for side, frame in sides)

    def _turned(self, frame: Frame) -> str:
        """What of it turns with a frame, if anything: a point that is held at the node itself does not."""
        if any(frame.at):
            return BESIDE
        if isinstance(self.joint, Distance):
            return ""
        joint, slides = self.joint, bool(self.joint.translations) and frame is self.a
        turns_freely = joint.spherical or len(joint.rotations) == 3
        moments = (entry for values in (joint.stiffness, joint.damping, joint.torque) for entry in (values or ())[-3:])
        return "" if turns_freely and not slides and not any(moments) else "a joint"

    def check(self, system: SystemView) -> Iterator[Finding]:
        """A loop between two places of one body closes nothing."""
        body = self.a.body
        if self.b.body != body:
            return
        if body == WORLD:
            text = "a loop between the world and itself closes nothing: give a or b a body of the system"
        elif self.a.node != self.b.node and body in system.bodies and system.bodies[body].flexible is not None:
            text = f"a and b are nodes of one body, {body!r}, and a loop does not hold these; hold them in its finite elements"
        else:
            text = f"a loop between body {body!r} and itself closes nothing: give b another body, or world"
        yield Finding(text, ("b", "body"))

    def refused(self, system: SystemView) -> str:
        if isinstance(system.gravity, CentralGravity) and WORLD in (self.a.body, self.b.body):
            return (f"loop '{self.name}' holds a body to the world; with central gravity the tree moves about its mass center: "
                    "hold it to another body")
        return ""

    def nonconservative_effects(self) -> tuple[str, ...]:
        """Dampers and motors along what it leaves free."""
        return () if isinstance(self.joint, Distance) else self.joint.nonconservative_effects()

    def external_effects(self) -> tuple[str, ...]:
        return ("a loop to the world",) if WORLD in (self.a.body, self.b.body) else ()

    @property
    def label(self) -> str:
        kind = f"distance {self.joint.length:g} m" if isinstance(self.joint, Distance) else self.joint.kind
        return f"loop {self.name}   {kind}: {self.a.label} - {self.b.label}" + ", open at the start"*self.open

    def drawing(self) -> list[Drawing]:
        return [{"kind": "loop", "a": self.a, "b": self.b, "joint": self.joint}]
