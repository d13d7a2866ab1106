"""Robots out of URDF files, as Systems."""

from bough.exchange.urdf.load import load_urdf

__all__ = ["load_urdf"]
