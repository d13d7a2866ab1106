"""Propellant flow: mass that changes with the state, thrust, and the effects of flow inside a body [B 87-90].

    m         propellant in the tank, a state: m' = -c           c      mass flow through the nozzle
    m_b h J   mass, first moment and inertia of a body of it, cubics in m; their rates are (m_b)' = -c dm_b/dm, ...
    r_x, c_x  exits of propellant from the body, and flow through them: nozzle, or the joint on which it turns; the sloshing mass
    p         momentum of the flow in the body, p = h' + sum c_x r_x [B 88];   H = r_c x p about the body's origin

The body's inertia is the current one; in addition there act, about its origin, with relative speeds w_x at the exits [B 89]

    force     - 2 omega x p - sum c_x w_x
    moment    - J' omega - sum c_x r_x x (omega x r_x) - omega x H - sum r_x x c_x w_x

which are thrust and jet damping.  The rate of p relative to the body is neglected: valves, pumps, water hammer.
"""
from math import nan

from bough.kernels.algebra import ZERO, cross, dot, rotate, rotate_sym, shift_wrench, sym_times
from bough.kernels.jit import leaf
from bough.kernels.lanes import (accumulate, add, get_lane, inverse_above, load, load3, load6, load9, load_spatial, noinline,
                                 put_lane, read, read3, scale, sqrt, store, sub, tanks_only, where_positive, width_of, zero)
from bough.kernels.linker import sweep
from bough.sweeps import fields as f
from bough.sweeps.closures import motion_relative_to
from bough.sweeps.held import last_start
from bough.sweeps.tree_motion import hinge_row, load_motion, record_of

FIXED, COLUMNS = 10, 22                 # properties of the fixed propellant; with those of the sloshing mass
ON_TANK, ON_SLOSH, ON_NOZZLE = 0, 12, 24        # in TANK_ACTS


@leaf
def tank_row(plan, j):
    return read(plan, f.TANKS) + j*f.TANK_ROW


# ---- mass ---------------------------------------------------------------------------------------------------------------
@sweep(features=(), needs="tanks")
def fill_masses(lane, plan, tables, ws):
    """Properties of the propellant of each tank, and their slopes, from its mass [B 87]."""
    noinline()
    for j in range(read(plan, f.N_TANKS)):
        row = tank_row(plan, j)
        n, to, first = read(plan, row + f.TANK_COLUMNS), read(plan, row + f.TANK_WS), read(plan, row + f.TANK_AT)
        for i in range(width_of(lane)):
            m = get_lane(lane, ws, read(plan, row + f.TANK_MASS), i)
            piece = last_start(tables, first, 1 + 4*n, read(plan, row + f.TANK_PIECES), m)
            s = m - read(tables, piece)
            for k in range(n):
                c = piece + 1 + 4*k
                put_lane(lane, ws, to + k, i, read(tables, c) + s*(read(tables, c + 1) + s*(read(tables, c + 2)
                                                                                           + s*read(tables, c + 3))))
                put_lane(lane, ws, to + f.TANK_SLOPES + k, i, read(tables, c + 1) + s*(2.0*read(tables, c + 2)
                                                                                       + 3.0*s*read(tables, c + 3)))


@tanks_only(otherwise=lambda lane, plan, pars, ws: read(pars, f.TOTAL_MASS))
def total_mass(lane, plan, pars, ws):
    """Mass of all bodies, with the current propellant [B 87]."""
    m = zero(lane) + read(pars, f.TOTAL_MASS)
    for j in range(read(plan, f.N_TANKS)):
        described = read(pars, read(plan, f.PAR_TANKS) + j*f.TANK_PARS + f.DESCRIBED)
        m = m + (load(lane, ws, read(plan, tank_row(plan, j) + f.TANK_MASS)) - described)
    return m


@tanks_only
def set_masses(lane, plan, tables, ws):
    """Evaluate the tanks; before anything reads the mass of a body."""
    if read(plan, f.N_TANKS):
        fill_masses(lane, plan, tables, ws)


