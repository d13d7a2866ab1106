"""The public names of bough as type checkers see them; `__init__.py` loads the same names when they are first used."""

from bough import (
    elements as elements,
    flex as flex,
    gym as gym,
    motion as motion,
    shapes as shapes,
)
from bough.describe import (
    Body as Body,
    CentralGravity as CentralGravity,
    Cylindrical as Cylindrical,
    Distance as Distance,
    Event as Event,
    Frame as Frame,
    Free as Free,
    Gimbal as Gimbal,
    Joint as Joint,
    Latch as Latch,
    Input as Input,
    Lock as Lock,
    Loop as Loop,
    Output as Output,
    Planar as Planar,
    PointOnLine as PointOnLine,
    PointOnPlane as PointOnPlane,
    Prescribe as Prescribe,
    Prismatic as Prismatic,
    Release as Release,
    Revolute as Revolute,
    Simulation as Simulation,
    Spherical as Spherical,
    Stop as Stop,
    System as System,
    TimeTable as TimeTable,
    Universal as Universal,
    Weld as Weld,
    Wheel as Wheel,
    Wrench as Wrench,
    json_schema as json_schema,
    load as load,
)
from bough.errors import (
    BoughError as BoughError,
    DescriptionError as DescriptionError,
    ModelError as ModelError,
    SimulationError as SimulationError,
    StateError as StateError,
)
from bough.exchange.urdf import load_urdf as load_urdf
from bough.flex import (
    FlexibleBody as FlexibleBody,
    beam as beam,
    from_matrices as from_matrices,
    solid as solid,
)
from bough.integrate import (
    Law as Law,
    controller as controller,
    law as law,
)
from bough.model import Model as Model
from bough.model.compiler import compile_system as compile_system
from bough.results import (
    Result as Result,
    open_result as open_result,
)
from bough.look import view as view
from bough.simulation import simulate as simulate
from bough.simulator import (
    Simulator as Simulator,
    resume as resume,
)

__version__: str
__all__: list[str]
