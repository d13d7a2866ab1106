"""Points of bodies, whose velocities are asked for: each as a map from links."""
from collections.abc import Sequence
from typing import Any

import numpy as np

from bough.analyze.operators.operator import Operator, Space
from bough.analyze.operators.recursion import like
from bough.analyze.operators.state_links import Links, shift
from bough.compile.batch import array, check_node
from bough.compile.compiled_model import CompiledModel
from bough.compile.state_layout import Floats
from bough.errors import StateError, nearest

Point = str | tuple[str, Any]                       # a body's origin; (body, place in its axes); (body, node)


def checked(model: CompiledModel, point: Point) -> tuple[str, str | None, Floats]:
    """A point as its body, its node or None, and its place there."""
    body, where = point if isinstance(point, tuple) and len(point) == 2 else (point, (0.0, 0.0, 0.0))
    if not isinstance(body, str) or body not in model.names.bodies:
        raise StateError(f"points: there is no body {body!r}{nearest(body, model.names.bodies)}; "
                         "give a body's name, (body, (x, y, z)) or (body, node)")
    if isinstance(where, str):
        check_node(model.system, body, where)
        return body, where, np.zeros(3)
    place = array(f"point of '{body}'", where, 3)
    if place.shape != (3,) or not np.isfinite(place).all():
        raise StateError(f"points: the place on '{body}' is {where!r}; give three finite numbers, or the name of a node")
    return body, None, place


def node_wrenches(model: CompiledModel, points: Sequence[Point]) -> dict[tuple[str, str | None], Floats]:
    """No wrench at all on each node that is a point: it is then a link of the tree."""
    found = [checked(model, point) for point in points]
    return {(body, node): np.zeros((1, 6)) for body, node, _ in found if node is not None}


def point_forces(model: CompiledModel, links: Links, space: Space, points: Sequence[Point]) -> Operator:
    """S: wrenches at points, [moment, force] in world axes, as forces on links; its transpose takes velocities of links to
    those of points.  What is fixed to the ground feels nothing."""
    steps, names, slices = [], [], links.slices
    for i, point in enumerate(points):
        body, node, place = checked(model, point)
        seat = links.parts.attachments[body] if node is None else links.parts.attachment(body, node)
        names.append(str(point))
        if seat.hinge:
            link = links.links[seat.hinge - 1]
            arm = link.attitude @ (seat.at[0] + seat.turn @ place)
            steps.append((slices[seat.hinge - 1], slice(6*i, 6*i + 6), shift(arm)))

    def apply(X: Floats) -> Floats:
        Y = like(X, space.size)
        for to, of, block in steps:
            Y[to] += block @ X[of]
        return Y

    def transposed(X: Floats) -> Floats:
        Y = like(X, 6*len(points))
        for to, of, block in steps:
            Y[of] = block.T @ X[to]
        return Y

    at = Space("point", tuple(names), tuple(range(0, 6*len(points) + 1, 6)))
    return Operator("S", space, at, apply, transposed, "wrenches at points, as forces on links")
