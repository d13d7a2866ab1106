"""``lanes`` in plain Python: for debuggers, coverage and other number types (NUMBA_DISABLE_JIT=1).

A number of four lanes is a NumPy array of four, a dual two of them.  All public names here replace those of ``lanes``.
"""
import itertools

import numpy as np


class Tag:
    """Number of states side by side, and the features of the model: as `lanes.LanesType`."""

    def __init__(self, width, features, tangents=0):
        self.width, self.features, self.tangents = width, features, tangents


def lanes_of(ws, features):
    return Tag(1 if ws.ndim == 1 else 4, features, 1 if ws.ndim == 3 else 0)


class Dual:
    """Values of four lanes and their tangents."""
    __array_ufunc__ = None                              # NumPy scalars leave the arithmetic to this class

    def __init__(self, value, tangent):
        self.value, self.tangent = value, tangent

    def __add__(self, other):
        return Dual(self.value + value_of(other), self.tangent + tangent_of(other))

    def __sub__(self, other):
        return Dual(self.value - value_of(other), self.tangent - tangent_of(other))

    def __mul__(self, other):
        return Dual(self.value*value_of(other), self.tangent*value_of(other) + self.value*tangent_of(other))

    def __truediv__(self, other):
        found = self.value/value_of(other)
        return Dual(found, (self.tangent - found*tangent_of(other))/value_of(other))

    def __rsub__(self, other):
        return Dual(other - self.value, -self.tangent)

    def __rtruediv__(self, other):
        return Dual(other/self.value, -other/self.value**2*self.tangent)

    def __neg__(self):
        return Dual(-self.value, -self.tangent)

    __radd__, __rmul__ = __add__, __mul__


def value_of(x):
    return x.value if isinstance(x, Dual) else x


def tangent_of(x):
    return x.tangent if isinstance(x, Dual) else 0.0


def _select(condition, a, b):
    """a or b, selected by a condition on values."""
    value = np.where(condition, value_of(a), value_of(b))
    if not isinstance(a, Dual) and not isinstance(b, Dual):
        return value
    return Dual(value, np.where(condition, tangent_of(a), tangent_of(b)))


def follow(value, x_rate, x, y_rate, y):
    tangent = value_of(x_rate)*tangent_of(x) + value_of(y_rate)*tangent_of(y)
    return Dual(value_of(value), tangent)


implicit_lanes_of = lanes_of


def lanes_like(ws):
    return lanes_of(ws, None)


def pointer_to(array):
    return array


def flat(array):
    return array.reshape(-1)


def put(table, index, value):
    table[index] = value


def parameters_of(pars, group):
    return pars[min(group, len(pars) - 1)]


def specialize(needed, full, otherwise):
    """In the module of `full`, under its name: whichever of the two a model needs."""
    def chosen(lane, *args):
        return (full if needed(lane) else otherwise)(lane, *args)
    full.__globals__[full.__name__] = chosen
    return chosen


class Quads:
    """Four doubles at a time, whatever the lanes."""
    width = 4


class Packs:
    """An array as Quads see it."""

    def __init__(self, array):
        self.flat = array.reshape(-1)

    def __getitem__(self, i):
        return self.flat[4*i:4*i + 4]


def quads_of(array):
    return Tag(4, None, 1) if array.ndim == 3 else Quads()


def single_of(lanes):
    return Tag(1, lanes.features)


def width_of(lanes):
    return lanes.width


def zero(lanes):
    return 0.0


def align_stack():
    pass


noinline = align_stack


def sqrt(x):
    if not isinstance(x, Dual):
        return np.sqrt(x)
    root = np.sqrt(x.value)
    return Dual(root, np.where(root > 0.0, 0.5/np.where(root > 0.0, root, 1.0), 0.0)*x.tangent)


def smaller(a, b):
    if isinstance(a, Dual) or isinstance(b, Dual):
        return _select(value_of(a) < value_of(b), a, b)
    return np.minimum(a, b)


def where_positive(x, a, b):
    return _select(value_of(x) > 0.0, a, b)


def any_negative(x):
    return bool(np.any(value_of(x) < 0.0))


def inverse_above(x, least):
    value = value_of(x)
    good = value > value_of(least)
    found = np.where(good, 1.0/np.where(good, value, 1.0), 0.0)
    return Dual(found, -found*found*x.tangent) if isinstance(x, Dual) else found


def load_four(table, index):
    return table[index:index + 4] + 0.0


def register(u):
    return np.array([*u, 0.0, 0.0, 0.0, 0.0][:4])


