"""A figure of modes: their eigenvalues, and the participation in each."""

from os import PathLike

import numpy as np
from matplotlib.figure import Figure

from bough.analyze.linear.system_modes import Modes
from bough.figure_style import COLORS, written

MOST, FEWEST = 24, 3  # modes that are drawn; rows of a table of shares


def plot_modes(modes: Modes, path: str | PathLike[str] | None = None) -> Figure:
    """Draw the eigenvalues, and the shares of joints and bodies in the slowest modes; see `Modes.plot`."""
    n = min(len(modes.eigenvalues), MOST)
    rows = max(len(modes.joints), len(modes.bodies), FEWEST)
    figure = Figure(figsize=(5.2 + 0.62 * 2 * max(n, 4), max(3.6, 1.6 + 0.26 * rows)), dpi=110, layout="constrained")
    figure.suptitle(f"{modes.model.system.name}: {len(modes.eigenvalues)} modes, {modes.rigid} rigid-body modes", x=0.01,
                    ha="left", fontsize=11, fontweight="bold")
    left, middle, right = figure.subplots(1, 3, width_ratios=[4.0, 0.62 * max(n, 4), 0.62 * max(n, 4)])
    values = modes.eigenvalues[:n]
    left.axvline(0.0, color="0.6", linewidth=0.8)
    grows = values.real > 1e-7 * np.abs(values)
    for chosen, color, label in ((~grows, COLORS[0], "decays or oscillates"), (grows, COLORS[6], "grows")):
        if chosen.any():
            shown = values[chosen] / (2 * np.pi)
            left.plot(shown.real, np.abs(shown.imag), "x", color=color, label=label)
    left.set(xlabel="real part / 2π [Hz]", ylabel="imaginary part / 2π [Hz]", title="eigenvalues")
    widest = float(np.abs(values).max(initial=0.0)) / (2 * np.pi)
    if np.abs(values.real).max(initial=0.0) < 1e-7 * widest * 2 * np.pi:  # undamped: do not magnify rounding
        left.set_xlim(-0.1 * widest, 0.1 * widest)
    swinging = modes.damped_frequencies[:n][modes.damped_frequencies[:n] > 0]
    if len(swinging) and swinging.max() > 30 * swinging.min():
        left.set_yscale("log")
    if grows.any():
        left.legend(loc="best", fontsize=7, frameon=False)
    for axes, table, title in ((middle, modes.joints, "joints"), (right, modes.bodies, "bodies, by kinetic energy")):
        shares = np.array([share[:n] for share in table.values()]).reshape(len(table), n)
        axes.imshow(shares, cmap="Blues", vmin=0.0, vmax=1.0, aspect="auto")
        for (row, column), share in np.ndenumerate(shares):
            if share >= 0.005:
                axes.text(column, row, f"{100 * share:.0f}", ha="center", va="center", fontsize=7,
                          color="white" if share > 0.6 else "black")
        axes.set_xticks(range(n), [f"{each:.3g}" for each in modes.frequencies[:n]], rotation=60, fontsize=7)
        axes.set_yticks(range(len(table)), list(table), fontsize=7)
        axes.set(xlabel="Hz", title=f"share [%] of {title}")
    return written(figure, path)
