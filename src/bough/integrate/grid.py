"""When things happen: samples, jumps of the loads, updates of a Python controller."""
from dataclasses import dataclass

import numpy as np

from bough.compile.state_layout import Floats
from bough.errors import StateError

DEFAULT_SAMPLES = 100


@dataclass(frozen=True)
class Grid:
    samples: Floats         # times to record, from 0 to the end
    breaks: Floats          # times at which steps must end besides: of the loads, of control updates; last, the end
    updates: Floats         # those at which a Python controller is asked again, 0 among them

    def segments(self, dt: float, start: float, stop: float) -> Floats:
        """Rows start, end, steps, sample (-1: none), first and last step that lead from start to stop; every sample and break is
        an end."""
        ends = np.union1d(self.samples[1:], self.breaks)
        ends = np.append(ends[(ends > start) & (ends < stop)], stop)
        starts = np.concatenate([[start], ends[:-1]])
        steps = np.maximum(1, np.ceil((ends - starts)/dt*(1.0 - 1e-9)))
        sample = np.searchsorted(self.samples, ends)
        is_sample = self.samples[np.minimum(sample, len(self.samples) - 1)] == ends
        return np.column_stack([starts, ends, steps, np.where(is_sample, sample, -1), np.zeros(len(ends)), steps])


def build_grid(until: float, sample_rate: float | None, step: float | None, breaks: Floats,
               control_period: float | None) -> Grid:
    """`step`: of a method with fixed steps; without a sample rate every so many steps are recorded, at most a hundred."""
    samples = sample_times(positive("until", until, "the end time in seconds"), sample_rate, step)
    ends = np.append(breaks[(breaks > 0.0) & (breaks < until)], until)
    updates = np.zeros(1)
    if control_period is not None:
        period = positive("control_period", control_period, "the seconds between two calls")
        updates = period*np.arange(int(np.ceil(until/period*(1 - 1e-12))), dtype=float)
    return Grid(samples, merge_close(np.union1d(ends, updates[1:]), samples), merge_close(updates, samples))


def sample_times(until: float, sample_rate: float | None, step: float | None) -> Floats:
    if sample_rate is not None:
        period = 1.0/positive("sample_rate", sample_rate, "samples a second")
        samples = np.arange(int(np.floor(until/period*(1.0 + 1e-12))) + 1)*period
    elif step is not None:
        steps = max(1, int(np.ceil(until/step*(1.0 - 1e-9))))
        every = int(np.ceil(steps/DEFAULT_SAMPLES))
        samples, period = np.arange(0, steps + 1, every)*step, every*step
        samples = samples[samples < until*(1.0 + 1e-9)]
    else:
        samples, period = until*np.arange(DEFAULT_SAMPLES + 1)/DEFAULT_SAMPLES, until/DEFAULT_SAMPLES
    if until - samples[-1] > 1e-9*period:
        samples = np.append(samples, until)
    samples[-1] = until
    return np.asarray(samples, np.float64)


def positive(name: str, value: object, what: str) -> float:
    """A finite number greater than 0, or an error that says what was meant."""
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise StateError(f"{name} is {value!r}; give {what}, a number greater than 0") from None
    if not (np.isfinite(number) and number > 0.0):
        raise StateError(f"{name} is {value}; give {what}, greater than 0")
    return number


def merge_close(breaks: Floats, samples: Floats) -> Floats:
    """Breaks that differ from a sample only by rounding become that sample."""
    near = np.clip(np.searchsorted(samples, breaks), 1, len(samples) - 1)
    left, right = samples[near - 1], samples[near]
    best = np.where(np.abs(breaks - left) < np.abs(breaks - right), left, right)
    return np.unique(np.where(np.abs(breaks - best) <= 1e-12*max(samples[-1], 1e-300), best, breaks))
