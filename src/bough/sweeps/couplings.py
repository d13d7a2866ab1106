"""Couplings in the three sweeps: a linear relation between coordinates is one more row of the fronts [B 35].

    phi = sum c_i q_i - offset,   phi'' = sum c_i v_i' = 0

Its multiplier lambda is a force c_i lambda along each coordinate.  The column of a coupling starts with K = 0 at its outermost
coordinates; a hinge whose coordinate is coupled has

    U = H K^T + c_i

and everything else is as for any other column.  If such a coordinate is prescribed, c_i times its acceleration is part of k.

An elastic coupling is a force.  Implicit methods evaluate it at the end of the stage, with S = g C + g^2 K:

    force = preload - K (c.(q^ + g v^) - offset) - C c.v^ + mu,    mu = -S c.a

which is the row  sqrt(S) c.a + mu' = 0,  mu = sqrt(S) mu',  of the fronts: add 1 to its diagonal [B 30] [B 38].
"""
from bough.kernels.jit import leaf
from bough.kernels.lanes import accumulate, couplings_only, implicit_only, load, read, smaller, sqrt, store, where_positive, zero
from bough.sweeps import fields as f
from bough.sweeps.implicit import implicit_distance, implicit_place

APART = 2                           # side of watched elastic teeth between their flanks
COMPLIANCE, ROOT = 1, 2             # after the multiplier of a coupling: the addition to its diagonal, and sqrt(S)


@leaf
def coupling_row(plan, i):
    return read(plan, f.COUPLINGS) + i*f.COUPLING_ROW


@leaf
def coupled_row(plan, j):
    return read(plan, f.COUPLED) + j*f.COUPLED_ROW


@leaf
def factor_of(plan, pars, j):
    """Factor of the coupled coordinate j."""
    return read(pars, read(plan, f.PAR_COUPLED) + j*f.COUPLED_PARS + f.COUPLED_FACTOR)


@leaf
def assemble_coupling(lane, plan, pars, ws, i, offset):
    """The row of one coupling: its factors, stored as U of the hinges (zero elsewhere), and its bias [B 35], stabilized
    like that of a loop [JSC 4.16].  Its rank does not depend on the gap, so the gap does not enter its pivot test."""
    row, first, weights = coupling_row(plan, i), read(plan, coupling_row(plan, i) + f.COUPLING_FIRST), read(plan, f.WS_CLOSURE)
    p, acts = read(plan, f.PAR_COUPLINGS) + i*f.COUPLING_PARS, read(plan, row + f.COUPLING_ACTS)
    gap = zero(lane) - read(pars, p + f.COUPLING_OFFSET) - read(plan, row + f.COUPLING_SIDE)*read(pars, p + f.COUPLING_PLAY)
    rate, gamma, weight = zero(lane), zero(lane), acts + root_of(lane, plan, ws, row)
    for j in range(first, first + read(plan, row + f.COUPLING_TERMS)):
        term, c = coupled_row(plan, j), weight*factor_of(plan, pars, j)
        gap = gap + c*load(lane, ws, read(plan, term + f.COUPLED_Q))
        rate = rate + c*load(lane, ws, read(plan, term + f.COUPLED_V) + offset)
        if read(plan, term + f.COUPLED_GIVEN):
            gamma = gamma + c*load(lane, ws, read(plan, term + f.COUPLED_GIVEN))
        store(lane, ws, read(plan, term + f.COUPLED_U), zero(lane) + c)
    bias = acts*(load(lane, ws, weights + f.CLOSURE_SPEED)*rate + load(lane, ws, weights + f.CLOSURE_POSITION)*gap)
    store(lane, ws, read(plan, row + f.COUPLING_BIAS), load(lane, ws, weights + f.CLOSURE_ACCELERATION)*gamma + bias)
    store(lane, ws, read(plan, row + f.COUPLING_MULTIPLIER), zero(lane))


@couplings_only
def assemble_couplings(lane, plan, pars, ws, offset):
    """The rows of all couplings, after the fronts have been cleared."""
    for i in range(read(plan, f.N_COUPLINGS)):
        if read(plan, coupling_row(plan, i) + f.COUPLING_MULTIPLIER):
            assemble_coupling(lane, plan, pars, ws, i, offset)


@leaf
def relation_of(lane, plan, pars, ws, i):
    """Gap and rate of a coupling; in implicit methods, their known parts."""
    far = implicit_distance(lane, plan)
    row, first = coupling_row(plan, i), read(plan, coupling_row(plan, i) + f.COUPLING_FIRST)
    gap, rate = zero(lane) - read(pars, read(plan, f.PAR_COUPLINGS) + i*f.COUPLING_PARS + f.COUPLING_OFFSET), zero(lane)
    for j in range(first, first + read(plan, row + f.COUPLING_TERMS)):
        term, c = coupled_row(plan, j), factor_of(plan, pars, j)
        q, v = read(plan, term + f.COUPLED_Q) + far, read(plan, term + f.COUPLED_V) + far
        gap = gap + c*implicit_place(lane, plan, ws, q, v)
        rate = rate + c*load(lane, ws, v)
    return gap, rate


@leaf
def beyond_play(lane, gap, play, side):
    """Deviation of a coupling beyond its play, and 1 in contact. If a run watches the side, the law of that side holds throughout a
    step, so that it is smooth."""
    nothing, one = zero(lane), zero(lane) + 1.0
    if side == APART:
        return nothing, nothing
    if side != 0:
        return gap - side*play, one
    above, below = gap - play, gap + play
    beyond = where_positive(above, above, where_positive(-below, below, nothing))
    return beyond, where_positive(beyond*beyond, one, where_positive(nothing + play, nothing, one))


