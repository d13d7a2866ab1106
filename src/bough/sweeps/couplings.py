"""Couplings in the three sweeps: a linear relation of coordinates is one more row of the fronts [B 35].

    phi = sum c_i q_i - offset,   phi'' = sum c_i v_i' = 0

Its multiplier lambda is a force c_i lambda along each coordinate.  The column of a coupling starts with K = 0 at its outermost
coordinates; a hinge whose coordinate it has answers with

    U = H K^T + c_i

and all that follows is that of any other column.  Where such a coordinate is held, c_i times its given acceleration is part of k.

One that gives way is a force; in implicit methods it acts as it is at the end of the stage, with S = g C + g^2 K:

    force = preload - K (c.(q^ + g v^) - offset) - C c.v^ + mu,    mu = -S c.a

which is the row  sqrt(S) c.a + mu' = 0,  mu = sqrt(S) mu',  of the fronts: one more on its diagonal [B 30] [B 38].
"""
from bough.kernels.jit import leaf
from bough.kernels.lanes import accumulate, couplings_only, implicit_only, load, read, smaller, sqrt, store, where_positive, zero
from bough.sweeps import fields as f
from bough.sweeps.implicit import implicit_distance, implicit_place

APART = 2                           # side of elastic teeth in a run, between their flanks
COMPLIANCE, ROOT = 1, 2             # behind the multiplier of a coupling: what is added to its diagonal, and sqrt(S)


@leaf
def coupling_row(plan, i):
    return read(plan, f.COUPLINGS) + i*f.COUPLING_ROW


@leaf
def coupled_row(plan, j):
    return read(plan, f.COUPLED) + j*f.COUPLED_ROW


@leaf
def factor_of(plan, pars, j):
    """What the coupled coordinate j is multiplied by."""
    return read(pars, read(plan, f.PAR_COUPLED) + j*f.COUPLED_PARS + f.COUPLED_FACTOR)


@leaf
def assemble_coupling(lane, plan, pars, ws, i, shift):
    """The row of one coupling: its factors to where the hinges keep U, which is zero elsewhere; its bias [B 35] [JSC 4.16].  Its
    rank does not depend on the gap, which therefore does not count in the judgment of its pivot."""
    row, first, weights = coupling_row(plan, i), read(plan, coupling_row(plan, i) + f.COUPLING_FIRST), read(plan, f.WS_CLOSURE)
    p, acts = read(plan, f.PAR_COUPLINGS) + i*f.COUPLING_PARS, read(plan, row + f.COUPLING_ACTS)
    gap = zero(lane) - read(pars, p + f.COUPLING_OFFSET) - read(plan, row + f.COUPLING_SIDE)*read(pars, p + f.COUPLING_PLAY)
    rate, gamma, weight = zero(lane), zero(lane), acts + root_of(lane, plan, ws, row)
    for j in range(first, first + read(plan, row + f.COUPLING_TERMS)):
        term, c = coupled_row(plan, j), weight*factor_of(plan, pars, j)
        gap = gap + c*load(lane, ws, read(plan, term + f.COUPLED_Q))
        rate = rate + c*load(lane, ws, read(plan, term + f.COUPLED_V) + shift)
        if read(plan, term + f.COUPLED_GIVEN):
            gamma = gamma + c*load(lane, ws, read(plan, term + f.COUPLED_GIVEN))
        store(lane, ws, read(plan, term + f.COUPLED_U), zero(lane) + c)
    bias = acts*(load(lane, ws, weights + f.CLOSURE_SPEED)*rate + load(lane, ws, weights + f.CLOSURE_POSITION)*gap)
    store(lane, ws, read(plan, row + f.COUPLING_BIAS), load(lane, ws, weights + f.CLOSURE_ACCELERATION)*gamma + bias)
    store(lane, ws, read(plan, row + f.COUPLING_MULTIPLIER), zero(lane))


def assemble_couplings(lane, plan, pars, ws, shift):
    """The rows of all couplings, after the fronts are cleared."""
    for i in range(read(plan, f.N_COUPLINGS)):
        if read(plan, coupling_row(plan, i) + f.COUPLING_MULTIPLIER):
            assemble_coupling(lane, plan, pars, ws, i, shift)


couplings_only(assemble_couplings, lambda lane, plan, pars, ws, shift: None)


@leaf
def relation_of(lane, plan, pars, ws, i):
    """How far a coupling is from its offset, and how fast it goes; in implicit methods as far as that is known."""
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
    """How far a coupling is beyond its play, and 1 if it touches.  Where a run knows its side, it is as smooth as it is there: what
    a step beyond its end would see does not count."""
    nothing, one = zero(lane), zero(lane) + 1.0
    if side == APART:
        return nothing, nothing
    if side != 0:
        return gap - side*play, one
    above, below = gap - play, gap + play
    beyond = where_positive(above, above, where_positive(-below, below, nothing))
    return beyond, where_positive(beyond*beyond, one, where_positive(nothing + play, nothing, one))


def apply_couplings(lane, plan, pars, ws):
    """The forces of couplings that give way, and preloads: preload - stiffness beyond play - damping there [B 38]."""
    for i in range(read(plan, f.N_COUPLINGS)):
        row, p = coupling_row(plan, i), read(plan, f.PAR_COUPLINGS) + i*f.COUPLING_PARS
        gap, rate = relation_of(lane, plan, pars, ws, i)
        first = read(plan, row + f.COUPLING_FIRST)
        beyond, touches = beyond_play(lane, gap, read(pars, p + f.COUPLING_PLAY), read(plan, row + f.COUPLING_SIDE))
        force = (zero(lane) + read(pars, p + f.COUPLING_PRELOAD) - read(pars, p + f.COUPLING_STIFFNESS)*beyond
                 - read(pars, p + f.COUPLING_DAMPING)*touches*rate)
        for j in range(first, first + read(plan, row + f.COUPLING_TERMS)):
            accumulate(lane, ws, read(plan, coupled_row(plan, j) + f.COUPLED_TAU), factor_of(plan, pars, j)*force)
        give_way_implicitly(lane, plan, pars, ws, i, touches)


