"""Figures of linear analyses: Bode, Nichols, Nyquist, singular values, spectra, modes, tracked modes, root loci."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MultipleLocator, NullLocator

from bough.figure_style import COLORS, LINE, TITLE, dress, legend_beside

if TYPE_CHECKING:
    from bough.analyze.linear.power_spectra import Spectrum
    from bough.analyze.linear.response import FrequencyResponse
    from bough.analyze.linear.system_modes import Modes
    from bough.analyze.linear.tracking import ModeTracks

WIDTH, HEIGHT = 7.4, 2.4                # of a panel [in]
MOST_CURVES = 8
MOST_MODES, FEWEST_ROWS = 24, 3          # modes whose shares are drawn; rows of a table of shares


def sheet(title: str, panels: int, height: float = HEIGHT, width: float = WIDTH) -> tuple[Figure, list[Axes]]:
    """A figure with panels one below the other on one axis."""
    figure = Figure(figsize=(width, 0.6 + panels * height), dpi=110, layout="constrained")
    figure.suptitle(title, x=0.01, ha="left", fontsize=TITLE, fontweight="bold")
    return figure, list(figure.subplots(panels, 1, sharex=True, squeeze=False)[:, 0])


def _pairs(response: FrequencyResponse) -> list[tuple[int, int, str]]:
    """Places and name of each curve; the first ones, if there are very many."""
    pairs = [(o, i, f"{output} of {each}") for i, each in enumerate(response.inputs) for o, output in enumerate(response.outputs)]
    return pairs[: 2 * MOST_CURVES]


def _named(name: str, what: str) -> str:
    return f"{name}: {what}" if name else what


def _title(response: FrequencyResponse, what: str) -> str:
    total, shown = len(response.inputs) * len(response.outputs), len(_pairs(response))
    text = _named(response.name, what)
    if total == 1:
        return f"{text}, {_pairs(response)[0][2]}"
    return text if shown == total else f"{text} (the first {shown} of {total})"


def bode(response: FrequencyResponse) -> Figure:
    """Magnitude and phase, in one figure for all inputs and outputs; a panel of magnitudes for each unit."""
    pairs = _pairs(response)
    units = list(dict.fromkeys(response.unit(o, i) for o, i, _ in pairs))
    figure, axes = sheet(_title(response, "Bode"), len(units) + 1)
    magnitude, phase = response.magnitude, response.phase
    for k, (o, i, name) in enumerate(pairs):
        panel, color = axes[units.index(response.unit(o, i))], COLORS[k % len(COLORS)]
        style = "-" if k < MOST_CURVES else "--"
        panel.loglog(response.frequency, magnitude[:, o, i], style, color=color, lw=LINE, label=name)
        axes[-1].semilogx(response.frequency, phase[:, o, i], style, color=color, lw=LINE)
    for panel, unit in zip(axes, units, strict=False):
        named = f": {panel.lines[0].get_label()}" if len(panel.lines) == 1 and len(pairs) > 1 else ""
        dress(panel, f"magnitude{named}", "", f"[{unit}]")
        panel.margins(x=0)
        panel.yaxis.set_minor_locator(NullLocator())
        legend_beside(panel)
    dress(axes[-1], "phase", "frequency [Hz]", "[deg]")
    span = float(np.ptp(phase[np.isfinite(phase)]))
    axes[-1].yaxis.set_major_locator(MultipleLocator(45 if span < 200 else 90 if span < 600 else 180 if span < 1400 else 360))
    axes[-1].margins(x=0)
    return figure


def nichols(response: FrequencyResponse) -> Figure:
    """Gain over phase, with the critical point, and curves where the closed loop gains 6 dB."""
    figure, [axes] = sheet(_title(response, "Nichols"), 1, height=4.6, width=6.4)
    for k, (o, i, name) in enumerate(_pairs(response)):
        axes.plot(response.phase[:, o, i], response.decibels[:, o, i], color=COLORS[k % len(COLORS)], lw=LINE, label=name)
    low, high = axes.get_xlim()
    around = np.exp(1j * np.linspace(0, 2 * np.pi, 400))
    closed = 10 ** (6 / 20) * around
    loop = closed / (1 - closed)                            # |L / (1 + L)| = 6 dB
    shape = np.rad2deg(np.unwrap(np.angle(loop)))
    shape -= 360 * np.round((shape.mean() + 180) / 360)
    for turn in range(int(np.floor((low + 180) / 360)), int(np.ceil((high + 180) / 360)) + 1):
        axes.plot(shape + 360 * turn, 20 * np.log10(np.abs(loop)), color="0.6", lw=0.8, ls=":")
        axes.plot(-180 + 360 * turn, 0, "+", color="0.3", ms=9)
    axes.set_xlim(min(low, -270), max(high, -90))
    axes.xaxis.set_major_locator(MultipleLocator(90 if np.ptp(axes.get_xlim()) < 1200 else 360))
    dress(axes, "dotted: the closed loop gains 6 dB", "phase [deg]", "gain [dB]")
    legend_beside(axes)
    return figure


def nyquist(response: FrequencyResponse) -> Figure:
    """Gain in the complex plane near the critical point; large gains are compressed."""
    figure, [axes] = sheet(_title(response, "Nyquist"), 1, height=5.0, width=6.0)
    for k, (o, i, name) in enumerate(_pairs(response)):
        gain = response.gain[:, o, i]
        gain = np.where(np.isfinite(gain), gain, 1e6)
        far = np.maximum(np.abs(gain), 1.0)
        shown = gain * np.where(np.abs(gain) > 1.0, (1.0 + np.log10(far)) / far, 1.0)
        axes.plot(shown.real, shown.imag, color=COLORS[k % len(COLORS)], lw=LINE, label=name)
        axes.plot(shown.real, -shown.imag, color=COLORS[k % len(COLORS)], lw=0.6, alpha=0.5)
    around = np.exp(1j * np.linspace(0, 2 * np.pi, 200))
    axes.plot(around.real, around.imag, color="0.7", lw=0.6, ls=":")
    axes.plot(-1, 0, "+", color="0.2", ms=10)
    axes.set_aspect("equal", adjustable="datalim")
    dress(axes, "dotted: |L| = 1; lengths beyond 1 are compressed, l -> 1 + log10 l", "real", "imaginary")
    legend_beside(axes)
    return figure


def singular_values(response: FrequencyResponse) -> Figure:
    """Singular values, largest first."""
    values = response.singular_values()
    figure, [axes] = sheet(_named(response.name, "singular values"), 1, height=3.0)
    for k in range(values.shape[1]):
        axes.loglog(response.frequency, values.values[:, k], color=COLORS[k % len(COLORS)], lw=LINE, label=str(k + 1))
    dress(axes, f"{len(response.outputs)} outputs of {len(response.inputs)} inputs", "frequency [Hz]", f"[{values.attrs['units']}]")
    axes.margins(x=0)
    legend_beside(axes)
    return figure


def spectrum(found: Spectrum) -> Figure:
    """Power spectral densities of the outputs, and their growing root mean squares."""
    units = list(dict.fromkeys(found.output_units))
    figure, axes = sheet(_named(found.name, "power spectra"), 2 * len(units))
    growing = found.growing
    for o, name in enumerate(found.outputs):
        row, color = 2 * units.index(found.output_units[o]), COLORS[o % len(COLORS)]
        axes[row].loglog(found.frequency, found.density[:, o], color=color, lw=LINE, label=name)
        axes[row + 1].semilogx(found.frequency, growing[:, o], color=color, lw=LINE)
    for k, unit in enumerate(units):
        names = [name for name, each in zip(found.outputs, found.output_units, strict=True) if each == unit]
        named = f"{names[0]}: " if len(names) == 1 else ""
        square = f"({unit})²" if "/" in unit or " " in unit else f"{unit}²" if unit not in ("", "1") else "1"
        dress(axes[2 * k], f"{named}power spectral density, one-sided", "", f"[{square}/Hz]")
        dress(axes[2 * k + 1], f"{named}root mean square below the frequency", "", f"[{unit or '1'}]")
        legend_beside(axes[2 * k])
        axes[2 * k].yaxis.set_minor_locator(NullLocator())
        axes[2 * k].margins(x=0)
    share = (growing / np.maximum(growing[-1], 1e-300)) ** 2
    inside = ((share > 1e-3) & (share < 1 - 1e-6)).any(axis=1)       # where the mean squares come from, and half a decade around
    if inside.any():
        ends = found.frequency[inside][[0, -1]]
        axes[-1].set_xlim(max(ends[0] / 3, found.frequency[0]), min(ends[1] * 3, found.frequency[-1]))
    axes[-1].set_xlabel("frequency [Hz]", fontsize=8)
    return figure


def campbell(tracks: ModeTracks, harmonics: np.ndarray, up_to: float | None = None) -> Figure:
    """Frequencies over the parameter with lines of harmonics, and damping below, if there is any."""
    damped = bool(np.nanmax(np.abs(tracks.damping), initial=0.0) > 1e-6)
    figure, axes = sheet(_named(tracks.name, "Campbell diagram"), 1 + damped, height=3.4 - 0.6 * damped)
    for mode in range(tracks.eigenvalues.shape[1]):
        if up_to is not None and not np.nanmin(tracks.eigenvalues[:, mode].imag) < 2 * np.pi * up_to:
            continue
        color = COLORS[mode % len(COLORS)]
        axes[0].plot(tracks.values, tracks.eigenvalues[:, mode].imag / (2 * np.pi), color=color, lw=LINE)
        if damped:
            axes[1].plot(tracks.values, tracks.damping[:, mode], color=color, lw=LINE)
    top = up_to or float(np.nanmax(tracks.eigenvalues.imag)) / (2 * np.pi) * 1.06
    for harmonic in harmonics:
        line = harmonic * np.abs(tracks.values) / (2 * np.pi)
        axes[0].plot(tracks.values, line, color="0.6", lw=0.8, ls="--")
        inside = np.flatnonzero(line <= top)
        if len(inside):
            axes[0].annotate(f"{harmonic:g}x", (tracks.values[inside[-1]], line[inside[-1]]), fontsize=7, color="0.4", ha="right",
                             va="bottom")
    axes[0].set_ylim(0, top)
    along = f"{tracks.parameter} [{tracks.unit}]" if tracks.unit else tracks.parameter
    dress(axes[0], "frequency of oscillation", "" if damped else along, "[Hz]")
    if damped:
        dress(axes[1], "damping ratio", along, "[-]")
        axes[1].axhline(0, color="0.6", lw=0.8)
    axes[0].margins(x=0)
    return figure


def root_locus(tracks: ModeTracks) -> Figure:
    """Eigenvalues in the complex plane: a line for each mode, a cross at the first value, a dot at the last."""
    figure, [axes] = sheet(_named(tracks.name, "root locus"), 1, height=4.8, width=6.6)
    for mode in range(tracks.eigenvalues.shape[1]):
        color, values = COLORS[mode % len(COLORS)], tracks.eigenvalues[:, mode]
        axes.plot(values.real, values.imag, color=color, lw=LINE)
        there = np.flatnonzero(np.isfinite(values))
        axes.plot(values[there[0]].real, values[there[0]].imag, "x", color=color, ms=5)
        axes.plot(values[there[-1]].real, values[there[-1]].imag, "o", color=color, ms=3.5)
    axes.axvline(0, color="0.5", lw=0.8)
    unit = f" {tracks.unit}" if tracks.unit else ""
    dress(axes, f"{tracks.parameter} from {tracks.values[0]:g} (crosses) to {tracks.values[-1]:g}{unit} (dots)", "real part [1/s]",
          "imaginary part [rad/s]")
    return figure


def shares_of_modes(modes: Modes) -> Figure:
    """The eigenvalues, and the shares of joints and bodies in the slowest modes."""
    n = min(len(modes.eigenvalues), MOST_MODES)
    rows = max(len(modes.joints), len(modes.bodies), FEWEST_ROWS)
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
    return figure