def store_four(table, index, value):
    table[index:index + 4] = value


def unpack3(u):
    return u[0], u[1], u[2]


def unpack4(u):
    return u[0], u[1], u[2], u[3]


def take_given(table, first, given, plain, n):
    if type(given) is not np.ndarray or given.dtype != np.float64 or given.shape != (n,):
        return False
    table[first:first + n] = given
    return True


def cycle(u):
    return u[[1, 2, 0, 3]]


def across(a, b, c, d):
    x, y, z, _ = np.array([a, b, c, d]).T
    return x, y, z


def transposed(a, b, c, d):
    return tuple(np.array([a, b, c, d]).T)


def total(u):
    return (u[0] + u[2]) + (u[1] + u[3])


def sincos(angle):
    s, c = np.sin(value_of(angle)), np.cos(value_of(angle))
    return (Dual(s, c*angle.tangent), Dual(c, -s*angle.tangent)) if isinstance(angle, Dual) else (s, c)


def add(a, b):
    return tuple(map(add, a, b)) if isinstance(a, tuple) else a + b


def sub(a, b):
    return tuple(map(sub, a, b)) if isinstance(a, tuple) else a - b


def scale(s, a):
    return tuple(scale(s, x) for x in a) if isinstance(a, tuple) else s*a


def _lane(lanes, array, index, lane, tangent=0):
    """The array with the number at `index` in one lane, and its index there."""
    if isinstance(lanes, Quads):
        return Packs(array)[index], lane
    if lanes.tangents:
        return array, (index, tangent, lane)
    return array, index if lanes.width == 1 else (index, lane)


def get_lane(lanes, array, index, lane):
    of, at = _lane(lanes, array, index, lane)
    return of[at]


def put_lane(lanes, array, index, lane, value):
    for i, x in enumerate(_flat(value)):
        of, at = _lane(lanes, array, index + i, lane)
        of[at] = x
        if getattr(lanes, "tangents", 0):
            array[index + i, 1, lane] = 0.0


def add_lane(lanes, array, index, lane, value):
    of, at = _lane(lanes, array, index, lane)
    of[at] += value


def get_tangent(lanes, array, index, lane):
    return array[index, 1, lane]


def put_tangent(lanes, array, index, lane, value):
    array[index, 1, lane] = value


def _take(shape, array, indices):
    if shape == 1:
        value = array[next(indices)]
        if np.ndim(value) == 2:
            return Dual(value[0] + 0.0, value[1] + 0.0)
        return value if np.ndim(value) == 0 else value + 0.0              # a copy: numbers are values, not memory
    return tuple(_take(s, array, indices) for s in ((1,)*shape if isinstance(shape, int) else shape))


def _flat(value):
    return sum(map(_flat, value), ()) if isinstance(value, tuple) else (value,)


def _packs(lanes, array):
    return Packs(array) if isinstance(lanes, Quads) else array


def _make_load(shape):
    def load(lanes, array, index):
        return _take(shape, _packs(lanes, array), itertools.count(index))
    return load


def _make_read(shape):
    return lambda array, index: _take(shape, array.reshape(-1) if array.dtype == np.int64 else array, itertools.count(index))


def read_pack(lanes, array, index):
    return array[4*index:4*index + 4] if lanes.width == 1 else _take(1, array, itertools.count(index))


def store(lanes, array, index, value):
    for i, x in enumerate(_flat(value)):
        if isinstance(lanes, Quads):
            Packs(array)[index + i][:] = x
        elif np.ndim(array) == 3:
            array[index + i, 0], array[index + i, 1] = value_of(x), tangent_of(x)
        else:
            array[index + i] = x


def accumulate(lanes, array, index, value):
    for i, x in enumerate(_flat(value)):
        if isinstance(lanes, Quads):
            Packs(array)[index + i][:] += x
        elif np.ndim(array) == 3:
            array[index + i, 0] += value_of(x)
            array[index + i, 1] += tangent_of(x)
        else:
            array[index + i] += x


load, load3, load4, load5, load6, load9 = (_make_load(n) for n in (1, 3, 4, 5, 6, 9))
load_spatial, load_gathered = (_make_load(s) for s in ((3, 3), ((6, 9, 6), (3, 3))))
load_composite, load_mass, load_dozen = (_make_load(s) for s in ((6, 3, 1), (6, 3), (3, 3, 3, 3)))
read, read3, read6, read9 = (_make_read(n) for n in (1, 3, 6, 9))
read_spatial = _make_read((3, 3))
