"""3-vectors as values of their own: of one state one register (x, y, z and an idle lane), of four states a tuple of three numbers.

Sums and multiples are `add` and `scale` either way, and a matrix is the tuple of its columns.  Where bodies follow one another
in a chain, one state's arithmetic is then four wide too.
"""
from bough.kernels.algebra import cross
from bough.kernels.jit import leaf
from bough.kernels.lanes import add, cycle, one_state_only, register3, scale, unpack3


def vector(lane, u):
    """A vector of three numbers."""
    return register3(u)


vector = one_state_only(vector, lambda lane, u: u)


def parts(lane, u):
    """The three numbers of a vector."""
    return unpack3(u)


parts = one_state_only(parts, lambda lane, u: u)


def vector_cross(lane, u, v):
    """u x v: with c(x, y, z) = (y, z, x) it is c(u c(v) - c(u) v)."""
    return cycle(u*cycle(v) - cycle(u)*v)


vector_cross = one_state_only(vector_cross, lambda lane, u, v: cross(u, v))


@leaf
def combine(C, x):
    """C x: the sum of C's columns, so many of each."""
    (a, b, c), (x_a, x_b, x_c) = C, x
    return add(add(scale(x_a, a), scale(x_b, b)), scale(x_c, c))


@leaf
def combine_columns(C, B):
    """C B, of a B in rows."""
    xx, xy, xz, yx, yy, yz, zx, zy, zz = B
    return combine(C, (xx, yx, zx)), combine(C, (xy, yy, zy)), combine(C, (xz, yz, zz))


@leaf
def turn_columns(C, s, c):
    """C Rz for the turn with sine s and cosine c about the third column of C."""
    a, b, e = C
    return add(scale(c, a), scale(s, b)), add(scale(c, b), scale(-s, a)), e


@leaf
def rows_of(lane, C):
    """The matrix of three columns, in rows."""
    (xx, yx, zx), (xy, yy, zy), (xz, yz, zz) = parts(lane, C[0]), parts(lane, C[1]), parts(lane, C[2])
    return xx, xy, xz, yx, yy, yz, zx, zy, zz


@leaf
def columns_of(lane, C):
    """The three columns of a matrix in rows."""
    xx, xy, xz, yx, yy, yz, zx, zy, zz = C
    return vector(lane, (xx, yx, zx)), vector(lane, (xy, yy, zy)), vector(lane, (xz, yz, zz))
