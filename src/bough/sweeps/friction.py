"""Friction of coordinates and wheels, and what holds a coordinate at rest [B 36].

    dry force    F = coulomb + load + (static - coulomb) exp(-(v/stribeck)^2)
    slides       - s F - viscous v,  s = 1 or -1, fixed between the events that a run finds
    smooth       s = v/sqrt(v^2 + speed^2)
    bristles     F is a state: F' = stiffness (v - |v| F/coulomb)

A coordinate that friction holds is a weld to the sweeps.  What holds it is the share along its axis e of the wrench through its
hinge, less the other forces along it [B 37]:

    P e and nu = tau - e.z are kept on the way inward,   force = (P e).A - nu - U lambda on the way outward
"""
from bough.kernels.algebra import axis_z, dot, rotate, spatial_dot, sym_times, unrotate
from bough.kernels.elementary import exponential
from bough.kernels.hinges import PRISMATIC, REVOLUTE, WELD
from bough.kernels.jit import leaf
from bough.kernels.lanes import (accumulate, friction_only, load, load9, load_spatial, read, smaller, sqrt, store, where_positive,
                                 zero)
from bough.sweeps import fields as f
from bough.sweeps.motion import hinge_row


@leaf
def friction_row(plan, j):
    return read(plan, f.FRICTIONS) + j*f.FRICTION_ROW


@leaf
def dry_force(lane, plan, pars, ws, j, v):
    """How large dry friction can be at a speed, with the load of the joint that was found last [B 36]."""
    row, p = friction_row(plan, j), read(plan, f.PAR_FRICTIONS) + j*f.FRICTION_PARS
    at, over = read(plan, row + f.FRICTION_WS) + f.FRICTION_FORCE, read(pars, p + f.OVER_STRIBECK)
    force = read(pars, p + f.COULOMB) + read(pars, p + f.LOAD_FACTOR)*load(lane, ws, at - f.FRICTION_FORCE + f.FRICTION_LOAD)
    ratio = over*v
    store(lane, ws, at, zero(lane) - ratio*ratio)
    more = read(pars, p + f.STATIC_MORE)*exponential(lane, ws, at)
    return force + where_positive(zero(lane) + over, more, zero(lane))


@leaf
def direction_of(lane, plan, pars, ws, j, v):
    """s in [-1, 1] [B 36]."""
    row, p = friction_row(plan, j), read(plan, f.PAR_FRICTIONS) + j*f.FRICTION_PARS
    one, sign = zero(lane) + 1.0, read(plan, row + f.FRICTION_SIGN)
    if read(plan, row + f.FRICTION_LAW) == f.SMOOTH:
        speed = read(pars, p + f.SMOOTH_SPEED)
        return v/sqrt(v*v + speed*speed)
    if sign != 0:
        return one*sign
    return where_positive(v, one, where_positive(-v, -one, zero(lane)))


@leaf
def apply_friction(lane, plan, pars, ws, j):
    """Friction of one coordinate or wheel into its torque; in runs, the rates of its state and of what it takes [B 36]."""
    row, p = friction_row(plan, j), read(plan, f.PAR_FRICTIONS) + j*f.FRICTION_PARS
    v, state, rate = (load(lane, ws, read(plan, row + f.FRICTION_V)), read(plan, row + f.FRICTION_STATE),
                      read(plan, row + f.FRICTION_RATE))
    force = zero(lane)
    if read(plan, row + f.FRICTION_LAW) == f.BRISTLES:
        if state:
            force, coulomb = load(lane, ws, state), read(pars, p + f.COULOMB)
            size = where_positive(v, v, -v)
            store(lane, ws, rate, read(pars, p + f.BRISTLE)*(v - size*force/coulomb))
    elif read(plan, row + f.FRICTION_ACTS):
        force = direction_of(lane, plan, pars, ws, j, v)*dry_force(lane, plan, pars, ws, j, v)
    force = force + read(pars, p + f.VISCOUS)*v
    if state:
        store(lane, ws, rate + 2, force*v)
    accumulate(lane, ws, read(plan, row + f.FRICTION_TAU), -force)


def apply_frictions(lane, plan, pars, ws):
    """All friction, added to u.  Loads of joints are sought from zero, not from what was left here: an answer depends on its state
    alone, not on the states before it."""
    for j in range(read(plan, f.N_FRICTIONS)):
        store(lane, ws, read(plan, friction_row(plan, j) + f.FRICTION_WS) + f.FRICTION_LOAD, zero(lane))
        apply_friction(lane, plan, pars, ws, j)


friction_only(apply_frictions, lambda lane, plan, pars, ws: None)


# ---- the load of a joint ------------------------------------------------------------------------------------------------------
LOADED_PASSES = 60              # at most, until the load that friction depends on is that which it leaves
SETTLED = 1e-13                 # of the friction: a change that is none


