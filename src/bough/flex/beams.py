"""Beams: straight, uniform or tapered, Euler-Bernoulli or Timoshenko, with a mass at the tip.

Elements have two nodes of six dofs. Axial displacement and twist are linear. Bending uses the interdependent interpolation that
solves the uniform Timoshenko beam exactly; without shear it is Hermite's cubic. The local axis is x; v bends about z, w about y.

Modes prescribe the strains gamma and curvatures kappa of the beam. For its geometric stiffness, the exact rod with these strains,
R' = R kappa~ and r' = R (e_x + gamma), is expanded to second order in the modal coordinates, starting from the inboard node d:

    R2 = 1/2 theta_d~ theta_d~ + int theta~ kappa~ ds        r2 = int R2 e_x + theta x gamma ds = 1/2 eta^T G^i eta e_i

Its x-component is the foreshortening of [B 10]; the others couple bending and twist (lateral buckling). The virtual
rotation is int R d(kappa) ds, which gives H^i for moments. Forces and moments at nodes act through all of them; the beam's own mass
through the foreshortening alone.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bough.errors import DescriptionError
from bough.flex.choices import AXES
from bough.flex.finite_elements import FiniteElements, PointRule, attachments
from bough.flex.flexible_body import FlexibleBody, remembers
from bough.flex.geometric import GeometricStiffness
from bough.flex.integrals import LEVI_CIVITA, Array
from bough.flex.recovery import Recovery
from bough.flex.reduction import reduce

Along = Callable[[Array], Array]


@dataclass(frozen=True)
class Sections:
    """Stiffness and inertia per length as functions of the place along the axis; None where the beam is rigid."""

    EA: Along | None
    GJ: Along | None
    EIy: Along
    EIz: Along
    GAy: Along | None  # shear stiffness with its factor; None: Euler-Bernoulli
    GAz: Along | None
    mass: Along
    polar: Along  # inertia per length about the axis [kg m]
    rotary_y: Along
    rotary_z: Along


def along(value: Any, length: float, name: str) -> Along:
    """A function of the place x out of a number, a table at equal distances from end to end, or a function.

    >>> along([1.0, 3.0], 10.0, "EI")(np.array([0.0, 5.0]))
    array([1., 2.])
    """
    if callable(value):
        return lambda x: _checked(np.array([float(value(each)) for each in np.ravel(x)]).reshape(np.shape(x)), name)
    table = np.asarray(value, dtype=float)
    if table.ndim > 1 or table.size == 0 or not np.isfinite(table).all():
        raise DescriptionError(f"beam: {name} is {value!r}; give a number, a table of numbers along the axis, or a function of x")
    _checked(table, name)
    if table.ndim == 0:
        return lambda x: np.full(np.shape(x), float(table))
    return lambda x: np.interp(x, np.linspace(0.0, length, len(table)), table)


def sections(length: float, given: dict[str, Any], *, timoshenko: bool, shear_factors: Any, rotary_inertia: bool) -> Sections:
    """The sections that a beam's keywords describe, either by E, G, area, ... or by EI, EA, GJ, mass_per_length."""
    known = {name: along(value, length, name) for name, value in given.items() if value is not None and name != "EI"}
    EIy, EIz = _bending(length, given, known)
    mass = known.get("mass_per_length") or _product(known, "density", "area")
    if mass is None:
        raise DescriptionError("beam: it has no mass; give density and area, or mass_per_length")
    GAy, GAz = _shear(known, shear_factors) if timoshenko else (None, None)
    zero: Along = lambda x: np.zeros(np.shape(x))  # noqa: E731
    rotary_y, rotary_z = _product(known, "density", "Iy"), _product(known, "density", "Iz") or _product(known, "density", "Iy")
    GJ = known.get("GJ") or _product(known, "G", "J")
    polar = known.get("polar_inertia") or _sum(rotary_y, rotary_z)
    if GJ is not None and polar is None:
        raise DescriptionError("beam: it can twist but has no inertia about its axis; give polar_inertia [kg m], or density with "
                               "Iy and Iz")
    if rotary_inertia and rotary_y is None:
        raise DescriptionError("beam: rotary inertia needs the sections; give density, Iy and Iz, or rotary_inertia=False")
    return Sections(
        EA=known.get("EA") or _product(known, "E", "area"),
        GJ=GJ,
        EIy=EIy,
        EIz=EIz,
        GAy=GAy,
        GAz=GAz,
        mass=mass,
        polar=polar if polar is not None else zero,
        rotary_y=rotary_y if rotary_inertia and rotary_y is not None else zero,
        rotary_z=rotary_z if rotary_inertia and rotary_z is not None else zero,
    )


