"""Motion-induced (geometric) stiffness: what the body's own accelerations and the forces at its nodes add to K. [B 10]

A load stresses the body, and stress stiffens (or softens) it: a spinning beam is pulled tight. Stress is linear in the load, so a
few constant matrices give it for every load: three for the acceleration a of the body frame's origin (less gravity), nine for the
gradient B = alpha~ + w~ w~ of the acceleration field, and six for the force and the moment at each node:

    K_geo = sum_i a_i K^(i) + sum_im B_im K^(im) - sum_nodes ( F_i G^i + M_i H^i )
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bough.errors import DescriptionError
from bough.flex.factors import Indefinite, SymmetricFactor
from bough.flex.integrals import Array, tilde

if TYPE_CHECKING:
    from bough.flex.finite_elements import FiniteElements


@dataclass(frozen=True)
class GeometricStiffness:
    """Constant matrices of the geometric stiffness of a body with n modes, in body axes."""

    acceleration: Array  # (3, n, n) K^(i), per m/s^2 of a_i; a includes -g
    gradient: Array  # (3, 3, n, n) K^(im), per 1/s^2 of B_im
    force: Array  # (nodes, 3, n, n) G^i, per newton at a node
    moment: Array  # (nodes, 3, n, n) H^i, per newton meter at a node; for beams not symmetric: [r, s] multiplies eta_s

    def matrix(self, acceleration: Any, alpha: Any, omega: Any, forces: Any = None, moments: Any = None) -> Array:
        """K_geo (n, n) for the motion of the body frame and the loads (nodes, 3) at the nodes, all in body axes.

        >>> zero = GeometricStiffness(np.zeros((3, 1, 1)), np.zeros((3, 3, 1, 1)), np.zeros((0, 3, 1, 1)), np.zeros((0, 3, 1, 1)))
        >>> zero.matrix((0, 0, 9.81), (0, 0, 0), (0, 0, 3))
        array([[0.]])
        """
        spin = tilde(omega)
        result = np.tensordot(np.asarray(acceleration, dtype=float), self.acceleration, 1)
        result = result + np.tensordot(tilde(alpha) + spin @ spin, self.gradient, 2)
        for loads, matrices in ((forces, self.force), (moments, self.moment)):
            if loads is not None:
                result = result - np.tensordot(np.asarray(loads, dtype=float), matrices, 2)
        return np.asarray(result)


def from_prestress(model: FiniteElements, shapes: Array, stress_stiffness: Callable[[Array], Any]) -> GeometricStiffness:
    """The matrices of a general model: static displacement under each unit load, its stress stiffness, projected on the modes.

    `stress_stiffness` takes the dofs of a static solution and returns the (dofs, dofs) initial-stress matrix of its stresses.
    """
    solve = static_solver(model)

    def projected(load: Array) -> Array:
        matrix = stress_stiffness(solve(load))
        return np.asarray(shapes.T @ (matrix @ shapes))

    unit = np.eye(3)
    acceleration = np.array([projected(model.inertia_load(i)) for i in range(3)])
    gradient = np.array([[projected(model.inertia_load(i, unit[m])) for m in range(3)] for i in range(3)])
    node = np.array([[-projected(each.gather.toarray()[i]) for i in range(6)] for each in model.attachments])
    node = node.reshape(len(model.attachments), 6, shapes.shape[1], shapes.shape[1])
    return GeometricStiffness(acceleration, gradient, node[:, :3], node[:, 3:])


def static_solver(model: FiniteElements, fixed: Array | None = None) -> Callable[[Array], Array]:
    """A function from dof forces to static displacements with some dofs fixed: by default those of the inboard node."""
    if fixed is None:
        fixed = determinate_support(model) if model.inboard is None else model.dofs_of(model.inboard)
    free = model.free_dofs(fixed)
    try:
        factor = SymmetricFactor(model.restricted(model.stiffness, free), model.places(free))
    except Indefinite as error:
        raise DescriptionError(f"flexible body: the stiffness resists no load at {model.dof_name(int(free[error.dof]))}, or is "
                               f"indefinite there, with {'its support' if model.inboard is None else repr(model.inboard)} fixed; "
                               "connect loose parts, let the inboard node hold all 6 motions, and check springs and offsets "
                               "there") from None

    def solve(load: Array) -> Array:
        return model.spread(factor.solve(model.gathered(load, free)), free)

    return solve


def determinate_support(model: FiniteElements) -> Array:
    """As many dofs as there are rigid motions, whose fixing stops them all and strains nothing."""
    from scipy.linalg import qr

    free = model.free_dofs()
    motion = model.rigid_motion()[free]
    motion = motion / np.maximum(np.abs(motion).max(axis=0), 1e-300)
    _, factor, pivots = qr(motion.T, mode="economic", pivoting=True)
    rank = int((np.abs(np.diagonal(factor)) > 1e-9 * abs(factor[0, 0])).sum())
    return np.asarray(free[pivots[:rank]])
