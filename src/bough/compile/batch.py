"""Calling kernels: workspaces, lanes, and a word to the user when something has to be compiled.

From what a person passes to rows that kernels read, checked: lengths, NaN, quaternions, names.
"""

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypedDict, TypeVar

import numpy as np
from numba import typeof
from numpy.typing import ArrayLike, NDArray

from bough.compile.layout import Floats, Inputs, State
from bough.compile.partition import Partition
from bough.compile.tables import Tables
from bough.describe import System
from bough.errors import StateError, nearest
from bough.kernels.hinges import FREE, SPHERICAL
from bough.kernels.jit import load_or_compile
from bough.kernels.lanes import FOUR, ONE, Lanes
from bough.kernels.linker import link, raise_failure
from bough.sweeps import fields as f

_local = threading.local()
_started: set[str] = set()           # kernels that are compiled, by the ranks of their arguments


_chosen: ContextVar[Lanes | None] = ContextVar("lanes", default=None)
MANY = 4096                          # samples: so many are worth compiling sweeps for four lanes


def lanes_for(states: int) -> Lanes:
    """Four lanes as soon as there are four states; or what `evaluating` chose."""
    return _chosen.get() or (FOUR if states >= FOUR.width else ONE)


@contextmanager
def evaluating(samples: int, runs: int = 1) -> Iterator[None]:
    """While samples of runs are put through a model: one at a time if they are few, since compiling for four lanes takes seconds
    and evaluating takes milliseconds; four runs or more went in lanes already."""
    token = _chosen.set(FOUR if runs >= FOUR.width or samples >= MANY else ONE)
    try:
        yield
    finally:
        _chosen.reset(token)


def workspace(tables: Tables, lanes: Lanes, extra: int = 0) -> np.ndarray:
    """A workspace for these tables, kept for the next call of this thread."""
    cache = _local.__dict__.setdefault("workspaces", {})
    size = tables.size(f.WS_SIZE) + extra
    key = lanes.width, size
    if key not in cache:
        if len(cache) >= 16:
            cache.clear()
        cache[key] = lanes.zeros(size)
    return cache[key]


