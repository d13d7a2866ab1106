"""Shapes of bodies. Rigid ones: as given, else those of their buoyancy, else solids with the same inertia. Flexible ones: points of
their finite elements, their modal displacements, and the lines between them.

A part is plain data that the page can draw: a box, a frustum about z, a ball or triangles, with its place in the body frame.
"""

from typing import Any

import numpy as np

from bough.describe import Body, System
from bough.describe.body_shapes import Shape
from bough.describe.orientation import quaternions
from bough.describe.parts import parts_of as of_system
from bough.flex import FlexibleBody
from bough.flex.integrals import Outline
from bough.flex.recovery import PASCAL
from bough.look.buffers import Buffers
from bough.look.frames import UPRIGHT
from bough.results.recorded_parts import outermost

Part = dict[str, Any]
_SLENDER = 0.035  # the least thickness, of a body's reach, and
_THREAD = 0.006  # of the whole system's
_POINT = 0.11  # the radius of a ball that represents a point mass, of a body's reach
_ROUND = 1e-3  # moments that differ less, relative to the largest, belong to a round body


def parts_of(system: System, body: Body, reach: float, extent: float, buffers: Buffers) -> list[Part]:
    """The parts of a body that reaches so far [m], in a system of that extent: nothing is too thin to be visible."""
    least = max(_SLENDER * reach, _THREAD * extent)
    if body.shapes:
        return [_mesh(shape, buffers) for shape in body.shapes]
    if body.flexible is not None:
        return []
    sections = [each["section"] for each in drawings(system, "frustum") if each["body"] == body.name]
    if sections:
        solids = [_frustum((0.0, 0.0, (bottom + top) / 2), UPRIGHT, top - bottom, below / 2, above / 2)
                  for bottom, top, below, above in sections]
        return solids + _rods([0.0, 0.0, sections[-1][1]], _joints(system, body), least)
    solids = [inertia_part(body.mass, body.com, body.inertia, reach, least)] if body.mass else []
    return solids + _rods(body.com if body.mass else (0.0, 0.0, 0.0), [np.zeros(3), *_joints(system, body)], least)


def drawings(system: System, kind: str) -> list[dict[str, Any]]:
    """What parts say is to be drawn of them, of one kind of drawing, with their names."""
    return [{"name": part.name} | each for part in of_system(system) for each in part.drawing() if each["kind"] == kind]


def reach_of(system: System, body: Body) -> float:
    """How far a rigid body reaches from its origin, by its mass center, the joints on it and its inertia [m]; 0: a point."""
    corners = np.concatenate([shape.triangles()[0] for shape in body.shapes]) if body.shapes else np.zeros((0, 3))
    if len(corners):
        return float(np.linalg.norm(np.ptp(corners, axis=0)))
    places = [np.asarray(body.com), *_joints(system, body)]
    far = max(float(np.linalg.norm(place)) for place in places)
    return max(far, float(sides(body.mass, np.linalg.eigvalsh(body.inertia)).max()))


def inertia_part(mass: float, com: Any, inertia: Any, reach: float, least: float) -> Part:
    """The homogeneous solid with this mass and inertia: a cylinder if two principal moments are equal, a box else, at the mass
    center along the principal axes; thin ones have the `least` thickness, a point mass is a ball.

    >>> part = inertia_part(12.0, (0, 0, 1), np.diag([26.0, 25.0, 5.0]), 1.0, 0.01)
    >>> [round(side, 3) for side in part["size"]]
    [1.414, 1.732, 4.796]
    """
    moments, axes = np.linalg.eigh(np.asarray(inertia, float))
    if moments[2] <= 1e-9 * mass * reach**2:
        return {"kind": "ball", "radius": max(_POINT * reach, least), "at": list(map(float, com)), "turn": UPRIGHT}
    if np.allclose(np.abs(axes).max(axis=0), 1.0, atol=1e-6):
        order = np.argmax(np.abs(axes), axis=0)                    # principal axes that are those of the body keep their names
        moments, axes = moments[np.argsort(order)], np.eye(3)
    if (axis := _round_axis(moments)) is not None:
        along, across = moments[axis], moments[(axis + 1) % 3]
        height = np.sqrt(max(12 * (across - along / 2) / mass, 0.0))
        radius = np.sqrt(2 * along / mass)
        frame = axes[:, [(axis + 1) % 3, (axis + 2) % 3, axis]]
        return _frustum(com, _turn(frame), max(height, least), max(radius, least / 2), max(radius, least / 2))
    size = np.maximum(sides(mass, moments), least)
    return {"kind": "box", "size": size.tolist(), "at": list(map(float, com)), "turn": _turn(axes)}


