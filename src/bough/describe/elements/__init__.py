"""Force elements, one file each: description, checks, compiled numbers, records, summaries and drawing side by side."""

from bough.describe.elements.buoyancy import Buoyancy
from bough.describe.elements.bushing import Bushing
from bough.describe.elements.element import Element
from bough.describe.elements.line import Line
from bough.describe.elements.restoring import Restoring

ELEMENTS: tuple[type[Element], ...] = (Line, Restoring, Buoyancy, Bushing)  # in the order of the compiled tables

__all__ = ["Buoyancy", "Bushing", "Element", "Line", "Restoring"]
