"""Co-simulation: a model with ports as a functional mock-up unit (FMI)."""
from bough.cosimulation.build import build_fmu

__all__ = ["build_fmu"]
