"""Quantities that a run watches: rows for the compiled loops, and the moment at which one passes zero."""
from collections.abc import Callable

import numpy as np

from bough.compile.coordinates import coordinate_place
from bough.compile.state_layout import Floats
from bough.describe import Event, Stop
from bough.integrate.compiled.loops import DIRECTION, FIRST, FIRST_FACTOR, LESS, SECOND, SECOND_FACTOR, WATCHER
from bough.model import Model

SHARE = 1e-12                   # of a step: how precisely the moment of an event is found


def watcher(place: int, factor: float, value: float, direction: float, second: int = 0, second_factor: float = 0.0) -> Floats:
    row = np.zeros(WATCHER)
    row[FIRST], row[FIRST_FACTOR], row[SECOND], row[SECOND_FACTOR] = place, factor, second, second_factor
    row[LESS], row[DIRECTION] = factor*value, direction
    return row


def quantity_place(model: Model, event: Event) -> int:
    """Where in x the quantity is that an event waits for."""
    if event.when in model.names.wheels:
        return int(model.layout.wheels.start) + model.names.wheels.index(event.when)
    if event.quantity == "position":
        return model.names.q.index(str(event.when))
    return int(model.layout.v.start) + model.names.v.index(str(event.when))


def stop_watchers(model: Model, stop: Stop, x: Floats) -> tuple[Floats, Floats | None]:
    """What makes a stop come into contact or part, and what only changes what it waits for.

    In contact: until spring and damper would pull.  Apart and within its limit: until the coordinate passes it.  Apart and beyond,
    for the damper would pull: until they push again, or the coordinate is back within the limit."""
    q, v = coordinate_place(model.system, stop.coordinate)
    beyond = watcher(q, stop.side, stop.limit, 1.0)
    push = watcher(q, stop.side*stop.stiffness, stop.limit, 1.0, model.layout.v.start + v, stop.side*stop.damping)
    if stop.name in model.contacts:
        return facing(push, -1.0), None
    if watched(beyond, x) > 0.0:
        return push, facing(beyond, -1.0)
    if watched(beyond, x) == 0.0:                                           # on the limit: to leave it inward is to pass it
        beyond[LESS] += np.spacing(max(abs(stop.limit), np.finfo(float).tiny))
    return beyond, None


def facing(row: Floats, direction: float) -> Floats:
    row[DIRECTION] = direction
    return row


def pushes(model: Model, stop: Stop, x: Floats) -> bool:
    """Whether a stop is in contact: the coordinate is beyond its limit, and spring and damper do not pull."""
    (q, v), state = coordinate_place(model.system, stop.coordinate), model.state(x)
    depth, rate = stop.side*(float(state.q[q]) - stop.limit), stop.side*float(state.v[v])
    return depth >= 0.0 and stop.stiffness*depth + stop.damping*rate > 0.0


def watched(row: Floats, x: Floats) -> float:
    """As the compiled loops say it."""
    return float(row[FIRST_FACTOR]*x[int(row[FIRST])] + row[SECOND_FACTOR]*x[int(row[SECOND])] - row[LESS])


def crosses(row: Floats, before: Floats, after: Floats) -> bool:
    a, b, direction = watched(row, before), watched(row, after), row[DIRECTION]
    return bool((direction >= 0.0 and a < 0.0 <= b) or (direction <= 0.0 and a > 0.0 >= b))


def passing(rows: Floats, before: Floats, after: Floats) -> list[int]:
    """Which watchers pass. Where none does but the compiled loops, which round otherwise, saw one: those that start at zero to
    rounding and leave it."""
    found = [i for i, row in enumerate(rows) if crosses(row, before, after)]
    return found or [i for i, row in enumerate(rows) if _leaves(row, before, after)]


def _leaves(row: Floats, before: Floats, after: Floats) -> bool:
    terms = abs(row[FIRST_FACTOR]*before[int(row[FIRST])]) + abs(row[SECOND_FACTOR]*before[int(row[SECOND])]) + abs(row[LESS])
    b, direction = watched(row, after), row[DIRECTION]
    at_zero = abs(watched(row, before)) <= 4*np.finfo(float).eps*terms
    return bool(at_zero and ((direction >= 0.0 and b >= 0.0) or (direction <= 0.0 and b <= 0.0)))


def find_moment(rows: Floats, x: Floats, start: float, step: float, state_after: Callable[[float], Floats]) -> float:
    """The length of the shortest step after which a watcher has passed: the end of a bracket of SHARE of the step, or of the
    rounding of the time. If none passes but by the rounding of the compiled loops, it does so at once."""
    from scipy.optimize import brentq  # slow to import
    tolerance = max(SHARE*step, float(np.spacing(start + step)))
    moments = []
    for row in rows:
        if crosses(row, x, state_after(step)):
            moment = brentq(lambda h, row=row: watched(row, state_after(h)), 0.0, step, xtol=tolerance, rtol=8.9e-16)
            while moment < step and not crosses(row, x, state_after(moment)):
                moment = min(moment + tolerance, step)
            moments.append(moment)
    return min(moments, default=tolerance)
