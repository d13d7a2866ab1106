"""The replay of a result: written to a file, opened in a browser, shown in a notebook."""

from __future__ import annotations

import html
import os
import sys
import tempfile
import webbrowser
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from bough.errors import StateError
from bough.look.buffers import Buffers
from bough.look.curves import columns_of
from bough.look.motion import motion
from bough.look.page import page
from bough.look.scene import scene
from bough.progress import working

if TYPE_CHECKING:
    from bough.results.report import Report


@dataclass(frozen=True)
class Replay:
    """A page with the moving picture of a result; a notebook shows it in place."""

    path: Path
    frames: int
    samples: int

    def open(self) -> None:
        """Show it in the default browser."""
        if not webbrowser.open(self.path.resolve().as_uri()):
            raise StateError(f"{self.path}: no browser could be started; open the file in one yourself")

    def _repr_html_(self) -> str:
        whole = html.escape(self.path.read_text(encoding="utf-8"))
        return f'<iframe srcdoc="{whole}" style="width: 100%; height: 640px; border: 0" allowfullscreen></iframe>'

    def __str__(self) -> str:
        every = f"{self.frames} frames" if self.frames == self.samples else f"{self.frames} frames of {self.samples} samples"
        return f"{self.path}, {every}, {self.path.stat().st_size / 1e6:.1f} MB"


def replay(
    report: Report,
    path: str | PathLike[str] | None = None,
    *,
    open: bool | None = None,
    run: int = 0,
    frames: int | None = None,
) -> Replay:
    """Write the replay of a result; see `Result.view`."""
    target = _temporary(report) if path is None else Path(path)
    if target.suffix not in (".html", ".htm"):
        raise StateError(f"{target}: a replay is an HTML file; give a path that ends in .html")
    with working(f"replay of {report.facts.system_name}") as bar:
        moved = motion(report, run, frames, columns_of(report), lambda done: bar(0.5 * done))
        buffers = Buffers()
        _write(target, page(scene(report, moved, buffers), buffers))
    made = Replay(target, len(moved.time), moved.of_samples)
    if open if open is not None else path is None and not _in_notebook():
        made.open()
    return made


def _write(target: Path, text: str) -> None:
    """The file appears when it is complete."""
    part = target.with_name(target.name + ".part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            part.write_text(text, encoding="utf-8")
            os.replace(part, target)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise StateError(f"{target}: cannot be written ({error.strerror}); give another path") from None


def _temporary(report: Report) -> Path:
    name = "".join(letter if letter.isalnum() else "_" for letter in report.facts.system_name)
    return Path(tempfile.mkdtemp(prefix="bough-")) / f"{name}.html"


def _in_notebook() -> bool:
    """Whether this runs inside a Jupyter kernel, which shows the replay itself."""
    return "ipykernel" in sys.modules
