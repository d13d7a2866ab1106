"""bough: multibody dynamics in O(N), compiled from Python.

    import bough

    s = bough.System("pendulum", gravity=(0, 0, -9.81))
    s.body("bob", joint=bough.Revolute("y"), mass=2.0, com=(0, 0, -1))
    result = bough.simulate(s.compile(), q0=[0.1], until=10.0, dt=1e-3)

Names are loaded when they are first used, so that importing the package takes no time; `__init__.pyi` beside this file tells
editors and type checkers the same.
"""
from importlib import import_module
from typing import Any

__version__ = "0.2.0.dev0"

_HOMES = {
    "bough.describe": ("System", "Body", "Joint", "Weld", "Revolute", "Prismatic", "Cylindrical", "Universal", "Planar", "Gimbal",
                       "Spherical", "PointOnLine", "PointOnPlane", "Free", "Loop", "Frame", "Distance", "Wheel", "Wrench",
                       "TimeTable", "CentralGravity", "Simulation", "load", "Event", "Lock", "Release", "Prescribe",
                       "Latch", "Condition", "Attach", "Detach", "Close", "Open", "Stiffen", "Stop", "Input", "Output",
                       "Coupling", "Gear", "RackAndPinion", "Screw", "Differential",
                       "Planetary", "Mimic", "Friction", "Gearbox", "Tank", "Levels", "Slosh"),
    "bough.describe.document": ("json_schema",),
    "bough.exchange.urdf": ("load_urdf",),
    "bough.flex": ("FlexibleBody", "beam", "from_matrices", "solid"),
    "bough.errors": ("BoughError", "DescriptionError", "ModelError", "StateError", "SimulationError", "StepWarning"),
    "bough.model": ("Model",),
    "bough.analyze.linear": ("LinearSystem",),
    "bough.integrate": ("Law", "controller", "law"),
    "bough.integrate.sensitivities": ("sensitivities",),
    "bough.simulation": ("simulate",),
    "bough.simulator": ("Simulator", "resume"),
    "bough.results": ("Result", "open_result"),
    "bough.look": ("view",),
    "bough.campaign.study": ("Campaign", "open_campaign"),
}
_MODULES = ("motion", "shapes", "elements", "flex", "gym", "linear")
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
_INTERNAL = {"compile_system": "bough.model.compiler",           # for System.compile, which knows no model
             "plot_modes": "bough.results.mode_plots", "view_mode": "bough.look.mode_replay"}      # for Modes
__all__ = ["__version__", *_HOME_OF, *_MODULES]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"bough.{name}")
    home = _HOME_OF.get(name) or _INTERNAL.get(name)
    if home is None:
        from bough.errors import nearest
        raise AttributeError(f"module 'bough' has no attribute '{name}'{nearest(name, __all__)}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
