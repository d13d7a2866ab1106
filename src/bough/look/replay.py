"""The replay of a result: written to a file, opened in a browser, shown in a notebook."""

import sys
import tempfile
from os import PathLike
from pathlib import Path

from bough.errors import StateError
from bough.look.buffers import Buffers
from bough.look.frames import frames_of
from bough.look.histories import columns_of
from bough.look.page import page
from bough.look.scene import scene
from bough.progress import working
from bough.results.result import Replay
from bough.results.result_contents import Report
from bough.whole import write_text


def view(report: Report, path: str | PathLike[str] | None = None, *, open: bool | None = None, run: int = 0,
         frames: int | None = None) -> Replay:
    """Write a 3-D animation of a result, fresh or read from a file, as one self-contained HTML file; see `Result.view`."""
    stem = "".join(letter if letter.isalnum() else "_" for letter in report.facts.system_name)
    target = Path(tempfile.mkdtemp(prefix="bough-")) / f"{stem}.html" if path is None else Path(path)
    if target.suffix not in (".html", ".htm"):
        raise StateError(f"{target}: a replay is an HTML file; give a path that ends in .html")
    with working(f"replay of {report.facts.system_name}") as bar:
        shown = frames_of(report, run, frames, columns_of(report), lambda done: bar(0.5 * done))
        buffers = Buffers()
        text = page(scene(report, shown, buffers), buffers)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            write_text(target, text)
        except OSError as error:
            raise StateError(f"{target}: cannot be written ({error.strerror}); give another path") from None
    made = Replay(target, len(shown.time), shown.of_samples)
    notebook = "ipykernel" in sys.modules                           # a Jupyter kernel shows the replay itself
    if open if open is not None else path is None and not notebook:
        made.open()
    return made
