"""A process that runs one kernel in plain Python on counted numbers: started by `count_operations` with NUMBA_DISABLE_JIT=1.

Reads the kernel's arguments as an NPZ file from stdin; writes {part of the algorithm: operations of each kind} as JSON."""
import io
import json
import sys
from types import ModuleType

import numpy as np

from bough.analyze.counting.number import TALLY, Memory
from bough.kernels.lanes import Features
from bough.sweeps import articulated, calls, closures, cloud, composite, derivative, loads

# by module: which functions make a part of the algorithm
PARTS: dict[ModuleType, dict[str, str]] = {
    loads: {"gather_inputs": "loads", "apply_loads": "loads"},
    closures: {"assemble_loops": "loops"},
    cloud: {"solve_cloud": "cloud"},
    derivative: {"remainder_motion": "motion", "vdot_motion": "motion", "accelerate_wheels": "wheels"},
    articulated: {"gather_inertia": "articulated inertia", "scatter_acceleration": "accelerations"},
    composite: {"store_wrenches": "bias", "gather_wrench": "bias", "gather_mass_matrix": "mass matrix",
                "factor_dense": "factors", "solve_loops_dense": "loops", "back_substitute_dense": "solution"},
}


def main() -> None:
    given = np.load(io.BytesIO(sys.stdin.buffer.read()))
    for module, parts in PARTS.items():
        for name, label in parts.items():
            setattr(module, name, TALLY.labeled(label, getattr(module, name)))
    arrays = {name: Memory.of(given[name]) for name in ("pars", "tables", "t", "x", "u", "out", "ws")}
    getattr(calls, str(given["kernel"]))(Features(*given["features"].tolist()), given["plan"], *arrays.values())
    found = {"parts": TALLY.by_part, "out": [float(value) for value in arrays["out"].ravel()]}
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
