"""Eigenvalues of largest magnitude of the assembled system at a state, and their causes.

Arnoldi's method finds those of the derivative of x' with respect to x from derivatives along a few dozen directions, each a
difference of two evaluations with all loads: springs, modes, lines, laws, loops.  An evaluation is a short step of Euler's method
by the kernel of the run itself, so nothing is compiled for it.
"""
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.compile.coordinates import holdable
from bough.compile.kernel_calls import group_parameters, lanes_for
from bough.compile.layout import Floats
from bough.compile.tables import Tables
from bough.integrate.methods import tableau
from bough.integrate.run import Run, trial_rows
from bough.model import Model
from bough.sweeps import fields as f

Complexes = NDArray[np.complex128]
Rate = Callable[[Floats], Floats]
MOST_DIRECTIONS = 40                # of Arnoldi's method
CONVERGED = 0.05                    # relative accuracy of an eigenvalue that counts
DIFFERENCE = 1e-6                   # change of a scaled state in difference quotients
SHORT = 1e-4                        # s: the Euler step; rounding leaves errors of 1e-12 of the rates
NOTHING = 1e-6                      # 1/s: below it is rounding
TOO_FAST = 1e100                    # 1/s: squares of what is faster may not be finite


@dataclass(frozen=True)
class Fastest:
    """The eigenvalues of largest magnitude [1/s], largest first, and the entry of x that moves most with the first."""
    values: Complexes
    entry: int

    @property
    def rate(self) -> float:
        """The largest magnitude [rad/s]; 0 if nothing moves."""
        return float(abs(self.values[0])) if len(self.values) and abs(self.values[0]) > NOTHING else 0.0

    @property
    def oscillates(self) -> bool:
        return bool(len(self.values)) and abs(self.values[0].imag) > abs(self.values[0].real)

    def __str__(self) -> str:
        return f"{self.rate/(2*np.pi):.4g} Hz" if self.oscillates else f"{self.rate:.4g}/s"


# ---- eigenvalues ---------------------------------------------------------------------------------------------------------
def fastest(rates: Rate, x: Floats, speeds: slice, quaternions: Sequence[int], held: Sequence[int] = ()) -> Fastest:
    """Eigenvalues of x' = rates(x), rows in and out, at a state.  `speeds`: the entries of x that are speeds, which are scaled like
    their coordinates; `quaternions`: their starts, since they keep their length; `held`: entries that are given."""
    scale, rng = np.ones(len(x)), np.random.default_rng(0)

    def tangent(z: Floats) -> Floats:
        z[list(held)] = 0.0
        for at in quaternions:
            z[at:at + 4] -= (z[at:at + 4] @ x[at:at + 4])*x[at:at + 4]
        return z

    def along(z: Floats) -> Floats:
        moved = DIFFERENCE*scale*tangent(z.copy())
        forth, back = rates(np.array([x + moved, x - moved]))
        return tangent((forth - back)/(2.0*DIFFERENCE*scale))

    start, size = rng.standard_normal(len(x)), 0.0
    for _ in range(4):                              # a few powers give the scale of speeds relative to coordinates
        start = start/np.linalg.norm(start)
        start = along(start)
        if not 0.0 < np.abs(start).max() < TOO_FAST:
            return Fastest(np.zeros(0, complex), 0)
        size = float(np.linalg.norm(start))
        scale[speeds] *= max(size**0.5, 1e-3) if (scale == 1.0).all() else 1.0
    return arnoldi(along, start, min(MOST_DIRECTIONS, len(x)))


def arnoldi(along: Rate, start: Floats, directions: int) -> Fastest:
    """The eigenvalues of largest magnitude of a linear map, as far as they have converged."""
    basis, H = np.zeros((directions + 1, len(start))), np.zeros((directions + 1, directions))
    basis[0] = start/np.linalg.norm(start)
    for k in range(directions):
        image = along(basis[k])
        for _ in range(2):                                          # once more, for rounding
            shares = basis[:k + 1] @ image
            H[:k + 1, k] += shares
            image = image - shares @ basis[:k + 1]
        H[k + 1, k] = np.linalg.norm(image)
        if not np.isfinite(H[k + 1, k]) or H[k + 1, k] <= 1e-10*np.abs(H).max():
            directions = k + 1
            break
        basis[k + 1] = image/H[k + 1, k]
    values, vectors = np.linalg.eig(H[:directions, :directions])
    order = np.argsort(-np.abs(values))
    left = np.abs(H[directions, directions - 1]*vectors[-1]) if directions < H.shape[0] else np.zeros(len(values))
    known = [i for i in order if left[i] <= CONVERGED*np.abs(values[order[0]])] or list(order[:1])
    moves = np.abs(basis[:directions].T @ vectors[:, known[0]])
    return Fastest(values[known], int(moves.argmax()))


def held_entries(model: Model) -> list[int]:
    """Entries of x that are locked or prescribed."""
    known = [coordinate for name, coordinate in holdable(model.system).items() if name in model.holds]
    return [each.q for each in known if each.q is not None] + [model.nq + each.v for each in known]


