"""All derivatives of the dynamics of a tree with respect to q, v and tau: derivatives of inverse dynamics, times the inverse mass
matrix.

With M v' + h(q, v) = tau:  d v' = M^-1 (d tau - d ID)  in any direction, ID being inverse dynamics at the solution v' [B 60].
M = L^T D L has nonzeros only between a speed and the speeds on its path to the root, and so does L: solving one column costs the
sum of the depths of all speeds.  The column of a coordinate or speed s has nonzeros only for the speeds that s moves and those on
its path.

B holds the columns in groups of four speeds: in each group, every speed has a row of 12 numbers, the derivatives with respect to
the four q, the four v and the four tau.  For one state such a row is three packs, and two groups are solved together; for four
states it is twelve packs.  Either fits in registers while a row is solved.  Zero rows are not read before they are solved.

For each state the kernels return a row `out`: v' (or tau) and three matrices, with respect to q, v and tau (or v'); three numbers
of padding follow, since the last pack may extend past the end.
"""
from math import inf

from bough.kernels.jit import kernel, leaf
from bough.kernels.lanes import (accumulate, align_stack, flat, get_lane, lanes_of, load, load3, load4, load_dozen, noinline,
                                 one_state_only, parameters_of, pointer_to, put, quads_of, read, scale, store, store_four, sub,
                                 take_given, transposed, width_of, zero)
from bough.kernels.linker import sweep
from bough.sweeps import fields as f
from bough.sweeps.blocks import load_rows, n_groups, n_rows, pack_of, packs_until, store_rows
from bough.sweeps.calls import SUSPECT, doubts, load_state
from bough.sweeps.loads import gather_inputs
from bough.sweeps.tree_motion import MOTION, remainder_motion, vdot_motion
from bough.sweeps.pairs import accelerate_tree, entry_place, fill_closed_form, path_of, speed_row, weigh_tree

ILL = 5e5  # limit of M_ii (M^-1)_ii: beyond it, cancellation in products with M^-1 leaves an error of about 1e-10


@leaf
def factor_paths(lane, ws, route):
    """M = L^T D L in place of M on the paths: L off the diagonal, 1/D on it.  L is also stored by columns: for speed s, the
    speeds that it moves.  The diagonal of M is saved."""
    quads, rows, width = quads_of(ws), read(route, f.COLUMNS_SPEEDS), read(route, f.COLUMNS_WIDTH)
    P, L = read(route, f.COLUMNS_P), read(route, f.COLUMNS_L)
    for s in range(rows):
        store(lane, ws, read(route, f.COLUMNS_INERTIAS) + s, load(lane, ws, P + s*width + path_of(route, s)[0]))
    for s in range(rows - 1, -1, -1):
        at, (depth, path) = P + s*width, path_of(route, s)
        over = 1.0/load(lane, ws, at + depth)
        for d in range(depth - 1, -1, -1):
            a = -load(lane, ws, at + d)*over
            to, source = pack_of(lane, P + read(route, path + d)*width), pack_of(lane, at)
            for e in range(packs_until(lane, d + 1)):                   # entries past the diagonal are never read
                accumulate(quads, ws, to + e, a*load(quads, ws, source + e))
        for d in range(depth):
            l = load(lane, ws, at + d)*over
            store(lane, ws, at + d, l)
            store(lane, ws, L + read(route, path + d)*rows + s, l)
        store(lane, ws, at + depth, over)


@leaf
def solve_accelerations(lane, plan, ws, route):
    """v' = M^-1 (tau - h), h being the torques of the motion without v'.  v' also replaces h."""
    rows, width, P = read(route, f.COLUMNS_SPEEDS), read(route, f.COLUMNS_WIDTH), read(route, f.COLUMNS_P)
    at, tau, vdot = read(route, f.COLUMNS_TORQUES), read(plan, f.WS_U), read(plan, f.WS_XDOT) + read(plan, f.NQ)
    for s in range(rows):
        store(lane, ws, at + s, load(lane, ws, tau + read(route, speed_row(route, s) + f.SPEED_V)) - load(lane, ws, at + s))
    for s in range(rows - 1, -1, -1):                                       # L^T
        y, (depth, path) = load(lane, ws, at + s), path_of(route, s)
        for d in range(depth):
            accumulate(lane, ws, at + read(route, path + d), -load(lane, ws, P + s*width + d)*y)
    for s in range(rows):                                                   # D, then L
        depth, path = path_of(route, s)
        x = load(lane, ws, at + s)*load(lane, ws, P + s*width + depth)
        for d in range(depth):
            x = x - load(lane, ws, P + s*width + d)*load(lane, ws, at + read(route, path + d))
        store(lane, ws, at + s, x)
        store(lane, ws, vdot + read(route, speed_row(route, s) + f.SPEED_V), x)


