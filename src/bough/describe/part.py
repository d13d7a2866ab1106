"""Parts of a system: what every kind of part has to say for itself.

A kind of part is one file, in `describe/parts` or, if it is a force element, in `describe/elements`. It holds all that is
particular to the kind: what a person writes, its checks, its lines in printed summaries, and, of force elements, what the
compiler, the results and the replay need of it, as plain data. The other rooms go through the registry `describe.parts.PARTS` and
name no kind.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar

from bough.describe.base import Description
from bough.describe.body import Body
from bough.describe.numeric import Text
from bough.errors import Path

Drawing = dict[str, Any]
Kind = TypeVar("Kind", bound="Part")
BESIDE = "a frame beside it (at is not zero)"
FORCE_BESIDE = "a force beside it (at is not zero)"


class SystemView(Protocol):
    """What a part may look at to check itself: the rest of its system."""

    @property
    def bodies(self) -> Mapping[str, Body]: ...

    @property
    def name(self) -> str: ...

    @property
    def gravity(self) -> Any: ...

    @property
    def loops(self) -> Mapping[str, Any]: ...

    @property
    def wheels(self) -> Mapping[str, Any]: ...

    @property
    def events(self) -> Mapping[str, Any]: ...

    def of(self, kind: type[Kind]) -> Mapping[str, Kind]:
        """The parts of a kind by name."""


class Attachment(NamedTuple):
    """Where a part sits on a body: the field that names the place, the body and, of a flexible one, the node (None: its inboard
    one). `turning` is what of the part must turn with the node, if anything.
    """

    body: str
    node: str | None
    turning: str = ""
    side: str = ""          # the field that holds a Frame, which may be on the world; "": the part itself says body and node


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


class Part(Description):
    """A named part of a system."""

    key: ClassVar[str]          # of the list of such parts, in System and in YAML
    recorded: ClassVar[Mapping[str, Recorded]] = {}         # in results, by the name of the variable
    name: Text

    def __init__(self, **fields: Any) -> None:
        super().__init__(**fields)

    @classmethod
    def yaml_schema(cls) -> dict[str, Any] | None:
        """The JSON Schema of an entry of its list, if it is not that of its fields."""
        return None

    def attachments(self) -> tuple[Attachment, ...]:
        """Where it sits on bodies."""
        return ()

    def check(self, system: SystemView) -> Iterator[Finding]:
        """What is wrong with it in a complete system, besides bodies and nodes that are not there."""
        yield from ()

    def refused(self, system: SystemView) -> str:
        """Why no model can be made of a system with it, if so: a sentence with its subject."""
        return ""

    def load_line(self) -> str:
        """Its line among the loads that a model lists, if it is one."""
        return ""

    def nonconservative_effects(self) -> tuple[str, ...]:
        """What of it does work that no potential energy accounts for."""
        return ()

    def external_effects(self) -> tuple[str, ...]:
        """What of it changes the momenta of the system."""
        return ()

    def drawing(self) -> list[Drawing]:
        """What the replay draws of it: mappings with a `kind`, places as Frames."""
        return []
