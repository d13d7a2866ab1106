"""How fast the assembled system moves about a state, and how long a step of a method may be for it; whether steps of a fixed length
are short enough, said before they are taken, and after.

Eigenvalues of largest size of the derivative of x' by x come from Arnoldi's method: it asks for derivatives along some tens of
directions only, each the difference of two evaluations with all that acts: springs, modes, lines, laws, loops.  An evaluation is a
short step of Euler's method by the kernel that the run itself uses, so nothing is compiled for it.
"""
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bough.compile.batch import group_parameters, lanes_for
from bough.compile.coordinates import holdable
from bough.compile.layout import Floats
from bough.compile.tables import Tables
from bough.integrate.compiled import loops
from bough.integrate.compiled.stepping import CROMER, HEADER, LAST_IS_FIRST, STAGES, tableau
from bough.integrate.methods import FIXED
from bough.integrate.run import Run
from bough.integrate.teeth import FOLLOWED, watchable
from bough.model import Model
from bough.sweeps import fields as f
from bough.sweeps import records as r

Complexes = NDArray[np.complex128]
Rate = Callable[[Floats], Floats]
MOST_DIRECTIONS = 40                # of Arnoldi's method
CONVERGED = 0.05                    # of its size: an eigenvalue is known that well
DIFFERENCE = 1e-6                   # by how much a scaled state is moved
SHORT = 1e-4                        # s: the step by which rates are found; rounding leaves 1e-12 of them
GROWTH = 1e-3                       # of a step: more is no rounding
REACH = np.geomspace(1e-2, 1e2, 60)                 # steps times the size of an eigenvalue that are tried first
NOTHING = 1e-6                      # 1/s: slower is rounding
TOO_FAST = 1e100                    # 1/s: squares of what is faster may not be finite
LEADING = 8                         # eigenvalues that a step is measured by
LOOKS = 12                          # steps whose error is estimated
SHORT_RUN = 2e5                     # steps times speeds: a few hundredths of a second; less is looked at where springs say so
UNRESOLVED = 2.0                    # rad in a step, of a spring or mode by itself: reason enough to look at the assembled system
SMALL = 1e-4                        # of the largest range of all coordinates: one that moves less is measured by that
WRONG = 0.1                         # of the range of a coordinate: an error that is told aloud


@dataclass(frozen=True)
class Fastest:
    """The eigenvalues of largest size [1/s], the largest first, and the entry of x that moves most with that one."""
    values: Complexes
    entry: int

    @property
    def rate(self) -> float:
        """The size of the largest [rad/s]; 0 if nothing moves."""
        return float(abs(self.values[0])) if len(self.values) and abs(self.values[0]) > NOTHING else 0.0

    @property
    def oscillates(self) -> bool:
        return bool(len(self.values)) and abs(self.values[0].imag) > abs(self.values[0].real)

    def __str__(self) -> str:
        return f"{self.rate/(2*np.pi):.4g} Hz" if self.oscillates else f"{self.rate:.4g}/s"


# ---- eigenvalues ---------------------------------------------------------------------------------------------------------
def fastest(rates: Rate, x: Floats, speeds: slice, quaternions: Sequence[int], held: Sequence[int] = ()) -> Fastest:
    """Of x' = rates(x), rows in and out, about a state.  `speeds`: which entries of x are speeds, so that they and their
    coordinates weigh alike; `quaternions`: where they start, for they keep their length; `held`: entries that are given."""
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
    for _ in range(4):                              # a few powers say how fast it is, and so how speeds compare with coordinates
        start = start/np.linalg.norm(start)
        start = along(start)
        if not 0.0 < np.abs(start).max() < TOO_FAST:
            return Fastest(np.zeros(0, complex), 0)
        size = float(np.linalg.norm(start))
        scale[speeds] *= max(size**0.5, 1e-3) if (scale == 1.0).all() else 1.0
    return arnoldi(along, start, min(MOST_DIRECTIONS, len(x)))


def arnoldi(along: Rate, start: Floats, directions: int) -> Fastest:
    """The eigenvalues of largest size of a linear map that a few directions show well enough."""
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
    """Entries of x that are locked or prescribed: they are where they are, however the rest moves."""
    known = [coordinate for name, coordinate in holdable(model.system).items() if name in model.holds]
    return [each.q for each in known if each.q is not None] + [model.nq + each.v for each in known]


