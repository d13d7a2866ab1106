"""Figures of a campaign: distributions, sensitivities, bands over time, the worst runs. Large sets of samples are thinned."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bough.campaign.statistics import worst

if TYPE_CHECKING:
    from bough.campaign.campaign_report import Report
    from bough.compile.layout import Floats

BLUE, DARK, RED = "#4878a8", "#1d4f7c", "#b3261e"
DRAWN = 5000  # points of a scatter plot at most
NUMBERS = 5_000_000  # of histories for bands: 40 MB
BANDS = (0.01, 0.25, 0.5, 0.75, 0.99)


def histograms(report: Report) -> Any:
    """Histograms of all metrics, with the limits of requirements."""
    figure, grid = _figure(len(report.metrics))
    for axes, name in zip(grid, report.metrics, strict=False):
        values = report.values[name][np.isfinite(report.values[name])]
        axes.hist(values, bins=min(60, max(8, int(np.sqrt(len(values))))), color=BLUE)
        for limit in report.limits(name):
            axes.axvline(limit, color=RED, lw=1.2)
        axes.set(xlabel=report.label(name), ylabel="runs")
    return figure


def scatter_matrix(report: Report, metric: str, count: int) -> Any:
    """Scatter plots of a metric and its most influential parameters; violations of requirements in red."""
    from matplotlib.figure import Figure

    names = [*(name for name, _ in report.strongest(metric)[:count]), metric]
    rows = np.flatnonzero(np.isfinite(report.values[metric]))
    rows = rows[:: -(-len(rows) // DRAWN) or 1]
    missed = report.missed(metric)[rows]
    figure = Figure(figsize=(9.0, 1.2 + 1.3 * len(names)), layout="constrained", dpi=110)
    grid = np.array(figure.subplots(len(names), len(names), sharex="col")).reshape(len(names), len(names))
    for i, down in enumerate(names):
        for j, across in enumerate(names):
            axes, x, y = grid[i, j], report.values[across][rows], report.values[down][rows]
            if j > i:
                axes.set_visible(False)
            elif i == j:
                axes.hist(x, bins=30, color=BLUE)
                axes.set_yticks([])
            else:
                for some, color in ((~missed, BLUE), (missed, RED)):
                    axes.plot(x[some], y[some], ".", ms=2, alpha=0.5, color=color, rasterized=True)
            axes.tick_params(labelsize=7, labelleft=j == 0 and i > 0, labelbottom=i == len(names) - 1)
            axes.locator_params(axis="x", nbins=3)
            if i == len(names) - 1:
                axes.set_xlabel(report.label(across), fontsize=8)
            if j == 0:
                axes.set_ylabel(report.label(down) if i else "", fontsize=8)
    return figure


def band(report: Report, name: str) -> Any:
    """Percentiles of a history over time, and the runs with the largest peaks."""
    figure, [axes] = _figure(1)
    t, history = report.data["time"].values, report.data[name]
    farthest = worst(_peaks(history), 3)
    step = max(1, -(-history.size // NUMBERS))
    y = history[::step].values
    with np.errstate(all="ignore"):
        low, quarter, middle, three, high = np.nanquantile(y[np.isfinite(y).any(axis=1)], BANDS, axis=0)
    axes.fill_between(t, low, high, alpha=0.25, color=BLUE, lw=0, label="98 % of the runs")
    axes.fill_between(t, quarter, three, alpha=0.45, color=BLUE, lw=0, label="half of them")
    axes.plot(t, middle, color=DARK, label="median")
    for i, style in zip(farthest, ("-", "--", ":"), strict=False):
        axes.plot(t, history[i].values, color=RED, lw=0.8, ls=style, label=f"run {i}")
    axes.set(xlabel="time [s]", ylabel=report.label(name))
    axes.legend(fontsize="small")
    return figure


def _peaks(history: Any) -> Floats:
    """The largest absolute value of each run, read in parts."""
    n, times = history.shape
    part, found = max(1, NUMBERS // max(1, times)), np.full(n, np.nan)
    for first in range(0, n, part):
        some = np.abs(history[first : first + part].values)
        largest = np.nan_to_num(some, nan=-np.inf).max(axis=1)
        found[first : first + part] = np.where(np.isfinite(largest), largest, np.nan)
    return found


def _figure(count: int) -> tuple[Any, Sequence[Any]]:
    from matplotlib.figure import Figure

    columns = min(2, max(1, count))
    rows = -(-max(1, count) // columns)
    figure = Figure(figsize=(9.0, 3.0 * rows if count > 1 else 3.6), layout="constrained", dpi=110)
    grid = np.atleast_1d(figure.subplots(rows, columns)).reshape(-1)
    for axes in grid[max(1, count) :]:
        axes.set_visible(False)
    return figure, list(grid)


def png(figure: Any) -> str:
    """A figure as base64 text of a PNG."""
    stream = io.BytesIO()
    figure.savefig(stream, format="png")
    return base64.b64encode(stream.getvalue()).decode()
