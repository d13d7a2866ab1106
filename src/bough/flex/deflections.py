"""How the nodes of flexible bodies are displaced and turned against their undeformed places, in body axes.

To second order in the modal coordinates where the body's dynamics is: a bent beam's tip draws near its root. [B 10]
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.flex.flexible_body import FlexibleBody
from bough.flex.geometric import GeometricStiffness

Array = NDArray[Any]


def displacements(body: FlexibleBody, eta: Array) -> Array:
    """(..., nodes, 3) [m] under modal coordinates (..., n).

    >>> from bough.flex import beam
    >>> boom = beam(4.0, EI=800.0, mass_per_length=1.5, modes=2)
    >>> displacements(boom, np.array([0.1, 0.0]))[boom.nodes.index("tip")].round(5)
    array([-0.00097,  0.08165,  0.     ])
    """
    curved = _second_order(body)
    return _moved(body.nodes.phi, None if curved is None else curved.force, eta)


def rotations(body: FlexibleBody, eta: Array) -> Array:
    """(..., nodes, 3): the rotation vector of each node [rad]."""
    curved = _second_order(body)
    return _moved(body.nodes.psi, None if curved is None else curved.moment, eta)


def _second_order(body: FlexibleBody) -> GeometricStiffness | None:
    """What bends the paths of the nodes, where the body's dynamics knows it."""
    return body.geometric if body.variant == "full" else None


def _moved(shapes: Array, curves: Array | None, eta: Array) -> Array:
    """shapes eta + eta.curves eta/2, of shapes (nodes, 3, n) and curves (nodes, 3, n, n)."""
    moved: Array = np.einsum("kir,...r->...ki", shapes, eta)
    if curves is not None:
        moved = moved + np.einsum("...kir,...r->...ki", np.einsum("kirs,...s->...kir", curves, eta), eta) / 2
    return moved
