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
def _libraries(_scipy: bool) -> Any:
    """The BLAS libraries in this process; SciPy brings its own with it."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@contextmanager
def one_thread() -> Iterator[None]:
    """As a context or a decorator: BLAS takes one thread, afterwards as many as before. The limit is the process's: who comes while
    another is inside leaves it to that one, so that what was before is what comes back."""
    if not _inside.acquire(blocking=False):
        yield
        return
    try:
        with _libraries("scipy.linalg" in sys.modules).limit(limits=1, user_api="blas"):
            yield
    finally:
        _inside.release()
