"""The rows of closed loops: gaps, rates and accelerations with their Jacobian."""

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bough.compile.batch import Batch
from bough.compile.compiled_model import CompiledModel
from bough.compile.layout import Floats
from bough.compile.loop_tables import Closure
from bough.errors import StateError
from bough.sweeps import calls
from bough.sweeps import fields as f
from bough.sweeps.schema import padded

POSITION, SPEED, ACCELERATION = np.eye(3)[[2, 1, 0]]        # weights of loop_terms


def true_rows(closures: Sequence[Closure]) -> NDArray[np.intp]:
    """Indices of the rows of all loops among the multipliers, which are padded to fours."""
    places, at = list[int](), 0
    for closure in closures:
        places += range(at, at + closure.rows)
        at += padded(closure.rows)
    return np.array(places, np.intp)


def row_sizes(closures: Sequence[Closure]) -> Floats:
    """The scale of each row: 1 for translations, the size of the loop for rotations."""
    return np.array([size for c in closures for size in [1.0]*(c.rows - c.rotations) + [c.size]*c.rotations])


def row_slices(closures: Sequence[Closure]) -> list[slice]:
    """The rows of each loop."""
    ends = itertools.accumulate((closure.rows for closure in closures), initial=0)
    return [slice(*pair) for pair in itertools.pairwise(ends)]


def row_names(closures: Sequence[Closure]) -> list[str]:
    return [f"{closure.name}.{label}" for closure in closures for label in closure.labels]


def loop_terms(model: CompiledModel, batch: Batch, weights: Floats) -> tuple[Floats, Floats]:
    """(batch, rows): gaps, their rates, or accelerations at v' = 0, depending on the weights; and (batch, rows, nv), their
    Jacobian. All rows are in meters."""
    terms, J = evaluate_loops(model, batch, weights)
    refuse_coincident(batch, J)
    return terms, J


def evaluate_loops(model: CompiledModel, batch: Batch, weights: Floats) -> tuple[Floats, Floats]:
    """The same; NaN where the ends of a distance coincide, so that it has no direction."""
    closures, n = batch.tables.fronts.closures, batch.tables.fronts.size
    out = np.empty((batch.n, n*(1 + model.nv)))
    model.call(calls.loop_terms, batch, weights, out, extra=n*model.nv)
    rows = true_rows(closures)
    return out[:, rows], out[:, n:].reshape(batch.n, n, model.nv)[:, rows]


def refuse_coincident(batch: Batch, J: Floats) -> None:
    """Raise if the ends of a distance coincide in a state of the batch."""
    closures = batch.tables.fronts.closures
    for closure, rows in zip(closures, row_slices(closures), strict=True):
        if closure.held != f.DISTANCE:
            continue
        found = np.flatnonzero(~np.isfinite(J[:, rows]).all(axis=(1, 2)))
        if found.size:
            raise StateError(f"loop '{closure.name}': the ends of its distance coincide{batch.where(found[0])}, so that it has no "
                             "direction; move one of them away, or let assemble find a state that closes the loops")
