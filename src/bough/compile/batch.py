"""From a caller's arguments to the rows that kernels read, checked: lengths, NaN, quaternions, names."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bough.compile.layout import Floats, Inputs, State
from bough.compile.partition import Partition
from bough.compile.tables import Tables
from bough.describe import Frame, System
from bough.describe.numeric import shown
from bough.describe.parts.port import ports_of
from bough.errors import NotFiniteError, StateError, nearest, similar
from bough.kernels.hinges import LONGEST, SHORTEST
from bough.kernels.lanes import Lanes

FLOAT = np.dtype(np.float64)
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


def check_quaternions(tree: Partition, q: Floats) -> None:
    """No quaternion may have zero length, or one whose square overflows."""
    for at, joint in tree.quaternions.items():
        lengths = np.einsum("bi,bi->b", q[:, at:at + 4], q[:, at:at + 4])
        bad = ~((lengths > SHORTEST) & (lengths < LONGEST))
        if bad.any():
            row = int(np.argmax(bad))
            long = "zero" if lengths[row] < 1.0 else "far too large a"
            raise StateError(f"q[{at}:{at + 4}] (joint '{joint}'): the quaternion {q[row, at:at + 4].tolist()} has {long} "
                             "length; give [x, y, z, w], [0, 0, 0, 1] for no rotation")