# ---- slosh ---------------------------------------------------------------------------------------------------------
@leaf
def slosh_hinges(plan, row):
    """The two hinges of a sloshing mass, along its coordinates."""
    outer = hinge_row(plan, read(plan, row + f.TANK_SLOSH))
    return outer, hinge_row(plan, read(plan, outer + f.INNER))


@tanks_only
def apply_slosh(lane, plan, ws):
    """Springs and dampers of the sloshing masses, along their two coordinates [B 92]."""
    for j in range(read(plan, f.N_TANKS)):
        row = tank_row(plan, j)
        at = read(plan, row + f.TANK_WS) + f.TANK_SLOSHING + FIXED
        if read(plan, row + f.TANK_SLOSH):
            stiffness, damping = load(lane, ws, at), load(lane, ws, at + 1)
            for hinge in slosh_hinges(plan, row):
                q, v = load(lane, ws, read(plan, hinge + f.Q)), load(lane, ws, read(plan, hinge + f.V))
                accumulate(lane, ws, read(plan, hinge + f.TAU), -(stiffness*q + damping*v))


@tanks_only(otherwise=lambda lane, plan, ws: zero(lane))
def slosh_energy(lane, plan, ws):
    """Energy in the springs of the sloshing masses."""
    energy = zero(lane)
    for j in range(read(plan, f.N_TANKS)):
        row = tank_row(plan, j)
        if read(plan, row + f.TANK_SLOSH):
            stiffness = load(lane, ws, read(plan, row + f.TANK_WS) + f.TANK_SLOSHING + FIXED)
            for hinge in slosh_hinges(plan, row):
                q = load(lane, ws, read(plan, hinge + f.Q))
                energy = energy + 0.5*stiffness*q*q
    return energy


# ---- effects of the flow -----------------------------------------------------------------------------------------------------
@tanks_only
def apply_tanks(lane, plan, pars, ws):
    """Add thrust and jet damping of all tanks to the slots of their bodies; rates of their masses."""
    if read(plan, f.N_TANKS):
        fill_tanks(lane, plan, pars, ws)


@sweep(features=("flexible",), needs="tanks")
def fill_tanks(lane, plan, pars, ws):
    noinline()
    for j in range(read(plan, f.N_TANKS)):
        row, p = tank_row(plan, j), read(plan, f.PAR_TANKS) + j*f.TANK_PARS
        c = flow_of(lane, plan, pars, ws, row, p)
        store(lane, ws, read(plan, row + f.TANK_RATE), -c)
        push_nozzle(lane, plan, pars, ws, row, p, c)
        act_on_tank(lane, plan, pars, ws, row, p, c)
    sum_exhaust(lane, plan, pars, ws)


@leaf
def flow_of(lane, plan, pars, ws, row, p):
    """Flow from a tank that is not empty; a flow below zero, beyond rounding, becomes NaN and ends the run."""
    flow = load(lane, ws, read(plan, row + f.TANK_FLOW))
    if read(plan, row + f.TANK_FEEDS) == 0:
        flow = zero(lane)
    return where_positive(flow, flow, where_positive(flow + read(pars, p + f.NO_FLOW), zero(lane), zero(lane) + nan))


@leaf
def act(lane, plan, ws, k, at, wrench, flow):
    """Add a wrench about the origin of body k to its slot; store it in ws with momentum and angular momentum of the flow in
    it."""
    slot = read(plan, hinge_row(plan, k) + f.SLOT)
    if slot:
        accumulate(lane, ws, slot, wrench)
    store(lane, ws, at, (wrench, flow))


