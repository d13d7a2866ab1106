"""The whole of a description as one value: what a YAML file holds, key by key."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, WithJsonSchema, create_model

from bough.describe import flexible_mapping, shapes
from bough.describe.base import Description
from bough.describe.body import Body
from bough.describe.gravity import Gravity
from bough.describe.numeric import Text, items, shown
from bough.describe.parts import PARTS, Part
from bough.describe.settings import Simulation

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


def _settings(value: Any) -> Simulation | None:
    return None if value is None else Simulation.from_mapping(value)


class DocumentHead(Description):
    """What a YAML file holds besides the lists of parts."""

    noun: ClassVar[str] = "system"
    bough: Annotated[Literal[1], BeforeValidator(_version)] = 1
    name: Text = "system"
    gravity: Gravity = (0.0, 0.0, 0.0)
    bodies: Annotated[tuple[Annotated[Body, BeforeValidator(Body.from_mapping)], ...], BeforeValidator(_entries)] = ()
    simulation: Annotated[Simulation | None, BeforeValidator(_settings)] = None
    notes: Annotated[tuple[Text, ...], BeforeValidator(_texts)] = ()

    def __init__(self, **fields: Any) -> None:
        super().__init__(**fields)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, texts, lists and dicts, with the format and the name always there."""
        written = {"bough": FORMAT, "name": self.name} | super().to_dict()
        return written | {key: written.pop(key) for key in ("simulation", "notes") if key in written}       # last

    def parts(self, key: str) -> tuple[Part, ...]:
        """The list of parts of this key."""
        return tuple(getattr(self, key))


def _list_of(kind: type[Part]) -> Any:
    schema = kind.yaml_schema()
    entry: Any = Annotated[kind, BeforeValidator(kind.from_mapping)]
    entry = entry if schema is None else Annotated[entry, WithJsonSchema(schema)]
    return Annotated[tuple[entry, ...], BeforeValidator(_entries)]


_LISTS: dict[str, Any] = {kind.key: (_list_of(kind), ()) for kind in PARTS}
Document: type[DocumentHead] = create_model("Document", __base__=DocumentHead, **_LISTS)
Document.__doc__ = "A system as its YAML file holds it; names are not compared with each other here."


def in_folder(data: Any, folder: Path) -> Any:
    """The data of a YAML file, with the relative names of files resolved against its folder."""
    bodies = data.get("bodies") if isinstance(data, Mapping) else None
    return data | {"bodies": [_body_in(folder, body) for body in bodies]} if isinstance(bodies, list) else data


def _body_in(folder: Path, body: Any) -> Any:
    readers = {"flexible": flexible_mapping.in_folder, "shapes": shapes.in_folder}
    found = {key: read(body[key], folder) for key, read in readers.items() if isinstance(body, Mapping) and key in body}
    return body | found if found else body


def beside(data: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The data of a system for a YAML file in a folder: the names of mesh files within the folder start there."""
    bodies = [body | {"shapes": shapes.beside(body["shapes"], folder)} if "shapes" in body else body
              for body in data.get("bodies", [])]  # fmt: skip
    return data | {"bodies": bodies} if bodies else data


def json_schema() -> dict[str, Any]:
    """The JSON Schema of bough's YAML files, for editors that complete and check while one types.

    >>> list(json_schema()["properties"])[:4]
    ['bough', 'name', 'gravity', 'bodies']
    """
    return {"$schema": "https://json-schema.org/draft/2020-12/schema"} | Document.model_json_schema()
