"""Calling kernels: workspaces, lanes, and a word to the user when something has to be compiled."""
import threading
from pathlib import Path
from typing import Any

import numpy as np
from numba import typeof

from bough.compile.tables import Tables
from bough.kernels.asides import bound, raise_failures
from bough.kernels.jit import CACHE_DIRECTORY, compiling
from bough.kernels.lanes import FOUR, ONE, Lanes
from bough.progress import compilation
from bough.sweeps import fields as f

_local = threading.local()


def lanes_for(states: int) -> Lanes:
    """Four lanes as soon as there are four states."""
    return FOUR if states >= FOUR.width else ONE


def workspace(tables: Tables, lanes: Lanes, extra: int = 0) -> np.ndarray:
    """A workspace for these tables, kept for the next call of this thread."""
    cache = _local.__dict__.setdefault("workspaces", {})
    size = tables.size(f.WS_SIZE) + extra
    key = lanes.width, size
    if key not in cache:
        if len(cache) >= 16:
            cache.clear()
        cache[key] = lanes.zeros(size)
    return cache[key]


def group_parameters(pars: np.ndarray, lanes: Lanes) -> np.ndarray:
    """(batch, n) -> what kernels index by group: (1, n) if shared; (groups, n) or (groups, n, 4) if each has its own."""
    if len(pars) == 1 or lanes.width == 1:
        return pars
    rows = np.minimum(np.arange(-(-len(pars)//lanes.width)*lanes.width), len(pars) - 1)
    packed = lanes.zeros(len(rows)//lanes.width, pars.shape[1])
    packed[...] = pars[rows].reshape(-1, lanes.width, pars.shape[1]).transpose(0, 2, 1)
    return packed


def _ranks(args: tuple) -> str:
    """The ranks of all arrays: what chooses a compiled form of a kernel."""
    return "".join(_ranks(a) if isinstance(a, tuple) else str(getattr(a, "ndim", 0)) for a in args)


def call(kernel: Any, *args: Any) -> Any:
    """Call a kernel on a model."""
    result = start(kernel, *bound(*args))
    raise_failures()
    return result


def start(kernel: Any, *args: Any) -> Any:
    """Call a kernel; the first time on this machine, say that it is being compiled."""
    compiled = getattr(kernel, "func", kernel)
    key = compiled.__name__ + _ranks(args)
    seen = _local.__dict__.setdefault("seen", set())
    if key in seen:
        return kernel(*args)
    marker = Path(CACHE_DIRECTORY) / f"{key}.compiled"
    seen.add(key)
    if marker.exists() or not hasattr(compiled, "signatures"):
        return kernel(*args)
    with compilation(compiled.__name__), compiling(compiled, 1 if args[-1].ndim == 1 else 4):      # the workspace comes last
        compiled.compile(tuple(typeof(a) for a in (*getattr(kernel, "args", ()), *args)))
    result = kernel(*args)
    try:
        marker.parent.mkdir(parents=True, exist_ok=True)
        marker.touch()
    except OSError:
        pass                                        # no cache can be kept: every process compiles, and says so
    return result
