"""All derivatives of the dynamics of a tree by q, v and tau at once: those of inverse dynamics, then the mass matrix.

With M v' + h(q, v) = tau, along any direction  d v' = M^-1 (d tau - d ID),  ID inverse dynamics at the v' that was found [B 60].
M = L^T D L has entries only between a speed and those on its path to the root, and so has L: solving costs a column the sum of the
depths of all speeds.  A column by a coordinate or speed s has entries only for what s moves and on its path.

B holds the columns, four speeds' by four: for each four, a row of 12 numbers for each speed, by their q, their v and their tau.  Of
one state these are three packs, and those of eight speeds are solved at once; of four states they are twelve.  Either stays in
registers while a row is solved.  Rows without entries are not read before they are solved.
"""
from bough.kernels.jit import kernel, leaf
from bough.kernels.lanes import (accumulate, align_stack, flat, get_lane, lanes_of, load, load3, load4, load_dozen, noinline,
                                 one_state_only, parameters_of, pointer_to, put, quads_of, read, scale, store, sub, transposed,
                                 zero)
from bough.kernels.linker import sweep
from bough.sweeps import fields as f
from bough.sweeps.blocks import load_rows, n_groups, pack_of, packs_until, store_rows
from bough.sweeps.calls import SUSPECT, doubts, load_state
from bough.sweeps.derivative import ORDER_N, accelerations
from bough.sweeps.tree_motion import MOTION, store_wrenches, vdot_motion
from bough.sweeps.pairs import entry_place, fill_closed_form


@leaf
def speed_row(route, s):
    return read(route, f.COLUMNS_AT) + f.SPEED_ROW*s


@leaf
def factor_paths(lane, ws, route):
    """M = L^T D L in place of M on the paths: L below the diagonal, 1/D on it; and by columns, of speed s those that it moves."""
    quads, rows, width = quads_of(ws), read(route, f.COLUMNS_SPEEDS), read(route, f.COLUMNS_WIDTH)
    P, L = read(route, f.COLUMNS_P), read(route, f.COLUMNS_L)
    for s in range(rows - 1, -1, -1):
        depth, path = read(route, speed_row(route, s) + f.SPEED_DEPTH), read(route, speed_row(route, s) + f.SPEED_PATH)
        at = P + s*width
        over = 1.0/load(lane, ws, at + depth)
        for d in range(depth - 1, -1, -1):
            a = -load(lane, ws, at + d)*over
            to, source = pack_of(lane, P + read(route, path + d)*width), pack_of(lane, at)
            for e in range(packs_until(lane, d + 1)):                   # what is behind the diagonal is never read
                accumulate(quads, ws, to + e, a*load(quads, ws, source + e))
        for d in range(depth):
            l = load(lane, ws, at + d)*over
            store(lane, ws, at + d, l)
            store(lane, ws, L + read(route, path + d)*rows + s, l)
        store(lane, ws, at + depth, over)


