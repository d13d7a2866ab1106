"""Steppers as data, and the loops over steps."""
from bough.integrate.compiled.callback import Controller, controller
from bough.integrate.integration import integrate
from bough.integrate.run import Trajectory

__all__ = ["Controller", "Trajectory", "controller", "integrate"]
