"""What the links of the partitioned tree are made of, for the operators: numbers that scatter_motion and apply_loads left in ws.

The kernels that Python calls: rows of states in, rows of results out, one or four states at a time.

Every kernel takes the sweep table, the model's tables, the rows `t` (time), `x` (state), `u` (controls), the result `out`, and a
workspace whose rank chooses the lanes.  `pars` has one row, or one for each group of states.
"""

from bough.kernels.hinges import MODAL
from bough.kernels.jit import kernel, leaf
from bough.kernels.lanes import (align_stack, flexible_only, get_lane, lanes_of, load, noinline, pointer_to, pointer_to_row, read,
                                 store, width_of)
from bough.kernels.linker import sweep
from bough.sweeps import fields as f
from bough.sweeps.articulated import solve_order_n
from bough.sweeps.blocks import load_rows, n_groups, store_rows
from bough.sweeps.closures import assemble_loops, bias_place
from bough.sweeps.composite import gather_wrench, gather_mass_matrix
from bough.sweeps.derivative import CLOUD, DENSE, ORDER_N, accelerate_wheels, accelerations, derivative
from bough.sweeps.elements import apply_elements
from bough.sweeps.held import apply_prescribed_motion, prescribe_speed_jumps, store_prescribed_accelerations
from bough.sweeps.motion import LEAN, MOTION, hinge_row, remainder_motion, scatter_positions, store_wrenches, vdot_motion
from bough.sweeps.loads import apply_loads, clear_slots, gather_inputs
from bough.sweeps.loop_jacobian import loop_jacobian, loop_row
from bough.sweeps.modal import set_modal_forces_at_rest
from bough.sweeps.modes import flex_of, inboard_shapes, mode_rows, node_shapes
from functools import partial


@leaf
def store_link(lane, plan, ws, row, out, group, at):
    """One link from column `at` of out on; gives where the next one starts."""
    record, slot = read(plan, row + f.RECORD), read(plan, row + f.SLOT)
    store_rows(lane, out, group, at + f.LINK_ATTITUDE, ws, record + f.ATTITUDE, 9)
    store_rows(lane, out, group, at + f.LINK_OFFSET, ws, record + f.OFFSET, 3)
    store_rows(lane, out, group, at + f.LINK_ACCELERATION, ws, record + f.ACCELERATION, 6)
    if read(plan, row + f.MASSIVE):
        store_rows(lane, out, group, at + f.LINK_DEMAND, ws, record + f.GAIN, 6)
    if slot:
        store_rows(lane, out, group, at + f.LINK_APPLIED, ws, slot, 6)
    if read(plan, row + f.KIND) < MODAL:
        return at + f.LINK_ROW
    return store_link_shapes(lane, plan, ws, row, out, group, at)


def store_link_shapes(lane, plan, ws, row, out, group, at):
    """What a MODAL link and a NODE have more."""
    (flex, n), more = flex_of(plan, row), at + f.LINK_ROW
    if read(plan, row + f.KIND) != MODAL:
        store_rows(lane, out, group, more, ws, node_shapes(plan, row)[0], 6*n)
        return more + 6*n
    record, (rows, length, at_g, _) = read(plan, flex + f.FLEX_WS), mode_rows(lane, plan, flex, n)
    store_rows(lane, out, group, at + f.LINK_DEMAND, ws, record + f.MODAL_WRENCH, 6)
    store_rows(lane, out, group, more + f.LINK_J, ws, record + f.MODAL_J, 9)
    more = more + f.LINK_MODES
    for j in range(n):
        store_rows(lane, out, group, more, ws, rows + length*j, n)
        store_rows(lane, out, group, more + n, ws, rows + length*j + at_g, 7)
        more = more + n + 7
    if read(plan, flex + f.INBOARD_MOVES):
        store_rows(lane, out, group, more, ws, inboard_shapes(lane, plan, flex), 6*n)
    return more + 6*n


flexible_only(store_link_shapes, lambda lane, plan, ws, row, out, group, at: at)


