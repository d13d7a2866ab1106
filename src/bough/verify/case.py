"""A comparison as data: what is compared with what, the source of the reference, the required digits, and how to compute both."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bough.errors import BoughError

MOST = 16.0  # digits that a double has
Pairs = Iterator[tuple[Any, ...]]  # (ours, theirs), or (ours, theirs, size)
Compare = Callable[[], Pairs]


class Missing(BoughError):
    """A reference that is not installed, or does not cover the case."""


@dataclass(frozen=True)
class Case:
    """Numbers of bough against those of a witness, which must agree to so many digits.

    `compare` yields pairs (ours, theirs), or triples with the size of what cancels in theirs: the error is judged against the
    largest entry, or against that size.
    """

    room: str  # "trees", "loops", ...: the subject, by which cases are selected
    name: str
    what: str  # of bough
    against: str  # the witness
    source: str  # where the witness comes from
    asked: float  # digits required
    compare: Compare


@dataclass(frozen=True)
class Outcome(Case):
    """A case that was run; `problem` says why there are no digits, `missing` that its witness is not available."""

    found: float | None
    seconds: float
    problem: str = ""
    missing: bool = False

    @property
    def fine(self) -> bool:
        return self.missing or (self.found is not None and self.found >= self.asked)

    @property
    def verdict(self) -> str:
        return "skipped" if self.missing else "fine" if self.fine else "FALLS SHORT"

    def to_mapping(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "compare"} | {"fine": self.fine}


def digits(ours: Any, theirs: Any, scale: float = 0.0) -> float:
    """The number of digits that agree: -log10 of the largest difference over the largest entry, or over the size of what cancels.

    >>> digits([1.0, 2.0002], [1.0, 2.0])
    4.0
    >>> digits(1.0, float("nan"))
    -inf
    """
    a, b = np.asarray(ours, float), np.asarray(theirs, float)
    if a.shape != b.shape:
        raise BoughError(f"shapes {a.shape} and {b.shape} are compared")
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        return float("-inf")
    size, error = max(float(np.abs(b).max(initial=0.0)), scale), float(np.abs(a - b).max(initial=0.0))
    if error <= 10.0**-MOST * size:
        return MOST
    return round(float(-np.log10(error / size)), 2) if size else float("-inf")


def judge(case: Case) -> Outcome:
    """Run a case; an exception becomes its problem."""
    begin, found, problem, missing = time.perf_counter(), None, "", False
    try:
        found = min(digits(*pair) for pair in case.compare())
    except Missing as error:
        problem, missing = str(error), True
    except Exception as error:  # an error in one case must not stop the others
        problem = f"{type(error).__name__}: {error}"
    return Outcome(**vars(case), found=found, seconds=time.perf_counter() - begin, problem=problem, missing=missing)


def run_plainly(module: str, *arguments: str) -> None:
    """Run a module in another process that compiles nothing."""
    done = subprocess.run([sys.executable, "-m", module, *arguments], capture_output=True, text=True, check=False,
                          env=os.environ | {"NUMBA_DISABLE_JIT": "1"})
    if done.returncode:
        raise BoughError(f"plain Python fails: {(done.stderr.strip() or str(done.returncode)).splitlines()[-1]}")


class Cases:
    """Cases of one subject, each a function under a decorator."""

    def __init__(self, room: str) -> None:
        self.room, self.all = room, list[Case]()

    def case(self, name: str, what: str, against: str, source: str, asked: float) -> Callable[[Compare], Compare]:
        def keep(compare: Compare) -> Compare:
            self.add(name, what, against, source, asked, compare)
            return compare

        return keep

    def add(self, name: str, what: str, against: str, source: str, asked: float, compare: Compare) -> None:
        self.all.append(Case(self.room, name, what, against, source, asked, compare))

    def __iter__(self) -> Iterator[Case]:
        return iter(self.all)


def chosen(cases: Sequence[Case], only: Sequence[str]) -> list[Case]:
    """Cases whose room, or "room: name", begins with one of these words; all of them without words."""
    found = [case for case in cases if not only or any(f"{case.room}: {case.name}".startswith(word) for word in only)]
    if not found:
        rooms = ", ".join(dict.fromkeys(case.room for case in cases))
        raise BoughError(f"verify: no case begins with {' or '.join(only)!r}; give one of {rooms}, or none")
    return found
