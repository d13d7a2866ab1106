"""Solid bodies of hexahedra or tetrahedra, with scikit-fem: blocks, thin plates, and meshes from files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bough.errors import DescriptionError
from bough.flex.attachments import attachments
from bough.flex.cross import Array
from bough.flex.finite_elements import FiniteElements
from bough.flex.flexible_body import FlexibleBody
from bough.flex.geometric import GeometricStiffness, from_prestress
from bough.flex.recipe import NotPlain, remembers
from bough.flex.reduction import reduce
from bough.flex.solid_elements import SolidGrid, scikit_fem
from bough.progress import working


def box(size: Sequence[float], divisions: Sequence[int]) -> Any:
    """A mesh of hexahedra of a block from the origin to `size`, with so many elements along x, y and z."""
    skfem = scikit_fem()
    lines = [np.linspace(0.0, length, count + 1) for length, count in zip(size, divisions, strict=True)]
    return skfem.MeshHex.init_tensor(*lines)


def box_of(mesh: Any) -> dict[str, Any]:
    """The words for a mesh that `box` could have made.

    >>> box_of(box((1.0, 0.5, 0.02), (4, 2, 1)))
    {'box': {'size': [1.0, 0.5, 0.02], 'divisions': [4, 2, 1]}}
    """
    if type(mesh).__name__ != "MeshHex1" or mesh.boundaries or mesh.subdomains:
        raise NotPlain
    size, divisions = mesh.p.max(axis=1), [len(np.unique(along)) - 1 for along in mesh.p]
    twin = box(size, divisions)
    if not np.array_equal(twin.p, mesh.p) or not np.array_equal(twin.t, mesh.t):
        raise NotPlain
    return {"box": {"size": size.tolist(), "divisions": divisions}}


@remembers("solid", mesh=box_of)
def solid(
    mesh: Any,
    *,
    E: float,
    nu: float,
    density: float,
    attach: Mapping[str, Any],
    inboard: str | None = None,
    order: int = 2,
    origin: Any = None,
    reduction: str = "cantilever",
    modes: Any = 6,
    interfaces: Sequence[str] = (),
    damping: Any = 0.0,
    variant: str = "full",
    geometric_stiffness: bool = True,
) -> FlexibleBody:
    """A linear-elastic solid as a flexible body; mesh, material and attachments are those of `solid_model`.

    >>> solid(box((1.0, 0.5, 0.02), (4, 2, 1)), E=70e9, nu=0.33, density=2700, modes=2,
    ...       attach={"root": ("x", 0.0), "tip": ("x", 1.0)}, inboard="root")
    FlexibleBody(2 cantilever modes, 17.51 ... 73.81 Hz, mass 27 kg, nodes 'root' (inboard), 'tip', geometric stiffness)
    """
    model = solid_model(mesh, E=E, nu=nu, density=density, attach=attach, inboard=inboard, order=order, origin=origin)
    return reduce(
        model, reduction, modes=modes, interfaces=interfaces, damping=damping, variant=variant, stiffening=geometric_stiffness
    )


@working("finite elements of a solid")
def solid_model(
    mesh: Any,
    *,
    E: float,
    nu: float,
    density: float,
    attach: Mapping[str, Any],
    inboard: str | None = None,
    order: int = 2,
    origin: Any = None,
) -> FiniteElements:
    """The finite elements of a solid.

    `mesh` is a mesh of scikit-fem (`box` makes one) or a file that meshio reads. Each place in `attach` is a boundary's name in
    the mesh, a plane ("x", 0.5), a point (1.0, 0, 0) with a float in it, numbers of nodes (integers all), or a function from
    coordinates (N, 3) to a mask. A face moves with its mean and turns; a point only translates. The body frame's origin is the
    inboard place unless `origin` is given.
    """
    _check_material(E, nu, density)
    grid = SolidGrid(_read_mesh(mesh), order, E, nu)
    chosen = {name: grid.select(name, where) for name, where in attach.items()}
    shift = _origin(grid, chosen, inboard, origin)
    position = grid.position - shift
    from scipy.sparse import eye_array, kron

    scalar = density * grid.unit_mass

    def geometric(model: FiniteElements, shapes: Array) -> GeometricStiffness:
        return from_prestress(model, shapes, grid.stress_stiffness)

    return FiniteElements(
        mass=kron(scalar, eye_array(3), format="csr"),
        stiffness=grid.stiffness,
        position=position,
        dofs_per_node=3,
        attachments=attachments(chosen, position, 3),
        inboard=inboard,
        pair_mass=scalar,
        geometric_of=geometric,
        lines=grid.lines,
        faces=grid.faces,
    )


def _origin(grid: SolidGrid, chosen: dict[str, Array], inboard: str | None, origin: Any) -> Array:
    from bough.flex.nodes import unknown_node

    if inboard is not None and inboard not in chosen:
        raise DescriptionError(unknown_node(inboard, tuple(chosen)))
    if origin is not None:
        return np.asarray(origin, dtype=float)
    return np.zeros(3) if inboard is None else attachments({inboard: chosen[inboard]}, grid.position, 3)[0].position


def _read_mesh(mesh: Any) -> Any:
    if not isinstance(mesh, str | Path):
        return mesh
    if not Path(mesh).exists():
        raise DescriptionError(f"solid: the mesh file {str(mesh)!r} does not exist; give the path of a file that meshio reads")
    try:
        return scikit_fem().Mesh.load(str(mesh))
    except (Exception, SystemExit):  # meshio exits when no reader fits
        raise DescriptionError(f"solid: the mesh file {str(mesh)!r} is none that meshio reads; check it and its suffix") from None


def _check_material(E: float, nu: float, density: float) -> None:
    if not E > 0 or not density > 0 or not -1 < nu < 0.5:
        raise DescriptionError(f"solid: E is {E} Pa, nu {nu}, density {density} kg/m^3; give E > 0, -1 < nu < 0.5, density > 0")
