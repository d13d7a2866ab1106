"""Inverse dynamics: motion outward, wrenches inward [B 3].

The dense method: mass matrix by composite bodies [JR 50], bias by inverse dynamics, solution by LDL^T.

    R       composite inertia (J, h, m) of a body and everything outboard of it, about its hinge
    H_j     column j of the hinge map, a motion           X = R H_j, a wrench that is carried to the root
"""

from bough.kernels.algebra import (ZERO, cross, dot, isotropic, rotate, rotate_inertia, rotate_spatial, rotate_sym, shift_wrench,
                                   skew, sym_times, transpose)
from bough.kernels.hinges import MODAL, NODE, hinge_column, hinge_project, n_speeds
from bough.kernels.jit import leaf
from bough.kernels.lanes import (accumulate, add, flexible_only, load, load3, load9, load_composite, load_spatial, noinline, read,
                                 scale, smaller, sqrt, store, sub, zero)
from bough.kernels.linker import sweep
from bough.sweeps import fields as f
from bough.sweeps.blocks import NOTHING
from bough.sweeps.dense import back_substitute_dense, factor_dense
from bough.sweeps.held import eliminate_prescribed
from bough.sweeps.loop_jacobian import project_path, solve_loops_dense
from bough.sweeps.modal import modal_composite, modal_project, shift_to_inboard
from bough.sweeps.modes import body_attitude, flex_of, mode_rows
from bough.sweeps.tree_motion import clear_store, hinge_attitude, hinge_row, own_mass, store_wrenches


@leaf
def gather_wrench(lane, plan, pars, ws, keep):
    """Tips to root: wrench through each hinge, and its component along the hinge, which replaces vdot.

    With `keep`, the wrench of the inner body on body k, about the hinge, replaces the body's acceleration in its record."""
    wrench = ((zero(lane), zero(lane), zero(lane)), (zero(lane), zero(lane), zero(lane)))
    nothing = wrench
    for k in range(read(plan, f.N_HINGES), 0, -1):
        row = hinge_row(plan, k)
        i, record = read(plan, row + f.INNER), read(plan, row + f.RECORD)
        branch, slot = read(plan, row + f.BRANCH), read(plan, row + f.SLOT)
        if read(plan, row + f.MASSIVE):
            wrench = add(wrench, load_spatial(lane, ws, record + f.GAIN))
        if branch:
            wrench = add(wrench, load_spatial(lane, ws, branch + f.SHARED_ACCEL))
        if slot:
            wrench = sub(wrench, load_spatial(lane, ws, slot))

        kind = read(plan, row + f.KIND)
        if kind >= MODAL:
            wrench = modal_project(lane, plan, ws, row, wrench)
        if keep:
            store(lane, ws, record + f.ACCELERATION, wrench)
        hinge_project(lane, kind, hinge_attitude(pars, k), wrench, ws, record + f.ATTITUDE,
                      read(plan, row + f.VDOT))
        wrench = shift_wrench(load3(lane, ws, record + f.OFFSET), wrench)
        if i != k - 1:
            if i > 0:
                accumulate(lane, ws, read(plan, hinge_row(plan, i) + f.BRANCH) + f.SHARED_ACCEL, wrench)
            wrench = nothing


# ---- composite -------------------------------------------------------------------------------------------------------------
@leaf
def shift_composite(r, R):
    """Rigid inertia about the origin, from one about r:  J + (r.h + h.r + m r.r) I - (r h^T + h r^T + m r r^T)."""
    J, h, m = R
    xx, xy, xz, yy, yz, zz = J
    g = add(h, scale(m, r))
    rx, ry, rz = r
    hx, hy, hz = h
    gx, gy, gz = g
    trace = dot(r, add(h, g))
    return ((xx + trace - rx*(hx + gx), xy - rx*gy - hx*ry, xz - rx*gz - hx*rz,
             yy + trace - ry*(hy + gy), yz - ry*gz - hy*rz, zz + trace - rz*(hz + gz)), g, m)


@leaf
def nothing_composite(lane):
    o = zero(lane)
    return (o, o, o, o, o, o), (o, o, o), o


@leaf
def composite_times(R, A):
    """Rigid inertia times acceleration: a wrench."""
    J, h, m = R
    alpha, a = A
    return add(sym_times(J, alpha), cross(h, a)), add(scale(m, a), cross(alpha, h))


@leaf
def own_composite(lane, plan, pars, ws, k, C):
    m, h, J = own_mass(lane, plan, pars, ws, k)
    return rotate_sym(C, J), rotate(C, h), m


