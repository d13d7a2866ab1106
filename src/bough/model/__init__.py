"""From a description to flat arrays, and what can be asked of them."""
from bough.model.model import Model

__all__ = ["Model"]
