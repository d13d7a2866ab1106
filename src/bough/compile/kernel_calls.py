"""Calling kernels: workspaces, lanes, a message to the user before something is compiled, and calls prepared for plain arrays."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from inspect import signature
from typing import Any

import numpy as np
from numba import typeof
from numpy import ndarray
from numpy.typing import ArrayLike

from bough.compile.batch import FLOAT, InputOptions, fill
from bough.compile.layout import Floats
from bough.compile.tables import Tables
from bough.kernels.jit import load_or_compile
from bough.kernels.lanes import DUAL, FOUR, ONE, Lanes
from bough.kernels.linker import FAILED, link, raise_failure
from bough.sweeps import fields as f

_local = threading.local()
_chosen: ContextVar[Lanes | None] = ContextVar("lanes", default=None)
_entries: dict[Any, Any] = {}        # entry points of kernels, by kernel and kinds of arguments
MANY = 4096                          # number of samples for which it is worth compiling sweeps for four lanes
APART = Lanes(4)                     # four lanes with separate parameters even if these are equal: one code for all batches


def lanes_for(states: int) -> Lanes:
    """Four lanes from four states on; or as chosen by `evaluating`."""
    return _chosen.get() or (FOUR if states >= FOUR.width else ONE)


@contextmanager
def choosing(lanes: Lanes | None) -> Iterator[None]:
    """Context in which states are processed in these lanes, however many there are; None: as many lanes as states, up to four."""
    token = _chosen.set(lanes)
    try:
        yield
    finally:
        _chosen.reset(token)


@contextmanager
def evaluating(samples: int, runs: int = 1, lanes: Lanes | None = None) -> Iterator[None]:
    """Context in which samples of runs are evaluated: one at a time if they are few, since compiling for four lanes takes seconds
    and evaluating milliseconds (four runs or more have used four lanes already).  Or in these lanes."""
    with choosing(lanes or (FOUR if runs >= FOUR.width or samples >= MANY else ONE)):
        yield


def workspace(tables: Tables, lanes: Lanes, extra: int = 0) -> np.ndarray:
    """A workspace for these tables, cached for this thread."""
    cache = _local.__dict__.setdefault("workspaces", {})
    size = tables.size(f.WS_SIZE) + extra
    key = lanes.width, lanes.tangents, size
    if key not in cache:
        if len(cache) >= 16:
            cache.clear()
        cache[key] = lanes.zeros(size)
    return cache[key]


def group_parameters(pars: np.ndarray, lanes: Lanes) -> np.ndarray:
    """(batch, n) -> what kernels index by group: (1, n) if shared; (groups, n) or (groups, n, 4) if each state has its own."""
    if lanes.width == 1 or (len(pars) == 1 and lanes is not APART):
        return pars
    rows = np.minimum(np.arange(-(-len(pars)//lanes.width)*lanes.width), len(pars) - 1)
    packed = lanes.zeros(len(rows)//lanes.width, pars.shape[1])
    packed[...] = pars[rows].reshape(-1, lanes.width, pars.shape[1]).transpose(0, 2, 1)
    return packed


def dual_parameters(pars: np.ndarray, along: np.ndarray, m: int) -> np.ndarray:
    """(groups, n, 2, 4): parameters of states and their tangents (states*m, n) along m directions of each, grouped as duals."""
    rows = np.minimum(np.arange(-(-len(along)//DUAL.width)*DUAL.width), len(along) - 1)
    packed = DUAL.zeros(len(rows)//DUAL.width, pars.shape[1])
    packed[:, :, 0] = pars[np.minimum(rows//m, len(pars) - 1)].reshape(-1, DUAL.width, pars.shape[1]).transpose(0, 2, 1)
    packed[:, :, 1] = along[rows].reshape(-1, DUAL.width, pars.shape[1]).transpose(0, 2, 1)
    return packed


def linked(tables: Tables, pars: np.ndarray, *rest: Any) -> tuple[Any, ...]:
    """Arguments of a kernel for a model; the workspace comes last."""
    return *link(tables.features, tables.plan, pars, tables.tables, rest[-1]), *rest


def call(kernel: Any, tables: Tables, pars: np.ndarray, *rest: Any) -> Any:
    """Call a kernel for a model with these parameters; the workspace comes last."""
    return run(partial(kernel, *linked(tables, pars, *rest)))


def start(kernel: Any, *args: Any) -> Any:
    """Call a kernel that calls no sweeps."""
    return run(partial(kernel, *args))


def run(call: partial[Any]) -> Any:
    """Call a kernel with all its arguments; raise if linking its sweeps failed."""
    result = direct(call)()
    raise_failure()
    return result


def direct(call: partial[Any], *sample: Any) -> partial[Any]:
    """The entry point of a kernel with its arguments and a sample of those to come, whose types are not examined again.  Compiled
    on first use on this machine, with a message."""
    kernel: Any = call.func
    if not hasattr(kernel, "overloads"):                            # plain Python
        return call
    alike = kernel, kind_of(given := (*call.args, *sample))
    entry = _entries.get(alike)
    if entry is None:
        taken = tuple(typeof(a) for a in given)
        found = kernel.overloads.get(taken)
        if found is None:
            ws = call.args[list(signature(kernel.py_func).parameters).index("ws")]
            found = load_or_compile(kernel, taken, 1 if ws.ndim == 1 else 4)
        entry = _entries[alike] = found.entry_point
    return partial(entry, *call.args)


def kind_of(value: Any) -> Any:
    """What Numba's type of a value depends on, found sooner than the type: 5 us instead of 100 for all arguments of a kernel.

    >>> kind_of((np.zeros(2), 3)) == kind_of((np.ones(5), 7)) != kind_of((np.zeros((2, 2)), 3))
    True
    """
    if value.__class__ is ndarray:
        return value.ndim, value.dtype, value.flags.num
    if value.__class__ is tuple:
        return tuple(map(kind_of, value))
    return value.__class__ if value is None or value.__class__ in (int, float, bool) else typeof(value)


# ---- prepared calls ----------------------------------------------------------------------------------------------------------
class Prepared:
    """A kernel with all its arguments in place, for one thread: a state is copied into its rows, the answer from its result.

    Parameters
    ----------
    call
        The kernel with its arguments; returns the number of doubtful entries.
    answer
        The requested part of its result.
    q, v, more, t
        The arguments (if it has them) for coordinates, speeds, forces or accelerations, and time.
    aim
        Sets the point.
    """
    __slots__ = ("aim", "answer", "call", "more", "q", "shape_q", "shape_v", "t", "time", "v")

    def __init__(self, call: partial[Any], answer: Any, q: Floats, v: Floats | None = None, more: Floats | None = None, *,
                 t: Floats | None = None, aim: Callable[[ArrayLike], Any] | None = None):
        self.call = direct(call)
        self.answer, self.q, self.v, self.more, self.t, self.time, self.aim = answer, q, v, more, t, 0.0, aim
        self.shape_q, self.shape_v = q.shape, () if v is None else v.shape

    def solves(self, q: Any, v: Any = None, more: Any = None, point: Any = None, inputs: InputOptions | None = None) -> bool:
        """Copy plain arrays into place and run.  False if the caller must look closer: at anything but float64 arrays of the
        right length (and a time), and at doubtful numbers."""
        if inputs or self.time:
            t = inputs.get("t", "") if inputs else 0.0
            if t.__class__ is not float or len(inputs or "t") > 1 or self.t is None or not -np.inf < t < np.inf:
                return False
            self.t[...] = self.time = t
        if q.__class__ is not ndarray or q.shape != self.shape_q or q.dtype is not FLOAT:
            return False
        self.q[...] = q
        if self.v is not None:
            if v.__class__ is not ndarray or v.shape != self.shape_v or v.dtype is not FLOAT:
                return False
            self.v[...] = v
        if self.more is not None:
            if more.__class__ is not ndarray or more.shape != self.shape_v or more.dtype is not FLOAT:
                return False
            self.more[...] = more
        if point is not None:
            self.aim(point)                                         # type: ignore[misc]
        doubtful = self.call()
        if FAILED:
            raise_failure()
        return not doubtful

    def give(self, out: Floats | None) -> Floats:
        """A copy of the answer, or `out` filled with it."""
        return self.answer.copy() if out is None else fill(out, self.answer)


class PreparedPlaces:
    """The same for short kernels that take q itself and write to arrays that are passed in.  They check the length and strides of
    q themselves."""
    __slots__ = ("aim", "call", "shape")

    def __init__(self, call: partial[Any], given: tuple[Floats, ...], *answers: Floats, aim: Callable[[ArrayLike], Any]):
        self.call, self.shape, self.aim = direct(call, *given, *answers), answers[0].shape, aim

    def solves(self, q: Any, point: Any, first: Floats, second: Floats | None = None) -> bool:
        """Run, with answers in contiguous arrays; False as in `Prepared`."""
        if q.__class__ is not ndarray or q.dtype is not FLOAT or q.ndim != 1:
            return False
        if point is not None:
            self.aim(point)
        doubtful = self.call(q, first) if second is None else self.call(q, first, second)
        if FAILED:
            raise_failure()
        return not doubtful

    def solves_moving(self, q: Any, v: Any, point: Any, out: Floats) -> bool:
        """The same with speeds."""
        moving = v.__class__ is ndarray and v.dtype is FLOAT and v.ndim == 1
        return moving and self.solves(q, point, v, out)


def fits(out: Any, shape: tuple[int, ...]) -> bool:
    """Whether a kernel can write to this array."""
    return isinstance(out, ndarray) and out.shape == shape and out.dtype is FLOAT and out.flags.c_contiguous and out.flags.writeable