def group_parameters(pars: np.ndarray, lanes: Lanes) -> np.ndarray:
    """(batch, n) -> what kernels index by group: (1, n) if shared; (groups, n) or (groups, n, 4) if each has its own."""
    if len(pars) == 1 or lanes.width == 1:
        return pars
    rows = np.minimum(np.arange(-(-len(pars)//lanes.width)*lanes.width), len(pars) - 1)
    packed = lanes.zeros(len(rows)//lanes.width, pars.shape[1])
    packed[...] = pars[rows].reshape(-1, lanes.width, pars.shape[1]).transpose(0, 2, 1)
    return packed


def _ranks(args: tuple[Any, ...]) -> str:
    """The ranks of all arrays: what chooses a compiled form of a kernel."""
    return "".join(_ranks(a) if isinstance(a, tuple) else str(getattr(a, "ndim", 0)) for a in args)


def linked(tables: Tables, pars: np.ndarray, *rest: Any) -> tuple[Any, ...]:
    """The arguments of a kernel that works on a model; the workspace comes last."""
    return *link(tables.features, tables.plan, pars, tables.tables, rest[-1]), *rest


def call(kernel: Any, tables: Tables, pars: np.ndarray, *rest: Any) -> Any:
    """Call a kernel on a model, with these parameters; the workspace comes last."""
    result = start(kernel, *linked(tables, pars, *rest))
    raise_failure()
    return result


def start(kernel: Any, *args: Any) -> Any:
    """Call a kernel; the first time on this machine, say that it is being compiled."""
    compiled = getattr(kernel, "func", kernel)
    key = compiled.__name__ + _ranks(args)
    if key not in _started:
        if hasattr(compiled, "signatures"):
            signature = tuple(typeof(a) for a in (*getattr(kernel, "args", ()), *args))
            load_or_compile(compiled, signature, 1 if args[-1].ndim == 1 else 4)
        _started.add(key)
    return kernel(*args)


# ---- batch -----------------------------------------------------------------------------------------------------------------
Place = str | tuple[str, str | None]                # a body, or a node of a flexible one: (body, node)
Wrenches = Mapping[Any, ArrayLike]                  # by place: [moment, force], or rows of them
Array = TypeVar("Array", bound=NDArray[Any])


class InputOptions(TypedDict, total=False):
    """What may come with a state: see `CompiledModel.batch`."""
    wrenches: Wrenches | None
    frame: str
    t: ArrayLike
    wheels: ArrayLike | None
    motors: ArrayLike | None
    orbit: ArrayLike | None


@dataclass(frozen=True)
class Batch:
    """Rows of times, states and inputs, and the tables that they fit."""
    tables: Tables
    lanes: Lanes
    t: Floats                                       # (n, 2)  the time; again, where inputs that jump there are to be read
    state: State                                    # (n, nx)
    inputs: Inputs                                  # (n, nu)
    wrenches: Mapping[tuple[str, str | None], Floats]       # the caller's, (n, 6) each
    frame: str                                      # whose axes they are in: "body" or "world"
    single: bool                                    # one state was asked for

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
        """Without the batch axis, if one state was asked for."""
        return result[0] if self.single else result


# ---- numbers ---------------------------------------------------------------------------------------------------------
def array(what: str, value: ArrayLike, n: int) -> Floats:
    """`value` as an array of numbers."""
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise StateError(f"{what} is {value!r}; give {n} numbers, or rows of {n} numbers") from None


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
    return np.ascontiguousarray(table)


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:12])
    return shown + (", ..." if len(names) > 12 else "")


# ---- parts of states and inputs ----------------------------------------------------------------------------------------
def motor_rows(system: System, motors: ArrayLike, n: int) -> Floats:
    """Torques of the wheels' motors; a wheel whose speed is held takes none."""
    torques = rows("motors", motors, len(system.wheels), n, tuple(system.wheels))
    for j, wheel in enumerate(system.wheels.values()):
        if not wheel.driven and torques[:, j].any():
            raise StateError(f"motors: a torque of {torques[:, j].max():g} N m for wheel '{wheel.name}', whose speed is held; "
                             "give 0, or give the wheel a torque in the description")
    return torques


def wrench_rows(system: System, wrenches: Wrenches | None, frame: str, n: int) -> dict[tuple[str, str | None], Floats]:
    """(n, 6) by body and node."""
    if frame not in ("body", "world"):
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
    """A node that is asked for must be there; a flexible body that is held at no node has no place but its nodes."""
    flexible = system.bodies[body].flexible
    if flexible is None:
        if node is not None:
            raise StateError(f"body '{body}' is rigid and has no node '{node}'; leave the node out")
    elif node is None:
        if flexible.inboard is None:
            raise StateError(f"body '{body}' is held at no node; name one, ('{body}', node): {', '.join(flexible.nodes.names)}")
    elif node not in flexible.nodes.names:
        raise StateError(f"body '{body}': there is no node '{node}'{nearest(node, flexible.nodes.names)}; "
                         f"its nodes are {', '.join(flexible.nodes.names)}")


def check_quaternions(parts: Partition, q: Floats) -> None:
    """No quaternion may have zero length."""
    for hinge in parts.hinges:
        if hinge.kind in (SPHERICAL, FREE):
            at = hinge.q + (3 if hinge.kind == FREE else 0)
            lengths = np.einsum("bi,bi->b", q[:, at:at + 4], q[:, at:at + 4])
            if not (lengths > 1e-24).all():
                row = int(np.argmin(lengths))
                raise StateError(f"q[{at}:{at + 4}] (joint '{hinge.label}'): the quaternion {q[row, at:at + 4].tolist()} has "
                                 "zero length; give [x, y, z, w], [0, 0, 0, 1] for no rotation")
