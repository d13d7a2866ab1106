"""How many modes are enough: frequencies, effective masses and static errors of a growing set of modes."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bough.flex.factors import SymmetricFactor
from bough.flex.finite_elements import COMPONENTS, FiniteElements
from bough.flex.geometric import determinate_support, static_solver
from bough.flex.integrals import Array
from bough.flex.reduction import fixed_dofs, is_free, mode_shapes, natural_modes
from bough.flex.static_shapes import load_vectors, rigid_acceleration, static_shapes, strain_orthonormal
from bough.progress import working


@dataclass(frozen=True, repr=False)
class ConvergenceReport:
    """Convergence with the number of modes; row r of an array is for the first r + 1 modes. Prints as a table.

    A direction that the inboard node cannot excite (or a free-free model, which carries no momentum) has effective mass 0.
    """

    reduction: str
    frequencies: Array  # (n,) [Hz]
    frequency_error: Array  # (n,) relative, against the full model; NaN where the full model was not solved
    effective_mass: Array  # (n, 6) share of the mass (inertia) that each mode carries along x, y, z and about them
    static_error: Array  # (n,) largest relative error of the static response of a node to a load on it
    share: float
    free: bool  # free modes carry no momentum: `share` is then of the static response at the nodes, not of the mass that can move
    enough: int | None  # modes that reach `share` in every direction; None: more than these
    places: tuple[str, ...] = ()  # interfaces and other nodes
    load_error: Array = field(default_factory=lambda: np.zeros((0, 0)))  # (n, places) of loads at them
    added: tuple[tuple[str, Array], ...] = ()  # static shapes in turn: names, and the errors (places,) left with them

    @property
    def cumulative_mass(self) -> Array:
        """(n, 6) cumulative effective mass fraction of the first modes."""
        return np.cumsum(self.effective_mass, axis=0)

    def __repr__(self) -> str:
        head = f"{'modes':>5} {'Hz':>10} {'freq err':>9} " + " ".join(f"{name:>6}" for name in COMPONENTS) + f" {'static err':>11}"
        loads = " | load err " + " ".join(f"{name[:9]:>9}" for name in self.places) if len(self.places) > 1 or self.added else ""
        rows = [head + loads]
        for r, hertz in enumerate(self.frequencies):
            masses = " ".join(f"{100 * each:6.1f}" for each in self.cumulative_mass[r])
            row = f"{r + 1:>5} {hertz:>10.4g} {self.frequency_error[r]:>9.1e} {masses} {self.static_error[r]:>11.1e}"
            rows.append(row + (_errors(self.load_error[r]) if loads else ""))
        width = len(head)
        rows += [f"{f'+ static shapes of {name}':<{width}}{_errors(errors)}" for name, errors in self.added]
        return "\n".join([f"{self.reduction} modes; cumulative effective mass in %", *rows, self.recommendation()])

    def recommendation(self) -> str:
        """One sentence: how many modes are enough."""
        percent = f"{100 * self.share:g} %"
        goal = (
            f"{percent} of the static response at every node"
            if self.free
            else f"{percent} of the mass that can move, in every direction"
        )
        if self.enough is None:
            return f"{len(self.frequencies)} modes do not reach {goal}; ask for more"
        return f"{self.enough} modes carry {goal}"


def _errors(values: Array) -> str:
    return " |          " + " ".join(f"{each:>9.1e}" for each in values)


def convergence(model: FiniteElements, reduction: str = "cantilever", *, modes: int = 12, interfaces: Sequence[str] = (),
                static: Sequence[Any] = (), share: float = 0.95) -> ConvergenceReport:
    """The report on the first `modes` modes of a model, and on the static shapes that `static` adds to them (see `reduce`).

    The load at an interface held against a slow motion is that motion over the compliance: `load_error` is the error of the
    compliance at each location, in its worst direction.

    >>> from bough.flex import beam_model
    >>> convergence(beam_model(1.0, EI=1.0, mass_per_length=1.0), modes=12, share=0.9).enough
    8
    """
    with working("convergence of modes"):
        squares, shapes = mode_shapes(model, reduction, modes=modes, interfaces=interfaces)
        effective, movable = effective_mass(model, shapes)
        cumulative = np.cumsum(effective, axis=0)
        fixed = fixed_dofs(model, reduction, interfaces)
        groups = _static_groups(model, shapes, static, fixed)
        places, errors = _load_errors(model, squares, shapes, fixed, [each for _, each in groups])
        worst, n = errors.max(axis=1, initial=0.0), len(squares)
        free = is_free(model, reduction)  # such modes carry no momentum: their static errors decide
        reached = np.flatnonzero(worst[:n] < 1 - share if free else (cumulative >= share * movable - 1e-9).all(axis=1))
        return ConvergenceReport(
            reduction=reduction,
            frequencies=np.sqrt(np.maximum(squares, 0)) / (2 * np.pi),
            frequency_error=_frequency_error(model, reduction, squares),
            effective_mass=effective,
            static_error=worst[:n],
            share=share,
            free=free,
            enough=int(reached[0]) + 1 if len(reached) else None,
            places=places,
            load_error=errors[:n],
            added=tuple((name, errors[n + i]) for i, (name, _) in enumerate(groups)),
        )


def effective_mass(model: FiniteElements, shapes: Array) -> tuple[Array, Array]:
    """Each mode's share of the rigid mass (n, 6), and the share that all modes together could carry (6,)."""
    rigid = model.rigid_motion()
    momentum = model.mass @ rigid
    whole = np.einsum("id,id->d", rigid, momentum)
    whole = np.where(whole > 1e-12 * whole.max(), whole, np.inf)
    fixed = np.zeros(0, dtype=int) if model.inboard is None else model.dofs_of(model.inboard)
    free = model.free_dofs(fixed)
    movable = _projected_mass(model.restricted(model.mass, free), model.gathered(momentum, free), model.places(free))
    return np.asarray((shapes.T @ momentum) ** 2 / whole), np.asarray(movable / whole)


