"""Input files of Abaqus and CalculiX: keywords with their options and data lines; nodes, elements and sets out of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bough.errors import DescriptionError
from bough.flex.integrals import Array
from bough.flex.recovery import SolidElements

# corners of the faces of solid elements by their number of corners, and the elements by their names
_FACES = {
    8: ((0, 3, 2, 1), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)),
    6: ((0, 2, 1), (3, 4, 5), (0, 1, 4, 3), (1, 2, 5, 4), (2, 0, 3, 5)),
    4: ((0, 2, 1), (0, 1, 3), (1, 2, 3), (2, 0, 3)),
}
_SOLIDS = {"8": 8, "20": 8, "4": 4, "10": 4, "6": 6, "15": 6}


class Keyword(NamedTuple):
    """*NAME, OPTION=VALUE, with the data lines that follow."""

    name: str
    options: dict[str, str]
    lines: list[list[str]]


@dataclass
class Deck:
    """Nodes, elements by type, and sets of nodes."""

    labels: Array
    position: Array
    elements: list[tuple[str, Array, list[list[int]]]] = field(default_factory=list)  # type, numbers, nodes
    node_sets: dict[str, Array] = field(default_factory=dict)
    elastic: dict[str, tuple[float, float]] = field(default_factory=dict)  # E and nu by material
    sections: list[tuple[str, str]] = field(default_factory=list)  # element set, material
    element_sets: dict[str, Array] = field(default_factory=dict)


def keywords(path: Path, source: str) -> Iterator[Keyword]:
    """The keywords of an input file and of those it includes."""
    current: Keyword | None = None
    for line in _text(path, source).splitlines():
        line = line.strip()
        if not line or line.startswith("**"):
            continue
        if not line.startswith("*"):
            if current is not None:
                current.lines.append([part.strip() for part in line.split(",")])
            continue
        if current is not None:
            yield current
            current = None
        parts = [part.strip() for part in line[1:].split(",")]
        options = {key.strip().upper(): value.strip().strip('"') for key, _, value in (part.partition("=") for part in parts[1:])}
        current = Keyword(parts[0].upper(), options, [])
        if current.name == "INCLUDE" and "INPUT" in options:
            current = None
            yield from keywords(path.parent / options["INPUT"], source)
    if current is not None:
        yield current


def _text(path: Path, source: str) -> str:
    if not path.exists():
        raise DescriptionError(f"{source}: the file {str(path)!r} does not exist; give the path of the input file")
    return path.read_text(encoding="utf-8", errors="replace")


def read_deck(path: Path, source: str) -> Deck:
    """The mesh of an input file (.inp)."""
    nodes: dict[int, list[float]] = {}
    material = ""
    found = Deck(np.zeros(0, dtype=int), np.zeros((0, 3)))
    for entry in keywords(path, source):
        if entry.name == "MATERIAL":
            material = entry.options.get("NAME", "").upper()
        try:
            if entry.name == "ELASTIC" and entry.options.get("TYPE", "ISO").upper().startswith("ISO") and entry.lines:
                found.elastic[material] = (float(entry.lines[0][0]), float(entry.lines[0][1]))
            if entry.name == "SOLID SECTION" and "ORIENTATION" not in entry.options:
                found.sections.append((entry.options.get("ELSET", "").upper(), entry.options.get("MATERIAL", "").upper()))
            _take(entry, nodes, found, source)
        except (ValueError, OverflowError):
            raise DescriptionError(
                f"{source}: {path.name} has a line under *{entry.name} that is not made of numbers; check the file"
            ) from None
    if not nodes:
        raise DescriptionError(f"{source}: {path.name} holds no *NODE; give the input file with the nodes of the model")
    if wrong := [label for label in nodes if not 0 <= label < 2**53]:
        raise DescriptionError(f"{source}: {path.name} has a node of the number {wrong[0]}; check the file")
    found.labels = np.array(sorted(nodes), dtype=int)
    found.position = np.array([nodes[label] for label in found.labels.tolist()])
    return found


def _take(entry: Keyword, nodes: dict[int, list[float]], found: Deck, source: str) -> None:
    if entry.name == "NODE":
        for line in entry.lines:
            label, place = int(line[0]), [float(each or 0.0) for each in (*line[1:4], "0", "0", "0")[:3]]
            if nodes.setdefault(label, place) != place:
                raise DescriptionError(
                    f"{source}: node {label} is defined twice, at different places; export the mesh flat, without parts "
                    "and instances "
                    "(in Abaqus: model attribute 'do not use parts and assemblies in input files')"
                )
    elif entry.name == "ELEMENT":
        whole = list(_joined(entry.lines))
        numbers, corners = [line[0] for line in whole], [line[1:] for line in whole]
        found.elements.append((entry.options.get("TYPE", "").upper(), np.array(numbers, dtype=int), corners))
        _add(found.element_sets, entry.options.get("ELSET"), numbers)
    elif entry.name in ("NSET", "ELSET"):
        sets = found.node_sets if entry.name == "NSET" else found.element_sets
        numbers = []
        for data in entry.lines:
            if "GENERATE" in entry.options:
                first, last, step = (*(int(each) for each in data if each), 1)[:3]
                numbers += range(first, last + 1, step)
            else:
                for each in filter(None, data):
                    numbers += [int(each)] if each.lstrip("-").isdigit() else sets.get(each.upper(), np.zeros(0)).tolist()
        _add(sets, entry.options.get(entry.name), numbers)
    elif entry.name == "INSTANCE" and any(any(line) for line in entry.lines):
        raise DescriptionError(f"{source}: an *INSTANCE is moved or turned; export the mesh flat, without parts and instances")


def _add(sets: dict[str, Array], name: str | None, numbers: Any) -> None:
    if name:
        sets[name.upper()] = np.union1d(sets.get(name.upper(), np.zeros(0, dtype=int)), np.asarray(numbers, dtype=int))


def _joined(lines: list[list[str]]) -> Iterator[list[int]]:
    """Lines of integers, those that end in a comma joined to the next."""
    whole: list[int] = []
    for line in lines:
        whole += [int(each) for each in line if each]
        if line[-1]:
            yield whole
            whole = []
    if whole:
        yield whole


def solid_elements(deck: Deck, labels: Array) -> tuple[SolidElements, ...]:
    """Solid elements with an isotropic material, in rows of `labels`; others have no stresses here."""
    row = {label: i for i, label in enumerate(labels.tolist())}
    material: dict[int, tuple[float, float]] = {}
    for name, kind in deck.sections:
        if kind in deck.elastic:
            material |= dict.fromkeys(deck.element_sets.get(name, np.zeros(0, dtype=int)).tolist(), deck.elastic[kind])
    groups: dict[tuple[str, float, float], list[tuple[int, list[int]]]] = {}
    for kind, numbers, elements in deck.elements:
        size = kind[3:].rstrip("RHTIEOS") if kind.startswith("C3D") else ""
        for number, nodes in zip(numbers.tolist(), elements, strict=True):
            if size in ("4", "8", "10", "20") and number in material and all(node in row for node in nodes):
                groups.setdefault((size, *material[number]), []).append((number, [row[node] for node in nodes]))
    return tuple(
        SolidElements(size, np.array([each for each, _ in found]), np.array([nodes for _, nodes in found]), E, nu)
        for (size, E, nu), found in groups.items()
    )


# ---- pictures --------------------------------------------------------------------------------------------------------------
def outline(deck: Deck, labels: Array) -> tuple[Array, Array]:
    """Lines (L, 2) and faces (F, 3) of the mesh for pictures, as rows of `labels`; elements that are not known are left out."""
    row = {label: i for i, label in enumerate(labels.tolist())}
    quads: dict[tuple[int, ...], tuple[int, ...]] = {}
    edges: set[tuple[int, int]] = set()
    for kind, _, elements in deck.elements:
        for nodes in elements:
            if not all(node in row for node in nodes):
                continue
            for face in element_faces(kind, nodes):
                key = tuple(sorted(face))
                if quads.pop(key, None) is None:  # a face of two elements is inside
                    quads[key] = face
            if kind.startswith(("B3", "T3", "BAR", "ROD")):
                edges.update(pairwise(nodes))
    triangles = []
    for face in quads.values():
        triangles += [(face[0], face[i], face[i + 1]) for i in range(1, len(face) - 1)]
        edges.update(tuple(sorted(pair)) for pair in zip(face, (*face[1:], face[0]), strict=True))  # type: ignore[misc]
    lines = [(row[a], row[b]) for a, b in sorted(edges)]
    faces = [[row[each] for each in triangle] for triangle in triangles]
    return np.array(lines, dtype=int).reshape(-1, 2), np.array(faces, dtype=int).reshape(-1, 3)


def element_faces(kind: str, nodes: list[int]) -> list[tuple[int, ...]]:
    """The faces of a solid, or the shell itself, by its corners.

    >>> element_faces("C3D4", [7, 8, 9, 5])[0]
    (7, 9, 8)
    """
    if kind.startswith("C3D"):
        size = kind[3:].rstrip("RHTIEOS")
        return [tuple(nodes[i] for i in face) for face in _FACES.get(_SOLIDS.get(size, 0), ())]
    if kind.startswith("S") and kind[1:2].isdigit():
        corners = 4 if kind[1] in "48" else 3
        return [tuple(nodes[:corners])]
    return []
