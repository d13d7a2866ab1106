"""Steppers as data, and the loops over steps."""
from typing import TYPE_CHECKING

from bough.integrate.compiled.callback import Controller, controller
from bough.integrate.integration import integrate
from bough.integrate.laws import Law, law
from bough.integrate.trajectory import Trajectory
from bough.lazy import submodules

if TYPE_CHECKING:                       # imported on first use: what only some runs have
    from bough.integrate import (
        backlash as backlash,
        checkpoint as checkpoint,
        conditions as conditions,
        connecting as connecting,
        eigenvalues as eigenvalues,
        event_handler as event_handler,
        mounted_run as mounted_run,
        stiff as stiff,
        watchers as watchers,
    )
else:
    __getattr__ = submodules(__name__)

__all__ = ["Controller", "Law", "Trajectory", "controller", "integrate", "law"]
