"""A step: a Runge-Kutta method, explicit or additive, from its tableau [B 6] [B 30], then the closing of loops.

A tableau is one flat array (`integrate.methods` has those of all methods):

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

stepper   tableau | table of compiled laws | scratch of doubles for them | where x0 is in ws
from x0    x at the start of the step | k of each stage | controls | a saved state | by how much the state's own time is ahead
"""

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
TABLEAU, LAW_TABLE, SCRATCH, X0 = range(4)                                                 # of a stepper


# ---- closing loops ---------------------------------------------------------------------------------------------------------
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


@loops_only(otherwise=lambda lane, plan, ws, saved, speeds, last_gap, may_be_open: may_be_open)
def end_correction(lane, plan, ws, saved, speeds, last_gap, may_be_open):
    """Add the correction to the state; positions change in the lanes that may be open (1, else 0).  Returns those that may still
    be: those whose gap before it was above `last_gap`."""
    nq, x, change = read(plan, f.NQ), read(plan, f.WS_X), read(plan, f.WS_XDOT) + read(plan, f.NQ)
    for i in range(read(plan, f.NV)):
        store(lane, ws, x + nq + i, load(lane, ws, change + i))
    if speeds:
        for i in range(read(plan, f.NV)):
            accumulate(lane, ws, x + nq + i, load(lane, ws, saved + nq + i))
        normalize(lane, plan, ws)
        return may_be_open
    scatter_rates(lane, plan, ws)
    for i in range(nq):
        accumulate(lane, ws, x + i, load(lane, ws, read(plan, f.WS_XDOT) + i))
    normalize(lane, plan, ws)
    for i in range(nq):
        store(lane, ws, x + i, where_positive(may_be_open, load(lane, ws, x + i), load(lane, ws, saved + i)))
    for i in range(nq, read(plan, f.N_X)):
        store(lane, ws, x + i, load(lane, ws, saved + i))
    gap = load(lane, ws, read(plan, f.WS_CLOSURE) + f.CLOSURE_GAP)
    return where_positive(last_gap - gap, zero(lane), may_be_open)


# ---- the step --------------------------------------------------------------------------------------------------------------
INSIDE = 1e-9            # a stage at the end of a step looks up time tables this share of the step before it


@leaf
def stages_of(tableau):
    return int(tableau[STAGES])


@leaf
def controls_at(plan, stepper):
    """Position of the controls: after x and the stages."""
    return stepper[X0] + (stages_of(stepper[TABLEAU]) + 1)*read(plan, f.N_X)


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
    nx, x, x0 = read(plan, f.N_X), read(plan, f.WS_X), stepper[X0]
    copy(lane, ws, x, x0, nx)
    for j in range(s):
        w = h*weights[first + j]
        if w != 0.0:
            add_scaled(lane, ws, x, w, x0 + (j + 1)*nx, nx)


@leaf
def set_time(lane, plan, stepper, ws, t, inside):
    """The time of the state, and a time inside the step."""
    ahead = load(lane, ws, ahead_at(plan, stepper))
    store(lane, ws, read(plan, f.WS_TIME), (ahead + t, ahead + inside))


@leaf
def update_controls(lane, model, stepper, ws):
    """Controls from compiled laws, if there are any, at the time and state in ws."""
    if stepper[LAW_TABLE][N_LAWS]:
        evaluate_outputs_and_laws(lane, model, stepper, ws)


@routine
def evaluate_outputs_and_laws(lane, model, stepper, ws):
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
    tableau, s = stepper[TABLEAU], stages_of(stepper[TABLEAU])
    c = tableau[HEADER + stage]
    combine(lane, plan, stepper, ws, tableau, HEADER + s + stage*s, h, stage)
    set_time(lane, plan, stepper, ws, t + c*h, t + min(max(c, INSIDE), 1.0 - INSIDE)*h)
    update_controls(lane, model, stepper, ws)
    copy(lane, ws, read(plan, f.WS_U), controls_at(plan, stepper), read(plan, f.N_U))
    begin_implicit(lane, plan, stepper, ws, h, stage)


@implicit_only
def begin_implicit(lane, plan, stepper, ws, h, stage):
    """q^ and v^ of a stage: where springs and modes are evaluated, without the unknown acceleration [B 30]."""
    (tableau, _, _, x0), s, nx = stepper, stages_of(stepper[TABLEAU]), read(plan, f.N_X)
    row, to, n, head = implicit_row(s, stage), implicit_state(plan), read(plan, f.NQ) + read(plan, f.NV), read(plan, f.WS_IMPLICIT)
    g = h*tableau[row + stage]
    store(lane, ws, head + f.IMPLICIT_RATE, zero(lane) + g)
    store(lane, ws, head + f.IMPLICIT_PLACE, zero(lane) + g*g)
    for i in range(n):
        value = load(lane, ws, x0 + i)
        for j in range(stage):
            value = value + (h*tableau[row + j])*load(lane, ws, x0 + (j + 1)*nx + i)
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
    tableau, s, nq = stepper[TABLEAU], stages_of(stepper[TABLEAU]), read(plan, f.NQ)
    g, v, x, vdot = h*tableau[implicit_row(s, stage) + stage], implicit_state(plan) + nq, read(plan, f.WS_X), read(plan, f.WS_XDOT)
    for i in range(read(plan, f.NV)):
        store(lane, ws, x + nq + i, load(lane, ws, v + i) + g*load(lane, ws, vdot + nq + i))
    coordinate_rates(lane, plan, pars, ws)


