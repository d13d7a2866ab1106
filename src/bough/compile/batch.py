"""Calling kernels: workspaces, lanes, and a message to the user before something is compiled.

From a caller's arguments to the rows that kernels read, checked: lengths, NaN, quaternions, names.
"""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from inspect import signature
from typing import Any, TypedDict, TypeVar

import numpy as np
from numba import typeof
from numpy import ndarray
from numpy.typing import ArrayLike, NDArray

from bough.compile.layout import Floats, Inputs, State
from bough.compile.partition import Partition
from bough.compile.tables import Tables
from bough.describe import Frame, System
from bough.describe.numeric import shown
from bough.describe.parts.port import ports_of
from bough.errors import NotFiniteError, StateError, nearest, similar
from bough.kernels.jit import load_or_compile
from bough.kernels.lanes import DUAL, FOUR, ONE, Lanes
from bough.kernels.linker import FAILED, link, raise_failure
from bough.sweeps import fields as f
from bough.sweeps.calls import LONGEST, SHORTEST

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


# ---- batch -----------------------------------------------------------------------------------------------------------------
Place = str | tuple[str, str | None] | Frame        # a body, a node of a flexible body (body, node), or a frame on them
Wrenches = Mapping[Any, ArrayLike]                  # by place: [moment, force], or rows of them
Array = TypeVar("Array", bound=NDArray[Any])


class StateOptions(TypedDict, total=False):
    """Options that may accompany a state, besides inputs: see `CompiledModel.batch`."""
    wrenches: Wrenches | None
    frame: str
    t: ArrayLike
    wheels: ArrayLike | None
    motors: ArrayLike | None
    orbit: ArrayLike | None
    tanks: ArrayLike | None


class InputOptions(StateOptions, total=False):
    """Options that may accompany a state."""
    inputs: Mapping[str, ArrayLike] | None


@dataclass(frozen=True)
class Batch:
    """Rows of times, states and inputs, and the tables they belong to."""
    tables: Tables
    lanes: Lanes
    t: Floats                                       # (n, 2)  time; and the time at which discontinuous inputs are read
    state: State                                    # (n, nx)
    inputs: Inputs                                  # (n, nu)
    wrenches: Mapping[tuple[str, str | None], Floats]       # the caller's, (n, 6) each
    frame: str                                      # axes of the wrenches: "body" or "world"
    single: bool                                    # a single state was passed

    @property
    def n(self) -> int:
        return len(self.state.x)

    @property
    def x(self) -> Floats:
        return self.state.x

    @property
    def u(self) -> Floats:
        return self.inputs.u

    @property
    def q(self) -> Floats:
        return self.state.q

    @property
    def v(self) -> Floats:
        return self.state.v

    def unbatched(self, result: Array) -> Array:
        """Drop the batch axis for a single state."""
        return result[0] if self.single else result

    def where(self, row: int) -> str:
        """Which state of a batch a message is about."""
        return "" if self.single else f" in state {row} of the batch"

    def give(self, result: Floats, out: Floats | None) -> Floats:
        """The same, into the caller's array if there is one."""
        return np.array(self.unbatched(result)) if out is None else fill(out, self.unbatched(result))


# ---- prepared calls ----------------------------------------------------------------------------------------------------
FLOAT = np.dtype(np.float64)


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


def finite(answer: Floats, what: str, batch: Batch) -> Floats:
    """The answer (batch, ...); raises if some numbers are not finite."""
    if not np.abs(answer).max(initial=0.0) < np.inf:
        rows = np.flatnonzero(~np.isfinite(answer.reshape(batch.n, -1)).all(axis=1)).tolist()
        largest = max(np.abs(part[rows[0]]).max(initial=0.0) for part in (batch.x, batch.u))
        raise NotFiniteError(f"{what}: not finite{batch.where(rows[0])}; the state or the loads are too large (up to "
                             f"{largest:.3g}); give smaller ones", rows)
    return answer


def fill(out: Any, answer: Floats) -> Floats:
    """Copy an answer to the caller's array."""
    if not isinstance(out, np.ndarray) or out.shape != answer.shape or out.dtype != FLOAT:
        what = f"has shape {out.shape} and type {out.dtype}" if isinstance(out, np.ndarray) else f"is {out!r}"
        raise StateError(f"out {what}; give an array of float64 with the shape of the answer, {answer.shape}")
    out[...] = answer
    return out


# ---- numbers ---------------------------------------------------------------------------------------------------------
def array(what: str, value: ArrayLike, n: int) -> Floats:
    """`value` as an array of numbers."""
    if value is None:
        raise StateError(f"{what} is None; give {n} number{'s'*(n != 1)}, or rows of {n}")
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise StateError(f"{what} is {shown(value)}; give {n} number{'s'*(n != 1)}, or rows of {n}") from None


