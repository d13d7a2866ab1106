"""Forward dynamics in three sweeps: scatter motion, gather inertia, scatter acceleration [JR 62-63].

    A_r     remainder acceleration: the part not caused by hinge accelerations
    A_u     the part caused by them, found by the last sweep      (A = (alpha, a) = A_r + A_u)
    P, z    articulated inertia and bias wrench           P_plus, z_plus  the part that the hinge transmits
    H       hinge map: rate across the hinge = H^T v      D = H P H^T,  G = P H^T D^-1,  nu = D^-1 (tau - H z)

A sweep visits the bodies in order (inner before outer, or the reverse).  Where body k is attached to body k - 1, its values stay
in local variables; only at a branch do they go through the workspace.
"""
from bough import sweeps
from bough.kernels.algebra import (ZERO, euler, isotropic, newton_euler, nothing_gathered, rotate, rotate_sym, shift_inertia,
                                   shift_motion, shift_wrench, skew)
from bough.kernels.linker import sweep
from bough.kernels.hinges import MODAL, hinge_accelerate, hinge_reduce
from bough.kernels.jit import leaf
from bough.kernels.lanes import accumulate, add, load3, load9, load_gathered, load_spatial, read, noinline, store, sub
from bough.sweeps import fields as f
from bough.sweeps.implicit import implicit_inertia
from bough.sweeps.tree_motion import hinge_attitude, hinge_row, load_motion, own_mass


@leaf
def rigid_body(lane, plan, pars, ws, k, C, omega, A):
    """Inertia of body k alone, and the wrench required by its acceleration A and angular rate omega [S 52]."""
    m, h, J = own_mass(lane, plan, pars, ws, k)
    h, J = rotate(C, h), rotate_sym(C, J)
    return (J, skew(h), isotropic(m)), newton_euler(m, h, euler(J, A[0], omega), omega, A)


@leaf
def gather_inertia(lane, plan, pars, ws):
    """Tips to root: articulated inertia and bias wrench of each body, including everything outboard of it."""
    P, z = nothing_gathered(lane)
    for k in range(read(plan, f.N_HINGES), 0, -1):
        row = hinge_row(plan, k)
        i, kind, record = read(plan, row + f.INNER), read(plan, row + f.SOLVED), read(plan, row + f.RECORD)
        branch, slot = read(plan, row + f.BRANCH), read(plan, row + f.SLOT)
        C, omega, A_r = load_motion(lane, ws, record)
        r = load3(lane, ws, record + f.OFFSET)

        if read(plan, row + f.MASSIVE):
            P_k, z_k = rigid_body(lane, plan, pars, ws, k, C, omega, A_r)
            P, z = add(P, P_k), add(z, z_k)                                                 # [JR 62] P, z
        if branch:
            P_d, z_d = load_gathered(lane, ws, branch + f.GATHERED)
            P, z = add(P, P_d), add(z, z_d)
        if slot:
            z = sub(z, load_spatial(lane, ws, slot))
        P, z = sweeps.fronts.assemble_fronts(lane, plan, pars, ws, row, P, z)                    # [B 15]

        if kind < MODAL:
            P_plus, z_plus = hinge_reduce(lane, kind, hinge_attitude(pars, k), C, P, z, ws,     # [JR 62] D, G, P_plus
                                          read(plan, row + f.TAU), record + f.GAIN,
                                          implicit_inertia(lane, plan, ws, row))
            sweeps.friction_forces.store_holding_gain(lane, plan, ws, row, C, P, z)                      # [B 37]
            sweeps.fronts.transmit_front(lane, plan, ws, row, C, P, r)
            P, z = shift_inertia(r, P_plus), shift_wrench(r, z_plus)
        else:
            sweeps.fronts.inboard_columns(lane, plan, ws, row)
            P, z = sweeps.modal.modal_reduce(lane, plan, pars, ws, row, P, z, r)
            sweeps.fronts.transmit_front_modal(lane, plan, ws, row, r)
        if i != k - 1:
            if i > 0:
                accumulate(lane, ws, read(plan, hinge_row(plan, i) + f.BRANCH) + f.GATHERED, (P, z))
            P, z = nothing_gathered(lane)
    sweeps.fronts.assemble_fronts(lane, plan, pars, ws, hinge_row(plan, 0), P, z)


@leaf
def scatter_acceleration(lane, plan, pars, ws):
    """Root to tips: hinge accelerations."""
    base = hinge_row(plan, 0)
    store(lane, ws, read(plan, base + f.BRANCH) + f.SHARED_ACCEL, (ZERO, ZERO))
    A_u = load_spatial(lane, ws, read(plan, base + f.BRANCH) + f.SHARED_ACCEL)
    sweeps.fronts.back_substitute_fronts(lane, plan, ws, base, A_u)
    for k in range(1, read(plan, f.N_HINGES) + 1):
        row = hinge_row(plan, k)
        i, kind = read(plan, row + f.INNER), read(plan, row + f.SOLVED)
        record, branch = read(plan, row + f.RECORD), read(plan, row + f.BRANCH)
        if i != k - 1:
            A_u = load_spatial(lane, ws, read(plan, hinge_row(plan, i) + f.BRANCH) + f.SHARED_ACCEL)
        r = load3(lane, ws, record + f.OFFSET)
        sweeps.fronts.apply_multipliers(lane, plan, ws, row)
        if kind < MODAL:
            A_u = hinge_accelerate(lane, kind, hinge_attitude(pars, k), load9(lane, ws, record + f.ATTITUDE),     # [JR 63]
                                   shift_motion(r, A_u), ws, read(plan, row + f.VDOT), record + f.GAIN)
            sweeps.friction_forces.find_holding_force(lane, plan, ws, row, A_u)
            sweeps.fronts.hold_against_loops(lane, plan, ws, row)
        else:
            A_u = sweeps.modal.modal_accelerate(lane, plan, ws, row, shift_motion(r, A_u))
        sweeps.fronts.back_substitute_fronts(lane, plan, ws, row, A_u)
        if branch:
            store(lane, ws, branch + f.SHARED_ACCEL, A_u)


@sweep(features=("flexible", "loops", "holds of loops", "implicit", "drives", "tanks"))
def solve_order_n(lane, plan, pars, ws):
    """vdot of the state in ws; call gather_inputs, scatter_motion and apply_loads first."""
    noinline()
    gather_inertia(lane, plan, pars, ws)
    scatter_acceleration(lane, plan, pars, ws)
