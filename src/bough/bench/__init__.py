"""Benchmarks as commands of the project: `bough bench ...`."""
from bough.bench.dynamics import forward
from bough.bench.flexible import flexible

__all__ = ["flexible", "forward"]
