"""Force elements (lines, restoring forces, buoyancy, bushings) from the positions and velocities of bodies in the world.

Positions are found by walking inward to the ground, since elements are few.  Each element adds its wrench to the slots of its
bodies and stores it, with its potential energy, in its own place in ws for outputs.
"""
from math import pi

from bough.kernels.algebra import ZERO, arctangent, compose, cross, dot, larger, rotate, shift_wrench, transpose, unrotate
from bough.kernels.linker import sweep
from bough.kernels.jit import leaf
from bough.kernels.lanes import (accumulate, add, any_negative, inverse_above, load, load9, noinline, read, read3, read9, scale,
                                 smaller, sqrt, store, sub, where_positive, zero)
from bough.sweeps.closures import motion_relative_to
from bough.sweeps import fields as f
from bough.sweeps.tree_motion import hinge_row, record_of

FLAT = 1e-4                 # smallest cosine of the tilt that buoyancy divides by, squared: amplifies rounding by up to 1e8
THIN = 1e-300               # replaces a tilt of zero, for which the water plane cuts no disc


@leaf
def apply_elements(lane, plan, pars, ws):
    """Apply all force elements, if there are any."""
    if read(plan, f.N_ELEMENTS):
        fill_elements(lane, plan, pars, ws)


@sweep(features=("flexible",))
def fill_elements(lane, plan, pars, ws):
    """Add the wrenches of all force elements to the slots of their bodies, and store them."""
    noinline()
    for j in range(read(plan, f.N_ELEMENTS)):
        row = read(plan, f.ELEMENTS) + j*f.ELEMENT_ROW
        kind = read(plan, row + f.ELEMENT_KIND)
        if kind == f.LINE:
            apply_line(lane, plan, pars, ws, row)
        elif kind == f.RESTORING:
            apply_restoring(lane, plan, pars, ws, row)
        elif kind == f.BUOYANCY:
            apply_buoyancy(lane, plan, pars, ws, row)
        else:
            apply_bushing(lane, plan, pars, ws, row)


@leaf
def add_body_wrench(lane, plan, ws, k, arm, wrench):
    """Add a wrench about the point at `arm` to the slot of body k; the ground has none."""
    slot = read(plan, hinge_row(plan, k) + f.SLOT)
    if slot:
        accumulate(lane, ws, slot, shift_wrench(arm, wrench))


@leaf
def arm_of(lane, plan, pars, ws, k, at):
    """Vector from the origin of body k to a point fixed in it."""
    return rotate(load9(lane, ws, record_of(plan, k) + f.ATTITUDE), read3(pars, at))


@leaf
def rest_change(lane, plan, ws, row):
    """Change of the length of a line by inputs."""
    at, change = read(plan, row + f.ELEMENT_REST), zero(lane)
    if at:
        change = load(lane, ws, at)
    return change


@leaf
def line_tension(plan, pars, row, p, stretch, rate):
    tension = read(pars, p + f.LINE_STIFFNESS)*stretch + read(pars, p + f.LINE_DAMPING)*rate
    if read(plan, row + f.ELEMENT_OPTION):
        tension = where_positive(stretch, larger(tension, 0.0), 0.0)
    return tension


@leaf
def apply_line(lane, plan, pars, ws, row):
    """Tension along the straight line between two points [B 20]; a line that can go slack never pushes."""
    p, meet = read(plan, row + f.ELEMENT_PAR), read(plan, row + f.ELEMENT_MEET)
    k_b, k_a = read(plan, row + f.ELEMENT_HINGE), read(plan, row + f.ELEMENT_OTHER)
    arm_b, arm_a = arm_of(lane, plan, pars, ws, k_b, p + f.LINE_B), arm_of(lane, plan, pars, ws, k_a, p + f.LINE_A)
    x_b, _, v_b = motion_relative_to(lane, plan, pars, ws, k_b, meet, arm_b, 0)
    x_a, _, v_a = motion_relative_to(lane, plan, pars, ws, k_a, meet, arm_a, 0)
    d, stiffness = sub(x_b, x_a), read(pars, p + f.LINE_STIFFNESS)
    distance = sqrt(dot(d, d))
    n = scale(inverse_above(distance, 0.0), d)                              # zero distance: no direction, no force
    stretch, rate = distance - read(pars, p + f.LINE_LENGTH), dot(n, sub(v_b, v_a))
    pulled = stretch - rest_change(lane, plan, ws, row)                     # the change by an input is work of the input
    tension, energy = line_tension(plan, pars, row, p, pulled, rate), 0.5*stiffness*stretch*stretch
    if read(plan, row + f.ELEMENT_OPTION):
        energy = where_positive(stretch, energy, 0.0)
    if read(plan, row + f.ELEMENT_REST):
        power = (line_tension(plan, pars, row, p, stretch, rate) - tension)*rate
        store(lane, ws, read(plan, row + f.ELEMENT_WS) + f.ELEMENT_POWER, power)
    pull = scale(tension, n)
    add_body_wrench(lane, plan, ws, k_a, arm_a, (ZERO, pull))
    add_body_wrench(lane, plan, ws, k_b, arm_b, (ZERO, scale(-1.0, pull)))
    store(lane, ws, read(plan, row + f.ELEMENT_WS) + f.ELEMENT_WRENCH, ((ZERO, scale(-1.0, pull)), (energy, tension)))


