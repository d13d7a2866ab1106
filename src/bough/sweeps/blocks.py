"""Blocks of numbers in the workspace, processed in packs: four consecutive numbers of one state, or one number of four states.

Blocks start at multiples of four and are padded to multiples of four; the padding is never read.
"""
from bough.kernels.jit import leaf
from bough.kernels.lanes import (accumulate, duals_only, flat, get_lane, get_tangent, load, load5, put, put_lane,
                                 put_tangent, quads_of, read, read_pack, smaller, store, width_of, zero)


@leaf
def padded(n):
    """The next multiple of four."""
    return (n + 3) & -4


@leaf
def pack_of(lane, at):
    """Index of the pack that contains number `at`."""
    return at*width_of(lane)//4


@leaf
def packs_until(lane, end):
    """Number of packs needed for the numbers before `end`; only one state needs padding."""
    return (end*width_of(lane) + 3)//4


@leaf
def pack_start(lane, at):
    """First number of the pack that contains number `at`."""
    return pack_of(lane, at)*4//width_of(lane)


@leaf
def copy_block(lane, ws, to, pars, at, n):
    quads, first, source = quads_of(ws), pack_of(lane, to), pack_of(lane, at)
    for i in range(packs_until(lane, n)):
        store(quads, ws, first + i, read_pack(lane, pars, source + i))


NOTHING = None


@leaf
def first_pack(lane, quads, pars, start, i):
    """Pack i of the block at `start`; zero if start is NOTHING."""
    if start is None:
        return zero(quads)
    return zero(quads) + read_pack(lane, pars, pack_of(lane, start) + i)


@leaf
def five_packs(lane, pars, k, stride):
    """Five packs of pars, `stride` apart."""
    return (read_pack(lane, pars, k), read_pack(lane, pars, k + stride), read_pack(lane, pars, k + 2*stride),
            read_pack(lane, pars, k + 3*stride), read_pack(lane, pars, k + 4*stride))


@leaf
def weigh(factors, packs):
    (a, b, c, d, e), (v, w, x, y, z) = factors, packs
    return a*v + b*w + c*x + d*y + e*z