def _bending(length: float, given: dict[str, Any], known: dict[str, Along]) -> tuple[Along, Along]:
    EI = given.get("EI")
    if isinstance(EI, tuple):
        if len(EI) != 2:
            raise DescriptionError(f"beam: EI is {EI!r}; give one stiffness, or the pair (EIy, EIz)")
        return along(EI[0], length, "EIy"), along(EI[1], length, "EIz")
    if EI is not None:
        both = along(EI, length, "EI")
        return both, both
    first = _product(known, "E", "Iy")
    if first is None:
        raise DescriptionError("beam: it has no bending stiffness; give EI (or the pair (EIy, EIz)), or E with Iy and Iz")
    return first, _product(known, "E", "Iz") or first


def _shear(known: dict[str, Along], factors: Any) -> tuple[Along, Along]:
    pair = np.broadcast_to(np.asarray(factors, dtype=float), (2,))
    stiffness = known.get("GA") or _product(known, "G", "area")
    if stiffness is None:
        raise DescriptionError("beam: timoshenko=True needs the shear stiffness; give G and area, or GA")
    return (lambda x: pair[0] * stiffness(x)), (lambda x: pair[1] * stiffness(x))


def _product(known: dict[str, Along], first: str, second: str) -> Along | None:
    if first not in known or second not in known:
        return None
    a, b = known[first], known[second]
    return lambda x: a(x) * b(x)


def _sum(first: Along | None, second: Along | None) -> Along | None:
    if first is None or second is None:
        return None
    return lambda x: first(x) + second(x)


def _checked(values: Array, name: str) -> Array:
    if not np.isfinite(values).all() or (values < 0).any():
        raise DescriptionError(f"beam: {name} is {float(np.min(values)):.6g} somewhere along the axis; give finite numbers >= 0")
    return values


# ---- beam element ----------------------------------------------------------------------------------------------------------
GAUSS, WEIGHTS = (np.polynomial.legendre.leggauss(4)[0] + 1) / 2, np.polynomial.legendre.leggauss(4)[1] / 2  # on [0, 1]
# int_0^x_q of the polynomial through the values at the Gauss points: (4, 4)
_PARTIAL = (GAUSS[:, None] ** np.arange(1, 5) / np.arange(1, 5)) @ np.linalg.inv(GAUSS[:, None] ** np.arange(4))


@dataclass(frozen=True)
class BeamGrid:
    """A beam cut into elements: E elements, 4 Gauss points each, 6 (E + 1) dofs, in the beam's own axes."""

    node: Array  # (E + 1,) places of the nodes
    x: Array  # (E, 4) places of the Gauss points
    weight: Array  # (E, 4) their lengths
    motion: Array  # (E, 4, 6, 12) [u, theta] per element dof
    strain: Array  # (E, 4, 6, 12) [gamma, kappa] per element dof

    @property
    def n_elements(self) -> int:
        return len(self.node) - 1

    def operator(self, fields: Array) -> Any:
        """The sparse (E*4*6, dofs) matrix of a field of the elements."""
        from scipy.sparse import csr_array

        count = self.n_elements
        rows = np.broadcast_to(np.arange(count * 24).reshape(count, 4, 6, 1), fields.shape)
        columns = np.broadcast_to((6 * np.arange(count)[:, None] + np.arange(12))[:, None, None, :], fields.shape)
        keep = fields.ravel() != 0.0
        place = (rows.ravel()[keep], columns.ravel()[keep])
        return csr_array((fields.ravel()[keep], place), shape=(count * 24, 6 * (count + 1)))

    def sample(self, fields: Array, shapes: Array) -> Array:
        """A field of the elements (E, 4, 6, n) under dofs (dofs, n)."""
        dofs = shapes.reshape(self.n_elements + 1, 6, -1)
        local = np.concatenate([dofs[:-1], dofs[1:]], axis=1)
        return np.asarray(np.einsum("eqij,ejn->eqin", fields, local))


