"""Benchmarks as commands of the project: `bough bench ...`."""
from bough.bench.auto import auto
from bough.bench.calls_bench import calls
from bough.bench.cost_bench import cost
from bough.bench.flexible_bench import flexible
from bough.bench.forward_bench import forward
from bough.bench.gym_bench import gym
from bough.bench.jsc_bench import jsc
from bough.bench.loops_bench import loops
from bough.bench.momentum_bench import momentum
from bough.bench.operators_bench import operators

__all__ = ["auto", "calls", "cost", "flexible", "forward", "gym", "jsc", "loops", "momentum", "operators"]
