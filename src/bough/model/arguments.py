"""From what a person passes to rows that kernels read, checked: lengths, NaN, quaternions, names."""
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bough.compile.kernel_calls import lanes_for
from bough.compile.layout import InputWrench
from bough.compile.tables import Tables
from bough.describe import CentralGravity
from bough.errors import StateError, nearest
from bough.kernels.hinges import FREE, SPHERICAL
from bough.kernels.lanes import Lanes

if TYPE_CHECKING:
    from bough.model.model import Model


def array(what: str, value: Any, n: int) -> np.ndarray:
    """`value` as an array of numbers."""
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise StateError(f"{what} is {value!r}; give {n} numbers, or rows of {n} numbers") from None


def rows(what: str, value: Any, n: int, batch: int | None, names: Sequence[str]) -> np.ndarray:
    """`value` as (batch, n) of finite numbers; one row serves the whole batch."""
    given = array(what, value, n)
    table = np.atleast_2d(given)
    if table.ndim != 2 or table.shape[1] != n:
        raise StateError(f"{what} has shape {given.shape}; give {n} numbers, or rows of {n} numbers: {_list(names)}")
    if not np.isfinite(table).all():
        row, column = np.argwhere(~np.isfinite(table))[0]
        where = f"{what}[{column}]" if given.ndim == 1 else f"{what}[{row}, {column}]"
        raise StateError(f"{where} ('{names[column]}') is {table[row, column]}; give a finite number")
    if batch is not None and len(table) not in (1, batch):
        raise StateError(f"{what} has {len(table)} rows, but the batch has {batch}; give one row, or one for each")
    if batch is not None and len(table) != batch:
        table = np.broadcast_to(table, (batch, n))
    return np.ascontiguousarray(table)


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
        optional = {"tau": (tau, model.nv), "wheels": (wheels, model.nw), "motors": (motors, model.nw), "orbit": (orbit, 6)}
        given = [array("q", q, model.nq), array("v", v, model.nv)]
        given += [array(name, value, size) for name, (value, size) in optional.items() if value is not None]
        one_state = all(a.ndim <= 1 for a in given)
        if isinstance(wrenches, Mapping):
            given += [array(f"wrench on '{body}'", wrench, 6) for body, wrench in wrenches.items()]
        times = array("t", t, 1).reshape(-1)
        n = max(len(times), *(len(np.atleast_2d(a)) for a in given))
        q, v = rows("q", q, model.nq, n, model.names.q), rows("v", v, model.nv, n, model.names.v)
        check_quaternions(model, q)
        inputs, wrench_rows = input_wrenches(model, wrenches, frame, n)
        tables = model._tables(inputs, keep_welds)
        x = np.concatenate([q, v, wheel_rows(model, wheels, n), orbit_rows(model, orbit, n)], axis=1)
        u = np.zeros((n, tables.n_u))
        if tau is not None:
            u[:, :model.nv] = rows("tau", tau, model.nv, n, model.names.v)
        if motors is not None:
            u[:, model.nv:model.nv + model.nw] = motor_rows(model, motors, n)
        u[:, tables.first_input_wrench:] = wrench_rows
        times = np.repeat(rows("t", np.reshape(t, (-1, 1)), 1, n, ("t",)), 2, axis=1)
        return Batch(tables, lanes_for(n), times, x, u, one_state and n == 1)


def wheel_rows(model: "Model", wheels: Any, n: int) -> np.ndarray:
    """Speeds of the wheels relative to their bodies."""
    if wheels is not None and not model.nw and np.size(wheels):
        raise StateError(f"wheels is {wheels!r}, but the system has no wheels; leave it out")
    return rows("wheels", model.wheel_speeds if wheels is None else wheels, model.nw, n, model.names.wheels)


def motor_rows(model: "Model", motors: Any, n: int) -> np.ndarray:
    """Torques of the wheels' motors; a wheel whose speed is held takes none."""
    torques = rows("motors", motors, model.nw, n, model.names.wheels)
    for j, wheel in enumerate(model.system.wheels.values()):
        if not wheel.driven and torques[:, j].any():
            raise StateError(f"motors: a torque of {torques[:, j].max():g} N m for wheel '{wheel.name}', whose speed is held; "
                             "give 0, or give the wheel a torque in the description")
    return torques


def orbit_rows(model: "Model", orbit: Any, n: int) -> np.ndarray:
    """Position and velocity of the mass center, with central gravity only."""
    gravity = model.system.gravity
    if not isinstance(gravity, CentralGravity):
        if orbit is not None:
            raise StateError("orbit is given, but the system's gravity is uniform; leave it out, or give the system CentralGravity")
        return np.zeros((n, 0))
    start = [*gravity.position, *gravity.velocity]
    return rows("orbit", start if orbit is None else orbit, 6, n, ("x", "y", "z", "vx", "vy", "vz"))


def input_wrenches(model: "Model", wrenches: Mapping[Any, Any] | None, frame: str,
                   n: int) -> tuple[tuple[InputWrench, ...], np.ndarray]:
    """Who is loaded, and (n, 6 a body) of loads."""
    if frame not in ("body", "world"):
        raise StateError(f"frame is {frame!r}; give 'body' (the body's axes) or 'world'")
    if wrenches is not None and not isinstance(wrenches, Mapping):
        raise StateError(f"wrenches is {wrenches!r}; give a dict from body names, or (body, node), to [moment, force]")
    inputs, parts = [], [np.zeros((n, 0))]
    for place, wrench in (wrenches or {}).items():
        body, node = place if isinstance(place, tuple) and len(place) == 2 else (place, None)
        if body not in model.names.bodies:
            raise StateError(f"wrenches: there is no body '{body}'{nearest(str(body), model.names.bodies)}")
        check_node(model, body, node)
        inputs.append(InputWrench(body, node, frame == "world"))
        parts.append(rows(f"wrench on '{body}'", wrench, 6, n, ("mx", "my", "mz", "fx", "fy", "fz")))
    return tuple(inputs), np.concatenate(parts, axis=1)


def check_node(model: "Model", body: str, node: str | None) -> None:
    """A node that is asked for must be there; a flexible body that is held at no node has no place but its nodes."""
    flexible = model.system.bodies[body].flexible
    if flexible is None:
        if node is not None:
            raise StateError(f"body '{body}' is rigid and has no node '{node}'; leave the node out")
    elif node is None:
        if flexible.inboard is None:
            raise StateError(f"body '{body}' is held at no node; name one, ('{body}', node): {', '.join(flexible.nodes.names)}")
    elif node not in flexible.nodes.names:
        raise StateError(f"body '{body}': there is no node '{node}'{nearest(node, flexible.nodes.names)}; "
                         f"its nodes are {', '.join(flexible.nodes.names)}")


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
