"""The kernels that Python calls: rows of states in, rows of results out, one or four states at a time.

Every kernel takes the model's tables, the rows `t` (time), `x` (state), `u` (controls), the result `out`, and a
workspace whose rank chooses the lanes.  `pars` has one row, or one for each group of states.
"""
from bough.kernels.jit import kernel, leaf
from bough.kernels.lanes import align_stack, get_lane, lanes_of, load, only_if_looped, read, store, width_of
from bough.sweeps.articulated import solve_order_n
from bough.sweeps.closures import bias_place, close_loops
from bough.sweeps.composite import gather_mass_matrix
from bough.sweeps.derivative import CLOUD, DENSE, ORDER_N, accelerate_wheels, accelerations, derivative
from bough.sweeps.elements import apply_elements
from bough.sweeps.fields import (
    ACCELERATION,
    CLOSURE_ACCELERATION,
    ELEMENT_OUT,
    LOOP_MULTIPLIERS,
    LOOP_ROWS,
    N_ELEMENTS,
    N_HINGES,
    N_LOOPS,
    N_MULTIPLIERS,
    N_U,
    N_X,
    NQ,
    NV,
    RECORD,
    WS_CLOSURE,
    WS_ELEMENTS,
    WS_MASS,
    WS_MULTIPLIERS,
    WS_TIME,
    WS_U,
    WS_X,
    WS_XDOT,
)
from bough.sweeps.held import give_change, give_motion, take_given
from bough.sweeps.inverse import gather_wrench
from bough.sweeps.kinematics import KINEMATICS_ROW, scatter_positions
from bough.sweeps.links import tell_link
from bough.sweeps.loads import apply_loads, clear_slots, gather_inputs
from bough.sweeps.loop_jacobian import loop_jacobian, loop_row
from bough.sweeps.modal import load_modes
from bough.sweeps.motion import LEAN, MOTION, WRENCHES, hinge_row, scatter_motion
from bough.sweeps.rows import give, groups_of, take


@leaf
def take_state(lane, plan, tables, t, x, u, group, ws):
    take(lane, t, group, ws, read(plan, WS_TIME), 2)
    take(lane, x, group, ws, read(plan, WS_X), read(plan, N_X))
    take(lane, u, group, ws, read(plan, WS_U), read(plan, N_U))
    give_motion(lane, plan, tables, ws, False)
    ready_closure(lane, plan, ws)


def ready_closure(lane, plan, ws):
    """Loops count with their accelerations, and gravity acts."""
    store(lane, ws, read(plan, WS_CLOSURE) + CLOSURE_ACCELERATION, (1.0, 0.0, 0.0))


only_if_looped(ready_closure, lambda lane, plan, ws: None)


@leaf
def forward(plan, pars, tables, t, x, u, out, ws, method):
    lane = lanes_of(ws, plan)
    for group in range(groups_of(lane, x)):
        take_state(lane, plan, tables, t, x, u, group, ws)
        accelerations(lane, plan, pars[min(group, pars.shape[0] - 1)], tables, ws, method, 0)
        rates = read(plan, N_X) - read(plan, NQ)
        give(lane, out, group, 0, ws, read(plan, WS_XDOT) + read(plan, NQ), rates)
        give(lane, out, group, rates, ws, read(plan, WS_MULTIPLIERS), out.shape[1] - rates)


@kernel
def forward_order_n(plan, pars, tables, t, x, u, out, ws):
    """out = vdot | wheel accelerations | orbit's rates | multipliers of loops, by the three sweeps."""
    align_stack()
    forward(plan, pars, tables, t, x, u, out, ws, ORDER_N)


@kernel
def forward_dense(plan, pars, tables, t, x, u, out, ws):
    """The same by mass matrix and Cholesky's factors; ws holds nv^2 numbers more."""
    align_stack()
    forward(plan, pars, tables, t, x, u, out, ws, DENSE)


@kernel
def forward_cloud(plan, pars, tables, t, x, u, out, ws):
    """The same by the equations of the momentum cloud, without multipliers; ws holds the clouds' numbers more."""
    align_stack()
    forward(plan, pars, tables, t, x, u, out, ws, CLOUD)


