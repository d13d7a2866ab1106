"""When things happen: samples, jumps of the loads, updates of a Python controller."""
from dataclasses import dataclass

import numpy as np

from bough.errors import StateError

DEFAULT_SAMPLES = 100


@dataclass(frozen=True)
class Grid:
    samples: np.ndarray         # times to record, from 0 to the end
    breaks: np.ndarray          # times at which steps must end, besides the samples: jumps and control updates; last, the end

    def segments(self, dt: float) -> np.ndarray:
        """Rows start, end, steps, sample (-1: none) that lead from 0 to the end; every sample and break is an end."""
        ends = np.union1d(self.samples[1:], self.breaks)
        starts = np.concatenate([[0.0], ends[:-1]])
        steps = np.maximum(1, np.ceil((ends - starts)/dt*(1.0 - 1e-9)))
        sample = np.searchsorted(self.samples, ends)
        is_sample = self.samples[np.minimum(sample, len(self.samples) - 1)] == ends
        return np.column_stack([starts, ends, steps, np.where(is_sample, sample, -1)])


def build_grid(until: float, rate: float | None, jumps: np.ndarray, control_period: float | None) -> Grid:
    if not (np.isfinite(until) and until > 0.0):
        raise StateError(f"until is {until}; give the end time in seconds, greater than 0")
    if rate is not None and not (np.isfinite(rate) and rate > 0.0):
        raise StateError(f"rate is {rate}; give samples a second, greater than 0")
    n = DEFAULT_SAMPLES if rate is None else int(np.floor(until*rate*(1.0 + 1e-12)))
    period = until/n if rate is None else 1.0/rate
    samples = until*np.arange(n + 1)/n if rate is None else np.arange(n + 1)*period
    if until - samples[-1] > 1e-9*period:
        samples = np.append(samples, until)
    samples[-1] = until
    breaks = np.append(jumps[(jumps > 0.0) & (jumps < until)], until)
    if control_period is not None:
        if not control_period > 0.0:
            raise StateError(f"control_period is {control_period}; give seconds between two calls, greater than 0")
        breaks = np.union1d(breaks, np.arange(1, int(np.ceil(until/control_period*(1 - 1e-12))))*control_period)
    return Grid(samples, merge_close(breaks, samples))


def merge_close(breaks: np.ndarray, samples: np.ndarray) -> np.ndarray:
    """Breaks that differ from a sample only by rounding become that sample."""
    near = np.clip(np.searchsorted(samples, breaks), 1, len(samples) - 1)
    left, right = samples[near - 1], samples[near]
    best = np.where(np.abs(breaks - left) < np.abs(breaks - right), left, right)
    return np.unique(np.where(np.abs(breaks - best) <= 1e-12*max(samples[-1], 1e-300), best, breaks))
