"""Bodies from Ansys: matrices as Matrix Market or Harwell-Boeing, the mapping of their dofs, and the nodes as text."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from bough.errors import DescriptionError
from bough.flex.deck import Deck, with_mesh
from bough.flex.exported import Exported, Places, from_rows, with_missing
from bough.flex.finite_elements import COMPONENTS, FiniteElements, rigid_motion
from bough.flex.integrals import Array
from bough.flex.reading import HEAD, completed, error_of, read_harwell_boeing, read_matrix_market, read_text, units as units_of
from bough.flex.reduction import stiffness_share
from bough.progress import working

_SOURCE = "read_ansys"
_wrong = error_of(_SOURCE)
_LABELS = {"UX": 0, "UY": 1, "UZ": 2, "ROTX": 3, "ROTY": 4, "ROTZ": 5}


@working("reading Ansys files")
def read_ansys(
    stiffness: str | Path,
    mass: str | Path,
    nodes: str | Path,
    *,
    mapping: str | Path | None = None,
    elements: str | Path | None = None,
    units: str = "SI",
    declared_mass: float | None = None,
    **places: Unpack[Places],
) -> FiniteElements:
    """A model from Ansys files.

    Matrices are Matrix Market files (*SMAT, EXPORT) or Harwell-Boeing files (HBMAT). `mapping` says which dof is which: the
    .mapping file of HBMAT (equation, node, UX ...), or a vector of nodes or of dofs (*VEC of FULL: BACK, FORWARD), in either
    direction. Without it, dofs are node by node in order of node number. `nodes` is a table of number, x, y, z (NLIST, NWRITE),
    with decimal points or commas, or a .cdb file; `elements`, for drawing, a table of number, type, nodes. See `matrices_model` for
    `attach`, `spiders`, `origin` and `units`.
    """
    labels, position, angles = _nodes(Path(nodes))
    matrices = (_matrix(Path(mass), "mass"), _matrix(Path(stiffness), "stiffness"))
    structure = _structure(labels, position, angles, matrices, None if mapping is None else Path(mapping)).in_units(units_of(units))
    if elements is not None:
        structure = with_mesh(structure, Deck(labels, position, elements=_elements(Path(elements))))
    return structure.model(mass=declared_mass, **places)


def _text(path: Path) -> str:
    return read_text(path, _SOURCE, "give the path of an exported file")


def _matrix(path: Path, what: str) -> Any:
    """A matrix from a Matrix Market or Harwell-Boeing file; one triangle is enough."""
    from scipy.sparse import csr_array

    text = _text(path)
    try:
        found = read_matrix_market(text) if text.lstrip().startswith(HEAD) else read_harwell_boeing(text)
        if found.shape[0] != found.shape[1]:
            raise ValueError(f"it is {found.shape[0]} x {found.shape[1]}")
    except (ValueError, IndexError, OverflowError) as error:
        raise _wrong(f"{path.name} is not a complete Matrix Market or Harwell-Boeing file of the {what} matrix "
                     f"({' '.join(str(error).split())[:100]}); export it again") from None
    return completed(csr_array(found, dtype=float))


def _nodes(path: Path) -> tuple[Array, Array, Array]:
    """Numbers, coordinates and angles of the nodes' axes: of NLIST, NWRITE, N commands, NBLOCK; number, x, y, z in any table."""
    text = _text(path)
    try:
        rows = _nblock(text) if re.search(r"^NBLOCK", text, re.MULTILINE | re.IGNORECASE) else _node_table(text)
    except DescriptionError:
        raise
    except ValueError as error:
        raise _wrong(f"{path.name} has a damaged NBLOCK ({str(error)[:80]}); export it again") from None
    if not rows or any(not 0 <= row[0] < 2**53 for row in rows):
        raise _wrong(f"{path.name} is not a table of nodes; give lines with number, x, y, z")
    table = np.array(rows)
    labels = table[:, 0].astype(int)
    numbers, counts = np.unique(labels, return_counts=True)
    if counts.max() > 1:
        raise _wrong(f"{path.name} gives node {numbers[counts.argmax()]} twice; give each node once")
    return labels, table[:, 1:4], table[:, 4:]


