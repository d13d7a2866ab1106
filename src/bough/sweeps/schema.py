"""How records of numbers in flat arrays are declared: the classes used by `sweeps.records`.

A compiled model is flat arrays (plan, pars, tables) and one workspace (ws).  Their contents are declared once, in
`sweeps.records`:

    Field     a number, vector or matrix in a record: its constant, shape, unit and meaning; in plan also what it refers to
    Record    consecutive fields, and the modules that write and read them
    Codes     the values of a field that selects a variant
    Blocks    a record whose sizes depend on a body: a function of its counts returns where each block starts
    Section   consecutive records of one kind; the entries of plan's header for its start and its number of records

From these declarations come the integers used by sweeps (`sweeps.fields`), the packers below that fill records by name, named
views of records, and the checks and listings of `compile.sections`.

Below are also the layouts that depend on a model: blocks of flexible bodies, and of methods that need more than the O(N) sweeps.
Each function returns the start of each block, in the order of `sweeps.records`, and last the end.  The packers call them as
Python, the sweeps compiled.  A flexible body has n modes and p carried fields, N = n + p; its rows are padded to multiples of
four.
"""

import numpy as np
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from numba.extending import register_jitable
from numpy.typing import ArrayLike, NDArray
from typing import Any


Floats = NDArray[np.float64]


def padded(n: int) -> int:
    """The next multiple of four: numbers are processed four at a time."""
    return (n + 3) & -4


class Codes:
    """Names of the values 0, 1, 2, ... of a field.

    >>> Codes(LOOSE="moves", LOCKED="at rest").name(1)
    'LOCKED'
    """

    def __init__(self, **meanings: str):
        self.meanings = meanings

    def name(self, value: int) -> str:
        names = list(self.meanings)
        return names[value] if 0 <= value < len(names) else str(value)

    def constants(self) -> dict[str, int]:
        return {name: value for value, name in enumerate(self.meanings)}


@dataclass(frozen=True)
class Field:
    """A part of a record.

    `name` is the constant that holds its offset; a field without a name is padding.  In plan, `to` says what the value refers to:
    a section ("ws.x": a position in it, from which `length` numbers, or the record of this name, are used) or a row of plan by its
    number ("hinge").
    """
    name: str
    meaning: str
    shape: tuple[int, ...] = ()
    unit: str = ""
    to: str = ""
    length: int | str = 1
    owned: bool = False             # no two records may refer to the same numbers
    optional: bool = False          # 0 stands for none
    codes: Codes | None = None
    variant: "Field | None" = None  # the field at this place in records of the other kind, see Record.variant

    @property
    def size(self) -> int:
        return prod(self.shape)


def padding(n: int) -> Field:
    return Field("", "padding", (n,))


