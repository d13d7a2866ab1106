"""A FlexibleBody as plain named arrays, and back: what an NPZ file holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bough.errors import DescriptionError
from bough.flex.cross import Array
from bough.flex.flexible_body import FlexibleBody, field_names
from bough.flex.geometric import GeometricStiffness
from bough.flex.integrals import ModalIntegrals
from bough.flex.shapes import MassPoints, Nodes, Outline

_PARTS: dict[str, type] = {
    "integrals": ModalIntegrals,
    "nodes": Nodes,
    "points": MassPoints,
    "geometric": GeometricStiffness,
    "outline": Outline,
}
_TEXTS = ("variant", "reduction", "inboard")
_MATRICES = ("K", "D", "frequencies")


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
    missing = [name for name in (*_MATRICES, *_TEXTS, "integrals.m", "nodes.names") if name not in arrays]
    if missing:
        raise DescriptionError(f"flexible body: the arrays lack {missing[0]!r}; give what FlexibleBody.to_arrays() or save() wrote")
    parts: dict[str, Any] = {name: np.asarray(arrays[name]) for name in _MATRICES}
    parts |= {name: str(arrays[name]) for name in _TEXTS}
    parts["inboard"] = parts["inboard"] or None
    for name, kind in _PARTS.items():
        if f"{name}.{field_names(kind)[0]}" in arrays:
            values = {field: np.asarray(arrays[f"{name}.{field}"]) for field in field_names(kind)}
            if name == "nodes":
                values["names"] = tuple(str(each) for each in values["names"])  # type: ignore[assignment]
                values["rotates"] = tuple(bool(each) for each in values["rotates"])  # type: ignore[assignment]
            parts[name] = kind(**values)
    return FlexibleBody(**parts)