@one_state_only(otherwise=lambda lane, ws, at, other: load_dozen(lane, ws, at))
def load_row(lane, ws, at, other):
    """One state: the twelve numbers of a speed, and the twelve in the next group, to keep the arithmetic units busy."""
    quads = quads_of(ws)
    return load3(quads, ws, at//4), load3(quads, ws, (at + other)//4)


@one_state_only(otherwise=lambda lane, ws, at, other, row: store(lane, ws, at, row))
def store_row(lane, ws, at, other, row):
    quads = quads_of(ws)
    store(quads, ws, at//4, row[0])
    store(quads, ws, (at + other)//4, row[1])


@one_state_only(otherwise=lambda lane: 4)
def speeds_at_once(lane):
    return 8


@leaf
def end_of(lane, route, first):
    """End of the speeds moved by the speeds solved together, `first` being the first of them."""
    end = first
    for s in range(first, min(first + speeds_at_once(lane), read(route, f.COLUMNS_SPEEDS))):
        end = max(end, read(route, speed_row(route, s) + f.SPEED_END))
    return end


@leaf
def clear_columns(lane, ws, route):
    """Zero the rows of B that have nonzeros: the speeds moved by each group, and the speeds on its path."""
    rows, length = read(route, f.COLUMNS_SPEEDS), read(route, f.COLUMNS_PADDED)
    other, nothing = 12*length, zero(quads_of(ws))
    row = nothing_row(lane, nothing)
    for first in range(0, rows, speeds_at_once(lane)):
        B, (depth, path) = read(route, f.COLUMNS_B) + 3*first*length, path_of(route, first)
        for d in range(depth):
            store_row(lane, ws, B + 12*read(route, path + d), other, row)
        for s in range(first, end_of(lane, route, first)):
            store_row(lane, ws, B + 12*s, other, row)


@one_state_only(otherwise=lambda lane, o: ((o, o, o), (o, o, o), (o, o, o), (o, o, o)))
def nothing_row(lane, o):
    return (o, o, o), (o, o, o)


@leaf
def solve_some(lane, ws, route, first, end):
    """Solve the columns of a few speeds from `first` on, whose nonzeros are before `end` and on the path of the first [B 60]."""
    rows, width = read(route, f.COLUMNS_SPEEDS), read(route, f.COLUMNS_WIDTH)
    P, L, length = read(route, f.COLUMNS_P), read(route, f.COLUMNS_L), read(route, f.COLUMNS_PADDED)
    B, other = read(route, f.COLUMNS_B) + 3*first*length, 12*length
    for s in range(end - 1, first - 1, -1):                                 # L^T: the speeds moved by each speed
        row = load_row(lane, ws, B + 12*s, other)
        for i in range(s + 1, min(read(route, speed_row(route, s) + f.SPEED_END), end)):
            row = sub(row, scale(load(lane, ws, L + s*rows + i), load_row(lane, ws, B + 12*i, other)))
        store_row(lane, ws, B + 12*s, other, row)
    depth, path = path_of(route, first)
    for d in range(depth - 1, -1, -1):
        s = read(route, path + d)
        row = load_row(lane, ws, B + 12*s, other)
        for e in range(d + 1, depth):
            i = read(route, path + e)
            row = sub(row, scale(load(lane, ws, L + s*rows + i), load_row(lane, ws, B + 12*i, other)))
        for i in range(first, min(read(route, speed_row(route, s) + f.SPEED_END), end)):
            row = sub(row, scale(load(lane, ws, L + s*rows + i), load_row(lane, ws, B + 12*i, other)))
        store_row(lane, ws, B + 12*s, other, row)
    nothing = nothing_row(lane, zero(quads_of(ws)))
    for s in range(rows):                                                   # D, then L: the speeds that move each speed
        at, (depth, path) = P + s*width, path_of(route, s)
        row = nothing
        if s < end and (s >= first or read(route, speed_row(route, s) + f.SPEED_END) > first):
            row = scale(load(lane, ws, at + depth), load_row(lane, ws, B + 12*s, other))
        for d in range(depth):
            row = sub(row, scale(load(lane, ws, at + d), load_row(lane, ws, B + 12*read(route, path + d), other)))
        store_row(lane, ws, B + 12*s, other, row)


@sweep(features=(), method="derivatives", rounds=2)
def solve_columns(lane, ws, route):
    """Multiply all columns by M^-1 (factored): B for q and v, minus the identity for tau."""
    noinline()
    rows = read(route, f.COLUMNS_SPEEDS)
    for s in range(rows):
        store(lane, ws, entry_place(route, 2, s, s), -1.0)
    for first in range(0, rows, speeds_at_once(lane)):
        solve_some(lane, ws, route, first, end_of(lane, route, first))


@leaf
def ill_conditioned(lane, ws, route, states):
    """Number of M_ii (M^-1)_ii not below ILL.  This ratio, independent of units, tells how much the other speeds reduce the
    inertia of speed i; errors of all columns are 1 to 20 roundings times it."""
    found = 0
    for s in range(read(route, f.COLUMNS_SPEEDS)):
        for i in range(min(states, width_of(lane))):
            inverse = -get_lane(lane, ws, entry_place(route, 2, s, s), i)
            found += not inverse*get_lane(lane, ws, read(route, f.COLUMNS_INERTIAS) + s, i) < ILL
    return found


# ---- out ---------------------------------------------------------------------------------------------------------------
@leaf
def block_place(route, out, state, block):
    """Start of a matrix in the row of a state."""
    rows = read(route, f.COLUMNS_SPEEDS)
    return state*out.shape[1] + rows + block*rows*rows


def store_blocks_of_states(lane, ws, route, out, group, sign):
    """store_blocks for up to four states."""
    rows, to, states = read(route, f.COLUMNS_SPEEDS), flat(out), min(4, out.shape[0] - 4*group)
    if read(route, f.COLUMNS_SAME) and states == 4:
        store_four_blocks(lane, ws, route, out, group, sign)
        return
    for i in range(states):
        for block in range(3):
            for c in range(rows):
                column = block_place(route, out, 4*group + i, block) + read(route, speed_row(route, c) + f.SPEED_V)
                for s in range(rows):
                    put(to, column + rows*read(route, speed_row(route, s) + f.SPEED_V),
                        sign*get_lane(lane, ws, entry_place(route, block, s, c), i))


@one_state_only(otherwise=store_blocks_of_states)
def store_blocks(lane, ws, route, out, group, sign):
    """One state: columns of B, times a sign, as matrices.  A pack that extends past its row is overwritten by the next row."""
    rows, length, to, quads = read(route, f.COLUMNS_SPEEDS), read(route, f.COLUMNS_PADDED), flat(out), quads_of(ws)
    for block in range(3):
        first, source = block_place(route, out, group, block), read(route, f.COLUMNS_B)//4 + block
        if read(route, f.COLUMNS_SAME):
            for s in range(rows):
                for p in range(length//4):
                    store_four(to, first + rows*s + 4*p, sign*load(quads, ws, source + 3*(p*length + s)))
        else:
            for s in range(rows):
                row = first + rows*read(route, speed_row(route, s) + f.SPEED_V)
                for c in range(rows):
                    x = load(lane, ws, entry_place(route, block, s, c))
                    put(to, row + read(route, speed_row(route, c) + f.SPEED_V), sign*x)


@leaf
def store_four_blocks(lane, ws, route, out, group, sign):
    """store_blocks for four states, four columns at a time."""
    rows, B, to, length = read(route, f.COLUMNS_SPEEDS), read(route, f.COLUMNS_B), flat(out), out.shape[1]
    wide = read(route, f.COLUMNS_PADDED)
    for block in range(3):
        first = block_place(route, out, 4*group, block)
        for s in range(rows):
            for p in range(wide//4):
                a, b, c, d = load4(lane, ws, B + 12*(p*wide + s) + 4*block)
                a, b, c, d = transposed(a, b, c, d)
                at = first + rows*s + 4*p
                store_four(to, at, sign*a)
                store_four(to, at + length, sign*b)
                store_four(to, at + 2*length, sign*c)
                store_four(to, at + 3*length, sign*d)


@leaf
def store_torques(lane, plan, ws, route, out, group):
    """Torques required by the motion, less those applied."""
    at, applied = read(route, f.COLUMNS_TORQUES), read(plan, f.WS_U)
    for i in range(min(width_of(lane), out.shape[0] - group*width_of(lane))):
        for s in range(read(route, f.COLUMNS_SPEEDS)):
            v = read(route, speed_row(route, s) + f.SPEED_V)
            out[group*width_of(lane) + i, v] = get_lane(lane, ws, at + s, i) - get_lane(lane, ws, applied + v, i)


# ---- kernels -----------------------------------------------------------------------------------------------------------
@sweep(features=("implicit", "drives", "tanks"), method="derivatives")
def apply_torques(lane, plan, pars, tables, ws):
    """Sum the applied torques into u."""
    noinline()
    gather_inputs(lane, plan, pars, tables, ws)


@sweep(features=(), method="derivatives", rounds=2)
def factor_columns(lane, ws, route):
    """Factor the mass matrix on paths."""
    noinline()
    factor_paths(lane, ws, route)


@sweep(features=(), excludes="flexible", method="derivatives", rounds=2)
def accelerate_columns(lane, plan, ws, route):
    """Call after weigh_tree and factor_columns: v', the corresponding A and F; zeros the rows of B that have nonzeros."""
    noinline()
    clear_columns(lane, ws, route)
    solve_accelerations(lane, plan, ws, route)
    accelerate_tree(lane, plan, ws, route)


@sweep(features=(), method="derivatives")
def empty_columns(lane, ws, route):
    """Zero all of B: without a solve, the zero rows are read too."""
    noinline()
    for i in range(3*read(route, f.COLUMNS_PADDED)*read(route, f.COLUMNS_PADDED)):
        store(lane, ws, read(route, f.COLUMNS_B) + i, zero(lane))


@sweep(features=(), method="derivatives")
def inertia_columns(lane, ws, route):
    """Copy the mass matrix on paths to the third block of B."""
    noinline()
    for s in range(read(route, f.COLUMNS_SPEEDS)):
        at, (depth, path) = read(route, f.COLUMNS_P) + read(route, f.COLUMNS_WIDTH)*s, path_of(route, s)
        for d in range(depth):
            store(lane, ws, entry_place(route, 2, s, read(route, path + d)), load(lane, ws, at + d))
            store(lane, ws, entry_place(route, 2, read(route, path + d), s), load(lane, ws, at + d))
        store(lane, ws, entry_place(route, 2, s, s), load(lane, ws, at + depth))


@leaf
def copy_arguments(plan, x, more, plain, q, v, given):
    """Copy one state into its row of x, and what is given along v into its row of `more`.  False if the arrays need checking by
    the caller.  If `plain` is zero, the rows are already filled."""
    plain, nq, nv = pointer_to(plain), read(plan, f.NQ), read(plan, f.NV)
    return read(plain, 0) == 0 or (take_given(flat(x), 0, q, plain, nq) and take_given(flat(x), nq, v, plain, nv)
                                   and take_given(flat(more), 0, given, plain, nv))


@kernel
def forward_partials(sweep_table, plan, pars, tables, t, x, u, route, ws, plain, q, v, tau, out):
    """out = v' and its derivatives with respect to q, v and tau; for rigid trees loaded only by joint torques, springs and
    dampers."""
    align_stack()
    lane, plan, tables = lanes_of(ws, sweep_table), pointer_to(plan), pointer_to(tables)
    ws, route, doubtful = pointer_to(ws), pointer_to(route), 0
    if not copy_arguments(plan, x, u, plain, q, v, tau):
        return 1
    for group in range(n_groups(lane, x)):
        of_group = parameters_of(pars, group)
        load_state(lane, plan, tables, t, x, u, group, ws)
        apply_torques(lane, plan, of_group, tables, ws)
        remainder_motion(lane, plan, of_group, ws)
        weigh_tree(lane, plan, of_group, ws, route)
        factor_columns(lane, ws, route)
        accelerate_columns(lane, plan, ws, route)
        fill_closed_form(lane, plan, of_group, ws, route)
        solve_columns(lane, ws, route)
        store_rows(lane, out, group, 0, ws, read(plan, f.WS_XDOT) + read(plan, f.NQ), read(plan, f.NV))
        store_blocks(lane, ws, route, out, group, -1.0)
        doubtful += ill_conditioned(lane, ws, route, n_rows(x) - group*width_of(lane))
    return doubtful + doubts(plan, x, u, out, read(plan, f.NV), SUSPECT)


@kernel
def inverse_partials(sweep_table, plan, pars, tables, t, x, u, vdot, route, ws, plain, q, v, a, out):
    """out = torques that give vdot, and their derivatives with respect to q, v and vdot; for the same trees."""
    align_stack()
    lane, plan, tables = lanes_of(ws, sweep_table), pointer_to(plan), pointer_to(tables)
    ws, route = pointer_to(ws), pointer_to(route)
    if not copy_arguments(plan, x, vdot, plain, q, v, a):
        return 1
    for group in range(n_groups(lane, x)):
        of_group = parameters_of(pars, group)
        load_state(lane, plan, tables, t, x, u, group, ws)
        load_rows(lane, vdot, group, ws, read(plan, f.WS_XDOT) + read(plan, f.NQ), read(plan, f.NV))
        apply_torques(lane, plan, of_group, tables, ws)
        vdot_motion(lane, plan, of_group, ws, MOTION)
        weigh_tree(lane, plan, of_group, ws, route)
        empty_columns(lane, ws, route)
        inertia_columns(lane, ws, route)
        fill_closed_form(lane, plan, of_group, ws, route)
        store_torques(lane, plan, ws, route, out, group)
        store_blocks(lane, ws, route, out, group, 1.0)
    return doubts(plan, x, vdot, out, read(plan, f.NV), inf)
