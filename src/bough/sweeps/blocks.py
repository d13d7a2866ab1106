"""Blocks of numbers in the workspace, taken in packs: four neighbours of one state, or one number of four states.

Blocks start at multiples of four and are padded to such; what a pack holds beyond the end of a block is never read.
"""
from bough.kernels.jit import leaf
from bough.kernels.lanes import accumulate, load, quads_of, read_pack, store, width_of, zero


@leaf
def padded(n):
    """The next multiple of four."""
    return (n + 3) & -4


@leaf
def pack_of(lane, at):
    """The pack in which the number at `at` is."""
    return at*width_of(lane)//4


@leaf
def copy_block(lane, ws, to, pars, at, n):
    quads, first, source = quads_of(ws), pack_of(lane, to), pack_of(lane, at)
    for i in range(pack_of(lane, padded(n))):
        store(quads, ws, first + i, read_pack(lane, pars, source + i))


NOTHING = -1


@leaf
def combine(lane, ws, to, factors, n, pars, start, at, length):
    """ws[to ...] = pars[start ...] (or NOTHING) + the sum of n factors (in ws) times as many blocks of pars; four at a time, so
    that sums are loaded and stored less often."""
    quads, to, at, packs = quads_of(ws), pack_of(lane, to), pack_of(lane, at), pack_of(lane, padded(length))
    from_start, start = start >= 0, pack_of(lane, start)
    for i in range(packs*(n < 4)):
        store(quads, ws, to + i, zero(quads))
        if from_start:
            store(quads, ws, to + i, read_pack(lane, pars, start + i))
    for s in range(0, n - 3, 4):
        a, b = load(lane, ws, factors + s), load(lane, ws, factors + s + 1)
        c, d = load(lane, ws, factors + s + 2), load(lane, ws, factors + s + 3)
        for i in range(packs):
            k = at + s*packs + i
            value = (a*read_pack(lane, pars, k) + b*read_pack(lane, pars, k + packs)
                     + c*read_pack(lane, pars, k + 2*packs) + d*read_pack(lane, pars, k + 3*packs))
            if s > 0:
                value = value + load(quads, ws, to + i)
            elif from_start:
                value = value + read_pack(lane, pars, start + i)
            store(quads, ws, to + i, value)
    for s in range(n & -4, n - 1, 2):
        a, b = load(lane, ws, factors + s), load(lane, ws, factors + s + 1)
        for i in range(packs):
            k = at + s*packs + i
            accumulate(quads, ws, to + i, a*read_pack(lane, pars, k) + b*read_pack(lane, pars, k + packs))
    if n & 1:
        a = load(lane, ws, factors + n - 1)
        for i in range(packs):
            accumulate(quads, ws, to + i, a*read_pack(lane, pars, at + (n - 1)*packs + i))


@leaf
def add_row(lane, ws, to, factor, at, n):
    """ws[to ...] += factor ws[at ...]."""
    quads, to, at = quads_of(ws), pack_of(lane, to), pack_of(lane, at)
    for i in range(pack_of(lane, n)):
        accumulate(quads, ws, to + i, factor*load(quads, ws, at + i))


@leaf
def eliminate_rows(lane, ws, at, length, j):
    """Row j less the rows i < j of a symmetric system, each times its entry j and its inverse pivot (at i), from entry j on."""
    quads, to, packs, first = quads_of(ws), pack_of(lane, at + length*j), pack_of(lane, length), pack_of(lane, j)
    for s in range(0, j - 3, 4):
        row = at + length*s
        a = load(lane, ws, row + j)*load(lane, ws, row + s)
        b = load(lane, ws, row + length + j)*load(lane, ws, row + length + s + 1)
        c = load(lane, ws, row + 2*length + j)*load(lane, ws, row + 2*length + s + 2)
        d = load(lane, ws, row + 3*length + j)*load(lane, ws, row + 3*length + s + 3)
        for i in range(first, packs):
            k = pack_of(lane, row) + i
            value = load(quads, ws, to + i) - (a*load(quads, ws, k) + b*load(quads, ws, k + packs)
                                               + c*load(quads, ws, k + 2*packs) + d*load(quads, ws, k + 3*packs))
            store(quads, ws, to + i, value)
    for s in range(j & -4, j):
        row = at + length*s
        a = load(lane, ws, row + j)*load(lane, ws, row + s)
        for i in range(first, packs):
            store(quads, ws, to + i, load(quads, ws, to + i) - a*load(quads, ws, pack_of(lane, row) + i))


@leaf
def add_products(lane, ws, to, F, at, first, n):
    """ws[to ...] += F . six blocks that follow each other, from entry `first` on: products of a spatial vector with n others."""
    quads, to, at, stride = quads_of(ws), pack_of(lane, to), pack_of(lane, at), pack_of(lane, padded(n))
    (a, b, c), (d, e, f) = F
    for i in range(pack_of(lane, first), stride):
        k = at + i
        accumulate(quads, ws, to + i, a*load(quads, ws, k) + b*load(quads, ws, k + stride) + c*load(quads, ws, k + 2*stride)
                   + d*load(quads, ws, k + 3*stride) + e*load(quads, ws, k + 4*stride) + f*load(quads, ws, k + 5*stride))


@leaf
def store_column(lane, ws, to, stride, F):
    """A spatial vector, its components a block apart."""
    (a, b, c), (d, e, f) = F
    store(lane, ws, to, a)
    store(lane, ws, to + stride, b)
    store(lane, ws, to + 2*stride, c)
    store(lane, ws, to + 3*stride, d)
    store(lane, ws, to + 4*stride, e)
    store(lane, ws, to + 5*stride, f)
