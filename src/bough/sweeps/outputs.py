"""Outputs that depend on the state alone, for control laws: positions, velocities, deflections, strains, line tensions, energies
and momenta.

First the motion along the paths to the measured frames, root to tips: attitude and rate of each body, and position and velocity
of its origin, in place of its acceleration.  This uses the records of the hinges, which the dynamics fills again.
"""
from bough.kernels.algebra import (IDENTITY, ZERO, compose, cross, dot, rotate, rotate_spatial, shift_motion, shift_wrench,
                                   spatial_dot, transpose, unrotate, unrotate_spatial)
from bough.kernels.hinges import MODAL, hinge_add
from bough.kernels.jit import leaf
from bough.kernels.lanes import (add, flexible_only, load, load3, load6, load9, load_spatial, noinline, read, read3, read9, scale,
                                 sqrt, store, sub, where_positive, zero)
from bough.kernels.linker import sweep
from bough.sweeps import fields as f
from bough.sweeps.composite import composite_times, own_composite
from bough.sweeps.force_elements import apply_elements, apply_line
from bough.sweeps.modes import deform_body, flex_of, modal_add, modal_speeds, mode_rows, strain_energy
from bough.sweeps.tree_motion import compute_sines, hinge_row, load_motion, move_outward, record_of, sines_of
from bough.sweeps.tanks import slosh_energy, total_mass


@leaf
def evaluate_outputs(lane, plan, pars, ws):
    """Evaluate the outputs at the time and state in ws, if there are any that are not entries of the state."""
    if read(plan, f.N_OUTPUTS):
        fill_outputs(lane, plan, pars, ws)


@sweep(features=("flexible", "tanks"))
def fill_outputs(lane, plan, pars, ws):
    """All outputs, into their places in ws; prescribed coordinates are already in the state."""
    noinline()
    trace_paths(lane, plan, pars, ws)
    if read(plan, f.SUMS):
        sum_motion(lane, plan, pars, ws)
    for j in range(read(plan, f.N_OUTPUTS)):
        row, p = read(plan, f.OUTPUTS) + j*f.OUTPUT_ROW, read(plan, f.PAR_OUTPUTS) + j*f.OUTPUT_PARS
        kind = read(plan, row + f.OUTPUT_KIND)
        if kind == f.OUT_TENSION:
            apply_line(lane, plan, pars, ws, read(plan, row + f.OUTPUT_ELEMENT))        # slots are cleared before use
        elif kind == f.OUT_STRAIN:
            measure_strain(lane, plan, pars, ws, row)
        elif kind >= f.OUT_STRAIN_ENERGY:
            measure_sum(lane, plan, pars, ws, row, p)
        else:
            measure_place(lane, plan, pars, ws, row, p)


@leaf
def trace_paths(lane, plan, pars, ws):
    """Motion of all bodies on the paths to measured frames."""
    store(lane, ws, record_of(plan, 0) + f.ATTITUDE, (IDENTITY, ZERO, (ZERO, ZERO)))
    C, omega, (p, v) = load_motion(lane, ws, record_of(plan, 0))
    compute_sines(lane, plan, ws)
    sines, last = sines_of(plan), 0
    for n in range(read(plan, f.N_PATHS)):
        k = read(plan, read(plan, f.PATHS) + n*f.PATH_ROW)
        row = hinge_row(plan, k)
        i, kind, record = read(plan, row + f.INNER), read(plan, row + f.KIND), read(plan, row + f.RECORD)
        if i != last:
            C, omega, (p, v) = load_motion(lane, ws, record_of(plan, i))
        F, C, r, _, _ = move_outward(lane, plan, pars, ws, k, C, ZERO, (ZERO, ZERO), sines)
        if kind < MODAL:
            omega, v = hinge_add(lane, kind, F, C, shift_motion(r, (omega, v)), ws, read(plan, row + f.V))      # [S 44-45]
        else:
            store(lane, ws, record + f.ATTITUDE, C)
            omega, v = modal_add(lane, plan, ws, row, shift_motion(r, (omega, v)), modal_speeds(lane, plan, row))
        p, last = add(p, r), k
        store(lane, ws, record + f.ATTITUDE, (C, omega, (p, v)))
        store(lane, ws, record + f.OFFSET, r)


