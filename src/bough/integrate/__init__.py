"""Steppers as data, and the loops over steps."""
from typing import TYPE_CHECKING

from bough.integrate.compiled.callback import Controller, controller
from bough.integrate.integration import integrate
from bough.integrate.laws import Law, law
from bough.integrate.trajectory import Trajectory
from bough.lazy import submodules

if TYPE_CHECKING:                       # imported on first use: what only some runs have
    from bough.integrate import backlash as backlash
    from bough.integrate import checkpoint as checkpoint
    from bough.integrate import conditions as conditions
    from bough.integrate import connecting as connecting
    from bough.integrate import eigenvalues as eigenvalues
    from bough.integrate import event_handler as event_handler
    from bough.integrate import mounted_run as mounted_run
    from bough.integrate import stiff as stiff
    from bough.integrate import watchers as watchers
else:
    __getattr__ = submodules(__name__)

__all__ = ["Controller", "Law", "Trajectory", "controller", "integrate", "law"]
