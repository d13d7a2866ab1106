"""Reduction: from a finite-element model to a few modes that the body keeps.

cantilever       the inboard node is fixed in the body frame; natural modes of what remains.
free-free        natural modes of the free body, without its rigid motions: the body frame is the mean-axis frame,
                 modes carry no momentum at zero deformation, and the inboard node moves in the body frame.
craig-bampton    the inboard node fixed; static shapes for unit motions of the interface nodes, natural modes with all
                 interfaces fixed, then made orthogonal. Without an inboard node: as free-free, rigid content removed.
pinned           the inboard node and the nodes in `interfaces` keep their positions and may turn (a chord frame).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bough.errors import DescriptionError
from bough.flex.attachments import rigid_motion
from bough.flex.cross import Array
from bough.flex.eigen import natural_modes, stiffness_share, with_fixed_sign
from bough.flex.finite_elements import FiniteElements
from bough.flex.flexible_body import FlexibleBody, damping_matrix
from bough.flex.geometric import geometric_stiffness
from bough.flex.mode_checks import (
    NEARLY_UNSTRAINED,
    available,
    check_interfaces,
    check_no_rigid_mode,
    check_symmetric,
    dependent_modes,
    independent_columns,
    mode_count,
    required_inboard,
)
from bough.progress import working

REDUCTIONS = ("cantilever", "free-free", "craig-bampton", "pinned")
_DEPENDENT = 1e-10  # smallest eigenvalue of the modes' correlation


def reduce(
    model: FiniteElements,
    reduction: str = "cantilever",
    *,
    modes: Any = 6,
    interfaces: Sequence[str] = (),
    damping: Any = 0.0,
    variant: str = "full",
    stiffening: bool = True,
) -> FlexibleBody:
    """The flexible body that a model makes with the modes asked for.

    `modes` is their number (for craig-bampton: of the fixed-interface modes, beside the static ones), or an array
    (dofs, n) of shapes of your own. `damping` is a ratio, one per mode, or a matrix. `stiffening` adds the geometric stiffness.

    >>> from bough.flex import beam_model
    >>> reduce(beam_model(1.0, EI=1.0, mass_per_length=1.0), "free-free", modes=2).frequencies.round(3)
    array([3.561, 3.561])
    """
    with working("reducing finite elements"):
        squares, shapes = mode_shapes(model, reduction, modes=modes, interfaces=interfaces)
        frequencies = np.sqrt(np.maximum(squares, 0.0))
        known = geometric_stiffness(model, shapes) if stiffening else None
        return FlexibleBody(
            integrals=model.integrals(shapes),
            points=None if model.rule is None else model.rule.points(shapes),
            nodes=model.nodes(shapes),
            inboard=model.inboard,
            K=np.diag(squares),
            D=damping_matrix(damping, frequencies),
            frequencies=frequencies / (2 * np.pi),
            variant=variant,
            geometric=known,
            reduction=reduction if np.ndim(modes) == 0 else "given",
            outline=model.outline(shapes),
        )


def mode_shapes(model: FiniteElements, reduction: str, *, modes: Any = 6, interfaces: Sequence[str] = ()) -> tuple[Array, Array]:
    """The squares of the angular frequencies (n,) and the mass-normalized shapes (dofs, n) of a reduction."""
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
    stiffness, mass = model.stiffness[free][:, free], model.mass[free][:, free]
    squares, shapes = natural_modes(stiffness, mass, available(count, len(free)))
    check_no_rigid_mode(model, free, stiffness, shapes, squares)
    return squares, _spread(shapes, free, model.n_dofs)


def _free_free(model: FiniteElements, count: int) -> tuple[Array, Array]:
    free = model.free_dofs()
    stiffness, mass = model.stiffness[free][:, free], model.mass[free][:, free]
    rigid = independent_columns(model.rigid_motion()[free])
    number = rigid.shape[1]
    _squares, shapes = natural_modes(stiffness, mass, available(count + number, len(free)))
    grounded = stiffness_share(stiffness, rigid)
    if number and grounded.max() > NEARLY_UNSTRAINED:
        raise DescriptionError(
            f"flexible body: free-free modes were asked for, but the stiffness resists rigid motion (share {grounded.max():.2e}); "
            "give the stiffness of the free body without its supports, or ask for reduction='cantilever'"
        )
    return _orthogonal(model, _without_rigid_motion(_spread(shapes[:, number:], free, model.n_dofs), model))


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
    from scipy.sparse.linalg import splu

    free = model.free_dofs(fixed)
    factor = splu(model.stiffness[free][:, free].tocsc())
    columns = []
    for name in outer:
        place, dofs = model.find(name), model.dofs_of(name)
        motion = rigid_motion(model.position[list(place.nodes)], model.dofs_per_node, place.position)
        motion[np.isin(dofs, model.held)] = 0.0
        motion = motion[:, : 6 if place.rotates else 3]
        shape = np.zeros((model.n_dofs, motion.shape[1]))
        shape[dofs] = motion
        shape[free] = -factor.solve(model.stiffness[free][:, dofs] @ motion)
        columns.append(shape[:, shape.any(axis=0)])
    return np.hstack(columns)


def _given(model: FiniteElements, shapes: Array) -> tuple[Array, Array]:
    if shapes.shape[0] != model.n_dofs:
        raise DescriptionError(
            f"flexible body: modes have {shapes.shape[0]} rows, but the model has {model.n_dofs} dofs; give one row per dof"
        )
    return _orthogonal(model, shapes)


def _orthogonal(model: FiniteElements, shapes: Array, drop: int = 0) -> tuple[Array, Array]:
    """The same space, spanned by mass-normalized modes that do not couple; `drop` of its dimensions are known to be empty."""
    from scipy.linalg import eigh

    mass = shapes.T @ (model.mass @ shapes)
    size = np.sqrt(np.maximum(np.diagonal(mass), 1e-300))
    values, vectors = np.linalg.eigh(mass / np.outer(size, size))
    if drop == 0 and len(values) and values[0] < _DEPENDENT:
        raise DescriptionError(dependent_modes(vectors[:, 0], values[0]))
    basis = shapes @ (vectors[:, drop:] / size[:, None])
    reduced = (basis.T @ (model.stiffness @ basis), basis.T @ (model.mass @ basis))
    squares, mixed = eigh(*((matrix + matrix.T) / 2 for matrix in reduced))
    return squares, with_fixed_sign(basis @ mixed)


def _without_rigid_motion(shapes: Array, model: FiniteElements) -> Array:
    """The shapes less their rigid content, in the sense of the mass matrix: the mean-axis condition."""
    rigid = independent_columns(model.rigid_motion())
    momentum = rigid.T @ (model.mass @ rigid)
    return np.asarray(shapes - rigid @ np.linalg.solve(momentum, rigid.T @ (model.mass @ shapes)))


def _spread(shapes: Array, free: Array, size: int) -> Array:
    whole = np.zeros((size, shapes.shape[1]))
    whole[free] = shapes
    return whole