@kernel
def state_derivative(plan, pars, tables, t, x, u, out, ws):
    """out = x', by the three sweeps."""
    align_stack()
    lane = lanes_of(ws, plan)
    for group in range(groups_of(lane, x)):
        take_state(lane, plan, tables, t, x, u, group, ws)
        derivative(lane, plan, pars[min(group, pars.shape[0] - 1)], tables, ws, ORDER_N, 0)
        give(lane, out, group, 0, ws, read(plan, WS_XDOT), read(plan, N_X))


@kernel
def impulse(plan, pars, tables, t, x, u, change, out, ws):
    """out = by how much v and wheel speeds jump under impulses u along v, when those that are held jump by `change` [B 18].  The
    state is at rest, pars are without gravity.  Without a change it is M^-1 u."""
    align_stack()
    lane = lanes_of(ws, plan)
    for group in range(groups_of(lane, x)):
        of_group = pars[min(group, pars.shape[0] - 1)]
        take_state(lane, plan, tables, t, x, u, group, ws)
        take(lane, change, group, ws, read(plan, WS_XDOT) + read(plan, NQ), read(plan, NV))
        give_change(lane, plan, ws)
        keep_closed(lane, plan, ws)
        scatter_motion(lane, plan, of_group, ws, False, MOTION)
        load_modes(lane, plan, ws)
        clear_slots(lane, plan, ws)
        close_loops(lane, plan, of_group, ws, 0)
        solve_order_n(lane, plan, of_group, ws)
        take_given(lane, plan, ws)
        accelerate_wheels(lane, plan, of_group, ws)
        give(lane, out, group, 0, ws, read(plan, WS_XDOT) + read(plan, NQ), out.shape[1])


def keep_closed(lane, plan, ws):
    """Loops stay as open or closed as they are: J dv = 0, in which what is given of dv counts as the bias of a body at rest."""
    store(lane, ws, read(plan, WS_CLOSURE) + CLOSURE_ACCELERATION, (1.0, 0.0, 0.0))


only_if_looped(keep_closed, lambda lane, plan, ws: None)


@leaf
def inverse_sweeps(lane, plan, pars, tables, t, x, u, vdot, group, ws, keep):
    """Wrenches through the hinges into the records, their shares along the hinges to where vdot was."""
    take_state(lane, plan, tables, t, x, u, group, ws)
    take(lane, vdot, group, ws, read(plan, WS_XDOT) + read(plan, NQ), read(plan, NV))
    gather_inputs(lane, plan, pars, tables, ws)
    scatter_motion(lane, plan, pars, ws, True, LEAN)
    apply_loads(lane, plan, pars, ws)
    gather_wrench(lane, plan, pars, ws, keep)


@kernel
def inverse(plan, pars, tables, t, x, u, vdot, out, ws):
    """out = joint torques that give vdot, on top of u and of what the model itself applies."""
    align_stack()
    lane = lanes_of(ws, plan)
    for group in range(groups_of(lane, x)):
        inverse_sweeps(lane, plan, pars[min(group, pars.shape[0] - 1)], tables, t, x, u, vdot, group, ws, False)
        at, applied = read(plan, WS_XDOT) + read(plan, NQ), read(plan, WS_U)
        for i in range(min(width_of(lane), out.shape[0] - group*width_of(lane))):
            for j in range(read(plan, NV)):
                out[group*width_of(lane) + i, j] = get_lane(lane, ws, at + j, i) - get_lane(lane, ws, applied + j, i)


@kernel
def hinge_wrenches(plan, pars, tables, t, x, u, vdot, out, ws):
    """out = six numbers a hinge: the wrench of the inner body on the outer, about the hinge, in inertial axes."""
    align_stack()
    lane = lanes_of(ws, plan)
    for group in range(groups_of(lane, x)):
        inverse_sweeps(lane, plan, pars[min(group, pars.shape[0] - 1)], tables, t, x, u, vdot, group, ws, True)
        for k in range(1, read(plan, N_HINGES) + 1):
            give(lane, out, group, 6*(k - 1), ws, read(plan, hinge_row(plan, k) + RECORD) + ACCELERATION, 6)


