"""Integration methods as data: Butcher tableaus in one flat array.

header (8)   stages, 1 if the positions take the new speeds (Euler-Cromer), how often at most loops are closed after a
             step, 1 if the last of that closes their speeds, the power of the error by which adaptive steps change, 1 if the
             last stage is the next step's first
c (s)        when each stage is taken, in steps          a (s x s)   stage i starts from x + h sum_j a_ij k_j
b (s)        the step is x + h sum_j b_j k_j             e (s)       its error is h sum_j e_j k_j
p (s x 4)    between the ends it is x + h sum_j k_j (p_j1 z + p_j2 z^2 + p_j3 z^3 + p_j4 z^4), z from 0 to 1
i (s x s)    of implicit methods: springs and modes act at x + h sum_j i_ij k_j, with j up to i [B 30]

Closing loops after a step: positions, then speeds, moved back by the least kinetic energy [B 16].

    M dq = J^T lambda,  J dq = -phi         repeated until phi is small enough that the last change closes it
    M dv = J^T lambda,  J dv = -J v

Each is the dynamics of the system at rest without loads, so the sweeps that find accelerations find these changes too.

`take_step` takes one step of a Runge-Kutta method, explicit or additive, from its tableau [B 6] [B 30].

stepper   tableau | table of compiled laws | scratch of doubles for them | where `work` starts in ws
work      x at the start of the step | k of each stage | controls | a saved state | by how much the state's own time is ahead
"""

import numpy as np
from bough import sweeps
from bough.integrate.compiled.callback import COMPUTED, N_LAWS, WORK, evaluate_laws
from bough.kernels.jit import leaf, routine
from bough.kernels.lanes import (accumulate, any_negative, get_lane, implicit_only, load, load3, load4, loops_only, noinline, read,
                                 scale, sqrt, store, where_positive, zero)
from bough.sweeps import fields as f
from bough.sweeps.derivative import derivative
from bough.sweeps.implicit import implicit_state
from bough.sweeps.tree_motion import scatter_rates


HEADER = 8
STAGES, CROMER, CORRECTIONS, SPEEDS, POWER, LAST_IS_FIRST = range(6)


def square(rows, s) -> np.ndarray:
    """Rows of a lower triangle as a matrix."""
    full = np.zeros((s, s))
    for i, row in enumerate(rows):
        full[i, :len(row)] = row
    return full


def tableau(c, a, b, *, cromer=False, e=None, p=None, implicit=(), power=0.2, last_is_first=False) -> np.ndarray:
    s = len(c)
    header = np.zeros(HEADER)
    header[STAGES], header[CROMER], header[POWER], header[LAST_IS_FIRST] = s, cromer, power, last_is_first
    e, p = np.zeros(s) if e is None else e, np.outer(b, [1, 0, 0, 0]) if p is None else p        # without p, straight
    return np.concatenate([header, c, square(a, s).ravel(), b, e, np.ravel(p), square(implicit, s).ravel()]).astype(float)


def coefficients(tableau) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """a, b and the implicit triangle i of a method."""
    s = int(tableau[STAGES])
    ends = HEADER + np.cumsum([s, s*s, s, 5*s])
    _, a, b, _, i = np.split(tableau, ends)
    return a.reshape(s, s), b, i.reshape(s, s)


def euler_cromer() -> np.ndarray:
    """v += h a, then q += h v': first order, symplectic for position-dependent forces."""
    return tableau([0.0], [[]], [1.0], cromer=True)


def rk4() -> np.ndarray:
    """The classical method; between the ends of a step its one cubic of third order, so that samples keep the order of the run."""
    return tableau([0.0, 0.5, 0.5, 1.0], [[], [0.5], [0.0, 0.5], [0.0, 0.0, 1.0]], [1/6, 1/3, 1/3, 1/6],
                   p=[[1, -3/2, 2/3, 0], [0, 1, -2/3, 0], [0, 1, -2/3, 0], [0, -1/2, 2/3, 0]])


def dopri5() -> np.ndarray:
    """Dormand and Prince's 5(4) with a fourth-order interpolant; the coefficients are SciPy's."""
    from scipy.integrate import RK45
    a = np.zeros((7, 7))
    a[:6, :5], a[6, :6] = RK45.A, RK45.B
    return tableau([*RK45.C, 1.0], a, [*RK45.B, 0.0], e=RK45.E, p=RK45.P, last_is_first=True)


FIXED = {"euler-cromer": euler_cromer, "rk4": rk4}
ADAPTIVE = {"dopri5": dopri5}


