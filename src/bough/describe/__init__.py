"""What a person writes: a System of bodies, joints, motions, events, loops, wheels, loads, force elements, in Python or YAML."""

from typing import TYPE_CHECKING

from bough.describe.body import Body, Frame
from bough.describe.body_shapes import Box, Cylinder, Mesh, Shape, Sphere
from bough.describe.joint import (
    Cylindrical,
    Free,
    Gimbal,
    Joint,
    Planar,
    PointOnLine,
    PointOnPlane,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
    Weld,
)
from bough.describe.motions import Constant, Harmonics, Move, Pieces, Polynomial, Rate, Spline, TimeTable
from bough.describe.parts.connection import Attach, Close, Detach, Open, Stiffen
from bough.describe.parts.coupling import Coupling, Differential, Gear, Gearbox, Mimic, Planetary, RackAndPinion, Screw
from bough.describe.parts.event import Condition, Event, Latch, Lock, Prescribe, Release
from bough.describe.parts.friction import Friction
from bough.describe.parts.loop import Distance, Loop
from bough.describe.parts.port import Input, Output
from bough.describe.parts.stop import Stop
from bough.describe.parts.tank import Levels, Slosh, Tank
from bough.describe.parts.wheel import Wheel
from bough.describe.parts.wrench import Wrench
from bough.describe.settings import CentralGravity, Simulation
from bough.describe.system import System, load
from bough.lazy import submodules

if TYPE_CHECKING:                       # imported on first use
    from bough.describe import document as document, mesh_files as mesh_files
else:
    __getattr__ = submodules(__name__)

__all__ = [
    "Attach", "Body", "Box", "CentralGravity", "Close", "Condition", "Constant", "Coupling", "Cylinder", "Cylindrical", "Detach",
    "Differential", "Distance", "Event",
    "Frame", "Free", "Friction", "Gear", "Gearbox", "Gimbal", "Harmonics", "Input", "Joint", "Latch", "Levels", "Lock", "Loop",
    "Mesh", "Mimic", "Move", "Open", "Output", "Pieces", "Planar", "Planetary", "PointOnLine", "PointOnPlane", "Polynomial",
    "Prescribe", "Prismatic", "RackAndPinion", "Rate", "Release", "Revolute", "Screw", "Shape", "Simulation", "Slosh", "Sphere",
    "Spherical", "Spline", "Stiffen", "Stop", "System", "Tank", "TimeTable", "Universal", "Weld", "Wheel", "Wrench",
    "load",
]