@leaf
def roll_pitch_yaw(lane, ws, at, R):
    """Angles of R = Rz(yaw) Ry(pitch) Rx(roll), pitch within a quarter turn; `at`: scratch for six numbers."""
    xx, _, _, yx, _, _, zx, zy, zz = R
    store(lane, ws, at, ((zy, -zx, yx), (zz, sqrt(xx*xx + yx*yx), xx)))
    return (arctangent(lane, ws, at, at, at + 3), arctangent(lane, ws, at + 1, at + 1, at + 4),
            arctangent(lane, ws, at + 2, at + 2, at + 5))


@leaf
def apply_restoring(lane, plan, pars, ws, row):
    """Force and moment linear in the displacement of a point and in the angles of its body [B 21]."""
    p, k, to = read(plan, row + f.ELEMENT_PAR), read(plan, row + f.ELEMENT_HINGE), read(plan, row + f.ELEMENT_WS)
    arm = arm_of(lane, plan, pars, ws, k, p + f.RESTORING_AT)
    x, _, _ = motion_relative_to(lane, plan, pars, ws, k, 0, arm, 0)
    d, constant = sub(x, read3(pars, p + f.RESTORING_REST)), read3(pars, p + f.RESTORING_FORCE)
    back, turned = rotate(read9(pars, p + f.FORCE_PLACE), d), rotate(read9(pars, p + f.MOMENT_PLACE), d)
    energy = 0.5*dot(d, back) - dot(constant, d)
    if read(plan, row + f.ELEMENT_OPTION):
        C = load9(lane, ws, record_of(plan, k) + f.ATTITUDE)
        angles = roll_pitch_yaw(lane, ws, to, compose(C, read9(pars, p + f.RESTORING_TURN)))
        by_angles, moment = rotate(read9(pars, p + f.FORCE_ANGLE), angles), rotate(read9(pars, p + f.MOMENT_ANGLE), angles)
        energy = energy + 0.5*(dot(d, by_angles) + dot(angles, add(turned, moment)))
        back, turned = add(back, by_angles), add(turned, moment)
    wrench = sub(read3(pars, p + f.RESTORING_MOMENT), turned), sub(constant, back)
    add_body_wrench(lane, plan, ws, k, arm, wrench)
    store(lane, ws, to + f.ELEMENT_WRENCH, (wrench, (energy, 0.0)))


@leaf
def wet_disc(lane, ws, scratch, x, r, s):
    """For a disc of radius r with its center at depth x and its lowest point r s deeper: integrals over its wet part of the depth
    y, of xi y/s and of y^2, where y = x + s xi [B 22]."""
    clearance = larger(x, -x) - r*s                                         # negative where the water plane cuts the disc
    area, first, lateral = where_positive(x, pi*r*r, zero(lane)), zero(lane), zero(lane)
    second = 0.25*r*r*area
    if any_negative(clearance):
        k = larger(smaller(x/larger(r*s, THIN), 1.0), -1.0)
        w = sqrt(1.0 - k*k)
        store(lane, ws, scratch, (w, -k))
        angle = arctangent(lane, ws, scratch, scratch, scratch + 1)         # acos(-k)
        area = where_positive(-clearance, r*r*(angle + k*w), area)              # lanes with a fully wet or dry disc keep theirs
        first = where_positive(-clearance, (2.0/3.0)*r*r*r*w*w*w, first)
        second = where_positive(-clearance, 0.25*r*r*r*r*(angle - k*w*(1.0 - 2.0*k*k)), second)
        lateral = r*k*first
    return x*area + s*first, lateral + second, x*x*area + s*(2.0*x*first + s*second)


@leaf
def apply_buoyancy(lane, plan, pars, ws, row):
    """Weight of the displaced water, at the centroid of the wet part of upright, tilted or capsized cylinders [B 22]."""
    p, k, to = read(plan, row + f.ELEMENT_PAR), read(plan, row + f.ELEMENT_HINGE), read(plan, row + f.ELEMENT_WS)
    arm, e = arm_of(lane, plan, pars, ws, k, p + f.BUOYANCY_AT), arm_of(lane, plan, pars, ws, k, p + f.BUOYANCY_AXIS)
    (_, _, height), _, _ = motion_relative_to(lane, plan, pars, ws, k, 0, arm, 0)
    ex, ey, c = e
    depth, s = read(pars, p + f.BUOYANCY_LEVEL) - height, sqrt(ex*ex + ey*ey)
    c = where_positive(c, larger(c, FLAT), smaller(c, -FLAT))
    over = 1.0/c
    volume, arm_up, raised = zero(lane), zero(lane), zero(lane)
    for i in range(read(plan, row + f.ELEMENT_OPTION)):
        at = p + f.BUOYANCY_PARS + i*f.CYLINDER_PARS
        low, high, r = read(pars, at + f.CYLINDER_BOTTOM), read(pars, at + f.CYLINDER_TOP), read(pars, at + f.CYLINDER_RADIUS)
        G_0, b_0, Q_0 = wet_disc(lane, ws, to, depth - c*low, r, s)
        G_1, b_1, Q_1 = wet_disc(lane, ws, to, depth - c*high, r, s)
        half = 0.5*over*(Q_0 - Q_1)
        volume, raised = volume + over*(G_0 - G_1), raised + half
        arm_up = arm_up + over*(low*G_0 - high*G_1 + half) + b_0 - b_1
    weight = read(pars, p + f.BUOYANCY_WEIGHT)
    wrench = (weight*arm_up*ey, -weight*arm_up*ex, zero(lane)), (zero(lane), zero(lane), weight*volume)
    add_body_wrench(lane, plan, ws, k, arm, wrench)
    store(lane, ws, to + f.ELEMENT_WRENCH, (wrench, (weight*raised, 0.0)))


