"""Operations of one evaluation of the accelerations of a model, counted while the sweeps run as plain Python in a separate process,
to compare with the formulas of papers.
"""
import io
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import astuple, dataclass, fields
from typing import NamedTuple

import numpy as np

from bough.analyze.equations_of_motion import room_for
from bough.compile.batch import Batch
from bough.compile.compiled_model import CompiledModel
from bough.sweeps import fields as f


@dataclass(frozen=True)
class Operations:
    """Number of operations of each kind; a sine and a cosine count as one each."""
    multiplications: int = 0
    additions: int = 0
    divisions: int = 0
    roots: int = 0
    sines: int = 0

    @property
    def flops(self) -> int:
        """Multiplications and additions."""
        return self.multiplications + self.additions

    def __add__(self, other: "Operations") -> "Operations":
        return Operations(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))


class OperationCounts(NamedTuple):
    """Operations of one evaluation of the accelerations, by the parts of the algorithm as they ran.  Prints as a table."""
    method: str
    parts: Mapping[str, Operations]

    @property
    def total(self) -> Operations:
        return sum(self.parts.values(), Operations())

    def __str__(self) -> str:
        names = [field.name for field in fields(Operations)]
        rows = [(part, *map(str, astuple(of))) for part, of in (*self.parts.items(), ("total", self.total))]
        head = (self.method, *names)
        widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]
        return "\n".join("  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in (head, *rows))


def count_operations(kernel: str, arrays: Mapping[str, np.ndarray]) -> tuple[dict[str, Operations], np.ndarray]:
    """Operations of a kernel by part of the algorithm, and its result; `arrays` are its arguments by name."""
    packed = io.BytesIO()
    np.savez(packed, kernel=np.array(kernel), **arrays)                 # type: ignore[arg-type]
    command = [sys.executable, "-m", "bough.analyze.counted_run"]
    run = subprocess.run(command, input=packed.getvalue(), stdout=subprocess.PIPE, check=True,
                         env=os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))})
    found = json.loads(run.stdout)
    parts = {part: Operations(*numbers) for part, numbers in found["parts"].items() if any(numbers)}
    return parts, np.array(found["out"]).reshape(arrays["out"].shape)


def operation_counts(model: CompiledModel, batch: Batch, dynamics: str) -> OperationCounts:
    """Of one evaluation of the accelerations of one state, by "order-n", "dense" or "cloud"."""
    tables = batch.tables
    arrays = {"features": np.array(tables.features), "plan": tables.plan, "pars": tables.pars, "tables": tables.tables,
              "t": batch.t, "x": batch.x, "u": batch.u,
              "out": room_for(model, batch, dynamics), "ws": np.zeros(tables.size(f.WS_SIZE) + tables.more(dynamics))}
    return OperationCounts(dynamics, count_operations(f"forward_{dynamics.replace('-', '_')}", arrays)[0])
