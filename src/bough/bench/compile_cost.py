"""Compile time, in a separate process with an empty cache: the forward kernels of a kind of model, then its derivatives.

    python -m bough.bench.compile_cost KIND

prints {"forward": seconds, "derivatives": seconds} of this process's time, which other processes do not change.
"""
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

KINDS: dict[str, str] = {"rigid": "tree36", "flexible": "flexible arm", "loops": "deployment", "flexible+loops": "jsc"}


def compile_cost(kind: str, empty: Path | None = None) -> dict[str, float]:
    """{"forward", "derivatives"} in seconds, "ratio": how many times the one is the other; what is compiled is left in the folder
    `empty`, if one is given."""
    with tempfile.TemporaryDirectory() if empty is None else nullcontext(str(empty)) as folder:
        done = subprocess.run([sys.executable, "-m", "bough.bench.compile_cost", kind], capture_output=True, text=True, check=True,
                              env=os.environ | {"BOUGH_CACHE_DIR": folder})
    found: dict[str, float] = json.loads(done.stdout)
    return found | {"ratio": found["derivatives"]/found["forward"]}


def system_of(kind: str) -> Any:
    from bough.bench.mechanisms import MECHANISMS, flexible_arm
    from bough.files import example, read_system
    if kind == "flexible":
        return flexible_arm(3, 2)
    return MECHANISMS[KINDS[kind]]() if kind == "rigid" else read_system(example(KINDS[kind]))


def measured(kind: str) -> dict[str, float]:
    """In this process: what the first call takes longer than the second."""
    system = system_of(kind)

    def longer(call: Callable[[], Any]) -> float:
        times = [time.process_time()]
        for _ in range(2):
            call()
            times.append(time.process_time())
        return 2.0*times[1] - times[0] - times[2]

    forward = longer(lambda: (model := system.compile()).forward_dynamics(model.q0, model.still, dynamics="order-n"))
    model = system.compile()
    return {"forward": forward, "derivatives": longer(lambda: model.forward_dynamics_derivatives(model.q0, model.still))}


if __name__ == "__main__":
    print(json.dumps(measured(sys.argv[1])))
