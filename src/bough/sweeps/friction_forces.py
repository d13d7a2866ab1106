"""Friction of coordinates and wheels, and the force that holds a stuck coordinate [B 36].

    dry force    F = coulomb + load + (static - coulomb) exp(-(v/stribeck)^2)
    slides       - s F - viscous v,  s = 1 or -1, constant between the events of a run
    smooth       s = v/sqrt(v^2 + speed^2)
    peaked       - [sqrt(e) (static - coulomb) x exp(-x^2/2) + coulomb tanh(10 x)] - viscous v,  x = v/stribeck
    bristles     F is a state: F' = stiffness (v - |v| F/coulomb)

The sweeps treat a stuck coordinate as a weld.  The holding force is the component along its axis e of the wrench through its
hinge, less the other forces along it [B 37]:

    inward: store P e and nu = tau - e.z,   outward: force = (P e).A - nu - U lambda
"""
from bough.kernels.algebra import axis_z, dot, exponential, rotate, spatial_dot, sym_times, unrotate
from bough.kernels.hinges import PRISMATIC, REVOLUTE, WELD
from bough.kernels.jit import leaf
from bough.kernels.lanes import (accumulate, friction_only, implicit_only, load, load9, load_spatial, read, smaller, sqrt, store,
                                 where_positive, zero)
from bough.sweeps import fields as f
from bough.sweeps.implicit import implicit_distance
from bough.sweeps.tree_motion import hinge_row

ROOT_E = 1.6487212707001282     # sqrt(e): the peak, at the Stribeck speed, is then static - coulomb
TINY = 1e-3                     # below this, tanh(y)/y = 1 - y^2/3 to rounding


@leaf
def friction_row(plan, j):
    return read(plan, f.FRICTIONS) + j*f.FRICTION_ROW


@leaf
def dry_force(lane, plan, pars, ws, j, v):
    """Magnitude of dry friction at a speed, with the joint load found last [B 36]."""
    row, p = friction_row(plan, j), read(plan, f.PAR_FRICTIONS) + j*f.FRICTION_PARS
    at, over = read(plan, row + f.FRICTION_WS) + f.FRICTION_FORCE, read(pars, p + f.OVER_STRIBECK)
    force = read(pars, p + f.COULOMB) + read(pars, p + f.LOAD_FACTOR)*load(lane, ws, at - f.FRICTION_FORCE + f.FRICTION_LOAD)
    ratio = over*v
    store(lane, ws, at, zero(lane) - ratio*ratio)
    more = read(pars, p + f.STATIC_MORE)*exponential(lane, ws, at)
    return force + where_positive(zero(lane) + over, more, zero(lane))


@leaf
def sign_of(lane, plan, row, v):
    """Direction of sliding: as marked, or, without a mark, that of the speed."""
    one, sign = zero(lane) + 1.0, read(plan, row + f.FRICTION_SIGN)
    if sign != 0:
        return one*sign
    return where_positive(v, one, where_positive(-v, -one, zero(lane)))


@leaf
def over_speed(lane, plan, pars, j, v):
    """1/sqrt(v^2 + speed^2): s/v of the smooth law [B 36]."""
    speed = read(pars, read(plan, f.PAR_FRICTIONS) + j*f.FRICTION_PARS + f.SMOOTH_SPEED)
    return 1.0/sqrt(v*v + speed*speed)


@leaf
def stribeck_drag(lane, plan, pars, ws, j, v):
    """Basilisk's dry friction divided by speed: sqrt(e) (static - coulomb)/vs exp(-x^2/2) + coulomb tanh(10 x)/v, x = v/vs
    [B 36]."""
    row, p = friction_row(plan, j), read(plan, f.PAR_FRICTIONS) + j*f.FRICTION_PARS
    at, over = read(plan, row + f.FRICTION_WS) + f.FRICTION_FORCE, read(pars, p + f.OVER_STRIBECK)
    x, y = over*v, 10.0*over*where_positive(v, v, -v)
    store(lane, ws, at, zero(lane) - 0.5*x*x)
    peak = ROOT_E*read(pars, p + f.STATIC_MORE)*over*exponential(lane, ws, at)
    store(lane, ws, at, zero(lane) - 2.0*y)
    e = exponential(lane, ws, at)
    near = y - TINY
    ratio = where_positive(near, (1.0 - e)/((1.0 + e)*where_positive(near, y, zero(lane) + 1.0)), 1.0 - y*y*(1.0/3.0))
    return peak + read(pars, p + f.COULOMB)*10.0*over*ratio


@leaf
def apply_friction(lane, plan, pars, ws, j):
    """Add the friction of one coordinate or wheel to its torque, as a force and a drag times speed; in runs, also the rates of
    its state and of its dissipation [B 36]."""
    row, p = friction_row(plan, j), read(plan, f.PAR_FRICTIONS) + j*f.FRICTION_PARS
    law, v = read(plan, row + f.FRICTION_LAW), load(lane, ws, read(plan, row + f.FRICTION_V))
    state, rate = read(plan, row + f.FRICTION_STATE), read(plan, row + f.FRICTION_RATE)
    force, drag = zero(lane), zero(lane) + read(pars, p + f.VISCOUS)
    if law == f.BRISTLES:
        if state:
            force, coulomb = load(lane, ws, state), read(pars, p + f.COULOMB)
            size = where_positive(v, v, -v)
            store(lane, ws, rate, read(pars, p + f.BRISTLE)*(v - size*force/coulomb))
    elif law == f.SMOOTH:
        drag = drag + dry_force(lane, plan, pars, ws, j, v)*over_speed(lane, plan, pars, j, v)
    elif law == f.PEAKED:
        drag = drag + stribeck_drag(lane, plan, pars, ws, j, v)
    elif read(plan, row + f.FRICTION_ACTS):
        force = sign_of(lane, plan, row, v)*dry_force(lane, plan, pars, ws, j, v)
    force = force + drag*v
    if state:
        store(lane, ws, rate + 2, force*v)
    accumulate(lane, ws, read(plan, row + f.FRICTION_TAU), -force)
    drag_implicitly(lane, plan, ws, row, drag, v)


