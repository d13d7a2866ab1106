"""The equations of closed loops: gap, rate of the gap, and the constraint wrenches.

A loop constrains a frame of body b relative to one of body a.  Row j of its equations is [B 14]

    phi_j'' = K_b.A_b + K_a.A_a + gamma_j = 0          K_b = (arm x n, n) for a direction n fixed in a, (l, 0) for a rotation

and its multiplier is the wrench K_b lambda_j on b, K_a lambda_j on a.  If only some translations are constrained, the two ends
are apart; the point of a is then the one that coincides with the end of b.  Rows of rotations are multiplied by a length of the
loop, so that all rows are in meters and newtons.

Known forces along the free motions of a loop: springs, dampers and motors in its joint [B 14].

Each such motion has a dual direction e: its rate is e.v or e.w, and its force or moment is f e on b and -f e on a, with f =
torque - stiffness (coordinate - rest) - damping rate.
"""

from bough.kernels.algebra import ZERO, arctangent, cross, dot, rotate
from bough.kernels.hinges import MODAL, hinge_add
from bough.kernels.jit import leaf
from bough.kernels.lanes import (accumulate, add, flexible_only, load, load3, load9, loops_only, noinline, quads_of, read, read3,
                                 scale, smaller, sqrt, store, sub, zero)
from bough.kernels.linker import sweep
from bough.sweeps import fields as f
from bough.sweeps.blocks import pack_of, store_strided
from bough.sweeps.couplings import assemble_couplings, least_coupling_bias
from bough.sweeps.modes import flex_of, modal_add, modal_speeds, mode_columns
from bough.sweeps.tree_motion import hinge_attitude, hinge_row, load_motion, record_of


@leaf
def motion_relative_to(lane, plan, pars, ws, k, meet, arm, offset):
    """Walk inward from body k to body `meet`: position of the point at `arm` relative to the origin of `meet`, and angular and
    linear velocity of that point relative to `meet`.  The speeds used are `offset` numbers after those of the state."""
    o = (zero(lane), zero(lane), zero(lane))
    omega, v = o, o
    while k != meet:
        row = hinge_row(plan, k)
        record, kind = read(plan, row + f.RECORD), read(plan, row + f.KIND)
        if kind < MODAL:
            sigma, s = hinge_add(lane, kind, hinge_attitude(pars, k), load9(lane, ws, record + f.ATTITUDE), (o, o), ws,
                                 read(plan, row + f.V) + offset)
        else:
            sigma, s = modal_add(lane, plan, ws, row, (o, o), modal_speeds(lane, plan, row) + offset)
        omega, v = add(omega, sigma), add(v, add(s, cross(sigma, arm)))
        arm, k = add(arm, load3(lane, ws, record + f.OFFSET)), read(plan, row + f.INNER)
    return arm, omega, v


@leaf
def point_acceleration(A, omega, arm):
    alpha, a = A
    return add(a, add(cross(alpha, arm), cross(omega, cross(omega, arm))))


@leaf
def store_loop_row(lane, plan, ws, row, j, K_b, K_a, gamma, rate, gap):
    """Store row j of a loop in the fronts of its two ends: K of both, and the bias with its stabilization [JSC 4.16].  Its
    gap^2 is added to the openness of the loop, which is in the place of its first multiplier: see LOOP_MULTIPLIERS."""
    at_a, at_b, weights = read(plan, row + f.COLUMN_A), read(plan, row + f.COLUMN_B), read(plan, f.WS_CLOSURE)
    bias = (load(lane, ws, weights + f.CLOSURE_ACCELERATION)*gamma + load(lane, ws, weights + f.CLOSURE_SPEED)*rate
            + load(lane, ws, weights + f.CLOSURE_POSITION)*gap)
    if at_a:
        store_strided(lane, ws, at_a - j, read(plan, row + f.STRIDE_A), K_a)
    if at_b:
        store_strided(lane, ws, at_b - j, read(plan, row + f.STRIDE_B), K_b)
    store(lane, ws, bias_place(plan, row) - j, bias)
    accumulate(lane, ws, read(plan, row + f.LOOP_MULTIPLIERS), gap*gap)


