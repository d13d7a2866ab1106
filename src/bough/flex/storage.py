"""A FlexibleBody as plain named arrays, and back: what an NPZ file holds."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from bough.errors import DescriptionError
from bough.flex.cross import Array
from bough.flex.flexible_body import FlexibleBody, field_names
from bough.flex.geometric import GeometricStiffness
from bough.flex.integrals import ModalIntegrals
from bough.flex.nodes import MassPoints, Nodes, Outline

_PARTS: dict[str, type] = {
    "integrals": ModalIntegrals,
    "nodes": Nodes,
    "points": MassPoints,
    "geometric": GeometricStiffness,
    "outline": Outline,
}
_TEXTS = ("variant", "reduction", "inboard")
_MATRICES = ("K", "D", "frequencies")
_NEEDED = ("integrals", "nodes")
_LATER = ("outline.faces",)  # what the first files did not hold, and may be absent


def to_arrays(body: FlexibleBody) -> dict[str, Array]:
    """Every array of a body, named `part.field`.

    >>> from bough.flex import beam
    >>> arrays = to_arrays(beam(1.0, EI=1.0, mass_per_length=1.0, modes=3))
    >>> arrays["integrals.Mff"].shape, str(arrays["inboard"])
    ((3, 3), 'root')
    """
    arrays: dict[str, Any] = {name: getattr(body, name) for name in _MATRICES}
    arrays |= {name: np.array(getattr(body, name) or "") for name in _TEXTS}
    for name, kind in _PARTS.items():
        part = getattr(body, name)
        if part is not None:
            arrays |= {f"{name}.{field}": np.asarray(getattr(part, field)) for field in field_names(kind)}
    return arrays


def from_arrays(arrays: Mapping[str, Any]) -> FlexibleBody:
    """The body that `to_arrays` wrote."""
    there = [name for name, kind in _PARTS.items() if name in _NEEDED or f"{name}.{field_names(kind)[0]}" in arrays]
    wanted = [*_MATRICES, *_TEXTS, *(f"{name}.{field}" for name in there for field in field_names(_PARTS[name]))]
    missing = [name for name in wanted if name not in arrays and name not in _LATER]
    if missing:
        raise DescriptionError(f"flexible body: the arrays lack {missing[0]!r}; give what FlexibleBody.to_arrays() or save() wrote")
    parts: dict[str, Any] = {name: np.asarray(arrays[name]) for name in _MATRICES}
    parts |= {name: str(arrays[name]) for name in _TEXTS}
    parts["inboard"] = parts["inboard"] or None
    for name in there:
        known = [field for field in field_names(_PARTS[name]) if f"{name}.{field}" in arrays]
        values = {field: np.asarray(arrays[f"{name}.{field}"]) for field in known}
        if name == "nodes":
            values["names"] = tuple(str(each) for each in values["names"])  # type: ignore[assignment]
            values["rotates"] = tuple(bool(each) for each in values["rotates"])  # type: ignore[assignment]
        parts[name] = _PARTS[name](**values)
    return FlexibleBody(**parts)


def to_npz(body: FlexibleBody) -> bytes:
    """What an NPZ file of the body holds."""
    stream = BytesIO()
    np.savez_compressed(stream, **to_arrays(body))  # type: ignore[arg-type]
    return stream.getvalue()


def read_npz(source: Path | bytes, name: str) -> FlexibleBody:
    """The body in an NPZ file, or in what such a file holds; `name` is what messages call it."""
    try:
        with np.load(BytesIO(source) if isinstance(source, bytes) else source, allow_pickle=False) as arrays:
            return from_arrays(dict(arrays))
    except DescriptionError:
        raise
    except FileNotFoundError:
        raise DescriptionError(f"flexible body: the file {name!r} does not exist; give what FlexibleBody.save() wrote") from None
    except (OSError, ValueError, TypeError, EOFError, BadZipFile):  # TypeError: an NPY file holds one array alone
        raise DescriptionError(f"flexible body: {name!r} is no NPZ file of a body; give what FlexibleBody.save() wrote") from None