@leaf
def coordinate_rates(lane, plan, pars, ws):
    """q' from the speeds in the state; in orbit relative to the mass center."""
    scatter_rates(lane, plan, ws)
    if read(plan, f.IN_ORBIT):
        sweeps.orbit.shift_roots(lane, plan, pars, ws)


@leaf
def evaluate_rates(lane, model, stepper, ws, method, offset):
    """x' of a stage, including the power of the inputs if recorded; when loops are corrected, see derivative for `offset`."""
    plan, pars, tables = model
    work = stepper[LAW_TABLE][WORK]                                         # entry of x with the work of the inputs
    derivative(lane, plan, pars, tables, ws, method, offset)
    if work != 0 and offset == 0:
        sweeps.power.fill_input_power(lane, plan, pars, ws, controls_at(plan, stepper), read(plan, f.WS_XDOT) + work)


@leaf
def error_entries(plan, stepper):
    """Number of entries of x whose errors control adaptive steps: all but the work of the inputs, recorded or not."""
    return read(plan, f.N_X) - (stepper[LAW_TABLE][WORK] != 0)


@leaf
def take_step(lane, model, stepper, ws, t, h, first, method):
    """x at the end of the step, where loops are closed again; x0 and k of the stages before `first` are there already.

    Stages and corrections take turns at one derivative: it is compiled once."""
    plan = model[0]
    tableau, _, _, x0 = stepper
    s, nx, saved, corrections = stages_of(tableau), read(plan, f.N_X), saved_at(plan, stepper), corrections_of(lane, tableau)
    may_be_open, last_gap = zero(lane) + 1.0, LAST_GAP if tableau[SPEEDS] != 0.0 else LAST_GAP_OF_POSITIONS
    for stage in range(first, s + corrections + (read(plan, f.N_STUCK) > 0)):
        speeds, offset = tableau[SPEEDS] != 0.0 and stage == s + corrections - 1, 0
        if stage < s:
            begin_stage(lane, model, stepper, ws, t, h, stage)
        elif stage == s + corrections:                                      # what friction holds at the end, for events
            set_time(lane, plan, stepper, ws, t + h, t + (1.0 - INSIDE)*h)
            update_controls(lane, model, stepper, ws)
            copy(lane, ws, read(plan, f.WS_U), controls_at(plan, stepper), read(plan, f.N_U))
            rest_implicit(lane, plan, ws)
        elif not speeds and not any_negative(-may_be_open):
            continue
        else:
            offset = begin_correction(lane, plan, ws, saved, speeds)
        evaluate_rates(lane, model, stepper, ws, method, offset)
        if stage == s + corrections:
            break
        if stage >= s:
            may_be_open = end_correction(lane, plan, ws, saved, speeds, last_gap, may_be_open)
            continue
        end_implicit(lane, model, stepper, ws, h, stage)
        copy(lane, ws, x0 + (stage + 1)*nx, read(plan, f.WS_XDOT), nx)
        if stage == s - 1:
            finish_step(lane, model, stepper, ws, t, h)


@leaf
def finish_step(lane, model, stepper, ws, t, h):
    """x at the end of the step, with unit quaternions and prescribed coordinates."""
    plan, pars, tables = model
    tableau, _, _, x0 = stepper
    s = stages_of(tableau)
    combine(lane, plan, stepper, ws, tableau, HEADER + s + s*s, h, s)
    if tableau[CROMER]:
        move_with_new_speeds(lane, plan, pars, ws, x0, h)
    normalize(lane, plan, ws)
    set_time(lane, plan, stepper, ws, t + h, t + (1.0 - INSIDE)*h)
    sweeps.held.apply_prescribed_motion(lane, plan, tables, ws, True)


@leaf
def move_with_new_speeds(lane, plan, pars, ws, x0, h):
    """Euler-Cromer: q = q0 + h q'(q0, new v), and the orbit's position with its new velocity [B 7]; k of the stage is such, too."""
    nq, x, k = read(plan, f.NQ), read(plan, f.WS_X), x0 + read(plan, f.N_X)
    copy(lane, ws, x, x0, nq)
    coordinate_rates(lane, plan, pars, ws)
    copy(lane, ws, k, read(plan, f.WS_XDOT), nq)
    for i in range(nq):
        accumulate(lane, ws, x + i, scale(h, load(lane, ws, k + i)))
    if read(plan, f.IN_ORBIT):
        R = nq + read(plan, f.NV) + read(plan, f.N_WHEELS)
        copy(lane, ws, k + R, x + R + 3, 3)
        accumulate(lane, ws, k + R, load3(lane, ws, read(plan, f.WS_MEAN) + 3))
        for i in range(R, R + 3):
            store(lane, ws, x + i, load(lane, ws, x0 + i) + scale(h, load(lane, ws, k + i)))


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
