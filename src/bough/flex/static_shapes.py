"""Static shapes in addition to the modes, which make the response to chosen constant loads exact. [B 72]

Each entry of `static` is the name of a node (unit forces and moments there), "acceleration" (the loads of the body's own mass
under unit accelerations, linear and angular: inertia relief), or an array (dofs,) or (dofs, k) of forces at the dofs.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bough.errors import DescriptionError
from bough.flex.finite_elements import FiniteElements
from bough.flex.geometric import determinate_support, static_solver
from bough.flex.integrals import Array

ACCELERATION = "acceleration"
_DEPENDENT = 1e-8  # share of a static shape that the others leave, in the norm of strain


def load_vectors(model: FiniteElements, static: Sequence[Any]) -> list[tuple[str, Array]]:
    """The loads (dofs, k) of each entry, with its name."""
    if isinstance(static, str):
        static = (static,)
    return [(each if isinstance(each, str) else f"load {i}", _loads(model, each)) for i, each in enumerate(static)]


def _loads(model: FiniteElements, entry: Any) -> Array:
    if isinstance(entry, str) and entry == ACCELERATION:
        return np.asarray(model.mass @ model.rigid_motion())
    if isinstance(entry, str):
        place = model.find(entry)
        return np.asarray(place.gather.toarray()[: 6 if place.rotates else 3].T)
    given = np.asarray(entry, dtype=float)
    given = given[:, None] if given.ndim == 1 else given
    if given.ndim != 2 or given.shape[0] != model.n_dofs:
        raise DescriptionError(f"flexible body: a static load has shape {np.shape(entry)}; give a node's name, {ACCELERATION!r}, "
                               f"or an array with one row for each of the {model.n_dofs} dofs")
    return given


def static_shapes(model: FiniteElements, static: Sequence[Any], fixed: Array | None) -> Array:
    """The static displacements (dofs, k) under the loads, with some dofs fixed; None: of the free body, less rigid motion."""
    loads = [each for _, each in load_vectors(model, static)]
    if not loads:
        return np.zeros((model.n_dofs, 0))
    load = np.hstack(loads)
    if fixed is not None:
        return np.asarray(static_solver(model, fixed)(load))
    load = load - model.mass @ rigid_acceleration(model, load)
    return np.asarray(static_solver(model, determinate_support(model))(load))


def rigid_acceleration(model: FiniteElements, load: Array) -> Array:
    """The rigid accelerations (dofs, k) that loads (dofs, k) give the free body."""
    rigid = model.rigid_motion()
    rigid = rigid[:, rigid.any(axis=0)]
    return np.asarray(rigid @ np.linalg.lstsq(rigid.T @ (model.mass @ rigid), rigid.T @ load, rcond=None)[0])


def strain_orthonormal(stiffness: Any, modes: Array, shapes: Array) -> Array:
    """The columns of `shapes` that add strain energy to `modes`, made orthonormal in it; those that add none are left out.

    >>> from scipy.sparse import eye_array
    >>> strain_orthonormal(4.0 * eye_array(3), np.eye(3)[:, :1], np.array([[1.0, 1, 2], [1, 0, 2], [0, 0, 0]]))
    array([[0. ],
           [0.5],
           [0. ]])
    """
    basis = [column / size for column, size in zip(modes.T, _strain(stiffness, modes), strict=True) if size > 0]
    added: list[Array] = []
    for column in shapes.T:
        size = _strain(stiffness, column[:, None])[0]
        if size == 0.0:
            continue
        rest = column / size
        for _ in range(2):  # twice is enough
            for each in (*basis, *added):
                rest = rest - each * (each @ (stiffness @ rest))
        if (left := _strain(stiffness, rest[:, None])[0]) > _DEPENDENT:
            added.append(rest / left)
    return np.array(added).T.reshape(len(modes), -1)


def _strain(stiffness: Any, shapes: Array) -> Array:
    return np.asarray(np.sqrt(np.maximum(np.einsum("ir,ir->r", shapes, stiffness @ shapes), 0.0)))
