"""The kernels that Python calls: rows of states in, rows of results out, one or four states at a time.

Every kernel takes the sweep table, the model's tables, the rows `t` (time), `x` (state), `u` (controls), the result `out`, and a
workspace whose rank chooses the lanes.  `pars` has one row, or one for each group of states.  With duals each of t, x, u, ... and
`out` is two arrays, rows of states and their derivatives along as many directions of each state, and pars have tangents; `forward`,
`inverse`, `hinge_wrenches`, `kinematics` and `measure` are called so too.  Kernels for single calls return how many numbers of the
state, of its inputs and of the result are doubtful: see `doubts`.
"""
from functools import partial
from math import inf

from bough.kernels.hinges import LONGEST, MODAL, SHORTEST
from bough.kernels.jit import kernel, leaf
from bough.kernels.lanes import (align_stack, duals_only, flat, flexible_only, lanes_of, load, noinline, parameters_of,
                                 pointer_to, read, store, zero)
from bough.kernels.linker import sweep
from bough.sweeps import fields as f
from bough.sweeps.articulated import solve_order_n
from bough.sweeps.blocks import count_beyond, load_numbers, load_rows, n_groups, n_rows, row_length, store_numbers, store_rows
from bough.sweeps.closures import assemble_loops, bias_place
from bough.sweeps.couplings import balance_couplings
from bough.sweeps.composite import gather_mass_matrix, gather_wrench
from bough.sweeps.derivative import CLOUD, DENSE, ORDER_N, accelerate_wheels, accelerations, reset_closure_weights
from bough.sweeps.force_elements import apply_elements
from bough.sweeps.friction_forces import loaded_passes, update_loads
from bough.sweeps.held import apply_prescribed_motion, prescribe_speed_jumps, store_prescribed_accelerations
from bough.sweeps.kinematics import fill_column_rates, fill_columns, fill_frames, trace_motion, trace_positions
from bough.sweeps.tree_motion import LEAN, hinge_row, remainder_motion, store_wrenches, vdot_motion
from bough.sweeps.loads import apply_loads_to_moving, clear_slots, gather_inputs, gather_ports
from bough.sweeps.dense import loop_row
from bough.sweeps.loop_jacobian import loop_jacobian
from bough.sweeps.modal import set_modal_forces_at_rest
from bough.sweeps.modes import flex_of, inboard_shapes, mode_rows, node_shapes
from bough.sweeps.outputs import evaluate_outputs
from bough.sweeps.schema import frame_blocks
from bough.sweeps.tanks import set_masses

SUSPECT = 1e12                      # accelerations beyond this are looked into: is a joint singular here?


@leaf
def store_link(lane, plan, ws, row, out, group, at):
    """Store one link from column `at` of out on; returns where the next one starts."""
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


@flexible_only(otherwise=lambda lane, plan, ws, row, out, group, at: at)
def store_link_shapes(lane, plan, ws, row, out, group, at):
    """Additional numbers of a MODAL link and of a NODE."""
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


# ---- calls -----------------------------------------------------------------------------------------------------------------
@leaf
def load_state(lane, plan, tables, t, x, u, group, ws):
    load_rows(lane, t, group, ws, read(plan, f.WS_TIME), 2)
    load_rows(lane, x, group, ws, read(plan, f.WS_X), read(plan, f.N_X))
    load_rows(lane, u, group, ws, read(plan, f.WS_U), read(plan, f.N_U))
    apply_prescribed_motion(lane, plan, tables, ws, False)
    reset_closure_weights(lane, plan, ws)
    set_masses(lane, plan, tables, ws)


@leaf
def doubts(plan, x, given, out, n, limit):
    """For a call with one state: number of entries of the state and inputs that are not finite, of quaternions without length,
    and of the first n entries of the result not below a limit.  Batches are checked before and after a call, with NumPy."""
    if n_rows(x) > 1:
        return 0
    return doubtful_state(plan, x) + count_beyond(given, given.size, inf) + count_beyond(out, n, limit)


@duals_only(otherwise=lambda lane, plan, x, given, out, limit: doubts(plan, x, given, out, out.size, limit))
def doubts_of_all(lane, plan, x, given, out, limit):
    """doubts of the whole result; of duals, Python checks all numbers."""
    return 0


