"""Arrays as text inside a page.

A float series changes little from frame to frame: the differences of its bit patterns, byte by byte, are mostly zeros, and deflate
packs them to a fraction. Nothing is lost; the page adds them up again.
"""

from __future__ import annotations

import zlib
from base64 import b64encode
from typing import Any

import numpy as np

_KINDS = {"f": np.dtype("<f4"), "d": np.dtype("<f8"), "i": np.dtype("<u4")}


class Buffers:
    """The arrays of a page in order; `add` says under which number the page finds one.

    >>> buffers = Buffers()
    >>> buffers.add(np.zeros((3, 2)))
    {'buffer': 0, 'kind': 'f', 'shape': [3, 2]}
    """

    def __init__(self) -> None:
        self.texts: list[str] = []

    def add(self, array: Any, kind: str = "f") -> dict[str, Any]:
        """An array of floats ("f", 32 bits), doubles ("d") or indices ("i"); its first axis is that of the differences."""
        values = np.asarray(array)
        self.texts.append(packed(values, kind))
        return {"buffer": len(self.texts) - 1, "kind": kind, "shape": list(values.shape)}


def packed(array: np.ndarray, kind: str) -> str:
    """Columns one after the other, as differences of bit patterns along them, their bytes in planes, deflated, in base64."""
    dtype = _KINDS[kind]
    rows = len(array) if array.ndim else 1
    columns = np.ascontiguousarray(array.reshape(rows, -1).T.astype(dtype))
    bits = columns.view(f"<u{dtype.itemsize}")
    steps = bits.copy()
    steps[:, 1:] -= bits[:, :-1]                                   # modulo 2^32 or 2^64
    planes = steps.reshape(-1).view(np.uint8).reshape(-1, dtype.itemsize).T
    return b64encode(zlib.compress(planes.tobytes(), 6)).decode("ascii")


def unpacked(text: str, kind: str, shape: list[int]) -> np.ndarray:
    """What the page makes of it: the inverse of `packed`.

    >>> series = np.array([[1.0, -2.0], [1.5, 1e-9]], dtype=np.float32)
    >>> np.array_equal(unpacked(packed(series, "f"), "f", [2, 2]), series)
    True
    """
    from base64 import b64decode

    dtype = _KINDS[kind]
    planes = np.frombuffer(zlib.decompress(b64decode(text)), np.uint8).reshape(dtype.itemsize, -1)
    steps = np.ascontiguousarray(planes.T).view(f"<u{dtype.itemsize}").reshape(-1, shape[0] if shape else 1)
    return np.add.accumulate(steps, axis=1, dtype=steps.dtype).view(dtype).T.reshape(shape)
