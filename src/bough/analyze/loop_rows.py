"""The rows of closed loops: gaps, rates and accelerations with their Jacobian."""

import itertools
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.compile.batch import Batch
from bough.compile.compiled_model import CompiledModel
from bough.compile.kernel_calls import Prepared, run
from bough.compile.layout import Floats
from bough.compile.loop_tables import Closure
from bough.compile.tables import Tables
from bough.errors import StateError
from bough.sweeps import calls, fields as f
from bough.sweeps.schema import padded

POSITION, SPEED, ACCELERATION = np.eye(3)[[2, 1, 0]]        # weights of loop_terms


def true_rows(closures: Sequence[Closure]) -> NDArray[np.intp]:
    """Indices of the rows of all loops among the multipliers, which are padded to fours."""
    places, at = list[int](), 0
    for closure in closures:
        places += range(at, at + closure.rows)
        at += padded(closure.rows)
    return np.array(places, np.intp)


def row_places(tables: Tables) -> NDArray[np.intp]:
    """The same of tables."""
    if "rows" not in tables.routes:
        tables.routes["rows"] = true_rows(tables.fronts.closures)
    found: NDArray[np.intp] = tables.routes["rows"]
    return found


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
    call, (terms, J) = loop_call(model, batch, weights)
    run(call)
    rows = row_places(batch.tables)
    return terms[:, rows], J[:, rows]


def loop_call(model: CompiledModel, batch: Batch, weights: Floats) -> tuple[partial[Any], tuple[Floats, Floats]]:
    """The kernel for the rows of all multipliers, and where it puts terms (batch, multipliers) and Jacobian."""
    n = batch.tables.fronts.size
    out = np.empty((batch.n, n*(1 + model.nv)))
    call = model.bound(calls.loop_terms, batch, batch.t, batch.x, batch.u, weights, out, extra=n*model.nv)
    return call, (out[:, :n], out[:, n:].reshape(batch.n, n, model.nv))


def prepare_gaps(model: CompiledModel) -> Prepared:
    """From q: gap and row of the Jacobian of each multiplier."""
    batch = model.batch_at(model.q0)
    call, (gaps, J) = loop_call(model, batch, POSITION)
    return Prepared(call, (gaps[0], J[0]), batch.q[0])


def refuse_coincident(batch: Batch, J: Floats) -> None:
    """Raise if the ends of a distance coincide in a state of the batch."""
    closures = batch.tables.fronts.closures
    for closure, rows in zip(closures, row_slices(closures), strict=True):
        if closure.rotation_kind != f.DISTANCE:
            continue
        found = np.flatnonzero(~np.isfinite(J[:, rows]).all(axis=(1, 2)))
        if found.size:
            raise StateError(f"loop '{closure.name}': the ends of its distance coincide{batch.where(found[0])}, so that it has no "
                             "direction; move one of them away, or let assemble find a state that closes the loops")