@leaf
def doubtful_state(plan, x):
    """For one state, or its coordinates: number of entries that are not finite and of quaternions without length."""
    found, entries = count_beyond(x, x.size, inf), flat(x)
    for k in range(read(plan, f.N_QUATERNIONS)):
        at = read(plan, read(plan, f.QUATERNIONS) + k*f.QUATERNION_ROW + f.QUATERNION_AT)
        square = 0.0
        for i in range(at, at + 4):
            square += float(read(entries, i))*float(read(entries, i))
        found += not SHORTEST < square < LONGEST
    return found


@kernel
def forward(method, sweep_table, plan, pars, tables, t, x, u, out, ws):
    """out = vdot | wheel accelerations | rates of the orbit | multipliers of loops, by a method: the three sweeps; mass matrix
    and its factors (nv^2 more numbers in ws); or the momentum cloud (no multipliers, ws with the clouds' numbers)."""
    align_stack()
    lane, plan, tables, ws = lanes_of(ws, sweep_table), pointer_to(plan), pointer_to(tables), pointer_to(ws)
    for group in range(n_groups(lane, x)):
        load_state(lane, plan, tables, t, x, u, group, ws)
        accelerations(lane, plan, parameters_of(pars, group), tables, ws, method, 0)
        rates = read(plan, f.N_X) - read(plan, f.NQ) - read(plan, f.N_LAW_STATES)
        store_rows(lane, out, group, 0, ws, read(plan, f.WS_XDOT) + read(plan, f.NQ), rates)
        store_rows(lane, out, group, rates, ws, read(plan, f.WS_MULTIPLIERS), row_length(lane, out) - rates)
    return doubts_of_all(lane, plan, x, u, out, SUSPECT)


forward_order_n, forward_dense, forward_cloud = (partial(forward, method) for method in (ORDER_N, DENSE, CLOUD))


@kernel
def state_rates(sweep_table, plan, pars, tables, t, x, u, out, ws):
    """out = x', with q not normalized."""
    align_stack()
    lane, plan, tables, ws = lanes_of(ws, sweep_table), pointer_to(plan), pointer_to(tables), pointer_to(ws)
    for group in range(n_groups(lane, x)):
        load_state(lane, plan, tables, t, x, u, group, ws)
        accelerations(lane, plan, parameters_of(pars, group), tables, ws, ORDER_N, 0)
        store_rows(lane, out, group, 0, ws, read(plan, f.WS_XDOT), out.shape[1])


@kernel
def impulse(sweep_table, plan, pars, tables, t, x, u, change, out, ws):
    """out = jumps of v and wheel speeds under impulses u along v, with prescribed jumps `change` of the held speeds [B 18].  The
    state is at rest, pars are without gravity.  Without a change this is M^-1 u."""
    align_stack()
    lane, plan, tables, ws = lanes_of(ws, sweep_table), pointer_to(plan), pointer_to(tables), pointer_to(ws)
    for group in range(n_groups(lane, x)):
        load_state(lane, plan, tables, t, x, u, group, ws)
        load_rows(lane, change, group, ws, read(plan, f.WS_XDOT) + read(plan, f.NQ), read(plan, f.NV))
        impulse_sweeps(lane, plan, parameters_of(pars, group), ws)
        store_rows(lane, out, group, 0, ws, read(plan, f.WS_XDOT) + read(plan, f.NQ), out.shape[1])


@sweep(features=("flexible", "loops", "holds"))
def impulse_sweeps(lane, plan, pars, ws):
    """The sweeps of an impulse.  Gaps of loops are kept: J dv = 0, in which the given part of dv is the bias of a body at
    rest."""
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
    """Wrenches through the hinges into the records, their components along the hinges in place of vdot."""
    load_state(lane, plan, tables, t, x, u, group, ws)
    load_rows(lane, vdot, group, ws, read(plan, f.WS_XDOT) + read(plan, f.NQ), read(plan, f.NV))
    inverse_dynamics_sweeps(lane, plan, pars, tables, ws, keep)


