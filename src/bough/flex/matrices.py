"""Bodies out of the mass and stiffness matrices of any finite-element tool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bough.errors import DescriptionError
from bough.flex.attachments import attachments, rigid_motion
from bough.flex.cross import Array
from bough.flex.finite_elements import FiniteElements, GeometricOf
from bough.flex.flexible_body import FlexibleBody
from bough.flex.geometric import GeometricStiffness
from bough.flex.lumped import pair_mass, point_rule
from bough.flex.mode_checks import check_symmetric
from bough.flex.recipe import remembers, without_files
from bough.flex.reduction import reduce

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
    position = position - _origin(origin, attach, inboard, position, per_node)
    _check_mass(mass_matrix, position, per_node, mass)
    rule = point_rule(mass_matrix, position, per_node)
    return FiniteElements(
        mass=mass_matrix,
        stiffness=stiffness,
        position=position,
        dofs_per_node=per_node,
        attachments=attachments(attach, position, per_node),
        inboard=_known_inboard(inboard, attach),
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
    path = Path(source)
    if not path.exists():
        raise DescriptionError(
            f"from_matrices: the file {str(path)!r} for {name} does not exist; give the path of a .mtx, .npz or .npy file"
        )
    readers = {".mtx": mmread, ".npz": load_npz, ".npy": np.load}
    if path.suffix not in readers:
        raise DescriptionError(
            f"from_matrices: {name} is in {path.name!r}; give a .mtx (Matrix Market), .npz (SciPy sparse) or .npy file"
        )
    return csr_array(readers[path.suffix](path), dtype=float)


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
    position = _read_positions(Path(nodes)) if isinstance(nodes, str | Path) else np.asarray(nodes, dtype=float)
    if position.ndim != 2 or position.shape[1] != 3:
        raise DescriptionError(f"from_matrices: nodes have shape {position.shape}; give the coordinates (N, 3) of all nodes")
    return position


def _read_positions(path: Path) -> Array:
    if not path.exists():
        raise DescriptionError(
            f"from_matrices: the file {str(path)!r} for nodes does not exist; give the path of a .npy, .csv or .txt file"
        )
    if path.suffix not in (".npy", ".csv", ".txt"):
        raise DescriptionError(f"from_matrices: nodes are in {path.name!r}; give a .npy, .csv or .txt file with 3 numbers a row")
    read = np.load(path) if path.suffix == ".npy" else np.loadtxt(path, delimiter="," if path.suffix == ".csv" else None, ndmin=2)
    return np.asarray(read, dtype=float)


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


def _origin(origin: Any, attach: Mapping[str, Any], inboard: str | None, position: Array, per_node: int) -> Array:
    if origin is not None:
        return np.asarray(origin, dtype=float)
    if inboard is None:
        return np.zeros(3)
    found = attachments({inboard: attach[_known_inboard(inboard, attach)]}, position, per_node)
    return found[0].position


def _known_inboard(inboard: str | None, attach: Mapping[str, Any]) -> Any:
    from bough.flex.nodes import unknown_node

    if inboard is not None and inboard not in attach:
        raise DescriptionError(unknown_node(inboard, tuple(attach)))
    return inboard


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
