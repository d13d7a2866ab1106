"""Known forces along the motions that a loop leaves free: springs, dampers and motors in its joint [B 14] [JSC 4.17].

For each such motion a dual direction e gives its rate, e.v or e.w, and the force or moment that its power asks for, f e on b and
-f e on a:  f = torque - stiffness (coordinate - rest) - damping rate.
"""
from math import atan2

from bough.kernels.algebra import cross, dot, rotate
from bough.kernels.jit import leaf
from bough.kernels.lanes import (accumulate, get_lane, load, load9, loops_only, put_lane, read, read3, scale, store, sub,
                                 width_of, zero)
from bough.sweeps.closures import motion_relative_to
from bough.sweeps import fields as f
from bough.sweeps.motion import hinge_row, record_of


@leaf
def angle_about(lane, plan, ws, axis, start, end):
    """The angle about an axis from one direction to another, -pi to pi."""
    sine, cosine = read(plan, f.WS_CLOSURE) + f.CLOSURE_SINE, read(plan, f.WS_CLOSURE) + f.CLOSURE_COSINE
    store(lane, ws, sine, zero(lane) + dot(axis, cross(start, end)))
    store(lane, ws, cosine, zero(lane) + dot(start, end) - dot(axis, start)*dot(axis, end))
    for i in range(width_of(lane)):
        put_lane(lane, ws, sine, i, atan2(get_lane(lane, ws, sine, i), get_lane(lane, ws, cosine, i)))
    return load(lane, ws, sine)


@leaf
def free_rotation(lane, plan, pars, ws, kind, p, C_a, C_b):
    """The dual direction of a rotation that is left free, and its angle [B 14]."""
    u, e = rotate(C_a, read3(pars, p + f.FREE_VECTOR_A)), rotate(C_b, read3(pars, p + f.FREE_VECTOR_B))
    start, end = rotate(C_a, read3(pars, p + f.FREE_REFERENCE_A)), rotate(C_b, read3(pars, p + f.FREE_REFERENCE_B))
    if kind == f.ABOUT_AXIS:
        return u, angle_about(lane, plan, ws, u, start, end)
    normal = cross(u, e)
    over = 1.0/dot(normal, normal)
    if kind == f.ABOUT_FIRST:                                                 # of two: axis u in a, e in b
        return scale(over, cross(e, normal)), angle_about(lane, plan, ws, u, start, e)
    if kind == f.ABOUT_SECOND:
        return scale(over, cross(normal, u)), angle_about(lane, plan, ws, e, u, end)
    return e, zero(lane)                                                    # an axis of b, of a ball joint


def apply_loop_loads(lane, plan, pars, ws):
    """The forces of all loops' joints onto the slots of their bodies."""
    for j in range(read(plan, f.N_FREES)):
        row, p = read(plan, f.FREES) + j*f.FREE_ROW, read(plan, f.PAR_FREES) + j*f.FREE_PARS
        loop, at = (read(plan, f.LOOPS) + read(plan, row + f.FREE_LOOP)*f.LOOP_ROW,
                    read(plan, f.PAR_LOOPS) + read(plan, row + f.FREE_LOOP)*f.LOOP_PARS)
        k_a, k_b, meet = read(plan, loop + f.LOOP_A), read(plan, loop + f.LOOP_B), read(plan, loop + f.LOOP_MEET)
        C_a, C_b = load9(lane, ws, record_of(plan, k_a) + f.ATTITUDE), load9(lane, ws, record_of(plan, k_b) + f.ATTITUDE)
        arm_a, arm_b = rotate(C_a, read3(pars, at + f.END_A)), rotate(C_b, read3(pars, at + f.END_B))
        x_a, w_a, v_a = motion_relative_to(lane, plan, pars, ws, k_a, meet, arm_a, 0)
        x_b, w_b, v_b = motion_relative_to(lane, plan, pars, ws, k_b, meet, arm_b, 0)
        d, kind = sub(x_b, x_a), read(plan, row + f.FREE_KIND)
        v = sub(sub(v_b, v_a), cross(w_a, d))
        if kind == f.ALONG:
            e = rotate(C_a, read3(pars, p + f.FREE_VECTOR_A))
            coordinate, rate = dot(e, d), dot(e, v)
        else:
            e, coordinate = free_rotation(lane, plan, pars, ws, kind, p, C_a, C_b)
            rate = dot(e, sub(w_b, w_a))
        force = (load(lane, ws, read(plan, row + f.FREE_TORQUE))
                 - read(pars, p + f.FREE_STIFFNESS)*(coordinate - read(pars, p + f.FREE_REST))
             - read(pars, p + f.FREE_DAMPING)*rate)
        apply_at(lane, plan, ws, k_b, kind == f.ALONG, arm_b, scale(force, e))
        arm_a = (arm_a[0] + d[0], arm_a[1] + d[1], arm_a[2] + d[2])         # the point of a that coincides with b's end
        apply_at(lane, plan, ws, k_a, kind == f.ALONG, arm_a, scale(-force, e))


loops_only(apply_loop_loads, lambda lane, plan, pars, ws: None)


@leaf
def apply_at(lane, plan, ws, k, force, arm, e):
    """A force e at `arm`, or a moment e, into the slot of body k."""
    slot = read(plan, hinge_row(plan, k) + f.SLOT)
    if slot:
        if force:
            accumulate(lane, ws, slot, (cross(arm, e), e))
        else:
            accumulate(lane, ws, slot, e)
