"""Shared by the benchmarks: states, calls of bare kernels, versions, figure files.

Timings are interleaved: each round runs every engine once, so that noise affects all of them alike.
"""
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from platform import machine
from statistics import median
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from bough.analyze.equations_of_motion import forward_kernel
from bough.compile.kernel_calls import call, linked, workspace
from bough.errors import BoughError
from bough.kernels.lanes import FOUR, ONE, Lanes
from bough.model import Model
from bough.peers import installed
from bough.results import audit

States = tuple[np.ndarray, np.ndarray, np.ndarray]          # q, v, tau
ENGINES = {"order-n": ("order-n", ONE), "order-n, four lanes": ("order-n", FOUR), "dense": ("dense", ONE)}


def versions() -> dict[str, str]:
    """Versions of the packages that were measured, and of Python."""
    return {"machine": machine(), **audit.versions("numba", "numpy", *installed())}


def random_states(model: Model, n: int) -> States:
    """Joint coordinates of about a radian or a meter, unit quaternions, random speeds and torques."""
    rng = np.random.default_rng(1)
    q = rng.uniform(-1.0, 1.0, (n, model.nq))
    model.normalize_quaternions(q)
    return q, rng.normal(size=(n, model.nv)), rng.normal(size=(n, model.nv))


def bent_states(model: Model, n: int) -> States:
    """Joint angles of a radian, modes deflected as by a few g."""
    rng = np.random.default_rng(1)
    q, v, tau = rng.uniform(-1.0, 1.0, (n, model.nq)), rng.normal(size=(n, model.nv)), rng.normal(size=(n, model.nv))
    for name, body in model.system.bodies.items():
        if body.n_modes:
            at_q, at_v = (place + 1 for place in model.places[name])
            softness = 10.0/np.diag(body.elastic.K)
            q[:, at_q:at_q + body.n_modes] *= softness
            v[:, at_v:at_v + body.n_modes] *= 10.0*softness
    return q, v, tau


def fitting_states(model: Model, n: int) -> States:
    """Bent states of a model with flexible bodies, random ones of a rigid one."""
    return (bent_states if any(body.n_modes for body in model.system.bodies.values()) else random_states)(model, n)


def forward_call(model: Model, states: States, method: str, lanes: Lanes, *, own_arrays: bool = False
                 ) -> tuple[Callable[[], Any], np.ndarray]:
    """A function that runs a method's kernel of forward dynamics over all states, and the array that it fills."""
    q, v, tau = states
    return kernel_call(model, forward_kernel(method), np.concatenate([q, v], axis=1), tau, lanes=lanes,
                       extra=model.tables.more(method), own_arrays=own_arrays)


def forward_calls(model: Model, states: States, engines: Mapping[str, tuple[str, Lanes]]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Such functions by engine, and their arrays."""
    found = {name: forward_call(model, states, *engine) for name, engine in engines.items()}
    return {name: call for name, (call, _) in found.items()}, {name: out for name, (_, out) in found.items()}


def kernel_call(model: Model, kernel: Any, x: np.ndarray, *inputs: np.ndarray, lanes: Lanes = ONE, extra: int = 0,
                pars: np.ndarray | None = None, own_arrays: bool = False) -> tuple[Callable[[], Any], np.ndarray]:
    """A function that runs a compiled kernel over all states x at t = 0, and the array that it fills."""
    tables, out = model.tables, np.empty((len(x), model.nv + model.tables.fronts.size))
    pars, ws = tables.pars if pars is None else pars, workspace(tables, lanes, extra)
    if own_arrays:
        tables, pars, ws = replace(tables, plan=tables.plan.copy()), pars.copy(), lanes.zeros(ws.shape[0])
    args: Any = (tables, pars, np.zeros((len(x), 2)), x, *inputs, out, ws)
    call(kernel, *args)
    args = linked(*args)
    return (lambda: kernel(*args)), out


def save_figure(figure: Figure, folder: Path, name: str) -> Path:
    """Write a figure into a folder, which is made if need be."""
    if folder.exists() and not folder.is_dir():
        raise BoughError(f"plot is '{folder}', which is a file; give a folder")
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder/name, dpi=150)
    return folder/name


def interleaved(functions: Mapping[str, Callable[[], Any]], work: int, *, rounds: int = 30,
                slice_seconds: float = 4e-3) -> dict[str, dict[str, float]]:
    """{engine: {"min_us", "median_us"}} per unit of work, `work` units being done by one call."""
    calls: dict[str, int] = {}
    times: dict[str, list[float]] = {}
    for name, function in functions.items():
        function()                                                         # warm
        start = time.perf_counter()
        function()
        calls[name], times[name] = max(1, int(slice_seconds/(time.perf_counter() - start))), []
    for _ in range(rounds):
        for name, function in functions.items():
            start = time.perf_counter()
            for _ in range(calls[name]):
                function()
            times[name].append((time.perf_counter() - start)/calls[name]/work*1e6)
    return {name: {"min_us": min(values), "median_us": median(values)} for name, values in times.items()}


def minima(functions: Mapping[str, Callable[[], Any]], work: int, **options: Any) -> dict[str, float]:
    """Only the minima, in microseconds."""
    return {name: timing["min_us"] for name, timing in interleaved(functions, work, **options).items()}


def with_ratios(timings: dict[str, dict[str, float]], peer: str) -> dict[str, dict[str, float]]:
    """Add how many times faster than the peer each engine is (by the minima, and by the medians)."""
    if peer in timings:
        for values in timings.values():
            values["ratio"] = timings[peer]["min_us"]/values["min_us"]
            values["median_ratio"] = timings[peer]["median_us"]/values["median_us"]
    return timings
