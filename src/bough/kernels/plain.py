"""What ``lanes`` does, in plain Python: for debuggers, coverage and other number types (NUMBA_DISABLE_JIT=1).

A number of four lanes is then a NumPy array of four; everything else reads the same.
"""
import itertools

import numpy as np

__all__ = [
    "accumulate",
    "across",
    "add",
    "align_stack",
    "any_negative",
    "cycle",
    "flat",
    "get_lane",
    "inverse_above",
    "lanes_like",
    "lanes_of",
    "load",
    "load3",
    "load4",
    "load5",
    "load6",
    "load9",
    "load_composite",
    "load_gathered",
    "load_mass",
    "load_spatial",
    "noinline",
    "pointer_to",
    "pointer_to_row",
    "put",
    "put_lane",
    "quads_of",
    "read",
    "read3",
    "read6",
    "read9",
    "read_pack",
    "read_spatial",
    "register3",
    "scale",
    "sincos",
    "smaller",
    "specialize",
    "sqrt",
    "store",
    "sub",
    "total",
    "unpack3",
    "where_positive",
    "width_of",
    "zero",
]


class Tag:
    """How many states run side by side, and the features of the model: as `lanes.LanesType`."""

    def __init__(self, width, features):
        self.width, self.features = width, features


def lanes_of(ws, features):
    return Tag(1 if ws.ndim == 1 else 4, features)


def lanes_like(ws):
    return lanes_of(ws, None)


def pointer_to(array):
    return array


def flat(array):
    return array.reshape(-1)


def put(table, index, value):
    table[index] = value


def pointer_to_row(array, row):
    return array[row]


def specialize(needed, full, plain):
    """In the module of `full`, under its name: whichever of the two a model needs."""
    def chosen(lane, *args):
        return (full if needed(lane) else plain)(lane, *args)
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
    return Quads()


def width_of(lanes):
    return lanes.width


def zero(lanes):
    return 0.0


def align_stack():
    pass


noinline = align_stack


def sqrt(x):
    return np.sqrt(x)


def smaller(a, b):
    return np.minimum(a, b)


def where_positive(x, a, b):
    return np.where(x > 0.0, a, b)


def any_negative(x):
    return bool(np.any(x < 0.0))


def inverse_above(x, least):
    good = x > least
    return np.where(good, 1.0/np.where(good, x, 1.0), 0.0)


def register3(u):
    return np.array([*u, 0.0])


def unpack3(u):
    return u[0], u[1], u[2]


def cycle(u):
    return u[[1, 2, 0, 3]]


def across(a, b, c, d):
    x, y, z, _ = np.array([a, b, c, d]).T
    return x, y, z


def total(u):
    return (u[0] + u[2]) + (u[1] + u[3])


def sincos(angle):
    return np.sin(angle), np.cos(angle)


def add(a, b):
    return tuple(map(add, a, b)) if isinstance(a, tuple) else a + b


def sub(a, b):
    return tuple(map(sub, a, b)) if isinstance(a, tuple) else a - b


def scale(s, a):
    return tuple(scale(s, x) for x in a) if isinstance(a, tuple) else s*a


def get_lane(lanes, array, index, lane):
    if isinstance(lanes, Quads):
        return Packs(array)[index][lane]
    return array[index] if lanes.width == 1 else array[index, lane]


def put_lane(lanes, array, index, lane, value):
    for i, x in enumerate(_flat(value)):
        if isinstance(lanes, Quads):
            Packs(array)[index + i][lane] = x
        else:
            array[index + i if lanes.width == 1 else (index + i, lane)] = x


def _take(shape, array, indices):
    if shape == 1:
        value = array[next(indices)]
        return value if np.ndim(value) == 0 else value + 0.0              # a copy: numbers are values, not memory
    return tuple(_take(s, array, indices) for s in ((1,)*shape if isinstance(shape, int) else shape))


def _flat(value):
    return sum(map(_flat, value), ()) if isinstance(value, tuple) else (value,)


def _make_load(shape):
    def load(lanes, array, index):
        return _take(shape, Packs(array) if isinstance(lanes, Quads) else array, itertools.count(index))
    return load


def _make_read(shape):
    return lambda array, index: _take(shape, array.reshape(-1) if array.dtype == np.int64 else array, itertools.count(index))


def read_pack(lanes, array, index):
    return array[4*index:4*index + 4] if lanes.width == 1 else array[index]


def store(lanes, array, index, value):
    for i, x in enumerate(_flat(value)):
        if isinstance(lanes, Quads):
            Packs(array)[index + i][:] = x
        else:
            array[index + i] = x


def accumulate(lanes, array, index, value):
    for i, x in enumerate(_flat(value)):
        if isinstance(lanes, Quads):
            Packs(array)[index + i][:] += x
        else:
            array[index + i] += x


load, load3, load4, load5, load6, load9 = (_make_load(n) for n in (1, 3, 4, 5, 6, 9))
load_spatial, load_gathered = (_make_load(s) for s in ((3, 3), ((6, 9, 6), (3, 3))))
load_composite, load_mass = (_make_load(s) for s in ((6, 3, 1), (6, 3)))
read, read3, read6, read9 = (_make_read(n) for n in (1, 3, 6, 9))
read_spatial = _make_read((3, 3))
