"""Power of inputs: everything set by laws, a user's loop or another program, times the rate of the motion that it acts along
[B 24].

Evaluated after the derivative of a stage, from its hinge records.
"""
from bough.kernels.algebra import cross, dot, rotate
from bough.kernels.hinges import FREE, MODAL, PRISMATIC, hinge_add, load_axis
from bough.kernels.jit import leaf
from bough.kernels.lanes import add, load, load3, load9, noinline, read, scale, store, zero
from bough.kernels.linker import sweep
from bough.sweeps import fields as f
from bough.sweeps.loads import port_share, wrench_at
from bough.sweeps.modes import modal_add, modal_speeds
from bough.sweeps.tree_motion import hinge_attitude, hinge_row, record_of
from bough.sweeps.orbit import root_row


@sweep(features=("flexible",))
def fill_input_power(lane, plan, pars, ws, controls, to):
    """Store the power at `to` in ws; `controls`: position of the controls as given."""
    noinline()
    speeds, n, power = read(plan, f.WS_X) + read(plan, f.NQ), read(plan, f.NV) + read(plan, f.N_WHEELS), zero(lane)
    for i in range(n):
        power = power + load(lane, ws, controls + i)*load(lane, ws, speeds + i)
    for j in range(read(plan, f.N_PORTS)):
        i = port_target(plan, j)
        if i < n:
            power = power + port_share(lane, plan, pars, ws, j)*load(lane, ws, speeds + i)
    force = (zero(lane), zero(lane), zero(lane))
    for j in range(read(plan, f.N_WRENCHES)):
        if read(plan, read(plan, f.WRENCHES) + j*f.WRENCH_ROW + f.WRENCH_INPUT):
            k, arm, (n_j, f_j) = wrench_at(lane, plan, pars, ws, j)
            omega = load3(lane, ws, record_of(plan, k) + f.RATE)
            v = add(cross(omega, arm), origin_velocity(lane, plan, pars, ws, k))
            power, force = power + dot(n_j, omega) + dot(f_j, v), add(force, f_j)
    for j in range(read(plan, f.N_ELEMENTS)):
        row = read(plan, f.ELEMENTS) + j*f.ELEMENT_ROW
        if read(plan, row + f.ELEMENT_REST):
            power = power + load(lane, ws, read(plan, row + f.ELEMENT_WS) + f.ELEMENT_POWER)
    if read(plan, f.IN_ORBIT):
        V = read(plan, f.WS_X) + read(plan, f.N_X) - read(plan, f.N_LAW_STATES) - 3
        power = power + dot(add(force, root_force(lane, plan, pars, ws, controls)), load3(lane, ws, V))
    store(lane, ws, to, power)


@leaf
def origin_velocity(lane, plan, pars, ws, k):
    """Velocity of the origin of body k, by walking inward: angular rate of each inner body times offset, plus sliding rates."""
    o = (zero(lane), zero(lane), zero(lane))
    v = o
    while k:
        row, i = hinge_row(plan, k), read(plan, hinge_row(plan, k) + f.INNER)
        record, kind = read(plan, row + f.RECORD), read(plan, row + f.KIND)
        if i:
            v = add(v, cross(load3(lane, ws, record_of(plan, i) + f.RATE), load3(lane, ws, record + f.OFFSET)))
        if kind == PRISMATIC or kind == FREE:
            C = load9(lane, ws, record + f.ATTITUDE)
            v = add(v, hinge_add(lane, kind, hinge_attitude(pars, k), C, (o, o), ws, read(plan, row + f.V))[1])
        elif kind >= MODAL:
            v = add(v, modal_add(lane, plan, ws, row, (o, o), modal_speeds(lane, plan, row))[1])
        k = i
    return v


@leaf
def port_target(plan, j):
    """Entry of u that an input is added to."""
    return read(plan, read(plan, f.PORTS) + j*f.PORT_ROW + f.PORT_TARGET) - read(plan, f.WS_U)


@leaf
def given_torque(lane, plan, pars, ws, controls, i):
    """Torque along speed i set by a law or by inputs."""
    found = load(lane, ws, controls + i)
    for j in range(read(plan, f.N_PORTS)):
        if port_target(plan, j) == i:
            found = found + port_share(lane, plan, pars, ws, j)
    return found


@leaf
def root_force(lane, plan, pars, ws, controls):
    """In orbit: given forces along the translations of roots, which act on the orbit."""
    force = zero(lane), zero(lane), zero(lane)
    for j in range(read(plan, f.N_ROOTS)):
        row, k = root_row(plan, j)
        i = read(plan, row + f.TAU) - read(plan, f.WS_U)
        if read(plan, row + f.KIND) == FREE:
            given = (given_torque(lane, plan, pars, ws, controls, i), given_torque(lane, plan, pars, ws, controls, i + 1),
                     given_torque(lane, plan, pars, ws, controls, i + 2))
            force = add(force, rotate(hinge_attitude(pars, k), given))
        else:
            axis = load_axis(lane, ws, read(plan, row + f.RECORD) + f.ATTITUDE)
            force = add(force, scale(given_torque(lane, plan, pars, ws, controls, i), axis))
    return force
