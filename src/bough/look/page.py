"""One HTML file out of a scene: style, scripts, library and arrays all inside."""

from __future__ import annotations

import html
import json
from importlib.resources import files
from typing import Any

from bough.look.buffers import Buffers
from bough.look.library import three_js

SCRIPTS = ("dom", "buffers", "motion", "palette", "geometry", "stage", "camera", "bodies", "flexible", "marks", "arrows", "traces",
           "labels", "scene", "tree", "plots", "transport", "modes", "controls", "follow", "picking", "keys", "main")  # fmt: skip


def page(scene: dict[str, Any], buffers: Buffers) -> str:
    """The whole page."""
    filled = {
        "title": html.escape(f"{scene['name']} - bough"),
        "style": _read("page.css"),
        "library": three_js(),
        "buffers": "\n".join(f'<script type="text/plain" id="buffer{k}">{text}</script>' for k, text in enumerate(buffers.texts)),
        "scene": _json(scene),
        "program": '"use strict";\n(() => {\n' + "\n".join(_read(f"{name}.js") for name in SCRIPTS) + "\n})();",
    }
    parts = _read("page.html").split("$$")                          # text, name, text, name, ...
    return "".join(filled[part] if k % 2 else part for k, part in enumerate(parts))


def _read(name: str) -> str:
    return (files("bough.look") / "page" / name).read_text(encoding="utf-8")


def _json(scene: dict[str, Any]) -> str:
    """JSON that may stand inside a script element: "<" would end it or begin a comment."""
    return json.dumps(scene, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
