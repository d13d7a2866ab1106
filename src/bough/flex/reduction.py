"""Reduction: from a finite-element model to a few modes that the body keeps.

cantilever       the inboard node is fixed in the body frame; natural modes of what remains.
free-free        natural modes of the free body, without its rigid motions: the body frame is the mean-axis frame,
                 modes carry no momentum at zero deformation, and the inboard node moves in the body frame.
craig-bampton    the inboard node fixed; static shapes for unit motions of the interface nodes, natural modes with all
                 interfaces fixed, then made orthogonal. Without an inboard node: as free-free, rigid content removed.
pinned           the inboard node and the nodes in `interfaces` keep their positions and may turn (a chord frame).
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bough.errors import DescriptionError
from bough.flex.body_cache import body_key, cached
from bough.flex.choices import REDUCTIONS
from bough.flex.factors import Indefinite, SymmetricFactor
from bough.flex.finite_elements import FiniteElements, rigid_motion
from bough.flex.flexible_body import FlexibleBody, damping_matrix
from bough.flex.geometric import static_solver
from bough.flex.integrals import Array
from bough.flex.recovery import Recovery, given_recovery, is_given, with_given_points
from bough.flex.static_shapes import static_shapes, strain_orthonormal
from bough.progress import working
from bough.whole import whole_file

_DENSE = 600  # dofs up to which a dense solver is the quicker one
_SHIFT = 1e-6  # of the mean eigenvalue: keeps a stiffness with rigid modes invertible
_COUPLED = 1e-14  # of the largest entry of its row and column: what counts as a coupling of two dofs


def natural_modes(stiffness: Any, mass: Any, count: int, dof_name: Callable[[int], str] = "dof {}".format,
                  places: Array | None = None) -> tuple[Array, Array]:
    """The `count` lowest eigenvalues omega^2 and modes (dofs, count) of K x = omega^2 M x, x^T M x = 1.

    Parts of the model that no entry couples are solved apart, so that equal frequencies of two planes do not mix. Messages about an
    indefinite K name its worst dof by `dof_name`; `places` (dofs, 3) help to order large ones.

    >>> from scipy.sparse import diags_array
    >>> squares, modes = natural_modes(diags_array([9.0, 4.0]), diags_array([1.0, 4.0]), 2)
    >>> squares.round(12), modes.round(12)
    (array([1., 9.]), array([[0. , 1. ],
           [0.5, 0. ]]))
    """
    from scipy.sparse import csr_array

    stiffness, mass = csr_array(stiffness), csr_array(mass)
    if count == 0:
        return np.zeros(0), np.zeros((stiffness.shape[0], 0))
    squares: list[Array] = []
    modes: list[Array] = []
    for part in _uncoupled(stiffness, mass):
        try:
            where = None if places is None else places[part]
            values, vectors = _lowest(stiffness[part][:, part], mass[part][:, part], min(count, len(part)), where)
        except Indefinite as error:
            raise DescriptionError(f"flexible body: the stiffness is indefinite, above all at {dof_name(int(part[error.dof]))}: "
                                   "some motion without support sets energy free; check springs, offsets and prestress there, and "
                                   "export it again") from None
        whole = np.zeros((stiffness.shape[0], len(values)))
        whole[part] = vectors
        squares.append(values)
        modes.append(whole)
    values, vectors = np.concatenate(squares), np.hstack(modes)
    order = np.argsort(np.round(values / max(float(np.abs(values).max()), 1e-300), 14), kind="stable")[:count]
    return values[order], with_fixed_sign(vectors[:, order])


def with_fixed_sign(vectors: Array) -> Array:
    """The same modes with the largest entry of each positive (the first of those that are nearly the largest)."""
    sizes = np.abs(vectors)
    first = np.argmax(sizes > 0.999 * sizes.max(axis=0, initial=0.0), axis=0)
    signs = np.sign(vectors[first, np.arange(vectors.shape[1])])
    return np.asarray(vectors * np.where(signs == 0.0, 1.0, signs))


def stiffness_share(stiffness: Any, vectors: Array) -> Array:
    """x^T K x over |x|^T |K| |x| for each column: near the rounding error for a motion that strains nothing."""
    energy = np.einsum("ir,ir->r", vectors, stiffness @ vectors)
    bound = np.einsum("ir,ir->r", np.abs(vectors), abs(stiffness) @ np.abs(vectors))
    return np.asarray(np.abs(energy) / np.maximum(bound, 1e-300))


def _uncoupled(stiffness: Any, mass: Any) -> list[Array]:
    """The dofs of each part of the model that nothing couples to the rest."""
    from scipy.sparse.csgraph import connected_components

    pattern = _significant(stiffness) + _significant(mass)
    count, label = connected_components(pattern, directed=False)
    return [np.flatnonzero(label == part) for part in range(count)]


def _significant(matrix: Any) -> Any:
    size = np.sqrt(np.abs(matrix.diagonal()))
    entries = abs(matrix).tocoo()
    row, column = entries.coords
    keep = entries.data > _COUPLED * size[row] * size[column]
    from scipy.sparse import csr_array

    return csr_array((np.ones(int(keep.sum())), (row[keep], column[keep])), shape=matrix.shape)


def _lowest(stiffness: Any, mass: Any, count: int, places: Array | None = None) -> tuple[Array, Array]:
    size = stiffness.shape[0]
    shift = _SHIFT * stiffness.diagonal().sum() / mass.diagonal().sum()
    if size <= _DENSE or count >= size - 1:
        values, vectors = _dense(stiffness.toarray(), mass.toarray(), count, shift)
    else:
        values, vectors = _sparse(stiffness, mass, count, shift, places)
    norms = np.sqrt(np.einsum("ir,ir->r", vectors, mass @ vectors))
    return values, np.asarray(vectors / norms)


def _dense(stiffness: Array, mass: Array, count: int, shift: float) -> tuple[Array, Array]:
    """M x = mu (K + shift M) x: the largest mu come out exact, and a singular M does no harm."""
    from scipy.linalg import eigh

    size = len(stiffness)
    if not np.isfinite(stiffness + shift * mass).all():
        raise DescriptionError("flexible body: its stiffness and mass are too large for numbers; check the units of the matrices")
    lowest, worst = eigh(stiffness + shift * mass, subset_by_index=(0, 0))
    if lowest[0] < -_SHIFT * np.abs(stiffness).max(initial=0.0):
        raise Indefinite(int(np.abs(worst[:, 0]).argmax()))
    inverse, vectors = eigh(mass, stiffness + shift * mass, subset_by_index=(size - count, size - 1))
    massive = inverse > 1e-12 * inverse[-1]
    kept = vectors[:, massive][:, ::-1]
    values = np.einsum("ir,ij,jr->r", kept, stiffness, kept) / np.einsum("ir,ij,jr->r", kept, mass, kept)
    return values, kept


def _sparse(stiffness: Any, mass: Any, count: int, shift: float, places: Array | None) -> tuple[Array, Array]:
    from scipy.sparse.linalg import LinearOperator, eigsh

    start = np.random.default_rng(0).normal(size=stiffness.shape[0])  # the same modes in every run
    factor = SymmetricFactor(stiffness + shift * mass, places)
    inverse = LinearOperator(stiffness.shape, matvec=factor.solve, dtype=float)
    values, vectors = eigsh(stiffness.tocsc(), count, mass.tocsc(), sigma=-shift, v0=start, OPinv=inverse)
    order = np.argsort(values)
    return values[order], vectors[:, order]


# ---- mode checks -----------------------------------------------------------------------------------------------------------
_UNSTRAINED = 1e-13  # share of the stiffness (`stiffness_share`) below which a motion strains nothing
NEARLY_UNSTRAINED = 1e-7  # the same, for a motion that is also rigid
_SYMMETRY = 1e-8


def check_symmetric(matrix: Any, what: str) -> None:
    """Refuse a matrix that differs from its transpose by more than rounding, and name the worst pair."""
    skew = abs(matrix - matrix.T).tocoo()
    if skew.nnz and skew.data.max() > _SYMMETRY * abs(matrix).max():
        worst = int(skew.data.argmax())
        i, j = int(skew.coords[0][worst]), int(skew.coords[1][worst])
        pair = f"{matrix[i, j]:.9g} at [{i}, {j}] but {matrix[j, i]:.9g} at [{j}, {i}]"
        raise DescriptionError(f"flexible body: the {what} matrix is not symmetric, with {pair}; export the whole matrix (not one "
                               "triangle), without damping or gyroscopic terms")


def check_no_rigid_mode(model: FiniteElements, free: Array, stiffness: Any, shapes: Array, squares: Array) -> None:
    """Refuse modes that move without strain although the inboard node is fixed."""
    share = stiffness_share(stiffness, shapes)
    rigid = independent_columns(model.rigid_motion()[free])
    unit = shapes / np.linalg.norm(shapes, axis=0)
    is_rigid = np.linalg.norm(unit - rigid @ (rigid.T @ unit), axis=0) < 1e-4
    bad = np.flatnonzero((share < _UNSTRAINED) | (is_rigid & (share < NEARLY_UNSTRAINED)))
    if len(bad):
        hertz = np.sqrt(max(float(squares[bad[0]]), 0.0)) / (2 * np.pi)
        raise DescriptionError(f"flexible body: with its inboard node {model.inboard!r} fixed the stiffness still has {len(bad)} "
                               f"rigid-body mode(s), the first at {hertz:.3g} Hz; let the inboard node hold all 6 motions (several "
                               "nodes, if they only translate), connect loose parts, or ask for reduction='free-free'")


def check_interfaces(model: FiniteElements, interfaces: tuple[str, ...]) -> None:
    outer = [name for name in interfaces if name != model.inboard]
    if not outer:
        raise DescriptionError("flexible body: craig-bampton needs nodes beside the inboard one; name them in interfaces=[...]")
    for name in outer:
        check_independent(model, name)
    taken: dict[int, str] = {}
    for name in dict.fromkeys([*outer, *([model.inboard] if model.inboard else [])]):
        for node in model.find(name).nodes:
            if node in taken:
                raise DescriptionError(f"flexible body: its modes are linearly dependent: interfaces {taken[node]!r} and {name!r} "
                                       f"share mesh node {node}; let each node of the mesh belong to one interface")
            taken[node] = name


def required_inboard(model: FiniteElements, reduction: str) -> str:
    if model.inboard is None:
        raise DescriptionError(f"flexible body: {reduction} modes need an inboard node; give inboard=..., or ask for "
                               "reduction='free-free'")
    check_independent(model, model.inboard)
    return model.inboard


def check_independent(model: FiniteElements, name: str) -> None:
    """Refuse to fix a node that follows another one."""
    follows = np.intersect1d(model.dofs_of(name), model.dependent)
    if len(follows):
        raise DescriptionError(f"flexible body: {name!r} cannot be an interface, since {model.dof_name(int(follows[0]))} follows "
                               "another node (a rigid element or a spider); take the node that leads it")


def mode_count(modes: Any) -> int:
    if isinstance(modes, bool) or not isinstance(modes, int | np.integer) or modes < 0:
        raise DescriptionError(f"flexible body: modes is {modes!r}; give a number >= 0, or an array of shapes (dofs, n)")
    return int(modes)


def available(count: int, dofs: int) -> int:
    if count > dofs:
        raise DescriptionError(f"flexible body: {count} modes were asked for, but the model has {dofs} free dofs; ask for fewer, "
                               "or refine it")
    return count


def independent_columns(motion: Array) -> Array:
    left, sizes, _ = np.linalg.svd(motion, full_matrices=False)
    return np.asarray(left[:, sizes > 1e-10 * max(float(sizes.max(initial=0.0)), 1e-300)])


# ---- reduction -------------------------------------------------------------------------------------------------------------
_DEPENDENT = 1e-10  # smallest eigenvalue of the modes' correlation


def reduce(
    model: FiniteElements,
    reduction: str = "cantilever",
    *,
    modes: Any = 6,
    interfaces: Sequence[str] = (),
    static: Sequence[Any] = (),
    damping: Any = 0.0,
    variant: str = "full",
    stiffening: bool = True,
    recover: Any = None,
    cache: str | Path | None = None,
) -> FlexibleBody:
    """Reduce a finite-element model to a flexible body with the given modes.

    `modes` is their number (for craig-bampton: of the fixed-interface modes, in addition to the static ones), or an array (dofs,
    n) of your own shapes. `static` adds the static shapes of loads (see `bough.flex.static_shapes`): names of nodes,
    "acceleration", or forces at the dofs. `damping` is a ratio, one per mode, or a matrix. `stiffening` adds the geometric
    stiffness. `recover` selects the elements whose stresses can be recovered: "all", element numbers, for a beam positions (x, y,
    z), or matrices from another tool: {"names": ..., "stress": ..., "strain": ...}, {"points": {name: place}, "displacement":
    ...}. `cache` is an NPZ file that stores the body: if it was made from the same model with the same options, it is read
    instead.

    >>> from bough.flex import beam_model
    >>> reduce(beam_model(1.0, EI=1.0, mass_per_length=1.0), "free-free", modes=2).frequencies.round(3)
    array([3.561, 3.561])
    """
    asked = {"reduction": reduction, "modes": modes, "interfaces": interfaces, "static": static, "damping": damping}
    key = "" if cache is None else body_key(model, asked | {"variant": variant, "stiffening": stiffening, "recover": recover})
    if cache is not None and (kept := cached(Path(cache), key)) is not None:
        return kept
    with working("reducing finite elements"):
        squares, shapes = mode_shapes(model, reduction, modes=modes, interfaces=interfaces, static=static)
        frequencies = np.sqrt(np.maximum(squares, 0.0))
        known = model.geometric_of(model, shapes) if stiffening and model.geometric_of is not None else None
        body = FlexibleBody(
            integrals=model.integrals(shapes),
            points=None if model.rule is None else model.rule.points(shapes),
            nodes=with_given_points(model.nodes(shapes), recover, shapes),
            inboard=model.inboard,
            K=np.diag(squares),
            D=damping_matrix(damping, frequencies),
            frequencies=frequencies / (2 * np.pi),
            variant=variant,
            geometric=known,
            reduction=reduction if np.ndim(modes) == 0 else "given",
            outline=model.outline(shapes),
            recovery=_recovered(model, shapes, recover),
        )
    if cache is not None:
        with whole_file(Path(cache)) as part, part.open("wb") as file:
            np.savez_compressed(file, key=np.array(key), **body.to_arrays())  # type: ignore[arg-type]
    return body


def _recovered(model: FiniteElements, shapes: Array, recover: Any) -> Recovery | None:
    if recover is None:
        return None
    if is_given(recover):
        return given_recovery(recover, shapes)
    if model.recover is None:
        raise DescriptionError("flexible body: this model does not know its elements' stresses; give recover={'names': [...], "
                               "'stress': matrix}, rows xx, yy, zz, xy, yz, zx of each element and a column for each dof, or read "
                               "solid elements with their material (.inp)")
    return model.recover(shapes, recover)


def mode_shapes(model: FiniteElements, reduction: str, *, modes: Any = 6, interfaces: Sequence[str] = (),
                static: Sequence[Any] = ()) -> tuple[Array, Array]:
    """The squares of the angular frequencies (n,) and the mass-normalized shapes (dofs, n) of a reduction."""
    squares, shapes = _mode_shapes(model, reduction, modes, interfaces)
    if not len(static):
        return squares, shapes
    added = static_shapes(model, static, _fixed_for_loads(model, reduction, interfaces))
    if is_free(model, reduction):
        added = _without_rigid_motion(added, model)
    return _orthogonal(model, np.hstack([shapes, strain_orthonormal(model.stiffness, shapes, added)]))


def is_free(model: FiniteElements, reduction: str) -> bool:
    """Whether the modes of a reduction carry no momentum: nothing of the body is at rest in its frame."""
    return reduction == "free-free" or model.inboard is None


def fixed_dofs(model: FiniteElements, reduction: str, interfaces: Sequence[str]) -> Array | None:
    """The dofs that a reduction holds still in the body frame; None: the body is free."""
    if is_free(model, reduction) or model.inboard is None:
        return None
    if reduction == "pinned":
        return pinned_dofs(model, (model.inboard, *interfaces))
    return model.dofs_of(model.inboard)


def _fixed_for_loads(model: FiniteElements, reduction: str, interfaces: Sequence[str]) -> Array | None:
    """The same for static shapes; beside unit motions of interfaces, these are fixed: together they span every static solution."""
    if reduction != "craig-bampton":
        return fixed_dofs(model, reduction, interfaces)
    names = dict.fromkeys([*interfaces, *([] if model.inboard is None else [model.inboard])])
    return np.unique(np.concatenate([model.dofs_of(name) for name in names]))


def _mode_shapes(model: FiniteElements, reduction: str, modes: Any, interfaces: Sequence[str]) -> tuple[Array, Array]:
    check_symmetric(model.stiffness, "stiffness")
    check_symmetric(model.mass, "mass")
    if np.ndim(modes) == 2:
        return _given(model, np.asarray(modes, dtype=float))
    count = mode_count(modes)
    if reduction == "cantilever":
        return _fixed(model, model.dofs_of(required_inboard(model, reduction)), count)
    if reduction == "free-free":
        return _free_free(model, count)
    if reduction == "craig-bampton":
        return _craig_bampton(model, count, tuple(interfaces))
    if reduction == "pinned":
        return _fixed(model, pinned_dofs(model, (required_inboard(model, reduction), *interfaces)), count)
    raise DescriptionError(f"flexible body: reduction is {reduction!r}; give one of {', '.join(map(repr, REDUCTIONS))}")


def pinned_dofs(model: FiniteElements, names: Sequence[str]) -> Array:
    """The translations of some nodes, and the first one's rotation about the line to the last."""
    fixed = [model.dofs_of(name).reshape(-1, model.dofs_per_node)[:, :3].ravel() for name in names]
    line = np.abs(model.find(names[-1]).position - model.find(names[0]).position)
    axis, along = int(line.argmax()), [model.dofs_of(name)[int(line.argmax())] for name in names[1:]]
    if model.dofs_per_node == 6:
        fixed.append(model.dofs_of(names[0])[3 + axis : 4 + axis])
    return np.setdiff1d(np.concatenate(fixed), along)


