"""YAML files of systems: what they hold, key by key; read safely, written exact in every number, with line numbers in errors."""

import gc
import math
import re
from collections.abc import Iterable, Mapping
from io import StringIO
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import yaml
from pydantic import BeforeValidator, WithJsonSchema, create_model
from yaml.composer import Composer
from yaml.reader import ReaderError

from bough.describe import body_shapes, flexible_recipes
from bough.describe.base import Description
from bough.describe.body import Body
from bough.describe.numeric import Text, items, shown
from bough.describe.parts import PARTS, Part
from bough.describe.settings import Gravity, Simulation
from bough.errors import DescriptionError, Path as KeyPath, Problem
from bough.whole import write_text

_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_RULES = [                                                       # YAML 1.2: 1e-3 is a number, 'on' and 1:30 are texts
    ("null", re.compile(r"~|null|Null|NULL|"), "~nN\0"),
    ("bool", re.compile(r"true|True|TRUE|false|False|FALSE"), "tTfF"),
    ("int", re.compile(r"[-+]?[0-9]+"), "-+0123456789"),
    ("float", _FLOAT, "-+.0123456789"),
    ("merge", re.compile(r"<<"), "<"),
]

MOST_REPEATED = 1_000_000           # values that aliases may stand for in a file: nested ones multiply
_PARSERS: tuple[Any, ...] = (Composer, yaml.CSafeLoader) if yaml.__with_libyaml__ else (yaml.SafeLoader,)


class Source(NamedTuple):
    """The data of a YAML text, and its nodes, which know their lines."""

    data: Any
    root: yaml.Node | None
    name: str

    def locate(self, problems: Iterable[Problem]) -> list[Problem]:
        """The problems in the order of the lines where they stand, each with its place: "arm.yaml:12"."""
        keys: _Keys = {}
        lines = [(_line(self.root, problem.path, keys), problem) for problem in problems]
        lines.sort(key=lambda found: found[0] or math.inf)                 # what is wrong with the whole comes last
        return [problem._replace(place=_place(self.name, line)) for line, problem in lines]


class _Loader(*_PARSERS):  # type: ignore[misc]
    """PyYAML's safe loader with the scalars of YAML 1.2, no key twice in a mapping, and aliases that stand for not too much.

    libyaml parses, where it is there; nodes are composed in Python, which ends at a depth instead of crashing."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012

    def __init__(self, text: str, file: str) -> None:
        _PARSERS[-1].__init__(self, text)
        self.file, self.anchors = file, dict[str, Any]()
        self.nodes, self.repeated, self.sizes = 0, 0, dict[Any, int]()     # with aliases written out; by aliases; of each anchor

    def compose_node(self, parent: Any, index: Any) -> Any:
        event, before = self.peek_event(), self.nodes
        if isinstance(event, yaml.AliasEvent):
            if event.anchor in self.anchors and event.anchor not in self.sizes:
                raise self.refused(f"alias *{event.anchor} stands inside what it repeats; write it out", event)
            self.nodes += self.sizes.get(event.anchor, 0)
            self.repeated += self.nodes - before
            if self.repeated > MOST_REPEATED:
                text = f"alias *{event.anchor} and those before it repeat more than {MOST_REPEATED:,} values; use fewer"
                raise self.refused(text, event)
            return super().compose_node(parent, index)
        self.nodes += 1
        node = super().compose_node(parent, index)
        if event.anchor is not None:
            self.sizes[event.anchor] = self.nodes - before
        return node

    def compose_mapping_node(self, anchor: Any) -> Any:
        node = super().compose_mapping_node(anchor)
        lines: dict[str, int] = {}
        for key in (key for key, _ in node.value if isinstance(key, yaml.ScalarNode)):
            if key.value in lines:
                text = f"key {shown(key.value)} is given twice, first in line {lines[key.value]}; keep one of them"
                raise self.refused(text, key)
            lines[key.value] = key.start_mark.line + 1
        return node

    def refused(self, text: str, at: Any) -> DescriptionError:
        """YAML that is valid, but not wanted; where."""
        return DescriptionError([Problem(text, place=_place(self.file, at.start_mark.line + 1))])


class _Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
    """Texts that any YAML reader could take for something else are quoted; nothing is written as an alias."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


