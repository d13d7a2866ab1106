"""What a reduction refuses, and why: each message names the trouble and its remedy."""

from __future__ import annotations

from typing import Any

import numpy as np

from bough.errors import DescriptionError
from bough.flex.cross import Array
from bough.flex.eigen import stiffness_share
from bough.flex.finite_elements import FiniteElements

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
        raise DescriptionError(
            f"flexible body: the {what} matrix is not symmetric, with {pair}; export the whole matrix (not one triangle), "
            "without damping or gyroscopic terms"
        )


def dependent_modes(vector: Array, value: float) -> str:
    worst = sorted(np.argsort(-np.abs(vector))[:2].tolist())
    pair = " and ".join(map(str, worst))
    return (
        f"flexible body: its modes are linearly dependent (smallest eigenvalue of their correlation {value:.1e}), above all modes "
        f"{pair}; leave one out, or ask for fewer modes or interfaces that share no node"
    )


def check_no_rigid_mode(model: FiniteElements, free: Array, stiffness: Any, shapes: Array, squares: Array) -> None:
    """Refuse modes that move without strain although the inboard node is fixed."""
    share = stiffness_share(stiffness, shapes)
    rigid = independent_columns(model.rigid_motion()[free])
    unit = shapes / np.linalg.norm(shapes, axis=0)
    is_rigid = np.linalg.norm(unit - rigid @ (rigid.T @ unit), axis=0) < 1e-4
    bad = np.flatnonzero((share < _UNSTRAINED) | (is_rigid & (share < NEARLY_UNSTRAINED)))
    if len(bad):
        hertz = np.sqrt(max(float(squares[bad[0]]), 0.0)) / (2 * np.pi)
        raise DescriptionError(
            f"flexible body: with its inboard node {model.inboard!r} fixed the stiffness still has {len(bad)} rigid-body "
            f"mode(s), the first at {hertz:.3g} Hz; let the inboard node hold all 6 motions (several nodes, if they only "
            "translate), connect loose parts, or ask for reduction='free-free'"
        )


def check_interfaces(model: FiniteElements, interfaces: tuple[str, ...]) -> None:
    outer = [name for name in interfaces if name != model.inboard]
    if not outer:
        raise DescriptionError("flexible body: craig-bampton needs nodes beside the inboard one; name them in interfaces=[...]")
    taken: dict[int, str] = {}
    for name in dict.fromkeys([*outer, *([model.inboard] if model.inboard else [])]):
        for node in model.find(name).nodes:
            if node in taken:
                raise DescriptionError(
                    f"flexible body: its modes are linearly dependent: interfaces {taken[node]!r} and {name!r} share mesh node "
                    f"{node}; let each node of the mesh belong to one interface"
                )
            taken[node] = name


def required_inboard(model: FiniteElements, reduction: str) -> str:
    if model.inboard is None:
        raise DescriptionError(
            f"flexible body: {reduction} modes need an inboard node; give inboard=..., or ask for reduction='free-free'"
        )
    return model.inboard


def mode_count(modes: Any) -> int:
    if isinstance(modes, bool) or not isinstance(modes, int | np.integer) or modes < 0:
        raise DescriptionError(f"flexible body: modes is {modes!r}; give a number >= 0, or an array of shapes (dofs, n)")
    return int(modes)


def available(count: int, dofs: int) -> int:
    if count > dofs:
        raise DescriptionError(
            f"flexible body: {count} modes were asked for, but the model has {dofs} free dofs; ask for fewer, or refine it"
        )
    return count


def independent_columns(motion: Array) -> Array:
    left, sizes, _ = np.linalg.svd(motion, full_matrices=False)
    return np.asarray(left[:, sizes > 1e-10 * max(float(sizes.max(initial=0.0)), 1e-300)])
