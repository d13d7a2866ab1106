"""Checks of a structure before use: mass properties, rigid-body modes, frequencies, residual mass of the modes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bough.errors import DescriptionError
from bough.flex.finite_elements import COMPONENTS, FiniteElements, rigid_motion
from bough.flex.integrals import Array, ModalIntegrals, axial, inertia_of
from bough.flex.reduction import NEARLY_UNSTRAINED, mode_shapes, natural_modes, required_inboard, stiffness_share
from bough.progress import working

if TYPE_CHECKING:
    from bough.flex.flexible_body import FlexibleBody
    from bough.flex.given_modes import GivenModes
    from bough.flex.superelements import Superelement

_AGREE = 1e-3  # relative: declared mass properties
_ZERO_MODE = 1e-6  # of the square of the frequency of the first elastic mode


@dataclass(frozen=True, repr=False)
class StructureCheck:
    """The result of `check_structure`; prints as a report, and `problems` lists what needs attention."""

    size: str
    mass: float
    com: Array
    inertia: Array  # about the mass center
    grounding: Array  # (6,) share of the stiffness that rigid motions along x, y, z and about them strain; (0,): not known
    zero_modes: int | None  # modes of the free structure at zero; None: not asked
    free: Array  # frequencies of the free structure, without those at zero [Hz]
    fixed: Array  # with the inboard node fixed [Hz]
    left_out: Array | None  # (6,) share of the mass that can move, which the fixed modes leave out
    problems: tuple[str, ...]
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        rows = [("size", self.size), ("mass", f"{self.mass:.6g} kg"), ("mass center", f"{_vector(self.com)} m")]
        for label, row in zip(("inertia", "about it", ""), self.inertia, strict=True):
            rows.append((label, f"{_vector(row)}{' kg m^2' if label == 'inertia' else ''}"))
        if self.zero_modes is not None:
            strained = f"; rigid motion strains {self.grounding.max():.1e} of the stiffness" if len(self.grounding) else ""
            rows.append(("rigid modes", f"{self.zero_modes} at zero{strained}"))
        for label, values in (("free", self.free), ("fixed", self.fixed)):
            if len(values):
                rows.append((label, f"{', '.join(f'{each:.6g}' for each in values)} Hz"))
        if self.left_out is not None:
            parts = ", ".join(f"{name} {100 * each:.2g} %" for name, each in zip(COMPONENTS, self.left_out, strict=True))
            rows.append(("left out", f"by {len(self.fixed)} fixed modes, of the mass that can move: {parts}"))
        for label, lines in (("notes", self.notes), ("PROBLEMS", self.problems)):
            rows += [(label if i == 0 else "", line) for i, line in enumerate(lines)]
        return "\n".join(f"{label:14}{text}" for label, text in rows)


def _vector(values: Any) -> str:
    scale = max(float(np.abs(values).max()), 1e-300)
    return "  ".join(f"{0.0 if abs(value) < 1e-10 * scale else value:12.6g}" for value in values)


def check_structure(model: FiniteElements, *, modes: int = 10, mass: float | None = None, com: Any = None,
                    inertia: Any = None) -> StructureCheck:
    """Check a model, also against declared mass properties: `com` in the model's axes, `inertia` about the mass center.

    >>> from bough.flex import beam_model
    >>> check_structure(beam_model(2.0, EI=50.0, EA=1e6, GJ=40.0, polar_inertia=0.1, mass_per_length=1.0), modes=2).zero_modes
    6
    """
    with working("checking a structure"):
        found_mass, center, tensor = _rigid_mass(model.mass, rigid_motion(model.position, model.dofs_per_node))
        problems = _declared(found_mass, center, tensor, mass, com, inertia)
        grounding, more = grounding_of(model)
        problems += more
        zero, free = _free_modes(model, modes, bool(more), problems)
        fixed, left_out = _fixed_modes(model, modes)
    held, led = len(model.held), len(model.dependent)
    size = f"{len(model.position)} nodes, {model.n_dofs} dofs"
    size += f", {held} without stiffness or held" * bool(held) + f", {led} that follow others" * bool(led)
    return StructureCheck(size, found_mass, center, tensor, grounding, zero, free, fixed, left_out, tuple(problems), model.notes)


def _rigid_mass(matrix: Any, rigid: Array) -> tuple[float, Array, Array]:
    """Mass, mass center, and inertia about it, of a mass matrix and the six rigid motions of its coordinates."""
    square = rigid.T @ (matrix @ rigid)
    mass = float(np.trace(square[:3, :3]) / 3)
    center = axial(square[:3, 3:]) / 2 / mass
    return mass, center, np.asarray(square[3:, 3:] - mass * inertia_of(np.outer(center, center)))


def _declared(mass: float, center: Array, inertia: Array, *declared: Any) -> list[str]:
    problems = []
    size = float(np.sqrt(np.abs(inertia).max() / mass))
    for name, found, given, scale, unit in (
        ("mass", mass, declared[0], mass, "kg"),
        ("mass center", center, declared[1], max(size, float(np.abs(center).max())), "m"),
        ("inertia", inertia, declared[2], float(np.abs(inertia).max()), "kg m^2"),
    ):
        if given is None:
            continue
        value = np.asarray(given, dtype=float)
        value = np.diag(value) if name == "inertia" and value.ndim == 1 else value
        if np.abs(found - value).max() > _AGREE * scale:
            problems.append(f"the {name} is {_short(found)} {unit} by the matrices, but {_short(value)} is declared; check units")
    return problems


def _short(value: Any) -> str:
    array = np.asarray(value)
    return f"{float(array):.6g}" if array.ndim == 0 else str(np.round(array, 6).tolist())


def grounding_of(model: FiniteElements) -> tuple[Array, list[str]]:
    """How much each rigid motion strains the structure (6,), and by which dofs where it should not."""
    rigid = model.rigid_motion() if model.links is None else np.asarray(model.links @ model.rigid_motion())
    force = model.stiffness @ rigid
    share = stiffness_share(model.stiffness, rigid)
    problems = []
    for i in np.flatnonzero(share > NEARLY_UNSTRAINED):
        energy = rigid[:, i] * force[:, i]
        worst = [model.dof_name(int(dof)) for dof in np.argsort(-np.abs(energy))[:3]]
        square = float(rigid[:, i] @ force[:, i]) / max(float(rigid[:, i] @ (model.mass @ rigid[:, i])), 1e-300)
        problems.append(f"rigid motion {COMPONENTS[i]} is not free ({np.sqrt(max(square, 0.0)) / (2 * np.pi):.3g} Hz): grounded at "
                        f"{'; '.join(worst)}; take off supports and springs to ground, or correct units and places of nodes")
    return share, problems


def _free_modes(model: FiniteElements, modes: int, grounded: bool, problems: list[str]) -> tuple[int | None, Array]:
    free = model.free_dofs()
    count = min(modes + 6, len(free))
    stiffness, mass = (model.restricted(each, free) for each in (model.stiffness, model.mass))
    squares, shapes = natural_modes(stiffness, mass, count, lambda i: model.dof_name(int(free[i])), model.places(free))
    zero = np.abs(squares) < _ZERO_MODE * max(float(squares[-1]), 1e-300)
    zero &= (stiffness_share(stiffness, shapes) < NEARLY_UNSTRAINED) | (np.abs(squares) < 1e-6 * _ZERO_MODE * squares[-1])
    number = int(zero.sum())
    expected = int(np.linalg.matrix_rank(model.rigid_motion()[free] / max(1.0, float(np.abs(model.position).max()))))
    if number > expected and not grounded:
        shape = model.spread(shapes[:, np.flatnonzero(zero)[-1]], free)
        problems.append(f"{number} modes are at zero, {number - expected} more than rigid motion: parts are loose, above all "
                        f"{model.dof_name(int(np.abs(shape).argmax()))}; connect them")
    return number, np.sqrt(np.maximum(squares[~zero], 0.0)) / (2 * np.pi)


def _fixed_modes(model: FiniteElements, modes: int) -> tuple[Array, Array | None]:
    """Frequencies with the inboard node fixed, and the share of the movable mass that these modes leave out."""
    if model.inboard is None:
        return np.zeros(0), None
    from bough.flex.modal_convergence import effective_mass

    required_inboard(model, "cantilever")
    squares, shapes = mode_shapes(model, "cantilever", modes=min(modes, len(model.free_dofs(model.dofs_of(model.inboard)))))
    effective, movable = effective_mass(model, shapes)
    left = np.where(movable > 1e-9, 1 - effective.sum(axis=0) / np.where(movable > 1e-9, movable, 1.0), 0.0)
    return np.sqrt(np.maximum(squares, 0.0)) / (2 * np.pi), np.maximum(left, 0.0)


# ---- what others have reduced ----------------------------------------------------------------------------------------------
def check_modes(given: GivenModes, *, mass: float | None = None) -> StructureCheck:
    """The same of modes with masses: what the nodes weigh, which modes are rigid, what of the mass the modes leave out."""
    points = ModalIntegrals.from_points(given.points())
    weight = float(points.m)
    center = points.s0 / weight
    tensor = points.I0 - weight * inertia_of(np.outer(center, center))
    problems = _declared(weight, center, tensor, mass, None, None)
    elastic, left_out, fixed = given.elastic(), None, given.inboard is not None
    try:
        body = given.reduce()
        left_out = _left_out(body, given) if body.reduction == "cantilever" else None
        fixed = body.reduction == "cantilever"
    except DescriptionError as error:
        problems.append(str(error))
    found, none = elastic.frequencies, np.zeros(0)
    return StructureCheck(f"{len(given.labels)} nodes, {len(given.frequencies)} modes", weight, center, tensor, np.zeros(0),
                          len(given.frequencies) - len(found), none if fixed else found, found if fixed else none, left_out,
                          tuple(problems), elastic.notes)


def _left_out(body: FlexibleBody, given: GivenModes) -> Array:
    """Shares of mass and inertia about the inboard node, of what is not at that node, that the modes do not move."""
    held = np.isin(np.arange(len(given.labels)), np.atleast_1d(given.attach[given.inboard or ""]))
    whole = np.r_[[given.mass[~held].sum()] * 3, np.diagonal(body.integrals.I0)]
    moved = np.hstack([body.integrals.t, body.integrals.h]) ** 2 / np.diagonal(body.integrals.Mff)[:, None]
    return np.maximum(np.where(whole > 0, 1 - moved.sum(axis=0) / np.where(whole > 0, whole, 1.0), 0.0), 0.0)


def check_superelement(given: Superelement, *, modes: int = 10, mass: float | None = None) -> StructureCheck:
    """The same of reduced matrices, the first `modes` of their frequencies; what they do not determine is in the notes."""
    rigid = given.rigid_motion()
    found, center, tensor = _rigid_mass(given.mass, rigid)
    problems = _declared(found, center, tensor, mass, None, None)
    grounding = stiffness_share(given.stiffness, rigid)
    free = fixed = np.zeros(0)
    notes: tuple[str, ...] = ()
    try:
        body = given.reduce()
        free, fixed = (body.frequencies[:modes], fixed) if given.inboard is None else (free, body.frequencies[:modes])
        notes = tuple(f"not determined: {each}" for each in body.limits)
    except DescriptionError as error:
        problems.append(str(error))
    modal = int((given.node < 0).sum())
    size = f"{len(given.labels)} interfaces, {len(given.node)} coordinates, {modal} of them modal"
    zero = None if problems else int(np.linalg.matrix_rank(rigid))
    return StructureCheck(size, found, center, tensor, grounding, zero, free, fixed, None, tuple(problems), notes)
