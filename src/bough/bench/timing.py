"""Timing side by side: every engine in turn, many times over, so that a noisy machine disturbs all alike."""
import time
from collections.abc import Callable, Mapping
from statistics import median
from typing import Any


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


def with_ratios(timings: dict[str, dict[str, float]], peer: str) -> dict[str, dict[str, float]]:
    """Add how many times faster than the peer each engine is (by the minima, and by the medians)."""
    if peer in timings:
        for values in timings.values():
            values["ratio"] = timings[peer]["min_us"]/values["min_us"]
            values["median_ratio"] = timings[peer]["median_us"]/values["median_us"]
    return timings
