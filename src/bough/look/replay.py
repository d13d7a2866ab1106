"""The replay of a result: written to a file, opened in a browser, shown in a notebook."""

import html
import json
import re
import sys
import tempfile
import zipfile
from functools import cache
from importlib.resources import as_file, files
from os import PathLike
from pathlib import Path
from typing import Any

from bough.errors import StateError
from bough.look.buffers import Buffers
from bough.look.frames import columns_of, frames_of
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


# ---- the page: style, scripts, arrays and three.js, which trimesh ships in one piece with its license, in its own viewer ----
SCRIPTS = ("dom", "buffers", "motion", "palette", "geometry", "stage", "camera", "bodies", "flexible", "marks", "arrows", "traces",
           "labels", "scene", "tree", "plots", "transport", "modes", "controls", "follow", "picking", "keys", "main")
_ARCHIVE, _PAGE = "resources/templates/viewer.zip", "viewer.html.template"
_LIBRARY = re.compile(
    r"/\*\*(?:(?!\*/).)*@license(?:(?!\*/).)*Three\.js Authors(?:(?!\*/).)*\*/\s*"      # the license
    r'![^\n]*"__esModule",\{value:!0\}\)\}\)+;',                                        # one line: it leaves the global THREE
    re.DOTALL,
)
_REMEDY = "install trimesh 5 (pip install 'trimesh>=5,<6')"


def page(scene: dict[str, Any], buffers: Buffers) -> str:
    """The whole page."""
    filled = {
        "title": html.escape(f"{scene['name']} - bough"),
        "style": _read("page.css"),
        "library": three_js(),
        "buffers": "\n".join(f'<script type="text/plain" id="buffer{k}">{text}</script>' for k, text in enumerate(buffers.texts)),
        "scene": json.dumps(scene, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c"),     # "<" would end the element
        "program": '"use strict";\n(() => {\n' + "\n".join(_read(f"{name}.js") for name in SCRIPTS) + "\n})();",
    }
    parts = _read("page.html").split("$$")                          # text, name, text, name, ...
    return "".join(filled[part] if k % 2 else part for k, part in enumerate(parts))


def _read(name: str) -> str:
    return (files("bough.look") / "page" / name).read_text(encoding="utf-8")


@cache
def three_js() -> str:
    """The source of three.js, its license first.

    >>> three_js().startswith("/**"), "SPDX-License-Identifier: MIT" in three_js()[:200]
    (True, True)
    """
    try:
        with as_file(files("trimesh") / _ARCHIVE) as path, zipfile.ZipFile(path) as archive:
            page = archive.read(_PAGE).decode("utf-8")
    except ModuleNotFoundError:
        raise StateError(f"the replay needs three.js, which trimesh ships, and there is no trimesh; {_REMEDY}") from None
    except (OSError, KeyError, zipfile.BadZipFile) as error:
        raise StateError(f"the replay needs three.js, but trimesh has no {_ARCHIVE} with {_PAGE} ({error}); {_REMEDY}") from None
    found = _LIBRARY.search(page)
    if found is None or "</script" in found.group():
        raise StateError(f"the replay needs three.js, but it is not where it was in trimesh's {_PAGE}; {_REMEDY}")
    return found.group()
