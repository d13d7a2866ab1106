"""Benchmarks as commands of the project: `bough bench ...`."""
from bough.bench.auto import auto
from bough.bench.cost import cost
from bough.bench.dynamics import forward
from bough.bench.flexible import flexible
from bough.bench.jsc import jsc
from bough.bench.loops import closed_loops
from bough.bench.momentum import momentum
from bough.bench.operators import operators

__all__ = ["auto", "closed_loops", "cost", "flexible", "forward", "jsc", "momentum", "operators"]
