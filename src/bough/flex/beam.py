"""Beams: straight, uniform or tapered, Euler-Bernoulli or Timoshenko, with a mass at the tip."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bough.errors import DescriptionError
from bough.flex.attachments import attachments
from bough.flex.beam_element import BeamGrid, beam_grid, stiffness_per_length
from bough.flex.beam_geometric import beam_geometric
from bough.flex.beam_sections import Sections, sections
from bough.flex.cross import Array
from bough.flex.finite_elements import FiniteElements, PointRule
from bough.flex.flexible_body import FlexibleBody
from bough.flex.geometric import GeometricStiffness
from bough.flex.recipe import remembers
from bough.flex.reduction import reduce

AXES: dict[str, Array] = {
    "x": np.eye(3),
    "y": np.array([[0.0, 0, 1], [1, 0, 0], [0, 1, 0]]),
    "z": np.array([[0.0, 1, 0], [0, 0, 1], [1, 0, 0]]),
    "-x": np.diag([-1.0, -1, 1]),
    "-y": np.array([[0.0, 0, 1], [-1, 0, 0], [0, -1, 0]]),
    "-z": np.array([[0.0, 1, 0], [0, 0, -1], [-1, 0, 0]]),
}  # the beam's axes (x along it, y and z across) in those of the body, as columns


@remembers("beam")
def beam(
    length: float,
    *,
    modes: Any = 6,
    boundary: str = "cantilever",
    interfaces: Sequence[str] = (),
    damping: Any = 0.0,
    variant: str = "full",
    geometric_stiffness: bool = True,
    **described: Any,
) -> FlexibleBody:
    """A straight beam as a flexible body; its other keywords are those of `beam_model`.

    `boundary` says which modes: "cantilever", "free-free", "craig-bampton" (with `interfaces`) or "pinned" (both ends keep
    their places in the body frame).

    >>> beam(1.0, E=70e9, G=26e9, area=1e-4, Iy=8e-10, Iz=8e-10, J=1.4e-9, density=2700, modes=4)
    FlexibleBody(4 cantilever modes, 8.059 ... 50.51 Hz, mass 0.27 kg, nodes 'root' (inboard), 'tip', geometric stiffness)
    """
    model = beam_model(length, **described)
    if boundary == "pinned" and not interfaces:
        interfaces = ("tip",)
    return reduce(
        model, boundary, modes=modes, interfaces=interfaces, damping=damping, variant=variant, stiffening=geometric_stiffness
    )


def beam_model(
    length: float,
    *,
    E: Any = None,
    G: Any = None,
    area: Any = None,
    Iy: Any = None,
    Iz: Any = None,
    J: Any = None,
    density: Any = None,
    EI: Any = None,
    EA: Any = None,
    GJ: Any = None,
    GA: Any = None,
    mass_per_length: Any = None,
    polar_inertia: Any = None,
    timoshenko: bool = False,
    shear_factors: Any = 5 / 6,
    rotary_inertia: bool | None = None,
    elements: int = 32,
    axis: str = "x",
    nodes: Mapping[str, float] | None = None,
    inboard: str | None = "root",
    tip_mass: float = 0.0,
    tip_com: Any = (0.0, 0.0, 0.0),
    tip_inertia: Any = 0.0,
) -> FiniteElements:
    """The finite elements of a straight beam from the origin along `axis`.

    Each section property is a number, a table from end to end, or a function of the place x. EI may be the pair (EIy, EIz); y and z
    follow the axis cyclically (for axis "z": x and y). Without EA or E*area the beam keeps its length, without GJ or G*J it
    does not twist. Rotary inertia of the sections is kept for Timoshenko beams unless said otherwise; that about the axis always.
    `nodes` names places along the axis beside "root" and "tip". `tip_com` and `tip_inertia` (about that mass center) are
    in body axes.

    >>> beam_model(3.0, EI=(10.0, 20.0), mass_per_length=0.5, nodes={"middle": 1.5}).nodes(np.zeros((198, 0))).names
    ('root', 'tip', 'middle')
    """
    given = {"E": E, "G": G, "area": area, "Iy": Iy, "Iz": Iz, "J": J, "density": density, "EI": EI, "EA": EA, "GJ": GJ, "GA": GA}
    given |= {"mass_per_length": mass_per_length, "polar_inertia": polar_inertia}
    _check(length, elements, axis)
    rotary = timoshenko if rotary_inertia is None else rotary_inertia
    cut = sections(length, given, timoshenko=timoshenko, shear_factors=shear_factors, rotary_inertia=rotary)
    places = {"root": 0.0, "tip": float(length)} | dict(nodes or {})
    grid = beam_grid(_stations(length, elements, places), cut)
    tip = _tip(tip_mass, tip_com, tip_inertia)
    return _assemble(grid, cut, AXES[axis], places, inboard, tip)


def _assemble(
    grid: BeamGrid, cut: Sections, axes: Array, places: dict[str, float], inboard: str | None, tip: tuple[float, Array, Array]
) -> FiniteElements:
    from scipy.sparse import diags_array, eye_array, kron

    turn = kron(eye_array(2 * len(grid.node)), axes, format="csr")  # dofs in the beam's axes to dofs in the body's
    strain = grid.operator(grid.strain)
    law = (grid.weight[..., None] * stiffness_per_length(grid.x, cut)).ravel()
    stiffness = turn @ (strain.T @ diags_array(law) @ strain) @ turn.T
    rule = _point_rule(grid, cut, axes, turn, tip)
    position = np.outer(grid.node, axes[:, 0])
    at = {name: int(np.argmin(np.abs(grid.node - x))) for name, x in places.items()}
    rigid = [turn.T.tocsr()[[6 * node + dof]].indices[0] for node in range(len(grid.node)) for dof in _rigid_dofs(cut)]

    def geometric(model: FiniteElements, shapes: Array) -> GeometricStiffness:
        start = 0 if model.inboard is None else at[model.inboard]
        masses = grid.weight * cut.mass(grid.x)
        weight, offset, _ = tip
        end = grid.node[-1] * np.array([1.0, 0, 0]) + axes.T @ offset
        extra = [(grid.n_elements, weight, end)] if weight else []
        nodes = [at[each.name] for each in model.attachments]
        return beam_geometric(grid, turn.T @ shapes, start=start, mass=masses, extra=extra, places=nodes, axes=axes)

    return FiniteElements(
        mass=rule.mass_matrix(),
        stiffness=stiffness.tocsr(),
        position=position,
        dofs_per_node=6,
        attachments=attachments(at, position, 6),
        inboard=inboard,
        rule=rule,
        held=np.array(sorted(rigid), dtype=int),
        geometric_of=geometric,
        lines=np.stack([np.arange(grid.n_elements), np.arange(1, grid.n_elements + 1)], axis=1),
    )


def _point_rule(grid: BeamGrid, cut: Sections, axes: Array, turn: Any, tip: tuple[float, Array, Array]) -> PointRule:
    """Mass at the Gauss points of the elements, and the tip's."""
    from scipy.sparse import eye_array, kron, vstack

    count = grid.x.size
    motion = kron(eye_array(2 * count), axes, format="csr") @ grid.operator(grid.motion) @ turn.T
    rows = np.arange(6 * count).reshape(count, 2, 3)
    translation, rotation = motion[rows[:, 0].ravel()], motion[rows[:, 1].ravel()]
    inertia = np.stack([law(grid.x) * grid.weight for law in (cut.polar, cut.rotary_y, cut.rotary_z)], axis=-1).reshape(-1, 3)
    last = eye_array(6 * len(grid.node), format="csr")[-6:]
    weight, offset, tip_inertia = tip
    return PointRule(
        position=np.vstack([np.outer(grid.x.ravel(), axes[:, 0]), grid.node[-1] * axes[:, 0]]),
        mass=np.append((grid.weight * cut.mass(grid.x)).ravel(), weight),
        offset=np.vstack([np.zeros((count, 3)), offset]),
        inertia=np.concatenate([np.einsum("ia,Na,ja->Nij", axes, inertia, axes), tip_inertia[None]]),
        translation=vstack([translation, last[:3]], format="csr"),
        rotation=vstack([rotation, last[3:]], format="csr"),
    )