# ---- rates of a run --------------------------------------------------------------------------------------------------------
def rates_of(run: Run, *, entry: int | None = None, pars: Floats | None = None, laws: bool = True) -> Rate:
    """x' of rows of states, as the first state of a run sees them at the present time; without what a count in the header of plan
    says, with other parameters, or without compiled laws."""
    lanes, nx = lanes_for(len(run.x)), run.x.shape[1]
    (tables, _), (_, table, _, at), _, ws = run.arguments(lanes)
    tables = replace(tables, plan=tables.plan.copy())
    frictions = tables.rows("frictions")
    frictions[frictions[:, f.FRICTION_LAW] == f.SLIDES, f.FRICTION_ACTS] = 0        # it has no derivative where it may stick
    if entry is not None:
        tables.plan[entry] = 0
    own = np.repeat((run.pars if pars is None else pars)[:1], 1 if len(run.pars) == 1 else lanes.width, axis=0)
    table = table if laws else np.zeros_like(table)
    stepper = tableau([0.0], [[]], [1.0]), table, np.zeros(run.laws.scratch + 1), at
    grid = np.array([[run.t, SHORT, 0.0, 1.0]])

    def rates(x: Floats) -> Floats:
        rows = np.repeat(x, lanes.width, axis=0) if lanes.width > 1 else x
        end, none, u = rows.copy(), np.zeros((len(rows), 0)), np.repeat(run.u[:1], len(rows), axis=0)
        given = (end, u, none, none, np.full((len(rows), 2), np.nan), np.zeros((0, loops.WATCHER)), np.zeros(2),
                 np.array([0.0, np.inf, 0.0, 0.0]), np.repeat(run.ahead[:1], len(rows), axis=0))
        run.take_fixed((tables, group_parameters(own, lanes)), stepper, grid, np.zeros(0), given, ws,
                       np.zeros((len(rows), loops.CARRY + nx)))
        return np.asarray((end - rows)/SHORT)[::lanes.width]
    return rates


