"""An extension of griffe: docstrings of this project have numpydoc sections, or are plain text, whose examples and columns become
blocks of Markdown."""

import re
from typing import Any

import griffe

SECTION = re.compile(r"^-{3,}$", re.MULTILINE)                # of numpydoc, under its title
COLUMNS = re.compile(r"\S {3,}\S|^ +\S", re.MULTILINE)


def to_markdown(text: str) -> str:
    """Paragraphs that are doctests or columns, in fences."""
    return "\n\n".join(paragraph(part) for part in re.split(r"\n\s*\n", text))


def paragraph(text: str) -> str:
    if text.lstrip().startswith(">>>"):
        return f"```pycon\n{text}\n```"
    return f"```text\n{text}\n```" if COLUMNS.search(text) else text


class PlainDocstrings(griffe.Extension):
    """Turn plain docstrings into Markdown when they are loaded."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        if obj.docstring is not None and not SECTION.search(obj.docstring.value):
            obj.docstring.value = to_markdown(obj.docstring.value)
