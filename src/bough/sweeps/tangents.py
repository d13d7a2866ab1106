"""Exact derivatives along given directions: the same sweeps on dual numbers.

Rows of `t`, `x` and `u` are n states; rows of `dt`, `dx` and `du` are m directions for each of them, state by state.  Each lane
processes one direction.  Rows of `out` are results at the states, rows of `dout` their derivatives along the directions.
"""
from bough.kernels.jit import kernel, leaf
from bough.kernels.lanes import (align_stack, flat, get_lane, get_tangent, lanes_of, load, noinline, parameters_of, pointer_to,
                                 put_lane, put_tangent, read, store, width_of)
from bough.kernels.linker import sweep
from bough.sweeps import fields as f
from bough.sweeps.blocks import n_groups
from bough.sweeps.calls import behind_traced, inverse_dynamics_sweeps, reset_closure_weights
from bough.sweeps.derivative import ORDER_N, accelerations
from bough.sweeps.force_elements import apply_elements
from bough.sweeps.held import apply_prescribed_motion
from bough.sweeps.kinematics import fill_frames, trace_motion
from bough.sweeps.loads import gather_ports
from bough.sweeps.tree_motion import hinge_row
from bough.sweeps.outputs import evaluate_outputs
from bough.sweeps.schema import frame_blocks
from bough.sweeps.tanks import set_masses