def _rigid_dofs(cut: Sections) -> list[int]:
    return ([] if cut.EA is not None else [0]) + ([] if cut.GJ is not None else [3])


def _stations(length: float, elements: int, places: dict[str, float]) -> Array:
    """The nodes of the grid: equal elements, each moved or cut so that every named place is a node."""
    outside = [name for name, x in places.items() if not 0.0 <= x <= length]
    if outside:
        raise DescriptionError(
            f"beam: node {outside[0]!r} is at {places[outside[0]]} m; give a place from 0 to its length {length} m"
        )
    even = np.linspace(0.0, length, elements + 1)
    named = np.array(sorted(places.values()))
    far = np.abs(even[:, None] - named).min(axis=1) > 0.25 * length / elements
    grid = np.sort(np.concatenate([even[far], named]))
    return np.asarray(grid[np.append(True, np.diff(grid) > 1e-9 * length)])


def _tip(mass: float, com: Any, inertia: Any) -> tuple[float, Array, Array]:
    given = np.asarray(inertia, dtype=float)
    tensor = given if given.shape == (3, 3) else np.diag(np.broadcast_to(given, 3) if given.ndim < 2 else np.full(3, np.nan))
    if not mass >= 0 or not np.isfinite(tensor).all() or np.linalg.eigvalsh(tensor)[0] < 0:
        raise DescriptionError(
            f"beam: tip_mass is {mass!r} and tip_inertia {inertia!r}; give a mass >= 0 and a positive 3x3 matrix or its diagonal"
        )
    return float(mass), np.asarray(com, dtype=float), tensor


def _check(length: float, elements: int, axis: str) -> None:
    if not length > 0:
        raise DescriptionError(f"beam: length is {length!r} m; give a number > 0")
    if elements < 1:
        raise DescriptionError(f"beam: elements is {elements!r}; give a number >= 1")
    if axis not in AXES:
        raise DescriptionError(f"beam: axis is {axis!r}; give one of {', '.join(map(repr, AXES))}")
