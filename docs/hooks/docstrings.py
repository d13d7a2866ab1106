"""An extension of griffe: docstrings of this project are plain text; examples and columns in them become blocks of Markdown."""

import re
from typing import Any

import griffe

COLUMNS = re.compile(r"\S {3,}\S|^ +\S", re.MULTILINE)


def to_markdown(text: str) -> str:
    """Paragraphs that are doctests or columns, in fences."""
    return "\n\n".join(paragraph(part) for part in re.split(r"\n\s*\n", text))


def paragraph(text: str) -> str:
    if text.lstrip().startswith(">>>"):
        return f"```pycon\n{text}\n```"
    return f"```text\n{text}\n```" if COLUMNS.search(text) else text


class PlainDocstrings(griffe.Extension):
    """Turn every docstring into Markdown when it is loaded."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = to_markdown(obj.docstring.value)
