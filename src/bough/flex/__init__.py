"""Flexible bodies: from finite elements to the constant arrays that the dynamics reads.

beam_model, solid_model, matrices_model -> FiniteElements -> reduce -> FlexibleBody
"""

from importlib import import_module
from typing import Any

from bough.lazy import homes, submodules

_HOME_OF = {name: home for name, home in homes(__file__).items() if home != __name__}        # but for its own files
__all__ = list(_HOME_OF)


def __getattr__(name: str) -> Any:
    """Makers of bodies, and files, are loaded when they are first used."""
    if name not in _HOME_OF:
        return submodules(__name__)(name)
    value = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value