def _fixed(model: FiniteElements, fixed: Array, count: int) -> tuple[Array, Array]:
    free = model.free_dofs(fixed)
    stiffness, mass = (model.restricted(each, free) for each in (model.stiffness, model.mass))
    wanted = available(count, len(free))
    squares, shapes = natural_modes(stiffness, mass, wanted, lambda i: model.dof_name(int(free[i])), model.places(free))
    check_no_rigid_mode(model, free, stiffness, shapes, squares)
    return squares, model.spread(shapes, free)


def _free_free(model: FiniteElements, count: int) -> tuple[Array, Array]:
    free = model.free_dofs()
    stiffness, mass = (model.restricted(each, free) for each in (model.stiffness, model.mass))
    rigid = independent_columns(model.rigid_motion()[free])
    number = rigid.shape[1]
    wanted = available(count + number, len(free))
    _squares, shapes = natural_modes(stiffness, mass, wanted, lambda i: model.dof_name(int(free[i])), model.places(free))
    grounded = stiffness_share(stiffness, rigid)
    if number and grounded.max() > NEARLY_UNSTRAINED:
        raise DescriptionError("flexible body: free-free modes were asked for, but the stiffness resists rigid motion (share "
                               f"{grounded.max():.2e}); give the stiffness of the free body without its supports, or ask for "
                               "reduction='cantilever'")
    return _orthogonal(model, _without_rigid_motion(model.spread(shapes[:, number:], free), model))


