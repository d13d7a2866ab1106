"""Benchmarks as commands of the project: `bough bench ...`."""
from bough.bench.dynamics import forward
from bough.bench.flexible import flexible
from bough.bench.jsc import jsc
from bough.bench.loops import closed_loops
from bough.bench.momentum import momentum
from bough.bench.operators import operators

__all__ = ["closed_loops", "flexible", "forward", "jsc", "momentum", "operators"]
