"""Singular configurations, in which the loops of a mechanism lose independent equations, such as a four-bar with all links in line.
There the motion can branch, and the loop forces are not determined.

    quality = s_r / median(s_1)     s: singular values of the loops' Jacobian; r: its rank at most samples

Between samples the coordinates are interpolated: quality decreases to zero like |t - t*|, and samples rarely coincide with t*.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from bough.analyze.loop_rows import POSITION, loop_terms
from bough.blas import one_thread
from bough.compile.kernel_calls import evaluating
from bough.compile.loop_tables import REDUNDANT
from bough.integrate.start import member_model
from bough.integrate.trajectory import Trajectory
from bough.model import Model
from bough.results.recorded_parts import Array

NEAR = 0.01  # relative to its median: lower quality is singular
POINTS, ROUNDS = 33, 3  # of the search between samples
CHUNK = 2_000_000  # floats of Jacobians at a time
ATTRS = ("independent_equations", "singular_times", "singular_losses", "singular_runs")


class Passage(NamedTuple):
    """A singular configuration on the path of a run."""

    time: float
    lost: int  # independent equations
    equations: int  # that are independent elsewhere
    run: int = 0

    def __str__(self) -> str:
        where = f"passes a singular configuration near t = {self.time:.5g} s" if self.time else "starts in a singular configuration"
        return f"{where}: the loops lose {self.lost} of {self.equations} independent equation{'s' * (self.equations != 1)} there"


def find_singular(trajectory: Trajectory) -> list[Passage]:
    """The singular configurations of all runs, in order."""
    found = []
    places = {key: values for key, values in (trajectory.parameters or {}).items() if key.endswith(".at")}  # geometry only
    for run, states in enumerate(trajectory.state.q):
        model, reached = member_model(trajectory.model, places, run), np.isfinite(states).all(axis=1)
        found += [passage._replace(run=run) for passage in find_on_path(model, trajectory.t[reached], states[reached])]
    return found


def find_on_path(model: Model, t: Array, q: Array) -> list[Passage]:
    """The singular configurations on a path through the positions q (samples, nq)."""
    if len(t) < 2:
        return []
    sizes = singular_values(model, q)
    scale = np.median(sizes[:, 0])
    rank = int(np.bincount((sizes > np.sqrt(REDUNDANT) * scale).sum(axis=1)).argmax())
    if rank == 0 or scale == 0.0:
        return []
    quality, limits, found, last = sizes[:, rank - 1], NEAR * np.median(sizes[:, :rank], axis=0), list[Passage](), -1
    path = interpolation(model, t, q)
    for i in dips(quality, limits[-1]):
        when, least = lowest(model, path, t[max(i - 1, 0)], t[min(i + 1, len(t) - 1)], rank)
        if least[rank - 1] < limits[-1] and not (found and (quality[last : i + 1] < limits[-1]).all()):
            found.append(Passage(float(when), int((least[:rank] < limits).sum()), rank))
            last = i
    return found


@one_thread()
def singular_values(model: Model, q: Array) -> Array:
    """(samples, ...): singular values of the loop Jacobian at the positions q, largest first."""
    rows = sum(closure.rows for closure in model.tables.fronts.closures)
    longest = max(1, CHUNK // (rows * model.nv))
    parts = [q[first : first + longest] for first in range(0, len(q), longest)]
    still = np.zeros(model.nv)
    with evaluating(len(q)):
        jacobians = (loop_terms(model, model.batch(part, still), POSITION)[1] for part in parts)
        return np.concatenate([np.linalg.svd(J, compute_uv=False) for J in jacobians])


def dips(quality: Array, limit: float) -> list[int]:
    """Local minima of quality that are below the limit, or so steep that it may reach zero before the next sample.

    >>> dips(np.array([5.0, 3.0, 1.0, 0.9, 2.9, 4.9]), 0.01)
    [3]
    >>> dips(np.array([5.0, 4.1, 3.8, 4.0, 4.9]), 0.01)
    []
    """
    padded = np.concatenate([[np.inf], quality, [np.inf]])
    least = (quality <= padded[:-2]) & (quality < padded[2:])
    step = np.abs(np.diff(quality))
    steepest = np.maximum(np.append(step, 0.0), np.insert(step, 0, 0.0))
    return np.flatnonzero(least & ((quality < limit) | (quality < 2 * steepest))).tolist()


def interpolation(model: Model, t: Array, q: Array) -> Callable[[Array], Array]:
    """Coordinates at any time between the first and the last sample."""
    from scipy.interpolate import CubicSpline

    spline = CubicSpline(t, q)

    def path(times: Array) -> Array:
        states: Array = spline(times)
        model.normalize_quaternions(states)
        return states

    return path


def lowest(model: Model, path: Callable[[Array], Array], low: float, high: float, rank: int) -> tuple[float, Array]:
    """The time of lowest quality between two times, and the singular values there."""
    for _ in range(ROUNDS):
        times = np.linspace(low, high, POINTS)
        sizes = singular_values(model, path(times))
        i = int(sizes[:, rank - 1].argmin())
        low, high = times[max(i - 1, 0)], times[min(i + 1, POINTS - 1)]
    return times[i], sizes[i]


def to_attrs(found: list[Passage]) -> dict[str, Any]:
    """Attributes of a dataset; empty if there are none."""
    if not found:
        return {}
    columns = [np.array(column) for column in zip(*found, strict=True)]
    return dict(zip(ATTRS, (int(columns[2].max()), columns[0], columns[1], columns[3]), strict=True))


def from_attrs(attrs: Mapping[str, Any]) -> list[Passage]:
    """From the attributes of a dataset.

    >>> passages = [Passage(1.5, 1, 2), Passage(2.5, 1, 2)]
    >>> from_attrs(to_attrs(passages)) == passages
    True
    """
    if "singular_times" not in attrs:
        return []
    equations, *columns = (np.atleast_1d(attrs[key]).tolist() for key in ATTRS)
    return [Passage(time, lost, equations[0], run) for time, lost, run in zip(*columns, strict=True)]
