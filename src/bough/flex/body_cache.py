"""Reduced bodies kept in files: NPZ, without pickles, with a key to what they were made from."""

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from bough import __version__
from bough.flex.finite_elements import FiniteElements
from bough.flex.flexible_body import FlexibleBody


def body_key(model: FiniteElements, options: Mapping[str, Any]) -> str:
    """The key of a model and options: a hash of matrices, positions, attachments and options."""
    found = sha256(__version__.encode())
    _add(found, [each for each in (model.mass, model.stiffness, model.links) if each is not None])
    _add(found, [model.position, model.held, model.dependent, model.lines, model.faces])
    for place in model.attachments:
        found.update(repr((place.name, place.nodes)).encode())
    found.update(repr((model.inboard, model.dofs_per_node)).encode())
    _add(found, dict(sorted(options.items())))
    return found.hexdigest()


def _add(found: Any, value: Any) -> None:
    """Numbers bit for bit; others as they print."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        found.update(f"{value.dtype} {value.shape}".encode())
        found.update(np.ascontiguousarray(value).tobytes())
    elif isinstance(value, Mapping):
        for key, entry in value.items():
            found.update(str(key).encode())
            _add(found, entry)
    elif isinstance(value, list | tuple):
        for entry in value:
            _add(found, entry)
    elif hasattr(value, "tocsr"):
        matrix = value.tocsr()
        _add(found, [matrix.indptr, matrix.indices, matrix.data])
    else:
        found.update(repr(value).encode())


def cached(path: Path, key: str) -> FlexibleBody | None:
    """The body in a file, if it was made by this key; None if there is none, or another."""
    try:
        with np.load(path, allow_pickle=False) as arrays:
            return FlexibleBody.from_arrays(dict(arrays)) if str(arrays["key"]) == key else None
    except Exception:  # of NumPy, zip and zlib: it is made again
        return None
