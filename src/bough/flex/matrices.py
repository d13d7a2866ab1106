"""What a mass matrix says about where the mass is: lumped at nodes, or spread between nodes that only translate.

Bodies out of the mass and stiffness matrices of any finite-element tool.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bough.errors import DescriptionError
from bough.flex.finite_elements import FiniteElements, GeometricOf, PointRule, attachments, body_origin, rigid_motion
from bough.flex.flexible_body import FlexibleBody, remembers, without_files
from bough.flex.geometric import GeometricStiffness
from bough.flex.integrals import Array, axial, inertia_of, tilde
from bough.flex.reduction import check_symmetric, reduce

_ZERO = 1e-9  # of the largest entry


def point_rule(mass: Any, position: Array, per_node: int) -> PointRule | None:
    """The nodes as mass points, if the matrix couples no two nodes; otherwise None."""
    from scipy.sparse import csr_array, eye_array

    blocks = _node_blocks(mass, len(position), per_node)
    if blocks is None:
        return None
    weight, offset, inertia = _block_parts(blocks)
    every = eye_array(mass.shape[0], format="csr")
    rows = np.arange(mass.shape[0]).reshape(-1, per_node)
    translation = every[rows[:, :3].ravel()]
    rotation = every[rows[:, 3:].ravel()] if per_node == 6 else csr_array(translation.shape)
    return PointRule(position, weight, offset, inertia, translation, rotation)


def pair_mass(mass: Any, per_node: int) -> Any:
    """The (N, N) matrix m_ij of a consistent mass matrix with the blocks m_ij I3; others are refused by name."""
    if per_node == 6:
        raise DescriptionError(
            "from_matrices: the mass matrix couples nodes with rotations (a consistent matrix of beams or shells), which does "
            "not tell where the mass is; export it lumped (diagonal or node-wise blocks), or build the body with bough.beam"
        )
    parts = [mass[i::3, :][:, i::3] for i in range(3)]
    largest = abs(mass).max()
    cross = max(abs(mass[i::3, :][:, j::3]).max() for i in range(3) for j in range(3) if i != j)
    unlike = max(abs(parts[i] - parts[0]).max() for i in (1, 2))
    if max(cross, unlike) > _ZERO * largest:
        raise DescriptionError(
            f"from_matrices: the mass matrix is not the same in x, y and z (differences up to {max(cross, unlike):.3g} kg, largest "
            f"entry {largest:.3g} kg); give blocks m_ij I3 for each pair of nodes, in body axes"
        )
    return parts[0]


def _node_blocks(mass: Any, count: int, per_node: int) -> Array | None:
    """The (N, per_node, per_node) blocks of the nodes, or None if anything lies outside of them."""
    entries = mass.tocoo()
    row, column = entries.coords
    outside = row // per_node != column // per_node
    if outside.any() and np.abs(entries.data[outside]).max() > _ZERO * np.abs(entries.data).max():
        return None
    blocks = np.zeros((count, per_node, per_node))
    inside = ~outside
    np.add.at(blocks, (row[inside] // per_node, row[inside] % per_node, column[inside] % per_node), entries.data[inside])
    return blocks


def _block_parts(blocks: Array) -> tuple[Array, Array, Array]:
    """Mass, offset and inertia about the own mass center of each node, from [[m I, -m p~], [m p~, J]]."""
    weight = np.trace(blocks[:, :3, :3], axis1=1, axis2=2) / 3
    offset, inertia = np.zeros((len(blocks), 3)), np.zeros((len(blocks), 3, 3))
    rebuilt = np.zeros_like(blocks)
    rebuilt[:, :3, :3] = weight[:, None, None] * np.eye(3)
    if blocks.shape[1] == 6:
        lower = blocks[:, 3:, :3]  # m p~
        offset = -axial(lower) / 2 / np.where(weight > 0, weight, 1.0)[:, None]
        outer = weight[:, None, None] * offset[:, :, None] * offset[:, None, :]
        inertia = blocks[:, 3:, 3:] - inertia_of(outer)
        rebuilt[:, 3:, :3] = weight[:, None, None] * tilde(offset)
        rebuilt[:, :3, 3:] = -rebuilt[:, 3:, :3]
        rebuilt[:, 3:, 3:] = blocks[:, 3:, 3:]
    wrong = np.abs(rebuilt - blocks).max(axis=(1, 2)) > _ZERO * np.abs(blocks).max()
    if wrong.any():
        raise DescriptionError(
            f"from_matrices: the mass at node {int(np.argmax(wrong))} is not that of a rigid lump (one mass in x, y, z, blocks "
            "[[m I, -m p~], [m p~, J]]); export it in body axes, with the dofs in the order x, y, z, rx, ry, rz"
        )
    return weight, offset, inertia


# ---- matrices --------------------------------------------------------------------------------------------------------------
_SAME_MASS = 1e-4  # relative


@remembers("matrices", M=without_files, K=without_files, nodes=without_files, geometric=without_files)
def from_matrices(
    M: Any,
    K: Any,
    nodes: Any,
    *,
    attach: Mapping[str, Any],
    inboard: str | None = None,
    reduction: str = "cantilever",
    modes: Any = 6,
    interfaces: Sequence[str] = (),
    mass: float | None = None,
    origin: Any = None,
    geometric: Mapping[str, Any] | None = None,
    damping: Any = 0.0,
    variant: str = "full",
) -> FlexibleBody:
    """A flexible body out of its mass and stiffness matrices; the other keywords are those of `matrices_model` and `reduce`.

    >>> K = np.kron([[2.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 1.0]], np.eye(3))
    >>> places = [(0, 0, 0), (1, 0, 0), (2, 0, 0)]
    >>> from_matrices(np.eye(9), K, places, attach={"root": 0, "tip": 2}, inboard="root", modes=3, mass=3.0)
    FlexibleBody(3 cantilever modes, 0.09836 ... 0.09836 Hz, mass 3 kg, nodes 'root' (inboard), 'tip', no geometric stiffness)
    """
    model = matrices_model(M, K, nodes, attach=attach, inboard=inboard, mass=mass, origin=origin, geometric=geometric)
    return reduce(model, reduction, modes=modes, interfaces=interfaces, damping=damping, variant=variant)


def matrices_model(
    M: Any,
    K: Any,
    nodes: Any,
    *,
    attach: Mapping[str, Any],
    inboard: str | None = None,
    mass: float | None = None,
    origin: Any = None,
    geometric: Mapping[str, Any] | None = None,
) -> FiniteElements:
    """The finite-element model of given matrices.

    M and K are arrays, sparse matrices or files (Matrix Market .mtx, SciPy's .npz, NumPy's .npy) with 3 dofs [x, y, z] or 6 dofs
    [x, y, z, rx, ry, rz] for each of the `nodes` (N, 3), node by node; `nodes` too is an array or a file (.npy, .csv, .txt). M is
    lumped (no coupling of nodes), or consistent for nodes that only translate. `attach` maps names to a node's number, or to
    several numbers: the place then moves with their mean, and turns. The body frame's origin is the inboard node unless `origin`
    is given (in the coordinates of `nodes`). `mass` [kg] is compared with M's. Without `geometric` (see `given_geometric`) the
    body has no motion-induced stiffness.
    """
    position = _positions(nodes)
    mass_matrix, stiffness = read_matrix(M, "M"), read_matrix(K, "K")
    per_node = _dofs_per_node(mass_matrix, stiffness, len(position))
    check_symmetric(stiffness, "stiffness")
    check_symmetric(mass_matrix, "mass")
    position = position - body_origin(origin, inboard, attach, position, per_node)
    _check_mass(mass_matrix, position, per_node, mass)
    rule = point_rule(mass_matrix, position, per_node)
    return FiniteElements(
        mass=mass_matrix,
        stiffness=stiffness,
        position=position,
        dofs_per_node=per_node,
        attachments=attachments(attach, position, per_node),
        inboard=inboard,
        rule=rule,
        pair_mass=None if rule is not None else pair_mass(mass_matrix, per_node),
        geometric_of=None if geometric is None else given_geometric(geometric),
    )


def read_matrix(source: Any, name: str) -> Any:
    """A sparse matrix out of an array, a sparse matrix or a file."""
    from scipy.io import mmread
    from scipy.sparse import csr_array, load_npz

    if not isinstance(source, str | Path):
        return csr_array(source, dtype=float)
    readers = {".mtx": mmread, ".npz": load_npz, ".npy": np.load}
    wanted = "a .mtx (Matrix Market), .npz (SciPy sparse) or .npy file"
    return csr_array(_read_file(Path(source), name, readers, wanted), dtype=float)


def _read_file(path: Path, name: str, readers: Mapping[str, Callable[[Path], Any]], wanted: str) -> Any:
    if not path.exists():
        raise DescriptionError(f"from_matrices: the file {str(path)!r} for {name} does not exist; give the path of {wanted}")
    if path.suffix not in readers:
        raise DescriptionError(f"from_matrices: the file for {name} is {path.name!r}; give {wanted}")
    return readers[path.suffix](path)


def given_geometric(matrices: Mapping[str, Any]) -> GeometricOf:
    """Geometric stiffness from full-size matrices (dofs, dofs) of another tool, by the signs of `GeometricStiffness`.

    Keys: "acceleration" 3 matrices, "gradient" 3 x 3 matrices, "force" and "moment" mappings from a node's name to 3 matrices.
    Whatever is missing is zero.
    """
    unknown = set(matrices) - {"acceleration", "gradient", "force", "moment"}
    if unknown:
        raise DescriptionError(f"from_matrices: geometric has the key {min(unknown)!r}; give acceleration, gradient, force, moment")

    def projected(model: FiniteElements, shapes: Array) -> GeometricStiffness:
        n = shapes.shape[1]

        def one(matrix: Any) -> Array:
            return np.asarray(shapes.T @ (read_matrix(matrix, "geometric") @ shapes))

        def per_node(loads: Mapping[str, Any]) -> Array:
            for name in loads:
                model.find(name)
            zero = np.zeros((3, n, n))
            found = [
                np.array([one(each) for each in loads[place.name]]) if place.name in loads else zero for place in model.attachments
            ]
            return np.array(found).reshape(len(model.attachments), 3, n, n)

        acceleration, gradient = matrices.get("acceleration"), matrices.get("gradient")
        return GeometricStiffness(
            acceleration=np.zeros((3, n, n)) if acceleration is None else np.array([one(each) for each in acceleration]),
            gradient=np.zeros((3, 3, n, n)) if gradient is None else np.array([[one(each) for each in row] for row in gradient]),
            force=per_node(matrices.get("force", {})),
            moment=per_node(matrices.get("moment", {})),
        )

    return projected


def _positions(nodes: Any) -> Array:
    if isinstance(nodes, str | Path):
        text = partial(np.loadtxt, ndmin=2)
        readers: dict[str, Any] = {".npy": np.load, ".csv": partial(text, delimiter=","), ".txt": text}
        nodes = _read_file(Path(nodes), "nodes", readers, "a .npy, .csv or .txt file with 3 numbers a row")
    position = np.asarray(nodes, dtype=float)
    if position.ndim != 2 or position.shape[1] != 3:
        raise DescriptionError(f"from_matrices: nodes have shape {position.shape}; give the coordinates (N, 3) of all nodes")
    return position


def _dofs_per_node(mass: Any, stiffness: Any, count: int) -> int:
    if mass.shape != stiffness.shape or mass.shape[0] != mass.shape[1]:
        raise DescriptionError(f"from_matrices: M is {mass.shape} and K is {stiffness.shape}; give square matrices of one size")
    for each in (3, 6):
        if mass.shape[0] == each * count:
            return each
    raise DescriptionError(
        f"from_matrices: the matrices have {mass.shape[0]} dofs for {count} nodes; give 3 or 6 dofs for every node, node by node, "
        "fixed ones included"
    )


def _check_mass(matrix: Any, position: Array, per_node: int, mass: float | None) -> None:
    along = rigid_motion(position, per_node)[:, :3]
    found = np.diagonal(along.T @ (matrix @ along))
    if found.min() <= 0 or np.ptp(found) > _SAME_MASS * found.max():
        values = ", ".join(f"{each:.6g}" for each in found)
        raise DescriptionError(
            f"from_matrices: the mass matrix moves {values} kg along x, y, z; give the matrix of the free body, with all its "
            "dofs and one mass in all directions"
        )
    if mass is not None and abs(found[0] - mass) > _SAME_MASS * abs(mass):
        raise DescriptionError(
            f"from_matrices: mass is {mass:.6g} kg but the mass matrix holds {found[0]:.6g} kg; check the units of M, or "
            "correct mass"
        )
