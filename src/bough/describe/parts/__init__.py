"""The kinds of parts that a system has besides bodies, one file each: description, checks, compiled numbers, records, summaries and
drawing side by side."""

from bough.describe.part import Part, SystemView
from bough.describe.parts.buoyancy import Buoyancy
from bough.describe.parts.bushing import Bushing
from bough.describe.parts.coupling import Coupling
from bough.describe.parts.element import Element
from bough.describe.parts.event import Event
from bough.describe.parts.friction import Friction
from bough.describe.parts.line import Line
from bough.describe.parts.loop import Loop
from bough.describe.parts.port import Input, Output
from bough.describe.parts.restoring import Restoring
from bough.describe.parts.stop import Stop
from bough.describe.parts.tank import Tank
from bough.describe.parts.wheel import Wheel
from bough.describe.parts.wrench import Wrench

ELEMENTS: tuple[type[Element], ...] = (Line, Restoring, Buoyancy, Bushing)  # force elements, in the order of the compiled tables
PARTS: tuple[type[Part], ...] = (Loop, Coupling, Wheel, Wrench, Event, Stop, Friction, Tank, *ELEMENTS, Input,
                                 Output)  # as in YAML files


def parts_of(system: SystemView) -> list[Part]:
    """All parts of a system besides bodies, kind by kind."""
    return [part for kind in PARTS for part in system.of(kind).values()]


__all__ = ["ELEMENTS", "PARTS", "Buoyancy", "Bushing", "Coupling", "Element", "Event", "Friction", "Input", "Line", "Loop",
           "Output", "Part", "Restoring", "Stop", "Tank", "Wheel", "Wrench", "parts_of"]
