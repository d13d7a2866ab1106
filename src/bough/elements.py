"""Force elements: what the methods of System of the same names add."""

from bough.describe.elements import Buoyancy, Element, Line, Restoring

__all__ = ["Buoyancy", "Element", "Line", "Restoring"]