# ---- stepping --------------------------------------------------------------------------------------------------------------
LAST_GAP = 1e-8                  # m: after a correction from a smaller gap, Newton's next gap is of the order of its square/size
LAST_GAP_OF_POSITIONS = 1e-6     # m: the same for methods that correct speeds only in the next step, which corrects positions too


@loops_only(otherwise=lambda lane, tableau: 0)
def corrections_of(lane, tableau):
    """Maximum number of corrections after a step."""
    return int(tableau[CORRECTIONS])


@loops_only(otherwise=lambda lane, plan, ws, saved, speeds: 0)
def begin_correction(lane, plan, ws, saved, speeds):
    """Save the state, and set it to rest without controls; returns the distance in ws from the speeds to the saved ones."""
    x, weights = read(plan, f.WS_X), read(plan, f.WS_CLOSURE) + f.CLOSURE_ACCELERATION
    for i in range(read(plan, f.N_X)):
        store(lane, ws, saved + i, load(lane, ws, x + i))
    for i in range(read(plan, f.NV)):
        store(lane, ws, x + read(plan, f.NQ) + i, zero(lane))
    for i in range(read(plan, f.N_U)):
        store(lane, ws, read(plan, f.WS_U) + i, zero(lane))
    if speeds:
        store(lane, ws, weights, (0.0, 1.0, 0.0))
    else:
        store(lane, ws, weights, (0.0, 0.0, 1.0))
    return saved - x


@loops_only(otherwise=lambda lane, plan, ws, saved, speeds, enough, open_: open_)
def end_correction(lane, plan, ws, saved, speeds, enough, open_):
    """Add the correction to the state; positions change in the lanes where `open_` is positive.  Returns 1 in the lanes that may
    still be open: those whose gap before it was not small enough."""
    nq, x, change = read(plan, f.NQ), read(plan, f.WS_X), read(plan, f.WS_XDOT) + read(plan, f.NQ)
    for i in range(read(plan, f.NV)):
        store(lane, ws, x + nq + i, load(lane, ws, change + i))
    if speeds:
        for i in range(read(plan, f.NV)):
            accumulate(lane, ws, x + nq + i, load(lane, ws, saved + nq + i))
        normalize(lane, plan, ws)
        return open_
    scatter_rates(lane, plan, ws)
    for i in range(nq):
        accumulate(lane, ws, x + i, load(lane, ws, read(plan, f.WS_XDOT) + i))
    normalize(lane, plan, ws)
    for i in range(nq):
        store(lane, ws, x + i, where_positive(open_, load(lane, ws, x + i), load(lane, ws, saved + i)))
    for i in range(nq, read(plan, f.N_X)):
        store(lane, ws, x + i, load(lane, ws, saved + i))
    gap = load(lane, ws, read(plan, f.WS_CLOSURE) + f.CLOSURE_GAP)
    return where_positive(last_gap - gap, zero(lane), may_be_open)


# ---- stepping --------------------------------------------------------------------------------------------------------------
INSIDE = 1e-9            # a stage at the end of a step looks up time tables this share of the step before it


@leaf
def stages_of(tableau):
    return int(tableau[STAGES])


@leaf
def controls_at(plan, stepper):
    """Position of the controls: after x and the stages."""
    return stepper[3] + (stages_of(stepper[0]) + 1)*read(plan, f.N_X)


@leaf
def saved_at(plan, stepper):
    """Position of the saved state."""
    return controls_at(plan, stepper) + read(plan, f.N_U)


@leaf
def ahead_at(plan, stepper):
    """Position of the offset of the state's own time from that of the steps."""
    return saved_at(plan, stepper) + read(plan, f.N_X)


@routine
def copy(lane, ws, to, source, n):
    noinline()
    for i in range(n):
        store(lane, ws, to + i, load(lane, ws, source + i))


@routine
def add_scaled(lane, ws, x, w, k, n):
    """x += w k."""
    noinline()
    for i in range(n):
        accumulate(lane, ws, x + i, scale(w, load(lane, ws, k + i)))


@leaf
def combine(lane, plan, stepper, ws, weights, first, h, s):
    """x = x0 + h sum_j w_j k_j over the first s stages, w_j = weights[first + j]."""
    nx, x, work = read(plan, f.N_X), read(plan, f.WS_X), stepper[3]
    copy(lane, ws, x, work, nx)
    for j in range(s):
        w = h*weights[first + j]
        if w != 0.0:
            add_scaled(lane, ws, x, w, work + (j + 1)*nx, nx)


@leaf
def set_time(lane, plan, stepper, ws, t, inside):
    """The time of the state, and a time inside the step."""
    ahead = load(lane, ws, ahead_at(plan, stepper))
    store(lane, ws, read(plan, f.WS_TIME), (ahead + t, ahead + inside))


