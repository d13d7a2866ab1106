"""Loads other than the caller's joint torques: constants, time tables, inputs, springs, wheels, wrenches.

`u` (see `compile.layout`) starts as the caller's controls; constants, tables, inputs and springs are added to it.  Wheels,
wrenches, force elements and central gravity act on bodies, through the applied wrench in a body's slot (about its origin, in
inertial axes), which every dynamics sweep subtracts.
"""

from bough import sweeps
from bough.kernels.algebra import cross, dot, rotate, rotate_spatial, shift_wrench
from bough.kernels.jit import leaf
from bough.kernels.lanes import (accumulate, add_lane, duals_only, get_lane, get_tangent, load, load3, load9, load_spatial,
                                 noinline, put_tangent, read, read3, read9, scale, store, width_of, zero)
from bough.kernels.linker import sweep
from bough.sweeps import fields as f
from bough.sweeps.implicit import act_implicitly, clear_implicit_inertia, implicit_distance
from bough.sweeps.tree_motion import hinge_row, record_of


@leaf
def piecewise(tables, at, pieces, t, t_piece):
    """Value at t of the cubic piece that applies at t_piece; the start value before the first piece."""
    row = sweeps.held.last_start(tables, at, f.PIECE, pieces, t_piece)
    s = max(t - read(tables, row), 0.0)
    return read(tables, row + 1) + s*(read(tables, row + 2) + s*(read(tables, row + 3) + s*read(tables, row + 4)))


@leaf
def piecewise_slope(tables, at, pieces, t, t_piece):
    """Its rate; zero before the first piece."""
    row = sweeps.held.last_start(tables, at, f.PIECE, pieces, t_piece)
    s = t - read(tables, row)
    if s < 0.0:
        return 0.0
    return read(tables, row + 2) + s*(2.0*read(tables, row + 3) + 3.0*s*read(tables, row + 4))


@leaf
def gather_inputs(lane, plan, pars, tables, ws):
    """u = controls (already there) + constants + time tables + inputs - springs and dampers.

    Time is given by two numbers, t and a time inside the current step: if a table jumps at the end of a step, the last stage of the
    step still uses the piece before the jump."""
    for i in range(read(plan, f.N_CONSTANTS)):
        accumulate(lane, ws, read(plan, f.WS_U) + i, read(pars, read(plan, f.PAR_INPUTS) + i))
    for j in range(read(plan, f.N_TABLES)):
        row, time = read(plan, f.TABLES) + j*f.TABLE_ROW, read(plan, f.WS_TIME)
        target = read(plan, row + f.TABLE_TARGET)
        for i in range(width_of(lane)):
            value = piecewise(tables, read(plan, row + f.TABLE_AT), read(plan, row + f.TABLE_PIECES),
                              get_lane(lane, ws, time, i), get_lane(lane, ws, time + 1, i))
            add_lane(lane, ws, target, i, value)
        add_table_slopes(lane, plan, tables, ws, row)
    gather_ports(lane, plan, pars, ws)
    clear_implicit_inertia(lane, plan, ws)
    for j in range(read(plan, f.N_SPRINGS)):
        row, p = read(plan, f.SPRINGS) + j*f.SPRING_ROW, read(plan, f.PAR_SPRINGS) + j*f.SPRING_PARS
        far = implicit_distance(lane, plan)*read(plan, row + f.SPRING_LOCAL)
        q, v = read(plan, row + f.SPRING_Q) + far, read(plan, row + f.SPRING_V) + far
        stretch, rate = load(lane, ws, q) - read(pars, p + f.REST), load(lane, ws, v)
        if read(plan, row + f.SPRING_ACTS):
            force = read(pars, p + f.STIFFNESS)*stretch + read(pars, p + f.DAMPING)*rate
            accumulate(lane, ws, read(plan, row + f.SPRING_TAU), -force)
            act_implicitly(lane, plan, pars, ws, row, p, rate)
    sweeps.tanks.apply_slosh(lane, plan, ws)
    sweeps.couplings.apply_couplings(lane, plan, pars, ws)
    sweeps.friction_forces.apply_frictions(lane, plan, pars, ws)


@duals_only
def add_table_slopes(lane, plan, tables, ws, row):
    """Duals whose time has tangents: add the resulting tangent of a time table to its target."""
    time, target = read(plan, f.WS_TIME), read(plan, row + f.TABLE_TARGET)
    for i in range(width_of(lane)):
        slope = piecewise_slope(tables, read(plan, row + f.TABLE_AT), read(plan, row + f.TABLE_PIECES),
                                get_lane(lane, ws, time, i), get_lane(lane, ws, time + 1, i))
        put_tangent(lane, ws, target, i, get_tangent(lane, ws, target, i) + slope*get_tangent(lane, ws, time, i))


@leaf
def gather_ports(lane, plan, pars, ws):
    """Add the inputs to their targets: torques, motors, wrenches, rest lengths of lines."""
    for j in range(read(plan, f.N_PORTS)):
        row = read(plan, f.PORTS) + j*f.PORT_ROW
        accumulate(lane, ws, read(plan, row + f.PORT_TARGET), port_share(lane, plan, pars, ws, j))