def beam_grid(nodes: Array, sections: Sections) -> BeamGrid:
    """The elements between the given places along the axis."""
    size = np.diff(nodes)
    middle = (nodes[1:] + nodes[:-1]) / 2
    motion, strain = np.zeros((2, len(size), 4, 6, 12))
    linear = np.stack([1 - GAUSS, GAUSS])
    for place in (0, 3):  # ux and theta_x
        motion[:, :, place, [place, place + 6]] = linear.T
        strain[:, :, place, place] = -1.0 / size[:, None]
        strain[:, :, place, place + 6] = 1.0 / size[:, None]
    for across, turn, sign, EI, GA in ((1, 5, 1.0, sections.EIz, sections.GAy), (2, 4, -1.0, sections.EIy, sections.GAz)):
        deflection, slope, curvature, shear = bending_shapes(size, shear_parameter(size, middle, EI, GA))
        dofs, signs = [across, turn, across + 6, turn + 6], np.array([1.0, sign, 1.0, sign])
        motion[:, :, across, dofs] = deflection * signs
        motion[:, :, turn, dofs] = sign * slope * signs
        strain[:, :, across, dofs] = shear * signs
        strain[:, :, turn + 0, dofs] = sign * curvature * signs
    return BeamGrid(nodes, nodes[:-1, None] + size[:, None] * GAUSS, size[:, None] * WEIGHTS, motion, strain)


def shear_parameter(size: Array, middle: Array, EI: Along, GA: Along | None) -> Array:
    """12 EI / (k GA h^2) of each element; zero without shear."""
    return np.zeros(len(size)) if GA is None else 12.0 * EI(middle) / (GA(middle) * size**2)


def bending_shapes(size: Array, shear: Array) -> tuple[Array, Array, Array, Array]:
    """Deflection, slope, its derivative and the shear strain (E, 4, 4) at the Gauss points per [v1, slope1, v2, slope2]."""
    x, h, f = GAUSS[None, :], size[:, None], shear[:, None]
    scale = (1.0 / (1.0 + f))[..., None]
    zero = np.zeros(np.broadcast_shapes(x.shape, h.shape))
    deflection = np.stack([
        1 - 3 * x**2 + 2 * x**3 + f * (1 - x), h * (x - 2 * x**2 + x**3 + f / 2 * (x - x**2)),
        3 * x**2 - 2 * x**3 + f * x, h * (-(x**2) + x**3 - f / 2 * (x - x**2)),
    ], axis=-1)
    slope = np.stack([6 / h * (x**2 - x), 1 - 4 * x + 3 * x**2 + f * (1 - x), 6 / h * (x - x**2), 3 * x**2 - 2 * x + f * x],
                     axis=-1)
    curvature = np.stack([6 / h**2 * (2 * x - 1), (6 * x - 4 - f) / h, 6 / h**2 * (1 - 2 * x), (6 * x - 2 + f) / h], axis=-1)
    shear_strain = np.stack([zero - f / h, zero - f / 2, zero + f / h, zero - f / 2], axis=-1)
    return scale * deflection, scale * slope, scale * curvature, scale * shear_strain


def stiffness_per_length(x: Array, sections: Sections) -> Array:
    """[EA, GAy, GAz, GJ, EIy, EIz] (..., 6) at places along the axis, zero where the beam is rigid."""
    laws = (sections.EA, sections.GAy, sections.GAz, sections.GJ, sections.EIy, sections.EIz)
    return np.stack([np.zeros(x.shape) if law is None else law(x) for law in laws], axis=-1)


# ---- beam geometric --------------------------------------------------------------------------------------------------------
def beam_geometric(grid: BeamGrid, shapes: Array, *, start: int, mass: Array, extra: list[tuple[int, float, Array]],
                   places: list[int], axes: Array) -> GeometricStiffness:
    """The matrices of a beam, with dofs `shapes` in the beam's own axes, relative to node `start` of the grid.

    `mass` (E, 4) is at the Gauss points; `extra` lists (node, mass, mass center) of masses at nodes; `places` are the nodes of the
    grid whose forces count; `axes` turns the beam's axes into the body's.
    """
    at_points, at_nodes, turning = second_order_displacements(grid, shapes, start)
    along = np.einsum("eq,eqirs->irs", mass, at_points)
    first = np.zeros((3, 3, *along.shape[1:]))
    first[:, 0] = np.einsum("eq,eq,eqirs->irs", mass, grid.x, at_points)
    for node, weight, center in extra:
        along = along + weight * at_nodes[node]
        first = first + weight * np.einsum("irs,m->imrs", at_nodes[node], center)
    along[1:] = first[1:] = 0.0
    return GeometricStiffness(
        acceleration=np.einsum("ia,ars->irs", axes, along),
        gradient=np.einsum("ia,mb,abrs->imrs", axes, axes, first),
        force=np.einsum("ia,nars->nirs", axes, at_nodes[places]),
        moment=np.einsum("ia,nars->nirs", axes, turning[places]),
    )