@leaf
def evaluate_law(lane, model, stepper, ws):
    """Controls from compiled laws, if there are any, at the time and state in ws."""
    if stepper[1][N_LAWS]:
        ask_laws(lane, model, stepper, ws)


@routine
def ask_laws(lane, model, stepper, ws):
    noinline()
    plan, pars, tables = model
    _, laws, scratch, _ = stepper
    sweeps.held.apply_prescribed_motion(lane, plan, tables, ws, True)
    if laws[COMPUTED]:
        sweeps.tanks.set_masses(lane, plan, tables, ws)
        sweeps.outputs.evaluate_outputs(lane, plan, pars, ws)
    evaluate_laws(lane, plan, laws, scratch, ws, controls_at(plan, stepper))


@leaf
def begin_stage(lane, model, stepper, ws, t, h, stage):
    """Time, state and controls of a stage."""
    plan, _, _ = model
    tableau, s = stepper[0], stages_of(stepper[0])
    c = tableau[HEADER + stage]
    combine(lane, plan, stepper, ws, tableau, HEADER + s + stage*s, h, stage)
    set_time(lane, plan, stepper, ws, t + c*h, t + min(max(c, INSIDE), 1.0 - INSIDE)*h)
    evaluate_law(lane, model, stepper, ws)
    copy(lane, ws, read(plan, f.WS_U), controls_at(plan, stepper), read(plan, f.N_U))
    begin_implicit(lane, plan, stepper, ws, h, stage)


@implicit_only
def begin_implicit(lane, plan, stepper, ws, h, stage):
    """q^ and v^ of a stage: where springs and modes are evaluated, without the unknown acceleration [B 30]."""
    tableau, s, nx, work = stepper[0], stages_of(stepper[0]), read(plan, f.N_X), stepper[3]
    row, to, n, head = implicit_row(s, stage), implicit_state(plan), read(plan, f.NQ) + read(plan, f.NV), read(plan, f.WS_IMPLICIT)
    g = h*tableau[row + stage]
    store(lane, ws, head + f.IMPLICIT_RATE, zero(lane) + g)
    store(lane, ws, head + f.IMPLICIT_PLACE, zero(lane) + g*g)
    for i in range(n):
        value = load(lane, ws, work + i)
        for j in range(stage):
            value = value + (h*tableau[row + j])*load(lane, ws, work + (j + 1)*nx + i)
        store(lane, ws, to + i, value)


@implicit_only
def rest_implicit(lane, plan, ws):
    """Evaluate springs and modes at the state: for the holding forces at the end of a step."""
    head, n = read(plan, f.WS_IMPLICIT), read(plan, f.NQ) + read(plan, f.NV)
    store(lane, ws, head + f.IMPLICIT_RATE, zero(lane))
    store(lane, ws, head + f.IMPLICIT_PLACE, zero(lane))
    copy(lane, ws, implicit_state(plan), read(plan, f.WS_X), n)


@leaf
def implicit_row(s, stage):
    """Start of row i of a stage in the tableau."""
    return HEADER + 7*s + s*s + stage*s


@implicit_only
def end_implicit(lane, model, stepper, ws, h, stage):
    """q' from the speeds at the end of the stage: q' = N(q) (v^ + g a) [B 30]."""
    plan, pars, _ = model
    tableau, s, nq = stepper[0], stages_of(stepper[0]), read(plan, f.NQ)
    g, v, x, vdot = h*tableau[implicit_row(s, stage) + stage], implicit_state(plan) + nq, read(plan, f.WS_X), read(plan, f.WS_XDOT)
    for i in range(read(plan, f.NV)):
        store(lane, ws, x + nq + i, load(lane, ws, v + i) + g*load(lane, ws, vdot + nq + i))
    move(lane, plan, pars, ws)


@leaf
def move(lane, plan, pars, ws):
    """q' from the speeds in the state; in orbit relative to the mass center."""
    scatter_rates(lane, plan, ws)
    if read(plan, f.IN_ORBIT):
        sweeps.orbit.shift_roots(lane, plan, pars, ws)


@leaf
def evaluate_rates(lane, model, stepper, ws, method, offset):
    """x' of a stage, including the power of the inputs if recorded; when loops are corrected, see derivative for `offset`."""
    plan, pars, tables = model
    work = stepper[1][WORK]
    derivative(lane, plan, pars, tables, ws, method, offset)
    if work != 0 and offset == 0:
        sweeps.power.fill_input_power(lane, plan, pars, ws, controls_at(plan, stepper), read(plan, f.WS_XDOT) + work)


