"""Compiled models: the compiler from descriptions to tables, and an interface to all analyses."""
from bough.model.model import Model

__all__ = ["Model"]