def _craig_bampton(model: FiniteElements, count: int, interfaces: tuple[str, ...]) -> tuple[Array, Array]:
    check_interfaces(model, interfaces)
    outer = [name for name in interfaces if name != model.inboard]
    clamped = [] if model.inboard is None else [model.dofs_of(model.inboard)]
    fixed = np.concatenate([*clamped, *(model.dofs_of(name) for name in outer)])
    natural = _fixed(model, fixed, count)[1] if count else np.zeros((model.n_dofs, 0))
    static = _constraint_modes(model, fixed, outer)
    shapes = np.hstack([static, natural])
    if model.inboard is None:
        shapes = _without_rigid_motion(shapes, model)
        return _orthogonal(model, shapes, drop=independent_columns(model.rigid_motion()).shape[1])
    return _orthogonal(model, shapes)


def _constraint_modes(model: FiniteElements, fixed: Array, outer: Sequence[str]) -> Array:
    """Static shapes: one interface makes a unit motion, the others and the inboard node stay."""
    solve = static_solver(model, fixed)
    columns = []
    for name in outer:
        place, dofs = model.find(name), model.dofs_of(name)
        motion = rigid_motion(model.position[list(place.nodes)], model.dofs_per_node, place.position)
        motion[np.isin(dofs, model.held)] = 0.0
        motion = motion[:, : 6 if place.rotates else 3]
        shape = model.spread(motion, dofs)
        shape = shape - solve(model.stiffness @ shape)
        columns.append(shape[:, shape.any(axis=0)])
    return np.hstack(columns)


