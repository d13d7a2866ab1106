"""Quantities that a run watches: rows for the compiled loops, and the time at which one crosses zero."""

from collections.abc import Callable

import numpy as np

from bough.compile.layout import Floats
from bough.integrate.compiled.loops import DIRECTION, FIRST, FIRST_FACTOR, LESS, SECOND, SECOND_FACTOR, WATCHER

SHARE = 1e-12                   # of a step: tolerance of event times


def watcher(place: int, factor: float, value: float, direction: float, second: int = 0, second_factor: float = 0.0) -> Floats:
    """A row for factor (x[place] - value) + second_factor x[second]."""
    row = np.zeros(WATCHER)
    row[FIRST], row[FIRST_FACTOR], row[SECOND], row[SECOND_FACTOR] = place, factor, second, second_factor
    row[LESS], row[DIRECTION] = factor*value, direction
    return row


def facing(row: Floats, direction: float) -> Floats:
    row[DIRECTION] = direction
    return row


def watched(row: Floats, x: Floats) -> float:
    """The value of a watcher, computed as in the compiled loops."""
    return float(row[FIRST_FACTOR]*x[int(row[FIRST])] + row[SECOND_FACTOR]*x[int(row[SECOND])] - row[LESS])


def crosses(row: Floats, before: Floats, after: Floats) -> bool:
    a, b, direction = watched(row, before), watched(row, after), row[DIRECTION]
    return bool((direction >= 0.0 and a < 0.0 <= b) or (direction <= 0.0 and a > 0.0 >= b))


def passing(rows: Floats, before: Floats, after: Floats) -> list[int]:
    """The watchers that cross zero. If none does, although the compiled loops, which round differently, found one: those that start
    at zero, to rounding, and leave it."""
    found = [i for i, row in enumerate(rows) if crosses(row, before, after)]
    return found or [i for i, row in enumerate(rows) if _leaves(row, before, after)]


def _leaves(row: Floats, before: Floats, after: Floats) -> bool:
    terms = abs(row[FIRST_FACTOR]*before[int(row[FIRST])]) + abs(row[SECOND_FACTOR]*before[int(row[SECOND])]) + abs(row[LESS])
    b, direction = watched(row, after), row[DIRECTION]
    at_zero = abs(watched(row, before)) <= 4*np.finfo(float).eps*terms
    return bool(at_zero and ((direction >= 0.0 and b >= 0.0) or (direction <= 0.0 and b <= 0.0)))


def reaching(rows: Floats, before: Floats, after: Floats) -> list[int]:
    """If no watcher crosses zero in a step, although the compiled loops, which round differently, found one: the one nearest to
    zero at its end."""
    if passing(rows, before, after):
        return []
    near = {}
    for i, row in enumerate(rows):
        a, b = watched(row, before), watched(row, after)
        if (a > 0.0 and row[DIRECTION] <= 0.0) or (a < 0.0 and row[DIRECTION] >= 0.0):
            near[i] = abs(b)/abs(a)
    return [min(near, key=lambda i: near[i])] if near else []


def find_moment(rows: Floats, x: Floats, start: float, step: float, state_after: Callable[[float], Floats]) -> float:
    """The length of the shortest step after which a watcher has crossed zero: the end of a bracket of SHARE of the step, or of the
    rounding of the time. If none crosses except by the rounding of the compiled loops, the event is at once."""
    tolerance = max(SHARE*step, float(np.spacing(start + step)))

    def moment(row: Floats) -> float:
        at_once = watched(row, state_after(0.0))*watched(row, state_after(step)) > 0.0           # a force that jumps at the start
        return tolerance if at_once else locate(lambda h: watched(row, state_after(h)), lambda h: crosses(row, x, state_after(h)),
                                                0.0, step, tolerance)
    return min((moment(row) for row in rows if crosses(row, x, state_after(step))), default=tolerance)


def locate(value: Callable[[float], float], occurred: Callable[[float], bool], low: float, high: float, tolerance: float) -> float:
    """The first step length, to a tolerance, at which something has occurred whose value changes sign between two lengths."""
    from scipy.optimize import brentq  # slow to import
    moment, more = float(brentq(value, low, high, xtol=tolerance, rtol=8.9e-16)), tolerance
    while moment < high and not occurred(moment):
        moment, more = min(moment + more, high), 2.0*more
    return moment