def _projected_mass(mass: Any, momentum: Array, places: Array) -> Array:
    """p^T M^-1 p for each direction: what the free dofs can carry. Mass matrices are well conditioned: conjugate gradients do."""
    from scipy.sparse import csr_array, diags_array
    from scipy.sparse.linalg import cg

    diagonal = mass.diagonal()
    regular = csr_array(mass + 1e-13 * diagonal.max() * diags_array(np.ones(len(diagonal))))
    scaling = diags_array(1 / np.maximum(regular.diagonal(), 1e-300))
    carried = np.zeros(momentum.shape[1])
    for d, column in enumerate(momentum.T):
        found, failed = cg(regular, column, rtol=1e-11, maxiter=500, M=scaling)
        carried[d] = column @ (SymmetricFactor(regular, places).solve(column) if failed else found)
    return carried


def _static_groups(model: FiniteElements, shapes: Array, static: Sequence[Any], fixed: Array | None) -> list[tuple[str, Array]]:
    """Of each entry of `static`, what it adds to the modes and the entries before, orthonormal in strain energy. [B 72]"""
    groups: list[tuple[str, Array]] = []
    known = shapes
    for entry, (name, _) in zip(static, load_vectors(model, static), strict=True):
        added = strain_orthonormal(model.stiffness, known, static_shapes(model, [entry], fixed))
        groups.append((name, added))
        known = np.hstack([known, added])
    return groups


def _load_errors(model: FiniteElements, squares: Array, shapes: Array, fixed: Array | None,
                 groups: Sequence[Array]) -> tuple[tuple[str, ...], Array]:
    """Relative errors (modes + groups, places) of the work of a unit load, worst direction (free body: less its acceleration)."""
    solve = static_solver(model, determinate_support(model) if fixed is None else fixed)
    places = [each for each in model.attachments if fixed is None or each.name != model.inboard]
    errors = np.zeros((len(squares) + len(groups), len(places)))
    flexibility = 1 / np.where(squares > 0, squares, np.inf)
    for column, place in enumerate(places):
        for row in place.gather.toarray()[: 6 if place.rotates else 3]:
            load = row if fixed is not None else row - model.mass @ rigid_acceleration(model, row)
            exact = load @ solve(load)
            work = [*((row @ shapes) ** 2 * flexibility), *(((row @ each) ** 2).sum() for each in groups)]
            if abs(exact) > 0 and max(work, default=0.0) > 0:
                errors[:, column] = np.maximum(errors[:, column], np.abs(1 - np.cumsum(work) / exact))
    return tuple(each.name for each in places), errors


def _frequency_error(model: FiniteElements, reduction: str, squares: Array) -> Array:
    """Relative error of the frequencies against those of the full model under the same support."""
    if reduction != "craig-bampton" or model.inboard is None:
        return np.zeros(len(squares))
    free = model.free_dofs(model.dofs_of(model.inboard))
    stiffness, mass = (model.restricted(each, free) for each in (model.stiffness, model.mass))
    exact, _ = natural_modes(stiffness, mass, min(len(squares), len(free)), places=model.places(free))
    error = np.full(len(squares), np.nan)
    error[: len(exact)] = np.sqrt(squares[: len(exact)] / exact) - 1
    return error