def load_row(lane, ws, at, other):
    """Twelve numbers of one state, and the twelve of the next four speeds: enough to keep the arithmetic busy."""
    quads = quads_of(ws)
    return load3(quads, ws, at//4), load3(quads, ws, (at + other)//4)


load_row = one_state_only(load_row, lambda lane, ws, at, other: load_dozen(lane, ws, at))


def store_row(lane, ws, at, other, row):
    quads = quads_of(ws)
    store(quads, ws, at//4, row[0])
    store(quads, ws, (at + other)//4, row[1])


store_row = one_state_only(store_row, lambda lane, ws, at, other, row: store(lane, ws, at, row))


def speeds_at_once(lane):
    return 8


speeds_at_once = one_state_only(speeds_at_once, lambda lane: 4)


@leaf
def end_of(lane, route, first):
    """The end of the speeds that those from `first` on move which are solved at once."""
    end = first
    for s in range(first, min(first + speeds_at_once(lane), read(route, f.COLUMNS_SPEEDS))):
        end = max(end, read(route, speed_row(route, s) + f.SPEED_END))
    return end


@leaf
def path_of(route, s):
    """How many speeds move s, and where they are listed."""
    return read(route, speed_row(route, s) + f.SPEED_DEPTH), read(route, speed_row(route, s) + f.SPEED_PATH)


@leaf
def clear_columns(lane, ws, route):
    """Rows of B that have entries: of what the speeds of a column move, and of their path."""
    rows = read(route, f.COLUMNS_SPEEDS)
    other, nothing = 12*rows, zero(quads_of(ws))
    row = nothing_row(lane, nothing)
    for first in range(0, rows, speeds_at_once(lane)):
        B, (depth, path) = read(route, f.COLUMNS_B) + 3*first*rows, path_of(route, first)
        for d in range(depth):
            store_row(lane, ws, B + 12*read(route, path + d), other, row)
        for s in range(first, end_of(lane, route, first)):
            store_row(lane, ws, B + 12*s, other, row)


def nothing_row(lane, o):
    return (o, o, o), (o, o, o)


nothing_row = one_state_only(nothing_row, lambda lane, o: ((o, o, o), (o, o, o), (o, o, o), (o, o, o)))


@leaf
def solve_some(lane, ws, route, first, end):
    """The columns of some speeds from `first` on, which have entries before `end` and on the path of the first [B 60]."""
    rows, width = read(route, f.COLUMNS_SPEEDS), read(route, f.COLUMNS_WIDTH)
    P, L, B, other = read(route, f.COLUMNS_P), read(route, f.COLUMNS_L), read(route, f.COLUMNS_B) + 3*first*rows, 12*rows
    for s in range(end - 1, first - 1, -1):                                 # L^T: what each speed moves
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
    for s in range(rows):                                                   # D, then L: what moves each speed
        at, (depth, path) = P + s*width, path_of(route, s)
        row = nothing
        if s < end and (s >= first or read(route, speed_row(route, s) + f.SPEED_END) > first):
            row = scale(load(lane, ws, at + depth), load_row(lane, ws, B + 12*s, other))
        for d in range(depth):
            row = sub(row, scale(load(lane, ws, at + d), load_row(lane, ws, B + 12*read(route, path + d), other)))
        store_row(lane, ws, B + 12*s, other, row)


@sweep(method="derivatives", rounds=2)
def solve_columns(lane, ws, route):
    """M^-1 times all columns: by q and v what is in B, by tau minus the unit matrix."""
    noinline()
    factor_paths(lane, ws, route)
    rows = read(route, f.COLUMNS_SPEEDS)
    for s in range(rows):
        store(lane, ws, entry_place(route, 2, s, s), -1.0)
    for first in range(0, rows, speeds_at_once(lane)):
        solve_some(lane, ws, route, first, end_of(lane, route, first))


# ---- out ---------------------------------------------------------------------------------------------------------------
def store_blocks(lane, ws, route, J, group, sign, blocks):
    """Of one state: columns of B, times a sign, as matrices whose rows are padded to fours."""
    rows, wide, B, to = read(route, f.COLUMNS_SPEEDS), read(route, f.COLUMNS_PADDED), read(route, f.COLUMNS_B), flat(J)
    quads, first = quads_of(ws), group*blocks*rows*wide
    for block in range(blocks):
        for s in range(rows):
            row = first + wide*(rows*block + read(route, speed_row(route, s) + f.SPEED_V))
            if read(route, f.COLUMNS_SAME):
                for p in range(wide//4):
                    store(quads, to, row//4 + p, sign*load(quads, ws, B//4 + 3*(p*rows + s) + block))
            else:
                for c in range(rows):
                    x = load(lane, ws, entry_place(route, block, s, c))
                    put(to, row + read(route, speed_row(route, c) + f.SPEED_V), sign*x)


@leaf
def store_four_blocks(lane, ws, route, J, group, sign, blocks):
    """The same of four states, four columns at a time."""
    rows, wide, B, to = read(route, f.COLUMNS_SPEEDS), read(route, f.COLUMNS_PADDED), read(route, f.COLUMNS_B), flat(J)
    quads, size = quads_of(to), blocks*rows*wide//4
    for block in range(blocks):
        for p in range(wide//4):
            for s in range(rows):
                a, b, c, d = load4(lane, ws, B + 12*(p*rows + s) + 4*block)
                a, b, c, d = transposed(a, b, c, d)
                row = 4*group*size + wide//4*(rows*block + s) + p
                store(quads, to, row, sign*a)
                store(quads, to, row + size, sign*b)
                store(quads, to, row + 2*size, sign*c)
                store(quads, to, row + 3*size, sign*d)


def store_blocks_of_states(lane, ws, route, J, group, sign, blocks):
    """The same of up to four states."""
    rows, wide, to, states = read(route, f.COLUMNS_SPEEDS), read(route, f.COLUMNS_PADDED), flat(J), min(4, J.shape[0] - 4*group)
    if read(route, f.COLUMNS_SAME) and states == 4:
        store_four_blocks(lane, ws, route, J, group, sign, blocks)
        return
    for i in range(states):
        first = (4*group + i)*blocks*rows*wide
        for block in range(blocks):
            for c in range(rows):
                column = first + wide*rows*block + read(route, speed_row(route, c) + f.SPEED_V)
                for s in range(rows):
                    put(to, column + wide*read(route, speed_row(route, s) + f.SPEED_V),
                        sign*get_lane(lane, ws, entry_place(route, block, s, c), i))


store_blocks = one_state_only(store_blocks, store_blocks_of_states)


# ---- kernels -----------------------------------------------------------------------------------------------------------
@sweep(method="derivatives")
def empty_columns(lane, ws, route):
    """All of B is zero: where nothing is solved, rows without entries are asked for, too."""
    noinline()
    for i in range(3*read(route, f.COLUMNS_PADDED)*read(route, f.COLUMNS_SPEEDS)):
        store(lane, ws, read(route, f.COLUMNS_B) + i, zero(lane))


@sweep(method="derivatives")
def inverse_columns(lane, plan, pars, ws, route):
    """Motions and wrenches of all bodies at the v' in ws: what the derivatives of inverse dynamics start from; B empty."""
    noinline()
    vdot_motion(lane, plan, pars, ws, MOTION)
    store_wrenches(lane, plan, pars, ws)
    clear_columns(lane, ws, route)


@kernel
def forward_partials(sweep_table, plan, pars, tables, t, x, u, route, out, J, ws):
    """out = v'; J = its derivatives by q, v and tau, of each state three matrices with rows padded to fours; rigid trees without
    loads but joint torques, springs and dampers."""
    align_stack()
    lane, plan, tables = lanes_of(ws, sweep_table), pointer_to(plan), pointer_to(tables)
    ws, route = pointer_to(ws), pointer_to(route)
    for group in range(n_groups(lane, x)):
        load_state(lane, plan, tables, t, x, u, group, ws)
        accelerations(lane, plan, parameters_of(pars, group), tables, ws, ORDER_N, 0)
        store_rows(lane, out, group, 0, ws, read(plan, f.WS_XDOT) + read(plan, f.NQ), read(plan, f.NV))
        inverse_columns(lane, plan, parameters_of(pars, group), ws, route)
        fill_closed_form(lane, plan, parameters_of(pars, group), ws, route)
        solve_columns(lane, ws, route)
        store_blocks(lane, ws, route, J, group, -1.0, 3)
    return doubts(plan, x, u, out, SUSPECT)


@kernel
def inverse_partials(sweep_table, plan, pars, tables, t, x, u, vdot, route, J, ws):
    """J = derivatives of inverse dynamics by q and v, of each state two matrices with rows padded to fours; of such trees."""
    align_stack()
    lane, plan, tables = lanes_of(ws, sweep_table), pointer_to(plan), pointer_to(tables)
    ws, route = pointer_to(ws), pointer_to(route)
    for group in range(n_groups(lane, x)):
        load_state(lane, plan, tables, t, x, u, group, ws)
        load_rows(lane, vdot, group, ws, read(plan, f.WS_XDOT) + read(plan, f.NQ), read(plan, f.NV))
        empty_columns(lane, ws, route)
        inverse_columns(lane, plan, parameters_of(pars, group), ws, route)
        fill_closed_form(lane, plan, parameters_of(pars, group), ws, route)
        store_blocks(lane, ws, route, J, group, 1.0, 2)
