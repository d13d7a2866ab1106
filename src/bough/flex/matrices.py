"""Bodies from the mass and stiffness matrices of any finite-element tool."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bough.errors import DescriptionError
from bough.flex.exported import Exported
from bough.flex.finite_elements import FiniteElements, GeometricOf
from bough.flex.flexible_body import FlexibleBody, remembers, without_files
from bough.flex.geometric import GeometricStiffness
from bough.flex.integrals import Array
from bough.flex.reading import read_matrix_market, units as units_of
from bough.flex.reduction import reduce


@remembers("matrices", M=without_files, K=without_files, nodes=without_files, geometric=without_files)
def from_matrices(
    M: Any,
    K: Any,
    nodes: Any,
    *,
    attach: Mapping[str, Any] | None = None,
    inboard: str | None = None,
    reduction: str = "cantilever",
    modes: Any = 6,
    interfaces: Sequence[str] = (),
    static: Sequence[Any] = (),
    mass: float | None = None,
    origin: Any = None,
    spiders: Mapping[str, Any] | None = None,
    units: str = "SI",
    geometric: Mapping[str, Any] | None = None,
    damping: Any = 0.0,
    variant: str = "full",
    recover: Any = None,
) -> FlexibleBody:
    """A flexible body from its mass and stiffness matrices; the other keywords are those of `matrices_model` and `reduce`.

    >>> K = np.kron([[2.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 1.0]], np.eye(3))
    >>> places = [(0, 0, 0), (1, 0, 0), (2, 0, 0)]
    >>> from_matrices(np.eye(9), K, places, attach={"root": 0, "tip": 2}, inboard="root", modes=3, mass=3.0)
    FlexibleBody(3 cantilever modes, 0.09836 ... 0.09836 Hz, mass 3 kg, nodes 'root' (inboard), 'tip', no geometric stiffness)
    """
    model = matrices_model(M, K, nodes, attach=attach, inboard=inboard, mass=mass, origin=origin, spiders=spiders, units=units,
                           geometric=geometric)
    options = {"static": static, "damping": damping, "variant": variant, "recover": recover}
    return reduce(model, reduction, modes=modes, interfaces=interfaces, **options)


def matrices_model(
    M: Any,
    K: Any,
    nodes: Any,
    *,
    attach: Mapping[str, Any] | None = None,
    inboard: str | None = None,
    mass: float | None = None,
    origin: Any = None,
    spiders: Mapping[str, Any] | None = None,
    units: str = "SI",
    geometric: Mapping[str, Any] | None = None,
) -> FiniteElements:
    """The finite-element model of given matrices.

    M and K are arrays, sparse matrices or files (Matrix Market .mtx, SciPy's .npz, NumPy's .npy) with 3 dofs [x, y, z] or 6 dofs
    [x, y, z, rx, ry, rz] for each of the `nodes` (N, 3), node by node; `nodes` too is an array or a file (.npy, .csv, .txt). M is
    lumped or consistent, with or without rotations. `attach` maps names to a node number, or to several numbers: the location then
    follows their mean translation and rotation. `spiders` maps names to nodes that move rigidly with a new node at their center,
    or `at` a position: {"hub": {"nodes": [3, 4, 5], "at": (0, 0, 1)}}. The body frame's origin is the inboard node unless `origin`
    is given (in SI, in the coordinates of `nodes`). `mass` [kg] is compared with that of M; `units` are those of the matrices and
    nodes, such as "mm-t-s". Without `geometric` (see `given_geometric`) the body has no motion-induced stiffness.
    """
    position = _positions(nodes)
    mass_matrix, stiffness = read_matrix(M, "M"), read_matrix(K, "K")
    structure = Exported(source="from_matrices", labels=np.arange(len(position)), position=position, mass=mass_matrix,
                         stiffness=stiffness,
                         per_node=_dofs_per_node(mass_matrix, stiffness, len(position))).in_units(units_of(units))
    known = None if geometric is None else given_geometric(geometric)
    return structure.model(attach=attach, inboard=inboard, origin=origin, spiders=spiders, mass=mass, geometric=known)


def read_matrix(source: Any, name: str) -> Any:
    """A sparse matrix out of an array, a sparse matrix or a file."""
    from scipy.sparse import csr_array, load_npz

    found = source
    if isinstance(source, str | Path):
        readers = {".mtx": lambda path: read_matrix_market(path.read_text(errors="replace")), ".npz": load_npz, ".npy": np.load}
        found = _read_file(Path(source), name, readers, "a .mtx (Matrix Market), .npz (SciPy sparse) or .npy file")
    try:
        if getattr(found, "dtype", np.dtype(float)).kind not in "biuf":
            raise ValueError(f"its entries are of the kind {found.dtype}")
        return csr_array(found, dtype=float)
    except (TypeError, ValueError) as error:
        raise DescriptionError(f"from_matrices: {name} is not a matrix of real numbers ({error}); give one with two axes") from None


def _read_file(path: Path, name: str, readers: Mapping[str, Callable[[Path], Any]], wanted: str) -> Any:
    if not path.exists():
        raise DescriptionError(f"from_matrices: the file {str(path)!r} for {name} does not exist; give the path of {wanted}")
    if path.suffix not in readers:
        raise DescriptionError(f"from_matrices: the file for {name} is {path.name!r}; give {wanted}")
    try:
        return readers[path.suffix](path)
    except Exception as error:  # of NumPy and SciPy, whatever is wrong with the file
        raise DescriptionError(f"from_matrices: the file {path.name!r} for {name} cannot be read "
                               f"({' '.join(str(error).split())[:100]}); give {wanted}") from None


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
    try:
        position = np.asarray(nodes, dtype=float)
    except (TypeError, ValueError):
        raise DescriptionError("from_matrices: nodes are not numbers; give the coordinates (N, 3) of all nodes") from None
    if position.ndim != 2 or position.shape[1] != 3:
        raise DescriptionError(f"from_matrices: nodes have shape {position.shape}; give the coordinates (N, 3) of all nodes")
    return position


def _dofs_per_node(mass: Any, stiffness: Any, count: int) -> int:
    if mass.shape != stiffness.shape or mass.shape[0] != mass.shape[1]:
        raise DescriptionError(f"from_matrices: M is {mass.shape} and K is {stiffness.shape}; give square matrices of one size")
    for each in (3, 6):
        if mass.shape[0] == each * count:
            return each
    raise DescriptionError(f"from_matrices: the matrices have {mass.shape[0]} dofs for {count} nodes; give 3 or 6 dofs for every "
                           "node, node by node, fixed ones included")