def fastest_of(run: Run, x: Floats | None = None, *, entry: int | None = None, pars: Floats | None = None,
               laws: bool = True) -> Fastest:
    """Of the first state of a run as it is now, or of another one."""
    layout, at = run.model.layout, run.x[0] if x is None else x
    moving = slice(layout.v.start, layout.wheels.stop)
    return fastest(rates_of(run, entry=entry, pars=pars, laws=laws), at, moving, list(run.model.tables.parts.quaternions),
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
        counts = [int(row[entry]) for entry in (f.MODES, f.CARRIED, f.HAS_PAIRS, f.HAS_TURNS, f.DIAGONAL, f.SPINS)]
        start = int(row[f.FLEX_PAR]) + r.FLEXIBLE_PARAMETERS.places(*counts)["elastic"][0] + n
        pars[:, start:start + (2*n if row[f.DIAGONAL] else 2*n*n)] = 0.0
    return pars


def causes(run: Run, pars: Floats, whole: float) -> list[str]:
    """What makes the explicit part of a system as fast as it is: those kinds of things without which it is slower by a third."""
    tables, model = run.model.tables, run.model
    calm, still = pars.copy(), run.x[0].copy()
    calm[:, f.STABILIZATION] = 0.0
    still[model.layout.v] = 0.0

    trials: dict[str, Callable[[], Fastest]] = {}
    if run.laws.table[0]:
        trials["the gains of compiled laws"] = lambda: fastest_of(run, pars=pars, laws=False)
    if tables.size(f.N_ELEMENTS):
        kinds = sorted({element.noun for element in model.system.elements.values()})
        trials[f"force elements ({', '.join(kinds)})"] = lambda: fastest_of(run, pars=pars, entry=f.N_ELEMENTS)
    if tables.size(f.N_FREES):
        trials["springs in the joints of loops"] = lambda: fastest_of(run, pars=pars, entry=f.N_FREES)
    if tables.size(f.N_FRICTIONS):
        trials["friction"] = lambda: fastest_of(run, pars=pars, entry=f.N_FRICTIONS)
    if pars[:, f.STABILIZATION].any():
        trials["Baumgarte's stabilization"] = lambda: fastest_of(run, pars=calm)
    if run.x[0][model.layout.v].any():
        trials["its rates: centrifugal and gyroscopic forces"] = lambda: fastest_of(run, still, pars=pars)
    return [name for name, trial in trials.items() if trial().rate < 0.67*whole]


# ---- methods ---------------------------------------------------------------------------------------------------------------
def growth(tableau: Floats, z: complex) -> float:
    """By how much a step grows a motion exp(t z/h), of a method that takes it explicitly: the spectral radius of the step."""
    s = int(tableau[STAGES])
    a, b = tableau[HEADER + s:HEADER + s + s*s].reshape(s, s), tableau[HEADER + s + s*s:HEADER + 2*s + s*s]
    implicit = tableau[HEADER + 7*s + s*s:].reshape(s, s)
    if tableau[CROMER]:
        K, c = abs(z)**2, -2.0*z.real
        step = np.array([[1.0 - K, 1.0 - c], [-K, 1.0 - c]]) if z.imag else np.array([[1.0 + z.real]])
        return float(np.abs(np.linalg.eigvals(step)).max())
    if not implicit.any():
        value, stages = 0.0j, np.ones(s)                            # 1 + z b·1 + z² b·a 1 + ...
        for power in range(1, s + 1):
            value, stages = value + z**power*float(b @ stages), a @ stages
        return abs(1.0 + value)
    return float(np.abs(np.linalg.eigvals(additive_step(tableau, z, a, implicit, b))).max())


def additive_step(tableau: Floats, z: complex, a: Floats, implicit: Floats, b: Floats) -> Floats:
    """The matrix of a step of an additive method, h = 1, for q' = v, v' = -K q - c v with forces at explicit stages; where the last
    stage is the next step's first, of q, v and that stage."""
    K, c = (abs(z)**2, -2.0*z.real) if z.imag else (0.0, -z.real)
    s, reuse = len(b), bool(tableau[LAST_IS_FIRST])
    columns = []
    for unit in np.eye(4 if reuse else 2):
        y, stages = unit[:2], [unit[2:]] if reuse else []
        for i in range(len(stages), s):
            at = y + sum((a[i, j]*stages[j] for j in range(i)), np.zeros(2))
            v = y[1] + sum(implicit[i, j]*stages[j][1] for j in range(i))
            force = -K*at[0] - c*at[1]
            stages.append(np.array([v + implicit[i, i]*force, force]))
        end = y + sum(b[j]*stages[j] for j in range(s))
        columns.append(np.concatenate([end, stages[-1]]) if reuse else end)
    return np.array(columns).T


def order_of(tableau: Floats) -> int:
    """Of a method, up to 4, as the conditions of its explicit triangle say."""
    s = int(tableau[STAGES])
    a, b = tableau[HEADER + s:HEADER + s + s*s].reshape(s, s), tableau[HEADER + s + s*s:HEADER + 2*s + s*s]
    c = a.sum(axis=1)
    conditions = [[b @ c - 1/2], [b @ c**2 - 1/3, b @ a @ c - 1/6],
                  [b @ c**3 - 1/4, b @ (c*(a @ c)) - 1/8, b @ a @ c**2 - 1/12, b @ a @ a @ c - 1/24]]
    met = [bool(np.abs(each).max() < 1e-9) for each in conditions]
    return 1 if tableau[CROMER] else 1 + (met.index(False) if False in met else len(met))


def longest_step(tableau: Floats, values: Complexes) -> float:
    """The longest step [s] up to which a method keeps motions with these eigenvalues from growing that do not by themselves."""
    found = np.inf
    for value in values:
        if abs(value) == 0.0 or value.imag < 0.0:                           # the other of a pair stands for both
            continue
        size, low = abs(value), 0.0
        direction = complex(value)/size

        def grows(reach: float, direction: complex = direction) -> bool:
            return growth(tableau, direction*reach) > max(1.0, np.exp(direction.real*reach)) + GROWTH

        for high in REACH[REACH/size < found]:
            if grows(high):
                for _ in range(8):                                          # to a thousandth
                    middle = (low + high)/2
                    low, high = (low, middle) if grows(middle) else (middle, high)
                found = low/size
                break
            low = high
    return float(found)


@dataclass(frozen=True)
class StepCheck:
    """How fast the system is at a state, and the longest step that a method may take for it."""
    method: str
    fastest: Fastest
    where: str                              # what moves most with it
    explicit: Fastest | None                # of implicit methods: the same of what they take explicitly
    longest: float                          # s
    reasons: tuple[str, ...] = ()           # what makes the explicit part fast

    def __str__(self) -> str:
        if not self.fastest.rate:
            return f"nothing moves by itself; no step of {self.method} is too long"
        what = f"fastest motion {self.fastest} (most of all {self.where})"
        if self.explicit is not None:
            rest = "nothing" if not self.explicit.rate else str(self.explicit)
            what += f", of what {self.method} takes explicitly {rest}"
        return f"{what}; {self.method} is stable up to " + (f"{self.longest:.3g} s" if self.longest < 1e6 else "any step")

    def warning(self, dt: float) -> str | None:
        """What to say of a step that is too long."""
        if dt <= self.longest:
            return None
        why = f", for {' and '.join(self.reasons)}" if self.reasons else ""
        other = "" if self.explicit is not None else ", or an implicit method: imex2, imex4, imex43"
        return f"dt is {dt:g} s, and the run will diverge: {self}{why}; take a dt below it{other}"


def check_step(run: Run, x: Floats | None = None, dt: float | None = None) -> StepCheck:
    """Of the first state of a run with fixed steps, as it is now, or of another one; with reasons where dt is too long."""
    method = run.plan.method
    whole, tableau, rest = fastest_of(run, x), FIXED[method](), None
    calm = without_local(run.model.tables, run.pars)
    if run.implicit:
        rest = fastest_of(run, x, pars=calm)
    limit = longest_step(tableau, (rest or whole).values[:LEADING])
    reasons = tuple(causes(run, calm, rest.rate)) if rest is not None and dt is not None and dt > limit else ()
    return StepCheck(method, whole, run.model.entry_name(whole.entry), rest, limit, reasons)


# ---- afterwards ----------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class ErrorEstimate:
    """By how much the coordinate that is worst is off at the end, if the mean error of some steps adds up, and its range."""
    error: float
    spread: float
    where: str

    @property
    def share(self) -> float:
        return self.error/self.spread if self.spread else 0.0

    def __str__(self) -> str:
        return f"about {self.share:.1e} of the range of {self.where}, if the errors of its steps add up"


def step_ends(run: Run, x: Floats, u: Floats, ahead: Floats, h: float, n: int) -> Floats:
    """Rows of states after n steps, each from a time of its own; all groups of lanes are of the run's first states."""
    (tables, pars), stepper, _, ws = run.arguments(lanes_for(len(run.x)))
    end, none = x.copy(), np.zeros((len(x), 0))
    rows = (end, u.copy(), none, none, np.full((len(x), 2), np.nan), np.zeros((0, loops.WATCHER)), np.zeros(2),
            np.array([0.0, np.inf, 0.0, 0.0]), ahead)
    run.take_fixed((tables, pars[:1]), stepper, np.array([[0.0, h, 0.0, n]]), np.zeros(0), rows, ws,
                   np.zeros((len(x), loops.CARRY + x.shape[1])))
    return end


def estimate_error(run: Run) -> ErrorEstimate | None:
    """By one step and two halves from some of the samples; the mean of their differences, times how many steps there were.  Where
    events change what holds, from the last of them on."""
    states, controls = run.recorded
    since = run.handler.spans[-1][0] if run.handler is not None and run.handler.spans else -np.inf
    able = np.flatnonzero(run.samples[:run.done - 1] >= since)
    if run.plan.dt is None or len(able) < 2:
        return None
    width, nq, order, dt = lanes_for(len(run.x)).width, run.model.nq, order_of(run.plan.tableau), run.plan.dt
    n, lane = min(len(run.x), width), np.minimum(np.arange(width), len(run.x) - 1)         # the last state fills the lanes
    looks = np.unique(able[np.linspace(0, len(able) - 1, LOOKS).astype(int)])
    x, u = (each[lane][:, looks].swapaxes(0, 1).reshape(width*len(looks), -1) for each in (states, controls))
    ahead = (run.samples[looks][:, None] + run.ahead[lane, 0]).reshape(-1, 1)
    with np.errstate(all="ignore"):
        apart = step_ends(run, x, u, ahead, dt, 1) - step_ends(run, x, u, ahead, dt/2, 2)
        total = apart.reshape(len(looks), width, -1)[:, :n, :nq].sum(axis=0)/(1.0 - 2.0**-order)
    error = np.abs(total)/len(looks)*run.steps
    spread = np.ptp(states[:n, :, :nq], axis=1)
    spread = np.maximum(spread, SMALL*spread.max(axis=1, keepdims=True))
    moving = spread > 1e-9*np.maximum(np.abs(states[:n, :, :nq]).max(axis=1), 1e-3)
    share = np.where(moving & np.isfinite(error), error/np.where(moving, spread, 1.0), 0.0)
    row, entry = np.unravel_index(int(share.argmax()), share.shape)
    return ErrorEstimate(float(error[row, entry]), float(spread[row, entry]), run.model.entry_name(int(entry)))


@dataclass(frozen=True)
class Bounce:
    """Elastic teeth with play: how long they touch when they bounce, and the longest step that follows it."""
    coupling: str
    rate: float                             # rad/s: sqrt(k c.M^-1 c), or that of the damper if it is faster
    found: bool                             # contacts are found inside longer steps

    @property
    def longest(self) -> float:
        return FOLLOWED/self.rate

    def __str__(self) -> str:
        touch = f"coupling '{self.coupling}': its teeth touch for {np.pi/self.rate:.2g} s when they bounce"
        if self.found:
            return f"{touch}; fixed steps above {self.longest:.2g} s find the contact and take it in parts"
        return f"{touch}, which steps above {self.longest:.2g} s do not follow"


def bounces(run: Run, x: Floats, states: Floats | None = None) -> list[Bounce]:
    """Of the elastic teeth with play, about a state; with `states` at the samples of the run (rows, samples, nx), only those that
    did not stay on one flank, nor away from both."""
    tables, found, able = run.model.tables, list[Bounce](), [each.name for each in watchable(run.model.system)]
    coupled, at = tables.rows("coupled"), tables.size(f.PAR_COUPLINGS)
    for i, (name, row) in enumerate(zip(run.model.system.couplings, tables.rows("couplings"), strict=True)):
        own = run.pars[:, at + i*f.COUPLING_PARS:at + (i + 1)*f.COUPLING_PARS]
        play, k = own[:, [f.COUPLING_PLAY]], own[0, f.COUPLING_STIFFNESS]
        if not (play.any() and k):
            continue
        terms = np.arange(row[f.COUPLING_FIRST], row[f.COUPLING_FIRST] + row[f.COUPLING_TERMS])
        c = run.pars[:, tables.size(f.PAR_COUPLED) + terms*f.COUPLED_PARS + f.COUPLED_FACTOR]
        q, v = (coupled[terms, entry] - tables.size(f.WS_X) for entry in (f.COUPLED_Q, f.COUPLED_V))
        if states is not None:
            off, rate = ((states[..., each]*c[:, None]).sum(axis=2) for each in (q, v))
            off -= own[:, [f.COUPLING_OFFSET]]
            side, near = np.sign(off)*(np.abs(off) > play), np.abs(off) + np.abs(rate)*np.diff(run.samples[:run.done]).max() > play
            if ((side != 0.0) & (side == side[:, :1])).all() or not near.any():
                continue
        pushed, push = run.pars.copy(), k*max(float(play[0, 0]), 1e-6)
        pushed[:, at + i*f.COUPLING_PARS + f.COUPLING_PRELOAD] += push
        mobility = abs(float(c[0] @ (rates_of(run, pars=pushed)(x[None]) - rates_of(run)(x[None]))[0, v]))/push
        found.append(Bounce(name, max(float(np.sqrt(k*mobility)), float(own[0, f.COUPLING_DAMPING]*mobility)), name in able))
    return [bounce for bounce in found if bounce.rate > 0.0]


def unfollowed(run: Run) -> str | None:
    """What to say of a run whose teeth touch and part in steps that are too long for it."""
    states, dt = run.recorded[0], run.plan.dt
    if dt is None or states.shape[1] < 2 or not np.isfinite(states[0, -1]).all():
        return None
    watched = () if run.handler is None else run.handler.teeth
    worst = max((each for each in bounces(run, states[0, -1], states) if each.coupling not in watched),
                key=lambda each: each.rate, default=None)
    if worst is None or dt <= worst.longest:
        return None
    return (f"{replace(worst, found=False)}; dt is {dt:g} s, and they do not stay on one flank: the motion may be wrong from "
            "there on; take a dt below it, or imex43 or dopri5, which find such steps, or hard contacts: backlash without "
            "stiffness")


def worth_checking(run: Run, steps: float) -> bool:
    """Whether a look at the steps costs little beside taking them; of a batch, at its first states."""
    return run.plan.method in FIXED and steps*run.model.nv >= SHORT_RUN


def explain_divergence(run: Run) -> str:
    """What to add to the failure of a run: whether its step was too long where it was sound last."""
    dt, states = run.plan.dt, run.recorded[0][0]
    if run.plan.method not in FIXED or len(run.x) > 1 or dt is None or not len(states):
        return ""
    largest = np.abs(states).max(axis=1)
    sound = np.flatnonzero(0.1*largest <= max(1.0, largest[0]))            # what is larger may be what diverges already
    check = check_step(run, states[sound[-1]], dt)
    return f"; {check}" if dt > check.longest else ""


def notes(checks: Sequence[StepCheck | None], errors: Sequence[ErrorEstimate | None]) -> tuple[str | None, str | None]:
    """What the summary says of the steps of several runs: the one whose steps must be shortest, and the largest error."""
    stable = min((check for check in checks if check is not None), key=lambda check: check.longest, default=None)
    worst = max((error for error in errors if error is not None), key=lambda error: error.share, default=None)
    return (None if stable is None else str(stable)), (None if worst is None else str(worst))