@leaf
def push_nozzle(lane, plan, pars, ws, row, p, c):
    """Thrust; and the flow from the joint of a gimbaled nozzle to the nozzle: p = c r, J' = 0, H = 0 [B 89]."""
    k, to = read(plan, row + f.TANK_NOZZLE), read(plan, row + f.TANK_WS)
    C, omega, _ = load_motion(lane, ws, record_of(plan, k))
    thrust = c*read(pars, p + f.EXHAUST_SPEED)
    arm, force = rotate(C, read3(pars, p + f.NOZZLE_AT)), scale(thrust, rotate(C, read3(pars, p + f.NOZZLE_AXIS)))
    inside = zero(lane)
    if read(plan, row + f.TANK_GIMBAL):
        inside = inside + c
    momentum = scale(inside, arm)
    wrench = add(shift_wrench(arm, (ZERO, force)), (scale(-1.0, cross(arm, cross(omega, momentum))),
                                                     scale(-2.0, cross(omega, momentum))))
    act(lane, plan, ws, k, to + f.TANK_ACTS + ON_NOZZLE, wrench, (momentum, scale(0.0, arm)))
    store(lane, ws, to + f.TANK_FLOWS, (c, thrust))


@leaf
def act_on_tank(lane, plan, pars, ws, row, p, c):
    """Jet damping of the propellant fixed in the tank and of the sloshing mass, which exchange mass [B 89] [B 93]."""
    k, s, to = read(plan, row + f.TANK_HINGE), read(plan, row + f.TANK_SLOSH), read(plan, row + f.TANK_WS)
    C, omega, _ = load_motion(lane, ws, record_of(plan, k))
    out = rotate(C, read3(pars, p + f.TANK_EXIT))
    (moment, force), momentum = outflow(omega, c, out)
    if s:
        c_s = c*load(lane, ws, to + f.TANK_SLOPES + FIXED)                  # sloshing mass that becomes fixed
        y, w = slosh_to_tank(lane, plan, pars, ws, row, k, s, c, c_s)
        entry, change = outflow(omega, -c_s, y)
        taken = scale(where_positive(c_s, c_s, zero(lane)), w)
        moment, force = add((moment, force), add(entry, shift_wrench(y, (ZERO, taken))))
        momentum = add(momentum, change)
    inertia, about = changing(lane, ws, to, C, omega, c, momentum, read(pars, p + f.LEAST_FIXED))
    act(lane, plan, ws, k, to + f.TANK_ACTS + ON_TANK, add((moment, force), inertia), about)


@leaf
def outflow(omega, c, r):
    """Outflow at r without relative speed: moment -c r x (omega x r), and its contribution c r to p [B 88] [B 89]."""
    return (scale(-c, cross(r, cross(omega, r))), scale(0.0, r)), scale(c, r)


@leaf
def changing(lane, ws, at, C, omega, c, leaving, least):
    """For a body with properties at `at`: - J' omega - omega x H, - 2 omega x p; p and H.  `leaving`: sum c_x r_x."""
    slopes = at + f.TANK_SLOPES
    m, h = load(lane, ws, at), rotate(C, load3(lane, ws, at + 1))
    p = add(leaving, rotate(C, scale(-c, load3(lane, ws, slopes + 1))))
    H = scale(inverse_above(m, least), cross(h, p))
    turning = sym_times(rotate_sym(C, load6(lane, ws, slopes + 4)), omega)
    return (sub(scale(c, turning), cross(omega, H)), scale(-2.0, cross(omega, p))), (p, H)


@leaf
def slosh_to_tank(lane, plan, pars, ws, row, k, s, c, c_s):
    """Sloshing body s, which loses c_s to body k of its tank: its position and velocity relative to k.  What leaves it is at rest
    relative to s; what joins it (c_s < 0) has the velocity of the tank [B 93]."""
    to = read(plan, row + f.TANK_WS)
    at = to + f.TANK_SLOSHING
    C, omega, _ = load_motion(lane, ws, record_of(plan, s))
    r = scale(inverse_above(load(lane, ws, at), 0.0), rotate(C, load3(lane, ws, at + 1)))
    y, _, w = motion_relative_to(lane, plan, pars, ws, s, k, r, 0)
    wrench, momentum = outflow(omega, c_s, r)
    joined = scale(where_positive(c_s, zero(lane), c_s), w)
    inertia, about = changing(lane, ws, at, C, omega, c, momentum, 0.0)
    act(lane, plan, ws, s, to + f.TANK_ACTS + ON_SLOSH, add(add(wrench, shift_wrench(r, (ZERO, joined))), inertia), about)
    return y, w


