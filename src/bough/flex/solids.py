"""Solid bodies of hexahedra or tetrahedra, with scikit-fem: blocks, thin plates, and meshes from files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from bough.errors import DescriptionError
from bough.flex.finite_elements import FiniteElements, attachments, body_origin
from bough.flex.flexible_body import FlexibleBody, NotPlain, remembers
from bough.flex.geometric import GeometricStiffness, from_prestress
from bough.flex.integrals import Array
from bough.flex.recovery import Recovery, chosen_elements, elasticity, node_means
from bough.flex.reduction import reduce
from bough.progress import working


@dataclass(frozen=True)
class SolidGrid:
    """A mesh with its elements; dofs node by node: vertices, then edges, faces and insides of quadratic elements."""

    mesh: Any
    order: int
    E: float
    nu: float

    @cached_property
    def _element(self) -> Any:
        skfem = scikit_fem()
        kinds = {
            ("Hex", 1): skfem.ElementHex1,
            ("Hex", 2): skfem.ElementHex2,
            ("Tet", 1): skfem.ElementTetP1,
            ("Tet", 2): skfem.ElementTetP2,
        }
        shape = next((each for each in ("Hex", "Tet") if each in type(self.mesh).__name__), None)
        if (shape, self.order) not in kinds:
            raise DescriptionError(f"solid: a {type(self.mesh).__name__} with elements of order {self.order} is not supported; "
                                   "give hexahedra or tetrahedra, order 1 or 2")
        return kinds[(str(shape), self.order)]()

    @cached_property
    def scalar(self) -> Any:
        return scikit_fem().Basis(self.mesh, self._element,
                                  intorder=2 * self.order + (self.order if "Hex" in type(self.mesh).__name__ else 0))

    @cached_property
    def vector(self) -> Any:
        return self.scalar.with_element(scikit_fem().ElementVector(self._element))

    @cached_property
    def _order(self) -> tuple[Array, Array]:
        """Numbers of the scalar dofs (N,) and of the vector dofs (3N,), node by node."""
        tables = ("nodal_dofs", "edge_dofs", "facet_dofs", "interior_dofs")
        scalar = np.concatenate([np.asarray(getattr(self.scalar.dofs, name)).T.ravel() for name in tables])
        vector = np.concatenate([np.asarray(getattr(self.vector.dofs, name)).T.ravel() for name in tables])
        return scalar.astype(int), vector.astype(int)

    @cached_property
    def position(self) -> Array:
        return np.asarray(self.scalar.doflocs[:, self._order[0]].T)

    @cached_property
    def unit_mass(self) -> Any:
        from skfem.models.poisson import mass

        order = self._order[0]
        return mass.assemble(self.scalar).tocsr()[order][:, order]

    @cached_property
    def stiffness(self) -> Any:
        from skfem.models.elasticity import lame_parameters, linear_elasticity

        order = self._order[1]
        return linear_elasticity(*lame_parameters(self.E, self.nu)).assemble(self.vector).tocsr()[order][:, order]

    @cached_property
    def faces(self) -> Array:
        """(F, 3): the surface as triangles of vertices, counter-clockwise from outside."""
        outer = self.mesh.boundary_facets()
        corners, inside = self.mesh.facets[:, outer].T, self.mesh.t[:, self.mesh.f2t[0, outer]].T
        place, center = self.mesh.p.T[corners], self.mesh.p.T[inside].mean(axis=1)
        middle = place.mean(axis=1)
        normal = np.cross(place[:, 1] - place[:, 0], place[:, 2] - place[:, 0])
        normal *= np.sign(np.einsum("fi,fi->f", normal, middle - center))[:, None]
        first = place[:, 0] - middle
        second = np.cross(normal / np.linalg.norm(normal, axis=1)[:, None], first)
        angle = np.arctan2(*(np.einsum("fki,fi->fk", place - middle[:, None], axis) for axis in (second, first)))
        ring = np.take_along_axis(corners, np.argsort(angle, axis=1), axis=1)      # around the normal
        return np.concatenate([ring[:, [0, k, k + 1]] for k in range(1, ring.shape[1] - 1)])

    def stress_stiffness(self, displacement: Array) -> Any:
        """int sigma_ij u_k,i v_k,j of the stresses that a displacement makes."""
        from scipy.sparse import eye_array, kron
        from skfem import BilinearForm
        from skfem.helpers import grad
        from skfem.models.elasticity import lame_parameters

        lame, shear = lame_parameters(self.E, self.nu)
        dofs = np.empty_like(displacement)
        dofs[self._order[1]] = displacement
        gradient = np.asarray(self.vector.interpolate(dofs).grad)
        strain = (gradient + np.swapaxes(gradient, 0, 1)) / 2
        stress = 2 * shear * strain + lame * np.einsum("ii...->...", strain) * np.eye(3)[:, :, None, None]

        @BilinearForm  # type: ignore[untyped-decorator]  # of scikit-fem
        def form(u: Any, v: Any, w: Any) -> Any:
            return np.einsum("ij...,i...,j...->...", stress, grad(u), grad(v))

        order = self._order[0]
        return kron(form.assemble(self.scalar).tocsr()[order][:, order], eye_array(3), format="csr")

    def recover(self, position: Array, shapes: Array, wanted: Any) -> Recovery:
        """Strains and stresses at the centers of elements, numbered as in the mesh, and their means at the nodes."""
        skfem = scikit_fem()
        center = np.full((3, 1), 0.5 if "Hex" in type(self.mesh).__name__ else 0.25)
        basis = skfem.Basis(self.mesh, skfem.ElementVector(self._element), quadrature=(center, np.ones(1)))
        count, n = self.mesh.t.shape[1], shapes.shape[1]
        strain = np.zeros((count, 6, n))
        for r in range(n):
            dofs = np.empty(len(shapes))
            dofs[self._order[1]] = shapes[:, r]
            g = np.asarray(basis.interpolate(dofs).grad)[..., 0]  # (3, 3, elements)
            rows = [g[0, 0], g[1, 1], g[2, 2], g[0, 1] + g[1, 0], g[1, 2] + g[2, 1], g[2, 0] + g[0, 2]]
            strain[:, :, r] = np.stack(rows, axis=1)
        stress = elasticity(self.E, self.nu) @ strain
        chosen = chosen_elements(np.arange(count), wanted)
        at_points = (node_means(len(position), self.mesh.t.T, each) for each in (stress, strain))
        return Recovery(chosen.astype(str), stress[chosen], strain[chosen], *at_points)

    def select(self, name: str, where: Any) -> Array:
        """The numbers of the nodes at a place."""
        if isinstance(where, str):
            return self._boundary(name, where)
        if callable(where):
            return np.flatnonzero(where(self.position))
        if isinstance(where, tuple | list) and len(where) == 2 and where[0] in ("x", "y", "z"):
            size = np.ptp(self.position, axis=0).max()
            return np.flatnonzero(np.abs(self.position[:, "xyz".index(where[0])] - float(where[1])) < 1e-8 * size)
        if isinstance(where, tuple | list | np.ndarray) and len(where) == 3 and any(isinstance(each, float) for each in where):
            return np.array([np.argmin(np.linalg.norm(self.position - np.array(where), axis=1))])
        return np.atleast_1d(np.asarray(where, dtype=int))

    def _boundary(self, name: str, where: str) -> Array:
        known = self.mesh.boundaries or {}
        if where not in known:
            listed = ", ".join(map(repr, known)) or "none"
            raise DescriptionError(f"node {name!r}: the mesh has no boundary {where!r}; its boundaries are {listed}")
        dofs = self.scalar.get_dofs(where).all()
        return np.flatnonzero(np.isin(self._order[0], dofs))


def scikit_fem() -> Any:
    try:
        import skfem
    except ImportError:
        raise DescriptionError("solid: it needs scikit-fem and meshio; install them with: pip install scikit-fem meshio") from None
    return skfem


# ---- solid -----------------------------------------------------------------------------------------------------------------
def box(size: Sequence[float], divisions: Sequence[int]) -> Any:
    """A hexahedral mesh of a block from the origin to `size`, with the given numbers of elements along x, y and z."""
    skfem = scikit_fem()
    lines = [np.linspace(0.0, length, count + 1) for length, count in zip(size, divisions, strict=True)]
    return skfem.MeshHex.init_tensor(*lines)


def box_of(mesh: Any) -> dict[str, Any]:
    """The keywords of `box` that make this mesh.

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
    static: Sequence[Any] = (),
    recover: Any = None,
) -> FlexibleBody:
    """A linear-elastic solid as a flexible body; mesh, material and attachments are those of `solid_model`.

    >>> solid(box((1.0, 0.5, 0.02), (4, 2, 1)), E=70e9, nu=0.33, density=2700, modes=2,
    ...       attach={"root": ("x", 0.0), "tip": ("x", 1.0)}, inboard="root")
    FlexibleBody(2 cantilever modes, 17.51 ... 73.81 Hz, mass 27 kg, nodes 'root' (inboard), 'tip', geometric stiffness)
    """
    model = solid_model(mesh, E=E, nu=nu, density=density, attach=attach, inboard=inboard, order=order, origin=origin)
    return reduce(model, reduction, modes=modes, interfaces=interfaces, damping=damping, variant=variant,
                  stiffening=geometric_stiffness, static=static, recover=recover)