class Record:
    """Fields one behind the other in plan, pars, tables or ws.

    Parameters
    ----------
    name, table, meaning
        What it is called, the array it is part of, what it is.
    fields
        In their order.
    size_name
        The constant that holds its size.
    prefix
        Of its constants: left out in the keywords of `row` and `pack`.
    written, read
        The modules that fill it and those that use it.
    variant
        A field and a code of it: records with this code have the variants of fields.
    followers
        Records that follow it directly, and the field that says how many.

    >>> fields = Field("SPRING_Q", "position"), Field("SPRING_V", "rate")
    >>> spring = Record("spring", "plan", "of one coordinate", *fields, prefix="SPRING_")
    >>> spring.row(q=4, v=7), spring.constants()
    ([4, 7], {'SPRING_Q': 0, 'SPRING_V': 1})
    """

    def __init__(self, name: str, table: str, meaning: str, *fields: Field, size_name: str = "", prefix: str = "",
                 written: str = "", read: str = "", variant: tuple[str, int] | None = None,
                 followers: Sequence[tuple["Record", str]] = ()):
        self.name, self.table, self.meaning, self.fields = name, table, meaning, fields
        self.size_name, self.prefix, self.written, self.read = size_name, prefix, written, read
        self.variant, self.followers = variant, tuple(followers)
        starts = np.cumsum([0, *(field.size for field in fields)]).tolist()
        self.keywords = [tuple(self.keyword(each) for each in (field, field.variant) if each is not None and each.name)
                         for field in fields]
        self.starts = {name: start for names, start in zip(self.keywords, starts, strict=False) for name in names}
        self.size: int = starts[-1]
        self._orders: dict[tuple[str, ...], list[str | None]] = {}

    def keyword(self, field: Field) -> str:
        return field.name.removeprefix(self.prefix).lower()

    def constants(self) -> dict[str, int]:
        """Offsets of all fields, and the size, by the names used in sweeps."""
        found = {each.name: self.starts[self.keyword(each)] for field in self.fields for each in (field, field.variant)
                 if each is not None and each.name}
        return found | ({self.size_name: self.size} if self.size_name else {})

    def fields_of(self, values: Any = None) -> list[tuple[int, Field]]:
        """Offset and field, without padding; given a record's values, with the variants it uses."""
        other = self.variant is not None and values is not None and int(values[self.starts[self.variant[0]]]) == self.variant[1]
        chosen = [field.variant if other and field.variant is not None else field for field in self.fields]
        return [(self.starts[self.keyword(field)], field) for field in chosen if field.name]

    def row(self, **values: int) -> list[int]:
        """A record of plan: one integer for each field, by name."""
        return [int(value) for value in self._matched(values)]

    def pack(self, **values: ArrayLike) -> NDArray[np.float64]:
        """(batch, size): a record of pars, by name; a value has its field's shape, or that behind a batch axis.

        >>> Record("wheel", "pars", "", Field("AXIS", "", (3,)), Field("INERTIA", "")).pack(axis=[0, 0, 1], inertia=[0.1, 0.2])
        array([[0. , 0. , 1. , 0.1],
               [0. , 0. , 1. , 0.2]])
        """
        return _beside([self._columns(field, value) for field, value in zip(self.fields, self._matched(values), strict=True)])

    def view(self, array: NDArray, at: int = 0) -> dict[str, NDArray]:
        """The fields of the record that starts at `at`, by name, as views of the array (its last axis)."""
        record = array[..., at:at + self.size]
        return {self.keyword(field): record[..., start:start + field.size].reshape((*record.shape[:-1], *field.shape))
                for start, field in self.fields_of(record if self.table == "plan" else None)}

    def write(self, array: NDArray, at: int, **values: NDArray) -> None:
        """Some fields of the record that starts at `at`, by name, in an array (batch, n)."""
        for name, value in values.items():
            rows = value.reshape(-1, next(field.size for field in self.fields if self.keyword(field) == name))
            array[:, at + self.starts[name]:at + self.starts[name] + rows.shape[1]] = rows

    def walk(self, array: NDArray, at: int) -> Iterator[tuple["Record", int]]:
        """The record at `at`, and those that follow it, with theirs."""
        yield self, at
        end = at + self.size
        for record, count in self.followers:
            for _ in range(int(array[at + self.starts[count]])):
                for each in record.walk(array, end):
                    yield each
                    last = each
                end = last[1] + last[0].size

    def _matched(self, values: dict[str, Any]) -> list[Any]:
        """The value of each field; None for padding."""
        named = tuple(values)
        if named not in self._orders:
            self._orders[named] = self._order(values)
        return [None if name is None else values[name] for name in self._orders[named]]

    def _order(self, values: dict[str, Any]) -> list[str | None]:
        """By which of these names each field is given."""
        given = [[name for name in names if name in values] for names in self.keywords]
        missing = [" or ".join(names) for names, found in zip(self.keywords, given, strict=True) if names and len(found) != 1]
        if missing or len(values) > sum(map(len, given)):
            unknown = values.keys() - {name for names in self.keywords for name in names}
            raise TypeError(f"{self.name} ({self.table}): " + "; ".join(
                [f"missing {', '.join(missing)}"]*bool(missing) + [f"unknown {', '.join(sorted(unknown))}"]*bool(unknown)))
        return [found[0] if found else None for found in given]

    def _columns(self, field: Field, value: ArrayLike | None) -> NDArray[np.float64]:
        array = np.zeros(field.shape) if value is None else np.asarray(value, float)
        lead = array.ndim - len(field.shape)
        if lead not in (0, 1) or array.shape[lead:] != field.shape:
            raise ValueError(f"{self.name} ({self.table}): '{self.keyword(field)}' has shape {array.shape}; its field has "
                             f"{field.shape}")
        return array.reshape(len(array) if lead else 1, field.size)