def _node_table(text: str) -> list[list[float]]:
    """Commas are decimal where there are no points; what a line leaves out at its end is zero; numbers may touch: 1.5-2.5."""
    count = 6 if re.search(r"THXY|^\s*N\s*,", text, re.IGNORECASE | re.MULTILINE) else 3  # with angles, or without
    rows = []
    for line in text.splitlines():
        line = re.sub(r"(?<=\d)(?=-\d*\.)", " ", re.sub(r"^\s*N\s*,", "", line, flags=re.IGNORECASE))
        spaced = line.replace(",", " ") if "." in line else line
        parts = [part for part in re.split(r"[\t; ]+", spaced.strip()) if part]
        if len(parts) < 2 and "," in line:
            parts = [part.strip() for part in line.split(",") if part.strip()]
        try:
            places = [float(each.replace(",", ".").upper().replace("D", "E")) for each in parts[1 : 1 + count]]
            rows.append([int(parts[0]), *places, *[0.0] * (6 - len(places))] if places else [])
        except (ValueError, IndexError):
            continue  # headings
    return [row for row in rows if row]


def _nblock(text: str) -> list[list[float]]:
    """Lines of (3i9,6e21.13e3), the number first, then two others, then coordinates, of which zeros at the end are left out."""
    lines = iter(text.splitlines())
    rows = []
    for line in lines:
        if not line.upper().startswith("NBLOCK"):
            continue
        form = re.findall(r"(\d*)([IEFG])(\d+)", next(lines, "").upper())
        if len(form) < 2:
            raise _wrong("NBLOCK has no format such as (3i9,6e21.13e3) in the line after it; export it again")
        (count, _, narrow), (_, _, wide) = form[0], form[1]
        start, width = int(count or 1) * int(narrow), int(wide)
        for data in lines:
            if not data[: int(narrow)].strip().isdigit():
                break  # N,R5.3,LOC, -1
            places = [data[start + width * i : start + width * (i + 1)].strip() for i in range(6)]
            rows.append([float(data[: int(narrow)]), *(float(each or 0) for each in places)])
    return rows


def _elements(path: Path) -> list[tuple[str, Array, list[list[int]]]]:
    kinds = {"HEX": "C3D", "TET": "C3D", "WED": "C3D", "QUA": "S", "TRI": "S"}
    found = []
    for line in _text(path).splitlines():
        parts = line.split()
        if len(parts) < 4 or not parts[0].isdigit():
            continue
        number = re.sub(r"\D", "", parts[1])
        kind = kinds.get(parts[1][:3].upper(), "")
        if not all(each.isdigit() for each in parts[2:]) or (number and len(parts) - 2 < int(number)):
            raise _wrong(f"{path.name} has the element {line.strip()[:60]!r}; give lines with number, type (Hex8, Tet4, ...) and "
                         "the numbers of its nodes")
        found.append((f"{kind}{number}", np.array([int(parts[0])]), [[int(each) for each in parts[2:]]]))
    return found


def _structure(labels: Array, position: Array, angles: Array, matrices: tuple[Any, Any], mapping: Path | None) -> Exported:
    """The structure in global axes; if a vector can be read in several ways, the one that rigid motion strains least."""
    size = matrices[1].shape[0]
    axes = {int(label): _nodal_axes(each) for label, each in zip(labels, angles, strict=True) if each.any()}

    def made(nodes: Array, components: Array) -> Exported:
        found = with_missing(from_rows(_SOURCE, labels.tolist(), position, (nodes, components), matrices),
                             np.column_stack([nodes, components]))
        return found.in_axes(np.array([axes.get(int(label), np.eye(3)) for label in found.labels])) if axes else found

    if mapping is not None and (named := _named_rows(_text(mapping))):
        return made(*np.array(named).T)
    vector = None if mapping is None else _vector(mapping)
    known = set(labels.tolist())
    orders = [each for each in _orders(np.sort(labels), labels, vector, size) if set(each[0].tolist()) <= known]
    if not orders:
        raise _wrong(f"the matrices have {size} dofs for {len(labels)} nodes; give 3 or 6 dofs for each, or a mapping= file that "
                     "names the node and the label of each equation")
    return made(*orders[0]) if vector is None else min((made(*each) for each in orders), key=_grounding)


