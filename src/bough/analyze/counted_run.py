"""A process that runs one kernel in plain Python on counted numbers: started by `count_operations` with NUMBA_DISABLE_JIT=1.

Reads the kernel's arguments as an NPZ file from stdin; writes {part of the algorithm: operations of each kind} as JSON.

Counted are the operations of a compiled sweep: those with numbers of the state, of the model or of the workspace. Constants of the
source are different: adding 0 and multiplying by 1 or -1 are not counted, since compilers remove them.
"""
from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from functools import total_ordering
from operator import add, mul
from types import ModuleType
from typing import Any

import numpy as np

from bough.kernels.lanes import Features
from bough.sweeps import articulated, calls, closures, cloud, composite, derivative, loads

MULTIPLICATION, ADDITION, DIVISION, ROOT, SINE, KINDS = range(6)


class Tally:
    """Operations by the part of the algorithm that is running: the outermost one that has a label."""

    def __init__(self) -> None:
        self.by_part: dict[str, list[int]] = {}
        self.label: str | None = None
        self.now = self._of("other")

    def _of(self, label: str) -> list[int]:
        return self.by_part.setdefault(label, [0]*KINDS)

    def labeled(self, label: str, function: Any) -> Any:
        """The function, with its operations counted under the label."""
        def counting(*args: Any) -> Any:
            if self.label is not None:
                return function(*args)
            self.label, self.now = label, self._of(label)
            try:
                return function(*args)
            finally:
                self.label, self.now = None, self._of("other")
        return counting


TALLY = Tally()


@total_ordering
class Counted:
    """A float whose arithmetic is counted."""
    __slots__ = ("value",)
    ndim = 0

    def __init__(self, value: float) -> None:
        self.value = value

    def _with(self, other: Any, kind: int, neutral: float, operation: Callable[[float, float], float]) -> Any:
        """A product or a sum; with a constant of the source it is not counted if the constant is neutral, up to its sign."""
        if isinstance(other, np.ndarray):
            return NotImplemented
        if isinstance(other, Counted) or abs(other) != neutral:
            TALLY.now[kind] += 1
        return Counted(operation(self.value, float(other)))

    def __mul__(self, other: Any) -> Any:
        return self._with(other, MULTIPLICATION, 1.0, mul)

    def __add__(self, other: Any) -> Any:
        return self._with(other, ADDITION, 0.0, add)

    __rmul__, __radd__ = __mul__, __add__

    def __neg__(self) -> Counted:
        return Counted(-self.value)

    def __abs__(self) -> Counted:
        return Counted(abs(self.value))

    def __sub__(self, other: Any) -> Any:
        return NotImplemented if isinstance(other, np.ndarray) else self + -other

    def __rsub__(self, other: Any) -> Any:
        return NotImplemented if isinstance(other, np.ndarray) else -self + other

    def __truediv__(self, other: Any) -> Counted:
        TALLY.now[DIVISION] += 1
        return Counted(self.value/float(other))

    def __rtruediv__(self, other: Any) -> Counted:
        TALLY.now[DIVISION] += 1
        return Counted(float(other)/self.value)

    def sqrt(self) -> Counted:                                  # NumPy's functions call these
        TALLY.now[ROOT] += 1
        return Counted(float(np.sqrt(self.value)))

    def sin(self) -> Counted:
        TALLY.now[SINE] += 1
        return Counted(float(np.sin(self.value)))

    def cos(self) -> Counted:
        TALLY.now[SINE] += 1
        return Counted(float(np.cos(self.value)))

    def __lt__(self, other: Any) -> bool:
        return self.value < float(other)

    def __eq__(self, other: object) -> bool:
        return self.value == float(other)                       # type: ignore[arg-type]

    __hash__ = None                                             # type: ignore[assignment]

    def __float__(self) -> float:
        return self.value

    def __int__(self) -> int:
        return int(self.value)


class Memory(np.ndarray):
    """An array of counted numbers; constants that are stored in it become counted numbers."""

    @classmethod
    def of(cls, values: np.ndarray) -> Memory:
        made = np.empty(values.shape, object).view(cls)
        made.reshape(-1)[:] = [Counted(value) for value in values.ravel().tolist()]
        return made

    def __setitem__(self, index: Any, value: Any) -> None:
        if isinstance(value, np.ndarray) and value.ndim == 0:
            value = value.item()
        super().__setitem__(index, value if isinstance(value, (Counted, np.ndarray, list)) else Counted(float(value)))


# ---- the process ---------------------------------------------------------------------------------------------------------
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
