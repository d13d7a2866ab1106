"""Shapes of flexible bodies: points of their finite elements, their modal displacements, and the lines between them."""

from typing import Any

import numpy as np

from bough.flex import FlexibleBody
from bough.flex.integrals import Outline
from bough.flex.recovery import PASCAL
from bough.look.buffers import Buffers
from bough.results.recorded_parts import outermost

_THINNEST = 1 / 14  # of a section's width
_THIN_BEAM = 1 / 60  # of the length: the radius of a beam without inertia about its axis


def drawn(body: FlexibleBody, buffers: Buffers) -> dict[str, Any]:
    """Plain data and arrays of a flexible body, in the frame that it deforms in."""
    n, nodes = body.n_modes, body.nodes
    given = body.outline if body.outline is not None and len(body.outline.position) else None         # else, it is its nodes
    outline = Outline(nodes.position, nodes.phi, np.zeros((0, 2), dtype=int)) if given is None else _visible(given)
    points = outline.position
    path = chain(outline)
    found: dict[str, Any] = {
        "modes": n,
        "frequencies": body.frequencies.tolist(),
        "inboard": -1 if body.inboard is None else nodes.index(body.inboard),
        "nodes": list(nodes.names),
        "nodePosition": buffers.add(nodes.position),
        "nodePhi": buffers.add(nodes.phi.reshape(len(nodes), 3 * n)),
        "nodePsi": buffers.add(nodes.psi.reshape(len(nodes), 3 * n)),
        "points": buffers.add(points),
        "phi": buffers.add(outline.phi.reshape(len(points), -1)),
        "lines": buffers.add(outline.lines, "index"),
        "faces": buffers.add(outline.faces, "index"),
        "reach": float(np.ptp(points, axis=0).max(initial=0.0)),
        "chain": None,
        "stress": None,
        "strain": None,
    }
    if body.recovery is not None and given is not None and len(body.recovery.point_stress) == len(given.position):
        shown = np.unique(given.faces) if len(given.faces) else np.arange(len(given.position))
        for what, scale in (("stress", PASCAL), ("strain", 1.0)):
            tensors = getattr(body.recovery, f"point_{what}")[shown]
            found[what] = buffers.add(scale * tensors.reshape(len(points), -1))
    if path is not None:
        found["chain"] = path
        found["twist"] = buffers.add(_twist(body, points[path]))
        found["section"] = section(body, points[path])
        found["shortens"] = body.geometric is not None and body.variant == "full"
        found["nodePoint"] = [_nearest(points[path], place) for place in nodes.position]
    return found


def _visible(outline: Outline) -> Outline:
    """The outline without points inside a surface, and without midside points of quadratic elements."""
    if not len(outline.faces):
        return outline
    visible, faces = np.unique(outline.faces, return_inverse=True)
    number = np.full(len(outline.position), -1)
    number[visible] = np.arange(len(visible))
    lines = number[outline.lines]
    return Outline(outline.position[visible], outline.phi[visible], lines[(lines >= 0).all(axis=1)], faces.reshape(-1, 3))


def chain(outline: Outline) -> list[int] | None:
    """The points of a beam from end to end; None if the lines are not a single path.

    >>> lines = np.array([[1, 2], [0, 1]])
    >>> chain(Outline(np.eye(3), np.zeros((3, 3, 0)), lines))
    [0, 1, 2]
    """
    lines = outline.lines
    if len(lines) < 1 or len(lines) != len(outline.position) - 1:
        return None
    ends = np.bincount(lines.ravel(), minlength=len(outline.position))
    if ends.max() > 2 or (ends == 1).sum() != 2:
        return None
    neighbors: dict[int, list[int]] = {}
    for a, b in lines.tolist():
        neighbors.setdefault(a, []).append(b)
        neighbors.setdefault(b, []).append(a)
    path, before = [int(np.flatnonzero(ends == 1)[0])], -1
    while len(path) < len(outline.position):
        onward = [each for each in neighbors[path[-1]] if each != before]
        if not onward:
            return None
        before = path[-1]
        path.append(onward[0])
    return path


def section(body: FlexibleBody, path: np.ndarray) -> dict[str, Any]:
    """A rectangle that represents the section of a beam: across two directions of the body frame, in m. Its radius of gyration is
    that of the mass about the axis, w^2 + h^2 = 12 k^2, and it is flat where the beam is soft: w/h = sqrt(EI/EI)."""
    axis = path[-1] - path[0]
    length = float(np.linalg.norm(axis))
    axis = axis / length
    across = np.linalg.svd(axis[None])[2][1:]                     # two directions normal to the axis
    compliance = _compliance(body)
    values, vectors = np.linalg.eigh(across @ compliance @ across.T)
    first, second = vectors.T @ across                            # the stiff and the soft direction of bending
    ratio = float(np.sqrt(max(values[0], 0.0) / values[1])) if values[1] > 0 else 1.0
    ratio = float(np.clip(ratio, _THINNEST, 1.0))
    gyration = _gyration(body, axis)
    width = np.sqrt(12.0 / (1 + ratio**2)) * gyration if gyration > 1e-4 * length else 2 * _THIN_BEAM * length
    flat = ratio < 0.9
    return {"round": not flat and gyration <= 1e-4 * length, "width": float(width), "height": float(width * ratio),
            "across": first.tolist(), "thick": second.tolist()}


def _compliance(body: FlexibleBody) -> np.ndarray:
    """(3, 3): modal compliance of the outermost node that is displaced, phi K^-1 phi^T."""
    tip = outermost(body)
    phi = np.zeros((3, body.n_modes)) if tip is None else body.nodes.phi[tip]
    return np.asarray(phi @ np.linalg.pinv(body.K) @ phi.T)


def _gyration(body: FlexibleBody, axis: np.ndarray) -> float:
    """Radius of gyration of the sections about the axis [m], from their inertia."""
    if body.points is None:
        return 0.0
    polar = np.einsum("i,Nij,j->N", axis, body.points.inertia, axis)
    heavy = body.points.mass > 0
    return float(np.sqrt(np.median(polar[heavy] / body.points.mass[heavy]))) if heavy.any() else 0.0


def _twist(body: FlexibleBody, path: np.ndarray) -> np.ndarray:
    """(points, modes): rotation about the axis by each mode, interpolated from the mass points."""
    if body.points is None:
        return np.zeros((len(path), body.n_modes))
    axis = (path[-1] - path[0]) / np.linalg.norm(path[-1] - path[0])
    place = (body.points.position - path[0]) @ axis
    order = np.argsort(place)
    turns = np.einsum("Nir,i->Nr", body.points.psi, axis)[order]
    stations = (path - path[0]) @ axis
    return np.stack([np.interp(stations, place[order], turn) for turn in turns.T], axis=1).reshape(len(path), body.n_modes)


def _nearest(path: np.ndarray, place: np.ndarray) -> int:
    """The point of a beam at a node; -1 if there is none."""
    distance = np.linalg.norm(path - place, axis=1)
    at = int(np.argmin(distance))
    return at if distance[at] < 1e-6 * np.linalg.norm(path[-1] - path[0]) else -1
