"""bough: multibody dynamics in O(N), compiled from Python.

    import bough

    s = bough.System("pendulum", gravity=(0, 0, -9.81))
    s.body("bob", joint=bough.Revolute("y"), mass=2.0, com=(0, 0, -1))
    result = bough.simulate(s.compile(), q0=[0.1], until=10.0, dt=1e-3)

Names are loaded when they are first used, so that importing the package takes no time; `__init__.pyi` beside this file lists them,
here and for editors and type checkers.
"""
from importlib import import_module
from typing import Any

from bough.lazy import homes

__version__ = "0.2.0.dev0"

_HOME_OF = homes(__file__)
_INTERNAL = ("compile_system", "view_mode")           # used by System.compile, Modes
__all__ = ["__version__", *(name for name in _HOME_OF if name not in _INTERNAL)]


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home == __name__:
        return import_module(f"bough.{name}")
    if home is None:
        from bough.errors import nearest
        raise AttributeError(f"module 'bough' has no attribute '{name}'{nearest(name, __all__)}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