for _tag, _pattern, _first in _RULES:
    _whole = re.compile(f"^(?:{_pattern.pattern})$")
    for _target in (_Loader, _Dumper):
        _target.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", _whole, ["" if c == "\0" else c for c in _first])
_Loader.add_constructor("tag:yaml.org,2002:int", lambda loader, node: int(loader.construct_scalar(node)))
_Loader.add_constructor("tag:yaml.org,2002:float", lambda loader, node: float(
    loader.construct_scalar(node).lower().replace(".inf", "inf").replace(".nan", "nan")))


def read(text: str, name: str = "") -> Source:
    """The data of a YAML text; `name` is the file's, for messages.

    >>> read("a: 1e-3").data
    {'a': 0.001}
    """
    collecting = gc.isenabled()
    gc.disable()                        # all that is made is kept: looking for garbage in it takes half of the time
    try:
        loader = _Loader(text, name)
        root = loader.get_single_node()
        return Source(None if root is None else loader.construct_document(root), root, name)
    except DescriptionError:
        raise
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = ", ".join(part for part in (error.context, error.problem) if part)
        raise _not_yaml(name, mark.line + 1 if mark else 0, what) from None
    except ReaderError as error:
        line = text.encode()[: error.position].count(b"\n") + 1
        raise _not_yaml(name, line, f"the character #x{error.character:04x} is not allowed") from None
    except (ValueError, KeyError, AttributeError) as error:
        raise _not_yaml(name, 0, f"a tag (!!) or a number does not fit ({error})") from None
    except RecursionError:
        raise _not_yaml(name, 0, "it is nested too deeply") from None
    finally:
        if collecting:
            gc.enable()


def read_file(path: str | Path) -> Source:
    """The data of a YAML file."""
    try:
        return read(Path(path).read_text(encoding="utf-8"), str(path))
    except FileNotFoundError:
        raise DescriptionError(f"{path}: there is no such file; give the path of a YAML file") from None
    except UnicodeDecodeError as error:
        saved = Path(path).suffix in (".nc", ".h5", ".hdf5")
        remedy = "open a saved result with bough.open_result" if saved else "save it as UTF-8"
        raise DescriptionError(f"{path}: is not text in UTF-8 ({error.reason}); {remedy}") from None
    except OSError as error:
        raise DescriptionError(f"{path}: cannot be read ({error.strerror or error}); give a YAML file") from None


def write(data: Any) -> str:
    """The YAML text of plain data: vectors and joints in one line, the rest one key a line.

    >>> print(write({"bodies": [{"name": "on", "at": [1e-7, 0.0, 2.0]}]}), end="")
    bodies:
    - name: 'on'
      at: [1.0e-07, 0.0, 2.0]
    """
    stream = StringIO()
    dumper = _Dumper(stream, width=110, allow_unicode=True, sort_keys=False)
    dumper.open()
    dumper.serialize(_styled(dumper.represent_data(data)))
    dumper.close()
    return stream.getvalue()


def write_file(path: Path, data: dict[str, Any]) -> str:
    """Write plain data to a YAML file, names of files in its folder relative to it; the text."""
    written = write(beside(data, path.absolute().parent))
    write_text(path, written)
    return written


def _styled(node: yaml.Node, depth: int = 0) -> yaml.Node:
    """Flow style from the values of a body on (depth 3), and for lists without mappings at any depth."""
    if isinstance(node, yaml.MappingNode):
        node.flow_style = depth >= 3
        for _, value in node.value:
            _styled(value, depth + 1)
    elif isinstance(node, yaml.SequenceNode):
        node.flow_style = depth >= 3 or not any(isinstance(entry, yaml.MappingNode) for entry in node.value)
        for entry in node.value:
            _styled(entry, depth + 1)
    return node


