"""Whether fixed steps are short enough: the longest stable step of a method for the assembled system, found before the run, and an
estimate of the error after it."""
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from bough import integrate as optional
from bough.compile.kernel_calls import lanes_for
from bough.compile.layout import Floats
from bough.integrate.compiled.stepping import CROMER, LAST_IS_FIRST
from bough.integrate.methods import FIXED, coefficients
from bough.integrate.run import Run, trial_rows
from bough.sweeps import fields as f

if TYPE_CHECKING:
    from bough.integrate.eigenvalues import Complexes, Fastest

GROWTH = 1e-3                       # growth per step that counts as unstable; less may be rounding
REACH = np.geomspace(1e-2, 1e2, 60)                 # values of step times |eigenvalue| that are tried first
LEADING = 8                         # eigenvalues of largest size that are considered
ERROR_SAMPLES = 12                          # samples from which the error of a step is estimated
SHORT_RUN = 2e5                     # steps times speeds, some 0.03 s; shorter runs are checked only if a spring is fast
UNRESOLVED = 2.0                    # rad per step of a single spring or mode: above it, the assembled system is checked
SMALL = 1e-4                        # of the largest range of all coordinates: the least range that errors are related to
WRONG = 0.1                         # of the range of a coordinate: an error above it is reported by a warning


# ---- methods ---------------------------------------------------------------------------------------------------------------
def growth(tableau: Floats, z: complex) -> float:
    """Growth of a motion exp(t z/h) per step of a method that treats it explicitly: the spectral radius of the step."""
    a, b, implicit = coefficients(tableau)
    s = len(b)
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
    """The matrix of a step of an additive method, h = 1, for q' = v, v' = -K q - c v with forces at explicit stages; if the last
    stage is the first of the next step, it acts on q, v and that stage."""
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
    """Order of a method, up to 4, from the order conditions of its explicit triangle."""
    a, b, _ = coefficients(tableau)
    c = a.sum(axis=1)
    conditions = [[b @ c - 1/2], [b @ c**2 - 1/3, b @ a @ c - 1/6],
                  [b @ c**3 - 1/4, b @ (c*(a @ c)) - 1/8, b @ a @ c**2 - 1/12, b @ a @ a @ c - 1/24]]
    met = [bool(np.abs(each).max() < 1e-9) for each in conditions]
    return 1 if tableau[CROMER] else 1 + (met.index(False) if False in met else len(met))


def longest_step(tableau: Floats, values: "Complexes") -> float:
    """The longest step [s] up to which a method does not make motions with these eigenvalues grow faster than they do."""
    found = np.inf
    for value in values:
        if abs(value) == 0.0 or value.imag < 0.0:                           # conjugate pairs: one is enough
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
    """The fastest motion of the system at a state, and the longest stable step of a method."""
    method: str
    fastest: "Fastest"
    where: str                              # the entry of x that moves most with it
    explicit: "Fastest | None"              # of implicit methods: the fastest motion of the explicit part
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
        """The warning for a step that is too long, if it is."""
        if dt <= self.longest:
            return None
        why = f", for {' and '.join(self.reasons)}" if self.reasons else ""
        other = "" if self.explicit is not None else ", or an implicit method: imex2, imex4, imex43"
        return f"dt is {dt:g} s, and the run will diverge: {self}{why}; take a dt below it{other}"


def check_step(run: Run, x: Floats | None = None, dt: float | None = None) -> StepCheck:
    """Check the steps of a run at its first state, or at another one; with reasons if dt is too long."""
    method = run.plan.method
    whole, tableau, rest = optional.eigenvalues.fastest_of(run, x), FIXED[method](), None
    calm = optional.eigenvalues.without_local(run.model.tables, run.pars)
    if run.implicit:
        rest = optional.eigenvalues.fastest_of(run, x, pars=calm)
    limit = longest_step(tableau, (rest or whole).values[:LEADING])
    reasons = tuple(optional.eigenvalues.causes(run, calm, rest.rate)) if rest is not None and dt is not None and dt > limit else ()
    return StepCheck(method, whole, run.model.entry_name(whole.entry), rest, limit, reasons)


# ---- afterwards ----------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class ErrorEstimate:
    """Error of the worst coordinate at the end, if the mean error of some steps adds up, and its range."""
    error: float
    spread: float
    where: str

    @property
    def share(self) -> float:
        return self.error/self.spread if self.spread else 0.0

    def __str__(self) -> str:
        return f"about {self.share:.1e} of the range of {self.where}, if the errors of its steps add up"


def step_ends(run: Run, x: Floats, u: Floats, ahead: Floats, h: float, n: int) -> Floats:
    """Rows of states after n steps, each from its own time; all groups of lanes use the parameters of the run's first states."""
    (tables, pars), stepper, _, ws = run.arguments(lanes_for(len(run.x)))
    return run.take_trial((tables, pars[:1]), stepper, np.array([[0.0, h, 0.0, n]]), trial_rows(x.copy(), u.copy(), ahead), ws)


