"""Force elements in results: what is recorded of them, and which elements each variable counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bough.compile.element_tables import exerted
from bough.describe import System
from bough.describe.elements import ELEMENTS, Element
from bough.describe.part import Recorded

if TYPE_CHECKING:
    from bough.analyze.body_motion import Bodies

VARIABLES: dict[str, Recorded] = {name: meaning for kind in ELEMENTS for name, meaning in kind.recorded.items()}
AXES = tuple(dict.fromkeys(meaning.dims[0] for meaning in VARIABLES.values()))     # each counts elements


def nouns(axis: str) -> str:
    """The kinds of elements along an axis, in words."""
    return " or ".join(kind.noun for kind in ELEMENTS if any(meaning.dims[0] == axis for meaning in kind.recorded.values()))


def along(system: System, axis: str) -> dict[str, Element]:
    """The elements of a system along an axis of variables."""
    return {name: element for name, element in system.elements.items()
            if any(meaning.dims[0] == axis for meaning in element.recorded.values())}  # fmt: skip


def element_values(bodies: Bodies) -> dict[str, np.ndarray]:
    """Of each variable, (states, elements, ...)."""
    system, states = bodies.model.system, len(bodies.elements)
    found: dict[str, list[np.ndarray]] = {name: [] for name in VARIABLES}
    for element, each in zip(system.elements.values(), exerted(bodies.elements), strict=True):
        for name, values in element.values(each, bodies).items():
            found[name].append(values)
    return {name: np.stack(parts, axis=1) if parts else np.zeros((states, 0)) for name, parts in found.items()}
