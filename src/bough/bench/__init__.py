"""Benchmarks as commands of the project: `bough bench ...`."""
from bough.bench.auto import auto
from bough.bench.calls_bench import calls
from bough.bench.campaign_bench import campaign
from bough.bench.connections_bench import connections
from bough.bench.cost_bench import cost
from bough.bench.derivatives_bench import derivatives
from bough.bench.flexible_bench import flexible
from bough.bench.forward_bench import forward
from bough.bench.gym_bench import gym
from bough.bench.jsc_bench import jsc
from bough.bench.loops_bench import loops
from bough.bench.momentum_bench import momentum
from bough.bench.operators_bench import operators
from bough.bench.orbit_bench import orbit
from bough.bench.stiff_bench import stiff
from bough.bench.structures_bench import structures

__all__ = ["auto", "calls", "campaign", "connections", "cost", "derivatives", "flexible", "forward", "gym", "jsc", "loops",
           "momentum", "operators", "orbit", "stiff", "structures"]