@leaf
def steered_by(plan, stepper):
    """Number of entries of x that control adaptive steps: all but the work of the inputs, recorded or not."""
    return read(plan, f.N_X) - (stepper[1][WORK] != 0)


@leaf
def take_step(lane, model, stepper, ws, t, h, first, method):
    """x at the end of the step, where loops are closed again; x0 is in work, k of the stages before `first` is there already.

    Stages and corrections take turns at one derivative: it is compiled once."""
    plan = model[0]
    tableau, _, _, work = stepper
    s, nx, saved, corrections = stages_of(tableau), read(plan, f.N_X), saved_at(plan, stepper), corrections_of(lane, tableau)
    open_, enough = zero(lane) + 1.0, LAST_GAP if tableau[SPEEDS] != 0.0 else LAST_GAP_OF_POSITIONS
    for stage in range(first, s + corrections + (read(plan, f.N_STUCK) > 0)):
        speeds, offset = tableau[SPEEDS] != 0.0 and stage == s + corrections - 1, 0
        if stage < s:
            begin_stage(lane, model, stepper, ws, t, h, stage)
        elif stage == s + corrections:                                      # what friction holds at the end, for events
            set_time(lane, plan, stepper, ws, t + h, t + (1.0 - INSIDE)*h)
            evaluate_law(lane, model, stepper, ws)
            copy(lane, ws, read(plan, f.WS_U), controls_at(plan, stepper), read(plan, f.N_U))
            rest_implicit(lane, plan, ws)
        elif not speeds and not any_negative(-open_):
            continue
        else:
            offset = begin_correction(lane, plan, ws, saved, speeds)
        evaluate_rates(lane, model, stepper, ws, method, offset)
        if stage == s + corrections:
            break
        if stage >= s:
            open_ = end_correction(lane, plan, ws, saved, speeds, enough, open_)
            continue
        end_implicit(lane, model, stepper, ws, h, stage)
        copy(lane, ws, work + (stage + 1)*nx, read(plan, f.WS_XDOT), nx)
        if stage == s - 1:
            finish_step(lane, model, stepper, ws, t, h)


@leaf
def finish_step(lane, model, stepper, ws, t, h):
    """x at the end of the step, with unit quaternions and prescribed coordinates."""
    plan, pars, tables = model
    tableau, _, _, work = stepper
    s = stages_of(tableau)
    combine(lane, plan, stepper, ws, tableau, HEADER + s + s*s, h, s)
    if tableau[CROMER]:
        move_with_new_speeds(lane, plan, pars, ws, work, h)
    normalize(lane, plan, ws)
    set_time(lane, plan, stepper, ws, t + h, t + (1.0 - INSIDE)*h)
    sweeps.held.apply_prescribed_motion(lane, plan, tables, ws, True)


@leaf
def move_with_new_speeds(lane, plan, pars, ws, work, h):
    """Euler-Cromer: q = q0 + h q'(q0, new v), and the orbit's position with its new velocity [B 7]; k of the stage is such, too."""
    nq, x, k = read(plan, f.NQ), read(plan, f.WS_X), work + read(plan, f.N_X)
    copy(lane, ws, x, work, nq)
    move(lane, plan, pars, ws)
    copy(lane, ws, k, read(plan, f.WS_XDOT), nq)
    for i in range(nq):
        accumulate(lane, ws, x + i, scale(h, load(lane, ws, k + i)))
    if read(plan, f.IN_ORBIT):
        R = nq + read(plan, f.NV) + read(plan, f.N_WHEELS)
        copy(lane, ws, k + R, x + R + 3, 3)
        accumulate(lane, ws, k + R, load3(lane, ws, read(plan, f.WS_MEAN) + 3))
        for i in range(R, R + 3):
            store(lane, ws, x + i, load(lane, ws, work + i) + scale(h, load(lane, ws, k + i)))


@routine
def normalize(lane, plan, ws):
    """Unit quaternions."""
    noinline()
    for k in range(read(plan, f.N_QUATERNIONS)):
        q = read(plan, f.WS_X) + read(plan, read(plan, f.QUATERNIONS) + k*f.QUATERNION_ROW + f.QUATERNION_AT)
        x, y, z, w = load4(lane, ws, q)
        store(lane, ws, q, scale(1.0/sqrt(x*x + y*y + z*z + w*w), (x, y, z, w)))


@leaf
def first_not_finite(lane, plan, ws, i):
    """The first entry of x that is not finite in lane i, or -1."""
    for j in range(read(plan, f.N_X)):
        value = get_lane(lane, ws, read(plan, f.WS_X) + j, i)
        if value - value != 0.0:                                 # infinite or NaN
            return j
    return -1