@leaf
def last_factors(lane, ws, factors, s, n):
    """Factors s to s + 3, zero from n on."""
    last, b, c, d = factors + n - 1, min(n - s, 2), min(n - s, 3), n - s
    return (load(lane, ws, factors + s), float(b//2)*load(lane, ws, min(factors + s + 1, last)),
            float(c//3)*load(lane, ws, min(factors + s + 2, last)), float(d//4)*load(lane, ws, last))


@leaf
def last_steps(s, n, stride):
    """Distances of blocks s + 1 to s + 3 from block s; none is beyond the last."""
    return min(s + 1, n - 1)*stride - s*stride, min(s + 2, n - 1)*stride - s*stride, (n - 1 - s)*stride


@leaf
def combine(lane, ws, to, factors, n, pars, start, at, length):
    """ws[to ...] = pars[start ...] (or 0 for NOTHING) + sum of n factors (in ws) times n blocks of pars.  Ten or five blocks at a
    time, to load and store the partial sums less often."""
    quads, to, at, stride, packs = (quads_of(ws), pack_of(lane, to), pack_of(lane, at), pack_of(lane, padded(length)),
                                    packs_until(lane, length))
    tens, fives = n//10*10, n//5*5
    for s in range(0, tens, 10):
        f, g = load5(lane, ws, factors + s), load5(lane, ws, factors + s + 5)
        for i in range(packs):
            k = at + s*stride + i
            value = load(quads, ws, to + i) if s > 0 else first_pack(lane, quads, pars, start, i)
            store(quads, ws, to + i, value + weigh(f, five_packs(lane, pars, k, stride))
                  + weigh(g, five_packs(lane, pars, k + 5*stride, stride)))
    if fives > tens:
        f = load5(lane, ws, factors + tens)
        for i in range(packs):
            value = load(quads, ws, to + i) if tens > 0 else first_pack(lane, quads, pars, start, i)
            store(quads, ws, to + i, value + weigh(f, five_packs(lane, pars, at + tens*stride + i, stride)))
    if n > fives:
        (a, b, c, d), (second, third, fourth) = last_factors(lane, ws, factors, fives, n), last_steps(fives, n, stride)
        if n > fives + 2:
            for i in range(packs):
                k = at + fives*stride + i
                value = load(quads, ws, to + i) if fives > 0 else first_pack(lane, quads, pars, start, i)
                store(quads, ws, to + i, value + (a*read_pack(lane, pars, k) + b*read_pack(lane, pars, k + second)
                                                  + c*read_pack(lane, pars, k + third) + d*read_pack(lane, pars, k + fourth)))
        else:
            for i in range(packs):
                k = at + fives*stride + i
                value = load(quads, ws, to + i) if fives > 0 else first_pack(lane, quads, pars, start, i)
                store(quads, ws, to + i, value + (a*read_pack(lane, pars, k) + b*read_pack(lane, pars, k + second)))


@leaf
def combine_both(lane, ws, to, slopes, x, rates, n, pars, start, at, length):
    """combine with the factors at x into `to`, and with the factors at `rates` into `slopes` (starting from zero); each pack of
    pars is read once for both."""
    quads, to, slopes, at = quads_of(ws), pack_of(lane, to), pack_of(lane, slopes), pack_of(lane, at)
    stride, packs, fives = pack_of(lane, padded(length)), packs_until(lane, length), n//5*5
    for s in range(0, fives, 5):
        f, g = load5(lane, ws, x + s), load5(lane, ws, rates + s)
        for i in range(packs):
            five = five_packs(lane, pars, at + s*stride + i, stride)
            value = load(quads, ws, to + i) if s > 0 else first_pack(lane, quads, pars, start, i)
            slope = load(quads, ws, slopes + i) if s > 0 else zero(quads)
            store(quads, ws, to + i, value + weigh(f, five))
            store(quads, ws, slopes + i, slope + weigh(g, five))
    if n > fives:
        (a, b, c, d), (second, third, fourth) = last_factors(lane, ws, x, fives, n), last_steps(fives, n, stride)
        e, f_, g_, h = last_factors(lane, ws, rates, fives, n)
        for i in range(packs):
            k = at + fives*stride + i
            A, B, C, D = (read_pack(lane, pars, k), read_pack(lane, pars, k + second), read_pack(lane, pars, k + third),
                          read_pack(lane, pars, k + fourth))
            value = load(quads, ws, to + i) if fives > 0 else first_pack(lane, quads, pars, start, i)
            slope = load(quads, ws, slopes + i) if fives > 0 else zero(quads)
            store(quads, ws, to + i, value + (a*A + b*B + c*C + d*D))
            store(quads, ws, slopes + i, slope + (e*A + f_*B + g_*C + h*D))


@leaf
def add_row(lane, ws, to, factor, at, n):
    """ws[to ...] += factor ws[at ...]."""
    quads, to, at = quads_of(ws), pack_of(lane, to), pack_of(lane, at)
    for i in range(packs_until(lane, n)):
        accumulate(quads, ws, to + i, factor*load(quads, ws, at + i))


@leaf
def copy_and_add(lane, ws, to, pars, start, factor, at, n):
    """ws[to ...] = pars[start ...] + factor ws[at ...]."""
    quads, to, at, start = quads_of(ws), pack_of(lane, to), pack_of(lane, at), pack_of(lane, start)
    for i in range(packs_until(lane, n)):
        store(quads, ws, to + i, read_pack(lane, pars, start + i) + factor*load(quads, ws, at + i))


@leaf
def pivot_factor(lane, ws, row, s, j):
    """Entry j of row s (at `row`) times its inverse pivot."""
    return load(lane, ws, row + j)*load(lane, ws, row + s)


@leaf
def eliminate_rows(lane, ws, at, length, j, rows):
    """Subtract rows i < j of a symmetric system, each times its entry j (j + 1) and its inverse pivot (stored at i), from row j
    and, with rows = 2, row j + 1; entries from j on.  The two rows share the loads."""
    quads, to, packs, first = quads_of(ws), pack_of(lane, at + length*j), pack_of(lane, length), pack_of(lane, j)
    second = j + rows - 1
    for s in range(0, j - 3, 4):
        row = at + length*s
        a, b = pivot_factor(lane, ws, row, s, j), pivot_factor(lane, ws, row + length, s + 1, j)
        c, d = pivot_factor(lane, ws, row + 2*length, s + 2, j), pivot_factor(lane, ws, row + 3*length, s + 3, j)
        e, f = pivot_factor(lane, ws, row, s, second), pivot_factor(lane, ws, row + length, s + 1, second)
        g, h = pivot_factor(lane, ws, row + 2*length, s + 2, second), pivot_factor(lane, ws, row + 3*length, s + 3, second)
        for i in range(first, packs):
            k = pack_of(lane, row) + i
            A, B, C, D = load(quads, ws, k), load(quads, ws, k + packs), load(quads, ws, k + 2*packs), load(quads, ws, k + 3*packs)
            store(quads, ws, to + i, load(quads, ws, to + i) - (a*A + b*B + c*C + d*D))
            if rows == 2:
                store(quads, ws, to + packs + i, load(quads, ws, to + packs + i) - (e*A + f*B + g*C + h*D))
    for s in range(j & -4, j, 2):                               # j is even
        row = at + length*s
        a, b = pivot_factor(lane, ws, row, s, j), pivot_factor(lane, ws, row + length, s + 1, j)
        c, d = pivot_factor(lane, ws, row, s, second), pivot_factor(lane, ws, row + length, s + 1, second)
        for i in range(first, packs):
            k = pack_of(lane, row) + i
            A, B = load(quads, ws, k), load(quads, ws, k + packs)
            store(quads, ws, to + i, load(quads, ws, to + i) - (a*A + b*B))
            if rows == 2:
                store(quads, ws, to + packs + i, load(quads, ws, to + packs + i) - (c*A + d*B))


@leaf
def invert_pivot(lane, ws, at):
    d = load(lane, ws, at)
    store(lane, ws, at, 1.0/d)
    return d


@leaf
def eliminate_all(lane, ws, at, length, n):
    """Eliminate n rows of a symmetric system (upper triangle), including what follows in each row.  Leaves the inverse pivots on
    the diagonal; returns the smallest pivot."""
    least = zero(lane) + 1.0
    for j in range(0, n, 2):
        pair = min(n - j, 2)
        eliminate_rows(lane, ws, at, length, j, pair)
        least = smaller(least, invert_pivot(lane, ws, at + length*j + j))
        if pair == 2:
            row, first = at + length*(j + 1), pack_start(lane, j + 1)
            add_row(lane, ws, row + first, -load(lane, ws, row - length + j + 1)*load(lane, ws, row - length + j),
                    row - length + first, length - first)
            least = smaller(least, invert_pivot(lane, ws, row + j + 1))
    return least


@leaf
def add_products(lane, ws, to, F, at, first, n):
    """ws[to ...] += F . V_j for the spatial vectors V_j stored by `store_column` at `at`, from j = `first` up to n."""
    quads, to, at = quads_of(ws), pack_of(lane, to), pack_of(lane, at)
    (a, b, c), (d, e, f) = F
    for i in range(pack_of(lane, first), packs_until(lane, n)):
        k = at + 6*i
        accumulate(quads, ws, to + i, a*load(quads, ws, k) + b*load(quads, ws, k + 1) + c*load(quads, ws, k + 2)
                   + d*load(quads, ws, k + 3) + e*load(quads, ws, k + 4) + f*load(quads, ws, k + 5))


@leaf
def store_column(lane, ws, at, j, F):
    """Store spatial vector j of many, component by component: all first components, then all second ones, and so on."""
    w = 4//width_of(lane)                                       # numbers of one state in a pack
    store_strided(lane, ws, at + (j//w)*6*w + j % w, w, F)


@leaf
def store_strided(lane, ws, at, stride, F):
    """Store the six numbers of a spatial vector `stride` apart."""
    (a, b, c), (d, e, f) = F
    store(lane, ws, at, a)
    store(lane, ws, at + stride, b)
    store(lane, ws, at + 2*stride, c)
    store(lane, ws, at + 3*stride, d)
    store(lane, ws, at + 4*stride, e)
    store(lane, ws, at + 5*stride, f)


@leaf
def load_strided(lane, ws, at, stride):
    """Load a vector stored by `store_strided`."""
    return ((load(lane, ws, at), load(lane, ws, at + stride), load(lane, ws, at + 2*stride)),
            (load(lane, ws, at + 3*stride), load(lane, ws, at + 4*stride), load(lane, ws, at + 5*stride)))


# ---- rows of states in, rows of results out, one or four states at a time.  With duals, `rows` are two arrays: rows of states or
# results, and their derivatives along as many directions for each; four directions at a time
def load_plain_rows(lane, rows, group, ws, at, n):
    width, last = width_of(lane), rows.shape[0] - 1
    for j in range(n):                                          # inner loop over lanes: they are adjacent
        for i in range(width):
            put_lane(lane, ws, at + j, i, rows[min(group*width + i, last), j])


@duals_only(otherwise=load_plain_rows)
def load_rows(lane, rows, group, ws, at, n):
    """Copy the rows of a group to ws; unused lanes of the last group repeat its last row."""
    states, along = rows
    width, last, m = width_of(lane), along.shape[0] - 1, along.shape[0]//states.shape[0]
    for j in range(n):
        for i in range(width):
            direction = min(group*width + i, last)
            put_lane(lane, ws, at + j, i, states[direction//m, j])
            put_tangent(lane, ws, at + j, i, along[direction, j])


def store_plain_rows(lane, rows, group, first, ws, at, n):
    width = width_of(lane)
    for i in range(min(width, rows.shape[0] - group*width)):
        for j in range(n):
            rows[group*width + i, first + j] = get_lane(lane, ws, at + j, i)


@duals_only(otherwise=store_plain_rows)
def store_rows(lane, rows, group, first, ws, at, n):
    """Copy numbers of ws to the rows of a group, starting at column `first`."""
    results, along = rows
    width, m = width_of(lane), along.shape[0]//results.shape[0]
    for i in range(min(width, along.shape[0] - group*width)):
        direction = group*width + i
        for j in range(n):
            results[direction//m, first + j] = get_lane(lane, ws, at + j, i)
            along[direction, first + j] = get_tangent(lane, ws, at + j, i)


@leaf
def n_rows(rows):
    """Number of states in an array of rows; 1 for a single state."""
    return rows.shape[0] if rows.ndim == 2 else 1


@leaf
def load_numbers(lane, rows, group, ws, at, n):
    """load_rows for rows or for a single state."""
    for i in range(width_of(lane)):
        first = n*min(group*width_of(lane) + i, n_rows(rows) - 1)
        for j in range(n):
            put_lane(lane, ws, at + j, i, read(flat(rows), first + j))


@leaf
def store_numbers(lane, out, group, states, n, ws, at):
    """Copy n numbers for each state of a group to a result of any shape."""
    for i in range(min(width_of(lane), states - group*width_of(lane))):
        for j in range(n):
            put(flat(out), n*(group*width_of(lane) + i) + j, get_lane(lane, ws, at + j, i))


@leaf
def count_beyond(rows, n, limit):
    """How many of the first n numbers are not below a limit in magnitude (NaN counts)."""
    found = 0
    for i in range(n):
        found += not abs(read(flat(rows), i)) < limit
    return found


@duals_only(otherwise=lambda lane, rows: (n_rows(rows) + width_of(lane) - 1)//width_of(lane))
def n_groups(lane, rows):
    """Number of groups of states, or of directions."""
    return (rows[1].shape[0] + width_of(lane) - 1)//width_of(lane)


@duals_only(otherwise=lambda lane, rows: rows.shape[1])
def row_length(lane, rows):
    return rows[0].shape[1]
