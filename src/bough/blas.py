"""BLAS in one thread around small solves: of matrices of a few hundred rows, waking threads takes longer, up to twenty times."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

_inside = threading.Lock()


@cache
def _libraries(_scipy: bool) -> list[Any]:
    """The BLAS libraries in this process; SciPy brings its own with it."""
    from threadpoolctl import ThreadpoolController

    return [library for library in ThreadpoolController().lib_controllers if library.user_api == "blas"]


@contextmanager
def one_thread() -> Iterator[None]:
    """As a context or a decorator: BLAS takes one thread, afterwards as many as before. The limit is the process's: who comes while
    another is inside leaves it to that one, so that what was before is what comes back."""
    if not _inside.acquire(blocking=False):
        yield
        return
    many = [(library, threads) for library in _libraries("scipy.linalg" in sys.modules) if (threads := library.num_threads) != 1]
    try:
        for library, _ in many:
            library.set_num_threads(1)
        yield
    finally:
        for library, threads in many:
            library.set_num_threads(threads)
        _inside.release()
