"""Input files of Abaqus and CalculiX: keywords with their options and data lines; nodes, elements and sets out of them."""

import re
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field, fields, replace
from itertools import pairwise
from math import isfinite
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bough.errors import DescriptionError
from bough.flex.exported import Exported
from bough.flex.integrals import Array, tilde
from bough.flex.reading import read_text
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
    sections: list[tuple[Array, str]] = field(default_factory=list)  # numbers of elements, material
    element_sets: dict[str, Array] = field(default_factory=dict)
    transforms: list[tuple[Array, str, list[float]]] = field(default_factory=list)  # nodes, kind, two points: axes of their dofs
    renumbered: bool = False  # several instances, whose nodes are renumbered


def keywords(path: Path, source: str, remedy: str = "give the path of the input file", depth: int = 0) -> Iterator[Keyword]:
    """The keywords of an input file and of those it includes; a keyword line that ends in a comma continues on the next."""
    if depth > 20:
        raise DescriptionError(f"{source}: {path.name} includes itself; correct its *INCLUDE lines")
    current: Keyword | None = None
    head = ""
    for line in _lines(path, source, remedy):
        if not line or line.startswith("**"):
            continue
        if not line.startswith("*") and not head:
            if current is not None:
                current.lines.append([part.strip() for part in line.split(",")])
            continue
        head += line
        if head.endswith(","):
            continue
        if current is not None:
            yield current
        current, head = _keyword(head), ""
        if current.name == "INCLUDE" and "INPUT" in current.options:
            name, current = current.options["INPUT"], None
            yield from keywords(path.parent / name, source, f"copy it beside {path.name}", depth + 1)
        elif "INPUT" in current.options and current.name in ("NODE", "ELEMENT", "NSET", "ELSET", "MATRIX"):
            more = _lines(path.parent / current.options["INPUT"], source, f"copy it beside {path.name}")
            current.lines.extend([part.strip() for part in each.split(",")] for each in more if each and each[0] != "*")
    if current is not None:
        yield current


def _keyword(line: str) -> Keyword:
    parts = [part.strip() for part in line[1:].split(",")]
    options = {key.strip().upper(): value.strip().strip('"') for key, _, value in (part.partition("=") for part in parts[1:])}
    return Keyword(" ".join(parts[0].upper().split()), options, [])


def _lines(path: Path, source: str, remedy: str) -> list[str]:
    return [line.strip() for line in read_text(path, source, remedy).splitlines()]


def read_deck(path: Path, source: str) -> Deck:
    """The mesh of an input file (.inp): flat, or parts and their instances."""
    reader = _Reader(source)
    for entry in keywords(path, source):
        try:
            reader.take(entry)
        except DescriptionError:
            raise
        except (ValueError, IndexError, OverflowError):
            raise DescriptionError(f"{source}: {path.name} has a line under *{entry.name} that is not numeric; check the "
                                   "file") from None
    try:
        found = reader.deck()
    except OverflowError:
        raise DescriptionError(f"{source}: {path.name} has a node number that is too large; check the file") from None
    if not len(found.labels):
        raise DescriptionError(f"{source}: {path.name} has no *NODE; give the input file with the nodes of the model")
    return found


def with_mesh(structure: Exported, deck: Deck) -> Exported:
    """The structure with the lines, faces, node sets and solid elements of its mesh."""
    lines, faces = outline(deck, structure.labels)
    return replace(structure, lines=lines, faces=faces, sets=deck.node_sets, solids=solid_elements(deck, structure.labels))


def real(text: str) -> float:
    """A number of an input file; a blank is zero.

    >>> real("1.5D-3"), real("")
    (0.0015, 0.0)
    """
    found = float(text.upper().replace("D", "E")) if text else 0.0
    if not isfinite(found):
        raise ValueError(f"{text!r} is not finite")
    return found


# ---- parts and instances ---------------------------------------------------------------------------------------------------
@dataclass
class _Mesh:
    """The contents of one part, of one instance, or of the file outside of both."""

    nodes: dict[int, Array] = field(default_factory=dict)
    elements: list[tuple[str, list[int], list[list[int]]]] = field(default_factory=list)
    node_sets: dict[str, list[int]] = field(default_factory=dict)
    element_sets: dict[str, list[int]] = field(default_factory=dict)
    sections: list[tuple[str, str]] = field(default_factory=list)
    transforms: list[tuple[str, str, list[float]]] = field(default_factory=list)  # set, kind, two points