@working("finite elements of a solid")
def solid_model(mesh: Any, *, E: float, nu: float, density: float, attach: Mapping[str, Any], inboard: str | None = None,
                order: int = 2, origin: Any = None) -> FiniteElements:
    """The finite elements of a solid.

    `mesh` is a scikit-fem mesh (`box` makes one) or a file that meshio reads. Each location in `attach` is a boundary's name in
    the mesh, a plane ("x", 0.5), a point (1.0, 0, 0) with at least one float, a list of node numbers (integers), or a function
    from coordinates (N, 3) to a mask. A face follows the mean translation and rotation of its nodes; a point only translates. The
    origin of the body frame is the inboard location unless `origin` is given.
    """
    if not E > 0 or not density > 0 or not -1 < nu < 0.5:
        raise DescriptionError(f"solid: E is {E} Pa, nu {nu}, density {density} kg/m^3; give E > 0, -1 < nu < 0.5, density > 0")
    grid = SolidGrid(_read_mesh(mesh), order, E, nu)
    chosen = {name: grid.select(name, where) for name, where in attach.items()}
    position = grid.position - body_origin(origin, inboard, chosen, grid.position, 3)
    from scipy.sparse import eye_array, kron

    def geometric(model: FiniteElements, shapes: Array) -> GeometricStiffness:
        return from_prestress(model, shapes, grid.stress_stiffness)

    return FiniteElements(
        mass=kron(density * grid.unit_mass, eye_array(3), format="csr"),
        stiffness=grid.stiffness,
        position=position,
        dofs_per_node=3,
        attachments=attachments(chosen, position, 3),
        inboard=inboard,
        geometric_of=geometric,
        recover=lambda shapes, wanted: grid.recover(position, shapes, wanted),
        lines=np.asarray(grid.mesh.edges.T),
        faces=grid.faces,
    )


def _read_mesh(mesh: Any) -> Any:
    if not isinstance(mesh, str | Path):
        if not mesh.t.size:
            raise DescriptionError("solid: the mesh has no elements; give one of hexahedra or tetrahedra")
        return mesh
    if not Path(mesh).exists():
        raise DescriptionError(f"solid: the mesh file {str(mesh)!r} does not exist; give the path of a file that meshio reads")
    try:
        return scikit_fem().Mesh.load(str(mesh))
    except (Exception, SystemExit):  # meshio exits when no reader fits
        raise DescriptionError(f"solid: the mesh file {str(mesh)!r} is none that meshio reads; check it and its suffix") from None