# ---- the mass center -------------------------------------------------------------------------------------------------------
@tanks_only(otherwise=lambda lane, plan, pars, ws, m: (ZERO, ZERO))
def center_shift(lane, plan, pars, ws, m):
    """Motion of the system's mass center (mass m) not due to momentum: rates of momentum over mass, and of position [B 94]."""
    faster, moved = (zero(lane), zero(lane), zero(lane)), (zero(lane), zero(lane), zero(lane))
    for j in range(read(plan, f.N_TANKS)):
        row = tank_row(plan, j)
        k, s = read(plan, row + f.TANK_HINGE), read(plan, row + f.TANK_SLOSH)
        momentum, moment = mass_shift(lane, plan, pars, ws, row, k, f.TANK_FIXED)
        faster, moved = add(faster, momentum), add(moved, moment)
        if s:
            momentum, moment = mass_shift(lane, plan, pars, ws, row, s, f.TANK_SLOSHING)
            faster, moved = add(faster, momentum), add(moved, moment)
    return scale(1.0/m, faster), scale(1.0/m, moved)


@leaf
def mass_shift(lane, plan, pars, ws, row, k, part):
    """Contribution of body k with changing mass: m' v_O + omega x h', m' x_O + h', in the frame of the tree."""
    c, slopes = load(lane, ws, read(plan, row + f.TANK_WS) + f.TANK_FLOWS), read(plan, row + f.TANK_WS) + f.TANK_SLOPES + part
    C, omega, _ = load_motion(lane, ws, record_of(plan, k))
    m, h = -c*load(lane, ws, slopes), scale(-c, rotate(C, load3(lane, ws, slopes + 1)))
    x, _, v = motion_relative_to(lane, plan, pars, ws, k, 0, (zero(lane), zero(lane), zero(lane)), 0)
    return add(scale(m, v), cross(omega, h)), add(scale(m, x), h)


# ---- exhaust -----------------------------------------------------------------------------------------------------------------
@leaf
def sum_exhaust(lane, plan, pars, ws):
    """In runs: rates of the exhaust's momenta in the world and of its energy [B 91]; in orbit, about the attracting center."""
    to = read(plan, tank_row(plan, 0) + f.TANK_EXHAUST)
    if to:
        o = (zero(lane), zero(lane), zero(lane))
        store(lane, ws, to, ((o, o), zero(lane)))
        for j in range(read(plan, f.N_TANKS)):
            row = tank_row(plan, j)
            at, s = read(plan, row + f.TANK_WS), read(plan, row + f.TANK_SLOSH)
            add_exit(lane, plan, pars, ws, row, j, to)
            add_flow(lane, plan, pars, ws, read(plan, row + f.TANK_NOZZLE), at + f.TANK_ACTS + ON_NOZZLE, to)
            add_flow(lane, plan, pars, ws, read(plan, row + f.TANK_HINGE), at + f.TANK_ACTS + ON_TANK, to)
            add_mass(lane, plan, pars, ws, row, read(plan, row + f.TANK_HINGE), f.TANK_FIXED, to)
            if s:
                add_flow(lane, plan, pars, ws, s, at + f.TANK_ACTS + ON_SLOSH, to)
                add_mass(lane, plan, pars, ws, row, s, f.TANK_SLOSHING, to)
                add_spring(lane, plan, ws, row, to)


@leaf
def place_of(lane, plan, pars, ws, k, arm):
    """Position and velocity in the world of a point of body k; in orbit, from the attracting center."""
    x, _, v = motion_relative_to(lane, plan, pars, ws, k, 0, arm, 0)
    if read(plan, f.IN_ORBIT):
        orbit = read(plan, f.WS_X) + read(plan, f.N_X) - read(plan, f.N_LAW_STATES) - 6
        x, v = add(load3(lane, ws, orbit), x), add(load3(lane, ws, orbit + 3), v)
    return x, v


