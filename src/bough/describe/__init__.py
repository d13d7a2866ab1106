"""What a person writes: a System of bodies, joints, loops, wheels, loads and force elements, in Python or in YAML."""

from bough.describe.body import Body
from bough.describe.document import json_schema
from bough.describe.elements import Buoyancy, Line, Restoring
from bough.describe.gravity import CentralGravity
from bough.describe.joint_kinds import (
    Cylindrical,
    Free,
    Gimbal,
    Planar,
    PointOnLine,
    PointOnPlane,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
    Weld,
)
from bough.describe.joints import Joint
from bough.describe.loads import Wrench
from bough.describe.loops import Distance, Frame, Loop
from bough.describe.settings import Simulation
from bough.describe.system import System, load
from bough.describe.tables import Table
from bough.describe.wheels import Wheel

__all__ = [
    "Body",
    "Buoyancy",
    "CentralGravity",
    "Cylindrical",
    "Distance",
    "Frame",
    "Free",
    "Gimbal",
    "Joint",
    "Line",
    "Loop",
    "Planar",
    "PointOnLine",
    "PointOnPlane",
    "Prismatic",
    "Restoring",
    "Revolute",
    "Simulation",
    "Spherical",
    "System",
    "Table",
    "Universal",
    "Weld",
    "Wheel",
    "Wrench",
    "json_schema",
    "load",
]