def _nodal_axes(angles: Array) -> Array:
    """Axes (columns) of the dofs of a node: turned in degrees by THXY about z, then THYZ about x, then THZX about y."""
    from scipy.spatial.transform import Rotation

    return np.asarray(Rotation.from_euler("ZXY", angles, degrees=True).as_matrix())


def _orders(ordered: Array, listed: Array, vector: Array | None, size: int) -> Iterator[tuple[Array, Array]]:
    """Possible orders of the equations, (nodes, components): node by node, or by a vector of nodes or dofs, in either direction."""
    count = len(ordered)
    per_node = size // count if size % count == 0 else 0
    if vector is None:
        if per_node in (3, 6):
            yield np.repeat(ordered, per_node), np.tile(np.arange(per_node), count)
        return
    if len(vector) * 3 == size or len(vector) * 6 == size:  # a vector of nodes
        each = size // len(vector)
        for nodes in (vector, _inverse(vector)):
            if nodes is not None:
                yield np.repeat(nodes, each), np.tile(np.arange(each), len(nodes))
    for each in (3, 6):
        for nodes in (ordered, listed):
            for dofs in _equations(vector, each * count, size):  # of the dofs of all nodes, node by node
                yield nodes[dofs // each], dofs % each


def _inverse(vector: Array) -> Array | None:
    if sorted(vector.tolist()) != list(range(1, len(vector) + 1)):
        return None
    inverse = np.empty_like(vector)
    inverse[vector - 1] = np.arange(1, len(vector) + 1)
    return inverse


def _equations(vector: Array, dofs: int, size: int) -> Iterator[Array]:
    """The dof (0 ...) of each equation: given as it is (BACK), or by the equation of each dof, 0 where it has none (FORWARD)."""
    if len(vector) == size and vector.min() >= 1 and vector.max() <= dofs and len(np.unique(vector)) == size:
        yield vector - 1
    if len(vector) == dofs and sorted(vector[vector > 0].tolist()) == list(range(1, size + 1)):
        yield np.argsort(np.where(vector > 0, vector, size + 1), kind="stable")[:size]


def _grounding(structure: Exported) -> float:
    """How much rigid motion strains a structure: 0 if the dofs are where the mapping says."""
    return float(stiffness_share(structure.stiffness, rigid_motion(structure.position, structure.per_node)).max())


def _named_rows(text: str) -> list[tuple[int, int]]:
    """(node, component) of each equation out of lines "equation node UX", or "node UX" in the order of the equations."""
    labels = "|".join(_LABELS)
    split = r"[\s,;]+"
    numbered = re.findall(rf"^\s*(\d+){split}(\d+){split}({labels})\b", text, re.MULTILINE | re.IGNORECASE)
    if numbered:
        rows = {int(a): (int(b), _LABELS[c.upper()]) for a, b, c in numbered}
        return [rows[i] for i in sorted(rows)]
    listed = re.findall(rf"^\s*(\d+){split}({labels})\b", text, re.MULTILINE | re.IGNORECASE)
    return [(int(a), _LABELS[b.upper()]) for a, b in listed]


def _vector(path: Path) -> Array:
    text = _text(path)
    try:
        found = read_matrix_market(text).toarray() if text.lstrip().startswith(HEAD) else np.array(text.split(), dtype=float)
        return np.asarray(found, dtype=float).ravel().astype(int)
    except (ValueError, IndexError, OverflowError):
        wanted = f"lines EQUATION NODE LABEL ({', '.join(_LABELS)} for {', '.join(COMPONENTS)}), or a vector of nodes"
        raise _wrong(f"{path.name} is not a mapping of dofs; give {wanted}") from None
