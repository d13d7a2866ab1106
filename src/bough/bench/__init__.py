"""Benchmarks as commands of the project: `bough bench ...`."""
from bough.bench.dynamics import forward

__all__ = ["forward"]