# ---- calls -----------------------------------------------------------------------------------------------------------------
@leaf
def load_state(lane, plan, tables, t, x, u, group, ws):
    load_rows(lane, t, group, ws, read(plan, f.WS_TIME), 2)
    load_rows(lane, x, group, ws, read(plan, f.WS_X), read(plan, f.N_X))
    load_rows(lane, u, group, ws, read(plan, f.WS_U), read(plan, f.N_U))
    apply_prescribed_motion(lane, plan, tables, ws, False)
    reset_closure_weights(lane, plan, ws)


@leaf
def reset_closure_weights(lane, plan, ws):
    """Loops count with their accelerations, and gravity acts."""
    if read(plan, f.N_LOOPS):
        store(lane, ws, read(plan, f.WS_CLOSURE) + f.CLOSURE_ACCELERATION, (1.0, 0.0, 0.0))


@leaf
def pars_of(pars, group):
    return pointer_to_row(pars, min(group, pars.shape[0] - 1))


@kernel
def forward(method, sweep_table, plan, pars, tables, t, x, u, out, ws):
    """out = vdot | wheel accelerations | orbit's rates | multipliers of loops, by a method: the three sweeps; mass matrix and
    Cholesky's factors, with nv^2 numbers more in ws; the momentum cloud, without multipliers, with the clouds' numbers more."""
    align_stack()
    lane, plan, tables, ws = lanes_of(ws, sweep_table), pointer_to(plan), pointer_to(tables), pointer_to(ws)
    for group in range(n_groups(lane, x)):
        load_state(lane, plan, tables, t, x, u, group, ws)
        accelerations(lane, plan, pars_of(pars, group), tables, ws, method, 0)
        rates = read(plan, f.N_X) - read(plan, f.NQ)
        store_rows(lane, out, group, 0, ws, read(plan, f.WS_XDOT) + read(plan, f.NQ), rates)
        store_rows(lane, out, group, rates, ws, read(plan, f.WS_MULTIPLIERS), out.shape[1] - rates)


forward_order_n, forward_dense, forward_cloud = (partial(forward, method) for method in (ORDER_N, DENSE, CLOUD))


@kernel
def state_derivative(sweep_table, plan, pars, tables, t, x, u, out, ws):
    """out = x', by the three sweeps."""
    align_stack()
    lane, plan, tables, ws = lanes_of(ws, sweep_table), pointer_to(plan), pointer_to(tables), pointer_to(ws)
    for group in range(n_groups(lane, x)):
        load_state(lane, plan, tables, t, x, u, group, ws)
        derivative(lane, plan, pars_of(pars, group), tables, ws, ORDER_N, 0)
        store_rows(lane, out, group, 0, ws, read(plan, f.WS_XDOT), read(plan, f.N_X))


@kernel
def impulse(sweep_table, plan, pars, tables, t, x, u, change, out, ws):
    """out = by how much v and wheel speeds jump under impulses u along v, when those that are held jump by `change` [B 18].  The
    state is at rest, pars are without gravity.  Without a change it is M^-1 u."""
    align_stack()
    lane, plan, tables, ws = lanes_of(ws, sweep_table), pointer_to(plan), pointer_to(tables), pointer_to(ws)
    for group in range(n_groups(lane, x)):
        load_state(lane, plan, tables, t, x, u, group, ws)
        load_rows(lane, change, group, ws, read(plan, f.WS_XDOT) + read(plan, f.NQ), read(plan, f.NV))
        impulse_sweeps(lane, plan, pars_of(pars, group), ws)
        store_rows(lane, out, group, 0, ws, read(plan, f.WS_XDOT) + read(plan, f.NQ), out.shape[1])


@sweep
def impulse_sweeps(lane, plan, pars, ws):
    """The sweeps of an impulse.  Loops stay as open or closed as they are: J dv = 0, in which what is given of dv counts as the
    bias of a body at rest."""
    noinline()
    prescribe_speed_jumps(lane, plan, ws)
    remainder_motion(lane, plan, pars, ws)
    set_modal_forces_at_rest(lane, plan, ws)
    clear_slots(lane, plan, ws)
    assemble_loops(lane, plan, pars, ws, 0)
    solve_order_n(lane, plan, pars, ws)
    store_prescribed_accelerations(lane, plan, ws)
    accelerate_wheels(lane, plan, pars, ws)