@sweep(features=("flexible", "implicit", "drives", "tanks"))
def inverse_dynamics_sweeps(lane, plan, pars, tables, ws, keep):
    """The sweeps of inverse dynamics."""
    noinline()
    gather_inputs(lane, plan, pars, tables, ws)
    vdot_motion(lane, plan, pars, ws, LEAN)
    apply_loads_to_moving(lane, plan, pars, ws)
    keep = keep or loaded_passes(lane, plan) > 1
    gather_wrench(lane, plan, pars, ws, keep)
    update_loads(lane, plan, pars, ws, zero(lane) + 1.0)                    # and the friction torques that depend on them


@kernel
def inverse(sweep_table, plan, pars, tables, t, x, u, vdot, out, ws):
    """out = joint torques that give vdot, in addition to u and the model's own loads."""
    align_stack()
    lane, plan, tables, ws = lanes_of(ws, sweep_table), pointer_to(plan), pointer_to(tables), pointer_to(ws)
    for group in range(n_groups(lane, x)):
        inverse_sweeps(lane, plan, parameters_of(pars, group), tables, t, x, u, vdot, group, ws, False)
        at, applied = read(plan, f.WS_XDOT) + read(plan, f.NQ), read(plan, f.WS_U)
        for j in range(read(plan, f.NV)):
            store(lane, ws, at + j, load(lane, ws, at + j) - load(lane, ws, applied + j))
        store_rows(lane, out, group, 0, ws, at, read(plan, f.NV))
    return doubts_of_all(lane, plan, x, vdot, out, inf)


@kernel
def hinge_wrenches(sweep_table, plan, pars, tables, t, x, u, vdot, out, ws):
    """out = six numbers per hinge: wrench of the inner body on the outer one, about the hinge, in inertial axes."""
    align_stack()
    lane, plan, tables, ws = lanes_of(ws, sweep_table), pointer_to(plan), pointer_to(tables), pointer_to(ws)
    for group in range(n_groups(lane, x)):
        inverse_sweeps(lane, plan, parameters_of(pars, group), tables, t, x, u, vdot, group, ws, True)
        for k in range(1, read(plan, f.N_HINGES) + 1):
            store_rows(lane, out, group, 6*(k - 1), ws, read(plan, hinge_row(plan, k) + f.RECORD) + f.ACCELERATION, 6)


@kernel
def mass_matrix(sweep_table, plan, pars, tables, t, x, u, out, ws):
    """out = the mass matrix, row by row; ws has nv^2 more numbers."""
    align_stack()
    lane, plan, tables, ws = lanes_of(ws, sweep_table), pointer_to(plan), pointer_to(tables), pointer_to(ws)
    for group in range(n_groups(lane, x)):
        load_state(lane, plan, tables, t, x, u, group, ws)
        remainder_motion(lane, plan, parameters_of(pars, group), ws)
        gather_mass_matrix(lane, plan, parameters_of(pars, group), ws)
        n, M = read(plan, f.NV), read(plan, f.WS_MASS)
        for j in range(n):
            for i in range(j):
                store(lane, ws, M + n*j + i, load(lane, ws, M + n*i + j))
        store_rows(lane, out, group, 0, ws, M, n*n)
    return doubts(plan, x, u, out, out.size, inf)


@kernel
def links(sweep_table, plan, pars, tables, t, x, u, out, ws):
    """out = a LINK for each link of the tree, see `sweeps.records`; then the forces along v applied by the model itself.  out
    must be zeroed."""
    align_stack()
    lane, plan, tables, ws = lanes_of(ws, sweep_table), pointer_to(plan), pointer_to(tables), pointer_to(ws)
    for group in range(n_groups(lane, x)):
        load_state(lane, plan, tables, t, x, u, group, ws)
        gather_links(lane, plan, parameters_of(pars, group), tables, ws)
        at = 0
        for k in range(1, read(plan, f.N_HINGES) + 1):
            at = store_link(lane, plan, ws, hinge_row(plan, k), out, group, at)
        store_rows(lane, out, group, at, ws, read(plan, f.WS_U), read(plan, f.NV))


@sweep(features=("implicit", "drives", "tanks"))
def gather_links(lane, plan, pars, tables, ws):
    """The sweeps whose results `links` copies out."""
    noinline()
    gather_inputs(lane, plan, pars, tables, ws)
    remainder_motion(lane, plan, pars, ws)
    store_wrenches(lane, plan, pars, ws)
    apply_loads_to_moving(lane, plan, pars, ws)