couplings_only(apply_couplings, lambda lane, plan, pars, ws: None)


def give_way_implicitly(lane, plan, pars, ws, i, touches):
    """Of a coupling that gives way: sqrt(S), where it does not have play, and the diagonal of its row [B 30]."""
    at, p = read(plan, coupling_row(plan, i) + f.COUPLING_MULTIPLIER), read(plan, f.PAR_COUPLINGS) + i*f.COUPLING_PARS
    K, head = read(pars, p + f.COUPLING_STIFFNESS), read(plan, f.WS_IMPLICIT)
    if at:
        S = (load(lane, ws, head + f.IMPLICIT_RATE)*read(pars, p + f.COUPLING_DAMPING)
             + load(lane, ws, head + f.IMPLICIT_PLACE)*K)*touches
        gives = 1.0 if K > 0.0 else 0.0
        store(lane, ws, at + ROOT, gives*sqrt(S))
        store(lane, ws, at + COMPLIANCE, zero(lane) + gives)


implicit_only(give_way_implicitly, lambda lane, plan, pars, ws, i, touches: None)


def root_of(lane, plan, ws, row):
    """sqrt(S) of a coupling, 0 of one that does not give way."""
    return load(lane, ws, read(plan, row + f.COUPLING_MULTIPLIER) + ROOT)


implicit_only(root_of, lambda lane, plan, ws, row: 0.0)


def add_compliance(lane, ws, multiplier, rows, diagonal):
    """On the diagonal of a row that gives way."""
    if rows == 1:
        accumulate(lane, ws, diagonal, load(lane, ws, multiplier + COMPLIANCE))


def no_compliance(lane, ws, multiplier, rows, diagonal):
    pass


implicit_only(add_compliance, no_compliance)


def store_contacts(lane, plan, ws):
    """The multipliers of couplings with play, into the states that runs watch."""
    for i in range(read(plan, f.N_COUPLINGS)):
        row = coupling_row(plan, i)
        if read(plan, row + f.COUPLING_STATE):
            store(lane, ws, read(plan, row + f.COUPLING_STATE), load(lane, ws, read(plan, row + f.COUPLING_MULTIPLIER)))


couplings_only(store_contacts, lambda lane, plan, ws: None)


def least_coupling_bias(lane, plan, ws, least):
    """The smallest of a number and minus the size of each coupling's bias."""
    for i in range(read(plan, f.N_COUPLINGS)):
        at = read(plan, coupling_row(plan, i) + f.COUPLING_BIAS)
        if at:
            bias = load(lane, ws, at)
            least = smaller(least, smaller(bias, -bias))
    return least


couplings_only(least_coupling_bias, lambda lane, plan, ws, least: least)


def add_factors(lane, quads, ws, at, u):
    """U of some columns at a hinge, with what its coordinate is multiplied by in them [B 35]."""
    return u + load(quads, ws, at)


couplings_only(add_factors, lambda lane, quads, ws, at, u: u)


# ---- for the dense method -------------------------------------------------------------------------------------------------
def coupling_jacobian(lane, plan, pars, ws, at):
    """The rows of couplings in a Jacobian of nv numbers for each multiplier from `at` on."""
    nv, v = read(plan, f.NV), read(plan, f.WS_X) + read(plan, f.NQ)
    for i in range(read(plan, f.N_COUPLINGS)):
        row = coupling_row(plan, i)
        first, to = read(plan, row + f.COUPLING_FIRST), read(plan, row + f.COUPLING_MULTIPLIER) - read(plan, f.WS_MULTIPLIERS)
        for j in range(first, first + read(plan, row + f.COUPLING_TERMS)*(read(plan, row + f.COUPLING_MULTIPLIER) > 0)):
            c = read(plan, row + f.COUPLING_ACTS)*factor_of(plan, pars, j)
            store(lane, ws, at + nv*to + read(plan, coupled_row(plan, j) + f.COUPLED_V) - v, zero(lane) + c)


couplings_only(coupling_jacobian, lambda lane, plan, pars, ws, at: None)


def balance_couplings(lane, plan, ws, sign):
    """The biases of couplings, times a sign, added to the places of their multipliers."""
    for i in range(read(plan, f.N_COUPLINGS)):
        row = coupling_row(plan, i)
        if read(plan, row + f.COUPLING_MULTIPLIER) == 0:
            continue
        accumulate(lane, ws, read(plan, row + f.COUPLING_MULTIPLIER), sign*load(lane, ws, read(plan, row + f.COUPLING_BIAS)))


couplings_only(balance_couplings, lambda lane, plan, ws, sign: None)


def coupling_place(lane, plan, i):
    """Where the row of a coupling is among the multipliers; negative: it gives way and has none."""
    return read(plan, coupling_row(plan, i) + f.COUPLING_MULTIPLIER) - read(plan, f.WS_MULTIPLIERS)


def n_couplings(lane, plan):
    return read(plan, f.N_COUPLINGS)


couplings_only(coupling_place, lambda lane, plan, i: 0)
couplings_only(n_couplings, lambda lane, plan: 0)