@leaf
def bias_place(plan, row):
    """Position in ws of the bias of a loop's first row (the others precede it): after K of end b, or of a if b is the ground."""
    at, stride = read(plan, row + f.COLUMN_B), read(plan, row + f.STRIDE_B)
    if at == 0:
        at, stride = read(plan, row + f.COLUMN_A), read(plan, row + f.STRIDE_A)
    return at + 6*stride


@leaf
def store_translation_row(lane, plan, ws, row, j, n, arm_b, arm_a, gamma, rate, gap):
    """A row that constrains the translation along n."""
    store_loop_row(lane, plan, ws, row, j, (cross(arm_b, n), n), scale(-1.0, (cross(arm_a, n), n)), gamma, rate, gap)


@leaf
def store_rotation_row(lane, plan, ws, row, j, l, size, gamma, rate, gap):
    """A row that constrains the rotation about l, times the length `size`."""
    l = scale(size, l)
    store_loop_row(lane, plan, ws, row, j, (l, ZERO), (scale(-1.0, l), ZERO), size*gamma, size*rate, size*gap)


@leaf
def frame_axis(pars, at, C, i):
    return rotate(C, read3(pars, at + 3*i))


@leaf
def store_rotation_rows(lane, plan, pars, ws, row, p, first, a, b, alpha, w):
    """Rows of the constrained rotations of a loop [B 14].  a and b: attitude and rate of its bodies; alpha and w: angular
    acceleration and rate of b relative to a.  The gap of an angle theta is 2 tan(theta/2), which has no other zero."""
    (C_a, omega_a), (C_b, omega_b) = a, b
    kind, size = read(plan, row + f.CONSTRAINED_ROTATIONS), read(pars, p + f.LOOP_SIZE)
    if kind == f.UNIVERSAL:  # angle between an axis of a and one of b
        u, e = frame_axis(pars, p + f.FRAME_A, C_a, 0), frame_axis(pars, p + f.FRAME_B, C_b, 0)
        l, turned = cross(u, e), add(cross(cross(omega_a, u), e), cross(u, cross(omega_b, e)))
        size = size/sqrt(dot(l, l))                                     # l is not a unit vector unless the axes are perpendicular
        store_rotation_row(lane, plan, ws, row, first, l, size, dot(l, alpha) + dot(turned, w), dot(l, w),
                           read(pars, p + f.CONSTRAINED_VALUE) - dot(u, e))
    elif kind == f.AXIS or kind == f.ALL_ROTATIONS:
        u, e = frame_axis(pars, p + f.FRAME_A, C_a, 2), frame_axis(pars, p + f.FRAME_B, C_b, 2)
        sine, cosine = cross(u, e), 1.0 + dot(u, e)
        if kind == f.ALL_ROTATIONS:                                       # the sum over all axes is 2 sin and 2 (1 + cos)
            for i in range(2):
                u, e = frame_axis(pars, p + f.FRAME_A, C_a, i), frame_axis(pars, p + f.FRAME_B, C_b, i)
                sine, cosine = add(sine, cross(u, e)), cosine + dot(u, e)
            sine = scale(0.5, sine)
            cosine = 0.5*cosine
        tangent = scale(2.0/cosine, sine)
        for i in range(kind):                                           # AXIS constrains two, ALL_ROTATIONS three
            l = frame_axis(pars, p + f.FRAME_A, C_a, i)
            store_rotation_row(lane, plan, ws, row, first + i, l, size, dot(l, alpha) + dot(cross(omega_a, l), w), dot(l, w),
                               dot(l, tangent))


