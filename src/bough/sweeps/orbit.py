"""Central gravity: the tree moves relative to its mass center, whose orbit is integrated beside it [B 4].

The tree's inertial frame travels with the mass center, at R from the attracting center.  A body whose mass center is
at rho in it feels the difference of gravity there and at R, the torque of the gravity gradient, and the force that the
gradient of that torque's potential makes, so that energy and angular momentum are kept:

    U = -mu m/d - mu (tr J - 3 d.J d/d^2)/(2 d^3),     d = R + rho,  J about the body's mass center

The part of all external forces that accelerates the mass center goes to the orbit; the tree gets the rest.
"""
from bough.kernels.algebra import ZERO, cross, dot, rotate, sym_times, unrotate
from bough.kernels.linker import sweep
from bough.kernels.hinges import FREE
from bough.kernels.jit import leaf
from bough.kernels.lanes import (accumulate, add, load3, load9, load_spatial, read, read3, read6, scale, sqrt, noinline, store,
                                 sub, zero)
from bough.sweeps import fields as f
from bough.sweeps.motion import hinge_attitude, hinge_row


@leaf
def gravity_difference(mu, R, rho):
    """g(R + rho) - g(R) without cancellation, in Encke's form [B 5], and d = R + rho with |d|^2."""
    d = add(R, rho)
    R2 = dot(R, R)
    q = dot(rho, add(rho, scale(2.0, R)))/R2                       # d^2 = R^2 (1 + q)
    root = (1.0 + q)*sqrt(1.0 + q)
    force = q*(3.0 + q*(3.0 + q))/(root*(1.0 + root))                  # 1 - (1 + q)^-3/2
    return scale(mu/(R2*sqrt(R2)), sub(scale(force, d), rho)), d, R2*(1.0 + q)


@leaf
def body_gravity(pars, k, locked, C, p, R):
    """Wrench (about the body's origin, at p) of central gravity less the field at R [B 4]; `locked`: inertias with all wheels."""
    b = k*f.HINGE_PARS
    mu, m, moment, J = read(pars, f.MU), read(pars, b + f.MASS), read3(pars, b + f.MOMENT), read6(pars, locked + 6*k)
    c = scale(1.0/m, moment)
    difference, d, d2 = gravity_difference(mu, R, add(p, rotate(C, c)))
    e = unrotate(C, d)                                             # d in body axes
    xx, xy, xz, yy, yz, zz = J
    Je = sub(sym_times(J, e), scale(m, sub(scale(dot(c, c), e), scale(dot(c, e), c))))      # about the mass center
    trace = xx + yy + zz - 2.0*m*dot(c, c)
    k5 = 3.0*mu/(d2*d2*sqrt(d2))                                   # 3 mu / d^5
    stretch = scale(k5*(2.5*dot(e, Je)/d2 - 0.5*trace), e)
    force = add(scale(m, difference), rotate(C, sub(stretch, scale(k5, Je))))
    torque = rotate(C, scale(k5, cross(e, Je)))
    return add(torque, cross(rotate(C, c), force)), force


@sweep
def apply_orbit(lane, plan, pars, ws):
    """Add gravity to the slots, less what moves the mass center; derivative of the orbit."""
    noinline()
    at_R, at_rate = read(plan, f.WS_X) + read(plan, f.N_X) - 6, read(plan, f.WS_XDOT) + read(plan, f.N_X) - 6
    positions, locked, R = read(plan, f.WS_POSITIONS), read(plan, f.PAR_LOCKED), load3(lane, ws, at_R)
    store(lane, ws, positions, ZERO)
    total = (zero(lane), zero(lane), zero(lane))
    for k in range(1, read(plan, f.N_HINGES) + 1):
        row = hinge_row(plan, k)
        record, slot = read(plan, row + f.RECORD), read(plan, row + f.SLOT)
        p = add(load3(lane, ws, positions + 3*read(plan, row + f.INNER)), load3(lane, ws, record + f.OFFSET))
        store(lane, ws, positions + 3*k, p)
        if read(plan, row + f.MASSIVE):
            accumulate(lane, ws, slot, body_gravity(pars, k, locked, load9(lane, ws, record + f.ATTITUDE), p, R))
        if slot:
            total = add(total, load_spatial(lane, ws, slot)[1])
        if read(plan, row + f.KIND) == FREE:
            total = add(total, rotate(hinge_attitude(pars, k), load3(lane, ws, read(plan, row + f.TAU))))

    a = scale(1.0/read(pars, f.TOTAL_MASS), total)
    for k in range(1, read(plan, f.N_HINGES) + 1):
        row = hinge_row(plan, k)
        if read(plan, row + f.MASSIVE):
            C = load9(lane, ws, read(plan, row + f.RECORD) + f.ATTITUDE)
            inertial = cross(a, rotate(C, read3(pars, k*f.HINGE_PARS + f.MOMENT))), scale(-read(pars, k*f.HINGE_PARS + f.MASS), a)
            accumulate(lane, ws, read(plan, row + f.SLOT), inertial)

    R2 = dot(R, R)
    store(lane, ws, at_rate, load3(lane, ws, at_R + 3))
    store(lane, ws, at_rate + 3, sub(a, scale(read(pars, f.MU)/(R2*sqrt(R2)), R)))
