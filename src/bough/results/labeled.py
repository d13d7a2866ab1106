"""Arrays with names for their axes, units and meaning: what plots, files and the xarray dataset are all made from.

xarray itself takes half a second to import; a run that only writes its file and its plots never needs it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import xarray


@dataclass(frozen=True)
class Variable:
    """An array, what its axes are called, its unit and what it is."""

    dims: tuple[str, ...]
    values: np.ndarray
    units: str = ""
    long_name: str = ""

    @property
    def attrs(self) -> dict[str, str]:
        """Its unit and meaning, where it has them."""
        named = {"units": self.units, "long_name": self.long_name}
        return {key: text for key, text in named.items() if text}


@dataclass
class Labeled:
    """Variables, the coordinates of their axes, and what holds for all of them."""

    coords: dict[str, Variable] = field(default_factory=dict)
    variables: dict[str, Variable] = field(default_factory=dict)
    attrs: dict[str, Any] = field(default_factory=dict)

    def to_xarray(self) -> xarray.Dataset:
        """The same as an xarray.Dataset."""
        import xarray

        def convert(variables: dict[str, Variable]) -> dict[str, Any]:
            return {name: xarray.Variable(v.dims, v.values, v.attrs) for name, v in variables.items()}

        return xarray.Dataset(convert(self.variables), convert(self.coords), self.attrs)