def rows(what: str, value: ArrayLike, n: int, batch: int | None, names: Sequence[str]) -> Floats:
    """`value` as (batch, n) of finite numbers; one row serves the whole batch."""
    given = array(what, value, n)
    table = np.atleast_2d(given)
    if table.ndim != 2 or table.shape[1] != n:
        raise StateError(f"{what} has shape {given.shape}; give {n} numbers, or rows of {n} numbers: {_listed(names)}")
    if not np.isfinite(table).all():
        row, column = np.argwhere(~np.isfinite(table))[0]
        where = f"{what}[{column}]" if given.ndim == 1 else f"{what}[{row}, {column}]"
        raise StateError(f"{where} ('{names[column]}') is {table[row, column]}; give a finite number")
    if batch is not None and len(table) not in (1, batch):
        raise StateError(f"{what} has {len(table)} rows, but the batch has {batch}; give one row, or one for each")
    if batch is not None and len(table) != batch:
        table = np.broadcast_to(table, (batch, n))
    return np.require(table, requirements=("C", "W"))           # kernels are compiled for writable arrays


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:12])
    return shown + (", ..." if len(names) > 12 else "")


# ---- parts of states and inputs ----------------------------------------------------------------------------------------
def motor_rows(system: System, motors: ArrayLike, n: int) -> Floats:
    """Motor torques of the wheels; a wheel at constant speed takes none."""
    torques = rows("motors", motors, len(system.wheels), n, tuple(system.wheels))
    for j, wheel in enumerate(system.wheels.values()):
        if not wheel.driven and torques[:, j].any():
            raise StateError(f"motors: a torque of {torques[:, j].max():g} N m for wheel '{wheel.name}', whose speed is held; "
                             "give 0, or give the wheel a torque in the description")
    return torques


def port_values(system: System, inputs: Mapping[str, ArrayLike] | None) -> dict[str, Floats]:
    """By input: its value (size,), or rows of values."""
    if inputs is None:
        return {}
    if not isinstance(inputs, Mapping):
        raise StateError(f"inputs is {inputs!r}; give a dict from the names of inputs to numbers")
    found = {}
    for name, value in inputs.items():
        if name not in system.inputs:
            known = f"; the inputs are {', '.join(system.inputs)}" if system.inputs else "; declare it with System.input"
            raise StateError(f"inputs: there is no input '{name}'{nearest(str(name), system.inputs) or known}")
        given = array(f"input '{name}'", value, size := system.inputs[name].size)
        found[name] = given.reshape(-1, 1) if size == 1 and given.ndim == 1 and given.size > 1 else given.reshape(given.shape or 1)
    return found


def port_rows(system: System, values: Mapping[str, Floats], n: int) -> Floats:
    """(n, entries of all inputs): zero if not given."""
    places = ports_of(list(system.inputs.values()))
    found = np.zeros((n, sum(port.size for port in system.inputs.values())))
    for name, value in values.items():
        found[:, places[name]] = rows(f"input '{name}'", value, system.inputs[name].size, n, system.inputs[name].entries)
    return found


def wrench_rows(system: System, wrenches: Wrenches | None, frame: str, n: int) -> dict[tuple[str, str | None], Floats]:
    """(n, 6) by body and node."""
    if not isinstance(frame, str) or frame not in ("body", "world"):
        raise StateError(f"frame is {frame!r}; give 'body' (the body's axes) or 'world'")
    found: dict[tuple[str, str | None], Floats] = {}
    for place, wrench in (wrenches or {}).items():
        body, node = place if isinstance(place, tuple) and len(place) == 2 else (place, None)
        if body not in system.bodies:
            raise StateError(f"wrenches: there is no body '{body}'{nearest(str(body), system.bodies)}")
        check_node(system, body, node)
        given = rows(f"wrench on '{body}'", wrench, 6, n, ("mx", "my", "mz", "fx", "fy", "fz"))
        found[body, node] = found[body, node] + given if (body, node) in found else given
    return found


def check_node(system: System, body: str, node: str | None) -> None:
    """A requested node must exist; a flexible body not held at a node has no position except those of its nodes."""
    flexible = system.bodies[body].flexible
    if flexible is None:
        if node is not None:
            raise StateError(f"body '{body}' is rigid and has no node '{node}'; leave the node out")
    elif node is None:
        if flexible.inboard is None:
            raise StateError(f"body '{body}' is held at no node; name one, ('{body}', node): {', '.join(flexible.nodes.names)}")
    elif node not in flexible.nodes.names:
        raise StateError(f"body '{body}': there is no node '{node}'{similar(node, flexible.nodes.names)}; "
                         f"its nodes are {', '.join(flexible.nodes.names)}")


def check_quaternions(parts: Partition, q: Floats) -> None:
    """No quaternion may have zero length, or one whose square overflows."""
    for at, joint in parts.quaternions.items():
        lengths = np.einsum("bi,bi->b", q[:, at:at + 4], q[:, at:at + 4])
        bad = ~((lengths > SHORTEST) & (lengths < LONGEST))
        if bad.any():
            row = int(np.argmax(bad))
            long = "zero" if lengths[row] < 1.0 else "far too large a"
            raise StateError(f"q[{at}:{at + 4}] (joint '{joint}'): the quaternion {q[row, at:at + 4].tolist()} has {long} "
                             "length; give [x, y, z, w], [0, 0, 0, 1] for no rotation")