# ---- rates of a run --------------------------------------------------------------------------------------------------------
def rates_of(run: Run, *, entry: int | None = None, pars: Floats | None = None, laws: bool = True) -> Rate:
    """x' of rows of states, with the parameters and time of the first state of a run; optionally without the parts that an entry of
    the header of plan counts, with other parameters, or without compiled laws."""
    lanes = lanes_for(len(run.x))
    (tables, _), (_, table, _, at), _, ws = run.arguments(lanes)
    tables = replace(tables, plan=tables.plan.copy())
    frictions = tables.rows("frictions")
    frictions[frictions[:, f.FRICTION_LAW] == f.SLIDES, f.FRICTION_ACTS] = 0        # not differentiable where it may stick
    if entry is not None:
        tables.plan[entry] = 0
    own = np.repeat((run.pars if pars is None else pars)[:1], 1 if len(run.pars) == 1 else lanes.width, axis=0)
    table = table if laws else np.zeros_like(table)
    stepper = tableau([0.0], [[]], [1.0]), table, np.zeros(run.laws.scratch + 1), at
    grid = np.array([[run.t, SHORT, 0.0, 1.0]])

    def rates(x: Floats) -> Floats:
        rows = np.repeat(x, lanes.width, axis=0) if lanes.width > 1 else x
        u, ahead = (np.repeat(each[:1], len(rows), axis=0) for each in (run.u, run.ahead))
        end = run.take_trial((tables, group_parameters(own, lanes)), stepper, grid, trial_rows(rows.copy(), u, ahead), ws)
        return np.asarray((end - rows)/SHORT)[::lanes.width]
    return rates


def fastest_of(run: Run, x: Floats | None = None, *, entry: int | None = None, pars: Floats | None = None,
               laws: bool = True) -> Fastest:
    """The fastest motions at the first state of a run, or at another one."""
    layout, at = run.model.layout, run.x[0] if x is None else x
    moving = slice(layout.v.start, layout.wheels.stop)
    return fastest(rates_of(run, entry=entry, pars=pars, laws=laws), at, moving, list(run.model.tables.tree.quaternions),
                   held_entries(run.model))


def without_local(tables: Tables, pars: Floats) -> Floats:
    """Parameters without what implicit methods take as it is at the end of a stage: springs, dampers and drag of hinges, couplings
    that give way, and modes."""
    pars, at = pars.copy(), tables.size(f.PAR_SPRINGS)
    for j, row in enumerate(tables.rows("springs")):
        if row[f.SPRING_LOCAL]:
            pars[:, [at + j*f.SPRING_PARS + f.STIFFNESS, at + j*f.SPRING_PARS + f.DAMPING]] = 0.0
    at = tables.size(f.PAR_COUPLINGS)
    for i in range(tables.size(f.N_COUPLINGS)):
        pars[:, [at + i*f.COUPLING_PARS + f.COUPLING_STIFFNESS, at + i*f.COUPLING_PARS + f.COUPLING_DAMPING]] = 0.0
    at = tables.size(f.PAR_FRICTIONS)
    for j, row in enumerate(tables.rows("frictions")):
        if row[f.FRICTION_HINGE]:
            smooth = row[f.FRICTION_LAW] not in (f.SLIDES, f.BRISTLES)
            drags = [f.VISCOUS, *[f.COULOMB, f.STATIC_MORE, f.LOAD_FACTOR]*smooth]
            pars[:, [at + j*f.FRICTION_PARS + each for each in drags]] = 0.0
    for row in tables.rows("flexible"):
        n = int(row[f.MODES])
        start = int(row[f.FLEX_ELASTIC]) + n
        pars[:, start:start + (2*n if row[f.DIAGONAL] else 2*n*n)] = 0.0
    return pars


def causes(run: Run, pars: Floats, whole: float) -> list[str]:
    """Causes of the fastest motion of the explicit part: kinds of parts without which it is slower by a third."""
    tables, model = run.model.tables, run.model
    calm, still = pars.copy(), run.x[0].copy()
    calm[:, f.STABILIZATION] = 0.0
    still[model.layout.v] = 0.0
    kinds = ", ".join(sorted({element.noun for element in model.system.elements.values()}))
    trials: list[tuple[str, Any, dict[str, Any]]] = [               # what it may be, whether it is there, how to leave it out
        ("the gains of compiled laws", run.laws.table[0], {"laws": False}),
        (f"force elements ({kinds})", tables.size(f.N_ELEMENTS), {"entry": f.N_ELEMENTS}),
        ("springs in the joints of loops", tables.size(f.N_FREES), {"entry": f.N_FREES}),
        ("friction", tables.size(f.N_FRICTIONS), {"entry": f.N_FRICTIONS}),
        ("Baumgarte's stabilization", pars[:, f.STABILIZATION].any(), {"pars": calm}),
        ("its rates: centrifugal and gyroscopic forces", run.x[0][model.layout.v].any(), {"x": still})]
    return [name for name, there, less in trials if there and fastest_of(run, **{"pars": pars} | less).rate < 0.67*whole]
