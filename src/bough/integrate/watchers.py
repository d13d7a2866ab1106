"""Quantities that a run watches: rows for the compiled loops, and the moment at which one passes zero."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bough.compile.layout import Floats
from bough.integrate.compiled.loops import DIRECTION, FIRST, FIRST_FACTOR, LESS, SECOND, SECOND_FACTOR, WATCHER

SHARE = 1e-12                   # of a step: how precisely the moment of an event is found


def watcher(place: int, factor: float, value: float, direction: float, second: int = 0, second_factor: float = 0.0) -> Floats:
    """A row for factor (x[place] - value) + second_factor x[second]."""
    row = np.zeros(WATCHER)
    row[FIRST], row[FIRST_FACTOR], row[SECOND], row[SECOND_FACTOR] = place, factor, second, second_factor
    row[LESS], row[DIRECTION] = factor*value, direction
    return row


def facing(row: Floats, direction: float) -> Floats:
    row[DIRECTION] = direction
    return row


def watcher_rows(watchers: Sequence[tuple[Any, Floats]]) -> Floats:
    """Those of all watchers, for the compiled loops."""
    return np.array([row for _, row in watchers]).reshape(-1, WATCHER)


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


def reaching(rows: Floats, before: Floats, after: Floats) -> list[int]:
    """Where no watcher passes in a step but the compiled loops, which round otherwise, saw one: the one that is nearest to zero at
    its end."""
    if passing(rows, before, after):
        return []
    near = {}
    for i, row in enumerate(rows):
        a, b = watched(row, before), watched(row, after)
        if (a > 0.0 and row[DIRECTION] <= 0.0) or (a < 0.0 and row[DIRECTION] >= 0.0):
            near[i] = abs(b)/abs(a)
    return [min(near, key=lambda i: near[i])] if near else []


def find_moment(rows: Floats, x: Floats, start: float, step: float, state_after: Callable[[float], Floats]) -> float:
    """The length of the shortest step after which a watcher has passed: the end of a bracket of SHARE of the step, or of the
    rounding of the time. If none passes but by the rounding of the compiled loops, it does so at once."""
    from scipy.optimize import brentq  # slow to import
    tolerance = max(SHARE*step, float(np.spacing(start + step)))
    moments = []
    for row in rows:
        if crosses(row, x, state_after(step)):
            at_once = watched(row, state_after(0.0))*watched(row, state_after(step)) > 0.0       # a force that jumps at the start
            if at_once:
                return tolerance
            moment = brentq(lambda h, row=row: watched(row, state_after(h)), 0.0, step, xtol=tolerance, rtol=8.9e-16)
            while moment < step and not crosses(row, x, state_after(moment)):
                moment = min(moment + tolerance, step)
            moments.append(moment)
    return min(moments, default=tolerance)