class _Reader:
    """Processes the keywords; parts are stored until instances place them."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.parts: dict[str, _Mesh] = {}
        self.placed: list[tuple[str, _Mesh]] = [("", _Mesh())]  # instances by name; first what is outside of them
        self.mesh = self.placed[0][1]
        self.system = _AT_REST
        self.elastic: dict[str, tuple[float, float]] = {}
        self.material = ""

    def take(self, entry: Keyword) -> None:
        name, options = entry.name, entry.options
        if name == "PART":
            self.mesh, self.system = self.parts.setdefault(options.get("NAME", "").upper(), _Mesh()), _AT_REST
        elif name == "INSTANCE":
            self._instance(entry)
        elif name in ("END PART", "END INSTANCE", "ASSEMBLY", "END ASSEMBLY"):
            self.mesh, self.system = self.placed[0][1], _AT_REST
        elif name == "MATERIAL":
            self.material = options.get("NAME", "").upper()
        elif name == "ELASTIC" and options.get("TYPE", "ISO").upper().startswith("ISO") and entry.lines:
            self.elastic[self.material] = (real(entry.lines[0][0]), real(entry.lines[0][1]))
        elif name == "SOLID SECTION" and "ORIENTATION" not in options:
            self.mesh.sections.append((options.get("ELSET", "").upper(), options.get("MATERIAL", "").upper()))
        elif name == "SYSTEM":
            self.system = _system([real(each) for line in entry.lines[:2] for each in line if each])
        elif name == "TRANSFORM":
            points = [real(each) for line in entry.lines[:2] for each in line if each]
            self.mesh.transforms.append((options.get("NSET", "").upper(), options.get("TYPE", "R").upper()[:1], points))
        elif name in ("NCOPY", "NFILL", "NMAP", "ELGEN", "ELCOPY"):
            raise DescriptionError(f"{self.source}: the input file makes its mesh by *{name}, which is not supported; write the "
                                   "mesh out (in Abaqus: a flat input file of the job)")
        else:
            self._mesh(entry)

    def _instance(self, entry: Keyword) -> None:
        """A part at its place: a translation, then a turn about an axis by two points and an angle in degrees."""
        lines = [[real(each) for each in line if each] for line in entry.lines if any(line)]
        motion = np.eye(3, 4)
        if lines:
            motion[:, 3] = lines[0][:3]
        if len(lines) > 1:
            a, b, angle = np.array(lines[1][:3]), np.array(lines[1][3:6]), np.radians(lines[1][6])
            axis = (b - a) / np.linalg.norm(b - a)
            turn = np.eye(3) + np.sin(angle) * tilde(axis) + (1 - np.cos(angle)) * tilde(axis) @ tilde(axis)
            motion = np.column_stack([turn, turn @ (motion[:, 3] - a) + a])
        part = self.parts.get(entry.options.get("PART", "").upper(), _Mesh())
        nodes = {label: motion[:, :3] @ place + motion[:, 3] for label, place in part.nodes.items()}
        own = {each.name: copy(getattr(part, each.name)) for each in fields(part)}             # the instance may add to them
        self.mesh = _Mesh(**own | {"nodes": nodes})
        self.placed.append((entry.options.get("NAME", "").upper(), self.mesh))
        self.system = (motion[:, :3], motion[:, 3])

    def _mesh(self, entry: Keyword) -> None:
        mesh, options = self.mesh, entry.options
        if entry.name == "NODE":
            if entry.lines and all(len(line) == 7 and "." not in "".join(line) for line in entry.lines):
                raise DescriptionError(f"{self.source}: the nodes have seven numbers a line, and none a decimal point "
                                       f"({', '.join(entry.lines[0])}); write decimal points, not commas")
            numbers = [self._node(line, options.get("SYSTEM", "R").upper()[:1]) for line in entry.lines]
            _add(mesh.node_sets, options.get("NSET"), numbers)
        elif entry.name == "NGEN":
            _add(mesh.node_sets, options.get("NSET"), [each for line in entry.lines for each in self._generated(line, options)])
        elif entry.name == "ELEMENT":
            kind = options.get("TYPE", "").upper()
            count = nodes_of(kind)
            whole = list(_joined(entry.lines, count))
            if count is not None and (short := [line for line in whole if len(line) <= count]):
                raise DescriptionError(f"{self.source}: element {short[0][0]} of type {kind} has {len(short[0]) - 1} nodes, not "
                                       f"{count}; check that the file is complete")
            mesh.elements.append((kind, [line[0] for line in whole], [line[1:][:count] for line in whole]))
            _add(mesh.element_sets, options.get("ELSET"), [line[0] for line in whole])
        elif entry.name in ("NSET", "ELSET"):
            self._set(entry)

    def _node(self, line: list[str], kind: str) -> int:
        label, place = int(line[0]), np.array([real(each) for each in (*line[1:4], "0", "0", "0")[:3]])
        turn, origin = self.system
        place = turn @ _cartesian(kind, place) + origin
        if label in self.mesh.nodes and not np.array_equal(self.mesh.nodes[label], place):
            raise DescriptionError(f"{self.source}: node {label} is defined twice, at different places; export the mesh of one "
                                   "model, numbered once")
        self.mesh.nodes[label] = place
        return label

    def _generated(self, line: list[str], options: dict[str, str]) -> list[int]:
        """*NGEN along a straight line."""
        if options.get("LINE"):
            raise DescriptionError(f"{self.source}: *NGEN along a curve is not supported; write the nodes out")
        first, last, step = (*(int(each) for each in line[:3] if each), 1)[:3]
        if missing := {first, last} - set(self.mesh.nodes):
            raise DescriptionError(f"{self.source}: *NGEN goes from node {first} to {last}; give node {min(missing)}")
        a, b, numbers = self.mesh.nodes[first], self.mesh.nodes[last], list(range(first, last + 1, step))
        for i, label in enumerate(numbers):
            self.mesh.nodes[label] = a + (b - a) * i / max(len(numbers) - 1, 1)
        return numbers

    def _set(self, entry: Keyword) -> None:
        """*NSET and *ELSET, in the assembly of an instance (INSTANCE=), of numbers, of other sets, or of elements."""
        mesh = self._of_instance(entry.options.get("INSTANCE"))
        sets = mesh.node_sets if entry.name == "NSET" else mesh.element_sets
        numbers: list[int] = []
        if entry.name == "NSET" and "ELSET" in entry.options:
            wanted = set(mesh.element_sets.get(entry.options["ELSET"].upper(), []))
            for _, labels, nodes in mesh.elements:
                numbers += [node for label, own in zip(labels, nodes, strict=True) if label in wanted for node in own]
        for data in entry.lines:
            if "GENERATE" in entry.options:
                first, last, step = (*(int(each) for each in data if each), 1)[:3]
                if (last - first) // step > 10**7:
                    raise ValueError("more numbers than any model has")
                numbers += range(first, last + 1, step)
                continue
            for each in filter(None, data):
                if each.lstrip("-").isdigit():
                    numbers.append(int(each))
                elif "." in each and each.rpartition(".")[2].isdigit():  # INSTANCE.NODE
                    other = self._of_instance(each.rpartition(".")[0])
                    _add(other.node_sets if entry.name == "NSET" else other.element_sets, entry.options.get(entry.name),
                         [int(each.rpartition(".")[2])])
                else:
                    numbers += sets.get(each.upper(), [])
        _add(sets, entry.options.get(entry.name), numbers)

    def _of_instance(self, name: str | None) -> _Mesh:
        return self.mesh if name is None else next((mesh for each, mesh in self.placed if each == name.upper()), self.mesh)

    def deck(self) -> Deck:
        """All meshes in one; the nodes of several instances are renumbered in their order."""
        meshes = [mesh for _, mesh in (*self.placed[1:], self.placed[0]) if mesh.nodes or mesh.node_sets or mesh.elements]
        if not any(mesh.nodes for mesh in meshes) and len(self.parts) == 1:  # a part that nothing places
            meshes = list(self.parts.values())
        shared = len({label for mesh in meshes for label in mesh.nodes}) < sum(len(mesh.nodes) for mesh in meshes)
        found = Deck(np.zeros(0, dtype=int), np.zeros((0, 3)), elastic=self.elastic, renumbered=shared)
        places: dict[int, Array] = {}
        count, elements = 0, 0
        for mesh in meshes:
            at = {label: count + i + 1 if shared else label for i, label in enumerate(sorted(mesh.nodes))}
            count += len(mesh.nodes)
            places |= {at[label]: place for label, place in mesh.nodes.items()}
            _join(found, mesh, at, elements if shared else 0)
            elements += max((each for _, numbers, _ in mesh.elements for each in numbers), default=0)
        found.labels = np.array(sorted(places), dtype=int)
        found.position = np.array([places[label] for label in found.labels.tolist()]).reshape(-1, 3)
        return found


_AT_REST = (np.eye(3), np.zeros(3))


def _system(values: list[float]) -> tuple[Array, Array]:
    """*SYSTEM: the origin, a point on the x axis, and one in the x-y plane."""
    if not values:
        return _AT_REST
    points = np.array([*values, *[0.0] * 9][:9]).reshape(3, 3)
    if len(values) <= 3:
        return np.eye(3), points[0]
    x = (points[1] - points[0]) / np.linalg.norm(points[1] - points[0])
    z = np.cross(x, points[2] - points[0]) if len(values) > 6 else np.array([0.0, 0, 1])
    z = z / np.linalg.norm(z)
    return np.stack([x, np.cross(z, x), z], axis=1), points[0]


def _cartesian(kind: str, place: Array) -> Array:
    """*NODE, SYSTEM=C (r, theta, z) or S (r, theta, phi: from the equator), in degrees."""
    if kind == "C":
        angle = np.radians(place[1])
        return np.array([place[0] * np.cos(angle), place[0] * np.sin(angle), place[2]])
    if kind == "S":
        around, up = np.radians(place[1:])
        return np.asarray(place[0] * np.array([np.cos(up) * np.cos(around), np.cos(up) * np.sin(around), np.sin(up)]))
    return place


def _join(deck: Deck, mesh: _Mesh, at: dict[int, int], first: int) -> None:
    """A mesh as a part of the whole, its nodes renamed by `at` and its elements counted on from `first`."""
    for kind, numbers, nodes in mesh.elements:
        corners = [[at.get(node, node) for node in each] for each in nodes]
        deck.elements.append((kind, np.array(numbers, dtype=int) + first, corners))
    nothing = np.zeros(0, dtype=int)
    for name, members in mesh.node_sets.items():
        deck.node_sets[name] = np.union1d(deck.node_sets.get(name, nothing), [at.get(each, each) for each in members]).astype(int)
    own = {name: np.unique(numbers).astype(int) + first for name, numbers in mesh.element_sets.items()}
    deck.sections += [(own.get(name, nothing), kind) for name, kind in mesh.sections]
    deck.transforms += [
        (np.array([at.get(each, each) for each in mesh.node_sets.get(name, [])], dtype=int), kind, points)
        for name, kind, points in mesh.transforms
    ]
    for name, labels in own.items():
        deck.element_sets[name] = np.union1d(deck.element_sets.get(name, nothing), labels)


def _add(sets: dict[str, list[int]], name: str | None, numbers: Sequence[int]) -> None:
    if name:
        sets[name.upper()] = [*sets.get(name.upper(), []), *numbers]


def nodes_of(kind: str) -> int | None:
    """The number of nodes of an element, if its name gives it.

    >>> nodes_of("C3D20R"), nodes_of("S4R"), nodes_of("B31"), nodes_of("MASS"), nodes_of("CONN3D2")
    (20, 4, 2, 1, 2)
    """
    for pattern in (r"^C3D(\d+)", r"^SC?(\d)R?", r"^STRI(\d)", r"^M3D(\d)", r"^R3D(\d)", r"^T3D(\d)", r"^CONN3D(\d)"):
        if (found := re.match(pattern, kind)) is not None:
            return int(found[1])
    beams = {"B31": 2, "B32": 3, "B33": 2, "MASS": 1, "ROTARYI": 1}
    return next((count for name, count in beams.items() if kind.startswith(name)), None)


def _joined(lines: list[list[str]], count: int | None) -> Iterator[list[int]]:
    """Lines of integers: the number and `count` nodes of an element, over several lines; or up to a line without a comma."""
    whole: list[int] = []
    for line in lines:
        whole += [int(each) for each in line if each]
        if len(whole) > count if count is not None else line[-1] != "":
            yield whole
            whole = []
    if whole:
        yield whole


def solid_elements(deck: Deck, labels: Array) -> tuple[SolidElements, ...]:
    """Solid elements with an isotropic material, in rows of `labels`; others have no stresses here."""
    row = {label: i for i, label in enumerate(labels.tolist())}
    material: dict[int, tuple[float, float]] = {}
    for labels_of_section, kind in deck.sections:
        if kind in deck.elastic:
            material |= dict.fromkeys(labels_of_section.tolist(), deck.elastic[kind])
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