@leaf
def measure_place(lane, plan, pars, ws, row, p):
    """Position, attitude or velocity of a frame, in the axes of the output."""
    k, kind, to = read(plan, row + f.OUTPUT_HINGE), read(plan, row + f.OUTPUT_KIND), read(plan, row + f.OUTPUT_TO)
    axes = axes_of(lane, plan, pars, ws, row, p)
    C, omega, (x, v) = load_motion(lane, ws, record_of(plan, k))
    arm = rotate(C, read3(pars, p + f.OUTPUT_AT))
    if kind == f.OUT_ATTITUDE:
        store(lane, ws, to, quaternion_of(compose(transpose(axes), compose(C, read9(pars, p + f.OUTPUT_TURN)))))
    elif kind == f.OUT_POSITION:
        store(lane, ws, to, unrotate(axes, add(x, arm)))
    elif kind == f.OUT_VELOCITY:
        store(lane, ws, to, unrotate(axes, add(v, cross(omega, arm))))
    elif kind == f.OUT_SPIN:
        store(lane, ws, to, unrotate(axes, omega))
    else:
        C, _, (origin, _) = load_motion(lane, ws, record_of(plan, read(plan, row + f.OUTPUT_BODY)))
        store(lane, ws, to, unrotate(axes, sub(sub(add(x, arm), origin), rotate(C, read3(pars, p + f.OUTPUT_PLACE)))))


@leaf
def axes_of(lane, plan, pars, ws, row, p):
    """The axes of an output."""
    return compose(load9(lane, ws, record_of(plan, read(plan, row + f.OUTPUT_FRAME)) + f.ATTITUDE), read9(pars, p + f.OUTPUT_AXES))


@flexible_only
def measure_strain(lane, plan, pars, ws, row):
    """The components of a strain, linear in the modal coordinates [B 74]."""
    hinge = hinge_row(plan, read(plan, row + f.OUTPUT_BODY))
    (_, n), q, to = flex_of(plan, hinge), read(plan, hinge + f.Q), read(plan, row + f.OUTPUT_TO)
    at = read(plan, row + f.OUTPUT_GAUGE)
    for i in range(read(plan, row + f.OUTPUT_COMPONENTS)):
        strain = zero(lane)
        for r in range(n):
            strain = strain + read(pars, at + n*i + r)*load(lane, ws, q + r)
        store(lane, ws, to + i, strain)


# ---- sums over all bodies --------------------------------------------------------------------------------------------
@leaf
def measure_sum(lane, plan, pars, ws, row, p):
    """A strain energy, energy or momentum, from the sums of sum_motion [B 26].  Bodies welded to the ground count in the mass
    center: OUTPUT_PLACE is their first moment."""
    kind, to, sums = read(plan, row + f.OUTPUT_KIND), read(plan, row + f.OUTPUT_TO), read(plan, f.WS_SUMS)
    if kind == f.OUT_STRAIN_ENERGY:
        strain = strain_energy(lane, plan, pars, ws, hinge_row(plan, read(plan, row + f.OUTPUT_BODY)))
        store(lane, ws, to, strain + read(pars, p + f.OUTPUT_CONSTANT))
        return
    moment = add(load3(lane, ws, sums + f.SUM_MOMENT), read3(pars, p + f.OUTPUT_PLACE))
    angular, linear = load_spatial(lane, ws, sums + f.SUM_MOMENTUM)
    if kind == f.OUT_ANGULAR or kind == f.OUT_LINEAR:
        about = sub(angular, cross(scale(1.0/total_mass(lane, plan, pars, ws), moment), linear))
        if kind == f.OUT_LINEAR:
            about = linear
        store(lane, ws, to, unrotate(axes_of(lane, plan, pars, ws, row, p), about))
        return
    energy = zero(lane)
    if kind != f.OUT_POTENTIAL:
        energy = load(lane, ws, sums + f.SUM_KINETIC)
    if kind != f.OUT_KINETIC:
        energy = energy + stored_energy(lane, plan, pars, ws) - dot(read3(pars, f.GRAVITY), moment)
    store(lane, ws, to, energy + read(pars, p + f.OUTPUT_CONSTANT))