def second_order_displacements(grid: BeamGrid, shapes: Array, start: int) -> tuple[Array, Array, Array]:
    """G^i at the Gauss points (E, 4, 3, n, n) and at the nodes (E+1, 3, n, n), and H^i at the nodes, from node `start`."""
    theta = grid.sample(grid.motion, shapes)[:, :, 3:]
    strain = grid.sample(grid.strain, shapes)
    gamma, kappa = strain[:, :, :3], strain[:, :, 3:]
    initial = shapes.reshape(grid.n_elements + 1, 6, -1)[start, 3:]
    slope = np.empty((*theta.shape[:2], 3, theta.shape[3], theta.shape[3]))  # R2 e_x, as eta^T [.] eta
    slope[:, :, 0] = -(_outer(theta, 1, theta, 1) + _outer(theta, 2, theta, 2)) / 2
    for across in (1, 2):
        twisted, _ = running_integral(grid, _outer(theta, 0, kappa, across), start)
        slope[:, :, across] = twisted + np.outer(initial[0], initial[across]) / 2
    slope += np.einsum("ijk,eqjr,eqks->eqirs", LEVI_CIVITA, theta, gamma)
    at_points, at_nodes = running_integral(grid, slope + np.swapaxes(slope, -1, -2), start)
    _, turning = running_integral(grid, np.einsum("ijk,eqjs,eqkr->eqirs", LEVI_CIVITA, theta, kappa), start)
    return at_points, at_nodes, turning


def running_integral(grid: BeamGrid, field: Array, start: int) -> tuple[Array, Array]:
    """int from node `start` to each Gauss point (E, 4, ...) and to each node (E + 1, ...) of a field (E, 4, ...)."""
    size = np.diff(grid.node).reshape(-1, *(1,) * (field.ndim - 1))
    inside = size * np.einsum("qp,ep...->eq...", _PARTIAL, field)
    whole = size[:, 0] * np.einsum("q,eq...->e...", WEIGHTS, field)
    at_nodes = np.concatenate([np.zeros((1, *whole.shape[1:])), np.cumsum(whole, axis=0)])
    at_nodes = at_nodes - at_nodes[start]
    return at_nodes[:-1, None] + inside, at_nodes


def _outer(first: Array, i: int, second: Array, j: int) -> Array:
    return np.asarray(first[:, :, i, :, None] * second[:, :, j, None, :])


# ---- beam ------------------------------------------------------------------------------------------------------------------
@remembers("beam")
def beam(
    length: float,
    *,
    modes: Any = 6,
    boundary: str = "cantilever",
    interfaces: Sequence[str] = (),
    static: Sequence[Any] = (),
    recover: Mapping[str, Any] | None = None,
    damping: Any = 0.0,
    variant: str = "full",
    geometric_stiffness: bool = True,
    **described: Any,
) -> FlexibleBody:
    """A straight beam as a flexible body; its other keywords are those of `beam_model`.

    `recover` names fibers (x, y, z), in the beam's own axes from its root, whose axial strain is recovered and, given E, stress.
    `boundary` selects the modes: "cantilever", "free-free", "craig-bampton" (with `interfaces`) or "pinned" (both ends fixed in
    position in the body frame).

    >>> beam(1.0, E=70e9, G=26e9, area=1e-4, Iy=8e-10, Iz=8e-10, J=1.4e-9, density=2700, modes=4)
    FlexibleBody(4 cantilever modes, 8.059 ... 50.51 Hz, mass 0.27 kg, nodes 'root' (inboard), 'tip', geometric stiffness)
    """
    model = beam_model(length, **described)
    if boundary == "pinned" and not interfaces:
        interfaces = ("tip",)
    return reduce(model, boundary, modes=modes, interfaces=interfaces, damping=damping, variant=variant,
                  stiffening=geometric_stiffness, static=static, recover=recover)


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

    Each section property is a number, a table from end to end, or a function of the position x. EI can be the pair (EIy, EIz); y
    and z follow the axis cyclically (for axis "z": x and y). Without EA or E*area the beam is inextensible; without GJ or G*J it
    does not twist. Rotary inertia of the sections is included for Timoshenko beams unless specified otherwise; that about the axis
    always. `nodes` names positions along the axis besides "root" and "tip". `tip_com` and `tip_inertia` (about that mass center)
    are in body axes.

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
    model = _assemble(grid, cut, AXES[axis], places, inboard, tip)
    young = None if E is None else along(E, length, "E")
    return replace(model, recover=lambda shapes, fibers: _fibers(grid, young, AXES[axis], shapes, fibers))