@leaf
def inverse_sweeps(lane, plan, pars, tables, t, x, u, vdot, group, ws, keep):
    """Wrenches through the hinges into the records, their shares along the hinges to where vdot was."""
    load_state(lane, plan, tables, t, x, u, group, ws)
    load_rows(lane, vdot, group, ws, read(plan, f.WS_XDOT) + read(plan, f.NQ), read(plan, f.NV))
    inverse_dynamics_sweeps(lane, plan, pars, tables, ws, keep)


@sweep
def inverse_dynamics_sweeps(lane, plan, pars, tables, ws, keep):
    """The sweeps of inverse dynamics."""
    noinline()
    gather_inputs(lane, plan, pars, tables, ws)
    vdot_motion(lane, plan, pars, ws, LEAN)
    apply_loads(lane, plan, pars, ws)
    gather_wrench(lane, plan, pars, ws, keep)


@kernel
def inverse(sweep_table, plan, pars, tables, t, x, u, vdot, out, ws):
    """out = joint torques that give vdot, on top of u and of what the model itself applies."""
    align_stack()
    lane, plan, tables, ws = lanes_of(ws, sweep_table), pointer_to(plan), pointer_to(tables), pointer_to(ws)
    for group in range(n_groups(lane, x)):
        inverse_sweeps(lane, plan, pars_of(pars, group), tables, t, x, u, vdot, group, ws, False)
        at, applied = read(plan, f.WS_XDOT) + read(plan, f.NQ), read(plan, f.WS_U)
        for i in range(min(width_of(lane), out.shape[0] - group*width_of(lane))):
            for j in range(read(plan, f.NV)):
                out[group*width_of(lane) + i, j] = get_lane(lane, ws, at + j, i) - get_lane(lane, ws, applied + j, i)


@kernel
def hinge_wrenches(sweep_table, plan, pars, tables, t, x, u, vdot, out, ws):
    """out = six numbers a hinge: the wrench of the inner body on the outer, about the hinge, in inertial axes."""
    align_stack()
    lane, plan, tables, ws = lanes_of(ws, sweep_table), pointer_to(plan), pointer_to(tables), pointer_to(ws)
    for group in range(n_groups(lane, x)):
        inverse_sweeps(lane, plan, pars_of(pars, group), tables, t, x, u, vdot, group, ws, True)
        for k in range(1, read(plan, f.N_HINGES) + 1):
            store_rows(lane, out, group, 6*(k - 1), ws, read(plan, hinge_row(plan, k) + f.RECORD) + f.ACCELERATION, 6)


@kernel
def mass_matrix(sweep_table, plan, pars, tables, t, x, u, out, ws):
    """out = the mass matrix, row by row; ws holds nv^2 numbers more."""
    align_stack()
    lane, plan, tables, ws = lanes_of(ws, sweep_table), pointer_to(plan), pointer_to(tables), pointer_to(ws)
    for group in range(n_groups(lane, x)):
        load_state(lane, plan, tables, t, x, u, group, ws)
        remainder_motion(lane, plan, pars_of(pars, group), ws)
        gather_mass_matrix(lane, plan, pars_of(pars, group), ws)
        store_rows(lane, out, group, 0, ws, read(plan, f.WS_MASS), read(plan, f.NV)*read(plan, f.NV))


@kernel
def links(sweep_table, plan, pars, tables, t, x, u, out, ws):
    """out = what the links of the tree are made of, see `sweeps.links`; then the forces along v that the model itself applies.  out
    comes with zeros."""
    align_stack()
    lane, plan, tables, ws = lanes_of(ws, sweep_table), pointer_to(plan), pointer_to(tables), pointer_to(ws)
    for group in range(n_groups(lane, x)):
        load_state(lane, plan, tables, t, x, u, group, ws)
        gather_links(lane, plan, pars_of(pars, group), tables, ws)
        at = 0
        for k in range(1, read(plan, f.N_HINGES) + 1):
            at = store_link(lane, plan, ws, hinge_row(plan, k), out, group, at)
        store_rows(lane, out, group, at, ws, read(plan, f.WS_U), read(plan, f.NV))