_Keys = dict[int, dict[Any, tuple[yaml.Node, yaml.Node]]]          # the last pair of each key, by the id of a mapping


def _line(node: yaml.Node | None, path: KeyPath, keys: _Keys) -> int:
    """The line of the deepest key of the path that is there; 0 for the whole."""
    line = node.start_mark.line + 1 if node and path else 0
    for step in path:
        if isinstance(node, yaml.MappingNode):
            if id(node) not in keys:
                keys[id(node)] = {key.value: (key, value) for key, value in node.value if isinstance(key, yaml.ScalarNode)}
            if step not in keys[id(node)]:
                break
            key, node = keys[id(node)][step]
            line = key.start_mark.line + 1
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
            node = node.value[step]
            line = node.start_mark.line + 1
        else:
            break
    return line


def _place(name: str, line: int) -> str:
    if name:
        return f"{name}:{line}" if line else name
    return f"line {line}" if line else ""


def _not_yaml(name: str, line: int, what: Any) -> DescriptionError:
    problem = f"not valid YAML: {what}; check the indentation, the brackets and the colons around here"
    return DescriptionError([Problem(problem, place=_place(name, line))])


# ---- document --------------------------------------------------------------------------------------------------------------
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


class DocumentHead(Description, init=False):
    """What a YAML file holds besides the lists of parts."""

    noun: ClassVar[str] = "system"
    bough: Annotated[Literal[1], BeforeValidator(_version)] = 1
    name: Text = "system"
    gravity: Gravity = (0.0, 0.0, 0.0)
    bodies: Annotated[tuple[Annotated[Body, BeforeValidator(Body.from_mapping)], ...], BeforeValidator(_entries)] = ()
    simulation: Annotated[Simulation, BeforeValidator(Simulation.from_mapping)] | None = None
    notes: Annotated[tuple[Text, ...], BeforeValidator(_texts)] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, texts, lists and dicts, with the format and the name always there."""
        written = {"bough": FORMAT, "name": self.name} | super().to_dict()
        return written | {key: written.pop(key) for key in ("simulation", "notes") if key in written}       # last


def _list_of(kind: type[Part]) -> Any:
    schema = kind.yaml_schema()
    entry: Any = Annotated[kind, BeforeValidator(kind.from_mapping)]
    entry = entry if schema is None else Annotated[entry, WithJsonSchema(schema)]
    return Annotated[tuple[entry, ...], BeforeValidator(_entries)]


_LISTS: dict[str, Any] = {kind.key: (_list_of(kind), ()) for kind in PARTS}
Document: type[DocumentHead] = create_model("Document", __base__=DocumentHead, **_LISTS)
Document.__doc__ = "A system as its YAML file holds it; names are not compared with each other here."
Document.noun = DocumentHead.noun


def in_folder(data: Any, folder: Path) -> Any:
    """The data of a YAML file, with the relative names of files resolved against its folder."""
    bodies = data.get("bodies") if isinstance(data, Mapping) else None
    return data | {"bodies": [_body_in(folder, body) for body in bodies]} if isinstance(bodies, list) else data


def _body_in(folder: Path, body: Any) -> Any:
    readers = {"flexible": flexible_recipes.in_folder, "shapes": body_shapes.in_folder}
    found = {key: read(body[key], folder) for key, read in readers.items() if isinstance(body, Mapping) and key in body}
    return body | found if found else body


def beside(data: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The data of a system for a YAML file in a folder: the names of mesh files within the folder start there."""
    bodies = [body | {"shapes": body_shapes.beside(body["shapes"], folder)} if "shapes" in body else body
              for body in data.get("bodies", [])]
    return data | {"bodies": bodies} if bodies else data


def json_schema() -> dict[str, Any]:
    """The JSON Schema of bough's YAML files, for editors that complete and check while one types.

    >>> list(json_schema()["properties"])[:4]
    ['bough', 'name', 'gravity', 'bodies']
    """
    return {"$schema": "https://json-schema.org/draft/2020-12/schema"} | Document.model_json_schema()
