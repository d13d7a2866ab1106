"""The public names of bough; `__init__.py` reads them here, and loads each when it is first used."""

from bough import (
    elements as elements,
    flex as flex,
    gym as gym,
    linear as linear,
    motion as motion,
    shapes as shapes,
)
from bough.describe import (
    Body as Body,
    CentralGravity as CentralGravity,
    Coupling as Coupling,
    Cylindrical as Cylindrical,
    Differential as Differential,
    Distance as Distance,
    Attach as Attach,
    Close as Close,
    Condition as Condition,
    Detach as Detach,
    Event as Event,
    Frame as Frame,
    Free as Free,
    Friction as Friction,
    Gear as Gear,
    Gearbox as Gearbox,
    Gimbal as Gimbal,
    Joint as Joint,
    Latch as Latch,
    Input as Input,
    Levels as Levels,
    Lock as Lock,
    Loop as Loop,
    Mimic as Mimic,
    Open as Open,
    Output as Output,
    Planar as Planar,
    Planetary as Planetary,
    PointOnLine as PointOnLine,
    PointOnPlane as PointOnPlane,
    Prescribe as Prescribe,
    Prismatic as Prismatic,
    RackAndPinion as RackAndPinion,
    Release as Release,
    Revolute as Revolute,
    Screw as Screw,
    Simulation as Simulation,
    Slosh as Slosh,
    Spherical as Spherical,
    Stiffen as Stiffen,
    Stop as Stop,
    System as System,
    Tank as Tank,
    TimeTable as TimeTable,
    Universal as Universal,
    Weld as Weld,
    Wheel as Wheel,
    Wrench as Wrench,
    load as load,
)
from bough.describe.document import json_schema as json_schema
from bough.errors import (
    BoughError as BoughError,
    DescriptionError as DescriptionError,
    ModelError as ModelError,
    SimulationError as SimulationError,
    StateError as StateError,
    StepWarning as StepWarning,
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
from bough.analyze.linear import LinearSystem as LinearSystem
from bough.integrate.sensitivities import sensitivities as sensitivities
from bough.model import Model as Model
from bough.model.compiler import compile_system as compile_system
from bough.results import (
    Result as Result,
    open_result as open_result,
)
from bough.look import view as view
from bough.look.mode_replay import view_mode as view_mode
from bough.campaign.study import Campaign as Campaign
from bough.campaign.study import open_campaign as open_campaign
from bough.simulation import simulate as simulate
from bough.simulator import (
    Simulator as Simulator,
    resume as resume,
)

__version__: str
__all__: list[str]
