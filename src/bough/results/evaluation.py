"""Quantities of all samples of a run, evaluated in chunks so that memory stays bounded."""
from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from bough.compile.kernel_calls import evaluating
from bough.compile.layout import EXHAUST, run_states
from bough.errors import NotFiniteError, StateError
from bough.integrate.compiled.loops import SAME
from bough.integrate.start import member_model
from bough.integrate.trajectory import Trajectory
from bough.model import Model
from bough.progress import working
from bough.results.recorded_parts import Array, flexible_bodies
from bough.results.samples import Derive, Rows, Samples

CHUNK = 4_000_000  # floats for the kinematics of a chunk
_FLOATS_PER_BODY = 60


def evaluate(trajectory: Trajectory, wanted: Mapping[str, Derive], *, accelerated: bool) -> dict[str, Array]:
    """Each wanted quantity of all samples, (run, time, ...); NaN where a run diverged."""
    (runs, samples), done = trajectory.x.shape[:2], 0
    found: dict[str, list[Array]] = {name: [] for name in wanted}
    bar, silent = working(f"{trajectory.model.system.name}: deriving"), np.errstate(over="ignore", invalid="ignore")
    with bar as progress, silent, evaluating(runs * samples, runs, trajectory.lanes):
        for model, rows in segments(trajectory):
            for chunk in chunks(model, rows):
                for name, values in _evaluate_chunk(model, chunk, wanted, accelerated).items():
                    found[name].append(values)
                done += len(chunk.t)
                progress(done / (runs * samples))
    whole = {name: np.concatenate(parts) for name, parts in found.items()}
    return {name: array.reshape(runs, samples, *array.shape[1:]) for name, array in whole.items()}


def read(trajectory: Trajectory, wanted: Mapping[str, Derive]) -> dict[str, Array]:
    """Quantities that are parts of the states and controls, (run, time, ...), without evaluating the model."""
    runs, samples, _ = trajectory.x.shape
    rows = Samples(trajectory.model, _all_rows(trajectory), accelerated=False)
    return {name: (values := derive(rows)).reshape(runs, samples, *values.shape[1:]) for name, derive in wanted.items()}


def _all_rows(trajectory: Trajectory) -> Rows:
    """The rows of all runs, one run after the other."""
    runs, samples, _ = trajectory.x.shape
    x, u = (array.reshape(runs * samples, -1) for array in (trajectory.x, trajectory.u))
    return Rows(np.tile(trajectory.t, runs), x, u, trajectory.work.reshape(-1), trajectory.friction.reshape(runs * samples, -1, 3),
                trajectory.exhaust.reshape(runs * samples, -1))


def segments(trajectory: Trajectory) -> Iterator[tuple[Model, Rows]]:
    """All rows with the common model; or the rows of each run with its own parameters and active constraints."""
    if not trajectory.parameters and not trajectory.spans:
        yield trajectory.model, _all_rows(trajectory)
        return
    for run in range(len(trajectory.x)):
        model, begin = member_model(trajectory.model, trajectory.parameters, run), -np.inf
        for end, then in trajectory.spans[run] if trajectory.spans else [(np.inf, model)]:
            inside = (trajectory.t > begin * (1.0 + SAME)) & (trajectory.t <= end * (1.0 + SAME))
            if inside.any():
                parts = trajectory.x, trajectory.u, trajectory.work, trajectory.friction, trajectory.exhaust
                rows = Rows(trajectory.t[inside], *(each[run, inside] for each in parts))
                yield model.switched_as(then), rows
            begin = end


def _evaluate_chunk(model: Model, chunk: Rows, wanted: Mapping[str, Derive], accelerated: bool) -> dict[str, Array]:
    finite = np.asarray(np.isfinite(chunk.x).all(axis=1) & np.isfinite(chunk.u).all(axis=1)
                        & np.isfinite(chunk.friction).all(axis=(1, 2)))
    while True:
        samples, found = Samples(model, _valid(model, chunk, finite), accelerated=accelerated), {}
        try:
            for name, derive in wanted.items():
                found[name] = np.array(derive(samples))
                found[name][~finite] = np.nan
            return found
        except NotFiniteError as error:                                 # last states before divergence
            finite[error.rows] = False


def chunks(model: Model, rows: Rows) -> Iterator[Rows]:
    longest = max(1, CHUNK // _floats(model))
    for part in np.array_split(np.arange(len(rows.t)), -(-len(rows.t) // longest)):
        yield Rows(*(array[part[0] : part[-1] + 1] for array in rows))


def _floats(model: Model) -> int:
    """Approximate number of floats for the kinematics and deformation of one state."""
    bodies = flexible_bodies(model.system).values()
    modal = sum(_FLOATS_PER_BODY * body.n_modes + 3 * (1 + body.n_modes) * len(body.nodes) for body in bodies)
    points = sum(len(body.deformed_outline(np.zeros(body.n_modes))) for body in bodies)
    places = 1 + len(model.names.bodies) + sum(len(body.nodes) for body in bodies)
    jacobian = 4 * model.tables.fronts.size * (model.nv + model.tables.fronts.size)         # loop Jacobian and its factors
    return _FLOATS_PER_BODY * places + modal + 9 * points + jacobian


def _valid(model: Model, chunk: Rows, finite: Array) -> Rows:
    """Rows that the model accepts: diverged states are replaced; their results become NaN."""
    if finite.all():
        return chunk
    start = model.layout.pack(model.q0, model.v0, model.wheel_speeds, model.initial_orbit, model.tank_masses)
    return chunk._replace(x=np.where(finite[:, None], chunk.x, start), u=np.where(finite[:, None], chunk.u, 0.0),
                          friction=np.where(finite[:, None, None], chunk.friction, 0.0))


def state_at(trajectory: Trajectory, t: float, run: int = 0) -> tuple[Model, dict[str, Any]]:
    """The active model, and q, v, controls, wheels, orbit, time and states of laws at the sample nearest to t."""
    if not 0 <= run < len(trajectory.x):
        raise StateError(f"run is {run}; the result has {len(trajectory.x)}: give 0 to {len(trajectory.x) - 1}")
    first, last = float(trajectory.t[0]), float(trajectory.t[-1])
    if not first - 1e-9 <= t <= last + 1e-9 * max(1.0, abs(last)):
        raise StateError(f"t is {t!r} s; the run was recorded from {first:g} to {last:g} s: give a time between")
    sample, model = int(np.abs(trajectory.t - t).argmin()), member_model(trajectory.model, trajectory.parameters, run)
    for until, held in trajectory.spans[run] if trajectory.spans else ():
        if trajectory.t[sample] <= until:
            model = model.switched_as(held)
            break
    state, controls = model.state(trajectory.x[run, sample]), trajectory.u[run, sample]
    nv, nw = model.nv, model.nw
    own = run_states(model.system) + EXHAUST*bool(model.system.tanks)           # before the states of laws
    laws = trajectory.law_states[run, sample, own:] if trajectory.law_states.size else np.zeros(0)
    return model, model.state_options(state) | {
        "q": state.q, "v": state.v, "tau": controls[:nv], "inputs": model.named_inputs(controls[nv + nw:]) or None,
        "motors": controls[nv:nv + nw] if nw else None, "t": float(trajectory.t[sample]),
        "law_states": laws[:len(laws) - trajectory.audited] if len(laws) else None}
