"""bough: multibody dynamics in O(N), compiled from Python.

    import bough

    s = bough.System("pendulum", gravity=(0, 0, -9.81))
    s.body("bob", joint=bough.Revolute("y"), mass=2.0, com=(0, 0, -1))
    result = bough.simulate(s.compile(), q0=[0.1], until=10.0, dt=1e-3)

Names are loaded when they are first used, so that importing the package takes no time.
"""
from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "bough.describe": ("System", "Body", "Joint", "Weld", "Revolute", "Prismatic", "Cylindrical", "Universal", "Planar", "Gimbal",
                       "Spherical", "PointOnLine", "PointOnPlane", "Free", "Loop", "Frame", "Distance", "Wheel", "Wrench", "Line",
                       "Restoring", "Buoyancy", "Table", "CentralGravity", "Simulation", "load", "json_schema",
                       "Constant", "Rate", "Polynomial", "Spline", "Harmonics", "Move", "Pieces",
                       "Event", "Lock", "Release", "Prescribe", "Latch", "Stop", "Box", "Cylinder", "Sphere", "Mesh"),
    "bough.exchange.urdf": ("load_urdf",),
    "bough.flex": ("FlexibleBody", "beam", "box", "from_matrices", "solid"),
    "bough.errors": ("BoughError", "DescriptionError", "ModelError", "StateError", "SimulationError"),
    "bough.model": ("Model",),
    "bough.integrate": ("controller",),
    "bough.simulation": ("simulate",),
    "bough.results": ("Result", "open_result"),
    "bough.look": ("view",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
__all__ = ["__version__", *_HOME_OF]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        from bough.errors import nearest
        raise AttributeError(f"module 'bough' has no attribute '{name}'{nearest(name, _HOME_OF)}")
    value = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME_OF])