@couplings_only
def apply_couplings(lane, plan, pars, ws):
    """Forces of elastic couplings, and preloads: preload - stiffness (beyond the play) - damping [B 38]."""
    for i in range(read(plan, f.N_COUPLINGS)):
        row, p = coupling_row(plan, i), read(plan, f.PAR_COUPLINGS) + i*f.COUPLING_PARS
        gap, rate = relation_of(lane, plan, pars, ws, i)
        first = read(plan, row + f.COUPLING_FIRST)
        beyond, touches = beyond_play(lane, gap, read(pars, p + f.COUPLING_PLAY), read(plan, row + f.COUPLING_SIDE))
        force = (zero(lane) + read(pars, p + f.COUPLING_PRELOAD) - read(pars, p + f.COUPLING_STIFFNESS)*beyond
                 - read(pars, p + f.COUPLING_DAMPING)*touches*rate)
        for j in range(first, first + read(plan, row + f.COUPLING_TERMS)):
            accumulate(lane, ws, read(plan, coupled_row(plan, j) + f.COUPLED_TAU), factor_of(plan, pars, j)*force)
        stiffen_coupling(lane, plan, pars, ws, i, touches)


@implicit_only
def stiffen_coupling(lane, plan, pars, ws, i, touches):
    """Elastic coupling: sqrt(S) (0 within its play), and the addition to the diagonal of its row [B 30]."""
    at, p = read(plan, coupling_row(plan, i) + f.COUPLING_MULTIPLIER), read(plan, f.PAR_COUPLINGS) + i*f.COUPLING_PARS
    K, head = read(pars, p + f.COUPLING_STIFFNESS), read(plan, f.WS_IMPLICIT)
    if at:
        S = (load(lane, ws, head + f.IMPLICIT_RATE)*read(pars, p + f.COUPLING_DAMPING)
             + load(lane, ws, head + f.IMPLICIT_PLACE)*K)*touches
        elastic = 1.0 if K > 0.0 else 0.0
        store(lane, ws, at + ROOT, elastic*sqrt(S))
        store(lane, ws, at + COMPLIANCE, zero(lane) + elastic)


@implicit_only(otherwise=lambda lane, plan, ws, row: 0.0)
def root_of(lane, plan, ws, row):
    """sqrt(S) of a coupling; 0 for a rigid one."""
    return load(lane, ws, read(plan, row + f.COUPLING_MULTIPLIER) + ROOT)


@implicit_only
def add_coupling_compliance(lane, ws, multiplier, rows, diagonal):
    """Add to the diagonal of the row of an elastic coupling."""
    if rows == 1:
        accumulate(lane, ws, diagonal, load(lane, ws, multiplier + COMPLIANCE))


@couplings_only
def store_contacts(lane, plan, ws):
    """Store the multipliers of couplings with play in the states watched by runs."""
    for i in range(read(plan, f.N_COUPLINGS)):
        row = coupling_row(plan, i)
        if read(plan, row + f.COUPLING_STATE):
            store(lane, ws, read(plan, row + f.COUPLING_STATE), load(lane, ws, read(plan, row + f.COUPLING_MULTIPLIER)))


@couplings_only(otherwise=lambda lane, plan, ws, least: least)
def least_coupling_bias(lane, plan, ws, least):
    """Minimum of a number and minus the magnitude of each coupling's bias."""
    for i in range(read(plan, f.N_COUPLINGS)):
        at = read(plan, coupling_row(plan, i) + f.COUPLING_BIAS)
        if at:
            bias = load(lane, ws, at)
            least = smaller(least, smaller(bias, -bias))
    return least


@couplings_only(otherwise=lambda lane, quads, ws, at, u: u)
def add_factors(lane, quads, ws, at, u):
    """Add the factors of a hinge's coordinate to U of some columns [B 35]."""
    return u + load(quads, ws, at)


# ---- for the dense method -------------------------------------------------------------------------------------------------
@couplings_only
def coupling_jacobian(lane, plan, pars, ws, at):
    """Rows of the couplings in the Jacobian at `at`, nv numbers for each multiplier."""
    nv, v = read(plan, f.NV), read(plan, f.WS_X) + read(plan, f.NQ)
    for i in range(read(plan, f.N_COUPLINGS)):
        row = coupling_row(plan, i)
        first, to = read(plan, row + f.COUPLING_FIRST), read(plan, row + f.COUPLING_MULTIPLIER) - read(plan, f.WS_MULTIPLIERS)
        for j in range(first, first + read(plan, row + f.COUPLING_TERMS)*(read(plan, row + f.COUPLING_MULTIPLIER) > 0)):
            c = read(plan, row + f.COUPLING_ACTS)*factor_of(plan, pars, j)
            store(lane, ws, at + nv*to + read(plan, coupled_row(plan, j) + f.COUPLED_V) - v, zero(lane) + c)


@couplings_only
def balance_couplings(lane, plan, ws, sign):
    """Add the biases of couplings, times a sign, to the places of their multipliers."""
    for i in range(read(plan, f.N_COUPLINGS)):
        row = coupling_row(plan, i)
        if read(plan, row + f.COUPLING_MULTIPLIER) == 0:
            continue
        accumulate(lane, ws, read(plan, row + f.COUPLING_MULTIPLIER), sign*load(lane, ws, read(plan, row + f.COUPLING_BIAS)))


@couplings_only(otherwise=lambda lane, plan, i: 0)
def coupling_place(lane, plan, i):
    """Row of a coupling among the multipliers; negative if it is elastic and has none."""
    return read(plan, coupling_row(plan, i) + f.COUPLING_MULTIPLIER) - read(plan, f.WS_MULTIPLIERS)


@couplings_only(otherwise=lambda lane, plan: 0)
def n_couplings(lane, plan):
    return read(plan, f.N_COUPLINGS)