@sweep(features=("flexible", "tanks"))
def sum_motion(lane, plan, pars, ws):
    """Kinetic energy, momentum about the world's origin and first moment of mass of all moving bodies; all paths must be
    traced."""
    noinline()
    o = (zero(lane), zero(lane), zero(lane))
    energy, momentum, moment = zero(lane), (o, o), o
    for k in range(1, read(plan, f.N_HINGES) + 1):
        row = hinge_row(plan, k)
        if read(plan, row + f.MASSIVE):
            C, omega, (p, v) = load_motion(lane, ws, read(plan, row + f.RECORD))
            J, h, m = own_composite(lane, plan, pars, ws, k, C)
            own = composite_times((J, h, m), (omega, v))
            energy, momentum = energy + 0.5*spatial_dot(own, (omega, v)), add(momentum, shift_wrench(p, own))
            moment = add(moment, add(h, scale(m, p)))
        if read(plan, row + f.KIND) == MODAL:
            T, own, h = modal_sums(lane, plan, pars, ws, k)
            energy, momentum, moment = energy + T, add(momentum, own), add(moment, h)
    for j in range(read(plan, f.N_WHEELS)):
        T, spin = wheel_sums(lane, plan, pars, ws, j)
        energy, momentum = energy + T, add(momentum, (spin, o))
    if read(plan, f.IN_ORBIT):
        V = load3(lane, ws, read(plan, f.WS_X) + read(plan, f.N_X) - read(plan, f.N_LAW_STATES) - 3)
        energy = energy + 0.5*total_mass(lane, plan, pars, ws)*dot(V, V)
    sums = read(plan, f.WS_SUMS)
    store(lane, ws, sums + f.SUM_KINETIC, energy)
    store(lane, ws, sums + f.SUM_MOMENTUM, momentum)
    store(lane, ws, sums + f.SUM_MOMENT, moment)


@flexible_only(otherwise=lambda lane, plan, pars, ws, k: (0.0, (ZERO, ZERO), ZERO))
def modal_sums(lane, plan, pars, ws, k):
    """For a flexible body: P V + g eta', V.P V/2 + eta'.g V + eta'.D eta'/2, and h, as deformed [B 9]."""
    row, b = hinge_row(plan, k), k*f.HINGE_PARS
    (flex, n), speeds, o = flex_of(plan, row), read(plan, row + f.V), (zero(lane), zero(lane), zero(lane))
    own, (rows, length, at_g, _) = read(plan, flex + f.FLEX_WS) + f.MODAL_J, mode_rows(lane, plan, flex, n)
    store(lane, ws, own, ((o, o), o))                                       # zero acceleration: only the mass terms are needed
    deform_body(lane, plan, pars, ws, row, k)
    C, omega, (p, v) = load_motion(lane, ws, read(plan, row + f.RECORD))
    V, h, m = unrotate_spatial(C, (omega, v)), load3(lane, ws, own + 6), read(pars, b + f.MASS)
    momentum = composite_times((load6(lane, ws, own), h, m), V)
    energy = 0.5*spatial_dot(momentum, V)
    for r in range(n):
        g, rate, D = load_spatial(lane, ws, rows + length*r + at_g), load(lane, ws, speeds + r), rows + length*r
        share = spatial_dot(g, V) + 0.5*load(lane, ws, D + r)*rate
        for s in range(r + 1, n):
            share = share + load(lane, ws, D + s)*load(lane, ws, speeds + s)
        energy, momentum = energy + share*rate, add(momentum, scale(rate, g))
    return energy, shift_wrench(p, rotate_spatial(C, momentum)), add(rotate(C, h), scale(m, p))


