"""Arrays as text inside a page.

A series changes little from frame to frame: the differences of its bit patterns, byte by byte, are mostly zeros, which deflate
compresses well. The page adds them up again. Data for plots and arrows are quantized to 16 bits of their range.
"""

import zlib
from base64 import b64encode
from typing import Any

import numpy as np

_TYPES = {"float": "<f4", "double": "<f8", "index": "<u4", "fine": "<u2"}
KINDS: dict[str, np.dtype] = {kind: np.dtype(name) for kind, name in _TYPES.items()}
STEPS = 65534  # in the range of a column, from minimum to maximum; one more means: not finite
_LEVEL = 5


class Buffers:
    """The arrays of a page in order; `add` returns the number of an array.

    >>> buffers = Buffers()
    >>> buffers.add(np.zeros((3, 2)))
    {'buffer': 0, 'kind': 'float', 'shape': [3, 2]}
    """

    def __init__(self) -> None:
        self.texts: list[str] = []

    def add(self, array: Any, kind: str = "float") -> dict[str, Any]:
        """An array of floats (32 bits), doubles, or indices; differences are taken along its first axis."""
        values = np.asarray(array)
        self.texts.append(packed(values, kind))
        return {"buffer": len(self.texts) - 1, "kind": kind, "shape": list(values.shape)}

    def add_fine(self, array: np.ndarray) -> dict[str, Any]:
        """Series (frames, columns) to 16 bits: a value is its column's `low` plus a number times its `step`."""
        numbers, low, step = quantized(array)
        return self.add(numbers, "fine") | {"low": low.tolist(), "step": step.tolist()}


def quantized(array: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Numbers (frames, columns), and the minimum and step of each column; STEPS + 1 for non-finite values.

    >>> numbers, low, step = quantized(np.array([[2.0], [3.0], [np.nan]]))
    >>> numbers.tolist(), low.tolist(), bool(step[0] == 1 / STEPS)
    ([[0], [65534], [65535]], [2.0], True)
    """
    fit = np.isfinite(array)
    low = np.where(fit, array, np.inf).min(axis=0, initial=np.inf)
    high = np.where(fit, array, -np.inf).max(axis=0, initial=-np.inf)
    low, high = np.where(low <= high, low, 0.0), np.where(low <= high, high, 0.0)
    step = (high - low) / STEPS
    numbers = np.round((np.where(fit, array, low) - low) / np.where(step > 0, step, 1.0))
    return np.where(fit, numbers, STEPS + 1).astype("<u2"), low, step


def packed(array: np.ndarray, kind: str) -> str:
    """Columns one after the other, as differences of bit patterns along them, their bytes in planes, deflated, in base64."""
    dtype = KINDS[kind]
    columns = np.ascontiguousarray(array.reshape(len(array), int(np.prod(array.shape[1:]))).T.astype(dtype))
    bits = columns.view(f"<u{dtype.itemsize}")
    steps = bits.copy()
    steps[:, 1:] -= bits[:, :-1]                                   # modulo 2^16, 2^32 or 2^64
    planes = steps.reshape(-1).view(np.uint8).reshape(-1, dtype.itemsize).T
    return b64encode(zlib.compress(planes.tobytes(), _LEVEL)).decode("ascii")