def loaded_passes(lane, plan):
    """How often accelerations are found at most: more than once where friction depends on them."""
    if read(plan, f.N_LOADED):
        return LOADED_PASSES
    return 1


friction_only(loaded_passes, lambda lane, plan: 1)


def update_loads(lane, plan, pars, ws, moving):
    """Loads of joints from the wrenches through them, which are in the records, and friction with them, in the lanes in which
    `moving` is positive; 1 in those of them in which friction has changed, 0 elsewhere."""
    changed = zero(lane)
    for j in range(read(plan, f.N_FRICTIONS)):
        row, p = friction_row(plan, j), read(plan, f.PAR_FRICTIONS) + j*f.FRICTION_PARS
        hinge, at, v = (hinge_row(plan, read(plan, row + f.FRICTION_HINGE)), read(plan, row + f.FRICTION_WS) + f.FRICTION_LOAD,
                        load(lane, ws, read(plan, row + f.FRICTION_V)))
        if read(pars, p + f.LOAD_FACTOR) == 0.0:
            continue
        record = read(plan, hinge + f.RECORD)
        _, push = load_spatial(lane, ws, record + f.ACCELERATION)
        square = dot(push, push)
        if read(plan, hinge + f.KIND) == PRISMATIC:
            along = dot(push, axis_z(load9(lane, ws, record + f.ATTITUDE)))
            square = square - along*along
        new = where_positive(moving, sqrt(where_positive(square, square, zero(lane))), load(lane, ws, at))
        force = direction_of(lane, plan, pars, ws, j, v)*read(pars, p + f.LOAD_FACTOR)*(new - load(lane, ws, at))
        store(lane, ws, at, new)
        if read(plan, row + f.FRICTION_ACTS):
            accumulate(lane, ws, read(plan, row + f.FRICTION_TAU), -force)
            if read(plan, row + f.FRICTION_STATE):
                accumulate(lane, ws, read(plan, row + f.FRICTION_RATE) + 2, force*v)
            limit = SETTLED*(read(pars, p + f.COULOMB) + read(pars, p + f.LOAD_FACTOR)*new)
            changed = where_positive(-smaller(limit - force, limit + force), moving, changed)
    return changed


friction_only(update_loads, lambda lane, plan, pars, ws, moving: zero(lane))


# ---- what holds a coordinate --------------------------------------------------------------------------------------------------
def keep_hold(lane, plan, ws, row, C, P, z):
    """At a hinge of one degree of freedom that is held: P e and tau - e.z, for the way outward [B 37]."""
    kind, gain = read(plan, row + f.KIND), read(plan, row + f.RECORD) + f.GAIN
    if read(plan, row + f.SOLVED) == WELD and (kind == REVOLUTE or kind == PRISMATIC):
        e, (J, H, M), (n, force) = axis_z(C), P, z
        if kind == REVOLUTE:
            store(lane, ws, gain, (sym_times(J, e), unrotate(H, e)))
            store(lane, ws, gain + 6, load(lane, ws, read(plan, row + f.TAU)) - dot(e, n))
        else:
            store(lane, ws, gain, (rotate(H, e), sym_times(M, e)))
            store(lane, ws, gain + 6, load(lane, ws, read(plan, row + f.TAU)) - dot(e, force))


friction_only(keep_hold, lambda lane, plan, ws, row, C, P, z: None)


def find_hold(lane, plan, ws, row, A):
    """What holds a hinge whose body moves with A, in the place of 1/D, which it does not have; but for the forces of loops."""
    kind, gain = read(plan, row + f.KIND), read(plan, row + f.RECORD) + f.GAIN
    if read(plan, row + f.SOLVED) == WELD and (kind == REVOLUTE or kind == PRISMATIC):
        store(lane, ws, gain + 7, spatial_dot(load_spatial(lane, ws, gain), A) - load(lane, ws, gain + 6))


friction_only(find_hold, lambda lane, plan, ws, row, A: None)


def store_holds(lane, plan, ws):
    """What friction holds, into the states that runs watch."""
    for j in range(read(plan, f.N_FRICTIONS)):
        row = friction_row(plan, j)
        k, state = read(plan, row + f.FRICTION_HINGE), read(plan, row + f.FRICTION_STATE)
        if state and k and read(plan, row + f.FRICTION_LAW) == f.SLIDES:
            hinge, force = hinge_row(plan, k), zero(lane)
            if read(plan, hinge + f.SOLVED) == WELD:
                force = load(lane, ws, read(plan, hinge + f.RECORD) + f.GAIN + 7)
            store(lane, ws, state, force)
            store(lane, ws, state + 1, load(lane, ws, read(plan, row + f.FRICTION_WS) + f.FRICTION_LOAD))


friction_only(store_holds, lambda lane, plan, ws: None)