@sweep
def gather_links(lane, plan, pars, tables, ws):
    """The sweeps whose results `links` copies out."""
    noinline()
    gather_inputs(lane, plan, pars, tables, ws)
    remainder_motion(lane, plan, pars, ws)
    store_wrenches(lane, plan, pars, ws)
    apply_loads(lane, plan, pars, ws)


@kernel
def kinematics(sweep_table, plan, pars, tables, t, x, u, vdot, out, ws):
    """out = a KINEMATICS_ROW a body, then ELEMENT_OUT numbers a force element; ws holds as many numbers more as the former."""
    align_stack()
    lane, plan, tables, ws = lanes_of(ws, sweep_table), pointer_to(plan), pointer_to(tables), pointer_to(ws)
    for group in range(n_groups(lane, x)):
        load_state(lane, plan, tables, t, x, u, group, ws)
        load_rows(lane, vdot, group, ws, read(plan, f.WS_XDOT) + read(plan, f.NQ), read(plan, f.NV))
        vdot_motion(lane, plan, pars_of(pars, group), ws, MOTION)
        scatter_positions(lane, plan, pars_of(pars, group), ws, read(plan, f.WS_MASS))
        apply_elements(lane, plan, pars_of(pars, group), ws)
        bodies = f.KINEMATICS_ROW*read(plan, f.N_HINGES)
        store_rows(lane, out, group, 0, ws, read(plan, f.WS_MASS) + f.KINEMATICS_ROW, bodies)
        store_rows(lane, out, group, bodies, ws, read(plan, f.WS_ELEMENTS), f.ELEMENT_OUT*read(plan, f.N_ELEMENTS))


@kernel
def loop_terms(sweep_table, plan, pars, tables, t, x, u, weights, out, ws):
    """out = for each multiplier its equation's gap, rate of it and acceleration of it, weighted by `weights`; then its row of the
    Jacobian.  ws holds nv numbers more for each."""
    align_stack()
    lane, plan, tables, ws = lanes_of(ws, sweep_table), pointer_to(plan), pointer_to(tables), pointer_to(ws)
    for group in range(n_groups(lane, x)):
        load_state(lane, plan, tables, t, x, u, group, ws)
        remainder_motion(lane, plan, pars_of(pars, group), ws)
        if read(plan, f.N_LOOPS):
            for i in range(3):
                store(lane, ws, read(plan, f.WS_CLOSURE) + f.CLOSURE_ACCELERATION + i, weights[i])
            loop_equations(lane, plan, pars_of(pars, group), ws)
        n = read(plan, f.N_MULTIPLIERS)
        store_rows(lane, out, group, 0, ws, read(plan, f.WS_MULTIPLIERS), n)
        store_rows(lane, out, group, n, ws, read(plan, f.WS_MASS), n*read(plan, f.NV))


@sweep(needs="loops")
def loop_equations(lane, plan, pars, ws):
    """Biases of all loops' equations in the place of their multipliers, and their Jacobian at WS_MASS."""
    noinline()
    assemble_loops(lane, plan, pars, ws, 0)
    for i in range(read(plan, f.N_MULTIPLIERS)):
        store(lane, ws, read(plan, f.WS_MULTIPLIERS) + i, 0.0)
    for loop in range(read(plan, f.N_LOOPS)):
        row = loop_row(plan, loop)
        for j in range(read(plan, row + f.LOOP_ROWS)):
            store(lane, ws, read(plan, row + f.LOOP_MULTIPLIERS) + j, load(lane, ws, bias_place(plan, row) - j))
    loop_jacobian(lane, plan, pars, ws, read(plan, f.WS_MASS))
