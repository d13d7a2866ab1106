"""Parts of a system: the base class of all kinds of parts; what the names of coordinates refer to.

A kind of part is one file in `describe/parts`. It contains everything specific to that kind: the description, its checks, its lines
in printed summaries and, for force elements, what the compiler, the results and the replay need, as plain data. Other packages use
the registry `describe.parts.PARTS` and name no kind.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, TypeVar

from bough.describe.base import Description
from bough.describe.body import Body
from bough.describe.numeric import Text
from bough.errors import Path, nearest

Drawing = dict[str, Any]
Kind = TypeVar("Kind", bound="Part")
BESIDE = "a frame beside it (at is not zero)"
FORCE_BESIDE = "a force beside it (at is not zero)"


class SystemView(Protocol):
    """What a part may look at to check itself: the rest of its system."""

    name: str
    gravity: Any
    bodies: dict[str, Body]
    loops: dict[str, Any]
    couplings: dict[str, Any]
    wheels: dict[str, Any]
    events: dict[str, Any]
    lines: dict[str, Any]
    bushings: dict[str, Any]
    frictions: dict[str, Any]
    tanks: dict[str, Any]

    def of(self, kind: type[Kind]) -> Mapping[str, Kind]:
        """The parts of a kind by name."""


class Attachment(NamedTuple):
    """A mounting place of a part: the body and, on a flexible one, the node (None: the inboard one). `turning` names the component
    of the part, if any, that needs the rotation of the node.
    """

    body: str
    node: str | None
    turning: str = ""
    side: str = ""          # field with a Frame, which may be on the world; "": the part has fields body and node


class Finding(NamedTuple):
    """What is wrong with a part in its system, and the path to the field at fault."""

    text: str
    path: Path


class Recorded(NamedTuple):
    """A variable of results: its axes behind run and time, the first of which counts parts; its unit; what it is; if it is a
    load, in whose axes ("" else); whether it is a code that says which limit of the part's law is passed, 0: none.
    """

    dims: tuple[str, ...]
    units: str
    meaning: str
    axes: str = ""
    limit: bool = False


class Part(Description, init=False):
    """A named part of a system."""

    key: ClassVar[str]          # of the list of such parts, in System and in YAML
    recorded: ClassVar[Mapping[str, Recorded]] = {}         # in results, by the name of the variable
    name: Text

    @classmethod
    def yaml_schema(cls) -> dict[str, Any] | None:
        """The JSON Schema of an entry of its list, if it is not that of its fields."""
        return None

    def attachments(self) -> tuple[Attachment, ...]:
        """Its mounting places on bodies."""
        return ()

    def check(self, system: SystemView) -> Iterator[Finding]:
        """Errors of the part in a complete system, besides bodies and nodes that do not exist."""
        yield from ()

    def refused(self, system: SystemView) -> str:
        """Why a system with it cannot be compiled, if so: a sentence with its subject."""
        return ""

    def load_line(self) -> str:
        """Its line among the loads that a model lists, if it is one."""
        return ""

    def nonconservative_effects(self) -> tuple[str, ...]:
        """Effects whose work no potential energy accounts for."""
        return ()

    def external_effects(self) -> tuple[str, ...]:
        """Effects that change the momenta of the system."""
        return ()

    def drawing(self) -> list[Drawing]:
        """What the replay draws of it: mappings with a `kind`, places as Frames."""
        return []


# ---- the tree --------------------------------------------------------------------------------------------------------------
def depth_first(system: SystemView, root: str | None = None) -> list[Body]:
    """The bodies that the root (None: the world) carries, depth first: each is followed by one of its children, if any.

    >>> from bough.describe.system import System
    >>> arm = System("arm")
    >>> _ = arm.body("hand", parent="boom"), arm.body("boom", parent="bus"), arm.body("bus")
    >>> [body.name for body in depth_first(arm)]
    ['bus', 'boom', 'hand']
    """
    children: dict[str | None, list[Body]] = {}
    for body in system.bodies.values():
        children.setdefault(body.parent, []).append(body)
    order, stack = list[Body](), children.get(root, [])[::-1]
    while stack:
        order.append(stack.pop())
        stack += children.get(order[-1].name, [])[::-1]
    return order


# ---- coordinate names ------------------------------------------------------------------------------------------------------
NO_ANGLES = "give its body Gimbal (rotations 'xyz')"
Names = Literal["coordinate_names", "speed_names"]  # of entries of q, of v


def entry_named(system: SystemView, name: str, names: Names) -> list[tuple[Body, int]]:
    """The entries of bodies that a name stands for, one if all is well: an entry of its `names`, or the only one of a joint.

    >>> from bough.describe.system import System
    >>> arm = System("arm")
    >>> _ = arm.body("boom", joint={"type": "revolute", "axis": "y"})
    >>> [entry for name in ("boom", "boom.ry") for body, entry in entry_named(arm, name, "speed_names")]
    [0, 0]
    """
    found = []
    for body in system.bodies.values():
        own: tuple[str, ...] = getattr(body, names)
        if name in own:
            found.append((body, own.index(name)))
        elif name in (body.name, body.joint.name) and body.joint.n_v == 1:
            found.append((body, 0))
    return found


class Target(NamedTuple):
    """Entries of the v of a body's joint."""

    body: Body
    entries: tuple[int, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """What the entries are called."""
        return tuple(self.body.speed_names[i] for i in self.entries)

    @property
    def turns(self) -> tuple[str, ...]:
        """Those of its names that belong to a spherical rotation."""
        return tuple(set(self.names) & set(self.body.spherical_names))


def targets(system: SystemView, name: str) -> list[Target]:
    """What a name stands for: one coordinate, or all those of a body's joint. None if it is unknown, several if it is ambiguous.

    >>> from bough.describe.system import System
    >>> arm = System("arm")
    >>> _ = arm.body("bus", joint="free"), arm.body("boom", parent="bus", joint={"type": "universal", "axes": "yz"})
    >>> [target.names for target in targets(arm, "boom")], [target.entries for target in targets(arm, "boom.rz")]
    ([('boom.ry', 'boom.rz')], [(1,)])
    """
    found = []
    for body in system.bodies.values():
        own = body.speed_names[: body.joint.n_v]
        if name in (body.name, body.joint.name):
            found.append(Target(body, tuple(range(len(own)))))
        elif name in own:
            found.append(Target(body, (own.index(name),)))
    return found


def all_speeds(system: SystemView) -> list[str]:
    """The names of all entries of v."""
    return [name for body in system.bodies.values() for name in body.speed_names]


def misnamed(system: SystemView, name: str, found: Sequence[Target]) -> str:
    """The error of a name that is unknown or ambiguous."""
    if found:
        owners = " and of ".join(repr(target.body.name) for target in found)
        return f"may be of body {owners}; give their joints other names"
    for body in system.bodies.values():
        if name in body.coordinate_names[body.joint.n_q :]:
            return "names a modal coordinate, which is always free; name a coordinate of a joint, or give the body fewer modes"
        if name in body.coordinate_names:
            return f"names an entry of a quaternion; name the three speeds {', '.join(body.spherical_names)}, or {NO_ANGLES}"
    known = [*all_speeds(system), *system.bodies, *(body.joint.name for body in system.bodies.values() if body.joint.name)]
    return f"names no coordinate, joint or body of the system{nearest(name, known) or listed(all_speeds(system))}"


def coordinate_fault(system: SystemView, name: str, *, exact: bool = False) -> str:
    """Why a name is not that of one coordinate with a position; `exact`: its joint's name is none, even if it has one only."""
    found = targets(system, name)
    if len(found) != 1:
        return misnamed(system, name, found)
    if found[0].turns:
        return f"belongs to a spherical rotation, which has no angles; {NO_ANGLES}"
    if len(found[0].entries) != 1 or (exact and found[0].names != (name,)):
        return f"names a whole joint; name one of its coordinates: {', '.join(found[0].names) or 'it has none'}"
    return ""


def listed(known: Sequence[str]) -> str:
    """The end of a message that lists the known names."""
    return "; there are " + (", ".join(known[:9]) + (", ..." if len(known) > 9 else "") or "none yet")