@leaf
def behind_traced(plan):
    """Position in ws after the rows that following a route fills."""
    return read(plan, f.WS_MASS) + f.TRACED_ROW*(read(plan, f.N_HINGES) + 1)


@kernel
def kinematics(sweep_table, plan, pars, tables, x, u, vdot, route, spots, out, ws):
    """out = FRAMES of the route; then, if the row is long enough, ELEMENT_OUT numbers per force element, which requires a route
    with all hinges.  ws has room for FRAMES, and for a TRACED_ROW for the ground and each hinge."""
    align_stack()
    lane, plan, ws, route, spots = lanes_of(ws, sweep_table), pointer_to(plan), pointer_to(ws), pointer_to(route), flat(spots)
    at, frames = behind_traced(plan), frame_blocks(read(route, f.ROUTE_PLACES))[4]
    for group in range(n_groups(lane, x)):
        load_rows(lane, x, group, ws, read(plan, f.WS_X), read(plan, f.N_X))
        load_rows(lane, vdot, group, ws, read(plan, f.WS_XDOT) + read(plan, f.NQ), read(plan, f.NV))
        trace_motion(lane, plan, parameters_of(pars, group), ws, route)
        fill_frames(lane, plan, ws, route, spots, at, True)
        store_rows(lane, out, group, 0, ws, at, frames)
        if row_length(lane, out) > frames:
            load_rows(lane, u, group, ws, read(plan, f.WS_U), read(plan, f.N_U))
            gather_ports(lane, plan, parameters_of(pars, group), ws)
            apply_elements(lane, plan, parameters_of(pars, group), ws)
            store_rows(lane, out, group, frames, ws, read(plan, f.WS_ELEMENTS), f.ELEMENT_OUT*read(plan, f.N_ELEMENTS))
    return doubts_of_all(lane, plan, x, vdot, out, inf)


# ---- kernels of coordinates and speeds only: one state, or rows of them --------------------------------------------------
@leaf
def unlike(q, n):
    """Whether a single state is not n consecutive numbers, so that the caller must check it.  Batches are checked before a
    call."""
    return q.ndim == 1 and (q.size != n or (n > 1 and q.strides[0] != q.itemsize))


@kernel
def poses(sweep_table, plan, pars, tables, route, spots, ws, q, positions, attitudes):
    """Positions and attitudes of the route's frames; ws has room for them, and for a TRACED_ROW for each hinge."""
    align_stack()
    lane, plan, ws, route, spots = lanes_of(ws, sweep_table), pointer_to(plan), pointer_to(ws), pointer_to(route), flat(spots)
    at, n = behind_traced(plan), read(route, f.ROUTE_PLACES)
    if unlike(q, read(plan, f.NQ)):
        return 1
    turned = frame_blocks(n)[1]
    for group in range(n_groups(lane, q)):
        load_numbers(lane, q, group, ws, read(plan, f.WS_X), read(plan, f.NQ))
        trace_positions(lane, plan, parameters_of(pars, group), ws, route)
        fill_frames(lane, plan, ws, route, spots, at, False)
        store_numbers(lane, positions, group, n_rows(q), 3*n, ws, at)
        store_numbers(lane, attitudes, group, n_rows(q), 9*n, ws, at + turned)
    return doubts(plan, q, positions, attitudes, attitudes.size, inf)


@kernel
def jacobian(sweep_table, plan, pars, tables, route, spots, ws, q, out):
    """out = Jacobian of the route's frame, row by row; ws has room for it, and for a TRACED_ROW for each hinge."""
    align_stack()
    lane, plan, ws, route = lanes_of(ws, sweep_table), pointer_to(plan), pointer_to(ws), pointer_to(route)
    at = behind_traced(plan)
    if unlike(q, read(plan, f.NQ)):
        return 1
    for group in range(n_groups(lane, q)):
        load_numbers(lane, q, group, ws, read(plan, f.WS_X), read(plan, f.NQ))
        trace_positions(lane, plan, parameters_of(pars, group), ws, route)
        fill_columns(lane, plan, parameters_of(pars, group), ws, route, flat(spots), at)
        store_numbers(lane, out, group, n_rows(q), 6*read(plan, f.NV), ws, at)
    return 0 if n_rows(q) > 1 else doubtful_state(plan, q) + count_beyond(out, out.size, inf)