def columns(*parts: ArrayLike) -> NDArray[np.float64]:
    """Concatenate along the last axis: 1-D parts are the same for the whole batch, 2-D ones have a leading batch axis."""
    return _beside([np.atleast_2d(np.asarray(part, float)) for part in parts])


def _beside(arrays: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    together, at = np.empty((max(map(len, arrays)), sum(a.shape[1] for a in arrays))), 0
    for a in arrays:
        together[:, at:at + a.shape[1]] = a
        at += a.shape[1]
    return together


def upper_triangle(matrices: NDArray) -> NDArray[np.float64]:
    """(..., 6) of symmetric (..., 3, 3): xx, xy, xz, yy, yz, zz."""
    return matrices[..., [0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]]


@dataclass(frozen=True)
class Block:
    """Rows of numbers, each padded to a multiple of four."""
    name: str
    meaning: str
    unit: str = ""


class Blocks:
    """A record whose sizes depend on a body: `starts(*counts)` returns the start of each block, and last the end.

    The same function is called by the sweeps, compiled."""

    def __init__(self, name: str, table: str, meaning: str, starts: Callable[..., tuple[int, ...]], *blocks: Block,
                 written: str = "", read: str = ""):
        self.name, self.table, self.meaning, self.starts, self.blocks = name, table, meaning, starts, blocks
        self.written, self.read = written, read

    def size(self, *counts: int) -> int:
        return self.starts(*counts)[-1]

    def places(self, *counts: int) -> dict[str, tuple[int, int]]:
        """Start and size of each block."""
        starts = self.starts(*counts)
        return {block.name: (start, end - start) for block, start, end in zip(self.blocks, starts[:-1], starts[1:], strict=True)}

    def pack(self, *counts: int, **rows: NDArray) -> NDArray[np.float64]:
        """All blocks, by name; each is given as its rows, unpadded."""
        places = self.places(*counts)
        if places.keys() != rows.keys():
            raise TypeError(f"{self.name} ({self.table}): missing {sorted(places.keys() - rows.keys())}, "
                            f"unknown {sorted(rows.keys() - places.keys())}")
        packed = np.zeros(self.size(*counts))
        for name, (start, size) in places.items():
            given = np.atleast_2d(np.asarray(rows[name], float))
            count, width = given.shape
            if count*padded(width) != size:
                raise ValueError(f"{self.name} ({self.table}): '{name}' has {count} rows of {width}, padded {count*padded(width)} "
                                 f"numbers; its block has {size}")
            packed[start:start + size].reshape(count, padded(width))[:, :width] = given
        return packed

    def view(self, array: NDArray, at: int, *counts: int) -> dict[str, NDArray]:
        """The blocks of the record that starts at `at`, by name."""
        return {name: array[..., at + start:at + start + size] for name, (start, size) in self.places(*counts).items()}


@dataclass(frozen=True)
class Section:
    """Records of one kind, or plain numbers, at one place of an array."""
    name: str
    table: str
    meaning: str
    record: Record | None = None
    start: str = ""                 # entry of plan's header with its start
    count: str = ""                 # entry of plan's header with its number of records
    unit: str = ""
    aligned: bool = False           # starts at a multiple of four


# ---- block layout ----------------------------------------------------------------------------------------------------------
@register_jitable(forceinline=True)
def rounded(n, unit):
    """The next multiple of a power of two."""
    return (n + unit - 1) & -unit


# ---- flexible bodies ------------------------------------------------------------------------------------------------
def flexible_parameters(n, p, pairs, turns, diagonal, spins):
    """In pars, for a body: mass, place and shapes of the inboard node, elastic, inertia, t, inertia_slopes, rate_slopes, along,
    along_slopes, about, about_slopes."""
    size, squares, forces = n + p, p + spins, n + 2*n*n
    if diagonal:
        forces = 3*n
    place = n*rounded(n, 4)
    elastic = place + 4 + rounded(6*n, 4)
    inertia = elastic + rounded(forces, 4)
    t = inertia + rounded(9*size, 4)
    inertia_slopes = t + rounded(3*size, 4)
    rate_slopes = inertia_slopes + pairs*size*rounded(9*size, 4)
    along = rate_slopes + size*rates_length(size, pairs, turns)
    along_slopes = along + squares*rounded(n, 4)
    about = along_slopes + n*squares*rounded(n, 4)
    about_slopes = about + spins*rounded(3*n, 4)
    return (0, place, place + 4, elastic, inertia, t, inertia_slopes, rate_slopes, along, along_slopes, about, about_slopes,
            about_slopes + n*spins*rounded(3*n, 4))


@register_jitable(forceinline=True)
def rates_length(size, pairs, turns):
    """Length of the contribution of each rate to W and h' in rate_slopes."""
    return (pairs + turns)*rounded(3*size, 4)


@register_jitable(forceinline=True)
def node_parameters(n):
    """In pars, for a node: place, shapes, curves."""
    return 0, 4, 4 + rounded(6*n, 4), 4 + (n + 1)*rounded(6*n, 4)


@register_jitable(forceinline=True)
def mode_row(n, columns, unit):
    """In the row of a mode: g, z_f, columns of a front, end; D comes first.  Rows are padded to `unit` numbers: four for one
    state, one for four."""
    g = rounded(n, unit)
    end = rounded(g + 7, unit)
    return g, g + 6, end, end + columns


@register_jitable(forceinline=True)
def modal_record(n, p, spins, columns, unit=4):
    """In ws, after the head of a modal record: rows of modes, carried fields and spins, inboard shapes."""
    inboard = (n + p + spins)*mode_row(n, columns, unit)[3]
    return 0, inboard, inboard + rounded(6*n, 4)


@register_jitable(forceinline=True)
def node_record(n):
    """In ws, after the head of a node record: its shapes."""
    return 0, rounded(6*n, 4)


def flexible_scratch(n, p, spins):
    """In ws: inertia, along (kept in orbit); W with h', x, rates, along_rates, about."""
    size, squares = n + p, p + spins
    along = rounded(9*size, 4)
    W = along + squares*rounded(n, 4)
    x = W + 2*rounded(3*size, 4)
    rates = x + rounded(size, 4)
    along_rates = rates + rounded(size, 4)
    about = along_rates + squares*rounded(n, 4)
    return 0, along, W, x, rates, along_rates, about, about + spins*rounded(3*n, 4)


@register_jitable(forceinline=True)
def node_scratch(n):
    """In ws: rates of shapes, or six rows with one number per mode."""
    return 0, max(6*rounded(n, 4), rounded(6*n, 4))


# ---- methods --------------------------------------------------------------------------------------------------------
@register_jitable(forceinline=True)
def dense_method(nv, m):
    """In ws: mass matrix, Jacobian of the m multipliers, their matrix, order, limits, right side."""
    jacobian = nv*nv
    system = jacobian + nv*m
    order = system + m*m
    return 0, jacobian, system, order, order + m, order + 2*m, order + 3*m


@register_jitable(forceinline=True)
def frame_blocks(n):
    """For n frames: position, attitude, velocity, acceleration."""
    return 0, 3*n, 12*n, 18*n, 24*n


@register_jitable(forceinline=True)
def cloud_method(at, clouds, bodies, joint_size, cloud_size, sums_size, body_size):
    """In ws from `at` on: joint of the base, clouds, equations of unknown hinges; for one state also motions of bodies, in packs
    of four numbers, and the sums of four bodies."""
    equations = at + joint_size + cloud_size*(clouds + 1)
    motions = rounded(equations + clouds*(clouds + 1), 4)
    sums = motions + 4*body_size*rounded(bodies, 4)
    return at, at + joint_size, equations, motions, sums, sums + 4*sums_size