def _given(model: FiniteElements, shapes: Array) -> tuple[Array, Array]:
    if shapes.shape[0] != model.n_dofs:
        raise DescriptionError(f"flexible body: modes have {shapes.shape[0]} rows, but the model has {model.n_dofs} dofs; give one "
                               "row per dof")
    return _orthogonal(model, shapes)


def _orthogonal(model: FiniteElements, shapes: Array, drop: int = 0) -> tuple[Array, Array]:
    """The same space, spanned by mass-normalized modes that do not couple; `drop` of its dimensions are known to be empty."""
    from scipy.linalg import eigh

    mass = shapes.T @ (model.mass @ shapes)
    size = np.sqrt(np.maximum(np.diagonal(mass), 1e-300))
    values, vectors = np.linalg.eigh(mass / np.outer(size, size))
    if drop == 0 and len(values) and values[0] < _DEPENDENT:
        pair = " and ".join(map(str, sorted(np.argsort(-np.abs(vectors[:, 0]))[:2].tolist())))
        raise DescriptionError(f"flexible body: its modes are linearly dependent (smallest eigenvalue of their correlation "
                               f"{values[0]:.1e}), above all modes {pair}; leave one out, or ask for fewer modes or interfaces "
                               "that share no node")
    basis = shapes @ (vectors[:, drop:] / size[:, None])
    reduced = (basis.T @ (model.stiffness @ basis), basis.T @ (model.mass @ basis))
    squares, mixed = eigh(*((matrix + matrix.T) / 2 for matrix in reduced))
    return squares, with_fixed_sign(basis @ mixed)


def _without_rigid_motion(shapes: Array, model: FiniteElements) -> Array:
    """The shapes less their rigid content, in the sense of the mass matrix: the mean-axis condition."""
    rigid = independent_columns(model.rigid_motion())
    momentum = rigid.T @ (model.mass @ rigid)
    return np.asarray(shapes - rigid @ np.linalg.solve(momentum, rigid.T @ (model.mass @ shapes)))
