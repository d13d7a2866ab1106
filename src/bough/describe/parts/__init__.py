"""The kinds of parts that a system has besides bodies, one file each; force elements are in `describe.elements`."""

from bough.describe.elements import ELEMENTS
from bough.describe.part import Part
from bough.describe.parts.coupling import Coupling
from bough.describe.parts.event import Event
from bough.describe.parts.friction import Friction
from bough.describe.parts.loop import Loop
from bough.describe.parts.port import Input, Output
from bough.describe.parts.stop import Stop
from bough.describe.parts.tank import Tank
from bough.describe.parts.wheel import Wheel
from bough.describe.parts.wrench import Wrench

PARTS: tuple[type[Part], ...] = (Loop, Coupling, Wheel, Wrench, Event, Stop, Friction, Tank, *ELEMENTS, Input,
                                 Output)  # as in YAML files

__all__ = ["ELEMENTS", "PARTS", "Coupling", "Event", "Friction", "Input", "Loop", "Output", "Part", "Stop", "Tank", "Wheel",
           "Wrench"]
