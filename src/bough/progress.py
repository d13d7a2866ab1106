"""A progress bar for runs that take long enough to wonder."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

PATIENCE = 0.5  # s without a bar

Report = Callable[[float, float], None]


class Bar:
    """Called with the fraction done and the time reached; appears only when that takes a while."""

    def __init__(self, title: str) -> None:
        self.title, self.start = title, time.perf_counter()
        self.bar: Progress | None = None
        self.task: TaskID | None = None

    def __call__(self, fraction: float, t: float) -> None:
        elapsed = time.perf_counter() - self.start
        if self.bar is None and elapsed > PATIENCE and fraction < 1.0 and sys.stderr.isatty():
            self.bar = _make()
            self.task = self.bar.add_task(self.title, total=1.0, speed="")
            self.bar.start()
        if self.bar is not None and self.task is not None:
            self.bar.update(self.task, completed=fraction, speed=f"t = {t:.4g} s, {t / elapsed:.3g} x real time")

    def close(self) -> None:
        if self.bar is not None:
            self.bar.stop()


@contextmanager
def progress_bar(title: str, *, shown: bool = True) -> Iterator[Report | None]:
    """A bar on stderr for the time of a run."""
    bar = Bar(title) if shown else None
    try:
        yield bar
    finally:
        if bar is not None:
            bar.close()


def _make() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn(),
        TextColumn("{task.fields[speed]}"),
    )  # fmt: skip
    return Progress(*columns, console=Console(stderr=True), transient=True)
