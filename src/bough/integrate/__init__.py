"""Steppers as data, and the loops over steps."""
from bough.integrate.compiled.callback import Controller, controller
from bough.integrate.integration import integrate
from bough.integrate.laws import Law, law
from bough.integrate.trajectory import Trajectory

__all__ = ["Controller", "Law", "Trajectory", "controller", "integrate", "law"]