@leaf
def rotation_vector(lane, ws, at, R):
    """Rotation vector of R, up to half a turn, half its angle and the cotangent of that [B 23]; `at`: scratch for two numbers."""
    xx, xy, xz, yx, yy, yz, zx, zy, zz = R
    w = 0.5*sqrt(larger(1.0 + xx + yy + zz, 0.0))                           # cosine of half the angle
    v = scale(0.25*inverse_above(w, 0.0), (zy - yz, xz - zx, yx - xy))      # its sine, times the axis
    s = sqrt(dot(v, v) + THIN)
    store(lane, ws, at, (s, w))
    half = arctangent(lane, ws, at, at, at + 1)
    return scale(2.0*half/s, v), half, w/s


@leaf
def second_turn(half, cotangent):
    """c = (1 - h cot h)/4h^2 for half an angle h [B 23]; below 0.05 rad by its series (error 2e-16), since the quotient
    cancels."""
    hh = half*half
    series = 1.0/12 + hh*(1.0/180 + hh*(1.0/1890 + hh*(1.0/18900 + hh/187110)))
    return where_positive(hh - 0.0025, (1.0 - half*cotangent)/(4.0*larger(hh, 0.0025)), series)


@leaf
def apply_bushing(lane, plan, pars, ws, row):
    """Gradient of a potential in rotation vector and displacement, plus a damper; both reactions act at the origin of b
    [B 23]."""
    p, meet, to = read(plan, row + f.ELEMENT_PAR), read(plan, row + f.ELEMENT_MEET), read(plan, row + f.ELEMENT_WS)
    k_b, k_a = read(plan, row + f.ELEMENT_HINGE), read(plan, row + f.ELEMENT_OTHER)
    arm_b, arm_a = arm_of(lane, plan, pars, ws, k_b, p + f.BUSHING_B), arm_of(lane, plan, pars, ws, k_a, p + f.BUSHING_A)
    x_b, omega_b, v_b = motion_relative_to(lane, plan, pars, ws, k_b, meet, arm_b, 0)
    x_a, omega_a, v_a = motion_relative_to(lane, plan, pars, ws, k_a, meet, arm_a, 0)
    C_b = compose(load9(lane, ws, record_of(plan, k_b) + f.ATTITUDE), read9(pars, p + f.BUSHING_TURN_B))
    C = compose(load9(lane, ws, record_of(plan, k_a) + f.ATTITUDE), read9(pars, p + f.BUSHING_TURN_A))
    apart = sub(x_b, x_a)
    theta, half, cotangent = rotation_vector(lane, ws, to, compose(transpose(C), C_b))
    d, w = unrotate(C, apart), unrotate(C, sub(omega_b, omega_a))
    u = unrotate(C, sub(sub(v_b, v_a), cross(omega_a, apart)))              # velocity in the axes of a
    turning, pull = six_axes(pars, p + f.BUSHING_STIFFNESS_RR, theta, d)
    energy = 0.5*(dot(theta, turning) + dot(d, pull))
    about = cross(theta, turning)                                           # work-conjugate to the angular velocity
    c = second_turn(half, cotangent)
    turning = add(turning, add(scale(0.5, about), scale(c, cross(theta, about))))
    braking, drag = six_axes(pars, p + f.BUSHING_DAMPING_RR, w, u)
    wrench = rotate(C, scale(-1.0, add(turning, braking))), rotate(C, scale(-1.0, add(pull, drag)))
    add_body_wrench(lane, plan, ws, k_b, arm_b, wrench)
    add_body_wrench(lane, plan, ws, k_a, add(arm_a, apart), scale(-1.0, wrench))
    store(lane, ws, to + f.ELEMENT_WRENCH, (wrench, (energy, 0.0)))


@leaf
def six_axes(pars, at, r, t):
    """A symmetric 6x6 matrix, given by its blocks rr, rt and tt, times a rotation and a translation."""
    M = read9(pars, at + 9)
    return add(rotate(read9(pars, at), r), rotate(M, t)), add(unrotate(M, r), rotate(read9(pars, at + 18), t))
