"""How figures look: colors, sizes of text, thin grids, no boxes."""

from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

COLORS = ("#1f5fa8", "#d9622b", "#2a8f57", "#8a4fa3", "#b8860b", "#3aa6b9", "#c0395b", "#6b6b6b")
TITLE, PANEL_TITLE, LABEL, TICK, LEGEND = 11, 9, 8, 7, 7.5        # sizes of text
Saved = TypeVar("Saved", bound=Any)
LINE = 1.1                                                        # width of curves


def dress(axes: Any, title: str, x: str, y: str) -> None:
    """Titles and labels of a panel, its grid, and no frame at the top and the right."""
    axes.set_title(title, loc="left", fontsize=PANEL_TITLE)
    axes.set_xlabel(x, fontsize=LABEL)
    axes.set_ylabel(y, fontsize=LABEL)
    axes.tick_params(labelsize=TICK)
    axes.grid(True, which="major", linewidth=0.4, alpha=0.5)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def written(figure: Saved, path: str | PathLike[str] | None) -> Saved:
    """The figure, saved if a path is given."""
    if path is not None:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        quick: dict[str, Any] = {"pil_kwargs": {"compress_level": 1}} if Path(path).suffix == ".png" else {}
        figure.savefig(path, **quick)
    return figure


def legend_beside(axes: Any) -> None:
    """At the right of a panel, never over the curves; none for a single curve."""
    if len(axes.get_legend_handles_labels()[1]) > 1:
        axes.legend(loc="upper left", bbox_to_anchor=(1.02, 1.0), fontsize=LEGEND, frameon=False, borderaxespad=0.0,
                    handlelength=1.4, labelspacing=0.3)  # fmt: skip
