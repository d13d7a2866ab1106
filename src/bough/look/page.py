"""One HTML file out of a scene, with style, scripts, arrays and three.js inside.

trimesh ships three.js, in one piece with its license, inside the page of its own viewer.
"""

import html
import json
import re
import zipfile
from functools import cache
from importlib.resources import as_file, files
from typing import Any

from bough.errors import StateError
from bough.look.buffers import Buffers

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
