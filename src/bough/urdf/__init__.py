"""Robots out of URDF files, as Systems."""

from bough.urdf.load import load_urdf

__all__ = ["load_urdf"]