def estimate_error(run: Run) -> ErrorEstimate | None:
    """From one step and two half steps at some of the samples: the mean of their differences, times the number of steps.  If events
    change the model, from the last event on."""
    states, controls = run.recorded
    since = run.handler.spans[-1][0] if run.handler is not None and run.handler.spans else -np.inf
    able = np.flatnonzero(run.samples[:run.done - 1] >= since)
    if run.plan.dt is None or len(able) < 2:
        return None
    width, nq, order, dt = lanes_for(len(run.x)).width, run.model.nq, order_of(run.plan.tableau), run.plan.dt
    n, lane = min(len(run.x), width), np.minimum(np.arange(width), len(run.x) - 1)         # the last state fills the lanes
    chosen = np.unique(able[np.linspace(0, len(able) - 1, ERROR_SAMPLES).astype(int)])
    x, u = (each[lane][:, chosen].swapaxes(0, 1).reshape(width*len(chosen), -1) for each in (states, controls))
    ahead = (run.samples[chosen][:, None] + run.ahead[lane, 0]).reshape(-1, 1)
    with np.errstate(all="ignore"):
        apart = step_ends(run, x, u, ahead, dt, 1) - step_ends(run, x, u, ahead, dt/2, 2)
        total = apart.reshape(len(chosen), width, -1)[:, :n, :nq].sum(axis=0)/(1.0 - 2.0**-order)
    error = np.abs(total)/len(chosen)*run.steps
    spread = np.ptp(states[:n, :, :nq], axis=1)
    spread = np.maximum(spread, SMALL*spread.max(axis=1, keepdims=True))
    moving = spread > 1e-9*np.maximum(np.abs(states[:n, :, :nq]).max(axis=1), 1e-3)
    share = np.where(moving & np.isfinite(error), error/np.where(moving, spread, 1.0), 0.0)
    row, entry = np.unravel_index(int(share.argmax()), share.shape)
    return ErrorEstimate(float(error[row, entry]), float(spread[row, entry]), run.model.entry_name(int(entry)))


@dataclass(frozen=True)
class Bounce:
    """Elastic teeth with play: the duration of a bounce, and the longest step that resolves it."""
    coupling: str
    rate: float                             # rad/s: see backlash.bounce_rate
    found: bool                             # contacts are located inside longer steps

    @property
    def longest(self) -> float:
        return optional.backlash.RESOLVED/self.rate

    def __str__(self) -> str:
        touch = f"coupling '{self.coupling}': its teeth touch for {np.pi/self.rate:.2g} s when they bounce"
        if self.found:
            return f"{touch}; fixed steps above {self.longest:.2g} s find the contact and take it in parts"
        return f"{touch}, which steps above {self.longest:.2g} s do not follow"


def bounces(run: Run, x: Floats, states: Floats | None = None) -> list[Bounce]:
    """Bounces of the elastic teeth with play at a state; with `states` at the samples of the run (rows, samples, nx), only of teeth
    that neither stayed on one flank nor stayed away from both."""
    if not run.model.system.couplings:
        return []
    tables, found, able = run.model.tables, list[Bounce](), [each.name for each in optional.backlash.watchable(run.model.system)]
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
        rates_of = optional.eigenvalues.rates_of
        mobility = abs(float(c[0] @ (rates_of(run, pars=pushed)(x[None]) - rates_of(run)(x[None]))[0, v]))/push
        found.append(Bounce(name, max(float(np.sqrt(k*mobility)), float(own[0, f.COUPLING_DAMPING]*mobility)), name in able))
    return [bounce for bounce in found if bounce.rate > 0.0]


def unresolved_teeth(run: Run) -> str | None:
    """Warning about a run whose teeth touch and part in steps that are too long."""
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
    """Whether checking the steps costs little compared with taking them."""
    return run.plan.method in FIXED and steps*run.model.nv >= SHORT_RUN


def explain_divergence(run: Run) -> str:
    """Addition to the failure message of a run: whether its step was too long at the last sound state."""
    dt, states = run.plan.dt, run.recorded[0][0]
    if run.plan.method not in FIXED or len(run.x) > 1 or dt is None or not len(states):
        return ""
    largest = np.abs(states).max(axis=1)
    sound = np.flatnonzero(0.1*largest <= max(1.0, largest[0]))            # later ones may be diverging
    check = check_step(run, states[sound[-1]], dt)
    return f"; {check}" if dt > check.longest else ""


def notes(checks: Sequence[StepCheck | None], errors: Sequence[ErrorEstimate | None]) -> tuple[str | None, str | None]:
    """For the summary of several runs: the shortest limit of the step, and the largest error."""
    stable = min((check for check in checks if check is not None), key=lambda check: check.longest, default=None)
    worst = max((error for error in errors if error is not None), key=lambda error: error.share, default=None)
    return (None if stable is None else str(stable)), (None if worst is None else str(worst))