@implicit_only
def drag_implicitly(lane, plan, ws, row, drag, v):
    """For a joint: the drag coefficient is that of the state, the speed that at the end of the stage [B 30]."""
    if read(plan, row + f.FRICTION_HINGE):
        tau, at = read(plan, row + f.FRICTION_TAU), read(plan, f.WS_IMPLICIT)
        known = load(lane, ws, read(plan, row + f.FRICTION_V) + implicit_distance(lane, plan))
        accumulate(lane, ws, tau, drag*(v - known))
        accumulate(lane, ws, at + f.IMPLICIT_SIZE + tau - read(plan, f.WS_U), load(lane, ws, at + f.IMPLICIT_RATE)*drag)


@friction_only
def apply_frictions(lane, plan, pars, ws):
    """Add all friction to u.  Joint loads are iterated from zero, not from the last values in ws, so that a result depends on its
    state alone."""
    for j in range(read(plan, f.N_FRICTIONS)):
        store(lane, ws, read(plan, friction_row(plan, j) + f.FRICTION_WS) + f.FRICTION_LOAD, zero(lane))
        apply_friction(lane, plan, pars, ws, j)


# ---- friction proportional to the load of a joint -----------------------------------------------------------------------------
LOADED_PASSES = 60              # limit of the fixed-point iteration for load-dependent friction
SETTLED = 1e-13                 # relative change of friction at which it has converged


@friction_only(otherwise=lambda lane, plan: 1)
def loaded_passes(lane, plan):
    """Maximum number of solutions for the accelerations: more than one if friction depends on them."""
    if read(plan, f.N_LOADED):
        return LOADED_PASSES
    return 1


@friction_only(otherwise=lambda lane, plan, pars, ws, moving: zero(lane))
def update_loads(lane, plan, pars, ws, moving):
    """Joint loads from the wrenches in the records, and friction from these, in the lanes where `moving` is positive.  Returns 1
    in those lanes where friction has changed, else 0."""
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
        force, drag = read(pars, p + f.LOAD_FACTOR)*(new - load(lane, ws, at)), zero(lane)
        if read(plan, row + f.FRICTION_LAW) == f.SMOOTH:
            drag = force*over_speed(lane, plan, pars, j, v)
            force = drag*v
        else:
            force = sign_of(lane, plan, row, v)*force
        store(lane, ws, at, new)
        if read(plan, row + f.FRICTION_ACTS):
            drag_implicitly(lane, plan, ws, row, drag, v)
            accumulate(lane, ws, read(plan, row + f.FRICTION_TAU), -force)
            if read(plan, row + f.FRICTION_STATE):
                accumulate(lane, ws, read(plan, row + f.FRICTION_RATE) + 2, force*v)
            limit = SETTLED*(read(pars, p + f.COULOMB) + read(pars, p + f.LOAD_FACTOR)*new)
            changed = where_positive(-smaller(limit - force, limit + force), moving, changed)
    return changed


# ---- the force that holds a stuck coordinate ----------------------------------------------------------------------------------
@leaf
def is_stuck(plan, row):
    """Whether a hinge of one degree of freedom is solved as a weld."""
    kind = read(plan, row + f.KIND)
    return read(plan, row + f.SOLVED) == WELD and (kind == REVOLUTE or kind == PRISMATIC)


@friction_only
def store_holding_gain(lane, plan, ws, row, C, P, z):
    """Stuck hinge: store P e and tau - e.z for the outward sweep [B 37]."""
    if is_stuck(plan, row):
        gain, e, (J, H, M), (n, force) = read(plan, row + f.RECORD) + f.GAIN, axis_z(C), P, z
        turns, tau = read(plan, row + f.KIND) == REVOLUTE, load(lane, ws, read(plan, row + f.TAU))
        store(lane, ws, gain, (sym_times(J, e), unrotate(H, e)) if turns else (rotate(H, e), sym_times(M, e)))
        store(lane, ws, gain + 6, tau - dot(e, n if turns else force))


@friction_only
def find_holding_force(lane, plan, ws, row, A):
    """Holding force of a stuck hinge whose body has acceleration A, without the forces of loops; stored in place of 1/D, which
    such a hinge does not have."""
    if is_stuck(plan, row):
        gain = read(plan, row + f.RECORD) + f.GAIN
        store(lane, ws, gain + 7, spatial_dot(load_spatial(lane, ws, gain), A) - load(lane, ws, gain + 6))


@friction_only
def store_holding_forces(lane, plan, ws):
    """Store the holding forces of friction in the states watched by runs."""
    for j in range(read(plan, f.N_FRICTIONS)):
        row = friction_row(plan, j)
        k, state = read(plan, row + f.FRICTION_HINGE), read(plan, row + f.FRICTION_STATE)
        if state and k and read(plan, row + f.FRICTION_LAW) == f.SLIDES:
            hinge, force = hinge_row(plan, k), zero(lane)
            if read(plan, hinge + f.SOLVED) == WELD:
                force = load(lane, ws, read(plan, hinge + f.RECORD) + f.GAIN + 7)
            store(lane, ws, state, force)
            store(lane, ws, state + 1, load(lane, ws, read(plan, row + f.FRICTION_WS) + f.FRICTION_LOAD))