@leaf
def store_loop_rows(lane, plan, pars, ws, row, p, offset):
    """Store the rows of a loop in the fronts of its ends, from the positions and rates in the records [JSC 4.15]."""
    k_a, k_b, meet = read(plan, row + f.LOOP_A), read(plan, row + f.LOOP_B), read(plan, row + f.LOOP_MEET)
    C_a, omega_a, A_a = load_motion(lane, ws, record_of(plan, k_a))
    C_b, omega_b, A_b = load_motion(lane, ws, record_of(plan, k_b))
    arm_a, arm_b = rotate(C_a, read3(pars, p + f.END_A)), rotate(C_b, read3(pars, p + f.END_B))
    x_a, w_a, v_a = motion_relative_to(lane, plan, pars, ws, k_a, meet, arm_a, offset)
    x_b, w_b, v_b = motion_relative_to(lane, plan, pars, ws, k_b, meet, arm_b, offset)
    d, w = sub(x_b, x_a), sub(w_b, w_a)
    if read(plan, row + f.CONSTRAINED_ROTATIONS) == f.DISTANCE:
        omega = load3(lane, ws, record_of(plan, meet) + f.RATE)
        length, v = sqrt(dot(d, d)), add(sub(v_b, v_a), cross(omega, d))
        n, a = scale(1.0/length, d), sub(point_acceleration(A_b, omega_b, arm_b), point_acceleration(A_a, omega_a, arm_a))
        rate = dot(n, v)
        store_translation_row(lane, plan, ws, row, 0, n, arm_b, arm_a, dot(n, a) + (dot(v, v) - rate*rate)/length, rate,
                              length - read(pars, p + f.CONSTRAINED_VALUE))
        return
    at_a, v = add(arm_a, d), sub(v_b, add(v_a, cross(w_a, d)))          # the point of a that coincides with the end of b
    a = sub(point_acceleration(A_b, omega_b, arm_b), point_acceleration(A_a, omega_a, at_a))
    translations = read(plan, row + f.CONSTRAINED_TRANSLATIONS)
    for i in range(translations):
        n = rotate(C_a, read3(pars, p + f.DIRECTIONS + 3*i))
        gamma = dot(n, a) + 2.0*dot(cross(omega_a, n), v)
        store_translation_row(lane, plan, ws, row, i, n, arm_b, at_a, gamma, dot(n, v), dot(n, d))
    (alpha_a, _), (alpha_b, _) = A_a, A_b
    store_rotation_rows(lane, plan, pars, ws, row, p, translations, (C_a, omega_a), (C_b, omega_b), sub(alpha_b, alpha_a), w)


@leaf
def clear_fronts(lane, plan, ws):
    """Zero all fronts and their columns in the rows of modes."""
    quads, first = quads_of(ws), pack_of(lane, read(plan, f.WS_FRONTS))
    for i in range(pack_of(lane, read(plan, f.N_FRONTS))):
        store(quads, ws, first + i, zero(quads))
    clear_mode_columns(lane, plan, ws)


@flexible_only
def clear_mode_columns(lane, plan, ws):
    for k in range(1, read(plan, f.N_HINGES) + 1):
        row = hinge_row(plan, k)
        if read(plan, row + f.KIND) == MODAL:
            flex, n = flex_of(plan, row)
            X, length = mode_columns(lane, plan, flex, n)
            for j in range(n):
                for i in range(read(plan, flex + f.FLEX_COLUMNS)):
                    store(lane, ws, X + length*j + i, zero(lane))


@leaf
def store_largest_gap(lane, plan, ws):
    """Store the largest bias over all loops and couplings."""
    least = zero(lane)
    for loop in range(read(plan, f.N_LOOPS)):
        row = read(plan, f.LOOPS) + loop*f.LOOP_ROW
        for j in range(read(plan, row + f.LOOP_ROWS)):
            bias = load(lane, ws, bias_place(plan, row) - j)
            least = smaller(least, smaller(bias, -bias))
    store(lane, ws, read(plan, f.WS_CLOSURE) + f.CLOSURE_GAP, -least_coupling_bias(lane, plan, ws, least))