@kernel
def mass_matrix(plan, pars, tables, t, x, u, out, ws):
    """out = the mass matrix, row by row; ws holds nv^2 numbers more."""
    align_stack()
    lane = lanes_of(ws, plan)
    for group in range(groups_of(lane, x)):
        take_state(lane, plan, tables, t, x, u, group, ws)
        scatter_motion(lane, plan, pars[min(group, pars.shape[0] - 1)], ws, False, MOTION)
        gather_mass_matrix(lane, plan, pars[min(group, pars.shape[0] - 1)], ws)
        give(lane, out, group, 0, ws, read(plan, WS_MASS), read(plan, NV)*read(plan, NV))


@kernel
def links(plan, pars, tables, t, x, u, out, ws):
    """out = what the links of the tree are made of, see `sweeps.links`; then the forces along v that the model itself applies.  out
    comes with zeros."""
    align_stack()
    lane = lanes_of(ws, plan)
    for group in range(groups_of(lane, x)):
        of_group = pars[min(group, pars.shape[0] - 1)]
        take_state(lane, plan, tables, t, x, u, group, ws)
        gather_inputs(lane, plan, of_group, tables, ws)
        scatter_motion(lane, plan, of_group, ws, False, WRENCHES)
        apply_loads(lane, plan, of_group, ws)
        at = 0
        for k in range(1, read(plan, N_HINGES) + 1):
            at = tell_link(lane, plan, ws, hinge_row(plan, k), out, group, at)
        give(lane, out, group, at, ws, read(plan, WS_U), read(plan, NV))


@kernel
def kinematics(plan, pars, tables, t, x, u, vdot, out, ws):
    """out = a KINEMATICS_ROW a body, then ELEMENT_OUT numbers a force element; ws holds as many numbers more as the former."""
    align_stack()
    lane = lanes_of(ws, plan)
    for group in range(groups_of(lane, x)):
        take_state(lane, plan, tables, t, x, u, group, ws)
        take(lane, vdot, group, ws, read(plan, WS_XDOT) + read(plan, NQ), read(plan, NV))
        scatter_motion(lane, plan, pars[min(group, pars.shape[0] - 1)], ws, True, MOTION)
        scatter_positions(lane, plan, pars[min(group, pars.shape[0] - 1)], ws, read(plan, WS_MASS))
        apply_elements(lane, plan, pars[min(group, pars.shape[0] - 1)], ws)
        told = KINEMATICS_ROW*read(plan, N_HINGES)
        give(lane, out, group, 0, ws, read(plan, WS_MASS) + KINEMATICS_ROW, told)
        give(lane, out, group, told, ws, read(plan, WS_ELEMENTS), ELEMENT_OUT*read(plan, N_ELEMENTS))


@kernel
def loop_terms(plan, pars, tables, t, x, u, weights, out, ws):
    """out = for each multiplier its equation's gap, rate of it and acceleration of it, weighted by `weights`; then its row of the
    Jacobian.  ws holds nv numbers more for each."""
    align_stack()
    lane = lanes_of(ws, plan)
    for group in range(groups_of(lane, x)):
        take_state(lane, plan, tables, t, x, u, group, ws)
        of_group = pars[min(group, pars.shape[0] - 1)]
        scatter_motion(lane, plan, of_group, ws, False, MOTION)
        loop_equations(lane, plan, of_group, ws, weights)
        n = read(plan, N_MULTIPLIERS)
        give(lane, out, group, 0, ws, read(plan, WS_MULTIPLIERS), n)
        give(lane, out, group, n, ws, read(plan, WS_MASS), n*read(plan, NV))


def loop_equations(lane, plan, pars, ws, weights):
    """Biases of all loops' equations in the place of their multipliers, and their Jacobian at WS_MASS."""
    for i in range(3):
        store(lane, ws, read(plan, WS_CLOSURE) + CLOSURE_ACCELERATION + i, weights[i])
    close_loops(lane, plan, pars, ws, 0)
    for i in range(read(plan, N_MULTIPLIERS)):
        store(lane, ws, read(plan, WS_MULTIPLIERS) + i, 0.0)
    for loop in range(read(plan, N_LOOPS)):
        row = loop_row(plan, loop)
        for j in range(read(plan, row + LOOP_ROWS)):
            store(lane, ws, read(plan, row + LOOP_MULTIPLIERS) + j, load(lane, ws, bias_place(plan, row) - j))
    loop_jacobian(lane, plan, pars, ws, read(plan, WS_MASS))


only_if_looped(loop_equations, lambda lane, plan, pars, ws, weights: None)