def sides(mass: float, moments: np.ndarray) -> np.ndarray:
    """(3,) of the homogeneous box with these principal moments: m (b^2 + c^2)/12 = I_a; zeros without mass."""
    if not mass:
        return np.zeros(3)
    return np.asarray(np.sqrt(np.maximum(6 * (moments.sum() - 2 * moments) / mass, 0.0)))


def _round_axis(moments: np.ndarray) -> int | None:
    """The axis of a slender or flat round body, if two moments agree."""
    size = moments.max()
    for axis in (2, 0, 1):
        others = moments[(axis + 1) % 3], moments[(axis + 2) % 3]
        alike = abs(others[0] - others[1]) <= _ROUND * size
        if alike and abs(moments[axis] - others[0]) > 0.05 * size and others[0] > moments[axis] / 2:
            return axis
    return None


def _mesh(shape: Shape, buffers: Buffers) -> Part:
    """A given shape as triangles in the body frame."""
    from matplotlib.colors import to_hex, to_rgba

    vertices, faces = shape.triangles()
    part: Part = {"kind": "mesh", "vertices": buffers.add(vertices), "faces": buffers.add(faces, "index")}
    color: Any = shape.color
    return part if color is None else part | {"color": to_hex(color), "opacity": to_rgba(color)[3]}


def _turn(axes: np.ndarray) -> list[float]:
    """The quaternion of three axes, made right-handed."""
    frame = axes.copy()
    if np.linalg.det(frame) < 0:
        frame[:, 0] *= -1
    return [float(entry) for entry in quaternions(frame)]


def _frustum(at: Any, turn: list[float], height: float, below: float, above: float) -> Part:
    return {"kind": "frustum", "height": float(height), "below": float(below), "above": float(above),
            "at": [float(entry) for entry in at], "turn": turn}


def _joints(system: System, body: Body) -> list[np.ndarray]:
    """Where joints sit on a body, in its frame."""
    return [np.asarray(child.at) for child in system.bodies.values() if child.parent == body.name]


def _rods(middle: Any, places: list[np.ndarray], least: float) -> list[Part]:
    """Thin rods from the middle of a body to its joints, to show what is connected."""
    found: list[np.ndarray] = []
    for place in places:
        arm = np.asarray(place, float) - middle
        if np.linalg.norm(arm) > 0.1 * least and not any(np.allclose(place, other) for other in found):
            found.append(place)
    return [_rod(np.asarray(middle, float), place, least / 2) for place in found]


def _rod(start: np.ndarray, end: np.ndarray, radius: float) -> Part:
    along = (end - start) / np.linalg.norm(end - start)
    sideways = np.cross(along, np.eye(3)[np.argmin(np.abs(along))])
    sideways /= np.linalg.norm(sideways)
    part = _frustum((start + end) / 2, _turn(np.stack([sideways, np.cross(along, sideways), along], axis=1)),
                    float(np.linalg.norm(end - start)), radius, radius)
    return part | {"role": "rod"}


# ---- flexible bodies -----------------------------------------------------------------------------------------------------
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
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order

    lines, count = outline.lines, len(outline.position)
    if len(lines) < 1 or len(lines) != count - 1:
        return None
    ends = np.bincount(lines.ravel(), minlength=count)
    if ends.max() > 2 or (ends == 1).sum() != 2:
        return None
    graph, first = csr_array((np.ones(count - 1), lines.T), shape=(count, count)), int(np.flatnonzero(ends == 1)[0])
    path = breadth_first_order(graph, first, directed=False, return_predecessors=False)
    return path.tolist() if len(path) == count else None


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