def _fibers(grid: BeamGrid, young: Along | None, axes: Array, shapes: Array, fibers: Any) -> Recovery:
    """Axial strain of fibers, eps = gamma_x - y kappa_z + z kappa_y, by the Gauss points of their element, and their stress, if
    the material is known. [B 74]"""
    if not isinstance(fibers, Mapping):
        raise DescriptionError(f"beam: recover is {fibers!r}; give names and places of fibers, {{'root top': (x, y, z)}}")
    n, turned = shapes.shape[1], np.kron(np.eye(2 * len(grid.node)), axes).T @ shapes
    sampled = grid.sample(grid.strain, turned)  # (E, 4, 6, n)
    strain, along = np.zeros((len(fibers), 6, n)), int(np.flatnonzero(axes[:, 0])[0])  # the body's axis along the beam
    places = np.array([np.asarray(each, dtype=float) for each in fibers.values()]).reshape(-1, 3)
    for i, (x, y, z) in enumerate(places):
        if not 0.0 <= x <= grid.node[-1]:
            raise DescriptionError(f"beam: the fiber {list(fibers)[i]!r} is at x = {x:g} m; give a place from 0 to "
                                   f"{grid.node[-1]:g} m")
        element = min(int(np.searchsorted(grid.node, x, side="right")) - 1, grid.n_elements - 1)
        share = (x - grid.node[element]) / (grid.node[element + 1] - grid.node[element])
        weights = np.array([np.prod([(share - b) / (a - b) for b in GAUSS if b != a]) for a in GAUSS])
        gamma, kappa = np.split(np.einsum("q,qin->in", weights, sampled[element]), 2)
        strain[i, along] = gamma[0] - y * kappa[2] + z * kappa[1]
    none = np.zeros((0, 6, n))
    stress = none if young is None else strain * young(places[:, 0])[:, None, None]
    return Recovery(np.array(list(fibers)), stress, strain, none, none)


def _assemble(grid: BeamGrid, cut: Sections, axes: Array, places: dict[str, float], inboard: str | None,
              tip: tuple[float, Array, Array]) -> FiniteElements:
    from scipy.sparse import diags_array, eye_array, kron

    turn = kron(eye_array(2 * len(grid.node)), axes, format="csr")  # dofs in the beam's axes to dofs in the body's
    strain = grid.operator(grid.strain)
    law = (grid.weight[..., None] * stiffness_per_length(grid.x, cut)).ravel()
    stiffness = turn @ (strain.T @ diags_array(law) @ strain) @ turn.T
    rule = _point_rule(grid, cut, axes, turn, tip)
    position = np.outer(grid.node, axes[:, 0])
    at = {name: int(np.argmin(np.abs(grid.node - x))) for name, x in places.items()}
    stiff = [dof for dof, law in ((0, cut.EA), (3, cut.GJ)) if law is None]
    rigid = [turn.T.tocsr()[[6 * node + dof]].indices[0] for node in range(len(grid.node)) for dof in stiff]

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


def _stations(length: float, elements: int, places: dict[str, float]) -> Array:
    """The nodes of the grid: equal elements, each moved or cut so that every named place is a node."""
    outside = [name for name, x in places.items() if not 0.0 <= x <= length]
    if outside:
        raise DescriptionError(f"beam: node {outside[0]!r} is at {places[outside[0]]} m; give a place from 0 to its length "
                               f"{length} m")
    even = np.linspace(0.0, length, elements + 1)
    named = np.array(sorted(places.values()))
    far = np.abs(even[:, None] - named).min(axis=1) > 0.25 * length / elements
    grid = np.sort(np.concatenate([even[far], named]))
    return np.asarray(grid[np.append(True, np.diff(grid) > 1e-9 * length)])


def _tip(mass: float, com: Any, inertia: Any) -> tuple[float, Array, Array]:
    given = np.asarray(inertia, dtype=float)
    tensor = given if given.shape == (3, 3) else np.diag(np.broadcast_to(given, 3) if given.ndim < 2 else np.full(3, np.nan))
    if not mass >= 0 or not np.isfinite(tensor).all() or np.linalg.eigvalsh(tensor)[0] < 0:
        raise DescriptionError(f"beam: tip_mass is {mass!r} and tip_inertia {inertia!r}; give a mass >= 0 and a positive 3x3 "
                               "matrix or its diagonal")
    return float(mass), np.asarray(com, dtype=float), tensor


def _check(length: float, elements: int, axis: str) -> None:
    if not length > 0:
        raise DescriptionError(f"beam: length is {length!r} m; give a number > 0")
    if elements < 1:
        raise DescriptionError(f"beam: elements is {elements!r}; give a number >= 1")
    if axis not in AXES:
        raise DescriptionError(f"beam: axis is {axis!r}; give one of {', '.join(map(repr, AXES))}")
