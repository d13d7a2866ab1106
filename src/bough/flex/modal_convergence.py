"""How many modes are enough: frequencies, effective masses and static errors of a growing set of modes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bough.flex.finite_elements import FiniteElements
from bough.flex.geometric import determinate_support, static_solver
from bough.flex.integrals import Array
from bough.flex.reduction import mode_shapes, natural_modes, pinned_dofs
from bough.progress import working

DIRECTIONS = ("x", "y", "z", "rx", "ry", "rz")


@dataclass(frozen=True, repr=False)
class ConvergenceReport:
    """What each further mode adds; row r of an array is for the first r + 1 modes. Prints as a table.

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

    @property
    def cumulative_mass(self) -> Array:
        """(n, 6) share of the mass that the first modes carry together."""
        return np.cumsum(self.effective_mass, axis=0)

    def __repr__(self) -> str:
        head = f"{'modes':>5} {'Hz':>10} {'freq err':>9} " + " ".join(f"{name:>6}" for name in DIRECTIONS) + f" {'static err':>11}"
        rows = [head]
        for r, hertz in enumerate(self.frequencies):
            masses = " ".join(f"{100 * each:6.1f}" for each in self.cumulative_mass[r])
            rows.append(f"{r + 1:>5} {hertz:>10.4g} {self.frequency_error[r]:>9.1e} {masses} {self.static_error[r]:>11.1e}")
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


def convergence(
    model: FiniteElements, reduction: str = "cantilever", *, modes: int = 12, interfaces: Sequence[str] = (), share: float = 0.95
) -> ConvergenceReport:
    """The report on the first `modes` modes of a model.

    >>> from bough.flex import beam_model
    >>> convergence(beam_model(1.0, EI=1.0, mass_per_length=1.0), modes=12, share=0.9).enough
    8
    """
    with working("convergence of modes"):
        squares, shapes = mode_shapes(model, reduction, modes=modes, interfaces=interfaces)
        effective, movable = _effective_mass(model, shapes)
        cumulative = np.cumsum(effective, axis=0)
        static = _static_error(model, squares, shapes, _fixed_dofs(model, reduction, interfaces))
        free = _is_free(model, reduction)  # such modes carry no momentum: their static errors decide
        reached = np.flatnonzero(static < 1 - share if free else (cumulative >= share * movable - 1e-9).all(axis=1))
        return ConvergenceReport(
            reduction=reduction,
            frequencies=np.sqrt(np.maximum(squares, 0)) / (2 * np.pi),
            frequency_error=_frequency_error(model, reduction, squares),
            effective_mass=effective,
            static_error=static,
            share=share,
            free=free,
            enough=int(reached[0]) + 1 if len(reached) else None,
        )


def _effective_mass(model: FiniteElements, shapes: Array) -> tuple[Array, Array]:
    """Each mode's share of the rigid mass (n, 6), and the share that all modes together could carry (6,)."""
    rigid = model.rigid_motion()
    momentum = model.mass @ rigid
    whole = np.einsum("id,id->d", rigid, momentum)
    whole = np.where(whole > 1e-12 * whole.max(), whole, np.inf)
    fixed = np.zeros(0, dtype=int) if model.inboard is None else model.dofs_of(model.inboard)
    free = model.free_dofs(fixed)
    inside = model.mass[free][:, free]
    movable = _projected_mass(inside, momentum[free])
    return np.asarray((shapes.T @ momentum) ** 2 / whole), np.asarray(movable / whole)


def _projected_mass(mass: object, momentum: Array) -> Array:
    """p^T M^-1 p for each direction: what the free dofs can carry."""
    from scipy.sparse import csc_array, diags_array
    from scipy.sparse.linalg import splu

    matrix = csc_array(mass)
    regular = matrix + 1e-13 * matrix.diagonal().max() * diags_array(np.ones(matrix.shape[0]))
    return np.asarray(np.einsum("id,id->d", momentum, splu(csc_array(regular)).solve(momentum)))


def _is_free(model: FiniteElements, reduction: str) -> bool:
    return reduction == "free-free" or model.inboard is None


def _fixed_dofs(model: FiniteElements, reduction: str, interfaces: Sequence[str]) -> Array | None:
    """The dofs that a reduction holds still in the body frame; None: the body is free."""
    if _is_free(model, reduction) or model.inboard is None:
        return None
    if reduction == "pinned":
        return pinned_dofs(model, (model.inboard, *interfaces))
    return model.dofs_of(model.inboard)


def _static_error(model: FiniteElements, squares: Array, shapes: Array, fixed: Array | None) -> Array:
    """Largest relative error, over nodes and directions, of the work of a unit load (a free body: less its rigid acceleration)."""
    solve = static_solver(model, determinate_support(model) if fixed is None else fixed)
    worst, held = np.zeros(len(squares)), model.inboard if fixed is not None else None
    flexibility = 1 / np.where(squares > 0, squares, np.inf)
    for place in model.attachments:
        if place.name == held:
            continue
        for row in place.gather.toarray()[: 6 if place.rotates else 3]:
            load = row if fixed is not None else row - model.mass @ _rigid_part(model, row)
            exact = load @ solve(load)
            if abs(exact) > 0 and np.abs(row @ shapes).max(initial=0.0) > 0:
                worst = np.maximum(worst, np.abs(1 - np.cumsum((row @ shapes) ** 2 * flexibility) / exact))
    return worst


def _rigid_part(model: FiniteElements, load: Array) -> Array:
    """The rigid acceleration that a load gives the free body."""
    rigid = model.rigid_motion()
    rigid = rigid[:, rigid.any(axis=0)]
    return np.asarray(rigid @ np.linalg.lstsq(rigid.T @ (model.mass @ rigid), rigid.T @ load, rcond=None)[0])


def _frequency_error(model: FiniteElements, reduction: str, squares: Array) -> Array:
    """Relative error of the frequencies against those of the full model under the same support."""
    if reduction != "craig-bampton" or model.inboard is None:
        return np.zeros(len(squares))
    free = model.free_dofs(model.dofs_of(model.inboard))
    exact, _ = natural_modes(model.stiffness[free][:, free], model.mass[free][:, free], min(len(squares), len(free)))
    error = np.full(len(squares), np.nan)
    error[: len(exact)] = np.sqrt(squares[: len(exact)] / exact) - 1
    return error
