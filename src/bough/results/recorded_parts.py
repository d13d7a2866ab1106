"""The parts of a system whose quantities are recorded: flexible bodies, their nodes and elements, and force elements."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bough.describe import System
from bough.describe.part import Recorded
from bough.describe.parts import ELEMENTS, Element

if TYPE_CHECKING:
    from bough.flex import FlexibleBody, Recovery

Array = NDArray[Any]


def flexible_bodies(system: System) -> dict[str, FlexibleBody]:
    """The flexible bodies of a system by name, in its order."""
    return {name: body.flexible for name, body in system.bodies.items() if body.flexible is not None}


def recoveries(system: System, what: str = "stress") -> dict[str, Recovery]:
    """Recovery of stresses (or strains), by flexible body that has it."""
    known = {name: body.recovery for name, body in flexible_bodies(system).items() if body.recovery is not None}
    return {name: each for name, each in known.items() if len(getattr(each, what))}


def modal_coordinates(system: System, q: Array) -> dict[str, Array]:
    """The modal coordinates of each flexible body (..., n), from all coordinates (..., nq)."""
    found, at = {}, 0
    for name, body in system.bodies.items():
        at += body.n_q
        if body.flexible is not None:
            found[name] = q[..., at - body.n_modes : at]
    return found


def outermost(body: FlexibleBody) -> int | None:
    """The displaced node farthest from the joint of the body; None if no node is displaced."""
    start = np.zeros(3) if body.inboard is None else body.nodes.position[body.nodes.index(body.inboard)]
    distance = np.linalg.norm(body.nodes.position - start, axis=1)
    return max(_moving(body.nodes.phi), key=lambda i: float(distance[i]), default=None)


def moving_nodes(body: FlexibleBody) -> list[int]:
    """The nodes that the modes displace or rotate."""
    return sorted({*_moving(body.nodes.phi), *_moving(body.nodes.psi)})


def _moving(shapes: Array) -> list[int]:
    sizes = np.abs(shapes).max(axis=(1, 2), initial=0.0)
    return np.flatnonzero(sizes > 1e-12 * sizes.max(initial=0.0)).tolist()


VARIABLES: dict[str, Recorded] = {name: meaning for kind in ELEMENTS for name, meaning in kind.recorded.items()}
NOUNS = {axis: " or ".join(kind.noun for kind in ELEMENTS if any(meaning.dims[0] == axis for meaning in kind.recorded.values()))
         for axis in dict.fromkeys(meaning.dims[0] for meaning in VARIABLES.values())}      # by axis of elements, their kinds


def along(system: System, axis: str) -> dict[str, Element]:
    """The elements of a system along an axis of variables."""
    return {name: element for name, element in system.elements.items()
            if any(meaning.dims[0] == axis for meaning in element.recorded.values())}