@leaf
def port_share(lane, plan, pars, ws, j):
    """Contribution of an input to its target."""
    source = read(plan, read(plan, f.PORTS) + j*f.PORT_ROW + f.PORT_SOURCE)
    return read(pars, read(plan, f.PAR_PORTS) + j*f.PORT_PARS + f.PORT_FACTOR)*load(lane, ws, source)


@leaf
def clear_slots(lane, plan, ws):
    for i in range(6*read(plan, f.N_SLOTS)):
        store(lane, ws, read(plan, f.WS_SLOTS) + i, zero(lane))


@leaf
def apply_loads(lane, plan, pars, ws):
    """Fill the slots, if there are any."""
    if read(plan, f.HAS_LOADS):
        fill_slots(lane, plan, pars, ws)


@leaf
def apply_loads_to_moving(lane, plan, pars, ws):
    """apply_loads with given accelerations; in orbit these are relative to the mass center of the tree."""
    apply_loads(lane, plan, pars, ws)
    if read(plan, f.IN_ORBIT):
        sweeps.orbit.subtract_mean_from_loads(lane, plan, pars, ws)


@sweep(features=("flexible", "loops", "tanks"))
def fill_slots(lane, plan, pars, ws):
    """Applied wrenches of wheels, external wrenches, loops' joints, force elements and central gravity."""
    noinline()
    apply_body_loads(lane, plan, pars, ws)
    sweeps.closures.apply_loop_loads(lane, plan, pars, ws)
    sweeps.force_elements.apply_elements(lane, plan, pars, ws)
    sweeps.tanks.apply_tanks(lane, plan, pars, ws)
    if read(plan, f.IN_ORBIT):
        sweeps.orbit.apply_orbit(lane, plan, pars, ws)


@leaf
def apply_body_loads(lane, plan, pars, ws):
    """Fill the slots with loads that depend only on the motion of their own body: wheels and external wrenches."""
    clear_slots(lane, plan, ws)
    for j in range(read(plan, f.N_WHEELS)):
        apply_wheel(lane, plan, pars, ws, j)
    for j in range(read(plan, f.N_WRENCHES)):
        apply_wrench(lane, plan, pars, ws, j)


@leaf
def apply_wheel(lane, plan, pars, ws, j):
    """Gyroscopic torque and reaction of an embedded wheel [S 53], [B 2].

    Constant speed: h = J Omega, and the body's inertia contains the wheel.  Driven by a motor: the wheel turns freely about its
    axis e, so the body's inertia is without J e e^T, and h = J (Omega + e.omega), h' = motor torque."""
    row, p = read(plan, f.WHEELS) + j*f.WHEEL_ROW, read(plan, f.PAR_WHEELS) + j*f.WHEEL_PARS
    k = read(plan, row + f.WHEEL_HINGE)
    record, slot = record_of(plan, k), read(plan, hinge_row(plan, k) + f.SLOT)
    if slot == 0:                                            # on the ground
        return
    omega = load3(lane, ws, record + f.RATE)
    e = rotate(load9(lane, ws, record + f.ATTITUDE), read3(pars, p + f.WHEEL_AXIS))
    speed = load(lane, ws, read(plan, row + f.WHEEL_SPEED))
    if read(plan, row + f.WHEEL_DRIVEN):
        speed = speed + dot(e, omega)
        accumulate(lane, ws, slot, scale(-load(lane, ws, read(plan, row + f.WHEEL_MOTOR)), e))
    accumulate(lane, ws, slot, scale(read(pars, p + f.WHEEL_INERTIA)*speed, cross(e, omega)))       # -omega x h


@leaf
def apply_wrench(lane, plan, pars, ws, j):
    """Add an external wrench to the slot of its body."""
    k, arm, wrench = wrench_at(lane, plan, pars, ws, j)
    accumulate(lane, ws, read(plan, hinge_row(plan, k) + f.SLOT), shift_wrench(arm, wrench))


@leaf
def wrench_at(lane, plan, pars, ws, j):
    """An external wrench, given at a point of a body in body or world axes: the body, the vector from its origin to the point,
    and the wrench about the point."""
    row, p = read(plan, f.WRENCHES) + j*f.WRENCH_ROW, read(plan, f.PAR_WRENCHES) + j*f.WRENCH_PARS
    k = read(plan, row + f.WRENCH_HINGE)
    C = load9(lane, ws, record_of(plan, k) + f.ATTITUDE)
    given = load_spatial(lane, ws, read(plan, row + f.WRENCH_U))
    wrench = given
    if read(plan, row + f.WRENCH_WORLD) == 0:
        wrench = rotate_spatial(C, rotate_spatial(read9(pars, p + f.WRENCH_C), given))
    return k, rotate(C, read3(pars, p + f.WRENCH_R)), wrench
