"""What was compared with what, to how many digits: as text, and as a page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from bough.verify.case import Outcome

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 75em; margin: 2em auto; padding: 0 1em; color: #222 }
table { border-collapse: collapse; width: 100% } th, td { text-align: left; padding: 0.3em 0.7em; vertical-align: top }
tr { border-top: 1px solid #ddd } .digits { text-align: right; white-space: nowrap } .source { color: #666; font-size: 0.9em }
.fine { color: #1a7f37 } .short { color: #fff; background: #b3261e; font-weight: bold } .missing { color: #777 }
@media (prefers-color-scheme: dark) { body { background: #111; color: #ddd } tr { border-color: #333 } .source { color: #999 } }
"""


def digits_text(outcome: Outcome) -> str:
    """Found and asked."""
    return f"{'-' if outcome.found is None else f'{outcome.found:.1f}'} / {outcome.asked:g}"


def line(outcome: Outcome) -> str:
    """A case in one line."""
    why = f"   ({outcome.problem})" if outcome.problem else ""
    return f"{outcome.word:14} {digits_text(outcome):>12}  {outcome.room}: {outcome.name}{why}"


def text(title: str, outcomes: Iterable[Outcome], head: Mapping[str, str], last: str) -> str:
    """All of it: what, against what, digits found and asked."""
    rows = [title, "  ".join(f"{name} {value}" for name, value in head.items()), "", f"{'':14} {'digits/asked':>12}"]
    for outcome in outcomes:
        rows += [line(outcome), f"{'':29}{outcome.what}; against {outcome.against}"]
    return "\n".join([*rows, "", last])


def page(title: str, outcomes: Iterable[Outcome], head: Mapping[str, str], last: str) -> str:
    """The same as one HTML page."""
    classes: Mapping[Any, str] = {"fine": "fine", "FALLS SHORT": "short", "not told": "missing"}
    rows = [
        f"<tr><td class='{classes[o.word]}'>{o.word}</td><td class='digits'>{escape(digits_text(o))}</td>"
        f"<td><b>{escape(o.room)}</b>: {escape(o.name)}<br>{escape(o.what)}</td>"
        f"<td>{escape(o.against)}<br><span class='source'>{escape(o.source)}</span>"
        f"{f'<br><b>{escape(o.problem)}</b>' if o.problem else ''}</td><td class='digits'>{o.seconds:.1f} s</td></tr>"
        for o in outcomes
    ]
    facts = " &middot; ".join(f"{escape(name)} {escape(value)}" for name, value in head.items())
    return (
        f"<!doctype html><html lang='en'><head><meta charset='utf-8'><title>{escape(title)}</title><style>{STYLE}</style></head>"
        f"<body><h1>{escape(title)}</h1><p>{facts}</p><p><b>{escape(last)}</b></p>"
        f"<table><tr><th></th><th class='digits'>digits / asked</th><th>what</th>"
        f"<th>against what</th><th></th></tr>{''.join(rows)}</table></body></html>\n"
    )