@leaf
def wheel_sums(lane, plan, pars, ws, j):
    """Energy and momentum added by a wheel: at constant speed the inertia of its body contains it; driven by a motor, all but J e
    e^T."""
    row, p = read(plan, f.WHEELS) + j*f.WHEEL_ROW, read(plan, f.PAR_WHEELS) + j*f.WHEEL_PARS
    C, omega, _ = load_motion(lane, ws, record_of(plan, read(plan, row + f.WHEEL_HINGE)))
    e, J = rotate(C, read3(pars, p + f.WHEEL_AXIS)), read(pars, p + f.WHEEL_INERTIA)
    speed, carried = load(lane, ws, read(plan, row + f.WHEEL_SPEED)), dot(e, omega)
    energy = J*speed*(carried + 0.5*speed)
    if read(plan, row + f.WHEEL_DRIVEN):
        speed = speed + carried
        energy = 0.5*J*speed*speed
    return energy, scale(J*speed, e)


@leaf
def stored_energy(lane, plan, pars, ws):
    """Energy of joint springs, force elements and flexible bodies, up to a constant."""
    energy = zero(lane)
    for j in range(read(plan, f.N_SPRINGS)):
        row, p = read(plan, f.SPRINGS) + j*f.SPRING_ROW, read(plan, f.PAR_SPRINGS) + j*f.SPRING_PARS
        stretch = load(lane, ws, read(plan, row + f.SPRING_Q)) - read(pars, p + f.REST)
        energy = energy + 0.5*read(pars, p + f.STIFFNESS)*stretch*stretch
    apply_elements(lane, plan, pars, ws)                                    # slots are cleared before use
    for j in range(read(plan, f.N_ELEMENTS)):
        energy = energy + load(lane, ws, read(plan, f.WS_ELEMENTS) + j*f.ELEMENT_OUT + f.ELEMENT_ENERGY)
    for k in range(1, read(plan, f.N_HINGES) + 1):
        if read(plan, hinge_row(plan, k) + f.KIND) == MODAL:
            energy = energy + strain_energy(lane, plan, pars, ws, hinge_row(plan, k))
    return energy + slosh_energy(lane, plan, ws)


@leaf
def quaternion_of(R):
    """Unit quaternion of a rotation matrix, scalar part not negative, from the largest column of 4 q q'."""
    xx, xy, xz, yx, yy, yz, zx, zy, zz = R
    x, y, z, w = 1.0 + xx - yy - zz, 1.0 - xx + yy - zz, 1.0 - xx - yy + zz, 1.0 + xx + yy + zz
    best, size = (x, xy + yx, xz + zx, zy - yz), x
    best, size = larger_column(y - size, (xy + yx, y, yz + zy, xz - zx), y, best, size)
    best, size = larger_column(z - size, (xz + zx, yz + zy, z, yx - xy), z, best, size)
    (a, b, c, d), _ = larger_column(w - size, (zy - yz, xz - zx, yx - xy, w), w, best, size)
    return scale(where_positive(-d, -1.0, 1.0)/sqrt(a*a + b*b + c*c + d*d), (a, b, c, d))


@leaf
def larger_column(excess, column, its_size, best, size):
    """The column and its diagonal entry if that is larger, else the best so far."""
    (a, b, c, d), (i, j, k, m) = column, best
    a, b = where_positive(excess, a, i), where_positive(excess, b, j)
    return (a, b, where_positive(excess, c, k), where_positive(excess, d, m)), where_positive(excess, its_size, size)
