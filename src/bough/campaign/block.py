"""A block of samples, run and measured: the piece of work that goes to a thread or to a worker of a cluster.

The results of a sample depend only on its number and the seed, not on its neighbors in the lanes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from bough.campaign.members import Rows
from bough.campaign.metrics import Metric
from bough.campaign.readback import check_tables, read_values
from bough.compile.coordinates import member_of
from bough.compile.kernel_calls import direct, group_parameters, linked, workspace
from bough.compile.layout import Floats
from bough.errors import BoughError, DescriptionError, nearest
from bough.integrate.integration import Integration, begin
from bough.integrate.laws import measure
from bough.integrate.run import Run, explain_failure
from bough.integrate.start import member_model
from bough.integrate.trajectory import Trajectory
from bough.kernels.lanes import ONE
from bough.kernels.linker import raise_failure
from bough.progress import quiet
from bough.results import Result
from bough.results.quantities import select_records
from bough.simulation import with_settings
from bough.sweeps import calls

if TYPE_CHECKING:
    from bough.campaign.study import Campaign

DONE, FAILED = 1, 2  # status of a sample


@dataclass
class BlockResult:
    """Results of samples from `first` to `last`: values, metrics and histories, as rows for the store; and reasons of failures."""

    first: int
    values: Floats  # (n, paths): actual values of each run
    metrics: Floats  # (n, metrics)
    histories: dict[str, Floats]  # (n, times)
    status: Any  # (n,) of DONE or FAILED
    reasons: dict[int, str]

    @property
    def last(self) -> int:
        return self.first + len(self.status)


def run_block(campaign: Campaign, first: int, last: int) -> BlockResult:
    """Run the samples from first up to last."""
    numbers = np.arange(first, last)
    drawn = campaign.drawn(numbers)
    found = BlockResult(first, campaign.actual(drawn), np.full((len(numbers), len(campaign.metrics)), np.nan),
                        {name: np.full((len(numbers), len(campaign.times)), np.nan) for name in campaign.keep},
                        np.full(len(numbers), DONE, np.uint8), {})
    with quiet():
        for rows in _groups(campaign, numbers, drawn, found):
            _run_rows(campaign, rows, found)
    return found


def _groups(campaign: Campaign, numbers: Any, drawn: Floats, found: BlockResult) -> list[Rows]:
    """Groups of samples that run together; samples without a valid model fail individually."""
    try:
        return campaign.members.rows(numbers, drawn)
    except Exception as error:
        if len(numbers) == 1:
            _fail(found, numbers, _reason(error))
            return []
        return [rows for i in range(len(numbers)) for rows in _groups(campaign, numbers[i : i + 1], drawn[i : i + 1], found)]


def _run_rows(campaign: Campaign, rows: Rows, found: BlockResult) -> None:
    """Integrate and measure samples; one by one if they cannot start together or one of them ends all."""
    try:
        integration, trajectory = integrate(campaign, rows)
    except Exception as error:
        if len(rows.numbers) == 1:
            _fail(found, rows.numbers, _reason(error))
        else:
            _one_by_one(campaign, rows, found)
        return
    if any(run.interrupted for run in integration.runs):
        raise KeyboardInterrupt
    if any(len(run.x) > 1 and _ended_all(run) for run in integration.runs):
        _one_by_one(campaign, rows, found)
        return
    check_tables(rows, integration)
    found.values[rows.numbers - found.first] = read_values(rows, integration, trajectory)
    for number, reason in failures(integration, trajectory, rows.numbers).items():
        _fail(found, [number], reason)
    _measure(campaign, rows, integration, trajectory, found)


def _one_by_one(campaign: Campaign, rows: Rows, found: BlockResult) -> None:
    """Run the samples of a group one by one."""
    for i in range(len(rows.numbers)):
        one, start = member_of(rows.parameters, slice(i, i + 1)), member_of(rows.start, slice(i, i + 1))
        _run_rows(campaign, replace(rows, numbers=rows.numbers[i : i + 1], parameters=one or None, pars=None, start=start), found)


def _ended_all(run: Run) -> bool:
    """Whether a run ended early for a reason not tied to a row, such as an error of a law."""
    return bool(run.failure) and bool(np.isnan(run.failed[:, 0]).all())


def _reason(error: Exception) -> str:
    """The stored text of an error; lack of memory is raised, since it is not a property of a sample."""
    if isinstance(error, MemoryError):
        raise error
    return str(error) if isinstance(error, BoughError) else f"{type(error).__name__}: {error}"


def _fail(found: BlockResult, numbers: Any, reason: str) -> None:
    text = re.sub(r"(?:run|member) \d+ of the batch:? ?", "", reason)
    for number in numbers:
        found.status[int(number) - found.first], found.reasons[int(number)] = FAILED, text


def integrate(campaign: Campaign, rows: Rows) -> tuple[Integration, Trajectory]:
    """Integrate samples side by side from start to end."""
    model, varied = rows.model, dict[str, Any](rows.start)
    settings = with_settings({}, model.system.settings) | rows.settings
    settings.pop("record", None)
    until = settings.pop("until")
    if rows.parameters is not None:
        varied |= {"parameters": rows.parameters, "pars": rows.pars}
    laws, numbers = campaign.make_laws(rows.laws), rows.numbers.tolist()
    integration = begin(model, until=until, seed=campaign.seed, laws=laws, numbers=numbers, reproducible=not rows.alone, **varied,
                        **settings)
    integration.finish(until)
    return integration, integration.trajectory()


def failures(integration: Integration, trajectory: Trajectory, numbers: Any) -> dict[int, str]:
    """The reason of each failure, by sample number."""
    found, first = dict[int, str](), 0
    for run in integration.runs:
        own = numbers[first : first + len(run.x)]
        broken = np.flatnonzero(~np.isnan(run.failed[: len(own), 0]))
        found |= {int(own[row]): explain_failure(run, int(row)) for row in broken}
        if _ended_all(run):
            found |= {int(number): str(run.failure) for number in own}
        first += len(run.x)
    if trajectory.failure and not found:
        found = {int(number): trajectory.failure for number in numbers}
    return found


# ---- metrics and histories -------------------------------------------------------------------------------------------
class Histories:
    """Quantities of all samples of a block by name, each computed once."""

    def __init__(self, rows: Rows, integration: Integration, trajectory: Trajectory, wanted: Iterable[str]) -> None:
        self.rows, self.pars, self.trajectory = rows, np.concatenate([run.pars for run in integration.runs]), trajectory
        self.runs = integration.runs
        self.found: dict[str, Floats] = {}
        outputs = rows.model.tables.outputs
        self.sweepable = [name for name in dict.fromkeys(wanted) if name in outputs and not outputs[name].problem]

    def __call__(self, name: str) -> Floats:
        """(samples, times), or (samples, times, size)."""
        if name not in self.found:
            self.found[name] = self._find(name)
        return self.found[name]

    def _find(self, name: str) -> Floats:
        model, state = self.rows.model, self.trajectory.state
        for names, values in ((model.names.q, state.q), (model.names.v, state.v), (model.names.wheels, state.wheels)):
            if name in names and name not in model.system.outputs:
                return np.asarray(values[..., list(names).index(name)])
        if name not in model.system.outputs:
            raise DescriptionError(unknown(model, name))
        if name in self.sweepable and not self.trajectory.spans:
            self.found |= self._swept()
            return self.found[name]
        return _narrow(self._derived(name))

    def _swept(self) -> dict[str, Floats]:
        """Outputs that a sweep computes: all of them, for all samples at each time, in lanes."""
        trajectory, model = self.trajectory, self.runs[0].model
        tables, lanes, (n, times, nx) = model.tables, trajectory.lanes or ONE, trajectory.x.shape
        places = [model.tables.outputs[name].places for name in self.sweepable]
        flat = np.array([place for some in places for place in some], np.int64)
        t, x, u, out = (np.zeros((n, m)) for m in (2, model.layout.nx, model.input_layout.nu, len(flat)))
        pars, found = group_parameters(self.pars, lanes), np.zeros((n, times, len(flat)))
        sweep = direct(partial(calls.measure, *linked(tables, pars, t, x, u, flat, out, workspace(tables, lanes))))
        for k in range(times):
            t[:], x[:, :nx] = trajectory.t[k], trajectory.x[:, k]
            sweep()
            raise_failure()
            found[:, k] = out
        ends = np.cumsum([len(some) for some in places])[:-1]
        return {name: _narrow(part) for name, part in zip(self.sweepable, np.split(found, ends, axis=2), strict=True)}

    def _derived(self, name: str) -> Floats:
        """Other outputs: sample by sample, each with its own model."""
        trajectory, found = self.trajectory, []
        for i in range(len(self.rows.numbers)):
            model, x = member_model(self.rows.model, self.rows.parameters, i), trajectory.x[i]
            sound = np.isfinite(x).all(axis=1)
            values = np.full((len(x), len(model.system.outputs[name].entries)), np.nan)
            u = np.zeros((len(x), model.input_layout.nu))
            u[:, model.input_layout.controls] = trajectory.u[i]
            values[sound] = measure(model, [name], trajectory.t[sound], x[sound], u[sound])[name]
            found.append(values)
        return np.array(found)


def _narrow(values: Floats) -> Floats:
    """(samples, times) for quantities with one component."""
    return values[..., 0] if values.shape[2] == 1 else values


def unknown(model: Any, name: str) -> str:
    known = [*model.system.outputs, *model.names.q, *model.names.v, *model.names.wheels]
    close = nearest(name, known) or "; take a coordinate, a speed, a wheel or an output of the system"
    return f"campaign: there is no quantity '{name}'{close}"


def _measure(campaign: Campaign, rows: Rows, integration: Integration, trajectory: Trajectory, found: BlockResult) -> None:
    """Metrics and stored histories of completed samples."""
    wanted = [*(name for metric in campaign.metrics for name in metric.names), *campaign.keep]
    history, places = Histories(rows, integration, trajectory, wanted), rows.numbers - found.first
    for j, metric in enumerate(campaign.metrics):
        if metric.function is not None:
            found.metrics[places, j] = [_call(metric, trajectory, i, found, number) for i, number in enumerate(rows.numbers)]
    good = found.status[places] == DONE
    with np.errstate(all="ignore"):
        for j, metric in enumerate(campaign.metrics):
            values = found.metrics[places, j] if metric.function is not None else metric.of(trajectory.t, history)
            found.metrics[places, j] = np.where(good, values, np.nan)
        for name, kept in found.histories.items():
            values = history(name)
            if values.ndim == 3:
                values = np.linalg.norm(values, axis=2)
            kept[np.ix_(places[good], np.arange(values.shape[1]))] = values[good][:, : kept.shape[1]]


def single(trajectory: Trajectory, i: int) -> Trajectory:
    """One sample of several, as a run by itself."""
    own = member_of(trajectory.parameters, slice(i, i + 1))
    return replace(trajectory, x=trajectory.x[i : i + 1], u=trajectory.u[i : i + 1], law_states=trajectory.law_states[i : i + 1],
                   batched=False, parameters=own or None, memory=None, events=trajectory.events[i : i + 1],
                   spans=trajectory.spans[i : i + 1])


def _call(metric: Metric, trajectory: Trajectory, i: int, found: BlockResult, number: int) -> float:
    """The value of a metric function for the Result of one sample; an error or a non-number marks the sample as failed."""
    if found.status[number - found.first] != DONE:
        return np.nan
    try:
        assert metric.function is not None
        value = metric.function(Result(single(trajectory, i), select_records(None, trajectory.model.system)))
    except Exception as error:
        _fail(found, [number], f"metric '{metric.name}': {_reason(error)}")
        return np.nan
    try:
        return float(value)
    except (TypeError, ValueError):
        _fail(found, [number], f"metric '{metric.name}': its function returned {value!r}; return a number")
        return np.nan