@sweep(features=("flexible", "implicit", "drives"), needs="loops")
def fill_loop_equations(lane, plan, pars, ws, offset):
    """Store the equations of all loops and couplings in the fronts, with the weights at WS_CLOSURE, and (gap/size)^2 of each loop,
    its openness, in the place of its first multiplier."""
    noinline()
    clear_fronts(lane, plan, ws)
    for loop in range(read(plan, f.N_LOOPS)):
        row, p = read(plan, f.LOOPS) + loop*f.LOOP_ROW, read(plan, f.PAR_LOOPS) + loop*f.LOOP_PARS
        openness, over_size = read(plan, row + f.LOOP_MULTIPLIERS), 1.0/read(pars, p + f.LOOP_SIZE)
        store(lane, ws, openness, zero(lane))
        store_loop_rows(lane, plan, pars, ws, row, p, offset)
        store(lane, ws, openness, over_size*over_size*load(lane, ws, openness))
    assemble_couplings(lane, plan, pars, ws, offset)
    if offset:
        store_largest_gap(lane, plan, ws)


@loops_only
def assemble_loops(lane, plan, pars, ws, offset):
    """fill_loop_equations, if there are loops or couplings."""
    fill_loop_equations(lane, plan, pars, ws, offset)


# ---- loop loads ------------------------------------------------------------------------------------------------------------
@leaf
def angle_about(lane, plan, ws, axis, start, end):
    """Angle about an axis from one direction to another, -pi to pi."""
    sine, cosine = read(plan, f.WS_CLOSURE) + f.CLOSURE_SINE, read(plan, f.WS_CLOSURE) + f.CLOSURE_COSINE
    store(lane, ws, sine, zero(lane) + dot(axis, cross(start, end)))
    store(lane, ws, cosine, zero(lane) + dot(start, end) - dot(axis, start)*dot(axis, end))
    return arctangent(lane, ws, sine, sine, cosine)


@leaf
def free_rotation(lane, plan, pars, ws, kind, p, C_a, C_b):
    """Dual direction and angle of a free rotation [B 14]."""
    u, e = rotate(C_a, read3(pars, p + f.FREE_VECTOR_A)), rotate(C_b, read3(pars, p + f.FREE_VECTOR_B))
    start, end = rotate(C_a, read3(pars, p + f.FREE_REFERENCE_A)), rotate(C_b, read3(pars, p + f.FREE_REFERENCE_B))
    if kind == f.ABOUT_AXIS:
        return u, angle_about(lane, plan, ws, u, start, end)
    normal = cross(u, e)
    over = 1.0/dot(normal, normal)
    if kind == f.ABOUT_FIRST:                                                 # two axes: u in a, e in b
        return scale(over, cross(e, normal)), angle_about(lane, plan, ws, u, start, e)
    if kind == f.ABOUT_SECOND:
        return scale(over, cross(normal, u)), angle_about(lane, plan, ws, e, u, end)
    return e, zero(lane)                                                    # ball joint: an axis of b


@loops_only
def apply_loop_loads(lane, plan, pars, ws):
    """Add the known forces along the free motions of all loops to the slots of their bodies [JSC 4.17]."""
    for j in range(read(plan, f.N_FREES)):
        row, p = read(plan, f.FREES) + j*f.FREE_ROW, read(plan, f.PAR_FREES) + j*f.FREE_PARS
        number = read(plan, row + f.FREE_LOOP)
        loop, at = read(plan, f.LOOPS) + number*f.LOOP_ROW, read(plan, f.PAR_LOOPS) + number*f.LOOP_PARS
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
        arm_a = add(arm_a, d)                                               # the point of a that coincides with the end of b
        apply_at(lane, plan, ws, k_a, kind == f.ALONG, arm_a, scale(-force, e))


@leaf
def apply_at(lane, plan, ws, k, force, arm, e):
    """Add a force e at `arm`, or a moment e, to the slot of body k."""
    slot = read(plan, hinge_row(plan, k) + f.SLOT)
    if slot:
        if force:
            accumulate(lane, ws, slot, (cross(arm, e), e))
        else:
            accumulate(lane, ws, slot, e)
