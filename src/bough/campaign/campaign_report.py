"""The report of a campaign: text for a terminal, and a self-contained HTML file with figures."""
from __future__ import annotations

import base64
import html
import io
from collections.abc import Sequence
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from bough.campaign import statistics
from bough.campaign.metrics import Requirement
from bough.campaign.statistics import LEAST, quantiles, worst
from bough.campaign.store import Store
from bough.compile.layout import Floats
from bough.errors import StateError
from bough.whole import write_text

STRONGEST = 4  # parameters shown for a metric
WORST = 3  # runs
Table = tuple[str, list[str], list[list[str]]]  # title, heads, rows
STYLE = """body{font:15px/1.5 system-ui,sans-serif;max-width:62em;margin:2em auto;padding:0 1em;color:#1d2733}
table{border-collapse:collapse;margin:.5em 0 1.5em;display:block;overflow-x:auto}th,td{padding:.25em .9em;text-align:right;
border-bottom:1px solid #dde3ea}th:first-child,td:first-child{text-align:left}h1{font-size:1.5em}h2{font-size:1.15em;margin-top:2em}
img{max-width:100%}.met{color:#1a7f4b}.not{color:#b3261e}footer{color:#5a6775;font-size:.85em;margin-top:3em}"""


class Report:
    """The report on the samples of a store."""

    def __init__(self, store: Store) -> None:
        self.store, self.data, self.study = store, store.dataset(), store.facts["study"]
        self.parameters, self.metrics, self.histories = (statistics.named(self.data, role)
                                                         for role in ("parameter", "metric", "history"))
        self.failures, self.status = store.failures(), store.status()
        self.requirements = [Requirement(**each) for each in self.study.get("requirements", ())]
        self._strongest: dict[str, list[tuple[str, float]]] = {}

    @cached_property
    def values(self) -> dict[str, Any]:
        """Values of parameters and metrics by name, one for each sample."""
        return {name: self.data[name].values for name in (*self.parameters, *self.metrics)}

    @cached_property
    def verdicts(self) -> list[Any]:
        """Verdicts on the requirements."""
        return [statistics.verdict(each, self.values[self._metric(each.metric)], self.status > 0) for each in self.requirements]

    def _metric(self, name: str) -> str:
        return name if name in self.values else f"{name} metric"

    def strongest(self, metric: str) -> list[tuple[str, float]]:
        """Varying parameters, sorted by the magnitude of their rank correlation with a metric."""
        if metric not in self._strongest:
            table = np.column_stack([self.values[name] for name in self.parameters])
            found = statistics.rank_correlations(table, self.values[metric])
            order = np.argsort(-np.abs(np.nan_to_num(found)))
            self._strongest[metric] = [(self.parameters[i], float(found[i])) for i in order]
        return self._strongest[metric]

    def sobol(self, metric: str) -> dict[str, tuple[float, float]]:
        """First-order Sobol indices of a metric and their 95 % half widths (SALib); see `statistics.sobol_indices`."""
        varied = [name for name in self.parameters if np.ptp(self.values[name][self.status > 0]) > 0.0]
        table = np.column_stack([self.values[name] for name in varied])
        return statistics.sobol_indices(table, self.values[metric], varied)

    def total(self, metric: str) -> dict[str, tuple[float, float, float, float]]:
        """First-order and total Sobol indices of a metric, each with its half width, of a saltelli design (SALib)."""
        if self.study["design"] != "saltelli":
            raise StateError(f"total: the design is {self.study['design']}; total Sobol indices need samples of design='saltelli'")
        return statistics.total_indices(self.values[metric], self.parameters)

    def limits(self, metric: str) -> list[float]:
        """Limits of a metric from requirements."""
        return [limit for each in self._required(metric) for limit in (each.below, each.above) if limit is not None]

    def missed(self, metric: str) -> Any:
        """(samples,): whether a requirement on a metric is missed."""
        met = (each.met(self.values[metric]) for each in self._required(metric))
        return ~np.all([np.ones(self.store.samples, bool), *met], axis=0)

    def _required(self, metric: str) -> list[Requirement]:
        return [each for each in self.requirements if self._metric(each.metric) == metric]

    def label(self, name: str) -> str:
        """Axis label."""
        unit = self.data[name].attrs.get("units", "")
        return f"{name} [{unit}]" if unit else name

    # ---- as text ---------------------------------------------------------------------------------------------------------
    @property
    def heading(self) -> str:
        """Title: the campaign, its samples and failures."""
        done, failed = int((self.status > 0).sum()), int((self.status == 2).sum())
        return (f"{self.study['name']}: {done:,} of {self.store.samples:,} samples ({self.study['design']}, seed "
                f"{self.study['seed']}), {failed:,} failed")

    def tables(self) -> list[Table]:
        """Title, heads and rows of each."""
        shares = [f"{100 * each.share:g} %" for each in quantiles(np.zeros(1))]
        beside = ["most", "then", "third", "fourth"][: min(STRONGEST, len(self.parameters))]
        summary = ["metric", "unit", "runs", "mean", "sigma", "smallest", "largest"]
        found: list[Table] = [
            ("Requirements", ["requirement", "share", "95 % interval", "verdict"],
             [[str(each.requirement), f"{each.met}/{each.samples}", f"{each.low:.4f} ... {each.high:.4f}", each.text]
              for each in self.verdicts]),
            ("Metrics", summary, [self._metric_row(name) for name in self.metrics]),
            ("Percentiles and their 95 % intervals", ["metric", *shares],
             [[name, *(f"{each.value:.5g} ({_end(each.low)} ... {_end(each.high)})" for each in quantiles(self.values[name]))]
              for name in self.metrics]),
            ("What matters (rank correlation)", ["metric", *beside],
             [[name, *(f"{which} {r:+.2f}" for which, r in self.strongest(name)[:STRONGEST])] for name in self.metrics]),
            ("What matters (Sobol, first order)", ["metric", *beside, "together"], self._sobol_rows()),
            ("What matters (Sobol, first order and total)", ["metric", "varies", "first order", "total"], self._total_rows()),
            ("Worst runs", ["metric", "rank", "sample", "value", *beside],
             [self._worst_row(name, rank, i) for name in self.metrics for rank, i in enumerate(self.worst(name), 1)]),
            ("Failures", ["reason", "samples", "first"],
             [[text, str(n), str(i)] for text, n, i in statistics.causes(self.failures)]),
        ]
        return [(title, heads, rows) for title, heads, rows in found if rows]

    def _sobol_rows(self) -> list[list[str]]:
        """Empty if SALib is not installed, or the samples are too few or not random."""
        found = []
        if self.study["design"] not in ("random", "latin-hypercube", "sobol"):
            return []
        for name in self.metrics:
            if np.isfinite(self.values[name]).sum() < LEAST or not self._spread(name) > 0.0:
                continue
            try:
                indices = self.sobol(name)
            except StateError:
                return []
            cells = [""] * min(STRONGEST, len(self.parameters))
            for i, (which, (s, c)) in enumerate(sorted(indices.items(), key=lambda item: -item[1][0])[: len(cells)]):
                cells[i] = f"{which} {s:.2f} ± {c:.2f}"
            found.append([name, *cells, f"{sum(s for s, _ in indices.values()):.2f}"])
        return found

    def _spread(self, name: str) -> float:
        """Between the largest and the smallest value."""
        values = self.values[name][np.isfinite(self.values[name])]
        return float(np.ptp(values)) if len(values) else 0.0

    def _total_rows(self) -> list[list[str]]:
        """Rows for a saltelli design."""
        found = []
        for name in self.metrics if self.study["design"] == "saltelli" else ():
            if not self._spread(name) > 0.0:
                continue
            try:
                indices = self.total(name)
            except StateError:
                continue
            for which, (s, ds, t, dt) in sorted(indices.items(), key=lambda item: -item[1][2]):
                found.append([name, which, f"{s:.2f} ± {ds:.2f}", f"{t:.2f} ± {dt:.2f}"])
        return found

    def worst(self, metric: str, count: int = WORST) -> list[int]:
        """Samples with the worst values of a metric, the worst first: the largest ones; the smallest, if it is required to be above
        a limit; the nearest to the limits or beyond them, if there are two."""
        values = self.values[metric]
        excess = [sign * (values - limit) for each in self._required(metric)
                  for sign, limit in ((1.0, each.below), (-1.0, each.above)) if limit is not None]
        return statistics.worst(np.max(excess, axis=0) if excess else values, count)

    def _worst_row(self, name: str, rank: int, i: int) -> list[str]:
        strong = [f"{which} {self.values[which][i]:.5g}" for which, _ in self.strongest(name)[:STRONGEST]]
        return [name, str(rank), str(i), f"{self.values[name][i]:.5g}", *strong]

    def __str__(self) -> str:
        lines = [self.heading]
        for title, heads, rows in self.tables():
            table = [heads, *rows]
            widths = [max(len(row[k]) for row in table) for k in range(len(heads))]
            lines += ["", title]
            lines += ["  ".join(f"{cell:<{w}}" for cell, w in zip(row, widths, strict=True)).rstrip() for row in table]
        return "\n".join(lines)

    def _metric_row(self, name: str) -> list[str]:
        values = self.values[name][np.isfinite(self.values[name])]
        what = [values.mean(), values.std(), values.min(), values.max()] if len(values) else [np.nan] * 4
        return [name, self.data[name].attrs.get("units", ""), f"{len(values):,}", *(f"{each:.5g}" for each in what)]

    # ---- as a page -------------------------------------------------------------------------------------------------------
    def write(self, path: str | PathLike[str]) -> Path:
        """Write a self-contained HTML file."""
        path = Path(path)
        parts = ["<!doctype html><html lang='en'><meta "
                 f"charset='utf-8'><title>{html.escape(self.study['name'])}</title><style>{STYLE}</style>",
                 f"<h1>{html.escape(self.heading)}</h1>"]
        for title, heads, rows in self.tables():
            parts.append(f"<h2>{html.escape(title)}</h2>{_table(heads, rows)}")
        for title, figure in self.figures():
            parts.append(f"<h2>{html.escape(title)}</h2><img alt='{html.escape(title)}' src='data:image/png;base64,{png(figure)}'>")
        parts.append("<footer>A sample by itself, with plots and a replay: <code>bough campaign FILE --rerun NUMBER</code>. All "
                     f"samples: <code>bough.open_campaign({html.escape(repr(str(self.store.path)))})</code></footer>")
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, "\n".join(parts))
        return path

    def figures(self) -> list[tuple[str, Any]]:
        """Titles and figures."""
        found = [("Distributions of the metrics", histograms(self))] if self.metrics else []
        some = [name for name in self.metrics if np.isfinite(self.values[name]).any()]
        found += [(f"{name} and what matters most to it", scatter_matrix(self, name, STRONGEST - 1)) for name in some]
        ran = bool((self.status == 1).any())
        return found + [(f"{name}: all runs", band(self, name)) for name in self.histories if ran]


def _end(value: float) -> str:
    """An end of an interval; unknown for rare values if there are few runs."""
    return f"{value:.5g}" if np.isfinite(value) else "?"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    kind = {"met": " class='met'", "not met": " class='not'"}
    head = "".join(f"<th>{html.escape(each)}</th>" for each in heads)
    body = "".join("<tr>" + "".join(f"<td{kind.get(cell, '')}>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><tr>{head}</tr>{body}</table>"


# ---- figures: distributions, sensitivities, bands over time, the worst runs; large sets of samples are thinned -------------
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
