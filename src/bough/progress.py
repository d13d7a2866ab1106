"""Progress bars on a terminal for work that takes long: the fraction done, the time left, the real-time factor.

    with working("reducing finite elements"):     # an indeterminate bar, for work of unknown length
        ...
    with working("antenna") as bar:               # bar(fraction, t), as often as one likes: a bar with the time left
        ...

Bars of nested work stand below each other. Nothing appears in `quiet()`, nor where stderr is not a terminal.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import RLock, Timer
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from rich.progress import Progress, Task, TaskID

PATIENCE = 1.0  # s before a bar appears
EVERY = 0.1  # s between two updates

Item = TypeVar("Item")


class Display:
    """The one display of this process: it is there while any bar is."""

    def __init__(self) -> None:
        self.lock, self.quiet = RLock(), 0
        self.shown: Progress | None = None

    @property
    def possible(self) -> bool:
        """Whether bars can be shown: on a terminal, unless it is to be quiet."""
        return not self.quiet and sys.stderr is not None and sys.stderr.isatty()

    def add(self, title: str) -> TaskID:
        """Show a bar, indeterminate until it is updated."""
        if self.shown is None:
            self.shown = _make()
            self.shown.start()
        return self.shown.add_task(title, total=None, speed="")

    def update(self, task: TaskID, fraction: float, speed: str) -> None:
        """Show the progress of a bar."""
        if self.shown is not None:
            self.shown.update(task, completed=fraction, total=1.0, speed=speed)

    def remove(self, task: TaskID) -> None:
        """Take a bar away, and with the last one the display."""
        if self.shown is not None:
            self.shown.remove_task(task)
            if not self.shown.task_ids:
                self.shown.stop()
                self.shown = None


DISPLAY = Display()


class Bar:
    """Called with the fraction done and the time reached; it appears after a while, whether it is called or not.

    `seconds` of simulated time, of all runs together, are what the whole work is about: they give the real-time factor. A `note`
    stands in its place.
    """

    def __init__(self, title: str, patience: float = PATIENCE) -> None:
        self.title, self.note = title, ""
        self.seconds: float | None = None
        self.start: tuple[float, float] | None = None  # clock and fraction when it was first called
        self.updated, self.closed = 0.0, False
        self.task: TaskID | None = None
        self.timer = Timer(patience, self.show)
        self.timer.daemon = True
        if DISPLAY.possible:
            self.timer.start()

    def show(self) -> None:
        """Appear, if the work has not ended."""
        with DISPLAY.lock:
            if not self.closed:
                self.task = DISPLAY.add(self.title)

    def __call__(self, fraction: float, t: float = 0.0) -> None:
        now = time.perf_counter()
        self.start = self.start or (now, fraction)
        if self.task is not None and now - self.updated > EVERY:
            self.updated = now
            with DISPLAY.lock:
                DISPLAY.update(self.task, fraction, self.speed(now, fraction, t))

    def speed(self, now: float, fraction: float, t: float) -> str:
        """A note; or the simulated time, and how many times faster than the clock it went since the first call."""
        if self.note:
            return self.note
        begun, done = self.start or (now, fraction)
        if self.seconds is None or now <= begun:
            return ""
        return f"t = {t:.4g} s, {(fraction - done) * self.seconds / (now - begun):.3g} x real time"

    def close(self) -> None:
        """The work has ended."""
        self.timer.cancel()
        with DISPLAY.lock:
            self.closed = True
            if self.task is not None:
                DISPLAY.remove(self.task)


@contextmanager
def working(title: str, *, patience: float = PATIENCE) -> Iterator[Bar]:
    """A bar for as long as the work takes; call it with the fraction done."""
    bar = Bar(title, patience)
    try:
        yield bar
    finally:
        bar.close()


def counted(title: str, items: Iterable[Item]) -> Iterator[Item]:
    """The items one after another, with a bar that counts them.

    >>> list(counted("letters", "ab"))
    ['a', 'b']
    """
    known = list(items)
    with working(title) as bar:
        for i, item in enumerate(known):
            bar(i / len(known))
            yield item


@contextmanager
def quiet(on: bool = True) -> Iterator[None]:
    """No bars inside, and no messages about kernels being compiled."""
    DISPLAY.quiet += on
    try:
        yield
    finally:
        DISPLAY.quiet -= on


@contextmanager
def compilation(kernel: str) -> Iterator[None]:
    """Say that a kernel is being compiled: on a terminal a bar, at once; elsewhere, as in a log, a line."""
    if DISPLAY.quiet or DISPLAY.possible:
        with working(f"compiling '{kernel}' (once on this machine)", patience=0.0):
            yield
        return
    print(f"bough: compiling '{kernel}' (once on this machine) ...", end="", file=sys.stderr, flush=True)
    start = time.perf_counter()
    yield
    print(f" {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)


def _make() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, TaskProgressColumn, TextColumn
    from rich.text import Text

    class Clock(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(_clock(task.elapsed or 0.0, task.time_remaining))

    columns = (
        TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn(), Clock(),
        TextColumn("{task.fields[speed]}", markup=False),
    )  # fmt: skip
    return Progress(*columns, console=Console(stderr=True), transient=True, refresh_per_second=5)


def _clock(elapsed: float, remaining: float | None) -> str:
    """The time elapsed, and the time left where it is known.

    >>> _clock(75.2, 8.0), _clock(3.0, None)
    ('1:15, 0:08 left', '0:03')
    """
    times = [f"{int(seconds) // 60}:{int(seconds) % 60:02}" for seconds in (elapsed, remaining) if seconds is not None]
    return ", ".join(times) + " left" * (len(times) - 1)