@leaf
def add_exit(lane, plan, pars, ws, row, j, to):
    """Exhaust at the nozzle: c (v_e - u d)."""
    k, p, c = read(plan, row + f.TANK_NOZZLE), read(plan, f.PAR_TANKS) + j*f.TANK_PARS, read(plan, row + f.TANK_WS) + f.TANK_FLOWS
    C = load9(lane, ws, record_of(plan, k) + f.ATTITUDE)
    o = (zero(lane), zero(lane), zero(lane))
    x, v = place_of(lane, plan, pars, ws, k, add(o, rotate(C, read3(pars, p + f.NOZZLE_AT))))
    leaving = scale(load(lane, ws, c), sub(v, scale(read(pars, p + f.EXHAUST_SPEED), rotate(C, read3(pars, p + f.NOZZLE_AXIS)))))
    accumulate(lane, ws, to, (cross(x, leaving), leaving))


@leaf
def add_flow(lane, plan, pars, ws, k, at, to):
    """Flow in body k: moments that rotate its momentum and angular momentum with the body; less the power of its wrench."""
    omega = load3(lane, ws, record_of(plan, k) + f.RATE)
    (n, force), (p, H) = load_spatial(lane, ws, at), load_spatial(lane, ws, at + 6)
    x, v = place_of(lane, plan, pars, ws, k, (zero(lane), zero(lane), zero(lane)))
    turning = cross(omega, p)
    accumulate(lane, ws, to, (add(cross(v, p), add(cross(x, turning), cross(omega, H))), turning))
    accumulate(lane, ws, to + 6, -(dot(n, omega) + dot(force, v)))


@leaf
def add_mass(lane, plan, pars, ws, row, k, part, to):
    """Kinetic and potential energy of the mass that body k loses."""
    at, c = read(plan, row + f.TANK_WS), load(lane, ws, read(plan, row + f.TANK_WS) + f.TANK_FLOWS)
    C, omega, _ = load_motion(lane, ws, record_of(plan, k))
    slopes = at + f.TANK_SLOPES + part
    m, h, J = load(lane, ws, slopes), rotate(C, load3(lane, ws, slopes + 1)), rotate_sym(C, load6(lane, ws, slopes + 4))
    x, v = place_of(lane, plan, pars, ws, k, (zero(lane), zero(lane), zero(lane)))
    kinetic = 0.5*m*dot(v, v) + dot(v, cross(omega, h)) + 0.5*dot(omega, sym_times(J, omega))
    accumulate(lane, ws, to + 6, c*(kinetic + potential_of(lane, plan, pars, x, m, h, J)))


@leaf
def potential_of(lane, plan, pars, x, m, h, J):
    """Potential of a mass m at x with first moment h and inertia J about x: uniform or central gravity [B 95]."""
    g, gradient = add((zero(lane), zero(lane), zero(lane)), read3(pars, f.GRAVITY)), zero(lane)
    level = -m*dot(g, x)
    if read(plan, f.IN_ORBIT):
        inverse = 1.0/dot(x, x)
        deep = read(pars, f.MU)*sqrt(inverse)
        g, level = scale(-deep*inverse, x), -deep*m
        gradient = deep*inverse*(J[0] + J[3] + J[5] - 3.0*inverse*dot(x, sym_times(J, x)))          # T:S
    return level - dot(g, h) - 0.5*gradient


@leaf
def add_spring(lane, plan, ws, row, to):
    """Spring energy lost with the stiffness of the slosh, and power of its damper."""
    at, c = read(plan, row + f.TANK_WS), load(lane, ws, read(plan, row + f.TANK_WS) + f.TANK_FLOWS)
    slope, damping = load(lane, ws, at + f.TANK_SLOPES + 2*FIXED), load(lane, ws, at + f.TANK_SLOSHING + FIXED + 1)
    for hinge in slosh_hinges(plan, row):
        q, v = load(lane, ws, read(plan, hinge + f.Q)), load(lane, ws, read(plan, hinge + f.V))
        accumulate(lane, ws, to + 6, 0.5*c*slope*q*q + damping*v*v)
