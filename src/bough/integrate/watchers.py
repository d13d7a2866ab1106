"""Quantities that a run watches: rows for the compiled loops, and the moment at which one passes zero."""
from collections.abc import Callable

import numpy as np

from bough.describe import Event, Stop
from bough.integrate.compiled.loops import DIRECTION, FIRST, FIRST_FACTOR, LESS, SECOND, SECOND_FACTOR, WATCHER
from bough.model import Model
from bough.model.coordinates import coordinate_place

SHARE = 1e-12                   # of a step: how precisely the moment of an event is found


def watcher(place: int, factor: float, value: float, direction: float, second: int = 0, second_factor: float = 0.0) -> np.ndarray:
    row = np.zeros(WATCHER)
    row[FIRST], row[FIRST_FACTOR], row[SECOND], row[SECOND_FACTOR] = place, factor, second, second_factor
    row[LESS], row[DIRECTION] = factor*value, direction
    return row


def quantity_place(model: Model, event: Event) -> int:
    """Where in x the quantity is that an event waits for."""
    if event.when in model.names.wheels:
        return model.nq + model.nv + model.names.wheels.index(event.when)
    return model.names.q.index(event.when) if event.quantity == "position" else model.nq + model.names.v.index(event.when)


def stop_watcher(model: Model, stop: Stop) -> np.ndarray:
    """Apart: until the coordinate passes the limit.  In contact: until spring and damper would pull."""
    q, v = coordinate_place(model.system, stop.coordinate)
    if stop.name not in model.contacts:
        return watcher(q, stop.side, stop.limit, 1.0)
    return watcher(q, stop.side*stop.stiffness, stop.limit, -1.0, model.nq + v, stop.side*stop.damping)


def penetration(model: Model, stop: Stop, x: np.ndarray) -> float:
    return stop.side*(float(x[coordinate_place(model.system, stop.coordinate)[0]]) - stop.limit)


def watched(row: np.ndarray, x: np.ndarray) -> float:
    """As the compiled loops say it."""
    return float(row[FIRST_FACTOR]*x[int(row[FIRST])] + row[SECOND_FACTOR]*x[int(row[SECOND])] - row[LESS])


def crosses(row: np.ndarray, before: np.ndarray, after: np.ndarray) -> bool:
    a, b, direction = watched(row, before), watched(row, after), row[DIRECTION]
    return bool((direction >= 0.0 and a < 0.0 <= b) or (direction <= 0.0 and a > 0.0 >= b))


def find_moment(rows: np.ndarray, x: np.ndarray, step: float, state_after: Callable[[float], np.ndarray]) -> float:
    """The length of the shortest step after which a watcher has passed: the end of a bracket of SHARE of the step."""
    from scipy.optimize import brentq
    moments = []
    for row in rows:
        if crosses(row, x, state_after(step)):
            tolerance = SHARE*step
            moment = brentq(lambda h, row=row: watched(row, state_after(h)), 0.0, step, xtol=tolerance, rtol=8.9e-16)
            while moment < step and not crosses(row, x, state_after(moment)):
                moment = min(moment + tolerance, step)
            moments.append(moment)
    return min(moments)
