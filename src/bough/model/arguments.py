"""From what a person passes to rows that kernels read, checked: lengths, NaN, quaternions, names."""
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bough.describe import CentralGravity
from bough.errors import StateError, nearest
from bough.kernels.hinges import FREE, SPHERICAL
from bough.kernels.lanes import Lanes
from bough.model.layout import InputWrench
from bough.model.run import lanes_for
from bough.model.tables import Tables

if TYPE_CHECKING:
    from bough.model.model import Model


def rows(what: str, value: Any, n: int, batch: int | None, names: Sequence[str]) -> np.ndarray:
    """`value` as (batch, n) of finite numbers; one row serves the whole batch."""
    try:
        array = np.atleast_2d(np.asarray(value, dtype=np.float64))
    except (TypeError, ValueError):
        raise StateError(f"{what} is {value!r}; give {n} numbers, or rows of {n} numbers") from None
    if array.ndim != 2 or array.shape[1] != n:
        raise StateError(f"{what} has shape {np.shape(value)}; give {n} numbers, or rows of {n} numbers: {_list(names)}")
    if not np.isfinite(array).all():
        row, column = np.argwhere(~np.isfinite(array))[0]
        where = f"{what}[{column}]" if np.ndim(value) == 1 else f"{what}[{row}, {column}]"
        raise StateError(f"{where} ('{names[column]}') is {array[row, column]}; give a finite number")
    if batch is not None and len(array) not in (1, batch):
        raise StateError(f"{what} has {len(array)} rows, but the batch has {batch}; give one row, or one for each")
    if batch is not None and len(array) != batch:
        array = np.broadcast_to(array, (batch, n))
    return np.ascontiguousarray(array)


def _list(names: Sequence[str]) -> str:
    shown = ", ".join(names[:12])
    return shown + (", ..." if len(names) > 12 else "")


@dataclass(frozen=True)
class Batch:
    """Rows of time, state x = q | v | wheels | orbit and controls u = tau | motors | wrenches, and the tables they fit."""
    tables: Tables
    lanes: Lanes
    t: np.ndarray
    x: np.ndarray
    u: np.ndarray
    single: bool

    @property
    def n(self) -> int:
        return len(self.x)

    def back(self, result: np.ndarray) -> np.ndarray:
        return result[0] if self.single else result

    @staticmethod
    def of(model: "Model", q: Any, v: Any, tau: Any = None, *, wrenches: Mapping[str, Any] | None = None,
           frame: str = "body", t: Any = 0.0, wheels: Any = None, motors: Any = None, orbit: Any = None,
           keep_welds: bool = False) -> "Batch":
        states = [np.atleast_2d(q), np.atleast_2d(v), np.atleast_2d([] if tau is None else tau)]
        n, single = max(map(len, states)), all(np.ndim(a) == 1 for a in (q, v, [] if tau is None else tau))
        q, v = rows("q", q, model.nq, n, model.names.q), rows("v", v, model.nv, n, model.names.v)
        check_quaternions(model, q)
        inputs, wrench_rows = input_wrenches(model, wrenches, frame, n)
        tables = model._tables(inputs, keep_welds)
        parts = [q, v]
        if model.nw:
            parts.append(rows("wheels", model.wheel_speeds if wheels is None else wheels, model.nw, n, model.names.wheels))
        if isinstance(model.system.gravity, CentralGravity):
            start = [*model.system.gravity.position, *model.system.gravity.velocity]
            parts.append(rows("orbit", start if orbit is None else orbit, 6, n, ("x", "y", "z", "vx", "vy", "vz")))
        u = np.zeros((n, tables.n_u))
        if tau is not None:
            u[:, :model.nv] = rows("tau", tau, model.nv, n, model.names.v)
        if motors is not None:
            u[:, model.nv:model.nv + model.nw] = rows("motors", motors, model.nw, n, model.names.wheels)
        u[:, tables.first_input_wrench:] = wrench_rows
        times = np.repeat(rows("t", np.reshape(t, (-1, 1)), 1, n, ("t",)), 2, axis=1)
        return Batch(tables, lanes_for(n), times, np.concatenate(parts, axis=1), u, single)


def input_wrenches(model: "Model", wrenches: Mapping[str, Any] | None, frame: str,
                   n: int) -> tuple[tuple[InputWrench, ...], np.ndarray]:
    """Who is loaded, and (n, 6 a body) of loads."""
    if frame not in ("body", "world"):
        raise StateError(f"frame is {frame!r}; give 'body' (the body's axes) or 'world'")
    inputs, parts = [], [np.zeros((n, 0))]
    for body, wrench in (wrenches or {}).items():
        if body not in model.names.bodies:
            raise StateError(f"wrenches: there is no body '{body}'{nearest(body, model.names.bodies)}")
        inputs.append(InputWrench(body, frame == "world"))
        parts.append(rows(f"wrench on '{body}'", wrench, 6, n, ("mx", "my", "mz", "fx", "fy", "fz")))
    return tuple(inputs), np.concatenate(parts, axis=1)


def check_quaternions(model: "Model", q: np.ndarray) -> None:
    """No quaternion may have zero length."""
    for hinge in model.tables.parts.hinges:
        if hinge.kind in (SPHERICAL, FREE):
            at = hinge.q + (3 if hinge.kind == FREE else 0)
            lengths = np.einsum("bi,bi->b", q[:, at:at + 4], q[:, at:at + 4])
            if not (lengths > 1e-24).all():
                row = int(np.argmin(lengths))
                raise StateError(f"q[{at}:{at + 4}] (joint '{hinge.label}'): the quaternion {q[row, at:at + 4].tolist()} has "
                                 "zero length; give [x, y, z, w], [0, 0, 0, 1] for no rotation")
