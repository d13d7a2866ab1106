"""Force elements: what the methods of System of the same names add."""

from bough.describe.parts import Buoyancy, Bushing, Element, Line, Restoring

__all__ = ["Buoyancy", "Bushing", "Element", "Line", "Restoring"]
