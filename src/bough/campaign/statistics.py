"""Statistics of the samples of a campaign: percentiles with confidence intervals, probabilities, sensitivities, the worst runs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from bough.campaign.metrics import Requirement
from bough.errors import StateError

if TYPE_CHECKING:
    import xarray

    from bough.compile.layout import Floats

SHARES = (0.01, 0.05, 0.5, 0.95, 0.99)
CONFIDENCE = 0.95
FEWEST = 16  # groups of a saltelli design
LEAST, MOST = 100, 20_000  # samples that Sobol's indices need, and that they are found from at most


@dataclass(frozen=True)
class Quantile:
    """A percentile of a metric, and its distribution-free confidence interval."""

    share: float
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Verdict:
    """The share of samples that meet a requirement, and the confidence interval of its probability."""

    requirement: Requirement
    met: int
    samples: int
    low: float
    high: float

    @property
    def share(self) -> float:
        return self.met / self.samples

    @property
    def text(self) -> str:
        wanted = self.requirement.probability
        if self.low >= wanted or (wanted == 1.0 and self.met == self.samples):
            return "met"
        return "not met" if self.high < wanted else "open: take more samples"


def quantiles(values: Floats, shares: Sequence[float] = SHARES, confidence: float = CONFIDENCE) -> list[Quantile]:
    """Percentiles of completed runs; confidence intervals by order statistics (binomial)."""
    from scipy.stats import binom

    ordered = np.sort(values[np.isfinite(values)])
    n, found = len(ordered), []
    if not n:
        return [Quantile(share, np.nan, np.nan, np.nan) for share in shares]
    for share in shares:
        low, high = binom.ppf([(1 - confidence) / 2, (1 + confidence) / 2], n, share)
        ends = [ordered[int(low) - 1] if low >= 1 else -np.inf, ordered[int(high)] if high < n else np.inf]
        found.append(Quantile(share, float(np.quantile(ordered, share)), float(ends[0]), float(ends[1])))
    return found


def verdict(requirement: Requirement, values: Floats, ran: Any, confidence: float = CONFIDENCE) -> Verdict:
    """The verdict on all runs; with the Clopper-Pearson interval."""
    from scipy.stats import beta

    met, n = int(requirement.met(values[ran]).sum()), int(ran.sum())
    tail = (1 - confidence) / 2
    low = float(beta.ppf(tail, met, n - met + 1)) if met else 0.0
    high = float(beta.ppf(1 - tail, met + 1, n - met)) if met < n else 1.0
    return Verdict(requirement, met, n, low, high)


def rank_correlations(parameters: Floats, values: Floats) -> Floats:
    """Spearman's correlations of a metric with each parameter (n, parameters); NaN for constant ones."""
    from scipy.stats import rankdata

    good = np.isfinite(values)
    if good.sum() < 3:
        return np.full(parameters.shape[1], np.nan)
    x, y = rankdata(parameters[good], axis=0), rankdata(values[good])
    x, y = x - x.mean(axis=0), y - y.mean()
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(x.T @ y / np.sqrt((x**2).sum(axis=0) * (y**2).sum()))


def _salib(method: str) -> Any:
    try:
        return import_module(f"SALib.analyze.{method}")
    except ImportError:
        raise StateError("sensitivity by Sobol's indices needs SALib, which is not installed; pip install "
                         "'bough[campaign]'") from None


def sobol_indices(parameters: Floats, values: Floats, names: Sequence[str]) -> dict[str, tuple[float, float]]:
    """First-order Sobol indices and their 95 % half widths, by SALib from any random samples (RBD-FAST): the share of a metric's
    variance that each parameter explains alone."""
    rbd_fast = _salib("rbd_fast")
    good = np.flatnonzero(np.isfinite(values))
    if len(good) < LEAST:
        raise StateError(f"there are {len(good)} samples; Sobol's indices need {LEAST} or more")
    good = good[:: -(-len(good) // MOST)]
    bounds = [[float(column.min()), float(column.max())] for column in parameters[good].T]
    problem = {"num_vars": len(names), "names": list(names), "bounds": bounds}
    found = rbd_fast.analyze(problem, parameters[good], values[good], seed=0)
    return {name: (float(s), float(c)) for name, s, c in zip(names, found["S1"], found["S1_conf"], strict=True)}


def total_indices(values: Floats, names: Sequence[str]) -> dict[str, tuple[float, float, float, float]]:
    """Sobol indices of a saltelli design, by SALib: for each parameter the first-order index and the total one, which includes
    interactions; each with its 95 % half width."""
    sobol = _salib("sobol")
    groups = values.reshape(-1, len(names) + 2)
    whole = groups[np.isfinite(groups).all(axis=1)]
    if len(whole) < FEWEST:
        raise StateError(f"there are {len(whole)} groups of {len(names) + 2} samples that all ran; Sobol's indices need {FEWEST}")
    problem = {"num_vars": len(names), "names": list(names), "bounds": [[0.0, 1.0]] * len(names)}
    found = sobol.analyze(problem, whole.reshape(-1), calc_second_order=False, seed=0)
    columns = [found[key].tolist() for key in ("S1", "S1_conf", "ST", "ST_conf")]
    return {name: (s, ds, t, dt) for name, s, ds, t, dt in zip(names, *columns, strict=True)}


def worst(values: Floats, count: int = 5) -> list[int]:
    """Numbers of the samples with the largest values."""
    good = np.flatnonzero(np.isfinite(values))
    return [int(i) for i in good[np.argsort(values[good])][::-1][:count]]


def causes(failures: dict[int, str]) -> list[tuple[str, int, int]]:
    """Reasons of failures: text, number of samples with the same text except for numbers, and the first of them."""
    alike = {number: re.sub(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?", "...", text) for number, text in failures.items()}
    first: dict[str, int] = {}
    for number, text in sorted(alike.items()):
        first.setdefault(text, number)
    return [(failures[first[text]], count, first[text]) for text, count in Counter(alike.values()).most_common()]


def named(data: xarray.Dataset, role: str) -> list[str]:
    """Parameters, metrics or histories of a campaign's dataset."""
    return [str(name) for name, array in data.data_vars.items() if array.attrs.get("role") == role]
