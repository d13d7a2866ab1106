"""Figures as a grid of panels: which coordinates share one, curves over time, a legend at the right of each row.

Sizes are in inches, so that a panel looks the same in a figure of one row and in one of twelve.
"""

import warnings
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FormatStrFormatter, LogFormatterSciNotation, LogLocator, MaxNLocator, NullLocator

from bough.describe import Body, Joint, System
from bough.figure_style import COLORS, PANEL_TITLE, dress
from bough.results.recorded_parts import Array

MOST_CURVES = 8  # of a group


class Group(NamedTuple):
    """Entries of q and of v that share a panel: one unit, one limb, one joint or one body's modes."""

    title: str
    q: list[int]
    v: list[int]
    labels: list[str]
    kind: str  # "translation", "angle", "quaternion" or "modes"


def groups(system: System) -> list[Group]:
    """All coordinates: single joints of a limb together, translations and rotations of other joints separately, modes in eights."""
    children = Counter(body.parent for body in system.bodies.values())
    found: list[Group] = []
    tips: dict[str, Group] = {}                           # the last body of each open limb, and its panel
    q = v = 0
    for name, body in system.bodies.items():
        joint, title = body.joint, body.joint.name or name
        if joint.n_v == 1:
            kind = "translation" if joint.translations else "angle"
            limb = tips.get(body.parent or "") if children[body.parent] == 1 else None
            if limb is None or limb.kind != kind or len(limb.q) >= MOST_CURVES:
                limb = Group(title, [], [], [], kind)
                found.append(limb)
            limb.q.append(q)
            limb.v.append(v)
            limb.labels.append(title)
            tips[name] = limb
        else:
            found += _of_joint(title, joint, q, v)
        found += _of_modes(body, q + joint.n_q, v + joint.n_v)
        q, v = q + body.n_q, v + body.n_v
    return found


def _of_joint(title: str, joint: Joint, q: int, v: int) -> list[Group]:
    found, moves = [], len(joint.translations)
    if moves:
        found.append(Group(title, [*range(q, q + moves)], [*range(v, v + moves)], list(joint.q_labels[:moves]), "translation"))
    if joint.n_v > moves:
        kind = "quaternion" if joint.spherical else "angle"
        labels = list("xyzw") if joint.spherical else list(joint.q_labels[moves:])
        found.append(Group(title, [*range(q + moves, q + joint.n_q)], [*range(v + moves, v + joint.n_v)], labels, kind))
    return found


def _of_modes(body: Body, q: int, v: int) -> list[Group]:
    found = []
    for first in range(0, body.n_modes, MOST_CURVES):
        some = range(first, min(first + MOST_CURVES, body.n_modes))
        hertz = {r: body.elastic.frequencies[r] for r in some}
        labels = [f"mode {r + 1}, {f'{hertz[r]:.3g}' if hertz[r] < 999.5 else f'{hertz[r]:.0f}'} Hz" for r in some]
        found.append(Group(body.name, [q + r for r in some], [v + r for r in some], labels, "modes"))
    return found


# ---- panels --------------------------------------------------------------------------------------------------------------
WIDTH, HEIGHT, GAP = 4.6, 1.65, 0.62  # of a panel; GAP between rows
LEFT, RIGHT, TOP, BOTTOM, BETWEEN = 0.85, 1.5, 0.72, 0.6, 0.95
SECOND_LINE = 0.16  # of a title
MOST_ROWS = 12
LONGEST_LABEL = 18
MOST_SAMPLES = 4000  # of a curve that is drawn as it is: several for each dot of a panel


class Panel(NamedTuple):
    """Curves of one unit over time: values ([run,] time, curve)."""

    title: str
    unit: str
    values: Array
    dashed: tuple[int, ...] = ()
    log: bool = False  # a logarithmic axis, for nonnegative quantities


class PanelRow(NamedTuple):
    """Panels side by side (None: an empty place) whose curves share their colors and one legend."""

    panels: Sequence[Panel | None]
    labels: Sequence[str]


def draw(title: str, time: Array, sections: Sequence[Sequence[PanelRow]], *, batched: bool = False) -> Figure:
    """A figure of sections of rows; sections with many rows are cut, as the title says."""
    for section in sections:
        if len(section) > MOST_ROWS:
            title += f" (the first {MOST_ROWS} of {len(section)} rows)"
    shown = [row for section in sections for row in section[:MOST_ROWS]]
    if batched:
        title += "\nline: median of the runs, band: least to greatest"
    top = TOP + SECOND_LINE * batched
    columns = max(len(row.panels) for row in shown)
    width = LEFT + columns * WIDTH + (columns - 1) * BETWEEN + RIGHT
    height = top + len(shown) * HEIGHT + (len(shown) - 1) * GAP + BOTTOM
    figure = Figure(figsize=(width, height), dpi=110)
    figure.suptitle(title, x=LEFT / width, y=1 - 0.16 / height, ha="left", va="top", fontsize=11, fontweight="bold")
    for i, row in enumerate(shown):
        bottom = height - top - (i + 1) * HEIGHT - i * GAP
        axes = []
        for j, panel in enumerate(row.panels):
            if panel is None:
                continue
            left = LEFT + j * (WIDTH + BETWEEN)
            axes.append(figure.add_axes((left / width, bottom / height, WIDTH / width, HEIGHT / height)))
            _draw_panel(axes[-1], time, panel, batched, last=i == len(shown) - 1)
        _legend(axes, row.labels)
    return figure