@kernel
def jacobian_rate(sweep_table, plan, pars, tables, route, spots, ws, q, v, out):
    """out = rate of the Jacobian of the route's frame, row by row, at coordinates q and speeds v."""
    align_stack()
    lane, plan, ws, route = lanes_of(ws, sweep_table), pointer_to(plan), pointer_to(ws), pointer_to(route)
    at, speeds = behind_traced(plan), read(plan, f.WS_X) + read(plan, f.NQ)
    if unlike(q, read(plan, f.NQ)) or unlike(v, read(plan, f.NV)):
        return 1
    for group in range(n_groups(lane, q)):
        load_numbers(lane, q, group, ws, read(plan, f.WS_X), read(plan, f.NQ))
        load_numbers(lane, v, group, ws, speeds, read(plan, f.NV))
        trace_motion(lane, plan, parameters_of(pars, group), ws, route)
        fill_column_rates(lane, plan, parameters_of(pars, group), ws, route, flat(spots), at)
        store_numbers(lane, out, group, n_rows(q), 6*read(plan, f.NV), ws, at)
    return 0 if n_rows(q) > 1 else doubtful_state(plan, q) + count_beyond(v, v.size, inf) + count_beyond(out, out.size, inf)


@kernel
def measure(sweep_table, plan, pars, tables, t, x, u, places, out, ws):
    """out = numbers at `places` in ws, after evaluating the outputs that depend on the state alone."""
    align_stack()
    lane, plan, tables, ws = lanes_of(ws, sweep_table), pointer_to(plan), pointer_to(tables), pointer_to(ws)
    for group in range(n_groups(lane, x)):
        load_state(lane, plan, tables, t, x, u, group, ws)
        evaluate_outputs(lane, plan, parameters_of(pars, group), ws)
        for j in range(places.shape[0]):
            store_rows(lane, out, group, j, ws, places[j], 1)


@kernel
def loop_terms(sweep_table, plan, pars, tables, t, x, u, weights, out, ws):
    """out = for each multiplier the gap, its rate and its acceleration, weighted by `weights`; then its row of the Jacobian.  ws
    has nv more numbers for each."""
    align_stack()
    lane, plan, tables, ws = lanes_of(ws, sweep_table), pointer_to(plan), pointer_to(tables), pointer_to(ws)
    for group in range(n_groups(lane, x)):
        load_state(lane, plan, tables, t, x, u, group, ws)
        remainder_motion(lane, plan, parameters_of(pars, group), ws)
        if read(plan, f.N_MULTIPLIERS):
            for i in range(3):
                store(lane, ws, read(plan, f.WS_CLOSURE) + f.CLOSURE_ACCELERATION + i, weights[i])
            loop_equations(lane, plan, parameters_of(pars, group), ws)
        n = read(plan, f.N_MULTIPLIERS)
        store_rows(lane, out, group, 0, ws, read(plan, f.WS_MULTIPLIERS), n)
        store_rows(lane, out, group, n, ws, read(plan, f.WS_MASS), n*read(plan, f.NV))


@sweep(features=("flexible", "loops", "drives"), needs="loops")
def loop_equations(lane, plan, pars, ws):
    """Biases of all loop equations, in place of their multipliers, and their Jacobian at WS_MASS."""
    noinline()
    assemble_loops(lane, plan, pars, ws, 0)
    for i in range(read(plan, f.N_MULTIPLIERS)):
        store(lane, ws, read(plan, f.WS_MULTIPLIERS) + i, 0.0)
    for loop in range(read(plan, f.N_LOOPS)):
        row = loop_row(plan, loop)
        for j in range(read(plan, row + f.LOOP_ROWS)):
            store(lane, ws, read(plan, row + f.LOOP_MULTIPLIERS) + j, load(lane, ws, bias_place(plan, row) - j))
    balance_couplings(lane, plan, ws, 1.0)
    loop_jacobian(lane, plan, pars, ws, read(plan, f.WS_MASS))
