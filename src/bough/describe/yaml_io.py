"""YAML in and out: safe, exact in every number, and with the line of whatever is wrong."""

from __future__ import annotations

import re
from collections.abc import Iterable
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from yaml.reader import ReaderError

from bough.errors import DescriptionError, Problem
from bough.errors import Path as KeyPath

_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_RULES = [                                                       # YAML 1.2: 1e-3 is a number, 'on' and 1:30 are texts
    ("null", re.compile(r"~|null|Null|NULL|"), "~nN\0"),
    ("bool", re.compile(r"true|True|TRUE|false|False|FALSE"), "tTfF"),
    ("int", re.compile(r"[-+]?[0-9]+"), "-+0123456789"),
    ("float", _FLOAT, "-+.0123456789"),
    ("merge", re.compile(r"<<"), "<"),
]  # fmt: skip


class Source(NamedTuple):
    """The data of a YAML text, and its nodes, which know their lines."""

    data: Any
    root: yaml.Node | None
    name: str

    def locate(self, problems: Iterable[Problem]) -> list[Problem]:
        """The problems in the order of the lines where they stand, each with its place: "arm.yaml:12"."""
        lines = sorted(((_line(self.root, problem.path), problem) for problem in problems), key=itemgetter(0))
        return [problem._replace(place=_place(self.name, line)) for line, problem in lines]


class _Loader(yaml.SafeLoader):
    """PyYAML's safe loader with the scalars of YAML 1.2, and no key twice in a mapping."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012

    def compose_mapping_node(self, anchor: Any) -> Any:
        node = super().compose_mapping_node(anchor)
        lines: dict[str, int] = {}
        for key in (key for key, _ in node.value if isinstance(key, yaml.ScalarNode)):
            line = key.start_mark.line + 1
            if key.value in lines:
                first = lines[key.value]
                raise _DuplicateKey(f"key {key.value!r} is given twice, first in line {first}; keep one of them", line)
            lines[key.value] = line
        return node

    def construct_yaml_int(self, node: Any) -> int:
        return int(self.construct_scalar(node))

    def construct_yaml_float(self, node: Any) -> float:
        return float(self.construct_scalar(node).lower().replace(".inf", "inf").replace(".nan", "nan"))


class _Dumper(yaml.SafeDumper):
    """Texts that any YAML reader could take for something else are quoted; nothing is written as an alias."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


class _DuplicateKey(Exception):
    pass


for _tag, _pattern, _first in _RULES:
    _whole = re.compile(f"^(?:{_pattern.pattern})$")
    for _target in (_Loader, _Dumper):
        _target.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", _whole, ["" if c == "\0" else c for c in _first])
_Loader.add_constructor("tag:yaml.org,2002:int", _Loader.construct_yaml_int)
_Loader.add_constructor("tag:yaml.org,2002:float", _Loader.construct_yaml_float)


def read(text: str, name: str = "") -> Source:
    """The data of a YAML text; `name` is the file's, for messages.

    >>> read("a: 1e-3").data
    {'a': 0.001}
    """
    try:
        loader = _Loader(text)
        root = loader.get_single_node()
        return Source(None if root is None else loader.construct_document(root), root, name)
    except _DuplicateKey as error:
        message, line = error.args
        raise DescriptionError([Problem(message, place=_place(name, line))]) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = ", ".join(part for part in (error.context, error.problem) if part)
        raise _not_yaml(name, mark.line + 1 if mark else 0, what) from None
    except ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise _not_yaml(name, line, f"the character #x{error.character:04x} is not allowed") from None
    except (ValueError, KeyError, AttributeError) as error:
        raise _not_yaml(name, 0, f"a tag (!!) or a number does not fit ({error})") from None
    except RecursionError:
        raise _not_yaml(name, 0, "it is nested too deeply") from None


def read_file(path: str | Path) -> Source:
    """The data of a YAML file."""
    try:
        return read(Path(path).read_text(encoding="utf-8"), str(path))
    except FileNotFoundError:
        raise DescriptionError(f"{path}: there is no such file; give the path of a YAML file") from None
    except UnicodeDecodeError as error:
        raise DescriptionError(f"{path}: is not text in UTF-8 ({error.reason}); save it as UTF-8") from None
    except OSError as error:
        raise DescriptionError(f"{path}: cannot be read ({error.strerror or error}); give a YAML file") from None


def write(data: Any) -> str:
    """The YAML text of plain data: vectors and joints in one line, the rest one key a line.

    >>> print(write({"bodies": [{"name": "on", "at": [1e-7, 0.0, 2.0]}]}), end="")
    bodies:
    - name: 'on'
      at: [1.0e-07, 0.0, 2.0]
    """
    stream = _Stream()
    dumper = _Dumper(stream, width=110, allow_unicode=True, sort_keys=False)
    dumper.open()
    dumper.serialize(_styled(dumper.represent_data(data)))
    dumper.close()
    return "".join(stream)


class _Stream(list[str]):
    write = list.append


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


def _line(node: yaml.Node | None, path: KeyPath) -> int:
    """The line of the deepest key of the path that is there; 0 for the whole."""
    line = node.start_mark.line + 1 if node and path else 0
    for step in path:
        if isinstance(node, yaml.MappingNode):
            pairs = [(key, value) for key, value in node.value if key.value == step]
            if not pairs:
                break
            line, node = pairs[-1][0].start_mark.line + 1, pairs[-1][1]
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