def _draw_panel(axes: Axes, time: Array, panel: Panel, batched: bool, *, last: bool) -> None:
    power = 0 if panel.log else _power(panel.values)
    number = f"1e{power}" if power else ""
    _dress(axes, panel.title, number if panel.unit == "1" and power else f"{number} {panel.unit}".strip(), last)
    values = panel.values / 10.0**power
    for i in range(values.shape[-1]):
        curve, color = values[..., i], COLORS[i % len(COLORS)]
        style = "--" if i in panel.dashed else "-"
        if batched:
            with warnings.catch_warnings(action="ignore", category=RuntimeWarning):     # NaN in all runs: no curve
                low, high, curve = (reduce(curve, axis=0) for reduce in (np.nanmin, np.nanmax, np.nanmedian))
            times, low = thinned(time, low)
            axes.fill_between(times, low, thinned(time, high)[1], color=color, alpha=0.18, lw=0)
        axes.plot(*thinned(time, curve), style, color=color, linewidth=1.1)
    if len(time) > 1:
        axes.set_xlim(time[0], time[-1])                                    # also where values are NaN at first or at last
    if panel.log and (values > 0).any():
        _set_decades(axes, values[values > 0])
    else:
        _flatten_rounding(axes, values)


def thinned(time: Array, curve: Array) -> tuple[Array, Array]:
    """A long history thinned without visible change: minimum and maximum of each short interval.

    >>> times, values = thinned(np.arange(10_000.0), np.arange(10_000.0) % 10)
    >>> len(times) == len(values) == MOST_SAMPLES, values.min(), values.max()
    (True, np.float64(0.0), np.float64(9.0))
    """
    if len(time) <= MOST_SAMPLES:
        return time, curve
    starts = np.linspace(0, len(time), MOST_SAMPLES // 2, endpoint=False).astype(int)
    extremes = np.stack([np.fmin.reduceat(curve, starts), np.fmax.reduceat(curve, starts)], axis=1)
    ends = np.append(starts[1:], len(time)) - 1
    return np.stack([time[starts], time[ends]], axis=1).ravel(), extremes.ravel()


def _dress(axes: Axes, title: str, unit: str, last: bool) -> None:
    """Title, labels, ticks, at fixed places: finding them would take matplotlib half of the drawing time."""
    dress(axes, "", "time [s]" if last else "", f"[{unit or '-'}]")
    axes.set_title(title, loc="left", fontsize=PANEL_TITLE, y=1.03, pad=0)
    axes.tick_params(labelbottom=last)
    axes.yaxis.set_label_coords(-0.115, 0.5)
    axes.xaxis.set_label_coords(0.5, -0.17)
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.yaxis.set_major_locator(MaxNLocator(4, steps=(1, 2, 2.5, 5, 10)))
    axes.yaxis.set_major_formatter(FormatStrFormatter("%.5g"))
    axes.margins(x=0)


def _power(values: Array) -> int:
    """The exponent of the axis unit, a multiple of 3; 0 for moderate numbers."""
    size = np.nanmax(np.abs(values), initial=0.0)
    if not np.isfinite(size) or size == 0.0 or 1e-2 <= size < 1e5:
        return 0
    return 3 * int(np.floor(np.log10(size) / 3))


def _flatten_rounding(axes: Axes, values: Array) -> None:
    """Draw a quantity that is constant to rounding as a straight line."""
    finite = values[np.isfinite(values)]
    if finite.size == 0:
        return
    size, middle = np.abs(finite).max(), finite.mean()
    if np.ptp(finite) <= 1e-12 * size:
        margin = 0.5 * size or 1.0
        axes.set_ylim(middle - margin, middle + margin)


def _set_decades(axes: Axes, positive: Array) -> None:
    """A logarithmic axis of whole decades, at least two; zeros are below it."""
    first, last = int(np.floor(np.log10(positive.min()))), int(np.ceil(np.log10(positive[np.isfinite(positive)].max())))
    axes.set_yscale("log", nonpositive="clip")
    axes.set_ylim(10.0**first, 10.0 ** max(last, first + 2))
    axes.yaxis.set_major_locator(LogLocator(numticks=6))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(LogFormatterSciNotation())


def _legend(axes: Sequence[Axes], labels: Sequence[str]) -> None:
    """At the right of the row, with the curves of the panel that has most of them."""
    if len(labels) < 2:
        return
    fullest = max(axes, key=lambda panel: len(panel.lines))
    axes[-1].legend(fullest.lines, [_short(label) for label in labels], loc="upper left", bbox_to_anchor=(1.02, 1.04), fontsize=7.5,
                    frameon=False, borderaxespad=0.0, handlelength=1.4, labelspacing=0.3)


def _short(label: str) -> str:
    return label if len(label) <= LONGEST_LABEL else f"{label[: LONGEST_LABEL - 1]}…"
