"""Rows of the recursion over links: numbers in one array, counted in packs of four, padded with zeros.

A row of carried coordinates has an even number of packs, so that two are worked on together; sums of rows stay in registers.
"""
from bough.kernels.jit import leaf
from bough.kernels.lanes import load, quads_of, read, register3, store, total, zero


@leaf
def packs_of(n):
    """Packs that hold n numbers."""
    return (n + 3) >> 2


@leaf
def pairs_of(m):
    """The same, an even number of them."""
    return ((m + 7) >> 3) << 1


@leaf
def first_packs(quads, ws, start, p):
    """Packs p and p + 1 from `start` on; zero from NOTHING."""
    if start is None:
        return zero(quads), zero(quads)
    return load(quads, ws, start + p), load(quads, ws, start + p + 1)


@leaf
def sum_rows(ws, to, start, packs, n, source, factors, at, stride):
    """Row `to` of some packs = row `start` (or NOTHING) + the sum of n rows from `at` on, `stride` apart, times numbers of `source`
    from `factors` on."""
    quads = quads_of(ws)
    for p in range(0, packs - 1, 2):
        a, b = first_packs(quads, ws, start, p)
        for s in range(0, n - 2, 3):
            e, f, g = read(source, factors + s), read(source, factors + s + 1), read(source, factors + s + 2)
            first, second, third = at + stride*s + p, at + stride*(s + 1) + p, at + stride*(s + 2) + p
            a = a + (e*load(quads, ws, first) + f*load(quads, ws, second) + g*load(quads, ws, third))
            b = b + (e*load(quads, ws, first + 1) + f*load(quads, ws, second + 1) + g*load(quads, ws, third + 1))
        for s in range(n - n % 3, n):
            e, first = read(source, factors + s), at + stride*s + p
            a, b = a + e*load(quads, ws, first), b + e*load(quads, ws, first + 1)
        store(quads, ws, to + p, (a, b))
    if packs & 1:
        a, _ = first_packs(quads, ws, start, packs - 1)
        for s in range(n):
            a = a + read(source, factors + s)*load(quads, ws, at + stride*s + packs - 1)
        store(quads, ws, to + packs - 1, a)


@leaf
def carry_row(ws, to, base, same, packs, row, lever, lever_packs, first, m):
    """Row `to` = base + same + row U^T: `lever` is U^T from its row `first` on, of m, and reaches over `lever_packs`."""
    quads = quads_of(ws)
    for p in range(packs):
        a = load(quads, ws, base + p) + load(quads, ws, same + p)
        if p < lever_packs:
            for c in range(first, m):
                a = a + read(ws, 4*row + c)*load(quads, ws, lever + lever_packs*(c - first) + p)
        store(quads, ws, to + p, a)


@leaf
def copy_row(ws, to, at, packs):
    quads = quads_of(ws)
    for p in range(packs):
        store(quads, ws, to + p, load(quads, ws, at + p))


@leaf
def dot_rows(ws, i, j, packs, start):
    """start + the product of two rows."""
    quads, a = quads_of(ws), register3((start, 0.0, 0.0))
    for p in range(packs):
        a = a + load(quads, ws, i + p)*load(quads, ws, j + p)
    return total(a)
