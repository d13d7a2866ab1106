"""All cases, run one after the other, and their outcomes as lines of text and as a page."""

import os
import platform
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from bough.errors import StepWarning
from bough.progress import quiet, working
from bough.results.audit import versions
from bough.verify.case import Case, Outcome, chosen, judge


@dataclass(frozen=True)
class Verified:
    """The outcomes of all cases, and where they were found."""

    outcomes: tuple[Outcome, ...]
    seconds: float  # of the clock
    processor_seconds: float  # of all cores, subprocesses too
    machine: dict[str, str]

    @property
    def short(self) -> list[Outcome]:
        """Outcomes with fewer digits than required."""
        return [outcome for outcome in self.outcomes if not outcome.fine]

    @property
    def missing(self) -> list[Outcome]:
        """Outcomes whose reference is not installed."""
        return [outcome for outcome in self.outcomes if outcome.missing]

    @property
    def summary(self) -> str:
        """A summary in one line."""
        done = len(self.outcomes) - len(self.missing)
        left = f", {len(self.missing)} without their reference" if self.missing else ""
        fine = f"{done} cases fine" if not self.short else f"{len(self.short)} of {done} cases FALL SHORT"
        return f"{fine}{left}, {self.seconds:.0f} s"

    def to_mapping(self) -> dict[str, Any]:
        return {
            "fine": not self.short,
            "seconds": self.seconds,
            "processor_seconds": self.processor_seconds,
            "machine": self.machine,
            "cases": [outcome.to_mapping() for outcome in self.outcomes],
        }


def machine() -> dict[str, str]:
    """Versions, processor and system: what a result may depend on."""
    return {
        **versions("numpy", "numba", "llvmlite", "scipy"),
        "system": f"{platform.system()} {platform.release()}",
        "processor": platform.machine(),
        "bits of long double": str(np.finfo(np.longdouble).nmant + 1),
    }


def all_cases() -> list[Case]:
    """The cases of all subjects."""
    from bough.verify import closed_forms, conservation_cases, dynamics_cases, part_cases, peer_cases, plain_cases, reference_cases

    rooms = (dynamics_cases, closed_forms, part_cases, conservation_cases, reference_cases, plain_cases, peer_cases)
    return [case for room in rooms for case in room.CASES]


def verify(only: Sequence[str] = (), report: Callable[[Outcome], None] = lambda outcome: None) -> Verified:
    """Run all cases, or those that begin with one of the words `only`; `report` is called with each outcome."""
    return run_cases(chosen(all_cases(), only), "verify", report)


def run_cases(cases: Sequence[Case], title: str, report: Callable[[Outcome], None]) -> Verified:
    """Run cases one after the other, with a progress bar; `report` is called with each outcome."""
    begin, busy, outcomes = time.perf_counter(), sum(os.times()[:4]), []
    with working(title) as bar:
        for i, case in enumerate(cases):
            with quiet(), warnings.catch_warnings():
                warnings.simplefilter("ignore", StepWarning)
                outcomes.append(judge(case))
            report(outcomes[-1])
            bar((i + 1) / len(cases))
    return Verified(tuple(outcomes), time.perf_counter() - begin, sum(os.times()[:4]) - busy, machine())


STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 75em; margin: 2em auto; padding: 0 1em; color: #222 }
table { border-collapse: collapse; width: 100% } th, td { text-align: left; padding: 0.3em 0.7em; vertical-align: top }
tr { border-top: 1px solid #ddd } .digits { text-align: right; white-space: nowrap } .source { color: #666; font-size: 0.9em }
.fine { color: #1a7f37 } .short { color: #fff; background: #b3261e; font-weight: bold } .missing { color: #777 }
@media (prefers-color-scheme: dark) { body { background: #111; color: #ddd } tr { border-color: #333 } .source { color: #999 } }
"""


def digits_text(outcome: Outcome) -> str:
    """Digits found and required."""
    return f"{'-' if outcome.found is None else f'{outcome.found:.1f}'} / {outcome.asked:g}"


def outcome_line(outcome: Outcome) -> str:
    """A case in one line."""
    why = f"   ({outcome.problem})" if outcome.problem else ""
    return f"{outcome.verdict:14} {digits_text(outcome):>12}  {outcome.room}: {outcome.name}{why}"


def report_page(title: str, outcomes: Iterable[Outcome], head: Mapping[str, str], last: str) -> str:
    """The HTML report: what was compared with what, to how many digits."""
    classes: Mapping[Any, str] = {"fine": "fine", "FALLS SHORT": "short", "skipped": "missing"}
    rows = [
        f"<tr><td class='{classes[o.verdict]}'>{o.verdict}</td><td class='digits'>{escape(digits_text(o))}</td>"
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
