"""The whole of a description as one value: what a YAML file holds, key by key."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, WithJsonSchema

from bough.describe import flexible_mapping, shape_mapping
from bough.describe.base import Description
from bough.describe.body import Body
from bough.describe.elements import Buoyancy, Line, Restoring
from bough.describe.events import EVENT, Event
from bough.describe.gravity import Gravity
from bough.describe.loads import Wrench
from bough.describe.loop import Loop
from bough.describe.numeric import Text, items, shown
from bough.describe.settings import Simulation
from bough.describe.stops import Stop
from bough.describe.wheels import Wheel

FORMAT = 1


def _version(value: Any) -> Any:
    if value != FORMAT or isinstance(value, bool):
        raise ValueError(f"is {shown(value)}; this version reads 'bough: {FORMAT}': write that, or update bough")
    return value


def _entries(value: Any) -> Any:
    if value is None:
        return ()
    if (given := items(value)) is None:
        raise ValueError(f"is {shown(value)}; give a list, each entry starting with '- name: ...'")
    return given


def _texts(value: Any) -> Any:
    return () if value is None else [value] if isinstance(value, str) else value


def _read(kind: type[Description]) -> Callable[[Any], Any]:
    return lambda value: None if value is None and kind is Simulation else kind.from_mapping(value)


class Document(Description):
    """A system as its YAML file holds it; names are not compared with each other here.

    >>> Document.from_mapping({"name": "top", "bodies": [{"name": "disc", "mass": 1}]}).bodies
    (Body('disc', mass=1.0),)
    """

    noun: ClassVar[str] = "system"
    bough: Annotated[Literal[1], BeforeValidator(_version)] = 1
    name: Text = "system"
    gravity: Gravity = (0.0, 0.0, 0.0)
    bodies: Annotated[tuple[Annotated[Body, BeforeValidator(_read(Body))], ...], BeforeValidator(_entries)] = ()
    loops: Annotated[tuple[Annotated[Loop, BeforeValidator(_read(Loop))], ...], BeforeValidator(_entries)] = ()
    wheels: Annotated[tuple[Annotated[Wheel, BeforeValidator(_read(Wheel))], ...], BeforeValidator(_entries)] = ()
    wrenches: Annotated[tuple[Annotated[Wrench, BeforeValidator(_read(Wrench))], ...], BeforeValidator(_entries)] = ()
    events: Annotated[
        tuple[Annotated[Event, BeforeValidator(_read(Event)), WithJsonSchema(EVENT)], ...], BeforeValidator(_entries)
    ] = ()
    stops: Annotated[tuple[Annotated[Stop, BeforeValidator(_read(Stop))], ...], BeforeValidator(_entries)] = ()
    lines: Annotated[tuple[Annotated[Line, BeforeValidator(_read(Line))], ...], BeforeValidator(_entries)] = ()
    restorings: Annotated[tuple[Annotated[Restoring, BeforeValidator(_read(Restoring))], ...], BeforeValidator(_entries)] = ()
    buoyancies: Annotated[tuple[Annotated[Buoyancy, BeforeValidator(_read(Buoyancy))], ...], BeforeValidator(_entries)] = ()
    simulation: Annotated[Simulation | None, BeforeValidator(_read(Simulation))] = None
    notes: Annotated[tuple[Text, ...], BeforeValidator(_texts)] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, texts, lists and dicts, with the format and the name always there."""
        return {"bough": FORMAT, "name": self.name} | super().to_dict()


def in_folder(data: Any, folder: Path) -> Any:
    """The data of a YAML file, the relative names of files in it seen from its folder."""
    bodies = data.get("bodies") if isinstance(data, Mapping) else None
    return data | {"bodies": [_body_in(folder, body) for body in bodies]} if isinstance(bodies, list) else data


def _body_in(folder: Path, body: Any) -> Any:
    readers = {"flexible": flexible_mapping.in_folder, "shapes": shape_mapping.in_folder}
    found = {key: read(body[key], folder) for key, read in readers.items() if isinstance(body, Mapping) and key in body}
    return body | found if found else body


def beside(data: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The data of a system for a YAML file in a folder: the names of mesh files within the folder start there."""
    bodies = [body | {"shapes": shape_mapping.beside(body["shapes"], folder)} if "shapes" in body else body
              for body in data.get("bodies", [])]  # fmt: skip
    return data | {"bodies": bodies} if bodies else data


def json_schema() -> dict[str, Any]:
    """The JSON Schema of bough's YAML files, for editors that complete and check while one types.

    >>> sorted(json_schema()["properties"])[:6]
    ['bodies', 'bough', 'buoyancies', 'events', 'gravity', 'lines']
    """
    return {"$schema": "https://json-schema.org/draft/2020-12/schema"} | Document.model_json_schema()
