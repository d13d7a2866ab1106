"""Calling kernels: workspaces, lanes, and a word to the user when something has to be compiled."""
import threading
from typing import Any

import numpy as np
from numba import typeof

from bough.compile.tables import Tables
from bough.kernels.jit import load_or_compile
from bough.kernels.lanes import FOUR, ONE, Lanes
from bough.kernels.linker import link, raise_failure
from bough.sweeps import fields as f

_local = threading.local()
_started: set[str] = set()           # kernels that are compiled, by the ranks of their arguments


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


def linked(tables: Tables, pars: np.ndarray, *rest: Any) -> tuple[Any, ...]:
    """The arguments of a kernel that works on a model; the workspace comes last."""
    return *link(tables.features, tables.plan, pars, tables.tables, rest[-1]), *rest


def call(kernel: Any, tables: Tables, pars: np.ndarray, *rest: Any) -> Any:
    """Call a kernel on a model, with these parameters; the workspace comes last."""
    result = start(kernel, *linked(tables, pars, *rest))
    raise_failure()
    return result


def start(kernel: Any, *args: Any) -> Any:
    """Call a kernel; the first time on this machine, say that it is being compiled."""
    compiled = getattr(kernel, "func", kernel)
    key = compiled.__name__ + _ranks(args)
    if key not in _started:
        if hasattr(compiled, "signatures"):
            signature = tuple(typeof(a) for a in (*getattr(kernel, "args", ()), *args))
            load_or_compile(compiled, signature, 1 if args[-1].ndim == 1 else 4)
        _started.add(key)
    return kernel(*args)