@leaf
def load_along(lane, rows, along, group, ws, at, n):
    """Copy states and directions of a group to duals; unused lanes of the last group repeat its last one."""
    width, last, m = width_of(lane), along.shape[0] - 1, along.shape[0]//rows.shape[0]
    for j in range(n):
        for i in range(width):
            direction = min(group*width + i, last)
            put_lane(lane, ws, at + j, i, rows[direction//m, j])
            put_tangent(lane, ws, at + j, i, along[direction, j])


@leaf
def store_along(lane, rows, along, group, first, ws, at, n):
    """Copy duals to the rows of results and of their derivatives, from column `first` on."""
    width, m = width_of(lane), along.shape[0]//rows.shape[0]
    for i in range(min(width, along.shape[0] - group*width)):
        direction = group*width + i
        for j in range(n):
            rows[direction//m, first + j] = get_lane(lane, ws, at + j, i)
            along[direction, first + j] = get_tangent(lane, ws, at + j, i)


@leaf
def load_dual_state(lane, plan, tables, t, x, u, dt, dx, du, group, ws):
    load_along(lane, t, dt, group, ws, read(plan, f.WS_TIME), 2)
    load_along(lane, x, dx, group, ws, read(plan, f.WS_X), read(plan, f.N_X))
    load_along(lane, u, du, group, ws, read(plan, f.WS_U), read(plan, f.N_U))
    apply_prescribed_motion(lane, plan, tables, ws, False)
    reset_closure_weights(lane, plan, ws)
    set_masses(lane, plan, tables, ws)


@kernel
def forward_tangents(sweep_table, plan, pars, tables, t, x, u, dt, dx, du, out, dout, ws):
    """out = vdot | wheel accelerations | orbit's rates | multipliers of loops, by the three sweeps; dout its derivatives."""
    align_stack()
    lane, plan, tables, ws = lanes_of(ws, sweep_table), pointer_to(plan), pointer_to(tables), pointer_to(ws)
    for group in range(n_groups(lane, dx)):
        load_dual_state(lane, plan, tables, t, x, u, dt, dx, du, group, ws)
        accelerations(lane, plan, parameters_of(pars, group), tables, ws, ORDER_N, 0)
        rates = read(plan, f.N_X) - read(plan, f.NQ) - read(plan, f.N_LAW_STATES)
        store_along(lane, out, dout, group, 0, ws, read(plan, f.WS_XDOT) + read(plan, f.NQ), rates)
        store_along(lane, out, dout, group, rates, ws, read(plan, f.WS_MULTIPLIERS), out.shape[1] - rates)


@leaf
def load_dual_vdot(lane, plan, vdot, dvdot, group, ws):
    load_along(lane, vdot, dvdot, group, ws, read(plan, f.WS_XDOT) + read(plan, f.NQ), read(plan, f.NV))


@kernel
def inverse_tangents(sweep_table, plan, pars, tables, t, x, u, dt, dx, du, vdot, dvdot, out, dout, ws):
    """out = joint torques that give vdot, in addition to u and the model's own loads; dout their derivatives."""
    align_stack()
    lane, plan, tables, ws = lanes_of(ws, sweep_table), pointer_to(plan), pointer_to(tables), pointer_to(ws)
    at, applied = read(plan, f.WS_XDOT) + read(plan, f.NQ), read(plan, f.WS_U)
    for group in range(n_groups(lane, dx)):
        load_dual_state(lane, plan, tables, t, x, u, dt, dx, du, group, ws)
        load_dual_vdot(lane, plan, vdot, dvdot, group, ws)
        inverse_dynamics_sweeps(lane, plan, parameters_of(pars, group), tables, ws, 0)
        for j in range(read(plan, f.NV)):
            store(lane, ws, at + j, load(lane, ws, at + j) - load(lane, ws, applied + j))
        store_along(lane, out, dout, group, 0, ws, at, read(plan, f.NV))


@kernel
def wrench_tangents(sweep_table, plan, pars, tables, t, x, u, dt, dx, du, vdot, dvdot, out, dout, ws):
    """out = six numbers per hinge: wrench of the inner body on the outer one, about the hinge, in inertial axes; dout their
    derivatives."""
    align_stack()
    lane, plan, tables, ws = lanes_of(ws, sweep_table), pointer_to(plan), pointer_to(tables), pointer_to(ws)
    n = read(plan, f.N_HINGES)
    for group in range(n_groups(lane, dx)):
        load_dual_state(lane, plan, tables, t, x, u, dt, dx, du, group, ws)
        load_dual_vdot(lane, plan, vdot, dvdot, group, ws)
        inverse_dynamics_sweeps(lane, plan, parameters_of(pars, group), tables, ws, 1)
        for k in range(1, n + 1):
            store_along(lane, out, dout, group, 6*(k - 1), ws, read(plan, hinge_row(plan, k) + f.RECORD) + f.ACCELERATION, 6)


@kernel
def kinematics_tangents(sweep_table, plan, pars, tables, x, u, dx, du, vdot, dvdot, route, spots, out, dout, ws):
    """out = FRAMES of the route; then, if the row is long enough, ELEMENT_OUT numbers per force element, as in `kinematics`; dout
    their derivatives."""
    align_stack()
    lane, plan, ws, route, spots = lanes_of(ws, sweep_table), pointer_to(plan), pointer_to(ws), pointer_to(route), flat(spots)
    at, frames = behind_traced(plan), frame_blocks(read(route, f.ROUTE_PLACES))[4]
    for group in range(n_groups(lane, dx)):
        load_along(lane, x, dx, group, ws, read(plan, f.WS_X), read(plan, f.N_X))
        load_dual_vdot(lane, plan, vdot, dvdot, group, ws)
        trace_motion(lane, plan, parameters_of(pars, group), ws, route)
        fill_frames(lane, plan, ws, route, spots, at, True)
        store_along(lane, out, dout, group, 0, ws, at, frames)
        if out.shape[1] > frames:
            load_along(lane, u, du, group, ws, read(plan, f.WS_U), read(plan, f.N_U))
            gather_port_tangents(lane, plan, parameters_of(pars, group), ws)
            apply_elements(lane, plan, parameters_of(pars, group), ws)
            store_along(lane, out, dout, group, frames, ws, read(plan, f.WS_ELEMENTS), f.ELEMENT_OUT*read(plan, f.N_ELEMENTS))


@kernel
def output_tangents(sweep_table, plan, pars, tables, t, x, u, dt, dx, du, places, out, dout, ws):
    """out = numbers at `places` in ws after evaluating the outputs that depend on the state alone; dout their derivatives."""
    align_stack()
    lane, plan, tables, ws = lanes_of(ws, sweep_table), pointer_to(plan), pointer_to(tables), pointer_to(ws)
    for group in range(n_groups(lane, dx)):
        load_dual_state(lane, plan, tables, t, x, u, dt, dx, du, group, ws)
        evaluate_outputs(lane, plan, parameters_of(pars, group), ws)
        for j in range(places.shape[0]):
            store_along(lane, out, dout, group, j, ws, places[j], 1)


@sweep(method="derivatives")
def gather_port_tangents(lane, plan, pars, ws):
    noinline()
    gather_ports(lane, plan, pars, ws)