@sweep(features=("flexible", "tanks"), rounds=2)
def gather_mass_matrix(lane, plan, pars, ws):
    """Tips to root, after scatter_motion: composite inertias, and the entries of each hinge in the mass matrix, of which this is
    the upper triangle [JR 50]."""
    noinline()
    n, nv, at = read(plan, f.N_HINGES), read(plan, f.NV), read(plan, f.WS_MASS)
    for i in range(nv*nv):
        store(lane, ws, at + i, zero(lane))
    for k in range(1, n + 1):
        branch = read(plan, hinge_row(plan, k) + f.BRANCH)
        if branch:
            clear_store(lane, ws, branch)
    R = nothing_composite(lane)
    for k in range(n, 0, -1):
        row = hinge_row(plan, k)
        i, record, branch = read(plan, row + f.INNER), read(plan, row + f.RECORD), read(plan, row + f.BRANCH)
        r = load3(lane, ws, record + f.OFFSET)
        if read(plan, row + f.MASSIVE):
            R = add(R, own_composite(lane, plan, pars, ws, k, load9(lane, ws, record + f.ATTITUDE)))
        if branch:
            R = add(R, load_composite(lane, ws, branch + f.GATHERED))
        if read(plan, row + f.KIND) < MODAL:
            fill_entries(lane, plan, pars, ws, k, R)
        else:
            R = modal_composite(lane, plan, pars, ws, row, R, r)
            fill_modal_entries(lane, plan, pars, ws, k, R)
        R = shift_composite(r, R)
        if i != k - 1:
            if i > 0:
                accumulate(lane, ws, read(plan, hinge_row(plan, i) + f.BRANCH) + f.GATHERED, R)
            R = nothing_composite(lane)


@leaf
def fill_entries(lane, plan, pars, ws, k, R):
    """Entries of hinge k in the mass matrix: with itself and with every hinge inboard of it."""
    row = hinge_row(plan, k)
    kind, first = read(plan, row + f.KIND), read(plan, row + f.TAU) - read(plan, f.WS_U)
    C, M = load9(lane, ws, read(plan, row + f.RECORD) + f.ATTITUDE), read(plan, f.WS_MASS)
    for j in range(first, first + n_speeds(kind)):
        X = composite_times(R, hinge_column(kind, hinge_attitude(pars, k), C, j - first))
        project_path(lane, plan, pars, ws, k, 0, X, M, j)


@flexible_only
def fill_modal_entries(lane, plan, pars, ws, k, R):
    """Entries of the modes of a MODAL hinge, after its nodes have added their contributions to D and g."""
    row = hinge_row(plan, k)
    if read(plan, row + f.KIND) == NODE:
        return
    flex, n = flex_of(plan, row)
    C, first = body_attitude(lane, plan, ws, flex), read(plan, row + f.TAU) - read(plan, f.WS_U)
    (rows, length, at_g, _), M, nv = mode_rows(lane, plan, flex, n), read(plan, f.WS_MASS), read(plan, f.NV)
    (J, h, m), r = R, load3(lane, ws, read(plan, row + f.RECORD) + f.OFFSET)
    if read(plan, flex + f.INBOARD_MOVES):
        P = rotate_inertia(transpose(C), (J, skew(h), isotropic(m)))
        shift_to_inboard(lane, plan, ws, flex, n, P, (ZERO, ZERO))
    for j in range(n):
        for i in range(j, n):
            store(lane, ws, M + nv*(first + j) + first + i, load(lane, ws, rows + length*j + i))
        X = shift_wrench(r, rotate_spatial(C, load_spatial(lane, ws, rows + length*j + at_g)))
        project_path(lane, plan, pars, ws, read(plan, row + f.INNER), 0, X, M, first + j)


@flexible_only
def flag_overbent(lane, plan, ws, M, b):
    """Produce NaN, which is reported, if a body is bent so far that a pivot is negative, as `modal.reduce_modes` does."""
    n, least = read(plan, f.NV), zero(lane) + 1.0
    for j in range(n):
        least = smaller(least, load(lane, ws, M + n*j + j))
    accumulate(lane, ws, b, 0.0*sqrt(least))


@sweep(features=("flexible", "loops", "holds", "drives", "tanks"), method="dense", rounds=2)
def solve_dense(lane, plan, pars, ws):
    """vdot = M^-1 (tau - bias) of the state in ws; call gather_inputs, scatter_motion and apply_loads first."""
    noinline()
    store_wrenches(lane, plan, pars, ws)
    gather_wrench(lane, plan, pars, ws, False)                              # bias, in place of vdot
    gather_mass_matrix(lane, plan, pars, ws)
    n, M = read(plan, f.NV), read(plan, f.WS_MASS)
    b, tau = read(plan, f.WS_XDOT) + read(plan, f.NQ), read(plan, f.WS_U)
    for i in range(n):
        store(lane, ws, b + i, load(lane, ws, tau + i) - load(lane, ws, b + i))
    eliminate_prescribed(lane, plan, ws, M, b)
    factor_dense(lane, plan, ws, M, b, n, NOTHING)
    flag_overbent(lane, plan, ws, M, b)
    solve_loops_dense(lane, plan, pars, ws, b)
    back_substitute_dense(lane, ws, M, b, n)
